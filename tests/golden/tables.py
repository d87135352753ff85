"""Eight small tables for the golden set, built from fixed seeds.

    two      numbers with ties, two classes                       shuffled weights
    many     numbers with gaps, four classes with names
    mixed    a dataframe: words, numbers, ranks and gaps; classes and numbers to predict
    real     numbers with gaps; numbers, amounts, counts, shares and pairs to predict
    lists    rows in lists, with grades
    sparse   mostly zeros, a scipy matrix
    cities   2,100 rows with words of 40 categories; classes and numbers to predict
    tennis   words of two and three categories, 14 rows: play-tennis

`RandomState` is used because NumPy promises never to change its numbers. All figures are rounded to a few
decimals, so that the last bit of a logarithm, which depends on the system, never reaches a table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

N_NEW = 60  # rows at the end of every table that are only predicted, or watched while training


@dataclass(frozen=True)
class Table:
    """Rows to learn from and new rows, with every target by name."""

    X: Any
    targets: dict[str, np.ndarray]
    weights: np.ndarray
    list_sizes: np.ndarray = field(default_factory=lambda: np.array([], dtype=int))

    def rows(self, *, new: bool) -> Any:
        part = slice(-N_NEW, None) if new else slice(None, -N_NEW)
        return self.X.iloc[part] if isinstance(self.X, pd.DataFrame) else self.X[part]

    def target(self, name: str, *, new: bool = False) -> np.ndarray:
        y = self.targets[name]
        return y[-N_NEW:] if new else y[:-N_NEW]


@cache
def table(name: str) -> Table:
    """Return one of the tables; made once."""
    return _MAKERS[name]()


def _normal(rng: np.random.RandomState, *shape: int) -> np.ndarray:
    return np.round(rng.normal(size=shape), 3)


def _weights(rng: np.random.RandomState, n: int) -> np.ndarray:
    return rng.randint(1, 9, n) / 4


def _with_gaps(rng: np.random.RandomState, X: np.ndarray, share: float) -> np.ndarray:
    return np.where(rng.random_sample(X.shape) < share, np.nan, X)


def _two() -> Table:
    rng = np.random.RandomState(1)
    X = _normal(rng, 300, 6)
    X[:, 3:] = np.round(X[:, 3:], 1)
    score = X[:, 0] + X[:, 1] * X[:, 3] - (X[:, 4] > 0.5) + 0.6 * _normal(rng, 300)
    return Table(X, {"class": (score > 0).astype(int), "number": score}, _weights(rng, 300))


def _many() -> Table:
    rng = np.random.RandomState(2)
    X = _normal(rng, 300, 5)
    X[:, 2] = rng.randint(0, 7, 300)
    score = X[:, 0] * 1.5 + np.abs(X[:, 1]) + 0.4 * X[:, 2] + 0.5 * _normal(rng, 300)
    names = np.array(["ash", "birch", "cedar", "dogwood"])
    classes = names[np.digitize(score, [0.5, 1.6, 2.8])]
    pair = np.column_stack([classes, names[(X[:, 1] > 0) * 1 + (X[:, 2] > 3) * 2]])
    targets = {"class": classes, "pair": pair, "third": np.digitize(score, [0.8, 2.2])}
    return Table(_with_gaps(rng, X, 0.08), targets, _weights(rng, 300))


def _mixed() -> Table:
    rng = np.random.RandomState(3)
    n = 320
    color = rng.choice(["red", "green", "blue", "grey", "pink"], n)
    city = rng.choice([f"city {letter}" for letter in "abcdefghijkl"], n)
    grade = rng.choice(["low", "mid", "high"], n)
    size, age = _normal(rng, n), rng.randint(18, 80, n).astype(float)
    score = (color == "red") * 1.2 - (color == "blue") + (city > "city g") * 0.8 + size * 0.7
    score = score + (grade == "high") * 0.9 - age * 0.01 + 0.4 * _normal(rng, n)
    gap = rng.random_sample((n, 4)) < 0.08
    color[-4:] = "mauve"  # a word that training has not seen
    frame = pd.DataFrame(
        {
            "color": pd.Series(np.where(gap[:, 0], None, color), dtype=object),
            "size": np.where(gap[:, 1], np.nan, size),
            "city": pd.Series(np.where(gap[:, 2], None, city), dtype=object),
            "age": np.where(gap[:, 3], np.nan, age),
            "grade": pd.Categorical(grade, ["low", "mid", "high"], ordered=True),
        }
    )
    targets = {
        "class": np.where(score > 0.2, "yes", "no"),
        "three": np.digitize(score, [-0.5, 0.6]),
        "number": np.round(score, 3),
        "count": np.floor(np.clip(score + 2, 0, None)),
    }
    return Table(frame, targets, _weights(rng, n))


def _real() -> Table:
    rng = np.random.RandomState(4)
    n = 320
    X = _normal(rng, n, 6)
    X[:, 4] = rng.randint(0, 12, n)
    signal = 1.3 * X[:, 0] + X[:, 1] * (X[:, 2] > 0) + 0.2 * X[:, 4] + 0.4 * _normal(rng, n)
    targets = {
        "number": np.round(signal, 3),
        "amount": np.round(np.clip(signal + 4, 0.25, None), 3),
        "count": np.floor(np.clip(signal + 1.5, 0, None)),
        "share": np.round(np.clip(signal / 8 + 0.4, 0, 1), 3),
        "pair": np.round(np.column_stack([signal, X[:, 1] - 2 * X[:, 3]]), 3),
    }
    return Table(_with_gaps(rng, X, 0.06), targets, _weights(rng, n))


def _lists() -> Table:
    rng = np.random.RandomState(5)
    n = 240 + N_NEW  # lists of 8 or 12 rows; the new rows are five lists of 12
    X = _normal(rng, n, 5)
    wish = X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.5 * _normal(rng, n)
    sizes = np.array([12, 8] * 12)
    targets = {"grade": np.digitize(wish, [-0.6, 0.5, 1.3]), "click": (wish > 0.7).astype(int)}
    return Table(X, targets, rng.randint(1, 9, len(sizes)) / 4, sizes)


def _tennis() -> Table:
    names = {"s": "sunny", "o": "overcast", "r": "rain", "h": "hot", "m": "mild", "c": "cool"}
    frame = pd.DataFrame(
        {
            "outlook": [names[c] for c in "ssorrrossrsoor"],
            "temperature": [names[c] for c in "hhhmcccmcmmmhm"],
            "humidity": np.where([c == "h" for c in "hhhhnnnhnnnhnh"], "high", "normal"),
            "wind": np.where([c == "s" for c in "wswwwsswwwssws"], "strong", "weak"),
        }
    )
    play = np.where([c == "y" for c in "nnyyynynyyyyyn"], "yes", "no")
    rows = np.arange(14 + N_NEW) % 14
    return Table(frame.iloc[rows].reset_index(drop=True), {"play": play[rows]}, np.ones(len(rows)))


def _sparse() -> Table:
    rng = np.random.RandomState(6)
    n = 300
    kind = rng.randint(0, 12, n)
    one_of = np.zeros((n, 12))
    one_of[np.arange(n), kind] = 1 + rng.randint(0, 3, n)  # columns that exclude each other
    other = np.where(rng.random_sample((n, 12)) < 0.1, _normal(rng, n, 12), 0.0)
    score = (kind % 3 == 0) * 1.0 + other[:, :4].sum(axis=1) + 0.4 * _normal(rng, n)
    targets = {"class": (score > 0.4).astype(int), "number": np.round(score, 3)}
    return Table(sparse.csr_matrix(np.hstack([one_of, other])), targets, _weights(rng, n))


def _cities() -> Table:
    rng = np.random.RandomState(8)
    n = 2_100 + N_NEW
    city, size = rng.randint(0, 40, n), _normal(rng, n)
    effect = _normal(rng, 40)
    score = effect[city] + size + 0.5 * _normal(rng, n)
    names = pd.Series([f"city {k}" for k in city], dtype=object)
    frame = pd.DataFrame({"city": names.where(rng.random_sample(n) > 0.05), "size": size})
    targets = {"three": np.digitize(score, [-0.5, 0.6]), "number": np.round(score, 3)}
    return Table(frame, targets, _weights(rng, n))


_MAKERS = {
    "two": _two,
    "many": _many,
    "mixed": _mixed,
    "real": _real,
    "lists": _lists,
    "sparse": _sparse,
    "cities": _cities,
    "tennis": _tennis,
}
