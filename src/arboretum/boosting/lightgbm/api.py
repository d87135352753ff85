"""LightGBM's front door: its names, parameters, defaults and fit arguments on this package's engine.

    import arboretum as lgb                      # instead of lightgbm
    model = lgb.LGBMClassifier(num_leaves=15, feature_fraction=0.8)
    model.fit(X, y, eval_set=[(X_valid, y_valid)], callbacks=[lgb.early_stopping(20)])

What differs from the program on purpose: columns of strings are categories without being declared, unknown
parameters are refused, a fit can be resumed after a crash (``save_snapshot``), it ends when no tree can be
split any more, and the model is the same, bit for bit, for any number of threads.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from arboretum.base.class_weight import with_class_weight
from arboretum.boosting.dialect.find import predicts
from arboretum.boosting.lightgbm.documentation import describe
from arboretum.boosting.lightgbm.model import LGBMModel
from arboretum.boosting.lightgbm.tables import Asked, Evaluation, Weighing, by_output
from arboretum.boosting.loss.user import UserObjective
from arboretum.boosting.second_order.boosted_model import Given
from arboretum.boosting.second_order.boosted_targets import (
    BoostedClassifier,
    BoostedRanker,
    BoostedRegressor,
)
from arboretum.boosting.second_order.snapshot import Snapshot
from arboretum.data.target import weights as checked_weights
from arboretum.errors import DataError, ParameterError

if TYPE_CHECKING:
    from arboretum.boosting.loss.objective import Objective

__all__ = ["LGBMClassifier", "LGBMRanker", "LGBMRegressor"]


class LGBMRegressor(BoostedRegressor, LGBMModel):
    __doc__ = f"""Boosted trees that tell numbers, as LightGBM's.
{describe('"regression"')}
    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> model = LGBMRegressor(n_estimators=50, min_child_samples=1, min_data_in_bin=1)
    >>> model.fit(X, [1.0, 1.0, 5.0, 5.0]).predict([[1.5], [3.5]]).round(2)
    array([1.01, 4.99])
    """

    _usual_objective: ClassVar[str] = "regression"
    _usual_metric: ClassVar[str] = "l2"

    def _allowed_objective(self, name: str) -> str:
        other = {"classes": "LGBMClassifier", "orders": "LGBMRanker"}.get(
            predicts(name, "lightgbm")
        )
        if other is not None:
            raise ParameterError(f"objective {name!r} does not tell numbers: use {other}")
        return name

    def fit(
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
        callbacks: Sequence[Callable] | None = None,
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
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
        init_score : array-like of shape (n_samples,) or (n_samples, n_classes), or None
            Scores to begin with; they are no part of the model.
        eval_set : list of (X, y) or None
            Tables to judge every round by; or ``eval_X`` and ``eval_y``, one or a tuple of them.
        eval_names, eval_sample_weight, eval_init_score : lists, one entry per table
        eval_metric : str, callable, list of them or None
            What to judge by, besides the metric of the model. A function of (y, prediction), (y, prediction,
            weight) or (y, prediction, weight, group) returns (name, figure, larger is better).
        feature_name : "auto" or list of str
            How columns are called in reports.
        categorical_feature : "auto" or list of names or places
            Columns that are categories, besides those whose type says so.
        callbacks : list of functions or None
            See `arboretum.boosting.watch.callbacks`.
        init_model : fitted model, its booster, path or None
            Go on from these trees.
        save_snapshot : path or None
            Keep the state of the fit there, every ``snapshot_every`` rounds.
        resume : bool or path
            Go on from the snapshot if there is one; the model is the same as without the break.

        Returns
        -------
        self
        """
        training = Given(X, y, sample_weight, by_output(init_score, y))
        judged = Evaluation(
            eval_set, eval_names, eval_sample_weight, None, eval_init_score, None, eval_X, eval_y
        )
        asked = Asked(
            eval_metric, feature_name, categorical_feature, callbacks, init_model,
            Snapshot.asked(save_snapshot, snapshot_every, resume),
        )  # fmt: skip
        return self._boost_on(training, judged.tables(training), asked)


class LGBMClassifier(BoostedClassifier, LGBMModel):
    __doc__ = f"""Boosted trees that tell classes, as LightGBM's.
{describe('"binary", or "multiclass" for more than two classes', classes=True)}
    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]] * 10, ["no", "no", "yes", "yes"] * 10
    >>> model = LGBMClassifier(n_estimators=20, min_child_samples=5).fit(X, y)
    >>> model.predict([[1.5], [3.5]]).tolist(), model.n_iter_
    (['no', 'yes'], 20)
    """

    _usual_objective: ClassVar[str] = "binary"
    _usual_metric: ClassVar[str] = "None"  # the meaning of the scores is not known

    def _usual(self, n_classes: int | None) -> str:
        return "multiclass" if (n_classes or 1) > 2 else "binary"

    def _allowed_objective(self, name: str) -> str:
        known = predicts(name, "lightgbm")
        if known not in ("classes", "two classes"):
            raise ParameterError(
                f"objective {name!r} does not tell classes: use 'binary', 'multiclass' or "
                "'multiclassova'"
            )
        if self.n_classes_ > 2 and known == "two classes":
            raise ParameterError(
                f"objective {name!r} is for two classes, y holds {self.n_classes_}: use 'multiclass'"
            )
        return name

    def _metric_name(self, name: str, objective: Objective) -> str:
        """Return the metric of a short name: logloss and error of two or several classes."""
        kind = "multi" if objective.n_outputs > 1 else "binary"
        stem = name.removeprefix("binary_").removeprefix("multi_")
        return f"{kind}_{stem}" if stem in ("logloss", "error") else name

    def _row_weights(self, sample_weight: Any, y: np.ndarray, groups: Any) -> np.ndarray | None:
        if not isinstance(sample_weight, Weighing):
            return checked_weights(sample_weight, len(y))
        rows = checked_weights(sample_weight.rows, len(y))
        if sample_weight.classes is None:
            return rows
        codes = y.astype(np.int64)[:, None]
        with np.errstate(divide="ignore"):  # a table may lack a class
            return with_class_weight(sample_weight.classes, [self.classes_], codes, rows)

    def fit(
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
        callbacks: Sequence[Callable] | None = None,
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
            Weights of the classes of the tables to judge by.
        X, y, …
            As for `LGBMRegressor.fit`; ``y`` may be any labels.
        """
        training = Given(X, y, Weighing(sample_weight, self.class_weight), by_output(init_score, y))
        judged = Evaluation(
            eval_set, eval_names, eval_sample_weight, eval_class_weight, eval_init_score, None,
            eval_X, eval_y,
        )  # fmt: skip
        asked = Asked(
            eval_metric, feature_name, categorical_feature, callbacks, init_model,
            Snapshot.asked(save_snapshot, snapshot_every, resume),
        )  # fmt: skip
        return self._boost_on(training, judged.tables(training), asked)

    # ------------------------------------------------------------------ asking
    def _predicted(self, margin: np.ndarray) -> np.ndarray:
        found = self._probabilities(margin)
        if isinstance(self.objective_, UserObjective):
            return found
        return self.classes_[found.argmax(axis=1)]

    def _probabilities(self, margin: np.ndarray) -> np.ndarray:
        if isinstance(self.objective_, UserObjective):
            warnings.warn(
                "the objective is a function, so what the scores mean is not known: raw scores are "
                "returned",
                stacklevel=4,
            )
            return margin[:, 0] if margin.shape[1] == 1 else margin
        return self._shares(margin)

    def predict_proba(
        self,
        X: Any,
        raw_score: bool = False,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        validate_features: bool = False,
    ) -> np.ndarray:
        """Return the probability of every class, (rows, classes); arguments as for `predict`.

        Those of "multiclassova" are each told on their own, and need not sum to 1.
        """
        return self._answer(
            X, self._probabilities, raw_score, start_iteration, num_iteration, pred_leaf,
            pred_contrib, validate_features,
        )  # fmt: skip

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the raw scores, (rows,) for two classes, else (rows, classes)."""
        return self.predict(X, raw_score=True)


class LGBMRanker(BoostedRanker, LGBMModel):
    __doc__ = f"""Boosted trees that put the rows of every group into order, as LightGBM's (LambdaMART).
{describe('"lambdarank"')}
    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [1.0], [3.0]], [0, 1, 2, 0, 1]
    >>> model = LGBMRanker(n_estimators=10, min_child_samples=1, min_data_in_bin=1)
    >>> bool(np.diff(model.fit(X, y, group=[3, 2]).predict(X[:3])).min() > 0)
    True
    """

    _usual_objective: ClassVar[str] = "lambdarank"
    _usual_metric: ClassVar[str] = "ndcg"

    def _allowed_objective(self, name: str) -> str:
        if predicts(name, "lightgbm") != "orders":
            raise ParameterError(
                f"LGBMRanker takes objective 'lambdarank' or a function, got {name!r}"
            )
        return name

    def fit(
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
        callbacks: Sequence[Callable] | None = None,
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
            How many rows each group has; the rows of a group stand together.
        eval_group : list of such, one entry per table
        eval_at : list of int or None
            Places that metrics look at; None: those of the model, 1 to 5.
        X, sample_weight, …
            As for `LGBMRegressor.fit`.
        """
        if group is None:
            raise DataError("ranking needs groups: give group, how many rows each has")
        training = Given(X, y, sample_weight, by_output(init_score, y), np.asarray(group))
        judged = Evaluation(
            eval_set, eval_names, eval_sample_weight, None, eval_init_score, eval_group, eval_X,
            eval_y,
        )  # fmt: skip
        asked = Asked(
            eval_metric, feature_name, categorical_feature, callbacks, init_model,
            Snapshot.asked(save_snapshot, snapshot_every, resume), eval_at,
        )  # fmt: skip
        return self._boost_on(training, judged.tables(training), asked)
