"""Objectives against XGBoost, LightGBM and plain NumPy."""

import numpy as np
import pytest

from arboretum.boosting.names.find import find_objective
from arboretum.errors import DataError, ParameterError
from tests.boosting.loss.objective_cases import (
    CASES,
    LIGHTGBM,
    RENEWED,
    XGBOOST,
    derivatives,
    find,
    labels,
    leaves,
    lightgbm_leaves,
    margins,
    weights,
    xgboost_leaves,
)
from tests.boosting.xgboost_version import skip_newer_xgboost


# ---------------------------------------------------------------------- the same bits
@pytest.mark.parametrize(
    ("dialect", "name"), [("xgboost", "binary:logistic"), ("lightgbm", "multiclass")]
)
def test_bits_do_not_depend_on_blocks_or_threads(dialect, name, monkeypatch):
    n = 5003
    objective = find_objective(name, dialect, 3 if name == "multiclass" else None)
    y = np.random.default_rng(0).integers(0, objective.n_outputs + 1, n).clip(0, 2) * 1.0
    y = np.minimum(y, 1.0) if name == "binary:logistic" else y
    margin = margins(objective.n_outputs, n) * 4.0
    found = []
    for block, n_jobs in ((1 << 14, 1), (97, 1), (97, 3), (1001, 2)):
        monkeypatch.setattr("arboretum.boosting.loss.objective._BLOCK", block)
        g = np.empty((objective.n_outputs, n), np.float32)
        h = np.empty_like(g)
        objective.derivatives(y, margin, weights(n), g, h, n_jobs)
        found.append(g.tobytes() + h.tobytes())
    assert len(set(found)) == 1


# ---------------------------------------------------------------------- by hand
@pytest.mark.parametrize(
    ("dialect", "name", "factor"),
    [("xgboost", "multi:softprob", 2.0), ("lightgbm", "multiclass", 1.5)],
)
def test_softmax_by_hand(dialect, name, factor):
    objective, y = find(dialect, name)
    m = margins(3) * 3.0
    p = np.exp(m) / np.exp(m).sum(axis=1, keepdims=True)
    g, h = derivatives(objective, y, m, weights())
    np.testing.assert_allclose(g, weights() * (p - np.eye(3)[y.astype(int)]).T, atol=3e-7)
    np.testing.assert_allclose(h, weights() * factor * (p * (1 - p)).T, rtol=1e-6)
    np.testing.assert_allclose(objective.predict(m), p, rtol=1e-12)


def test_textbook_softmax_example():
    """Three classes of one row: logits .05, -.02, -.02 give .349, .325, .325."""
    objective = find_objective("multi:softprob", "xgboost", 3)
    found = objective.predict(np.array([[0.05, -0.02, -0.02], [0.09, -0.04, -0.04]]))
    np.testing.assert_allclose(
        found, [[0.34907, 0.32547, 0.32547], [0.36282, 0.31859, 0.31859]], atol=1e-5
    )


@pytest.mark.parametrize("far", [-1e4, -90.0, 90.0, 1e4])
@pytest.mark.parametrize(("dialect", "name"), CASES)
def test_margins_far_out_give_finite_derivatives(dialect, name, far):
    objective, y = find(dialect, name)
    g, h = derivatives(objective, y, np.full((len(y), objective.n_outputs), far))
    assert np.isfinite(g).all()
    assert np.isfinite(h).all()
    assert (h >= 0).all()


# ---------------------------------------------------------------------- the peers
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [name for name in XGBOOST if name not in RENEWED])
def test_xgboost_has_the_same_derivatives(name, weighted):
    pytest.importorskip("xgboost")
    objective, y = find("xgboost", name)
    weight, m = weights() if weighted else None, margins(objective.n_outputs)
    more = {"num_class": 3} if objective.n_outputs == 3 else {}
    more |= XGBOOST[name][1]
    if name == "count:poisson":
        more |= {"max_delta_step": 0.2}  # also a limit of its leaves
        objective = find_objective(name, "xgboost", max_delta_step=0.2)
    g, h = derivatives(objective, y, m, weight)
    for reg in (0.5, 4.0):
        theirs, leaf = xgboost_leaves(name, y, m, weight, reg=reg, **more)
        ours = leaves(g, h, leaf, reg)
        ours = np.clip(ours, -0.2, 0.2) if name == "count:poisson" else ours
        np.testing.assert_allclose(theirs, ours, rtol=2e-4, atol=2e-6)
        assert len(np.unique(leaf)) > 3


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [name for name in LIGHTGBM if name not in RENEWED])
def test_lightgbm_has_the_same_derivatives(name, weighted):
    pytest.importorskip("lightgbm")
    objective, y = find("lightgbm", name)
    y = np.sort(y)  # a tree without a split would show nothing
    weight, m = weights() if weighted else None, margins(objective.n_outputs)
    more = {"num_class": 3} if objective.n_outputs == 3 else {}
    g, h = derivatives(objective, y, m, weight)
    for reg in (0.5, 4.0):
        theirs, leaf = lightgbm_leaves(name, y, m, weight, reg=reg, **more, **LIGHTGBM[name][1])
        np.testing.assert_allclose(theirs, leaves(g, h, leaf, reg), rtol=1e-4, atol=1e-6)
        assert (leaf.max(axis=0) > 0).all()


def test_lightgbm_balances_classes_alike():
    pytest.importorskip("lightgbm")
    y, m = labels("binary"), margins()
    for flipped in (y, 1 - y):
        g, h = derivatives(find_objective("binary", "lightgbm", is_unbalance=True), flipped, m)
        theirs, leaf = lightgbm_leaves("binary", flipped, m, is_unbalance=True)
        np.testing.assert_allclose(theirs, leaves(g, h, leaf, 1.0), rtol=1e-4)
    y, m = np.sort(labels("classes")), margins(3)
    objective = find_objective("multiclassova", "lightgbm", 3, is_unbalance=True)
    theirs, leaf = lightgbm_leaves("multiclassova", y, m, is_unbalance=True, num_class=3)
    assert (leaf.max(axis=0) > 0).all()
    ours = leaves(*derivatives(objective, y, m), leaf, 1.0)
    np.testing.assert_allclose(theirs, ours, rtol=1e-4)


# ---------------------------------------------------------------------- where margins start
def _xgboost_start(name, y, weight, **parameters):
    """Return the margin before the first tree: one that has no column to split by, and no step."""
    import xgboost as xgb

    data = xgb.DMatrix(np.zeros((len(y), 1)), y, weight=weight)
    booster = xgb.train({"objective": name, "nthread": 1, "eta": 0.0, **parameters}, data, 1)
    return np.atleast_1d(booster.predict(data, output_margin=True)[0])


def _lightgbm_start(name, y, weight, **parameters):
    import lightgbm as lgb

    X = np.arange(len(y), dtype=float)[:, None]
    settings = {"objective": name, "num_threads": 1, "verbose": -1, "learning_rate": 1e-12}
    settings |= {"min_data_in_leaf": 1, "min_data_in_bin": 1, **parameters}
    booster = lgb.train(settings, lgb.Dataset(X, y, weight=weight), 1)
    return np.atleast_1d(booster.predict(X[:1], raw_score=True)[0])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("dialect", "name"), CASES)
def test_margins_start_where_the_peers_start(dialect, name, weighted):
    pytest.importorskip(dialect)
    if name == "reg:absoluteerror":
        skip_newer_xgboost("starts of absolute error")
    objective, y = find(dialect, name)
    weight = weights() if weighted else None
    parameters = (XGBOOST if dialect == "xgboost" else LIGHTGBM)[name][1]
    parameters = parameters | ({"num_class": 3} if objective.n_classes else {})
    theirs = (_xgboost_start if dialect == "xgboost" else _lightgbm_start)(
        name, y, weight, **parameters
    )
    np.testing.assert_allclose(objective.start(y, weight), theirs, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["binary:logistic", "reg:logistic", "binary:logitraw"])
def test_one_class_alone_starts_at_a_finite_margin(name):
    objective = find_objective(name, "xgboost")
    for label in (0.0, 1.0):
        assert np.isfinite(objective.start(np.full(9, label), None)).all()


@pytest.mark.parametrize(
    ("name", "score", "margin"),
    [
        ("reg:squarederror", -2.5, -2.5),
        ("binary:logistic", 0.75, np.log(3.0)),
        ("binary:logitraw", 0.75, 0.75),
        ("count:poisson", 2.0, np.log(2.0)),
        ("reg:tweedie", 2.0, np.log(2.0)),
        ("binary:hinge", 0.5, 0.5),
        ("multi:softprob", 0.5, 0.5),
        ("binary:logistic", 1.0, None),
        ("binary:logistic", -0.1, None),
        ("reg:gamma", 0.0, None),
        ("reg:squarederror", np.nan, None),
        ("multi:softprob", np.inf, None),
    ],
)
def test_margin_of_a_base_score(name, score, margin):
    objective = find_objective(name, "xgboost", 3 if "multi" in name else None)
    if margin is None:
        with pytest.raises(ParameterError, match="base_score must be"):
            objective.margin_of(score)
    else:
        assert objective.margin_of(score) == pytest.approx(margin)


# ---------------------------------------------------------------------- leaves from residuals
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("dialect", "name"), [c for c in CASES if c[1] in RENEWED])
def test_leaves_are_renewed_as_the_peers_do(dialect, name, weighted):
    pytest.importorskip(dialect)
    if dialect == "xgboost":
        skip_newer_xgboost("leaves of absolute and quantile error")
    objective, y = find(dialect, name)
    weight, m = weights() if weighted else None, margins(objective.n_outputs)
    of_peer = xgboost_leaves if dialect == "xgboost" else lightgbm_leaves
    few = {"max_depth": 3, "tree_method": "hist"} if dialect == "xgboost" else {"num_leaves": 6}
    parameters = (XGBOOST if dialect == "xgboost" else LIGHTGBM)[name][1]
    theirs, leaf = of_peer(name, y, m, weight, reg=0.0, **few, **parameters)
    assert len(np.unique(leaf)) > 3
    for k in range(objective.n_outputs):
        for each in np.unique(leaf[:, k]):
            rows = np.flatnonzero(leaf[:, k] == each)
            found = objective.renew_leaf(y, m * 1.0, weight, rows, k)
            np.testing.assert_allclose(found, theirs[rows, k], rtol=1e-4, atol=1e-5)


def test_a_leaf_without_rows_stays():
    objective = find_objective("reg:absoluteerror", "xgboost")
    assert objective.renew_leaf(np.ones(3), np.zeros((3, 1)), None, np.empty(0, int)) == 0.0
    assert find_objective("reg:squarederror", "xgboost").renew_leaf is None


# ---------------------------------------------------------------------- bad input
BAD_LABELS = [
    ("xgboost", "reg:squarederror", np.nan, "finite numbers: row 7 of y holds others, first nan"),
    ("xgboost", "reg:squaredlogerror", -1.0, "numbers above -1: row 7"),
    ("xgboost", "reg:logistic", 1.5, "numbers from 0 to 1"),
    ("xgboost", "binary:logistic", 2.0, "0 or 1: row 7 of y holds others, first 2"),
    ("xgboost", "binary:hinge", -1.0, "0 or 1"),
    ("xgboost", "multi:softprob", 3.0, "3 classes, 0 to 2: row 7"),
    ("xgboost", "multi:softprob", 0.5, "whole numbers"),
    ("xgboost", "count:poisson", -2.0, "0 or more"),
    ("xgboost", "reg:gamma", -0.5, "0 or more"),
    ("xgboost", "reg:tweedie", np.inf, "finite"),
    ("lightgbm", "cross_entropy", -0.1, "from 0 to 1"),
    ("lightgbm", "multiclassova", 7.0, "3 classes"),
    ("lightgbm", "regression_l1", np.inf, "finite"),
]


@pytest.mark.parametrize(("dialect", "name", "value", "message"), BAD_LABELS)
def test_bad_labels_are_named(dialect, name, value, message):
    objective, y = find(dialect, name)
    objective.check(y, weights())
    y[7] = value
    with pytest.raises(DataError, match=message):
        objective.check(y, None)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(3), "60 numbers, one per row"),
        (np.where(np.arange(60) == 5, -1.0, 1.0), "row 5, first -1"),
        (np.where(np.arange(60) == 6, np.nan, 1.0), "row 6, first nan"),
        (np.zeros(60), "all weights are 0"),
    ],
)
def test_bad_weights_are_named(weight, message):
    for name in ("reg:squarederror", "multi:softprob"):
        objective, y = find("xgboost", name)
        with pytest.raises(DataError, match=message):
            objective.check(y, weight)


def test_counts_that_are_all_zero_have_no_logarithm():
    with pytest.raises(DataError, match="all labels are 0"):
        find_objective("count:poisson", "xgboost").check(np.zeros(4), None)


@pytest.mark.parametrize("name", ["binary", "lambdarank", "regression"])
def test_an_objective_is_shown_by_its_name(name):
    assert repr(find_objective(name, "lightgbm")) == repr(name)
