"""A tree of CART's kind with the rows it was grown on: its nodes and leaves as sheets.

CART, forests, ExtraTrees, bagging, AdaBoost and Friedman's boosting grow such trees; they differ in targets (classes,
numbers, residuals), in what rows weigh in a tree (bags, rounds), and in which columns and cuts a node draws. A
`GrownTree` holds these three, and asks the textbook (splits.py, column_scan.py) about the rows of one node:

    rows of the node ──► candidates of every column ──► best of each, closest rivals, verdicts
                    └──► impurity, value, why it is a leaf
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.explain.worksheet.draws import columns_visited, drawn_question, node_key
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Formula, Sheet, Table
from arboretum.predict.walk import leaves_of
from arboretum.textbook.cart import EPSILON, TIE, TextbookNode, reason_to_stop
from arboretum.textbook.column_scan import scan_column
from arboretum.textbook.impurities import CLASS_CRITERIA
from arboretum.textbook.splits import (
    UNBOUNDED,
    Candidate,
    Question,
    Rules,
    Sample,
    gather,
    judge_question,
)
from arboretum.tree.condition import Condition, format_category
from arboretum.tree.tree import SUBSET, Tree

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix

__all__ = ["Draw", "GrownTree", "Names", "side_rows"]

_RIVALS = 8  # shown besides the best of every column
_NAMED = 8  # classes whose shares are written out in a formula
_OPTIONAL = ("charge", "W left", "W right", "tried")  # columns that a narrow screen leaves out
_MEDIANS = 4000  # rows × cuts of absolute_error that are judged one by one, in thousands


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
class GrownTree:
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

    def rows_of(self, node: int) -> np.ndarray:
        """Return the rows of positive weight that came to a node."""
        return side_rows(self.tree, node, self.leaf_of, self.weight)

    @property
    def is_weighted(self) -> bool:
        """Rows weigh anything else than 1 or nothing."""
        return bool(np.any((self.weight != 1) & (self.weight != 0)))

    def sample(self, node: int, rows: np.ndarray) -> Sample:
        """Return the rows of a node as the textbook takes them."""
        X = self.matrix.take(rows).rows(0, len(rows))
        whole = gather(X, self.y[rows], self.weight[rows], self.rules)
        if self.rules.criterion in CLASS_CRITERIA:
            whole = replace(whole, n_classes=self.rules.n_classes)
        return replace(whole, total=float(self.tree.weight[0]), bounds=self.bounds(node))

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
    def question(self, asked: Question) -> str:
        """Return a question of the textbook in the words of the table."""
        column = self.tree.column(asked.feature)
        name, words = column.name, column.categories or ()
        if asked.kind == "subset":
            if not asked.right_categories:
                return f"{name} is present"
            left = tuple(words[c] for c in sorted(asked.left_categories))
            return Condition(asked.feature, name, "in", left, kind=column.kind).pretty(
                max_categories=5
            )
        if asked.threshold == np.inf:
            return f"{name} is present"
        shown: Any = asked.threshold
        if words:
            shown = format_category(words[int(asked.threshold)])
        return Condition(asked.feature, name, "<=", (shown,), kind=column.value_kind).pretty()

    def split_question(self, node: int, x: np.ndarray) -> Question:
        """Return the split of a node as the textbook writes it; ``x``: the column's values there."""
        tree, feature = self.tree, int(self.tree.feature[node])
        if tree.kind[node] != SUBSET:
            return Question(feature, "threshold", float(tree.threshold[node]))
        met = np.unique(x[~np.isnan(x)]).astype(int)
        start = int(tree.bits_start[node])
        inside = (tree.bits[start + (met >> 5)] >> (met & 31).astype(np.uint32)) & 1
        left, right = (frozenset(met[inside == bit].tolist()) for bit in (1, 0))
        if not left:  # present values on the right, missing ones on the left
            return Question(feature, "subset", np.nan, frozenset(), right)
        return Question(feature, "subset", np.nan, left, right)

    # ------------------------------------------------------------------ a node
    def node(self, node: int) -> Sheet:
        """Return how a node came about: its candidates, and why the winner won."""
        rows = self.rows_of(node)
        if not len(rows):
            return Sheet(
                self._title(node), {"rows": 0},
                notes=["No row of positive weight came here in the table that was given."],
            )  # fmt: skip
        sample = self.sample(node, rows)
        looked = _Looked(self, node, sample)
        facts, formulas = self._facts(node), [self._impurity_formula(sample)]
        notes: list[str] = []
        winner = looked.winner
        if winner is not None:
            formulas.append(_gain_formula(sample, winner, looked.before))
            if winner.charge:
                formulas.append(_charge_formula(winner))
            notes += looked.missing_notes()
        else:
            notes.append(f"It is a leaf: {self.why_leaf(node, rows, looked)}.")
        notes += looked.notes()
        tables = [looked.columns_table(), looked.rivals_table(), *self._surrogates(node, sample)]
        return Sheet(self._title(node), facts, formulas, [one for one in tables if one.rows], notes)

    def _title(self, node: int) -> str:
        what = "a leaf" if self.tree.is_leaf[node] else self.tree.condition(node, 0).pretty() + "?"
        return f"node {node} of {self.names.title}: {what}"

    def _facts(self, node: int) -> dict[str, Any]:
        tree = self.tree
        facts: dict[str, Any] = {"way here": self.way(node), "rows": int(tree.count[node])}
        if self.is_weighted:
            facts["weight"] = float(tree.weight[node])
        facts[f"impurity ({self.rules.criterion})"] = float(tree.impurity[node])
        facts |= self.answer(node)
        return facts

    def way(self, node: int) -> str:
        """Return the conditions from the root down to a node."""
        return " and ".join(one.pretty() for one in self.tree.path_to(node)) or "all rows"

    def answer(self, node: int) -> dict[str, Any]:
        """Return what a node would answer."""
        value = self.tree.value[node]
        if self.rules.criterion not in CLASS_CRITERIA:
            return (
                {"value": float(value[0, 0])}
                if len(value) == 1
                else {"values": value[:, 0].tolist()}
            )
        if len(value) > 1:
            return {"class shares": [shares.tolist() for shares in value]}
        k = int(value[0].argmax())
        return {"answer": f"{self.names.of_class(k)} (share {number(float(value[0, k]))})"}

    def why_leaf(self, node: int, rows: np.ndarray, looked: _Looked | None = None) -> str:
        """Return the rule that made a node a leaf."""
        tree, rules = self.tree, self.rules
        seen = TextbookNode(
            "L" * int(tree.depth[node]), rows, float(tree.weight[node]), tree.value[node],
            float(tree.impurity[node]), UNBOUNDED, rules.criterion,
        )  # fmt: skip
        reason = reason_to_stop(seen, rules)
        words = {
            "pure": "its rows agree, nothing is left to part",
            "max_depth": f"max_depth={rules.max_depth} is reached",
            "min_samples_split": f"it has {len(rows)} rows, min_samples_split={rules.min_samples_split}",
            "min_samples_leaf": f"{len(rows)} rows cannot give two sides of min_samples_leaf="
            f"{rules.min_samples_leaf}",
            "min_weight_leaf": "its weight cannot give two sides that weigh enough",
        }
        if reason:
            return words[reason]
        looked = looked or _Looked(self, node, self.sample(node, rows))
        best = looked.best_allowed()
        if best is None:
            return "no split is admissible"
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
        facts = self._facts(node)
        title = f"{'leaf' if tree.is_leaf[node] else 'node'} {node} of {self.names.title}"
        if not len(rows):
            note = "No row of positive weight came here in the table that was given."
            return Sheet(title, facts, notes=[note])
        sample = self.sample(node, rows)
        formulas = [*self._value_formulas(sample, node), self._impurity_formula(sample)]
        notes = []
        if tree.is_leaf[node]:
            notes.append(f"It is a leaf: {self.why_leaf(node, rows)}.")
        return Sheet(title, facts, formulas, self._class_tables(sample, node), notes)

    def _value_formulas(self, sample: Sample, node: int) -> list[Formula]:
        """Return where the answer comes from."""
        rules, found = self.rules, []
        if rules.criterion in CLASS_CRITERIA:
            for o, counts in enumerate(_counts(sample)):
                k = int(counts.argmax())
                share = float(counts[k] / counts.sum())
                target = "share" if len(self.tree.value[node]) == 1 else f"share, output {o}"
                name = f"{target} of {self.names.of_class(k)}"
                found.append(
                    Formula(name, "W_k / W", f"{number(counts[k])} / {number(counts.sum())}", share)
                )
        else:
            for o, y in enumerate(sample.y.T):
                name = (
                    f"value of {self.names.target}"
                    if sample.y.shape[1] == 1
                    else f"value, output {o}"
                )
                value = sample.value(_all(sample))[o, 0]
                if rules.criterion == "absolute_error":
                    found.append(
                        Formula(name, f"weighted median of {len(y)} rows", "", float(value))
                    )
                    continue
                total, weight = float(sample.w @ y), float(sample.w.sum())
                found.append(
                    Formula(
                        name, "Σ w y / Σ w", f"{number(total)} / {number(weight)}", float(value)
                    )
                )
        low, high = self.bounds(node)
        if (low, high) != UNBOUNDED:
            free = float(sample.value(_all(sample))[0, -1])
            clipped = float(np.clip(free, low, high))
            rule = "answer kept between the bounds of monotone constraints"
            found.append(
                Formula(
                    "bounded",
                    rule,
                    f"{number(free)} within [{number(low)}, {number(high)}]",
                    clipped,
                )
            )
        return found

    def _class_tables(self, sample: Sample, node: int) -> list[Table]:
        if self.rules.criterion not in CLASS_CRITERIA:
            return []
        tables = []
        for o, counts in enumerate(_counts(sample)):
            y = sample.y[:, o]
            rows = [
                (self.names.of_class(k) if len(self.tree.value[node]) == 1 else k,
                 int(np.sum(y == k)), float(weight), float(weight / counts.sum()))
                for k, weight in enumerate(counts)
            ]  # fmt: skip
            title = "Classes" if len(self.tree.value[node]) == 1 else f"Classes of output {o}"
            best = frozenset([int(self.tree.value[node, o, : len(counts)].argmax())])
            tables.append(Table(title, ("class", "rows", "weight", "share"), rows, best))
        return tables

    # ------------------------------------------------------------------ formulas
    def _impurity_formula(self, sample: Sample) -> Formula:
        """Return the impurity of a node with its numbers."""
        criterion = self.rules.criterion
        rule, numbers = impurity_numbers(criterion, sample)
        return Formula(criterion, rule, numbers, sample.impurity(_all(sample)))

    # ------------------------------------------------------------------ surrogates
    def _surrogates(self, node: int, sample: Sample) -> list[Table]:
        """Return the stand-ins of a split and how often they agree with it."""
        kept = self.tree.surrogates
        if kept is None or self.tree.is_leaf[node]:
            return []
        tree, feature = self.tree, int(self.tree.feature[node])
        known = ~np.isnan(sample.X[:, feature])
        left = self.split_question(node, sample.X[:, feature]).yes(sample.X[:, feature])
        weight = float(sample.w[known].sum())
        majority = max(float(sample.w[known & left].sum()), float(sample.w[known & ~left].sum()))
        lines = []
        for i in range(int(kept.start[node]), int(kept.start[node + 1])):
            f = int(kept.feature[i])
            x, column = sample.X[:, f], tree.column(f)
            if kept.kind[i] == SUBSET:
                inside = tree.categories_of(int(kept.bits_start[i]), f)[0]
                codes = [c for c, word in enumerate(column.categories or ()) if word in inside]
                says, said = np.isin(x, codes), Condition(f, column.name, "in", tuple(inside))
            else:
                threshold = float(kept.threshold[i])
                shown: Any = threshold
                if column.categories:
                    shown = format_category(column.categories[int(threshold)])
                says = x <= threshold
                said = Condition(f, column.name, "<=", (shown,), kind=column.value_kind)
            both = known & ~np.isnan(x)
            goes = says != bool(kept.reverse[i])
            agreeing = float(sample.w[both & (goes == left)].sum())
            lines.append(
                (said.pretty(max_categories=5), "right" if kept.reverse[i] else "left", agreeing, majority,
                 agreeing / weight, int(both.sum()))
            )  # fmt: skip
        return [
            Table(
                "Surrogates, asked in this order where the value is missing",
                ("question", "yes goes", "agreeing weight", "majority", "agreement", "rows"),
                lines,
            )  # fmt: skip
        ]


# ---------------------------------------------------------------------- what was looked at
class _Looked:
    """The candidates of one node: the winner, the best of every column, close rivals."""

    def __init__(self, grown: GrownTree, node: int, sample: Sample) -> None:
        self.grown, self.node, self.sample = grown, node, sample
        self.drawn = self._drawn()
        n_columns = sample.X.shape[1]
        self.tried: dict[int, int] = {}
        self.best: dict[int, list[Candidate]] = {f: self._look(f) for f in range(n_columns)}
        self.winner = None if grown.tree.is_leaf[node] else self._winner()
        self.before = sample.impurity(_all(sample))
        if self.winner is not None and grown.rules.surrogates:
            known = ~np.isnan(sample.X[:, self.winner.feature])
            self.before = sample.impurity(known)

    def _varies(self, feature: int) -> bool:
        x = self.sample.X[:, feature]
        known = x[~np.isnan(x)]
        return bool(len(known)) and (len(known) < len(x) or known.min() < known.max())

    def _drawn(self) -> list[int] | None:
        """Return the columns the node drew, in order; None: it looked at all, or nobody knows."""
        draw, n_columns = self.grown.draw, self.sample.X.shape[1]
        if draw is None or draw.key is None or draw.max_features >= n_columns:
            return None
        return columns_visited(self._key(), n_columns, draw.max_features, self._varies)

    def _key(self) -> int:
        assert self.grown.draw is not None and self.grown.draw.key is not None
        return node_key(self.grown.draw.key, self.grown.sides(self.node))

    # ------------------------------------------------------------------ candidates
    def _look(self, feature: int) -> list[Candidate]:
        """Return the best candidates of a column, refused ones too."""
        draw = self.grown.draw
        if draw is not None and draw.random_splits:
            found = self._one_question(feature) if draw.key is not None else []
        elif self.sample.rules.criterion == "absolute_error":
            return self._by_medians(feature)
        else:
            scan = scan_column(self.sample, feature)
            self.tried[feature] = scan.n_tried
            found = scan.best(_RIVALS)
            floor = found[0].gain if found else 0.0
            above = [c for c in scan.best(3, refused=True) if c.verdict != "admissible"]
            return found + [c for c in above if c.gain > floor or not found]
        self.tried[feature] = len(found)
        return sorted(found, key=lambda c: -c.gain)

    def _one_question(self, feature: int) -> list[Candidate]:
        """Return the question drawn of a column, with missing values on either side."""
        x = self.sample.X[:, feature]
        asked = drawn_question(self._key(), feature, x, self.sample.kinds[feature])
        gaps = bool(np.isnan(x).any())
        found = []
        if asked is not None:
            sides: tuple[str | None, ...] = ("right", "left") if gaps else (None,)
            found = [judge_question(self.sample, asked, side) for side in sides]
        if gaps and not np.isnan(x).all():
            found.append(judge_question(self.sample, self.sample.is_present(feature), "right"))
        return found

    def _by_medians(self, feature: int) -> list[Candidate]:
        """Return candidates of absolute_error; of a large node only some cuts, and that of the model."""
        questions = self.sample.questions(feature)
        most = max(_MEDIANS * 1000 // max(len(self.sample.X), 1), 8)
        self.tried[feature] = len(questions)
        if len(questions) > most:
            questions = questions[:: -(-len(questions) // most)]
        gaps = bool(np.isnan(self.sample.X[:, feature]).any()) and not self.sample.rules.surrogates
        sides: tuple[str | None, ...] = ("right", "left") if gaps else (None,)
        found = [judge_question(self.sample, q, side) for q in questions for side in sides]
        if gaps and not np.isnan(self.sample.X[:, feature]).all():
            found.append(judge_question(self.sample, self.sample.is_present(feature), "right"))
        if not gaps or len(found) > 1:
            self.tried[feature] = self.tried[feature] * len(sides) + int(gaps)
        return sorted(found, key=lambda c: (c.verdict != "admissible", -c.gain))[: _RIVALS + 3]

    def _winner(self) -> Candidate:
        """Return the split of the model, judged."""
        grown, tree = self.grown, self.grown.tree
        feature = int(tree.feature[self.node])
        x = self.sample.X[:, feature]
        asked = grown.split_question(self.node, x)
        gaps = bool(np.isnan(x).any()) and not grown.rules.surrogates
        if not gaps:
            return judge_question(self.sample, asked, None)
        side = "left" if tree.missing_child[self.node] == 0 else "right"
        if not asked.left_categories and asked.kind == "subset":  # the missing are left, alone
            return judge_question(self.sample, self.sample.is_present(feature), "right")
        return judge_question(self.sample, asked, side)

    def _same(self, one: Candidate, other: Candidate) -> bool:
        if one.feature != other.feature:
            return False
        same = np.array_equal(one.left, other.left)
        if one.kind == "subset":
            used = ~np.isnan(self.sample.X[:, one.feature]) | (not self.sample.rules.surrogates)
            same |= np.array_equal(one.left[used], ~other.left[used])
        return bool(same)

    def looked_at(self, feature: int) -> bool:
        return self.drawn is None or feature in self.drawn

    def best_allowed(self) -> Candidate | None:
        allowed = [
            c for f, some in self.best.items() if self.looked_at(f)
            for c in some if c.verdict == "admissible"
        ]  # fmt: skip
        return max(allowed, key=lambda c: c.worth, default=None)

    # ------------------------------------------------------------------ tables
    def _header(self) -> tuple[str, ...]:
        weighted = ("W left", "W right") if self.grown.is_weighted else ()
        charged = ("charge",) if self._is_charged else ()
        return ("split", "left", "right", *weighted, "imp left", "imp right", "gain", *charged)

    @property
    def _is_charged(self) -> bool:
        return any(c.charge for some in self.best.values() for c in some)

    def _line(self, c: Candidate) -> tuple[Any, ...]:
        weights = (c.weight_left, c.weight_right) if self.grown.is_weighted else ()
        charge = (c.charge,) if self._is_charged else ()
        asked = self.grown.question(c) + (" or missing" if c.missing_goes == "left" else "")
        return (
            asked,
            c.n_left,
            c.n_right,
            *weights,
            c.impurity_left,
            c.impurity_right,
            c.gain,
            *charge,
        )

    def columns_table(self) -> Table:
        """Return the best candidate of every column, the best column first."""
        lines, marked = [], set()
        firsts = []
        for f, some in self.best.items():
            allowed = [c for c in some if c.verdict == "admissible"]
            firsts.append((f, (allowed or some or [None])[0]))
        winner = self.winner
        if winner is not None:
            firsts = [(f, winner if f == winner.feature else c) for f, c in firsts]
        firsts.sort(
            key=lambda pair: -np.inf if pair[1] is winner else -pair[1].worth if pair[1] else np.inf
        )
        for i, (f, c) in enumerate(firsts):
            tried = self.tried.get(f, 0)
            if c is None:
                name = self.grown.tree.column(f).name
                width = len(self._header())
                lines.append((name, *[None] * (width - 1), tried, "one value only"))
                continue
            if c is winner:
                marked.add(i)
            lines.append((*self._line(c), tried, self.verdict(c)))
        header = (*self._header(), "tried", "verdict")
        return Table(
            "Best split of every column", header, lines, frozenset(marked), optional=_OPTIONAL
        )

    def rivals_table(self) -> Table:
        """Return the candidates that came closest, whatever their column."""
        every = [c for f, some in self.best.items() if self.looked_at(f) for c in some]
        winner = self.winner
        others = [c for c in every if winner is None or not self._same(c, winner)]
        others.sort(key=lambda c: -c.worth)
        lines = [] if winner is None else [(*self._line(winner), self.verdict(winner))]
        lines += [(*self._line(c), self.verdict(c)) for c in others[:_RIVALS]]
        marked = set() if winner is None else {0}
        header = (*self._header(), "verdict")
        return Table("Closest rivals", header, lines, frozenset(marked), optional=_OPTIONAL)

    def verdict(self, c: Candidate) -> str:
        """Return why a candidate was not taken."""
        winner = self.winner
        if c is winner:
            return "wins"
        if not self.looked_at(c.feature):
            return "not drawn"
        if c.verdict != "admissible":
            return c.verdict
        if winner is None:
            return "admissible"
        if self._same(c, winner):
            return "wins"
        slack = TIE * self.before * float(self.sample.w.sum()) / self.sample.total
        if abs(c.worth - winner.worth) <= max(slack, EPSILON):
            return "tie: lower column or cut wins"
        if c.worth > winner.worth:
            if self.grown.binned:
                return "not a cut between bins"
            draw = self.grown.draw
            if draw is not None and draw.key is None:
                return "not drawn, it seems"
            return "missed by the order of categories" if c.kind == "subset" else "gains more"
        return "gains less"

    # ------------------------------------------------------------------ notes
    def missing_notes(self) -> list[str]:
        """Return where missing values went, and what the other way would have gained."""
        winner, sample = self.winner, self.sample
        assert winner is not None
        missing = np.isnan(sample.X[:, winner.feature])
        name = self.grown.tree.column(winner.feature).name
        goes = "left" if self.grown.tree.missing_child[self.node] == 0 else "right"
        if not missing.any():
            return [
                f"No row here misses {name}; later ones that do go {goes}, to the heavier side."
            ]
        count = int(missing.sum())
        if self.grown.rules.surrogates:
            return [f"{count} rows miss {name}: the split was judged without them, surrogates place them, "
                    f"and what no surrogate answers goes {goes}."]  # fmt: skip
        if winner.threshold == np.inf or (winner.kind == "subset" and not winner.right_categories):
            return [
                f"The {count} rows that miss {name} go {goes}, alone: whether it is there is the question."
            ]
        other = judge_question(sample, winner, "right" if winner.missing_goes == "left" else "left")
        return [
            f"{count} rows miss {name} and go {winner.missing_goes}; the other way the split would gain "
            f"{number(other.gain)}, {number(winner.gain - other.gain)} less."
            + ("" if other.verdict == "admissible" else f" ({other.verdict})")
        ]

    def notes(self) -> list[str]:
        """Return how much was tried, and what was drawn."""
        grown, draw, columns = self.grown, self.grown.draw, self.grown.tree.schema.columns
        here = [f for f in self.tried if self.looked_at(f)]
        tried = sum(self.tried[f] for f in here)
        many = "column" if len(here) == 1 else "columns"
        found = [f"{tried:,} candidates of {len(here)} {many} were tried."]
        if draw is not None and draw.key is None:
            found.append(
                "Nodes draw columns or cuts, by a random_state that was None or is a generator: what was drawn "
                "cannot be told, so every column is shown."
            )
        elif self.drawn is not None:
            names = ", ".join(columns[f].name for f in self.drawn)
            found.append(f"The node drew {names}, in this order, and looked at nothing else.")
        if draw is not None and draw.random_splits and draw.key is not None:
            found.append(
                "Every column is asked one question, drawn at random: the best of them wins."
            )
        if grown.binned:
            found.append(
                f"Columns of more than {grown.binned} values were put into bins: cuts lie between those."
            )
        sets = [f for f in here if columns[f].kind == "categorical"]
        if any(self.sample.rules.category_penalty and c.charge for f in sets for c in self.best[f]):
            found.append(
                "Categories are charged what an order of categories that mean nothing would gain: columns compete by "
                "gain less charge."
            )
        return found


# ---------------------------------------------------------------------- helpers
def side_rows(tree: Tree, node: int, leaf_of: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the rows of positive weight whose leaf is a node or below it."""
    below = np.zeros(len(tree), bool)
    below[node] = True
    for n in range(node + 1, len(tree)):  # children stand behind their parents
        below[n] = below[tree.parent[n]]
    return np.flatnonzero(below[leaf_of] & (weight > 0))


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


def _gain_formula(sample: Sample, c: Candidate, before: float) -> Formula:
    """Return what a split gains, with its numbers."""
    node, total = c.weight_left + c.weight_right, sample.total
    if sample.rules.criterion == "friedman_mse" and sample.y.shape[1] == 1:
        left, right = (
            float(np.average(sample.y[s, 0], weights=sample.w[s]))
            for s in (c.left, _right(sample, c))
        )
        numbers = (
            f"{number(c.weight_left)} · {number(c.weight_right)} / {number(node)} · ({number(left)} - "
            f"{signed(right)})² / {number(total)}"
        )
        return Formula("gain", "W_L W_R / (W_L + W_R) · (ȳ_L - ȳ_R)² / W", numbers, c.gain)
    numbers = (
        f"{number(node)}/{number(total)} · ({number(before)} - {number(c.weight_left)}/{number(node)} · "
        f"{number(c.impurity_left)} - {number(c.weight_right)}/{number(node)} · {number(c.impurity_right)})"
    )
    return Formula("gain", "W_t/W · (imp - W_L/W_t · imp_L - W_R/W_t · imp_R)", numbers, c.gain)


def _right(sample: Sample, c: Candidate) -> np.ndarray:
    used = ~np.isnan(sample.X[:, c.feature]) if sample.rules.surrogates else _all(sample)
    return used & ~c.left


def _charge_formula(c: Candidate) -> Formula:
    return Formula(
        "worth", "gain - charge for categories", f"{number(c.gain)} - {number(c.charge)}", c.worth
    )
