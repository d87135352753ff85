"""The API of explanations: shapes, bent outputs, bad input, and who has no SHAP values."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import log_loss

import arboretum as ab
from arboretum.errors import DataError, ParameterError
from arboretum.predict.additive import NoAdditiveForm
from tests.predict.shap.shap_cases import NAMES, fitted, new_rows, table, targets

CLASSIFIERS = [
    "CART", "ID3", "forest", "AdaBoost", "AdaBoost, discrete", "gradient boosting",
    "gradient boosting of classes", "XGB", "XGB of classes", "LGBM forest",
]  # fmt: skip


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_probabilities_are_explained(name):
    model, rows, background = fitted(name), new_rows(20), table().iloc[:9]
    asked = {"background": background, "output": "probability"}
    found = model.shap_values(rows, **asked)
    base = model.shap_base_value(**asked)
    total, said = base + found.sum(axis=1), model.predict_proba(rows)
    assert_allclose(total, said[:, 1] if total.ndim == 1 else said, atol=1e-12)
    means = model.predict_proba(background).mean(axis=0)
    assert_allclose(base, means[1] if total.ndim == 1 else means, atol=1e-12)
    pairs = model.shap_values(rows, interactions=True, **asked)
    assert_allclose(pairs.sum(axis=2), found, atol=1e-12)


def test_class_shares_are_probabilities_already():
    model, rows = fitted("forest"), new_rows()
    assert_array_equal(model.shap_values(rows, output="probability"), model.shap_values(rows))


def test_far_sums_of_many_classes_still_add_up():
    """Where the quadrature of the softmax is poor the one known difference puts it right."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.repeat([0, 1, 2], 20)
    X[:, 0] += 9 * y + rng.integers(0, 9, 60)
    model = ab.XGBClassifier(n_estimators=40, learning_rate=1.0, reg_lambda=0.0, min_child_weight=0)
    model.fit(X, y)
    assert np.ptp(model.predict(X, output_margin=True)) > 15
    found = model.explain(X, background=X[::7], output="probability")
    assert_allclose(
        found.base_values + found.values.sum(axis=1), model.predict_proba(X), atol=1e-12
    )


@pytest.mark.parametrize("name", [*CLASSIFIERS, "LGBM", "XGB of counts", "CART of several outputs"])
def test_losses_are_explained(name):
    model, n = fitted(name), 25
    rows, background = table().iloc[:n], table().iloc[30:37]
    kind = {"LGBM": "number", "XGB of counts": "number", "CART of several outputs": "several"}
    if name in kind:
        y = targets()[kind[name]][:n]
        y = np.abs(np.round(y)) if name == "XGB of counts" else y
    else:
        y = targets()["two" if len(model.classes_) == 2 else "three"][:n]
    found = model.explain(rows, background=background, output="loss", y=y)
    assert found.values.shape == (n, len(NAMES))
    total = found.base_values + found.values.sum(axis=1)
    if hasattr(model, "classes_"):
        shares = np.clip(model.predict_proba(rows), np.finfo(np.float32).eps, None)
        expected = -np.log(shares[np.arange(n), np.searchsorted(model.classes_, y)])
        assert_allclose(total.mean(), log_loss(y, model.predict_proba(rows)), atol=1e-5)
    elif name == "XGB of counts":
        margin = model.predict(rows, output_margin=True)
        expected = np.exp(margin) - y * margin
    else:
        gap = (model.predict(rows) - y).reshape(n, -1)
        expected = (gap**2).sum(axis=1)
    assert_allclose(total, expected, rtol=1e-10, atol=1e-10)
    base = model.shap_base_value(background=background, output="loss", X=rows, y=y)
    assert_array_equal(base, found.base_values)


def test_one_row_against_itself_changes_nothing():
    model, row = fitted("XGB"), new_rows(1)
    found = model.shap_values(row, background=row, output="probability")
    assert_array_equal(found, np.zeros((1, len(NAMES))))


def test_an_explanation_is_complete(monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)  # as if it were not installed
    model, rows = fitted("CART"), new_rows(5)
    found = model.explain(rows)
    assert type(found).__name__ == "Explanation"
    assert found.feature_names == list(NAMES)
    assert found.output_names == ["0", "1", "2"]
    assert found.base_values.shape == (5, 3)
    assert found.data.shape == (5, 4)
    assert found.display_data[:2, 2].tolist() == ["missing", rows["word"].iloc[1]]
    assert np.isnan(found.data[0, 2])
    assert found[1].display_data[2] == rows["word"].iloc[1]
    assert_array_equal(found.values, model.shap_values(rows))
    one = found[2]
    assert_array_equal(one.values, found.values[2])
    assert (len(found), found.shape) == (5, (5, 4, 3))
    plain = ab.CARTRegressor().fit([[1.0], [2.0]], [0.0, 1.0]).explain([[1.5]])
    assert (plain.base_values.tolist(), plain.output_names) == ([0.5], None)
    assert plain.display_data is None
    binned = fitted("ID3").explain(rows)
    assert binned.feature_names == list(NAMES)


def test_it_is_shaps_own_where_that_is_installed():
    shap = pytest.importorskip("shap")
    found = fitted("XGB").explain(new_rows(5))
    assert isinstance(found, shap.Explanation)
    assert found.values.shape == (5, 4)


@pytest.mark.parametrize("name", ["LGBM", "XGB", "forest"])
def test_shaps_plots_take_words_and_gaps(name, monkeypatch):
    """Those that look at values: shap itself can neither order nor colour a column of words."""
    shap = pytest.importorskip("shap")
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(plt, "show", lambda: None)
    found = fitted(name).explain(table(60, 3))
    found = found[..., 0] if found.values.ndim == 3 else found
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shap.plots.waterfall(found[0], show=False)
        assert any("word" in text.get_text() for text in plt.gca().get_yticklabels())
        shap.plots.beeswarm(found, show=False)
        shap.plots.violin(found, show=False)
        shap.plots.heatmap(found, show=False)
        shap.plots.scatter(found[:, "word"], color=found[:, "age"], show=False)
        shap.plots.scatter(found[:, "size"], color=found[:, "word"], show=False)
    plt.close("all")


NO_FORM = {
    "AdaBoostRegressor": (lambda: ab.AdaBoostRegressor(n_estimators=2), "weighted median"),
    "C45Classifier": (lambda: ab.C45Classifier(), "several branches"),
    "C45Rules": (lambda: ab.C45Rules(), "first rule that fires"),
    "StackingRegressor": (
        lambda: ab.StackingRegressor([("a", ab.CARTRegressor(max_depth=2))]),
        "one by one",
    ),
    "VotingRegressor": (
        lambda: ab.VotingRegressor([("a", ab.AdaBoostRegressor(n_estimators=2))]),
        "weighted median",
    ),
    "BaggingRegressor": (
        lambda: ab.BaggingRegressor(ab.AdaBoostRegressor(n_estimators=2), n_estimators=2),
        "weighted median",
    ),
}


@pytest.mark.parametrize("name", NO_FORM)
def test_models_that_are_no_sums_say_so(name):
    make, why = NO_FORM[name]
    kind = "three" if name.startswith("C45") else "number"
    model = make().fit(table(), targets()[kind])
    for ask in (model.shap_values, model.explain):
        with pytest.raises(NoAdditiveForm, match=why) as told:
            ask(new_rows())
        assert "permutation_importance" in str(told.value)
        assert name in str(told.value)


def test_members_that_are_no_trees_say_so():
    X, y = np.arange(20.0)[:, None], np.arange(20.0)
    made = ab.GradientBoostingRegressor(n_estimators=2, estimator=LinearRegression()).fit(X, y)
    with pytest.raises(NoAdditiveForm, match="LinearRegression, not trees"):
        made.shap_values(X)
    begun = ab.GradientBoostingRegressor(n_estimators=2, init=LinearRegression()).fit(X, y)
    with pytest.raises(NoAdditiveForm, match="init estimator"):
        begun.shap_values(X)


BAD = {
    "output": ({"output": "margin"}, ParameterError, "output must be one of"),
    "interactions": ({"interactions": 2}, ParameterError, "interactions must be True or False"),
    "loss without y": ({"output": "loss"}, ParameterError, "needs y"),
    "y without loss": ({"y": [0] * 6}, ParameterError, "y is for output='loss'"),
    "no background": ({"output": "probability"}, ParameterError, "needs a background"),
    "loss, no background": ({"output": "loss", "y": ["no"] * 6}, ParameterError, "a background"),
    "strange label": (
        {"output": "loss", "y": ["maybe"] * 6, "background": "some"},
        DataError,
        "'maybe', which is not a class",
    ),
    "few labels": (
        {"output": "loss", "y": ["no"] * 2, "background": "some"},
        DataError,
        "one label for each of the 6 rows",
    ),
    "background of other columns": ({"background": "narrow"}, DataError, "column"),
    "empty background": ({"background": "none"}, DataError, "0 sample"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    asked, error, says = BAD[name]
    tables = {"some": table()[:5], "narrow": table()[["size"]], "none": table()[:0]}
    asked = {k: tables.get(v, v) if k == "background" else v for k, v in asked.items()}
    with pytest.raises(error, match=says):
        fitted("XGB").shap_values(new_rows(6), **asked)


def test_what_has_no_probability_says_so():
    some = {"background": table()[:3], "output": "probability"}
    with pytest.raises(ParameterError, match="is for classifiers"):
        fitted("LGBM").shap_values(new_rows(), **some)
    two = (targets()["two"] == "yes").astype(int)
    hinge = ab.XGBClassifier(n_estimators=2, objective="binary:hinge").fit(table(), two)
    with pytest.raises(ParameterError, match="without a slope"):
        hinge.shap_values(new_rows(), **some)
    with pytest.raises(ParameterError, match="one target"):
        fitted("forest of several outputs").shap_values(
            new_rows(2), background=table()[:3], output="loss", y=[[0, 0], [1, 1]]
        )


def test_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError):
        ab.CARTRegressor().shap_values([[1.0]])
    with pytest.raises(NotFittedError):
        ab.XGBRegressor().shap_base_value()


def test_columns_are_found_by_name():
    model, rows = fitted("XGB"), new_rows()
    assert_array_equal(model.shap_values(rows[list(NAMES[::-1])]), model.shap_values(rows))
