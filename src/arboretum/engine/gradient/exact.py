"""Exact greedy growth: every cut of every column, in lists that are sorted once per fit.

The scan of a node adds g and h up along its list (columns/lists.py) and meets a cut before every mark. What
missing rows weigh is the node's total less the sum of its list, so they are never looked at.

    list       3  0  4* 2*           * the value is another than before
    Σg, Σh     ·──·──┼──┼──·         left of each cut; node - left is on the right

g and h are whole numbers (a power of two times the real ones, about 40 bits), so no sum depends on its
order, nor the tree on the number of threads. Cuts are scored a few hundred at a time:

    gain = (a²·(e + λ) + d²·(c + λ)) / ((c + λ)·(e + λ)) - score of the node      (a, c) left, (d, e) right

Gains are compared in single precision, as the program does: what differs by rounding is equal. Equals are
common (with few values of g and h, as in a first round), and the program's choice of one is kept:

    a column that has all values    the largest cut; missing values would go left
    any other column                missing values right, the smallest cut; left only for a larger gain,
                                    and then the largest cut
    two columns                     the first
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.columns.lists import PADDING, part_list
from arboretum.engine.columns.presort import POSITION
from arboretum.engine.gradient.nodes import draw_columns
from arboretum.engine.gradient.split import answer, score
from arboretum.engine.intrinsics import prefetch
from arboretum.engine.jit import kernel, leaf_kernel

__all__ = [
    "CHUNK",
    "Asked",
    "Draw",
    "Figures",
    "Found",
    "Work",
    "choose",
    "describe",
    "draw_allowed",
    "fill_words",
    "search_lists",
]

CHUNK = 512  # cuts scored at a time
_ROUNDING = 1e-12  # a smaller gain, as a share of the node's score, is none
_NONE = np.float32(-np.inf)
_ROW = np.uint64(32)
_MARK = np.uint32(31)
_ZERO, _AHEAD = np.uint64(0), np.uint64(PADDING)


class Figures(NamedTuple):
    """The nodes of a level."""

    g: np.ndarray  # int64, sums
    h: np.ndarray
    start: np.ndarray  # int64, positions
    end: np.ndarray
    parent: np.ndarray  # float64, what the node above answers; NaN at the root
    lower: np.ndarray  # float64, bounds of the answer
    upper: np.ndarray
    answer: np.ndarray  # float64
    own: np.ndarray  # float64, the score of the node as a leaf


class Found(NamedTuple):
    """The best cuts of nodes by column (a line each), or by all columns (a place per node)."""

    gain: np.ndarray  # float32, -inf for none
    cut: np.ndarray  # int64, entries on its left
    missing_left: np.ndarray  # bool
    left_g: np.ndarray  # int64
    left_h: np.ndarray


class Asked(NamedTuple):
    """What may be asked for."""

    columns: np.ndarray  # int64, the feature of every list
    gappy: np.ndarray  # bool, by feature: values are missing
    monotone: np.ndarray  # int8, by feature; or empty
    allowed: np.ndarray  # (open nodes, features) uint8; or empty


class Work(NamedTuple):
    """What a scan writes on; one per thread."""

    left_g: np.ndarray  # int64, sums on the left of cuts
    left_h: np.ndarray
    at: np.ndarray  # int64, entries on the left
    gain: np.ndarray  # float32
    bits: np.ndarray  # the same memory as int32: positive numbers have the same order
    best: np.ndarray  # int32, the largest bits so far: missing values right, left
    kept: np.ndarray  # (2, 3) int64: at, left_g and left_h there


class Draw(NamedTuple):
    """What `nodes.draw_columns` draws from and writes on."""

    columns: np.ndarray  # int64, of the tree
    drawn: np.ndarray  # int64
    marks: np.ndarray  # uint8
    free: np.ndarray  # int64
    groups: np.ndarray  # (nodes, words) uint64, or empty
    group_of: np.ndarray  # (features, words) uint64, or empty


# ---------------------------------------------------------------------- before a tree
@kernel
def fill_words(g, h, rows, factor, scales, start, end, entries, words, sums):
    """Write rows and their g and h as whole numbers at positions start:end, and what they add up to.

    ``rows`` may be empty (all rows), ``factor`` too (each row counts once).
    """
    g_scale, h_scale = scales[0], scales[1]
    sum_g, sum_h = np.int64(0), np.int64(0)
    for i in range(start, end):
        row, by = np.uint64(rows[i]) if len(rows) else np.uint64(i), np.float32(1.0)
        if len(factor):
            by = factor[i]
        a = np.int64(np.rint(np.float64(g[row] * by) * g_scale))
        b = np.int64(np.rint(np.float64(h[row] * by) * h_scale))
        entries[i] = row << _ROW
        words[i, 0], words[i, 1] = a, b
        sum_g += a
        sum_h += b
    sums[0], sums[1] = sum_g, sum_h


@kernel
def draw_allowed(draw, first_node, open_nodes, depth, key, rules, allowed):
    """Write which features every open node of a level may ask for."""
    for k in range(len(open_nodes)):
        for f in range(allowed.shape[1]):
            allowed[k, f] = 0
        n = draw_columns(draw, draw.drawn, first_node + open_nodes[k], depth, key, rules)
        for i in range(n):
            allowed[k, draw.drawn[i]] = 1


@leaf_kernel
def _enough(h, unit, rules):
    """Tell whether a cover is more than nothing and at least the smallest one allowed."""
    return h > 0 and np.float64(h) * unit >= rules.min_weight


@kernel
def describe(nodes, units, rules):
    """Write what nodes answer and how they score as leaves."""
    for k in range(len(nodes.g)):
        g, h = np.float64(nodes.g[k]) * units[0], np.float64(nodes.h[k]) * units[1]
        rows = np.float64(nodes.end[k] - nodes.start[k])
        b = 0.0
        if _enough(nodes.h[k], units[1], rules):
            b = answer(g, h, rows, nodes.parent[k], nodes.lower[k], nodes.upper[k], rules.l2, rules)
        nodes.answer[k] = b
        nodes.own[k] = score(g, h, b, rules.l2, rules)


# ---------------------------------------------------------------------- scanning
@leaf_kernel
def _add_up(entries, first, many, words):
    """Return what the rows of a list add up to."""
    sum_g, sum_h = np.int64(0), np.int64(0)
    for i in range(np.uint64(first), np.uint64(first + many)):
        prefetch(words, np.uint64(entries[i + _AHEAD] & POSITION), _ZERO)
        p = np.uint64(entries[i] & POSITION)
        sum_g += words[p, 0]
        sum_h += words[p, 1]
    return sum_g, sum_h


@leaf_kernel
def _sum_cuts(entries, first, start, end, words, sum_g, sum_h, left_g, left_h, at):
    """Write the sums before every marked entry of start:end; return the cuts, and the sums behind."""
    m = np.uint64(0)
    for i in range(np.uint64(start), np.uint64(end)):
        prefetch(words, np.uint64(entries[i + _AHEAD] & POSITION), _ZERO)
        entry = entries[i]
        left_g[m], left_h[m], at[m] = sum_g, sum_h, np.int64(i) - first
        m += np.uint64(entry >> _MARK)
        p = np.uint64(entry & POSITION)
        sum_g += words[p, 0]
        sum_h += words[p, 1]
    return np.int64(m), sum_g, sum_h


@leaf_kernel
def _score_plain(m, left_g, left_h, gone_g, gone_h, g, h, own, least, l2, g_unit, h_unit, gain):
    """Write the gains of cuts where nothing bends the answers; what is gone is added to the left."""
    for i in range(m):
        left, cover = left_g[i] + gone_g, left_h[i] + gone_h
        a, c = np.float64(left) * g_unit, np.float64(cover) * h_unit
        d, e = np.float64(g - left) * g_unit, np.float64(h - cover) * h_unit
        p, q = c + l2, e + l2
        found = (a * a * q + d * d * p) / (p * q) - own
        gain[i] = np.float32(found) if c >= least and e >= least else _NONE


@leaf_kernel
def _score_any(m, left_g, left_h, at, gone, k, nodes, sign, least, units, rules, gain):
    """`_score_plain` with limits and bounds; ``gone`` (Σg, Σh, rows) is added to the left."""
    lower, upper, parent = nodes.lower[k], nodes.upper[k], nodes.answer[k]
    rows = nodes.end[k] - nodes.start[k]
    for i in range(m):
        g, h, n = left_g[i] + gone[0], left_h[i] + gone[1], at[i] + gone[2]
        a, c = np.float64(g) * units[0], np.float64(h) * units[1]
        d, e = np.float64(nodes.g[k] - g) * units[0], np.float64(nodes.h[k] - h) * units[1]
        gain[i] = _NONE
        if not (c >= least and e >= least and n >= rules.min_rows and rows - n >= rules.min_rows):
            continue
        b = answer(a, c, np.float64(n), parent, lower, upper, rules.l2, rules)
        o = answer(d, e, np.float64(rows - n), parent, lower, upper, rules.l2, rules)
        if (o - b) * sign < 0.0:
            continue
        both = score(a, c, b, rules.l2, rules) + score(d, e, o, rules.l2, rules)
        gain[i] = np.float32(both - nodes.own[k])


@leaf_kernel
def _largest(bits, m):
    top = np.int32(0)
    for i in range(m):
        top = max(top, bits[i])
    return top


@leaf_kernel
def _keep(m, side, last, work):
    """Keep the best of m cuts if it is better than before; of equals the first, or the last."""
    top = _largest(work.bits, m)
    if top == 0 or top < work.best[side] or (top == work.best[side] and not last):
        return
    i = m - 1 if last else 0
    while work.bits[i] != top:
        i += -1 if last else 1
    work.best[side] = top
    work.kept[side, 0], work.kept[side, 1] = work.at[i], work.left_g[i]
    work.kept[side, 2] = work.left_h[i]


@leaf_kernel
def _is_plain(nodes, k, sign, rules):
    if rules.l1 != 0.0 or rules.max_delta_step > 0.0 or rules.path_smooth > 0.0:
        return False
    if sign != 0.0 or rules.min_rows > 1.0:
        return False
    return nodes.lower[k] == -np.inf and nodes.upper[k] == np.inf


@leaf_kernel
def _score(m, gone, k, nodes, plain, sign, least, units, rules, work):
    """Write the gains of m cuts; what is ``gone`` goes left."""
    if plain:
        _score_plain(
            m, work.left_g, work.left_h, gone[0], gone[1], nodes.g[k], nodes.h[k], nodes.own[k],
            least, rules.l2, units[0], units[1], work.gain,
        )  # fmt: skip
    else:
        _score_any(
            m, work.left_g, work.left_h, work.at, gone, k, nodes, sign, least, units, rules,
            work.gain,
        )  # fmt: skip


@leaf_kernel
def _scan(entries, first, many, words, k, nodes, gappy, sign, units, rules, work):
    """Find the best cuts of a node on one list; return what is gone: Σg, Σh and rows.

    A list of a column with all values is not ``gappy``.
    """
    least, plain = max(rules.min_weight, units[1]), _is_plain(nodes, k, sign, rules)
    nothing = (np.int64(0), np.int64(0), np.int64(0))
    gone = nothing
    n_gone = nodes.end[k] - nodes.start[k] - many
    if n_gone:
        sum_g, sum_h = _add_up(entries, first, many, words)
        gone = (nodes.g[k] - sum_g, nodes.h[k] - sum_h, n_gone)
    head = np.uint64(entries[first] & POSITION)
    sum_g, sum_h = words[head, 0], words[head, 1]
    start, end = first + 1, first + many
    while True:
        stop = min(start + CHUNK, end)
        m, sum_g, sum_h = _sum_cuts(
            entries, first, start, stop, words, sum_g, sum_h, work.left_g, work.left_h, work.at
        )
        more = m
        if n_gone and stop == end:  # the last cut parts present from missing
            work.left_g[m], work.left_h[m], work.at[m] = sum_g, sum_h, many
            more += 1
        _score(more, nothing, k, nodes, plain, sign, least, units, rules, work)
        _keep(more, 0 if gappy else 1, not gappy, work)
        if n_gone:
            _score(m, gone, k, nodes, plain, sign, least, units, rules, work)
            _keep(m, 1, True, work)
        start = stop
        if start >= end:
            return gone


@leaf_kernel
def _scan_node(entries, first, many, words, k, nodes, gappy, sign, units, rules, work, j, found):
    """Write the best cut of a node on one list."""
    if many == 0 or (many == 1 and nodes.end[k] - nodes.start[k] == 1):
        return
    best, kept = work.best, work.kept
    best[0] = best[1] = 0
    gone = _scan(entries, first, many, words, k, nodes, gappy, sign, units, rules, work)
    side = np.int64(best[1] > best[0])
    if best[side] == 0:
        return
    work.bits[0] = best[side]
    found.gain[j, k], found.cut[j, k], found.missing_left[j, k] = work.gain[0], kept[side, 0], side
    found.left_g[j, k] = kept[side, 1] + side * gone[0]
    found.left_h[j, k] = kept[side, 2] + side * gone[1]


@leaf_kernel
def _scan_list(j, lists, words, open_nodes, nodes, asked, units, rules, work, found):
    """Write the best cuts of the open nodes on one list."""
    f = asked.columns[j]
    sign = np.float64(asked.monotone[f]) if len(asked.monotone) else 0.0
    for i in range(len(open_nodes)):
        k = open_nodes[i]
        found.gain[j, k] = _NONE
        if len(asked.allowed) == 0 or asked.allowed[i, f]:
            _scan_node(
                lists.entries, lists.first[j, k], lists.many[j, k], words, k, nodes,
                asked.gappy[f], sign, units, rules, work, j, found,
            )  # fmt: skip


@kernel
def choose(found, open_nodes, nodes, least, column, best):
    """Write the best list of every open node (-1: none gains more than ``least`` and rounding)."""
    for k in range(len(column)):
        column[k] = -1
    for i in range(len(open_nodes)):
        k = open_nodes[i]
        j = 0
        for other in range(1, len(found.gain)):
            if found.gain[other, k] > found.gain[j, k]:
                j = other
        if not found.gain[j, k] > max(least, _ROUNDING * nodes.own[k]):
            continue
        column[k] = j
        best.gain[k], best.cut[k] = found.gain[j, k], found.cut[j, k]
        best.missing_left[k] = found.missing_left[j, k]
        best.left_g[k], best.left_h[k] = found.left_g[j, k], found.left_h[j, k]


@kernel
def search_lists(
    above, parting, lists, words, open_nodes, nodes, asked, units, rules, start, end, work, spare,
    found,
):  # fmt: skip
    """Find the best cuts of a level on the lists start:end, each parted before it is scanned.

    Parameters
    ----------
    above, lists : Lists
        Of the level above, and of this one, to be filled; they may share their entries.
    parting : tuple
        (first position on the right, left child or -1) of every node above, and where every row went.
        At the root there are no nodes above, and ``lists`` is what is scanned.
    words : (n, 2) int64 array
        g and h by position.
    open_nodes : int64 array
        The nodes that might be split.
    """
    middle, child, place = parting
    for j in range(start, end):
        part_list(j, above, middle, child, place, lists, spare)
        _scan_list(j, lists, words, open_nodes, nodes, asked, units, rules, work, found)
