"""The form of dates that held-out rows choose.

    number          a date is only earlier or later
    and parts       the number; year, month, day, weekday, day of year and hour beside it
    parts           without the number, which is out of range for rows that come later

A trial of plain trees on the first fold measures each. Dates stay numbers unless another form is clearly
better, and dates that `monotonic_cst` constrains always do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from arboretum.base.rounds import run_rounds
from arboretum.boosting.averaged.choices import Choice
from arboretum.boosting.averaged.fitting import Work, on_threads
from arboretum.boosting.averaged.settings import PLAIN
from arboretum.boosting.averaged.trials import run_trial
from arboretum.boosting.second_order.recipe import TrainingTable
from arboretum.data.dates import parts_that_vary, with_parts
from arboretum.engine.keys import key_of

__all__ = ["choose_form", "dates_taken_apart"]

_FORMS = 0xDA7E
_CLEARLY = 0.99  # loss of a form ÷ that of the number; below, it is chosen
_SHARE = 0.1  # of a limited time


def dates_taken_apart(training: TrainingTable, monotone: np.ndarray | None) -> TrainingTable | None:
    """Return the table with the parts of its dates; None if there are none."""
    dates = [
        f
        for f, column in enumerate(training.schema.columns)
        if column.is_date and (monotone is None or not monotone[f])
    ]
    parts = parts_that_vary(training.matrix, dates)
    if not parts:
        return None
    matrix = with_parts(training.matrix, parts)
    return replace(training, matrix=matrix, schema=training.schema.taken_apart(parts))


def choose_form(work: Work) -> tuple[np.ndarray | None, list[Choice]]:
    """Return the columns to leave out, None if dates should stay numbers, and what was tried.

    ``work`` is that of a table with parts.
    """
    schema = work.ground.training.schema
    parts = np.arange(schema.given.n_features, schema.n_features)
    dates = np.unique([source for source, _ in schema.parts])
    forms = {"number": parts, "number and parts": parts[:0], "parts": dates}
    losses = _losses(work, list(forms.values()))
    tried = dict(zip(forms, losses, strict=True))
    best = min(tried, key=lambda form: tried[form])
    if tried[best] > _CLEARLY * tried["number"]:
        best = "number"
    why = "lowest loss" if best != "number" else "no form is 1 % better"
    lines = [
        Choice("dates", form, loss, "yes" if form == best else "", why)
        for form, loss in tried.items()
        if np.isfinite(loss)
    ]
    return (None if best == "number" else forms[best]), lines


def _losses(work: Work, forms: Sequence[np.ndarray]) -> list[float]:
    """Return the lowest held-out loss without each of some columns; infinity if time was over."""
    time, threads = work.time, min(work.n_jobs, len(forms))
    losses, began, done = [np.inf] * len(forms), time.seconds, []

    def measure(k: int, finished: Callable[[int], None]) -> None:
        def is_over() -> bool:
            return time.share_is_over(_SHARE, began, k // threads, -(-len(forms) // threads))

        if k and is_over():
            return
        ground = replace(work.ground, left_out=forms[k])
        seed, jobs = key_of(work.seed, _FORMS), max(work.n_jobs // threads, 1)
        trial = run_trial(ground, PLAIN, work.folds[0], work.metric, seed, jobs, is_over)
        losses[k] = float(trial.curve.min())
        done.append(k)
        finished(len(done))

    with run_rounds(
        range(len(forms)), lambda: 0, name=work.name, what="trial", bar=work.bar
    ) as rounds:
        on_threads(lambda k: measure(k, rounds.finished), len(forms), threads, time)
    return losses
