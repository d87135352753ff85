"""scikit-learn's own contract: every check, for every estimator, in several configurations.

There are no expected failures. Checks that scikit-learn skips by itself (no array-API setting, no
``decision_function``) are skipped.
"""

import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import arboretum
from arboretum import CARTClassifier, CARTRegressor

RANDOM = {"splitter": "random", "max_features": "sqrt", "random_state": 0}

MODELS = [
    CARTClassifier(),
    CARTClassifier(criterion="entropy"),
    CARTClassifier(surrogates=5),
    CARTClassifier(**RANDOM),
    CARTClassifier(max_leaf_nodes=10),
    CARTClassifier(max_bins=16),
    CARTRegressor(),
    CARTRegressor(criterion="absolute_error"),
    CARTRegressor(surrogates=5),
    CARTRegressor(**RANDOM),
    CARTRegressor(max_leaf_nodes=10),
    CARTRegressor(max_bins=16),
]


@parametrize_with_checks(MODELS)
def test_scikit_learn_check(estimator, check):
    check(estimator)


# ---------------------------------------------------------------------- Poisson
# The tag `positive_only` makes scikit-learn's checks use targets ≥ 0, except in this one, which
# gives negative targets to any estimator of several outputs. Its counterpart follows below.
_IGNORES_THE_TAG = "check_regressor_multioutput"


def _check_name(check):
    return getattr(check, "func", check).__name__


def _poisson_checks():
    for model, check in estimator_checks_generator(CARTRegressor(criterion="poisson")):
        if _check_name(check) != _IGNORES_THE_TAG:
            yield pytest.param(model, check, id=_check_name(check))


@pytest.mark.parametrize(("estimator", "check"), list(_poisson_checks()))
def test_scikit_learn_check_poisson(estimator, check):
    check(estimator)


def test_poisson_with_several_outputs():
    X, y = make_regression(random_state=42, n_targets=5, n_samples=42, n_features=5)
    y -= y.min()
    model = CARTRegressor(criterion="poisson").fit(X, y)
    predicted = model.predict(X)
    assert predicted.shape == y.shape
    assert predicted.dtype == np.float64
    # one row per leaf, unless a side's targets sum to 0: that split is not allowed
    np.testing.assert_allclose(predicted.mean(axis=0), y.mean(axis=0))
    assert np.abs(predicted - y).mean() < np.abs(y - y.mean(axis=0)).mean() / 5


# ---------------------------------------------------------------------- tags and names
def test_aliases_are_the_same_classes():
    assert arboretum.DecisionTreeClassifier is CARTClassifier
    assert arboretum.DecisionTreeRegressor is CARTRegressor


@pytest.mark.parametrize(
    "model", [CARTClassifier(), CARTRegressor()], ids=lambda m: type(m).__name__
)
def test_tags_say_what_the_estimator_can_do(model):
    from sklearn.utils import get_tags

    tags = get_tags(model)
    assert tags.input_tags.sparse
    assert tags.input_tags.allow_nan
    assert tags.input_tags.string
    assert tags.input_tags.categorical
    assert tags.target_tags.multi_output
    assert not tags.target_tags.positive_only
    assert get_tags(CARTRegressor(criterion="poisson")).target_tags.positive_only
