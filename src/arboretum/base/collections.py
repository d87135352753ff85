"""Tables whose rows are elsewhere, on a cluster or in files: which of our modules works with each.

Dask's dataframes and arrays, Ray's datasets and sources of rows are recognised by their classes, without
importing any library. The modules named here stand above all estimators, so they are imported by name.
"""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["adapter_of", "is_stream"]

_ADAPTERS = {"dask": "arboretum.distributed.dask", "ray": "arboretum.distributed.ray"}


_STREAMS = "arboretum.streams.fit"
_TABLES = {"numpy", "pandas", "scipy"}  # libraries of tables in memory
_PATH = (str, os.PathLike)
_STREAMED = ("__arrow_c_stream__", "collect_batches", "fetch_arrow_reader")  # methods
_SOURCES = {
    ("arboretum", "Stream"), ("pyarrow", "Dataset"), ("pyarrow", "RecordBatchReader"),
    ("xgboost", "DataIter"), ("lightgbm", "Sequence"),
}  # fmt: skip


def adapter_of(given: Any, *, by_name: bool = False) -> ModuleType | None:
    """Return the module for a table that is elsewhere, None for anything else.

    ``by_name``: y is the name of a column, or a file is to be written.

    >>> adapter_of([[1.0, 2.0]]) is None
    True
    """
    name = _ADAPTERS.get(type(given).__module__.partition(".")[0])
    if name is not None:
        adapter = import_module(name)
        return adapter if adapter.is_collection(given) else None
    return import_module(_STREAMS) if is_stream(given, by_name=by_name) else None


def is_stream(given: Any, *, by_name: bool) -> bool:
    """Return True for sources of rows; a path or a frame is one if y is the name of a column.

    >>> is_stream(["a.parquet", "b.parquet"], by_name=False), is_stream("a.csv", by_name=False)
    (True, False)
    """
    kind = type(given)
    if kind.__module__.partition(".")[0] in _TABLES:
        return by_name and hasattr(kind, "__arrow_c_stream__")
    if isinstance(given, _PATH):
        return by_name or "*" in os.fspath(given)
    if isinstance(given, list | tuple):
        return bool(given) and all(isinstance(one, _PATH) for one in given)
    if by_name and any(hasattr(kind, name) for name in _STREAMED):
        return True
    homes = {(one.__module__.partition(".")[0], one.__name__) for one in kind.__mro__}
    return callable(given) or bool(homes & _SOURCES)
