"""The measured figures of two lessons: threads (system_design.py) and votes (parallel.py).

    python -m tests.textbook.measure_lessons

Prints how long columns take to sort and exact trees of the engine take to grow with 1 and 2 threads, and
how often voting grows another tree than the serial one. Timings depend on the machine and on what else
runs there; no test asserts them.
"""

from time import perf_counter

import numpy as np

import arboretum as arb
from arboretum import textbook as book


def fit_seconds(method: str, n_threads: int, n_rows: int, runs: int = 3) -> tuple[float, float]:
    """Return the seconds of the quickest of some fits, and the sum of the predictions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 8))
    y = X[:, 0] * X[:, 1] + rng.normal(size=n_rows)
    model = arb.XGBRegressor(n_estimators=5, tree_method=method, n_jobs=n_threads)
    model.fit(X[:500], y[:500])  # what is compiled is compiled now
    best = np.inf
    for _ in range(runs):
        start = perf_counter()
        model.fit(X, y)
        best = min(best, perf_counter() - start)
    return best, float(model.predict(X).sum())


def main(n_rows: int = 100_000) -> None:
    """Print all tables."""
    columns = np.random.default_rng(0).random((n_rows, 4))
    print(f"sorting 4 columns of {n_rows} rows")
    print(book.table(book.time_sorting(columns)), end="\n\n")
    for method in ("exact", "hist"):
        times = {n: fit_seconds(method, n, n_rows) for n in (1, 2)}
        assert times[1][1] == times[2][1], "threads changed the model"
        print(f"XGBRegressor, {method}, 5 trees, {n_rows} rows of 8 columns")
        rows = tuple((n, seconds) for n, (seconds, _) in times.items())
        print(book.Table(("threads", "seconds"), rows), end="\n\n")
    print("voting, 4 workers, 12 columns, 2 votes each")
    print(book.table([book.voting_experiment(n) for n in (200, 1000, 5000)]))


if __name__ == "__main__":
    main()
