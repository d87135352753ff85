"""Outlines of all nodes at once: their lines are those of the worksheets' tables, node by node."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import arboretum as arb
from arboretum import worksheet
from arboretum.explain.outline.gradient import GRADIENT_NUMBERS
from arboretum.explain.outline.grown import GROWN_NUMBERS
from arboretum.explain.outline.outline import Outliner
from tests.explain.worksheet.tables import classes, signal, table, weights

GROWN = {
    "CART gini": lambda: arb.CARTClassifier(max_depth=5),
    "CART entropy": lambda: arb.CARTClassifier(
        max_depth=5, criterion="entropy", min_samples_leaf=7
    ),
    "CART numbers": lambda: arb.CARTRegressor(max_depth=5),
    "CART friedman": lambda: arb.CARTRegressor(max_depth=4, criterion="friedman_mse"),
    "CART surrogates": lambda: arb.CARTClassifier(max_depth=4, surrogates=2),
    "CART monotone": lambda: arb.CARTRegressor(max_depth=4, monotonic_cst={"age": 1}),
    "CART poisson": lambda: arb.CARTRegressor(max_depth=4, criterion="poisson"),
    "forest": lambda: arb.RandomForestClassifier(3, max_depth=6, random_state=0),
    "forest numbers": lambda: arb.RandomForestRegressor(2, max_features=2, random_state=0),
    "extra trees": lambda: arb.ExtraTreesClassifier(3, max_depth=7, random_state=0),
    "bag": lambda: arb.BaggingClassifier(n_estimators=2, max_features=0.6, random_state=0),
    "AdaBoost": lambda: arb.AdaBoostClassifier(arb.CARTClassifier(max_depth=2), n_estimators=4),
    "gradient": lambda: arb.GradientBoostingRegressor(n_estimators=4, random_state=1),
    "gradient, classes": lambda: arb.GradientBoostingClassifier(
        n_estimators=2, subsample=0.7, random_state=1
    ),
}
GRADIENT = {
    "XGB": lambda: arb.XGBClassifier(n_estimators=3, max_depth=4),
    "XGB limits": lambda: arb.XGBRegressor(
        n_estimators=3, reg_alpha=2, gamma=0.3, max_delta_step=2
    ),
    "XGB exact": lambda: arb.XGBRegressor(n_estimators=3, tree_method="exact", max_depth=4),
    "XGB approx": lambda: arb.XGBRegressor(
        n_estimators=2, tree_method="approx", subsample=0.7, colsample_bynode=0.6, random_state=1
    ),
    "XGB monotone": lambda: arb.XGBRegressor(n_estimators=2, monotone_constraints={"age": 1}),
    "XGB symmetric": lambda: arb.XGBRegressor(n_estimators=2, grow_policy="symmetric"),
    "LGBM": lambda: arb.LGBMClassifier(n_estimators=2, min_child_samples=5, verbose=-1),
    "LGBM random cuts": lambda: arb.LGBMRegressor(
        n_estimators=2, min_child_samples=5, extra_trees=True, min_data_per_group=5, verbose=-1
    ),
    "LGBM smooth": lambda: arb.LGBMRegressor(
        n_estimators=2, min_child_samples=5, path_smooth=2, verbose=-1
    ),
    "LGBM goss": lambda: arb.LGBMRegressor(
        n_estimators=3, data_sample_strategy="goss", learning_rate=0.5, verbose=-1
    ),
    "LGBM absolute": lambda: arb.LGBMRegressor(
        n_estimators=2, objective="mae", min_child_samples=5, verbose=-1
    ),
}


def fitted(make, weighted=False):
    model = make()
    X = table(160, seed=4, words=getattr(model, "tree_method", "") != "exact")
    y = classes(X) if hasattr(model, "predict_proba") else signal(X)
    y = np.abs(y) if getattr(model, "criterion", "") == "poisson" else y
    w = weights(160) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, sample_weight=w)
    return model, worksheet(model, X, y, w)


def shown(book, t, node, names, title="Best split"):
    """Return verdict and figures of the worksheet's lines by column, those of no figures left out."""
    found = book.node(t, node).table(title)
    head = list(found.header)
    return [
        (row[-1], row[head.index("gain")], [row[head.index(name)] for name in names])
        for row in found.rows
        if row[1] is not None and row[-1] != "not drawn"
    ]


def check(lines, wanted, places, rivals, rows):
    """Lines are the worksheet's; of equal gains another may be told, with its own rows."""
    assert len(lines) == len(wanted)
    assert lines[0].verdict == wanted[0][0] == "wins"
    gains = sorted(line.gain for line in lines)
    assert_allclose(gains, sorted(gain for _, gain, _ in wanted), rtol=1e-7, atol=1e-9)
    for line in lines:
        same = [
            numbers
            for verdict, gain, numbers in wanted
            if verdict == line.verdict and np.isclose(gain, line.gain, rtol=1e-7, atol=1e-9)
        ]
        told = [line.numbers[place] for place in places]
        assert same, line
        counts = _sides(told, rows)
        tied = [
            n for _, gain, n in wanted + rivals if np.isclose(gain, line.gain, rtol=1e-7, atol=1e-9)
        ]
        alike = any(np.allclose(told, one, rtol=1e-7, atol=1e-8) for one in same)
        assert alike or counts in [_sides(one, rows) for one in tied], (line, tied)


def _sides(numbers, rows) -> tuple[int, int]:
    """Return how many rows go to the smaller and the larger side."""
    return tuple(sorted(int(numbers[place]) for place in rows))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", GROWN)
def test_grown_trees(name, weighted):
    _, book = fitted(GROWN[name], weighted)
    family = book._family
    outliner = Outliner(family, most=9)
    names = ("left", "right", "imp left", "imp right")
    places = [GROWN_NUMBERS.index(n) for n in ("rows left", "rows right", "imp left", "imp right")]
    for t in range(min(len(family.trees), 2)):
        assert outliner.cost(t) > 0
        found = outliner.outline(t)
        inner = np.flatnonzero(~family.trees[t].is_leaf)
        assert sorted(found.lines) == inner.tolist()
        for node in inner[:12].tolist():
            wanted, rivals = (
                shown(book, t, node, names, one) for one in ("Best split", "Closest rivals")
            )
            check(found.lines[node], wanted, places, rivals, (0, 1))
            assert_allclose(found.lines[node][0].gain, family.trees[t].gain[node], rtol=1e-9)


@pytest.mark.parametrize("name", ["CART gini", "CART poisson", "forest numbers", "XGB exact"])
def test_on_a_grid_every_line_is_a_candidate(name, monkeypatch):
    """The winner stays; other columns gain at most what their best cut does, and less than the winner."""
    from arboretum.explain.outline import line

    _, book = fitted((GROWN | GRADIENT)[name])
    monkeypatch.setattr(line.on_grid, "__defaults__", (6,))
    whole, grid = (Outliner(book._family, 9, grid=some).outline(0) for some in (False, True))
    fewer = 0
    for node, lines in whole.lines.items():
        best = {one.feature: one for one in lines}
        assert_allclose(grid.lines[node][0].gain, lines[0].gain, rtol=1e-12)
        for one in grid.lines[node][1:]:
            other = best[one.feature]
            if not one.verdict.startswith("min_") and not other.verdict.startswith("min_"):
                assert one.gain <= other.gain + 1e-9 * abs(other.gain) + 1e-12
                fewer += one.gain < other.gain - 1e-9 * abs(other.gain)
    assert fewer


@pytest.mark.parametrize("name", GRADIENT)
def test_second_order_trees(name):
    _, book = fitted(GRADIENT[name])
    family = book._family
    outliner = Outliner(family, most=9)
    names = ("G left", "H left", "rows left", "rows right")
    places = [GRADIENT_NUMBERS.index(n) for n in names]
    for t in range(min(len(family.trees), 3)):
        assert outliner.cost(t) > 0
        found = outliner.outline(t)
        for node in list(found.lines)[:12]:
            wanted, rivals = (
                shown(book, t, node, names, one) for one in ("Best split", "Closest rivals")
            )
            check(found.lines[node], wanted, places, rivals, (2, 3))
        for node in range(len(family.trees[t])):
            at = family.replay.at(t, node).node
            assert_allclose(found.facts[node][:3], (at.G, at.H, at.n), rtol=1e-9, atol=1e-9)


def test_rounds_in_turn_stand_where_they_stand_alone():
    _, book = fitted(GRADIENT["LGBM"])
    replay = book._family.replay
    alone = [replay.state(m).margin for m in range(2)]
    replay.state.cache_clear()
    with replay.in_turn():
        for m in range(2):
            assert_allclose(replay.state(m).margin, alone[m], rtol=1e-12)
    assert replay._running is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: arb.CARTRegressor(criterion="absolute_error", max_depth=2),
        lambda: arb.XGBRegressor(n_estimators=1, tree_method="approx", proposals="local"),
    ],
)
def test_trees_without_an_outline_have_none(make):
    model, X = make(), table(80, words=False)
    y = signal(X)
    book = worksheet(model.fit(X, y), X, y)
    assert Outliner(book._family).cost(0) is None


def test_cost_counts_the_columns_that_nodes_look_at():
    """A wide table costs more per node: each column of each node is drawn, scored and written down."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 60)), rng.normal(size=120)
    model = arb.ExtraTreesRegressor(1, max_features=60, random_state=0).fit(X, y)
    tree = model.trees_[0]
    cost = Outliner(worksheet(model, X, y)._family).cost(0)
    assert cost > 60 * 15_000 * (len(tree) - tree.n_leaves)  # the cost of nodes was about 510,000
