"""One random cut per column and node: the engine's splits are the textbook's, for the same draws."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum import LGBMClassifier, LGBMRegressor
from arboretum.engine.keys import key_of
from arboretum.engine.second_order.random_cuts import CUTS
from arboretum.grow.histogram import HistogramGrower
from arboretum.textbook.gradient_scan import GradientNode, GradientRules
from arboretum.textbook.random_cuts import how_many_cuts, scan_drawn, scan_drawn_set
from tests.boosting.lightgbm.lgbm_cases import saved
from tests.grow.gradients import grow
from tests.grow.test_histogram import features, gradients, make_grower, rules, table

KEY, VALUES, WORDS = 11, 9, (1, 3)


def drawn_split(X, g, h, rows, node, how, book, values):
    """Return the best of the cuts that a node draws: (feature, bins left, gain), or None."""
    own = GradientNode(g[rows].sum(), h[rows].sum(), len(rows), rules=book)
    best = None
    for f in range(X.shape[1]):
        x = np.where(np.isnan(X[rows, f]), values, X[rows, f]).astype(int)
        each = np.column_stack([g[rows], h[rows], np.ones(len(rows))])
        sums = np.column_stack([np.bincount(x, column, values + 1) for column in each.T])
        bins, missing, sets = sums[:-1], sums[-1], f in WORDS
        n = how_many_cuts(own, bins, sets=sets)
        drawn = int((key_of(KEY, CUTS, how.cut_seed, node, f) >> 11) / (1 << 53) * n)
        if sets:
            scan = scan_drawn_set(own, f, bins, list(range(values)), drawn, missing)
        else:
            scan = scan_drawn(own, f, bins, np.arange(values - 1), drawn, missing)
        for c in scan.best():
            if best is None or c.gain > best[2] + 1e-9:
                below = c.categories if sets else (int(c.cut), c.default)
                best = f, below, c.gain
    return best


def question_of(grown, node):
    """Return what a grown node asks."""
    if not grown.by_set[node]:
        return int(grown.bin[node]), "left" if grown.missing_left[node] else "right"
    bits = "".join(f"{w:032b}"[::-1] for w in grown.members[node])
    return frozenset(b for b, bit in enumerate(bits) if bit == "1")


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("wide", [True, False])
def test_nodes_are_split_by_the_best_drawn_cut(few, wide):
    rng = np.random.default_rng(3)
    X, codes = table(rng, 500, 5, VALUES, missing=0.15)
    g, h = gradients(rng, 500)
    how = rules(
        random_cuts=True, l2=1.0, min_rows=3.0, max_onehot=VALUES if few else 3, min_group=4.0,
        cat_smooth=2.0, cat_min_rows=2.0, max_leaves=20,
    )  # fmt: skip
    book = GradientRules(
        reg_lambda=1.0, min_rows=3.0, xgboost=False, reach_gain=False, min_weight=1e-3, cat_l2=10.0,
        max_onehot=how.max_onehot, min_group=4.0, cat_smooth=2.0, cat_min_rows=2.0,
        max_cat_threshold=32,
    )  # fmt: skip
    grown = grow(make_grower(codes, features(5, VALUES, WORDS), how, wide=wide), g, h, KEY)
    rows_of, checked = {0: np.arange(500)}, 0
    for node in range(len(grown.feature)):
        first = int(grown.first_child[node])
        if first < 0:
            continue
        rows, f = rows_of[node], int(grown.feature[node])
        wanted = drawn_split(X, g, h, rows, node, how, book, VALUES)
        assert wanted is not None
        assert (f, question_of(grown, node)) == wanted[:2], node
        assert np.isclose(grown.gain[node], wanted[2]), node
        x, asked = X[rows, f], question_of(grown, node)
        if isinstance(asked, frozenset):
            left = np.isin(x, list(asked))
        else:
            left = (x <= asked[0]) | (np.isnan(x) & (asked[1] == "left"))
        rows_of[first], rows_of[first + 1] = rows[left], rows[~left]
        checked += 1
    assert checked > 12


def mixed(n=500):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 6)).round(1)
    X[:, 5] = rng.integers(0, 12, n)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 5] % 3) + rng.normal(size=n)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"subsample": 0.7, "subsample_freq": 1, "feature_fraction_bynode": 0.6},
        {"monotone_constraints": [1, 0, 0, 0, 0, 0]},
        {"max_bin": 400},
        {"path_smooth": 2.0, "reg_alpha": 1.0},
    ],
)
def test_bytes_do_not_depend_on_threads(more):
    X, y = mixed(5000)
    model = LGBMRegressor(n_estimators=4, extra_trees=True, categorical_features=[5], **more)
    files = [saved(model.set_params(n_jobs=jobs).fit(X, y)) for jobs in (1, 2, 3)]
    assert files[0] == files[1] == files[2]


def test_the_seed_of_cuts_counts_and_the_draws_of_columns_stay():
    X, y = mixed()
    first, second = (
        LGBMRegressor(n_estimators=3, extra_trees=True, extra_seed=seed).fit(X, y).predict(X)
        for seed in (6, 7)
    )
    assert not np.array_equal(first, second)


def test_it_learns():
    X, y = mixed(2000)
    model = LGBMClassifier(n_estimators=60, extra_trees=True).fit(X[:1500], y[:1500] > 1)
    assert model.score(X[1500:], y[1500:] > 1) > 0.7


def test_constant_and_empty_columns_are_not_split():
    X = np.column_stack([np.ones(60), np.full(60, np.nan), np.arange(60) % 2])
    model = LGBMRegressor(n_estimators=3, extra_trees=True, min_child_samples=2)
    model.fit(X, X[:, 2])
    assert {int(f) for tree in model.trees_ for f in tree.feature if f >= 0} == {2}


def test_a_column_without_a_second_value_separates_missing_ones():
    codes = np.where(np.arange(80) % 4 == 0, 255, 0).astype(np.uint8)[None]
    g, h = np.where(codes[0] == 255, 4.0, -1.0).astype(np.float32), np.ones(80, np.float32)
    grown = grow(HistogramGrower(codes, features(1, 1), rules(random_cuts=True)), g, h)
    assert (grown.first_child[0], bool(grown.missing_left[0])) == (1, False)
    assert np.allclose(grown.value[1:3], [1.0, -4.0])
