"""Exact trees: what is kept of them, and growing one with several threads.

    root ──► best cuts of the level ──► rows and lists parted ──► next level … ──► splits below γ taken back

The steps are those of engine/gradient/exact_levels.py. Columns to be searched and nodes whose rows are parted
are shared out to threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine import parallel
from arboretum.engine.columns.lists import Lists, Splits, divide_rows
from arboretum.engine.gradient import exact as engine
from arboretum.engine.gradient import exact_levels as levels
from arboretum.grow.histogram import Grown

if TYPE_CHECKING:
    from arboretum.grow.exact.grower import ExactGrower

__all__ = ["ExactTree", "grow_levels", "new_levels"]


@dataclass(frozen=True, eq=False)
class ExactTree(Grown):
    """A grown tree in terms of values; its nodes' children stand side by side."""

    @property
    def threshold(self) -> np.ndarray:
        """x <= threshold goes left; NaN at a leaf."""
        return self.floats[:, levels.THRESHOLD]

    @property
    def start(self) -> np.ndarray:
        """Where the rows of a node stand in the grower's entries."""
        return self.ints[:, levels.START]

    @property
    def end(self) -> np.ndarray:
        return self.ints[:, levels.END]


def new_levels(n_nodes: int, n_columns: int, n_features: int, groups: np.ndarray) -> levels.Levels:
    """Return room for a tree of so many nodes, that may ask for ``n_columns`` of the features."""
    words = groups.shape[1]
    return levels.Levels(
        ints=np.zeros((levels.N_LINES, n_nodes), np.int64),
        floats=np.empty((levels.N_REAL_LINES, n_nodes)),
        gain=np.empty(n_nodes, np.float32),
        missing_left=np.zeros(n_nodes, bool),
        counters=np.zeros(levels.N_COUNTERS, np.int64),
        draw=engine.Draw(
            columns=np.empty(n_columns, np.int64),
            drawn=np.empty(n_features, np.int64),
            marks=np.zeros(n_features, np.uint8),
            free=np.empty(n_features, np.int64),
            groups=np.empty((n_nodes if words else 0, words), np.uint64),
            group_of=groups,
        ),
    )


def grow_levels(
    grower: ExactGrower, tree: levels.Levels, lists: Lists, units: np.ndarray, key: int
) -> None:
    """Grow a tree from its root, level by level, as `exact_levels.grow_exact_rounds` does."""
    rules, counters, above = grower.rules, tree.counters, lists
    width = len(tree.draw.columns)
    while True:
        a, b = counters[[levels.FIRST, levels.LAST]].tolist()
        nodes = levels.nodes_of(tree, a, b)
        many = levels.open_level(tree, nodes, grower.monotone, units, rules)
        able = levels.able_nodes(tree)
        found = _new_found((width if many else 0, b - a))
        size = int((nodes.end - nodes.start).sum())
        if many:
            if a:
                shape = width, b - a
                lists = Lists(grower.target, np.empty(shape, np.int64), np.empty(shape, np.int64))
            parting = *levels.parting_of(tree), grower.place
            _search(grower, tree, (able, nodes), (above, parting, lists), units, key, found, size)
        if not levels.split_level(tree, nodes, able, found, lists, grower.entries, rules):
            return
        splits, deeper = levels.splits_of(tree, a, b), counters[levels.DEEP] < rules.max_depth
        _divide(grower, lists, splits, nodes, deeper, size)
        above = lists


def _search(
    grower: ExactGrower,
    tree: levels.Levels,
    nodes: tuple[np.ndarray, engine.Figures],
    lists: tuple[Lists, tuple, Lists],
    units: np.ndarray,
    key: int,
    found: engine.Found,
    size: int,
) -> None:
    """Part the lists of the level above, and find the best cuts of the able nodes."""
    rules, draw, counters = grower.rules, tree.draw, tree.counters
    able = nodes[0]
    allowed = np.empty((0, len(draw.marks)), np.uint8)
    if rules.level_columns or rules.node_columns or len(draw.group_of):
        allowed = np.empty((len(able), len(draw.marks)), np.uint8)
        first, depth = counters[levels.FIRST], counters[levels.DEEP]
        engine.draw_allowed(draw, first, able, depth, np.uint64(key), rules, allowed)
    asked = engine.Asked(draw.columns, grower.gappy, grower.monotone, allowed)

    def look(block: tuple[int, int]) -> None:
        work, spare = mine = grower.borrow()
        engine.search_lists(
            *lists, grower.words, *nodes, asked, units, rules, block[0], block[1], work, spare,
            found,
        )  # fmt: skip
        grower.give_back(mine)

    blocks = parallel.blocks(len(draw.columns), 4 * grower.n_jobs)
    grower.share(look, blocks, size * len(draw.columns))


def _divide(
    grower: ExactGrower,
    lists: Lists,
    splits: Splits,
    nodes: engine.Figures,
    deeper: bool,
    size: int,
) -> None:
    """Give the rows of split nodes their new positions."""
    grower.share(
        lambda b: divide_rows(
            lists, splits, nodes, b[0], b[1], grower.entries, grower.words, grower.spare,
            grower.place, deeper,
        ),
        parallel.blocks(len(nodes.g), 8 * grower.n_jobs),
        size,
    )  # fmt: skip


def _new_found(shape: tuple[int, int]) -> engine.Found:
    """Return room for the best cuts of nodes."""
    return engine.Found(
        np.empty(shape, np.float32),
        np.empty(shape, np.int64),
        np.empty(shape, bool),
        np.empty(shape, np.int64),
        np.empty(shape, np.int64),
    )
