"""What the page cannot walk says why; what it can has one tree for each of the model's."""

import warnings

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVR

import arboretum as arb
from arboretum.explain.report import model_code
from arboretum.explain.report.model_code import code_of_model
from tests.explain.report.report_models import FAMILIES, fitted

X = np.arange(24.0).reshape(12, 2)
Y = np.array([0, 1] * 6)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_can_be_walked(name):
    code = code_of_model(fitted(name))
    assert code.steps is not None, code.reason
    assert len(code.trees) == len(code.sources)
    assert bool(code.trees) == (name != "rules")


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (lambda: arb.CARTRegressor().fit(X, X), "several targets"),
        (lambda: arb.BaggingClassifier(GaussianNB(), n_estimators=2).fit(X, Y), "GaussianNB"),
        (lambda: arb.BaggingRegressor(SVR(), n_estimators=2).fit(X, Y), "SVR"),
        (
            lambda: arb.StackingClassifier(
                [("a", arb.CARTClassifier())], cv=2, stack_method="predict"
            ).fit(X, Y),
            "class labels",
        ),
    ],
)
def test_what_cannot_be_walked_says_why(model, why):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = code_of_model(model())
    assert code.steps is None
    assert why in code.reason


def test_a_model_of_too_many_nodes_is_not_put_into_a_page(monkeypatch):
    monkeypatch.setattr(model_code, "_MOST_NODES", 10)
    code = code_of_model(fitted("forest"))
    assert code.steps is None
    assert "more than 10 nodes" in code.reason


def test_members_name_their_trees():
    code = code_of_model(fitted("voting"))
    assert {member for _, member in code.sources} == {"tree", "forest"}
