"""LightGBM's callbacks: functions that are called between rounds with the state of the fit.

    early_stopping(10)                       stop when no metric has become better for 10 rounds
    log_evaluation(5)                        print the metrics of every fifth round
    record_evaluation(history)               keep all metrics in the dict ``history``
    reset_parameter(learning_rate=[...])     another value in every round

A callback of your own takes a `CallbackEnv`; it is called after a round, or before if it has a true attribute
``before_iteration``. Those with a smaller ``order`` come first. It ends the training by raising
`EarlyStopException`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from arboretum.boosting.callbacks.watching import StoppingRule
from arboretum.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arboretum.boosting.callbacks.watching import History, MetricValue, Watch

__all__ = [
    "CallbackEnv",
    "EarlyStopException",
    "early_stopping",
    "log_evaluation",
    "own_callback",
    "record_evaluation",
    "reset_parameter",
]


class Result(NamedTuple):
    """A metric of a round on a table, with the names of LightGBM's `EvalResult`."""

    dataset_name: str
    metric_name: str
    metric_value: float
    maximize: bool

    @property
    def metric_std_dev(self) -> None:
        """None: only results of cross-validation have a standard deviation."""

    def is_cv_result(self) -> bool:
        """Return False: this is no result of cross-validation."""
        return False


class CallbackEnv(NamedTuple):
    """The argument of a callback.

    Attributes
    ----------
    model : Running
        The model during training; ``model.reset_parameter({...})`` changes parameters. What a callback sets
        on it is set on `booster_` after the fit.
    params : dict
        All parameters of the estimator.
    iteration, begin_iteration, end_iteration : int
        This round, the first one, and the one after the last.
    evaluation_result_list : list of Result: (table, metric, value, larger is better)
        None before a round.
    """

    model: Any
    params: dict[str, Any]
    iteration: int
    begin_iteration: int
    end_iteration: int
    evaluation_result_list: list[Result] | None


class EarlyStopException(Exception):
    """Ends the training; raise it in a callback.

    Parameters
    ----------
    best_iteration : int
        The best round, from 0 on.
    best_score : list of (table, metric, value, larger is better)
        Its metrics.
    """

    def __init__(self, best_iteration: int, best_score: list[Result]) -> None:
        super().__init__(f"stopped: round {best_iteration} was best")
        self.best_iteration, self.best_score = best_iteration, best_score


# ---------------------------------------------------------------------- the four
@dataclass(frozen=True, eq=False)  # hashable, whatever its values
class early_stopping:
    """Stop when a metric has not become better for some rounds.

    Every metric of every table is followed, except tables with the training rows; the first that stays
    behind ends the training. Predictions then use the best round.

    Parameters
    ----------
    stopping_rounds : int
        0 or less: do not stop.
    first_metric_only : bool, default=False
        Follow the first metric only.
    verbose : bool, default=True
        Print when and why the training ended.
    min_delta : float or list of float, default=0.0
        By how much a value must be better than the best so far; a list has one number per metric, or one for
        all of them.

    Examples
    --------
    >>> early_stopping(5).stopping_rounds
    5
    """

    stopping_rounds: int
    first_metric_only: bool = False
    verbose: bool = True
    min_delta: float | Sequence[float] = 0.0
    order = 30
    before_iteration = False

    def __post_init__(self) -> None:
        rounds, least = self.stopping_rounds, self.min_delta
        if isinstance(rounds, bool) or not isinstance(rounds, int):
            raise ParameterError(
                f"early_stopping_round should be an integer. Got {type(rounds).__name__!r}: give "
                f"stopping_rounds of early_stopping an int, got {rounds!r}"
            )
        each = list(least) if isinstance(least, list | tuple) else [least]
        if not all(isinstance(v, int | float) and v >= 0 for v in each):
            raise ParameterError(f"min_delta must be numbers ≥ 0, got {least!r}")

    @property
    def enabled(self) -> bool:
        """Whether training may end early."""
        return self.stopping_rounds > 0

    def rule(self, training: Iterable[str]) -> FollowAll:
        """Return the rule that follows all tables but those with training rows."""
        least = self.min_delta
        if not isinstance(least, int | float) and len(least) < 2:
            least = next(iter(least), 0.0)
        return FollowAll(
            self.stopping_rounds,
            least,
            follow_all=True,
            left_out=frozenset(training),
            first_only=self.first_metric_only,
            verbose=self.verbose,
        )


def own_callback(callback: Any) -> Any:
    """Return a callback; LightGBM's own object of early stopping as an `early_stopping`."""
    names = [one.name for one in fields(early_stopping)]
    if isinstance(callback, early_stopping) or not all(hasattr(callback, name) for name in names):
        return callback
    return early_stopping(**{name: getattr(callback, name) for name in names})


@dataclass
class FollowAll(StoppingRule):
    """Follow every metric, or the first one, of all tables but some."""

    left_out: frozenset[str] = field(default=frozenset(), kw_only=True)
    first_only: bool = field(default=False, kw_only=True)
    verbose: bool = field(default=True, kw_only=True)

    def look(self, m: int, values: dict[str, list[MetricValue]]) -> bool:
        """Take the values of round ``m``, by table; return True to stop."""
        if not any(values.values()):
            raise ParameterError("early stopping needs a metric to follow, and there is none")
        first = next(one.name for some in values.values() for one in some)
        self.metrics = (first,) if self.first_only else None
        return super().look(m, {t: some for t, some in values.items() if t not in self.left_out})


@dataclass(frozen=True)
class log_evaluation:
    """Print the metrics of every round, or of every ``period`` rounds; 0 prints none.

    ``show_stdv`` is for cross-validation, where metrics have one.
    """

    period: int = 1
    show_stdv: bool = True
    order = 10
    before_iteration = False

    def __call__(self, env: CallbackEnv) -> None:
        results = env.evaluation_result_list
        if self.period > 0 and results and (env.iteration + 1) % self.period == 0:
            print(_line(env.iteration, results), flush=True)


@dataclass(frozen=True, eq=False)
class record_evaluation:
    """Keep all metrics in a dict, ``eval_result[table][metric]`` is a list; earlier entries are removed."""

    eval_result: dict[str, dict[str, list[float]]]
    order = 20
    before_iteration = False

    def __post_init__(self) -> None:
        if not isinstance(self.eval_result, dict):
            raise ParameterError(f"eval_result must be a dict, got {self.eval_result!r}")

    def __call__(self, env: CallbackEnv) -> None:
        if env.iteration == env.begin_iteration:
            self.eval_result.clear()
        for table, metric, value, _ in env.evaluation_result_list or ():
            self.eval_result.setdefault(table, {}).setdefault(metric, []).append(value)


class reset_parameter:
    """Give parameters another value before every round.

    Parameters
    ----------
    **kwargs
        For each parameter a list with a value per round, or a function of the round, counted from 0.
        Parameters of growing trees can change, those of bins, objective or columns cannot.

    Examples
    --------
    >>> halving = reset_parameter(learning_rate=lambda m: 0.5**m)
    """

    order = 10
    before_iteration = True

    def __init__(self, **kwargs: list[Any] | Callable[[int], Any]) -> None:
        for name, values in kwargs.items():
            if not (isinstance(values, list) or callable(values)):
                raise ParameterError(
                    f"reset_parameter: {name} must be a list or a function, got {values!r}"
                )
        self.kwargs = kwargs

    def __call__(self, env: CallbackEnv) -> None:
        now = env.iteration - env.begin_iteration
        rounds = env.end_iteration - env.begin_iteration
        changed = {}
        for name, values in self.kwargs.items():
            if isinstance(values, list) and len(values) != rounds:
                raise ParameterError(
                    f"reset_parameter: {name} has {len(values)} values for {rounds} rounds"
                )
            changed[name] = values[now] if isinstance(values, list) else values(now)
        env.model.reset_parameter(changed)


# ---------------------------------------------------------------------- calling them
def _line(m: int, results: Iterable[Result]) -> str:
    shown = [f"{table}'s {metric}: {value:g}" for table, metric, value, _ in results]
    return "\t".join([f"[{m + 1}]", *shown])


@dataclass
class Running:
    """A model during training, as callbacks see it."""

    watch: Watch
    change: Callable[[Watch, dict[str, Any]], None]

    def reset_parameter(self, params: dict[str, Any]) -> Running:
        """Change parameters from the next round on."""
        self.change(self.watch, params)
        return self

    def current_iteration(self) -> int:
        """Return the number of rounds."""
        return self.watch.booster.n_rounds

    def num_trees(self) -> int:
        """Return the number of trees."""
        return self.watch.booster.n_trees

    @property
    def boosters(self) -> list[Running]:
        """The models during training: this one. LightGBM's own `reset_parameter` changes them."""
        return [self]


class Calls:
    """Calls LightGBM's kind of callbacks between rounds, and prints how early stopping ended.

    Parameters
    ----------
    functions : list of callables
    params : dict
    rounds : int
    change : function of (watch, parameters)
        Gives parameters other values.
    """

    def __init__(
        self,
        functions: Sequence[Callable[[CallbackEnv], Any]],
        params: dict[str, Any],
        rounds: int,
        change: Callable[[Watch, dict[str, Any]], None],
    ) -> None:
        for one in functions:
            if not callable(one):
                raise ParameterError(f"callbacks must be a list of functions, it holds {one!r}")
        ordered = sorted(functions, key=lambda one: getattr(one, "order", 0))
        self.early = [one for one in ordered if getattr(one, "before_iteration", False)]
        self.late = [one for one in ordered if not getattr(one, "before_iteration", False)]
        self.params, self.rounds, self.change = params, rounds, change
        self.running: Running | None = None
        self.stopped: tuple[int, float] | None = None  # by a callback: the best round, its metric
        self.best_score: dict[str, dict[str, float]] = {}  # of that round

    @property
    def noted(self) -> dict[str, Any]:
        """What callbacks have set on the model."""
        if self.running is None:
            return {}
        own = [one.name for one in fields(Running)]
        return {name: value for name, value in vars(self.running).items() if name not in own}

    @property
    def is_idle(self) -> bool:
        """Whether there is no callback."""
        return not (self.early or self.late)

    def _env(self, watch: Watch, m: int, results: list[Result] | None) -> CallbackEnv:
        first = watch.first
        self.running = self.running or Running(watch, self.change)
        return CallbackEnv(self.running, self.params, m, first, first + self.rounds, results)

    def before_training(self, model: Watch) -> Any:
        """Print what early stopping waits for."""
        for rule in _verbose_rules(model):
            print(
                f"Training until validation scores don't improve for {rule.rounds} rounds",
                flush=True,
            )

    def before_iteration(self, model: Watch, epoch: int, evals_log: History) -> bool:
        """Call the callbacks that run before a round."""
        return bool(self.early) and self._call(self.early, self._env(model, epoch, None))

    def after_iteration(self, model: Watch, epoch: int, evals_log: History) -> bool:
        """Call the callbacks that run after a round; stop also if no split is left.

        But not if callbacks run before rounds: they may change the limits that keep leaves from being split.
        """
        results = [
            Result(table, one.name, one.value, one.larger_is_better)
            for table, values in model.values.items()
            for one in values
        ]
        stop = bool(self.late) and self._call(self.late, self._env(model, epoch, results))
        last = epoch + 1 == model.first + self.rounds
        for rule in _verbose_rules(model):
            if rule.decisive is not None and (last or rule.stopped_by):
                _print_end(rule, model)
        return stop or (model.booster.is_stuck and not self.early)

    def _call(self, functions: list[Callable[[CallbackEnv], Any]], env: CallbackEnv) -> bool:
        try:
            for one in functions:
                one(env)
        except Exception as stop:
            if not (hasattr(stop, "best_iteration") and hasattr(stop, "best_score")):
                raise
            results = list(stop.best_score or ())
            value = float(results[0][2]) if results else float("nan")
            self.stopped = int(stop.best_iteration), value
            for table, metric, figure, *_ in results:
                self.best_score.setdefault(table, {})[metric] = figure
            return True
        return False


def _verbose_rules(watch: Watch) -> list[FollowAll]:
    return [one for one in watch.stopping if isinstance(one, FollowAll) and one.verbose]


def _print_end(rule: FollowAll, watch: Watch) -> None:
    """Print how early stopping ended."""
    assert rule.decisive is not None
    best = rule.decisive[0]
    results = [
        Result(table, name, values[best - watch.first], False)
        for table, by_name in watch.history.items()
        for name, values in by_name.items()
    ]
    how = (
        "Early stopping, best iteration is:"
        if rule.stopped_by
        else "Did not meet early stopping. Best iteration is:"
    )
    print(how + "\n" + _line(best, results), flush=True)
