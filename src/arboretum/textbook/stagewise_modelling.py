"""Forward stagewise additive modelling: the loop behind AdaBoost, gradient boosting and L2Boost.

    f = f_0                                                   0, or the best constant
    every round
        (β, b) = argmin Σ w L(y, f + β·b)                     over all hypotheses b of a set
        f      = f + ν·β·b                                    ν = 1 in the plain form

Nothing is ever taken back, which is why it is called forward. Only two things are open: the loss, and how
a hypothesis is *proposed*. Its length β is then found by `line_search`, whatever the loss.

    every_one      try all hypotheses of a finite set, each with its own best β: the argmin itself
    by_gradient    a regressor learns the residuals -∂L/∂f, the direction in which the loss falls fastest

and what comes out has names:

    loss               proposed by                     f_0      is
    exponential        every_one of all stumps         0        discrete AdaBoost (adaboost.py), and greedy
                                                                coordinate descent (coordinate_boosting.py)
    squared error      by_gradient, any regressor      mean     L2Boost: fit what is left, again and again
    any                by_gradient, a CART             best     gradient boosting by line search (gbm.py)

>>> from arboretum.textbook.weak_learners import all_stumps
>>> X, y = [[1.0], [2.0], [3.0], [4.0], [5.0]], [1, 1, 0, 0, 1]
>>> rules = StagewiseRules("exponential", n_rounds=3)
>>> print(stagewise_table(stagewise(X, y, every_one(all_stumps(X)), rules=rules)))
round  hypothesis          length  mean loss
    1  x0 <= 2.5 ? 1 : -1  0.6931   0.800000
    2  always 1            0.5493   0.692820
    3  x0 <= 4.5 ? -1 : 1  0.8047   0.516398
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.gbm_losses import Loss, make_loss
from arboretum.textbook.weak_learners import Hypothesis, Learner, Stump

__all__ = [
    "Stage",
    "Stages",
    "StagewiseRules",
    "by_gradient",
    "every_one",
    "l2_boost",
    "line_search",
    "predict_stagewise",
    "stagewise",
    "stagewise_table",
]

FLAT = 1e-15  # a slope this share of the first one is taken for zero
TIE = 1e-12  # losses closer than this share of the loss are equal; the first hypothesis wins


@dataclass(frozen=True, eq=False)
class Standing:
    """The state at the start of a round."""

    X: np.ndarray
    y: np.ndarray
    w: np.ndarray
    f: np.ndarray
    loss: Loss


Proposal = Callable[[Standing], Hypothesis]


# ---------------------------------------------------------------------- what is kept
@dataclass(frozen=True)
class StagewiseRules:
    """How to add up."""

    loss: str | Loss = "squared_error"
    n_rounds: int = 10
    learning_rate: float = 1.0  # ν
    start: str = "zero"  # f_0, or "best": the best constant
    n_classes: int = 2  # of log_loss


DEFAULT = StagewiseRules()


@dataclass(frozen=True, eq=False)
class Stage:
    """One round."""

    number: int  # from 1
    hypothesis: Hypothesis
    length: float  # β, before the learning rate
    f: np.ndarray = field(repr=False)  # of the training rows, after the round
    mean_loss: float


@dataclass(frozen=True, eq=False)
class Stages:
    """f_0 and what was added to it."""

    rules: StagewiseRules
    loss: Loss
    f_0: np.ndarray
    rounds: tuple[Stage, ...] = field(repr=False)

    @property
    def lengths(self) -> np.ndarray:
        return np.array([stage.length for stage in self.rounds])


# ---------------------------------------------------------------------- the loop
def stagewise(
    X: ArrayLike,
    y: ArrayLike,
    propose: Proposal,
    w: ArrayLike | None = None,
    rules: StagewiseRules = DEFAULT,
) -> Stages:
    """Add up hypotheses round by round and return every step.

    Parameters
    ----------
    X : array of shape (n, n_columns)
    y : array of shape (n,)
        Numbers, or class indices 0, 1, ... for log_loss and exponential.
    propose : function of a Standing (X, y, w, f, loss)
        Returns a hypothesis, a function of X: ``every_one(...)``, ``by_gradient(...)`` or your own.
    w : array of shape (n,), optional
        Row weights; 1 each by default.
    rules : StagewiseRules

    Examples
    --------
    >>> mean = by_gradient(lambda X, y, w: lambda X: np.full(len(X), np.average(y, weights=w)))
    >>> model = stagewise([[0.0], [0.0]], [1.0, 5.0], mean, rules=StagewiseRules(n_rounds=1))
    >>> model.lengths.round(12).tolist(), model.rounds[0].f.round(12).tolist()
    ([1.0], [3.0, 3.0])
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    w = np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)
    if not y.shape == w.shape == (len(X),):
        raise ValueError(f"X {X.shape}, y {y.shape} and w {w.shape} need the same number of rows")
    if rules.start not in ("zero", "best"):
        raise ValueError(f'start must be "zero" or "best", got {rules.start!r}')
    loss = rules.loss
    if isinstance(loss, str):
        loss = make_loss(loss, rules.n_classes)
    loss.check(y, w)
    best = np.asarray(loss.start(y, w))
    f_0 = best if rules.start == "best" else np.zeros_like(best)
    f = np.broadcast_to(f_0, (len(y), *f_0.shape))
    rounds: list[Stage] = []
    for number in range(1, rules.n_rounds + 1):
        loss = loss.for_round(y, f, w)
        b = propose(Standing(X, y, w, f, loss))  # r_m of b(x; r_m)
        direction = np.asarray(b(X), dtype=np.float64)
        length = line_search(loss, y, f, direction, w)  # β_m
        # f_m = f_(m-1) + β_m·b(x; r_m)
        f = f + rules.learning_rate * length * direction
        rounds.append(Stage(number, b, length, f, float(w @ loss.value(y, f) / w.sum())))
    return Stages(rules, loss, f_0, tuple(rounds))


def line_search(
    loss: Loss, y: np.ndarray, F: np.ndarray, direction: np.ndarray, w: np.ndarray
) -> float:
    """Return the η ≥ 0 that minimises Σ w L(y, F + η · direction).

    The losses are convex, so the slope -Σ w r · direction only rises with η: double η until it is
    no longer negative, then halve the interval until nothing is left of it. A kink (absolute error)
    is found like a smooth minimum. With K classes η is common to the K columns of the direction.

    Examples
    --------
    Along the mean residual, squared error needs no search; absolute error goes to a median:

    >>> y, F, w = np.array([1.0, 2.0, 9.0]), np.zeros(3), np.ones(3)
    >>> round(line_search(make_loss("squared_error"), y, F, np.full(3, 4.0), w), 12)
    1.0
    >>> round(line_search(make_loss("absolute_error"), y, F, np.full(3, 0.5), w), 12)
    4.0
    """

    def slope(eta: float) -> float:
        r = loss.residuals(y, F + eta * direction)
        return -float(np.sum((w * (r * direction).T).T))

    level = FLAT * slope(0.0)
    if level >= 0:
        return 0.0  # nothing to gain that way
    low, high = 0.0, 1.0
    while slope(high) < level:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if slope(middle) < level else (low, middle)
    return high


# ---------------------------------------------------------------------- who proposes
def every_one(hypotheses: Sequence[Hypothesis]) -> Proposal:
    """Return a proposal that tries each hypothesis with its own best length and takes the best.

    With every hypothesis its opposite must be in the set: lengths are not negative.

    >>> from arboretum.textbook.weak_learners import Stump
    >>> stumps = [Stump(0, 1.5, 0, 1), Stump(0, 2.5, 0, 1)]
    >>> rules = StagewiseRules(n_rounds=1)
    >>> model = stagewise([[1.0], [2.0], [3.0]], [0.0, 0.0, 4.0], every_one(stumps), rules=rules)
    >>> print(model.rounds[0].hypothesis, round(model.rounds[0].length, 9))
    x0 <= 2.5 ? 0 : 1 4.0
    """

    def propose(now: Standing) -> Hypothesis:
        sums = []
        for b in hypotheses:
            direction = np.asarray(b(now.X), dtype=np.float64)
            f = now.f + line_search(now.loss, now.y, now.f, direction, now.w) * direction
            sums.append(float(now.w @ now.loss.value(now.y, f)))
        return hypotheses[int(np.argmax(np.array(sums) <= min(sums) + TIE * abs(min(sums))))]

    return propose


def by_gradient(regressor: Learner) -> Proposal:
    """Return a proposal by which ``regressor(X, residuals, w)`` learns where the loss falls fastest.

    With K classes it learns K times, a hypothesis for each column of f.

    >>> from arboretum.textbook.splits import Rules
    >>> from arboretum.textbook.weak_learners import tree_learner
    >>> stump = by_gradient(tree_learner(Rules("squared_error", max_depth=1)))
    >>> rules = StagewiseRules("log_loss", 1, start="best", n_classes=3)
    >>> model = stagewise([[1.0], [2.0], [3.0]], [0, 1, 2], stump, rules=rules)
    >>> model.rounds[0].f.argmax(axis=1).tolist()
    [0, 1, 2]
    """

    def propose(now: Standing) -> Hypothesis:
        residuals = now.loss.residuals(now.y, now.f)
        if residuals.ndim == 1:
            return regressor(now.X, residuals, now.w)
        columns = [regressor(now.X, r, now.w) for r in residuals.T]
        return lambda X: np.stack([np.asarray(b(X)) for b in columns], axis=1)

    return propose


def l2_boost(
    X: ArrayLike,
    y: ArrayLike,
    regressor: Learner,
    n_rounds: int = 10,
    learning_rate: float = 1.0,
) -> list[np.ndarray]:
    """Return f after every round of L2Boost: learn the mean, then again and again what is left.

    No gradient is spoken of, no length is sought. Squared error makes the residual the gradient, and a
    regressor whose answers are projections (a tree of means, least squares) has length 1 already.

    >>> mean = lambda X, y, w: lambda X: np.full(len(X), np.average(y, weights=w))
    >>> [f.tolist() for f in l2_boost([[0.0], [0.0]], [1.0, 5.0], mean, n_rounds=1)]
    [[3.0, 3.0]]
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    f, w, steps = np.full(len(y), y.mean()), np.ones(len(y)), []
    for _ in range(n_rounds):
        f = f + learning_rate * np.asarray(regressor(X, y - f, w)(X))
        steps.append(f)
    return steps


# ---------------------------------------------------------------------- answers and tables
def predict_stagewise(model: Stages, X: ArrayLike) -> np.ndarray:
    """Return f of any rows.

    >>> mean = by_gradient(lambda X, y, w: lambda X: np.full(len(X), np.average(y, weights=w)))
    >>> model = stagewise([[0.0], [0.0]], [1.0, 5.0], mean, rules=StagewiseRules(n_rounds=1))
    >>> predict_stagewise(model, [[7.0]]).round(12).tolist()
    [3.0]
    """
    X = np.asarray(X, dtype=np.float64)
    f = np.broadcast_to(model.f_0, (len(X), *model.f_0.shape))
    for stage in model.rounds:
        f = f + model.rules.learning_rate * stage.length * np.asarray(stage.hypothesis(X))
    return f


def stagewise_table(model: Stages) -> str:
    """Return one line per round: the hypothesis, its length, the mean loss after it.

    The module's own example shows a table.
    """
    names = [_name(stage.hypothesis) for stage in model.rounds]
    width = max(len("hypothesis"), *map(len, names))
    lines = [f"round  {'hypothesis':{width}}  length  mean loss"]
    for stage, name in zip(model.rounds, names):
        lines.append(
            f"{stage.number:5}  {name:{width}}  {stage.length:.4f}  {stage.mean_loss:9.6f}"
        )
    return "\n".join(lines)


def _name(hypothesis: Hypothesis) -> str:
    return str(hypothesis) if isinstance(hypothesis, Stump) else type(hypothesis).__name__
