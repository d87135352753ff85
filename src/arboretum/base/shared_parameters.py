"""Parameters that several families have: one rule and one sentence for each.

An estimator takes those in its constructor and adds its own.
"""

from __future__ import annotations

from arboretum.base import parameters as p
from arboretum.base.parameters import Parameter
from arboretum.data.column_warnings import UNSEEN

__all__ = [
    "ENSEMBLE",
    "GROWTH",
    "LABELS",
    "MEMBERS_TABLE",
    "MOST_DRAWS",
    "RUNNING",
    "STOPPING",
    "TABLE",
]

MOST_DRAWS = 1 << 31  # of a bag

_SHARE = p.fraction(0, 1, open_low=True)

# how the rows and columns of a table are read
TABLE = {
    "categorical_features": Parameter(
        p.checked_later("a list of names, indices or a mask, or None"),
        "Columns to treat as categories, besides those whose dtype is categorical or text.",
    ),
    "ordinal_features": Parameter(
        p.checked_later("a list of names or indices, a dict or None"),
        "Columns to treat as ranks; a dict gives the order of their values.",
    ),
    "unseen": Parameter(
        p.one_of(*UNSEEN),
        "A category that is not in the training table: treat it as missing with a warning, treat it as "
        "missing without one, or raise an error.",
    ),
}

# the same for a model of other models, which get these settings
MEMBERS_TABLE = {
    "categorical_features": Parameter(
        TABLE["categorical_features"].rule,
        "Columns to treat as categories, besides those whose dtype is categorical or text; None: as set in "
        "the estimator.",
    ),
    "ordinal_features": Parameter(
        TABLE["ordinal_features"].rule,
        "Columns to treat as ranks; a dict gives the order of their values. None: as set in the estimator.",
    ),
    "unseen": Parameter(
        p.one_of(*UNSEEN, None), TABLE["unseen"].text + " None: as set in the estimator."
    ),
}

# how a tree grows
GROWTH = {
    "splitter": Parameter(
        p.one_of("best", "random"),
        "Try every cut of a column, or draw one cut per column at random (uniform between the node's "
        "smallest and largest value).",
    ),
    "max_depth": Parameter(p.integer(1) | p.none, "Depth at which growing stops."),
    "min_samples_split": Parameter(
        p.ParameterRule(
            "an int in the range [2, inf) or a float in the range (0.0, 1.0]",
            (p.integer(2) | _SHARE).allows,
        ),
        "Rows a node needs to be split; a float is a share of all rows, rounded up.",
    ),
    "min_samples_leaf": Parameter(
        p.integer(1) | p.fraction(0, 1, open_low=True, open_high=True),
        "Rows each side of a split needs; a float is a share of all rows, rounded up.",
    ),
    "min_weight_fraction_leaf": Parameter(
        p.real(0, 0.5), "Share of the total weight each side of a split needs."
    ),
    "max_features": Parameter(
        p.integer(1) | _SHARE | p.one_of("sqrt", "log2", None),
        "Columns drawn at every node; a float is a share of the columns; None: all columns.",
    ),
    "max_leaf_nodes": Parameter(
        p.integer(2) | p.none,
        "Grow best-first, always splitting the leaf with the largest gain, up to this many leaves.",
    ),
    "min_impurity_decrease": Parameter(p.real(0), "Weighted impurity decrease a split needs."),
    "ccp_alpha": Parameter(
        p.real(0), "Strength of cost-complexity pruning of a grown tree; 0 prunes nothing."
    ),
    "monotonic_cst": Parameter(
        p.checked_later("an array-like of -1, 0, 1, a dict or None"),
        "1: the prediction may only rise with the column, -1: only fall. A dict names columns.",
    ),
    "category_penalty": Parameter(
        p.real(0),
        "When columns compete, a split of m categories is charged this times 2/π (m - 2)/n of the node's "
        "impurity (n its rows), about what it gains by chance. A column with at most four "
        "categories in the training table is never charged. 0 takes the best split of the training "
        "rows.",
    ),
    "max_bins": Parameter(
        p.integer(2, 65_535) | p.none,
        "Put every numeric column into at most this many bins before growing; None tries every value.",
    ),
    "surrogates": Parameter(
        p.integer(0),
        "Keep this many surrogate splits per node (5 is usual) and use them for missing values, instead "
        "of learning where missing values go.",
    ),
}

# class weights
LABELS = {
    "class_weight": Parameter(
        p.text_or("a dict, a list of dicts", dict, list) | p.one_of("balanced", None),
        'Weight of each class; "balanced" is n / (K · count of the class).',
    )
}

# many trees, or many estimators
ENSEMBLE = {
    "estimator": Parameter(p.none | p.an_estimator),
    "n_estimators": Parameter(p.integer(1), "Number of members."),
    "bootstrap": Parameter(
        p.flag,
        "Train each member on a bootstrap sample (rows drawn with replacement) instead of on all rows.",
    ),
    "oob_score": Parameter(
        p.flag | p.ParameterRule("a function of (y, prediction)", callable),
        "Score the model by its out-of-bag predictions: by accuracy or R², or by a function "
        "of (y, prediction).",
    ),
    "warm_start": Parameter(
        p.flag, "Keep the members of the last fit and add to them up to `n_estimators`."
    ),
    "max_samples": Parameter(
        p.integer(1, MOST_DRAWS) | p.fraction(0, 1000, open_low=True) | p.none,
        "Size of a sample, which may be larger than the table; a float is a share of the rows; None: as many "
        "as there are rows.",
    ),
    "learning_rate": Parameter(
        p.real(0, open_low=True), "Factor of every step; smaller values need more rounds."
    ),
}

# rows held out, and when to stop
STOPPING = {
    "validation_fraction": Parameter(
        p.real(0, 1, open_low=True, open_high=True),
        "Share of the rows held out for early stopping, if `n_iter_no_change` is set.",
    ),
    "n_iter_no_change": Parameter(
        p.integer(1) | p.none,
        "Stop when the held-out score has not improved by `tol` on any of this many rounds before.",
    ),
    "tol": Parameter(p.real(0), "See `n_iter_no_change`."),
}

# how the work is done
RUNNING = {
    "random_state": Parameter(p.seed, "Seed of all random draws."),
    "n_jobs": Parameter(
        p.jobs, "Number of threads; None and -1 use all cores. The result does not depend on it."
    ),
    "verbose": Parameter(p.integer(0) | p.flag, "Show a progress bar."),
}
