"""Cutting C4.5's trees back: collapse, pessimistic errors, held-out errors.

    collapse           a branch that gets no fewer training cases wrong than a leaf would goes
    prune_by_errors    compares the pessimistic errors of a branch, of a leaf, and of its largest
                       child raised into its place
    prune_by_holdout   compares the errors on rows that took no part in growing

The cases at the leaves are kept in the order of the leaves, so those of any node are one slice; a
branch that is raised gets all the cases of its parent and is pruned once more.

Normal deviates are computed by arithmetic and the engine's own logarithm: the same bits on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from arboretum.c45.nodes import Draft
from arboretum.c45.table import CaseTable
from arboretum.engine.cases.cases import EPS, TIE, Questions
from arboretum.engine.cases.error_limit import BINOMIAL, QUINLAN, WEKA, ErrorLimit
from arboretum.engine.cases.propagate import (
    CaseRows,
    Pile,
    Settled,
    new_pile,
    prune_upwards,
    settle,
)
from arboretum.engine.elementwise import log
from arboretum.structure.tree import LEAF

__all__ = [
    "LIMITS",
    "Pessimism",
    "collapse",
    "prune_by_errors",
    "prune_by_holdout",
    "upper_deviate",
]


# ---------------------------------------------------------------------- normal deviates
# Quotients of polynomials, highest power first: Wichura (1988), The percentage points of the normal
# distribution, algorithm AS 241, Applied Statistics 37: near the middle, in the tails, far out
_MIDDLE = (
    (
        2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
        4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
        1.3314166789178437745e2, 3.3871328727963666080e0,
    ),
    (
        5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
        2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
        4.2313330701600911252e1, 1.0,
    ),
)  # fmt: skip
_TAIL = (
    (
        7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
        1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
        4.63033784615654529590e0, 1.42343711074968357734e0,
    ),
    (
        1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
        1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0,
        2.05319162663775882187e0, 1.0,
    ),
)  # fmt: skip
_FAR = (
    (
        2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
        2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
        5.46378491116411436990e0, 6.65790464350110377720e0,
    ),
    (
        2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
        7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
        5.99832206555887937690e-1, 1.0,
    ),
)  # fmt: skip


def upper_deviate(share: float) -> float:
    """Return z such that this share of a standard normal distribution lies above it.

    >>> round(upper_deviate(0.25), 12), upper_deviate(0.5)
    (0.674489750196, 0.0)
    """
    if not 0.0 < share < 1.0:
        return inf if share <= 0.0 else -inf
    q = 0.5 - share
    if abs(q) <= 0.425:
        return q * _quotient(_MIDDLE, 0.180625 - q * q)
    r = sqrt(-float(log(share if q > 0.0 else 1.0 - share)))
    z = _quotient(_TAIL, r - 1.6) if r <= 5.0 else _quotient(_FAR, r - 5.0)
    return z if q > 0.0 else -z


def _quotient(polynomials: tuple[tuple[float, ...], tuple[float, ...]], x: float) -> float:
    above, below = 0.0, 0.0
    for a, b in zip(*polynomials, strict=True):
        above, below = above * x + a, below * x + b
    return above / below


LIMITS = {"quinlan": QUINLAN, "weka": WEKA, "binomial": BINOMIAL}
_CONFIDENCES = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)  # Quinlan's table
_DEVIATES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)


@dataclass(frozen=True)
class Pessimism:
    """How a leaf's errors are estimated."""

    limit: str  # "quinlan", "weka" or "binomial"
    confidence: float

    def plain(self) -> ErrorLimit:
        """Return what the kernels take."""
        if self.limit == "quinlan":
            z = float(np.interp(self.confidence, _CONFIDENCES, _DEVIATES))
        else:
            z = upper_deviate(self.confidence)
        return ErrorLimit(LIMITS[self.limit], float(self.confidence), z)


def collapse(draft: Draft) -> None:
    """Make leaves of the nodes whose branches are right no more often."""
    errors = draft.errors
    best = errors.copy()
    for level in reversed(draft.levels()):
        inner = level[draft.questions.kind[level] != LEAF]
        if not len(inner):
            continue
        as_tree = draft.sum_children(inner, best)
        goes = as_tree >= errors[inner] - EPS
        draft.questions.kind[inner[goes]] = LEAF
        best[inner] = np.where(goes, errors[inner], as_tree)


def prune_by_holdout(draft: Draft, held: CaseTable) -> None:
    """Make leaves of the nodes that as leaves get no more of the held-out rows wrong.

    A leaf answers with its majority in the training rows (``draft.total``), ties to the first class;
    one without cases answers as its parent.
    """
    majority = _answers(draft)
    total = np.zeros_like(draft.total)
    rows = CaseRows(held.values, held.label, _shares(draft))
    every_row = np.arange(len(held.label), dtype=np.uint32)
    _settle(draft.questions, 0, rows, (every_row, held.weight), (total, np.zeros(len(draft), int)))
    wrong = total.sum(axis=1) - total[np.arange(len(draft)), majority]
    best = wrong.copy()
    for level in reversed(draft.levels()):
        inner = level[draft.questions.kind[level] != LEAF]
        if not len(inner):
            continue
        as_tree = draft.sum_children(inner, best)
        goes = wrong[inner] <= as_tree + TIE
        draft.questions.kind[inner[goes]] = LEAF
        best[inner] = np.where(goes, wrong[inner], as_tree)


def _answers(draft: Draft) -> np.ndarray:
    weight = draft.weight
    heaviest = draft.total >= (draft.total.max(axis=1) - TIE * weight)[:, None]
    answer = np.argmax(heaviest, axis=1)
    for level in draft.levels():
        inner = level[draft.questions.kind[level] != LEAF]
        children = draft.children_of(inner)
        parent = np.repeat(inner, draft.questions.n_children[inner])
        empty = weight[children] == 0.0
        answer[children[empty]] = answer[parent[empty]]
    return answer


def _shares(draft: Draft) -> np.ndarray:
    """Return each node's share of its parent's cases, by which missing values are spread."""
    weight = draft.weight
    share = np.zeros(len(draft))
    for level in draft.levels():
        inner = level[draft.questions.kind[level] != LEAF]
        if len(inner):
            whole = draft.sum_children(inner, weight)
            children = draft.children_of(inner)
            share[children] = weight[children] / np.repeat(whole, draft.questions.n_children[inner])
    return share


# ---------------------------------------------------------------------- cases at the leaves
def _settle(
    questions: Questions,
    root: int,
    rows: CaseRows,
    cases: tuple[np.ndarray, np.ndarray],
    sums: tuple[np.ndarray, np.ndarray],
) -> Settled:
    """Send cases, (row, weight), down the branch at ``root``; ``sums``: class weights and number by node."""
    nodes, (row, weight) = len(questions.kind), cases
    capacity = 2 * len(row) + 1024
    while True:
        pile = new_pile(questions, capacity)
        pile.row[: len(row)], pile.weight[: len(row)] = row, weight
        lo, hi = np.zeros(nodes, np.uint32), np.zeros(nodes, np.uint32)
        settled = Settled(np.empty(capacity, np.uint32), np.empty(capacity), lo, hi, *sums)
        done = settle(questions, root, rows, pile, len(row), settled)
        if done >= 0:
            return settled._replace(row=settled.row[:done], weight=settled.weight[:done])
        capacity *= 2


def _whole_again(row: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each row once, with the sum of its fractions."""
    rows, at = np.unique(row, return_inverse=True)
    return rows, np.bincount(at, weight)


# ---------------------------------------------------------------------- error-based pruning
def prune_by_errors(
    draft: Draft, table: CaseTable, pessimism: Pessimism, *, raising: bool = True
) -> None:
    """Prune by pessimistic errors, from the leaves up; class weights become those of the new tree."""
    every_row = np.arange(len(table.label), dtype=np.uint32)
    _Pruner(draft, table, pessimism, raising).prune(0, (every_row, table.weight))


class _Pruner:
    def __init__(self, draft: Draft, table: CaseTable, pessimism: Pessimism, raising: bool) -> None:
        self.draft, self.raising, self.limit = draft, raising, pessimism.plain()
        self.rows = CaseRows(table.values, table.label, np.empty(0))
        self.estimate = np.zeros(len(draft))
        self.pile: Pile = new_pile(draft.questions, 2 * len(table.label) + 1024)

    def prune(self, root: int, cases: tuple[np.ndarray, np.ndarray]) -> None:
        """Send cases down the branch at ``root`` and prune it."""
        draft, at = self.draft, 0
        settled = _settle(draft.questions, root, self.rows, cases, (draft.total, draft.count))
        order = np.concatenate(draft.branch(root))[::-1].copy()  # children before parents
        while True:
            at, child = prune_upwards(
                draft.questions, order, at, self.rows, settled, self.raising, self.limit,
                self.estimate, self.pile,
            )  # fmt: skip
            if at == len(order):
                return
            if child < 0:
                self.pile = new_pile(draft.questions, 2 * len(self.pile.row))
                continue
            node = int(order[at])
            self._raise(node, int(child))
            here = slice(settled.lo[node], settled.hi[node])
            self.prune(node, _whole_again(settled.row[here], settled.weight[here]))
            at += 1

    def _raise(self, node: int, child: int) -> None:
        """Let a child take its parent's place."""
        questions = self.draft.questions
        for name in questions._fields:
            if name != "maps":
                part = getattr(questions, name)
                part[node] = part[child]
