"""Divisions of categories, scored one by one in plain Python: one against the rest, and along an order."""

import numpy as np
import pytest

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.dtypes import CATEGORIES
from arboretum.engine.second_order import categories
from tests.engine.second_order.scan_cases import (
    G_UNIT,
    H_UNIT,
    RULES,
    best_of,
    bins_of,
    candidate,
    new_scratch,
    node_of,
    rows_in,
    side_answer,
    split_gain,
)


@kernel
def scan_categories(f, n, node, rules, scratch):
    categories.scan_categories(f, n, node, None, rules, None, scratch)


LIGHTGBM = RULES._replace(cat_l2=10.0, cat_smooth=5.0, max_onehot=0)
XGBOOST = RULES._replace(max_onehot=0, as_xgboost=True, max_cat_threshold=64)


def singles(g, h, node, itself, rules):
    """One category against the rest; with XGBoost missing values go along or not."""
    n = len(g) - 1
    along = rules.as_xgboost and bool(g[n] or h[n])
    for b in range(n):
        if h[b] <= 0 and not along:
            continue
        for side in range(2 if along else 1):
            sum_g, sum_h = int(g[b] + side * g[n]), int(h[b] + side * h[n])
            gain = split_gain(sum_g, sum_h, rows_in(sum_h, node), node, itself, rules)
            yield candidate(gain, members={b}, g=sum_g, h=sum_h, missing_left=side)


def by_ratio(g, h, node, itself, rules):
    """Beginnings and ends of LightGBM's order; scikit-learn's has missing values, too."""
    n, gaps = len(g) - 1, rules.as_scikit_learn
    used = [b for b in range(n + gaps) if h[b] > 0 and rows_in(h[b], node) >= rules.cat_min_rows]
    used.sort(key=lambda b: (g[b] * G_UNIT / (h[b] * H_UNIT + rules.cat_smooth), b))
    longest = min(rules.max_cat_threshold, (len(used) + 1) // 2)
    if gaps and len(used) == 1:
        return
    for order, most in ((used, longest), (used[::-1], longest - gaps)):
        group = 0.0
        for many in range(1, most + 1):
            members = order[:many]
            n_left = sum(rows_in(h[b], node) for b in members)
            group += rows_in(h[members[-1]], node)
            n_right = node.rows - n_left
            if n_right < rules.min_rows or n_right < rules.min_group:
                break
            sum_g, sum_h = int(g[members].sum()), int(h[members].sum())
            l2 = rules.l2 + rules.cat_l2
            gain = split_gain(sum_g, sum_h, n_left, node, itself, rules, l2=l2)
            if group < rules.min_group or gain == -np.inf:
                continue
            group = 0.0
            along = int(n in members)
            yield candidate(gain, members=set(members) - {n}, g=sum_g, h=sum_h, missing_left=along)


def by_answer(g, h, node, itself, rules):
    """Beginnings of XGBoost's order, missing values right; then ends right, missing values left."""
    n = len(g) - 1
    free = node._replace(lower=-np.inf, upper=np.inf)
    alone = rules._replace(path_smooth=0.0)
    answers = [
        side_answer(g[b], h[b], 0, free, rules.l2, alone)
        if h[b] > 0 and h[b] * H_UNIT >= rules.min_weight
        else 0.0
        for b in range(n)
    ]
    order = sorted(range(n), key=lambda b: (answers[b], b))
    longest = min(rules.max_cat_threshold, n) - 1
    for many in range(1, longest + 1):
        if g[order[many - 1]] or h[order[many - 1]]:
            left = order[:many]
            sum_g, sum_h = int(g[left].sum()), int(h[left].sum())
            gain = split_gain(sum_g, sum_h, 0.0, node, itself, rules)
            yield candidate(gain, members=set(left), g=sum_g, h=sum_h, missing_left=0)
    for many in range(1, longest + 1):
        if g[order[-many]] or h[order[-many]]:
            right = order[n - many :]
            sum_g, sum_h = node.g - int(g[right].sum()), node.h - int(h[right].sum())
            gain = split_gain(sum_g, sum_h, 0.0, node, itself, rules)
            yield candidate(gain, members=set(order[: n - many]), g=sum_g, h=sum_h, missing_left=1)


def scan(g, h, node, itself, rules):
    scratch = new_scratch(len(g) - 1)
    scratch.g[:], scratch.h[:] = g, h
    scan_categories(5, len(g) - 1, node, rules, scratch)
    members = {b for b in range(len(g) - 1) if scratch.members[b >> 5] >> (b & 31) & 1}
    return scratch.best[0], members


WAYS = {
    "one against the rest": (RULES._replace(max_onehot=64), singles),
    "one against the rest, XGBoost": (RULES._replace(max_onehot=64, as_xgboost=True), singles),
    "ratio": (LIGHTGBM, by_ratio),
    "ratio, few": (LIGHTGBM._replace(max_cat_threshold=3), by_ratio),
    "ratio, rows needed": (LIGHTGBM._replace(min_rows=15.0, cat_min_rows=5.0), by_ratio),
    "ratio, groups": (LIGHTGBM._replace(min_group=25.0), by_ratio),
    "ratio, α": (LIGHTGBM._replace(l1=2.0, max_delta_step=0.5), by_ratio),
    "ratio, gaps in order": (LIGHTGBM._replace(cat_l2=0.0, as_scikit_learn=True), by_ratio),
    "answer": (XGBOOST, by_answer),
    "answer, few": (XGBOOST._replace(max_cat_threshold=4), by_answer),
    "answer, weight needed": (XGBOOST._replace(min_weight=6.0), by_answer),
    "answer, α": (XGBOOST._replace(l1=2.0), by_answer),
}


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", WAYS)
def test_the_best_division_is_found(name, missing):
    rules, divisions = WAYS[name]
    found = 0
    for seed, n in enumerate([1, 2, 3, 6, 12, 40, 40]):
        g, h = bins_of(n, np.random.default_rng(seed), missing=missing)
        node, itself = node_of(g, h, rules)
        best, members = scan(g, h, node, itself, rules)
        expected = best_of(divisions(g, h, node, itself, rules), rules, itself)
        if expected is None:
            assert best["feature"] == -1
            continue
        found += 1
        assert best["gain"] == pytest.approx(expected.gain, rel=1e-9)
        assert (best["feature"], best["kind"]) == (5, CATEGORIES)
        assert (best["left_g"], best["left_h"]) == (expected.g, expected.h)
        assert best["missing_left"] == expected.missing_left
        assert members == expected.members
    assert found > 2


@pytest.mark.parametrize("rules", [LIGHTGBM, XGBOOST, RULES._replace(max_onehot=64)])
def test_a_node_of_one_category_or_of_equal_ones_is_not_divided(rules):
    for g, h in (([7, 0, 0, 0], [9, 0, 0, 0]), ([8, 8, 8, 0], [16, 16, 16, 0])):
        g, h = np.array(g), np.array(h)
        flat = rules._replace(l2=0.0, cat_l2=0.0)
        node, itself = node_of(g, h, flat)
        assert scan(g, h, node, itself, flat)[0]["feature"] == -1
