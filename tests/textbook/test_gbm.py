"""Gradient boosting by hand, by the laws it keeps, and against scikit-learn."""

import doctest
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.metrics import mean_tweedie_deviance

from arboretum.textbook import gbm as gbm_module
from arboretum.textbook import gbm_losses
from arboretum.textbook.cart import predict
from arboretum.textbook.gbm import (
    GBMRules,
    gbm_scores,
    gbm_table,
    grow_gbm,
    predict_gbm,
    predict_proba_gbm,
    raw_gbm,
    staged_gbm,
)
from arboretum.textbook.gbm_losses import (
    LOSSES,
    SHORTEST,
    BinomialDeviance,
    MultinomialDeviance,
    NewtonLoss,
    make_loss,
    sigmoid,
    softmax,
    weighted_quantile,
)
from arboretum.textbook.splits import Rules
from arboretum.textbook.stagewise_modelling import line_search

CLASS_LOSSES = ("log_loss", "exponential")
POSITIVE = ("poisson", "gamma", "tweedie")
EXACT = ("squared_error", "absolute_error", "quantile", *POSITIVE)  # steps that are minima
TREES = Rules("squared_error", max_depth=2, min_samples_leaf=5)


def make(seed=0, n=90, loss="squared_error", n_classes=2):
    """Rows with random weights: no two splits gain the same. X is exact in float32."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).astype(np.float32).astype(np.float64)
    y = X[:, 0] + X[:, 1] * X[:, 0] + 0.3 * rng.normal(size=n)
    if loss in CLASS_LOSSES:
        y = np.digitize(y, [0.0] if n_classes == 2 else [-0.5, 0.5])
    if loss in POSITIVE:
        y = rng.poisson(np.exp(y / 2)).astype(float) + (loss == "gamma") * 0.5
    return X, y, rng.uniform(0.5, 2, n)


@pytest.mark.parametrize("module", [gbm_module, gbm_losses])
def test_examples_in_the_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


# ---------------------------------------------------------------------- worked examples, errata
NOTE_X, NOTE_Y = [[1.0], [1.0], [0.0]], [88.0, 76.0, 56.0]


@pytest.mark.parametrize("step", ["leaf", "line_search"])  # squared error: η = 1
def test_boosting_88_76_56(step):
    model = grow_gbm(NOTE_X, NOTE_Y, rules=GBMRules(n_rounds=2, learning_rate=0.1, step=step))
    assert_allclose(model.F_0, 73.33, atol=0.005)
    first, second = model.rounds
    assert_allclose(first.trees[0].residuals, [14.67, 2.67, -17.33], atol=0.005)
    assert_allclose(first.F, [74.2, 74.2, 71.6], atol=1e-9)
    assert_allclose(second.trees[0].residuals, [13.8, 1.8, -15.6], atol=1e-9)


def test_erratum_004_the_residual_of_56_belongs_to_the_row_of_56():
    """Not to the first row: the leaf {88, 76} goes up, to 74.2 and not 74.6."""
    [tree] = grow_gbm(NOTE_X, NOTE_Y, rules=GBMRules(n_rounds=1)).rounds[0].trees
    steps = {tuple(leaf.rows.tolist()): leaf.step for leaf in tree.leaves}
    assert steps == {(0, 1): pytest.approx(8.67, abs=0.005), (2,): pytest.approx(-17.33, abs=0.005)}


def test_softmax_boosting_004():
    one_hot, F = np.array([1, 0, 0]), np.zeros(3)
    assert_allclose(one_hot - softmax(F), [2 / 3, -1 / 3, -1 / 3])
    for outputs, shares in [([0.5, -0.2, -0.2], [0.34907, 0.32547, 0.32547]),
                            ([0.4, -0.2, -0.2], [0.36282, 0.31859, 0.31859])]:  # fmt: skip
        F = F + 0.1 * np.array(outputs)
        assert_allclose(softmax(F), shares, atol=5e-6)


def test_erratum_004_the_softmax_normaliser_is_3_0117():
    logits = np.array([0.05, -0.02, -0.02])
    Z = np.exp(logits).sum()
    assert_allclose(Z, 3.0117, atol=5e-5)
    assert_allclose(softmax(logits), np.exp(logits) / Z)


def test_erratum_001_003_the_residual_of_the_deviance_is_y_minus_p():
    y, F = np.array([0, 1, 1]), np.array([-1.0, 0.3, 2.0])
    residuals = BinomialDeviance().residuals(y, F)
    assert_allclose(residuals, y - 1 / (1 + np.exp(-F)))
    assert (residuals[1:] > 0).all()  # what the row lacks: a 1 wants to go up
    assert (residuals[:1] < 0).all()


def test_erratum_001_a_classification_leaf_takes_the_newton_step():
    X, y, _ = make(loss="log_loss")
    model = grow_gbm(X, y, rules=GBMRules("log_loss", 3, tree=TREES))
    before = model.F_0
    for round_ in model.rounds:
        p = sigmoid(before)
        for leaf in round_.trees[0].leaves:
            r, h = y[leaf.rows] - p[leaf.rows], (p * (1 - p))[leaf.rows]
            assert leaf.step == pytest.approx(r.sum() / h.sum())
            assert leaf.mean == pytest.approx(
                r.mean()
            )  # the step of squared loss: 4 times too short
            assert abs(leaf.step) > 3.9 * abs(leaf.mean)
        before = round_.F


def test_erratum_003_a_probability_is_the_sigmoid_with_a_minus():
    X, y, _ = make(loss="log_loss")
    model = grow_gbm(X, y, rules=GBMRules("log_loss", 10))
    F = raw_gbm(model, X)
    assert_allclose(predict_proba_gbm(model, X)[:, 1], 1 / (1 + np.exp(-F)))
    assert_array_equal(predict_gbm(model, X), F > 0)
    assert np.mean(predict_gbm(model, X) == y) > 0.9  # with the other sign it would be below 0.1


# ---------------------------------------------------------------------- losses
def _loss_cases():
    rng = np.random.default_rng(3)
    F = rng.normal(size=40)
    for name in LOSSES:
        y = rng.integers(0, 2, 40) if name in CLASS_LOSSES else rng.normal(size=40)
        if name in POSITIVE:
            y = rng.gamma(1.0, size=40)
        yield name, make_loss(name), y, F
    yield "multinomial", MultinomialDeviance(4), rng.integers(0, 4, 40), rng.normal(size=(40, 4))


CASES = {name: (loss, y, F) for name, loss, y, F in _loss_cases()}
WEIGHTS = np.random.default_rng(4).uniform(0.5, 2, 40)


def _total(loss, y, F, w=WEIGHTS):
    return float(w @ loss.value(y, F))


@pytest.mark.parametrize("name", CASES)
def test_residuals_are_minus_the_slope_and_hessians_the_slope_of_that(name):
    loss, y, F = CASES[name]
    loss = loss.for_round(y, F, WEIGHTS)
    tiny = 1e-5
    for k in range(F.shape[1] if F.ndim == 2 else 1):
        move = tiny * (np.arange(F.shape[1]) == k) if F.ndim == 2 else tiny
        slope = (loss.value(y, F + move) - loss.value(y, F - move)) / (2 * tiny)
        assert_allclose(-loss.residuals(y, F).reshape(40, -1)[:, k], slope, atol=1e-5)
        if isinstance(loss, NewtonLoss):
            bend = loss.residuals(y, F - move) - loss.residuals(y, F + move)
            bend = bend.reshape(40, -1)[:, k] / (2 * tiny)
            assert_allclose(loss.hessian(y, F).reshape(40, -1)[:, k], bend, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_the_start_is_the_best_constant(name):
    loss, y, F = CASES[name]
    if name == "huber":  # starts at the median, whatever δ will be
        assert loss.start(y, WEIGHTS) == weighted_quantile(y, WEIGHTS, 0.5)
        return
    start = np.zeros_like(F) + loss.start(y, WEIGHTS)
    least = _total(loss, y, start)
    for move in (np.eye(F.shape[1]) if F.ndim == 2 else np.ones((1, 1))) * 0.01:
        move = move if F.ndim == 2 else move[0]
        assert _total(loss, y, start + move) > least
        assert _total(loss, y, start - move) > least


@pytest.mark.parametrize("name", EXACT)
def test_an_exact_step_is_the_minimum(name):
    loss, y, F = CASES[name]
    step = loss.step(y, F, WEIGHTS)
    around = [_total(loss, y, F + step + move) for move in np.linspace(-0.5, 0.5, 101)]
    assert np.argmin(around) == 50


@pytest.mark.parametrize("name", ["log_loss", "exponential", "huber"])
def test_an_approximate_step_goes_most_of_the_way(name):
    loss, y, F = CASES[name]
    loss = loss.for_round(y, F, WEIGHTS)
    best = min(_total(loss, y, F + step) for step in np.linspace(-3, 3, 6001))
    before, after = _total(loss, y, F), _total(loss, y, F + loss.step(y, F, WEIGHTS))
    assert (before - after) > 0.7 * (before - best) > 0


def test_two_classes_by_softmax_are_the_binomial():
    """Friedman's (K-1)/K: the difference of the two scores moves by the binomial's step."""
    y, F, w = np.array([0, 1, 1, 0, 1]), np.linspace(-1, 1, 5), np.arange(1.0, 6)
    both = np.stack([-F / 2, F / 2], axis=1)
    down, up = MultinomialDeviance(2).step(y, both, w)
    assert up - down == pytest.approx(BinomialDeviance().step(y, F, w))
    assert_allclose(MultinomialDeviance(2).value(y, both), BinomialDeviance().value(y, F))


@pytest.mark.parametrize(("loss", "F"), [(BinomialDeviance(), np.full(2, 1e4)),
                                         (MultinomialDeviance(3), np.eye(3)[[1, 1]] * 1e4)])  # fmt: skip
def test_a_leaf_without_curvature_stays(loss, F):
    y = np.array([1, 1])
    assert_array_equal(loss.step(y, F, np.ones(2)), np.zeros(F.shape[1:]))


@pytest.mark.parametrize("name", ["poisson", "tweedie"])
def test_a_leaf_without_events_steps_to_almost_nothing(name):
    assert make_loss(name).step(np.zeros(3), np.ones(3), np.ones(3)) == SHORTEST
    model = grow_gbm([[0.0], [1.0]], [0.0, 4.0], rules=GBMRules(name, 1, 1.0))
    assert_allclose(predict_gbm(model, [[0.0], [1.0]]), [0, 4], atol=1e-7)


@pytest.mark.parametrize(("name", "power"), [("poisson", 1), ("tweedie", 1.5), ("gamma", 2)])
def test_power_losses_are_half_deviances(name, power):
    loss, y, F = CASES[name]
    mine = loss.value(y, F) - loss.value(y, np.log(y))  # the deviance counts from the perfect fit
    theirs = mean_tweedie_deviance(y, np.exp(F), sample_weight=WEIGHTS, power=power)
    assert 2 * np.average(mine, weights=WEIGHTS) == pytest.approx(theirs)


def test_weighted_quantile_counts_weights_as_copies():
    rng = np.random.default_rng(0)
    y, w = rng.normal(size=20), rng.integers(0, 4, 20)
    for alpha in (0.1, 0.25, 0.5, 0.9):
        copies = np.quantile(np.repeat(y, w), alpha, method="inverted_cdf")
        assert weighted_quantile(y, w, alpha) == copies


# ---------------------------------------------------------------------- against scikit-learn
def _fit_both(theirs, X, y, w, loss, **rules):
    """Fit scikit-learn's model and the textbook's, the latter in the same bags."""
    bags = []

    def monitor(_, model, variables):
        bags.append(variables["sample_mask"].copy())
        return False

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # criterion
        theirs.fit(X, y, sample_weight=w, monitor=monitor)
    rules = GBMRules(loss, theirs.n_estimators, theirs.learning_rate, **rules)
    return theirs, grow_gbm(X, y, w, rules, bags)


SKLEARN_TREE = {"max_depth": 2, "min_samples_leaf": 5, "n_estimators": 8, "random_state": 0}


@pytest.mark.parametrize("criterion", ["squared_error", "friedman_mse"])
@pytest.mark.parametrize("subsample", [1.0, 0.6])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_regression_is_scikit_learns(loss, subsample, criterion):
    X, y, w = make()
    theirs = GradientBoostingRegressor(
        loss=loss, alpha=0.8, subsample=subsample, criterion=criterion, **SKLEARN_TREE
    )
    tree = Rules(criterion, max_depth=2, min_samples_leaf=5)
    theirs, mine = _fit_both(theirs, X, y, w, loss, alpha=0.8, tree=tree)
    unseen = make(99)[0]
    stages = list(staged_gbm(mine, unseen))[1:]
    assert_allclose(stages, list(theirs.staged_predict(unseen)), rtol=0, atol=1e-8)
    factor = 2 if loss == "squared_error" else 1  # they leave out the ½
    assert_allclose(factor * mine.train_score, theirs.train_score_)
    if subsample < 1:
        assert_allclose([factor * r.oob_score for r in mine.rounds], theirs.oob_scores_)


@pytest.mark.parametrize("subsample", [1.0, 0.6])
@pytest.mark.parametrize(("loss", "K"), [("log_loss", 2), ("log_loss", 3), ("exponential", 2)])
def test_classification_is_scikit_learns(loss, K, subsample):
    X, y, w = make(loss="log_loss", n_classes=K)
    theirs = GradientBoostingClassifier(loss=loss, subsample=subsample, **SKLEARN_TREE)
    theirs, mine = _fit_both(theirs, X, y, w, loss, tree=TREES)
    unseen = make(99)[0]
    assert_allclose(raw_gbm(mine, unseen), theirs.decision_function(unseen), rtol=0, atol=1e-8)
    assert_allclose(predict_proba_gbm(mine, unseen), theirs.predict_proba(unseen), atol=1e-8)
    assert_array_equal(predict_gbm(mine, unseen), theirs.predict(unseen))
    factor = 2 if (loss, K) == ("log_loss", 2) else 1
    assert_allclose(factor * mine.train_score, theirs.train_score_)
    assert len(mine.rounds[0].trees) == (1 if K == 2 else K)


@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
def test_starting_from_zero_is_scikit_learns(loss):
    X, y, w = make(loss=loss)
    make_theirs = GradientBoostingClassifier if loss == "log_loss" else GradientBoostingRegressor
    theirs = make_theirs(loss=loss, init="zero", **SKLEARN_TREE)
    theirs, mine = _fit_both(theirs, X, y, w, loss, init="zero", tree=TREES)
    decide = getattr(theirs, "decision_function", theirs.predict)
    assert_allclose(raw_gbm(mine, X), decide(X).ravel(), rtol=0, atol=1e-8)
    assert not mine.F_0.any()


# ---------------------------------------------------------------------- line search
@pytest.mark.parametrize("name", CASES)
def test_line_search_finds_the_least_loss(name):
    loss, y, F = CASES[name]
    loss = loss.for_round(y, F, WEIGHTS)
    direction = loss.residuals(y, F)
    direction = np.repeat([direction[:20].mean(axis=0), direction[20:].mean(axis=0)], 20, axis=0)
    eta = line_search(loss, y, F, direction, WEIGHTS)
    assert eta > 0
    around = [
        _total(loss, y, F + eta * (1 + move) * direction) for move in np.linspace(-0.1, 0.1, 41)
    ]
    assert np.argmin(around) == 20


def test_line_search_for_the_absolute_error_is_a_weighted_median():
    loss, y, F = CASES["absolute_error"]
    direction = np.random.default_rng(5).normal(size=40)
    direction *= np.sign(WEIGHTS @ (loss.residuals(y, F) * direction))  # a way down
    ratio = weighted_quantile((y - F) / direction, WEIGHTS * np.abs(direction), 0.5)
    assert line_search(loss, y, F, direction, WEIGHTS) == pytest.approx(ratio, rel=1e-12)
    assert line_search(loss, y, F, -direction, WEIGHTS) == 0  # a way up


@pytest.mark.parametrize(("loss", "K"), [(name, 2) for name in LOSSES] + [("log_loss", 3)])
def test_one_length_for_the_whole_tree(loss, K):
    X, y, w = make(loss=loss, n_classes=K)
    rules = GBMRules(loss, 6, 1.0, step="line_search", tree=TREES)
    model = grow_gbm(X, y, w, rules)
    for round_ in model.rounds:
        assert round_.eta > 0
        for tree in round_.trees:
            assert_allclose(
                [s.step for s in tree.leaves], [round_.eta * s.mean for s in tree.leaves]
            )
    if loss != "huber":  # whose δ, and so whose loss, changes with the round
        assert (np.diff(model.train_score) < 0).all()
    if K == 2:  # one length cannot do better than one for every leaf, where those are exact
        by_leaf = grow_gbm(X, y, w, GBMRules(loss, 1, 1.0, tree=TREES))
        assert loss not in EXACT or by_leaf.train_score[0] <= model.train_score[0] + 1e-12


def test_line_search_ends_where_the_classes_can_be_told_apart():
    rules = GBMRules("log_loss", 3, 1.0, step="line_search")
    model = grow_gbm([[0.0], [1.0]], [0, 1], rules=rules)
    assert np.isfinite(model.rounds[-1].F).all()
    assert_allclose(predict_proba_gbm(model, [[0.0], [1.0]]), np.eye(2), atol=1e-12)


# ---------------------------------------------------------------------- laws
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), loss=st.sampled_from(EXACT), nu=st.floats(0.05, 1.0),
       step=st.sampled_from(["leaf", "line_search"]))  # fmt: skip
def test_the_train_score_never_rises(seed, loss, nu, step):
    """A convex loss cannot rise on the way to a minimum."""
    X, y, w = make(seed, n=25, loss=loss)
    model = grow_gbm(X, y, w, GBMRules(loss, 4, nu, step, tree=Rules("squared_error", max_depth=2)))
    start = w @ model.loss.value(model.y, model.F_0) / w.sum()
    assert (np.diff([start, *model.train_score]) <= 1e-12 * abs(start)).all()


def test_weights_are_copies():
    X, y, _ = make(n=40, loss="log_loss")
    w = np.random.default_rng(1).integers(0, 3, 40)
    rules = GBMRules("log_loss", 4, tree=Rules("friedman_mse", max_depth=1))
    weighted = grow_gbm(X, y, w, rules)
    copied = grow_gbm(np.repeat(X, w, axis=0), np.repeat(y, w), None, rules)
    assert_allclose(raw_gbm(weighted, X), raw_gbm(copied, X), atol=1e-12)
    assert_allclose(weighted.train_score, copied.train_score)


def test_rows_out_of_the_bag_take_steps_they_did_not_decide():
    X, y, w = make(n=40)
    in_bag = np.random.default_rng(2).random((3, 40)) < 0.5
    model = grow_gbm(X, y, w, GBMRules(n_rounds=3, tree=TREES), in_bag)
    before = model.F_0
    for bag, round_ in zip(in_bag, model.rounds):
        [tree] = round_.trees
        assert_array_equal(
            np.sort(np.concatenate([leaf.rows for leaf in tree.leaves])), np.flatnonzero(bag)
        )
        assert_allclose(round_.F, before + 0.1 * predict(tree.root, X))
        for leaf in tree.leaves:
            rows = leaf.rows
            assert leaf.step == pytest.approx(np.average((y - before)[rows], weights=w[rows]))
        before = round_.F
    y2 = np.where(in_bag[0], y, 1000.0)
    init = GBMRules(n_rounds=1, init=lambda X: np.zeros(len(X)), tree=TREES)
    first, second = (grow_gbm(X, t, w, init, in_bag[:1]).rounds[0] for t in (y, y2))
    assert_array_equal(first.F, second.F)
    assert first.train_score == second.train_score
    assert first.oob_score < second.oob_score


def test_boosting_goes_on_from_another_model():
    X, y, w = make()
    whole = grow_gbm(X, y, w, GBMRules(n_rounds=6, tree=TREES))
    head = grow_gbm(X, y, w, GBMRules(n_rounds=2, tree=TREES))
    tail = grow_gbm(X, y, w, GBMRules(n_rounds=4, tree=TREES, init=lambda X: raw_gbm(head, X)))
    assert_allclose(raw_gbm(tail, X), raw_gbm(whole, X), atol=1e-12)


def test_a_loss_of_your_own_by_gradient_and_hessian():
    class Logistic(NewtonLoss):
        classifies = True

        def start(self, y, w):
            return np.log(w @ y / (w @ (1 - y)))

        def value(self, y, F):
            return np.log1p(np.exp(-(2 * y - 1) * F))

        def residuals(self, y, F):
            return y - 1 / (1 + np.exp(-F))

        def hessian(self, y, F):
            return np.exp(-F) / (1 + np.exp(-F)) ** 2

    X, y, w = make(loss="log_loss")
    mine = grow_gbm(X, y, w, GBMRules(Logistic(), 4, tree=TREES))
    built_in = grow_gbm(X, y, w, GBMRules("log_loss", 4, tree=TREES))
    assert_allclose(raw_gbm(mine, X), raw_gbm(built_in, X), atol=1e-12)
    assert_allclose(mine.train_score, built_in.train_score)


def test_missing_values_and_categories_reach_the_trees():
    X, y, w = make(n=60)
    X[::4, 0], X[:, 2] = np.nan, np.arange(60) % 3
    tree = Rules("squared_error", max_depth=2, kinds=("numeric", "numeric", "categorical"))
    model = grow_gbm(X, y + X[:, 2] * 9, w, GBMRules(n_rounds=20, learning_rate=0.5, tree=tree))
    questions = [node.chosen for r in model.rounds for node in r.trees[0].root if node.chosen]
    assert "subset" in {question.kind for question in questions}
    assert model.train_score[-1] < 0.1 * model.train_score[0]


# ---------------------------------------------------------------------- tables
def test_the_table_of_a_class_and_of_a_row_left_out():
    X, y, _ = make(n=30, loss="log_loss", n_classes=3)
    bag = np.ones((1, 30), dtype=bool)
    bag[0, 4] = False
    rules = GBMRules("log_loss", 1, step="line_search", tree=TREES)
    model = grow_gbm(X, y, None, rules, bag)
    lines = gbm_table(model, 1, k=2).splitlines()
    assert lines[0].startswith("round 1, train score ")
    assert f", class 2, η = {model.rounds[0].eta:.6g}" in lines[0]
    assert len(lines) == 32
    assert lines[2 + 4].split()[4] == "(out)"
    row = lines[2].split()
    assert float(row[1]) == (y[0] == 2)
    assert float(row[6]) == pytest.approx(model.rounds[0].F[0, 2], abs=1e-4)
    assert gbm_scores(model).splitlines()[1].split()[2] == f"{model.rounds[0].eta:.4f}"


def test_the_table_of_a_tree_that_is_only_a_root():
    text = gbm_table(grow_gbm([[0.0], [0.0]], [1.0, 3.0], rules=GBMRules(n_rounds=1)), 1)
    assert text.count("root") == 2


# ---------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("y", "rules", "message"),
    [
        ([1.0, 2.0], GBMRules("squared"), "unknown loss 'squared'; choose one of squared_error"),
        ([1.0, 2.0], GBMRules("quantile", alpha=1.0), "alpha must lie between 0 and 1, got 1.0"),
        ([1.0, 2.0], GBMRules("huber", alpha=0.0), "alpha must lie"),
        ([1.0, 2.0], GBMRules("tweedie", power=2.5), "power must lie between 1"),
        ([-1.0, 2.0], GBMRules("poisson"), "need y ≥ 0"),
        ([0.0, 0.0], GBMRules("poisson"), "a y > 0"),
        ([0.0, 2.0], GBMRules("gamma"), "needs y > 0; tweedie allows zeros"),
        ([0, 2], GBMRules("log_loss"), "class indices 0 to 2, each in a row"),
        ([0, 0], GBMRules("log_loss"), "class indices 0 to 1"),
        ([0, 2], GBMRules("exponential"), "class indices 0 to 1"),
        ([-1, 1], GBMRules("exponential"), "needs class indices"),
        ([0.5, 1.0], GBMRules("log_loss"), "encode the labels"),
        ([1.0, 2.0], GBMRules(step="newton"), 'step must be "leaf", "line_search" or "gradient"'),
        ([1.0, 2.0], GBMRules(init="mean"), 'init must be "best", "zero" or a function'),
        ([1.0, 2.0], GBMRules(tree=Rules("gini")), "squared_error or friedman_mse, got 'gini'"),
        ([1.0, 2.0, 3.0], GBMRules(), "need one row for every target"),
        ([1.0, np.nan], GBMRules(), "all targets known"),
    ],
)
def test_bad_input(y, rules, message):
    with pytest.raises(ValueError, match=message):
        grow_gbm([[0.0], [1.0]], y, rules=rules)


@pytest.mark.parametrize("in_bag", [[[True, True]] * 3, [[True, False], [False, False]]])
def test_bad_bags(in_bag):
    with pytest.raises(ValueError, match=r"in_bag must have shape \(2, 2\)"):
        grow_gbm([[0.0], [1.0]], [1.0, 2.0], rules=GBMRules(n_rounds=2), in_bag=in_bag)


def test_numbers_have_no_probabilities():
    model = grow_gbm([[0.0], [1.0]], [1.0, 2.0], rules=GBMRules(n_rounds=1))
    with pytest.raises(ValueError, match="SquaredError predicts numbers"):
        predict_proba_gbm(model, [[0.0]])
