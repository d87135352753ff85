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
    BoostedRanker,
    BoostedRegressor,
)
from arboretum.boosting.second_order.fit import GivenTable, group_sizes
from arboretum.boosting.xgboost.model import XGBModel, one_each, tables_of, with_objective
from arboretum.boosting.xgboost.parameters import ATTRIBUTES
from arboretum.boosting.xgboost.recipe import is_raw
from arboretum.engine.elementwise import probability
from arboretum.errors import DataError

__all__ = ["XGBClassifier", "XGBRanker", "XGBRegressor"]


class XGBClassifier(BoostedClassifier, XGBModel):
    """Gradient-boosted trees for classification, XGBoost's method.

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
    __init__ = with_objective(usual_objective)

    def _shares(self, margin: np.ndarray) -> np.ndarray:
        if is_raw(self.objective_):
            return probability(margin[:, 0])
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
    __init__ = with_objective(usual_objective)


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
    __init__ = with_objective(usual_objective)
    _weighs_groups: ClassVar = True

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
        feature_weights: None = None,
        save_snapshot: Any = None,
        snapshot_every: int = 10,
        resume: Any = False,
    ) -> Self:
        """Boost.

        Parameters
        ----------
        X, y, base_margin, eval_set, verbose, xgb_model, save_snapshot, snapshot_every, resume
            As for `XGBRegressor.fit`; ``y`` are grades, larger is better.
        group : array-like
            Number of rows of each group; the rows of a group must be consecutive.
        qid : array-like of shape (n_samples,)
            The group of every row, instead of ``group``.
        sample_weight : array-like of shape (n_groups,) or None
            One weight per group.
        eval_group, eval_qid : lists
            The groups of every table of ``eval_set``.
        """
        sizes = group_sizes(group, qid)
        if sizes is None:
            raise DataError("ranking needs groups: give group (sizes) or qid (one per row)")
        n = len(eval_set or ())
        eval_sizes = [
            group_sizes(one, other, f"validation_{k}: ")
            for k, (one, other) in enumerate(
                zip(
                    one_each(eval_group, n, "eval_group"),
                    one_each(eval_qid, n, "eval_qid"),
                    strict=True,
                )
            )
        ]
        if any(one is None for one in eval_sizes):
            raise DataError("every table of eval_set needs groups: give eval_group or eval_qid")
        held_out = tables_of(eval_set, sample_weight_eval_set, base_margin_eval_set, eval_sizes)
        return self._boost(
            GivenTable(X, y, sample_weight, base_margin, sizes), held_out, verbose, xgb_model,
            feature_weights, (save_snapshot, snapshot_every, resume),
        )  # fmt: skip
