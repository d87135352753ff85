"""What a fit of a booster is asked for, and the rows it is given, in numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.second_order.snapshot import Snapshot
from arboretum.boosting.watch.watching import Judge, Patience
from arboretum.errors import DataError

if TYPE_CHECKING:
    from arboretum.boosting.loss.objective import Objective
    from arboretum.data.matrix import Matrix

__all__ = ["Given", "Request", "Rows", "margins_of", "rows_that_count"]


@dataclass(frozen=True)
class Given:
    """A table and what belongs to its rows, as the user gave them."""

    X: Any
    y: Any
    sample_weight: Any = None
    base_margin: Any = None
    groups: Any = None  # sizes
    name: str = "X"


@dataclass(frozen=True)
class Request:
    """What a fit is asked for.

    Attributes
    ----------
    training : Given
    held_out : list of Given
        Tables to judge by.
    judges : function from an objective to judges
    patience : list of Patience
    callbacks : list of callbacks
        See `watching.Callback`.
    earlier : fitted model, path or None
        What to go on from.
    snapshot : Snapshot or None
    bar : bool
        Show a bar.
    """

    training: Given
    held_out: Sequence[Given] = ()
    judges: Callable[[Objective], Sequence[Judge]] = field(default=lambda objective: ())
    patience: Sequence[Patience] = ()
    callbacks: Sequence[Any] = ()
    earlier: Any = None
    snapshot: Snapshot | None = None
    bar: bool = False


@dataclass(frozen=True, eq=False)
class Rows:
    """A table in numbers."""

    matrix: Matrix
    y: np.ndarray
    weight: np.ndarray | None
    base_margin: np.ndarray | None
    groups: np.ndarray | None
    whole: bool = True  # no row has been left out


def rows_that_count(rows: Rows) -> Rows:
    """Leave out the rows of weight 0, but for groups, which stay whole."""
    w = rows.weight
    if w is None or w.all() or rows.groups is not None:
        return rows
    some = np.flatnonzero(w)
    margin = rows.base_margin
    if margin is not None:
        margin = np.asarray(margin).reshape(len(w), -1)[some]
    return Rows(rows.matrix.take(some), rows.y[some], w[some], margin, None, whole=False)


def margins_of(given: Any, n_rows: int, base: np.ndarray) -> np.ndarray:
    """Return a margin per row and output: those given, else the same for all rows."""
    k = len(base)
    if given is None:
        return np.tile(base, (n_rows, 1))
    try:
        found = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise DataError("base margins must be numbers") from None
    if found.shape not in ((n_rows,), (n_rows, k), (n_rows * k,)) or found.size != n_rows * k:
        wanted = f"{n_rows}" if k == 1 else f"{n_rows} rows of {k}"
        raise DataError(f"base margins have shape {found.shape}: there must be {wanted}")
    if not np.isfinite(found).all():
        raise DataError("base margins must be finite numbers")
    return np.ascontiguousarray(found.reshape(n_rows, k))
