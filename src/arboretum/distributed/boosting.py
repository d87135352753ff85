"""Fits of second-order boosting where the rows are: on the workers of a cluster.

collections ──► pieces, some on every worker ──► ClusterTable, in place of the table
y, weights, groups ──► arrays in this process             │
                                                          ▼
                                         the estimator's own fit, on shards
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import closing
from types import ModuleType
from typing import Any

import numpy as np

from arboretum.distributed import local
from arboretum.distributed.arguments import (
    bound_arguments,
    read_tables,
    taken_names,
    without,
    write_tables,
)
from arboretum.distributed.partitions import TableShare, TablesOnWorker
from arboretum.distributed.placement import share_out
from arboretum.distributed.table import ClusterTable
from arboretum.distributed.workers import Workers

__all__ = ["fit_collection"]

_NAMED = 6  # partitions of a worker in messages


def fit_collection(
    adapter: ModuleType,
    model: Any,
    method: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Fit a model to collections: where their rows are if it can, else in this process."""
    bound = bound_arguments(model, method, args, kwargs)
    in_place = getattr(model, "fits_in_parts", False) and method.__name__ == "fit"
    return (_fit_in_place if in_place else local.fit_gathered)(adapter, model, method, bound)


def _fit_in_place(
    adapter: ModuleType, model: Any, method: Callable[..., Any], bound: inspect.BoundArguments
) -> Any:
    """Fit a booster; small collections are gathered."""
    tables = read_tables(bound.arguments)
    n_rows = adapter.known_rows(tables[0].X)
    if n_rows is not None and n_rows < local.FEW:
        return local.fit_gathered(adapter, model, method, bound)
    names = taken_names(tables)
    collections = {id(t.X): t.X for t in tables if adapter.is_collection(t.X)}
    workers, shares = _placed(
        adapter, model, list(collections.values()), [names[key] for key in collections]
    )
    with closing(workers):
        found = [ClusterTable(workers, t, share) for t, share in enumerate(shares)]
        if found[0].n_rows >= local.FEW:
            split = {key: (table, table.columns) for key, table in zip(collections, found)}
            for table in tables:
                if id(table.X) not in split:
                    split[id(table.X)] = without(table.X, names[id(table.X)])
            gather = local.Gathering(adapter)
            resolved = [table.replaced(*split[id(table.X)], gather) for table in tables]
            if any(table.X is tables[0].X for table in tables[1:]):
                _keep_all_rows(found[0], len(found), resolved[0].rows.get("sample_weight"), model)
            write_tables(bound.arguments, resolved)
            return method(*bound.args, **bound.kwargs)
    return local.fit_gathered(adapter, model, method, bound)


def _placed(
    adapter: ModuleType, model: Any, given: Sequence[Any], taken: Sequence[tuple[str, ...]]
) -> tuple[Workers, list[list[tuple[int, ...]]]]:
    """Put the pieces of collections on workers; return which pieces of each every worker has."""
    cluster = adapter.make_cluster(model)
    pieces = [adapter.pieces_of(X) for X in given]
    homes = [adapter.homes_of(X, cluster) for X in given]
    names = [worker.name for worker in cluster.workers()]
    if not any(homes):
        names = names[: max(map(len, pieces))]
    shares = [share_out(len(each), names, own) for each, own in zip(pieces, homes)]
    arguments, labels = [], []
    for w, training in enumerate(shares[0]):
        own = [TableShare(share[w], columns) for share, columns in zip(shares, taken)]
        mine = [each[k] for each, share in zip(pieces, shares) for k in share[w]]
        arguments.append((own, *mine))
        some = ", ".join(map(str, training[:_NAMED])) + ", …" * (len(training) > _NAMED)
        labels.append(f"partitions {some}" if training else "no partition")
    return Workers(cluster, TablesOnWorker, arguments, labels), shares


def _keep_all_rows(table: ClusterTable, number: int, weight: Any, model: Any) -> None:
    """Let a training table that is evaluated, too, keep rows of weight 0 for that."""
    by_class = getattr(model, "class_weight", None)
    zero = isinstance(by_class, dict) and 0 in by_class.values()
    if zero or (weight is not None and not np.all(weight)):
        table.add_twin(number)
