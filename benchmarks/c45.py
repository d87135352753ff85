"""C4.5 against Weka's J48, against one pass of CART on the same categories, and chefboost's.

    numbers          100,000 × 28 numbers, default pruning          J48, end to end
    categories       1,000,000 × 10 columns of 50 values            CART on the same table
    small            1,000 × 6 columns of 5 values                  chefboost, for the record
    rows             default pruning over the number of rows        its own growth

End to end is what a script waits for. For us that is `fit` on an array in memory; for J48 the whole
command on a table that is written beforehand: starting Java, reading, building, and classifying the
training and the held-out rows. J48's own clock for building alone is in the results as "build ms". What
arboretum does in several threads is shown on one as well.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.chef import run_chefboost
from benchmarks.harness import Case, Job, Make, Unavailable, fitting
from benchmarks.scaling import Curve
from benchmarks.weka import J48, find_weka, train_j48, write_arff

__all__ = ["experiments"]

OURS, OURS_ALONE, CART = "arboretum", "arboretum, 1 thread", "arboretum CART"
CART_ONCE = "arboretum CART, one split"
WEKA, CHEF = "Weka J48", "chefboost"

Experiment = Case | Curve


@dataclass(frozen=True)
class Program:
    """A contender that is not an estimator: it makes its own job."""

    job: Callable[[data.Split], Job]


def _working(make: Make, split: data.Split) -> Job:
    """Return the job of a contender: a fit, or a program's own."""
    contender = make()
    return contender.job(split) if isinstance(contender, Program) else fitting(make, split)


def _ours(**parameters: Any) -> Make:
    def make() -> Any:
        from arboretum import C45Classifier

        return C45Classifier(**parameters)

    return make


def _cart(**parameters: Any) -> Make:
    def make() -> Any:
        from arboretum import CARTClassifier

        return CARTClassifier(random_state=0, **parameters)

    return make


def _threads(jobs: int) -> dict[str, Make]:
    """Return ours on all threads, and on one."""
    contenders = {OURS: _ours(n_jobs=jobs)}
    if jobs != 1:
        contenders[OURS_ALONE] = _ours(n_jobs=1)
    return contenders


# ---------------------------------------------------------------------- programs
def _j48(split: data.Split) -> Job:
    """Write the tables once; a run is one command."""
    weka, reason = find_weka()
    if weka is None:
        raise Unavailable(reason)
    folder = tempfile.TemporaryDirectory()  # lives as long as the job
    classes = {"class": [str(label) for label in np.unique(split.y)]}
    tables = []
    for name, X, y in (("train", split.X, split.y), ("test", split.X_test, split.y_test)):
        tables.append(Path(folder.name, f"{name}.arff"))
        columns = {f"x{k}": X[:, k] for k in range(X.shape[1])}
        write_arff(tables[-1], {**columns, "class": y.astype(str)}, "class", classes)

    def run(folder: Any = folder) -> J48:
        return train_j48(weka, tables[0], ("-T", str(tables[1])))

    return Job(
        run=run,
        score=lambda j48: j48.accuracy,
        facts=lambda j48: {"leaves": j48.leaves, "build ms": round(1e3 * j48.build_seconds)},
        program=True,
    )


def _chefboost(split: data.Split) -> Job:
    if find_spec("chefboost") is None:
        raise Unavailable("needs chefboost, which is not among the extras: pip install chefboost")
    return Job(
        run=lambda: run_chefboost(split.X, split.y, split.X_test),
        score=lambda answers: float((answers == split.y_test.astype(str)).mean()),
        program=True,
    )


# ---------------------------------------------------------------------- experiments
def _cases(jobs: int) -> Iterator[Case]:
    yield Case(
        benchmark="c45",
        name="numbers",
        title="28 columns of numbers, default pruning, end to end",
        data=data.classification,
        rows=100_000,
        quick_rows=5_000,
        work=_working,
        contenders={**_threads(jobs), WEKA: partial(Program, _j48)},
        baseline=WEKA,
        goal=5.0,
    )
    yield Case(
        benchmark="c45",
        name="categories",
        title="10 categories of 50 values; CART's time is the measure",
        data=data.categories,
        rows=1_000_000,
        quick_rows=20_000,
        work=_working,
        contenders={
            **_threads(jobs),
            CART: _cart(n_jobs=jobs),
            CART_ONCE: _cart(n_jobs=jobs, max_depth=1),
        },
        baseline=CART,
        goal=0.1,  # under ten times the time of CART
        needs=("pandas",),
    )
    yield Case(
        benchmark="c45",
        name="small",
        title="6 categories of 5 values, chefboost as a process of its own",
        data=partial(data.categories, n_columns=6, n_values=5),
        rows=1_000,  # more would take chefboost minutes
        quick_rows=200,
        work=_working,
        contenders={OURS: _ours(n_jobs=jobs), CHEF: partial(Program, _chefboost)},
        baseline=CHEF,
        needs=("pandas",),
    )


def _curves(jobs: int) -> Iterator[Curve]:
    yield Curve(
        name="rows",
        title="default pruning, 28 columns",
        axis="rows",
        reference="n·log₂ n",
        data=data.classification,
        sizes=(10_000, 20_000, 50_000, 100_000, 200_000),
        quick_sizes=(1_000, 2_000, 5_000, 10_000),
        contenders={OURS: _ours(n_jobs=jobs)},
    )


def experiments(jobs: int) -> dict[str, Experiment]:
    """Return every experiment by name, in the order in which they run."""
    every: list[Experiment] = [*_cases(jobs), *_curves(jobs)]
    return {experiment.name: experiment for experiment in every}
