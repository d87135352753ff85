"""XGBoost's front door against the textbook, against xgboost, and its own methods.

Histograms hold gradients in 16 bits, so a gain is exact to about 1e-4 of itself: where two splits are
equally good, or nearly, another one may be chosen. The tables here have no such ties: few distinct values (so
that bins are values), a continuous target, and sides of 15 rows at least. Leaves are summed finely:
predictions agree to float32, in which xgboost computes.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris

from arboretum import DataError, XGBClassifier, XGBRanker, XGBRegressor, load
from arboretum.boosting.second_order.booster import Booster
from arboretum.textbook.xgboost import boost_xgb, predict_margin_xgb
from arboretum.textbook.xgboost_splits import XGBSettings
from tests.boosting.xgboost.xgb_cases import halves, mixed, numbers, saved, thirds
from tests.boosting.xgboost_version import skip_newer_xgboost


# ---------------------------------------------------------------------- the textbook
@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
@pytest.mark.parametrize(
    ("objective", "kind"),
    [("reg:squarederror", None), ("binary:logistic", halves), ("multi:softprob", thirds)],
)
def test_the_textbook_finds_the_same_margins(objective, kind, method):
    X, y = numbers(200)
    w = np.random.default_rng(5).integers(1, 4, 200).astype(float)
    least = 12.0 if kind is None else 4.0
    settings = XGBSettings(max_depth=3, reg_lambda=1.5, min_child_weight=least)
    labels = y if kind is None else kind(y)
    book = boost_xgb(X, labels, w, objective, 4, 0.3, settings=settings)
    model = XGBRegressor if kind is None else XGBClassifier
    ours = model(
        n_estimators=4, max_depth=3, reg_lambda=1.5, min_child_weight=least, tree_method=method
    )
    ours.fit(X, labels, sample_weight=w)
    margin = ours.predict(X, output_margin=True).reshape(len(X), -1)
    np.testing.assert_allclose(margin, predict_margin_xgb(book, X), atol=2e-6)


def test_exact_prunes_after_growing_and_hist_refuses_up_front():
    x = np.arange(8.0)[:, None]
    y = np.array([0, 0, 6, 6, 0, 0, 6, 6.0])
    kept = {}
    for method in ("hist", "exact"):
        model = XGBRegressor(
            n_estimators=1, max_depth=3, gamma=15.0, min_child_weight=0, tree_method=method
        )
        kept[method] = model.fit(x, y).trees_[0].n_leaves
    assert kept["hist"] < kept["exact"]


# ---------------------------------------------------------------------- xgboost
PEER = {
    "defaults": {},
    "penalties": {"reg_alpha": 1.0, "gamma": 2.0, "max_depth": 3, "reg_lambda": 3.0},
    "lossguide": {"grow_policy": "lossguide", "max_leaves": 8, "max_depth": 0},
    "interactions": {"interaction_constraints": "[[0, 1], [2, 3]]"},
    "small steps": {"max_delta_step": 0.3},
    "approx": {"tree_method": "approx"},
    "exact": {"tree_method": "exact"},
    "exact, pruned": {"tree_method": "exact", "gamma": 3.0},
    "forest": {"num_parallel_tree": 3},
    "start": {"base_score": 0.5},
    "absolute": {"objective": "reg:absoluteerror"},
    "huber": {"objective": "reg:pseudohubererror", "huber_slope": 2.0},
    "gamma": {"objective": "reg:gamma"},
    "tweedie": {"objective": "reg:tweedie", "tweedie_variance_power": 1.3},
    "quantile": {"objective": "reg:quantileerror", "quantile_alpha": 0.7, "max_depth": 3},
}


@pytest.mark.parametrize("case", PEER)
def test_xgboost_predicts_the_same(case):
    peer = pytest.importorskip("xgboost")
    if case in ("absolute", "quantile"):
        skip_newer_xgboost("leaves of absolute and quantile error")
    X, y = numbers()
    y = np.abs(y) + 0.5
    w = np.random.default_rng(3).random(len(y)) + 0.5
    how = {"n_estimators": 6, "min_child_weight": 15.0, "max_depth": 4, **PEER[case]}
    ours, theirs = XGBRegressor(**how), peer.XGBRegressor(n_jobs=1, **how)
    for model in (ours, theirs):
        model.fit(X, y, sample_weight=w, eval_set=[(X, y)], verbose=False)
    # leaves of monotone and pruned trees are exact too; the figures are xgboost's to float32
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=2e-5, atol=2e-5)
    for name, values in theirs.evals_result()["validation_0"].items():
        np.testing.assert_allclose(ours.evals_result()["validation_0"][name], values, rtol=1e-4)


def test_xgboost_tells_the_same_classes_importances_and_trees():
    peer = pytest.importorskip("xgboost")
    X, y = numbers()
    for labels in (halves(y), thirds(y)):
        how = {"n_estimators": 5, "max_depth": 3, "min_child_weight": 5.0}
        ours, theirs = XGBClassifier(**how), peer.XGBClassifier(n_jobs=1, **how)
        ours.fit(X, labels), theirs.fit(X, labels)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-6)
        mine, other = ours.get_booster(), theirs.get_booster()
        for kind in ("weight", "gain", "cover", "total_gain", "total_cover"):
            expected = other.get_score(importance_type=kind)
            assert mine.get_score(importance_type=kind) == pytest.approx(expected, rel=2e-3)
        assert mine.num_boosted_rounds() == 5
        table, known = mine.trees_to_dataframe(), other.trees_to_dataframe()
        newer = {"Target"}  # a column of XGBoost 3.3
        assert list(table.columns) == [name for name in known.columns if name not in newer]
        assert sorted(table.groupby("Tree")["Cover"].sum()) == pytest.approx(
            sorted(known.groupby("Tree")["Cover"].sum()), rel=1e-5
        )


def test_xgboost_splits_categories_the_same():
    peer = pytest.importorskip("xgboost")
    X, y = mixed(2000)
    X["colour"] = X["colour"].astype("category")
    for onehot in (1, 20):
        how = {"n_estimators": 3, "max_depth": 3, "max_cat_to_onehot": onehot}
        how["min_child_weight"] = 60.0
        ours = XGBRegressor(**how).fit(X, y)
        theirs = peer.XGBRegressor(enable_categorical=True, **how).fit(X, y)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("method", ["hist", "exact"])
def test_xgboost_reads_sparse_tables_the_same(method):
    peer = pytest.importorskip("xgboost")
    X = sp.random(400, 6, density=0.4, random_state=0, format="csr")
    X.data = (X.data * 10).round() + 1
    _, y = numbers()
    how = {"n_estimators": 5, "min_child_weight": 15.0, "tree_method": method}
    ours, theirs = XGBRegressor(**how).fit(X, y), peer.XGBRegressor(**how).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)


def test_xgboost_ranks_the_same():
    peer = pytest.importorskip("xgboost")
    X, y = numbers()
    grades, sizes = np.digitize(y, np.quantile(y, [0.5, 0.8, 0.95])), [40] * 10
    how = {"n_estimators": 5, "max_depth": 3}
    ours, theirs = XGBRanker(**how), peer.XGBRanker(**how)
    for model in (ours, theirs):
        model.fit(X, grades, group=sizes, eval_set=[(X, grades)], eval_group=[sizes])
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)
    expected = theirs.evals_result()["validation_0"]["ndcg@32"]
    np.testing.assert_allclose(ours.evals_result()["validation_0"]["ndcg@32"], expected, rtol=1e-6)
    by_id = XGBRanker(**how).fit(X, grades, qid=np.repeat(np.arange(10), 40))
    assert np.array_equal(by_id.predict(X), ours.predict(X))


# ---------------------------------------------------------------------- asking
def test_ranges_stages_leaves_and_margins_belong_together():
    X, y = numbers()
    model = XGBClassifier(n_estimators=6, max_depth=2).fit(X, thirds(y))
    staged = list(model.staged_predict_proba(X))
    assert len(staged) == 6
    for m, proba in enumerate(staged):
        np.testing.assert_allclose(model.predict_proba(X, iteration_range=(0, m + 1)), proba)
    assert np.array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    assert model.apply(X).shape == (len(X), 18)
    assert model.apply(X, iteration_range=(2, 4)).shape == (len(X), 6)
    leaf = model.apply(X)[:, 4]
    margin = model.predict(X, output_margin=True, iteration_range=(1, 2))
    own = model.trees_[4].value[leaf, 0, 0] + model.ensemble_.base[1]
    np.testing.assert_allclose(margin[:, 1], own)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


def test_base_margins_stand_instead_of_the_start():
    X, y = numbers()
    half = XGBRegressor(n_estimators=4, max_depth=3).fit(X, y)
    margin = half.predict(X, output_margin=True)
    rest = XGBRegressor(n_estimators=4, max_depth=3).fit(X, y, base_margin=margin)
    whole = XGBRegressor(n_estimators=8, max_depth=3).fit(X, y)
    np.testing.assert_allclose(rest.predict(X, base_margin=margin), whole.predict(X), atol=1e-2)
    moved = half.predict(X, base_margin=np.zeros(len(X)))
    np.testing.assert_allclose(moved + half.ensemble_.base[0], half.predict(X))


@pytest.mark.parametrize("more", [{}, {"booster": "dart", "rate_drop": 0.4}, {"subsample": 0.6}])
def test_a_fit_that_goes_on_is_as_one_fit(more):
    X, y = mixed()
    how = {"max_depth": 3, "random_state": 7, **more}
    whole = XGBRegressor(n_estimators=9, **how).fit(X, y, eval_set=[(X, y)], verbose=False)
    first = XGBRegressor(n_estimators=4, **how).fit(X, y)
    rest = XGBRegressor(n_estimators=5, **how)
    rest.fit(X, y, xgb_model=first.get_booster(), eval_set=[(X, y)], verbose=False)
    assert rest.get_booster().num_boosted_rounds() == 9
    tolerance = 1e-9 if not more.get("booster") else 1e-6
    np.testing.assert_allclose(rest.predict(X), whole.predict(X), rtol=tolerance)
    expected = whole.evals_result()["validation_0"]["rmse"][4:]
    np.testing.assert_allclose(rest.evals_result()["validation_0"]["rmse"], expected, rtol=1e-6)


def test_labels_may_be_anything():
    X, y = numbers()
    words = np.array(["low", "mid", "top"])[thirds(y)]
    model = XGBClassifier(n_estimators=5).fit(X, words, eval_set=[(X, words)], verbose=False)
    plain = XGBClassifier(n_estimators=5).fit(X, thirds(y))
    assert model.classes_.tolist() == ["low", "mid", "top"]
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert set(model.predict(X)) == {"low", "mid", "top"}
    one = XGBClassifier(n_estimators=2).fit(X, ["same"] * len(X))
    assert set(one.predict(X)) == {"same"}


def test_functions_as_objective_and_metric(tmp_path):
    X, y = numbers()

    def squares(truth, margin):
        return margin - truth, np.ones_like(truth)

    def worst(truth, prediction):
        return np.abs(truth - prediction).max()

    how = {"n_estimators": 4, "max_depth": 3}
    model = XGBRegressor(
        objective=squares, eval_metric=["rmse", worst], base_score=float(y.mean()), **how
    )
    model.fit(X, y, eval_set=[(X, y)], verbose=False)
    plain = XGBRegressor(base_score=float(y.mean()), **how).fit(X, y)
    np.testing.assert_allclose(model.predict(X), plain.predict(X), rtol=1e-6)
    figures = model.evals_result()["validation_0"]
    assert figures["worst"][-1] == pytest.approx(worst(y, model.predict(X)))
    model.save_model(tmp_path / "m.arb")
    assert np.array_equal(load(tmp_path / "m.arb").predict(X), model.predict(X))

    def logistic(truth, margin):
        p = 1 / (1 + np.exp(-margin))
        return p - truth, p * (1 - p)

    labels = halves(y)
    own = XGBClassifier(objective=logistic, **how).fit(X, labels)
    named = XGBClassifier(base_score=0.5, **how).fit(X, labels)
    np.testing.assert_allclose(own.predict_proba(X), named.predict_proba(X), atol=1e-6)


def test_missing_values_may_be_a_number():
    X, y = numbers()
    model = XGBRegressor(n_estimators=5).fit(X, y)
    filled = np.where(np.isnan(X), -999.0, X)
    other = XGBRegressor(n_estimators=5, missing=-999.0).fit(filled, y)
    assert np.array_equal(other.predict(filled), model.predict(X))
    frame = XGBRegressor(n_estimators=5, missing=-999.0).fit(pd.DataFrame(filled), y)
    assert np.array_equal(frame.predict(pd.DataFrame(filled)), model.predict(X))
    sparse = XGBRegressor(n_estimators=5, missing=-999.0).fit(sp.csr_matrix(filled + 1), y)
    zero = np.where(filled + 1 == 0, np.nan, filled + 1)
    same = XGBRegressor(n_estimators=5, missing=-999.0).fit(zero, y)
    assert np.array_equal(sparse.predict(sp.csr_matrix(filled + 1)), same.predict(zero))


@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
def test_odd_columns_can_be_learned_from_and_saved(method):
    rng = np.random.default_rng(0)
    n, y = 200, rng.normal(size=200)
    grades = pd.Categorical.from_codes(rng.integers(0, 3, n), ["low", "mid", "top"], ordered=True)
    frame = pd.DataFrame({"grade": grades, "day": pd.date_range("2020", periods=n), "void": np.nan})
    frame["same"], frame["huge"] = 1.0, y * 1e300
    model = XGBRegressor(n_estimators=3, tree_method=method).fit(
        frame, frame["grade"].cat.codes + y
    )
    assert set(np.concatenate([tree.feature for tree in model.trees_])) >= {0, 1, 4}
    assert np.array_equal(load(saved(model)).predict(frame), model.predict(frame))
    for X in (np.ones((1, 2)), np.ones((5, 2)), np.full((5, 2), np.nan), sp.csr_matrix((5, 2))):
        small = XGBRegressor(n_estimators=2, tree_method=method).fit(X, np.arange(X.shape[0]))
        np.testing.assert_allclose(small.predict(X), (X.shape[0] - 1) / 2, atol=1e-6)


def test_columns_are_matched_by_name():
    X, y = mixed()
    model = XGBRegressor(n_estimators=3).fit(X, y)
    assert np.array_equal(model.predict(X[["age", "colour", "city"]]), model.predict(X))
    assert model.get_booster().feature_names == ["city", "colour", "age"]
    renamed = X.rename(columns={"age": "years"})
    assert np.array_equal(model.predict(renamed, validate_features=False), model.predict(X))


# ---------------------------------------------------------------------- keeping
def _kept(model, tmp_path):
    model.save_model(tmp_path / "model.arb")
    loaded = type(model)()
    loaded.load_model(tmp_path / "model.arb")
    return [load(tmp_path / "model.arb"), loaded, pickle.loads(pickle.dumps(model))]


def test_files_and_pickles_hold_the_whole_model(tmp_path):
    X, y = mixed()
    groups = [len(X) // 4] * 4
    dart = XGBRegressor(n_estimators=5, booster="dart", rate_drop=0.5, quantile_alpha=[0.2, 0.8])
    dart.set_params(objective="reg:quantileerror").fit(X, y)
    several = XGBClassifier(n_estimators=4, early_stopping_rounds=2, num_parallel_tree=2)
    several.fit(X, thirds(y).astype(str), eval_set=[(X, thirds(y).astype(str))], verbose=False)
    ranks = XGBRanker(n_estimators=3).fit(X, thirds(y), group=groups)
    for model in (dart, several, ranks):
        for again in _kept(model, tmp_path):
            assert np.array_equal(again.predict(X), model.predict(X))
            assert np.array_equal(again.feature_importances_, model.feature_importances_)
            assert again.evals_result_ == model.evals_result_
            assert again._best == model._best
            assert saved(again) == saved(model)
            assert again.get_params().keys() == model.get_params().keys()


def test_a_clone_is_unfitted_and_has_the_same_parameters():
    model = XGBClassifier(eta=0.2, reg_lambda=3).fit(*load_iris(return_X_y=True))
    copy = clone(model)
    assert copy.learning_rate == 0.2
    assert not hasattr(copy, "ensemble_")
    peer = pytest.importorskip("xgboost")
    ours, theirs = XGBClassifier().get_params(), peer.XGBClassifier().get_params()
    missing = theirs.pop("missing")
    theirs.pop("enable_categorical")  # True from XGBoost 3.3 on; here categories are always taken
    assert np.isnan(missing)
    assert np.isnan(ours["missing"])
    assert theirs.items() <= ours.items()


def test_the_trees_can_be_read():
    X, y = mixed()
    booster = XGBRegressor(n_estimators=2, max_depth=2).fit(X, y).get_booster()
    text = booster.get_dump(with_stats=True)
    assert len(text) == 2
    assert text[0].startswith("0:[")
    assert "gain=" in text[0]
    assert "leaf=" in text[0]
    assert '"children"' in booster.get_dump(dump_format="json")[0]
    assert booster.num_features() == 3


def test_importances_are_shares_of_what_is_asked_for():
    X, y = mixed()
    model = XGBRegressor(n_estimators=3).fit(X, y)
    for kind in ("weight", "gain", "cover", "total_gain", "total_cover"):
        model.set_params(importance_type=kind)
        found = model.feature_importances_
        score = model.get_booster().get_score(importance_type=kind)
        assert found.sum() == pytest.approx(1.0)
        expected = np.array([score.get(name, 0.0) for name in X.columns])
        np.testing.assert_allclose(found, expected / expected.sum())


def test_ctrl_c_keeps_the_rounds_so_far(monkeypatch):
    X, y = numbers()
    made, grow = [], Booster.round

    def interrupted(self, most):
        if len(made) == 3:
            raise KeyboardInterrupt
        made.append(grow(self))

    monkeypatch.setattr(Booster, "round", interrupted)
    model = XGBRegressor(n_estimators=10)
    with pytest.raises(KeyboardInterrupt, match="3 rounds"):
        model.fit(X, y)
    monkeypatch.undo()
    whole = XGBRegressor(n_estimators=3).fit(X, y)
    assert np.array_equal(model.predict(X), whole.predict(X))


# ---------------------------------------------------------------------- raw margins
def test_raw_margins_of_one_class_tell_one_class():
    X = np.arange(20.0)[:, None]
    model = XGBClassifier(n_estimators=2, objective="binary:logitraw").fit(X, np.zeros(20))
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((20, 1)))
    np.testing.assert_array_equal(model.predict(X), np.zeros(20))


def test_raw_margins_decide_by_their_sign_alone_or_among_many():
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = XGBClassifier(n_estimators=5, objective="binary:logitraw").fit(X, X[:, 0] > 0.3)
    decided = model.decision_function(X) > 0
    np.testing.assert_array_equal(model.predict(X), decided)
    np.testing.assert_array_equal([model.predict(X[k : k + 1])[0] for k in range(200)], decided)


@pytest.mark.parametrize(
    "loss",
    [{"objective": "reg:absoluteerror"}, {"objective": "reg:quantileerror", "quantile_alpha": 0.3}],
)
def test_parallel_trees_renew_their_leaves_from_the_start_of_the_round(loss):
    xgboost = pytest.importorskip("xgboost")
    X, y = load_diabetes(return_X_y=True)
    how = {"n_estimators": 1, "learning_rate": 1.0, "max_depth": 2, **loss}
    one = XGBRegressor(**how).fit(X, y).predict(X)
    # nothing is drawn, so five trees that are averaged predict what one predicts
    assert_allclose(XGBRegressor(**how, num_parallel_tree=5).fit(X, y).predict(X), one)
    skip_newer_xgboost("leaves of parallel trees")
    peer = xgboost.XGBRegressor(**how, num_parallel_tree=5).fit(X, y).predict(X)
    assert_allclose(one, peer, rtol=1e-5)


def test_a_column_qid_has_the_groups_of_a_ranker():
    X, y = numbers(200)
    grades, qid = thirds(y), np.repeat(np.arange(10), 20)
    frame = pd.DataFrame(X, columns=list("abcde"))
    named = XGBRanker(n_estimators=4).fit(frame, grades, qid=qid)
    packed = frame.assign(qid=qid)
    inside = XGBRanker(n_estimators=4).fit(packed, grades, eval_set=[(packed, grades)])
    np.testing.assert_array_equal(named.predict(frame), inside.predict(packed))
    np.testing.assert_array_equal(inside.apply(frame), inside.apply(packed))
    assert inside.n_features_in_ == 5
    assert (
        inside.score(packed, grades) == list(inside.evals_result()["validation_0"].values())[-1][-1]
    )
    assert inside.score(frame, grades) != inside.score(packed, grades)  # one group
    with pytest.raises(DataError, match="twice"):
        XGBRanker().fit(packed, grades, qid=qid)
    with pytest.raises(DataError, match="Either `group`"):
        XGBRanker().fit(packed, grades, eval_set=[(frame, grades)])


def test_a_function_judges_the_groups_of_a_ranker_one_by_one():
    peer = pytest.importorskip("xgboost")
    X, y = numbers(200)
    sizes = np.full(10, 20)

    def spread(truth, scores):
        assert len(truth) == len(scores) == 20
        return float(np.mean((truth - scores) ** 2))

    how = {"group": sizes, "eval_set": [(X, thirds(y))], "eval_group": [sizes], "verbose": False}
    kwargs = {"n_estimators": 3, "tree_method": "exact", "eval_metric": spread}
    ours = XGBRanker(**kwargs).fit(X, thirds(y), **how).evals_result()["validation_0"]
    theirs = peer.XGBRanker(**kwargs).fit(X, thirds(y), **how).evals_result()["validation_0"]
    np.testing.assert_allclose(ours["spread"], theirs["spread"], rtol=1e-4)


def test_weighted_columns_are_drawn_more_often():
    X, y = numbers(200)
    weights = np.array([0.0, 1.0, 2.0, 4.0, 8.0])
    counts = np.zeros(5)
    for seed in range(40):
        how = {"n_estimators": 1, "max_depth": 1, "random_state": seed, "colsample_bytree": 0.2}
        model = XGBRegressor(**how).fit(X, y, feature_weights=weights)
        counts += np.bincount([tree.feature[0] for tree in model.trees_], minlength=5)[:5]
        same = XGBRegressor(**how, feature_weights=weights).fit(X, y)
        assert [t.feature[0] for t in same.trees_] == [t.feature[0] for t in model.trees_]
    assert counts[0] == 0
    assert counts[4] > 12 > counts[1]
