"""The latency benchmark asks everybody for the same rows, in turns."""

import numpy as np

from benchmarks.harness import Options
from benchmarks.latency import PERCENTILES, Latency, experiments


def test_everybody_is_asked_for_the_same_rows():
    asked: dict[str, list[np.ndarray]] = {"a": [], "b": []}

    def contenders(X, y, jobs):
        yield from ((label, asked[label].append) for label in asked)

    result = Latency("x", "two lists", contenders).measure(Options(quick=True), lambda what: None)
    assert list(result.seconds["a"]) == [1, 10, 1000]
    for seconds in result.seconds["a"].values():
        assert len(seconds) == len(PERCENTILES)
        assert list(seconds) == sorted(seconds)
    assert len(asked["a"]) == len(asked["b"]) > 400
    for mine, theirs in zip(asked["a"], asked["b"], strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_there_are_boosters_forests_and_trees():
    assert set(experiments(1)) == {"boosting", "forest", "tree"}
