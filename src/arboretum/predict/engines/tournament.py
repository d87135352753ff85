"""Laying out a model of many small trees whose leaves play a tournament (engine/predict/tournament.py).

It supports trees that split on thresholds. The cost grows with their number of leaves, not with their depth
or with the number of columns they split on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from arboretum.predict.engines import costs
from arboretum.structure.joined import JoinedTrees, UsedColumns, join_trees, used_columns
from arboretum.structure.tree import LEAF, THRESHOLD

if TYPE_CHECKING:
    from arboretum.engine.predict.tournament import Tournament
    from arboretum.predict.sum import Terms

__all__ = ["TournamentEngine", "lay_grid", "lists_of"]


class TournamentEngine:
    """Trees that split on thresholds, whose leaves play a tournament."""

    def __init__(self, layout: Tournament) -> None:
        self.layout = layout

    @staticmethod
    def cost(trees: Terms, n_rows: int) -> float:
        """Return the expected nanoseconds; see `Engine`."""
        if trees.most_nodes >= 2 * costs.PLAYED_LEAVES:
            return math.inf
        leaves, columns = 0.5 * trees.n_nodes, min(trees.trees[0].n_features, trees.n_nodes)
        each = leaves * costs.PLAYED_LEAF + columns * costs.PLAYED_COLUMN
        return costs.CALL + trees.n_nodes * costs.LAID_OUT_NODE + n_rows * each

    @classmethod
    def lay_out(cls, trees: Terms) -> TournamentEngine | None:
        """Return the engine for these trees, or None if one has splits other than thresholds."""
        nodes = join_trees(trees.trees)
        if nodes is None or np.any(nodes.kind > THRESHOLD) or not np.any(nodes.kind):
            return None
        used = used_columns(nodes)
        if np.diff(used.cuts_start).max() >= costs.PLAYED_CUTS:
            return None
        return cls(_arrange(nodes, used, trees.values, trees.columns))

    def add(self, X: np.ndarray, total: np.ndarray) -> None:
        """Add the answers of all trees to ``total``; see `Engine`."""
        from arboretum.engine.predict.tournament import ROWS, TournamentWork, play

        layout = self.layout
        small = np.diff(layout.cuts_start).max() < 256
        code = np.dtype(np.uint8 if small else np.uint16)
        slots = np.zeros((2 * layout.most_leaves - 1, ROWS), code)
        slots[: layout.most_leaves] = np.arange(layout.most_leaves)[:, None]
        work = TournamentWork(
            x=np.zeros(ROWS),
            rank=np.empty(ROWS, np.uint64),
            codes=np.zeros(layout.n_lists * ROWS, code),
            slots=slots.ravel(),
            sums=np.zeros(total.shape[1] * ROWS),
        )
        play(layout, X, work, total)


def _arrange(
    nodes: JoinedTrees, used: UsedColumns, answers: list[np.ndarray], outputs: np.ndarray
) -> Tournament:
    """Return the layout of joined trees.

    ``answers`` has the numbers of the nodes of every tree, (nodes, numbers); ``outputs`` is the output that
    the first of a tree's numbers is added to.
    """
    from arboretum.engine.predict.tournament import Tournament, write_questions

    inner = nodes.kind != LEAF
    leaves = int(np.add.reduceat(~inner, nodes.start[:-1], dtype=np.int64).max())
    lists, n_lists = lists_of(used.of_node[inner], nodes.missing_child[inner], len(used.features))
    n_trees = len(nodes.start) - 1
    grid, guess, look = lay_grid(used.cuts, used.cuts_start)
    layout = Tournament(
        features=used.features,
        cuts=used.cuts,
        cuts_start=used.cuts_start,
        grid=grid,
        guess=guess,
        look=look,
        lists=lists,
        n_lists=n_lists,
        questions=np.empty(np.count_nonzero(inner), np.uint64),
        start=np.empty(n_trees + 1, np.int64),
        most_leaves=leaves,
        values=np.zeros((0, 0, 0)),
        outputs=outputs.astype(np.int64),
    )
    leaf_nodes = np.zeros((n_trees, leaves), np.int64)
    parts = nodes.kind, nodes.threshold, nodes.first_child, nodes.missing_child
    write_questions(layout, parts, used.of_node, nodes.start, leaf_nodes)
    values = np.concatenate(answers)[leaf_nodes]  # (trees, leaves, numbers)
    return layout._replace(values=np.ascontiguousarray(values.transpose(0, 2, 1)))


def lists_of(column: np.ndarray, side: np.ndarray, n_columns: int) -> tuple[np.ndarray, int]:
    """Return the list of codes of every column by the side of missing values, -1 if not needed; how many.

    >>> lists_of(np.array([0, 1, 1]), np.array([1, 0, 1]), 2)
    (array([[-1,  0],
           [ 1,  2]]), 3)
    """
    lists = np.full((n_columns, 2), -1, np.int64)
    lists[column, side] = 0
    n_lists = int(np.count_nonzero(lists == 0))
    lists[lists == 0] = np.arange(n_lists)
    return lists, n_lists


def lay_grid(cuts: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lay an even grid over the cuts of every column; see `Tournament`.

        cells   |    |    |    |    |     a value of the third cell lies above the first two cuts and below
        cuts     |  |      | |     |      the last: two are left to compare

    A larger number is never in an earlier cell, however numbers are rounded: cuts of earlier cells lie below
    a value, and those of later cells above it.
    """
    from arboretum.engine.predict.tournament import CELLS

    first, sizes = cuts[start[:-1]], np.diff(start)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        scale = (CELLS - 1) / (cuts[start[1:] - 1] - first)
        scale[~np.isfinite(scale)] = 0.0  # a single cell holds all cuts
        place = (cuts - np.repeat(first, sizes)) * np.repeat(scale, sizes)
    place = np.where(place > 0, place, 0.0)
    cell = np.where(place < CELLS - 1, place, CELLS - 1).astype(np.int64)
    cell += np.repeat(np.arange(len(sizes)) * CELLS, sizes)
    n_cuts = np.bincount(cell, minlength=len(sizes) * CELLS)
    look = n_cuts.reshape(-1, CELLS).max(axis=1)
    before = (np.cumsum(n_cuts) - n_cuts).reshape(-1, CELLS)
    guess = np.minimum(before, (start[1:] - look)[:, None])  # not beyond the column's last cut
    return np.stack([first, scale], axis=1), guess.astype(np.int32).ravel(), look.astype(np.int64)
