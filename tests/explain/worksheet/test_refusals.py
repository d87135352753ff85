"""Where one rule alone decides, the sheet says which, with the numbers it went by."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from arboretum import (
    AdaBoostClassifier,
    BaggingRegressor,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    ID3Classifier,
    LGBMRegressor,
    RandomForestRegressor,
    XGBRegressor,
    worksheet,
)

STEPS = np.arange(20.0)
HALF = (STEPS >= 10) * 1.0
PARITY = np.tile([0.0, 1.0], 10)
PEAK = np.r_[
    9.0, 9.0, np.tile([0.5, 1.5, 2.5], 6)
]  # two rows stand out: a cut that few rules allow
RARE = np.r_[1, 1, np.zeros(18, int)]
X = np.column_stack([STEPS, HALF])
TWICE = np.column_stack([STEPS, STEPS, HALF])
GAPS = np.where(np.isin(np.arange(20), [3, 4, 5])[:, None] & [[True, False]], np.nan, X)
WORDS = pd.DataFrame({"name": [f"w{k:02d}" for k in range(20)], "half": HALF})
HALVES = PARITY * 3 + HALF + STEPS / 100  # parity first, then what is not allowed together with it
ONE = {"n_estimators": 1, "n_jobs": 1}
LIGHT = {**ONE, "min_child_samples": 1, "min_child_weight": 1e-3, "min_data_in_bin": 1}
FEW = r"would gain [\d.]+, [\d.]+ more than the winner, but its sides have 2 and 18 rows, min_samples_leaf=4"


def of_numbers(model, why, X=X, y=PEAK, node=0, weight=None):
    return model, X, y, weight, node, why


def of_classes(model, why, X=X, y=RARE, node=0):
    return model, X, y, None, node, why


CASES = {
    f"rows of a side, {criterion}": of_classes(
        CARTClassifier(criterion=criterion, min_samples_leaf=4), f"x0 <= 1.5 {FEW}"
    )
    for criterion in ("gini", "entropy", "log_loss", "error")
}
CASES |= {
    f"rows of a side, {criterion}": of_numbers(
        CARTRegressor(criterion=criterion, min_samples_leaf=4), f"x0 <= 1.5 {FEW}"
    )
    for criterion in ("squared_error", "friedman_mse", "absolute_error", "poisson")
}
SMALL = CARTRegressor(min_samples_leaf=4)
CASES |= {
    "forest": of_numbers(
        RandomForestRegressor(bootstrap=False, max_features=None, min_samples_leaf=4, **ONE), FEW
    ),
    "a forest's columns": of_numbers(
        RandomForestRegressor(bootstrap=False, max_features=1, random_state=2, **ONE),
        "x0 <= 1.5 would gain .* but x0 was not among the columns that the node drew",
    ),
    "ExtraTrees": of_numbers(
        ExtraTreesRegressor(max_features=1, random_state=3, **ONE),
        "x. <= .* but x. was not among the columns that the node drew",
    ),
    "bagging": of_numbers(BaggingRegressor(SMALL, bootstrap=False, **ONE), FEW),
    "AdaBoost": of_classes(
        AdaBoostClassifier(CARTClassifier(max_depth=1, min_samples_leaf=4), n_estimators=1), FEW
    ),
    "Friedman": of_numbers(
        GradientBoostingRegressor(n_estimators=1, min_samples_leaf=4), f"x0 <= 1.5 {FEW}"
    ),
    "weight of a side": of_numbers(
        CARTRegressor(min_weight_fraction_leaf=0.2, max_depth=1),
        r"its sides weigh 4\d* and 36, min_weight_fraction_leaf requires 8",
        weight=np.full(20, 2.0),
    ),
    "share of the rows": of_numbers(
        CARTRegressor(min_weight_fraction_leaf=0.2, max_depth=1),
        "its sides have 2 and 18 rows, min_weight_fraction_leaf requires 4",
    ),
    "monotone": of_numbers(
        CARTRegressor(monotonic_cst=[1, 0], max_depth=1),
        r"x0 <= 1.5 .* its sides would answer 9 and 1.5, which may only rise with x0",
    ),
    "monotone further up": of_numbers(
        CARTRegressor(monotonic_cst=[1, 1], max_depth=2),
        "its sides would answer 0 and 4, and monotonic_cst of a split further up keeps answers below 2.9",
        X=np.column_stack([HALF, STEPS % 10]),
        y=np.r_[np.zeros(8), 4, 4, np.full(10, 5.0)],
        node=1,
    ),
    "Poisson": of_numbers(
        CARTRegressor(criterion="poisson", max_depth=1),
        "x0 <= 14.5 .* its sides sum to 0 and 5, and poisson needs a positive sum on each",
        y=np.r_[np.zeros(15), np.ones(5)],
    ),
    "tie": of_numbers(
        CARTRegressor(max_depth=1),
        "x1 <= 1.5 gains as much, 5.0625: of equal splits the first column is taken",
        X=TWICE,
    ),
    "bins": of_numbers(
        CARTRegressor(max_depth=1, max_bins=3),
        r"does not lie between two of the bins \(max_bins=3\)",
    ),
    "charge": of_numbers(
        CARTRegressor(max_depth=1),
        "name in .* but is charged .* for the order of its categories: .* is left, of the winner's",
        X=WORDS,
        y=HALF + np.tile([0.0, 0.05], 10),
    ),
    "least decrease": of_numbers(
        CARTRegressor(min_impurity_decrease=50.0),
        "the best split gains 5.0625, less than min_impurity_decrease=50",
    ),
    "nothing is admissible": of_numbers(
        CARTRegressor(monotonic_cst=[1]),
        "It is a leaf: no split is admissible; x0 <= 9.5 would gain 25, but its sides would answer",
        X=X[:, :1],
        y=-STEPS,
    ),
    "the other way": of_numbers(
        CARTRegressor(max_depth=1),
        "3 rows lack x0 and go right; the other way the split would gain .* less",
        X=GAPS,
    ),
    "surrogates": of_numbers(
        CARTRegressor(max_depth=1, surrogates=1),
        "3 rows lack x0: .* surrogate splits place them",
        X=GAPS,
    ),
}
for name, make, more in (
    ("XGB exact", XGBRegressor, {"tree_method": "exact"}),
    ("XGB hist", XGBRegressor, {"max_bin": 16}),
    ("XGB approx", XGBRegressor, {"tree_method": "approx"}),
    ("LGBM", LGBMRegressor, LIGHT),
):
    light = make is LGBMRegressor
    CASES |= {
        f"{name}: {rule}": of_numbers(make(**{**ONE, "max_depth": 2, **more, **given}), why, **data)
        for rule, given, why, data in (
            (
                "cover",
                {"min_child_weight": 4},
                "its sides have ΣH = 2 and 18, "
                + ("min_sum_hessian_in_leaf=4" if light else "min_child_weight=4"),
                {},
            ),
            (
                "monotone",
                {"monotone_constraints": [1, 0]},
                r"x0 <= 1.5 .* its sides would answer [\d.]+ and -[\d.]+, which may only rise with x0",
                {},
            ),
            (
                "least gain",
                {"min_split_gain" if light else "gamma": 1e4},
                "It is a leaf: no split is admissible; x0 <= 1.5 would gain .*, but a split must gain "
                + ("min_split_gain=10000" if light else "gamma=10000"),
                {},
            ),
            (
                "tie",
                {},
                "x1 <= 1.5 gains as much, .*: of equal splits the first column is taken",
                {"X": TWICE},
            ),
            (
                "columns",
                {"colsample_bytree": 0.5, "random_state": 3},
                "x0 <= 1.5 would gain .* more than the winner, but x0 was not drawn",
                {},
            ),
            (
                "interaction",
                {"interaction_constraints": [[0, 1], [2]]},
                r"but x\d is not allowed together with x2 \(interaction_constraints\)",
                {"X": np.column_stack([X, PARITY]), "y": HALVES, "node": 1},
            ),
            (
                "step",
                {"max_delta_step": 0.5},
                "Without max_delta_step=0.5 .* its sides would answer .* held at 0.5 and",
                {},
            ),
            (
                "the other way",
                {},
                "3 rows lack x0 and go right; the other way the split would gain .* less",
                {"X": GAPS},
            ),
        )
    }
CASES["LGBM: rows"] = of_numbers(
    LGBMRegressor(**{**LIGHT, "min_child_samples": 4}),
    "its sides have 2 and 18 rows, min_child_samples=4",
)
CASES["hist: rows"] = of_numbers(
    HistGradientBoostingRegressor(max_iter=1, max_depth=2, min_samples_leaf=4),
    "its sides have 2 and 18 rows, min_samples_leaf=4",
)
CASES["LGBM: groups"] = of_numbers(
    LGBMRegressor(**LIGHT), "a group of them needs min_data_per_group=100 rows", X=WORDS
)
CASES["XGB exact: kept"] = of_numbers(
    XGBRegressor(tree_method="exact", gamma=1.0, reg_lambda=0.0, max_depth=2, **ONE),
    "It gains less than gamma=1 and stays: trees are cut back from their leaves",
    X=np.column_stack([HALF, PARITY]),
    y=np.where(HALF == PARITY, 1.0, 0.0) + HALF / 10,
)
LABELS = np.where(np.arange(20) < 9, "a", "b")
CASES |= {
    "C4.5's gate": of_classes(
        C45Classifier(min_cases=1, pruning=None, collapse=False),
        "is out by the gate: its gain .* is below the average .*, though its ratio .* is more than the "
        "winner's",
        X=pd.DataFrame(
            {
                "one": np.where(np.arange(20) == 0, "x", "y"),
                "four": [f"v{k // 5 if k % 2 else k % 4}" for k in range(20)],
            }
        ),
        y=LABELS,
    ),
    "C4.5's cases": of_classes(
        C45Classifier(min_cases=3),
        r"one is out, its branches have 2 \| 18 cases: two must have min_cases=3",
        X=pd.DataFrame({"one": np.where(RARE == 1, "x", "y"), "half": HALF}),
        y=LABELS,
    ),
    "C4.5's cuts": of_classes(
        C45Classifier(min_cases=6),
        "x1 is out, no cut leaves 6 cases on both sides",
        X=np.column_stack([STEPS, RARE]),
        y=LABELS,
    ),
    "C4.5's charge": of_classes(
        C45Classifier(),
        "its gain .* does not cover the charge of .* for the cuts",
        y=PARITY.astype(int),
    ),
    "C4.5's tie": of_classes(
        C45Classifier(),
        "x1 <= 8 has the same ratio, .*: of equal splits the first column",
        X=TWICE,
        y=LABELS,
    ),
    "ID3's tie": of_classes(
        ID3Classifier(),
        "b gains as much, .*: of equal splits the first column is taken",
        X=pd.DataFrame({"a": HALF, "b": HALF}).astype(str),
        y=LABELS,
    ),
    "ID3's least gain": of_classes(
        ID3Classifier(epsilon=2.0),
        "a gains most, .*, and a gain must exceed epsilon=2",
        X=pd.DataFrame({"a": HALF}).astype(str),
        y=LABELS,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_sheet_says_what_decided(name):
    model, X, y, weight, node, why = CASES[name]
    model.fit(X, y, sample_weight=weight)
    sheet = worksheet(model, X, y, weight).node(0, node)
    assert any(re.search(why, note) for note in sheet.notes), sheet.to_text(160)
