"""From XGBoost's parameters and a learned table to the recipe of the booster."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.callbacks.watching import Measure, MetricValue, measure_by
from arboretum.boosting.loss.user import UserObjective
from arboretum.boosting.metric.evaluation_set import EvaluationSet
from arboretum.boosting.names.xgboost import XGBOOST
from arboretum.boosting.second_order.constraints import interaction_groups, monotone_signs
from arboretum.boosting.second_order.dart import Dart
from arboretum.boosting.second_order.recipe import MANY, NO_RULES, BoostPlan, Recipe
from arboretum.boosting.second_order.tables import Draws, Histograms, PresortedColumns, Sketches
from arboretum.boosting.xgboost.parameters import DEFAULTS
from arboretum.data.checks import warn_caller
from arboretum.engine.elementwise import probability
from arboretum.engine.keys import key_of
from arboretum.engine.second_order.score import SplitRules
from arboretum.errors import DataError, ParameterError

if TYPE_CHECKING:
    from arboretum.boosting.loss.objective import Objective
    from arboretum.boosting.second_order.recipe import TrainingTable
    from arboretum.boosting.second_order.tables import TableMaker
    from arboretum.boosting.xgboost.model import XGBModel
    from arboretum.data.schema import Schema

__all__ = ["evaluated", "is_raw", "make_recipe", "value"]

_TINY = 100  # rows
_INSTEAD = {1: "reg:squarederror", 2: "binary:logistic", 3: "multi:softprob"}  # by classes


def make_recipe(
    model: XGBModel,
    training: TrainingTable,
    seed: int,
    n_jobs: int,
    *,
    evaluates: bool,
    column_weights: np.ndarray | None = None,
) -> Recipe:
    """Return the recipe; it has metrics only if there are evaluation tables, or metrics are named."""
    objective = XGBOOST.find_objective(
        _objective_name(model, training.n_classes), training.n_classes,
        **{**XGBOOST.settings_of(model, "objectives"), "seed": seed % 2**32},
    )  # fmt: skip
    if training.y.ndim > 1:
        objective = objective.for_targets(training.y.shape[1])
    plan = make_plan(model, objective, training.schema, seed, n_jobs)
    return Recipe(
        objective,
        plan,
        _table_maker(model, training, seed),
        Draws(
            [key_of(seed, 0, 0, twin) for twin in range(plan.n_parallel)],
            np.arange(training.schema.n_features, dtype=np.int64),
            column_weights=_checked_weights(model, column_weights, training.schema.n_features),
        ),
        model.get_num_boosting_rounds(),
        _start(model, objective),
        _metrics(model, objective) if evaluates or model.eval_metric is not None else (),
    )


# ---------------------------------------------------------------------- the objective
def _objective_name(model: XGBModel, n_classes: int | None) -> str | Callable[..., Any]:
    """Return the name of the objective; raise if it does not fit the kind of estimator."""
    name = model.objective or model.usual_objective
    if callable(name) and model.target != "orders":
        return name
    known = "" if callable(name) else XGBOOST.predicts(name)
    if model.target == "orders" and known != "orders":
        raise ParameterError(f"XGBRanker takes objectives named rank:…, got {name!r}")
    others = {"classes": "XGBClassifier", "orders": "XGBRanker"}
    if model.target == "numbers" and known in others:
        raise ParameterError(f"objective {name!r} is for {known}: use {others[known]}")
    if model.target == "classes" and known not in ("classes", "two classes"):
        raise ParameterError(
            f"objective {name!r} does not predict classes: XGBClassifier takes 'binary:logistic', "
            "'binary:logitraw', 'binary:hinge', 'multi:softprob', 'multi:softmax' or a function"
        )
    several = name == "binary:logistic" and (n_classes or 2) > 2
    return "multi:softprob" if several else name


def is_raw(objective: Objective) -> bool:
    """Return True if predictions are margins (log odds) of probabilities."""
    return objective.name == "binary:logitraw"


def _start(model: XGBModel, objective: Objective) -> np.ndarray | None:
    """Return the margins of ``base_score``."""
    if model.base_score is None:
        return None
    try:
        given = np.atleast_1d(np.asarray(model.base_score, np.float64))
    except (TypeError, ValueError):
        raise ParameterError(f"base_score must hold numbers, got {model.base_score!r}") from None
    if given.shape not in ((1,), (objective.n_outputs,)):
        raise ParameterError(
            f"base_score has {given.size} numbers, the model {objective.n_outputs} outputs: give one, "
            "or one for each"
        )
    margins = [objective.margin_of(float(score)) for score in given]
    return np.array(np.broadcast_to(margins, objective.n_outputs))


def _checked_weights(model: XGBModel, weights: Any, n_features: int) -> np.ndarray | None:
    """Return ``feature_weights``, one per column."""
    if weights is None:
        return None
    try:
        found = np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        raise ParameterError("feature_weights must hold numbers") from None
    if found.shape != (n_features,) or not (np.isfinite(found) & (found >= 0)).all():
        raise ParameterError(
            f"feature_weights must hold a finite number of 0 or more for each of the {n_features} columns, "
            f"got an array of shape {found.shape}"
        )
    if value(model, "colsample_bylevel") < 1 or value(model, "colsample_bynode") < 1:
        raise ParameterError(
            "feature_weights are the weights of the columns drawn for a tree: set colsample_bytree, not "
            "colsample_bylevel or colsample_bynode"
        )
    return found


# ---------------------------------------------------------------------- metrics
def evaluated(
    model: XGBModel, X: Any, y: Any, weight: Any, groups: Any, base_margin: Any = None
) -> list[MetricValue]:
    """Return the metrics of a fitted model for a table."""
    margin = model._margin(X, *model._range(None), base_margin)
    truth = EvaluationSet(model._labels(y, len(margin)), weight, groups)
    given = truth, model._objective.predict(margin), margin
    return [one for measure in _metrics(model, model._objective) for one in measure(*given)]


def _metrics(model: XGBModel, objective: Objective) -> list[Measure]:
    """Return the metrics requested by name, else that of the objective, and then the functions."""
    settings, given = XGBOOST.settings_of(model, "metrics"), model.eval_metric
    requested = list(given) if isinstance(given, list | tuple) else [given]
    named = [one for one in requested if one is not None and not callable(one)]
    if not named:
        name = objective.name
        if isinstance(objective, UserObjective):  # evaluated like the one it replaces
            name = _INSTEAD[min(objective.n_classes or 1, 3)]
        named = [XGBOOST.default_metric(name, **settings)]
    by_name = [measure_by(XGBOOST.find_metrics(one, **settings)) for one in named]
    if is_raw(objective):
        by_name = [_of_probabilities(one) for one in by_name]
    return by_name + [_of_function(one, objective) for one in requested if callable(one)]


def _of_function(function: Callable[..., Any], objective: Objective) -> Measure:
    """Return the measure of a user's function of (y, prediction); smaller is better.

    As in XGBoost it gets ``sample_weight=`` if the table has weights, labels instead of probabilities from
    ``multi:softmax``, and the margins behind an objective of the user's own. For ranking it gets one group
    at a time; the values are averaged, and a group of one row counts as 1.
    """
    name = getattr(function, "__name__", type(function).__name__)
    takes_weight, has_warned = _takes_weight(function), False

    def measure(
        truth: EvaluationSet, prediction: np.ndarray, margin: np.ndarray
    ) -> list[MetricValue]:
        nonlocal has_warned
        if isinstance(objective, UserObjective):
            prediction = margin[:, 0] if objective.n_outputs == 1 else margin
        elif objective.name == "multi:softmax":
            prediction = prediction.argmax(axis=1).astype(np.float64)
        if truth.grouped:
            value = _mean_of_groups(function, truth, prediction)
            return [MetricValue(name, value, False)]
        weighs = truth.weight is not None
        if weighs and not takes_weight and not has_warned:
            has_warned = True
            warn_caller(
                f"the metric {name!r} takes no sample_weight, so it weights all rows equally: let it take "
                "(y, prediction, sample_weight=None)"
            )
        how = {"sample_weight": truth.row_weight} if weighs and takes_weight else {}
        value = function(truth.table, prediction, **how)
        try:
            return [MetricValue(name, float(value), False)]
        except (TypeError, ValueError):
            raise DataError(f"the metric {name!r} must return a number, got {value!r}") from None

    return measure


def _mean_of_groups(
    function: Callable[..., Any], truth: EvaluationSet, prediction: np.ndarray
) -> float:
    ends = np.cumsum(truth.queries.sizes)[:-1]
    each = zip(np.split(truth.y, ends), np.split(prediction, ends), strict=True)
    values = [1.0 if len(y) == 1 else float(function(y, scores)) for y, scores in each]
    return float(np.average(values, weights=truth.group_weight))


def _takes_weight(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind(0, 0, sample_weight=0)
    except (TypeError, ValueError):  # ValueError: a builtin without a signature
        return False
    return True


def _of_probabilities(measure: Measure) -> Measure:
    """Return a measure that gets the probabilities of raw margins."""

    def raw(truth: EvaluationSet, prediction: np.ndarray, margin: np.ndarray) -> list[MetricValue]:
        return measure(truth, probability(prediction), margin)

    return raw


# ---------------------------------------------------------------------- the plan
def _table_maker(model: XGBModel, training: TrainingTable, seed: int) -> TableMaker:
    """Return the maker of the table in which splits are searched.

    With "auto", tiny tables are searched exactly. Each of their values has a bin of its own, so the
    splits are those of "hist", but many of them have equal gains, and sums of 16 bits would choose among
    them by chance.
    """
    method, max_bin = value(model, "tree_method"), int(value(model, "max_bin"))
    words = [one.name for one in training.schema.columns if one.kind == "categorical"]
    by_leaf = value(model, "grow_policy") == "lossguide" or value(model, "max_leaves")
    n, symmetric = len(training.y), value(model, "grow_policy") == "symmetric"
    if method == "auto":
        plain = not words and not by_leaf and not symmetric and value(model, "gamma") == 0
        method = "exact" if plain and n <= min(_TINY, max_bin) else "hist"
    if method != "approx" and model.sketch_eps is not None:
        raise ParameterError("sketch_eps is the error of a sketch: it needs tree_method='approx'")
    if method == "hist":
        return Histograms(max_bin, seed=seed, min_data_in_bin=1, weighted=True, bundle=True)
    if method == "approx":
        return _sketches(model, max_bin, by_leaf=bool(by_leaf))
    if words:
        raise ParameterError(
            f"tree_method='exact' cuts numbers, {words[0]!r} holds categories: use 'hist' or 'approx'"
        )
    if by_leaf:
        raise ParameterError(
            "tree_method='exact' grows level by level: use 'hist' for lossguide and max_leaves"
        )
    if symmetric:
        raise ParameterError(
            "tree_method='exact' finds a cut for every node: use 'hist' for grow_policy='symmetric'"
        )
    return PresortedColumns()


def _sketches(model: XGBModel, max_bin: int, *, by_leaf: bool) -> Sketches:
    """Return the maker of bins by proposed cuts."""
    proposals, eps = value(model, "proposals"), model.sketch_eps
    if eps is not None and model.max_bin is not None:
        raise ParameterError(
            "sketch_eps and max_bin both set the number of proposed cuts: give one of them"
        )
    if proposals == "local":
        grown_otherwise = {
            "grow_policy='lossguide' and max_leaves": by_leaf,
            "grow_policy='symmetric'": value(model, "grow_policy") == "symmetric",
            "monotone_constraints": model.monotone_constraints is not None,
            "interaction_constraints": model.interaction_constraints is not None,
        }
        for what, is_set in grown_otherwise.items():
            if is_set:
                raise ParameterError(
                    f"proposals='local' grows every node by itself and does not support {what}: use 'global'"
                )
    return Sketches(max_bin, proposals, None if eps is None else float(eps))


def make_plan(
    model: XGBModel, objective: Objective, schema: Schema, seed: int, n_jobs: int
) -> BoostPlan:
    """Return the plan of boosting."""
    n_parallel = model._n_parallel
    signs, groups = model.monotone_constraints, model.interaction_constraints
    if signs is not None:
        signs = monotone_signs(signs, schema)
    if groups is not None:
        groups = interaction_groups(groups, schema)
    return BoostPlan(
        rules=_rules(model, objective, schema.n_features),
        learning_rate=float(value(model, "learning_rate")) / n_parallel,
        n_parallel=n_parallel,
        subsample=float(value(model, "subsample")),
        columns_by_tree=float(value(model, "colsample_bytree")),
        dart=_dart(model),
        seed=seed,
        n_jobs=n_jobs,
        monotone=signs,
        groups=groups,
    )


def _rules(model: XGBModel, objective: Objective, n_features: int) -> SplitRules:
    step = objective.max_delta_step if model.max_delta_step is None else model.max_delta_step
    max_depth, max_leaves = value(model, "max_depth"), value(model, "max_leaves")
    by_level, by_node = _drawn(model, n_features)
    policy = value(model, "grow_policy")
    if not max_depth and not max_leaves and policy == "lossguide":
        raise ParameterError(
            "grow_policy='lossguide' needs a limit: set max_leaves, or a max_depth above 0"
        )
    if policy == "symmetric" and (max_leaves or not max_depth):
        raise ParameterError(
            "grow_policy='symmetric' grows whole levels: set a max_depth above 0, and no max_leaves"
        )
    return NO_RULES._replace(
        l1=float(value(model, "reg_alpha")),
        l2=float(value(model, "reg_lambda")),
        max_delta_step=float(step),
        min_gain=float(value(model, "gamma")),
        reach_gain=True,
        min_weight=float(value(model, "min_child_weight")),
        max_cat_threshold=int(value(model, "max_cat_threshold")),
        max_onehot=int(value(model, "max_cat_to_onehot")) - 1,
        max_depth=int(max_depth) or MANY,
        max_leaves=int(max_leaves) or MANY,
        depth_first=policy == "depthwise",
        level_columns=by_level,
        node_columns=by_node,
        as_xgboost=True,
        symmetric=policy == "symmetric",
    )


def _drawn(model: XGBModel, n_features: int) -> tuple[int, int]:
    """Return the number of columns drawn per depth and per node; 0 for all."""
    tree = max(1, int(value(model, "colsample_bytree") * n_features))
    level = max(1, int(value(model, "colsample_bylevel") * tree))
    node = max(1, int(value(model, "colsample_bynode") * level))
    return level if level < tree else 0, node if node < level else 0


def _dart(model: XGBModel) -> Dart | None:
    if value(model, "booster") != "dart":
        return None
    return Dart(
        rate_drop=float(value(model, "rate_drop")),
        skip_drop=float(value(model, "skip_drop")),
        one_drop=bool(value(model, "one_drop")),
        weighted=value(model, "sample_type") == "weighted",
        normalize=value(model, "normalize_type"),
    )


# ---------------------------------------------------------------------- values of parameters
def value(model: XGBModel, name: str) -> Any:
    """Return a parameter, or XGBoost's default."""
    given = getattr(model, name)
    return DEFAULTS[name] if given is None else given
