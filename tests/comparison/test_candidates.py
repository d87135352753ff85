"""Which models take part: all of a task, cheap ones first, the slowest only by name."""

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor

import arboretum
from arboretum import CARTClassifier, RandomForestRegressor
from arboretum.comparison.baselines import LinearClassifier, LinearRegressor
from arboretum.comparison.candidates import candidates
from arboretum.registry import ESTIMATORS
from tests.comparison.comparison_tables import table


@pytest.mark.parametrize(
    ("task", "is_of_task"), [("classification", is_classifier), ("regression", is_regressor)]
)
def test_every_estimator_of_the_task_takes_part(task, is_of_task):
    found = candidates(task, None, 100)
    assert all(is_of_task(one.estimator) for one in found)
    kinds = {type(one.estimator) for one in found if one.kind == "model"}
    ending = "Classifier" if task == "classification" else "Regressor"
    assert {getattr(arboretum, name) for name in ESTIMATORS if name.endswith(ending)} <= kinds
    assert not any(kind.__name__.endswith("Ranker") for kind in kinds)


def test_the_slowest_need_their_name_above_ten_thousand_rows():
    left = {one.name for one in candidates("classification", None, 20_000) if one.left_out}
    assert left == {"C45Rules", "Stacking", "Voting"}
    by_name = candidates("classification", ["Voting"], 20_000)[-1]
    assert by_name.name == "Voting"
    assert not by_name.left_out


@pytest.mark.parametrize("name", ["CART", "cart", "CARTClassifier", "DecisionTreeClassifier"])
def test_a_model_has_several_names(name):
    assert candidates("classification", [name], 100)[-1].name == "CART"


def test_settings_of_the_caller_win_over_those_of_the_comparison():
    found = candidates("regression", [RandomForestRegressor(3, random_state=7)], 100)[-1]
    model = found.fresh(2, 0)
    assert (model.random_state, model.n_jobs, model.n_estimators) == (7, 2, 3)
    assert found.name == "RandomForest"
    assert found.kind == "other"


def test_names_of_ones_own():
    found = candidates(
        "classification", {"deep": CARTClassifier(), "flat": CARTClassifier(max_depth=1)}, 50
    )
    assert [one.name for one in found if one.kind == "other"] == ["deep", "flat"]


def test_linear_baselines_take_words_gaps_and_unseen_categories():
    X, classes, numbers = table()
    new = X[:5].assign(job="pilot", hours=np.nan)
    model = LinearClassifier().fit(X, classes)
    assert model.score(X, classes) > 0.75
    assert np.isfinite(model.predict_proba(new)).all()
    model = LinearRegressor().fit(X, numbers)
    assert model.score(X, numbers) > 0.4
    assert np.isfinite(model.predict(new)).all()
