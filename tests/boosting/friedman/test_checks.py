"""scikit-learn's own contract for gradient boosting: every check, no expected failures."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from arboretum import GradientBoostingClassifier, GradientBoostingRegressor

MODELS = [
    GradientBoostingClassifier(n_estimators=5),
    GradientBoostingRegressor(n_estimators=10, learning_rate=0.3),
    GradientBoostingClassifier(n_estimators=3, step="line_search", max_depth=None),
    GradientBoostingRegressor(
        n_estimators=5, learning_rate=0.5, loss="absolute_error", max_leaf_nodes=6
    ),
]


def _checks():
    for model in MODELS:
        for copy, check in estimator_checks_generator(model):
            name = getattr(check, "func", check).__name__
            yield pytest.param(copy, check, id=f"{model}-{name}".replace("\n", ""))


@pytest.mark.parametrize(("estimator", "check"), list(_checks()))
def test_scikit_learn_check(estimator, check):
    check(estimator)
