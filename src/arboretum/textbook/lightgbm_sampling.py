"""What LightGBM leaves out: rows that have little to say (GOSS), columns that can share (EFB).

Gradient-based one-side sampling (GOSS). Rows with a large |g·h| are kept, some of the others are
drawn, and the drawn ones stand for all the others:

    |g·h|   9  8  7 | 2  2  1  1  1  0  0         a = 0.3: three rows are kept
                          ·     ·                 b = 0.2: two of the other seven are drawn,
                          g and h times 7/2       so that Σg and Σh stay right on average

Exclusive feature bundling (EFB). Two columns that are never both non-zero fit into one: the bins of
the second are numbered on from those of the first. Bin 0 of every column is that of its zeros.

    column A    0 0 2 1 0 0        the bundle     3 0 2 1 4 3        bins 1-2 are A's 1-2
    column B    1 0 0 0 2 1                                          bins 3-4 are B's 1-2

A bundle's histogram is taken apart again before splits are sought: the bins of a column are there,
and its zeros are all the other rows. So a split always speaks of an original column. A row where
both are non-zero is a conflict; it keeps the value of the column that joined the bundle first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "Bundle",
    "GossSample",
    "bundle_codes",
    "bundle_features",
    "conflict_counts",
    "goss",
    "goss_starts",
    "unbundle_histogram",
]


# ---------------------------------------------------------------------- rows: GOSS
@dataclass(frozen=True, eq=False)
class GossSample:
    """The rows of one round, in order, and what their g and h are multiplied by."""

    rows: np.ndarray
    factor: np.ndarray  # 1 for the kept rows, (1 - a)/b for the drawn ones
    score: np.ndarray = field(repr=False)  # |g·h| of all rows, summed over classes
    n_top: int
    n_drawn: int


def goss(
    g: ArrayLike,
    h: ArrayLike,
    top_rate: float = 0.2,
    other_rate: float = 0.1,
    random_state: int = 0,
) -> GossSample:
    """Keep the share a of the rows with the largest |g·h|; draw the share b of all from the rest.

    The drawn rows are multiplied by (rows not kept)/(rows drawn): (1 - a)/b, but for rounding a·n and
    b·n down to whole rows. With several classes (columns), |g·h| is summed over them.

    Examples
    --------
    >>> sample = goss([9, -8, 7, 2, -2, 1, 1, 1, 0, 0], np.ones(10), 0.3, 0.2)
    >>> sample.rows[:3].tolist(), sample.n_drawn, sorted(set(sample.factor.tolist()))
    ([0, 1, 2], 2, [1.0, 3.5])
    """
    g, h = np.asarray(g, dtype=np.float64), np.asarray(h, dtype=np.float64)
    if top_rate < 0 or other_rate <= 0 or top_rate + other_rate > 1:
        raise ValueError(
            f"top_rate >= 0 and other_rate > 0 may add up to 1, not to more, "
            f"got {top_rate} and {other_rate}"
        )
    score = np.abs(g * h)
    score = score.sum(axis=1) if score.ndim == 2 else score
    n_top, n_drawn = (int(rate * len(score)) for rate in (top_rate, other_rate))
    order = np.argsort(-score, kind="stable")  # of equals the first rows
    top, rest = order[:n_top], order[n_top:]
    n_drawn = min(max(1, n_drawn), len(rest))
    drawn = np.random.default_rng(random_state).choice(rest, n_drawn, replace=False)
    factor = np.ones(len(score))
    factor[drawn] = len(rest) / max(n_drawn, 1)
    rows = np.sort(np.concatenate([top, drawn]))
    return GossSample(rows, factor[rows], score, n_top, n_drawn)


def goss_starts(learning_rate: float) -> int:
    """Return how many rounds use all rows: 1/η, until the gradients say more than the first guess.

    >>> goss_starts(0.1)
    10
    """
    return int(1 / learning_rate)


# ---------------------------------------------------------------------- columns: EFB
@dataclass(frozen=True)
class Bundle:
    """Columns that share one; bin ``offsets[j] + b - 1`` is bin b > 0 of ``features[j]``."""

    features: tuple[int, ...]
    offsets: tuple[int, ...]
    n_bins: int  # of the bundle: 1 for the rows that are zero in all columns, and those of each
    conflicts: int  # rows that lost a value

    def origin(self, bundle_bin: int) -> tuple[int, int] | None:
        """Return the column and its bin that a bin of the bundle stands for; None for bin 0."""
        if not 0 <= bundle_bin < self.n_bins:
            raise ValueError(f"the bundle has bins 0..{self.n_bins - 1}, got {bundle_bin}")
        if bundle_bin == 0:
            return None
        j = int(np.searchsorted(self.offsets, bundle_bin, side="right")) - 1
        return self.features[j], bundle_bin - self.offsets[j] + 1


def conflict_counts(codes: ArrayLike) -> np.ndarray:
    """Return for every pair of columns the number of rows where neither is in its bin 0.

    >>> conflict_counts([[1, 0, 0], [0, 2, 1], [1, 0, 0], [0, 1, 0]]).tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 0]]
    """
    full = (np.asarray(codes) != 0).astype(np.int64)
    counts = full.T @ full
    np.fill_diagonal(counts, 0)
    return counts


def bundle_features(
    codes: ArrayLike, n_bins: Sequence[int] | None = None, max_conflicts: int = 0
) -> list[Bundle]:
    """Bundle greedily: each column joins the first bundle whose conflicts stay within the budget.

    To find the fewest bundles is to colour a graph, which is hard; as there, the columns with most
    conflicts come first (of equals the first column).

    Parameters
    ----------
    codes : array of shape (n_rows, n_columns)
        Bins of every column, 0 that of zero.
    n_bins : the number of bins of every column, by default the largest code and one
    max_conflicts : rows that may lose a value, in each bundle

    Examples
    --------
    >>> codes = [[0, 1, 0], [0, 0, 1], [2, 0, 0], [1, 0, 0], [0, 2, 1], [0, 1, 0]]
    >>> for bundle in bundle_features(codes):
    ...     print(bundle.features, bundle.offsets, bundle.n_bins, bundle.conflicts)
    (1, 0) (1, 3) 5 0
    (2,) (1,) 2 0
    >>> bundle_features(codes, max_conflicts=1)[0].features
    (1, 2, 0)
    """
    codes = np.asarray(codes, dtype=np.int64)
    sizes = codes.max(axis=0, initial=0) + 1 if n_bins is None else np.asarray(n_bins)
    full = codes != 0
    order = np.argsort(-conflict_counts(codes).sum(axis=1), kind="stable")
    members: list[list[int]] = []
    taken: list[np.ndarray] = []  # the rows where the bundle has a value
    conflicts: list[int] = []
    for f in order.tolist():
        clashes = [int(np.sum(rows & full[:, f])) for rows in taken]
        fits = [j for j, n in enumerate(clashes) if conflicts[j] + n <= max_conflicts]
        if fits:
            j = fits[0]
            members[j].append(f)
            conflicts[j] += clashes[j]
            taken[j] = taken[j] | full[:, f]
        else:
            members.append([f])
            conflicts.append(0)
            taken.append(full[:, f])
    return [_bundle(columns, sizes, lost) for columns, lost in zip(members, conflicts)]


def _bundle(features: list[int], sizes: np.ndarray, conflicts: int) -> Bundle:
    ends = 1 + np.cumsum(sizes[features] - 1)
    offsets = (1, *ends[:-1].tolist())
    return Bundle(tuple(features), offsets, int(ends[-1]), conflicts)


def bundle_codes(bundle: Bundle, codes: ArrayLike) -> np.ndarray:
    """Return the bundle's column; in a conflict, the column that joined first keeps its value.

    >>> bundle = Bundle((0, 1), (1, 3), 5, 0)
    >>> bundle_codes(bundle, [[0, 1], [0, 0], [2, 0], [1, 0], [0, 2], [0, 1]]).tolist()
    [3, 0, 2, 1, 4, 3]
    """
    codes = np.asarray(codes, dtype=np.int64)
    merged = np.zeros(len(codes), dtype=np.int64)
    for f, offset in zip(reversed(bundle.features), reversed(bundle.offsets)):
        merged = np.where(codes[:, f] != 0, offset + codes[:, f] - 1, merged)
    return merged


def unbundle_histogram(bundle: Bundle, histogram: np.ndarray) -> dict[int, np.ndarray]:
    """Return the histogram of every column: its own bins, and as bin 0 all the other rows.

    >>> bundle = Bundle((0, 1), (1, 3), 5, 0)
    >>> columns = unbundle_histogram(bundle, np.array([[1.0], [1.0], [1.0], [2.0], [1.0]]))
    >>> columns[0].ravel().tolist(), columns[1].ravel().tolist()
    ([4.0, 1.0, 1.0], [3.0, 2.0, 1.0])
    """
    total, columns = histogram.sum(axis=0), {}
    ends = (*bundle.offsets[1:], bundle.n_bins)
    for f, start, end in zip(bundle.features, bundle.offsets, ends):
        own = histogram[start:end]
        columns[f] = np.vstack([total - own.sum(axis=0), own])
    return columns
