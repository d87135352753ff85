"""Data and models for the tests of gradient boosting."""

import io
import warnings

import numpy as np
import pandas as pd

from arboretum import GradientBoostingClassifier, GradientBoostingRegressor
from arboretum.textbook.gbm import GBMRules, grow_gbm
from arboretum.textbook.splits import Rules

CLASS_LOSSES = ("log_loss", "exponential")
POSITIVE = ("poisson", "gamma", "tweedie")
NUMBER_LOSSES = ("squared_error", "absolute_error", "huber", "quantile", *POSITIVE)
LOSSES = [(loss, 0) for loss in NUMBER_LOSSES] + [
    ("log_loss", 2),
    ("log_loss", 3),
    ("exponential", 2),
]


def make(seed=0, n=90, loss="squared_error", n_classes=2, columns=3):
    """Rows with random weights: no two splits gain the same. X is exact in float32."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns)).astype(np.float32).astype(np.float64)
    y = X[:, 0] + X[:, 1] * X[:, 0] + 0.3 * rng.normal(size=n)
    if loss in CLASS_LOSSES:
        y = np.digitize(y, [0.0] if n_classes == 2 else [-0.5, 0.5])
    if loss in POSITIVE:
        y = rng.poisson(np.exp(y / 2)).astype(float) + (loss == "gamma") * 0.5
    return X, y, rng.uniform(0.5, 2, n)


def boost(loss, X, y, w=None, **parameters):
    """Fit arboretum's model for a loss."""
    kind = GradientBoostingClassifier if loss in CLASS_LOSSES else GradientBoostingRegressor
    return kind(loss=loss, **parameters).fit(X, y, w)


def raw(model, X):
    """Return the sum of trees, whatever link the loss has."""
    return model._raw(X)


def textbook(loss, X, y, w, in_bag=None, tree=None, **rules):
    """Fit the textbook's model."""
    tree = tree or Rules("friedman_mse", max_depth=3)
    return grow_gbm(X, y, w, GBMRules(loss, tree=tree, **rules), in_bag)


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
    y = (frame["color"] == "red") * 2.0 + np.sign(frame["size"]) + rng.normal(size=n) / 5
    for name in frame:
        frame.loc[rng.random(n) < 0.1, name] = None if name == "color" else np.nan
    return frame, y.to_numpy()


def saved(model):
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()


def quietly(fit, *args, **kwargs):
    """Call scikit-learn without its warnings about `criterion`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return fit(*args, **kwargs)


class LogCosh:
    """A smooth relative of the absolute error."""

    def gradient(self, y, F):
        return np.tanh(F - y)

    def hessian(self, y, F):
        return 1 - np.tanh(F - y) ** 2

    def value(self, y, F):
        return np.log(np.cosh(F - y))
