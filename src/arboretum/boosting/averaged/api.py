"""The models to use without tuning: `BoostedTreesClassifier` and `BoostedTreesRegressor`.

trials on held-out rows ──► rounds, weights ──► members on all rows ──► the mean of their margins
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.shared_parameters import LABELS
from arboretum.boosting.averaged.conformal import class_sets, intervals
from arboretum.boosting.averaged.estimator import ATTRIBUTES, PARAMETERS, BoostedTrees
from arboretum.boosting.second_order.boosted_model import BoostedClassifier, BoostedRegressor
from arboretum.errors import ParameterError
from arboretum.predict.link import both_classes

__all__ = ["BoostedTreesClassifier", "BoostedTreesRegressor"]


class BoostedTreesClassifier(BoostedClassifier, BoostedTrees):
    """Boosted trees for classification, to be used without tuning.

    Held-out rows find the number of rounds; then a few boosters of different kinds are grown on all rows,
    and their margins are averaged.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BoostedTreesClassifier(quality="fast").fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.95, model.predict_proba(X[:1]).shape
    (True, (1, 2))
    """

    target: ClassVar = "classes"
    _parameters: ClassVar = {**PARAMETERS, **LABELS}
    _attributes: ClassVar = {**BoostedClassifier._attributes, **ATTRIBUTES}

    def __init__(
        self,
        *,
        quality: str = "default",
        time_limit: float | None = None,
        folds: str = "random",
        class_weight: dict[Any, float] | str | None = None,
        monotonic_cst: Any = None,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        p.take_arguments(locals())

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None, groups: Any = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas, polars or pyarrow table, scipy.sparse matrix, or path of a CSV or Parquet
            file. NaN, None and null are missing values.
        y : array-like of shape (n_samples,)
            Any labels.
        sample_weight : array-like of shape (n_samples,) or None
        eval_set : (X, y) or None
            Held-out rows; None: folds of the training rows. No member learns from them.
        groups : array-like of shape (n_samples,) or None
            The group of every row; the rows of a group are held out together.

        Returns
        -------
        self
        """
        return self._learn_and_grow(X, y, sample_weight, eval_set, groups)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every class, (n_samples, n_classes)."""
        return self._probabilities(self._margin(X))

    def predict_set(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Return which classes to expect, so that the class of a new row is among them with this probability.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        coverage : float between 0 and 1, default 0.9

        Returns
        -------
        bool array of shape (n_samples, n_classes)
            In the order of ``classes_``; the most probable class always belongs to the set.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BoostedTreesClassifier(quality="fast").fit(X, y)
        >>> model.predict_set(X[:1], coverage=0.8).tolist()
        [[True, False, False]]
        """
        return class_sets(self.predict_proba(X), self._held_out_errors, coverage)

    def _loss_names(self) -> tuple[str, str]:
        if self.n_classes_ > 2 and self.monotonic_cst is not None:
            raise ParameterError(
                f"monotonic_cst works for two classes, y holds {self.n_classes_}: of several probabilities "
                "that add up to 1 not all can rise"
            )
        several = self.n_classes_ > 2
        return ("multiclass", "multi_logloss") if several else ("binary", "binary_logloss")

    def _errors_of(self, y: np.ndarray, margin: np.ndarray) -> np.ndarray:
        shares = self._shares(margin)
        if shares.ndim == 1:
            shares = both_classes(shares)
        return 1.0 - shares[np.arange(len(y)), y.astype(np.intp)]


class BoostedTreesRegressor(BoostedRegressor, BoostedTrees):
    """Boosted trees for regression, to be used without tuning.

    Held-out rows find the number of rounds; then a few boosters of different kinds are grown on all rows,
    and their predictions are averaged.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BoostedTreesRegressor().fit(X[:300], y[:300])
    >>> bool(model.score(X[300:], y[300:]) > 0.4)
    True
    """

    target: ClassVar = "numbers"

    def __init__(
        self,
        *,
        quality: str = "default",
        time_limit: float | None = None,
        folds: str = "random",
        monotonic_cst: Any = None,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        p.take_arguments(locals())

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None, groups: Any = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Numbers.
        X, sample_weight, eval_set, groups
            As for `BoostedTreesClassifier.fit`.

        Returns
        -------
        self
        """
        return self._learn_and_grow(X, y, sample_weight, eval_set, groups)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Return an interval that holds the target of a new row with this probability.

        All intervals are equally wide; as much is left out below as above.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        coverage : float between 0 and 1, default 0.9

        Returns
        -------
        float64 array of shape (n_samples, 2)
            Lower and upper end.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = BoostedTreesRegressor(quality="fast").fit(X, y)
        >>> low, high = model.predict_interval(X[:1], coverage=0.8)[0]
        >>> bool(low < model.predict(X[:1])[0] < high)
        True
        """
        return intervals(self.predict(X), self._held_out_errors, coverage)

    def _loss_names(self) -> tuple[str, str]:
        return "regression", "rmse"

    def _errors_of(self, y: np.ndarray, margin: np.ndarray) -> np.ndarray:
        return y - margin[:, 0]
