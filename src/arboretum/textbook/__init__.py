"""Every algorithm of the library again in plain NumPy, to be read.

Read in this order; each file builds on the ones before it and on
nothing else of the package. Files marked + are further reading: the others are complete
without them.

    to begin with
    small_tables.py   play-tennis and other tables that lectures calculate by hand
    words.py          rows of words become codes, and tables print words again

    one tree
    impurities.py     how mixed is a set of rows? Gini, entropy, variance and their relatives
    id3.py            categories: one branch per value, by information gain
    discretize.py   + numbers into bins, by quantiles or by information about the classes
    c45_splits.py     gain ratio, thresholds, groups of categories, and who may compete
    c45.py            growing with cases that go several ways at once where a value is missing
    c45_pruning.py  + collapse, pessimistic errors, raising; pruning on cases held out
    c45_rule_list.py  + a tree as a short list of rules: the general ones, by minimum description length
    questions.py      cuts between neighbouring values, divisions of categories
    splits.py         every split of a node, what it gains, and which one is best
    column_scan.py  + the same gains by running sums, for nodes of many rows
    cart.py           split, and split again: growing a tree, predicting with it
    pruning.py        cut back what does not pay; let cross-validation say how far

    many independent trees
    forest.py         bootstrap, columns drawn at every node, ExtraTrees; predicting with many trees
    forest_figures.py out-of-bag error, importance, quantiles, variance
    proximities.py    rows that share leaves; maps, outliers, prototypes
    filling.py        missing values guessed from the rows nearby
    isolation_forest.py     rows that few random cuts set apart are anomalies

    one tree after the other
    weak_learners.py  stumps, and other learners that are only a little better than a guess
    gbm_losses.py     what to descend: losses, their residuals and the best step of a leaf
    taylor.py         the second-order step of a leaf: parabola, step, what it promises
    stagewise_modelling.py  forward stagewise additive modelling: any loss, any learner
    adaboost.py       weighting the rows that were wrong: discrete AdaBoost, SAMME, SAMME.R
    adaboost_regression.py  the same for numbers, answered by a weighted median
    adaboost_theory.py      why it works: edges, bounds, margins
    coordinate_boosting.py  AdaBoost as a descent, one weak learner at a time
    gbm.py            Friedman's gradient boosting, round by round
    xgboost_categories.py + categories in the order of their leaf values, and how they are split
    xgboost_splits.py similarity, gain and cover; every cut, with missing values on either side
    xgboost.py        trees of second order, pruned by γ, and their boosting
    system_design.py  sorted column blocks: what sorting once, threads and caches save
    quantile_sketch.py      summaries that can be merged and shortened: where to look for cuts
    xgboost_approximate.py  the sketch and the tree together: cuts proposed per tree or per node
    lightgbm_bins.py  values become bins, bins become histograms
    lightgbm_splits.py      cuts of bins, sorted categories
    gradient_scan.py  + the splits of both by running sums, for nodes of many rows
    random_cuts.py    + one random cut per column and node: extra_trees
    symmetric.py      + one cut for all leaves of a level, and a table of 2^d answers
    common_trees.py   + one tree for all classes of a round, with a value of each in every leaf
    target_statistics.py  + words of many levels as numbers, by the targets of the rows before
    lightgbm.py       leaf by leaf, the best first
    lightgbm_sampling.py    fewer rows (GOSS), fewer columns (EFB)
    lightgbm_boosting.py    LightGBM whole: bins, bundles, samples, leaves, rounds
    lightgbm_bounds.py    + how far off GOSS and EFB can be, by their theorems and measured
    parallel.py     + one tree by several workers: data, feature and voting parallel, and what they send

    what a prediction is made of
    shap.py         + what every column adds to it, by the definition: all sets of columns

    different learners together
    stacking.py       out-of-fold predictions, and the weight of each model

    everything as tables to print
    tables.py         rows of figures and aligned text; the tables of one tree
    forest_tables.py  of forests, proximities, fillings, SHAP values and stacks
    boosting_tables.py      of everything that boosts

Speed is no aim here. Every function returns the figures on the way (counts, impurities, the gain of
every candidate split), so a fitted tree can be checked by hand, and the compiled engine against it.
Every public name of every file is importable from here, and ``table(...)`` shows what was computed.

>>> from arboretum.textbook import grow_id3, play_tennis, predict_id3, table
>>> days = play_tennis()
>>> tree = grow_id3(days.X, days.y, names=days.names)
>>> print(table(tree.candidates))
attribute      H(D)  H(D|A)    gain  verdict
outlook      0.9403  0.6935  0.2467  chosen
temperature  0.9403  0.9111  0.0292  smaller gain
humidity     0.9403  0.7885  0.1518  smaller gain
wind         0.9403  0.8922  0.0481  smaller gain
>>> predict_id3(tree, [["sunny", "cool", "high", "weak"]]).tolist()
['no']
"""

# ruff: noqa: F403 - every file lists its public names in __all__; a test sees that no name is there twice
from arboretum.textbook.adaboost import *
from arboretum.textbook.adaboost_regression import *
from arboretum.textbook.adaboost_theory import *
from arboretum.textbook.boosting_tables import *
from arboretum.textbook.c45 import *
from arboretum.textbook.c45_pruning import *
from arboretum.textbook.c45_rule_list import *
from arboretum.textbook.c45_splits import *
from arboretum.textbook.cart import *
from arboretum.textbook.column_scan import *
from arboretum.textbook.common_trees import *
from arboretum.textbook.coordinate_boosting import *
from arboretum.textbook.discretize import *
from arboretum.textbook.filling import *
from arboretum.textbook.forest import *
from arboretum.textbook.forest_figures import *
from arboretum.textbook.forest_tables import *
from arboretum.textbook.gbm import *
from arboretum.textbook.gbm_losses import *
from arboretum.textbook.gradient_scan import *
from arboretum.textbook.id3 import *
from arboretum.textbook.impurities import *
from arboretum.textbook.isolation_forest import *
from arboretum.textbook.lightgbm import *
from arboretum.textbook.lightgbm_bins import *
from arboretum.textbook.lightgbm_boosting import *
from arboretum.textbook.lightgbm_bounds import *
from arboretum.textbook.lightgbm_sampling import *
from arboretum.textbook.lightgbm_splits import *
from arboretum.textbook.parallel import *
from arboretum.textbook.proximities import *
from arboretum.textbook.pruning import *
from arboretum.textbook.quantile_sketch import *
from arboretum.textbook.questions import *
from arboretum.textbook.random_cuts import *
from arboretum.textbook.shap import *
from arboretum.textbook.small_tables import *
from arboretum.textbook.splits import *
from arboretum.textbook.stacking import *
from arboretum.textbook.stagewise_modelling import *
from arboretum.textbook.symmetric import *
from arboretum.textbook.system_design import *
from arboretum.textbook.tables import *
from arboretum.textbook.target_statistics import *
from arboretum.textbook.taylor import *
from arboretum.textbook.weak_learners import *
from arboretum.textbook.words import *
from arboretum.textbook.xgboost import *
from arboretum.textbook.xgboost_approximate import *
from arboretum.textbook.xgboost_categories import *
from arboretum.textbook.xgboost_splits import *
