"""The nodes of a tree while it grows: arrays that get longer, and what search needs of each node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.schema import Schema
from arboretum.tree.tree import LEAF, Tree

if TYPE_CHECKING:
    from arboretum.tree.division import Split

__all__ = ["NodeTable"]

_FIELDS: dict[str, tuple[Any, tuple[int, ...], Any]] = {  # name -> dtype, shape of one, filling
    "start": (np.int64, (), 0),
    "end": (np.int64, (), 0),
    "depth": (np.int64, (), 0),
    "key": (np.uint64, (), 0),
    "bounds": (np.float64, (2,), 0.0),
    "weight": (np.float64, (), 0.0),
    "impurity": (np.float64, (), 0.0),
    "gain": (np.float64, (), 0.0),
    "kind": (np.uint8, (), LEAF),
    "feature": (np.int32, (), -1),
    "threshold": (np.float64, (), np.nan),
    "first_child": (np.int32, (), -1),
    "missing_child": (np.int32, (), -1),
    "bits_start": (np.int64, (), -1),
}


class NodeTable:
    """Growing columns of node attributes; read them as attributes (``nodes.weight[ids]``)."""

    def __init__(self, outputs: int, n_values: int) -> None:
        self._fields = {**_FIELDS, "value": (np.float64, (outputs, n_values), 0.0)}
        self._arrays = {
            name: np.full((64, *shape), filling, dtype)
            for name, (dtype, shape, filling) in self._fields.items()
        }
        self.size = 0
        self.bits: list[np.ndarray] = []
        self._n_words = 0
        self._surrogates: list[tuple[np.ndarray, Any]] = []

    def __getattr__(self, name: str) -> np.ndarray:
        try:
            return self.__dict__["_arrays"][name]
        except KeyError:
            raise AttributeError(name) from None

    def add(self, **columns: np.ndarray) -> np.ndarray:
        """Append nodes; return their numbers."""
        first, self.size = self.size, self.size + len(columns["start"])
        if self.size > len(self._arrays["start"]):
            self._lengthen(max(self.size, 2 * len(self._arrays["start"])))
        for name, values in columns.items():
            self._arrays[name][first : self.size] = values
        return np.arange(first, self.size)

    def _lengthen(self, capacity: int) -> None:
        for name, (dtype, shape, filling) in self._fields.items():
            longer = np.full((capacity, *shape), filling, dtype)
            longer[: len(self._arrays[name])] = self._arrays[name]
            self._arrays[name] = longer

    def divide(self, ids: np.ndarray, first: np.ndarray, split: Split, gain: np.ndarray) -> None:
        """Turn leaves into inner nodes whose children start at ``first``."""
        a = self._arrays
        a["kind"][ids], a["feature"][ids] = split.kind, split.feature
        a["threshold"][ids], a["missing_child"][ids] = split.threshold, split.missing_child
        a["first_child"][ids], a["gain"][ids] = first, gain
        if split.surrogates is not None:
            self._surrogates.append((ids, split.surrogates.shifted(self._n_words)))
        if len(split.bits):
            a["bits_start"][ids] = np.where(
                split.bits_start >= 0, split.bits_start + self._n_words, -1
            )
            self.bits.append(split.bits)
            self._n_words += len(split.bits)

    def keep_only(self, divided: set[int]) -> None:
        """Make every node that is not in ``divided`` a leaf."""
        others = np.setdiff1d(np.arange(self.size), np.fromiter(divided, np.int64, len(divided)))
        self._arrays["kind"][others] = LEAF

    def to_tree(self, schema: Schema) -> Tree:
        """Return the nodes as a tree, in the order they were made."""
        n = self.size
        a = {name: array[:n] for name, array in self._arrays.items()}
        leaf = a["kind"] == LEAF
        return Tree(
            kind=a["kind"],
            feature=np.where(leaf, -1, a["feature"]).astype(np.int32),
            threshold=np.where(leaf, np.nan, a["threshold"]),
            first_child=np.where(leaf, -1, a["first_child"]).astype(np.int32),
            n_children=np.where(leaf, 0, 2).astype(np.int32),
            missing_child=np.where(leaf, -1, a["missing_child"]).astype(np.int32),
            bits_start=np.where(leaf, -1, a["bits_start"]),
            bits=np.concatenate(self.bits) if self.bits else np.zeros(0, np.uint32),
            value=a["value"],
            impurity=a["impurity"],
            gain=np.where(leaf, 0.0, a["gain"]),
            weight=a["weight"],
            count=a["end"] - a["start"],
            schema=schema,
            surrogates=self._join_surrogates(leaf) if self._surrogates else None,
        )

    def _join_surrogates(self, leaf: np.ndarray) -> Any:
        from arboretum.tree.surrogates import join

        return join(self.size, self._surrogates)
