"""Fits of collections that are gathered first: small ones, and models that need the table in one place."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from arboretum.data.checks import warn_caller
from arboretum.distributed.arguments import read_tables, taken_names, without, write_tables
from arboretum.distributed.trees import grown_on

__all__ = ["FEW", "Gathering", "fit_gathered"]

FEW = 200_000  # rows that are gathered and fitted here: bins are found from as many anyway


class Gathering:
    """Gathers every collection once; what is no collection stays as it is."""

    def __init__(self, adapter: ModuleType) -> None:
        self._adapter, self._known = adapter, {}  # type: ModuleType, dict[int, Any]

    def __call__(self, given: Any) -> Any:
        if not self._adapter.is_collection(given):
            return given
        if id(given) not in self._known:
            self._known[id(given)] = self._adapter.gather(given)
        return self._known[id(given)]


def fit_gathered(
    adapter: ModuleType, model: Any, method: Callable[..., Any], bound: inspect.BoundArguments
) -> Any:
    """Fit a model to collections in this process; forests grow their trees on the workers."""
    gather, tables = Gathering(adapter), read_tables(bound.arguments)
    names = taken_names(tables)
    split = {
        key: without(gather(X), names[key]) for key, X in {id(t.X): t.X for t in tables}.items()
    }
    write_tables(bound.arguments, [table.replaced(*split[id(table.X)], gather) for table in tables])
    n_rows = len(bound.arguments["X"])
    if n_rows < FEW:
        warn_caller(
            f"the collection has {n_rows:,} rows in all: they are gathered and fitted in this process, which "
            f"is faster below {FEW:,}"
        )
        return method(*bound.args, **bound.kwargs)
    with grown_on(adapter.make_cluster(model)):
        return method(*bound.args, **bound.kwargs)
