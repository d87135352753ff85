"""LightGBM's parameters: what they may be, their other names, and those that have no place here.

LightGBM's scikit-learn classes name twenty parameters and pass all others on. Here all are named, under
one name each: that of the scikit-learn class if it has one (``colsample_bytree``), else the native one
(``max_bin``). Every other name the program knows is translated (``feature_fraction``, ``eta``, …).

Parameters of things that are not part of arboretum are known, too: a value that asks for nothing special
(``linear_tree=False``) is accepted, any other refused with the reason. No name is ever ignored.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from arboretum.base import parameters as p
from arboretum.boosting.dialect.lightgbm import LIGHTGBM
from arboretum.errors import ParameterError

__all__ = ["ALIASES", "RULES", "NativeNames"]

# ---------------------------------------------------------------------- other names
_NAMES = """
boosting_type boosting boost
n_estimators num_iterations num_iteration n_iter num_tree num_trees num_round num_rounds nrounds
n_estimators num_boost_round max_iter
learning_rate shrinkage_rate eta
num_leaves num_leaf max_leaves max_leaf max_leaf_nodes
n_jobs num_threads num_thread nthread nthreads
random_state seed random_seed
objective objective_type app application loss
min_child_samples min_data_in_leaf min_data_per_leaf min_data min_samples_leaf
min_child_weight min_sum_hessian_in_leaf min_sum_hessian_per_leaf min_sum_hessian min_hessian
min_split_gain min_gain_to_split
subsample bagging_fraction sub_row bagging
subsample_freq bagging_freq
subsample_for_bin bin_construct_sample_cnt
colsample_bytree feature_fraction sub_feature
reg_alpha lambda_l1 l1_regularization
reg_lambda lambda_l2 lambda l2_regularization
feature_fraction_bynode sub_feature_bynode colsample_bynode
bagging_seed bagging_fraction_seed
pos_bagging_fraction pos_sub_row pos_subsample pos_bagging
neg_bagging_fraction neg_sub_row neg_subsample neg_bagging
data_random_seed data_seed
max_bin max_bins
enable_bundle is_enable_bundle bundle
max_delta_step max_tree_output max_leaf_output
drop_rate rate_drop
monotone_constraints mc monotone_constraint monotonic_cst
monotone_constraints_method monotone_constraining_method mc_method
is_unbalance unbalance unbalanced_sets
metric metrics metric_types
eval_at ndcg_eval_at ndcg_at map_eval_at map_at
early_stopping_round early_stopping_rounds early_stopping n_iter_no_change
num_class num_classes
verbosity verbose
device_type device
tree_learner tree tree_type tree_learner_type
linear_tree linear_trees
monotone_penalty monotone_splits_penalty ms_penalty mc_penalty
feature_contri feature_contrib fc fp feature_penalty
forcedsplits_filename fs forced_splits_filename forced_splits_file forced_splits
histogram_pool_size hist_pool_size
is_enable_sparse is_sparse enable_sparse sparse
categorical_feature cat_feature categorical_column cat_column categorical_features
top_k topk
extra_trees extra_tree
num_machines num_machine
"""
ALIASES = {
    other: line.split()[0] for line in _NAMES.strip().splitlines() for other in line.split()[1:]
}

# ---------------------------------------------------------------------- what they may be
_SHARE = p.real(0, 1, open_low=True)
_RATE = p.real(0, 1)
_SEED = p.integer(0, 2**32 - 1) | p.none
_WHOLE = p.Rule("an int", lambda v: isinstance(v, int | np.integer) and not isinstance(v, bool))
_FUNCTION = p.Rule("a function", callable)
_MANY = p.Rule("a list of them", lambda v: isinstance(v, list | tuple | np.ndarray))
_POSITIVE = p.real(0, open_low=True)

RULES: dict[str, p.Rule] = {
    "boosting_type": p.one_of("gbdt", "gbrt", "dart", "rf", "random_forest", "goss"),
    "num_leaves": p.integer(2, 131_072),
    "max_depth": _WHOLE,
    "learning_rate": _POSITIVE,
    "n_estimators": p.integer(1),
    "subsample_for_bin": p.integer(2),
    "objective": p.text_or("the name of an objective", str) | _FUNCTION | p.none,
    "class_weight": p.one_of("balanced", None) | p.text_or("a dict from classes to weights", dict),
    "min_split_gain": p.real(0),
    "min_child_weight": p.real(0),
    "min_child_samples": p.integer(0),
    "subsample": _SHARE,
    "subsample_freq": p.integer(0),
    "colsample_bytree": _SHARE,
    "reg_alpha": p.real(0),
    "reg_lambda": p.real(0),
    "random_state": p.seed,
    "n_jobs": _WHOLE | p.none,
    "importance_type": p.one_of("split", "gain"),
    # native names
    "data_sample_strategy": p.one_of("bagging", "goss"),
    "top_rate": _RATE,
    "other_rate": p.real(0, 1, open_low=True),
    "pos_bagging_fraction": _SHARE,
    "neg_bagging_fraction": _SHARE,
    "bagging_by_query": p.flag,
    "feature_fraction_bynode": _SHARE,
    "bagging_seed": _SEED,
    "feature_fraction_seed": _SEED,
    "data_random_seed": _SEED,
    "drop_seed": p.integer(0, 2**32 - 1),
    "drop_rate": _RATE,
    "skip_drop": _RATE,
    "max_drop": _WHOLE,
    "uniform_drop": p.flag,
    "xgboost_dart_mode": p.flag,
    "max_bin": p.integer(2, 65_535),
    "min_data_in_bin": p.integer(1),
    "enable_bundle": p.flag,
    "max_delta_step": p.Rule("a number", p.real(-np.inf).allows),
    "path_smooth": p.real(0),
    "cat_smooth": p.real(0),
    "cat_l2": p.real(0),
    "max_cat_threshold": p.integer(1),
    "max_cat_to_onehot": p.integer(1),
    "min_data_per_group": p.integer(1),
    "monotone_constraints": p.anything,
    "monotone_constraints_method": p.Rule(
        "'basic': the others are not part of arboretum", p.one_of("basic").allows
    ),
    "interaction_constraints": p.anything,
    "boost_from_average": p.flag,
    "num_class": p.integer(1) | p.none,
    **{
        name: s.rule | p.none if s.default is None else s.rule
        for name, s in LIGHTGBM.settings.items()
    },
    "eval_at": LIGHTGBM.settings["eval_at"].rule | p.none,
    "metric": p.text_or("the name of a metric", str) | _MANY | p.none,
    "early_stopping_round": _WHOLE | p.none,
    "early_stopping_min_delta": p.real(0),
    "first_metric_only": p.flag,
    "deterministic": p.flag,
    "force_col_wise": p.flag,
    "force_row_wise": p.flag,
    "verbosity": _WHOLE | p.flag | p.none,
}


# ---------------------------------------------------------------------- what has no place here
@dataclass(frozen=True)
class _Absent:
    """A parameter of something that is not part of arboretum."""

    why: str
    allows: Callable[[Any], bool]


def _only(*values: Any) -> Callable[[Any], bool]:
    return lambda given: any(given is value or given == value for value in values)


_LAYOUT, _FILES = "", "it belongs to LightGBM's command line; arboretum has its own"
ABSENT: dict[str, _Absent] = {
    "linear_tree": _Absent("leaves answer a number, not a linear model", _only(False)),
    "extra_trees": _Absent("use ExtraTreesClassifier for random cuts", _only(False)),
    "device_type": _Absent("there is no code for GPUs: use 'cpu'", _only("cpu")),
    "tree_learner": _Absent("a model is trained on one machine: use 'serial'", _only("serial")),
    "num_machines": _Absent("a model is trained on one machine", _only(1)),
    "use_quantized_grad": _Absent("histograms always hold whole numbers", _only(False)),
    "use_missing": _Absent("NaN is always a missing value: fill it before", _only(True)),
    "zero_as_missing": _Absent("put NaN where a value is missing", _only(False)),
    "monotone_penalty": _Absent("constraints are not penalised by depth", _only(0)),
    "feature_contri": _Absent("gains of columns are not weighed", _only(None)),
    "forcedsplits_filename": _Absent("splits cannot be forced", _only("", None)),
    "forcedbins_filename": _Absent("bins cannot be forced: cut the column before", _only("", None)),
    "max_bin_by_feature": _Absent("all columns have the same max_bin", _only(None)),
    "cegb_tradeoff": _Absent("splits have no costs", _only(1)),
    "cegb_penalty_split": _Absent("splits have no costs", _only(0)),
    "cegb_penalty_feature_lazy": _Absent("splits have no costs", _only(None)),
    "cegb_penalty_feature_coupled": _Absent("splits have no costs", _only(None)),
    "reg_sqrt": _Absent("fit on the root of y and square the predictions", _only(False)),
    "auc_mu_weights": _Absent("the metric auc_mu is not part of arboretum", _only(None)),
    "lambdarank_position_bias_regularization": _Absent("positions are not known", _only(0)),
    "categorical_feature": _Absent("it is an argument of fit", _only("auto", "", None)),
    "histogram_pool_size": _Absent(
        "all histograms are kept", p.real(-np.inf, 0, open_high=True).allows
    ),
    "top_k": _Absent(_LAYOUT, p.integer(1).allows),  # of the voting learner alone
    "extra_seed": _Absent(_LAYOUT, p.integer(0).allows),  # of extra_trees alone
    "objective_seed": _Absent(_LAYOUT, p.integer(0).allows),  # of rank_xendcg alone
    "is_enable_sparse": _Absent(_LAYOUT, p.flag.allows),  # a layout: the model is the same
    "feature_pre_filter": _Absent(_LAYOUT, p.flag.allows),  # a shortcut: the model is the same
    **{
        name: _Absent(_FILES, lambda given: False)
        for name in (
            "config", "task", "data", "valid", "input_model", "output_model", "snapshot_freq",
            "header", "label_column", "weight_column", "group_column", "ignore_column",
            "pre_partition", "two_round", "save_binary", "convert_model", "output_result",
            "predict_raw_score", "predict_leaf_index", "predict_contrib",
        )
    },
}  # fmt: skip


class NativeNames:
    """Mixin: parameters of `ABSENT` are checked and left out, before others are looked at."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__:
            cls.__init__ = _without_absent(cls.__init__)  # type: ignore[method-assign]

    def set_params(self, **params: Any) -> Any:
        """Set parameters by any of their names; return the estimator."""
        return super().set_params(**_present(type(self).__name__, params))  # type: ignore[misc]


def _without_absent(init: Callable) -> Callable:
    @functools.wraps(init)
    def checked(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **_present(type(self).__name__, kwargs))

    return checked


def _present(owner: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that mean something here; refuse what asks for something absent."""
    found = {}
    for name, value in given.items():
        absent = ABSENT.get(ALIASES.get(name, name))
        if absent is None:
            found[name] = value
        elif not absent.allows(value):
            why = absent.why or "it has no such values in LightGBM either"
            raise ParameterError(f"{name}={value!r} is not supported by {owner}: {why}")
    return found
