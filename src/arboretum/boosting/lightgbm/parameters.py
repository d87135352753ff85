"""LightGBM's parameters: their values and meaning, their other names, and unsupported ones.

LightGBM's scikit-learn classes name twenty parameters and pass all others on. Here all are listed, under
one name each: that of the scikit-learn class if it has one (``colsample_bytree``), else the native one
(``max_bin``). Every other name that LightGBM accepts is translated (``feature_fraction``, ``eta``, …).

Parameters of features that arboretum lacks are recognised too: a value without effect
(``linear_tree=False``) is accepted, any other refused with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.parameters import Parameter
from arboretum.base.rounds import Interruptible
from arboretum.base.shared_parameters import TABLE
from arboretum.boosting.names.lightgbm import LIGHTGBM
from arboretum.boosting.names.passed import Absent, Passed, Replaced

__all__ = ["ABSENT", "ALIASES", "ATTRIBUTES", "PARAMETERS", "PASSED"]

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
categorical_feature cat_feature categorical_column cat_column
top_k topk
extra_trees extra_tree
num_machines num_machine
"""
ALIASES = {
    other: line.split()[0] for line in _NAMES.strip().splitlines() for other in line.split()[1:]
}

# ---------------------------------------------------------------------- values and meaning
_SHARE = p.real(0, 1, open_low=True)
_RATE = p.real(0, 1)
_SEED = p.integer(0, 2**32 - 1) | p.none
_WHOLE = p.ParameterRule("an int", p.integer(-(2**63)).allows)
_FUNCTION = p.ParameterRule("a function", callable)
_MANY = p.text_or("a list of them", list, tuple, np.ndarray)
_POSITIVE = p.real(0, open_low=True)
_BASIC = p.ParameterRule("'basic': the others are not part of arboretum", p.one_of("basic").allows)

# parameters of losses and metrics; their rules are in the tables of objectives
_LOSS_TEXTS = {
    "scale_pos_weight": "Weight of the rows of the second of two classes.",
    "is_unbalance": "Give both of two classes the same total weight.",
    "sigmoid": "Steepness of logistic losses.",
    "alpha": "Level of quantile, threshold of huber.",
    "fair_c": "Parameter c of the fair loss.",
    "poisson_max_delta_step": "Safeguard of the poisson loss: larger values take smaller steps.",
    "tweedie_variance_power": "Of tweedie: the variance grows as the mean to this power.",
    "lambdarank_truncation_level": "Ranking: one row of every pair is among this many first ones.",
    "lambdarank_norm": "Ranking: scale the gradients of every list.",
    "label_gain": "Ranking: gain of each label; None is 2^label - 1.",
    "eval_at": "Cut-off positions of ranking metrics; None is 1 to 5.",
    "multi_error_top_k": "multi_error: how many of the most probable classes count as right.",
}


def _loss_rule(name: str) -> p.ParameterRule:
    setting = LIGHTGBM.settings[name]
    may_be_none = setting.default is None or name == "eval_at"
    return setting.rule | p.none if may_be_none else setting.rule


PARAMETERS = {
    **TABLE,
    "boosting_type": Parameter(
        p.one_of("gbdt", "gbrt", "dart", "rf", "random_forest", "goss"),
        "Plain boosting; boosting that drops rounds while it grows others; a forest, the mean of trees "
        "that all start from the same scores; boosting on rows drawn by their gradients (as "
        '``data_sample_strategy="goss"``).',
    ),
    "num_leaves": Parameter(
        p.integer(2, 131_072),
        "Maximum number of leaves of a tree. The leaf with the largest gain is split first.",
    ),
    "max_depth": Parameter(_WHOLE, "Maximum depth; 0 or less for no limit."),
    "learning_rate": Parameter(
        _POSITIVE, "Factor of every tree's values; also ``eta``. Without effect on a forest."
    ),
    "n_estimators": Parameter(
        p.integer(1), "Number of rounds; also ``num_iterations``, ``num_boost_round``."
    ),
    "subsample_for_bin": Parameter(p.integer(2), "Number of rows from which bins are computed."),
    "objective": Parameter(
        p.text_or("the name of an objective", str) | _FUNCTION | p.none,
        'The loss, by LightGBM\'s names; None is "regression" for numbers, "binary" or "multiclass" for '
        'classes, "lambdarank" for ranking. A function of (y, score), (y, score, weight) or (y, score, '
        "weight, group) returns gradient and hessian.",
    ),
    "class_weight": Parameter(
        p.one_of("balanced", None) | p.text_or("a dict from classes to weights", dict),
        "Weights of the classes (classifiers only).",
    ),
    "min_split_gain": Parameter(
        p.real(0), "A split must gain more than this; also ``min_gain_to_split``."
    ),
    "min_child_weight": Parameter(
        p.real(0), "Σ hessian each side of a split needs; also ``min_sum_hessian_in_leaf``."
    ),
    "min_child_samples": Parameter(
        p.integer(0),
        "Rows each side of a split needs, estimated from its share of the hessian, as in LightGBM; also "
        "``min_data_in_leaf``.",
    ),
    "subsample": Parameter(
        _SHARE, "Share of the rows drawn, see `subsample_freq`; also ``bagging_fraction``."
    ),
    "subsample_freq": Parameter(
        p.integer(0), "Draw rows every n-th round; 0: all rows. Also ``bagging_freq``."
    ),
    "colsample_bytree": Parameter(
        _SHARE, "Share of the columns drawn for every tree, rounded; also ``feature_fraction``."
    ),
    "reg_alpha": Parameter(p.real(0), "L1 penalty of the leaf values; also ``lambda_l1``."),
    "reg_lambda": Parameter(p.real(0), "L2 penalty of the leaf values; also ``lambda_l2``."),
    "random_state": Parameter(p.seed, "Seed of the draws; None is 0. Also ``seed``."),
    "n_jobs": Parameter(
        _WHOLE | p.none,
        "Number of threads; None, 0 and -1 use all cores. The model does not depend on it.",
    ),
    "importance_type": Parameter(
        p.one_of("split", "gain"),
        "Kind of `feature_importances_`: the number of splits on a column, or their total gain.",
    ),
    # native names
    "data_sample_strategy": Parameter(
        p.one_of("bagging", "goss"),
        "Draw rows at random (``subsample``), or keep those with large gradients and draw from the others, "
        "which then count for more.",
    ),
    "top_rate": Parameter(
        _RATE, "GOSS: share of the rows kept; the first 1/learning_rate rounds use all rows."
    ),
    "other_rate": Parameter(_SHARE, "GOSS: share drawn of the rest."),
    "pos_bagging_fraction": Parameter(
        _SHARE, "Share of the rows of the second of two classes, instead of ``subsample``."
    ),
    "neg_bagging_fraction": Parameter(
        _SHARE, "Share of the rows of the first of two classes, instead of ``subsample``."
    ),
    "bagging_by_query": Parameter(p.flag, "Ranking: draw whole groups."),
    "feature_fraction_bynode": Parameter(
        _SHARE, "Share of a tree's columns drawn for every node; also ``colsample_bynode``."
    ),
    "extra_trees": Parameter(
        p.flag,
        "Try one random cut of every column at a node, missing values on either side, instead of the best of "
        "all. Also ``extra_tree``.",
    ),
    "extra_seed": Parameter(p.integer(0, 2**32 - 1), "extra_trees: seed of the cuts."),
    "bagging_seed": Parameter(_SEED, "Seed of the rows drawn; None: ``random_state``."),
    "feature_fraction_seed": Parameter(
        _SEED, "Seed of the columns of trees; None: ``random_state``."
    ),
    "data_random_seed": Parameter(
        _SEED, "Seed of the rows from which bins are computed; None: ``random_state``."
    ),
    "drop_rate": Parameter(_RATE, "dart: share of the rounds dropped."),
    "skip_drop": Parameter(_RATE, "dart: probability that a round drops none."),
    "max_drop": Parameter(
        _WHOLE, "dart: maximum number of rounds dropped; 0 or less for no limit."
    ),
    "uniform_drop": Parameter(
        p.flag, "dart: draw rounds with equal probability instead of by their weights."
    ),
    "xgboost_dart_mode": Parameter(p.flag, "dart: weight trees as XGBoost does."),
    "drop_seed": Parameter(p.integer(0, 2**32 - 1), "dart: seed."),
    "max_bin": Parameter(
        p.integer(2, 65_535),
        "Maximum number of bins of a column; more than 255 take twice the memory.",
    ),
    "min_data_in_bin": Parameter(
        p.integer(1),
        "Minimum number of rows of a bin. Categories with fewer rows count as missing, and so "
        "does the rest once 99 % of the rows have bins and ``max_bin`` is reached.",
    ),
    "enable_bundle": Parameter(
        p.flag, "Bundle columns that are never nonzero in the same row: see ``bundles_``."
    ),
    "max_conflict_rate": Parameter(
        p.real(0, 1, open_high=True),
        "Share of rows in which several columns of a bundle may be nonzero. Such a row keeps the value of "
        "the column that joined first; the others count as their most frequent value.",
    ),
    "histogram_pool_size": Parameter(
        p.ParameterRule("a number", p.real(-np.inf).allows) | p.none,
        "Megabytes for the histograms of leaves that wait to be split; others are counted again when their "
        "leaf's turn comes. 0 or less: no limit; None is 512. The model does not depend on it. Also "
        "``hist_pool_size``.",
    ),
    "max_delta_step": Parameter(
        p.ParameterRule("a number", p.real(-np.inf).allows),
        "Maximum size of leaf values before the learning rate; 0 or less for no limit.",
    ),
    "path_smooth": Parameter(
        p.real(0), "Shrink the values of small leaves towards their parent's."
    ),
    "cat_smooth": Parameter(
        p.real(0), "Categories: smoothing of their order, and the minimum number of rows of one."
    ),
    "cat_l2": Parameter(p.real(0), "Categories: additional L2 penalty."),
    "max_cat_threshold": Parameter(p.integer(1), "Categories: maximum number on one side."),
    "max_cat_to_onehot": Parameter(
        p.integer(1), "Fewer categories than this are split one against the rest."
    ),
    "min_data_per_group": Parameter(p.integer(1), "Categories: minimum number of rows per step."),
    "monotone_constraints": Parameter(
        p.checked_later("a list, a dict or None"),
        "1: the prediction may only rise with the column, -1: only fall; one sign per column, or by name.",
    ),
    "monotone_constraints_method": Parameter(_BASIC),
    "interaction_constraints": Parameter(
        p.checked_later("a list of lists or None"),
        "Groups of columns that may occur together on a path; columns in no group are not used.",
    ),
    "boost_from_average": Parameter(p.flag, "Start from the best constant instead of 0."),
    **{name: Parameter(_loss_rule(name), text) for name, text in _LOSS_TEXTS.items()},
    "num_class": Parameter(
        p.integer(1) | p.none, "Checked against the number of classes in ``y``."
    ),
    "metric": Parameter(
        p.text_or("the name of a metric", str) | _MANY | p.none,
        "Metrics for ``eval_set``, besides ``eval_metric``; None: that of the objective, "
        '"None": no metric.',
    ),
    "early_stopping_round": Parameter(
        _WHOLE | p.none, "Like the callback `early_stopping`; 0 or less for none."
    ),
    "early_stopping_min_delta": Parameter(p.real(0), "Like ``min_delta`` of `early_stopping`."),
    "first_metric_only": Parameter(p.flag, "Like ``first_metric_only`` of `early_stopping`."),
    "deterministic": Parameter(
        p.flag, "Accepted without effect: models are always identical to the bit."
    ),
    "force_col_wise": Parameter(
        p.flag, "Accepted without effect: the layout does not change the model."
    ),
    "force_row_wise": Parameter(p.flag, "Accepted without effect."),
    "zero_as_missing": Parameter(
        p.flag, "Zeros are missing values, also those that a sparse table does not store."
    ),
    "objective_seed": Parameter(p.integer(0, 2**31 - 1), "rank_xendcg: seed."),
    "pred_early_stop": Parameter(
        p.flag,
        "`predict`, of classes and rankings: a row takes no more trees when its score is far from the next "
        "class's.",
    ),
    "pred_early_stop_freq": Parameter(p.integer(1), "Rounds between two looks at the score."),
    "pred_early_stop_margin": Parameter(
        p.real(0), "How far the score must be: twice its size for two classes."
    ),
    "verbosity": Parameter(
        _WHOLE | p.flag | p.none,
        "Below 0: no warnings from this model; 2 and more: a progress bar. Also ``verbose``.",
    ),
}

ATTRIBUTES = {
    "ensemble_ : Ensemble": "The trees.",
    "trees_ : list of Tree": "Round by round, output by output.",
    "objective_ : str or function": "The objective.",
    "booster_ : LGBMBooster": "The trees, with the interface of LightGBM's Booster.",
    "schema_ : Schema": "Names, kinds and categories of the columns.",
    "n_features_in_, n_features_ : int": "",
    "feature_names_in_ : array of str": "Only if the training table had names.",
    "feature_name_ : list of str": "Names of the columns; Column_0, … if they have none.",
    "feature_importances_ : array": "See ``importance_type``.",
    "evals_result_ : dict": "Table, metric, a value per round.",
    "best_iteration_ : int": "The best round, counted from 1; 0 without early stopping.",
    "best_score_ : dict": "The metrics of the best round, else of the last.",
    "n_iter_, n_estimators_ : int": "Rounds that predictions use.",
    "bundles_ : list of lists of str": "Columns that shared a column of codes while training.",
    **Interruptible._attributes_of_rounds,
}


# ---------------------------------------------------------------------- unsupported parameters
def _only(*values: Any) -> Callable[[Any], bool]:
    # an array is compared number by number
    return lambda given: any(given is value or np.all(given == value) for value in values)


_LAYOUT, _FILES = "", "it belongs to LightGBM's command line; arboretum has its own"
ABSENT: dict[str, Absent] = {
    "linear_tree": Absent("leaves have constant values, not linear models", _only(False)),
    "device_type": Absent("there is no code for GPUs: use 'cpu'", _only("cpu")),
    "tree_learner": Absent("a model is trained on one machine: use 'serial'", _only("serial")),
    "num_machines": Absent("a model is trained on one machine", _only(1)),
    "use_quantized_grad": Absent("histograms always hold whole numbers", _only(False)),
    "use_missing": Absent("NaN is always a missing value: fill it before", _only(True)),
    "monotone_penalty": Absent("constraints are not penalised by depth", _only(0)),
    "feature_contri": Absent("gains of columns cannot be weighted", _only(None)),
    "forcedsplits_filename": Absent("splits cannot be forced", _only("", None)),
    "forcedbins_filename": Absent("bins cannot be forced: cut the column before", _only("", None)),
    "max_bin_by_feature": Absent("all columns have the same max_bin", _only(None)),
    "cegb_tradeoff": Absent("splits have no costs", _only(1)),
    "cegb_penalty_split": Absent("splits have no costs", _only(0)),
    "cegb_penalty_feature_lazy": Absent("splits have no costs", _only(None)),
    "cegb_penalty_feature_coupled": Absent("splits have no costs", _only(None)),
    "reg_sqrt": Absent("fit on the square root of y and square the predictions", _only(False)),
    "auc_mu_weights": Absent("the metric auc_mu is not part of arboretum", _only(None)),
    "lambdarank_position_bias_regularization": Absent("positions are not used", _only(0)),
    "categorical_feature": Absent(
        "it is an argument of fit, or give categorical_features", _only("auto", "", None)
    ),
    "top_k": Absent(_LAYOUT, p.integer(1).allows),  # only for the voting learner
    "is_enable_sparse": Absent(_LAYOUT, p.flag.allows),  # a layout: the model is the same
    "feature_pre_filter": Absent(_LAYOUT, p.flag.allows),  # a shortcut: the model is the same
    **{
        name: Absent(_FILES, lambda given: False)
        for name in (
            "config", "task", "data", "valid", "input_model", "output_model", "snapshot_freq",
            "header", "label_column", "weight_column", "group_column", "ignore_column",
            "pre_partition", "two_round", "save_binary", "convert_model", "output_result",
            "predict_raw_score", "predict_leaf_index", "predict_contrib",
        )
    },
}  # fmt: skip


_CONSTRUCTOR = "it belongs to the constructor"
_CALLBACK = "give callbacks=[arboretum.{}] instead"
PASSED = Passed(
    "LightGBM",
    without_effect={
        "silent": "use verbosity",
        "task_type": "there is no code for GPUs, the CPU is used",
        "gpu_platform_id": "there is no code for GPUs, the CPU is used",
        "gpu_device_id": "there is no code for GPUs, the CPU is used",
        "gpu_use_dp": "there is no code for GPUs, the CPU is used",
    },
    replaced=(
        Replaced(
            "monotone_constraints_method",
            p.one_of("intermediate", "advanced").allows,
            "basic",
            "predictions keep the signs by the basic method, with tighter bounds on leaves",
        ),
        Replaced(
            "device_type",
            p.one_of("gpu", "cuda").allows,
            "cpu",
            "there is no code for GPUs, the CPU is used",
        ),
    ),
    absent=ABSENT,
    moved={
        "early_stopping_rounds": _CALLBACK.format("early_stopping(rounds)"),
        "verbose": _CALLBACK.format("log_evaluation(period)"),
        "verbose_eval": _CALLBACK.format("log_evaluation(period)"),
        "evals_result": _CALLBACK.format("record_evaluation(a_dict)"),
        "num_boost_round": _CONSTRUCTOR + " as n_estimators",
    },
    ignored={
        "predict_disable_shape_check": "the number of columns is always checked",
        "num_threads": "n_jobs of the model counts",
    },
    settles=True,
)
