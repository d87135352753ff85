"""What all worksheets share: what they refuse, how a sheet shows itself, what nodes draw."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier as Theirs

import arboretum
from arboretum import (
    CARTClassifier,
    DataError,
    LGBMClassifier,
    ParameterError,
    RandomForestClassifier,
    worksheet,
)
from arboretum.explain.worksheet.draws import columns_visited, drawn_question
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Formula, Sheet, SheetTable
from tests.explain.worksheet.tables import check_shown, classes, table

X = table(80, seed=61)
Y = classes(X)
TREE = CARTClassifier(max_depth=3, n_jobs=1).fit(X, Y)
FOREST = RandomForestClassifier(3, random_state=0, n_jobs=1).fit(X, Y)
BOOSTER = LGBMClassifier(n_estimators=2, min_child_samples=5, n_jobs=1, verbosity=-1).fit(X, Y)

BAD = {
    "no model": (lambda: worksheet("tree", X, Y), ParameterError, "got str"),
    "a class": (
        lambda: worksheet(CARTClassifier, X, Y),
        ParameterError,
        "the class DecisionTreeClassifier itself",
    ),
    "another library": (
        lambda: worksheet(Theirs(), X, Y),
        ParameterError,
        "estimator of arboretum",
    ),
    "not fitted": (lambda: worksheet(CARTClassifier(), X, Y), NotFittedError, "not fitted"),
    "no target": (lambda: worksheet(TREE, X, None), DataError, "got None"),
    "a short target": (lambda: worksheet(TREE, X, Y[:9]), DataError, "X has 80 rows, y 9"),
    "short weights": (lambda: worksheet(TREE, X, Y, [1.0]), DataError, "sample_weight 1"),
    "other columns": (lambda: worksheet(TREE, X[["age"]], Y), DataError, "income"),
    "other classes": (
        lambda: worksheet(TREE, X, np.where(Y == "no", "yes", Y)).node(0, 0),
        DataError,
        "was trained on",
    ),
    "other rows": (
        lambda: worksheet(FOREST, X[:40], Y[:40]).node(0, 0),
        DataError,
        "it had 80, the table has 40",
    ),
    "other rows, booster": (
        lambda: worksheet(BOOSTER, X[:40], Y[:40]).node(0, 0),
        DataError,
        "it had 80, the table has 40",
    ),
    "no such tree": (lambda: worksheet(TREE, X, Y).node(1, 0), ParameterError, "only tree 0"),
    "no such node": (lambda: worksheet(TREE, X, Y).node(0, 99), ParameterError, "no node 99"),
    "a word for a node": (
        lambda: worksheet(TREE, X, Y).node(0, "root"),
        ParameterError,
        "no node 'root'",
    ),
    "no leaf": (lambda: worksheet(TREE, X, Y).leaf(0, 0), ParameterError, "node 0 is not a leaf"),
    "no such row": (lambda: worksheet(TREE, X, Y).row(80), ParameterError, "no row 80"),
    "a word for a row": (
        lambda: worksheet(TREE, X, Y).row("first"),
        ParameterError,
        "takes the number",
    ),
    "a short row": (
        lambda: worksheet(TREE, X, Y).row([1, 2]),
        DataError,
        "2 values, the model 5 columns",
    ),
    "a strange column": (lambda: worksheet(TREE, X, Y).row({"height": 1}), DataError, "'height'"),
    "two rows": (lambda: worksheet(TREE, X, Y).row(X[:2]), DataError, "a table of 2"),
    "another table": (lambda: worksheet(TREE, X[:50], Y[:50]).node(0, 0), DataError, "it had"),
    "no such round": (lambda: worksheet(BOOSTER, X, Y).round(2), ParameterError, "no round 2"),
    "no rounds": (lambda: worksheet(TREE, X, Y).round(0), ParameterError, "not made in rounds"),
    "no bags": (lambda: worksheet(TREE, X, Y).oob(), ParameterError, "out of bag"),
    "no members": (
        lambda: worksheet(TREE, X, Y).member(0),
        ParameterError,
        "not made of other models",
    ),
    "no such class": (
        lambda: worksheet(BOOSTER, X, Y).node((0, "perhaps"), 0),
        ParameterError,
        "perhaps",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    call, error, words = BAD[name]
    with pytest.raises(error, match=words.replace("(", r"\(")):
        call()


def test_a_tree_of_a_booster_by_round_and_class():
    sheets = worksheet(BOOSTER, X, Y)
    assert (
        sheets.node((1, "no"), 0).to_dict()
        == sheets.node(3 + list(BOOSTER.classes_).index("no"), 0).to_dict()
    )


def test_a_model_of_one_tree_needs_no_number_of_it():
    sheet = worksheet(TREE, X, Y)
    assert sheet.node(1).to_text() == sheet.node(0, 1).to_text()
    leaf = int(TREE.tree_.leaves[0])
    assert sheet.leaf(leaf).to_text() == sheet.leaf(0, leaf).to_text()
    with pytest.raises(ParameterError, match=r"has 3 trees: .* node\(tree, node\)"):
        worksheet(FOREST, X, Y).node(1)


def test_it_shows_itself():
    sheets = worksheet(TREE, X, Y)
    assert str(sheets) == repr(sheets) == sheets.to_text()
    assert sheets.to_dict()["facts"]["rows"] == 80
    assert "<script" not in sheets._repr_html_()
    assert arboretum.worksheet is worksheet
    from rich.console import Console

    with Console(file=open("/dev/null", "w"), width=60) as console:
        console.print(sheets.node(0, 0))
        console.print(sheets)


def test_names_are_escaped():
    odd = X.rename(columns={"age": "<script>alert(1)</script>", "income": "a\x1b[2Jb"})
    model = CARTClassifier(max_depth=2, n_jobs=1).fit(odd, Y)
    sheets = worksheet(model, odd, Y)
    for sheet in (sheets.node(0, 0), sheets.row(0)):
        assert "<script" not in sheet.to_html()
        assert "\x1b" not in sheet.to_text()


def test_a_table_as_wide_as_the_screen():
    rows = [
        (f"column {k} with a very long name indeed <= {k}.5", *[1234.5678 * k] * 7)
        for k in range(3)
    ]
    header = ("split", *(f"number {k}" for k in range(7)))
    sheet = Sheet(
        "wide",
        tables=[
            SheetTable("wide", header, rows, frozenset([1]), optional=("number 6", "number 5"))
        ],
    )
    for width in (60, 80, 120, 200):
        text = sheet.to_text(width)
        assert max(map(len, text.splitlines())) <= width
    assert "a wider screen has: number 6" in sheet.to_text(70)
    assert "a wider screen" not in sheet.to_text(200)
    assert sheet.to_dict()["tables"][0]["header"] == list(header)


def test_neither_numbers_nor_words_are_broken():
    rows = [("passengerClass in {1st, 2nd}", *[-0.0012345] * 4, "min_child_weight")]
    header = ("split", *(f"number {k}" for k in range(4)), "verdict")
    sheet = Sheet("narrow", tables=[SheetTable("t", header, rows, frozenset([0]))])
    for width, cell in ((100, "-0.0012345"), (80, "-0.001234 ")):  # rather fewer digits
        text = sheet.to_text(width)
        for whole in ("passengerClass", cell, "min_child_weight", "►"):
            assert whole in text, text


def test_numbers_in_words():
    assert [
        number(v) for v in (0.0, -1e-17, 1 / 3, 123456.789, np.inf, -np.inf, True, None, np.nan, 7)
    ] == [
        "0",
        "-1e-17",
        "0.333333",
        "123456.79",
        "∞",
        "-∞",
        "yes",
        "",
        "",
        "7",
    ]
    assert signed(-0.5) == "(-0.5)"
    assert number([1.0, 2.5]) == "1, 2.5"


def test_a_sheet_is_read_by_its_names():
    part = Sheet("part")
    sheet = Sheet(
        "whole",
        {"n": np.int64(3)},
        [Formula("x", "a", "1", np.float64(2.0))],
        [SheetTable("t", ("a", "b"), [(1, np.nan)])],
        ["note"],
        [part],
    )
    assert [one.title for one in sheet.walk()] == ["whole", "part"]
    assert sheet.value("x") == 2.0
    assert sheet.table("t").column("b")[0] is np.nan
    found = check_shown(sheet).to_dict()
    assert found["facts"] == {"n": 3}
    assert found["tables"][0]["rows"] == [[1, None]]


def test_draws_are_those_of_the_engine():
    from arboretum.engine.random import draw_features

    keys, order = np.array([3, 12345678901234567890], np.uint64), np.empty((2, 9), np.int64)
    draw_features(keys, order)
    for key, wanted in zip(keys.tolist(), order.tolist(), strict=True):
        assert columns_visited(key, 9, 9, lambda f: True) == wanted
        assert columns_visited(key, 9, 2, lambda f, first=wanted[4]: f == first) == wanted[:5]
    assert drawn_question(1, 0, np.array([2.0, 2.0, np.nan]), "numeric") is None
    one = drawn_question(1, 0, np.array([0.0, 1.0, 2.0]), "categorical")
    assert one.left_categories | one.right_categories == {0, 1, 2}
    assert one.left_categories
    assert one.right_categories


def test_arrays_without_names_and_sparse_tables():
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 4)) * (rng.random((60, 4)) < 0.5)
    y = rng.integers(0, 2, 60)
    for data in (values, csr_matrix(values), pd.DataFrame(values, columns=list("abcd"))):
        model = RandomForestClassifier(2, max_depth=3, random_state=0, n_jobs=1).fit(data, y)
        sheets = worksheet(model, data, y)
        assert np.isclose(
            check_shown(sheets.node(0, 0)).value("gain"), model.trees_[0].gain[0], rtol=1e-9
        )
        check_shown(sheets.row(3))
        check_shown(sheets.row(values[3].tolist()))
