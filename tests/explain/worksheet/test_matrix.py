"""Every family and method on real tables with words, gaps and weights: sheets show what the model holds.

The table of docs/worksheets.md ("Who answers what") in a quick form. ``breast-cancer`` (286 patients) has
words, ``labor`` (57 contracts) words and numbers with gaps in most rows. What a family's options change is
tested in its own file.
"""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

import arboretum as arb
from arboretum import ParameterError, worksheet
from tests.explain.worksheet.families.test_adaboost import check_ada
from tests.explain.worksheet.families.test_c45 import check_cases
from tests.explain.worksheet.families.test_cart import check_trees
from tests.explain.worksheet.families.test_friedman import check_boosting
from tests.explain.worksheet.families.test_second_order import check_booster
from tests.explain.worksheet.tables import check_shown, weights

TABLES = Path(__file__).parents[2] / "data" / "c45"
METHODS = {
    "node": lambda sheets, model: sheets.node(*_node(model, leaf=False)),
    "leaf": lambda sheets, model: sheets.leaf(*_node(model, leaf=True)),
    "row": lambda sheets, model: sheets.row(3),
    "round": lambda sheets, model: sheets.round(1),
    "pruning": lambda sheets, model: sheets.pruning(),
    "oob": lambda sheets, model: sheets.oob(),
}


@cache
def _table(target: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows and a target: "word", or "number" where its gaps are left out, beside "only numbers"."""
    if target == "word":
        frame = pd.read_csv(TABLES / "breast-cancer.csv")
        return frame.drop(columns="Class"), frame["Class"].to_numpy()
    frame = pd.read_csv(TABLES / "labor.csv")
    frame = frame[frame["wage-increase-first-year"].notna()].reset_index(drop=True)
    y = frame.pop("wage-increase-first-year").to_numpy()
    return (frame if target == "number" else frame.select_dtypes("number")), y


def _members(kind: str) -> list[tuple[str, Any]]:
    tree, forest = getattr(arb, f"CART{kind}"), getattr(arb, f"RandomForest{kind}")
    return [("tree", tree(max_depth=3)), ("forest", forest(3, max_depth=3, random_state=0))]


def _trees(model, sheets, X, y) -> None:
    check_trees(model, sheets, range(min(2, len(model.trees_))), most=9)


def _ada(model, sheets, X, y) -> None:
    check_ada(model, sheets, X)


def _second_order(model, sheets, X, y) -> None:
    check_booster(model, sheets, most=7)
    row = check_shown(sheets.row(5))
    margins = model._margin(X.iloc[[5]])
    assert_allclose(np.ravel(row.facts["margin"]), np.ravel(margins), rtol=1e-6, atol=1e-9)


def _cases(model, sheets, X, y) -> None:
    check_cases(model, sheets, most=12)


def _rules(model, sheets, X, y) -> None:
    for k, rule in enumerate(model.rules_):
        sheet = check_shown(sheets.leaf(0, k))
        assert_allclose(sheet.value("accuracy"), rule.accuracy, rtol=1e-9)
        assert_allclose(sheet.value("errors"), rule.errors, rtol=1e-9, atol=1e-9)


def _steps(model, sheets, X, y) -> None:
    for m in (0, len(model.report_) - 1):
        sheet = check_shown(sheets.round(m))
        assert_allclose(sheet.value("δ"), model.report_.delta[m], rtol=1e-9, atol=1e-12)
        assert_allclose(sheet.value("loss after"), model.report_.loss[m], rtol=1e-9)


def _combined(model, sheets, X, y) -> None:
    for name in ("tree", "forest"):
        check_trees(model.named_estimators_[name], sheets.member(name), most=5)


def _forest(model, sheets, X, y) -> None:
    _trees(model, sheets, X, y)
    told = check_shown(sheets.oob())
    assert any(
        value == pytest.approx(model.oob_score_, rel=1e-9)
        for value in [*told.facts.values(), *(f.value for f in told.formulas)]
        if isinstance(value, float)
    ), told.to_text()


def _cuts(model, sheets, X, y) -> None:
    leaf = int(model.trees_[1].leaves[0])
    told = check_shown(sheets.leaf(1, leaf))
    assert told.facts["path length"] == pytest.approx(model.trees_[1].value[leaf, 0, 0])
    assert told.value("path length") == pytest.approx(told.facts["path length"])
    for row in (3, X.iloc[[3]]):
        told = check_shown(sheets.row(row))
        assert told.value("score") == pytest.approx(model.score_samples(X.iloc[[3]])[0])
        assert told.value("decision") == pytest.approx(model.decision_function(X.iloc[[3]])[0])
        assert len(told.table("Tree by tree").rows) == len(model)


# name -> estimator, target, what answers, what is compared
FAMILIES: dict[str, tuple[Any, str, str, Any]] = {
    "CART gini": (arb.CARTClassifier(max_depth=4), "word", "node leaf row pruning", _trees),
    "CART entropy": (
        arb.CARTClassifier(criterion="entropy", surrogates=2, max_depth=4),
        "word",
        "node leaf row pruning",
        _trees,
    ),
    "CART error": (
        arb.CARTClassifier(criterion="error", max_depth=3),
        "word",
        "node leaf row pruning",
        _trees,
    ),
    "CART squared error": (
        arb.CARTRegressor(max_depth=3),
        "number",
        "node leaf row pruning",
        _trees,
    ),
    "CART absolute error": (
        arb.CARTRegressor(criterion="absolute_error", max_depth=3),
        "number",
        "node leaf row pruning",
        _trees,
    ),
    "CART friedman": (
        arb.CARTRegressor(criterion="friedman_mse", max_depth=3),
        "number",
        "node leaf row pruning",
        _trees,
    ),
    "CART poisson": (
        arb.CARTRegressor(criterion="poisson", max_depth=3),
        "number",
        "node leaf row pruning",
        _trees,
    ),
    "ExtraTree": (
        arb.ExtraTreeClassifier(max_depth=4, random_state=0),
        "word",
        "node leaf row pruning",
        _trees,
    ),
    "ID3": (arb.ID3Classifier(discretize="quantile", max_depth=3), "word", "node leaf row", _cases),
    "C4.5": (arb.C45Classifier(), "word", "node leaf row pruning", _cases),
    "C4.5 groups": (arb.C45Classifier(subset=True), "word", "node leaf row pruning", _cases),
    "C4.5 rules": (arb.C45Rules(), "word", "leaf row", _rules),
    "forest": (
        arb.RandomForestClassifier(8, max_depth=4, oob_score=True, random_state=0),
        "word",
        "node leaf row oob",
        _forest,
    ),
    "forest of numbers": (
        arb.RandomForestRegressor(8, max_depth=3, oob_score=True, random_state=0),
        "number",
        "node leaf row oob",
        _forest,
    ),
    "isolation forest": (
        arb.IsolationForest(n_estimators=7, max_samples=20, random_state=0),
        "word",
        "leaf row",
        _cuts,
    ),
    "ExtraTrees": (
        arb.ExtraTreesRegressor(3, max_depth=4, random_state=0),
        "number",
        "node leaf row",
        _trees,
    ),
    "bagging": (
        arb.BaggingClassifier(n_estimators=3, random_state=0),
        "word",
        "node leaf row oob",
        _trees,
    ),
    "AdaBoost discrete": (
        arb.AdaBoostClassifier(n_estimators=4, algorithm="discrete"),
        "word",
        "node leaf row round",
        _ada,
    ),
    "AdaBoost SAMME": (
        arb.AdaBoostClassifier(n_estimators=4, algorithm="SAMME"),
        "word",
        "node leaf row round",
        _ada,
    ),
    "AdaBoost SAMME.R": (
        arb.AdaBoostClassifier(
            arb.CARTClassifier(max_depth=2), n_estimators=4, algorithm="SAMME.R"
        ),
        "word",
        "node leaf row round",
        _ada,
    ),
    "AdaBoost.R2": (
        arb.AdaBoostRegressor(n_estimators=4, random_state=0),
        "number",
        "node leaf row round",
        _ada,
    ),
    "coordinate descent": (
        arb.CoordinateBoostingClassifier(max_iter=6),
        "word",
        "row round",
        _steps,
    ),
    "gradient": (
        arb.GradientBoostingClassifier(n_estimators=4, random_state=0),
        "word",
        "node leaf row round",
        check_boosting,
    ),
    "gradient, huber": (
        arb.GradientBoostingRegressor(loss="huber", n_estimators=4, subsample=0.7, random_state=0),
        "number",
        "node leaf row round oob",
        check_boosting,
    ),
    "XGB hist": (
        arb.XGBClassifier(n_estimators=4, max_depth=3),
        "word",
        "node leaf row round",
        _second_order,
    ),
    "XGB exact": (
        arb.XGBRegressor(n_estimators=4, max_depth=3, tree_method="exact"),
        "only numbers",
        "node leaf row round",
        _second_order,
    ),
    "XGB approx": (
        arb.XGBRegressor(n_estimators=4, max_depth=3, tree_method="approx"),
        "number",
        "node leaf row round",
        _second_order,
    ),
    "LGBM": (
        arb.LGBMClassifier(n_estimators=4, num_leaves=7, min_child_samples=5, verbose=-1),
        "word",
        "node leaf row round",
        _second_order,
    ),
    "hist": (
        arb.HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=7, min_samples_leaf=5),
        "word",
        "node leaf row round",
        _second_order,
    ),
    "hist, rows set aside": (
        arb.HistGradientBoostingRegressor(
            max_iter=4, max_leaf_nodes=7, early_stopping=True, random_state=0, min_samples_leaf=5
        ),
        "number",
        "node leaf row round",
        _second_order,
    ),
    "LGBM GOSS": (
        arb.LGBMClassifier(
            n_estimators=4,
            num_leaves=7,
            min_child_samples=5,
            data_sample_strategy="goss",
            learning_rate=0.5,
            verbose=-1,
        ),
        "word",
        "node leaf row round",
        _second_order,
    ),
    "stacking": (
        arb.StackingClassifier(_members("Classifier"), LogisticRegression(), cv=3),
        "word",
        "node leaf row",
        _combined,
    ),
    "voting": (
        arb.VotingRegressor(_members("Regressor"), weights=[1, 2]),
        "number",
        "node leaf row",
        _combined,
    ),
}


@cache
def _fitted(name: str) -> tuple[Any, Any, pd.DataFrame, np.ndarray]:
    model, target, *_ = FAMILIES[name]
    X, y = _table(target)
    w = None if name == "stacking" else weights(len(y))  # its final model takes none with gaps
    model = model.set_params(n_jobs=1) if "n_jobs" in model.get_params() else model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some rows are in all bags
        model = model.fit(X, y) if w is None else model.fit(X, y, sample_weight=w)
    return model, worksheet(model, X, y, w), X, y


def _node(model, *, leaf: bool) -> tuple[Any, int]:
    """Return a tree and its root or last leaf, as worksheets name them."""
    if hasattr(model, "named_estimators_"):
        tree = model.named_estimators_["tree"].tree_
        return ("tree", 0), int(tree.leaves[-1]) if leaf else 0
    if hasattr(model, "rules_"):
        return 0, 0
    tree = model.tree_ if hasattr(model, "tree_") else getattr(model, "trees_", [None])[0]
    return 0, int(tree.leaves[-1]) if leaf and tree is not None else 0


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_shown_is_what_the_model_holds(name):
    model, sheets, X, y = _fitted(name)
    FAMILIES[name][3](model, sheets, X, y)
    for i in (0, 7):  # and what it says of rows
        answer = check_shown(sheets.row(i)).facts["answer"]
        said = model.predict(X.iloc[[i]])[0]
        if isinstance(said, str):
            assert answer.split(" (")[0] == said
        else:
            assert answer == pytest.approx(said, rel=1e-6)


@pytest.mark.parametrize("name", FAMILIES)
def test_who_answers_what(name):
    model, sheets, _, _ = _fitted(name)
    answers = FAMILIES[name][2].split()
    for method, ask in METHODS.items():
        if method in answers:
            check_shown(ask(sheets, model))
        else:
            with pytest.raises((ParameterError, AttributeError)):
                ask(sheets, model)
