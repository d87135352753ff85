"""Small tables with words, ranks and gaps, and what every sheet must obey."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from arboretum.explain.worksheet.sheet import Sheet


def table(n: int = 150, seed: int = 0, *, words: bool = True) -> pd.DataFrame:
    """Return numbers, a category, a rank and few values, all with gaps."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "income": rng.normal(50, 15, n).round(1),
            "rooms": rng.integers(1, 5, n).astype(float),
        }
    )
    if words:
        X["city"] = rng.choice(["Bern", "Oslo", "Rome", "Paris", "Wien"], n)
        ranks = rng.choice(["low", "mid", "high"], n)
        X["grade"] = pd.Categorical(ranks, categories=["low", "mid", "high"], ordered=True)
    for name in X.columns:
        X.loc[rng.random(n) < 0.08, name] = None
    return X


def signal(X: pd.DataFrame, seed: int = 1) -> np.ndarray:
    """Return numbers that depend on the columns."""
    rng = np.random.default_rng(seed)
    found = X["age"].fillna(40).to_numpy() / 20 + rng.normal(0, 0.7, len(X))
    if "city" in X:
        found += np.where(X["city"].isin(["Oslo", "Rome"]), 1.5, 0.0)
    return found + np.where(X["rooms"].isna(), 1.0, 0.0)


def classes(X: pd.DataFrame, k: int = 3, seed: int = 1) -> np.ndarray:
    """Return k labels that depend on the columns."""
    values = signal(X, seed)
    return np.array(["no", "maybe", "yes", "never"])[
        np.digitize(values, np.quantile(values, np.linspace(0, 1, k + 1)[1:-1]))
    ]


def weights(n: int, seed: int = 2) -> np.ndarray:
    """Return weights of rows, some of them 0."""
    rng = np.random.default_rng(seed)
    w = rng.uniform(0.3, 3.0, n)
    w[rng.random(n) < 0.1] = 0.0
    return w


def check_shown(sheet: Sheet) -> Sheet:
    """Print a sheet in every form; return it."""
    text = sheet.to_text()
    assert all(len(line) <= 80 for line in text.splitlines()), text
    assert sheet.title in sheet.to_html().replace("&lt;", "<").replace("&gt;", ">").replace(
        "&#x27;", "'"
    )
    assert json.loads(json.dumps(sheet.to_dict(), allow_nan=False))["title"] == sheet.title
    for part in sheet.walk():
        for one in part.tables:
            assert all(len(row) == len(one.header) for row in one.rows), one.title
            assert all(0 <= i < len(one.rows) for i in one.marked), one.title
    return sheet
