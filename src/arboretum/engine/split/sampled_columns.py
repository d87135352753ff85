"""Nodes that look at a few columns each, drawn anew at every node.

For each node the columns are visited in a random order of its own: so many as were asked for, and more
until one of them is not constant. A visited column's codes become a short list, sorted or, for random
splits, divided by the question drawn; the ordinary scans read it. All of it happens in one compiled
call for thousands of nodes, and draws depend on the node's key alone (engine/random.py).
"""

from typing import NamedTuple

import numpy as np

from arboretum.engine.columns.codes import list_codes
from arboretum.engine.columns.presort import MISSING, POSITION
from arboretum.engine.compiler.decorators import inline, kernel
from arboretum.engine.random import pick_column
from arboretum.engine.split.best import FROM_CODES, REFUSED
from arboretum.engine.split.many_sums import scan_channels
from arboretum.engine.split.one_sum import scan_moment
from arboretum.engine.split.random import draw_cut, list_drawn
from arboretum.engine.split.score import SQUARES, squares

__all__ = [
    "ColumnDrawing",
    "draw_channels",
    "draw_moment",
    "keep_drawn",
    "longest_node",
    "next_list",
]


class ColumnDrawing(NamedTuple):
    """What nodes may draw from; column j of the codes is feature j."""

    max_features: int
    random_splits: bool
    n_codes: np.ndarray  # (features,) int64
    categorical: np.ndarray  # (features,) bool; only with random splits
    sign: np.ndarray  # (features,) int8: monotone constraints


@inline(makes_arrays=True)
def next_list(codes, rows, nodes, k, keys, drawing, values, f, scratch, out):
    """List the rows by the column drawn in this turn; return (groups, last code left)."""
    missing_code = drawing.n_codes[f]
    start, end = nodes.start[k], nodes.end[k]
    if drawing.random_splits:
        groups, last = list_drawn(
            codes,
            f,
            rows,
            start,
            end,
            missing_code,
            drawing.categorical[f],
            f,
            keys[k],
            values,
            out,
            0,
        )
    else:
        groups, last = (
            list_codes(codes, f, rows, start, end, missing_code, scratch, out),
            np.int64(0),
        )
    return groups, last


@inline
def keep_drawn(
    score, place, side, f, last, codes, rows, n, missing_code, random_splits, out, best, k
):
    """Keep a better cut, said as the last code on the left (n_codes: every present row goes left)."""
    if score < 0.0 or score < best.score[k] or (score == best.score[k] and f > best.feature[k]):
        return
    if random_splits:
        cut = np.int64(missing_code) if place < n and out[place] & MISSING else last
    else:
        cut = np.int64(codes[f, rows[out[place - 1] & POSITION]])
    best.score[k], best.cut[k], best.missing_left[k] = score, cut, side
    best.feature[k], best.source[k] = f, FROM_CODES


@inline
def longest_node(nodes):
    """Rows of the largest node."""
    longest = 1
    for k in range(len(nodes.start)):
        longest = max(longest, nodes.end[k] - nodes.start[k])
    return longest


@inline
def _ask_once(codes, f, rows, row, nodes, k, key, missing_code, values, min_leaf):
    """Score one random threshold without making a list: numbers of weight 1, squared error.

    Returns (score, last code on the left, number of values: 1, 2 for more, 0 if some are missing).
    """
    start, end = nodes.start[k], nodes.end[k]
    low = high = np.int64(codes[f, rows[start]])
    for p in range(start + 1, end):
        c = np.int64(codes[f, rows[p]])
        low, high = min(low, c), max(high, c)
    if high == missing_code:
        return REFUSED, low, 0
    if low == high:
        return REFUSED, low, 1
    _, cut = draw_cut(key, f, low, high, values.start[f], values)
    n_left, left_sum = np.int64(0), np.int64(0)
    for p in range(start, end):
        goes_left = np.int64(np.int64(codes[f, rows[p]]) <= cut)
        n_left += goes_left
        left_sum += goes_left * np.int64(row.number[p, 0])
    if n_left < min_leaf or end - start - n_left < min_leaf:
        return REFUSED, cut, 2
    return squares(left_sum, n_left, nodes.total[k, 0], end - start), cut, 2


@kernel(makes_arrays=True)
def draw_moment(codes, rows, row, nodes, keys, drawing, values, rules, table, best):
    """Search every node on columns of its own draw; `rules` and `table` as for `search_moment`."""
    order = np.empty(len(codes), np.int64)
    longest = longest_node(nodes)
    scratch, out = np.empty((2, longest), np.uint64), np.empty(longest, np.uint32)
    quick = drawing.random_splits and rules[2] == SQUARES and not (rules[3] or len(row.weight))
    for k in range(len(nodes.start)):
        n = nodes.end[k] - nodes.start[k]
        varied = 0
        for turn in range(len(codes)):
            if turn >= drawing.max_features and varied:
                break
            pick_column(keys[k], turn, order)
            f = order[turn]
            if quick and not drawing.categorical[f]:
                score, last, values_met = _ask_once(
                    codes, f, rows, row, nodes, k, keys[k], drawing.n_codes[f], values, rules[0]
                )
                varied += values_met == 2
                if score > best.score[k] or (score == best.score[k] and f < best.feature[k]):
                    best.score[k], best.cut[k], best.missing_left[k] = score, last, 0
                    best.feature[k], best.source[k] = f, FROM_CODES
                if values_met:
                    continue
            groups, last = next_list(codes, rows, nodes, k, keys, drawing, values, f, scratch, out)
            if groups < 2:
                continue
            varied += 1
            score, place, side = scan_moment(
                out, 0, n, row, nodes, k, drawing.sign[f], rules, table, best.score[k]
            )
            keep_drawn(
                score, place, side, f, last, codes, rows, n, drawing.n_codes[f],
                drawing.random_splits, out, best, k,
            )  # fmt: skip


@kernel(makes_arrays=True)
def draw_channels(codes, rows, row, nodes, keys, drawing, values, rules, table, best):
    """Search every node on columns of its own draw; `rules` and `table` as for `search_channels`."""
    order = np.empty(len(codes), np.int64)
    longest = longest_node(nodes)
    scratch, out = np.empty((2, longest), np.uint64), np.empty(longest, np.uint32)
    sums = np.empty((3, nodes.total.shape[1]), np.int64)
    for k in range(len(nodes.start)):
        n = nodes.end[k] - nodes.start[k]
        varied = 0
        for turn in range(len(codes)):
            if turn >= drawing.max_features and varied:
                break
            pick_column(keys[k], turn, order)
            f = order[turn]
            groups, last = next_list(codes, rows, nodes, k, keys, drawing, values, f, scratch, out)
            if groups < 2:
                continue
            varied += 1
            score, place, side = scan_channels(
                out, 0, n, row, nodes, k, drawing.sign[f], rules, table, sums
            )
            keep_drawn(
                score, place, side, f, last, codes, rows, n, drawing.n_codes[f],
                drawing.random_splits, out, best, k,
            )  # fmt: skip
