"""Sheets of ID3, C4.5 and rules: cases, gains, ratios and pessimistic errors are the model's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from arboretum import C45Classifier, C45Rules, ID3Classifier, ParameterError, worksheet
from tests.explain.worksheet.tables import check_shown, classes, table, weights


def check_cases(model, sheets, most: int = 20) -> None:
    tree = model.tree_
    for node in range(min(len(tree), most)):
        sheet = sheets.node(0, node)
        if node < 4:
            check_shown(sheet)
        here = sheets._family.cases.at(node)
        assert_allclose(here.weight, tree.weight[node], rtol=1e-9, atol=1e-12)
        assert sheet.facts["cases"] == tree.weight[node]
        if tree.weight[node] == 0:
            continue
        first = "H(D)" if type(model) is ID3Classifier else "H"
        assert_allclose(sheet.value(first), tree.impurity[node], rtol=1e-9, atol=1e-12)
        if not tree.is_leaf[node]:
            assert_allclose(sheet.value("decrease"), tree.gain[node], rtol=1e-9, atol=1e-12)
            continue
        leaf = check_shown(sheets.leaf(0, node))
        assert_allclose(
            leaf.table("Classes").column("probability"), tree.value[node, 0], rtol=1e-9, atol=1e-12
        )


WAYS = {
    "plain": {},
    "not pruned": {"pruning": None, "collapse": False},
    "no raising": {"subtree_raising": False},
    "groups": {"subset": True},
    "gain": {"criterion": "gain"},
    "no gate": {"gate": False, "epsilon": 0.01},
    "weka": {"error_limit": "weka", "confidence": 0.1},
    "binomial": {"error_limit": "binomial"},
    "held out": {"pruning": "reduced_error", "random_state": 3},
    "laplace": {"laplace": True},
    "balanced": {"class_weight": "balanced"},
    "shallow": {"max_depth": 2},
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", WAYS)
def test_c45(name, weighted):
    X = table(160, seed=21)
    y, w = classes(X), weights(160) if weighted else None
    model = C45Classifier(n_jobs=1, **WAYS[name]).fit(X, y, w)
    sheets = worksheet(model, X, y, w)
    check_shown(sheets.sheet())
    check_cases(model, sheets)
    sheet = check_shown(sheets.pruning())
    assert sheet.facts["nodes of the model"] == len(model.tree_)
    for i in (0, 5, 9):
        row = check_shown(sheets.row(i))
        share = row.facts[f"probability of {row.facts['answer']}"]
        assert_allclose(share, model.predict_proba(X.iloc[[i]])[0].max(), rtol=1e-9)
        assert row.facts["answer"] == model.predict(X.iloc[[i]])[0]


def test_the_winner_is_chosen_where_nothing_was_raised():
    X = table(160, seed=22)
    y = classes(X)
    model = C45Classifier(pruning=None, collapse=False, n_jobs=1).fit(X, y)
    sheets, tree = worksheet(model, X, y), model.tree_
    inner = [k for k in range(len(tree)) if not tree.is_leaf[k]]
    assert len(inner) > 5
    for node in inner:
        best = sheets.node(0, node).table("Best test")
        assert best.marked == {0}
        assert best.column("verdict")[0] == "chosen"
        others = [v for v in best.column("verdict") if v == "chosen"]
        assert len(others) == 1


def test_decisions_lead_to_the_model():
    """Played again, the textbook's pruning ends with as many leaves as the model has."""
    from arboretum.textbook.c45_pruning import prune_c45

    for seed in (23, 24, 25):
        X = table(200, seed=seed)
        y = classes(X, 2, seed)
        model = C45Classifier(n_jobs=1).fit(X, y)
        family = worksheet(model, X, y)._family
        pruned, _ = prune_c45(family._collapsed[0])
        assert sum(node.is_leaf for node in pruned) == model.get_n_leaves()
        leaves = model.tree_.leaves.tolist()
        told = [worksheet(model, X, y).leaf(0, leaf) for leaf in leaves]
        total = sum(sheet.value("pessimistic errors") for sheet in told if sheet.formulas)
        last = family._decisions[-1] if family._decisions else None
        if last is not None and last.path == ():
            wanted = {"keep": last.as_tree, "leaf": last.as_leaf, "raise": total}[last.verdict]
            assert_allclose(total, wanted, rtol=1e-9)


@pytest.mark.parametrize("way", ["mdl", "quantile"])
@pytest.mark.parametrize("weighted", [False, True])
def test_id3(way, weighted):
    X = table(150, seed=26)
    y, w = classes(X), weights(150) if weighted else None
    model = ID3Classifier(discretize=way, n_bins=3, max_depth=3, n_jobs=1).fit(X, y, w)
    sheets = worksheet(model, X, y, w)
    check_cases(model, sheets)
    for i in (0, 3):
        row = check_shown(sheets.row(i))
        share = row.facts[f"probability of {row.facts['answer']}"]
        assert_allclose(share, model.predict_proba(X.iloc[[i]])[0].max(), rtol=1e-9)
    with pytest.raises(ParameterError, match="ID3 does not prune"):
        sheets.pruning()


@pytest.mark.parametrize("weighted", [False, True])
def test_rules(weighted):
    X = table(200, seed=27)
    y, w = classes(X), weights(200) if weighted else None
    model = C45Rules(n_jobs=1).fit(X, y, w)
    assert len(model.rules_) > 1
    sheets = worksheet(model, X, y, w)
    check_shown(sheets.sheet())
    for k, rule in enumerate(model.rules_):
        sheet = check_shown(sheets.leaf(0, k))
        assert_allclose(sheet.value("accuracy"), rule.accuracy, rtol=1e-9)
        assert_allclose(sheet.value("errors"), rule.errors, rtol=1e-9, atol=1e-9)
        assert_allclose(sheet.table("Classes").column("probability"), model._shares()[k], rtol=1e-9)
        assert all(v == "stays" for v in sheet.table("Conditions").column("verdict"))
    fired = model.apply(X)
    for i in (0, 4, int(np.flatnonzero(fired < 0)[0]) if (fired < 0).any() else 7):
        sheet = check_shown(sheets.row(i))
        assert sheet.facts["answer"] == model.predict(X.iloc[[i]])[0]
        assert sheet.facts["rule"] == (fired[i] if fired[i] >= 0 else "none: the default class")
    with pytest.raises(ParameterError, match="list"):
        sheets.node(0, 0)
