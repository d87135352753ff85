"""Stacking and voting: scikit-learn's answers, our defaults, dataframes, files, bad input."""

import io
import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import ensemble
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.model_selection import cross_val_score
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

from arboretum import (
    AdaBoostClassifier,
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    DataError,
    GradientBoostingRegressor,
    ModelFileError,
    ParameterError,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
    load,
)
from arboretum.combine.linear import final_from_state, final_to_state
from tests.boosting.adaboost.ada_cases import mixed, numbers, saved

CLASSIFIERS = [
    ("cart", CARTClassifier(max_depth=2)),
    ("forest", RandomForestClassifier(5, random_state=0)),
]
REGRESSORS = [
    ("cart", CARTRegressor(max_depth=2)),
    ("forest", RandomForestRegressor(5, random_state=0)),
]
SMALL_FINAL = RandomForestClassifier(5, max_depth=3, random_state=0)
ALL = [
    StackingClassifier(CLASSIFIERS, SMALL_FINAL, cv=3),
    StackingRegressor(REGRESSORS, CARTRegressor(max_depth=3), cv=3),
    VotingClassifier(CLASSIFIERS),
    VotingRegressor(REGRESSORS),
]


def target_of(model, y, X):
    return y if model.__class__.__name__.endswith("Classifier") else X[:, 0] + X[:, 1] ** 2


# ---------------------------------------------------------------------- scikit-learn's answers
@pytest.mark.parametrize("model", ALL, ids=lambda m: type(m).__name__)
def test_answers_are_scikit_learns(model):
    X, y = numbers(80, 4, 3)
    y = target_of(model, y, X)
    theirs = getattr(ensemble, type(model).__name__)
    ours = ("categorical_features", "ordinal_features", "unseen")
    known = {k: v for k, v in model.get_params(deep=False).items() if k not in ours}
    same = theirs(**known).fit(X, y)
    assert_array_equal(clone(model).fit(X, y).predict(X), same.predict(X))
    assert isinstance(model, theirs)


def test_defaults_are_models_of_this_library():
    X, y = load_wine(return_X_y=True)
    model = StackingClassifier().fit(X, y)
    assert [type(e).__module__.split(".")[0] for e in model.estimators_] == ["arboretum"] * 3
    assert type(model.final_estimator_) is LogisticRegression
    assert model.estimators is None
    assert model.final_estimator is None
    assert model.score(X, y) > 0.95
    vote = VotingClassifier(weights=[1, 1, 3]).fit(X, y)
    assert vote.score(X, y) > 0.95
    assert not hasattr(vote, "predict_proba")  # it counts, as scikit-learn's
    X, y = load_diabetes(return_X_y=True)
    assert type(StackingRegressor().fit(X, y).final_estimator_) is RidgeCV
    for kind in (StackingRegressor, VotingRegressor):
        assert kind().fit(X, y).score(X, y) > 0.5
    assert VotingRegressor(weights=[1, 0, 0]).fit(X, y).predict(X[:1]).shape == (1,)


def test_the_default_stack_is_about_as_good_as_its_best_model():
    X, y = load_breast_cancer(return_X_y=True)
    both = cross_val_score(StackingClassifier(), X, y, cv=3).mean()
    best = max(
        cross_val_score(model, X, y, cv=3).mean() for _, model in StackingClassifier._models()
    )
    assert both > best - 0.01


# ---------------------------------------------------------------------- tables
@pytest.mark.parametrize("kind", [StackingClassifier, VotingClassifier])
def test_frames_with_words_and_missing_values(kind):
    frame, y = mixed()
    models = [*CLASSIFIERS, ("c45", C45Classifier()), ("ada", AdaBoostClassifier(n_estimators=5))]
    model = kind(models).fit(frame, y)
    assert model.score(frame, y) > 0.75
    assert_array_equal(model.predict(frame[["color", "age", "size"]]), model.predict(frame))
    assert model.schema_.names == ("size", "color", "age")
    assert list(model.feature_names_in_) == ["size", "color", "age"]


@pytest.mark.parametrize("module", ["polars", "pyarrow"])
def test_frames_of_other_libraries(module):
    frame, y = mixed()
    library = pytest.importorskip(module)
    other = library.from_pandas(frame) if module == "polars" else library.Table.from_pandas(frame)
    model = StackingClassifier(CLASSIFIERS, SMALL_FINAL, cv=3).fit(other, y)
    assert_array_equal(model.predict(other), StackingClassifier(CLASSIFIERS, SMALL_FINAL, cv=3)
                       .fit(frame, y).predict(frame))  # fmt: skip


def test_a_file_is_a_table(tmp_path):
    frame, y = mixed()
    frame.to_csv(tmp_path / "rows.csv", index=False)
    path = tmp_path / "rows.csv"
    model = StackingClassifier(CLASSIFIERS, SMALL_FINAL, cv=3).fit(path, y)
    assert_array_equal(model.predict(path), model.predict(frame))


def test_the_final_model_may_see_the_table():
    frame, y = mixed()
    model = StackingClassifier(CLASSIFIERS, SMALL_FINAL, cv=3, passthrough=True).fit(frame, y)
    assert model.final_estimator_.n_features_in_ == 2 + 3
    assert model.score(frame, y) > 0.7


def test_weights_reach_every_model():
    X, y = numbers(80, 3)
    w = np.random.default_rng(0).integers(1, 4, 80).astype(float)
    for model in ALL:
        z = target_of(model, y, X)
        one, other = clone(model).fit(X, z, sample_weight=w), clone(model).fit(X, z)
        assert not np.array_equal(one.transform(X), other.transform(X))
        direct = clone(one.estimators[0][1]).fit(X, z, sample_weight=w)
        assert_array_equal(one.estimators_[0].tree_.threshold, direct.tree_.threshold)


def test_prefit_and_dropped_models():
    X, y = numbers(80, 3)
    ready = [(name, clone(model).fit(X[:40], y[:40])) for name, model in CLASSIFIERS]
    model = StackingClassifier(ready, SMALL_FINAL, cv="prefit").fit(X[40:], y[40:])
    assert model.estimators_[0] is ready[0][1]
    model = VotingClassifier([*CLASSIFIERS, ("gone", "drop")], weights=[1, 1, 5]).fit(X, y)
    assert len(model) == 2
    assert_array_equal(load(saved(model)).predict(X), model.predict(X))


# ---------------------------------------------------------------------- keeping
@pytest.mark.parametrize("model", ALL, ids=lambda m: type(m).__name__)
def test_a_saved_model_is_the_same_model(model):
    X, y = numbers(80, 4, 3)
    y = target_of(model, y, X)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = clone(model).fit(frame, y)
    for again in (load(saved(model)), pickle.loads(pickle.dumps(model))):
        assert saved(again) == saved(model)
        assert_array_equal(again.predict(frame), model.predict(frame))
        assert_allclose(again.transform(frame), model.transform(frame))
        assert repr(again.get_params()) == repr(model.get_params())
        assert again.n_features_in_ == 4
        assert again.named_estimators_["cart"].get_depth() == 2


def test_words_to_predict_survive_a_file():
    frame, y = mixed()
    for model in (StackingClassifier(CLASSIFIERS), VotingClassifier(CLASSIFIERS, voting="soft")):
        model.fit(frame, y)
        again = load(saved(model))
        assert_array_equal(again.predict(frame), model.predict(frame))
        assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
        assert again.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    ("make", "data"),
    [(StackingClassifier, load_wine), (StackingClassifier, load_breast_cancer),
     (StackingRegressor, load_diabetes)],
)  # fmt: skip
def test_the_default_stack_can_be_saved(make, data):
    X, y = data(return_X_y=True)
    model = make(CLASSIFIERS[:1] if make is StackingClassifier else REGRESSORS[:1]).fit(X, y)
    again = load(saved(model))
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, method):
            assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))
    final = vars(model.final_estimator_)
    assert vars(again.final_estimator_).keys() == final.keys()


def test_damaged_coefficients_are_refused():
    X, y = load_wine(return_X_y=True)
    model = StackingClassifier(CLASSIFIERS[:1]).fit(X, y)
    good = final_to_state(model.final_estimator_)["linear"]
    for change in (
        {"coef_": good["coef_"][:2]},
        {"coef_": np.array("a")},
        {"intercept_": good["intercept_"][:1]},
        {"intercept_": good["intercept_"] * np.nan},
        {"more": np.zeros(1)},
    ):
        with pytest.raises(ModelFileError):
            final_from_state(LogisticRegression(), {"linear": {**good, **change}})
    with pytest.raises(ModelFileError):
        final_from_state(LogisticRegression(C=2.0), {"linear": good})
    with pytest.raises(ParameterError, match="not an estimator of arboretum"):
        final_to_state(LogisticRegression(C=2.0).fit(X, y))


def test_foreign_models_are_refused_by_name():
    X, y = numbers(60, 3)
    for model, name in (
        (VotingClassifier([("lr", LogisticRegression())]), "LogisticRegression"),
        (StackingClassifier(CLASSIFIERS, LogisticRegression()), "LogisticRegression"),
        (StackingRegressor([("lr", LinearRegression())]), "LinearRegression"),
    ):
        model.fit(X, y)
        with pytest.raises(
            ParameterError, match=f"is a {name}, which is not an estimator of arboretum"
        ):
            model.save(io.BytesIO())
        assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": []}, "its models are not those of its parameters"),
        ({"methods": ["predict"]}, "the methods its models are called by"),
        ({"methods": ["predict", "fit"]}, "the methods its models are called by"),
        ({"classes": np.zeros((2, 2))}, "not a list of labels"),
        ({"n_rows": 0}, "n_rows must be an int"),
    ],
)
def test_a_broken_file_is_one_clear_error(change, message):
    X, y = numbers(60, 3)
    model = clone(ALL[0]).fit(X, y)
    state = {**model._get_fitted_state(), **change}
    with pytest.raises(ModelFileError, match=message):
        StackingClassifier._from_fitted_state(model.get_params(deep=False), model.schema_, state)


# ---------------------------------------------------------------------- bad input
BAD = [
    (StackingClassifier, {"estimators": []}, "must be None or a list of .name, estimator. pairs"),
    (StackingClassifier, {"estimators": [CARTClassifier()]}, "a list of .name, estimator. pairs"),
    (
        StackingClassifier,
        {"final_estimator": CARTClassifier},
        "'final_estimator' parameter of StackingClassifier",
    ),
    (
        StackingClassifier,
        {"stack_method": "guess"},
        "'stack_method' parameter of StackingClassifier must be 'auto'",
    ),
    (
        StackingRegressor,
        {"passthrough": "yes"},
        "'passthrough' parameter of StackingRegressor must be True or False",
    ),
    (
        VotingClassifier,
        {"voting": "loud"},
        "'voting' parameter of VotingClassifier must be 'hard' or 'soft'",
    ),
    (VotingClassifier, {"estimators": CLASSIFIERS, "weights": [1]}, "weights"),
    (
        VotingRegressor,
        {"weights": 3},
        "'weights' parameter of VotingRegressor must be None or a list of numbers",
    ),
    (VotingClassifier, {"estimators": [("a", "drop")]}, "drop"),
    (VotingClassifier, {"estimators": [("a", CARTRegressor())]}, "classifier"),
]


@pytest.mark.parametrize(("kind", "options", "message"), BAD)
def test_bad_input_is_one_clear_error(kind, options, message):
    X, y = numbers(60, 3)
    with pytest.raises(ValueError, match=message):
        kind(**options).fit(X, y)


def test_unknown_parameters_are_refused_with_a_hint():
    with pytest.raises(ParameterError, match="did you mean 'passthrough'"):
        StackingClassifier(passthru=True)
    model = VotingClassifier(CLASSIFIERS).set_params(cart__max_depth=1, forest="drop")
    assert model.estimators[0][1].max_depth == 1
    assert model.estimators[1][1] == "drop"
    CLASSIFIERS[0][1].max_depth = 2


# Weights equal to repetitions ask for models without chance; folds of 15 rows and of 30 are different folds.
TREES = [("deep", CARTClassifier()), ("flat", CARTClassifier(max_depth=2))]
CHECKED = [
    *ALL[:2],
    VotingClassifier(TREES),
    VotingClassifier(TREES, voting="hard"),
    VotingRegressor([("deep", CARTRegressor()), ("flat", CARTRegressor(max_depth=2))]),
]


def _checks():
    for number, model in enumerate(CHECKED):
        for copy, check in estimator_checks_generator(model):
            name = getattr(check, "func", check).__name__
            if "Stacking" in type(model).__name__ and "sample_weight_equivalence" in name:
                continue
            yield pytest.param(copy, check, id=f"{type(model).__name__}{number}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(_checks()))
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "kind", [StackingClassifier, StackingRegressor, VotingClassifier, VotingRegressor]
)
def test_tags_are_those_of_the_models_given_or_not(kind):
    tags = get_tags(kind()).input_tags
    assert (tags.sparse, tags.allow_nan) == (True, True)
    numbers_only = get_tags(kind([("linear", LinearRegression())])).input_tags
    assert not numbers_only.allow_nan
    get_tags(kind("nonsense"))  # to be told by fit


@pytest.mark.parametrize("name", ["check_estimators_nan_inf", "check_estimator_sparse_tag"])
def test_checks_of_the_tags_pass_with_the_default_models(name):
    for model, check in estimator_checks_generator(VotingClassifier()):
        if getattr(check, "func", check).__name__ == name:
            check(model)


def test_an_interrupted_second_fit_leaves_the_first_one_whole():
    X, y = numbers(40, 3, 2)

    class Stop(CARTClassifier):
        def fit(self, X, y, sample_weight=None):
            raise KeyboardInterrupt

    for model in (
        VotingClassifier(CLASSIFIERS),
        StackingClassifier(CLASSIFIERS, SMALL_FINAL, cv=2),
    ):
        old = model.fit(X, y).predict(X)
        with pytest.raises(KeyboardInterrupt):
            model.set_params(estimators=[("a", Stop())]).fit(X, y)
        assert_array_equal(model.predict(X), old)


# ---------------------------------------------------------------------- as a newcomer meets them
@pytest.mark.parametrize("kind", [StackingClassifier, StackingRegressor])
def test_a_stack_before_its_fit_says_so(kind):
    assert hasattr(kind(), "predict")
    assert hasattr(kind(), "predict_proba") == (kind is StackingClassifier)
    assert not hasattr(StackingClassifier(final_estimator=LinearSVC()), "predict_proba")
    for name in ("predict", "predict_proba"):
        if hasattr(kind(), name):
            with pytest.raises(NotFittedError, match="not fitted yet"):
                getattr(kind(), name)([[1.0]])


@pytest.mark.parametrize("kind", [StackingClassifier, VotingClassifier, BaggingClassifier])
def test_lazy_frames_are_read(kind):
    polars = pytest.importorskip("polars")
    X, y = numbers(40, 3, 2)
    frame = polars.DataFrame({f"c{j}": X[:, j] for j in range(3)})
    how = {"cv": 2, "final_estimator": SMALL_FINAL} if kind is StackingClassifier else {}
    how |= {"n_estimators": 3, "random_state": 0} if kind is BaggingClassifier else {}
    models = [] if kind is BaggingClassifier else [CLASSIFIERS]
    answers = [kind(*models, **how).fit(table, y).predict(table) for table in (frame, frame.lazy())]
    assert answers[0].tolist() == answers[1].tolist()


@pytest.mark.parametrize("kind", [StackingClassifier, VotingClassifier])
def test_what_is_wrong_with_a_column_is_said_once(kind):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"id": [f"k{i}" for i in range(60)], "x": rng.normal(size=60)})
    y = (rng.normal(size=60) > 0).astype(int)
    model = kind(CLASSIFIERS, **({"cv": 3} if kind is StackingClassifier else {}))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        model.fit(X, y)
        assert [one.category.__name__ for one in told] == ["SuspiciousColumnWarning"]
        model.predict(X.assign(id="new"))
    assert len(told) == 2
    assert "unseen at fit: 'new'" in str(told[1].message)
    assert {Path(one.filename).name for one in told} == {"test_stacking.py"}


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (StackingClassifier(), [0], "into 5 folds, its largest class has 1 of"),
        (
            StackingClassifier(),
            [0, 1],
            "its largest class has 1 of n_samples=2: give it more rows, or fewer folds",
        ),
        (StackingClassifier(), [0, 1, 2, 0, 1, 2], "its largest class has 2 of"),
        (StackingClassifier(cv=3), [0, 0, 1, 1], "into 3 folds, its largest class has 2 of"),
        (StackingClassifier(), [0.5, 1.25, 3.0], "Unknown label type: continuous"),
        (StackingClassifier(), np.arange(1.0, 41) * 1e150, "too large for a class"),
        (StackingRegressor(), [1.0, 2.0, 3.0], "into 5 folds, X has 3 of"),
    ],
)
def test_too_few_rows_for_the_folds(model, y, message):
    X = np.random.default_rng(0).normal(size=(len(y), 3))
    with pytest.raises(DataError, match=message):
        model.fit(X, y)


@pytest.mark.parametrize("words", [False, True])
def test_a_stack_that_passes_the_table_through_can_be_explained(words, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    table = pd.DataFrame(X, columns=list("abc"))
    if words:
        table["a"] = np.where(X[:, 0] > 0, "up", "down")
    models = [
        ("cart", CARTRegressor(max_depth=2)),
        ("gbm", GradientBoostingRegressor(n_estimators=3)),
    ]
    stack = StackingRegressor(models, CARTRegressor(max_depth=3), passthrough=True, cv=2)
    stack.fit(table, X[:, 0] + X[:, 1])
    found = stack.partial_dependence(table, ["b"], grid_resolution=3)
    changed = table.assign(b=found.grid_values[0][0])
    np.testing.assert_allclose(found.average[0][0], stack.predict(changed).mean())
    assert stack.report(table, X[:, 0], tmp_path / "page.html") is not None
