"""Rounds of boosting: margins are the sums of the trees, and nothing depends on threads."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.boosting.names.find import find_objective
from arboretum.boosting.second_order.booster import Booster
from arboretum.boosting.second_order.dart import Dart, dropped_trees
from arboretum.boosting.second_order.recipe import BoostPlan, Recipe, TrainingTable
from arboretum.boosting.second_order.tables import Draws, Histograms, SharedTable, Sketches
from arboretum.data.schema import learn_schema
from arboretum.engine.second_order.score import SplitRules
from arboretum.errors import DataError
from arboretum.predict.ensemble import Ensemble
from arboretum.structure.state import tree_to_state

RULES = SplitRules(
    l1=0.0, l2=1.0, max_delta_step=0.0, path_smooth=0.0, min_gain=0.0, reach_gain=False,
    min_weight=1e-3, min_rows=5.0, cat_l2=10.0, cat_smooth=10.0, cat_min_rows=10.0,
    max_cat_threshold=32, max_onehot=4, min_group=10.0, max_depth=1 << 30, max_leaves=8,
    depth_first=False, level_columns=0, node_columns=0,
)  # fmt: skip

PLANS = {
    "plain": {},
    "subsample": {"subsample": 0.6},
    "kept sample": {"subsample": 0.6, "subsample_every": 3},
    "goss": {"goss": (0.2, 0.3), "goss_from": 2},
    "columns": {"columns_by_tree": 0.5, "rules": RULES._replace(level_columns=3, node_columns=2)},
    "parallel": {"n_parallel": 3, "subsample": 0.7},
    "dart": {"dart": Dart(rate_drop=0.5, skip_drop=0.2)},
    "dart by weight": {"dart": Dart(rate_drop=0.4, skip_drop=0.0, weighted=True, one_drop=True)},
}


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, rng


def new_booster(plan, objective, X, y, weight=None, maker=None):
    """Return a booster ready for its first round, and the training table."""
    schema, matrix = learn_schema(X)
    draws = Draws(range(plan.n_parallel), np.arange(schema.n_features))
    recipe = Recipe(objective, plan, maker or Histograms(), draws, rounds=10)
    training = TrainingTable(matrix, y, weight, schema=schema)
    base = objective.start(y, weight)
    return Booster(recipe, training, base, base), matrix


def boosted(plan, objective="binary", n_classes=2, n=400, n_rounds=8, n_jobs=1):
    X, rng = table(n)
    score = np.nan_to_num(X[:, 0]) + rng.normal(size=n)
    y = np.digitize(score, [-0.5, 0.5])[: len(X)] if n_classes == 3 else (score > 0)
    found = find_objective(objective, "lightgbm", n_classes=n_classes)
    plan = BoostPlan(**({"rules": RULES, "seed": 3, "n_jobs": n_jobs} | plan))
    booster, matrix = new_booster(plan, found, X, y.astype(float))
    for _ in range(n_rounds):
        booster.round()
    weights = np.array(booster.weights)
    return booster, Ensemble(booster.trees, weights, booster.base, plan.n_parallel), matrix


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", PLANS)
def test_margins_are_the_sums_of_the_trees(name, classes):
    objective = "binary" if classes == 2 else "multiclass"
    booster, ensemble, matrix = boosted(PLANS[name], objective, classes)
    assert ensemble.n_rounds == booster.n_rounds == 8
    exact = booster.plan.dart is None  # dropping adds and takes away again
    margin = ensemble.answers(matrix)
    assert np.allclose(margin, booster.margin, rtol=0, atol=0 if exact else 1e-9)
    *_, last = ensemble.staged(matrix)
    assert np.allclose(last, margin, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", PLANS)
def test_threads_change_no_bit(name):
    n = 40_000  # enough for several threads to share a node
    one, *_ = boosted(PLANS[name], n=n, n_rounds=3)
    two, *_ = boosted(PLANS[name], n=n, n_rounds=3, n_jobs=2)
    assert np.array_equal(one.margin, two.margin)
    for a, b in zip(one.trees, two.trees, strict=True):
        assert np.array_equal(a.threshold, b.threshold, equal_nan=True)
        assert np.array_equal(a.value, b.value)


def test_a_forest_of_boosted_trees_leaves_the_margins_alone():
    booster, ensemble, matrix = boosted({"averaged": True, "subsample": 0.5}, n_rounds=6)
    assert np.all(booster.margin == ensemble.base)
    mean = Ensemble(ensemble.trees, ensemble.weights, ensemble.base, rule="average")
    total = ensemble.answers(matrix)
    assert np.allclose(mean.answers(matrix), ensemble.base + (total - ensemble.base) / 6)


def test_dart_shares_add_up_as_published():
    # dropped rounds and the new one together weigh what the dropped ones did, at a small rate
    for k in (1, 2, 5):
        new, old = Dart(normalize="tree").shares(k, 0.1)
        assert np.isclose(new * (k + 0.1), 1.0)
        assert np.isclose(old, k * new)
        new, old = Dart(normalize="lightgbm").shares(k, 0.1)
        assert np.isclose(new + old, 1.0)


def test_dart_drops_whole_rounds_within_its_limits():
    weights = np.ones(60)
    limited = Dart(rate_drop=0.9, skip_drop=0.0, max_drop=4)
    for m in range(20):
        dropped = dropped_trees(limited, weights, 3, seed=0, m=m)
        rounds = {t // 3 for t in dropped}
        assert len(dropped) == 3 * len(rounds) <= 12
    never = Dart(rate_drop=0.9, skip_drop=1.0)
    assert dropped_trees(never, weights, 3, seed=0, m=1) == []
    one = Dart(rate_drop=0.0, skip_drop=0.0, one_drop=True)
    assert len(dropped_trees(one, weights, 3, seed=0, m=1)) == 3


def test_dart_of_lightgbm_drops_the_oldest_and_its_limit_lowers_the_rate():
    weights = np.ones(200)
    dropped = [
        dropped_trees(
            Dart(rate_drop=0.5, skip_drop=0.0, max_drop=3, in_order=True, weighted=weighted, whole=whole),
            weights, 1, seed=0, m=m,
        )
        for weighted, whole in ((False, 1.0), (True, 1.0), (True, 0.1))
        for m in range(300)
    ]  # fmt: skip
    assert max(map(len, dropped)) == 3
    uniform, heavy, light = dropped[:300], dropped[300:600], dropped[600:]
    assert 1.8 < np.mean([len(d) for d in uniform]) < 2.7  # 3 of 200 rounds each time, cut at 3
    assert uniform == heavy  # all rounds weigh the same
    assert np.mean([max(d) for d in light]) < 12  # the rate stays 1/2: the first three of them


def test_a_part_of_the_rounds_is_a_model_of_its_own():
    _, ensemble, matrix = boosted({})
    first, last = ensemble.rounds(0, 5), ensemble.rounds(5, None)
    together = first.answers(matrix) + last.answers(matrix) - ensemble.base
    assert np.allclose(together, ensemble.answers(matrix))
    assert first.leaves(matrix).shape == (400, 5)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", PLANS)
def test_trees_grown_together_are_those_grown_one_by_one(name, classes, monkeypatch):
    objective = "binary" if classes == 2 else "multiclass"
    together, *_ = boosted(PLANS[name], objective, classes)
    monkeypatch.setattr(Booster, "_is_small", lambda self: False)
    alone, *_ = boosted(PLANS[name], objective, classes)
    assert np.array_equal(together.margin, alone.margin)
    assert together.n_trees == alone.n_trees == len(alone.trees)
    for a, b in zip(together.trees, alone.trees, strict=True):
        assert tree_to_state(a).keys() == tree_to_state(b).keys()
        for field in ("kind", "feature", "threshold", "first_child", "missing_child", "value", "gain",
                      "weight", "count", "bits", "bits_start"):  # fmt: skip
            one, other = getattr(a, field), getattr(b, field)
            assert one.dtype == other.dtype
            assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


@pytest.mark.parametrize(
    ("objective", "classes"), [("binary", 2), ("regression", 2), ("multiclass", 3), ("poisson", 2)]
)
@pytest.mark.parametrize("weighed", [False, True])
def test_rounds_made_together_are_those_made_one_by_one(objective, classes, weighed):
    X, rng = table(300)
    y = rng.integers(0, classes, 300).astype(float)
    weight = rng.random(300) if weighed else None
    found, plan = find_objective(objective, "lightgbm", n_classes=classes), BoostPlan(RULES, seed=5)
    together, alone = (new_booster(plan, found, X, y, weight)[0] for _ in range(2))
    calls = 0
    while together.n_rounds < 12:
        together.round(12 - together.n_rounds)
        calls += 1
    assert calls == (12 if objective == "poisson" else 1)  # whose derivatives are not in the call
    for _ in range(12):
        alone.round()
    assert together.weights == alone.weights
    assert np.array_equal(together.margin, alone.margin)
    for a, b in zip(together.trees, alone.trees, strict=True):
        assert np.array_equal(a.threshold, b.threshold, equal_nan=True)
        assert np.array_equal(a.value, b.value)


def test_a_round_that_runs_away_is_told_by_its_number():
    X, rng = table(300)
    y = rng.normal(size=300) * 1e30
    found = find_objective("regression", "lightgbm")

    def boost(most):
        booster, _ = new_booster(BoostPlan(RULES, learning_rate=1e3), found, X, y)
        while booster.n_rounds < 50:
            booster.round(most)

    with pytest.raises(DataError, match=r"derivatives of round [1-9]") as alone:
        boost(1)
    with pytest.raises(DataError) as together:
        boost(50)
    assert str(together.value) == str(alone.value)


def test_trees_with_categories_are_decoded_together():
    rng = np.random.default_rng(0)
    words = [[f"w{v}" for v in rng.integers(0, k, 300)] for k in (3, 40, 70)]
    cells = np.array([*words, rng.normal(size=300)], object).T
    y = rng.integers(0, 3, 300).astype(float)
    found = find_objective("multiclass", "lightgbm", n_classes=3)
    plan = BoostPlan(RULES._replace(min_group=1.0, cat_min_rows=1.0))
    (at_end, matrix), (each_round, _) = (new_booster(plan, found, cells, y) for _ in range(2))
    for _ in range(5):
        at_end.round()
        each_round.round()
        assert len(each_round.trees) == each_round.n_trees
    assert any(len(tree.bits) for tree in at_end.trees)
    for a, b in zip(at_end.trees, each_round.trees, strict=True):
        assert np.array_equal(a.bits, b.bits)
        assert np.array_equal(a.bits_start, b.bits_start)
    whole = Ensemble(at_end.trees, np.ones(15), at_end.base)
    assert np.array_equal(whole.answers(matrix), at_end.margin)


def test_bins_may_follow_the_hessians_of_every_round_or_of_the_first():
    X, rng = table(500)
    X = np.round(X, 1)
    y = (np.nan_to_num(X[:, 0]) + rng.normal(size=500) > 0).astype(float)
    found, plan = find_objective("binary:logistic", "xgboost", 2), BoostPlan(RULES)
    bounds = {}
    for every, proposals in ((True, "round"), (False, "fit")):
        booster, matrix = new_booster(plan, found, X, y, maker=Sketches(8, proposals))
        assert hasattr(booster, "table") is not every  # else it waits for the first hessians
        seen = []
        for _ in range(4):
            booster.round()
            seen.append(booster.table.bins.bounds)
        bounds[every] = seen
        model = Ensemble(booster.trees, np.ones(4), booster.base)  # decoded by their own bins
        assert np.array_equal(model.answers(matrix), booster.margin)
    assert all(np.array_equal(bounds[False][0], one) for one in bounds[False])
    assert not all(np.array_equal(bounds[True][0], one) for one in bounds[True])


@pytest.mark.parametrize("small", [True, False])
def test_a_round_without_a_split_is_the_last_where_such_trees_answer_nothing(small, monkeypatch):
    X, _ = table(50)
    y = np.arange(50) % 2.0
    if not small:
        monkeypatch.setattr(Booster, "_is_small", lambda self: False)
    rules = RULES._replace(min_rows=40.0)
    found = find_objective("binary", "lightgbm", 2)
    silent, _ = new_booster(BoostPlan(rules, unsplit_answers=False), found, X, y)
    assert silent.round() == [1]
    assert silent.is_stuck
    assert silent.round() == []
    assert silent.n_rounds == 1
    assert silent.trees[0].value.item() == 0.0
    drawing = BoostPlan(rules, unsplit_answers=False, subsample=0.5)
    for plan in (BoostPlan(rules), drawing):
        booster, _ = new_booster(plan, found, X, y)
        booster.round()
        booster.round()
        assert booster.n_rounds == 2
        assert not booster.is_stuck


def test_values_are_kept_only_where_trees_are_asked_again():
    plain, _, matrix = boosted(PLANS["plain"], n_rounds=1)
    dropping, _, _ = boosted(PLANS["dart"], n_rounds=1)
    assert plain.training.matrix.shape == (0, matrix.n_columns)
    assert dropping.training.matrix.n_rows == matrix.n_rows


# ---------------------------------------------------------------------- several boosters on one table
def fold_booster(shared, y, rows, **plan):
    """Return a booster that grows on some rows of a table that was binned before."""
    schema, matrix, table = shared
    objective = find_objective("binary", "lightgbm", n_classes=2)
    plan = BoostPlan(**{"rules": RULES, "seed": 3} | plan)
    draws = Draws([3], np.arange(schema.n_features), among=rows)
    recipe = Recipe(objective, plan, SharedTable(table), draws, rounds=10)
    base = objective.start(y if rows is None else y[rows], None)
    return Booster(recipe, TrainingTable(matrix, y, schema=schema), base, base)


@pytest.fixture(scope="module")
def shared():
    X, rng = table(500, seed=4)
    schema, matrix = learn_schema(X)
    plan = BoostPlan(rules=RULES)
    made = Histograms().make(TrainingTable(matrix, np.zeros(500), schema=schema), plan)
    y = (np.nan_to_num(X[:, 0]) + rng.normal(size=500) > 0).astype(float)
    return (schema, matrix, made), y


FOLDS = {
    "plain": {},
    "subsample": {"subsample": 0.7},
    "goss": {"goss": (0.3, 0.3), "goss_from": 1},
    "random cuts": {"rules": RULES._replace(random_cuts=True)},
}


@pytest.mark.parametrize("name", FOLDS)
def test_a_fold_grows_on_its_rows_and_scores_the_others(name, shared):
    parts, y = shared
    rows = np.flatnonzero(np.arange(500) % 5 != 2).astype(np.uint32)
    others = np.arange(500) % 5 == 2
    booster = fold_booster(parts, y, rows, **FOLDS[name])
    for _ in range(8):
        booster.round()
    found = Ensemble(booster.trees, np.array(booster.weights), booster.base)
    assert np.allclose(found.answers(parts[1]), booster.margin, rtol=0, atol=1e-12)
    right = (booster.margin[others, 0] > 0) == y[others]
    assert right.mean() > 0.6
    assert all(tree.count[0] <= len(rows) for tree in booster.trees)
    # the targets of the other rows do not count
    swapped = y.copy()
    swapped[others] = 1 - y[others]
    again = fold_booster(parts, swapped, rows, **FOLDS[name])
    for _ in range(8):
        again.round()
    assert same_trees(booster, again)


def test_boosters_of_one_table_share_its_codes(shared):
    parts, y = shared
    first, second = (fold_booster(parts, y, None, seed=seed) for seed in (1, 2))
    assert first.grower.store is second.grower.store is parts[2].grower.store
    alone, _ = new_booster(
        BoostPlan(rules=RULES, seed=1), find_objective("binary", "lightgbm", n_classes=2),
        table(500, seed=4)[0], y,
    )  # fmt: skip
    for booster in (first, second, alone):
        for _ in range(3):
            booster.round()
    assert same_trees(first, alone)


def same_trees(first, second):
    """Return whether two boosters grew the same trees, to the bit."""
    return [repr(tree_to_state(tree)) for tree in first.trees] == [
        repr(tree_to_state(tree)) for tree in second.trees
    ]
