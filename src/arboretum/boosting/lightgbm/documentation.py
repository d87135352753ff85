"""LightGBM's parameters in words, for the docstrings of the estimators."""

from __future__ import annotations

__all__ = ["describe"]

_TEXT = """
    Parameters
    ----------
    boosting_type : {{"gbdt", "dart", "rf", "goss"}}, default="gbdt"
        Plain boosting; boosting that leaves rounds out while it grows others; a forest, the mean of trees
        that all start from the same scores; boosting on rows drawn by their gradients (as
        ``data_sample_strategy="goss"``).
    num_leaves : int, default=31
        The most leaves of a tree. The leaf that gains most is split first.
    max_depth : int, default=-1
        The largest depth; 0 or less for no limit.
    learning_rate : float, default=0.1
        What every tree's answers are multiplied by; also ``eta``. A forest has none.
    n_estimators : int, default=100
        Rounds; also ``num_iterations``, ``num_boost_round``.
    subsample_for_bin : int, default=200000
        Rows that bins are found from.
    objective : str, callable or None, default=None
        The loss, by LightGBM's names; None is {objective}. A function of (y, score), (y, score, weight) or
        (y, score, weight, group) returns gradient and hessian.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes (of classifiers only).
    min_split_gain : float, default=0.0
        A split must gain more than this; also ``min_gain_to_split``.
    min_child_weight : float, default=1e-3
        Σ hessian each side of a split needs; also ``min_sum_hessian_in_leaf``.
    min_child_samples : int, default=20
        Rows each side of a split needs, told from its share of the hessian, as LightGBM does; also
        ``min_data_in_leaf``.
    subsample, subsample_freq : float and int, defaults=1.0 and 0
        Draw this share of the rows every so many rounds; 0: all rows. Also ``bagging_fraction``,
        ``bagging_freq``.
    colsample_bytree : float, default=1.0
        Share of the columns drawn for every tree, rounded; also ``feature_fraction``.
    reg_alpha, reg_lambda : float, default=0.0
        L1 and L2 penalty of the answers; also ``lambda_l1``, ``lambda_l2``.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws; None is 0. Also ``seed``.
    n_jobs : int or None, default=None
        Threads; None, 0 and -1 use all cores. The model does not depend on it.
    importance_type : {{"split", "gain"}}, default="split"
        What `feature_importances_` holds: how often a column is asked for, or what it gains.
    data_sample_strategy : {{"bagging", "goss"}}, default="bagging"
        Draw rows at random (``subsample``), or keep those with large gradients and draw from the others,
        which then count for more.
    top_rate, other_rate : float, defaults=0.2 and 0.1
        GOSS: share of the rows kept, share drawn of the rest; all rows in the first 1/learning_rate rounds.
    pos_bagging_fraction, neg_bagging_fraction : float, default=1.0
        Shares of the rows of the second and first of two classes, instead of ``subsample``.
    bagging_by_query : bool, default=False
        Ranking: draw whole groups.
    feature_fraction_bynode : float, default=1.0
        Share of a tree's columns drawn for every node; also ``colsample_bynode``.
    bagging_seed, feature_fraction_seed, data_random_seed : int or None, default=None
        Seeds of the rows drawn, of the columns of trees, of the rows that bins are found from; None:
        ``random_state``.
    drop_rate, skip_drop, max_drop, uniform_drop, xgboost_dart_mode, drop_seed : \
defaults=0.1, 0.5, 50, False, False, 4
        dart: share of the rounds left out; probability that a round leaves out none; the most rounds left out
        (0 or less: no limit); draw rounds with equal probability instead of by what they count; weigh trees
        as XGBoost does; seed.
    max_bin, min_data_in_bin : int, defaults=255 and 3
        The most bins of a column (one with more than 255 takes twice the memory), the fewest rows of a
        bin. Categories of fewer rows count as missing, and the rest once 99 % of the rows have bins and
        ``max_bin`` is reached.
    enable_bundle : bool, default=True
        Let columns that are never used in the same row share one: see ``bundles_``.
    max_delta_step : float, default=0.0
        The largest answer of a leaf before the learning rate; 0 or less for no limit.
    path_smooth : float, default=0.0
        Leaves of few rows lean on their parent.
    cat_smooth, cat_l2, max_cat_threshold, max_cat_to_onehot, min_data_per_group : \
defaults=10.0, 10.0, 32, 4, 100
        Splits of categories: smoothing of the order and the fewest rows of a category; further L2 penalty;
        the most categories on one side; fewer categories than this are split one against the rest; rows
        of every step.
    monotone_constraints : list, dict or None, default=None
        1: the prediction may only rise with the column, -1: only fall; one sign per column, or by name.
    monotone_constraints_method : {{"basic"}}, default="basic"
    interaction_constraints : list of lists or None, default=None
        Groups of columns that may meet on a path; columns of no group are not used.
    boost_from_average : bool, default=True
        Begin with the best constant instead of 0.
    scale_pos_weight, is_unbalance : float and bool, defaults=1.0 and False
        Weight of the rows of the second of two classes; weigh both classes alike.
    sigmoid, alpha, fair_c, poisson_max_delta_step, tweedie_variance_power : \
defaults=1.0, 0.9, 1.0, 0.7, 1.5
        Of the objectives: steepness of logistic losses; level of quantile and bend of huber; of fair; of
        poisson; of tweedie.
    num_class : int or None, default=None
        Checked against the classes of ``y``, which say it anyway.
    lambdarank_truncation_level, lambdarank_norm, label_gain : defaults=30, True, None
        Of ranking: pairs have a row among so many first ones; lists are scaled; gains by label (2^label - 1).
    metric : str, list of str or None, default=None
        What ``eval_set`` is judged by, besides ``eval_metric``; None: as the objective suggests, "None":
        nothing.
    eval_at, multi_error_top_k : defaults=1 to 5, and 1
        Places that ranking metrics look at; classes that may be right for multi_error.
    early_stopping_round, early_stopping_min_delta, first_metric_only : defaults=None, 0.0, False
        As the callback `early_stopping`; 0 or less for none.
    deterministic, force_col_wise, force_row_wise : bool, default=False
        Accepted: models are always the same bits, and the layout changes no model.
    verbosity : int or None, default=None
        Below 0: no warnings of this model; 2 and more: a bar while boosting. Also ``verbose``.

    Attributes
    ----------
    schema_ : Schema
        Names, kinds and categories of the columns.{classes}
    n_features_in_, n_features_ : int
    feature_names_in_ : array of str
        Only if the training table had names.
    feature_name_ : list of str
        Names of the columns; Column_0, … if they have none.
    feature_importances_ : array
    evals_result_ : dict
        Table, metric, a figure per round.
    best_iteration_ : int
        The best round, counted from 1; 0 without early stopping.
    best_score_ : dict
        The figures of the best round, else of the last.
    n_iter_, n_estimators_ : int
        Rounds that predictions use.
    bundles_ : list of lists of str
        Columns that shared a column of codes while training.
    booster_ : LGBMBooster
    objective_ : Objective
    ensemble_ : Ensemble
        The trees.
"""


def describe(objective: str, *, classes: bool = False) -> str:
    """Return the Parameters and Attributes sections of a docstring."""
    known = "\n    classes_ : array\n        The class labels, sorted.\n    n_classes_ : int"
    return _TEXT.format(objective=objective, classes=known if classes else "")
