"""Worksheets of ID3: the gain of every column that is left to split on."""

from __future__ import annotations

from typing import Any

from arboretum.explain.worksheet.families.cases.tree import CaseTree
from arboretum.explain.worksheet.family import Family
from arboretum.explain.worksheet.refusals import EQUALS
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Sheet, SheetTable
from arboretum.grow.settings import count_of
from arboretum.lazy import cached_property
from arboretum.structure.condition import format_category
from arboretum.textbook.id3 import Cases, ID3Candidate, id3_candidates

__all__ = ["ID3Family"]


class ID3Family(Family):
    """ID3."""

    kind = "id3"

    @cached_property
    def cases(self) -> CaseTree:
        return CaseTree(self)

    @property
    def columns(self) -> Any:
        return self.cases.columns

    def row(self, row: Any) -> Sheet:
        return self.cases.row(row)

    def node_sheet(self, t: int, node: int) -> Sheet:
        tree, columns = self.cases.tree, self.cases.columns
        sheet, here = self.cases.sheet_of(node, "node"), self.cases.at(node)
        if here.weight <= 0:
            return sheet
        cases, used = self.cases.whole.at(here.rows, here.w), self.cases.used(node)
        left = [f for f, column in enumerate(columns) if f not in used and column.categories]
        table, choice = id3_candidates(cases, left, float(self.model.epsilon))
        table = sorted(table, key=lambda c: (c.verdict != "chosen", -c.gain))
        split_on = None if tree.is_leaf[node] else int(tree.feature[node])
        self.cases.add_entropy(sheet, cases.counts, "H(D)")
        lines, marked = [], []
        for i, c in enumerate(table):
            wins = c.feature == split_on
            marked += [i] if wins else []
            branches, verdict = len(c.figures.branches), "wins" if wins else c.verdict
            lines.append(
                (columns[c.feature].name, branches, c.figures.conditional, c.gain, verdict)
            )
        header = ("column", "values", "H(D|A)", "gain", "verdict")
        title = "Gain of every column"
        sheet.tables.append(SheetTable(title, header, lines, frozenset(marked)))
        if split_on is None:
            why = self._why_leaf(node, cases, left, choice)
            sheet.notes.append(f"It is a leaf: {why}.")
        else:
            self._add_winner(sheet, node, table[marked[0]])
            ties = (c for c in table if c.verdict.startswith("same"))
            sheet.notes += [
                f"{columns[c.feature].name} gains as much, {number(c.gain)}: {EQUALS}."
                for c in ties
            ][:1]
        if used:
            names = ", ".join(columns[f].name for f in sorted(used))
            sheet.notes.append(f"Split on further up: {names}.")
        return sheet

    def _add_winner(self, sheet: Sheet, node: int, winner: ID3Candidate) -> None:
        """Write the gain of the column that is split on, and its branches."""
        figures, column = winner.figures, self.cases.columns[winner.feature]
        terms = [f"{number(b.share)} · {number(b.entropy)}" for b in figures.branches]
        shown = " + ".join(terms[:6]) + (" + …" if len(terms) > 6 else "")
        sheet.add_formula("H(D|A)", "Σ |D_v|/|D| · H(D_v)", shown, figures.conditional)
        numbers = f"{number(figures.entropy)} - {number(figures.conditional)}"
        sheet.add_formula("gain", "H(D) - H(D|A)", numbers, winner.gain)
        self.cases.add_decrease(sheet, node)
        words = [format_category(word) for word in column.categories or ()] + ["missing"]
        lines = [(words[int(str(b.value))], b.share, b.entropy) for b in figures.branches]
        sheet.add_table(f"Branches of {column.name}", "value | share | entropy", lines)

    def _why_leaf(self, node: int, cases: Cases, left: list[int], choice: int | None) -> str:
        counts, m = cases.counts, self.model
        if counts.sum() - counts.max() <= 1e-9 * counts.sum():
            return "its rows agree"
        if not left:
            return "no column is left to split on"
        if m.max_depth is not None and self.cases.tree.depth[node] >= m.max_depth:
            return f"max_depth={m.max_depth} is reached"
        if len(cases.y) < count_of(m.min_samples_split, len(self.cases.whole.y)):
            return f"it has {len(cases.y)} rows, min_samples_split={m.min_samples_split}"
        if choice is not None:
            return "nothing better was found"
        best = max(id3_candidates(cases, left)[0], key=lambda c: c.gain)
        name, epsilon = self.cases.columns[best.feature].name, number(float(m.epsilon))
        return f"{name} gains most, {number(best.gain)}, and a gain must exceed epsilon={epsilon}"

    def leaf_sheet(self, t: int, leaf: int) -> Sheet:
        sheet, here = self.cases.sheet_of(leaf, "leaf"), self.cases.at(leaf)
        if here.weight > 0:
            counts = self.cases.whole.at(here.rows, here.w).counts
            self.cases.add_answer(sheet, leaf, counts)
            self.cases.add_entropy(sheet, counts, "H(D)")
        return sheet
