"""Parameters and attributes of HistGradientBoosting*: their values and meaning; recipe.py applies them."""

from __future__ import annotations

from arboretum.base import parameters as p
from arboretum.base.parameters import Parameter
from arboretum.base.rounds import Interruptible
from arboretum.base.shared_parameters import ENSEMBLE, GROWTH, LABELS, RUNNING, TABLE

__all__ = ["ATTRIBUTES", "CLASSES", "NUMBERS", "PARAMETERS"]

PARAMETERS = {
    "learning_rate": ENSEMBLE["learning_rate"],
    "max_iter": Parameter(p.integer(1), "Number of rounds: trees, or trees of every class."),
    "max_leaf_nodes": Parameter(
        p.integer(2) | p.none,
        "Maximum number of leaves of a tree. The leaf with the largest gain is split first.",
    ),
    "max_depth": Parameter(p.integer(1) | p.none, "Depth at which growing stops."),
    "min_samples_leaf": Parameter(
        p.integer(1),
        "Rows each side of a split needs.",
    ),
    "l2_regularization": Parameter(p.real(0), "L2 penalty of the leaf values."),
    "max_features": Parameter(
        p.fraction(0, 1, open_low=True), "Share of the columns drawn at every node."
    ),
    "max_bins": Parameter(
        p.integer(2, 65_535),
        "Maximum number of bins of a numeric column, besides that of missing values; more than 255 take "
        "twice the memory. Categories have a bin each.",
    ),
    **TABLE,
    "categorical_features": Parameter(
        p.checked_later('"from_dtype", a list of names, indices or a mask, or None'),
        "Columns to treat as categories, besides those whose dtype is categorical or text.",
    ),
    "monotonic_cst": GROWTH["monotonic_cst"],
    "interaction_cst": Parameter(
        p.one_of("pairwise", "no_interactions", None)
        | p.text_or("a list of groups of columns", list, tuple),
        "Groups of columns that may share a path; all others are one more group.",
    ),
    "warm_start": Parameter(
        p.flag, "Keep the rounds of the last fit and add to them up to `max_iter`."
    ),
    "early_stopping": Parameter(
        p.one_of("auto") | p.flag,
        'Score every round, and stop when scores do not improve; "auto": if there are more than 10,000 '
        "rows.",
    ),
    "scoring": Parameter(
        p.text_or("a name of scikit-learn", str)
        | p.ParameterRule("a function of (model, X, y)", callable)
        | p.none,
        'What early stopping follows: "loss", one of scikit-learn\'s scorers, or None for `score`.',
    ),
    "validation_fraction": Parameter(
        p.integer(1) | p.fraction(0, 1, open_low=True, open_high=True) | p.none,
        "Rows or share of the rows held out for early stopping; None scores the training rows.",
    ),
    "n_iter_no_change": Parameter(
        p.integer(1), "Stop when none of this many scores is better than the one before them."
    ),
    "tol": Parameter(p.real(0), "By how much a score must be better."),
    **RUNNING,
    "verbose": Parameter(
        p.integer(0) | p.flag, "1 prints a line at the end of the fit, 2 one for every round."
    ),
}
NUMBERS = {
    **PARAMETERS,
    "loss": Parameter(
        p.one_of("squared_error", "absolute_error", "gamma", "poisson", "quantile"),
        "The loss; gamma and poisson model the logarithm of the mean.",
    ),
    "quantile": Parameter(p.real(0, 1) | p.none, 'Level that `loss="quantile"` predicts.'),
}
CLASSES = {**PARAMETERS, **LABELS, "loss": Parameter(p.one_of("log_loss"), "The loss.")}

ATTRIBUTES = {
    "ensemble_ : Ensemble": "The trees.",
    "trees_ : list of Tree": "Round by round, class by class.",
    "objective_ : Objective": "The loss.",
    "n_iter_ : int": "Number of rounds.",
    "n_trees_per_iteration_ : int": "The number of classes if there are more than two, else 1.",
    "do_early_stopping_ : bool": "Whether rounds were scored.",
    "train_score_, validation_score_ : arrays": "Scores before the first round and after every round; empty "
    "without early stopping. A loss is counted negatively.",
    "is_categorical_ : bool array or None": "Which columns are categories.",
    "evals_result_ : dict": "The scores by table, a loss as such, without those before the first round.",
    "schema_ : Schema": "Names, kinds and categories of the columns.",
    "n_features_in_ : int": "",
    "feature_names_in_ : array of str": "Only if the training table had names.",
    "feature_importances_ : float array": "Share of the gain of all splits from each column.",
    **Interruptible._attributes_of_rounds,
}
