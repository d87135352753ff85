"""Trees in scikit-learn's form: the same leaves, the same answers; what it cannot hold is refused."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

import arboretum as arb
from arboretum import to_dtreeviz
from arboretum.errors import ParameterError
from tests.explain.report.report_models import fitted

MODELS = [
    (lambda: arb.CARTClassifier(max_depth=4), load_iris),
    (lambda: arb.CARTRegressor(max_depth=4), load_diabetes),
    (lambda: arb.RandomForestClassifier(3, random_state=0), load_iris),
    (lambda: arb.XGBRegressor(n_estimators=3, max_depth=3), load_diabetes),
]


@pytest.mark.parametrize(("make", "load"), MODELS)
def test_rows_reach_the_same_leaves(make, load):
    X, y = load(return_X_y=True)
    X = X.astype(np.float32).astype(np.float64)  # scikit-learn looks at no more than that
    model = make().fit(X, y)
    theirs = model.to_dtreeviz(tree=-1)
    tree = model.trees_[-1]
    leaves = model.apply(X)
    leaves = leaves if leaves.ndim == 1 else leaves.reshape(len(X), -1)[:, -1]
    assert (theirs.apply(X) == leaves).all()
    assert theirs.tree_.node_count == len(tree)
    told = theirs.predict_proba(X) if hasattr(theirs, "classes_") else theirs.predict(X)[:, None]
    np.testing.assert_allclose(told, tree.value[leaves, 0])
    assert theirs.get_depth() == tree.max_depth


def test_missing_values_go_the_same_way():
    X = np.array([[0.0], [1.0], [np.nan], [3.0], [np.nan], [5.0]])
    model = arb.CARTRegressor(max_depth=2).fit(X, [0.0, 0, 7, 1, 7, 1])
    try:
        theirs = to_dtreeviz(model)
    except ParameterError as problem:
        assert "missing" in str(problem)  # noqa: PT017
    else:
        np.testing.assert_allclose(theirs.predict(X), model.predict(X))


def test_dtreeviz_reads_it_if_it_is_installed():
    dtreeviz = pytest.importorskip("dtreeviz")
    X, y = load_iris(return_X_y=True)
    model = arb.CARTClassifier(max_depth=2).fit(X, y)
    names = [f"x{f}" for f in range(4)]
    shown = dtreeviz.model(
        model.to_dtreeviz(), X, y, feature_names=names, target_name="y", class_names=["a", "b", "c"]
    )
    assert shown.shadow_tree.nnodes() == len(model.tree_)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (lambda: fitted("XGB"), "only thresholds.*column"),
        (
            lambda: arb.CARTClassifier(surrogates=1).fit(
                [[0, 1], [1, 0], [2, 2], [3, 3]], [0, 0, 1, 1]
            ),
            "surrogates",
        ),
        (lambda: fitted("rules"), "list of rules"),
        (lambda: arb.CARTClassifier(), "(?i)fit"),
    ],
)
def test_what_it_cannot_hold_is_refused(model, says):
    with pytest.raises((ParameterError, ValueError), match=says):
        to_dtreeviz(model())
