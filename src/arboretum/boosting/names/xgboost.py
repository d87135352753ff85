"""XGBoost's names of objectives and metrics.

Left out: Cox and AFT survival and their metrics, lambdarank_unbiased.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from arboretum.base.parameters import ParameterRule, flag, integer, list_of, one_of, real
from arboretum.boosting.loss import numbers
from arboretum.boosting.loss.classes import Hinge, Logistic, Softmax
from arboretum.boosting.loss.objective import Objective
from arboretum.boosting.loss.ranking import RankingObjective
from arboretum.boosting.metric import ranking, rows
from arboretum.boosting.names import entries as d
from arboretum.boosting.names.entries import Settings, mean, metric, objective, of
from arboretum.errors import ParameterError
from arboretum.predict.link import IDENTITY

__all__ = ["XGBOOST"]

_POSITIVE = real(0, open_low=True)
_POWER = real(1, 2, open_high=True)
_UNBIASED = ParameterRule(
    "False: learning from biased clicks is not part of arboretum", one_of(False).allows
)
_FIRST = 32  # rows of a list that count unless a number follows the name

_SETTINGS = {
    "scale_pos_weight": d.Setting(_POSITIVE, 1.0, "objectives"),
    "huber_slope": d.Setting(_POSITIVE, 1.0),
    "quantile_alpha": d.Setting(list_of(real(0, 1, open_low=True, open_high=True)), None),
    "tweedie_variance_power": d.Setting(_POWER, 1.5),
    "lambdarank_pair_method": d.Setting(one_of("topk", "mean"), "topk"),
    "lambdarank_num_pair_per_sample": d.Setting(integer(1), None),
    "lambdarank_normalization": d.Setting(flag, True, "objectives"),
    "lambdarank_score_normalization": d.Setting(flag, True, "objectives"),
    "lambdarank_unbiased": d.Setting(_UNBIASED, False, "objectives"),
    "ndcg_exp_gain": d.Setting(flag, True),
    "max_delta_step": d.Setting(real(0), None, "objectives"),
    "seed": d.Setting(integer(0, 2**32 - 1), 0, "objectives"),
}


# ---------------------------------------------------------------------- objectives
def _levels(s: Settings) -> tuple[float, ...]:
    if s["quantile_alpha"] is None:
        raise ParameterError("the quantile loss needs quantile_alpha, the quantiles to predict")
    return tuple(float(level) for level in np.atleast_1d(s["quantile_alpha"]))


def _logistic(s: Settings) -> Logistic:
    return Logistic(yes=float(s["scale_pos_weight"]), least=1e-16)


def _begin(s: Settings) -> str:
    """The best constant for weighted classes is not the mean label: XGBoost takes a Newton step."""
    return "mean" if s["scale_pos_weight"] == 1 else "newton"


def _softmax(s: Settings) -> Softmax:
    return Softmax(s["n_classes"], curvature=2.0, least=1e-16)


def _step(s: Settings) -> float:
    return 0.7 if s["max_delta_step"] is None else float(s["max_delta_step"])


def _poisson(s: Settings) -> numbers.Poisson:
    return numbers.Poisson(step=_step(s))


def _tweedie_name(s: Settings) -> str:
    return f"tweedie-nloglik@{s['tweedie_variance_power']:g}"


def _ranking(target: str, metric: str) -> d.ObjectiveEntry:
    """Return the entry of LambdaMART for a target; its metric cuts lists where its pairs end."""

    def make(base: dict[str, Any], s: Settings) -> Objective:
        top = s["lambdarank_pair_method"] == "topk"
        pairs = s["lambdarank_num_pair_per_sample"] or (_FIRST if top else 1)
        return RankingObjective(
            **base,
            metric=target,
            top=pairs if top else 0,
            drawn=1 if top else pairs,
            seed=int(s["seed"]),
            gains=d.DOUBLING if target == "ndcg" and s["ndcg_exp_gain"] else None,
            factor=2.0,
            least=1e-16,
            by_score=s["lambdarank_score_normalization"],
            by_sum=s["lambdarank_normalization"],
        )

    def name(s: Settings) -> str:
        cut = f"@{s['lambdarank_num_pair_per_sample'] or _FIRST}"
        return metric + (cut if s["lambdarank_pair_method"] == "topk" else "")

    return d.ObjectiveEntry(make, name, "orders")


_WEIGHED: dict[str, Any] = {"begin": _begin, "weighs_classes": True}
_BINARY: dict[str, Any] = {"domain": "binary", "predicts": "two classes", **_WEIGHED}
# fmt: off
_OBJECTIVES = {
    "reg:squarederror": objective(numbers.SquaredError, metric="rmse"),
    "reg:squaredlogerror": objective(numbers.SquaredLogError, metric="rmsle", begin="newton"),
    "reg:absoluteerror": objective(numbers.AbsoluteError, metric="mae"),
    "reg:pseudohubererror": objective(numbers.PseudoHuber, "huber_slope", metric="mphe", begin="newton"),
    "reg:quantileerror": objective(lambda s: tuple(map(numbers.Quantile, _levels(s))), metric="quantile"),
    "reg:logistic": objective(_logistic, metric="rmse", **_WEIGHED),
    "binary:logistic": objective(_logistic, metric="logloss", **_BINARY),
    "binary:logitraw": objective(_logistic, metric="logloss", link=IDENTITY, **_BINARY),
    "binary:hinge": objective(Hinge, metric="error", predicts="two classes", begin="zero"),
    "multi:softprob": objective(_softmax, metric="mlogloss", predicts="classes", begin="shares"),
    "multi:softmax": objective(_softmax, metric="mlogloss", predicts="classes", begin="shares"),
    "count:poisson": objective(_poisson, metric="poisson-nloglik", max_delta_step=_step),
    "reg:gamma": objective(numbers.Gamma, metric="gamma-deviance", domain="0 or more"),
    "reg:tweedie": objective(numbers.Tweedie, "tweedie_variance_power", metric=_tweedie_name),
    "rank:ndcg": _ranking("ndcg", "ndcg"),
    "rank:map": _ranking("map", "map"),
    "rank:pairwise": _ranking("pairwise", "ndcg"),
}
# fmt: on


# ---------------------------------------------------------------------- metrics
def _gains(s: Settings) -> tuple[float, ...] | None:
    return d.DOUBLING if s["ndcg_exp_gain"] else None


def _listed(measure: Callable[..., float], **parts: Any) -> d.MetricEntry:
    return metric(measure, larger=True, k=of("k"), empty=of("empty"), **parts)


# Besides the settings above, "at", "k" and "empty" come from the name
_METRICS = {
    "rmse": metric(rows.root_mean, loss=numbers.SquaredError()),
    "rmsle": metric(rows.root_mean, loss=numbers.SquaredLogError()),
    "mae": mean(numbers.AbsoluteError),
    "mape": mean(lambda s: numbers.RelativeError(0.0)),
    "mphe": mean(numbers.PseudoHuber, "huber_slope"),
    "quantile": metric(rows.quantiles, alphas=_levels),
    "logloss": mean(Logistic, least=1e-16),
    "error": metric(rows.mistakes, threshold=of("at")),
    "merror": metric(rows.class_error),
    "mlogloss": metric(rows.class_log_loss, least=1e-16),
    "poisson-nloglik": metric(rows.poisson_likelihood),
    "gamma-nloglik": mean(numbers.Gamma, least=1e-6),
    "gamma-deviance": metric(rows.gamma_deviance, shift=(1e-6, 1e-6), added=False),
    "tweedie-nloglik": mean(numbers.Tweedie, "at"),
    "auc": metric(ranking.area_under_roc, larger=True),
    "aucpr": metric(ranking.area_under_pr, larger=True),
    "pre": metric(ranking.precision_at, larger=True, k=of("k")),
    "ndcg": _listed(ranking.mean_ndcg, gains=_gains),
    "map": _listed(ranking.mean_average_precision, binary=True),
}


def _read(name: Any, settings: Settings) -> list[d.Reading]:
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
    if name not in _METRICS:
        raise XGBOOST.unknown("metric", name, _METRICS)
    return [(name, name, {})]


def _number(name: str, text: str, default: float) -> float:
    if "@" not in name:
        return default
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"metric {name!r}: a number must follow the @") from None


XGBOOST = d.Dialect("xgboost", _SETTINGS, _OBJECTIVES, _METRICS, _read)
