"""A tree of cases while it is grown and pruned: questions, and the class weights of every node.

Children are always made after their parents, next to each other, so they have larger numbers. When it
is finished it becomes a `Tree`, which has probabilities, impurities and gains.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine.cases.cases import Questions
from arboretum.engine.elementwise import log2
from arboretum.structure.build import build_tree, leaves, to_leaves
from arboretum.structure.pruning import number_levels
from arboretum.structure.tree import LEAF, Tree

if TYPE_CHECKING:
    from arboretum.data.schema import Schema

__all__ = ["Draft"]


@dataclass(eq=False)
class Draft:
    """See the module's text.

    Attributes
    ----------
    questions : Questions
        One entry per node; kind 0 is a leaf.
    total : (nodes, classes) float64 array
        The weight of every class.
    count : (nodes,) int64 array
        Cases, whole or in part.
    """

    questions: Questions
    total: np.ndarray
    count: np.ndarray
    _totals: list[np.ndarray] = field(default_factory=list)
    _counts: list[np.ndarray] = field(default_factory=list)
    _divided: list[tuple[np.ndarray, Questions, int]] = field(default_factory=list)
    _size: int = 0

    @classmethod
    def empty(cls, n_classes: int) -> Draft:
        """Return a draft without nodes, to be filled with `add` and `divide` and then finished."""
        return cls(_leaves(0), np.empty((0, n_classes)), np.empty(0, np.int64))

    def add(self, total: np.ndarray, count: np.ndarray) -> np.ndarray:
        """Append leaves; return their numbers."""
        self._totals.append(total)
        self._counts.append(count)
        first, self._size = self._size, self._size + len(total)
        return np.arange(first, self._size)

    def divide(self, ids: np.ndarray, questions: Questions, first: int) -> None:
        """Divide nodes by their questions; their children are numbered from ``first`` on."""
        self._divided.append((ids, questions, first))

    def finish(self) -> Draft:
        """Return the draft with all nodes in one array each."""
        n, maps, words = self._size, [], 0
        questions = _leaves(n)
        for ids, q, first in self._divided:
            for name in ("kind", "feature", "threshold", "n_children", "missing_child"):
                getattr(questions, name)[ids] = getattr(q, name)
            questions.first_child[ids] = q.first_child + first
            questions.map_start[ids] = np.where(q.map_start >= 0, q.map_start + words, -1)
            if np.any(q.map_start >= 0):
                maps.append(q.maps)
                words += len(q.maps)
        if maps:
            questions = questions._replace(maps=np.concatenate(maps))
        return Draft(questions, np.concatenate(self._totals), np.concatenate(self._counts))

    def __len__(self) -> int:
        return len(self.questions.kind)

    @property
    def weight(self) -> np.ndarray:
        return self.total.sum(axis=1)

    @property
    def errors(self) -> np.ndarray:
        """Weight that a leaf in the place of each node would get wrong."""
        return self.weight - self.total.max(axis=1)

    def levels(self) -> list[np.ndarray]:
        """Return the nodes that the root reaches, level by level."""
        return self.branch(0)

    def branch(self, root: int) -> list[np.ndarray]:
        """Return the nodes that a node reaches, level by level, itself first."""
        found = [np.array([root])]
        while len(level := self.children_of(found[-1])):
            found.append(level)
        return found

    def children_of(self, nodes: np.ndarray) -> np.ndarray:
        """Return the children of some nodes, in order."""
        nodes = nodes[self.questions.kind[nodes] != LEAF]
        sizes = self.questions.n_children[nodes]
        offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.repeat(self.questions.first_child[nodes], sizes) + offsets

    def reached(self) -> Draft:
        """Return the draft without the nodes that lie below a leaf by now, the others in their order."""
        keep = np.zeros(len(self), np.bool_)
        for level in self.levels():
            keep[level] = True
        if keep.all():
            return self
        number, q = np.cumsum(keep, dtype=np.int32) - np.int32(1), self.questions
        first = np.where(q.kind[keep] == LEAF, np.int32(-1), number[q.first_child[keep]])
        some = {name: getattr(q, name)[keep] for name in q._fields if name != "maps"}
        some["first_child"] = first
        return Draft(Questions(**some, maps=q.maps), self.total[keep], self.count[keep])

    def sum_children(self, nodes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return, for some inner nodes, the sum of ``values`` over their children."""
        sizes = self.questions.n_children[nodes]
        return np.add.reduceat(values[self.children_of(nodes)], np.cumsum(sizes) - sizes)

    def to_tree(self, schema: Schema, *, laplace: bool = False) -> Tree:
        """Return the tree that the root reaches.

        ``value`` holds class shares, with ``laplace`` after adding one case to every class; a leaf
        that no case reached has those of its parent.
        """
        # pruning leaves few of the nodes that were grown: the others would cost most of the memory
        return self.reached()._all_to_tree(schema, laplace)

    def _all_to_tree(self, schema: Schema, laplace: bool) -> Tree:
        """`to_tree` where the root reaches every node."""
        counts, weight = self.total.copy(), self.weight
        for level in self.levels():
            inner = level[self.questions.kind[level] != LEAF]
            children = self.children_of(inner)
            parent = np.repeat(inner, self.questions.n_children[inner])
            empty = weight[children] == 0.0
            counts[children[empty]] = counts[parent[empty]]
        counts += float(laplace)
        value = counts / np.maximum(counts.sum(axis=1), np.finfo(float).tiny)[:, None]
        leaf = self.questions.kind == LEAF
        a = self.questions
        bits = _entropy(self.total)
        gain, inner = np.zeros(len(self)), np.flatnonzero(~leaf)
        if len(inner):
            after = self.sum_children(inner, weight * bits)
            gain[inner] = np.maximum(weight[inner] * bits[inner] - after, 0.0) / weight[0]
        questions = to_leaves(
            leaf, feature=a.feature, threshold=a.threshold, first_child=a.first_child,
            n_children=a.n_children, missing_child=a.missing_child, bits_start=a.map_start,
        )  # fmt: skip
        tree = build_tree(
            schema, kind=a.kind, **questions, bits=a.maps, value=value[:, None, :], impurity=bits,
            gain=gain, weight=weight, count=self.count,
        )  # fmt: skip
        return number_levels(tree)


def _leaves(n: int) -> Questions:
    nothing = leaves(n)
    del nothing["gain"]
    return Questions(map_start=nothing.pop("bits_start"), maps=np.zeros(0, np.uint32), **nothing)


def _entropy(total: np.ndarray) -> np.ndarray:
    """Return the entropy of every row of weights in bits, 0 for an empty one."""
    share = total / np.maximum(total.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return -np.sum(share * log2(np.where(share > 0, share, 1.0)), axis=1) + 0.0
