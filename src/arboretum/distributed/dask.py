"""Dask: dataframes and arrays as tables, lazy predictions, and the names of the peers' estimators.

import arboretum.distributed.dask as adask        # or arboretum's own estimators: the same
model = adask.DaskLGBMClassifier(client=client).fit(ddf[columns], ddf["label"])
model.predict(ddf[columns])                       # lazy: a Dask series
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.distributed.answers import (
    answer_part,
    check_row_wise,
    names_of_answer,
    sample_answer,
)
from arboretum.distributed.boosting import fit_collection
from arboretum.distributed.dask_cluster import DaskCluster
from arboretum.errors import DataError
from arboretum.registry import ESTIMATORS

if TYPE_CHECKING:
    from arboretum.boosting.lightgbm.api import LGBMClassifier, LGBMRanker, LGBMRegressor
    from arboretum.boosting.xgboost.api import XGBClassifier, XGBRanker, XGBRegressor

__all__ = [
    "DaskLGBMClassifier", "DaskLGBMRanker", "DaskLGBMRegressor", "DaskXGBClassifier", "DaskXGBRanker",
    "DaskXGBRegressor",
]  # fmt: skip


def is_collection(given: Any) -> bool:
    """Return True for Dask's dataframes, series and arrays."""
    from dask import is_dask_collection

    return is_dask_collection(given) and (hasattr(given, "to_delayed"))


def gather(given: Any) -> Any:
    """Return the rows of a collection."""
    return given.compute()


def known_rows(given: Any) -> int | None:
    """Return the number of rows of an array; None where partitions would have to be computed."""
    n_rows = next(iter(getattr(given, "shape", ())), None)
    return int(n_rows) if isinstance(n_rows, int | np.integer) else None


def pieces_of(given: Any) -> list[Any]:
    """Return the partitions of a collection, in order, none of them computed yet."""
    if not hasattr(given, "map_partitions"):
        given = given.rechunk({1: -1}) if given.ndim == 2 else given
    return np.ravel(given.to_delayed()).tolist()


def homes_of(given: Any, cluster: DaskCluster) -> list[str | None]:
    """Return the worker of every partition that is in memory, as after `persist`; nothing if none is."""
    from distributed import futures_of, wait

    n = given.npartitions
    every = futures_of(given, client=cluster.client)
    futures = {f.key[1]: f for f in every if isinstance(f.key, tuple)}
    if sorted(futures) != list(range(n)):
        return []
    wait(list(futures.values()))
    found = cluster.client.who_has(list(futures.values()))
    return [next(iter(found.get(futures[k].key, ())), None) for k in range(n)]


def make_cluster(model: Any) -> DaskCluster:
    """Return the cluster of the model's client, else of the current one."""
    return DaskCluster(vars(model).get("client"))


def fit(
    model: Any, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Fit a model to Dask collections."""
    import arboretum.distributed.dask as adapter

    return fit_collection(adapter, model, method, args, kwargs)


# ---------------------------------------------------------------------- predictions
def answer(
    model: Any, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Return the predictions for a collection as a lazy collection."""
    from dask import delayed

    X, rest = args[0], args[1:]
    check_row_wise(method, X, "X.compute()")
    model._check_fitted()
    held = delayed(model, pure=False)  # once in the graph, not in every task
    if hasattr(X, "map_blocks") and not hasattr(X, "map_partitions"):
        return _answer_array(X, held, model, method, rest, kwargs)
    sample = X._meta_nonempty
    found = names_of_answer(model, method, sample_answer(sample, model, method, rest, kwargs))
    meta = found.to_frame(sample)[:0]
    return X.map_partitions(
        _frame_of_part, held, method, rest, kwargs, found, meta=meta, align_dataframes=False,
        enforce_metadata=False,
    )  # fmt: skip


def _frame_of_part(
    X: Any, model: Any, method: Any, rest: tuple[Any, ...], kwargs: dict[str, Any], found: Any
) -> Any:
    if not len(X):
        return found.to_frame(X)
    values = answer_part(X, model, method, rest, kwargs)
    return names_of_answer(model, method, values).to_frame(X)


def _answer_array(
    X: Any, held: Any, model: Any, method: Any, rest: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    if X.ndim != 2:
        raise DataError(f"X must have rows and columns, got a Dask array of shape {X.shape}")
    X = X.rechunk({1: -1})
    sample = sample_answer(np.zeros((1, X.shape[1]), X.dtype), model, method, rest, kwargs)
    one = sample.ndim == 1
    return X.map_blocks(
        _array_of_part, held, method, rest, kwargs, sample[:0], dtype=sample.dtype, meta=sample[:0],
        **({"drop_axis": 1} if one else {"chunks": (X.chunks[0], (sample.shape[1],))}),
    )  # fmt: skip


def _array_of_part(
    X: np.ndarray, model: Any, method: Any, rest: Any, kwargs: Any, empty: np.ndarray
) -> np.ndarray:
    return answer_part(X, model, method, rest, kwargs) if len(X) else empty


# ---------------------------------------------------------------------- the peers' names
def _with_client(name: str, client: Any, parameters: dict[str, Any]) -> Any:
    model = getattr(import_module(ESTIMATORS[name]), name)(**parameters)
    model.client = client
    return model


def DaskXGBClassifier(client: Any = None, **parameters: Any) -> XGBClassifier:
    """Return an `XGBClassifier` whose fits run on the cluster of a client."""
    return _with_client("XGBClassifier", client, parameters)


def DaskXGBRegressor(client: Any = None, **parameters: Any) -> XGBRegressor:
    """Return an `XGBRegressor` whose fits run on the cluster of a client."""
    return _with_client("XGBRegressor", client, parameters)


def DaskXGBRanker(client: Any = None, **parameters: Any) -> XGBRanker:
    """Return an `XGBRanker` whose fits run on the cluster of a client."""
    return _with_client("XGBRanker", client, parameters)


def DaskLGBMClassifier(client: Any = None, **parameters: Any) -> LGBMClassifier:
    """Return an `LGBMClassifier` whose fits run on the cluster of a client."""
    return _with_client("LGBMClassifier", client, parameters)


def DaskLGBMRegressor(client: Any = None, **parameters: Any) -> LGBMRegressor:
    """Return an `LGBMRegressor` whose fits run on the cluster of a client."""
    return _with_client("LGBMRegressor", client, parameters)


def DaskLGBMRanker(client: Any = None, **parameters: Any) -> LGBMRanker:
    """Return an `LGBMRanker` whose fits run on the cluster of a client."""
    return _with_client("LGBMRanker", client, parameters)
