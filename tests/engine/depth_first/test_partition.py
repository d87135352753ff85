"""Splitting the rows of a node: left ones first, all in their order."""

import numpy as np
import pytest

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.depth_first.partition import move, move_sum, split_by_number
from arboretum.engine.depth_first.records import NUMBER, RandomTreeTarget
from tests.engine.depth_first.benches import bench_for, columns_of, features_of
from tests.engine.depth_first.rules import rules as plain


@kernel
def _move(values, others, start, side, spare):
    move(values, np.uint64(start), len(side), side, spare)
    return move_sum(others, np.uint64(start), len(side), side, spare)


@kernel
def _split(columns, bench, rows):
    split_by_number(columns, bench, rows)


def _split_at(values, missing, last, missing_left, rows, start, n):
    """Split n rows; return how many go left, whether a value is missing, and the side of each."""
    target = RandomTreeTarget(None, None, np.ones(len(values), np.int64))
    bench = bench_for(
        features_of(1, 5, NUMBER, missing), target, plain(), len(values), start=start, n=n, last=last,
        side=missing_left,
    )  # fmt: skip
    _split(columns_of(values[None]), bench, rows)
    node = bench.node[0]
    return int(node["many"]), bool(node["missing"]), bench.scratch.side_of[:n].copy()


@pytest.mark.parametrize("goes", ["some", "none", "all"])
def test_values_move_stably_and_are_added_up(goes):
    rng = np.random.default_rng(0)
    side = {"some": rng.integers(0, 2, 40), "none": np.zeros(40), "all": np.ones(40)}[goes]
    side = side.astype(np.uint8)
    values, weights = rng.integers(0, 99, 50), rng.integers(1, 9, 50)
    moved, weighed = values.copy(), weights.copy()
    total = _move(moved, weighed, 5, side, np.empty(40, np.int64))
    left = side == 1
    assert total == weights[5:45][left].sum()
    for before, after in ((values, moved), (weights, weighed)):
        inside = np.concatenate([before[5:45][left], before[5:45][~left]])
        np.testing.assert_array_equal(after, np.concatenate([before[:5], inside, before[45:]]))


@pytest.mark.parametrize("missing_left", [0, 1])
def test_rows_split_at_a_code(missing_left):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 6, 60).astype(np.uint16)  # 5 means missing
    rows = rng.permutation(60).astype(np.uint32)
    before = rows.copy()
    many, missing, side = _split_at(codes, 5, 2, missing_left, rows, 10, 30)
    here = codes[before[10:40]]
    left = np.where(here == 5, missing_left == 1, here <= 2)
    assert (many, missing) == (left.sum(), True)
    np.testing.assert_array_equal(side, left)
    np.testing.assert_array_equal(rows[10 : 10 + many], before[10:40][left])
    np.testing.assert_array_equal(rows[10 + many : 40], before[10:40][~left])
    np.testing.assert_array_equal(rows[:10], before[:10])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("missing_left", [0, 1])
def test_rows_split_at_any_whole_number(dtype, missing_left):
    """The smallest and the largest there are, and missing ones, which are written as the largest."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    values = np.array([low, low + 1, -1, 0, 1, high - 1, high], dtype)
    for last in (low, -1, 0, high - 1):
        rows = np.arange(7, dtype=np.uint32)
        many, missing, side = _split_at(values, high, last, missing_left, rows, 0, 7)
        left = np.where(values == high, missing_left == 1, values <= last)
        assert (many, missing) == (left.sum(), True)
        np.testing.assert_array_equal(side, left)
        np.testing.assert_array_equal(
            rows, np.concatenate([np.flatnonzero(left), np.flatnonzero(~left)])
        )
