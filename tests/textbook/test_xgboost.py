"""XGBoost by hand-made examples, by identities, and against the program's exact method."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum.textbook.xgboost import (
    OBJECTIVES,
    base_margin,
    boost_xgb,
    derivatives,
    grow_xgb,
    predict_margin_xgb,
    predict_tree_xgb,
    predict_xgb,
    prune_xgb,
    softmax,
    tree_text_xgb,
)
from arboretum.textbook.xgboost_splits import (
    XGBSettings,
    choose_split,
    column_candidates,
    leaf_value,
    similarity,
    split_candidates,
    split_table,
)

NAN = np.nan
BARE = XGBSettings(reg_lambda=0.0, min_child_weight=0.0)


def make(objective, seed=0, n=120, columns=4, missing=0.0):
    """Rows without ties, exact in 32 bits; weights give every partition a gain of its own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns)).astype(np.float32).astype(np.float64)
    signal = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n)
    X[rng.random(X.shape) < missing] = NAN
    y = signal.astype(np.float32).astype(np.float64)
    if objective == "binary:logistic":
        y = (signal > 0.3) * 1.0
    elif objective == "multi:softprob":
        y = np.digitize(signal, [-0.6, 0.6]) * 1.0
    return X, y, rng.integers(20, 200, n) / 64


# ---------------------------------------------------------------------- SPEC §10 and §11
@pytest.mark.parametrize(("n", "loss"), [(1, 0.5), (4, 0.2), (9, 0.1)])
def test_lambda_shrinks_similarity_by_one_part_in_n_plus_one(n, loss):
    g, h = np.full(n, -7.0), np.ones(n)
    ratio = similarity(g.sum(), h.sum()) / similarity(g.sum(), h.sum(), BARE)
    assert_allclose(1 - ratio, loss)


def test_similarity_is_the_square_of_the_sum_not_the_sum_of_squares():
    """Note 004 has Σg²: then no split would ever gain anything when λ = 0."""
    g = np.array([-10.5, 6.5, 7.5, -7.5])  # the drug dosage example: sum -4
    assert similarity(g.sum(), 4.0, BARE) == 4.0
    assert np.sum(g**2) / 4.0 > 60
    assert leaf_value(g.sum(), 4.0, BARE) == 1.0  # minus the gradients: against the slope


@pytest.mark.parametrize(
    ("F", "p"),
    [
        ([0.05, -0.02, -0.02], [0.34907, 0.32547, 0.32547]),
        ([0.09, -0.04, -0.04], [0.36282, 0.31859, 0.31859]),
    ],
)
def test_softmax_example_of_the_notes(F, p):
    assert_allclose(softmax(F), p, atol=5e-6)
    assert_allclose(
        derivatives("multi:softprob", [0], [F])[0], [np.subtract(p, [1, 0, 0])], atol=5e-6
    )


def test_normaliser_of_the_softmax_example_is_about_3():
    assert_allclose(np.exp([0.05, -0.02, -0.02]).sum(), 3.0117, atol=5e-5)


def test_boosting_example_of_the_notes():
    model = boost_xgb(
        [[1.0], [2.0], [3.0]], [88, 76, 56], n_rounds=2, eta=0.1,
        settings=XGBSettings(max_depth=1, reg_lambda=0),
    )  # fmt: skip
    first, second = model.rounds
    assert_allclose(-first.g[:, 0], [14.67, 2.67, -17.33], atol=5e-3)
    assert_allclose(first.scores[:, 0], [74.2, 74.2, 71.6], atol=1e-9)
    assert_allclose(-second.g[:, 0], [13.8, 1.8, -15.6], atol=1e-9)


# ---------------------------------------------------------------------- figures
@pytest.mark.parametrize("alpha", [0.0, 2.0])
@pytest.mark.parametrize("limit", [0.0, 0.3])
def test_leaf_value_is_the_lowest_point_and_similarity_what_it_saves(alpha, limit):
    s = XGBSettings(reg_lambda=1.5, reg_alpha=alpha, max_delta_step=limit)
    grid = np.linspace(-5, 5, 200_001)
    grid = grid[np.abs(grid) <= (limit or 5) + 1e-12]
    for G, H in [(-7.0, 2.0), (1.0, 3.0), (5.0, 1.0), (0.0, 4.0)]:
        loss = G * grid + (H + 1.5) / 2 * grid**2 + alpha * np.abs(grid)
        assert_allclose(leaf_value(G, H, s), grid[loss.argmin()], atol=5e-5)
        assert_allclose(similarity(G, H, s), -2 * loss.min(), atol=1e-7)


def test_every_candidate_adds_up_and_agrees_with_its_own_routing():
    X, g, h = make("reg:squarederror", missing=0.3)
    table = split_candidates(X, g, h)
    assert {c.default for c in table} == {"left", "right"}
    for c in table:
        left = c.left(X[:, c.feature])
        assert_allclose([c.G_left, c.H_left], [g[left].sum(), h[left].sum()], atol=1e-9)
        assert_allclose([c.G_right, c.H_right], [g[~left].sum(), h[~left].sum()], atol=1e-9)
        assert_allclose(c.gain, c.similarity_left + c.similarity_right - c.similarity_node)
        assert_allclose(c.similarity_node, similarity(g.sum(), h.sum()))


def test_missing_may_stand_alone():
    table = column_candidates([1.0, 2.0, NAN, NAN], [-1, -1, 3, 3], np.ones(4), BARE)
    best = choose_split(table)
    assert best is table[-1]
    assert (best.G_left, best.G_right, best.default) == (-2, 6, "right")
    assert best.cut > 2


@pytest.mark.parametrize(
    "x", [[], [5.0], [5.0, 5.0], [NAN, NAN]], ids=["empty", "one", "equal", "missing"]
)
def test_nothing_to_ask(x):
    assert column_candidates(x, np.ones(len(x)), np.ones(len(x))) == []


def test_cut_parts_neighbouring_floats():
    low, high = 1.0, np.nextafter(1.0, 2)
    [c] = column_candidates([low, high], [-1, 1], [1, 1])
    assert c.left(np.array([low, high])).tolist() == [True, False]
    huge = np.finfo(float).max
    assert column_candidates([huge / 2, huge], [-1, 1], [1, 1])[0].cut < np.inf


def test_ties_go_to_the_first_column_and_the_smallest_cut():
    x = np.array([1.0, 2.0, 3.0, 4.0])
    X = np.column_stack([x, -x, x])
    g = np.array([-0.1, 0.2, 0.2, -0.1])  # the first and the last cut gain the same
    best = choose_split(split_candidates(X, g, np.ones(4)))
    assert (best.feature, best.cut) == (0, 1.5)


def test_min_child_weight_is_a_bound_on_cover():
    x, g, h = np.arange(5.0), [-9, 1, 1, 1, 1], [0.5, 0.5, 1, 1, 1]
    for least in (0.5, 0.75, 1.0, 2.5):
        able = [c for c in column_candidates(x, g, h, XGBSettings(min_child_weight=least))
                if c.admissible]  # fmt: skip
        assert all(min(c.H_left, c.H_right) >= least for c in able)
        assert len(able) == {0.5: 4, 0.75: 3, 1.0: 3, 2.5: 0}[least]


def test_different_lengths_are_refused():
    with pytest.raises(ValueError, match="equally long"):
        column_candidates([1.0, 2.0], [1.0], [1.0])
    with pytest.raises(ValueError, match="a row per g and h"):
        grow_xgb([[1.0], [2.0]], [1.0], [1.0])


def test_table_marks_the_best():
    text = split_table(split_candidates([[1.0], [2.0], [3.0]], [-4, -2, 6], np.ones(3)))
    assert [line.endswith("*") for line in text.splitlines()] == [False, False, True]


# ---------------------------------------------------------------------- pruning
def test_gamma_looks_at_the_bottom_first():
    """XOR: the upper splits gain little, the lower ones much, so the upper ones stay."""
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    g = [-5.0, 5.0, 5.1, -5.0]
    full = grow_xgb(X, g, np.ones(4), BARE)
    upper, lower = full.chosen.gain, [n.chosen.gain for n in full.children]
    assert upper < 1 < min(lower)
    assert sum(n.is_leaf for n in prune_xgb(full, 10.0)) == 4
    assert prune_xgb(full, 60.0).is_leaf
    assert prune_xgb(full, 60.0).stop == "gamma"


def test_gain_equal_to_gamma_stays():
    X, g = [[0.0], [1.0]], [-1.0, 1.0]  # the gain is 2
    kept = [
        not grow_xgb(X, g, [1, 1], XGBSettings(gamma=c, reg_lambda=0)).is_leaf for c in (2, 2.1)
    ]
    assert kept == [True, False]


def test_text_of_a_tree():
    lines = tree_text_xgb(grow_xgb([[1.0], [2.0]], [-3.0, 3.0], [1, 1])).splitlines()
    assert lines[0] == "[x0 < 1.5] missing left, gain 9.000, cover 2"
    assert len(lines) == 3


# ---------------------------------------------------------------------- losses
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_gradient_is_the_slope_of_the_loss(objective):
    _, y, w = make(objective, n=10)
    K = 3 if objective == "multi:softprob" else 1
    F = np.random.default_rng(1).normal(size=(10, K))

    def loss(F):
        if objective == "reg:squarederror":
            return w * (F[:, 0] - y) ** 2 / 2
        if objective == "binary:logistic":
            return w * (np.logaddexp(0, F[:, 0]) - y * F[:, 0])
        return w * (np.log(np.exp(F).sum(axis=1)) - F[np.arange(10), y.astype(int)])

    g, h = derivatives(objective, y, F, w)
    for k in range(K):
        step = np.zeros(K)
        step[k] = 1e-4
        slope = (loss(F + step) - loss(F - step)) / 2e-4
        bend = (loss(F + step) - 2 * loss(F) + loss(F - step)) / 1e-8
        assert_allclose(g[:, k], slope, atol=1e-6)
        assert_allclose(h[:, k], bend * (2 if K > 1 else 1), atol=1e-5)


def test_extreme_scores_do_not_overflow():
    p = predict_xgb(boost_xgb([[0.0], [1.0]], [0, 1], objective="binary:logistic", n_rounds=1,
                              eta=1e5, settings=BARE), [[0.0], [1.0]])  # fmt: skip
    assert_allclose(p, [0, 1], atol=1e-12)
    assert np.all(derivatives("binary:logistic", [0, 1], [[-999.0], [999.0]])[1] > 0)


def test_the_base_makes_the_gradients_cancel():
    for objective in OBJECTIVES:
        _, y, w = make(objective)
        base = base_margin(objective, y, w)
        g, _ = derivatives(objective, y, np.tile(base, (len(y), 1)), w)
        assert_allclose(g.sum(axis=0), 0, atol=1e-9)


def test_unknown_objective_and_impossible_base_are_refused():
    with pytest.raises(ValueError, match="objective must be one of"):
        boost_xgb([[0.0], [1.0]], [0, 1], objective="reg:absolute")
    with pytest.raises(ValueError, match="between 0 and 1"):
        boost_xgb([[0.0], [1.0]], [0, 1], objective="binary:logistic", base_score=1.0)
    with pytest.raises(ValueError, match="class 1 has no rows"):
        boost_xgb([[0.0], [1.0]], [0, 2], objective="multi:softprob")


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_rounds_record_what_they_did(objective):
    X, y, w = make(objective, missing=0.2, n=60)
    model = boost_xgb(X, y, w, objective, 3, settings=XGBSettings(max_depth=2))
    assert_array_equal(predict_margin_xgb(model, X), model.rounds[-1].scores)
    scores = np.tile(model.base, (len(y), 1))
    for one in model.rounds:
        g, h = derivatives(objective, y, scores, w)
        assert_array_equal(one.g, g)
        assert_array_equal(one.h, h)
        scores = scores + model.eta * np.column_stack([predict_tree_xgb(t, X) for t in one.trees])
        assert_array_equal(one.scores, scores)


# ---------------------------------------------------------------------- the program
def train(X, y, w, objective, n_rounds, settings, **more):
    xgb = pytest.importorskip("xgboost")
    options = {
        "objective": objective, "tree_method": "exact", "nthread": 1, "verbosity": 0,
        **vars(settings), **more,
    }  # fmt: skip
    if objective == "multi:softprob":
        options["num_class"] = 3
    return xgb.train(options, xgb.DMatrix(X, label=y, weight=w), n_rounds)


def assert_same_tree(node, dump, eta):
    assert_allclose(node.H, dump["cover"], rtol=1e-5)
    assert node.is_leaf == ("leaf" in dump), node.path
    if node.is_leaf:
        assert_allclose(eta * node.value, dump["leaf"], rtol=1e-5, atol=1e-6)
        return
    chosen = node.chosen
    assert f"f{chosen.feature}" == dump["split"]
    assert_allclose(chosen.cut, dump["split_condition"], rtol=1e-5, atol=1e-6)
    assert_allclose(chosen.gain, dump["gain"], rtol=1e-4, atol=1e-5)
    below = {child["nodeid"]: child for child in dump["children"]}
    if chosen.default == "right" or any(
        c.default == "right" for c in node.candidates if c.feature == chosen.feature
    ):  # with nothing missing at the node, nothing was learned
        assert (chosen.default == "left") == (dump["missing"] == dump["yes"])
    assert_same_tree(node.left, below[dump["yes"]], eta)
    assert_same_tree(node.right, below[dump["no"]], eta)


SETTINGS = {
    "defaults": {},
    # λ = 0 would leave gains of zero at pure nodes, which the program's 32 bits blur
    "bare": {"reg_lambda": 0.01, "min_child_weight": 0.0},
    "lambda": {"reg_lambda": 4.0},
    "alpha": {"reg_alpha": 1.5},
    "gamma": {"gamma": 2.0},
    "cover": {"min_child_weight": 6.0},
    "limit": {"max_delta_step": 0.4},
    "all": {"reg_lambda": 0.5, "reg_alpha": 0.7, "gamma": 1.0, "min_child_weight": 2.0},
}


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("name", SETTINGS)
def test_same_trees_as_xgboost_exact(name, objective, missing):
    X, y, w = make(objective, missing=missing)
    settings = XGBSettings(max_depth=4, **SETTINGS[name])
    booster = train(X, y, w, objective, 2, settings, eta=0.3)
    model = boost_xgb(X, y, w, objective, 2, settings=settings)
    ours = [tree for one in model.rounds for tree in one.trees]
    dumps = [json.loads(text) for text in booster.get_dump(with_stats=True, dump_format="json")]
    assert len(ours) == len(dumps)
    assert any(not tree.is_leaf for tree in ours)
    for tree, dump in zip(ours, dumps):
        assert_same_tree(tree, dump, 0.3)
    xgb = pytest.importorskip("xgboost")
    fresh = make(objective, seed=1)[0]  # complete: some nodes learn no way for missing values
    theirs = booster.predict(xgb.DMatrix(fresh), output_margin=True).reshape(len(fresh), -1)
    assert_allclose(predict_margin_xgb(model, fresh), theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("max_depth", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", [2, 3])
def test_same_trees_as_xgboost_exact_by_depth_without_weights(max_depth, seed):
    X, y, _ = make("reg:squarederror", seed=seed, missing=0.15)
    settings = XGBSettings(max_depth=max_depth, gamma=0.5)
    booster = train(X, y, None, "reg:squarederror", 3, settings, eta=0.5, base_score=0.5)
    model = boost_xgb(X, y, None, "reg:squarederror", 3, 0.5, 0.5, settings)
    for one, text in zip(model.rounds, booster.get_dump(with_stats=True, dump_format="json")):
        assert_same_tree(one.trees[0], json.loads(text), 0.5)


def test_missing_against_present_has_the_cut_of_xgboost():
    X, y = np.array([[1.0], [2.0], [3.0], [NAN], [NAN]]), np.array([0.0, 0, 0, 1, 1])
    settings = XGBSettings(max_depth=1, reg_lambda=0.0)
    [text] = train(X, y, None, "reg:squarederror", 1, settings).get_dump(
        with_stats=True, dump_format="json"
    )
    assert_same_tree(boost_xgb(X, y, n_rounds=1, settings=settings).rounds[0].trees[0],
                     json.loads(text), 0.3)  # fmt: skip
