"""Grown nodes become trees: what is left out is filled in, and many trees are views of their nodes."""

import numpy as np

from arboretum.data.schema import learn_schema
from arboretum.structure.build import build_tree, cut_trees, leaves, to_leaves
from arboretum.structure.sound import validate_tree
from arboretum.structure.tree import LEAF, SUBSET, THRESHOLD

SCHEMA, _ = learn_schema([[1.0, "a"], [2.0, "b"]])


def _stump(kind: int, feature: int, threshold: float) -> dict:
    nodes = leaves(3)
    nodes["kind"][0], nodes["feature"][0], nodes["threshold"][0] = kind, feature, threshold
    nodes["first_child"][0], nodes["missing_child"][0] = 1, 0
    told = {"value": np.ones((3, 1, 1)), "impurity": np.zeros(3), "weight": np.array([2.0, 1, 1])}
    return {**nodes, **told, "count": np.array([2, 1, 1])}


def test_what_is_left_out_is_filled_in():
    nodes = _stump(THRESHOLD, 0, 1.5)
    del nodes["n_children"], nodes["bits_start"]
    nodes["missing_child"] = nodes["missing_child"].astype(np.int8)  # growers may keep less
    tree = build_tree(SCHEMA, **nodes)
    validate_tree(tree)
    assert tree.n_children.tolist() == [2, 0, 0]
    assert tree.bits_start.tolist() == [-1, -1, -1]
    assert (tree.bits.tolist(), tree.surrogates) == ([], None)
    assert tree.missing_child.dtype == tree.first_child.dtype == tree.feature.dtype == np.int32


def test_many_trees_are_cut_from_their_nodes():
    one, two = _stump(THRESHOLD, 0, 1.5), _stump(SUBSET, 1, np.nan)
    two["bits_start"][0], two["n_children"][0], one["n_children"][0] = 0, 2, 2
    both = {name: np.concatenate([one[name], two[name]]) for name in one}
    bits = np.array([1], np.uint32)
    first, second = cut_trees(SCHEMA, np.array([3, 6]), bits=bits, bits_ends=[0, 1], **both)
    for tree, nodes in ((first, one), (second, two)):
        validate_tree(tree)
        for name, expected in nodes.items():
            np.testing.assert_array_equal(getattr(tree, name), expected)
    assert (len(first.bits), second.bits.tolist()) == (0, [1])
    assert np.shares_memory(first.value, second.value.base)


def test_trees_without_sets_need_no_words():
    nodes = _stump(THRESHOLD, 0, 1.5)
    del nodes["bits_start"]
    (tree,) = cut_trees(SCHEMA, np.array([3]), **nodes)
    assert tree.bits_start.tolist() == [-1, -1, -1]
    assert len(tree.bits) == 0


def test_nodes_turn_to_leaves():
    nodes = _stump(THRESHOLD, 0, 1.5)
    names = ("feature", "threshold", "first_child", "missing_child", "gain")
    cut = to_leaves(np.ones(3, np.bool_), **{name: nodes[name] for name in names})
    for name in names:
        np.testing.assert_array_equal(cut[name], leaves(3)[name])
        assert cut[name].dtype == nodes[name].dtype
    assert (leaves(2)["kind"] == LEAF).all()
