"""Random cuts: values as ordered whole numbers, and coins that fall the same again."""

import numpy as np
import pytest

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.depth_first.random_cut import ordered_bits
from arboretum.engine.depth_first.toss import part_tossed, word_of


@kernel
def _part(values, n_codes, last, missing_left, rows, key, spare, side):
    n = len(rows)
    return part_tossed(
        values,
        np.uint64(0),
        np.uint64(0),
        n_codes,
        last,
        missing_left,
        rows,
        np.uint64(0),
        n,
        key,
        spare,
        side,
    )


@kernel
def _coins(key, block):
    return word_of(key, np.uint64(0), np.uint64(block))


@pytest.mark.parametrize("number", [np.float32, np.float64])
def test_ordered_bits_keep_the_order(number):
    values = np.array([3.5, -0.0, 0.0, -2.0, 1e30, -1e-30, np.inf, -np.inf, 2.0], number)
    out = np.empty(len(values), f"i{values.itemsize}")
    ordered_bits(values, out)
    np.testing.assert_array_equal(np.argsort(out, kind="stable"), np.argsort(values, kind="stable"))
    assert out[1] == out[2]
    gone = np.empty(1, out.dtype)
    ordered_bits(np.array([np.nan], number), gone)
    assert gone[0] == np.iinfo(out.dtype).max


@pytest.mark.parametrize("n_codes", [5, 64, 200])
@pytest.mark.parametrize("missing_left", [0, 1])
def test_categories_go_as_their_coins_say(n_codes, missing_left):
    rng = np.random.default_rng(n_codes)
    values = rng.integers(0, n_codes, 300)
    values[:30] = np.iinfo(np.int64).max  # missing
    rows, side = rng.permutation(300).astype(np.uint32), np.empty(300, np.uint8)
    before, key = rows.copy(), np.uint64(99)
    raised = np.int64(1) << np.int64(62)
    many, missing = _part(
        values, n_codes, raised - 1, missing_left, rows, key, np.empty(300, np.uint32), side
    )
    codes = values[before]
    lost = codes == np.iinfo(np.int64).max
    word = [int(_coins(key, block)) for block in range(4)]
    left = np.array(
        [
            missing_left if gone else (word[c // 64] >> (c % 64)) & 1
            for c, gone in zip(codes.tolist(), lost)
        ]
    )
    np.testing.assert_array_equal(side, left)
    assert (many, missing) == (left.sum(), True)
    np.testing.assert_array_equal(rows[:many], before[left == 1])
    assert 0.25 < left[~lost].mean() < 0.75 or n_codes == 5
