"""XGBoost's callbacks: objects that are called before and after training, and every round.

They are public as `arboretum.callback`. LightGBM's, which are functions, are in lightgbm_callbacks.py.

Objects of XGBoost's own classes work, too: the `Watch` that callbacks get has the methods of a Booster. Of
its `EarlyStopping` only the settings are read, because it refuses to cut other models than its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arboretum.boosting.callbacks.watching import StoppingRule
from arboretum.errors import ParameterError

if TYPE_CHECKING:
    from arboretum.boosting.callbacks.watching import History, Watch

__all__ = [
    "EarlyStopping",
    "EvaluationMonitor",
    "LearningRateScheduler",
    "TrainingCallback",
    "TrainingCheckPoint",
    "own_callback",
]


class TrainingCallback:
    """A user's action between rounds; every method may be left out.

    Returning True from ``before_iteration`` or ``after_iteration`` ends the training.
    """

    def before_training(self, model: Watch) -> Any:
        """Called once, before the first round."""
        return model

    def before_iteration(self, model: Watch, epoch: int, evals_log: History) -> bool:
        """Called before every round."""
        return False

    def after_iteration(self, model: Watch, epoch: int, evals_log: History) -> bool:
        """Called after every round, whose metrics are the last ones in ``evals_log``."""
        return False

    def after_training(self, model: Watch) -> Any:
        """Called once, after the last round."""
        return model


class EarlyStopping(TrainingCallback):
    """Stop when a metric has not improved for some rounds.

    Parameters
    ----------
    rounds : int
    metric_name, data_name : str or None, default=None
        What to follow; None: the last metric, the last table.
    maximize : bool or None, default=None
        None: as set by the metric.
    save_best : bool, default=False
        Keep the trees up to the best round only.
    min_delta : float, default=0.0
        By how much a value must be better than the best so far.
    """

    def __init__(
        self,
        rounds: int,
        *,
        metric_name: str | None = None,
        data_name: str | None = None,
        maximize: bool | None = None,
        save_best: bool = False,
        min_delta: float = 0.0,
    ) -> None:
        self.rounds, self.metric_name, self.data_name = rounds, metric_name, data_name
        self.maximize, self.save_best, self.min_delta = maximize, save_best, min_delta

    def rule(self) -> StoppingRule:
        """Return a fresh rule of this kind."""
        return StoppingRule(
            self.rounds,
            self.min_delta,
            None if self.data_name is None else (self.data_name,),
            None if self.metric_name is None else (self.metric_name,),
            larger_is_better=self.maximize,
        )


class EvaluationMonitor(TrainingCallback):
    """Print the metrics of every ``period``-th round, and of the last one.

    Parameters
    ----------
    period : int, default=1
    logger : function of a text, default=print
    """

    def __init__(self, period: int = 1, logger: Callable[[str], Any] | None = None) -> None:
        self.period, self.logger = period, logger
        self._waiting = ""

    def after_iteration(self, model: Watch, epoch: int, evals_log: History) -> bool:
        shown = [
            f"{table}-{name}:{values[-1]:.5f}"
            for table, by_name in evals_log.items()
            for name, values in by_name.items()
        ]
        self._waiting = "\t".join([f"[{epoch}]", *shown])
        if epoch % self.period == 0:
            self.after_training(model)
        return False

    def after_training(self, model: Watch) -> Any:
        if self._waiting:
            if self.logger is None:
                print(self._waiting, flush=True)
            else:
                self.logger(self._waiting + "\n")  # as XGBoost calls it
        self._waiting = ""


class LearningRateScheduler(TrainingCallback):
    """Set the learning rate before every round.

    Parameters
    ----------
    learning_rates : function of the round, or list
    """

    def __init__(self, learning_rates: Callable[[int], float] | Sequence[float]) -> None:
        self.learning_rates = learning_rates

    def before_iteration(self, model: Watch, epoch: int, evals_log: History) -> bool:
        rates = self.learning_rates
        model.set_param("learning_rate", rates(epoch) if callable(rates) else rates[epoch])
        return False


class TrainingCheckPoint(TrainingCallback):
    """Write the model to a file every few rounds: ``model_100.arb``, ``model_200.arb``.

    ``fit(..., save_snapshot=path, resume=True)`` also continues an interrupted fit.

    Parameters
    ----------
    directory : path
    name : str, default="model"
    as_pickle : False
        Files are arboretum's own; pickles run code when they are read.
    interval : int, default=100
    """

    default_format = "arb"

    def __init__(
        self, directory: Any, name: str = "model", as_pickle: bool = False, interval: int = 100
    ) -> None:
        if as_pickle:
            raise ParameterError(
                "as_pickle must be False: a checkpoint is a model file, which arboretum.load reads"
            )
        self.directory, self.name, self.interval = directory, name, interval
        self._waited = 0

    def before_training(self, model: Watch) -> Any:
        self._waited = 0
        return model

    def after_iteration(self, model: Watch, epoch: int, evals_log: History) -> bool:
        if self._waited == self.interval:
            self._waited = 0
            model.save_model(Path(self.directory) / f"{self.name}_{epoch}.{self.default_format}")
        self._waited += 1
        return False


def own_callback(given: Any) -> Any:
    """Return a callback, XGBoost's `EarlyStopping` as that of this library."""
    kind = type(given)
    if kind.__name__ != "EarlyStopping" or not kind.__module__.startswith("xgboost"):
        return given
    return EarlyStopping(
        given.rounds,
        metric_name=given.metric_name,
        data_name=given.data,
        maximize=given.maximize,
        save_best=given.save_best,
        min_delta=given._min_delta,
    )
