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
from arboretum.textbook.adaboost_theory import (
    generalisation_bound,
    theory,
    uniform_margin_bound,
)
from arboretum.textbook.splits import Rules
from arboretum.textbook.weak_learners import all_stumps, best_stump, tree_learner
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


@pytest.mark.parametrize("algorithm", ["discrete", "SAMME"])
def test_the_whole_theory_of_a_fitted_model_is_the_textbooks(algorithm):
    X, y = numbers(80)
    X = np.round(X, 1)
    w = np.random.default_rng(0).uniform(0.5, 2, 80)
    stump = CARTClassifier(criterion="error", max_depth=1)
    model = AdaBoostClassifier(stump, n_estimators=12, algorithm=algorithm, keep_weights=True)
    model.fit(X, y, w)
    # the learner of least weighted error, argmin Σ w·1[y ≠ b(x)]
    book = discrete_adaboost(X, y, w, AdaRules(12, coding="zero_one"), best_stump)
    table, told = theory(book, X, y), model.theory()
    names = {
        "error": "error", "edge": "edge", "alpha": "say", "normaliser": "Z", "product": "product",
        "exponential": "exponential", "train_error": "train_error",
    }  # fmt: skip
    for ours, theirs in names.items():
        expected = [getattr(row, theirs) for row in table]
        assert_allclose(getattr(told, ours), expected, rtol=1e-9, atol=1e-12)
    assert len(str(told).split("\n")) == 13
    assert_allclose(model.sample_weights_, [r.w for r in book.rounds], rtol=1e-9)
    least = float(told.edge.min())
    for theta in (0.0, least / 2, 0.3):
        uniform = model.margin_bound(theta, edge=least)
        assert uniform == pytest.approx(uniform_margin_bound(least, theta, 12), rel=1e-9)
        assert model.margin_bound(theta) <= uniform + SLACK
        assert uniform < 1 or theta >= least
    bound = model.generalisation_bound(X, y, 0.2, delta=0.1, constant=0.5)
    share = float(np.mean(model.margins(X, y) <= 0.2))
    terms = generalisation_bound(share, 0.2, len(all_stumps(X)), 80, 0.1, 0.5)
    assert bound.n_hypotheses == len(all_stumps(X))
    assert_allclose(
        [bound.margin_share, bound.complexity, bound.confidence, bound.bound],
        [terms.margin_share, terms.complexity, terms.confidence, terms.bound],
    )


def test_stumps_of_words_and_gaps_are_counted():
    X, y = mixed()
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    found = model.generalisation_bound(X, y, 0.5)
    sizes, ages = X["size"].nunique(), X["age"].nunique()
    cuts = (sizes - 1) + (2 * 3 + 1) + (2 * (ages - 1) + 1)  # three colours part in three ways
    assert found.n_hypotheses == 2 + 2 * cuts


def test_the_theory_survives_a_file_and_needs_what_it_needs(tmp_path):
    import arboretum

    X, y = numbers(60)
    model = AdaBoostClassifier(n_estimators=4, keep_weights=True, n_iter_no_change=3).fit(X, y)
    model.save(tmp_path / "model")
    again = arboretum.load(tmp_path / "model")
    assert_allclose(again.theory().train_error, model.theory().train_error)
    assert_allclose(again.sample_weights_, model.sample_weights_)
    assert_allclose(again.validation_scores_, model.validation_scores_)
    plain = AdaBoostClassifier(n_estimators=4).fit(X, y)
    assert not hasattr(plain, "sample_weights_")
    assert not hasattr(plain, "validation_scores_")
    deep = AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=3).fit(X, y)
    with pytest.raises(ParameterError, match="n_hypotheses of generalisation_bound must be given"):
        deep.generalisation_bound(X, y, 0.1)
    assert deep.generalisation_bound(X, y, 0.1, n_hypotheses=10**6).n_hypotheses == 10**6
    slow = AdaBoostClassifier(n_estimators=3, learning_rate=0.5).fit(X, y)
    with pytest.raises(ParameterError, match="two classes and a learning_rate of 1"):
        slow.generalisation_bound(X, y, 0.1)
    for bad in ({"theta": 0}, {"theta": 0.1, "delta": 0}, {"theta": 0.1, "constant": 0}):
        with pytest.raises(ParameterError, match="generalisation_bound needs"):
            plain.generalisation_bound(X, y, **bad)
    with pytest.raises(ParameterError, match="edge of margin_bound"):
        plain.margin_bound(0.1, edge=0.7)


@pytest.mark.parametrize("algorithm", ["SAMME", "SAMME.R", "discrete"])
def test_rows_held_out_end_the_boosting(algorithm):
    X, y = numbers(300, noise=2.0)
    ask = {"algorithm": algorithm, "random_state": 0, "validation_fraction": 0.3}
    model = AdaBoostClassifier(n_estimators=200, n_iter_no_change=5, **ask).fit(X, y)
    assert model.stop_ == "n_iter_no_change"
    scores = model.validation_scores_
    assert 5 < len(model) == len(scores) < 200
    assert scores[-1] >= scores[-6:-1].max() - model.tol
    patient = AdaBoostClassifier(n_estimators=200, n_iter_no_change=15, **ask).fit(X, y)
    assert len(patient) > len(model)
    assert_allclose(patient.validation_scores_[: len(model)], scores)
    fussy = AdaBoostClassifier(n_estimators=200, n_iter_no_change=15, tol=0.2, **ask).fit(X, y)
    assert len(fussy) < len(patient)


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
        with pytest.raises(ParameterError, match=r"in SAMME\.R probabilities vote"):
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
    wider = "bound: exp(-2 Σ γ²)"
    assert names == ["bound: Π Z", wider, "training error", "error on other rows"]
    lines = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    assert_allclose(lines["training error"], 1 - np.array(list(model.staged_score(frame, y))))
    assert np.all(lines["training error"] <= lines["bound: Π Z"] + SLACK)
    assert_allclose(lines[wider], model.theory().exponential)
    ax = plot_margins(model, frame, y)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    rounds = ["1 round", "2 rounds", "3 rounds", "4 rounds", "12 rounds"]
    assert names[:6] == [*rounds, "bound after 12"]
    assert names[6].startswith("bound if every edge were")
    with pytest.raises(ParameterError, match="numbers from 1 to 12"):
        plot_margins(model, frame, y, rounds=[13])
    with pytest.raises(ParameterError, match="needs a fitted AdaBoostClassifier"):
        plot_margins(CARTClassifier().fit(frame, y), frame, y)
