"""Rows held out, and patience: when to stop, by two policies, each beside its obvious version."""

import numpy as np
import pytest

from arboretum.base.holdout import Patience, evenly_spaced, set_aside, shuffled_rows


def first_end(patience, values):
    return next((m for m, value in enumerate(values) if patience.has_ended(m, value)), None)


def end_by_best(values, rounds, least):
    """Follow all values from the beginning at every round."""
    for m in range(len(values)):
        best = 0
        for k in range(m + 1):
            if values[k] < values[best] - least:
                best = k
        if m - best >= rounds:
            return m
    return None


def end_by_recent(values, rounds, least):
    for m in range(rounds, len(values)):
        if not values[m] < max(values[m - rounds : m]) - least:
            return m
    return None


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("least", [0.0, 0.25])
@pytest.mark.parametrize("rounds", [1, 3])
def test_patience_ends_where_the_obvious_version_does(seed, least, rounds):
    rng = np.random.default_rng(seed)
    values = (np.linspace(4, 0, 30) + rng.normal(size=30)).round(1).tolist()  # with ties
    assert first_end(Patience(rounds, least), values) == end_by_best(values, rounds, least)
    larger = Patience(rounds, least, larger_is_better=True)
    assert first_end(larger, [-v for v in values]) == end_by_best(values, rounds, least)
    recent = Patience(rounds, least, beats="recent")
    assert first_end(recent, values) == end_by_recent(values, rounds, least)


@pytest.mark.parametrize("beats", ["best", "recent"])
def test_patience_waits_for_none_of_rising_values_and_all_of_falling_ones(beats):
    assert first_end(Patience(1, beats=beats), [1.0, 1.0]) == 1
    assert first_end(Patience(4, beats=beats), np.linspace(1, 0, 50)) is None
    patience = Patience(3, beats=beats)
    assert not patience.has_ended(7, 2.5)
    assert patience.best == (7, 2.5)


def test_a_metric_that_is_not_a_number_is_no_progress():
    assert first_end(Patience(2), [1.0, np.nan, np.nan]) == 2
    assert first_end(Patience(2, beats="recent"), [1.0, np.nan]) == 1


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_every_row_is_learned_from_or_held_out(share):
    codes = np.repeat([0, 1, 2], 20)
    parts = [
        set_aside(60, share, 3, codes, None),
        shuffled_rows(60, share, 3),
        evenly_spaced(codes, share, 3),
    ]
    for learn, held in parts:
        assert np.array_equal(np.sort(np.concatenate([learn, held])), np.arange(60))
        assert len(held) == 60 * share
    assert (np.bincount(codes[parts[0][1]]) == 20 * share).all()
    assert (np.bincount(codes[parts[2][1]]) == 20 * share).all()
