"""C4.5 as textbooks state it, in thirty plain lines, beside `C45Classifier` with the recipe of docs/c45.md.

The textbook algorithm has no gate, no least number of cases, no pruning: at every node the column of
the largest gain ratio splits the rows, one branch per word, if that ratio exceeds ε.
"""

from __future__ import annotations

import re
from collections import Counter
from math import log2
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from arboretum import C45Classifier

RECIPE = {"gate": False, "min_cases": 1, "pruning": None, "collapse": False}
PAGE = (Path(__file__).parents[2] / "docs" / "c45.md").read_text(encoding="utf-8")
ABOVE_0 = 1e-12  # ε = 0 of the textbook: at 0 the estimator has no threshold


# ---------------------------------------------------------------------- the algorithm
def entropy(words) -> float:
    return -sum(n / len(words) * log2(n / len(words)) for n in Counter(words).values())


def gain_ratio(column, y) -> float:
    after = 0.0
    for word in set(column):
        branch = [label for value, label in zip(column, y) if value == word]
        after += len(branch) / len(y) * entropy(branch)
    return (entropy(y) - after) / entropy(column) if len(set(column)) > 1 else 0.0


def majority(y) -> str:
    counts = Counter(y)
    return min(counts, key=lambda label: (-counts[label], label))


def grow(rows, y, columns, epsilon):
    """Return a class, or (column, {word: branch}, the class of the majority)."""
    if len(set(y)) == 1 or not columns:  # steps 1 and 2.1
        return majority(y)
    ratios = {a: gain_ratio([row[a] for row in rows], y) for a in columns}  # step 2.2
    best = max(ratios.values())
    if best <= epsilon + 1e-9:  # step 2.2.2
        return majority(y)
    a = next(a for a in columns if ratios[a] > best - 1e-9)  # the first of equal columns
    branches = {}
    for word in sorted({row[a] for row in rows}):  # step 2.2.1
        here = [i for i, row in enumerate(rows) if row[a] == word]
        rest = [other for other in columns if other != a]
        branches[word] = grow([rows[i] for i in here], [y[i] for i in here], rest, epsilon)
    return a, branches, majority(y)


def count_leaves(tree) -> int:
    return 1 if isinstance(tree, str) else sum(map(count_leaves, tree[1].values()))


def answer(tree, row) -> str:
    while not isinstance(tree, str):
        a, branches, most = tree
        tree = branches.get(row[a], most)
    return tree


# ---------------------------------------------------------------------- the estimator beside it
def make_table(seed: int) -> tuple[pd.DataFrame, list[str]]:
    """Words of two to five categories; the class follows some of them, with noise."""
    rng = np.random.default_rng(seed)
    n, sizes = int(rng.integers(8, 70)), rng.integers(2, 6, size=int(rng.integers(2, 6)))
    codes = np.column_stack([rng.integers(0, size, n) for size in sizes])
    signal = codes[:, 0] + codes[:, 1] + (rng.random(n) < 0.25)
    table = pd.DataFrame({f"c{j}": [f"w{code}" for code in codes[:, j]] for j in range(len(sizes))})
    return table, [f"class {label}" for label in signal % int(rng.integers(2, 4))]


def occupied_leaves(model: C45Classifier) -> int:
    """Leaves that a training row reaches: a word without rows at a node has an empty leaf here."""
    return sum(node.is_leaf and node.weight > 0 for node in model.tree_)


@pytest.mark.filterwarnings("ignore::arboretum.SuspiciousColumnWarning")
@pytest.mark.parametrize("epsilon", [ABOVE_0, 0.05, 0.2])
@pytest.mark.parametrize("seed", range(25))
def test_the_recipe_is_the_plain_algorithm(seed, epsilon):
    X, y = make_table(seed)
    rows = X.to_dict("records")
    plain = grow(rows, y, list(X.columns), epsilon)
    model = C45Classifier(epsilon=epsilon, **RECIPE).fit(X, y)
    assert occupied_leaves(model) == count_leaves(plain)
    assert model.predict(X).tolist() == [answer(plain, row) for row in rows]
    column = None if isinstance(plain, str) else plain[0]
    root = model.tree_[0]
    assert (None if root.is_leaf else X.columns[root.feature]) == column


@pytest.mark.filterwarnings("ignore::arboretum.SuspiciousColumnWarning")
@pytest.mark.parametrize("left_out", RECIPE)
def test_no_part_of_the_recipe_is_idle(left_out):
    less = {name: value for name, value in RECIPE.items() if name != left_out}
    differ = 0
    for seed in range(25):
        X, y = make_table(seed)
        plain = grow(X.to_dict("records"), y, list(X.columns), ABOVE_0)
        model = C45Classifier(epsilon=ABOVE_0, **less).fit(X, y)
        differ += occupied_leaves(model) != count_leaves(plain)
    assert differ > 0


@pytest.mark.filterwarnings("ignore::arboretum.SuspiciousColumnWarning")
def test_the_defaults_are_another_algorithm():
    differ = 0
    for seed in range(25):
        X, y = make_table(seed)
        plain = grow(X.to_dict("records"), y, list(X.columns), ABOVE_0)
        differ += occupied_leaves(C45Classifier().fit(X, y)) != count_leaves(plain)
    assert f"with Quinlan's defaults {differ} of 25 small random tables" in PAGE


def test_a_ratio_of_0_splits_only_without_a_threshold():
    """Exclusive or: no column gains anything, so the textbook's tree is one leaf."""
    X = pd.DataFrame({"a": ["no", "no", "yes", "yes"], "b": ["no", "yes", "no", "yes"]})
    y = ["0", "1", "1", "0"]
    assert count_leaves(grow(X.to_dict("records"), y, ["a", "b"], 0.0)) == 1
    assert C45Classifier(epsilon=ABOVE_0, **RECIPE).fit(X, y).get_n_leaves() == 1
    assert C45Classifier(epsilon=0, **RECIPE).fit(X, y).get_n_leaves() == 4


def test_the_page_has_the_recipe():
    (call,) = re.findall(r"plain = C45Classifier\((.*?)\)\n", PAGE, re.DOTALL)
    given = eval(f"dict({call})")
    assert given == {"epsilon": ABOVE_0, **RECIPE}
