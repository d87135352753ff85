"""Held-out predictions side by side: agreement, rows no model gets right, weak groups, learning curves."""

import numpy as np
import pandas as pd
import pytest

from arboretum import CARTClassifier, compare
from arboretum.comparison.rows import held_out, rows_of_page
from tests.comparison.comparison_tables import of_classes, of_numbers, table

N = 300


@pytest.fixture(scope="module")
def mislabelled():
    """A target that one column decides, but for five rows, and one group of rows where it is chance."""
    rng = np.random.default_rng(8)
    X = pd.DataFrame({"a": rng.random(N), "group": rng.choice(["x", "y"], N)})
    y = (X["a"] > 0.5).to_numpy()
    wrong = np.array([3, 50, 120, 200, 280])
    X.loc[wrong, "a"] = [0.05, 0.1, 0.9, 0.95, 0.02]
    X.loc[wrong, "group"] = "x"
    y = np.where(X["a"] > 0.5, "high", "low")
    y[wrong] = np.where(y[wrong] == "high", "low", "high")
    chance = np.flatnonzero(X["group"] == "y")
    y[chance] = rng.choice(["high", "low"], len(chance))
    result = compare(X, y, models=["CART", "RandomForest"], folds=3, progress_bar=False)
    return result, wrong


def test_held_out_predictions_are_those_of_the_folds():
    result = of_classes()
    entry = result.entry("CART")
    whole = held_out(result, entry)
    train, test = result.folds[0]
    X, y, _ = table()
    model = CARTClassifier(random_state=0).fit(X.iloc[train], y.iloc[train])
    np.testing.assert_allclose(whole[test], model.predict_proba(X.iloc[test]), rtol=1e-6)
    assert not np.isnan(whole).any()


def test_rows_with_a_wrong_label_are_found(mislabelled):
    result, wrong = mislabelled
    found = result.hard_rows
    assert set(wrong) <= set(found.rows.tolist())
    assert (np.diff(found.badness) <= 0).all()
    predicted = [
        held_out(result, result.entry(name)).argmax(axis=1) for name in ("CART", "RandomForest")
    ]
    by_hand = np.flatnonzero(next((p != result.question.codes) for p in predicted))
    assert set(found.rows.tolist()) <= set(by_hand.tolist())
    shown = rows_of_page(result, 2, [0, 1])
    assert len(shown["rows"]) == 2
    assert shown["n"] == len(found.rows)
    assert shown["rows"][0]["name"] == f"row {found.rows[0]}"
    assert shown["rows"][0]["actual"] != shown["rows"][0]["predicted"]


def test_the_weak_group_is_named(mislabelled):
    result, _ = mislabelled
    first = result.weak_groups.iloc[0]
    assert (first["column"], first["values"]) == ("group", "y")
    assert first["low"] <= first["error"] <= first["high"]
    assert first["error"] > 2 * first["others"]


def test_agreement_is_a_share_or_a_correlation():
    result = of_classes()
    alike = result.agreement
    names = ["CART", "RandomForest"]
    a, b = (held_out(result, result.entry(name)).argmax(axis=1) for name in names)
    assert alike.loc["CART", "RandomForest"] == pytest.approx(np.mean(a == b))
    assert (np.diag(alike) == 1).all()
    result = of_numbers()
    a, b = (held_out(result, result.entry(name))[:, 0] for name in names)
    assert result.agreement.loc[names[0], names[1]] == pytest.approx(np.corrcoef(a, b)[0, 1])


def test_a_learning_curve_ends_at_the_scores_of_the_comparison():
    result = of_numbers()
    curve = result.learning_curves[0]
    assert curve.model == result.winner
    assert curve.n_rows == sorted(curve.n_rows)
    assert curve.n_rows[-1] == 120
    whole = result.entry(curve.model).scores("loss")[:3]
    assert curve.scores[-1].value == pytest.approx(whole.mean())
    assert curve.scores[0].value > curve.scores[-1].value


def test_rows_never_tested_are_left_out():
    X, y, _ = table()
    result = compare(X, y, models=["CART", "LGBM"], folds="time", progress_bar=False)
    tested = np.unique(np.concatenate([test for _, test in result.folds]))
    assert result.hard_rows.n_rows == len(tested) < len(X)
    assert set(result.hard_rows.rows.tolist()) <= set(tested.tolist())
    assert np.isfinite(result.agreement.to_numpy()).all()
