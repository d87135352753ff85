"""Trees in scikit-learn's form: the same leaves, the same answers; what it cannot hold is refused."""

import re

import numpy as np
import pytest
import sklearn.tree
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError

import arboretum as arb
from arboretum import to_dtreeviz, tree
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
    own = model.trees_[-1]
    leaves = model.apply(X)
    leaves = leaves if leaves.ndim == 1 else leaves.reshape(len(X), -1)[:, -1]
    assert (theirs.apply(X) == leaves).all()
    assert theirs.tree_.node_count == len(own)
    told = theirs.predict_proba(X) if hasattr(theirs, "classes_") else theirs.predict(X)[:, None]
    np.testing.assert_allclose(told, own.value[leaves, 0])
    assert theirs.get_depth() == own.max_depth


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


# ---------------------------------------------------------------------- scikit-learn's text and pictures
IRIS = load_iris(as_frame=True)
FRAME, SPECIES = IRIS.data.iloc[:, :3], IRIS.target  # without its ties of two columns
SHOWN = {
    "classes": (tree.DecisionTreeClassifier(max_depth=3), FRAME.to_numpy(), SPECIES),
    "entropy": (tree.DecisionTreeClassifier(criterion="entropy", max_depth=2), FRAME, SPECIES),
    "numbers": (tree.DecisionTreeRegressor(max_depth=3), *load_diabetes(return_X_y=True)),
    "absolute error": (
        tree.DecisionTreeRegressor(criterion="absolute_error", max_depth=2),
        *load_diabetes(return_X_y=True),
    ),
    "two targets": (
        tree.DecisionTreeClassifier(max_depth=2),
        FRAME,
        np.c_[SPECIES, SPECIES == 1],
    ),
}
_ID = re.compile(r"\b\d+(?= (\[|->))|(?<=-> )\d+")


def _theirs(model):
    """Return scikit-learn's class with the same parameters."""
    kind = getattr(sklearn.tree, type(model).__name__)
    return kind(criterion=model.criterion, max_depth=model.max_depth)


@pytest.mark.parametrize("case", SHOWN)
def test_text_and_dot_are_scikit_learns_for_trees_it_could_have_grown(case):
    model, X, y = SHOWN[case]
    model.fit(X, y)
    theirs = _theirs(model).fit(X, y)
    text = tree.export_text(model, decimals=3)
    assert text == sklearn.tree.export_text(theirs, decimals=3)
    dot = tree.export_graphviz(decision_tree=model, filled=True, proportion=True)
    peer = sklearn.tree.export_graphviz(theirs, filled=True, proportion=True)
    assert sorted(_ID.sub("#", dot).splitlines()) == sorted(_ID.sub("#", peer).splitlines())


def test_a_plot_returns_annotations():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    drawn = tree.plot_tree(tree.DecisionTreeClassifier(max_depth=2).fit(FRAME, SPECIES))
    theirs = sklearn.tree.DecisionTreeClassifier(max_depth=2).fit(FRAME, SPECIES)
    peer = sklearn.tree.plot_tree(theirs)
    assert [one.get_text() for one in drawn][:1] == [one.get_text() for one in peer][:1]
    pyplot.close("all")


def test_other_trees_and_models_are_shown_as_here():
    words = tree.DecisionTreeClassifier().fit([["a"], ["b"]], [0, 1])
    assert tree.export_text(words) == arb.export_text(words)
    forest = arb.RandomForestClassifier(3, random_state=0).fit([[0], [1]], [0, 1])
    assert tree.export_text(forest, tree=1) == arb.export_text(forest, tree=1)
    peer = sklearn.tree.DecisionTreeClassifier().fit([[0], [1]], [0, 1])
    assert tree.export_text(peer) == sklearn.tree.export_text(peer)
    with pytest.raises(NotFittedError):
        tree.export_text(tree.DecisionTreeClassifier())
    with pytest.raises(ValueError, match="decision_tree"):
        tree.export_text("a tree")
