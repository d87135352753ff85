"""HistGradientBoosting*: parameters, early stopping, rounds that go on, predictions, files."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import ensemble
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import arboretum
from arboretum import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboretum.errors import DataError, ParameterError
from tests.boosting.scikit_learn.hist_cases import (
    numbers,
    saved,
    three_classes,
    two_classes,
    with_categories,
)

BOTH = [(HistGradientBoostingClassifier, two_classes), (HistGradientBoostingRegressor, numbers)]


@pytest.mark.parametrize(
    "name", ["HistGradientBoostingClassifier", "HistGradientBoostingRegressor"]
)
def test_parameters_are_scikit_learns_and_a_few_more(name):
    ours, theirs = (inspect.signature(getattr(m, name)).parameters for m in (arboretum, ensemble))
    own = {"n_jobs", "ordinal_features", "unseen"}
    assert {k: v.default for k, v in ours.items() if k not in own} == {
        k: v.default for k, v in theirs.items()
    }
    fit = inspect.signature(getattr(ensemble, name).fit).parameters
    assert list(inspect.signature(getattr(arboretum, name).fit).parameters) == list(fit)


# ---------------------------------------------------------------------- every parameter has an effect
EFFECTS = {
    "learning_rate": 0.3,
    "max_iter": 4,
    "max_leaf_nodes": 4,
    "max_depth": 2,
    "min_samples_leaf": 60,
    "l2_regularization": 5.0,
    "max_features": 0.4,
    "max_bins": 8,
    "categorical_features": [1],
    "ordinal_features": {"b": [2.0, 1.0, 0.0, 3.0, 4.0, 5.0]},
    "monotonic_cst": {"a": -1},
    "interaction_cst": "no_interactions",
    "early_stopping": True,
    "random_state": 3,
}


@pytest.mark.parametrize(("make", "table"), BOTH)
@pytest.mark.parametrize("name", EFFECTS)
def test_parameters_have_an_effect(name, make, table):
    X, y = table()
    X = pd.DataFrame(X, columns=list("abcde"))
    X["b"] = np.floor(X["b"].rank() / len(X) * 5.99)
    plain = {"max_iter": 6, "max_features": 0.5 if name == "random_state" else 1.0}
    one, other = make(**plain), make(**plain).set_params(**{name: EFFECTS[name]})
    assert not np.array_equal(*(m.fit(X, y)._margin(X) for m in (one, other)))


def test_the_class_of_a_rare_label_may_weigh_more():
    X, y = two_classes()
    plain = HistGradientBoostingClassifier(max_iter=5).fit(X, y)
    heavy = HistGradientBoostingClassifier(max_iter=5, class_weight={0: 1, 1: 9}).fit(X, y)
    weights = np.where(y == 1, 9.0, 1.0)
    by_row = HistGradientBoostingClassifier(max_iter=5).fit(X, y, weights)
    assert heavy.predict(X).mean() > plain.predict(X).mean()
    assert_allclose(heavy.decision_function(X), by_row.decision_function(X))


BAD = [
    ({"loss": "huber"}, "'loss' parameter of .* must be"),
    ({"max_iter": 0}, "'max_iter' parameter of .* must be an int ≥ 1"),
    ({"max_features": 1}, "'max_features' parameter of .* must be a float"),
    ({"early_stopping": "yes"}, "'early_stopping' parameter of .* must be 'auto'"),
    ({"interaction_cst": [0, 1]}, "must be a sequence of tuples or lists"),
    ({"interaction_cst": [{0, 9}]}, r"\[0, 4\], specifying the position"),
    ({"interaction_cst": "triples"}, "'interaction_cst' parameter of .* must be"),
    ({"monotonic_cst": [1, 0]}, r"has shape 2 but the input data X has 5"),
    ({"monotonic_cst": {"a": 1}}, "was not fitted on data with feature names"),
    ({"categorical_features": [7]}, "categorical_features"),
]


@pytest.mark.parametrize(("bad", "message"), BAD)
@pytest.mark.parametrize(("make", "table"), BOTH)
def test_bad_parameters(make, table, bad, message):
    with pytest.raises(ParameterError, match=message):
        make(**bad).fit(*table())


def test_bad_labels_and_levels():
    X = np.zeros((3, 1))
    for loss, y, needs in (
        ("gamma", [1, 0, 2], "strictly positive y."),
        ("poisson", [0, 0, 0], r"non-negative y and sum\(y\) > 0."),
        ("poisson", [0, -1, 2], "non-negative y"),
    ):
        with pytest.raises(DataError, match=f"loss='{loss}' requires {needs}.*"):
            HistGradientBoostingRegressor(loss=loss).fit(X, y)
    with pytest.raises(ParameterError, match="needs quantile"):
        HistGradientBoostingRegressor(loss="quantile").fit(X, [1, 2, 3])
    with pytest.raises(ParameterError, match="not supported for multiclass"):
        HistGradientBoostingClassifier(monotonic_cst=[1, 0, 0, 0, 0]).fit(*three_classes())


# ---------------------------------------------------------------------- early stopping
@pytest.mark.parametrize(("make", "table"), BOTH)
def test_given_rows_stop_a_fit_as_rows_set_aside(make, table):
    from sklearn.model_selection import train_test_split

    X, y = table()
    w = np.random.default_rng(0).random(len(y))
    how = {"early_stopping": True, "random_state": 4, "n_iter_no_change": 3, "min_samples_leaf": 1}
    drawn = make(validation_fraction=0.3, **how).fit(X, y, w)
    codes = y if make is HistGradientBoostingClassifier else None
    parts = train_test_split(
        X, y, w, test_size=0.3, stratify=codes, random_state=drawn._random_seed
    )
    X_train, X_val, y_train, y_val, w_train, w_val = parts
    given = make(**how).fit(
        X_train, y_train, w_train, X_val=X_val, y_val=y_val, sample_weight_val=w_val
    )
    assert given.n_iter_ == drawn.n_iter_ < 100
    assert_allclose(given.predict(X), drawn.predict(X))
    assert_allclose(given.validation_score_, drawn.validation_score_)
    assert len(drawn.validation_score_) == len(drawn.train_score_) == drawn.n_iter_ + 1


def test_rows_of_weight_0_are_not_scored():
    X, y = two_classes()
    w = (np.arange(len(y)) % 3 > 0).astype(float)
    how = {"early_stopping": True, "random_state": 0, "max_iter": 4}
    for scoring in ("loss", "accuracy"):
        model = HistGradientBoostingClassifier(scoring=scoring, **how)
        some = clone(model).fit(X[w > 0], y[w > 0])
        assert_allclose(model.fit(X, y, w).validation_score_, some.validation_score_)


def test_a_fit_that_has_not_improved_ends():
    X, y = numbers()
    model = HistGradientBoostingRegressor(
        early_stopping=True, validation_fraction=None, n_iter_no_change=2, tol=1e6
    )
    assert model.fit(X, y).n_iter_ == 2
    assert model.do_early_stopping_
    assert len(model.validation_score_) == 0
    assert_allclose(model.evals_result_["training"]["loss"], -model.train_score_[1:])
    plain = HistGradientBoostingRegressor(max_iter=3).fit(X, y)
    assert not plain.do_early_stopping_
    assert len(plain.train_score_) == 0


def test_many_rows_stop_early_by_themselves():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_001, 1))
    y = X[:, 0] > 0
    how = {"max_iter": 6, "n_iter_no_change": 2, "tol": 10.0}
    assert HistGradientBoostingClassifier(**how).fit(X, y).n_iter_ < 6
    assert HistGradientBoostingClassifier(**how).fit(X[1:], y[1:]).n_iter_ == 6


def test_words_of_rows_set_aside_are_known():
    X, y = with_categories()
    frame = pd.DataFrame(X).rename(columns=str)
    frame["5"] = frame["5"].map(lambda k: f"w{k:.0f}")
    frame.loc[0, "5"] = "seldom"
    model = HistGradientBoostingRegressor(early_stopping=True, max_iter=3, random_state=0)
    for seed in range(4):  # no warning
        assert (
            "seldom"
            in model.set_params(random_state=seed).fit(frame, y).schema_.columns[5].categories
        )


def test_arguments_of_validation_go_together():
    X, y = numbers()
    model = HistGradientBoostingRegressor(max_iter=2)
    with pytest.raises(ParameterError, match="X_val is provided, but y_val was not"):
        model.fit(X, y, X_val=X)
    with pytest.raises(ParameterError, match="y_val is provided, but X_val was not"):
        model.fit(X, y, y_val=y)
    with pytest.raises(ParameterError, match="while at the same time early_stopping is False"):
        clone(model).set_params(early_stopping=False).fit(X, y, X_val=X, y_val=y)
    with pytest.raises(DataError, match="X_val, y_val: "):
        clone(model).set_params(early_stopping=True).fit(X, y, X_val=X[:, :3], y_val=y)
    with pytest.raises(DataError, match=r"validation_fraction=0.1 of the 2 rows"):
        HistGradientBoostingClassifier(early_stopping=True).fit([[0.0], [1.0]], [0, 1])


# ---------------------------------------------------------------------- rounds that go on
@pytest.mark.parametrize(("make", "table"), BOTH)
def test_rounds_are_added(make, table):
    X, y = table()
    whole = make(max_iter=9, max_features=0.5, random_state=2).fit(X, y)
    parts = make(max_iter=4, max_features=0.5, random_state=2, warm_start=True).fit(X, y)
    assert parts.set_params(max_iter=9).fit(X, y).n_iter_ == 9
    assert_array_equal(parts.predict(X), whole.predict(X))
    with pytest.raises(
        ParameterError, match="max_iter=5 must be larger than or equal to n_iter_=9"
    ):
        parts.set_params(max_iter=5).fit(X, y)
    assert parts.n_iter_ == 9


def test_scores_go_on():
    X, y = two_classes()
    how = {"early_stopping": True, "random_state": 5, "n_iter_no_change": 50}
    whole = HistGradientBoostingClassifier(max_iter=9, **how).fit(X, y)
    parts = HistGradientBoostingClassifier(max_iter=4, warm_start=True, **how).fit(X, y)
    parts.set_params(max_iter=9).fit(X, y)
    assert_allclose(parts.validation_score_, whole.validation_score_)
    assert_allclose(parts.train_score_, whole.train_score_)


def test_a_fit_goes_on_where_no_split_gains():
    model = HistGradientBoostingRegressor(max_iter=7).fit(np.zeros((9, 2)), np.arange(9.0))
    assert model.n_iter_ == 7
    assert_allclose(model.predict(np.ones((1, 2))), 4.0)


# ---------------------------------------------------------------------- predictions and files
@pytest.mark.parametrize("table", [two_classes, three_classes])
def test_stages_end_in_the_prediction(table):
    X, y = table()
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, y)
    for name in ("predict", "predict_proba", "decision_function"):
        stages = list(getattr(model, f"staged_{name}")(X))
        assert len(stages) == model.n_iter_ == 5
        assert_array_equal(stages[-1], getattr(model, name)(X))
    assert model.n_trees_per_iteration_ == (1 if table is two_classes else 3)
    with pytest.raises(NotFittedError):
        HistGradientBoostingClassifier().predict(X)


def test_a_fit_without_draws_needs_no_seed():
    X, y = two_classes()
    files = {
        saved(HistGradientBoostingClassifier(max_iter=4, random_state=s).fit(X, y)) for s in (1, 1)
    }
    assert len(files) == 1
    one, other = (HistGradientBoostingClassifier(max_iter=4).fit(X, y) for _ in range(2))
    assert_array_equal(one.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize(
    ("make", "table"), [*BOTH, (HistGradientBoostingClassifier, three_classes)]
)
def test_the_same_bytes_for_any_number_of_threads(make, table):
    X, y = table(0, 3_000)
    how = {"max_iter": 4, "max_features": 0.6, "random_state": 0, "early_stopping": True}
    one, other = (make(n_jobs=n, **how).fit(X, y) for n in (1, 2))
    assert saved(one) == saved(other.set_params(n_jobs=1))


@pytest.mark.parametrize(("make", "table"), BOTH)
def test_kept_models_are_the_same(make, table, tmp_path):
    X, y = table()
    model = make(max_iter=4, early_stopping=True, random_state=1, warm_start=True).fit(X, y)
    model.save(tmp_path / "model.arb")
    for copy in (arboretum.load(tmp_path / "model.arb"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(copy.predict(X), model.predict(X))
        for name in ("train_score_", "validation_score_", "n_iter_", "do_early_stopping_"):
            assert_array_equal(getattr(copy, name), getattr(model, name))
        again = copy.set_params(max_iter=6).fit(X, y)
        assert_array_equal(again.predict(X), clone(again).fit(X, y).predict(X))


def test_partial_dependence_is_scikit_learns():
    from sklearn.inspection import partial_dependence

    X, y = numbers()
    how = {"max_iter": 3, "min_samples_leaf": 1, "max_leaf_nodes": 6}
    theirs = ensemble.HistGradientBoostingRegressor(**how).fit(X, y)
    ours = HistGradientBoostingRegressor(**how).fit(X, y)
    expected = partial_dependence(theirs, X, [0, 1], method="recursion").average
    found = arboretum.inspection.partial_dependence(ours, X, [0, 1], method="recursion").average
    assert_allclose(found, expected)


def test_lines_of_rounds(capsys):
    X, y = three_classes()
    how = {"max_iter": 3, "early_stopping": True, "random_state": 0}
    HistGradientBoostingClassifier(verbose=2, **how).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[1/3] 3 trees, ")
    assert "training loss: " in lines[0]
    assert "validation loss: " in lines[0]
    assert lines[3].startswith("Fit 9 trees in ")
    HistGradientBoostingRegressor(max_iter=3, verbose=1).fit(*numbers())
    assert len(capsys.readouterr().out.splitlines()) == 1
