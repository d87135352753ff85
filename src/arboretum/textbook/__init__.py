"""Every algorithm of the library again in plain NumPy, to be read.

Read in this order; each file builds on the ones before it and on nothing else of the package:

    impurity.py   how mixed is a set of rows? Gini, entropy, variance and their relatives
    splits.py     every split of a node, what it gains, and which one is best
    cart.py       split, and split again: growing a tree, asking it
    pruning.py    cut back what does not pay; let cross-validation say how far

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

from arboretum.textbook.cart import (
    Surrogate,
    TextbookNode,
    grow,
    predict,
    predict_proba,
    route,
    surrogates,
)
from arboretum.textbook.impurity import (
    conditional_entropy,
    entropy,
    gini,
    impurity_decrease,
    information_gain,
)
from arboretum.textbook.pruning import choose_alpha, prune, pruning_path, tree_score
from arboretum.textbook.splits import Candidate, Question, Rules, candidates, choose

__all__ = [
    "Candidate",
    "Question",
    "Rules",
    "Surrogate",
    "TextbookNode",
    "candidates",
    "choose",
    "choose_alpha",
    "conditional_entropy",
    "entropy",
    "gini",
    "grow",
    "impurity_decrease",
    "information_gain",
    "predict",
    "predict_proba",
    "prune",
    "pruning_path",
    "route",
    "surrogates",
    "tree_score",
]
