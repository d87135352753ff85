"""XGBoost's parameters: what each may be, its default and what it means; recipe.py acts on them.

As in XGBoost's scikit-learn classes a parameter of None has XGBoost's default, which stands here beside the
rule and the sentence.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.parameters import Parameter, ParameterRule
from arboretum.base.rounds import Interruptible
from arboretum.base.shared_parameters import RUNNING, TABLE
from arboretum.boosting.names.xgboost import XGBOOST

__all__ = ["ALIASES", "ATTRIBUTES", "DEFAULTS", "PARAMETERS"]

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


# what losses depend on; their rules stand with the objectives that have them
_LOSS_TEXTS = {
    "max_delta_step": "The largest answer of a leaf; 0 for no limit. None is 0.7 for count:poisson, else 0.",
    "scale_pos_weight": "What rows of the second of two classes count.",
    "huber_slope": "reg:pseudohubererror: where the loss bends.",
    "quantile_alpha": "reg:quantileerror: which quantiles; several are learned at once.",
    "tweedie_variance_power": "reg:tweedie: how the variance follows the mean.",
    "lambdarank_pair_method": "Ranking: pairs with the first rows of a list, or with rows drawn.",
    "lambdarank_num_pair_per_sample": "Ranking: how many first rows, or how many drawn for each.",
    "lambdarank_normalization": "Ranking: lists are scaled.",
    "lambdarank_score_normalization": "Ranking: pairs are scaled by how far apart their scores are.",
    "lambdarank_unbiased": "",
    "ndcg_exp_gain": "Ranking: a grade r is worth 2^r - 1, else r.",
}

_OWN = {
    "objective": _Own(
        p.text_or("the name of an objective", str) | _FUNCTION, None,
        "The loss, by XGBoost's names, or a function of (y, margin[, sample_weight]) that returns gradient "
        "and hessian.",
    ),
    "max_depth": _Own(p.integer(0), 6, "Depth at which growing stops; 0 for no limit."),
    "max_leaves": _Own(p.integer(0), 0, "The most leaves of a tree; 0 for no limit."),
    "max_bin": _Own(
        p.integer(2, 65_535), 255,
        "The most bins of a column of numbers; one with more than 255 takes twice the memory. Categories "
        "have a bin each.",
    ),
    "grow_policy": _Own(
        p.one_of("depthwise", "lossguide"), "depthwise",
        "Split the nodes level by level, or the one that gains most first.",
    ),
    "learning_rate": _Own(
        p.real(0, open_low=True), 0.3,
        "What every tree's answers are multiplied by; also ``eta``.",
    ),
    "n_estimators": _Own(p.integer(1), 100, "Rounds."),
    "verbosity": _Own(
        p.integer(0, 3), 1, "2 and 3 show a bar while boosting; 0: not even that kernels are compiled."
    ),
    "booster": _Own(
        p.ParameterRule(
            "'gbtree' or 'dart' ('gblinear' is a linear model, not one of trees: use one of scikit-learn)",
            p.one_of("gbtree", "dart").allows,
        ),
        "gbtree",
        '"dart" leaves trees out while it grows others: see `rate_drop`.',
    ),
    "tree_method": _Own(
        p.one_of("auto", "hist", "approx", "exact"), "auto",
        'Bins found once; bins of equal hessian, see `proposals`; every value. "auto" is "hist", and for up '
        'to 100 rows of numbers, where both find the same splits, "exact".',
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
    "reg_alpha": _Own(p.real(0), 0.0, "L1 penalty of the answers; also ``alpha``."),
    "reg_lambda": _Own(p.real(0), 1.0, "L2 penalty of the answers; also ``lambda``."),
    "base_score": _Own(
        p.text_or(
            "a number, or a list of one per output", int, float, np.number, list, tuple, np.ndarray
        ),
        None, "The prediction before the first tree; None: estimated from the labels.",
    ),
    "num_parallel_tree": _Own(
        p.integer(1), 1, "Trees per round and output; their mean counts."
    ),
    "monotone_constraints": _Own(
        p.checked_later("a dict, tuple or str"), None,
        "1: the prediction may only rise with the column, -1: only fall.",
    ),
    "interaction_constraints": _Own(
        p.checked_later("a list of lists or str"), None, "Groups of columns that may meet on a path."
    ),
    "importance_type": _Own(
        p.one_of("weight", "gain", "cover", "total_gain", "total_cover"), "gain",
        "What `feature_importances_` holds the shares of.",
    ),
    "device": _Own(p.one_of("cpu"), None, ""),
    "validate_parameters": _Own(
        p.ParameterRule("True: unknown names are refused", p.one_of(True).allows), None, ""
    ),
    "feature_types": _Own(
        p.text_or("a list of 'q', 'float', 'int', 'i' and 'c'", list, tuple), None,
        '"c" makes a column of numbers categories.',
    ),
    "feature_weights": _Own(
        p.ParameterRule("None: columns are drawn with equal probability", p.none.allows), None, ""
    ),
    "max_cat_to_onehot": _Own(
        p.integer(1), 4, "Fewer categories than this are split one against the rest."
    ),
    "max_cat_threshold": _Own(
        p.integer(1), 64, "How many categories of their order are tried from either end."
    ),
    "multi_strategy": _Own(
        p.ParameterRule(
            "'one_output_per_tree': every output has trees of its own",
            p.one_of("one_output_per_tree").allows,
        ),
        None, "",
    ),
    "eval_metric": _Own(
        p.text_or("the name of a metric", str) | _FUNCTION | _NAMES, None,
        "What `eval_set` is evaluated by, by XGBoost's names; a function of (y, prediction) is minimised.",
    ),
    "early_stopping_rounds": _Own(
        p.integer(1), None,
        "Stop when the last metric has not become better on the last table for so many rounds.",
    ),
    "callbacks": _Own(
        p.text_or("a list of callbacks", list, tuple), None,
        "What is done between rounds, see `arboretum.callback`.",
    ),
    "rate_drop": _Own(p.real(0, 1), 0.0, "dart: share of the rounds left out."),
    "skip_drop": _Own(p.real(0, 1), 0.0, "dart: probability that a round leaves out none."),
    "one_drop": _Own(
        p.flag | p.ParameterRule("0 or 1", p.integer(0, 1).allows),
        False,
        "dart: leave out at least one round.",
    ),
    "sample_type": _Own(
        p.one_of("uniform", "weighted"), "uniform",
        "dart: rounds are drawn with equal probability, or by what they count.",
    ),
    "normalize_type": _Own(
        p.one_of("tree", "forest"), "tree",
        "dart: how new and dropped trees share what they have learned.",
    ),
    "proposals": _Own(
        p.ParameterRule(
            "'round', 'fit', 'global' or 'local' ('iteration' is now called 'round')",
            p.one_of("round", "fit", "global", "local").allows,
        ),
        "round",
        '``tree_method="approx"``: when cuts are proposed. "round": before every round, by the hessians of '
        'all its trees together; "fit": once, before the first; and by the paper\'s words "global": once '
        'for every tree; "local": anew at every split, for the rows of the node.',
    ),
    "sketch_eps": _Own(
        p.real(0, 1, open_low=True, open_high=True), None,
        '``tree_method="approx"``: from one proposed cut to the next lies less than this share of the '
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
        "The value that stands for a missing one, besides NaN. What a sparse matrix does not store is "
        "missing.",
    ),
    "enable_categorical": Parameter(
        p.flag, "Accepted: columns of strings and categories are categories by their type."
    ),
}

ATTRIBUTES = {
    "ensemble_ : Ensemble": "The trees.",
    "trees_ : list of Tree": "Round by round, output by output.",
    "objective_ : Objective": "The loss.",
    "schema_ : Schema": "Names, kinds and categories of the columns.",
    "n_features_in_ : int": "",
    "feature_names_in_ : array of str": "Only if the training table had names.",
    "feature_importances_ : float array": "The columns' shares of what `importance_type` counts.",
    "best_iteration, best_score": "Only with early stopping.",
    **Interruptible._attributes_of_rounds,
}
