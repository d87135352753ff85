"""Every model of trees has trees_ and ensemble_, and its additive form sums to what it predicts."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

import arboretum as arb
from arboretum.predict.additive import NoAdditiveForm

WORDS = np.array(["ash", "beech", "cedar", "elm"], object)


def frame(n=160, seed=0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"a": rng.normal(size=n), "b": rng.integers(0, 7, n).astype(float)})
    table["wood"] = WORDS[rng.integers(0, 4, n)]
    for name in table:
        table.loc[rng.random(n) < 0.1, name] = None
    return table


def target(kind: str, n=160) -> np.ndarray:
    rng = np.random.default_rng(1)
    score = frame(n)["a"].fillna(0).to_numpy() + 0.4 * rng.normal(size=n)
    score = score + (frame(n)["wood"] == "elm")
    if kind == "number":
        return score
    if kind == "pair":
        return np.column_stack([score, -2 * score + 1])
    if kind == "two labels":
        return np.column_stack([score > 0, np.digitize(score, [-1, 0, 1])])
    return score > 0 if kind == "two" else np.digitize(score, [-0.5, 0.5])


def shares(model, X):
    found = model.predict_proba(X)
    return np.concatenate(found, axis=1) if isinstance(found, list) else found


def second(model, X):
    return model.predict_proba(X)[:, [1]]


def numbers(model, X):
    found = model.predict(X)
    return found if found.ndim == 2 else found[:, None]


MODELS = {
    "CART": (arb.CARTClassifier(max_depth=4), "three", shares),
    "CART of numbers": (arb.CARTRegressor(max_depth=4), "pair", numbers),
    "surrogates": (arb.CARTClassifier(max_depth=4, surrogates=2), "three", shares),
    "extra tree": (arb.ExtraTreeClassifier(max_depth=4, random_state=0), "three", shares),
    "forest": (arb.RandomForestClassifier(9, random_state=0), "three", shares),
    "shallow forest": (
        arb.RandomForestClassifier(9, max_depth=3, random_state=0),
        "three",
        shares,
    ),
    "hard votes": (arb.RandomForestClassifier(9, voting="hard", random_state=0), "three", shares),
    "forest of numbers": (arb.ExtraTreesRegressor(9, random_state=0), "pair", numbers),
    "bag": (arb.BaggingClassifier(n_estimators=6, random_state=0), "three", shares),
    "bag of numbers": (arb.BaggingRegressor(n_estimators=6, random_state=0), "pair", numbers),
    "AdaBoost": (arb.AdaBoostClassifier(n_estimators=9), "three", shares),
    "AdaBoost, two": (arb.AdaBoostClassifier(n_estimators=9), "two", shares),
    "SAMME.R": (arb.AdaBoostClassifier(n_estimators=9, algorithm="SAMME.R"), "three", shares),
    "discrete": (arb.AdaBoostClassifier(n_estimators=9, algorithm="discrete"), "two", second),
    "coordinates": (arb.CoordinateBoostingClassifier(max_iter=30), "two", second),
    "Friedman": (arb.GradientBoostingRegressor(n_estimators=9), "number", numbers),
    "Friedman, two": (arb.GradientBoostingClassifier(n_estimators=9), "two", second),
    "Friedman, exponential": (
        arb.GradientBoostingClassifier(n_estimators=9, loss="exponential"),
        "two",
        second,
    ),
    "Friedman, three": (arb.GradientBoostingClassifier(n_estimators=9), "three", shares),
}


@pytest.fixture(params=MODELS)
def fitted(request):
    model, kind, predictions = MODELS[request.param]
    model.fit(frame(), target(kind))
    return model, predictions


def test_the_additive_form_sums_to_the_predictions(fitted):
    model, predictions = fitted
    new = frame(90, 5)
    form, matrix = model.ensemble_.additive(), model._encode(new)
    expected = predictions(model, new)
    for found in (form.predict(matrix), model.ensemble_.predict(matrix)):
        assert_allclose(found.reshape(len(new), -1), expected, rtol=1e-12, atol=1e-14)
    by_leaf = np.tile(form.start, (len(new), 1))
    for t, (value, column) in enumerate(zip(form.values, form.columns, strict=True)):
        leaf = model.ensemble_.leaves(matrix)[:, t]
        by_leaf[:, column : column + value.shape[1]] += value[leaf]
    assert_array_equal(by_leaf, form.sums(matrix))


def test_a_log_link():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = rng.poisson(np.exp(X[:, 0]))
    model = arb.GradientBoostingRegressor(n_estimators=5, loss="poisson").fit(X, y)
    form = model.ensemble_.additive()
    assert form.link.name == "log"
    assert_allclose(form.predict(model._encode(X))[:, 0], model.predict(X), rtol=1e-12)


def test_the_additive_form_of_second_order_boosting():
    X = np.random.default_rng(0).normal(size=(200, 4))
    two, three = (X[:, 0] > 0).astype(int), np.digitize(X[:, 0], [-0.5, 0.5])
    counts = np.random.default_rng(1).poisson(np.exp(X[:, 0]))
    few = {"n_estimators": 6, "random_state": 0}
    lgbm = {**few, "verbose": -1}
    models = [
        (arb.XGBRegressor(**few, num_parallel_tree=2, subsample=0.7), X[:, 0], numbers, "identity"),
        (arb.XGBRegressor(**few, objective="count:poisson"), counts, numbers, "log"),
        (arb.XGBClassifier(**few), two, second, "logit"),
        (arb.XGBClassifier(**few, booster="dart", rate_drop=0.5), three, shares, "softmax"),
        (arb.LGBMClassifier(**lgbm), three, shares, "softmax"),
        (
            arb.LGBMClassifier(**lgbm, boosting_type="rf", subsample=0.6, subsample_freq=1),
            two,
            second,
            "logit",
        ),
        (arb.LGBMRanker(**lgbm), two, numbers, "identity"),
    ]
    for model, y, predictions, link in models:
        arguments = {"group": [100, 100]} if isinstance(model, arb.LGBMRanker) else {}
        model.fit(X, y, **arguments)
        form, matrix = model.ensemble_.additive(), model._encode(X)
        assert form.link.name == link
        assert_allclose(form.predict(matrix), predictions(model, X), rtol=2e-6, atol=1e-7)
        assert_array_equal(form.sums(matrix), model.ensemble_.answers(matrix))


def test_trees_and_ensemble_agree(fitted):
    model, _ = fitted
    trees = model.trees_
    assert len(trees) == len(model.ensemble_.trees)
    assert all(one is other for one, other in zip(trees, model.ensemble_.trees, strict=True))
    assert model.ensemble_ is model.ensemble_  # laid out once


def test_asking_changes_nothing_of_the_model(fitted):
    model, predictions = fitted
    before, kept = dict(vars(model)), pickle.dumps(model)
    new = frame(40, 6)
    predictions(model, new), model.ensemble_.additive()
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    assert len(pickle.dumps(model)) == len(kept)
    again = pickle.loads(kept)
    assert "_cache" not in vars(again)
    assert_array_equal(predictions(again, new), predictions(model, new))


def test_threads_may_ask_at_the_same_time(fitted):
    model, predictions = fitted
    new = frame(40, 6)
    expected = predictions(model, new)
    fresh, found = pickle.loads(pickle.dumps(model)), []
    threads = [
        threading.Thread(target=lambda: found.append(predictions(fresh, new))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    for one in found:
        assert_array_equal(one, expected)


def test_stages_end_with_the_prediction():
    new = frame(50, 3)
    for name in ("AdaBoost", "SAMME.R", "discrete", "coordinates", "Friedman, three"):
        model, kind, _ = MODELS[name]
        model.fit(frame(), target(kind))
        *_, last = model.staged_decision_function(new)
        assert_allclose(last, model.decision_function(new), rtol=1e-12, atol=1e-14)
        *_, last = model.staged_predict(new)
        assert_array_equal(last, model.predict(new))


def test_a_forest_asked_for_votes_after_the_fit_counts_votes():
    X, y = frame(), target("three")
    model = arb.RandomForestClassifier(7, max_depth=4, random_state=0).fit(X, y)
    soft = model.predict_proba(X)
    model.set_params(voting="hard")
    assert_allclose(model.predict_proba(X) * 7, model.predict_votes(X))
    model.set_params(voting="soft")
    assert_array_equal(model.predict_proba(X), soft)


def test_models_of_other_members_have_no_trees():
    X = np.random.default_rng(0).normal(size=(80, 3))
    y = (X[:, 0] > 0).astype(int)
    models = [
        arb.BaggingClassifier(GaussianNB(), n_estimators=3),
        arb.BaggingClassifier(n_estimators=3, max_features=2, random_state=0),
        arb.AdaBoostClassifier(GaussianNB(), n_estimators=3),
        arb.AdaBoostRegressor(LinearRegression(), n_estimators=3),
        arb.CoordinateBoostingClassifier([LogisticRegression()], max_iter=3),
    ]
    for model in models:
        noisy = X[:, 0] + 0.1 * X[:, 1] ** 2 if isinstance(model, arb.AdaBoostRegressor) else y
        model.fit(X, noisy)
        assert not hasattr(model, "trees_")
        with pytest.raises(AttributeError, match="has no trees"):
            model.ensemble_


def test_no_trees_before_the_fit():
    for model, _, _ in MODELS.values():
        assert not hasattr(type(model)(), "ensemble_")


def test_what_has_no_additive_form_says_so():
    X, y = frame(), target("number")
    model = arb.AdaBoostRegressor(n_estimators=5).fit(X, y)
    assert_array_equal(model.ensemble_.answers(model._encode(X))[:, 0], model.predict(X))
    with pytest.raises(NoAdditiveForm, match="weighted median"):
        model.ensemble_.additive()
    cases = arb.C45Classifier().fit(X, target("three"))
    assert_array_equal(cases.ensemble_.answers(cases._encode(X))[:, 0], cases.predict_proba(X))
    with pytest.raises(NoAdditiveForm, match="several branches"):
        cases.ensemble_.additive()


def test_a_start_of_another_estimator_is_left_to_the_model():
    X = np.random.default_rng(0).normal(size=(100, 3))
    y = X[:, 0] + X[:, 1] ** 2
    model = arb.GradientBoostingRegressor(n_estimators=5, init=LinearRegression()).fit(X, y)
    form = model.ensemble_.additive()
    assert_array_equal(form.start, [0.0])
    sums = form.sums(model._encode(X))[:, 0] + model.init_.predict(X)
    assert_allclose(sums, model.predict(X), rtol=1e-12)


def test_added_rounds_are_asked_too():
    X, y = frame(), target("number")
    model = arb.GradientBoostingRegressor(n_estimators=3, warm_start=True).fit(X, y)
    few = model.ensemble_
    model.set_params(n_estimators=6).fit(X, y)
    assert (few.n_rounds, model.ensemble_.n_rounds) == (3, 6)
    assert_array_equal(
        model.predict(X), arb.GradientBoostingRegressor(n_estimators=6).fit(X, y).predict(X)
    )
