"""Worksheets of ID3, C4.5 and its rules: gain and gain ratio, fractional cases, pessimistic errors.

A case is a row with a weight, and may be at several nodes in fractions. The cases of a node are found by going
down the fitted tree with the textbook's `spread`; what its columns offered there is worked out anew. What was
pruned is grown again by the engine, and judged by the textbook (`prune_c45`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from arboretum.explain.worksheet.cart import truth_of
from arboretum.explain.worksheet.family import Family, class_names, same_classes
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Formula, Sheet, Table
from arboretum.textbook.c45 import C45Node, spread
from arboretum.textbook.c45_pruning import (
    Decision,
    collapse_c45,
    extra_errors,
    prune_c45,
    prune_reduced_error,
    upper_limit,
)
from arboretum.textbook.c45_rule_list import RuleCondition, generalise, rule_bits
from arboretum.textbook.c45_splits import C45Candidate, C45Settings, C45Test, c45_candidates
from arboretum.textbook.id3 import Cases, gather_cases, id3_candidates, majority
from arboretum.textbook.impurities import entropy
from arboretum.tree.condition import Condition, format_category
from arboretum.tree.tree import GROUPS, MULTIWAY, Tree

__all__ = ["C45Family", "ID3Family", "RulesFamily"]

_OPTIONAL = ("missing", "charge", "split info", "branches")


@dataclass(frozen=True, eq=False)
class CasesHere:
    """The cases of a node: rows, and the fraction of each that is here."""

    rows: np.ndarray
    w: np.ndarray

    @property
    def weight(self) -> float:
        return float(self.w.sum())


class _CaseFamily(Family):
    """What trees of cases share."""

    @cached_property
    def whole(self) -> Cases:
        """All cases of the training, in numbers; rows of weight 0 are left out."""
        model, given = self.model, self.given
        twin = self.twin
        codes, w = _learn(twin, given, self.n_rows)
        same_classes(twin.classes_, model.classes_, self.name)
        X = self.matrix.rows(0, self.n_rows)
        sizes = [len(c.categories or ()) if c.kind == "categorical" else 0 for c in self.columns]
        return gather_cases(X, codes, w, sizes, len(model.classes_))

    @cached_property
    def kept(self) -> np.ndarray:
        """The numbers of the rows that count."""
        w = _learn(self.twin, self.given, self.n_rows)[1]
        return np.flatnonzero(w > 0)

    @property
    def tree(self) -> Tree:
        return self.model.tree_

    @property
    def columns(self) -> Any:
        return self.model.tree_.schema.columns

    def label(self, k: int) -> str:
        return format_category(class_names(self.model)[k])

    def test_of(self, tree: Tree, node: int) -> C45Test:
        """Return the question of a node as the textbook writes it."""
        f = int(tree.feature[node])
        size = len(tree.column(f).categories or ())
        if tree.kind[node] == MULTIWAY:
            n = int(tree.n_children[node])
            return C45Test(f, groups=tuple(frozenset([v]) for v in range(n)), multiway=True)
        if tree.kind[node] == GROUPS:
            start = int(tree.bits_start[node])
            goes = tree.bits[start : start + size]
            groups = (
                frozenset(np.flatnonzero(goes == v).tolist())
                for v in range(int(tree.n_children[node]))
            )
            return C45Test(f, groups=tuple(groups))
        return C45Test(f, threshold=float(tree.threshold[node]))

    def parts(self, tree: Tree, node: int, here: CasesHere) -> list[CasesHere]:
        """Return the cases of every child of a node."""
        test, x = self.test_of(tree, node), self.whole.X[here.rows, int(tree.feature[node])]
        own = int(tree.missing_child[node])
        if own >= 0:  # ID3: missing is a value of its own
            x = np.where(np.isnan(x), own, x)
        _, found = spread(test, x, here.rows, here.w)
        return [CasesHere(rows, w) for rows, w in found]

    def at(self, node: int, tree: Tree | None = None) -> CasesHere:
        """Return the cases of a node."""
        tree = self.tree if tree is None else tree
        here = CasesHere(np.arange(len(self.whole.y)), self.whole.w)
        for above, place in _way(tree, node):
            here = self.parts(tree, above, here)[place]
        return here

    def used(self, node: int) -> frozenset[int]:
        """Return the columns whose multiway test was made further up."""
        return frozenset(
            int(self.tree.feature[above])
            for above, _ in _way(self.tree, node)
            if self.tree.kind[above] == MULTIWAY
        )

    def facts_of(self, node: int, here: CasesHere) -> dict[str, Any]:
        tree = self.tree
        facts: dict[str, Any] = {
            "way here": " and ".join(one.pretty() for one in tree.path_to(node)) or "all rows",
            "rows": int(tree.count[node]), "cases": float(tree.weight[node]),
            "entropy": float(tree.impurity[node]),
        }  # fmt: skip
        k = int(tree.value[node, 0].argmax())
        facts["answer"] = f"{self.label(k)} (share {number(float(tree.value[node, 0, k]))})"
        return facts

    def question(self, test: C45Test | None, feature: int) -> str:
        """Return a test in the words of the table."""
        column = self.columns[feature]
        if test is None:
            return column.name
        words = column.categories or ()
        if test.multiway:
            return f"{column.name}: a branch for each of {test.n_branches} values"
        if test.groups:
            sets = ["{" + ", ".join(format_category(words[c]) for c in sorted(group)[:4])
                    + (", …" if len(group) > 4 else "") + "}" for group in test.groups]  # fmt: skip
            return f"{column.name} in {' | '.join(sets)}"
        shown: Any = format_category(words[int(test.threshold)]) if words else test.threshold
        return Condition(feature, column.name, "<=", (shown,), kind=column.value_kind).pretty()

    def class_table(self, node: int, counts: np.ndarray, laplace: bool) -> Table:
        shares = (counts + laplace) / (counts + laplace).sum() if counts.sum() + laplace else counts
        lines = [(self.label(k), float(counts[k]), float(shares[k])) for k in range(len(counts))]
        best = frozenset([int(self.tree.value[node, 0].argmax())])
        return Table("Classes", ("class", "cases", "share"), lines, best)

    def entropy_formula(self, counts: np.ndarray, name: str = "H") -> Formula:
        total = float(counts.sum())
        shares = [f"{number(float(c))}/{number(total)}" for c in counts if c > 0]
        numbers = (
            "-(" + " + ".join(f"{s} log2 {s}" for s in shares) + ")" if len(shares) <= 8 else ""
        )
        return Formula(name, "-Σ p log2 p", numbers, entropy(counts) if total else 0.0)

    def gain_kept(self, node: int, here: CasesHere) -> Formula:
        """Return the decrease of entropy that the tree keeps: in shares of all cases, missing ones spread."""
        tree, whole = self.tree, self.whole
        before = here.weight * entropy(whole.at(here.rows, here.w).counts)
        after = 0.0
        for part in self.parts(tree, node, here):
            if part.weight > 0:
                after += part.weight * entropy(whole.at(part.rows, part.w).counts)
        total = float(tree.weight[0])
        value = max(before - after, 0.0) / total
        numbers = f"({number(before)} - {number(after)}) / {number(total)}"
        return Formula(
            "decrease", "(N·H - Σ N_v·H_v) / N_all, missing cases in fractions", numbers, value
        )

    def row(self, row: Any) -> Sheet:
        matrix, title, i = self.encoded(row)
        tree, x = self.tree, matrix.rows(0, 1)
        lines, ends = [], []
        waiting = [(0, 1.0)]
        while waiting:
            node, share = waiting.pop(0)
            if tree.is_leaf[node]:
                ends.append((node, share))
                lines.append((node, share, "a leaf", self.label(int(tree.value[node, 0].argmax()))))
                continue
            for child, part in self.goes(node, x[0]):
                if child == node:
                    ends.append((node, share))
                    lines.append((node, share, "it has no branch for this value", "stops here"))
                    break
                condition = tree.condition(node, child - int(tree.first_child[node]))
                lines.append(
                    (node, share * part, condition.pretty(max_categories=4), f"goes to {child}")
                )
                waiting.append((child, share * part))
        answer = np.sum([share * tree.value[node, 0] for node, share in ends], axis=0)
        k = int(answer.argmax())
        facts = {"answer": self.label(k), "share": float(answer[k])}
        if i is not None:
            facts["in training"] = truth_of(self.given.y, i)
        table = Table("The way down", ("node", "fraction", "because", "then"), lines, shown=40)
        shares = Table(
            "Leaves it reaches", ("leaf", "fraction", *(self.label(c) for c in range(len(answer)))),
            [(node, share, *tree.value[node, 0].tolist()) for node, share in ends],
        )  # fmt: skip
        formula = Formula(
            f"share of {self.label(k)}", "Σ fraction · share in the leaf",
            " + ".join(f"{number(s)} · {number(float(tree.value[n, 0, k]))}" for n, s in ends[:6])
            + (" + …" if len(ends) > 6 else ""), float(answer[k]),
        )  # fmt: skip
        return Sheet(
            f"{title} in a {self.name}",
            facts,
            [formula],
            [self.values_table(matrix), table, shares],
        )

    def goes(self, node: int, x: np.ndarray) -> list[tuple[int, float]]:
        """Return the children a row goes to, each with its share; the node itself if it stops."""
        tree, f = self.tree, int(self.tree.feature[node])
        first, value = int(tree.first_child[node]), float(x[f])
        branch = int(self.test_of(tree, node).branches(np.array([value]))[0])
        if branch >= 0:
            return [(first + branch, 1.0)]
        if tree.missing_child[node] >= 0:
            return [(first + int(tree.missing_child[node]), 1.0)]
        children = range(first, first + int(tree.n_children[node]))
        return [(c, float(tree.share[c])) for c in children if tree.share[c] > 0]

    def row_facts(self, matrix: Any) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        for f, column in enumerate(self.columns):
            value = float(matrix.column(f)[0])
            words = column.categories
            if np.isnan(value):
                facts[column.name] = "missing"
            else:
                facts[column.name] = value if words is None else format_category(words[int(value)])
        return facts


class C45Family(_CaseFamily):
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

    def at(self, node: int, tree: Tree | None = None) -> CasesHere:
        tree = self.tree if tree is None else tree
        rows = np.arange(len(self.whole.y))
        if getattr(self.model, "pruning", None) == "reduced_error":
            rows = np.sort(self._held_out[0])
        here = CasesHere(rows, self.whole.w[rows])
        for above, place in _way(tree, node):
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
                    "This test was not chosen for these cases: pruning raised the branch that asks it, and with it more "
                    "cases came here."
                )
            notes.append(self._missing_note(asked, cases))
        else:
            notes.append(f"It is a leaf: {self._why_leaf(k, cases, choice)}.")
        counted = "1e6, nothing counts" if average >= 1e6 else number(average)
        notes.append(
            f"The average gain of the admissible tests is {counted}" + (": only tests of at least that compete."
            if self.settings.gate else "; the gate is off, all admissible tests compete.")
        )  # fmt: skip
        marked = frozenset(
            i
            for i, c in enumerate(self._sorted(table))
            if asked is not None and c.feature == asked.feature
        )
        lines = [self._line(c) for c in self._sorted(table)]
        header = ("test", "branches", "missing", "gain", "charge", "split info", "ratio", "verdict")
        return Sheet(
            f"node {k} of the tree: {what}", self.facts_of(k, here), formulas,
            [Table("Best test of every column", header, lines, marked, optional=_OPTIONAL)], notes,
        )  # fmt: skip

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
            self.question(c.test, c.feature), weights, c.missing, c.gain, c.charge, c.split_information, c.ratio,
            c.verdict,
        )  # fmt: skip

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
                "gain", "known share · (H(known) - Σ N_v/N · H(v))",
                f"{number(n_known)}/{number(total)} · ({number(h_known)} - {shown})", gain,
            )
        ]  # fmt: skip
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
        numbers = (
            "-("
            + " + ".join(f"{number(w)}/{number(total)} log2" for w in split[:6])
            + (" …)" if len(split) > 6 else ")")
        )
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
        return f"{weight} cases miss {name} and go down every branch, to each by its share of the known cases."

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
        mine = [d for d in self._decisions if d.path == _branches(self.tree, k)]
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

    def _decision_table(self, decisions: list[Decision], title: str) -> Table:
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
        return Table(title, header, lines, shown=40)

    def _path_words(self, path: tuple[int, ...]) -> str:
        return "the root" if not path else "branch " + ".".join(map(str, path))

    def pruning(self) -> Sheet:
        model = self.model
        if model.pruning == "reduced_error" and not isinstance(model.random_state, Integral):
            raise self.refuse("pruning")
        full = sum(1 for _ in self._full)
        facts: dict[str, Any] = {
            "nodes of the full tree": full, "nodes after collapsing": sum(1 for _ in self._collapsed[0]),
            "nodes of the model": len(self.tree), "pruning": model.pruning or "none",
        }  # fmt: skip
        if model.pruning == "error":
            facts |= {"confidence": float(model.confidence), "limit": model.error_limit}
        notes = [
            "Branches are numbered from 0 on the way from the root, in the tree as it stood; children are decided first.",
            "A node becomes a leaf, or its largest branch takes its place, if that is at most 0.1 errors worse."
            if model.pruning == "error"
            else "Errors are counted on the rows that were held out." if model.pruning else "Nothing was pruned.",
        ]  # fmt: skip
        tables = [self._decision_table(self._decisions, "Decisions, leaves first")]
        return Sheet("pruning by errors", facts, tables=tables, notes=notes)


class ID3Family(_CaseFamily):
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
            (self.columns[c.feature].name, len(c.figures.branches), c.figures.conditional, c.gain,
             "wins" if c.feature == asked else c.verdict)
            for c in table
        ]  # fmt: skip
        tables = [
            Table("Gain of every column", ("column", "values", "H(D|A)", "gain", "verdict"), lines,
                  frozenset(i for i, c in enumerate(table) if c.feature == asked))
        ]  # fmt: skip
        if asked is not None:
            winner = next(c for c in table if c.feature == asked)
            terms = [f"{number(b.share)} · {number(b.entropy)}" for b in winner.figures.branches]
            shown = " + ".join(terms[:6]) + (" + …" if len(terms) > 6 else "")
            formulas += [
                Formula("H(D|A)", "Σ |D_v|/|D| · H(D_v)", shown, winner.figures.conditional),
                Formula("gain", "H(D) - H(D|A)", f"{number(winner.figures.entropy)} - {number(winner.figures.conditional)}", winner.gain),
                self.gain_kept(k, here),
            ]  # fmt: skip
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
                Table(
                    f"Branches of {self.columns[asked].name}",
                    ("value", "share", "entropy"),
                    branches,
                )
            )
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
        return (
            f"no gain exceeds epsilon={number(float(m.epsilon))}"
            if choice is None
            else "nothing better was found"
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


class RulesFamily(_CaseFamily):
    """C4.5's rules: a list that is asked from the top."""

    answers: ClassVar = ("leaf", "row")
    without: ClassVar = {
        "node": "rules are a list, not a tree: ask .leaf(0, number of the rule)",
        "round": "rules are not made in rounds",
        "oob": "all rows make the rules, none is out of bag",
        "pruning": "conditions of rules are dropped one by one: .leaf(0, number of the rule) shows what each would cost",
    }

    @property
    def columns(self) -> Any:
        return self.model.schema_.columns

    @property
    def trees(self) -> list[Tree]:
        return []

    def overview(self) -> Sheet:
        m = self.model
        lines = [
            (i, " and ".join(c.pretty(max_categories=4) for c in rule.conditions), format_category(rule.prediction),
             rule.weight, rule.errors, rule.accuracy)
            for i, rule in enumerate(m.rules_)
        ]  # fmt: skip
        header = ("rule", "if", "then", "covers", "wrong", "accuracy")
        return Sheet(
            f"worksheet of a {self.name}",
            {"rows": self.n_rows, "rules": len(m.rules_), "default": format_category(m.default_)},
            tables=[Table("Rules, asked in this order", header, lines)], notes=[self.menu()],
        )  # fmt: skip

    def _conditions(self, rule: Any) -> tuple[RuleCondition, ...]:
        found = []
        for test in rule.tests:
            value: Any = float(test.bound)
            if test.operator == "=":
                value = float(test.codes[0])
            elif test.operator == "in":
                value = frozenset(test.codes)
            found.append(RuleCondition(test.feature, test.operator, value))
        return tuple(found)

    def leaf(self, tree: Any, leaf: Any) -> Sheet:
        from arboretum.explain.worksheet.family import index_of

        m = self.model
        k = index_of(leaf, len(m.rules_), ("rule", "rules"), self.name)
        rule, conditions = m.rules_[k], self._conditions(m.rules_[k])
        cf, limit = float(m.confidence), m.error_limit
        found, steps = generalise(conditions, rule.answer, self.whole, cf, limit)
        step = steps[0]
        n, e = step.cases, max(step.errors, 0.0)
        lines = [
            (said.pretty(max_categories=4), rate, "stays" if step.dropped != c else "could go")
            for said, c, rate in zip(rule.conditions, conditions, step.without, strict=True)
        ]
        counts = np.array(found.counts) if len(steps) == 1 else np.array(rule.counts)
        prior = m.class_prior_
        shares = (counts + prior) / (counts.sum() + 1)
        more = extra_errors(n, e, cf, limit)
        formulas = [
            Formula("errors", "N - n_class", f"{number(n)} - {number(n - e)}", e),
            Formula("pessimistic rate", f"U_CF(e, N), CF = {number(cf)}, {limit}",
                    f"({number(e)} + {number(more)}) / {number(n)}", step.rate),
            Formula("accuracy", "1 - pessimistic rate", f"1 - {number(step.rate)}", 1 - step.rate),
            Formula("bits", "what naming its conditions costs", "", rule_bits(conditions, self.whole)),
        ]  # fmt: skip
        classes = [
            (self.label(c), float(counts[c]), float(prior[c]), float(shares[c]))
            for c in range(len(counts))
        ]
        facts = {
            "if": " and ".join(c.pretty() for c in rule.conditions), "then": format_category(rule.prediction),
            "covers": rule.weight, "wrong": rule.errors, "accuracy": rule.accuracy,
        }  # fmt: skip
        tables = [
            Table("Conditions: the pessimistic rate without each", ("condition", "rate without it", "verdict"), lines),
            Table("Classes: (n_k + prior) / (N + 1)", ("class", "cases", "prior", "share"), classes,
                  frozenset([int(shares.argmax())])),
        ]  # fmt: skip
        return Sheet(f"rule {k} of a {self.name}", facts, formulas, tables)

    def row(self, row: Any) -> Sheet:
        matrix, title, i = self.encoded(row)
        m, x = self.model, matrix.rows(0, 1)
        lines, fired = [], -1
        for k, rule in enumerate(m.rules_):
            failed = next(
                (said.pretty(max_categories=4) for said, test in zip(rule.conditions, rule.tests, strict=True)
                 if not bool(test.holds(x[:, test.feature])[0])), None,
            )  # fmt: skip
            lines.append(
                (
                    k,
                    format_category(rule.prediction),
                    "covers the row" if failed is None else f"not {failed}",
                )
            )
            if failed is None:
                fired = k
                break
        shares = m._shares()[fired]
        answer = m.classes_[m.rules_[fired].answer if fired >= 0 else m._default_answer]
        facts: dict[str, Any] = {
            "answer": format_category(answer),
            "rule": fired if fired >= 0 else "none: the default class",
        }
        if i is not None:
            facts["in training"] = truth_of(self.given.y, i)
        tables = [
            self.values_table(matrix),
            Table(
                "Rules, from the top",
                ("rule", "class", "why"),
                lines,
                frozenset([fired] if fired >= 0 else []),
                shown=40,
            ),
            Table(
                "Class shares",
                ("class", "share"),
                [(self.label(c), float(s)) for c, s in enumerate(shares)],
            ),
        ]
        parts = [self.leaf(0, fired)] if fired >= 0 else []
        return Sheet(f"{title} in a {self.name}", facts, tables=tables, parts=parts)


# ---------------------------------------------------------------------- helpers
def _learn(twin: Any, given: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return class codes and weights of all rows, as the fit took them."""
    from arboretum.base.class_weight import with_class_weight
    from arboretum.data.target import weights

    codes = twin._learn_classes(given.y, n_rows)
    w = weights(given.sample_weight, n_rows)
    if twin.class_weight is not None:
        w = with_class_weight(twin.class_weight, [twin.classes_], codes, w)
    return codes[:, 0], np.ones(n_rows) if w is None else w


def _way(tree: Tree, node: int) -> list[tuple[int, int]]:
    """Return the nodes above a node, each with the place of the child that leads there."""
    way = []
    while node:
        above = int(tree.parent[node])
        way.append((above, node - int(tree.first_child[above])))
        node = above
    return way[::-1]


def _branches(tree: Tree, node: int) -> tuple[int, ...]:
    return tuple(place for _, place in _way(tree, node))


def replace_parameters(model: Any, **changed: Any) -> Any:
    """Return a copy of a model with other parameters."""
    import copy

    twin = copy.copy(model)
    vars(twin).update(changed)
    return twin
