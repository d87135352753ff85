"""Every usual way to use one estimator, on small tables: ``python -m benchmarks.kernel_tour XGBClassifier``.

Run by record_kernels.py in a process of its own, so that what is recorded is what this estimator needs.
First come its cases of the golden set, then tables of every kind (numbers, 32-bit ones, gaps, words,
sparse; few rows and so many that codes of rows and ranks get wider), two and three classes or numbers,
with and without weights, answered for one row, some, and all; SHAP values of all kinds. Then models with
default parameters on 500 and 4,000 rows, and last models of small trees that are asked all at once
(predict/engines/): up to 32 leaves, and more.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import arboretum
from tests.golden.cases import all_cases

__all__ = ["main", "tables", "tour"]

FEW, TALL = 240, 70_000  # rows; 65,536 is where two bytes no longer number them
SMALL = (  # trees of up to 8 and up to 64 leaves, by whatever name an estimator has for it
    {"max_depth": 3},
    {"max_depth": 6, "min_child_samples": 1, "num_leaves": 60},
)


def tables() -> Iterator[Any]:
    """Yield tables of every kind."""
    rng = np.random.default_rng(0)
    for n in (FEW, TALL):
        X = rng.normal(size=(n, 4))
        words = pd.DataFrame(np.where(rng.random(X.shape) < 0.1, np.nan, X), columns=list("abcd"))
        words["word"] = rng.choice(np.array(["u", "v", "w", None], dtype=object), n)
        words["many"] = [f"w{i}" for i in rng.integers(0, 100, n)]
        words["flag"] = rng.random(n) < 0.3
        yield X
        yield words
        yield words[["word", "many", "flag"]]
    X = rng.normal(size=(FEW, 4))
    yield X.astype(np.float32)
    yield np.where(rng.random(X.shape) < 0.1, np.nan, X)
    yield np.round(X, 1)
    yield rng.integers(0, 9, X.shape)
    yield sparse.random(FEW, 12, 0.2, format="csr", random_state=0)


def _of_widths() -> Iterator[np.ndarray]:
    """Yield tables whose tiles of codes have every width there is (engine/second_order/histogram.py)."""
    rng = np.random.default_rng(0)
    for width in (2, 4, 6, 8, 10, 12, 14, 16):
        yield rng.normal(size=(FEW, width))


def _targets(n: int) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(1)
    yield rng.integers(0, 2, n)
    yield np.array(["one", "two", "three"])[rng.integers(0, 3, n)]
    yield rng.exponential(size=n)


def make(name: str, small: bool = True, **more: Any) -> Any:
    """Return an estimator, with few members or its defaults; ``more`` of which it takes what it knows."""
    cls = getattr(arboretum, name)
    known = inspect.signature(cls).parameters
    few: dict[str, Any] = {"random_state": 0}
    if small:
        few |= {"n_estimators": 3, "max_iter": 2, "time_limit": 0.5}
    arguments = {key: value for key, value in (few | more).items() if key in known}
    if name.startswith(("Stacking", "Voting")):
        kind = "Classifier" if name.endswith("Classifier") else "Regressor"
        members = [f"CART{kind}", f"RandomForest{kind}"]
        arguments["estimators"] = [(member, make(member, small)) for member in members]
    return cls(**arguments)


def tour(name: str) -> tuple[int, int]:
    """Use an estimator in every way; return how many fits were done and how many it refused."""
    done = refused = 0
    every = chain(tables(), _of_widths() if name.startswith(("XGB", "LGBM")) else ())
    for X in every:
        n = X.shape[0]
        if n == TALL and name.startswith(("Stacking", "Voting")):
            continue  # what their members call is recorded of those
        for y in _targets(n):
            for weight in (None, np.random.default_rng(2).exponential(size=n)):
                try:
                    _use(name, X, y, weight)
                    done += 1
                except (ValueError, TypeError, AttributeError):
                    refused += 1  # not for this kind of target or table
    return done, refused


def _use(name: str, X: Any, y: np.ndarray, weight: np.ndarray | None) -> None:
    arguments: dict[str, Any] = {}
    if name.endswith("Ranker"):
        y = np.arange(len(y)) % 5
        arguments["group"] = np.full(len(y) // 10, 10)
        weight = weight[: len(y) // 10] if weight is not None and name.startswith("XGB") else weight
    if weight is not None:
        arguments["sample_weight"] = weight
    model = make(name)
    model.fit(X, y, **arguments)
    for rows in (1, 10, 100, len(y)):
        some = X.iloc[:rows] if isinstance(X, pd.DataFrame) else X[:rows]
        for method in ("predict", "predict_proba", "apply", "transform"):
            if hasattr(model, method):
                getattr(model, method)(some)
    if weight is None and len(y) == FEW:
        _serve(model, X)
        _explain(model, X)


def first_use(name: str) -> None:
    """Fit an estimator with its defaults to 500 rows; ask it, and for SHAP values of 4,000 rows."""
    rng = np.random.default_rng(4)
    X, many = rng.normal(size=(500, 10)), rng.normal(size=(4000, 10))
    if name == "ID3Classifier":
        X, many = (np.where(table > 0, "more", "less") for table in (X, many))
    y = rng.exponential(size=500) if name.endswith("Regressor") else rng.integers(0, 2, 500)
    group = {"group": np.full(50, 10)} if name.endswith("Ranker") else {}
    model = make(name, small=False)
    model.fit(X, y, **group)
    for method in ("predict", "predict_proba", "transform", "shap_values"):
        try:
            getattr(model, method)(many if method == "shap_values" else X)
        except (ValueError, AttributeError):
            continue  # it has no such answer


def _serve(model: Any, X: Any) -> None:
    """Ask a predictor for one row and for all, if the model has one."""
    try:
        ask = model.predictor()
    except (ValueError, AttributeError):
        return  # it answers otherwise
    rows = ask.encode(X)
    for some in (rows[:1], rows):
        ask(some)


def ask_at_once(name: str) -> None:
    """Ask twelve small trees about so many rows that none is walked: of numbers, and of words and numbers."""
    rng, n = np.random.default_rng(3), 1000
    numbers = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    words = numbers[["a"]].assign(word=[f"w{i:02}" for i in rng.integers(0, 40, n)])
    shown = np.round(2 * words["a"]) + words["word"].astype("category").cat.codes % 7
    targets = shown > 3, np.digitize(shown, [2, 4]), shown.to_numpy()
    for X in (numbers, numbers[["a"]], words, words[["word"]]):
        for y in targets:
            for limits in SMALL:
                try:
                    model = make(name, n_estimators=12, **limits)
                    model.fit(X, y).predict(X)
                except (ValueError, TypeError, AttributeError):
                    continue  # not for this kind of target or table


def _explain(model: Any, X: Any) -> None:
    """Ask for SHAP values by every way there is: few rows are walked, many are looked up in tables."""
    try:
        model.shap_values(X[:5])
    except (ValueError, AttributeError):
        return  # it is not a sum of trees
    many = pd.concat([X] * 13) if isinstance(X, pd.DataFrame) else np.tile(X, (13, 1))
    for rows in (X[:5], many):
        for pairs in (False, True):
            for background in (None, X[:20]):
                model.shap_values(rows, interactions=pairs, background=background)


def main() -> None:
    """Make the tour of the estimator that the command line names."""
    (name,) = sys.argv[1:]
    warnings.simplefilter("ignore")
    n_golden = 0
    for case in all_cases():
        if type(case.make()) is getattr(arboretum, name):
            case.answers(case.fitted())
            n_golden += 1
    done, refused = tour(name)
    first_use(name)
    ask_at_once(name)
    print(f"{name}: {n_golden} golden cases, {done} fits, {refused} refused")


if __name__ == "__main__":
    main()
