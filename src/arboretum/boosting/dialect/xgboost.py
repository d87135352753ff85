"""XGBoost's names of objectives and metrics.

Left out: Cox and AFT survival and their metrics, lambdarank_unbiased.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from arboretum.base.parameters import Rule, flag, integer, one_of, real
from arboretum.boosting.dialect.dialect import (
    DOUBLING,
    Dialect,
    Make,
    MetricEntry,
    ObjectiveEntry,
    Reading,
    Setting,
    Settings,
    list_of,
    mean_of,
    of_loss,
)
from arboretum.boosting.loss.classes import Hinge, Logistic, Softmax
from arboretum.boosting.loss.numbers import (
    Power,
    PseudoHuber,
    Quantile,
    RelativeError,
    SquaredError,
    SquaredLogError,
    absolute_error,
)
from arboretum.boosting.loss.objective import Objective
from arboretum.boosting.loss.ranking import RankingObjective
from arboretum.boosting.metric import ranking, rows
from arboretum.boosting.metric.metric import Measure
from arboretum.errors import ParameterError
from arboretum.predict.link import IDENTITY

__all__ = ["XGBOOST"]

_POSITIVE = real(0, open_low=True)
_POWER = real(1, 2, open_high=True)
_OBJECTIVES = ("objectives",)
_FIRST = 32  # rows of a list that are looked at unless a number follows the name

_SETTINGS = {
    "scale_pos_weight": Setting(_POSITIVE, 1.0, _OBJECTIVES),
    "huber_slope": Setting(_POSITIVE, 1.0),
    "quantile_alpha": Setting(list_of(real(0, 1, open_low=True, open_high=True)), None),
    "tweedie_variance_power": Setting(_POWER, 1.5),
    "lambdarank_pair_method": Setting(one_of("topk", "mean"), "topk"),
    "lambdarank_num_pair_per_sample": Setting(integer(1), None),
    "lambdarank_normalization": Setting(flag, True, _OBJECTIVES),
    "lambdarank_score_normalization": Setting(flag, True, _OBJECTIVES),
    "lambdarank_unbiased": Setting(
        Rule("False: learning from biased clicks is not part of arboretum", lambda v: v is False),
        False,
        _OBJECTIVES,
    ),
    "ndcg_exp_gain": Setting(flag, True),
    "max_delta_step": Setting(real(0), None, _OBJECTIVES),
    "seed": Setting(integer(0, 2**32 - 1), 0, _OBJECTIVES),
}


# ---------------------------------------------------------------------- objectives
def _levels(s: Settings) -> tuple[float, ...]:
    if s["quantile_alpha"] is None:
        raise ParameterError("the quantile loss needs quantile_alpha: say which quantiles")
    return tuple(float(level) for level in np.atleast_1d(s["quantile_alpha"]))


def _quantiles(s: Settings) -> tuple[Quantile, ...]:
    return tuple(Quantile(level, convention="xgboost") for level in _levels(s))


def _logistic(domain: str, **parts: Any) -> Make:
    """Return how to make a log loss with a weight of the second class.

    The best constant of weighed classes is no mean of labels: XGBoost steps towards it.
    """
    return of_loss(
        lambda s: Logistic(yes=float(s["scale_pos_weight"]), least=1e-16),
        domain=domain,
        begin=lambda s: "mean" if s["scale_pos_weight"] == 1 else "newton",
        **parts,
    )


def _poisson_step(s: Settings) -> float:
    return 0.7 if s["max_delta_step"] is None else float(s["max_delta_step"])


def _ranking(target: str) -> Make:
    """Return how to make LambdaMART for a metric."""

    def make(base: dict[str, Any], s: Settings) -> Objective:
        top = s["lambdarank_pair_method"] == "topk"
        pairs = s["lambdarank_num_pair_per_sample"] or (_FIRST if top else 1)
        return RankingObjective(
            **base,
            figure=target,
            top=pairs if top else 0,
            drawn=1 if top else pairs,
            seed=int(s["seed"]),
            gains=DOUBLING if target == "ndcg" and s["ndcg_exp_gain"] else None,
            factor=2.0,
            least=1e-16,
            by_score=s["lambdarank_score_normalization"],
            by_sum=s["lambdarank_normalization"],
        )

    return make


def _at_the_pairs(metric: str) -> Callable[[Settings], str]:
    """Return the metric of lists that are cut where their pairs are."""

    def name(s: Settings) -> str:
        if s["lambdarank_pair_method"] != "topk":
            return metric
        return f"{metric}@{s['lambdarank_num_pair_per_sample'] or _FIRST}"

    return name


_softmax = of_loss(lambda s: Softmax(s["n_classes"], curvature=2.0, least=1e-16), begin="shares")
_Objective = ObjectiveEntry
_objectives = {
    "reg:squarederror": _Objective(of_loss(lambda s: SquaredError()), "rmse"),
    "reg:squaredlogerror": _Objective(
        of_loss(lambda s: SquaredLogError(), begin="newton"), "rmsle"
    ),
    "reg:absoluteerror": _Objective(
        of_loss(lambda s: absolute_error("xgboost"), begin="loss"), "mae"
    ),
    "reg:pseudohubererror": _Objective(
        of_loss(lambda s: PseudoHuber(float(s["huber_slope"])), begin="newton"), "mphe"
    ),
    "reg:quantileerror": _Objective(of_loss(_quantiles, begin="loss"), "quantile"),
    "reg:logistic": _Objective(_logistic("share"), "rmse", weighs_classes=True),
    "binary:logistic": _Objective(
        _logistic("binary"), "logloss", "two classes", weighs_classes=True
    ),
    "binary:logitraw": _Objective(  # even its base_score is a margin
        _logistic("binary", link=IDENTITY), "logloss", "two classes", weighs_classes=True
    ),
    "binary:hinge": _Objective(of_loss(lambda s: Hinge(), begin="zero"), "error", "two classes"),
    "multi:softprob": _Objective(_softmax, "mlogloss", "classes"),
    "multi:softmax": _Objective(_softmax, "mlogloss", "classes"),
    "count:poisson": _Objective(  # the limit of a step is also one of the leaves
        of_loss(lambda s: Power(1.0, "poisson", _poisson_step(s)), max_delta_step=_poisson_step),
        "poisson-nloglik",
    ),
    "reg:gamma": _Objective(
        of_loss(lambda s: Power(2.0, "gamma"), domain="0 or more"), "gamma-deviance"
    ),
    "reg:tweedie": _Objective(
        of_loss(lambda s: Power(float(s["tweedie_variance_power"]), "tweedie")),
        lambda s: f"tweedie-nloglik@{s['tweedie_variance_power']:g}",
    ),
    "rank:ndcg": _Objective(_ranking("ndcg"), _at_the_pairs("ndcg"), "orders"),
    "rank:map": _Objective(_ranking("map"), _at_the_pairs("map"), "orders"),
    "rank:pairwise": _Objective(_ranking("pairwise"), _at_the_pairs("ndcg"), "orders"),
}


# ---------------------------------------------------------------------- metrics
def _ndcg(s: Settings) -> Measure:
    gains = DOUBLING if s["ndcg_exp_gain"] else None
    return partial(ranking.mean_ndcg, k=s["k"], empty=s["empty"], gains=gains)


def _map(s: Settings) -> Measure:
    return partial(ranking.mean_average_precision, k=s["k"], empty=s["empty"], binary=True)


# From settings to what is measured. Besides those above, "at", "k" and "empty" come from the name.
_metrics = {
    "rmse": MetricEntry(lambda s: partial(rows.root_mean, loss=SquaredError())),
    "rmsle": MetricEntry(lambda s: partial(rows.root_mean, loss=SquaredLogError())),
    "mae": MetricEntry(lambda s: mean_of(absolute_error())),
    "mape": MetricEntry(lambda s: mean_of(RelativeError(least=0.0))),
    "mphe": MetricEntry(lambda s: mean_of(PseudoHuber(s["huber_slope"]))),
    "quantile": MetricEntry(lambda s: partial(rows.quantiles, alphas=_levels(s))),
    "logloss": MetricEntry(lambda s: mean_of(Logistic(), least=1e-16)),
    "error": MetricEntry(lambda s: partial(rows.mistakes, threshold=s["at"])),
    "merror": MetricEntry(lambda s: rows.class_error),
    "mlogloss": MetricEntry(lambda s: partial(rows.class_log_loss, least=1e-16)),
    "poisson-nloglik": MetricEntry(lambda s: rows.poisson_likelihood),
    "gamma-nloglik": MetricEntry(lambda s: mean_of(Power(2.0, "gamma"), least=1e-6)),
    "gamma-deviance": MetricEntry(
        lambda s: partial(rows.gamma_deviance, shift=(1e-6, 1e-6), added=False)
    ),
    "tweedie-nloglik": MetricEntry(lambda s: mean_of(Power(s["at"], "tweedie"))),
    "auc": MetricEntry(lambda s: ranking.area_under_roc, larger_is_better=True),
    "aucpr": MetricEntry(lambda s: ranking.area_under_pr, larger_is_better=True),
    "pre": MetricEntry(lambda s: partial(ranking.precision_at, k=s["k"]), larger_is_better=True),
    "ndcg": MetricEntry(_ndcg, larger_is_better=True),
    "map": MetricEntry(_map, larger_is_better=True),
}


def _read(name: Any, settings: Settings) -> list[Reading]:
    """Read ``"error@0.7"``, ``"ndcg@5-"`` and plain names."""
    stem, _, after = str(name).partition("@")
    if listed := re.fullmatch(r"(pre|ndcg|map)(?:@([1-9][0-9]*))?(-?)", str(name)):
        k = int(listed[2] or _FIRST)
        return [(listed[1], str(name), {"k": k, "empty": 0.0 if listed[3] else 1.0})]
    if stem == "error" or stem == "tweedie-nloglik":
        at = _number(name, after, 0.5 if stem == "error" else settings["tweedie_variance_power"])
        if stem != "error" and not _POWER.allows(at):
            raise ParameterError(f"{name}: the power must be {_POWER.phrase}")
        printed = stem if stem == "error" and at == 0.5 else f"{stem}@{at:g}"
        return [(stem, printed, {"at": at})]
    if name not in _metrics:
        raise XGBOOST.unknown("metric", name, _metrics)
    return [(name, name, {})]


def _number(name: str, text: str, default: float) -> float:
    if "@" not in name:
        return default
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"metric {name!r}: a number must follow the @") from None


XGBOOST = Dialect("xgboost", _SETTINGS, _objectives, _metrics, _read)
