"""Adding the trees of boosting up, round after round, so that a sum is the same whenever it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arboretum.predict.walk import run_blocks, walk_sum

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.tree.tree import Tree

__all__ = ["add_trees", "shaped"]


def add_trees(
    trees: list[Tree], rates: np.ndarray, matrix: Matrix, n_jobs: int, F: np.ndarray
) -> None:
    """Add learning rate × answer of the trees to F, (K, n), round after round."""
    from arboretum.engine.predict.walk import is_complete

    width = len(F)
    answers = [rates[t // width] * tree.value[:, 0] for t, tree in enumerate(trees)]

    def go(lo: int, hi: int, block: np.ndarray) -> None:
        complete = is_complete(block)
        for t, (tree, answer) in enumerate(zip(trees, answers, strict=True)):
            walk_sum(tree, answer, block, complete, F[t % width, lo:hi].reshape(-1, 1))

    run_blocks(go, matrix, n_jobs)


def shaped(F: np.ndarray) -> np.ndarray:
    """Return lines of scores as a loss takes them: (n,) or (n, K)."""
    return F[0] if len(F) == 1 else F.T
