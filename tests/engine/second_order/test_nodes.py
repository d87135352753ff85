"""A tree while it grows: which leaf comes next, sides of codes, children, bounds, answers."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.dtypes import (
    CATEGORIES,
    COUNTERS,
    NODE,
    NUMBER,
    PAIR,
    RANGE,
    SPLIT,
    TASK,
    as_records,
    record_table,
)
from arboretum.engine.second_order import nodes as engine
from arboretum.engine.second_order.histogram import BINS
from arboretum.engine.second_order.score import Features
from arboretum.grow.histogram import new_draw
from tests.engine.second_order.scan_cases import RULES

NO_GROUPS = np.empty((0, 0), np.uint64)


def new_tree(n_nodes, *, slots=8, blocks=1, words=1, codes=BINS):
    counters = as_records(np.zeros(1, COUNTERS))
    counters["nodes"], counters["leaves"], counters["free_slots"] = 1, 1, slots
    nodes = as_records(np.zeros(n_nodes, NODE))
    nodes["first_child"], nodes["slot"] = -1, -1
    return engine.GrowingTree(
        nodes, np.zeros((n_nodes, words), np.uint32), counters, np.empty(n_nodes, np.int64),
        np.arange(slots), np.empty((0, 0), np.int64), np.empty((0, 0), np.int64),
        np.empty((2, 0), np.uint64), as_records(np.zeros((n_nodes, blocks), RANGE)),
        np.empty(0, np.int32), np.empty((blocks, n_nodes, 2), np.int64), np.empty(codes, np.uint8),
        new_draw(np.arange(2), 2, n_nodes, NO_GROUPS),
        as_records(np.zeros(1, TASK)), as_records(np.zeros(4, SPLIT)),
        np.zeros((4, words), np.uint32),
    )  # fmt: skip


def features_of(n_bins, *, default=-1, offset=0, category=False, sign=None):
    return Features(
        np.zeros(1, np.int32), np.array([offset], np.int32), np.array([n_bins], np.int32),
        np.array([default], np.int32), np.array([category]),
        np.empty(0, np.int8) if sign is None else np.array([sign], np.int8),
    )  # fmt: skip


# ---------------------------------------------------------------------- whose turn it is
@kernel
def wait(tree, node, rules):
    engine.keep_split(tree, node, 0, 2, rules)


@kernel
def take_turns(tree, rules, out):
    many = 0
    while True:
        leaf = engine.next_leaf(tree, rules)
        if leaf < 0:
            return many
        out[many] = leaf
        many += 1


@pytest.mark.parametrize("depth_first", [False, True])
@pytest.mark.parametrize("n", [1, 2, 25])
def test_leaves_come_in_the_order_of_gain_or_of_depth(n, depth_first):
    rng = np.random.default_rng(n)
    rules, tree = RULES._replace(depth_first=depth_first), new_tree(n, slots=n + 3)
    gains, depths = rng.integers(1, 6, n).astype(float), rng.integers(0, 4, n)  # with ties
    tree.nodes["depth"] = depths
    for leaf in rng.permutation(n):
        tree.best["gain"][:2] = gains[leaf] - 1, gains[leaf]  # the better of two pieces is kept
        tree.best["feature"][:2] = 0, 1
        tree.best_members[:2, 0] = 7, 9
        wait(tree, leaf, rules)
        assert tree.nodes["split"]["feature"][leaf] == 1
        assert tree.members[leaf, 0] == 9
    out = np.empty(n, np.int64)
    assert take_turns(tree, rules, out) == n
    first = depths if depth_first else -gains
    assert out.tolist() == sorted(range(n), key=lambda leaf: (first[leaf], leaf))


def test_no_turn_is_left_when_there_are_leaves_enough():
    tree = new_tree(3)
    tree.best["feature"][:2] = 0
    wait(tree, 0, RULES)
    tree.counters["leaves"] = RULES.max_leaves
    assert take_turns(tree, RULES, np.empty(3, np.int64)) == 0


def test_a_leaf_without_a_split_gives_its_histograms_back():
    tree = new_tree(3, slots=4)
    tree.nodes["slot"][1] = take_slot(tree)
    assert tree.nodes["slot"][1] == 3
    tree.best["feature"][:2] = -1
    wait(tree, 1, RULES)
    assert tree.nodes["slot"][1] == -1
    assert tree.counters["free_slots"][0] == 4
    assert tree.counters["waiting"][0] == 0


def test_a_leaf_that_waits_gives_its_histograms_back_where_they_are_short():
    tree = new_tree(3, slots=2)
    tree.nodes["slot"][0] = take_slot(tree)
    tree.best["feature"][:2] = 0
    wait(tree, 0, RULES)  # one place is left, and two children need two
    assert tree.nodes["slot"][0] == -1
    assert sorted(tree.free_slots.tolist()) == [0, 1]


@kernel
def take_slot(tree):
    return engine.take_slot(tree)


# ---------------------------------------------------------------------- sides
@kernel
def fill_sides(features, tree, store, node):
    engine.fill_sides(features, tree, store, node)


def store_of(n_codes, *, wide):
    codes = np.empty((0 if wide else 1, 1), np.uint8)
    starts = np.array([0, n_codes + 1 if wide else BINS])
    none = np.empty((0, 0), np.uint64)
    wide_codes = np.empty((int(wide), 1), np.uint16)
    return engine.Store(codes, none[:, :, None], 1, wide_codes, none, 1, starts)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("missing_left", [0, 1])
@pytest.mark.parametrize("by_set", [False, True])
def test_every_code_of_a_column_has_its_side(by_set, missing_left, wide):
    n, store = 40, store_of(40, wide=wide)
    tree = new_tree(1, words=2)
    split = tree.nodes["split"]
    split["feature"], split["bin"], split["missing_left"] = 0, 17, missing_left
    split["kind"] = CATEGORIES if by_set else NUMBER
    tree.members[0] = 0b1011, 0b1
    fill_sides(features_of(n, category=by_set), tree, store, 0)
    left = {0, 1, 3, 32} if by_set else set(range(18))
    last = n if wide else BINS - 1
    assert tree.goes_left[:n].tolist() == [int(b in left) for b in range(n)]
    assert tree.goes_left[last] == missing_left


@pytest.mark.parametrize("default", [0, 3, 9])
@pytest.mark.parametrize("by_set", [False, True])
def test_of_a_bundled_column_what_is_not_stored_goes_with_its_default_bin(by_set, default):
    n, offset = 10, 20
    tree = new_tree(1)
    split = tree.nodes["split"]
    split["feature"], split["bin"], split["kind"] = 0, 4, CATEGORIES if by_set else NUMBER
    tree.members[0] = 0b1000001010
    fill_sides(
        features_of(n, default=default, offset=offset, category=by_set), tree,
        store_of(n, wide=False), 0,
    )  # fmt: skip
    left = {1, 3, 9} if by_set else set(range(5))
    stored = [b for b in range(n) if b != default]
    expected = np.full(BINS, default in left, np.uint8)
    expected[offset : offset + len(stored)] = [b in left for b in stored]
    assert tree.goes_left.tolist() == expected.tolist()


@pytest.mark.parametrize("missing_left", [0, 1])
def test_of_a_bundled_column_what_is_not_stored_may_be_missing(missing_left):
    n, offset = 4, 20
    tree = new_tree(1)
    split = tree.nodes["split"]
    split["feature"], split["bin"], split["kind"] = 0, n - 1, NUMBER
    split["missing_left"] = missing_left
    fill_sides(features_of(n, default=n, offset=offset), tree, store_of(n, wide=False), 0)
    expected = np.full(BINS, missing_left, np.uint8)
    expected[offset : offset + n] = 1
    assert tree.goes_left.tolist() == expected.tolist()


# ---------------------------------------------------------------------- children
@kernel
def make_root(tree, n_rows, slot):
    engine.make_root(tree, n_rows, slot)


@kernel
def add_children(tree, node, features, unit, rules):
    return engine.add_children(tree, node, features, unit[0], rules)


@kernel
def may_split(tree, node, rules):
    return engine.may_split(tree, node, rules)


def unit_of(g, h):
    unit = record_table(1, PAIR)
    unit["g"], unit["h"] = g, h
    return unit


def test_the_root_has_all_rows_in_even_blocks():
    tree = new_tree(3, blocks=3)
    make_root(tree, 100, 2)
    assert (tree.nodes["rows"][0], tree.nodes["slot"][0]) == (100, 2)
    assert tree.ranges["start"][0].tolist() == [0, 33, 66]
    assert tree.ranges["end"][0].tolist() == [33, 66, 100]
    assert np.isneginf(tree.nodes["lower"][0])


@pytest.mark.parametrize("sign", [None, 1, -1])
def test_children_share_rows_sums_and_bounds(sign):
    tree, rules = new_tree(5, blocks=2), RULES._replace(l2=2.0)
    make_root(tree, 50, 0)
    root, split = tree.nodes[:1], tree.nodes["split"]
    root["sum_g"], root["sum_h"], root["answer"] = 12, 80, 0.0
    split["feature"][0], split["left_g"][0], split["left_h"][0] = 0, -8, 30
    split["kind"][0] = NUMBER
    tree.ranges["start"][1], tree.ranges["end"][1] = [0, 25], [7, 36]
    assert add_children(tree, 0, features_of(9, sign=sign), unit_of(0.5, 0.25), rules) == 1
    left, right = tree.nodes[1], tree.nodes[2]
    assert (left["rows"], right["rows"]) == (18, 32)
    assert (left["sum_g"], left["sum_h"], right["sum_g"], right["sum_h"]) == (-8, 30, 20, 50)
    assert left["answer"] == pytest.approx(-(-8 * 0.5) / (30 * 0.25 + 2))
    assert right["answer"] == pytest.approx(-(20 * 0.5) / (50 * 0.25 + 2))
    middle = (left["answer"] + right["answer"]) / 2
    bounds = [left["lower"], left["upper"], right["lower"], right["upper"]]
    free = [-np.inf, np.inf]
    assert (
        bounds
        == {
            None: [*free, *free],
            1: [-np.inf, middle, middle, np.inf],
            -1: [middle, np.inf, -np.inf, middle],
        }[sign]
    )
    assert tree.counters[["nodes", "leaves"]][0].tolist() == (3, 2)


def test_leaves_that_are_small_deep_or_too_many_are_not_split():
    tree, rules = new_tree(3), RULES._replace(min_rows=5.0, max_depth=3, max_leaves=4)
    tree.nodes["rows"], tree.nodes["depth"] = [10, 9, 40], [2, 0, 3]
    assert [may_split(tree, node, rules) for node in range(3)] == [True, False, False]
    tree.nodes["rows"][1] = 1
    assert not may_split(tree, 1, RULES)  # one row
    tree.counters["leaves"] = 4
    assert not may_split(tree, 0, rules)


# ---------------------------------------------------------------------- answers
@kernel
def give_answers(tree, features, fine, rules):
    engine.give_answers(tree, features, fine[0], rules)


@pytest.mark.parametrize("path_smooth", [0.0, 3.0])
@pytest.mark.parametrize("by_set", [False, True])
def test_answers_come_from_the_sums_of_leaves(by_set, path_smooth):
    rules = RULES._replace(l2=1.0, cat_l2=4.0, max_onehot=2, path_smooth=path_smooth)
    tree = new_tree(5)
    tree.counters["nodes"] = 5  # 0 -> 1, 2; 2 -> 3, 4
    nodes = tree.nodes
    nodes["first_child"] = [1, -1, 3, -1, -1]
    nodes["split"]["kind"] = CATEGORIES if by_set else NUMBER
    nodes["lower"], nodes["upper"] = -np.inf, np.inf
    nodes["rows"], nodes["answer"] = [30, 10, 20, 5, 15], [0.1, 0.2, 0.3, 0.4, 0.5]
    g, h = np.array([0, 16, 0, -24, 40]), np.array([0, 8, 0, 12, 20])
    nodes["fine_g"], nodes["fine_h"] = g, h
    give_answers(tree, features_of(9, category=by_set), unit_of(8.0, 4.0), rules)
    g, h = np.array([32, 16, 16, -24, 40]) / 8, np.array([40, 8, 32, 12, 20]) / 4
    assert nodes["cover"].tolist() == h.tolist()
    l2 = np.array([1.0, *[5.0 if by_set else 1.0] * 4])
    value = -g / (h + l2)
    if path_smooth:
        above, share = np.array([0.1, 0.1, 0.3, 0.3]), nodes["rows"][1:] / path_smooth
        value[1:] = (value[1:] * share + above) / (share + 1)
    assert nodes["value"] == pytest.approx(value)


def test_a_root_of_too_little_weight_answers_nothing():
    tree = new_tree(1)
    tree.nodes["lower"], tree.nodes["upper"], tree.nodes["rows"] = -np.inf, np.inf, 3
    tree.nodes["fine_g"], tree.nodes["fine_h"] = 8, 2
    give_answers(tree, features_of(2), unit_of(8.0, 4.0), RULES._replace(min_weight=1.0))
    assert (tree.nodes["value"][0], tree.nodes["cover"][0]) == (0.0, 0.5)
