"""The running sums gain what every question gains by itself, and refuse what a rule refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum.textbook.column_scan import FEW_CATEGORIES, scan_column
from arboretum.textbook.impurities import CLASS_CRITERIA, CRITERIA
from arboretum.textbook.splits import Rules, gather, judge_all

SUMS = [criterion for criterion in CRITERIA if criterion != "absolute_error"]


def sample_of(
    seed: int, criterion: str, *, outputs: int = 1, n_classes: int = 3, n: int = 60, **more
):
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.normal(size=n).round(1), rng.integers(0, 5, n), rng.integers(0, 7, n).astype(float)]
    )
    X[rng.random(X.shape) < 0.15] = np.nan
    X[:, 1] = np.where(np.isnan(X[:, 1]), 2.0, X[:, 1])  # a column without gaps
    y = (
        rng.integers(0, n_classes, (n, outputs))
        if criterion in CLASS_CRITERIA
        else rng.poisson(2.0, (n, outputs))
    )
    if criterion in CLASS_CRITERIA:
        y[:n_classes] = np.arange(n_classes)[:, None]
    rules = Rules(criterion, kinds=("numeric", "ordinal", "categorical"), **more)
    return gather(X, y, rng.uniform(0.5, 2, n), rules)


@pytest.mark.parametrize("criterion", SUMS)
@pytest.mark.parametrize("outputs", [1, 2])
def test_gains_are_those_of_every_question(criterion, outputs):
    sample = sample_of(outputs, criterion, outputs=outputs, min_samples_leaf=8, min_weight_leaf=9.0)
    if criterion not in CLASS_CRITERIA and outputs == 1:  # one order of the categories
        sample = replace(sample, rules=replace(sample.rules, exhaustive=False))
    table = judge_all(sample)
    for feature in range(3):
        theirs = [c for c in table if c.feature == feature]
        scan = scan_column(sample, feature)
        assert scan.n_tried == len(theirs)
        assert_allclose(scan.gain, [c.gain for c in theirs], rtol=1e-9, atol=1e-13)
        assert_array_equal(scan.allowed, [c.verdict == "admissible" for c in theirs])
        best = scan.best(3, refused=True)
        assert_allclose(
            [c.gain for c in best], sorted((c.gain for c in theirs), reverse=True)[:3], rtol=1e-9
        )


def test_two_classes_and_one_order():
    sample = sample_of(5, "gini", n_classes=2)
    every = max(c.gain for c in judge_all(sample) if c.feature == 2)
    assert_allclose(scan_column(sample, 2).best()[0].gain, every, rtol=1e-12)


def test_many_categories_are_taken_in_order():
    rng = np.random.default_rng(3)
    x = np.arange(40.0) % (FEW_CATEGORIES + 5)
    sample = gather(
        x[:, None], rng.integers(0, 3, 40), None, Rules(kinds=("categorical",), n_classes=3)
    )
    scan = scan_column(sample, 0)
    assert scan.n_tried <= 3 * (FEW_CATEGORIES + 4)
    assert_allclose(scan.best()[0].gain, scan.gain.max(), rtol=1e-12)


def test_monotone_constraints_and_surrogates():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(50, 2)).round(1)
    X[::7, 0] = np.nan
    y = X[:, 1] + rng.normal(size=50)
    for more in ({"monotonic_cst": (1, -1)}, {"surrogates": 2}):
        sample = replace(gather(X, y, None, Rules("squared_error", **more)), bounds=(-1.0, 1.5))
        table = judge_all(sample)
        for f in (0, 1):
            theirs, scan = [c for c in table if c.feature == f], scan_column(sample, f)
            assert_array_equal(scan.allowed, [c.verdict == "admissible" for c in theirs])
            assert_allclose(scan.gain, [c.gain for c in theirs], rtol=1e-9, atol=1e-13)


def test_a_column_without_values_has_nothing_to_offer():
    sample = gather([[np.nan], [np.nan]], [0, 1], None, Rules())
    assert scan_column(sample, 0).best(5, refused=True) == []


def test_medians_are_refused():
    with pytest.raises(ValueError, match="medians"):
        scan_column(gather([[1.0], [2.0]], [1.0, 2.0], None, Rules("absolute_error")), 0)
