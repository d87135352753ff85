"""AdaBoost by hand, by its theorems, and against scikit-learn where nothing is drawn."""

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from arboretum.textbook import (
    adaboost,
    adaboost_regression,
    adaboost_theory,
    weak_learners,
)
from arboretum.textbook.adaboost import (
    AdaRules,
    adaboost_table,
    amount_of_say,
    discrete_adaboost,
    predict_adaboost,
    resample,
    reweight,
    samme,
    samme_r,
    votes_adaboost,
    weights_table,
)
from arboretum.textbook.adaboost_regression import predict_r2, r2_losses
from arboretum.textbook.adaboost_theory import (
    margin_bound,
    margin_report,
    margins,
    normaliser,
    theory,
)
from arboretum.textbook.splits import Rules
from arboretum.textbook.weak_learners import Stump, all_stumps, best_stump, tree_learner

r2 = adaboost_regression.adaboost_r2


def make(seed=0, n=60, n_classes=2, columns=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns)).astype(np.float32).astype(np.float64)
    signal = X[:, 0] + X[:, -1] * X[:, 0] + 0.3 * rng.normal(size=n)
    return X, np.digitize(signal, [0.0] if n_classes == 2 else [-0.5, 0.5])


def random_signs(seed, n=20, columns=2):
    """Coarse columns and noisy labels: ties, and hypotheses that are hardly better than chance."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n, columns)).astype(float)
    y = np.where(X[:, 0] + 3 * rng.normal(size=n) > 2.5, 1, -1)
    return X, y, rng.uniform(0.2, 2, n)


MODULES = [adaboost, adaboost_regression, adaboost_theory, weak_learners]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_the_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


# ---------------------------------------------------------------------- amount of say
def test_amount_of_say():
    assert amount_of_say(0.5) == 0
    assert amount_of_say(0.999999) < -6
    assert amount_of_say(1.0) == -np.inf
    for error in (0.01, 0.2, 0.4):
        assert amount_of_say(error) == pytest.approx(0.5 * np.log((1 - error) / error))
        assert amount_of_say(error) == pytest.approx(-amount_of_say(1 - error))  # odds, mirrored
        for K in (2, 3, 5):  # chance has no say: error 1 - 1/K
            assert amount_of_say(1 - 1 / K, K) == pytest.approx(0, abs=1e-12)
    assert amount_of_say(0.2, 2) == pytest.approx(2 * amount_of_say(0.2))


# ---------------------------------------------------------------------- codings
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_erratum_004_the_zero_one_coding_needs_twice_the_say(seed):
    rng = np.random.default_rng(seed)
    w, wrong = rng.dirichlet(np.ones(8)), rng.random(8) < 0.5
    wrong[:2] = [True, False]
    error = w[wrong].sum()
    say = amount_of_say(error)
    signs, Z = reweight(w, wrong, say, "signs")
    zero_one, Z2 = reweight(w, wrong, say, "zero_one")
    note, _ = reweight(w, wrong, say, "zero_one_note")
    assert_allclose(zero_one, signs)
    assert_allclose(Z2, Z * np.exp(say))
    # after the right update the hypothesis is a coin; after the note's it is not
    assert signs[wrong].sum() == pytest.approx(0.5)
    kept = np.sqrt(error) / (np.sqrt(error) + np.sqrt(1 - error))
    assert note[wrong].sum() == pytest.approx(kept)
    assert (kept - 0.5) * (error - 0.5) >= 0
    assert_allclose(note, reweight(w, wrong, say / 2, "signs")[0])  # as if the say were half


def test_the_codings_agree_and_the_note_does_not():
    X, y = make()
    signs = discrete_adaboost(X, 2 * y - 1, rules=AdaRules(12))
    zero_one = discrete_adaboost(X, y, rules=AdaRules(12, coding="zero_one"))
    note = discrete_adaboost(X, y, rules=AdaRules(12, coding="zero_one_note"))
    for a, b in zip(signs.rounds, zero_one.rounds):
        assert_allclose(a.w, b.w)
        assert_array_equal(a.answers, 2 * b.answers - 1)
    assert_allclose(signs.says, zero_one.says)
    assert_allclose(votes_adaboost(signs, X), votes_adaboost(zero_one, X))
    assert_array_equal(predict_adaboost(signs, X), 2 * predict_adaboost(zero_one, X) - 1)
    assert_allclose(note.rounds[0].say, signs.rounds[0].say)
    assert np.abs(note.errors[1:] - signs.errors[1:]).max() > 0.01
    assert set(predict_adaboost(note, X)) == {0, 1}
    with pytest.raises(ValueError, match="whose weights follow its votes"):
        margins(note, X, y)


# ---------------------------------------------------------------------- stumps
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), columns=st.integers(1, 3))
def test_no_stump_beats_the_best(seed, columns):
    X, y, w = random_signs(seed, columns=columns)
    stump = best_stump(X, y, w)
    errors = [w @ (g(X) != y) for g in all_stumps(X)]
    assert w @ (stump(X) != y) == pytest.approx(min(errors))


def test_the_best_stump_of_three_classes():
    X, y = make(n_classes=3)
    w = np.random.default_rng(1).uniform(0.5, 2, len(y))
    least = min(
        w @ (Stump(f, cut, a, b)(X) != y)
        for f in range(3) for cut in X[:, f] for a in range(3) for b in range(3)
    )  # fmt: skip
    assert w @ (best_stump(X, y, w)(X) != y) == pytest.approx(least)


def test_a_stump_without_a_cut_is_a_constant():
    assert best_stump([[1.0], [1.0]], [3, 4], [1, 2]) == Stump(0, np.inf, 4, 4)
    assert len(all_stumps([[1.0, 2.0], [1.0, 5.0], [1.0, 7.0]])) == 2 + 2 * 2


# ---------------------------------------------------------------------- against scikit-learn
@pytest.mark.parametrize("learning_rate", [1.0, 0.5])
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("K", [2, 3])
def test_samme_is_scikit_learns(K, depth, learning_rate):
    X, y = make(n_classes=K)
    w = np.random.default_rng(1).uniform(0.5, 2, len(y))  # no two splits gain the same
    tree = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=5)
    theirs = AdaBoostClassifier(tree, n_estimators=10, learning_rate=learning_rate).fit(X, y, w)
    learner = tree_learner(Rules("gini", n_classes=K, max_depth=depth, min_samples_leaf=5))
    mine = samme(X, y, w, AdaRules(10, learning_rate), learner)
    assert len(mine.rounds) == len(theirs.estimators_) == 10
    assert_allclose(mine.errors, theirs.estimator_errors_, rtol=0, atol=1e-9)
    assert_allclose(mine.says, theirs.estimator_weights_, rtol=0, atol=1e-9)
    unseen = make(99)[0]
    assert_array_equal(predict_adaboost(mine, unseen), theirs.predict(unseen))
    votes = votes_adaboost(mine, unseen) / mine.says.sum()
    scores = (votes * K - 1) / (K - 1)  # they count a vote for another class as -1/(K-1)
    scores = scores[:, 1] - scores[:, 0] if K == 2 else scores
    assert_allclose(scores, theirs.decision_function(unseen), atol=1e-9)


def test_samme_of_two_classes_is_discrete_adaboost():
    X, y = make()
    discrete, two = (
        discrete_adaboost(X, 2 * y - 1, rules=AdaRules(9)),
        samme(X, y, rules=AdaRules(9)),
    )
    assert_allclose(two.says, 2 * discrete.says)
    for a, b in zip(discrete.rounds, two.rounds):
        assert_allclose(a.next_w, b.next_w)
    assert_array_equal(predict_adaboost(discrete, X), 2 * predict_adaboost(two, X) - 1)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize("learning_rate", [1.0, 0.5])
def test_r2_weighs_as_scikit_learn_does(loss, learning_rate):
    """It draws its rows, so its hypotheses are taken over; all the figures must follow."""
    X, _ = make(n=80)
    y = X[:, 0] + X[:, 1] ** 2 + 0.1 * np.random.default_rng(1).normal(size=80)
    theirs = AdaBoostRegressor(
        DecisionTreeRegressor(max_depth=3), n_estimators=12, loss=loss,
        learning_rate=learning_rate, random_state=0,
    ).fit(X, y)  # fmt: skip
    hypotheses = iter([tree.predict for tree in theirs.estimators_])
    rules = AdaRules(len(theirs.estimators_), learning_rate)
    mine = r2(X, y, None, rules, loss, lambda X, y, w: next(hypotheses))
    m = len(mine.rounds)
    assert m > 5
    assert_allclose([r.error for r in mine.rounds], theirs.estimator_errors_[:m], atol=1e-12)
    assert_allclose([r.say for r in mine.rounds], theirs.estimator_weights_[:m], atol=1e-12)
    unseen = make(99)[0]
    assert_allclose(predict_r2(mine, unseen), theirs.predict(unseen), atol=1e-12)


# ---------------------------------------------------------------------- R2
def test_r2_by_hand():
    def learner(X, y, w):
        return lambda X: np.zeros(len(X))

    model = r2([[0.0]] * 4, [0.0, 1.0, 0.0, 2.0], None, AdaRules(1), "linear", learner)
    [r] = model.rounds
    assert_allclose(r.losses, [0, 0.5, 0, 1])
    assert r.error == pytest.approx(0.375)
    assert r.beta == pytest.approx(0.6)
    assert r.say == pytest.approx(np.log(1 / 0.6))
    new = np.array([0.6, 0.6**0.5, 0.6, 1]) / 4
    assert pytest.approx(new.sum()) == r.Z
    assert_allclose(r.next_w, new / new.sum())


def test_r2_scales_by_rows_that_have_weight():
    assert_allclose(r2_losses([1.0, 2.0, 50.0], [1, 1, 0], "square")[:2], [0.25, 1])
    assert_array_equal(r2_losses([0.0, 0.0], [1, 1], "exponential"), [0, 0])


def test_r2_stops():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 0.0, 2.0]
    answers = iter([[0.0] * 4, [3.0, 1.0, 3.0, 1.0]])

    def learner(X, y, w):
        answer = np.array(next(answers))
        return lambda X: answer[: len(X)]

    model = r2(X, y, None, AdaRules(5), "linear", learner)
    assert (len(model.rounds), model.stop) == (1, "loss of a half")  # the second is discarded
    first = r2(X, y, None, AdaRules(5), "linear", lambda X, y, w: lambda X: np.full(len(X), 9.0))
    assert first.stop == "loss of a half"
    assert_array_equal(predict_r2(first, X), 9)  # a first one never is
    assert r2(X, y, None, AdaRules(5)).stop == "perfect"


def test_r2_learns_from_weighted_or_from_drawn_rows():
    X, _ = make(n=60)
    y = X[:, 0] + np.random.default_rng(1).normal(size=60) ** 3
    seen = []

    def learner(X, y, w):
        seen.append((len(X), float(w.max() - w.min())))
        return tree_learner(Rules("squared_error", max_depth=1))(X, y, w)

    r2(X, y, None, AdaRules(2), "square", learner)
    r2(X, y, None, AdaRules(2), "square", learner, np.random.default_rng(0).random((2, 50)))
    assert seen[0] == (60, 0.0)
    assert seen[1][1] > 0
    assert seen[2:] == [(50, 0.0)] * 2


# ---------------------------------------------------------------------- SAMME.R
@pytest.mark.parametrize("K", [2, 3])
def test_the_weights_of_samme_r_follow_its_votes(K):
    """w ∝ exp(-Σ_k c_k f_k / K): the exponential loss of the votes so far."""
    X, y = make(n_classes=K)
    learner = tree_learner(Rules("gini", n_classes=K, max_depth=2, min_samples_leaf=8), shares=True)
    model = samme_r(X, y, None, AdaRules(6), learner)
    coded = np.where(y[:, None] == np.arange(K), 1, -1 / (K - 1))
    expected = np.exp(-(coded * votes_adaboost(model, X)).sum(axis=1) / K)
    assert_allclose(model.rounds[-1].next_w, expected / expected.sum())
    assert_allclose(votes_adaboost(model, X).sum(axis=1), 0, atol=1e-9)
    assert np.mean(predict_adaboost(model, X) == y) > 0.8


def test_two_classes_vote_by_half_the_log_odds():
    X, y = make()
    learner = tree_learner(Rules("gini", max_depth=1, min_samples_leaf=10), shares=True)
    model = samme_r(X, y, None, AdaRules(1), learner)
    p = model.rounds[0].answers[:, 1]
    assert_allclose(votes_adaboost(model, X)[:, 1], 0.5 * np.log(p / (1 - p)))


def test_a_share_of_zero_does_not_break_the_logarithm():
    model = samme_r([[0.0], [1.0], [2.0], [1.0]], [0, 1, 1, 0], rules=AdaRules(5))
    assert np.isfinite(votes_adaboost(model, [[0.0], [2.0]])).all()
    assert samme_r([[0.0], [1.0]], [0, 1]).stop == "perfect"


# ---------------------------------------------------------------------- theorems
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), coding=st.sampled_from(["signs", "zero_one"]))
def test_the_training_error_stays_below_its_bounds(seed, coding):
    X, y, w = random_signs(seed)
    y = y if coding == "signs" else (y + 1) // 2
    model = discrete_adaboost(X, y, w, AdaRules(12, coding=coding))
    for row in theory(model, X, y):
        assert row.train_error <= row.product + 1e-12
        assert row.product <= row.exponential + 1e-12
        assert row.edge == 0.5 - row.error > 0
    wrong = predict_adaboost(model, X) != y
    assert model.rounds[0].w[wrong].sum() <= row.train_error + 1e-12  # f = 0 counts as wrong there
    for row in margin_report(model, X, y, np.linspace(-1, 1, 9)):
        assert row.share <= row.bound + 1e-12


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), learning_rate=st.floats(0.1, 1.5))
def test_the_weights_remember_every_round(seed, learning_rate):
    X, y, w = random_signs(seed)
    model = discrete_adaboost(X, y, w, AdaRules(6, learning_rate))
    loss = w / w.sum() * np.exp(-y * votes_adaboost(model, X))
    product = np.prod([r.Z for r in model.rounds])
    assert loss.sum() == pytest.approx(product)
    assert_allclose(model.rounds[-1].next_w, loss / product)
    for r in model.rounds:
        assert normaliser(r.error, r.say) == pytest.approx(r.Z)
        assert normaliser(r.error) <= r.Z + 1e-12  # the full say is the best one


@settings(deadline=None)
@given(error=st.floats(0.001, 0.499), theta=st.floats(-1, 1))
def test_the_closed_forms(error, theta):
    say, edge = amount_of_say(error), 0.5 - error
    Z = normaliser(error)
    assert pytest.approx(normaliser(error, say)) == Z
    assert pytest.approx(np.sqrt(1 - 4 * edge**2)) == Z
    assert np.exp(-2 * edge**2) >= Z
    general = margin_bound([error], theta, [say])
    assert margin_bound([error], theta) == pytest.approx(general)
    assert general == pytest.approx(2 * np.sqrt(error ** (1 - theta) * (1 - error) ** (1 + theta)))
    if 0 < theta <= edge:  # an edge as large as θ is enough
        assert general < 1


def test_margins_are_the_share_of_say_that_agrees():
    X, y = make()
    y = 2 * y - 1
    model = discrete_adaboost(X, y, rules=AdaRules(15))
    agree = np.array([r.hypothesis(X) == y for r in model.rounds])
    share = model.says @ agree / model.says.sum()
    assert_allclose(margins(model, X, y), 2 * share - 1)
    assert_allclose(margins(model, X, y), y * votes_adaboost(model, X) / model.says.sum())


def test_margins_go_on_growing_after_the_error_is_zero():
    X, y = make(3, n=30)
    y = 2 * y - 1
    table = theory(discrete_adaboost(X, y, rules=AdaRules(60)), X, y)
    done = next(i for i, row in enumerate(table) if row.train_error == 0)
    assert done < 40
    assert table[-1].least_margin > table[done].least_margin + 0.02


def test_the_theory_refuses_other_algorithms():
    X, y = make()
    with pytest.raises(ValueError, match="the theory is about discrete_adaboost"):
        theory(samme(X, y, rules=AdaRules(3)), X, y)


# ---------------------------------------------------------------------- stops, draws, tables
def _constant(*labels):
    """A learner that answers ``labels`` round by round, without looking."""
    left = iter(labels)

    def learner(X, y, w):
        label = next(left)
        return lambda X: np.full(len(X), label)

    return learner


def test_a_first_hypothesis_no_better_than_chance_is_an_error():
    for boost, y, chance in [(discrete_adaboost, [-1, 1, 1], "0.5"), (samme, [0, 1, 2], "0.6667")]:
        with pytest.raises(ValueError, match=f"chance has {chance}: there is nothing to boost"):
            boost(
                [[0.0], [1.0], [2.0]], y, learner=_constant(-1 if boost is discrete_adaboost else 9)
            )


def test_a_later_one_is_discarded():
    model = discrete_adaboost([[0.0], [1.0], [2.0]], [-1, 1, 1], learner=_constant(1, 1))
    assert (len(model.rounds), model.stop) == (1, "no better than chance")


def test_a_perfect_one_is_kept_with_a_say_of_one():
    for model in (discrete_adaboost([[0.0], [1.0]], [-1, 1]), samme([[0.0], [1.0]], [0, 1])):
        assert (model.stop, model.errors.tolist(), model.says.tolist()) == ("perfect", [0], [1])
    rows = theory(discrete_adaboost([[0.0], [1.0]], [-1, 1]), [[0.0], [1.0]], [-1, 1])
    assert rows[0].train_error == 0 < rows[0].product < rows[0].exponential


def test_drawing_rows_by_weight():
    w = np.array([0.5, 0.0, 0.2, 0.3])
    drawn = resample(w, np.random.default_rng(0).random(20_000))
    assert_allclose(np.bincount(drawn, minlength=4) / 20_000, w, atol=0.01)
    assert_array_equal(resample(np.ones(4), [0.0, 0.25, 0.5, 0.999]), [0, 1, 2, 3])


def test_boosting_by_drawn_rows():
    X, y = make(n=80)
    y, seen = 2 * y - 1, []

    def learner(X, y, w):
        seen.append((X, w))
        return best_stump(X, y, w)

    draws = np.random.default_rng(1).random((10, 80))
    model = discrete_adaboost(X, y, None, AdaRules(10), learner, draws)
    for r, (rows, weights), u in zip(model.rounds, seen, draws):
        assert_array_equal(rows, X[resample(r.w, u)])
        assert np.ptp(weights) == 0  # equal: the drawing has used the weights up
        assert r.error == pytest.approx(r.w[r.answers != y].sum())
    assert np.mean(predict_adaboost(model, X) == y) > 0.8
    for row in theory(model, X, y):  # the bounds ask nothing of the learner
        assert row.train_error <= row.product <= row.exponential


def test_tables_name_stumps_and_mark_mistakes():
    X, y = make(n=20)
    model = samme_r(X, y, rules=AdaRules(2))
    assert adaboost_table(model).splitlines()[1].split()[:2] == ["1", "function"]
    lines = weights_table(model, 2).splitlines()
    assert len(lines) == 22
    assert sum(line.endswith("wrong") for line in lines) == model.rounds[1].wrong.sum()


# ---------------------------------------------------------------------- bad input
TWO = [[0.0], [1.0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: discrete_adaboost(TWO, [0, 1]), "needs the labels -1 and 1"),
        (lambda: discrete_adaboost(TWO, [-1, 1], rules=AdaRules(coding="zero_one")), "0 and 1"),
        (lambda: discrete_adaboost(TWO, [-1, 1, 1]), "the same number of rows"),
        (lambda: discrete_adaboost(TWO, [-1, 1], [1, -1]), "weights ≥ 0"),
        (lambda: discrete_adaboost(TWO, [-1, 1], [0, 0]), "one weight > 0"),
        (lambda: discrete_adaboost([[np.nan], [1.0]], [-1, 1]), "missing value; use tree_learner"),
        (lambda: reweight(np.ones(2), np.ones(2, bool), 1.0, "01"), "coding must be one of"),
        (lambda: amount_of_say(1.2), "between 0 and 1, got 1.2"),
        (lambda: samme(TWO, [1, 2]), "class indices 0, 1, ..., at least two"),
        (lambda: samme_r(TWO, [0, 0]), "at least two"),
        (lambda: r2(TWO, [0, 1], loss="cubic"), "loss must be one of"),
        (lambda: r2(TWO, [0, 1, 2]), "the same number of rows"),
        (lambda: tree_learner(Rules("squared_error"), shares=True), "no class shares"),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
