"""A dialect: one table of names and settings for each of the programs whose words are understood here.

    name or alias ──► ObjectiveEntry    how it is made, its metric, what it predicts
                  └─► MetricEntry       how it is made, whether larger is better
    parameter     ──► Setting           what it may be, its default, who uses it

The programs differ under similar names, so a name is looked up in a dialect: in where margins start, in the
curvature of several classes (XGBoost 2 p (1 - p), LightGBM K / (K - 1) p (1 - p)), in how a quantile is
taken, in what keeps a logarithm finite. Such a convention is an argument of a loss or metric, written once,
in the line that names it. Lines are written with `objective`, `metric` and `mean`; where an argument
depends on settings, it is a function of them: `of("k")` is the setting k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from operator import itemgetter as of
from typing import Any, NamedTuple

from arboretum.base.parameters import ParameterRule
from arboretum.boosting.loss.loss import Loss
from arboretum.boosting.loss.objective import LossObjective, Objective
from arboretum.boosting.metric import rows
from arboretum.boosting.metric.metric import Measure
from arboretum.data.checks import did_you_mean
from arboretum.errors import ParameterError

Settings = Mapping[str, Any]
Make = Callable[
    [dict[str, Any], Settings], Objective
]  # from what all objectives have, and settings
Reading = tuple[str, str, dict[str, Any]]  # a metric's name in the table, as printed, what it sets

DOUBLING = tuple(2.0**label - 1.0 for label in range(32))  # gains by label, unless given


class Setting(NamedTuple):
    """A parameter that objectives or metrics depend on."""

    rule: ParameterRule
    default: Any
    used_by: str = "objectives and metrics"


class ObjectiveEntry(NamedTuple):
    """What stands behind the name of an objective."""

    make: Make
    metric: str | Callable[[Settings], str]  # evaluated by unless another is asked for
    predicts: str = "numbers"  # or "two classes", "classes", "orders"
    aliases: str = ""
    weighs_classes: bool = False


class MetricEntry(NamedTuple):
    """What stands behind the name of a metric."""

    make: Callable[[Settings], Measure]
    larger_is_better: bool = False
    aliases: str = ""


@dataclass(frozen=True)
class Dialect:
    """The names and settings of one program.

    Attributes
    ----------
    name : str
    settings : dict of Setting
    objectives, metrics : dicts of entries
    read : function
        From the name of a metric, as given, and the settings to what it stands for.
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
        """Return every setting of objectives or metrics: what was given, checked, or its default."""
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

    def unknown(self, what: str, name: Any, known: Iterable[str], more: str = "") -> ParameterError:
        """Return the error of a name that is not in the table."""
        return ParameterError(
            f"no {what} of {self.name} is called {name!r}{more}{did_you_mean(name, known)}: "
            f"there are {', '.join(sorted(known))}"
        )


def all_names(entries: Mapping[str, Any]) -> dict[str, str]:
    """Return the name in the table of every name and alias."""
    return {alias: name for name, e in entries.items() for alias in (name, *e.aliases.split())}


# ---------------------------------------------------------------------- lines of a table
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
    """Return the line of an objective that is a loss, or one for each output.

    ``names`` are the settings that the loss is made of, ``parts`` fields of `LossObjective`.
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
    """Return the line of a metric; ``parts`` are keywords of the function that measures it."""
    return MetricEntry(lambda s: partial(measure, **_settled(parts, s)), larger, aliases)


def mean(
    loss: type[Loss] | Callable[[Settings], Loss],
    *names: str,
    least: float = 0.0,
    times: float = 1.0,
) -> MetricEntry:
    """Return the line of a metric that is the mean value of a loss; see `rows.mean_loss`."""
    return metric(rows.mean_loss, loss=partial(_loss_of, loss, names), least=least, times=times)


__all__ = [
    "DOUBLING", "Dialect", "MetricEntry", "ObjectiveEntry", "Setting", "all_names", "mean",
    "metric", "objective", "of",
]  # fmt: skip
