"""XGBoost's parameters: what they may be, what they are by default, and what they mean to the engine.

As in XGBoost's scikit-learn classes a parameter of None has the program's default, listed in `DEFAULTS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.base import parameters as p
from arboretum.boosting.second_order.booster import Plan
from arboretum.boosting.second_order.constraints import interaction_groups, monotone_signs
from arboretum.boosting.second_order.dart import Dart
from arboretum.engine.gradient.score import SplitRules
from arboretum.errors import ParameterError

if TYPE_CHECKING:
    from arboretum.boosting.loss.objective_base import Objective
    from arboretum.data.schema import Schema

__all__ = [
    "ALIASES",
    "DEFAULTS",
    "RULES",
    "describe",
    "make_plan",
    "method_for",
    "metric_settings",
    "objective_settings",
    "value",
]

MANY = 1 << 30  # of a depth or a number of leaves: no limit
_TINY = 100  # rows

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
_NUMBER = p.Rule("a number", lambda v: isinstance(v, int | float | np.number))
_NAMES = p.Rule("a list of them", lambda v: isinstance(v, list | tuple))
_NOT_GBLINEAR = p.Rule(
    "'gbtree' or 'dart' ('gblinear' is a linear model, not one of trees: use scikit-learn's)",
    p.one_of("gbtree", "dart").allows,
)
_BASE = p.Rule(
    "a number, or a list of one per output",
    lambda v: (
        np.ndim(v) <= 1 and all(isinstance(x, int | float | np.number) for x in np.atleast_1d(v))
    ),
)

_OBJECTIVE_RULES = {
    "scale_pos_weight": p.real(0, open_low=True),
    "huber_slope": p.real(0, open_low=True),
    "quantile_alpha": p.Rule("a number in (0, 1), or a list of them", lambda v: True),
    "tweedie_variance_power": p.real(1, 2, open_high=True),
    "lambdarank_pair_method": p.one_of("topk", "mean"),
    "lambdarank_num_pair_per_sample": p.integer(1),
    "lambdarank_normalization": p.flag,
    "lambdarank_score_normalization": p.flag,
    "lambdarank_unbiased": p.Rule(
        "False: learning from biased clicks is not part of arboretum", lambda v: v is False
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
    "validate_parameters": p.Rule("True: unknown names are refused", lambda v: v is True),
    "feature_types": _NAMES,
    "feature_weights": p.Rule("None: columns are drawn with equal probability", lambda v: False),
    "max_cat_to_onehot": p.integer(1),
    "max_cat_threshold": p.integer(1),
    "multi_strategy": p.Rule(
        "'one_output_per_tree': every output has trees of its own",
        p.one_of("one_output_per_tree").allows,
    ),
    "eval_metric": p.text_or("the name of a metric", str) | _FUNCTION | _NAMES,
    "early_stopping_rounds": p.integer(1),
    "callbacks": p.Rule("a list of callbacks", lambda v: isinstance(v, list | tuple)),
    "rate_drop": p.real(0, 1),
    "skip_drop": p.real(0, 1),
    "one_drop": p.flag | p.Rule("0 or 1", lambda v: v in (0, 1)),
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


def method_for(model: Any, n_rows: int, schema: Schema) -> str:
    """Return how splits are searched: "hist", "approx" or "exact".

    Left to choose, tiny tables are searched exactly. Each of their values has a bin of its own, so the
    splits are those of "hist", but many of them gain the same, and sums of 16 bits would choose among those
    by chance.
    """
    method = value(model, "tree_method")
    if method != "auto":
        return method
    plain = not any(column.kind == "categorical" for column in schema.columns)
    plain &= value(model, "grow_policy") == "depthwise" and not value(model, "max_leaves")
    plain &= value(model, "gamma") == 0 and n_rows <= value(model, "max_bin")
    return "exact" if plain and n_rows <= _TINY else "hist"


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


def make_plan(model: Any, objective: Objective, schema: Schema, seed: int, n_jobs: int) -> Plan:
    """Return how to boost."""
    n_parallel = value(model, "num_parallel_tree")
    by_tree = float(value(model, "colsample_bytree"))
    return Plan(
        rules=_rules(model, objective, schema.n_features),
        learning_rate=float(value(model, "learning_rate")) / n_parallel,
        n_parallel=n_parallel,
        subsample=float(value(model, "subsample")),
        columns_by_tree=by_tree,
        dart=_dart(model),
        seed=seed,
        n_jobs=n_jobs,
        monotone=monotone_signs(model.monotone_constraints, schema),
        groups=interaction_groups(model.interaction_constraints, schema),
    )


def _rules(model: Any, objective: Objective, n_features: int) -> SplitRules:
    step = objective.max_delta_step if model.max_delta_step is None else model.max_delta_step
    max_depth, max_leaves = value(model, "max_depth"), value(model, "max_leaves")
    by_level, by_node = _drawn(model, n_features)
    if not max_depth and not max_leaves and value(model, "grow_policy") == "lossguide":
        raise ParameterError(
            "grow_policy='lossguide' needs an end: set max_leaves, or a max_depth above 0"
        )
    return SplitRules(
        l1=float(value(model, "reg_alpha")),
        l2=float(value(model, "reg_lambda")),
        max_delta_step=float(step),
        path_smooth=0.0,
        min_gain=float(value(model, "gamma")),
        reach_gain=True,
        min_weight=float(value(model, "min_child_weight")),
        min_rows=0.0,
        cat_l2=0.0,
        cat_smooth=0.0,
        cat_min_rows=0.0,
        max_cat_threshold=int(value(model, "max_cat_threshold")),
        max_onehot=int(value(model, "max_cat_to_onehot")) - 1,
        min_group=0.0,
        max_depth=int(max_depth) or MANY,
        max_leaves=int(max_leaves) or MANY,
        depth_first=value(model, "grow_policy") == "depthwise",
        level_columns=by_level,
        node_columns=by_node,
        as_xgboost=True,
    )


def _drawn(model: Any, n_features: int) -> tuple[int, int]:
    """Return how many columns a depth and a node draw; 0 for all."""
    tree = max(1, int(value(model, "colsample_bytree") * n_features))
    level = max(1, int(value(model, "colsample_bylevel") * tree))
    node = max(1, int(value(model, "colsample_bynode") * level))
    return level if level < tree else 0, node if node < level else 0


def _dart(model: Any) -> Dart | None:
    if value(model, "booster") != "dart":
        return None
    return Dart(
        rate_drop=float(value(model, "rate_drop")),
        skip_drop=float(value(model, "skip_drop")),
        one_drop=bool(value(model, "one_drop")),
        weighted=value(model, "sample_type") == "weighted",
        normalize=value(model, "normalize_type"),
    )


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
