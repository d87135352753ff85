"""Random cuts: values as ordered whole numbers, and coins that fall the same again."""

import numpy as np
import pytest

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.depth_first.random_cut import ordered_bits, random_cut
from arboretum.engine.depth_first.records import CATEGORY, NUMBER, RandomTreeTarget
from arboretum.engine.depth_first.toss import split_by_coins
from arboretum.engine.split.random import coins
from tests.engine.depth_first.benches import bench_for, columns_of, features_of
from tests.engine.depth_first.rules import rules as plain


@kernel
def _cut(columns, bench, rows):
    random_cut(columns, bench, rows)


@kernel
def _split(columns, bench, rows):
    split_by_coins(columns, bench, rows)


@kernel
def _coins(key, feature, block):
    return coins(key, np.uint64(feature), np.uint64(block))


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
    rows, key = rng.permutation(300).astype(np.uint32), np.uint64(99)
    before, raised = rows.copy(), np.int64(1) << np.int64(62)
    target = RandomTreeTarget(None, None, np.ones(300, np.int64))
    bench = bench_for(
        features_of(1, n_codes, CATEGORY, np.iinfo(np.int64).max), target, plain(), 300, key=key,
        last=raised - 1, side=missing_left,
    )  # fmt: skip
    _split(columns_of(values[None], random=True), bench, rows)
    many, missing = (bench.node[name][0] for name in ("many", "missing"))
    side = bench.scratch.side_of[:300]
    codes = values[before]
    lost = codes == np.iinfo(np.int64).max
    word = [int(_coins(key, 0, block)) for block in range(4)]
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


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("classes", [False, True])
def test_a_cut_scores_what_its_rows_add_up_to(dtype, unit, classes):
    rng, largest = np.random.default_rng(int(unit)), np.iinfo(dtype).max
    for case in range(40):
        n, kind = int(rng.integers(2, 70)), CATEGORY if case % 3 == 0 else NUMBER
        values = rng.integers(0, 9, (3, 90)).astype(dtype)
        values[1] = 7  # does not vary
        if case % 2:
            values[:, rng.random(90) < 0.2] = largest  # missing
        weight = np.ones(98, np.int64) if unit else rng.integers(1, 4, 98)
        y = rng.integers(0, 3, 98)
        number = (weight * rng.integers(-50, 50, 98))[None]
        target = RandomTreeTarget(
            y[None].astype(np.uint32) if classes else None, None if classes else number, weight
        )
        bench = bench_for(
            features_of(3, 9, kind, largest), target, plain(), 98, channels=3 if classes else None,
            start=3, n=n, key=case, weight=weight[3 : 3 + n].sum(),
        )  # fmt: skip
        here = slice(3, 3 + n)
        channels = np.eye(3, dtype=np.int64)[y[here]] * weight[here, None]
        sums = channels if classes else number[0, here, None]
        bench.scratch.total[:] = sums.sum(axis=0)
        rows = rng.permutation(90).astype(np.uint32)
        _cut(columns_of(values, random=True), bench, rows)
        node = bench.node[0]
        if node["feature"] < 0:
            assert n < 10  # the rows may be equal in two columns
            continue
        x, w = values[node["feature"], rows[here]].astype(np.int64), weight[here]
        if kind == CATEGORY:  # raised as their coins fall
            word = int(_coins(np.uint64(case), np.uint64(node["feature"]), 0))
            by = 8 * values.itemsize - 2
            x = np.array([v | ((~word >> (v & 63) & 1) << by) for v in x.tolist()])
        left = np.where(x == largest, node["side"] == 1, x <= node["last"])
        d = sums[left].sum(axis=0) - w[left].sum() * sums.sum(axis=0) / w.sum()
        assert 0 < left.sum() < n
        assert node["feature"] != 1 or case % 2
        expected = (d * d).sum() / (w[left].sum() * w[~left].sum())
        assert node["score"] == pytest.approx(expected, rel=1e-9)
