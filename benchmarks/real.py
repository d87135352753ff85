"""Real tables: every model beside its peer, at everybody's defaults, one thread, the same splits.

    python -m benchmarks real                            all tables and models, about an hour
    python -m benchmarks real --quick                    a dozen small tables, a few minutes
    python -m benchmarks real --case titanic german      these tables
    python -m benchmarks real --models forest lgbm       these models
    python -m benchmarks real --jobs 1                   without the comparison of one thread with several

An experiment is a table (real_tables.py), on which all models (real_models.py) meet:

    split 1   ours   peer   ours   peer   …     the least CPU time of either counts
    split 2   ours   peer   ours   peer   …     and the mean over the splits; the losses on
    …                                           the third held out are averaged too

Our side fits the frame of numbers and words; the peers' preparation of it is timed apart from their fits, so
that speed can be told both ways. Our first fit, which compiles, is not counted. Splits and seeds are fixed:
ten splits of tables up to 500 rows, five up to 3,000, two up to 12,000, one above. Prediction is timed on
the held-out rows and on these repeated to a few thousand.
"""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.data import Split
from benchmarks.harness import Job, Options, Say, Unavailable, interleave
from benchmarks.real_losses import guess, loss
from benchmarks.real_models import MODELS, Model, available
from benchmarks.real_results import Contender, Pair, TableResult
from benchmarks.real_tables import RealTable, load, table_names

__all__ = ["MODELS", "QUICK_CASES", "RealCase", "experiments"]

QUICK_CASES = (
    "iris", "breast_cancer", "diabetes", "concrete", "vehicle",
    "titanic", "german", "soybean", "insurance", "votes", "attrition", "sacramento",
)  # fmt: skip
_SPLITS = ((500, 10), (3_000, 5), (12_000, 2))  # up to so many rows: so many splits; one above
_MANY_ROWS = 4_000
_ROUND_SECONDS = 0.5  # to be filled with rounds
_LONG_SECONDS = 3.0  # work that takes longer is not repeated


@dataclass(frozen=True)
class RealCase:
    """All models on one table."""

    name: str
    table: Callable[[str], RealTable] = load

    def measure(self, options: Options, say: Say) -> TableResult:
        """Fit every model and its peer in turns, on every split."""
        say("building the table")
        table = self.table(self.name)
        models = [m for m in MODELS.values() if not options.models or m.name in options.models]
        models = [model for model in models if available(model)]
        if not models:
            raise Unavailable("the peers' packages are not installed")
        count = 2 if options.quick else _n_splits(len(table.X))
        splits = [_split(table, seed) for seed in range(count)]
        pairs, failed = [], {}
        gc.collect()
        gc.freeze()  # the collections between timings need not look at what is there already
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for model in models:
                    say(f"{model.title} and {model.peer}")
                    try:
                        pairs.append(_pair(model, table.task == "regression", splits, options))
                    except Exception as error:  # the other models go on
                        failed[model.name] = f"{type(error).__name__}: {error}"
        finally:
            gc.unfreeze()
        rows, columns = table.X.shape
        return TableResult(
            self.name, rows, columns, table.words, table.levels, table.task, table.source,
            count, tuple(pairs), failed,
        )  # fmt: skip


def experiments(jobs: int) -> dict[str, RealCase]:
    """Return every table's experiment by name, in the order in which they run."""
    return {name: RealCase(name) for name in table_names()}


# ---------------------------------------------------------------------- one pair
def _n_splits(rows: int) -> int:
    return next((splits for most, splits in _SPLITS if rows <= most), 1)


def _split(table: RealTable, seed: int) -> Split:
    from sklearn.model_selection import train_test_split

    stratify = None if table.task == "regression" else table.y
    X, X_test, y, y_test = train_test_split(
        table.X, table.y, test_size=1 / 3, stratify=stratify, random_state=seed
    )
    return Split(X, y, X_test, y_test.to_numpy())


def _answer(model: Any, X: Any, regression: bool) -> np.ndarray:
    return model.predict(X) if regression else model.predict_proba(X)


def _job(run: Callable[[], Any]) -> Job:
    return Job(run=run, score=lambda outcome: 0.0)


def _fastest(jobs: Mapping[str, Job], rounds: int, clock: Callable[[], float]) -> dict[str, float]:
    """Return the least seconds of every job in turns; the longer the work, the fewer the rounds.

    Work of less than a few seconds is done twice at least: its first run may load compiled code.
    """
    times = interleave(jobs, 1, clock=clock)
    once = max(sum(seconds[0] for seconds in times.values()), 1e-9)
    more = min(rounds - 1, max(int(_ROUND_SECONDS / once), int(once < _LONG_SECONDS)))
    for name, seconds in interleave(jobs, more, clock=clock).items():
        times[name] += seconds
    return {name: min(seconds) for name, seconds in times.items()}


def _pair(model: Model, regression: bool, splits: list[Split], options: Options) -> Pair:
    """Measure one model and its peer."""
    started = time.perf_counter()
    model.ours(regression, 0).fit(splits[0].X, splits[0].y)
    cold = time.perf_counter() - started
    fits: list[dict[str, float]] = []
    losses: list[dict[str, float]] = []
    predictions: dict[str, float] = {}
    for seed, split in enumerate(splits):
        preparation = model.preparation()
        ready = preparation.training(split.X, split.y)
        ready_test = preparation.rows(split.X_test)
        kept: dict[str, Any] = {}

        def fit_ours(split: Split = split, seed: int = seed, kept: dict = kept) -> None:
            kept["ours"] = model.ours(regression, seed).fit(split.X, split.y)

        def fit_theirs(
            split: Split = split, seed: int = seed, kept: dict = kept, ready: Any = ready
        ) -> None:
            kept["theirs"] = model.make_peer(regression, seed).fit(ready, split.y)

        def prepare(split: Split = split) -> None:
            model.preparation().training(split.X, split.y)

        jobs = {"ours": _job(fit_ours), "theirs": _job(fit_theirs), "prepare": _job(prepare)}
        fits.append(_fastest(jobs, options.repeat, time.process_time))
        answers = {
            "ours": _answer(kept["ours"], split.X_test, regression),
            "theirs": _answer(kept["theirs"], ready_test, regression),
        }
        found = {name: loss(model.loss, split.y_test, one) for name, one in answers.items()}
        found["guess"] = guess(model.loss, np.asarray(split.y), split.y_test, regression)
        losses.append(found)
        if seed == 0:
            predictions = _prediction_seconds(kept, preparation, split, regression, options)

    def contender(name: str, **rest: float) -> Contender:
        return Contender(
            fit=float(np.mean([one[name] for one in fits])),
            predict=predictions[name],
            predict_few=predictions[f"{name} few"],
            losses=tuple(one[name] for one in losses),
            **rest,
        )

    return Pair(
        model=model.name,
        ours=contender("ours"),
        theirs=contender(
            "theirs",
            prepare=float(np.mean([one["prepare"] for one in fits])),
            prepare_rows=predictions["prepare"],
        ),
        guessing=tuple(one["guess"] for one in losses),
        cold=cold,
        threads=_threads(model, regression, splits[0], options),
    )


def _prediction_seconds(
    models: Mapping[str, Any], preparation: Any, split: Split, regression: bool, options: Options
) -> dict[str, float]:
    """Return CPU seconds of answering the held-out rows, and these repeated to some thousand."""
    few = split.X_test
    again = np.arange(max(len(few), _MANY_ROWS)) % len(few)
    many = few.iloc[again].reset_index(drop=True)
    ready_few, ready_many = preparation.rows(few), preparation.rows(many)
    jobs = {
        "ours": _job(lambda: _answer(models["ours"], many, regression)),
        "theirs": _job(lambda: _answer(models["theirs"], ready_many, regression)),
        "ours few": _job(lambda: _answer(models["ours"], few, regression)),
        "theirs few": _job(lambda: _answer(models["theirs"], ready_few, regression)),
        "prepare": _job(lambda: preparation.rows(many)),
    }
    for job in jobs.values():
        job.run()  # compiles, or loads what was compiled
    return _fastest(jobs, 2 + options.repeat, time.process_time)


def _threads(model: Model, regression: bool, split: Split, options: Options) -> float | None:
    """Return the wall time of our fit on one thread over that on several: below 1, threads hurt."""
    if options.jobs == 1 or model.again:
        return None
    jobs = {
        f"{n} threads": _job(
            lambda n=n: model.ours(regression, 0, jobs=n).fit(split.X, split.y)  # type: ignore[misc]
        )
        for n in (options.jobs, 1)
    }
    several, one = _fastest(jobs, options.repeat, time.perf_counter).values()
    return one / several
