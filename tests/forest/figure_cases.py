"""Tables and forests for the figures of forests, and what the textbook needs to know of them."""

from __future__ import annotations

import numpy as np

from arboretum import RandomForestClassifier, RandomForestRegressor

MIXED = {"categorical_features": [2]}


def table(n=120, *, seed=0, outputs=1, classes=0):
    """Return X, y and weights: two numbers, a category, a column of noise; values are missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 2] = rng.integers(0, 5, n)
    signal = 2 * X[:, 0] + X[:, 1] ** 2 + (X[:, 2] % 2)
    # eighths: there are ties among the targets, and their sums are exact
    y = np.round(8 * (signal[:, None] + rng.normal(size=(n, outputs)))) / 8
    if classes:
        y = np.digitize(y, np.linspace(0, 3, classes - 1))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y[:, 0] if outputs == 1 else y, rng.integers(0, 4, n).astype(float)


def grown(X, y, w=None, *, classes=False, **options):
    """Return a small fitted forest."""
    model = RandomForestClassifier if classes else RandomForestRegressor
    options = {"n_estimators": 15, "random_state": 3, "n_jobs": 1, **MIXED, **options}
    return model(**options).fit(X, y, w)


def bags(forest):
    """Return how often every tree drew every row, (trees, rows)."""
    n_trees = len(forest.trees_)
    return np.array([forest._bags.counts(t) for t in range(n_trees)])


def said(forest, X):
    """Return what every tree says about every row, (trees, rows, outputs, values)."""
    leaves = forest.apply(X)
    return np.array([tree.value[leaves[:, t]] for t, tree in enumerate(forest.trees_)])
