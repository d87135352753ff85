"""Small experiments behind docs/comparisons.md: each measures one sentence in some seconds.

    python -m benchmarks.comparisons

`EXPERIMENTS` has a function for each, which returns the figures by name; those on the claims about
gradient boosting are in boosting_claims.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import arboretum as arb
from benchmarks.boosting_claims import CLAIMS

SEED = 0


def _friedman(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return Friedman's first function on five columns, without noise."""
    X = rng.uniform(size=(n, 5))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    return X, y + 5 * X[:, 4]


def _classes(n: int, rng: np.random.Generator, columns: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Return two classes, inside and outside a sphere (Hastie)."""
    X = rng.normal(size=(n, columns))
    return X, (np.sum(X**2, axis=1) > columns - 0.7).astype(int)


def bias_variance(samples: int = 12, rows: int = 150) -> dict[str, tuple[float, float]]:
    """Return bias² and variance on new rows, by repeated samples."""
    rng = np.random.default_rng(SEED)
    new, truth = _friedman(400, rng)
    models: dict[str, Callable[[], Any]] = {
        "stump": lambda: arb.CARTRegressor(max_depth=1),
        "full tree": lambda: arb.CARTRegressor(),
        "bagging": lambda: arb.BaggingRegressor(arb.CARTRegressor(), 50, random_state=SEED),
        "boosting": lambda: arb.GradientBoostingRegressor(
            n_estimators=100, max_depth=1, learning_rate=0.3
        ),
    }
    answers: dict[str, list[np.ndarray]] = {name: [] for name in models}
    for _ in range(samples):
        X, y = _friedman(rows, rng)
        y = y + rng.normal(size=rows)
        for name, make in models.items():
            answers[name].append(make().fit(X, y).predict(new))
    found = {}
    for name, each in answers.items():
        all_of_them = np.array(each)
        bias = float(np.mean((all_of_them.mean(axis=0) - truth) ** 2))
        found[name] = (bias, float(np.mean(all_of_them.var(axis=0))))
    return found


def pruning() -> dict[str, float]:
    """Return the accuracy on new rows of a full and of a pruned tree, labels being noisy."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(600, 5))
    truth = (X[:, 0] > 0).astype(int)
    y = np.where(rng.random(600) < 0.2, 1 - truth, truth)
    full = arb.CARTClassifier().fit(X[:300], y[:300])
    path = arb.CARTClassifier().cost_complexity_pruning_path(X[:300], y[:300])
    alpha = float(np.quantile(path.ccp_alphas, 0.9))
    pruned = arb.CARTClassifier(ccp_alpha=alpha).fit(X[:300], y[:300])
    return {
        "full": full.score(X[300:], truth[300:]),
        "pruned": pruned.score(X[300:], truth[300:]),
    }


def readable() -> dict[str, float]:
    """Return lines and accuracy of a small tree."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    model = arb.CARTClassifier(max_depth=2).fit(X, y)
    return {
        "lines": float(len(arb.export_text(model).strip().split("\n"))),
        "right": float(model.score(X, y)),
    }


def scaling() -> dict[str, bool]:
    """Return whether a tree of scaled columns splits the rows in the same way.

    The factor is a power of two: others round the values, and so the midpoints between them.
    """
    X, y = _friedman(200, np.random.default_rng(SEED))
    plain, scaled = (
        arb.CARTRegressor(max_depth=5).fit(X * size, y).predict(X * size) for size in (1, 1024)
    )
    return {"the same": bool(np.array_equal(plain, scaled))}


def label_noise() -> dict[str, float]:
    """Return how much accuracy on clean new rows is lost when a fifth of the labels are changed."""
    rng = np.random.default_rng(SEED)
    X, y = _classes(1500, rng)
    wrong = np.where(rng.random(750) < 0.2, 1 - y[:750], y[:750])
    models: dict[str, Callable[[], Any]] = {
        "random forest": lambda: arb.RandomForestClassifier(100, random_state=SEED),
        "AdaBoost": lambda: arb.AdaBoostClassifier(n_estimators=200),
        "GBM, log loss": lambda: arb.GradientBoostingClassifier(n_estimators=200, max_depth=1),
    }
    lost = {}
    for name, make in models.items():
        clean, noisy = (
            make().fit(X[:750], labels).score(X[750:], y[750:]) for labels in (y[:750], wrong)
        )
        lost[name] = clean - noisy
    return lost


def outliers() -> dict[str, float]:
    """Return the mean absolute error on clean new rows when some targets are far off."""
    rng = np.random.default_rng(SEED)
    X, y = _friedman(800, rng)
    far = y[:400].copy()
    far[rng.choice(400, 20, replace=False)] += 300
    models: dict[str, Callable[[], Any]] = {
        "squared error": lambda: arb.GradientBoostingRegressor(),
        "absolute error": lambda: arb.GradientBoostingRegressor(loss="absolute_error"),
        "Huber": lambda: arb.GradientBoostingRegressor(loss="huber"),
    }
    return {
        name: float(np.mean(np.abs(make().fit(X[:400], far).predict(X[400:]) - y[400:])))
        for name, make in models.items()
    }


def few_rows() -> dict[str, float]:
    """Return the squared error on new rows after learning from 60: GBM, XGBoost without and with λ."""
    rng = np.random.default_rng(SEED)
    size: dict[str, Any] = {"n_estimators": 20, "max_depth": 3, "learning_rate": 1.0}
    models: dict[str, Callable[[], Any]] = {
        "GBM": lambda: arb.GradientBoostingRegressor(**size, random_state=SEED),
        "λ = 0": lambda: arb.XGBRegressor(**size, reg_lambda=0),
        "λ = 10": lambda: arb.XGBRegressor(**size, reg_lambda=10),
    }
    errors: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(8):
        X, y = _friedman(60, rng)
        y = y + 2 * rng.normal(size=60)
        new, truth = _friedman(300, rng)
        for name, make in models.items():
            errors[name].append(float(np.mean((make().fit(X, y).predict(new) - truth) ** 2)))
    return {name: float(np.mean(each)) for name, each in errors.items()}


def leaf_wise() -> dict[str, float]:
    """Return training loss and depth of trees of 15 leaves, grown by level and by leaf."""
    X, y = _friedman(3000, np.random.default_rng(SEED))
    found = {}
    for name, policy in (("by level", "depthwise"), ("by leaf", "lossguide")):
        model = arb.XGBRegressor(
            n_estimators=10, grow_policy=policy, max_leaves=15, max_depth=0, tree_method="hist"
        ).fit(X, y)
        found[f"loss {name}"] = float(np.mean((model.predict(X) - y) ** 2))
        found[f"depth {name}"] = float(np.mean([tree.max_depth for tree in model.trees_]))
    return found


def many_columns() -> dict[str, float]:
    """Return what 200 one-hot columns are bundled into, and whether answers stay the same."""
    rng = np.random.default_rng(SEED)
    X = np.hstack([np.eye(20)[rng.integers(0, 20, 800)] for _ in range(10)])
    y = X @ rng.normal(size=200) + 0.1 * rng.normal(size=800)
    apart, together = (
        arb.LGBMRegressor(n_estimators=10, enable_bundle=bundle).fit(X, y)
        for bundle in (False, True)
    )
    return {
        "bundles": float(len(together.bundles_)),
        "columns in them": float(sum(map(len, together.bundles_))),
        "largest difference": float(np.abs(apart.predict(X) - together.predict(X)).max()),
    }


EXPERIMENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "bias_variance": bias_variance,
    "pruning": pruning,
    "readable": readable,
    "scaling": scaling,
    "label_noise": label_noise,
    "outliers": outliers,
    "few_rows": few_rows,
    "leaf_wise": leaf_wise,
    "many_columns": many_columns,
    **CLAIMS,
}

if __name__ == "__main__":
    for title, run in EXPERIMENTS.items():
        print(title)
        for what, figure in run().items():
            print(f"    {what}: {figure}")
