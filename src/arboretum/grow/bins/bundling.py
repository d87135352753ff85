"""Exclusive feature bundling: sparse columns that are hardly ever used in the same row share one.

    red      0 1 0 0 1 0        code 0      none of them
    green    1 0 0 0 0 0        code 1      red, bin 1
    blue     0 0 0 1 0 0        code 2      green, bin 1
    bundle   2 1 0 3 1 0        code 3      blue, bin 1

Which columns go together is a graph colouring; as in the paper (Ke et al. 2017), the columns are taken by
falling number of rows they use, and each joins the first bundle it fits: 255 codes at most, and no more
conflicts than allowed. A conflict is a row that two columns of a bundle use; the one that joined first
keeps it.

Tables in parts (streams, shards) send which pairs of columns are used in the same row (`PairsInUse`). Which
rows these are does not matter: with no conflict allowed, a column fits a bundle if it is used in no row
that one of its columns uses.

Up to 64 bundles are filled at a time. In one word per row each has a bit, set if it uses the row, so
one pass over the rows of a column finds its conflicts with all of them. Columns that fit none are tried
again with 64 new bundles, as long as that gains something. Of a sparse table only stored entries are
looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from arboretum.engine import parallel
from arboretum.errors import ParameterError
from arboretum.grow.bins.bins import BYTE, Bins, storage_columns

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.grow.bins.sparse import CodedEntries

__all__ = [
    "Bundle",
    "PairsInUse",
    "bundle_codes",
    "bundle_columns",
    "bundle_parts",
    "pairs_in_use",
    "plan_bundles",
]

_OPEN = 64  # bundles filled at a time: the bits of a word
_TESTED = 1 << 16  # rows in which pairs of columns are looked for at a time
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
    return _plan({f: len(rows) for f, rows in used.items()}, n_bins, _ByRows(used, n_rows, budget))


class _Clashes(Protocol):
    """How up to 64 bundles find out which columns fit."""

    def begin(self) -> None:
        """Forget the bundles."""
        ...

    def fits(self, f: int, able: int) -> int:
        """Return which of the bundles ``able`` the column fits, a bit each."""
        ...

    def join(self, f: int, j: int, *, is_new: bool) -> int:
        """Put the column of the last test into bundle j; return the rows that lose a value."""
        ...


def _plan(
    n_used: Mapping[int, int], n_bins: Sequence[int] | np.ndarray, clashes: _Clashes
) -> list[Bundle]:
    waiting = sorted(n_used, key=lambda f: -n_used[f])  # stable: of equals the first column
    done: list[Bundle] = []
    gained = True
    while waiting and gained:
        bundles, waiting = _fill(waiting, n_bins, clashes)
        gained = any(len(bundle.features) > 1 for bundle in bundles)
        done += bundles
    return done + [Bundle([f], int(n_bins[f])) for f in waiting]


def _fill(
    waiting: Sequence[int], n_bins: Sequence[int] | np.ndarray, clashes: _Clashes
) -> tuple[list[Bundle], list[int]]:
    """Fill up to 64 new bundles; return them and the columns that fit none."""
    clashes.begin()
    bundles: list[Bundle] = []
    left: list[int] = []
    for f in waiting:
        codes = int(n_bins[f]) - 1
        able = sum(1 << j for j, b in enumerate(bundles) if b.n_codes + codes <= BYTE)
        fits = clashes.fits(f, able) if able else 0
        if fits:
            j = (fits & -fits).bit_length() - 1  # the first of them
        elif len(bundles) < _OPEN:
            j = len(bundles)
            bundles.append(Bundle())
        else:
            left.append(f)
            continue
        bundles[j].conflicts += clashes.join(f, j, is_new=not fits)
        bundles[j].features.append(f)
        bundles[j].n_codes += codes
    return bundles, left


class _ByRows:
    """Conflicts are counted row by row, and some may be allowed."""

    def __init__(self, used: Mapping[int, np.ndarray], n_rows: int, budget: int) -> None:
        self._used, self._n_rows, self._budget = used, n_rows, budget

    def begin(self) -> None:
        self._taken = np.zeros(self._n_rows, np.uint64)
        self._clashes = np.zeros(_OPEN, np.int64)
        self._allowed = np.full(_OPEN, self._budget, np.int64)

    def fits(self, f: int, able: int) -> int:
        from arboretum.engine.columns.bins import count_clashes

        return int(
            count_clashes(self._taken, self._used[f], np.uint64(able), self._allowed, self._clashes)
        )

    def join(self, f: int, j: int, *, is_new: bool) -> int:
        from arboretum.engine.columns.bins import mark_rows

        lost = 0 if is_new else int(self._clashes[j])
        self._allowed[j] -= lost
        mark_rows(self._taken, self._used[f], np.uint64(1 << j))
        return lost


class _ByPairs:
    """No conflict is allowed, and it is known which columns meet."""

    def __init__(self, together: np.ndarray) -> None:
        self._together = together

    def begin(self) -> None:
        self._met = np.zeros((_OPEN, len(self._together)), bool)  # by a column of the bundle

    def fits(self, f: int, able: int) -> int:
        return sum(1 << j for j in range(_OPEN) if able >> j & 1 and not self._met[j, f])

    def join(self, f: int, j: int, *, is_new: bool) -> int:
        self._met[j] |= self._together[f]
        return 0


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


# ---------------------------------------------------------------------- tables in parts
@dataclass(frozen=True, eq=False)
class PairsInUse:
    """How some rows use the columns; add those of all parts.

    Attributes
    ----------
    n_used : int64 array of shape (features,)
        Rows where a feature is neither missing nor in its default bin.
    has_missing : bool array of shape (features,)
    together : bool array of shape (features, features)
        Whether some row uses both.
    """

    n_used: np.ndarray
    has_missing: np.ndarray
    together: np.ndarray

    def __add__(self, other: PairsInUse) -> PairsInUse:
        return PairsInUse(
            self.n_used + other.n_used,
            self.has_missing | other.has_missing,
            self.together | other.together,
        )


def pairs_in_use(bins: Bins, before: PairsInUse | None = None) -> PairsInUse:
    """Return how the rows of some bins with codes, every feature in a column of its own, use the columns.

    The rows ``before`` are included; of pairs that they use, no more is looked for.
    """
    n, n_rows = bins.n_features, bins.n_rows
    if before is None:
        before = PairsInUse(np.zeros(n, np.int64), np.zeros(n, bool), np.zeros((n, n), bool))
    n_used, together = before.n_used.copy(), before.together.copy()
    small = np.flatnonzero((bins.n_bins < BYTE) & (bins.n_bins > 0) & ~bins.has_missing)
    codes, default = bins.codes, bins.default_bin[small].astype(np.uint8)
    for start in range(0, n_rows, _TESTED):
        bits = np.empty((len(small), -(-min(_TESTED, n_rows - start) // 8)), np.uint8)
        for k, f in enumerate(small.tolist()):
            aside = codes[bins.storage[f], start : start + _TESTED] != default[k]
            n_used[f] += np.count_nonzero(aside)
            bits[k] = np.packbits(aside)
        for k, f in enumerate(small.tolist()):
            apart = np.flatnonzero(~together[f, small[:k]])
            met = (bits[apart] & bits[k]).any(axis=1)
            others = small[apart[met]]
            together[f, others] = together[others, f] = True
    return PairsInUse(n_used, bins.has_missing | before.has_missing, together)


def bundle_parts(bins: Bins, pairs: PairsInUse, n_rows: int, max_conflict: float = 0.0) -> Bins:
    """Return what `bundle_columns` returns, from the pairs in use in all ``n_rows`` rows."""
    if max_conflict > 0:
        raise ParameterError(
            "max_conflict_rate must be 0 for a table that is read in parts: which rows conflict is known "
            "only where all rows are in memory"
        )
    few = (bins.n_bins < BYTE) & (bins.n_bins > 0) & ~pairs.has_missing
    few &= pairs.n_used <= _SPARSE * n_rows
    n_used = {f: int(pairs.n_used[f]) for f in np.flatnonzero(few).tolist()}
    plan = _plan(n_used, bins.n_places, _ByPairs(pairs.together))
    bundles = [bundle for bundle in plan if len(bundle.features) > 1]
    return _arrange(bins, bundles) if bundles else bins


def bundle_codes(bundled: Bins, alone: Bins, start: int, end: int) -> np.ndarray:
    """Return the codes, uint8 of shape (columns, rows), of some rows in bundles.

    ``alone`` has the codes of the same features in columns of their own.
    """
    n_narrow = bundled.n_storage - int(np.count_nonzero(bundled.is_wide))
    out = np.zeros((n_narrow, end - start), np.uint8)
    for f in np.flatnonzero((bundled.offset == 0) & ~bundled.is_wide).tolist():
        out[bundled.storage[f]] = alone.codes[alone.storage[f], start:end]
    for group in bundled.bundles():
        line = out[bundled.storage[group[0]]]
        for f in reversed(group):  # the first to join has the last word
            codes, default = alone.codes[alone.storage[f], start:end], bundled.default_bin[f]
            aside = np.flatnonzero(codes != default)
            found = codes[aside].astype(np.int32)
            line[aside] = found + bundled.offset[f] - (found > default)
    return out


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
