"""Teams of threads: every item is done once, whoever does it and whoever comes late."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from arboretum.engine import parallel
from arboretum.engine import team as teams
from arboretum.engine.atomic import atomic_add, lowest_bit, search_step
from arboretum.engine.compiler.decorators import kernel


@kernel
def lead(team, done, tasks, n_items):
    """Post tasks and take part in each; every item counts itself."""
    for _ in range(tasks):
        teams.post(team, n_items)
        item = teams.take(team)
        while item >= 0:
            atomic_add(done, item, np.int64(1))
            teams.done(team)
            item = teams.take(team)
        teams.wait_for(team, n_items)


@kernel
def follow(team, done):
    """Take part until the team is closed; return how many items were taken."""
    taken, waited = 0, 0
    while True:
        item = teams.take(team)
        if item >= 0:
            atomic_add(done, item, np.int64(1))
            teams.done(team)
            taken += 1
        elif teams.is_open(team):
            waited = teams.wait_turn(waited)
        else:
            return taken


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_every_item_is_done_once(threads):
    team, done = teams.new_team(), np.zeros(7, np.int64)
    parallel.run_with_helpers(
        lambda: lead(team, done, 500, 7),
        lambda k: follow(team, done),
        lambda: teams.close(team),
        threads,
    )
    assert done.tolist() == [500] * 7


def test_a_helper_that_waits_is_given_work():
    team, done, taken = teams.new_team(), np.zeros(2, np.int64), []
    helper = threading.Thread(target=lambda: taken.append(follow(team, done)))
    helper.start()
    deadline = time.monotonic() + 60
    while not done[0] and time.monotonic() < deadline:
        teams_alone = np.zeros(2, np.int64)
        lead(team, done, 200, 2)
        assert teams_alone.sum() == 0
    teams.close(team)
    helper.join(60)
    assert not helper.is_alive()
    assert taken[0] <= done.sum()


def test_one_who_comes_late_goes_home():
    team, done = teams.new_team(), np.zeros(3, np.int64)
    lead(team, done, 4, 3)
    teams.close(team)
    assert follow(team, done) == 0
    assert done.tolist() == [4, 4, 4]


def test_an_error_of_the_leader_closes_the_team():
    team, done = teams.new_team(), np.zeros(1, np.int64)

    def fail():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        parallel.run_with_helpers(fail, lambda k: follow(team, done), lambda: teams.close(team), 3)
    assert follow(team, done) == 0


def test_no_more_threads_spin_than_there_are_cores():
    assert teams.crew(10_000) == parallel.cores()
    assert teams.crew(1) == 1


@kernel
def _ranks(table, x, rank):
    many = np.uint64(len(table))
    while many:
        half = max(many >> np.uint64(1), np.uint64(1))
        for i in range(np.uint64(0), np.uint64(len(x)), np.uint64(8)):
            search_step(table, x, rank, i, half)
        many -= half


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 100, 255])
def test_eight_searches_at_once_find_what_one_finds(size):
    rng = np.random.default_rng(size)
    table = np.unique(rng.integers(0, 3 * size, size).astype(float))
    x = np.concatenate(
        [rng.integers(-2, 3 * size + 2, 28) - 0.5, table[:1], [-np.inf, np.inf, 0.0]]
    )
    rank = np.zeros(32, np.uint64)
    _ranks(table, x, rank)
    assert rank.tolist() == np.searchsorted(table, x).tolist()


@kernel
def _lowest(words, out):
    for i in range(len(words)):
        out[i] = lowest_bit(words[i])


def test_the_lowest_bit():
    words = np.array([1, 2, 3, 96, 1 << 31, 1 << 63], np.uint64)
    out = np.empty(6, np.int64)
    _lowest(words, out)
    assert out.tolist() == [0, 1, 0, 5, 31, 63]
