"""A fit: folds, trials, members, one after another; threads take trials and members.

table ──► bins ──► folds ──► trials ──► rounds and weights of kinds ──► members ──► their mean

If a limited time ends the trials too early to know the rounds, one member grows until the time is over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from time import perf_counter
from typing import Any

from arboretum.base.rounds import Interrupted, run_rounds
from arboretum.boosting.averaged.boosters import Ground
from arboretum.boosting.averaged.fit_time import FitTime
from arboretum.boosting.averaged.folds import Fold
from arboretum.boosting.averaged.members import (
    AveragedMember,
    PlannedMember,
    grow_member,
    plan_members,
)
from arboretum.boosting.averaged.trials import Found, Trial, run_trial
from arboretum.boosting.metric.evaluation_set import Metric
from arboretum.engine import parallel
from arboretum.engine.keys import key_of

__all__ = ["Fitted", "Work", "find_and_grow", "on_threads"]

_TRIAL, _MEMBER = 0x7214, 0x3E3B


@dataclass(frozen=True, eq=False)
class Work:
    """The parts of a fit.

    Attributes
    ----------
    ground : Ground
    folds : list of Fold
    metric : Metric
    seed, n_jobs : int
    time : FitTime
    name : str
        Of the estimator, for the progress.
    bar : bool
    """

    ground: Ground
    folds: Sequence[Fold]
    metric: Metric
    seed: int
    n_jobs: int
    time: FitTime
    name: str
    bar: bool

    def trials(self) -> list[tuple[str, Fold]]:
        """Return the trials to run: every kind on every fold, or kinds in turn."""
        settings = self.ground.settings
        if settings.in_turn and len(self.folds) >= len(settings.kinds):
            kinds = settings.kinds
            return [(kinds[k % len(kinds)], fold) for k, fold in enumerate(self.folds)]
        return [(kind, fold) for fold, kind in product(self.folds, settings.kinds)]

    def was_cut(self, trial: Trial) -> bool:
        """Return True if a trial of a fit of limited time ended while its loss still fell."""
        rounds, most = len(trial.curve), self.ground.settings.most_rounds
        return self.time.is_limited and int(trial.curve.argmin()) + 1 == rounds < most


@dataclass(frozen=True, eq=False)
class Fitted:
    """The result of a fit.

    Attributes
    ----------
    found : Found
    planned : list of PlannedMember
    members : list of AveragedMember
        Those that were grown; their weights sum to 1.
    interrupted : Interrupted or None
    words : list of str
        The columns that symmetric trees have read as target statistics.
    """

    found: Found
    planned: list[PlannedMember]
    members: list[AveragedMember]
    interrupted: Interrupted | None
    words: list[str]


def find_and_grow(work: Work) -> Fitted:
    """Run the trials, then grow the members they call for.

    Ctrl-C while members grow keeps the finished ones; before, nothing is kept.
    """
    settings, tried = work.ground.settings, work.trials()
    grown: list[AveragedMember] = []
    most = len(tried) + (settings.members or settings.n_members(1, 1))
    with run_rounds(
        range(most), lambda: len(grown), name=work.name, what="member", bar=work.bar
    ) as rounds:
        trials, pace = _run_trials(work, tried, rounds.finished)
        found = Found(trials, work.ground.objective, work.metric)
        planned = plan_members(found, settings, work.ground.objective.n_outputs)
        heaviest = max(found.weights, key=lambda kind: found.weights[kind])
        if all(work.was_cut(trial) for trial in trials if trial.kind == heaviest):
            planned = [PlannedMember(heaviest, settings.most_rounds, 1.0)]
        _grow_members(work, planned, pace, grown, lambda k: rounds.finished(len(tried) + k))
    total = sum(member.weight for member in grown)
    members = [AveragedMember(one.kind, one.weight / total, one.ensemble) for one in grown]
    interrupted = rounds.interrupted
    if interrupted is not None:
        interrupted = Interrupted(len(members), len(planned), "member")
    names = work.ground.training.schema.names
    return Fitted(found, planned, members, interrupted, [names[f] for f in work.ground.words])


def _run_trials(
    work: Work, tried: list[tuple[str, Fold]], finished: Callable[[int], None]
) -> tuple[list[Trial], float]:
    """Return the trials, and the seconds that a round took."""
    time, threads = work.time, min(work.n_jobs, len(tried))
    turns = -(-len(tried) // threads)
    each: list[Trial | None] = [None] * len(tried)
    pace, beginning = [0.0] * len(tried), time.seconds

    def run(k: int) -> None:
        turn, (kind, fold) = k // threads, tried[k]
        if k and time.trial_is_over(beginning, turn, turns):
            return
        began = perf_counter()
        seed = key_of(work.seed, _TRIAL, k)
        each[k] = run_trial(
            work.ground, kind, fold, work.metric, seed, max(work.n_jobs // threads, 1),
            lambda: time.trial_is_over(beginning, turn, turns),
        )  # fmt: skip
        pace[k] = (perf_counter() - began) / len(each[k].curve)  # type: ignore[union-attr]
        finished(sum(one is not None for one in each))

    on_threads(run, len(tried), threads, time)
    return [one for one in each if one is not None], max(pace)


def _grow_members(
    work: Work,
    planned: list[PlannedMember],
    pace: float,
    grown: list[AveragedMember],
    finished: Callable[[int], None],
) -> None:
    """Grow members; ``grown`` gets them, in the order of the plan."""
    time, threads = work.time, min(work.n_jobs, len(planned))
    each: dict[int, AveragedMember] = {}

    def grow(k: int) -> None:
        plan = planned[k]
        if k and not time.allows(pace * plan.rounds):
            return
        seed = key_of(work.seed, _MEMBER, k)
        jobs = max(work.n_jobs // threads, 1)
        ensemble = grow_member(work.ground, plan, seed, jobs, time.is_over)
        if k and ensemble.n_rounds < plan.rounds and time.is_over():
            return
        each[k] = AveragedMember(plan.kind, plan.weight, ensemble)
        grown[:] = [each[number] for number in sorted(each)]
        finished(len(grown))

    on_threads(grow, len(planned), threads, time)


def on_threads(work: Callable[[int], Any], count: int, threads: int, time: FitTime) -> None:
    """Call ``work`` for every number; an error or Ctrl-C ends what other threads do."""

    def halting(
        number: int,
    ) -> None:  # `parallel.run` raises only after the other threads have ended
        with time.halted_by_errors():
            work(number)

    with time.halted_by_errors():  # Ctrl-C while it waits for them
        parallel.run(halting, range(count), threads)
