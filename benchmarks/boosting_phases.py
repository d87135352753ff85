"""Where the time of a boosted fit goes, and how near that is to the least it could take.

    python -m benchmarks boosting --phases [--quick] [--jobs 2]

What Python calls is timed here; the steps inside a growing tree are told by the processor's own clock, which
the engine reads before and after each. Histograms are the bulk. Their work is counted in updates, one per row
and column that is added to a bin, and measured against what the cores can do at best: the same number of
additions to small tables that stay in the nearest cache, timed here.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import data

__all__ = ["print_phases"]

_TREES, _LEAVES = 20, 31


class _Clock:
    """Seconds and units of work per phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.units: dict[str, int] = defaultdict(int)

    def wrap(self, owner: Any, name: str, phase: str, n_units: int) -> None:
        """Time a method of an object from now on."""
        method = getattr(owner, name)

        def timed(*arguments: Any, **named: Any) -> Any:
            start = time.perf_counter()
            answer = method(*arguments, **named)
            self.seconds[phase] += time.perf_counter() - start
            self.units[phase] += n_units
            return answer

        setattr(owner, name, timed)


def _booster(split: data.Split, jobs: int, clock: _Clock | None) -> Any:
    """Return a booster ready to go, as LightGBM's API would set it up."""
    import arboretum
    from arboretum.boosting.lightgbm.recipe import make_recipe
    from arboretum.boosting.lightgbm.tables import FitArguments
    from arboretum.boosting.second_order.booster import Booster
    from arboretum.boosting.second_order.recipe import TrainingTable
    from arboretum.data.schema import learn_schema

    model = arboretum.LGBMClassifier(num_leaves=_LEAVES, n_jobs=jobs, random_state=0)
    schema, matrix = learn_schema(split.X)
    y = split.y.astype(np.float64)
    training = TrainingTable(matrix, y, schema=schema, n_classes=2)
    recipe = make_recipe(model, FitArguments(), training, 0, jobs, evaluates=False)
    base = recipe.objective.start(y, None)
    start = time.perf_counter()
    booster = Booster(recipe, training, base, base)
    if clock is not None:
        clock.seconds["bins"] += time.perf_counter() - start
        clock.units["bins"] += split.X.size
    return booster


def _time_steps(booster: Any, clock: _Clock) -> None:
    """Time what Python calls, and count the work of every tree."""
    grower, n = booster.grower, len(booster.margin)
    booster._is_small = lambda: False  # small tables grow a round in one call, which has no steps
    clock.wrap(booster, "_derivatives", "derivatives", n)
    clock.wrap(grower, "_grow", "tree", 1)
    clock.wrap(booster.rows, "add", "margins", n)
    clock.wrap(booster, "_decode", "tree as kept", 1)
    finish = grower._grown

    def count(growth: Any) -> Any:
        tree = finish(growth)
        inner = np.flatnonzero(tree.first_child >= 0)
        children = tree.first_child[inner]
        smaller = np.minimum(tree.count[children], tree.count[children + 1]).sum()
        columns = len(grower.store.starts) - 1
        clock.units["histograms"] += int(tree.count[0] + smaller) * columns
        clock.units["largest g and h"] += n
        clock.units["entries"] += n
        clock.units["leaf sums"] += n
        clock.units["partition"] += int(tree.count[inner].sum())
        clock.units["best splits"] += len(tree.count) * grower.n_bins
        return tree

    grower._grown = count


def _steps(booster: Any, clock: _Clock, ticks_per_second: float) -> None:
    """Add what the engine's own clock says of the steps inside a tree."""
    from arboretum.engine import dtypes as engine

    ticks = booster.grower._tree.task["ticks"][0] / ticks_per_second
    steps = {
        "largest g and h": [engine.SCALE],
        "entries": [engine.FILL],
        "histograms": [engine.COUNT, engine.MERGE],
        "partition": [engine.PART],
        "best splits": [engine.SCAN],
        "leaf sums": [engine.SUM],
    }
    for step, kinds in steps.items():
        clock.seconds[step] = float(ticks[kinds].sum())
    inside = sum(clock.seconds[step] for step in steps)
    clock.seconds["rest of the tree"] = clock.seconds.pop("tree") - inside
    clock.units["rest of the tree"] = clock.units.pop("tree")


def _ticks_per_second() -> float:
    from arboretum.engine.atomic import ticks
    from arboretum.engine.compiler.decorators import kernel

    @kernel
    def read_ticks():
        return ticks()

    read_ticks()  # compiled
    start, first = time.perf_counter(), read_ticks()
    time.sleep(0.2)
    return (read_ticks() - first) / (time.perf_counter() - start) or 1.0


def _least(jobs: int) -> float:
    """Return the seconds of one addition to a table of 256 numbers, shared by the threads."""
    from arboretum.engine import parallel
    from arboretum.engine.compiler.decorators import kernel
    from arboretum.engine.second_order.histogram import count_twice_eight

    @kernel
    def time_tile(words: Any, entries: Any, times: Any, small: Any) -> None:
        for _ in range(times):
            count_twice_eight(words, entries, np.uint64(0), np.uint64(len(entries)), small)

    n = 1 << 16  # a block: its entries and words come from the near cache again and again
    rng = np.random.default_rng(0)
    words = rng.integers(0, 1 << 62, (n, 2), dtype=np.uint64)
    entries = np.arange(n, dtype=np.uint64) << np.uint64(32) | np.uint64(1 << 16 | 1)

    def work(_: int) -> None:
        time_tile(words, entries, 20, np.zeros(16 * 256, np.int64))

    work(0)
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        parallel.run(work, range(jobs), jobs)
        best = min(best, time.perf_counter() - start)
    return best / (20 * n * 16 * jobs)


def print_phases(console: Console, *, quick: bool, jobs: int) -> None:
    """Measure and print the phases of a fit."""
    split = data.classification(50_000 if quick else 1_000_000)
    clock = _Clock()
    booster = _booster(split, jobs, clock)
    booster.round()  # compiled code is loaded
    _time_steps(booster, clock)
    booster.grower._tree.task["ticks"] = 0
    start = time.perf_counter()
    for _ in range(_TREES):
        booster.round()
    whole = time.perf_counter() - start
    _steps(booster, clock, _ticks_per_second())
    clock.seconds["between"] = whole - sum(
        seconds for phase, seconds in clock.seconds.items() if phase != "bins"
    )
    clock.units["between"] = _TREES
    least = _least(jobs)
    table = Table(
        title=f"{_TREES} trees of {_LEAVES} leaves, {len(split.y):,} rows, {jobs} threads"
    )
    for name in ("phase", "seconds", "share", "units of work", "ns each", "at best"):
        table.add_column(name, justify="left" if name == "phase" else "right")
    for phase, seconds in clock.seconds.items():
        each = 1e9 * seconds / clock.units[phase]
        best = f"{1e9 * least:.2f} ns: {1e9 * least / each:.0%}" if phase == "histograms" else ""
        share = "" if phase == "bins" else f"{seconds / whole:.0%}"
        table.add_row(
            phase, f"{seconds:.3f}", share, f"{clock.units[phase]:,}", f"{each:,.2f}", best
        )
    console.print(table)
    limit = least * clock.units["histograms"]
    console.print(
        f"all rounds: {whole:.2f} s; histogram updates alone, at best: {limit:.2f} s ({limit / whole:.0%})"
    )
