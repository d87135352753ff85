"""to_rules: one exact, merged rule per leaf."""

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from sklearn.datasets import load_diabetes, load_iris

from arboretum.explain import RuleCondition, to_rules
from tests.explain.explain_helpers import (
    by_hand,
    categorical,
    from_sklearn,
    leaf,
    numeric,
    ordinal,
    split,
    walk,
)

A, B = leaf(3, 1), leaf(0, 2)
CITY = categorical("city", ["A", "B", "C", "D"])
SIZE = ordinal("size", ["S", "M", "L", "XL"])


def rules_of(tree, *columns):
    return [str(rule) for rule in to_rules(by_hand(tree, columns, ["no", "yes"]))]


MERGED = [
    # the tree, its column, and the IF of its first rules
    (
        split(0, split(0, A, B, threshold=3.0), B, threshold=5.0),
        numeric("a"),
        ["a <= 3", "3 < a <= 5", "a > 5"],
    ),
    (
        split(0, A, split(0, A, B, threshold=3.0), threshold=1.0),
        numeric("a"),
        ["a <= 1", "1 < a <= 3", "a > 3"],
    ),
    (
        split(0, split(0, A, B, inside=[1, 2]), B, inside=[0, 1]),
        CITY,
        ["city = B", "city = A", "city in {C, D}"],
    ),
    (
        split(0, A, split(0, B, split(0, A, B, threshold=2.0), threshold=1.0), threshold=0.0),
        SIZE,
        ["size = S", "size = M", "size = L", "size = XL"],
    ),
    (
        split(0, A, split(0, A, B, threshold=2.0), threshold=0.0),
        SIZE,
        ["size = S", "S < size <= L", "size = XL"],
    ),
    # missing values: said where they pass, and only if training saw any
    (
        split(0, split(0, A, B, threshold=1.0, missing=1), B, threshold=3.0, missing=0),
        numeric("a", has_missing=True),
        ["a <= 1", "(1 < a <= 3 or missing)", "a > 3"],
    ),
    (
        split(0, split(0, A, B, threshold=1.0, missing=1), B, threshold=3.0, missing=0),
        numeric("a"),
        ["a <= 1", "1 < a <= 3", "a > 3"],
    ),
    (
        split(0, split(0, A, B, threshold=1.0), B, threshold=np.inf, missing=1),
        numeric("a", has_missing=True),
        ["a <= 1", "a > 1", "a is missing"],
    ),
    (
        split(0, A, B, threshold=np.inf, missing=1),
        categorical("c", ["x", "y"], has_missing=True),
        ["c is present", "c is missing"],
    ),
    (
        split(0, A, B, A, B, missing=3),
        categorical("c", ["w", "x", "y", "z"], has_missing=True),
        ["c = w", "c = x", "c = y", "(c = z or missing)"],
    ),
    # a branch no row can reach: harmless, and said so
    (
        split(0, split(0, A, B, threshold=7.0, missing=0), B, threshold=5.0, missing=0),
        numeric("a"),
        ["a <= 5", "a is impossible", "a > 5"],
    ),
]


@pytest.mark.parametrize(("tree", "column", "expected"), MERGED)
def test_conditions_on_one_column_are_merged(tree, column, expected):
    found = [rule.split(" THEN ")[0].removeprefix("IF ") for rule in rules_of(tree, column)]
    assert found == expected


def test_columns_keep_the_order_of_the_path():
    tree = split(1, split(0, split(1, A, B, threshold=0.5), A, threshold=2.0), A, threshold=1.0)
    assert rules_of(tree, numeric("a"), numeric("b"))[0] == (
        "IF b <= 0.5 AND a <= 2 THEN class no (4 rows, 75.0 %)"
    )


def test_figures_of_a_rule():
    model = by_hand(split(0, A, leaf(0, 12), threshold=1.5), [numeric("a")], ["no", "yes"])
    first, second = to_rules(model)
    assert (first.prediction, first.count, first.weight, first.share) == ("no", 4, 4.0, 0.25)
    assert first.confidence == 0.75
    assert (second.prediction, second.leaf, second.confidence) == ("yes", 2, 1.0)
    assert isinstance(first.conditions[0], RuleCondition)


def test_numbers_and_single_leaves():
    model = by_hand(split(0, leaf(1.25, count=1), leaf(2.0), threshold=1.5), [numeric("a")])
    rules = to_rules(model)
    assert str(rules) == "IF a <= 1.5 THEN value 1.25 (1 row)\nIF a > 1.5 THEN value 2 (10 rows)"
    assert rules[0].confidence is None
    alone = to_rules(by_hand(leaf(3, 1), [numeric("a")], ["no", "yes"]))
    assert str(alone) == "ALWAYS class no (4 rows, 75.0 %)"
    assert alone.predict(pd.DataFrame({"a": [1.0, 2.0]})).tolist() == ["no", "no"]


def test_a_rule_set_is_a_sequence():
    rules = to_rules(by_hand(split(0, A, B, threshold=1.5), [numeric("a")], ["no", "yes"]))
    assert len(rules) == 2
    assert list(rules) == [rules[0], rules[-1]]
    assert rules[:1] == (rules[0],)


def test_names_can_be_replaced():
    model = by_hand(split(0, A, B, threshold=1.5), [numeric("a")], [0, 1])
    rules = to_rules(model, feature_names=["age"], class_names=["bad", "good"])
    assert str(rules[1]) == "IF age > 1.5 THEN class good (2 rows, 100.0 %)"
    assert rules[1].prediction == 1


def test_long_lists_are_cut_only_on_paper():
    column = categorical("c", [f"v{i}" for i in range(50)])
    model = by_hand(split(0, A, B, inside=range(40)), [column], ["no", "yes"])
    rule = to_rules(model)[0]
    assert rule.pretty(max_categories=2).startswith("IF c in {v0, v1, … 38 more} THEN")
    assert rule.conditions[0].codes == frozenset(range(40))


# ---------------------------------------------------------------------- rules are the tree
COLUMNS = [
    numeric("a"),
    numeric("b", has_missing=True),
    categorical("c", [f"c{i}" for i in range(35)], has_missing=True),  # more than one word of bits
    categorical("d", ["x", "y", "z"]),
    ordinal("e", ["S", "M", "L", "XL"]),
]


def random_tree(rng, depth):
    if depth == 0 or rng.random() < 0.15:
        return leaf(*rng.integers(1, 9, size=3))
    feature = int(rng.integers(len(COLUMNS)))
    column = COLUMNS[feature]
    if feature == 3:
        children = [random_tree(rng, depth - 1) for _ in range(3)]
        return split(3, *children, missing=int(rng.integers(3)))
    children = [random_tree(rng, depth - 1) for _ in range(2)]
    missing = int(rng.integers(2))
    if rng.random() < 0.1:
        return split(feature, *children, threshold=np.inf, missing=1)
    if column.kind == "categorical":
        inside = np.flatnonzero(rng.random(len(column.categories)) < 0.5)
        return split(feature, *children, inside=inside.tolist(), missing=missing)
    top = 3 if column.kind == "ordinal" else 6
    threshold = float(rng.integers(top)) / (1 if column.kind == "ordinal" else 2)
    return split(feature, *children, threshold=threshold, missing=missing)


def random_rows(rng, n):
    codes = [rng.integers(len(c.categories), size=n) if c.categories else None for c in COLUMNS]
    matrix = np.column_stack(
        [rng.integers(7, size=n) / 2 if c is None else c.astype(float) for c in codes]
    )
    matrix[rng.random(matrix.shape) < 0.15] = np.nan
    return matrix


def as_frame(matrix):
    """The encoded rows as the table a user would have."""
    columns = {}
    for column, values in zip(COLUMNS, matrix.T):
        if column.categories is not None:
            words = [None if np.isnan(v) else column.categories[int(v)] for v in values]
            values = pd.Series(words, dtype=object)
        columns[column.name] = values
    return pd.DataFrame(columns)[["e", "a", "d", "b", "c"]]  # found by name, not by place


@pytest.mark.parametrize("seed", range(12))
def test_every_row_satisfies_exactly_the_rule_of_its_leaf(seed):
    rng = np.random.default_rng(seed)
    model = by_hand(random_tree(rng, 6), COLUMNS, ["p", "q", "r"])
    matrix = random_rows(rng, 400)
    rules = to_rules(model)
    passed = np.ones((len(rules), len(matrix)), dtype=bool)
    for i, rule in enumerate(rules):
        for condition in rule.conditions:
            passed[i] &= condition.accepts(matrix[:, condition.feature])
    assert (passed.sum(axis=0) == 1).all()
    leaves = walk(model.tree_, matrix)
    assert np.array_equal(np.array([r.leaf for r in rules])[passed.argmax(axis=0)], leaves)

    expected = model.classes_[model.tree_.value[leaves, 0].argmax(axis=1)]
    assert np.array_equal(rules.predict(as_frame(matrix)), expected)
    for rule in rules:
        assert len({c.feature for c in rule.conditions}) == len(rule.conditions)


def test_infinite_values_find_their_rule():
    tree = split(0, split(0, A, B, threshold=np.inf, missing=1), B, threshold=1.0)
    condition = to_rules(by_hand(tree, [numeric("a")], ["no", "yes"]))[0].conditions[0]
    assert condition.accepts(np.array([-np.inf, 1.0, np.inf, np.nan])).tolist() == [1, 1, 0, 0]


def test_same_predictions_as_scikit_learn_with_missing_values():
    X, y = load_iris(return_X_y=True)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    peer = sklearn.tree.DecisionTreeClassifier(random_state=0).fit(X, y)
    # scikit-learn compares float32 values: give both the same numbers
    X = X.astype(np.float32).astype(float)
    rules = to_rules(from_sklearn(peer, has_missing=True))
    assert np.array_equal(rules.predict(X), peer.predict(X))
    assert sum(rule.count for rule in rules) == len(X)
    assert sum(rule.share for rule in rules) == pytest.approx(1.0)


def test_several_outputs():
    X, y = load_diabetes(return_X_y=True)
    X = X.astype(np.float32).astype(float)
    peer = sklearn.tree.DecisionTreeRegressor(max_depth=3).fit(X, np.column_stack([y, -y]))
    rules = to_rules(from_sklearn(peer))
    assert np.array_equal(rules.predict(X), peer.predict(X))
    assert rules[0].label.startswith("value [")
    classes = np.column_stack([y > 100, y > 200]).astype(int)
    peer = sklearn.tree.DecisionTreeClassifier(max_depth=3).fit(X, classes)
    rules = to_rules(from_sklearn(peer))
    assert np.array_equal(rules.predict(X), peer.predict(X))
    assert rules[0].prediction == tuple(rules.predictions[0].tolist())
    assert rules[0].confidence is None
