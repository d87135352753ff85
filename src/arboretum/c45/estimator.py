"""What ID3 and C4.5 share as classifiers: one output, class shares at the leaves, fractional rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.model_of_trees import TreeModel
from arboretum.base.parameters import Parameter
from arboretum.base.shared_parameters import GROWTH, RUNNING, TABLE
from arboretum.base.targets import Classes, with_class_weight
from arboretum.data.checks import check_rows, check_weights
from arboretum.data.target import weights
from arboretum.predict.walk import proba_of
from arboretum.structure.tree import GROUPS, MULTIWAY, THRESHOLD

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix

__all__ = ["C45_PARAMETERS", "CaseTreeClassifier"]

# what the tree of C4.5 and the rules made of it have
C45_PARAMETERS = {
    "confidence": Parameter(
        p.real(0, 0.5, open_low=True),
        "CF of the pessimistic errors; less prunes more, and makes rules more general.",
    ),
    "min_cases": Parameter(
        p.real(0, open_low=True), "Weight that at least two branches of a test need."
    ),
    "criterion": Parameter(
        p.one_of("gain_ratio", "gain"),
        "What decides between the tests that may compete.",
    ),
    "epsilon": Parameter(
        p.real(0),
        "What the best gain ratio (or gain, if that decides) must exceed for a node to split; 0 sets no "
        "threshold.",
    ),
    "gate": Parameter(
        p.flag,
        "Whether only tests of at least average gain compete, as Quinlan has it; else all do, and the "
        "largest ratio wins.",
    ),
    "subset": Parameter(
        p.flag,
        "Group the values of a category into branches, instead of one branch for each value.",
    ),
    "collapse": Parameter(
        p.flag,
        "Before pruning, make leaves of the nodes whose branches are right no more often.",
    ),
    "error_limit": Parameter(
        p.one_of("quinlan", "weka", "binomial"),
        "Formula of the pessimistic errors: release 8's, that of Weka's J48, or the exact binomial limit.",
    ),
}


class CaseTreeClassifier(Classes, TreeModel):
    """A classification tree of one output that may send a row down several branches."""

    _parameters: ClassVar = {
        "max_depth": GROWTH["max_depth"],
        **TABLE,
        **RUNNING,
        "laplace": Parameter(p.flag, "Add one case of every class to a leaf before taking shares."),
        "class_weight": Parameter(
            p.text_or("a dict", dict) | p.one_of("balanced", None),
            'Weight of each class; "balanced" is n / (K · count of the class).',
        ),
    }
    _attributes: ClassVar = {
        **TreeModel._attributes,
        "classes_ : array": "The class labels, sorted.",
        "n_classes_ : int": "",
    }

    _questions: ClassVar = (THRESHOLD, MULTIWAY, GROUPS)
    _spreads: ClassVar = True
    _leaves_hold_probabilities: ClassVar = True

    # ------------------------------------------------------------------ fitting
    def _learn(self, X: Any, y: Any, sample_weight: Any) -> tuple[Matrix, np.ndarray, np.ndarray]:
        """Check what `fit` was given; return the rows with a weight, their classes and weights."""
        self._check_parameters()
        matrix = self._learn_table(X)
        check_rows(matrix.n_rows)
        codes, _, w = self._target_of_fit(y, sample_weight, matrix.n_rows)
        self._warn_of_columns(matrix, codes[:, None])
        if w is None:
            return matrix, codes, np.ones(matrix.n_rows)
        check_weights(w)
        if not w.all():
            rows = np.flatnonzero(w)
            matrix, codes, w = matrix.take(rows), codes[rows], w[rows]
        return matrix, codes, w

    def _target_of_fit(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Any, Any, Any]:
        codes = self._learn_classes(y, n_rows)
        w = weights(sample_weight, n_rows)
        if self.class_weight is not None:
            w = with_class_weight(self.class_weight, [self.classes_], codes, w)
        return codes[:, 0], y, w

    # ------------------------------------------------------------------ predicting
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class shares of the leaf each row reaches.

        A row that lacks a value the tree tests reaches several leaves, each of which counts in proportion
        to the fraction of the row that reaches it.
        """
        matrix = self._encode(X)
        return proba_of(self._kept_tree, matrix, self._threads())

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row (the first in order between equals)."""
        share = self.predict_proba(X)
        return self.classes_[share.argmax(axis=1)]
