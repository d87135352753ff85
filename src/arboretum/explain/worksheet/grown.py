"""A tree of CART's kind with the rows it was grown on: its nodes and leaves as sheets.

CART, forests, ExtraTrees, bagging, AdaBoost and Friedman's boosting grow such trees; they differ in
targets (classes, numbers, residuals), in what rows weigh in a tree (bags, rounds), and in which columns
and cuts a node draws. A `ShownTree` holds these three, and the textbook (splits.py, column_scan.py) judges
the rows of one node:

    rows of the node ──► candidates of every column ──► best of each, closest rivals, verdicts
                    └──► impurity, value, why it is a leaf

Surrogates are the stand-ins of a split, used where its value is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.explain.worksheet.candidates import NodeCandidates
from arboretum.explain.worksheet.journey import way_to
from arboretum.explain.worksheet.refusals import least_rows, refusal_notes, why_refused
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Sheet
from arboretum.lazy import cached_property
from arboretum.predict.walk import leaves_of
from arboretum.structure.condition import Condition, format_category
from arboretum.structure.tree import SUBSET, Tree
from arboretum.textbook.cart import EPSILON, TextbookNode, reason_to_stop
from arboretum.textbook.impurities import CLASS_CRITERIA
from arboretum.textbook.questions import Question
from arboretum.textbook.splits import UNBOUNDED, Candidate, Rules, Sample, gather

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.textbook.splits import Sample

__all__ = ["Draw", "Names", "ShownTree", "add_surrogates", "answer_of"]


# ---------------------------------------------------------------------- surrogates
def add_surrogates(sheet: Sheet, grown: ShownTree, node: int, sample: Sample) -> None:
    """Write the stand-ins of a split and how often they agree with it."""
    kept, tree = grown.tree.surrogates, grown.tree
    if kept is None or tree.is_leaf[node]:
        return
    feature = int(tree.feature[node])
    known = ~np.isnan(sample.X[:, feature])
    left = grown.split_question(node, sample.X[:, feature]).yes(sample.X[:, feature])
    weight = float(sample.w[known].sum())
    majority = max(float(sample.w[known & left].sum()), float(sample.w[known & ~left].sum()))
    lines: list[tuple[Any, ...]] = []
    for i in range(int(kept.start[node]), int(kept.start[node + 1])):
        f = int(kept.feature[i])
        x, column = sample.X[:, f], tree.column(f)
        if kept.kind[i] == SUBSET:
            inside = tree.categories_of(int(kept.bits_start[i]), f)[0]
            codes = [c for c, word in enumerate(column.categories or ()) if word in inside]
            yes, test = np.isin(x, codes), Condition(f, column.name, "in", tuple(inside))
        else:
            threshold = float(kept.threshold[i])
            shown: Any = threshold
            if column.categories:
                shown = format_category(column.categories[int(threshold)])
            yes = x <= threshold
            test = Condition(f, column.name, "<=", (shown,), kind=column.value_kind)
        both, reverse = known & ~np.isnan(x), bool(kept.reverse[i])
        agreeing = float(sample.w[both & ((yes != reverse) == left)].sum())
        side = "right" if reverse else "left"
        words = test.pretty(max_categories=5)
        lines.append((words, side, agreeing, majority, agreeing / weight, int(both.sum())))
    title = "Surrogates, used in this order where the value is missing"
    header = "question | yes goes | agreeing weight | majority | agreement | rows"
    if lines:
        sheet.add_table(title, header, lines)


_NAMED = 8  # classes whose shares are written out in a formula
_NO_ROWS = "No row of positive weight came here in the table that was given."


@dataclass(frozen=True)
class Draw:
    """What nodes draw: a number of columns, and cuts; the key of the root, None if it is not known."""

    key: int | None
    max_features: int
    random_splits: bool = False


@dataclass(frozen=True)
class Names:
    """Words for a tree: its title, its targets and its classes."""

    title: str = "the tree"
    target: str = "y"
    classes: Sequence[Any] | None = None

    def of_class(self, k: int) -> str:
        return str(k) if self.classes is None else format_category(self.classes[k])


@dataclass(frozen=True, eq=False)
class ShownTree:
    """One tree and what it was grown on; see the module's text.

    Attributes
    ----------
    tree : Tree
    matrix : Matrix
        All rows of the training table.
    y : array of shape (rows, outputs)
        Class codes or numbers.
    weight : float64 array
        What every row weighs in this tree; 0 if it has not seen it.
    rules : textbook Rules
    names : Names
    draw : Draw or None
        None: nodes look at every column and cut.
    exact : bool
        The values of leaves are the means of ``y``; else (boosting) another step is taken.
    pruned : str
        What may have cut branches off; empty if nothing did.
    """

    tree: Tree
    matrix: Matrix
    y: np.ndarray
    weight: np.ndarray
    rules: Rules
    names: Names
    draw: Draw | None = None
    exact: bool = True
    pruned: str = ""
    binned: int | None = None
    n_jobs: int = 1

    # ------------------------------------------------------------------ rows
    @cached_property
    def leaf_of(self) -> np.ndarray:
        return leaves_of(self.tree, self.matrix, self.n_jobs)

    @cached_property
    def rows_by_leaf(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows of positive weight, those of a node side by side, and where every node's begin and end."""
        tree, rows = self.tree, np.flatnonzero(self.weight > 0)
        size = np.bincount(self.leaf_of[rows], minlength=len(tree))
        for node in range(len(tree) - 1, 0, -1):  # children stand behind their parents
            size[tree.parent[node]] += size[node]
        first, taken = np.zeros(len(tree), np.int64), np.zeros(len(tree), np.int64)
        for node in range(1, len(tree)):
            above = tree.parent[node]
            first[node] = first[above] + taken[above]
            taken[above] += size[node]
        order = rows[np.argsort(first[self.leaf_of[rows]], kind="stable")]
        return order, first, first + size

    def rows_of(self, node: int) -> np.ndarray:
        """Return the rows of positive weight that came to a node."""
        rows, first, end = self.rows_by_leaf
        return np.sort(rows[first[node] : end[node]])

    @property
    def is_weighted(self) -> bool:
        """Rows weigh anything else than 1 or nothing."""
        return bool(np.any((self.weight != 1) & (self.weight != 0)))

    def sample(self, node: int, rows: np.ndarray) -> Sample:
        """Return the rows of a node as the textbook takes them.

        Those of absolute_error come by their targets: the textbook sorts them for every median, which takes
        one pass where they are in order.
        """
        if self.rules.criterion == "absolute_error" and self.y.shape[1] == 1:
            rows = rows[np.argsort(self.y[rows, 0], kind="stable")]
        X = np.asfortranarray(
            self.matrix.take(rows).rows(0, len(rows))
        )  # columns are read one by one
        whole = gather(X, self.y[rows], self.weight[rows], self.rules)
        if self.rules.criterion in CLASS_CRITERIA:
            whole = replace(whole, n_classes=self._n_classes)
        return replace(whole, total=float(self.tree.weight[0]), bounds=self.bounds(node))

    @property
    def _n_classes(self) -> tuple[int, ...] | None:
        sizes = self.rules.n_classes
        return (sizes,) if isinstance(sizes, int) else sizes

    def bounds(self, node: int) -> tuple[float, float]:
        """Return between which numbers monotone constraints above keep the answers of a node."""
        signs, (low, high), tree = self.rules.monotonic_cst, UNBOUNDED, self.tree
        above = int(tree.parent[node])
        while signs and above >= 0:
            sign, first = signs[int(tree.feature[above])], int(tree.first_child[above])
            if sign:
                middle = float(tree.value[first : first + 2, 0, -1].sum() / 2)
                if (node == first) == (sign > 0):
                    high = min(high, middle)
                else:
                    low = max(low, middle)
            node, above = above, int(tree.parent[above])
        return low, high

    def sides(self, node: int) -> list[int]:
        """Return the way from the root, 0 for a first child and 1 for a second."""
        way: list[int] = []
        while node:
            above = int(self.tree.parent[node])
            way.append(node - int(self.tree.first_child[above]))
            node = above
        return way[::-1]

    # ------------------------------------------------------------------ words
    def question(self, test: Question) -> str:
        """Return a question of the textbook in the words of the table."""
        column = self.tree.column(test.feature)
        name, words = column.name, column.categories or ()
        if test.kind == "subset":
            if test.tests_presence:
                return f"{name} is {'present' if test.left_categories else 'missing'}"
            left = tuple(words[c] for c in sorted(test.left_categories))
            return Condition(test.feature, name, "in", left, kind=column.kind).pretty(
                max_categories=5
            )
        if test.threshold == np.inf:
            return f"{name} is present"
        shown: Any = test.threshold
        if words:
            shown = format_category(words[int(test.threshold)])
        return Condition(test.feature, name, "<=", (shown,), kind=column.value_kind).pretty()

    def split_question(self, node: int, x: np.ndarray) -> Question:
        """Return the split of a node as the textbook writes it; ``x`` holds the column's values there."""
        tree, feature = self.tree, int(self.tree.feature[node])
        if tree.kind[node] != SUBSET:
            return Question(feature, "threshold", float(tree.threshold[node]))
        here = np.unique(x[~np.isnan(x)]).astype(int)
        start = int(tree.bits_start[node])
        inside = (tree.bits[start + (here >> 5)] >> (here & 31).astype(np.uint32)) & 1
        left, right = (frozenset(here[inside == bit].tolist()) for bit in (1, 0))
        return Question(feature, "subset", np.nan, left, right)

    # ------------------------------------------------------------------ a node
    def node(self, node: int) -> Sheet:
        """Return how a node came about: its candidates, and why the winner won."""
        rows = self.rows_of(node)
        what = "a leaf" if self.tree.is_leaf[node] else self.tree.condition(node, 0).pretty() + "?"
        sheet = Sheet(f"node {node} of {self.names.title}: {what}")
        if not len(rows):
            sheet.facts, sheet.notes = {"rows": 0}, [_NO_ROWS]
            return sheet
        sample = self.sample(node, rows)
        looked = NodeCandidates(self, node, sample)
        sheet.facts = self._facts(node)
        self._add_impurity(sheet, sample)
        winner = looked.winner
        if winner is not None:
            _add_gain(sheet, sample, winner, looked.before)
            sheet.notes = [*refusal_notes(looked), *looked.missing_notes()]
        else:
            sheet.notes.append(f"It is a leaf: {self.why_leaf(node, rows, looked)}.")
        sheet.notes += looked.notes()
        looked.add_tables(sheet)
        add_surrogates(sheet, self, node, sample)
        return sheet

    def _facts(self, node: int) -> dict[str, Any]:
        tree = self.tree
        facts: dict[str, Any] = {"path": way_to(tree, node), "rows": int(tree.count[node])}
        if self.is_weighted:
            facts["weight"] = float(tree.weight[node])
        facts[f"impurity ({self.rules.criterion})"] = float(tree.impurity[node])
        return facts | answer_of(tree, node, self.rules.criterion, self.names)

    def why_leaf(self, node: int, rows: np.ndarray, looked: NodeCandidates | None = None) -> str:
        """Return the rule that made a node a leaf."""
        tree, rules = self.tree, self.rules
        seen = TextbookNode(
            "L" * int(tree.depth[node]),
            rows,
            float(tree.weight[node]),
            tree.value[node],
            float(tree.impurity[node]),
            UNBOUNDED,
            rules.criterion,
        )
        reason = reason_to_stop(seen, rules)
        words = {
            "pure": "its rows agree, nothing is left to split",
            "max_depth": f"max_depth={rules.max_depth} is reached",
            "min_samples_split": f"it has {len(rows)} rows, min_samples_split={rules.min_samples_split}",
            "min_samples_leaf": f"{len(rows)} rows cannot give two sides: {least_rows(rules)}",
            "min_weight_leaf": "its weight cannot give two sides that weigh enough",
        }
        if reason:
            return words[reason]
        looked = looked or NodeCandidates(self, node, self.sample(node, rows))
        best = looked.best_allowed()
        if best is None:
            return "no split is admissible" + why_refused(looked)
        if best.gain + EPSILON < rules.min_impurity_decrease:
            return (
                f"the best split gains {number(best.gain)}, less than min_impurity_decrease="
                f"{number(rules.min_impurity_decrease)}"
            )
        if best.worth < 0:
            return "the best split gains less than categories are charged for chance"
        if rules.max_leaf_nodes is not None and tree.n_leaves >= rules.max_leaf_nodes:
            return (
                f"max_leaf_nodes={rules.max_leaf_nodes} was reached first; its best split would have "
                f"gained {number(best.gain)}"
            )
        if self.pruned:
            return f"{self.pruned}; its best split gains {number(best.gain)}"
        return (
            "of what it drew, nothing was admissible" if self.draw else "nothing better was found"
        )

    # ------------------------------------------------------------------ a leaf
    def leaf(self, node: int) -> Sheet:
        """Return the arithmetic of a node's answer."""
        tree, rows = self.tree, self.rows_of(node)
        title = f"{'leaf' if tree.is_leaf[node] else 'node'} {node} of {self.names.title}"
        sheet = Sheet(title, self._facts(node))
        if not len(rows):
            sheet.notes.append(_NO_ROWS)
            return sheet
        sample = self.sample(node, rows)
        if self.rules.criterion in CLASS_CRITERIA:
            self._add_classes(sheet, sample, node)
        else:
            self._add_value(sheet, sample)
        low, high = self.bounds(node)
        if (low, high) != UNBOUNDED:
            free = float(sample.value(_all(sample))[0, -1])
            rule = "answer kept between the bounds of monotone constraints"
            numbers = f"{number(free)} within [{number(low)}, {number(high)}]"
            sheet.add_formula("bounded", rule, numbers, float(np.clip(free, low, high)))
        self._add_impurity(sheet, sample)
        if tree.is_leaf[node]:
            sheet.notes.append(f"It is a leaf: {self.why_leaf(node, rows)}.")
        return sheet

    def _add_value(self, sheet: Sheet, sample: Sample) -> None:
        """Write where the numbers of a leaf come from."""
        values = sample.value(_all(sample))[:, 0]
        for o, (y, value) in enumerate(zip(sample.y.T, values.tolist(), strict=True)):
            name = f"value of {self.names.target}" if len(values) == 1 else f"value, output {o}"
            if self.rules.criterion == "absolute_error":
                sheet.add_formula(name, f"weighted median of {len(y)} rows", "", value)
                continue
            numbers = f"{number(float(sample.w @ y))} / {number(float(sample.w.sum()))}"
            sheet.add_formula(name, "Σ w y / Σ w", numbers, value)

    def _add_classes(self, sheet: Sheet, sample: Sample, node: int) -> None:
        """Write the probabilities of a leaf, and a table of its classes."""
        values = self.tree.value[node]
        alone = len(values) == 1
        for o, counts in enumerate(_counts(sample)):
            k, total, y = int(counts.argmax()), float(counts.sum()), sample.y[:, o]
            name = "probability" if alone else f"probability, output {o}"
            numbers = f"{number(counts[k])} / {number(total)}"
            sheet.add_formula(
                f"{name} of {self.names.of_class(k)}", "W_k / W", numbers, float(counts[k]) / total
            )
            labels = [self.names.of_class(c) if alone else c for c in range(len(counts))]
            rows = [
                (label, int(np.sum(y == c)), float(weight), float(weight / total))
                for c, (label, weight) in enumerate(zip(labels, counts, strict=True))
            ]
            title, best = "Classes" if alone else f"Classes of output {o}", values[o, : len(counts)]
            sheet.add_table(
                title, "class | rows | weight | probability", rows, [int(best.argmax())]
            )

    def _add_impurity(self, sheet: Sheet, sample: Sample) -> None:
        """Write the impurity of a node with its numbers."""
        criterion = self.rules.criterion
        rule, numbers = impurity_numbers(criterion, sample)
        sheet.add_formula(criterion, rule, numbers, sample.impurity(_all(sample)))


# ---------------------------------------------------------------------- helpers
def answer_of(tree: Tree, node: int, criterion: str, names: Names) -> dict[str, Any]:
    """Return what a node would answer, in words."""
    value = tree.value[node]
    if criterion not in CLASS_CRITERIA:
        return (
            {"value": float(value[0, 0])} if len(value) == 1 else {"values": value[:, 0].tolist()}
        )
    if len(value) > 1:
        return {"class shares": [shares.tolist() for shares in value]}
    k = int(value[0].argmax())
    return {"answer": f"{names.of_class(k)} (probability {number(float(value[0, k]))})"}


def _all(sample: Sample) -> np.ndarray:
    return np.ones(len(sample.X), bool)


def _counts(sample: Sample) -> list[np.ndarray]:
    assert sample.n_classes is not None
    return [
        np.bincount(y, weights=sample.w, minlength=size)
        for y, size in zip(sample.y.T, sample.n_classes)
    ]


def impurity_numbers(criterion: str, sample: Sample) -> tuple[str, str]:
    """Return the formula of an impurity, and the same with the numbers of some rows."""
    if criterion in CLASS_CRITERIA:
        rule = {"gini": "1 - Σ p²", "error": "1 - max p"}.get(criterion, "-Σ p log2 p")
        if len(_counts(sample)) > 1:
            return f"mean over the targets of {rule}", ""
        counts = _counts(sample)[0]
        shares = [f"{number(c)}/{number(counts.sum())}" for c in counts if c > 0]
        if len(shares) > _NAMED:
            return rule, ""
        if criterion == "gini":
            return rule, "1 - " + " - ".join(f"({s})²" for s in shares)
        if criterion == "error":
            return rule, f"1 - {number(counts.max())}/{number(counts.sum())}"
        return rule, "-(" + " + ".join(f"{s} log2 {s}" for s in shares) + ")"
    if sample.y.shape[1] > 1:
        return "mean over the targets", ""
    y, w = sample.y[:, 0], sample.w
    weight, value = float(w.sum()), float(sample.value(_all(sample))[0, 0])
    if criterion == "absolute_error":
        total = float(w @ np.abs(y - value))
        return "Σ w |y - median| / Σ w", f"{number(total)} / {number(weight)}"
    if criterion == "poisson":
        total = sample.impurity(_all(sample)) * weight
        return "Σ w y log(y / ȳ) / Σ w", f"{number(total)} / {number(weight)}"
    total = float(w @ (y - value) ** 2)
    return "Σ w (y - ȳ)² / Σ w", f"{number(total)} / {number(weight)}"


def _add_gain(sheet: Sheet, sample: Sample, c: Candidate, before: float) -> None:
    """Write what a split gains, with its numbers."""
    total, left, right = number(sample.total), number(c.weight_left), number(c.weight_right)
    node = number(c.weight_left + c.weight_right)
    if sample.rules.criterion == "friedman_mse" and sample.y.shape[1] == 1:
        used = ~np.isnan(sample.X[:, c.feature]) if sample.rules.surrogates else _all(sample)
        sides = (c.left, used & ~c.left)
        one, other = (float(np.average(sample.y[s, 0], weights=sample.w[s])) for s in sides)
        numbers = f"{left} · {right} / {node} · ({number(one)} - {signed(other)})² / {total}"
        sheet.add_formula("gain", "W_L W_R / (W_L + W_R) · (ȳ_L - ȳ_R)² / W", numbers, c.gain)
    else:
        after = f"{left}/{node} · {number(c.impurity_left)} - {right}/{node} · {number(c.impurity_right)}"
        numbers = f"{node}/{total} · ({number(before)} - {after})"
        rule = "W_t/W · (imp - W_L/W_t · imp_L - W_R/W_t · imp_R)"
        sheet.add_formula("gain", rule, numbers, c.gain)
    if c.charge:
        numbers = f"{number(c.gain)} - {number(c.charge)}"
        sheet.add_formula("worth", "gain - charge for categories", numbers, c.worth)
