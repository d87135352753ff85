"""scikit-learn's histogram gradient boosting: its names and parameters on this package's engine.

    from arboretum.ensemble import HistGradientBoostingClassifier     # instead of sklearn.ensemble
    model = HistGradientBoostingClassifier(max_iter=200, early_stopping=True)
    model.fit(X, y)

What differs from scikit-learn on purpose: columns of words are categories without being encoded, there may be
more than 255 of them, and the model is the same, bit for bit, for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from arboretum.base import parameters as p
from arboretum.boosting.scikit_learn.model import HistModel
from arboretum.boosting.scikit_learn.parameters import ATTRIBUTES, CLASSES, NUMBERS
from arboretum.boosting.second_order.boosted_model import BoostedClassifier, BoostedRegressor

__all__ = ["HistGradientBoostingClassifier", "HistGradientBoostingRegressor"]


class HistGradientBoostingRegressor(BoostedRegressor, HistModel):
    """Gradient-boosted trees for regression on binned columns, scikit-learn's method.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]] * 10, [1.0, 1.0, 5.0, 5.0] * 10
    >>> model = HistGradientBoostingRegressor(max_iter=50).fit(X, y)
    >>> model.predict([[1.5], [3.5]]).round(2)
    array([1.01, 4.99])
    """

    target: ClassVar = "numbers"
    _parameters: ClassVar = NUMBERS

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        quantile: float | None = None,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Sequence[Any] | str | None = None,
        warm_start: bool = False,
        early_stopping: bool | str = "auto",
        scoring: str | Callable[..., float] | None = "loss",
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: Any = None,
        n_jobs: int | None = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
    ) -> None:
        p.take_arguments(locals())


class HistGradientBoostingClassifier(BoostedClassifier, HistModel):
    """Gradient-boosted trees for classification on binned columns, scikit-learn's method.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = HistGradientBoostingClassifier(max_iter=20).fit(X, y)
    >>> model.predict(X[[0, 60, 140]]), model.n_trees_per_iteration_
    (array([0, 1, 2]), 3)
    """

    target: ClassVar = "classes"
    _parameters: ClassVar = CLASSES
    _attributes: ClassVar = {**BoostedClassifier._attributes, **ATTRIBUTES}

    def __init__(
        self,
        loss: str = "log_loss",
        *,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Sequence[Any] | str | None = None,
        warm_start: bool = False,
        early_stopping: bool | str = "auto",
        scoring: str | Callable[..., float] | None = "loss",
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: Any = None,
        class_weight: dict[Any, float] | str | None = None,
        n_jobs: int | None = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
    ) -> None:
        p.take_arguments(locals())

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every class, (n_samples, n_classes)."""
        return self._probabilities(self._margin(X))
