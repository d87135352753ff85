"""What trees of cases share: a case is a row with a weight, and may be at several nodes in fractions.

The cases of a node are found by going down the fitted tree with the textbook's `spread`; what its columns
offered there is worked out anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.explain.worksheet.family import check_rows_of, class_names
from arboretum.explain.worksheet.journey import way_to
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Sheet, SheetTable
from arboretum.lazy import cached_property
from arboretum.structure.condition import Condition, format_category
from arboretum.structure.tree import GROUPS, MULTIWAY, Tree
from arboretum.textbook.c45 import spread
from arboretum.textbook.c45_splits import C45Test
from arboretum.textbook.id3 import Cases, gather_cases
from arboretum.textbook.impurities import entropy

if TYPE_CHECKING:
    from arboretum.explain.worksheet.family import Family

__all__ = ["CaseTree", "CasesHere", "branches_to"]


@dataclass(frozen=True, eq=False)
class CasesHere:
    """The cases of a node: rows, and the fraction of each that is here."""

    rows: np.ndarray
    w: np.ndarray

    @property
    def weight(self) -> float:
        return float(self.w.sum())


class CaseTree:
    """The cases of a model, and its tree.

    Parameters
    ----------
    family : Family
        The model with its table.
    """

    def __init__(self, family: Family) -> None:
        self.family, self.model = family, family.model
        self.columns = self.tree.schema.columns if self.has_tree else self.model.schema_.columns

    @property
    def has_tree(self) -> bool:
        """Whether the model keeps its tree; rules do not."""
        return bool(self.family.anatomy.trees)

    @property
    def _learned(self) -> tuple[np.ndarray, np.ndarray]:
        """Class codes and weights of all rows, as the fit took them."""
        codes, _, w, _ = self.family.learned
        return codes, np.ones(len(codes)) if w is None else w

    @cached_property
    def whole(self) -> Cases:
        """All cases of the training, in numbers; rows of weight 0 are left out."""
        family, model = self.family, self.model
        X = family.matrix.rows(0, family.n_rows)
        sizes = [len(c.categories or ()) if c.kind == "categorical" else 0 for c in self.columns]
        cases = gather_cases(X, *self._learned, sizes, len(model.classes_))
        if self.has_tree and not self.holds_out:
            check_rows_of(len(cases.y), int(model.tree_.count[0]), family.name)
        return cases

    @property
    def holds_out(self) -> bool:
        """Whether rows were held out for pruning."""
        return self.family.anatomy.recipe.held_out is not None

    @cached_property
    def held_out(self) -> tuple[np.ndarray, np.ndarray]:
        """The cases that the tree was grown on, and those held out for pruning."""
        if not isinstance(self.model.random_state, Integral):
            raise self.family.refuse("pruning")
        hold_out: Any = self.family.anatomy.recipe.held_out
        return hold_out(self.whole.y, None)

    @cached_property
    def grown_on(self) -> np.ndarray:
        """The numbers of the cases that the tree was grown on."""
        return np.sort(self.held_out[0]) if self.holds_out else np.arange(len(self.whole.y))

    @cached_property
    def kept(self) -> np.ndarray:
        """The numbers of the rows that count."""
        return np.flatnonzero(self._learned[1] > 0)

    @property
    def tree(self) -> Tree:
        return self.model.tree_

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

    def at(self, node: int) -> CasesHere:
        """Return the cases of a node."""
        here = CasesHere(self.grown_on, self.whole.w[self.grown_on])
        for above, place in way_to_node(self.tree, node):
            here = self.parts(self.tree, above, here)[place]
        return here

    def used(self, node: int) -> frozenset[int]:
        """Return the columns whose multiway test was made further up."""
        return frozenset(
            int(self.tree.feature[above])
            for above, _ in way_to_node(self.tree, node)
            if self.tree.kind[above] == MULTIWAY
        )

    def facts_of(self, node: int) -> dict[str, Any]:
        tree = self.tree
        facts: dict[str, Any] = {
            "path": way_to(tree, node),
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

    # ------------------------------------------------------------------ sheets
    def sheet_of(self, node: int, what: str) -> Sheet:
        """Return a sheet with the facts of a node; ``what`` it is: "node" or "leaf"."""
        title = f"{what} {node} of the tree"
        if what == "node":
            tree, shown = self.tree, "a leaf"
            if not tree.is_leaf[node]:
                several = tree.kind[node] == MULTIWAY
                name = self.columns[int(tree.feature[node])].name
                shown = (name if several else tree.condition(node, 0).pretty()) + "?"
            title += f": {shown}"
        sheet = Sheet(title, self.facts_of(node))
        if self.at(node).weight <= 0:
            sheet.notes.append("No case came here: it answers as its parent.")
        return sheet

    def add_answer(self, sheet: Sheet, node: int, counts: np.ndarray) -> None:
        """Write the answer of a leaf, and a table of its classes."""
        laplace, best, n = bool(self.model.laplace), int(counts.argmax()), float(counts.sum())
        rule, numbers = "n_k / N", f"{number(float(counts[best]))} / {number(n)}"
        value = (float(counts[best]) + laplace) / (n + laplace * len(counts))
        if laplace:
            rule = "(n_k + 1) / (N + K), Laplace"
            numbers = f"({number(float(counts[best]))} + 1) / ({number(n)} + {len(counts)})"
        sheet.add_formula(f"probability of {self.label(best)}", rule, numbers, value)
        shares = (counts + laplace) / (n + laplace * len(counts))
        lines = [(self.label(k), float(counts[k]), float(shares[k])) for k in range(len(counts))]
        marked = [int(self.tree.value[node, 0].argmax())]
        sheet.add_table("Classes", "class | cases | probability", lines, marked)

    def add_entropy(self, sheet: Sheet, counts: np.ndarray, name: str = "H") -> None:
        total = float(counts.sum())
        terms = [f"{number(float(c))}/{number(total)}" for c in counts if c > 0]
        numbers = "-(" + " + ".join(f"{s} log2 {s}" for s in terms) + ")" if len(terms) <= 8 else ""
        sheet.add_formula(name, "-Σ p log2 p", numbers, entropy(counts) if total else 0.0)

    def add_decrease(self, sheet: Sheet, node: int) -> None:
        """Write the decrease of entropy that the tree keeps: in shares of all cases, missing ones spread."""
        tree, whole, here = self.tree, self.whole, self.at(node)
        before = here.weight * entropy(whole.at(here.rows, here.w).counts)
        after = 0.0
        for part in self.parts(tree, node, here):
            if part.weight > 0:
                after += part.weight * entropy(whole.at(part.rows, part.w).counts)
        total = float(tree.weight[0])
        rule = "(N·H - Σ N_v·H_v) / N_all, missing cases in fractions"
        numbers = f"({number(before)} - {number(after)}) / {number(total)}"
        sheet.add_formula("decrease", rule, numbers, max(before - after, 0.0) / total)

    def row(self, row: Any) -> Sheet:
        """Return the journey of a row: in fractions, where a value is missing."""
        sheet, matrix, i = self.family.row_sheet(row)
        tree, x = self.tree, matrix.rows(0, 1)
        lines: list[tuple[Any, ...]] = []
        ends: list[tuple[int, float]] = []
        waiting = [(0, 1.0)]
        while waiting:
            node, share = waiting.pop(0)
            if tree.is_leaf[node]:
                ends.append((node, share))
                label = self.label(int(tree.value[node, 0].argmax()))
                lines.append((node, share, "a leaf", label))
                continue
            for child, part in self.goes(node, x[0]):
                if child == node:
                    ends.append((node, share))
                    lines.append((node, share, "it has no branch for this value", "stops here"))
                    break
                condition = tree.condition(node, child - int(tree.first_child[node]))
                because = condition.pretty(max_categories=4)
                lines.append((node, share * part, because, f"goes to {child}"))
                waiting.append((child, share * part))
        answer = np.sum([share * tree.value[node, 0] for node, share in ends], axis=0)
        k = int(answer.argmax())
        name, value = f"probability of {self.label(k)}", float(answer[k])
        sheet.facts = {"answer": self.label(k), name: value, **self.family.truth(i)}
        terms = [f"{number(s)} · {number(float(tree.value[n, 0, k]))}" for n, s in ends]
        numbers = " + ".join(terms[:6]) + (" + …" if len(ends) > 6 else "")
        sheet.add_formula(name, "Σ fraction · probability in the leaf", numbers, value)
        sheet.add_table("The way down", "node | fraction | because | then", lines, shown=40)
        header = ["leaf", "fraction", *(self.label(c) for c in range(len(answer)))]
        rows = [(node, share, *tree.value[node, 0].tolist()) for node, share in ends]
        sheet.tables.append(SheetTable("Leaves it reaches", header, rows))
        return sheet

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


def way_to_node(tree: Tree, node: int) -> list[tuple[int, int]]:
    """Return the nodes above a node, each with the place of the child that leads there."""
    way = []
    while node:
        above = int(tree.parent[node])
        way.append((above, node - int(tree.first_child[above])))
        node = above
    return way[::-1]


def branches_to(tree: Tree, node: int) -> tuple[int, ...]:
    """Return the places of the children on the way to a node."""
    return tuple(place for _, place in way_to_node(tree, node))
