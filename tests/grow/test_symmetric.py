"""Symmetric trees: engine against the textbook, one cut on every level, the same bits on any threads."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.engine.keys import key_of, mix_array
from arboretum.engine.second_order import histogram
from arboretum.engine.second_order.symmetric import NOISE
from arboretum.errors import ParameterError
from arboretum.grow.histogram import HistogramGrower
from arboretum.textbook.gradient_scan import GradientRules
from arboretum.textbook.symmetric import grow_symmetric
from tests.grow.gradients import grow, grow_and_place, walked
from tests.grow.test_histogram import features, gradients, make_grower, rules, table

NO_LIMIT = 1 << 30


def symmetric(**changes):
    """Return the rules of a symmetric tree in the words of XGBoost."""
    of_xgboost = {
        "symmetric": True, "as_xgboost": True, "reach_gain": True, "min_rows": 0.0, "cat_l2": 0.0,
        "max_depth": 5, "max_leaves": NO_LIMIT, "min_weight": 1.0, "l2": 1.0, "max_cat_threshold": 64,
    }  # fmt: skip
    return rules(**(of_xgboost | changes))


def in_words(how):
    """Return the engine's rules in the words of the textbook."""
    return GradientRules(
        reg_lambda=how.l2, reg_alpha=how.l1, max_delta_step=how.max_delta_step, path_smooth=how.path_smooth,
        min_gain=how.min_gain, min_weight=how.min_weight, min_rows=how.min_rows, max_onehot=how.max_onehot,
        max_cat_threshold=how.max_cat_threshold,
    )  # fmt: skip


def levels_of(grown):
    """Return the cuts level by level, each with the nodes that took it, in the order they were split."""
    inner = np.flatnonzero(grown.is_inner)
    levels = []
    for node in inner[np.argsort(grown.first_child[inner])].tolist():
        asked = int(grown.bin[node]), int(grown.feature[node]), bool(grown.missing_left[node])
        asked = *asked, grown.members[node].tolist() if grown.by_set[node] else None
        if not levels or levels[-1][0] != asked:
            levels.append((asked, []))
        levels[-1][1].append(node)
    return levels


def check_same(one, other):
    """Check that two trees are the same to the bit; what is unset in leaves does not count."""
    for name in (
        "first_child",
        "feature",
        "bin",
        "missing_left",
        "gain",
        "value",
        "cover",
        "count",
    ):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.array_equal(one.members[one.by_set], other.members[other.by_set])


CASES = {
    "plain": {},
    "l1": {"l1": 2.0, "l2": 0.5},
    "weight": {"min_weight": 12.0},
    "rows": {"min_rows": 9.0},
    "gamma": {"min_gain": 6.0},
    "step": {"max_delta_step": 0.4},
    "smooth": {"path_smooth": 3.0, "min_rows": 1.0},
    "no lambda": {"l2": 0.0, "min_weight": 0.0},
    "few sets": {"max_cat_threshold": 3},
    "one level": {"max_depth": 1},
    "noise": {"noise": 1.0},
    "a lot of noise": {"noise": 5.0, "min_rows": 3.0},
}


def noise_of(how, seed):
    """Return the engine's draws for a tree as the textbook takes them."""

    def draw(level, f, n):
        bits = mix_array(key_of(seed, NOISE, level, f), np.arange(2 * n + 1))
        quarters = sum((bits >> np.uint64(16 * k)) & np.uint64(0xFFFF) for k in range(4))
        return how.noise * (quarters.astype(float) - 131070.0) * (3.0**0.5 / 65536.0)

    return draw if how.noise else None


def test_noise_is_nearly_normal():
    z = noise_of(symmetric(noise=1.0), 0)(0, 0, 50_000)
    assert abs(z.mean()) < 0.01
    assert abs(z.std() - 1.0) < 0.01
    assert abs((z**4).mean() - 2.7) < 0.05  # 3 of a normal number


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("case", CASES)
def test_trees_are_those_of_the_textbook(case, missing):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, codes = table(rng, 300, 5, 9, missing)
        X[:, 3], codes[3] = X[:, 3] % 3, np.where(codes[3] == 255, 255, codes[3] % 3)
        g, h = gradients(rng, 300)
        how, signs = symmetric(**CASES[case]), [0, -1, 0, 0, 0]
        kinds = features(5, 9, (2, 3), signs)
        kinds.n_bins[3] = 3
        drawn = noise_of(how, seed)
        book = grow_symmetric(X, g, h, in_words(how), how.max_depth, (2, 3), signs, drawn)
        grown, answers = grow_and_place(HistogramGrower(codes, kinds, how), g, h, key=seed)
        levels = levels_of(grown)
        assert [len(level.leaves) for level in book.levels] == [
            1 + sum(len(nodes) for _, nodes in levels[:k]) for k in range(len(levels))
        ]
        for (asked, nodes), level in zip(levels, book.levels, strict=True):
            cut = level.chosen
            assert asked[1] == cut.feature, (seed, cut)
            taken = cut.gains[cut.gains > 0]
            np.testing.assert_allclose(grown.gain[nodes], taken, rtol=1e-9)
            rows = [len(leaf.rows) for leaf, gain in zip(level.leaves, cut.gains) if gain > 0]
            assert grown.count[nodes].tolist() == rows
        np.testing.assert_allclose(answers, book.predict(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("wide", [False, True])
def test_threads_and_widths_make_the_same_tree(wide):
    rng = np.random.default_rng(0)
    n = 90_000
    codes = rng.integers(0, 40, (11, n)).astype(np.uint8)
    codes[2, ::9] = 255
    g, h = rng.normal(size=n).astype(np.float32), rng.random(n).astype(np.float32)
    how = symmetric(max_depth=6, node_columns=6, level_columns=9, noise=1.0)
    grown = [
        grow(make_grower(codes, features(11, 40, (4,)), how, jobs, wide=wide), g, h, key=7)
        for jobs in (1, 2, 3)
    ]
    assert len(levels_of(grown[0])) == 6
    for other in grown[1:]:
        check_same(other, grown[0])


def test_packed_sums_give_the_trees_of_sums_apart(monkeypatch):
    rng = np.random.default_rng(7)
    _, codes = table(rng, 2_000, 5, 200, 0.1)
    g, h = gradients(rng, 2_000)
    packed = grow(HistogramGrower(codes, features(5, 200), symmetric()), g, h)
    monkeypatch.setattr(histogram, "FULL", 0)  # no table is small enough
    apart = grow(HistogramGrower(codes, features(5, 200), symmetric()), g, h)
    check_same(packed, apart)


def test_monotone_answers_follow_the_sign():
    rng = np.random.default_rng(3)
    X, codes = table(rng, 2_000, 3, 20)
    g = (-(X[:, 0] + rng.normal(size=2_000) * 8)).astype(np.float32)
    kinds, how = features(3, 20, monotone=(1, 0, 0)), symmetric()
    grown = grow(HistogramGrower(codes, kinds, how), g, np.ones(2_000, np.float32))
    ramp = np.array([np.arange(20), np.full(20, 7), np.full(20, 7)], np.uint8)
    answers = walked(HistogramGrower(ramp, kinds, how), grown, 20)
    assert (np.diff(answers) >= 0).all()
    assert np.ptp(answers) > 0


def test_columns_of_a_path_stay_in_one_group():
    rng = np.random.default_rng(4)
    _, codes = table(rng, 600, 4, 9)
    g, h = gradients(rng, 600)
    groups = np.array([[1], [1], [2], [2]], np.uint64)
    grown = grow(HistogramGrower(codes, features(4, 9), symmetric(), groups=groups), g, h)
    used = {int(f) for f in grown.feature[grown.is_inner]}
    assert used in ({0, 1}, {2, 3})
    assert len(levels_of(grown)) == 5


def test_columns_are_drawn_for_a_level():
    rng = np.random.default_rng(5)
    _, codes = table(rng, 600, 12, 9)
    g, h = gradients(rng, 600)
    grower = HistogramGrower(codes, features(12, 9), symmetric(max_depth=6, node_columns=2))
    used = [{cut[0][1] for cut in levels_of(grow(grower, g, h, key=key))} for key in range(4)]
    assert len({frozenset(some) for some in used}) > 1
    plain = grow(HistogramGrower(codes, features(12, 9), symmetric(max_depth=6)), g, h)
    assert plain.gain[0] >= max(grow(grower, g, h, key=key).gain[0] for key in range(4))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_rows(n):
    _, codes = table(np.random.default_rng(6), n, 2, 3)
    g = np.arange(n, dtype=np.float32) - 1
    grown = grow(
        HistogramGrower(codes, features(2, 3), symmetric(l2=0.0)), g, np.ones(n, np.float32)
    )
    assert len(grown) <= 2 * n - 1
    assert (grown.count > 0).all()


def test_a_tree_without_a_gain_is_a_leaf():
    _, codes = table(np.random.default_rng(6), 50, 2, 3)
    g, h = np.zeros(50, np.float32), np.ones(50, np.float32)
    assert len(grow(HistogramGrower(codes, features(2, 3), symmetric()), g, h)) == 1


def test_a_level_that_takes_too_much_memory_is_refused():
    codes = np.zeros((40, 1 << 17), np.uint8)
    grower = HistogramGrower(codes, features(40, 255), symmetric(max_depth=20))
    g = np.ones(1 << 17, np.float32)
    with pytest.raises(ParameterError, match="smaller max_depth or fewer bins"):
        grow(grower, g, g)
