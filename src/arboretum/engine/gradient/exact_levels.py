"""An exact tree while it grows: level after level, its nodes in arrays of the whole tree.

    root ──► nodes that might be split ──► search_lists ──► cuts chosen ──► children ──► divide_rows ──► …
                                                                 └──► none: pruned, written down

Threads share out the search and the division of rows, with a short call before and after; on a small table
all steps, for all trees of several rounds, run in one call, as on histograms (rounds.py).
γ does not stop the growth: a split of little gain stays if one below it pays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.columns.lists import NOWHERE, Lists, Splits, divide_rows, filter_lists
from arboretum.engine.columns.presort import POSITION
from arboretum.engine.gradient.exact import (
    Asked,
    Draw,
    Figures,
    Found,
    Work,
    choose,
    describe,
    draw_allowed,
    fill_words,
    search_lists,
)
from arboretum.engine.gradient.loss import derive
from arboretum.engine.gradient.nodes import ANSWER, COVER, DEPTH, LEFT, ROWS, SLOT, VALUE
from arboretum.engine.gradient.pack import Given, add_value, choose_scales, find_largest
from arboretum.engine.gradient.split import (
    FEATURE,
    GAIN,
    KIND,
    LEFT_G,
    LEFT_H,
    MISSING_LEFT,
    NUMBER,
)
from arboretum.engine.jit import inline, kernel, leaf_kernel
from arboretum.engine.random import mix

__all__ = [
    "Levels",
    "Table",
    "able_nodes",
    "grow_exact_rounds",
    "nodes_of",
    "open_level",
    "parting_of",
    "plant",
    "split_level",
    "splits_of",
    "write_tree",
]

# counters: nodes before the level above, before this level and up to its end; leaves; depth; able nodes
ABOVE, FIRST, LAST, LEAVES, DEEP, ABLE = 0, 1, 2, 3, 4, 5
N_COUNTERS = 6
# places of what is written of a node besides that of nodes.py: the rows whose values stand on both sides
# of its cut (-1: none on the right), its positions, and, filled later, the number between the values
LOW, HIGH, START, END, THRESHOLD = LEFT_G, LEFT_H, SLOT, DEPTH, ANSWER
# lines of a growing tree's whole numbers and numbers
_G, _H, _START, _END, _COLUMN, _CUT, _MIDDLE, _LEFT_G, _LEFT_H, _FEATURE, _CHILD = range(11)
_LOW, _HIGH, _NUMBER, _ABLE, _WANTED = range(11, 16)
N_LINES = 16
_PARENT, _LOWER, _UPPER, _ANSWER, _OWN = range(5)
N_REAL_LINES = 5
# pairs of lines of a table's room: lists of the root, of a sample, at even depths and at odd ones; best cuts
_ROOT, _SAMPLE, _EVEN, _ODD, _BEST = 0, 2, 4, 6, 8
N_ROOM = 11
LEAST_GAIN = 1e-6  # the program's: a smaller gain is taken for rounding
_ROW = np.uint64(32)


class Levels(NamedTuple):
    """A tree that grows: its nodes, level after level, and where it stands.

    Fields of the nodes are lines of few arrays: Numba takes long to compile what has many.
    """

    ints: np.ndarray  # (N_LINES, nodes) int64
    floats: np.ndarray  # (N_REAL_LINES, nodes) float64
    gain: np.ndarray  # float32, of the best cut
    missing_left: np.ndarray  # bool
    counters: np.ndarray  # int64
    draw: Draw


class Table(NamedTuple):
    """The presorted table, and room to work on."""

    lists: Lists  # of all columns and rows
    target: np.ndarray  # uint32, entries of lists that follow the nodes of a tree
    room: np.ndarray  # (N_ROOM, columns of a tree, nodes of a level) int64
    gain: np.ndarray  # (columns, nodes) float32
    missing_left: np.ndarray  # (columns, nodes) bool
    entries: np.ndarray  # uint64, the row at every position, times 2³²
    words: np.ndarray  # (n, 2) int64, its g and h
    place: np.ndarray  # uint32, where every row goes
    spare: tuple[np.ndarray, np.ndarray]
    asked: Asked
    work: Work
    spare_list: np.ndarray  # uint32


def nodes_of(tree, a, b):
    """Return the nodes a:b."""
    i, r = tree.ints, tree.floats
    return Figures(
        i[_G][a:b], i[_H][a:b], i[_START][a:b], i[_END][a:b], r[_PARENT][a:b], r[_LOWER][a:b],
        r[_UPPER][a:b], r[_ANSWER][a:b], r[_OWN][a:b],
    )  # fmt: skip


def splits_of(tree, a, b):
    """Return the splits of the nodes a:b."""
    i = tree.ints
    return Splits(i[_COLUMN][a:b], i[_CUT][a:b], tree.missing_left[a:b], i[_MIDDLE][a:b])


def able_nodes(tree):
    """Return the nodes of the level that might be split, counted from its first."""
    return tree.ints[_ABLE][: tree.counters[ABLE]]


_nodes, _splits, _able = inline(nodes_of), inline(splits_of), inline(able_nodes)  # for kernels


# ---------------------------------------------------------------------- steps
@leaf_kernel
def _plant(tree, sums, n_rows):
    """Make the root."""
    ints, floats, counters = tree.ints, tree.floats, tree.counters
    ints[_G, 0], ints[_H, 0], ints[_START, 0], ints[_END, 0] = sums[0], sums[1], 0, n_rows
    floats[_PARENT, 0], floats[_LOWER, 0], floats[_UPPER, 0] = np.nan, -np.inf, np.inf
    counters[ABOVE] = counters[FIRST] = counters[DEEP] = 0
    counters[LAST] = counters[LEAVES] = 1
    for w in range(tree.draw.groups.shape[1]):
        tree.draw.groups[0, w] = ~np.uint64(0)


@leaf_kernel
def _open(tree, nodes, monotone, units, rules):
    """Begin a level, of the given nodes: describe them, note which might be split; return how many.

    Both sides of a split need rows and cover. For the level above the left children are noted of nodes of
    which a child might be split, else -1.
    """
    ints, counters, many = tree.ints, tree.counters, 0
    above, first = counters[ABOVE], counters[FIRST]
    for turn in range(2 if len(monotone) else 1):  # bounds need answers, and change them
        for node in range(above, first if turn else above):
            if ints[_CHILD, node] >= 0:
                _bound(tree.floats, ints[_CHILD, node], monotone[ints[_FEATURE, node]])
        describe(nodes, units, rules)
    for k in range(len(nodes.g)):
        may = counters[DEEP] < rules.max_depth and counters[LEAVES] < rules.max_leaves
        may &= nodes.end[k] - nodes.start[k] >= max(2.0, 2.0 * rules.min_rows)
        may &= np.float64(nodes.h[k]) * units[1] * (1 + 1e-9) >= 2.0 * rules.min_weight
        ints[_NUMBER, first + k] = may
        if may:
            ints[_ABLE, many] = k
            many += 1
    for node in range(above, first):
        left = ints[_CHILD, node]
        may = left >= 0 and (ints[_NUMBER, left] or ints[_NUMBER, left + 1])
        ints[_WANTED, node] = left - first if may else -1
    counters[ABLE] = many
    return many


@inline
def _bound(floats, left, sign):
    """Part the bounds of children in the middle of their answers where a constraint asks."""
    middle = floats[_ANSWER, left] / 2 + floats[_ANSWER, left + 1] / 2
    if sign > 0:
        floats[_UPPER, left] = floats[_LOWER, left + 1] = middle
    elif sign < 0:
        floats[_LOWER, left] = floats[_UPPER, left + 1] = middle


def parting_of(tree):
    """Return where the rows of the level above are parted, and which children's lists are wanted."""
    above, first = tree.counters[ABOVE], tree.counters[FIRST]
    return tree.ints[_MIDDLE][above:first], tree.ints[_WANTED][above:first]


_parting = inline(parting_of)


@leaf_kernel
def _split(tree, nodes, able, found, lists, entries, rules):
    """End a level: choose its splits, no more than there may be leaves, and make the next level.

    Returns how many splits there are.
    """
    ints, counters = tree.ints, tree.counters
    a, b = counters[FIRST], counters[LAST]
    best = Found(
        tree.gain[a:b], ints[_CUT][a:b], tree.missing_left[a:b], ints[_LEFT_G][a:b],
        ints[_LEFT_H][a:b],
    )  # fmt: skip
    choose(found, able, nodes, LEAST_GAIN, ints[_COLUMN][a:b], best)
    many, most = 0, max(rules.max_leaves - counters[LEAVES], 0)
    for node in range(a, b):
        j, k = ints[_COLUMN, node], node - a
        ints[_CHILD, node] = ints[_FEATURE, node] = -1
        if j < 0:
            continue
        if many >= most:
            ints[_COLUMN, node] = -1
            continue
        start, cut, size = nodes.start[k], ints[_CUT, node], lists.many[j, k]
        gone = nodes.end[k] - start - size
        ints[_MIDDLE, node] = start + cut + (gone if tree.missing_left[node] else 0)
        ints[_FEATURE, node], ints[_CHILD, node] = tree.draw.columns[j], b + 2 * many
        for side in range(2):
            ints[_LOW + side, node] = -1
            if cut + side <= size:
                at = lists.first[j, k] + cut + side - 1
                position = np.uint64(lists.entries[at] & POSITION)
                ints[_LOW + side, node] = np.int64(entries[position] >> _ROW)
        _add_children(tree, node, b + 2 * many)
        many += 1
    if many:
        counters[ABOVE], counters[FIRST], counters[LAST] = a, b, b + 2 * many
        counters[LEAVES] += many
        counters[DEEP] += 1
    return many


@inline
def _add_children(tree, node, left):
    """Make the children of a node."""
    ints, floats, draw = tree.ints, tree.floats, tree.draw
    for line in range(2):  # Σg and Σh
        ints[line, left] = ints[_LEFT_G + line, node]
        ints[line, left + 1] = ints[line, node] - ints[_LEFT_G + line, node]
    ints[_START, left], ints[_END, left] = ints[_START, node], ints[_MIDDLE, node]
    ints[_START, left + 1], ints[_END, left + 1] = ints[_MIDDLE, node], ints[_END, node]
    for child in range(left, left + 2):
        floats[_PARENT, child] = floats[_ANSWER, node]
        floats[_LOWER, child] = floats[_LOWER, node]
        floats[_UPPER, child] = floats[_UPPER, node]
        for w in range(draw.groups.shape[1]):
            still = draw.groups[node, w] & draw.group_of[ints[_FEATURE, node], w]
            draw.groups[child, w] = still


@inline
def _prune(tree, rules):
    """Take back splits of two leaves that gain too little, from the bottom up."""
    ints, least = tree.ints, np.float32(rules.min_gain)
    for node in range(tree.counters[LAST] - 1 if rules.min_gain > 0 else -1, -1, -1):
        left = ints[_CHILD, node]
        if left < 0 or ints[_CHILD, left] >= 0 or ints[_CHILD, left + 1] >= 0:
            continue
        gain = tree.gain[node]
        if not (gain >= least if rules.reach_gain else gain > least):
            ints[_CHILD, node] = -1


@leaf_kernel
def _write_tree(tree, units, rules, step, log, at):
    """Prune a tree and write its nodes down, from ``at`` on; their answers are multiplied by ``step``."""
    _prune(tree, rules)
    own, many, n = tree.ints, 1, tree.counters[LAST]
    for node in range(n):
        own[_NUMBER, node] = -1 if node else 0  # unless its parent is kept
    for node in range(n):
        left = own[_CHILD, node]
        if own[_NUMBER, node] >= 0 and left >= 0:
            own[_NUMBER, left], own[_NUMBER, left + 1] = many, many + 1
            many += 2
    for node in range(n):
        left, place = own[_CHILD, node], own[_NUMBER, node]
        if place < 0:
            continue
        ints, floats = log.ints[at + place], log.floats[at + place]
        is_inner = left >= 0
        ints[KIND], ints[LEFT] = NUMBER, own[_NUMBER, left] if is_inner else -1
        ints[FEATURE] = own[_FEATURE, node] if is_inner else -1
        ints[MISSING_LEFT] = np.int64(is_inner and tree.missing_left[node])
        ints[LOW] = own[_LOW, node] if is_inner else -1
        ints[HIGH] = own[_HIGH, node] if is_inner else -1
        ints[START], ints[END] = own[_START, node], own[_END, node]
        ints[ROWS] = own[_END, node] - own[_START, node]
        floats[GAIN] = np.float64(tree.gain[node]) if is_inner else 0.0
        floats[COVER] = np.float64(own[_H, node]) * units[1]
        floats[VALUE] = (tree.floats[_ANSWER, node] + 0.0) * step + 0.0  # 0 has no sign
    return many


# ---------------------------------------------------------------------- for several threads
@kernel
def plant(tree, sums, n_rows):
    """Make the root."""
    _plant(tree, sums, n_rows)


@kernel
def open_level(tree, nodes, monotone, units, rules):
    """Begin a level: describe its nodes; return how many might be split."""
    return _open(tree, nodes, monotone, units, rules)


@kernel
def split_level(tree, nodes, able, found, lists, entries, rules):
    """End a level whose cuts are found: choose splits, make the next level; return how many splits."""
    return _split(tree, nodes, able, found, lists, entries, rules)


@kernel
def write_tree(tree, units, rules, step, log, at):
    """Prune a tree and write its nodes down; return how many they are."""
    return _write_tree(tree, units, rules, step, log, at)


# ---------------------------------------------------------------------- all of them in one call
@inline
def _room(table, entries, line):
    """Return room for lists."""
    return Lists(entries, table.room[line], table.room[line + 1])


@leaf_kernel
def _fill_root(table, columns, rows):
    """Write the lists of the columns, and of the rows of a sample if there is one."""
    root = _room(table, table.lists.entries, _ROOT)
    for j in range(len(columns)):
        f = columns[j]
        root.first[j, 0], root.many[j, 0] = table.lists.first[f, 0], table.lists.many[f, 0]
        table.room[_SAMPLE, j, 0] = root.first[j, 0]
    if len(rows) == 0:
        return
    for i in range(len(table.place)):
        table.place[i] = NOWHERE
    for i in range(len(rows)):
        table.place[rows[i]] = i
    filter_lists(root, table.place, table.target, 0, len(columns), table.room[_SAMPLE + 1])


@leaf_kernel
def _grow(tree, table, sampled, key, units, rules):
    """Grow a tree from its root, level by level."""
    draw, counters, asked, room = tree.draw, tree.counters, table.asked, table.room
    found = Found(table.gain, room[_BEST], table.missing_left, room[_BEST + 1], room[_BEST + 2])
    lists = _room(table, table.lists.entries, _ROOT)
    if sampled:
        lists = _room(table, table.target, _SAMPLE)
    while True:
        above, a, b = lists, counters[FIRST], counters[LAST]
        nodes = _nodes(tree, a, b)
        many, able = _open(tree, nodes, asked.monotone, units, rules), _able(tree)
        if many:
            middle, child = _parting(tree)
            if a > 0:
                lists = _room(table, table.target, _ODD if counters[DEEP] & 1 else _EVEN)
            if len(asked.allowed):
                draw_allowed(draw, a, able, counters[DEEP], key, rules, asked.allowed)
            search_lists(
                above, (middle, child, table.place), lists, table.words, able, nodes, asked, units,
                rules, 0, len(draw.columns), table.work, table.spare_list, found,
            )  # fmt: skip
        if _split(tree, nodes, able, found, lists, table.entries, rules) == 0:
            return
        divide_rows(
            lists, _splits(tree, a, b), nodes, 0, b - a, table.entries, table.words, table.spare,
            table.place, counters[DEEP] < rules.max_depth,
        )  # fmt: skip


@kernel
def grow_exact_rounds(
    tree, table, given, scales, rules, n_rows, target, turn, columns, room, log, ends
):
    """Make some rounds of exact trees; see `rounds.grow_rounds`.

    ``columns`` has a line for every output, or one for all. Trees that were not split answer like others.
    """
    made, at, n_outputs = 0, np.int64(0), len(target.g)
    sums, units = np.empty(2, np.int64), np.empty(2)
    shares = np.empty((n_outputs + 2, len(target.y)))
    for m in range(turn.first, turn.first + turn.rounds):
        if at + room > len(log.ints):
            break
        derive(target.loss, target.y, target.score, target.weight, target.g, target.h, shares)
        for k in range(n_outputs):
            for j in range(columns.shape[1]):
                tree.draw.columns[j] = columns[min(k, len(columns) - 1), j]
            key = mix(mix(mix(turn.seed, np.uint64(m)), np.uint64(k)), np.uint64(0))
            own = Given(
                target.g[k], target.h[k], given.rows, given.factor, given.factor_of, given.most, key
            )
            find_largest(own, 0, len(own.g), scales.found[0])
            if not choose_scales(own, scales, n_rows):
                return made
            fill_words(
                own.g, own.h, own.rows, own.factor, scales.fine, 0, n_rows, table.entries,
                table.words, sums,
            )  # fmt: skip
            units[0], units[1] = 1.0 / scales.fine[0], 1.0 / scales.fine[1]
            _plant(tree, sums, n_rows)
            _fill_root(table, tree.draw.columns, own.rows)
            _grow(tree, table, len(own.rows) > 0, key, units, rules)
            end = at + _write_tree(tree, units, rules, turn.step, log, at)
            for node in range(at, end if turn.moves else at):
                if log.ints[node, LEFT] < 0:
                    add_value(
                        table.entries, log.ints[node, START], log.ints[node, END],
                        log.floats[node, VALUE], target.score, np.uint64(k),
                    )  # fmt: skip
            at = end
            ends[made] = at
            made += 1
    return made
