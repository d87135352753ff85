"""Friedman's gradient boosting: small trees, each moving the sum a little way down the loss.

    (1) F = F_0, the best constant
    (2) every round
     A  residuals   r = -∂L/∂F of every row                                 (gbm_losses.py)
     B  tree        a regression tree on r: its leaves R_j group rows that want to go the same way
     C  step        each leaf its own γ_j = argmin Σ L(y, F + γ)            step="leaf"
                    or one η = argmin Σ L(y, F + η·tree) for all of them    step="line_search"
                    or just the tree's value, the mean residual             step="gradient"
     D  F           F + ν · step, ν the learning rate
    (3) the answer is the last F, or what it stands for: p = 1/(1 + e^-F)

The comments in the code have these numbers.

With K classes a round has K trees, one for every column of F. In stochastic boosting a round sees
only some of the rows: those grow the tree and decide its steps, but all rows take them.

>>> X, y = [[1.0], [1.0], [0.0]], [88.0, 76.0, 56.0]
>>> model = grow_gbm(X, y, rules=GBMRules(n_rounds=2, learning_rate=0.1))
>>> print(gbm_table(model, 1))
round 1, train score 72.84
row        y      F_0         r  leaf      step      F_1
  0  88.0000  73.3333   14.6667  R       8.6667  74.2000
  1  76.0000  73.3333    2.6667  R       8.6667  74.2000
  2  56.0000  73.3333  -17.3333  L     -17.3333  71.6000
>>> model.rounds[1].trees[0].residuals.round(1).tolist()
[13.8, 1.8, -15.6]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.cart import TextbookNode, grow, predict
from arboretum.textbook.gbm_losses import Loss, make_loss
from arboretum.textbook.splits import Rules, charged_columns
from arboretum.textbook.stagewise_modelling import line_search

__all__ = [
    "GBMLeaf",
    "GBMRound",
    "GBMRules",
    "GBMTree",
    "TextbookGBM",
    "gbm_scores",
    "gbm_table",
    "grow_gbm",
    "predict_gbm",
    "predict_proba_gbm",
    "raw_gbm",
    "staged_gbm",
]

SMALL_TREES = Rules("friedman_mse", max_depth=3)
Start = Callable[[np.ndarray], np.ndarray]


# ---------------------------------------------------------------------- what is kept
@dataclass(frozen=True)
class GBMRules:
    """How to boost."""

    loss: str | Loss = "squared_error"  # one of gbm_losses.LOSSES, or one of your own
    n_rounds: int = 100
    learning_rate: float = 0.1
    step: str = "leaf"  # or "line_search", or "gradient"
    alpha: float = 0.9  # of huber and quantile
    power: float = 1.5  # of tweedie
    init: str | Start = "best"  # F_0: the best constant, "zero", or a function of X
    tree: Rules = SMALL_TREES


DEFAULT = GBMRules()


@dataclass(frozen=True, eq=False)
class GBMLeaf:
    """A region of the tree."""

    path: str  # the way from the root in L and R
    rows: np.ndarray = field(repr=False)  # the rows in the bag that decide its step
    mean: float  # of their residuals: the value of the tree itself
    step: float  # γ, η times the mean, or the mean; the learning rate comes on top


@dataclass(frozen=True, eq=False)
class GBMTree:
    """The tree of one round (and class) with the residuals it was grown on."""

    residuals: np.ndarray = field(repr=False)  # of all rows
    root: TextbookNode = field(repr=False)  # the values of its leaves are their steps
    leaves: tuple[GBMLeaf, ...]  # left to right


@dataclass(frozen=True, eq=False)
class GBMRound:
    """One round and where it leads."""

    number: int  # from 1
    loss: Loss  # with this round's δ, for huber
    in_bag: np.ndarray = field(repr=False)  # which rows the trees have seen
    trees: tuple[GBMTree, ...] = field(repr=False)  # one, or one per class
    eta: float | None  # the length of the line search; 1 for the plain gradient step
    F: np.ndarray = field(repr=False)  # of all rows, after the round: (n,), or (n, n_classes)
    train_score: float  # mean loss of the rows in the bag, after the round
    oob_score: float  # of the rows left out; NaN if there are none


@dataclass(frozen=True, eq=False)
class TextbookGBM:
    """F_0, the rounds, and the data they came from."""

    rules: GBMRules
    loss: Loss
    start: Start = field(repr=False)  # F_0 of any rows
    F_0: np.ndarray = field(repr=False)  # of the training rows
    rounds: tuple[GBMRound, ...] = field(repr=False)
    y: np.ndarray = field(repr=False)

    @property
    def train_score(self) -> np.ndarray:
        return np.array([round_.train_score for round_ in self.rounds])


# ---------------------------------------------------------------------- boosting
def grow_gbm(
    X: ArrayLike,
    y: ArrayLike,
    w: ArrayLike | None = None,
    rules: GBMRules = DEFAULT,
    in_bag: ArrayLike | None = None,
) -> TextbookGBM:
    """Boost and return all rounds.

    Parameters
    ----------
    X : array of shape (n, n_columns)
        As for ``cart.grow``.
    y : array of shape (n,)
        Numbers, or class indices 0, 1, ... for log_loss and exponential.
    w : array of shape (n,), optional
        Row weights; 1 each by default.
    rules : GBMRules
    in_bag : array of bool of shape (n_rounds, n), optional
        Which rows each round may see; all by default.

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 0]
    >>> model = grow_gbm(X, y, rules=GBMRules("log_loss", 1, tree=Rules("squared_error", max_depth=1)))
    >>> model.F_0[0].round(4)  # ln(1/3)
    np.float64(-1.0986)
    >>> [(leaf.path, round(leaf.mean, 3), round(leaf.step, 3)) for leaf in model.rounds[0].trees[0].leaves]
    [('L', -0.25, -1.333), ('R', 0.25, 1.333)]
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    w = np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)
    if not y.shape == w.shape == (len(X),) or not np.isfinite(y).all():
        shapes = f"X {X.shape}, y {y.shape} and w {w.shape}"
        raise ValueError(f"{shapes} need one row for every target, and all targets known")
    bags = _bags(rules, w, in_bag)
    if rules.tree.kinds is not None and rules.tree.charged is None:
        charged = charged_columns(
            X[w > 0], rules.tree.kinds
        )  # of the table, not of a bag of its rows
        rules = replace(rules, tree=replace(rules.tree, charged=charged))
    loss = rules.loss
    if isinstance(loss, str):
        n_classes = int(_class_indices(y).max()) + 1 if loss == "log_loss" else 2
        loss = make_loss(loss, n_classes, rules.alpha, rules.power)
    if loss.classifies:
        y = _class_indices(y)
    loss.check(y, w)
    start = _start(loss, y, w, rules)
    F = F_0 = start(X)  # (1)
    rounds: list[GBMRound] = []
    for bag in bags:  # (2)
        rounds.append(_round(len(rounds) + 1, rules, loss, (X, y, w), F, bag))
        F = rounds[-1].F
    return TextbookGBM(rules, loss, start, F_0, tuple(rounds), y)


def _bags(rules: GBMRules, w: np.ndarray, in_bag: ArrayLike | None) -> np.ndarray:
    if rules.step not in ("leaf", "line_search", "gradient"):
        raise ValueError(f'step must be "leaf", "line_search" or "gradient", got {rules.step!r}')
    if rules.tree.criterion not in ("squared_error", "friedman_mse"):
        raise ValueError(
            "the trees are grown on residuals: their criterion must be squared_error or"
            f" friedman_mse, got {rules.tree.criterion!r}"
        )
    shape = (rules.n_rounds, len(w))
    bags = np.ones(shape, dtype=bool) if in_bag is None else np.asarray(in_bag, dtype=bool)
    if bags.shape != shape or not np.all(bags @ w > 0):
        raise ValueError(
            f"in_bag must have shape {shape} (round, row) and a row of weight > 0 in every round"
        )
    return bags


def _class_indices(y: np.ndarray) -> np.ndarray:
    if not np.all((y >= 0) & (y == np.floor(y))):
        raise ValueError("a classification loss needs class indices 0, 1, ...; encode the labels")
    return y.astype(np.int64)


def _start(loss: Loss, y: np.ndarray, w: np.ndarray, rules: GBMRules) -> Start:
    if callable(rules.init):
        return rules.init
    if rules.init not in ("best", "zero"):
        raise ValueError(f'init must be "best", "zero" or a function of X, got {rules.init!r}')
    best = np.asarray(loss.start(y, w))
    constant = best if rules.init == "best" else np.zeros_like(best)
    return lambda X: np.broadcast_to(constant, (len(X), *constant.shape))


def _round(
    number: int,
    rules: GBMRules,
    loss: Loss,
    data: tuple[np.ndarray, np.ndarray, np.ndarray],
    F: np.ndarray,
    bag: np.ndarray,
) -> GBMRound:
    X, y, w = data
    loss = loss.for_round(y, F, w)
    w_bag = w * bag
    residuals = loss.residuals(y, F).reshape(len(y), -1).T  # (2A), one line per tree
    roots = [grow(X, r, w_bag, rules.tree) for r in residuals]  # (2B)

    def move() -> np.ndarray:
        return np.stack([predict(root, X) for root in roots], axis=1).reshape(F.shape)

    eta = None
    if rules.step == "line_search":
        eta = line_search(loss, y, F, move(), w_bag)
    elif rules.step == "gradient":
        eta = 1.0
    trees = []
    for k, (r, root) in enumerate(zip(residuals, roots)):
        leaves = [node for node in root if node.is_leaf]
        means = [node.value.item() for node in leaves]
        if eta is None:  # (2C), one γ per leaf
            steps = [_step(loss, y, F, w, node.rows, k) for node in leaves]
        else:
            steps = [eta * mean for mean in means]
        for node, step in zip(leaves, steps):
            node.value = np.array([[step]])  # from here on the tree answers with its steps
        kept = [GBMLeaf(node.path, node.rows, m, s) for node, m, s in zip(leaves, means, steps)]
        trees.append(GBMTree(r, root, tuple(kept)))
    F = F + rules.learning_rate * move()  # (2D)
    losses, w_out = loss.value(y, F), w * ~bag
    train = w_bag @ losses / w_bag.sum()
    oob = w_out @ losses / w_out.sum() if w_out.any() else np.nan
    return GBMRound(number, loss, bag, tuple(trees), eta, F, float(train), float(oob))


def _step(
    loss: Loss, y: np.ndarray, F: np.ndarray, w: np.ndarray, rows: np.ndarray, k: int
) -> float:
    return float(np.atleast_1d(loss.step(y[rows], F[rows], w[rows]))[k])


# ---------------------------------------------------------------------- prediction
def staged_gbm(model: TextbookGBM, X: ArrayLike) -> Iterator[np.ndarray]:
    """Yield F_0, F_1, ... of any rows, of shape (n,) or (n, n_classes).

    >>> model = grow_gbm([[0.0], [1.0]], [1.0, 3.0], rules=GBMRules(n_rounds=2, learning_rate=0.5))
    >>> [F.tolist() for F in staged_gbm(model, [[9.0]])]
    [[2.0], [2.5], [2.75]]
    """
    X = np.asarray(X, dtype=np.float64)
    F = model.start(X)
    yield F
    for round_ in model.rounds:
        moves = np.stack([predict(tree.root, X) for tree in round_.trees], axis=1)
        F = F + model.rules.learning_rate * moves.reshape(F.shape)
        yield F


def raw_gbm(model: TextbookGBM, X: ArrayLike) -> np.ndarray:
    """Return F after the last round: numbers, their logs, log odds; see the loss.

    >>> model = grow_gbm([[0.0], [1.0]], [0, 1], rules=GBMRules("log_loss", 1, 1.0))
    >>> raw_gbm(model, [[0.0], [1.0]]).tolist()
    [-2.0, 2.0]
    """
    *_, F = staged_gbm(model, X)
    return F


def predict_proba_gbm(model: TextbookGBM, X: ArrayLike) -> np.ndarray:
    """Return the class probabilities, of shape (n, n_classes).

    >>> model = grow_gbm([[0.0], [1.0]], [0, 1], rules=GBMRules("log_loss", 1, 1.0))
    >>> predict_proba_gbm(model, [[1.0]]).round(3).tolist()  # 1 / (1 + e^(-2)), with the minus
    [[0.119, 0.881]]
    """
    if not model.loss.classifies:
        raise ValueError(f"{type(model.loss).__name__} predicts numbers: use predict_gbm")
    return model.loss.answer(raw_gbm(model, X))


def predict_gbm(model: TextbookGBM, X: ArrayLike) -> np.ndarray:
    """Return class indices (ties to the smallest) or numbers; with a log link, the mean e^F.

    >>> model = grow_gbm([[0.0], [1.0]], [2.0, 6.0], rules=GBMRules("poisson", 1, 1.0))
    >>> predict_gbm(model, [[1.0]]).round(12).tolist()
    [6.0]
    """
    answer = model.loss.answer(raw_gbm(model, X))
    return answer.argmax(axis=1) if model.loss.classifies else answer


# ---------------------------------------------------------------------- tables
def gbm_table(model: TextbookGBM, number: int, k: int = 0) -> str:
    """Return round ``number`` (from 1) row by row, for the tree of class ``k``.

    A row out of the bag has its leaf in brackets: it takes the step but did not influence it. The
    module's own example shows a table.
    """
    round_ = model.rounds[number - 1]
    tree = round_.trees[k]
    before = model.F_0 if number == 1 else model.rounds[number - 2].F
    F = [scores.reshape(len(model.y), -1)[:, k] for scores in (before, round_.F)]
    steps = (F[1] - F[0]) / model.rules.learning_rate
    leaf_of = {row: leaf.path for leaf in tree.leaves for row in leaf.rows.tolist()}
    title = f"round {number}, train score {round_.train_score:.6g}"
    if len(round_.trees) > 1:
        title += f", class {k}"
    if round_.eta is not None:
        title += f", η = {round_.eta:.6g}"
    y = model.y == k if len(round_.trees) > 1 else model.y
    lines = [["row", "y", f"F_{number - 1}", "r", "leaf", "step", f"F_{number}"]]
    for i, figures in enumerate(zip(y, F[0], tree.residuals, steps, F[1])):
        numbers = [f"{figure:.4f}" for figure in figures]
        lines.append([str(i), *numbers[:3], leaf_of.get(i, "(out)") or "root", *numbers[3:]])
    return "\n".join([title, *_aligned(lines)])


def gbm_scores(model: TextbookGBM) -> str:
    """Return one line per round: leaves, η and the mean loss.

    >>> model = grow_gbm([[0.0], [1.0]], [1.0, 3.0], rules=GBMRules(n_rounds=2, learning_rate=0.5))
    >>> print(gbm_scores(model))
    round  leaves  η  train score
        1       2  -     0.125000
        2       2  -     0.031250
    """
    lines = [["round", "leaves", "η", "train score"]]
    for r in model.rounds:
        leaves, eta = sum(len(tree.leaves) for tree in r.trees), r.eta
        length = "-" if eta is None else f"{eta:.4f}"
        lines.append([str(r.number), str(leaves), length, f"{r.train_score:.6f}"])
    return "\n".join(_aligned(lines))


def _aligned(lines: list[list[str]]) -> list[str]:
    """Right-align the columns; a column of words ("leaf") begins at the left."""
    widths = [max(map(len, column)) for column in zip(*lines)]
    words = [name == "leaf" for name in lines[0]]
    return [
        "  ".join(
            cell.ljust(width) if word else cell.rjust(width)
            for cell, width, word in zip(line, widths, words)
        )
        for line in lines
    ]
