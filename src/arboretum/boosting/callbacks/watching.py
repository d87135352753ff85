"""Work between two rounds: metrics of held-out tables, early stopping, callbacks.

    round m ──► margins of every table ──► metrics ──► history ──► stop? print? callbacks? ──► round m + 1

A table's margins change by the changed weights of trees (the new trees; with dart also the
reweighted ones), so that a round costs its own trees only. Values come from the named metrics of a
dialect, or from a user's function.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arboretum.base.holdout import Patience
from arboretum.boosting.metric.evaluation_set import EvaluationSet
from arboretum.data.checks import warn_caller
from arboretum.engine.elementwise import exp, log
from arboretum.errors import DataError, ParameterError
from arboretum.grow.bins.in_parts import TableInParts, answers_of
from arboretum.predict.ensemble import Ensemble

if TYPE_CHECKING:
    from arboretum.boosting.metric.evaluation_set import Metric
    from arboretum.boosting.second_order.booster import Booster
    from arboretum.data.matrix import Matrix

__all__ = [
    "HeldOut",
    "History",
    "MetricValue",
    "StoppingRule",
    "TrainingLoss",
    "Watch",
    "measure_by",
]

History = dict[str, dict[str, list[float]]]  # table, metric, a value per round


class MetricValue(NamedTuple):
    """The value of a metric after a round."""

    name: str
    value: float
    larger_is_better: bool


# of the actual values, the predictions and the margins behind them
Measure = Callable[[EvaluationSet, np.ndarray, np.ndarray], list[MetricValue]]


def measure_by(metrics: Sequence[Metric]) -> Measure:
    """Return the measure of some named metrics."""
    larger = {metric.name: metric.larger_is_better for metric in metrics}

    def measure(truth: EvaluationSet, prediction: np.ndarray, _: np.ndarray) -> list[MetricValue]:
        values = truth.evaluate(metrics, prediction)
        return [MetricValue(name, value, larger[name]) for name, value in values.items()]

    return measure


# ---------------------------------------------------------------------- tables
@dataclass(eq=False)
class HeldOut:
    """A table for evaluation.

    Attributes
    ----------
    name : str
        As printed.
    matrix : Matrix
        Its columns, encoded as those of the training table.
    truth : EvaluationSet
    start : float64 array of shape (rows, n_outputs)
        The margins before the first tree.
    total : float64 array
        The same with all trees so far.
    is_training : bool
        Whether it is the training table, whose margins the booster has.
    """

    name: str
    matrix: Matrix | TableInParts
    truth: EvaluationSet
    start: np.ndarray
    is_training: bool = False
    total: np.ndarray = field(init=False)
    _counted: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.total, self._counted = self.start, np.empty(0)

    def margins(self, booster: Booster) -> np.ndarray:
        """Return the margins after the booster's last round."""
        plan = booster.plan
        if self.is_training and not plan.averaged:
            return booster.margin
        now = np.array(booster.weights)
        more = now.copy()
        more[: len(self._counted)] -= self._counted
        moved = np.flatnonzero(more)
        # whole rounds change together, so the positions of these trees give their outputs
        some = Ensemble(
            [booster.trees[t] for t in moved], more[moved], np.zeros(self.start.shape[1]),
            plan.n_parallel,
        )  # fmt: skip
        self.total = answers_of(some, self.matrix, plan.n_jobs, self.total)
        self._counted = now
        if plan.averaged and booster.n_rounds:
            return self.start + (self.total - self.start) / booster.n_rounds
        return self.total

    def take_up(self, total: np.ndarray, counted: np.ndarray) -> None:
        """Continue from margins that include the trees so far."""
        if total.shape != self.start.shape:
            raise DataError(f"the table {self.name!r} has other rows than the one before")
        self.total, self._counted = total, counted


# ---------------------------------------------------------------------- stopping
@dataclass
class StoppingRule:
    """Stop when a metric has not improved for some rounds.

    Parameters
    ----------
    rounds : int
        How many rounds to wait.
    min_delta : float or list of float
        By how much a value must be better than the best so far; a list holds one per metric.
    tables, metrics : collections of names, or None
        What to follow; None follows the last table and the last metric.
    follow_all : bool
        Follow every metric of ``tables`` and ``metrics`` (None: all) and stop with the first
        that stops improving.
    larger_is_better : bool or None
        None: as set by the metric.
    """

    rounds: int
    min_delta: float | Sequence[float] = 0.0
    tables: Sequence[str] | None = None
    metrics: Sequence[str] | None = None
    follow_all: bool = False
    larger_is_better: bool | None = None
    followed: dict[tuple[str, str], Patience] = field(default_factory=dict, init=False)
    stopped_by: tuple[str, str] | None = field(default=None, init=False)

    def look(self, m: int, values: dict[str, list[MetricValue]]) -> bool:
        """Take the values of round ``m``, by table; return True to stop."""
        for table, one, least in self._followed(values):
            key = table, one.name
            if key not in self.followed:
                larger = self.larger_is_better
                larger = one.larger_is_better if larger is None else larger
                self.followed[key] = Patience(self.rounds, least, larger_is_better=larger)
            if self.followed[key].has_ended(m, one.value):
                self.stopped_by = key
                return True
        return False

    def _followed(
        self, values: dict[str, list[MetricValue]]
    ) -> Iterator[tuple[str, MetricValue, float]]:
        tables = [name for name in values if self.tables is None or name in self.tables]
        for name in tables if self.follow_all else tables[-1:]:
            known = list(dict.fromkeys(one.name for one in values[name]))
            some = [v for v in values[name] if self.metrics is None or v.name in self.metrics]
            if not some:
                raise ParameterError(
                    f"early stopping follows {list(self.metrics or ())}, but {name!r} is evaluated by "
                    f"{known}"
                )
            for one in some if self.follow_all else some[-1:]:
                yield name, one, self._delta(known.index(one.name), len(known))
        if not tables:
            raise ParameterError(
                "early stopping needs a table for evaluation: give eval_set"
                + (f" with a table named {list(self.tables)}" if self.tables else "")
            )

    def _delta(self, place: int, count: int) -> float:
        if isinstance(self.min_delta, int | float):
            return float(self.min_delta)
        if len(self.min_delta) != count:
            raise ParameterError(
                f"min_delta has {len(self.min_delta)} numbers for {count} metrics: give one, or one "
                "per metric"
            )
        return float(self.min_delta[place])

    @property
    def decisive(self) -> tuple[int, float] | None:
        """The best round and its value: of the metric that ended the fit, or of the first."""
        if not self.followed:
            return None
        return self.followed[self.stopped_by or next(iter(self.followed))].best


# ---------------------------------------------------------------------- all of it
class Watch:
    """Evaluates a booster between its rounds.

    Parameters
    ----------
    booster : Booster
        Its recipe has the metrics.
    held_out : list of HeldOut
    stopping : list of StoppingRule
    callbacks : list
        Objects with the methods of xgboost_callbacks.py, each of which may be missing.
    model_so_far : function or None
        Returns an estimator with the trees so far; callbacks may call all methods of its booster.

    Attributes
    ----------
    first : int
        The number of the first round: the number of rounds of an earlier model.
    history : History
    values : dict from table to list of MetricValue
        Of the last round.
    """

    def __init__(
        self,
        booster: Booster,
        held_out: Sequence[HeldOut] = (),
        stopping: Sequence[StoppingRule] = (),
        callbacks: Sequence[Any] = (),
        model_so_far: Callable[[Watch], Any] | None = None,
    ) -> None:
        self.booster, self.held_out, self.model_so_far = booster, list(held_out), model_so_far
        self.stopping, self.callbacks, self.first = stopping, list(callbacks), booster.n_rounds
        self.history: History = {}
        self.texts: dict[str, Any] = {}  # set by callbacks
        self.larger: dict[str, bool] = {}
        self.values: dict[str, list[MetricValue]] = {}

    # ------------------------------------------------------------------ between rounds
    @property
    def is_idle(self) -> bool:
        """Whether there is no work between rounds."""
        quiet = all(getattr(callback, "is_idle", False) for callback in self.callbacks)
        return quiet and not (self.held_out or self.stopping)

    def begin(self) -> None:
        """Call the callbacks at the start of the training."""
        self._call("before_training")
        for callback in self.callbacks:
            if hasattr(callback, "_is_cv"):  # Optuna's takes all but XGBoost's Booster for folds
                callback._is_cv = False

    def before(self, m: int) -> bool:
        """Call the callbacks before round ``m``; return True if one wants to stop."""
        return self._call("before_iteration", m, self.history)

    def after(self, m: int) -> bool:
        """Evaluate round ``m``; return True to stop."""
        if self.held_out:
            self.values = {table.name: self._evaluate(table) for table in self.held_out}
            self._note()
        stop = [rule.look(m, self.values) for rule in self.stopping]
        return self._call("after_iteration", m, self.history) or any(stop)

    def end(self) -> None:
        """Call the callbacks at the end of the training."""
        self._call("after_training")

    def _evaluate(self, table: HeldOut) -> list[MetricValue]:
        booster = self.booster
        margin = table.margins(booster)
        given = table.truth, booster.objective.predict(margin), margin
        values = [one for measure in booster.recipe.metrics for one in measure(*given)]
        for one in values:
            if np.isnan(one.value) and table.name not in self.history:  # once
                warn_caller(
                    f"{one.name} of {table.name!r} is NaN: it is not defined for these rows"
                )
        return values

    def _note(self) -> None:
        for name, values in self.values.items():
            for one in values:
                self.history.setdefault(name, {}).setdefault(one.name, []).append(one.value)
                self.larger[one.name] = one.larger_is_better

    def _call(self, moment: str, *arguments: Any) -> bool:
        if not self.callbacks:
            return False
        answers = [
            getattr(callback, moment)(self, *arguments)
            for callback in self.callbacks
            if hasattr(callback, moment)
        ]
        return "iteration" in moment and any(answer is True for answer in answers)

    def take_up(self, history: History, larger: dict[str, bool], rounds: int) -> None:
        """Continue from the history of an interrupted fit."""
        self.history, self.larger = history, larger
        for m in range(rounds):
            self.values = {
                table: [
                    MetricValue(name, values[m], larger[name]) for name, values in by_name.items()
                ]
                for table, by_name in history.items()
            }
            for rule in self.stopping:
                rule.look(self.first + m, self.values)

    # ------------------------------------------------------------------ for callbacks
    @property
    def best(self) -> tuple[int, float] | None:
        """The best round and its value, by the first rule."""
        return self.stopping[0].decisive if self.stopping else None

    @property
    def best_iteration(self) -> int | None:
        """The best round so far, if there is early stopping."""
        return None if self.best is None else self.best[0]

    @property
    def best_score(self) -> float | None:
        """The metric of the best round."""
        return None if self.best is None else self.best[1]

    def num_boosted_rounds(self) -> int:
        """Return how many rounds there are."""
        return self.booster.n_rounds

    def __getattr__(self, name: str) -> Any:
        """Return another attribute of the booster with the trees so far."""
        make = vars(self).get("model_so_far")
        if make is None or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(make(self).get_booster(), name)

    def __getitem__(self, rounds: Any) -> Any:
        return self.copy()[rounds]

    def __len__(self) -> int:
        return self.num_boosted_rounds()

    def __reduce__(self) -> Any:
        """Pickle the booster with the trees so far."""
        return copy.copy, (self.copy(),)

    def set_attr(self, **texts: Any) -> None:
        """Keep texts with the model; see `XGBBooster.set_attr`."""
        self.texts.update(texts)

    def set_param(self, name: str, value: Any) -> None:
        """Change a parameter from the next round on; ``learning_rate`` (``eta``) can be changed."""
        if name not in ("learning_rate", "eta"):
            raise ParameterError(f"only learning_rate can change between rounds, not {name!r}")
        if not (isinstance(value, int | float) and np.isfinite(value) and value >= 0):
            raise ParameterError(f"learning_rate must be a number >= 0, got {value!r}")
        plan = self.booster.plan  # the mean of parallel trees counts
        self.booster.plan = replace(plan, learning_rate=float(value) / plan.n_parallel)


# ---------------------------------------------------------------------- the loss of the training rows
_ROWS = 4096
_OBJECTIVES = {"binary:logistic", "binary", "multi:softprob", "multi:softmax", "multiclass"}
_RISE = 0.01  # of the loss before the first round; smaller rises are not reported


class TrainingLoss:
    """The log loss of a booster on some of its training rows, to detect divergence.

    A Newton step is -G / H. If a class is rare, or rows are learned already, H comes near zero and a step
    may move its rows so far that later rounds do not bring them back. LightGBM's defaults bound H by
    ``min_child_weight=0.001`` only and allow it; a user sees nothing but a bad model.

    The loss is computed three times, before the first round, halfway and after the last one, on some
    thousand rows, from the margins that boosting keeps anyway: well below a thousandth of a fit.

    Parameters
    ----------
    booster : Booster
    """

    def __init__(self, booster: Booster) -> None:
        plan, n = booster.plan, len(booster.training.y)
        self.booster = booster
        self.is_followed = (
            booster.objective.name in _OBJECTIVES
            and booster.objective.n_targets == 1
            and plan.dart is None
            and not plan.averaged
        )
        self._rows = np.arange(0, n, max(-(-n // _ROWS), 1))
        self._seen: list[tuple[int, float]] = []  # rounds, loss

    def look(self) -> None:
        """Record the loss after the rounds so far."""
        if self.is_followed:
            self._seen.append((self.booster.n_rounds, self._loss()))

    def _loss(self) -> float:
        table = self.booster.training
        margin, y = self.booster.rows.margin_at(self._rows), table.y[self._rows].astype(np.int64)
        weight = None if table.weight is None else table.weight[self._rows]
        if margin.shape[1] == 1:
            margin = np.column_stack([np.zeros(len(margin)), margin[:, 0]])
        most = margin.max(axis=1)
        sums = log(exp(margin - most[:, np.newaxis]).sum(axis=1)) + most
        return float(np.average(sums - margin[np.arange(len(y)), y], weights=weight))

    def warn(self) -> None:
        """Warn if the loss is higher now than before."""
        if len(self._seen) < 2:
            return
        (now, last), earlier = self._seen[-1], self._seen[:-1]
        best, lowest = min(earlier, key=lambda one: one[1])
        if not last - lowest > _RISE * self._seen[0][1]:
            return
        warn_caller(
            f"the loss on the training rows rose from {lowest:.4g} after {best} rounds to {last:.4g} "
            f"after {now}: boosting diverged, as it may if classes are rare. Lower "
            "learning_rate, or raise min_child_weight or reg_lambda."
        )
