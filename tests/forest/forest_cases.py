"""Tables and models for the tests of forests, what "the same forest" means, and broken model files."""

import io
import random
import struct
import zlib

import numpy as np
import pandas as pd
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin

from arboretum import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier]
REGRESSORS = [RandomForestRegressor, ExtraTreesRegressor]
ALL = CLASSIFIERS + REGRESSORS


def data(n=120, classes=3, seed=0, features=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features))
    signal = X[:, 0] * X[:, 1] + X[:, 2]
    y = np.digitize(signal, np.quantile(signal, np.linspace(0, 1, classes + 1)[1:-1]))
    return X, y, signal


def fitted(kind, n_estimators=10, **options):
    X, y, number = data()
    target = y if kind in CLASSIFIERS else number
    return kind(n_estimators, random_state=3, **options).fit(X, target)


def answers(model, X):
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)


def same_trees(first, second):
    assert len(first.trees_) == len(second.trees_)
    for a, b in zip(first.trees_, second.trees_, strict=True):
        for name in ("feature", "threshold", "value", "gain", "count", "first_child"):
            assert_array_equal(getattr(a, name), getattr(b, name))


def mixed_table(n=150, seed=0):
    """Words, numbers and ranks, with missing values."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "color": rng.choice(["red", "green", "blue"], n),
            "size": rng.normal(size=n),
            "count": rng.integers(0, 5, n).astype(float),
        }
    )
    y = np.where((frame["color"] == "red") ^ (frame["size"] > 0), "yes", "no")
    for name in frame:
        frame.loc[rng.random(n) < 0.1, name] = None if name == "color" else np.nan
    return frame, y


# ---------------------------------------------------------------------- a base for bags
class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers what it was fitted on; cannot weigh rows, tells no probabilities."""

    def fit(self, X, y):
        self.X_, self.y_ = X, y
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[-1])


# ---------------------------------------------------------------------- files
def saved(model):
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()


def _seal(header, payload):
    checks = (zlib.crc32(header), zlib.crc32(payload))
    prefix = struct.pack(
        "<8sIIQQI", b"ARBORETM", 1, checks[0], len(header), len(payload), checks[1]
    )
    body = prefix + struct.pack("<I", zlib.crc32(prefix)) + header
    return body + bytes(-len(body) % 64) + payload


def mutate(content: bytes, rng: random.Random) -> bytes:
    """Change a few bytes of header or payload, and repair lengths and checksums."""
    header_size, payload_size = struct.unpack_from("<QQ", content, 16)
    parts = [content[40 : 40 + header_size], content[len(content) - payload_size :]]
    which = rng.randrange(2)
    part = bytearray(parts[which])
    for _ in range(rng.randint(1, 3)):
        if part:
            part[rng.randrange(len(part))] = rng.choice(b'0123456789-{}[],:"aZ \x00\xff')
    parts[which] = bytes(part)
    return _seal(*parts)
