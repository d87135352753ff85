"""dart, forests, GOSS and bags: what they do, and that threads change no bit."""

from __future__ import annotations

import numpy as np
import pytest

import arboretum
from arboretum import LGBMClassifier, LGBMRanker, LGBMRegressor
from tests.boosting.lightgbm.lgbm_cases import groups, numbers, saved, two_classes

SAME = {
    "plain": {},
    "goss": {"data_sample_strategy": "goss", "learning_rate": 0.4},
    "bags": {"subsample": 0.6, "subsample_freq": 2},
    "bags of classes": {"pos_bagging_fraction": 0.5, "neg_bagging_fraction": 0.8, "bagging_freq": 1},
    "columns": {"colsample_bytree": 0.7, "feature_fraction_bynode": 0.6},
    "dart": {"boosting_type": "dart", "skip_drop": 0.2, "drop_rate": 0.4},
    "forest": {"boosting_type": "rf", "subsample": 0.5, "subsample_freq": 1},
    "all": {
        "data_sample_strategy": "goss", "learning_rate": 0.4, "colsample_bytree": 0.7,
        "feature_fraction_bynode": 0.6, "reg_alpha": 0.5, "path_smooth": 1.0, "max_bin": 400,
    },
}  # fmt: skip


def _large(n=70_000):
    """Return a table large enough for several threads, with categories and missing values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 7)).round(3)
    X[:, 5] = rng.integers(0, 30, n)
    X[:, 6] = rng.integers(0, 3, n)
    score = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(X[:, 5]) + (X[:, 6] == 1)
    X[rng.random(n) < 0.1, 0] = np.nan
    return X, (score + rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("case", SAME)
def test_threads_change_no_bit(case):
    X, y = _large()
    found = set()
    for n_jobs in (1, 2, 3, 8):
        model = LGBMClassifier(**{"n_estimators": 5, "n_jobs": n_jobs} | SAME[case])
        model.fit(X, y, categorical_feature=[5, 6], eval_set=[(X[:500], y[:500])])
        found.add(saved(model))
    assert len(found) == 1


def test_threads_change_no_bit_of_lists():
    X, y, sizes = groups(n_groups=800, size=50)
    how = {"bagging_freq": 1, "subsample": 0.9, "bagging_by_query": True}
    files = [
        saved(LGBMRanker(n_estimators=3, n_jobs=n_jobs, **how).fit(X, y, group=sizes))
        for n_jobs in (1, 2, 3, 8)
    ]
    assert len(set(files)) == 1


# ---------------------------------------------------------------------- GOSS
def test_goss_sees_all_rows_at_first_and_few_later():
    X, y = two_classes(n=1000)
    model = LGBMClassifier(boosting_type="goss", learning_rate=0.25, n_estimators=8).fit(X, y)
    counts = [int(tree.count[0]) for tree in model.trees_]
    assert counts == [1000] * 4 + [300] * 4
    other = LGBMClassifier(data_sample_strategy="goss", learning_rate=0.25, n_estimators=8)
    assert np.array_equal(other.fit(X, y).predict_proba(X), model.predict_proba(X))


def test_bags_are_kept_for_some_rounds():
    X, y = two_classes(n=1000)
    how = {"bagging_fraction": 0.4, "bagging_freq": 2, "n_estimators": 4}
    model = LGBMClassifier(**how).fit(X, y)
    assert [int(tree.count[0]) for tree in model.trees_] == [400] * 4
    n_one = int(y.sum())
    how = {"pos_bagging_fraction": 0.5, "neg_bagging_fraction": 0.25, "bagging_freq": 1}
    model = LGBMClassifier(n_estimators=2, **how).fit(X, y)
    expected = int(n_one * 0.5) + int((1000 - n_one) * 0.25)
    assert [int(tree.count[0]) for tree in model.trees_] == [expected] * 2


def test_whole_lists_are_drawn():
    X, y, sizes = groups(n_groups=40, size=15)
    how = {"bagging_fraction": 0.5, "bagging_freq": 1, "bagging_by_query": True}
    model = LGBMRanker(n_estimators=3, **how).fit(X, y, group=sizes)
    assert [int(tree.count[0]) for tree in model.trees_] == [300] * 3


# ---------------------------------------------------------------------- dart
@pytest.mark.parametrize("xgboost_mode", [False, True])
def test_dart_weighs_dropped_trees(xgboost_mode):
    X, y = numbers()
    model = LGBMRegressor(
        boosting_type="dart", n_estimators=15, skip_drop=0.0, drop_rate=0.3,
        xgboost_dart_mode=xgboost_mode,
    )  # fmt: skip
    model.fit(X, y, eval_set=[(X[:200], y[:200])])
    weights = model.ensemble_.weights
    assert (weights < 1).any()
    assert (weights > 0).all()
    error = np.mean((model.predict(X[:200]) - y[:200]) ** 2)
    assert model.evals_result_["valid_0"]["l2"][-1] == pytest.approx(error)
    assert error < 0.6 * y.var()


def test_dart_without_drops_is_plain_boosting():
    X, y = numbers()
    plain = LGBMRegressor(n_estimators=8).fit(X, y)
    dart = LGBMRegressor(n_estimators=8, boosting_type="dart", drop_rate=0.0).fit(X, y)
    assert np.array_equal(plain.predict(X), dart.predict(X))


def test_dart_is_as_good_as_lightgbms():
    lightgbm = pytest.importorskip("lightgbm")
    errors = {arboretum: [], lightgbm: []}
    for seed in range(5):
        X, y = numbers(seed, 1200)
        for package, found in errors.items():
            model = package.LGBMRegressor(
                boosting_type="dart", n_estimators=60, verbose=-1, n_jobs=1, random_state=seed
            )
            found.append(np.mean((model.fit(X[:800], y[:800]).predict(X[800:]) - y[800:]) ** 2))
    assert np.mean(errors[arboretum]) < 1.1 * np.mean(errors[lightgbm])


# ---------------------------------------------------------------------- forests
def test_a_forest_is_the_mean_of_its_trees():
    X, y = numbers()
    model = LGBMRegressor(boosting_type="rf", subsample=0.6, subsample_freq=1, n_estimators=10)
    model.fit(X, y, eval_set=[(X, y)])
    each = [model.predict(X, start_iteration=k, num_iteration=1) for k in range(10)]
    assert np.allclose(np.mean(each, axis=0), model.predict(X))
    figures = model.evals_result_["training"]["l2"]
    assert figures[-1] == pytest.approx(np.mean((model.predict(X) - y) ** 2))
    assert figures[-1] < figures[0]
    more = LGBMRegressor(boosting_type="rf", subsample=0.6, subsample_freq=1, n_estimators=4)
    first = LGBMRegressor(boosting_type="rf", subsample=0.6, subsample_freq=1, n_estimators=6)
    more.fit(X, y, init_model=first.fit(X, y))
    assert np.allclose(more.predict(X), model.predict(X))


def test_a_forest_is_as_good_as_lightgbms():
    lightgbm = pytest.importorskip("lightgbm")
    errors = {arboretum: [], lightgbm: []}
    for seed in range(5):
        X, y = numbers(seed, 1200)
        for package, found in errors.items():
            model = package.LGBMRegressor(
                boosting_type="rf", subsample=0.6, subsample_freq=1, n_estimators=40, verbose=-1,
                n_jobs=1,
            )  # fmt: skip
            found.append(np.mean((model.fit(X[:800], y[:800]).predict(X[800:]) - y[800:]) ** 2))
    assert np.mean(errors[arboretum]) < 1.05 * np.mean(errors[lightgbm])


# ---------------------------------------------------------------------- the end
def test_boosting_ends_where_no_leaf_can_be_split():
    X, y = numbers()
    model = LGBMRegressor(n_estimators=500, min_split_gain=20.0).fit(X, y)
    assert 1 < model.n_iter_ < 500
    assert min(tree.n_leaves for tree in model.trees_) > 1
    drawn = LGBMRegressor(n_estimators=60, min_split_gain=20.0, colsample_bytree=0.2).fit(X, y)
    assert drawn.n_iter_ == 60  # a round that drew useless columns is not the last
    assert max(tree.n_leaves for tree in drawn.trees_[30:]) > 1
    alone = LGBMRegressor(n_estimators=50, min_child_samples=300).fit(X, y)
    assert alone.n_iter_ == 1
    assert np.allclose(alone.predict(X), y.mean())


@pytest.mark.parametrize(
    ("width", "share", "drawn"), [(5, 0.9, 5), (3, 0.6, 2), (8, 0.7, 6), (4, 0.1, 1)]
)
def test_a_share_of_the_columns_is_rounded(width, share, drawn):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, width))
    y = X.sum(axis=1)
    how = {"n_estimators": 12, "num_leaves": 40, "min_child_samples": 2}
    model = LGBMRegressor(colsample_bytree=share, **how).fit(X, y)
    asked = [len(np.unique(tree.feature[tree.feature >= 0])) for tree in model.trees_]
    assert max(asked) == drawn


def _fixed(g, h):
    return lambda y, raw: (g, h)


def test_rows_are_told_from_hessians_as_in_lightgbm():
    lightgbm = pytest.importorskip("lightgbm")
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 60, (800, 1)) * 1.0
        g = np.round(np.sin(X[:, 0]) * 8 + rng.normal(size=800) * 4) / 16
        h = 2.0 ** -rng.integers(0, 9, 800)  # few rows have nearly all of it
        how = {"objective": _fixed(g, h), "n_estimators": 1, "learning_rate": 1.0, "num_leaves": 12}
        ours = LGBMRegressor(**how).fit(X, g)
        theirs = lightgbm.LGBMRegressor(**how, n_jobs=1, verbose=-1).fit(X, g)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)
