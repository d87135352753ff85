"""Common mistakes in print: what is right, one test for each line of docs/errata.md."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from arboretum import (
    AdaBoostRegressor,
    BaggingClassifier,
    CARTClassifier,
    RandomForestClassifier,
    XGBClassifier,
    XGBRegressor,
)
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
    generalisation_bound,
    grow_approximate,
    grow_forest,
    grow_gbm,
    grow_xgb,
    guess_category,
    leaf_value,
    line_search,
    margin_bound,
    predict_proba_gbm,
    propose_cuts,
    reweight,
    seconds_in_parallel,
    sigmoid,
    similarity,
    softmax,
    uniform_margin_bound,
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
    assert (
        CARTClassifier(**{limit: size}).fit(X, y).get_n_leaves() == 2
    )  # exactly that number suffices
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


def test_the_best_learner_is_the_argmin_over_learners_for_any_say():
    X, y = signs()
    w = np.random.default_rng(1).dirichlet(np.ones(30))
    answers = answers_of(all_stumps(X), X)
    errors = (answers != y[:, None]).T @ w
    best = {errors[(w @ np.exp(-say * y[:, None] * answers)).argmin()] for say in (0.1, 1.0, 3.0)}
    assert_allclose(list(best), errors.min())


def test_weights_are_divided_by_their_sum():
    X, y = signs()
    first = discrete_adaboost(X, y, rules=AdaRules(1)).rounds[0]
    undivided = first.w * np.exp(np.where(first.wrong, first.say, -first.say))
    new, Z = reweight(first.w, first.wrong, first.say)
    assert_allclose(undivided.sum(), 2 * np.sqrt(first.error * (1 - first.error)))
    assert undivided.sum() < 0.95
    assert_allclose(new, undivided / Z)
    assert_allclose(new.sum(), 1.0)


def test_rows_and_classifiers_are_two_numbers():
    X, y = signs(12)
    found = coordinate_descent(answers_of(all_stumps(X)[:6], X), y)
    assert (len(y), len(found.coefficients)) == (12, 6)


def test_a_bound_for_all_theta_costs_more_than_one_for_a_single_theta():
    """For θ = 2^-k at once, the k-th gets δ/(k(k+1)): these shares add up to δ."""
    m, delta, extra = 10_000, 0.05, []
    for k in (1, 4, 16):
        one, every = (
            generalisation_bound(0.1, 2.0**-k, 100, m, share)
            for share in (delta, delta / (k * (k + 1)))
        )
        assert every.bound > one.bound
        extra.append(every.confidence - one.confidence)
        # the price is of the order √(log log(1/θ) / m)
        assert extra[-1] < np.sqrt(2 * np.log(k + 1) / m)
    assert extra == sorted(extra)
    assert sum(delta / (k * (k + 1)) for k in range(1, 10_000)) < delta


def test_the_bound_of_a_uniform_edge_needs_theta_up_to_twice_the_edge():
    edges = np.linspace(0.01, 0.49, 25)
    for edge in edges:
        for theta in np.linspace(0.01, 0.99, 25):
            uniform = uniform_margin_bound(edge, theta, 10)
            larger = [margin_bound([0.5 - e] * 10, theta) for e in edges if e >= edge]
            if theta <= 2 * edge:
                assert max(larger) <= uniform * (1 + 1e-12)
            else:
                assert uniform >= 1 - 1e-12  # true of every share, whatever the errors
            if theta < edge:
                assert uniform < 1
    assert margin_bound([0.4] * 10, 0.3) > 1.3 * uniform_margin_bound(0.02, 0.3, 10)


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


def test_leaves_of_classification_are_log_odds():
    # one pure row a leaf, from p = ½: (1 - ½)/(½·½) = 2, which is no probability
    model = grow_gbm([[0.0], [1.0]], [0, 1], rules=GBMRules("log_loss", 1, 1.0))
    assert [leaf.step for leaf in model.rounds[0].trees[0].leaves] == [-2.0, 2.0]
    assert_allclose(model.rounds[0].F.ravel(), [-2.0, 2.0])
    assert_allclose(predict_proba_gbm(model, [[0.0], [1.0]])[:, 1], sigmoid(np.array([-2.0, 2.0])))


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
    assert_allclose(model.F_0, 73.33, atol=5e-3)  # F_0, which is also printed as r_0
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


def test_the_first_prediction_is_estimated_unless_base_score_is_given():
    X, y = np.arange(8.0)[:, None], np.array([10.0, 11, 12, 13, 14, 15, 16, 29])
    still = {"n_estimators": 1, "reg_lambda": 1e15}  # its leaves are 0
    assert_allclose(XGBRegressor(**still).fit(X, y).predict(X), y.mean(), rtol=1e-6)
    assert_allclose(XGBRegressor(**still, base_score=0.5).fit(X, y).predict(X), 0.5, rtol=1e-6)
    share = XGBClassifier(**still).fit(X, y > 11.5).predict_proba(X)[:, 1]
    assert_allclose(share, 0.75, rtol=1e-6)


def test_the_penalty_is_added_to_the_loss_once_per_tree():
    # two leaves of squared error: the sum of losses and Ω is least at -G/(H + λ)
    y, f, leaf = np.array([3.0, 1.0, -2.0]), np.zeros(3), np.array([0, 0, 1])
    G, H, penalty = np.array([-4.0, 2.0]), np.array([2.0, 1.0]), 1.5

    def objective(b, inside):
        omega = 0.5 * penalty * np.sum(b**2)
        error = y - f - b[leaf] - (omega if inside else 0.0)
        return 0.5 * np.sum(error**2) + (0.0 if inside else omega)

    best = np.array([leaf_value(G[j], H[j], XGBSettings(reg_lambda=penalty)) for j in (0, 1)])
    for j in (0, 1):
        step = 1e-5 * np.eye(2)[j]
        slopes = [(objective(best + step, k) - objective(best - step, k)) / 2e-5 for k in (0, 1)]
        assert abs(slopes[0]) < 1e-8  # outside the loss,
        assert abs(slopes[1]) > 0.1  # not inside, where it would be part of the prediction


def test_every_leaf_is_optimal_by_itself():
    G, H, reg = np.array([-4.0, 2.0]), np.array([2.0, 1.0]), 1.0
    best = -G / (H + reg)
    assert_allclose(leaf_value(G, H, XGBSettings(reg_lambda=reg)), best)
    other = best + np.array([1.0, -1.5])  # the sum of both derivatives is 0 here, too
    assert_allclose(np.sum(G + (H + reg) * other), 0, atol=1e-12)

    def objective(b):
        return np.sum(G * b + 0.5 * (H + reg) * b**2)

    assert objective(other) > objective(best) + 1
    assert_allclose(objective(best), -0.5 * np.sum(similarity(G, H, XGBSettings(reg_lambda=reg))))


def test_similarity_loses_lambda_over_n_plus_lambda():
    without, one = XGBSettings(reg_lambda=0.0), XGBSettings(reg_lambda=1.0)
    for n in (1, 4, 9):
        lost = 1 - similarity(-6.0 * n, float(n), one) / similarity(-6.0 * n, float(n), without)
        assert_allclose(lost, 1 / (n + 1))  # .5, .2, .1: not .5/n


def test_gamma_0_removes_splits_of_negative_gain():
    # γ = 0, not λ = 0, leaves pruning at work: with λ > 0 gains may be negative, without λ they are not
    X, g = np.arange(4.0)[:, None], np.array([1.0, 0.9, 1.1, 1.0])
    with_lambda, without = (
        column_candidates(X[:, 0], g, np.ones(4), XGBSettings(reg_lambda=penalty))
        for penalty in (1.0, 0.0)
    )
    assert max(cut.gain for cut in with_lambda) < 0
    assert min(cut.gain for cut in without) > -1e-12
    assert grow_xgb(X, g, np.ones(4), XGBSettings(gamma=0, reg_lambda=1)).is_leaf
    assert not grow_xgb(X, g, np.ones(4), XGBSettings(gamma=0, reg_lambda=0)).is_leaf


@pytest.mark.parametrize("method", ["exact", "hist", "approx"])
def test_a_gain_equal_to_gamma_is_kept(method):
    X, g = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    (cut,) = column_candidates(X[:, 0], g, np.ones(4), XGBSettings(reg_lambda=0))
    for gamma, leaves in ((cut.gain, 2), (cut.gain + 0.001, 1)):
        settings = XGBSettings(reg_lambda=0, gamma=gamma)
        assert grow_xgb(X, g, np.ones(4), settings).is_leaf == (leaves == 1)
        model = XGBRegressor(
            n_estimators=1, reg_lambda=0, gamma=gamma, base_score=0, tree_method=method
        )
        assert model.fit(X, -g).trees_[0].n_leaves == leaves


def test_gradients_belong_to_rows_not_to_columns():
    g, h = derivatives("binary:logistic", [0, 1, 1], np.zeros((3, 1)))  # no columns are given
    assert g.shape == h.shape == (3, 1)
    h = h[:, 0]
    x = np.array([[1.0, 9.0], [2.0, 7.0], [3.0, 8.0]])
    for column in x.T:  # r_k(z): the share of the hessians below z, h the same for every column
        cuts = propose_cuts(column, h, 0.5)
        assert set(cuts) <= set(column)
        assert_allclose(h[column < cuts[0]].sum() / h.sum(), 1 / 3)


def test_four_columns_take_a_quarter_of_the_time_only_on_four_cores():
    seconds = [seconds_in_parallel([10.0] * 4, threads) for threads in (1, 2, 4, 8)]
    assert seconds == [40.0, 20.0, 10.0, 10.0]


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
def test_out_of_bag_rows_are_predicted_by_trees_that_have_not_seen_them():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(100, oob_score=True, random_state=0).fit(X, y)
    assert 0.93 < forest.oob_score_ < 0.97
    assert forest.score(X, y) > 0.99  # by all trees


def test_a_forest_draws_columns_per_node_not_per_tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X.sum(axis=1) > 0).astype(int)
    forest = RandomForestClassifier(10, max_features=2, random_state=0).fit(X, y)
    assert all(len(set(tree.feature[~tree.is_leaf].tolist())) == 4 for tree in forest.trees_)
    subspace = BaggingClassifier(CARTClassifier(), 10, max_features=2, random_state=0).fit(X, y)
    assert all(len(columns) == 2 for columns in subspace.estimators_features_)


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
