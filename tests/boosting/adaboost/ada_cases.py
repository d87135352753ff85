"""Data and helpers of the AdaBoost tests."""

import io

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from arboretum.io.native import save


def numbers(n=200, columns=5, classes=2, seed=0, noise=0.5):
    """Return a table without ties and noisy classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    score = X[:, 0] + 0.7 * X[:, 1] * X[:, 2 % columns] + noise * rng.normal(size=n)
    edges = np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1])
    return X, np.searchsorted(edges, score)


def with_holes(n=200, seed=0, share=0.15):
    """Return numbers some of which are missing, and repeated values."""
    X, y = numbers(n, 4, seed=seed)
    X[:, 1] = np.round(X[:, 1], 0)
    X[np.random.default_rng(seed + 1).random(X.shape) < share] = np.nan
    return X, y


def mixed(n=150, seed=0):
    """Return a dataframe of numbers and words with missing values, and words to predict."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "color": rng.choice(["red", "green", "blue", None], n),
            "age": rng.integers(0, 9, n).astype(float),
        }
    )
    frame.loc[::11, "age"] = np.nan
    likes = (frame["size"] > 0) ^ (frame["color"] == "red") ^ (rng.random(n) < 0.1)
    return frame, np.where(likes, "yes", "no")


def saved(model):
    file = io.BytesIO()
    save(model, file)
    return file.getvalue()


class Coin(ClassifierMixin, BaseEstimator):
    """Answers the first class for even rows, whatever it is taught."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[np.arange(len(X)) % 2]


class Interrupted(RegressorMixin, BaseEstimator):
    """Presses Ctrl-C in its n-th fit."""

    fits = 0

    def __init__(self, base=None, stop_at=3):
        self.base = base
        self.stop_at = stop_at

    def fit(self, X, y, sample_weight=None):
        Interrupted.fits += 1
        if Interrupted.fits >= self.stop_at:
            raise KeyboardInterrupt
        from sklearn.base import clone

        self.model_ = clone(self.base).fit(X, y, sample_weight=sample_weight)
        return self

    def predict(self, X):
        return self.model_.predict(X)
