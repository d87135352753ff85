"""The figures of a fold where scikit-learn has none, and models that miss a class."""

import math

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from arboretum import CARTClassifier
from arboretum.comparison.question import read_question
from arboretum.comparison.scores import calibration_gap, score, shares_of

X = [[float(i)] for i in range(60)]


def test_calibration_is_the_distance_of_bins():
    rng = np.random.default_rng(0)
    p = np.sort(rng.random(480))
    hit = (rng.random(480) < p**2).astype(int)
    shares = np.column_stack([1 - p, p])
    bins = np.arange(480).reshape(12, 40)
    by_hand = np.mean([abs(p[b].mean() - hit[b].mean()) for b in bins])
    assert calibration_gap(hit, shares) == pytest.approx(by_hand)
    certain = np.eye(3)[[0, 1, 2, 1]]
    assert calibration_gap(np.array([0, 1, 2, 0]), certain) == pytest.approx(0.25)


def test_classes_that_a_model_has_not_seen_have_probability_zero():
    question = read_question(X, ["a", "b", "c"] * 20, None, None)
    rows = np.flatnonzero(question.codes < 2)
    model = CARTClassifier(max_depth=1).fit(*question.rows(rows))
    shares = shares_of(model, question.X, question)
    assert shares.shape == (60, 3)
    assert (shares[:, 2] == 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_auc_of_three_classes_and_of_a_fold_without_one():
    question = read_question(X, ["a", "b", "c"] * 20, None, None)
    shares = np.random.default_rng(1).dirichlet([1, 1, 1], 60)
    found = score(question, np.arange(60), shares)
    assert found["auc"] == pytest.approx(roc_auc_score(question.codes, shares, multi_class="ovr"))
    only_two = np.flatnonzero(question.codes < 2)
    assert math.isnan(score(question, only_two, shares[only_two])["auc"])
