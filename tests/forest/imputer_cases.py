"""Tables with holes, and an imputer that is quick."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

from arboretum.forest.imputer import ProximityImputer

X, Y = load_iris(return_X_y=True)
NUMERIC = np.array([True, True, True, False])
KINDS = ("numeric", "numeric", "numeric", "categorical")


def holes(table: np.ndarray, share: float = 0.15, seed: int = 0) -> np.ndarray:
    table = table.astype(float)
    table[np.random.default_rng(seed).random(table.shape) < share] = np.nan
    return table


def mixed(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three numbers and a code, with holes; the last rows have no value at all."""
    table = np.column_stack([X[:, :3], np.round(X[:, 3] * 2)])
    table = holes(table, 0.2, seed)
    table[[5, 140]] = np.nan
    return table, Y


def quick(**parameters) -> ProximityImputer:
    return ProximityImputer(**{"n_estimators": 10, "random_state": 0, **parameters})


N = 60
WORDS = np.array(["red", "green", "blue"], dtype=object)[np.arange(N) % 3]
GAPS = np.random.default_rng(4).choice(N, 8, replace=False)


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "number": rng.normal(size=N),
            "small": rng.normal(size=N).astype("float32"),
            "whole": pd.array(rng.integers(0, 5, N), dtype="Int64"),
            "word": WORDS,
            "kind": pd.Categorical(WORDS, categories=["red", "green", "blue", "never"]),
            "rank": pd.Categorical(WORDS, ["blue", "green", "red"], ordered=True),
            "truth": pd.array(np.arange(N) % 2 == 0, dtype="boolean"),
            "day": pd.date_range("2024-01-01", periods=N),
            "zone": pd.date_range("2024-01-01", periods=N, tz="Europe/Zurich"),
            "span": pd.to_timedelta(np.arange(N), unit="h"),
            "full": np.arange(N),
        },
        index=[f"r{i}" for i in range(N)],
    )
    for name in table.columns[:-1]:
        table.loc[table.index[GAPS], name] = None
    return table


LABELS = np.arange(N) % 3
