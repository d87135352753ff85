"""The parameters of forests in words: written once, put together per class."""

from __future__ import annotations

__all__ = ["describe"]

_TEXT = """
    Parameters
    ----------
    n_estimators : int, default=100
        How many trees.
    criterion : {criteria}
        What a split tries to make pure.
    max_depth : int or None, default=None
        Depth at which growing stops.
    min_samples_split : int or float, default=2
        Rows a node needs to be divided; a float is a share of all rows, rounded up.
    min_samples_leaf : int or float, default=1
        Rows each side of a split needs; a float is a share of all rows, rounded up.
    min_weight_fraction_leaf : float, default=0.0
        Share of the total weight each side of a split needs.
    max_features : int, float, "sqrt", "log2" or None, default={max_features}
        Columns drawn at every node; a float is a share of the columns; None means all.
    max_leaf_nodes : int or None, default=None
        Grow best-first, dividing the leaf that gains most, to so many leaves.
    min_impurity_decrease : float, default=0.0
        Weighted impurity decrease a split needs.
    bootstrap : bool, default={bootstrap}
        Grow each tree on a bootstrap sample: rows drawn with replacement. Else on all rows.
    oob_score : bool or callable, default=False
        Judge the forest by its answers to rows that trees have not seen; a function of (y, prediction)
        replaces {score}.
    n_jobs : int or None, default=None
        Threads; None and -1 use all cores. The forest does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed. Tree t depends on (seed, t) alone.
    verbose : int, default=0
        Show a progress bar while growing.
    warm_start : bool, default=False
        Keep the trees of the last fit and add to them; 100 trees and 100 more are 200.{class_weight}
    ccp_alpha : float, default=0.0
        Strength of cost-complexity pruning of every tree; 0 prunes nothing.
    max_samples : int, float or None, default=None
        Size of a bootstrap sample; a float is a share of the rows; None: as many as there are rows.
    monotonic_cst : array-like of -1, 0, 1, dict or None, default=None
        1: the prediction may only rise with the column, -1: only fall. A dict names columns.
    categorical_features : list of names, indices or mask, or None, default=None
        Columns to treat as categories besides those whose type says so.
    ordinal_features : list of names or indices, dict or None, default=None
        Columns to treat as ranks; a dict gives the order of their words.
    unseen : {{"missing", "error"}}, default="missing"
        A category first met at predict: treat as missing, with a warning, or raise an error.{penalty}{voting}
    keep_leaves : bool, default=False
        Keep the training rows and the leaf each reached, for {kept}. A model file then
        holds the rows too.

    Attributes
    ----------
    trees_ : list of Tree
    schema_ : Schema
        Names, kinds and categories of the columns.{classes}
    n_features_in_, n_outputs_ : int
    feature_names_in_ : array of str
        Only if the training table had names.
    feature_importances_ : float array
        Mean share of the impurity decrease each column brought (MDI). Biased towards columns of many
        values: `permutation_importance` is fairer.
    oob_score_ : float
        Only with `oob_score`; {oob}.
    oob_error_curve_ : float array
        Out-of-bag error after each tree.
    oob_n_trees_ : int array
        How many trees have not seen each row; rows with 0 have no out-of-bag answer.
"""

_CLASS_WEIGHT = """
    class_weight : dict, list of dicts, "balanced", "balanced_subsample" or None, default=None
        Weight of each class; "balanced" is n / (K · count of the class), "balanced_subsample" the same
        in every tree's own bag."""
_PENALTY = """
    category_penalty : float, default=1.6
        What a division of m categories is charged when columns compete, times 2/π (m - 2)/n of the node's
        impurity (n its rows): so much it gains by chance. From π/2 on, words that come once each gain
        nothing. 0 takes the best division of the training rows."""
_VOTING = """
    voting : {"soft", "hard"}, default="soft"
        Average the class shares of the trees, or count their votes."""
_CLASSES = """
    classes_ : array, or list of arrays for several outputs
        The class labels, sorted.
    n_classes_ : int, or list of ints"""


def describe(*, classifier: bool, bootstrap: bool) -> str:
    """Return the Parameters and Attributes sections of a forest's docstring."""
    return _TEXT.format(
        criteria='{"gini", "entropy", "log_loss"}, default="gini"'
        if classifier
        else '{"squared_error", "absolute_error", "friedman_mse", "poisson"}, '
        'default="squared_error"',
        max_features='"sqrt"' if classifier else "1.0",
        bootstrap=bootstrap,
        score="accuracy" if classifier else "R²",
        class_weight=_CLASS_WEIGHT if classifier else "",
        voting=_VOTING if classifier else "",
        penalty=_PENALTY if bootstrap else "",  # others draw their subsets
        kept="`proximity`" if classifier else "`predict(X, quantiles=...)` and `proximity`",
        classes=_CLASSES if classifier else "",
        oob="`oob_decision_function_` has the shares"
        if classifier
        else "`oob_prediction_` has the answers",
    )
