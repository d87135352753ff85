"""LightGBM's parameters: every one changes something, every name is known, none is ignored."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from arboretum import LGBMClassifier, LGBMRanker, LGBMRegressor
from arboretum.boosting.lightgbm.parameters import ABSENT, ALIASES, PARAMETERS
from arboretum.errors import ParameterError
from tests.boosting.lightgbm.lgbm_cases import groups, numbers, two_classes


def _words(n=800):
    """Return a table with a column of many categories."""
    rng = np.random.default_rng(3)
    kind = rng.integers(0, 40, n)
    X = np.column_stack([kind, rng.normal(size=(n, 3))])
    return X, np.sin(kind) + 0.3 * X[:, 1] + 0.2 * rng.normal(size=n)


def _fit(kind, given):
    if kind == "words":
        X, y = _words()
        plain = {"min_data_per_group": 5, "cat_smooth": 2.0, "n_estimators": 6}
        return LGBMRegressor(**plain | given).fit(X, y, categorical_feature=[0]), X
    if kind == "rank":
        X, y, sizes = groups()
        model = LGBMRanker(**{"n_estimators": 6} | given)
        model.fit(X, y, group=sizes, eval_set=[(X, y)], eval_group=[sizes])
        return model, X
    if kind in ("two", "three"):
        X, y = two_classes()
        y = y + (X[:, 3] > 1) * (kind == "three") + 0
        model = LGBMClassifier(**{"n_estimators": 12} | given)
        rows = np.arange(len(y)) % 2 == 0
        table = [(X[rows], y[rows])]
        model.fit(X[~rows], y[~rows], eval_set=table, eval_metric="auc" if kind == "two" else None)
        return model, X
    X, y = numbers()
    X = np.maximum(X, 0.0) if kind == "zeros" else X
    y = np.exp(y / 3) if kind == "counts" else y
    return LGBMRegressor(**{"n_estimators": 12} | given).fit(X, y, eval_set=[(X, y)]), X


BAG = {"subsample": 0.5, "subsample_freq": 1}
DART = {"boosting_type": "dart", "drop_rate": 0.4, "skip_drop": 0.0, "n_estimators": 20}
GOSS = {"data_sample_strategy": "goss", "learning_rate": 0.5}
# the kind of table, what both models have, what one of them has
LIVE = {
    "boosting_type": ("numbers", {"colsample_bytree": 0.5}, "rf"),
    "num_leaves": ("numbers", {}, 5),
    "max_depth": ("numbers", {}, 2),
    "learning_rate": ("numbers", {}, 0.3),
    "n_estimators": ("numbers", {}, 5),
    "subsample_for_bin": ("numbers", {}, 50),
    "objective": ("numbers", {}, "huber"),
    "class_weight": ("two", {}, {0: 3.0}),
    "min_split_gain": ("numbers", {}, 9.0),
    "min_child_weight": ("numbers", {}, 60.0),
    "min_child_samples": ("numbers", {}, 60),
    "subsample": ("numbers", {"subsample_freq": 1}, 0.5),
    "subsample_freq": ("numbers", {"subsample": 0.5}, 3),
    "colsample_bytree": ("numbers", {}, 0.5),
    "reg_alpha": ("numbers", {}, 5.0),
    "reg_lambda": ("numbers", {}, 5.0),
    "random_state": ("numbers", BAG, 7),
    "importance_type": ("numbers", {}, "gain"),
    "data_sample_strategy": ("numbers", {"learning_rate": 0.5}, "goss"),
    "top_rate": ("numbers", GOSS, 0.5),
    "other_rate": ("numbers", GOSS, 0.5),
    "pos_bagging_fraction": ("two", {"subsample_freq": 1}, 0.5),
    "neg_bagging_fraction": ("two", {"subsample_freq": 1}, 0.5),
    "bagging_by_query": ("rank", BAG, True),
    "feature_fraction_bynode": ("numbers", {}, 0.4),
    "extra_trees": ("numbers", {}, True),
    "extra_seed": ("numbers", {"extra_trees": True}, 9),
    "bagging_seed": ("numbers", BAG, 7),
    "feature_fraction_seed": ("numbers", {"colsample_bytree": 0.5}, 7),
    "data_random_seed": ("numbers", {"subsample_for_bin": 50}, 7),
    "drop_rate": ("numbers", DART, 0.9),
    "skip_drop": ("numbers", DART, 0.9),
    "max_drop": ("numbers", DART, 1),
    "uniform_drop": ("numbers", DART, True),
    "xgboost_dart_mode": ("numbers", DART, True),
    "drop_seed": ("numbers", DART, 9),
    "max_bin": ("numbers", {}, 10),
    "min_data_in_bin": ("numbers", {}, 30),
    "max_delta_step": ("numbers", {}, 0.5),
    "path_smooth": ("numbers", {}, 10.0),
    "cat_smooth": ("words", {}, 15.0),
    "cat_l2": ("words", {}, 90.0),
    "max_cat_threshold": ("words", {}, 2),
    "max_cat_to_onehot": ("words", {}, 50),
    "min_data_per_group": ("words", {}, 90),
    "monotone_constraints": ("numbers", {}, [-1, 0, 0, 0, 0]),
    "interaction_constraints": ("numbers", {}, [[0], [1, 2, 3, 4]]),
    "boost_from_average": ("numbers", {"n_estimators": 2}, False),
    "scale_pos_weight": ("two", {}, 4.0),
    "is_unbalance": ("two", {}, True),
    "sigmoid": ("two", {}, 2.0),
    "alpha": ("numbers", {"objective": "quantile"}, 0.3),
    "fair_c": ("numbers", {"objective": "fair"}, 9.0),
    "poisson_max_delta_step": ("counts", {"objective": "poisson"}, 0.1),
    "tweedie_variance_power": ("counts", {"objective": "tweedie"}, 1.1),
    "lambdarank_truncation_level": ("rank", {}, 2),
    "lambdarank_norm": ("rank", {}, False),
    "label_gain": ("rank", {}, [0, 1, 2, 3, 4]),
    "metric": ("numbers", {}, "l1"),
    "eval_at": ("rank", {}, [7]),
    "multi_error_top_k": ("three", {"metric": "multi_error"}, 2),
    "early_stopping_round": ("two", {"n_estimators": 60, "verbose": -1}, 2),
    "early_stopping_min_delta": (
        "two", {"n_estimators": 60, "early_stopping_round": 4, "verbose": -1}, 0.05,
    ),
    "zero_as_missing": ("zeros", {}, True),
    "objective_seed": ("rank", {"objective": "rank_xendcg"}, 7),
    "pred_early_stop": ("two", {"pred_early_stop_freq": 3, "pred_early_stop_margin": 1.0}, True),
    "pred_early_stop_freq": ("two", {"pred_early_stop": True, "pred_early_stop_margin": 1.0}, 3),
    "pred_early_stop_margin": ("two", {"pred_early_stop": True}, 1.0),
    "first_metric_only": (
        "two", {"n_estimators": 60, "early_stopping_round": 8, "metric": "binary_error", "verbose": -1},
        True,
    ),
}  # fmt: skip
# how a table is laid out, what is printed: no model depends on them
ELSEWHERE = {
    "n_jobs", "deterministic", "force_col_wise", "force_row_wise", "verbosity", "num_class",
    "enable_bundle", "monotone_constraints_method", "histogram_pool_size",
    *("categorical_features", "ordinal_features", "unseen"),  # second_order/test_boosted_model.py
    "max_conflict_rate",  # of sparse columns: test_bundles.py
}  # fmt: skip


def test_every_parameter_is_looked_at():
    names = set(LGBMClassifier().get_params())
    assert names == set(PARAMETERS)
    assert set(LIVE) | ELSEWHERE == names
    assert not set(LIVE) & ELSEWHERE


@pytest.mark.parametrize("name", LIVE)
def test_another_value_makes_another_model(name):
    kind, common, value = LIVE[name]
    common = {key: given for key, given in common.items() if key != name or name in DART}
    (one, X), (two, _) = _fit(kind, common), _fit(kind, common | {name: value})

    def told(model):
        figures = repr((model.evals_result_, model.n_iter_, model.feature_importances_.tolist()))
        return figures + repr(model.predict(X, raw_score=True).tolist())

    assert told(one) != told(two)


@pytest.mark.parametrize("name", ["deterministic", "force_col_wise", "force_row_wise"])
def test_layouts_change_no_model(name):
    one, X = _fit("numbers", {})
    two, _ = _fit("numbers", {name: True})
    assert np.array_equal(one.predict(X), two.predict(X))


def test_signs_are_kept():
    X, y = numbers()
    model = LGBMRegressor(n_estimators=30, monotone_constraints=[1, 0, 0, 0, 0]).fit(X, y)
    line = np.tile(X[:1], (50, 1))
    line[:, 0] = np.linspace(-3, 3, 50)
    found = model.predict(line)
    assert (np.diff(found) >= 0).all()
    assert np.ptp(found) > 1


def test_columns_of_no_group_are_not_used():
    X, y = numbers()
    y = y + X[:, 4]
    assert LGBMRegressor(n_estimators=10).fit(X, y).feature_importances_[4] > 0
    for given in ([[0, 1], [2, 3]], "[[0, 1], [2, 3]]"):
        model = LGBMRegressor(n_estimators=10, interaction_constraints=given).fit(X, y)
        assert (model.feature_importances_[:2] > 0).all()
        assert model.feature_importances_[4] == 0


def test_a_refused_parameter_may_be_an_array():
    with pytest.raises(ParameterError, match="splits have no costs"):
        LGBMClassifier(cegb_penalty_feature_coupled=np.array([0.0, 1.0]))
    LGBMClassifier(cegb_penalty_feature_coupled=None)


# ---------------------------------------------------------------------- names
@pytest.mark.parametrize("other", ALIASES)
def test_other_names_mean_the_same(other):
    own = ALIASES[other]
    if own in ABSENT:
        with pytest.raises(ParameterError, match="not supported"):
            LGBMClassifier(**{other: object})
        return
    assert own in PARAMETERS
    value = object()
    assert LGBMClassifier(**{other: value}).get_params()[own] is value
    assert LGBMClassifier().set_params(**{other: value}).get_params()[own] is value


def test_one_parameter_has_one_value():
    with pytest.warns(UserWarning, match="are one parameter, feature_fraction=0.5 counts"):
        model = LGBMClassifier(feature_fraction=0.5, colsample_bytree=0.6)
    assert model.colsample_bytree == 0.5
    with pytest.warns(UserWarning, match="LightGBM will perform up to 4 boosting rounds"):
        model = LGBMClassifier(n_iter=4, max_iter=5)
    assert model.n_estimators == 4


def test_what_asks_for_nothing_special_is_accepted():
    model = LGBMClassifier(linear_tree=False, device_type="cpu", tree_learner="serial")
    assert model.get_params() == LGBMClassifier().get_params()


REFUSED = {
    "linear": ({"linear_tree": True}, "linear_tree=True is not supported"),
    "several machines": ({"tree_learner": "data"}, "one machine"),
    "files": ({"output_model": "m.txt"}, "command line"),
    "categories": ({"categorical_feature": [1]}, "argument of fit"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_place_here_is_refused(case):
    given, message = REFUSED[case]
    with pytest.raises(ParameterError, match=message):
        LGBMClassifier(**given)
    with pytest.raises(ParameterError, match=message):
        LGBMClassifier().set_params(**given)


def test_a_small_pool_of_histograms_changes_the_memory_and_no_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 40))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=3000)

    def grown(size):
        model = LGBMRegressor(
            n_estimators=2, num_leaves=300, min_child_samples=1, histogram_pool_size=size, n_jobs=1
        )
        model.fit(X, y)  # compiled
        tracemalloc.start()
        try:
            model.fit(X, y)
            return model, tracemalloc.get_traced_memory()[1] / 2**20
        finally:
            tracemalloc.stop()

    small, few = grown(1)
    usual, many = grown(None)
    free, all_of_them = grown(-1)
    one = 40 * 256 * 8 / 2**20  # megabytes of a histogram
    assert few + 200 * one < many
    assert all_of_them == pytest.approx(many, rel=0.1)  # it is far below 512
    for model in (usual, free):
        for a, b in zip(small.trees_, model.trees_, strict=True):
            assert np.array_equal(a.threshold, b.threshold, equal_nan=True)
            assert np.array_equal(a.value, b.value)
    with pytest.raises(ParameterError, match="histogram_pool_size"):
        LGBMRegressor(hist_pool_size="1GB").fit(X, y)
