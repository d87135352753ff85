"""Where to cut a column of numbers into bins.

A column of few distinct values gets a bin for each. Of many, those that would fill a bin alone get one,
and the others share the remaining bins by quantiles:

    values    0 0 0 0 0 0 0 0 0 0 0 0   0.1 0.4 0.5 0.9 1.3 1.4     four bins
    bins      0                       | 1     | 2       | 3

Without the first step zero would use up two of the four. A cut lies halfway between two neighbouring
distinct values, so only the order of the values decides which of them share a bin.

LightGBM's way (`bounds_around_zero`) is another: numbers below zero, zero, and numbers above are binned
apart, each by filling bins one after the other. A sign then never shares a bin with the other.

scikit-learn's way (`bounds_at_quantiles`): the cuts are quantiles of the column, which mostly are values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from arboretum.engine.fixed_point import WEIGHT_BITS, scale_for

__all__ = [
    "ValueCounts",
    "bounds_around_zero",
    "bounds_at_quantiles",
    "count_values",
    "cut_places",
    "cuts_between",
    "number_bounds",
    "starts",
    "whole_weights",
]

_ZERO = 1e-35  # numbers no larger are zero
TIE = 1e-9  # shares closer than this differ by rounding only


class ValueCounts(NamedTuple):
    """The distinct values of a column in order, how many rows have each, and what they weigh."""

    values: np.ndarray
    counts: np.ndarray
    weight: np.ndarray


def whole_weights(weight: np.ndarray) -> np.ndarray:
    """Return weights as whole numbers whose sums float64 holds exactly, whatever their order.

    >>> whole_weights(np.array([0.5, 1.0, 0.0])) / 2.0**48
    array([2., 4., 0.])
    """
    largest = float(weight.max(initial=0.0)) * max(len(weight), 1)
    if not np.isfinite(largest):  # so large that the sum overflows
        return whole_weights(weight / float(weight.max()))
    return np.rint(weight * scale_for(largest, WEIGHT_BITS - 1))


def count_values(
    x: np.ndarray,
    weight: np.ndarray | None = None,
    absent: tuple[float, float, float] | None = None,
) -> ValueCounts:
    """Sort and count the values of a column; NaN is left out.

    Parameters
    ----------
    x : float64 array
    weight : float64 array or None
        By default every row weighs 1.
    absent : (value, rows, weight) or None
        Rows of a sparse column that are not in ``x`` and all have the same value.

    Examples
    --------
    >>> count_values(np.array([2.0, np.nan, 1.0, 2.0]), absent=(0.0, 3, 3.0))
    ValueCounts(values=array([0., 1., 2.]), counts=array([3., 1., 2.]), weight=array([3., 1., 2.]))
    """
    counted = _count_rows(x) if weight is None else _add_weights(x, weight)
    if absent is None or not absent[1] or np.isnan(absent[0]):
        return counted
    return _insert(counted, *absent)


def _count_rows(x: np.ndarray) -> ValueCounts:
    from arboretum.engine.columns.bins import count_sorted

    values, counts = np.empty(len(x)), np.empty(len(x))
    n = count_sorted(np.sort(x), values, counts)
    return ValueCounts(values[:n], counts[:n], counts[:n])


def _add_weights(x: np.ndarray, weight: np.ndarray) -> ValueCounts:
    present = np.flatnonzero(~np.isnan(x))
    order = present[np.argsort(x[present])]
    x = x[order]
    start = starts(x)
    counts = np.diff(start, append=len(x)).astype(np.float64)
    sums = np.add.reduceat(weight[order], start) if len(x) else counts
    return ValueCounts(x[start] + 0.0, counts, sums)  # -0.0 is 0.0


def starts(ordered: np.ndarray) -> np.ndarray:
    """Return where each distinct value of an ordered array begins.

    >>> starts(np.array([1.0, 1.0, 4.0, 5.0, 5.0]))
    array([0, 2, 3])
    """
    new = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return np.flatnonzero(new)


def _insert(counted: ValueCounts, value: float, rows: float, weight: float) -> ValueCounts:
    place = int(np.searchsorted(counted.values, value))
    if place < len(counted.values) and counted.values[place] == value:
        counts, sums = counted.counts.copy(), counted.weight.copy()
        counts[place] += rows
        sums[place] += weight
        return ValueCounts(counted.values, counts, sums)
    new = (value, rows, weight)
    return ValueCounts(
        *(np.concatenate((x[:place], (v,), x[place:])) for x, v in zip(counted, new, strict=True))
    )


def cut_places(weight: np.ndarray, max_bin: int) -> np.ndarray:
    """Return after which of the ordered values to cut, for at most ``max_bin`` bins.

    Parameters
    ----------
    weight : float64 array
        Of every distinct value, in order.
    max_bin : int

    Examples
    --------
    >>> cut_places(np.ones(8), 4)
    array([1, 3, 5])
    >>> cut_places(np.array([12.0, 1, 1, 1, 1, 1, 1]), 4)
    array([0, 2, 4])
    """
    n = len(weight)
    if n <= max_bin:
        return np.arange(max(n - 1, 0))
    if weight.max() < weight.sum() / max_bin:  # as a rule no value fills a bin
        return _quantile_places(weight, max_bin)
    alone, bins = _values_alone(weight, max_bin)
    light = np.flatnonzero(~alone)
    cut = np.zeros(n - 1, bool)
    cut[light[_quantile_places(weight[light], bins)]] = True
    cut |= alone[1:] | alone[:-1]
    return np.flatnonzero(cut)


def _values_alone(weight: np.ndarray, max_bin: int) -> tuple[np.ndarray, int]:
    """Mark the values that fill a bin alone; return the number of bins the others share.

    A value set apart leaves less for the others, so that another may now fill a bin alone.
    """
    alone, bins = np.zeros(len(weight), bool), max_bin
    while True:
        more = alone | (weight >= weight[~alone].sum() / bins)
        runs = int(np.count_nonzero(~more[1:] & more[:-1])) + (not more[0])  # of light values
        # the cuts between runs are free
        left = max_bin - int(np.count_nonzero(more)) - max(runs - 1, 0)
        if left < 1 or runs == 0 or np.array_equal(more, alone):
            return alone, bins
        alone, bins = more, left


def _quantile_places(weight: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the places where the weight below comes nearest to 1/n, 2/n, ...; the lower of equals."""
    if len(weight) <= n_bins:
        return np.arange(len(weight) - 1)
    total = weight.sum()
    if n_bins < 2 or not total > 0:
        return np.empty(0, np.int64)
    below = np.cumsum(weight)[:-1]
    wanted = np.arange(1, n_bins) / n_bins
    above = np.searchsorted(below, wanted * total)
    distance = np.minimum(
        np.abs(below[np.minimum(above, len(below) - 1)] / total - wanted),
        np.abs(below[np.maximum(above - 1, 0)] / total - wanted),
    )
    places = np.sort(np.searchsorted(below, (wanted - distance - TIE) * total))
    return places[starts(places)]  # `np.unique` takes ten times as long


def _enough_rows(places: np.ndarray, counts: np.ndarray, least: int) -> np.ndarray:
    """Leave out the places that would end a bin of fewer rows, from below."""
    sizes = np.add.reduceat(counts, np.append(0, places + 1)).tolist() if len(counts) else []
    kept, rows, left = [], 0.0, sum(sizes)
    for place, size in zip(places.tolist(), sizes):
        rows, left = rows + size, left - size
        if rows >= least and left >= least:
            kept.append(place)
            rows = 0.0
    return np.array(kept, dtype=np.int64)


def cuts_between(below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Return the middles of neighbouring values; ``x <= cut`` holds below and not above.

    >>> cuts_between(np.array([1.0, 1.0]), np.array([2.0, np.nextafter(1.0, 2.0)]))
    array([1.5, 1. ])
    """
    middle = below / 2 + above / 2  # halves first: the sum of two large numbers overflows
    between = (middle >= below) & (middle < above)  # halves of the smallest numbers are rounded
    return np.where(between, middle, below) + 0.0


def number_bounds(table: ValueCounts, max_bin: int, least: int = 1) -> np.ndarray:
    """Return the upper bounds of the bins of a column, the last +inf.

    ``least`` is the number of rows that a bin must hold.

    >>> number_bounds(count_values(np.array([1.0, 2.0, 2.0, 4.0])), 255)
    array([1.5, 3. , inf])
    >>> number_bounds(count_values(np.array([1.0, 2.0, 2.0, 4.0])), 255, least=2)
    array([inf])
    """
    places = cut_places(table.weight, max_bin)
    if least > 1:
        places = _enough_rows(places, table.counts, least)
    cuts = cuts_between(table.values[places], table.values[places + 1])
    return np.append(cuts, np.inf)


def bounds_at_quantiles(table: ValueCounts, max_bin: int) -> np.ndarray:
    """Return the upper bounds of the bins of a column, the last +inf, at k/max_bin of the weight.

    A quantile is the first value up to which there is as much weight, or, if that is exact, the middle
    between this value and the next.

    >>> bounds_at_quantiles(count_values(np.array([1.0, 2.0, 4.0, 8.0])), 2)
    array([ 3., inf])
    >>> bounds_at_quantiles(count_values(np.array([1.0, 2.0, 4.0, 8.0, 9.0])), 2)
    array([ 4., inf])
    """
    values, n = table.values, len(table.values)
    if n <= max_bin:
        return np.append(cuts_between(values[:-1], values[1:]), np.inf)
    below = np.cumsum(table.weight)
    wanted = np.linspace(0, 100, max_bin + 1)[1:-1] / 100 * below[-1]  # rounded as by scikit-learn
    places = np.searchsorted(below, wanted)
    after = np.minimum(places + 1, n - 1)
    cuts = np.where(
        below[places] == wanted, cuts_between(values[places], values[after]), values[places]
    )
    return np.append(np.unique(cuts[cuts < values[-1]]), np.inf)


def bounds_around_zero(table: ValueCounts, max_bin: int, least: int = 1) -> np.ndarray:
    """Return the upper bounds of the bins of a column, the last +inf, zero in a bin of its own.

    Bins below and above zero are as many as their share of the rows.

    >>> bounds_around_zero(count_values(np.array([-2.0, -1.0, 0.0, 3.0, 4.0])), 255)
    array([-1.5e+00, -1.0e-35,  1.0e-35,  3.5e+00,      inf])
    """
    values, counts = table.values, table.counts
    low, high = values.searchsorted((-_ZERO, _ZERO), "right").tolist()
    below, above = float(counts[:low].sum()), float(counts[high:].sum())
    parts: list[Any] = []
    left = max_bin - 1
    if below and left > 0:
        bins = max(1, int(below / (below + above) * left))
        parts += [_filled_bins(values[:low], counts[:low], bins, least), (-_ZERO,)]
        left -= len(parts[0]) + 1
    if above and left > 0:
        parts += [(_ZERO,), _filled_bins(values[high:], counts[high:], left, least)]
    return np.concatenate([*parts, (np.inf,)])


def _filled_bins(values: np.ndarray, counts: np.ndarray, bins: int, least: int) -> np.ndarray:
    """Return cuts that fill bins one after the other."""
    from arboretum.engine.columns.bins import greedy_places

    places = np.empty(len(values), np.int64)
    places = places[: greedy_places(counts, bins, float(least), places)]
    return cuts_between(values[places], values[places + 1])
