"""The tables among the arguments of a fit, each with the arrays of its rows.

    fit(X, y, sample_weight=w, eval_set=[(V, "label")], eval_sample_weight=[None])
        X  y: y, sample_weight: w          ◄── the training table
        V  y: "label"                      ◄── a table for evaluation; "label" is a column of V

A table that stands in several places is one object here and stays one: `fit` evaluates the training table by
the margins it has.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from arboretum.errors import DataError

__all__ = [
    "TableArguments",
    "bound_arguments",
    "read_tables",
    "taken_names",
    "without",
    "write_tables",
]

_ROWS = ("y", "sample_weight", "base_margin", "init_score", "group", "qid")
_ROWS_OF_EACH = (  # lists with an entry for every table of eval_set
    "sample_weight_eval_set", "base_margin_eval_set", "eval_sample_weight", "eval_init_score",
    "eval_group", "eval_qid",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class TableArguments:
    """A table, and the arrays of its rows by the name of their argument; a str is the name of a column."""

    X: Any
    rows: Mapping[str, Any]

    def named(self) -> list[str]:
        """Return the columns of the table that are no features."""
        return [one for one in self.rows.values() if isinstance(one, str)]

    def replaced(
        self, X: Any, columns: Mapping[str, Any], read: Callable[[Any], Any]
    ) -> TableArguments:
        """Return another table with its columns for names, and what ``read`` returns for other arrays."""
        rows = {
            name: columns[one] if isinstance(one, str) else read(one)
            for name, one in self.rows.items()
        }
        return TableArguments(X, rows)


def bound_arguments(
    model: Any, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> inspect.BoundArguments:
    """Return the arguments of a fit by their names."""
    return inspect.signature(method).bind(model, *args, **kwargs)


def read_tables(given: dict[str, Any]) -> list[TableArguments]:
    """Return the training table and the tables for evaluation."""
    found = [TableArguments(given["X"], {k: given[k] for k in _ROWS if given.get(k) is not None})]
    for k, (X, y) in enumerate(_pairs(given)):
        rows = {n: given[n][k] for n in _lists(given) if k < len(given[n])}
        found.append(
            TableArguments(X, {"y": y} | {n: one for n, one in rows.items() if one is not None})
        )
    return found


def write_tables(given: dict[str, Any], tables: list[TableArguments]) -> None:
    """Put tables and arrays where `read_tables` has found them."""
    training, *others = tables
    given.update({"X": training.X, **training.rows})
    for name in _lists(given):
        read = [table.rows.get(name) for table in others]
        given[name] = [*read, *given[name][len(read) :]]  # too many are for `fit` to refuse
    if others:
        given["eval_set"] = [(table.X, table.rows["y"]) for table in others]
        for name in {"eval_X", "eval_y"} & given.keys():
            given[name] = None


def _lists(given: dict[str, Any]) -> list[str]:
    return [name for name in _ROWS_OF_EACH if isinstance(given.get(name), list | tuple)]


def _pairs(given: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Return the tables for evaluation; none if `fit` will refuse them."""
    pairs, X, y = given.get("eval_set"), given.get("eval_X"), given.get("eval_y")
    if pairs is None and X is not None:
        tables, labels = (one if isinstance(one, tuple) else (one,) for one in (X, y))
        pairs = list(zip(tables, labels)) if len(tables) == len(labels) else []
    if isinstance(pairs, tuple) and len(pairs) == 2 and not isinstance(pairs[0], list | tuple):
        pairs = [pairs]
    if not isinstance(pairs, list | tuple):
        return []
    good = all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs)
    return [(X, y) for X, y in pairs] if good else []


# ---------------------------------------------------------------------- columns that are no features
def taken_names(tables: list[TableArguments]) -> dict[int, tuple[str, ...]]:
    """Return the columns of every table that are no features, by the id of the table."""
    found: dict[int, dict[str, None]] = {}
    for table in tables:
        found.setdefault(id(table.X), {}).update(dict.fromkeys(table.named()))
    return {key: tuple(names) for key, names in found.items()}


def without(X: Any, names: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """Return a frame without some columns, and these by name."""
    if not names:
        return X, {}
    known = list(getattr(X, "columns", ()))
    for name in names:
        if name not in known:
            raise DataError(
                f"X has no column {name!r}: give y, weights and groups as columns of X or as collections of "
                "their own"
            )
    found = {name: X[name] for name in names}
    return X[[name for name in known if name not in found]], found
