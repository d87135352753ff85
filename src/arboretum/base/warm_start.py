"""Going on from the last fit: `warm_start=True` keeps what there is and adds to it.

Every model that can go on is checked alike: it may not be asked for less than it has, and the table must be
the one it began with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.data.checks import warn_caller
from arboretum.errors import DataError, ParameterError

__all__ = ["check_same", "goes_on", "signature"]


def goes_on(model: Any, what: str) -> bool:
    """Tell whether a fit adds to what there is; ``what`` is one of the things that are added."""
    if not (model.warm_start and hasattr(model, model._fitted)):
        return False
    done = model._n_done
    if model.n_estimators < done:
        raise ParameterError(
            f"n_estimators is {model.n_estimators}, but there are {done} {what}s already: with "
            "warm_start=True it must not get smaller"
        )
    if model.n_estimators == done:
        warn_caller(f"warm_start=True, and n_estimators has not grown: no {what} is added")
    return True


def signature(model: Any) -> tuple[Any, ...]:
    """Return what must stay the same: columns, classes, outputs."""
    classes = getattr(model, "classes_", None)
    each = classes if isinstance(classes, list) else [classes]
    return getattr(model, "schema_", None), each, getattr(model, "n_outputs_", None)


def check_same(model: Any, earlier: tuple[Any, ...], *, same_rows: bool = True) -> None:
    """Raise a DataError if the model goes on with another table than it began with."""
    now = signature(model)
    same = earlier[0] == now[0] and earlier[2] == now[2] and len(earlier[1]) == len(now[1])
    if not (same_rows and same and all(map(np.array_equal, earlier[1], now[1]))):
        raise DataError(
            "with warm_start=True the table must have the rows, columns, categories and classes of the "
            "first fit, the same rows of weight 0, and samples must be drawn as before: set "
            "warm_start=False to begin anew"
        )
    model._take_schema(earlier[0])  # the very one that the members there are know
