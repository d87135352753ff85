"""The check that arrays are trees.

Prediction is compiled without bounds checks, so a tree that comes from outside must be shown sound
before anything walks it. Sound means: from the root every path steps to a larger node number and
ends at a leaf, and every index used on the way (column, category set, child) lies inside its array.

    node       first_child   n_children
    0  split    1             2             the children of all splits together are the nodes
    1  leaf    -1             0             1 … n-1, each exactly once, and every child has
    2  split    3             2             a larger number than its parent: a tree, with
    3  leaf    -1             0             no loop and nothing left over
    4  leaf    -1             0

The checks are a handful of array operations on many trees at a time, one behind the other, so saving runs
them too: a broken tree is found while the model still exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from arboretum.engine import parallel
from arboretum.errors import ModelFileError
from arboretum.structure.joined import Piece, arrays_of, pieces, sizes_of
from arboretum.structure.tree import GROUPS, LEAF, MULTIWAY, SUBSET, THRESHOLD, Surrogates, Tree

if TYPE_CHECKING:
    from arboretum.data.schema import Schema

__all__ = ["NODE_ARRAYS", "SURROGATE_ARRAYS", "NodeArrays"]
__all__ += ["check_nodes", "read_trees", "validate_tree", "validate_trees"]

T = TypeVar("T")
# name -> (dtype, number of axes); the first axis is the nodes
NODE_ARRAYS = {
    "kind": ("uint8", 1),
    "feature": ("int32", 1),
    "threshold": ("float64", 1),
    "first_child": ("int32", 1),
    "n_children": ("int32", 1),
    "missing_child": ("int32", 1),
    "bits_start": ("int64", 1),
    "value": ("float64", 3),
    "impurity": ("float64", 1),
    "gain": ("float64", 1),
    "weight": ("float64", 1),
    "count": ("int64", 1),
}
SURROGATE_ARRAYS = {
    "start": ("int64", 1),
    "kind": ("uint8", 1),
    "feature": ("int32", 1),
    "threshold": ("float64", 1),
    "reverse": ("uint8", 1),
    "bits_start": ("int64", 1),
    "agreement": ("float64", 1),
}
_AT_A_TIME = 1 << 15  # nodes: intermediate arrays of this size stay in the cache


@dataclass(frozen=True, eq=False)
class NodeArrays:
    """The nodes of some trees, one tree behind the other; see `Tree` for the fields.

    Children are counted from the first node of their tree, category sets from its first word of bits.
    """

    kind: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    first_child: np.ndarray
    n_children: np.ndarray
    missing_child: np.ndarray
    bits_start: np.ndarray
    value: np.ndarray
    impurity: np.ndarray
    gain: np.ndarray
    weight: np.ndarray
    count: np.ndarray
    start: np.ndarray  # the first node of every tree, and the end
    bits: np.ndarray
    bits_from: np.ndarray  # the first word of every tree, and the end
    schema: Schema
    surrogates: Sequence[Surrogates | None] = ()  # one for every tree, or empty if no tree has any

    @property
    def n_trees(self) -> int:
        return len(self.start) - 1

    def trees(self, lo: int, hi: int) -> NodeArrays:
        """Return the nodes of some of the trees."""
        first, last = int(self.start[lo]), int(self.start[hi])
        words, end = int(self.bits_from[lo]), int(self.bits_from[hi])
        return NodeArrays(
            **{name: getattr(self, name)[first:last] for name in NODE_ARRAYS},
            start=self.start[lo : hi + 1] - first,
            bits=self.bits[words:end],
            bits_from=self.bits_from[lo : hi + 1] - words,
            schema=self.schema,
            surrogates=self.surrogates[lo:hi],
        )


# ---------------------------------------------------------------------- one, many
def validate_tree(tree: Tree) -> None:
    """Raise a ModelFileError that names the first node at fault, unless the tree is sound.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from arboretum import CARTClassifier
    >>> from sklearn.datasets import load_iris
    >>> tree = CARTClassifier(max_depth=1).fit(*load_iris(return_X_y=True)).trees_[0]
    >>> validate_tree(tree)
    >>> validate_tree(replace(tree, first_child=np.array([0, -1, -1], dtype=np.int32)))
    Traceback (most recent call last):
    ...
    arboretum.errors.ModelFileError: node 0 of the tree has children that do not come after it
    """
    validate_trees([tree])


def validate_trees(trees: Sequence[Tree]) -> None:
    """Raise a ModelFileError that names the first tree and node at fault, unless all trees are sound.

    They have columns, outputs and values in common.
    """
    read_trees(trees, lambda nodes: None)


def read_trees(trees: Sequence[Tree], reading: Callable[[NodeArrays], T]) -> list[T]:
    """Return the results of ``reading`` on the nodes of some trees at a time, after checking them."""
    parts = pieces(trees)
    sizes = sizes_of(parts) if len(parts) < len(trees) else [0]
    if 0 in sizes:  # or unknown: each tree may be at fault
        sizes = [_length(tree, number, len(trees)) for number, tree in enumerate(trees)]

    def work(lo: int, hi: int) -> T:
        name, some = partial(_shifted_name, lo, len(trees)), trees[lo:hi]
        nodes = _joined(some, parts if len(some) == len(trees) else pieces(some), trees[0], name)
        _check(nodes, name, leaves=True)
        return reading(nodes)

    return _run_parts(work, sizes)


def check_nodes(nodes: NodeArrays) -> None:
    """`validate_trees` for nodes that already lie one tree behind the other, in arrays of equal lengths.

    Leaves are known to have no values of splits.
    """

    def work(lo: int, hi: int) -> None:
        _check(nodes.trees(lo, hi), partial(_shifted_name, lo, nodes.n_trees), leaves=False)

    _run_parts(work, np.diff(nodes.start).tolist())


def _run_parts(work: Callable[[int, int], T], sizes: list[int]) -> list[T]:
    """Return ``work(lo, hi)`` for ranges of trees, on several threads; raise the first problem."""
    parts = list(_parts(sizes))
    found: list[Any] = [None] * len(parts)

    def go(number: int) -> None:
        try:
            found[number] = work(*parts[number])
        except ModelFileError as error:
            found[number] = error

    parallel.run(go, range(len(parts)), parallel.effective_jobs(None) if len(parts) > 1 else 1)
    for one in found:
        if isinstance(one, ModelFileError):
            raise one
    return found


def _name(number: int, n_trees: int) -> str:
    return f"tree {number}" if n_trees > 1 else "the tree"


def _shifted_name(first: int, n_trees: int, number: int) -> str:
    return _name(first + number, n_trees)


def _parts(sizes: list[int]) -> Iterator[tuple[int, int]]:
    """Yield ranges of trees with about ten thousand nodes together, or one tree that has more."""
    lo = total = 0
    for number, size in enumerate(sizes):
        if total and total + size > _AT_A_TIME:
            yield lo, number
            lo, total = number, 0
        total += size
    if sizes:
        yield lo, len(sizes)


def _length(tree: Tree, number: int, n_trees: int) -> int:
    kind = tree.kind
    if not isinstance(kind, np.ndarray) or kind.ndim != 1:
        raise ModelFileError(
            f"'kind' of {_name(number, n_trees)} is not a 1-dimensional uint8 array"
        )
    if not len(kind):
        raise ModelFileError(f"{_name(number, n_trees)} has no nodes")
    return len(kind)


def _joined(
    trees: Sequence[Tree], parts: list[Piece], like: Tree, name: Callable[[int], str]
) -> NodeArrays:
    """Put the arrays of trees one behind the other, if they have the same form."""
    sizes = sizes_of(parts)
    in_pieces = list(map(len, arrays_of(parts, "kind")))
    arrays: dict[str, np.ndarray] = {}
    for field, (dtype, axes) in NODE_ARRAYS.items():
        each = arrays_of(parts, field)
        joined = _put_together(each, dtype, axes)
        if joined is None or list(map(len, each)) != in_pieces:
            each = [getattr(tree, field) for tree in trees]  # one of them has another form
            _check_dtypes(each, field, dtype, axes, name)
            _check_lengths(each, field, sizes, name)
            if field == "value":
                _check_values(each, like.value.shape[1:], name)
            joined = np.concatenate(each)
        elif field == "value" and (joined.shape[1:] != like.value.shape[1:] or not joined.size):
            _check_values([tree.value for tree in trees], like.value.shape[1:], name)
        arrays[field] = joined
    words = arrays_of(parts, "bits")
    bits = _put_together(words, "uint32", 1)
    if bits is None:
        _check_dtypes([tree.bits for tree in trees], "bits", "uint32", 1, name)
        bits = np.concatenate(words)
    surrogates = [tree.surrogates for tree in trees]
    return NodeArrays(
        **arrays,
        start=_starts(sizes),
        bits=bits,
        bits_from=_starts(sizes_of(parts, "bits")),
        schema=like.schema,
        surrogates=surrogates if any(one is not None for one in surrogates) else (),
    )


def _check_lengths(
    arrays: list[np.ndarray], field: str, sizes: list[int], name: Callable[[int], str]
) -> None:
    for number, (array, size) in enumerate(zip(arrays, sizes, strict=True)):
        if len(array) != size:
            raise ModelFileError(
                f"{name(number)} has {size} nodes but its {field!r} has another length"
            )


def _put_together(arrays: list[np.ndarray], dtype: str, axes: int) -> np.ndarray | None:
    """Return arrays one behind the other; None unless each of them has this type and number of axes."""
    if set(map(type, arrays)) != {np.ndarray}:
        return None
    try:
        joined = np.concatenate(arrays, dtype=dtype, casting="no") if len(arrays) > 1 else arrays[0]
    except (TypeError, ValueError):  # of another type, or shape
        return None
    return joined if joined.dtype == dtype and joined.ndim == axes else None


def _check_dtypes(
    arrays: list[np.ndarray], field: str, dtype: str, axes: int, name: Callable[[int], str]
) -> None:
    wanted = np.dtype(dtype)
    if all(type(a) is np.ndarray and a.dtype is wanted and a.ndim == axes for a in arrays):
        return  # as nearly always; native dtypes are single objects, so this comparison is fast
    for number, array in enumerate(arrays):
        if not isinstance(array, np.ndarray) or array.dtype != wanted or array.ndim != axes:
            raise ModelFileError(
                f"{field!r} of {name(number)} is not a {axes}-dimensional {dtype} array"
            )


def _check_values(
    values: list[np.ndarray], shape: tuple[int, ...], name: Callable[[int], str]
) -> None:
    for number, value in enumerate(values):
        if not value.size:
            raise ModelFileError(f"the nodes of {name(number)} have no value")
        if value.shape[1:] != shape:
            raise ModelFileError(f"{name(number)} has other outputs or classes than the first")


def _starts(sizes: list[int]) -> np.ndarray:
    return np.array([0, *accumulate(sizes)], np.int64)


# ---------------------------------------------------------------------- the checks
def _check(nodes: NodeArrays, name: Callable[[int], str], *, leaves: bool) -> None:
    def refuse(bad: np.ndarray, problem: str, places: np.ndarray | None = None) -> None:
        """Raise for the first marked node; ``places`` are the nodes' numbers if only some are checked."""
        if bad.any():
            first = int(bad.argmax())
            place = first if places is None else int(places[first])
            tree = int(np.searchsorted(nodes.start, place, side="right")) - 1
            raise ModelFileError(f"node {place - nodes.start[tree]} of {name(tree)} {problem}")

    with np.errstate(invalid="ignore"):  # a file may hold NaNs, of which NumPy would warn
        inner = np.flatnonzero(nodes.kind != LEAF)
        refuse(nodes.kind > GROUPS, "is of an unknown kind")
        if leaves:
            _check_leaves(nodes, refuse)
        _check_links(nodes, inner, name, refuse)
        _check_splits(nodes, inner, partial(refuse, places=inner))
        _check_numbers(nodes, refuse)
        for tree, surrogates in enumerate(nodes.surrogates):
            if surrogates is not None:
                _check_surrogates(nodes.trees(tree, tree + 1), surrogates, name(tree))


def _check_leaves(nodes: NodeArrays, refuse: Callable[..., None]) -> None:
    """Check that leaves have no values of splits."""
    empty = nodes.first_child & nodes.missing_child & nodes.feature & ~nodes.n_children
    bits_start = nodes.bits_start if nodes.bits_start.strides != (0,) else nodes.bits_start[:1]
    good = (empty == -1) & (bits_start == -1) & np.isnan(nodes.threshold)
    refuse((nodes.kind == LEAF) & ~good, "is a leaf but has parts of a split")


def _check_links(
    nodes: NodeArrays, inner: np.ndarray, name: Callable[[int], str], refuse: Callable[..., None]
) -> None:
    """Every node but the roots is the child of exactly one node of its tree, with a smaller number."""
    start, n_nodes = nodes.start[:-1], np.diff(nodes.start)
    ends = np.searchsorted(inner, nodes.start)  # of every tree's splits
    n_splits = np.diff(ends)
    root, end = np.repeat(start, n_splits), np.repeat(nodes.start[1:], n_splits)
    sizes = nodes.n_children[inner].astype(np.int64)
    first = nodes.first_child[inner] + root
    binary = nodes.kind[inner] < MULTIWAY
    refuse(sizes < 2, "splits but has fewer than two children", inner)
    refuse(binary & (sizes != 2), "is a binary split but has not two children", inner)
    refuse(first <= inner, "has children that do not come after it", inner)
    refuse(first + sizes > end, "has children beyond the last node of its tree", inner)
    before = np.concatenate([[0], np.cumsum(sizes)])
    children_of = np.diff(before[ends])
    odd = np.flatnonzero(children_of != n_nodes - 1)  # this also bounds the size of the next arrays
    if len(odd):
        raise ModelFileError(
            f"{name(int(odd[0]))} has {n_nodes[odd[0]]} nodes but its splits have "
            f"{children_of[odd[0]]} children"
        )
    # as many children as there are places for them: if none is missing, none is named twice
    has_parent = np.zeros(len(nodes.kind), np.bool_)
    has_parent[start] = True
    if (sizes == 2).all():
        has_parent[first] = True
        has_parent[first + 1] = True
    else:
        has_parent[np.repeat(first - before[:-1], sizes) + np.arange(before[-1])] = True
    refuse(~has_parent, "has not exactly one parent")


@dataclass(frozen=True)
class _Questions:
    """The tests of some splits or surrogates, side by side."""

    kind: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    bits_start: np.ndarray
    n_bits: np.ndarray | int  # number of words of their trees
    refuse: Callable[[np.ndarray, str], None]


def _check_splits(
    nodes: NodeArrays, inner: np.ndarray, refuse: Callable[[np.ndarray, str], None]
) -> None:
    n_splits = np.diff(np.searchsorted(inner, nodes.start))
    questions = _Questions(
        kind=nodes.kind[inner],
        feature=nodes.feature[inner],
        threshold=nodes.threshold[inner],
        bits_start=nodes.bits_start[inner],
        n_bits=np.repeat(np.diff(nodes.bits_from), n_splits) if len(nodes.bits) else 0,
        refuse=refuse,
    )
    n_categories = _check_questions(questions, nodes.schema)
    sizes, missing = nodes.n_children[inner], nodes.missing_child[inner]
    refuse((missing < -1) | (missing >= sizes), "sends missing values to no child of its own")
    presence = questions.threshold == np.inf
    refuse(
        presence & (missing != 1),
        "tests whether a value is present but sends missing ones to 'yes'",
    )
    if nodes.surrogates:
        stand_in = [one is not None for one in nodes.surrogates]
        refuse(
            (missing == -1) & np.repeat(stand_in, n_splits),
            "spreads missing values but has surrogates",
        )
    if (questions.kind < MULTIWAY).all():
        return
    multiway = questions.kind == MULTIWAY
    own = multiway & (sizes == n_categories + 1) & (missing == n_categories)  # a child for missing
    refuse(
        multiway & (n_categories != sizes) & ~own,
        "does not have one child per category of its column",
    )
    groups = questions.kind == GROUPS
    bits_from = np.repeat(nodes.bits_from[:-1], n_splits)
    for i in np.flatnonzero(groups):  # every category goes to one of the node's children
        lo = int(bits_from[i] + questions.bits_start[i])
        goes = nodes.bits[lo : lo + int(n_categories[i])]
        if len(goes) and int(goes.max()) >= sizes[i]:
            refuse(np.arange(len(inner)) == i, "sends a category to no child of its own")


def _check_questions(questions: _Questions, schema: Schema) -> np.ndarray:
    """Check column, threshold and category set; return how many categories each column has."""
    kind, feature, threshold = questions.kind, questions.feature, questions.threshold
    refuse, columns = questions.refuse, schema.columns
    outside = (feature < 0) | (feature >= len(columns))
    refuse(outside, f"splits on a column that is none of the {len(columns)}")
    numeric = kind == THRESHOLD
    refuse(~numeric & ~np.isnan(threshold), "has a threshold but no numeric test")
    refuse(numeric & ~(threshold > -np.inf), "has a threshold that is neither finite nor +inf")
    sets = (kind == SUBSET) | (kind == GROUPS)
    start = questions.bits_start
    refuse(~sets & (start != -1), "has a set of categories but does not test categories")
    if all(column.kind == "numeric" for column in columns):
        refuse(~numeric, "tests categories of a column without any")
        return np.zeros(len(kind), np.int64)

    sizes = np.array([len(c.categories or ()) for c in columns], dtype=np.int64)
    worded = np.array([c.categories is not None for c in columns], dtype=bool)[feature]
    ordered = np.array([c.kind != "categorical" for c in columns], dtype=bool)[feature]
    n_categories = sizes[feature]
    finite = numeric & (threshold < np.inf)
    refuse(finite & ~ordered, "compares a category, which has no order, with a number")
    rank = (threshold == np.floor(threshold)) & (threshold >= 0) & (threshold < n_categories)
    refuse(finite & worded & ~rank, "has a threshold that is no rank of its column")
    refuse(
        (sets | (kind == MULTIWAY)) & ((n_categories == 0) | ordered),
        "tests categories of a column without any",
    )
    words = np.where(kind == GROUPS, n_categories, (n_categories + 31) // 32)
    refuse(
        sets & ((start < 0) | (start > questions.n_bits - words)),
        "has a set of categories beyond the stored bits",
    )
    return n_categories


def _check_numbers(nodes: NodeArrays, refuse: Callable[..., None]) -> None:
    finite = np.isfinite(nodes.value)
    if not finite.all():
        refuse(~finite.all(axis=(1, 2)), "has a value that is not finite")
    refuse(~np.isfinite(nodes.impurity), "has an impurity that is not finite")
    refuse(~np.isfinite(nodes.gain), "has a gain that is not finite")
    refuse(nodes.count < 0, "has a negative number of rows")
    refuse(~((nodes.weight >= 0) & (nodes.weight < np.inf)), "has a weight that is not ≥ 0")


def _check_surrogates(tree: NodeArrays, surrogates: Surrogates, name: str) -> None:
    what = f"the surrogates of {name}"
    for array, (dtype, axes) in SURROGATE_ARRAYS.items():
        _check_dtypes([getattr(surrogates, array)], array, dtype, axes, lambda _: what)
    n, n_surrogates = len(tree.kind), len(surrogates.feature)
    for array in SURROGATE_ARRAYS:
        if array != "start" and len(getattr(surrogates, array)) != n_surrogates:
            raise ModelFileError(f"{array!r} of {what} has another length than 'feature'")
    start = surrogates.start
    if len(start) != n + 1 or start[0] != 0 or start[-1] != n_surrogates:
        raise ModelFileError(f"{what} do not fit its {n} nodes")

    def refuse(bad: np.ndarray, problem: str, each: str = "surrogate") -> None:
        if bad.any():
            raise ModelFileError(f"{each} {int(bad.argmax())} of {name} {problem}")

    refuse(start[1:] < start[:-1], "has surrogates that end before they begin", "node")
    has_some = start[1:] > start[:-1]
    yes_no = (tree.kind == THRESHOLD) | (tree.kind == SUBSET)
    refuse(has_some & ~yes_no, "has surrogates but is not a binary split", "node")
    known = (surrogates.kind == THRESHOLD) | (surrogates.kind == SUBSET)
    refuse(~known, "is of an unknown kind")
    questions = _Questions(
        kind=surrogates.kind,
        feature=surrogates.feature,
        threshold=surrogates.threshold,
        bits_start=surrogates.bits_start,
        n_bits=len(tree.bits),
        refuse=refuse,
    )
    _check_questions(questions, tree.schema)
    refuse(surrogates.reverse > 1, "has a direction other than 0 and 1")
    share = surrogates.agreement
    fair = (share >= 0) & (share <= 1 + 1e-9)  # a share of weights, summed in floating point
    refuse(~fair, "has an agreement outside 0 … 1")
