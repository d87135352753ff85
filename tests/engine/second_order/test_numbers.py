"""Scans of numbers, against every cut scored one by one in plain Python."""

import numpy as np
import pytest

from arboretum.engine.atomic import LANES, sum_block
from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.dtypes import NUMBER
from arboretum.engine.second_order import numbers
from tests.engine.second_order.scan_cases import (
    RULES,
    best_of,
    bins_of,
    candidate,
    new_scratch,
    node_of,
    rows_in,
    split_gain,
)


@kernel
def scan_number(f, n, node, sign, rules, scratch):
    numbers.scan_number(f, n, node, sign, None, rules, None, scratch)


@kernel
def scan_packed(f, n, sums, missing, node, rules, scratch):
    numbers.scan_packed(f, n, sums, missing, node, None, rules, None, scratch)


@kernel
def sums_at(sums, at):
    return sum_block(sums, np.uint64(at))


SETTINGS = {
    "plain": (RULES, {}),
    "no λ, no weight needed": (RULES._replace(l2=0.0, min_weight=1e-3), {}),
    "rows needed": (RULES._replace(min_rows=30.0), {}),
    "α": (RULES._replace(l1=2.0), {}),
    "small steps": (RULES._replace(max_delta_step=0.3), {}),
    "smooth": (RULES._replace(path_smooth=5.0, min_rows=3.0), {}),
    "bounds": (RULES, {"lower": -0.2, "upper": 0.3}),
    "gain needed": (RULES._replace(min_gain=3.0), {}),
    "as XGBoost": (RULES._replace(as_xgboost=True), {}),
}


def cuts_of(g, h, node, itself, rules, sign):
    """Return all cuts in the order they are tried: missing values right, then left."""
    n, missing = len(g) - 1, bool(g[-1] or h[-1])
    for side in range(2 if missing else 1):
        for b in range(n if missing and not side else n - 1):
            sum_g, sum_h = int(g[: b + 1].sum()), int(h[: b + 1].sum())
            if side:
                sum_g, sum_h = sum_g + int(g[n]), sum_h + int(h[n])
            if missing and not side:
                n_left = sum(rows_in(x, node) for x in h[: b + 1])
            else:
                n_left = node.rows - sum(rows_in(x, node) for x in h[b + 1 : n])
            gain = split_gain(sum_g, sum_h, n_left, node, itself, rules, sign=sign)
            heavier = 2 * sum_h >= node.h and not rules.as_xgboost
            yield candidate(
                gain, bin=b, missing_left=side if missing else int(heavier), g=sum_g, h=sum_h
            )


def check(best, expected):
    if expected is None:
        assert best["feature"] == -1
        return
    assert best["gain"] == pytest.approx(expected.gain, rel=1e-9)
    assert (best["feature"], best["kind"]) == (5, NUMBER)
    assert (best["bin"], best["missing_left"]) == (expected.bin, expected.missing_left)
    assert (best["left_g"], best["left_h"]) == (expected.g, expected.h)


@pytest.mark.parametrize("sign", [0, 1, -1])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", SETTINGS)
def test_the_best_cut_is_found(name, missing, sign):
    rules, bounds = SETTINGS[name]
    found = 0
    for seed, n in enumerate([1, 2, 3, 7, 40, 40]):
        g, h = bins_of(n, np.random.default_rng(seed), missing=missing)
        node, itself = node_of(g, h, rules, **bounds)
        scratch = new_scratch(n)
        scratch.g[:], scratch.h[:] = g, h
        scan_number(5, n, node, float(sign), rules, scratch)
        expected = best_of(cuts_of(g, h, node, itself, rules, sign), rules, itself)
        check(scratch.best[0], expected)
        found += expected is not None
    assert found > 0


@pytest.mark.parametrize("rows", [5, 200])  # fewer rows than bins: empty ones are passed over
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", ["plain", "no λ, no weight needed", "rows needed", "as XGBoost"])
def test_sums_of_two_in_one_number_are_scanned_alike(name, missing, rows):
    rules = SETTINGS[name][0]
    for seed, n in enumerate([1, 2, 9, 40, 40]):
        g, h = bins_of(n, np.random.default_rng(seed), missing=missing)
        node, _ = node_of(g, h, rules, rows=rows)
        one, two = new_scratch(n), new_scratch(n)
        one.g[:], one.h[:] = g, h
        scan_number(5, n, node, 0.0, rules, one)
        sums = (g << 32) + h
        scan_packed(5, n, sums, sums[n], node, rules, two)
        for name_ in ("gain", "feature", "left_g", "left_h"):
            assert one.best[0][name_] == two.best[0][name_]
        if one.best[0]["feature"] == 5:
            assert one.best[0]["missing_left"] == two.best[0]["missing_left"]
            cut = sorted([one.best[0]["bin"], two.best[0]["bin"]])
            assert not h[cut[0] + 1 : cut[1] + 1].any()  # the same cut, but for bins without rows


def test_equal_bins_and_a_better_split_before_leave_nothing_to_find():
    g, h = np.array([10, 20, 30, 0]), np.array([10, 20, 30, 0])  # G/H is the same everywhere
    rules = RULES._replace(l2=0.0)
    node, _ = node_of(g, h, rules)
    scratch = new_scratch(3)
    scratch.g[:], scratch.h[:] = g, h
    scan_number(5, 3, node, 0.0, rules, scratch)
    assert scratch.best[0]["feature"] == -1
    g, h = bins_of(9, np.random.default_rng(1), missing=True)
    node, _ = node_of(g, h, RULES)
    scratch = new_scratch(9)
    scratch.g[:], scratch.h[:] = g, h
    scratch.best["gain"], scratch.best["feature"] = 1e9, 2
    scan_number(5, 9, node, 0.0, RULES, scratch)
    assert scratch.best[0]["feature"] == 2


def test_a_block_has_its_sum_and_at_least_nearly_the_magnitudes_of_all():
    rng = np.random.default_rng(3)
    g, h = rng.integers(-(2**20), 2**20, 3 * LANES), rng.integers(0, 2**31, 3 * LANES)
    sums = (g << 32) + h
    for at in (0, 5, 2 * LANES):
        block = slice(at, at + LANES)
        total, magnitude = sums_at(sums, at)
        assert total == sums[block].sum()
        assert 0 <= np.abs(g[block]).sum() - magnitude <= LANES
