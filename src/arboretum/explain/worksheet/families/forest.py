"""Worksheets of forests and ExtraTrees: bags, drawn columns, votes, out of bag, neighbours by proximity.

A tree's bag and what its nodes drew are hashes of (seed, tree, node): they are drawn again, not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.base.sampling import growing_key
from arboretum.explain.worksheet.families.cart import draw_of, textbook_rules
from arboretum.explain.worksheet.family import (
    Family,
    as_python,
    check_rows_of,
    class_names,
    truth_of,
)
from arboretum.explain.worksheet.grown import Names, ShownTree
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Sheet, SheetTable
from arboretum.lazy import cached_property
from arboretum.predict.walk import leaves_of
from arboretum.textbook.forest_figures import out_of_bag

if TYPE_CHECKING:
    from arboretum.explain.worksheet.families.combine import BagFamily
    from arboretum.forest.growing import Plan

__all__ = [
    "Answers",
    "ForestFamily",
    "add_bag",
    "bagged_tree",
    "counts_of",
    "oob_sheet",
    "row_of_trees",
]

_NEIGHBOURS = 8
_CURVE = 30  # points of a curve that are shown


class ForestFamily(Family):
    """Many independent trees."""

    kind = "forest"

    def __init__(self, model: Any, given: Any) -> None:
        super().__init__(model, given)
        self.tree_of = lru_cache(maxsize=4)(self._tree_of)

    # ------------------------------------------------------------------ trees and bags
    @property
    def bags(self) -> Any:
        """The rows that the trees were given."""
        bags = self.anatomy.bags
        assert bags is not None
        check_rows_of(self.n_rows, bags.n_rows, self.name)
        return bags

    @cached_property
    def plan(self) -> Plan:
        """How the trees were grown, from the same table."""
        check_rows_of(self.n_rows, self.bags.n_rows, self.name)
        learned = self.learned
        return self.anatomy.recipe.steps["plan"](self.matrix, learned.target, learned.weight)

    @property
    def criterion(self) -> str:
        return self.anatomy.recipe.criterion

    def _tree_of(self, t: int) -> ShownTree:
        return bagged_tree(self, self.plan, t)

    def more_facts(self) -> dict[str, Any]:
        facts = {"criterion": self.criterion, "columns drawn at a node": self.model.max_features_}
        if self.anatomy.history.oob_score is not None:
            facts["out-of-bag score"] = self.anatomy.history.oob_score
        return facts

    # ------------------------------------------------------------------ answers
    def node_sheet(self, t: int, node: int) -> Sheet:
        sheet = self.tree_of(t).node(node)
        add_bag(sheet, self.bags, t)
        return sheet

    def leaf_sheet(self, t: int, leaf: int) -> Sheet:
        sheet = self.tree_of(t).leaf(leaf)
        add_bag(sheet, self.bags, t)
        return sheet

    def row(self, row: Any) -> Sheet:
        return row_of_trees(self, row)

    def oob(self) -> Sheet:
        return oob_sheet(self, self.plan)


def bagged_tree(family: ForestFamily | BagFamily, plan: Plan, t: int) -> ShownTree:
    """Return a tree with the rows of its bag."""
    how, model = plan.growth, family.model
    alpha = how.ccp_alpha
    return ShownTree(
        family.trees[t],
        family.matrix,
        plan.target.y,
        plan.weight(t),
        textbook_rules(how, family.criterion, family.schema, plan.target),
        Names(f"tree {t}", classes=class_names(model)),
        draw_of(how, model.n_features_in_, growing_key(plan.bags.seed, t)),
        pruned=f"what was below it was pruned (α = {number(alpha)})" if alpha else "",
        n_jobs=family.threads,
    )


def add_bag(sheet: Sheet, bags: Any, t: int) -> None:
    """Write which rows the bag of a tree holds."""
    counts = bags.counts(t)
    if np.all(counts == 1):
        return
    times = "" if getattr(bags, "by_weight", False) else ", times its weight"
    sheet.notes.append(
        f"The bag of tree {t} holds {int(np.count_nonzero(counts))} of {len(counts)} rows in "
        f"{int(counts.sum())} draws; a row weighs as often as it was drawn{times}."
    )


# ---------------------------------------------------------------------- a row
class Answers:
    """Answers of many members to one row, and what they are called.

    Parameters
    ----------
    family : Family
    values : array of shape (members, width)
    counts : int array or None
        How often every member's bag holds the row; None for new rows and without bags.
    """

    def __init__(self, family: Family, values: np.ndarray, counts: np.ndarray | None) -> None:
        self.values, self.counts = values, counts
        classes = class_names(family.model)
        width = values.shape[1]
        self.classes = classes if classes is not None and width == len(classes) else None
        if self.classes is None:
            self.names = ["value" if width == 1 else "values"]
        else:
            self.names = [str(c) for c in classes] if width <= 4 else ["class", "probability"]

    def cells(self, value: np.ndarray) -> list[Any]:
        """Return an answer as the cells of a table."""
        if self.classes is None:
            return [float(value[0])] if len(value) == 1 else [value.tolist()]
        if len(value) <= 4:
            return [float(x) for x in value]
        return [str(self.classes[int(value.argmax())]), float(value.max())]

    def add_lines(
        self, sheet: Sheet, title: str, first: str, ends: Sequence[tuple[int, ...]]
    ) -> None:
        """Write a line for every member, and the mean of the answers so far; ``ends`` open the lines."""
        running = np.cumsum(self.values, axis=0) / np.arange(1, len(self.values) + 1)[:, None]
        lines = []
        for k, (value, mean) in enumerate(zip(self.values, running, strict=True)):
            bag = () if self.counts is None else (int(self.counts[k]),)
            lines.append((*ends[k], *bag, *self.cells(value), *self.cells(mean)))
        bag_name = [] if self.counts is None else ["times in bag"]
        names = [*bag_name, *self.names, *(f"mean {name}" for name in self.names)]
        header = [*first.split(" | "), *names]
        sheet.tables.append(SheetTable(title, header, lines, shown=40))

    def add_mean(self, sheet: Sheet, final: np.ndarray) -> None:
        """Write the answer that all of them come to."""
        k, n = int(final.argmax()), len(self.values)
        name, answer = "answer", float(final[0]) if len(final) == 1 else final.tolist()
        if self.classes is not None:
            name, label = f"probability of {self.classes[k]}", self.classes[k]
            sheet.facts["answer"] = as_python(label)
            sheet.facts[name] = float(final[k])
        else:
            sheet.facts["answer"] = answer
        total = number(float(self.values[:, k].sum()))
        rule = "Σ over trees / number of trees"
        sheet.add_formula(name, rule, f"{total} / {n}", float(final[k]))

    def add_votes(self, sheet: Sheet) -> None:
        """Write how many members give what answer, those that have seen the row and those that have not."""
        groups = {"all trees": np.ones(len(self.values), bool)}
        if self.counts is not None:
            groups |= {"in bag": self.counts > 0, "out of bag": self.counts == 0}
        elif self.classes is None:
            return
        if self.classes is not None:
            votes, width = self.values.argmax(axis=1), len(self.classes)
            lines = [
                (name, int(some.sum()), *np.bincount(votes[some], minlength=width).tolist())
                for name, some in groups.items()
            ]
            header = ["", "trees", *map(str, self.classes)]
            sheet.tables.append(SheetTable("Votes", header, lines))
            return
        means = [
            (name, int(some.sum()), float(self.values[some, 0].mean()) if some.any() else None)
            for name, some in groups.items()
        ]
        sheet.add_table("In and out of bag", " | trees | mean", means)


def row_of_trees(family: ForestFamily | BagFamily, row: Any) -> Sheet:
    """Return the journey of a row through independent trees: answers, votes, neighbours."""
    sheet, matrix, i = family.row_sheet(row)
    ensemble = family.model.ensemble_
    leaves = ensemble.leaves(matrix, 1)[0]
    pairs = zip(ensemble.terms.values, leaves, strict=True)
    values = np.array([v[leaf] for v, leaf in pairs])
    answers = Answers(family, values, None if i is None else counts_of(family.bags, len(values), i))
    answers.add_mean(sheet, ensemble.answers(matrix, 1).ravel())
    sheet.facts |= {"trees": len(leaves), **family.truth(i)}
    ends = list(enumerate(leaves.tolist()))
    answers.add_lines(sheet, "Tree by tree", "tree | leaf", ends)
    answers.add_votes(sheet)
    _add_neighbours(sheet, family, leaves, i)
    family.add_way(sheet, matrix, 0)
    return sheet


def counts_of(bags: Any, n_bags: int, i: int) -> np.ndarray | None:
    """Return how often every bag holds a training row; None where all hold it once."""
    counts = np.array([bags.counts(t)[i] for t in range(n_bags)])
    return None if np.all(counts == 1) else counts


def _add_neighbours(sheet: Sheet, family: Family, leaves: np.ndarray, i: int | None) -> None:
    """Write the training rows that share most leaves with a row: its proximity."""
    shared = np.zeros(family.n_rows, np.int64)
    for tree, leaf in zip(family.trees, leaves, strict=True):
        shared += leaves_of(tree, family.matrix, family.threads) == leaf
    if i is not None:
        shared[i] = -1
    lines = [
        (r, truth_of(family.given.y, r), int(shared[r]), shared[r] / len(leaves))
        for r in np.argsort(-shared, kind="stable")[:_NEIGHBOURS].tolist()
        if shared[r] > 0
    ]
    title = "Nearest training rows, by proximity"
    sheet.add_table(title, "row | y | leaves shared | proximity", lines)


# ---------------------------------------------------------------------- out of bag
def oob_sheet(family: Family, plan: Plan) -> Sheet:
    """Return rows as trees predict them that have not seen them."""
    model, n_trees = family.model, len(family.trees)
    in_bag = np.array([plan.bags.counts(t) for t in range(n_trees)])
    if not (in_bag == 0).any():
        raise family.refuse("oob")
    sheet = Sheet(f"out-of-bag answers of {family.name}", {"trees": n_trees})
    target, classes = plan.target, plan.target.classes is not None
    if target.outputs > 1:
        sheet.facts["rows some tree has not seen"] = int((in_bag == 0).any(axis=0).sum())
        sheet.notes.append("The model has several outputs.")
    else:
        values = model.ensemble_.terms.values
        leaves = model.ensemble_.leaves(family.matrix, family.threads)
        answers = np.stack([value[leaves[:, t]] for t, value in enumerate(values)])
        _add_errors(sheet, answers, in_bag, target.y[:, 0], classes=classes)
        _add_worst(sheet, out_of_bag(answers, in_bag, classes), target.y[:, 0], class_names(model))
    if family.anatomy.history.oob_score is not None:
        sheet.facts["oob_score_ of the model"] = family.anatomy.history.oob_score
    return sheet


def _add_errors(
    sheet: Sheet, answers: np.ndarray, in_bag: np.ndarray, y: np.ndarray, *, classes: bool
) -> None:
    """Write the error of the forest, and how it fell tree by tree."""
    n_trees, found = len(answers), out_of_bag(answers, in_bag, classes)
    error, covered = found.error(y), int(found.covered.sum())
    sheet.facts |= {"rows": len(y), "rows some tree has not seen": covered}
    sheet.facts |= {"error": error, "score": found.score(y)}
    rule = "wrong rows / covered rows" if classes else "Σ (answer - y)² / covered rows"
    sheet.add_formula("error", rule, f"{number(error * covered)} / {covered}", error)
    points, curve = np.linspace(1, n_trees, min(n_trees, _CURVE)).astype(int), []
    for k in np.unique(points).tolist():
        part = out_of_bag(answers[:k], in_bag[:k], classes)
        curve.append((k, int(part.covered.sum()), part.error(y)))
    header = "trees | rows covered | error"
    sheet.add_table("Error of the first trees together", header, curve, shown=_CURVE)
    sheet.notes.append(
        "A row is judged by the trees whose bag lacks it; rows that every tree has seen count nowhere."
    )


def _add_worst(sheet: Sheet, found: Any, y: np.ndarray, names: Any) -> None:
    """Write the rows that the out-of-bag answer gets most wrong."""
    decision, rows = found.decision, np.flatnonzero(found.covered)
    classes = y.dtype.kind in "iu"
    loss = 1 - decision[rows, y[rows]] if classes else np.abs(decision[rows, 0] - y[rows])
    lines: list[tuple[Any, ...]] = []
    for r in rows[np.argsort(-loss, kind="stable")[:10]].tolist():
        if classes:
            pair = [int(y[r]), int(found.prediction[r])]
            labels = pair if names is None else [str(names[k]) for k in pair]
            lines.append((r, int(found.n_trees[r]), *labels, float(decision[r, y[r]])))
        else:
            answer, actual = float(decision[r, 0]), float(y[r])
            lines.append((r, int(found.n_trees[r]), actual, answer, answer - actual))
    last = "probability of its class" if classes else "error"
    sheet.add_table("Rows it gets most wrong", f"row | trees | y | answer | {last}", lines)
