"""One tree of XGBoost's exact method: every cut between two values that are there.

    columns           ->  lists of their rows in the order of the values, once per fit    levels.py
    g, h of all rows  ->  whole numbers, rows side by side                                here
    level by level    ->  best cuts of all nodes, rows and lists split , pruned by γ      engine/second_order/

A small table grows many trees in one compiled call. Columns of a larger one are shared out to threads
(levels.py); all sums are whole numbers, so the tree is the same for any number of them. A value that is
missing, or not stored in a sparse matrix, is in no list: it costs nothing, and both ways are tried for such
rows (engine/second_order/exact.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.matrix import SparseMatrix
from arboretum.data.schema import Schema
from arboretum.engine import parallel
from arboretum.engine.columns.lists import NOWHERE, Lists, PlacedRows, filter_lists
from arboretum.engine.columns.presort import MAX_ROWS
from arboretum.engine.compiler.decorators import writable
from arboretum.engine.dtypes import EXACT_CUT, EXACT_TREE, record_table
from arboretum.engine.fixed_point import bits_of_each, scale_for
from arboretum.engine.second_order import exact as engine
from arboretum.engine.second_order import exact_levels as levels
from arboretum.engine.second_order import rounds as boost_round
from arboretum.engine.second_order.loss import find_derive
from arboretum.engine.second_order.pack import GivenRows
from arboretum.errors import DataError
from arboretum.grow.decoding import Logged, exact_trees_of
from arboretum.grow.exact.levels import ExactTree, grow_levels, new_tree, sort_lists, values_at
from arboretum.grow.grower import Grown, GrowTarget, rest_of
from arboretum.grow.histogram import (
    LOG,
    MANY_CODES,
    MOST_LOGGED,
    NOT_GOOD,
    found,
    given_of,
    make_given,
    most_leaves,
    new_log,
    new_scales,
)
from arboretum.predict.walk import walk_block

if TYPE_CHECKING:
    from collections.abc import Callable

    from arboretum.data.matrix import Matrix
    from arboretum.engine.second_order.rounds import RoundTarget, Turn
    from arboretum.engine.second_order.score import SplitRules

__all__ = ["ExactGrower", "ExactTree"]

_FEW_ENTRIES = 1 << 19  # of a table whose trees are soon grown
_BLOCK = 1 << 14  # rows walked at a time
_UNNAMED = Schema((), named=False)  # of trees that are only walked


class ExactGrower:
    """Grows trees on the presorted columns of one table; stands in for `HistogramGrower`.

    Parameters
    ----------
    matrix : Matrix
        Numbers; NaN is missing.
    rules : SplitRules
        ``min_gain`` is γ, and prunes the full tree. Trees grow level by level.
    n_jobs : int
    groups : (features, words) uint64 array or None
        The groups of features that may meet on a path, a bit per group.
    monotone : int8 array or None
        1, 0 or -1 per feature.
    zero_is_missing : bool
        What a sparse matrix does not store is missing, as XGBoost has it, instead of 0. Zeros that are
        stored are zeros.

    Examples
    --------
    >>> from arboretum.data.matrix import DenseMatrix
    >>> from arboretum.engine.second_order.score import SplitRules
    >>> rules = SplitRules(0.0, 1.0, 0.0, 0.0, 0.0, True, 1.0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0.0,
    ...               max_depth=6, max_leaves=64, depth_first=True, level_columns=0, node_columns=0)
    >>> grower = ExactGrower(DenseMatrix(np.array([[1.0], [2.0], [3.0]])), rules)
    >>> g, h = np.float32([-4, -2, 6]), np.float32([1, 1, 1])
    >>> tree = grower.grow(GrowTarget(g, h=h), None, 0).tree
    >>> tree.gain.tolist(), tree.value.tolist(), tree.threshold[0].round(3)
    ([30.0, 0.0, 0.0], [0.0, 2.0, -3.0], np.float64(2.5))
    """

    def __init__(
        self,
        matrix: Matrix,
        rules: SplitRules,
        n_jobs: int = 1,
        groups: np.ndarray | None = None,
        monotone: np.ndarray | None = None,
        zero_is_missing: bool = False,
    ) -> None:
        n, width = matrix.shape
        if n > MAX_ROWS:
            raise DataError(
                f"tree_method='exact' takes up to {MAX_ROWS} rows, got {n}; use 'hist' for more"
            )
        if zero_is_missing and isinstance(matrix, SparseMatrix):
            matrix = SparseMatrix(matrix.by_column, np.full(width, np.nan))
        self.matrix, self.rules, self.n_jobs = matrix, rules, n_jobs
        self.groups = np.empty((0, 0), np.uint64) if groups is None else groups
        self.monotone = np.empty(0, np.int8) if monotone is None else monotone.astype(np.int8)
        self.lists = sort_lists(matrix, n_jobs)
        self.has_missing = self.lists.many[:, 0] < n
        self.rows = PlacedRows(
            entries=np.empty(n, np.uint64),
            words=np.empty((n, 2), np.int64),
            spare_entries=np.empty(n + 1, np.uint64),
            spare_words=np.empty((n + 1, 2), np.int64),
            place=np.empty(n, np.uint32),
        )
        self.scales = new_scales(1)
        self._scratch: list[engine.ScanScratch] = []
        self._target: np.ndarray | None = None
        self._tree: levels.GrowingExactTree | None = None
        self._table: levels.ExactTable | None = None

    @property
    def target(self) -> np.ndarray:
        """Scratch for lists whose entries follow the nodes of a tree."""
        if self._target is None:
            self._target = np.empty_like(self.lists.entries)
        return self._target

    # ------------------------------------------------------------------ growing
    def grow(self, target: GrowTarget, rows: np.ndarray | None, key: int) -> Grown:
        """Grow a tree for gradients and hessians; see `HistogramGrower.grow`."""
        n, columns = len(target.y) if rows is None else len(rows), target.columns
        if columns is None:
            columns = np.arange(self.matrix.n_columns, dtype=np.int64)
        tree = self._tree_for(len(columns))
        tree.draw.features[:] = columns
        levels.make_root(tree, self._fill(given_of(target, rows, key), n), n)
        grow_levels(self, tree, self._root_lists(columns, rows), key)
        log = new_log(int(tree.counters["end"][0]), 0, EXACT_TREE)
        many = levels.write_tree(tree, self.scales.chosen, self.rules, 1.0, log, 0)
        grown = self._grown(log, many)
        return Grown(grown, lambda: self._leaf_of_row(grown, rows))

    def is_small(self, n_rows: int, n_trees: int) -> bool:
        """Return whether ``n_trees`` trees on ``n_rows`` rows are best grown by one thread in one call."""
        entries = len(self.lists.entries)
        alone = parallel.threads_for(entries, parallel.CODE, self.n_jobs) == 1
        return alone and entries <= _FEW_ENTRIES and n_trees * self._most_nodes() <= MOST_LOGGED

    def grow_rounds(
        self,
        target: RoundTarget,
        turn: Turn,
        *,
        rows: np.ndarray | None,
        factor: np.ndarray | None,
        columns: np.ndarray,
    ) -> Logged:
        """Grow the trees of some rounds in one call; see `HistogramGrower.grow_rounds`."""
        k = len(target.g)
        given = make_given(target.g[0], target.h[0], 0, rows, factor)
        tree = self._tree_for(columns.shape[1])
        most_nodes = k * self._most_nodes()
        log = new_log(max(most_nodes, LOG), 0, EXACT_TREE)
        turn = turn._replace(
            rounds=min(turn.rounds, 1 + MANY_CODES // (k * len(self.lists.entries)))
        )
        ends = np.empty(k * turn.rounds, np.int64)
        derive = found(find_derive, target, kind=target.loss.kind)
        trees = boost_round.OnLists(tree, self._table_for(tree), self.scales, self.rules)
        made = boost_round.grow_rounds(
            derive, None, trees, tree.draw.features, given, target, turn, columns,
            log._replace(ends=ends, most_nodes=most_nodes),
        )  # fmt: skip
        sizes = np.diff(ends[:made], prepend=0).tolist()
        grown = self._grown(log, int(ends[made - 1]) if made else 0)
        largest = self.scales.largest
        return Logged(grown, sizes, not max(largest["g"][0], largest["h"][0]) < np.inf)

    def _table_for(self, tree: levels.GrowingExactTree) -> levels.ExactTable:
        """Return the table and scratch for `tree` to grow on it, made once."""
        features = tree.draw.features
        if self._table is None or self._table.candidates.features is not features:
            shape = len(features), (len(tree.nodes) + 1) // 2
            self._table = levels.ExactTable(
                lists=self.lists,
                target=self.target,
                ranges=np.empty((levels.N_LISTS, 2, *shape), np.int64),
                found=record_table(shape, EXACT_CUT),
                rows=self.rows,
                candidates=engine.Candidates(
                    features, self.has_missing, self.monotone, self.allowed_table(shape[1])
                ),
                scratch=self.borrow(),
            )
        return self._table

    def allowed_table(self, n_nodes: int) -> np.ndarray:
        """Return a table of the features that ``n_nodes`` nodes may use; empty if they may use all."""
        draws = self.rules.level_columns or self.rules.node_columns or len(self.groups)
        return np.empty((n_nodes if draws else 0, self.matrix.n_columns), np.uint8)

    def _most_nodes(self) -> int:
        """Return how many nodes a tree may have."""
        return 2 * most_leaves(self.rules, self.matrix.n_rows) - 1

    def _tree_for(self, n_columns: int) -> levels.GrowingExactTree:
        """Return a tree to grow, whose memory is made once."""
        if self._tree is None or len(self._tree.draw.features) != n_columns:
            width = self.matrix.n_columns
            self._tree = new_tree(self._most_nodes(), n_columns, width, self.groups)
        return self._tree

    def _grown(self, log: boost_round.Log, many: int) -> ExactTree:
        """Return the nodes that were written down, with their thresholds."""
        tree = ExactTree(log.nodes[:many], log.members[:many])
        inner = np.flatnonzero(tree.is_inner)
        low, high = tree.nodes["low_row"][inner], tree.nodes["high_row"][inner]
        tree.threshold[:] = np.nan
        tree.threshold[inner] = self._thresholds(tree.feature[inner], low, high)
        return tree

    def _thresholds(self, feature: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return the largest number below each cut ``x < c``, between the values of two rows.

        c lies half way between two values; behind the last one it is as far from it as zero, and a bit.
        """
        beyond = high < 0
        below = values_at(self.matrix, low, feature)
        above = values_at(self.matrix, np.where(beyond, low, high), feature)
        with np.errstate(over="ignore", invalid="ignore"):  # infinite values
            c = np.where(beyond, below + np.abs(below) + 1e-6, below / 2 + above / 2)
        c = np.where(c > below, c, above)
        return np.maximum(np.nextafter(c, -np.inf), below)

    def _fill(self, given: GivenRows, n: int) -> np.ndarray:
        """Choose scales, write rows and words; return the sums of g and h."""
        g, h, most = given.g, given.h, given.most
        largest_g, largest_h = float(max(g.max(), -g.min())), float(h.max())
        if not (largest_g < np.inf and largest_h < np.inf and h.min() >= 0):  # NaN fails, too
            raise DataError(NOT_GOOD)
        bits = bits_of_each(n)
        fine = scale_for(largest_g * most, bits), scale_for(largest_h * most, bits)
        chosen = self.scales.chosen
        chosen["fine"], chosen["fine_unit"] = fine, (1.0 / fine[0], 1.0 / fine[1])
        entries, words = self.rows.entries, self.rows.words
        pieces = parallel.blocks(n, self.n_jobs)
        sums = np.zeros((len(pieces), 2), np.int64)
        self.share(
            lambda k: engine.fill_words(given, chosen, *pieces[k], entries, words, sums[k]),
            list(range(len(pieces))),
            n,
        )
        return sums.sum(axis=0)

    def _root_lists(self, columns: np.ndarray, rows: np.ndarray | None) -> Lists:
        """Return the lists of the columns, of the rows of a sample if there is one."""
        entries, first, many = self.lists
        lists = Lists(entries, first[columns], many[columns])
        if rows is None:
            return lists
        place = np.full(self.matrix.n_rows, NOWHERE)
        place[rows] = np.arange(len(rows), dtype=np.uint32)
        kept, target = np.empty_like(lists.many), self.target
        self.share(
            lambda b: filter_lists(lists, place, target, b[0], b[1], kept),
            parallel.blocks(len(columns), 4 * self.n_jobs),
            int(lists.many.sum()),
        )
        return Lists(target, lists.first, kept)

    def share(self, work: Callable[..., Any], items: list[Any], size: int) -> None:
        """Call ``work`` for every item, on several threads if there is much to do."""
        parallel.run(work, items, parallel.threads_for(size, parallel.CODE, self.n_jobs))

    def borrow(self) -> engine.ScanScratch:
        """Return what a scan writes on; to be given back."""
        try:
            return self._scratch.pop()
        except IndexError:
            longest = int(self.lists.many.max(initial=0))
            gain = np.empty(engine.CHUNK + 1, np.float32)
            sums = np.empty((3, engine.CHUNK + 1), np.int64)
            return engine.ScanScratch(
                left_g=sums[0],
                left_h=sums[1],
                at=sums[2],
                gain=gain,
                bits=gain.view(np.int32),
                best=np.empty(2, np.int32),
                kept=record_table(2, EXACT_CUT),
                spare=np.empty(longest + 1, np.uint32),
            )

    def give_back(self, scratch: engine.ScanScratch) -> None:
        """Keep what was borrowed for the next one."""
        self._scratch.append(scratch)

    # ------------------------------------------------------------------ leaves
    def _leaf_of_row(self, tree: ExactTree, rows: np.ndarray | None) -> np.ndarray:
        """Return the leaf of every row: those the last tree was grown on stand leaf by leaf."""
        leaves = np.flatnonzero(tree.first_child < 0)
        leaves = leaves[tree.start[leaves].argsort()]
        n, leaf = self.matrix.n_rows, np.empty(self.matrix.n_rows, np.int32)
        entries = self.rows.entries[: n if rows is None else len(rows)]
        leaf[entries >> np.uint64(32)] = np.repeat(leaves, (tree.end - tree.start)[leaves])
        if rows is not None:
            others = rest_of(rows, n)
            leaf[others] = self.leaves_of(tree, others)
        return leaf

    def leaves_of(self, tree: ExactTree, rows: np.ndarray) -> np.ndarray:
        """Return the leaves that some rows reach by their values."""
        grown = exact_trees_of(tree, np.array([len(tree)]), _UNNAMED)[0]
        n, leaf = len(rows), np.empty(len(rows), np.int64)

        def go(lo: int) -> None:
            hi = min(lo + _BLOCK, n)
            some = self.matrix.take(rows[lo:hi]).rows(0, hi - lo)
            walk_block(grown, writable(some), out=leaf[lo:hi])

        self.share(go, list(range(0, n, _BLOCK)), n * self.matrix.n_columns)
        return leaf
