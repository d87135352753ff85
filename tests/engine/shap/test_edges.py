"""What edges let by: by hand, and as the paths of random trees say."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from arboretum import CARTRegressor, ExtraTreesRegressor
from arboretum.predict.shap.layout import lay_out


def _layout(model):
    return lay_out(model.ensemble_.additive(), model.n_features_in_)


def test_by_hand():
    """x0 <= 1.5: leaf (2 of 8 rows), else x0 <= 3.5 (4 rows) or more (2 rows)."""
    X = np.array([[1.0], [1.0], [3.0], [3.0], [3.0], [3.0], [4.0], [4.0]])
    model = CARTRegressor().fit(X, [0.0, 0.0, 5.0, 5.0, 5.0, 5.0, 9.0, 9.0])
    layout = _layout(model)
    edges, tree = layout.edges, model.tree_
    assert tree.threshold[0] == 2.0
    assert_array_equal(edges.order, [0, 1, 2, 3, 4])
    assert_array_equal(edges.depth, [0, 1, 1, 2, 2])
    assert_array_equal(edges.branch[1:], [0, 1, 0, 1])
    assert_allclose(edges.above, [1, 1, 1, 0.75, 0.75])
    assert_allclose(edges.share, [1, 0.25, 0.75, 0.5, 0.25])
    assert_allclose(edges.reach, [1, 0.25, 0.75, 0.5, 0.25])
    assert_array_equal(edges.same, [0, 0, 0, 1, 1])
    assert (layout.longest[0], layout.deepest[0], layout.patterns[0]) == (1, 2, 6.0)
    assert_allclose(layout.base, [0.5 * 5 + 0.25 * 9])


def test_of_random_trees():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    model = ExtraTreesRegressor(3, random_state=0).fit(X, rng.normal(size=200))
    layout = _layout(model)
    edges = layout.edges
    for t, tree in enumerate(model.trees_):
        first, columns = layout.starts[t], []
        for leaf in tree.leaves:
            shares: dict[int, float] = {}
            node, reach = int(leaf), 1.0
            while node:
                above = int(tree.parent[node])
                part = tree.weight[node] / tree.weight[above]
                shares[int(tree.feature[above])] = shares.get(int(tree.feature[above]), 1.0) * part
                node, reach = above, reach * part
            last = int(tree.feature[tree.parent[leaf]])
            assert_allclose(edges.share[first + leaf], shares[last])
            assert_allclose(edges.reach[first + leaf], reach)
            columns.append(len(shares))
        assert layout.longest[t] == max(columns)
        assert layout.patterns[t] == sum(2.0**d for d in columns)
        order = edges.order[first : layout.starts[t + 1]] - first
        assert_array_equal(np.sort(order), np.arange(len(tree)))
        assert layout.deepest[t] == tree.max_depth
