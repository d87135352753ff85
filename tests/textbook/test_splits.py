"""The candidates of one node: every figure, every verdict, every way to part the categories."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum.textbook.questions import cut_points, subsets
from arboretum.textbook.splits import Rules, candidates, choose

NAN = np.nan


def test_every_figure_of_a_small_table():
    X = [[1.0], [2.0], [4.0], [4.0]]
    table = candidates(X, [0, 1, 1, 1], w=[1, 1, 1, 2], total=10.0)
    first, second = table
    assert [c.threshold for c in table] == [1.5, 3.0]
    assert_array_equal(first.left, [True, False, False, False])
    assert (first.n_left, first.n_right, first.weight_left, first.weight_right) == (1, 3, 1, 4)
    assert (first.impurity_left, first.impurity_right) == (0.0, 0.0)
    assert_allclose(first.gain, 0.5 * 0.32)  # half of the tree's weight, Gini 1 - .04 - .64
    assert (second.impurity_left, second.missing_goes) == (0.5, None)
    assert_allclose(second.gain, 0.5 * (0.32 - 0.4 * 0.5))
    assert first.verdict == second.verdict == "admissible"


def test_thresholds_of_each_kind():
    big, tiny = np.finfo(float).max, np.nextafter(1.0, 2.0)
    assert cut_points(np.array([big, big / 2]), "numeric") == [big / 4 + big / 2]
    assert cut_points(np.array([1.0, tiny]), "numeric") == [1.0]
    # the halfway point of these two rounds to the upper one
    upper = np.nextafter(tiny, 2.0)
    assert cut_points(np.array([tiny, upper]), "numeric") == [tiny]
    assert cut_points(np.array([1.0, 2.0, 3.0, 4.0]), "ordinal") == [1.0, 2.0, 3.0]
    assert cut_points(np.array([7.0]), "numeric") == []
    for m in range(1, 7):
        parts = subsets(np.arange(float(m)))
        assert len(parts) == len(set(parts)) == 2 ** (m - 1) - 1


def test_refused_splits_name_the_rule():
    X = np.arange(5.0)[:, None]
    rows = candidates(X, [0, 0, 1, 1, 1], rules=Rules(min_samples_leaf=2))
    assert [c.verdict == "min_samples_leaf" for c in rows] == [True, False, False, True]
    weight = candidates(X, [0, 0, 1, 1, 1], [9, 1, 1, 1, 1], Rules(min_weight_leaf=3))
    assert [c.verdict == "min_weight_leaf" for c in weight] == [False, False, True, True]
    poisson = candidates(X, [0, 0, 1, 2, 3], rules=Rules("poisson"))
    assert [c.verdict == "admissible" for c in poisson] == [False, False, True, True]
    down = candidates(X, [1, 2, 3, 4, 0], rules=Rules("squared_error", monotonic_cst=(-1,)))
    # means left and right: 1 | 2.25, 1.5 | 2.33, 2 | 2, 2.5 | 0
    assert [c.verdict == "admissible" for c in down] == [False, False, True, True]


def test_friedmans_score_gains_as_the_squared_error_unless_there_are_several_targets():
    rng = np.random.default_rng(9)
    X, y, w = rng.normal(size=(30, 3)), rng.normal(size=30), rng.uniform(0.3, 3, 30)
    friedman, squared = (
        candidates(X, y, w, Rules(criterion)) for criterion in ("friedman_mse", "squared_error")
    )
    assert_allclose([c.gain for c in friedman], [c.gain for c in squared], rtol=1e-9)
    opposite = candidates(X, np.column_stack([y, -y]), w, Rules("friedman_mse"))
    assert_allclose([c.gain for c in opposite], 0.0, atol=1e-15)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_sorted_scan_finds_the_best_subset(criterion, missing):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 6, 80).astype(float)
        rate = rng.uniform(0.1, 0.9, 6)[x.astype(int)]
        w = rng.uniform(0.5, 2, 80)
        y = rng.random(80) < rate if criterion in ("gini", "entropy") else rng.poisson(9 * rate)
        x[rng.random(80) < missing] = NAN
        best = [
            choose(candidates(x[:, None], y, w, Rules(criterion, kinds=("categorical",), **how)))
            for how in ({"exhaustive": True}, {"exhaustive": False})
        ]
        # missing rows are like one more category, and both of its sides are tried
        assert_allclose(best[1].gain, best[0].gain, rtol=1e-12)
        assert best[0].left_categories == best[1].left_categories
        assert best[0].missing_goes == best[1].missing_goes


def test_sorted_scan_of_three_classes_is_among_the_exhaustive_ones():
    rng = np.random.default_rng(11)
    x, y = rng.integers(0, 5, 60).astype(float), rng.integers(0, 3, 60)
    every, some = (
        {c.left_categories: c.gain for c in candidates(x[:, None], y, rules=rules)}
        for rules in (
            Rules(kinds=("categorical",)),
            Rules(kinds=("categorical",), exhaustive=False),
        )
    )
    assert len(every) == 15
    assert 4 <= len(some) <= 12
    assert all(every[part] == gain for part, gain in some.items())


def test_answers_stay_within_the_bounds_of_the_node():
    X, y = np.arange(4.0)[:, None], np.array([1.0, 2.0, 3.0, 6.0])
    rules = Rules("squared_error", monotonic_cst=(1,))
    # means left and right: 1 | 3.67, 1.5 | 4.5, 2 | 6
    for bounds, verdicts in [
        ((-np.inf, np.inf), [True, True, True]),
        ((1.5, np.inf), [False, True, True]),
        ((-np.inf, 4.5), [True, True, False]),
    ]:
        table = candidates(X, y, rules=rules, bounds=bounds)
        assert [c.verdict == "admissible" for c in table] == verdicts
