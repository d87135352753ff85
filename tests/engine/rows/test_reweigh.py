"""A round's rows in one pass: the same bits as NumPy's several."""

import numpy as np
from numpy.testing import assert_array_equal

from arboretum.engine.rows.reweigh import add_votes, mark_mistakes, multiply_weights


def test_mistakes_weights_and_votes_are_those_of_numpy():
    rng = np.random.default_rng(0)
    for n in (0, 1, 50):
        w, wrong, answers = rng.random(n), rng.random(n) < 0.3, rng.integers(0, 2, n)
        lost, new = np.empty(n), np.empty(n)
        mark_mistakes(wrong, w, lost)
        assert_array_equal(lost, w * wrong)
        multiply_weights(w, wrong, 0.7, 2.3, new)
        assert_array_equal(new, w * np.where(wrong, 2.3, 0.7))
        total, second, misses = rng.normal(size=n), rng.random(n) < 0.5, np.empty(n, np.bool_)
        after = total + np.where(answers == 1, 0.4, -0.4)
        add_votes(answers, second, 0.4, total, misses)
        assert_array_equal(total, after)
        assert_array_equal(misses, (after > 0) != second)
