"""From LightGBM's parameters and a learned table to the recipe of the booster."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.callbacks.watching import Measure, MetricValue, measure_by
from arboretum.boosting.lightgbm.parameters import ALIASES
from arboretum.boosting.lightgbm.tables import column_names
from arboretum.boosting.loss.user import UserObjective
from arboretum.boosting.names.lightgbm import LIGHTGBM
from arboretum.boosting.second_order.constraints import interaction_groups, monotone_signs
from arboretum.boosting.second_order.dart import Dart
from arboretum.boosting.second_order.draws import share_of
from arboretum.boosting.second_order.recipe import MANY, NO_RULES, BoostPlan, Recipe
from arboretum.boosting.second_order.tables import Draws, Histograms
from arboretum.engine.second_order.score import SplitRules
from arboretum.errors import DataError, ParameterError
from arboretum.grow.bins.categories import frequent_categories
from arboretum.grow.histogram import POOL

if TYPE_CHECKING:
    from arboretum.boosting.callbacks.watching import Watch
    from arboretum.boosting.lightgbm.model import LGBMModel
    from arboretum.boosting.lightgbm.tables import FitArguments
    from arboretum.boosting.loss.objective import Objective
    from arboretum.boosting.metric.evaluation_set import EvaluationSet
    from arboretum.boosting.second_order.recipe import TrainingTable
    from arboretum.data.schema import Schema

__all__ = ["Changing", "bin_sample", "check_together", "is_forest", "make_plan", "make_recipe"]

# of a user's objective; the meaning of its scores is unknown
_USUAL_METRIC = {"any": "None", "classes": "logloss", "numbers": "l2", "orders": "ndcg"}


def make_recipe(
    model: LGBMModel,
    arguments: FitArguments,
    training: TrainingTable,
    seed: int,
    n_jobs: int,
    *,
    evaluates: bool,
) -> Recipe:
    """Return the recipe; it has metrics only if there are evaluation tables, or metrics are named."""
    schema, n_classes = training.schema, training.n_classes
    if model.target == "any":
        n_classes = model.num_class
    elif model.num_class not in (None, 1, n_classes):
        raise DataError(f"num_class is {model.num_class}, y holds {n_classes or 1} classes")
    name, settings = _objective_name(model, n_classes), LIGHTGBM.settings_of(model, "objectives")
    if callable(name) or LIGHTGBM.objective_names.get(name) != "rank_xendcg":
        del settings["objective_seed"]  # others have no draws: their files hold no seed
    objective = LIGHTGBM.find_objective(name, n_classes, **settings)
    plan = make_plan(model, schema, seed, n_jobs)
    given = training.base_margin is not None  # not part of the model, as in LightGBM
    named = evaluates or arguments.eval_metric is not None or model.metric is not None
    return Recipe(
        objective,
        plan,
        _table_maker(model, seed),
        _draws(model, training, plan, objective.name),
        int(model.n_estimators),
        np.zeros(objective.n_outputs) if given or not model.boost_from_average else None,
        _metrics(model, arguments, objective) if named else (),
        column_names(arguments.feature_name, schema.n_features),
    )


# ---------------------------------------------------------------------- the objective
def _objective_name(model: LGBMModel, n_classes: int | None) -> str | Callable[..., Any]:
    """Return the name of the objective; raise if it does not fit the kind of estimator."""
    name = model.objective
    if name is None:
        return "multiclass" if (n_classes or 1) > 2 else model.usual_objective
    if callable(name) or model.target == "any":
        return name
    known = LIGHTGBM.predicts(name)
    if model.target == "orders" and known != "orders":
        raise ParameterError(
            f"LGBMRanker takes objective 'lambdarank', 'rank_xendcg' or a function, got {name!r}"
        )
    others = {"classes": "LGBMClassifier", "orders": "LGBMRanker"}
    if model.target == "numbers" and known in others:
        raise ParameterError(f"objective {name!r} does not predict numbers: use {others[known]}")
    if model.target == "classes" and known not in ("classes", "two classes"):
        raise ParameterError(
            f"objective {name!r} does not predict classes: use 'binary', 'multiclass' or 'multiclassova'"
        )
    if (n_classes or 1) > 2 and known == "two classes":
        raise ParameterError(
            f"objective {name!r} is for two classes, y holds {n_classes}: use 'multiclass'"
        )
    return name


def is_forest(model: Any) -> bool:
    """Return True if the model is the mean of its trees."""
    return model.boosting_type in ("rf", "random_forest")


def by_gradient(model: Any) -> bool:
    """Return True if rows are drawn by their gradients (GOSS)."""
    return "goss" in (model.boosting_type, model.data_sample_strategy)


def _bags(model: Any) -> bool:
    shares = (model.subsample, model.pos_bagging_fraction, model.neg_bagging_fraction)
    return model.subsample_freq > 0 and min(shares) < 1


def check_together(model: Any) -> None:
    """Raise for combinations of parameters that contradict each other."""
    if by_gradient(model):
        if _bags(model):
            raise ParameterError(
                "GOSS draws the rows by itself: leave subsample=1 or subsample_freq=0"
            )
        if model.top_rate + model.other_rate > 1:
            raise ParameterError(
                "top_rate and other_rate are shares of the rows: together they may be at most 1, got "
                f"{model.top_rate!r} and {model.other_rate!r}"
            )
    elif is_forest(model) and not (_bags(model) or model.colsample_bytree < 1):
        raise ParameterError(
            "boosting_type='rf' would grow the same tree again and again: set subsample below 1 and "
            "subsample_freq above 0, or colsample_bytree below 1"
        )
    if model.force_col_wise and model.force_row_wise:
        raise ParameterError("force_col_wise and force_row_wise exclude each other")


# ---------------------------------------------------------------------- metrics
def _metrics(model: LGBMModel, arguments: FitArguments, objective: Objective) -> list[Measure]:
    """Return the metrics of the arguments of fit, those of the model, and functions."""
    settings = LIGHTGBM.settings_of(model, "metrics")
    if arguments.eval_at is not None and model.eval_at is None:
        settings["eval_at"] = arguments.eval_at
    wanted, functions = _metric_names(arguments.eval_metric)
    if model.target == "classes":
        wanted = [_of_classes(one, objective) for one in wanted]
    named, more = _metric_names(model.metric)
    if more:
        raise ParameterError("metric must hold names: give functions to fit as eval_metric")
    if not [one for one in named if one]:
        own = isinstance(objective, UserObjective)
        usual = _of_classes(_USUAL_METRIC[model.target], objective)
        named = [usual if own else LIGHTGBM.default_metric(objective.name, **settings)]
    names = [one for one in wanted if one not in named] + named
    metrics = LIGHTGBM.find_metrics([one for one in names if one], **settings)
    return [measure_by(metrics), *(_of_function(one) for one in functions)]


def _of_classes(name: str, objective: Objective) -> str:
    """Return the metric of a short name: logloss and error of two or several classes."""
    kind = "multi" if objective.n_outputs > 1 else "binary"
    stem = name.removeprefix("binary_").removeprefix("multi_")
    return f"{kind}_{stem}" if stem in ("logloss", "error") else name


def _metric_names(eval_metric: Any) -> tuple[list[str], list[Callable[..., Any]]]:
    """Return the names and the functions of a metric, or of a list of them."""
    each = eval_metric if isinstance(eval_metric, list | tuple) else [eval_metric]
    for one in each:
        if not (one is None or isinstance(one, str) or callable(one)):
            raise ParameterError(f"eval_metric must hold names and functions, got {one!r}")
    words = [one for one in each if isinstance(one, str)]
    return [word for one in words for word in one.split(",")], [f for f in each if callable(f)]


def _of_function(function: Callable[..., Any]) -> Measure:
    """Return the measure of a user's function.

    It is called with (y, prediction), (y, prediction, weight) or (y, prediction, weight, group), and returns
    (name, value, larger is better), or a list of such.
    """
    try:
        kinds = [one.kind for one in inspect.signature(function).parameters.values()]
        places = sum(kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD for kind in kinds)
    except (TypeError, ValueError):  # a builtin without a signature
        places = 2
    called = getattr(function, "__name__", type(function).__name__)
    if not 2 <= places <= 4:
        raise ParameterError(
            f"a metric takes y, prediction and optionally weight and group: {called!r} takes {places} "
            "arguments"
        )

    def measure(truth: EvaluationSet, prediction: np.ndarray, _: np.ndarray) -> list[MetricValue]:
        more = [truth.weight, truth.queries.sizes if truth.grouped else None][: places - 2]
        returned = function(truth.y, prediction, *more)
        try:
            each = returned if isinstance(returned, list) else [returned]
            return [
                MetricValue(str(name), float(value), bool(larger)) for name, value, larger in each
            ]
        except (TypeError, ValueError):
            raise DataError(
                f"the metric {called!r} must return (name, value, larger is better), got {returned!r}"
            ) from None

    return measure


# ---------------------------------------------------------------------- the plan
def bin_sample(model: LGBMModel, seed: int) -> tuple[int, int]:
    """Return the most rows that bins are found from, and the seed that draws them."""
    own = model.data_random_seed
    return int(model.subsample_for_bin), seed if own is None else int(own)


def _table_maker(model: LGBMModel, seed: int) -> Histograms:
    max_bin, min_data = int(model.max_bin), int(model.min_data_in_bin)
    return Histograms(
        max_bin,
        *bin_sample(model, seed),
        min_data,
        bundle=bool(model.enable_bundle),
        max_conflict=float(model.max_conflict_rate),
        categories=partial(frequent_categories, max_bin=max_bin, min_data_in_bin=min_data),
        zero_apart=True,
    )


def make_plan(model: Any, schema: Schema, seed: int, n_jobs: int) -> BoostPlan:
    """Return the plan of boosting."""
    given, signs, groups = model.monotone_constraints, None, model.interaction_constraints
    if given is not None:
        signs = monotone_signs(given, schema)
    if groups is not None:
        groups = interaction_groups(groups, schema)
    if isinstance(given, list | tuple | np.ndarray) and len(given) != schema.n_features:
        raise ParameterError(
            f"monotone_constraints has {len(given)} signs for {schema.n_features} columns: give one per "
            "column"
        )
    return BoostPlan(
        rules=_rules(model, schema.n_features),
        learning_rate=float(model.learning_rate),
        subsample=float(min(model.subsample, 1.0)),
        subsample_every=int(model.subsample_freq),
        goss=(float(model.top_rate), float(model.other_rate)) if by_gradient(model) else None,
        goss_from=int(1.0 / model.learning_rate),
        columns_by_tree=float(model.colsample_bytree),
        averaged=is_forest(model),
        dart=_dart(model),
        unsplit_answers=False,
        seed=seed,
        n_jobs=n_jobs,
        pool=_pool(model.histogram_pool_size),
        monotone=signs,
        groups=groups,
    )


def _rules(model: Any, n_features: int) -> SplitRules:
    smooth = float(model.path_smooth)
    return NO_RULES._replace(
        l1=float(model.reg_alpha),
        l2=float(model.reg_lambda),
        max_delta_step=max(float(model.max_delta_step), 0.0),
        path_smooth=smooth,
        min_gain=float(model.min_split_gain),
        min_weight=float(model.min_child_weight),
        min_rows=float(max(model.min_child_samples, 2 if smooth else 1)),
        cat_l2=float(model.cat_l2),
        cat_smooth=float(model.cat_smooth),
        cat_min_rows=float(model.cat_smooth),
        max_cat_threshold=int(model.max_cat_threshold),
        max_onehot=int(model.max_cat_to_onehot) - 1,  # LightGBM counts the bin of missing values
        min_group=float(model.min_data_per_group),
        max_depth=int(model.max_depth) if model.max_depth > 0 else MANY,
        max_leaves=int(model.num_leaves),
        node_columns=_by_node(model, n_features),
        random_cuts=bool(model.extra_trees),
        cut_seed=int(model.extra_seed),
    )


def _pool(megabytes: float | None) -> int:
    """Return the bytes for histograms of waiting leaves."""
    if megabytes is None:
        return POOL
    return int(megabytes * (1 << 20)) if megabytes > 0 else MANY << 20


def _by_node(model: Any, n_features: int) -> int:
    """Return how many columns a node draws; 0 for all."""
    if model.feature_fraction_bynode == 1.0:
        return 0
    tree = share_of(n_features, model.colsample_bytree)
    node = share_of(tree, model.feature_fraction_bynode)
    return node if node < tree else 0


def _dart(model: Any) -> Dart | None:
    if model.boosting_type != "dart":
        return None
    return Dart(
        rate_drop=float(model.drop_rate),
        skip_drop=float(model.skip_drop),
        max_drop=max(int(model.max_drop), 0),
        weighted=not model.uniform_drop,
        normalize="tree" if model.xgboost_dart_mode else "lightgbm",
        seed=int(model.drop_seed),
        in_order=True,
        whole=float(model.learning_rate),
    )


def _draws(model: LGBMModel, training: TrainingTable, plan: BoostPlan, objective: str) -> Draws:
    """Return the rules for drawing the rows and columns of a tree."""
    shares: list[float] | None = None
    if min(model.pos_bagging_fraction, model.neg_bagging_fraction) < 1:
        if objective != "binary":
            raise ParameterError(
                "pos_bagging_fraction and neg_bagging_fraction need objective 'binary', not "
                f"{objective!r}: use subsample"
            )
        shares = [float(model.neg_bagging_fraction), float(model.pos_bagging_fraction)]
    columns = np.arange(training.schema.n_features, dtype=np.int64)
    if plan.groups is not None:
        columns = _in_a_group(model.interaction_constraints, plan.groups)
    return Draws(
        [plan.seed if model.bagging_seed is None else int(model.bagging_seed)],
        columns,
        model.feature_fraction_seed,
        to_nearest=True,
        strata=None if shares is None else (training.y > 0).astype(np.int64),
        shares=shares,
        groups=training.groups if model.bagging_by_query else None,
    )


def _in_a_group(given: Any, groups: np.ndarray) -> np.ndarray:
    """Return the columns that a group names: LightGBM uses no others."""
    named = len(ast.literal_eval(given) if isinstance(given, str) else given)
    bits = np.unpackbits(
        groups.view(np.uint8), axis=1, bitorder="little"
    )  # other columns are groups of their own
    return np.flatnonzero(bits[:, :named].any(axis=1)).astype(np.int64)


# ---------------------------------------------------------------------- changes while boosting
_CHANGEABLE = {
    "learning_rate", "num_leaves", "max_depth", "min_split_gain", "min_child_weight",
    "min_child_samples", "subsample", "subsample_freq", "colsample_bytree", "reg_alpha", "reg_lambda",
    "feature_fraction_bynode", "top_rate", "other_rate", "drop_rate", "skip_drop", "max_drop",
    "max_delta_step", "path_smooth", "cat_smooth", "cat_l2", "max_cat_threshold",
    "max_cat_to_onehot", "min_data_per_group", "extra_trees", "extra_seed",
}  # fmt: skip


class Changing:
    """Changes parameters while a model grows; those of the estimator stay."""

    def __init__(self, model: Any) -> None:
        self.now = copy.copy(model)

    def __call__(self, watch: Watch, params: dict[str, Any]) -> None:
        given = {ALIASES.get(name, name): value for name, value in params.items()}
        fixed = sorted(set(given) - _CHANGEABLE)
        if fixed:
            raise ParameterError(
                f"{fixed[0]} cannot change between rounds; these can: {', '.join(sorted(_CHANGEABLE))}"
            )
        for name, value in given.items():
            setattr(self.now, name, value)
        self.now._check_parameters()
        booster = watch.booster
        plan = make_plan(self.now, booster.training.schema, booster.plan.seed, booster.plan.n_jobs)
        booster.plan = plan
        booster.grower.rules = plan.rules
