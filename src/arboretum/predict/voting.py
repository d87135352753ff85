"""Asking all trees at once: the sum of their answers, row by row.

Rows are taken in blocks that fit the cache and every tree is asked about a block in turn, in order, so
that a sum does not depend on the number of threads. Rows that a tree has seen are left out in
out_of_bag.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from arboretum.predict.walk import run_blocks, walk_block, walk_sum
from arboretum.tree.tree import Tree

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix

__all__ = ["leaves_in", "sum_answers", "votes_of"]


def sum_answers(
    trees: Sequence[Tree], matrix: Matrix, n_jobs: int, *, hard: bool = False
) -> np.ndarray:
    """Return the sum of the trees' values, (rows, outputs, values); ``hard``: of their votes."""
    from arboretum.engine.predict.walk import is_complete

    shape = trees[0].value.shape[1:]
    total = np.zeros((matrix.n_rows, *shape))
    answers = [votes_of(tree) if hard else tree.value for tree in trees]

    def go(lo: int, hi: int, X: np.ndarray) -> None:
        complete = is_complete(X)
        for tree, answer in zip(trees, answers, strict=True):
            walk_sum(tree, answer, X, complete, total[lo:hi])

    run_blocks(go, matrix, n_jobs)
    return total


def votes_of(tree: Tree) -> np.ndarray:
    """Return the nodes' votes: 1 for the largest share of each output, the first of equals."""
    votes = np.zeros_like(tree.value)
    np.put_along_axis(votes, tree.value.argmax(axis=2)[:, :, None], 1.0, axis=2)
    return votes


def leaves_in(trees: Sequence[Tree], matrix: Matrix, n_jobs: int) -> np.ndarray:
    """Return the leaf every row reaches in every tree, (rows, trees)."""
    from arboretum.engine.predict.walk import is_complete

    leaves = np.empty((matrix.n_rows, len(trees)), np.int32)

    def go(lo: int, hi: int, X: np.ndarray) -> None:
        complete = is_complete(X)
        for t, tree in enumerate(trees):
            leaves[lo:hi, t] = walk_block(tree, X, complete)

    run_blocks(go, matrix, n_jobs)
    return leaves
