"""XGBoost's API: its names, parameters, defaults and fit arguments on this package's engine.

    from arboretum import XGBClassifier          # instead of xgboost
    model = XGBClassifier(max_depth=4, learning_rate=0.1, early_stopping_rounds=20)
    model.fit(X, y, eval_set=[(X_valid, y_valid)], verbose=10)

What differs from XGBoost on purpose: columns of strings are categories without being declared, labels
may be any classes, `predict_proba` of binary:logitraw returns probabilities,
and a fit can be resumed after a crash (``save_snapshot``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from arboretum.boosting.second_order.boosted_model import (
    BoostedClassifier,
    BoostedModel,
    BoostedRanker,
    BoostedRegressor,
    squeezed,
)
from arboretum.boosting.second_order.fit import GivenTable, group_sizes
from arboretum.boosting.xgboost.arguments import (
    by_position,
    n_columns,
    one_each,
    tables_of,
    without_qid,
)
from arboretum.boosting.xgboost.model import XGBModel, with_defaults
from arboretum.boosting.xgboost.parameters import ATTRIBUTES
from arboretum.boosting.xgboost.recipe import evaluated, is_raw
from arboretum.data.target import numbers
from arboretum.engine.elementwise import probability
from arboretum.errors import DataError

__all__ = ["XGBClassifier", "XGBRFClassifier", "XGBRFRegressor", "XGBRanker", "XGBRegressor"]


class XGBClassifier(BoostedClassifier, XGBModel):
    """Gradient-boosted trees for classification, XGBoost's method.

    If y has several columns, of 0 and 1, each is predicted (multilabel): `predict` and `predict_proba`, the
    probability of 1, return a column for each.

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
    >>> model = XGBClassifier(n_estimators=20, max_depth=2).fit(X, y)
    >>> model.predict(X[[0, 60, 140]])
    array([0, 1, 2])
    """

    _attributes: ClassVar = {**BoostedClassifier._attributes, **ATTRIBUTES}
    target: ClassVar = "classes"
    usual_objective: ClassVar = "binary:logistic"
    __init__ = with_defaults(objective=usual_objective)

    # ------------------------------------------------------------------ several labels
    def _learn_labels(self, y: Any, n_rows: int, earlier: BoostedModel | None) -> np.ndarray:
        self.n_outputs_ = 1
        if n_columns(y) < 2:
            return super()._learn_labels(y, n_rows, earlier)
        self._take_classes(np.array([0, 1]))
        self.n_outputs_ = n_columns(y)
        return self._labels(y, n_rows)

    def _labels(self, y: Any, n_rows: int) -> np.ndarray:
        if self.n_outputs_ == 1:
            return super()._labels(y, n_rows)
        found, _ = numbers(y, n_rows=n_rows, estimator_name=type(self).__name__)
        if found.shape[1] != self.n_outputs_ or not np.isin(found, (0, 1)).all():
            raise DataError(
                f"y with several columns must hold 0 and 1 in all {self.n_outputs_} of them: classes of "
                "other kinds need a model for each column (sklearn.multioutput)"
            )
        return found

    def _probabilities(self, margin: np.ndarray) -> np.ndarray:
        return self._shares(margin) if self.n_outputs_ > 1 else super()._probabilities(margin)

    def _predicted(self, margin: np.ndarray) -> np.ndarray:
        if self.n_outputs_ > 1:
            return (self._shares(margin) > 0.5).astype(np.int64)
        return super()._predicted(margin)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    # ------------------------------------------------------------------ answers
    def _shares(self, margin: np.ndarray) -> np.ndarray:
        if is_raw(self._objective):
            return probability(squeezed(margin))
        return super()._shares(margin)

    def predict_proba(
        self,
        X: Any,
        validate_features: bool = True,
        base_margin: Any = None,
        iteration_range: tuple[int, int] | None = None,
    ) -> np.ndarray:
        """Return the probability of every class, (rows, classes); arguments as for `predict`."""
        margin = self._requested_margin(X, base_margin, iteration_range, validate_features)
        return self._probabilities(margin)


class XGBRegressor(BoostedRegressor, XGBModel):
    """Gradient-boosted trees for regression, XGBoost's method.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> model = XGBRegressor(n_estimators=50, min_child_weight=0).fit(X, [1.0, 1.0, 5.0, 5.0])
    >>> model.predict([[1.5], [3.5]]).round(2)
    array([1., 5.])
    """

    target: ClassVar = "numbers"
    usual_objective: ClassVar = "reg:squarederror"
    __init__ = with_defaults(objective=usual_objective)
    _learn_labels, _labels = XGBModel._learn_labels, XGBModel._labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


_OF_FORESTS = {
    "learning_rate": 1.0, "subsample": 0.8, "colsample_bynode": 0.8, "reg_lambda": 1e-5,
}  # fmt: skip


class XGBRFClassifier(XGBClassifier):
    """A random forest of XGBoost's trees for classification.

    All ``n_estimators`` trees are grown in one round, each on a share of the rows (`subsample`) that is drawn
    without replacement; their mean is a step of boosting. There is no early stopping.

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
    >>> model = XGBRFClassifier(n_estimators=20, max_depth=2).fit(X, y)
    >>> model.predict(X[[0, 60, 140]]), len(model.trees_)
    (array([0, 1, 2]), 60)
    """

    _is_forest: ClassVar = True
    __init__ = with_defaults(objective=XGBClassifier.usual_objective, **_OF_FORESTS)


class XGBRFRegressor(XGBRegressor):
    """A random forest of XGBoost's trees for regression.

    All ``n_estimators`` trees are grown in one round, each on a share of the rows (`subsample`) that is drawn
    without replacement; their mean is a step of boosting. There is no early stopping.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> model = XGBRFRegressor(min_child_weight=0).fit(X, [1.0, 1.0, 5.0, 5.0])
    >>> model.predict([[1.5], [3.5]]).round(0)
    array([1., 5.])
    """

    _is_forest: ClassVar = True
    __init__ = with_defaults(objective=XGBRegressor.usual_objective, **_OF_FORESTS)


class XGBRanker(BoostedRanker, XGBModel):
    """Gradient-boosted trees for ranking the rows of a group, XGBoost's method (LambdaMART).

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [1.0], [3.0]], [0, 1, 2, 0, 1]
    >>> model = XGBRanker(n_estimators=10, min_child_weight=0).fit(X, y, group=[3, 2])
    >>> bool(np.diff(model.predict(X[:3])).min() > 0)
    True
    """

    target: ClassVar = "orders"
    usual_objective: ClassVar = "rank:ndcg"
    __init__ = with_defaults(objective=usual_objective)
    _weighs_groups: ClassVar = True

    @by_position
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        group: Any = None,
        qid: Any = None,
        sample_weight: Any = None,
        base_margin: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        eval_group: Sequence[Any] | None = None,
        eval_qid: Sequence[Any] | None = None,
        verbose: bool | int | None = False,
        xgb_model: Any = None,
        sample_weight_eval_set: Sequence[Any] | None = None,
        base_margin_eval_set: Sequence[Any] | None = None,
        feature_weights: Any = None,
        save_snapshot: Any = None,
        snapshot_every: int = 10,
        resume: Any = False,
    ) -> Self:
        """Boost.

        Parameters
        ----------
        X, y, base_margin, eval_set, verbose, xgb_model, save_snapshot, snapshot_every, resume
            As for `XGBRegressor.fit`; ``y`` are grades, larger is better. A column ``qid`` of a dataframe is
            taken for the groups, in all methods, and not for a column of the model.
        group : array-like
            Number of rows of each group; the rows of a group must be consecutive.
        qid : array-like of shape (n_samples,)
            The group of every row, instead of ``group``.
        sample_weight : array-like of shape (n_groups,) or None
            One weight per group.
        eval_group, eval_qid : lists
            The groups of every table of ``eval_set``.
        """
        X, qid = without_qid(X, qid)
        sizes = group_sizes(group, qid)
        if sizes is None:
            raise DataError("ranking needs groups: give group (sizes) or qid (one per row)")
        n = len(eval_set or ())
        groups, qids = one_each(eval_group, n, "eval_group"), one_each(eval_qid, n, "eval_qid")
        tables = list(eval_set or ())
        for k, (table, labels) in enumerate(tables):
            table, qids[k] = without_qid(table, qids[k])
            tables[k] = table, labels
        eval_sizes = [
            group_sizes(one, other, f"validation_{k}: ")
            for k, (one, other) in enumerate(zip(groups, qids, strict=True))
        ]
        if any(one is None for one in eval_sizes):
            raise DataError(
                "Either `group` or `qid` is needed for every table of eval_set: give eval_group or eval_qid"
            )
        held_out = tables_of(
            tables or None, sample_weight_eval_set, base_margin_eval_set, eval_sizes
        )
        return self._boost(
            GivenTable(X, y, sample_weight, base_margin, sizes), held_out, verbose, xgb_model,
            feature_weights, (save_snapshot, snapshot_every, resume),
        )  # fmt: skip

    def _matrix(self, X: Any, absent: float | None) -> Any:
        return super()._matrix(without_qid(X, None)[0], absent)

    def score(self, X: Any, y: Any) -> float:
        """Return the last of the metrics for a table with a column ``qid``; without one it is one group."""
        X, qid = without_qid(X, None)
        sizes = group_sizes(None, np.zeros(len(y)) if qid is None else qid)
        return evaluated(self, X, y, None, sizes)[-1].value
