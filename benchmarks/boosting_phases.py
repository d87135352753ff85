"""Where the time of a boosted fit goes, and how near that is to the least it could take.

    python -m benchmarks boosting --phases [--quick] [--jobs 2]

A fit is run once as it is and once with every step timed on its own (all nodes are then split from
Python, which small nodes usually are not: the sum is a little larger). Histograms are the bulk. Their work is
counted in updates, one per row and column that is added to a bin, and measured against what a core can do
at best: the same number of additions to one small table that stays in the nearest cache, timed here.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
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

    def wrap(self, owner: Any, name: str, phase: str, units: Callable[..., int]) -> None:
        """Time a method of an object from now on."""
        method = getattr(owner, name)

        def timed(*arguments: Any, **named: Any) -> Any:
            start = time.perf_counter()
            answer = method(*arguments, **named)
            self.seconds[phase] += time.perf_counter() - start
            self.units[phase] += units(*arguments)
            return answer

        setattr(owner, name, timed)


def _booster(split: data.Split, jobs: int, clock: _Clock | None) -> Any:
    """Return a booster ready to go, as the LightGBM front door would set it up."""
    import arboretum
    from arboretum.boosting.binning import find_bins
    from arboretum.boosting.booster import Booster, Training
    from arboretum.boosting.objectives import find_objective
    from arboretum.data.schema import learn_schema

    model = arboretum.LGBMClassifier(num_leaves=_LEAVES, n_jobs=jobs, random_state=0)
    schema, matrix = learn_schema(split.X)
    start = time.perf_counter()
    bins = find_bins(matrix, schema, n_jobs=jobs)
    if clock is not None:
        clock.seconds["bins"] += time.perf_counter() - start
        clock.units["bins"] += split.X.size
    objective = find_objective("binary", "lightgbm", n_classes=2)
    y = split.y.astype(np.float64)
    plan = model._plan(objective, schema, 0)
    return Booster(plan, objective, Training(bins, schema, y, None, objective.start(y, None)))


def _time_steps(booster: Any, clock: _Clock) -> None:
    grower, n = booster.grower, len(booster.margin)
    width = len(grower.store.codes)
    clock.wrap(booster, "_derivatives", "derivatives", lambda m: n)
    clock.wrap(grower, "_fill", "entries", lambda *given: n)
    clock.wrap(
        grower, "_count", "histograms", lambda growth, start, end, *rest: (end - start) * width
    )
    clock.wrap(grower, "_part", "partition", lambda growth, node, start, end: end - start)
    clock.wrap(grower, "_scan", "best splits", lambda *given: width * grower.n_bins)
    clock.wrap(grower, "_finish", "leaf sums", lambda *given: n)
    clock.wrap(grower, "add_to", "margins", lambda *given: n)


def _least(jobs: int) -> float:
    """Return the seconds of one addition to a table of 256 numbers, shared by the threads."""
    from arboretum.engine import parallel
    from arboretum.engine.boost_hist import fill_tile

    n = 1 << 16  # a block: its entries and words come from the near cache again and again
    rng = np.random.default_rng(0)
    words = rng.integers(0, 1 << 62, (1, n), dtype=np.uint64)
    entries = np.arange(n, dtype=np.uint64) << np.uint64(32) | np.uint64(1 << 16 | 1)

    def work(_: int) -> None:
        hist, small = np.empty((8, 256, 2), np.int64), np.empty(2048, np.int64)
        for _ in range(20):
            fill_tile(words, 8, 0, entries, 0, n, True, small, hist, hist[:0])

    work(0)
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        parallel.run(work, range(jobs), jobs)
        best = min(best, time.perf_counter() - start)
    return best / (20 * n * 8 * jobs)


def print_phases(console: Console, *, quick: bool, jobs: int) -> None:
    """Measure and print the phases of a fit."""
    from arboretum.boosting import newton

    split = data.classification(50_000 if quick else 1_000_000)
    whole = _booster(split, jobs, None)
    whole.round()  # compiled code is loaded
    start = time.perf_counter()
    for _ in range(_TREES):
        whole.round()
    as_it_is = time.perf_counter() - start
    clock = _Clock()
    usual, newton._MANY = newton._MANY, 0
    try:
        booster = _booster(split, jobs, clock)
        _time_steps(booster, clock)
        for _ in range(_TREES):
            booster.round()
    finally:
        newton._MANY = usual
    least = _least(jobs)
    table = Table(
        title=f"{_TREES} trees of {_LEAVES} leaves, {len(split.y):,} rows, {jobs} threads"
    )
    for name in ("phase", "seconds", "share", "units of work", "ns each", "at best"):
        table.add_column(name, justify="left" if name == "phase" else "right")
    total = sum(s for phase, s in clock.seconds.items() if phase != "bins")
    for phase, seconds in clock.seconds.items():
        each = 1e9 * seconds / clock.units[phase]
        best = f"{1e9 * least:.2f} ns: {1e9 * least / each:.0%}" if phase == "histograms" else ""
        share = "" if phase == "bins" else f"{seconds / total:.0%}"
        table.add_row(
            phase, f"{seconds:.2f}", share, f"{clock.units[phase]:,}", f"{each:.2f}", best
        )
    console.print(table)
    console.print(
        f"the same rounds without clocks: {as_it_is:.2f} s; histogram updates alone at best "
        f"{least * clock.units['histograms']:.2f} s ({least * clock.units['histograms'] / as_it_is:.0%})"
    )
