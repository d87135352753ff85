"""How each column is searched, and the parts of growing that are compiled separately.

    PLAIN      numbers that miss none; rows weigh 1         search.scan_plain
               the same, rows have weights                  weighted.scan_weighted
    FULL       gaps; weights, where nodes draw columns      search.scan_full
    WORDS      categories                                   search.scan_words
    COUNTED    few values, or few categories                counted.scan_counted

A tree is grown by calling them by address (compiler/by_address.py): what a table does not need is never
compiled, the rest is compiled side by side, and a fit with weights, or one that shares columns out to
threads, finds most of it ready.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.by_address import address_of, call_at
from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.presorted.counted import scan_counted
from arboretum.engine.presorted.row_layout import CATEGORIES, VARIES
from arboretum.engine.presorted.search import is_counted, scan_full, scan_plain, scan_words
from arboretum.engine.presorted.weighted import scan_weighted
from arboretum.engine.random import pick_column
from arboretum.engine.split.best import REFUSED

__all__ = [
    "COUNTED", "FULL", "PLAIN", "WORDS", "LevelParts", "new_parts", "part_of", "scan_columns", "scan_drawn",
    "scan_in_python",
]  # fmt: skip

PLAIN, FULL, WORDS, COUNTED = 0, 1, 2, 3


class LevelParts(NamedTuple):
    """Addresses of kernels; 0 for those that are not needed."""

    plain: int
    full: int
    words: int
    counted: int
    drawn: int
    root: int
    open: int
    close: int


@subkernel
def part_of(table, f, m, rows, limits):
    """Return how a column is searched where a level has m nodes, the last one included."""
    if is_counted(table, f, m):
        return COUNTED
    if table.kind[f] == CATEGORIES:
        return WORDS
    if table.present[f] < table.lists.shape[1] or (limits.columns > 0 and len(rows.row_weight) > 0):
        return FULL
    return PLAIN


@subkernel
def scan_columns(parts, table, columns, rows, limits, work, scratch, found):
    """Find the best cut of every node on every one of some columns; see search.py."""
    m = work.n_open[0] + 1
    for k in range(m):
        scratch.bars[k] = REFUSED
    for turn in range(4):
        kind, n = 3 - turn, 0  # counted columns first: with a good cut there, others may be skipped
        for f in columns:
            if part_of(table, f, m, rows, limits) == kind:
                scratch.columns[n] = f
                n += 1
        if n == 0:
            continue
        some = scratch.columns[:n]
        if kind == COUNTED:
            call_at(parts.counted, (table, some, rows, limits, work, scratch, found))
        elif kind == WORDS:
            call_at(parts.words, (table, some, rows, limits, work, scratch, found))
        elif kind == FULL:
            call_at(parts.full, (table, some, rows, limits, work, scratch, found))
        else:
            call_at(parts.plain, (table, some, rows, limits, work, scratch, found))


def scan_in_python(table, columns, rows, limits, work, scratch, found):
    """`scan_columns` for threads: Python calls the parts."""
    m = work.n_open[0] + 1
    scratch.bars[:] = REFUSED
    kinds = np.array([part_of(table, f, m, rows, limits) for f in columns.tolist()])
    plain = scan_weighted if len(rows.row_weight) else scan_plain
    ways = {COUNTED: scan_counted, WORDS: scan_words, FULL: scan_full, PLAIN: plain}
    for kind, scan in ways.items():
        some = columns[kinds == kind]
        if len(some):
            scan(table, some, rows, limits, work, scratch, found)


@kernel
def scan_drawn(parts, table, rows, limits, work, scratch, found):
    """Search columns drawn for every node: ``limits.columns``, and more until one of them varies.

    ``work.taken`` is filled with the columns a node may be cut on.
    """
    width, m, order = len(table.lists), work.n_open[0], scratch.order
    keys, most, taken = work.keys, limits.columns, work.taken
    for k in range(m):
        for turn in range(width):
            pick_column(keys[k], turn, order[k])
        for f in range(width):
            taken[k, f] = False
        for j in range(most):
            taken[k, order[k, j]] = True
    # two rounds of columns: those that some node draws, then the others if a node has none that varies
    for again in range(2):
        n, others = 0, again == 0
        for k in range(m):
            varies = False
            for j in range(most):
                varies |= found.flags[order[k, j], k] & VARIES > 0
            others |= not varies
        if not others:
            break
        for f in range(width):
            wanted = False
            for k in range(m):
                wanted |= taken[k, f]
            if wanted == (again == 0):
                scratch.drawn[n] = f
                n += 1
        scan_columns(
            parts, table, scratch.drawn[:n], rows, limits, work, scratch, found
        )  # fmt: skip
    for k in range(m):
        met = False
        for j in range(width):
            taken[k, order[k, j]] = j < most or not met
            met |= (j < most or not met) and found.flags[order[k, j], k] & VARIES > 0


def new_parts(search: tuple, ends: tuple, *, gaps: bool) -> LevelParts:
    """Return the addresses of what a tree needs, compiled first if necessary.

    ``search`` are arguments of a search, ``ends`` (function, arguments) of root, open and close.
    """
    table, _, rows, limits, _, scratch, _ = search
    needed = {
        part_of(table, f, m, rows, limits)  # of few nodes more is counted than of many
        for f in range(len(table.lists))
        for m in (2, len(scratch.bars))
    }
    if gaps:  # one bag may have no missing values in a column, and the next one some
        needed |= {PLAIN, FULL}
    plain = scan_weighted if len(rows.row_weight) else scan_plain
    ways = ((PLAIN, plain), (FULL, scan_full), (WORDS, scan_words), (COUNTED, scan_counted))
    scans = [address_of(scan, *search) if kind in needed else 0 for kind, scan in ways]
    return LevelParts(*scans, 0, *(address_of(function, *given) for function, given in ends))
