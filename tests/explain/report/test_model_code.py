"""What the page cannot walk says why; what it can has one tree for each of the model's."""

import warnings

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVR

import arboretum as arb
from arboretum.explain.report import model_code
from arboretum.explain.report.model_code import code_of_model
from tests.explain.report.report_models import FAMILIES, fitted, new_rows

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


def test_a_model_without_room_is_not_walked():
    code = code_of_model(fitted("forest"), room=600)
    assert code.steps is None
    assert "larger than 1.5 MB" in code.reason
    code.show(2_000)
    assert 0 < code.shown == len(code.trees) == len(code.sources) < 6  # walked lists and figures
    assert all("d" in tree for tree in code.trees)


def test_a_walked_model_may_have_figures_of_some_trees_only():
    code = code_of_model(fitted("forest"))
    whole = code_of_model(fitted("forest"))
    taken = whole.show(100_000)
    assert whole.shown == len(whole.trees) == 6
    assert code.show(taken // 2) <= taken // 2
    assert 0 < code.shown < 6
    assert len(code.trees) == 6
    assert [("d" in tree) for tree in code.trees] == [at < code.shown for at in range(6)]


def test_the_size_of_all_trees_is_taken_from_the_first(monkeypatch):
    """A forest that is much too large for a page is not written down to find that out."""
    model = arb.RandomForestRegressor(40, random_state=0).fit(*new_rows("CART numbers"))
    written = []
    one = model_code.code_of_tree
    monkeypatch.setattr(
        model_code, "code_of_tree", lambda *given, **k: written.append(1) or one(*given, **k)
    )
    assert code_of_model(model, room=25_000).steps is None
    assert len(written) == 8


def test_members_name_their_trees():
    code = code_of_model(fitted("voting"))
    assert {member for _, member in code.sources} == {"tree", "forest"}
