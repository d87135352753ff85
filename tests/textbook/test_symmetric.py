"""The textbook's symmetric tree against sums by hand."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.textbook.gradient_scan import GradientNode, GradientRules
from arboretum.textbook.symmetric import grow_symmetric, scan_symmetric


def case(seed, n=60):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n, 3)).astype(float)
    X[rng.random((n, 3)) < 0.2] = np.nan
    return X, rng.integers(-9, 10, n).astype(float), np.ones(n)


def gain_by_hand(g, left, rules):
    """Return the gain of a cut of some rows with h = 1; 0 if the rules refuse it."""
    if min(left.sum(), (~left).sum()) < max(rules.min_weight, 1e-300):
        return 0.0

    def score(some):
        return some.sum() ** 2 / (len(some) + rules.reg_lambda)

    gain = score(g[left]) + score(g[~left]) - score(g)
    return gain if gain >= rules.min_gain and gain > 1e-9 else 0.0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("more", [{}, {"min_weight": 6.0}, {"min_gain": 8.0}, {"reg_lambda": 9.0}])
def test_every_level_has_the_cut_of_the_largest_sum(seed, more):
    X, g, h = case(seed)
    rules = GradientRules(**more)
    tree = grow_symmetric(X, g, h, rules, 3)
    assert tree.levels
    for level in tree.levels:
        sums = [
            sum(
                gain_by_hand(g[leaf.rows], _left(X[leaf.rows, f], cut, side), rules)
                for leaf in level.leaves
            )
            for f in range(3)
            for side in (False, True)
            for cut in [0.5, 1.5, 2.5, 3.5, np.inf]
        ]
        assert level.chosen.gain == pytest.approx(max(sums))
        assert level.chosen.gain == max(cut.gain for cut in level.best.values() if cut is not None)


def _left(x, cut, side):
    return np.where(np.isnan(x), side, x <= cut)


def test_a_leaf_without_a_gain_stays_whole_and_is_tried_again():
    X = np.array([[0.0, 0, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1]])
    g = np.array([-8.0, 20.0, -7.0, -6.0])
    tree = grow_symmetric(X, g, np.ones(4), GradientRules(reg_lambda=0.0), 3)
    first, *rest = tree.levels
    assert first.chosen.feature == 1
    bits = {tuple(leaf.rows.tolist()): leaf.bits for leaf in tree.leaves}
    assert all(len(one) == len(tree.levels) for one in bits.values())
    assert bits[(1,)][1:] == (None,) * len(rest)  # one row: nothing to gain
    np.testing.assert_allclose(tree.predict(X), -g)
    assert len(tree.table()) == 2 ** len(tree.levels)


@pytest.mark.parametrize("seed", range(3))
def test_the_table_has_the_answers_of_the_leaves(seed):
    X, g, h = case(seed)
    tree = grow_symmetric(X, g, h, max_depth=4, categorical=(2,))
    predicted = tree.predict(X)
    for leaf in tree.leaves:
        np.testing.assert_array_equal(predicted[leaf.rows], leaf.node.answer)
    assert sum(len(leaf.rows) for leaf in tree.leaves) == len(X)


def test_categories_stand_in_one_order_for_all_leaves():
    nodes = [GradientNode(0.0, 4.0, 4), GradientNode(0.0, 4.0, 4)]
    # alone: category 0 predicts most at the first leaf, least at the second
    g = np.array([[-9.0, 1, 2, 6], [6.0, 1, 2, -9]])
    bins = np.stack([g, np.ones((2, 4)), np.ones((2, 4))], axis=2)
    rules = GradientRules(max_onehot=1)
    nodes = [GradientNode(0.0, 4.0, 4, rules=rules) for _ in nodes]
    scan = scan_symmetric(nodes, 0, bins, np.empty(0), np.zeros((2, 3)), [10, 11, 12, 13])
    sets = [sorted(categories) for _, categories in scan.cuts]
    assert sets[:3] == [[12], [11, 12], [10, 11, 12]]  # by ΣG of both leaves: 4, 2, -3, -3
    assert scan.best().gains.min() > 0


def test_answers_follow_a_monotone_constraint():
    X, g, h = case(1, 200)
    g -= 2 * np.nan_to_num(X[:, 0])
    tree = grow_symmetric(X, g, h, max_depth=5, monotone=(1, 0, 0))
    rest = np.nan_to_num(X[:50])
    steps = [tree.predict(np.column_stack([np.full(50, x), rest[:, 1:]])) for x in range(5)]
    assert (np.diff(steps, axis=0) >= -1e-12).all()
