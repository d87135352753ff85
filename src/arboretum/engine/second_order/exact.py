"""Exact greedy growth: every cut of every column, in lists that are sorted once per fit.

The scan of a node adds g and h up along its list (columns/lists.py); there is a cut before every mark. The
sums of rows with missing values are the node's total minus the sums of its list, so these rows are never
read.

    list       3  0  4* 2*           * the value differs from the one before
    Σg, Σh     ·──·──┼──┼──·         left of each cut; node - left is on the right

g and h are integers (the real ones times a power of two, about 40 bits), so sums do not depend on their
order, nor the tree on the number of threads. Cuts are scored a few hundred at a time:

    gain = (a²·(e + λ) + d²·(c + λ)) / ((c + λ)·(e + λ)) - score of the node      (a, c) left, (d, e) right

Gains are compared in single precision, as XGBoost does, so gains that differ by rounding are equal. Equal
gains are common (with few values of g and h, as in a first round); among them, the choice is XGBoost's:

    a column that has all values    the largest cut; missing values would go left
    any other column                missing values right, the smallest cut; left only for a larger gain,
                                    and then the largest cut
    two columns                     the first
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.atomic import prefetch
from arboretum.engine.columns.lists import PADDING, Lists, part_list
from arboretum.engine.columns.presort import POSITION
from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.second_order.draw import draw_columns
from arboretum.engine.second_order.score import answer, is_plain, score

__all__ = [
    "CHUNK",
    "Candidates",
    "Level",
    "ScanScratch",
    "choose",
    "describe",
    "draw_allowed",
    "fill_words",
    "search_lists",
]

CHUNK = 512  # cuts scored at a time
_ROUNDING = 1e-12  # a gain below this share of the node's score counts as none
_NONE = np.float32(-np.inf)
_ROW = np.uint64(32)
_MARK = np.uint32(31)
_ZERO, _AHEAD = np.uint64(0), np.uint64(PADDING)


class Level(NamedTuple):
    """The nodes of a level that is searched."""

    nodes: np.ndarray  # (n_nodes,) EXACT_NODE
    able: np.ndarray  # (n_able,) int64, the nodes that might be split
    lists: Lists  # lists of this level; given at the root, written below it
    words: np.ndarray  # (n_rows, 2) int64, g and h by position
    parents: np.ndarray  # (n_parents,) EXACT_NODE, the nodes of the level above; none at the root
    lists_above: Lists  # they may share their entries
    place: np.ndarray  # (n_rows,) uint32, where every row above went
    found: np.ndarray  # (n_columns, n_nodes) EXACT_CUT, written


class Candidates(NamedTuple):
    """The features that may be split on."""

    features: np.ndarray  # (n_columns,) int64, the feature of every list
    has_missing: np.ndarray  # (n_features,) bool, by feature
    monotone: np.ndarray  # (n_features,) int8, by feature; or empty
    allowed: np.ndarray  # (n_able, n_features) uint8; or empty


class ScanScratch(NamedTuple):
    """Scratch arrays for a scan; one per thread."""

    left_g: np.ndarray  # (CHUNK + 1,) int64, sums on the left of cuts
    left_h: np.ndarray  # (CHUNK + 1,) int64
    at: np.ndarray  # (CHUNK + 1,) int64, entries on the left
    gain: np.ndarray  # (CHUNK + 1,) float32
    bits: (
        np.ndarray
    )  # (CHUNK + 1,) int32: the memory of ``gain``: positive numbers have the same order
    best: np.ndarray  # (2,) int32, the largest bits so far: missing values right, left
    kept: np.ndarray  # (2,) EXACT_CUT, the cuts with these gains
    spare: np.ndarray  # (n_rows,) uint32, for a list that is partitioned


class Sums(NamedTuple):
    """Σg, Σh and the number of some rows."""

    g: int
    h: int
    rows: int


# ---------------------------------------------------------------------- before a tree
@kernel
def fill_words(given, scales, start, end, entries, words, sums):
    """Write rows and their g and h as integers at positions start:end, and the sums of g and h.

    scales (1,) SCALES; entries (n_rows,) uint64, written; words (n_rows, 2) int64, written; sums (2,)
    int64, written.
    """
    g, h, rows, factor = given.g, given.h, given.rows, given.factor
    g_scale, h_scale = scales[0].fine.g, scales[0].fine.h
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
def draw_allowed(draw, first_node, able, depth, key, rules, allowed):
    """Write which features every able node of a level may split on.

    able (n_able,) int64; allowed (at least n_able, n_features) uint8, written.
    """
    drawn = draw.drawn[0]
    for k in range(len(able)):
        for f in range(allowed.shape[1]):
            allowed[k, f] = 0
        n = draw_columns(draw, first_node + able[k], depth, key, rules, drawn)
        for i in range(n):
            allowed[k, drawn[i]] = 1


@subkernel
def describe(nodes, unit, rules):
    """Write the answers of nodes and their scores as leaves.

    nodes (n_nodes,) EXACT_NODE, updated.
    """
    for k in range(len(nodes)):
        node = nodes[k]
        g, h, b = np.float64(node.g) * unit.g, np.float64(node.h) * unit.h, 0.0
        rows = np.float64(node.end - node.start)
        if node.h > 0 and h >= rules.min_weight:
            b = answer(g, h, rows, node.parent, node.lower, node.upper, rules.l2, rules)
        node.answer = b
        node.score = score(g, h, b, rules.l2, rules)


# ---------------------------------------------------------------------- scanning
@subkernel
def _add_up(entries, first, many, words):
    """Return the sums of g and h over the rows of a list.

    entries (n_entries + PADDING,) uint32; words (n_rows, 2) int64.
    """
    sum_g, sum_h = np.int64(0), np.int64(0)
    for i in range(np.uint64(first), np.uint64(first + many)):
        prefetch(words, np.uint64(entries[i + _AHEAD] & POSITION), _ZERO)
        p = np.uint64(entries[i] & POSITION)
        sum_g += words[p, 0]
        sum_h += words[p, 1]
    return sum_g, sum_h


@subkernel
def _sum_cuts(entries, first, start, end, words, sum_g, sum_h, scratch):
    """Write the sums before every marked entry of start:end; return their number, and the sums at the end.

    entries (n_entries + PADDING,) uint32; words (n_rows, 2) int64.
    """
    left_g, left_h, at, m = scratch.left_g, scratch.left_h, scratch.at, np.uint64(0)
    for i in range(np.uint64(start), np.uint64(end)):
        prefetch(words, np.uint64(entries[i + _AHEAD] & POSITION), _ZERO)
        entry = entries[i]
        left_g[m], left_h[m], at[m] = sum_g, sum_h, np.int64(i) - first
        m += np.uint64(entry >> _MARK)
        p = np.uint64(entry & POSITION)
        sum_g += words[p, 0]
        sum_h += words[p, 1]
    return np.int64(m), sum_g, sum_h


@subkernel
def _score_plain(m, missing, node, least, l2, unit, scratch):
    """Write the gains of m cuts where answers have no limits or bounds; ``missing`` is added to the left."""
    left_g, left_h, gain = scratch.left_g, scratch.left_h, scratch.gain
    g, h, node_score, g_unit, h_unit = node.g, node.h, node.score, unit.g, unit.h
    missing_g, missing_h = missing.g, missing.h
    for i in range(m):
        left, cover = left_g[i] + missing_g, left_h[i] + missing_h
        a, c = np.float64(left) * g_unit, np.float64(cover) * h_unit
        d, e = np.float64(g - left) * g_unit, np.float64(h - cover) * h_unit
        p, q = c + l2, e + l2
        both = (a * a * q + d * d * p) / (p * q) - node_score
        gain[i] = np.float32(both) if c >= least and e >= least else _NONE


@subkernel
def _score_any(m, missing, node, sign, least, unit, rules, scratch):
    """`_score_plain` with limits, bounds and constraints."""
    rows, gain = node.end - node.start, scratch.gain
    for i in range(m):
        g, h = scratch.left_g[i] + missing.g, scratch.left_h[i] + missing.h
        n = scratch.at[i] + missing.rows
        a, c = np.float64(g) * unit.g, np.float64(h) * unit.h
        d, e = np.float64(node.g - g) * unit.g, np.float64(node.h - h) * unit.h
        gain[i] = _NONE
        if not (c >= least and e >= least and n >= rules.min_rows and rows - n >= rules.min_rows):
            continue
        lower, upper, parent = node.lower, node.upper, node.answer
        b = answer(a, c, np.float64(n), parent, lower, upper, rules.l2, rules)
        o = answer(d, e, np.float64(rows - n), parent, lower, upper, rules.l2, rules)
        if (o - b) * sign < 0.0:
            continue
        both = score(a, c, b, rules.l2, rules) + score(d, e, o, rules.l2, rules)
        gain[i] = np.float32(both - node.score)


@subkernel
def _score(m, missing, node, sign, unit, rules, scratch):
    """Write the gains of m cuts; ``missing`` goes left."""
    least = max(rules.min_weight, unit.h)
    if sign == 0.0 and rules.min_rows <= 1.0 and is_plain(node.lower, node.upper, rules):
        _score_plain(m, missing, node, least, rules.l2, unit, scratch)
    else:
        _score_any(m, missing, node, sign, least, unit, rules, scratch)


@subkernel
def _largest(bits, m):
    """Return the largest of the first m bits, or 0.

    bits (CHUNK + 1,) int32.
    """
    top = np.int32(0)
    for i in range(m):
        top = max(top, bits[i])
    return top


@subkernel
def _keep(m, side, last, scratch):
    """Keep the best of m cuts if it beats the best so far; among equals the first, or the last."""
    bits, best, kept = scratch.bits, scratch.best, scratch.kept[side]
    top = _largest(bits, m)
    if top == 0 or top < best[side] or (top == best[side] and not last):
        return
    i = m - 1 if last else 0
    while bits[i] != top:
        i += -1 if last else 1
    best[side] = top
    kept.cut, kept.left_g, kept.left_h = scratch.at[i], scratch.left_g[i], scratch.left_h[i]
    kept.gain = scratch.gain[i]


@inline
def _scan(level, j, k, has_missing, sign, unit, rules, scratch):
    """Find the best cuts of node k on list j; return the sums of its rows that are not in it.

    ``has_missing`` is False for a column without missing values.
    """
    entries, words, node = level.lists.entries, level.words, level.nodes[k]
    first, many = level.lists.first[j, k], level.lists.many[j, k]
    nothing = Sums(np.int64(0), np.int64(0), np.int64(0))
    missing, n_missing = nothing, node.end - node.start - many
    if n_missing:
        sum_g, sum_h = _add_up(entries, first, many, words)
        missing = Sums(node.g - sum_g, node.h - sum_h, n_missing)
    head = np.uint64(entries[first] & POSITION)
    sum_g, sum_h = words[head, 0], words[head, 1]
    start, end = first + 1, first + many
    while True:
        stop = min(start + CHUNK, end)
        m, sum_g, sum_h = _sum_cuts(entries, first, start, stop, words, sum_g, sum_h, scratch)
        more = m
        if n_missing and stop == end:  # the last cut separates present from missing
            scratch.left_g[m], scratch.left_h[m], scratch.at[m] = sum_g, sum_h, many
            more += 1
        _score(more, nothing, node, sign, unit, rules, scratch)
        _keep(more, 0 if has_missing else 1, not has_missing, scratch)
        if n_missing:
            _score(m, missing, node, sign, unit, rules, scratch)
            _keep(m, 1, True, scratch)
        start = stop
        if start >= end:
            return missing


@subkernel
def _scan_list(j, level, candidates, unit, rules, scratch):
    """Write the best cuts of the able nodes on one list."""
    f, best = candidates.features[j], scratch.best
    sign = np.float64(candidates.monotone[f]) if len(candidates.monotone) else 0.0
    for i in range(len(level.able)):
        k = level.able[i]
        node, found, many = level.nodes[k], level.found[j, k], level.lists.many[j, k]
        found.gain = _NONE
        if len(candidates.allowed) and not candidates.allowed[i, f]:
            continue
        if many == 0 or (many == 1 and node.end - node.start == 1):
            continue
        best[0] = best[1] = 0
        missing = _scan(level, j, k, candidates.has_missing[f], sign, unit, rules, scratch)
        side = np.int64(best[1] > best[0])
        if best[side] == 0:
            continue
        kept = scratch.kept[side]
        found.gain, found.cut, found.missing_left = kept.gain, kept.cut, side
        found.left_g = kept.left_g + side * missing.g
        found.left_h = kept.left_h + side * missing.h


@kernel
def choose(found, able, nodes, least):
    """Keep the best cut of every able node; column -1: no cut gains more than ``least`` and rounding.

    found (n_columns, n_nodes) EXACT_CUT; able (n_able,) int64; nodes (n_nodes,) EXACT_NODE, updated.
    """
    for k in range(len(nodes)):
        nodes[k].column = -1
    for i in range(len(able)):
        k = able[i]
        j = 0
        for other in range(1, len(found)):
            if found[other, k].gain > found[j, k].gain:
                j = other
        if found[j, k].gain > max(least, _ROUNDING * nodes[k].score):
            nodes[k].column, nodes[k].best = j, found[j, k]


@kernel
def search_lists(level, candidates, scales, rules, start, end, scratch):
    """Find the best cuts of a level on the lists start:end, each partitioned before it is scanned.

    scales (1,) SCALES.
    """
    unit = scales[0].fine_unit
    for j in range(start, end):
        part_list(j, level.lists_above, level.parents, level.place, level.lists, scratch.spare)
        _scan_list(j, level, candidates, unit, rules, scratch)
