"""Every number on the sheets of single trees is what the tree holds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from arboretum import (
    CARTClassifier,
    CARTRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    RandomForestClassifier,
    worksheet,
)
from arboretum.explain.outline.grown import GROWN_NUMBERS
from arboretum.explain.outline.outline import Outliner
from tests.explain.worksheet.tables import check_shown, classes, signal, table, weights

NUMBERS = ("squared_error", "friedman_mse", "absolute_error", "poisson")


def check_trees(model, sheets, trees=(0,), most: int = 20) -> None:
    """Hold every node of some trees against its sheet."""
    for t in trees:
        tree = model.trees_[t]
        for node in range(min(len(tree), most)):
            check_node(tree, node, sheets.node(t, node))
            if tree.is_leaf[node]:
                check_leaf(tree, node, sheets.leaf(t, node))


def check_node(tree, node, sheet) -> None:
    if node < 3:
        check_shown(sheet)
    criterion = next(name for name in sheet.facts if name.startswith("impurity"))[10:-1]
    assert sheet.facts["rows"] == tree.count[node]
    assert_allclose(sheet.value(criterion), tree.impurity[node], rtol=1e-9, atol=1e-12)
    if tree.is_leaf[node]:
        assert any("It is a leaf" in note for note in sheet.notes)
        return
    best, rivals = sheet.table("Best split"), sheet.table("Closest rivals")
    assert_allclose(sheet.value("gain"), tree.gain[node], rtol=1e-9, atol=1e-12)
    first = int(tree.first_child[node])
    for one in (best, rivals):
        assert one.marked == {0}
        assert one.column("verdict")[0] == "wins"
        if tree.surrogates is None:
            assert one.column("left")[0] == tree.count[first]
            assert_allclose(one.column("imp left")[0], tree.impurity[first], rtol=1e-9, atol=1e-12)
            assert_allclose(
                one.column("imp right")[0], tree.impurity[first + 1], rtol=1e-9, atol=1e-12
            )
        assert_allclose(one.column("gain")[0], tree.gain[node], rtol=1e-9, atol=1e-12)
    allowed = [v for v in rivals.column("verdict") if v not in ("wins", "gains less")]
    assert "gains more" not in allowed, sheet.to_text()


def check_leaf(tree, leaf, sheet) -> None:
    if leaf < 6:
        check_shown(sheet)
    values = tree.value[leaf]
    if values.shape[1] > 1:
        for shares, one in zip(
            values, (t for t in sheet.tables if t.title.startswith("Classes")), strict=True
        ):
            bounded = [f for f in sheet.formulas if f.name == "bounded"]
            if not bounded:
                assert_allclose(
                    one.column("probability"), shares[: len(one.rows)], rtol=1e-9, atol=1e-12
                )
            else:
                assert_allclose(bounded[0].value, shares[-1], rtol=1e-9, atol=1e-12)
        return
    named = [f for f in sheet.formulas if f.name.startswith("value")]
    bounded = [f for f in sheet.formulas if f.name == "bounded"] or named
    assert_allclose([f.value for f in bounded], values[:, 0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss", "error"])
@pytest.mark.parametrize("weighted", [False, True])
def test_classifiers(criterion, weighted):
    X = table()
    y, w = classes(X), weights(len(X)) if weighted else None
    model = CARTClassifier(criterion=criterion, max_depth=4, min_samples_leaf=3, n_jobs=1).fit(
        X, y, w
    )
    check_trees(model, worksheet(model, X, y, w))


@pytest.mark.parametrize("criterion", NUMBERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_regressors(criterion, weighted):
    X = table(seed=3)
    y, w = signal(X).round(2) + 3, weights(len(X)) if weighted else None
    model = CARTRegressor(criterion=criterion, max_depth=3, n_jobs=1).fit(X, y, w)
    check_trees(model, worksheet(model, X, y, w))


OPTIONS = {
    "two classes": {},
    "class weights": {"class_weight": "balanced"},
    "surrogates": {"surrogates": 3},
    "few columns": {"max_features": 2, "random_state": 4},
    "few leaves": {"max_leaf_nodes": 6, "max_depth": None},
    "least decrease": {"min_impurity_decrease": 0.01},
    "least weight": {"min_weight_fraction_leaf": 0.05},
    "monotone": {"monotonic_cst": {"age": 1, "income": -1}},
    "pruned": {"ccp_alpha": 0.01},
    "bins": {"max_bins": 8},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name):
    X = table(seed=5)
    y, w = classes(X, 2), weights(len(X))
    model = CARTClassifier(**{"max_depth": 4, "n_jobs": 1, **OPTIONS[name]}).fit(X, y, w)
    sheets = worksheet(model, X, y, w)
    check_trees(model, sheets)
    sheet = sheets.node(0, 0)
    if name == "surrogates":
        kept = model.tree_.surrogates
        shown = sheet.table("Surrogates").column("agreement")
        assert_allclose(shown, kept.agreement[kept.start[0] : kept.start[1]], rtol=1e-9)
    if name == "few columns":
        drawn = [v for v in sheet.table("Best split").column("verdict") if v == "not drawn"]
        assert len(drawn) == X.shape[1] - 2


@pytest.mark.parametrize("kind", [ExtraTreeClassifier, ExtraTreeRegressor])
def test_random_cuts_are_drawn_again(kind):
    X = table(seed=6)
    y = classes(X) if kind is ExtraTreeClassifier else signal(X)
    model = kind(random_state=3, max_depth=5, n_jobs=1).fit(X, y)
    sheets = worksheet(model, X, y)
    check_trees(model, sheets)
    tree = model.tree_
    for node in np.flatnonzero(~tree.is_leaf)[:10].tolist():
        rivals = sheets.node(0, node).table("Closest rivals")
        assert max(rivals.column("gain")) == rivals.rows[0][list(rivals.header).index("gain")]
    unknown = kind(max_depth=2, n_jobs=1).fit(X, y)
    notes = worksheet(unknown, X, y).node(0, 0).notes
    assert any("draws are unknown" in note for note in notes)


def test_several_outputs():
    X = table(seed=7)
    y = np.column_stack([signal(X), signal(X, 9)])
    for criterion in ("squared_error", "friedman_mse", "absolute_error"):
        model = CARTRegressor(criterion=criterion, max_depth=3, n_jobs=1).fit(X, y)
        check_trees(model, worksheet(model, X, y))
    labels = np.column_stack([classes(X), classes(X, 2, 9)])
    model = CARTClassifier(max_depth=3, n_jobs=1).fit(X, labels)
    check_trees(model, worksheet(model, X, labels))


def test_a_row_and_its_way():
    X = table(seed=8)
    y = classes(X)
    model = CARTClassifier(max_depth=4, n_jobs=1).fit(X, y)
    sheets = worksheet(model, X, y)
    leaves = model.apply(X)
    for i in (0, 7, -1):
        sheet = check_shown(sheets.row(i))
        assert sheet.facts["leaf"] == leaves[i]
        assert sheet.table("The way down").rows[-1][-1] == leaves[i]
        assert str(sheet.facts["answer"]).startswith(model.predict(X.iloc[[i]])[0])
        assert sheet.facts["in training"] == y[i]
    row = X.iloc[5]
    for given in (row.to_dict(), X.iloc[[5]], row.tolist(), row):
        assert sheets.row(given).facts["leaf"] == leaves[5]
    assert (
        sheets.row({"age": 30}).facts["leaf"]
        == model.apply(
            X.iloc[[0]].assign(age=30.0, income=np.nan, rooms=np.nan, city=None, grade=None)
        )[0]
    )


@pytest.mark.parametrize("kind", [CARTRegressor, ExtraTreeRegressor])
def test_the_answer_of_a_row_of_numbers(kind):
    X = table(seed=8)
    y = signal(X)
    model = kind(max_depth=4, random_state=1, n_jobs=1).fit(X, y)
    for i in (0, 7):
        answer = check_shown(worksheet(model, X, y).row(i)).facts["answer"]
        assert answer == pytest.approx(model.predict(X.iloc[[i]])[0], rel=1e-12)
    pair = np.column_stack([y, -y])
    two = kind(max_depth=4, random_state=1, n_jobs=1).fit(X, pair)
    assert_allclose(worksheet(two, X, pair).row(5).facts["answer"], two.predict(X.iloc[[5]])[0])


def test_the_path_of_pruning():
    X = table(seed=9)
    y = classes(X)
    model = CARTClassifier(max_depth=5, n_jobs=1).fit(X, y)
    path = model.cost_complexity_pruning_path(X, y)
    sheet = check_shown(worksheet(model, X, y).pruning())
    lines = sheet.table("The path")
    assert_allclose(lines.column("α"), path.ccp_alphas, rtol=1e-9, atol=1e-15)
    assert_allclose(lines.column("R(T)"), path.impurities, rtol=1e-9, atol=1e-12)
    assert lines.column("|T|") == path.n_leaves.tolist()
    pruned = CARTClassifier(max_depth=5, n_jobs=1, ccp_alpha=float(path.ccp_alphas[3])).fit(X, y)
    lines = worksheet(pruned, X, y).pruning().table("The path")
    assert lines.column("|T|")[max(lines.marked)] == pruned.tree_.n_leaves
    chosen = CARTClassifier(max_depth=5, n_jobs=1).prune_cv(X, y, cv=3)
    sheet = check_shown(worksheet(chosen, X, y).pruning())
    assert (
        sheet.table("The path").column("|T|")[max(sheet.table("The path").marked)]
        == chosen.tree_.n_leaves
    )
    assert_allclose(sheet.table("Cross").column("mean error"), chosen.pruning_curve_.mean_score)
    node = worksheet(model, X, y).node(0, 0)
    assert_allclose(
        node.value("this branch is pruned when α exceeds"), path.ccp_alphas[-1], rtol=1e-9
    )


@pytest.mark.parametrize("make", [CARTClassifier, RandomForestClassifier])
@pytest.mark.parametrize(("labels", "word"), [("nnyyynn", "present"), ("nnyymnn", "missing")])
def test_a_split_by_presence_counts_its_sides_as_the_tree_does(make, labels, word):
    X = pd.DataFrame({"city": ["a", "b", None, None, None, "a", "b"]})
    model = make(max_depth=1, random_state=1).fit(X, list(labels))
    sheets = worksheet(model, X, list(labels))
    check_trees(model, sheets, range(min(len(model.trees_), 5)))
    tree = model.trees_[0]
    assert tree.missing_child[0] == (word == "present")  # of three classes the missing go left
    sheet = sheets.node(0, 0)
    for table_ in ("Best split", "Closest rivals"):
        assert sheet.table(table_).column("split")[0] == f"city is {word}"
    assert any("only they" in note for note in sheet.notes)
    line = Outliner(sheets._family, most=3).outline(0).lines[0][0]
    first = int(tree.first_child[0])
    assert (line.cut, line.missing) == (np.inf, tree.missing_child[0])
    assert line.numbers[GROWN_NUMBERS.index("rows left")] == tree.count[first]
    assert line.numbers[GROWN_NUMBERS.index("imp left")] == pytest.approx(tree.impurity[first])
