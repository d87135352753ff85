"""Further reading: cutting a column of numbers into bins, so that ID3 can split on it.

    quantile_cuts     bins of about equal weight, the classes do not matter
    mdl_cuts          Fayyad and Irani: the cut of largest gain, if it pays for its own description,
                      then each side again
    bin_codes         bin i holds the values above cut i-1 and up to cut i

Fayyad and Irani accept a cut of N cases S into S1 and S2 (k, k1, k2 classes present) if

    gain > log2(N - 1) / N + Δ / N,      Δ = log2(3^k - 2) - (k·H(S) - k1·H(S1) - k2·H(S2))

The right side is what it takes to write the cut down: which of the N - 1 places it is, and which
classes live on either side. Rows that miss the value take no part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.id3 import TIE, first_largest
from arboretum.textbook.impurities import entropy

__all__ = ["MDLDecision", "bin_codes", "boundary_table", "mdl_cuts", "mdl_delta", "quantile_cuts"]


def boundary_table(
    x: ArrayLike, y: ArrayLike, w: ArrayLike | None = None, n_classes: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values of a column and the class weights at each; NaN is left out.

    >>> values, table = boundary_table([1.0, 3.0, 1.0, np.nan], [0, 1, 1, 0])
    >>> values.tolist(), table.tolist()
    ([1.0, 3.0], [[1.0, 1.0], [0.0, 1.0]])
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.int64)
    w = np.ones(len(x)) if w is None else np.asarray(w, dtype=np.float64)
    if not len(x) == len(y) == len(w):
        raise ValueError(f"x, y and w need the same number of rows, got {len(x), len(y), len(w)}")
    known = ~np.isnan(x) & (w > 0)
    values, place = np.unique(x[known], return_inverse=True)
    n_classes = max(n_classes, int(y.max(initial=-1)) + 1)
    table = np.bincount(place * n_classes + y[known], w[known], len(values) * n_classes)
    return values, table.reshape(len(values), n_classes)


def _middle(below: float, above: float) -> float:
    middle = below / 2 + above / 2  # halves first: the sum of two large numbers overflows
    return float(below if middle >= above else middle)


# ---------------------------------------------------------------------- quantiles
def quantile_cuts(x: ArrayLike, n_bins: int, w: ArrayLike | None = None) -> np.ndarray:
    """Return at most ``n_bins - 1`` cut points between values, for bins of about equal weight.

    Cut j is where the weight below comes nearest to j/n_bins of the whole, the lower place of
    equals. Values that occur often fill their bins alone, so some cuts may fall together.

    >>> quantile_cuts([1, 2, 3, 4, 5, 6], 3).tolist()
    [2.5, 4.5]
    >>> quantile_cuts([0, 0, 0, 0, 0, 7], 3).tolist()
    [3.5]
    """
    if n_bins < 2:
        raise ValueError(f"n_bins must be at least 2, got {n_bins}")
    x = np.asarray(x, dtype=np.float64)
    values, table = boundary_table(x, np.zeros(len(x)), w)
    if len(values) < 2:
        return np.empty(0)
    weight = table.sum(axis=1)
    below = np.cumsum(weight)[:-1] / weight.sum()  # the share of weight up to each cut
    places = {first_largest(-np.abs(below - j / n_bins)) for j in range(1, n_bins)}
    return np.array([_middle(values[i], values[i + 1]) for i in sorted(places)])


# ---------------------------------------------------------------------- Fayyad and Irani
@dataclass(frozen=True)
class MDLDecision:
    """The best cut of one interval and whether it paid."""

    low: float  # the interval: its smallest and its largest value
    high: float
    weight: float  # N
    cut: float
    entropy: float  # H(S)
    entropies: tuple[float, float]  # H(S1), H(S2)
    n_classes: tuple[int, int, int]  # k, k1, k2
    gain: float
    delta: float  # Δ
    cost: float  # (log2(N - 1) + Δ) / N
    accepted: bool


def mdl_delta(k: tuple[int, int, int], h: tuple[float, float, float]) -> float:
    """Return Δ = log2(3^k - 2) - (k·H(S) - k1·H(S1) - k2·H(S2)).

    >>> round(mdl_delta((2, 1, 1), (1.0, 0.0, 0.0)), 3)
    0.807
    """
    codes = k[0] * np.log2(3.0) + np.log2(1.0 - 2.0 * 3.0 ** -k[0])  # log2(3^k - 2) for any k
    return float(codes - (k[0] * h[0] - k[1] * h[1] - k[2] * h[2]))


def mdl_cuts(
    x: ArrayLike, y: ArrayLike, w: ArrayLike | None = None
) -> tuple[np.ndarray, list[MDLDecision]]:
    """Return the cut points in order, and every decision on the way, outer intervals first.

    Parameters
    ----------
    x : array of shape (n,)
        Numbers; NaN is left out.
    y : array of shape (n,)
        Class indices 0, 1, ...
    w : array of shape (n,), optional
        Row weights: N is their sum. An interval lighter than two cases is not cut.

    Examples
    --------
    >>> cuts, decisions = mdl_cuts([1, 2, 3, 4, 5, 6], [0, 0, 0, 1, 1, 1])
    >>> cuts.tolist(), decisions[0].gain, round(decisions[0].cost, 3)
    ([3.5], 1.0, 0.522)
    """
    values, table = boundary_table(x, y, w)
    cuts, decisions, waiting = [], [], [(0, len(values))]
    while waiting:
        start, end = waiting.pop()
        part = table[start:end]
        if end - start < 2 or part.sum() < 2 - TIE or np.count_nonzero(part.sum(axis=0)) < 2:
            continue
        place, decision = _best_cut(values[start:end], part)
        decisions.append(decision)
        if decision.accepted:
            cuts.append(decision.cut)
            waiting += [(start + place, end), (start, start + place)]
    return np.array(sorted(cuts)), decisions


def _best_cut(values: np.ndarray, table: np.ndarray) -> tuple[int, MDLDecision]:
    """Return how many distinct values the best cut leaves below, and its figures."""
    whole, n = table.sum(axis=0), float(table.sum())
    lower, upper = np.cumsum(table, axis=0)[:-1], np.cumsum(table[::-1], axis=0)[::-1][1:]
    h = entropy(whole)
    sides = [(entropy(one), entropy(two)) for one, two in zip(lower, upper)]
    gains = [
        h - (one.sum() * h1 + two.sum() * h2) / n for one, two, (h1, h2) in zip(lower, upper, sides)
    ]
    i = first_largest(gains)
    h1, h2 = sides[i]
    k, k1, k2 = (int(np.count_nonzero(counts)) for counts in (whole, lower[i], upper[i]))
    delta = mdl_delta((k, k1, k2), (h, h1, h2))
    cost = float(np.log2(n - 1) + delta) / n
    decision = MDLDecision(
        low=float(values[0]),
        high=float(values[-1]),
        weight=n,
        cut=_middle(values[i], values[i + 1]),
        entropy=h,
        entropies=(h1, h2),
        n_classes=(k, k1, k2),
        gain=float(gains[i]),
        delta=delta,
        cost=cost,
        accepted=bool(gains[i] > cost),
    )
    return i + 1, decision


def bin_codes(x: ArrayLike, cuts: ArrayLike) -> np.ndarray:
    """Return the bin of every value, 0 to len(cuts); a missing value stays missing.

    >>> bin_codes([1.0, 2.5, 9.0, np.nan], [2.5, 4.5]).tolist()
    [0.0, 0.0, 2.0, nan]
    """
    x = np.asarray(x, dtype=np.float64)
    return np.where(np.isnan(x), np.nan, np.searchsorted(np.asarray(cuts), x, side="left"))
