"""Tables and models that several tests of LightGBM's front door share."""

from __future__ import annotations

import io

import numpy as np


def whole_table(seed, n=600, values=9, missing=0.0):
    """Return small whole numbers, some missing, and targets that histograms hold exactly."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, (n, 4)).astype(float)
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
    return X, rng.integers(-64, 65, n) / 16


def two_classes(seed=0, n=400):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * rng.normal(size=n) > 0).astype(int)
    return X, y


def numbers(seed=0, n=400):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, 2 * X[:, 0] + np.abs(X[:, 1]) + 0.3 * rng.normal(size=n)


def groups(seed=0, n_groups=30, size=20):
    """Return a table of lists, grades 0 to 4, and the sizes of the lists."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_groups * size, 5))
    wish = X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=len(X))
    return X, np.digitize(wish, [-1, 0, 0.7, 1.5]), np.full(n_groups, size)


def saved(model, n_jobs=None):
    """Return the bytes of a model's file, as if it had been made with some number of threads."""
    model.n_jobs = n_jobs
    found = io.BytesIO()
    model.save(found)
    return found.getvalue()
