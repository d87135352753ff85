"""One question, six answers."""

import numpy as np
import pytest
from sklearn.inspection import permutation_importance as theirs

import arboretum as arb
from arboretum import feature_importances
from arboretum.errors import ParameterError
from arboretum.explain.dependence.importances import KINDS
from tests.explain.report.report_models import FAMILIES, N_TRAIN, fitted, new_rows, table


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_answers_every_kind_or_says_why(name):
    model, (X, y) = fitted(name), new_rows(name)
    none = set()
    for kind in KINDS:
        try:
            found = model.feature_importances(kind, X, y)
        except arb.ArboretumError:
            none.add(kind)
            continue
        assert found.mean.shape == (5,)
        assert found.names == ("age", "hours", "job", "city", "owns")
        assert np.isfinite(found.mean).all()
        if kind in ("gain", "cover"):
            assert found.mean.sum() == pytest.approx(1.0)
    assert none.isdisjoint({"gain", "permutation"})


def test_counts_of_splits_are_counts():
    model = fitted("XGB")
    found = feature_importances(model, "split").mean
    asked = np.concatenate([tree.feature[~tree.is_leaf] for tree in model.trees_])
    assert found.tolist() == np.bincount(asked, minlength=5).tolist()
    cover = feature_importances(model, "cover").mean
    assert cover.argmax() == found.argmax()


def test_permutation_finds_what_scikit_learn_finds():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(600, 4))
    y = 3 * X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=600)
    model = arb.RandomForestRegressor(10, random_state=0).fit(X, y)
    mine = feature_importances(model, "permutation", X, y, n_repeats=20)
    other = theirs(model, X, y, n_repeats=20, random_state=0, scoring="neg_mean_squared_error")
    np.testing.assert_allclose(mine.mean, other.importances_mean, rtol=0.1, atol=0.02)
    assert (mine.standard_error[:2] > 0).all()
    again = feature_importances(model, "permutation", X, y, n_repeats=20)
    assert (again.mean == mine.mean).all()


def test_out_of_bag_needs_bags_and_the_training_table():
    X, _, three, _ = table()
    found = feature_importances(fitted("forest"), "oob_permutation", X[:N_TRAIN], three[:N_TRAIN])
    assert "out of bag" in found.measure
    with pytest.raises(ParameterError, match="draws no bags"):
        feature_importances(fitted("XGB"), "oob_permutation", *new_rows("XGB"))


def test_mean_shap_values():
    model, (X, _) = fitted("XGB"), new_rows("XGB")
    found = feature_importances(model, "shap", X)
    np.testing.assert_allclose(found.mean, np.abs(model.shap_values(X)).mean(axis=0))
    rows = np.random.default_rng(0).normal(size=(60, 3))
    forest = arb.RandomForestClassifier(2, random_state=0).fit(rows, (rows[:, :2] > 0).astype(int))
    found = feature_importances(
        forest, "shap", rows
    )  # two targets of two classes that mirror each other
    np.testing.assert_allclose(
        found.mean, np.abs(forest.shap_values(rows))[..., 1].sum(axis=2).mean(axis=0)
    )


@pytest.mark.parametrize("model", [arb.CARTClassifier(max_depth=3), arb.RandomForestClassifier(5)])
def test_two_classes_are_counted_once(model):
    X, _, three, _ = table()
    two = three == three[0]
    found = feature_importances(model.fit(X, two), "shap", X)
    values = np.abs(model.shap_values(X))
    np.testing.assert_allclose(values[:, :, 0], values[:, :, 1], atol=1e-12)
    np.testing.assert_allclose(found.mean, values[:, :, 1].mean(axis=0))
    assert "nan" not in str(found) + found._repr_html_()  # one measurement has no standard error


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"kind": "weight"}, "must be one of"),
        ({"kind": "permutation"}, "give X and y"),
        ({"kind": "shap"}, "give X"),
        ({"kind": "permutation", "X": 0, "y": 0, "n_repeats": 0}, "n_repeats"),
    ],
)
def test_bad_arguments_say_what_to_do(arguments, says):
    with pytest.raises(ParameterError, match=says):
        feature_importances(fitted("XGB"), **arguments)
