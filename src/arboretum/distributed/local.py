"""Fits of collections that are gathered first: small ones, and models that need the table in one place.

Every argument of `fit` that is a collection, or the name of a column, becomes rows in this process.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from arboretum.data.checks import warn_caller
from arboretum.distributed.trees import grown_on
from arboretum.errors import DataError

__all__ = ["COLUMNS", "FEW", "Gathered", "bound_arguments", "fit_gathered"]

FEW = 200_000  # rows that are gathered and fitted here: bins are found from as many anyway
COLUMNS = ("y", "sample_weight", "base_margin", "init_score", "group", "qid")
_PAIRS = {  # for every table of eval_set
    "sample_weight_eval_set", "base_margin_eval_set", "eval_sample_weight", "eval_init_score",
    "eval_group", "eval_qid",
}  # fmt: skip


class Gathered(Exception):
    """Raised by a fit on a cluster: the table has few rows and is better fitted here."""


def bound_arguments(
    model: Any, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> inspect.BoundArguments:
    """Return the arguments of a fit by their names."""
    return inspect.signature(method).bind(model, *args, **kwargs)


def fit_gathered(
    adapter: ModuleType, model: Any, method: Callable[..., Any], bound: inspect.BoundArguments
) -> Any:
    """Fit a model to collections in this process; forests grow their trees on the workers."""
    given = bound.arguments
    X = adapter.gather(given["X"])
    names = [given[k] for k in COLUMNS if isinstance(given.get(k), str)]
    given["X"], columns = _without(X, names)
    for name in COLUMNS:
        if name in given:
            given[name] = _values(adapter, given[name], columns)
    if given.get("eval_set") is not None:
        _gather_evaluation(adapter, given)
    few = len(X) < FEW
    if few:
        warn_caller(
            f"the collection has {len(X):,} rows in all: they are gathered and fitted in this process, which "
            f"is faster below {FEW:,}"
        )
        return method(*bound.args, **bound.kwargs)
    with grown_on(adapter.make_cluster(model)):
        return method(*bound.args, **bound.kwargs)


def _gather_evaluation(adapter: ModuleType, given: dict[str, Any]) -> None:
    tables: list[dict[str, Any]] = []
    pairs = []
    for X, y in given["eval_set"]:
        X = adapter.gather(X)
        each = [given[k][len(tables)] for k in _PAIRS & given.keys() if given[k] is not None]
        X, columns = _without(X, [one for one in (y, *each) if isinstance(one, str)])
        tables.append(columns)
        pairs.append((X, _values(adapter, y, columns)))
    given["eval_set"] = pairs
    for name in _PAIRS & given.keys():
        if given[name] is not None:
            given[name] = [
                _values(adapter, *both) for both in zip(given[name], tables, strict=True)
            ]


def _without(X: Any, names: list[str]) -> tuple[Any, dict[str, Any]]:
    """Return a frame without some columns, and these by name."""
    if not names:
        return X, {}
    known = list(getattr(X, "columns", ()))
    for name in names:
        if name not in known:
            raise DataError(
                f"X has no column {name!r}: give y, weights and groups as columns of X or as collections of "
                "their own"
            )
    found = {name: X[name] for name in names}
    return X[[name for name in known if name not in found]], found


def _values(adapter: ModuleType, given: Any, columns: dict[str, Any]) -> Any:
    if isinstance(given, str):
        return columns[given]
    return adapter.gather(given) if adapter.is_collection(given) else given
