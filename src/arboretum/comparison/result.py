"""The result of a comparison: a table of models, the winner, the simplest of the good ones."""

from __future__ import annotations

import html
import math
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arboretum.comparison.folds import FoldPlan
from arboretum.comparison.intervals import Difference, Estimate, difference, estimate, holm
from arboretum.comparison.learning import LearningCurve, learning_curve
from arboretum.comparison.question import Question
from arboretum.comparison.rows import HardRows, agreement, hard_rows, weak_groups_of
from arboretum.comparison.running import Entry, silent
from arboretum.comparison.scores import MEASURES, Measure
from arboretum.lazy import cached_property

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Comparison", "Pair"]

CHANCE = 0.05  # differences with a larger adjusted p-value may be chance


class Pair(NamedTuple):
    """Two models and the difference of their scores; ``adjusted`` is the p-value after Holm's procedure."""

    first: str
    second: str
    difference: Difference
    adjusted: float

    @property
    def may_be_chance(self) -> bool:
        """True unless the difference is significant."""
        return not self.adjusted < CHANCE


@dataclass(eq=False)
class Comparison:
    """The result of `compare`.

    Attributes
    ----------
    entries : list of Entry
        What every candidate did on every fold.
    measure : Measure
        The figure by which models are ranked.
    interrupted : bool
        Ctrl-C ended the work before all models were judged.
    folds : list of (train, test)
        Row numbers of every fold: ``cross_val_score(model, X, y, cv=result.folds)`` gives the same scores.
    """

    question: Question
    plan: FoldPlan
    entries: list[Entry]
    measure: Measure
    warnings: list[str]
    seconds: float
    n_jobs: int | None
    seed: int
    interrupted: bool = False
    _regrown: dict[str, Any] = field(default_factory=dict)

    # ------------------------------------------------------------------ figures
    @property
    def folds(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The row numbers of the folds."""
        return self.plan.splits

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The figures of the task."""
        return MEASURES[self.question.task]

    def estimate(self, name: str, key: str) -> Estimate:
        """Return a figure of a model: the mean over folds, its standard error, its 95 % interval."""
        entry = self.entry(name)
        times = {"fit_seconds", "predict_seconds", "size"}
        if key in times:
            values = [getattr(trial, key) for trial in entry.trials]
            known = [math.nan if value is None else float(value) for value in values]
            return estimate(np.array(known), self.plan.overlap)
        return estimate(entry.scores(key), self.plan.overlap)

    def entry(self, name: str) -> Entry:
        """Return the entry of a model."""
        found = [one for one in self.entries if one.name == name]
        if not found:
            raise KeyError(f"{name!r} is none of {[one.name for one in self.entries]}")
        return found[0]

    @cached_property
    def ranked(self) -> list[Entry]:
        """The judged candidates, the best first; of equal ones baselines come last."""
        sign = -1.0 if self.measure.more else 1.0

        def place(one: Entry) -> tuple[bool, float, bool]:
            score = sign * self.estimate(one.name, self.measure.key).value
            return math.isnan(score), score, one.candidate.kind == "baseline"

        return sorted((entry for entry in self.entries if entry.is_judged), key=place)

    @cached_property
    def winner(self) -> str:
        """The name of the best model; a baseline if no model was judged."""
        models = [one for one in self.ranked if one.candidate.kind != "baseline"]
        return (models or self.ranked)[0].name

    @cached_property
    def simplest_name(self) -> str:
        """The name of the smallest model whose score is within one standard error of the winner's."""
        best = self.estimate(self.winner, self.measure.key)
        error = 0.0 if math.isnan(best.error) else best.error
        sign = -1.0 if self.measure.more else 1.0
        good = [
            one.name
            for one in self.ranked
            if sign * (self.estimate(one.name, self.measure.key).value - best.value) <= error
            and one.trials[0].size is not None
        ]
        return min(good, key=lambda name: self.estimate(name, "size").value, default=self.winner)

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every two judged models, with the difference of their scores."""
        names = [one.name for one in self.ranked]
        scores = [self.entry(name).scores(self.measure.key) for name in names]
        both = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
        found = [difference(scores[i], scores[j], self.plan.overlap) for i, j in both]
        adjusted = holm(np.array([one.p for one in found]))
        return [
            Pair(names[i], names[j], one, float(p)) for (i, j), one, p in zip(both, found, adjusted)
        ]

    # ------------------------------------------------------------------ frames
    @property
    def table(self) -> Any:
        """A pandas.DataFrame with a row for every model, the best first; the last have a reason instead."""
        rows = []
        for entry in [*self.ranked, *(one for one in self.entries if not one.is_judged)]:
            row: dict[str, Any] = {"model": entry.name, "kind": entry.candidate.kind}
            for key in self._keys if entry.is_judged else ():
                found = self.estimate(entry.name, key)
                row |= {key: found.value, f"{key}_low": found.low, f"{key}_high": found.high}
            rows.append(row | {"reason": entry.reason})
        return _frame(rows).set_index("model")

    @property
    def differences(self) -> Any:
        """A pandas.DataFrame with a row for every two models: difference, interval, p-values."""
        return _frame(
            [
                {"first": one.first, "second": one.second, "difference": one.difference.value,
                 "low": one.difference.low, "high": one.difference.high, "p": one.difference.p,
                 "p_adjusted": one.adjusted, "may_be_chance": one.may_be_chance}
                for one in self.pairs
            ]
        )  # fmt: skip

    def to_frame(self) -> Any:
        """Return a pandas.DataFrame with a row for every model and fold (every part, of a test table)."""
        rows = []
        for entry in self.ranked:
            for fold, trial in enumerate(entry.trials):
                seconds = {
                    "fit_seconds": trial.fit_seconds,
                    "predict_seconds": trial.predict_seconds,
                    "size": trial.size,
                }
                rows += [
                    {"model": entry.name, "fold": fold, "part": part, **figures, **seconds}
                    for part, figures in enumerate(trial.scores)
                ]
        return _frame(rows)

    @property
    def _keys(self) -> list[str]:
        return [*(one.key for one in self.measures), "fit_seconds", "predict_seconds", "size"]

    # ------------------------------------------------------------------ models
    @property
    def best(self) -> Any:
        """The winner, fitted on all rows (the first time it is used)."""
        return self.fitted(self.winner)

    @property
    def simplest(self) -> Any:
        """The smallest model within one standard error of the winner, fitted on all rows."""
        return self.fitted(self.simplest_name)

    def fitted(self, name: str) -> Any:
        """Return a candidate fitted on all rows; it is kept."""
        if name not in self._regrown:
            model = self.entry(name).candidate.fresh(self.n_jobs, self.seed)
            with silent():
                self._regrown[name] = model.fit(self.question.X, self.question.y)
        return self._regrown[name]

    # ------------------------------------------------------------------ looking into it
    @cached_property
    def learning_curves(self) -> list[LearningCurve]:
        """Scores of the winner and the simplest model by the number of training rows; fitted on first use."""
        return [
            learning_curve(self, name) for name in dict.fromkeys((self.winner, self.simplest_name))
        ]

    @property
    def agreement(self) -> Any:
        """A pandas.DataFrame: the share of rows that two models predict alike (numbers: correlation)."""
        names, alike = agreement(self)
        return _frame([dict(zip(names, row)) for row in alike.tolist()]).set_index(np.array(names))

    @cached_property
    def hard_rows(self) -> HardRows:
        """Rows that every model gets wrong, the hardest first: look at their target before anything else."""
        return hard_rows(self)

    @cached_property
    def weak_groups(self) -> Any:
        """A pandas.DataFrame: groups of rows for which the winner is worse than for the others."""
        return _frame(weak_groups_of(self))

    # ------------------------------------------------------------------ looking at it
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw every model's score with its interval; returns the axes."""
        from arboretum.comparison.chart import draw

        return draw(self, ax)

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        rows: int = 20,
    ) -> Any:
        """Make one offline page of the comparison.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it; None writes nothing.
        title : str, optional
            The heading.
        rows : int, default=20
            How many of the rows that every model gets wrong the page shows; 0 keeps all rows out of it.

        Returns
        -------
        Report
            Shows itself in a notebook; ``save(path)`` writes the page.
        """
        from arboretum.comparison.page import make_page

        return make_page(self, path, title, rows)

    def __repr__(self) -> str:
        from arboretum.comparison.sentences import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def _frame(rows: list[dict[str, Any]]) -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "tables of a comparison are pandas frames: pip install arboretum-trees[frames]"
        ) from error
    return pd.DataFrame(rows)
