"""The order of the chosen rules, and the class of the rows that none of them covers.

    classes     next comes the class whose rules cover the least weight of other classes, among the rows
                that no class before it covers; of equals the first class
    rules       within a class by estimated accuracy; of equals as the tree has them
    default     the most frequent class among the rows that no rule covers

The order decides what a row gets that several rules cover. Last comes a look at the whole: while the
training rows would be answered better without some rule, the one that does most harm goes.
"""

from __future__ import annotations

import numpy as np

from arboretum.c45.rules.rule import Coverage
from arboretum.engine.cases.cases import TIE

__all__ = ["drop_harmful", "order_classes"]


def order_classes(
    covers: dict[int, np.ndarray], label: np.ndarray, weight: np.ndarray
) -> list[int]:
    """Return the classes that have rules, in the order in which their rules are tried.

    ``covers``: for each class, the rows that one of its rules covers.

    >>> label = np.array([0, 0, 1, 1])
    >>> covers = {0: np.array([1, 1, 1, 0], bool), 1: np.array([0, 0, 1, 1], bool)}
    >>> order_classes(covers, label, np.ones(4))
    [1, 0]
    """
    order: list[int] = []
    open_rows = np.ones(len(label), np.bool_)
    left = sorted(covers)
    while left:
        wrong = [float(weight[open_rows & covers[c] & (label != c)].sum()) for c in left]
        best = left.pop(int(np.argmax(np.array(wrong) <= min(wrong) + TIE)))
        order.append(best)
        open_rows &= ~covers[best]
    return order


def drop_harmful(
    cover: Coverage, answers: np.ndarray, label: np.ndarray, weight: np.ndarray, prior: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Drop rules that do more harm than good where they are the first to fire.

    A rule does harm if fewer training rows would be wrong without it: they would go to the next rule
    that covers them, or to the default class.

    Parameters
    ----------
    cover : Coverage
        Of the rules in their order.
    answers : int array
        The class of every rule.
    label, weight : arrays
        Of the training rows.
    prior : float array
        Decides between classes that are as frequent among the rows that no rule covers.

    Returns
    -------
    kept : int array
        The rules that stay.
    uncovered : float array
        Weight of every class among the rows that none of them covers.

    Examples
    --------
    >>> label, weight = np.array([0, 0, 1, 1]), np.ones(4)
    >>> cover = Coverage([label == 0, label == 1], 4, 2)
    >>> drop_harmful(cover, np.array([1, 1]), label, weight, np.array([0.5, 0.5]))
    (array([1]), array([2., 0.]))
    """
    alive = np.ones(cover.n_rules, np.bool_)
    first, second = np.empty((2, cover.n_rows), np.int64)
    _fire(cover, alive, np.arange(cover.n_rows), first, second)
    while True:
        none = first < 0
        # of no rows it would be whole numbers
        uncovered = np.bincount(label[none], weight[none], len(prior)).astype(np.float64)
        answer = np.append(answers, np.argmax(uncovered + prior))  # -1 finds the default
        saved = weight * ((answer[first] != label) * 1.0 - (answer[second] != label))
        harm = np.bincount(first + 1, weights=saved, minlength=cover.n_rules + 1)[1:]
        if harm.max(initial=0.0) <= TIE:
            return np.flatnonzero(alive), uncovered
        worst = int(np.argmax(harm >= harm.max() - TIE))
        alive[worst] = False
        rows = np.flatnonzero((first == worst) | (second == worst))
        _fire(cover, alive, rows, first, second)


def _fire(
    cover: Coverage, alive: np.ndarray, rows: np.ndarray, first: np.ndarray, second: np.ndarray
) -> None:
    """Write the first and the second rule that cover some rows; -1 for none."""
    for block in cover.blocks(rows):
        fires = cover.rows(block) & alive
        for out in (first, second):
            out[block] = -1
            if cover.n_rules:
                at = fires.argmax(axis=1)
                hit = fires[np.arange(len(block)), at]
                out[block[hit]] = at[hit]
                fires[np.arange(len(block)), at] = False
