"""`categorical_features` and `ordinal_features`: the caller's settings of columns.

Both name columns by name, by index or by a boolean mask. The result is one `Wish` per column that
was named; the kind of every other column follows from its dtype.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from arboretum.data.checks import did_you_mean, list_names
from arboretum.data.values import plain
from arboretum.errors import ParameterError

__all__ = ["Wish", "resolve_wishes"]


@dataclass(frozen=True)
class Wish:
    """The kind the caller wants for a column; ``order`` ranks the values of an ordinal one."""

    kind: str
    order: tuple[Any, ...] | None = None


def resolve_wishes(names: Sequence[str], categorical: Any, ordinal: Any) -> dict[int, Wish]:
    """Return the wish for every column that is named, by column index.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    categorical : None, "from_dtype", or list of names, of indices or of booleans
    ordinal : None, list as above, or dict from name or index to the values in order

    Raises
    ------
    ParameterError
        A name, index or mask does not fit the table.

    Examples
    --------
    >>> resolve_wishes(["age", "city"], ["city"], None)
    {1: Wish(kind='categorical', order=None)}
    """
    wishes: dict[int, Wish] = {}
    if categorical is not None and not (
        isinstance(categorical, str) and categorical == "from_dtype"
    ):
        for f in _indices(categorical, names, "categorical_features"):
            wishes[f] = Wish("categorical")
    if ordinal is None:
        return wishes
    indices = _indices(ordinal, names, "ordinal_features")
    if isinstance(ordinal, Mapping):
        orders = [_order(values, names[f]) for f, values in zip(indices, ordinal.values())]
        ranks = {f: Wish("ordinal", order) for f, order in zip(indices, orders)}
    else:
        ranks = {f: Wish("ordinal") for f in indices}
    both = [names[f] for f in indices if f in wishes]
    if both:
        raise ParameterError(
            f"categorical_features and ordinal_features both name {list_names(both)}: a column has "
            "one kind"
        )
    return wishes | ranks


def _indices(entries: Any, names: Sequence[str], parameter: str) -> list[int]:
    if isinstance(entries, str | bytes) or not hasattr(entries, "__iter__"):
        raise ParameterError(
            f"{parameter} must be None or a list of column names, indices or booleans, "
            f"got {entries!r}"
        )
    entries = list(entries)
    if entries and all(isinstance(e, bool | np.bool_) for e in entries):
        if len(entries) != len(names):
            raise ParameterError(
                f"{parameter} as a mask must have one boolean per column: X has {len(names)} "
                f"columns, the mask {len(entries)}"
            )
        return [f for f, chosen in enumerate(entries) if chosen]
    position = {name: f for f, name in enumerate(names)}
    return [_index(e, names, position, parameter) for e in entries]


def _index(entry: Any, names: Sequence[str], position: dict[str, int], parameter: str) -> int:
    if isinstance(entry, str):
        if entry not in position:
            hint = did_you_mean(entry, names) or f"; the columns are {list_names(names)}"
            raise ParameterError(f"{parameter} names {entry!r}, which is no column of X{hint}")
        return position[entry]
    if isinstance(entry, int | np.integer) and not isinstance(entry, bool):
        if not 0 <= entry < len(names):
            raise ParameterError(
                f"{parameter} holds the index {entry}, X has {len(names)} columns: use 0 to "
                f"{len(names) - 1}"
            )
        return int(entry)
    raise ParameterError(
        f"{parameter} must hold column names, indices or booleans (not a mixture with booleans), "
        f"got {entry!r}"
    )


def _order(values: Any, name: str) -> tuple[Any, ...]:
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise ParameterError(
            f"ordinal_features[{name!r}] must be a list of its values in order, got {values!r}"
        )
    order = tuple(plain(v) for v in values)
    if None in order or len(set(order)) < len(order) or not order:
        raise ParameterError(
            f"ordinal_features[{name!r}] must hold every value once and nothing missing, "
            f"got {list_names(values)}"
        )
    return order
