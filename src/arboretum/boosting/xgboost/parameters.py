"""XGBoost's parameters: their values, defaults and meaning; recipe.py applies them.

As in XGBoost's scikit-learn classes a parameter of None has XGBoost's default, which is declared here beside
the rule and the sentence.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.parameters import Parameter, ParameterRule
from arboretum.base.rounds import Interruptible
from arboretum.base.shared_parameters import RUNNING, TABLE
from arboretum.boosting.names.passed import Passed, Replaced
from arboretum.boosting.names.xgboost import XGBOOST

__all__ = ["ALIASES", "ATTRIBUTES", "DEFAULTS", "PARAMETERS", "PASSED", "WRAPPER_ONLY"]

ALIASES = {
    "eta": "learning_rate",
    "lambda": "reg_lambda",
    "alpha": "reg_alpha",
    "min_split_loss": "gamma",
    "num_round": "n_estimators",
    "num_boost_round": "n_estimators",
    "nthread": "n_jobs",
    "seed": "random_state",
}

_SHARE = p.real(0, 1, open_low=True)
_FUNCTION = p.ParameterRule("a function", callable)
_NAMES = p.text_or("a list of them", list, tuple)


class _Own(NamedTuple):
    """A parameter that may be None, for XGBoost's default."""

    rule: ParameterRule
    default: Any
    text: str


# parameters of losses; their rules are in the tables of objectives
_LOSS_TEXTS = {
    "max_delta_step": "Maximum size of leaf values; 0 for no limit. None is 0.7 for count:poisson, else 0.",
    "scale_pos_weight": "Weight of the rows of the second of two classes.",
    "huber_slope": "reg:pseudohubererror: where the loss becomes linear.",
    "quantile_alpha": "reg:quantileerror: the quantiles; several are predicted at once.",
    "tweedie_variance_power": "reg:tweedie: the variance grows as the mean to this power.",
    "lambdarank_pair_method": "Ranking: pairs with the first rows of a list, or with random rows.",
    "lambdarank_num_pair_per_sample": "Ranking: number of first rows, or of random rows for each row.",
    "lambdarank_normalization": "Ranking: scale the gradients of every list.",
    "lambdarank_score_normalization": "Ranking: scale pairs by the difference of their scores.",
    "lambdarank_unbiased": "",
    "ndcg_exp_gain": "Ranking: the gain of a grade r is 2^r - 1, else r.",
}

_OWN = {
    "objective": _Own(
        p.text_or("the name of an objective", str) | _FUNCTION, None,
        "The loss, by XGBoost's names, or a function of (y, margin[, sample_weight]) that returns gradient "
        "and hessian.",
    ),
    "max_depth": _Own(p.integer(0), 6, "Depth at which growing stops; 0 for no limit."),
    "max_leaves": _Own(p.integer(0), 0, "Maximum number of leaves of a tree; 0 for no limit."),
    "max_bin": _Own(
        p.integer(2, 65_535), 255,
        "Maximum number of bins of a numeric column; more than 255 take twice the memory. Categories "
        "have a bin each.",
    ),
    "grow_policy": _Own(
        p.one_of("depthwise", "lossguide", "symmetric"), "depthwise",
        'Split the nodes level by level, or the one with the largest gain first. "symmetric", which XGBoost '
        "does not have, tries one cut per level on all its nodes.",
    ),
    "learning_rate": _Own(
        p.real(0), 0.3,
        "Factor of every tree's values; also ``eta``.",
    ),
    "n_estimators": _Own(p.integer(1), 100, "Rounds."),
    "verbosity": _Own(
        p.integer(0, 3), 1, "2 and 3 show a progress bar; 0 also hides the note on compiling."
    ),
    "booster": _Own(
        p.ParameterRule(
            "'gbtree' or 'dart' ('gblinear' is a linear model without trees: use one of scikit-learn)",
            p.one_of("gbtree", "dart").allows,
        ),
        "gbtree",
        '"dart" drops trees while it grows others: see `rate_drop`.',
    ),
    "tree_method": _Own(
        p.one_of("auto", "hist", "approx", "exact"), "auto",
        'Bins computed once; bins of equal hessian, see `proposals`; every value. "auto" is "hist", and for '
        'up to 100 rows of numbers, where both give the same splits, "exact".',
    ),
    "gamma": _Own(
        p.real(0), 0.0,
        "Gain that a split needs: G²/(H + λ) of both sides less that of the node, without the ½ of the "
        "paper. Also ``min_split_loss``.",
    ),
    "min_child_weight": _Own(p.real(0), 1.0, "Σ hessian each side of a split needs."),
    "subsample": _Own(_SHARE, 1.0, "Share of the rows drawn for every tree."),
    "sampling_method": _Own(
        p.ParameterRule("'uniform' ('gradient_based' needs a GPU in XGBoost)", p.one_of("uniform").allows),
        None, "How rows are drawn.",
    ),
    "colsample_bytree": _Own(_SHARE, 1.0, "Share of the columns drawn for every tree."),
    "colsample_bylevel": _Own(_SHARE, 1.0, "Share of a tree's columns drawn for every depth."),
    "colsample_bynode": _Own(_SHARE, 1.0, "Share of a depth's columns drawn for every node."),
    "reg_alpha": _Own(p.real(0), 0.0, "L1 penalty of the leaf values; also ``alpha``."),
    "reg_lambda": _Own(p.real(0), 1.0, "L2 penalty of the leaf values; also ``lambda``."),
    "base_score": _Own(
        p.text_or(
            "a number, or a list of one per output", int, float, np.number, list, tuple, np.ndarray
        ),
        None, "The prediction before the first tree; None: estimated from the labels.",
    ),
    "num_parallel_tree": _Own(
        p.integer(1), 1, "Number of trees per round and output, which are averaged."
    ),
    "monotone_constraints": _Own(
        p.checked_later("a dict, tuple or str"), None,
        "1: the prediction may only rise with the column, -1: only fall.",
    ),
    "interaction_constraints": _Own(
        p.checked_later("a list of lists or str"), None, "Groups of columns that may share a path."
    ),
    "importance_type": _Own(
        p.one_of("weight", "gain", "cover", "total_gain", "total_cover"), "gain",
        "The importance whose shares `feature_importances_` returns.",
    ),
    "device": _Own(p.one_of("cpu"), None, ""),
    "validate_parameters": _Own(
        p.ParameterRule("True: unknown names are refused", p.one_of(True).allows), None, ""
    ),
    "feature_types": _Own(
        p.text_or("a list of 'q', 'float', 'int', 'i' and 'c'", list, tuple), None,
        '"c" declares a numeric column as categories.',
    ),
    "feature_weights": _Own(
        p.checked_later("an array of numbers"), None,
        "A weight for every column: those with a larger one are drawn for more trees "
        "(`colsample_bytree`).",
    ),
    "max_cat_to_onehot": _Own(
        p.integer(1), 4, "Fewer categories than this are split one against the rest."
    ),
    "max_cat_threshold": _Own(
        p.integer(1), 64, "Maximum number of categories on one side, from either end of their order."
    ),
    "multi_strategy": _Own(
        p.ParameterRule(
            "'one_output_per_tree' (for trees of several outputs, 'multi_output_tree', use a "
            "RandomForestRegressor)",
            p.one_of("one_output_per_tree").allows,
        ),
        None, "",
    ),
    "eval_metric": _Own(
        p.text_or("the name of a metric", str) | _FUNCTION | _NAMES, None,
        "Metrics for `eval_set`, by XGBoost's names; a function of (y, prediction) is minimised.",
    ),
    "early_stopping_rounds": _Own(
        p.integer(1), None,
        "Stop when the last metric on the last table has not improved for this many rounds.",
    ),
    "callbacks": _Own(
        p.text_or("a list of callbacks", list, tuple), None,
        "Callbacks between rounds, see `arboretum.callback`.",
    ),
    "rate_drop": _Own(p.real(0, 1), 0.0, "dart: share of the rounds dropped."),
    "skip_drop": _Own(p.real(0, 1), 0.0, "dart: probability that a round drops none."),
    "one_drop": _Own(
        p.flag | p.ParameterRule("0 or 1", p.integer(0, 1).allows),
        False,
        "dart: drop at least one round.",
    ),
    "sample_type": _Own(
        p.one_of("uniform", "weighted"), "uniform",
        "dart: draw rounds with equal probability, or by their weights.",
    ),
    "normalize_type": _Own(
        p.one_of("tree", "forest"), "tree",
        "dart: how new and dropped trees are scaled.",
    ),
    "proposals": _Own(
        p.ParameterRule(
            "'round', 'fit', 'global' or 'local' ('iteration' is now called 'round')",
            p.one_of("round", "fit", "global", "local").allows,
        ),
        "round",
        '``tree_method="approx"``: when cuts are proposed. "round": before every round, by the hessians of '
        'all its trees together; "fit": once, before the first round; in the paper\'s terms "global": once '
        'for every tree; "local": at every split, for the rows of the node.',
    ),
    "sketch_eps": _Own(
        p.real(0, 1, open_low=True, open_high=True), None,
        '``tree_method="approx"``: between two proposed cuts lies less than this share of the '
        "hessian (a single value may have more). Instead of `max_bin`.",
    ),
    **{name: _Own(XGBOOST.settings[name].rule, None, text) for name, text in _LOSS_TEXTS.items()},
}  # fmt: skip

DEFAULTS = {name: own.default for name, own in _OWN.items() if own.default is not None}


def _parameter(own: _Own) -> Parameter:
    default = "" if own.default is None else f" None is {own.default!r}."
    return Parameter(own.rule | p.none, own.text + default.replace("'", '"'))


PARAMETERS = {
    **TABLE,
    **RUNNING,
    **{name: _parameter(own) for name, own in _OWN.items()},
    "random_state": Parameter(p.seed, "Seed of the draws; None is 0. Also ``seed``."),
    "n_jobs": Parameter(p.jobs, RUNNING["n_jobs"].text + " Also ``nthread``."),
    "missing": Parameter(
        p.text_or("a number", int, float, np.number),
        "The value that means missing, besides NaN. Entries that a sparse matrix does not store are "
        "missing.",
    ),
    "enable_categorical": Parameter(
        p.flag, "Accepted without effect: columns of strings and categories are always categories."
    ),
}

ATTRIBUTES = {
    "ensemble_ : Ensemble": "The trees.",
    "trees_ : list of Tree": "Round by round, output by output.",
    "objective_ : Objective": "The loss.",
    "schema_ : Schema": "Names, kinds and categories of the columns.",
    "n_features_in_ : int": "",
    "feature_names_in_ : array of str": "Only if the training table had names.",
    "feature_importances_ : float array": "The columns' shares of the importance named by `importance_type`.",
    "best_iteration, best_score": "Only with early stopping.",
    **Interruptible._attributes_of_rounds,
}

# Parameters of the estimators that XGBoost's own functions do not have.
WRAPPER_ONLY = frozenset({
    "n_estimators", "missing", "importance_type", "enable_categorical", "feature_types", "feature_weights",
    "early_stopping_rounds", "callbacks", "proposals", "sketch_eps", "categorical_features",
    "ordinal_features", "unseen",
})  # fmt: skip

# ---------------------------------------------------------------------- what scripts pass
_NO_GPU = "there is no code for GPUs, the CPU is used"
_CONSTRUCTOR = "it belongs to the constructor"


def _names_a_gpu(device: Any) -> bool:
    return isinstance(device, str) and device.startswith(("cuda", "gpu"))


PASSED = Passed(
    "XGBoost",
    without_effect={
        "use_label_encoder": "labels may be of any kind",
        "num_class": "classes are counted in y",
        "silent": "use verbosity",
        "predictor": "there is one way to predict",
        "gpu_id": _NO_GPU,
        "task_type": _NO_GPU,
        "single_precision_histogram": "histograms always hold whole numbers",
        "ntree_limit": "give iteration_range to predict",
    },
    replaced=(
        Replaced("device", _names_a_gpu, "cpu", _NO_GPU),
        Replaced("tree_method", p.one_of("gpu_hist").allows, "hist", _NO_GPU),
        Replaced(
            "objective",
            p.one_of("reg:linear").allows,
            "reg:squarederror",
            "it is called 'reg:squarederror' today",
        ),
        Replaced("validate_parameters", p.one_of(False).allows, None, ""),
    ),
    moved={
        "early_stopping_rounds": _CONSTRUCTOR,
        "eval_metric": _CONSTRUCTOR,
        "callbacks": _CONSTRUCTOR,
        "num_boost_round": _CONSTRUCTOR + " as n_estimators",
    },
    renamed={"ntree_limit": ("iteration_range", lambda n: (0, int(n)) if n else None)},
)
