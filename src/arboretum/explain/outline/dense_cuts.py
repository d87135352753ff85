"""The best cut of every column of numbers at every inner node of a tree of CART's kind, all at once.

Columns of few values, or of bins, lie side by side: what the rows of a node add up to for every value is one
array, and its running sums are the left sides of all cuts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine.rows.leaf_sums import add_by_leaf
from arboretum.explain.outline.line import inner_sums

if TYPE_CHECKING:
    from arboretum.explain.outline.node_sums import NodeSums

__all__ = ["DenseCuts"]

_CELLS = 3_000_000  # sums that are in memory at a time


class DenseCuts:
    """The best cuts of some columns, (inner nodes, columns).

    Attributes
    ----------
    columns : array of int
    gain : array
        NaN where a node has no cut of a column.
    refused : bool array
        No cut is admissible; the best of the others is told.
    place : array of int
        The last value on the left.
    goes : array of int
        Where missing values go: 0 left, 1 right, -1 if there are none.
    left : array of shape (inner nodes, columns, channels)
    n_values : array of int
        How many values of a column a node holds.
    following : array of int
        The value behind the cut that a node holds next; -1: there is none.
    """

    def __init__(self, outline: NodeSums, columns: list[int]) -> None:
        self.outline, self.columns = outline, np.array(columns, np.int64)
        self._rows = outline.rows.astype(np.int64)
        self._leaf = outline.leaf.astype(np.int64)
        found = [self._of_some(some) for some in self._chunks()]
        nothing = (np.empty((0, 0)),) * 7
        parts = list(zip(*found, strict=True)) if found else [(one,) for one in nothing]
        joined = [np.concatenate(one, axis=1) for one in parts]
        self.gain, self.refused, self.place, self.goes, self.left, self.n_values, self.following = (
            joined
        )

    def _chunks(self) -> list[np.ndarray]:
        outline = self.outline
        width = max((outline.columns[f].width + 1 for f in self.columns), default=1)
        cells = max(len(outline.inner), 1) * width * len(outline.channels.columns)
        each = max(1, _CELLS // cells)
        return [self.columns[at : at + each] for at in range(0, len(self.columns), each)]

    # ------------------------------------------------------------------ sums
    def _sums(self, some: np.ndarray) -> np.ndarray:
        """Return sums by inner node, column, value and channel; missing values come last."""
        outline = self.outline
        codes, width = outline.table.codes(tuple(some.tolist()))
        values, of_channel = outline.distinct_channels
        found = _empty(len(outline.inner), len(some), width + 1, len(outline.channels.columns))
        parts = []
        for first in range(0, values.shape[1], 3):
            three = np.zeros((len(values), 3))
            three[:, : values.shape[1] - first] = values[:, first : first + 3]
            sums = np.zeros((outline.tree.n_leaves, len(some), width + 1, 3))
            add_by_leaf(codes, self._rows, self._leaf, three, sums)
            parts.append(inner_sums(outline.tree, sums))
        for channel, place in enumerate(of_channel):
            found[..., channel] = parts[place // 3][..., place % 3]
        if outline.channels.classes:
            found[..., -1] = found[..., 1] - found[..., 2:-1].sum(axis=-1)
        return found

    # ------------------------------------------------------------------ cuts
    def _of_some(self, some: np.ndarray) -> tuple[np.ndarray, ...]:
        outline = self.outline
        sums = self._sums(some)
        bins, missing = sums[:, :, :-1], sums[:, :, -1]
        total = outline.total[outline.inner][:, None]
        if outline.surrogates:  # they place the missing rows, which are left out here
            total, missing = total - missing, np.zeros_like(missing)
        below, gaps = _empty(*bins.shape), missing[..., 0] > 0
        np.cumsum(bins, axis=2, out=below)
        filled = bins[..., 0] > 0
        more = filled & (below[..., 0] < below[..., -1:, 0])
        sides = [(below, more | (filled & gaps[..., None]))]
        if gaps.any():
            sides.append((below + missing[:, :, None], more & gaps[..., None]))
        gain = np.full((*filled.shape, len(sides)), -np.inf)
        worse = gain.copy()
        totals = _empty(*below.shape)
        totals[:] = total[:, :, None]
        for number, (left, tried) in enumerate(sides):
            with np.errstate(all="ignore"):  # empty sides are not tried
                scored = outline.channels.gains(_flat(left), _flat(totals)).reshape(tried.shape)
            allowed = outline.refusals.allowed_cuts(some, outline.inner, left, totals)
            gain[..., number] = np.where(tried & allowed, scored, -np.inf)
            worse[..., number] = np.where(tried & ~allowed, scored, -np.inf)
        best, top = _first_best(gain)
        other, second = _first_best(worse)
        refused = np.isneginf(top)
        best, top = np.where(refused, other, best), np.where(refused, second, top)
        place, side = np.divmod(best, len(sides))
        at, f = np.ogrid[: len(best), : len(some)]
        left = below[at, f, place] + np.where((side == 1)[..., None], missing, 0.0)
        goes = np.where(gaps, 1 - side, -1)
        behind = filled & (np.arange(filled.shape[2]) > place[..., None])
        following = np.where(behind.any(axis=2), behind.argmax(axis=2), -1)
        gained = np.where(np.isneginf(top), np.nan, top)
        return gained, refused, place, goes, left, filled.sum(axis=2), following


def _empty(*shape: int) -> np.ndarray:
    """Return an array whose channels, the last axis, lie one after another in memory."""
    return np.moveaxis(np.empty((shape[-1], *shape[:-1])), 0, -1)


def _first_best(gain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return place and size of the largest of every node and column, of equals the first."""
    flat = gain.reshape(*gain.shape[:2], -1)
    best = flat.argmax(axis=2)
    return best, np.take_along_axis(flat, best[..., None], axis=2)[..., 0]


def _flat(table: np.ndarray) -> np.ndarray:
    return table.reshape(-1, table.shape[-1])
