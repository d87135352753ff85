"""The impurity formulas: worked examples, identities, and scikit-learn as a second opinion."""

import ast
import doctest
import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import arboretum.textbook
from arboretum.textbook.impurities import (
    CLASS_CRITERIA,
    CRITERIA,
    absolute_error,
    best_value,
    class_weights,
    conditional_entropy,
    entropy,
    friedman_improvement,
    gini,
    impurity,
    impurity_decrease,
    information_gain,
    poisson_deviance,
    squared_error,
    weighted_mean,
    weighted_median,
)

MODULES = ("", ".impurities", ".splits", ".cart", ".pruning")


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_the_docstrings(name):
    result = doctest.testmod(importlib.import_module("arboretum.textbook" + name))
    assert result.attempted > 0
    assert result.failed == 0


def test_textbook_imports_only_numpy_and_itself():
    for path in Path(arboretum.textbook.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                own = name == "arboretum.textbook" or name.startswith("arboretum.textbook.")
                root = name.split(".")[0]
                assert own or root == "numpy" or root in sys.stdlib_module_names, (path.name, name)


# ---------------------------------------------------------------------- worked examples
def test_nba_height_information_gain():
    tall = ["yes", "no", "yes", "no", "yes"]
    player = ["yes", "yes", "no", "no", "yes"]
    figures = information_gain(player, tall)
    at = {branch.value: branch for branch in figures.branches}
    assert round(figures.entropy, 3) == 0.971
    assert round(at["yes"].entropy, 3) == 0.918
    assert at["no"].entropy == 1.0
    assert (at["yes"].share, at["no"].share) == (0.6, 0.4)
    assert round(figures.gain, 5) == 0.01997
    assert_allclose(conditional_entropy(player, tall), figures.entropy - figures.gain)


def test_play_tennis_gains():
    tennis = arboretum.textbook.play_tennis()
    (outlook, temperature, humidity, wind), play = np.array(tennis.X).T, tennis.y
    gains = {
        name: round(information_gain(play, column).gain, 3)
        for name, column in [
            ("outlook", outlook),
            ("humidity", humidity),
            ("wind", wind),
            ("temperature", temperature),
        ]
    }
    assert round(information_gain(play, outlook).entropy, 3) == 0.940
    assert gains == {"outlook": 0.247, "humidity": 0.152, "wind": 0.048, "temperature": 0.029}
    assert round(information_gain(play, outlook).ratio, 3) == 0.156


def test_erratum_000_gini_before_the_split_is_gini_not_the_squared_error():
    y = np.array([0, 0, 1, 2, 2, 2])
    left = np.array([True, True, True, False, False, False])
    before = impurity("gini", y)
    assert_allclose(before, 1 - (1 / 3) ** 2 - (1 / 6) ** 2 - (1 / 2) ** 2)
    assert not np.isclose(before, np.sum((y - y.mean()) ** 2))  # the formula the note shows
    assert not np.isclose(before, squared_error(y))
    after = (impurity("gini", y[left]) + impurity("gini", y[~left])) / 2
    parts = impurity("gini", y[left]), impurity("gini", y[~left])
    assert_allclose(impurity_decrease(6.0, (3.0, 3.0), before, *parts), before - after)


# ---------------------------------------------------------------------- formulas
def test_entropy_units_and_extremes():
    assert entropy([1, 1, 1, 1]) == 2.0
    assert entropy([3, 0]) == 0.0
    assert_allclose(entropy([1, 3], base=np.e), entropy([1, 3]) * np.log(2))
    assert_allclose(gini([1, 1, 1, 1]), 0.75)


@pytest.mark.parametrize(
    ("y", "w", "median"),
    [
        ([3, 1, 2], None, 2.0),
        ([4, 1, 2, 3], None, 2.5),
        ([1, 2, 3], [1, 1, 2], 2.5),  # half of the weight is met exactly at 2
        ([1, 2, 3], [1, 1, 3], 3.0),
        ([1, 2, 3, 4], [1, 1, 0, 2], 3.0),  # a row of weight zero is not there
        ([5], [0.25], 5.0),
    ],
)
def test_weighted_median(y, w, median):
    assert weighted_median(y, w) == median


def test_an_integer_weight_is_a_repeated_row():
    rng = np.random.default_rng(0)
    y, w = rng.integers(0, 4, 30), rng.integers(1, 4, 30)
    repeated = np.repeat(y, w)
    for criterion in CRITERIA:
        assert_allclose(impurity(criterion, y, w), impurity(criterion, repeated), rtol=1e-12)
        assert_allclose(best_value(criterion, y, w), best_value(criterion, repeated), rtol=1e-12)


@pytest.mark.parametrize("number", [0.1, 1e9 + 0.1, 1e-300])
def test_equal_numbers_have_no_impurity_at_any_scale(number):
    y, w = np.full(7, number), np.linspace(0.1, 0.9, 7)
    assert weighted_mean(y, w) == number
    assert squared_error(y, w) == absolute_error(y, w) == poisson_deviance(y, w) == 0.0


def test_the_best_value_is_the_best_value():
    rng = np.random.default_rng(1)
    y, w = rng.gamma(2.0, size=25), rng.uniform(0.5, 2, 25)
    losses = {
        "squared_error": lambda v: np.sum(w * (y - v) ** 2),
        "absolute_error": lambda v: np.sum(w * np.abs(y - v)),
        "poisson": lambda v: np.sum(w * (v - y * np.log(v))),
    }
    for criterion, loss in losses.items():
        best = best_value(criterion, y, w)[0, 0]
        assert all(loss(best) <= loss(best + step) for step in (-0.1, -1e-3, 1e-3, 0.1))


def test_friedman_score_is_the_squared_error_decrease_times_the_weight():
    rng = np.random.default_rng(2)
    y, w, left = rng.normal(size=40), rng.uniform(0.5, 2, 40), rng.random(40) < 0.3
    w_left, w_right = w[left].sum(), w[~left].sum()
    parts = [squared_error(y[side], w[side]) for side in (left, ~left)]
    gain = impurity_decrease(w.sum(), (w_left, w_right), squared_error(y, w), *parts)
    assert_allclose(friedman_improvement(y, left, w), gain * w.sum(), rtol=1e-12)


def test_several_targets_are_averaged():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, (20, 2))
    for criterion in CRITERIA:
        parts = [impurity(criterion, y[:, j]) for j in (0, 1)]
        assert_allclose(impurity(criterion, y), np.mean(parts), rtol=1e-12)


def test_best_value_pads_outputs_with_fewer_classes():
    y = np.array([[0, 0], [1, 2]])
    assert best_value("gini", y, n_classes=(2, 3)).tolist() == [[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]
    assert class_weights([0, 2], [0.5, 2.0], 4).tolist() == [0.5, 0.0, 2.0, 0.0]


# ---------------------------------------------------------------------- scikit-learn
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("criterion", [c for c in CRITERIA if c not in ("friedman_mse", "error")])
def test_node_impurity_and_value_as_scikit_learn_has_them(criterion, n_outputs, weighted):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 2))
    shape = (50, n_outputs)
    classes = criterion in CLASS_CRITERIA
    y = rng.integers(0, 3, shape) if classes else rng.poisson(2.0, shape).astype(float)
    w = rng.uniform(0.2, 3, 50) if weighted else None
    model = DecisionTreeClassifier if classes else DecisionTreeRegressor
    tree = model(criterion=criterion, max_depth=2).fit(X, y, sample_weight=w).tree_
    reached = tree.decision_path(X.astype(np.float32)).toarray()
    for node in range(tree.node_count):
        rows = reached[:, node] == 1
        w_rows = None if w is None else w[rows]
        assert_allclose(impurity(criterion, y[rows], w_rows, 3), tree.impurity[node], atol=1e-12)
        value = best_value(criterion, y[rows], w_rows, 3 if classes else None)
        assert_allclose(value, tree.value[node], atol=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: impurity("ginni", [0, 1]), "unknown criterion 'ginni'"),
        (lambda: information_gain([0, 1], [1]), "same number of rows"),
        (lambda: information_gain([], []), "same number of rows"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call()
