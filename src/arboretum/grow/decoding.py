"""Grown trees of codes, and what they are as `Tree` objects of values: bins become thresholds, sets of bins
categories.

Many trees are decoded at once, in arrays that hold the nodes of all: each `Tree` has its part of them.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from arboretum.engine.dtypes import CATEGORIES, NODE, NUMBER, as_records, record_table
from arboretum.engine.second_order.decode import DecodedNodes, decode_nodes, decode_sets
from arboretum.structure.build import cut_trees
from arboretum.structure.tree import LEAF, SUBSET, THRESHOLD, Tree

if TYPE_CHECKING:
    from arboretum.data.schema import Schema
    from arboretum.grow.bins.bins import Bins
    from arboretum.grow.exact.levels import ExactTree

__all__ = ["GrownNodes", "Logged", "exact_trees_of", "grown_of", "trees_of", "whole_ranks"]


@dataclass(frozen=True, eq=False)
class GrownNodes:
    """A grown tree, as the engine left it; its nodes' children stand side by side."""

    nodes: np.ndarray  # NODE (engine/dtypes.py)
    members: np.ndarray  # (nodes, words) uint32, bins that go left

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def first_child(self) -> np.ndarray:
        """-1 at a leaf."""
        return self.nodes["first_child"]

    @property
    def is_inner(self) -> np.ndarray:
        return self.nodes["first_child"] >= 0

    @property
    def feature(self) -> np.ndarray:
        return np.where(self.is_inner, self.nodes["split"]["feature"], -1)

    @property
    def bin(self) -> np.ndarray:
        """The last one that goes left."""
        return np.where(self.is_inner, self.nodes["split"]["bin"], -1)

    @property
    def missing_left(self) -> np.ndarray:
        return self.is_inner & (self.nodes["split"]["missing_left"] > 0)

    @property
    def by_set(self) -> np.ndarray:
        """Whether a node splits on categories."""
        return self.is_inner & (self.nodes["split"]["kind"] == CATEGORIES)

    @property
    def gain(self) -> np.ndarray:
        return np.where(self.is_inner, self.nodes["split"]["gain"], 0.0)

    @property
    def cover(self) -> np.ndarray:
        """Σh."""
        return self.nodes["cover"]

    @property
    def count(self) -> np.ndarray:
        return self.nodes["rows"]

    @property
    def value(self) -> np.ndarray:
        """The prediction of a node."""
        return self.nodes["value"]

    @property
    def depth(self) -> np.ndarray:
        return self.nodes["depth"]

    def part(self, start: int, end: int) -> Self:
        """Return some nodes."""
        return type(self)(self.nodes[start:end], self.members[start:end])

    def with_value(self, value: np.ndarray) -> Self:
        """Return the tree with other predictions."""
        nodes = self.nodes.copy()
        nodes["value"] = value
        return type(self)(nodes, self.members)


class Logged(NamedTuple):
    """Trees that were grown together: the nodes of all, one tree after another."""

    nodes: GrownNodes
    sizes: list[int]  # how many nodes every tree has
    failed: bool  # a derivative was not good: the last round may not be whole

    def each(self) -> list[GrownNodes]:
        """Return the trees."""
        ends = list(accumulate(self.sizes))
        starts = map(operator.sub, ends, self.sizes)
        return [self.nodes.part(start, end) for start, end in zip(starts, ends, strict=True)]


# ---------------------------------------------------------------------- decoded
def trees_of(
    grown: GrownNodes, ends: np.ndarray, bins: Bins, schema: Schema, *, by_rows: bool = False
) -> list[Tree]:
    """Return trees, whose nodes follow each other up to ``ends``, in terms of the table's own values.

    ``by_rows``: missing values of columns that had none in training go to the child with more rows.
    """
    n = len(grown)
    decoded = DecodedNodes(
        kind=np.empty(n, np.uint8),
        feature=np.empty(n, np.int32),
        threshold=np.empty(n),
        first_child=np.empty(n, np.int32),
        n_children=np.empty(n, np.int32),
        missing_child=np.empty(n, np.int32),
        gain=np.empty(n),
    )
    decode_nodes(as_records(grown.nodes), bins.n_bins, bins.bounds, bins.bounds_start, decoded)
    nodes: dict[str, Any] = decoded._asdict()
    starts = np.append(0, ends)
    if by_rows:
        _send_missing_by_rows(nodes, grown.count, starts, schema)
    nodes["bits_start"], bits, bits_start = _sets(
        nodes["kind"], nodes["feature"], grown, starts, bins, schema
    )
    return _trees(nodes, grown, starts, bits, bits_start, schema)


def exact_trees_of(grown: ExactTree, ends: np.ndarray, schema: Schema) -> list[Tree]:
    """`trees_of` for trees that have thresholds and no sets."""
    inner, n = grown.is_inner, len(grown)
    nodes: dict[str, np.ndarray] = {
        "kind": np.where(inner, THRESHOLD, LEAF).astype(np.uint8),
        "feature": grown.feature.astype(np.int32),
        "threshold": grown.threshold.copy(),
        "first_child": grown.first_child.astype(np.int32),
        "n_children": np.where(inner, 2, 0).astype(np.int32),
        "missing_child": np.where(inner, ~grown.missing_left, -1).astype(np.int32),
        "gain": grown.gain,
        "bits_start": np.full(n, -1, np.int64),
    }
    starts = np.append(0, ends)
    return _trees(nodes, grown, starts, np.empty(0, np.uint32), np.zeros_like(starts), schema)


def _send_missing_by_rows(
    nodes: dict[str, np.ndarray], rows: np.ndarray, starts: np.ndarray, schema: Schema
) -> None:
    """Send missing values to the child with more rows, the right one of equals, where training had none."""
    complete = np.array([not column.has_missing for column in schema.columns])
    inner = np.flatnonzero(nodes["feature"] >= 0)
    inner = inner[complete[nodes["feature"][inner]]]
    tree = np.searchsorted(starts, inner, side="right") - 1
    left = starts[tree] + nodes["first_child"][inner]
    nodes["missing_child"][inner] = rows[left] <= rows[left + 1]


def _trees(
    nodes: dict[str, np.ndarray],
    grown: GrownNodes,
    starts: np.ndarray,
    bits: np.ndarray,
    bits_start: np.ndarray,
    schema: Schema,
) -> list[Tree]:
    """Return the trees, each with its part of the nodes and bits of all."""
    nodes["threshold"] = whole_ranks(nodes["threshold"], nodes["feature"], schema)
    nodes["value"] = grown.value.reshape(-1, 1, 1).copy()
    nodes["impurity"] = np.zeros(len(grown))
    nodes["weight"], nodes["count"] = grown.cover.copy(), grown.count.copy()
    return cut_trees(schema, starts[1:], bits=bits, bits_ends=bits_start[1:], **nodes)


def whole_ranks(threshold: np.ndarray, feature: np.ndarray, schema: Schema) -> np.ndarray:
    """Return cuts between the ranks of words as ranks: ``x <= 1`` instead of 1.5."""
    ranked = [f for f, one in enumerate(schema.columns) if one.kind == "ordinal" and one.categories]
    if not ranked:
        return threshold
    return np.where(np.isin(feature, ranked), np.floor(threshold), threshold)


# ---------------------------------------------------------------------- encoded again
def grown_of(tree: Tree, bins: Bins, schema: Schema) -> GrownNodes | None:
    """Return a tree in terms of codes, for walks; None if some cut does not lie between two bins.

    A tree that was grown on these bins has such cuts, one of an earlier model mostly has not. Where bundles
    have lost values, codes do not decide.
    """
    nodes, longest = record_table(len(tree), NODE), int(bins.n_bins.max(initial=1))
    nodes["first_child"] = np.where(tree.kind == LEAF, -1, tree.first_child)
    members = np.zeros((len(tree), (longest + 31) // 32), np.uint32)
    if bins.conflicts.any():
        return None
    for k in np.flatnonzero(tree.kind != LEAF).tolist():
        f, split, gap_left = int(tree.feature[k]), nodes["split"], tree.missing_child[k] == 0
        split["feature"][k], split["missing_left"][k] = f, gap_left
        if tree.kind[k] == THRESHOLD:
            split["kind"][k], split["bin"][k] = (
                NUMBER,
                (b := _bin_of(tree.threshold[k], bins, schema, f)),
            )
        elif tree.kind[k] == SUBSET and (found := _bins_of(tree, k, bins, schema)) is not None:
            split["kind"][k], b = CATEGORIES, 0
            np.bitwise_or.at(members[k], found >> 5, np.uint32(1) << (found & 31).astype(np.uint32))
        else:
            return None
        if b < 0:
            return None
    return GrownNodes(nodes, members)


def _bin_of(threshold: float, bins: Bins, schema: Schema, f: int) -> int:
    """Return the last bin on the left of a cut; -1: the cut goes through a bin."""
    bounds = bins.bounds_of(f)
    b = int(np.searchsorted(bounds, threshold))
    found = whole_ranks(bounds[b : b + 1], np.array([f]), schema)
    return b if len(found) and found[0] == threshold else -1


def _bins_of(tree: Tree, k: int, bins: Bins, schema: Schema) -> np.ndarray | None:
    """Return the bins of the categories that go left; None if rows without a bin would go another way."""
    f, kept = int(tree.feature[k]), bins.categories_of(int(tree.feature[k])).astype(np.int64)
    n = len(schema.columns[f].categories or ())
    each = np.arange(n)
    bits = tree.bits[tree.bits_start[k] + (each >> 5)] >> (each & 31).astype(np.uint32)
    left = (bits & 1).astype(bool)
    lost = np.setdiff1d(each, kept)
    if (left[lost] != (tree.missing_child[k] == 0)).any():
        return None
    return np.flatnonzero(left[kept])


def _sets(
    kind: np.ndarray,
    feature: np.ndarray,
    grown: GrownNodes,
    starts: np.ndarray,
    bins: Bins,
    schema: Schema,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where nodes' sets begin in their tree's, the sets of all trees, and where a tree's begin."""
    bits_start = np.full(len(kind), -1, np.int64)
    sets = np.flatnonzero(kind == SUBSET) if bins.is_category.any() else np.empty(0, np.int64)
    if not len(sets):
        return bits_start, np.empty(0, np.uint32), np.zeros(len(starts), np.int64)
    words = np.array([-(-len(one.categories or ()) // 32) for one in schema.columns], np.int64)
    place = np.append(0, np.cumsum(words[feature[sets]]))
    bits = np.zeros(place[-1], np.uint32)
    decode_sets(
        sets,
        place,
        feature,
        grown.members,
        bins.n_bins,
        bins.category_of,
        bins.category_start,
        bits,
    )
    before = place[np.searchsorted(sets, starts)]
    tree = np.searchsorted(starts, sets, side="right") - 1
    bits_start[sets] = place[:-1] - before[tree]
    return bits_start, bits, before
