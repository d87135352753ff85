"""Sending rows down a tree: which leaf does each row reach, and by which nodes?

Rows are taken in blocks that fit the cache; a block is made C-contiguous float64 whatever the table is,
and threads share out the blocks. A tree of plain thresholds takes the fast walk, others the general one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine import parallel
from arboretum.tree.tree import LEAF, THRESHOLD, Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from arboretum.data.matrix import Matrix
    from arboretum.engine.walk import Paths

__all__ = ["leaves_of", "paths_of", "proba_of", "run_blocks", "walk_block", "walk_sum"]

_BLOCK_VALUES = 1 << 16  # values of a block: half a megabyte


class Layout:
    """A tree's arrays as the walking kernels read them; made once per tree."""

    def __init__(self, tree: Tree) -> None:
        from arboretum.engine.jit import writable
        from arboretum.engine.walk import Paths

        leaf = tree.is_leaf
        self.plain = not np.any(tree.kind > THRESHOLD) and tree.surrogates is None
        s = tree.surrogates
        empty = np.zeros(0, np.int64)
        self.paths: Paths = Paths(
            kind=writable(tree.kind),
            feature=np.where(leaf, 0, tree.feature).astype(np.int32),
            threshold=np.where(tree.kind == THRESHOLD, tree.threshold, np.inf),
            first_child=np.where(leaf, np.arange(len(tree)), tree.first_child).astype(np.int32),
            missing_child=_heaviest(tree),
            bits_start=writable(tree.bits_start),
            bits=writable(tree.bits),
            n_codes=np.array([len(c.categories or ()) for c in tree.schema.columns], np.int64),
            surrogate_start=empty if s is None else s.start,
            surrogate_kind=np.zeros(0, np.uint8) if s is None else s.kind,
            surrogate_feature=np.zeros(0, np.int32) if s is None else s.feature,
            surrogate_threshold=np.zeros(0) if s is None else s.threshold,
            surrogate_reverse=np.zeros(0, np.uint8) if s is None else s.reverse,
            surrogate_bits=empty if s is None else s.bits_start,
        )
        p = self.paths
        self.link = (
            (p.first_child.astype(np.int64) << 32)
            | (p.feature.astype(np.int64) << 1)
            | p.missing_child
        )


def _heaviest(tree: Tree) -> np.ndarray:
    """Return the child a missing value takes; where it takes all, the heaviest (the first of equals)."""
    goes = np.where(tree.kind == LEAF, 0, tree.missing_child).astype(np.int32)
    for node in np.flatnonzero(goes < 0):
        first = tree.first_child[node]
        goes[node] = np.argmax(tree.weight[first : first + tree.n_children[node]])
    return goes


def _layout(tree: Tree) -> Layout:
    layout = tree.__dict__.get("_layout")
    if layout is None:
        layout = tree.__dict__["_layout"] = Layout(tree)  # a cache: the tree itself stays as it is
    return layout


def leaves_of(tree: Tree, matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
    """Return the leaf every row of an encoded table reaches."""
    out = np.empty(matrix.n_rows, np.int64)

    def go(lo: int, hi: int, X: np.ndarray) -> None:
        walk_block(tree, X, out[lo:hi])

    run_blocks(go, matrix, n_jobs)
    return out


def walk_block(tree: Tree, X: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Return the leaf every row of a C-contiguous block of values reaches."""
    from arboretum.engine.walk import walk, walk_general

    layout = _layout(tree)
    out = np.empty(len(X), np.int64) if out is None else out
    if layout.plain:
        walk(layout.paths.threshold, layout.link, X, out)
    else:
        walk_general(layout.paths, X, out)
    return out


def walk_sum(tree: Tree, value: np.ndarray, X: np.ndarray, total: np.ndarray) -> None:
    """Add ``value`` of the leaf every row of a block reaches, (nodes, ...), to ``total``."""
    from arboretum.engine.walk import walk_add

    layout = _layout(tree)
    if not layout.plain:
        total += value[walk_block(tree, X)]
        return
    width = int(np.prod(value.shape[1:]))
    walk_add(
        layout.paths.threshold, layout.link, value.reshape(-1, width), X,
        np.empty(len(X), np.int64), total.reshape(-1, width),
    )  # fmt: skip


def proba_of(tree: Tree, matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
    """Return the values of the leaves every row reaches, (rows, n_values), by the share of each.

    Only where a value is missing, and the tree spreads such rows, does a row reach several leaves.
    """
    if not tree.spreads:
        return tree.value[leaves_of(tree, matrix, n_jobs), 0]
    from arboretum.engine.cases import Questions
    from arboretum.engine.jit import writable
    from arboretum.engine.settling import spread_proba

    paths = _layout(tree).paths
    asked = Questions(
        paths.kind, paths.feature, paths.threshold, paths.first_child, writable(tree.n_children),
        writable(tree.missing_child), paths.bits_start, paths.bits,
    )  # fmt: skip
    share, value = tree.share, writable(tree.value[:, 0])
    out = np.empty((matrix.n_rows, value.shape[1]))

    def go(lo: int, hi: int, X: np.ndarray) -> None:
        spread_proba(asked, share, value, X, out[lo:hi])

    run_blocks(go, matrix, n_jobs)
    return out


def paths_of(tree: Tree, matrix: Matrix, n_jobs: int = 1) -> csr_matrix:
    """Return the (rows × nodes) indicator matrix of the nodes every row passes."""
    from scipy.sparse import csr_matrix

    from arboretum.engine.walk import path_general

    layout = _layout(tree)
    n, width = matrix.n_rows, tree.max_depth + 1
    length, nodes = np.empty(n, np.int64), np.empty((n, width), np.int32)

    def go(lo: int, hi: int, X: np.ndarray) -> None:
        path_general(layout.paths, X, length[lo:hi], nodes[lo:hi])

    run_blocks(go, matrix, n_jobs)
    indices = nodes[np.arange(width) < length[:, None]]
    indptr = np.concatenate([[0], np.cumsum(length)])
    ones = np.ones(len(indices), np.int64)
    return csr_matrix((ones, indices, indptr), shape=(n, len(tree)))


def run_blocks(go: Callable[[int, int, np.ndarray], None], matrix: Matrix, n_jobs: int) -> None:
    """Call ``go(lo, hi, rows lo:hi)`` for blocks of rows that fit the cache, on several threads."""
    from arboretum.engine.jit import writable

    n = matrix.n_rows
    step = max(64, _BLOCK_VALUES // max(matrix.n_columns, 1) // 8 * 8)
    blocks = [(lo, min(lo + step, n)) for lo in range(0, n, step)]

    def work(block: tuple[int, int]) -> None:
        go(*block, writable(matrix.rows(*block)))

    parallel.run(work, blocks, n_jobs if len(blocks) > 1 else 1)
