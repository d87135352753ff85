"""A table as small codes: what histogram boosting reads instead of values.

    numbers      at most ``max_bin`` bins; bin b holds bounds[b - 1] < x <= bounds[b], the last bound is +inf
    categories   a bin each (categories.py); those without count as missing
    missing      255; in a column of more than 255 bins the code after the last bin

Codes are kept by storage column, each the codes of all rows one after another: those of up to 255 bins as
bytes, the wide ones behind them in two bytes. A feature has a storage column of its own, or shares one
with others of a bundle (bundling.py): there code 0 means that all of them have their default bin, and
every other bin of a feature has its own code.

    own column    code = bin                               offset = 0
    bundle        code = offset + bin - (bin > default)    offset >= 1; 0 for the default bin

What a sparse table does not store may be missing values: then these are the default bin, whose number is
the one after the last bin.

A code depends on its value alone: not on threads, blocks of rows, or whether the table is sparse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.matrix import DenseMatrix, Matrix, SparseMatrix
from arboretum.engine import parallel
from arboretum.errors import DataError
from arboretum.grow.bins.sparse import CodedEntries, code_entries
from arboretum.lazy import cached_property

if TYPE_CHECKING:
    from arboretum.engine.columns.bins import BinTables

__all__ = ["MOST_BINS", "Bins", "by_rows", "flat", "storage_columns"]

MOST_BINS = 65535  # of a column
BYTE = 255  # bins that a code of one byte holds, besides the missing values
_BLOCK = 1 << 18  # values converted and coded at a time: they stay in the cache
_LARGEST = 1.7e308  # nearly: numbers that would be larger are infinite


@dataclass(frozen=True, eq=False)
class Bins:
    """A table in bins.

    Attributes
    ----------
    codes : uint8 array of shape (columns, n_rows)
        Of the storage columns of up to 255 bins.
    wide : uint16 array of shape (columns, n_rows)
        Of the other storage columns, which come after them.
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

    Examples
    --------
    >>> from arboretum.grow.bins.find import BinRules, find_bins
    >>> from arboretum.data.schema import encode, learn_schema
    >>> schema, matrix = learn_schema([[1.0, "a"], [2.0, "b"], [np.nan, "b"], [4.0, "b"]])
    >>> bins = find_bins(matrix, schema, BinRules(min_data_in_bin=1))
    >>> bins.codes.tolist(), bins.bounds_of(0).tolist(), bins.categories_of(1).tolist()
    ([[0, 1, 255, 2], [0, 1, 1, 1]], [1.5, 3.0, inf], [0, 1])
    >>> bins.encode(encode(schema, [[3.0, "a"]])).tolist()
    [[1], [0]]
    """

    codes: np.ndarray
    wide: np.ndarray
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
    def is_wide(self) -> np.ndarray:
        """Which features have codes of two bytes."""
        return self.n_bins > BYTE

    @cached_property
    def missing(self) -> np.ndarray:
        """The code of missing values, by feature."""
        return np.where(self.is_wide, self.n_bins, BYTE).astype(np.int64)

    @property
    def n_places(self) -> np.ndarray:
        """How many bins every feature has, missing values among them where they are its default bin."""
        return self.n_bins + (self.default_bin == self.n_bins)

    def line(self, s: int) -> np.ndarray:
        """Return the codes of a storage column."""
        return _line((self.codes, self.wide), s)

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

    # ------------------------------------------------------------------ coding
    def encode(self, matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
        """Return the codes of any table with the same columns, shape (n_storage, rows).

        A value missing in a bundled feature, which had none when the bins were made, gets its default
        bin.
        """
        (narrow, wide), _ = self._encode(matrix, n_jobs)
        return np.concatenate([narrow, wide]) if len(wide) else narrow

    def of_table(self, matrix: Matrix | CodedEntries, n_jobs: int = 1) -> Bins:
        """Return the same bins with the codes of a table; of a sparse one, its codes may be given."""
        (codes, wide), has_missing = self._encode(matrix, n_jobs)
        return replace(self, codes=codes, wide=wide, has_missing=has_missing)

    def code_entries(self, matrix: SparseMatrix) -> CodedEntries:
        """Return what a sparse table stores as codes of bins; bundles make no difference."""
        dtype = np.uint16 if self.is_wide.any() else np.uint8
        n = self.n_features
        fill = np.zeros(n) if matrix.fill is None else matrix.fill
        absent, lines = np.empty((n, 1), dtype), np.arange(n)
        self._code(fill[np.newaxis].astype(np.float64), 0, lines, absent, 0, self._unread)
        return code_entries(matrix, self._tables, absent[:, 0], dtype)

    def _encode(
        self, matrix: Matrix | CodedEntries, n_jobs: int
    ) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
        """Return codes of one byte, codes of two bytes, and which features have missing values."""
        if matrix.n_columns != self.n_features:
            raise DataError(
                f"the table has {matrix.n_columns} columns, its bins are those of {self.n_features}"
            )
        n_wide = int(np.count_nonzero(self.is_wide))
        narrow = np.empty((self.n_storage - n_wide, matrix.n_rows), np.uint8)
        wide = np.empty((n_wide, matrix.n_rows), np.uint16)
        codes = narrow, wide
        seen = np.zeros(self.n_features, np.uint8)
        n_jobs = parallel.threads_for(matrix.n_rows * matrix.n_columns, parallel.CODE, n_jobs)
        alone = self.offset == 0
        if isinstance(matrix, SparseMatrix):
            matrix = self.code_entries(matrix)
        if isinstance(matrix, CodedEntries):
            entries, own = matrix, np.flatnonzero(alone).tolist()
            parallel.run(lambda f: self._sparse_column(entries, f, codes, seen), own, n_jobs)
        else:
            lines = self.storage - np.where(self.is_wide, len(narrow), 0)
            for is_wide, out in ((False, narrow), (True, wide)):
                if len(out):
                    mine = alone & (self.is_wide == is_wide)
                    target = np.where(mine, lines, -1).astype(np.int64)
                    self._dense_columns(matrix, target, out, seen, n_jobs)
        parallel.run(lambda group: self._bundle(matrix, group, narrow), self.bundles(), n_jobs)
        seen[~alone & (self.default_bin == self.n_bins)] = 1
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
        from arboretum.engine.columns.bins import encode_block
        from arboretum.engine.compiler.decorators import writable

        encode_block(writable(block), feature, target, self._tables, out, at, seen)

    def _values(self, values: np.ndarray, f: int) -> np.ndarray:
        """Return the bins of some values of one feature, as if it had a column of its own."""
        out = np.empty((1, len(values)), self._dtype(f))
        block = np.ascontiguousarray(values, np.float64)[:, np.newaxis]
        self._code(block, f, self._first_line, out, 0, self._unread)
        return out[0]

    def _dtype(self, f: int) -> type[np.unsignedinteger]:
        return np.uint16 if self.n_bins[f] > BYTE else np.uint8

    def entries(self, matrix: Matrix | CodedEntries, f: int) -> tuple[Any, np.ndarray, int]:
        """Return the rows of a feature that are stored, their bins, and the bin of all the others."""
        if isinstance(matrix, CodedEntries):
            return *matrix.of(f), int(matrix.absent[f])
        return slice(None), self._values(matrix.column(f), f), -1

    def _sparse_column(
        self, entries: CodedEntries, f: int, codes: tuple[np.ndarray, np.ndarray], seen: np.ndarray
    ) -> None:
        rows, bins = entries.of(f)
        line = _line(codes, self.storage[f])
        line[:] = entries.absent[f]
        line[rows] = bins
        lost = entries.absent[f] == self.missing[f] and len(rows) < len(line)
        seen[f] = lost or bool(np.any(bins == self.missing[f]))

    def _bundle(
        self, matrix: Matrix | CodedEntries, group: Sequence[int], codes: np.ndarray
    ) -> None:
        line = codes[self.storage[group[0]]]
        line[:] = 0
        for f in reversed(group):  # the first to join has the last word
            rows, bins = self.aside(matrix, f)
            shift = np.where(bins > self.default_bin[f], self.offset[f] - 1, self.offset[f])
            line[rows] = bins + shift.astype(line.dtype)

    def aside(self, matrix: Matrix | CodedEntries, f: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows where a feature is neither missing nor in its default bin, and its bins."""
        default, missing = int(self.default_bin[f]), self.missing[f]
        rows, bins, absent = self.entries(matrix, f)
        if isinstance(matrix, CodedEntries) and absent not in (default, missing):
            rows, bins = slice(None), matrix.dense(f)  # bins made for a table that was not sparse
        chosen = np.flatnonzero((bins != default) & (bins != missing))
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
        return {one.name: getattr(self, one.name) for one in fields(self)}


def _line(codes: tuple[np.ndarray, np.ndarray], s: int) -> np.ndarray:
    narrow, wide = codes
    return narrow[s] if s < len(narrow) else wide[s - len(narrow)]


def by_rows(matrix: Matrix) -> bool:
    """Return whether the values of a row are contiguous."""
    if not isinstance(matrix, DenseMatrix):
        return False
    strides = matrix.values.strides
    return abs(strides[1]) < abs(strides[0]) or matrix.n_columns == 1


def _make_tables(bins: Bins) -> BinTables:
    """Return the tables that the kernel finds bins by."""
    from arboretum.engine.columns.bins import BinTables, count_cells

    n = bins.n_features
    low, scale, top = np.zeros(n), np.zeros(n), np.zeros(n)
    half = np.zeros(n, np.uint64)
    first: list[np.ndarray] = []
    cuts: list[np.ndarray] = []
    place: list[np.ndarray] = []
    nothing = np.empty(0)
    for f in range(n):
        codes = bins.categories_of(f)
        places = np.full(codes.max(initial=-1) + 1, bins.missing[f], np.uint16)
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
        bins.is_category, bins.missing.astype(np.uint64), low, scale, top, half, *flat(first, np.uint16),
        *flat(cuts, np.float64), *flat(place, np.uint16),
    )  # fmt: skip


def flat(parts: Sequence[np.ndarray], dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Join arrays; return them and where each begins."""
    start = np.cumsum([0, *(len(part) for part in parts)], dtype=np.int64)
    joined = np.concatenate([np.empty(0, dtype), *parts], dtype=dtype, casting="unsafe")
    return joined, start


def storage_columns(home: np.ndarray, n_bins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the storage columns by their first feature, those of more than 255 bins last.

    ``home`` is, for every feature, the first feature of its storage column. Returns the number of every
    feature's column, and the first feature of every column.

    >>> storage_columns(np.array([0, 1, 0, 3]), np.array([4, 600, 3, 255]))
    (array([0, 2, 0, 1], dtype=int32), array([0, 3, 1]))
    """
    firsts = np.unique(home)
    firsts = firsts[np.argsort(n_bins[firsts] > BYTE, kind="stable")]
    place = np.zeros(len(home), np.int32)
    place[firsts] = np.arange(len(firsts))
    return place[home], firsts
