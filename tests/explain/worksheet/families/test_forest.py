"""Sheets of forests: bags, draws, votes and out-of-bag answers are those of the model."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from arboretum import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    ParameterError,
    RandomForestClassifier,
    RandomForestRegressor,
    worksheet,
)
from tests.explain.worksheet.families.test_cart import check_trees
from tests.explain.worksheet.tables import check_shown, classes, signal, table, weights

FORESTS = {
    "classes": RandomForestClassifier(6, random_state=1, n_jobs=1, oob_score=True),
    "entropy": RandomForestClassifier(3, criterion="entropy", random_state=1, n_jobs=1),
    "balanced": RandomForestClassifier(
        3, class_weight="balanced_subsample", random_state=2, n_jobs=1
    ),
    "hard votes": RandomForestClassifier(
        4, voting="hard", random_state=2, n_jobs=1, oob_score=True
    ),
    "small bags": RandomForestClassifier(3, max_samples=0.5, random_state=2, n_jobs=1),
    "numbers": RandomForestRegressor(5, random_state=1, n_jobs=1, oob_score=True, max_features=2),
    "friedman": RandomForestRegressor(2, criterion="friedman_mse", random_state=1, n_jobs=1),
    "medians": RandomForestRegressor(
        2, criterion="absolute_error", max_depth=3, random_state=1, n_jobs=1
    ),
    "poisson": RandomForestRegressor(2, criterion="poisson", max_depth=4, random_state=1, n_jobs=1),
    "extra": ExtraTreesClassifier(4, random_state=1, n_jobs=1),
    "extra bags": ExtraTreesRegressor(
        3, bootstrap=True, random_state=1, n_jobs=1, max_features=0.6, oob_score=True
    ),
    "monotone": ExtraTreesRegressor(
        2, monotonic_cst={"age": 1}, random_state=1, n_jobs=1, max_depth=4
    ),
    "pruned": RandomForestClassifier(2, ccp_alpha=0.01, random_state=1, n_jobs=1),
    "few leaves": RandomForestClassifier(2, max_leaf_nodes=7, random_state=1, n_jobs=1),
}


@pytest.fixture(scope="module")
def fitted():
    X = table(120, seed=11)
    found = {}
    for weighted in (False, True):
        w = weights(len(X)) if weighted else None
        for name, model in FORESTS.items():
            y = classes(X) if hasattr(model, "class_weight") else signal(X).round(2) + 3
            from sklearn.base import clone

            with np.errstate(all="ignore"):
                found[name, weighted] = clone(model).fit(X, y, w), X, y, w
    return found


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", FORESTS)
def test_nodes_and_leaves(fitted, name, weighted):
    model, X, y, w = fitted[name, weighted]
    sheets = worksheet(model, X, y, w)
    check_shown(sheets.sheet())
    check_trees(model, sheets, trees=(0, len(model.trees_) - 1), most=14)


@pytest.mark.parametrize("name", ["classes", "numbers", "hard votes", "extra"])
def test_a_row(fitted, name):
    model, X, y, w = fitted[name, False]
    sheets = worksheet(model, X, y, w)
    for i in (3, 40):
        sheet = check_shown(sheets.row(i))
        assert (
            sheet.facts["answer"] == pytest.approx(model.predict(X.iloc[[i]])[0])
            if name == "numbers"
            else (sheet.facts["answer"] == model.predict(X.iloc[[i]])[0])
        )
        trees = sheet.table("Tree by tree")
        assert trees.column("leaf") == model.apply(X.iloc[[i]])[0].tolist()
        if name != "extra":
            assert trees.column("times in bag") == [
                int(model._bags.counts(t)[i]) for t in range(len(model))
            ]
        if name == "numbers":
            assert_allclose(
                trees.column("mean value")[-1], model.predict(X.iloc[[i]])[0], rtol=1e-12
            )
        near = sheet.table("Nearest")
        close = model.proximity(X.iloc[[i]], X)[0]
        assert_allclose(near.column("proximity"), [close[r] for r in near.column("row")])
        others = np.delete(close, i)
        assert_allclose(near.column("proximity"), np.sort(others)[::-1][: len(near.rows)])


@pytest.mark.parametrize("name", ["classes", "numbers", "hard votes", "extra bags"])
def test_out_of_bag(fitted, name):
    model, X, y, w = fitted[name, False]
    sheet = check_shown(worksheet(model, X, y, w).oob())
    assert_allclose(sheet.facts["score"], model.oob_score_, rtol=1e-9)
    curve = sheet.table("Error of the first trees")
    assert_allclose(
        curve.column("error"),
        model.oob_error_curve_[np.array(curve.column("trees")) - 1],
        rtol=1e-9,
    )


def test_what_a_forest_has_not():
    X = table(60, seed=2)
    y = signal(X)
    model = ExtraTreesRegressor(2, random_state=0, n_jobs=1).fit(X, y)
    with pytest.raises(ParameterError, match="oob"):
        worksheet(model, X, y).oob()
    with pytest.raises(ParameterError, match="no rounds"):
        worksheet(model, X, y).round(0)
    several = RandomForestRegressor(3, random_state=0, n_jobs=1).fit(X, np.column_stack([y, -y]))
    sheets = worksheet(several, X, np.column_stack([y, -y]))
    check_trees(several, sheets, most=8)
    check_shown(sheets.row(0))
    check_shown(sheets.oob())
