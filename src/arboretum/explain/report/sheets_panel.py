"""Worksheets for the page: the arithmetic of nodes, leaves and rounds, as many as there is room and time for.

A page cannot hold the candidate tables of thousands of nodes, and a large node takes a second to work out.
So trees are taken in their order, nodes level by level, those that are too large left out, until a number
of values has been looked at or the page is full; the same model and table always give the same sheets.
Others are a call away: ``arboretum.worksheet(model, X, y)``.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from arboretum.errors import ArboretumError
from arboretum.explain.pick_tree import rounds_of, trees_of

__all__ = ["sheets_panel"]

_MOST_VALUES = 5_000_000  # rows times columns that are searched: some seconds
_EXACT = 6  # what an exact search costs beside one of second order
_MOST_BYTES = 600_000  # of sheets as JSON, before they are packed
_MOST_SHEETS = 100
_ROUNDS = 12
_ROUND_VALUES = 30_000_000  # rows times trees that are walked for rounds
_CANDIDATES = 12  # rows of a table


def sheets_panel(
    model: Any, train: tuple[Any, Any] | None, *, rows_shown: bool
) -> dict[str, Any] | None:
    """Return sheets by "tree:node" and rounds, or None where they cannot be worked out.

    ``train`` is the table the model was fitted on; figures of another one would not be those of the model.
    """
    import arboretum

    trees = trees_of(model)
    if train is None:
        return None
    try:
        book = arboretum.worksheet(model, *train)
        if trees and not _is_training_table(book, trees[0]):
            return {
                "nodes": {},
                "rounds": [],
                "why": "the rows given are not those the model was fitted on",
            }
    except (ArboretumError, AttributeError) as problem:
        return {"nodes": {}, "rounds": [], "why": str(problem)}
    writer = _Writer(rows_shown)
    left, cost = _MOST_VALUES, 1 if hasattr(model, "objective_") else _EXACT
    for number, tree in enumerate(trees):
        for node in np.argsort(tree.depth, kind="stable").tolist():
            needed = cost * int(tree.count[node]) * tree.n_features
            if needed > left:
                continue  # too large a node for a page, those below it may do
            left -= needed
            ask = book.leaf if tree.is_leaf[node] else book.node
            writer.write(f"{number}:{node}", ask, number, node)
            if writer.is_full:
                break
        if writer.is_full or left < _MOST_VALUES // 20:
            break
    return {"nodes": writer.found, "rounds": _rounds(model, book, len(trees), rows_shown)}


def _is_training_table(book: Any, tree: Any) -> bool:
    """Tell whether a small node, worked out anew, is the node that the model has."""
    inner = np.flatnonzero(~tree.is_leaf)
    if not len(inner):
        return True
    node = int(inner[np.argmin(tree.count[inner])])
    try:
        sheet = book.node(0, node)
    except ArboretumError:
        return True
    found = [one.value for one in sheet.formulas if one.name in ("gain", "decrease")]
    return not found or bool(np.isclose(found, tree.gain[node], rtol=1e-3).any())


def _rounds(model: Any, book: Any, n_trees: int, rows_shown: bool) -> list[list[Any]]:
    """Return the sheets of some rounds, the first and the last among them."""
    rounds = rounds_of(model)
    n = (
        n_trees // rounds.per_round
        if rounds is not None
        else len(getattr(model, "estimators_", ()))
    )
    if not n or not (rounds is not None or hasattr(model, "estimator_weights_")):
        return []
    each = max(1, int(getattr(model, "_n_rows", 1)) * n_trees)
    wanted = int(np.clip(_ROUND_VALUES // each, 1, _ROUNDS))
    chosen = np.unique(np.concatenate([[0], np.linspace(0, n - 1, wanted).round()]).astype(int))
    writer = _Writer(rows_shown)
    for m in chosen.tolist():
        writer.write(str(m), book.round, m)
    return [[int(m), sheet] for m, sheet in writer.found.items()]


class _Writer:
    """Collects sheets until there are enough."""

    def __init__(self, rows_shown: bool) -> None:
        self.found: dict[str, Any] = {}
        self._rows_shown, self._bytes = rows_shown, 0

    @property
    def is_full(self) -> bool:
        return self._bytes > _MOST_BYTES or len(self.found) >= _MOST_SHEETS

    def write(self, name: str, ask: Any, *arguments: int) -> None:
        try:
            sheet = _short(ask(*arguments).to_dict(), self._rows_shown)
        except ArboretumError:
            return  # nothing is known of this one
        self._bytes += len(json.dumps(sheet))
        self.found[name] = sheet


def _short(sheet: dict[str, Any], rows_shown: bool) -> dict[str, Any]:
    """Return a sheet with the first rows of its tables, and numbers of seven digits."""
    tables = []
    for one in sheet["tables"]:
        if not rows_shown and one["header"][:1] == ["row"]:
            continue
        kept = [[_digits(cell) for cell in row] for row in one["rows"][:_CANDIDATES]]
        marked = [at for at in one["marked"] if at < _CANDIDATES]
        tables.append({**one, "rows": kept, "marked": marked, "more": len(one["rows"]) - len(kept)})
    return {
        "title": sheet["title"],
        "facts": {name: _digits(value) for name, value in sheet["facts"].items()},
        "formulas": [{**one, "value": _digits(one["value"])} for one in sheet["formulas"]],
        "tables": tables,
        "notes": sheet["notes"],
        "parts": [_short(part, rows_shown) for part in sheet["parts"]],
    }


def _digits(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.7g}")
    return [_digits(one) for one in value] if isinstance(value, list) else value
