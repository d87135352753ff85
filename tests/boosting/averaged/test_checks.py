"""scikit-learn's own checks of boosted trees without tuning.

Two are left out: a row of weight 2 and the same row twice draw other folds and other rows, and a model mapped
from a file needs an open file for every array of every tree, more than systems allow.
"""

from __future__ import annotations

import warnings

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from arboretum import BoostedTreesClassifier, BoostedTreesRegressor

MODELS = [
    BoostedTreesClassifier(quality="fast"),
    BoostedTreesRegressor(quality="fast"),
    BoostedTreesRegressor(),
]


def _is_left_out(name, check):
    mapped = getattr(check, "keywords", {}).get("readonly_memmap", False)
    return "sample_weight_equivalence" in name or (name == "check_estimators_pickle" and mapped)


def _checks():
    for model in MODELS:
        for estimator, check in estimator_checks_generator(model):
            name = getattr(check, "func", check).__name__
            if not _is_left_out(name, check):
                yield pytest.param(estimator, check, id=f"{estimator!r}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(_checks()))
def test_it_is_an_estimator(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)
