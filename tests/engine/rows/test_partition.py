"""Sending rows to two sides: positions, lists and their marks against plain NumPy."""

from typing import NamedTuple

import numpy as np
import pytest

from arboretum.engine.columns.lists import split_columns
from arboretum.engine.columns.presort import MISSING, NEW, POSITION, sort_column
from arboretum.engine.rows.partition import (
    larger_side,
    mark_categories,
    mark_codes,
    mark_lists,
    move_rows,
    set_bits,
)
from arboretum.engine.split.best import no_best
from arboretum.engine.split.counts import Columns


def _table(rng, n: int, n_columns: int) -> np.ndarray:
    """Columns with ties and missing values."""
    X = rng.integers(0, rng.integers(2, 12), size=(n, n_columns)).astype(float)
    X[rng.random(X.shape) < 0.25] = np.nan
    return X


def _lists(X: np.ndarray) -> np.ndarray:
    lists = np.empty(X.T.shape, np.uint32)
    for f, column in enumerate(X.T):
        sort_column(np.ascontiguousarray(column), lists[f])
    return lists


def _check_list(entries: np.ndarray, values: np.ndarray, lo: int, hi: int) -> None:
    """A segment lists the positions lo..hi in order of value, and its marks are right.

    ``values[p]`` is the value of the row at position p.
    """
    segment = entries[lo:hi]
    at = (segment & POSITION).astype(np.int64)
    assert sorted(at) == list(range(lo, hi))
    shown = values[at]
    missing = np.isnan(shown)
    np.testing.assert_array_equal((segment & MISSING) != 0, missing)
    assert not np.any(missing[:-1] & ~missing[1:])  # missing entries stand at the end
    present = shown[~missing]
    assert np.all(np.diff(present) >= 0)
    differs = np.ones(len(segment), bool)
    differs[1:] = ~((shown[1:] == shown[:-1]) | (missing[1:] & missing[:-1]))
    np.testing.assert_array_equal((segment & NEW) != 0, differs)


@pytest.mark.parametrize("seed", range(8))
def test_lists_stay_right_through_many_levels(seed):
    """Split nodes at random again and again; every list of every living node must stay sound."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 400))
    X = _table(rng, n, 3)
    lists = _lists(X)
    rows = np.arange(n, dtype=np.uint32)
    new_position, spare = np.empty(n, np.uint32), np.empty(n, np.uint32)
    side = np.empty(n, np.uint8)
    nodes = [(0, n)]
    for _ in range(6):
        start = np.array([lo for lo, _ in nodes])
        end = np.array([hi for _, hi in nodes])
        side[:] = rng.integers(0, 2, n)
        before = rows.copy()
        marks = side.copy()
        middle = move_rows(rows, start, end, side, new_position, spare)
        for lo, mid, hi in zip(start, middle, end):
            left = marks[lo:hi] == 1
            np.testing.assert_array_equal(rows[lo:mid], before[lo:hi][left])  # order is kept
            np.testing.assert_array_equal(rows[mid:hi], before[lo:hi][~left])
            np.testing.assert_array_equal(rows[new_position[lo:hi]], before[lo:hi])
        keep = rng.integers(0, 4, len(nodes)).astype(np.uint8)
        slots = np.arange(3)
        split_columns(lists, slots, start, middle, end, new_position, spare)
        nodes = []
        for lo, mid, hi, kept in zip(start, middle, end, keep):
            nodes += [(int(lo), int(mid))] * bool(kept & 1) + [(int(mid), int(hi))] * bool(kept & 2)
        nodes = [(lo, hi) for lo, hi in nodes if hi > lo]
        for f in range(3):
            for lo, hi in nodes:
                _check_list(lists[f], X[rows, f], lo, hi)
        if not nodes:
            break


@pytest.mark.parametrize("goes", [0, 1])
def test_everything_may_go_to_one_side(goes):
    X = _table(np.random.default_rng(1), 60, 1)
    lists = _lists(X)
    rows = np.arange(60, dtype=np.uint32)
    new_position, spare = np.empty(60, np.uint32), np.empty(60, np.uint32)
    start, end = np.array([0]), np.array([60])
    side = np.full(60, goes, np.uint8)
    middle = move_rows(rows, start, end, side, new_position, spare)
    assert middle[0] == (60 if goes else 0)
    split_columns(lists, np.array([0]), start, middle, end, new_position, spare)
    np.testing.assert_array_equal(rows, np.arange(60))
    _check_list(lists[0], X[rows, 0], 0, 60)


class Span(NamedTuple):
    """Where the rows of one node stand."""

    start: np.ndarray
    end: np.ndarray


def _node(n):
    return Span(np.array([0]), np.array([n]))


def _best(cut, missing_left):
    return no_best(1)._replace(cut=np.array([cut]), missing_left=np.array([missing_left], np.uint8))


def test_mark_lists_marks_a_cut_and_the_missing():
    values = np.array([3.0, 1.0, np.nan, 2.0, 1.0, np.nan])
    lists = _lists(values[:, None])
    for missing_left in (0, 1, 2):
        side, has_missing = np.full(6, 9, np.uint8), np.zeros(1, np.bool_)
        best = _best(2, missing_left)
        mark_lists(lists, np.array([0]), _node(6), best, side, has_missing)
        np.testing.assert_array_equal(side, [0, 1, missing_left, 0, 1, missing_left])
        assert has_missing[0]


def test_mark_codes_marks_a_cut_and_finds_the_next_code():
    codes = np.array([[4, 0, 2, 5, 4, 0]], np.uint8)  # 5 means missing
    rows = np.array([5, 4, 3, 2, 1, 0], np.uint32)
    columns = Columns(np.array([0]), np.array([5]), np.array([False]), np.zeros(1, np.int8))
    for cut, expected, above in ((0, [1, 0, 7, 0, 1, 0], 2), (2, [1, 0, 7, 1, 1, 0], 4)):
        side, has_missing = np.empty(6, np.uint8), np.zeros(1, np.bool_)
        found = np.empty(1, np.int64)
        mark_codes(codes, columns, rows, _node(6), _best(cut, 7), side, has_missing, found)
        np.testing.assert_array_equal(side, expected)
        assert has_missing[0]
        assert found[0] == above
    mark_codes(codes, columns, rows, _node(6), _best(4, 7), side, has_missing, found)
    assert found[0] == -1  # nothing but missing values is above


def test_mark_categories_follows_the_table():
    codes = np.array([[0, 1, 2, 3, 1]], np.uint8)  # 3 means missing
    columns = Columns(np.array([0]), np.array([3]), np.array([True]), np.zeros(1, np.int8))
    side, has_missing = np.empty(5, np.uint8), np.zeros(1, np.bool_)
    rows, takes = np.arange(5, dtype=np.uint32), np.array([[1, 0, 1]], np.uint8)
    gone = np.array([2], np.uint8)
    mark_categories(codes, columns, rows, _node(5), takes, gone, side, has_missing)
    np.testing.assert_array_equal(side, [1, 0, 1, 2, 0])
    assert has_missing[0]


def test_larger_side_weighs_what_is_placed():
    rows = np.arange(5, dtype=np.uint32)
    out = np.empty(1, np.int64)
    cases = [
        ([1, 1, 0, 0, 0], [], 1),
        ([1, 1, 0, 0, 0], [5.0, 1, 1, 1, 1], 0),
        ([1, 0, 2, 2, 2], [], 0),  # a tie goes left
        ([0, 2, 2, 2, 2], [1.0, 9, 9, 9, 9], 1),
    ]
    for side, weights, larger in cases:
        larger_side(
            rows, np.array(weights), np.array([0]), np.array([5]), np.array(side, np.uint8), out
        )
        assert out[0] == larger


def test_set_bits_writes_one_bit_per_category():
    rng = np.random.default_rng(2)
    for n_codes in (1, 31, 32, 33, 100):
        takes = rng.integers(0, 3, size=(2, n_codes)).astype(np.uint8)
        words = (n_codes + 31) // 32
        bits = np.zeros(2 * words, np.uint32)
        set_bits(takes, np.full(2, n_codes), np.array([0, 1]), bits, np.array([0, words], np.int64))
        for k in range(2):
            shown = [(int(bits[k * words + (c >> 5)]) >> (c & 31)) & 1 for c in range(n_codes)]
            np.testing.assert_array_equal(shown, np.where(takes[k] == 2, k, takes[k]))
