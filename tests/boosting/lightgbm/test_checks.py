"""scikit-learn's own checks of LightGBM's API; none is expected to fail."""

from __future__ import annotations

import warnings

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from arboretum import LGBMClassifier, LGBMRegressor

MODELS = [
    LGBMClassifier(n_estimators=10),
    LGBMRegressor(n_estimators=10),
    LGBMClassifier(n_estimators=5, boosting_type="dart"),
    LGBMRegressor(n_estimators=5, boosting_type="rf", subsample=0.6, subsample_freq=1),
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
