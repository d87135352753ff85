"""Every way a tree can be broken is refused, with the node named; every sound tree passes."""

from dataclasses import replace

import numpy as np
import pytest

from arboretum.data.schema import Column, Schema
from arboretum.errors import ModelFileError
from arboretum.structure.sound import (
    NODE_ARRAYS,
    SURROGATE_ARRAYS,
    validate_tree,
    validate_trees,
)
from arboretum.structure.state import (
    tree_from_state,
    tree_to_state,
    trees_from_state,
    trees_to_state,
)
from arboretum.structure.tree import LEAF, MULTIWAY, SUBSET, THRESHOLD, Surrogates, Tree

NAN, INF = np.nan, np.inf
CITIES = tuple(f"city{i}" for i in range(40))  # two words of bits
SCHEMA = Schema(
    columns=(
        Column("age", "numeric", None, True, "float64"),
        Column("city", "categorical", CITIES, True, "str"),
        Column("size", "ordinal", ("S", "M", "L"), False, "str"),
        Column("outlook", "categorical", ("overcast", "rain", "sunny"), False, "str"),
    ),
    named=True,
)


def make_tree() -> Tree:
    """Return a tree with every kind of node.

    0 age <= 30.5 ── 1 city in ... ──── 3 size <= M ── 8, 9
                  │                  └─ 4
                  └─ 2 outlook = ... ── 5 age is present ── 10, 11
                                     ├─ 6
                                     └─ 7
    """
    kind = [THRESHOLD, SUBSET, MULTIWAY, THRESHOLD, LEAF, THRESHOLD] + [LEAF] * 6
    n = len(kind)
    surrogates = Surrogates(
        start=np.array([0, 2, 3] + [3] * (n - 2), dtype=np.int64),
        kind=np.array([THRESHOLD, SUBSET, THRESHOLD], dtype=np.uint8),
        feature=np.array([2, 1, 0], dtype=np.int32),
        threshold=np.array([0.0, NAN, 12.5]),
        reverse=np.array([1, 0, 0], dtype=np.uint8),
        bits_start=np.array([-1, 2, -1], dtype=np.int64),
        agreement=np.array([0.9, 0.8, 1.0]),
    )
    return Tree(
        kind=np.array(kind, dtype=np.uint8),
        feature=np.array([0, 1, 3, 2, -1, 0] + [-1] * 6, dtype=np.int32),
        threshold=np.array([30.5, NAN, NAN, 1.0, NAN, INF] + [NAN] * 6),
        first_child=np.array([1, 3, 5, 8, -1, 10] + [-1] * 6, dtype=np.int32),
        n_children=np.array([2, 2, 3, 2, 0, 2] + [0] * 6, dtype=np.int32),
        missing_child=np.array([1, 0, 2, 0, -1, 1] + [-1] * 6, dtype=np.int32),
        bits_start=np.array([-1, 0] + [-1] * 10, dtype=np.int64),
        bits=np.array([0b1011, 1, 7, 0], dtype=np.uint32),
        value=np.arange(n * 2.0).reshape(n, 1, 2),
        impurity=np.full(n, 0.5),
        gain=np.full(n, 0.1),
        weight=np.arange(n, dtype=np.float64),
        count=np.arange(n),
        schema=SCHEMA,
        surrogates=surrogates,
    )


def with_entry(array: np.ndarray, index: int, entry: float) -> np.ndarray:
    array = array.copy()
    array[index] = entry
    return array


def stump(**changes: object) -> Tree:
    """Return a tree of one leaf."""
    minus_one = np.full(1, -1, dtype=np.int32)
    parts: dict = {
        **dict.fromkeys(("feature", "first_child", "missing_child"), minus_one),
        "kind": np.zeros(1, dtype=np.uint8),
        "n_children": np.zeros(1, dtype=np.int32),
        "threshold": np.array([NAN]),
        "bits_start": np.full(1, -1, dtype=np.int64),
        "bits": np.zeros(0, dtype=np.uint32),
        "value": np.ones((1, 1, 1)),
        **{name: np.zeros(1) for name in ("impurity", "gain", "weight")},
        "count": np.zeros(1, dtype=np.int64),
        "schema": SCHEMA,
    }
    return Tree(**{**parts, **changes})


def format_1(tree: Tree) -> dict:
    """Return a tree as files of format 1 have it."""
    state = {name: getattr(tree, name) for name in (*NODE_ARRAYS, "bits", "surrogates")}
    if tree.surrogates is not None:
        state["surrogates"] = dict(vars(tree.surrogates))
    return state


def assert_same(again: Tree, tree: Tree) -> None:
    for name in (*NODE_ARRAYS, "bits"):
        np.testing.assert_array_equal(getattr(again, name), getattr(tree, name), strict=True)
    assert again.schema is SCHEMA
    assert (again.surrogates is None) == (tree.surrogates is None)
    if tree.surrogates is not None:
        for name in SURROGATE_ARRAYS:
            mine, theirs = getattr(again.surrogates, name), getattr(tree.surrogates, name)
            np.testing.assert_array_equal(mine, theirs, strict=True)


WEIGHED = replace(
    make_tree(), count=np.arange(12) + 70_000, gain=np.where(np.arange(12) < 4, 0.5, 0)
)


@pytest.mark.parametrize("to_state", [tree_to_state, format_1])
@pytest.mark.parametrize(
    "tree", [make_tree(), replace(make_tree(), surrogates=None), stump(), WEIGHED]
)
def test_a_sound_tree_survives_the_way_to_a_state_and_back(tree, to_state):
    again = tree_from_state(to_state(tree), SCHEMA)
    assert_same(again, tree)
    # what the readable tree does with it
    assert [node.id for node in again][:3] == [node.id for node in tree][:3]
    np.testing.assert_array_equal(again.depth, tree.depth)


def test_many_trees_survive_together():
    trees = [
        stump(value=np.ones((1, 1, 2))),
        make_tree(),
        replace(make_tree(), surrogates=None),
    ] * 3
    for some in (trees, trees * 1000):  # the second is read in several parts
        state = trees_to_state(some)
        for again, tree in zip(trees_from_state(state, SCHEMA), some, strict=True):
            assert_same(again, tree)
    again = trees_from_state([format_1(tree) for tree in trees], SCHEMA)
    assert [len(tree) for tree in again] == [len(tree) for tree in trees]


def test_what_says_nothing_is_left_out():
    state = trees_to_state([replace(WEIGHED, weight=WEIGHED.count.astype(float)), WEIGHED])
    assert len(state["feature"]) == len(state["gain"]) == 10  # of twice five splits
    assert state["feature"].dtype == state["kind"].dtype == np.uint8
    assert state["count"].dtype == np.uint32
    assert state["weight"] is not None
    plain = tree_to_state(stump(count=np.zeros(1, np.int64)))
    for name in ("weight", "n_children", "bits", "n_bits", "bits_start", "surrogates"):
        assert plain[name] is None, name
    leafy = tree_to_state(replace(WEIGHED, gain=np.ones(12)))
    assert len(leafy["gain"]) == 12  # of leaves, too


def test_the_tree_at_fault_is_named():
    broken = replace(make_tree(), count=with_entry(make_tree().count, 7, -1))
    with pytest.raises(ModelFileError, match="node 7 of tree 2 has a negative number"):
        validate_trees([make_tree(), make_tree(), broken, make_tree()])
    with pytest.raises(ModelFileError, match="node 7 of tree 2999 has a negative number"):
        validate_trees([make_tree()] * 2999 + [broken] * 7000)
    with pytest.raises(ModelFileError, match="tree 1 has other outputs"):
        validate_trees([make_tree(), stump()])
    with pytest.raises(ModelFileError, match="no trees"):
        trees_to_state([])


# field, node, new entry, what the message says
BROKEN_NODES = [
    ("kind", 0, 5, "node 0 of the tree is of an unknown kind"),
    ("kind", 0, 255, "node 0 of the tree is of an unknown kind"),
    ("kind", 0, LEAF, "node 0 of the tree is a leaf but has parts of a split"),
    ("kind", 4, THRESHOLD, "node 4 of the tree splits but has fewer than two children"),
    ("kind", 0, SUBSET, "node 0 of the tree has a threshold but no numeric test"),
    ("kind", 1, THRESHOLD, "neither finite nor"),
    ("kind", 2, SUBSET, "node 2 .* has not two children"),
    ("first_child", 4, 3, "is a leaf but"),
    ("missing_child", 4, 0, "is a leaf but"),
    ("feature", 4, 0, "is a leaf but"),
    ("n_children", 4, 2, "is a leaf but"),
    ("n_children", 4, -1, "is a leaf but"),
    ("bits_start", 4, 0, "is a leaf but"),
    ("threshold", 4, 0.0, "is a leaf but"),
    ("first_child", 0, 0, "node 0 .* do not come after it"),
    ("first_child", 3, 1, "node 3 .* do not come after it"),
    ("first_child", 5, -1, "node 5 .* do not come after it"),
    ("first_child", 5, -(2**31), "node 5 .* do not come after it"),
    ("first_child", 5, 11, "node 5 .* beyond the last node"),
    ("first_child", 5, 2**31 - 1, "node 5 .* beyond the last node"),
    ("first_child", 5, 9, "node 11 .* not exactly one parent"),
    ("first_child", 0, 2, "node 1 .* not exactly one parent"),
    ("n_children", 0, 1, "node 0 .* fewer than two"),
    ("n_children", 0, 3, "node 0 .* not two children"),
    ("n_children", 2, 2, "12 nodes but its splits have 10 children"),
    ("n_children", 2, 2**31 - 1, "beyond the last node"),
    ("feature", 0, -1, "node 0 .* none of the 4"),
    ("feature", 0, 4, "node 0 .* none of the 4"),
    ("feature", 1, 0, "node 1 .* a column without any"),
    ("feature", 2, 1, "node 2 .* one child per category"),
    ("feature", 2, 0, "node 2 .* a column without any"),
    ("feature", 0, 1, "node 0 .* has no order"),
    ("threshold", 0, NAN, "node 0 .* neither finite nor"),
    ("threshold", 0, -INF, "node 0 .* neither finite nor"),
    ("threshold", 1, 3.0, "node 1 .* no numeric test"),
    ("threshold", 3, 3.0, "node 3 .* no rank"),
    ("threshold", 3, -1.0, "node 3 .* no rank"),
    ("threshold", 3, 0.5, "node 3 .* no rank"),
    ("threshold", 3, 1e300, "node 3 .* no rank"),
    ("bits_start", 1, -1, "node 1 .* beyond the stored bits"),
    ("bits_start", 1, 3, "node 1 .* beyond the stored bits"),
    ("bits_start", 1, 2**63 - 1, "node 1 .* beyond the stored bits"),
    ("bits_start", 1, -(2**63), "node 1 .* beyond the stored bits"),
    ("bits_start", 0, 0, "node 0 .* a set of categories but does not test categories"),
    ("missing_child", 0, -2, "node 0 .* no child of its own"),
    ("missing_child", 0, 2, "node 0 .* no child of its own"),
    ("missing_child", 2, 3, "node 2 .* no child of its own"),
    ("missing_child", 5, 0, "node 5 .* sends missing ones"),
    ("value", 7, NAN, "node 7 .* value"),
    ("value", 7, INF, "node 7 .* value"),
    ("impurity", 7, NAN, "node 7 .* impurity"),
    ("gain", 7, INF, "node 7 .* gain"),
    ("weight", 7, -1.0, "node 7 .* weight"),
    ("weight", 7, NAN, "node 7 .* weight"),
    ("weight", 7, INF, "node 7 .* weight"),
    ("count", 7, -1, "node 7 .* negative number of rows"),
]


@pytest.mark.parametrize(("field", "node", "entry", "message"), BROKEN_NODES)
def test_a_broken_node_is_refused_and_named(field, node, entry, message):
    tree = make_tree()
    tree = replace(tree, **{field: with_entry(getattr(tree, field), node, entry)}, surrogates=None)
    with pytest.raises(ModelFileError, match=message):
        validate_tree(tree)


BROKEN_SURROGATES = [
    ("start", 0, 1, "do not fit its"),
    ("start", 12, 4, "do not fit its"),
    ("start", 1, 4, "node 1 .* end before they begin"),
    ("start", 1, -1, "node 0 .* end before they begin"),
    ("start", 2, 2, "node 2 .* is not a binary split"),
    ("kind", 0, LEAF, "surrogate 0 .* unknown kind"),
    ("kind", 0, MULTIWAY, "surrogate 0 .* unknown kind"),
    ("feature", 0, 4, "surrogate 0 .* none of the 4"),
    ("feature", 0, 1, "surrogate 0 .* has no order"),
    ("threshold", 0, 7.0, "surrogate 0 .* no rank"),
    ("threshold", 2, NAN, "surrogate 2 .* neither finite nor"),
    ("bits_start", 1, 3, "surrogate 1 .* beyond the stored bits"),
    ("reverse", 1, 2, "surrogate 1 .* direction"),
    ("agreement", 1, 1.5, "surrogate 1 .* agreement"),
    ("agreement", 1, NAN, "surrogate 1 .* agreement"),
]


@pytest.mark.parametrize(("field", "index", "entry", "message"), BROKEN_SURROGATES)
def test_a_broken_surrogate_is_refused_and_named(field, index, entry, message):
    tree = make_tree()
    broken = with_entry(getattr(tree.surrogates, field), index, entry)
    tree = replace(tree, surrogates=replace(tree.surrogates, **{field: broken}))
    with pytest.raises(ModelFileError, match=message):
        validate_tree(tree)


BROKEN_STATES = [
    (None, "not a dictionary"),
    ([], "not a dictionary"),
    ({}, "missing or surplus arrays"),
    ({"kind": None}, "'kind' of the trees is not an array of numbers"),
    ({"kind": "leaf"}, "'kind'"),
    ({"kind": np.zeros(12)}, "'kind' of the trees holds numbers that are not uint8"),
    ({"kind": np.zeros((12, 1), dtype=np.uint8)}, "'kind' of the trees is not a 1-dimensional"),
    ({"kind": np.zeros(11, dtype=np.uint8)}, "'n_nodes' of the trees"),
    ({"kind": np.full(12, 300)}, "'kind' of the trees holds numbers that are not uint8"),
    ({"n_nodes": np.array([13])}, "'n_nodes' of the trees does not fit their"),
    ({"n_nodes": np.array([0, 12])}, "'n_nodes' of the trees does not fit their"),
    ({"n_nodes": np.array([-1, 13])}, "'n_nodes' of the trees does not fit their"),
    ({"n_nodes": np.zeros(0, np.int64)}, "'n_nodes' of the trees does not fit their"),
    ({"n_nodes": np.array([2**63], np.uint64)}, "'n_nodes' of the trees holds numbers"),
    ({"n_nodes": np.array([[12]])}, "'n_nodes' of the trees"),
    ({"n_nodes": np.array([6, 6])}, "'n_bits' or 'bits' of the trees does not fit"),
    ({"n_bits": None}, "'n_bits'"),
    ({"n_bits": np.array([3])}, "'n_bits' of the trees does not fit their"),
    ({"feature": np.zeros(12, dtype=np.int64)}, "'feature' of the trees does not fit their 5"),
    ({"feature": np.zeros(5)}, "'feature' of the trees holds numbers that are not int32"),
    ({"feature": np.full(5, 2**40)}, "'feature' of the trees holds numbers that are not int32"),
    ({"threshold": None}, "'threshold'"),
    ({"n_children": None}, "node 2 .* one child per category|12 nodes but"),
    ({"bits": np.zeros(4)}, "'bits'"),
    ({"value": np.zeros(12)}, "'value' of the trees is not a 3-dimensional"),
    ({"value": np.zeros((12, 0, 1))}, "'value' of the trees does not fit"),
    ({"value": np.zeros((11, 1, 1))}, "'value' of the trees does not fit"),
    ({"gain": np.zeros(13)}, "'gain' of the trees does not fit"),
    ({"weight": np.zeros(11)}, "'weight' of the trees does not fit"),
    ({"count": np.arange(12) - 3}, "node 0 .* negative number of rows"),
    ({"bits": None, "n_bits": None}, "beyond the stored bits"),
    ({"surprise": 1}, "surplus arrays: surprise"),
    ({"schema": None}, "surplus arrays: schema"),
    ({"surrogates": 3}, "not a list with one entry per tree"),
    ({"surrogates": []}, "not a list with one entry per tree"),
    ({"surrogates": [{}]}, "missing or surplus"),
]
BROKEN_STATES_OF_FORMAT_1 = [
    ([], "not a dictionary"),
    ({"kind": None}, "'kind' of the tree is not a 1-dimensional uint8 array"),
    ({"kind": np.zeros(12)}, "'kind'"),
    ({"feature": np.zeros(12, dtype=np.int64)}, "'feature'"),
    ({"bits": np.zeros(4, dtype=np.uint8)}, "'bits'"),
    ({"value": np.zeros((12, 0, 1))}, "no value"),
    ({"value": np.zeros((11, 1, 1))}, "'value' has another length"),
    ({"surprise": 1}, "surplus arrays: surprise"),
    ({"surrogates": 3}, "not a dictionary"),
]


@pytest.mark.parametrize(
    ("to_state", "changes", "message"),
    [
        *((tree_to_state, *case) for case in BROKEN_STATES),
        *((format_1, *case) for case in BROKEN_STATES_OF_FORMAT_1),
    ],
)
def test_a_broken_state_is_refused(to_state, changes, message):
    state = {**to_state(make_tree()), **changes} if changes else changes
    with pytest.raises(ModelFileError, match=message):
        tree_from_state(state, SCHEMA)


def test_one_tree_is_not_several():
    with pytest.raises(ModelFileError, match="there must be one tree, but there are 2"):
        tree_from_state(trees_to_state([make_tree(), make_tree()]), SCHEMA)


@pytest.mark.parametrize(
    ("field", "array", "message"),
    [
        ("start", np.zeros(12, dtype=np.int64), "do not fit its"),
        ("start", np.zeros(0, dtype=np.int64), "do not fit its"),
        ("kind", np.zeros(3), "'kind' of the surrogates"),
        ("threshold", np.zeros(2), "another length"),
        ("feature", np.zeros(0, dtype=np.int32), "another length"),
    ],
)
def test_broken_arrays_of_surrogates_are_refused(field, array, message):
    state = tree_to_state(make_tree())
    state["surrogates"][0][field] = array
    with pytest.raises(ModelFileError, match=message):
        tree_from_state(state, SCHEMA)


def test_a_signalling_nan_is_a_nan_like_any_other():
    """NumPy warns when it computes with one; warnings are errors in this suite."""
    tree = make_tree()
    threshold = tree.threshold.copy()
    threshold.view(np.uint64)[[1, 4]] = 0x7FF0000000000001
    validate_tree(replace(tree, threshold=threshold))
    threshold.view(np.uint64)[0] = 0x7FF0000000000001
    with pytest.raises(ModelFileError, match=r"node 0 .* neither finite nor"):
        validate_tree(replace(tree, threshold=threshold))


def test_a_tree_without_nodes_is_refused():
    tree = stump()
    empty = {
        name: getattr(tree, name)[:0] for name in vars(tree) if name not in ("schema", "surrogates")
    }
    with pytest.raises(ModelFileError, match="no nodes"):
        validate_tree(replace(tree, **empty))


def test_a_broken_tree_is_found_when_it_is_saved():
    tree = make_tree()
    broken = replace(tree, count=with_entry(tree.count, 0, -5))
    with pytest.raises(ModelFileError, match="node 0"):
        tree_to_state(broken)


def test_a_column_of_words_without_any_word_takes_no_threshold_but_may_be_asked_for_presence():
    schema = Schema((Column("empty", "ordinal", (), True, "str"),), named=True)
    pair = {"dtype": np.int32}
    tree = replace(
        stump(),
        kind=np.array([THRESHOLD, LEAF, LEAF], dtype=np.uint8),
        feature=np.array([0, -1, -1], **pair),
        threshold=np.array([INF, NAN, NAN]),
        first_child=np.array([1, -1, -1], **pair),
        n_children=np.array([2, 0, 0], **pair),
        missing_child=np.array([1, -1, -1], **pair),
        bits_start=np.full(3, -1, dtype=np.int64),
        value=np.ones((3, 1, 1)),
        **{name: np.zeros(3) for name in ("impurity", "gain", "weight")},
        count=np.zeros(3, dtype=np.int64),
        schema=schema,
    )
    validate_tree(tree)
    assert tree.condition(0, 1).pretty() == "empty is missing"
    with pytest.raises(ModelFileError, match="no rank"):
        validate_tree(replace(tree, threshold=np.array([0.0, NAN, NAN])))


def test_checking_a_large_tree_is_linear():
    """A chain of 200,000 splits: the worst shape for anything recursive or quadratic."""
    n = 400_001
    inner = np.arange(n) % 2 == 0
    inner[-1] = False
    number = np.arange(n)
    tree = Tree(
        kind=np.where(inner, THRESHOLD, LEAF).astype(np.uint8),
        feature=np.where(inner, 0, -1).astype(np.int32),
        threshold=np.where(inner, 1.0, NAN),
        first_child=np.where(inner, number + 1, -1).astype(np.int32),
        n_children=np.where(inner, 2, 0).astype(np.int32),
        missing_child=np.where(inner, 0, -1).astype(np.int32),
        bits_start=np.full(n, -1, dtype=np.int64),
        bits=np.zeros(0, dtype=np.uint32),
        value=np.zeros((n, 1, 1)),
        impurity=np.zeros(n),
        gain=np.zeros(n),
        weight=np.zeros(n),
        count=np.zeros(n, dtype=np.int64),
        schema=SCHEMA,
    )
    validate_tree(tree)
    with pytest.raises(ModelFileError, match="not exactly one parent"):
        validate_tree(replace(tree, first_child=with_entry(tree.first_child, 0, 3)))
