"""Large trees and many rows: bottom branches by tables give what the walk gives."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import arboretum as ab
from arboretum.predict.shap import deep, values
from arboretum.predict.shap.deep import add_by_lanes, has_lanes
from arboretum.predict.shap.layout import lay_out
from arboretum.predict.shap.walking import add_by_walk
from tests.predict.shap.shap_cases import MODELS, fitted, table


@pytest.fixture
def small(monkeypatch):
    """Small trees are walked so, too."""
    monkeypatch.setattr(deep, "_LEAST_LEAVES", 1)


def _both_ways(layout, matrix, n_jobs=1):
    """Return values by lanes and by the walk, of the trees that have lanes."""
    trees = np.flatnonzero(has_lanes(layout))
    found = np.zeros((2, matrix.n_rows, layout.n_outputs, layout.n_columns))
    add_by_lanes(layout, trees, matrix, found[0], n_jobs)
    add_by_walk(layout, trees, matrix, None, found[1], 1)
    return found


@pytest.mark.parametrize("name", [name for name in MODELS if name != "ID3"])
def test_they_give_the_same_as_the_walk(name, small):
    """Which the definition was held against; words, gaps, stand-ins and several outputs among them."""
    model = fitted(name)
    layout = model._contributions(model._summed_trees()).layout
    assert has_lanes(layout).any()
    by_lanes, by_walk = _both_ways(layout, model._encode(table(150, 3)))
    assert np.abs(by_walk).max() > 0
    assert_allclose(by_lanes, by_walk, rtol=0, atol=1e-13)


def test_trees_of_many_branches_have_none(small):
    model = fitted("ID3")
    layout = model._contributions(model._summed_trees()).layout
    assert not has_lanes(layout).any()


@pytest.fixture(scope="module")
def grown():
    """Return a forest grown to purity, whose paths ask for many columns, some of them again and again."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 24))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + rng.normal(size=900)
    return ab.RandomForestRegressor(6, random_state=0, max_features=8).fit(X, y), X


@pytest.mark.parametrize("most", [1, 4, 32])
def test_bottom_branches_of_any_size_give_the_same(grown, most, monkeypatch):
    model, X = grown
    monkeypatch.setattr(deep, "_MOST_STATES", most)
    layout = model._contributions(model.ensemble_).layout
    by_lanes, by_walk = _both_ways(layout, model._encode(X[:130]))
    assert_allclose(by_lanes, by_walk, rtol=0, atol=1e-14)


@pytest.mark.parametrize("least", [20, 10_000])
def test_branches_without_weight_give_no_nan(grown, least):
    model, X = grown
    ensemble = model.ensemble_
    trees = [replace(t, weight=np.where(t.weight < least, 0.0, t.weight)) for t in ensemble.trees]
    layout = lay_out(replace(ensemble, trees=trees).additive(), X.shape[1])
    by_lanes, by_walk = _both_ways(layout, model._encode(X[:70]))
    assert np.isfinite(by_lanes).all()
    assert_allclose(by_lanes, by_walk, rtol=0, atol=1e-14)


def test_many_rows_are_asked_so_and_add_up(grown, monkeypatch):
    model, X = grown
    asked = []

    def told(layout, trees, *rest):
        asked.append(len(trees))
        add_by_lanes(layout, trees, *rest)

    monkeypatch.setattr(values, "add_by_lanes", told)
    total = model.shap_base_value() + model.shap_values(X).sum(axis=1)
    assert_allclose(total, model.predict(X), rtol=1e-10, atol=1e-12)
    assert asked == [6]
    model.shap_values(X[:500])
    assert asked == [6]


def test_the_same_bits_for_any_number_of_threads(grown):
    model, X = grown
    found = [
        pickle.loads(pickle.dumps(model)).set_params(n_jobs=n_jobs).shap_values(X)
        for n_jobs in (1, 2, 3)
    ]
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("columns", [30, 50, 140])
def test_long_paths(columns, small):
    """One column for every row: a path of so many questions; a lane has room for 128 columns."""
    X, y = np.eye(columns), np.arange(float(columns)) ** 2
    model = ab.CARTRegressor().fit(X, y)
    layout = model._contributions(model.ensemble_).layout
    assert layout.longest[0] == columns - 1
    assert has_lanes(layout).any() == (columns < 129)
    rows = np.tile(X, (-(-520 // columns), 1))
    found = model.shap_values(rows)
    total = model.shap_base_value() + found.sum(axis=1)
    assert_allclose(total, model.predict(rows), rtol=1e-10, atol=1e-9)
    assert_allclose(found[:9], model.shap_values(rows[:9]), rtol=1e-10, atol=1e-9)  # by the walk


def test_in_plain_python():
    """The same numbers without a compiler, to the last bit."""
    script = (
        "import numpy as np, arboretum as ab\n"
        "from arboretum.predict.shap import deep, values\n"
        "values._ROWS_OF_LANES, values._ROWS, deep._LEAST_LEAVES = 1, 10**9, 1\n"
        "rng = np.random.default_rng(0)\n"
        "X = rng.normal(size=(40, 5)); y = X[:, 0] * X[:, 1] + X[:, 2]\n"
        "print(ab.CARTRegressor(max_depth=4).fit(X, y).shap_values(X[:3]).tobytes().hex())"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "NUMBA_DISABLE_JIT": flag},
            capture_output=True, text=True, check=True,
        ).stdout
        for flag in ("0", "1")
    ]  # fmt: skip
    assert said[0] == said[1]
