"""SHAP values of many rows by tables: codes of a block of rows, states of every group, numbers added up.

    block of rows ──► codes, (columns, rows) uint16          once
        group ──► state of every row: a sum over the steps that its codes exceed
              ──► every column of the group's table: sums of the column += table[state]

Everything runs along the rows, which are the lanes of wide instructions; a column of a table is a few
thousand numbers that stay close.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.intrinsics import search_step
from arboretum.engine.jit import kernel, leaf_kernel

__all__ = ["Coder", "add_tables", "count_rows"]

_ONE, _NONE, _EIGHT = np.uint64(1), np.uint64(0), np.uint64(8)


class Coder(NamedTuple):
    """How values become codes, and what a block of rows is worked on."""

    columns: np.ndarray  # int64, those that are asked for
    n_categories: np.ndarray  # int64, of each; -1: a number
    cuts: np.ndarray  # float64, the thresholds of all columns, each in order
    cuts_at: np.ndarray  # int64, where those of a column begin
    x: np.ndarray  # (rows, a multiple of eight) float64
    rank: np.ndarray  # (rows) uint64
    codes: np.ndarray  # (columns of the table, rows) uint16
    state: np.ndarray  # (rows) uint16


@leaf_kernel
def _encode(coder, X, lo, n):
    """Write the codes of rows lo : lo + n: how many thresholds lie below a value, or its category."""
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


@leaf_kernel
def _find_states(tables, group, coder, n):
    """Write the state of every row of the block."""
    state = coder.state
    for r in range(n):
        state[r] = np.uint16(0)
    for step in range(tables.step_at[group], tables.step_at[group + 1]):
        codes = coder.codes[tables.step_column[step]]
        least, by = tables.step_code[step], tables.step_by[step]
        for r in range(n):
            state[r] = np.uint16(state[r] + (by if codes[r] > least else np.uint16(0)))


@leaf_kernel
def _add_four(sums, place, table, states, state, n):
    """Add four columns of a table at once: the state of a row is read once for all of them."""
    one, two, three, four = sums[place[0]], sums[place[1]], sums[place[2]], sums[place[3]]
    first, second = table[:states], table[states : 2 * states]
    third, fourth = table[2 * states : 3 * states], table[3 * states : 4 * states]
    for r in range(n):
        s = np.uint64(state[r])
        a, b, c, d = one[r] + first[s], two[r] + second[s], three[r] + third[s], four[r] + fourth[s]
        one[r], two[r], three[r], four[r] = a, b, c, d


@kernel
def add_tables(tables, coder, X, sums, out):
    """Add SHAP values of rows by all groups to ``out``, (rows, places).

    ``sums``, (places, rows of a block), is scratch.
    """
    size = sums.shape[1]
    for lo in range(0, len(X), size):
        n = min(size, len(X) - lo)
        _encode(coder, X, lo, n)
        for place in range(len(sums)):
            for r in range(n):
                sums[place, r] = 0.0
        state = coder.state
        for group in range(len(tables.states)):
            _find_states(tables, group, coder, n)
            begin, states = tables.table_at[group], tables.states[group]
            k, end = tables.column_at[group], tables.column_at[group + 1]
            while k + 4 <= end:
                _add_four(sums, tables.place[k : k + 4], tables.table[begin:], states, state, n)
                begin += 4 * states
                k += 4
            while k < end:
                total, table = sums[tables.place[k]], tables.table[begin : begin + states]
                begin += states
                k += 1
                for r in range(n):
                    total[r] += table[np.uint64(state[r])]
        for r in range(n):
            for place in range(len(sums)):
                out[lo + r, place] += sums[place, r]


@kernel
def count_rows(tables, coder, X, counts):
    """Add to ``counts`` how many rows are in every state of every group, one group behind the other."""
    size = len(coder.state)
    for lo in range(0, len(X), size):
        n = min(size, len(X) - lo)
        _encode(coder, X, lo, n)
        for group in range(len(tables.states)):
            _find_states(tables, group, coder, n)
            begin = tables.state_at[group]
            for r in range(n):
                counts[begin + np.int64(coder.state[r])] += 1
