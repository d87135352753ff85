"""A fitted tree as flat arrays: one entry per node, for binary and multiway trees.

The root is node 0. The children of a node come after it, next to each other, so one number (`first_child`)
finds them all. Single trees are numbered level by level; those of forests and boosters in the order in which
which their nodes were split:

    node            0           1      2           3      4
    kind            THRESHOLD   LEAF   SUBSET      LEAF   LEAF
    feature         2           -1     0           -1     -1
    threshold       2.45        nan    nan         nan    nan        x <= 2.45 -> child 0
    first_child     1           -1     3           -1     -1
    n_children      2           0      2           0      0
    missing_child   1           -1     0           -1     -1         where a missing value goes

A tree holds thresholds and categories, never training codes or rows: all that prediction, pruning, export,
plots and files need.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.engine.kinds import GROUPS, LEAF, MULTIWAY, SUBSET, THRESHOLD
from arboretum.html import html_table
from arboretum.lazy import cached_property
from arboretum.structure.condition import Condition, format_category

if TYPE_CHECKING:
    from arboretum.data.schema import Column, Schema

__all__ = ["GROUPS", "LEAF", "MULTIWAY", "SUBSET", "THRESHOLD", "Node", "Surrogates", "Tree"]

_SHOWN = 25  # nodes of a tree in a notebook


@dataclass(frozen=True, eq=False)
class Surrogates:
    """Substitute splits for rows that lack the value a node tests, best first.

    The surrogates of node ``i`` are the entries ``start[i]:start[i + 1]``. A surrogate with
    ``reverse`` set sends its own "yes" to child 1.
    """

    start: np.ndarray  # int64, one more than there are nodes
    kind: np.ndarray  # uint8, THRESHOLD or SUBSET
    feature: np.ndarray  # int32
    threshold: np.ndarray  # float64
    reverse: np.ndarray  # uint8
    bits_start: np.ndarray  # int64, into Tree.bits
    agreement: np.ndarray  # float64, share of the known weight that goes the same way

    def __len__(self) -> int:
        return len(self.feature)


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree; the docstring of the module has a picture.

    Attributes
    ----------
    kind : uint8 array
        LEAF, THRESHOLD (``x <= threshold`` goes to child 0), SUBSET (a category whose bit is set
        goes to child 0), MULTIWAY (category code ``c`` goes to child ``c``; missing values may have a
        last child of their own) or GROUPS (category code ``c`` goes to child ``bits[start + c]``).
    feature, first_child : int32 arrays
        -1 at a leaf.
    missing_child : int32 array
        The child a missing value goes to; -1 at a leaf, and where it goes to all children, to each
        by its share of the weight (C4.5's fractional cases).
    n_children : int32 array
        0 at a leaf.
    threshold : float64 array
        NaN where the node tests no number; +inf tests "is a value present?".
    bits_start : int64 array
        Where the node's category set or map begins in ``bits``; -1 for none.
    bits : uint32 array
        Category sets, one bit per category of the column, lowest bit first; category maps (GROUPS),
        one word per category, the child it goes to.
    value : float64 array of shape (n_nodes, n_outputs, n_values)
        Class probabilities, or the predicted number.
    impurity, gain, weight : float64 arrays
        Impurity of the node, weighted impurity decrease of its split (a share of the root's
        weight), and the sum of sample weights.
    count : int64 array
        Training rows in the node.
    schema : Schema
        Names, kinds and categories of the columns.
    surrogates : Surrogates or None
    """

    kind: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    first_child: np.ndarray
    n_children: np.ndarray
    missing_child: np.ndarray
    bits_start: np.ndarray
    bits: np.ndarray
    value: np.ndarray
    impurity: np.ndarray
    gain: np.ndarray
    weight: np.ndarray
    count: np.ndarray
    schema: Schema = field(repr=False)
    surrogates: Surrogates | None = field(default=None, repr=False)

    def __getattr__(self, name: str) -> np.ndarray:
        """Cut out an array of a tree that was made together with others (joined.py), once."""
        together = self.__dict__.get("_together")
        if together is None or name not in together.arrays:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        number = self.__dict__["_number"]
        array = self.__dict__[name] = together.cut(name, number, number + 1)
        return array

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields for pickle, without anything computed from them."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    # ------------------------------------------------------------------ shape
    @property
    def node_count(self) -> int:
        return len(self)

    def __len__(self) -> int:
        together = self.__dict__.get("_together")
        if together is None:
            return len(self.kind)
        number = self.__dict__["_number"]
        return together.start[number + 1] - together.start[number]

    @cached_property
    def is_leaf(self) -> np.ndarray:
        return self.kind == LEAF

    @cached_property
    def leaves(self) -> np.ndarray:
        """Indices of the leaves."""
        return np.flatnonzero(self.is_leaf)

    @property
    def n_leaves(self) -> int:
        return len(self.leaves)

    @cached_property
    def parent(self) -> np.ndarray:
        """Parent of every node; -1 for the root."""
        parent = np.full(len(self), -1, dtype=np.int32)
        inner = np.flatnonzero(~self.is_leaf)
        sizes = self.n_children[inner]
        ends = np.cumsum(sizes)
        offsets = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
        parent[np.repeat(self.first_child[inner], sizes) + offsets] = np.repeat(inner, sizes)
        return parent

    @cached_property
    def depth(self) -> np.ndarray:
        """Depth of every node; the root has 0."""
        depth = np.zeros(len(self), dtype=np.int32)
        level = np.array([0])
        while len(level):
            level = level[~self.is_leaf[level]]
            sizes = self.n_children[level]
            ends = np.cumsum(sizes)
            offsets = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
            children = np.repeat(self.first_child[level], sizes) + offsets
            depth[children] = np.repeat(depth[level], sizes) + 1
            level = children
        return depth

    @property
    def max_depth(self) -> int:
        return int(self.depth.max())

    @property
    def n_features(self) -> int:
        return len(self.schema.columns)

    @property
    def n_outputs(self) -> int:
        return self.value.shape[1]

    # ------------------------------------------------------------------ scikit-learn's names
    @property
    def children_left(self) -> np.ndarray:
        return self.first_child

    @cached_property
    def children_right(self) -> np.ndarray:
        return np.where(self.is_leaf, -1, self.first_child + 1).astype(np.int32)

    @property
    def n_node_samples(self) -> np.ndarray:
        return self.count

    @property
    def weighted_n_node_samples(self) -> np.ndarray:
        return self.weight

    # ------------------------------------------------------------------ reading
    def column(self, feature: int) -> Column:
        return self.schema.columns[feature]

    def categories_of(self, bits_start: int, feature: int) -> tuple[list[Any], list[Any]]:
        """Return the categories whose bit is set, and the others."""
        inside: list[Any] = []
        outside: list[Any] = []
        for code, category in enumerate(self.column(feature).categories or ()):
            word = int(self.bits[bits_start + (code >> 5)])
            (inside if (word >> (code & 31)) & 1 else outside).append(category)
        return inside, outside

    def split_of(self, node: int) -> tuple[Any, ...]:
        """Return what a node splits by, a threshold or a set; equal for nodes that split rows alike."""
        f, start = int(self.feature[node]), int(self.bits_start[node])
        where = int(self.kind[node]), f, int(self.missing_child[node])
        if self.kind[node] == THRESHOLD:
            return *where, float(self.threshold[node])
        words = len(self.column(f).categories or ()) + 31 >> 5
        return *where, self.bits[start : start + words].tobytes()

    def group_of(self, start: int, feature: int, child: int) -> list[Any]:
        """Return the categories that go to one child of a node that groups them."""
        words = self.column(feature).categories or ()
        goes = self.bits[start : start + len(words)]
        return [word for word, at in zip(words, goes, strict=True) if at == child]

    @cached_property
    def spreads(self) -> bool:
        """Whether a row that misses a value may go down several branches."""
        return bool(np.any(~self.is_leaf & (self.missing_child < 0)))

    @cached_property
    def share(self) -> np.ndarray:
        """Share of the siblings' weight that each node has; missing values are spread by it."""
        share = np.ones(len(self))
        inner = np.flatnonzero(~self.is_leaf)
        if len(inner):
            sizes = self.n_children[inner]
            starts = np.cumsum(sizes) - sizes
            children = np.repeat(self.first_child[inner] - starts, sizes) + np.arange(sizes.sum())
            whole = np.add.reduceat(self.weight[children], starts)
            share[children] = self.weight[children] / np.repeat(
                np.where(whole > 0, whole, 1), sizes
            )
        return share

    def condition(self, node: int, child: int) -> Condition:
        """Return the condition under which a row goes to the ``child``-th child (0-based) of ``node``."""
        feature = int(self.feature[node])
        column = self.column(feature)
        missing_child = int(self.missing_child[node])
        missing = column.has_missing and missing_child == child
        kind, words = int(self.kind[node]), column.categories or ()
        if kind == MULTIWAY:
            if child == len(words):
                return Condition(feature, column.name, "is", ("missing",), False, column.kind)
            return Condition(feature, column.name, "=", (words[child],), missing, column.kind)
        if kind == GROUPS:
            inside = self.group_of(int(self.bits_start[node]), feature, child)
            return Condition(feature, column.name, "in", tuple(inside), missing, column.kind)
        sides: tuple[list[Any], list[Any]] | None = None
        if kind == SUBSET:
            sides = self.categories_of(int(self.bits_start[node]), feature)
        threshold = float(self.threshold[node])
        if threshold == np.inf or (sides is not None and not sides[missing_child]):
            answer = "missing" if missing_child == child else "present"
            return Condition(feature, column.name, "is", (answer,), False, column.kind)
        if sides is not None:
            return Condition(feature, column.name, "in", tuple(sides[child]), missing, column.kind)
        shown: object = threshold
        if words:  # an ordinal column of words: show the word, not its rank
            shown = format_category(words[int(threshold)])
        operator = ">" if child else "<="
        return Condition(feature, column.name, operator, (shown,), missing, column.value_kind)

    def __getitem__(self, node: int) -> Node:
        if not -len(self) <= node < len(self):
            raise IndexError(f"node {node} of a tree with {len(self)} nodes")
        return Node(self, node % len(self))

    def __iter__(self) -> Iterator[Node]:
        """Visit every node, parents before children, left before right."""
        stack = [0]
        while stack:
            node = self[stack.pop()]
            yield node
            stack.extend(child.id for child in reversed(node.children))

    def _repr_html_(self) -> str:
        rows = []
        for node in islice(self, _SHOWN + 1):
            above = int(self.parent[node.id])
            shown = "all rows"
            if node.id:
                shown = self.condition(above, node.id - int(self.first_child[above])).pretty()
            value = ", ".join(f"{v:.4g}" for v in self.value[node.id].ravel()[:6])
            rows.append(
                ("  " * node.depth + shown, f"{node.count:,}", f"{node.impurity:.4g}", value)
            )
        title = f"a tree of {self.n_leaves:,} leaves, depth {self.max_depth}"
        if self.node_count > _SHOWN:
            title += f": the first of {self.node_count:,} nodes"
        header = ("node", "rows", "impurity", "value")
        return html_table(title, header, rows[:_SHOWN])

    def path_to(self, node: int) -> list[Condition]:
        """Return the conditions from the root down to ``node``."""
        path = []
        while node:
            above = int(self.parent[node])
            path.append(self.condition(above, node - int(self.first_child[above])))
            node = above
        return path[::-1]

    def feature_importances(self, normalize: bool = True) -> np.ndarray:
        """Return the total impurity decrease of each column's splits (mean decrease in impurity)."""
        inner = ~self.is_leaf
        total = np.bincount(
            self.feature[inner], weights=self.gain[inner], minlength=self.n_features
        ).astype(np.float64)
        if normalize and total.sum() > 0:
            total /= total.sum()
        return total


@dataclass(frozen=True)
class Node:
    """A readable view of one node.

    Examples
    --------
    >>> from arboretum import CARTClassifier
    >>> from sklearn.datasets import load_iris
    >>> model = CARTClassifier(max_depth=1).fit(*load_iris(return_X_y=True))
    >>> root = model.tree_[0]
    >>> root.condition(0).pretty()
    'x2 <= 2.45'
    >>> [child.count for child in root.children]
    [50, 100]
    """

    tree: Tree = field(repr=False)
    id: int

    @property
    def is_leaf(self) -> bool:
        return bool(self.tree.is_leaf[self.id])

    @property
    def depth(self) -> int:
        return int(self.tree.depth[self.id])

    @property
    def feature(self) -> int:
        return int(self.tree.feature[self.id])

    @property
    def name(self) -> str:
        """Name of the column the node splits on; empty at a leaf."""
        return "" if self.is_leaf else self.tree.column(self.feature).name

    @property
    def threshold(self) -> float:
        return float(self.tree.threshold[self.id])

    @property
    def count(self) -> int:
        return int(self.tree.count[self.id])

    @property
    def weight(self) -> float:
        return float(self.tree.weight[self.id])

    @property
    def impurity(self) -> float:
        return float(self.tree.impurity[self.id])

    @property
    def gain(self) -> float:
        return float(self.tree.gain[self.id])

    @property
    def value(self) -> np.ndarray:
        return self.tree.value[self.id]

    @property
    def children(self) -> list[Node]:
        first = int(self.tree.first_child[self.id])
        return [Node(self.tree, first + k) for k in range(int(self.tree.n_children[self.id]))]

    @property
    def parent(self) -> Node | None:
        above = int(self.tree.parent[self.id])
        return None if above < 0 else Node(self.tree, above)

    @property
    def path(self) -> list[Condition]:
        """The conditions from the root down to this node."""
        return self.tree.path_to(self.id)

    def condition(self, child: int) -> Condition:
        """Return the condition under which a row goes to the ``child``-th child."""
        return self.tree.condition(self.id, child)

    def pretty(self, digits: int = 6) -> str:
        """Return the node in one line."""
        if self.is_leaf:
            return f"leaf: {self.count} rows, impurity {self.impurity:.{digits}g}"
        several = self.tree.kind[self.id] in (MULTIWAY, GROUPS)  # one condition is not enough
        question = self.name if several else self.condition(0).pretty(digits)
        return f"{question}? {self.count} rows, gain {self.gain:.{digits}g}"
