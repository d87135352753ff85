"""SHAP values by walking rows down all branches, a block at a time (engine/shap/walk.py), or a row against
every row of a background (engine/shap/contrast.py). Nothing is built: any tree, any number of rows.
"""

from __future__ import annotations

from functools import cache
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from arboretum.predict.walk import run_blocks

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.predict.shap.layout import Layout

__all__ = ["add_by_contrast", "add_by_walk", "gauss_rule", "gauss_rules"]


@cache
def gauss_rules(most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the Gauss-Legendre nodes and weights on [0, 1] for 0 to ``most`` nodes, a row for each.

    >>> nodes, weights = gauss_rules(2)
    >>> round(float((weights[2] * nodes[2] ** 3).sum()), 12)  # ∫ t³ dt
    0.25
    """
    nodes, weights = np.zeros((most + 1, most)), np.zeros((most + 1, most))
    for K in range(1, most + 1):
        nodes[K, :K], weights[K, :K] = gauss_rule(K)
    return nodes, weights


def gauss_rule(K: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the K Gauss-Legendre nodes and weights on [0, 1], with the same bits on every machine.

    NumPy's nodes are eigenvalues, whose last bits are LAPACK's: only their first seven digits are used, and
    Newton's method finds the others.
    """
    x = np.polynomial.legendre.leggauss(K)[0].astype(np.float32).astype(np.float64)
    for _ in range(3):
        before, here = np.ones(K), x  # the Legendre polynomials of degree k - 1 and k
        for k in range(2, K + 1):
            before, here = here, ((2 * k - 1) * x * here - (k - 1) * before) / k
        slope = K * (before - x * here) / (1.0 - x * x)
        x = x - here / slope
    return (x + 1.0) / 2.0, 1.0 / ((1.0 - x * x) * slope * slope)


def add_by_walk(
    layout: Layout,
    trees: np.ndarray,
    matrix: Matrix,
    pair_of: np.ndarray | None,
    out: np.ndarray,
    n_jobs: int,
) -> None:
    """Add the path-dependent values of some trees to ``out``, (rows, outputs, columns and pairs)."""
    from arboretum.engine.shap.walk import ROWS, Walk, WalkedTrees, walk_trees

    if not len(trees):
        return
    needed = (layout.longest[trees] + 1) // 2
    K, depth = max(1, int(needed.max(initial=0))), int(layout.deepest.max(initial=0)) + 2
    rules = gauss_rules(-(-K // 8) * 8)
    walked = WalkedTrees(
        layout.paths, layout.edges, layout.value, layout.spans(trees), layout.outputs[trees], needed
    )

    def go(lo: int, hi: int, X: np.ndarray) -> None:
        block = min(ROWS, hi - lo)
        work = Walk(
            rows=np.empty((layout.n_columns, block)),
            goes=np.empty((depth, block), np.int64),
            takes=np.empty((depth, block), np.int64),
            product=np.empty((depth, K, block)),
            below=np.empty((depth, K, block)),
            factor=np.empty((3, K)),
            inner=np.empty((3, K)),
            ends=np.empty((5, K)),
            slope=np.empty((depth, 2, K)),
            leaf_slope=np.empty((2, K)),
            path=np.empty(depth, np.int32),
            empty=np.empty(depth, np.uint8),
            total=np.empty(block),
        )
        sums = np.empty((out.shape[1] * out.shape[2], block))
        walk_trees(walked, rules, X, work, pair_of, sums, out[lo:hi])

    run_blocks(go, matrix, n_jobs)


@cache
def _parts(most: int) -> np.ndarray:
    """Return a! b! / (a + b + 1)! for all a, b below ``most``."""
    n = range(most)
    return np.array([[1 / ((a + b + 1) * comb(a + b, a)) for b in n] for a in n])


def add_by_contrast(
    layout: Layout,
    trees: np.ndarray,
    matrix: Matrix,
    others: np.ndarray,
    counts: np.ndarray,
    pair_of: np.ndarray | None,
    out: np.ndarray,
    n_jobs: int,
) -> None:
    """Add the values of rows against other rows, weighted by ``counts``, to ``out``."""
    from arboretum.engine.shap.contrast import Contrast, contrast_trees

    if not len(trees):
        return
    depth = int(layout.deepest.max(initial=0)) + 2
    part = _parts(int(layout.longest.max(initial=0)) + 2)
    tree_parts = layout.starts[trees], layout.outputs[trees], np.int64(out.shape[2])
    others = np.ascontiguousarray(others, np.float64)

    def go(lo: int, hi: int, X: np.ndarray) -> None:
        work = Contrast(
            side=np.zeros(layout.n_columns, np.int8),
            chosen=np.empty(depth, np.int32),
            node=np.empty(depth, np.int32),
            count=np.empty(depth, np.int32),
        )
        flat = out[lo:hi].reshape(hi - lo, -1)
        contrast_trees(
            layout.paths, tree_parts, layout.value, part, (X, others, counts), work, pair_of, flat
        )

    run_blocks(go, matrix, n_jobs)
