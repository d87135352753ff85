"""LightGBM by hand-made examples, by identities, and against the program where bins are exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from arboretum.textbook.lightgbm import grow_lgbm, predict_lgbm, tree_text_lgbm
from arboretum.textbook.lightgbm_bins import build_histogram, make_bins
from arboretum.textbook.lightgbm_sampling import (
    Bundle,
    bundle_codes,
    bundle_features,
    conflict_counts,
    goss,
    goss_starts,
    unbundle_histogram,
)
from arboretum.textbook.lightgbm_splits import (
    LGBMSettings,
    best_split,
    leaf_output,
    lgbm_category_candidates,
    number_candidates,
    sorted_categories,
)

NAN = np.nan


# ---------------------------------------------------------------------- GOSS
def test_goss_keeps_the_largest_and_draws_of_the_rest():
    rng = np.random.default_rng(0)
    g, h = rng.normal(size=100), rng.uniform(0.1, 1, 100)
    sample = goss(g, h, 0.2, 0.1)
    assert (sample.n_top, sample.n_drawn, len(sample.rows)) == (20, 10, 30)
    top = set(np.argsort(-np.abs(g * h))[:20].tolist())
    factor = dict(zip(sample.rows.tolist(), sample.factor.tolist()))
    assert top <= set(factor)
    assert all(factor[row] == (1.0 if row in top else 8.0) for row in factor)  # (1 - a)/b = 8
    assert len(set(sample.rows.tolist())) == 30


def test_goss_sums_are_right_on_average():
    rng = np.random.default_rng(1)
    g, h = rng.normal(size=60), rng.uniform(0.1, 1, 60)
    samples = [goss(g, h, 0.25, 0.2, seed) for seed in range(4000)]
    estimates = np.array([(g[s.rows] * s.factor).sum() for s in samples])
    spread = estimates.std() / np.sqrt(len(estimates))
    assert abs(estimates.mean() - g.sum()) < 4 * spread
    assert {goss(g, h, 0.25, 0.2, seed).factor.max() for seed in (0, 1)} == {45 / 12}


def test_goss_adds_classes_up():
    g = np.array([[3.0, 0.0], [2.0, -2.0], [0.0, 1.0]])
    sample = goss(g, np.ones((3, 2)), 1 / 3, 1 / 3)
    assert_array_equal(sample.score, [3, 4, 1])
    assert 1 in sample.rows


@pytest.mark.parametrize("rates", [(-0.1, 0.1), (0.2, 0.0), (0.6, 0.5)])
def test_goss_rates_must_fit(rates):
    with pytest.raises(ValueError, match="top_rate"):
        goss([1.0], [1.0], *rates)


def test_goss_starts_when_the_first_guess_is_used_up():
    assert [goss_starts(rate) for rate in (1.0, 0.5, 0.1, 0.01)] == [1, 2, 10, 100]


# ---------------------------------------------------------------------- EFB
tables = st.integers(0, 2**31).map(
    lambda seed: (
        np.random.default_rng(seed).integers(0, 4, (30, 7))
        * (np.random.default_rng(seed + 1).random((30, 7)) < 0.15)
    )
)


@given(tables, st.integers(0, 6))
def test_bundles_keep_the_budget_and_hold_every_column_once(codes, budget):
    bundles = bundle_features(codes, [4] * 7, budget)
    assert sorted(f for bundle in bundles for f in bundle.features) == list(range(7))
    for bundle in bundles:
        full = codes[:, bundle.features] != 0
        assert bundle.conflicts == full.sum() - full.any(axis=1).sum() <= budget
        assert bundle.n_bins == 1 + 3 * len(bundle.features)
        merged = bundle_codes(bundle, codes)
        for row, code in enumerate(merged.tolist()):
            if code == 0:
                assert not full[row].any()
            else:
                f, b = bundle.origin(code)
                assert codes[row, f] == b
                assert f == next(f for f in bundle.features if codes[row, f])


@given(tables)
def test_exclusive_columns_come_back_from_their_bundle(codes):
    g, h = np.arange(30.0), np.ones(30)
    for bundle in bundle_features(codes, [4] * 7):
        merged = build_histogram(bundle_codes(bundle, codes), g, h, bundle.n_bins)[:-1]
        for f, histogram in unbundle_histogram(bundle, merged).items():
            assert_allclose(histogram, build_histogram(codes[:, f], g, h, 4)[:-1], atol=1e-9)


def test_a_budget_of_conflicts_loses_as_many_values():
    codes = np.array([[1, 0], [0, 1], [2, 2], [0, 0]])
    assert conflict_counts(codes).tolist() == [[0, 1], [1, 0]]
    assert [b.features for b in bundle_features(codes)] == [(0,), (1,)]
    [bundle] = bundle_features(codes, max_conflicts=1)
    assert bundle == Bundle((0, 1), (1, 3), 5, 1)
    assert bundle_codes(bundle, codes).tolist() == [1, 3, 2, 0]
    assert [bundle.origin(b) for b in range(5)] == [None, (0, 1), (0, 2), (1, 1), (1, 2)]
    with pytest.raises(ValueError, match=r"bins 0\.\.4, got 5"):
        bundle.origin(5)


def test_one_hot_columns_are_one_bundle():
    colour = np.random.default_rng(0).integers(0, 5, 40)
    [bundle] = bundle_features(np.eye(5, dtype=int)[colour])
    assert bundle_codes(bundle, np.eye(5, dtype=int)[colour]).tolist() == (colour + 1).tolist()


# ---------------------------------------------------------------------- bins and histograms
def test_bins_of_few_values_part_them_all():
    x = np.array([1.0, np.nextafter(1, 2), 5.0, NAN, 1.0])
    bins = make_bins(x, min_data_in_bin=1)  # bin 0 is that of zero
    assert bins.codes(x).tolist() == [1, 2, 3, 4, 1]
    kinds = make_bins([7.0, NAN, 3.0], categorical=True)
    assert kinds.codes([3.0, 7.0, 5.0, 9.0, NAN]).tolist() == [0, 1, 2, 2, 2]
    rare = make_bins(np.repeat([5.0, 6, 7, 8], [4, 593, 400, 3]), max_bin=4, categorical=True)
    assert rare.categories.tolist() == [5, 6, 7]
    assert make_bins([NAN], categorical=True).codes([NAN, 1.0]).tolist() == [0, 0]


def test_subtraction_gives_the_histogram_of_the_sibling():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, (200, 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = NAN
    g, h = rng.normal(size=200), rng.uniform(0.5, 1, 200)
    tree = grow_lgbm(X, g, h, LGBMSettings(num_leaves=8, min_child_samples=5))
    bins = [make_bins(x) for x in X.T]
    made = {"added up": 0, "subtracted": 0}
    for node in tree:
        made[node.source] += 1
        assert_allclose(node.sums, [g[node.rows].sum(), h[node.rows].sum(), len(node.rows)])
        for x, column, histogram in zip(X.T, bins, node.histograms):
            codes = column.codes(x)[node.rows]
            fresh = build_histogram(codes, g[node.rows], h[node.rows], column.n_bins)
            assert_allclose(histogram, fresh, atol=1e-9)
        if not node.is_leaf:
            small, large = sorted(node.children, key=lambda child: len(child.rows))
            assert large.source == "subtracted" or len(small.rows) == len(large.rows)
    assert made == {"added up": 8, "subtracted": 7}


# ---------------------------------------------------------------------- growing
def test_leaves_are_split_in_the_order_of_their_gain():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (300, 3)).astype(float)
    g = -(X[:, 0] * X[:, 1] + rng.normal(size=300))
    grown = [grow_lgbm(X, g, np.ones(300), LGBMSettings(num_leaves=n)) for n in range(2, 10)]
    gains = []
    for n, tree in enumerate(grown, start=2):
        split = sorted((node for node in tree if node.chosen), key=lambda node: node.order)
        assert [node.order for node in split] == list(range(n - 1))
        now = [node.chosen.gain for node in split]
        assert_allclose(now[:-1], gains)  # one more leaf changes nothing before
        gains = now
        waiting = [node for node in tree if node.stop == "num_leaves"]
        assert all(best_split(node.candidates).gain <= max(gains) for node in waiting)


def test_max_depth_and_lone_root():
    x = np.arange(64.0)[:, None]
    tree = grow_lgbm(x, x[:, 0] - 31.5, np.ones(64), LGBMSettings(max_depth=2, min_child_samples=1))
    assert max(node.depth for node in tree) == 2
    assert {node.stop for node in tree if node.is_leaf} == {"max_depth"}
    root = grow_lgbm([[1.0], [2.0]], [-1.0, -2.0], [1.0, 1.0])
    assert root.stop == "no admissible split"
    assert predict_lgbm(root, [[NAN]]).tolist() == [1.5]
    assert tree_text_lgbm(root) == "leaf 1.500, 2 rows (no admissible split)"


def test_path_smooth_leans_on_the_parent():
    sums = np.array([-8.0, 4.0, 4.0])
    for smooth, answer in [(0.0, 2.0), (4.0, 1.5), (12.0, 1.25), (1e12, 1.0)]:
        assert_allclose(leaf_output(sums, 1.0, LGBMSettings(path_smooth=smooth)), answer)
    assert leaf_output(sums, None, LGBMSettings(path_smooth=9)) == 2.0


def test_different_lengths_are_refused():
    with pytest.raises(ValueError, match="a row per g and h"):
        grow_lgbm([[1.0], [2.0]], [1.0], [1.0])


# ---------------------------------------------------------------------- categories
def best_subset_gain(histogram, settings):
    """The largest gain of all subsets of the categories."""
    n = len(histogram) - 1
    masks = (np.arange(1, 2**n - 1)[:, None] >> np.arange(n)) & 1
    left = masks @ histogram[:-1]
    right = histogram.sum(axis=0) - left
    score = lambda s: s[..., 0] ** 2 / (s[..., 1] + settings.cat_l2)  # noqa: E731
    whole = histogram.sum(axis=0)
    return np.max(score(left) + score(right)) - whole[0] ** 2 / whole[1]


@given(st.integers(0, 2**31))
def test_the_order_of_categories_holds_the_best_subset(seed):
    """Exact if nothing is smoothed away; so it is with cat_smooth = cat_l2 = 0."""
    rng = np.random.default_rng(seed)
    histogram = np.vstack([np.column_stack([rng.normal(size=6) * 5, *[rng.integers(5, 9, 6)] * 2]),
                           np.zeros(3)])  # fmt: skip
    rules = LGBMSettings(min_child_samples=1, min_data_per_group=1, cat_smooth=0.0, cat_l2=0.0)
    best = best_split(lgbm_category_candidates(histogram, np.arange(6.0), settings=rules))
    assert_allclose(best.gain, best_subset_gain(histogram, rules), rtol=1e-9)


def test_rules_about_rare_categories():
    histogram = np.column_stack(
        [[-9.0, -4, 1, 3, 9, 2], [30, 5, 30, 30, 30, 4], [30, 5, 30, 30, 30, 4]]
    )
    names = np.array([10.0, 11, 12, 13, 14])  # the last line is that of missing values

    def subsets(**rules):
        rules = LGBMSettings(**{"min_child_samples": 1, "min_data_per_group": 1, **rules})
        found = lgbm_category_candidates(histogram, names, settings=rules)
        return [sorted(c.categories) for c in found]

    assert sorted_categories(histogram).tolist() == [0, 2, 3, 4]  # five rows are too few
    assert subsets() == [[10], [10, 12], [14], [13, 14]]
    assert subsets(max_cat_threshold=1) == [[10], [14]]
    assert subsets(min_data_per_group=40) == [[10, 12], [13, 14]]
    assert subsets(max_cat_to_onehot=6) == [[10], [11], [12], [13], [14]]
    assert subsets(min_child_samples=31) == [[10, 12], [13, 14]]


def test_missing_and_unheard_of_categories_go_right():
    X = np.array([[1.0], [1], [2], [2], [NAN], [NAN]])
    tree = grow_lgbm(X, [-3.0, -3, 1, 1, 1, 1], np.ones(6), LGBMSettings(min_child_samples=1), [0])
    assert tree.chosen.categories == {1.0}
    assert_allclose(predict_lgbm(tree, [[1.0], [NAN], [5.0]]), [3, -1, -1])


def test_missing_numbers_are_tried_on_both_sides_and_alone():
    histogram = np.array([[-2.0, 2, 2], [0, 0, 0], [-2, 2, 2], [9, 3, 3]])
    rules = LGBMSettings(min_child_samples=1)
    table = number_candidates(histogram, np.array([1.5, 2.5]), settings=rules)
    assert [(c.cut, c.default) for c in table] == [(1.5, "right"), (1.5, "left"), (np.inf, "right")]
    assert best_split(table) is table[-1]


# ---------------------------------------------------------------------- the program
def train(X, g, h, settings, categorical=()):
    """One tree of LightGBM on given gradients: every value has its bin, nothing is bundled."""
    lgb = pytest.importorskip("lightgbm")
    exact = {"min_data_in_bin": 1, "enable_bundle": False, "feature_pre_filter": False,
             "verbosity": -1, "num_threads": 1, "deterministic": True,
             "force_col_wise": True}  # fmt: skip
    options = {**vars(settings), **exact, "learning_rate": 1.0, "objective": lambda *_: (g, h)}
    del options["forget_columns"]
    data = lgb.Dataset(X, np.zeros(len(X)), categorical_feature=list(categorical), params=exact)
    return lgb.train(options, data, 1).dump_model()["tree_info"][0]["tree_structure"]


def goes_left(dump, x):
    if dump["decision_type"] == "==":
        return np.isin(x, [float(value) for value in dump["threshold"].split("||")])
    left = x <= dump["threshold"]
    return np.where(np.isnan(x), dump["default_left"], left)


def assert_same_tree(node, dump, X):
    assert node.is_leaf == ("leaf_value" in dump), node.path
    if node.is_leaf:
        assert_allclose(node.output, dump["leaf_value"], rtol=1e-5, atol=1e-6)
        return
    assert node.chosen.feature == dump["split_feature"], node.path
    assert node.order == dump["split_index"]
    assert_allclose(node.chosen.gain, dump["split_gain"], rtol=1e-4)
    x = X[node.rows, node.chosen.feature]
    ours, theirs = node.chosen.left(x), goes_left(dump, x)
    sides = dump["left_child"], dump["right_child"]
    if np.array_equal(ours, ~theirs):  # the same two sides under another name: a tie
        assert node.chosen.kind == "one category" or np.array_equal(ours, ~np.isnan(x))
        sides = sides[::-1]
    else:
        assert_array_equal(ours, theirs)
    assert_same_tree(node.left, sides[0], X)
    assert_same_tree(node.right, sides[1], X)


def make(seed=0, n=400, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 8, (n, 4)).astype(float)
    g = -(X[:, 0] * X[:, 1] + 3 * np.abs(X[:, 2]) + rng.normal(size=n))
    X[rng.random(X.shape) < missing] = NAN
    return X, (g - g.mean()).astype(np.float32).astype(np.float64), rng


SETTINGS = {
    "defaults": {},
    "lambda": {"reg_lambda": 5.0},
    "alpha": {"reg_alpha": 30.0},
    "gain": {"min_split_gain": 300.0},
    "depth": {"max_depth": 3},
    "small leaves": {"min_child_samples": 2},
    "curvature": {"min_child_weight": 25.0, "min_child_samples": 1},
    "smooth": {"path_smooth": 20.0},
    "smooth all": {"path_smooth": 5.0, "reg_lambda": 2.0, "reg_alpha": 4.0, "min_child_samples": 4},
}


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("num_leaves", [2, 7, 15])
@pytest.mark.parametrize("name", SETTINGS)
def test_same_tree_as_lightgbm(name, num_leaves, missing):
    for seed in (0, 1, 2):
        X, g, _ = make(seed, missing=missing)
        settings = LGBMSettings(num_leaves=num_leaves, forget_columns=True, **SETTINGS[name])
        tree = grow_lgbm(X, g, np.ones(len(g)), settings)
        assert not tree.is_leaf
        assert_same_tree(tree, train(X, g, np.ones(len(g)), settings), X)


def test_forgetting_columns_can_miss_a_split():
    X, g, _ = make(missing=0.15)
    rules = {"num_leaves": 15, "reg_alpha": 30.0}
    leaves = [
        sum(
            node.is_leaf for node in grow_lgbm(X, g, np.ones(len(g)), LGBMSettings(**more, **rules))
        )
        for more in ({}, {"forget_columns": True})
    ]
    assert leaves == [15, 14]


def test_same_tree_as_lightgbm_with_uneven_curvature():
    """The program guesses rows per bin from Σh, so rows must not matter here."""
    X, g, rng = make(1)
    h = rng.uniform(0.8, 1.2, len(g)).astype(np.float32).astype(np.float64)
    settings = LGBMSettings(
        num_leaves=9, min_child_samples=1, min_child_weight=20.0, forget_columns=True
    )
    assert_same_tree(grow_lgbm(X, g, h, settings), train(X, g, h, settings), X)


CATEGORIES = {
    "defaults": {},
    "small groups": {"min_data_per_group": 5},
    "no smoothing": {"min_data_per_group": 1, "cat_smooth": 1.0, "cat_l2": 0.0},
    "rare": {"min_data_per_group": 10, "cat_smooth": 40.0},
    "few": {"min_data_per_group": 10, "max_cat_threshold": 2},
    "one-hot": {"max_cat_to_onehot": 20},
    "smooth": {"path_smooth": 10.0, "min_data_per_group": 20, "reg_lambda": 1.0},
}


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("name", CATEGORIES)
def test_same_tree_as_lightgbm_with_categories(name, missing):
    rng, n = np.random.default_rng(2), 1000  # every category holds more than 1 %, see make_bins
    X = np.column_stack([rng.choice(12, n, p=np.arange(3, 15) / 102), rng.integers(0, 6, n)])
    X = X.astype(float)
    effect = rng.normal(size=12)[X[:, 0].astype(int)] * 3
    g = effect + X[:, 1] * rng.normal(size=12)[X[:, 0].astype(int)] + rng.normal(size=n)
    g = (g - g.mean()).astype(np.float32).astype(np.float64)
    X[rng.random(n) < missing, 0] = NAN
    settings = LGBMSettings(num_leaves=8, forget_columns=True, **CATEGORIES[name])
    tree = grow_lgbm(X, g, np.ones(n), settings, categorical=[0])
    assert any(node.chosen.categories for node in tree if node.chosen)
    assert_same_tree(tree, train(X, g, np.ones(n), settings, [0]), X)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("n_categories", [2, 3, 4, 5])
def test_one_hot_as_lightgbm_when_there_are_few_categories(n_categories, missing):
    rng, n = np.random.default_rng(n_categories), 600
    x = rng.integers(0, n_categories, n)
    g = (rng.normal(size=n_categories)[x] + 0.3 * rng.normal(size=n)).astype(np.float32)
    X = np.where(rng.random(n) < missing, NAN, x)[:, None]
    settings = LGBMSettings(num_leaves=3, forget_columns=True)
    tree = grow_lgbm(X, g, np.ones(n), settings, categorical=[0])
    assert tree.chosen.kind == ("one category" if n_categories < 4 else "sorted categories")
    assert_same_tree(tree, train(X, g.astype(np.float64), np.ones(n), settings, [0]), X)
