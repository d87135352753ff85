"""A table with words and gaps, and a model of every family fitted on it: made once, shared by the tests."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import arboretum as arb

N_TRAIN, N_NEW = 260, 120


@cache
def table() -> tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, two classes, three classes and numbers."""
    rng = np.random.RandomState(5)
    n = N_TRAIN + N_NEW
    age, hours = rng.randint(17, 80, n).astype(float), np.round(rng.normal(38, 9, n), 1)
    job = rng.choice(["craft", "farm", "sales", "tech", "<b>x</b>"], n).astype(object)
    city = rng.choice(["Bern", "Lima", "Oslo"], n)
    owns = rng.random_sample(n) < 0.4
    z = 0.05 * (age - 45) + 0.06 * (hours - 38) + 1.2 * (job == "tech") - (city == "Lima") + owns
    z = z + rng.normal(size=n)
    X = pd.DataFrame({"age": age, "hours": hours, "job": job, "city": city, "owns": owns})
    X.loc[rng.random_sample(n) < 0.1, "job"] = None
    X.loc[rng.random_sample(n) < 0.1, "hours"] = np.nan
    return X, np.where(z > 0.3, "yes", "no"), np.digitize(z, [-0.6, 0.9]), np.round(10 * z, 2)


def _members() -> list[tuple[str, Any]]:
    return [
        ("tree", arb.CARTClassifier(max_depth=3)),
        ("forest", arb.RandomForestClassifier(4, max_depth=3, random_state=1)),
    ]


# name -> (estimator, target): 1 is two classes, 2 three classes, 3 numbers
FAMILIES: dict[str, tuple[Any, int]] = {
    "CART": (lambda: arb.CARTClassifier(max_depth=4, surrogates=2), 1),
    "CART numbers": (lambda: arb.CARTRegressor(max_depth=4), 3),
    "ID3": (lambda: arb.ID3Classifier(discretize="quantile", max_depth=3), 1),
    "C4.5": (lambda: arb.C45Classifier(), 2),
    "C4.5 groups": (lambda: arb.C45Classifier(subset=True), 1),
    "rules": (lambda: arb.C45Rules(), 1),
    "forest": (lambda: arb.RandomForestClassifier(6, max_depth=4, oob_score=True, random_state=0), 2),
    "forest, hard": (lambda: arb.RandomForestClassifier(5, max_depth=3, voting="hard", random_state=0), 1),
    "extra trees": (lambda: arb.ExtraTreesRegressor(5, max_depth=4, random_state=0), 3),
    "bagging": (lambda: arb.BaggingClassifier(n_estimators=4, max_features=0.6, random_state=0), 2),
    "AdaBoost": (lambda: arb.AdaBoostClassifier(n_estimators=8), 1),
    "AdaBoost discrete": (lambda: arb.AdaBoostClassifier(n_estimators=6, algorithm="discrete"), 1),
    "AdaBoost.R": (
        lambda: arb.AdaBoostClassifier(
            arb.CARTClassifier(max_depth=2), n_estimators=5, algorithm="SAMME.R"
        ), 2,
    ),
    "AdaBoost.R2": (lambda: arb.AdaBoostRegressor(n_estimators=6, random_state=0), 3),
    "coordinate": (lambda: arb.CoordinateBoostingClassifier(max_iter=20), 1),
    "gradient": (lambda: arb.GradientBoostingClassifier(n_estimators=5, random_state=0), 2),
    "gradient, init": (
        lambda: arb.GradientBoostingRegressor(n_estimators=4, init=arb.CARTRegressor(max_depth=2)), 3,
    ),
    "XGB": (lambda: arb.XGBClassifier(n_estimators=6, max_depth=3), 1),
    "XGB numbers": (lambda: arb.XGBRegressor(n_estimators=6, max_depth=3), 3),
    "LGBM": (lambda: arb.LGBMClassifier(n_estimators=5, num_leaves=7, min_child_samples=5, verbose=-1), 2),
    "hist": (
        lambda: arb.HistGradientBoostingClassifier(
            max_iter=5, min_samples_leaf=5, early_stopping=True, random_state=0
        ),
        2,
    ),
    "stacking": (
        lambda: arb.StackingClassifier(_members(), LogisticRegression(), cv=3), 1,
    ),
    "voting": (lambda: arb.VotingClassifier(_members(), voting="soft", weights=[1, 2]), 2),
}  # fmt: skip


@cache
def fitted(name: str) -> Any:
    make, target = FAMILIES[name]
    X, *targets = table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make().fit(X[:N_TRAIN], targets[target - 1][:N_TRAIN])


def new_rows(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows the model has not seen, and their target."""
    X, *targets = table()
    return X[N_TRAIN:], targets[FAMILIES[name][1] - 1][N_TRAIN:]


def random_rows(model: Any, n: int, seed: int = 0) -> np.ndarray:
    """Return rows of numbers that no table has: any value, any category, gaps everywhere."""
    rng = np.random.default_rng(seed)
    rows = np.empty((n, model.schema_.n_features))
    for f, column in enumerate(model.schema_.columns):
        if column.categories is None:
            rows[:, f] = np.round(rng.normal(45, 25, n), 1)
        else:
            rows[:, f] = rng.integers(0, len(column.categories), n)
    rows[rng.random(rows.shape) < 0.15] = np.nan
    return rows
