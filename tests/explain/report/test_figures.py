"""Every headline figure has a baseline on the same rows, and the page begins with one plain sentence."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.dummy import DummyClassifier, DummyRegressor

from arboretum.explain.report.judged import Judged
from arboretum.explain.report.ranked import Ranked
from tests.explain.report.report_models import FAMILIES, new_rows
from tests.explain.report.test_report import made, parts


@pytest.mark.parametrize("name", ["XGB", "forest", "rules"])
def test_baselines_of_classes_are_those_of_a_dummy(name):
    X, y = new_rows(name)
    guess = DummyClassifier(strategy="prior").fit(X, y)
    share = guess.predict_proba(X)
    two = FAMILIES[name][1] == 1
    wanted = {
        "accuracy": metrics.accuracy_score(y, guess.predict(X)),
        "balanced accuracy": metrics.balanced_accuracy_score(y, guess.predict(X)),
        "log loss": metrics.log_loss(y, share),
        "Brier score": np.mean(np.sum((share - (y[:, None] == guess.classes_)) ** 2, axis=1))
        / (2 if two else 1),
    }
    if two:
        wanted["ROC AUC"] = 0.5
    found = parts(made(name))[0]["figures"]
    assert {one["name"]: one["baseline"][1] for one in found} == pytest.approx(wanted)
    lower = {one["name"] for one in found if not one["more"]}
    assert lower == {"log loss", "Brier score"}


def test_baselines_of_numbers_are_those_of_the_mean():
    X, y = new_rows("extra trees")
    guess = DummyRegressor().fit(X, y).predict(X)
    found = {one["name"]: one["baseline"] for one in parts(made("extra trees"))[0]["figures"]}
    assert found["R²"] == ["always the mean", 0]
    assert found["RMSE"][1] == pytest.approx(metrics.root_mean_squared_error(y, guess))
    assert found["MAE"][1] == pytest.approx(metrics.mean_absolute_error(y, guess))


def test_the_baseline_of_an_order_is_the_mean_of_random_orders():
    rng = np.random.default_rng(1)
    grade, sizes = rng.integers(0, 4, 120).astype(float), np.full(10, 12)
    judged = Ranked(grade, rng.normal(size=(120, 1)), sizes)
    drawn = [judged.ndcg(rng.normal(size=120)) for _ in range(2_000)]
    found = {one["name"]: one["baseline"][1] for one in judged.figures()}
    assert found["NDCG@10"] == pytest.approx(np.mean(drawn), abs=0.005)
    assert found["pairs in order"] == 0.5


def test_a_sentence_for_two_classes():
    actual = np.repeat([0, 1], [730, 270])
    second = np.where(np.arange(1_000) < 730, 0.1, 0.3)
    second[:66] = 0.9  # false alarms
    second[730:865] = 0.8  # half of those who leave
    judged = Judged(actual, np.column_stack([1 - second, second]), ["No", "Yes"])
    assert judged.headline(judged.figures()) == (
        "Right in 80 of 100 rows; always predicting “No” is right in 73. "
        "It finds 50 of 100 rows that are “Yes”."
    )


def test_sentences_for_many_classes_one_class_and_few_rows():
    answers = np.eye(3)[[0, 0, 0, 1, 0, 0]]
    judged = Judged(np.array([0, 0, 0, 1, 1, 2]), answers, ["a", "b", "c"])
    assert judged.headline(judged.figures()) == (
        "Right in 4 of 6 rows; always predicting “a” is right in 3. "
        "It finds 0 of 1 rows that are “c”, the class it finds least often."
    )
    single = Judged(np.zeros(3, int), np.ones((3, 1)), ["a"])
    assert single.headline(single.figures()).endswith("is right in 3.")


def test_sentences_for_numbers_have_digits_of_the_error():
    actual = np.array([10.0, 20.0, 30.0, 40.0]) + 181_000
    judged = Judged(actual, (actual + np.array([1, -1, 1, -1]))[:, None], None)
    assert judged.headline(judged.figures()) == (
        "Predictions are off by 1.0 on average; always predicting the mean, 181,025.0, would be off "
        "by 10.0. It explains 99 % of the variance."
    )
    worse = Judged(actual, np.zeros((4, 1)), None)
    assert worse.headline(worse.figures()).endswith("it is no better than the mean.")


def test_a_sentence_for_an_order():
    judged = Ranked(np.array([2.0, 1.0, 0.0]), np.array([[3.0], [2.0], [1.0]]), [3])
    text = judged.headline(judged.figures())
    assert text.startswith("Of 100 pairs of rows with different grades, 100 are in the right order")
    assert "NDCG@10 is 1.00, that of a random order 0.7" in text
