"""Laying out a model of many small trees whose leaves play a tournament (engine/predict/tournament.py).

It takes trees of thresholds; what it costs is their number of leaves, whatever their depth and however many
columns they ask for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arboretum.structure.joined import JoinedTrees
from arboretum.structure.tree import LEAF, THRESHOLD

if TYPE_CHECKING:
    from arboretum.engine.predict.tournament import Tournament

__all__ = ["add_played", "arrange_tournament"]

_MOST_LEAVES = 128
_MOST_CUTS = 1 << 16  # of a column: a code takes two bytes


def arrange_tournament(
    nodes: JoinedTrees, answers: list[np.ndarray], outputs: np.ndarray
) -> Tournament | None:
    """Return the layout of joined trees, or None if it does not pay.

    ``answers`` is what the nodes of every tree answer, (nodes, numbers); ``outputs`` the output that the
    first of the numbers is added to.
    """
    from arboretum.engine.predict.tournament import Tournament, write_questions

    inner = nodes.kind != LEAF
    leaves = int(np.add.reduceat(~inner, nodes.start[:-1], dtype=np.int64).max())
    if leaves > _MOST_LEAVES or np.any(nodes.kind > THRESHOLD) or not inner.any():
        return None
    features, column = np.unique(nodes.feature[inner], return_inverse=True)
    threshold, sides = nodes.threshold[inner], nodes.missing_child[inner]
    by_value = np.lexsort((threshold, column))
    cuts, owner = threshold[by_value], column[by_value]
    new = np.ones(len(cuts), np.bool_)
    new[1:] = (cuts[1:] != cuts[:-1]) | (owner[1:] != owner[:-1])
    sizes = np.bincount(owner[new], minlength=len(features))
    if sizes.max() >= _MOST_CUTS:
        return None
    lists = np.full((len(features), 2), -1, np.int64)
    lists[column, sides] = 0
    n_lists = int(np.count_nonzero(lists == 0))
    lists[lists == 0] = np.arange(n_lists)
    asked = np.zeros(len(nodes.kind), np.int64)
    asked[inner] = column
    n_trees = len(nodes.start) - 1
    cuts, cuts_start = cuts[new], np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    grid, guess, look = _lay_grid(cuts, cuts_start)
    layout = Tournament(
        features=features.astype(np.int64),
        cuts=cuts,
        cuts_start=cuts_start,
        grid=grid,
        guess=guess,
        look=look,
        lists=lists,
        n_lists=n_lists,
        questions=np.empty(len(column), np.uint64),
        start=np.empty(n_trees + 1, np.int64),
        most_leaves=leaves,
        values=np.zeros((0, 0, 0)),
        outputs=outputs.astype(np.int64),
    )
    leaf_nodes = np.zeros((n_trees, leaves), np.int64)
    parts = nodes.kind, nodes.threshold, nodes.first_child, nodes.missing_child
    write_questions(layout, parts, asked, nodes.start, leaf_nodes)
    values = np.concatenate(answers)[leaf_nodes]  # (trees, leaves, numbers)
    return layout._replace(values=np.ascontiguousarray(values.transpose(0, 2, 1)))


def _lay_grid(cuts: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lay an even grid over the cuts of every column; see `Tournament`.

        cells   |    |    |    |    |     a value of the third cell lies above the first two cuts and below
        cuts     |  |      | |     |      the last: two are left to look at

    What is larger is never in an earlier cell, however numbers are rounded: cuts of earlier cells lie below a
    value, and those of later cells above it.
    """
    from arboretum.engine.predict.tournament import CELLS

    first, sizes = cuts[start[:-1]], np.diff(start)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        scale = (CELLS - 1) / (cuts[start[1:] - 1] - first)
        scale[~np.isfinite(scale)] = 0.0  # one cell has them all
        place = (cuts - np.repeat(first, sizes)) * np.repeat(scale, sizes)
    place = np.where(place > 0, place, 0.0)
    cell = np.where(place < CELLS - 1, place, CELLS - 1).astype(np.int64)
    cell += np.repeat(np.arange(len(sizes)) * CELLS, sizes)
    met = np.bincount(cell, minlength=len(sizes) * CELLS)
    look = met.reshape(-1, CELLS).max(axis=1)
    before = np.concatenate([[0], np.cumsum(met)[:-1]]).reshape(-1, CELLS)
    guess = np.minimum(before, (start[1:] - look)[:, None])  # not beyond the column's last cut
    return np.stack([first, scale], axis=1), guess.astype(np.int32).ravel(), look.astype(np.int64)


def add_played(layout: Tournament, X: np.ndarray, total: np.ndarray) -> None:
    """Add what all trees answer to ``total``, (rows, outputs), for a C-contiguous block of values."""
    from arboretum.engine.predict.tournament import ROWS, TournamentWork, play

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
