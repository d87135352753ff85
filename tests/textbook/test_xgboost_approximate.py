"""Algorithm 2: with all values proposed it is the exact one; fewer proposals cost gain, local ones less."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from arboretum.textbook.xgboost import grow_xgb, predict_tree_xgb
from arboretum.textbook.xgboost_approximate import grow_approximate
from arboretum.textbook.xgboost_splits import XGBSettings


def make(seed, n=120, missing=0.15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 1] = rng.integers(0, 6, n)
    g = np.sin(3 * X[:, 0]) + 0.4 * X[:, 1] - 1 + rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, g, rng.uniform(0.2, 1.0, n)


@pytest.mark.parametrize("way", ["global", "local"])
@pytest.mark.parametrize("seed", range(3))
def test_with_every_value_proposed_it_is_the_exact_algorithm(seed, way):
    X, g, h = make(seed)
    rules = XGBSettings(max_depth=3, gamma=0.5)
    exact = grow_xgb(X, g, h, rules)
    tree = grow_approximate(X, g, h, 1e-9, way, rules).root
    assert [n.path for n in tree] == [n.path for n in exact]
    assert_allclose(predict_tree_xgb(tree, X), predict_tree_xgb(exact, X), rtol=1e-12)


def test_local_proposals_are_made_of_the_rows_of_the_node():
    X, g, h = make(5, 400, 0.0)
    rules = XGBSettings(max_depth=3, min_child_weight=0)
    one, all_nodes = (grow_approximate(X, g, h, 0.2, way, rules) for way in ("global", "local"))
    assert list(one.proposals) == [""]
    inner = {node.path for node in all_nodes.root if node.chosen}
    assert inner <= set(all_nodes.proposals)
    for node in all_nodes.root:
        for f, cuts in enumerate(all_nodes.proposals.get(node.path, [])):
            assert np.isin(cuts, X[node.rows, f]).all()
    for node in one.root:
        if node.chosen:
            assert node.chosen.cut in one.proposals[""][node.chosen.feature]


def test_finer_and_local_proposals_leave_less_loss():
    def saved(tree):
        return sum(node.similarity for node in tree.root if node.is_leaf)

    found = {(way, eps): 0.0 for way in ("global", "local") for eps in (0.4, 0.1)}
    for seed in range(8):
        X, g, h = make(seed, 400, 0.0)
        for way, eps in found:
            found[way, eps] += saved(grow_approximate(X, g, h, eps, way, XGBSettings(max_depth=4)))
    assert found["global", 0.1] > found["global", 0.4]
    assert found["local", 0.4] > found["global", 0.4]


def test_words_that_are_none():
    with pytest.raises(ValueError, match='"global" or "local"'):
        grow_approximate([[1.0]], [1.0], [1.0], proposals="once")
