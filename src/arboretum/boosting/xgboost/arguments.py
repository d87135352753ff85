"""The arguments of `fit` of XGBoost's estimators: without names, evaluation tables, groups."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from arboretum.boosting.second_order.fit import GivenTable
from arboretum.data.checks import warn_caller
from arboretum.errors import DataError, ParameterError

__all__ = ["by_position", "n_columns", "one_each", "tables_of", "without_qid"]


def by_position(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that takes arguments without their names, as XGBoost does with a warning."""
    shape = inspect.signature(method)
    kinds = shape.parameters.values()
    names = [one.name for one in kinds if one.kind != inspect.Parameter.VAR_KEYWORD]
    free = sum(one.kind == inspect.Parameter.POSITIONAL_OR_KEYWORD for one in kinds)

    @functools.wraps(method)
    def named(self: Any, *args: Any, **kwargs: Any) -> Any:
        others = dict(zip(names[free:], args[free - 1 :], strict=False))
        if others:
            warn_caller(f"name the arguments {', '.join(others)}: {method.__name__}(…, "
                        f"{next(iter(others))}=…)", FutureWarning)  # fmt: skip
        return method(self, *args[: free - 1], **{**others, **kwargs})

    named.__signature__ = shape  # type: ignore[attr-defined]
    return named


def n_columns(y: Any) -> int:
    """Return the number of columns of a target."""
    try:
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    except ValueError:  # lists of different lengths, which are refused where they are read
        return 1
    return int(shape[1]) if len(shape) > 1 else 1


def without_qid(X: Any, qid: Any) -> tuple[Any, Any]:
    """Return a dataframe without its column ``qid``, and the groups of the rows."""
    if not any(isinstance(name, str) and name == "qid" for name in getattr(X, "columns", ())):
        return X, qid
    if qid is not None:
        raise DataError("the groups are given twice: drop the column qid of X, or the argument")
    rest = [name for name in X.columns if name != "qid"]
    return X[rest], X["qid"]


def one_each(given: Any, n: int, name: str) -> list[Any]:
    """Return one entry per table."""
    if given is None:
        return [None] * n
    if len(given) != n:
        raise ParameterError(f"{name} has {len(given)} entries for {n} tables of eval_set")
    return list(given)


def tables_of(eval_set: Any, weights: Any, margins: Any, groups: list[Any]) -> list[GivenTable]:
    """Return the evaluation tables, named as in XGBoost."""
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
        found.append(GivenTable(X, y, weights[k], margins[k], groups[k], f"validation_{k}"))
    return found
