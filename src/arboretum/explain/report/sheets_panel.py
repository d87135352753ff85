"""Worksheets for the page: the arithmetic of nodes, leaves and rounds.

Every node of a tree has an outline (outlines_panel.py), from which the page writes its candidate table and
its formulas. Whole worksheets also have close rivals, surrogates and the reason why a leaf is a leaf, and
take longer. Trees are taken in order, nodes level by level; nodes that are too large are left out. It ends
when a fixed number of values was searched or there are enough sheets: the same model and table always give
the same sheets.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from arboretum.errors import ArboretumError
from arboretum.explain.pipeline import anatomy_of
from arboretum.explain.report.budget import Budget
from arboretum.explain.report.history import RoundLog, rounds_panel
from arboretum.explain.report.outlines_panel import OutlineWriter
from arboretum.explain.worksheet.family import Given
from arboretum.explain.worksheet.worksheet import worksheet

__all__ = ["sheets_panel", "short_sheet", "without_sheets"]

_MOST_VALUES = 3_000_000  # rows times columns that are searched: a second or two
_EXACT = 6  # cost of an exact search, relative to one of second order
_MOST_BYTES = 300_000  # of sheets as JSON, uncompressed; twice that if there are no outlines
_PACKED = 6  # size as JSON ÷ size in the page
_MOST_SHEETS = 60
_ALONE = 500  # most sheets for trees without outlines
_CANDIDATES = 12  # rows of a table


def sheets_panel(
    model: Any,
    sources: list[tuple[Any, str]],
    train: Given | None,
    budget: Budget,
    *,
    rows_shown: bool,
) -> dict[str, Any] | None:
    """Return outlines and sheets of the trees of a page, and rounds; None without the training table.

    Parameters
    ----------
    model : fitted estimator
    sources : list of (Tree, str)
        The trees of the page, and the member each belongs to.
    train : Given or None
        The training table; another table would give other figures than the model's.
    budget : Budget
        Its bytes are spent, and it records what was left out.
    rows_shown : bool
        The page may contain single rows.
    """
    trees = anatomy_of(model, "report").trees
    if train is None:
        return None
    try:
        book = worksheet(model, train.X, train.y, train.sample_weight, group=train.group)
        if trees and not _is_training_table(book, trees[0]):
            return without_sheets("the rows given are not those the model was fitted on")
    except (ArboretumError, AttributeError) as problem:
        return without_sheets(str(problem))
    log = RoundLog()
    outlines, writer = OutlineWriter(log, budget), _Writer(rows_shown, budget)
    for member, shown in _by_member(sources).items():
        try:
            one = book.member(member) if member else book
        except ArboretumError:
            continue  # a model of another library
        numbers = {id(tree): t for t, tree in enumerate(one._family.trees)}
        known = [(at, numbers[id(tree)]) for at, tree in shown if id(tree) in numbers]
        if known:
            outlines.write(one._family, known)
            writer.trees(one, known, alone=str(known[0][0]) not in outlines.trees)
    if outlines.without:
        budget.left_out.append(
            f"{len(outlines.trees)} of {len(sources)} trees have tables of candidate splits at every node."
        )
    return {
        "nodes": writer.found,
        "rounds": rounds_panel(model, book, log, _Writer(rows_shown, budget).round_of(book)),
        "outlines": outlines.trees,
        "verdicts": outlines.verdicts,
        "rules": outlines.rules,
    }


def without_sheets(why: str) -> dict[str, Any]:
    """Return the part of a page that cannot have worksheets: the reason."""
    return {"nodes": {}, "rounds": None, "outlines": {}, "verdicts": [], "rules": [], "why": why}


def _by_member(sources: list[tuple[Any, str]]) -> dict[str, list[tuple[int, Any]]]:
    """Return the trees of the page by the member they belong to, each with its number in the page."""
    found: dict[str, list[tuple[int, Any]]] = {}
    for at, (tree, member) in enumerate(sources):
        found.setdefault(member, []).append((at, tree))
    return found


def _is_training_table(book: Any, tree: Any) -> bool:
    """Return True if a small node, computed again from these rows, equals the node of the model."""
    inner = np.flatnonzero(~tree.is_leaf)
    if not len(inner):
        return True
    node = int(inner[np.argmin(tree.count[inner])])
    try:
        sheet = book.node(0, node)
    except ArboretumError:
        return True
    except (
        ValueError,
        IndexError,
    ):  # other rows, as many as the training rows, may leave a side empty
        return False
    found = [one.value for one in sheet.formulas if one.name in ("gain", "decrease")]
    return not found or bool(np.isclose(found, tree.gain[node], rtol=1e-3).any())


class _Writer:
    """Collects sheets until there are enough."""

    def __init__(self, rows_shown: bool, budget: Budget) -> None:
        self.found: dict[str, Any] = {}
        self._rows_shown, self._budget, self._bytes = rows_shown, budget, 0
        self._values = _MOST_VALUES

    def trees(self, book: Any, shown: list[tuple[int, int]], *, alone: bool) -> None:
        """Write sheets of trees, pairs (number in page, number in book); ``alone``: without outlines."""
        family = book._family
        is_gradient = anatomy_of(family.model, "report").leaves == "gradients"
        cost = 1 if is_gradient else _EXACT
        most, room = (_ALONE, 2 * _MOST_BYTES) if alone else (_MOST_SHEETS, _MOST_BYTES)
        cost = max(cost // 3, 1) if alone else cost
        for at, t in shown:
            tree = family.trees[t]
            for node in np.argsort(tree.depth, kind="stable").tolist():
                needed = cost * int(tree.count[node]) * tree.n_features
                if needed > self._values:
                    continue  # too large for a page; its children may fit
                self._values -= needed
                make = book.leaf if tree.is_leaf[node] else book.node
                self.write(f"{at}:{node}", make, t, node)
                if self._bytes >= room or len(self.found) >= most:
                    return
            if self._values < _MOST_VALUES // 20:
                return

    def round_of(self, book: Any) -> Any:
        """Return a function that writes the sheet of a round."""

        def write(m: int) -> Any:
            self.write(str(m), book.round, m)
            return self.found.get(str(m))

        return write

    def write(self, name: str, make: Any, *arguments: int) -> None:
        try:
            sheet = short_sheet(make(*arguments).to_dict(), self._rows_shown)
        except ArboretumError:
            return  # there is no sheet for it
        size = len(json.dumps(sheet))
        if size // _PACKED > self._budget.room:
            self._bytes = 2 * _MOST_BYTES  # end here
            return
        self._bytes += size
        self._budget.room -= size // _PACKED
        self.found[name] = sheet


def short_sheet(sheet: dict[str, Any], rows_shown: bool) -> dict[str, Any]:
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
        "parts": [short_sheet(part, rows_shown) for part in sheet["parts"]],
    }


def _digits(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.7g}")
    return [_digits(one) for one in value] if isinstance(value, list) else value
