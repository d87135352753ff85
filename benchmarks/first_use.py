"""The first fit and answer of one estimator: ``python -m benchmarks.first_use XGBClassifier words``.

Run by record_kernels.py in a process of its own, so that what is recorded is what a first fit of that kind
calls: a fit that has to compile knows from it what it will need next. Parameters have their defaults.

    numbers    500 rows of 10 columns
    weights    the same, with weights of rows
    words      numbers with gaps and words
    shap       what every column adds to 4,000 rows (small trees have tables, forests are walked);
               the fit is not part of it
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd

import arboretum
from arboretum.engine.compiler.signatures import WAY
from benchmarks.kernel_tour import make

__all__ = ["KINDS", "main", "use"]

KINDS = ("numbers", "weights", "words", "shap")
ROWS, MANY_ROWS = 500, 4000


def _table(name: str, kind: str, n: int) -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    if name == "ID3Classifier":
        return np.where(X > 0, "more", "less")
    if kind != "words":
        return X
    frame = pd.DataFrame(np.where(rng.random(X.shape) < 0.1, np.nan, X), columns=list("abcdefghij"))
    frame["word"] = rng.choice(np.array(["u", "v", "w"], dtype=object), n)
    frame["many"] = [f"w{i}" for i in rng.integers(0, 40, n)]
    return frame


def use(name: str, kind: str) -> None:
    """Fit an estimator and ask it."""
    n = MANY_ROWS if kind == "shap" else ROWS
    X, rng = _table(name, kind, n), np.random.default_rng(1)
    model = make(name, small=False)
    numbers = name.endswith("Regressor")
    y = rng.exponential(size=n) if numbers else rng.integers(0, 2, n)
    arguments: dict[str, Any] = {}
    if name.endswith("Ranker"):
        arguments["group"] = np.full(n // 10, 10)
    if kind == "weights":
        arguments["sample_weight"] = rng.exponential(size=n // 10 if name == "XGBRanker" else n)
    way = os.environ.pop(WAY, "") if kind == "shap" else ""  # who explains need not have fitted
    model.fit(X, y, **arguments)
    for method in ("predict", "predict_proba", "transform"):
        if hasattr(model, method):
            getattr(model, method)(X)
    if kind == "shap":
        os.environ[WAY] = way
        model.shap_values(X)


def main() -> None:
    """Use the estimator that the command line names."""
    name, kind = sys.argv[1:]
    if name not in arboretum.ESTIMATORS or kind not in KINDS:
        sys.exit(f"usage: python -m benchmarks.first_use <estimator> {'|'.join(KINDS)}")
    warnings.simplefilter("ignore")
    try:
        use(name, kind)
    except (ValueError, TypeError, AttributeError) as error:
        print(f"{name} takes no {kind}: {error}")


if __name__ == "__main__":
    main()
