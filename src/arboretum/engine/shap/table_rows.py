"""SHAP values of many rows by tables: codes of a block of rows, states of every group, numbers added up.

    block of rows ──► codes, (columns, rows) uint16          once
        batch of groups ──► states, (groups, rows): sums over the steps that the codes exceed
                        ──► every place: sums of the place += column of a table[state]
                                                            for every group that has such a column

Everything runs along the rows. The numbers of a batch for one place are added up together, four columns at a
time: adding one group after the other would move all sums, megabytes for pairs, through the cache for every
group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.atomic import prefetch_at, search_step
from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.simd import add_chosen, add_chosen_by_four

__all__ = ["Batches", "Coder", "add_tables", "count_rows", "encode"]

_ONE, _NONE, _EIGHT = np.uint64(1), np.uint64(0), np.uint64(8)


class Coder(NamedTuple):
    """How values become codes, and scratch arrays for a block of rows."""

    columns: np.ndarray  # (n_asked,) int64, the columns that the trees split on
    n_categories: np.ndarray  # (n_asked,) int64, categories of each; -1: a number
    cuts: np.ndarray  # (n_cuts,) float64, the thresholds column by column, each sorted
    cuts_at: np.ndarray  # (n_asked + 1,) int64, where the cuts of a column begin
    x: np.ndarray  # (n_block,) float64
    rank: np.ndarray  # (n_block,) uint64
    codes: np.ndarray  # (n_columns, n_block) uint16; padding has valid codes, too
    states: np.ndarray  # (n_groups, n_block) uint16


class Batches(NamedTuple):
    """Groups in batches, and the columns of their tables, sorted by the place they are added to."""

    group_at: np.ndarray  # (n_batches + 1,) int64, where the groups of a batch begin
    look_at: np.ndarray  # (n_batches + 1,) int64, where its columns of tables begin
    place: np.ndarray  # (n_looks,) int32, place of every column of a table, sorted within a batch
    group: np.ndarray  # (n_looks,) int32, the number of its group within the batch
    table_at: np.ndarray  # (n_looks,) int64, where it begins among all tables


@subkernel
def encode(coder, X, lo, n):
    """Write the codes of rows lo : lo + n: the number of thresholds below a value, or its category.

    X (n_rows, n_columns) float64.
    """
    x, rank = coder.x, coder.rank
    padded = np.uint64((n + 7) // 8 * 8)
    for k in range(len(coder.columns)):
        f = coder.columns[k]
        out = coder.codes[f]
        for r in range(n):
            x[r] = X[lo + r, f]
        if coder.n_categories[k] >= 0:
            most = coder.n_categories[k]
            for r in range(n):
                known = x[r] >= 0.0 and x[r] < most
                out[r] = np.uint16(np.int64(x[r])) if known else np.uint16(most)
            continue
        start, end = coder.cuts_at[k], coder.cuts_at[k + 1]
        many, missing = np.uint64(end - start), np.uint16(end - start + 1)
        for r in range(padded):
            rank[r] = np.uint64(start)
        while many:
            half = max(many >> _ONE, _ONE)
            for r in range(_NONE, padded, _EIGHT):
                search_step(coder.cuts, x, rank, r, half)
            many -= half
        for r in range(n):
            code = np.uint16(rank[r] - np.uint64(start))
            out[r] = code if x[r] == x[r] else missing


@subkernel
def _count_steps(codes, column, least, by, state, n):
    """Add four steps to the states of the rows beyond them, which are read and written only once.

    codes (n_columns, n_block) uint16; column (at least 4,) int32; least, by (at least 4,) uint16;
    state (n_block,) uint16, added to.
    """
    none = np.uint16(0)
    one, two, three, four = codes[column[0]], codes[column[1]], codes[column[2]], codes[column[3]]
    a, b, c, d = least[0], least[1], least[2], least[3]
    by_a, by_b, by_c, by_d = by[0], by[1], by[2], by[3]
    for r in range(n):
        first = (by_a if one[r] > a else none) + (by_b if two[r] > b else none)
        second = (by_c if three[r] > c else none) + (by_d if four[r] > d else none)
        state[r] = np.uint16(state[r] + first + second)


@subkernel
def _find_states(tables, group, codes, state, n):
    """Write the state of every row of the block in a group, whose number of steps is a multiple of four.

    codes (n_columns, n_block) uint16; state (n_block,) uint16, written.
    """
    for r in range(n):
        state[r] = np.uint16(0)
    end = tables.step_at[group + 1]
    for step in range(tables.step_at[group], end, 4):
        _count_steps(
            codes, tables.step_column[step:end], tables.step_code[step:end],
            tables.step_by[step:end], state, n,
        )  # fmt: skip


@subkernel
def _add_one(total, table, begin, states, group, n):
    """Add a column of a table.

    total (n_block,) float64, added to; table (n_numbers,) float64; states (n_groups, n_block) uint16.
    """
    row = np.uint64(group) * np.uint64(states.shape[1])
    flat = states.reshape(states.size)
    for r in range(_NONE, n, _EIGHT):
        add_chosen(total, r, table, np.uint64(begin), flat, row + r)


@subkernel
def _add_four(total, table, table_at, states, group, n):
    """Add columns of four groups' tables, in their order; the sums are read and written only once.

    total (n_block,) float64, added to; table (n_numbers,) float64; table_at (at least 4,) int64; group
    (at least 4,) int32; states (n_groups, n_block) uint16.
    """
    size, flat = np.uint64(states.shape[1]), states.reshape(states.size)
    firsts = (
        np.uint64(table_at[0]), np.uint64(table_at[1]), np.uint64(table_at[2]), np.uint64(table_at[3])
    )  # fmt: skip
    rows = (
        np.uint64(group[0]) * size, np.uint64(group[1]) * size,
        np.uint64(group[2]) * size, np.uint64(group[3]) * size,
    )  # fmt: skip
    for r in range(_NONE, n, _EIGHT):
        add_chosen_by_four(total, r, table, firsts, flat, rows)


@subkernel
def _hurry(tables, batches, first, k, last):
    """Prefetch a column of a table: states are unordered, so the processor cannot predict what is read."""
    if k < last:
        begin = np.uint64(batches.table_at[k])
        for at in range(begin, begin + np.uint64(tables.states[first + batches.group[k]]), _EIGHT):
            prefetch_at(tables.table, at)


@subkernel
def _add_batch(tables, batches, batch, states, sums, n):
    """Add the numbers of a batch of groups, whose states have been found, to all places.

    states (n_groups, n_block) uint16; sums (n_places, n_block) float64, added to.
    """
    first, k = batches.group_at[batch], batches.look_at[batch]
    place, group, table_at = batches.place, batches.group, batches.table_at
    while k < batches.look_at[batch + 1]:
        total, end = sums[place[k]], k + 1
        while end < batches.look_at[batch + 1] and place[end] == place[k]:
            end += 1
        while k + 4 <= end:
            for later in range(k + 4, k + 8):
                _hurry(tables, batches, first, later, batches.look_at[batch + 1])
            _add_four(total, tables.table, table_at[k:end], states, group[k:end], n)
            k += 4
        while k < end:
            _add_one(total, tables.table, table_at[k], states, group[k], n)
            k += 1


@kernel
def add_tables(tables, batches, coder, X, sums, out):
    """Add the SHAP values of rows, from all groups, to ``out``, (rows, places).

    ``sums``, (places, rows of a block), is scratch.

    X (n_rows, n_columns) float64; sums (n_places, n_block) float64; out (n_rows, n_places) float64,
    added to.
    """
    size = sums.shape[1]
    for lo in range(0, len(X), size):
        n = min(size, len(X) - lo)
        encode(coder, X, lo, n)
        padded = np.uint64((n + 7) // 8 * 8)  # results after the last row are not read
        for place in range(len(sums)):
            for r in range(padded):
                sums[place, r] = 0.0
        for batch in range(len(batches.group_at) - 1):
            first = batches.group_at[batch]
            for group in range(first, batches.group_at[batch + 1]):
                _find_states(tables, group, coder.codes, coder.states[group - first], padded)
            _add_batch(tables, batches, batch, coder.states, sums, padded)
        for r in range(n):
            for place in range(len(sums)):
                out[lo + r, place] += sums[place, r]


@kernel
def count_rows(tables, coder, X, counts):
    """Add to ``counts`` how many rows are in every state of every group, one group after the other.

    X (n_rows, n_columns) float64; counts (n_states_of_all,) int64, added to.
    """
    size, state = coder.states.shape[1], coder.states[0]
    for lo in range(0, len(X), size):
        n = min(size, len(X) - lo)
        encode(coder, X, lo, n)
        for group in range(len(tables.states)):
            _find_states(tables, group, coder.codes, state, n)
            own = counts[tables.state_at[group] :]
            for r in range(n):
                own[np.uint64(state[r])] += 1
