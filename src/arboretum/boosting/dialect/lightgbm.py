"""LightGBM's names of objectives and metrics.

Left out: cross_entropy_lambda and rank_xendcg, auc_mu (it looks at raw scores). reg_sqrt is left to the
user: fit on the root, square the predictions.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from arboretum.base.parameters import Rule, flag, integer, real
from arboretum.boosting.dialect.dialect import (
    DOUBLING,
    Dialect,
    MetricEntry,
    ObjectiveEntry,
    Reading,
    Setting,
    Settings,
    list_of,
    mean_of,
    of_loss,
)
from arboretum.boosting.loss.classes import Logistic, Softmax
from arboretum.boosting.loss.numbers import (
    Fair,
    Huber,
    Power,
    Quantile,
    RelativeError,
    SquaredError,
    absolute_error,
)
from arboretum.boosting.loss.objective import Objective
from arboretum.boosting.loss.ranking import RankingObjective
from arboretum.boosting.metric import ranking, rows
from arboretum.boosting.metric.metric import Measure
from arboretum.errors import ParameterError

__all__ = ["LIGHTGBM"]


def _places(value: Any) -> list[int] | None:
    """Read how many rows of a list to look at: 3, [1, 3] or "1,3"; None if it is none of these."""
    if isinstance(value, str):
        value = [int(word) if word.isdigit() else 0 for word in value.split(",")]
    if not list_of(integer(1)).allows(value):
        return None
    return sorted({int(v) for v in np.atleast_1d(value)})


_POSITIVE = real(0, open_low=True)
_OBJECTIVES, _METRICS = ("objectives",), ("metrics",)
_SETTINGS = {
    "alpha": Setting(_POSITIVE, 0.9),
    "fair_c": Setting(_POSITIVE, 1.0),
    "poisson_max_delta_step": Setting(_POSITIVE, 0.7, _OBJECTIVES),
    "tweedie_variance_power": Setting(real(1, 2, open_high=True), 1.5),
    "sigmoid": Setting(_POSITIVE, 1.0, _OBJECTIVES),
    "scale_pos_weight": Setting(_POSITIVE, 1.0, _OBJECTIVES),
    "is_unbalance": Setting(flag, False, _OBJECTIVES),
    "eval_at": Setting(
        Rule("an int ≥ 1, or a list of them", lambda v: _places(v) is not None),
        (1, 2, 3, 4, 5),
        _METRICS,
    ),
    "label_gain": Setting(list_of(real(0)), None),
    "multi_error_top_k": Setting(integer(1), 1, _METRICS),
    "lambdarank_truncation_level": Setting(integer(1), 30, _OBJECTIVES),
    "lambdarank_norm": Setting(flag, True, _OBJECTIVES),
}


# ---------------------------------------------------------------------- objectives
def _quantile(s: Settings) -> Quantile:
    if s["alpha"] >= 1:
        raise ParameterError(f"alpha of quantile must be below 1, got {s['alpha']}")
    return Quantile(float(s["alpha"]), convention="lightgbm")


def _power(s: Settings) -> Power:
    return Power(float(s["tweedie_variance_power"]), "tweedie")


def _logistic(s: Settings) -> Logistic:
    return Logistic(float(s["sigmoid"]), yes=float(s["scale_pos_weight"]))


def _softmax(s: Settings) -> Softmax:
    k = s["n_classes"]
    return Softmax(k, curvature=k / (k - 1.0))


def _balanced(s: Settings) -> bool:
    return bool(s["is_unbalance"])


def _gains(s: Settings) -> tuple[float, ...]:
    given = s["label_gain"]
    return DOUBLING if given is None else tuple(float(gain) for gain in np.atleast_1d(given))


def _ranking(base: dict[str, Any], s: Settings) -> Objective:
    return RankingObjective(
        **base,
        top=s["lambdarank_truncation_level"],
        gains=_gains(s),
        sigma=float(s["sigmoid"]),
        by_score=s["lambdarank_norm"],
        by_sum=s["lambdarank_norm"],
    )


_Objective = ObjectiveEntry
_objectives = {
    "regression": _Objective(
        of_loss(lambda s: SquaredError()),
        "l2",
        aliases="regression_l2 l2 mean_squared_error mse l2_root root_mean_squared_error rmse",
    ),
    "regression_l1": _Objective(
        of_loss(lambda s: absolute_error("lightgbm"), begin="loss"),
        "l1",
        aliases="l1 mean_absolute_error mae",
    ),
    "huber": _Objective(of_loss(lambda s: Huber(float(s["alpha"]))), "huber"),
    "fair": _Objective(of_loss(lambda s: Fair(float(s["fair_c"]))), "fair"),
    "poisson": _Objective(
        of_loss(lambda s: Power(1.0, "poisson", float(s["poisson_max_delta_step"]))), "poisson"
    ),
    "quantile": _Objective(of_loss(_quantile, begin="loss"), "quantile"),
    "mape": _Objective(
        of_loss(lambda s: RelativeError(convention="lightgbm"), begin="loss"),
        "mape",
        aliases="mean_absolute_percentage_error",
    ),
    "gamma": _Objective(of_loss(lambda s: Power(2.0, "gamma"), domain="0 or more"), "gamma"),
    "tweedie": _Objective(of_loss(_power), "tweedie"),
    "binary": _Objective(
        of_loss(_logistic, domain="binary", balanced=_balanced),
        "binary_logloss",
        "two classes",
        weighs_classes=True,
    ),
    "multiclass": _Objective(
        of_loss(_softmax, begin="shares"), "multi_logloss", "classes", aliases="softmax"
    ),
    "multiclassova": _Objective(
        of_loss(lambda s: (_logistic(s),) * s["n_classes"], begin="shares", balanced=_balanced),
        "multi_logloss",
        "classes",
        aliases="multiclass_ova ova ovr",
        weighs_classes=True,
    ),
    "cross_entropy": _Objective(
        of_loss(lambda s: Logistic()), "cross_entropy", "two classes", aliases="xentropy"
    ),
    "lambdarank": _Objective(_ranking, "ndcg", "orders"),
}


# ---------------------------------------------------------------------- metrics
def _ndcg(s: Settings) -> Measure:
    return partial(ranking.mean_ndcg, k=s["k"], empty=1.0, gains=_gains(s))


def _map(s: Settings) -> Measure:
    return partial(ranking.mean_average_precision, k=s["k"], empty=1.0, binary=False)


def _area(of_curve: Any) -> MetricEntry:
    return MetricEntry(lambda s: partial(ranking.binary_area, of_curve=of_curve), True)


# From settings to what is measured; "k" comes from the name. The name of an objective is also one of its
# metric, so those are no aliases here.
_metrics = {
    "l1": MetricEntry(lambda s: mean_of(absolute_error())),
    "l2": MetricEntry(lambda s: mean_of(SquaredError(), times=2.0)),
    "rmse": MetricEntry(
        lambda s: partial(rows.root_mean, loss=SquaredError()),
        aliases="root_mean_squared_error l2_root",
    ),
    "r2": MetricEntry(lambda s: rows.r2, larger_is_better=True),
    "quantile": MetricEntry(lambda s: mean_of(_quantile(s))),
    "mape": MetricEntry(lambda s: mean_of(RelativeError())),
    "huber": MetricEntry(lambda s: mean_of(Huber(s["alpha"]))),
    "fair": MetricEntry(lambda s: mean_of(Fair(s["fair_c"]))),
    "poisson": MetricEntry(lambda s: mean_of(Power(1.0, "poisson"), least=1e-10)),
    "gamma": MetricEntry(lambda s: mean_of(Power(2.0, "gamma"))),
    "gamma_deviance": MetricEntry(
        lambda s: partial(rows.gamma_deviance, shift=(0.0, 1e-9), added=True)
    ),
    "tweedie": MetricEntry(lambda s: mean_of(_power(s), least=1e-10)),
    "binary_logloss": MetricEntry(lambda s: partial(rows.binary_log_loss, least=1e-15)),
    "binary_error": MetricEntry(lambda s: partial(rows.mistakes, binary=True)),
    "multi_logloss": MetricEntry(lambda s: partial(rows.class_log_loss, least=1e-15)),
    "multi_error": MetricEntry(lambda s: partial(rows.top_error, k=s["k"])),
    "cross_entropy": MetricEntry(lambda s: mean_of(Logistic(), least=1e-12)),
    "kullback_leibler": MetricEntry(lambda s: rows.divergence, aliases="kldiv"),
    "auc": _area(ranking.roc_auc),
    "average_precision": _area(ranking.average_precision),
    "ndcg": MetricEntry(_ndcg, True, aliases="rank_xendcg xendcg xe_ndcg xe_ndcg_mart xendcg_mart"),
    "map": MetricEntry(_map, True, aliases="mean_average_precision"),
}
_NO_METRIC = ("none", "na", "null", "custom")
METRIC_NAMES = {
    alias: str(e.metric) for name, e in _objectives.items() for alias in (name, *e.aliases.split())
} | {alias: name for name, e in _metrics.items() for alias in (name, *e.aliases.split())}


def _read(name: Any, settings: Settings) -> list[Reading]:
    """Read ``"l1,l2"``, ``"ndcg@5"`` and ``"ndcg"``, which is one metric for each of ``eval_at``."""
    words = [word.strip().lower() for word in str(name).split(",")]
    return [reading for word in words for reading in _read_word(word, settings)]


def _read_word(name: str, settings: Settings) -> list[Reading]:
    if name in _NO_METRIC:
        return []
    stem, at, after = name.partition("@")
    stem = METRIC_NAMES.get(stem, "")
    takes_places = stem in ("ndcg", "map", "multi_error")
    if not stem or (at and not (takes_places and after.isdigit() and int(after))):
        raise LIGHTGBM.unknown("metric", name, METRIC_NAMES)
    if not takes_places:
        return [(stem, stem, {})]
    if stem == "multi_error":
        k = int(after) if at else settings["multi_error_top_k"]
        return [(stem, stem if k == 1 else f"{stem}@{k}", {"k": k})]
    places = [int(after)] if at else _places(settings["eval_at"]) or []
    return [(stem, f"{stem}@{k}", {"k": k}) for k in places]


LIGHTGBM = Dialect(
    "lightgbm",
    _SETTINGS,
    _objectives,
    _metrics,
    _read,
    dict.fromkeys(("ndcg_eval_at", "ndcg_at", "map_eval_at", "map_at"), "eval_at"),
)
