"""SHAP values of an ensemble: by which method they are computed, and in what shape.

    many rows, small trees      tables          a look-up for every group of leaves   (tabling.py)
    few rows, or deep trees     walk            every row down all branches           (walking.py)
    the same, with background   contrast        every row against every background row (walking.py)

Every tree is explained by the method that is fastest for it. The choice depends on the number of rows and on
the tree only, so that the same call gives the same result to the last bit. Layouts and tables are kept with
the ensemble, but never written to its file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine import parallel
from arboretum.predict.shap.layout import Layout, lay_out
from arboretum.predict.shap.tabling import Tabled, has_tables, table_cap
from arboretum.predict.shap.walking import add_by_contrast, add_by_walk

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.predict.ensemble import Ensemble

__all__ = ["Contributions", "along_paths", "contributions_of"]

_ROWS, _ROWS_PER_LEAF = 1000, 14  # with at least this many rows, the tables of a tree pay off
_CONTRASTS_PER_LEAF = 400  # the same for pairs of a row and a background row
_LONG_PAIRS = 9  # columns of a path; with more, tables of pairs are too large
_SQUARES = 4096  # squares of pairs that a thread writes at a time
_KEPT_BYTES = 1 << 28  # bytes of tables that are kept; larger ones are made in batches


def contributions_of(ensemble: Ensemble, n_columns: int, cover: str) -> Contributions:
    """Return the object that computes the SHAP values of an ensemble; it is made once."""
    kept = ensemble.__dict__.setdefault("_contributions", {})
    if cover not in kept:
        kept[cover] = Contributions(lay_out(ensemble.additive(), n_columns, cover))
    return kept[cover]


class Contributions:
    """SHAP values of a sum of trees.

    Parameters
    ----------
    layout : Layout
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._kept: dict[tuple[int, bool, bytes], Tabled] = {}

    @property
    def base(self) -> np.ndarray:
        """The expected sums if no column is known, (outputs,)."""
        return self.layout.base

    def values(
        self,
        matrix: Matrix,
        background: Matrix | None = None,
        *,
        pairs: bool = False,
        n_jobs: int = 1,
    ) -> np.ndarray:
        """Return the values, (rows, outputs, columns), or those of pairs, (rows, outputs, columns, columns).

        Path-dependent; with a background, the mean of the values against each of its rows.
        """
        layout = self.layout
        pair_of = self._pairs() if pairs else None
        places = layout.n_columns + (len(layout.used) * (len(layout.used) - 1) // 2) * pairs
        tabled = np.zeros(layout.n_trees, np.bool_)
        if layout.n_trees and matrix.n_rows:
            tabled = self._tabled_trees(matrix.n_rows, background, pairs)
        batches = self._batches(np.flatnonzero(tabled), matrix.n_rows, pairs)
        others = np.flatnonzero(~tabled & (layout.longest > 0))

        def tables(some: np.ndarray) -> Tabled:
            most, keeps = table_cap(matrix.n_rows, pairs), len(batches) == 1
            return self._tables(some, most, pair_of, places, background, n_jobs, keeps=keeps)

        if pair_of is not None and len(batches) == 1 and not len(others):
            squares = np.empty((matrix.n_rows, layout.n_outputs, *pair_of.shape))
            place = self._square_places(pair_of)
            tables(batches[0]).write_squares(matrix, place, squares, n_jobs)
            return squares
        out = np.zeros((matrix.n_rows, layout.n_outputs, places))
        for some in batches:
            tables(some).add(matrix, out, n_jobs)
        if matrix.n_rows:
            self._add_others(others, matrix, background, pair_of, out, n_jobs)
        return out if pair_of is None else self.square(out, pair_of, n_jobs)

    def _add_others(
        self,
        trees: np.ndarray,
        matrix: Matrix,
        background: Matrix | None,
        pair_of: np.ndarray | None,
        out: np.ndarray,
        n_jobs: int,
    ) -> None:
        """Add the values of trees that have no tables."""
        if background is not None:
            rows = background.rows(0, background.n_rows)
            counts = np.full(len(rows), 1.0 / len(rows))
            add_by_contrast(self.layout, trees, matrix, rows, counts, pair_of, out, n_jobs)
            return
        add_by_walk(self.layout, trees, matrix, pair_of, out, n_jobs)

    def _tabled_trees(self, n_rows: int, background: Matrix | None, pairs: bool) -> np.ndarray:
        """Return which trees have tables."""
        layout = self.layout
        if background is None:
            least = _ROWS + _ROWS_PER_LEAF * layout.n_leaves
        else:
            n_rows *= background.n_rows
            least = _CONTRASTS_PER_LEAF * layout.n_leaves
        if n_rows < least.min():
            return np.zeros(layout.n_trees, np.bool_)
        found = (n_rows >= least) & has_tables(layout)
        return found & (layout.longest <= _LONG_PAIRS) if pairs else found

    def _batches(self, trees: np.ndarray, n_rows: int, pairs: bool) -> list[np.ndarray]:
        """Split the trees with tables into parts whose tables fit the memory limit."""
        layout = self.layout
        most, longest = table_cap(n_rows, pairs), layout.longest[trees]
        size = layout.patterns[trees] + layout.n_leaves[trees] * most / 4  # states; then bytes
        size *= 8.0 * longest * layout.value.shape[1] * (1 + longest // 2 if pairs else 1)
        batch = (np.cumsum(size) // _KEPT_BYTES).astype(np.int64)
        return [trees[batch == k] for k in np.unique(batch)]

    def _tables(
        self,
        trees: np.ndarray,
        most: int,
        pair_of: np.ndarray | None,
        places: int,
        background: Matrix | None,
        n_jobs: int,
        *,
        keeps: bool,
    ) -> Tabled:
        """Return the tables of some trees, from the cache if possible."""
        key = most, pair_of is not None, trees.tobytes()
        made = self._kept.get(key) if background is None else None
        if made is None:
            made = Tabled(self.layout, trees, most, pair_of, places, background, n_jobs)
            if background is None and keeps:
                self._kept = {key: made}
        return made

    def _pairs(self) -> np.ndarray:
        """Return the place of every pair of columns in use; pairs come after the columns."""
        used, n = self.layout.used, self.layout.n_columns
        pair_of = np.zeros((n, n), np.int32)
        one, two = np.triu_indices(len(used), 1)
        pair_of[used[one], used[two]] = n + np.arange(len(one))
        return pair_of + pair_of.T

    def _square_places(self, pair_of: np.ndarray) -> np.ndarray:
        """Return the places of the numbers of a symmetric table among columns and pairs."""
        n = self.layout.n_columns
        unused = np.setdiff1d(np.arange(n), self.layout.used)
        place = pair_of.copy()
        place[unused] = unused[:, None]  # columns not in use have zeros everywhere
        place[:, unused] = unused
        np.fill_diagonal(place, np.arange(n))
        return place

    def square(self, out: np.ndarray, pair_of: np.ndarray, n_jobs: int = 1) -> np.ndarray:
        """Return columns and pairs as symmetric tables whose rows sum to the values of the columns."""
        from arboretum.engine.shap.pairs import write_squares

        n, place = self.layout.n_columns, self._square_places(pair_of)
        squares = np.empty((*out.shape[:2], n, n))
        found, tables = out.reshape(-1, out.shape[2]), squares.reshape(-1, n, n)
        blocks = parallel.blocks(len(found), -(-len(found) // _SQUARES))
        parallel.run(
            lambda some: write_squares(
                found[slice(*some)], place, np.empty(n), tables[slice(*some)]
            ),
            blocks,
            n_jobs,
        )
        return squares


def along_paths(layout: Layout, ensemble: Ensemble, matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
    """Return what the splits on a row's path change, by column, (rows, outputs, columns): Saabas' method.

    The expectation of a node is the mean of its leaves, weighted by training rows. Each split on the path
    from the root credits its column with the change in expectation. These are not SHAP values but have the
    same sum.
    """
    out = np.zeros((matrix.n_rows, layout.n_outputs, layout.n_columns))
    leaves, edges = ensemble.leaves(matrix, n_jobs), layout.edges
    for t, (lo, hi) in enumerate(zip(layout.starts[:-1], layout.starts[1:], strict=True)):
        order = edges.order[lo:hi]
        parent = ensemble.trees[t].parent + lo
        expected = np.where(
            (layout.n_children[lo:hi] == 0)[:, None], layout.value[lo:hi], 0.0
        ).astype(np.float64)
        reach = edges.reach[lo:hi]
        for node in order[:0:-1]:
            above = parent[node - lo] - lo
            part = reach[node - lo] / reach[above] if reach[above] > 0 else 0.0
            expected[above] += part * expected[node - lo]
        added = np.zeros((hi - lo, layout.value.shape[1], layout.n_columns))
        for node in order[1:]:
            above = parent[node - lo] - lo
            added[node - lo] = added[above]
            added[node - lo, :, edges.column[node]] += expected[node - lo] - expected[above]
        first = layout.outputs[t]
        out[:, first : first + added.shape[1]] += added[leaves[:, t]]
    return out
