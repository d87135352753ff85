"""SHAP values of votes and bags: the mean of those of their members."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression, Ridge

import arboretum as ab
from arboretum.errors import ParameterError
from arboretum.predict.additive import NoAdditiveForm
from tests.predict.shap.shap_cases import new_rows, table, targets

NUMBERS = [
    ("forest", ab.RandomForestRegressor(4, random_state=0)),
    ("boost", ab.XGBRegressor(n_estimators=4)),
]
SHARES = [
    ("tree", ab.CARTClassifier(max_depth=4)),
    ("forest", ab.RandomForestClassifier(4, random_state=0)),
]
BOOST = ("boost", ab.XGBClassifier(n_estimators=4))

MEANS = {
    "vote of numbers": (ab.VotingRegressor(NUMBERS, weights=[3, 1]), "number", False),
    "vote in a vote": (ab.VotingRegressor([("vote", ab.VotingRegressor(NUMBERS)), NUMBERS[0]]),
                       "number", False),
    "vote of two": (ab.VotingClassifier(SHARES, voting="soft"), "two", False),
    "vote of three": (ab.VotingClassifier(SHARES, voting="soft", weights=[1, 2]), "three", False),
    "vote with a booster": (ab.VotingClassifier([*SHARES, BOOST], voting="soft"), "two", True),
    "bag of columns": (ab.BaggingRegressor(n_estimators=5, max_features=2, random_state=0), "number", False),
    "bag of columns drawn twice": (
        ab.BaggingClassifier(n_estimators=4, max_features=3, bootstrap_features=True, random_state=0),
        "three", False,
    ),
    "bag of boosters": (ab.BaggingClassifier(ab.XGBClassifier(n_estimators=3), 3, random_state=0),
                        "two", True),
}  # fmt: skip


@pytest.mark.parametrize("name", MEANS)
def test_values_add_up_to_the_answer(name):
    model, kind, needs = MEANS[name]
    model.fit(table(), targets()[kind])
    rows, background = new_rows(15), table().iloc[:20]
    answer = model.predict_proba if kind != "number" else model.predict
    for others in [background] if needs else [None, background]:
        found, base = (
            model.shap_values(rows, background=others),
            model.shap_base_value(background=others),
        )
        assert_allclose(base + found.sum(axis=1), answer(rows), rtol=1e-10, atol=1e-12)
        pairs = model.shap_values(rows, background=others, interactions=True)
        assert_allclose(pairs.sum(axis=2), found, atol=1e-10)
        told = model.explain(rows, background=others)
        assert_array_equal(told.values, found)
        assert list(told.feature_names) == list(table().columns)
        if others is not None:
            assert_allclose(base, answer(others).mean(axis=0), rtol=1e-10)


def test_it_is_the_mean_of_the_members():
    model = ab.VotingRegressor(NUMBERS, weights=[3, 1]).fit(table(), targets()["number"])
    each = [one.shap_values(new_rows()) for one in model.estimators_]
    assert_allclose(model.shap_values(new_rows()), (3 * each[0] + each[1]) / 4, atol=1e-12)


def test_columns_that_no_member_sees_add_nothing():
    model = ab.BaggingRegressor(n_estimators=3, max_features=1, random_state=0)
    model.fit(table(), targets()["number"])
    seen = np.unique(np.concatenate(model.estimators_features_))
    unseen = np.setdiff1d(np.arange(table().shape[1]), seen)
    assert len(unseen)
    assert not model.shap_values(new_rows())[:, unseen].any()


def test_what_has_no_mean_of_sums_says_so():
    y = targets()["two"]
    mixed = ab.VotingClassifier([*SHARES, BOOST], voting="soft").fit(table(), y)
    with pytest.raises(ParameterError, match="XGBClassifier are no sums: give a background"):
        mixed.shap_values(new_rows())
    with pytest.raises(ParameterError, match="explain them one by one"):
        mixed.shap_values(
            new_rows(), output="loss", y=mixed.predict(new_rows()), background=table()
        )
    hard = ab.VotingClassifier(SHARES, voting="hard").fit(table(), y)
    with pytest.raises(NoAdditiveForm, match="one by one"):
        hard.shap_values(new_rows())
    X = np.arange(40.0).reshape(20, 2)
    for model, target in (
        (ab.VotingRegressor([("line", Ridge())]), X[:, 0]),
        (ab.BaggingClassifier(LogisticRegression(), 2), X[:, 0] > 20),
    ):
        with pytest.raises(NoAdditiveForm, match="not a sum of trees"):
            model.fit(X, target).shap_values(X)
    counts = ab.VotingRegressor([("a", ab.XGBRegressor(n_estimators=2, objective="count:poisson"))])
    with pytest.raises(NoAdditiveForm, match="XGBRegressor are a function of a sum"):
        counts.fit(X, X[:, 0]).shap_values(X)
    votes = ab.VotingRegressor(NUMBERS).fit(table(), targets()["number"])
    with pytest.raises(ParameterError, match="predicts numbers"):
        votes.shap_values(new_rows(), output="probability")
