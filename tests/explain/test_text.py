"""export_text: scikit-learn's look on scikit-learn's ground, and what it cannot show."""

import numpy as np
import pytest
import sklearn.tree
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.exceptions import NotFittedError

from arboretum import CARTClassifier, LGBMRegressor
from arboretum.data.schema import Column
from arboretum.errors import ParameterError
from arboretum.explain import export_graphviz, export_text, plot_tree, to_rules
from tests.explain.explain_helpers import (
    by_hand,
    categorical,
    from_sklearn,
    leaf,
    numeric,
    ordinal,
    split,
    with_columns,
)


@pytest.mark.parametrize("max_depth", [0, 1, 2, 5, 20])
@pytest.mark.parametrize("spacing", [1, 3])
def test_same_text_as_scikit_learn_for_classes(max_depth, spacing):
    X, y = load_wine(return_X_y=True)
    names = load_wine().feature_names
    peer = sklearn.tree.DecisionTreeClassifier(random_state=0).fit(X, y)
    options = {"max_depth": max_depth, "spacing": spacing, "show_weights": True}
    expected = sklearn.tree.export_text(peer, feature_names=names, **options)
    assert export_text(from_sklearn(peer, names), **options) == expected


def test_same_text_as_scikit_learn_for_numbers():
    X, y = load_diabetes(return_X_y=True)
    peer = sklearn.tree.DecisionTreeRegressor(max_leaf_nodes=12, random_state=0).fit(X * 100, y)
    expected = sklearn.tree.export_text(peer, decimals=3)
    names = [f"feature_{i}" for i in range(10)]
    assert export_text(from_sklearn(peer), decimals=3, feature_names=names) == expected


def test_every_kind_of_split():
    columns = [
        categorical("outlook", ["sunny", "overcast", "rain"], has_missing=True),
        categorical("city", ["Bern", "Oslo", "Rome"]),
        ordinal("size", ["small", "medium", "large"]),
        numeric("age", has_missing=True),
        Column("born", "numeric", None, False, "datetime"),
    ]
    tree = split(
        0,
        split(1, leaf(3, 0), leaf(1, 2), inside=[0, 2]),
        split(2, leaf(0, 1), leaf(4, 0), threshold=1.0),
        split(
            3,
            split(4, leaf(1, 0), leaf(0, 1), threshold=86400.0),
            leaf(0, 9),
            threshold=np.inf,
            missing=1,
        ),
        missing=2,
    )
    assert export_text(by_hand(tree, columns, ["no", "yes"])) == (
        "|--- outlook = sunny\n"
        "|   |--- city in {Bern, Rome}\n"
        "|   |   |--- class: no\n"
        "|   |--- city in {Oslo}\n"
        "|   |   |--- class: yes\n"
        "|--- outlook = overcast\n"
        "|   |--- size <= medium\n"
        "|   |   |--- class: yes\n"
        "|   |--- size >  medium\n"
        "|   |   |--- class: no\n"
        "|--- outlook = rain or missing\n"
        "|   |--- age is present\n"
        "|   |   |--- born <= 1970-01-02\n"
        "|   |   |   |--- class: no\n"
        "|   |   |--- born >  1970-01-02\n"
        "|   |   |   |--- class: yes\n"
        "|   |--- age is missing\n"
        "|   |   |--- class: yes\n"
    )


def test_small_thresholds_are_not_written_as_zero():
    tree = by_hand(split(0, leaf(1e-17), leaf(5.0), threshold=0.000321), [numeric("x")])
    text = export_text(tree)
    assert "x <= 0.00032\n" in text
    assert "value: [0.00]" in text  # rounding noise next to a 5 is zero


def test_regression_shows_the_weight_of_a_leaf():
    tree = by_hand(split(0, leaf(1.0, count=7), leaf(2.0), threshold=0.5), [numeric("x")])
    assert "value: [1.00] weight: 7.00\n" in export_text(tree, show_weights=True)


def test_several_outputs_are_listed():
    X, y = load_iris(return_X_y=True)
    both = np.column_stack([y, y > 0])
    peer = sklearn.tree.DecisionTreeClassifier(max_depth=1).fit(X, both)
    text = export_text(from_sklearn(peer), class_names=[["a", "b", "c"], ["N", "Y"]])
    assert "class: [a, N]" in text
    peer = sklearn.tree.DecisionTreeRegressor(max_depth=1).fit(X, both)
    assert "value: [0.00, 0.00]" in export_text(from_sklearn(peer))


def test_long_category_lists_are_cut():
    column = categorical("c", [f"v{i}" for i in range(40)])
    model = by_hand(split(0, leaf(1, 0), leaf(0, 1), inside=range(0, 40, 2)), [column], ["a", "b"])
    assert "v38}" in export_text(model, max_categories=None)
    assert "v22, ... 8 more}" in export_text(model)
    assert "c in {v0, v2, ... 18 more}" in export_text(model, max_categories=2)


def test_line_breaks_in_names_do_not_break_lines():
    model = by_hand(
        split(0, leaf(1, 0), leaf(0, 1), threshold=1.5), [numeric("a\nb")], ["x\r", "y"]
    )
    assert export_text(model).splitlines()[:2] == ["|--- a b <= 1.50", "|   |--- class: x "]


def test_a_bare_tree_counts_its_classes():
    model = by_hand(split(0, leaf(1, 0), leaf(0, 1), threshold=1.5), [numeric("a")], ["x", "y"])
    assert "class: 1" in export_text(model.tree_)
    assert "class: y" in export_text(model)
    assert "class: right" in export_text(model.tree_, class_names=["left", "right"])


def test_a_single_leaf():
    assert export_text(by_hand(leaf(3, 1), [numeric("a")], ["x", "y"])) == "|--- class: x\n"


def test_deep_trees_need_no_recursion():
    node = leaf(1, 0)
    for i in range(1500):
        node = split(0, node, leaf(0, 1), threshold=float(i))
    model = by_hand(node, [numeric("a")], ["x", "y"])
    assert export_text(model, spacing=1).count("class: ") == 1501
    assert len(to_rules(model)) == 1501


BAD = [
    ({"max_depth": -1}, "max_depth of export_text must be an int ≥ 0 or None, got -1"),
    ({"max_depth": 1.5}, "max_depth of export_text must be an int"),
    ({"max_depth": True}, "max_depth of export_text must be an int"),
    ({"spacing": 0}, "spacing of export_text must be an int ≥ 1, got 0"),
    ({"decimals": -1}, "decimals of export_text must be an int ≥ 0"),
    ({"max_categories": 0}, "max_categories of export_text"),
    ({"feature_names": ["a"]}, "feature_names of export_text must hold 2 names, one per column"),
    ({"feature_names": "ab"}, "feature_names of export_text must be a list of 2 names"),
    ({"class_names": ["a"]}, "class_names of export_text must hold 2 names, one per class"),
    ({"class_names": False}, "class_names of export_text must be a list of 2 names"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_parameters(options, message):
    columns = [numeric("a"), numeric("b")]
    model = by_hand(split(0, leaf(1, 0), leaf(0, 1), threshold=1.5), columns, ["x", "y"])
    with pytest.raises(ParameterError, match=message):
        export_text(model, **options)


def test_class_names_of_a_regression_tree_are_an_error():
    model = by_hand(leaf(1.0), [numeric("a")])
    with pytest.raises(ParameterError, match=r"class_names of export_text .* hold numbers"):
        export_text(model, class_names=["a"])


def test_class_names_of_several_outputs_are_lists():
    X, y = load_iris(return_X_y=True)
    peer = sklearn.tree.DecisionTreeClassifier(max_depth=1).fit(X, np.column_stack([y, y]))
    with pytest.raises(ParameterError, match="one list of names for each of 2 outputs"):
        export_text(from_sklearn(peer), class_names=["a", "b", "c"])
    with pytest.raises(ParameterError, match="output 1, must hold 3 names"):
        export_text(from_sklearn(peer), class_names=[["a", "b", "c"], ["a"]])


@pytest.mark.parametrize("function", [export_text, export_graphviz, to_rules, plot_tree])
def test_what_is_not_a_tree_is_a_clear_error(function):
    unfitted = CARTClassifier()
    with pytest.raises(NotFittedError, match=f"{function.__name__} needs a fitted model"):
        function(unfitted)
    with pytest.raises(ParameterError, match=f"{function.__name__} needs .* got list"):
        function([1, 2])
    peer = sklearn.tree.DecisionTreeClassifier().fit([[0], [1]], [0, 1])
    with pytest.raises(ParameterError, match=r"got DecisionTreeClassifier of sklearn"):
        function(peer)


def test_names_of_the_schema_are_used():
    X, y = load_iris(return_X_y=True)
    peer = sklearn.tree.DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    names = ["Länge", "宽", "a b", "c"]
    model = with_columns(from_sklearn(peer), [numeric(n) for n in names])
    assert names[peer.tree_.feature[0]] + " <= " in export_text(model)


def test_zero_in_bins_of_lightgbm_is_shown_as_zero():
    """Its cuts beside zero are -1e-35 and 1e-35: `x < 0` and `x <= 0`."""
    x = np.repeat([-1.0, 0.0, 1.0], 40)
    model = LGBMRegressor(n_estimators=1, min_child_samples=5, n_jobs=1)
    tree = model.fit(x[:, None], np.repeat([0.0, 4.0, 10.0], 40)).trees_[0]
    assert sorted(tree.threshold[tree.first_child > 0].tolist()) == [-1e-35, 1e-35]
    text = export_text(model)
    for shown in ("x0 <= 0", "x0 >  0", "x0 <  0", "x0 >= 0"):
        assert shown in text
    rules = "\n".join(str(rule) for rule in to_rules(model, tree=0))
    for shown in ("x0 < 0", "0 <= x0 <= 0", "x0 > 0"):
        assert shown in rules
    for all_shown in (text, rules, export_graphviz(model), str(tree.condition(0, 0))):
        assert "e-35" not in all_shown
