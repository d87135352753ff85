"""AdaBoost for classes: learn, look at the mistakes, give them more weight, learn again.

    (1) w = 1/n
    (2) every round
     a  hypothesis   b_m = argmin of the weighted error                     (weak_learners.py)
     b  error        e_m = Σ w_i 1[b_m(x_i) ≠ y_i]
     c  say          β_m = ½ ln((1-e_m)/e_m): none for a coin, much for a good hypothesis
     d  weights      w_i e^β where b_m is wrong, w_i e^-β where it is right, divided by their sum Z_m
    (3) answer       G(x) = the sign of Σ β_m b_m(x)

The comments in the code have these numbers. Why b, c and d are what they are: with f = Σ β b, the
exponential loss Σ exp(-y f) of a new round is Σ w_i exp(-y_i β b(x_i)); for any β > 0 it is least for
the b of least weighted error (a), for that b at the β above (c), and what it leaves to every row is
its next weight (d).

The new weights make the hypothesis just learned as good as a coin, so the next one has to see
something new. Three relatives:

    coding       Labels {0, 1}: only the wrong are multiplied. By e^(2β), and after the division the
                 weights are those of {-1, 1}. By e^β, as some notes have it, they are not: the last
                 hypothesis keeps the error √e / (√e + √(1-e)) < ½, as if its say were half as much.
    SAMME        K classes: chance is right once in K, so the say is ln((1-e)/e) + ln(K-1).
    SAMME.R      hypotheses answer with class probabilities, and these vote: (K-1)(log p - mean log p).

A hypothesis no better than chance is discarded and ends the boosting (an error if it is the first).
A perfect one leaves nothing to learn; it is kept with a say of 1. Regression is in adaboost_regression.py.

>>> X, y = [[1.0], [2.0], [3.0], [4.0], [5.0]], [1, 1, -1, -1, 1]
>>> model = discrete_adaboost(X, y, rules=AdaRules(n_rounds=3))
>>> print(adaboost_table(model))
round  learner              error     say       Z
    1  x0 <= 2.5 ? 1 : -1  0.2000  0.6931  0.8000
    2  always 1            0.2500  0.5493  0.8660
    3  x0 <= 4.5 ? -1 : 1  0.1667  0.8047  0.7454
>>> predict_adaboost(model, X).tolist()
[1, 1, -1, -1, 1]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.splits import Rules
from arboretum.textbook.weak_learners import Hypothesis, Learner, Stump, best_stump, tree_learner

__all__ = [
    "AdaRound",
    "AdaRules",
    "TextbookAdaBoost",
    "adaboost_table",
    "amount_of_say",
    "discrete_adaboost",
    "predict_adaboost",
    "resample",
    "reweight",
    "samme",
    "samme_r",
    "votes_adaboost",
    "weights_table",
]

CODINGS = ("signs", "zero_one", "zero_one_note")
SMALLEST = float(np.finfo(np.float64).eps)  # of a probability, before its logarithm is taken


# ---------------------------------------------------------------------- what is kept
@dataclass(frozen=True)
class AdaRules:
    """How to boost."""

    n_rounds: int = 50
    learning_rate: float = 1.0  # shrinks every say, and so the change of the weights
    coding: str = "signs"  # discrete_adaboost only; see ``reweight``


DEFAULT = AdaRules()


@dataclass(frozen=True, eq=False)
class AdaRound:
    """One round and the weights it leaves behind."""

    number: int  # from 1
    hypothesis: Hypothesis
    w: np.ndarray = field(repr=False)  # at the start of the round; they add up to 1
    answers: np.ndarray = field(repr=False)  # of the hypothesis: labels, or (n, K) class shares
    wrong: np.ndarray = field(repr=False)
    error: float
    say: float
    Z: float  # what the changed weights add up to before they are divided by it
    next_w: np.ndarray = field(repr=False)


@dataclass(frozen=True, eq=False)
class TextbookAdaBoost:
    """The rounds and why there are no more of them."""

    algorithm: str  # "discrete", "SAMME", "SAMME.R"
    rules: AdaRules
    n_classes: int
    rounds: tuple[AdaRound, ...] = field(repr=False)
    stop: str  # "n_rounds", "perfect" or "no better than chance"
    y: np.ndarray = field(repr=False)

    @property
    def errors(self) -> np.ndarray:
        return np.array([r.error for r in self.rounds])

    @property
    def says(self) -> np.ndarray:
        return np.array([r.say for r in self.rounds])


# ---------------------------------------------------------------------- the formulas
def amount_of_say(error: float, n_classes: int | None = None) -> float:
    """Return ½ ln((1-e)/e), or SAMME's ln((1-e)/e) + ln(K-1) if ``n_classes`` is given.

    >>> [round(amount_of_say(e), 3) for e in (0.1, 0.5, 0.9, 0.999)]
    [1.099, 0.0, -1.099, -3.453]
    >>> round(amount_of_say(0.5, n_classes=3), 3), amount_of_say(0.0)
    (0.693, inf)
    """
    if not 0 <= error <= 1:
        raise ValueError(f"an error is a share between 0 and 1, got {error}")
    if error in (0, 1):
        return np.inf if error == 0 else -np.inf
    log_odds = float(np.log1p(-error) - np.log(error))
    return log_odds / 2 if n_classes is None else log_odds + float(np.log(n_classes - 1))


def reweight(
    w: np.ndarray, wrong: np.ndarray, say: float, coding: str = "signs"
) -> tuple[np.ndarray, float]:
    """Return the new weights, which add up to 1, and Z, by which they were divided.

    Parameters
    ----------
    w, wrong : arrays of shape (n,)
    say : float
    coding : {"signs", "zero_one", "zero_one_note"}
        signs (labels -1 and 1): wrong × e^say, right × e^-say. zero_one (labels 0 and 1): wrong ×
        e^(2·say), which gives the same weights. zero_one_note: wrong × e^say, which does not.

    Examples
    --------
    >>> w, wrong = np.full(4, 0.25), np.array([True, False, False, False])
    >>> for coding in CODINGS:
    ...     new, Z = reweight(w, wrong, amount_of_say(0.25), coding)
    ...     print(new.round(4), round(Z, 4))
    [0.5    0.1667 0.1667 0.1667] 0.866
    [0.5    0.1667 0.1667 0.1667] 1.5
    [0.366  0.2113 0.2113 0.2113] 1.183
    """
    if coding not in CODINGS:
        raise ValueError(f"coding must be one of {CODINGS}, got {coding!r}")
    if coding == "signs":
        new = w * np.exp(np.where(wrong, say, -say))
    else:
        new = w * np.exp(wrong * say * (2 if coding == "zero_one" else 1))
    return new / new.sum(), float(new.sum())


def resample(w: np.ndarray, u: ArrayLike) -> np.ndarray:
    """Return the rows that numbers u in [0, 1) draw: row i owns the stretch of length w_i.

    >>> resample(np.array([0.1, 0.2, 0.7]), [0.05, 0.1, 0.29, 0.31, 0.99]).tolist()
    [0, 1, 1, 2, 2]
    """
    ends = np.cumsum(w) / np.sum(w)
    return np.searchsorted(ends, np.asarray(u, dtype=np.float64), side="right")


# ---------------------------------------------------------------------- boosting
def discrete_adaboost(
    X: ArrayLike,
    y: ArrayLike,
    w: ArrayLike | None = None,
    rules: AdaRules = DEFAULT,
    learner: Learner = best_stump,
    draws: ArrayLike | None = None,
) -> TextbookAdaBoost:
    """Boost two classes and return all rounds.

    Parameters
    ----------
    X : array of shape (n, n_columns)
    y : array of shape (n,)
        Labels -1 and 1 for the coding "signs", 0 and 1 for the others.
    w : array of shape (n,), optional
        Weights to begin with; equal by default.
    rules : AdaRules
    learner : function of (X, y, w)
        Returns a hypothesis, a function of X that answers with labels.
    draws : array of shape (n_rounds, n_draws), optional
        Numbers in [0, 1). If given, a learner sees no weights: it gets the rows drawn with them
        (see ``resample``), all equal. Its error is still measured on all rows by weight.

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0]], [1, -1, 1]
    >>> model = discrete_adaboost(X, y, rules=AdaRules(n_rounds=2))
    >>> [r.w.round(3).tolist() for r in model.rounds], model.rounds[1].next_w.round(3).tolist()
    ([[0.333, 0.333, 0.333], [0.25, 0.25, 0.5]], [0.167, 0.5, 0.333])
    """
    X, y, w = _data(X, y, w)
    labels = (-1, 1) if rules.coding == "signs" else (0, 1)
    if not np.isin(y, labels).all():
        raise ValueError(f"coding {rules.coding!r} needs the labels {labels[0]} and {labels[1]}")
    boost = _Boost(rules, learner, 0.5, amount_of_say, rules.coding, draws)
    return TextbookAdaBoost("discrete", rules, 2, *boost.run(X, y, w), y)


def samme(
    X: ArrayLike,
    y: ArrayLike,
    w: ArrayLike | None = None,
    rules: AdaRules = DEFAULT,
    learner: Learner = best_stump,
    draws: ArrayLike | None = None,
) -> TextbookAdaBoost:
    """Boost K classes, labels 0, ..., K-1, by SAMME; otherwise as ``discrete_adaboost``.

    With two classes a say is twice the discrete one, the weights are the same.

    >>> X, y = [[1.0], [2.0], [3.0]], [0, 1, 2]
    >>> model = samme(X, y, rules=AdaRules(n_rounds=4))
    >>> model.errors.round(3).tolist(), predict_adaboost(model, X).tolist()
    ([0.333, 0.167, 0.067, 0.095], [0, 1, 2])
    """
    X, y, w = _data(X, y, w)
    K = _n_classes(y)
    boost = _Boost(
        rules, learner, 1 - 1 / K, lambda error: amount_of_say(error, K), "zero_one_note", draws
    )
    return TextbookAdaBoost("SAMME", rules, K, *boost.run(X, y, w), y)


@dataclass(frozen=True)
class _Boost:
    """The rounds that discrete AdaBoost and SAMME have in common."""

    rules: AdaRules
    learner: Learner
    chance: float  # the error of a guess
    say: Callable[[float], float]
    coding: str  # SAMME's say is the whole exponent: the note's rule is the right one for it
    draws: ArrayLike | None

    def run(self, X: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[tuple[AdaRound, ...], str]:
        rounds: list[AdaRound] = []
        for number in range(1, self.rules.n_rounds + 1):
            h = self._learn(X, y, w, number)  # (2a)
            answers = np.asarray(h(X))
            wrong = answers != y
            error = float(w[wrong].sum())  # (2b)
            if error >= self.chance:
                if not rounds:
                    raise ValueError(
                        f"the first hypothesis has error {error:.4g}; chance has {self.chance:.4g}:"
                        " there is nothing to boost, try another learner"
                    )
                return tuple(rounds), "no better than chance"
            say = self.say(error) * self.rules.learning_rate if error else 1.0  # (2c)
            next_w, Z = reweight(w, wrong, say, self.coding)  # (2d)
            rounds.append(AdaRound(number, h, w, answers, wrong, error, say, Z, next_w))
            if not error:
                return tuple(rounds), "perfect"
            w = next_w
        return tuple(rounds), "n_rounds"

    def _learn(self, X: np.ndarray, y: np.ndarray, w: np.ndarray, number: int) -> Hypothesis:
        if self.draws is None:
            return self.learner(X, y, w)
        rows = resample(w, np.asarray(self.draws)[number - 1])
        return self.learner(X[rows], y[rows], np.full(len(rows), 1 / len(rows)))


def samme_r(
    X: ArrayLike,
    y: ArrayLike,
    w: ArrayLike | None = None,
    rules: AdaRules = DEFAULT,
    learner: Learner | None = None,
) -> TextbookAdaBoost:
    """Boost K classes, labels 0, ..., K-1, by the class shares of the hypotheses.

    With labels coded c_k = 1 for the row's own class and -1/(K-1) for the others, a round multiplies
    w by exp(-(K-1)/K · Σ_k c_k log p_k). Shares of 0 are lifted to the smallest ε with 1 + ε > 1.
    A learner (a stump by Gini impurity by default) returns a function of X that answers with shares.

    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
    >>> model = samme_r(X, y, rules=AdaRules(n_rounds=2))
    >>> model.errors.round(3).tolist(), model.says.tolist()
    ([0.25, 0.25], [1.0, 1.0])
    """
    X, y, w = _data(X, y, w)
    K = _n_classes(y)
    learner = learner or tree_learner(Rules("gini", n_classes=K, max_depth=1), shares=True)
    return TextbookAdaBoost("SAMME.R", rules, K, *_real_rounds(X, y, w, rules, learner), y)


def _real_rounds(
    X: np.ndarray, y: np.ndarray, w: np.ndarray, rules: AdaRules, learner: Learner
) -> tuple[tuple[AdaRound, ...], str]:
    K = _n_classes(y)
    coded = np.where(y[:, None] == np.arange(K), 1.0, -1 / (K - 1))
    rounds: list[AdaRound] = []
    for number in range(1, rules.n_rounds + 1):
        h = learner(X, y, w)
        p = np.asarray(h(X))
        wrong = p.argmax(axis=1) != y
        error = float(w[wrong].sum())
        logs = np.log(np.maximum(p, SMALLEST))
        new = w * np.exp(-rules.learning_rate * (K - 1) / K * (coded * logs).sum(axis=1))
        Z = float(new.sum())
        rounds.append(AdaRound(number, h, w, p, wrong, error, 1.0, Z, new / Z))
        if not error:
            return tuple(rounds), "perfect"
        w = new / Z
    return tuple(rounds), "n_rounds"


def _data(
    X: ArrayLike, y: ArrayLike, w: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    w = np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)
    if not y.shape == w.shape == (len(X),) or not np.all(w >= 0) or not w.sum() > 0:
        shapes = f"X {X.shape}, y {y.shape} and w {w.shape}"
        raise ValueError(f"{shapes} need the same number of rows, weights ≥ 0 and one weight > 0")
    return X, y, w / w.sum()  # (1)


def _n_classes(y: np.ndarray) -> int:
    labels = np.unique(y)
    if len(labels) < 2 or not np.array_equal(labels, np.arange(len(labels))):
        raise ValueError("y must hold the class indices 0, 1, ..., at least two; encode the labels")
    return len(labels)


# ---------------------------------------------------------------------- prediction
def votes_adaboost(model: TextbookAdaBoost, X: ArrayLike) -> np.ndarray:
    """Return the votes: f(x) = Σ β h(x) of shape (n,) for discrete, (n, K) for the others.

    With labels 0 and 1 a vote for 0 counts as -1.

    >>> model = samme([[1.0], [2.0]], [0, 1])
    >>> votes_adaboost(model, [[0.0]]).tolist()
    [[1.0, 0.0]]
    """
    X = np.asarray(X, dtype=np.float64)
    K, total = model.n_classes, np.zeros(())
    for r in model.rounds:
        answers = np.asarray(r.hypothesis(X))
        if model.algorithm == "SAMME.R":
            logs = np.log(np.maximum(answers, SMALLEST))
            votes = (K - 1) * (logs - logs.mean(axis=1, keepdims=True))
        elif model.algorithm == "SAMME":
            votes = np.eye(K)[answers.astype(np.int64)]
        else:
            votes = np.where(answers == 1, 1, -1)
        total = total + r.say * votes
    return np.asarray(total)


def predict_adaboost(model: TextbookAdaBoost, X: ArrayLike) -> np.ndarray:
    """Return labels in the coding of y; ties to the smallest.

    >>> predict_adaboost(discrete_adaboost([[1.0], [2.0]], [1, -1]), [[0.0], [9.0]]).tolist()
    [1, -1]
    """
    votes = votes_adaboost(model, X)
    if votes.ndim == 2:
        return votes.argmax(axis=1)
    return np.where(votes > 0, 1, -1 if model.rules.coding == "signs" else 0)


# ---------------------------------------------------------------------- tables
def adaboost_table(model: TextbookAdaBoost) -> str:
    """Return one line per round: the hypothesis, its error, its say, and Z.

    The module's own example shows a table.
    """
    names = [_name(r.hypothesis) for r in model.rounds]
    width = max(len("learner"), *map(len, names))
    lines = [f"round  {'learner':{width}}   error     say       Z"]
    for r, name in zip(model.rounds, names):
        lines.append(f"{r.number:5}  {name:{width}}  {r.error:.4f}  {r.say:6.4f}  {r.Z:.4f}")
    return "\n".join(lines)


def _name(hypothesis: Hypothesis) -> str:
    return str(hypothesis) if isinstance(hypothesis, Stump) else type(hypothesis).__name__


def weights_table(model: TextbookAdaBoost, number: int) -> str:
    """Return round ``number`` (from 1) row by row: label, answer, weight before and after.

    >>> model = discrete_adaboost([[1.0], [2.0], [3.0]], [1, -1, 1])
    >>> print(weights_table(model, 1))
    round 1: x0 <= 1.5 ? 1 : -1, error 0.3333, say 0.3466
    row  label  answer       w   new w
      0      1       1  0.3333  0.2500
      1     -1      -1  0.3333  0.2500
      2      1      -1  0.3333  0.5000  wrong
    """
    r = model.rounds[number - 1]
    answers = r.answers.argmax(axis=1) if r.answers.ndim == 2 else r.answers
    title = f"round {number}: {_name(r.hypothesis)}, error {r.error:.4f}, say {r.say:.4f}"
    lines = [title, "row  label  answer       w   new w"]
    for i, (label, answer, w, new) in enumerate(zip(model.y, answers, r.w, r.next_w)):
        line = f"{i:3}  {label:5}  {answer:6}  {w:.4f}  {new:.4f}"
        lines.append(line + ("  wrong" if r.wrong[i] else ""))
    return "\n".join(lines)
