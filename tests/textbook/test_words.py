"""Rows of words: coded once, grown, predicted and printed in words, for ID3, C4.5 and CART."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from arboretum import textbook as book

DAYS = book.play_tennis()
GOLF = book.golf()
CODES = np.array(
    [[sorted({row[f] for row in DAYS.X}).index(row[f]) for f in range(4)] for row in DAYS.X]
)
LABELS = np.array([label == "yes" for label in DAYS.y]).astype(int)
SIZES = [3, 3, 2, 2]


def _grow(family, X, y, **named):
    return {"id3": book.grow_id3, "c45": book.grow_c45, "cart": book.grow}[family](X, y, **named)


def _predict(family, tree, X):
    return {"id3": book.predict_id3, "c45": book.predict_c45, "cart": book.predict}[family](tree, X)


@pytest.mark.parametrize("family", ["id3", "c45", "cart"])
def test_words_grow_the_tree_of_their_codes(family):
    words = _grow(family, DAYS.X, DAYS.y, names=DAYS.names)
    sizes = {"rules": book.Rules(kinds=("categorical",) * 4)} if family == "cart" else {}
    sizes = sizes or {"n_values": SIZES}
    codes = _grow(family, CODES, LABELS, **sizes)
    counts = [len(node.rows) for node in codes]
    assert [len(node.rows) for node in words] == counts
    answers = _predict(family, words, DAYS.X)
    assert_array_equal(answers, np.array(["no", "yes"])[_predict(family, codes, CODES)])
    if family == "id3":
        assert answers.tolist() == DAYS.y


@pytest.mark.parametrize("family", ["id3", "c45", "cart"])
@pytest.mark.parametrize("form", ["lists", "object array", "strings", "frame", "named codes"])
def test_every_form_of_a_table_gives_the_same_tree(family, form):
    categories = [sorted({row[f] for row in DAYS.X}) for f in range(4)]
    X, named = {
        "lists": (DAYS.X, {"names": DAYS.names}),
        "object array": (np.array(DAYS.X, dtype=object), {"names": DAYS.names}),
        "strings": (np.array(DAYS.X), {"names": DAYS.names}),
        "frame": (pd.DataFrame(DAYS.X, columns=DAYS.names), {}),
        "named codes": (CODES, {"names": DAYS.names, "categories": categories}),
    }[form]
    tree = _grow(family, X, DAYS.y, **named)
    assert str(book.table(tree)) == str(book.table(_grow(family, DAYS.X, DAYS.y, names=DAYS.names)))
    assert "outlook" in str(book.table(tree))
    assert "overcast" in str(book.table(tree))
    assert "x0" not in str(book.table(tree.candidates))


@pytest.mark.parametrize("family", ["c45", "cart"])
def test_words_beside_numbers_and_gaps(family):
    rows = [list(row) for row in GOLF.X]
    rows[0][0], rows[3][1] = None, np.nan
    tree = _grow(family, rows, GOLF.y, names=GOLF.names)
    answers = _predict(family, tree, [["sunny", 90, 95, "false"], ["fog", None, 95, "true"]])
    assert set(answers) <= {"no", "yes"}
    kinds = {c.feature for c in tree.candidates}
    assert kinds == {0, 1, 2, 3}
    assert "humidity <= " in str(book.table(tree.candidates))


def test_an_unseen_word_is_not_a_missing_one():
    X, y = [["a"], ["a"], ["b"], [None], [None]], ["p", "p", "q", "q", "q"]
    tree = book.grow_id3(X, y)
    assert book.predict_id3(tree, [["a"], [None], ["c"]]).tolist() == ["p", "q", "q"]
    assert len(tree.children) == 3  # a, b, missing
    shares = book.predict_proba_id3(tree, [["c"]])
    assert shares.tolist() == [tree.shares.tolist()]  # the node's own answer


def test_the_order_of_categories_is_the_order_of_codes():
    tree = book.grow_id3(
        [["low"], ["high"]], [0, 1], names=["x"], categories={"x": ["low", "mid", "high"]}
    )
    assert tree.words.categories == (("low", "mid", "high"),)
    assert tree.n_values == (3,)
    assert sorted(tree.children) == [0, 2]
    assert book.predict_id3(tree, [["low"], ["high"]]).tolist() == [0, 1]  # y was numbers


def test_labels_of_words_and_bools_in_object_tables():
    tree = book.grow([[True, None], [False, 2.5], [True, 3.5]], ["a", "b", "a"])
    assert tree.words.categories == ((False, True), ())
    assert tree.words.classes == ("a", "b")
    assert book.predict(tree, [[False, 9.0]]).tolist() == ["b"]


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"names": ["a"]}, "names has 1 entries, X has 2 columns"),
        ({"categories": [["u"]]}, "one entry per column"),
        ({"names": ["a", "b"], "categories": {"c": ["u"]}}, "no such columns"),
        ({"names": ["a", "b"], "categories": {"a": ["u"]}}, "a has a value that is not among its"),
    ],
)
def test_what_does_not_fit_is_refused(named, words):
    with pytest.raises(ValueError, match=words):
        book.grow([["u", 1], ["v", 2]], [0, 1], **named)


def test_a_tree_of_numbers_refuses_words():
    with pytest.raises(ValueError, match="could not convert"):
        book.predict(book.grow([[1.0], [2.0]], [0, 1]), [["one"]])


def test_a_rule_list_speaks_in_words():
    tree = book.grow_c45(DAYS.X, DAYS.y, names=DAYS.names)
    rules = book.c45_rules(tree)
    assert "outlook = overcast" in str(book.table(rules))
    assert set(book.predict_c45_rules(rules, DAYS.X)) <= {"no", "yes"}
