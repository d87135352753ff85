"""Exact trees against the textbook, against XGBoost itself, and against themselves by other ways."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

from arboretum import XGBClassifier
from arboretum.data.matrix import DenseMatrix, FrameMatrix, SparseMatrix
from arboretum.data.schema import Schema, learn_schema
from arboretum.engine.second_order.score import SplitRules
from arboretum.errors import DataError
from arboretum.grow.decoding import exact_trees_of
from arboretum.grow.exact import grower as exact
from arboretum.grow.exact.grower import ExactGrower, ExactTree
from arboretum.predict.walk import leaves_of
from arboretum.structure.tree import Tree
from arboretum.textbook.xgboost import XGBNode, grow_xgb
from arboretum.textbook.xgboost_splits import XGBSettings
from tests.boosting.xgboost.xgb_cases import saved
from tests.grow.gradients import grow, grow_and_place, walked

PLAIN = SplitRules(
    l1=0.0, l2=1.0, max_delta_step=0.0, path_smooth=0.0, min_gain=0.0, reach_gain=True,
    min_weight=1.0, min_rows=0.0, cat_l2=0.0, cat_smooth=0.0, cat_min_rows=0.0,
    max_cat_threshold=0, max_onehot=0, min_group=0.0, max_depth=6, max_leaves=1 << 30,
    depth_first=True, level_columns=0, node_columns=0,
)  # fmt: skip


def _grower(X, rules: SplitRules = PLAIN, **how) -> ExactGrower:
    return ExactGrower(DenseMatrix(X), rules, **how)


def _data(seed: int, n: int = 300, f: int = 5, missing: float = 0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, f)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * rng.standard_normal(n)
    X[rng.random(X.shape) < missing] = np.nan
    g = (0.3 * rng.standard_normal(n) - y).astype(np.float32)
    return X, g, (0.2 + rng.random(n)).astype(np.float32), (y > 0).astype(np.float32)


def _tree(grown: ExactTree, schema: Schema, values: np.ndarray) -> Tree:
    return exact_trees_of(grown.with_value(values), np.array([len(grown)]), schema)[0]


def _same(a: ExactTree, b: ExactTree) -> bool:
    return all(
        np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True)
        for name in ("first_child", "feature", "threshold", "missing_left", "gain", "value")
    )


# ---------------------------------------------------------------------- the textbook
def _assert_textbook(X: np.ndarray, tree: ExactTree, i: int, node: XGBNode) -> None:
    assert tree.count[i] == len(node.rows)
    assert tree.cover[i] == pytest.approx(node.H, rel=1e-7)
    assert tree.value[i] == pytest.approx(node.value, rel=1e-6, abs=1e-9)
    assert (tree.first_child[i] < 0) == node.is_leaf
    if node.chosen is None or node.left is None or node.right is None:
        return
    c = node.chosen
    assert tree.feature[i] == c.feature
    if np.isnan(X[node.rows, c.feature]).any():
        assert tree.missing_left[i] == (c.default == "left")
    else:  # the program's rule looks at the whole column
        assert tree.missing_left[i] == (not np.isnan(X[:, c.feature]).any())
    assert tree.threshold[i] == np.nextafter(c.cut, -np.inf)
    assert tree.gain[i] == pytest.approx(c.gain, rel=1e-6, abs=1e-6)
    _assert_textbook(X, tree, tree.first_child[i], node.left)
    _assert_textbook(X, tree, tree.first_child[i] + 1, node.right)


def _choose_as_the_program(gappy: np.ndarray):
    """Return the textbook's choice of a split with the program's choice among equals."""

    def order(candidates, f):
        here = [c for c in candidates if c.feature == f]
        left = [c for c in here if c.default == "left"]
        right = [c for c in here if c.default == "right"]
        if not gappy[f]:
            return left[::-1]
        return right + left[::-1] if right else left

    def choose(candidates):
        best = None
        for f in range(len(gappy)):
            for c in order(candidates, f):
                if c.admissible and (best is None or np.float32(c.gain) > np.float32(best.gain)):
                    best = c
        return best

    return choose


@pytest.mark.parametrize("seed", range(60))
def test_equals_the_textbook_for_all_settings(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n, f = int(rng.integers(1, 300)), int(rng.integers(1, 6))
    X = rng.standard_normal((n, f))
    X = np.round(X * 2) if seed % 2 else X
    X[rng.random(X.shape) < rng.choice([0.0, 0.3])] = np.nan
    g, h = rng.standard_normal(n).astype(np.float32), rng.random(n).astype(np.float32)
    if seed % 3 == 0:  # many equal gains
        g, h = np.round(2 * g), np.ones(n, np.float32)
        choose = _choose_as_the_program(np.isnan(X).any(axis=0))
        monkeypatch.setattr("arboretum.textbook.xgboost.choose_split", choose)
    settings = XGBSettings(
        max_depth=int(rng.integers(0, 8)),
        reg_lambda=float(rng.choice([0.0, 0.5, 1.0, 10.0])),
        reg_alpha=float(rng.choice([0.0, 0.0, 0.3])),
        gamma=float(rng.choice([0.0, 1.0, 4.0])),
        min_child_weight=float(rng.choice([0.0, 1.0, 5.0])),
        max_delta_step=float(rng.choice([0.0, 0.0, 0.4])),
    )
    rules = PLAIN._replace(
        l1=settings.reg_alpha, l2=settings.reg_lambda, max_delta_step=settings.max_delta_step,
        min_gain=settings.gamma, min_weight=settings.min_child_weight, max_depth=settings.max_depth,
    )  # fmt: skip
    _assert_textbook(X, grow(_grower(X, rules), g, h, key=0), 0, grow_xgb(X, g, h, settings))


def test_pruning_by_gamma_spares_what_stands_over_a_better_split():
    # x0 alone gains nothing; the splits below it by x1 gain 2 each
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]).repeat(4, axis=0)
    g = np.float32([-1, 1, 1, -1]).repeat(4) + np.float32(0.01) * X[:, 0].astype(np.float32)
    h = np.ones(16, np.float32)
    counts = []
    for gamma in (0.0, 1.0, 20.0):
        tree = grow(_grower(X, PLAIN._replace(min_gain=gamma, max_depth=2)), g, h, key=0)
        counts.append(int((tree.first_child < 0).sum()))
    full = grow(_grower(X, PLAIN._replace(max_depth=2)), g, h, key=0)
    assert full.gain[0] < 1.0 < full.gain[1:3].min()  # the root survives γ = 1 all the same
    assert counts == [4, 4, 1]


def test_a_gain_that_equals_gamma_suffices_only_where_it_may():
    X, g, h = np.array([[1.0], [2.0]]), np.float32([-1, 1]), np.ones(2, np.float32)
    gain = grow(_grower(X), g, h, key=0).gain[0]
    for reach, nodes in ((True, 3), (False, 1)):
        rules = PLAIN._replace(min_gain=float(gain), reach_gain=reach)
        assert len(grow(_grower(X, rules), g, h, key=0).gain) == nodes


# ---------------------------------------------------------------------- xgboost
def _boost(grower: ExactGrower, y, weight, rounds: int) -> list[ExactTree]:
    """Boost binary:logistic from 0.5 with η = 0.3, in float32 as the program does."""
    margin, trees = np.zeros((len(y), 1)), []
    for m in range(rounds):
        p = 1 / (1 + np.exp(-margin[:, 0].astype(np.float32)))
        g, h = (p - y) * weight, np.maximum(p * (1 - p), np.float32(1e-16)) * weight
        tree, placed = grow_and_place(grower, g.astype(np.float32), h.astype(np.float32), key=m)
        trees.append(tree)
        margin[:, 0] += placed * 0.3
    return trees


def _assert_program(tree: ExactTree, i: int, node: dict) -> None:
    if "leaf" in node:
        assert tree.first_child[i] < 0
        assert 0.3 * tree.value[i] == pytest.approx(node["leaf"], rel=1e-5, abs=1e-6)
        return
    assert tree.first_child[i] >= 0
    assert tree.feature[i] == int(node["split"][1:])
    assert tree.threshold[i] == pytest.approx(node["split_condition"], rel=1e-6, abs=1e-6)
    assert tree.gain[i] == pytest.approx(node["gain"], rel=1e-4, abs=1e-4)
    assert tree.cover[i] == pytest.approx(node["cover"], rel=1e-4)
    assert tree.missing_left[i] == (node["missing"] == node["yes"])
    below = {child["nodeid"]: child for child in node["children"]}
    _assert_program(tree, tree.first_child[i], below[node["yes"]])
    _assert_program(tree, tree.first_child[i] + 1, below[node["no"]])


def _program(X, y, weight, **parameters) -> list[dict]:
    xgb = pytest.importorskip("xgboost")
    settings = {
        "objective": "binary:logistic", "tree_method": "exact", "max_depth": 6, "eta": 0.3,
        "base_score": 0.5, "nthread": 1,
    }  # fmt: skip
    data = xgb.DMatrix(X, label=y, weight=weight)
    booster = xgb.train(settings | parameters, data, num_boost_round=3)
    dump = booster.get_dump(with_stats=True, dump_format="json")
    return [json.loads(tree) for tree in dump]


CASES = {
    "plain": {},
    "missing": {"missing": 0.2},
    "weights": {"weights": True},
    "missing and weights": {"missing": 0.4, "weights": True},
    "gamma": {"parameters": {"gamma": 2.0}},
    "alpha": {"parameters": {"alpha": 0.5, "lambda": 0.2}, "missing": 0.1},
    "max_delta_step": {"parameters": {"max_delta_step": 0.5}},  # ties stay ties in 32 bits
    "min_child_weight": {"parameters": {"min_child_weight": 8.0}},
    "monotone": {"parameters": {"monotone_constraints": "(1,0,-1,0,1)"}},
    "interactions": {"parameters": {"interaction_constraints": "[[0,1],[2,3,4]]"}},
}
RULES = {
    "gamma": "min_gain", "alpha": "l1", "lambda": "l2", "max_delta_step": "max_delta_step",
    "min_child_weight": "min_weight",
}  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", CASES)
def test_grows_the_trees_of_xgboost(case, seed):
    # without weights a first round has but two values of g: many gains are equal
    how = CASES[case]
    X, _, _, y = _data(seed, n=700, missing=how.get("missing", 0.0))
    weight = np.ones(len(y), np.float32)
    if how.get("weights"):
        weight = np.random.default_rng(seed).uniform(0.2, 3.0, len(y)).astype(np.float32)
    parameters = how.get("parameters", {})
    rules = PLAIN._replace(**{RULES[k]: v for k, v in parameters.items() if k in RULES})
    constraints = {}
    if case == "monotone":
        constraints["monotone"] = np.array([1, 0, -1, 0, 1])
    if case == "interactions":
        constraints["groups"] = np.array([[1], [1], [2], [2], [2]], np.uint64)
    trees = _boost(_grower(X, rules, **constraints), y, weight, rounds=3)
    program = _program(X, y, weight, **parameters)
    for tree, root in zip(trees, program):
        _assert_program(tree, 0, root)
    assert sum(len(tree.gain) for tree in trees) > 30  # there was something to compare


@pytest.mark.parametrize("seed", range(3))
def test_grows_the_trees_of_xgboost_on_sparse_input(seed):
    rng = np.random.default_rng(seed)
    X, _, _, y = _data(seed, n=900, f=8)
    stored = sp.csr_matrix(np.where(rng.random(X.shape) < 0.25, X, 0).astype(np.float32))
    grower = ExactGrower(SparseMatrix(stored), PLAIN, zero_is_missing=True)
    assert grower.lists.many.sum() == stored.nnz  # nothing else is ever listed
    trees = _boost(grower, y, np.ones(len(y), np.float32), rounds=3)
    for tree, root in zip(trees, _program(stored, y, None)):
        _assert_program(tree, 0, root)


# ---------------------------------------------------------------------- other ways to the same tree
@pytest.mark.parametrize("n_jobs", [2, 3, 8])
def test_threads_change_nothing(n_jobs, monkeypatch):
    monkeypatch.setattr(
        "arboretum.engine.parallel._WORTH", 0
    )  # several threads for little data, too
    X, g, h, _ = _data(4, n=2000, missing=0.1)
    how = {"rules": PLAIN._replace(node_columns=3, min_gain=0.5)}
    one = grow(_grower(X, **how), g, h, key=7)
    assert _same(grow(_grower(X, n_jobs=n_jobs, **how), g, h, key=7), one)
    assert len(one.gain) > 20


def test_the_order_of_rows_changes_nothing():
    X, g, h, _ = _data(5, missing=0.1)
    order = np.random.default_rng(0).permutation(len(X))
    assert _same(grow(_grower(X[order]), g[order], h[order], key=0), grow(_grower(X), g, h, key=0))


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_sample_of_rows_is_a_smaller_table(missing):
    X, g, h, _ = _data(6, missing=missing)
    X = np.round(X, 1)  # ties: marks must survive the filter
    rows = np.flatnonzero(np.random.default_rng(1).random(len(X)) < 0.6).astype(np.uint32)
    whole = _grower(X)
    tree = grow(whole, g, h, key=0, rows=rows)
    alone = grow(_grower(X[rows]), g[rows], h[rows], key=0)
    for name in ("first_child", "feature", "threshold", "missing_left", "count"):
        assert np.array_equal(getattr(tree, name), getattr(alone, name), equal_nan=True)
    assert tree.value == pytest.approx(alone.value)
    assert _same(grow(whole, g, h, key=0), grow(_grower(X), g, h, key=0))  # and no trace is left


def test_factors_multiply_derivatives():
    X, g, h, _ = _data(7)
    rows = np.arange(0, len(X), 2, dtype=np.uint32)
    factor = np.where(rows % 4 == 0, 1, 3).astype(np.float32)
    by_factor = grow(_grower(X), g, h, key=0, rows=rows, factor=factor)
    alone = grow(_grower(X[rows]), g[rows] * factor, h[rows] * factor, key=0)
    assert np.array_equal(by_factor.feature, alone.feature)
    assert by_factor.value == pytest.approx(alone.value)


def test_kinds_of_matrices_make_the_same_tree():
    X, g, h, _ = _data(8)
    X = np.where(np.random.default_rng(2).random(X.shape) < 0.5, X, 0)  # zeros are values
    X[::7, 1] = np.nan
    dense = _grower(X)
    tree = grow(dense, g, h, key=0)
    for matrix in (FrameMatrix(list(X.T)), SparseMatrix(sp.csc_matrix(X))):
        grower = ExactGrower(matrix, PLAIN)
        assert _same(grow(grower, g, h, key=0), tree)
        for some in (np.arange(300, dtype=np.uint32), np.arange(0, 300, 3, dtype=np.uint32)):
            reached = grower.leaves_of(tree, some)
            assert np.array_equal(reached, dense.leaves_of(tree, some))
            assert len(np.unique(reached)) > 1
            _, placed = grow_and_place(grower, g, h, rows=some)  # others go by their values
            assert np.array_equal(placed, walked(grower, grow(grower, g, h, rows=some), 300))


def test_stored_zeros_are_zeros_and_stored_nans_missing():
    X = np.array([[0.0, np.nan], [1.0, 2.0], [0.0, 0.0], [3.0, 1.0]])
    stored = sp.csr_matrix((X.ravel(), np.tile([0, 1], 4), np.arange(0, 9, 2)), shape=X.shape)
    grower = ExactGrower(SparseMatrix(stored), PLAIN, zero_is_missing=True)
    assert grower.lists.many.ravel().tolist() == [4, 3]
    g, h = np.float32([-2, 1, 1, 3]), np.ones(4, np.float32)
    assert _same(grow(grower, g, h, key=0), grow(_grower(X), g, h, key=0))


# ---------------------------------------------------------------------- which columns
def _depths(tree: ExactTree) -> np.ndarray:
    depth = np.zeros(len(tree.first_child), int)
    for node in np.flatnonzero(tree.first_child >= 0):
        depth[tree.first_child[node] : tree.first_child[node] + 2] = depth[node] + 1
    return depth


def test_a_tree_asks_only_for_its_columns():
    X, g, h, _ = _data(9)
    tree = grow(_grower(X), g, h, key=0, columns=np.array([1, 3]))
    alone = grow(_grower(X[:, [1, 3]]), g, h, key=0)
    inner = tree.first_child >= 0
    assert np.array_equal(tree.feature[inner], np.array([1, 3])[alone.feature[inner]])
    assert np.array_equal(tree.threshold, alone.threshold, equal_nan=True)


def test_columns_are_drawn_by_level_and_by_node():
    X, g, h, _ = _data(10, f=8)
    by_level = grow(_grower(X, PLAIN._replace(level_columns=1)), g, h, key=3)
    depth, inner = _depths(by_level), by_level.first_child >= 0
    used = [set(by_level.feature[inner & (depth == d)].tolist()) for d in range(depth.max())]
    assert all(len(one) == 1 for one in used)
    assert len(set.union(*used)) > 1
    by_node = grow(_grower(X, PLAIN._replace(node_columns=1)), g, h, key=3)
    assert len(set(by_node.feature[_depths(by_node) == 3].tolist())) > 2
    again = _grower(X, PLAIN._replace(node_columns=1))
    assert _same(grow(again, g, h, key=3), by_node)
    assert not _same(grow(again, g, h, key=4), by_node)


# ---------------------------------------------------------------------- limits
def test_leaves_rows_and_depth_are_limited():
    X, g, h, _ = _data(11)
    few = grow(_grower(X, PLAIN._replace(max_leaves=5)), g, h, key=0)
    assert (few.first_child < 0).sum() == 5
    large = grow(_grower(X, PLAIN._replace(min_rows=30.0)), g, h, key=0)
    assert 30 <= large.count[large.first_child < 0].min() < 60
    deep = grow(_grower(X, PLAIN._replace(max_depth=40, min_weight=0.0)), g, h, key=0)
    assert 8 < _depths(deep).max() <= 40
    assert len(grow(_grower(X, PLAIN._replace(max_depth=0)), g, h, key=0).gain) == 1


def test_a_root_of_too_little_cover_answers_nothing():
    tree = grow(
        _grower(np.array([[1.0], [2.0]])), np.float32([1, 2]), np.full(2, 0.1, np.float32), 0
    )
    assert tree.value.tolist() == [0.0]


def test_monotone_answers_rise_along_the_column():
    X, g, h, _ = _data(12)
    g = (g - 3 * np.sin(3 * X[:, 0])).astype(np.float32)
    tree = grow(_grower(X, monotone=np.array([1, 0, 0, 0, 0])), g, h, key=0)
    schema, _ = learn_schema(X)
    grid = np.repeat(X[:40], 50, axis=0)
    grid[:, 0] = np.tile(np.linspace(-3, 3, 50), 40)
    leaves = leaves_of(_tree(tree, schema, tree.value), DenseMatrix(grid))
    assert np.diff(tree.value[leaves].reshape(40, 50), axis=1).min() >= 0
    assert np.any(tree.feature == 0)


# ---------------------------------------------------------------------- answers
def test_rows_stand_in_their_leaves_and_walk_to_them():
    X, g, h, _ = _data(13, missing=0.2)
    X[:, 1] = np.round(X[:, 1])
    grower = _grower(X, PLAIN._replace(min_gain=1.0))
    tree, placed = grow_and_place(grower, g, h)
    assert np.array_equal(placed, walked(grower, tree, 300))
    schema, _ = learn_schema(X)
    whole = _tree(tree, schema, 2 * tree.value)
    assert np.array_equal(whole.value[leaves_of(whole, DenseMatrix(X)), 0, 0], 2 * placed)
    assert np.array_equal(whole.weight, tree.cover)
    assert (tree.end - tree.start == tree.count).all()


@pytest.mark.parametrize(
    ("values", "threshold"),
    [
        ([1.0, 2.0], np.nextafter(1.5, 0)),
        ([1.0, np.nextafter(1.0, 2)], 1.0),  # nothing lies between
        ([-1.7e308, 1.7e308], np.nextafter(0, -1)),  # their difference overflows
        ([2.0, np.nan], np.nextafter(4.000001, 0)),  # present against missing
        ([0.0, np.nan], np.nextafter(1e-6, 0)),
        ([1.7e308, np.nan], np.finfo(float).max),
        ([-np.inf, 0.0], np.nextafter(0, -1)),
    ],
)
def test_thresholds_are_the_largest_number_below_the_cut(values, threshold):
    X = np.array(values).repeat(2)[:, None]
    tree = grow(_grower(X), np.float32([-1, -1, 1, 1]), np.ones(4, np.float32), key=0)
    assert tree.threshold[0] == threshold
    assert tree.missing_left[0] == (not np.isnan(values[1]))


@pytest.mark.parametrize(
    ("g", "h"),
    [([1.0, np.nan], [1.0, 1.0]), ([1.0, np.inf], [1.0, 1.0]), ([1.0, 2.0], [1.0, -1.0])],
)
def test_derivatives_that_make_no_sense_are_refused(g, h):
    with pytest.raises(DataError, match="finite"):
        grow(_grower(np.array([[1.0], [2.0]])), np.float32(g), np.float32(h), key=0)


def test_too_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr(exact, "MAX_ROWS", 3)
    with pytest.raises(DataError, match="up to 3 rows, got 4"):
        _grower(np.zeros((4, 1)))


def test_wide_spreads_of_derivatives_lose_nothing_that_counts():
    # one row pulls a million times as hard as the others
    X, g, h, _ = _data(14)
    g[0] = 1e6
    book = grow_xgb(X, g, h, XGBSettings(max_depth=4))
    _assert_textbook(X, grow(_grower(X, PLAIN._replace(max_depth=4)), g, h, key=0), 0, book)


# ---------------------------------------------------------------------- in one call
WAYS = {
    "plain": {},
    "drawn": {
        "subsample": 0.7, "colsample_bytree": 0.8, "colsample_bylevel": 0.8, "colsample_bynode": 0.7,
    },
    "pruned": {"gamma": 0.5, "max_depth": 0},
    "bent": {"reg_alpha": 0.2, "max_delta_step": 0.4, "min_child_weight": 0.3},
    "constrained": {
        "monotone_constraints": (1, -1, 0, 0, 0), "interaction_constraints": [[0, 1], [2, 3, 4]],
    },
}  # fmt: skip


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("way", WAYS)
def test_rounds_in_one_call_are_those_grown_level_by_level(way, missing, monkeypatch):
    X, _, weight, y = _data(7, n=90, missing=missing)
    y = y + (X[:, 1] > 0.5)
    model = XGBClassifier(tree_method="exact", n_estimators=6, random_state=1, **WAYS[way])
    together = saved(model.fit(X, y, sample_weight=weight))
    monkeypatch.setattr(ExactGrower, "is_small", lambda *_: False)
    assert saved(model.fit(X, y, sample_weight=weight)) == together


def test_dart_drops_exact_trees():
    X, _, _, y = _data(3, n=80)
    how = {"n_estimators": 8, "booster": "dart", "rate_drop": 0.5, "tree_method": "exact"}
    model = XGBClassifier(**how).fit(X, y)
    assert len(np.unique(model.ensemble_.weights)) > 1
    assert model.score(X, y) > 0.9
