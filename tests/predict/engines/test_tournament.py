"""Leaves that play a tournament answer what trees that are walked answer, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum import (
    GradientBoostingClassifier,
    LGBMClassifier,
    LGBMRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    XGBRegressor,
)
from arboretum.engine.predict.tournament import CELLS, ROWS
from arboretum.predict.engines import costs
from arboretum.predict.engines.choose import choose
from arboretum.predict.engines.tournament import TournamentEngine, lay_grid
from arboretum.predict.engines.walk import WalkEngine


def table(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of several kinds, some missing, and a target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 1], X[:, 3] = rng.integers(0, 6, n), np.exp(8 * X[:, 3])
    y = X[:, 0] + (X[:, 1] > 2) * X[:, 2] + rng.normal(size=n)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(n) < 0.5, 4] = np.nan
    return X, y


def three(y: np.ndarray) -> np.ndarray:
    return np.digitize(y, [-1, 1])


MODELS = {
    "codes of one byte": (LGBMRegressor(n_estimators=70), lambda y: y),
    "of two": (RandomForestRegressor(40, max_leaf_nodes=60, random_state=0), lambda y: y),
    "gaps left and right": (XGBRegressor(n_estimators=30, max_depth=5), lambda y: y),
    "an output for every tree": (LGBMClassifier(n_estimators=15), three),
    "several numbers": (RandomForestClassifier(20, max_depth=4, random_state=0), three),
    "stumps": (GradientBoostingClassifier(n_estimators=9, max_depth=1), lambda y: y > 0),
    "128 leaves": (LGBMRegressor(n_estimators=6, num_leaves=128, min_child_samples=1), lambda y: y),
}


@pytest.fixture(scope="module", params=MODELS)
def case(request):
    model, labels = MODELS[request.param]
    X, y = table(900)
    terms = model.fit(X, labels(y)).ensemble_.terms
    assert isinstance(choose(terms, 900), TournamentEngine)
    return request.param, terms


def both(terms, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    numbers = max(int(terms.columns.max()) + 1, terms.values[0].shape[1])
    played = np.full((len(X), numbers), 0.1)
    walked = played.copy()
    terms.laid_out(TournamentEngine).add(X, played)
    terms.laid_out(WalkEngine).add(X, walked)
    return played, walked


def test_the_same_sums_as_walking(case):
    _, terms = case
    X, _ = table(1_000, seed=1)
    played, walked = both(terms, X)
    assert np.array_equal(played, walked)
    for n in (1, 7, 8, 64, 65, ROWS - 1, ROWS, ROWS + 1):
        assert np.array_equal(both(terms, X[:n].copy())[0], walked[:n])


def test_values_at_cuts_and_far_from_them(case):
    name, terms = case
    layout = terms.laid_out(TournamentEngine).layout
    cuts = layout.cuts
    ends = [np.nan, np.inf, -np.inf, 1.7e308, -1.7e308, 0.0, -0.0, 5e-324]
    values = np.concatenate([cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf), ends])
    X = np.random.default_rng(0).choice(values, (3_000, 5))
    assert np.array_equal(*both(terms, X))
    widest = np.diff(layout.cuts_start).max()
    assert name != "of two" or widest > 255
    assert name != "codes of one byte" or widest < 256


def test_a_column_has_two_lists_only_where_gaps_go_both_ways(case):
    _, terms = case
    layout = terms.laid_out(TournamentEngine).layout
    lists = layout.lists
    assert sorted(lists[lists >= 0]) == list(range(layout.n_lists))
    inner = [~tree.is_leaf for tree in terms.trees]
    asked = {
        pair
        for tree, some in zip(terms.trees, inner, strict=True)
        for pair in zip(tree.feature[some].tolist(), tree.missing_child[some].tolist(), strict=True)
    }
    columns, sides = np.nonzero(lists >= 0)
    assert set(zip(layout.features[columns].tolist(), sides.tolist(), strict=True)) == asked


@pytest.mark.parametrize(
    "cuts",
    [
        [1.0],
        np.arange(700.0),
        np.exp(np.linspace(-600, 600, 300)),
        [-1.7e308, 0.0, 1.7e308],  # their distance is infinite
        [-np.inf, 0.0, np.inf],
        [0.0, 5e-324, 1e-323],  # cells per unit would be
        [1.0, np.nextafter(1.0, 2.0), 1e9],
        np.sort(np.random.default_rng(0).standard_cauchy(400)),
    ],
)
def test_a_value_is_looked_for_where_it_is(cuts):
    cuts = np.asarray(cuts, float)
    both_columns = np.concatenate([[-3.0, 3.0], cuts])  # of which this is the second
    grid, guess, look = lay_grid(both_columns, np.array([0, 2, 2 + len(cuts)]))
    x = np.concatenate([cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf)])
    x = np.concatenate(
        [x, np.random.default_rng(1).normal(size=99), [1e308, -1e308, np.inf, -np.inf]]
    )
    with np.errstate(all="ignore"):
        place = (x - grid[1, 0]) * grid[1, 1]
    place = np.where(place > 0, place, 0.0)
    cell = np.where(place < CELLS - 1, place, CELLS - 1).astype(int)
    begin, rank = guess[CELLS + cell], 2 + np.searchsorted(cuts, x)
    assert np.all((begin <= rank) & (rank <= begin + look[1]))
    assert np.all((begin >= 2) & (begin + look[1] <= len(both_columns)))


def test_what_it_does_not_take(monkeypatch):
    X, y = table(600)
    words = X.astype(object)
    words[:, 1] = np.where(np.isnan(X[:, 1]), "none", "some")
    assert (
        TournamentEngine.lay_out(LGBMRegressor(n_estimators=12).fit(words, y).ensemble_.terms)
        is None
    )
    terms = LGBMRegressor(n_estimators=12).fit(X, y).ensemble_.terms
    monkeypatch.setattr(costs, "PLAYED_LEAVES", 8)
    assert TournamentEngine.cost(terms, 600) == np.inf
    monkeypatch.setattr(costs, "PLAYED_CUTS", 20)
    assert TournamentEngine.lay_out(terms) is None
