"""The best cut of a root, through one compiled call, against every cut tried in plain NumPy."""

import numpy as np
import pytest

from arboretum.data.schema import learn_schema
from arboretum.engine.split.score import SQUARED
from arboretum.grow.depth_first.grower import DepthFirstGrower
from arboretum.grow.grower import make_target
from arboretum.grow.settings import Growth


def _best(x: np.ndarray, y: np.ndarray) -> float:
    """Return the largest decrease of the variance by a cut of one column."""
    best, gone = -1.0, np.isnan(x)
    for cut in np.unique(x[~gone]):
        for side in (False, True) if gone.any() else (False,):
            left = np.where(gone, side, x <= cut)
            if 0 < left.sum() < len(y):
                after = left.mean() * y[left].var() + (~left).mean() * y[~left].var()
                best = max(best, y.var() - after)
    return best


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("values", [3, 1000])
@pytest.mark.parametrize("n", [2, 10, 60, 500])
def test_the_best_of_all_cuts(n, values, missing):
    rng = np.random.default_rng(n + values)
    X = rng.integers(0, values, (n, 3)).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    X[0] = 1.0  # every column has a value
    y = rng.normal(size=n)
    schema, matrix = learn_schema(X)
    target, how = make_target(y[:, None], None, None), Growth(SQUARED, max_depth=1)
    tree = DepthFirstGrower(matrix, schema, how).grow(target, None, 0).tree
    best = [_best(X[:, f], y) for f in range(3)]
    if len(tree) == 1:
        assert max(best) <= 1e-12
        return
    assert tree.gain[0] == pytest.approx(max(best), rel=1e-9)
    assert best[tree.feature[0]] == pytest.approx(max(best), rel=1e-9)


@pytest.mark.parametrize("end", [np.argmin, np.argmax])
@pytest.mark.parametrize("n", [2, 60, 500])
def test_a_row_at_either_end_is_cut_off(n, end):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))  # all values differ: they are sorted, not counted
    y = np.zeros(n)
    y[end(X[:, 1])] = 9.0
    X[:, [0, 2]] = X[:1, [0, 2]]
    schema, matrix = learn_schema(X)
    target, how = make_target(y[:, None], None, None), Growth(SQUARED, max_depth=1)
    tree = DepthFirstGrower(matrix, schema, how).grow(target, None, 0).tree
    assert tree.feature[0] == 1
    assert min(tree.count[1:3]) == 1
    assert sorted(tree.value[1:3, 0, 0]) == [0.0, 9.0]


def test_a_tree_depends_on_its_seed_alone():
    """Grown alone or in a row of trees, it is the same."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 4)), rng.normal(size=80)
    schema, matrix = learn_schema(X)
    target = make_target(y[:, None], None, None)
    for random_splits in (False, True):
        how = Growth(SQUARED, random_splits=random_splits, max_features=2)
        grower, ones = DepthFirstGrower(matrix, schema, how), np.ones((3, 80))
        three = grower.grow_trees(target, ones, [5, 6, 7])
        alone = grower.grow_trees(target, ones[:1], [6])[0]
        np.testing.assert_array_equal(three[1].threshold, alone.threshold)
        np.testing.assert_array_equal(three[1].value, alone.value)
        assert len(three[0]) != len(three[2]) or np.any(three[0].threshold != three[2].threshold)
