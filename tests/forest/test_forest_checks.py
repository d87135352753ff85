"""scikit-learn's own contract for forests, bags and extra trees: every check.

One check asks for the impossible where rows are drawn by chance: that a row of weight 2 and the same
row twice give *identical* models. Bags of 15 rows and of 30 rows are different draws, so those checks
run where every estimator sees every row; what weights mean for bags is tested in test_forest.py.
"""

import pytest
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator

from arboretum import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

_IDENTICAL = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
DRAWN = [
    RandomForestClassifier(5),
    RandomForestClassifier(5, voting="hard", keep_leaves=True),
    RandomForestRegressor(5),
    BaggingClassifier(n_estimators=5),
    BaggingClassifier(DecisionTreeClassifier(), n_estimators=3),
    BaggingRegressor(n_estimators=5),
    BaggingRegressor(Ridge(), n_estimators=3),
    ExtraTreesClassifier(5, bootstrap=True),
]
ALL_ROWS = [
    RandomForestClassifier(5, bootstrap=False),
    RandomForestRegressor(5, bootstrap=False),
    ExtraTreesClassifier(5),
    ExtraTreesRegressor(5),
    ExtraTreeClassifier(),
    ExtraTreeRegressor(),
    BaggingClassifier(n_estimators=5, bootstrap=False),
    BaggingRegressor(n_estimators=5, bootstrap=False, max_features=0.7),
]


def _name(check):
    return getattr(check, "func", check).__name__


def _checks():
    for models, skipped in ((DRAWN, _IDENTICAL), (ALL_ROWS, ())):
        for model in models:
            for copy, check in estimator_checks_generator(model):
                if _name(check) not in skipped:
                    yield pytest.param(copy, check, id=f"{model}-{_name(check)}".replace("\n", ""))


@pytest.mark.parametrize(("estimator", "check"), list(_checks()))
def test_scikit_learn_check(estimator, check):
    check(estimator)
