"""Tables: text that lines up, and rows that can be computed with."""

import dataclasses
import importlib
from pathlib import Path

import numpy as np
import pytest

from arboretum import textbook as book
from arboretum.textbook.tables import LINES

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
        (book.proximity_of_leaves(book.forest_leaves(FOREST, X)), 8, "3"),
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


# ---------------------------------------------------------------------- every figure has one
INPUTS = {
    "settings": {
        "AdaRules", "C45Settings", "CoordinateRules", "ForestRules", "GBMRules", "GradientRules",
        "LGBMRules", "LGBMSettings", "Rules", "StagewiseRules", "XGBSettings",
    },
    "the rows to grow on": {"Cases", "Sample", "LeafWiseGrowth", "ValueBins", "Words"},
    "loss functions": {"Huber", "MultinomialDeviance", "PowerLoss", "Quantile"},
    "is a table": {"Table"},
}  # fmt: skip
MODULES = sorted(path.stem for path in Path(book.__file__).parent.glob("*.py"))


def _public_dataclasses():
    for name in MODULES:
        if name != "__init__":
            module = importlib.import_module(f"arboretum.textbook.{name}")
            for public in module.__all__:
                thing = getattr(module, public)
                if isinstance(thing, type) and dataclasses.is_dataclass(thing):
                    yield thing


def test_every_public_dataclass_has_a_table_or_is_an_input():
    kinds = set(_public_dataclasses())
    inputs = set().union(*INPUTS.values())
    without = {k.__name__ for k in kinds if k not in LINES and k not in book.table.registry}
    assert without == inputs  # neither more nor fewer
    assert len(kinds) > 80


GRADIENT = np.linspace(-1, 1, 8)
XGB = book.boost_xgb(X, Y * 1.0, n_rounds=2)
LGBM = book.boost_lgbm(
    X,
    Y * 1.0,
    book.LGBMRules(n_rounds=3, learning_rate=0.5, goss=(0.4, 0.3)),
    book.LGBMSettings(min_child_samples=1, min_data_in_bin=1),
)
SIGNS = Y * 2 - 1
ADA = book.discrete_adaboost(X, SIGNS, rules=book.AdaRules(3))
GBM = book.grow_gbm(X, Y, rules=book.GBMRules(n_rounds=2))
DESCENT = book.coordinate_descent(book.answers_of(book.all_stumps(X), X), SIGNS)
SKETCH = book.summarise(X[:, 0], np.ones(8))
SMALL = book.LGBMSettings(num_leaves=3, min_child_samples=1, min_data_in_bin=1)
PARALLEL = book.grow_voting_parallel(X, GRADIENT, np.ones(8), 2, 1, SMALL)
LEVELS = book.grow_level_by_level(X, GRADIENT, np.ones(8))
SYMMETRIC = book.grow_symmetric(X, GRADIENT, np.ones(8), max_depth=2)
LEVEL_SCAN = book.scan_symmetric(
    [book.GradientNode(0.0, 2.0, 2)],
    0,
    np.array([[[-4.0, 1, 1], [4, 1, 1]]]),
    np.array([1.5]),
    np.zeros((1, 3)),
)
CUTS = book.grow_isolation_forest(X, n_trees=3)
COMMON = book.boost_common(X, np.arange(8) % 3, [[0]])
PATIENTS = book.grow_id3([["a", "b"], ["b", "b"], ["b", "a"]], ["y", "n", "n"])


@pytest.mark.parametrize(
    ("thing", "n_rows", "column", "first"),
    [
        (XGB, 2, "largest |g|", np.abs(XGB.rounds[0].g).max()),
        (XGB.rounds[0], 8, "g", XGB.rounds[0].g[0, 0]),
        (XGB.rounds[0].trees[0], None, "G", XGB.rounds[0].g.sum()),
        (XGB.rounds[0].trees[0].candidates, None, "gain", None),
        (LGBM, 3, "rows", 8),
        (LGBM.rounds[2], 8, "F", LGBM.rounds[2].scores[0, 0]),
        (LGBM.rounds[2].sample, 5, "factor", None),
        (LGBM.rounds[0].trees[0], None, "rows", 8),
        (LGBM.rounds[0].trees[0].candidates, None, "gain", None),
        (LGBM.table, None, "bins", None),
        (book.bin_table(X, min_data_in_bin=1), 2, "bins", 9),
        (book.bin_table(X, min_data_in_bin=1).bins[1], 2, "up to", 1e-35),
        (ADA.rounds[0], 8, "weight", 1 / 8),
        (book.theory(ADA, X, SIGNS), 3, "edge", 0.5 - ADA.errors[0]),
        (book.margin_report(ADA, X, SIGNS, [0.0, 0.1]), 2, "bound", None),
        (book.generalisation_bound(0.1, 0.5, 50, 1000), 1, "bound", None),
        (DESCENT, None, "loss", DESCENT.steps[0].loss),
        (GBM.rounds[0], 8, "residual", GBM.rounds[0].trees[0].residuals[0]),
        (GBM.rounds[0].trees[0], None, "step", GBM.rounds[0].trees[0].leaves[0].step),
        (SKETCH, 8, "rmax", 1.0),
        (PARALLEL, len(PARALLEL.messages), "bytes", PARALLEL.messages[0].bytes),
        (LEVELS, len(LEVELS.splits), "gain", LEVELS.splits[""].gain),
        (LEVELS.operations, 1, "scanning", LEVELS.operations.scanning),
        (SYMMETRIC, len(SYMMETRIC.levels), "gain", SYMMETRIC.levels[0].chosen.gain),
        (SYMMETRIC.levels[0].chosen, 1, "missing", "right"),
        (LEVEL_SCAN, 2, "cut", 1.5),
        (COMMON[0], 8, "g", COMMON[0].g[0]),
        (book.column_blocks(X), 16, "value", 1.0),
        (FOREST.in_bag, 4, "0", None),
        (CUTS[0], None, "depth", 0),
        (book.anomaly_scores(CUTS, X), 8, "score", None),
        (book.play_tennis(), 14, "outlook", "sunny"),
        (PATIENTS, 3, "n", 2),
    ],
)
def test_tables_of_boosting_and_of_its_figures(thing, n_rows, column, first):
    table = book.table(thing)
    assert str(table).count("\n") == len(table.rows) > 0
    assert n_rows is None or len(table.rows) == n_rows
    value = table.column(column)[0]
    assert first is None or (
        value == first if isinstance(first, str) else value == pytest.approx(first)
    )


@pytest.mark.parametrize("thing", [[], [1], "word", np.zeros(3)])
def test_what_has_no_table(thing):
    with pytest.raises(TypeError, match=r"no table of|two axes"):
        book.table(thing)
