"""The time of a fit: trials get their share, members that fit in are allowed."""

from arboretum.boosting.averaged.fit_time import FitTime


def at(seconds, limit):
    time = FitTime(limit)
    time._pace._clock = lambda: seconds
    time._pace._start = 0.0
    return time


def test_trials_take_two_fifths_of_the_time():
    assert not at(1.9, 10).trial_is_over(0.0, 0, 2)
    assert at(2.0, 10).trial_is_over(0.0, 0, 2)
    assert not at(3.9, 10).trial_is_over(0.0, 1, 2)
    assert at(4.0, 10).trial_is_over(0.0, 1, 2)


def test_trials_share_what_is_left_when_they_begin():
    assert not at(2.9, 10).trial_is_over(2.0, 0, 2)
    assert at(3.0, 10).trial_is_over(2.0, 0, 2)
    assert at(5.0, 10).trial_is_over(5.0, 0, 2), "nothing is left"
    assert at(1.0, 10).share_is_over(0.1, 0.0, 0, 1)


def test_members_are_allowed_if_they_should_end_in_time():
    assert at(5.0, 10).allows(5.0)
    assert not at(5.0, 10).allows(5.1)
    assert not at(5.0, 10).is_over()
    assert at(10.0, 10).is_over()


def test_halting_ends_everything():
    time = FitTime(None)
    time.halt()
    assert time.is_over()
    assert time.trial_is_over(0.0, 0, 1)
    assert not time.allows(0.0)
