"""A whole tree in one compiled call: levels are searched and divided until there is nothing left to divide.

    open_level     rows learn which node of the level they stand in                    here
    scan_columns   the best cut of every node on every column                          parts.py
    close_level    nodes take their best column; rows move on, children are described  divide.py

Each is compiled apart and called by address (parts.py). Where a table is large and threads are there to share
out its columns, Python calls them itself (grow/presorted/table.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.columns.presort import POSITION
from arboretum.engine.compiler.by_address import address_of, call_at
from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.kinds import LEAF, SUBSET, THRESHOLD
from arboretum.engine.presorted.divide import (
    describe_node,
    divide_node,
    gather_rows,
    place_rows,
    write_leaves,
    write_numbers,
)
from arboretum.engine.presorted.parts import LevelParts, new_parts, scan_columns, scan_drawn
from arboretum.engine.presorted.row_layout import CATEGORIES, LEFT, MET, RANKS, SLOT, TIE
from arboretum.engine.presorted.search import (
    LevelBest,
    LevelScratch,
    LevelTable,
    is_counted,
)
from arboretum.engine.random import mix
from arboretum.engine.split.score import CHANCE, free_categories

__all__ = [
    "LevelRows",
    "LevelWork",
    "Limits",
    "Nodes",
    "close_level",
    "grow_tree",
    "make_root",
    "open_level",
    "parts_for",
]

_EPS = float(np.finfo(np.float64).eps)


class LevelRows(NamedTuple):
    """Arrays over the rows."""

    r: np.ndarray  # (n_rows,) float64: residuals
    weight: np.ndarray  # (n_rows,) float64; empty if every row weighs 1
    row_weight: np.ndarray  # (n_rows,) int64: on its grid; empty if every row weighs 1
    inside: np.ndarray  # (n_rows,) uint8: whether a row is in the bag; empty if all are
    bag: np.ndarray  # (n_in_bag,) int64: the rows in the bag; empty if all are


class Limits(NamedTuple):
    """How far a tree may grow, and the grid of its sums."""

    depth: int
    samples_split: int
    samples_leaf: int
    weight_leaf: float
    least_weight: float  # the same on the grid, at least 1
    decrease: float
    columns: int  # each node draws; 0 for all
    seed: np.uint64
    whole_weights: bool  # weights are whole numbers: they multiply what a row adds
    scale: float  # of residuals
    step: float  # of weights
    penalty: float  # subtracted from splits on categories, in units of their gain by chance
    loner: float  # additional penalty for categories of a single row, in the same units
    smallest: float  # target, on its grid, for a step of weight; only if rows have weights


class Nodes(NamedTuple):
    """The nodes so far, in the order they are numbered."""

    kind: np.ndarray  # uint8: see kinds.py
    feature: np.ndarray  # int32, -1 at a leaf
    first_child: np.ndarray  # int32
    n_children: np.ndarray  # int32
    missing_child: np.ndarray  # int32
    threshold: np.ndarray  # float64
    upper: np.ndarray  # float64: for a split on a number, the next value above it in the node
    gain: np.ndarray  # float64
    weight: np.ndarray  # float64
    mean: np.ndarray  # float64: of residuals
    impurity: np.ndarray  # float64: their variance
    count: np.ndarray  # int64
    bits_start: np.ndarray  # int64, -1 for none
    bits: np.ndarray  # uint32: categories that go left, one bit each
    used: np.ndarray  # (1,) int64: words of ``bits`` so far


class LevelWork(NamedTuple):
    """Scratch arrays for growing a tree; the next tree may reuse them."""

    node: np.ndarray  # uint16: the leaf of every row, once the tree is grown
    words: np.ndarray  # int64: the number that a row adds and the place of its node in the level
    order: np.ndarray  # uint32: rows, node by node: see divide.py
    spare: np.ndarray  # uint32, as many
    begin: np.ndarray  # (2, nodes) int64: where the rows of a node begin, in the bag and out of it
    size: np.ndarray  # (2, nodes) int64: number of rows; 0 where they have moved to children
    ids: np.ndarray  # int64: the nodes of the level
    keys: np.ndarray  # uint64: their random keys
    mean: np.ndarray  # (nodes of a level + 1,) float64: on the grid
    weight: np.ndarray  # float64, as many
    rows: np.ndarray  # int64, as many
    taken: np.ndarray  # (nodes of a level, columns) bool: the columns a node may split on
    n_nodes: np.ndarray  # (1,) int64: nodes so far
    n_open: np.ndarray  # (1,) int64: nodes of the level
    next_ids: np.ndarray  # int64: first children of the level, scratch
    next_keys: np.ndarray  # uint64: keys of their parents, scratch


@inline
def _is_worth(nodes, limits, k):
    """Return whether a node may be divided at all."""
    return (
        nodes.impurity[k] > 0.0
        and nodes.count[k] >= max(limits.samples_split, 2 * limits.samples_leaf)
        and (limits.weight_leaf <= 0 or nodes.weight[k] >= 2 * limits.weight_leaf)
    )


@inline
def _make_leaf(nodes, k):
    nodes.kind[k], nodes.n_children[k], nodes.gain[k], nodes.threshold[k] = LEAF, 0, 0.0, np.nan
    nodes.feature[k] = nodes.first_child[k] = nodes.missing_child[k] = nodes.bits_start[k] = -1


@kernel
def make_root(rows, limits, nodes, work):
    """Put all rows into node 0; ``work.n_open`` is 1 if it may be divided, else 0."""
    gather_rows(rows.inside, work)
    write_numbers(rows.r, rows.weight, limits.whole_weights, limits.scale, work.words)
    _make_leaf(nodes, 0)
    nodes.used[0] = 0
    describe_node(rows.r, rows.weight, work, 0, nodes)
    work.ids[0], work.keys[0] = 0, limits.seed
    work.n_nodes[0], work.n_open[0] = 1, np.int64(_is_worth(nodes, limits, 0))


@kernel
def open_level(rows, limits, work):
    """Write the words of all rows, and the sums over the rows of the level's nodes."""
    place_rows(rows.row_weight, limits.whole_weights, work)


@subkernel
def _worth_of(table, found, f, k, rows, chance, loner):
    """Return the value by which a column's best cut competes with other columns; -inf if it has none.

    Categories are put in an order that suits the residuals, so they gain by chance as well.
    """
    score = found.score[f, k]
    if score < 0.0:
        return -np.inf
    if table.charged[f]:
        score -= chance * free_categories(found.sizes[f, k], rows, loner)
    return score


@subkernel
def _best_column(table, found, work, draws, k, chance, loner):
    """Return a node's best column, the first among equals; -1 for none.

    ``chance`` is what the score of a division owes to chance for every one of its `free_categories`.
    """
    width, best, rows = len(found.score), -np.inf, work.rows[k]
    for f in range(width):
        if not draws or work.taken[k, f]:
            best = max(best, _worth_of(table, found, f, k, rows, chance, loner))
    for f in range(width):
        worth = _worth_of(table, found, f, k, rows, chance, loner)
        may = not draws or work.taken[k, f]
        if may and worth > -np.inf and worth >= best - abs(best) * TIE:
            return f
    return -1


@subkernel
def _middle(low, high):
    """Return the middle of two values, the lower one where it rounds to the upper."""
    middle = low / 2 + high / 2
    return middle if middle < high else low


@subkernel
def _write_question(table, work, found, nodes, f, k, node, counted):
    """Write the split of a node; categories that none of its rows have go where missing values go."""
    place = found.place[f, k]
    nodes.kind[node] = SUBSET if table.kind[f] == CATEGORIES else THRESHOLD
    if table.kind[f] != CATEGORIES and counted:
        nodes.threshold[node] = np.inf  # present against missing
        if place < table.n_values[f]:
            line = np.uint64(table.coded[f])
            low = table.value_of[line, np.uint64(found.sizes[f, k])]
            high = nodes.upper[node] = table.value_of[line, np.uint64(place)]
            nodes.threshold[node] = low if table.kind[f] == RANKS else _middle(low, high)
        return
    if table.kind[f] != CATEGORIES:
        if place == table.present[f]:
            nodes.threshold[node] = np.inf  # present against missing
            return
        entries, i = table.lists[f], place - 1
        while np.uint64(work.words[np.uint64(entries[i] & POSITION)]) & SLOT != np.uint64(k):
            i -= 1
        low = table.values[f, np.uint64(entries[i] & POSITION)]
        high = nodes.upper[node] = table.values[f, np.uint64(entries[place] & POSITION)]
        nodes.threshold[node] = low if table.kind[f] == RANKS else _middle(low, high)
        return
    start = 0
    for j in range(k):
        start += work.rows[j]
    goes_left = nodes.missing_child[node] == 0
    words = (table.n_codes[f] + 31) >> 5
    nodes.bits_start[node] = nodes.used[0]
    line = nodes.bits[nodes.used[0] : nodes.used[0] + words]
    nodes.used[0] += words
    line[:] = 0
    if goes_left:
        for code in range(table.n_codes[f]):
            line[code >> 5] |= np.uint32(1) << np.uint32(code & 31)
    size = np.int64(found.sizes[f, k])
    for j in range(size):
        code = np.uint64(found.arranged[f, np.uint64(start + j)])
        bit = np.uint32(1) << np.uint32(code & np.uint64(31))
        word = code >> np.uint64(5)
        line[word] = line[word] | bit if j < place else line[word] & ~bit


@kernel
def close_level(table, rows, limits, work, found, nodes):
    """Divide the nodes of a level, and count all nodes and those that are worth searching next."""
    size, m = work.n_nodes[0], work.n_open[0]
    k_next = 0
    ids, keys = work.next_ids, work.next_keys
    unit = 1.0 / limits.scale / limits.step
    divided = 0
    for k in range(m):
        node = work.ids[k]
        spread = nodes.impurity[node] / (unit * unit)  # on the grid
        chance = limits.penalty * CHANCE * spread / np.float64(work.rows[k])
        f = _best_column(table, found, work, limits.columns > 0, k, chance, limits.loner)
        if f < 0:
            continue
        gain = found.score[f, k] * work.weight[k] * (limits.step / nodes.weight[0])
        gain *= unit * unit
        if gain + _EPS < limits.decrease:
            continue
        flags = found.flags[f, k]
        # missing values go where they went in the bag; where there were none, to the larger side
        goes_right = 2 * found.on_left[f, k] < work.weight[k]
        if flags & MET:
            goes_right = flags & LEFT == 0
        nodes.feature[node], nodes.gain[node], nodes.n_children[node] = f, gain, 2
        nodes.missing_child[node], nodes.first_child[node] = np.int32(goes_right), size
        _write_question(table, work, found, nodes, f, k, node, is_counted(table, f, m + 1))
        _make_leaf(nodes, size)
        _make_leaf(nodes, size + 1)
        divide_node(table, nodes, node, work)
        ids[divided], keys[divided] = size, work.keys[k]
        divided += 1
        size += 2
    work.n_nodes[0] = size
    for k in range(divided):
        for side in range(2):
            child = ids[k] + side
            describe_node(rows.r, rows.weight, work, child, nodes)
            if _is_worth(nodes, limits, child):
                work.ids[k_next], work.keys[k_next] = child, mix(keys[k], np.uint64(side))
                k_next += 1
    work.n_open[0] = k_next


@kernel
def grow_tree(parts, table, rows, limits, work, scratch, found, nodes, columns):
    """Grow a tree in one thread; write its nodes, and the leaf of every row to ``work.node``."""
    call_at(parts.root, (rows, limits, nodes, work))
    for _ in range(limits.depth):
        if work.n_open[0] == 0:
            break
        call_at(parts.open, (rows, limits, work))
        if limits.columns > 0:
            call_at(parts.drawn, (parts, table, rows, limits, work, scratch, found))
        else:
            scan_columns(parts, table, columns, rows, limits, work, scratch, found)
        call_at(parts.close, (table, rows, limits, work, found, nodes))
    write_leaves(work)


def parts_for(
    table: LevelTable,
    rows: LevelRows,
    limits: Limits,
    work: LevelWork,
    scratch: LevelScratch,
    found: LevelBest,
    nodes: Nodes,
    *,
    gaps: bool,
) -> LevelParts:
    """Return the addresses of the kernels for such trees; ``gaps``: some bag may have missing values."""
    search = table, scratch.columns, rows, limits, work, scratch, found
    ends = (
        (make_root, (rows, limits, nodes, work)),
        (open_level, (rows, limits, work)),
        (close_level, (table, rows, limits, work, found, nodes)),
    )
    parts = new_parts(search, ends, gaps=gaps)
    if limits.columns:
        drawn = address_of(scan_drawn, parts, table, rows, limits, work, scratch, found)
        parts = parts._replace(drawn=drawn)
    return parts
