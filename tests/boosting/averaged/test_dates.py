"""Dates are taken apart where held-out rows choose it, and everything that reads a model follows."""

from __future__ import annotations

import copy
import io
import pickle

import numpy as np
import pandas as pd
import pytest

import arboretum as arb
from arboretum.explain.report.overview import overview_of
from tests.boosting.averaged.averaged_cases import saved

RNG = np.random.default_rng(0)
WHEN = pd.Timestamp("2021-01-01") + pd.to_timedelta(RNG.integers(0, 900 * 24, 700), "h")
X = pd.DataFrame({"x": RNG.normal(size=700), "when": WHEN})
X.loc[::50, "when"] = pd.NaT
WEEKEND = X["when"].dt.day_of_week.ge(5).to_numpy()
Y = WEEKEND * 3 + X["x"].to_numpy() + RNG.normal(size=700) / 4
FAST = {"quality": "fast", "random_state": 1}


@pytest.fixture(scope="module")
def model():
    return arb.BoostedTreesRegressor(**FAST).fit(X, Y)


def forms(model):
    return {one.option: one for one in model.choices_ if one.what == "dates"}


def test_a_weekday_that_matters_is_found(model):
    tried = forms(model)
    assert set(tried) == {"number", "number and parts", "parts"}
    assert [one.chosen for one in tried.values()].count("yes") == 1
    assert not tried["number"].chosen
    assert min(one.loss for one in tried.values()) < tried["number"].loss / 2
    assert model.score(X, Y) > 0.9
    assert "when weekday" in model.schema_.names


def test_the_columns_are_those_of_the_table(model):
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["x", "when"]
    assert model.feature_importances_.shape == (2,)
    assert model.feature_importances_[1] > 0.5, "the parts count for the date"


def test_without_effect_a_date_stays_a_number():
    left = arb.BoostedTreesRegressor(**FAST).fit(X, X["x"])
    assert [one.option for one in forms(left).values() if one.chosen] == ["number"]
    assert left.schema_.names == ("x", "when")
    assert left.schema_.parts == ()


def test_rows_after_those_learned_from_leave_the_number_out():
    day = np.arange(800)
    table = pd.DataFrame({"when": pd.Timestamp("2020-01-01") + pd.to_timedelta(day, "D")})
    wave = table["when"].dt.month.to_numpy() * 1.0 + np.sin(day)
    model = arb.BoostedTreesRegressor(**FAST, folds="time").fit(table, wave)
    if forms(model)["parts"].chosen:
        used = {f for tree in model.trees_ for f in tree.feature[tree.feature >= 0].tolist()}
        assert 0 not in used
    else:
        assert forms(model)["number and parts"].chosen


def test_a_constrained_date_stays_a_number():
    model = arb.BoostedTreesRegressor(**FAST, monotonic_cst={"when": 1}).fit(X, Y)
    assert forms(model) == {}
    other = arb.BoostedTreesRegressor(**FAST, monotonic_cst={"x": 1}).fit(X, Y)
    assert other.schema_.parts
    rising = pd.DataFrame({"x": np.linspace(-2, 2, 40), "when": X["when"][1]})
    assert np.diff(other.predict(rising)).min() >= 0


def test_models_come_back_and_threads_change_nothing(model):
    content = saved(copy.copy(model))
    loaded = arb.load(io.BytesIO(content))
    assert (loaded.predict(X) == model.predict(X)).all()
    assert loaded.schema_ == model.schema_
    assert loaded.n_features_in_ == 2
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()
    again = arb.BoostedTreesRegressor(**FAST, n_jobs=3).fit(X, Y)
    assert saved(again) == content


def test_servers_and_files_have_the_numbers_of_predict(model, tmp_path):
    predict = model.predictor()
    assert (predict(predict.encode(X)) == model.predict(X)).all()
    X.to_csv(tmp_path / "t.csv", index=False)
    assert (model.predict(tmp_path / "t.csv") == model.predict(X)).all()
    mixed = X[["when", "x"]].assign(when=X["when"].astype(str).where(X["when"].notna()))
    assert (model.predict(mixed) == model.predict(X)).all()


def test_explanations_add_up(model):
    values = model.shap_values(X[:5])
    assert values.shape == (5, model.schema_.n_features)
    sums = values.sum(axis=1) + model.shap_base_value()
    assert np.allclose(sums, model.predict(X[:5]), rtol=0, atol=1e-9)
    sheet = arb.worksheet(model, X, Y).row(1)
    assert np.isclose(sheet.formulas[0].value, model.predict(X[1:2])[0], rtol=0, atol=1e-12)
    assert sheet.tables[0].rows[1] == ("when", str(X["when"][1]))
    given = {"x": X["x"][1], "when": X["when"][1]}
    assert arb.worksheet(model, X, Y).row(given).formulas[0].value == sheet.formulas[0].value
    effect = arb.partial_dependence(model, X, "when weekday")
    assert np.ptp(effect.average) > 1
    worth = arb.feature_importances(model, "permutation", X, Y)
    assert worth.names[int(np.argmax(worth.mean))] == "when weekday"
    facts = overview_of(model, 700, 700, 2)
    assert facts["members"] == [["plain", f"{len(model.trees_)} rounds, weight 1"]]
    assert facts["choices"][2][:2] == ("dates", "number")
    model.notes_ = {
        "target": "y",
        "task": "regression",
        "data file": "shop.csv",
    }  # as `train` keeps them
    assert overview_of(model, 700, 700, 2)["notes"] == {
        "data file": "shop.csv"
    }  # a line has the others
    model.notes_ = {}
    assert "when weekday" in model.report(X, Y).html


def test_a_given_table_is_held_out():
    model = arb.BoostedTreesRegressor(**FAST).fit(X[:500], Y[:500], eval_set=(X[500:], Y[500:]))
    assert model.schema_.parts
    assert len(model._held_out_errors) == 200
