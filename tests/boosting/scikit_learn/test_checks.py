"""scikit-learn's own checks of HistGradientBoosting*; those that its own classes fail are left out.

`min_samples_leaf` counts rows, so a row of weight 2 is not two rows.
"""

from __future__ import annotations

import warnings

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from arboretum import HistGradientBoostingClassifier, HistGradientBoostingRegressor

MODELS = [
    HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5),
    HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5),
]
THEIRS = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}


def _checks():
    for model in MODELS:
        for estimator, check in estimator_checks_generator(model):
            name = getattr(check, "func", check).__name__
            if name in THEIRS:
                continue
            yield pytest.param(estimator, check, id=f"{estimator!r}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(_checks()))
def test_it_is_an_estimator(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)
