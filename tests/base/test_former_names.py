"""Names that scikit-learn has changed: the error gives today's name."""

import pytest

import arboretum as arb

X, Y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("make", "today"),
    [
        (lambda: arb.GradientBoostingRegressor(loss="ls"), "'squared_error' today"),
        (lambda: arb.GradientBoostingRegressor(loss="lad"), "'absolute_error' today"),
        (lambda: arb.GradientBoostingClassifier(loss="deviance"), "'log_loss' today"),
        (lambda: arb.CARTRegressor(criterion="mse"), "'squared_error' today"),
        (lambda: arb.CARTRegressor(criterion="mae"), "'absolute_error' today"),
        (lambda: arb.CARTClassifier(presort=True), "leave it out"),
        (lambda: arb.CARTClassifier(min_impurity_split=0.1), "'min_impurity_decrease'"),
        (lambda: arb.GradientBoostingClassifier(min_impurity_split=0.1), "'min_impurity_decrease'"),
        (lambda: arb.AdaBoostClassifier(base_estimator=arb.CARTClassifier()), "'estimator' today"),
        (lambda: arb.BaggingClassifier(base_estimator=arb.CARTClassifier()), "'estimator' today"),
        (
            lambda: arb.CARTClassifier(max_features="auto"),
            "'sqrt' for classifiers and None for regressors",
        ),
        (lambda: arb.RandomForestClassifier(max_features="auto"), "'sqrt' for classifiers"),
        (lambda: arb.CARTClassifier().set_params(presort=True), "leave it out"),
    ],
)
def test_the_error_names_today_s(make, today):
    with pytest.raises(arb.ParameterError, match=today):
        make().fit(X, Y)
