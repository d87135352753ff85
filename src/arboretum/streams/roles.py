"""The columns of a source that are no features: y, weights, margins and groups, as arrays of all rows.

    columns by role ──► one pass ──► arrays        other columns are not read, where the source allows it

Numbers go to memory-mapped arrays, so that they take no memory that the system cannot give to others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from arboretum.data.checks import did_you_mean, list_rows
from arboretum.data.parts import join_raw
from arboretum.data.values import Raw, RawNumbers, Words
from arboretum.errors import DataError
from arboretum.streams.pieces import RowBatch, Source, located
from arboretum.streams.scratch import Scratch

__all__ = ["Roles", "read_roles"]


class Roles(NamedTuple):
    """What is known of a source after its roles are read.

    Attributes
    ----------
    names : tuple of str
        All columns.
    n_rows : int
    arrays : dict
        An array of all rows for every role.
    """

    names: tuple[str, ...]
    n_rows: int
    arrays: dict[str, Any]


def read_roles(source: Source, columns: Mapping[str, str], scratch: Scratch) -> Roles:
    """Read the columns of some roles, and what the source yields beside its table."""
    if source.names is not None and not source.has_beside:
        _check_columns(source.names, columns, source.name)
        if not columns and source.n_rows is not None:
            return Roles(source.names, source.n_rows, {})
    wanted = None
    if source.names is not None and columns:
        wanted = list(dict.fromkeys(columns.values()))
    found: dict[str, list[Raw]] = {role: [] for role in columns}
    beside: dict[str, list[np.ndarray]] = {}
    names, n = source.names, 0
    for piece in source.pieces(wanted):
        if n == 0 and names is None:
            names = piece.table.names
            _check_columns(names, columns, source.name)
        for role, name in columns.items():
            found[role].append(_column(piece, name, is_target=role == "y"))
        for role, values in piece.beside.items():
            beside.setdefault(role, []).append(np.array(values))
        n += piece.table.n_rows
    if n == 0 or names is None:
        raise DataError(f"{source.name} has no rows")
    arrays = {role: scratch.stored(np.concatenate(parts)) for role, parts in beside.items()}
    for role, parts in found.items():
        with located(source.name):
            arrays[role] = scratch.stored(_array(join_raw(parts, columns[role])))
        parts.clear()
    return Roles(names, n, arrays)


def _check_columns(names: tuple[str, ...], columns: Mapping[str, str], where: str) -> None:
    for role, name in columns.items():
        if name not in names:
            raise DataError(
                f"{where} has no column {name!r}{did_you_mean(name, names)}, which is to be {role}"
            )


def _column(piece: RowBatch, name: str, *, is_target: bool) -> Raw:
    """Return a copy of a column; the piece need not be kept for it."""
    raw = piece.table.columns[piece.table.names.index(name)]
    if isinstance(raw, Words):
        missing = raw.codes < 0
        copy: Raw = Words(np.array(raw.codes), raw.values, raw.dtype, raw.order)
    else:
        missing = np.isnan(raw.values) if raw.values.dtype.kind == "f" else np.zeros(0, bool)
        copy = RawNumbers(np.array(raw.values), raw.dtype)
    if is_target and missing.any():
        raise DataError(
            f"{piece.where}: the target {name!r} contains NaN ({list_rows(np.flatnonzero(missing))} of these "
            f"{piece.table.n_rows} rows): drop the rows whose target is missing"
        )
    return copy


def _array(raw: Raw) -> np.ndarray:
    """Return a column as an array; words as objects, missing ones as None."""
    if isinstance(raw, RawNumbers):
        return raw.values
    values = np.empty(len(raw.values) + 1, object)
    values[:-1] = raw.values
    return values[raw.codes]
