"""The trees of an additive form joined and laid out for SHAP values, with a description of every edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.lazy import cached_property
from arboretum.structure.tree import LEAF, THRESHOLD

if TYPE_CHECKING:
    from arboretum.engine.predict.walk import Paths
    from arboretum.engine.shap.cells import Branches
    from arboretum.engine.shap.edges import Edges
    from arboretum.predict.additive import AdditiveForm
    from arboretum.predict.shap.tabling import Coding
    from arboretum.structure.tree import Tree

__all__ = ["COVERS", "Layout", "lay_out"]

COVERS = ("weight", "count")  # of the training rows; determines how likely a branch is


@dataclass(frozen=True, eq=False)
class Layout:
    """Trees over the same columns, joined one after the other.

    Attributes
    ----------
    paths : Paths
        The splits of their nodes.
    edges : Edges
    n_children : int32 array
    starts : int64 array
        Where trees begin, and the end of the last.
    outputs : int64 array
        The output that the first number of a tree is added to.
    value : float64 array of shape (nodes, k)
        The numbers that nodes add.
    longest, deepest : int64 arrays
        Per tree: the most columns that a path splits on, and the length of the longest path.
    patterns : float64 array
        Per tree: Σ over its leaves of 2 to the number of columns on the path.
    start : float64 array of shape (n_outputs,)
        The sum before any tree.
    n_columns : int
    """

    paths: Paths
    edges: Edges
    n_children: np.ndarray
    starts: np.ndarray
    outputs: np.ndarray
    value: np.ndarray
    longest: np.ndarray
    deepest: np.ndarray
    patterns: np.ndarray
    start: np.ndarray
    n_columns: int

    @property
    def n_outputs(self) -> int:
        return len(self.start)

    @property
    def n_trees(self) -> int:
        return len(self.outputs)

    @cached_property
    def base(self) -> np.ndarray:
        """The expected sum if no column is known, the mean over the training rows."""
        leaf = self.n_children == 0
        expected = self.value * (self.edges.reach * leaf)[:, None]
        base = self.start.copy()
        if self.n_trees:
            each = np.add.reduceat(expected, self.starts[:-1], axis=0)
            for k in range(each.shape[1]):
                np.add.at(base, self.outputs + k, each[:, k])
        return base

    @cached_property
    def n_leaves(self) -> np.ndarray:
        """Leaves of every tree."""
        if not self.n_trees:
            return np.zeros(0, np.int64)
        return np.add.reduceat(self.n_children == 0, self.starts[:-1], dtype=np.int64)

    def spans(self, trees: np.ndarray) -> np.ndarray:
        """Return where some trees begin and end, (trees, 2)."""
        return np.column_stack([self.starts[trees], self.starts[trees + 1]])

    @cached_property
    def branches(self) -> Branches:
        """The part of the tree below every node."""
        from arboretum.engine.shap.cells import Branches, describe_branches

        found = Branches(*(np.zeros(len(self.value), np.int32) for _ in Branches._fields))
        describe_branches(self.edges, self.paths, self.n_children, self.starts, found)
        return found

    @cached_property
    def coding(self) -> Coding:
        """How values become codes."""
        from arboretum.predict.shap.tabling import Coding

        return Coding(self)

    @cached_property
    def used(self) -> np.ndarray:
        """The columns that some node splits on, in order."""
        return np.unique(self.paths.feature[self.n_children > 0])


def lay_out(form: AdditiveForm, n_columns: int, cover: str = "weight") -> Layout:
    """Return the trees of a form laid out; ``cover`` selects the attribute that is a node's weight."""
    from arboretum.engine.shap.edges import Edges, Way, describe_edges

    trees, values = form.terms.trees, form.values
    starts = np.concatenate([[0], np.cumsum([len(tree) for tree in trees])]).astype(np.int64)
    n = int(starts[-1])
    width = values[0].shape[1] if values else 1
    value = np.concatenate([np.zeros((0, width)), *values])
    whole = np.int32
    edges = Edges(
        order=np.zeros(n, whole), depth=np.zeros(n, whole), column=np.zeros(n, whole),
        branch=np.zeros(n, whole), above=np.ones(n), share=np.ones(n), same=np.zeros(n, whole),
        reach=np.ones(n),
    )  # fmt: skip
    paths = _join(trees, starts)
    longest, deepest = np.zeros(len(trees), np.int64), np.zeros(len(trees), np.int64)
    n_children = _joined(trees, "n_children", whole)
    weight = _joined(trees, cover, np.float64)
    patterns = np.zeros(len(trees))
    way = Way(
        waiting=np.empty(n + 1, whole), column=np.empty(n + 1, whole), share=np.empty(n + 1),
        distinct=np.empty(n + 1, np.int64), patterns=np.empty(n + 1),
    )  # fmt: skip
    describe_edges(paths, n_children, weight, starts, edges, (longest, deepest, patterns), way)
    outputs = np.asarray(form.columns, np.int64)
    start = np.asarray(form.start, np.float64)
    return Layout(
        paths,
        edges,
        n_children,
        starts,
        outputs,
        value,
        longest,
        deepest,
        patterns,
        start,
        n_columns,
    )


def _joined(trees: list[Tree], name: str, dtype: type) -> np.ndarray:
    parts = [getattr(tree, name) for tree in trees]
    return np.concatenate(parts).astype(dtype) if parts else np.zeros(0, dtype)


def _join(trees: list[Tree], starts: np.ndarray) -> Paths:
    """Return the splits of all trees, with node numbers and places of bits and surrogates shifted."""
    from arboretum.engine.predict.walk import Paths

    sizes = np.diff(starts)
    kind = _joined(trees, "kind", np.uint8)
    leaf, bits_at = kind == LEAF, np.cumsum([0, *(len(tree.bits) for tree in trees)])
    first_child = _joined(trees, "first_child", np.int32) + np.repeat(starts[:-1], sizes)
    columns = trees[0].schema.columns if trees else []
    stand_ins = [tree.surrogates for tree in trees]
    if any(one is not None for one in stand_ins):
        begin, joined = _join_stand_ins(trees, bits_at)
    else:
        whole = np.zeros(0, np.int64)
        begin, flag, near = whole, np.zeros(0, np.uint8), np.zeros(0, np.int32)
        joined = (flag, near, np.zeros(0), flag, whole)
    return Paths(
        kind,
        np.where(leaf, 0, _joined(trees, "feature", np.int32)).astype(np.int32),
        np.where(kind == THRESHOLD, _joined(trees, "threshold", np.float64), np.inf),
        np.where(leaf, np.arange(len(kind)), first_child).astype(np.int32),
        np.where(leaf, 0, _joined(trees, "missing_child", np.int32)).astype(np.int32),
        _joined(trees, "bits_start", np.int64) + np.repeat(bits_at[:-1], sizes),
        _joined(trees, "bits", np.uint32),
        np.array([len(column.categories or ()) for column in columns], np.int64),
        begin,
        *joined,
    )


def _join_stand_ins(
    trees: list[Tree], bits_at: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Return where the surrogates of every node begin, and the surrogate splits."""
    begin, parts, done = [], [], 0
    for tree, bits in zip(trees, bits_at[:-1], strict=True):
        s = tree.surrogates
        if s is None:  # other trees have some
            begin.append(np.full(len(tree), done, np.int64))
            continue
        begin.append(s.start[:-1] + done)
        parts.append((s.kind, s.feature, s.threshold, s.reverse, s.bits_start + bits))
        done += len(s)
    begin.append(np.array([done], np.int64))
    return np.concatenate(begin), tuple(np.concatenate(each) for each in zip(*parts, strict=True))
