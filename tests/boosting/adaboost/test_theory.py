"""The theory of AdaBoost holds on every model: bounds on errors and margins, on real and random data."""

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from arboretum import (
    AdaBoostClassifier,
    CARTClassifier,
    DataError,
    ParameterError,
    plot_boosting_errors,
    plot_margins,
)
from arboretum.boosting.adaboost.theory import bounds_of
from arboretum.textbook.adaboost import AdaRules, discrete_adaboost
from arboretum.textbook.adaboost_theory import theory
from arboretum.textbook.splits import Rules
from arboretum.textbook.weak_learners import tree_learner
from tests.boosting.adaboost.ada_cases import mixed, numbers, with_holes

mpl.use("Agg")
THETAS = np.linspace(-0.9, 0.9, 19)
SLACK = 1e-9


def holds(model, X, y, w=None):
    """Check every inequality there is."""
    w = np.ones(len(y)) if w is None else w
    w = w / w.sum()
    errors = np.array([w[answer != y].sum() for answer in model.staged_predict(X)])
    assert np.all(errors <= model.training_error_bound() + SLACK)
    margins = model.margins(X, y)
    assert np.all(np.abs(margins) <= 1 + SLACK)
    # right where positive, wrong where negative
    right = model.predict(X) == y
    assert np.all(right[margins > SLACK])
    assert not np.any(right[margins < -SLACK])
    shares = np.array([w[margins <= theta].sum() for theta in THETAS])
    assert np.all(shares <= model.margin_bound(THETAS) + SLACK)
    if model.n_classes_ == 2 and model.learning_rate == 1 and model.stop_ != "perfect":
        e = model.estimator_errors_
        assert_allclose(model.normalisers_, 2 * np.sqrt(e * (1 - e)))
        assert_allclose(
            model.margin_bound(0.1), np.prod(2 * np.sqrt(e**0.9 * (1 - e) ** 1.1)), rtol=1e-9
        )
        bounds = bounds_of(e, model._betas)
        assert np.all(bounds.product <= bounds.exponential + SLACK)
    assert_allclose(model.edges_, 0.5 - model.estimator_errors_)


@pytest.mark.filterwarnings("ignore:boosting ended")
@pytest.mark.parametrize("load", [load_breast_cancer, load_iris, load_wine, load_digits])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"learning_rate": 0.3},
        {"sampling": "resample", "random_state": 0},
        {"estimator": CARTClassifier(max_depth=2)},
    ],
    ids=str,
)
def test_bounds_hold_on_real_data(load, options):
    X, y = load(return_X_y=True)
    holds(AdaBoostClassifier(n_estimators=15, **options).fit(X, y), X, y)


@pytest.mark.filterwarnings("ignore:boosting ended")
@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    classes=st.integers(2, 4),
    algorithm=st.sampled_from(["SAMME", "discrete"]),
    rate=st.sampled_from([1.0, 0.3, 1.7]),
    noise=st.floats(0, 3),
)
def test_bounds_hold_on_random_data(seed, classes, algorithm, rate, noise):
    classes = 2 if algorithm == "discrete" else classes
    X, y = numbers(40, 3, classes, seed, noise)
    w = np.random.default_rng(seed).random(40)
    model = AdaBoostClassifier(n_estimators=12, algorithm=algorithm, learning_rate=rate)
    holds(model.fit(X, y, w), X, y, w)


def test_figures_are_the_textbooks():
    X, y = with_holes(80)
    model = AdaBoostClassifier(n_estimators=10, algorithm="discrete").fit(X, y)
    learner = tree_learner(Rules("gini", n_classes=2, max_depth=1))
    book = discrete_adaboost(X, y, None, AdaRules(10, coding="zero_one"), learner)
    table = theory(book, X, y)
    assert_allclose(model.edges_, [row.edge for row in table], atol=1e-12)
    assert_allclose(model.normalisers_, [row.Z for row in table], rtol=1e-9)
    assert_allclose(model.training_error_bound(), [row.product for row in table], rtol=1e-9)
    assert_allclose(model.margins(X, y).min(), table[-1].least_margin, atol=1e-9)


def test_margins_grow_after_the_training_error_is_gone():
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=400).fit(X, y)
    least = [margins.min() for margins in model.staged_margins(X, y)]
    assert least[-1] > 0
    first = int(np.argmax(np.array(least) > 0))
    assert least[-1] > least[first]


def test_what_the_theory_is_not_about():
    X, y = numbers(60)
    model = AdaBoostClassifier(n_estimators=3, algorithm="SAMME.R").fit(X, y)
    for ask in (
        lambda: model.margins(X, y),
        model.training_error_bound,
        lambda: model.margin_bound(0.1),
        lambda: model.edges_,
        lambda: model.normalisers_,
    ):
        with pytest.raises(ParameterError, match=r"in SAMME\.R class shares vote"):
            ask()
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    with pytest.raises(ParameterError, match="theta of margin_bound must lie between -1 and 1"):
        model.margin_bound(2)
    with pytest.raises(DataError, match="y holds 7, which is not a class"):
        model.margins(X, np.full(60, 7))


def test_plots_show_what_they_say():
    frame, y = mixed()
    model = AdaBoostClassifier(n_estimators=12).fit(frame, y)
    ax = plot_boosting_errors(model, frame, y, test=(frame[:50], y[:50]))
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["bound: Π Z", "training error", "error on other rows"]
    lines = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    assert_allclose(lines["training error"], 1 - np.array(list(model.staged_score(frame, y))))
    assert np.all(lines["training error"] <= lines["bound: Π Z"] + SLACK)
    ax = plot_margins(model, frame, y)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["1 round", "2 rounds", "3 rounds", "4 rounds", "12 rounds", "bound after 12"]
    with pytest.raises(ParameterError, match="numbers from 1 to 12"):
        plot_margins(model, frame, y, rounds=[13])
    with pytest.raises(ParameterError, match="needs a fitted AdaBoostClassifier"):
        plot_margins(CARTClassifier(), frame, y)
