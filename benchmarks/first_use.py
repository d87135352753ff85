"""The first fit and answer of one estimator: ``python -m benchmarks.first_use XGBClassifier words``.

Run by record_kernels.py in a process of its own, so that what is recorded is what a first fit of that kind
calls: a fit that has to compile knows from it what it will need next. Parameters have their defaults.

    numbers    500 rows of 10 columns
    weights    the same, with weights of rows
    words      numbers with gaps and words
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd

import arboretum
from benchmarks.kernel_tour import make

__all__ = ["KINDS", "main", "use"]

KINDS = ("numbers", "weights", "words")
ROWS = 500


def _table(name: str, kind: str) -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 10))
    if name == "ID3Classifier":
        return np.where(X > 0, "more", "less")
    if kind != "words":
        return X
    frame = pd.DataFrame(np.where(rng.random(X.shape) < 0.1, np.nan, X), columns=list("abcdefghij"))
    frame["word"] = rng.choice(np.array(["u", "v", "w"], dtype=object), ROWS)
    frame["many"] = [f"w{i}" for i in rng.integers(0, 40, ROWS)]
    return frame


def use(name: str, kind: str) -> None:
    """Fit an estimator and ask it."""
    X, rng = _table(name, kind), np.random.default_rng(1)
    model = make(name, small=False)
    numbers = name.endswith("Regressor")
    y = rng.exponential(size=ROWS) if numbers else rng.integers(0, 2, ROWS)
    arguments: dict[str, Any] = {}
    if name.endswith("Ranker"):
        arguments["group"] = np.full(ROWS // 10, 10)
    if kind == "weights":
        n = ROWS // 10 if name == "XGBRanker" else ROWS
        arguments["sample_weight"] = rng.exponential(size=n)
    model.fit(X, y, **arguments)
    for method in ("predict", "predict_proba", "transform"):
        if hasattr(model, method):
            getattr(model, method)(X)


def main() -> None:
    """Use the estimator that the command line names."""
    name, kind = sys.argv[1:]
    if name not in arboretum.ESTIMATORS or kind not in KINDS:
        sys.exit(f"usage: python -m benchmarks.first_use <estimator> {'|'.join(KINDS)}")
    warnings.simplefilter("ignore")
    try:
        use(name, kind)
    except (ValueError, TypeError) as error:
        print(f"{name} takes no {kind}: {error}")


if __name__ == "__main__":
    main()
