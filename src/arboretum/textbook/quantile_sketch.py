"""Where to cut a column too long to sort: the weighted quantile summary of the XGBoost paper.

A row's weight is its curvature h, because the loss of a round is Σ ½·h·(b + g/h)² and a constant: a
least-squares problem with targets -g/h and weights h. The rank of a value y in the data D is a range,

    r⁻(y) = Σ h over x < y,      r⁺(y) = Σ h over x <= y,      w(y) = r⁺(y) - r⁻(y),      W = Σ h

A summary keeps a few of the values, the smallest and the largest among them, each with bounds

    rmin <= r⁻,      rmax >= r⁺,      weight <= w

that hold for a value y between the neighbours a < b, too:

    rmin(y) = rmin(a) + weight(a),    rmax(y) = rmax(b) - weight(b),    weight(y) = 0

It is ε-approximate if rmax - rmin - weight <= ε·W everywhere. What is known (the paper's appendix):

    summarise    the values themselves      ε = 0
    merge        bounds add up              ε = max(ε1, ε2)
    query        a value for a rank d       r⁻ - ½·ε·W <= d <= r⁺ + ½·ε·W
    prune        keep n equally spaced      ε + 1/(n - 1)
                 ranks, keep the answers

Merging costs nothing, so parts of the data can be summarised apart (by threads, by machines) and
merged in pairs: with pruning after every merger, L rounds of pairs add L/(n - 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "QuantileSummary",
    "cuts_within",
    "merge",
    "merge_all",
    "propose_cuts",
    "prune_summary",
    "query",
    "summarise",
    "summary_table",
]


@dataclass(frozen=True, eq=False)
class QuantileSummary:
    """Values in increasing order, each with the bounds of its rank and of its weight."""

    values: np.ndarray
    rmin: np.ndarray
    rmax: np.ndarray
    weight: np.ndarray

    def __len__(self) -> int:
        return len(self.values)

    @property
    def total(self) -> float:
        """W, the weight of all the data."""
        return float(self.rmax[-1]) if len(self) else 0.0

    @property
    def error(self) -> float:
        """The smallest ε that the bounds themselves vouch for, at the entries and between them."""
        if not self.total:
            return 0.0
        at = self.rmax - self.rmin - self.weight
        between = at[:0]
        if len(self) > 1:
            between = (self.rmax - self.weight)[1:] - (self.rmin + self.weight)[:-1]
        return max(0.0, float(np.concatenate([at, between]).max())) / self.total

    def bounds(self, y: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rmin, rmax and weight of any values, kept or not."""
        y = np.asarray(y, dtype=np.float64)
        if not len(self):
            return np.zeros(y.shape), np.zeros(y.shape), np.zeros(y.shape)
        below = np.concatenate([[0.0], self.rmin + self.weight])  # below[i]: entry i-1 is passed
        above = np.concatenate([self.rmax - self.weight, [self.total]])
        place = np.searchsorted(self.values, y)
        entry = np.minimum(place, len(self) - 1)
        kept = self.values[entry] == y
        return (
            np.where(kept, self.rmin[entry], below[place]),
            np.where(kept, self.rmax[entry], above[place]),
            np.where(kept, self.weight[entry], 0.0),
        )


def summarise(values: ArrayLike, hessians: ArrayLike) -> QuantileSummary:
    """Return the exact summary: every value with its rank. NaN and rows without weight are left out.

    >>> print(summary_table(summarise([3.0, 1.0, 3.0, 7.0], [0.5, 1.0, 1.5, 1.0])))
       value    rmin    rmax  weight
           1   0.000   1.000   1.000
           3   1.000   3.000   2.000
           7   3.000   4.000   1.000
    """
    x, h = np.asarray(values, dtype=np.float64), np.asarray(hessians, dtype=np.float64)
    if x.shape != h.shape or x.ndim != 1:
        raise ValueError(
            f"values and hessians must be equally long columns, got {x.shape, h.shape}"
        )
    if np.any(h < 0):
        raise ValueError(f"hessians are weights here and may not be negative, got {h.min()}")
    used = ~np.isnan(x) & (h > 0)
    distinct, place = np.unique(x[used], return_inverse=True)
    weight = np.bincount(place, h[used], len(distinct))
    rmax = np.cumsum(weight)
    return QuantileSummary(distinct, np.concatenate([[0.0], rmax[:-1]])[: len(rmax)], rmax, weight)


def merge(one: QuantileSummary, two: QuantileSummary) -> QuantileSummary:
    """Return the summary of both data sets together; its error is at most the larger of the two.

    A rank in the union is the sum of the ranks in the parts, so the bounds add up.

    >>> both = merge(summarise([1, 4], [1, 1]), summarise([2, 4], [1, 1]))
    >>> both.values.tolist(), both.rmin.tolist(), both.rmax.tolist()
    ([1.0, 2.0, 4.0], [0.0, 1.0, 2.0], [1.0, 2.0, 4.0])
    """
    values = np.union1d(one.values, two.values)
    return QuantileSummary(values, *(a + b for a, b in zip(one.bounds(values), two.bounds(values))))


def query(summary: QuantileSummary, rank: ArrayLike) -> np.ndarray:
    """Return, for every rank d, a kept value with r⁻ - ½·ε·W <= d <= r⁺ + ½·ε·W.

    Of the two entries whose middles (rmin + rmax)/2 lie around d, it is the lower one if d is below
    the middle of the gap between them.

    >>> query(summarise([1, 2, 3, 4], [1, 1, 1, 1]), [0.0, 0.9, 1.1, 2.5, 4.0]).tolist()
    [1.0, 1.0, 2.0, 3.0, 4.0]
    """
    if not len(summary):
        raise ValueError("an empty summary has no values to answer with")
    return summary.values[_entry(summary, np.asarray(rank, dtype=np.float64))]


def _entry(summary: QuantileSummary, rank: np.ndarray) -> np.ndarray:
    middle = (summary.rmin + summary.rmax) / 2
    lower = np.clip(np.searchsorted(middle, rank, side="right") - 1, 0, len(summary) - 1)
    upper = np.minimum(lower + 1, len(summary) - 1)
    gap = (summary.rmin + summary.weight)[lower] + (summary.rmax - summary.weight)[upper]
    return np.where((2 * rank < gap) | (rank < middle[0]), lower, upper)


def prune_summary(summary: QuantileSummary, n_entries: int) -> QuantileSummary:
    """Return a summary of at most n entries, its error larger by at most 1/(n - 1).

    The entries are the answers to n equally spaced ranks from 0 to W and keep their bounds. Two
    neighbours are W/(n - 1) apart in rank, and each may miss its rank by ε·W/2.

    >>> small = prune_summary(summarise(np.arange(101), np.ones(101)), 5)
    >>> small.values.tolist(), round(small.error, 3)
    ([0.0, 25.0, 50.0, 75.0, 100.0], 0.238)
    """
    if n_entries < 2:
        raise ValueError(f"a summary needs at least 2 entries, got {n_entries}")
    if len(summary) <= n_entries:
        return summary
    kept = np.unique(_entry(summary, np.linspace(0.0, summary.total, n_entries)))
    columns = summary.values, summary.rmin, summary.rmax, summary.weight
    return QuantileSummary(*(column[kept] for column in columns))


def merge_all(summaries: Sequence[QuantileSummary], n_entries: int) -> QuantileSummary:
    """Merge in pairs, and pairs of pairs, pruning to n entries: L rounds add at most L/(n - 1).

    >>> parts = [summarise(np.arange(i, 800, 8), np.ones(100)) for i in range(8)]
    >>> whole = merge_all(parts, 31)  # 3 rounds: ε <= 3/30
    >>> len(whole), round(whole.error, 3), query(whole, 400.0).tolist()
    (31, 0.068, 404.0)
    """
    if not summaries:
        raise ValueError("there are no summaries to merge")
    while len(summaries) > 1:
        pairs = (summaries[i : i + 2] for i in range(0, len(summaries), 2))
        summaries = [prune_summary(reduce(merge, pair), n_entries) for pair in pairs]
    return prune_summary(summaries[0], n_entries)


def propose_cuts(values: ArrayLike, hessians: ArrayLike, eps: float) -> np.ndarray:
    """Return about 1/ε values s to try as ``x < s``, less than ε of the weight from one to the next.

    With s_0 the smallest value, which is no cut, and r⁻ the weight below a value,

        r⁻(s_j+1) - r⁻(s_j) < ε·W        unless s_j alone weighs as much: then s_j+1 is the next value

    and the largest value is always among them.

    >>> propose_cuts([1, 2, 3, 4, 5, 6, 7, 8], [1, 1, 1, 1, 1, 1, 1, 1], 0.3).tolist()
    [3.0, 5.0, 7.0, 8.0]
    >>> propose_cuts([1, 2, 3, 4, 5, 6, 7, 8], [9, 9, 1, 1, 1, 1, 1, 1], 0.25).tolist()
    [2.0, 3.0, 8.0]
    """
    return cuts_within(summarise(values, hessians), eps)


def cuts_within(summary: QuantileSummary, eps: float) -> np.ndarray:
    """Return cuts as ``propose_cuts`` does, from a summary: what its bounds vouch for.

    The weight between two entries is at most rmax - weight of the upper less rmin of the lower one. An
    entry is followed by the last for which that is less than ε·W, or else by the next one. So the rank
    bound holds if the summary's own error is small against ε.

    >>> whole = summarise(np.arange(100), np.ones(100))
    >>> cuts_within(prune_summary(whole, 21), 0.25).tolist()
    [20.0, 40.0, 60.0, 80.0, 99.0]
    """
    if not 0 < eps <= 1:
        raise ValueError(f"eps must lie in (0, 1], got {eps}")
    above = summary.rmax - summary.weight
    chosen, i = [], 0
    while i < len(summary) - 1:
        near = np.flatnonzero(above - summary.rmin[i] < eps * summary.total)
        i = max(i + 1, int(near[-1]) if len(near) else 0)
        chosen.append(i)
    return summary.values[chosen]


def summary_table(summary: QuantileSummary) -> str:
    """Return the entries as a table to read.

    >>> print(summary_table(summarise([5.0], [2.0])))
       value    rmin    rmax  weight
           5   0.000   2.000   2.000
    """
    lines = [f"{'value':>8}{'rmin':>8}{'rmax':>8}{'weight':>8}"]
    for value, *ranks in zip(summary.values, summary.rmin, summary.rmax, summary.weight):
        lines.append(f"{value:8.6g}" + "".join(f"{rank:8.3f}" for rank in ranks))
    return "\n".join(lines)
