"""The random splitter: one random question per column and node; the best of them wins.

For a numeric column the threshold is uniform between the node's smallest and largest value; for a
category every value present is sent left or right by a fair coin. The rows are then listed left side
first, with one NEW mark between the sides, so the ordinary scans find exactly one cut:

    codes       4 0 2 9 4 -      drawn: codes <= 2 go left, - is missing
    list        1* 2 | 0* 3 4 | 5*!

Nothing is sorted. Draws are keyed by node and column (engine/random.py): the same question can be
drawn again.
"""

from typing import NamedTuple

import numpy as np

from arboretum.engine.columns.presort import MISSING, NEW
from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.random import mix, uniform

__all__ = ["NodeDraws", "Values", "coins", "draw_again", "draw_lists", "toss_categories"]


class Values(NamedTuple):
    """Code -> value of every column of codes: the entries ``start[j] + code``."""

    start: np.ndarray  # (n_columns,) int64
    low: np.ndarray  # (n_codes_of_all,) float64: smallest value of the code
    high: np.ndarray  # (n_codes_of_all,) float64: largest value of the code


class NodeDraws(NamedTuple):
    """What random questions depend on: key and column of every node, and the values of codes."""

    feature: np.ndarray  # (n_nodes,) int64
    key: np.ndarray  # (n_nodes,) uint64
    values: Values


@inline
def coins(key, feature, block):
    """Return 64 coins: bit c is 1 if category ``64 block + c`` goes left."""
    return mix(mix(key, np.uint64(feature)), np.uint64(block) + np.uint64(2))


@inline
def coin(key, feature, code):
    """Return 1 if the category ``code`` of a column goes left at the node with this key, else 0."""
    c = np.uint64(code)
    return np.int64((coins(key, feature, c >> np.uint64(6)) >> (c & np.uint64(63))) & np.uint64(1))


@inline
def draw_cut(key, feature, low, high, first, values):
    """Return (threshold, last code on the left) of a uniform draw between two codes' values."""
    a, b = values.low[first + low], values.high[first + high]
    u = uniform(mix(mix(key, np.uint64(feature)), np.uint64(0)))
    threshold = a * (1.0 - u) + b * u
    below, above = low, high - 1  # the largest code whose values are all <= threshold
    while below < above:
        middle = (below + above + 1) // 2
        if values.high[first + middle] <= threshold:
            below = middle
        else:
            above = middle - 1
    return threshold, below


@subkernel
def _smallest_and_largest(codes, columns, rows, nodes, k):
    """Return the smallest and the largest code of node k; the smallest is that of missing if there is none.

    codes (n_columns, n_rows) unsigned; rows (n_rows,) uint32.
    """
    missing_code = columns.n_codes[k]
    low, high = np.int64(missing_code), np.int64(-1)
    for p in range(nodes.start[k], nodes.end[k]):
        c = np.int64(codes[columns.slot[k], rows[p]])
        if c != missing_code:
            low, high = min(low, c), max(high, c)
    return low, high


@kernel
def draw_lists(codes, columns, rows, nodes, draws, out, last_left, constant):
    """Write every node's list to ``out[start:end]``: left rows, right rows, missing rows.

    ``last_left[k]``: the last code on the left; ``constant[k]``: the column holds one value only.

    codes (n_columns, n_rows) unsigned; rows (n_rows,) uint32; out (n_rows,) uint32, written; last_left
    (n_nodes,) int64, written; constant (n_nodes,) bool, written.
    """
    for k in range(len(nodes.start)):
        start, end, slot = nodes.start[k], nodes.end[k], columns.slot[k]
        missing_code, key, feature = columns.n_codes[k], draws.key[k], draws.feature[k]
        low, high = _smallest_and_largest(codes, columns, rows, nodes, k)
        missing, lefts, rights = 0, False, False
        for p in range(start, end):
            c = np.int64(codes[slot, rows[p]])
            missing += c == missing_code
            if columns.categorical[k] and c != missing_code:
                if coin(key, feature, c):
                    lefts = True
                else:
                    rights = True
        cut = low
        if low < high and not columns.categorical[k]:
            _, cut = draw_cut(key, feature, low, high, draws.values.start[slot], draws.values)
        last_left[k] = cut
        tossed = lefts and rights  # else the smallest code goes left alone
        middle = end - missing
        left, right, lost = start, middle, middle
        for p in range(start, end):
            c = np.int64(codes[slot, rows[p]])
            if c == missing_code:
                out[lost] = np.uint32(p) | MISSING
                lost += 1
            elif coin(key, feature, c) == 1 if tossed else c <= cut:
                out[left] = np.uint32(p)
                left += 1
            else:
                right -= 1
                out[right] = np.uint32(p)
        groups = 0
        for first, last in ((start, left), (left, middle), (middle, end)):
            if first < last:
                out[first] |= NEW
                groups += 1
        constant[k] = groups < 2


@kernel
def draw_again(codes, columns, rows, nodes, draws, threshold):
    """Write the thresholds drawn at these nodes (numeric columns).

    codes (n_columns, n_rows) unsigned; rows (n_rows,) uint32; threshold (n_nodes,) float64, written.
    """
    for k in range(len(nodes.start)):
        low, high = _smallest_and_largest(codes, columns, rows, nodes, k)
        threshold[k] = np.nan
        if low < high:
            first = draws.values.start[columns.slot[k]]
            threshold[k], _ = draw_cut(
                draws.key[k], draws.feature[k], low, high, first, draws.values
            )


@kernel
def toss_categories(codes, columns, rows, nodes, draws, cut, takes):
    """Write where each category goes to ``takes`` (nodes, most codes): 1 left, 0 right, 2 not in the node.

    A cut at the number of codes sends every category left (missing values stay right).

    codes (n_columns, n_rows) unsigned; rows (n_rows,) uint32; cut (n_nodes,) int64; takes
    (n_nodes, most codes) uint8, written.
    """
    for k in range(len(nodes.start)):
        takes[k, :] = 2
        missing_code = columns.n_codes[k]
        low, lefts, rights = np.int64(missing_code), False, False
        for p in range(nodes.start[k], nodes.end[k]):
            c = np.int64(codes[columns.slot[k], rows[p]])
            if c != missing_code:
                takes[k, c] = coin(draws.key[k], draws.feature[k], c)
                lefts, rights = lefts or takes[k, c] == 1, rights or takes[k, c] == 0
                low = min(low, c)
        if cut[k] == missing_code or not (lefts and rights):
            for c in range(missing_code):
                if takes[k, c] != 2:
                    takes[k, c] = cut[k] == missing_code or c == low
