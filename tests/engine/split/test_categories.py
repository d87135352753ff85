"""Divisions of categories, against every subset of them tried in plain NumPy."""

from itertools import product

import numpy as np
import pytest

from arboretum.engine.split.best import new_column_best
from arboretum.engine.split.categories import (
    EXHAUSTIVE,
    choose_categories,
    rank_categories,
    scan_categories,
)
from arboretum.engine.split.counts import make_counter
from tests.engine.split.split_cases import CRITERIA, columns_of, decrease, make_case


def scan(case, codes, n_codes, chance=0.0):
    k = len(case.batch)
    columns = columns_of(k, 0, n_codes, categorical=True)
    channels, found = case.statistic.channels, new_column_best(k)
    scan_categories(
        codes[None, :], columns, case.statistic.row, case.batch.nodes, case.statistic.rules,
        make_counter(n_codes, channels), np.full(k, chance), 0.0, found,
    )  # fmt: skip
    takes = np.empty((k, n_codes), np.int64)
    choose_categories(
        codes[None, :], columns, case.statistic.row, case.batch.nodes, case.statistic.rules,
        found.cut, make_counter(n_codes, channels), takes,
    )  # fmt: skip
    return found, takes


def best_subset(case, rows, codes, n_codes):
    """Return the largest decrease that any subset of the categories, and of the missing, brings."""
    met = np.unique(codes[rows])  # the last code is missing
    best = -1.0
    for sides in product((False, True), repeat=len(met)):
        left = np.isin(codes[rows], met[np.array(sides)])
        best = max(best, decrease(case, rows, left))
    return best


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", CRITERIA)
def test_the_best_of_all_subsets_is_found(kind, weighted, missing):
    rng = np.random.default_rng(len(kind) + 7 * weighted)
    n_codes, sizes = 6, [25, 1, 8, 2]
    case = make_case(kind, sizes, rng, weighted=weighted)
    codes = rng.integers(0, n_codes, len(case.y)).astype(np.uint8)
    codes[rng.random(len(codes)) < missing] = n_codes
    found, takes = scan(case, codes, n_codes)
    got = case.statistic.decrease(case.batch.nodes, found.score)
    for k, (lo, hi) in enumerate(zip(case.edges[:-1], case.edges[1:])):
        rows = case.rows[lo:hi]
        assert found.constant[k] == (len(np.unique(codes[rows])) == 1)
        expected = best_subset(case, rows, codes, n_codes)
        if expected < 0:
            assert found.score[k] < 0
            continue
        assert got[k] == pytest.approx(expected, abs=1e-12)
        met = np.isin(np.arange(n_codes), codes[rows])
        assert ((takes[k] == 2) == ~met).all()
        sides = np.append(takes[k] == 1, bool(found.missing_left[k]))
        assert decrease(case, rows, sides[codes[rows]]) == pytest.approx(expected, abs=1e-12)


def test_a_node_whose_rows_are_all_equal_is_not_divided():
    case = make_case("squared error", [9], np.random.default_rng(0))
    found, takes = scan(case, np.full(9, 2, np.uint8), 4)
    assert found.constant[0]
    assert found.score[0] < 0
    assert takes[0].tolist().count(2) == 3
    found, _ = scan(case, np.full(9, 4, np.uint8), 4)  # nothing but missing values
    assert found.constant[0]
    assert found.score[0] < 0


def test_what_is_held_to_be_chance_grows_with_the_categories():
    case = make_case("gini, two classes", [40], np.random.default_rng(1))
    codes = np.arange(40, dtype=np.uint8) % 5
    assert scan(case, codes, 5, chance=0.25)[0].charge[0] == 0.25 * (5 - 2)
    assert scan(case, codes % 2, 5, chance=0.25)[0].charge[0] == 0


@pytest.mark.parametrize("n_codes", [EXHAUSTIVE + 2, 40])
def test_many_categories_of_many_classes_are_cut_along_one_axis(n_codes):
    rng = np.random.default_rng(3)
    case = make_case("gini", [600], rng)
    codes = ((3 * case.y + rng.integers(0, n_codes, 600)) % n_codes).astype(np.uint8)
    found, takes = scan(case, codes, n_codes)
    rows, left = case.rows, (takes[0] == 1)[codes[case.rows]]
    got = case.statistic.decrease(case.batch.nodes, found.score)[0]
    assert got == pytest.approx(decrease(case, rows, left), abs=1e-12)
    counts = np.zeros((n_codes, 4))
    np.add.at(counts, (codes, case.y), 1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    weight = counts.sum(axis=1)
    centred = shares - counts.sum(axis=0) / 600
    axis = np.linalg.eigh((centred * weight[:, None]).T @ centred)[1][:, -1]
    order = np.argsort(centred @ axis)
    cuts = [decrease(case, rows, np.isin(codes[rows], order[:m])) for m in range(1, n_codes)]
    assert got == pytest.approx(max(cuts), rel=1e-6)


def test_ranks_are_places_in_the_order_of_means():
    rng = np.random.default_rng(4)
    case = make_case("squared error", [60, 30], rng)
    codes = rng.integers(0, 7, 90).astype(np.uint8)
    rank = np.full((2, 7), -1)
    rank_categories(
        codes[None, :], columns_of(2, 0, 7, categorical=True), case.statistic.row, case.batch.nodes,
        case.statistic.rules, make_counter(7, 1), rank,
    )  # fmt: skip
    for k, (lo, hi) in enumerate(zip(case.edges[:-1], case.edges[1:])):
        rows = case.rows[lo:hi]
        met = np.unique(codes[rows])
        means = [case.y[rows][codes[rows] == c].mean() for c in met]
        assert (
            met[np.argsort(means, kind="stable")].tolist()
            == np.argsort(rank[k])[-len(met) :].tolist()
        )
