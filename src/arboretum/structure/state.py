"""Trees as plain arrays for a file, and back.

The nodes of all trees of a model lie one tree behind the other, in one array per field. Fields of splits
are written for splits only:

    n_nodes       3          5                     of every tree
    kind          1  0  0  | 1  0  1  0  0         0: a leaf
    feature       2          0     3               one per split, as are threshold, children and gain
    value         …  …  …    …  …  …  …  …         one per node, as are impurity, count and weight

Integers take as few bytes as possible. Arrays without information are None: ``n_children`` where all splits
have two, ``bits_start`` where no node has a set of categories, ``weight`` where it is the count.

Arrays from a file are checked to be trees before anything walks them (sound.py). Files of format 1 have a
dictionary of arrays for every tree, as `Tree` has them; they can be read too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.engine import parallel
from arboretum.errors import ModelFileError
from arboretum.io.container import InParts
from arboretum.structure.build import cut_trees
from arboretum.structure.joined import pieces, sizes_of
from arboretum.structure.sound import (
    NODE_ARRAYS,
    SURROGATE_ARRAYS,
    NodeArrays,
    check_nodes,
    read_trees,
    validate_trees,
)
from arboretum.structure.tree import LEAF, Surrogates, Tree

if TYPE_CHECKING:
    from arboretum.data.schema import Schema

__all__ = ["tree_from_state", "tree_to_state", "trees_from_state", "trees_to_state"]

_AT_LEAF = {"feature": -1, "threshold": np.nan, "first_child": -1, "missing_child": -1}
_AT_LEAF |= {"n_children": 0, "bits_start": -1, "gain": 0.0}
_MANY = 1 << 16  # nodes that are worth a second thread
_STATE = {"n_nodes", "n_bits", "bits", "surrogates", *NODE_ARRAYS}
_WHOLE = [
    (np.dtype(name), int(np.iinfo(name).min), int(np.iinfo(name).max))
    for name in ("u1", "i1", "u2", "i2", "u4", "i4", "i8")
]


# ---------------------------------------------------------------------- to a file
def tree_to_state(tree: Tree) -> dict[str, Any]:
    """Return a tree as a dictionary of arrays (its schema is saved once, beside it).

    Raises
    ------
    ModelFileError
        If the tree is not sound, and so could not be loaded again.

    Examples
    --------
    >>> from arboretum import CARTClassifier
    >>> from sklearn.datasets import load_iris
    >>> model = CARTClassifier(max_depth=1).fit(*load_iris(return_X_y=True))
    >>> state = tree_to_state(model.trees_[0])
    >>> state["kind"], state["first_child"], state["count"]
    (array([1, 0, 0], dtype=uint8), array([1], dtype=uint8), array([150,  50, 100], dtype=uint8))
    >>> tree_from_state(state, model.schema_).node_count
    3
    """
    return trees_to_state([tree])


def trees_to_state(trees: Sequence[Tree]) -> dict[str, Any]:
    """Return trees over the same columns as one dictionary of arrays; see `tree_to_state`."""
    if not trees:
        raise ModelFileError("there are no trees to keep")
    found = read_trees(trees, _without_leaves)
    parts = {name: [part[name] for part in found] for name in found[0]}
    if any(gain is None for gain in parts["gain"]):  # leaves have some, too
        parts["gain"] = [tree.gain for tree in trees]
    if all(weight is None for weight in parts["weight"]):
        del parts["weight"]
    elif any(weight is None for weight in parts["weight"]):
        parts["weight"] = [tree.weight for tree in trees]
    state: dict[str, Any] = {name: _one_array(each) for name, each in parts.items()}
    if all(np.all(each == 2) for each in parts["n_children"]):
        state["n_children"] = None
    if not any(len(each) for each in parts["bits"]):
        state |= dict.fromkeys(("bits_start", "bits"))
    n_bits = [] if state["bits"] is None else [len(tree.bits) for tree in trees]
    return {
        "weight": None,
        **state,
        "n_nodes": _narrow(np.array(sizes_of(pieces(trees)))),
        "n_bits": None if state["bits"] is None else _narrow(np.array(n_bits)),
        "surrogates": _surrogates_to_state([tree.surrogates for tree in trees]),
    }


def _without_leaves(nodes: NodeArrays) -> dict[str, Any]:
    """Return the arrays of some trees: split fields for splits only, None for arrays without information."""
    splits = np.flatnonzero(nodes.kind != LEAF)
    found = {
        name: _narrow(array[splits] if name in _AT_LEAF else array)
        for name in NODE_ARRAYS
        for array in [getattr(nodes, name)]
    }
    weighs_more = not np.array_equal(nodes.weight, nodes.count)
    gains_more = np.count_nonzero(nodes.gain) > np.count_nonzero(found["gain"])
    return {
        **found,
        "weight": nodes.weight if weighs_more else None,
        "gain": None if gains_more else found["gain"],
        "bits": nodes.bits,
    }


def _one_array(parts: list[np.ndarray]) -> np.ndarray | InParts:
    """Return narrow parts as one array of a file, in the smallest type that holds all of them."""
    if len(parts) == 1:
        return parts[0]
    if parts[0].dtype.kind != "f" and parts[0].dtype != np.uint32:
        dtype = _smallest(
            min(p.min(initial=0) for p in parts), max(p.max(initial=0) for p in parts)
        )
        parts = [part.astype(dtype, copy=False) for part in parts]
    return InParts(parts)


def _narrow(array: np.ndarray) -> np.ndarray:
    """Return whole numbers in the smallest type that holds them all; other numbers as they are."""
    if array.dtype.kind == "f":
        return array
    return array.astype(_smallest(array.min(initial=0), array.max(initial=0)), copy=False)


def _smallest(low: int, high: int) -> np.dtype:
    return next(t for t, least, most in _WHOLE if least <= low and high <= most)


def _surrogates_to_state(surrogates: list[Surrogates | None]) -> list[Any] | None:
    """Return the surrogates of every tree; None if no tree has any."""
    if all(own is None for own in surrogates):
        return None
    return [
        None if own is None else {name: getattr(own, name) for name in SURROGATE_ARRAYS}
        for own in surrogates
    ]


# ---------------------------------------------------------------------- from a file
def tree_from_state(state: Any, schema: Schema) -> Tree:
    """Return the tree that `tree_to_state` described, after checking every part of it.

    Raises
    ------
    ModelFileError
        If the arrays are not a sound tree over the columns of the schema.
    """
    if isinstance(state, dict) and "n_nodes" not in state:
        return trees_from_state([state], schema)[0]
    trees = trees_from_state(state, schema)
    if len(trees) != 1:
        raise ModelFileError(f"there must be one tree, but there are {len(trees)}")
    return trees[0]


def trees_from_state(state: Any, schema: Schema) -> list[Tree]:
    """Return the trees that `trees_to_state` described, after checking every part of them.

    Raises
    ------
    ModelFileError
        If the arrays are not sound trees over the columns of the schema, at least one.
    """
    if isinstance(state, list) and state:
        trees = [_tree_of_format_1(tree, schema) for tree in state]
        validate_trees(trees)
        return trees
    _check_names(state, _STATE, "the trees")
    nodes = {name: _at_nodes(state, name) for name in ("kind", "value", "impurity", "count")}
    if state["weight"] is not None:
        nodes["weight"] = _at_nodes(state, "weight")
    n_nodes = len(nodes["kind"])
    start = _starts(state, "n_nodes", n_nodes, 1)
    for name, array in nodes.items():  # before larger arrays are made from these
        if len(array) != n_nodes or not array.size:
            raise ModelFileError(f"{name!r} of the trees does not fit their {n_nodes} nodes")
    splits = np.flatnonzero(nodes["kind"] != LEAF)

    def spread(name: str) -> None:
        if name in _AT_LEAF:
            nodes[name] = _at_splits(state, name, splits, n_nodes)
        elif state[name] is None:
            nodes[name] = nodes["count"].astype(np.float64)

    parallel.run(
        spread, [*_AT_LEAF, "weight"], parallel.effective_jobs(None) if n_nodes > _MANY else 1
    )
    bits, bits_from = np.zeros(0, np.uint32), np.zeros(len(start), np.int64)
    if state["bits"] is not None:
        bits = np.atleast_1d(_array(state, "bits", "uint32"))
        bits_from = _starts(state, "n_bits", len(bits), 0)
        if bits.ndim != 1 or len(bits_from) != len(start):
            raise ModelFileError("'n_bits' or 'bits' of the trees does not fit their number")
    surrogates = _surrogates_from_state(state["surrogates"], len(start) - 1)
    check_nodes(
        NodeArrays(
            **nodes,
            start=start,
            bits=bits,
            bits_from=bits_from,
            schema=schema,
            surrogates=surrogates,
        )
    )
    if state["bits_start"] is None:
        del nodes["bits_start"]
    trees = cut_trees(schema, start[1:], bits=bits, bits_ends=bits_from[1:], **nodes)
    if surrogates:
        return [replace(t, surrogates=own) for t, own in zip(trees, surrogates, strict=True)]
    return trees


def _at_nodes(state: dict[str, Any], name: str) -> np.ndarray:
    dtype, axes = NODE_ARRAYS[name]
    array = _array(state, name, dtype)
    if array.ndim != axes:
        raise ModelFileError(f"{name!r} of the trees is not a {axes}-dimensional array")
    return array


def _array(state: dict[str, Any], name: str, dtype: str) -> np.ndarray:
    """Return an array of the file in the type that trees have."""
    array = state[name]
    if isinstance(array, InParts):
        array = np.concatenate(array.parts)
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf":
        raise ModelFileError(f"{name!r} of the trees is not an array of numbers")
    if array.dtype == dtype:
        return array
    if "f" in (array.dtype.kind, np.dtype(dtype).kind) or (
        int(array.max(initial=0)) > np.iinfo(dtype).max
    ):
        raise ModelFileError(f"{name!r} of the trees holds numbers that are not {dtype}")
    return array.astype(dtype)


def _at_splits(state: dict[str, Any], name: str, splits: np.ndarray, n_nodes: int) -> np.ndarray:
    """Return a field of splits spread over all nodes, with the filler at leaves."""
    dtype = NODE_ARRAYS[name][0]
    found = np.full(n_nodes, _AT_LEAF[name], dtype)
    if state[name] is None and name == "n_children":
        found[splits] = 2
        return found
    if state[name] is None and name == "bits_start":
        return found
    array = _array(state, name, dtype)
    if name == "gain" and array.shape == (n_nodes,):
        return array
    if array.shape != splits.shape:
        raise ModelFileError(f"{name!r} of the trees does not fit their {len(splits)} splits")
    found[splits] = array
    return found


def _starts(state: dict[str, Any], name: str, total: int, least: int) -> np.ndarray:
    """Return the start of every tree's part, and the end, from the sizes of the parts."""
    sizes = _array(state, name, "int64")
    good = sizes.ndim == 1 and len(sizes) and sizes.min() >= least and sizes.max() <= total
    if not good or int(sizes.sum()) != total:
        raise ModelFileError(f"{name!r} of the trees does not fit their {total} entries")
    return np.concatenate([[0], np.cumsum(sizes)])


def _surrogates_from_state(state: Any, n_trees: int) -> list[Surrogates | None]:
    if state is None:
        return []
    if not isinstance(state, list) or len(state) != n_trees:
        raise ModelFileError("the surrogates of the trees are not a list with one entry per tree")
    return [None if one is None else _surrogates_of(one) for one in state]


def _surrogates_of(state: Any) -> Surrogates:
    _check_names(state, set(SURROGATE_ARRAYS), "the surrogates of the tree")
    return Surrogates(**state)


def _tree_of_format_1(state: Any, schema: Schema) -> Tree:
    _check_names(state, {*NODE_ARRAYS, "bits", "surrogates"}, "the nodes of the tree")
    surrogates = None if state["surrogates"] is None else _surrogates_of(state["surrogates"])
    return Tree(**{**state, "surrogates": surrogates}, schema=schema)


def _check_names(state: Any, expected: set[str], what: str) -> None:
    if not isinstance(state, dict):
        raise ModelFileError(f"{what} are not a dictionary of arrays")
    if set(state) != expected:
        odd = ", ".join(sorted(str(name)[:40] for name in set(state) ^ expected)[:8])
        raise ModelFileError(f"{what} have missing or surplus arrays: {odd}")
