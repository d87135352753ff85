"""Grown nodes become trees: what they answer, their thresholds, their sets of categories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine.compiler.decorators import writable
from arboretum.engine.depth_first import records
from arboretum.engine.depth_first.describe import describe_classes, describe_numbers, write_sets
from arboretum.engine.split import statistic as stat
from arboretum.structure.build import cut_trees
from arboretum.structure.tree import THRESHOLD

if TYPE_CHECKING:
    from arboretum.grow.depth_first.grid import TreeGrid
    from arboretum.grow.depth_first.table import TreeTable
    from arboretum.grow.grower import GrowTarget
    from arboretum.structure.tree import Tree

__all__ = ["to_trees"]

_Answers = tuple[np.ndarray, np.ndarray, np.ndarray]  # value, impurity and weight of every node


def _describe(
    target: GrowTarget, weights: np.ndarray, grid: TreeGrid, grown: records.RandomTreeNodes
) -> _Answers:
    rules, nodes = grid.rules, int(grown.node_start[len(weights)])
    if rules.two_classes and rules.weight_step == 1.0 and not rules.bounded:
        return _two_classes(grown.weight[:nodes], grown.total[:nodes])
    n_values = 1 if target.classes is None else int(target.classes.max())
    value, impurity = np.empty((nodes, target.outputs, n_values)), np.zeros(nodes)
    node_weight, rows = np.empty(nodes), grid.bags.rows
    y, gini = target.y[:, 0], rules.criterion == stat.GINI
    answer = value[:, 0], impurity, node_weight
    if target.outputs > 1 or rules.regrid or rules.bounded:  # one tree
        _describe_exactly(target, weights[0], grid, grown, (value, impurity, node_weight))
    elif target.classes is not None:
        sums = np.empty((nodes, n_values))
        describe_classes(grown, rows, writable(y), weights, gini, sums, *answer)
    else:
        sums = np.empty((nodes, 3))
        describe_numbers(grown, rows, writable(y), weights, grid.centre, sums, *answer)
    return value, impurity, node_weight


def _describe_exactly(
    target: GrowTarget,
    weight: np.ndarray,
    grid: TreeGrid,
    grown: records.RandomTreeNodes,
    out: _Answers,
) -> None:
    """Write what the nodes of a single tree answer, each from its own rows."""
    value, impurity, node_weight = out
    rules, nodes = grid.rules, len(value)
    start, end = grown.start[:nodes].astype(np.int64), grown.end[:nodes].astype(np.int64)
    figures = stat.NodeFigures(value, node_weight, impurity)
    if target.classes is not None:
        stat.describe_classes(
            grid.bags.rows, target.y, target.classes, weight, start, end,
            np.int64(rules.criterion), figures,
        )  # fmt: skip
    else:
        stat.describe_numbers(
            grid.bags.rows, target.y, weight, start, end, rules.criterion == stat.POISSON, figures,
        )  # fmt: skip
    if grown.bounds is not None:
        which = value.shape[2] - 1  # the last class' share, or the number itself
        value[:, 0, which] = np.clip(value[:, 0, which], *grown.bounds[:nodes].T)
        if which == 1:
            value[:, 0, 0] = 1.0 - value[:, 0, 1]


def _two_classes(weight: np.ndarray, ones: np.ndarray) -> _Answers:
    """Return the class shares, Gini and weight of nodes that were counted exactly."""
    whole = weight.astype(np.float64)
    shares = np.column_stack([(weight - ones) / whole, ones / whole])
    impurity = 1.0 - (shares[:, 0] * shares[:, 0] + shares[:, 1] * shares[:, 1])
    impurity[(ones == 0) | (ones == weight)] = 0.0
    return shares[:, None, :], impurity, whole


def _gains(first_child: np.ndarray, impurity: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the weighted impurity decrease of every node of one tree."""
    risk, gain = impurity * weight / weight[0], np.zeros(len(weight))
    inner = np.flatnonzero(first_child >= 0)
    child = first_child[inner]
    gain[inner] = np.maximum(risk[inner] - risk[child] - risk[child + 1], 0.0)
    return gain


def to_trees(
    table: TreeTable,
    target: GrowTarget,
    weights: np.ndarray,
    grid: TreeGrid,
    grown: records.RandomTreeNodes,
) -> list[Tree]:
    """Return the trees that were grown in one call."""
    ends = grown.node_start[: len(weights) + 1]
    nodes = int(ends[-1])
    value, impurity, weight = _describe(target, weights, grid, grown)
    gain = grown.gain[:nodes].copy()
    if grid.rules.weight_step != 1.0 and not grid.rules.regrid:
        # one tree, and the grid has rounded its weights: measure the gains anew
        gain = _gains(grown.first_child[:nodes], impurity, weight)
    feature = grown.feature[:nodes].copy()
    kind = table.node_kinds[feature]
    return cut_trees(
        table.schema,
        ends[1:],
        **_category_sets(table, grown, grid, feature, len(weights)),
        kind=kind,
        feature=feature,
        threshold=_thresholds(table, grown, feature, kind),
        first_child=grown.first_child[:nodes].copy(),
        missing_child=grown.missing_child[:nodes],
        value=value,
        impurity=impurity,
        gain=gain,
        weight=weight,
        count=(grown.end[:nodes] - grown.start[:nodes]).astype(np.int64),
    )


def _thresholds(
    table: TreeTable, grown: records.RandomTreeNodes, feature: np.ndarray, kind: np.ndarray
) -> np.ndarray:
    """Return the thresholds; one between the values of two rows lies in the middle."""
    threshold = grown.threshold[: len(kind)].copy()
    between = ((kind == THRESHOLD) & np.isnan(threshold)).nonzero()[0]
    if len(between):
        f = feature[between]
        rows_of = np.concatenate([grown.below[between], grown.above[between]])
        low, high = table.matrix.at(rows_of, np.concatenate([f, f])).reshape(2, -1)
        middle = low / 2 + high / 2
        as_it_is = (table.features.kind[f] == records.RANK) | (middle >= high)
        threshold[between] = np.where(as_it_is, low, middle)
    return threshold


def _category_sets(
    table: TreeTable,
    grown: records.RandomTreeNodes,
    grid: TreeGrid,
    feature: np.ndarray,
    trees: int,
) -> dict[str, np.ndarray]:
    """Return where the category set of every node begins in its tree, all sets, where a tree's end."""
    if not table.has_categories:
        return {}
    n_codes, kind = table.features.n_codes, table.features.kind
    words = np.where(kind == records.CATEGORY, (n_codes + 31) // 32, 0)
    size = int(np.append(words, 0)[feature].sum())
    if not size:
        return {}
    bits, bits_start = np.empty(size, np.uint32), np.empty(len(feature), np.int64)
    tree_end = np.empty(trees, np.int64)
    write_sets(table.values, n_codes, words, grid.bags.rows, grown, bits_start, bits, tree_end)
    return {"bits_start": bits_start, "bits": bits, "bits_ends": tree_end}
