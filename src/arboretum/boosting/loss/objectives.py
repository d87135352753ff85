"""Objectives, under the names XGBoost and LightGBM give them.

    find_objective("binary:logistic", "xgboost", scale_pos_weight=3.0)
    find_objective("multiclass", "lightgbm", n_classes=4)
    find_objective(my_function, "lightgbm")

A name is looked up in a *dialect*, because the programs differ under similar names: in where margins
start, in the curvature of several classes (XGBoost 2 p (1 - p), LightGBM K / (K - 1) p (1 - p)), in how a
quantile is taken. What an objective offers to boosting is described in `objective_base`.

Left out: Cox and AFT survival, LightGBM's cross_entropy_lambda and rank_xendcg, XGBoost's
lambdarank_unbiased. LightGBM's reg_sqrt is left to the user: fit on the root, square the predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from arboretum.base.parameters import Rule, flag, integer, one_of, real
from arboretum.boosting.loss.links import Link
from arboretum.boosting.loss.objective_base import Objective
from arboretum.boosting.loss.ranking_objectives import RankingObjective
from arboretum.boosting.loss.row_objectives import (
    LogisticObjective,
    OneAgainstRest,
    QuantileObjective,
    RowObjective,
    SoftmaxObjective,
)
from arboretum.boosting.loss.user_objectives import UserObjective, user_objective
from arboretum.data.checks import did_you_mean
from arboretum.errors import ModelFileError, ParameterError

__all__ = ["Objective", "find_objective", "objective_from_state"]

Dialect = Literal["xgboost", "lightgbm"]
Make = Callable[[dict[str, Any], dict[str, Any]], Objective]  # from what all have, and settings


# ---------------------------------------------------------------------- settings
def _list_of(rule: Rule) -> Rule:
    """Return the rule of a number, or a list of them."""

    def allows(value: Any) -> bool:
        values = np.atleast_1d(np.asarray(value, object))
        return values.ndim == 1 and len(values) > 0 and all(rule.allows(v) for v in values)

    return Rule(f"{rule.phrase}, or a list of them", allows)


_POSITIVE = real(0, open_low=True)
_POWER = real(1, 2, open_high=True)
_LEVEL = real(0, 1, open_low=True, open_high=True)
_NOT_UNBIASED = Rule(
    "False: learning from biased clicks is not part of arboretum", lambda v: v is False
)
# What may be set: the rule of its value, and its default
_SETTINGS: dict[str, dict[str, tuple[Rule, Any]]] = {
    "xgboost": {
        "scale_pos_weight": (_POSITIVE, 1.0),
        "huber_slope": (_POSITIVE, 1.0),
        "quantile_alpha": (_list_of(_LEVEL), None),
        "tweedie_variance_power": (_POWER, 1.5),
        "max_delta_step": (real(0), None),
        "lambdarank_pair_method": (one_of("topk", "mean"), "topk"),
        "lambdarank_num_pair_per_sample": (integer(1), None),
        "lambdarank_normalization": (flag, True),
        "lambdarank_score_normalization": (flag, True),
        "lambdarank_unbiased": (_NOT_UNBIASED, False),
        "ndcg_exp_gain": (flag, True),
        "seed": (integer(0, 2**32 - 1), 0),
    },
    "lightgbm": {
        "alpha": (_POSITIVE, 0.9),
        "fair_c": (_POSITIVE, 1.0),
        "poisson_max_delta_step": (_POSITIVE, 0.7),
        "tweedie_variance_power": (_POWER, 1.5),
        "sigmoid": (_POSITIVE, 1.0),
        "scale_pos_weight": (_POSITIVE, 1.0),
        "is_unbalance": (flag, False),
        "label_gain": (_list_of(real(0)), None),
        "lambdarank_truncation_level": (integer(1), 30),
        "lambdarank_norm": (flag, True),
    },
}
_WITH_CLASS_WEIGHTS = frozenset(
    ["reg:logistic", "binary:logistic", "binary:logitraw", "binary", "multiclassova"]
)
_DOUBLING = tuple(2.0**label - 1.0 for label in range(32))


def _settings(dialect: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return every setting of a dialect: what was given, checked, or its default."""
    if dialect not in _SETTINGS:
        raise ParameterError(f"dialect must be 'xgboost' or 'lightgbm', got {dialect!r}")
    known = _SETTINGS[dialect]
    found = {name: default for name, (_, default) in known.items()}
    for name, value in given.items():
        if name not in known:
            raise ParameterError(
                f"objectives of {dialect} have no parameter {name!r}{did_you_mean(name, known)}: "
                f"they have {', '.join(known)}"
            )
        if value is None:
            continue
        if not known[name][0].allows(value):
            raise ParameterError(f"{name} must be {known[name][0].phrase}, got {value!r}")
        found[name] = value
    return found


# ---------------------------------------------------------------------- making them
def _row(kernel: str, *names: str, **parts: Any) -> Make:
    """Return how to make a row objective whose kernel takes some settings by name."""

    def make(base: dict[str, Any], s: dict[str, Any]) -> Objective:
        values = tuple(float(s[name]) for name in names)
        return RowObjective(**base, kernel=kernel, settings=(values,), **parts)

    return make


def _linear(kernel: str, level: str | None = None, **parts: Any) -> Make:
    """Return how to make an objective of straight lines; ``level`` is the setting with quantiles."""

    def make(base: dict[str, Any], s: dict[str, Any]) -> Objective:
        levels = (0.5,) if level is None else tuple(float(v) for v in np.atleast_1d(s[level]))
        settings = tuple((v,) if level else () for v in levels)
        base = base | {"n_outputs": len(levels), "constant_hessian": True}
        return QuantileObjective(**base, kernel=kernel, settings=settings, levels=levels, **parts)

    return make


def _logistic(domain: str, link: str = "logit", *, least: float = 1e-16) -> Make:
    """Return how to make a log loss with weights of its two classes."""

    def make(base: dict[str, Any], s: dict[str, Any]) -> Objective:
        sigma = float(s.get("sigmoid", 1.0))
        # The best constant of weighed classes is no mean of labels: XGBoost steps towards it
        stepping = base["dialect"] == "xgboost" and s["scale_pos_weight"] != 1
        return LogisticObjective(
            **base,
            kernel="logistic",
            settings=((sigma, 1.0, float(s["scale_pos_weight"]), least),),
            domain=domain,
            link=Link(link, sigma),
            begin="newton" if stepping else "mean",
            balanced=bool(s.get("is_unbalance", False)),
        )

    return make


def _cross_entropy(base: dict[str, Any], s: dict[str, Any]) -> Objective:
    return _logistic("share", least=0.0)(base, s | {"sigmoid": 1.0})


def _one_against_rest(base: dict[str, Any], s: dict[str, Any]) -> Objective:
    sigma = float(s["sigmoid"])
    each = (sigma, 1.0, float(s["scale_pos_weight"]), 0.0)
    return OneAgainstRest(
        **base,
        kernel="logistic",
        settings=(each,) * base["n_outputs"],
        link=Link("logit", sigma),
        balanced=s["is_unbalance"],
    )


def _softmax(base: dict[str, Any], s: dict[str, Any]) -> Objective:
    k = base["n_outputs"]
    if base["dialect"] == "xgboost":
        return SoftmaxObjective(**base, factor=2.0, least=1e-16)
    return SoftmaxObjective(**base, factor=k / (k - 1.0), least=0.0)


def _counts(base: dict[str, Any], s: dict[str, Any]) -> Objective:
    """Poisson; XGBoost's limit of 0.7 is also one of the leaves, LightGBM's is not."""
    ours = base["dialect"] == "xgboost"
    step = s["max_delta_step" if ours else "poisson_max_delta_step"]
    step = 0.7 if step is None else float(step)
    return RowObjective(
        **base | {"max_delta_step": step if ours else 0.0},
        kernel="poisson",
        settings=((step,),),
        domain="0 or more",
        link=Link("log"),
    )


def _xgboost_ranking(figure: str) -> Make:
    """Return how to make XGBoost's LambdaMART for a figure."""

    def make(base: dict[str, Any], s: dict[str, Any]) -> Objective:
        top = s["lambdarank_pair_method"] == "topk"
        pairs = s["lambdarank_num_pair_per_sample"] or (32 if top else 1)
        return RankingObjective(
            **base,
            figure=figure,
            top=pairs if top else 0,
            drawn=1 if top else pairs,
            seed=int(s["seed"]),
            gains=_DOUBLING if figure == "ndcg" and s["ndcg_exp_gain"] else None,
            factor=2.0,
            least=1e-16,
            by_score=s["lambdarank_score_normalization"],
            by_sum=s["lambdarank_normalization"],
        )

    return make


def _lightgbm_ranking(base: dict[str, Any], s: dict[str, Any]) -> Objective:
    given = s["label_gain"]
    return RankingObjective(
        **base,
        top=s["lambdarank_truncation_level"],
        gains=_DOUBLING if given is None else tuple(float(v) for v in np.atleast_1d(given)),
        sigma=float(s["sigmoid"]),
        by_score=s["lambdarank_norm"],
        by_sum=s["lambdarank_norm"],
    )


_LOG = Link("log")
_XGBOOST: dict[str, Make] = {
    "reg:squarederror": _row("squared"),
    "reg:squaredlogerror": _row("squared_log", domain="above -1", begin="newton"),
    "reg:absoluteerror": _linear("absolute"),
    "reg:pseudohubererror": _row("pseudo_huber", "huber_slope", begin="newton"),
    "reg:quantileerror": _linear("pinball", "quantile_alpha"),
    "reg:logistic": _logistic("share"),
    "binary:logistic": _logistic("binary"),
    "binary:logitraw": _logistic("binary", "identity"),  # even its base_score is a margin
    "binary:hinge": _row("hinge", domain="binary", link=Link("step"), begin="zero"),
    "multi:softmax": _softmax,
    "multi:softprob": _softmax,
    "count:poisson": _counts,
    "reg:gamma": _row("gamma", domain="0 or more", link=_LOG),
    "reg:tweedie": _row("tweedie", "tweedie_variance_power", domain="0 or more", link=_LOG),
    "rank:ndcg": _xgboost_ranking("ndcg"),
    "rank:map": _xgboost_ranking("map"),
    "rank:pairwise": _xgboost_ranking("pairwise"),
}
_LIGHTGBM: dict[str, Make] = {
    "regression": _row("squared"),
    "regression_l1": _linear("absolute"),
    "huber": _row("huber", "alpha"),
    "fair": _row("fair", "fair_c"),
    "poisson": _counts,
    "quantile": _linear("pinball", "alpha"),
    "mape": _linear("relative", relative=True),
    "gamma": _row("gamma", domain="0 or more", link=_LOG),
    "tweedie": _row("tweedie", "tweedie_variance_power", domain="0 or more", link=_LOG),
    "binary": _logistic("binary", least=0.0),
    "multiclass": _softmax,
    "multiclassova": _one_against_rest,
    "cross_entropy": _cross_entropy,
    "lambdarank": _lightgbm_ranking,
}
_SYNONYMS = [
    "regression regression_l2 l2 mean_squared_error mse l2_root root_mean_squared_error rmse",
    "regression_l1 l1 mean_absolute_error mae",
    "mape mean_absolute_percentage_error",
    "multiclass softmax",
    "multiclassova multiclass_ova ova ovr",
    "cross_entropy xentropy",
]
_CANONICAL = {name: line.split()[0] for line in _SYNONYMS for name in line.split()}
_CONSTANT = {"reg:squarederror", "regression", "huber"}
_SEVERAL = {"multi:softmax", "multi:softprob", "multiclass", "multiclassova"}


# ---------------------------------------------------------------------- finding them
def find_objective(
    objective: str | Callable[..., Any],
    dialect: Dialect,
    n_classes: int | None = None,
    **parameters: Any,
) -> Objective:
    """Return the objective of a name, or of a user's function.

    Parameters
    ----------
    objective : str or callable
        A name of the dialect (in LightGBM's also any of its aliases), or a function from labels and
        margins to gradients and hessians: see `user_objectives`.
    dialect : {"xgboost", "lightgbm"}
    n_classes : int, optional
        How many classes there are; needed by objectives of several classes.
    **parameters
        What objectives depend on, by the peer's names. ``scale_pos_weight``, ``huber_slope``,
        ``quantile_alpha``, ``tweedie_variance_power``, ``max_delta_step``, ``ndcg_exp_gain``,
        ``lambdarank_pair_method``, ``lambdarank_num_pair_per_sample``, ``lambdarank_normalization``,
        ``lambdarank_score_normalization``, ``seed`` (XGBoost); ``alpha``, ``fair_c``,
        ``poisson_max_delta_step``, ``tweedie_variance_power``, ``sigmoid``, ``scale_pos_weight``,
        ``is_unbalance``, ``label_gain``, ``lambdarank_truncation_level``, ``lambdarank_norm``
        (LightGBM). Those an objective does not depend on change nothing, but weights of classes are
        refused where there are none; None is the default.

    Examples
    --------
    >>> import numpy as np
    >>> logistic = find_objective("binary:logistic", "xgboost")
    >>> g, h = np.empty((1, 2), np.float32), np.empty((1, 2), np.float32)
    >>> logistic.derivatives(np.array([0.0, 1.0]), np.zeros((2, 1)), None, g, h)
    >>> g.tolist(), h.tolist()
    ([[0.5, -0.5]], [[0.25, 0.25]])
    """
    settings = _settings(dialect, parameters)
    if n_classes is not None and not integer(1).allows(n_classes):
        raise ParameterError(f"n_classes must be {integer(1).phrase}, got {n_classes!r}")
    if callable(objective):
        return user_objective(objective, dialect, n_classes)
    if not isinstance(objective, str):
        raise ParameterError(f"objective must be a name or a function, got {objective!r}")
    name = _CANONICAL.get(objective, objective) if dialect == "lightgbm" else objective
    makers = _XGBOOST if dialect == "xgboost" else _LIGHTGBM
    if name not in makers:
        raise _unknown(objective, dialect, makers)
    _refuse_unfit(objective, name, n_classes, settings)
    base = {
        "name": objective,
        "dialect": dialect,
        "n_outputs": n_classes if name in _SEVERAL else 1,
        "n_classes": n_classes,
        "parameters": {key: value for key, value in parameters.items() if value is not None},
        "constant_hessian": name in _CONSTANT,
    }
    return makers[name](base, settings)


def _unknown(objective: str, dialect: str, makers: Mapping[str, Any]) -> ParameterError:
    names = {*makers, *(_CANONICAL if dialect == "lightgbm" else ())}
    other = _LIGHTGBM.keys() | _CANONICAL if dialect == "xgboost" else _XGBOOST
    elsewhere = ", which is a name of the other program" if objective in other else ""
    return ParameterError(
        f"no objective of {dialect} is called {objective!r}{elsewhere}"
        f"{did_you_mean(objective, names)}: there are {', '.join(sorted(names))}, or give a function"
    )


def _refuse_unfit(
    objective: str, name: str, n_classes: int | None, settings: Mapping[str, Any]
) -> None:
    """Raise if an objective and the classes or settings do not belong together."""
    if name in _SEVERAL and (n_classes is None or n_classes < 2):
        raise ParameterError(f"objective {objective!r} needs n_classes of 2 or more: {n_classes}")
    if name.startswith("binary") and n_classes is not None and n_classes > 2:
        several = "'multi:softprob'" if ":" in name else "'multiclass'"
        raise ParameterError(
            f"objective {objective!r} is for two classes, there are {n_classes}: use {several}"
        )
    balanced, weighed = settings.get("is_unbalance", False), settings["scale_pos_weight"] != 1
    if balanced and weighed:
        raise ParameterError("give is_unbalance or scale_pos_weight, not both")
    if (balanced or weighed) and name not in _WITH_CLASS_WEIGHTS:
        raise ParameterError(
            f"{'is_unbalance' if balanced else 'scale_pos_weight'} has no effect on objective "
            f"{objective!r}: weigh rows by sample_weight"
        )
    if name == "reg:quantileerror" and settings["quantile_alpha"] is None:
        raise ParameterError(f"objective {objective!r} needs quantile_alpha: say which quantiles")
    if name == "quantile" and settings["alpha"] >= 1:
        raise ParameterError(f"alpha of quantile must be below 1, got {settings['alpha']}")


def objective_from_state(state: Mapping[str, Any]) -> Objective:
    """Return the objective that `Objective.to_state` described; a ModelFileError if there is none.

    Examples
    --------
    >>> objective_from_state(find_objective("poisson", "lightgbm").to_state()).predict(np.zeros((1, 1)))
    array([1.])
    """
    try:
        if "function" in state:
            return _lost_function(state)
        given = dict(state["parameters"])
        return find_objective(state["name"], state["dialect"], state["n_classes"], **given)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"the model holds no objective known here: {error}") from error


def _lost_function(state: Mapping[str, Any]) -> UserObjective:
    """Return a user's objective without its function."""
    n_outputs, n_classes = state["n_outputs"], state["n_classes"]
    good = isinstance(state["name"], str) and state["dialect"] in _SETTINGS
    if not good or not all(integer(1).allows(n) for n in (n_outputs, n_classes or 1)):
        raise ValueError("its name, dialect or outputs make no sense")
    return UserObjective(state["name"], state["dialect"], n_outputs, n_classes)
