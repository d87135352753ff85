"""Files of boosters and snapshots, changed at random: a usable model or one clear error, nothing else."""

import random
import struct
import zlib

import numpy as np
import pytest

from arboretum import XGBClassifier, XGBRegressor, load
from arboretum.errors import ArboretumError, ModelFileError
from tests.boosting.xgboost.xgb_cases import mixed, saved, thirds

X, Y = mixed(80)


def _seal(header, payload):
    checks = (zlib.crc32(header), zlib.crc32(payload))
    prefix = struct.pack(
        "<8sIIQQI", b"ARBORETM", 1, checks[0], len(header), len(payload), checks[1]
    )
    body = prefix + struct.pack("<I", zlib.crc32(prefix)) + header
    return body + bytes(-len(body) % 64) + payload


def mutate(content, rng):
    """Change a few bytes of header or payload, and repair lengths and checksums."""
    header_size, payload_size = struct.unpack_from("<QQ", content, 16)
    parts = [content[40 : 40 + header_size], content[len(content) - payload_size :]]
    which = rng.randrange(2)
    part = bytearray(parts[which])
    for _ in range(rng.randint(1, 3)):
        part[rng.randrange(len(part))] = rng.choice([0, 1, 48, 49, 57, 255, rng.randrange(256)])
    parts[which] = bytes(part)
    return _seal(*parts)


@pytest.mark.filterwarnings("ignore")
def test_changed_models_load_or_are_refused():
    several = XGBClassifier(n_estimators=2, max_depth=2, early_stopping_rounds=1)
    several.fit(X, thirds(Y), eval_set=[(X, thirds(Y))], verbose=False)
    dart = XGBRegressor(n_estimators=3, max_depth=2, booster="dart", rate_drop=0.5).fit(X, Y)
    loaded = refused = 0
    for model in (several, dart):
        content = saved(model)
        for case in range(300):
            changed = mutate(content, random.Random(case))
            try:
                again = load(changed)
            except ModelFileError:
                refused += 1
                continue
            loaded += 1
            assert len(again.predict(X.set_axis(again.schema_.names, axis=1))) == len(X)
            assert again.feature_importances_.shape == (3,)
    assert loaded
    assert refused


@pytest.mark.filterwarnings("ignore")
def test_changed_snapshots_go_on_or_are_refused(tmp_path):
    path = tmp_path / "run.snap"
    how = {"save_snapshot": path, "snapshot_every": 2}
    tables = {"eval_set": [(X[:40], Y[:40])], "verbose": False}
    XGBRegressor(n_estimators=2, max_depth=2).fit(X, Y, **how, **tables)
    content, refused = path.read_bytes(), 0
    for case in range(200):
        path.write_bytes(mutate(content, random.Random(case)))
        try:
            model = XGBRegressor(n_estimators=3, max_depth=2).fit(
                X, Y, **how, **tables, resume=True
            )
        except ArboretumError:
            refused += 1
            continue
        assert np.isfinite(model.predict(X)).all()
    assert refused
