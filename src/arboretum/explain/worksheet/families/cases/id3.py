"""Worksheets of ID3: the gain of every column that is left to ask."""

from __future__ import annotations

from typing import Any, ClassVar

from arboretum.explain.worksheet.families.cases.family import CaseFamily
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Formula, Sheet, SheetTable
from arboretum.structure.condition import format_category
from arboretum.textbook.id3 import Cases, id3_candidates

__all__ = ["ID3Family"]


class ID3Family(CaseFamily):
    """ID3."""

    answers: ClassVar = ("node", "leaf", "row")
    without: ClassVar = {
        "round": "a single tree is not made in rounds",
        "oob": "a single tree sees every row, none is out of bag",
        "pruning": "ID3 does not prune: C45Classifier does",
    }

    def node(self, tree: Any, node: Any) -> Sheet:
        self.number_of_tree(tree)
        k = self.number_of_node(self.tree, node)
        here = self.at(k)
        cases = self.whole.at(here.rows, here.w)
        leaf = bool(self.tree.is_leaf[k])
        what = "a leaf" if leaf else self.columns[int(self.tree.feature[k])].name + "?"
        facts = self.facts_of(k, here)
        if here.weight <= 0:
            return Sheet(
                f"node {k} of the tree: {what}",
                facts,
                notes=["No row came here: it answers as its parent."],
            )
        used = self.used(k)
        open_ = [f for f, column in enumerate(self.columns) if f not in used and column.categories]
        table, choice = id3_candidates(cases, open_, float(self.model.epsilon))
        table = sorted(table, key=lambda c: (c.verdict != "chosen", -c.gain))
        asked = None if leaf else int(self.tree.feature[k])
        formulas = [self.entropy_formula(cases.counts, "H(D)")]
        notes = []
        lines = [
            (
                self.columns[c.feature].name,
                len(c.figures.branches),
                c.figures.conditional,
                c.gain,
                "wins" if c.feature == asked else c.verdict,
            )
            for c in table
        ]
        tables = [
            SheetTable(
                "Gain of every column",
                ("column", "values", "H(D|A)", "gain", "verdict"),
                lines,
                frozenset(i for i, c in enumerate(table) if c.feature == asked),
            )
        ]
        if asked is not None:
            winner = next(c for c in table if c.feature == asked)
            terms = [f"{number(b.share)} · {number(b.entropy)}" for b in winner.figures.branches]
            shown = " + ".join(terms[:6]) + (" + …" if len(terms) > 6 else "")
            formulas += [
                Formula("H(D|A)", "Σ |D_v|/|D| · H(D_v)", shown, winner.figures.conditional),
                Formula(
                    "gain",
                    "H(D) - H(D|A)",
                    f"{number(winner.figures.entropy)} - {number(winner.figures.conditional)}",
                    winner.gain,
                ),
                self.gain_kept(k, here),
            ]
            words = self.columns[asked].categories or ()
            branches = [
                (
                    "missing"
                    if int(str(b.value)) >= len(words)
                    else format_category(words[int(str(b.value))]),
                    b.share,
                    b.entropy,
                )
                for b in winner.figures.branches
            ]
            tables.append(
                SheetTable(
                    f"Branches of {self.columns[asked].name}",
                    ("value", "share", "entropy"),
                    branches,
                )
            )
            notes += [
                f"{self.columns[c.feature].name} gains as much, {number(c.gain)}: of equals the first column "
                "is taken."
                for c in table
                if c.verdict.startswith("same")
            ][:1]
        else:
            notes.append(f"It is a leaf: {self._why_leaf(k, cases, open_, choice)}.")
        if used:
            notes.append(
                "Asked further up: " + ", ".join(self.columns[f].name for f in sorted(used)) + "."
            )
        return Sheet(f"node {k} of the tree: {what}", facts, formulas, tables, notes)

    def _why_leaf(self, node: int, cases: Cases, open_: list[int], choice: int | None) -> str:
        from arboretum.grow.settings import count_of

        counts, m = cases.counts, self.model
        if counts.sum() - counts.max() <= 1e-9 * counts.sum():
            return "its rows agree"
        if not open_:
            return "no column is left to ask"
        if m.max_depth is not None and self.tree.depth[node] >= m.max_depth:
            return f"max_depth={m.max_depth} is reached"
        if len(cases.y) < count_of(m.min_samples_split, len(self.whole.y)):
            return f"it has {len(cases.y)} rows, min_samples_split={m.min_samples_split}"
        if choice is not None:
            return "nothing better was found"
        best = max(id3_candidates(cases, open_)[0], key=lambda c: c.gain)
        name = self.columns[best.feature].name
        return (
            f"{name} gains most, {number(best.gain)}, and a gain must exceed "
            f"epsilon={number(float(m.epsilon))}"
        )

    def leaf(self, tree: Any, leaf: Any) -> Sheet:
        self.number_of_tree(tree)
        k = self.number_of_node(self.tree, leaf, what="leaf")
        here = self.at(k)
        counts = self.whole.at(here.rows, here.w).counts
        laplace = bool(self.model.laplace)
        facts = self.facts_of(k, here)
        if here.weight <= 0:
            return Sheet(
                f"leaf {k} of the tree",
                facts,
                notes=["No row came here: it answers as its parent."],
            )
        best, n = int(counts.argmax()), float(counts.sum())
        rule = "(n_k + 1) / (N + K), Laplace" if laplace else "n_k / N"
        value = (float(counts[best]) + laplace) / (n + laplace * len(counts))
        numbers = f"{number(float(counts[best]))} / {number(n)}"
        if laplace:
            numbers = f"({number(float(counts[best]))} + 1) / ({number(n)} + {len(counts)})"
        formulas = [
            Formula(f"share of {self.label(best)}", rule, numbers, value),
            self.entropy_formula(counts, "H(D)"),
        ]
        return Sheet(
            f"leaf {k} of the tree", facts, formulas, [self.class_table(k, counts, laplace)]
        )
