"""Constraints by column: predictions that may only rise or fall, columns that may share a path."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from arboretum.data.checks import did_you_mean
from arboretum.data.schema import Schema
from arboretum.errors import ParameterError

__all__ = ["interaction_groups", "monotone_signs"]


def monotone_signs(given: Any, schema: Schema, name: str = "monotone_constraints") -> Any:
    """Return the sign of every column, an int8 array, or None if there is no constraint.

    ``given`` is a list of signs, one per column, such a list as a string ("(1,0,-1)"), or a dict from
    columns to signs.

    >>> from arboretum.data.schema import Column
    >>> schema = Schema((Column("age", "numeric"), Column("size", "numeric")), True)
    >>> monotone_signs({"size": -1}, schema), monotone_signs("(0, 0)", schema)
    (array([ 0, -1], dtype=int8), None)
    """
    given = _literal(given, name)
    if given is None:
        return None
    signs = np.zeros(schema.n_features, np.int8)
    if isinstance(given, dict):
        for column, sign in given.items():
            signs[place_of(column, schema, name)] = _sign(sign, name)
    else:
        values = list(given) if np.iterable(given) else [given]
        if len(values) > len(signs):
            raise ParameterError(
                f"{name} has {len(values)} signs for {len(signs)} columns: give one per column"
            )
        signs[: len(values)] = [
            _sign(value, name) for value in values
        ]  # the others are unconstrained
    for f in np.flatnonzero(signs):
        if schema.columns[f].kind == "categorical":
            raise ParameterError(
                f"{name} constrains {schema.columns[f].name!r}, a category: only numbers have an order"
            )
    return signs if signs.any() else None


def _sign(value: Any, name: str) -> int:
    if isinstance(value, bool) or value not in (-1, 0, 1):
        raise ParameterError(f"{name} must hold only -1, 0 and 1, got {value!r}")
    return int(value)


def interaction_groups(
    given: Any, schema: Schema, name: str = "interaction_constraints"
) -> np.ndarray | None:
    """Return the groups of every column, a bit per group, (columns, words) uint64; None if there are none.

    ``given`` lists groups of columns that may occur together on a path. A column in no group is a group of
    its own.

    >>> from arboretum.data.schema import Column
    >>> schema = Schema(tuple(Column(c, "numeric") for c in "abc"), True)
    >>> interaction_groups([["a", "b"]], schema).tolist()
    [[1], [1], [2]]
    """
    given = _literal(given, name)
    if given is None:
        return None
    fits = isinstance(given, Sequence | np.ndarray) and all(
        isinstance(group, Sequence | np.ndarray | set) and not isinstance(group, str)
        for group in given
    )
    if not fits:
        raise ParameterError(f"{name} must be a list of lists of columns, got {given!r}")
    groups = [sorted({place_of(c, schema, name) for c in group}) for group in given]
    alone = sorted(set(range(schema.n_features)) - {f for group in groups for f in group})
    groups += [[f] for f in alone]
    bits = np.zeros((schema.n_features, (len(groups) + 63) // 64), np.uint64)
    for k, group in enumerate(groups):
        bits[group, k >> 6] |= np.uint64(1) << np.uint64(k & 63)
    return bits


def place_of(column: Any, schema: Schema, name: str) -> int:
    """Return the index of a column, given by name or index."""
    if isinstance(column, str) and column in schema.names:
        return schema.names.index(column)
    if isinstance(column, str) and not schema.named and column[:1] == "f" and column[1:].isdigit():
        column = int(column[1:])  # XGBoost names unnamed columns f0, f1 …
    if isinstance(column, int | np.integer) and not isinstance(column, bool):
        if 0 <= column < schema.n_features:
            return int(column)
        raise ParameterError(
            f"{name} names column {column}, but there are {schema.n_features} columns"
        )
    raise ParameterError(
        f"{name} names the column {column!r}, which the table does not have"
        f"{did_you_mean(column, schema.names)}"
    )


def _literal(given: Any, name: str) -> Any:
    if not isinstance(given, str):
        return given
    if not given.strip():
        return None
    try:
        return ast.literal_eval(given.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise ParameterError(f"{name} cannot be read: {given!r}") from None
