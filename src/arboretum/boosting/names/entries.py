"""A dialect: one table of names and settings for each of the supported libraries.

    name or alias ──► ObjectiveEntry    constructor, metric, kind of prediction
                  └─► MetricEntry       constructor, whether larger is better
    parameter     ──► Setting           rule, default, objectives or metrics

The libraries differ under similar names, so a name is looked up in a dialect: in the start of margins, in the
curvature of several classes (XGBoost 2 p (1 - p), LightGBM K / (K - 1) p (1 - p)), in how a quantile is
computed, in how logarithms are kept finite. Such a convention is an argument of a loss or metric, written
once, in the line that names it. Lines are written with `objective`, `metric` and `mean`; where an argument
depends on settings, it is a function of them: `of("k")` is the setting k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter as of
from typing import Any, NamedTuple

from arboretum.base.parameters import ParameterRule, integer
from arboretum.boosting.loss.loss import Loss
from arboretum.boosting.loss.objective import LossObjective, Objective
from arboretum.boosting.loss.user import user_objective
from arboretum.boosting.metric import rows
from arboretum.boosting.metric.evaluation_set import Measure, Metric
from arboretum.data.checks import did_you_mean, warn_caller
from arboretum.errors import ParameterError
from arboretum.lazy import cached_property

Settings = Mapping[str, Any]
Make = Callable[
    [dict[str, Any], Settings], Objective
]  # from the fields of all objectives, and settings
Reading = tuple[
    str, str, dict[str, Any]
]  # a metric's name in the table, its printed name, its settings

DOUBLING = tuple(2.0**label - 1.0 for label in range(32))  # gains by label, unless given


class Setting(NamedTuple):
    """A parameter that objectives or metrics depend on."""

    rule: ParameterRule
    default: Any
    used_by: str = "objectives and metrics"


class ObjectiveEntry(NamedTuple):
    """The entry of an objective's name."""

    make: Make
    metric: str | Callable[[Settings], str]  # the default metric
    predicts: str = "numbers"  # or "two classes", "classes", "orders"
    aliases: str = ""
    weighs_classes: bool = False


class MetricEntry(NamedTuple):
    """The entry of a metric's name."""

    make: Callable[[Settings], Measure]
    larger_is_better: bool = False
    aliases: str = ""


@dataclass(frozen=True)
class Dialect:
    """The names and settings of one library.

    Attributes
    ----------
    name : str
    settings : dict of Setting
    objectives, metrics : dicts of entries
    read : function
        From the given name of a metric and the settings to its readings.
    setting_aliases : dict
    """

    name: str
    settings: Mapping[str, Setting]
    objectives: Mapping[str, ObjectiveEntry]
    metrics: Mapping[str, MetricEntry]
    read: Callable[[Any, Settings], list[Reading]]
    setting_aliases: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def objective_names(self) -> dict[str, str]:
        """The name in the table of every name and alias of an objective."""
        return all_names(self.objectives)

    def used_by(self, what: str) -> list[str]:
        """Return the settings that "objectives" or "metrics" depend on."""
        return [name for name, setting in self.settings.items() if what in setting.used_by]

    def check_settings(self, what: str, given: Settings) -> dict[str, Any]:
        """Return every setting of objectives or metrics: the given value, checked, or its default."""
        known = self.used_by(what)
        settings = {name: self.settings[name].default for name in known}
        for alias, value in given.items():
            name = self.setting_aliases.get(alias, alias)
            if name not in settings:
                raise ParameterError(
                    f"{what} of {self.name} have no parameter {alias!r}{did_you_mean(alias, known)}: "
                    f"they have {', '.join(known)}"
                )
            rule = self.settings[name].rule
            if value is not None and not rule.allows(value):
                raise ParameterError(f"{alias} must be {rule.phrase}, got {value!r}")
            settings[name] = settings[name] if value is None else value
        return settings

    def settings_of(self, model: Any, what: str) -> dict[str, Any]:
        """Return the parameters of a model that "objectives" or "metrics" depend on."""
        return {name: getattr(model, name) for name in self.used_by(what) if hasattr(model, name)}

    def objective_entry(self, objective: str) -> ObjectiveEntry:
        """Return the entry of an objective's name."""
        known = self.objective_names
        if objective in known:
            return self.objectives[known[objective]]
        from arboretum.boosting.names.find import DIALECTS

        others = [other for other in DIALECTS.values() if objective in other.objective_names]
        more = f", which is a name of {others[0].name}" if others else ""
        raise self.unknown("objective", objective, known, more)

    def predicts(self, objective: str) -> str:
        """Return what an objective predicts: "numbers", "two classes", "classes" or "orders"."""
        return self.objective_entry(objective).predicts

    def find_objective(
        self, objective: str | Callable[..., Any], n_classes: int | None = None, **parameters: Any
    ) -> Objective:
        """Return the objective for a name, or for a user's function; see `find.find_objective`."""
        settings = self.check_settings("objectives", parameters)
        if n_classes is not None and not integer(1).allows(n_classes):
            raise ParameterError(f"n_classes must be {integer(1).phrase}, got {n_classes!r}")
        if callable(objective):
            return user_objective(objective, self.name, n_classes)
        if not isinstance(objective, str):
            raise ParameterError(f"objective must be a name or a function, got {objective!r}")
        entry = self.objective_entry(objective)
        self._check_classes(objective, entry, n_classes)
        _check_class_weights(objective, entry, settings)
        base = {
            "name": objective,
            "dialect": self.name,
            "n_outputs": n_classes if entry.predicts == "classes" else 1,
            "n_classes": n_classes,
            "parameters": {key: value for key, value in parameters.items() if value is not None},
        }
        return entry.make(base, settings)

    def _check_classes(self, objective: str, entry: ObjectiveEntry, n_classes: int | None) -> None:
        if entry.predicts == "classes" and (n_classes is None or n_classes < 2):
            raise ParameterError(
                f"objective {objective!r} needs n_classes of 2 or more: {n_classes}"
            )
        if objective.startswith("binary") and n_classes is not None and n_classes > 2:
            several = next(name for name, e in self.objectives.items() if e.predicts == "classes")
            raise ParameterError(
                f"objective {objective!r} is for two classes, there are {n_classes}: use {several!r}"
            )

    def find_metrics(self, names: str | Sequence[str], **parameters: Any) -> list[Metric]:
        """Return the metrics for some names, each once; see `find.find_metrics`."""
        settings = self.check_settings("metrics", parameters)
        metrics: dict[str, Metric] = {}
        for name in [names] if isinstance(names, str) else names:
            for stem, printed, more in self.read(name, settings):
                entry = self.metrics[stem]
                measure = entry.make({**settings, **more})
                metrics.setdefault(printed, Metric(printed, entry.larger_is_better, measure))
        return list(metrics.values())

    def default_metric(self, objective: str, **parameters: Any) -> str:
        """Return the name of an objective's default metric."""
        settings = self.check_settings("metrics", parameters)
        metric = self.objective_entry(objective).metric
        return metric if isinstance(metric, str) else metric(settings)

    def unknown(self, what: str, name: Any, known: Iterable[str], more: str = "") -> ParameterError:
        """Return the error for a name that is not in the table."""
        return ParameterError(
            f"no {what} of {self.name} is called {name!r}{more}{did_you_mean(name, known)}: "
            f"there are {', '.join(sorted(known))}"
        )


def _check_class_weights(objective: str, entry: ObjectiveEntry, settings: Settings) -> None:
    balanced = settings.get("is_unbalance", False)
    weighed = settings.get("scale_pos_weight", 1) != 1
    if balanced and weighed:
        raise ParameterError("give is_unbalance or scale_pos_weight, not both")
    if (balanced or weighed) and not entry.weighs_classes:
        warn_caller(
            f"{'is_unbalance' if balanced else 'scale_pos_weight'} has no effect on objective "
            f"{objective!r}: weight rows by sample_weight"
        )


def all_names(entries: Mapping[str, Any]) -> dict[str, str]:
    """Return the name in the table of every name and alias."""
    return {alias: name for name, e in entries.items() for alias in (name, *e.aliases.split())}


# ---------------------------------------------------------------------- entries of a table
def _settled(parts: Settings, settings: Settings) -> dict[str, Any]:
    return {key: part(settings) if callable(part) else part for key, part in parts.items()}


def _loss_of(loss: Any, names: tuple[str, ...], settings: Settings) -> Any:
    """Return a loss: a class is called with some settings by name, a function with all of them."""
    if isinstance(loss, type):
        return loss(*(float(settings[name]) for name in names))
    return loss(settings)


def objective(
    loss: type[Loss] | Callable[[Settings], Loss | tuple[Loss, ...]],
    *names: str,
    metric: str | Callable[[Settings], str],
    predicts: str = "numbers",
    aliases: str = "",
    weighs_classes: bool = False,
    **parts: Any,
) -> ObjectiveEntry:
    """Return the entry of an objective that is a loss, or a loss for each output.

    ``names`` are the settings passed to the loss, ``parts`` fields of `LossObjective`.
    """

    def make(base: dict[str, Any], settings: Settings) -> Objective:
        made = _loss_of(loss, names, {**settings, "n_classes": base["n_outputs"]})
        losses = made if isinstance(made, tuple) else (made,)
        outputs = max(base["n_outputs"], len(losses))
        fields = base | {"n_outputs": outputs, "link": losses[0].link} | _settled(parts, settings)
        return LossObjective(**fields, losses=losses)

    return ObjectiveEntry(make, metric, predicts, aliases, weighs_classes)


def metric(
    measure: Callable[..., float], larger: bool = False, aliases: str = "", **parts: Any
) -> MetricEntry:
    """Return the entry of a metric; ``parts`` are keywords of its function."""
    return MetricEntry(lambda s: partial(measure, **_settled(parts, s)), larger, aliases)


def mean(
    loss: type[Loss] | Callable[[Settings], Loss],
    *names: str,
    least: float = 0.0,
    times: float = 1.0,
) -> MetricEntry:
    """Return the entry of a metric that is the mean value of a loss; see `rows.mean_loss`."""
    return metric(rows.mean_loss, loss=partial(_loss_of, loss, names), least=least, times=times)


__all__ = [
    "DOUBLING", "Dialect", "MetricEntry", "ObjectiveEntry", "Setting", "all_names", "mean",
    "metric", "objective", "of",
]  # fmt: skip
