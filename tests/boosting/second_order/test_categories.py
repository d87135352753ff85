"""Categories in both front doors: the first tree of XGBoost, its losses, many levels, every parameter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import arboretum
from arboretum.textbook.xgboost import grow_xgb, predict_tree_xgb
from arboretum.textbook.xgboost_splits import XGBSettings
from tests.boosting.xgboost_version import skip_newer_xgboost

pytestmark = pytest.mark.filterwarnings("ignore:column 'word' holds categories unseen")


def words(codes, levels=None):
    levels = int(np.max(codes)) + 1 if levels is None else levels
    return pd.Categorical.from_codes(codes, [f"v{i:03}" for i in range(levels)])


def mixed(seed, missing=False, n=None):
    """Two columns of numbers, a few categories, many categories; and a number to learn."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(200, 1500)) if n is None else n
    X = pd.DataFrame({"a": rng.integers(0, 12, n) * 1.0, "b": rng.integers(0, 30, n) * 1.0})
    target = 0.1 * X["a"].to_numpy() + rng.normal(size=n)
    for name, levels in (("few", int(rng.integers(3, 8))), ("many", int(rng.integers(10, 120)))):
        codes = rng.choice(levels, n, p=rng.dirichlet(np.full(levels, 0.6)))
        target += rng.normal(size=levels)[codes] * 1.3
        X[name] = words(codes, levels)
    if missing:
        for name in X:
            X[name] = X[name].where(rng.random(n) >= 0.1)
    for name in ("few", "many"):
        X[name] = X[name].cat.remove_unused_categories()
    return X, np.round(target * 8) / 8, rng


def settings(rng):
    return {
        "max_depth": int(rng.integers(1, 6)),
        "reg_lambda": float(rng.choice([0, 1, 5])),
        "min_child_weight": float(rng.choice([0.5, 1, 3])),
        "max_cat_to_onehot": int(rng.choice([1, 4, 10])),
        "max_cat_threshold": int(rng.choice([5, 64])),
    }


# ---------------------------------------------------------------------- XGBoost's first tree
@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_the_first_tree_is_that_of_xgboost(classes, missing):
    xgboost = pytest.importorskip("xgboost")
    skip_newer_xgboost("splits of categories")
    kind = "XGBClassifier" if classes else "XGBRegressor"
    for seed in range(12):
        X, y, rng = mixed(seed, missing)
        y = (y > np.median(y)).astype(int) if classes else y
        weight = None if seed % 3 else rng.integers(1, 4, len(y)) * 1.0
        how = {"n_estimators": 1, "learning_rate": 1.0, "max_bin": 255, "base_score": 0.5}
        how |= settings(rng) | {"n_jobs": 1}
        ours = getattr(arboretum, kind)(**how).fit(X, y, sample_weight=weight)
        theirs = getattr(xgboost, kind)(**how, enable_categorical=True, tree_method="hist")
        theirs.fit(X, y, sample_weight=weight)
        a, b = (model.predict(X, output_margin=True) for model in (ours, theirs))
        np.testing.assert_allclose(a, b, atol=2e-3 * np.abs(b).max(), err_msg=f"{seed} {how}")
        if missing:
            continue
        shuffled = pd.DataFrame(
            {name: X[name].sample(frac=1, random_state=seed + k).array for k, name in enumerate(X)}
        )
        for name in ("few", "many"):  # pairs of values that no row of the training table has
            shuffled[name] = pd.Categorical(shuffled[name], X[name].cat.categories)
        a, b = (model.predict(shuffled, output_margin=True) for model in (ours, theirs))
        np.testing.assert_allclose(a, b, atol=2e-3 * np.abs(b).max(), err_msg=f"{seed} {how}")


@pytest.mark.parametrize("missing", [False, True])
def test_the_first_tree_is_that_of_the_textbook(missing):
    for seed in range(8):
        X, y, rng = mixed(seed + 100, missing, 300)
        how = settings(rng)
        model = arboretum.XGBRegressor(
            n_estimators=1, learning_rate=1.0, base_score=0.5, tree_method="hist", **how
        ).fit(X, y)
        table = X.assign(
            few=X["few"].cat.codes.replace(-1, np.nan), many=X["many"].cat.codes.replace(-1, np.nan)
        ).to_numpy(float)
        book = grow_xgb(table, 0.5 - y, np.ones(len(y)), XGBSettings(**how), categorical=(2, 3))
        expected = predict_tree_xgb(book, table) + 0.5
        np.testing.assert_allclose(model.predict(X), expected, atol=1e-6, err_msg=f"{seed} {how}")


def test_a_category_that_a_node_does_not_hold_goes_to_the_side_nearer_zero():
    few, all_words = list("AB"), list("ABCDEFGHIJ")
    number = np.r_[np.full(200, -1.0), np.full(2000, 1.0)]
    word = np.r_[np.tile(few, 100), np.tile(all_words, 200)]
    y = np.r_[np.tile([-8.0, -12.0], 100), np.full(2000, 10.0)]

    def table(number, word):
        return pd.DataFrame({"number": number, "word": pd.Categorical(word, all_words)})

    model = arboretum.XGBRegressor(
        n_estimators=1, max_depth=2, learning_rate=1, reg_lambda=0, max_cat_to_onehot=1
    ).fit(table(number, word), y)
    assert model.predict(table([-1.0], ["C"])) == pytest.approx(-8)


def test_missing_values_may_go_with_the_set():
    word = words(np.repeat([0, 1, 2, 3, 4], 40))
    X = pd.DataFrame({"word": pd.Series(word).where(np.arange(200) % 4 > 0)})
    for side in (1.0, 0.0):
        y = np.where(X["word"].isna(), side, np.repeat([1, 1, 1, 0, 0], 40))
        for onehot in (1, 9):
            model = arboretum.XGBRegressor(
                n_estimators=4, max_depth=2, learning_rate=1, reg_lambda=0,
                max_cat_to_onehot=onehot,
            ).fit(X, y)  # fmt: skip
            np.testing.assert_allclose(model.predict(X), y, atol=1e-6)


# ---------------------------------------------------------------------- losses
def high_cardinality(seed, n, levels, classes):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(2 * n, 3)), columns=list("abc"))
    codes = rng.choice(levels, 2 * n, p=rng.dirichlet(np.full(levels, 0.7)))
    X["word"] = words(codes, levels)
    score = rng.normal(size=levels)[codes] + X["a"] * X["b"] + rng.normal(size=2 * n)
    y = (score > 0).astype(int) if classes else score
    return X[:n], np.asarray(y[:n]), X[n:], np.asarray(y[n:])


def loss(model, X, y, classes):
    if not classes:
        return np.sqrt(np.mean((model.predict(X) - y) ** 2))
    return -np.mean(np.log(model.predict_proba(X)[np.arange(len(y)), y]))


@pytest.mark.parametrize("door", ["XGB", "LGBM"])
@pytest.mark.parametrize(("levels", "classes"), [(60, True), (300, False)])
def test_losses_are_those_of_the_peer(door, levels, classes):
    peer = pytest.importorskip("xgboost" if door == "XGB" else "lightgbm")
    more = {"enable_categorical": True} if door == "XGB" else {"verbose": -1}
    kind = f"{door}{'Classifier' if classes else 'Regressor'}"
    ratios = []
    for seed in range(4):
        X, y, X_new, y_new = high_cardinality(seed, 1500, levels, classes)
        ours = getattr(arboretum, kind)(n_estimators=60).fit(X, y)
        theirs = getattr(peer, kind)(n_estimators=60, n_jobs=1, **more).fit(X, y)
        ratios.append(loss(ours, X_new, y_new, classes) / loss(theirs, X_new, y_new, classes))
    assert np.mean(ratios) < 1.025
    if door == "XGB":
        skip_newer_xgboost("splits of categories, and larger losses")
    assert np.mean(ratios) > 0.975


# ---------------------------------------------------------------------- many levels
@pytest.mark.parametrize("door", ["XGB", "LGBM"])
@pytest.mark.parametrize("max_bin", [16, 255, 300])
def test_levels_beyond_max_bin_are_kept(door, max_bin):
    codes = np.repeat(np.arange(600), 40)
    y = np.random.default_rng(1).normal(size=600)[codes]
    X = pd.DataFrame({"word": words(codes)})
    model = getattr(arboretum, f"{door}Regressor")(n_estimators=60, max_bin=max_bin).fit(X, y)
    answers = pd.Series(model.predict(X)).groupby(codes).first().round(6)
    assert answers.value_counts().iloc[0] < 20  # no crowd that shares one answer
    assert np.corrcoef(answers, y[::40])[0, 1] > 0.95


@pytest.mark.parametrize("door", ["XGB", "LGBM"])
def test_wide_columns_and_threads_make_the_same_bytes(door, tmp_path):
    rng = np.random.default_rng(0)
    n = 40_000
    X = pd.DataFrame(rng.normal(size=(n, 12)), columns=[f"x{k}" for k in range(12)])
    codes = rng.integers(0, 700, n)
    X["word"] = words(codes)
    y = rng.normal(size=700)[codes] + X["x0"] + rng.normal(size=n)
    saved = []
    for n_jobs in (1, 2, 3):
        model = getattr(arboretum, f"{door}Regressor")(n_estimators=3, max_bin=300, n_jobs=n_jobs)
        model.fit(X, y).set_params(n_jobs=None).save(tmp_path / "model.arb")
        saved.append((tmp_path / "model.arb").read_bytes())
    assert saved[0] == saved[1] == saved[2]


def test_approx_keeps_all_levels():
    X, y, X_new, y_new = high_cardinality(0, 3000, 400, False)
    hist, approx = (
        arboretum.XGBRegressor(n_estimators=20, tree_method=method).fit(X, y)
        for method in ("hist", "approx")
    )
    assert loss(approx, X_new, y_new, False) == pytest.approx(
        loss(hist, X_new, y_new, False), rel=0.03
    )


# ---------------------------------------------------------------------- parameters
PARAMETERS = {
    "XGB": {"max_cat_to_onehot": (1, 100), "max_cat_threshold": (2, 64)},
    "LGBM": {
        "max_cat_to_onehot": (4, 100),
        "max_cat_threshold": (2, 32),
        "cat_smooth": (1.0, 60.0),
        "cat_l2": (0.0, 200.0),
        "min_data_per_group": (10, 300),
        "min_data_in_bin": (3, 80),
    },
}


@pytest.mark.parametrize(
    ("door", "name"), [(door, name) for door, some in PARAMETERS.items() for name in some]
)
def test_every_parameter_of_categories_moves_the_loss_as_in_the_peer(door, name):
    peer = pytest.importorskip("xgboost" if door == "XGB" else "lightgbm")
    more = {"enable_categorical": True} if door == "XGB" else {"verbose": -1}
    X, y, *_ = high_cardinality(0, 3000, 60, False)
    changes = []
    for module, fixed in ((arboretum, {}), (peer, more)):
        fits = [
            getattr(module, f"{door}Regressor")(n_estimators=15, n_jobs=1, **{name: value}, **fixed)
            for value in PARAMETERS[door][name]
        ]
        low, high = (loss(model.fit(X, y), X, y, False) for model in fits)
        changes.append(np.log(high / low))
    ours, theirs = changes
    assert abs(ours) > 1e-3
    assert ours == pytest.approx(theirs, rel=0.25, abs=2e-3)


# ---------------------------------------------------------------------- the root
@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
def test_a_root_of_too_little_cover_answers_nothing(method):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)), rng.integers(0, 2, 150)
    model = arboretum.XGBClassifier(
        n_estimators=3, min_child_weight=50, base_score=0.2, tree_method=method
    ).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 0.2)
