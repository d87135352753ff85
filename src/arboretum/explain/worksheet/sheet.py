"""A sheet: one page of a worksheet, in parts that every family fills in the same way.

    title       node 3 of tree 0: petal width <= 1.75?
    facts       names with a number or a word each              rows 100, gini 0.5
    formulas    a rule, the same with numbers put in, a value   1 - Σ p² = 1 - 0.5² - 0.5² = 0.5
    tables      a header and rows; some rows are marked         every candidate, the winner marked
    notes       sentences
    parts       smaller sheets                                  the leaf that a row reached

Numbers stay numbers: a sheet is words only when it is printed (rendering.py), and `to_dict` gives them
back, ready for JSON.

>>> sheet = Sheet("two rows", {"rows": 2}, [Formula("mean", "Σ y / n", "(1 + 4) / 2", 2.5)])
>>> sheet.value("mean"), sheet.to_dict()["facts"]
(2.5, {'rows': 2})
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arboretum.structure.tree import Tree

__all__ = ["Formula", "Sheet", "SheetTable", "add_rounds_trees", "plain_value", "spread_of"]


@dataclass(frozen=True)
class Formula:
    """A rule, the rule with its numbers put in, and what comes out."""

    name: str
    rule: str
    numbers: str
    value: Any

    def to_dict(self) -> dict[str, Any]:
        """Return the formula for JSON."""
        return {
            "name": self.name,
            "rule": self.rule,
            "numbers": self.numbers,
            "value": plain_value(self.value),
        }


@dataclass(frozen=True)
class SheetTable:
    """A table of numbers and words.

    Attributes
    ----------
    title : str
    header : sequence of str
    rows : list of sequences
    marked : set of int
        Rows that stand out: the winner.
    shown : int
        How many rows are printed; `Sheet.to_dict` has them all.
    optional : sequence of str
        Columns that a narrow screen may leave out, the first of them first.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    marked: frozenset[int] = frozenset()
    shown: int = 30
    optional: Sequence[str] = ()

    def column(self, name: str) -> list[Any]:
        """Return the cells of a column."""
        place = list(self.header).index(name)
        return [row[place] for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the table for JSON."""
        return {
            "title": self.title,
            "header": list(self.header),
            "rows": [[plain_value(cell) for cell in row] for row in self.rows],
            "marked": sorted(self.marked),
        }


@dataclass
class Sheet:
    """A page of a worksheet; prints itself, in a notebook too. See the module's text."""

    title: str
    facts: dict[str, Any] = field(default_factory=dict)
    formulas: list[Formula] = field(default_factory=list)
    tables: list[SheetTable] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    parts: list[Sheet] = field(default_factory=list)

    # ------------------------------------------------------------------ writing
    def add_formula(self, name: str, rule: str, numbers: str, value: Any) -> None:
        """Write a formula below the others."""
        self.formulas.append(Formula(name, rule, numbers, value))

    def add_table(
        self,
        title: str,
        header: str,
        rows: Sequence[Sequence[Any]],
        marked: Iterable[int] = (),
        **layout: Any,
    ) -> None:
        """Write a table below the others; ``header`` has the names of its columns between bars, ``a | b``."""
        names = tuple(name.strip() for name in header.split("|"))
        self.tables.append(SheetTable(title, names, rows, frozenset(marked), **layout))

    # ------------------------------------------------------------------ reading
    def table(self, title: str) -> SheetTable:
        """Return the first table whose title begins so."""
        return next(one for one in self.tables if one.title.startswith(title))

    def value(self, name: str) -> Any:
        """Return the value of the first formula of this name."""
        return next(one.value for one in self.formulas if one.name == name)

    def walk(self) -> Iterator[Sheet]:
        """Visit the sheet and all its parts."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists, words and numbers, ready for JSON; what is not finite is None."""
        return {
            "title": self.title,
            "facts": {name: plain_value(value) for name, value in self.facts.items()},
            "formulas": [one.to_dict() for one in self.formulas],
            "tables": [one.to_dict() for one in self.tables],
            "notes": list(self.notes),
            "parts": [one.to_dict() for one in self.parts],
        }

    # ------------------------------------------------------------------ showing
    def to_text(self, width: int = 80) -> str:
        """Return the sheet as lines to print."""
        from arboretum.explain.worksheet.rendering import as_text

        return as_text(self, width)

    def to_html(self) -> str:
        """Return the sheet as a piece of HTML that needs nothing else."""
        from arboretum.explain.worksheet.rendering import as_html

        return as_html(self)

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.to_html()

    def __rich__(self) -> Any:
        from arboretum.explain.worksheet.rendering import as_rich

        return as_rich(self)


def plain_value(value: Any) -> Any:
    """Return a value as JSON has it: Python's own numbers and words, None for what is not finite.

    >>> plain_value(np.float64(0.5)), plain_value(np.nan), plain_value(np.arange(2)), plain_value(True)
    (0.5, None, [0, 1], True)
    """
    if isinstance(value, np.ndarray | list | tuple):
        return [
            plain_value(one) for one in (value.tolist() if isinstance(value, np.ndarray) else value)
        ]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


# ---------------------------------------------------------------------- what rounds share
def spread_of(values: np.ndarray) -> list[float]:
    """Return the least of some numbers, their quarters and the largest.

    >>> spread_of(np.arange(5.0))
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    return [float(np.quantile(values, q)) for q in (0, 0.25, 0.5, 0.75, 1)]


def add_rounds_trees(sheet: Sheet, trees: Sequence[Tree], numbers: Sequence[int]) -> None:
    """Write the table of the trees that a round added."""
    lines = []
    for t in numbers:
        tree = trees[t]
        split = "no split" if tree.is_leaf[0] else tree.condition(0, 0).pretty(max_categories=4)
        values, gain = tree.value[tree.leaves, 0, 0], float(tree.gain[0])
        ends = float(values.min()), float(values.max())
        lines.append((t, tree.n_leaves, tree.max_depth, split, gain, *ends))
    header = "tree | leaves | depth | first split | gain | smallest value | largest value"
    sheet.add_table("Its trees", header, lines)
