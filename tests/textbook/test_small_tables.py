"""The tables that ship with the textbook, by the figures their lectures end with."""

import numpy as np
import pytest

from arboretum import textbook as book

TABLES = [
    book.play_tennis, book.golf, book.buys_computer, book.basketball, book.heart_disease,
    book.body_weights, book.drug_dosage,
]  # fmt: skip


@pytest.mark.parametrize("make", TABLES)
def test_tables_are_whole(make):
    table = make()
    assert len(table.X) == len(table.y) > 2
    assert all(len(row) == len(table.names) for row in table.X)
    assert table.source
    assert table.target
    assert not set(table.names) & {table.target}
    assert make() is not make()  # a reader may change a row


def test_play_tennis_by_every_measure():
    days = book.play_tennis()
    id3 = book.grow_id3(days.X, days.y, names=days.names)
    assert [round(c.gain, 3) for c in id3.candidates] == [0.247, 0.029, 0.152, 0.048]
    c45 = book.grow_c45(days.X, days.y, names=days.names)
    assert c45.candidates[0].ratio == pytest.approx(0.156, abs=5e-4)
    root = book.grow(days.X, days.y, names=days.names).chosen
    assert (root.feature, round(root.gain, 4)) == (0, 0.1020)


def test_heart_disease_starts_from_the_class_median():
    patients = book.heart_disease()
    X, y, words = book.read_words(patients.X, patients.y, patients.names)
    filled = book.first_guess(X, y, ("categorical",) * 3 + ("numeric",))
    assert filled[3, 3] == 167.5  # (125 + 210) / 2
    assert words.word(2, int(filled[3, 2])) == "no"


def test_body_weights_are_boosted_as_in_the_lecture():
    people = book.body_weights()
    assert np.mean(people.y) == pytest.approx(73.33, abs=5e-3)


def test_drug_dosage_has_the_gain_120_33():
    doses = book.drug_dosage()
    residuals = 0.5 - np.array(doses.y)
    bare = book.XGBSettings(reg_lambda=0.0)
    tree = book.grow_xgb(np.array(doses.X), residuals, np.ones(4), bare)
    gains = {c.cut: c.gain for c in tree.candidates}
    assert gains[15.0] == pytest.approx(120.33, abs=5e-3)
    assert tree.similarity == 4.0
