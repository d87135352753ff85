"""XGBoost's parameters: what they may be, what they are by default, and in words; recipe.py acts on them.

As in XGBoost's scikit-learn classes a parameter of None has the program's default, listed in `DEFAULTS`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.base import parameters as p

__all__ = [
    "ALIASES",
    "DEFAULTS",
    "RULES",
    "describe",
    "metric_settings",
    "objective_settings",
    "value",
]

DEFAULTS: dict[str, Any] = {
    "n_estimators": 100,
    "max_depth": 6,
    "max_leaves": 0,
    "max_bin": 255,
    "grow_policy": "depthwise",
    "learning_rate": 0.3,
    "verbosity": 1,
    "booster": "gbtree",
    "tree_method": "auto",
    "gamma": 0.0,
    "min_child_weight": 1.0,
    "max_delta_step": 0.0,
    "subsample": 1.0,
    "colsample_bytree": 1.0,
    "colsample_bylevel": 1.0,
    "colsample_bynode": 1.0,
    "reg_alpha": 0.0,
    "reg_lambda": 1.0,
    "num_parallel_tree": 1,
    "importance_type": "gain",
    "max_cat_to_onehot": 4,
    "max_cat_threshold": 64,
    "rate_drop": 0.0,
    "skip_drop": 0.0,
    "one_drop": False,
    "sample_type": "uniform",
    "normalize_type": "tree",
    "proposals": "iteration",
}

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
_FUNCTION = p.Rule("a function", callable)
_NUMBER = p.text_or("a number", int, float, np.number)
_NAMES = p.text_or("a list of them", list, tuple)
_NOT_GBLINEAR = p.Rule(
    "'gbtree' or 'dart' ('gblinear' is a linear model, not one of trees: use scikit-learn's)",
    p.one_of("gbtree", "dart").allows,
)
_BASE = p.text_or(
    "a number, or a list of one per output", int, float, np.number, list, tuple, np.ndarray
)

_OBJECTIVE_RULES = {
    "scale_pos_weight": p.real(0, open_low=True),
    "huber_slope": p.real(0, open_low=True),
    "quantile_alpha": p.Rule("a number in (0, 1), or a list of them", p.anything.allows),
    "tweedie_variance_power": p.real(1, 2, open_high=True),
    "lambdarank_pair_method": p.one_of("topk", "mean"),
    "lambdarank_num_pair_per_sample": p.integer(1),
    "lambdarank_normalization": p.flag,
    "lambdarank_score_normalization": p.flag,
    "lambdarank_unbiased": p.Rule(
        "False: learning from biased clicks is not part of arboretum", p.one_of(False).allows
    ),
    "ndcg_exp_gain": p.flag,
}
_GIVEN_OR_NONE = {
    "max_depth": p.integer(0),
    "max_leaves": p.integer(0),
    "max_bin": p.integer(2, 65_535),
    "grow_policy": p.one_of("depthwise", "lossguide"),
    "learning_rate": p.real(0, open_low=True),
    "n_estimators": p.integer(1),
    "verbosity": p.integer(0, 3),
    "objective": p.text_or("the name of an objective", str) | _FUNCTION,
    "booster": _NOT_GBLINEAR,
    "tree_method": p.one_of("auto", "hist", "approx", "exact"),
    "gamma": p.real(0),
    "min_child_weight": p.real(0),
    "max_delta_step": p.real(0),
    "subsample": _SHARE,
    "sampling_method": p.Rule(
        "'uniform' ('gradient_based' needs a GPU in XGBoost)", p.one_of("uniform").allows
    ),
    "colsample_bytree": _SHARE,
    "colsample_bylevel": _SHARE,
    "colsample_bynode": _SHARE,
    "reg_alpha": p.real(0),
    "reg_lambda": p.real(0),
    "base_score": _BASE,
    "num_parallel_tree": p.integer(1),
    "importance_type": p.one_of("weight", "gain", "cover", "total_gain", "total_cover"),
    "device": p.Rule("'cpu'", p.one_of("cpu").allows),
    "validate_parameters": p.Rule("True: unknown names are refused", p.one_of(True).allows),
    "feature_types": _NAMES,
    "feature_weights": p.Rule("None: columns are drawn with equal probability", p.none.allows),
    "max_cat_to_onehot": p.integer(1),
    "max_cat_threshold": p.integer(1),
    "multi_strategy": p.Rule(
        "'one_output_per_tree': every output has trees of its own",
        p.one_of("one_output_per_tree").allows,
    ),
    "eval_metric": p.text_or("the name of a metric", str) | _FUNCTION | _NAMES,
    "early_stopping_rounds": p.integer(1),
    "callbacks": p.text_or("a list of callbacks", list, tuple),
    "rate_drop": p.real(0, 1),
    "skip_drop": p.real(0, 1),
    "one_drop": p.flag | p.Rule("0 or 1", p.integer(0, 1).allows),
    "sample_type": p.one_of("uniform", "weighted"),
    "normalize_type": p.one_of("tree", "forest"),
    "proposals": p.one_of("iteration", "global"),
    **_OBJECTIVE_RULES,
}
RULES = {
    **{name: rule | p.none for name, rule in _GIVEN_OR_NONE.items()},
    "n_jobs": p.jobs,
    "random_state": p.seed,
    "missing": _NUMBER,
    "enable_categorical": p.flag,
}


def value(model: Any, name: str) -> Any:
    """Return a parameter, or the program's default."""
    given = getattr(model, name)
    return DEFAULTS[name] if given is None else given


def objective_settings(model: Any, seed: int) -> dict[str, Any]:
    """Return the parameters that objectives depend on."""
    found = {name: getattr(model, name) for name in _OBJECTIVE_RULES}
    return {**found, "max_delta_step": model.max_delta_step, "seed": seed % 2**32}


def metric_settings(model: Any) -> dict[str, Any]:
    """Return the parameters that metrics depend on."""
    names = (
        "huber_slope", "quantile_alpha", "tweedie_variance_power", "ndcg_exp_gain",
        "lambdarank_pair_method", "lambdarank_num_pair_per_sample",
    )  # fmt: skip
    return {name: getattr(model, name) for name in names}


# ---------------------------------------------------------------------- in words
_TEXT = """
    Parameters
    ----------
    max_depth : int or None, default=None
        Depth at which growing stops; 0 for no limit. None is XGBoost's default, 6; so it is with all
        parameters below: None stands for the number named.
    max_leaves : int or None, default=None
        The most leaves of a tree; 0, the default, for no limit.
    max_bin : int or None, default=None
        The most bins of a column of numbers, 255; one with more takes twice the memory. Categories have a
        bin each.
    grow_policy : {{"depthwise", "lossguide"}} or None, default=None
        Split the nodes level by level, or the one that gains most first.
    learning_rate : float or None, default=None
        What every tree's answers are multiplied by, 0.3; also ``eta``.
    n_estimators : int or None, default=None
        Rounds, 100.
    verbosity : int or None, default=None
        2 and 3 show a bar while boosting, 0 and 1 do not.
    objective : str or callable, default={objective}
        The loss, by XGBoost's names, or a function of (y, margin[, sample_weight]) that returns gradient
        and hessian.
    booster : {{"gbtree", "dart"}} or None, default=None
        "dart" leaves trees out while it grows others: see `rate_drop`.
    tree_method : {{"auto", "hist", "approx", "exact"}} or None, default=None
        Bins found once; bins of equal hessian, see `proposals`; every value. "auto" is "hist", and for up to
        100 rows of numbers, where both find the same splits, "exact".
    n_jobs : int or None, default=None
        Threads; None and -1 use all cores. The model does not depend on it. Also ``nthread``.
    gamma : float or None, default=None
        Gain that a split needs, 0: G²/(H + λ) of both sides less that of the node, without the ½ of the
        paper. Also ``min_split_loss``.
    min_child_weight : float or None, default=None
        Σ hessian each side of a split needs, 1.
    max_delta_step : float or None, default=None
        The largest answer of a leaf; 0, the default, for no limit (0.7 for count:poisson).
    subsample : float or None, default=None
        Share of the rows drawn for every tree.
    sampling_method : {{"uniform"}} or None, default=None
        How rows are drawn.
    colsample_bytree, colsample_bylevel, colsample_bynode : float or None, default=None
        Share of the columns drawn for every tree, of those for every depth, of those for every node.
    reg_alpha, reg_lambda : float or None, default=None
        L1 and L2 penalty of the answers, 0 and 1; also ``alpha``, ``lambda``.
    scale_pos_weight : float or None, default=None
        What rows of the second of two classes count.
    base_score : float, list of float or None, default=None
        The prediction before the first tree; None: estimated from the labels.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws; None is 0. Also ``seed``.
    missing : float, default=nan
        The value that stands for a missing one, besides NaN. What a sparse matrix does not store is missing.
    num_parallel_tree : int or None, default=None
        Trees per round and output; their mean counts.
    monotone_constraints : dict, tuple, str or None, default=None
        1: the prediction may only rise with the column, -1: only fall.
    interaction_constraints : list of lists, str or None, default=None
        Groups of columns that may meet on a path.
    importance_type : {{"gain", "weight", "cover", "total_gain", "total_cover"}} or None, default=None
        What `feature_importances_` holds the shares of.
    device : {{"cpu"}} or None, default=None
    validate_parameters : {{True}} or None, default=None
        Unknown parameters are always refused.
    enable_categorical : bool, default=False
        Accepted: columns of strings and categories are categories by their type.
    feature_types : list of {{"q", "float", "int", "i", "c"}} or None, default=None
        "c" makes a column of numbers categories.
    feature_weights : None
        Columns are drawn with equal probability.
    max_cat_to_onehot : int or None, default=None
        Fewer categories than this, 4, are split one against the rest.
    max_cat_threshold : int or None, default=None
        How many categories of their order are tried from either end, 64.
    multi_strategy : {{"one_output_per_tree"}} or None, default=None
    eval_metric : str, callable, list of them or None, default=None
        What `eval_set` is judged by, by XGBoost's names; a function of (y, prediction) is minimised.
    early_stopping_rounds : int or None, default=None
        Stop when the last metric has not become better on the last table for so many rounds.
    callbacks : list or None, default=None
        See `arboretum.boosting.watch.watching.Callback`.
    rate_drop, skip_drop : float or None, default=None
        dart: share of the rounds left out; probability that a round leaves out none. Both 0.
    one_drop : bool or None, default=None
        dart: leave out at least one round.
    sample_type : {{"uniform", "weighted"}} or None, default=None
        dart: rounds are drawn with equal probability, or by what they count.
    normalize_type : {{"tree", "forest"}} or None, default=None
        dart: how new and dropped trees share what they have learned.
    huber_slope, quantile_alpha, tweedie_variance_power : float or None, default=None
        Of the objectives reg:pseudohubererror, reg:quantileerror (a list: several at once), reg:tweedie.
    lambdarank_pair_method, lambdarank_num_pair_per_sample, lambdarank_normalization, \
lambdarank_score_normalization, lambdarank_unbiased, ndcg_exp_gain : default=None
        Of the ranking objectives.
    proposals : {{"iteration", "global"}} or None, default=None
        ``tree_method="approx"``: new bins in every round, or once.

    Attributes
    ----------
    schema_ : Schema
        Names, kinds and categories of the columns.{classes}
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if the training table had names.
    feature_importances_ : float array
    best_iteration, best_score
        Only with early stopping.
    objective_ : Objective
    ensemble_ : Ensemble
        The trees.
"""


def describe(objective: str, *, classes: bool = False) -> str:
    """Return the Parameters and Attributes sections of a docstring."""
    known = "\n    classes_ : array\n        The class labels, sorted.\n    n_classes_ : int"
    return _TEXT.format(objective=f'"{objective}"', classes=known if classes else "")
