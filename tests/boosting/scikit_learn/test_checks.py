"""scikit-learn's own checks of HistGradientBoosting*; none is expected to fail."""

from __future__ import annotations

import warnings

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from arboretum import HistGradientBoostingClassifier, HistGradientBoostingRegressor

MODELS = [
    HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5),
    HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5),
]


def _checks():
    for model in MODELS:
        for estimator, check in estimator_checks_generator(model):
            name = getattr(check, "func", check).__name__
            yield pytest.param(estimator, check, id=f"{estimator!r}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(_checks()))
def test_it_is_an_estimator(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)
