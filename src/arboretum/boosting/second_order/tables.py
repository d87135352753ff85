"""The table for growing trees: the training table as codes of bins, or as presorted columns; all of it or a
part.

    maker             made from                            table of             XGBoost's tree_method
    Histograms        quantiles of all rows, once          codes of bins        hist
    Sketches          quantiles by hessian, every round    codes of bins        approx
                      or once
    PresortedColumns  every value                          lists of rows        exact
    SharedTable       a table that exists already          codes of bins

A maker is a value of a recipe; `make` returns the table with its grower, from which a booster gets trees.
A tree uses the rows and columns of the table that are drawn for it: `Draws`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from arboretum.boosting.second_order.draws import draw_columns, goss_rows, share_of, subsample_rows
from arboretum.engine.keys import key_of
from arboretum.engine.second_order.nodes import Store
from arboretum.errors import ParameterError
from arboretum.grow.bins.find import BinRules, find_bins
from arboretum.grow.bins.in_parts import TableInParts, learn_bins_in_parts
from arboretum.grow.decoding import exact_trees_of, trees_of
from arboretum.grow.histogram import HistogramGrower, features_of

if TYPE_CHECKING:
    from arboretum.boosting.second_order.recipe import BoostPlan, TrainingTable
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.grow.bins.find import Bins
    from arboretum.grow.decoding import GrownNodes
    from arboretum.grow.exact.grower import ExactGrower
    from arboretum.structure.tree import Tree

_FEW = 1_000  # rows of a table in parts that are read into memory

__all__ = [
    "BinnedTable",
    "Draws",
    "Histograms",
    "PresortedColumns",
    "SharedTable",
    "Sketches",
    "TableMaker",
    "UnbinnedTable",
]


# ---------------------------------------------------------------------- tables
class BinnedTable:
    """A table of codes.

    Attributes
    ----------
    grower : HistogramGrower
    bins : Bins
    """

    def __init__(
        self,
        bins: Bins,
        schema: Schema,
        plan: BoostPlan,
        store: Store | None = None,
        empty: Callable[..., np.ndarray] = np.empty,
    ) -> None:
        features = features_of(bins, plan.monotone)
        self.bins, self.schema, self._by_rows = bins, schema, plan.rules.as_scikit_learn
        self.grower = HistogramGrower(
            bins.codes,
            features,
            plan.rules,
            plan.n_jobs,
            plan.groups,
            bins.wide,
            plan.pool,
            store,
            empty,
        )

    def with_plan(self, plan: BoostPlan) -> BinnedTable:
        """Return the same codes, which are not copied, with a grower for another plan."""
        return BinnedTable(self.bins, self.schema, plan, self.grower.store)

    def decode(self, nodes: GrownNodes, ends: np.ndarray) -> list[Tree]:
        """Return grown trees, whose nodes lie one after another, in the table's own values."""
        return trees_of(nodes, ends, self.bins, self.schema, by_rows=self._by_rows)


class UnbinnedTable:
    """A table of presorted columns; takes the place of `BinnedTable`."""

    bins = None

    def __init__(self, training: TrainingTable, plan: BoostPlan) -> None:
        from arboretum.grow.exact.grower import ExactGrower

        matrix = in_one_piece(training.matrix, "every value of a column in order")
        self.schema = training.schema
        self.grower: ExactGrower = ExactGrower(
            matrix, plan.rules, plan.n_jobs, plan.groups, plan.monotone
        )

    def decode(self, nodes: GrownNodes, ends: np.ndarray) -> list[Tree]:
        """Return grown trees as `BinnedTable.decode` does."""
        return exact_trees_of(nodes, ends, self.schema)  # type: ignore[arg-type]


# ---------------------------------------------------------------------- parts of it
@dataclass(frozen=True, eq=False)
class Draws:
    """The rules for drawing the rows and columns of a tree; a `BoostPlan` sets how many, and when.

    Attributes
    ----------
    row_seeds : list of int
        One per parallel tree.
    columns : int64 array
        The columns that trees may split on.
    column_seed : int or None
        None: columns are drawn by the seed of the plan.
    to_nearest : bool
        Round a share of the columns to the nearest number instead of down.
    strata, shares : int array and list of float, or None
        The stratum of every row, and the share drawn of each.
    groups : int array or None
        The sizes of groups that are drawn as a whole.
    among : uint32 array or None
        The rows to draw from, in order: those of a fold. The others are only predicted.
    column_weights : float64 array or None
        The weights of `columns` when a share of them is drawn.
    """

    row_seeds: Sequence[int]
    columns: np.ndarray
    column_seed: int | None = None
    to_nearest: bool = False
    strata: np.ndarray | None = None
    shares: Sequence[float] | None = None
    groups: np.ndarray | None = None
    among: np.ndarray | None = None
    column_weights: np.ndarray | None = None

    def draws_rows(self, plan: BoostPlan) -> bool:
        """Return True if some rounds use only some of the rows."""
        share = plan.subsample if self.shares is None else min(self.shares)
        return plan.goss is not None or (plan.subsample_every > 0 and share < 1.0)

    def rows(
        self,
        plan: BoostPlan,
        n: int,
        m: int,
        twin: int,
        g: np.ndarray | None = None,
        h: np.ndarray | None = None,
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return the rows of round ``m``, of n, and their weights; None: all, with weight 1.

        ``g`` and ``h``, (outputs, n), are read by GOSS only.
        """
        among = self.among
        if not self.draws_rows(plan) or (plan.goss is not None and m < plan.goss_from):
            return among, None
        seed = self.row_seeds[twin]
        if plan.goss is not None:
            assert g is not None
            assert h is not None
            if among is not None:
                g, h = g[:, among], h[:, among]
            rows, factor = goss_rows(g, h, *plan.goss, seed, m)
            return (rows if among is None else among[rows]), factor
        share = plan.subsample if self.shares is None else self.shares
        turn, strata = m // plan.subsample_every, self.strata
        if among is not None:
            n, strata = len(among), None if strata is None else strata[among]
        rows = subsample_rows(n, share, seed, turn, groups=self.groups, strata=strata)
        return (rows if among is None else among[rows]), None

    def tree_columns(self, plan: BoostPlan, key: int) -> np.ndarray:
        """Return the columns that a tree may split on."""
        share, n = plan.columns_by_tree, len(self.columns)
        if share >= 1.0 or not n:
            return self.columns
        if self.column_seed is not None:
            key = key_of(key, self.column_seed)
        share = share_of(n, share) / n if self.to_nearest else share
        return draw_columns(self.columns, share, key, self.column_weights)


def in_one_piece(matrix: Matrix | TableInParts, purpose: str) -> Matrix:
    """Return a matrix; a few rows of a table in parts are read into memory, more are refused."""
    if not isinstance(matrix, TableInParts):
        return matrix
    if matrix.n_rows > _FEW:
        raise ParameterError(
            f"this tree_method needs {purpose}, so the whole table in memory: fit an array, or choose "
            "tree_method='hist'"
        )
    return matrix.take(np.arange(matrix.n_rows))


# ---------------------------------------------------------------------- makers
class TableMaker(Protocol):
    """Makes the table for growing trees.

    ``follows`` states when it needs hessians, one per row: never, before the first round, or every round.
    """

    @property
    def follows(self) -> str: ...

    def make(
        self, training: TrainingTable, plan: BoostPlan, hessian: np.ndarray | None
    ) -> BinnedTable | UnbinnedTable:
        """Return the table."""
        ...


@dataclass(frozen=True)
class Histograms(BinRules):
    """Bins computed once."""

    weighted: bool = False  # rows count with their weights

    follows: ClassVar[str] = "never"

    def make(
        self, training: TrainingTable, plan: BoostPlan, hessian: np.ndarray | None = None
    ) -> BinnedTable:
        """Return the table in bins of about equally many rows, or of equal weight."""
        matrix, weight = training.matrix, training.weight if self.weighted else None
        if weight is not None and len(weight) != matrix.n_rows:
            weight = None  # one per group
        if isinstance(matrix, TableInParts):
            bins = learn_bins_in_parts(matrix, training.schema, self, weight, plan.n_jobs)
            return matrix.table(bins, training.schema, plan)
        bins = find_bins(matrix, training.schema, self, weight, plan.n_jobs)
        return BinnedTable(bins, training.schema, plan)


@dataclass(frozen=True, eq=False)
class SharedTable:
    """A table that several boosters grow on: folds are rows of it (`Draws.among`), members share its codes.

    Attributes
    ----------
    table : BinnedTable
    """

    table: BinnedTable

    follows: ClassVar[str] = "never"

    def make(
        self, training: TrainingTable, plan: BoostPlan, hessian: np.ndarray | None = None
    ) -> BinnedTable:
        """Return the table with a grower of its own."""
        return self.table.with_plan(plan)


@dataclass(frozen=True)
class Sketches:
    """Bins of equal hessian: for a fit, for every round, every tree, or every node.

    Attributes
    ----------
    max_bin : int
        Maximum number of bins of a numeric column, if ``eps`` is None.
    proposals : "fit", "round", "global" or "local"
    eps : float or None
        Maximum hessian between two cuts, as a share of the whole.
    """

    max_bin: int = 255
    proposals: str = "round"
    eps: float | None = None

    @property
    def follows(self) -> str:
        return {"fit": "first", "round": "every"}.get(self.proposals, "never")

    def bins(self, matrix: Matrix, schema: Schema, hessian: np.ndarray, n_jobs: int) -> Bins:
        """Return the table in bins with about equal sums of hessians."""
        from arboretum.grow.bins.sketch import proposed_bins, sketch_bins

        if self.eps is not None:
            return proposed_bins(matrix, schema, hessian, self.eps, n_jobs)
        return sketch_bins(matrix, schema, hessian, self.max_bin, n_jobs=n_jobs)

    def make(self, training: TrainingTable, plan: BoostPlan, hessian: np.ndarray | None) -> Any:
        """Return the table, or the maker of one for every tree or node."""
        matrix = in_one_piece(training.matrix, "bins that follow the hessians")
        training = replace(training, matrix=matrix)
        if self.proposals in ("global", "local"):
            from arboretum.boosting.second_order.proposals import NodeByNode, TreeByTree

            maker = TreeByTree if self.proposals == "global" else NodeByNode
            return maker(training, plan, self)
        assert hessian is not None
        bins = self.bins(training.matrix, training.schema, hessian, plan.n_jobs)
        return BinnedTable(bins, training.schema, plan)


@dataclass(frozen=True)
class PresortedColumns:
    """Every cut between two values is a candidate."""

    follows: ClassVar[str] = "never"

    def make(
        self, training: TrainingTable, plan: BoostPlan, hessian: np.ndarray | None = None
    ) -> UnbinnedTable:
        """Return the table with its columns in order."""
        return UnbinnedTable(training, plan)
