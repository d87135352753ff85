"""Rare ways to answer, walked by the page: other libraries' learners, other starts, votes, one class."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import arboretum as arb
from arboretum import report
from arboretum.explain.dependence.importances import importances_of
from arboretum.explain.dependence.model_function import ModelFunction
from tests.explain.report.test_browser import Opened, _plain, browser, folder, pytestmark

__all__ = ["browser", "folder", "pytestmark"]  # fixtures, and where there is no browser

RNG = np.random.RandomState(3)
X = pd.DataFrame(RNG.normal(size=(150, 3)).round(2), columns=list("abc"))
Z = X["a"] + np.abs(X["b"]) + RNG.normal(scale=0.5, size=150)
TWO, THREE, NUMBER = (Z > 0.8).to_numpy().astype(int), np.digitize(Z, [0.2, 1.4]), Z.to_numpy()
LINE, STUMP = LogisticRegression(), arb.CARTClassifier(max_depth=1)
DEEP, STEP = arb.CARTClassifier(max_depth=3), arb.CARTRegressor(max_depth=1)
PAIR, FOREST = [("line", LINE), ("tree", DEEP)], arb.ExtraTreesClassifier(20, min_samples_leaf=5)

RARE = {
    "adaboost of lines": (arb.AdaBoostClassifier(LINE, n_estimators=3), TWO),
    "SAMME of lines": (arb.AdaBoostClassifier(LINE, n_estimators=3, algorithm="SAMME"), THREE),
    "SAMME.R of lines": (arb.AdaBoostClassifier(LINE, n_estimators=3, algorithm="SAMME.R"), THREE),
    "R2 of lines": (arb.AdaBoostRegressor(Ridge(), n_estimators=3), NUMBER),
    "R2 of lines, mean": (arb.AdaBoostRegressor(Ridge(), n_estimators=3, combine="mean"), NUMBER),
    "R2 of lines, sum": (arb.AdaBoostRegressor(Ridge(), n_estimators=3, combine="sum"), NUMBER),
    "start: a stump": (arb.GradientBoostingClassifier(n_estimators=3, init=STUMP), TWO),
    "start: shares": (arb.GradientBoostingClassifier(n_estimators=2, init=DEEP), THREE),
    "start: a step": (arb.GradientBoostingRegressor(n_estimators=3, init=STEP), NUMBER),
    "rounds of lines": (arb.GradientBoostingRegressor(n_estimators=3, estimator=Ridge()), NUMBER),
    "bag of lines": (arb.BaggingClassifier(LINE, n_estimators=3, max_features=2), THREE),
    "dictionary of lines": (arb.CoordinateBoostingClassifier([LINE, DEEP], max_iter=5), TWO),
    "hard votes": (arb.VotingClassifier(PAIR, voting="hard", weights=[2, 1]), THREE),
    "stack that sees the table": (arb.StackingClassifier(PAIR, LINE, passthrough=True), THREE),
    "stack judged by a forest": (arb.StackingClassifier([("tree", DEEP)], FOREST, cv=2), THREE),
    "stack judged by a tree": (arb.StackingRegressor([("step", STEP)], STEP, cv=2), NUMBER),
    "raw margins": (arb.XGBClassifier(n_estimators=3, objective="binary:logitraw"), TWO),
    "a number that means missing": (arb.XGBRegressor(n_estimators=3, missing=0.5), NUMBER),
    "one class": (arb.AdaBoostClassifier(n_estimators=3), np.zeros(150, int)),
}


def test_learners_that_encode_words_themselves_are_given_words(tmp_path):
    frame = X.assign(word=np.where(X["c"] > 0, "up", "down").astype(object))
    frame.loc[:4, "word"] = None
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["word"]))
    for model, y in (
        (
            arb.VotingClassifier(
                [("words", make_pipeline(encode, LINE)), ("tree", DEEP)], voting="soft"
            ),
            TWO,
        ),
        (arb.BaggingRegressor(make_pipeline(encode, Ridge()), n_estimators=2), NUMBER),
        (
            arb.GradientBoostingRegressor(n_estimators=2, estimator=make_pipeline(encode, Ridge())),
            NUMBER,
        ),
    ):
        model.fit(frame, y)
        path = report(model, frame, y, tmp_path / "words.html", rows="none").path
        assert path.stat().st_size > 10_000
        found = arb.partial_dependence(model, frame, ["word"])
        assert np.ptp(found["average"][-1]) > 0


def test_a_vote_of_forests_is_not_taken_apart_into_trees():
    forests = [
        ("a", arb.RandomForestClassifier(4, random_state=0)),
        ("b", arb.ExtraTreesClassifier(4)),
    ]
    vote = arb.VotingClassifier(forests, voting="soft").fit(X, TWO)
    each = [one.feature_importances_ / one.feature_importances_.sum() for one in vote.estimators_]
    np.testing.assert_array_equal(importances_of(vote), np.mean(each, axis=0))


@pytest.mark.parametrize("name", RARE)
def test_the_page_says_what_predict_says(browser, folder, name):
    model, y = RARE[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = report(model.fit(X, y), X, y, folder / "rare.html", rows="none").path
    opened = Opened(browser, path)
    rows = np.round(RNG.normal(size=(60, 3)), 1)
    told = np.array(opened.page.evaluate("rows => rows.map(report.predict)", _plain(rows)))
    expected = ModelFunction(model)(rows)
    if name == "hard votes":  # the page shows how many were for each class
        told, expected = told.argmax(axis=1), expected.argmax(axis=1)
    assert np.abs(told - expected).max() < 1e-12
    assert opened.problems == []
    opened.page.close()
