"""A random cut of a few rows: columns are drawn, read, cut and scored some at a time.

A deep tree has most of its nodes at the bottom, where looking at a column takes no longer than one wrong
guess of which way a branch goes. So every step is made for all drawn columns before the next one, none waits
for the column before, and rows are padded to whole blocks of eight: loops are of the same few lengths.

    rows 5 2 9          padded       5 2 9 5 5 5 5 5      the ends are those of 5 2 9
    values .3 .9 .1     afterwards   .3 .9 .1 - - - - -   the largest number: never on the left

It finds what `random_cut` does, column by column.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.atomic import add_left, read_blocks
from arboretum.engine.compiler.decorators import addressed, subkernel
from arboretum.engine.depth_first.codes import is_known_constant
from arboretum.engine.depth_first.counts import allowed
from arboretum.engine.depth_first.random_cut import ask_gaps, draw_threshold
from arboretum.engine.depth_first.records import CATEGORY, FEW, RANK, TOGETHER
from arboretum.engine.depth_first.toss import largest_present, last_left, missing_of, toss
from arboretum.engine.random import pick_column
from arboretum.engine.split.score import squares

__all__ = ["cut_few"]

_COLUMN, _LOW, _HIGH, _LAST, _MISSING = 0, 1, 2, 3, 4  # what is known of a drawn column
_ZERO, _ONE, _FEW = np.uint64(0), np.uint64(1), np.uint64(FEW)


@subkernel
def _draw_columns(node_key, turn, until, everything, constant, begin, end, order, drawn):
    """Write the columns of some turns that may vary; return how many.

    constant (n_columns, 2) int64; order (n_columns,) int64, updated; drawn (5, TOGETHER) int64,
    written.
    """
    many = np.uint64(0)
    for t in range(turn, until):
        f = np.uint64(t if everything else pick_column(node_key, t, order))
        drawn[_COLUMN, many] = np.int64(f)
        many += np.uint64(not is_known_constant(constant, f, begin, end))
    return np.int64(many)


@subkernel
def _pad(rows, start, n, blocks, near):
    """Copy the rows of a node, and its first row up to the end of the last block.

    rows (n_rows,) uint32; near (at least FEW,) uint32, written.
    """
    for i in range(np.uint64(n)):
        near[i] = rows[start + i]
    for i in range(np.uint64(n), np.uint64(8 * blocks)):
        near[i] = rows[start]


@subkernel
def _find_ends(columns, bench, rows, blocks, many, near):
    """Read the drawn columns and find their ends; return how many vary, those first.

    rows (n_rows,) uint32; near (at least FEW,) uint32.
    """
    node, kind, constant = bench.node[0], bench.features.kind, bench.scratch.constant
    values, step, x, drawn = columns.values, columns.step, columns.x, columns.drawn
    start, n, begin, varied = node.start, node.n, np.int64(node.start), np.uint64(0)
    missing_value = missing_of(values)
    for k in range(np.uint64(many)):
        f, at, missing = np.uint64(drawn[_COLUMN, k]), varied * _FEW, False
        if kind[f] == CATEGORY:
            low, high, missing = toss(
                values, f * step, f, rows, start, n, node.key, bench.features.n_codes[f], x[at:],
                bench.scratch.keys,
            )  # fmt: skip
        else:
            low, high = read_blocks(values, f * step, near, _ZERO, blocks, x, at)
            missing = high == missing_value
            if missing and low < missing_value:
                high = largest_present(x[at:], n, low, missing_value)
        if low == missing_value or (low == high and not missing):  # no value, or one
            constant[f, 0], constant[f, 1] = begin, begin + n
            continue
        for i in range(np.uint64(n), np.uint64(8 * blocks)):
            x[at + i] = missing_value
        drawn[_COLUMN, varied], drawn[_MISSING, varied] = np.int64(f), np.int64(missing)
        drawn[_LOW, varied], drawn[_HIGH, varied] = np.int64(low), np.int64(high)
        varied += _ONE
    return np.int64(varied)


@subkernel
def _draw_cuts(kind, varied, node_key, x, ends, bits, drawn, cuts):
    """Draw a threshold for every column that varies.

    kind (n_columns,) int8; x (TOGETHER * FEW or more,) int32 or int64; ends (3,) float32 or float64,
    scratch; bits (3,) int32 or int64, scratch; drawn (5, TOGETHER) int64, updated; cuts (TOGETHER,)
    float64, written.
    """
    short = x.dtype.type
    for k in range(np.uint64(varied)):
        f, low, high = np.uint64(drawn[_COLUMN, k]), short(drawn[_LOW, k]), short(drawn[_HIGH, k])
        if kind[f] == CATEGORY:
            drawn[_LAST, k], cuts[k] = last_left(low, high, x), np.nan
        else:
            cut, last = draw_threshold(node_key, f, low, high, ends, bits)
            drawn[_LAST, k], cuts[k] = last, cut


@addressed
def cut_few(columns, bench, rows):
    """`random_cut` of one sum and up to `FEW` rows.

    rows (n_rows,) uint32.
    """
    node, rules, kind, scratch = bench.node[0], bench.rules, bench.features.kind, bench.scratch
    number, weight, total = bench.target.number, bench.target.weight, scratch.total[0]
    start, n, node_weight, node_key, near = (
        node.start, node.n, node.weight, node.key, scratch.buckets,
    )  # fmt: skip
    x, drawn, cuts, order = columns.x, columns.drawn, columns.cuts, scratch.order
    missing_value = np.int64(missing_of(columns.values))
    best, feature, cut, side, last = -1.0, np.int64(-1), np.nan, np.int64(0), np.int64(0)
    everything, begin, unit = rules.max_features >= len(order), np.int64(start), node_weight == n
    blocks = (n + 7) >> 3
    _pad(rows, start, n, blocks, near)
    turn, any_varied = np.int64(0), False
    while turn < len(order):
        until = min(turn + TOGETHER, np.int64(len(order)), rules.max_features)
        if turn >= rules.max_features:  # on until one varies
            if any_varied:
                break
            until = turn + 1
        many = _draw_columns(
            node_key, turn, until, everything, scratch.constant, begin, begin + n, order, drawn
        )
        turn = until
        varied = _find_ends(columns, bench, rows, blocks, many, near)
        _draw_cuts(kind, varied, node_key, x, columns.ends, columns.bits, drawn, cuts)
        any_varied = any_varied or varied > 0
        for k in range(np.uint64(varied)):
            f, at, way, worth = drawn[_COLUMN, k], drawn[_LAST, k], 0, -1.0
            if drawn[_MISSING, k]:
                several = drawn[_LOW, k] < drawn[_HIGH, k]
                worth, way = ask_gaps(
                    x[k * _FEW :], start, n, at, several, number, weight, total, node_weight, rules
                )
            else:
                last_here, here = x.dtype.type(at), k * _FEW
                rows_left, left_sum = add_left(x, here, last_here, number[0], start, blocks)
                left_weight = rows_left
                if not unit:
                    left_weight = add_left(x, here, last_here, weight, start, blocks)[1]
                if allowed(rows_left, n, left_weight, node_weight, rules):
                    worth = squares(left_sum, left_weight, total, node_weight)
            if worth > best or (worth == best and worth >= 0.0 and f < feature):
                best, feature, side = worth, f, np.int64(way == 1)
                cut = np.inf if way == 2 and kind[f] != CATEGORY else cuts[k]
                last = missing_value - 1 if way == 2 else at
    if feature >= 0 and kind[feature] == RANK and cut < np.inf:
        cut = np.floor(cut)  # the rows are ranks: they go the same way
    node.score, node.feature, node.cut, node.side, node.last = best, feature, cut, side, last
