"""A tree as plain arrays for a file, and the proof that arrays from a file are a tree.

Prediction is compiled without bounds checks, so a tree that comes from outside must be shown sound
before anything walks it. Sound means: from the root every path steps to a larger node number and
ends at a leaf, and every index used on the way (column, category set, child) lies inside its array.

    node       first_child   n_children
    0  split    1             2             the children of all splits together are the nodes
    1  leaf    -1             0             1 … n-1, each exactly once, and every child has
    2  split    3             2             a larger number than its parent: a tree, with
    3  leaf    -1             0             no loop and nothing left over
    4  leaf    -1             0

The checks are a handful of array operations, so saving runs them too: a broken tree is found while
the model still exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.errors import ModelFileError
from arboretum.tree.tree import GROUPS, LEAF, MULTIWAY, SUBSET, THRESHOLD, Surrogates, Tree

if TYPE_CHECKING:
    from arboretum.data.schema import Schema

__all__ = ["tree_from_state", "tree_to_state", "validate_tree"]

# name -> (dtype, number of axes); the first axis of all but `bits` is the nodes
_TREE_ARRAYS = {
    "kind": ("uint8", 1),
    "feature": ("int32", 1),
    "threshold": ("float64", 1),
    "first_child": ("int32", 1),
    "n_children": ("int32", 1),
    "missing_child": ("int32", 1),
    "bits_start": ("int64", 1),
    "bits": ("uint32", 1),
    "value": ("float64", 3),
    "impurity": ("float64", 1),
    "gain": ("float64", 1),
    "weight": ("float64", 1),
    "count": ("int64", 1),
}
_SURROGATE_ARRAYS = {
    "start": ("int64", 1),
    "kind": ("uint8", 1),
    "feature": ("int32", 1),
    "threshold": ("float64", 1),
    "reverse": ("uint8", 1),
    "bits_start": ("int64", 1),
    "agreement": ("float64", 1),
}


# ---------------------------------------------------------------------- to and from a file
def tree_to_state(tree: Tree) -> dict[str, Any]:
    """Return the tree as a dictionary of arrays (its schema is saved once, beside it).

    Raises
    ------
    ModelFileError
        If the tree is not sound, and so could not be loaded again.

    Examples
    --------
    >>> from arboretum import CARTClassifier
    >>> from sklearn.datasets import load_iris
    >>> model = CARTClassifier(max_depth=1).fit(*load_iris(return_X_y=True))
    >>> state = tree_to_state(model.tree_)
    >>> state["first_child"]
    array([ 1, -1, -1], dtype=int32)
    >>> tree_from_state(state, model.schema_).node_count
    3
    """
    validate_tree(tree)
    state: dict[str, Any] = {name: getattr(tree, name) for name in _TREE_ARRAYS}
    state["surrogates"] = None
    if tree.surrogates is not None:
        state["surrogates"] = {name: getattr(tree.surrogates, name) for name in _SURROGATE_ARRAYS}
    return state


def tree_from_state(state: Any, schema: Schema) -> Tree:
    """Return the tree that `tree_to_state` described, after checking every part of it.

    Raises
    ------
    ModelFileError
        If the arrays are not a sound tree over the columns of the schema.
    """
    _check_names(state, {*_TREE_ARRAYS, "surrogates"}, "the tree")
    arrays = dict(state)
    surrogates = arrays.pop("surrogates")
    if surrogates is not None:
        _check_names(surrogates, set(_SURROGATE_ARRAYS), "the surrogates of the tree")
        surrogates = Surrogates(**surrogates)
    tree = Tree(**arrays, schema=schema, surrogates=surrogates)
    validate_tree(tree)
    return tree


def _check_names(state: Any, expected: set[str], what: str) -> None:
    if not isinstance(state, dict):
        raise ModelFileError(f"{what} is not a dictionary of arrays")
    if set(state) != expected:
        odd = ", ".join(sorted(str(name)[:40] for name in set(state) ^ expected)[:8])
        raise ModelFileError(f"{what} has missing or surplus arrays: {odd}")


# ---------------------------------------------------------------------- the checks
def validate_tree(tree: Tree) -> None:
    """Raise a ModelFileError that names the first node at fault, unless the tree is sound.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from arboretum import CARTClassifier
    >>> from sklearn.datasets import load_iris
    >>> tree = CARTClassifier(max_depth=1).fit(*load_iris(return_X_y=True)).tree_
    >>> validate_tree(tree)
    >>> validate_tree(replace(tree, first_child=np.array([0, -1, -1], dtype=np.int32)))
    Traceback (most recent call last):
    ...
    arboretum.errors.ModelFileError: node 0 of the tree has children that do not come after it
    """
    _check_arrays(tree, _TREE_ARRAYS, "the tree")
    n = len(tree.kind)
    if n == 0:
        raise ModelFileError("the tree has no nodes")
    for name in _TREE_ARRAYS:
        if name != "bits" and len(getattr(tree, name)) != n:
            raise ModelFileError(f"the tree has {n} nodes but its {name!r} has another length")
    if 0 in tree.value.shape:
        raise ModelFileError("the nodes of the tree have no value")
    with np.errstate(invalid="ignore"):  # a file may hold NaNs that NumPy warns of when touched
        _check_links(tree)
        _check_nodes(tree)
        _check_numbers(tree)
        if tree.surrogates is not None:
            _check_surrogates(tree, tree.surrogates)


def _check_arrays(holder: object, arrays: dict[str, tuple[str, int]], what: str) -> None:
    for name, (dtype, axes) in arrays.items():
        array = getattr(holder, name)
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != axes:
            raise ModelFileError(f"{name!r} of {what} is not a {axes}-dimensional {dtype} array")


def _refuse(bad: np.ndarray, problem: str, what: str = "node", numbers: Any = None) -> None:
    """Raise for the first marked entry; `numbers` are the entries' own numbers if not 0, 1, 2 …"""
    if bad.any():
        first = int(np.argmax(bad))
        number = first if numbers is None else int(numbers[first])
        raise ModelFileError(f"{what} {number} of the tree {problem}")


def _check_links(tree: Tree) -> None:
    """Every node but the root is the child of exactly one node with a smaller number."""
    n = len(tree.kind)
    _refuse(tree.kind > GROUPS, "is of an unknown kind")
    leaf = tree.kind == LEAF
    marked = (tree.first_child == -1) & (tree.n_children == 0) & (tree.missing_child == -1)
    marked &= (tree.feature == -1) & (tree.bits_start == -1) & np.isnan(tree.threshold)
    _refuse(leaf & ~marked, "is a leaf but has parts of a split")

    inner = np.flatnonzero(~leaf)
    sizes = tree.n_children[inner].astype(np.int64)
    first = tree.first_child[inner].astype(np.int64)
    _refuse(sizes < 2, "splits but has fewer than two children", numbers=inner)
    binary = tree.kind[inner] < MULTIWAY
    _refuse(binary & (sizes != 2), "asks a yes/no question but has not two children", numbers=inner)
    _refuse(first <= inner, "has children that do not come after it", numbers=inner)
    _refuse(first + sizes > n, f"has children beyond the last node ({n - 1})", numbers=inner)
    if sizes.sum() != n - 1:  # also bounds the arrays made next
        raise ModelFileError(f"the tree has {n} nodes but its splits have {sizes.sum()} children")
    begins = np.cumsum(sizes) - sizes
    children = np.repeat(first - begins, sizes) + np.arange(n - 1)
    parents = np.bincount(children, minlength=n)
    parents[0] = 1
    _refuse(parents != 1, "has not exactly one parent")


@dataclass(frozen=True)
class _Questions:
    """The questions of some splits or surrogates, side by side."""

    kind: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    bits_start: np.ndarray
    what: str
    numbers: np.ndarray

    def refuse(self, bad: np.ndarray, problem: str) -> None:
        _refuse(bad, problem, self.what, self.numbers)


def _check_nodes(tree: Tree) -> None:
    inner = np.flatnonzero(tree.kind != LEAF)
    nodes = _Questions(
        kind=tree.kind[inner],
        feature=tree.feature[inner],
        threshold=tree.threshold[inner],
        bits_start=tree.bits_start[inner],
        what="node",
        numbers=inner,
    )
    n_categories = _check_questions(nodes, tree)
    sizes, missing = tree.n_children[inner], tree.missing_child[inner]
    multiway = nodes.kind == MULTIWAY
    own = multiway & (sizes == n_categories + 1) & (missing == n_categories)  # a child for missing
    nodes.refuse(
        multiway & (n_categories != sizes) & ~own, "has not one child per category of its column"
    )
    nodes.refuse((missing < -1) | (missing >= sizes), "sends missing values to no child of its own")
    everywhere = missing == -1
    nodes.refuse(
        everywhere & (tree.surrogates is not None), "spreads missing values but has surrogates"
    )
    _check_groups(nodes, sizes, n_categories, tree)
    presence = nodes.threshold == np.inf
    nodes.refuse(
        presence & (missing != 1), "asks whether a value is present but sends missing ones to 'yes'"
    )


def _check_questions(questions: _Questions, tree: Tree) -> np.ndarray:
    """Check column, threshold and category set; return how many categories each column has."""
    kind, feature, threshold = questions.kind, questions.feature, questions.threshold
    outside = (feature < 0) | (feature >= tree.n_features)
    questions.refuse(outside, f"asks about a column that is none of the {tree.n_features}")
    columns = tree.schema.columns
    sizes = np.array([len(c.categories or ()) for c in columns], dtype=np.int64)
    worded = np.array([c.categories is not None for c in columns], dtype=bool)[feature]
    ordered = np.array([c.kind != "categorical" for c in columns], dtype=bool)[feature]
    n_categories = sizes[feature]

    numeric = kind == THRESHOLD
    questions.refuse(~numeric & ~np.isnan(threshold), "has a threshold but asks for no number")
    questions.refuse(
        numeric & ~(threshold > -np.inf), "has a threshold that is neither finite nor +inf"
    )
    finite = numeric & (threshold < np.inf)
    questions.refuse(finite & ~ordered, "compares a category, which has no order, with a number")
    rank = (threshold == np.floor(threshold)) & (threshold >= 0) & (threshold < n_categories)
    questions.refuse(finite & worded & ~rank, "has a threshold that is no rank of its column")

    sets = (kind == SUBSET) | (kind == GROUPS)
    start = questions.bits_start
    questions.refuse(~sets & (start != -1), "has a set of categories but asks for none")
    questions.refuse(
        (sets | (kind == MULTIWAY)) & ((n_categories == 0) | ordered),
        "asks for a category of a column without any",
    )
    words = np.where(kind == GROUPS, n_categories, (n_categories + 31) // 32)
    questions.refuse(
        sets & ((start < 0) | (start > len(tree.bits) - words)),
        "has a set of categories beyond the stored bits",
    )
    return n_categories


def _check_groups(
    nodes: _Questions, sizes: np.ndarray, n_categories: np.ndarray, tree: Tree
) -> None:
    """Every category of a node that groups them goes to one of its children."""
    for i in np.flatnonzero(nodes.kind == GROUPS):
        goes = tree.bits[nodes.bits_start[i] : nodes.bits_start[i] + n_categories[i]]
        if len(goes) and int(goes.max()) >= sizes[i]:
            raise ModelFileError(
                f"node {nodes.numbers[i]} of the tree sends a category to no child of its own"
            )


def _check_numbers(tree: Tree) -> None:
    _refuse(~np.isfinite(tree.value).all(axis=(1, 2)), "has a value that is not finite")
    _refuse(~np.isfinite(tree.impurity), "has an impurity that is not finite")
    _refuse(~np.isfinite(tree.gain), "has a gain that is not finite")
    _refuse(~(np.isfinite(tree.weight) & (tree.weight >= 0)), "has a weight that is not ≥ 0")
    _refuse(tree.count < 0, "has a negative number of rows")


def _check_surrogates(tree: Tree, surrogates: Surrogates) -> None:
    what = "the surrogates of the tree"
    _check_arrays(surrogates, _SURROGATE_ARRAYS, what)
    n, n_surrogates = len(tree.kind), len(surrogates.feature)
    for name in _SURROGATE_ARRAYS:
        if name != "start" and len(getattr(surrogates, name)) != n_surrogates:
            raise ModelFileError(f"{name!r} of {what} has another length than 'feature'")
    start = surrogates.start
    if len(start) != n + 1 or start[0] != 0 or start[-1] != n_surrogates:
        raise ModelFileError(f"{what} are not shared out to its {n} nodes")
    _refuse(start[1:] < start[:-1], "has surrogates that end before they begin")
    has_some = start[1:] > start[:-1]
    yes_no = (tree.kind == THRESHOLD) | (tree.kind == SUBSET)
    _refuse(has_some & ~yes_no, "has surrogates but asks no yes/no question")

    questions = _Questions(
        kind=surrogates.kind,
        feature=surrogates.feature,
        threshold=surrogates.threshold,
        bits_start=surrogates.bits_start,
        what="surrogate",
        numbers=np.arange(n_surrogates),
    )
    known = (surrogates.kind == THRESHOLD) | (surrogates.kind == SUBSET)
    questions.refuse(~known, "is of an unknown kind")
    _check_questions(questions, tree)
    questions.refuse(surrogates.reverse > 1, "has a direction other than 0 and 1")
    share = surrogates.agreement
    fair = (share >= 0) & (share <= 1 + 1e-9)  # a share of weights, summed in floating point
    questions.refuse(~fair, "has an agreement outside 0 … 1")
