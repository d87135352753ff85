"""A small table, and CART fitted to it, for the tests of parameters and tools."""

import numpy as np

from arboretum import CARTClassifier, CARTRegressor

BOTH = (CARTClassifier, CARTRegressor)
ROWS = 240


def data_for(model_class: type) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(ROWS, 6))
    signal = X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * X[:, 2] + rng.normal(size=ROWS) / 2
    if model_class is CARTClassifier:
        return X, np.digitize(signal, [-0.5, 0.7])
    return X, signal - signal.min()


def fitted(model_class: type, **parameters):
    return model_class(**parameters).fit(*data_for(model_class))


def same_trees(a, b) -> bool:
    """Two fitted trees ask the same questions and give the same answers."""
    s, t = a.tree_, b.tree_
    return len(s) == len(t) and all(
        np.array_equal(getattr(s, name), getattr(t, name), equal_nan=True)
        for name in ("feature", "threshold", "first_child", "missing_child", "value", "bits")
    )
