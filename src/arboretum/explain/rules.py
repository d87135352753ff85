"""A tree as a list of IF-THEN rules, one per leaf.

    IF petal width <= 0.8 THEN class setosa (50 rows, 100.0 %)
    IF 0.8 < petal width <= 1.75 AND petal length <= 4.95 THEN class versicolor (48 rows, 97.9 %)

The conditions on one column along a path are merged (`conditions.py`), so a rule has at most one
condition per column. Rules of one tree never overlap and leave no gap: every row satisfies exactly one.
(Trees without a branch for missing values, such as C4.5's, are the exception: a row with a missing value
satisfies no rule with a condition on that column.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from arboretum.explain.conditions import RuleCondition
from arboretum.explain.labels import Labels, Wording, read_model
from arboretum.explain.pick_tree import pick_tree
from arboretum.explain.pipeline import anatomy_of, takes_pipelines
from arboretum.html import html_table
from arboretum.structure.condition import format_number
from arboretum.structure.tree import Tree

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema

__all__ = ["Rule", "RuleSet", "to_rules"]


@dataclass(frozen=True)
class Rule:
    """One leaf of a tree as a sentence.

    Attributes
    ----------
    conditions : tuple of RuleCondition
        All must hold; empty for a tree that is a single leaf. One per column.
    prediction : object
        The class or number predicted; a tuple with several outputs.
    count : int
        Training rows that satisfy the rule.
    weight : float
        Their sample weight.
    share : float
        Their share of the weight of all training rows.
    confidence : float or None
        Share of the predicted class among them; None for regression and several outputs.
    leaf : int
        The node of the tree.
    label : str
        The prediction in words: "class virginica", "value 24.3".
    """

    conditions: tuple[RuleCondition, ...]
    prediction: Any
    count: int
    weight: float
    share: float
    confidence: float | None
    leaf: int
    label: str

    def pretty(self, digits: int = 6, max_categories: int | None = 8) -> str:
        """Return the rule as one line."""
        parts = [c.pretty(digits, max_categories) for c in self.conditions]
        parts = [f"({part})" if part.endswith(" or missing") else part for part in parts]
        support = f"{self.count} row" + ("" if self.count == 1 else "s")
        if self.confidence is not None:
            support += f", {100 * self.confidence:.1f} %"
        start = f"IF {' AND '.join(parts)} THEN" if parts else "ALWAYS"
        return f"{start} {self.label} ({support})"

    def __str__(self) -> str:
        return self.pretty()


@dataclass(frozen=True)
class RuleSet(Sequence[Rule]):
    """The rules of one tree, in the order of its leaves from left to right.

    It is a sequence of `Rule`; ``print(rules)`` writes one line per rule. ``rules`` also predicts:
    a row satisfies exactly one rule, the one of the leaf the tree would send it to. Trees with
    surrogate splits are the exception: rules send a row with a missing value to the branch for
    missing values, while the tree tries its surrogates first. A row that satisfies no rule, because it
    has a missing value and the tree has no branch for it, gets the prediction of the model. The rules of
    one tree of an ensemble predict as that tree alone; ``title`` is the name of the tree.
    """

    rules: tuple[Rule, ...]
    schema: Schema = field(repr=False)
    predictions: np.ndarray = field(repr=False, compare=False)
    has_surrogates: bool = False
    has_gaps: bool = False
    model: Any = field(default=None, repr=False, compare=False)
    title: str = ""
    counted: str = field(default="", repr=False)

    def __len__(self) -> int:
        return len(self.rules)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Rule, ...]: ...
    def __getitem__(self, index: int | slice) -> Rule | tuple[Rule, ...]:
        return self.rules[index]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def pretty(self, digits: int = 6, max_categories: int | None = 8) -> str:
        """Return one line per rule, below the name of the tree if the model has several."""
        lines = [self.title] if self.title else []
        lines += [rule.pretty(digits, max_categories) for rule in self.rules]
        if self.counted:
            lines.append(f"({self.counted})")
        if self.has_surrogates:
            lines.append("(surrogate splits may send rows with missing values elsewhere)")
        if self.has_gaps:
            lines.append(
                "(a row with a missing value may satisfy no rule; the model still predicts it)"
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.pretty()

    def _repr_html_(self) -> str:
        rows = [
            (
                " AND ".join(c.pretty(4, 4) for c in rule.conditions) or "always",
                rule.label,
                f"{rule.count:,}",
                "" if rule.confidence is None else f"{100 * rule.confidence:.1f} %",
            )
            for rule in self.rules
        ]
        title = f"{len(rows)} rules" + (f" of {self.title}" if self.title else "")
        return html_table(title, ("if", "then", "rows", "right"), rows, left=2)

    def _encode(self, X: Any) -> Matrix:
        return anatomy_of(self.model, "rules").columns.encode(X)

    def apply(self, X: Any) -> np.ndarray:
        """Return the index of the rule each row of a table satisfies, -1 for none."""
        matrix = self._encode(X)
        columns = {c.feature: matrix.column(c.feature) for r in self.rules for c in r.conditions}
        found = np.full(matrix.n_rows, -1, dtype=np.int64)
        for index, rule in enumerate(self.rules):
            passed = np.ones(matrix.n_rows, dtype=bool)
            for condition in rule.conditions:
                passed &= condition.accepts(columns[condition.feature])
            found[passed] = index
        return found

    def predict(self, X: Any) -> np.ndarray:
        """Return the prediction for each row of a table (the same kinds the model accepts)."""
        found = self.apply(X)
        predicted = self.predictions[found]
        if np.any(found < 0):
            predicted[found < 0] = self._predict_by_model(X)[found < 0]
        return predicted

    def _predict_by_model(self, X: Any) -> np.ndarray:
        if not isinstance(self.model, Tree):
            return np.asarray(self.model.predict(X))
        from arboretum.predict.walk import proba_of

        return proba_of(self.model, self._encode(X)).argmax(axis=1)


@takes_pipelines
def to_rules(
    model: Any,
    *,
    tree: int | tuple[Any, Any] = 0,
    feature_names: Any = None,
    class_names: Any = None,
) -> RuleSet:
    """Turn a tree into IF-THEN rules, one per leaf.

    Parameters
    ----------
    model : fitted estimator, Tree, or fitted Pipeline that ends with an estimator
    tree : int or (int, int), default 0
        Which tree of an ensemble: an index, -1 for the last; for boosters also (round, class).
    feature_names, class_names : list of str, optional
        Names to show instead of the model's own.

    Returns
    -------
    RuleSet

    Examples
    --------
    >>> from arboretum import CARTClassifier, to_rules
    >>> from sklearn.datasets import load_iris
    >>> model = CARTClassifier(max_depth=2).fit(*load_iris(return_X_y=True))
    >>> print(to_rules(model))
    IF x2 <= 2.45 THEN class 0 (50 rows, 100.0 %)
    IF x2 > 2.45 AND x3 <= 1.75 THEN class 1 (54 rows, 90.7 %)
    IF x2 > 2.45 AND x3 > 1.75 THEN class 2 (46 rows, 97.8 %)
    """
    labels = read_model(model, "to_rules", feature_names, class_names, tree)
    picked = pick_tree(model, tree, "to_rules")
    leaves = [node.id for node in labels.tree if node.is_leaf]
    predictions = _predictions(labels, picked.classes, np.array(leaves))
    paths = _merged_paths(labels)
    rules = tuple(
        _rule(labels, leaf, tuple(paths[leaf].values()), prediction)
        for leaf, prediction in zip(leaves, predictions)
    )
    surrogates = labels.tree.surrogates
    return RuleSet(
        rules,
        labels.tree.schema,
        predictions,
        has_surrogates=surrogates is not None and len(surrogates) > 0,
        has_gaps=_has_gaps(labels.tree),
        model=copy(picked.owner),  # a copy, because the model may be fitted again
        title=labels.title,
        counted=labels.counted,
    )


def _has_gaps(tree: Tree) -> bool:
    """Return True if a node has no branch for missing values though its column had some in training."""
    without = ~tree.is_leaf & (tree.missing_child < 0)
    return any(tree.column(int(f)).has_missing for f in np.unique(tree.feature[without]))


def _merged_paths(labels: Labels) -> list[dict[int, RuleCondition]]:
    """Return, for every node, the merged condition on each column of its path."""
    tree = labels.tree
    paths: list[dict[int, RuleCondition]] = [{} for _ in range(len(tree))]
    for node in range(1, len(tree)):  # parents come before their children
        above = int(tree.parent[node])
        feature = int(tree.feature[above])
        path = dict(paths[above])
        known = path.get(feature)
        if known is None:
            known = RuleCondition(feature, labels.features[feature], tree.column(feature))
        path[feature] = known.narrow(tree, above, node - int(tree.first_child[above]))
        paths[node] = path
    return paths


def _predictions(labels: Labels, classes: Any, leaves: np.ndarray) -> np.ndarray:
    """Return the predictions of the leaves: (n_leaves,), or (n_leaves, n_outputs) with several."""
    tree: Tree = labels.tree
    if labels.classes is None:
        columns = [tree.value[leaves, k, 0] for k in range(tree.n_outputs)]
    else:
        if classes is None:  # a bare Tree has class numbers only
            classes = [np.arange(tree.value.shape[2])] * tree.n_outputs
        columns = []
        for k, names in enumerate(classes):
            best = np.argmax(tree.value[leaves, k, : len(names)], axis=1)
            columns.append(np.asarray(names)[best])
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def _rule(
    labels: Labels, leaf: int, conditions: tuple[RuleCondition, ...], prediction: Any
) -> Rule:
    tree = labels.tree
    several = tree.n_outputs > 1
    confidence = None
    if labels.classes is not None and not several:
        confidence = float(labels.shares(leaf)[0].max())
    if labels.classes is None:
        text = ", ".join(format_number(float(v)) for v in tree.value[leaf, :, 0])
    else:
        text = labels.prediction(leaf, Wording())
    if several:
        text = f"[{text}]"
    return Rule(
        conditions=conditions,
        prediction=_plain(prediction),
        count=int(tree.count[leaf]),
        weight=float(tree.weight[leaf]),
        share=float(tree.weight[leaf] / tree.weight[0]),
        confidence=confidence,
        leaf=leaf,
        label=f"{'value' if labels.classes is None else 'class'} {text}",
    )


def _plain(prediction: Any) -> Any:
    """Return NumPy's scalars and arrays as Python's own numbers, strings and tuples."""
    if isinstance(prediction, np.ndarray):
        return tuple(prediction.tolist())
    return prediction.item() if isinstance(prediction, np.generic) else prediction
