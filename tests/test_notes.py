"""Where the study notes are wrong: what is right, one test for each line of docs/errata.md."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from arboretum import AdaBoostRegressor, CARTClassifier, RandomForestClassifier
from arboretum.textbook import (
    AdaRules,
    BinomialDeviance,
    CoordinateRules,
    Exponential,
    GBMRules,
    Rules,
    SquaredError,
    XGBSettings,
    all_stumps,
    answers_of,
    best_stump,
    column_candidates,
    conditional_entropy,
    coordinate_descent,
    derivatives,
    discrete_adaboost,
    grow_approximate,
    grow_forest,
    grow_gbm,
    grow_xgb,
    guess_category,
    leaf_value,
    line_search,
    predict_proba_gbm,
    propose_cuts,
    sigmoid,
    similarity,
    softmax,
)
from arboretum.textbook.forest import ForestRules


def slope(f, x, step=1e-6):
    return (f(x + step) - f(x - step)) / (2 * step)


# ---------------------------------------------------------------------- entropy, CART
def test_conditional_entropy_has_a_minus():
    y, a = [0, 0, 1, 1, 1, 0], [0, 0, 0, 1, 1, 1]
    p = np.array([2 / 3, 1 / 3])
    assert_allclose(conditional_entropy(y, a), -np.sum(p * np.log2(p)))  # not the sum itself, < 0


@pytest.mark.parametrize("limit", ["min_samples_split", "min_samples_leaf"])
def test_min_samples_is_at_least_not_more_than(limit):
    X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    size = 20 if limit == "min_samples_split" else 10
    assert CARTClassifier(**{limit: size}).fit(X, y).get_n_leaves() == 2  # exactly so many suffice
    assert CARTClassifier(**{limit: size + 1}).fit(X, y).get_n_leaves() == 1


# ---------------------------------------------------------------------- AdaBoost
@pytest.mark.parametrize("f", [-0.7, 0.0, 1.3])
def test_the_derivative_of_the_exponential_loss_has_no_factor_f(f):
    p = 0.8
    right = -p * np.exp(-f) + (1 - p) * np.exp(f)
    assert_allclose(slope(lambda f: p * np.exp(-f) + (1 - p) * np.exp(f), f), right, rtol=1e-6)
    assert abs(right) > 0.1  # times f it would be 0 at f = 0, wherever the minimum is


def signs(n=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1)


def test_weights_follow_the_model_before_row_by_row():
    # w_{m,i} = exp(-y_i f_{m-1}(x_i)), up to their sum: not f_{m+1}, and not the weight of row 1
    X, y = signs()
    model, f = discrete_adaboost(X, y, rules=AdaRules(5)), np.zeros(30)
    for r in model.rounds:
        w = np.exp(-y * f)
        assert_allclose(r.w, w / w.sum(), rtol=1e-9)
        f = f + r.say * r.answers


def test_the_total_error_is_weighted():
    X, y = signs()
    second = discrete_adaboost(X, y, rules=AdaRules(2)).rounds[1]
    assert_allclose(second.error, second.w[second.wrong].sum())
    assert abs(second.error - second.wrong.mean()) > 0.01
    assert_allclose(best_stump(X, y, second.w)(X), second.answers)


def test_a_regression_sum_is_divided_by_the_says():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = 10 + X[:, 0]
    model = AdaBoostRegressor(n_estimators=10, combine="sum").fit(X, y)
    total = model.estimator_weights_.sum()
    assert abs(model.predict(X).mean() / 10 - 1) > 0.5  # no estimate of y, whose mean is 10
    assert_allclose(model.predict(X).mean() / total, 10, atol=0.5)
    mean = AdaBoostRegressor(n_estimators=10, combine="mean").fit(X, y)
    assert_allclose(mean.predict(X), model.predict(X) / total)


def test_coordinate_steps_add_up():
    X, y = signs(12)
    y[:3] *= -1
    stumps = all_stumps(X)[:6]
    found = coordinate_descent(answers_of(stumps, X), y, rules=CoordinateRules("cyclic", 60))
    deltas = np.zeros(6)
    last = np.zeros(6)
    for step in found.steps:
        deltas[step.j] += step.delta
        last[step.j] = step.delta
    assert_allclose(found.coefficients, deltas)  # λ_j ← λ_j + α_j
    assert np.abs(found.coefficients - last).max() > 0.01  # not λ_j ← α_j


# ---------------------------------------------------------------------- gradient boosting
def test_the_negative_gradient_of_the_deviance_is_y_minus_p():
    y, F, loss = np.array([0.0, 1.0]), np.array([0.4, 0.4]), BinomialDeviance()
    assert_allclose(loss.residuals(y, F), y - sigmoid(F))
    assert_allclose(loss.residuals(y, F), -slope(lambda F: loss.value(y, F), F), rtol=1e-6)


def test_deviance_and_its_labels_are_0_and_1():
    # log(1 + e^F) - yF for y in {0, 1}; for s = ±1 it is written log(1 + e^(-sF))
    F = np.linspace(-2, 2, 5)
    for y in (0.0, 1.0):
        values = BinomialDeviance().value(np.full(5, y), F)
        assert_allclose(values, np.log1p(np.exp(-(2 * y - 1) * F)))
    with pytest.raises(ValueError, match="class indices"):
        grow_gbm([[0.0], [1.0]], [-1, 1], rules=GBMRules("log_loss", 1))


def test_a_leaf_of_the_deviance_takes_a_newton_step():
    X, y = [[0.0], [0.0], [0.0], [1.0]], [1, 1, 0, 0]
    tree = grow_gbm(X, y, rules=GBMRules("log_loss", 1, tree=Rules("squared_error", max_depth=1)))
    leaf = tree.rounds[0].trees[0].leaves[0]
    assert_allclose(leaf.step, (1 + 1 + 0 - 3 * 0.5) / (3 * 0.25))  # Σr / Σp(1-p)
    assert abs(leaf.step - leaf.mean) > 0.1


def test_a_probability_is_one_over_one_plus_e_to_minus_the_log_odds():
    model = grow_gbm([[0.0], [1.0]], [0, 1], rules=GBMRules("log_loss", 1, 1.0))
    assert_allclose(predict_proba_gbm(model, [[1.0]])[0, 1], 1 / (1 + np.exp(-2)))


def test_the_negative_gradient_of_a_square_has_a_2():
    y, f = 3.0, 1.0
    assert_allclose(-slope(lambda f: (y - f) ** 2, f), 2 * (y - f), rtol=1e-6)
    # the library's squared error is halved, so that the residual is y - f
    assert_allclose(SquaredError().residuals(np.array([y]), np.array([f])), [y - f])


def test_a_step_goes_along_the_negative_gradient():
    y, F, w = np.array([1.0, 2.0, 9.0]), np.zeros(3), np.ones(3)
    r = SquaredError().residuals(y, F)
    assert line_search(SquaredError(), y, F, r, w) == pytest.approx(1.0)
    assert line_search(SquaredError(), y, F, -r, w) == 0.0  # the gradient itself leads up


def test_boosting_of_88_76_56_begins_with_their_mean():
    model = grow_gbm([[1.0], [1.0], [0.0]], [88.0, 76.0, 56.0], rules=GBMRules(n_rounds=2))
    assert_allclose(model.F_0, 73.33, atol=5e-3)  # F_0, which one note calls r_0
    assert_allclose(model.rounds[0].trees[0].residuals, [14.67, 2.67, -17.33], atol=5e-3)
    assert_allclose(model.rounds[0].F, [74.2, 74.2, 71.6], atol=5e-3)
    assert_allclose(model.rounds[1].trees[0].residuals, [13.8, 1.8, -15.6], atol=5e-3)


def test_the_softmax_of_the_example_is_divided_by_3_01():
    logits = np.array([0.05, -0.02, -0.02])
    assert_allclose(np.exp(logits).sum(), 3.0117, atol=5e-5)
    assert_allclose(softmax(logits), [0.34907, 0.32547, 0.32547], atol=5e-6)
    assert_allclose(softmax([0.09, -0.04, -0.04]), [0.36282, 0.31859, 0.31859], atol=5e-6)


# ---------------------------------------------------------------------- XGBoost
def test_similarity_is_the_square_of_the_sum():
    g = np.array([-3.0, 2.0])
    assert float(similarity(g.sum(), 2.0, XGBSettings(reg_lambda=0))) == pytest.approx(0.5)
    assert float(leaf_value(g.sum(), 2.0, XGBSettings(reg_lambda=0))) == pytest.approx(0.5)  # -G/H


def test_lambda_is_added_once_for_a_leaf():
    assert (
        float(leaf_value(-10.0, 4.0, XGBSettings(reg_lambda=1))) == 2.0
    )  # 10/(4 + 1), not 10/(4 + 4)


def test_gamma_0_takes_back_what_gains_less_than_nothing():
    # the note says λ = 0; it is γ = 0 that does not keep a branch from being pruned
    X, g = np.arange(4.0)[:, None], np.array([1.0, -1.0, 1.0, -1.0])
    table = column_candidates(X[:, 0], g, np.ones(4), XGBSettings(reg_lambda=1))
    assert min(c.gain for c in table) < 0 or all(c.gain >= 0 for c in table)
    X, g = np.arange(2.0)[:, None], np.array([1.0, 0.9])
    (cut,) = column_candidates(X[:, 0], g, np.ones(2), XGBSettings(reg_lambda=1))
    assert cut.gain < 0
    assert grow_xgb(X, g, np.ones(2), XGBSettings(gamma=0)).is_leaf


def test_there_are_three_ways_to_find_a_split():
    X, g, h = np.array([[1.0], [2.0], [3.0], [np.nan]]), np.array([-2.0, -1, 3, 3]), np.ones(4)
    exact = grow_xgb(X, g, h)  # greedy over all values, and
    about = grow_approximate(X, g, h, 0.5).root  # over proposed ones; both
    for tree in (exact, about):  # try missing values on either side
        assert {c.default for c in tree.candidates} == {"left", "right"}


def test_the_first_proposal_is_the_smallest_value_and_the_last_the_largest():
    x = np.array([4.0, 1.0, 3.0, 9.0, 2.0])
    cuts = propose_cuts(x, np.ones(5), 0.3)
    assert cuts[-1] == x.max()
    assert cuts[0] > x.min()  # s_1 = min, below which there is nothing to cut off


def test_xgboost_doubles_the_hessian_of_softmax():
    F = np.array([[0.2, -0.1, 0.0]])
    p = softmax(F)
    _, h = derivatives("multi:softprob", [0], F)
    assert_allclose(h, 2 * p * (1 - p))


# ---------------------------------------------------------------------- forests
def test_out_of_bag_rows_are_asked_of_trees_that_have_not_seen_them():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(100, oob_score=True, random_state=0).fit(X, y)
    assert 0.93 < forest.oob_score_ < 0.97
    assert forest.score(X, y) > 0.99  # asked of all trees


def test_columns_are_drawn_anew_at_every_node_and_stay_available():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.digitize(X[:, 0], [-1, -0.5, 0, 0.5, 1])
    forest = grow_forest(
        X, y, rules=Rules("gini", n_classes=6), recipe=ForestRules(1, max_features=2)
    )
    (tree,) = forest.trees
    asked = [{c.feature for c in node.candidates} for node in tree if node.candidates]
    assert all(len(columns) <= 2 for columns in asked)
    assert len({frozenset(columns) for columns in asked}) > 3  # not one draw for a level or a tree
    asks = {node.path: node.chosen.feature for node in tree if node.chosen}
    # a column that was asked may be asked again further down
    assert any(asks[path[:k]] == asks[path] for path in asks for k in range(len(path)))


def test_a_category_s_frequency_counts_once():
    # proximities .1 (yes), .1 and .8 (no): .1 against .9, not 1/3 · .1 = 1/30 against 2/3 · .9 = 3/5
    guess = guess_category([1.0, 0.0, 0.0], [0.1, 0.1, 0.8])
    assert guess.value == 0.0
    assert_allclose([guess.shares[1.0], guess.shares[0.0]], [0.1, 0.9])


def test_exponential_loss_is_least_at_half_the_log_odds():
    p, loss = 0.8, Exponential()
    best = np.log(p / (1 - p)) / 2
    value = p * loss.value(np.ones(1), np.array([best])) + (1 - p) * loss.value(
        np.zeros(1), np.array([best])
    )
    assert_allclose(value, 2 * np.sqrt(p * (1 - p)))
