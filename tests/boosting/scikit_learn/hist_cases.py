"""Tables that several tests of HistGradientBoosting* share."""

from __future__ import annotations

import io

import numpy as np


def numbers(seed=0, n=400, missing=0.0):
    """Return columns without ties, and a target with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = X[:, 0] + X[:, 1] ** 2 + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def with_categories(seed=0, n=600, missing=0.0):
    """Return numbers and a column of twelve categories."""
    rng = np.random.default_rng(seed)
    X, y = numbers(seed, n)
    words = rng.integers(0, 12, n).astype(float)
    y = y + 3.0 * np.isin(words, [1, 4, 7]) - np.isin(words, [2, 3])
    words[rng.random(n) < missing] = np.nan
    return np.column_stack([X, words]), y + 2.0 * np.isnan(words)


def two_classes(seed=0, n=400):
    X, y = numbers(seed, n)
    return X, (y > 1).astype(int)


def three_classes(seed=0, n=400):
    X, y = numbers(seed, n)
    return X, np.array(["low", "mid", "top"])[np.digitize(y, [0.0, 2.0])]


def saved(model):
    """Return the bytes of a model's file."""
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()
