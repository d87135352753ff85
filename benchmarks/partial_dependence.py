"""Partial dependence beside scikit-learn's brute force: ``python -m benchmarks.partial_dependence [rows]``.

One column, 100 points, both ask the same model; CPU time of one thread, the best of three for ours. What
bounds ours from below is one prediction of all rows (the trees are walked once) and, for probabilities, the
link of rows × points numbers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.inspection import partial_dependence as brute

import arboretum as arb


def main(n: int = 100_000) -> None:
    """Print a line per model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 28))
    z = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + 0.5 * rng.normal(size=n)
    y, some = (z > 0).astype(int), slice(0, 20_000)
    boosted: dict[str, Any] = {"n_estimators": 100, "num_leaves": 31, "verbose": -1}
    models = {
        "LGBMRegressor, 31 leaves": arb.LGBMRegressor(**boosted).fit(X, z),
        "LGBMClassifier, 31 leaves": arb.LGBMClassifier(**boosted).fit(X, y),
        "RandomForestClassifier": arb.RandomForestClassifier(
            100, min_samples_leaf=20, random_state=0
        ).fit(X[some], y[some]),
    }
    print(f"{'100 trees, ' + str(n) + ' rows':<28}{'ours':>8}{'brute':>8}{'times':>8}{'apart':>10}")
    for name, model in models.items():
        model.n_jobs = 1
        ours = [_timed(lambda m=model: m.partial_dependence(X, 0, n_jobs=1)) for _ in range(3)]
        theirs = _timed(lambda m=model: brute(m, X, [0], kind="average", method="brute"))
        best = min(seconds for seconds, _ in ours)
        apart = np.abs(ours[0][1].average - theirs[1].average).max()
        print(f"{name:<28}{best:>7.2f}s{theirs[0]:>7.1f}s{theirs[0] / best:>8.1f}{apart:>10.1e}")


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.thread_time()
    found = work()
    return time.thread_time() - start, found


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
