"""Sheets of bags, stacks and votes: those of their members, and how members become one."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor

from arboretum import (
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ParameterError,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
    worksheet,
)
from tests.explain.worksheet.families.test_cart import check_trees
from tests.explain.worksheet.tables import check_shown, classes, signal, table, weights

BAGS = {
    "trees": BaggingClassifier(n_estimators=3, random_state=1, n_jobs=1, oob_score=True),
    "some rows": BaggingRegressor(
        n_estimators=3, max_samples=0.5, bootstrap=False, random_state=1, n_jobs=1
    ),
    "some columns": BaggingRegressor(n_estimators=3, max_features=3, random_state=1, n_jobs=1),
    "drawn columns": BaggingClassifier(
        CARTClassifier(max_features=2, max_depth=4), n_estimators=3, random_state=2, n_jobs=1
    ),
    "balanced": BaggingClassifier(
        CARTClassifier(class_weight="balanced", max_depth=3),
        n_estimators=2,
        random_state=1,
        n_jobs=1,
    ),
}


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", BAGS)
def test_bags_of_trees(name, weighted):
    from sklearn.base import clone

    X = table(120, seed=51)
    model = clone(BAGS[name])
    y = classes(X) if isinstance(model, BaggingClassifier) else signal(X)
    w = weights(120) if weighted else None
    model.fit(X, y, w)
    sheets = worksheet(model, X, y, w)
    check_shown(sheets.sheet())

    class Trees:
        trees_ = [one.tree_ for one in model.estimators_]  # noqa: RUF012

    check_trees(Trees, sheets, trees=(0, len(model.estimators_) - 1), most=12)
    sheet = check_shown(sheets.row(4))
    assert (
        sheet.facts["answer"] == pytest.approx(model.predict(X.iloc[[4]])[0])
        if not isinstance(sheet.facts["answer"], str)
        else sheet.facts["answer"] == model.predict(X.iloc[[4]])[0]
    )
    if name == "trees":
        assert_allclose(check_shown(sheets.oob()).facts["score"], model.oob_score_, rtol=1e-9)


def test_bags_of_others():
    X = table(120, seed=52)
    y = classes(X)
    model = BaggingClassifier(C45Classifier(), n_estimators=3, random_state=1, n_jobs=1).fit(X, y)
    sheets = worksheet(model, X, y)
    one = sheets.member(1)
    tree = model.estimators_[1].tree_
    assert check_shown(one.node(0, 0)).facts["cases"] == tree.weight[0]
    assert check_shown(sheets.row(3)).facts["answer"] == model.predict(X.iloc[[3]])[0]
    with pytest.raises(ParameterError, match="member"):
        sheets.node(0, 0)
    plain = X[["age", "income", "rooms"]].fillna(0.0)
    near = BaggingRegressor(KNeighborsRegressor(), n_estimators=2, random_state=1).fit(
        plain, signal(X)
    )
    sheet = check_shown(worksheet(near, plain, signal(X)).row(3))
    assert_allclose(sheet.facts["answer"], near.predict(plain.iloc[[3]])[0])


def test_stacks():
    X = table(150, seed=53)
    y = classes(X)
    pairs = [
        ("cart", CARTClassifier(max_depth=3)),
        ("forest", RandomForestClassifier(4, random_state=0)),
    ]
    model = StackingClassifier(pairs, LogisticRegression(), cv=3).fit(X, y)
    sheets = worksheet(model, X, y)
    weights_ = check_shown(sheets.sheet()).table("Weights")
    assert_allclose(
        np.array([row[1:] for row in weights_.rows[:-1]]).T, model.final_estimator_.coef_
    )
    assert weights_.column("column")[:2] == ["cart: maybe", "cart: no"]
    tree = model.named_estimators_["forest"].trees_[2]
    assert_allclose(
        check_shown(sheets.node(("forest", 2), 0)).value("gain"), tree.gain[0], rtol=1e-9
    )
    assert check_shown(sheets.row(5)).facts["answer"] == model.predict(X.iloc[[5]])[0]
    for given, words in ((0, "pair"), (("tree", 0), "joins cart"), ((7, 0), "no model 7")):
        with pytest.raises(ParameterError, match=words):
            sheets.node(given, 0)
    final = sheets.member("final")
    assert check_shown(final.sheet()).table("Weights").rows == weights_.rows
    assert check_shown(final.row(5)).facts["answer"] == model.predict(X.iloc[[5]])[0]
    with pytest.raises(ParameterError, match="which are not kept"):
        final.node(0, 0)
    numbers = [
        ("cart", CARTRegressor(max_depth=3)),
        ("forest", RandomForestRegressor(4, random_state=0)),
    ]
    linear = StackingRegressor(numbers, LinearRegression(), cv=3).fit(X, signal(X))
    sheet = check_shown(worksheet(linear, X, signal(X)).row(2))
    assert_allclose(
        sheet.value("sum of the final model"), linear.predict(X.iloc[[2]])[0], rtol=1e-9
    )
    forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0)
    trees = StackingRegressor(numbers, forest, cv=3).fit(X, signal(X))
    shown = worksheet(trees, X, signal(X)).sheet().table("Importances").column("importance")
    assert_allclose(sorted(shown), sorted(trees.final_estimator_.feature_importances_))
    tree = StackingRegressor(numbers, CARTRegressor(max_depth=2), cv=3).fit(X, signal(X))
    shown = check_shown(worksheet(tree, X, signal(X)).member("final").sheet()).table("The tree")
    assert_allclose(shown.column("answer"), tree.final_estimator_.tree_.value[:, 0, 0])
    assert shown.rows[0][1].startswith(("cart <= ", "forest <= "))


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_votes(voting):
    X = table(150, seed=54)
    y, w = classes(X), weights(150)
    pairs = [
        ("cart", CARTClassifier(max_depth=3)),
        ("forest", RandomForestClassifier(4, random_state=0)),
    ]
    model = VotingClassifier(pairs, voting=voting, weights=[1, 2]).fit(X, y, w)
    sheets = worksheet(model, X, y, w)
    assert check_shown(sheets.sheet()).table("What").column("weight") == [1.0, 2.0]
    sheet = check_shown(sheets.row(3))
    assert sheet.facts["answer"] == model.predict(X.iloc[[3]])[0]
    if voting == "soft":
        assert_allclose(
            sheet.formulas[0].value, model.predict_proba(X.iloc[[3]])[0].max(), rtol=1e-12
        )
    tree = model.named_estimators_["cart"].tree_
    check_trees(model.named_estimators_["cart"], sheets.member("cart"))
    assert check_shown(sheets.leaf(("cart", 0), int(tree.leaves[0])))
    numbers = [
        ("cart", CARTRegressor(max_depth=3)),
        ("forest", RandomForestRegressor(4, random_state=0)),
    ]
    mean = VotingRegressor(numbers, weights=[1, 3]).fit(X, signal(X))
    sheet = check_shown(worksheet(mean, X, signal(X)).row(0))
    assert_allclose(sheet.value("answer"), mean.predict(X.iloc[[0]])[0], rtol=1e-12)
