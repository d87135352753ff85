"""The engine grows, collapses, prunes and answers as the textbook does, to the last node.

Small random tables full of ties, gaps and empty branches are compared node by node (c45_walk.py):
kind, column, threshold, groups, class weights, shares, and the answers to new rows with gaps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from arboretum import C45Classifier
from arboretum.c45 import growing
from arboretum.structure.tree import GROUPS, LEAF, MULTIWAY, THRESHOLD
from arboretum.textbook.c45 import predict_c45, predict_proba_c45
from tests.c45.c45_walk import (
    Problem,
    assert_same_tree,
    check,
    engine_proba,
    engine_tree,
    textbook_tree,
)

NAN = np.nan


def some(n: int):
    return settings(
        derandomize=True,
        deadline=None,
        database=None,
        max_examples=n,
        suppress_health_check=list(HealthCheck),
    )


# ---------------------------------------------------------------------- random problems
def made(
    seed: int,
    n: int = 90,
    n_values: tuple[int, ...] = (0, 4, 2, 0, 6),
    n_classes: int = 3,
    missing: float = 0.12,
    weights: str = "none",
    noise: float = 1.0,
    **options,
) -> Problem:
    """Numbers (some few-valued) and categories with holes; the classes follow some of it."""
    rng = np.random.default_rng(seed)
    X = np.empty((n, len(n_values)))
    for f, size in enumerate(n_values):
        X[:, f] = rng.integers(0, size, n) if size else rng.normal(size=n).round(f % 3)
    signal = np.nansum(X[:, :3] / (1 + X[:, :3].std(axis=0)), axis=1) + noise * rng.normal(size=n)
    y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    X[rng.random(X.shape) < missing] = NAN
    w = {
        "none": None,
        "whole": rng.integers(0, 4, n).astype(float),
        "parts": rng.integers(1, 40, n) / 16,
        "odd": rng.uniform(0.1, 3, n),
    }[weights]
    if w is not None:
        w[0] = 1.0
        kept = w > 0
        X, y, w = X[kept], y[kept], w[kept]
    return Problem(X, y, n_values, w, n_classes, options)


def fresh_rows(problem: Problem, n: int = 40) -> np.ndarray:
    """New rows: values met and never met, gaps."""
    rng = np.random.default_rng(99)
    X = np.empty((n, len(problem.n_values)))
    for f, size in enumerate(problem.n_values):
        X[:, f] = rng.integers(0, size, n) if size else 2 * rng.normal(size=n)
    X[rng.random(X.shape) < 0.3] = NAN
    X[0] = NAN
    return X


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "min_cases": st.sampled_from([0.5, 1, 2, 3.5, 8]),
        "criterion": st.just("gain"),
        "epsilon": st.sampled_from([0.01, 0.1, 0.3]),
        "gate": st.booleans(),
        "subset": st.booleans(),
        "max_depth": st.integers(1, 5),
        "collapse": st.booleans(),
        "pruning": st.sampled_from([None, "error", "error"]),
        "subtree_raising": st.booleans(),
        "confidence": st.sampled_from([0.5, 0.3, 0.25, 0.1, 0.01, 1e-4]),
        "error_limit": st.sampled_from(["quinlan", "weka", "binomial"]),
        "laplace": st.booleans(),
    },
)


@st.composite
def problems(draw) -> Problem:
    n = draw(st.integers(1, 70))
    kinds = draw(st.lists(st.sampled_from([0, 0, 1, 2, 3, 5, 9]), min_size=1, max_size=5))
    n_classes = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = np.empty((n, len(kinds)))
    for f, size in enumerate(kinds):
        grain = draw(st.sampled_from([2, 4, 40]))
        X[:, f] = rng.integers(0, size or grain, n)
    follow = np.floor(X.sum(axis=1) * n_classes / (X.sum(axis=1).max() + 1))
    y = np.where(rng.random(n) < draw(st.sampled_from([0.0, 0.3, 1.0])), 0, follow).astype(int)
    flip = rng.random(n) < draw(st.sampled_from([0.0, 0.2, 0.6]))
    y[flip] = rng.integers(0, n_classes, flip.sum())
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.1, 0.5, 0.9]))] = NAN
    if draw(st.booleans()) and len(kinds) > 1:
        X[:, -1] = NAN
    w = draw(st.sampled_from([None, rng.integers(1, 4, n).astype(float), rng.uniform(0.2, 2, n)]))
    return Problem(X, y, tuple(kinds), w, n_classes, draw(OPTIONS))


@some(120)
@given(problems())
def test_random_tables(problem):
    check(problem, fresh_rows(problem, 8))


@some(40)
@given(problems(), st.integers(0, 2**32 - 1))
def test_random_tables_with_rows_held_out(problem, seed):
    n = len(problem.y)
    if n < 2:
        return
    held = np.random.default_rng(seed).random(n) < 0.4
    held[:2] = True, False
    check(problem, fresh_rows(problem, 8), held)


# ---------------------------------------------------------------------- settings, one by one
WAYS = {
    "default": {},
    "grown": {"pruning": None, "collapse": False},
    "collapsed": {"pruning": None},
    "not collapsed": {"collapse": False},
    "no raising": {"subtree_raising": False},
    "gain": {"criterion": "gain"},
    "groups": {"subset": True},
    "groups, grown": {"subset": True, "pruning": None, "collapse": False},
    "shallow": {"max_depth": 2, "pruning": None},
    "small cases": {"min_cases": 0.4, "collapse": False},
    "large cases": {"min_cases": 9.5},
    "laplace": {"laplace": True, "pruning": None},
    "weka": {"error_limit": "weka"},
    "binomial": {"error_limit": "binomial"},
    "weka 0.1": {"error_limit": "weka", "confidence": 0.1},
    "binomial 0.05": {"error_limit": "binomial", "confidence": 0.05},
    "quinlan 0.5": {"confidence": 0.5, "collapse": False},
    "quinlan 0.02": {"confidence": 0.02},
}


@pytest.mark.parametrize("weights", ["none", "whole", "parts", "odd"])
@pytest.mark.parametrize("way", WAYS)
def test_every_setting(way, weights):
    sizes = []
    for seed in range(2 if weights == "none" else 1):
        problem = made(seed, n=110, weights=weights, **WAYS[way])
        tree, _ = check(problem, fresh_rows(problem))
        sizes.append(len(tree))
    assert max(sizes) > 1, "nothing was asked: the comparison is empty"


def test_the_settings_make_a_difference():
    """The options reach the trees: no two of these are the same."""
    trees = {}
    for way in ("default", "grown", "collapsed", "no raising", "gain", "groups", "large cases"):
        tree = engine_tree(made(6, n=300, **WAYS[way]))
        trees[way] = (len(tree), tree.feature.tobytes(), tree.threshold.tobytes())
    assert len(set(trees.values())) == len(trees)


def test_every_kind_of_node_is_compared():
    kinds = set()
    for subset in (False, True):
        kinds |= set(check(made(1, n=200, subset=subset, n_values=(0, 5, 2)))[0].kind.tolist())
    assert kinds == {LEAF, THRESHOLD, MULTIWAY, GROUPS}


def test_raising_takes_place():
    """Among these trees some node is a raised branch: with and without raising differ."""
    differ = 0
    for seed in range(6):
        problem = made(seed, n=160, noise=2.0, confidence=0.3, min_cases=1)
        without = replace(problem, options={**problem.options, "subtree_raising": False})
        differ += len(check(problem)[0]) != len(check(without)[0])
    assert differ >= 2


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("subset", [False, True])
def test_held_out_rows(seed, subset):
    problem = made(seed, n=160, weights="parts" if seed % 2 else "none", subset=subset)
    held = np.random.default_rng(seed).random(len(problem.y)) < 1 / 3
    tree, book = check(problem, fresh_rows(problem), held)
    grown, _ = check(
        replace(
            problem,
            X=problem.X[~held],
            y=problem.y[~held],
            w=None if problem.w is None else problem.w[~held],
            options={**problem.options, "pruning": None},
        )
    )
    assert len(tree) <= len(grown)
    assert book.weight == pytest.approx(problem.weights[~held].sum())


# ---------------------------------------------------------------------- through the estimator
def compact(problem: Problem) -> Problem:
    """The table as `fit` sees it: only categories that occur count."""
    X, sizes = problem.X.copy(), []
    for f, size in enumerate(problem.n_values):
        known = ~np.isnan(X[:, f])
        if size:
            values, X[known, f] = np.unique(X[known, f], return_inverse=True)
            size = len(values)
        sizes.append(size)
    return replace(problem, X=X, n_values=tuple(sizes))


@pytest.mark.parametrize("way", WAYS)
def test_fit_is_what_the_textbook_does(way):
    problem = compact(made(7, n=110, n_values=(0, 4, 2, 0, 9), weights="parts", **WAYS[way]))
    categorical = [f for f, size in enumerate(problem.n_values) if size]
    model = C45Classifier(categorical_features=categorical, **WAYS[way])
    model.fit(problem.X, problem.y, problem.w)
    assert_same_tree(model.trees_[0], engine_tree(problem))
    book = textbook_tree(problem)
    fresh = fresh_rows(problem)
    laplace = WAYS[way].get("laplace", False)
    assert_allclose(model.predict_proba(fresh), predict_proba_c45(book, fresh, laplace), atol=1e-9)
    known = ~np.isnan(problem.X).any(axis=1)
    assert known.sum() > 20
    assert_array_equal(model.predict(problem.X[known]), predict_c45(book, problem.X[known]))


def test_fit_holds_out_rows_and_prunes_on_them():
    problem = compact(made(2, n=200))
    model = C45Classifier(
        pruning="reduced_error", random_state=4, categorical_features=[1, 2, 4], holdout=0.3
    )
    kept, held_rows = model._hold_out(problem.y)
    model.fit(problem.X, problem.y)
    assert (len(kept), len(held_rows)) == (140, 60)
    assert_array_equal(np.sort(np.concatenate([kept, held_rows])), np.arange(200))
    share = np.bincount(problem.y[held_rows]) / np.bincount(problem.y)
    assert_allclose(share, 0.3, atol=0.02)  # class by class
    held = np.zeros(200, bool)
    held[held_rows] = True
    # what fit found is what growing on the one part and pruning on the other gives
    _, book = check(replace(problem, options={}), held=held)
    assert_allclose(model.predict_proba(problem.X), predict_proba_c45(book, problem.X), atol=1e-9)


def test_ordinal_columns_are_numbers():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (120, 2)).astype(float)
    y = ((X[:, 0] > 2) ^ (rng.random(120) < 0.2)).astype(int)
    problem = Problem(X, y, (0, 0))
    model = C45Classifier(ordinal_features=[0, 1]).fit(X, y)
    tree, _ = check(problem)
    assert_array_equal(model.trees_[0].threshold, tree.threshold)
    assert_allclose(model.predict_proba(X), engine_proba(tree, X))


def test_class_weights_are_weights():
    problem = compact(made(5, n=120))
    factor = np.array([1.0, 2.5, 0.5])
    model = C45Classifier(class_weight=dict(enumerate(factor)), categorical_features=[1, 2, 4]).fit(
        problem.X, problem.y
    )
    weighed = replace(problem, w=factor[problem.y])
    assert_same_tree(model.trees_[0], check(weighed)[0])
    balanced = C45Classifier(class_weight="balanced", categorical_features=[1, 2, 4]).fit(
        problem.X, problem.y
    )
    w = len(problem.y) / (3 * np.bincount(problem.y))[problem.y]
    assert_same_tree(balanced.trees_[0], check(replace(problem, w=w))[0])


# ---------------------------------------------------------------------- corners
CORNERS = {
    "one row": Problem(np.array([[1.0, 0.0]]), np.array([0]), (0, 3)),
    "one row, all missing": Problem(np.array([[NAN, NAN]]), np.array([1]), (0, 3)),
    "one class": Problem(np.arange(20.0)[:, None], np.zeros(20, int), (0,), n_classes=1),
    "one class of two": Problem(np.arange(20.0)[:, None], np.ones(20, int), (0,)),
    "all missing": Problem(np.full((12, 3), NAN), np.arange(12) % 2, (0, 4, 2)),
    "constant": Problem(np.zeros((12, 2)), np.arange(12) % 2, (0, 4)),
    "one category": Problem(np.zeros((12, 1)), np.arange(12) % 2, (1,)),
    "two rows": Problem(np.array([[0.0], [1.0]]), np.array([0, 1]), (0,), options={"min_cases": 1}),
    "exactly twice min_cases": Problem(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), (0,)),
    "light rows": Problem(
        np.arange(30.0)[:, None], np.arange(30) // 15, (0,), np.full(30, 0.2), options={}
    ),
    "heavy rows": Problem(
        np.arange(30.0)[:, None] % 7, np.arange(30) // 11 % 2, (0,), np.full(30, 1e6)
    ),
    "neighbouring floats": Problem(
        1.0 + np.arange(16)[:, None] * np.finfo(float).eps, np.arange(16) // 8, (0,)
    ),
    "huge": Problem(np.linspace(-1.7, 1.7, 12)[:, None] * 1e308, np.arange(12) // 6, (0,)),
    "zeros of both signs": Problem(
        np.where(np.arange(24) % 2, -0.0, 0.0)[:, None] + (np.arange(24) > 15)[:, None],
        (np.arange(24) > 15).astype(int),
        (0,),
    ),
    "a category per row": Problem(np.arange(24.0)[:, None], np.arange(24) % 3, (24,), n_classes=3),
    "a category per row, tiny min_cases": Problem(
        np.arange(24.0)[:, None], np.arange(24) % 3, (24,), n_classes=3, options={"min_cases": 1}
    ),
    "more classes than rows": Problem(
        np.arange(5.0)[:, None], np.arange(5), (0,), n_classes=9, options={"min_cases": 1}
    ),
}


@pytest.mark.parametrize("subset", [False, True])
@pytest.mark.parametrize("pruning", [None, "error"])
@pytest.mark.parametrize("name", CORNERS)
def test_corners(name, pruning, subset):
    problem = CORNERS[name]
    problem = replace(problem, options={**problem.options, "pruning": pruning, "subset": subset})
    check(problem, fresh_rows(problem, 6))


def test_corners_that_must_split():
    for name, leaves in (
        ("two rows", 2),
        ("exactly twice min_cases", 2),
        ("neighbouring floats", 2),
        ("huge", 2),
        ("zeros of both signs", 2),
        ("light rows", 2),
    ):
        assert engine_tree(CORNERS[name]).n_leaves == leaves, name


def test_empty_branches():
    """Categories declared but never met: an empty leaf each, which answers as its parent."""
    problem = made(4, n=120, n_values=(0, 4, 2), missing=0.05)
    problem = replace(problem, n_values=(0, 11, 5), options={"pruning": None})
    tree, book = check(problem, fresh_rows(problem))
    empty = np.flatnonzero(tree.weight == 0)
    assert len(empty) > 3
    assert_allclose(tree.value[empty], tree.value[tree.parent[empty]])
    assert tree.count[empty].sum() == 0
    for laplace in (False, True):
        options = {"pruning": None, "laplace": laplace}
        check(replace(problem, options=options), fresh_rows(problem))
    assert any(node.stop == "empty" for node in book)


def test_groups_take_in_the_categories_that_are_not_there():
    problem = replace(made(6, n=150, n_values=(0, 7, 2)), n_values=(0, 12, 2))
    problem = replace(problem, options={"subset": True, "pruning": None})
    tree, _ = check(problem, fresh_rows(problem))
    for node in np.flatnonzero(tree.kind == GROUPS):
        goes = tree.bits[tree.bits_start[node] :][:12]
        assert (goes[7:] == tree.n_children[node] - 1).all()


@pytest.mark.parametrize("subset", [False, True])
@pytest.mark.parametrize("share", [0.5, 0.8, 0.97])
def test_mostly_missing(share, subset):
    for seed in range(2):
        problem = made(seed, n=90, missing=share, min_cases=1, subset=subset, pruning=None)
        check(problem, fresh_rows(problem))
        check(replace(problem, options={"subset": subset}), fresh_rows(problem))


@pytest.mark.parametrize("values", [254, 255, 256, 300])
@pytest.mark.parametrize("subset", [False, True])
def test_as_many_categories_as_a_byte_holds_and_more(values, subset):
    """Codes are uint8 up to 254 categories and their missing code, uint16 beyond."""
    rng = np.random.default_rng(values)
    n = 160 if subset else 900
    met = rng.choice(values, 12, replace=False) if subset else np.arange(values)
    x = rng.choice(met, n).astype(float)
    x[:2] = values - 1, 0
    other = rng.integers(0, 3, n).astype(float)
    y = ((x % 7 < 3) ^ (rng.random(n) < 0.1)).astype(int)
    x[rng.random(n) < 0.1] = NAN
    problem = Problem(
        np.column_stack([x, other]),
        y,
        (values, 3),
        options={"subset": subset, "pruning": None, "min_cases": 1},
    )
    assert problem.table().values.codes.dtype == (np.uint8 if values < 255 else np.uint16)
    tree, _ = check(problem, fresh_rows(problem))
    assert 0 in tree.feature


# ---------------------------------------------------------------------- ties
def test_the_first_of_equal_columns_is_asked():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 3, 60).astype(float)
    number = rng.normal(size=60).round(1)
    y = ((x == 1) ^ (number > 0.4)).astype(int)
    X = np.column_stack([number, x, number, x, x])
    tree, _ = check(Problem(X, y, (0, 3, 0, 3, 3), options={"pruning": None}))
    assert set(tree.feature[tree.kind != LEAF].tolist()) == {0, 1}


def test_equal_gains_at_several_cuts():
    """A mirrored column: the two best cuts gain the same, the lower one is taken."""
    x = np.arange(12.0)
    y = np.array([1] * 3 + [0] * 6 + [1] * 3)
    tree, book = check(Problem(x[:, None], y, (0,), options={"pruning": None}))
    assert tree.threshold[0] == 2.0
    assert len(book.candidates[0].steps) == 9


def test_equal_classes_go_to_the_first():
    problem = Problem(np.zeros((6, 1)), np.array([2, 1, 1, 2, 0, 0]), (0,), n_classes=3)
    tree, _ = check(problem)
    assert engine_proba(tree, problem.X).argmax(axis=1).tolist() == [0] * 6


@pytest.mark.parametrize("seed", range(4))
def test_few_values_and_many_ties(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (60, 6)).astype(float)
    y = (X[:, 0] + X[:, 1] + X[:, 2] > 1.5).astype(int)
    for n_values in ((0,) * 6, (2,) * 6, (0, 2, 3, 0, 2, 3)):
        for options in ({"pruning": None}, {}, {"subset": True}, {"criterion": "gain"}):
            check(Problem(X, y, n_values, options=options))


# ---------------------------------------------------------------------- levels wider than there is room
@pytest.mark.parametrize("most", [1, 40, 500])
@pytest.mark.parametrize("subset", [False, True])
def test_a_wide_level_is_divided_a_few_nodes_at_a_time(monkeypatch, most, subset):
    # a third is missing: cases multiply, and levels become wider than twice the table
    problem = made(8, n=150, missing=0.35, min_cases=0.3, subset=subset, pruning=None)
    whole = engine_tree(problem)
    calls = []
    cut = growing._cut
    monkeypatch.setattr(growing, "_cut", lambda *args: calls.append(args) or cut(*args))
    monkeypatch.setattr(growing, "_MOST_CASES", most)
    assert_same_tree(engine_tree(problem), whole, rtol=0)
    assert calls, "no level was wide enough: the test shows nothing"
    check(problem, fresh_rows(problem))
