"""The steps of filling, and copies per class: against the textbook, given the same forest."""

import numpy as np
import pandas as pd
import pytest

from arboretum import DataError, ParameterError, RandomForestClassifier
from arboretum.data.matrix import DenseMatrix
from arboretum.forest.filling import Donors, Stop, fill_rows, first_guess, predict_per_class
from arboretum.forest.proximity import group_leaves
from arboretum.predict.sum import leaves_in
from arboretum.textbook import filling as textbook
from arboretum.textbook.proximities import proximity_of_leaves as textbook_proximity
from tests.forest.imputer_cases import KINDS, LABELS, NUMERIC, X, Y, frame, holes, mixed, quick


# ---------------------------------------------------------------------- against the textbook
@pytest.mark.parametrize("labelled", [True, False])
def test_first_guess(labelled):
    table, y = mixed()
    classes = y if labelled else None
    expected = textbook.first_guess(table, classes, KINDS)
    np.testing.assert_array_equal(first_guess(table, NUMERIC, table, classes), expected)


def test_first_guess_where_a_class_has_no_value():
    table, classes = np.array([[1.0], [3.0], [5.0], [np.nan]]), np.array([0, 0, 0, 1])
    assert first_guess(table, np.array([True]), table, classes)[3, 0] == 3.0


def test_the_worked_example():
    """125, 180 and 210 at proximities .1, .1 and .8 make 198.5."""
    leaves = np.full((4, 10), 9, np.int32)
    leaves[3] = 0
    leaves[0, 0], leaves[1, 1], leaves[2, 2:] = 0, 0, 0
    table = np.array([[125.0], [180.0], [210.0], [np.nan]])
    donors = Donors(table, np.array([True]))
    filled, fallbacks = donors.refill(table, table, leaves, group_leaves(leaves))
    assert filled[3, 0] == pytest.approx(198.5, abs=1e-12)
    assert fallbacks == 0


@pytest.mark.parametrize("n_leaves", [2, 40, 3000])
def test_one_refill(n_leaves):
    table, y = mixed()
    leaves = np.random.default_rng(1).integers(0, n_leaves, (150, 15))
    first = first_guess(table, NUMERIC, table, y)
    found, fallbacks = Donors(table, NUMERIC).refill(table, first, leaves, group_leaves(leaves))
    expected, expected_fallbacks = textbook.refill(
        table, textbook_proximity(leaves.T), table, first, KINDS
    )
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert fallbacks == expected_fallbacks
    assert (fallbacks > 0) == (n_leaves == 3000)


@pytest.mark.filterwarnings("ignore:the guesses have not come to rest")
def test_all_rounds_with_the_same_forests():
    """The textbook's loop over our forests fills what `fit_transform` fills, round by round."""
    table, y = mixed()
    imputer = quick(max_iter=4, categorical_features=[3])
    found = imputer.fit_transform(table, y)
    plain = quick(max_iter=1, categorical_features=[3]).fit(table, y)
    codes = np.array(plain.schema_.columns[3].categories)
    coded = plain._donors.rows
    first = textbook.first_guess(coded, y, KINDS)

    def proximities_of(filled):
        plain._grow(filled, y)
        return textbook_proximity(plain._leaves.T)

    expected, steps, _ = textbook._settle(coded, coded, first, KINDS, proximities_of, (1e-3, 4))
    expected = np.column_stack([expected[:, :3], codes[expected[:, 3].astype(int)]])
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert [s.changed for s in steps] == [r.changed for r in imputer.report_]
    np.testing.assert_allclose([s.moved for s in steps], [r.moved for r in imputer.report_])


@pytest.mark.parametrize("label", [None, 0, 2])
def test_new_rows_with_the_same_forest(label):
    table, y = mixed()
    imputer = quick(max_iter=2).fit(table, y)
    forest, rows = imputer.forest_, imputer._donors.rows
    new = holes(X[::7] + 0.1, 0.3, 5)

    class Ours:  # what the textbook asks a forest for
        rules = type("Rules", (), {"kinds": ("numeric",) * 4})()
        X, y = rows, Y

    def leaves_of(_, asked):
        given = imputer._grown_on if asked is rows else np.asarray(asked)
        return leaves_in(forest.trees_, DenseMatrix(np.ascontiguousarray(given)), 1).T

    original, textbook.forest_leaves = textbook.forest_leaves, leaves_of
    try:
        expected = textbook.fill_rows(new, rows, Ours, label, 1e-3, 5)
    finally:
        textbook.forest_leaves = original
    mask = None if label is None else label == Y
    found, rounds, converged = fill_rows(
        new, imputer._donors, imputer._leaves, forest.trees_, Stop(1e-3, 5), 1, mask
    )
    np.testing.assert_allclose(found, expected.X, rtol=1e-10)
    assert (len(rounds), converged) == (len(expected.steps), expected.converged)


# ---------------------------------------------------------------------- a copy per class
def forest_with_rows(table, y, **parameters):
    forest = RandomForestClassifier(25, keep_leaves=True, random_state=0, **parameters)
    return forest.fit(table, y)


def test_copies_per_class_are_the_textbooks(monkeypatch):
    forest = forest_with_rows(X, Y)
    new = holes(X[::9] + 0.2, 0.4, 2)

    class Ours:
        rules = type("Rules", (), {"kinds": ("numeric",) * 4})()
        classifies = True

    Ours.X, Ours.y = X, Y
    leaves_of = lambda _, t: forest.apply(np.ascontiguousarray(t)).T  # noqa: E731
    monkeypatch.setattr(textbook, "forest_leaves", leaves_of)
    monkeypatch.setattr(
        textbook,
        "tree_answers",
        lambda _, t: np.array(
            [tree.value[leaf, 0] for tree, leaf in zip(forest.trees_, leaves_of(_, t))]
        ),
    )
    expected = [textbook.predict_copies(row, X, Ours)[0] for row in new]
    assert predict_per_class(forest, new).tolist() == expected


def test_copies_speak_the_users_labels_and_words():
    table = frame()[["number", "word"]]
    labels = np.array(["x", "y", "z"])[LABELS]
    forest = forest_with_rows(table, labels)
    new = pd.DataFrame({"number": [None, 0.3], "word": ["green", None]})
    found = predict_per_class(forest, new)
    assert found[0] == "y"
    assert found[1] in "xyz"


def test_rows_without_gaps_get_the_majority_vote():
    forest = forest_with_rows(X, Y)
    expected = forest.classes_[forest.predict_votes(X).argmax(axis=1)]
    np.testing.assert_array_equal(predict_per_class(forest, X), expected)


def test_copies_find_the_class_of_most_damaged_rows():
    forest = forest_with_rows(X[::2], Y[::2])
    assert (predict_per_class(forest, holes(X[1::2], 0.25)) == Y[1::2]).mean() > 0.85


def test_a_column_nobody_has_a_value_for():
    forest = forest_with_rows(np.column_stack([X, np.full(150, np.nan)]), Y)
    with pytest.raises(DataError, match="column 'x4' had no value in any training row"):
        predict_per_class(forest, np.full((1, 5), np.nan))


def test_copies_need_a_classifier_that_kept_its_rows():
    forgetful = RandomForestClassifier(3, random_state=0).fit(X, Y)
    with pytest.raises(DataError, match="keep_leaves=True"):
        predict_per_class(forgetful, np.full((1, 4), np.nan))
    several = forest_with_rows(X, np.column_stack([Y, Y]))
    with pytest.raises(ParameterError, match="one output"):
        predict_per_class(several, X)
