"""Odd tables for every estimator, and one table in every way to write it."""

import gzip
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier

import arboretum as A
from arboretum.data.reading.files import read_file
from arboretum.errors import ArboretumError
from tests.io.model_cases import MAKERS, saved
from tests.sweeps.work import KINDS, SIZE

pytestmark = pytest.mark.slow


def odd_tables(seed):
    """Yield tables that are hard on a model, by name."""
    rng = np.random.default_rng(seed)
    plain = rng.normal(size=(24, 3))
    yield "one row", plain[:1]
    yield "two rows", plain[:2]
    yield "one column", plain[:, :1]
    yield "constant", np.ones((24, 3))
    yield "all missing", np.full((24, 3), np.nan)
    yield "one missing column", np.c_[plain, np.full(24, np.nan)]
    yield "huge", plain * 1e150
    yield "tiny", plain * 1e-300
    yield "signed zeros", np.where(plain > 0, 0.0, -0.0)
    yield "whole", rng.integers(-3, 3, size=(24, 3))
    yield "booleans", plain > 0
    yield "wide", rng.normal(size=(24, 300))
    yield "words", pd.DataFrame({"a": rng.choice(list("xyz"), 24), "b": plain[:, 0]})
    yield "all words differ", pd.DataFrame({"a": [f"w{i}" for i in range(24)], "b": plain[:, 0]})
    yield "unused categories", pd.DataFrame({"a": pd.Categorical(["u"] * 24, list("stuv"))})
    yield "dates", pd.DataFrame({"a": pd.date_range("2024-01-01", periods=24), "b": plain[:, 0]})
    yield (
        "gaps",
        pd.DataFrame({"a": [None, "x", "y"] * 8, "b": np.where(plain[:, 0] > 0, np.nan, 1)}),
    )


def targets(rng, rows, classifier):
    """Yield targets, by name."""
    if classifier:
        yield "two", np.arange(rows) % 2
        yield "one", np.zeros(rows, int)
        yield "words", np.array(["no", "yes", "perhaps"])[np.arange(rows) % 3]
        yield "rare", (np.arange(rows) == 0).astype(int)
    else:
        yield "numbers", rng.normal(size=rows)
        yield "constant", np.full(rows, 3.5)
        yield "large", rng.normal(size=rows) * 1e90


def finite(found) -> bool:
    parts = found if isinstance(found, list) else [found]
    return all(np.asarray(p).dtype.kind not in "fc" or np.isfinite(p).all() for p in parts)


def tried(name, table, y) -> None:
    """Fit and predict: finite answers, or an error of the library."""
    model = clone(MAKERS[name][0])
    try:
        model.fit(table, y)
        assert finite(model.predict(table))
        if hasattr(model, "predict_proba"):
            assert finite(model.predict_proba(table))
    except ArboretumError:
        return


@pytest.mark.parametrize("name", [n for n in KINDS if "Ranker" not in n])
def test_odd_tables(name):
    problems = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(SIZE):
            for kind, table in odd_tables(seed):
                rng = np.random.default_rng(seed)
                for what, y in targets(rng, len(table), is_classifier(MAKERS[name][0])):
                    try:
                        tried(name, table, y)
                    except Exception as error:
                        problems.append(f"{kind}, {what}: {error!r}"[:200])
    assert not problems, "\n".join(problems)


# ---------------------------------------------------------------------- the same text, written in other ways
TEXT = "größe,wort,zahl\n" + "".join(f"{i % 7}.5,{'äöü'[i % 3]},{i * i % 11}\n" for i in range(60))
WAYS = {
    "line feeds": TEXT.encode(),
    "carriage returns and line feeds": TEXT.replace("\n", "\r\n").encode(),
    "carriage returns": TEXT.replace("\n", "\r").encode(),
    "no last line end": TEXT.rstrip().encode(),
    "blank lines": TEXT.replace("\n", "\n\n").encode(),
    "byte order mark": TEXT.encode("utf-8-sig"),
    "UTF-16": TEXT.encode("utf-16"),
    "Windows": TEXT.encode("cp1252"),
    "quotes": "\n".join(
        ",".join(f'"{f}"' for f in line.split(",")) for line in TEXT.splitlines()
    ).encode(),
    "tabs": TEXT.replace(",", "\t").encode(),
    "semicolons": TEXT.replace(",", ";").encode(),
    "semicolons and decimal commas": TEXT.replace(",", ";").replace(".", ",").encode(),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_a_text_written_in_another_way_gives_the_same_model(tmp_path, way, packed):
    def model_of(name, data):
        path = tmp_path / (f"{name}.csv.gz" if packed else f"{name}.csv")
        path.write_bytes(gzip.compress(data) if packed else data)
        table = read_file(path)
        frame = pd.DataFrame(
            {
                name: np.array([*raw.values, None], object)[raw.codes]
                if hasattr(raw, "codes")
                else raw.values
                for name, raw in zip(table.names, table.columns)
            }
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return saved(A.CARTRegressor().fit(frame.iloc[:, :2], frame["zahl"]))

    assert model_of("other", WAYS[way]) == model_of("plain", TEXT.encode())
