"""Sending rows down a tree: which leaf does each row reach, and through which nodes?

Rows are processed in blocks that fit the cache; each block is converted to C-contiguous float64, and the
blocks are distributed over the threads. Trees that split on thresholds and sets take the fast walk, others
the general one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.engine import parallel
from arboretum.structure.joined import SharedNodes, pieces
from arboretum.structure.tree import LEAF, SUBSET, THRESHOLD, Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from arboretum.data.matrix import Matrix
    from arboretum.engine.predict.walk import Paths

__all__ = [
    "has_no_gaps",
    "leaves_of",
    "link_all",
    "paths_of",
    "proba_of",
    "run_blocks",
    "walk_block",
    "walk_sum",
]

_BLOCK_VALUES = 1 << 18  # values in a block: two megabytes
_SHARED_VALUES = 1 << 15  # up to this many values, one thread is faster
_FEW_ROWS = 64  # always one block
_BLOCKS_EACH = 4  # blocks per thread
_FEW_TREES = 8  # fewer are laid out one by one


def _is_plain(tree: Tree) -> bool:
    """Return whether a tree splits on thresholds only, so that it can take the fast walk."""
    return _once(
        tree, "_plain", lambda: not np.any(tree.kind > THRESHOLD) and tree.surrogates is None
    )


def _has_sets(tree: Tree) -> bool:
    """Return whether a tree splits on thresholds and sets of categories only."""
    return _once(tree, "_sets", lambda: not np.any(tree.kind > SUBSET) and tree.surrogates is None)


def _links(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Return the thresholds and packed links of the fast walk."""

    def make() -> tuple[np.ndarray, np.ndarray]:
        from arboretum.engine.compiler.decorators import writable
        from arboretum.engine.predict.walk import link_nodes

        threshold, link = np.empty(len(tree)), np.empty(len(tree), np.uint64)
        heaviest = _heaviest(tree)
        parts = tree.kind, tree.feature, tree.threshold, tree.first_child, heaviest, tree.bits_start
        link_nodes(tuple(writable(part) for part in parts), threshold, link)
        return threshold, link

    return _once(tree, "_links", make)


def link_all(trees: Sequence[Tree]) -> None:
    """Lay out trees that share arrays for the fast walk at once; others are laid out when they are walked.

    Tree by tree this takes several times as long, longer than the first walk itself.
    """
    if len(trees) < _FEW_TREES or "_links" in trees[0].__dict__:
        return
    lo = 0
    for together, first, end, _ in pieces(trees):
        some = trees[lo : lo + end - first]
        lo += end - first
        if together is not None and len(some) >= _FEW_TREES:
            _link_together(together, first, end, some)


def _link_together(together: SharedNodes, first: int, end: int, trees: Sequence[Tree]) -> None:
    kind, missing = together.cut("kind", first, end), together.cut("missing_child", first, end)
    leaf = kind == LEAF
    if kind.max() > SUBSET or np.any(missing[~leaf] < 0):
        return
    if any(tree.surrogates is not None for tree in trees):
        return
    start = np.array(together.start[first : end + 1]) - together.start[first]
    own = np.arange(len(kind)) - np.repeat(
        start[:-1], np.diff(start)
    )  # node numbers within the tree
    link = np.where(leaf, own, together.cut("first_child", first, end)) << 32
    link |= np.where(leaf, 0, missing.astype(np.int64) << 31 | together.cut("feature", first, end))
    threshold = np.where(leaf, np.inf, together.cut("threshold", first, end))
    is_set, plain = kind == SUBSET, [True] * len(trees)
    if is_set.any():
        link |= is_set.astype(np.int64) << 30
        threshold[is_set] = together.cut("bits_start", first, end)[is_set]
        plain = (np.add.reduceat(is_set, start[:-1]) == 0).tolist()
    word, places, n_codes = link.view(np.uint64), start.tolist(), _n_codes(trees[0])
    for tree, is_plain, a, b in zip(trees, plain, places, places[1:], strict=False):
        tree.__dict__.update(
            _links=(threshold[a:b], word[a:b]),
            _plain=is_plain,
            _sets=True,
            _codes=n_codes,
            spreads=False,
        )


def _paths(tree: Tree) -> Paths:
    """Return the arrays of the general walk."""

    def make() -> Paths:
        from arboretum.engine.compiler.decorators import writable
        from arboretum.engine.predict.walk import Paths

        leaf, empty, s = tree.is_leaf, np.zeros(0, np.int64), tree.surrogates
        return Paths(
            kind=writable(tree.kind),
            feature=np.where(leaf, 0, tree.feature).astype(np.int32),
            threshold=np.where(tree.kind == THRESHOLD, tree.threshold, np.inf),
            first_child=np.where(leaf, np.arange(len(tree)), tree.first_child).astype(np.int32),
            missing_child=np.where(leaf, 0, _heaviest(tree)).astype(np.int32),
            bits_start=writable(tree.bits_start),
            bits=writable(tree.bits),
            n_codes=_n_codes(tree),
            surrogate_start=empty if s is None else s.start,
            surrogate_kind=np.zeros(0, np.uint8) if s is None else s.kind,
            surrogate_feature=np.zeros(0, np.int32) if s is None else s.feature,
            surrogate_threshold=np.zeros(0) if s is None else s.threshold,
            surrogate_reverse=np.zeros(0, np.uint8) if s is None else s.reverse,
            surrogate_bits=empty if s is None else s.bits_start,
        )

    return _once(tree, "_paths", make)


def _n_codes(tree: Tree) -> np.ndarray:
    columns = tree.schema.columns
    return _once(
        tree, "_codes", lambda: np.array([len(c.categories or ()) for c in columns], np.int64)
    )


def _heaviest(tree: Tree) -> np.ndarray:
    """Return the child a missing value goes to; where it goes to all, the heaviest (the first of equals)."""
    spread = np.flatnonzero((tree.missing_child < 0) & (tree.kind != LEAF))
    if not len(spread):
        return tree.missing_child
    goes = tree.missing_child.copy()
    for node in spread:
        first = tree.first_child[node]
        goes[node] = np.argmax(tree.weight[first : first + tree.n_children[node]])
    return goes


def _once(tree: Tree, name: str, make: Callable[[], Any]) -> Any:
    """Return the result of ``make``, computed at the first call and kept with the tree."""
    if name not in tree.__dict__:
        tree.__dict__[name] = make()  # a cache: the tree itself stays as it is
    return tree.__dict__[name]


def has_no_gaps(matrix: Matrix) -> bool:
    """Return whether no value of a table is missing; compute it once for repeated walks."""
    return not any(np.isnan(matrix.column(f)).any() for f in range(matrix.n_columns))


def leaves_of(
    tree: Tree, matrix: Matrix, n_jobs: int = 1, *, complete: bool | None = None
) -> np.ndarray:
    """Return the leaf every row of an encoded table reaches.

    ``complete``: whether it has no missing value; None: find out.
    """
    from arboretum.engine.predict.walk import is_complete

    out = np.empty(matrix.n_rows, np.int64)

    def go(lo: int, hi: int, X: np.ndarray) -> None:
        walk_block(tree, X, is_complete(X) if complete is None else complete, out=out[lo:hi])

    run_blocks(go, matrix, n_jobs)
    return out


def walk_block(
    tree: Tree, X: np.ndarray, complete: bool = False, *, out: np.ndarray | None = None
) -> np.ndarray:
    """Return the leaf every row of a C-contiguous block of values reaches.

    ``complete`` promises that no value of X is missing, which makes the walk faster.
    """
    from arboretum.engine.predict.walk import walk, walk_general, walk_sets

    out = np.empty(len(X), np.int64) if out is None else out
    if _is_plain(tree):
        walk(*_links(tree), X, complete, out)
    elif _has_sets(tree):
        walk_sets(*_links(tree), *_sets(tree), X, out)
    else:
        walk_general(_paths(tree), X, out)
    return out


def _sets(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Return the sets of categories for the fast walk, and the number of categories of every column."""
    from arboretum.engine.compiler.decorators import writable

    return _once(
        tree, "_laid_out", lambda: (writable(tree.bits), _n_codes(tree).astype(np.float64))
    )


def walk_sum(
    tree: Tree, value: np.ndarray, X: np.ndarray, complete: bool, total: np.ndarray
) -> None:
    """Add the ``value``, (nodes, ...), of the leaf that every row of a block reaches to ``total``.

    Where a value is missing and the tree spreads such rows, a row reaches several leaves, with a share in
    each.
    """
    from arboretum.engine.predict.walk import add_values, walk_add

    width, leaf = math.prod(value.shape[1:]), np.empty(len(X), np.int64)
    answer, totals = value.reshape(-1, width), total.reshape(-1, width)
    if tree.spreads:
        parts = np.empty_like(totals)
        _spread(tree, answer, X, parts)
        totals += parts
    elif _is_plain(tree):
        walk_add(*_links(tree), answer, X, complete, leaf, totals)
    else:
        add_values(answer, walk_block(tree, X, out=leaf), totals)


def _spread(tree: Tree, value: np.ndarray, X: np.ndarray, out: np.ndarray) -> None:
    """Write the mean value of the leaves every row of a block reaches, (rows, numbers), by its shares."""
    from arboretum.engine.cases.cases import Questions
    from arboretum.engine.cases.propagate import spread_proba
    from arboretum.engine.compiler.decorators import writable

    def make() -> Questions:
        paths = _paths(tree)
        return Questions(
            paths.kind, paths.feature, paths.threshold, paths.first_child,
            writable(tree.n_children), writable(tree.missing_child), paths.bits_start, paths.bits,
        )  # fmt: skip

    questions, n_codes = _once(tree, "_questions", make), _n_codes(tree)
    spread_proba(questions, n_codes, tree.share, writable(value), X, out)


def proba_of(tree: Tree, matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
    """Return the mean value of the leaves every row reaches, (rows, n_values), weighted by its shares."""
    if not tree.spreads:
        return tree.value[leaves_of(tree, matrix, n_jobs), 0]
    value = tree.value[:, 0]
    out = np.empty((matrix.n_rows, value.shape[1]))
    run_blocks(lambda lo, hi, X: _spread(tree, value, X, out[lo:hi]), matrix, n_jobs)
    return out


def paths_of(tree: Tree, matrix: Matrix, n_jobs: int = 1) -> csr_matrix:
    """Return the (rows × nodes) indicator matrix of the nodes every row passes."""
    from scipy.sparse import csr_matrix

    from arboretum.engine.predict.walk import path_general

    n, width = matrix.n_rows, tree.max_depth + 1
    length, nodes = np.empty(n, np.int64), np.empty((n, width), np.int32)

    def go(lo: int, hi: int, X: np.ndarray) -> None:
        path_general(_paths(tree), X, length[lo:hi], nodes[lo:hi])

    run_blocks(go, matrix, n_jobs)
    indices = nodes[np.arange(width) < length[:, None]]
    indptr = np.concatenate([[0], np.cumsum(length)])
    ones = np.ones(len(indices), np.int64)
    return csr_matrix((ones, indices, indptr), shape=(n, len(tree)))


def run_blocks(go: Callable[[int, int, np.ndarray], None], matrix: Matrix, n_jobs: int) -> None:
    """Call ``go(lo, hi, rows lo:hi)`` for blocks of rows that fit the cache, on several threads."""
    from arboretum.engine.compiler.decorators import writable

    n = matrix.n_rows
    width = max(matrix.n_columns, 1)
    step = max(_FEW_ROWS, _BLOCK_VALUES // width)
    if 0 < n <= _FEW_ROWS:  # one block, without the thread pool
        go(0, n, writable(matrix.rows(0, n)))
        return
    if n_jobs > 1 and n * width > _SHARED_VALUES:  # several blocks for every thread
        step = min(step, -(-n // (_BLOCKS_EACH * n_jobs)))
    blocks = [(lo, min(lo + step, n)) for lo in range(0, n, step)]

    def work(block: tuple[int, int]) -> None:
        go(*block, writable(matrix.rows(*block)))

    parallel.run(work, blocks, n_jobs if len(blocks) > 1 else 1)
