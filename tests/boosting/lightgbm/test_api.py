"""LightGBM's front door: trees of the textbook, trees and losses of the program, questions to a model."""

from __future__ import annotations

import functools
import operator
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn import datasets
from sklearn.base import clone
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import train_test_split

import arboretum
from arboretum import LGBMClassifier, LGBMRanker, LGBMRegressor
from arboretum.textbook.lightgbm import LGBMSettings, grow_lgbm, predict_lgbm
from tests.boosting.lightgbm.lgbm_cases import groups, numbers, saved, two_classes, whole_table

EXACT = {"n_estimators": 1, "boost_from_average": False, "min_data_in_bin": 1, "verbose": -1}

CASES = {
    "plain": {},
    "few leaves": {"num_leaves": 7},
    "l1": {"reg_alpha": 2.0, "reg_lambda": 0.5},
    "l2": {"reg_lambda": 1.0},
    "rows": {"min_child_samples": 40},
    "weight": {"min_child_weight": 60.0},
    "gain": {"min_split_gain": 5.0},
    "smooth": {"path_smooth": 5.0},
    "depth": {"max_depth": 3},
    "few rows": {"min_child_samples": 1, "num_leaves": 12},
}


# ---------------------------------------------------------------------- the textbook
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("case", CASES)
def test_the_first_tree_is_that_of_the_textbook(case, missing):
    for seed in range(2):
        X, y = whole_table(seed, missing=missing)
        model = LGBMRegressor(**EXACT, **CASES[case], learning_rate=1.0).fit(X, y)
        book = grow_lgbm(X, -y, np.ones(len(y)), LGBMSettings(**CASES[case]))
        assert np.allclose(model.predict(X), predict_lgbm(book, X), rtol=0, atol=1e-12)
        assert model.trees_[0].n_leaves == sum(node.is_leaf for node in book)


@pytest.mark.parametrize("values", [3, 14])
def test_trees_of_categories_are_those_of_the_textbook(values):
    for seed in range(2):
        X, y = whole_table(seed, 900, values, missing=0.1)
        how = {"num_leaves": 6, "min_child_samples": 5, "min_data_per_group": 20, "cat_smooth": 5.0}
        model = LGBMRegressor(**EXACT, **how, learning_rate=1.0)
        model.fit(X, y, categorical_feature=[0, 2])
        book = grow_lgbm(X, -y, np.ones(len(y)), LGBMSettings(**how), categorical=(0, 2))
        assert np.allclose(model.predict(X), predict_lgbm(book, X), rtol=0, atol=1e-12)


# ---------------------------------------------------------------------- the program
PROGRAM = {
    "plain": {},
    "few leaves": {"num_leaves": 7},
    "l2": {"reg_lambda": 1.0},
    "smooth": {"path_smooth": 5.0},
    "depth": {"max_depth": 3},
    "missing": {"missing": 0.2, "num_leaves": 7},
    "weights": {"weigh": True, "num_leaves": 12},
    "one category": {"values": 3, "categories": [0, 2], "num_leaves": 7},
    "categories": {"categories": [0, 2], "num_leaves": 7},
    "missing categories": {"categories": [0, 2], "num_leaves": 7, "missing": 0.1},
    "many categories": {
        "n": 3000, "values": 30, "categories": [0, 2], "num_leaves": 7, "min_data_per_group": 10,
        "cat_smooth": 5.0,
    },
}  # fmt: skip


@pytest.mark.parametrize("case", PROGRAM)
def test_the_first_tree_is_that_of_lightgbm(case):
    lightgbm = pytest.importorskip("lightgbm")
    how = dict(PROGRAM[case])
    table = {key: how.pop(key) for key in ("n", "values", "missing") if key in how}
    weigh, categories = how.pop("weigh", False), how.pop("categories", "auto")
    for seed in range(3):
        X, y = whole_table(seed, **table)
        weight = np.random.default_rng(seed).integers(1, 4, len(y)) * 1.0 if weigh else None
        ours = LGBMRegressor(**EXACT, **how)
        theirs = lightgbm.LGBMRegressor(**EXACT, **how, n_jobs=1)
        for model in (ours, theirs):
            model.fit(X, y, sample_weight=weight, categorical_feature=categories)
        assert np.array_equal(
            ours.predict(X, pred_leaf=True).ravel(), theirs.predict(X, pred_leaf=True).ravel()
        ), seed
        assert np.allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-12)


def test_reports_of_a_tree_are_those_of_lightgbm():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = whole_table(1, missing=0.1)
    models = [
        package.LGBMRegressor(**EXACT | {"boost_from_average": True}, num_leaves=7, n_jobs=1)
        for package in (arboretum, lightgbm)
    ]
    ours, theirs = (m.fit(X, y).booster_.trees_to_dataframe() for m in models)
    assert list(ours.columns) == list(theirs.columns)
    for name in (
        "node_depth",
        "node_index",
        "left_child",
        "parent_index",
        "split_feature",
        "count",
    ):
        assert ours[name].fillna("").tolist() == theirs[name].fillna("").tolist(), name
    inner = ours["split_feature"].notna()
    assert (ours["missing_direction"] == theirs["missing_direction"])[inner].all()
    for name in ("value", "split_gain", "weight"):
        assert np.allclose(
            ours[name].astype(float), theirs[name].astype(float), rtol=1e-4, equal_nan=True
        ), name
    one, two = (m.booster_ for m in models)
    for kind in ("split", "gain"):
        assert np.allclose(one.feature_importance(kind), two.feature_importance(kind), rtol=1e-4)
    assert one.num_trees() == two.num_trees() == 1
    assert one.num_model_per_iteration() == 1
    assert one.feature_name() == two.feature_name()


def _losses(package, X, y, classes, seeds):
    found = []
    for seed in seeds:
        a, b, c, d = train_test_split(X, y, test_size=0.33, random_state=seed)
        kind = package.LGBMClassifier if classes else package.LGBMRegressor
        model = kind(n_estimators=30, verbose=-1, n_jobs=1).fit(a, c)
        found.append(
            log_loss(d, model.predict_proba(b))
            if classes
            else mean_squared_error(d, model.predict(b))
        )
    return np.mean(found)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_losses_on_new_rows_are_those_of_lightgbm():
    lightgbm = pytest.importorskip("lightgbm")
    tables = [
        (datasets.load_breast_cancer(return_X_y=True), True),
        (datasets.load_wine(return_X_y=True), True),
        (datasets.load_diabetes(return_X_y=True), False),
        (datasets.make_friedman1(1500, noise=1.0, random_state=0), False),
        (datasets.make_classification(1500, 12, n_informative=8, flip_y=0.1, random_state=1), True),
    ]
    ratios = [
        _losses(arboretum, X, y, classes, range(8)) / _losses(lightgbm, X, y, classes, range(8))
        for (X, y), classes in tables
    ]
    assert max(ratios) < 1.04, ratios  # one small table is luck
    assert np.mean(ratios) < 1.01, ratios


# ---------------------------------------------------------------------- questions
def test_classes_may_be_called_anything():
    X, y = two_classes()
    words = np.array(["no", "yes"])[y]
    model = LGBMClassifier(n_estimators=20).fit(X, words)
    assert model.classes_.tolist() == ["no", "yes"]
    assert (model.predict(X) == words).mean() > 0.85
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    raw = model.predict(X, raw_score=True)
    assert np.allclose(1 / (1 + np.exp(-raw)), model.predict_proba(X)[:, 1])
    assert np.array_equal(raw, model.decision_function(X))
    assert np.array_equal(model.booster_.predict(X), model.predict_proba(X)[:, 1])


def test_several_classes_have_a_tree_each():
    X, y = datasets.load_iris(return_X_y=True)
    model = LGBMClassifier(n_estimators=10).fit(X, y)
    assert model.booster_.num_model_per_iteration() == 3
    assert model.booster_.num_trees() == 30
    assert model.predict(X, raw_score=True).shape == (150, 3)
    assert model.predict(X, pred_leaf=True).shape == (150, 30)
    assert model.score(X, y) > 0.95
    each = LGBMClassifier(n_estimators=10, objective="ova").fit(X, y)
    assert each.score(X, y) > 0.95


def test_rounds_can_be_asked_in_part():
    X, y = numbers()
    model = LGBMRegressor(n_estimators=10).fit(X, y)
    first, rest = model.predict(X, num_iteration=4), model.predict(X, start_iteration=4)
    assert np.allclose(first + rest, model.predict(X))
    assert np.array_equal(model.predict(X, num_iteration=-1), model.predict(X))
    assert model.predict(X, start_iteration=2, num_iteration=3, pred_leaf=True).shape[1] == 3
    some = model.booster_.feature_importance("split", iteration=4)
    assert 0 < some.sum() < model.feature_importances_.sum()


def test_leaves_add_up_to_the_scores():
    X, y = numbers()
    model = LGBMRegressor(n_estimators=5).fit(X, y)
    lines = model.booster_.trees_to_dataframe()
    value = dict(zip(lines["node_index"], lines["value"], strict=True))
    leaf = model.predict(X, pred_leaf=True)
    total = [sum(value[f"{t}-L{n}"] for t, n in enumerate(row)) for row in leaf]
    assert np.allclose(total, model.predict(X))


def test_a_saved_model_says_the_same(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = two_classes()
    frame = pandas.DataFrame(X, columns=list("abcde"))
    frame["f"] = pandas.Categorical(np.where(X[:, 0] > 0, "up", "down"))
    model = LGBMClassifier(n_estimators=8, min_child_samples=5)
    model.fit(frame, y, eval_set=[(frame, y)], eval_metric="auc")
    model.save(tmp_path / "model.arb")
    again = arboretum.load(tmp_path / "model.arb")
    for other in (again, pickle.loads(pickle.dumps(model))):
        assert np.array_equal(other.predict_proba(frame), model.predict_proba(frame))
        assert other.best_score_ == model.best_score_
        assert other.feature_name_ == list("abcdef")
        assert saved(other) == saved(model)
    assert again.get_params() == model.get_params()


def test_a_fit_goes_on_from_an_earlier_model(tmp_path):
    X, y = numbers()
    whole = LGBMRegressor(n_estimators=12, min_child_samples=5).fit(X, y)
    first = LGBMRegressor(n_estimators=5, min_child_samples=5).fit(X, y)
    path = tmp_path / "first.arb"
    first.save(path)
    for start in (first, first.booster_, path):
        rest = LGBMRegressor(n_estimators=7, min_child_samples=5).fit(X, y, init_model=start)
        assert rest.n_iter_ == 12
        assert np.allclose(rest.predict(X), whole.predict(X))


def test_scores_to_begin_with_are_no_part_of_the_model():
    X, y = numbers()
    start = 3 * X[:, 3] + 10
    plain = LGBMRegressor(n_estimators=8, boost_from_average=False).fit(X, y)
    moved = LGBMRegressor(n_estimators=8).fit(X, y + start, init_score=start)
    assert np.allclose(moved.predict(X), plain.predict(X), atol=1e-5)
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    flat, table = np.arange(3 * len(X)) % 7 / 7, None
    table = flat.reshape(3, -1).T  # class after class
    one = LGBMClassifier(n_estimators=3).fit(X, three, init_score=flat)
    two = LGBMClassifier(n_estimators=3).fit(X, three, init_score=table)
    assert saved(one) == saved(two)


def test_sparse_tables_are_the_same_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8)) * (rng.random((300, 8)) < 0.3)
    y = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=300)
    dense = LGBMRegressor(n_estimators=6, enable_bundle=False).fit(X, y)
    thin = LGBMRegressor(n_estimators=6, enable_bundle=False).fit(sparse.csr_matrix(X), y)
    assert np.array_equal(dense.predict(X), thin.predict(sparse.csc_matrix(X)))


def test_bundles_are_told_by_the_names_of_columns():
    rng = np.random.default_rng(0)
    which = rng.integers(0, 6, 600)
    X = np.column_stack([np.eye(6)[which], rng.normal(size=600)])
    y = which % 3 + 0.1 * X[:, 6]
    names = [f"kind {k}" for k in range(6)] + ["size"]
    together = LGBMRegressor(n_estimators=5).fit(X, y, feature_name=names)
    apart = LGBMRegressor(n_estimators=5, enable_bundle=False).fit(X, y)
    assert together.bundles_
    assert set(functools.reduce(operator.iadd, together.bundles_, [])) <= set(names[:6])
    assert apart.bundles_ == []
    assert np.array_equal(together.predict(X), apart.predict(X))
    asked = set(together.booster_.trees_to_dataframe()["split_feature"].dropna())
    assert asked <= set(names)


def test_columns_of_words_are_categories():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 5, 500)
    frame = pandas.DataFrame({"kind": pandas.Categorical(kind.astype(str)), "x": rng.random(500)})
    y = np.array([3.0, -1, 2, 0, 5])[kind]
    model = LGBMRegressor(n_estimators=60, min_data_per_group=1, cat_smooth=1.0).fit(frame, y)
    assert np.abs(model.predict(frame) - y).max() < 0.2
    codes = np.column_stack([kind, frame["x"]])
    named = LGBMRegressor(n_estimators=60, min_data_per_group=1, cat_smooth=1.0)
    named.fit(codes, y, categorical_feature=["kind"], feature_name=["kind", "x"])
    assert np.array_equal(named.predict(codes), model.predict(frame))
    new = frame.iloc[:3].assign(kind=["0", "1", "new"])
    with pytest.warns(UserWarning, match="new"):
        assert np.isfinite(model.predict(new)).all()


def test_the_order_of_lists_is_learned():
    X, y, sizes = groups()
    model = LGBMRanker(n_estimators=30, min_child_samples=5)
    model.fit(X, y, group=sizes, eval_set=[(X, y)], eval_group=[sizes], eval_at=[5])
    found = model.evals_result_["training"]["ndcg@5"]
    assert found[-1] > 0.9 > found[0] - 0.05
    assert model.predict(X).shape == y.shape
    lightgbm = pytest.importorskip("lightgbm")
    peer = lightgbm.LGBMRanker(n_estimators=30, min_child_samples=5, verbose=-1, n_jobs=1)
    peer.fit(X, y, group=sizes)
    assert np.corrcoef(model.predict(X), peer.predict(X))[0, 1] > 0.98


def test_estimators_can_be_copied():
    model = LGBMClassifier(eta=0.3, feature_fraction=0.5, verbose=-1, min_data_in_leaf=7)
    other = clone(model)
    assert other.learning_rate == 0.3
    assert other.colsample_bytree == 0.5
    assert other.verbosity == -1
    assert other.min_child_samples == 7
    assert other.get_params() == model.get_params()
