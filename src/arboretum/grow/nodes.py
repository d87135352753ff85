"""The nodes of a tree while it grows: arrays that get longer, and what search needs of each node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.schema import Schema
from arboretum.grow.surrogates import join
from arboretum.structure.build import build_tree
from arboretum.structure.tree import LEAF, SUBSET, Tree

if TYPE_CHECKING:
    from arboretum.grow.apply_split import Split
    from arboretum.grow.grower import GrowTarget

__all__ = ["NodeTable"]

_FIELDS: dict[str, tuple[Any, tuple[int, ...], Any]] = {  # name -> dtype, shape of one, filling
    "start": (np.int32, (), 0),  # positions are below 2^30
    "end": (np.int32, (), 0),
    "depth": (np.int32, (), 0),
    "key": (np.uint64, (), 0),
    "bounds": (np.float64, (2,), 0.0),
    "weight": (np.float64, (), 0.0),
    "impurity": (np.float64, (), 0.0),
    "gain": (np.float64, (), 0.0),
    "kind": (np.uint8, (), LEAF),
    "feature": (np.int32, (), -1),
    "threshold": (np.float64, (), np.nan),
    "first_child": (np.int32, (), -1),
    "missing_child": (np.int8, (), -1),
    "bits_start": (np.int64, (), -1),
}
_FIRST_ROOM = 1 << 22
# allocated, but not written until a node needs them: an unwritten page takes no memory
_RARE = ("depth", "key", "bounds", "bits_start")


class NodeTable:
    """Growing columns of node attributes; read them as attributes (``nodes.weight[ids]``)."""

    def __init__(self, target: GrowTarget, most: int) -> None:
        """``most``: as many nodes as there can be. Room that is not written to takes no memory."""
        room, outputs = min(most, _FIRST_ROOM), target.outputs
        n_values = 1 if target.classes is None else int(target.classes.max())
        self._fields = {**_FIELDS, "value": (np.float64, (outputs, n_values), 0.0)}
        self._arrays = {
            name: np.empty((room, *shape), dtype)
            for name, (dtype, shape, _) in self._fields.items()
        }
        self.size = 0
        self._bits: list[np.ndarray] = []
        self._n_words = 0
        self._surrogates: list[tuple[np.ndarray, Any]] = []

    def __getattr__(self, name: str) -> np.ndarray:
        try:
            return self.__dict__["_arrays"][name]
        except KeyError:
            raise AttributeError(name) from None

    def add(self, **columns: Any) -> np.ndarray:
        """Append nodes; return their numbers. Fields that are not given get their filling."""
        first, self.size = self.size, self.size + len(columns["start"])
        if self.size > len(self._arrays["start"]):
            self._lengthen(max(self.size, 2 * len(self._arrays["start"])), first)
        for name, (_, _, filling) in self._fields.items():
            if name in columns:
                self._arrays[name][first : self.size] = columns[name]
            elif name not in _RARE:
                self._arrays[name][first : self.size] = filling
        return np.arange(first, self.size)

    def _lengthen(self, capacity: int, used: int) -> None:
        for name, (dtype, shape, _) in self._fields.items():
            longer = np.empty((capacity, *shape), dtype)
            longer[:used] = self._arrays[name][:used]
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
            self._bits.append(split.bits)
            self._n_words += len(split.bits)

    def keep_only(self, divided: set[int]) -> None:
        """Make every node that is not in ``divided`` a leaf."""
        others = np.setdiff1d(np.arange(self.size), np.fromiter(divided, np.int64, len(divided)))
        for name in ("kind", "feature", "threshold", "first_child", "missing_child", "gain"):
            self._arrays[name][others] = self._fields[name][2]

    def to_tree(self, schema: Schema) -> Tree:
        """Return the nodes as a tree, in the order they were made. The table is used up."""
        arrays, self._arrays = self._arrays, {}

        def finish(name: str) -> np.ndarray:
            array = arrays.pop(name)
            array.resize(
                (self.size, *array.shape[1:]), refcheck=False
            )  # in place: nothing is copied
            return array

        for name in ("depth", "key", "bounds"):
            del arrays[name]
        count = finish("end").astype(np.int64) - finish("start")
        kind = finish("kind")
        return build_tree(
            schema,
            kind=kind,
            feature=finish("feature"),
            threshold=finish("threshold"),
            first_child=finish("first_child"),
            missing_child=finish("missing_child"),
            bits_start=self._finish_bits_start(arrays.pop("bits_start"), kind),
            bits=np.concatenate(self._bits) if self._bits else np.zeros(0, np.uint32),
            value=finish("value"),
            impurity=finish("impurity"),
            gain=finish("gain"),
            weight=finish("weight"),
            count=count,
            surrogates=join(self.size, self._surrogates) if self._surrogates else None,
        )

    def _finish_bits_start(self, written: np.ndarray, kind: np.ndarray) -> np.ndarray:
        start = np.full(self.size, -1)
        subset = np.flatnonzero(kind == SUBSET)
        start[subset] = written[subset]
        return start
