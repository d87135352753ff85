"""C4.5rules by hand: every figure of Quinlan's golf example, and the laws of each step."""

import doctest
from itertools import chain, combinations
from math import comb, factorial, log2

import numpy as np
import pytest

from arboretum.textbook import c45_rule_list as book
from arboretum.textbook.c45 import grow_c45
from arboretum.textbook.c45_pruning import collapse_c45, upper_limit
from arboretum.textbook.c45_rule_list import (
    RuleCondition,
    TextbookRule,
    c45_rules,
    choose_rules,
    drop_harmful,
    exception_bits,
    generalise,
    is_useful,
    order_rules,
    predict_c45_rules,
    rule_bits,
    rule_paths,
)
from arboretum.textbook.c45_splits import C45Settings
from arboretum.textbook.id3 import gather_cases

NAN = np.nan
SUNNY, OVERCAST, RAIN = 0.0, 1.0, 2.0
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
CASES = gather_cases(X, Y, None, N_VALUES)
IS_SUNNY, IS_RAIN = RuleCondition(0, "=", SUNNY), RuleCondition(0, "=", RAIN)
HUMID, DRY = RuleCondition(2, ">", 75.0), RuleCondition(2, "<=", 75.0)
CALM, WINDY = RuleCondition(3, "=", 0.0), RuleCondition(3, "=", 1.0)


def golf():
    return c45_rules(grow_c45(X, Y, n_values=N_VALUES))


def words(rule):
    return " and ".join(map(str, rule.conditions)) + f" -> {rule.answer}"


# ---------------------------------------------------------------------- Quinlan's example
def test_the_rules_of_golf_are_those_of_the_book():
    found = golf()
    assert [words(rule) for rule in found.rules] == [
        "x0 = 1 -> 0",
        "x0 = 2 and x3 = 0 -> 0",
        "x0 = 0 and x2 > 75 -> 1",
        "x0 = 2 and x3 = 1 -> 1",
    ]
    # the accuracies that the program prints for them
    assert [round(100 * (1 - r.rate), 1) for r in found.rules] == [70.7, 63.0, 63.0, 50.0]
    assert found.default == PLAY
    assert found.default_counts.tolist() == [2.0, 0.0]
    assert predict_c45_rules(found, X).tolist() == Y.tolist()


def test_every_dropped_condition_by_hand():
    steps = golf().droppings
    assert [step.conditions for step in (s[0] for s in steps)] == [
        (IS_SUNNY, DRY), (IS_SUNNY, HUMID), (RuleCondition(0, "=", OVERCAST),),
        (IS_RAIN, CALM), (IS_RAIN, WINDY),
    ]  # fmt: skip
    dry = steps[0]
    # sunny and dry: 2 cases, none wrong. Without sunny 5 and 1 wrong, without dry 5 and 3 wrong
    assert (dry[0].cases, dry[0].errors) == (2.0, 0.0)
    assert dry[0].rate == upper_limit(2, 0)
    assert dry[0].without == (upper_limit(5, 1), upper_limit(5, 3))
    assert dry[0].dropped == IS_SUNNY
    assert dry[1].conditions == (DRY,)
    assert dry[1].without == (upper_limit(14, 5),)
    assert dry[1].dropped is None
    assert upper_limit(5, 1) < upper_limit(2, 0) < upper_limit(5, 3)
    for path in (steps[1], steps[3], steps[4]):
        assert [step.dropped for step in path] == [None]


def test_the_message_of_a_class_by_hand():
    dont = golf().choices[DONT]
    assert [words(rule) for rule in dont.candidates] == [
        "x0 = 0 and x2 > 75 -> 1", "x0 = 2 and x3 = 1 -> 1",
    ]  # fmt: skip
    # 4 columns; 3 outlooks; cuts between the humidities; windy or not; two conditions
    humidities = len(set(X[:, 2])) - 1
    two = log2(2) - log2(2)
    first = (2 + log2(3)) + (2 + 1 + log2(humidities)) + two
    second = (2 + log2(3)) + (2 + log2(2)) + two
    assert dont.bits == pytest.approx([first, second])
    assert dont.chosen == (0, 1)
    assert dont.theory == pytest.approx(first + second - log2(factorial(2)))
    assert dont.exceptions == 0.0  # 5 covered, 0 of them wrong; 9 not covered, 0 of them wanted
    assert dont.length == pytest.approx(dont.theory / 2)
    # with one rule, or none, the message is longer
    assert dont.length < first / 2 + log2(comb(11, 2))
    assert dont.length < log2(comb(14, 5))


# ---------------------------------------------------------------------- each step
def test_bounds_of_one_side_are_merged():
    x = np.arange(40.0)[:, None]
    y = ((x[:, 0] >= 10) & (x[:, 0] < 20)) | (x[:, 0] >= 30)
    paths = rule_paths(grow_c45(x, y.astype(int)))
    shown = [" and ".join(map(str, conditions)) for conditions, _ in paths]
    assert shown[0].count("x0") == 1
    for conditions, _ in paths:
        assert len({c.operator for c in conditions}) == len(conditions)
    where = np.array([book.covers(conditions, x) for conditions, _ in paths])
    assert (where.sum(axis=0) == 1).all()


def test_sets_of_one_path_are_merged_and_empty_leaves_left_out():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 6, 200), rng.normal(size=200)]).astype(float)
    y = (np.isin(X[:, 0], [1, 4]) ^ (X[:, 1] > 0)).astype(int)
    tree = grow_c45(X, y, n_values=[7, 0], settings=C45Settings(subset=True))
    paths = rule_paths(tree)
    for conditions, _ in paths:
        assert len({(c.feature, c.operator) for c in conditions}) == len(conditions)
    assert len(paths) == sum(node.is_leaf and node.weight > 0 for node in tree)


def test_a_missing_value_satisfies_no_condition():
    x = np.array([[NAN]])
    for condition in (
        RuleCondition(0, "<=", 1.0), RuleCondition(0, ">", 1.0), RuleCondition(0, "=", 1.0),
        RuleCondition(0, "in", frozenset({0, 1})),
    ):  # fmt: skip
        assert condition.holds(x).tolist() == [False]
    assert book.covers((), x).tolist() == [True]


def test_of_equal_conditions_the_last_goes_first():
    X = np.column_stack([np.repeat([0.0, 1.0], 10)] * 2)
    cases = gather_cases(X, np.repeat([0, 1], 10), None, None)
    path = (RuleCondition(0, "<=", 0.0), RuleCondition(1, "<=", 0.0))
    rule, steps = generalise(path, 0, cases)
    assert steps[0].without[0] == steps[0].without[1] == steps[0].rate
    assert rule.conditions == path[:1]


USELESS = [
    # conditions, class, what is covered, rate
    ((), 0, (9.0, 5.0), 0.4, "no condition"),
    ((DRY,), 0, (4.0, 1.0), 1 - 10 / 16, "no better than always answering 0"),
    ((DRY,), 1, (1.0, 1.0), 0.3, "class 0 is as frequent there, and more so overall"),
]


@pytest.mark.parametrize(("conditions", "answer", "counts", "rate", "why"), USELESS)
def test_rules_that_are_no_use(conditions, answer, counts, rate, why):
    assert not is_useful(TextbookRule(conditions, answer, counts, rate), CASES), why


def test_a_rule_just_good_enough():
    assert is_useful(TextbookRule((DRY,), 0, (4.0, 1.0), 1 - 10 / 16 - 1e-6), CASES)
    many = gather_cases(np.zeros((20, 1)), np.arange(20), None, None)
    assert is_useful(TextbookRule((DRY,), 3, (0.0, 0, 0, 1) + (0.0,) * 16, 0.69), many)
    assert not is_useful(TextbookRule((DRY,), 3, (0.0, 0, 0, 1) + (0.0,) * 16, 0.71), many)


def test_exceptions_are_binomials_and_fractions_lie_between():
    covered = np.array([True] * 6 + [False] * 8)
    wanted = np.array([False] * 2 + [True] * 7 + [False] * 5)
    expected = log2(comb(6, 2)) + log2(comb(8, 3))
    assert exception_bits(covered, wanted, np.ones(14)) == pytest.approx(expected)
    w = np.ones(14)
    w[0] = 0.5
    assert log2(comb(5, 1)) < exception_bits(covered, wanted, w) - log2(comb(8, 3)) < log2(15)


def test_bits_of_a_set_of_categories():
    cases = gather_cases([[0, 1], [3, 2], [2, 9]], [0, 1, 1], None, [4, 0])
    condition = RuleCondition(0, "in", frozenset({0, 2}))
    assert rule_bits((condition,), cases) == 1 + 4
    constant = gather_cases([[0, 1], [3, 1], [2, 1]], [0, 1, 1], None, [4, 0])
    assert rule_bits((condition,), constant) == 0 + 4  # nobody can ask the other column


def some_rules(n_rules, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, size=(60, 3)).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=60) > 8).astype(int)
    cases = gather_cases(X, y, None, None)
    rules = []
    for _ in range(n_rules):
        f, g = rng.choice(3, 2, replace=False)
        path = (
            RuleCondition(int(f), ">", float(rng.integers(0, 7))),
            RuleCondition(int(g), "<=", float(rng.integers(1, 8))),
        )
        rules.append(TextbookRule(path, 1, (0.0, 1.0), 0.3))
    return rules, cases


@pytest.mark.parametrize("seed", range(4))
def test_no_subset_is_shorter(seed):
    rules, cases = some_rules(7, seed)
    best = choose_rules(rules, 1, cases)
    masks = np.array([rule.covers(cases.X) for rule in rules])
    for chosen in chain.from_iterable(combinations(range(7), k) for k in range(8)):
        theory = sum(best.bits[j] for j in chosen) - log2(factorial(len(chosen)))
        covered = masks[list(chosen)].any(axis=0)
        length = 0.5 * theory + exception_bits(covered, cases.y == 1, cases.w)
        assert length >= best.length - 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_climbing_ends_where_no_single_change_helps(seed, monkeypatch):
    rules, cases = some_rules(9, seed)
    exact = choose_rules(rules, 1, cases)
    monkeypatch.setattr(book, "MOST_TRIED", 3)
    climbed = choose_rules(rules, 1, cases)
    assert exact.length <= climbed.length + 1e-9
    assert climbed.length <= exact.length * 1.2 + 1


def test_a_heavier_theory_keeps_fewer_rules():
    rules, cases = some_rules(8, 1)
    sizes = [len(choose_rules(rules, 1, cases, weight).chosen) for weight in (0.0, 0.5, 5.0)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 0


def test_the_class_with_fewer_false_positives_comes_first():
    x = np.arange(10.0)[:, None]
    y = np.array([0, 0, 0, 0, 1, 0, 1, 1, 1, 1])
    cases = gather_cases(x, y, None, None)
    zero = TextbookRule((RuleCondition(0, "<=", 4.0),), 0, (4.0, 1.0), 0.4)
    ones = [
        TextbookRule((RuleCondition(0, ">", 5.0),), 1, (0.0, 4.0), 0.3),
        TextbookRule((RuleCondition(0, ">", 6.0),), 1, (0.0, 3.0), 0.2),
    ]
    choices = [
        book.Choice(0, [zero], [1.0], (0,), 0.0, 0.0, 0.0),
        book.Choice(1, ones, [1.0, 1.0], (0, 1), 0.0, 0.0, 0.0),
    ]
    assert order_rules(choices, cases) == [ones[1], ones[0], zero]


def test_a_rule_that_does_harm_goes():
    x = np.arange(10.0)[:, None]
    cases = gather_cases(x, np.array([0] * 5 + [1] * 5), None, None)
    good = TextbookRule((RuleCondition(0, ">", 4.0),), 1, (0.0, 5.0), 0.2)
    bad = TextbookRule((RuleCondition(0, "<=", 2.0),), 1, (3.0, 0.0), 0.2)
    assert drop_harmful([bad, good], cases) == ([good], [bad])
    assert drop_harmful([good], cases) == ([good], [])
    assert drop_harmful([], cases) == ([], [])


# ---------------------------------------------------------------------- corners
def test_a_tree_that_is_a_leaf_has_no_rules():
    found = c45_rules(grow_c45([[1.0], [1.0], [1.0]], [0, 1, 1]))
    assert found.rules == []
    assert found.default == 1
    assert predict_c45_rules(found, [[5.0], [NAN]]).tolist() == [1, 1]


def test_classes_that_are_equally_frequent_default_to_the_first():
    found = c45_rules(grow_c45([[1.0], [1.0]], [0, 1]))
    assert found.default == 0


def test_weights_are_cases():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 6, size=(80, 3)).astype(float)
    y = (X[:, 0] > X[:, 1]).astype(int)
    w = rng.integers(1, 4, 80)
    twice = np.repeat(np.arange(80), w)
    a = c45_rules(collapse_c45(grow_c45(X, y, w))[0])
    b = c45_rules(collapse_c45(grow_c45(X[twice], y[twice]))[0])
    assert [words(r) for r in a.rules] == [words(r) for r in b.rules]
    assert [r.counts for r in a.rules] == [r.counts for r in b.rules]


def test_examples_are_true():
    assert doctest.testmod(book).failed == 0
