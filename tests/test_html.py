"""What notebooks show: a table for everything that is looked at, and the diagram of models made of models."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import arboretum as ar
from arboretum.forest.importance import permutation_importance
from arboretum.html import html_table

X, y = load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def tree():
    return ar.CARTClassifier().prune_cv(X, y)


def shown(thing):
    html = thing._repr_html_()
    assert html.count("<tr>") == html.count("</tr>") > 1
    return html


def test_a_tree(tree):
    html = shown(tree.tree_)
    assert f"a tree of {tree.get_n_leaves()} leaves" in html
    assert "petal" in html
    assert "all rows" in html
    deep = ar.CARTRegressor().fit(X, np.random.default_rng(0).normal(size=len(X)))
    assert "the first of" in shown(deep.tree_)
    assert shown(deep.tree_).count("<tr>") == 26


def test_rules(tree):
    html = shown(ar.to_rules(tree))
    assert "&lt;=" in html
    assert "100.0 %" in html


def test_a_schema():
    frame = pd.DataFrame({"<town>": list("abcdefgh"), "n": range(8)})
    html = shown(ar.CARTClassifier().fit(frame, range(8)).schema_)
    assert "&lt;town&gt;" in html
    assert "… and 2 more" in html


def test_a_pruning_curve(tree):
    html = shown(tree.pruning_curve_)
    assert html.count("chosen</td>") == 1


def test_an_importance():
    forest = ar.RandomForestClassifier(10, random_state=0).fit(X, y)
    found = permutation_importance(forest, X, y)
    assert "petal width" in shown(found)
    assert "petal width" in repr(found)
    assert "±" in repr(found)


def test_long_tables_are_cut():
    html = html_table("t", ["a"], [[i] for i in range(100)])
    assert "… and 70 more" in html


@pytest.mark.parametrize(
    "Model", [ar.StackingClassifier, ar.StackingRegressor, ar.VotingClassifier, ar.VotingRegressor]
)
def test_models_made_of_default_models_can_be_looked_at(Model):
    model = Model()
    assert "named_estimators" in dir(model)
    assert "random_forest" in model.named_estimators
    assert "RandomForest" in model._repr_html_()
    assert model.estimators is None
