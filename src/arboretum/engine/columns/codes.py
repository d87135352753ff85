"""Codes: a column as small ordered integers, and the two ways to search them.

Column j of ``codes`` holds one code per original row; the largest code of the column means missing.
A node with many rows per code *counts* (split/counts.py); a node with few *sorts*: its rows' codes and
positions share one uint64, and the sorted keys become a list like the presorted ones (presort.py), so
that the same scans serve both.

    rows' codes    7 2 2 9      positions 0 1 2 3
    keys           (2,1) (2,2) (7,0) (9,3)
    list           1*    2     0*    3*
"""

import numpy as np

from arboretum.engine.columns.presort import MISSING, NEW, POSITION
from arboretum.engine.compiler.decorators import inline, kernel

__all__ = ["bin_codes", "codes_from_list", "sort_nodes"]

_SHIFT = np.uint64(30)
_LOW = np.uint64((1 << 30) - 1)
_BYTE = np.uint64(255)
_MANY = 512  # from this many rows on a radix sort is faster than merging


@kernel
def codes_from_list(entries, code_of_value, missing_code, out):
    """Write each row's code; ``code_of_value`` gives the code of each distinct value in order.

    entries (n_rows,) uint32; code_of_value (n_values,) int64; out (n_rows,) uint8 or uint16 or uint32,
    written.
    """
    value = -1
    for i in range(len(entries)):
        e = entries[i]
        if e & MISSING:
            out[e & POSITION] = missing_code
        else:
            value += 1 if e & NEW else 0
            out[e & POSITION] = code_of_value[value]


@kernel
def bin_codes(entries, max_bins, code_of_value):
    """Group a list's distinct values into at most ``max_bins`` bins of about equal rows.

    Fills ``code_of_value`` (one entry per distinct value) and returns the number of bins. A bin ends at
    the first value at which it holds its share of the rows that were left when it began.

    entries (n_rows,) uint32; code_of_value (n_values,) int64, written.
    """
    present = 0
    while present < len(entries) and not entries[present] & MISSING:
        present += 1
    value, code, in_bin, left = -1, 0, 0, present
    share = present / max_bins
    i = 0
    while i < present:
        end = i + 1
        while end < present and not entries[end] & NEW:
            end += 1
        value += 1
        code_of_value[value] = code
        in_bin += end - i
        if in_bin >= share and end < present and code < max_bins - 1:
            left -= in_bin
            code += 1
            in_bin = 0
            share = left / (max_bins - code)
        i = end
    return code + 1


@inline
def _merge_sort(keys, spare, n):
    """Insertion sort of runs of 16, then bottom-up merging.

    keys (at least n,) uint64, updated; spare (at least n,) uint64, scratch.
    """
    for base in range(0, n, 16):
        for i in range(base + 1, min(base + 16, n)):
            key = keys[i]
            j = i - 1
            while j >= base and keys[j] > key:
                keys[j + 1] = keys[j]
                j -= 1
            keys[j + 1] = key
    run = 16
    while run < n:
        for low in range(0, n, 2 * run):
            middle, high = min(low + run, n), min(low + 2 * run, n)
            a, b = low, middle
            for to in range(low, high):
                if a < middle and (b >= high or keys[a] <= keys[b]):
                    spare[to] = keys[a]
                    a += 1
                else:
                    spare[to] = keys[b]
                    b += 1
        for i in range(n):
            keys[i] = spare[i]
        run *= 2


@inline(makes_arrays=True)
def _radix_sort(keys, spare, n, most):
    """Sort by code, eight bits at a time from the lowest; rows of one code keep their order.

    keys (at least n,) uint64, updated; spare (at least n,) uint64, scratch.
    """
    count = np.empty(257, np.int64)
    shift = _SHIFT
    while most > 0:
        for b in range(257):
            count[b] = 0
        for i in range(n):
            count[((keys[i] >> shift) & _BYTE) + np.uint64(1)] += 1
        for b in range(256):
            count[b + 1] += count[b]
        for i in range(n):
            b = (keys[i] >> shift) & _BYTE
            spare[count[b]] = keys[i]
            count[b] += 1
        for i in range(n):
            keys[i] = spare[i]
        most >>= 8
        shift += np.uint64(8)


@inline(makes_arrays=True)
def _sort_keys(keys, spare, n, most):
    """Sort the first n keys, whose codes are at most ``most``.

    keys (at least n,) uint64, updated; spare (at least n,) uint64, scratch.
    """
    if n > _MANY:
        _radix_sort(keys, spare, n, most)
    else:
        _merge_sort(keys, spare, n)


@inline
def _write_list(keys, n, missing_code, out, at):
    """Turn sorted keys into entries at ``out[at:]``; return how many values there are.

    keys (at least n,) uint64; out (n_rows,) uint32, written.
    """
    before, values = np.int64(-1), 0
    for i in range(n):
        c = np.int64(keys[i] >> _SHIFT)
        e = np.uint32(keys[i] & _LOW)
        if c != before:
            e |= NEW
            values += 1
        if c == missing_code:
            e |= MISSING
        out[at + i] = e
        before = c
    return values


@kernel(makes_arrays=True)
def sort_nodes(codes, rows, start, end, columns, rank, scratch, out, constant):
    """Write the list of every node's own column to ``out[start:end]``.

    Parameters
    ----------
    columns : Columns
        Per node: the column it is searched on.
    rank : int32 array (nodes, most codes), or with no columns
        Per node the place of each code, for categories that are ordered anew in every node.
    scratch : (2, longest node) uint64 array
    constant : output
        Per node: whether the column holds one value only (missing counts as a value).

    codes (n_columns, n_rows) uint8 or uint16; rows (n_rows,) uint32; start, end (n_nodes,) int64; out
    (n_rows,) uint32, written; constant (n_nodes,) bool, written.
    """
    keys, spare = scratch[0], scratch[1]
    for k in range(len(start)):
        lo, n = start[k], end[k] - start[k]
        column, missing_code = columns.slot[k], columns.n_codes[k]
        for i in range(n):
            c = np.int64(codes[column, rows[lo + i]])
            if rank.shape[1] and c != missing_code:
                c = np.int64(rank[k, c])
            keys[i] = (np.uint64(c) << _SHIFT) | np.uint64(lo + i)
        _sort_keys(keys, spare, n, missing_code)
        constant[k] = _write_list(keys, n, missing_code, out, lo) < 2
