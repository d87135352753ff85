"""SHAP values of many rows by tables (engine/shap/): which trees have them, how they are built and stored.

A tree has tables if each of its leaves has few states (cells.py), so trees of a few dozen leaves do, whatever
they split on. Building tables takes as long as walking some hundred rows; then a row costs a few look-ups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.engine import parallel
from arboretum.predict.shap.walking import gauss_rules
from arboretum.predict.walk import run_blocks

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.predict.shap.layout import Layout

__all__ = ["Coding", "Tabled", "has_tables", "table_cap"]

_MOST_CODES = 1 << 16
_MOST_CATEGORIES = 256  # of a column, every second one of which may be a step
_MOST_COLUMNS = 13  # of a path: its leaf has 2^13 states
_BLOCK_BYTES = 1 << 23  # size of the sums of a block of rows
_BATCH_BYTES = 1 << 21  # size of the states of a batch of groups
_MOST_ROWS = 9_400  # in a block
_COUNTED_ROWS = 2_500  # in a block of the background, whose sums are small
_SHARES = 4  # pieces of the work of building, per thread


class Coding:
    """How the values of a model's columns become codes."""

    def __init__(self, layout: Layout) -> None:
        from arboretum.engine.shap.cells import Codes

        paths, n = layout.paths, layout.n_columns
        inner = layout.n_children > 0
        by_category = np.zeros(n, np.bool_)
        by_category[paths.feature[inner & (paths.kind > 1)]] = True
        nodes = np.flatnonzero(inner)
        feature, threshold = paths.feature[nodes], paths.threshold[nodes]
        rank = np.zeros(len(inner), np.int32)
        words = by_category[feature]
        # ordered categories: those up to the threshold
        rank[nodes[words]] = np.floor(np.clip(threshold[words], -1, paths.n_codes[feature[words]]))
        nodes, feature, threshold = nodes[~words], feature[~words], threshold[~words]
        order = np.lexsort((threshold, feature))
        owner, cuts = feature[order], threshold[order]
        new = np.ones(len(cuts), np.bool_)
        new[1:] = (cuts[1:] != cuts[:-1]) | (owner[1:] != owner[:-1])
        sizes = np.bincount(owner[new], minlength=n)
        begin = np.concatenate([[0], np.cumsum(sizes)])
        rank[nodes[order]] = np.cumsum(new) - 1 - begin[owner]
        n_codes = np.where(by_category, paths.n_codes[:n] + 1, sizes + 2)
        self.most = int(n_codes.max(initial=1))
        self.columns = layout.used.astype(np.int64)
        self.n_categories = np.where(by_category, paths.n_codes[:n], -1)[self.columns].astype(
            np.int64
        )
        self.cuts = cuts[new]
        self.cuts_at = np.concatenate([[0], np.cumsum(sizes[self.columns])]).astype(np.int64)
        self.codes = Codes(rank, n_codes.astype(np.int32), by_category.astype(np.uint8))
        self.n_words = int(n_codes[by_category].sum())

    def coder(self, n_columns: int, n_rows: int, n_groups: int = 1) -> Any:
        """Return the arrays for the codes of a block of rows and for its states in a batch of groups."""
        from arboretum.engine.shap.table_rows import Coder

        padded = -(-n_rows // 8) * 8
        return Coder(
            self.columns, self.n_categories, self.cuts, self.cuts_at, np.zeros(padded),
            np.zeros(padded, np.uint64), np.zeros((n_columns, padded), np.uint16),
            np.empty((n_groups, padded), np.uint16),
        )  # fmt: skip


def has_tables(layout: Layout) -> np.ndarray:
    """Return for every tree whether it can have tables: short paths, few categories, no surrogates."""
    paths, codes = layout.paths, layout.coding.codes
    if len(paths.surrogate_start) or layout.coding.most > _MOST_CODES:
        return np.zeros(layout.n_trees, np.bool_)
    many = (codes.by_category == 1) & (codes.n_codes > _MOST_CATEGORIES)
    has_many = np.logical_or.reduceat(
        many[paths.feature] & (layout.n_children > 0), layout.starts[:-1]
    )
    return (layout.longest > 0) & (layout.longest <= _MOST_COLUMNS) & ~has_many


def table_cap(n_rows: int, pairs: bool) -> int:
    """Return how many states a group may have; with more rows, larger tables pay off."""
    if pairs:
        return 128
    return 256 if n_rows < 8192 else 1024


class Tabled:
    """The tables of some trees.

    Parameters
    ----------
    layout : Layout
    trees : int array
        The trees that have tables.
    most : int
        The most states of a group.
    pair_of : int32 array or None
        The place of every pair.
    places : int
        The number of columns and pairs per output.
    background : Matrix or None
        Rows to compare with; None: path-dependent values.
    n_jobs : int
    """

    def __init__(
        self,
        layout: Layout,
        trees: np.ndarray,
        most: int,
        pair_of: np.ndarray | None,
        places: int,
        background: Matrix | None = None,
        n_jobs: int = 1,
    ) -> None:
        from arboretum.engine.compiler.by_address import address_of
        from arboretum.engine.shap.cells import AskedTrees, describe_part

        self.layout, self.places, self.n_jobs = layout, places, n_jobs
        parts = layout.paths, layout.edges, layout.branches, layout.coding.codes
        describe = address_of(describe_part, *parts, np.int32(0), self._part())
        self._questions = AskedTrees(describe, *parts, layout.value)
        groups, sizes = self._group(trees, most)
        self.tables = self._allot(sizes, pair_of is not None)
        states = int(sizes[:, 0].max(initial=1))
        spans = parallel.blocks(len(sizes), _SHARES * n_jobs)
        from arboretum.engine.shap.tables import fill_tables, lay_steps

        def lay(span: tuple[int, int]) -> None:
            lay_steps(
                self._questions, groups, span, np.int64(places), pair_of, self._part(), self.tables
            )

        parallel.run(lay, spans, n_jobs)
        counts = None if background is None else self._count(background)
        rules = gauss_rules((_MOST_COLUMNS + 1) // 2)
        pairs = None if pair_of is None else True

        def fill(span: tuple[int, int]) -> None:
            fill_tables(
                self._questions, groups, span, rules, pairs, counts, self._part(),
                self._leaf(states, 2 if pairs is None else 8), self.tables,
            )  # fmt: skip

        parallel.run(fill, spans, n_jobs)

    @property
    def nbytes(self) -> int:
        return self.tables.table.nbytes

    # ------------------------------------------------------------------ making
    def _part(self) -> Any:
        from arboretum.engine.shap.cells import LEAVES, CellPart

        layout = self.layout
        n_splits = LEAVES + int(layout.deepest.max(initial=0)) + 1
        columns = min(layout.n_columns, n_splits)
        cells = n_splits + 2 * columns + layout.coding.n_words
        whole = np.int32
        return CellPart(
            leaf=np.empty(LEAVES, whole), asks=np.empty(n_splits, whole),
            column=np.empty(columns, whole), slot=np.full(layout.n_columns, -1, whole),
            cell_at=np.empty(columns + 1, whole), first_code=np.empty(cells, whole),
            mask=np.empty(cells, np.uint64), share=np.empty((LEAVES, columns)),
            kind=np.empty(cells, whole), classes=np.empty(columns, whole),
            group=np.empty(LEAVES, np.uint64), waiting=np.empty(LEAVES + 1, whole),
            found=np.empty(2, np.int64),
        )  # fmt: skip

    def _leaf(self, states: int, sums: int) -> Any:
        from arboretum.engine.shap.tables import Leaf

        longest = min(int(self.layout.longest.max(initial=0)), _MOST_COLUMNS)
        patterns = 1 << longest
        return Leaf(
            at=np.empty(longest, np.int64), share=np.empty(longest),
            pattern=np.empty(states, np.int32), counts=np.empty(patterns),
            product=np.empty(patterns), sums=np.empty((sums, patterns)), got=np.empty(patterns),
        )  # fmt: skip

    def _group(self, trees: np.ndarray, most: int) -> tuple[Any, np.ndarray]:
        """Return the groups of all trees, and the number of states, columns and steps of each."""
        from arboretum.engine.shap.cells import group_trees
        from arboretum.engine.shap.tables import Groups

        layout = self.layout
        spans = layout.spans(trees)
        blocks = parallel.blocks(len(trees), _SHARES * self.n_jobs)
        found: list[Any] = [None] * len(blocks)

        def go(k: int) -> None:
            lo, hi = blocks[k]
            room = int((spans[lo:hi, 1] - spans[lo:hi, 0]).sum())
            roots, members = np.empty(room, np.int32), np.empty(room, np.uint64)
            sizes = np.empty((room, 4), np.int64)
            n = group_trees(
                self._questions, spans[lo:hi], np.int64(most), self._part(), (roots, members), sizes
            )
            outputs = layout.outputs[trees[lo + sizes[:n, 3]]]
            found[k] = roots[:n], members[:n], outputs, sizes[:n]

        parallel.run(go, range(len(blocks)), self.n_jobs)
        roots, members, outputs, sizes = (
            np.concatenate(parts) for parts in zip(*found, strict=True)
        )
        return Groups(roots, members, outputs), sizes

    def _allot(self, sizes: np.ndarray, pairs: bool) -> Any:
        """Return empty tables for groups of these sizes."""
        from arboretum.engine.shap.tables import Tables

        states, columns, steps = sizes[:, 0], sizes[:, 1], -(-sizes[:, 2] // 4) * 4
        if pairs:
            columns = columns + columns * (columns - 1) // 2
        columns = columns * self.layout.value.shape[1]
        step_at, column_at, table_at = _starts(steps), _starts(columns), _starts(states * columns)
        return Tables(
            step_at=step_at,
            step_column=np.empty(step_at[-1], np.int32),
            step_code=np.empty(step_at[-1], np.uint16),
            step_by=np.empty(step_at[-1], np.uint16),
            column_at=column_at,
            place=np.empty(column_at[-1], np.int32),
            table_at=table_at,
            states=np.ascontiguousarray(states),
            state_at=_starts(states),
            table=np.empty(table_at[-1]),
        )

    def _count(self, background: Matrix) -> np.ndarray:
        """Return the share of the background's rows in every state of every group."""
        from arboretum.engine.shap.table_rows import count_rows

        layout, counts = self.layout, np.zeros(self.tables.state_at[-1], np.int64)
        free: list[np.ndarray] = []  # one per thread, not one per block: they are large

        def go(lo: int, hi: int, X: np.ndarray) -> None:
            try:
                own = free.pop()
            except IndexError:
                own = np.zeros(len(counts), np.int64)
            coder = layout.coding.coder(layout.n_columns, min(hi - lo, _COUNTED_ROWS))
            count_rows(self.tables, coder, X, own)
            free.append(own)

        run_blocks(go, background, self.n_jobs)
        for own in free:  # integers: the order of the additions does not matter
            counts += own
        return counts / background.n_rows

    # ------------------------------------------------------------------ using
    def add(self, matrix: Matrix, out: np.ndarray, n_jobs: int = 1) -> None:
        """Add the values of all rows to ``out``, (rows, outputs, columns and pairs)."""
        from arboretum.engine.shap.table_rows import add_tables

        places = out.shape[1] * out.shape[2]
        most, n_groups = _block_of(places)
        batches = self._batches(n_groups)

        def go(lo: int, hi: int, X: np.ndarray) -> None:
            coder, sums = self._scratch(hi - lo, most, n_groups, places)
            flat = out[lo:hi].reshape(hi - lo, places)
            add_tables(self.tables, batches, coder, X, sums, flat)

        run_blocks(go, matrix, n_jobs)

    def write_squares(
        self, matrix: Matrix, place: np.ndarray, squares: np.ndarray, n_jobs: int = 1
    ) -> None:
        """Write the values of pairs as symmetric tables, (rows, outputs, columns, columns).

        ``place`` has the places of columns and pairs. Each block of rows is turned into tables at once: to
        keep all rows as columns and pairs would take half as much memory again.
        """
        from arboretum.engine.shap.pairs import write_squares
        from arboretum.engine.shap.table_rows import add_tables

        n_outputs, n_columns = squares.shape[1:3]
        places = n_outputs * self.places
        most, n_groups = _block_of(places)
        batches = self._batches(n_groups)

        def go(lo: int, hi: int, X: np.ndarray) -> None:
            coder, sums = self._scratch(hi - lo, most, n_groups, places)
            size, shared = sums.shape[1], np.empty(n_columns)
            found = np.empty((size, places))
            for first in range(0, hi - lo, size):
                some = slice(first, min(first + size, hi - lo))
                each = found[: some.stop - first]
                each[...] = 0.0
                add_tables(self.tables, batches, coder, X[some], sums, each)
                tables = squares[lo + first : lo + some.stop].reshape(-1, n_columns, n_columns)
                write_squares(each.reshape(-1, self.places), place, shared, tables)

        run_blocks(go, matrix, n_jobs)

    def _scratch(self, n: int, most: int, n_groups: int, places: int) -> tuple[Any, np.ndarray]:
        """Return the arrays for coding and adding up n rows, in blocks of the same size."""
        coder = self.layout.coding.coder(self.layout.n_columns, -(-n // -(-n // most)), n_groups)
        return coder, np.empty((places, coder.codes.shape[1]))

    def _batches(self, n_groups: int) -> Any:
        """Return the columns of all tables, sorted by batch of groups and then by place."""
        from arboretum.engine.shap.table_rows import Batches

        tables = self.tables
        n, columns = len(tables.states), np.diff(tables.column_at)
        group = np.repeat(np.arange(n), columns)
        within = np.arange(len(group)) - np.repeat(tables.column_at[:-1], columns)
        table_at = tables.table_at[group] + within * tables.states[group]
        batch, within = np.divmod(group, n_groups)
        order = np.lexsort((tables.place, batch))  # stable: groups keep their order
        firsts = np.arange(0, n, n_groups)
        return Batches(
            group_at=np.append(firsts, n),
            look_at=np.append(tables.column_at[firsts], len(group)),
            place=tables.place[order],
            group=within[order].astype(np.int32),
            table_at=table_at[order],
        )


def _block_of(places: int) -> tuple[int, int]:
    """Return how many rows are processed at a time, and how many groups."""
    most = max(64, min(_MOST_ROWS, _BLOCK_BYTES // (8 * places)))
    return most, max(1, _BATCH_BYTES // (2 * most))


def _starts(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
