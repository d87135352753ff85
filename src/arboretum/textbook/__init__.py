"""Every algorithm of the library again in plain NumPy, to be read.

Read in this order; each file builds on the ones before it and on nothing else of the package:

    impurity.py       how mixed is a set of rows? Gini, entropy, variance and their relatives
    splits.py         every split of a node, what it gains, and which one is best
    cart.py           split, and split again: growing a tree, asking it
    pruning.py        cut back what does not pay; let cross-validation say how far
    id3.py            categories: one branch per value, by information gain
    discretize.py     numbers into bins, by quantiles or by what a cut tells about the classes
    c45_splits.py     gain ratio, thresholds, groups of categories, and who may compete
    c45.py            growing with cases that go several ways at once where a value is missing
    c45_pruning.py    collapse, pessimistic errors, raising; pruning on cases held out
    c45_rules.py      a tree as a short list of rules: the general ones that tell most in fewest bits
    forest.py         bootstrap, columns drawn at every node, ExtraTrees; asking many trees together
    forest_figures.py out-of-bag error, importance, quantiles, variance
    proximity.py      who shares leaves with whom; maps, outliers, prototypes
    filling.py        missing values guessed from the rows nearby
    weak_learners.py  stumps, and other learners that are only a little better than a guess
    adaboost.py       weighting the rows that were wrong: discrete AdaBoost, SAMME, SAMME.R
    adaboost_r2.py    the same for numbers, answered by a weighted median
    adaboost_theory.py      why it works: edges, bounds, margins
    coordinate_boosting.py  AdaBoost as a descent, one weak learner at a time
    gbm_losses.py     what to descend: losses, their residuals and the best step of a leaf
    gbm.py            Friedman's gradient boosting, round by round
    xgboost_categories.py   categories in order of what they would answer, and how they are parted
    xgboost_splits.py similarity, gain and cover; every cut, with missing values on either side
    xgboost.py        trees of second order, pruned by γ, and their boosting
    quantile_sketch.py      summaries that can be merged and shortened: where to look for cuts
    lightgbm_splits.py      histograms, cuts of bins, sorted categories
    lightgbm.py       leaf by leaf, the best first
    lightgbm_sampling.py    fewer rows (GOSS), fewer columns (EFB)

Speed is no aim here. Every function returns the figures on the way (counts, impurities, the gain of
every candidate split), so a fitted tree can be checked by hand, and the compiled engine against it.
Names that are also file names stay there: ``from arboretum.textbook.impurity import impurity``.

>>> from arboretum.textbook import grow
>>> tree = grow([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
>>> for c in tree.candidates:
...     print(f"x <= {c.threshold}: {c.n_left} | {c.n_right}, gain {c.gain:.3f}")
x <= 1.5: 1 | 3, gain 0.167
x <= 2.5: 2 | 2, gain 0.500
x <= 3.5: 3 | 1, gain 0.167
"""

from arboretum.textbook.c45 import C45Node, grow_c45, predict_c45, predict_proba_c45
from arboretum.textbook.c45_pruning import (
    collapse_c45,
    extra_errors,
    prune_c45,
    prune_reduced_error,
    upper_limit,
)
from arboretum.textbook.c45_rules import C45RuleList, TextbookRule, predict_c45_rules
from arboretum.textbook.c45_splits import (
    C45Candidate,
    C45Settings,
    C45Test,
    c45_candidates,
    split_information,
)
from arboretum.textbook.cart import (
    Surrogate,
    TextbookNode,
    grow,
    predict,
    predict_proba,
    route,
    surrogates,
)
from arboretum.textbook.discretize import bin_codes, mdl_cuts, quantile_cuts
from arboretum.textbook.filling import (
    Copy,
    Filling,
    FillingStep,
    Guess,
    fill_missing,
    fill_rows,
    first_guess,
    guess_category,
    guess_number,
    predict_copies,
    refill,
)
from arboretum.textbook.forest import (
    EXTRA_TREES,
    RANDOM_FOREST,
    Bag,
    ForestRules,
    TextbookForest,
    bootstrap,
    draw_candidates,
    forest_leaves,
    grow_forest,
    grow_random_tree,
    predict_forest,
    predict_proba_forest,
    random_question,
    tree_answers,
    tree_votes,
)
from arboretum.textbook.forest_figures import (
    Importance,
    Jackknife,
    OOBStep,
    OutOfBag,
    ij_variance,
    leaf_weights,
    mdi,
    oob_curve,
    out_of_bag,
    permutation_importance,
    quantiles,
)
from arboretum.textbook.id3 import (
    Cases,
    ID3Candidate,
    ID3Node,
    gather_cases,
    grow_id3,
    id3_candidates,
    predict_id3,
    predict_proba_id3,
)
from arboretum.textbook.impurity import (
    conditional_entropy,
    entropy,
    gini,
    impurity_decrease,
    information_gain,
)
from arboretum.textbook.proximity import (
    MDS,
    Prototype,
    distance,
    mds,
    outlier_scores,
    prototypes,
    proximity_counts,
)
from arboretum.textbook.pruning import choose_alpha, prune, pruning_path, tree_score
from arboretum.textbook.splits import Candidate, Question, Rules, candidates, choose

__all__ = [
    "EXTRA_TREES",
    "MDS",
    "RANDOM_FOREST",
    "Bag",
    "C45Candidate",
    "C45Node",
    "C45RuleList",
    "C45Settings",
    "C45Test",
    "Candidate",
    "Cases",
    "Copy",
    "Filling",
    "FillingStep",
    "ForestRules",
    "Guess",
    "ID3Candidate",
    "ID3Node",
    "Importance",
    "Jackknife",
    "OOBStep",
    "OutOfBag",
    "Prototype",
    "Question",
    "Rules",
    "Surrogate",
    "TextbookForest",
    "TextbookNode",
    "TextbookRule",
    "bin_codes",
    "bootstrap",
    "c45_candidates",
    "candidates",
    "choose",
    "choose_alpha",
    "collapse_c45",
    "conditional_entropy",
    "distance",
    "draw_candidates",
    "entropy",
    "extra_errors",
    "fill_missing",
    "fill_rows",
    "first_guess",
    "forest_leaves",
    "gather_cases",
    "gini",
    "grow",
    "grow_c45",
    "grow_forest",
    "grow_id3",
    "grow_random_tree",
    "guess_category",
    "guess_number",
    "id3_candidates",
    "ij_variance",
    "impurity_decrease",
    "information_gain",
    "leaf_weights",
    "mdi",
    "mdl_cuts",
    "mds",
    "oob_curve",
    "out_of_bag",
    "outlier_scores",
    "permutation_importance",
    "predict",
    "predict_c45",
    "predict_c45_rules",
    "predict_copies",
    "predict_forest",
    "predict_id3",
    "predict_proba",
    "predict_proba_c45",
    "predict_proba_forest",
    "predict_proba_id3",
    "prototypes",
    "proximity_counts",
    "prune",
    "prune_c45",
    "prune_reduced_error",
    "pruning_path",
    "quantile_cuts",
    "quantiles",
    "random_question",
    "refill",
    "route",
    "split_information",
    "surrogates",
    "tree_answers",
    "tree_score",
    "tree_votes",
    "upper_limit",
]
