"""The best cut of the columns a node looks at.

A column of categories, or of fewer codes than the node has rows, is counted (counts.py). Else the node
gathers the column's codes, sorts them (sort.py) and walks the cuts:

    code << 32 | place     08·3  12·1  31·0  31·2
    cuts                       |     |

Indices that are read from arrays are unsigned: for a signed one Numba compiles a test whether it counts from
the end. What one kind of target does not need is an argument that is None.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.by_address import call_at
from arboretum.engine.compiler.decorators import addressed, inline, subkernel
from arboretum.engine.depth_first.codes import is_known_constant
from arboretum.engine.depth_first.counts import allowed, order_codes, score, walk_counts
from arboretum.engine.depth_first.records import CATEGORY, EXAMPLE, STAMP
from arboretum.engine.depth_first.sort import HIGH, PLACE, sort_keys
from arboretum.engine.random import pick_column
from arboretum.engine.split.score import free_categories, squares

__all__ = ["best_cut"]


@inline
def _add_row(p, label, number, weight, left):
    """Add a row to the channels ``left``; return what it adds to the only channel.

    label (n_outputs, n_rows) uint32, or None; number (n_outputs, n_rows) int64, or None; weight
    (n_rows,) int64; left (2 * n_channels,) int64, added to, or None.
    """
    one_sum = np.int64(0)
    if left is None and number is not None:
        one_sum = number[0, p]
    if left is not None:
        if label is not None:
            for o in range(len(label)):
                left[label[o, p]] += weight[p]
        if number is not None:
            for o in range(len(number)):
                left[o] += number[o, p]
    return one_sum


@subkernel
def _walk_keys(present, sign, bench, label, number, left):
    """Score the cuts of a sorted column; return (score, rows before the cut, missing left?).

    label (n_outputs, n_rows) uint32, or None; number (n_outputs, n_rows) int64, or None; left
    (2 * n_channels,) int64, scratch, or None: one sum.
    """
    node, rules, logs, weight = bench.node[0], bench.rules, bench.scratch.logs, bench.target.weight
    start, n, node_weight, lower, upper = node.start, node.n, node.weight, node.lower, node.upper
    keys, total = bench.scratch.keys, bench.scratch.total[: node.channels]
    total_sum = total[0]
    best, place, best_side, worth = -1.0, np.int64(0), np.int64(0), -1.0
    for side in range(2 if present < n else 1):
        left_weight, left_sum = np.int64(0), np.int64(0)
        if left is not None:
            for c in range(len(total)):
                left[c] = 0
        if side:
            for i in range(present, n):
                p = start + (keys[i] & PLACE)
                left_sum += _add_row(p, label, number, weight, left)
                left_weight += weight[p]
        here = n - present if side else 0
        code = keys[0] >> HIGH
        for i in range(present if present < n and not side else present - 1):
            p = start + (keys[i] & PLACE)
            left_sum += _add_row(p, label, number, weight, left)
            left_weight += weight[p]
            after = keys[i + 1] >> HIGH
            if after == code:
                continue
            code = after
            if not allowed(here + i + 1, n, left_weight, node_weight, rules):
                continue
            if left is None:
                worth = squares(left_sum, left_weight, total_sum, node_weight)
            if left is not None:
                worth = score(
                    left, total, left_weight, node_weight, rules, logs, sign, lower, upper
                )
            if worth > best:
                best, place, best_side = worth, np.int64(i + 1), np.int64(side)
    return best, place, best_side


@inline
def _search(columns, bench, rows, label, number, left):
    """`best_cut` with what may be None handed over: what is None is not compiled.

    rows (n_rows,) uint32; label (n_outputs, n_rows) uint32, or None; number (n_outputs, n_rows) int64,
    or None; left (2 * n_channels,) int64, or None.
    """
    node, rules, features, scratch = bench.node[0], bench.rules, bench.features, bench.scratch
    keys, constant, kernels = scratch.keys, scratch.constant, bench.kernels
    cells, seen = bench.counter.cells, bench.counter.seen
    start, n, begin = node.start, node.n, np.int64(node.start)
    chance = rules.charge * node.impurity / np.float64(n)
    if left is None and n == 2 and rules.min_weight == 0:
        chance = 0.0  # every column that varies separates two rows
    best, feature, cut, best_side, last = -1.0, np.int64(-1), np.nan, np.int64(0), np.int64(0)
    rank_of_best = -np.inf
    below = above = np.int64(rows[start])
    n_columns = np.int64(len(features.n_codes))
    varied, everything = 0, rules.max_features >= n_columns
    for turn in range(n_columns):
        if turn >= rules.max_features and varied:
            break
        f = np.uint64(turn) if everything else np.uint64(pick_column(node.key, turn, scratch.order))
        if is_known_constant(constant, f, begin, begin + n):
            continue
        missing_code, sign = np.uint64(features.n_codes[f]), features.sign[f]
        is_category = features.kind[f] == CATEGORY
        if is_category or np.int64(missing_code) < n:
            call_at(kernels.count, (columns, bench, rows, f))
            if node.seen < 2:
                constant[f, 0], constant[f, 1] = begin, begin + n
                continue
            varied += 1
            now = bench.counter.tag[0]
            has_missing, subsets, charge = cells[missing_code, STAMP] == now, False, 0.0
            if is_category:
                call_at(kernels.order, (bench, f))
                m, subsets = node.seen, node.subsets != 0
                if features.charged[f]:
                    charge = chance * free_categories(m, n, rules.loner)
            else:
                m = order_codes(np.int64(missing_code), node.seen, now, cells, seen)
            worth, at, side = walk_counts(m, missing_code, has_missing, subsets, sign, bench, left)
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
        call_at(kernels.read, (columns, bench, rows, f))
        if node.low == node.high:
            constant[f, 0], constant[f, 1] = begin, begin + n
            continue
        varied += 1
        sort_keys(keys, n, node.low, node.high, scratch.spare, scratch.buckets)
        present = n
        while present and keys[present - 1] >> HIGH == missing_code:
            present -= 1
        worth, at, side = _walk_keys(present, sign, bench, label, number, left)
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
    """Search as many columns as the rules ask for, and more until one varies; write the best cut to the node.

    When columns compete, something is charged for every category that gains by its order alone
    (`free_categories`): what one more is expected to gain if it means nothing. ``columns`` is the address of
    the table, or of a copy of some rows.

    rows (n_rows,) uint32.
    """
    _search(columns, bench, rows, bench.target.label, bench.target.number, bench.scratch.left)
