"""What an edge of a tree says, in words."""

import pickle
from datetime import datetime

import numpy as np
import pandas as pd
import pytest

from arboretum import CARTClassifier
from arboretum.data.schema import Column, Schema
from arboretum.structure.condition import Condition, format_category, format_number, format_value
from arboretum.structure.tree import LEAF, MULTIWAY, Tree


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5.0, "5"),
        (-0.0, "0"),
        (0.1 + 0.2, "0.3"),
        (2.45, "2.45"),
        (1 / 3, "0.333333"),
        (1e-7, "1e-07"),
        (12345.678, "12345.7"),
        (123456.75, "123456.8"),
        (1234567.5, "1234567.5"),
        (-1234567.5, "-1234567.5"),
        (999999999.5, "999999999.5"),
        (1234567.0, "1234567"),
        (1.5e14, "150000000000000"),
        (1234567890123456789.0, "1.2345678901234568e+18"),
        (float("inf"), "inf"),
        (float("nan"), "nan"),
        (np.float64(1e300), "1e+300"),
    ],
)
def test_numbers_are_written_without_noise_and_not_misread(value, text):
    assert format_number(value) == text


def test_fewer_digits_never_hide_a_half():
    assert format_number(0.123456, 3) == "0.123"
    assert format_number(100.5, 3) == "100.5"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "1970-01-01"),
        (86_400.0 * 365, "1971-01-01"),
        (3_723.0, "1970-01-01 01:02:03"),
        (-86_400.0, "1969-12-31"),
        (1e18, "1000000000000000000 s"),
    ],
)
def test_dates_are_written_as_dates(seconds, text):
    assert format_value(seconds, "datetime") == text


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Condition(0, "age", "<=", (30.5,)), "age <= 30.5"),
        (Condition(0, "age", ">", (30.5,), or_missing=True), "age > 30.5 or missing"),
        (Condition(0, "day", ">", (0.0,), kind="datetime"), "day > 1970-01-01"),
        (Condition(0, "size", "<=", ("middle",), kind="ordinal"), "size <= middle"),
        (Condition(0, "age", "is", ("missing",)), "age is missing"),
        (Condition(0, "city", "=", ("Bern",)), "city = Bern"),
        (Condition(0, "member", "=", (True,)), "member = True"),
        (Condition(0, "grade", "=", (3,)), "grade = 3"),
        (Condition(0, "day", "=", (datetime(2024, 2, 29),)), "day = 2024-02-29"),
        (Condition(0, "day", "=", (datetime(2024, 2, 29, 8),)), "day = 2024-02-29 08:00:00"),
        (Condition(0, "day", "in", (datetime(2024, 2, 29), datetime(2024, 3, 1))),
         "day in {2024-02-29, 2024-03-01}"),
        (Condition(0, "n", "in", tuple(range(12))), "n in {0, 1, 2, 3, 4, 5, 6, 7, … 4 more}"),
    ],
)  # fmt: skip
def test_conditions_read_as_sentences(condition, text):
    assert condition.pretty() == str(condition) == text


def test_categories_are_written_as_they_are():
    assert [format_category(v) for v in ("a", 1, 2.5, False)] == ["a", "1", "2.5", "False"]


# ---------------------------------------------------------------------- of a tree
@pytest.mark.parametrize(
    "column",
    [
        np.where(np.arange(40) % 3 == 0, None, "k"),
        np.where(np.arange(40) % 3 == 0, None, np.where(np.arange(40) % 2, "u", "v")),
        np.where(np.arange(40) % 3 == 0, np.nan, 1.0),
    ],
    ids=["one category", "two categories", "a number"],
)
@pytest.mark.parametrize("flip", [False, True])
def test_present_against_missing_says_so(column, flip):
    y = (pd.isna(column) != flip).astype(int)
    tree = CARTClassifier().fit(pd.DataFrame({"x": column}), y).tree_
    assert len(tree) == 3
    words = [tree.condition(0, child).pretty() for child in (0, 1)]
    assert sorted(words) == ["x is missing", "x is present"]
    missing = words.index("x is missing")
    assert tree.missing_child[0] == missing
    assert tree.count[1 + missing] == 14
    assert tree[1 + missing].path[0].pretty() == "x is missing"


def _multiway(categories: tuple) -> Tree:
    n = len(categories) + 1
    leaf = np.arange(n) > 0
    return Tree(
        kind=np.where(leaf, LEAF, MULTIWAY).astype(np.uint8),
        feature=np.where(leaf, -1, 0).astype(np.int32),
        threshold=np.full(n, np.nan),
        first_child=np.where(leaf, -1, 1).astype(np.int32),
        n_children=np.where(leaf, 0, n - 1).astype(np.int32),
        missing_child=np.where(leaf, -1, 1).astype(np.int32),
        bits_start=np.full(n, -1),
        bits=np.zeros(0, np.uint32),
        value=np.zeros((n, 1, 1)),
        impurity=np.zeros(n),
        gain=np.zeros(n),
        weight=np.ones(n),
        count=np.ones(n, np.int64),
        schema=Schema((Column("c", "categorical", categories, True),), named=True),
    )


@pytest.mark.parametrize(
    ("categories", "texts"),
    [
        ((False, True), ["c = False", "c = True or missing"]),
        (
            (datetime(2020, 1, 1), datetime(2021, 1, 1)),
            ["c = 2020-01-01", "c = 2021-01-01 or missing"],
        ),
        (("a", "b", "c"), ["c = a", "c = b or missing", "c = c"]),
        ((1, 2), ["c = 1", "c = 2 or missing"]),
    ],
)
def test_every_branch_of_a_multiway_split_names_its_category(categories, texts):
    tree = _multiway(categories)
    assert [tree.condition(0, k).pretty() for k in range(len(categories))] == texts
    assert tree.n_children.tolist() == [len(categories)] + [0] * len(categories)


def test_pickled_trees_keep_their_fields_only():
    tree = _multiway(("a", "b"))
    tree.depth, tree.leaves, tree.parent  # work something out
    copy = pickle.loads(pickle.dumps(tree))
    assert set(vars(copy)) == set(Tree.__dataclass_fields__)
    assert copy.max_depth == 1
