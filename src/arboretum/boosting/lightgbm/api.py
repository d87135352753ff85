"""LightGBM's API: its names, parameters, defaults and fit arguments on this package's engine.

    import arboretum as lgb                      # instead of lightgbm
    model = lgb.LGBMClassifier(num_leaves=15, feature_fraction=0.8)
    model.fit(X, y, eval_set=[(X_valid, y_valid)], callbacks=[lgb.early_stopping(20)])

What differs from LightGBM on purpose: columns of strings are categories without being declared, a fit
can be resumed after a crash (``save_snapshot``), it ends when no tree can be split any more, and the model is
the same, bit for bit, for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from arboretum.boosting.lightgbm.model import LGBMModel
from arboretum.boosting.lightgbm.parameters import ATTRIBUTES
from arboretum.boosting.loss.user import UserObjective
from arboretum.boosting.second_order.boosted_model import (
    BoostedClassifier,
    BoostedRanker,
    BoostedRegressor,
    squeezed,
)
from arboretum.data.checks import warn_caller
from arboretum.errors import DataError

__all__ = ["LGBMClassifier", "LGBMRanker", "LGBMRegressor"]


class LGBMRegressor(BoostedRegressor, LGBMModel):
    """Gradient-boosted trees for regression, LightGBM's method.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> model = LGBMRegressor(n_estimators=50, min_child_samples=1, min_data_in_bin=1)
    >>> model.fit(X, [1.0, 1.0, 5.0, 5.0]).predict([[1.5], [3.5]]).round(2)
    array([1.01, 4.99])
    """

    target: ClassVar = "numbers"
    usual_objective: ClassVar = "regression"

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        init_score: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        eval_names: Sequence[str] | None = None,
        eval_sample_weight: Sequence[Any] | None = None,
        eval_init_score: Sequence[Any] | None = None,
        eval_metric: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: Sequence[Callable[..., Any]] | None = None,
        init_model: Any = None,
        *,
        eval_X: Any = None,
        eval_y: Any = None,
        save_snapshot: Any = None,
        snapshot_every: int = 10,
        resume: Any = False,
    ) -> Self:
        """Boost.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas, polars or pyarrow table, scipy.sparse matrix, or path of a CSV or Parquet
            file. NaN, None and null are missing values.
            Files and streams larger than memory: see docs/scale.md.
        y : array-like of shape (n_samples,), or the name of a column of X
        sample_weight : array-like of shape (n_samples,) or None
        init_score : array-like of shape (n_samples,) or (n_samples, n_classes), or None
            Scores to start from; they do not become part of the model.
        eval_set : list of (X, y) or None
            Tables for the evaluation of every round; or ``eval_X`` and ``eval_y``, one or a tuple of them.
        eval_names, eval_sample_weight, eval_init_score : lists, one entry per table
        eval_metric : str, callable, list of them or None
            Metrics in addition to the model's own. A function of (y, prediction),
            (y, prediction, weight) or (y, prediction, weight, group) returns (name, value, larger is better).
        feature_name : "auto" or list of str
            Names of the columns in reports.
        categorical_feature : "auto" or list of names or positions
            Columns to treat as categories, besides those whose dtype is categorical or text.
        callbacks : list of functions or None
            See `arboretum.boosting.callbacks.lightgbm_callbacks`.
        init_model : fitted model, its booster, path or None
            Continue from these trees.
        save_snapshot : path or None
            File for the state of the fit, written every ``snapshot_every`` rounds.
        resume : bool or path
            Continue from the snapshot if there is one; the model is the same as without the interruption.

        Returns
        -------
        self
        """
        return self._boost(locals())


class LGBMClassifier(BoostedClassifier, LGBMModel):
    """Gradient-boosted trees for classification, LightGBM's method.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]] * 10, ["no", "no", "yes", "yes"] * 10
    >>> model = LGBMClassifier(n_estimators=20, min_child_samples=5).fit(X, y)
    >>> model.predict([[1.5], [3.5]]).tolist(), model.n_iter_
    (['no', 'yes'], 20)
    """

    _attributes: ClassVar = {**BoostedClassifier._attributes, **ATTRIBUTES}
    target: ClassVar = "classes"
    usual_objective: ClassVar = "binary"

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        init_score: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        eval_names: Sequence[str] | None = None,
        eval_sample_weight: Sequence[Any] | None = None,
        eval_class_weight: Sequence[Any] | None = None,
        eval_init_score: Sequence[Any] | None = None,
        eval_metric: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: Sequence[Callable[..., Any]] | None = None,
        init_model: Any = None,
        *,
        eval_X: Any = None,
        eval_y: Any = None,
        save_snapshot: Any = None,
        snapshot_every: int = 10,
        resume: Any = False,
    ) -> Self:
        """Boost.

        Parameters
        ----------
        eval_class_weight : list of dict, "balanced" or None, one entry per table
            Weights of the classes in the evaluation tables.
        X, y, …
            As for `LGBMRegressor.fit`; ``y`` may be any labels.
        """
        return self._boost(locals())

    # ------------------------------------------------------------------ predictions
    def _predicted(self, margin: np.ndarray) -> np.ndarray:
        if isinstance(self._objective, UserObjective):
            return self._probabilities(margin)
        return super()._predicted(margin)

    def _probabilities(self, margin: np.ndarray) -> np.ndarray:
        if isinstance(self._objective, UserObjective):
            warn_caller(
                "the objective is a function, so the meaning of the scores is unknown: raw scores are "
                "returned"
            )
            return squeezed(margin)
        return super()._probabilities(margin)

    def predict_proba(
        self,
        X: Any,
        raw_score: bool = False,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        validate_features: bool = False,
        **options: Any,
    ) -> np.ndarray:
        """Return the probability of every class, (rows, classes); arguments as for `predict`.

        Those of "multiclassova" are independent of each other, and need not sum to 1.
        """
        return self._answer(
            X, self._probabilities, raw_score, start_iteration, num_iteration, pred_leaf,
            pred_contrib, validate_features, **options,
        )  # fmt: skip


class LGBMRanker(BoostedRanker, LGBMModel):
    """Gradient-boosted trees for ranking the rows of a group, LightGBM's method (LambdaMART).

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [1.0], [3.0]], [0, 1, 2, 0, 1]
    >>> model = LGBMRanker(n_estimators=10, min_child_samples=1, min_data_in_bin=1)
    >>> bool(np.diff(model.fit(X, y, group=[3, 2]).predict(X[:3])).min() > 0)
    True
    """

    target: ClassVar = "orders"
    usual_objective: ClassVar = "lambdarank"

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        init_score: Any = None,
        group: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        eval_names: Sequence[str] | None = None,
        eval_sample_weight: Sequence[Any] | None = None,
        eval_init_score: Sequence[Any] | None = None,
        eval_group: Sequence[Any] | None = None,
        eval_metric: Any = None,
        eval_at: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: Sequence[Callable[..., Any]] | None = None,
        init_model: Any = None,
        *,
        eval_X: Any = None,
        eval_y: Any = None,
        save_snapshot: Any = None,
        snapshot_every: int = 10,
        resume: Any = False,
    ) -> Self:
        """Boost.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Grades, whole numbers; larger is better.
        group : array-like
            Number of rows of each group; the rows of a group must be consecutive.
        eval_group : list of such arrays, one per table
        eval_at : list of int or None
            Cut-off positions of the metrics; None: those of the model, 1 to 5.
        X, sample_weight, …
            As for `LGBMRegressor.fit`.
        """
        if group is None:
            raise DataError("ranking needs groups: give group, the number of rows of each")
        return self._boost(locals())
