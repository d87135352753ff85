"""Asking all trees at once: the sum of their answers, row by row.

Rows are taken in blocks that fit the cache and every tree is asked about a block in turn, in order, so
that a sum does not depend on the number of threads. Rows that a tree has seen can be left out, which
makes the out-of-bag answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.tree.tree import Tree
from arboretum.tree.walking import run_blocks, walk_block, walk_sum

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix

__all__ = ["OutOfBag", "leaves_in", "out_of_bag", "sum_answers", "votes_of"]


def sum_answers(
    trees: Sequence[Tree], matrix: Matrix, n_jobs: int, *, hard: bool = False
) -> np.ndarray:
    """Return the sum of the trees' values, (rows, outputs, values); ``hard``: of their votes."""
    shape = trees[0].value.shape[1:]
    total = np.zeros((matrix.n_rows, *shape))
    answers = [votes_of(tree) if hard else tree.value for tree in trees]

    def go(lo: int, hi: int, X: np.ndarray) -> None:
        for tree, answer in zip(trees, answers, strict=True):
            walk_sum(tree, answer, X, total[lo:hi])

    run_blocks(go, matrix, n_jobs)
    return total


def votes_of(tree: Tree) -> np.ndarray:
    """Return the nodes' votes: 1 for the largest share of each output, the first of equals."""
    votes = np.zeros_like(tree.value)
    np.put_along_axis(votes, tree.value.argmax(axis=2)[:, :, None], 1.0, axis=2)
    return votes


def leaves_in(trees: Sequence[Tree], matrix: Matrix, n_jobs: int) -> np.ndarray:
    """Return the leaf every row reaches in every tree, (rows, trees)."""
    leaves = np.empty((matrix.n_rows, len(trees)), np.int32)

    def go(lo: int, hi: int, X: np.ndarray) -> None:
        for t, tree in enumerate(trees):
            leaves[lo:hi, t] = walk_block(tree, X)

    run_blocks(go, matrix, n_jobs)
    return leaves


# ---------------------------------------------------------------------- out of bag
@dataclass(frozen=True, eq=False)
class OutOfBag:
    """What trees say about rows they have not seen.

    Attributes
    ----------
    mean : (rows, outputs, values) float64 array
        Mean answer; NaN for rows that every tree has seen.
    n_trees : (rows,) int64 array
        How many trees have not seen a row.
    curve : (trees,) float64 array
        Error after each tree: share of wrong classes, or mean squared error, over the rows that have
        an answer by then; NaN while none has.
    """

    mean: np.ndarray
    n_trees: np.ndarray
    curve: np.ndarray


def out_of_bag(
    trees: Sequence[Tree],
    matrix: Matrix,
    y: np.ndarray,
    classes: bool,
    unseen_by: np.ndarray,
    n_jobs: int,
) -> OutOfBag:
    """Return the out-of-bag answers.

    ``y`` is (rows, outputs), class codes or numbers; ``unseen_by`` is (trees, rows / 8), bits that
    are set where a tree has not seen a row (numpy.packbits).
    """
    n, shape = matrix.n_rows, trees[0].value.shape[1:]
    total, asked = np.zeros((n, *shape)), np.zeros(n, np.int64)
    parts: dict[int, np.ndarray] = {}  # per block: errors and rows after each tree

    def go(lo: int, hi: int, X: np.ndarray) -> None:
        errors = np.zeros((2, len(trees)))
        wrong = np.zeros(hi - lo)
        first = lo // 8
        for t, tree in enumerate(trees):
            bits = np.unpackbits(unseen_by[t, first : (hi + 7) // 8])
            here = np.flatnonzero(bits[lo - 8 * first : hi - 8 * first])
            if len(here):
                total[lo + here] += tree.value[walk_block(tree, X[here])]
                asked[lo + here] += 1
                wrong[here] = _errors(total[lo + here], asked[lo + here], y[lo + here], classes)
            covered = asked[lo:hi] > 0
            errors[:, t] = wrong[covered].sum(), covered.sum()
        parts[lo] = errors

    run_blocks(go, matrix, n_jobs)
    errors, rows = np.sum([parts[lo] for lo in sorted(parts)], axis=0)
    with np.errstate(invalid="ignore"):
        mean = total / np.where(asked > 0, asked, np.nan)[:, None, None]
        return OutOfBag(mean, asked, np.where(rows > 0, errors / rows, np.nan))


def _errors(total: np.ndarray, asked: np.ndarray, y: np.ndarray, classes: bool) -> np.ndarray:
    """Return the error of every row, the mean over its outputs."""
    if classes:
        return (total.argmax(axis=2) != y).mean(axis=1)
    return ((total[:, :, 0] / asked[:, None] - y) ** 2).mean(axis=1)
