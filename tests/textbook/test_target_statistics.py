"""Ordered target statistics as the textbook has them: what a row sees, and what it must not see."""

from __future__ import annotations

import numpy as np

from arboretum.textbook.target_statistics import (
    class_statistics,
    level_statistics,
    levels_up_to,
    ordered_statistics,
)

RNG = np.random.default_rng(0)
WORDS = RNG.choice(list("abcdefgh"), 60).tolist()
TARGET = RNG.normal(size=60)
ORDER = RNG.permutation(60)


def test_a_number_depends_on_the_earlier_rows_of_the_level_alone():
    found = ordered_statistics(WORDS, TARGET, ORDER, prior=0.3, weight=2.0)
    place = np.argsort(ORDER)
    for row in range(60):
        earlier = [i for i in range(60) if WORDS[i] == WORDS[row] and place[i] < place[row]]
        expected = (TARGET[earlier].sum() + 2 * 0.3) / (len(earlier) + 2)
        assert np.isclose(found[row], expected)
        changed = TARGET.copy()
        changed[row] += 100.0
        assert ordered_statistics(WORDS, changed, ORDER, prior=0.3, weight=2.0)[row] == found[row]


def test_new_rows_see_all_rows_of_their_level():
    by_level = level_statistics([*WORDS, "once"], [*TARGET, 5.0], prior=0.0)
    assert np.isclose(by_level["once"], 2.5)
    its = TARGET[[word == "a" for word in WORDS]]
    assert np.isclose(by_level["a"], its.sum() / (len(its) + 1))


def test_there_is_a_column_for_each_of_the_largest_classes():
    classes = ["x"] * 30 + ["y"] * 20 + ["z"] * 10
    found = class_statistics(WORDS, classes, ORDER, most=2)
    assert list(found) == ["x", "y"]
    is_y = [float(one == "y") for one in classes]
    assert np.array_equal(found["y"], ordered_statistics(WORDS, is_y, ORDER))


def test_a_split_is_a_set_of_levels():
    assert levels_up_to({"a": 0.1, "b": 0.4, "c": 0.4, "d": 0.9}, 0.4) == {"a", "b", "c"}
