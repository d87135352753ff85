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


def resolve_wishes(
    names: Sequence[str], categorical: Any, ordinal: Any, *, named: bool = True
) -> dict[int, Wish]:
    """Return the wish for every column that is named, by column index.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    categorical : None, "from_dtype", or list of names, of indices or of booleans
    ordinal : None, list as above, or dict from name or index to the values in order
    named : bool
        The columns have names of their own.

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
        for f in _indices(categorical, names, "categorical_features", named):
            wishes[f] = Wish("categorical")
    if ordinal is None:
        return wishes
    indices = _indices(ordinal, names, "ordinal_features", named)
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


def _indices(entries: Any, names: Sequence[str], parameter: str, named: bool) -> list[int]:
    if isinstance(entries, str | bytes) or not hasattr(entries, "__iter__"):
        raise ParameterError(
            f"{parameter} must be None or a list of column names, indices or booleans, "
            f"got {entries!r}"
        )
    dtype, entries = np.asarray(list(entries)).dtype, list(entries)
    odd = [e for e in entries if not isinstance(e, str | int | np.integer | np.bool_)]
    if odd:
        kinds = {type(e).__name__ for e in entries}
        shown = dtype.name if len(kinds) == 1 else ", ".join(sorted(kinds))
        raise ParameterError(
            f"{parameter} must be an array-like of bool, int or str, got: {shown}. Give names, indices or a "
            f"mask, not {odd[0]!r}"
        )
    if entries and all(isinstance(e, bool | np.bool_) for e in entries):
        if len(entries) != len(names):
            raise ParameterError(
                f"{parameter} set as a boolean mask must have shape (n_features,): X has {len(names)} "
                f"columns, the mask {len(entries)}"
            )
        return [f for f, chosen in enumerate(entries) if chosen]
    position = {name: f for f, name in enumerate(names)}
    if not named and any(isinstance(e, str) and e not in position for e in entries):
        raise ParameterError(
            f"{parameter} should be passed as an array of integers or as a boolean mask when the model is "
            "fitted on data without feature names."
        )
    return [_index(e, names, position, parameter) for e in entries]


def _index(entry: Any, names: Sequence[str], position: dict[str, int], parameter: str) -> int:
    if isinstance(entry, str):
        if entry not in position:
            hint = did_you_mean(entry, names) or f"; the columns are {list_names(names)}"
            raise ParameterError(
                f"{parameter} has an item value {entry!r} which is not a valid feature name of the training "
                f"data.{hint}"
            )
        return position[entry]
    if isinstance(entry, int | np.integer) and not isinstance(entry, bool):
        if not 0 <= entry < len(names):
            raise ParameterError(
                f"{parameter} set as integer indices must be in [0, n_features - 1] = "
                f"[0, {len(names) - 1}], got {entry}"
            )
        return int(entry)
    raise ParameterError(
        f"{parameter} must hold column names, indices or booleans, not a mixture with booleans, "
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
