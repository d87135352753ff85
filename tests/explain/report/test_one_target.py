"""A page of a model of several targets shows one of them at a time, with the answers that the model gives."""

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsRegressor

import arboretum as arb
from arboretum.explain.report.inputs import one_target, targets_shown

RNG = np.random.RandomState(0)
X = pd.DataFrame(RNG.normal(size=(120, 3)), columns=list("abc"))
Y = pd.DataFrame({"weight": 2 * X["a"] + RNG.normal(size=120), "height": X["b"] - X["a"]})
LABELS = np.column_stack(
    [np.where(X["a"] > 0, "hi", "lo"), np.digitize(X["b"], [-1, 0, 1]).astype(str)]
)


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
@pytest.mark.parametrize(
    ("model", "y"),
    [
        (arb.CARTRegressor(max_depth=4), Y),
        (arb.RandomForestRegressor(4, oob_score=True, random_state=0), Y),
        (arb.ExtraTreesClassifier(4, random_state=0), LABELS),
        (arb.CARTClassifier(max_depth=3), LABELS),
        (
            arb.BaggingRegressor(
                arb.CARTRegressor(max_depth=4), 3, max_features=0.7, random_state=0
            ),
            Y,
        ),
    ],
)
@pytest.mark.parametrize("output", [None, 1])
def test_it_answers_as_the_whole_model(model, y, output):
    model.fit(X, y)
    single = one_target(model, output)
    np.testing.assert_array_equal(single.predict(X), np.asarray(model.predict(X))[:, output or 0])
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(single.predict_proba(X), model.predict_proba(X)[output or 0])
    page = model.report(X, y, output=output, train=(X, y))
    assert f'"of_targets":[{output or 0},2]' in page.html
    names = ("weight", "height") if y is Y else ("y, target 1", "y, target 2")
    assert f'"target":"{names[output or 0]}"' in page.html
    assert f'"target":"{names[1]}"' in page.html
    assert (f'"target":"{names[0]}"' in page.html) == (output is None)
    assert np.asarray(model.predict(X)).shape == (120, 2)  # the model itself is as it was


def test_what_cannot_be_is_said():
    model = arb.CARTRegressor().fit(X, Y)
    with pytest.raises(arb.ParameterError, match="0 to 1, got 2"):
        model.report(X, Y, output=2)
    with pytest.raises(arb.DataError, match="give a column for each"):
        model.report(X, Y["weight"])
    with pytest.raises(arb.ParameterError, match="by members"):
        arb.BaggingRegressor(KNeighborsRegressor(), n_estimators=2).fit(X, Y).report(X, Y)


def test_too_large_a_model_shows_its_first_target(monkeypatch):
    model = arb.CARTRegressor(max_depth=2).fit(X, Y)
    assert targets_shown(model, None) == [0, 1]
    assert targets_shown(model, 1) == [1]
    monkeypatch.setattr("arboretum.explain.report.inputs._MOST_NODES", 10)
    assert targets_shown(model, None) == [0]
