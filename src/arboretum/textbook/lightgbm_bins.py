"""LightGBM's bins: every column is coded once, and trees look at codes only.

    fill_bins       values in order fill one bin after the other:

        value    1   2   3   4   5   6           at most 3 bins, at least 3 rows in each
        rows     1   1   4   1   1   4           12 rows in 3 bins: 4 rows fill a bin
        bin      0   0 | 1 | 2   2   2           3 and 6 fill one alone

    make_bins       numbers below zero, zero, and numbers above are binned apart, so that zero, which
                    sparse tables are full of, has a bin of its own; categories have a bin each
    bin_table       all columns
    build_histogram Σg, Σh and the number of rows of every bin: what splits are found from

A column of at most ``max_bin`` values gets a bin for each, unless a bin would hold fewer than
``min_data_in_bin`` rows. A cut lies half way between neighbouring values.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["BinnedTable", "ColumnBins", "bin_table", "build_histogram", "fill_bins", "make_bins"]

ZERO = 1e-35  # numbers no larger are zero


# ---------------------------------------------------------------------- one column
@dataclass(frozen=True, eq=False)
class ColumnBins:
    """The bins of one column; the code after the last is that of missing values."""

    cuts: np.ndarray  # numbers: the upper ends of all bins but the last
    categories: np.ndarray | None = None  # the values in order, one per bin

    @property
    def n_bins(self) -> int:
        return len(self.cuts) + 1 if self.categories is None else len(self.categories)

    def codes(self, x: ArrayLike) -> np.ndarray:
        """Return the bin of every value; an unheard-of category counts as missing."""
        x = np.asarray(x, dtype=np.float64)
        if self.categories is None:
            return np.where(np.isnan(x), self.n_bins, np.searchsorted(self.cuts, x))
        place = np.searchsorted(self.categories, x)
        found = np.append(self.categories, np.nan)[place] == x  # NaN, which comes last, equals none
        return np.where(found, place, self.n_bins)


def fill_bins(counts: ArrayLike, max_bin: int, min_data_in_bin: int = 3) -> list[int]:
    """Return after which of the ordered values to cut.

    With at most ``max_bin`` values, a bin is closed as soon as it holds ``min_data_in_bin`` rows. With
    more, each bin is filled with its share of the rows that are left; a value that holds a share by
    itself gets a bin of its own, and the bin before it may be half full.

    Parameters
    ----------
    counts : array
        How many rows have each value, in the order of the values.
    max_bin : int
    min_data_in_bin : int

    Examples
    --------
    >>> fill_bins([1, 1, 1, 1, 1, 1], 255), fill_bins([1, 1, 1, 1, 1, 1], 255, 1)
    ([2], [0, 1, 2, 3, 4])
    >>> fill_bins([1, 1, 4, 1, 1, 4], 3)
    [1, 2]
    """
    counts = np.asarray(counts, dtype=np.float64)
    if len(counts) <= max_bin:
        places, rows = [], 0.0
        for i, count in enumerate(counts[:-1].tolist()):
            rows += count
            if rows >= min_data_in_bin:
                places.append(i)
                rows = 0.0
        return places
    most = max(min(max_bin, int(counts.sum() / min_data_in_bin)), 1)
    alone = counts >= counts.sum() / most  # fills a bin by itself
    left, bins = float(counts[~alone].sum()), most - int(alone.sum())  # of the others
    share = left / bins if bins > 0 else np.inf
    places, rows = [], 0.0
    for i, count in enumerate(counts[:-1].tolist()):
        rows += count
        left -= 0.0 if alone[i] else count
        half = alone[i + 1] and rows >= max(1.0, 0.5 * share)
        if not (alone[i] or rows >= share or half):
            continue
        places.append(i)
        rows = 0.0
        if len(places) >= most - 1:
            break
        if not alone[i]:
            bins -= 1
            share = left / bins if bins > 0 else np.inf
    return places


def make_bins(
    x: ArrayLike, max_bin: int = 255, categorical: bool = False, min_data_in_bin: int = 3
) -> ColumnBins:
    """Return the bins of a column; missing values count as a bin.

    Categories get bins by falling frequency, as long as 99 % of the rows have none yet, or there are
    fewer than ``max_bin`` bins and values. From the third one on they must have ``min_data_in_bin``
    rows. The others count as missing.

    >>> make_bins([3.0, 1.0, 2.0, 1.0, np.nan], min_data_in_bin=1).cuts.tolist()
    [1e-35, 1.5, 2.5]
    >>> make_bins(np.arange(1.0, 101.0), max_bin=5).cuts.tolist()
    [1e-35, 25.5, 50.5, 75.5]
    """
    x = np.asarray(x, dtype=np.float64)
    values, counts = np.unique(x[~np.isnan(x)], return_counts=True)
    lost = bool(np.isnan(x).any())
    if categorical:
        return ColumnBins(np.empty(0), _frequent(values, counts, max_bin, lost, min_data_in_bin))
    negative, positive = values < -ZERO, values > ZERO
    below, above = counts[negative].sum(), counts[positive].sum()
    parts: list[np.ndarray] = []
    left = max(max_bin - lost, 2) - 1  # one for zero
    if below and left > 0:
        bins = max(1, int(below / (below + above) * left))
        cuts = _filled(values[negative], counts[negative], bins, min_data_in_bin)
        parts += [cuts, np.array([-ZERO])]
        left -= len(cuts) + 1
    if above and left > 0:
        cuts = _filled(values[positive], counts[positive], left, min_data_in_bin)
        parts += [np.array([ZERO]), cuts]
    return ColumnBins(np.concatenate(parts) if parts else np.empty(0))


def _filled(values: np.ndarray, counts: np.ndarray, bins: int, least: int) -> np.ndarray:
    places = np.array(fill_bins(counts, bins, least), dtype=np.int64)
    below, above = values[places], values[places + 1]
    middles = below / 2 + above / 2  # halves first: the sum may overflow
    return np.where((middles >= below) & (middles < above), middles, below)


def _frequent(
    values: np.ndarray, counts: np.ndarray, max_bin: int, lost: bool, min_data_in_bin: int
) -> np.ndarray:
    """Return the categories that have bins, in order."""
    kept: list[float] = []
    used = 0
    room = min(len(values) + lost, max_bin)
    for c in np.argsort(-counts, kind="stable"):
        if used >= np.floor(0.99 * counts.sum() + 0.5) and 1 + len(kept) >= room:
            break
        if counts[c] < min_data_in_bin and len(kept) >= 2:
            break
        kept.append(values[c])
        used += counts[c]
    return np.sort(np.array(kept))


# ---------------------------------------------------------------------- a table
@dataclass(frozen=True, eq=False)
class BinnedTable:
    """A table whose values have become bins, once for all trees."""

    X: np.ndarray
    bins: Sequence[ColumnBins]
    codes: np.ndarray  # of the same shape as X

    def histograms(self, rows: np.ndarray, g: np.ndarray, h: np.ndarray) -> list[np.ndarray]:
        """Return the histogram of every column, of some rows."""
        columns = zip(self.codes[rows].T, self.bins)
        return [build_histogram(codes, g[rows], h[rows], bins.n_bins) for codes, bins in columns]


def bin_table(
    X: ArrayLike,
    max_bin: int = 255,
    categorical: Collection[int] = (),
    min_data_in_bin: int = 3,
) -> BinnedTable:
    """Return the table in bins.

    >>> bin_table([[1.0, 7.0], [2.0, 7.0]], min_data_in_bin=1).codes.tolist()
    [[1, 1], [2, 1]]
    """
    X = np.asarray(X, dtype=np.float64)
    bins = [make_bins(x, max_bin, f in categorical, min_data_in_bin) for f, x in enumerate(X.T)]
    return BinnedTable(X, bins, np.column_stack([b.codes(x) for b, x in zip(bins, X.T)]))


def build_histogram(codes: ArrayLike, g: ArrayLike, h: ArrayLike, n_bins: int) -> np.ndarray:
    """Return Σg, Σh and the number of rows of every bin, shape (n_bins + 1, 3), the missing last.

    >>> build_histogram([0, 1, 1, 2], [1.0, 2.0, 3.0, 4.0], np.ones(4), 2).tolist()
    [[1.0, 1.0, 1.0], [5.0, 2.0, 2.0], [4.0, 1.0, 1.0]]
    """
    codes = np.asarray(codes)
    weights = np.asarray(g, dtype=np.float64), np.asarray(h, dtype=np.float64), np.ones(len(codes))
    return np.column_stack([np.bincount(codes, weight, n_bins + 1) for weight in weights])
