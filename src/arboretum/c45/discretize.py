"""Cutting columns of numbers into bins, so that ID3 can split on them.

    cuts       2.45     4.9               quantile_cuts: bins of about equal weight
    bins    0   |   1    |    2           mdl_cuts: where the classes change, if a cut pays for itself
    label   up to 2.45 · 2.45 to 4.9 · above 4.9

A value on a cut lies below it; a missing value stays missing. The cuts are those of the textbook
(textbook/discretize.py), found faster: neighbouring values of one and the same class need no cut
between them, since the gain is largest at the end of such a run (Fayyad and Irani 1992), and with
f(x) = x log2 x the entropies of all cuts of an interval come from sums along it:

    N·H(S) = f(N) - Σ f(n_c)          one more case changes one n_c only
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from math import floor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arboretum.data.matrix import FrameMatrix, Matrix, SparseMatrix
from arboretum.engine import parallel
from arboretum.engine.elementwise import log2
from arboretum.structure.condition import format_value

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["bin_codes", "bin_labels", "bin_matrix", "cut_columns", "mdl_cuts", "quantile_cuts"]

TIE = 1e-9  # figures closer than this differ by rounding only


# ---------------------------------------------------------------------- quantiles
def quantile_cuts(x: np.ndarray, n_bins: int, w: np.ndarray) -> np.ndarray:
    """Return at most ``n_bins - 1`` cut points between values, for bins of about equal weight.

    Cut j is where the weight below comes nearest to j/n_bins of the whole, the lower place of equals.

    >>> quantile_cuts(np.array([1.0, 2, 3, 4, 5, 6, np.nan]), 3, np.ones(7))
    array([2.5, 4.5])
    """
    known = ~np.isnan(x)
    values, place = np.unique(x[known], return_inverse=True)
    if len(values) < 2:
        return np.empty(0)
    weight = np.bincount(place, w[known])
    below = np.cumsum(weight)[:-1] / weight.sum()  # the share of weight up to each place
    wanted = np.arange(1, n_bins) / n_bins
    above = np.searchsorted(below, wanted)
    distance = np.minimum(
        np.abs(below[np.minimum(above, len(below) - 1)] - wanted),
        np.abs(below[np.maximum(above - 1, 0)] - wanted),
    )
    places = np.unique(np.searchsorted(below, wanted - distance - TIE))
    return _middles(values[places], values[places + 1])


def _middles(below: np.ndarray, above: np.ndarray) -> np.ndarray:
    middle = below / 2 + above / 2  # halves first: the sum of two large numbers overflows
    return np.where(middle >= above, below, middle)  # neighbours may have none between


# ---------------------------------------------------------------------- Fayyad and Irani
class _Line(NamedTuple):
    """The cases in the order of their values; those of one block and class are one entry."""

    label: np.ndarray  # class of each entry
    weight: np.ndarray
    so_far: np.ndarray  # weight of the entry's class up to and including it
    last: np.ndarray  # whether the entry is the last of its block: a cut may follow
    cut: np.ndarray  # the cut point that would follow


def mdl_cuts(x: np.ndarray, y: np.ndarray, w: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the cut points that pay for their own description, in order.

    The cut of largest gain (the first of equals) is made if it gains more than it costs to write down,
    then each side is cut again. An interval lighter than two cases is left whole.

    Parameters
    ----------
    x : float64 array of shape (n,)
        NaN is left out.
    y : int array of shape (n,)
        Class indices 0, 1, ...
    w : float64 array of shape (n,)
        Weights above zero: fractional cases.
    n_classes : int

    Examples
    --------
    >>> x, y = np.array([1.0, 2, 3, 4, 5, 6]), np.array([0, 0, 0, 1, 1, 1])
    >>> mdl_cuts(x, y, np.ones(6), 2)
    array([3.5])
    """
    line = _line(x, y, w, n_classes)
    cuts, waiting = [], [(0, len(line.label), np.zeros(n_classes))]
    while waiting:
        start, end, passed = waiting.pop()  # passed: the weight of every class before the interval
        part = slice(start, end)
        whole = np.bincount(line.label[part], line.weight[part], n_classes)
        if (
            whole.sum() < 2 - TIE
            or np.count_nonzero(whole) < 2
            or not line.last[start : end - 1].any()
        ):
            continue
        middle = start + _best_place(line, part, whole, passed)
        lower = np.bincount(line.label[start:middle], line.weight[start:middle], n_classes)
        upper = np.bincount(line.label[middle:end], line.weight[middle:end], n_classes)
        if _pays(whole, lower, upper):
            cuts.append(line.cut[middle - 1])
            waiting += [(start, middle, passed), (middle, end, passed + lower)]
    return np.sort(np.array(cuts, dtype=np.float64))


def _line(x: np.ndarray, y: np.ndarray, w: np.ndarray, n_classes: int) -> _Line:
    known = ~np.isnan(x)
    values, place = np.unique(x[known], return_inverse=True)
    y, w = y[known].astype(np.int64), w[known]
    low, high = np.full(len(values), n_classes), np.full(len(values), -1)
    np.minimum.at(low, place, y)
    np.maximum.at(high, place, y)
    pure = np.where(low == high, low, -1)  # the class of a value whose cases agree
    opens = np.ones(len(values), bool)
    opens[1:] = (pure[1:] != pure[:-1]) | (pure[1:] < 0)
    block = np.cumsum(opens) - 1
    entry, which = np.unique(block[place] * n_classes + y, return_inverse=True)
    label, weight = entry % n_classes, np.bincount(which, w)
    last = np.diff(entry // n_classes, append=-1) != 0
    edges = np.flatnonzero(opens)[1:]  # the first values of all blocks but the first
    cut = np.full(len(entry), np.nan)
    cut[np.flatnonzero(last)[:-1]] = _middles(values[edges - 1], values[edges])

    by_class = np.argsort(label, kind="stable")
    total = np.bincount(label, weight, n_classes)
    so_far = np.empty(len(entry))
    so_far[by_class] = np.cumsum(weight[by_class])
    so_far -= (np.cumsum(total) - total)[label]
    return _Line(label, weight, so_far, last, cut)


def _best_place(line: _Line, part: slice, whole: np.ndarray, passed: np.ndarray) -> int:
    """Return how many entries of an interval the cut of largest gain leaves below."""
    label, weight = line.label[part], line.weight[part]
    below = np.maximum(
        line.so_far[part] - passed[label], 0.0
    )  # of the entry's class, itself included
    above = np.maximum(whole[label] - below, 0.0)
    lower = np.cumsum(_bits(below) - _bits(np.maximum(below - weight, 0.0)))  # Σ f(n_c) up to here
    upper = np.sum(_bits(whole)) + np.cumsum(_bits(above) - _bits(above + weight))
    n, n_below = whole.sum(), np.cumsum(weight)
    left = (_bits(n_below) - lower + _bits(np.maximum(n - n_below, 0.0)) - upper) / n  # H after
    places = np.flatnonzero(line.last[part][:-1])
    after = left[places]
    return int(places[np.argmax(after <= after.min() + TIE)]) + 1


def _bits(x: np.ndarray) -> np.ndarray:
    """Return x log2 x, 0 for 0."""
    return x * log2(np.where(x > 0, x, 1.0))


def _pays(whole: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> bool:
    """Return whether gain > (log2(N - 1) + Δ) / N, Δ = log2(3^k - 2) - (k·H - k1·H1 - k2·H2)."""
    n = float(whole.sum())
    h, h1, h2 = (_entropy(counts) for counts in (whole, lower, upper))
    k, k1, k2 = (int(np.count_nonzero(counts)) for counts in (whole, lower, upper))
    codes = k * log2(3.0) + log2(1.0 - 2 / 3**k)  # log2(3^k - 2) for any k
    delta = codes - (k * h - k1 * h1 - k2 * h2)
    gain = h - (lower.sum() * h1 + upper.sum() * h2) / n
    return bool(gain > (log2(n - 1) + delta) / n)


def _entropy(counts: np.ndarray) -> float:
    p = counts[counts > 0] / counts.sum()
    return float(np.sum(p * -log2(p)))


# ---------------------------------------------------------------------- columns
def cut_columns(
    matrix: Matrix,
    columns: Sequence[int],
    find: Callable[[np.ndarray], np.ndarray],
    n_jobs: int = 1,
) -> dict[int, np.ndarray]:
    """Return the cut points of some columns; ``find`` has those of the values it is given."""
    found: dict[int, np.ndarray] = {}

    def work(f: int) -> None:
        found[f] = find(matrix.column(f))

    threads = parallel.threads_for(matrix.n_rows * len(columns), parallel.SORT, n_jobs)
    parallel.run(work, columns, threads)
    return {f: found[f] for f in columns}


def bin_codes(x: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Return the bin of every value, 0 to ``len(cuts)``; NaN stays NaN.

    >>> bin_codes(np.array([1.0, 2.5, 9.0, np.nan]), np.array([2.5, 4.5]))
    array([ 0.,  0.,  2., nan])
    """
    return np.where(np.isnan(x), np.nan, np.searchsorted(cuts, x, side="left"))


def bin_matrix(matrix: Matrix, cuts: Mapping[int, np.ndarray]) -> Matrix:
    """Return the table with some columns as bins; a sparse table stays sparse."""
    if not cuts:
        return matrix
    if isinstance(matrix, SparseMatrix):
        return _bin_sparse(matrix, cuts)
    return FrameMatrix(
        [
            bin_codes(matrix.column(f), cuts[f]) if f in cuts else matrix.column(f)
            for f in range(matrix.n_columns)
        ]
    )


def _bin_sparse(matrix: SparseMatrix, cuts: Mapping[int, np.ndarray]) -> SparseMatrix:
    entries = matrix.by_column.copy()
    entries.data = entries.data.astype(np.float64)
    fill = np.zeros(matrix.n_columns) if matrix.fill is None else matrix.fill.copy()
    for f, points in cuts.items():
        lo, hi = entries.indptr[f], entries.indptr[f + 1]
        entries.data[lo:hi] = bin_codes(entries.data[lo:hi], points)
        fill[f] = np.searchsorted(points, 0.0, side="left")  # what is not stored is 0
    return SparseMatrix(entries, fill)


# ---------------------------------------------------------------------- words
def bin_labels(cuts: np.ndarray, kind: str = "numeric") -> tuple[str, ...]:
    """Name the bins between some cut points; ``kind`` is how a value of the column is written.

    A bin holds its upper end. Numbers have as many digits as make the cuts differ.

    >>> bin_labels(np.array([2.45, 4.9]))
    ('up to 2.45', '2.45 to 4.9', 'above 4.9')
    >>> bin_labels(np.array([86400.0]), "datetime")
    ('up to 1970-01-02', 'above 1970-01-02')
    >>> bin_labels(np.array([]))
    ('present',)
    """
    if not len(cuts):
        return ("present",)
    ends = _write(cuts.tolist(), kind)
    between = [f"{low} to {high}" for low, high in pairwise(ends)]
    return (f"up to {ends[0]}", *between, f"above {ends[-1]}")


def _write(cuts: list[float], kind: str) -> list[str]:
    """Write numbers or dates, with no more digits than are needed."""
    for digits in (6, 9, 12, 15, 17):
        ends = [format_value(cut, kind, digits) for cut in cuts]
        if len(set(ends)) == len(ends):
            return ends
    if kind == "datetime":  # within one second: add what format_value leaves out
        return [f"{format_value(floor(cut), kind)} + {cut - floor(cut)!r} s" for cut in cuts]
    return [repr(cut) for cut in cuts]
