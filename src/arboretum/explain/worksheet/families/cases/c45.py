"""Worksheets of C4.5: gain and gain ratio, fractional cases, pessimistic errors.

What was pruned is grown again by the engine, and judged by the textbook (`prune_c45`).
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from arboretum.explain.worksheet.families.cases.family import (
    CaseFamily,
    CasesHere,
    branches_to,
    way_to,
)
from arboretum.explain.worksheet.families.cases.refusals import CaseRefusals
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Formula, Sheet, SheetTable
from arboretum.lazy import cached_property
from arboretum.structure.tree import MULTIWAY, Tree
from arboretum.textbook.c45 import C45Node, spread
from arboretum.textbook.c45_pruning import (
    Decision,
    collapse_c45,
    extra_errors,
    prune_c45,
    prune_reduced_error,
    upper_limit,
)
from arboretum.textbook.c45_splits import C45Candidate, C45Settings, C45Test, c45_candidates
from arboretum.textbook.id3 import Cases, majority
from arboretum.textbook.impurities import entropy

__all__ = ["C45Family"]

_OPTIONAL = ("missing", "charge", "split info", "branches")


class C45Family(CaseFamily):
    """C4.5."""

    answers: ClassVar = ("node", "leaf", "row", "pruning")
    without: ClassVar = {
        "round": "a single tree is not made in rounds",
        "oob": "a single tree sees every row, none is out of bag",
    }

    @cached_property
    def settings(self) -> C45Settings:
        m = self.model
        return C45Settings(
            float(m.min_cases),
            m.criterion,
            float(m.epsilon),
            bool(m.gate),
            bool(m.subset),
            m.max_depth,
        )

    @cached_property
    def grown_on(self) -> Cases:
        """The cases the tree was grown on: all, but for those held out."""
        if getattr(self.model, "pruning", None) != "reduced_error":
            return self.whole
        kept = self._held_out[0]
        return self.whole.at(kept, self.whole.w[kept])

    @cached_property
    def _held_out(self) -> tuple[np.ndarray, np.ndarray]:
        if not isinstance(self.model.random_state, Integral):
            raise self.refuse("pruning")
        return self.model._hold_out(self.whole.y)

    @cached_property
    def is_training_table(self) -> bool:
        if getattr(self.model, "pruning", None) != "reduced_error":
            return super().is_training_table
        known = isinstance(self.model.random_state, Integral)
        return known and len(self._held_out[0]) == int(self.tree.count[0])

    def at(self, node: int, tree: Tree | None = None) -> CasesHere:
        tree = self.tree if tree is None else tree
        rows = np.arange(len(self.whole.y))
        if getattr(self.model, "pruning", None) == "reduced_error":
            rows = np.sort(self._held_out[0])
        here = CasesHere(rows, self.whole.w[rows])
        for above, place in way_to(tree, node):
            here = self.parts(tree, above, here)[place]
        return here

    def node(self, tree: Any, node: Any) -> Sheet:
        self.number_of_tree(tree)
        k = self.number_of_node(self.tree, node)
        here = self.at(k)
        cases = self.whole.at(here.rows, here.w)
        what = "a leaf" if self.tree.is_leaf[k] else self.tree.condition(k, 0).pretty() + "?"
        if what != "a leaf" and self.tree.kind[k] == MULTIWAY:
            what = self.columns[int(self.tree.feature[k])].name + "?"
        if here.weight <= 0:
            return Sheet(
                f"node {k} of the tree: {what}",
                self.facts_of(k, here),
                notes=["No case came here."],
            )
        table, average, choice = c45_candidates(
            cases, self.grown_on, self.settings, self.used(k), steps=False
        )
        asked = None if self.tree.is_leaf[k] else self.test_of(self.tree, k)
        formulas, notes = [self.entropy_formula(cases.counts)], []
        winner = next((c for c in table if asked is not None and c.feature == asked.feature), None)
        if asked is not None:
            formulas += self._gain_formulas(cases, asked, winner)
            formulas.append(self.gain_kept(k, here))
            same = winner is not None and winner.test == asked
            if not same or winner is None or winner.verdict != "chosen":
                notes.append(
                    "This test was not chosen for these cases: pruning raised the branch that asks "
                    "it, and with it more "
                    "cases came here."
                )
            notes.append(self._missing_note(asked, cases))
        else:
            notes.append(f"It is a leaf: {self._why_leaf(k, cases, choice)}.")
        rival = winner if winner is not None and winner.verdict == "chosen" else None
        notes += CaseRefusals(
            table, rival, average, cases, self.settings, self._short_question
        ).notes()
        counted = "1e6, nothing counts" if average >= 1e6 else number(average)
        notes.append(
            f"The average gain of the admissible tests is {counted}"
            + (
                ": only tests of at least that compete."
                if self.settings.gate
                else "; the gate is off, all admissible tests compete."
            )
        )
        marked = frozenset(
            i
            for i, c in enumerate(self._sorted(table))
            if asked is not None and c.feature == asked.feature
        )
        lines = [self._line(c) for c in self._sorted(table)]
        header = ("test", "branches", "missing", "gain", "charge", "split info", "ratio", "verdict")
        return Sheet(
            f"node {k} of the tree: {what}",
            self.facts_of(k, here),
            formulas,
            [SheetTable("Best test of every column", header, lines, marked, optional=_OPTIONAL)],
            notes,
        )

    def _short_question(self, c: C45Candidate) -> str:
        """Return a test in a few words: where every value has a branch, the column."""
        test = None if c.test is None or c.test.multiway else c.test
        return self.question(test, c.feature)

    def _sorted(self, table: list[C45Candidate]) -> list[C45Candidate]:
        figure = "ratio" if self.settings.criterion == "gain_ratio" else "gain"
        return sorted(
            table, key=lambda c: (c.verdict != "chosen", not c.admissible, -getattr(c, figure))
        )

    def _line(self, c: C45Candidate) -> tuple[Any, ...]:
        weights = " | ".join(number(w, 4) for w in c.weights[:5]) + (
            " | …" if len(c.weights) > 5 else ""
        )
        return (
            self.question(c.test, c.feature),
            weights,
            c.missing,
            c.gain,
            c.charge,
            c.split_information,
            c.ratio,
            c.verdict,
        )

    def _gain_formulas(self, cases: Cases, asked: C45Test, c: C45Candidate | None) -> list[Formula]:
        """Return gain, split information and ratio of the test that is asked, with their numbers."""
        branch = asked.branches(cases.X[:, asked.feature])
        known = branch >= 0
        counts = [
            np.bincount(cases.y[branch == v], cases.w[branch == v], cases.n_classes)
            for v in range(asked.n_branches)
        ]
        weights = np.array([one.sum() for one in counts])
        total, n_known = float(cases.w.sum()), float(cases.w[known].sum())
        h_known = entropy(np.sum(counts, axis=0)) if n_known else 0.0
        terms = [
            f"{number(float(w))}/{number(n_known)} · {number(entropy(one))}"
            for w, one in zip(weights, counts)
            if w > 0
        ]
        gain = (
            n_known
            / total
            * (
                h_known
                - sum(w / n_known * entropy(one) for w, one in zip(weights, counts) if w > 0)
            )
        )
        shown = " - ".join(terms[:6]) + (" - …" if len(terms) > 6 else "")
        formulas = [
            Formula(
                "gain",
                "known share · (H(known) - Σ N_v/N · H(v))",
                f"{number(n_known)}/{number(total)} · ({number(h_known)} - {shown})",
                gain,
            )
        ]
        if c is not None and c.charge and c.test == asked:
            formulas.append(
                Formula(
                    "gain less charge",
                    "gain - log2(cuts tried) / N",
                    f"{number(gain)} - {number(c.charge)}",
                    c.gain,
                )
            )
            gain = c.gain
        unknown = total - n_known
        split = [float(w) for w in weights if w > 0] + ([unknown] if unknown > 1e-12 else [])
        info = entropy(split)
        terms = [f"{number(w)}/{number(total)} log2 {number(w)}/{number(total)}" for w in split[:6]]
        numbers = "-(" + " + ".join(terms) + (" + …)" if len(split) > 6 else ")")
        formulas.append(
            Formula(
                "split information", "entropy of the branches, missing being one", numbers, info
            )
        )
        if info > 1e-3:
            formulas.append(
                Formula(
                    "ratio",
                    "gain / split information",
                    f"{number(gain)} / {number(info)}",
                    gain / info,
                )
            )
        return formulas

    def _missing_note(self, asked: C45Test, cases: Cases) -> str:
        missing = np.isnan(cases.X[:, asked.feature])
        name = self.columns[asked.feature].name
        if not missing.any():
            return f"No case here misses {name}; one that does goes down every branch, by their shares."
        weight = number(float(cases.w[missing].sum()))
        return (
            f"{weight} cases miss {name} and go down every branch, to each by its share of the "
            "known cases."
        )

    def _why_leaf(self, node: int, cases: Cases, choice: C45Test | None) -> str:
        counts, s = cases.counts, self.settings
        if counts.sum() - counts.max() <= 1e-9 * counts.sum():
            return "its cases agree"
        if counts.sum() < 2 * s.min_cases - 1e-9:
            return f"it has fewer than twice min_cases={number(s.min_cases)}"
        if s.max_depth is not None and self.tree.depth[node] >= s.max_depth:
            return f"max_depth={s.max_depth} is reached"
        if choice is None:
            return "no test competes"
        asked = self.question(choice, choice.feature)
        return f"what was below it was collapsed or pruned; it would ask {asked} (see .leaf and .pruning)"

    # ------------------------------------------------------------------ a leaf
    def leaf(self, tree: Any, leaf: Any) -> Sheet:
        self.number_of_tree(tree)
        k = self.number_of_node(self.tree, leaf, what="leaf")
        here = self.at(k)
        counts = self.whole.at(here.rows, here.w).counts
        n, e = float(counts.sum()), float(counts.sum() - counts.max())
        formulas, notes = [], []
        laplace = bool(self.model.laplace)
        if n <= 0:
            return Sheet(
                f"leaf {k} of the tree",
                self.facts_of(k, here),
                notes=["No case came here: it answers as its parent."],
            )
        best = int(counts.argmax())
        if laplace:
            numbers = f"({number(float(counts[best]))} + 1) / ({number(n)} + {len(counts)})"
            value = (float(counts[best]) + 1) / (n + len(counts))
            formulas.append(
                Formula(
                    f"share of {self.label(best)}", "(n_k + 1) / (N + K), Laplace", numbers, value
                )
            )
        else:
            numbers = f"{number(float(counts[best]))} / {number(n)}"
            formulas.append(
                Formula(f"share of {self.label(best)}", "n_k / N", numbers, float(counts[best]) / n)
            )
        formulas += self._pessimistic(n, e)
        tables = [self.class_table(k, counts, laplace)]
        mine = [d for d in self._decisions if d.path == branches_to(self.tree, k)]
        if mine:
            tables.append(self._decision_table(mine, "How it became a leaf"))
        elif getattr(self.model, "pruning", None) is not None:
            notes.append("Nothing was pruned here: it is a leaf since the tree grew.")
        return Sheet(f"leaf {k} of the tree", self.facts_of(k, here), formulas, tables, notes)

    def _pessimistic(self, n: float, e: float) -> list[Formula]:
        """Return the pessimistic errors of a leaf, with their numbers."""
        m = self.model
        if getattr(m, "pruning", "error") != "error":
            return [Formula("errors", "N - n_majority", f"{number(n)} - {number(n - e)}", e)]
        cf, limit = float(m.confidence), m.error_limit
        more = extra_errors(n, e, cf, limit)
        rate = upper_limit(n, e, cf, limit)
        rule = f"N · U_CF(e, N), CF = {number(cf)}, {limit}"
        if e < 1e-6 and limit != "binomial":
            rule = f"N · (1 - CF^(1/N)), CF = {number(cf)}"
        return [
            Formula("errors", "N - n_majority", f"{number(n)} - {number(n - e)}", e),
            Formula("pessimistic errors", rule, f"{number(e)} + {number(more)}", e + more),
            Formula("pessimistic rate", "U_CF", f"{number(e + more)} / {number(n)}", rate),
        ]

    # ------------------------------------------------------------------ pruning
    @cached_property
    def _full(self) -> C45Node:
        """The tree before collapsing and pruning, grown again by the engine, as the textbook has trees."""
        from arboretum.c45.c45 import grow_collapsed
        from arboretum.c45.table import case_table

        model = self.model
        rows = np.arange(len(self.whole.y))
        if model.pruning == "reduced_error":
            rows = np.sort(self._held_out[0])
        cases = self.whole.at(rows, self.whole.w[rows])
        part = self.matrix.take(self.kept[rows])
        twin = replace_parameters(model, collapse=False)
        table = case_table(
            part, model.schema_, cases.y, cases.w, cases.n_classes, n_jobs=self.threads
        )
        tree = grow_collapsed(twin, table).to_tree(model.schema_)
        return self._as_textbook(tree, cases)

    def _as_textbook(self, tree: Tree, cases: Cases) -> C45Node:
        root = C45Node(
            (), cases, np.arange(len(cases.y)), cases.w, cases.counts, majority(cases.counts)
        )
        waiting = [(root, 0)]
        while waiting:
            node, k = waiting.pop()
            if tree.is_leaf[k]:
                continue
            node.test = self.test_of(tree, k)
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
        model = self.model
        collapsed, decided = self._collapsed
        decided = [d for d in decided if d.verdict != "keep"]
        if model.pruning == "error":
            decided = (
                decided
                + prune_c45(
                    collapsed,
                    float(model.confidence),
                    bool(model.subtree_raising),
                    model.error_limit,
                )[1]
            )
        elif model.pruning == "reduced_error":
            if not isinstance(model.random_state, Integral):
                return decided
            held = self._held_out[1]
            here = self.whole.at(held, self.whole.w[held])
            decided = decided + prune_reduced_error(collapsed, here.X, here.y, here.w)[1]
        return decided

    def _decision_table(self, decisions: list[Decision], title: str) -> SheetTable:
        lines = []
        for d in decisions:
            raised = d.as_raised if np.isfinite(d.as_raised) else None
            lines.append(
                (self._path_words(d.path), d.weight, d.as_tree, d.as_leaf, raised, d.verdict)
            )
        header = (
            "node",
            "cases",
            "errors of the branch",
            "as a leaf",
            "largest branch raised",
            "verdict",
        )
        return SheetTable(title, header, lines, shown=40)

    def _path_words(self, path: tuple[int, ...]) -> str:
        return "the root" if not path else "branch " + ".".join(map(str, path))

    def pruning(self) -> Sheet:
        model = self.model
        if model.pruning == "reduced_error" and not isinstance(model.random_state, Integral):
            raise self.refuse("pruning")
        full = sum(1 for _ in self._full)
        facts: dict[str, Any] = {
            "nodes of the full tree": full,
            "nodes after collapsing": sum(1 for _ in self._collapsed[0]),
            "nodes of the model": len(self.tree),
            "pruning": model.pruning or "none",
        }
        if model.pruning == "error":
            facts |= {"confidence": float(model.confidence), "limit": model.error_limit}
        notes = [
            (
                "Branches are numbered from 0 on the way from the root, in the tree as it stood; "
                "children are decided first."
            ),
            "A node becomes a leaf, or its largest branch takes its place, if that is at most 0.1 "
            "errors worse."
            if model.pruning == "error"
            else "Errors are counted on the rows that were held out."
            if model.pruning
            else "Nothing was pruned.",
        ]
        tables = [self._decision_table(self._decisions, "Decisions, leaves first")]
        return Sheet("pruning by errors", facts, tables=tables, notes=notes)


def replace_parameters(model: Any, **changed: Any) -> Any:
    """Return a copy of a model with other parameters."""
    import copy

    twin = copy.copy(model)
    vars(twin).update(changed)
    return twin
