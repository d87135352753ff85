"""The text in the box of a node: the same lines for Graphviz and for plots.

    petal width <= 1.75        heading: the question of a split, or the prediction of a leaf
    gini = 0.5
    samples = 100
    value = [0, 50, 50]
    class = versicolor

A branch below `max_depth` is folded into one box with the number of leaves it hides. Trees with
fractional cases use C4.5's notation: a leaf is headed "virginica (3.4/0.4)", its class, its cases and
those of another class; a leaf that no case reached has only its class. A tree of a booster has a
value at its leaves only, and a second-order one has gain and cover instead of an impurity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arboretum.explain.labels import Labels, Wording, check_choice, check_int
from arboretum.structure.tree import Tree

__all__ = ["NO_CASES", "BoxStyle", "box_text", "info_lines", "visible_nodes"]

NO_CASES = "no cases"  # no training case reached this leaf

# The impurities of regression have long parameter names; a box has room for the usual short ones.
_SHORT = {"squared_error": "mse", "friedman_mse": "mse", "absolute_error": "mae"}

INFO = (
    "split_gain", "internal_value", "internal_weight", "internal_count", "leaf_weight", "leaf_count",
    "data_percentage",
)  # fmt: skip

_MOST_CLASSES, _MOST_OUTPUTS = 8, 4  # most weights and outputs that a box lists


@dataclass(frozen=True)
class BoxStyle:
    """Which lines are shown, and how numbers are written."""

    label: str
    impurity: bool
    node_ids: bool
    proportion: bool
    wording: Wording
    info: tuple[str, ...] | None = None  # LightGBM's names of lines, in place of all others

    @classmethod
    def checked(
        cls,
        caller: str,
        label: str,
        impurity: bool,
        node_ids: bool,
        proportion: bool,
        wording: Wording,
        info: Sequence[str] | None = None,
    ) -> BoxStyle:
        """Return the style, or raise an error that names the parameter and the caller."""
        check_choice(label, f"label of {caller}", ("all", "root", "none"))
        check_int(wording.decimals, f"precision of {caller}", 0)
        for name in info or ():
            check_choice(name, f"show_info of {caller}", INFO)
        lines = None if info is None else tuple(info)
        return cls(label, impurity, node_ids, proportion, wording, lines)


def visible_nodes(tree: Tree, max_depth: int | None) -> tuple[list[int], dict[int, int]]:
    """Return the nodes to show, and the number of leaves below those that are folded.

    Leaves just below ``max_depth`` are shown: folding a single leaf would save nothing.
    """
    if max_depth is None:
        return list(range(len(tree))), {}
    hidden_leaves = tree.is_leaf.astype(int)
    for node in range(len(tree) - 1, 0, -1):  # children come after their parents
        hidden_leaves[int(tree.parent[node])] += hidden_leaves[node]
    shown = [node for node in range(len(tree)) if tree.depth[node] <= max_depth + 1]
    folded = {
        node: int(hidden_leaves[node])
        for node in shown
        if tree.depth[node] == max_depth + 1 and not tree.is_leaf[node]
    }
    return shown, folded


def box_text(
    labels: Labels, node: int, style: BoxStyle, hidden_leaves: int | None = None
) -> tuple[list[str], list[str]]:
    """Return the heading of a box and the lines below it."""
    tree, wording = labels.tree, style.wording
    head = [f"node #{node}"] if style.node_ids else []
    if hidden_leaves is not None:
        return [*head, f"{wording.ellipsis} {hidden_leaves} leaves"], []
    if labels.is_empty(node):
        return [*head, labels.prediction(node, wording)], [NO_CASES]
    titled = style.label == "all" or (style.label == "root" and node == 0)

    def line(name: str, text: str) -> str:
        return f"{name} = {text}" if titled else text

    rest = []
    if style.info is not None:
        rest = info_lines(labels, node, style.info, wording)
        if tree.is_leaf[node]:
            return [*head, line("value", labels.prediction(node, wording))], rest
        return [*head, labels.question(node, wording)], rest
    if labels.kind == "gradients":
        if style.impurity and not tree.is_leaf[node]:
            rest.append(line("gain", labels.number(tree.gain, node, wording)))
        rest.append(line("cover", labels.number(tree.weight, node, wording)))
    elif style.impurity:
        name = _SHORT.get(labels.criterion, labels.criterion)
        name = f"residual {name}" if labels.kind == "residuals" else name
        rest.append(line(name, labels.number(tree.impurity, node, wording)))
    cases = _cases(labels, node, style.proportion)
    if not labels.fractional:
        rest.append(line("samples", cases))
    elif not tree.is_leaf[node]:
        rest.append(line("cases", cases))
    outcome = line("value", labels.prediction(node, wording))
    if labels.classes is not None:
        values, share = _class_lines(labels, node, style)
        rest += [line("value", values[0]), *values[1:]] if values else []
        outcome = line("class", labels.prediction(node, wording) + share)
        if labels.fractional and tree.is_leaf[node]:
            outcome = f"{labels.prediction(node, wording)} ({cases})"
    if tree.is_leaf[node]:
        return [*head, outcome], rest
    if labels.kind == "answers":
        rest.append(outcome)
    return [*head, labels.question(node, wording)], rest


def info_lines(labels: Labels, node: int, info: Sequence[str], wording: Wording) -> list[str]:
    """Return what LightGBM's ``show_info`` names of a node, in LightGBM's words."""
    tree = labels.tree
    kind = "leaf" if tree.is_leaf[node] else "internal"
    count = int(tree.count[node])
    texts = {
        "split_gain": f"{labels.number(tree.gain, node, wording)} gain",
        "internal_value": f"{labels.prediction(node, wording)} value",
        f"{kind}_weight": f"{labels.number(tree.weight, node, wording)} weight",
        f"{kind}_count": f"count: {count}",
        "data_percentage": f"{100 * count / max(int(tree.count[0]), 1):.2f}% of data",
    }
    if kind == "leaf":
        del texts["split_gain"], texts["internal_value"]
    return [text for name, text in texts.items() if name in info]


def _class_lines(labels: Labels, node: int, style: BoxStyle) -> tuple[list[str], str]:
    """Return the lists of class weights, or, if they are too long, the largest share."""
    assert labels.classes is not None
    if max(len(names) for names in labels.classes) <= _MOST_CLASSES:
        values = labels.class_values(node, style.wording, style.proportion)
        if len(values) > _MOST_OUTPUTS:
            values = [*values[:_MOST_OUTPUTS], style.wording.ellipsis]
        return values, ""
    if labels.tree.n_outputs > 1:
        return [], ""
    return [], f" ({100 * float(labels.shares(node)[0].max()):.0f}%)"


def _cases(labels: Labels, node: int, proportion: bool) -> str:
    """Return the rows of a node, or its cases and those it would get wrong, or its share of all."""
    tree = labels.tree
    size = tree.weight if labels.fractional else tree.count
    if proportion:
        return f"{100 * float(size[node]) / max(float(size[0]), np.finfo(float).tiny):.1f}%"
    return labels.cases(node) if labels.fractional else str(int(size[node]))
