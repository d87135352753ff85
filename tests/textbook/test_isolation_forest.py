"""Isolation forests of the textbook: figures calculated by hand, and scikit-learn's formula."""

import numpy as np
import pytest
from sklearn.ensemble._iforest import _average_path_length

from arboretum.textbook import (
    anomaly_scores,
    average_path_length,
    draw_cut,
    grow_isolation_forest,
    grow_isolation_tree,
    path_of,
)

X = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [20.0, 1.0]])


def test_average_path_length():
    # c(3) = 2 (ln 2 + γ) - 4/3
    assert average_path_length(3) == pytest.approx(2 * (np.log(2) + 0.5772156649) - 4 / 3)
    n = np.arange(300)
    np.testing.assert_allclose(average_path_length(n), _average_path_length(n), rtol=1e-14)
    assert (np.diff(average_path_length(n)[1:]) > 0).all()


def test_a_tree_by_hand():
    cuts = iter([(0, 10.0), (0, 1.5), (1, 0.5)])
    tree = grow_isolation_tree(X, lambda rows: next(cuts), max_depth=3)
    lengths = [path_of(tree, x)[-1].path_length for x in X]
    assert lengths == [2.0, 3.0, 3.0, 1.0]
    assert [node.rows.tolist() for node in path_of(tree, X[1])] == [
        [0, 1, 2, 3], [0, 1, 2], [1, 2], [1],
    ]  # fmt: skip


def test_a_tree_stops_at_its_depth_and_at_rows_that_are_alike():
    tree = grow_isolation_tree(X, lambda rows: (0, 10.0), max_depth=1)
    assert path_of(tree, X[0])[-1].path_length == pytest.approx(1 + average_path_length(3))
    rng = np.random.default_rng(0)
    alike = grow_isolation_tree(np.ones((5, 2)), lambda rows: draw_cut(rows, rng), max_depth=8)
    assert alike.left is None
    assert alike.path_length == average_path_length(5)


def test_scores():
    forest = grow_isolation_forest(X, n_trees=40, seed=1)
    found = anomaly_scores(forest, X)
    assert found.path_lengths.shape == (4, 40)
    assert found.expected == average_path_length(4)
    assert found.scores.argmax() == 3
    mean = found.path_lengths[0].mean()
    assert found.scores[0] == pytest.approx(2 ** (-mean / found.expected))
    alike = anomaly_scores(grow_isolation_forest(np.ones((9, 1)), n_trees=3), [[1.0], [5.0]])
    assert alike.scores.tolist() == [0.5, 0.5]
    assert anomaly_scores(grow_isolation_forest([[1.0]], n_trees=2), [[3.0]]).scores.tolist() == [
        0.5
    ]
