"""Categories in the order of their keys: the same as NumPy's stable sort, for any number of them."""

import numpy as np
import pytest

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.presorted.categories import _sort


@kernel
def sort(keys, order, spare, start, size):
    _sort(keys, order, spare, start, size)


@pytest.mark.parametrize("size", [0, 1, 2, 31, 32, 33, 64, 65, 97, 500])
def test_places_are_sorted_by_key_and_equals_stay_as_they_are(size):
    rng = np.random.default_rng(size)
    for keys in (rng.normal(size=size + 8), rng.integers(0, 5, size + 8) / 4):
        order, spare = np.full(size + 8, -1), np.zeros(size + 8, np.uint32)
        sort(keys, order, spare, 3, size)
        expected = 3 + np.argsort(keys[3 : 3 + size], kind="stable")
        np.testing.assert_array_equal(order[3 : 3 + size], expected)
        assert np.all(order[:3] == -1)
        assert np.all(order[3 + size :] == -1)
