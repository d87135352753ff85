"""The rows and columns of a tree, drawn by hashes of their numbers.

    goss_rows        the rows with the largest |g·h|, and some of the others, which then count for more
    subsample_rows   a share of the rows, of every stratum, or of whole groups
    draw_columns     a share of the columns

A row is drawn if the hash of (seed, iteration, row) is among the smallest. So a draw does not depend on
threads, blocks of rows, or other draws, and a fit resumed at round 50 draws the same as one without
interruption.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arboretum.base.sampling import hashes, smallest
from arboretum.engine.elementwise import log
from arboretum.engine.keys import ALL_BITS, key_of
from arboretum.errors import DataError, ParameterError

__all__ = ["draw_columns", "goss_rows", "share_of", "subsample_rows"]

_LEAST_WEIGHT = 1e-100  # of a column: it is drawn if no other is left
_GOSS, _ROWS, _COLUMNS = 0x6055, 0x2035, 0xC015


def share_of(n: int, share: float) -> int:
    """Return the nearest number of columns to a share of n, at least one.

    >>> [share_of(5, 0.9), share_of(8, 0.7), share_of(3, 0.6), share_of(5, 0.5), share_of(3, 0.01)]
    [5, 6, 2, 3, 1]
    """
    return max(int(n * share + 0.5), 1)


# ---------------------------------------------------------------------- rows
def goss_rows(
    g: np.ndarray,
    h: np.ndarray,
    top_rate: float = 0.2,
    other_rate: float = 0.1,
    seed: int = 0,
    iteration: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Keep the share a of the rows with the largest |g·h|, and draw the share b of all from the rest.

    Parameters
    ----------
    g, h : float arrays of shape (n,) or (n_outputs, n)
        With several outputs |g·h| is summed over them.
    top_rate, other_rate : float
        The shares a and b; at least one row is drawn.
    seed, iteration : int

    Returns
    -------
    rows : uint32 array
        In order.
    factor : float32 array
        Factor of g and h of each row: 1 for those kept, and for those drawn the number
        of rows they were drawn from over the number of rows drawn, about (1 - a)/b.

    Examples
    --------
    >>> g = np.array([9, -8, 7, 2, -2, 1, 1, 1, 0, 0], np.float32)
    >>> rows, factor = goss_rows(g, np.ones(10, np.float32), 0.3, 0.2)
    >>> rows[:3].tolist(), factor.tolist()
    ([0, 1, 2], [1.0, 1.0, 1.0, 3.5, 3.5])
    """
    from arboretum.engine.rows.sample import sum_products

    if not (top_rate >= 0 and other_rate > 0 and top_rate + other_rate <= 1):
        raise ParameterError(
            "top_rate must be at least 0 and other_rate above 0, and together they may be at most 1, "
            f"got {top_rate!r} and {other_rate!r}"
        )
    g, h = np.atleast_2d(g), np.atleast_2d(h)
    n = g.shape[1]
    score = np.empty(n)
    sum_products(g, h, score)
    top = smallest(
        ~score.view(np.uint64), int(top_rate * n)
    )  # bits of floats >= 0 keep their order
    n_rest = n - len(top)
    n_drawn = min(max(int(other_rate * n), 1), n_rest)
    keys = hashes(key_of(seed, _GOSS, iteration), n)
    keys[top] = ALL_BITS  # already kept; n_drawn of the others are smaller
    drawn = smallest(keys, n_drawn)
    factor = np.zeros(n, np.float32)
    factor[drawn] = n_rest / max(n_drawn, 1)
    factor[top] = 1.0
    rows = np.flatnonzero(factor).astype(np.uint32)
    return rows, factor[rows]


def subsample_rows(
    n: int,
    fraction: float | Sequence[float],
    seed: int = 0,
    iteration: int = 0,
    *,
    groups: np.ndarray | None = None,
    strata: np.ndarray | None = None,
    exact: bool = True,
) -> np.ndarray:
    """Draw a share of the rows without replacement; return them in order.

    Parameters
    ----------
    n : int
    fraction : float in (0, 1], or one per stratum
    seed, iteration : int
    groups : int array or None
        Sizes of consecutive groups of rows; a group is in or out as a whole, and
        the share is one of the groups.
    strata : int array of shape (n,) or None
        The stratum 0, 1, ... of every row; the share is drawn from each.
    exact : bool
        Draw a fixed number of rows, the share rounded to at least one; else every row
        independently with the probability ``fraction``.

    Returns
    -------
    rows : uint32 array

    Examples
    --------
    >>> len(subsample_rows(10, 0.5)), subsample_rows(3, 1.0).tolist()
    (5, [0, 1, 2])
    >>> subsample_rows(6, 0.34, groups=np.array([2, 3, 1]), seed=1).tolist()
    [2, 3, 4]
    >>> subsample_rows(6, [1.0, 0.5], strata=np.array([0, 1, 0, 1, 0, 0])).tolist()
    [0, 2, 3, 4, 5]
    """
    shares = np.atleast_1d(np.asarray(fraction, np.float64))
    if not np.all((shares > 0) & (shares <= 1)):
        raise ParameterError(f"fraction must be above 0 and at most 1, got {fraction!r}")
    key = key_of(seed, _ROWS, iteration)
    if groups is not None:
        sizes = np.asarray(groups, np.int64)
        if sizes.sum() != n:
            raise DataError(f"groups have {sizes.sum()} rows in all, the table has {n}")
        drawn = _draw(hashes(key, len(sizes)), shares[0], exact)
        inside = np.zeros(len(sizes), bool)
        inside[drawn] = True
        return np.flatnonzero(np.repeat(inside, sizes)).astype(np.uint32)
    keys = hashes(key, n)
    if strata is None:
        return _draw(keys, shares[0], exact)
    return _draw_strata(keys, np.asarray(strata), shares, exact)


def _draw_strata(
    keys: np.ndarray, strata: np.ndarray, shares: np.ndarray, exact: bool
) -> np.ndarray:
    """Return a share of every stratum."""
    n_strata = int(strata.max(initial=-1)) + 1
    if len(shares) not in (1, n_strata):
        raise ParameterError(f"there are {n_strata} strata and {len(shares)} fractions")
    parts = []
    for k, share in enumerate(np.broadcast_to(shares, n_strata)):
        rows = np.flatnonzero(strata == k)
        if len(rows):
            parts.append(rows[_draw(keys[rows], share, exact)])
    return np.sort(np.concatenate([np.empty(0, np.int64), *parts])).astype(np.uint32)


def _draw(keys: np.ndarray, share: float, exact: bool) -> np.ndarray:
    """Return a share of the positions, at least one."""
    if exact or share == 1.0:
        return smallest(keys, _whole(share, len(keys)))
    drawn = np.flatnonzero(keys < np.uint64(int(share * 2.0**64)))
    return drawn.astype(np.uint32) if len(drawn) else smallest(keys, 1)


def _whole(share: float, n: int) -> int:
    """Return the number of items in a share, at least one; 0.29·100 is 29."""
    return max(int(share * n + 1e-9 * n), 1)


# ---------------------------------------------------------------------- columns
def draw_columns(
    n: int | np.ndarray, fraction: float, key: int, weights: np.ndarray | None = None
) -> np.ndarray:
    """Draw a share of n columns, or of the columns given, at least one; return them in order.

    With weights a column is the next one drawn with a probability in proportion to its weight, without
    replacement: the smallest -log(u)/w are drawn. Columns of weight 0 come last.

    A column's hash under the key decides, so repeated draws from drawn columns are fair if
    every draw has its own key: ``key_of(seed, tree, level)``.

    >>> draw_columns(5, 1.0, key=7).tolist(), len(draw_columns(5, 0.5, key=7))
    ([0, 1, 2, 3, 4], 2)
    >>> set(draw_columns(np.array([3, 8, 9]), 0.7, key=7).tolist()) < {3, 8, 9}
    True
    """
    columns = n if isinstance(n, np.ndarray) else np.arange(n, dtype=np.int32)
    if not 0 < fraction <= 1:
        raise ParameterError(f"fraction must be above 0 and at most 1, got {fraction!r}")
    if fraction == 1 or not len(columns):
        return columns
    mine = key_of(key, _COLUMNS)
    keys = np.array([key_of(mine, f) for f in columns.tolist()], np.uint64)
    places = keys if weights is None else _weighed(keys, weights)
    order = np.argsort(places, kind="stable")[: _whole(fraction, len(columns))]
    return np.sort(columns[order])


def _weighed(keys: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return -log(u)/w, where u in (0, 1) is a hash."""
    u = (keys >> np.uint64(12)).astype(np.float64) * 2.0**-52 + 2.0**-53
    return -log(u) / np.maximum(weights, _LEAST_WEIGHT)
