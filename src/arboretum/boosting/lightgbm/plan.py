"""From LightGBM's parameters to the plan that the engine boosts by."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.lightgbm.parameters import ALIASES
from arboretum.boosting.lightgbm.rounds import Draws, share_of
from arboretum.boosting.second_order.booster import Plan
from arboretum.boosting.second_order.constraints import interaction_groups, monotone_signs
from arboretum.boosting.second_order.dart import Dart
from arboretum.engine.gradient.score import SplitRules
from arboretum.errors import ParameterError

if TYPE_CHECKING:
    from arboretum.boosting.watch.watching import Watch
    from arboretum.data.schema import Schema

__all__ = [
    "Changing",
    "check_together",
    "make_draws",
    "make_plan",
    "metric_settings",
    "objective_settings",
]

MANY = 1 << 30  # of a depth: no limit

_OBJECTIVE = (
    "alpha", "fair_c", "poisson_max_delta_step", "tweedie_variance_power", "sigmoid",
    "scale_pos_weight", "is_unbalance", "label_gain", "lambdarank_truncation_level",
    "lambdarank_norm",
)  # fmt: skip
_METRIC = (
    "alpha", "fair_c", "tweedie_variance_power", "eval_at", "label_gain", "multi_error_top_k",
)  # fmt: skip


def objective_settings(model: Any) -> dict[str, Any]:
    """Return the parameters that objectives depend on."""
    return {name: getattr(model, name) for name in _OBJECTIVE}


def metric_settings(model: Any) -> dict[str, Any]:
    """Return the parameters that metrics depend on."""
    return {name: getattr(model, name) for name in _METRIC}


def is_forest(model: Any) -> bool:
    return model.boosting_type in ("rf", "random_forest")


def by_gradient(model: Any) -> bool:
    """Tell whether rows are drawn by their gradients (GOSS)."""
    return "goss" in (model.boosting_type, model.data_sample_strategy)


def _bags(model: Any) -> bool:
    shares = (model.subsample, model.pos_bagging_fraction, model.neg_bagging_fraction)
    return model.subsample_freq > 0 and min(shares) < 1


def check_together(model: Any) -> None:
    """Refuse parameters that do not go together."""
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


def make_plan(model: Any, schema: Schema, seed: int, n_jobs: int) -> Plan:
    """Return how to boost."""
    signs, given = monotone_signs(model.monotone_constraints, schema), model.monotone_constraints
    if isinstance(given, list | tuple | np.ndarray) and len(given) != schema.n_features:
        raise ParameterError(
            f"monotone_constraints has {len(given)} signs for {schema.n_features} columns: give one per "
            "column"
        )
    return Plan(
        rules=_rules(model, schema.n_features),
        learning_rate=float(model.learning_rate),
        subsample=float(min(model.subsample, 1.0)),
        subsample_every=int(model.subsample_freq),
        goss=(float(model.top_rate), float(model.other_rate)) if by_gradient(model) else None,
        goss_from=int(1.0 / model.learning_rate),
        columns_by_tree=float(model.colsample_bytree),
        averaged=is_forest(model),
        dart=_dart(model),
        seed=seed,
        n_jobs=n_jobs,
        monotone=signs,
        groups=interaction_groups(model.interaction_constraints, schema),
    )


def _rules(model: Any, n_features: int) -> SplitRules:
    smooth = float(model.path_smooth)
    return SplitRules(
        l1=float(model.reg_alpha),
        l2=float(model.reg_lambda),
        max_delta_step=max(float(model.max_delta_step), 0.0),
        path_smooth=smooth,
        min_gain=float(model.min_split_gain),
        reach_gain=False,
        min_weight=float(model.min_child_weight),
        min_rows=float(max(model.min_child_samples, 2 if smooth else 1)),
        cat_l2=float(model.cat_l2),
        cat_smooth=float(model.cat_smooth),
        cat_min_rows=float(model.cat_smooth),
        max_cat_threshold=int(model.max_cat_threshold),
        max_onehot=int(model.max_cat_to_onehot) - 1,  # the bin of missing values counts there
        min_group=float(model.min_data_per_group),
        max_depth=int(model.max_depth) if model.max_depth > 0 else MANY,
        max_leaves=int(model.num_leaves),
        depth_first=False,
        level_columns=0,
        node_columns=_by_node(model, n_features),
    )


def _by_node(model: Any, n_features: int) -> int:
    """Return how many columns a node draws; 0 for all."""
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
    )


def make_draws(model: Any, schema: Schema, seed: int, y: np.ndarray, name: str) -> Draws:
    """Return what the rows and columns of a tree are drawn from."""
    shares: list[float] | None = None
    if min(model.pos_bagging_fraction, model.neg_bagging_fraction) < 1:
        if name != "binary":
            raise ParameterError(
                "pos_bagging_fraction and neg_bagging_fraction need objective 'binary', not "
                f"{name!r}: use subsample"
            )
        shares = [float(model.neg_bagging_fraction), float(model.pos_bagging_fraction)]
    columns = np.arange(schema.n_features, dtype=np.int64)
    groups = interaction_groups(model.interaction_constraints, schema)
    if groups is not None:
        columns = _in_a_group(model.interaction_constraints, groups)
    return Draws(
        rows_seed=seed if model.bagging_seed is None else int(model.bagging_seed),
        columns_seed=model.feature_fraction_seed,
        columns=columns,
        strata=None if shares is None else (y > 0).astype(np.int64),
        shares=shares,
        by_group=bool(model.bagging_by_query),
    )


def _in_a_group(given: Any, groups: np.ndarray) -> np.ndarray:
    """Return the columns that a group names: LightGBM asks for no others."""
    named = len(ast.literal_eval(given) if isinstance(given, str) else given)
    bits = np.unpackbits(groups.view(np.uint8), axis=1, bitorder="little")  # the rest stand alone
    return np.flatnonzero(bits[:, :named].any(axis=1)).astype(np.int64)


# ---------------------------------------------------------------------- changes while boosting
_CHANGEABLE = {
    "learning_rate", "num_leaves", "max_depth", "min_split_gain", "min_child_weight",
    "min_child_samples", "subsample", "subsample_freq", "colsample_bytree", "reg_alpha", "reg_lambda",
    "feature_fraction_bynode", "top_rate", "other_rate", "drop_rate", "skip_drop", "max_drop",
    "max_delta_step", "path_smooth", "cat_smooth", "cat_l2", "max_cat_threshold",
    "max_cat_to_onehot", "min_data_per_group",
}  # fmt: skip


class Changing:
    """Gives parameters other values while a model grows; the estimator keeps its own."""

    def __init__(self, model: Any) -> None:
        self.now = copy.copy(model)

    def __call__(self, watch: Watch, params: dict[str, Any]) -> None:
        given = {ALIASES.get(name, name): value for name, value in params.items()}
        fixed = sorted(set(given) - _CHANGEABLE)
        if fixed:
            raise ParameterError(
                f"{fixed[0]} cannot change between rounds: these can: {', '.join(sorted(_CHANGEABLE))}"
            )
        for name, value in given.items():
            setattr(self.now, name, value)
        self.now._check_parameters()
        booster = watch.booster
        plan = make_plan(self.now, booster.data.schema, booster.plan.seed, booster.plan.n_jobs)
        booster.plan = plan
        booster.grower.rules = plan.rules
