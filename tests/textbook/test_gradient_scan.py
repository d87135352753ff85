"""The scan of both programs gives what each of their textbook files writes down, candidate by candidate."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from arboretum.textbook.gradient_scan import (
    GradientNode,
    GradientRules,
    gradient_answer,
    scan_bins,
    scan_one,
    scan_sets,
)
from arboretum.textbook.lightgbm_bins import build_histogram
from arboretum.textbook.lightgbm_splits import (
    LGBMSettings,
    lgbm_category_candidates,
    number_candidates,
)
from arboretum.textbook.xgboost_splits import (
    XGBSettings,
    column_candidates,
    leaf_value,
    xgb_category_candidates,
)


def rows(seed: int, n: int = 60, gaps: float = 0.2, values: int = 9):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, values, n).astype(float)
    x[rng.random(n) < gaps] = np.nan
    return x, rng.normal(size=n), rng.uniform(0.2, 1.5, n)


def binned(x, g, h):
    values = np.unique(x[~np.isnan(x)])
    codes = np.where(np.isnan(x), len(values), np.searchsorted(values, x))
    sums = build_histogram(codes, g, h, len(values))
    return values, sums[:-1], sums[-1]


def node_of(g, h, rules, **more):
    return GradientNode(float(g.sum()), float(h.sum()), float(len(g)), rules=rules, **more)


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize(
    "more", [{}, {"reg_alpha": 0.7}, {"max_delta_step": 0.3}, {"reg_lambda": 0.0}]
)
def test_xgboosts_cuts(gaps, more):
    x, g, h = rows(1, gaps=gaps)
    settings = XGBSettings(min_child_weight=3.0, **more)
    lines = column_candidates(x, g, h, settings)
    values, bins, missing = binned(x, g, h)
    node = node_of(g, h, GradientRules(min_weight=3.0, **more))
    scan = scan_bins(node, 0, bins, values[:-1], missing)
    # the order differs: right first, then left; XGBoost's missing values of no row are said to go left
    theirs = sorted(round(c.gain, 9) for c in lines if min(c.H_left, c.H_right) >= 3)
    mine = sorted(
        round(c.gain, 9)
        for c in (scan[i] for i in range(scan.n_tried))
        if min(c.H_left, c.H_right) >= 3
    )
    if not more.get("max_delta_step") or not more.get("reg_alpha"):
        assert_allclose(mine, theirs, rtol=1e-8, atol=1e-9)
    best = scan.best()[0]
    assert_allclose(best.gain, max(c.gain for c in lines if c.admissible), rtol=1e-9)


@pytest.mark.parametrize("onehot", [3, 20])
def test_xgboosts_sets(onehot):
    x, g, h = rows(2)
    settings = XGBSettings(min_child_weight=1.0, max_cat_to_onehot=onehot + 1, max_cat_threshold=64)
    lines = xgb_category_candidates(x, g, h, range(9), settings)
    values, bins, missing = binned(x, g, h)
    node = node_of(g, h, GradientRules(max_onehot=onehot))
    scan = scan_sets(node, 0, bins, values.astype(int).tolist(), missing)
    best, theirs = scan.best()[0], max((c for c in lines if c.admissible), key=lambda c: c.gain)
    assert_allclose(best.gain, theirs.gain, rtol=1e-9)
    assert best.categories == frozenset(int(c) for c in theirs.categories)
    assert best.default == theirs.default


@pytest.mark.parametrize("more", [{}, {"reg_alpha": 0.5, "reg_lambda": 2.0}, {"path_smooth": 4.0}])
def test_lightgbms_cuts_and_sets(more):
    x, g, _ = rows(3, n=200)
    h = np.ones(200)  # rows told by H are then the rows
    settings = LGBMSettings(min_child_samples=15, min_data_per_group=10, cat_smooth=2.0, **more)
    values, bins, missing = binned(x, g, h)
    histogram = np.vstack([bins, missing])
    output = 0.2
    rules = GradientRules(
        **{"reg_lambda": 0.0, **more}, reach_gain=False, min_weight=1e-3, min_rows=15, xgboost=False,
        max_onehot=3, max_cat_threshold=32, cat_smooth=2.0, cat_min_rows=2.0, cat_l2=10.0, min_group=10,
    )  # fmt: skip
    node = node_of(g, h, rules, answer=output)
    lines = number_candidates(histogram, values[:-1], 0, output, settings)
    scan = scan_bins(node, 0, bins, values[:-1], missing)
    assert scan.n_tried == len(lines)
    assert_allclose(np.sort(scan.gain), np.sort([c.gain for c in lines]), rtol=1e-8, atol=1e-9)
    assert sum(scan.allowed) == sum(c.admissible for c in lines)
    sets = lgbm_category_candidates(histogram, values, 0, output, settings)
    mine = scan_sets(node, 0, bins, values.astype(int).tolist(), missing)
    assert_allclose(mine.gain, [c.gain for c in sets], rtol=1e-8, atol=1e-9)
    assert [mine[i].categories for i in range(len(sets))] == [
        frozenset(int(v) for v in c.categories) for c in sets
    ]


def test_refusals_are_named():
    g, h = np.array([-3.0, 1, 1, 1]), np.ones(4)
    bins = np.column_stack([g, h, np.ones(4)])
    cuts = np.array([0.5, 1.5, 2.5])
    for rules, sign, word in (
        (GradientRules(min_weight=2.0), 0, "min_child_weight"),
        (GradientRules(min_weight=0.0, min_rows=2.0), 0, "min_child_samples"),
        (GradientRules(), 1, "monotone constraint"),
        (GradientRules(min_gain=1e6), 0, "gains less than γ"),
    ):
        scan = scan_bins(node_of(g, h, rules), 0, bins, cuts, sign=sign)
        assert scan[0].verdict == word
        assert not scan.allowed[0]


def test_bounds_hold_the_answers():
    rules = GradientRules(reg_lambda=0.0)
    assert float(gradient_answer(-4.0, 1.0, 1, bounds=(0.0, 2.5), rules=rules)) == 2.5
    node = GradientNode(0.0, 2.0, 2, bounds=(-1.0, 2.5), rules=rules)
    one = scan_one(node, 0, np.array([-4.0, 1.0, 1]), 0.5, None, "right")
    assert (one.answer_left, one.answer_right) == (2.5, -1.0)


def test_answers_are_xgboosts_leaf_values():
    G, H = np.array([-5.0, 3.0, 0.5]), np.array([2.0, 4.0, 1.5])
    settings = XGBSettings(reg_alpha=1.0)
    assert_allclose(
        gradient_answer(G, H, 1, rules=GradientRules(reg_alpha=1.0)), leaf_value(G, H, settings)
    )


def test_scikit_learn_counts_rows():
    x, g, h = rows(5, n=120)
    h = np.where(g > 0, h, h / 50)
    values, bins, missing = binned(x, g, h)
    at_least = {"reg_lambda": 0.0, "min_weight": 1e-9, "min_rows": 20, "xgboost": False}
    for counted in (True, False):
        rules = GradientRules(**at_least, as_scikit_learn=counted)
        scan = scan_bins(node_of(g, h, rules), 0, bins, values[:-1], missing)
        enough = np.minimum(scan.left[:, 2], len(g) - scan.left[:, 2]) >= 20
        assert (np.array_equal(scan.allowed, enough & (scan.gain > 0))) == counted
