"""The table of goals: every case is found again by name, has a goal, and does its work."""

import numpy as np
import pytest

from benchmarks import BENCHMARKS, data, goals

EXPERIMENTS = goals.experiments(1)


def test_every_case_is_of_this_benchmark_and_has_a_baseline():
    assert BENCHMARKS["goals"] == "benchmarks.goals"
    for name, case in EXPERIMENTS.items():
        assert (case.benchmark, case.name) == ("goals", name)  # memory runs find it by these
        assert case.baseline in case.contenders
        assert case.goal is not None or name == "c45-memory"


@pytest.mark.parametrize("name", ["gbm-depth-10-both", "adaboost-columns", "cart-heavy-tails"])
def test_every_contender_does_the_work_of_its_case(name):
    case = EXPERIMENTS[name]
    split = case.data(300)
    for make in case.contenders.values():
        job = case.work(make, split)
        assert -3 < job.score(job.run()) <= 1


def test_a_peer_of_words_is_given_codes():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (90, 2)).astype(np.float32)
    words = np.array(["red", "green", "blue"], dtype=object)[codes.astype(int)]
    y = (codes.sum(axis=1) > 1).astype(int)
    split = goals.WordSplit(words, y, words, y, codes, codes)
    assert isinstance(split, data.Split)
    assert split.head(5).codes.shape == (5, 2)
    case = EXPERIMENTS["adaboost-words-2"]
    for make in case.contenders.values():
        job = goals.fitting(make, split)
        assert job.score(job.run()) == 1.0
