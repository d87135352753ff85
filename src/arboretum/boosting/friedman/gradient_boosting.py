"""Gradient boosting (Friedman 2001, 2002): scikit-learn's two estimators, and more losses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.parameters import Parameter
from arboretum.base.targets import Classes, Numbers
from arboretum.boosting.friedman.estimator import OWN_LOSS, GradientBoosting, start_with
from arboretum.boosting.friedman.reading import shaped
from arboretum.boosting.names.scikit_learn import CLASS_LOSSES, NUMBER_LOSSES
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.predict.link import two_labels, two_shares

__all__ = ["GradientBoostingClassifier", "GradientBoostingRegressor"]


class GradientBoostingClassifier(Classes, GradientBoosting):
    """Gradient boosting of class probabilities: scikit-learn's `GradientBoostingClassifier`.

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
    >>> model = GradientBoostingClassifier(n_estimators=20).fit(X, y)
    >>> model.predict(X[[0, 60, 149]]), model.train_score_[-1] < model.train_score_[0]
    (array([0, 1, 2]), np.True_)
    """

    _fewest_classes: ClassVar = 2
    _parameters: ClassVar = {
        **GradientBoosting._parameters,
        "init": start_with("predict_proba"),
        "loss": Parameter(
            p.one_of(*CLASS_LOSSES) | OWN_LOSS,
            "The loss to minimise; exponential is AdaBoost's, for two classes. A loss of your own: see "
            "docs/gbm.md.",
        ),
    }
    _attributes: ClassVar = {
        **GradientBoosting._attributes,
        "classes_ : array": "The class labels, sorted.",
        "n_classes_ : int": "",
    }

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
        estimator: Any = None,
        category_penalty: float = 1.0,
        monotonic_cst: Any = None,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        p.take_arguments(locals())

    def _learn_labels(self, y: Any, n_rows: int) -> np.ndarray:
        codes = self._learn_classes(y, n_rows)
        if self.loss == "exponential" and self.n_classes_ > 2:
            raise DataError(
                "loss='exponential' is only suitable for a binary classification, y holds "
                f"{self.n_classes_} classes: use loss='log_loss'"
            )
        if self.monotonic_cst is not None and self.n_classes_ > 2:
            raise ParameterError(
                f"monotonic_cst works for two classes, y holds {self.n_classes_}: of several probabilities "
                "that add up to 1 not all can rise"
            )
        return codes[:, 0].astype(np.int64)

    def _check_labels(self, target: np.ndarray, w: np.ndarray | None) -> None:
        present = np.count_nonzero(np.bincount(target, w))
        if present < 2:
            raise DataError(
                f"y contains {present} class after sample_weight trimmed classes with zero weights, while "
                f"a minimum of 2 classes are required by {type(self).__name__}"
            )

    # ------------------------------------------------------------------ predicting
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the sum of trees: (n,) for two classes, the log odds or half of them; else (n, classes)."""
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

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class, the first in order between equals."""
        raw = self._raw(X)
        return self._decide(raw)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `predict` after every round."""
        return (self._decide(raw) for raw in self._staged_raw(X))

    def _meanings(self) -> dict[str, Callable[[np.ndarray], Any]]:
        meanings: dict[str, Callable[[np.ndarray], Any]] = {
            "predict": lambda F: self._decide(shaped(F)),
            "predict_proba": lambda F: self.loss_.answer(shaped(F)),
            "decision_function": shaped,
        }
        link = self.loss_.link
        if link.name == "logit" and self.n_classes_ == 2:
            meanings["predict"] = two_labels(meanings["predict"], link, self.classes_)
            meanings["predict_proba"] = two_shares(meanings["predict_proba"], link)
        return meanings

    def _decide(self, raw: np.ndarray) -> np.ndarray:
        return self.classes_[self.loss_.answer(raw).argmax(axis=1)]

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf each row reaches in each tree, (rows, rounds, trees of a round)."""
        leaves = super().apply(X)
        return leaves.reshape(len(leaves), -1, self._width)

    # ------------------------------------------------------------------ keeping
    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        if self.loss == "exponential" and self.n_classes_ > 2:
            raise ModelFileError("its loss is for two classes, it has more")


class GradientBoostingRegressor(Numbers, GradientBoosting):
    """Gradient boosting of numbers: scikit-learn's `GradientBoostingRegressor`, with more losses.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    Three rows, y = 88, 76, 56, and a learning rate of 0.1.

    >>> model = GradientBoostingRegressor(n_estimators=1, learning_rate=0.1)
    >>> model.fit([[1.0], [1.0], [0.0]], [88.0, 76.0, 56.0]).predict([[1.0], [0.0]])
    array([74.2, 71.6])
    """

    _parameters: ClassVar = {
        **GradientBoosting._parameters,
        "loss": Parameter(
            p.one_of(*NUMBER_LOSSES) | OWN_LOSS,
            "The loss to minimise. The last three names predict e^F, the mean of counts and amounts. A loss "
            "of your own: see docs/gbm.md.",
        ),
        "alpha": Parameter(
            p.real(0, 1, open_low=True, open_high=True),
            'The quantile of "quantile"; for "huber", the share of residuals treated as ordinary.',
        ),
        "power": Parameter(
            p.real(1, 2),
            'For "tweedie": the variance grows as the mean to this power, from 1 (Poisson) to 2 (gamma).',
        ),
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
        estimator: Any = None,
        category_penalty: float = 1.0,
        monotonic_cst: Any = None,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        p.take_arguments(locals())

    def _learn_labels(self, y: Any, n_rows: int) -> np.ndarray:
        return np.ascontiguousarray(self._learn_numbers(y, n_rows)[:, 0])

    # ------------------------------------------------------------------ predicting
    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted numbers; with a log link the mean e^F."""
        raw = self._raw(X)
        return self.loss_.answer(raw)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `predict` after every round."""
        return (self.loss_.answer(raw) for raw in self._staged_raw(X))

    def _meanings(self) -> dict[str, Callable[[np.ndarray], Any]]:
        return {"predict": lambda F: self.loss_.answer(shaped(F)), "decision_function": shaped}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.loss in ("poisson", "gamma", "tweedie")
        return tags
