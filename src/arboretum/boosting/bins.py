"""A table as small codes: what histogram boosting reads instead of values.

    numbers      at most ``max_bin`` bins; bin b holds bounds[b - 1] < x <= bounds[b], the last bound is +inf
    categories   a bin each, the most frequent first; the rare ones count as missing
    missing      the largest code: 255, or 65535 when ``max_bin`` exceeds 255

Codes are kept by storage column, each the codes of all rows one after another. A feature has a storage
column of its own, or shares one with others of a bundle (bundling.py): there code 0 means that all of them
have their default bin, and every other bin of a feature has its own code.

    own column    code = bin                               offset = 0
    bundle        code = offset + bin - (bin > default)    offset >= 1; 0 for the default bin

A code depends on its value alone: not on threads, blocks of rows, or whether the table is sparse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.matrix import DenseMatrix, Matrix, SparseMatrix
from arboretum.engine import parallel
from arboretum.errors import DataError

if TYPE_CHECKING:
    from arboretum.engine.boost_bins import BinTables

__all__ = ["SERIAL", "Bins", "by_rows", "flat"]

SERIAL = 1 << 15  # fewer values than this are not worth a second thread
_BLOCK = 1 << 18  # values converted and coded at a time: they stay in the cache
_LARGEST = 1.7e308  # nearly: numbers that would be larger are infinite


@dataclass(frozen=True, eq=False)
class Bins:
    """A table in bins.

    Attributes
    ----------
    codes : uint8 or uint16 array of shape (n_storage, n_rows)
    storage, offset, n_bins, default_bin : int32 arrays of shape (n_features,)
        Where the codes of a feature are and what they mean; see the top of the file. In a column of its
        own the default bin is that of the most frequent value, and not used.
    is_category, has_missing : bool arrays of shape (n_features,)
        Missing are NaN and rare categories, in the rows that the bins were made for.
    bounds : float64 array, bounds_start : int64 array of shape (n_features + 1,)
        The upper bounds of feature f are ``bounds[bounds_start[f]:bounds_start[f + 1]]``.
    category_of : int32 array, category_start : int64 array of shape (n_features + 1,)
        The category codes of its bins, for categories.
    conflicts : int64 array of shape (n_storage,)
        How many values of a bundle were lost to another in the same row.
    joined : int32 array of shape (n_features,)
        The place of a feature in its bundle; of two values in a row the earlier feature's is kept.
    names : tuple of str

    Examples
    --------
    >>> from arboretum.boosting.binning import find_bins
    >>> from arboretum.data.schema import encode, learn_schema
    >>> schema, matrix = learn_schema([[1.0, "a"], [2.0, "b"], [np.nan, "b"], [4.0, "b"]])
    >>> bins = find_bins(matrix, schema, min_data_in_bin=1)
    >>> bins.codes.tolist(), bins.bounds_of(0).tolist(), bins.categories_of(1).tolist()
    ([[0, 1, 255, 2], [1, 0, 0, 0]], [1.5, 3.0, inf], [1, 0])
    >>> bins.encode(encode(schema, [[3.0, "a"]])).tolist()
    [[1], [1]]
    """

    codes: np.ndarray
    storage: np.ndarray
    offset: np.ndarray
    n_bins: np.ndarray
    default_bin: np.ndarray
    is_category: np.ndarray
    has_missing: np.ndarray
    bounds: np.ndarray
    bounds_start: np.ndarray
    category_of: np.ndarray
    category_start: np.ndarray
    conflicts: np.ndarray
    joined: np.ndarray
    names: tuple[str, ...]

    @property
    def n_features(self) -> int:
        """Number of original columns."""
        return len(self.storage)

    @property
    def n_storage(self) -> int:
        """Number of storage columns."""
        return len(self.conflicts)

    @property
    def n_rows(self) -> int:
        """Number of rows that the bins were made for."""
        return self.codes.shape[1]

    @property
    def missing(self) -> int:
        """The code of missing values."""
        return (1 << 8 * self.codes.dtype.itemsize) - 1

    def bounds_of(self, f: int) -> np.ndarray:
        """Return the upper bounds of a feature's bins."""
        return self.bounds[self.bounds_start[f] : self.bounds_start[f + 1]]

    def categories_of(self, f: int) -> np.ndarray:
        """Return the category codes of a feature's bins."""
        return self.category_of[self.category_start[f] : self.category_start[f + 1]]

    def bundles(self) -> list[list[int]]:
        """Return the features of every storage column that several share, in the order they joined."""
        order = np.lexsort((self.joined, self.storage))
        cuts = np.flatnonzero(np.diff(self.storage[order])) + 1
        return [group.tolist() for group in np.split(order, cuts) if len(group) > 1]

    def report(self) -> str:
        """Say which columns are bundled, by their names, and how often a value was lost."""
        groups = self.bundles()
        lines = [
            f"{self.n_features} columns in {self.n_storage} storage columns, {len(groups)} bundles"
        ]
        for group in groups:
            s = self.storage[group[0]]
            n_codes = 1 + int(np.sum(self.n_bins[group] - 1))
            names = ", ".join(self.names[f] for f in group)
            lines.append(
                f"bundle {s}: {len(group)} columns, {n_codes} codes, "
                f"{self.conflicts[s]} conflicts: {names}"
            )
        return "\n".join(lines)

    # ------------------------------------------------------------------ coding
    def encode(self, matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
        """Return the codes of any table with the same columns, shape (n_storage, rows).

        A value missing in a bundled feature, which had none when the bins were made, gets its default
        bin.
        """
        return self._encode(matrix, n_jobs)[0]

    def _encode(self, matrix: Matrix, n_jobs: int) -> tuple[np.ndarray, np.ndarray]:
        """Return codes, and which features have missing values."""
        if matrix.n_columns != self.n_features:
            raise DataError(
                f"the table has {matrix.n_columns} columns, its bins are those of {self.n_features}"
            )
        codes = np.empty((self.n_storage, matrix.n_rows), self.codes.dtype)
        seen = np.zeros(self.n_features, np.uint8)
        n_jobs = n_jobs if matrix.n_rows * matrix.n_columns > SERIAL else 1
        target = np.where(self.offset > 0, -1, self.storage).astype(np.int64)
        if isinstance(matrix, SparseMatrix):
            own = np.flatnonzero(target >= 0).tolist()
            parallel.run(lambda f: self._sparse_column(matrix, f, codes, seen), own, n_jobs)
        else:
            self._dense_columns(matrix, target, codes, seen, n_jobs)
        parallel.run(lambda group: self._bundle(matrix, group, codes), self.bundles(), n_jobs)
        return codes, seen.astype(bool)

    def _dense_columns(
        self, matrix: Matrix, target: np.ndarray, codes: np.ndarray, seen: np.ndarray, n_jobs: int
    ) -> None:
        """Code the features with columns of their own, by blocks of rows or of columns."""
        if (
            by_rows(matrix) or matrix.n_rows * matrix.n_columns <= _BLOCK
        ):  # one call for a small table
            height = max(_BLOCK // max(matrix.n_columns, 1), 1)
            pieces: list[Any] = parallel.blocks(matrix.n_rows, -(-matrix.n_rows // height))

            def work(piece: Any) -> None:
                self._code(matrix.rows(*piece), 0, target, codes, piece[0], seen)
        else:
            pieces = np.flatnonzero(target >= 0).tolist()

            def work(piece: Any) -> None:
                self._code(matrix.column(piece)[:, np.newaxis], piece, target, codes, 0, seen)

        parallel.run(work, pieces, n_jobs)

    def _code(
        self,
        block: np.ndarray,
        feature: int,
        target: np.ndarray,
        out: np.ndarray,
        at: int,
        seen: np.ndarray,
    ) -> None:
        from arboretum.engine.boost_bins import encode_block
        from arboretum.engine.jit import writable

        missing = np.uint64(self.missing)
        encode_block(writable(block), feature, target, self._tables, missing, out, at, seen)

    def _values(self, values: np.ndarray, f: int) -> np.ndarray:
        """Return the bins of some values of one feature, as if it had a column of its own."""
        if not self.is_category[f] and len(values) and values.min() == values.max():  # no NaN
            one = np.searchsorted(self.bounds_of(f), values[0])
            return np.full(len(values), one, self.codes.dtype)
        out = np.empty((1, len(values)), self.codes.dtype)
        block = np.ascontiguousarray(values, np.float64)[:, np.newaxis]
        self._code(block, f, self._first_line, out, 0, self._unread)
        return out[0]

    def entries(self, matrix: Matrix, f: int) -> tuple[Any, np.ndarray, int]:
        """Return the rows of a feature that are stored, their bins, and the bin of all the others."""
        if not isinstance(matrix, SparseMatrix):
            return slice(None), self._values(matrix.column(f), f), -1
        stored = matrix.by_column
        span = slice(stored.indptr[f], stored.indptr[f + 1])
        absent = 0.0 if matrix.fill is None else matrix.fill[f]
        return (
            stored.indices[span],
            self._values(stored.data[span], f),
            int(self._values(np.array([absent]), f)[0]),
        )

    def _sparse_column(self, matrix: Matrix, f: int, codes: np.ndarray, seen: np.ndarray) -> None:
        rows, bins, absent = self.entries(matrix, f)
        line = codes[self.storage[f]]
        line[:] = absent
        line[rows] = bins
        lost = absent == self.missing and len(rows) < len(line)
        seen[f] = lost or bool(np.any(bins == self.missing))

    def _bundle(self, matrix: Matrix, group: Sequence[int], codes: np.ndarray) -> None:
        line = codes[self.storage[group[0]]]
        line[:] = 0
        for f in reversed(group):  # the first to join has the last word
            rows, bins = self.aside(matrix, f)
            shift = np.where(bins > self.default_bin[f], self.offset[f] - 1, self.offset[f])
            line[rows] = bins + shift.astype(line.dtype)

    def aside(self, matrix: Matrix, f: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows where a feature is neither missing nor in its default bin, and its bins."""
        default = int(self.default_bin[f])
        rows, bins, absent = self.entries(matrix, f)
        if absent not in (-1, default, self.missing):  # bins made for a table that was not sparse
            rows, bins = slice(None), self._values(matrix.column(f), f)
        chosen = np.flatnonzero((bins != default) & (bins != self.missing))
        return (chosen if isinstance(rows, slice) else rows[chosen]), bins[chosen]

    @cached_property
    def _first_line(self) -> np.ndarray:
        return np.zeros(self.n_features, np.int64)

    @cached_property
    def _unread(self) -> np.ndarray:
        return np.zeros(self.n_features, np.uint8)

    @cached_property
    def _tables(self) -> BinTables:
        return _make_tables(self)

    def __getstate__(self) -> dict[str, Any]:
        """What pickle keeps: the fields, not what was worked out from them."""
        return {name: value for name, value in vars(self).items() if name[0] != "_"}


def by_rows(matrix: Matrix) -> bool:
    """Tell whether the values of a row stand together."""
    if not isinstance(matrix, DenseMatrix):
        return False
    strides = matrix.values.strides
    return abs(strides[1]) < abs(strides[0]) or matrix.n_columns == 1


def _make_tables(bins: Bins) -> BinTables:
    """Return the tables that the kernel finds bins by."""
    from arboretum.engine.boost_bins import BinTables, count_cells

    n = bins.n_features
    low, scale, top = np.zeros(n), np.zeros(n), np.zeros(n)
    half = np.zeros(n, np.uint64)
    first: list[np.ndarray] = []
    cuts: list[np.ndarray] = []
    place: list[np.ndarray] = []
    nothing = np.empty(0)
    for f in range(n):
        codes = bins.categories_of(f)
        places = np.full(codes.max(initial=-1) + 1, bins.missing, np.uint16)
        places[codes] = np.arange(len(codes))
        place.append(places)
        if bins.is_category[f]:
            first.append(nothing)
            cuts.append(nothing)
            continue
        inner = bins.bounds_of(f)[:-1]
        n_cells = 1 << min(max(int(8 * len(inner)).bit_length(), 4), 16)
        span = float(inner[-1]) - float(inner[0]) if len(inner) else 0.0
        density = n_cells / span if span > n_cells / _LARGEST else math.inf
        if math.isfinite(span) and math.isfinite(density):
            low[f], scale[f] = inner[0], density
        top[f] = n_cells - 1
        cells = np.empty(n_cells, np.uint16)
        fullest = count_cells(inner, low[f], scale[f], top[f], cells)
        width = 1 << int(fullest).bit_length()  # a search of width - 1 cuts
        half[f] = width >> 1
        first.append(cells)
        cuts.append(np.concatenate([inner, np.full(width, np.inf)]))
    return BinTables(
        bins.is_category, low, scale, top, half, *flat(first, np.uint16),
        *flat(cuts, np.float64), *flat(place, np.uint16),
    )  # fmt: skip


def flat(parts: Sequence[np.ndarray], dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Join arrays; return them and where each begins."""
    start = np.cumsum([0, *(len(part) for part in parts)], dtype=np.int64)
    joined = np.concatenate([np.empty(0, dtype), *parts], dtype=dtype, casting="unsafe")
    return joined, start
