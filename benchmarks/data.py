"""The data of the benchmarks: made from a seed, so that every machine sees the same numbers.

Numbers are rounded to float32 and stored as C-ordered float64. scikit-learn's trees round their
input to float32; rounding beforehand means that every contender sees the same values and may find
the same tree.

Columns are shuffled. Small nodes often have several splits that are equally good; arboretum takes the
first column of these, scikit-learn a random one. With the columns that matter in front, the first
would win held-out score by the layout of the table alone (R² 0.22 against 0.12 in one regression).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Split", "categories", "classification", "iris", "mixed_table", "regression"]

_SIGNAL_COLUMNS = (
    14  # the target looks at columns 0 to 11; columns 9 and 13 have few distinct values
)


@dataclass(frozen=True)
class Split:
    """Training data and held-out data."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray

    def head(self, n: int) -> Split:
        """Return the first ``n`` rows of either part: something small to warm up on."""
        return Split(self.X[:n], self.y[:n], self.X_test[:n], self.y_test[:n])


def _cut(X: Any, y: np.ndarray, n: int) -> Split:
    return Split(X[:n], y[:n], X[n:], y[n:])


def _held_out(n: int) -> int:
    """Return how many rows to test on: a quarter, but never more than ±0.3 % of error needs."""
    return min(max(n // 4, 50), 100_000)


def _columns(rng: np.random.Generator, n: int, n_columns: int) -> np.ndarray:
    """Draw normal columns; one is skewed, one has few whole numbers, one has two decimals."""
    X = rng.standard_normal((n, n_columns), dtype=np.float32)
    X[:, 5] = np.exp(X[:, 5])
    X[:, 9] = np.round(2 * X[:, 9])
    X[:, 13] = np.round(np.exp(X[:, 13]), 2)
    return X


def _order(n_columns: int, seed: int) -> np.ndarray:
    """Return the shuffled order of the columns; see above for why."""
    return np.random.default_rng([seed, n_columns]).permutation(n_columns)


def _shuffled(X: np.ndarray, n_columns: int, seed: int) -> np.ndarray:
    """Return the first columns in shuffled order, as C-ordered float64."""
    return np.ascontiguousarray(X[:, _order(n_columns, seed)], dtype=np.float64)


def classification(
    n: int, n_columns: int = 28, *, n_test: int | None = None, seed: int = 0
) -> Split:
    """Two noisy classes shaped like the HIGGS table: products, waves, steps and useless columns.

    The log-odds are a sum of eight terms of the first twelve columns; the class is drawn with that
    probability, so no model is perfect and an unlimited tree grows deep.

    Examples
    --------
    >>> split = classification(1000)
    >>> split.X.shape, split.X_test.shape, split.X.dtype
    ((1000, 28), (250, 28), dtype('float64'))
    """
    rng = np.random.default_rng(seed)
    n_all = n + (_held_out(n) if n_test is None else n_test)
    X = _columns(rng, n_all, max(n_columns, _SIGNAL_COLUMNS))
    c = X[:, :12].T  # c[k]: column k
    z = c[0] * c[1]
    z += np.sin(2 * c[2])
    z += 0.5 * c[3] ** 2
    z -= 0.7 * np.abs(c[4])
    z += 0.3 * np.log(c[5]) * c[6]
    z += 0.4 * c[7]
    z -= 0.2 * c[8] * c[9]
    z += 0.3 * c[10] * (c[11] > 0)
    y = (rng.random(n_all) < 1 / (1 + np.exp(z.mean() - z))).astype(np.int64)
    return _cut(_shuffled(X, n_columns, seed), y, n)


def regression(n: int, n_columns: int = 28, *, n_test: int | None = None, seed: int = 0) -> Split:
    """Return the same columns with the target x₀·x₁ + sin(2·x₂) + ½·noise.

    Examples
    --------
    >>> regression(1000, 7).X.shape
    (1000, 7)
    """
    rng = np.random.default_rng(seed)
    n_all = n + (_held_out(n) if n_test is None else n_test)
    X = _columns(rng, n_all, max(n_columns, _SIGNAL_COLUMNS))
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * rng.standard_normal(n_all)
    return _cut(_shuffled(X, n_columns, seed), y.astype(np.float64), n)


def iris(n: int) -> Split:
    """Return Fisher's iris: ``n`` flowers to train on, the rest of the 150 to test on.

    Examples
    --------
    >>> len(iris(120).X_test)
    30
    """
    from sklearn.datasets import load_iris
    from sklearn.model_selection import train_test_split

    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32).astype(np.float64)
    X, X_test, y, y_test = train_test_split(X, y, train_size=n, stratify=y, random_state=0)
    return Split(X, y, X_test, y_test)


def mixed_table(n: int, *, seed: int = 0) -> Split:
    """Return a pandas table of numbers and words with one value in ten missing.

    Eight numeric columns, and columns of 6, 40 and 200 different words. A hidden half of the words
    of each column raises the odds, so that a split which sends a *set* of words left is worth most;
    that a value is missing says nothing.

    Examples
    --------
    >>> sorted(mixed_table(100).X.columns)[:3]
    ['city', 'colour', 'product']
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    n_all = n + _held_out(n)
    numbers = rng.standard_normal((n_all, 8), dtype=np.float32).astype(np.float64)
    z = numbers[:, 0] * numbers[:, 1] + np.sin(2 * numbers[:, 2])
    table: dict[str, Any] = {}
    for k in range(numbers.shape[1]):
        table[f"x{k}"] = np.where(rng.random(n_all) < 0.1, np.nan, numbers[:, k])
    for name, n_words in {"colour": 6, "city": 40, "product": 200}.items():
        code = rng.integers(n_words, size=n_all)
        good = rng.permutation(n_words) % 2
        z += 1.5 * (good[code] - 0.5)
        words = np.array([f"{name} {k:03d}" for k in range(n_words)], dtype=object)[code]
        words[rng.random(n_all) < 0.1] = None
        table[name] = words
    y = (rng.random(n_all) < 1 / (1 + np.exp(-z))).astype(np.int64)
    names = list(table)
    frame = pd.DataFrame({names[k]: table[names[k]] for k in _order(len(names), seed)})
    return _cut(frame, y, n)


def categories(n: int, n_columns: int = 10, n_values: int = 50, *, seed: int = 0) -> Split:
    """Return a pandas table of categories; some of their values, and some pairs of them, matter.

    Values are as unequally frequent as words are (the k-th has a weight of 1/√k). In half of the
    columns every value shifts the log-odds of the second class by an amount of its own; besides, the
    values of two columns fall into two hidden groups each, and what counts is whether they match. The
    class is drawn with that probability, so no model is perfect.

    Examples
    --------
    >>> split = categories(200)
    >>> split.X.shape, int(split.X["c0"].cat.codes.max()) < 50
    ((200, 10), True)
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    effect = rng.normal(0, 0.6, (n_columns // 2, n_values))  # drawn first: the same for every n
    first, second = (rng.permutation(n_values) % 2 for _ in range(2))
    n_all = n + _held_out(n)
    frequency = 1 / np.sqrt(np.arange(1, n_values + 1))
    words = [f"v{k:02d}" for k in range(n_values)]
    codes = rng.choice(n_values, (n_columns, n_all), p=frequency / frequency.sum())
    z = sum(shift[code] for shift, code in zip(effect, codes))
    z += 1.2 * (2 * (first[codes[0]] == second[codes[1]]) - 1)
    y = (rng.random(n_all) < 1 / (1 + np.exp(-z))).astype(np.int64)
    order = _order(n_columns, seed)
    table = {
        f"c{place}": pd.Categorical.from_codes(codes[k], categories=words)
        for place, k in enumerate(order)
    }
    return _cut(pd.DataFrame(table), y, n)
