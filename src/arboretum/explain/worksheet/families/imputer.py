"""Worksheets of `ProximityImputer`: how a missing cell was filled, round by round.

    first guess ──► forest on the filled table ──► rows that share its leaves, their proximities
                └── Σ proximity · value / Σ proximity of the rows that have a value, and again

The rounds are played again from the training target; every guess is the textbook's (filling.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from arboretum.data.matrix import DenseMatrix, Matrix
from arboretum.errors import DataError, ParameterError
from arboretum.explain.worksheet.family import Family, index_of, truth_of
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Sheet
from arboretum.lazy import cached_property
from arboretum.structure.condition import format_category
from arboretum.textbook.filling import Guess, guess_category, guess_number

__all__ = ["ImputerFamily", "add_guess"]

_TERMS = 6
_MOVED = 10


@dataclass(frozen=True, eq=False)
class Round:
    """A round of filling: the table it began with, and the leaves of the rows in its forest."""

    before: np.ndarray  # (rows, columns)
    leaves: np.ndarray  # (rows, trees)

    def proximities(self, row: int) -> np.ndarray:
        """Return for every row how many trees put it into the leaf of this one, as a fraction."""
        return (self.leaves == self.leaves[row]).mean(axis=1)


class ImputerFamily(Family):
    """Missing values filled from similar rows."""

    kind = "imputer"
    needs_table = needs_target = False

    @cached_property
    def matrix(self) -> Matrix:
        """The table as numbers; the imputer keeps its training rows."""
        if self.given.X is None:
            return DenseMatrix(self.anatomy.recipe.steps["rows"]())
        return super().matrix

    @cached_property
    def table(self) -> np.ndarray:
        """The training rows as numbers, NaN where a value is missing."""
        rows = self.matrix.rows(0, self.n_rows)
        trained = self.anatomy.recipe.steps["rows"]()
        if rows.shape != trained.shape or not np.array_equal(rows, trained, equal_nan=True):
            raise DataError(f"worksheet needs the table that {self.name} was fitted on")
        return rows

    @cached_property
    def _played(self) -> list[Round]:
        """The rounds of the fit, played again; the last entry has the filled table."""
        missing = np.isnan(self.table)
        if not missing.any():
            raise ParameterError("worksheet: no value of the table was missing, nothing was filled")
        return [Round(*one) for one in self.anatomy.recipe.steps["rounds"](self.given.y)]

    @property
    def rounds(self) -> list[Round]:
        return self._played[:-1]

    @property
    def filled(self) -> list[np.ndarray]:
        """The table after every round."""
        return [one.before for one in self._played[1:]]

    # ------------------------------------------------------------------ sheets
    def overview(self) -> Sheet:
        model = self.model
        facts = {
            "rows": self.n_rows,
            "columns": self.matrix.n_columns,
            "missing cells": int(model.n_missing_.sum()),
            "forest": model.task_,
            "rounds": len(model.report_),
            "settled": bool(model.converged_),
        }
        sheet = Sheet(f"worksheet of {self.name}", facts, notes=[self.menu()])
        missing = [
            (c.name, int(n)) for c, n in zip(self.columns, model.n_missing_, strict=True) if n
        ]
        sheet.add_table("Missing values", "column | cells", missing)
        lines = [(one.number - 1, one.changed, one.moved, one.fallbacks) for one in model.report_]
        header = (
            "round | categories changed | furthest move (standard deviations) | without neighbours"
        )
        sheet.add_table("Rounds", header, lines)
        return sheet

    def cell(self, row: Any, column: Any) -> Sheet:
        """Return how a missing cell of the training table was filled."""
        i = index_of(row, self.n_rows, ("row", "rows"), "the table")
        f = self._number_of_column(column)
        name = self.columns[f].name
        if not np.isnan(self.table[i, f]):
            places = np.flatnonzero(np.isnan(self.table[:, f]))[:8].tolist()
            rows = f"it is missing in rows {number(places)}" if places else "it is missing nowhere"
            value = number(self._shown(f, self.table[i, f]))
            raise ParameterError(
                f"worksheet.cell: {name} of row {i} was not missing, it is {value}; {rows}"
            )
        first = float(self.rounds[0].before[i, f])
        sheet = Sheet(f"row {i}, {name}: filled by {self.name}")
        sheet.facts = {"first guess": self._shown(f, first), "first guess is": self._typical(f)}
        lines: list[tuple[Any, ...]] = []
        guessed = first
        for m, one in enumerate(self.rounds):
            before, values = guessed, self.table[:, f]
            name_of = f"round {m}"
            guess = add_guess(sheet, name_of, values, one.proximities(i), first, self._words(f))
            guessed = guess.value
            lines.append(
                (m, self._shown(f, before), int((guess.weights > 0).sum()), self._shown(f, guessed))
            )
        sheet.add_table("Round by round", "round | before | neighbours with a value | after", lines)
        self._add_neighbours(sheet, i, f, guess)
        sheet.facts["filled with"] = self._shown(f, float(self.filled[-1][i, f]))
        if guess.fell_back:
            sheet.notes.append("No row with a value shares a leaf with it: the first guess stays.")
        settled = "the guesses settled" if self.model.converged_ else "max_iter was reached first"
        sheet.notes.append(f"Filling ended after {len(lines)} rounds: {settled}.")
        sheet.notes.append("Only observed values are passed on, never guesses.")
        return sheet

    def round(self, m: Any) -> Sheet:
        """Return a round of filling: how far the guesses moved."""
        m = index_of(m, len(self.model.report_), ("round", "rounds"), self.name)
        kept, before, after = self.model.report_[m], self.rounds[m].before, self.filled[m]
        facts = {
            "categories changed": kept.changed,
            "furthest move, in standard deviations": kept.moved,
            "cells without neighbours": kept.fallbacks,
        }
        sheet = Sheet(f"round {m} of {self.name}", facts)
        spread = np.nanstd(self.table, axis=0)
        moved = np.abs(after - before) / np.where(spread > 0, spread, 1.0)
        lines = []
        for place in np.argsort(-moved, axis=None, kind="stable")[:_MOVED].tolist():
            i, f = divmod(place, moved.shape[1])
            if moved[i, f] > 0:
                values = self._shown(f, before[i, f]), self._shown(f, after[i, f])
                lines.append((i, self.columns[f].name, *values, float(moved[i, f])))
        header = "row | column | before | after | standard deviations"
        sheet.add_table("Cells that moved most", header, lines)
        return sheet

    # ------------------------------------------------------------------ words
    def _number_of_column(self, column: Any) -> int:
        names = [one.name for one in self.columns]
        if isinstance(column, str):
            if column not in names:
                raise ParameterError(
                    f"worksheet: there is no column {column!r}, the table has {', '.join(names)}"
                )
            return names.index(column)
        return index_of(column, len(names), ("column", "columns"), "the table")

    def _words(self, f: int) -> Callable[[float], Any] | None:
        """Return what writes the values of a column; None for numbers."""
        words = self.columns[f].categories
        if words is None and self.columns[f].kind == "numeric":
            return None
        return lambda v: v if words is None else format_category(words[int(v)])

    def _shown(self, f: int, value: float) -> Any:
        words = self._words(f)
        return float(value) if words is None else words(value)

    def _typical(self, f: int) -> str:
        what = self.model.initial if self._words(f) is None else "most frequent value"
        classes = self.model.task_ == "classification"
        return f"the {what} of " + ("the rows of its class" if classes else "all rows")

    def _add_neighbours(self, sheet: Sheet, i: int, f: int, guess: Guess) -> None:
        """Write the rows that the last guess was taken from, the nearest first."""
        near, y, lines = self.rounds[-1].proximities(i), self.given.y, []
        numeric = self._words(f) is None
        for r in np.argsort(-guess.weights, kind="stable").tolist():
            if guess.weights[r] <= 0:
                break
            weight, value = float(guess.weights[r]), float(self.table[r, f])
            target = () if y is None else (truth_of(y, r),)
            adds = (weight * value,) if numeric else ()
            lines.append((r, *target, self._shown(f, value), float(near[r]), weight, *adds))
        header = "row | " + ("" if y is None else "y | ") + "value | proximity | weight"
        sheet.add_table(
            "Its neighbours in the last round", header + (" | adds" if numeric else ""), lines
        )


def add_guess(
    sheet: Sheet,
    name: str,
    values: np.ndarray,
    proximities: np.ndarray,
    first: float,
    words: Callable[[float], Any] | None = None,
) -> Guess:
    """Write how a missing value is guessed from the rows near it, and return the guess.

    Parameters
    ----------
    sheet : Sheet
    name : str
        Of the formula.
    values, proximities : arrays of shape (n_rows,)
        The column, NaN where missing, and how near every row is.
    first : float
        The first guess, which stays where no row with a value is near.
    words : callable, optional
        Writes a category; None for numbers.

    Examples
    --------
    >>> sheet = Sheet("weight of row 3")
    >>> weights = np.array([125.0, 180, 210, np.nan])
    >>> guess = add_guess(sheet, "weight", weights, np.array([0.1, 0.1, 0.8, 1.0]), 167.5)
    >>> sheet.formulas[0].numbers
    '210·0.8 + 125·0.1 + 180·0.1'
    >>> round(guess.value, 9)
    198.5
    """
    if words is None:
        guess = guess_number(values, proximities, first)
        heaviest = np.argsort(-guess.weights, kind="stable")[: _TERMS + 1].tolist()
        terms = [
            f"{number(values[r])}·{number(guess.weights[r], 4)}"
            for r in heaviest
            if guess.weights[r] > 0
        ]
        rule = "Σ weight · value, weight = proximity / Σ proximity of rows with a value"
    else:
        guess = guess_category(values, proximities, first)
        best = sorted(guess.shares.items(), key=lambda pair: -pair[1])[: _TERMS + 1]
        terms = [f"{words(code)}: {number(share, 4)}" for code, share in best]
        rule = "the category with the largest Σ weight"
    separator = " + " if words is None else ", "
    numbers = separator.join(terms[:_TERMS]) + (f"{separator}…" if len(terms) > _TERMS else "")
    shown = guess.value if words is None else words(guess.value)
    if guess.fell_back:
        rule, numbers = "first guess, no row with a value is near", ""
    sheet.add_formula(name, rule, numbers, shown)
    return guess
