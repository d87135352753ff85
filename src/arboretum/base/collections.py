"""Collections whose rows are on a cluster: which of our modules works with each.

Dask's dataframes and arrays and Ray's datasets are recognised by the module of their class, without importing
either library. The modules named here stand above all estimators, so they are imported by name.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["adapter_of"]

_ADAPTERS = {"dask": "arboretum.distributed.dask", "ray": "arboretum.distributed.ray"}


def adapter_of(given: Any) -> ModuleType | None:
    """Return the module for a collection, None for anything else.

    >>> adapter_of([[1.0, 2.0]]) is None
    True
    """
    name = _ADAPTERS.get(type(given).__module__.partition(".")[0])
    if name is None:
        return None
    adapter = import_module(name)
    return adapter if adapter.is_collection(given) else None
