"""Finding the best division of many nodes at once.

Two ways, one answer:

    every column   presorted lists are scanned and columns of codes counted, column by column;
                   threads share out the columns
    some columns   every node draws its own columns (scikit-learn's rule: max_features, and more until
                   one is not constant); in each turn all nodes are searched on their next column of codes

The second way also serves the random splitter, which draws a cut instead of trying them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from arboretum.engine import parallel
from arboretum.engine.columns.codes import sort_nodes
from arboretum.engine.columns.presort import MISSING, NEW, POSITION
from arboretum.engine.random import draw_features
from arboretum.engine.split.best import (
    FROM_CODES,
    Best,
    ColumnBest,
    keep_better_at,
    merge,
    new_column_best,
    no_best,
    take,
)
from arboretum.engine.split.categories import rank_categories, scan_categories
from arboretum.engine.split.counts import CodeCounter, Columns, make_counter, scan_counts
from arboretum.engine.split.random import NodeDraws, draw_lists
from arboretum.engine.split.score import CHANCE, free_categories
from arboretum.grow.columns import FEW, ColumnStore
from arboretum.grow.criterion import Absolute, Batch, Statistic

__all__ = ["Searcher"]

_NODES_TOGETHER = 256  # nodes, each as often as columns are counted, of one call


@dataclass
class Searcher:
    """Search of one fit.

    Parameters
    ----------
    store : ColumnStore
    statistic : Statistic
    signs : int8 array
        Monotone constraint of every feature.
    max_features : int
        Columns a node looks at.
    random : bool
        Draw one cut per column instead of trying them all.
    n_jobs : int
    category_penalty : float
        What categories are charged, as a multiple of what they are held to gain by chance.
    loner_excess : float
        The additional charge for categories of a single row.
    charged : bool array
        Which features are charged at all.
    """

    store: ColumnStore
    statistic: Statistic
    signs: np.ndarray
    max_features: int
    random: bool
    n_jobs: int
    category_penalty: float
    loner_excess: float
    charged: np.ndarray

    @property
    def draws(self) -> bool:
        """Anything is left to chance."""
        return self.random or self.max_features < self.store.n_features

    def best(self, batch: Batch) -> Best:
        """Return the best division of every node."""
        return self._search_drawn(batch) if self.draws else self._search_all(batch)

    def _threads(self, batch: Batch, n_columns: int) -> int:
        work = int(batch.sizes.sum()) * n_columns
        return parallel.threads_for(work, parallel.LEVEL, self.n_jobs)

    # ------------------------------------------------------------------ every column
    def _search_all(self, batch: Batch) -> Best:
        store = self.store
        n_lists, n_coded = len(store.list_features), len(store.code_features)
        threads = self._threads(batch, store.n_features)
        if threads == 1 and not n_coded:
            best = no_best(len(batch))
            self._search_lists(batch, 0, n_lists, best)
            return best
        # more pieces balance better, but each keeps a result per node
        pieces = threads if threads == 1 or len(batch) > 4096 else 2 * threads
        jobs = [(self._search_lists, lo, hi) for lo, hi in parallel.blocks(n_lists, pieces)]
        jobs += [(self._search_codes, lo, hi) for lo, hi in parallel.blocks(n_coded, pieces)]
        results: list[Best] = []

        def search(job: tuple[Callable[..., None], int, int]) -> None:
            kind, lo, hi = job
            best = no_best(len(batch))
            kind(batch, lo, hi, best)
            results.append(best)

        parallel.run(search, jobs, threads)
        return merge(results)

    def _search_lists(self, batch: Batch, lo: int, hi: int, best: Best) -> None:
        features, statistic = self.store.list_features[lo:hi], self.statistic
        columns = (self.store.list_slots[lo:hi], features, self.signs[features][:, None])
        statistic.search(
            self.store.lists, columns, statistic.searched, batch.nodes, statistic.rules, best
        )

    def _search_codes(self, batch: Batch, lo: int, hi: int, best: Best) -> None:
        """Search columns of codes; of few nodes several at a time, each node laid out for every column."""
        k, fewest = len(batch), int(batch.sizes.min())
        features, n_codes = self.store.code_features[lo:hi], self.store.n_codes[lo:hi]
        counted = self.store.categorical[lo:hi] | (n_codes <= max(FEW, fewest))
        if isinstance(self.statistic, Absolute) or 2 * k > _NODES_TOGETHER:
            counted[:] = False
        alone = [np.array([feature]) for feature in features[~counted]]  # may have to be sorted
        step, some = max(_NODES_TOGETHER // k, 1), features[counted]
        for columns in [*alone, *(some[at : at + step] for at in range(0, len(some), step))]:
            nodes, of_node = np.tile(np.arange(k), len(columns)), np.repeat(columns, k)
            part = batch if len(columns) == 1 else batch.only(nodes)
            keep_better_at(self._scan_codes(part, of_node), nodes, of_node, FROM_CODES, best)

    # ------------------------------------------------------------------ some columns
    def _search_drawn(self, batch: Batch) -> Best:
        best = no_best(len(batch))
        if self._threads(batch, self.max_features) == 1 or len(batch) == 1:
            self._draw_block(batch, best)
            return best
        rows = np.cumsum(batch.sizes)
        cuts = np.searchsorted(rows, np.linspace(0, rows[-1], 4 * self.n_jobs + 1)[1:-1])
        edges = np.unique(np.concatenate([[0], cuts, [len(batch)]]))

        def search(block: tuple[int, int]) -> None:
            here = slice(*block)
            self._draw_block(batch.only(here), take(best, here))

        parallel.run(search, list(pairwise(edges)), self.n_jobs)
        return best

    def _draw_block(self, batch: Batch, best: Best) -> None:
        """Search each node on its own columns, one column per turn."""
        n_features = self.store.n_features
        order = np.empty((len(batch), n_features), np.int64)
        draw_features(batch.keys, order)
        varied = np.zeros(len(batch), np.int64)  # columns so far that are not constant
        active = np.arange(len(batch))
        for turn in range(n_features):
            if turn >= self.max_features:  # go on only where all columns were constant
                active = active[varied[active] == 0]
            if len(active) == 0:
                break
            part = batch if len(active) == len(batch) else batch.only(active)
            features = order[active, turn]
            scan = self._scan_random if self.random else self._scan_codes
            column_best = scan(part, features)
            varied[active] += ~column_best.constant
            keep_better_at(column_best, active, features, FROM_CODES, best)

    def _scan_codes(self, batch: Batch, features: np.ndarray) -> ColumnBest:
        """Search every node on a column of its own: count or sort its codes, whichever is cheaper."""
        columns = self.columns_of(features)
        if isinstance(self.statistic, Absolute):
            return self._scan_sorted(batch, columns)
        many_rows = (batch.sizes >= columns.n_codes) | (columns.n_codes <= FEW)
        column_best = new_column_best(len(batch))
        for where, scan in (
            (columns.categorical, self._scan_categories),
            (~columns.categorical & many_rows, self._scan_counted),
            (~columns.categorical & ~many_rows, self._scan_sorted),
        ):
            if where.all():
                return scan(batch, columns)
            if where.any():
                some = scan(batch.only(where), take(columns, where))
                for mine, theirs in zip(column_best, some):
                    mine[where] = theirs
        return column_best

    def columns_of(self, features: np.ndarray) -> Columns:
        """Return where the codes of these features are."""
        index = self.store.code_of(features)
        return Columns(
            index, self.store.n_codes[index], self.store.categorical[index], self.signs[features]
        )

    def counter_of(self, columns: Columns) -> CodeCounter:
        """Return room to count the codes of these columns."""
        return make_counter(int(columns.n_codes.max()), self.statistic.channels)

    def _scan_counted(self, batch: Batch, columns: Columns) -> ColumnBest:
        column_best, statistic = new_column_best(len(batch)), self.statistic
        scan_counts(
            self.store.codes, columns, statistic.row, batch.nodes, statistic.rules,
            self.counter_of(columns), column_best,
        )  # fmt: skip
        return column_best

    def _scan_categories(self, batch: Batch, columns: Columns) -> ColumnBest:
        column_best, statistic = new_column_best(len(batch)), self.statistic
        scan_categories(
            self.store.codes, columns, statistic.row, batch.nodes, statistic.rules,
            self.counter_of(columns), self._chance(batch, columns), self.loner_excess, column_best,
        )  # fmt: skip
        return column_best

    def _chance(self, batch: Batch, columns: Columns) -> np.ndarray:
        """Return what a category more is held to gain by chance at every node, as a score."""
        charged = self.charged[self.store.code_features[columns.slot]]
        share = charged * (self.category_penalty * CHANCE) / batch.sizes
        return self.statistic.to_score(batch.nodes, share * batch.impurity)

    def _scan_sorted(self, batch: Batch, columns: Columns) -> ColumnBest:
        """Sort each node's codes into a list of its own and scan it."""
        nodes, column_best, statistic = batch.nodes, new_column_best(len(batch)), self.statistic
        positions, codes = statistic.row.id, self.store.codes
        lists = np.empty(len(positions), np.uint32)
        rank = np.zeros((len(batch), 0), np.int32)
        if columns.categorical.any():
            rank = np.tile(
                np.arange(int(columns.n_codes.max()) + 1, dtype=np.int32), (len(batch), 1)
            )
            rank_categories(
                codes,
                columns,
                statistic.row,
                nodes,
                statistic.rules,
                self.counter_of(columns),
                rank,
            )
        scratch = np.empty((2, int(batch.sizes.max())), np.uint64)
        sort_nodes(
            codes, positions, nodes.start, nodes.end, columns, rank, scratch, lists,
            column_best.constant,
        )  # fmt: skip
        self._scan_list(lists, batch, columns, column_best)
        # a cut is a number of rows of the list: turn it into the last code on the left, or its place
        if columns.categorical.any():
            new = (lists & (NEW | MISSING)) == NEW
            seen = [np.count_nonzero(new[lo:hi]) for lo, hi in zip(nodes.start, nodes.end)]
            free = [free_categories(m, n, self.loner_excess) for m, n in zip(seen, batch.sizes)]
            column_best.charge[:] = self._chance(batch, columns) * free
        some = np.flatnonzero(column_best.score >= 0)
        last = lists[nodes.start[some] + column_best.cut[some] - 1] & POSITION
        code = codes[columns.slot[some], positions[last]].astype(np.int64)
        if rank.shape[1]:
            code = np.where(columns.categorical[some], rank[some, code] + 1, code)
        column_best.cut[some] = code
        return column_best

    def _scan_random(self, batch: Batch, features: np.ndarray) -> ColumnBest:
        columns, column_best = self.columns_of(features), new_column_best(len(batch))
        positions = self.statistic.row.id
        lists = np.empty(len(positions), np.uint32)
        last_left = np.empty(len(batch), np.int64)
        draw_lists(
            self.store.codes, columns, positions, batch.nodes, self.draws_of(batch, features),
            lists, last_left, column_best.constant,
        )  # fmt: skip
        self._scan_list(lists, batch, columns, column_best)
        # besides the cut drawn, "present against missing" may win: then every code goes left
        after = np.minimum(batch.nodes.start + column_best.cut, batch.nodes.end - 1)
        whole = (column_best.score >= 0) & (lists[after] & MISSING != 0)
        column_best.cut[:] = np.where(whole, columns.n_codes, last_left)
        return column_best

    def draws_of(self, batch: Batch, features: np.ndarray) -> NodeDraws:
        """Return what the random questions of nodes depend on."""
        return NodeDraws(features, batch.keys, self.store.values)

    def _scan_list(
        self, entries: np.ndarray, batch: Batch, columns: Columns, column_best: ColumnBest
    ) -> None:
        """Search one list in which every node's own column is sorted."""
        best = self.statistic.scan_list(entries, batch, columns.sign)
        column_best.score[:], column_best.cut[:] = best.score, best.cut
        column_best.missing_left[:] = best.missing_left
