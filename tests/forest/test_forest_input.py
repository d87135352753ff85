"""Random forests and ExtraTrees: files, bad input, Ctrl-C."""

import pickle
import random
from contextlib import suppress

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_regression

import arboretum.forest.growing as forest_growing
from arboretum import (
    DataError,
    ExtraTreesRegressor,
    ModelFileError,
    ParameterError,
    RandomForestClassifier,
    RandomForestRegressor,
    load,
)
from arboretum.grow.depth_first.grower import DepthFirstGrower
from tests.forest.forest_cases import (
    ALL,
    CLASSIFIERS,
    answers,
    data,
    fitted,
    mixed_table,
    mutate,
    same_trees,
    saved,
)


# ---------------------------------------------------------------------- keeping
@pytest.mark.parametrize("kind", ALL)
def test_a_saved_forest_is_the_same_forest(kind):
    frame, y = mixed_table()
    y = y if kind in CLASSIFIERS else (y == "yes").astype(float)
    model = kind(6, random_state=0).fit(frame, y)
    again = load(saved(model))
    assert saved(again) == saved(model)
    assert_array_equal(answers(again, frame), answers(model, frame))
    assert_array_equal(again.feature_importances_, model.feature_importances_)
    assert again.get_params() == model.get_params()
    with_pickle = pickle.loads(pickle.dumps(model))
    same_trees(with_pickle, model)
    assert_array_equal(answers(with_pickle, frame), answers(model, frame))


def test_a_saved_forest_of_several_outputs():
    X, y, number = data()
    for model, target in (
        (RandomForestClassifier(3, random_state=0), np.column_stack([y, y > 0])),
        (RandomForestRegressor(3, random_state=0), np.column_stack([number, -number])),
    ):
        model.fit(X, target)
        assert_array_equal(load(saved(model)).predict(X), model.predict(X))


def test_changed_files_are_a_model_or_an_error():
    contents = [saved(fitted(kind, 2, max_depth=3)) for kind in ALL]
    X = data()[0][:10]
    outcomes = {"model": 0, "error": 0}
    for case in range(400):
        rng = random.Random(case)
        content = mutate(rng.choice(contents), rng)
        try:
            model = load(content)
        except ModelFileError:
            outcomes["error"] += 1
            continue
        outcomes["model"] += 1
        with suppress(DataError, ParameterError):  # a changed name or kind does not fit X
            model.predict(X)
    assert min(outcomes.values()) > 20


# ---------------------------------------------------------------------- bad input
X0, Y0, N0 = data(n=30)
ONE = {"n_estimators": 3, "random_state": 0}
BAD = [
    (
        RandomForestClassifier(0),
        Y0,
        ParameterError,
        "'n_estimators' parameter of RandomForestClassifier must be",
    ),
    (RandomForestClassifier(True), Y0, ParameterError, "n_estimators"),
    (RandomForestRegressor(2.5), N0, ParameterError, "n_estimators"),
    (RandomForestClassifier(bootstrap=False, oob_score=True), Y0, ParameterError, "bootstrap=True"),
    (ExtraTreesRegressor(oob_score=True), N0, ParameterError, "bootstrap=True"),
    (RandomForestClassifier(bootstrap=False, max_samples=5), Y0, ParameterError, "max_sample"),
    (RandomForestClassifier(max_samples=2**40), Y0, ParameterError, "max_samples"),
    (RandomForestClassifier(max_samples=0.0), Y0, ParameterError, "max_samples"),
    (RandomForestClassifier(voting="loud"), Y0, ParameterError, "'soft' or 'hard'"),
    (RandomForestClassifier(class_weight="even"), Y0, ParameterError, "class_weight"),
    (RandomForestClassifier(criterion="squared_error"), Y0, ParameterError, "criterion"),
    (RandomForestClassifier(oob_score="accuracy"), Y0, ParameterError, "a function of"),
    (RandomForestClassifier(n_jobs=0), Y0, ParameterError, "n_jobs"),
    (RandomForestRegressor(criterion="poisson"), N0, DataError, "poisson"),
    (RandomForestClassifier(), N0, DataError, ""),
    (RandomForestRegressor(monotonic_cst=[1]), N0, ParameterError, "monotonic_cst"),
]


@pytest.mark.parametrize(("model", "y", "error", "words"), BAD, ids=range(len(BAD)))
def test_bad_input_is_one_clear_error(model, y, error, words):
    with pytest.raises(error) as caught:
        model.fit(X0, y)
    assert words.lower() in str(caught.value).lower()
    assert not hasattr(model, "trees_")


def test_unknown_parameters_are_refused():
    with pytest.raises(ParameterError, match="did you mean 'n_estimators'"):
        RandomForestClassifier(n_estimator=3)


def test_no_row_out_of_bag_is_an_error():
    with pytest.raises(DataError, match="no row is out of bag"):
        RandomForestClassifier(1, oob_score=True, random_state=1).fit([[1.0]], [0])


def test_tiny_bags_lose_classes_but_not_their_columns():
    X, y, _ = data(classes=3)
    model = RandomForestClassifier(20, max_samples=2, random_state=0).fit(X, y)
    assert model.predict_proba(X).shape == (120, 3)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    lost = [tree for tree in model.trees_ if (tree.value[0, 0] == 0).any()]
    assert lost


def test_warm_start_does_not_shrink_or_change_tables():
    X, y, _ = data()
    model = RandomForestClassifier(5, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="must not get smaller"):
        model.set_params(n_estimators=3).fit(X, y)
    model.set_params(n_estimators=5)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        model.fit(X, y)
    with pytest.raises(DataError, match="warm_start"):
        model.set_params(n_estimators=8).fit(X[:, :3], y)


def test_a_warm_start_with_a_bad_parameter_keeps_the_trees():
    model = fitted(RandomForestClassifier, 5, warm_start=True)
    with pytest.raises(
        ParameterError, match="'n_estimators' parameter of RandomForestClassifier must be"
    ):
        model.set_params(n_estimators="many").fit(X0, Y0)
    assert len(model) == 5


def test_wrong_columns_at_predict():
    model = fitted(RandomForestClassifier)
    with pytest.raises(DataError, match="X has 2 features"):
        model.predict(np.zeros((3, 2)))


# ---------------------------------------------------------------------- Ctrl-C
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_keeps_the_trees_that_are_grown(monkeypatch, jobs):
    X, y, _ = data()
    whole = RandomForestClassifier(12, random_state=3).fit(X, y)
    real = DepthFirstGrower.grow_trees
    calls = []

    def interrupted(*args, **kwargs):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return real(*args, **kwargs)

    monkeypatch.setattr(forest_growing, "trees_of_a_call", lambda n_rows: 1)
    monkeypatch.setattr(DepthFirstGrower, "grow_trees", interrupted)
    model = RandomForestClassifier(12, random_state=3, n_jobs=jobs)
    with pytest.raises(KeyboardInterrupt, match="interrupted: it has the"):
        model.fit(X, y)
    assert 1 <= len(model) <= 6
    assert model.interrupted_ == (len(model), 12, "tree")
    for kept, tree in zip(model.trees_, whole.trees_, strict=False):
        assert_array_equal(kept.threshold, tree.threshold)
    assert model.predict(X).shape == (120,)


def test_an_interrupt_before_the_first_tree_is_an_interrupt(monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(DepthFirstGrower, "grow_trees", interrupted)
    model = RandomForestClassifier(3, n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X0, Y0)
    assert not hasattr(model, "trees_")


def test_an_interrupt_of_a_warm_start_keeps_the_trees_from_before(monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    model = RandomForestClassifier(4, warm_start=True, random_state=0).fit(X0, Y0)
    before = model.predict_proba(X0)
    monkeypatch.setattr(DepthFirstGrower, "grow_trees", interrupted)
    with pytest.raises(KeyboardInterrupt, match="has the 4 trees that were finished, of 9"):
        model.set_params(n_estimators=9).fit(X0, Y0)
    assert_array_equal(model.predict_proba(X0), before)


def test_a_bar_is_shown_when_asked(capsys):
    RandomForestRegressor(3, verbose=1).fit(*make_regression(30, 3, random_state=0))
    assert "3/3" in capsys.readouterr().out
    RandomForestRegressor(3).fit(*make_regression(30, 3, random_state=0))
    assert capsys.readouterr().out == ""


def test_a_warm_start_refuses_other_classes():
    X = np.random.default_rng(0).normal(size=(20, 3))
    y = np.arange(20) % 2
    model = RandomForestClassifier(2, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(DataError, match="classes"):
        model.set_params(n_estimators=4).fit(X, y + 5)
