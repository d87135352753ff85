"""The rounds of second-order boosting: derivatives, a sample, a tree per output, new margins.

    margin ──► g, h ──► rows of this round ──► one tree per output ──► margin + η · tree ──► …

A `Booster` carries out a recipe round by round; evaluation, early stopping, snapshots and Ctrl-C
are outside. Random draws of a round depend only on (seed, round, output) and the row or column: a run that is
stopped and resumed makes the same trees as one that never stopped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from arboretum.boosting.loss.objective import targets_of
from arboretum.boosting.loss.user import UserObjective
from arboretum.boosting.second_order.common_tree import (
    derivatives_of_groups,
    group_of_classes,
    trees_of_classes,
)
from arboretum.boosting.second_order.dart import dropped_trees
from arboretum.boosting.second_order.rows import LocalRows, rows_of
from arboretum.boosting.second_order.sharded import ShardedTable
from arboretum.data.checks import list_rows
from arboretum.engine.keys import ALL_BITS, key_of
from arboretum.engine.second_order.loss import GIVEN, LossKernel
from arboretum.engine.second_order.rounds import RoundTarget, Turn
from arboretum.errors import DataError
from arboretum.grow.bins.in_parts import answers_of
from arboretum.grow.decoding import GrownNodes, Logged
from arboretum.grow.grower import Grown, GrowTarget, rest_of
from arboretum.grow.histogram import NOT_GOOD
from arboretum.predict.ensemble import Ensemble

if TYPE_CHECKING:
    from arboretum.boosting.second_order.recipe import Recipe, TrainingTable
    from arboretum.boosting.second_order.tables import BinnedTable, UnbinnedTable
    from arboretum.structure.tree import Tree

__all__ = ["Booster"]

# words of a set of categories: trees with longer sets are decoded at once to save memory
_LONG_SETS = 256
_NO_WEIGHT = np.empty(0)


class Booster:
    """A model that grows one round at a time.

    Parameters
    ----------
    recipe : Recipe
    training : TrainingTable
    base : float64 array of shape (n_outputs,)
        The margins before the first tree.
    start : float64 array of shape (n_outputs,) or (n, n_outputs)
        The margins before the first round.

    Attributes
    ----------
    plan : BoostPlan
        That of the recipe, unless callbacks change it between rounds.
    table : BinnedTable or UnbinnedTable
    grower : HistogramGrower or ExactGrower
        That of the table.
    trees : list of Tree
    weights : list of float
    rows : LocalRows or RowsInShards
        Margins and derivatives of the training rows.
    is_stuck : bool
        The last round found no split, and no later one will.
    """

    table: BinnedTable | UnbinnedTable

    def __init__(
        self, recipe: Recipe, training: TrainingTable, base: np.ndarray, start: np.ndarray
    ) -> None:
        self.recipe, self.training, self.base = recipe, training, base
        self.plan, self.objective = recipe.plan, recipe.objective
        self.per_round = self.objective.n_outputs * self.plan.n_parallel
        self._trees: list[Tree] = []
        self._waiting: list[Logged] = []  # grown, but not decoded yet
        self._n_waiting = 0
        self.weights: list[float] = []
        self.is_stuck, self._derived = False, False
        if recipe.table.follows == "never":
            self._make_table()
            self._forget_values()
        table = getattr(self, "table", None)
        self.rows = rows_of(self.objective, training, start, self.plan, table)
        self._compiled = self.objective.compiled(training.y)
        if training.earlier is not None:
            self.trees = list(training.earlier.trees)
            self.weights = training.earlier.weights.tolist()
        if recipe.table.follows == "first":
            self._write_derivatives(0)
            self._make_table()

    def _make_table(self) -> None:
        """Make the table for growing trees; bins may depend on the hessians."""
        self._decode_waiting()  # with the bins they were grown on
        maker = self.recipe.table
        hessian = None
        if maker.follows != "never":
            hessian = self.rows.derivatives(0)[1].sum(axis=0, dtype=np.float64)
        self.table = maker.make(self.training, self.plan, hessian)
        self.grower = self.table.grower

    def _forget_values(self) -> None:
        """Free the table's values if only the table of bins or lists is used from now on.

        Those of a dataframe are a copy, often the largest object in memory.
        """
        if self.plan.dart is None and self.training.earlier is None:
            no_rows = np.empty(0, np.int64)
            self.training = replace(self.training, matrix=self.training.matrix.take(no_rows))

    # ------------------------------------------------------------------ the trees
    def _decode(self, tree: GrownNodes, values: np.ndarray) -> Tree:
        """Return a grown tree in terms of the table's own values."""
        return self.table.decode(tree.with_value(values), np.array([len(tree)]))[0]

    def _decode_waiting(self) -> None:
        """Decode all trees that were grown since the last call."""
        if self._waiting:
            waiting, self._waiting, self._n_waiting = self._waiting, [], 0
            sizes = [size for some in waiting for size in some.sizes]
            self._trees += self.table.decode(_joined(waiting), np.cumsum(sizes))

    @property
    def trees(self) -> list[Tree]:
        """All trees."""
        self._decode_waiting()
        return self._trees

    @trees.setter
    def trees(self, trees: list[Tree]) -> None:
        self._trees, self._waiting, self._n_waiting = trees, [], 0

    @property
    def n_trees(self) -> int:
        return len(self._trees) + self._n_waiting

    @property
    def n_rounds(self) -> int:
        return self.n_trees // self.per_round

    @property
    def margin(self) -> np.ndarray:
        """The margins of the training rows, (n, n_outputs) float64; shards send theirs."""
        return self.rows.margin

    @margin.setter
    def margin(self, margin: np.ndarray) -> None:
        self.rows.margin = margin

    # ------------------------------------------------------------------ one round
    def round(self, most: int = 1) -> list[int]:
        """Add the trees of one more round; return the number of nodes of each.

        Up to ``most`` rounds are made if one call can make them; the numbers are those of the last. A round
        without a split is kept only if it is the first.
        """
        m, before = self.n_rounds, self.n_trees
        dropped, loss = self._drop(m), self._loss()
        if loss is None:
            self._derivatives(m)
        if self.plan.common_trees:
            sizes = self._grow_common(m)
        else:
            sizes = self._grow_together(m, most, loss) if self._is_small() else self._grow_each(m)
        self.weights += [1.0] * (self.n_trees - before)
        self._reweigh(dropped, len(sizes))
        self.is_stuck = self._may_stick() and all(size == 1 for size in sizes)
        if not self.is_stuck or self.n_rounds == 1:
            return sizes
        del self.trees[-len(sizes) :], self.weights[-len(sizes) :]
        return []

    def _is_small(self) -> bool:
        """Return True if the trees of a round are quickly grown, with no work between them."""
        plan, k = self.plan, self.objective.n_outputs
        alone = plan.n_parallel == 1 and plan.dart is None and self.objective.renew_leaf is None
        alone = alone and not plan.common_trees
        return alone and self.grower.is_small(len(self.training.y), k)

    def _loss(self) -> LossKernel | None:
        """Return the loss if the compiled rounds of a small table compute derivatives themselves."""
        plan = self.plan  # some options need derivatives before
        if plan.averaged or plan.goss is not None or self.recipe.table.follows == "every":
            return None
        return self._compiled if self._is_small() else None

    def _may_stick(self) -> bool:
        """Return True if a round without a split is the last one.

        The margins do not change then, so the next round would grow the same trees on the same rows and
        columns.
        """
        plan = self.plan
        if plan.unsplit_answers or plan.averaged or plan.dart is not None:
            return False
        if plan.common_trees or not plan.ends_unsplit:
            return False
        columns = plan.columns_by_tree < 1.0 or plan.rules.node_columns > 0
        return not (columns or self.recipe.draws.draws_rows(plan))

    def _grow_together(self, m: int, most: int, loss: LossKernel | None) -> list[int]:
        """Grow the trees of all outputs in one call; they are decoded on demand."""
        plan, table, k = self.plan, self.training, self.objective.n_outputs
        assert isinstance(self.rows, LocalRows)
        draws, g, h, margin = self.recipe.draws, self.rows.g, self.rows.h, self.rows.margin
        rows, factor = draws.rows(plan, len(table.y), m, 0, g, h)
        one = plan.columns_by_tree >= 1.0
        keys = [key_of(plan.seed, m, output, 0) for output in range(1 if one else k)]
        step = 1.0 if plan.averaged else plan.learning_rate
        y = targets_of(table.y)[0]  # read by compiled losses, which have one target
        turn = Turn(
            np.uint64(plan.seed & ALL_BITS), m, most if loss and one and rows is None else 1,
            step, step if plan.unsplit_answers else 0.0, moves=not plan.averaged,
            may_stick=self._may_stick(),
        )  # fmt: skip
        grown = self.grower.grow_rounds(
            RoundTarget(
                loss or LossKernel(GIVEN), y, _NO_WEIGHT if table.weight is None else table.weight,
                margin, g, h,
            ),
            turn, rows=rows, factor=factor,
            columns=np.array([draws.tree_columns(plan, key) for key in keys], np.int64),
        )  # fmt: skip
        if grown.failed:
            _check(g, h, m + len(grown.sizes) // k)  # raises with the rows
            raise DataError(NOT_GOOD)
        if rows is not None and not plan.averaged:
            others = rest_of(rows, len(margin))
            for output, tree in enumerate(grown.each()):
                leaf = self.grower.leaves_of(tree, others)  # type: ignore[arg-type]
                margin[others, output] += tree.value[leaf]
        self._waiting.append(grown)
        self._n_waiting += len(grown.sizes)
        if grown.nodes.members.shape[1] > _LONG_SETS:
            self._decode_waiting()
        return grown.sizes[-k:]

    def _grow_each(self, m: int) -> list[int]:
        """Grow tree after tree, with all threads."""
        plan, draws, kept, n = self.plan, self.recipe.draws, self.rows, len(self.training.y)
        new: list[Tree] = []
        # parallel trees are averaged: each renews its leaves from the margins before the round
        renews = plan.n_parallel > 1 and self.objective.renew_leaf is not None
        begun = kept.margin.copy() if renews else None
        for output in range(self.objective.n_outputs):
            for twin in range(plan.n_parallel):
                key = key_of(plan.seed, m, output, twin)
                rows, factor = draws.rows(plan, n, m, twin, kept.g, kept.h)
                columns = draws.tree_columns(plan, key)
                try:
                    grown = kept.grow(self.grower, output, rows, factor, columns, key)
                except DataError:
                    _check(*kept.derivatives(m), m)  # raises with the rows
                    raise
                values = self._values(grown, output, begun, rows)
                if not plan.averaged:
                    kept.add(grown, values, output)
                new.append(self._decode(grown.tree, values))
        self.trees += new
        return [len(tree) for tree in new]

    def _grow_common(self, m: int) -> list[int]:
        """Grow one tree for all classes."""
        plan, draws, kept = self.plan, self.recipe.draws, self.rows
        assert isinstance(kept, LocalRows)
        key = key_of(plan.seed, m, 0, 0)
        rows, _ = draws.rows(plan, len(self.training.y), m, 0)
        group = group_of_classes(key, self.objective.n_outputs)
        g, h = derivatives_of_groups(kept.g, kept.h, group)
        columns = draws.tree_columns(plan, key)
        grown = self.grower.grow(GrowTarget(g, None, h=h, columns=columns), rows, key)
        trees = trees_of_classes(grown, kept.g, kept.h, rows, plan.rules.l2, plan.learning_rate)
        for output, values in enumerate(trees.nodes.value.reshape(len(trees.sizes), -1)):
            kept.add(grown, np.ascontiguousarray(values), output)
        self._waiting.append(trees)
        self._n_waiting += len(trees.sizes)
        return trees.sizes

    def _derivatives(self, m: int) -> None:
        """Write the derivatives of a round."""
        if self.plan.averaged and self._derived:
            return  # margins have not changed
        self._derived = True
        self._write_derivatives(0 if self.plan.averaged else m)
        if self.plan.goss is not None:
            _check(*self.rows.derivatives(m), m)
        if self.recipe.table.follows == "every":
            self._make_table()

    def _write_derivatives(self, m: int) -> None:
        try:
            self.rows.derive(m)
        except FloatingPointError as error:
            _check(*self.rows.derivatives(m), m)  # raises with the rows
            raise DataError(NOT_GOOD) from error
        if isinstance(self.objective, UserObjective):
            _refuse_negative(self.rows.derivatives(m)[1], self.objective.name, m)

    def _values(
        self, grown: Grown, output: int, begun: np.ndarray | None, rows: np.ndarray | None
    ) -> np.ndarray:
        """Return the values of the nodes times η, renewed from residuals if the loss requires it.

        ``begun``: the margins before the round; None: those before this tree.
        """
        tree = grown.tree
        if len(tree) == 1 and not self.plan.unsplit_answers:
            return np.zeros(1)
        values = tree.value.copy()
        renew = self.objective.renew_leaf
        if renew is not None:
            table, leaf = self.training, grown.leaf_of_row
            margin = self.rows.margin if begun is None else begun
            leaf = leaf if rows is None else leaf[rows]
            order = np.argsort(leaf, kind="stable")
            order = order if rows is None else rows[order].astype(np.int64)
            ends = np.cumsum(np.bincount(leaf, minlength=len(tree)))
            for node in np.flatnonzero(tree.first_child < 0).tolist():
                here = order[ends[node - 1] if node else 0 : ends[node]]
                values[node] = renew(table.y, margin, table.weight, here, output)
        return values if self.plan.averaged else values * self.plan.learning_rate

    # ------------------------------------------------------------------ dart
    def _drop(self, m: int) -> list[int]:
        """Subtract some earlier trees from the margins; return their numbers."""
        plan = self.plan
        if plan.dart is None or m == 0:
            return []
        weights = np.array(self.weights)
        dropped = dropped_trees(plan.dart, weights, self.per_round, plan.seed, m)
        for t in dropped:
            self._shift(t, -self.weights[t])
        return dropped

    def _shift(self, t: int, by: float) -> None:
        """Add a tree to the margins, ``by`` times; it may be from an earlier model with other bins."""
        output = t % self.per_round // self.plan.n_parallel
        tree, table = self.trees[t], self.table
        values = table.answers(tree) if isinstance(table, ShardedTable) else None
        if values is None:
            one = Ensemble([tree], np.ones(1), np.zeros(1))
            values = answers_of(one, self.training.matrix, self.plan.n_jobs)[:, 0]
        self.margin[:, output] += values * by

    def _reweigh(self, dropped: list[int], n_new: int) -> None:
        """Scale the new trees and the dropped ones so that together they do not overshoot."""
        if self.plan.dart is None or not dropped:
            return
        n_rounds = len(dropped) // self.per_round
        new, old = self.plan.dart.shares(n_rounds, self.plan.learning_rate)
        for t in range(len(self.trees) - n_new, len(self.trees)):
            self._shift(t, new - 1.0)
            self.weights[t] = new
        for t in dropped:
            self.weights[t] *= old
            self._shift(t, self.weights[t])


def _joined(parts: list[Logged]) -> GrownNodes:
    """Return the nodes of trees that were grown at different times, one after another."""
    if len(parts) == 1:
        return parts[0].nodes
    return type(parts[0].nodes)(
        np.concatenate([some.nodes.nodes for some in parts]),
        np.concatenate([some.nodes.members for some in parts]),
    )


# ---------------------------------------------------------------------- invalid derivatives
def _check(g: np.ndarray, h: np.ndarray, m: int) -> None:
    if np.isfinite(g).all() and np.isfinite(h).all():
        return
    bad = np.flatnonzero(~(np.isfinite(g) & np.isfinite(h)).all(axis=0))
    shown = ", ".join(str(row) for row in bad[:5])
    raise DataError(
        f"the derivatives of round {m} are not finite at {len(bad)} rows ({shown}): margins have "
        "diverged. Lower learning_rate, or raise reg_lambda or min_child_weight."
    )


def _refuse_negative(h: np.ndarray, name: str, m: int) -> None:
    if h.min() < 0:
        rows = np.flatnonzero((h < 0).any(axis=0))
        raise DataError(
            f"objective {name!r} returned a negative hessian in round {m} ({list_rows(rows)}): "
            "clip it at 0 or a small positive number"
        )
