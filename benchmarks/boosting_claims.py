"""Eight common claims about gradient boosting, each measured in some seconds: docs/comparisons.md.

For:      accurate with default parameters, small and fast to predict with, indifferent to the scale of
          columns, takes numbers and words together
Against:  hard to read, needs tuning, slow to train, not made for text (many sparse columns)

`CLAIMS` has a function for each, which returns the figures by name. Seconds depend on the machine; all
other figures do not.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import arboretum as arb

SEED = 0
_TABLES = Path(__file__).parents[1] / "tests" / "data" / "c45"


def _read(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the columns and the class, the last column, of a table of the tests."""
    path = next(_TABLES.glob(f"{name}.csv*"))
    table = pd.read_csv(path)
    return table.iloc[:, :-1], table.iloc[:, -1].astype(str).to_numpy()


def _halves(n: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(SEED).permutation(n)
    return order[: n // 2], order[n // 2 :]


def _score(model: Any, X: pd.DataFrame, y: np.ndarray) -> float:
    """Return the accuracy on one half of the rows of a model of the other half."""
    train, test = _halves(len(y))
    return float(model.fit(X.iloc[train], y[train]).score(X.iloc[test], y[test]))


def _friedman(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return Friedman's first function on ten columns, five of them noise, with noise added."""
    X = rng.uniform(size=(n, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    return X, y + 5 * X[:, 4] + rng.normal(size=n)


def _leaves(model: Any) -> int:
    return sum(tree.n_leaves for tree in model.trees_)


def _seconds(work: Callable[[], Any], repeat: int = 3) -> float:
    """Return the least seconds of several runs; the first, which may compile, is not counted."""
    work()
    best = np.inf
    for _ in range(repeat):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best


# ---------------------------------------------------------------------- for
ACCURACY_TABLES = (
    "breast-cancer", "credit-g", "diabetes", "glass", "ionosphere", "vote", "wdbc", "wine",
)  # fmt: skip


def accuracy() -> dict[str, float]:
    """Return the mean accuracy on held-out halves of eight tables, every model with its defaults."""
    models: dict[str, Callable[[], Any]] = {
        "one tree": lambda: arb.CARTClassifier(random_state=SEED),
        "AdaBoost": lambda: arb.AdaBoostClassifier(random_state=SEED),
        "random forest": lambda: arb.RandomForestClassifier(random_state=SEED),
        "gradient boosting": lambda: arb.GradientBoostingClassifier(random_state=SEED),
        "XGBoost": lambda: arb.XGBClassifier(random_state=SEED),
        "LightGBM": lambda: arb.LGBMClassifier(random_state=SEED),
    }
    tables = [_read(name) for name in ACCURACY_TABLES]
    scores = {name: [_score(make(), *table) for table in tables] for name, make in models.items()}
    return {name: float(np.mean(each)) for name, each in scores.items()}


def prediction_cost() -> dict[str, float]:
    """Return leaves, bytes of the file, comparisons per row and seconds of 10,000 rows."""
    rng = np.random.default_rng(SEED)
    X, y = _friedman(4000, rng)
    new = rng.uniform(size=(10_000, 10))
    found = {"bytes, training table": float(X.nbytes)}
    for name, model in (
        ("gradient boosting", arb.GradientBoostingRegressor(random_state=SEED)),
        ("random forest", arb.RandomForestRegressor(100, random_state=SEED)),
    ):
        model.fit(X, y)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.arb"
            model.save(path)
            found[f"bytes, {name}"] = float(path.stat().st_size)
        found[f"leaves, {name}"] = float(_leaves(model))
        leaves = np.asarray(model.apply(new)).reshape(len(new), -1)
        steps = [tree.depth[at].mean() for tree, at in zip(model.trees_, leaves.T)]
        found[f"comparisons, {name}"] = float(np.sum(steps))
        found[f"seconds, {name}"] = _seconds(lambda model=model: model.predict(new))
    return found


def scale() -> dict[str, float]:
    """Return the accuracy on wine before and after its columns are standardised."""
    from sklearn.neighbors import KNeighborsClassifier

    X, y = _read("wine")
    standard = (X - X.mean()) / X.std()
    found = {}
    for name, make in (
        ("gradient boosting", lambda: arb.GradientBoostingClassifier(random_state=SEED)),
        ("nearest neighbours", KNeighborsClassifier),
    ):
        found[f"{name}, as it is"] = _score(make(), X, y)
        found[f"{name}, standardised"] = _score(make(), standard, y)
    return found


def mixed_types() -> dict[str, float]:
    """Return the accuracy on credit-g, a frame of words and numbers, and on its parts."""
    X, y = _read("credit-g")
    numbers = X.select_dtypes("number")
    words = X.drop(columns=numbers.columns)
    found = {
        "columns of numbers": float(numbers.shape[1]),
        "columns of words": float(words.shape[1]),
    }
    for name, part in (("numbers", numbers), ("words", words), ("both", X)):
        found[name] = _score(arb.GradientBoostingClassifier(random_state=SEED), part, y)
    found["largest class"] = float(np.mean(y == "good"))
    return found


# ---------------------------------------------------------------------- against
def interpretation() -> dict[str, float]:
    """Return leaves and accuracy of a small tree and of boosted ones on wdbc."""
    X, y = _read("wdbc")
    found = {}
    for name, model in (
        ("tree", arb.CARTClassifier(max_leaf_nodes=5, random_state=SEED)),
        ("boosting", arb.GradientBoostingClassifier(random_state=SEED)),
    ):
        found[f"accuracy, {name}"] = _score(model, X, y)
        trees = [model.tree_] if name == "tree" else model.trees_
        found[f"leaves, {name}"] = float(sum(tree.n_leaves for tree in trees))
    return found


def tuning() -> dict[str, float]:
    """Return the squared error on new rows by learning rate ν and rounds, and of a forest."""
    rng = np.random.default_rng(SEED)
    X, y = _friedman(400, rng)
    new, truth = _friedman(1000, rng)
    found = {}
    for nu in (0.01, 0.1, 1.0):
        for rounds in (100, 1000):
            model = arb.GradientBoostingRegressor(
                learning_rate=nu, n_estimators=rounds, random_state=SEED
            )
            error = np.mean((model.fit(X, y).predict(new) - truth) ** 2)
            found[f"ν = {nu:g}, {rounds} rounds"] = float(error)
    for trees in (100, 1000):
        forest = arb.RandomForestRegressor(trees, random_state=SEED).fit(X, y)
        found[f"forest, {trees} trees"] = float(np.mean((forest.predict(new) - truth) ** 2))
    return found


def training_cost() -> dict[str, float]:
    """Return the seconds that models take to fit, as multiples of one tree of the same depth."""
    X, y = _friedman(10_000, np.random.default_rng(SEED))
    models: dict[str, Callable[[], Any]] = {
        "one tree": lambda: arb.CARTRegressor(max_depth=3),
        "every value": lambda: arb.GradientBoostingRegressor(random_state=SEED),
        "bins": lambda: arb.XGBRegressor(max_depth=3, learning_rate=0.1, n_estimators=100),
    }
    seconds = {
        name: _seconds(lambda make=make: make().fit(X, y), 2) for name, make in models.items()
    }
    return {name: value / seconds["one tree"] for name, value in seconds.items()}


def sparse_text() -> dict[str, float]:
    """Return accuracy on made-up texts of two classes, whose every word says only a little.

    500 texts of 60 words to learn from, a vocabulary of 1,000: word k occurs in proportion to
    1/(k + 10), and classes differ by a random factor for every word.
    """
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(SEED)
    n, words = 1000, 1000
    y = rng.integers(0, 2, n)
    common = 1 / (np.arange(words) + 10.0)
    shares = common * np.exp(0.4 * rng.normal(size=(2, words)))
    shares /= shares.sum(axis=1, keepdims=True)
    X = np.array([rng.multinomial(60, shares[label]) for label in y], dtype=float)
    found = {"zeros": float(np.mean(X == 0))}
    for name, model in (
        ("linear", LogisticRegression(max_iter=1000)),
        ("gradient boosting", arb.GradientBoostingClassifier(random_state=SEED)),
    ):
        begin = time.perf_counter()
        model.fit(X[:500], y[:500])
        found[f"seconds, {name}"] = time.perf_counter() - begin
        found[name] = float(model.score(X[500:], y[500:]))
    return found


CLAIMS: dict[str, Callable[[], dict[str, float]]] = {
    "accuracy": accuracy,
    "prediction_cost": prediction_cost,
    "scale": scale,
    "mixed_types": mixed_types,
    "interpretation": interpretation,
    "tuning": tuning,
    "training_cost": training_cost,
    "sparse_text": sparse_text,
}
