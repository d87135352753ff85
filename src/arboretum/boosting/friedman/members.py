"""Rounds of gradient boosting whose weak learner is any regressor: forward stagewise additive modelling.

    r       = -∂L/∂F of every row
    members = one regressor that learns r from the rows of the round, or one per class
    length  = η = argmin Σ L(y, F + η · members), one for the round       (step="gradient": 1)
    F       = F + learning rate · η · members

With exponential loss this is AdaBoost's loop, with squared error L2Boost (textbook/stagewise_modelling.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.base.members import check_base
from arboretum.boosting.adaboost.learners import make_member
from arboretum.boosting.friedman.fitting import BoostingTask, GrownRound, ResidualBooster
from arboretum.boosting.friedman.start import take_rows
from arboretum.boosting.loss.leaves import line_search
from arboretum.boosting.loss.loss import Loss
from arboretum.errors import DataError, ParameterError

__all__ = ["MemberBooster", "answers_of", "check_member"]


def check_member(owner: Any, base: Any, *, weighted: bool) -> None:
    """Raise if the weak learner cannot learn residuals, or takes no weights that are needed."""
    from sklearn.utils.validation import has_fit_parameter

    check_base(owner, base, classifies=False)
    if weighted and not has_fit_parameter(base, "sample_weight"):
        raise ParameterError(
            f"{type(base).__name__} doesn't support sample_weight, so {type(owner).__name__} cannot give "
            "it the weights of the rows: leave sample_weight out, or choose another estimator"
        )


def answers_of(members: list[Any], X: Any) -> np.ndarray:
    """Return the predictions of the members of a round, (rows, members).

    >>> from sklearn.dummy import DummyRegressor
    >>> mean = DummyRegressor().fit([[0], [0]], [1.0, 3.0])
    >>> answers_of([mean, mean], [[7]]).tolist()
    [[2.0, 2.0]]
    """
    columns = [np.asarray(member.predict(X), dtype=np.float64).reshape(-1) for member in members]
    return np.column_stack(columns)


class MemberBooster(ResidualBooster):
    """Runs rounds of regressors that are fitted to residuals.

    Parameters
    ----------
    task : BoostingTask
    F : float64 array of shape (K, n)
        The sum so far; updated by every round.
    base : estimator
        Copied for every member.
    X : table
        The rows of the task in the form for the members.
    """

    def __init__(self, task: BoostingTask, F: np.ndarray, base: Any, X: Any) -> None:
        super().__init__(task, F)
        self.base, self.X = base, X

    def play(self, number: int) -> GrownRound:
        """Fit the members of a round, counted from 0, and update F."""
        task, y, w = self.task, self.task.y, self.task.w
        bag = self._bag = self._all if task.n_inbag is None else self._draw(number)
        out = None if task.n_inbag is None else np.flatnonzero(bag.drawn == 0)
        with self._naming(number, None):
            loss = self.loss = task.loss.for_round(y, self.F, w)
            before = self._score(loss, out)
            r = loss.residuals(y, self.F)
            self._check_finite(r, number)
        inside = bag.rows  # None: all
        weights = None if w is None else bag.weight_inside
        there = take_rows(self.X, inside)
        columns = r.reshape(len(r), -1).T
        members = [
            self._fit(there, bag.of(column), weights, number, k) for k, column in enumerate(columns)
        ]
        moves = answers_of(members, self.X)
        if not np.isfinite(moves).all():
            raise DataError(
                f"round {number + 1}: {type(self.base).__name__} predicts NaN or infinity"
            )
        length = 1.0
        if task.step != "gradient":
            with self._naming(number, inside):
                length = self._length(loss, moves)
        for line, move in zip(self._lines, moves.T, strict=True):
            line += task.learning_rate * length * move
        seen = None if out is None else np.flatnonzero(bag.drawn)
        with self._naming(number, None):
            train = self._score(loss, seen, everything=seen is None)
            return GrownRound([], train, before, self._score(loss, out), length, members)

    def _fit(self, X: Any, r: np.ndarray, w: np.ndarray | None, number: int, k: int) -> Any:
        member = make_member(self.base, self.task.seed, number * self.width + k)
        return member.fit(X, r) if w is None else member.fit(X, r, sample_weight=w)

    def _length(self, loss: Loss, moves: np.ndarray) -> float:
        """Return the best length of the round."""
        bag = self._bag
        y, F = bag.of(self.task.y), bag.of(self.F)
        direction = bag.of(moves[:, 0] if self.F.ndim == 1 else moves)
        return float(line_search(lambda at: loss.residuals(y, at), F, direction, bag.weight_inside))
