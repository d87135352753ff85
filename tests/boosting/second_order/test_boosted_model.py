"""What all boosted models answer, by whatever API they were made: margins, and answers round by round."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from arboretum import (
    HistGradientBoostingRegressor,
    LGBMClassifier,
    LGBMRanker,
    LGBMRegressor,
    XGBClassifier,
    XGBRanker,
    XGBRegressor,
)
from arboretum.errors import DataError, ParameterError
from arboretum.structure.tree import SUBSET

QUIET = {XGBRegressor: {"verbose": False}}
CLASSIFIERS = [XGBClassifier(n_estimators=6, max_depth=3), LGBMClassifier(n_estimators=6)]
MODELS = [
    *CLASSIFIERS,
    XGBRegressor(n_estimators=6, max_depth=3),
    LGBMRegressor(n_estimators=6),
    XGBRanker(n_estimators=6),
    LGBMRanker(n_estimators=6),
    LGBMRegressor(n_estimators=6, boosting_type="rf", subsample=0.5, subsample_freq=1),
]


def table(k=3, n=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, np.digitize(X[:, 0] + 0.5 * rng.normal(size=n), np.linspace(-1, 1, k - 1))


def fitted(model, X, y, **arguments):
    if isinstance(model, XGBRanker | LGBMRanker):
        arguments["group"] = [100] * 3
    return clone(model).fit(X, y, **arguments)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_the_last_stage_is_the_prediction(model):
    X, y = table()
    model = fitted(model, X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == 6
    assert np.allclose(stages[-1], model.predict(X), rtol=0, atol=1e-9)
    assert not np.array_equal(stages[0], stages[-1])


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
def test_margins_of_classes(model, k):
    X, y = table(k)
    model = fitted(model, X, y)
    margin = model.decision_function(X)
    assert margin.shape == ((300,) if k == 2 else (300, 3))
    proba = model.predict_proba(X)
    if k == 2:
        assert np.allclose(1 / (1 + np.exp(-margin)), proba[:, 1])
    else:
        assert np.array_equal(margin.argmax(axis=1), proba.argmax(axis=1))
    *_, last = model.staged_decision_function(X)
    assert np.allclose(last, margin, rtol=0, atol=1e-9)
    *_, last = model.staged_predict_proba(X)
    assert np.allclose(last, proba, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["XGB", "LGBM"])
def test_margins_are_those_of_the_best_round(name):
    X, y = table(2)
    if name == "XGB":
        model = XGBClassifier(n_estimators=200, early_stopping_rounds=2)
        model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
        best = model.best_iteration
    else:
        model = LGBMClassifier(n_estimators=200, early_stopping_round=2, verbosity=-1)
        model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])])
        best = model.best_iteration_ - 1
    stages = list(model.staged_decision_function(X))
    assert best < len(stages) - 1
    assert np.allclose(model.decision_function(X), stages[best], rtol=0, atol=1e-9)


# ---------------------------------------------------------------------- columns
SIZES = ["small", "middle", "large"]
REGRESSORS = [XGBRegressor(n_estimators=6), LGBMRegressor(n_estimators=6, cat_smooth=1.0)]
each_regressor = pytest.mark.parametrize("model", REGRESSORS, ids=lambda m: type(m).__name__)


def sized():
    rng = np.random.default_rng(0)
    code, number = rng.integers(0, 12, 400), rng.normal(size=400)
    size = rng.integers(0, 3, 400)
    y = np.where(code % 3 == 0, 2.0, 0.0) + size + 0.1 * number
    return pd.DataFrame({"code": code, "size": [SIZES[k] for k in size], "number": number}), y


def kinds(model):
    return [column.kind for column in model.schema_.columns]


@each_regressor
def test_columns_are_what_they_are_said_to_be(model):
    X, y = sized()
    assert kinds(clone(model).fit(X, y)) == ["numeric", "categorical", "numeric"]
    model = clone(model).set_params(categorical_features=["code"], ordinal_features={"size": SIZES})
    model.fit(X, y, eval_set=[(X[:50], y[:50])], **QUIET.get(type(model), {}))
    assert kinds(model) == ["categorical", "ordinal", "numeric"]
    sets = {int(f) for t in model.trees_ for f in t.feature[t.kind == SUBSET]}
    assert sets == {0}
    assert np.array_equal(model.predict(X[:50]), model.predict(X)[:50])


@each_regressor
def test_a_category_first_met_is_missing_or_an_error(model):
    X, y = sized()
    model = clone(model).fit(X, y)
    new = X.head(3).assign(size="huge")
    with pytest.warns(UserWarning, match="huge"):
        assert np.array_equal(model.predict(new), model.predict(new.assign(size=None)))
    with pytest.raises(DataError, match="huge"):
        model.set_params(unseen="error").predict(new)
    with pytest.raises(DataError, match="huge"):
        model.fit(X, y, eval_set=[(new, y[:3])], **QUIET.get(type(model), {}))


def test_columns_are_named_in_one_place():
    X, y = sized()
    with pytest.raises(ParameterError, match="one of them"):
        XGBRegressor(feature_types=["c", "c", "q"], categorical_features=["code"]).fit(X, y)
    with pytest.raises(ParameterError, match="one of them"):
        LGBMRegressor(categorical_features=[0]).fit(X, y, categorical_feature=["code"])
    both = XGBRegressor(feature_types=["c", "q", "q"], ordinal_features={"size": SIZES}).fit(X, y)
    assert kinds(both) == ["categorical", "ordinal", "numeric"]
    ranks = LGBMRegressor(ordinal_features={"size": SIZES})
    assert kinds(ranks.fit(X, y, categorical_feature=["code"])) == kinds(both)


@pytest.mark.parametrize("make", [XGBRegressor, HistGradientBoostingRegressor])
def test_lengths_are_compared_before_the_table_is_read(make):
    X, y = np.full((4, 1), np.inf), np.arange(4.0)
    with pytest.raises(DataError, match=r"sample_weight.shape == \(3,\), expected \(4,\)"):
        make().fit(X, y, sample_weight=np.ones(3))
    with pytest.raises(DataError, match="inconsistent numbers of samples"):
        make().fit(X, y[1:])
