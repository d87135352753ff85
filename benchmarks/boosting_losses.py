"""Held-out loss of second-order boosting beside its peers', over many tables and seeds.

    python -m benchmarks boosting --losses [--quick] [--jobs 2]

One table is luck: a tree that takes another of two equally good splits may be a hundredth better or worse.
So every kind of table is drawn several times, made-up ones anew and real ones with other rows held out, and
the relative difference to the peer of the same shape is averaged. Below nought is better than the peer. Small
tables scatter most, so the mean over all tables weighs each by its certainty (one over the squared error).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import boosting, data

__all__ = ["print_losses"]

_TREES = 100


def _real(name: str, seed: int) -> data.Split:
    """Return a table that scikit-learn brings along, a third of its rows held out."""
    from sklearn import datasets
    from sklearn.model_selection import train_test_split

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, random_state=seed)
    return data.Split(X, y, X_test, y_test)


def _skewed(n: int, seed: int) -> data.Split:
    """Return columns and a target with long tails."""
    split = data.regression(n, seed=seed)
    return data.Split(
        np.exp(split.X), np.exp(split.y / 2), np.exp(split.X_test), np.exp(split.y_test / 2)
    )


def _rounded(n: int, seed: int) -> data.Split:
    """Return columns of few different values."""
    split = data.classification(n, seed=seed)
    return data.Split(np.round(split.X), split.y, np.round(split.X_test), split.y_test)


def _with_holes(n: int, seed: int) -> data.Split:
    """Return columns with a fifth of their values missing."""
    split = data.classification(n, seed=seed)
    rng = np.random.default_rng(seed)
    for X in (split.X, split.X_test):
        X[rng.random(X.shape) < 0.2] = np.nan
    return split


def _tables(n: int) -> dict[str, tuple[Callable[[int], data.Split], bool]]:
    """Return every kind of table by name: how to draw it, and whether it is regression.

    The last four are real, and small.
    """
    return {
        "two classes": (lambda seed: data.classification(n, seed=seed), False),
        "ten classes": (lambda seed: boosting.ten_classes(n // 4, seed=seed), False),
        "few values": (partial(_rounded, n), False),
        "missing values": (partial(_with_holes, n), False),
        "regression": (lambda seed: data.regression(n, seed=seed), True),
        "long tails": (partial(_skewed, n), True),
        "breast cancer": (partial(_real, "breast_cancer"), False),
        "wine": (partial(_real, "wine"), False),
        "digits": (partial(_real, "digits"), False),
        "diabetes": (partial(_real, "diabetes"), True),
    }


def _pairs(jobs: int, regression: bool) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name of a peer, our model and the peer's of the same shape."""
    import lightgbm
    import xgboost

    import arboretum

    kind = "Regressor" if regression else "Classifier"
    leafwise = {"n_estimators": _TREES, "num_leaves": 31, "n_jobs": jobs}
    yield (
        "LightGBM",
        getattr(arboretum, f"LGBM{kind}")(**leafwise),
        getattr(lightgbm, f"LGBM{kind}")(**leafwise, verbose=-1),
    )
    levelwise = {
        "n_estimators": _TREES, "max_depth": 6, "learning_rate": 0.1, "tree_method": "hist",
        "n_jobs": jobs,
    }  # fmt: skip
    yield (
        "XGBoost",
        getattr(arboretum, f"XGB{kind}")(**levelwise),
        getattr(xgboost, f"XGB{kind}")(**levelwise),
    )


def print_losses(console: Console, *, quick: bool, jobs: int) -> None:
    """Measure and print the losses."""
    few, many = (2, 3) if quick else (6, 24)
    tables = _tables(2_000 if quick else 40_000)
    table = Table(title=f"held-out loss beside the peer's, {_TREES} trees")
    for name in ("table", "draws", "peer", "arboretum", "peer's", "difference", "standard error"):
        table.add_column(name, justify="left" if name in ("table", "peer") else "right")
    found: dict[str, list[tuple[float, float]]] = {}
    for name, (draw, regression) in tables.items():
        draws = many if name in list(tables)[-4:] else few
        for peer, both in _losses(draw, regression, range(draws), jobs).items():
            apart = both[:, 0] / both[:, 1] - 1.0
            error = float(apart.std(ddof=1) / np.sqrt(draws))
            found.setdefault(peer, []).append((float(apart.mean()), error))
            table.add_row(
                name, str(draws), peer, f"{both[:, 0].mean():.4f}", f"{both[:, 1].mean():.4f}",
                f"{apart.mean():+.2%}", f"{error:.2%}",
            )  # fmt: skip
        console.print(f"measured {name}", style="dim")
    console.print(table)
    for peer, some in found.items():
        mean, error = np.array(some).T
        certainty = 1.0 / np.maximum(error, 1e-4) ** 2
        console.print(
            f"over all tables, beside {peer}: {np.average(mean, weights=certainty):+.2%} "
            f"± {1.0 / np.sqrt(certainty.sum()):.2%} (plain mean {mean.mean():+.2%})"
        )


def _losses(
    draw: Callable[[int], data.Split], regression: bool, seeds: range, jobs: int
) -> dict[str, np.ndarray]:
    """Return our losses and the peer's, (draws, 2), by peer."""
    found: dict[str, list[list[float]]] = {}
    for seed in seeds:
        split = draw(seed)
        for peer, ours, theirs in _pairs(jobs, regression):
            both = [boosting.loss(model.fit(split.X, split.y), split) for model in (ours, theirs)]
            found.setdefault(peer, []).append(both)
    return {peer: np.array(losses) for peer, losses in found.items()}
