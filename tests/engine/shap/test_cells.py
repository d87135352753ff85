"""Parts of trees, their cells and groups: every leaf in one of them, every state told what it should be."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum import CARTRegressor, ExtraTreesRegressor
from arboretum.predict.shap.layout import lay_out
from arboretum.predict.shap.tabling import Tabled
from tests.predict.shap.shap_cases import table, targets


def _tabled(model, most):
    layout = lay_out(model.ensemble_.additive(), model.n_features_in_)
    return Tabled(layout, np.arange(layout.n_trees), most, None, model.n_features_in_)


@pytest.mark.parametrize("most", [2, 16, 256])
def test_every_leaf_is_in_one_group(most):
    model = ExtraTreesRegressor(4, random_state=0).fit(table(), targets()["number"])
    made = _tabled(model, most)
    groups, sizes = made._group(np.arange(4), most)
    layout, edges = made.layout, made.layout.edges
    seen = []
    for root, members in zip(groups.root, groups.leaves, strict=True):
        first, size = layout.branches.place[root], layout.branches.size[root]
        leaves = [n for n in edges.order[first : first + size] if layout.n_children[n] == 0]
        assert len(leaves) <= 64
        seen += [leaf for k, leaf in enumerate(leaves) if int(members) >> k & 1]
    assert sorted(seen) == np.flatnonzero(layout.n_children == 0).tolist()
    alone = np.array([int(members).bit_count() == 1 for members in groups.leaves])
    assert (sizes[~alone, 0] <= most).all()


def test_states_say_what_leaves_are_reached():
    """Rows in the same state of a group are told the same by it: as many states as different answers."""
    X = np.array([[1.0], [2.0], [3.0], [np.nan]])
    model = CARTRegressor(max_leaf_nodes=3).fit(X, [0.0, 1.0, 5.0, 9.0])
    made = _tabled(model, 64)
    assert len(made.tables.states) == 1
    assert made.tables.states[0] == 3
    out = np.zeros((4, 1, 1))
    made.add(model._encode(X), out)
    np.testing.assert_allclose(out[:, 0, 0] + made.layout.base, model.predict(X))


def test_branches_count_what_is_below():
    model = ExtraTreesRegressor(2, random_state=1).fit(table(), targets()["number"])
    layout = lay_out(model.ensemble_.additive(), 4)
    found, starts = layout.branches, layout.starts
    for t, tree in enumerate(model.trees_):
        below = np.ones(len(tree), int)
        leaves = tree.is_leaf.astype(int)
        for node in range(len(tree) - 1, 0, -1):
            below[tree.parent[node]] += below[node]
            leaves[tree.parent[node]] += leaves[node]
        here = slice(starts[t], starts[t + 1])
        np.testing.assert_array_equal(found.size[here], below)
        np.testing.assert_array_equal(found.leaves[here], leaves)
        np.testing.assert_array_equal(found.parent[here][1:], tree.parent[1:] + starts[t])
