"""The arguments of fit and predict of XGBoost's front door, made into what the shared parts take."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.second_order.boosted_model import Given
from arboretum.boosting.watch.watching import Figure, Judge
from arboretum.errors import DataError, ParameterError

if TYPE_CHECKING:
    from arboretum.boosting.loss.objective import Objective
    from arboretum.boosting.metric.evaluation_set import EvaluationSet
    from arboretum.data.schema import Schema

__all__ = [
    "entries_with_nan",
    "function_judge",
    "in_order",
    "is_raw",
    "judge_of_shares",
    "one_each",
    "refuse_feature_weights",
    "tables_of",
    "with_nan",
]


# ---------------------------------------------------------------------- arguments of fit
def refuse_feature_weights(given: Any) -> None:
    """Raise if columns are given weights."""
    if given is not None:
        raise ParameterError(
            "feature_weights must be None: columns are drawn with equal probability"
        )


def one_each(given: Any, n: int, name: str) -> list:
    """Return one entry per table."""
    if given is None:
        return [None] * n
    if len(given) != n:
        raise ParameterError(f"{name} has {len(given)} entries for {n} tables of eval_set")
    return list(given)


def tables_of(eval_set: Any, weights: Any, margins: Any, groups: list) -> list[Given]:
    """Return the tables to judge by, named as XGBoost does."""
    if eval_set is None:
        if weights is not None or margins is not None:
            raise ParameterError("weights or margins of eval_set are given, but no eval_set")
        return []
    if isinstance(eval_set, np.ndarray) or not isinstance(eval_set, list | tuple):
        raise ParameterError("eval_set must be a list of (X, y) pairs")
    n = len(eval_set)
    weights = one_each(weights, n, "sample_weight_eval_set")
    margins = one_each(margins, n, "base_margin_eval_set")
    found = []
    for k, pair in enumerate(eval_set):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise ParameterError(f"eval_set must be a list of (X, y) pairs: entry {k} is none")
        X, y = pair
        found.append(Given(X, y, weights[k], margins[k], groups[k], f"validation_{k}"))
    return found


# ---------------------------------------------------------------------- figures
def function_judge(function: Callable) -> Judge:
    """Return the judge that asks a user's function of (y, prediction); smaller is better."""
    name = getattr(function, "__name__", type(function).__name__)

    def judge(truth: EvaluationSet, prediction: np.ndarray) -> list[Figure]:
        found = function(truth.y, prediction)
        try:
            return [Figure(name, float(found), False)]
        except (TypeError, ValueError):
            raise DataError(f"the metric {name!r} must return a number, got {found!r}") from None

    return judge


def is_raw(objective: Objective) -> bool:
    """Tell whether predictions are margins that stand for probabilities."""
    return objective.name == "binary:logitraw"


def judge_of_shares(judge: Judge) -> Judge:
    """Return a judge that is given the probabilities of raw margins."""

    def raw(truth: EvaluationSet, prediction: np.ndarray) -> list[Figure]:
        return judge(truth, 1.0 / (1.0 + np.exp(-prediction)))

    return raw


# ---------------------------------------------------------------------- missing values
def with_nan(values: np.ndarray, absent: float) -> np.ndarray:
    """Return numbers with one value made NaN."""
    hit = values == absent
    return np.where(hit, np.nan, values) if hit.any() else values


def entries_with_nan(entries: Any, absent: float) -> Any:
    """Return sparse entries with one value made NaN."""
    hit = entries.data == absent
    if not hit.any():
        return entries
    found = entries.astype(np.float64)
    found.data = np.where(hit, np.nan, found.data)
    return found


def in_order(X: Any, schema: Schema) -> Any:
    """Return a table whose columns are taken in order, whatever they are called."""
    from arboretum.data.table import Table, read_table

    table = read_table(X)
    if len(table.names) != schema.n_features:
        return X
    return Table(schema.names, schema.named, table.n_rows, table.body)
