"""The engine grows what the textbook would, for every criterion and every option both have.

Small random tables full of ties are grown by the engine and checked node by node (textbook_walk.py).
Pruning is compared on tables without ties, where both must give the very same tree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import PredefinedSplit

from arboretum import CARTClassifier, CARTRegressor
from arboretum.grow import choose
from arboretum.structure.tree import LEAF
from arboretum.textbook import pruning
from arboretum.textbook.cart import grow, predict
from arboretum.textbook.impurities import CLASS_CRITERIA, CRITERIA
from arboretum.textbook.splits import Rules, candidates
from tests.cart.textbook_walk import Walk, has_bit

few = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=6,
    suppress_health_check=list(HealthCheck),
)
many = settings(few, max_examples=40)


# ---------------------------------------------------------------------- random problems
@dataclass(frozen=True)
class Problem:
    """A training table in codes, and what a tree on it must respect."""

    X: np.ndarray
    y: np.ndarray  # (n, outputs)
    w: np.ndarray | None
    kinds: tuple[str, ...]
    options: dict

    @property
    def weights(self) -> np.ndarray:
        return np.ones(len(self.X)) if self.w is None else self.w


def fit(criterion: str, problem: Problem):
    model = CARTClassifier if criterion in CLASS_CRITERIA else CARTRegressor
    kinds = np.array(problem.kinds)
    y = problem.y[:, 0] if problem.y.shape[1] == 1 else problem.y
    return model(
        criterion=criterion,
        categorical_features=np.flatnonzero(kinds == "categorical").tolist(),
        ordinal_features=np.flatnonzero(kinds == "ordinal").tolist(),
        n_jobs=1,
        **problem.options,
    ).fit(problem.X, y, problem.w)


def textbook_rules(criterion: str, problem: Problem) -> Rules:
    unknown = ("max_bins", "max_features", "splitter", "random_state")
    options = {name: value for name, value in problem.options.items() if name not in unknown}
    share = options.pop("min_weight_fraction_leaf", 0.0)
    signs = options.pop("monotonic_cst", None)
    penalty = options.pop("category_penalty", 1.0)
    classes = None
    if criterion in CLASS_CRITERIA:
        classes = tuple(int(column.max()) + 1 for column in problem.y.T)
    return Rules(
        criterion,
        n_classes=classes,
        kinds=problem.kinds,
        min_weight_leaf=share * problem.weights.sum(),
        monotonic_cst=signs if signs and any(signs) else None,
        category_penalty=penalty,
        **options,
    )


def check(criterion: str, problem: Problem) -> Walk:
    """Grow a tree, in one call or level by level, and check every node of it."""
    in_one_call = choose.FEW_ROWS if len(problem.X) % 2 else 0
    with patch.object(choose, "FEW_ROWS", in_one_call):
        model = fit(criterion, problem)
    encoded = model._encode(problem.X).rows(0, len(problem.X))
    rules = textbook_rules(criterion, problem)
    tries = "all"
    if problem.options.get("splitter") == "random":
        tries = "some cuts"
    elif problem.options.get("max_features") is not None:
        tries = "some columns"
    walk = Walk(model.tree_, encoded, problem.y, problem.weights, rules, tries).check()
    used = problem.weights > 0
    assert_array_equal(model.apply(problem.X)[used], walk.leaf_of[used])
    return walk


def columns(rng: np.random.Generator, n: int, kinds: tuple[str, ...], missing: float) -> np.ndarray:
    """Columns of few values (ties!) or many; every category there is, is met."""
    X = np.empty((n, len(kinds)))
    for f, kind in enumerate(kinds):
        if kind == "numeric" and rng.random() < 0.4:
            X[:, f] = rng.normal(size=n)
        else:
            X[:, f] = rng.integers(0, rng.integers(2, 7), n)
    X[rng.random(X.shape) < missing] = np.nan
    for f, kind in enumerate(kinds):
        if kind == "categorical":  # codes 0, 1, ... without gaps
            known = ~np.isnan(X[:, f])
            X[known, f] = np.unique(X[known, f], return_inverse=True)[1]
    return X


def targets(
    rng: np.random.Generator, criterion: str, signal: np.ndarray, n_classes: int, outputs: int
) -> np.ndarray:
    n = len(signal)
    noisy = signal[:, None] + rng.normal(size=(n, outputs))
    if criterion in CLASS_CRITERIA:
        y = np.digitize(noisy, np.linspace(-0.7, 0.7, n_classes - 1) if n_classes > 2 else [0.0])
        return np.column_stack([np.unique(column, return_inverse=True)[1] for column in y.T])
    if criterion == "poisson":
        y = rng.poisson(np.exp(noisy / 2)).astype(float)
        y[0] += 1.0  # not all zero
        return y if rng.random() < 0.5 else y * 0.37
    return noisy if rng.random() < 0.5 else np.round(noisy)


def weights(rng: np.random.Generator, n: int, kind: str) -> np.ndarray | None:
    if kind == "none":
        return None
    w = rng.integers(1, 5, n).astype(float) if kind == "whole" else rng.uniform(0.1, 3.0, n)
    if kind == "some zero":
        w[rng.random(n) < 0.2] = 0.0
        w[:2] = 1.0
    return w


LIMITS = {
    "max_depth": st.integers(1, 3),
    "min_samples_leaf": st.integers(2, 4),
    "min_samples_split": st.integers(3, 8),
    "min_weight_fraction_leaf": st.sampled_from([0.05, 0.1, 0.2]),
    "min_impurity_decrease": st.sampled_from([0.01, 0.05]),
    "category_penalty": st.sampled_from([0.0, 0.5, 3.0]),
    "max_bins": st.just(200),  # more than there are values: kept as codes, the splits stay the same
}


@st.composite
def problems(
    draw,
    criterion: str,
    rows: tuple[int, int] = (5, 30),
    kinds: tuple[str, ...] = ("numeric",),
    outputs: tuple[int, ...] = (1,),
    missing: tuple[float, ...] = (0.0,),
    n_classes: tuple[int, ...] = (2, 3),
    **options,
) -> Problem:
    outputs = (1,) if criterion == "error" else outputs  # of several outputs it is refused
    n = draw(st.integers(*rows), label="rows")
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    kinds = tuple(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3), label="kinds"))
    X = columns(rng, n, kinds, draw(st.sampled_from(missing), label="missing"))
    signal = np.nan_to_num(X[:, 0], nan=1.0) / 2 - 0.5
    y = targets(
        rng, criterion, signal, draw(st.sampled_from(n_classes)), draw(st.sampled_from(outputs))
    )
    w = weights(rng, n, draw(st.sampled_from(["none", "whole", "floats", "some zero"])))
    if criterion in CLASS_CRITERIA and w is not None:  # a class of weight 0 stays a class
        w[np.concatenate([np.unique(column, return_index=True)[1] for column in y.T])] = 1.0
    if criterion == "poisson" and w is not None:
        w[0] = 1.0
    for name in draw(st.lists(st.sampled_from(list(LIMITS)), max_size=2, unique=True)):
        options = {name: LIMITS[name], **options}
    chosen = draw(st.fixed_dictionaries(options), label="options")
    if "monotonic_cst" in chosen:
        signs = zip(chosen["monotonic_cst"], kinds)
        chosen["monotonic_cst"] = tuple(s * (kind != "categorical") for s, kind in signs)
    return Problem(X, y, w, kinds, chosen)


ALL_KINDS = ("numeric", "ordinal", "categorical")
THEMES = {
    "numbers": {},
    "few values": {"rows": (64, 90), "missing": (0.0, 0.1)},  # so few that they are counted
    "ranks": {"kinds": ("ordinal", "numeric"), "missing": (0.0, 0.2)},
    "missing": {"missing": (0.1, 0.3, 0.6)},
    "categories": {"kinds": ("categorical", "numeric"), "missing": (0.0, 0.2)},
    "outputs": {"kinds": ALL_KINDS, "outputs": (2, 3), "missing": (0.0, 0.2)},
    "best first": {
        "kinds": ALL_KINDS,
        "missing": (0.0, 0.2),
        "max_leaf_nodes": st.integers(2, 6),
    },
    "surrogates": {
        "kinds": ALL_KINDS,
        "missing": (0.0, 0.2, 0.4),
        "surrogates": st.integers(1, 3),
    },
    "monotone": {
        "kinds": ALL_KINDS,
        "missing": (0.0, 0.2),
        "n_classes": (2,),
        "monotonic_cst": st.tuples(*[st.sampled_from([-1, 0, 1])] * 3),
    },
    "monotone surrogates": {
        "missing": (0.2, 0.4),
        "n_classes": (2,),
        "monotonic_cst": st.tuples(*[st.sampled_from([-1, 1])] * 3),
        "surrogates": st.just(2),
    },
    "drawn columns": {
        "rows": (5, 50),
        "kinds": ALL_KINDS,
        "missing": (0.0, 0.2),
        "max_features": st.integers(1, 2),
        "random_state": st.integers(0, 99),
    },
    "random cuts": {
        "kinds": ALL_KINDS,
        "missing": (0.0, 0.2),
        "splitter": st.just("random"),
        "random_state": st.integers(0, 99),
    },
}


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    "examples", [few, pytest.param(many, marks=pytest.mark.slow)], ids=["", "many"]
)
def test_every_node_is_one_the_textbook_would_make(theme, criterion, examples):
    @examples
    @given(problems(criterion, **THEMES[theme]))
    def run(problem):
        check(criterion, problem)

    run()


NAN = np.nan
HARD = {
    # below the root a node misses one column altogether: nothing to judge it by
    "nothing known": Problem(
        np.array([[NAN, -8], [0, 2], [1, NAN], [NAN, NAN], [1, -20], [NAN, 1], [NAN, -9], [0, -1]]),
        np.array([0, 0, 1, 1, 0, 1, 1, 0]),
        None,
        ("numeric", "numeric"),
        {"surrogates": 1},
    ),
    # one side of a cut holds nothing but zeros, which sums of large whole numbers must not hide
    "zeros on one side": Problem(
        np.array(
            [[2, NAN, 4], [NAN, NAN, 1], [NAN, 0.6, 2], [0, 0.4, 4], [NAN, NAN, 0], [3, NAN, 1]]
        ),
        np.array([0.37, 1.85, 0.74, 1.11, 0.37, 0.0]),
        None,
        ("ordinal", "numeric", "numeric"),
        {"surrogates": 1},
    ),
    # the best cut lies inside a run of one class, whose beginning is too light a side
    "a run cut short": Problem(
        np.arange(28.0)[:, None],
        np.array([int(c) for c in "1221101011112212111110012111"]),
        np.full(28, 2.0),
        ("numeric",),
        {"min_weight_fraction_leaf": 0.115, "max_depth": 1},
    ),
    # weights are fractions and there are categories: the bounds of the answers need the same scale
    "bounds": Problem(
        np.column_stack(
            [
                [7, 2, 0, 2, 3, 7, 4, 0, 3, 5, 7, 6, 8, 1.0],
                [0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 1],
            ]
        ),
        np.array([0, 1, 0, 0, 0, 0, 1, 0, 1, 1, 0, 1, 1, 0]),
        np.array([5, 1, 4, 1, 7, 2, 4, 7, 4, 5, 4, 6, 5, 5]) / 4,
        ("numeric", "categorical"),
        {"monotonic_cst": (1, 0)},
    ),
    # each side must weigh 1.2: a single row of weight 1 is too light
    "least weight without weights": Problem(
        np.array([[-0.5], [-0.4], [-2.4], [1.8], [1.1], [-0.3]]),
        np.array([0, 0, 0, 1, 0, 0]),
        None,
        ("numeric",),
        {"min_weight_fraction_leaf": 0.2},
    ),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_examples(name):
    problem = replace(HARD[name], y=HARD[name].y[:, None])
    whole = np.all(problem.y == np.floor(problem.y))
    for criterion in CRITERIA:
        if whole or criterion not in CLASS_CRITERIA:
            check(criterion, problem)


@few
@given(st.integers(0, 2**32 - 1), st.integers(11, 13), st.integers(3, 5))
def test_many_categories_of_many_classes_are_parted_well(seed, n_categories, n_classes):
    # beyond ten categories the engine cuts one order, along the first principal component of the
    # class shares: never better than the best of all subsets, and seldom much worse
    rng = np.random.default_rng(seed)
    x = np.repeat(np.arange(n_categories), 12)
    shares = rng.dirichlet(np.ones(n_classes), n_categories)
    y = np.array([rng.choice(n_classes, p=shares[code]) for code in x])
    y[:n_classes] = np.arange(n_classes)
    problem = Problem(
        x[:, None].astype(float), y[:, None], None, ("categorical",), {"max_depth": 1}
    )
    walk = check("gini", problem)
    one_class_against_the_rest = max(
        c.gain
        for c in candidates(
            problem.X, y, rules=Rules(kinds=("categorical",), n_classes=n_classes, exhaustive=False)
        )
    )
    assert walk.tree.gain[0] >= 0.8 * one_class_against_the_rest


# ---------------------------------------------------------------------- the very same tree
def make(seed: int, criterion: str, n: int = 90):
    """Random rows without ties: uneven weights give every partition a gain of its own."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 5, n)])
    X[rng.random(n) < 0.15, 1] = np.nan
    signal = np.sin(2 * X[:, 0]) + np.nan_to_num(X[:, 1], nan=1.5) + (X[:, 2] % 2)
    y = signal + 0.7 * rng.normal(size=n)
    if criterion in CLASS_CRITERIA:
        y = np.digitize(y, [-0.2, 1.2])
    elif criterion == "poisson":
        y = rng.poisson(np.exp(y / 2)).astype(float)
    return X, y, rng.integers(20, 200, n) / 64  # sums of these weights are exact


KINDS = ("numeric", "numeric", "categorical")


def model_of(criterion: str, **options):
    model = CARTClassifier if criterion in CLASS_CRITERIA else CARTRegressor
    return model(criterion=criterion, categorical_features=[2], **options)


def assert_same_tree(tree, node, i=0):
    assert tree.count[i] == len(node.rows)
    assert_allclose(tree.value[i], node.value, atol=1e-12)
    assert (tree.kind[i] == LEAF) == node.is_leaf, node.path
    if not node.is_leaf:
        assert tree.feature[i] == node.chosen.feature
        assert_allclose(tree.gain[i], node.chosen.gain, rtol=1e-9, atol=1e-15)
        children = (node.left, node.right)
        if any(has_bit(tree, tree.bits_start[i], c) for c in node.chosen.right_categories):
            children = (node.right, node.left)  # which side is called left is no matter
        for k, child in enumerate(children):
            assert_same_tree(tree, child, tree.first_child[i] + k)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_whole_tree_and_its_pruning_path(criterion):
    X, y, w = make(0, criterion)
    model = model_of(criterion, min_samples_leaf=4)
    tree = grow(
        X,
        y,
        w,
        Rules(
            criterion,
            kinds=KINDS,
            min_samples_leaf=4,
            exhaustive=criterion in CLASS_CRITERIA,
            category_penalty=1.0,
        ),
    )
    assert_same_tree(model.fit(X, y, w).tree_, tree)
    fresh = make(1, criterion)[0]
    assert_allclose(model.predict(fresh), predict(tree, fresh), atol=1e-12)
    path = model.cost_complexity_pruning_path(X, y, w)
    steps = pruning.pruning_path(tree)
    assert len(steps) > 5
    assert_allclose(path.ccp_alphas, [step.alpha for step in steps], atol=1e-12)
    assert_allclose(path.impurities, [step.risk for step in steps], atol=1e-12)
    assert_array_equal(path.n_leaves, [step.n_leaves for step in steps])
    between = np.sqrt(path.ccp_alphas[1:-1] * path.ccp_alphas[2:])
    for alpha in between[
        between > 1e-9
    ]:  # splits that leave the error as it is go at 0, to a bit or two
        pruned = model_of(criterion, min_samples_leaf=4, ccp_alpha=alpha).fit(X, y, w)
        assert_same_tree(pruned.tree_, pruning.prune(tree, alpha))


@pytest.mark.parametrize("rule", ["min", "1se"])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error"])
def test_pruning_by_cross_validation(criterion, rule):
    X, y, w = make(2, criterion)
    fold_of = np.random.default_rng(3).integers(0, 4, len(y))
    rules = Rules(
        criterion,
        kinds=KINDS,
        min_samples_leaf=4,
        exhaustive=criterion in CLASS_CRITERIA,
        category_penalty=1.0,
    )
    choice = pruning.choose_alpha(X, y, w, rules, fold_of, rule)
    model = model_of(criterion, min_samples_leaf=4)
    model.prune_cv(X, y, cv=PredefinedSplit(fold_of), rule=rule, sample_weight=w)
    curve = model.pruning_curve_
    assert_allclose(curve.alpha, [row.alpha for row in choice.table], rtol=1e-9, atol=1e-12)
    assert_array_equal(curve.n_leaves, [row.n_leaves for row in choice.table])
    assert_allclose(curve.mean_score, [row.mean_error for row in choice.table], rtol=1e-9)
    assert_allclose(curve.std_error, [row.standard_error for row in choice.table], rtol=1e-9)
    assert curve.alpha[curve.best] == pytest.approx(choice.alpha, rel=1e-9)
    assert_same_tree(model.tree_, choice.tree)


def test_surrogates_are_the_textbooks_where_no_two_agree_equally():
    rng = np.random.default_rng(4)
    n = 60
    X = rng.normal(size=(n, 4))
    X[:, 1:] = X[:, :1] * [1.0, -0.8, 0.6] + 0.5 * X[:, 1:]
    X[:, 3] = np.digitize(X[:, 3], [-1, -0.3, 0.3, 1])
    y = 2 * X[:, 0] + rng.normal(size=n)
    w = rng.integers(20, 200, n) / 64
    X[rng.random(X.shape) < 0.1] = np.nan
    kinds = ("numeric", "numeric", "numeric", "categorical")
    rules = Rules(
        "squared_error",
        kinds=kinds,
        max_depth=3,
        min_samples_leaf=5,
        surrogates=3,
        category_penalty=1.0,
    )
    tree = grow(X, y, w, rules)
    model = CARTRegressor(
        max_depth=3, min_samples_leaf=5, surrogates=3, categorical_features=[3]
    ).fit(X, y, w)
    assert_same_tree(model.tree_, tree)
    assert len(tree.surrogates) == 3
    start = model.tree_.surrogates.start
    assert_array_equal(
        model.tree_.surrogates.feature[start[0] : start[1]], [s.feature for s in tree.surrogates]
    )
    assert_allclose(predict(tree, X[::-1]), model.predict(X[::-1]), rtol=1e-12)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
@pytest.mark.parametrize("way", ["one call", "level by level"])
def test_missing_rows_go_right_where_both_sides_gain_the_same(criterion, way):
    X = np.array([[1, 2, 3, 5, np.nan, 10, 20, 30, 60, np.nan]]).T
    y = np.repeat([0, 1], 5)
    with patch.object(choose, "FEW_ROWS", 0 if way == "level by level" else choose.FEW_ROWS):
        model = CARTClassifier(criterion=criterion, max_depth=1).fit(X, y)
    root = grow(X, y, rules=Rules(criterion, max_depth=1))
    assert root.chosen.missing_goes == "right"
    assert model.tree_.missing_child[0] == 1
    assert model.tree_.threshold[0] == root.chosen.threshold
    assert model.predict([[np.nan]]).tolist() == predict(root, [[np.nan]]).tolist() == [1]
