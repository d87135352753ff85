"""The random splitter: lists, thresholds and coins against draws made one by one in plain Python."""

import numpy as np
import pytest

from arboretum.engine.columns.presort import MISSING, NEW, POSITION
from arboretum.engine.keys import key_of
from arboretum.engine.split.random import NodeDraws, Values, draw_again, draw_lists, toss_categories
from tests.engine.split.split_cases import columns_of, make_case

N_CODES, FEATURE = 70, 3  # more categories than a word has bits


def table(n, rng, missing):
    codes = rng.integers(0, N_CODES, n).astype(np.uint8)
    codes[rng.random(n) < missing] = N_CODES
    low = np.cumsum(rng.random(N_CODES) + 0.5)
    return codes, Values(np.zeros(1, np.int64), low, low + 0.4)


def share_of(key):
    """Return the number in [0, 1) that a threshold is drawn by."""
    return (key_of(int(key), FEATURE, 0) >> 11) / 2**53


def goes_left(key, code):
    """Return the coin of a category."""
    return key_of(int(key), FEATURE, code // 64 + 2) >> (code % 64) & 1 == 1


def sides(key, codes, values, categorical):
    """Return which codes go left, and the threshold of a number."""
    met = np.unique(codes[codes < N_CODES]).tolist()
    if not met:
        return set(), np.nan
    if categorical:
        left = {c for c in met if goes_left(key, c)}
        return (left if left and len(left) < len(met) else {met[0]}), np.nan
    u = share_of(key)
    threshold = values.low[met[0]] * (1 - u) + values.high[met[-1]] * u
    left = {c for c in met[:-1] if values.high[c] <= threshold}
    return left | {met[0]}, threshold if len(met) > 1 else np.nan


@pytest.mark.parametrize("missing", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("categorical", [False, True])
def test_lists_hold_the_left_side_the_right_one_and_the_missing(categorical, missing):
    rng = np.random.default_rng(5 + categorical)
    sizes = [30, 1, 2, 9, 100]
    case = make_case("squared error", sizes, rng)
    codes, values = table(len(case.y), rng, missing)
    columns = columns_of(5, 0, N_CODES, categorical=categorical)
    out = np.empty(len(codes), np.uint32)
    last, constant = np.empty(5, np.int64), np.empty(5, np.bool_)
    keys = case.batch.keys
    draws = NodeDraws(np.full(5, FEATURE), keys, values)
    draw_lists(codes[None, :], columns, case.rows, case.batch.nodes, draws, out, last, constant)
    for k, (lo, hi) in enumerate(zip(case.edges[:-1], case.edges[1:])):
        here = codes[case.rows[lo:hi]]
        left, _ = sides(keys[k], here, values, categorical)
        entries = out[lo:hi]
        group = np.array(
            [
                2 if here[p] == N_CODES else 0 if here[p] in left else 1
                for p in (entries & POSITION) - lo
            ]
        )
        assert np.array_equal(np.sort(entries & POSITION), np.arange(lo, hi))
        assert (np.diff(group) >= 0).all()
        assert ((entries & MISSING > 0) == (group == 2)).all()
        firsts = np.append(True, np.diff(group) > 0)
        assert ((entries & NEW > 0) == firsts).all()
        assert constant[k] == (len(np.unique(group)) < 2)
        if not categorical and left:
            assert (
                last[k] == max(left)
                or values.high[last[k]] <= sides(keys[k], here, values, False)[1]
            )


def test_thresholds_are_drawn_again_as_they_were():
    rng = np.random.default_rng(8)
    case = make_case("squared error", [40, 1, 5, 300], rng)
    codes, values = table(len(case.y), rng, 0.2)
    codes[case.rows[41:46]] = 7  # all equal
    threshold = np.empty(4)
    columns = columns_of(4, 0, N_CODES, categorical=False)
    draws = NodeDraws(np.full(4, FEATURE), case.batch.keys, values)
    draw_again(codes[None, :], columns, case.rows, case.batch.nodes, draws, threshold)
    for k, (lo, hi) in enumerate(zip(case.edges[:-1], case.edges[1:])):
        expected = sides(case.batch.keys[k], codes[case.rows[lo:hi]], values, False)[1]
        assert np.array_equal(threshold[k], expected, equal_nan=True)
    assert np.isnan(threshold).tolist() == [False, True, True, False]


def test_coins_are_tossed_again_as_they_were():
    rng = np.random.default_rng(9)
    case = make_case("squared error", [40, 1, 2, 300, 20], rng)
    codes, values = table(len(case.y), rng, 0.2)
    takes, cut = np.empty((5, N_CODES), np.int64), np.zeros(5, np.int64)
    cut[4] = N_CODES  # all that is present goes left, missing values right
    columns = columns_of(5, 0, N_CODES, categorical=True)
    draws = NodeDraws(np.full(5, FEATURE), case.batch.keys, values)
    toss_categories(codes[None, :], columns, case.rows, case.batch.nodes, draws, cut, takes)
    for k, (lo, hi) in enumerate(zip(case.edges[:-1], case.edges[1:])):
        here = codes[case.rows[lo:hi]]
        met = set(here[here < N_CODES].tolist())
        left = met if k == 4 else sides(case.batch.keys[k], here, values, True)[0]
        expected = [2 if c not in met else int(c in left) for c in range(N_CODES)]
        assert takes[k].tolist() == expected
