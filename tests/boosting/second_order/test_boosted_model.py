"""What all boosted models answer, by whatever API they were made: margins, and answers round by round."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from arboretum import (
    LGBMClassifier,
    LGBMRanker,
    LGBMRegressor,
    XGBClassifier,
    XGBRanker,
    XGBRegressor,
)

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
