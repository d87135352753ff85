"""Laying out trees of few different splits as tables of leaves (engine/predict/bit_tables.py).

It supports symmetric trees, stumps, and any others of up to eight different splits, on thresholds and on sets
of categories. The cost grows with the number of splits, not of leaves.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from arboretum.predict.engines import costs
from arboretum.predict.engines.tournament import lay_grid, lists_of
from arboretum.structure.joined import JoinedTrees, join_trees, starts_of, used_columns
from arboretum.structure.tree import SUBSET

if TYPE_CHECKING:
    from arboretum.engine.predict.bit_tables import BitTables
    from arboretum.predict.sum import Terms

__all__ = ["BitTableEngine"]

_MOST_CODES = (1 << 16) - 1  # of a column: a code takes two bytes


class BitTableEngine:
    """Trees of few different splits, each a table of leaves."""

    def __init__(self, layout: BitTables) -> None:
        self.layout = layout

    @staticmethod
    def cost(trees: Terms, n_rows: int) -> float:
        """Return the expected nanoseconds; see `Engine`."""
        if trees.n_splits > costs.TABLED_SPLITS:
            return math.inf
        columns = min(trees.trees[0].n_features, trees.n_nodes)
        each = trees.n_splits * costs.TABLED_SPLIT + costs.TABLED_TREE
        a_row = len(trees.trees) * each + columns * costs.PLAYED_COLUMN
        return costs.CALL + trees.n_nodes * costs.LAID_OUT_NODE + n_rows * a_row

    @classmethod
    def lay_out(cls, trees: Terms) -> BitTableEngine | None:
        """Return the engine for these trees, or None if one has too many different splits."""
        nodes = join_trees(trees.trees)
        if nodes is None or not np.any(nodes.kind):
            return None
        layout = _arrange(nodes, trees.values, trees.columns)
        return None if layout is None else cls(layout)

    def add(self, X: np.ndarray, total: np.ndarray) -> None:
        """Add the answers of all trees to ``total``; see `Engine`."""
        from arboretum.engine.predict.bit_tables import ROWS, BitTablesWork, add_tables

        layout = self.layout
        most = np.diff(layout.cuts_start).max(initial=0), layout.n_codes.max(initial=0)
        code = np.dtype(np.uint8 if max(most) < 256 else np.uint16)
        work = BitTablesWork(
            x=np.zeros(ROWS),
            rank=np.empty(ROWS, np.uint64),
            codes=np.zeros((layout.n_lists + len(layout.words)) * ROWS, code),
            places=np.zeros(4 * ROWS, code),
            sums=np.zeros(total.shape[1] * ROWS),
        )
        add_tables(layout, X, work, total)


def _arrange(
    nodes: JoinedTrees, answers: list[np.ndarray], outputs: np.ndarray
) -> BitTables | None:
    """Return the layout of joined trees; None if there are too many splits or cuts.

    ``answers`` has the numbers of the nodes of every tree, (nodes, numbers); ``outputs`` is the output that
    the first of a tree's numbers is added to.
    """
    from arboretum.engine.predict.bit_tables import MOST_BITS, BitTables, find_splits, write_tables

    n_trees = len(nodes.start) - 1
    parts = (
        nodes.kind, nodes.feature, nodes.threshold, nodes.first_child, nodes.missing_child,
        nodes.bits_start, nodes.bits,
    )  # fmt: skip
    bit_of, first_node = np.zeros(len(nodes.kind), np.int64), np.full((n_trees, MOST_BITS), -1)
    most = find_splits(parts, nodes.n_codes, nodes.start, bit_of, first_node)
    used = used_columns(nodes)
    sizes = np.diff(used.cuts_start)
    if most < 0 or max(sizes.max(), nodes.n_codes.max(initial=0)) > _MOST_CODES:
        return None
    split = first_node[first_node >= 0]  # a node of every split, tree after tree
    is_set, column = nodes.kind[split] == SUBSET, used.of_node[split]
    words = np.unique(column[is_set])
    numbers = np.setdiff1d(np.arange(len(used.features)), words)
    cuts_start = starts_of(sizes[numbers])
    place = np.zeros(len(used.features), np.int64)  # of a column among the numbers, or the words
    place[numbers], place[words] = np.arange(len(numbers)), np.arange(len(words))
    lists, n_lists = lists_of(
        place[column[~is_set]], nodes.missing_child[split[~is_set]], len(numbers)
    )
    grid, guess, look = lay_grid(used.cuts, cuts_start)
    sets = split[is_set]
    mark_start = starts_of(nodes.n_codes[nodes.feature[sets]] + 1)
    marks = np.zeros(mark_start[-1], np.uint8)
    leaf_nodes = np.empty((n_trees, 1 << most), np.int64)
    write_tables(parts, nodes.n_codes, nodes.start, bit_of, sets, mark_start, marks, leaf_nodes)
    codes_of, cut_of = np.empty((2, len(split)), np.int64)
    codes_of[is_set], cut_of[is_set] = n_lists + place[column[is_set]], mark_start[:-1]
    codes_of[~is_set] = lists[place[column[~is_set]], nodes.missing_child[split[~is_set]]]
    cut_of[~is_set] = _numbers_of(
        nodes.threshold[split[~is_set]], place[column[~is_set]], used.cuts, cuts_start
    )
    values = np.concatenate(answers)[leaf_nodes]  # (trees, places, numbers)
    return BitTables(
        features=used.features[numbers],
        cuts=used.cuts,
        cuts_start=cuts_start,
        grid=grid,
        guess=guess,
        look=look,
        lists=lists,
        n_lists=n_lists,
        words=used.features[words],
        n_codes=nodes.n_codes[used.features[words]],
        codes_of=codes_of,
        cut_of=cut_of,
        is_set=is_set,
        marks=marks,
        start=starts_of(np.count_nonzero(first_node >= 0, axis=1)),
        values=np.ascontiguousarray(values.transpose(0, 2, 1)),
        outputs=outputs.astype(np.int64),
        order=np.argsort(outputs, kind="stable"),
    )


def _numbers_of(
    threshold: np.ndarray, column: np.ndarray, cuts: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """Return the numbers of thresholds among the sorted cuts of their columns.

    >>> _numbers_of(np.array([7.0, 2.0]), np.array([1, 0]), np.array([1.0, 2, 5, 7]), np.array([0, 2, 4]))
    array([1, 1])
    """
    found = np.empty(len(threshold), np.int64)
    for k in np.unique(column):
        here = column == k
        found[here] = np.searchsorted(cuts[start[k] : start[k + 1]], threshold[here])
    return found
