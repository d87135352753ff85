"""Every candidate on every fold: trials, and a reason where there are none.

    candidate ── fold ── fold ── fold ──► an entry with its trials and its predictions of held-out rows
        ╰─ fails, is too slow, or Ctrl-C ──► an entry with the reason

Candidates come in the order of their cost, so a time limit leaves out the dear ones. A fit is never broken
off: the limit is looked at between fits, and a model whose next folds would not fit into it ends early.
Baselines and the first model always run.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from arboretum.base.anatomy import has_anatomy
from arboretum.base.progress import Pace, StepLines, duration, time_left_column
from arboretum.base.rounds import is_listened_to, progress
from arboretum.comparison.candidates import Contender
from arboretum.comparison.folds import FoldPlan
from arboretum.comparison.question import Question
from arboretum.comparison.scores import shares_of
from arboretum.data.checks import members_silent
from arboretum.errors import ArboretumError

__all__ = ["Entry", "FoldResult", "importances_of_columns", "run", "silent", "trials_of"]

_LONGEST_REASON = 300


class FoldResult(NamedTuple):
    """One candidate on one fold.

    Attributes
    ----------
    scores : list of dict
        The figures of every part of the test rows.
    fit_seconds, predict_seconds : float
        Without compiling.
    size : int or None
        Leaves of all trees (rules of a list of rules).
    importances : float array of shape (columns,), or None
    predicted : float32 array of shape (test rows, classes), or (test rows, 1)
    """

    scores: list[dict[str, float]]
    fit_seconds: float
    predict_seconds: float
    size: int | None
    importances: np.ndarray | None
    predicted: np.ndarray


Trials = Callable[[Contender, int], FoldResult]  # candidate, number of the fold


@dataclass(eq=False)
class Entry:
    """A candidate with its trials; ``reason`` is why there are none."""

    candidate: Contender
    trials: list[FoldResult] = field(default_factory=list)
    reason: str = ""

    @property
    def name(self) -> str:
        """The name of the candidate."""
        return self.candidate.name

    @property
    def is_judged(self) -> bool:
        """True if it was tested on all folds."""
        return bool(self.trials)

    def scores(self, key: str) -> np.ndarray:
        """Return a figure of every fold."""
        return np.array([part[key] for trial in self.trials for part in trial.scores])

    def drop(self, reason: str) -> None:
        """Forget the trials."""
        self.trials, self.reason = [], reason


def run(
    found: Sequence[Contender],
    trials: Trials,
    n_folds: int,
    time_limit: float | None,
    bar: bool | None,
) -> tuple[list[Entry], bool]:
    """Return an entry for every candidate, and whether Ctrl-C ended the work.

    Ctrl-C before the first baseline is finished raises KeyboardInterrupt.
    """
    entries = [Entry(one, reason=one.left_out) for one in found]
    waiting = [entry for entry in entries if not entry.reason]
    clock, done, has_model = Pace(), 0, False
    with _shown(len(waiting) * n_folds, bar) as step:
        for number, entry in enumerate(waiting):
            try:
                for fold in range(n_folds):
                    step(done + fold, f"{entry.name}, fold {fold + 1} of {n_folds}")
                    if has_model and _is_late(entry, clock, time_limit, n_folds - fold):
                        break
                    entry.trials.append(trials(entry.candidate, fold))
            except KeyboardInterrupt:
                if not any(other.is_judged for other in waiting[:number]):
                    raise
                for left in waiting[number:]:
                    left.drop("not finished when the comparison was interrupted")
                return entries, True
            except Exception as error:  # another model may suit the table
                entry.drop(_reason(error))
            has_model |= entry.is_judged and entry.candidate.kind != "baseline"
            done += n_folds
            step(done, entry.name)
    return entries, False


def _is_late(entry: Entry, clock: Pace, limit: float | None, n_left: int) -> bool:
    """Drop an entry that would not end within the limit."""
    if limit is None:
        return False
    spent = [trial.fit_seconds + trial.predict_seconds for trial in entry.trials]
    needed = sum(spent) / len(spent) * n_left if spent else 0.0
    if clock.seconds + needed < limit:
        return False
    so_far = f"; it needs about {duration(needed)} more" if spent else ""
    entry.drop(f"left out by the time limit of {duration(limit)}{so_far}")
    return True


def _reason(error: Exception) -> str:
    """Return the first line of an error."""
    text = (str(error).strip() or type(error).__name__).split("\n")[0]
    if not isinstance(error, ArboretumError):
        text = f"{type(error).__name__}: {text}"
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 1] + "…"


# ---------------------------------------------------------------------- one trial
def trials_of(question: Question, plan: FoldPlan, n_jobs: int | None, seed: int) -> Trials:
    """Return the function that fits a candidate on a fold and tests it."""

    def trial(candidate: Contender, fold: int) -> FoldResult:
        train, test = plan.splits[fold]
        X, y = question.rows(train)
        rows, _ = plan.judged.rows(test)
        model = candidate.fresh(n_jobs, seed)
        with silent():
            clock = Pace()
            model.fit(X, y)
            fitted = clock.seconds
            predicted = shares_of(model, rows, question)
            seconds = clock.seconds
        return FoldResult(
            plan.score(fold, predicted),
            fitted,
            seconds - fitted,
            _size(model),
            importances_of_columns(model),
            predicted.astype(np.float32),
        )

    return trial


@contextmanager
def silent() -> Iterator[None]:
    """Suppress what fits would warn of fold by fold."""
    with warnings.catch_warnings(), members_silent():
        warnings.simplefilter("ignore")
        yield


def _size(model: Any) -> int | None:
    if not has_anatomy(model):
        return None
    anatomy = model._anatomy()
    if anatomy.family == "rules":
        return len(model.rules_)
    return sum(tree.n_leaves for tree in anatomy.all_trees()) or None


def importances_of_columns(model: Any) -> np.ndarray | None:
    """Return the shares of the columns in the gain of a model of this library, if it has them."""
    if not has_anatomy(model) or model._anatomy().family == "rules":
        return None
    found = getattr(model, "feature_importances_", None)
    total = None if found is None else float(np.sum(found))
    return np.asarray(found, np.float64) / total if total else None


# ---------------------------------------------------------------------- progress
@contextmanager
def _shown(n: int, shown: bool | None) -> Iterator[Callable[[int, str], None]]:
    """Show fits that are done, and yield the callback for it: a bar, lines without a terminal, or nothing."""
    is_terminal = sys.stderr.isatty()
    if is_listened_to() or (shown is None and not is_terminal) or shown is False:
        has_lines = shown is None and not is_listened_to()
        lines = StepLines("compare", n) if has_lines else None
        with progress(n, False, "compare") as on_progress, lines or nullcontext():
            yield lambda done, name: _note(lines, on_progress, done, name, n)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, time_left_column()) as bar:
        pace = Pace()
        task = bar.add_task("compare", total=n, pace=pace)

        def step(done: int, name: str) -> None:
            pace.note(done)
            bar.update(task, completed=done, description=f"compare: {name}")

        yield step


def _note(
    lines: StepLines | None,
    on_progress: Callable[[int], None] | None,
    done: int,
    name: str,
    n: int,
) -> None:
    if lines is not None:
        lines.step(min(done + 1, n), name)
    if on_progress is not None:
        on_progress(done)
