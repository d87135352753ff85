"""SHAP values by the definition: the laws that make them what they are, on games to be checked by hand."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from arboretum.textbook import (
    Branching,
    background_game,
    path_game,
    shapley_pairs,
    shapley_values,
)


def _tree() -> Branching:
    """x0 <= 0: 1, else x1 <= 0: 3, else 7; of 4, 3 and 1 rows."""
    right = Branching(
        weight=4,
        column=1,
        goes=lambda row: int(row[1] > 0),
        branches=[Branching(3.0, 3), Branching(7.0, 1)],
    )
    return Branching(
        weight=8, column=0, goes=lambda row: int(row[0] > 0), branches=[Branching(1.0, 4), right]
    )


def test_by_hand():
    """v({}) = 2.5, v(0) = 4, v(1) = 4, v(01) = 7: each column gets the mean of its two additions."""
    found = shapley_values(path_game([_tree()], [1.0, 1.0]), 2)
    assert_allclose(found.base, [2.5])
    assert_allclose(found.expected[frozenset({0})], [4.0])
    assert_allclose(found.expected[frozenset({1})], [4.0])
    assert_allclose(found.values.ravel(), [2.25, 2.25])
    assert_allclose(
        shapley_pairs(path_game([_tree()], [1.0, 1.0]), 2)[:, :, 0], [[1.5, 0.75], [0.75, 1.5]]
    )


def test_a_column_that_is_not_asked_for_gets_nothing():
    found = shapley_values(path_game([_tree()], [1.0, 1.0, 5.0]), 3)
    assert_allclose(found.values.ravel(), [2.25, 2.25, 0.0], atol=1e-15)
    weights = [one.weight for one in found.additions if one.column == 0]
    assert_allclose(sum(weights), 1.0)


def test_values_sum_to_the_answer_in_both_games():
    rng = np.random.default_rng(0)
    background = rng.normal(size=(5, 2))
    for row in rng.normal(size=(6, 2)):
        for game in (
            path_game([_tree()] * 2, row),
            background_game([_tree()] * 2, row, background),
        ):
            found, pairs = shapley_values(game, 2), shapley_pairs(game, 2)
            assert_allclose(found.base + found.values.sum(axis=0), game(frozenset({0, 1})))
            assert_allclose(pairs.sum(axis=1), found.values, atol=1e-14)
            assert_allclose(pairs, pairs.transpose(1, 0, 2))


def test_branches_without_weight_share_equally():
    node = Branching(branches=[Branching(1.0, 0.0), Branching(2.0, 0.0)], column=0)
    assert_allclose(node.shares, [0.5, 0.5])
    assert_allclose(path_game([node], [0.0])(frozenset()), [1.5])


def test_several_outputs_are_several_games():
    leafs = [Branching(np.array([1.0, 5.0])), Branching(np.array([3.0, 9.0]))]
    stump = Branching(column=0, goes=lambda row: 1, branches=leafs)
    found = shapley_values(path_game([stump], [0.0]), 1)
    assert_allclose(found.base, [2.0, 7.0])
    assert_allclose(found.values, [[1.0, 2.0]])
