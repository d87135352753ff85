"""Sheets of XGBoost's and LightGBM's boosters: sums, gains and steps are the model's, to its grid."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from arboretum import (
    LGBMClassifier,
    LGBMRanker,
    LGBMRegressor,
    XGBClassifier,
    XGBRanker,
    XGBRegressor,
    worksheet,
)
from tests.explain.worksheet.tables import check_shown, classes, signal, table, weights


def check_booster(model, sheets, trees=None, most: int = 9) -> None:
    """Hold nodes and leaves of some trees against their sheets."""
    replay = sheets._family.replay
    count = len(model.trees_)
    for t in (0, count - 1) if trees is None else trees:
        tree = model.trees_[t]
        g_unit, h_unit = replay.units(t)
        for node in range(min(len(tree), most)):
            sheet = sheets.node(t, node)
            if node < 2:
                check_shown(sheet)
            assert sheet.facts["rows"] == tree.count[node]
            cover = sheet.facts["ΣH"]
            assert_allclose(cover, tree.weight[node], rtol=1e-6, atol=2 * h_unit)
            if tree.is_leaf[node]:
                leaf = sheets.leaf(t, node)
                if node < 4:
                    check_shown(leaf)
                kept = tree.value[node, 0, 0]
                assert leaf.value("value the model keeps") == kept
                slack = 1e-9 if replay.is_exact else 1e-6
                if replay.rules.path_smooth or replay.plan.monotone is not None:
                    slack = 1e-3  # they lean on sums of the grid
                assert_allclose(
                    leaf.value("value"), kept, rtol=slack, atol=slack * np.abs(tree.value).max()
                )
                continue
            winner = sheet.table("Best split")
            assert winner.marked == {0}
            first = int(tree.first_child[node])
            assert winner.column("rows left")[0] == tree.count[first]
            assert_allclose(
                winner.column("H left")[0], tree.weight[first], rtol=1e-6, atol=2 * h_unit
            )
            # the gain: Σ G²/(H + λ) with G and H off by up to a unit per row
            n = tree.count[node]
            slack = grid_of(sheet, winner, n, g_unit, h_unit, replay) + 1e-6 * abs(tree.gain[node])
            assert abs(sheet.value("gain") - tree.gain[node]) <= slack, (
                t,
                node,
                slack,
                sheet.to_text(120),
            )
            better = [v for v in winner.column("verdict") if v == "gains more"]
            assert not better
            lost = [
                gain
                for gain, verdict in zip(
                    winner.column("gain"), winner.column("verdict"), strict=True
                )
                if verdict.startswith("lost by rounding")
            ]
            assert all(gain - sheet.value("gain") <= 2 * slack for gain in lost), sheet.to_text(120)


def grid_of(sheet, winner, n, g_unit, h_unit, replay) -> float:
    """Return how far a gain on the grid may be from the exact one."""
    slack = 0.0
    for side in ("left", "right"):
        G, H = abs(winner.column(f"G {side}")[0]), winner.column(f"H {side}")[0]
        below = max(H + replay.rules.reg_lambda - n * h_unit, 1e-3 + h_unit)
        b = G / below
        slack += 2 * b * n * g_unit + b * b * n * h_unit
    if replay.is_exact:
        return 2e-6 * (abs(sheet.value("gain")) + abs(sheet.value("similarity")))
    return 2 * slack + 1e-6


REGRESSION = [
    "reg:squarederror",
    "reg:squaredlogerror",
    "reg:pseudohubererror",
    "reg:absoluteerror",
    "reg:quantileerror",
    "reg:gamma",
    "reg:tweedie",
    "count:poisson",
    "reg:logistic",
]
LIGHT = [
    "regression",
    "regression_l1",
    "huber",
    "fair",
    "poisson",
    "quantile",
    "mape",
    "gamma",
    "tweedie",
    "cross_entropy",
]


def numbers_for(objective: str, X) -> np.ndarray:
    y = signal(X)
    if "logistic" in objective or "entropy" in objective:
        return (y - y.min()) / (y.max() - y.min())
    return np.abs(y).round(2) + 0.1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("objective", REGRESSION)
def test_xgboosts_objectives_of_numbers(objective, weighted):
    X = table(200, seed=4)
    y, w = numbers_for(objective, X), weights(200) if weighted else None
    more = {"quantile_alpha": [0.2, 0.8]} if objective == "reg:quantileerror" else {}
    model = XGBRegressor(n_estimators=3, max_depth=3, objective=objective, n_jobs=1, **more)
    model.fit(X, y, sample_weight=w)
    sheets = worksheet(model, X, y, w)
    check_booster(model, sheets)
    check_round_and_row(model, sheets, X)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("objective", LIGHT)
def test_lightgbms_objectives_of_numbers(objective, weighted):
    X = table(200, seed=4)
    y, w = numbers_for(objective, X), weights(200) if weighted else None
    model = LGBMRegressor(
        n_estimators=3,
        num_leaves=6,
        objective=objective,
        min_child_samples=8,
        n_jobs=1,
        verbosity=-1,
    ).fit(X, y, sample_weight=w)
    sheets = worksheet(model, X, y, w)
    check_booster(model, sheets)
    check_round_and_row(model, sheets, X)


CLASSES = {
    "xgb two": (XGBClassifier, 2, {"max_depth": 3}),
    "xgb three": (XGBClassifier, 3, {"max_depth": 3}),
    "xgb hinge": (XGBClassifier, 2, {"max_depth": 3, "objective": "binary:hinge"}),
    "xgb raw": (XGBClassifier, 2, {"max_depth": 2, "objective": "binary:logitraw"}),
    "xgb heavy yes": (XGBClassifier, 2, {"max_depth": 2, "scale_pos_weight": 3.0}),
    "lgbm two": (LGBMClassifier, 2, {"num_leaves": 6}),
    "lgbm three": (LGBMClassifier, 3, {"num_leaves": 5}),
    "lgbm ova": (LGBMClassifier, 3, {"num_leaves": 5, "objective": "multiclassova"}),
    "lgbm balanced": (LGBMClassifier, 2, {"num_leaves": 5, "is_unbalance": True}),
    "lgbm class weights": (LGBMClassifier, 3, {"num_leaves": 5, "class_weight": "balanced"}),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", CLASSES)
def test_classes(name, weighted):
    kind, k, more = CLASSES[name]
    X = table(220, seed=6)
    y, w = classes(X, k), weights(220) if weighted else None
    if kind is LGBMClassifier:
        more = {"min_child_samples": 8, "verbosity": -1, **more}
    model = kind(n_estimators=3, n_jobs=1, **more).fit(X, y, sample_weight=w)
    sheets = worksheet(model, X, y, w)
    check_booster(model, sheets)
    check_round_and_row(model, sheets, X)


def check_round_and_row(model, sheets, X) -> None:
    """Margins, steps and answers of rounds and rows are the model's."""
    check_shown(sheets.sheet())
    ensemble, replay = model.ensemble_, sheets._family.replay
    for i in (len(X) - 3,):
        sheet = check_shown(sheets.row(i))
        margin = np.atleast_1d(sheet.facts["margin"])
        assert_allclose(
            margin, model._margin(X.iloc[[i]], 0, model._best_end)[0], rtol=1e-9, atol=1e-12
        )
        assert (
            sheet.facts["answer"] == pytest.approx(model.predict(X.iloc[[i]])[0])
            if not isinstance(sheet.facts["answer"], str | list)
            else True
        )
        lines = sheet.table("Round by round")
        if ensemble.n_outputs == 1 and not ensemble.averaged:
            total = ensemble.base[0] + sum(lines.column("adds"))
            assert_allclose(total, margin[0], rtol=1e-9, atol=1e-9)
            assert_allclose(lines.column("margin")[-1], margin[0], rtol=1e-9, atol=1e-9)
    for m in (0, ensemble.n_rounds - 1):
        sheet = check_shown(sheets.round(m))
        rows = sheet.table("Rows with the largest gradients")
        if ensemble.averaged or replay.plan.dart is not None:
            continue
        j = rows.column("row")
        before = ensemble.rounds(0, m).answers(replay.family.matrix.take(np.array(j)))
        after = ensemble.rounds(0, m + 1).answers(replay.family.matrix.take(np.array(j)))
        moved = (after - before)[
            np.arange(len(j)),
            np.abs(replay.state(m).g[:, np.searchsorted(replay.kept, j)]).argmax(axis=0),
        ]
        assert_allclose(rows.column("step"), moved, rtol=1e-7, atol=1e-9)
        if m and any(f.name == "loss before" for f in sheet.formulas):
            last = sheets.round(m - 1).value("loss after")
            assert_allclose(sheet.value("loss before"), last, rtol=1e-9)


WAYS = {
    "exact": (XGBRegressor, {"tree_method": "exact", "max_depth": 3}),
    "exact gamma": (XGBRegressor, {"tree_method": "exact", "max_depth": 4, "gamma": 2.0}),
    "exact draws": (
        XGBRegressor,
        {
            "tree_method": "exact",
            "max_depth": 3,
            "subsample": 0.7,
            "colsample_bytree": 0.7,
            "colsample_bynode": 0.5,
        },
    ),
    "exact monotone": (
        XGBRegressor,
        {"tree_method": "exact", "monotone_constraints": {"age": 1}, "max_depth": 3},
    ),
    "approx": (XGBRegressor, {"tree_method": "approx", "max_bin": 16, "max_depth": 3}),
    "approx fit": (
        XGBRegressor,
        {"tree_method": "approx", "max_bin": 16, "proposals": "fit", "max_depth": 3},
    ),
    "approx global": (
        XGBRegressor,
        {"tree_method": "approx", "proposals": "global", "sketch_eps": 0.1, "max_depth": 3},
    ),
    "approx local": (
        XGBRegressor,
        {"tree_method": "approx", "proposals": "local", "sketch_eps": 0.2, "max_depth": 2},
    ),
    "few bins": (XGBRegressor, {"max_bin": 8, "max_depth": 3}),
    "lossguide": (XGBRegressor, {"grow_policy": "lossguide", "max_leaves": 6, "max_depth": 0}),
    "symmetric": (XGBRegressor, {"grow_policy": "symmetric", "max_depth": 4}),
    "symmetric draws": (
        XGBRegressor,
        {
            "grow_policy": "symmetric",
            "max_depth": 4,
            "min_child_weight": 9,
            "gamma": 0.5,
            "colsample_bylevel": 0.8,
            "colsample_bynode": 0.7,
        },
    ),
    "symmetric limits": (
        XGBRegressor,
        {
            "grow_policy": "symmetric",
            "max_depth": 3,
            "monotone_constraints": {"age": 1},
            "interaction_constraints": [["age", "city"], ["income", "rooms"]],
        },
    ),
    "regularised": (
        XGBRegressor,
        {"reg_alpha": 2.0, "reg_lambda": 3.0, "gamma": 1.0, "max_depth": 3},
    ),
    "limited": (XGBRegressor, {"max_delta_step": 0.4, "max_depth": 3}),
    "heavy sides": (XGBRegressor, {"min_child_weight": 20, "max_depth": 4}),
    "draws": (
        XGBRegressor,
        {
            "subsample": 0.6,
            "colsample_bytree": 0.8,
            "colsample_bylevel": 0.7,
            "colsample_bynode": 0.7,
            "max_depth": 3,
        },
    ),
    "interactions": (
        XGBRegressor,
        {"interaction_constraints": [["age", "city"], ["income", "rooms"]], "max_depth": 3},
    ),
    "monotone": (XGBRegressor, {"monotone_constraints": {"age": 1, "income": -1}, "max_depth": 4}),
    "parallel": (XGBRegressor, {"num_parallel_tree": 2, "subsample": 0.7, "max_depth": 2}),
    "dart": (
        XGBRegressor,
        {"booster": "dart", "rate_drop": 0.5, "max_depth": 2, "n_estimators": 6},
    ),
    "one hot": (XGBRegressor, {"max_cat_to_onehot": 9, "max_depth": 3}),
    "lgbm goss": (
        LGBMRegressor,
        {"data_sample_strategy": "goss", "learning_rate": 0.5, "n_estimators": 5},
    ),
    "lgbm bagging": (
        LGBMRegressor,
        {"subsample": 0.6, "subsample_freq": 2, "colsample_bytree": 0.6},
    ),
    "lgbm random cuts": (LGBMRegressor, {"extra_trees": True, "min_data_per_group": 5}),
    "lgbm smooth": (LGBMRegressor, {"path_smooth": 5.0, "reg_lambda": 1.0}),
    "lgbm by node": (LGBMRegressor, {"feature_fraction_bynode": 0.5}),
    "lgbm monotone": (LGBMRegressor, {"monotone_constraints": [1, -1, 0, 0, 0]}),
    "lgbm dart": (
        LGBMRegressor,
        {"boosting_type": "dart", "n_estimators": 6, "drop_rate": 0.5, "skip_drop": 0.1},
    ),
    "lgbm rf": (LGBMRegressor, {"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1}),
    "lgbm few": (
        LGBMRegressor,
        {"min_data_per_group": 5, "cat_smooth": 1.0, "cat_l2": 1.0, "max_bin": 15},
    ),
    "lgbm limited": (
        LGBMRegressor,
        {"max_delta_step": 0.3, "reg_alpha": 1.0, "min_split_gain": 0.5},
    ),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", WAYS)
def test_ways_to_grow(name, weighted):
    kind, more = WAYS[name]
    X = table(240, seed=8, words=not name.startswith("exact"))
    y, w = signal(X).round(2), weights(240) if weighted else None
    if kind is LGBMRegressor:
        more = {"num_leaves": 6, "min_child_samples": 8, "verbosity": -1, **more}
    model = kind(**{"n_estimators": 4, "n_jobs": 1, "random_state": 3, **more}).fit(
        X, y, sample_weight=w
    )
    sheets = worksheet(model, X, y, w)
    check_booster(model, sheets)
    check_round_and_row(model, sheets, X)


@pytest.mark.parametrize("conflicts", [0.0, 0.05])
def test_bundles(conflicts):
    rng = np.random.default_rng(2)
    which = rng.integers(0, 6, 300)
    X = pd.DataFrame(
        {f"is_{k}": (which == k) * rng.integers(1, 4, 300).astype(float) for k in range(6)}
    )
    X.iloc[:8, 0] = 1.0  # a few conflicts
    X["x"] = rng.normal(size=300)
    y = which % 3 + X["x"] + rng.normal(0, 0.3, 300)
    model = LGBMRegressor(
        n_estimators=4,
        num_leaves=8,
        min_child_samples=5,
        max_conflict_rate=conflicts,
        n_jobs=1,
        verbosity=-1,
    ).fit(X, y)
    sheets = worksheet(model, X, y)
    check_booster(model, sheets)
    if conflicts:
        assert any("bundles" in note for note in sheets.node(0, 0).notes)


@pytest.mark.parametrize("kind", [XGBRanker, LGBMRanker])
def test_rankers_need_their_groups(kind):
    X = table(120, seed=9)
    y, group = np.random.default_rng(0).integers(0, 4, 120), [30, 50, 40]
    more = {"verbosity": -1, "min_child_samples": 5} if kind is LGBMRanker else {"max_depth": 3}
    model = kind(n_estimators=3, n_jobs=1, **more).fit(X, y, group=group)
    sheets = worksheet(model, X, y, group=group)
    check_booster(model, sheets)
    check_shown(sheets.row(3))
    check_shown(sheets.round(1))
    with pytest.raises(Exception, match="group="):
        worksheet(model, X, y).node(0, 0)


def test_margins_that_were_given():
    X = table(150, seed=10)
    y = signal(X)
    start = np.linspace(-1, 1, 150)
    model = XGBRegressor(n_estimators=3, max_depth=2, n_jobs=1).fit(X, y, base_margin=start)
    sheets = worksheet(model, X, y, base_margin=start)
    check_booster(model, sheets)
    assert_allclose(
        sheets.row(5).facts["margin"],
        model.predict(X, output_margin=True, base_margin=start)[5],
        rtol=1e-9,
    )


def test_a_saved_model_tells_the_same(tmp_path):
    from arboretum import load

    X = table(150, seed=12)
    y = classes(X)
    for model in (
        XGBClassifier(n_estimators=2, max_depth=2, subsample=0.7, n_jobs=1).fit(X, y),
        LGBMClassifier(n_estimators=2, num_leaves=4, n_jobs=1, verbosity=-1).fit(X, y),
    ):
        model.save(tmp_path / "model.arb")
        again = load(tmp_path / "model.arb")
        assert (
            worksheet(again, X, y).node(1, 0).to_dict()
            == worksheet(model, X, y).node(1, 0).to_dict()
        )


def own_loss(y, margin):
    return margin - y, np.ones(len(y))


def test_a_users_objective():
    X = table(150, seed=13)
    y = signal(X)
    model = XGBRegressor(n_estimators=2, max_depth=2, n_jobs=1, objective=own_loss).fit(X, y)
    sheets = worksheet(model, X, y)
    check_booster(model, sheets)
    check_shown(sheets.row(2))
    check_shown(sheets.round(0))
