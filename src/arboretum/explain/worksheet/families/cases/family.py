"""What trees of cases share: a case is a row with a weight, and may be at several nodes in fractions.

The cases of a node are found by going down the fitted tree with the textbook's `spread`; what its columns
offered there is worked out anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from arboretum.explain.worksheet.family import Family, check_rows_of, class_names, same_classes
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Formula, Sheet, SheetTable
from arboretum.lazy import cached_property
from arboretum.structure.condition import Condition, format_category
from arboretum.structure.tree import GROUPS, MULTIWAY, Tree
from arboretum.textbook.c45 import spread
from arboretum.textbook.c45_splits import C45Test
from arboretum.textbook.id3 import Cases, gather_cases
from arboretum.textbook.impurities import entropy

__all__ = ["CaseFamily", "CasesHere", "branches_to", "way_to"]


@dataclass(frozen=True, eq=False)
class CasesHere:
    """The cases of a node: rows, and the fraction of each that is here."""

    rows: np.ndarray
    w: np.ndarray

    @property
    def weight(self) -> float:
        return float(self.w.sum())


class CaseFamily(Family):
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
        cases = gather_cases(X, codes, w, sizes, len(model.classes_))
        if hasattr(model, "tree_") and getattr(model, "pruning", None) != "reduced_error":
            check_rows_of(len(cases.y), int(model.tree_.count[0]), self.name)
        return cases

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
        for above, place in way_to(tree, node):
            here = self.parts(tree, above, here)[place]
        return here

    def used(self, node: int) -> frozenset[int]:
        """Return the columns whose multiway test was made further up."""
        return frozenset(
            int(self.tree.feature[above])
            for above, _ in way_to(self.tree, node)
            if self.tree.kind[above] == MULTIWAY
        )

    def facts_of(self, node: int, here: CasesHere) -> dict[str, Any]:
        tree = self.tree
        facts: dict[str, Any] = {
            "path": " and ".join(one.pretty() for one in tree.path_to(node)) or "all rows",
            "rows": int(tree.count[node]),
            "cases": float(tree.weight[node]),
            "entropy": float(tree.impurity[node]),
        }
        k = int(tree.value[node, 0].argmax())
        facts["answer"] = f"{self.label(k)} (probability {number(float(tree.value[node, 0, k]))})"
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
            sets = [
                "{"
                + ", ".join(format_category(words[c]) for c in sorted(group)[:4])
                + (", …" if len(group) > 4 else "")
                + "}"
                for group in test.groups
            ]
            return f"{column.name} in {' | '.join(sets)}"
        shown: Any = format_category(words[int(test.threshold)]) if words else test.threshold
        return Condition(feature, column.name, "<=", (shown,), kind=column.value_kind).pretty()

    def class_table(self, node: int, counts: np.ndarray, laplace: bool) -> SheetTable:
        shares = (counts + laplace) / (counts + laplace).sum() if counts.sum() + laplace else counts
        lines = [(self.label(k), float(counts[k]), float(shares[k])) for k in range(len(counts))]
        best = frozenset([int(self.tree.value[node, 0].argmax())])
        return SheetTable("Classes", ("class", "cases", "share"), lines, best)

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
        facts = {"answer": self.label(k), f"probability of {self.label(k)}": float(answer[k])}
        facts |= self.truth(i)
        table = SheetTable("The way down", ("node", "fraction", "because", "then"), lines, shown=40)
        shares = SheetTable(
            "Leaves it reaches",
            ("leaf", "fraction", *(self.label(c) for c in range(len(answer)))),
            [(node, share, *tree.value[node, 0].tolist()) for node, share in ends],
        )
        formula = Formula(
            f"probability of {self.label(k)}",
            "Σ fraction · share in the leaf",
            " + ".join(f"{number(s)} · {number(float(tree.value[n, 0, k]))}" for n, s in ends[:6])
            + (" + …" if len(ends) > 6 else ""),
            float(answer[k]),
        )
        return Sheet(
            f"{title} in {self.name}",
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


def _learn(twin: Any, given: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return class codes and weights of all rows, as the fit took them."""
    from arboretum.base.class_weight import with_class_weight
    from arboretum.data.target import weights

    codes = twin._learn_classes(given.y, n_rows)
    w = weights(given.sample_weight, n_rows)
    if twin.class_weight is not None:
        w = with_class_weight(twin.class_weight, [twin.classes_], codes, w)
    return codes[:, 0], np.ones(n_rows) if w is None else w


def way_to(tree: Tree, node: int) -> list[tuple[int, int]]:
    """Return the nodes above a node, each with the place of the child that leads there."""
    way = []
    while node:
        above = int(tree.parent[node])
        way.append((above, node - int(tree.first_child[above])))
        node = above
    return way[::-1]


def branches_to(tree: Tree, node: int) -> tuple[int, ...]:
    """Return the places of the children on the way to a node."""
    return tuple(place for _, place in way_to(tree, node))
