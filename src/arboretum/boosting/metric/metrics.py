"""Evaluation metrics, under the names XGBoost and LightGBM give them.

A metric is a name and a number computed from the truth and the *transformed* prediction of an objective:
a probability for logistic loss, (n, K) of them for softmax, the mean for Poisson, gamma and Tweedie, a
score for ranking. The peers differ under one name (XGBoost's "mape" divides by |y|, LightGBM's by
max(1, |y|)), so a name is looked up in a *dialect*:

    find_metrics(["logloss", "auc"], "xgboost")    [Metric 'logloss', Metric 'auc']
    find_metrics("ndcg", "lightgbm", eval_at=3)    [Metric 'ndcg@3']

To judge many rounds, or by many metrics, keep an `EvaluationSet`: it computes what they share once.

Figures that differ from the peers' on purpose: if all weights are 0 a mean is NaN (XGBoost: a perfect 0).
A group without a relevant row counts in a weighted NDCG with its weight; both peers give it weight 1,
which shifts the mean by a constant. XGBoost's ranking AUC counts pairs of equal labels by their place in
the data and leaves out groups of two; here a pair counts if its labels differ, and a group if it has one.

Left out: LightGBM's auc_mu (it looks at raw scores) and cross_entropy_lambda, XGBoost's survival metrics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from arboretum.base.parameters import Rule, flag, integer, one_of, real
from arboretum.boosting.metric import ranking_metrics as ranking
from arboretum.boosting.metric import row_metrics as rows
from arboretum.boosting.metric.evaluation_set import EvaluationSet, Predicted
from arboretum.data.checks import did_you_mean
from arboretum.errors import ParameterError

__all__ = ["EvaluationSet", "Metric", "default_metric", "find_metric", "find_metrics"]

Dialect = Literal["xgboost", "lightgbm"]
Measure = Callable[[Predicted], float]


@dataclass(frozen=True)
class Metric:
    """A named figure of how well predictions fit; get one from `find_metric`.

    Attributes
    ----------
    name : str
        As printed: ``"ndcg@5"``, ``"error@0.7"``.
    larger_is_better : bool
    measure : function
        From predictions beside their truth to the figure.

    Examples
    --------
    >>> find_metric("rmse", "xgboost").evaluate([1.0, 2.0], [1.0, 4.0], weight=[1.0, 3.0])
    1.7320508075688772
    """

    name: str
    larger_is_better: bool
    measure: Measure = field(repr=False)

    def evaluate(self, y: Any, prediction: Any, weight: Any = None, groups: Any = None) -> float:
        """Return the figure for one set of predictions.

        Parameters
        ----------
        y : array of shape (n,)
            The truth; codes 0..K-1 for classes.
        prediction : array of shape (n,), or (n, K) for K classes or quantiles
        weight : array of shape (n,), or one weight per group, optional
        groups : array of group sizes, optional
            For ranking; without it all rows are one list.
        """
        return EvaluationSet(y, weight, groups).evaluate([self], prediction)[self.name]


# ---------------------------------------------------------------------- names
def _numbers(low: float, high: float) -> Rule:
    """Return the rule of a number, or a list of them, between two ends."""
    one = real(low, high)

    def allows(value: Any) -> bool:
        values = np.atleast_1d(np.asarray(value, object))
        return values.ndim == 1 and len(values) > 0 and all(one.allows(v) for v in values)

    return Rule(f"{one.phrase}, or a list of them", allows)


def _places(value: Any) -> list[int] | None:
    """Read how many rows of a list to look at: 3, [1, 3] or "1,3"; None if it is none of these."""
    if isinstance(value, str):
        value = [int(word) if word.isdigit() else 0 for word in value.split(",")]
    values = np.atleast_1d(np.asarray(value, object))
    good = values.ndim == 1 and len(values) > 0 and all(integer(1).allows(v) for v in values)
    return sorted({int(v) for v in values}) if good else None


_POWER = real(1, 2, open_high=True)
# What may be set: the rule of its value, and its default
_SETTINGS: dict[str, dict[str, tuple[Rule, Any]]] = {
    "xgboost": {
        "huber_slope": (real(0, open_low=True), 1.0),
        "quantile_alpha": (_numbers(0, 1), None),
        "tweedie_variance_power": (_POWER, 1.5),
        "ndcg_exp_gain": (flag, True),
        "lambdarank_pair_method": (one_of("topk", "mean"), "topk"),
        "lambdarank_num_pair_per_sample": (integer(1), 32),
    },
    "lightgbm": {
        "alpha": (real(0, open_low=True), 0.9),
        "fair_c": (real(0, open_low=True), 1.0),
        "tweedie_variance_power": (_POWER, 1.5),
        "eval_at": (
            Rule("an int ≥ 1, or a list of them", lambda v: _places(v) is not None),
            (1, 2, 3, 4, 5),
        ),
        "label_gain": (_numbers(0, np.inf), None),
        "multi_error_top_k": (integer(1), 1),
    },
}
_PLACES_TOO = ("ndcg_eval_at", "ndcg_at", "map_eval_at", "map_at")  # other names of eval_at
_FIRST = 32  # rows of a list that XGBoost looks at unless a number follows the name
_DOUBLING = tuple(2.0**label - 1.0 for label in range(32))  # gains by label, unless given

# Names of one thing: the first is printed.
_SYNONYMS = [
    "l1 mean_absolute_error mae regression_l1",
    "l2 mean_squared_error mse regression_l2 regression",
    "rmse root_mean_squared_error l2_root",
    "mape mean_absolute_percentage_error",
    "ndcg lambdarank rank_xendcg xendcg xe_ndcg xe_ndcg_mart xendcg_mart",
    "map mean_average_precision",
    "binary_logloss binary",
    "multi_logloss multiclass softmax multiclassova multiclass_ova ova ovr",
    "cross_entropy xentropy",
    "kullback_leibler kldiv",
]
_PRINTED = {name: line.split()[0] for line in _SYNONYMS for name in line.split()}
_NO_METRIC = ("none", "na", "null", "custom")

_XGBOOST_DEFAULT = {
    "reg:squarederror": "rmse",
    "reg:squaredlogerror": "rmsle",
    "reg:absoluteerror": "mae",
    "reg:pseudohubererror": "mphe",
    "reg:quantileerror": "quantile",
    "reg:logistic": "rmse",
    "binary:logistic": "logloss",
    "binary:logitraw": "logloss",
    "binary:hinge": "error",
    "multi:softmax": "mlogloss",
    "multi:softprob": "mlogloss",
    "count:poisson": "poisson-nloglik",
    "reg:gamma": "gamma-deviance",
    "reg:tweedie": "tweedie-nloglik",
    "rank:ndcg": "ndcg",
    "rank:pairwise": "ndcg",
    "rank:map": "map",
}
_OBJECTIVES = [  # a metric, and the objectives judged by it
    "l2 regression regression_l2 l2 mean_squared_error mse l2_root root_mean_squared_error rmse",
    "l1 regression_l1 l1 mean_absolute_error mae",
    "mape mape mean_absolute_percentage_error",
    "binary_logloss binary",
    "multi_logloss multiclass softmax multiclassova multiclass_ova ova ovr",
    "cross_entropy cross_entropy xentropy",
    "ndcg lambdarank rank_xendcg xendcg xe_ndcg xe_ndcg_mart xendcg_mart",
    *(f"{name} {name}" for name in ("huber", "fair", "poisson", "quantile", "gamma", "tweedie")),
]
_LIGHTGBM_DEFAULT = {name: line.split()[0] for line in _OBJECTIVES for name in line.split()[1:]}


def _settings(dialect: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return every setting of a dialect: what was given, checked, or its default."""
    if dialect not in _SETTINGS:
        raise ParameterError(f"dialect must be 'xgboost' or 'lightgbm', got {dialect!r}")
    known = _SETTINGS[dialect]
    found = {name: default for name, (_, default) in known.items()}
    for asked, value in given.items():
        name = "eval_at" if dialect == "lightgbm" and asked in _PLACES_TOO else asked
        if name not in known:
            raise ParameterError(
                f"metrics of {dialect} have no parameter {asked!r}{did_you_mean(asked, known)}: "
                f"they have {', '.join(known)}"
            )
        if value is None:
            continue
        if not known[name][0].allows(value):
            raise ParameterError(f"{asked} must be {known[name][0].phrase}, got {value!r}")
        found[name] = value
    return found


def _mean_of(loss: Callable, **settings: Any) -> Measure:
    return partial(rows.mean_loss, loss=partial(loss, **settings))


def _listed(measure: Callable, settings: Mapping[str, Any], **more: Any) -> Measure:
    return partial(measure, k=settings["k"], empty=settings["empty"], **more)


def _doubling_or_label(settings: Mapping[str, Any]) -> tuple[float, ...] | None:
    return _DOUBLING if settings["ndcg_exp_gain"] else None


def _gain_by_label(settings: Mapping[str, Any]) -> tuple[float, ...]:
    gains = settings["label_gain"]
    return _DOUBLING if gains is None else tuple(float(g) for g in np.atleast_1d(gains))


# From settings to what is measured. Besides those above, "at", "k" and "empty" come from the name.
_XGBOOST: dict[str, Callable[[Mapping[str, Any]], Measure]] = {
    "rmse": lambda s: partial(rows.root_mean, loss=rows.squared),
    "rmsle": lambda s: partial(rows.root_mean, loss=rows.squared_log),
    "mae": lambda s: _mean_of(rows.absolute),
    "mape": lambda s: _mean_of(rows.relative, least=0.0),
    "mphe": lambda s: _mean_of(rows.pseudo_huber, slope=s["huber_slope"]),
    "quantile": lambda s: partial(rows.quantiles, alphas=tuple(np.atleast_1d(s["quantile_alpha"]))),
    "logloss": lambda s: _mean_of(rows.log_loss, least=1e-16),
    "error": lambda s: _mean_of(rows.mistaken, threshold=s["at"]),
    "merror": lambda s: rows.class_error,
    "mlogloss": lambda s: partial(rows.class_log_loss, least=1e-16),
    "poisson-nloglik": lambda s: rows.poisson_likelihood,
    "gamma-nloglik": lambda s: _mean_of(rows.gamma, least=1e-6),
    "gamma-deviance": lambda s: _mean_of(rows.gamma_deviance, shift=(1e-6, 1e-6)),
    "tweedie-nloglik": lambda s: _mean_of(rows.tweedie, power=s["at"], least=0.0),
    "auc": lambda s: ranking.area_under_roc,
    "aucpr": lambda s: ranking.area_under_pr,
    "pre": lambda s: partial(ranking.precision_at, k=s["k"]),
    "ndcg": lambda s: _listed(ranking.mean_ndcg, s, gains=_doubling_or_label(s)),
    "map": lambda s: _listed(ranking.mean_average_precision, s, binary=True),
}
_LIGHTGBM: dict[str, Callable[[Mapping[str, Any]], Measure]] = {
    "l1": lambda s: _mean_of(rows.absolute),
    "l2": lambda s: _mean_of(rows.squared),
    "rmse": lambda s: partial(rows.root_mean, loss=rows.squared),
    "r2": lambda s: rows.r2,
    "quantile": lambda s: _mean_of(rows.pinball, alpha=s["alpha"]),
    "mape": lambda s: _mean_of(rows.relative, least=1.0),
    "huber": lambda s: _mean_of(rows.huber, alpha=s["alpha"]),
    "fair": lambda s: _mean_of(rows.fair, c=s["fair_c"]),
    "poisson": lambda s: _mean_of(rows.poisson, least=1e-10),
    "gamma": lambda s: _mean_of(rows.gamma, least=0.0),
    "gamma_deviance": lambda s: partial(
        rows.sum_loss, loss=partial(rows.gamma_deviance, shift=(0.0, 1e-9))
    ),
    "tweedie": lambda s: _mean_of(rows.tweedie, power=s["tweedie_variance_power"], least=1e-10),
    "binary_logloss": lambda s: partial(rows.binary_mean, loss=partial(rows.log_loss, least=1e-15)),
    "binary_error": lambda s: partial(rows.binary_mean, loss=partial(rows.mistaken, threshold=0.5)),
    "multi_logloss": lambda s: partial(rows.class_log_loss, least=1e-15),
    "multi_error": lambda s: partial(rows.top_error, k=s["k"]),
    "cross_entropy": lambda s: _mean_of(rows.log_loss, least=1e-12),
    "kullback_leibler": lambda s: rows.divergence,
    "auc": lambda s: partial(ranking.binary_area, of_curve=ranking.roc_auc),
    "average_precision": lambda s: partial(ranking.binary_area, of_curve=ranking.average_precision),
    "ndcg": lambda s: _listed(ranking.mean_ndcg, s, gains=_gain_by_label(s)),
    "map": lambda s: _listed(ranking.mean_average_precision, s, binary=False),
}
_LARGER = {"auc", "aucpr", "average_precision", "pre", "ndcg", "map", "r2"}


def find_metric(name: str, dialect: Dialect, **parameters: Any) -> Metric:
    """Return the metric of a name.

    Parameters
    ----------
    name : str
        A name of the dialect, such as ``"logloss"``, ``"error@0.7"``, ``"ndcg@5"``; in LightGBM's
        also any of its aliases. A name as printed finds the metric again. XGBoost's ``ndcg``,
        ``map`` and ``pre`` without a number look at the first 32 rows of a list, as they do there.
    dialect : {"xgboost", "lightgbm"}
    **parameters
        What the metrics depend on, by the peer's names: ``huber_slope``, ``quantile_alpha``,
        ``tweedie_variance_power``, ``ndcg_exp_gain`` (XGBoost); ``alpha``, ``fair_c``,
        ``tweedie_variance_power``, ``eval_at``, ``label_gain``, ``multi_error_top_k`` (LightGBM).
        Those a metric does not depend on change nothing; None is the default.

    Examples
    --------
    >>> find_metric("error@0.7", "xgboost").evaluate([1, 1, 0, 0], [0.9, 0.6, 0.6, 0.1])
    0.25
    >>> find_metric("mse", "lightgbm")
    Metric(name='l2', larger_is_better=False)
    """
    found = find_metrics([name], dialect, **parameters)
    if len(found) != 1:
        names = ", ".join(metric.name for metric in found) or "no metric"
        raise ParameterError(f"{name!r} stands for {names}: find_metrics returns them all")
    return found[0]


def find_metrics(names: str | Sequence[str], dialect: Dialect, **parameters: Any) -> list[Metric]:
    """Return the metrics of some names, each once.

    Parameters
    ----------
    names : str or list of str
        As for `find_metric`. LightGBM's may stand in one string (``"l1,l2"``) and be ``"None"`` for no
        metric; its ``"ndcg"`` and ``"map"`` are one metric for each of ``eval_at``.
    dialect, **parameters
        As for `find_metric`.

    Examples
    --------
    >>> [metric.name for metric in find_metrics("auc,ndcg", "lightgbm", eval_at=[1, 3])]
    ['auc', 'ndcg@1', 'ndcg@3']
    """
    settings = _settings(dialect, parameters)
    names = [names] if isinstance(names, str) else names
    if dialect == "lightgbm":
        names = [word.strip().lower() for name in names for word in str(name).split(",")]
        read, table = _read_lightgbm, _LIGHTGBM
    else:
        read, table = _read_xgboost, _XGBOOST
    found: dict[str, Metric] = {}
    for name in names:
        for stem, printed, more in read(name, settings):
            measure = table[stem]({**settings, **more})
            found.setdefault(printed, Metric(printed, stem in _LARGER, measure))
    return list(found.values())


Reading = tuple[str, str, dict[str, Any]]  # the name in the table, the name printed, what it sets


def _read_xgboost(name: Any, settings: Mapping[str, Any]) -> list[Reading]:
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
    if name not in _XGBOOST:
        raise _unknown(name, "metric", "xgboost", _XGBOOST)
    if name == "quantile" and settings["quantile_alpha"] is None:
        raise ParameterError("the metric 'quantile' needs quantile_alpha: say which quantiles")
    return [(name, name, {})]


def _number(name: str, text: str, default: float) -> float:
    if "@" not in name:
        return default
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"metric {name!r}: a number must follow the @") from None


def _read_lightgbm(name: str, settings: Mapping[str, Any]) -> list[Reading]:
    if name in _NO_METRIC:
        return []
    stem, at, after = name.partition("@")
    stem = _PRINTED.get(stem, stem)
    takes_places = stem in ("ndcg", "map", "multi_error")
    if stem not in _LIGHTGBM or (at and not (takes_places and after.isdigit() and int(after))):
        raise _unknown(name, "metric", "lightgbm", {*_LIGHTGBM, *_PRINTED})
    if stem == "quantile" and settings["alpha"] >= 1:
        raise ParameterError(f"alpha of quantile must be below 1, got {settings['alpha']}")
    if not takes_places:
        return [(stem, stem, {})]
    if stem == "multi_error":
        k = int(after) if at else settings["multi_error_top_k"]
        return [(stem, stem if k == 1 else f"{stem}@{k}", {"k": k})]
    places = [int(after)] if at else _places(settings["eval_at"]) or []
    return [(stem, f"{stem}@{k}", {"k": k, "empty": 1.0}) for k in places]


def _unknown(name: Any, what: str, dialect: str, known: Iterable[str]) -> ParameterError:
    return ParameterError(
        f"no {what} of {dialect} is called {name!r}{did_you_mean(name, known)}: "
        f"there are {', '.join(sorted(known))}"
    )


def default_metric(objective: str, dialect: Dialect, **parameters: Any) -> str:
    """Return the name of the metric an objective is judged by unless another is asked for.

    Parameters
    ----------
    objective : str
        A name of the dialect.
    dialect, **parameters
        As for `find_metric`; XGBoost's lists are cut where ``lambdarank_num_pair_per_sample`` (32) cuts
        them, unless ``lambdarank_pair_method`` is ``"mean"``.

    Examples
    --------
    >>> default_metric("binary:logistic", "xgboost"), default_metric("multiclass", "lightgbm")
    ('logloss', 'multi_logloss')
    >>> default_metric("rank:ndcg", "xgboost", lambdarank_num_pair_per_sample=8)
    'ndcg@8'
    """
    settings = _settings(dialect, parameters)
    known = _XGBOOST_DEFAULT if dialect == "xgboost" else _LIGHTGBM_DEFAULT
    if objective not in known:
        raise _unknown(objective, "objective", dialect, known)
    metric = known[objective]
    if objective == "reg:tweedie":
        return f"{metric}@{settings['tweedie_variance_power']:g}"
    if objective.startswith("rank:") and settings["lambdarank_pair_method"] == "topk":
        return f"{metric}@{settings['lambdarank_num_pair_per_sample']}"
    return metric
