"""The rounds of second-order boosting: derivatives, a sample, a tree per output, new margins.

    margin ──► g, h ──► rows of this round ──► one tree per output ──► margin + η · tree ──► …

Both front doors (xgboost/api.py, lightgbm/api.py) describe what they want by a `Plan` and drive a `Booster`
round by round, so that evaluation, early stopping, checkpoints and Ctrl-C live outside. What a round draws
depends on (seed, round, output) and the row or column alone: a run that is stopped and taken up again makes
the same trees as one that never stopped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from arboretum.boosting.second_order.dart import Dart, dropped_trees
from arboretum.boosting.second_order.goss import draw_columns, goss_rows, subsample_rows
from arboretum.engine.gradient.loss import GIVEN, Loss
from arboretum.engine.gradient.rounds import Target, Turn
from arboretum.engine.gradient.score import Features, SplitRules
from arboretum.engine.keys import ALL_BITS, key_of
from arboretum.errors import DataError
from arboretum.grow.decoding import trees_of
from arboretum.grow.histogram import NOT_GOOD, GrownNodes, HistogramGrower, Logged

if TYPE_CHECKING:
    from arboretum.boosting.loss.objective_base import Objective
    from arboretum.data.schema import Schema
    from arboretum.grow.bins.find import Bins
    from arboretum.tree.tree import Tree

__all__ = ["Booster", "Plan", "Training"]

# words of a set of categories: trees with longer ones do not wait to be decoded, for memory's sake
_LONG_SETS = 256
_NO_WEIGHT = np.empty(0)


@dataclass(frozen=True)
class Plan:
    """How to boost; the same for both front doors."""

    rules: SplitRules
    learning_rate: float = 0.1
    n_parallel: int = 1  # trees per round and output
    subsample: float = 1.0
    subsample_every: int = 1  # rounds a sample is kept; 0: no sampling
    goss: tuple[float, float] | None = None  # shares of rows kept and drawn
    goss_from: int = 0  # the first round with goss
    columns_by_tree: float = 1.0
    averaged: bool = False  # a forest of boosted trees ("rf"): margins do not move
    dart: Dart | None = None
    seed: int = 0
    n_jobs: int = 1
    monotone: np.ndarray | None = field(default=None, compare=False)  # int8 per feature
    groups: np.ndarray | None = field(default=None, compare=False)  # see HistogramGrower


@dataclass(frozen=True, eq=False)
class Training:
    """What is learned from."""

    bins: Bins
    schema: Schema
    y: np.ndarray
    weight: np.ndarray | None
    base: np.ndarray  # (n_outputs,) margin before the first tree
    base_margin: np.ndarray | None = None  # (n, n_outputs), instead of base
    groups: np.ndarray | None = None  # sizes, for ranking


class Booster:
    """A model that grows by a round at a time.

    Parameters
    ----------
    plan : Plan
    objective : Objective
    data : Training

    Attributes
    ----------
    trees : list of Tree
    weights : list of float
    margin : float64 array of shape (n, n_outputs)
        Of the training rows.
    """

    def __init__(self, plan: Plan, objective: Objective, data: Training) -> None:
        self.plan, self.objective, self.data = plan, objective, data
        n, k = len(data.y), objective.n_outputs
        self._take_table()
        self._trees: list[Tree] = []
        self._waiting: list[Logged] = []  # grown, but not decoded yet
        self._n_waiting = 0
        self.grown: list[GrownNodes] = []  # kept where trees are asked again by codes (dart)
        self.weights: list[float] = []
        self.margin = np.empty((n, k))
        self.margin[:] = data.base if data.base_margin is None else data.base_margin
        self._g, self._h = np.empty((k, n), np.float32), np.empty((k, n), np.float32)
        self._compiled = objective.compiled(data.y)

    def _take_table(self) -> None:
        """Make what grows trees on the training table."""
        bins, plan = self.data.bins, self.plan
        empty = np.empty(0, np.int8)
        default = np.where(bins.offset > 0, bins.default_bin, -1).astype(np.int32)  # of bundles
        self.features = Features(
            bins.storage, bins.offset, bins.n_bins, default, bins.is_category,
            empty if plan.monotone is None else plan.monotone.astype(np.int8),
        )  # fmt: skip
        self.grower = HistogramGrower(
            bins.codes, self.features, plan.rules, plan.n_jobs, plan.groups, bins.wide
        )

    def _decode(self, tree: GrownNodes, values: np.ndarray) -> Tree:
        """Return a grown tree in terms of the table's own values."""
        return self._decode_all(tree.with_value(values), np.array([len(tree)]))[0]

    def _decode_waiting(self) -> None:
        """Make trees of all that were grown since the last time."""
        if self._waiting:
            waiting, self._waiting, self._n_waiting = self._waiting, [], 0
            sizes = [size for some in waiting for size in some.sizes]
            self._trees += self._decode_all(_joined(waiting), np.cumsum(sizes))

    def _decode_all(self, nodes: GrownNodes, ends: np.ndarray) -> list[Tree]:
        return trees_of(nodes, ends, self.data.bins, self.data.schema)

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
        return self.n_trees // (self.objective.n_outputs * self.plan.n_parallel)

    # ------------------------------------------------------------------ one round
    def round(self, most: int = 1) -> list[int]:
        """Add the trees of one more round; return how many nodes each of them has.

        Up to ``most`` are made where one call can; the nodes are those of the last.
        """
        m, before = self.n_rounds, self.n_trees
        dropped, loss = self._drop(m), self._loss()
        if loss is None:
            self._derivatives(m)
        sizes = self._grow_together(m, most, loss) if self._is_small() else self._grow_each(m)
        self.weights += [1.0] * (self.n_trees - before)
        self._settle(dropped, len(sizes))
        return sizes

    def _is_small(self) -> bool:
        """Tell whether the trees of a round need nothing between them, and are soon grown."""
        plan, k = self.plan, self.objective.n_outputs
        alone = plan.n_parallel == 1 and plan.dart is None and self.objective.renew_leaf is None
        return alone and self.grower.is_small(len(self.data.y), k)

    def _grow_together(self, m: int, most: int, loss: Loss | None) -> list[int]:
        """Grow the trees of all outputs in one call; they are decoded when somebody asks for them."""
        plan, data, k = self.plan, self.data, self.objective.n_outputs
        rows, factor = self._sample(self._g, self._h, m, 0)
        one = plan.columns_by_tree >= 1.0
        keys = [key_of(plan.seed, m, output, 0) for output in range(1 if one else k)]
        turn = Turn(
            np.uint64(plan.seed & ALL_BITS), m, most if loss and one and rows is None else 1,
            *self._steps(), moves=not plan.averaged, may_stick=self._may_stick(),
        )  # fmt: skip
        found = self.grower.grow_rounds(
            Target(
                loss or Loss(GIVEN), data.y, _NO_WEIGHT if data.weight is None else data.weight,
                self.margin, self._g, self._h,
            ),
            turn, rows=rows, factor=factor,
            columns=np.array([self._columns(key) for key in keys], np.int64),
        )  # fmt: skip
        if found.failed:
            _check(self._g, self._h, m + len(found.sizes) // k)  # says where
            raise DataError(NOT_GOOD)
        if rows is not None and not plan.averaged:
            for output, tree in enumerate(found.each()):
                self._add_others(tree, tree.value, output, rows)
        self._waiting.append(found)
        self._n_waiting += len(found.sizes)
        if found.nodes.members.shape[1] > _LONG_SETS:
            self._decode_waiting()
        return found.sizes[-k:]

    def _loss(self) -> Loss | None:
        """Return the loss if the compiled rounds of a small table take derivatives themselves."""
        first = self.plan.averaged or self.plan.goss is not None  # they are needed before
        return self._compiled if self._is_small() and not first else None

    def _may_stick(self) -> bool:
        """Tell whether a round of trees that cannot be split is the last."""
        return False

    def _steps(self) -> tuple[float, float]:
        """Return what answers are multiplied by, in a tree that was split and in one that was not."""
        step = 1.0 if self.plan.averaged else self.plan.learning_rate
        return step, step

    def _grow_each(self, m: int) -> list[int]:
        """Grow tree after tree, with all threads."""
        plan, g, h = self.plan, self._g, self._h
        new: list[Tree] = []
        for output in range(self.objective.n_outputs):
            for twin in range(plan.n_parallel):
                key = key_of(plan.seed, m, output, twin)
                rows, factor = self._sample(g, h, m, twin)
                columns = self._columns(key)
                tree = self._grow(g[output], h[output], key, rows, factor, columns)
                values = self._values(tree, output)
                if not plan.averaged:
                    self._add(tree, values, output, rows)
                if plan.dart is not None:
                    self.grown.append(tree.with_value(values))
                new.append(self._decode(tree, values))
        self.trees += new
        return [len(tree) for tree in new]

    def _derivatives(self, m: int) -> tuple[np.ndarray, np.ndarray]:
        """Write the derivatives of a round, and return them."""
        data, plan = self.data, self.plan
        if plan.averaged and m:
            return self._g, self._h  # margins have not moved
        self.objective.derivatives(
            data.y, self.margin, data.weight, self._g, self._h, plan.n_jobs, iteration=m,
            groups=data.groups,
        )  # fmt: skip
        if plan.goss is not None:
            _check(self._g, self._h, m)
        return self._g, self._h

    def _grow(
        self,
        g: np.ndarray,
        h: np.ndarray,
        key: int,
        rows: np.ndarray | None,
        factor: np.ndarray | None,
        columns: np.ndarray,
    ) -> GrownNodes:
        try:
            return self.grower.grow(g, h, key, rows=rows, factor=factor, columns=columns)
        except DataError:
            _check(self._g, self._h, self.n_rounds)  # says where
            raise

    def _sample(
        self, g: np.ndarray, h: np.ndarray, m: int, twin: int
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return the rows of a round and what they count."""
        plan = self.plan
        if plan.goss is not None:
            if m < plan.goss_from:
                return None, None
            return goss_rows(g, h, *plan.goss, plan.seed, m)
        if plan.subsample >= 1.0 or not plan.subsample_every:
            return None, None
        turn = m // plan.subsample_every
        seed = key_of(plan.seed, 0, 0, twin)
        return subsample_rows(len(self.data.y), plan.subsample, seed, turn), None

    def _columns(self, key: int) -> np.ndarray:
        width = len(self.features.storage)
        if self.plan.columns_by_tree >= 1.0:
            return np.arange(width, dtype=np.int64)
        return draw_columns(width, self.plan.columns_by_tree, key)

    def _values(self, tree: GrownNodes, output: int) -> np.ndarray:
        """Return what the nodes add to the margin: renewed where the loss asks for it, times η."""
        values = tree.value.copy()
        renew = self.objective.renew_leaf
        if renew is not None:
            data = self.data
            for leaf in np.flatnonzero(tree.first_child < 0).tolist():
                rows = self.grower.rows_of(tree, leaf)
                values[leaf] = renew(data.y, self.margin, data.weight, rows, output)
        return values if self.plan.averaged else values * self.plan.learning_rate

    def _add(
        self, tree: GrownNodes, values: np.ndarray, output: int, rows: np.ndarray | None
    ) -> None:
        self.grower.add_to(self.margin, output, tree, values)
        if rows is not None:
            self._add_others(tree, values, output, rows)

    def _add_others(
        self, tree: GrownNodes, values: np.ndarray, output: int, rows: np.ndarray
    ) -> None:
        """Add a tree to the margins of the rows it was not grown on."""
        left_out = np.ones(len(self.margin), bool)
        left_out[rows] = False
        others = np.flatnonzero(left_out).astype(np.uint32)
        self.grower.walk_to(self.margin, output, tree, values, others)

    # ------------------------------------------------------------------ dart
    def _drop(self, m: int) -> list[int]:
        """Take some earlier trees out of the margins; return them."""
        if self.plan.dart is None or m == 0:
            return []
        per_round = self.objective.n_outputs * self.plan.n_parallel
        dropped = dropped_trees(
            self.plan.dart, np.array(self.weights), per_round, self.plan.seed, m
        )
        for t in dropped:
            self._shift(t, -self.weights[t])
        return dropped

    def _shift(self, t: int, by: float) -> None:
        per_round = self.objective.n_outputs * self.plan.n_parallel
        output = t % per_round // self.plan.n_parallel
        tree = self.grown[t]
        self.grower.walk_to(self.margin, output, tree, tree.value * by)

    def _settle(self, dropped: list[int], n_new: int) -> None:
        """Weigh the new trees and the dropped ones so that together they overshoot no more."""
        if self.plan.dart is None or not dropped:
            return
        per_round = self.objective.n_outputs * self.plan.n_parallel
        new, old = self.plan.dart.shares(len(dropped) // per_round, self.plan.learning_rate)
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


def _check(g: np.ndarray, h: np.ndarray, m: int) -> None:
    if np.isfinite(g).all() and np.isfinite(h).all():
        return
    bad = np.flatnonzero(~(np.isfinite(g) & np.isfinite(h)).all(axis=0))
    shown = ", ".join(str(row) for row in bad[:5])
    raise DataError(
        f"the derivatives of round {m} are not finite at {len(bad)} rows ({shown}): margins have run "
        "away. Lower learning_rate, or raise reg_lambda or min_child_weight."
    )
