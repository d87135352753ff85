"""Exact trees: the arrays that are kept between them, and growing one with several threads.

    root ──► best cuts of the level ──► rows and lists split  ──► next level … ──► splits below γ undone

The steps are those of engine/second_order/exact_levels.py. The columns to search and the
nodes whose rows are partitioned are distributed over the threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine import parallel
from arboretum.engine.columns.lists import Lists, divide_rows
from arboretum.engine.dtypes import EXACT_COUNTERS, EXACT_CUT, EXACT_NODE, record_table
from arboretum.engine.second_order import exact as engine
from arboretum.engine.second_order import exact_levels as levels
from arboretum.grow.decoding import GrownNodes
from arboretum.grow.histogram import new_draw

if TYPE_CHECKING:
    from arboretum.grow.exact.grower import ExactGrower

__all__ = ["ExactTree", "grow_levels", "new_tree"]


@dataclass(frozen=True, eq=False)
class ExactTree(GrownNodes):
    """A grown tree in terms of values; its nodes are EXACT_TREE (engine/dtypes.py)."""

    @property
    def threshold(self) -> np.ndarray:
        """x <= threshold goes left; NaN at a leaf."""
        return self.nodes["threshold"]

    @property
    def start(self) -> np.ndarray:
        """Where the rows of a node stand in the grower's entries."""
        return self.nodes["start"]

    @property
    def end(self) -> np.ndarray:
        return self.nodes["end"]


def new_tree(
    n_nodes: int, n_columns: int, n_features: int, groups: np.ndarray
) -> levels.GrowingExactTree:
    """Return an empty tree of up to ``n_nodes`` nodes that may split on ``n_columns`` of the features."""
    return levels.GrowingExactTree(
        nodes=record_table(n_nodes, EXACT_NODE),
        able=np.empty(n_nodes, np.int64),
        counters=record_table(1, EXACT_COUNTERS),
        draw=new_draw(np.empty(n_columns, np.int64), n_features, n_nodes, groups),
    )


def grow_levels(grower: ExactGrower, tree: levels.GrowingExactTree, lists: Lists, key: int) -> None:
    """Grow a tree from its root, level by level, as `exact_levels.grow_exact` does."""
    rules, scales, rows = grower.rules, grower.scales.chosen, grower.rows
    counters, above, width = tree.counters, lists, len(tree.draw.features)
    while True:
        before, first, end = counters[["above", "first", "end"]][0].tolist()
        nodes = tree.nodes[first:end]
        many = levels.open_level(tree, nodes, grower.monotone, scales, rules)
        shape = width, end - first
        found = record_table(shape if many else (0, end - first), EXACT_CUT)
        size = int((nodes["end"] - nodes["start"]).sum())
        if many:
            if first:
                lists = Lists(grower.target, np.empty(shape, np.int64), np.empty(shape, np.int64))
            level = engine.Level(
                nodes, tree.able[:many], lists, rows.words, tree.nodes[before:first], above,
                rows.place, found,
            )  # fmt: skip
            _search(grower, tree, level, key, size)
        if not levels.split_level(tree, nodes, found, lists, rows.entries, rules):
            return
        _divide(grower, lists, nodes, bool(counters["depth"][0] < rules.max_depth), size)
        above = lists


def _search(
    grower: ExactGrower,
    tree: levels.GrowingExactTree,
    level: engine.Level,
    key: int,
    size: int,
) -> None:
    """Part the lists of the level above, and find the best cuts of the able nodes."""
    rules, draw, scales = grower.rules, tree.draw, grower.scales.chosen
    allowed = grower.allowed_table(len(level.able))
    if len(allowed):
        first, depth = tree.counters["first"][0], tree.counters["depth"][0]
        engine.draw_allowed(draw, first, level.able, depth, np.uint64(key), rules, allowed)
    candidates = engine.Candidates(draw.features, grower.has_missing, grower.monotone, allowed)

    def look(block: tuple[int, int]) -> None:
        scratch = grower.borrow()
        engine.search_lists(level, candidates, scales, rules, block[0], block[1], scratch)
        grower.give_back(scratch)

    blocks = parallel.blocks(len(draw.features), 4 * grower.n_jobs)
    grower.share(look, blocks, size * len(draw.features))


def _divide(grower: ExactGrower, lists: Lists, nodes: np.ndarray, deeper: bool, size: int) -> None:
    """Give the rows of split nodes their new positions."""
    grower.share(
        lambda b: divide_rows(lists, nodes, b[0], b[1], grower.rows, deeper),
        parallel.blocks(len(nodes), 8 * grower.n_jobs),
        size,
    )
