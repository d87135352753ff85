"""Cases: the same work by several contenders, measured in turns in one process.

    warm-up   ours   peer            its results are scored on the held-out data
    round 1   ours   peer      →     peer ÷ ours
    round 2   ours   peer      →     peer ÷ ours      the spread: lowest and highest
    round 3   ours   peer      →     peer ÷ ours

Turns make the machine's moods (clock rate, other work) fall on both. A ratio is the median time of
the baseline over the median time of the contender; it always lies within its spread. Peak memory is
measured afterwards, one fresh process per contender (memory.py).

A contender may be another program, which a job starts: it runs once per round and no more (there is
nothing to warm up, and its memory is not ours to measure), and its last round is what is scored.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from statistics import median
from typing import Any

from benchmarks.data import Split
from benchmarks.memory import Peak, peak_in_fresh_process

__all__ = [
    "Case",
    "CaseResult",
    "Job",
    "Measurement",
    "Options",
    "Unavailable",
    "fitting",
    "interleave",
    "predicting",
]

Make = Callable[[], Any]  # returns a fresh, unfitted estimator
Say = Callable[[str], None]  # tells whoever is waiting what is going on


class Unavailable(Exception):
    """An experiment needs a package that is not installed."""


@dataclass(frozen=True)
class Options:
    """What the command line can say about how to measure."""

    quick: bool = False
    repeat: int = 3
    jobs: int = 2
    models: tuple[str, ...] = ()  # only these, where a case has several; all if empty
    rows: int | None = None  # of the table, where a benchmark can make any size


@dataclass(frozen=True)
class Job:
    """One contender's work on one data set."""

    run: Callable[[], Any]
    score: Callable[[Any], float]  # of what `run` returned, on held-out data
    facts: Callable[[Any], dict[str, int]] = field(default=lambda outcome: {})
    program: bool = False  # the work is done by another program


def fitting(make: Make, split: Split) -> Job:
    """Return the job of fitting a fresh estimator; its score is accuracy or R²."""

    def size(model: Any) -> dict[str, int]:
        tree = model if hasattr(model, "get_n_leaves") else model[-1]  # the last step of a pipeline
        return {"leaves": int(tree.get_n_leaves()), "depth": int(tree.get_depth())}

    return Job(
        run=lambda: make().fit(split.X, split.y),
        score=lambda model: float(model.score(split.X_test, split.y_test)),
        facts=size,
    )


def predicting(make: Make, split: Split) -> Job:
    """Return the job of predicting the held-out rows; the fit belongs to the preparation."""
    model = make().fit(split.X, split.y)
    return Job(
        run=lambda: model.predict(split.X_test),
        score=lambda answer: float((answer == split.y_test).mean()),
    )


def interleave(
    jobs: Mapping[str, Job],
    rounds: int,
    calls: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Run every job once per round, in turns, and return its seconds per call in each round.

    ``calls`` runs of a job make one timing, for work too short for the clock. Rubbish is collected
    before the clock starts; what a run returns is dropped after it stops.

    Examples
    --------
    >>> nothing = Job(run=lambda: None, score=lambda outcome: 0.0)
    >>> times = interleave({"ours": nothing, "peer": nothing}, rounds=3)
    >>> [len(seconds) for seconds in times.values()]
    [3, 3]
    """
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            outcome = None
            gc.collect()
            start = clock()
            for _ in range(calls):
                outcome = job.run()
            times[name].append((clock() - start) / calls)
            del outcome
    return times


def _keep(kept: dict[str, Any], name: str, run: Callable[[], Any]) -> None:
    kept[name] = run()


@dataclass(frozen=True)
class Measurement:
    """One contender in one case."""

    contender: str
    seconds: tuple[float, ...]  # per call, one entry per round
    score: float
    facts: dict[str, int]
    peaks: tuple[Peak, ...] = ()  # one per fresh process

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def peak_bytes(self) -> float | None:
        """Median over the processes; None for another program."""
        return median(peak.n_bytes for peak in self.peaks) if self.peaks else None


@dataclass(frozen=True)
class CaseResult:
    """All contenders of one case; the first is ours."""

    name: str
    title: str
    rows: int
    score_name: str
    baseline: str
    goal: float | None
    measurements: tuple[Measurement, ...]

    def of(self, contender: str) -> Measurement:
        """Return the measurement of one contender."""
        return next(m for m in self.measurements if m.contender == contender)

    def ratio(self, contender: str) -> float:
        """Return how many times as fast as the baseline a contender is."""
        return self.of(self.baseline).median / self.of(contender).median

    def spread(self, contender: str) -> tuple[float, float]:
        """Return the lowest and the highest ratio of a single round."""
        pairs = zip(self.of(self.baseline).seconds, self.of(contender).seconds)
        ratios = [theirs / ours for theirs, ours in pairs]
        return min(ratios), max(ratios)

    def memory_ratio(self, contender: str) -> float | None:
        """Return a contender's peak memory as a multiple of the baseline's; None if one is unknown."""
        theirs, own = self.of(self.baseline).peak_bytes, self.of(contender).peak_bytes
        return own / theirs if theirs and own is not None else None


@dataclass(frozen=True)
class Case:
    """One piece of work and the contenders for it; the first is ours, the baseline a peer.

    Attributes
    ----------
    benchmark : str
        The benchmark it belongs to, by which a fresh process finds it again.
    rows, quick_rows : int
        What `data` is asked for.
    work : callable
        `fitting` or `predicting`, or what makes a job in another way.
    contenders : dict
        Name to a function that returns a fresh estimator.
    calls : int
        Runs per timing.
    goal : float or None
        The ratio to the baseline the first contender should reach.
    needs : tuple of str
        Packages without which the case cannot run.
    """

    benchmark: str
    name: str
    title: str
    data: Callable[[int], Split]
    rows: int
    quick_rows: int
    work: Callable[[Make, Split], Job]
    contenders: Mapping[str, Make]
    baseline: str
    score_name: str = "accuracy"
    calls: int = 1
    goal: float | None = None
    needs: tuple[str, ...] = ()

    def measure(self, options: Options, say: Say) -> CaseResult:
        """Time all contenders in turns, score them, and measure their peak memory."""
        missing = [package for package in self.needs if find_spec(package) is None]
        if missing:
            raise Unavailable(f"needs {', '.join(missing)}")
        rows = self.quick_rows if options.quick else self.rows
        say("making data")
        split = self.data(rows)
        jobs: dict[str, Job] = {}
        told: dict[str, tuple[float, dict[str, int]]] = {}  # score and facts
        kept: dict[str, Any] = {}  # what programs returned: little
        for name, make in self.contenders.items():
            say(f"warming up {name}")
            job = self.work(make, split)
            if job.program:
                jobs[name] = replace(job, run=partial(_keep, kept, name, job.run))
                continue
            jobs[name], outcome = job, job.run()
            told[name] = job.score(outcome), job.facts(outcome)
            del outcome
        say(f"timing {options.repeat} rounds")
        times = interleave(jobs, options.repeat, self.calls)
        told |= {
            name: (jobs[name].score(last), jobs[name].facts(last)) for name, last in kept.items()
        }
        inside = [name for name in jobs if name not in kept]
        del job, jobs, split  # leave the memory to the fresh processes
        peaks = self._peaks(inside, rows, options, say)
        return CaseResult(
            name=self.name,
            title=self.title,
            rows=rows,
            score_name=self.score_name,
            baseline=self.baseline,
            goal=None if options.quick else self.goal,  # goals are set for the full size
            measurements=tuple(
                Measurement(name, tuple(times[name]), *told[name], peaks.get(name, ()))
                for name in self.contenders
            ),
        )

    def _peaks(
        self, names: Iterable[str], rows: int, options: Options, say: Say
    ) -> dict[str, tuple[Peak, ...]]:
        """Measure peak memory; after the timing, when all compiled code is in the cache on disk."""
        peaks = {}
        for name in names:
            say(f"peak memory of {name}")
            peaks[name] = tuple(
                peak_in_fresh_process(self.benchmark, self.name, name, rows=rows, jobs=options.jobs)
                for _ in range(1 if options.quick else options.repeat)
            )
        return peaks
