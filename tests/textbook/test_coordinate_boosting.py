"""Boosting as coordinate descent: equal to AdaBoost when greedy, to itself in every other order."""

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from arboretum.textbook import coordinate_boosting
from arboretum.textbook.adaboost import AdaRules, discrete_adaboost, votes_adaboost
from arboretum.textbook.adaboost_theory import normaliser
from arboretum.textbook.coordinate_boosting import (
    CoordinateRules,
    answers_of,
    best_of,
    coordinate_descent,
)
from arboretum.textbook.weak_learners import all_stumps


def random_signs(seed, n=20, columns=2):
    """Coarse columns and noisy labels: ties, and hypotheses that are hardly better than chance."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n, columns)).astype(float)
    y = np.where(X[:, 0] + 3 * rng.normal(size=n) > 2.5, 1, -1)
    return X, y, rng.uniform(0.2, 2, n)


def test_examples_in_the_docstrings():
    result = doctest.testmod(coordinate_boosting)
    assert result.attempted > 0
    assert result.failed == 0


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_greedy_coordinate_descent_is_adaboost(seed):
    X, y, w = random_signs(seed)
    dictionary = all_stumps(X)
    model = discrete_adaboost(X, y, w, AdaRules(15), best_of(dictionary))
    found = coordinate_descent(answers_of(dictionary, X), y, w, CoordinateRules(n_steps=15))
    steps, rounds = found.steps, model.rounds
    assert len(steps) == len(rounds)
    assert [dictionary[s.j] for s in steps] == [r.hypothesis for r in rounds]
    assert_allclose([s.delta for s in steps], model.says, atol=1e-9)
    assert_allclose([s.error for s in steps], model.errors, atol=1e-9)
    assert_allclose([s.loss for s in steps], w.sum() * np.cumprod([r.Z for r in rounds]))
    assert_allclose(answers_of(dictionary, X) @ found.coefficients, votes_adaboost(model, X))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), order=st.sampled_from(["greedy", "cyclic", "random"]))
def test_every_step_is_the_best_of_its_coordinate(seed, order):
    X, y, w = random_signs(seed)
    answers = answers_of(all_stumps(X), X)
    found = coordinate_descent(answers, y, w, CoordinateRules(order, n_steps=12))
    coefficients = np.zeros(answers.shape[1])
    losses = [w.sum()]
    for s in found.steps:
        coefficients[s.j] += s.delta
        losses.append(s.loss)
        at = [
            w @ np.exp(-y * (answers @ coefficients + move * answers[:, s.j]))
            for move in (0.0, -1e-3, 1e-3)
        ]
        assert at[0] == pytest.approx(s.loss)
        assert found.stop == "perfect classifier" or at[0] <= min(at[1:]) + 1e-12
        assert s.loss / losses[-2] == pytest.approx(normaliser(s.error, s.delta))
    assert_allclose(coefficients, found.coefficients)
    assert (np.diff(losses) <= 1e-12 * losses[0]).all()


def _all_kinds_of_mistakes():
    """Three classifiers, all eight ways to be right and wrong: the loss has one minimum."""
    kinds = np.array([[a, b, c] for a in (1, -1) for b in (1, -1) for c in (1, -1)])
    y = np.array([1, -1, 1, 1, -1, -1, 1, -1])
    return kinds * y[:, None], y, np.array([9.0, 5, 4, 2, 3, 1, 2, 1])


def test_all_orders_come_to_the_same_minimum():
    answers, y, w = _all_kinds_of_mistakes()
    ends = [
        coordinate_descent(answers, y, w, CoordinateRules(order))
        for order in ("greedy", "cyclic", "random")
    ]
    for end in ends:
        assert (end.stop, end.converged) == ("flat", True)
        assert_allclose(end.coefficients, ends[0].coefficients, atol=1e-7)
        assert end.loss == pytest.approx(ends[0].loss)
        visits = np.bincount([s.j for s in end.steps], minlength=3)
        assert visits.min() > 1  # every coordinate is revisited
        v = w * np.exp(-y * (answers @ end.coefficients))
        assert_allclose((v * y) @ answers / v.sum(), 0, atol=1e-8)  # the gradient vanishes
    assert [s.j for s in ends[1].steps[:6]] == [0, 1, 2, 0, 1, 2]
    assert len(ends[0].steps) <= len(ends[1].steps)


def test_an_opposite_is_used_by_a_negative_coefficient():
    answers, y, w = _all_kinds_of_mistakes()
    flipped = answers * np.array([1, -1, 1])
    straight, mirrored = (coordinate_descent(a, y, w) for a in (answers, flipped))
    assert_allclose(mirrored.coefficients, straight.coefficients * [1, -1, 1])
    assert [s.j for s in mirrored.steps] == [s.j for s in straight.steps]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_perfect_classifier_ends_the_descent(sign):
    y = np.array([1, -1, 1])
    found = coordinate_descent(np.stack([sign * y, [1, 1, 1]], axis=1), y)
    assert found.stop == "perfect classifier"
    assert_array_equal(found.coefficients, [sign, 0])


def test_rows_that_can_be_told_apart_leave_no_loss():
    y = np.array([1, 1, 1])
    answers = np.array([[1, 1, -1], [1, -1, 1], [-1, 1, 1]])
    found = coordinate_descent(answers, y, rules=CoordinateRules("cyclic", tol=1e-6))
    assert (found.stop, found.converged) == ("no loss left", True)
    assert found.loss <= 3e-6
    cut = coordinate_descent(answers, y, rules=CoordinateRules(n_steps=4))
    assert (cut.stop, cut.converged, len(cut.steps)) == ("n_steps", False, 4)


def test_the_random_order_is_the_seeds():
    answers, y, w = _all_kinds_of_mistakes()
    runs = [
        [
            s.j
            for s in coordinate_descent(
                answers, y, w, CoordinateRules("random", 20, seed=seed)
            ).steps
        ]
        for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: coordinate_descent([[1], [-1]], [1, 1], None, CoordinateRules("best")), "order must"),
        (lambda: coordinate_descent([[1], [0]], [1, 1]), "must be -1 or 1"),
        (lambda: coordinate_descent([[1], [1]], [1, 0]), "must be -1 or 1"),
        (lambda: coordinate_descent([[1], [1]], [1, 1, 1]), "the same number of rows"),
        (lambda: coordinate_descent([[1], [1]], [1, 1], [0, 0]), "weights must be ≥ 0"),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
