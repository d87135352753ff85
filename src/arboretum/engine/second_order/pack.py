"""Gradients as small integers, which histograms add up.

A round's g and h are scaled by powers of two to 16 bits and rounded up or down at random, by a hash of
(seed, row): unbiased, and the same on every machine. A row that takes part in a tree is one entry:

    63            32 31      16 15       0
    row number       g (signed)  h

Sums of integers do not depend on their order, so neither threads nor blocks of rows change a bit of the
model. The answers of leaves are computed from separate sums of finer numbers (`add_fine`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from arboretum.engine.atomic import prefetch
from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.fixed_point import bits_of_each, scale_for
from arboretum.engine.random import mix

__all__ = [
    "MOST_H",
    "GivenRows",
    "Scales",
    "add_fine",
    "add_marked",
    "add_value",
    "choose_scales",
    "fetched_until",
    "fill_entries",
    "find_largest",
    "mark_rows",
    "spread_of",
]

G_BITS, H_BITS = np.int64(15), np.int64(16)
_MOST_G, MOST_H = np.int32(32767), np.int32(65535)
_G_PLACE, _SIGN = np.int32(16), np.uint32(0x80000000)
_AHEAD = np.uint64(24)  # entries whose rows are fetched, here and wherever entries are walked
_ROW, _ONE = np.uint64(32), np.uint64(1)
_NO_SIGN, _MINUS_ZERO = np.uint32(0x7FFFFFFF), np.uint32(0x80000000)
_INFINITY, _FRACTION, _EXPONENT = np.uint32(0x7F800000), np.uint32(0x7FFFFF), np.uint32(23)
_LOW32 = np.uint64(0xFFFFFFFF)
_OF_G, _OF_H = np.uint64(0), np.uint64(1)  # columns of fine sums


class GivenRows(NamedTuple):
    """The derivatives and rows that a tree is grown from."""

    g: np.ndarray  # (n_rows,) float32, by row
    h: np.ndarray  # (n_rows,) float32
    rows: np.ndarray  # (n_taking_part,) uint32, the rows that take part, ascending; empty: all
    factor: np.ndarray  # (n_taking_part,) float32, the weight of each of them; empty: 1
    most: float  # the largest factor
    key: np.uint64  # for rounding at random


class Scales(NamedTuple):
    """Powers of two that scale g and h to integers; written when a tree begins."""

    largest: np.ndarray  # (n_blocks,) PAIR, the largest |g| and h of every block of rows
    chosen: np.ndarray  # (1,) SCALES


@subkernel
def find_largest(given, start, end, largest):
    """Write the largest |g| and h of the rows start:end; infinity if one is NaN, or h is below 0.

    Without their sign, floats are ordered like their bits; infinity, NaN and negative h come out above every
    finite number.
    """
    g, h = given.g.view(np.uint32), given.h.view(np.uint32)
    most_g, most_h = np.uint32(0), np.uint32(0)
    for i in range(np.uint64(start), np.uint64(end)):
        a, b = g[i] & _NO_SIGN, h[i]
        b = b if b != _MINUS_ZERO else np.uint32(0)
        most_g = a if a > most_g else most_g
        most_h = b if b > most_h else most_h
    largest.g, largest.h = _of_bits(np.uint32(most_g)), _of_bits(np.uint32(most_h))


@subkernel
def _of_bits(bits):
    """Return the float32 ≥ 0 that has these bits; infinity for NaN and negative numbers."""
    if bits >= _INFINITY:
        return np.inf
    fraction, exponent = np.float64(bits & _FRACTION), np.int64(bits >> _EXPONENT)
    if exponent == 0:
        return math.ldexp(fraction, -149)
    return math.ldexp(fraction + 8388608.0, int(exponent - 150))


@subkernel
def choose_scales(given, scales, n_rows):
    """Choose the scales from the blocks' largest numbers; return whether all derivatives are valid."""
    g, h = 0.0, 0.0
    for b in range(len(scales.largest)):
        g, h = max(g, scales.largest[b].g), max(h, scales.largest[b].h)
    if not (g < np.inf and h < np.inf):
        return False
    g, h, chosen = g * given.most, h * given.most, scales.chosen[0]
    small, unit, fine, fine_unit = chosen.small, chosen.unit, chosen.fine, chosen.fine_unit
    small.g, small.h = scale_for(g, int(G_BITS)), scale_for(h, int(H_BITS))
    fine_bits = bits_of_each(n_rows)
    fine.g, fine.h = scale_for(g, fine_bits), scale_for(h, fine_bits)
    unit.g, unit.h = 1.0 / small.g, 1.0 / small.h
    fine_unit.g, fine_unit.h = 1.0 / fine.g, 1.0 / fine.h
    chosen.noise = 0.0
    return True


@subkernel
def spread_of(given):
    """Return √(Σg² / Σh) of the rows that take part: how much the root of a gain varies by chance."""
    squares, total = 0.0, 0.0
    for i in range(len(given.rows) if len(given.rows) else len(given.g)):
        row = np.uint64(given.rows[i] if len(given.rows) else i)
        g = np.float64(given.g[row])
        squares += g * g
        total += np.float64(given.h[row])
    return math.sqrt(squares / total) if total > 0.0 else 0.0


@inline
def _share(bits):
    """Return 32 bits as a number in [0, 1).

    Like all of an entry it is computed by conversions of signed 32-bit integers, which wide instructions
    support.
    """
    return (np.float64(np.int32(bits ^ _SIGN)) + 2147483648.0) * 2.3283064365386963e-10


@inline
def _entry(row, number, g, h, g_scale, h_scale, key):
    bits = mix(key, number)
    up_g, up_h = _share(np.uint32(bits & _LOW32)), _share(np.uint32(bits >> _ROW))
    a = np.int32(np.floor(np.float64(g) * g_scale + up_g))
    b = np.int32(np.floor(np.float64(h) * h_scale + up_h))
    a, b = min(a, _MOST_G), min(b, MOST_H)
    return (row << _ROW) | np.uint64(np.uint32((a << _G_PLACE) | b))


@subkernel
def fill_entries(given, small, start, end, shift, entries):
    """Write the entries ``start:end``, scaled by ``small``.

    ``shift`` is added to a row to get its number in the whole table, by which it is rounded.

    entries (n_entries,) uint64, written.
    """
    g, h, rows, factor, key = given.g, given.h, given.rows, given.factor, given.key
    g_scale, h_scale, shift = small.g, small.h, np.uint64(shift)
    if len(rows) == 0:
        for i in range(np.uint64(start), np.uint64(end)):
            entries[i] = _entry(i, i + shift, g[i], h[i], g_scale, h_scale, key)
        return
    for i in range(np.uint64(start), np.uint64(end)):
        row, by = np.uint64(rows[i]), np.float32(1.0)
        if len(factor):
            by = factor[i]
        entries[i] = _entry(row, row + shift, g[row] * by, h[row] * by, g_scale, h_scale, key)


@subkernel
def fetched_until(entries, first, last, apart):
    """Return up to which of the entries first:last it pays to prefetch the values of rows.

    That is none if rows are up to ``apart`` from each other, ascending or descending: then the processor
    prefetches by itself, and explicit prefetching is slower.

    entries (n_entries,) uint64.
    """
    if last - first <= _AHEAD:
        return first
    low, high = entries[first] >> _ROW, entries[last - _ONE] >> _ROW
    if max(low, high) - min(low, high) < apart * (last - first):
        return first
    return last - _AHEAD


@subkernel
def _fine(value, scale):
    return np.int64(np.rint(np.float64(value) * scale))


@subkernel
def mark_rows(entries, start, end, leaf, leaf_of):
    """Write the leaf of the rows of entries start:end.

    entries (n_entries,) uint64; leaf_of (n_rows,) int32, written.
    """
    for i in range(np.uint64(start), np.uint64(end)):
        leaf_of[entries[i] >> _ROW] = leaf


@subkernel
def add_fine(given, fine, start, end, leaf_of, sums):
    """Add g and h of the start-th to the end-th row that takes part to the fine sums of its leaf.

    leaf_of (n_rows,) int32; sums (n_nodes, 2) int64, added to.
    """
    g, h, rows, factor = given.g, given.h, given.rows, given.factor
    g_scale, h_scale = fine.g, fine.h
    if len(rows) == 0:
        for i in range(np.uint64(start), np.uint64(end)):
            leaf = np.uint64(leaf_of[i])
            sums[leaf, _OF_G] += _fine(g[i], g_scale)
            sums[leaf, _OF_H] += _fine(h[i], h_scale)
        return
    for i in range(np.uint64(start), np.uint64(end)):
        row, by = np.uint64(rows[i]), np.float32(1.0)
        if len(factor):
            by = factor[i]
        leaf = np.uint64(leaf_of[row])
        sums[leaf, _OF_G] += _fine(g[row] * by, g_scale)
        sums[leaf, _OF_H] += _fine(h[row] * by, h_scale)


@kernel
def add_marked(leaf_of, values, rows, start, end, score, output):
    """Add to the scores of the start-th to the end-th row the values of their leaves; ``rows`` as given.

    leaf_of (n_rows,) int32; values (n_nodes,) float64; rows (n_taking_part,) uint32, or empty; score
    (n_rows, n_outputs) float64, added to.
    """
    column = np.uint64(output)
    if len(rows) == 0:
        for i in range(np.uint64(start), np.uint64(end)):
            score[i, column] += values[np.uint64(leaf_of[i])]
        return
    for i in range(np.uint64(start), np.uint64(end)):
        row = np.uint64(rows[i])
        score[row, column] += values[np.uint64(leaf_of[row])]


@subkernel
def add_value(entries, start, end, value, score, column):
    """Add a leaf's value to the scores of its rows.

    entries (n_entries,) uint64; score (n_rows, n_outputs) float64, added to.
    """
    first, last = np.uint64(start), np.uint64(end)
    near = max(last, first + _AHEAD) - _AHEAD
    for i in range(first, near):
        prefetch(score, entries[i + _AHEAD] >> _ROW, column)
        score[entries[i] >> _ROW, column] += value
    for i in range(near, last):
        score[entries[i] >> _ROW, column] += value
