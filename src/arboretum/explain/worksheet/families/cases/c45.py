"""Worksheets of C4.5: gain and gain ratio, fractional cases, pessimistic errors.

What was pruned is grown again by the engine, and judged by the textbook (`prune_c45`).

A column that did not win gets a sentence for the reason, with its numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from arboretum.c45.c45 import grow_collapsed
from arboretum.c45.table import case_table
from arboretum.explain.worksheet.families.cases.tree import CaseTree, branches_to
from arboretum.explain.worksheet.family import Family
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Sheet
from arboretum.lazy import cached_property
from arboretum.structure.tree import Tree
from arboretum.textbook.c45 import C45Node, spread
from arboretum.textbook.c45_pruning import (
    Decision,
    collapse_c45,
    extra_errors,
    prune_c45,
    prune_reduced_error,
    upper_limit,
)
from arboretum.textbook.c45_splits import (
    C45Candidate,
    C45Settings,
    C45Test,
    c45_candidates,
    least_cases,
)
from arboretum.textbook.id3 import Cases, majority
from arboretum.textbook.impurities import entropy

__all__ = ["C45Family", "CaseRefusals"]


# ---------------------------------------------------------------------- why columns did not win
@dataclass(frozen=True, eq=False)
class CaseRefusals:
    """The best tests of a node's columns, and the limits they were judged by."""

    table: list[C45Candidate]
    winner: C45Candidate | None
    average: float  # the gate
    cases: Cases
    settings: C45Settings
    words: Callable[[C45Candidate], str]  # a test in the words of the table

    def notes(self) -> list[str]:
        """Return a sentence for every reason that kept a column out which did not simply gain less.

        Where several columns share a reason, the one that lost most by it is named.
        """
        by_ratio = self.settings.criterion == "gain_ratio"
        found: dict[str, list[C45Candidate]] = {}
        for c in sorted(self.table, key=lambda c: -c.ratio if by_ratio else -c.gain):
            if c.verdict != "chosen" and not c.verdict.startswith("smaller"):
                found.setdefault(c.verdict, []).append(c)
        notes = []
        for some in found.values():
            text, others = self._sentence(some[0]), len(some) - 1
            if text:
                more = f"; so {'is' if others == 1 else 'are'} {others} more" if others else ""
                notes.append(f"{text}{more}.")
        return notes

    def _sentence(self, c: C45Candidate) -> str:
        test, least = self.words(c), f"min_cases={number(self.settings.min_cases)}"
        branches = " | ".join(number(w, 4) for w in c.weights[:6])
        branches += " | …" if len(c.weights) > 6 else ""
        known = float(self.cases.w.sum()) - c.missing
        reason, _, _ = c.verdict.partition(",")
        match reason:
            case "gain below average":
                return f"{test} is out by the gate: {self._below(c)}"
            case "fewer than two branches with min_cases":
                return f"{test} is out, its branches have {branches} cases: two must have {least}"
            case "fewer than twice min_cases known":
                return (
                    f"{test} is out, {number(known)} cases have a value: a cut needs twice {least}"
                )
            case "no cut with enough cases on both sides":
                needed = number(least_cases(known, self.cases.n_classes, self.settings))
                return f"{test} is out, no cut leaves {needed} cases on both sides"
            case "gain does not cover the charge":
                gained = f"{test} is out, its gain {number(c.gain + c.charge)} does not cover"
                return f"{gained} the charge of {number(c.charge)} for the cuts that were tried"
            case "split information too small":
                info = f"its split information is {number(c.split_information)}"
                return f"{test} is out, it hardly separates the cases ({branches}): {info}"
            case "same ratio" | "same gain":
                same = reason.removeprefix("same ")
                worth = f"has the same {same}, {number(c.ratio if same == 'ratio' else c.gain)}"
                return f"{test} {worth}: of equal splits the first column is taken"
            case "ratio not above epsilon" | "gain not above epsilon":
                figure = reason.split()[0]
                worth = f"{figure} is {number(c.ratio if figure == 'ratio' else c.gain)}"
                return f"{test} is out, its {worth}, not more than epsilon={number(self.settings.epsilon)}"
        return ""

    def _below(self, c: C45Candidate) -> str:
        """Return how far a gain is below the average, and whether its ratio would have won."""
        text = f"its gain {number(c.gain)} is below the average {number(self.average)}"
        if self.winner is not None and c.ratio > self.winner.ratio:
            more = f"{number(c.ratio)} is more than the winner's {number(self.winner.ratio)}"
            text += f", though its ratio {more}"
        return text


_OPTIONAL = ("missing", "charge", "split info", "branches")
_PRUNED = {
    "error": (
        "A node becomes a leaf, or its largest branch takes its place, if that is at most 0.1 errors worse."
    ),
    "reduced_error": "Errors are counted on the rows that were held out.",
    None: "Nothing was pruned.",
}


class C45Family(Family):
    """C4.5."""

    kind = "c45"

    @cached_property
    def cases(self) -> CaseTree:
        return CaseTree(self)

    @property
    def columns(self) -> Any:
        return self.cases.columns

    def row(self, row: Any) -> Sheet:
        return self.cases.row(row)

    @cached_property
    def settings(self) -> C45Settings:
        m = self.model
        least, epsilon = float(m.min_cases), float(m.epsilon)
        return C45Settings(least, m.criterion, epsilon, bool(m.gate), bool(m.subset), m.max_depth)

    @cached_property
    def is_training_table(self) -> bool:
        if not self.cases.holds_out:
            return super().is_training_table
        known = isinstance(self.model.random_state, Integral)
        return known and len(self.cases.grown_on) == int(self.cases.tree.count[0])

    # ------------------------------------------------------------------ a node
    def node_sheet(self, t: int, node: int) -> Sheet:
        tree, whole, here = self.cases.tree, self.cases.whole, self.cases.at(node)
        sheet = self.cases.sheet_of(node, "node")
        if here.weight <= 0:
            return sheet
        cases, used = whole.at(here.rows, here.w), self.cases.used(node)
        grown = whole.at(self.cases.grown_on, whole.w[self.cases.grown_on])
        table, average, choice = c45_candidates(cases, grown, self.settings, used, steps=False)
        test = None if tree.is_leaf[node] else self.cases.test_of(tree, node)
        winner = next((c for c in table if test is not None and c.feature == test.feature), None)
        self.cases.add_entropy(sheet, cases.counts)
        chosen = winner is not None and winner.verdict == "chosen"
        if test is None:
            sheet.notes.append(f"It is a leaf: {self._why_leaf(node, cases, choice)}.")
        else:
            self._add_gain(sheet, cases, test, winner)
            self.cases.add_decrease(sheet, node)
            if not chosen or winner is None or winner.test != test:
                sheet.notes.append(
                    "This test was not chosen for these cases: pruning raised the branch that makes it, and "
                    "with it more cases came here."
                )
            sheet.notes.append(self._missing_note(test, cases))
        rival = winner if chosen else None
        words, settings = self._short_question, self.settings
        sheet.notes += CaseRefusals(table, rival, average, cases, settings, words).notes()
        shown = "1e6, nothing counts" if average >= 1e6 else number(average)
        gate = ": only tests of at least that compete."
        if not settings.gate:
            gate = "; the gate is off, all admissible tests compete."
        sheet.notes.append(f"The average gain of the admissible tests is {shown}{gate}")
        table = self._sorted(table)
        marked = [i for i, c in enumerate(table) if test is not None and c.feature == test.feature]
        header = "test | branches | missing | gain | charge | split info | ratio | verdict"
        lines = [self._line(c) for c in table]
        sheet.add_table("Best test of every column", header, lines, marked, optional=_OPTIONAL)
        return sheet

    def _short_question(self, c: C45Candidate) -> str:
        """Return a test in a few words: where every value has a branch, the column."""
        test = None if c.test is None or c.test.multiway else c.test
        return self.cases.question(test, c.feature)

    def _sorted(self, table: list[C45Candidate]) -> list[C45Candidate]:
        by_ratio = self.settings.criterion == "gain_ratio"

        def place(c: C45Candidate) -> tuple[bool, bool, float]:
            return c.verdict != "chosen", not c.admissible, -c.ratio if by_ratio else -c.gain

        return sorted(table, key=place)

    def _line(self, c: C45Candidate) -> tuple[Any, ...]:
        weights = " | ".join(number(w, 4) for w in c.weights[:5])
        weights += " | …" if len(c.weights) > 5 else ""
        figures = (c.missing, c.gain, c.charge, c.split_information, c.ratio, c.verdict)
        return (self.cases.question(c.test, c.feature), weights, *figures)

    def _add_gain(self, sheet: Sheet, cases: Cases, test: C45Test, c: C45Candidate | None) -> None:
        """Write gain, split information and ratio of a test, with their numbers."""
        branch = test.branches(cases.X[:, test.feature])
        known, counts = branch >= 0, []
        for v in range(test.n_branches):
            here = branch == v
            counts.append(np.bincount(cases.y[here], cases.w[here], cases.n_classes))
        filled = [(float(one.sum()), entropy(one)) for one in counts if one.sum() > 0]
        total, n_known = float(cases.w.sum()), float(cases.w[known].sum())
        h_known = entropy(np.sum(counts, axis=0)) if n_known else 0.0
        after = sum(w / n_known * h for w, h in filled)
        gain = n_known / total * (h_known - after)
        terms = [f"{number(w)}/{number(n_known)} · {number(h)}" for w, h in filled]
        shown = " - ".join(terms[:6]) + (" - …" if len(terms) > 6 else "")
        rule = "known share · (H(known) - Σ N_v/N · H(v))"
        numbers = f"{number(n_known)}/{number(total)} · ({number(h_known)} - {shown})"
        sheet.add_formula("gain", rule, numbers, gain)
        if c is not None and c.charge and c.test == test:
            numbers = f"{number(gain)} - {number(c.charge)}"
            sheet.add_formula("gain less charge", "gain - log2(cuts tried) / N", numbers, c.gain)
            gain = c.gain
        unknown = total - n_known
        split = [w for w, _ in filled] + ([unknown] if unknown > 1e-12 else [])
        info = entropy(split)
        terms = [f"{number(w)}/{number(total)} log2 {number(w)}/{number(total)}" for w in split[:6]]
        numbers = "-(" + " + ".join(terms) + (" + …)" if len(split) > 6 else ")")
        rule = "entropy of the branches, missing being one"
        sheet.add_formula("split information", rule, numbers, info)
        if info > 1e-3:
            numbers = f"{number(gain)} / {number(info)}"
            sheet.add_formula("ratio", "gain / split information", numbers, gain / info)

    def _missing_note(self, test: C45Test, cases: Cases) -> str:
        missing = np.isnan(cases.X[:, test.feature])
        name = self.columns[test.feature].name
        if not missing.any():
            return (
                f"No case here lacks {name}; one that does goes down every branch, by their shares."
            )
        weight = number(float(cases.w[missing].sum()))
        share = "by its share of the known cases"
        return f"{weight} cases lack {name} and go down every branch, to each {share}."

    def _why_leaf(self, node: int, cases: Cases, choice: C45Test | None) -> str:
        counts, s = cases.counts, self.settings
        if counts.sum() - counts.max() <= 1e-9 * counts.sum():
            return "its cases agree"
        if counts.sum() < 2 * s.min_cases - 1e-9:
            return f"it has fewer than twice min_cases={number(s.min_cases)}"
        if s.max_depth is not None and self.cases.tree.depth[node] >= s.max_depth:
            return f"max_depth={s.max_depth} is reached"
        if choice is None:
            return "no test competes"
        test = self.cases.question(choice, choice.feature)
        return f"what was below it was collapsed or pruned; its test would be {test} (see .leaf and .pruning)"

    # ------------------------------------------------------------------ a leaf
    def leaf_sheet(self, t: int, leaf: int) -> Sheet:
        sheet, here = self.cases.sheet_of(leaf, "leaf"), self.cases.at(leaf)
        if here.weight <= 0:
            return sheet
        counts = self.cases.whole.at(here.rows, here.w).counts
        self.cases.add_answer(sheet, leaf, counts)
        self._add_errors(sheet, float(counts.sum()), float(counts.sum() - counts.max()))
        path = branches_to(self.cases.tree, leaf)
        decisions = [d for d in self._decisions if d.path == path]
        if decisions:
            self._add_decisions(sheet, decisions, "How it became a leaf")
        elif self.model.pruning is not None:
            sheet.notes.append("Nothing was pruned here: it is a leaf since the tree grew.")
        return sheet

    def _add_errors(self, sheet: Sheet, n: float, e: float) -> None:
        """Write the errors of a leaf, and the pessimistic ones, with their numbers."""
        m = self.model
        sheet.add_formula("errors", "N - n_majority", f"{number(n)} - {number(n - e)}", e)
        if m.pruning != "error":
            return
        cf, limit = float(m.confidence), m.error_limit
        more, rule = extra_errors(n, e, cf, limit), f"N · U_CF(e, N), CF = {number(cf)}, {limit}"
        if e < 1e-6 and limit != "binomial":
            rule = f"N · (1 - CF^(1/N)), CF = {number(cf)}"
        numbers = f"{number(e)} + {number(more)}"
        sheet.add_formula("pessimistic errors", rule, numbers, e + more)
        rate = upper_limit(n, e, cf, limit)
        sheet.add_formula("pessimistic rate", "U_CF", f"{number(e + more)} / {number(n)}", rate)

    # ------------------------------------------------------------------ pruning
    @cached_property
    def _full(self) -> C45Node:
        """The tree before collapsing and pruning, grown again by the engine, as the textbook has trees."""
        model, rows = copy.copy(self.model), self.cases.grown_on
        model.collapse = False
        cases = self.cases.whole.at(rows, self.cases.whole.w[rows])
        part = self.matrix.take(self.cases.kept[rows])
        table = case_table(
            part, model.schema_, cases.y, cases.w, cases.n_classes, n_jobs=self.threads
        )
        return self._as_textbook(grow_collapsed(model, table).to_tree(model.schema_), cases)

    def _as_textbook(self, tree: Tree, cases: Cases) -> C45Node:
        rows, counts = np.arange(len(cases.y)), cases.counts
        root = C45Node((), cases, rows, cases.w, counts, majority(counts))
        waiting = [(root, 0)]
        while waiting:
            node, k = waiting.pop()
            if tree.is_leaf[k]:
                continue
            node.test = self.cases.test_of(tree, k)
            x = cases.X[node.rows, node.test.feature]
            node.shares, parts = spread(node.test, x, node.rows, node.w)
            for v, (rows, w) in enumerate(parts):
                counts = cases.at(rows, w).counts
                answer = majority(counts) if len(rows) else node.majority
                child = C45Node((*node.path, v), cases, rows, w, counts, answer)
                node.children.append(child)
                waiting.append((child, int(tree.first_child[k]) + v))
        return root

    @cached_property
    def _collapsed(self) -> tuple[C45Node, list[Decision]]:
        return collapse_c45(self._full) if self.model.collapse else (self._full, [])

    @cached_property
    def _decisions(self) -> list[Decision]:
        """Return what was decided about every inner node, collapsing first, children first."""
        model, cases = self.model, self.cases
        collapsed, decided = self._collapsed
        decided = [d for d in decided if d.verdict != "keep"]
        if model.pruning == "error":
            raising, cf = bool(model.subtree_raising), float(model.confidence)
            decided += prune_c45(collapsed, cf, raising, model.error_limit)[1]
        elif cases.holds_out and isinstance(model.random_state, Integral):
            held = cases.whole.at(cases.held_out[1], cases.whole.w[cases.held_out[1]])
            decided += prune_reduced_error(collapsed, held.X, held.y, held.w)[1]
        return decided

    def _add_decisions(self, sheet: Sheet, decisions: list[Decision], title: str) -> None:
        lines = []
        for d in decisions:
            node = "branch " + ".".join(map(str, d.path)) if d.path else "the root"
            raised = d.as_raised if np.isfinite(d.as_raised) else None
            lines.append((node, d.weight, d.as_tree, d.as_leaf, raised, d.verdict))
        header = "node | cases | errors of the branch | as a leaf | largest branch raised | verdict"
        sheet.add_table(title, header, lines, shown=40)

    def pruning(self) -> Sheet:
        model = self.model
        if self.cases.holds_out and not isinstance(model.random_state, Integral):
            raise self.refuse("pruning")
        facts: dict[str, Any] = {
            "nodes of the full tree": sum(1 for _ in self._full),
            "nodes after collapsing": sum(1 for _ in self._collapsed[0]),
            "nodes of the model": len(self.cases.tree),
            "pruning": model.pruning or "none",
        }
        if model.pruning == "error":
            facts |= {"confidence": float(model.confidence), "limit": model.error_limit}
        sheet = Sheet("pruning by errors", facts)
        self._add_decisions(sheet, self._decisions, "Decisions, leaves first")
        sheet.notes.append(
            "Branches are numbered from 0 on the way from the root, in the tree as it stood; children are "
            "decided first."
        )
        sheet.notes.append(_PRUNED[model.pruning])
        return sheet
