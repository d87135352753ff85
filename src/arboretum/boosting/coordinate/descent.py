"""Coordinate descent on the exponential loss: one coefficient at a time, each set to its best value.

    L(λ) = Σ_i w_i exp(-y_i Σ_j λ_j g_j(x_i))          v_i: the terms, divided by their sum

Along coordinate j the loss is L · ((1-e) e^(-δ) + e e^δ), where e = Σ v_i 1[g_j(x_i) ≠ y_i]: least at
δ = ½ ln((1-e)/e), the estimator weight of AdaBoost, and then L falls by the factor 2√(e(1-e)).

    order     greedy    the largest edge |½ - e|: AdaBoost with the best of the dictionary as its learner
              cyclic    one after the other, again and again
              random    drawn anew every time

L is convex, so every order has the same goal. If the rows are separable it has no minimum, only the infimum
0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from arboretum.base.holdout import Patience
from arboretum.base.rounds import run_rounds
from arboretum.boosting.coordinate.dictionary import Dictionary
from arboretum.engine.elementwise import exp, log

__all__ = ["Descent", "Goal", "descend"]

TIE = 1e-12  # edges closer than this are equal; the first classifier of the dictionary wins
STOPS = ("max_iter", "flat", "no loss left", "perfect classifier", "validation", "interrupted")


@dataclass(frozen=True)
class Goal:
    """The order and the end of the descent."""

    order: str = "greedy"
    max_iter: int = 1000
    tol: float = 1e-9  # converged: no edge is larger, or no larger share of the loss is left
    patience: int | None = None  # steps without a better loss on held-out rows
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Descent:
    """The convergence report: one entry per step.

    Attributes
    ----------
    coordinate : int array
        The classifier whose coefficient changed.
    error : float array
        Its weighted error before the step.
    delta : float array
        By how much its coefficient changed.
    loss : float array
        L after the step.
    steepest : float array
        The largest edge |½ - e| of any classifier before the step: 0 at the minimum.
    validation : float array
        Mean exponential loss of the held-out rows after the step; empty without them.
    first_loss : float
        L at λ = 0.
    stop : str
        "flat", "no loss left", "perfect classifier", "validation", "max_iter" or "interrupted".
    """

    coordinate: np.ndarray
    error: np.ndarray
    delta: np.ndarray
    loss: np.ndarray
    steepest: np.ndarray
    validation: np.ndarray
    first_loss: float
    stop: str

    def __len__(self) -> int:
        return len(self.coordinate)

    @property
    def converged(self) -> bool:
        """Whether the end was reached: a minimum, or separated rows."""
        return self.stop in ("flat", "no loss left", "perfect classifier")

    def to_text(self, most: int | None = 20) -> str:
        """Return the first steps as a table, and how the descent ended."""
        lines = [" step  classifier   error      delta          loss  steepest"]
        for k in range(min(len(self), len(self) if most is None else most)):
            lines.append(
                f"{k + 1:5}  {self.coordinate[k]:10}  {self.error[k]:.4f}  {self.delta[k]:9.4f}"
                f"  {self.loss[k]:12.6f}  {self.steepest[k]:8.2g}"
            )
        if len(lines) <= len(self):
            lines.append("    …")
        last = self.loss[-1] if len(self) else self.first_loss
        ended = "converged" if self.converged else "not converged"
        lines.append(
            f"{ended} ({self.stop}) after {len(self)} steps: loss {self.first_loss:.6g} → {last:.6g}"
        )
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Held-out rows; ``predict(j)`` returns the predictions of classifier j."""

    predict: Callable[[int], np.ndarray]
    y: np.ndarray
    w: np.ndarray


def descend(
    dictionary: Dictionary,
    y: np.ndarray,
    w: np.ndarray,
    goal: Goal,
    held_out: HeldOutRows | None = None,
    *,
    bar: bool = False,
) -> tuple[np.ndarray, Descent]:
    """Return the coefficients and the report; ``y`` is -1 or 1. If interrupted, finished steps are kept.

    >>> from arboretum.boosting.coordinate.dictionary import StumpDictionary
    >>> from arboretum.data.schema import learn_schema
    >>> schema, matrix = learn_schema([[1.0], [2.0], [3.0]])
    >>> y = np.array([1.0, -1.0, 1.0])
    >>> stumps = StumpDictionary.of(matrix, schema)
    >>> coefficients, report = descend(stumps, y, np.ones(3), Goal(max_iter=2))
    >>> coefficients.round(4), report.loss.round(4)
    (array([0.3466, 0.    , 0.5493]), array([2.8284, 2.4495]))
    """
    coefficients = np.zeros(len(dictionary))
    descent = _Descending(dictionary, y, w, goal, held_out)
    stop, steps, name = "max_iter", range(goal.max_iter), "CoordinateBoostingClassifier"
    with run_rounds(steps, lambda: len(descent.steps), name=name, what="step", bar=bar) as rounds:
        for number in steps:
            stop = descent.step(coefficients)
            rounds.finished(number + 1)
            if stop != "max_iter":
                break
    if rounds.interrupted:
        stop = "interrupted"
    if goal.patience is not None and descent.best is not None:
        coefficients[:] = descent.best
    return coefficients, descent.report(stop)


class _Descending:
    """The state of a descent."""

    def __init__(
        self,
        dictionary: Dictionary,
        y: np.ndarray,
        w: np.ndarray,
        goal: Goal,
        held_out: HeldOutRows | None,
    ) -> None:
        self.dictionary, self.y, self.w, self.goal = dictionary, y, w, goal
        self.held_out = held_out
        self.f = np.zeros(len(y))
        self.loss = self.first_loss = float(w.sum())
        self.steps: list[tuple[int, float, float, float, float]] = []
        self.rng = np.random.default_rng(goal.seed)
        self.best: np.ndarray | None = None
        self.validation: list[float] = []
        self.patience = None if goal.patience is None else Patience(goal.patience)
        self.f_held = np.zeros(0 if held_out is None else len(held_out.y))

    def step(self, coefficients: np.ndarray) -> str:
        """Move one coordinate; else return the reason why the descent has ended."""
        goal = self.goal
        v = self.w * exp(-self.y * self.f)
        v = v / v.sum()
        edges = self.dictionary.sums(v * self.y) / 2
        steepest = float(np.abs(edges).max())
        if steepest <= goal.tol:
            return "flat"
        if self.loss <= goal.tol * self.first_loss:
            return "no loss left"
        j = self._pick(edges)
        answers = self.dictionary.answers(j)
        wrong = answers != self.y
        error, right = float(v[wrong].sum()), float(v[~wrong].sum())
        perfect = error == 0 or right == 0
        if perfect:
            delta = 1.0 if error == 0 else -1.0
        else:
            delta = float(log(right) - log(error)) / 2
        f = self.f + delta * answers
        loss = float((self.w * exp(-self.y * f)).sum())
        self.steps.append((j, error, delta, loss, steepest))
        self.f, self.loss = f, loss
        coefficients[j] += delta
        if self._is_late(j, delta, coefficients):
            return "validation"
        return "perfect classifier" if perfect else "max_iter"

    def _pick(self, edges: np.ndarray) -> int:
        if self.goal.order == "cyclic":
            return len(self.steps) % len(edges)
        if self.goal.order == "random":
            return int(self.rng.integers(len(edges)))
        steepest = np.abs(edges) >= np.abs(edges).max() - TIE
        better = steepest & (edges > 0)
        return int(np.argmax(better if better.any() else steepest))

    def _is_late(self, j: int, delta: float, coefficients: np.ndarray) -> bool:
        """Update the held-out loss; return True if it has not improved for too long."""
        if self.held_out is None or self.patience is None:
            return False
        self.f_held = self.f_held + delta * self.held_out.predict(j)
        w = self.held_out.w
        self.validation.append(float((w * exp(-self.held_out.y * self.f_held)).sum() / w.sum()))
        number = len(self.validation) - 1
        has_ended = self.patience.has_ended(number, self.validation[-1])
        if self.patience.best == (number, self.validation[-1]):
            self.best = coefficients.copy()
        return has_ended

    def report(self, stop: str) -> Descent:
        columns = [np.array(column) for column in zip(*self.steps)] or [np.zeros(0)] * 5
        j, error, delta, loss, steepest = columns
        return Descent(
            j.astype(np.int64), error, delta, loss, steepest, np.array(self.validation),
            self.first_loss, stop,
        )  # fmt: skip
