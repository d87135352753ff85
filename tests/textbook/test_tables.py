"""Tables: text that lines up, and rows that can be computed with."""

import numpy as np
import pytest

from arboretum import textbook as book

X = np.array([[1, 0], [2, 1], [3, 0], [4, 1], [5, 1], [6, 0], [7, 1], [8, 1.0]])
Y = np.array([0, 0, 0, 1, 1, 1, 0, 1])
CART = book.grow(X, Y)
ID3 = book.grow_id3((X[:, 1:] > 0).astype(int), Y, n_values=[2])
C45 = book.grow_c45(X, Y)
FOREST = book.grow_forest(X, Y, recipe=book.ForestRules(4))
ANSWERS = book.tree_answers(FOREST, X)
GAPPY = X.copy()
GAPPY[2, 0] = np.nan


@pytest.mark.parametrize(
    ("thing", "n_rows", "column"),
    [
        (CART, sum(1 for _ in CART), "impurity"),
        (CART.candidates, len(CART.candidates), "gain"),
        (ID3, sum(1 for _ in ID3), "rows"),
        (ID3.candidates, 1, "H(D|A)"),
        (C45, sum(1 for _ in C45), "errors"),
        (C45.candidates, 2, "ratio"),
        (book.pruning_path(CART), len(book.pruning_path(CART)), "risk"),
        (book.choose_alpha(X, Y, folds=2), None, "mean error"),
        (FOREST, 4, "left out"),
        (book.out_of_bag(ANSWERS, FOREST.in_bag), 8, "trees that never saw it"),
        (book.oob_curve(ANSWERS, FOREST.in_bag, Y), 4, "error"),
        (book.proximity(book.forest_leaves(FOREST, X)), 8, "3"),
        (book.fill_missing(GAPPY, Y, recipe=book.ForestRules(5)), None, "farthest move"),
        (book.predict_copies([np.nan, 1.0], X, FOREST)[1], 2, "for itself"),
        (book.discrete_adaboost(X, Y * 2 - 1, rules=book.AdaRules(3)), 3, "say"),
        (book.adaboost_r2(X, Y, rules=book.AdaRules(2)), None, "error"),
        (book.grow_gbm(X, Y, rules=book.GBMRules(n_rounds=2)), 2, "train score"),
    ],
)
def test_tables_have_rows_and_text(thing, n_rows, column):
    table = book.table(thing)
    lines = str(table).split("\n")
    assert len(lines) == 1 + len(table.rows) > 1
    assert n_rows is None or len(table.rows) == n_rows
    assert all(
        isinstance(value, (float, int, np.number, type(None))) for value in table.column(column)
    )
    for name in table.columns:
        assert name in lines[0]


@pytest.mark.parametrize("rule", ["min", "1se"])
def test_the_chosen_alpha_is_marked(rule):
    choice = book.choose_alpha(X, Y, folds=2, rule=rule)
    rows = [row for row in book.table(choice).rows if row[-1]]
    assert [row[1] for row in rows] == [choice.alpha]
    assert rows[0][2] == sum(node.is_leaf for node in choice.tree)


def test_the_figures_are_those_of_the_object():
    assert book.table(CART.candidates).column("gain") == [c.gain for c in CART.candidates]
    assert book.table(C45.candidates).column("verdict") == [c.verdict for c in C45.candidates]
    assert sum(book.table(FOREST).column("rows drawn")) == 32


@pytest.mark.parametrize("thing", [[], [1], "word", np.zeros(3)])
def test_what_has_no_table(thing):
    with pytest.raises(TypeError, match=r"no table of|two axes"):
        book.table(thing)
