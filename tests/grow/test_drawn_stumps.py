"""Stumps that draw, or count bins, are the trees of the general growers to the last bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from arboretum import CARTClassifier
from arboretum.grow.binned_stumps import BinnedStumps, can_be_binned_stump
from arboretum.grow.drawn_stumps import DrawnStumps, RandomStumps, can_be_drawn_stump
from arboretum.grow.reweighted import Drawn, Shallow

KEPT = (
    "kind", "feature", "threshold", "first_child", "missing_child", "value", "impurity", "gain", "weight",
    "count", "bits", "bits_start",
)  # fmt: skip


def _case(seed, words, gaps, **parameters):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 200))
    X = rng.normal(size=(n, 5)).round(seed % 3)
    X[:, 4] = 1.0  # tells nothing
    kinds = {}
    if words:
        X[:, 1], X[:, 2] = rng.integers(0, 5, n), rng.integers(0, 3, n)
        kinds = {"categorical_features": [1], "ordinal_features": {2: [0, 1, 2]}}
    if gaps:
        X[rng.random(X.shape) < 0.2] = np.nan
    y = (np.nan_to_num(X[:, 0]) + rng.normal(size=n) > 0).astype(int)
    y[:2] = [0, 1]
    base = CARTClassifier(max_depth=1, **parameters, **kinds).fit(X, y)
    weights = [rng.random(n) + 1e-3, np.ones(n), np.where(rng.random(n) < 0.3, 0.0, 0.7)]
    weights[2][:2] = 0.7
    return base, base._encode(X), base.schema_, y[:, None], weights


def _same(own, general):
    for name in KEPT:
        one, other = getattr(own.tree, name), getattr(general.tree, name)
        assert one.dtype == other.dtype
        assert_array_equal(one, other)
    assert_array_equal(own.leaf, general.leaf)


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_stumps_that_draw_columns(words, gaps, seed):
    base, matrix, schema, y, weights = _case(seed, words, gaps, max_features=2)
    assert can_be_drawn_stump(base, matrix, schema, 2)
    own, general = DrawnStumps(base, matrix, schema, y), Drawn(base, matrix, schema, y, 2)
    for turn, w in enumerate(weights):
        _same(own.grow(w, 17 * seed + turn), general.grow(w, 17 * seed + turn))


@pytest.mark.parametrize("columns", [None, 2])
@pytest.mark.parametrize("seed", range(6))
def test_stumps_that_draw_cuts(columns, seed):
    base, matrix, schema, y, weights = _case(
        seed, False, False, splitter="random", max_features=columns
    )
    assert can_be_drawn_stump(base, matrix, schema, 2)
    own, general = RandomStumps(base, matrix, schema, y), Drawn(base, matrix, schema, y, 2)
    for turn, w in enumerate(weights):
        _same(own.grow(w, 17 * seed + turn), general.grow(w, 17 * seed + turn))


def test_random_cuts_of_words_and_gaps_are_left_to_the_general_grower():
    for words, gaps in ((True, False), (False, True)):
        base, matrix, schema, _, _ = _case(1, words, gaps, splitter="random")
        assert not can_be_drawn_stump(base, matrix, schema, 2)


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_stumps_on_bins(words, gaps, seed):
    base, matrix, schema, y, weights = _case(seed, words, gaps, max_bins=5)
    assert can_be_binned_stump(base, 2)
    own = BinnedStumps(matrix, schema, y[:, 0], 5, 1, float(base.category_penalty))
    general = Shallow(base, matrix, schema, y, 2)
    for w in weights:
        _same(own.grow(w), general.grow(w))
