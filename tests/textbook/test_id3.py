"""ID3 on the textbook examples, its stopping rules, and the laws every tree keeps."""

import doctest

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum.textbook import id3
from arboretum.textbook.discretize import bin_codes, mdl_cuts
from arboretum.textbook.id3 import (
    first_largest,
    gather_cases,
    grow_id3,
    id3_candidates,
    majority,
    predict_id3,
    predict_proba_id3,
)

NAN = np.nan
OUTLOOK, TEMPERATURE, HUMIDITY, WIND = range(4)
# outlook sunny, overcast, rain; temperature hot, mild, cool; humidity high, normal; wind weak, strong
PLAY_TENNIS = np.array(
    [
        [0, 0, 0, 0, 0], [0, 0, 0, 1, 0], [1, 0, 0, 0, 1], [2, 1, 0, 0, 1], [2, 2, 1, 0, 1],
        [2, 2, 1, 1, 0], [1, 2, 1, 1, 1], [0, 1, 0, 0, 0], [0, 2, 1, 0, 1], [2, 1, 1, 0, 1],
        [0, 1, 1, 1, 1], [1, 1, 0, 1, 1], [1, 0, 1, 0, 1], [2, 1, 0, 1, 0],
    ]
)  # fmt: skip
X, Y, N_VALUES = PLAY_TENNIS[:, :4].astype(float), PLAY_TENNIS[:, 4], [3, 3, 2, 2]


def shape(tree):
    return [(node.path, node.feature, node.counts.round(9).tolist()) for node in tree]


def test_examples_in_the_docstrings():
    result = doctest.testmod(id3)
    assert result.attempted > 0
    assert result.failed == 0


# ---------------------------------------------------------------------- worked examples
def test_play_tennis_table_of_candidates():
    tree = grow_id3(X, Y, n_values=N_VALUES)
    assert round(tree.candidates[OUTLOOK].figures.entropy, 3) == 0.940
    assert [round(c.gain, 3) for c in tree.candidates] == [0.247, 0.029, 0.152, 0.048]
    assert [c.verdict for c in tree.candidates] == ["chosen"] + ["smaller gain"] * 3
    assert round(tree.candidates[OUTLOOK].figures.ratio, 3) == 0.156
    conditional = [branch.entropy for branch in tree.candidates[OUTLOOK].figures.branches]
    assert_allclose(conditional, [0.971, 0.0, 0.971], atol=5e-4)


def test_play_tennis_tree():
    tree = grow_id3(X, Y, n_values=N_VALUES)
    assert shape(tree) == [
        ((), OUTLOOK, [5, 9]),
        ((0,), HUMIDITY, [3, 2]),
        ((0, 0), None, [3, 0]),
        ((0, 1), None, [0, 2]),
        ((1,), None, [0, 4]),
        ((2,), WIND, [2, 3]),
        ((2, 0), None, [0, 3]),
        ((2, 1), None, [2, 0]),
    ]
    assert_array_equal(predict_id3(tree, X), Y)
    sunny = tree.children[0]
    assert [c.feature for c in sunny.candidates] == [TEMPERATURE, HUMIDITY, WIND]  # outlook is used
    assert [round(c.gain, 3) for c in sunny.candidates] == [0.571, 0.971, 0.020]


def test_nba_height():
    tall, player = np.array([[1], [0], [1], [0], [1]]), np.array([1, 1, 0, 0, 1])
    [candidate] = grow_id3(tall, player, n_values=[2]).candidates
    figures = candidate.figures
    assert round(figures.entropy, 3) == 0.971
    assert [round(branch.entropy, 3) for branch in figures.branches] == [1.0, 0.918]
    assert round(candidate.gain, 5) == 0.01997


# ---------------------------------------------------------------------- stopping
@pytest.mark.parametrize(
    ("options", "root_stop", "n_nodes"),
    [
        ({"epsilon": 0.24}, "", 8),
        ({"epsilon": 0.25}, "no gain above epsilon", 1),
        ({"max_depth": 0}, "max_depth", 1),
        ({"max_depth": 1}, "", 4),
        ({"min_samples": 14}, "", 4),
        ({"min_samples": 14.5}, "min_samples", 1),
    ],
)
def test_when_to_stop(options, root_stop, n_nodes):
    tree = grow_id3(X, Y, n_values=N_VALUES, **options)
    assert (tree.stop, len(list(tree))) == (root_stop, n_nodes)


def test_the_rejected_table_is_kept():
    tree = grow_id3(X, Y, n_values=N_VALUES, epsilon=0.5)
    assert {c.verdict for c in tree.candidates} == {"gain not above epsilon"}
    assert tree.feature is None
    assert tree.is_leaf


def test_a_feature_is_asked_once_on_a_path():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (80, 4))
    tree = grow_id3(codes, rng.integers(0, 3, 80), n_values=[3] * 4)
    for node in tree:
        assert len(node.path) <= 4
        left = [c.feature for c in node.candidates]
        assert len(left) in (0, 4 - len(node.path))
        assert all(node.feature not in [c.feature for c in child.candidates]
                   for child in node.children.values())  # fmt: skip
    assert "no attribute left" in {node.stop for node in tree}


def test_no_gain_is_no_split_even_if_two_questions_together_would_tell_all():
    xor = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert grow_id3(xor, [0, 1, 1, 0], n_values=[2, 2]).stop == "no gain above epsilon"


def test_ties_go_to_the_first_column_and_the_smallest_class():
    twice = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    tree = grow_id3(twice, [0, 0, 1, 2], n_values=[2, 2])
    assert tree.feature == 0
    assert predict_id3(tree, [[1, 1]])[0] == 1
    assert first_largest([0.3, 0.1 + 0.2]) == first_largest([0.1 + 0.2, 0.3]) == 0
    assert majority(np.array([2.0, 2.0 + 1e-12])) == 0


# ---------------------------------------------------------------------- values not met, or missing
def test_a_value_not_met_at_a_node_gets_its_answer():
    tree = grow_id3(X, Y, n_values=N_VALUES)
    sunny = tree.children[0]
    rows = np.array([[7, 0, 0, 0], [0, 0, 5, 0], [0, 0, NAN, 0]])
    expected = [tree.counts / 14, sunny.counts / 5, sunny.counts / 5]
    assert_allclose(predict_proba_id3(tree, rows), expected)
    assert predict_id3(tree, rows).tolist() == [1, 0, 0]


def test_missing_is_one_more_value():
    x = np.array([[0.0], [0.0], [NAN], [NAN], [1.0]])
    tree = grow_id3(x, [0, 0, 1, 1, 0], n_values=[2])
    assert sorted(tree.children) == [0, 1, 2]
    assert_array_equal(predict_id3(tree, x), [0, 0, 1, 1, 0])


def test_one_class_is_one_leaf():
    tree = grow_id3([[0], [1]], [0, 0], n_values=[2])
    assert tree.stop == "pure"
    assert predict_proba_id3(tree, [[1]]).tolist() == [[1.0]]


# ---------------------------------------------------------------------- laws
def noise(seed, n=60):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, (n, 3)).astype(float), rng.integers(0, 3, n), rng.integers(0, 4, n)


@pytest.mark.parametrize("seed", range(3))
def test_a_weight_is_a_number_of_rows(seed):
    X, y, w = noise(seed)
    one = grow_id3(X, y, w, [3] * 3)
    two = grow_id3(np.repeat(X, w, axis=0), np.repeat(y, w), None, [3] * 3)
    assert shape(one) == shape(two)
    assert len(shape(one)) > 5


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_rows_does_not_matter(seed):
    X, y, w = noise(seed)
    w = w / 7 + 0.1
    order = np.random.default_rng(seed).permutation(len(y))
    one, two = grow_id3(X, y, w, [3] * 3), grow_id3(X[order], y[order], w[order], [3] * 3)
    assert shape(one) == shape(two)


def test_gain_of_every_candidate_from_the_definition():
    X, y, w = noise(7)
    cases = gather_cases(X, y, w, [3] * 3)
    table, _ = id3_candidates(cases, [0, 1, 2])

    def h(rows):
        p = np.array([cases.w[rows & (cases.y == k)].sum() for k in range(3)]) / cases.w[rows].sum()
        return -sum(q * np.log2(q) for q in p if q > 0)

    for c in table:
        parts = [cases.X[:, c.feature] == v for v in range(3)]
        after = sum(cases.w[part].sum() * h(part) for part in parts) / cases.w.sum()
        assert_allclose(c.gain, h(np.ones(len(cases.y), bool)) - after, atol=1e-12)


def test_numbers_in_bins():
    rng = np.random.default_rng(3)
    x = rng.normal(size=100)
    y = (x > 0.3).astype(int)
    cuts, _ = mdl_cuts(x, y)
    tree = grow_id3(bin_codes(x, cuts)[:, None], y, n_values=[len(cuts) + 1])
    assert_array_equal(predict_id3(tree, bin_codes(x, cuts)[:, None]), y)


# ---------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("X", "y", "w", "n_values", "words"),
    [
        ([[0.5, 1]], [0], None, [0, 2], r"columns \['x0'\] are numbers: cut them into bins"),
        ([[0], [2]], [0, 1], None, [2], "column 0 needs category codes 0 to 1"),
        ([[0], [0.5]], [0, 1], None, [2], "column 0 needs category codes"),
        ([[0], [1]], [0, 1], None, [2, 2], "one number ≥ 0 per column"),
        ([[0], [1]], [0], None, [2], "same number of rows"),
        ([[0], [1]], [0, 1], [0, 0], [2], "one weight > 0"),
        ([[0], [1]], [0, 1], [1, -1], [2], "weights ≥ 0"),
        ([[0], [1]], [0, 1.5], None, [2], "class indices"),
        ([[0], [1]], [0, -1], None, [2], "class indices"),
    ],
)
def test_bad_input(X, y, w, n_values, words):
    with pytest.raises(ValueError, match=words):
        grow_id3(X, y, w, n_values)
