"""Fractional cases: searching and dividing nodes whose rows may be in several nodes at once.

C4.5 sends a row that lacks the value of a test down every branch, a fraction of its weight in each. So
a node holds *cases*, each a row with a weight, and dividing a node may make more cases than it had:

    node            cases (row weight)           outlook of row 7 is missing
    outlook?        3 1   7 1   9 1   4 1
      sunny         3 1   9 1   7 .67            known cases first, in their order, then the shared
      rain          4 1   7 .33

The cases of a level stand node behind node; the presorted list of a numeric column (columns/presort.py) holds
their positions. A level is divided by writing the next one: each list is read once from front to back
and handed on to the children, of which those that stay leaves receive nothing.

Figures in bits come from f(x) = x log2 x: with N the weight of a node and n_c that of its classes,
N·H = f(N) - Σ f(n_c). Comparisons leave `TIE` for rounding, since fractions are summed in any order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine import elementwise
from arboretum.engine.columns.presort import MISSING, NEW, POSITION
from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.elementary import log2
from arboretum.engine.kinds import MULTIWAY, THRESHOLD
from arboretum.engine.split.score import x_log2_x

__all__ = [
    "EPS",
    "TIE",
    "CaseNodes",
    "CaseValues",
    "Cases",
    "Dealt",
    "Questions",
    "answer",
    "bits_table",
    "deal",
    "find_branches",
    "hand_on",
    "hand_on_list",
    "round_down",
    "scan_thresholds",
    "scan_values",
]

TIE = 1e-9  # figures closer than this differ by rounding only
EPS = 1e-3  # Quinlan's: the least split information, the slack of his comparisons


class Cases(NamedTuple):
    """The cases of some nodes, those of a node next to each other."""

    row: np.ndarray  # (n_cases,) uint32
    label: np.ndarray  # (n_cases,) int32, class of the row
    weight: np.ndarray  # (n_cases,) float64, the fraction of the row that is here


class CaseValues(NamedTuple):
    """The values of the rows, every value once: numbers as they are, categories as short codes."""

    numbers: np.ndarray  # (n_rows, n_number_columns) float64, NaN is missing
    codes: np.ndarray  # (n_category_columns, n_rows) unsigned; n_values is missing
    n_values: np.ndarray  # (n_category_columns,) int64, per column of categories
    slot: np.ndarray  # (n_columns,) int64, per column: its place among those of its kind


class CaseNodes(NamedTuple):
    """The nodes they belong to."""

    start: np.ndarray  # (n_nodes,) int64
    end: np.ndarray  # (n_nodes,) int64
    total: np.ndarray  # (n_nodes, n_classes) float64, weight of every class
    weight: np.ndarray  # (n_nodes,) float64


class Questions(NamedTuple):
    """The tests of nodes; one entry per node is a tree laid out for cases."""

    kind: np.ndarray  # (n_nodes,) uint8, 0 at a leaf
    feature: np.ndarray  # (n_nodes,) int32
    threshold: np.ndarray  # (n_nodes,) float64
    first_child: np.ndarray  # (n_nodes,) int32
    n_children: np.ndarray  # (n_nodes,) int32
    missing_child: np.ndarray  # (n_nodes,) int32, -1: down every branch
    map_start: np.ndarray  # (n_nodes,) int64, where the groups of the categories begin in `maps`
    maps: np.ndarray  # (n_mapped,) uint32, child of each category


class Dealt(NamedTuple):
    """Where the cases of nodes go, and what their children have of them."""

    branch: np.ndarray  # (n_cases,) int32: the child of each case, -1: all
    known: np.ndarray  # (n_children,) float64: weight of the cases whose value is known
    rows: np.ndarray  # (n_children,) int64: their number
    total: (
        np.ndarray
    )  # (n_children, n_classes) float64: class weights, a part of the missing included


def bits_table(n: int) -> np.ndarray:
    """Return x log2 x for the whole numbers up to n, or as many as are worth keeping."""
    x = np.arange(min(n, 1 << 20) + 1, dtype=np.float64)
    x[1:] *= elementwise.log2(x[1:])
    return x


@inline
def bits(x, table):
    """Return x log2 x; small whole numbers are looked up.

    table (n_kept,) float64, of `bits_table`.
    """
    if x > 0.0 and x < len(table):  # compared as a float: from 2^63 on it is no int64
        i = np.int64(x)
        if x == np.float64(i):
            return table[i]
    return x_log2_x(x)


@kernel
def round_down(numbers, slot, order, present, value):
    """Write the largest training value up to each of ``value``; order[slot, :present[slot]] is sorted.

    numbers (n_rows, n_number_columns) float64; slot (n_queries,) int64; value (n_queries,) float64;
    order (n_number_columns, n_rows) uint32; present (n_number_columns,) int64.
    """
    for q in range(len(value)):
        f = slot[q]
        low, high = 0, present[f]  # the answer stands before `high`
        while high - low > 1:
            middle = (low + high) // 2
            if numbers[order[f, middle] & POSITION, f] <= value[q]:
                low = middle
            else:
                high = middle
        value[q] = numbers[order[f, low] & POSITION, f] + 0.0  # no -0.0


@kernel(makes_arrays=True)
def scan_thresholds(entries, cases, nodes, min_cases, table, gain, info, cut):
    """Find the cut of largest gain of every node on one presorted list.

    Writes per node the gain after the charge log2(cuts tried)/N, the split information, and the place
    in the list where the right side begins, -1 if no cut is admissible.

    entries (n_cases,) uint32; table (n_kept,) float64; gain, info (n_nodes,) float64, written; cut
    (n_nodes,) int64, written.
    """
    classes = nodes.total.shape[1]
    left, right = np.empty(classes), np.empty(classes)
    left_bits, right_bits = np.empty(classes), np.empty(classes)
    label, weight = cases.label, cases.weight
    for k in range(len(nodes.start)):
        lo, present, total_weight = nodes.start[k], nodes.end[k], nodes.weight[k]
        gain[k], info[k], cut[k] = 0.0, 0.0, -1
        for c in range(classes):
            left[c], left_bits[c], right[c] = 0.0, 0.0, nodes.total[k, c]
        missing_weight = 0.0
        while present > lo and entries[present - 1] & MISSING:
            present -= 1
            p = entries[present] & POSITION
            right[label[p]] -= weight[p]
            missing_weight += weight[p]
        known = total_weight - missing_weight
        if known < 2.0 * min_cases - TIE:
            continue
        least = max(min_cases, min(0.1 * known / classes, 25.0)) - TIE
        left_sum, right_sum = 0.0, 0.0
        for c in range(classes):
            right_bits[c] = bits(right[c], table)
            right_sum += right_bits[c]
        before = bits(known, table) - right_sum
        below, best, tries, best_below = 0.0, -1.0, 0, 0.0
        for i in range(lo, present):
            if entries[i] & NEW and below >= least and i > lo:
                above = known - below
                if above < least:
                    break
                tries += 1
                left_now, right_now = bits(below, table), bits(above, table)
                gain_here = before - (left_now - left_sum) - (right_now - right_sum)
                if gain_here > best + TIE * total_weight:
                    best, cut[k], best_below = gain_here, i, below
            p = entries[i] & POSITION
            c, w = label[p], weight[p]
            below += w
            left[c] += w
            right[c] -= w
            now = bits(left[c], table)
            left_sum += now - left_bits[c]
            left_bits[c] = now
            now = bits(right[c], table)
            right_sum += now - right_bits[c]
            right_bits[c] = now
        if tries == 0:
            continue
        gain[k] = (best - log2(np.float64(tries))) / total_weight
        if gain[k] <= TIE:
            cut[k] = -1
            continue
        parts = (
            bits(missing_weight, table) + bits(best_below, table) + bits(known - best_below, table)
        )
        info[k] = (bits(total_weight, table) - parts) / total_weight


@inline
def count_values(codes, cases, start, end, tag, stamp, seen, counts):
    """Add up the class weights of every code of one node; return how many codes it holds.

    codes (n_rows,) uint8, uint16 or uint32; stamp, seen (n_codes + 1,) int64, scratch; counts
    (n_codes + 1, n_classes) float64, written.
    """
    n = 0
    for p in range(start, end):
        c = np.int64(codes[cases.row[p]])
        if stamp[c] != tag:
            stamp[c] = tag
            seen[n] = c
            n += 1
            for j in range(counts.shape[1]):
                counts[c, j] = 0.0
        counts[c, cases.label[p]] += cases.weight[p]
    return n


@kernel(makes_arrays=True)
def scan_values(codes, n_codes, cases, nodes, min_cases, table, gain, info, n_large):
    """Judge, for every node, the test with one branch per category of one column.

    Code ``n_codes`` means missing. Writes the gain, the split information and the number of branches
    of weight ``min_cases`` or more.

    codes (n_rows,) uint8, uint16 or uint32; table (n_kept,) float64; gain, info (n_nodes,) float64,
    written; n_large (n_nodes,) int64, written.
    """
    classes = nodes.total.shape[1]
    counts = np.empty((n_codes + 1, classes))
    stamp, seen = np.full(n_codes + 1, -1), np.empty(n_codes + 1, np.int64)
    for k in range(len(nodes.start)):
        n = count_values(codes, cases, nodes.start[k], nodes.end[k], k, stamp, seen, counts)
        missing_weight, after, parts, gain[k], info[k], n_large[k] = 0.0, 0.0, 0.0, 0.0, 0.0, 0
        for i in range(n):
            v, inside, branch = seen[i], 0.0, 0.0
            for c in range(classes):
                branch += counts[v, c]
                inside += bits(counts[v, c], table)
            if v == n_codes:
                missing_weight = branch
                continue
            parts += bits(branch, table)
            after += bits(branch, table) - inside
            n_large[k] += branch >= min_cases - TIE
        if n_large[k] < 2:
            continue
        inside, total_weight = 0.0, nodes.weight[k]
        for c in range(classes):
            missed = counts[n_codes, c] if stamp[n_codes] == k else 0.0
            inside += bits(nodes.total[k, c] - missed, table)
        gain[k] = (bits(total_weight - missing_weight, table) - inside - after) / total_weight
        info[k] = (bits(total_weight, table) - bits(missing_weight, table) - parts) / total_weight


@inline
def answer(questions, q, x, n_codes):
    """Return the child that question q sends the value x to, -1 for all of them.

    ``n_codes`` is the number of categories of the column: a code beyond them counts as missing.
    """
    if x != x:
        return np.int64(questions.missing_child[q])
    if questions.kind[q] == THRESHOLD:
        return np.int64(x > questions.threshold[q])
    code = np.int64(x)  # numbers too large for it become negative
    if code < 0 or code >= n_codes:
        return np.int64(questions.missing_child[q])
    if questions.kind[q] == MULTIWAY:
        return code
    return np.int64(questions.maps[questions.map_start[q] + code])


@subkernel
def find_branches(questions, q, values, row, begin, end, branch):
    """Write the child that question q sends each of the rows ``row[begin:end]`` to, -1 for all of them.

    row (n_cases,) uint32; branch (end - begin,) int32, written.
    """
    slot, missing, start = (
        values.slot[questions.feature[q]],
        questions.missing_child[q],
        questions.map_start[q],
    )
    numbers, codes, maps, threshold = (
        values.numbers,
        values.codes,
        questions.maps,
        questions.threshold[q],
    )
    if questions.kind[q] == THRESHOLD:
        for i in range(end - begin):
            x = numbers[row[begin + i], slot]
            branch[i] = missing if x != x else np.int32(x > threshold)
        return
    gone, multiway = values.n_values[slot], questions.kind[q] == MULTIWAY
    for i in range(end - begin):
        code = np.int64(codes[slot, row[begin + i]])
        if code == gone:
            branch[i] = missing
        else:
            branch[i] = code if multiway else maps[start + code]


@kernel(makes_arrays=True)
def deal(values, cases, nodes, questions, dealt):
    """Send the cases of every node to the branches of its question.

    Children are numbered through (``questions.first_child``). `dealt` is 0 at first but for ``branch``, and
    stays 0 for a child that no known case reaches.
    """
    branch, known, rows, total = dealt.branch, dealt.known, dealt.rows, dealt.total
    classes = total.shape[1]
    missed = np.empty(classes)
    for q in range(len(nodes.start)):
        first, last = questions.first_child[q], questions.first_child[q] + questions.n_children[q]
        for c in range(classes):
            missed[c] = 0.0
        begin, end = nodes.start[q], nodes.end[q]
        find_branches(questions, q, values, cases.row, begin, end, branch[begin:end])
        for p in range(begin, end):
            v = branch[p]
            w, c = cases.weight[p], cases.label[p]
            if v < 0:
                missed[c] += w
                continue
            child = first + v
            branch[p] = child
            known[child] += w
            rows[child] += 1
            total[child, c] += w
        total_weight = 0.0
        for child in range(first, last):
            total_weight += known[child]
        for child in range(first, last):
            for c in range(classes):
                total[child, c] += missed[c] * (known[child] / total_weight)


@kernel(makes_arrays=True)
def hand_on(cases, nodes, questions, dealt, start, place, out):
    """Write the cases of the children; ``start`` is where a child's begin, -1 if it needs none.

    ``place``: of each case, its place among the known cases of its child or among the node's missing.

    start (n_children,) int64; place (n_cases,) uint32, written.
    """
    branch, known, rows = dealt.branch, dealt.known, dealt.rows
    cursor = np.zeros(len(start), np.int64)
    for q in range(len(nodes.start)):
        first, last = questions.first_child[q], questions.first_child[q] + questions.n_children[q]
        total_weight, missed = 0.0, 0
        for child in range(first, last):
            total_weight += known[child]
        for p in range(nodes.start[q], nodes.end[q]):
            child = branch[p]
            if child >= 0:
                place[p] = cursor[child]
                cursor[child] += 1
                if start[child] >= 0:
                    at = start[child] + place[p]
                    out.row[at], out.label[at] = cases.row[p], cases.label[p]
                    out.weight[at] = cases.weight[p]
                continue
            place[p] = missed
            missed += 1
            for child in range(first, last):
                if start[child] >= 0:
                    at = start[child] + rows[child] + place[p]
                    out.row[at], out.label[at] = cases.row[p], cases.label[p]
                    out.weight[at] = cases.weight[p] * (known[child] / total_weight)


@kernel(makes_arrays=True)
def hand_on_list(entries, nodes, questions, dealt, start, place, out):
    """Write one presorted list of the children; a value is new if its run is new in the child.

    entries (n_cases,) uint32; start (n_children,) int64; place (n_cases,) uint32; out (n_next_cases,)
    uint32, written.
    """
    branch, rows = dealt.branch, dealt.rows
    cursor, last_run = np.empty(len(start), np.int64), np.empty(len(start), np.int64)
    for q in range(len(nodes.start)):
        first, last = questions.first_child[q], questions.first_child[q] + questions.n_children[q]
        for child in range(first, last):
            cursor[child], last_run[child] = start[child], -1
        run = 0
        for i in range(nodes.start[q], nodes.end[q]):
            entry = entries[i]
            run += np.int64(entry >> np.uint32(31))
            p = entry & POSITION
            flag = entry & MISSING
            child = branch[p]
            if child >= 0:
                if start[child] >= 0:
                    new = NEW if run != last_run[child] else np.uint32(0)
                    out[cursor[child]] = np.uint32(start[child] + place[p]) | flag | new
                    cursor[child] += 1
                    last_run[child] = run
                continue
            for child in range(first, last):
                if start[child] >= 0:
                    new = NEW if run != last_run[child] else np.uint32(0)
                    at = start[child] + rows[child] + place[p]
                    out[cursor[child]] = np.uint32(at) | flag | new
                    cursor[child] += 1
                    last_run[child] = run
