"""The best cut of the columns a node looks at.

A column of categories, or of fewer codes than the node has rows, is counted (counts.py). Else the node
gathers the column's codes, sorts them (sort.py) and walks the cuts:

    code << 32 | place     08·3  12·1  31·0  31·2
    cuts                       |     |

Where the columns' presorted lists are kept, a large node sorts nothing: it takes its rows out of the list, in
their order.

Two habits keep the compiled loops short. Indices that are read from arrays are unsigned: of a signed one
Numba asks whether it counts from the end. And loops are functions of their own that are handed arrays one by
one. What one kind of target does not need is an argument that is None.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.by_address import call_at
from arboretum.engine.compiler.decorators import addressed, inline, subkernel
from arboretum.engine.depth_first.codes import is_known_constant
from arboretum.engine.depth_first.counts import (
    allowed,
    order_codes,
    score,
    walk_counts,
    walk_sums,
)
from arboretum.engine.depth_first.records import CATEGORY, EXAMPLE, STAMP
from arboretum.engine.depth_first.sort import HIGH, PLACE, sort_keys, take_sorted
from arboretum.engine.random import pick_column
from arboretum.engine.split.score import free_categories, squares

__all__ = ["best_cut"]

_COUNTED = 64  # so many codes are counted where a list is at hand, too


@subkernel
def _walk_squares(keys, n, present, start, number, weight, total, node_weight, rules):
    """Score the cuts of a sorted column; return (score, rows before the cut, missing left?).

    keys (n_rows,) uint64; number (n_outputs, n_rows) int64; weight (n_rows,) int64.
    """
    best, place, best_side = -1.0, np.int64(0), np.int64(0)
    for side in range(2 if present < n else 1):
        left_weight, left_sum = np.int64(0), np.int64(0)
        if side:
            for i in range(present, n):
                p = start + (keys[i] & PLACE)
                left_sum += number[0, p]
                left_weight += weight[p]
        here = n - present if side else 0
        code = keys[0] >> HIGH
        for i in range(present if present < n and not side else present - 1):
            p = start + (keys[i] & PLACE)
            left_sum += number[0, p]
            left_weight += weight[p]
            after = keys[i + 1] >> HIGH
            if after == code:
                continue
            code = after
            if not allowed(here + i + 1, n, left_weight, node_weight, rules):
                continue
            worth = squares(left_sum, left_weight, total, node_weight)
            if worth > best:
                best, place, best_side = worth, np.int64(i + 1), np.int64(side)
    return best, place, best_side


@subkernel
def _add_row(p, label, number, weight, left):
    """Add a row to the channels ``left``.

    label (n_outputs, n_rows) uint32, or None; number (n_outputs, n_rows) int64, or None; weight
    (n_rows,) int64; left (n_channels,) int64, added to.
    """
    if label is not None:
        for o in range(len(label)):
            left[label[o, p]] += weight[p]
    if number is not None:
        for o in range(len(number)):
            left[o] += number[o, p]


@subkernel
def _walk_channels(
    keys, n, present, start, label, number, weight, total, node_weight, rules, logs, left, sign,
    lower, upper,
):  # fmt: skip
    """`_walk_squares` for any channels and constraints.

    keys (n_rows,) uint64; label (n_outputs, n_rows) uint32, or None; number (n_outputs, n_rows) int64,
    or None; weight (n_rows,) int64; total (n_channels,) int64; logs (n_kept,) float64; left (n_channels,)
    int64, scratch.
    """
    best, place, best_side = -1.0, np.int64(0), np.int64(0)
    for side in range(2 if present < n else 1):
        left_weight = np.int64(0)
        for c in range(len(total)):
            left[c] = 0
        if side:
            for i in range(present, n):
                p = start + (keys[i] & PLACE)
                _add_row(p, label, number, weight, left)
                left_weight += weight[p]
        here = n - present if side else 0
        for i in range(present if present < n and not side else present - 1):
            p = start + (keys[i] & PLACE)
            _add_row(p, label, number, weight, left)
            left_weight += weight[p]
            if keys[i + 1] >> HIGH == keys[i] >> HIGH:
                continue
            if not allowed(here + i + 1, n, left_weight, node_weight, rules):
                continue
            worth = score(left, total, left_weight, node_weight, rules, logs, sign, lower, upper)
            if worth > best:
                best, place, best_side = worth, np.int64(i + 1), np.int64(side)
    return best, place, best_side


@inline
def _search(columns, bench, rows, label, number, left):
    """`best_cut` with what may be None handed over: what is None is not compiled.

    rows (n_rows,) uint32; label (n_outputs, n_rows) uint32, or None; number (n_outputs, n_rows) int64,
    or None; left (n_channels,) int64, or None.
    """
    node, rules, features, target = bench.node[0], bench.rules, bench.features, bench.target
    scratch, counter, parts = bench.scratch, bench.counter, bench.parts
    keys, constant, weight = scratch.keys, scratch.constant, target.weight
    cells, seen, lists = counter.cells, counter.seen, features.lists
    start, n, node_weight, listed = node.start, node.n, node.weight, node.listed
    total, begin = scratch.total[: node.channels], np.int64(start)
    chance = rules.charge * node.impurity / np.float64(n)
    best, feature, cut, best_side, last = -1.0, np.int64(-1), np.nan, np.int64(0), np.int64(0)
    rank_of_best = -np.inf
    below = above = np.int64(rows[start])
    n_columns = np.int64(len(features.n_codes))
    varied, everything, few = 0, rules.max_features >= n_columns, n
    if listed:
        few = min(few, _COUNTED)
    worth, at, side = -1.0, np.int64(0), np.int64(0)
    for turn in range(n_columns):
        if turn >= rules.max_features and varied:
            break
        f = np.uint64(turn) if everything else np.uint64(pick_column(node.key, turn, scratch.order))
        if is_known_constant(constant, f, begin, begin + n):
            continue
        missing_code, sign = np.uint64(features.n_codes[f]), features.sign[f]
        is_category = features.kind[f] == CATEGORY
        if is_category or np.int64(missing_code) < few:
            call_at(parts.count, (columns, bench, rows, f))
            if node.met < 2:
                constant[f, 0], constant[f, 1] = begin, begin + n
                continue
            varied += 1
            now = counter.tag[0]
            has_missing, subsets, charge = cells[missing_code, STAMP] == now, False, 0.0
            if is_category:
                call_at(parts.order, (bench, f))
                m, subsets = node.met, node.subsets != 0
                if features.charged[f]:
                    charge = chance * free_categories(m, n, rules.loner)
            else:
                m = order_codes(np.int64(missing_code), node.met, now, cells, seen)
            if left is None:
                worth, at, side = walk_sums(
                    m, missing_code, has_missing, n, node_weight, cells, seen, total[0], rules
                )
            if left is not None:
                worth, at, side = walk_counts(
                    m, missing_code, has_missing, subsets, n, node_weight, cells, seen, total, left,
                    rules, scratch.logs, sign, node.lower, node.upper,
                )  # fmt: skip
            if worth < 0.0:
                continue
            rank = worth - charge
            if rank > rank_of_best or (rank == rank_of_best and np.int64(f) < feature):
                best, rank_of_best, feature, best_side = worth, rank, np.int64(f), np.int64(side)
                last, cut = at, np.nan
                if not is_category:
                    last = seen[at - 1]
                    cut = np.inf if at == m else np.nan
                    below = cells[np.uint64(last), EXAMPLE]
                    above = cells[np.uint64(seen[min(at, m - 1)]), EXAMPLE]
            continue
        if listed:
            varies = take_sorted(lists[f], scratch.place, start, n, keys)
        else:
            call_at(parts.read, (columns, bench, rows, f))
            varies = node.low != node.high
            if varies:
                sort_keys(keys, n, node.low, node.high, scratch.spare, scratch.buckets)
        if not varies:
            constant[f, 0], constant[f, 1] = begin, begin + n
            continue
        varied += 1
        present = n
        while present and keys[present - 1] >> HIGH == missing_code:
            present -= 1
        if left is None and number is not None:
            worth, at, side = _walk_squares(
                keys, n, present, start, number, weight, total[0], node_weight, rules
            )
        if left is not None:
            worth, at, side = _walk_channels(
                keys, n, present, start, label, number, weight, total, node_weight, rules,
                scratch.logs, left, sign, node.lower, node.upper,
            )  # fmt: skip
        if worth >= 0.0 and (
            worth > rank_of_best or (worth == rank_of_best and np.int64(f) < feature)
        ):
            best, rank_of_best, feature, best_side = worth, worth, np.int64(f), np.int64(side)
            last = np.int64(keys[at - 1] >> HIGH)
            cut = np.inf if at == present else np.nan
            below = np.int64(rows[start + (keys[at - 1] & PLACE)])
            above = np.int64(rows[start + (keys[min(at, n - 1)] & PLACE)])
    node.score, node.feature, node.cut, node.side, node.last = best, feature, cut, best_side, last
    node.below, node.above = below, above


@addressed
def best_cut(columns, bench, rows):
    """Look at as many columns as the rules say, and more until one varies; the node is told the best cut.

    When columns compete, something is charged for every category that gains by its order alone
    (`free_categories`): what one more is expected to gain if it means nothing. ``columns`` is the address of
    the table, or of a copy of some rows.

    rows (n_rows,) uint32.
    """
    _search(columns, bench, rows, bench.target.label, bench.target.number, bench.scratch.left)
