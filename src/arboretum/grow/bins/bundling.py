"""Exclusive feature bundling: sparse columns that are hardly ever used in the same row share one.

    red      0 1 0 0 1 0        code 0      none of them
    green    1 0 0 0 0 0        code 1      red, bin 1
    blue     0 0 0 1 0 0        code 2      green, bin 1
    bundle   2 1 0 3 1 0        code 3      blue, bin 1

Which columns go together is a graph colouring; as in the paper (Ke et al. 2017), the columns are taken by
falling number of rows they use, and each joins the first bundle it fits: 255 codes at most, and no more
conflicts than allowed. A conflict is a row that two columns of a bundle use; the one that joined first
keeps it.

Up to 64 bundles are filled at a time. In one word per row each has a bit, set if it uses the row, so
one pass over the rows of a column finds its conflicts with all of them. Columns that fit none are tried
again with 64 new bundles, as long as that gains something. Of a sparse table only stored entries are
looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine import parallel
from arboretum.grow.bins.bins import BYTE, Bins, storage_columns

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.grow.bins.sparse import CodedEntries

__all__ = ["Bundle", "bundle_columns", "plan_bundles"]

_OPEN = 64  # bundles filled at a time: the bits of a word
_SPARSE = 0.5  # a column that uses more of the rows than this stays alone


@dataclass
class Bundle:
    """Columns that share a storage column, in the order they joined.

    Attributes
    ----------
    features : list of int
    n_codes : int
        Code 0, and one for each bin of each feature but its default bin.
    conflicts : int
        Rows that lose a value.
    """

    features: list[int] = field(default_factory=list)
    n_codes: int = 1
    conflicts: int = 0


def plan_bundles(
    used: Mapping[int, np.ndarray], n_bins: Sequence[int] | np.ndarray, n_rows: int, budget: int = 0
) -> list[Bundle]:
    """Put columns into bundles; a column that fits nowhere makes one of its own.

    Parameters
    ----------
    used : dict from feature to uint32 array
        The rows where the feature is not in its default bin.
    n_bins : sequence of int
        Of every feature.
    n_rows : int
    budget : int
        The most conflicts of a bundle.

    Examples
    --------
    >>> rows = {0: [1, 4], 1: [0], 2: [3], 3: [3, 4, 5]}
    >>> rows = {f: np.array(r, np.uint32) for f, r in rows.items()}
    >>> [bundle.features for bundle in plan_bundles(rows, [2, 2, 2, 2], 6)]
    [[3, 1], [0, 2]]
    >>> [(b.features, b.conflicts) for b in plan_bundles(rows, [2, 2, 2, 2], 6, budget=1)]
    [([3, 0, 1], 1), ([2], 0)]
    """
    waiting = sorted(used, key=lambda f: -len(used[f]))  # stable: of equals the first column
    done: list[Bundle] = []
    gained = True
    while waiting and gained:
        bundles, waiting = _fill(waiting, used, n_bins, n_rows, budget)
        gained = any(len(bundle.features) > 1 for bundle in bundles)
        done += bundles
    return done + [Bundle([f], int(n_bins[f])) for f in waiting]


def _fill(
    waiting: Sequence[int],
    used: Mapping[int, np.ndarray],
    n_bins: Sequence[int] | np.ndarray,
    n_rows: int,
    budget: int,
) -> tuple[list[Bundle], list[int]]:
    """Fill up to 64 new bundles; return them and the columns that fit none."""
    from arboretum.engine.columns.bins import count_clashes, mark_rows

    taken = np.zeros(n_rows, np.uint64)
    clashes = np.zeros(_OPEN, np.int64)
    allowed = np.full(_OPEN, budget, np.int64)
    bundles: list[Bundle] = []
    left: list[int] = []
    for f in waiting:
        codes = int(n_bins[f]) - 1
        able = sum(1 << j for j, b in enumerate(bundles) if b.n_codes + codes <= BYTE)
        fits = int(count_clashes(taken, used[f], np.uint64(able), allowed, clashes)) if able else 0
        if fits:
            j = (fits & -fits).bit_length() - 1  # the first of them
            allowed[j] -= clashes[j]
            bundles[j].conflicts += int(clashes[j])
        elif len(bundles) < _OPEN:
            j = len(bundles)
            bundles.append(Bundle())
        else:
            left.append(f)
            continue
        bundles[j].features.append(f)
        bundles[j].n_codes += codes
        mark_rows(taken, used[f], np.uint64(1 << j))
    return bundles, left


def bundle_columns(
    bins: Bins, matrix: Matrix | CodedEntries, max_conflict: float = 0.0, n_jobs: int = 1
) -> Bins:
    """Return the bins with sparse columns bundled, without codes; the same bins if there are none.

    Bins that have the codes of the table are looked at instead of its values.

    Columns that use more than half of the rows stay alone, and so do those with missing values, unless these
    are all that a sparse table does not store.
    """
    used: dict[int, np.ndarray] = {}
    coded = bins.n_rows == matrix.n_rows

    def look_at_codes(f: int) -> None:
        aside = bins.codes[bins.storage[f]] != bins.default_bin[f]
        if not bins.has_missing[f] and np.count_nonzero(aside) <= _SPARSE * matrix.n_rows:
            used[f] = np.flatnonzero(aside).astype(np.uint32)

    def look(f: int) -> None:
        rows, codes, absent = bins.entries(matrix, f)
        sparse = not isinstance(rows, slice)
        is_lost = codes == bins.missing[f]
        if sparse and absent == bins.missing[f] and bins.default_bin[f] == bins.n_bins[f]:
            aside = np.flatnonzero(~is_lost)
        elif is_lost.any() or (sparse and absent != bins.default_bin[f]):
            return
        else:
            aside = np.flatnonzero(codes != bins.default_bin[f])
        if len(aside) <= _SPARSE * matrix.n_rows:
            if sparse:  # mostly all of them: no copy then
                aside = rows if len(aside) == len(rows) else rows[aside]
            used[f] = aside.astype(np.int32, copy=False).view(np.uint32)

    small = np.flatnonzero((bins.n_bins < BYTE) & (bins.n_bins > 0)).tolist()
    if coded:  # a comparison per column, done before another thread is awake
        parallel.run(look_at_codes, small, 1)
    else:
        parallel.run(look, small, n_jobs)
    used = {f: used[f] for f in sorted(used)}
    plan = plan_bundles(used, bins.n_places, matrix.n_rows, int(max_conflict * matrix.n_rows))
    bundles = [bundle for bundle in plan if len(bundle.features) > 1]
    return _arrange(bins, bundles) if bundles else bins


def _arrange(bins: Bins, bundles: Sequence[Bundle]) -> Bins:
    """Give every feature its storage column and offset."""
    n = bins.n_features
    home = np.arange(n)  # the first feature of the storage column
    offset, joined = np.zeros(n, np.int32), np.zeros(n, np.int32)
    lost = np.zeros(n, np.int64)
    for bundle in bundles:
        group = np.array(bundle.features)
        home[group] = group.min()
        widths = bins.n_places[group] - 1
        offset[group] = 1 + np.cumsum(widths) - widths
        joined[group] = np.arange(len(group))
        lost[group.min()] = bundle.conflicts
    storage, firsts = storage_columns(home, bins.n_bins)
    return replace(
        bins,
        codes=np.empty((0, 0), np.uint8),
        wide=np.empty((0, 0), np.uint16),
        storage=storage,
        offset=offset,
        joined=joined,
        conflicts=lost[firsts],
    )
