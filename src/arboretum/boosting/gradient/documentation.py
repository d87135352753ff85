"""The parameters of gradient boosting in words: written once, put together per class."""

from __future__ import annotations

__all__ = ["describe"]

_TEXT = """
    Parameters
    ----------
    loss : {losses} or object
        {loss_note} An object with ``gradient(y, F)`` and ``hessian(y, F)`` is a loss of your own: see
        `arboretum.boosting.loss.user`.
    learning_rate : float, default=0.1
        How much of every step is taken.
    n_estimators : int, default=100
        Rounds.
    subsample : float, default=1.0
        Share of the rows, drawn without replacement, that a round learns from (stochastic boosting).
    criterion : {{"friedman_mse", "squared_error"}}, default="friedman_mse"
        What a split of the residuals is judged by; with one output both choose the same splits.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Rows a node needs to be divided, and each side of a split; a float is a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Share of the weight each side of a split needs.
    max_depth : int or None, default=3
        Depth of the trees. Up to 8 they grow from columns sorted once per fit.
    min_impurity_decrease : float, default=0.0
        Weighted impurity decrease a split needs.
    init : estimator, "zero" or None, default=None
        Where the sum begins: with an estimator's answer, with 0, or with the best constant.
    random_state : int, RandomState, Generator or None, default=None
        Seed. Round m depends on (seed, m) and on the sum before it alone.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Columns drawn at every node; a float is a share of the columns; None means all.{alpha}
    verbose : int, default=0
        1 prints the score of some rounds, 2 of every round.
    max_leaf_nodes : int or None, default=None
        Grow trees best-first to so many leaves.
    warm_start : bool, default=False
        Keep the rounds of the last fit and add to them; 50 rounds and 50 more are 100.
    validation_fraction : float, default=0.1
        Share of the rows set aside to judge by, if `n_iter_no_change` is set.
    n_iter_no_change : int or None, default=None
        Stop when the rows set aside have not got better by `tol` than in any of so many rounds before.
    tol : float, default=1e-4
        See there.
    ccp_alpha : float, default=0.0
        Strength of cost-complexity pruning of every tree; 0 prunes nothing.
    step : {{"leaf", "line_search"}}, default="leaf"
        A step of its own for every leaf, or one length for the whole round.
    category_penalty : float, default=1.0
        What a division of m categories is charged when columns compete, times 2/π (m - 2)/n of the node's
        impurity (n its rows): so much it gains by chance. 0 takes the best division of the training rows.
    categorical_features : list of names, indices or mask, or None, default=None
        Columns to treat as categories besides those whose type says so.
    ordinal_features : list of names or indices, dict or None, default=None
        Columns to treat as ranks; a dict gives the order of their words.
    unseen : {{"missing", "error"}}, default="missing"
        A category first met at predict: treat as missing, with a warning, or raise an error.
    n_jobs : int or None, default=None
        Threads; None and -1 use all cores. The model does not depend on it.

    Attributes
    ----------
    trees_ : list of Tree
        Round after round; in a round of several trees, class after class. Leaves answer their steps, before
        the learning rate.
    estimators_ : array of CARTRegressor of shape (n_estimators_, n_trees_per_iteration_)
    n_estimators_, n_trees_per_iteration_ : int
    init_ : estimator or Constant
        Where the sum begins.
    train_score_ : float array
        Mean loss of the rows in the bag after every round.
    oob_improvement_, oob_scores_ : float arrays
        Only with `subsample` < 1: loss of the rows out of the bag, and how much better than the round before.
    oob_score_ : float
        The last of these.
    schema_ : Schema
        Names, kinds and categories of the columns.{classes}
    n_features_in_, max_features_ : int
    feature_names_in_ : array of str
        Only if the training table had names.
    feature_importances_ : float array
        Share of the impurity decrease each column brought.
"""


def describe(*, classifier: bool) -> str:
    """Return the parameters and attributes of one of the two classes."""
    if classifier:
        return _TEXT.format(
            losses='{"log_loss", "exponential"}, default="log_loss"',
            loss_note="What is made small; exponential is AdaBoost's, for two classes.",
            alpha="",
            classes="""
    classes_ : array
        The class labels, sorted.
    n_classes_ : int""",
        )
    return _TEXT.format(
        losses='{"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma",\n'
        '        "tweedie"}, default="squared_error"',
        loss_note="What is made small. The last three predict e^F, the mean of counts and amounts.",
        alpha="""
    alpha : float, default=0.9
        The quantile of "quantile"; of the residuals that "huber" takes for ordinary.
    power : float, default=1.5
        Of "tweedie": the variance grows as the mean to this power, from 1 (Poisson) to 2 (gamma).""",
        classes="",
    )
