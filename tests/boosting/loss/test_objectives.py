"""Objectives against numerical differentiation, XGBoost and LightGBM, and plain NumPy."""

import json
import pickle

import numpy as np
import pytest

from arboretum.boosting.dialect.find import find_objective, objective_from_state
from arboretum.data.quantile import weighted_quantile
from arboretum.engine.gradient import loss as boost_losses
from arboretum.errors import DataError, ModelFileError, ParameterError
from tests.boosting.loss.objective_cases import (
    derivatives,
    labels,
    leaves,
    lightgbm_leaves,
    margins,
    weights,
    xgboost_leaves,
)

# An objective: the labels it takes, and its parameters
XGBOOST = {
    "reg:squarederror": ("real", {}),
    "reg:squaredlogerror": ("positive", {}),
    "reg:absoluteerror": ("real", {}),
    "reg:pseudohubererror": ("real", {"huber_slope": 0.7}),
    "reg:quantileerror": ("real", {"quantile_alpha": [0.2, 0.5, 0.9]}),
    "reg:logistic": ("share", {}),
    "binary:logistic": ("binary", {"scale_pos_weight": 3.0}),
    "binary:logitraw": ("binary", {}),
    "binary:hinge": ("binary", {}),
    "multi:softmax": ("classes", {}),
    "multi:softprob": ("classes", {}),
    "count:poisson": ("count", {}),
    "reg:gamma": ("positive", {}),
    "reg:tweedie": ("count", {"tweedie_variance_power": 1.3}),
}
LIGHTGBM = {
    "regression": ("real", {}),
    "regression_l1": ("real", {}),
    "huber": ("real", {"alpha": 0.8}),
    "fair": ("real", {"fair_c": 1.5}),
    "poisson": ("count", {}),
    "quantile": ("real", {"alpha": 0.3}),
    "mape": ("real", {}),
    "gamma": ("positive", {}),
    "tweedie": ("count", {"tweedie_variance_power": 1.3}),
    "binary": ("binary", {"sigmoid": 1.7, "scale_pos_weight": 2.0}),
    "multiclass": ("classes", {}),
    "multiclassova": ("classes", {"sigmoid": 1.2}),
    "cross_entropy": ("share", {}),
}
CASES = [("xgboost", name) for name in XGBOOST] + [("lightgbm", name) for name in LIGHTGBM]
RENEWED = {"reg:absoluteerror", "reg:quantileerror", "regression_l1", "quantile", "mape"}


def _find(dialect, name, **more):
    kind, parameters = (XGBOOST if dialect == "xgboost" else LIGHTGBM)[name]
    n_classes = 3 if kind == "classes" else None
    return find_objective(name, dialect, n_classes, **{**parameters, **more}), labels(kind)


# ---------------------------------------------------------------------- the exponential
def test_exponential_is_as_good_as_the_library():
    x = np.concatenate((np.linspace(-708, 708, 200_001), np.linspace(-1, 1, 10_001)))
    out = np.empty_like(x)
    boost_losses.exponentials(x, out)
    np.testing.assert_allclose(out, np.exp(x), rtol=2e-14)
    whole = np.array([0.0, -1e5, 1e5])
    boost_losses.exponentials(whole, whole)
    np.testing.assert_allclose(whole, [1.0, np.exp(-708.0), np.exp(708.0)], rtol=1e-14)


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


# ---------------------------------------------------------------------- numerical differentiation
def _log_odds_loss(y, m):
    return np.logaddexp(0, m) - y * m


LOSSES = {  # objectives whose second derivative is the true one
    ("xgboost", "reg:squarederror"): lambda y, m: 0.5 * (m - y) ** 2,
    ("xgboost", "reg:pseudohubererror"): lambda y, m: 0.49 * (np.hypot(1, (m - y) / 0.7) - 1),
    ("xgboost", "reg:logistic"): _log_odds_loss,
    ("xgboost", "binary:logitraw"): _log_odds_loss,
    ("xgboost", "binary:logistic"): lambda y, m: np.where(y == 1, 3, 1) * _log_odds_loss(y, m),
    ("xgboost", "reg:gamma"): lambda y, m: m + y * np.exp(-m),
    ("xgboost", "reg:tweedie"): lambda y, m: np.exp(0.7 * m) / 0.7 + y * np.exp(-0.3 * m) / 0.3,
    ("lightgbm", "fair"): lambda y, m: 2.25 * (np.abs(m - y) / 1.5 - np.log1p(np.abs(m - y) / 1.5)),
    ("lightgbm", "binary"): lambda y, m: np.where(y == 1, 2, 1) * _log_odds_loss(y, 1.7 * m),
    ("lightgbm", "cross_entropy"): _log_odds_loss,
}  # fmt: skip
FIRST_ONLY = {
    ("xgboost", "reg:squaredlogerror"): lambda y, m: 0.5 * (np.log1p(m) - np.log1p(y)) ** 2,
    ("xgboost", "reg:absoluteerror"): lambda y, m: np.abs(m - y),
    ("xgboost", "binary:hinge"): lambda y, m: np.maximum(0, 1 - (2 * y - 1) * m),
    ("xgboost", "count:poisson"): lambda y, m: np.exp(m) - y * m,
    ("lightgbm", "huber"): lambda y, m: np.where(
        np.abs(m - y) <= 0.8, 0.5 * (m - y) ** 2, 0.8 * (np.abs(m - y) - 0.4)
    ),
    ("lightgbm", "quantile"): lambda y, m: np.maximum(0.3 * (y - m), -0.7 * (y - m)),
    ("lightgbm", "mape"): lambda y, m: np.abs(m - y) / np.maximum(1, np.abs(y)),
}


@pytest.mark.parametrize("case", LOSSES | FIRST_ONLY, ids=" ".join)
def test_derivatives_are_those_of_the_loss(case):
    objective, y = _find(*case)
    loss = (LOSSES | FIRST_ONLY)[case]
    w, m, step = weights(), margins()[:, 0], 1e-4
    if case[1] == "reg:squaredlogerror":
        m = np.abs(m)
    g, h = derivatives(objective, y, m[:, None], w)
    up, here, down = (w * loss(y, m + s) for s in (step, 0.0, -step))
    np.testing.assert_allclose(g[0], (up - down) / (2 * step), rtol=1e-4, atol=1e-5)
    if case in LOSSES:
        np.testing.assert_allclose(h[0], (up - 2 * here + down) / step**2, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    ("dialect", "name", "factor"),
    [("xgboost", "multi:softprob", 2.0), ("lightgbm", "multiclass", 1.5)],
)
def test_softmax_by_hand(dialect, name, factor):
    objective, y = _find(dialect, name)
    m = margins(3) * 3.0
    p = np.exp(m) / np.exp(m).sum(axis=1, keepdims=True)
    g, h = derivatives(objective, y, m, weights())
    np.testing.assert_allclose(g, weights() * (p - np.eye(3)[y.astype(int)]).T, atol=3e-7)
    np.testing.assert_allclose(h, weights() * factor * (p * (1 - p)).T, rtol=1e-6)
    np.testing.assert_allclose(objective.predict(m), p, rtol=1e-12)


def test_textbook_softmax_example():
    """The third class of one row in the notes: logits .05, -.02, -.02 give .349, .325, .325."""
    objective = find_objective("multi:softprob", "xgboost", 3)
    found = objective.predict(np.array([[0.05, -0.02, -0.02], [0.09, -0.04, -0.04]]))
    np.testing.assert_allclose(
        found, [[0.34907, 0.32547, 0.32547], [0.36282, 0.31859, 0.31859]], atol=1e-5
    )


@pytest.mark.parametrize("far", [-1e4, -90.0, 90.0, 1e4])
@pytest.mark.parametrize(("dialect", "name"), CASES)
def test_margins_far_out_give_finite_derivatives(dialect, name, far):
    objective, y = _find(dialect, name)
    g, h = derivatives(objective, y, np.full((len(y), objective.n_outputs), far))
    assert np.isfinite(g).all()
    assert np.isfinite(h).all()
    assert (h >= 0).all()


# ---------------------------------------------------------------------- the peers
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [name for name in XGBOOST if name not in RENEWED])
def test_xgboost_has_the_same_derivatives(name, weighted):
    pytest.importorskip("xgboost")
    objective, y = _find("xgboost", name)
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
    objective, y = _find("lightgbm", name)
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
    objective, y = _find(dialect, name)
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
    objective, y = _find(dialect, name)
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


@pytest.mark.parametrize("dialect", ["xgboost", "lightgbm"])
def test_quantiles_stay_within_the_values(dialect):
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 10):
        x, w = rng.normal(size=n), rng.uniform(0.5, 4, n)
        for weight in (None, w):
            found = [weighted_quantile(x, a, weight, dialect) for a in np.linspace(0.01, 0.99, 30)]
            assert x.min() <= min(found)
            assert max(found) <= x.max()
            assert (np.diff(found) >= 0).all()


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
    objective, y = _find(dialect, name)
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
        objective, y = _find("xgboost", name)
        with pytest.raises(DataError, match=message):
            objective.check(y, weight)


def test_counts_that_are_all_zero_have_no_logarithm():
    with pytest.raises(DataError, match="all labels are 0"):
        find_objective("count:poisson", "xgboost").check(np.zeros(4), None)


@pytest.mark.parametrize(
    ("objective", "dialect", "n_classes", "parameters", "message"),
    [
        ("reg:squarederorr", "xgboost", None, {}, "did you mean 'reg:squarederror'"),
        ("regression", "xgboost", None, {}, "a name of lightgbm"),
        ("multiclas", "lightgbm", 3, {}, "did you mean 'multiclass'"),
        ([7], "lightgbm", None, {}, r"a name or a function, got \[7\]"),
        ("regression", "catboost", None, {}, "dialect must be"),
        ("multi:softprob", "xgboost", None, {}, "needs n_classes"),
        ("multiclass", "lightgbm", 1, {}, "needs n_classes"),
        ("binary:logistic", "xgboost", 3, {}, "two classes, there are 3: use 'multi:softprob'"),
        ("binary", "lightgbm", 3, {}, "use 'multiclass'"),
        ("reg:squarederror", "xgboost", None, {"hubr_slope": 1}, "did you mean 'huber_slope'"),
        ("reg:quantileerror", "xgboost", None, {}, "needs quantile_alpha"),
        ("reg:quantileerror", "xgboost", None, {"quantile_alpha": [0.5, 1.5]}, "quantile_alpha must"),
        ("quantile", "lightgbm", None, {"alpha": 1.5}, "below 1"),
        ("reg:tweedie", "xgboost", None, {"tweedie_variance_power": 2.0}, r"in \[1, 2\)"),
        ("binary", "lightgbm", 2, {"is_unbalance": True, "scale_pos_weight": 2.0}, "not both"),
        ("regression", "lightgbm", None, {"scale_pos_weight": 2.0}, "no effect on .*sample_weight"),
        ("multi:softmax", "xgboost", 3, {"scale_pos_weight": 2.0}, "no effect"),
        ("binary", "lightgbm", 2, {"sigmoid": 0.0}, "sigmoid must be a number > 0"),
    ],
)  # fmt: skip
def test_bad_parameters(objective, dialect, n_classes, parameters, message):
    with pytest.raises(ParameterError, match=message):
        find_objective(objective, dialect, n_classes, **parameters)


# ---------------------------------------------------------------------- names and files
@pytest.mark.parametrize(
    ("alias", "name"),
    [("mse", "regression"), ("rmse", "regression"), ("mae", "regression_l1"), ("ova", "multiclassova"),
     ("softmax", "multiclass"), ("xentropy", "cross_entropy"), ("mean_absolute_percentage_error", "mape")],
)  # fmt: skip
def test_aliases_are_the_same_objective(alias, name):
    one, other = (find_objective(n, "lightgbm", 3) for n in (alias, name))
    assert one.name == alias
    y, m = labels("binary"), margins(one.n_outputs)
    np.testing.assert_array_equal(derivatives(one, y, m), derivatives(other, y, m))


@pytest.mark.parametrize(("dialect", "name"), CASES)
def test_states_and_pickles_are_the_same_objective(dialect, name):
    objective, y = _find(dialect, name)
    state = json.loads(json.dumps(objective.to_state()))
    for copy in (objective_from_state(state), pickle.loads(pickle.dumps(objective))):
        m = margins(objective.n_outputs)
        np.testing.assert_array_equal(derivatives(copy, y, m), derivatives(objective, y, m))
        assert copy.to_state() == state


@pytest.mark.parametrize(
    "state",
    [{}, {"name": "regression"}, None,
     {"name": "nonsense", "dialect": "xgboost", "n_classes": None, "parameters": {}},
     {"name": "fair", "dialect": "lightgbm", "n_classes": None, "parameters": {"fair_c": "x"}},
     {"name": "fair", "dialect": "lightgbm", "n_classes": None, "parameters": 3},
     {"name": "f", "dialect": "lightgbm", "n_classes": None, "n_outputs": -1, "function": None}],
)  # fmt: skip
def test_damaged_states(state):
    with pytest.raises(ModelFileError, match="no objective known"):
        objective_from_state(state)
