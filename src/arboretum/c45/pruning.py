"""Cutting C4.5's trees back: collapse, pessimistic errors, held-out errors.

    collapse           a branch that gets no fewer training cases wrong than a leaf would goes
    prune_by_errors    compares the pessimistic errors of a branch, of a leaf, and of its largest
                       child raised into its place
    prune_by_holdout   compares the errors on rows that took no part in growing

The cases at the leaves are kept in the order of the leaves, so those of any node are one slice; a
branch that is raised gets all the cases of its parent and is pruned once more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arboretum.c45.nodes import Draft
from arboretum.c45.normal import upper_deviate
from arboretum.c45.table import CaseTable
from arboretum.engine.cases.cases import EPS, TIE
from arboretum.engine.cases.error_limit import BINOMIAL, QUINLAN, WEKA
from arboretum.engine.cases.propagate import prune_upwards, settle
from arboretum.structure.tree import LEAF

__all__ = ["LIMITS", "Pessimism", "collapse", "prune_by_errors", "prune_by_holdout"]

LIMITS = {"quinlan": QUINLAN, "weka": WEKA, "binomial": BINOMIAL}
_CONFIDENCES = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)  # Quinlan's table
_DEVIATES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)


@dataclass(frozen=True)
class Pessimism:
    """How a leaf's errors are estimated."""

    limit: str  # "quinlan", "weka" or "binomial"
    confidence: float

    def plain(self) -> tuple[int, float, float]:
        """Return what the kernels take: limit, CF and the normal deviate."""
        if self.limit == "quinlan":
            z = float(np.interp(self.confidence, _CONFIDENCES, _DEVIATES))
        else:
            z = upper_deviate(self.confidence)
        return LIMITS[self.limit], float(self.confidence), z


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
    share = _shares(draft)
    total = np.zeros_like(draft.total)
    _settle(draft, 0, held, None, held.weight, share, total, np.zeros(len(draft), np.int64))
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
@dataclass(eq=False)
class _Settled:
    row: np.ndarray
    weight: np.ndarray
    lo: np.ndarray  # per node, where its cases begin
    hi: np.ndarray  # where they end, of a leaf; of inner nodes once they are decided


def _settle(
    draft: Draft,
    root: int,
    table: CaseTable,
    row: np.ndarray | None,
    weight: np.ndarray,
    own: np.ndarray,
    total: np.ndarray,
    count: np.ndarray,
) -> _Settled:
    """Send cases down the branch at ``root``; class weights go to ``total``, their number to ``count``.

    ``row`` None: every row of the table.
    """
    lo, hi = np.zeros(len(draft), np.uint32), np.zeros(len(draft), np.uint32)
    n = len(weight)
    capacity = 2 * n + 1024
    while True:
        pile = np.empty(capacity, np.uint32), np.empty(capacity)
        pile[0][:n], pile[1][:n] = np.arange(n, dtype=np.uint32) if row is None else row, weight
        out = np.empty(capacity, np.uint32), np.empty(capacity)
        done = settle(
            draft.questions, root, table.values, table.label, *pile, n, own, _copies(capacity), *out,
            lo, hi, count, total,
        )  # fmt: skip
        if done >= 0:
            break
        capacity *= 2
    return _Settled(out[0][:done], out[1][:done], lo, hi)


def _copies(capacity: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.empty(capacity, np.uint32), np.empty(capacity), np.empty(capacity, np.int32)


def _whole_again(row: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each row once, with the sum of its fractions."""
    rows, at = np.unique(row, return_inverse=True)
    return rows, np.bincount(at, weight)


# ---------------------------------------------------------------------- error-based pruning
def prune_by_errors(
    draft: Draft, table: CaseTable, pessimism: Pessimism, *, raising: bool = True
) -> None:
    """Prune by pessimistic errors, from the leaves up; class weights become those of the new tree."""
    _Pruner(draft, table, pessimism, raising).prune(0, None, table.weight)


class _Pruner:
    def __init__(self, draft: Draft, table: CaseTable, pessimism: Pessimism, raising: bool) -> None:
        self.draft, self.table, self.raising = draft, table, raising
        self.pessimism = pessimism.plain()
        self.estimate = np.zeros(len(draft))
        self.most = int(draft.questions.n_children.max(initial=1)) + 1
        self.capacity = 2 * len(table.label) + 1024

    def prune(self, root: int, row: np.ndarray | None, weight: np.ndarray) -> None:
        """Send cases down the branch at ``root`` and prune it."""
        draft = self.draft
        settled = _settle(
            draft, root, self.table, row, weight, np.empty(0), draft.total, draft.count
        )
        order = np.concatenate(draft.branch(root))[::-1].copy()  # children before parents
        at = 0
        while True:
            at, child = prune_upwards(
                draft.questions, order, at, self.table.values, self.table.label,
                (settled.row, settled.weight), settled.lo, settled.hi, draft.total, self.raising,
                self.pessimism, self.estimate, *self._scratch(),
            )  # fmt: skip
            if at == len(order):
                break
            if child < 0:
                self.capacity *= 2
                continue
            node = int(order[at])
            self._raise(node, int(child))
            here = slice(settled.lo[node], settled.hi[node])
            self.prune(node, *_whole_again(settled.row[here], settled.weight[here]))
            at += 1

    def _scratch(self) -> tuple:
        size = len(self.draft) + 1
        stack = tuple(np.empty(size, np.int64) for _ in range(3))
        return (
            (np.empty(self.capacity, np.uint32), np.empty(self.capacity)),
            (*_copies(self.capacity), np.empty(self.most, np.int64), *stack),
        )

    def _raise(self, node: int, child: int) -> None:
        """Let a child take its parent's place."""
        questions = self.draft.questions
        for name in questions._fields:
            if name != "maps":
                part = getattr(questions, name)
                part[node] = part[child]
