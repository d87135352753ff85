"""A tree as indented text, formatted as by scikit-learn's `export_text`:

    |--- petal width <= 0.80
    |   |--- class: setosa
    |--- petal width >  0.80
    |   |--- truncated branch of depth 3

Multiway and category splits get one line per branch; "or missing" marks the branch that takes
missing values, if the training rows had any. Trees that send such rows down all branches have a note at
the end, and count the cases of their leaves as C4.5 does: (3.4/0.4) are 3.4 cases, 0.4 of another class.

    |--- outlook = overcast
    |   |--- class: yes (4)
    |--- outlook = rain
    |   |--- class: yes (5/2)

A tree of an ensemble begins with a line that names it: "tree 0 of 100". Second-order trees show the gain of
a split, at its first branch, and the cover of their nodes:

    |--- bmi <= 0.01 (gain: 146963.33, cover: 218.00)
    |   |--- value: [-16.65] cover: 171.00
"""

from __future__ import annotations

from typing import Any

from arboretum.explain.boxes import NO_CASES
from arboretum.explain.labels import Labels, Wording, check_int, format_decimals, read_model
from arboretum.explain.pipeline import takes_pipelines
from arboretum.structure.condition import Condition

__all__ = ["export_text"]


@takes_pipelines
def export_text(
    model: Any,
    *,
    tree: int | tuple[Any, Any] = 0,
    feature_names: Any = None,
    class_names: Any = None,
    max_depth: int | None = None,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
    max_categories: int | None = 12,
) -> str:
    """Write a tree as indented text.

    Parameters
    ----------
    model : fitted estimator, Tree, or fitted Pipeline that ends with an estimator
    tree : int or (int, int), default 0
        Which tree of an ensemble: an index, -1 for the last; for boosters also (round, class).
    feature_names, class_names : list of str, optional
        Names to show instead of the model's own. With several outputs ``class_names`` holds one
        list per output.
    max_depth : int, optional
        Splits deeper than this are cut and marked as truncated; the root has depth 0. By default
        the whole tree is written (scikit-learn stops at 10).
    spacing : int, default 3
        Width of one level of indentation.
    decimals : int, default 2
        Decimals of thresholds and predictions. A small number that would round to zero keeps this
        many significant digits instead.
    show_weights : bool, default False
        Show the weight of every class at the leaves of a classification tree, and the weight of the
        leaf in regression. Without it, trees with fractional cases still show the number of cases of a leaf,
        and second-order trees its cover.
    max_categories : int or None, default=12
        Cut longer lists of categories; None writes all of them.

    Returns
    -------
    str
        The tree; it ends in a line break.

    Examples
    --------
    >>> from arboretum import CARTClassifier, export_text
    >>> from sklearn.datasets import load_iris
    >>> model = CARTClassifier(max_depth=1).fit(*load_iris(return_X_y=True))
    >>> print(export_text(model))
    |--- x2 <= 2.45
    |   |--- class: 0
    |--- x2 >  2.45
    |   |--- class: 1
    <BLANKLINE>
    >>> from arboretum import XGBClassifier
    >>> model = XGBClassifier(n_estimators=5, max_depth=1).fit(*load_iris(return_X_y=True))
    >>> print(export_text(model, tree=(4, 2)))
    tree 14 of 15: round 4, class 2
    |--- x2 <= 4.95 (gain: 15.05, cover: 47.81)
    |   |--- value: [-0.14] cover: 28.37
    |--- x2 >  4.95
    |   |--- value: [0.19] cover: 19.44
    (The value is added to the margin of class 2.)
    <BLANKLINE>
    """
    check_int(max_depth, "max_depth of export_text", 0, none=True)
    check_int(spacing, "spacing of export_text", 1)
    check_int(decimals, "decimals of export_text", 0)
    check_int(max_categories, "max_categories of export_text", 1, none=True)
    labels = read_model(model, "export_text", feature_names, class_names, tree)
    wording = Wording(decimals, trim=False, max_categories=max_categories)
    lines = [labels.title] if labels.title else []
    lines += _branches(labels, wording, max_depth, spacing, show_weights)
    if labels.note:
        lines.append(f"({labels.note})")
    return "\n".join(lines) + "\n"


def _branches(
    labels: Labels, wording: Wording, max_depth: int | None, spacing: int, show_weights: bool
) -> list[str]:
    """Return a line for every branch and every leaf, from left to right."""
    tree = labels.tree
    heights = None if max_depth is None else subtree_heights(tree)
    lines = []
    # An entry is a node with the condition above it, so that deep trees need no recursion.
    stack: list[tuple[int, Condition | None]] = [(0, None)]
    while stack:
        node, condition = stack.pop()
        depth = int(tree.depth[node])
        indent = ("|" + " " * spacing) * depth + "|" + "-" * spacing + " "
        if condition is not None:
            gained = _gained(labels, node, wording)
            lines.append(indent[spacing + 1 :] + _sentence(labels, condition, wording) + gained)
        if tree.is_leaf[node]:
            lines.append(indent + _leaf(labels, node, wording, show_weights))
        elif heights is not None and max_depth is not None and depth > max_depth:
            lines.append(f"{indent}truncated branch of depth {heights[node] + 1}")
        else:
            first = int(tree.first_child[node])
            for child in reversed(range(int(tree.n_children[node]))):
                stack.append((first + child, labels.condition(node, child)))
    return lines


def subtree_heights(tree: Any) -> list[int]:
    """Return the number of levels below every node."""
    heights = [0] * len(tree)
    for node in range(len(tree) - 1, 0, -1):  # children come after their parents
        above = int(tree.parent[node])
        heights[above] = max(heights[above], heights[node] + 1)
    return heights


def _sentence(labels: Labels, condition: Condition, wording: Wording) -> str:
    name, operator, right = labels.terms(condition, wording)
    if operator in ("<", ">"):
        operator += " "  # aligns the number with those after "<=" and ">="
    return f"{name} {operator} {right}" + (" or missing" if condition.or_missing else "")


def _gained(labels: Labels, node: int, wording: Wording) -> str:
    """Return the gain of the split above a node, at its first branch only."""
    tree, above = labels.tree, int(labels.tree.parent[node])
    if labels.kind != "gradients" or node != tree.first_child[above]:
        return ""
    gain, cover = (format_decimals(float(x[above]), wording) for x in (tree.gain, tree.weight))
    return f" (gain: {gain}, cover: {cover})"


def _leaf(labels: Labels, node: int, wording: Wording, show_weights: bool) -> str:
    prediction = labels.prediction(node, wording)
    if labels.classes is None:
        weight = format_decimals(float(labels.tree.weight[node]), wording)
        if labels.kind == "gradients":
            return f"value: [{prediction}] cover: {weight}"
        return f"value: [{prediction}]" + (f" weight: {weight}" if show_weights else "")
    if labels.tree.n_outputs > 1:
        prediction = f"[{prediction}]"
    if labels.is_empty(node):
        return f"class: {prediction} ({NO_CASES})"
    if not show_weights:
        count = f" ({labels.cases(node)})" if labels.fractional else ""
        return f"class: {prediction}{count}"
    weights = ", ".join(labels.class_values(node, wording))
    return f"weights: {weights} class: {prediction}"
