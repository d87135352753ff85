"""Limits of boosted trees without tuning: time, memory, single rows, first fits.

    python -m benchmarks.best_limits time [ROWS]            seconds of fits with time_limit, and their score
    python -m benchmarks.best_limits rows ROWS COLUMNS      a large table: seconds, and memory at most
    python -m benchmarks.best_limits booster ROWS COLUMNS   the same for one LGBM booster of 100 rounds
    python -m benchmarks.best_limits row                    microseconds of a row through `predictor`
    python -m benchmarks.best_limits first                  a first fit beside a second one, kernels on disk

Tables are made of random numbers; ``rows`` and ``booster`` use two threads.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from arboretum import BoostedTreesClassifier, BoostedTreesRegressor, LGBMRegressor
from benchmarks.scale_run import _Memory

__all__ = ["main"]

_KINDS = {"numbers": BoostedTreesRegressor, "classes": BoostedTreesClassifier}


def _table(n: int, seed: int = 0) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return a table of 20 columns, and a target of each kind."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 20))
    y = X[:, 0] + np.sin(3 * X[:, 1]) * X[:, 2] + X[:, 3] ** 2 + rng.normal(size=n)
    return X, {"numbers": y, "classes": y > 1}


def _time(n: int) -> None:
    X, y = _table(n)
    X_test, y_test = _table(20_000, 1)
    limits = (1, 5, 20) if n > 10_000 else (0.05, 0.2, 1)
    print(
        "| target | quality | limit | seconds | score | members | rounds |\n|---|---|---|---|---|---|---|"
    )
    for kind, make in _KINDS.items():
        make(n_jobs=2).fit(X[:9_000], y[kind][:9_000])
        for quality in ("fast", "default", "best"):
            for limit in limits:
                model = make(quality=quality, time_limit=limit, random_state=0, n_jobs=2)
                began = time.perf_counter()
                model.fit(X, y[kind])
                took = time.perf_counter() - began
                rounds = [one.ensemble.n_rounds for one in model.members_]
                print(
                    f"| {kind} | {quality} | {limit} | {took:.2f} | {model.score(X_test, y_test[kind]):.4f} "
                    f"| {len(rounds)} | {min(rounds)}-{max(rounds)} |",
                    flush=True,
                )


def _rows(model: Any, n: int, k: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, k), dtype=np.float32)
    y = 2.0 * (X[:, 0] > 0) + (X[:, 1] > 0.5) - 1.5 * (X[:, 2] < -0.3)
    y += rng.standard_normal(n, dtype=np.float32)
    model.fit(X[:9_000], y[:9_000])  # kernels are loaded
    with _Memory() as memory:
        began, cpu = time.perf_counter(), time.process_time()
        model.fit(X, y)
        took, cpu = time.perf_counter() - began, time.process_time() - cpu
    more = (memory.most - memory.before) / 1e6
    print(f"{n} x {k}: {took:.0f} s, {cpu:.0f} CPU seconds, {more:.0f} MB more than before at most")
    print(getattr(model, "choices_", ""), model.score(X[:100_000], y[:100_000]))


def _row() -> None:
    for n in (1_500, 6_000, 20_000):
        X, y = _table(n)
        for kind, make in _KINDS.items():
            model = make(random_state=0).fit(X, y[kind])
            predict, row = (
                model.predictor("predict" if kind == "numbers" else "predict_proba"),
                X[:1],
            )
            seconds = []
            for _ in range(30):
                began = time.perf_counter()
                for _ in range(200):
                    predict(row)
                seconds.append((time.perf_counter() - began) / 200)
            kinds = dict(Counter(one.kind for one in model.members_))
            print(f"{kind}, {len(model)} trees of {kinds}: {min(seconds) * 1e6:.1f} microseconds")


_FIRST = """
import time
from benchmarks.best_limits import _KINDS, _table
X, y = _table({n})
for _ in range(2):
    began = time.process_time()
    _KINDS[{kind!r}](random_state=0, n_jobs=1).fit(X, y[{kind!r}])
    print(f"{n} rows, {kind}: {{time.process_time() - began:.2f}} CPU seconds")
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Carry out the command."""
    command, *rest = sys.argv[1:] if arguments is None else arguments
    numbers = [int(float(one)) for one in rest]
    if command == "time":
        _time(*(numbers or [200_000]))
    elif command == "rows":
        _rows(BoostedTreesRegressor(n_jobs=2, random_state=0), *numbers)
    elif command == "booster":
        _rows(LGBMRegressor(n_estimators=100, n_jobs=2), *numbers)
    elif command == "row":
        _row()
    else:
        for kind in _KINDS:
            for n in (500, 5_000):
                subprocess.run([sys.executable, "-c", _FIRST.format(n=n, kind=kind)], check=True)


if __name__ == "__main__":
    main()
