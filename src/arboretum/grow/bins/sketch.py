"""The weighted quantile sketch: cuts of a column that is never sorted as a whole.

A summary keeps some of the values, the smallest and the largest among them, each with bounds of its rank:

    rmin <= Σ w over x < v        rmax >= Σ w over x <= v        weight <= Σ w over x = v

Its error ε is the largest rmax - rmin - weight, at an entry or between two, as a share of all weight.
Merging adds up bounds and makes no error (ε is the larger of the two); keeping only n entries, the ones
nearest to equally spaced ranks, adds 1/(n - 1) at most (appendix of the XGBoost paper; textbook/
quantile_sketch.py has the argument and the same figures).

`summarise` takes rows in chunks. A full chunk is summarised; two summaries of the same level are
merged and pruned to one of the next, like a carry in a binary number:

    rows      ▒▒▒▒▒▒▒▒ | ▒▒▒▒▒▒▒▒ | ▒▒▒▒▒▒▒▒ | ▒▒▒
    level 0      ●          ●          ●      (waiting)
    level 1           ●

A summary of level l has been pruned l + 1 times. With 16 levels and n - 1 >= 16/ε entries the error never
exceeds ε; above the 16th level (more than 2^16 chunks) nothing is pruned any more. The bound holds for any
chunks in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.errors import DataError
from arboretum.grow.bins.bins import Bins
from arboretum.grow.bins.cuts import count_values, cut_places, cuts_between, starts, whole_weights
from arboretum.grow.bins.find import bin_table, category_bins
from arboretum.grow.bins.learn import Absent, ColumnBins, visit_numbers

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema

__all__ = ["Summary", "cuts_of", "proposed_bins", "sketch_bins", "summarise"]

_LEVELS = 16
_EMPTY = 1e-12  # less of the weight than this between two entries is rounding


@dataclass(frozen=True, eq=False)
class Summary:
    """Values in increasing order, each with the bounds of its rank and of its weight."""

    values: np.ndarray
    rmin: np.ndarray
    rmax: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, weights: np.ndarray) -> Summary:
        """Return the exact summary; NaN and rows without weight are left out.

        >>> Summary.of(np.array([3.0, 1.0, 3.0]), np.array([0.5, 1.0, 1.5])).rmax
        array([1., 3.])
        """
        used = weights > 0
        table = count_values(values[used], weights[used])
        rmax = np.cumsum(table.weight)
        return cls(table.values, rmax - table.weight, rmax, table.weight)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def total(self) -> float:
        """All weight."""
        return float(self.rmax[-1]) if len(self) else 0.0

    @property
    def gaps(self) -> np.ndarray:
        """The most weight that may lie strictly between neighbouring entries."""
        return (self.rmax - self.weight)[1:] - (self.rmin + self.weight)[:-1]

    @property
    def error(self) -> float:
        """The error ε that the bounds vouch for."""
        if not self.total:
            return 0.0
        at = self.rmax - self.rmin - self.weight
        return max(0.0, float(at.max()), float(self.gaps.max(initial=0.0))) / self.total

    def bounds(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rmin, rmax and weight of any values, kept or not."""
        if not len(self):
            return np.zeros(len(y)), np.zeros(len(y)), np.zeros(len(y))
        below = np.concatenate([[0.0], self.rmin + self.weight])
        above = np.concatenate([self.rmax - self.weight, [self.total]])
        place = np.searchsorted(self.values, y)
        entry = np.minimum(place, len(self) - 1)
        kept = self.values[entry] == y
        return (
            np.where(kept, self.rmin[entry], below[place]),
            np.where(kept, self.rmax[entry], above[place]),
            np.where(kept, self.weight[entry], 0.0),
        )

    def merged(self, other: Summary) -> Summary:
        """Return the summary of both data sets; its error is at most the larger of the two."""
        if not len(self) or not len(other):
            return self if len(self) else other
        values = np.concatenate([self.values, other.values])
        values.sort(kind="stable")  # merges the two
        values = values[starts(values)]
        return Summary(values, *(a + b for a, b in zip(self.bounds(values), other.bounds(values))))

    def pruned(self, n_entries: int) -> Summary:
        """Return a summary of at most n entries; its error is larger by at most 1/(n - 1)."""
        if len(self) <= n_entries:
            return self
        kept = np.unique(self._entry(np.linspace(0.0, self.total, n_entries)))
        return Summary(self.values[kept], self.rmin[kept], self.rmax[kept], self.weight[kept])

    def _entry(self, rank: np.ndarray) -> np.ndarray:
        """Return the entries nearest to some ranks: each may miss its own by ½·ε of the weight."""
        middle = (self.rmin + self.rmax) / 2
        lower = np.clip(np.searchsorted(middle, rank, side="right") - 1, 0, len(self) - 1)
        upper = np.minimum(lower + 1, len(self) - 1)
        gap = (self.rmin + self.weight)[lower] + (self.rmax - self.weight)[upper]
        return np.where((2 * rank < gap) | (rank < middle[0]), lower, upper)


def summarise(values: np.ndarray, weights: np.ndarray, eps: float, chunk: int = 1 << 16) -> Summary:
    """Return a summary of a column whose error is at most ``eps``; NaN is left out.

    >>> summary = summarise(np.arange(1000.0), np.ones(1000), 0.3, chunk=100)
    >>> len(summary) < 500, summary.error <= 0.3, cuts_of(summary, 4)
    (True, True, array([251., 503., 755.]))
    """
    n_entries = int(np.ceil(_LEVELS / eps)) + 1
    levels: list[Summary | None] = []
    end = len(values) // chunk * chunk
    for start in range(0, end, chunk):
        part = slice(start, start + chunk)
        _carry(levels, Summary.of(values[part], weights[part]).pruned(n_entries), 0, n_entries)
    whole = Summary.of(values[end:], weights[end:])
    for summary in levels:
        if summary is not None:
            whole = whole.merged(summary)
    return whole


def _carry(levels: list[Summary | None], summary: Summary, level: int, n_entries: int) -> None:
    """Add a summary of a level, merging with the one that is there into one of the next."""
    levels += [None] * (level + 1 - len(levels))
    there, levels[level] = levels[level], None
    if there is None:
        levels[level] = summary
        return
    both = there.merged(summary)
    both = both.pruned(n_entries) if level + 1 < _LEVELS else both
    _carry(levels, both, level + 1, n_entries)


def cuts_of(summary: Summary, max_bin: int) -> np.ndarray:
    """Return at most ``max_bin - 1`` cuts into bins of about equal weight.

    They are placed by the middle of the bounds of Σ w over x <= v, which is wrong by ½·ε of the weight at
    most. Between two entries with nothing between them the cut is their middle, else it is the lower entry,
    whose rank is known.
    """
    if len(summary) < 2:
        return np.empty(0)
    upto = np.maximum.accumulate((summary.rmin + summary.weight + summary.rmax) / 2)
    places = cut_places(np.diff(upto, prepend=0.0), max_bin)
    low, high = summary.values[places], summary.values[places + 1]
    empty = summary.gaps[places] <= _EMPTY * summary.total
    return np.where(empty, cuts_between(low, high), low)


def _cuts_within(summary: Summary, eps: float) -> np.ndarray:
    """Cut so that less than ``eps`` of the weight lies from one cut to the next, by the summary's bounds.

    As in the textbook an entry is followed by the last one for which rmax - weight less the entry's own
    rmin is less than ε of the weight, or by the next one; a cut stands just below it.
    """
    above, chosen, i, last = summary.rmax - summary.weight, [], 0, len(summary) - 1
    while i < last:
        reach = int(np.searchsorted(above, summary.rmin[i] + eps * summary.total)) - 1
        i = max(i + 1, reach)
        chosen.append(i)
    high = np.array(chosen, np.int64)
    upper, lower = summary.values[high], summary.values[high - 1]
    empty = summary.gaps[high - 1] <= _EMPTY * summary.total
    return np.where(empty, cuts_between(lower, upper), np.nextafter(upper, -np.inf))


def proposed_bins(
    matrix: Matrix, schema: Schema, hessian: np.ndarray, eps: float, n_jobs: int = 1
) -> Bins:
    """Return the table in bins with less than ``eps`` of the hessian from one cut to the next.

    A single value may weigh more. The sketch itself is wrong by a quarter of ``eps`` at most.

    Examples
    --------
    >>> from arboretum.data.schema import learn_schema
    >>> schema, matrix = learn_schema(np.arange(8.0)[:, np.newaxis])
    >>> proposed_bins(matrix, schema, np.ones(8), 0.3).codes.tolist()
    [[0, 0, 1, 1, 2, 2, 3, 4]]
    """
    return _bins_by(
        matrix, schema, hessian, eps / 4, n_jobs, lambda summary: _cuts_within(summary, eps)
    )


def sketch_bins(
    matrix: Matrix,
    schema: Schema,
    hessian: np.ndarray,
    max_bin: int = 256,
    eps: float = 1 / 2048,
    n_jobs: int = 1,
) -> Bins:
    """Return the table in bins of about equal hessian: the proposals of ``tree_method="approx"``.

    Parameters
    ----------
    matrix : Matrix
    schema : Schema
    hessian : array of shape (n_rows,)
        Of the first round for global proposals, of the current one for new proposals in every round.
    max_bin : int
        The most bins of a column of numbers.
    eps : float
        The error of the sketch, a share of Σ hessian; worth while only well below ``1 / max_bin``.
    n_jobs : int

    Examples
    --------
    >>> from arboretum.data.schema import learn_schema
    >>> schema, matrix = learn_schema(np.arange(8.0)[:, np.newaxis])
    >>> bins = sketch_bins(matrix, schema, np.array([4.0, 4, 1, 1, 1, 1, 1, 1]), max_bin=4)
    >>> bins.codes.tolist()
    [[0, 1, 2, 2, 2, 3, 3, 3]]
    """
    return _bins_by(matrix, schema, hessian, eps, n_jobs, lambda summary: cuts_of(summary, max_bin))


def _bins_by(
    matrix: Matrix,
    schema: Schema,
    hessian: np.ndarray,
    eps: float,
    n_jobs: int,
    cuts_from: Callable[[Summary], np.ndarray],
) -> Bins:
    hessian = np.asarray(hessian, np.float64)
    bad = np.flatnonzero(~((hessian >= 0) & (hessian < np.inf)))
    if len(bad):
        raise DataError(
            f"hessians must be finite and not negative, got {hessian[bad[0]]} in row {bad[0]}"
        )
    weight = whole_weights(hessian)
    found: dict[int, ColumnBins] = {}

    def cut(f: int, x: np.ndarray, w: np.ndarray | None, absent: Absent | None) -> None:
        summary = summarise(x, np.ones(len(x)) if w is None else w, eps)
        if absent is not None and absent[2] > 0:
            summary = summary.merged(Summary.of(np.array([absent[0]]), np.array([absent[2]])))
        bounds = np.append(cuts_from(summary), np.inf)
        found[f] = ColumnBins(bounds, None, _usual(summary, bounds, absent))

    visit_numbers(matrix, schema, cut, weight, n_jobs)
    found |= category_bins(matrix, schema)
    return bin_table(matrix, found, n_jobs)


def _usual(summary: Summary, bounds: np.ndarray, absent: Absent | None) -> int:
    """Return the bin of the heaviest value, or of the one that a sparse column does not store."""
    value = 0.0
    if absent is not None:
        value = absent[0]
    elif len(summary):
        value = float(summary.values[np.argmax(summary.weight)])
    return int(np.searchsorted(bounds, value))
