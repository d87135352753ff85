"""Fitted pipelines are explained by their last step, with the names of the columns it was given."""

import json
import re

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import arboretum as arb
from arboretum.explain.pipeline import open_pipeline
from tests.explain.report.report_models import table

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def _rows():
    X, y = table()[:2]
    return X[["age", "hours", "city"]].fillna(30.0), y


def _encoded(model):
    steps = ColumnTransformer(
        [("cat", OneHotEncoder(), ["city"]), ("num", StandardScaler(), ["age", "hours"])],
        sparse_threshold=1.0,
    )
    return Pipeline([("columns", steps), ("model", model)])


def _payload(page):
    found = re.search(r'<script id="payload"[^>]*>(.*?)</script>', page.html, re.S)
    return json.loads(found.group(1))


NAMES = ["cat__city_Bern", "cat__city_Lima", "cat__city_Oslo", "num__age", "num__hours"]


def test_the_report_of_a_pipeline_is_that_of_its_last_step():
    X, y = _rows()
    pipe = _encoded(arb.RandomForestClassifier(4, max_depth=3, random_state=0)).fit(X, y)
    page = arb.report(pipe, X, y, train=(X, y))
    payload = _payload(page)
    assert [column["name"] for column in payload["columns"]] == NAMES
    note = (
        "The columns are those after the steps of the pipeline before the model: ColumnTransformer."
    )
    assert note in page.html
    plain = arb.report(pipe[-1], pipe[:-1].transform(X), y)
    assert "steps of the pipeline" not in plain.html
    assert payload["figures"] == _payload(plain)["figures"]
    assert pipe[-1].schema_.names[0] == "x0"  # the model itself stays as it was


def test_trees_have_the_names_of_the_columns():
    X, y = _rows()
    pipe = make_pipeline(StandardScaler(), arb.CARTClassifier(max_depth=2))
    pipe.fit(X[["age", "hours"]], y)
    text = arb.export_text(pipe)
    assert "age" in text
    assert "x0" not in text
    assert text == arb.export_text(pipe[-1], feature_names=["age", "hours"])
    assert "age" in arb.export_graphviz(pipe)
    assert "age" in str(arb.to_rules(pipe))
    drawn = arb.plot_tree(pipe)
    assert any("age" in text.get_text() for text in drawn.texts)


@pytest.mark.parametrize(
    "model", [arb.ExtraTreesClassifier(3, random_state=0), arb.XGBClassifier(n_estimators=3)]
)
def test_functions_of_a_table_transform_it(model):
    X, y = _rows()
    pipe = _encoded(model).fit(X, y)
    last, inside = pipe[-1], pipe[:-1].transform(X)
    found = arb.partial_dependence(pipe, X, "num__age").average
    np.testing.assert_array_equal(found, arb.partial_dependence(last, inside, 3).average)
    one = arb.feature_importances(pipe, "permutation", X, y)
    assert list(one.names) == NAMES
    other = arb.feature_importances(last, "permutation", inside, y)
    np.testing.assert_array_equal(one.mean, other.mean)
    sheet = arb.worksheet(pipe, X, y).node(0, 0)
    assert any(name in str(sheet) for name in NAMES)
    assert arb.plot_importance(pipe) is not None
    assert arb.plot_shap_summary(pipe, X[:40]) is not None
    assert arb.plot_ice(pipe, X, "num__hours") is not None


def test_names_that_are_already_there_are_kept():
    X, y = _rows()
    pipe = make_pipeline(StandardScaler().set_output(transform="pandas"), arb.CARTClassifier())
    pipe.fit(X[["age", "hours"]], y)
    assert open_pipeline(pipe, "report").model is pipe[-1]
    nameless = make_pipeline(FunctionTransformer(np.asarray), arb.CARTClassifier(max_depth=1))
    nameless.fit(X[["age", "hours"]], y)
    assert "x0" in arb.export_text(nameless) or "x1" in arb.export_text(nameless)


def test_a_pipeline_of_one_step_and_one_inside_another():
    X, y = _rows()
    X = X[["age", "hours"]]
    alone = Pipeline([("model", arb.CARTClassifier(max_depth=2))]).fit(X, y)
    assert arb.export_text(alone) == arb.export_text(alone[-1])
    inner = make_pipeline(StandardScaler(), arb.CARTClassifier(max_depth=2))
    outer = make_pipeline(StandardScaler().set_output(transform="pandas"), inner).fit(X, y)
    opened = open_pipeline(outer, "report")
    np.testing.assert_array_equal(opened.model.predict(opened.table(X)), outer.predict(X))


@pytest.mark.parametrize("explain", [
    lambda pipe, X, y: arb.report(pipe, X, y),
    lambda pipe, X, y: arb.export_text(pipe),
    lambda pipe, X, y: arb.plot_tree(pipe),
    lambda pipe, X, y: arb.partial_dependence(pipe, X, 0),
    lambda pipe, X, y: arb.worksheet(pipe, X, y),
])  # fmt: skip
def test_what_cannot_be_opened_says_why(explain):
    X, y = _rows()
    X, numbers = X[["age", "hours"]], table()[3]
    unfitted = make_pipeline(StandardScaler(), arb.CARTClassifier())
    with pytest.raises(NotFittedError, match="call fit on this Pipeline first"):
        explain(unfitted, X, y)
    foreign = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    with pytest.raises(arb.ParameterError, match="this one ends with LogisticRegression"):
        explain(foreign, X, y)
    turned = TransformedTargetRegressor(arb.CARTRegressor(max_depth=2)).fit(X, numbers)
    with pytest.raises(arb.ParameterError, match="cannot explain a TransformedTargetRegressor"):
        explain(turned, X, numbers)
    last = make_pipeline(StandardScaler(), turned).fit(X, numbers)
    with pytest.raises(arb.ParameterError, match="cannot explain a TransformedTargetRegressor"):
        explain(last, X, numbers)


def test_arguments_may_have_names():
    X, y = _rows()
    pipe = make_pipeline(StandardScaler(), arb.CARTClassifier(max_depth=2))
    pipe.fit(X[["age", "hours"]], y)
    found = arb.partial_dependence(model=pipe, X=X[["age", "hours"]], features="age")
    assert len(found.grid_values) == 1
    with pytest.raises(TypeError, match=r"partial_dependence\(\) missing"):
        arb.partial_dependence(pipe)


def test_trees_and_tables_pass_unchanged():
    X, y = _rows()
    model = arb.CARTClassifier(max_depth=2).fit(X, y)
    assert open_pipeline(model, "report").model is model
    assert isinstance(open_pipeline(model, "report").table(X), pd.DataFrame)
    assert arb.export_text(model.tree_)


def test_a_step_that_passes_the_table_through_has_no_names():
    X = np.random.default_rng(0).normal(size=(30, 2))
    pipe = make_pipeline("passthrough", arb.CARTClassifier(max_depth=1)).fit(X, X[:, 0] > 0)
    assert arb.export_text(pipe) == arb.export_text(pipe[-1])
    assert arb.partial_dependence(pipe, X, [0]).average is not None
