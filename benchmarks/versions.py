"""Is this checkout as fast as another one?

    git worktree add ../before <commit>
    python -m benchmarks.versions ../before [--repeat 9] [--models XGBClassifier ...] [--tables german ...]

A change that moves code must not cost time. Two processes, one with the sources of each checkout, fit the
same models on the same real tables on one thread, in turns, and tell the processor time of every fit and of
one answer for all rows. The ratio of the medians is printed, and that of the best ones, which a busy machine
disturbs less: above 1 this checkout is slower. Kernels are warm: the first fits of both are not counted.

    this process ──"german XGBClassifier"──►  worker with ../before/src   ──► seconds
                 ──"german XGBClassifier"──►  worker with src             ──► seconds
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent.parent
TABLES = ("iris", "titanic", "german", "diabetes", "magic")
MODELS = (
    "CART",
    "C45Classifier",
    "RandomForest",
    "ExtraTrees",
    "GradientBoosting",
    "AdaBoost",
    "XGB",
    "LGBM",
)


def work() -> None:
    """Answer lines ``table model`` with two times in seconds, or with what went wrong."""
    warnings.simplefilter("ignore")
    import arboretum
    from benchmarks.real_tables import load

    for line in sys.stdin:
        name, model = line.split()
        table = load(name)
        kind = "Regressor" if table.task == "regression" else "Classifier"
        try:
            made = getattr(arboretum, model if model.endswith(kind) else model + kind)()
            if "n_jobs" in made.get_params():
                made.set_params(n_jobs=1)
            start = time.process_time()
            made.fit(table.X, table.y)
            fitted = time.process_time()
            made.predict(table.X)
            print(fitted - start, time.process_time() - fitted, flush=True)
        except Exception as error:
            print("error", type(error).__name__, flush=True)


def start(checkout: Path) -> subprocess.Popen[str]:
    """Return a worker that has imported the package of a checkout."""
    path = os.pathsep.join([str(checkout / "src"), str(HERE)])
    return subprocess.Popen(
        [sys.executable, "-c", "from benchmarks.versions import work; work()"],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=HERE,
    )


def ask(worker: subprocess.Popen[str], line: str) -> list[float] | None:
    """Return the times of a fit and an answer, None if the worker has no such model."""
    assert worker.stdin
    assert worker.stdout
    print(line, file=worker.stdin, flush=True)
    said = worker.stdout.readline().split()
    return None if not said or said[0] == "error" else [float(word) for word in said]


def main() -> None:
    """Compare and print a line per table and model."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.versions")
    parser.add_argument("before", type=Path, help="another checkout")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--tables", nargs="+", default=TABLES)
    options = parser.parse_args()
    workers = [start(options.before.resolve()), start(HERE)]
    print(
        f"{'table':12} {'model':18} {'before':>9} {'now':>9}  fit: median best  predict: median best"
    )
    ratios: list[float] = []
    for line in (f"{table} {model}" for table in options.tables for model in options.models):
        if None in [ask(worker, line) for worker in workers]:
            continue
        times = [[ask(worker, line) for worker in workers] for _ in range(options.repeat)]
        cells = []
        for what in (0, 1):
            before, now = ([turn[side][what] for turn in times] for side in (0, 1))  # type: ignore[index]
            cells += [median(now) / median(before), min(now) / min(before)]
            if what == 0:
                fastest = [1e3 * min(before), 1e3 * min(now)]
        ratios.append(cells[1])
        table, model = line.split()
        print(
            f"{table:12} {model:18} {fastest[0]:6.2f} ms {fastest[1]:6.2f} ms "
            f"{cells[0]:11.3f} {cells[1]:5.3f} {cells[2]:15.3f} {cells[3]:5.3f}",
            flush=True,
        )
    print(f"median of the best fits' ratios: {median(ratios):.3f}")


if __name__ == "__main__":
    main()
