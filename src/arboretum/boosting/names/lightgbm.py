"""LightGBM's names of objectives and metrics.

Left out: cross_entropy_lambda, auc_mu (it looks at raw scores). reg_sqrt is left to the
user: fit on the root, square the predictions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.base.parameters import ParameterRule, flag, integer, list_of, real
from arboretum.boosting.loss import numbers
from arboretum.boosting.loss.classes import Logistic, Softmax
from arboretum.boosting.loss.listwise import ListwiseObjective
from arboretum.boosting.loss.objective import Objective
from arboretum.boosting.loss.ranking import RankingObjective
from arboretum.boosting.metric import ranking, rows
from arboretum.boosting.names import entries as d
from arboretum.boosting.names.entries import Settings, mean, metric, objective, of
from arboretum.errors import ParameterError

__all__ = ["LIGHTGBM", "METRIC_NAMES"]


def _places(value: Any) -> list[int] | None:
    """Read the cut-off positions of a list: 3, [1, 3] or "1,3"; None if the value is invalid."""
    if isinstance(value, str):
        value = [int(word) if word.isdigit() else 0 for word in value.split(",")]
    if not list_of(integer(1)).allows(value):
        return None
    return sorted({int(v) for v in np.atleast_1d(value)})


_POSITIVE = real(0, open_low=True)
_PLACES = ParameterRule("an int ≥ 1, or a list of them", lambda v: _places(v) is not None)
_SETTINGS = {
    "alpha": d.Setting(_POSITIVE, 0.9),
    "fair_c": d.Setting(_POSITIVE, 1.0),
    "poisson_max_delta_step": d.Setting(_POSITIVE, 0.7, "objectives"),
    "tweedie_variance_power": d.Setting(real(1, 2, open_high=True), 1.5),
    "sigmoid": d.Setting(_POSITIVE, 1.0, "objectives"),
    "scale_pos_weight": d.Setting(_POSITIVE, 1.0, "objectives"),
    "is_unbalance": d.Setting(flag, False, "objectives"),
    "eval_at": d.Setting(_PLACES, (1, 2, 3, 4, 5), "metrics"),
    "label_gain": d.Setting(list_of(real(0)), None),
    "multi_error_top_k": d.Setting(integer(1), 1, "metrics"),
    "lambdarank_truncation_level": d.Setting(integer(1), 30, "objectives"),
    "lambdarank_norm": d.Setting(flag, True, "objectives"),
    "objective_seed": d.Setting(integer(0), 5, "objectives"),
}
_PLACES_TOO = dict.fromkeys(("ndcg_eval_at", "ndcg_at", "map_eval_at", "map_at"), "eval_at")


# ---------------------------------------------------------------------- objectives
def _quantile(s: Settings) -> numbers.Quantile:
    if s["alpha"] >= 1:
        raise ParameterError(f"alpha of quantile must be below 1, got {s['alpha']}")
    return numbers.Quantile(float(s["alpha"]))


def _poisson(s: Settings) -> numbers.Poisson:
    return numbers.Poisson(step=float(s["poisson_max_delta_step"]))


def _logistic(s: Settings) -> Logistic:
    return Logistic(float(s["sigmoid"]), yes=float(s["scale_pos_weight"]))


def _one_against_rest(s: Settings) -> tuple[Logistic, ...]:
    return (_logistic(s),) * s["n_classes"]


def _softmax(s: Settings) -> Softmax:
    k = s["n_classes"]
    return Softmax(k, curvature=k / (k - 1.0))


def _gains(s: Settings) -> tuple[float, ...]:
    given = s["label_gain"]
    return d.DOUBLING if given is None else tuple(float(gain) for gain in np.atleast_1d(given))


def _ranking(base: dict[str, Any], s: Settings) -> Objective:
    return RankingObjective(
        **base,
        top=s["lambdarank_truncation_level"],
        gains=_gains(s),
        sigma=float(s["sigmoid"]),
        by_score=s["lambdarank_norm"],
        by_sum=s["lambdarank_norm"],
    )


def _listwise(base: dict[str, Any], s: Settings) -> Objective:
    return ListwiseObjective(**base, seed=int(s["objective_seed"]))


_XENDCG = "xendcg xe_ndcg xe_ndcg_mart xendcg_mart"
_L2 = "regression_l2 l2 mean_squared_error mse l2_root root_mean_squared_error rmse"
_CLASSES: dict[str, Any] = {"metric": "multi_logloss", "predicts": "classes", "begin": "shares"}
_WEIGHED: dict[str, Any] = {"balanced": of("is_unbalance"), "weighs_classes": True}
# fmt: off
_OBJECTIVES = {
    "regression": objective(numbers.SquaredError, metric="l2", aliases=_L2),
    "regression_l1": objective(numbers.AbsoluteError, metric="l1", aliases="l1 mean_absolute_error mae"),
    "huber": objective(numbers.Huber, "alpha", metric="huber"),
    "fair": objective(numbers.Fair, "fair_c", metric="fair"),
    "poisson": objective(_poisson, metric="poisson"),
    "quantile": objective(_quantile, metric="quantile"),
    "mape": objective(numbers.RelativeError, metric="mape", aliases="mean_absolute_percentage_error"),
    "gamma": objective(numbers.Gamma, metric="gamma", domain="0 or more"),
    "tweedie": objective(numbers.Tweedie, "tweedie_variance_power", metric="tweedie"),
    "binary": objective(
        _logistic, metric="binary_logloss", predicts="two classes", domain="binary", **_WEIGHED
    ),
    "multiclass": objective(_softmax, aliases="softmax", **_CLASSES),
    "multiclassova": objective(
        _one_against_rest, aliases="multiclass_ova ova ovr", **_CLASSES, **_WEIGHED
    ),
    "cross_entropy": objective(
        Logistic, metric="cross_entropy", predicts="two classes", aliases="xentropy"
    ),
    "lambdarank": d.ObjectiveEntry(_ranking, "ndcg", "orders"),
    "rank_xendcg": d.ObjectiveEntry(_listwise, "ndcg", "orders", _XENDCG),
}
# The name of an objective is also one of its metric, so those are no aliases here
_METRICS = {
    "l1": mean(numbers.AbsoluteError),
    "l2": mean(numbers.SquaredError, times=2.0),
    "rmse": metric(rows.root_mean, loss=numbers.SquaredError(), aliases="root_mean_squared_error l2_root"),
    "r2": metric(rows.r2, larger=True),
    "quantile": mean(_quantile),
    "mape": mean(numbers.RelativeError),
    "huber": mean(numbers.Huber, "alpha"),
    "fair": mean(numbers.Fair, "fair_c"),
    "poisson": mean(numbers.Poisson, least=1e-10),
    "gamma": mean(numbers.Gamma),
    "gamma_deviance": metric(rows.gamma_deviance, shift=(0.0, 1e-9), added=True),
    "tweedie": mean(numbers.Tweedie, "tweedie_variance_power", least=1e-10),
    "binary_logloss": metric(rows.binary_log_loss, least=1e-15),
    "binary_error": metric(rows.mistakes, binary=True),
    "multi_logloss": metric(rows.class_log_loss, least=1e-15),
    "multi_error": metric(rows.top_error, k=of("k")),
    "cross_entropy": mean(Logistic, least=1e-12),
    "kullback_leibler": metric(rows.divergence, aliases="kldiv"),
    "auc": metric(ranking.binary_roc_auc, larger=True),
    "average_precision": metric(ranking.binary_average_precision, larger=True),
    "ndcg": metric(ranking.mean_ndcg, True, k=of("k"), empty=1.0, gains=_gains),
    "map": metric(
        ranking.mean_average_precision, True, "mean_average_precision",
        k=of("k"), empty=1.0, binary=False,
    ),
}
# fmt: on
_NO_METRIC = ("none", "na", "null", "custom")
METRIC_NAMES = {
    alias: str(_OBJECTIVES[name].metric) for alias, name in d.all_names(_OBJECTIVES).items()
} | d.all_names(_METRICS)


def _read(name: Any, settings: Settings) -> list[d.Reading]:
    """Read ``"l1,l2"``, ``"ndcg@5"`` and ``"ndcg"``, which is one metric for each of ``eval_at``."""
    words = [word.strip().lower() for word in str(name).split(",")]
    return [reading for word in words for reading in _read_word(word, settings)]


def _read_word(name: str, settings: Settings) -> list[d.Reading]:
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


LIGHTGBM = d.Dialect("lightgbm", _SETTINGS, _OBJECTIVES, _METRICS, _read, _PLACES_TOO)
