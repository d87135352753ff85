"""Rounds of gradient boosting.

    r      = -∂L/∂F of every row
    trees  = one regression tree on r, or one per class
    step   = γ of every leaf, or one length for the whole round          loss/leaves.py
             or the trees' values, the mean residual of every leaf
    F      = F + learning rate · step, for all rows, in the bag or not

Nothing here depends on later rounds, and a round depends on earlier ones only through F, so 50 rounds and
50 more are 100.

Monotone constraints: a tree that was grown under constraints has its sides in the right order as far as its
own means go. Boosting then gives every leaf another value, a step of its loss, and the order may be lost.
It is restored from the root down: each constrained node bounds the values of its sides.

            x <= 3?            rising with x:
           /       \\           mean of the left side 1.0, of the right side 2.0
        ≤ 1.5     ≥ 1.5         no leaf of the left side is above 1.5, none of the right side below
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.base.sampling import draw_in_turn
from arboretum.boosting.loss.leaves import Leaves, line_search
from arboretum.boosting.loss.loss import Loss
from arboretum.boosting.loss.user import NotFinite
from arboretum.data.checks import list_rows
from arboretum.engine.compiler.decorators import writable
from arboretum.errors import DataError
from arboretum.grow.grower import Grower, Grown, GrowTarget
from arboretum.structure.tree import Tree

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.grow.settings import Growth

__all__ = ["BoostingTask", "GrownRound", "ResidualBooster", "keep_order"]


# ---------------------------------------------------------------------- monotone leaves
def keep_order(tree: Tree, signs: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Return the leaf values, moved as little as the bounds of their paths require.

    Parameters
    ----------
    tree : Tree
        Of binary splits, children behind their parents.
    signs : int array
        1, 0 or -1 for every column.
    answers : float64 array
        A value for every node; only those of leaves are used.

    Examples
    --------
    >>> from arboretum import CARTRegressor
    >>> tree = CARTRegressor(max_depth=1).fit([[0.0], [1.0]], [1.0, 2.0]).trees_[0]
    >>> keep_order(tree, np.array([1]), np.array([0.0, 5.0, 3.0]))
    array([0., 4., 4.])
    """
    means = _means(tree, answers)
    low, high = np.full(len(tree), -np.inf), np.full(len(tree), np.inf)
    for node in np.flatnonzero(tree.first_child >= 0).tolist():
        left = int(tree.first_child[node])
        low[left : left + 2], high[left : left + 2] = low[node], high[node]
        sign = signs[tree.feature[node]]
        if sign:
            middle = np.clip((means[left] + means[left + 1]) / 2, low[node], high[node])
            below, above = (left, left + 1) if sign > 0 else (left + 1, left)
            high[below], low[above] = middle, middle
    return np.clip(answers, low, high)


def _means(tree: Tree, answers: np.ndarray) -> np.ndarray:
    """Return the mean leaf value below every node, by weight."""
    means = answers.copy()
    for node in np.flatnonzero(tree.first_child >= 0)[::-1].tolist():
        left = int(tree.first_child[node])
        weight = tree.weight[left : left + 2]
        means[node] = (means[left : left + 2] * weight).sum() / max(weight.sum(), 1e-300)
    return means


_BAG, _TREE = 0, 1  # purposes of a round's random numbers


@dataclass(frozen=True, eq=False)
class BoostingTask:
    """What all rounds share.

    Attributes
    ----------
    grower : Grower
    matrix : Matrix
        The training table.
    growth : Growth
    loss : Loss
    y : array
        Numbers or class codes.
    w : float64 array or None
    rows : int array or None
        Their numbers in the user's table; None: the same.
    seed : int
    n_inbag : int or None
        Rows drawn for every round; None for all.
    learning_rate : float
    step : str
        "leaf", "line_search" or "gradient".
    """

    grower: Grower
    matrix: Matrix
    growth: Growth
    loss: Loss
    y: np.ndarray
    w: np.ndarray | None
    rows: np.ndarray | None
    seed: int
    n_inbag: int | None
    learning_rate: float
    step: str

    def key(self, *purpose: int) -> int:
        """Return the seed for a purpose."""
        words = [self.seed & 0xFFFFFFFF, self.seed >> 32, *purpose]
        return int(np.random.SeedSequence(words).generate_state(1, np.uint64)[0])


@dataclass(frozen=True, eq=False)
class GrownRound:
    """The trees of one round, and the scores of F after it."""

    trees: list[Tree]
    train_score: float
    oob_before: float  # NaN where no row is out of the bag
    oob_score: float
    length: float | None = None  # η of a line search
    members: list[Any] = field(default_factory=list)  # instead of trees: see members.py


class ResidualBooster:
    """Runs rounds.

    Parameters
    ----------
    task : BoostingTask
    F : float64 array of shape (K, n)
        The sum so far; updated by every round.
    """

    def __init__(self, task: BoostingTask, F: np.ndarray) -> None:
        self.task, self._lines = task, F
        self.F = F[0] if len(F) == 1 else F.T
        self._all = self._bag_of(np.ones(len(task.y), np.uint8))
        self._bag, self.loss = self._all, task.loss

    def play(self, number: int) -> GrownRound:
        """Grow the trees of a round, counted from 0, and update F."""
        task = self.task
        y, F, w = task.y, self.F, task.w
        bag = self._bag = self._all if task.n_inbag is None else self._draw(number)
        out = None
        if task.n_inbag is not None:
            out = np.flatnonzero(bag.drawn == 0)
        with self._naming(number, None):
            loss = self.loss = task.loss.for_round(y, F, w)
            before = self._score(loss, out)
            r = loss.residuals(y, F)
            self._check_finite(r, number)
        grown = [
            self._grow(r if r.ndim == 1 else r[:, k], bag, number, k) for k in range(self.width)
        ]
        with self._naming(number, bag.rows):
            length = None
            if task.step == "line_search":
                length = self._stretch(loss, grown, bag)
            elif task.step == "leaf":
                self._take_steps(loss, r, grown, bag)
        for line, one in zip(self._lines, grown, strict=True):
            line += (task.learning_rate * one.tree.value[:, 0, 0])[one.leaf_of_row]
        inside = None if out is None else np.flatnonzero(bag.drawn)
        with self._naming(number, None):
            return GrownRound(
                [one.tree for one in grown],
                self._score(loss, inside, everything=inside is None),
                before,
                self._score(loss, out),
                length,
            )

    @property
    def width(self) -> int:
        """Number of trees of a round."""
        return len(self._lines)

    @property
    def mask(self) -> np.ndarray:
        """The rows that the last round drew."""
        return self._bag.drawn.astype(bool)

    # ------------------------------------------------------------------ rows
    def _bag_of(self, drawn: np.ndarray) -> _Drawn:
        """Make a bag of the rows drawn; those of weight 0 do not count."""
        w = self.task.w
        inside = drawn if w is None else drawn * (w > 0).astype(np.uint8)
        rows = None if inside.all() else np.flatnonzero(inside)
        return _Drawn(drawn, rows, np.empty(0) if w is None else w)

    def _draw(self, number: int) -> _Drawn:
        task = self.task
        assert task.n_inbag is not None
        key = task.key(_BAG, number)
        return self._bag_of(draw_in_turn(key, len(task.y), task.n_inbag, task.w))

    def _score(self, loss: Loss, rows: np.ndarray | None, *, everything: bool = False) -> float:
        """Return the mean loss of some rows (or of all); NaN if there are none."""
        y, F, w = self.task.y, self.F, self.task.w
        if everything:
            return loss.score(y, F, w)
        if rows is None or not len(rows):
            return np.nan
        w = None if w is None else w[rows]
        return np.nan if w is not None and not w.any() else loss.score(y[rows], F[rows], w)

    # ------------------------------------------------------------------ trees
    def _grow(self, r: np.ndarray, bag: _Drawn, number: int, k: int) -> Grown:
        task = self.task
        key = task.key(_TREE, number, k) if task.growth.draws else 0
        target = GrowTarget(writable(r[:, None]), None, bag.weight)
        grown = task.grower.grow(target, bag.rows, key)
        return grown.pruned(task.growth, task.matrix)

    def _take_steps(self, loss: Loss, r: np.ndarray, grown: list[Grown], bag: _Drawn) -> None:
        y, F, signs = bag.of(self.task.y), bag.of(self.F), self.task.growth.monotone
        for k, one in enumerate(grown):
            tree = one.tree
            leaves = Leaves(bag.of(one.leaf_of_row), len(tree), bag.weight_inside)
            steps = loss.steps(y, F, bag.of(r if r.ndim == 1 else r[:, k]), leaves, k)
            if signs is not None:
                steps = keep_order(tree, signs, steps)
            ends = tree.leaves
            tree.value[ends, 0, 0] = steps[ends]

    def _stretch(self, loss: Loss, grown: list[Grown], bag: _Drawn) -> float:
        """Multiply the values of all trees by the best common length, and return it."""
        y, F = bag.of(self.task.y), bag.of(self.F)
        moves = [bag.of(one.tree.value[one.leaf_of_row, 0, 0]) for one in grown]
        direction = moves[0] if F.ndim == 1 else np.column_stack(moves)
        eta = line_search(lambda at: loss.residuals(y, at), F, direction, bag.weight_inside)
        for one in grown:
            one.tree.value[one.tree.leaves] *= eta
        return float(eta)

    # ------------------------------------------------------------------ errors
    def _check_finite(self, r: np.ndarray, number: int) -> None:
        if not np.isfinite(r).all():
            bad = np.flatnonzero(~np.isfinite(r.reshape(len(r), -1)).all(axis=1))
            raise DataError(
                f"round {number + 1}: the sum of trees exceeds float64 ({self._rows(bad)}): use a "
                "smaller learning_rate, or scale y"
            )

    @contextmanager
    def _naming(self, number: int, inside: np.ndarray | None) -> Iterator[None]:
        """Name the round and the rows of the user's table if their loss fails."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                yield
        except NotFinite as error:
            rows = error.rows if inside is None else inside[error.rows]
            raise DataError(
                f"{error.what} returned NaN or infinite values in round {number + 1} "
                f"({self._rows(rows)}): a loss must be finite for all sums that boosting may reach"
            ) from error

    def _rows(self, rows: np.ndarray) -> str:
        return list_rows(rows if self.task.rows is None else self.task.rows[rows])


@dataclass(frozen=True, eq=False)
class _Drawn:
    """The rows of a round."""

    drawn: np.ndarray  # uint8: whether a row was drawn, whatever its weight
    rows: np.ndarray | None  # those drawn that weigh more than 0; None: all
    weight: np.ndarray  # float64, of all rows; empty if every row weighs 1

    @property
    def weight_inside(self) -> np.ndarray | None:
        """The weight of ``rows``; None if they weigh 1."""
        return self.of(self.weight) if len(self.weight) else None

    def of(self, values: np.ndarray) -> np.ndarray:
        """Return the values of ``rows``."""
        return values if self.rows is None else values[self.rows]
