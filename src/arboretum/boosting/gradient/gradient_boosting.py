"""Gradient boosting (Friedman 2001, 2002): scikit-learn's two estimators, and more losses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from arboretum.base import parameters as p
from arboretum.boosting.dialect.scikit_learn import CLASS_LOSSES, NUMBER_LOSSES
from arboretum.boosting.gradient.documentation import describe
from arboretum.boosting.gradient.estimator import GBM_RULES, OWN_LOSS, GradientBoosting
from arboretum.data.checks import check_scale
from arboretum.data.target import encode_classes, numbers, weights
from arboretum.errors import DataError, ModelFileError

__all__ = ["GradientBoostingClassifier", "GradientBoostingRegressor"]


class GradientBoostingClassifier(ClassifierMixin, GradientBoosting):
    __doc__ = (
        """Gradient boosting of class probabilities: scikit-learn's `GradientBoostingClassifier`.
"""
        + describe(classifier=True)
        + """
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GradientBoostingClassifier(n_estimators=20).fit(X, y)
    >>> model.predict(X[[0, 60, 149]]), model.train_score_[-1] < model.train_score_[0]
    (array([0, 1, 2]), np.True_)
    """
    )

    _rules: ClassVar = {"loss": p.one_of(*CLASS_LOSSES) | OWN_LOSS, **GBM_RULES}

    def __init__(
        self,
        *,
        loss: Any = "log_loss",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        criterion: str = "friedman_mse",
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: Any = None,
        max_features: int | float | str | None = None,
        verbose: int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        step: str = "leaf",
        category_penalty: float = 1.0,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.step = step
        self.category_penalty = category_penalty
        self.categorical_features = categorical_features
        self.ordinal_features = ordinal_features
        self.unseen = unseen
        self.n_jobs = n_jobs

    def _learn_target(
        self, y: Any, sample_weight: Any, n_rows: int
    ) -> tuple[np.ndarray, np.ndarray | None]:
        name = type(self).__name__
        classes, codes, _ = encode_classes(y, n_rows=n_rows, estimator_name=name)
        _check_one_output(codes, name)
        w = weights(sample_weight, n_rows)
        present = np.bincount(codes[:, 0], w)
        if np.count_nonzero(present) < 2:
            raise DataError(
                f"y contains {np.count_nonzero(present)} class (in rows of weight > 0), while a "
                f"minimum of 2 classes are required by {name}"
            )
        if self.loss == "exponential" and len(classes[0]) > 2:
            raise DataError(
                f"loss='exponential' tells two classes apart, y holds {len(classes[0])}: use "
                "loss='log_loss'"
            )
        self.classes_ = classes[0]
        self.n_classes_ = len(classes[0])
        return codes[:, 0].astype(np.int64), w

    # ------------------------------------------------------------------ predicting
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the sum of trees: (n,) for two classes, log odds or half of them; else (n, classes)."""
        return self._raw(X)

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `decision_function` after every round."""
        return self._staged_raw(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes, (n, classes)."""
        raw = self._raw(X)
        return self.loss_.answer(raw)

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `predict_proba` after every round."""
        return (self.loss_.answer(raw) for raw in self._staged_raw(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class, the first in order between equals."""
        raw = self._raw(X)
        return self._decide(raw)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `predict` after every round."""
        return (self._decide(raw) for raw in self._staged_raw(X))

    def _decide(self, raw: np.ndarray) -> np.ndarray:
        return self.classes_[self.loss_.answer(raw).argmax(axis=1)]

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf each row reaches in each tree, (rows, rounds, trees of a round)."""
        leaves = super().apply(X)
        return leaves.reshape(len(leaves), -1, self._width)

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        return {**super()._get_fitted_state(), "classes": self.classes_}

    def _take_classes(self, state: dict) -> None:
        classes = state["classes"]
        if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) < 2:
            raise ModelFileError("its classes are not a list of at least two labels")
        if self.loss == "exponential" and len(classes) > 2:
            raise ModelFileError("its loss is for two classes, it has more")
        self.classes_ = classes
        self.n_classes_ = len(classes)


class GradientBoostingRegressor(RegressorMixin, GradientBoosting):
    __doc__ = (
        """Gradient boosting of numbers: scikit-learn's `GradientBoostingRegressor`, with more losses.
"""
        + describe(classifier=False)
        + """
    Examples
    --------
    The notes' example: y = 88, 76, 56, a learning rate of 0.1.

    >>> model = GradientBoostingRegressor(n_estimators=1, learning_rate=0.1)
    >>> model.fit([[1.0], [1.0], [0.0]], [88.0, 76.0, 56.0]).predict([[1.0], [0.0]])
    array([74.2, 71.6])
    """
    )

    _rules: ClassVar = {
        "loss": p.one_of(*NUMBER_LOSSES) | OWN_LOSS,
        **GBM_RULES,
        "alpha": p.real(0, 1, open_low=True, open_high=True),
        "power": p.real(1, 2),
    }

    def __init__(
        self,
        *,
        loss: Any = "squared_error",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        criterion: str = "friedman_mse",
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: Any = None,
        max_features: int | float | str | None = None,
        alpha: float = 0.9,
        verbose: int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        power: float = 1.5,
        step: str = "leaf",
        category_penalty: float = 1.0,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.alpha = alpha
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.power = power
        self.step = step
        self.category_penalty = category_penalty
        self.categorical_features = categorical_features
        self.ordinal_features = ordinal_features
        self.unseen = unseen
        self.n_jobs = n_jobs

    def _learn_target(
        self, y: Any, sample_weight: Any, n_rows: int
    ) -> tuple[np.ndarray, np.ndarray | None]:
        name = type(self).__name__
        values, _ = numbers(y, n_rows=n_rows, estimator_name=name)
        _check_one_output(values, name)
        check_scale(values)
        return np.ascontiguousarray(values[:, 0]), weights(sample_weight, n_rows)

    # ------------------------------------------------------------------ predicting
    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted numbers; with a log link the mean e^F."""
        raw = self._raw(X)
        return self.loss_.answer(raw)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `predict` after every round."""
        return (self.loss_.answer(raw) for raw in self._staged_raw(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.loss in ("poisson", "gamma", "tweedie")
        return tags


def _check_one_output(values: np.ndarray, name: str) -> None:
    if values.shape[1] > 1:
        raise DataError(
            f"y should be a 1d array: {name} learns one target, got {values.shape[1]}; fit one "
            "model for each (sklearn.multioutput)"
        )
