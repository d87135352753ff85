"""C4.5 against Weka's J48, another program written from the same book, on 23 tables.

With `error_limit="weka"`, and J48's declared categories, the trees are the same, but where J48 has a
rule of its own. Those differences stand in tables below, each with its rule; and with that rule put
into the program the difference is gone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum import C45Classifier
from arboretum.c45 import search
from arboretum.structure.tree import LEAF, MULTIWAY, THRESHOLD
from arboretum.textbook import c45_splits
from arboretum.textbook.c45 import predict_c45
from tests.c45.c45_walk import Problem, assert_same, engine_proba, engine_tree, textbook_tree
from tests.c45.j48_facts import (
    FACTS,
    SETTINGS,
    fold_of,
    frame_of,
    held_out,
    parse_tree,
    problem_of,
    some_rows,
)

# Rules that J48 has and release 8 (or this program) has not:
CLOSE = "numbers up to 0.00001 apart are not parted"
RATIO = "a test needs a gain ratio above 0.000001"
WHOLE = "thresholds are values of all rows, also of those that were held out"
NEAR = "a number less than 0.000001 above another is not above it, in finding and asking thresholds"

# table, setting: (leaves, size, training errors) found here, and the rule that makes J48's differ
DIFFERENT = {
    ("vote", "-O -U"): ((94, 187, 8), {RATIO}),
    ("breast-cancer", "-O -U"): ((207, 252, 34), {RATIO}),
    ("soybean", "-O -U"): ((172, 255, 15), {RATIO}),
    ("credit-g", "-O -U"): ((442, 591, 60), {RATIO}),
    ("made-noise", "-O -U"): ((159, 254, 37), {RATIO}),
    ("glass", "default"): ((26, 51, 13), {CLOSE}),
    ("glass", "-S"): ((26, 51, 13), {CLOSE}),
    ("glass", "-O"): ((26, 51, 13), {CLOSE}),
    ("glass", "-U"): ((26, 51, 13), {CLOSE}),
    ("glass", "-O -U"): ((32, 63, 13), {CLOSE}),
    ("glass", "-C 0.1"): ((19, 37, 21), {CLOSE}),
    ("glass", "-R -N 3"): ((10, 19, 54), {CLOSE, WHOLE}),
    ("wdbc", "-O -U"): ((16, 31, 4), {CLOSE}),
    ("made-tiny-scale", "default"): ((4, 7, 18), {CLOSE}),
    ("made-tiny-scale", "-S"): ((4, 7, 18), {CLOSE}),
    ("made-tiny-scale", "-O"): ((4, 7, 18), {CLOSE}),
    ("made-tiny-scale", "-U"): ((4, 7, 18), {CLOSE}),
    ("made-tiny-scale", "-O -U"): ((5, 9, 18), {CLOSE}),
    ("made-tiny-scale", "-C 0.1"): ((4, 7, 18), {CLOSE}),
    ("made-tiny-scale", "-M 5"): ((4, 7, 18), {CLOSE}),
    ("made-tiny-scale", "-R -N 3"): ((4, 7, 18), {CLOSE, WHOLE}),
    ("ionosphere", "-R -N 3"): ((5, 9, 29), {WHOLE}),
    ("segment-challenge", "-R -N 3"): ((28, 55, 44), {WHOLE}),
}
# Only categories that occur in the training rows are known to `fit`; J48 makes an empty leaf for each
# of the others, and so has larger trees on these tables:
UNMET = {"breast-cancer", "soybean", "credit-g", "made-gaps", "made-clinic", "made-many-values"}

each_set = pytest.mark.parametrize("name", FACTS)


def recorded(name: str, setting: str) -> tuple[int, int, int]:
    facts = FACTS[name]["j48"][setting]
    return facts["leaves"], facts["size"], facts["errors"]


def figures(tree, problem: Problem) -> tuple[int, int, int]:
    wrong = engine_proba(tree, problem.X).argmax(axis=1) != problem.y
    return tree.n_leaves, len(tree), int(wrong.sum())


def test_nothing_is_left_out():
    assert len(FACTS) == 23
    for name, facts in FACTS.items():
        assert set(facts["j48"]) == set(SETTINGS)
        assert len(facts["held_out"]) == facts["rows"] == len(frame_of(name)[1])
        assert int(np.isnan(problem_of(name).X).sum()) == facts["missing"]
    for (name, setting), (found, _) in DIFFERENT.items():
        assert found != recorded(name, setting)


# ---------------------------------------------------------------------- leaves, size, errors
@each_set
def test_leaves_size_and_errors(name):
    for setting in SETTINGS:
        problem = problem_of(name, setting)
        tree = engine_tree(problem, held_out(name, setting))
        expected, _ = DIFFERENT.get((name, setting), (recorded(name, setting), None))
        assert figures(tree, problem) == expected, setting


@each_set
def test_the_estimator_on_words(name):
    """`fit` on the table with words: the same tree, less the leaves of categories never met."""
    frame, y = frame_of(name)
    problem = problem_of(name)
    met = [
        size == 0 or len(np.unique(column[~np.isnan(column)])) == size
        for column, size in zip(problem.X.T, problem.n_values)
    ]
    assert all(met) != (name in UNMET)
    model = C45Classifier(error_limit="weka").fit(frame, y)
    leaves, size, errors = figures(engine_tree(problem), problem)
    assert int((model.predict(frame) != y).sum()) == errors
    empty = size - model.tree_.node_count
    assert leaves - model.get_n_leaves() == empty
    assert empty == 0 or name in UNMET
    tree = engine_tree(problem)
    assert empty <= int((tree.weight == 0).sum())


# ---------------------------------------------------------------------- J48's own rules, put in
@pytest.fixture
def with_rules(monkeypatch):
    """Return a function that gives engine and textbook some of J48's rules."""

    def put_in(rules: set[str], problem: Problem) -> None:
        if RATIO in rules:
            plain = search.by_ratio
            monkeypatch.setattr(search, "by_ratio", lambda *a: _above(plain(*a)))
        if CLOSE in rules:
            cuts = c45_splits._cuts

            def apart(*arguments):
                below, above, *others = cuts(*arguments)
                some = below + 1e-5 < above
                return [figure[some] for figure in (below, above, *others)]

            monkeypatch.setattr(c45_splits, "_cuts", apart)
        if WHOLE in rules:
            everywhere, rounded = problem.table(), search.round_down
            best = c45_splits.threshold_test
            monkeypatch.setattr(
                search,
                "round_down",
                lambda numbers, slot, order, present, value: rounded(
                    everywhere.values.numbers, slot, everywhere.order, everywhere.present, value
                ),
            )
            monkeypatch.setattr(
                c45_splits,
                "threshold_test",
                lambda cases, f, settings, _, **k: best(cases, f, settings, problem.X[:, f], **k),
            )

        if NEAR in rules:
            down, test = search.round_down, c45_splits.threshold_test

            def round_nearly(X, feature, order, present, value):
                value += 1e-6
                down(X, feature, order, present, value)

            monkeypatch.setattr(search, "round_down", round_nearly)
            monkeypatch.setattr(
                c45_splits, "threshold_test", lambda *a, **k: _nearly(test(*a, **k), a[-1])
            )
            monkeypatch.setattr(c45_splits.C45Test, "branches", _nearly_below)

    return put_in


def _nearly(candidate, training):
    """The threshold as J48 looks for it, row by row."""
    if candidate.test is None:
        return candidate
    best = max(candidate.steps, key=lambda cut: round(cut.gain, 9))
    middle, found = best.below / 2 + best.above / 2, -np.inf
    for value in training:
        if value - found > 1e-6 and value - middle < 1e-6:
            found = value
    return replace(candidate, test=c45_splits.C45Test(candidate.feature, float(found)))


def _nearly_below(self, x):
    """Which branch, as J48 compares."""
    if self.groups:
        return np.where(np.isnan(x), -1, x).astype(int)
    return np.where(np.isnan(x), -1, np.where(x - self.threshold < 1e-6, 0, 1))


def _above(choose):
    def by_j48(gain, info, admissible):
        """The ratio must exceed 1e-6; tests that fail in this still count in the average."""
        chosen = choose(gain, info, admissible)
        places = np.arange(gain.shape[1])
        ratio = gain[chosen, places] / np.maximum(info[chosen, places], 1e-300)
        return np.where((chosen >= 0) & (ratio > 1e-6), chosen, -1)

    return by_j48


@pytest.mark.parametrize(
    ("name", "setting"), [key for key, (_, rules) in DIFFERENT.items() if CLOSE not in rules]
)
def test_with_its_rule_the_difference_is_gone(name, setting, with_rules):
    problem = problem_of(name, setting)
    with_rules(DIFFERENT[name, setting][1], problem)
    tree = engine_tree(problem, held_out(name, setting))
    assert figures(tree, problem) == recorded(name, setting)


@pytest.mark.parametrize(
    ("name", "setting"), [key for key, (_, rules) in DIFFERENT.items() if CLOSE in rules]
)
def test_with_its_rule_the_difference_is_gone_from_the_textbook(name, setting, with_rules):
    """The engine knows only whether numbers differ, not by how much; the textbook is asked instead."""
    problem = problem_of(name, setting)
    with_rules(DIFFERENT[name, setting][1], problem)
    book = textbook_tree(problem, held_out(name, setting))
    nodes = list(book)
    wrong = int((predict_c45(book, problem.X) != problem.y).sum())
    assert (sum(n.is_leaf for n in nodes), len(nodes), wrong) == recorded(name, setting)


# ---------------------------------------------------------------------- node by node
# table: {threshold of J48: threshold here}, where the middle of two values is, but for rounding, the
# value between them, or two values are so close that J48 takes the one it meets first
MOVED = {
    "diabetes": {0.561: 0.56},
    "wdbc": {14.97: 14.96},
    "segment-challenge": {0.333334: 0.333333, 0.833335: 0.833336},
}


def assert_as_printed(tree, text: str, facts: dict, moved: dict[float, float]) -> int:
    """Compare a tree with J48's print of it; return the number of lines."""
    columns = facts["columns"][:-1]
    lines = parse_tree(text, columns)
    if tree.kind[0] == LEAF:
        assert_leaf(tree, 0, lines[0], facts["classes"])
        return 1
    at = 0

    def visit(node: int, depth: int) -> None:
        nonlocal at
        first = int(tree.first_child[node])
        for child in range(int(tree.n_children[node])):
            line = lines[at]
            at += 1
            assert line.depth == depth
            assert line.column == columns[tree.feature[node]]
            if tree.kind[node] == THRESHOLD:
                assert line.operator == ("<=", ">")[child]
                value = float(line.value)
                assert_allclose(tree.threshold[node], moved.get(value, value), atol=5.1e-7)
            else:
                assert tree.kind[node] == MULTIWAY
                assert line.operator == "="
                assert line.value == facts["categories"][line.column][child]
            if tree.kind[first + child] == LEAF:
                assert_leaf(tree, first + child, line, facts["classes"])
            else:
                assert not line.answer
                visit(first + child, depth + 1)

    visit(0, 0)
    assert at == len(lines) == len(tree) - 1
    return len(lines)


def assert_leaf(tree, node: int, line, classes: list[str]) -> None:
    assert line.answer == classes[int(np.argmax(tree.value[node, 0]))]
    assert_allclose(tree.weight[node], line.weight, atol=0.0051)
    errors = tree.weight[node] * (1 - tree.value[node, 0].max())
    assert_allclose(errors, line.errors, atol=0.0051)


@pytest.mark.parametrize("setting", ["default", "-U"])
@each_set
def test_the_printed_tree(name, setting):
    if (name, setting) in DIFFERENT:
        return
    facts = FACTS[name]
    tree = engine_tree(problem_of(name, setting))
    moved = MOVED.get(name, {})
    assert assert_as_printed(tree, facts["tree"][setting], facts, moved) >= 1


@pytest.mark.parametrize("setting", ["default", "-U"])
@pytest.mark.parametrize("name", ["diabetes", "wdbc"])
def test_with_its_rule_the_threshold_is_the_same(name, setting, with_rules):
    problem = problem_of(name, setting)
    with_rules({NEAR}, problem)
    assert assert_as_printed(engine_tree(problem), FACTS[name]["tree"][setting], FACTS[name], {})


@pytest.mark.parametrize("name", ["labor", "soybean", "made-gaps", "made-clinic", "vote"])
def test_the_textbook_prints_the_same(name):
    """Tables with missing values, by all three: J48, engine and textbook."""
    for setting in ("default", "-U"):
        problem = problem_of(name, setting)
        assert_same(engine_tree(problem), textbook_tree(problem))


# ---------------------------------------------------------------------- cross-validation
# table: {fold: (right, leaves) found here}; J48's rules CLOSE and NEAR make the difference
DIFFERENT_FOLDS = {
    "glass": {6: (14, 23), 8: (12, 22), 9: (15, 24)},
    "segment-challenge": {0: (143, 37), 6: (144, 35)},
    "wdbc": {2: (54, 9), 5: (57, 13)},
    "made-tiny-scale": {
        0: (16, 4), 1: (16, 4), 2: (18, 4), 3: (18, 4), 4: (19, 4), 5: (18, 4), 6: (17, 4),
        7: (18, 9), 8: (17, 4), 9: (18, 4),
    },
}  # fmt: skip


def recorded_folds(name: str) -> list[tuple[int, int]]:
    facts = FACTS[name]["cv"]["seed_1"]
    return list(zip(facts["correct"], facts["leaves"]))


@each_set
def test_every_fold(name):
    problem, fold = problem_of(name), fold_of(name)
    found = []
    for k in range(10):
        tree = engine_tree(some_rows(problem, fold != k))
        answer = engine_proba(tree, problem.X[fold == k]).argmax(axis=1)
        found.append((int((answer == problem.y[fold == k]).sum()), tree.n_leaves))
    expected = recorded_folds(name)
    for k, figures_here in DIFFERENT_FOLDS.get(name, {}).items():
        assert expected[k] != figures_here
        expected[k] = figures_here
    assert found == expected


@pytest.mark.parametrize(
    ("name", "k"),
    [(name, k) for name, folds in DIFFERENT_FOLDS.items() for k in folds],
)
def test_with_its_rule_the_fold_is_the_same(name, k, with_rules):
    problem, fold = problem_of(name), fold_of(name)
    with_rules({CLOSE, NEAR}, problem)
    book = textbook_tree(some_rows(problem, fold != k))
    right = predict_c45(book, problem.X[fold == k]) == problem.y[fold == k]
    assert (int(right.sum()), sum(n.is_leaf for n in book)) == recorded_folds(name)[k]


@pytest.mark.filterwarnings("ignore::arboretum.errors.UnseenCategoryWarning")
@each_set
def test_accuracy_within_one_standard_error(name):
    """The estimator as it comes, release 8's error limit, on words and numbers as they are read."""
    frame, y = frame_of(name)
    fold, facts = fold_of(name), FACTS[name]["cv"]
    right = 0
    for k in range(10):
        model = C45Classifier().fit(frame[fold != k], y[fold != k])
        right += int((model.predict(frame[fold == k]) == y[fold == k]).sum())
    difference = right / len(y) - sum(facts["seed_1"]["correct"]) / len(y)
    if name == "made-tiny-scale":  # all that tells is in differences J48 does not see
        assert difference > 3 * facts["se_folds"]
    else:
        assert abs(difference) <= facts["se_folds"]


# ---------------------------------------------------------------------- the other limits
def test_the_limits_agree_on_most_tables():
    """Release 8, J48 and the exact binomial limit differ by a few leaves, on a few tables."""
    leaves = {
        limit: [
            engine_tree(replace(problem_of(name), options={"error_limit": limit})).n_leaves
            for name in FACTS
        ]
        for limit in ("quinlan", "weka", "binomial")
    }
    names = list(FACTS)
    differ = {
        names[i]: tuple(leaves[limit][i] for limit in leaves)
        for i in range(len(names))
        if len({leaves[limit][i] for limit in leaves}) > 1
    }
    assert differ == {"diabetes": (22, 20, 20), "segment-challenge": (36, 34, 36)}


def test_a_printed_tree_is_read_right():
    text = (
        "a <= 2.5: yes (3.0)\na > 2.5\n|   a b = no or: maybe (0.0)\n|   a b = yes: no (4.67/1.0)"
    )
    lines = parse_tree(text, ["a", "a b"])
    assert [(n.depth, n.column, n.operator, n.value) for n in lines] == [
        (0, "a", "<=", "2.5"), (0, "a", ">", "2.5"), (1, "a b", "=", "no or"), (1, "a b", "=", "yes"),
    ]  # fmt: skip
    assert [(n.answer, n.weight, n.errors) for n in lines] == [
        ("yes", 3.0, 0.0), ("", 0.0, 0.0), ("maybe", 0.0, 0.0), ("no", 4.67, 1.0),
    ]  # fmt: skip
    assert_array_equal([n.answer for n in parse_tree(": no (5.0/2.0)", ["a"])], ["no"])
