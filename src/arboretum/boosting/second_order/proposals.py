"""Cuts proposed by the hessian-weighted sketch for every tree, or for every node (Algorithm 2).

    global    the rows of a tree are sketched once, with the tree's own hessians
    local     the rows of a node are sketched before it is split:

              rows ──sketch──▶ bins ──best cut──▶ two nodes ──sketch, sketch──▶ ...

A tree that is grown node by node is made of stumps: each is grown by the histograms of its own bins, and
its two leaves are grown further. Both classes take the place of `BinnedTable` and its grower (tables.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.second_order.tables import BinnedTable
from arboretum.engine.keys import key_of
from arboretum.grow.grower import Grown, GrowTarget, rest_of
from arboretum.predict.walk import leaves_of
from arboretum.structure.build import build_tree, leaves
from arboretum.structure.tree import LEAF, Tree

if TYPE_CHECKING:
    from arboretum.boosting.second_order.recipe import BoostPlan, TrainingTable
    from arboretum.boosting.second_order.tables import Sketches

__all__ = ["NodeByNode", "TreeByTree"]


class TreeByTree:
    """Bins for every tree."""

    bins = None

    def __init__(self, training: TrainingTable, plan: BoostPlan, rule: Sketches) -> None:
        self.training, self.plan, self.rule = training, plan, rule
        self.table: BinnedTable | None = None

    @property
    def grower(self) -> Any:
        return self

    def is_small(self, n_rows: int, n_trees: int) -> bool:
        """Return False: rounds are not grown in one call."""
        return False

    def grow(self, target: GrowTarget, rows: np.ndarray | None, key: int) -> Grown:
        """Propose cuts by the hessians of the tree's rows, then grow it."""
        weight = np.asarray(target.h, np.float64)
        if rows is not None:
            drawn = np.zeros(len(weight))
            drawn[rows] = weight[rows] * (target.weights if len(target.weights) else 1.0)
            weight = drawn
        training, plan = self.training, self.plan
        bins = self.rule.bins(training.matrix, training.schema, weight, plan.n_jobs)
        self.table = BinnedTable(bins, training.schema, plan)
        return self.table.grower.grow(target, rows, key)

    def decode(self, nodes: Any, ends: np.ndarray) -> list[Tree]:
        """Return the last tree in terms of the table's own values."""
        assert self.table is not None
        return self.table.decode(nodes, ends)


@dataclass(frozen=True, eq=False)
class LocalNodes:
    """A tree that was grown node by node."""

    tree: Tree

    def __len__(self) -> int:
        return len(self.tree)

    @property
    def value(self) -> np.ndarray:
        return self.tree.value[:, 0, 0]

    @property
    def first_child(self) -> np.ndarray:
        """-1 at a leaf."""
        return np.where(self.tree.kind == LEAF, -1, self.tree.first_child)

    def with_value(self, value: np.ndarray) -> LocalNodes:
        """Return the tree with other values."""
        return replace(self, tree=replace(self.tree, value=value.reshape(-1, 1, 1)))


class NodeByNode:
    """Bins for every node."""

    bins = None

    def __init__(self, training: TrainingTable, plan: BoostPlan, rule: Sketches) -> None:
        self.training, self.plan, self.rule = training, plan, rule
        self.stump_plan = replace(plan, rules=plan.rules._replace(max_depth=1, max_leaves=2))

    @property
    def grower(self) -> Any:
        return self

    def is_small(self, n_rows: int, n_trees: int) -> bool:
        """Return False: rounds are not grown in one call."""
        return False

    def grow(self, target: GrowTarget, rows: np.ndarray | None, key: int) -> Grown:
        """Grow a tree, level by level."""
        g, h, columns = target.y, target.h, target.columns
        assert h is not None
        leaf = np.empty(len(g), np.int32)
        if rows is None:
            these = np.arange(len(g))
        else:
            these = rows.astype(np.int64)
        if len(target.weights):
            g, h = g.copy(), h.copy()
            g[rows] *= target.weights
            h[rows] *= target.weights
        waiting, nodes = [(these, 0, key)], [_Node()]
        for at, (here, depth, own_key) in enumerate(waiting):  # the list grows during the loop
            stump, sides = self._split(g, h, here, own_key, columns, depth)
            nodes[at] = replace(nodes[at], stump=stump)
            if not sides:
                leaf[here] = at
                continue
            nodes[at] = replace(nodes[at], first_child=len(nodes))
            for side, part in enumerate(sides):
                waiting.append((part, depth + 1, key_of(own_key, side)))
                nodes.append(_Node(stump, 1 + side))
        tree = self._joined(nodes)
        if rows is not None:
            others = rest_of(rows, len(g))
            leaf[others] = leaves_of(tree, self.training.matrix.take(others), self.plan.n_jobs)
        return Grown(LocalNodes(tree), lambda: leaf)

    def _split(
        self,
        g: np.ndarray,
        h: np.ndarray,
        rows: np.ndarray,
        key: int,
        columns: np.ndarray | None,
        depth: int,
    ) -> tuple[Tree | None, list[np.ndarray]]:
        """Return the stump of a node and the rows of its two sides; none if it stays a leaf."""
        limit = self.plan.rules.max_depth
        if depth and 0 < limit <= depth:
            return None, []
        training = self.training
        own_g, own_h = np.ascontiguousarray(g[rows]), np.ascontiguousarray(h[rows])
        weight = own_h.astype(np.float64)
        part = training.matrix.take(rows)
        bins = self.rule.bins(part, training.schema, weight, self.plan.n_jobs)
        table = BinnedTable(bins, training.schema, self.stump_plan)
        grown = table.grower.grow(GrowTarget(own_g, h=own_h, columns=columns), None, key)
        (stump,) = table.decode(grown.tree, np.array([len(grown.tree)]))
        if len(stump) == 1:
            return stump, []
        return stump, [rows[grown.leaf_of_row == leaf] for leaf in (1, 2)]

    def _joined(self, nodes: list[_Node]) -> Tree:
        """Return one tree from the stumps: a node has its own stump's split and its parent's figures."""
        n = len(nodes)
        splits, bits, n_bits = leaves(n), [np.zeros(0, np.uint32)], 0
        figures: dict[str, list[Any]] = {
            name: [] for name in ("value", "impurity", "weight", "count")
        }
        for at, node in enumerate(nodes):
            source, place = (node.parent, node.side) if node.parent is not None else (node.stump, 0)
            assert source is not None
            for name, values in figures.items():
                values.append(getattr(source, name)[place])
            if node.first_child < 0 or node.stump is None:
                continue
            for name in ("kind", "feature", "threshold", "n_children", "missing_child", "gain"):
                splits[name][at] = getattr(node.stump, name)[0]
            splits["first_child"][at] = node.first_child
            if node.stump.bits_start[0] >= 0:
                splits["bits_start"][at] = n_bits + node.stump.bits_start[0]
                bits.append(node.stump.bits)
                n_bits += len(node.stump.bits)
        known: dict[str, Any] = {name: np.array(values) for name, values in figures.items()}
        return build_tree(self.training.schema, bits=np.concatenate(bits), **splits, **known)

    def decode(self, nodes: LocalNodes, ends: np.ndarray) -> list[Tree]:
        """Return the tree, which already has the table's own values."""
        return [nodes.tree]


@dataclass(frozen=True, eq=False)
class _Node:
    """A node of a tree of stumps: the stump of which it is a leaf, and its own stump."""

    parent: Tree | None = None
    side: int = 0  # which leaf of the parent's stump it is
    stump: Tree | None = None
    first_child: int = -1
