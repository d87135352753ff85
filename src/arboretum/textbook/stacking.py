"""Stacking: learners of different kinds answer, and one more learns how far to believe each.

    out of fold      a row's answers come from learners that have not seen it:

                     rows   ▒▒▒▒ | ▒▒▒▒ | ▒▒▒▒          fold by fold: learn from the others,
                     fold     0      1      2           answer for this one

    final learner    learns y from these answers, a column (or one per class) for every learner
    learners         then learn once more, from all rows; they answer for new rows

Without folds the final learner would trust learners that memorised the training rows.

A learner is a function of (X, y, w) that returns a hypothesis, a function of X (weak_learners.py): numbers
of shape (n,), or class shares of shape (n, K). Of two classes only the second share is kept, since the
first is equivalent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.weak_learners import Hypothesis, Learner

__all__ = ["Stack", "answer_columns", "out_of_fold", "predict_stack", "stack"]


@dataclass(frozen=True, eq=False)
class Stack:
    """The learners' hypotheses on all rows, the final one on their answers, and how it came about."""

    hypotheses: tuple[Hypothesis, ...]
    final: Hypothesis
    fold_of: np.ndarray = field(repr=False)  # of every row
    answers: np.ndarray = field(repr=False)  # out of fold: what the final learner has learned from
    passthrough: bool = False  # the final learner sees the columns of X, too


def answer_columns(hypothesis: Hypothesis, X: np.ndarray) -> np.ndarray:
    """Return what a hypothesis answers, as the columns that stand for it.

    >>> answer_columns(lambda X: np.array([[0.2, 0.8], [0.6, 0.4]]), np.zeros((2, 1))).tolist()
    [[0.8], [0.4]]
    """
    answers = np.asarray(hypothesis(X), dtype=np.float64)
    if answers.ndim == 1:
        return answers[:, None]
    return answers[:, 1:] if answers.shape[1] == 2 else answers


def out_of_fold(
    X: np.ndarray, y: np.ndarray, w: np.ndarray, learner: Learner, fold_of: np.ndarray
) -> np.ndarray:
    """Return the answers of one learner, each from a fit that has not seen the row.

    >>> mean = lambda X, y, w: lambda X: np.full(len(X), np.average(y, weights=w))
    >>> y = np.array([1.0, 2.0, 6.0])
    >>> out_of_fold(np.zeros((3, 1)), y, np.ones(3), mean, np.array([0, 0, 1])).tolist()
    [[6.0], [6.0], [1.5]]
    """
    parts = []
    for fold in np.unique(fold_of):
        inside = fold_of == fold
        hypothesis = learner(X[~inside], y[~inside], w[~inside])
        parts.append((np.flatnonzero(inside), answer_columns(hypothesis, X[inside])))
    answers = np.empty((len(y), parts[0][1].shape[1]))
    for rows, columns in parts:
        answers[rows] = columns
    return answers


def stack(
    X: ArrayLike,
    y: ArrayLike,
    learners: Sequence[Learner],
    final: Learner,
    folds: int | ArrayLike = 5,
    w: ArrayLike | None = None,
    *,
    passthrough: bool = False,
) -> Stack:
    """Stack learners under a final one.

    Parameters
    ----------
    X : array of shape (n, n_columns)
    y : array of shape (n,)
        Numbers or class indices, as the learners want them.
    learners : functions of (X, y, w)
    final : function of (answers, y, w)
    folds : int or array of shape (n,)
        How many neighbouring stretches of rows, or the fold of every row.
    w : array of shape (n,), optional
    passthrough : bool
        Show the columns of X to the final learner, behind the answers.

    Examples
    --------
    >>> mean = lambda X, y, w: lambda X: np.full(len(X), np.average(y, weights=w))
    >>> column = lambda X, y, w: lambda X: X[:, 0]
    >>> model = stack([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.0, 3.0, 4.0], [mean, column], column, 2)
    >>> model.answers.tolist()
    [[3.5, 1.0], [3.5, 2.0], [1.5, 3.0], [1.5, 4.0]]
    >>> predict_stack(model, [[9.0]]).tolist()
    [2.5]
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    w = np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)
    if isinstance(folds, int):
        parts = np.array_split(np.arange(len(y)), folds)
        fold_of = np.repeat(np.arange(folds), [len(part) for part in parts])
    else:
        fold_of = np.asarray(folds)
    if len(learners) == 0 or fold_of.shape != y.shape or len(np.unique(fold_of)) < 2:
        raise ValueError("stacking needs a learner and at least two folds, one for every row")
    answers = np.hstack([out_of_fold(X, y, w, learner, fold_of) for learner in learners])
    seen = np.hstack([answers, X]) if passthrough else answers
    hypotheses = tuple(learner(X, y, w) for learner in learners)
    return Stack(hypotheses, final(seen, y, w), fold_of, answers, passthrough)


def predict_stack(model: Stack, X: ArrayLike) -> np.ndarray:
    """Return the final hypothesis' predictions from the learners' answers."""
    X = np.asarray(X, dtype=np.float64)
    answers = np.hstack([answer_columns(hypothesis, X) for hypothesis in model.hypotheses])
    return np.asarray(model.final(np.hstack([answers, X]) if model.passthrough else answers))
