"""C4.5 on Quinlan's examples, by hand-made cases, and by the laws every tree keeps."""

import doctest
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import betaincinv, ndtri
from sklearn.datasets import load_iris

from arboretum.textbook import c45, c45_pruning, c45_splits
from arboretum.textbook.c45 import C45Node, grow_c45, predict_c45, predict_proba_c45
from arboretum.textbook.c45_pruning import (
    collapse_c45,
    estimated_errors,
    extra_errors,
    normal_deviate,
    prune_c45,
    prune_reduced_error,
    upper_limit,
)
from arboretum.textbook.c45_splits import (
    C45Settings,
    C45Test,
    average_gain,
    c45_candidates,
    grouping_test,
    judge,
    multiway_test,
    threshold_test,
)
from arboretum.textbook.id3 import gather_cases

NAN = np.nan
OUTLOOK, TEMPERATURE, HUMIDITY, WINDY = range(4)
PLAY, DONT = 0, 1
# Quinlan 1993: outlook sunny, overcast, rain; temperature; humidity; windy; play or not
GOLF = np.array(
    [
        [0, 75, 70, 1, 0], [0, 80, 90, 1, 1], [0, 85, 85, 0, 1], [0, 72, 95, 0, 1],
        [0, 69, 70, 0, 0], [1, 72, 90, 1, 0], [1, 83, 78, 0, 0], [1, 64, 65, 1, 0],
        [1, 81, 75, 0, 0], [2, 71, 80, 1, 1], [2, 65, 70, 1, 1], [2, 75, 80, 0, 0],
        [2, 68, 80, 0, 0], [2, 70, 96, 0, 0],
    ]
)  # fmt: skip
X, Y, N_VALUES = GOLF[:, :4].astype(float), GOLF[:, 4], [3, 0, 0, 2]
X_MISSING = X.copy()
X_MISSING[5, OUTLOOK] = NAN


def shape(tree):
    """What makes a tree: its tests and the class weights of its nodes."""
    return [
        (node.path, node.test and (node.test.feature, node.test.threshold, node.test.groups),
         node.counts.round(9).tolist())
        for node in tree
    ]  # fmt: skip


def same(one, two):
    return repr(shape(one)) == repr(shape(two))  # by their text: NaN thresholds are alike


def n_leaves(tree):
    return sum(node.is_leaf for node in tree)


def finished(X, y, w=None, n_values=None, **settings):
    """The whole of C4.5: grow, collapse, prune."""
    tree = grow_c45(X, y, w, n_values, C45Settings(**settings))
    return prune_c45(collapse_c45(tree)[0])[0]


@pytest.mark.parametrize("module", [c45, c45_splits, c45_pruning])
def test_examples_in_the_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


# ---------------------------------------------------------------------- Quinlan's golf
def test_golf_candidates():
    outlook, temperature, humidity, windy = grow_c45(X, Y, n_values=N_VALUES).candidates
    assert round(outlook.gain, 3) == 0.247
    assert round(outlook.split_information, 3) == 1.577
    assert round(outlook.ratio, 3) == 0.156
    assert (round(windy.gain, 3), round(windy.ratio, 3)) == (0.048, 0.049)
    assert (outlook.verdict, windy.verdict) == ("chosen", "gain below average")
    assert (outlook.passes_gate, windy.passes_gate) == (True, False)
    for numeric, tries in ((temperature, 9), (humidity, 6)):
        assert len(numeric.steps) == tries
        assert_allclose(numeric.charge, np.log2(tries) / 14)
        assert_allclose(numeric.gain, max(c.gain for c in numeric.steps) - numeric.charge)
        assert numeric.verdict == "gain does not cover the charge"


def test_golf_tree():
    tree = finished(X, Y, None, N_VALUES)
    assert [(node.path, node.counts.tolist()) for node in tree] == [
        ((), [9, 5]),
        ((0,), [2, 3]),
        ((0, 0), [2, 0]),
        ((0, 1), [0, 3]),
        ((1,), [4, 0]),
        ((2,), [3, 2]),
        ((2, 0), [3, 0]),
        ((2, 1), [0, 2]),
    ]
    sunny, _, rain = tree.children
    assert (sunny.test.feature, sunny.test.threshold) == (HUMIDITY, 75.0)  # 77.5 is no value
    assert rain.test.feature == WINDY
    assert_array_equal(predict_c45(tree, X), Y)


def test_golf_with_an_unknown_outlook():
    tree = grow_c45(X_MISSING, Y, n_values=N_VALUES)
    outlook = tree.candidates[OUTLOOK]
    # 13/14 · (0.961 - 0.747); the unknown case is a fourth branch
    assert round(outlook.gain, 3) == 0.199
    assert round(outlook.split_information, 3) == 1.809
    assert round(outlook.ratio, 3) == 0.110
    assert (outlook.weights, outlook.missing) == ((5, 3, 5), 1)
    assert_allclose(tree.shares, [5 / 13, 3 / 13, 5 / 13])
    # in the book: Play (2.0), Don't Play (3.4/0.4), Play (3.2), Don't Play (2.4/0.4), Play (3.0)
    found = {leaf.path: leaf.counts.round(1).tolist() for leaf in tree if leaf.is_leaf}
    assert found == {
        (0, 0): [2.0, 0.0],
        (0, 1): [0.4, 3.0],
        (1,): [3.2, 0.0],
        (2, 0): [3.0, 0.0],
        (2, 1): [0.4, 2.0],
    }
    [play, dont] = predict_proba_c45(tree, [[0, 70, NAN, 0]])[0]
    assert (round(play, 2), round(dont, 2)) == (0.44, 0.56)
    assert_allclose(play, (2 * 1 + (3 + 5 / 13) * (5 / 13) / (3 + 5 / 13)) / (5 + 5 / 13))


def test_play_tennis_with_categories_only():
    nominal = X.copy()
    nominal[:, TEMPERATURE] = np.digitize(X[:, TEMPERATURE], [70.5, 77])
    nominal[:, HUMIDITY] = X[:, HUMIDITY] <= 80
    cases = gather_cases(nominal, Y, None, [3, 3, 2, 2])
    table, average, choice = c45_candidates(cases, cases)
    assert round(table[OUTLOOK].gain, 3) == 0.247
    assert [round(table[f].gain, 3) for f in (HUMIDITY, WINDY)] == [0.102, 0.048]
    assert_allclose(average, np.mean([c.gain for c in table]))
    assert choice.feature == OUTLOOK


def test_iris_as_j48_has_it():
    iris = load_iris()
    tree = finished(iris.data, iris.target)
    asked = [(n.test.feature, n.test.threshold) for n in tree if n.test]
    assert asked == [(3, 0.6), (3, 1.7), (2, 4.9), (3, 1.5)]
    leaves = [leaf.counts.tolist() for leaf in tree if leaf.is_leaf]
    assert leaves == [[50, 0, 0], [0, 47, 1], [0, 0, 3], [0, 2, 1], [0, 1, 45]]


# ---------------------------------------------------------------------- thresholds
@pytest.mark.parametrize(
    ("n", "n_classes", "min_cases", "lightest"),
    [
        (40, 2, 2, 2),  # a tenth of the average class is 2
        (80, 2, 2, 4),
        (80, 4, 2, 2),
        (80, 2, 10, 10),  # never less than min_cases
        (600, 2, 2, 25),  # no more than 25 is asked for
        (600, 2, 40, 40),  # unless min_cases is more
    ],
)
def test_the_least_weight_of_a_side(n, n_classes, min_cases, lightest):
    y = np.arange(n) % 2
    cases = gather_cases(np.arange(n)[:, None], y, None, None, n_classes)
    candidate = threshold_test(cases, 0, C45Settings(min_cases=min_cases))
    assert min(min(cut.weights) for cut in candidate.steps) == lightest
    assert len(candidate.steps) == n - 2 * lightest + 1


def test_the_threshold_is_a_value_of_the_whole_training():
    cases = gather_cases([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1], None, None)
    assert threshold_test(cases, 0).test.threshold == 1.0
    assert threshold_test(cases, 0, training=[0, 1, 3, 5.5, 6, 10]).test.threshold == 5.5
    assert threshold_test(cases, 0, training=[0, 1, 6, 10]).test.threshold == 1.0
    close = np.array([1.0, 1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 2)])[:, None]
    assert threshold_test(gather_cases(close, [0, 0, 1, 1], None, None), 0).test.threshold == 1.0


def test_a_threshold_with_missing_values_by_hand():
    x = np.array([1, 2, 3, 4, 5, NAN, NAN])[:, None]
    candidate = threshold_test(gather_cases(x, [0, 0, 0, 1, 1, 0, 1], None, None), 0)
    h = -(3 / 5) * np.log2(3 / 5) - (2 / 5) * np.log2(2 / 5)
    assert [(c.below, c.above) for c in candidate.steps] == [(2, 3), (3, 4)]
    assert_allclose(candidate.gain, 5 / 7 * h - np.log2(2) / 7)
    shares = np.array([2, 3, 2]) / 7
    assert_allclose(candidate.split_information, -np.sum(shares * np.log2(shares)))


# ---------------------------------------------------------------------- groups
def test_grouping_by_hand():
    # three classes, four values: the two that are alike are merged first
    x = np.repeat([0, 1, 2, 3], 4)
    y = np.array([0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2])
    candidate = grouping_test(gather_cases(x[:, None], y, None, [5]), 0)
    first, second, *_ = candidate.steps
    assert [len(stage.groups) for stage in candidate.steps][:2] == [4, 3]
    assert second.groups[0] == {0, 1}
    assert_allclose(second.gain, first.gain)  # alike: nothing is lost
    assert_allclose((first.split_information, second.split_information), (2.0, 1.5))
    ratios = [stage.ratio for stage in candidate.steps]
    assert ratios == sorted(ratios)
    assert candidate.test.groups[-1] >= {4}  # value 4 has no rows: it joins the last group
    assert sum(candidate.weights) == 16


def test_grouping_stops_when_every_merger_is_worse():
    x, y = (
        np.repeat([0, 1, 2], 12),
        np.array([0] * 10 + [1, 2] + [1] * 10 + [0, 2] + [2] * 10 + [0, 1]),
    )
    candidate = grouping_test(gather_cases(x[:, None], y, None, [3]), 0)
    assert candidate.test.groups == ({0}, {1}, {2})
    # the ratio would fall from 0.485 to 0.464
    assert (len(candidate.steps), round(candidate.ratio, 3)) == (1, 0.485)


def test_grouping_merges_what_makes_no_difference():
    x = np.repeat([0, 1, 2], 4)
    candidate = grouping_test(gather_cases(x[:, None], x, None, [3]), 0)
    assert_allclose([stage.ratio for stage in candidate.steps], [1.0, 1.0])
    assert candidate.test.groups == ({0, 1}, {2})


def test_groups_in_a_tree():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 6, 120)
    z = rng.integers(0, 2, 120)
    y = np.where(np.isin(x, [0, 3]), 0, np.where(np.isin(x, [1, 5]), 1, z))
    data = np.column_stack([x, z])
    tree = grow_c45(data, y, None, [6, 2], C45Settings(subset=True))
    assert_array_equal(predict_c45(tree, data), y)
    grouped = [node.test for node in tree if node.test and node.test.feature == 0]
    assert len(grouped) == 1 or not any(test.multiway for test in grouped)
    assert all(sorted(v for group in t.groups for v in group) == list(range(6)) for t in grouped)
    assert n_leaves(tree) < n_leaves(grow_c45(data, y, None, [6, 2]))
    two_values = [c for node in tree for c in node.candidates if c.feature == 1 and c.test]
    assert all(c.test.multiway for c in two_values)


# ---------------------------------------------------------------------- who may compete
def test_the_gate_and_the_floor_of_split_information():
    cases = gather_cases(np.zeros((10, 3)), [0, 1] * 5, None, [2, 2, 2])
    base = multiway_test(cases, 0)
    figures = [(0.30, 1.0), (0.20, 0.1), (0.28, 0.0005)]
    table = [
        replace(base, feature=f, gain=g, split_information=s, admissible=True, verdict="")
        for f, (g, s) in enumerate(figures)
    ]
    average = average_gain(table, cases)
    assert_allclose(average, 0.26)
    judged, _ = judge(table, average)
    assert [c.verdict for c in judged] == [
        "chosen", "gain below average", "split information too small",
    ]  # fmt: skip
    assert [c.passes_gate for c in judged] == [True, False, True]
    barely = judge(table, 0.2005)[0]  # short of the average by less than 1e-3
    assert [c.verdict for c in barely][:2] == ["smaller ratio", "chosen"]
    by_gain = judge(table, 0.2005, C45Settings(criterion="gain"))[0]
    assert [c.verdict for c in by_gain][:2] == ["chosen", "smaller gain"]


def test_an_attribute_of_very_many_values_does_not_count_in_the_average():
    y = np.array([0, 1] * 10)
    data = np.column_stack([np.repeat(np.arange(10), 2), y ^ (np.arange(20) < 4)])
    cases = gather_cases(data, y, None, [10, 2])
    table, average, _ = c45_candidates(cases, cases)
    assert average == table[1].gain
    alone = gather_cases(data[:, :1], y, None, [10])
    table, average, _ = c45_candidates(alone, alone)
    assert average == table[0].gain  # all are like that
    half = gather_cases(np.column_stack([data[:, 0], np.zeros(20)]), y, None, [10, 2])
    assert c45_candidates(half, half)[1:] == (1e6, None)


def test_two_branches_need_min_cases():
    x, y = np.array([[0]] * 5 + [[1]] + [[2]]), [0, 0, 0, 0, 0, 1, 1]
    assert grow_c45(x, y, n_values=[3]).stop == "no test competes"
    assert len(grow_c45(x, y, None, [3], C45Settings(min_cases=1)).children) == 3


@pytest.mark.parametrize(
    ("settings", "stop"),
    [
        ({"max_depth": 0}, "max_depth"),
        ({"min_cases": 7.5}, "fewer than twice min_cases"),
    ],
)
def test_when_to_stop(settings, stop):
    tree = grow_c45(X, Y, None, N_VALUES, C45Settings(**settings))
    assert (tree.stop, tree.is_leaf) == (stop, True)
    assert len(list(grow_c45(X, Y, None, N_VALUES, C45Settings(max_depth=1)))) == 4


def test_a_multiway_test_is_made_once_on_a_path():
    rng = np.random.default_rng(1)
    data = rng.integers(0, 3, (150, 3))
    tree = grow_c45(data, rng.integers(0, 2, 150), n_values=[3] * 3)
    assert max(len(node.path) for node in tree) >= 2

    def walk(node, used):
        again = {c.feature for c in node.candidates if c.verdict == "used further up"}
        assert not node.candidates or again == used
        for child in node.children:
            walk(child, used | {node.test.feature})

    walk(tree, set())


# ---------------------------------------------------------------------- prediction
def test_empty_branches_answer_as_their_parent():
    tree = grow_c45([[0]] * 3 + [[2]] * 2, [0, 0, 0, 1, 1], n_values=[3])
    empty = tree.children[1]
    assert (empty.stop, empty.weight, empty.majority) == ("empty", 0.0, 0)
    assert_allclose(predict_proba_c45(tree, [[1]]), [[0.6, 0.4]])
    assert_allclose(predict_proba_c45(tree, [[1]], laplace=True), [[4 / 7, 3 / 7]])


def test_unheard_of_and_missing_values_go_every_way():
    tree = grow_c45(X_MISSING, Y, n_values=N_VALUES)
    for value in (NAN, 7):
        row = np.array([value, 70, 90, 1])
        parts = [predict_proba_c45(tree, [[v, *row[1:]]])[0] for v in range(3)]
        expected = np.average(parts, axis=0, weights=tree.shares)
        assert_allclose(predict_proba_c45(tree, [row])[0], expected)


def test_answers_are_distributions():
    tree = grow_c45(X_MISSING, Y, n_values=N_VALUES)
    rng = np.random.default_rng(2)
    rows = np.where(rng.random((50, 4)) < 0.4, NAN, X[rng.integers(0, 14, 50)])
    for laplace in (False, True):
        assert_allclose(predict_proba_c45(tree, rows, laplace).sum(axis=1), 1.0)


def test_ties_go_to_the_smallest_class():
    assert predict_c45(grow_c45([[1.0], [1.0]], [1, 0]), [[1.0]]).tolist() == [0]


@pytest.mark.parametrize(
    ("X", "y", "n_values"),
    [
        ([[NAN], [NAN], [NAN], [NAN]], [0, 1, 0, 1], [0]),
        ([[NAN], [NAN], [NAN], [NAN]], [0, 1, 0, 1], [3]),
        ([[1.0], [2.0], [3.0], [4.0]], [0, 0, 0, 0], [0]),
        ([[5.0]] * 6, [0, 1] * 3, [0]),
    ],
)
@pytest.mark.parametrize("subset", [False, True])
def test_nothing_to_ask(X, y, n_values, subset):
    tree = grow_c45(X, y, None, n_values, C45Settings(subset=subset))
    assert tree.is_leaf
    assert len(predict_proba_c45(tree, X)) == len(X)


# ---------------------------------------------------------------------- laws
def mixed(seed, n=90):
    """Numbers and categories with holes in them; the classes follow some of it."""
    rng = np.random.default_rng(seed)
    data = np.column_stack([rng.normal(size=n).round(1), rng.integers(0, 4, n),
                            rng.integers(0, 2, n), rng.normal(size=n)])  # fmt: skip
    signal = data[:, 0] + (data[:, 1] == 2) - data[:, 2] + 0.5 * rng.normal(size=n)
    data[rng.random(data.shape) < 0.1] = NAN
    return data, np.digitize(signal, [-0.5, 0.7]), rng.integers(0, 4, n)


@pytest.mark.parametrize("subset", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_weight_is_a_number_of_rows(seed, subset):
    data, y, w = mixed(seed)
    one = finished(data, y, w, [0, 4, 2, 0], subset=subset)
    two = finished(np.repeat(data, w, axis=0), np.repeat(y, w), None, [0, 4, 2, 0], subset=subset)
    assert n_leaves(one) > 3
    assert same(one, two)


@pytest.mark.parametrize("subset", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_rows_does_not_matter(seed, subset):
    data, y, w = mixed(seed)
    w = w / 3 + 0.2
    order = np.random.default_rng(seed).permutation(len(y))
    one = finished(data, y, w, [0, 4, 2, 0], subset=subset)
    two = finished(data[order], y[order], w[order], [0, 4, 2, 0], subset=subset)
    assert same(one, two)
    assert_allclose(predict_proba_c45(one, data), predict_proba_c45(two, data), atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_no_weight_is_lost_on_the_way_down(seed):
    data, y, _ = mixed(seed)
    tree = grow_c45(data, y, n_values=[0, 4, 2, 0])
    for node in tree:
        if not node.is_leaf:
            assert_allclose(sum(child.counts for child in node.children), node.counts)
            assert_allclose(node.shares.sum(), 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_order_of_numbers_is_all_that_matters(seed):
    data, y, _ = mixed(seed)
    stretched = data.copy()
    stretched[:, [0, 3]] = np.exp(data[:, [0, 3]])
    one = finished(data, y, None, [0, 4, 2, 0])
    two = finished(stretched, y, None, [0, 4, 2, 0])
    assert [n.counts.tolist() for n in one] == [n.counts.tolist() for n in two]


# ---------------------------------------------------------------------- pessimistic errors
@pytest.mark.parametrize("limit", c45_pruning.LIMITS)
def test_published_limits_of_leaves_without_errors(limit):
    # Quinlan 1993, chapter 4; for e = 0 all three are exact
    found = [round(upper_limit(n, 0, 0.25, limit), 3) for n in (6, 9, 1)]
    assert found == [0.206, 0.143, 0.750]


def test_the_published_limit_of_a_leaf_with_an_error():
    # U_25%(1, 16) is 0.157 in the book: that is release 8's formula. The exact binomial limit
    # is 0.003 higher, the normal one with the exact deviate 0.002 lower.
    assert round(upper_limit(16, 1, 0.25, "quinlan"), 3) == 0.157
    assert round(upper_limit(16, 1, 0.25, "binomial"), 4) == 0.1596
    assert round(upper_limit(16, 1, 0.25, "weka"), 4) == 0.1547


def test_the_exact_limit_leaves_just_the_confidence():
    p = upper_limit(16, 1, 0.25, "binomial")
    assert_allclose((1 - p) ** 16 + 16 * p * (1 - p) ** 15, 0.25)


@pytest.mark.parametrize("confidence", [0.5, 0.25, 0.1, 0.001])
@pytest.mark.parametrize(
    ("n", "e"), [(6, 0), (16, 1), (0.4, 0.1), (0.01, 0.004), (3.7, 2.9), (5000, 12.5), (1e6, 4e5)]
)
def test_the_exact_limit_is_a_beta_quantile(n, e, confidence):
    expected = betaincinv(e + 1, n - e, 1 - confidence)
    assert_allclose(upper_limit(n, e, confidence, "binomial"), expected, rtol=1e-9)


def test_deviates():
    assert [normal_deviate(cf) for cf in (0.001, 0.05, 0.10, 0.20, 0.40)] == [
        3.09, 1.65, 1.28, 0.84, 0.25,
    ]  # fmt: skip
    assert_allclose(normal_deviate(0.25), 0.84 + (0.25 - 0.84) / 4)
    for cf in (0.5, 0.25, 0.01):
        assert_allclose(normal_deviate(cf, "weka"), ndtri(1 - cf), atol=1e-9)


@pytest.mark.parametrize("limit", ["quinlan", "weka"])
def test_between_no_error_and_one_it_goes_straight(limit):
    none, one = (extra_errors(10, e, 0.25, limit) for e in (0, 1))
    assert_allclose(extra_errors(10, 0.3, 0.25, limit), 0.7 * none + 0.3 * one)
    z = normal_deviate(0.25, limit)
    wilson = (1.5 + z * z / 2 + z * np.sqrt(1.5 * (1 - 0.15) + z * z / 4)) / (10 + z * z)
    assert_allclose(one, 10 * wilson - 1)


def test_where_half_an_error_is_too_many():
    assert_allclose(extra_errors(5, 4.6, 0.25, "quinlan"), 0.67 * 0.4)
    assert_allclose(extra_errors(5, 4.6, 0.25, "weka"), 0.4)


@pytest.mark.parametrize("limit", c45_pruning.LIMITS)
def test_less_confidence_adds_more_errors_and_an_empty_leaf_adds_none(limit):
    figures = [extra_errors(20, 3, cf, limit) for cf in (0.5, 0.25, 0.1, 0.01)]
    assert figures == sorted(figures)
    assert figures[0] > 0
    assert extra_errors(0.0, 0.0, 0.25, limit) == 0.0


# ---------------------------------------------------------------------- collapse
def test_collapse():
    # the test gains information, but both sides say 0
    x, y = [[0]] * 4 + [[1]] * 4, [0, 0, 0, 0, 0, 0, 0, 1]
    tree = grow_c45(x, y, n_values=[2])
    collapsed, [decision] = collapse_c45(tree)
    assert (len(list(tree)), len(list(collapsed))) == (3, 1)
    assert (decision.as_tree, decision.as_leaf, decision.verdict) == (1.0, 1.0, "leaf")
    assert (collapsed.stop, collapsed.counts.tolist()) == ("collapsed", [7, 1])


@pytest.mark.parametrize("seed", range(3))
def test_collapse_changes_no_answer_of_the_training(seed):
    data, y, _ = mixed(seed)
    data = np.nan_to_num(data)
    tree = grow_c45(data, y, n_values=[0, 4, 2, 0])
    collapsed, decisions = collapse_c45(tree)
    wrong = [np.sum(predict_c45(t, data) != y) for t in (tree, collapsed)]
    assert wrong[0] == wrong[1]
    assert n_leaves(collapsed) < n_leaves(tree)
    inner = [node for node in tree if not node.is_leaf]
    assert len(decisions) == len(inner)
    for node in collapsed:
        if not node.is_leaf:  # what is left earns its keep
            below = sum(leaf.errors for leaf in node if leaf.is_leaf)
            assert below < node.errors - 1e-3


# ---------------------------------------------------------------------- error-based pruning
def test_the_published_replacement():
    # Quinlan 1993: leaves of 6, 9 and 1 cases without errors against one leaf with 1 of 16 wrong
    x, y = [[0]] * 6 + [[1]] * 9 + [[2]], [1] * 15 + [0]
    pruned, [decision] = prune_c45(grow_c45(x, y, n_values=[3]))
    assert round(decision.as_tree, 3) == 3.273
    assert round(decision.as_leaf, 2) == 2.51
    assert decision.verdict == "leaf"
    assert (pruned.is_leaf, pruned.stop) == (True, "pruned")


# the values of column 0 part the cases well, but only where column 0 is 2 are there enough to ask on
RAISING = np.array(
    [
        [1, 0, 0, 1], [1, 1, 1, 1], [2, 1, 0, 1], [2, 1, 1, 1], [2, 1, 0, 1], [0, 0, 0, 0],
        [2, 1, 1, 0], [3, 0, 1, 0], [2, 0, 1, 0], [3, 0, 1, 0], [3, 0, 1, 0], [2, 0, 0, 1],
        [2, 0, 0, 0],
    ]
)  # fmt: skip


def test_raising():
    data, y = RAISING[:, :3], RAISING[:, 3]
    tree, _ = collapse_c45(grow_c45(data, y, n_values=[4, 2, 2]))
    assert (tree.test.feature, tree.children[2].test.feature) == (0, 1)
    before = shape(tree)
    pruned, decisions = prune_c45(tree)
    assert [(d.path, d.verdict) for d in decisions] == [((2,), "keep"), ((), "raise"), ((), "keep")]

    def leaf(n, e):
        return e + extra_errors(n, e)

    inner, root, again = decisions
    assert_allclose(inner.as_tree, leaf(3, 1) + leaf(4, 1))
    assert_allclose(root.as_tree, leaf(1, 0) + leaf(2, 0) + leaf(3, 0) + inner.as_tree)
    assert_allclose(root.as_leaf, leaf(13, 6))
    assert_allclose(root.as_raised, leaf(8, 2) + leaf(5, 1))
    assert_allclose(again.as_tree, root.as_raised)
    raised = C45Test(1, groups=(frozenset([0]), frozenset([1])), multiway=True)
    assert repr(pruned.test) == repr(raised)  # the threshold of both is NaN
    assert [node.path for node in pruned] == [(), (0,), (1,)]
    assert [node.counts.tolist() for node in pruned] == [[7, 6], [6, 2], [1, 4]]
    assert_allclose(pruned.shares, [8 / 13, 5 / 13])
    assert repr(shape(tree)) == repr(before)  # the tree itself is left as it is
    unraised, decisions = prune_c45(tree, subtree_raising=False)
    assert unraised.test.feature == 0
    assert {d.as_raised for d in decisions} == {np.inf}


@pytest.mark.parametrize("limit", c45_pruning.LIMITS)
@pytest.mark.parametrize("seed", range(3))
def test_what_pruning_leaves(seed, limit):
    data, y, _ = mixed(seed)
    tree = grow_c45(data, y, n_values=[0, 4, 2, 0], settings=C45Settings(min_cases=1))
    sizes = []
    for confidence in (0.5, 0.25, 0.01):
        pruned, decisions = prune_c45(tree, confidence, limit=limit)
        sizes.append(n_leaves(pruned))
        for node in pruned:
            assert_allclose(node.counts, node.cases.at(node.rows, node.w).counts)
            if not node.is_leaf:
                assert_allclose(sum(child.counts for child in node.children), node.counts)
        root = [d for d in decisions if d.path == ()][-1]
        best = {"keep": root.as_tree, "leaf": root.as_leaf, "raise": root.as_raised}[root.verdict]
        estimate = estimated_errors(pruned, tree.rows, tree.w, confidence, limit)
        assert_allclose(estimate, best)
        assert estimate <= estimated_errors(tree, tree.rows, tree.w, confidence, limit) + 0.1 * len(
            decisions
        )
    assert n_leaves(tree) >= sizes[0] >= sizes[1] >= sizes[2]


def test_a_leaf_has_nothing_to_prune():
    tree = grow_c45([[1.0], [1.0]], [0, 1])
    for prune in (collapse_c45, prune_c45, lambda t: prune_reduced_error(t, [[1.0]], [1])):
        pruned, decisions = prune(tree)
        assert isinstance(pruned, C45Node)
        assert (pruned.is_leaf, decisions) == (True, [])


# ---------------------------------------------------------------------- reduced-error pruning
def test_reduced_error_by_hand():
    tree = grow_c45(X, Y, n_values=N_VALUES)
    held = np.array([[0, 70, 70, 0], [0, 70, 90, 0], [2, 70, 80, 0], [2, 70, 80, 1]])
    # sunny: humidity is right on both; rain: the wind is wrong on one, a leaf saying Play on none
    pruned, decisions = prune_reduced_error(tree, held, [PLAY, DONT, PLAY, PLAY])
    assert [(d.path, d.weight, d.as_tree, d.as_leaf, d.verdict) for d in decisions] == [
        ((0,), 2, 0, 1, "keep"),
        ((2,), 2, 1, 0, "leaf"),
        ((), 4, 0, 1, "keep"),
    ]
    assert pruned.children[2].is_leaf
    assert not pruned.children[0].is_leaf


def test_reduced_error_takes_equals_and_unreached_nodes_for_leaves():
    tree = grow_c45(X, Y, n_values=N_VALUES)
    pruned, decisions = prune_reduced_error(tree, [[1, 70, 70, 0]], [PLAY])
    assert [d.verdict for d in decisions] == ["leaf"] * 3
    assert pruned.is_leaf


def test_reduced_error_spreads_missing_values():
    tree = grow_c45(X, Y, n_values=N_VALUES)
    _, decisions = prune_reduced_error(tree, [[NAN, 70, 90, 1]], [DONT])
    assert_allclose([d.weight for d in decisions], [5 / 14, 5 / 14, 1])
    # sunny and humid: Don't; rain and windy: Don't; only overcast says Play
    assert_allclose([d.as_tree for d in decisions], [0, 0, 4 / 14])
    assert_allclose([d.as_leaf for d in decisions], [0, 5 / 14, 1])


@pytest.mark.parametrize("seed", range(3))
def test_reduced_error_is_never_worse_on_the_cases_held_out(seed):
    data, y, w = mixed(seed, n=160)
    data = np.nan_to_num(data)
    tree = grow_c45(data[:100], y[:100], n_values=[0, 4, 2, 0], n_classes=3)
    pruned, decisions = prune_reduced_error(tree, data[100:], y[100:], w[100:])
    wrong = [np.sum(w[100:] * (predict_c45(t, data[100:]) != y[100:])) for t in (tree, pruned)]
    assert wrong[1] <= wrong[0]
    assert wrong[1] == min(decisions[-1].as_tree, decisions[-1].as_leaf)
    assert n_leaves(pruned) < n_leaves(tree)


# ---------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: grow_c45(X, Y, None, [3, 0, 0]), "one number ≥ 0 per column"),
        (lambda: grow_c45(X, Y, np.zeros(14), N_VALUES), "one weight > 0"),
        (lambda: grow_c45(X, Y, None, [2, 0, 0, 2]), "column 0 needs category codes 0 to 1"),
        (lambda: grow_c45(X, Y, n_classes=1), "y has class 1, but there are only 1 classes"),
        (lambda: grow_c45(X, Y, settings=C45Settings(criterion="gini")), "criterion must be"),
        (lambda: grow_c45(X, Y, settings=C45Settings(min_cases=0)), "min_cases must be above 0"),
        (lambda: extra_errors(5, 1, 0.0), "confidence must be above 0"),
        (lambda: extra_errors(5, 1, 0.6), "at most 0.5"),
        (lambda: extra_errors(5, 1, 0.25, "exact"), "quinlan, weka, binomial"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call()
