"""Forests for classification: probabilities or votes of the trees, copies per class for missing values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.oob_attributes import ClassesOutOfBag
from arboretum.base.parameters import Parameter
from arboretum.base.targets import Classes
from arboretum.errors import ParameterError
from arboretum.forest.estimator import Forest

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.forest.filling import Copies

__all__ = ["ForestClassifier"]


class ForestClassifier(ClassesOutOfBag, Classes, Forest):
    """Class probabilities (or votes) of many trees."""

    _leaves_hold_probabilities: ClassVar = True
    _parameters: ClassVar = {
        **Forest._parameters,
        "criterion": Parameter(
            p.one_of("gini", "entropy", "log_loss"),
            'Impurity that splits reduce; "log_loss" is the same as "entropy".',
        ),
        "class_weight": Parameter(
            p.text_or("a dict, a list of dicts", dict, list)
            | p.one_of("balanced", "balanced_subsample", None),
            'Weight of each class; "balanced" is n / (K · count of the class), "balanced_subsample" the '
            "same in every tree's own bag.",
        ),
        "voting": Parameter(
            p.one_of("soft", "hard"),
            "Average the class probabilities of the trees, or count their votes.",
        ),
    }
    _attributes: ClassVar = {
        **Forest._attributes,
        **Classes._attributes,
        "oob_decision_function_ : float array": "Class probabilities or votes of the trees that have not "
        "seen a row.",
    }

    @property
    def _reading(self) -> str:
        return "vote" if self.voting == "hard" else "value"

    # ------------------------------------------------------------------ predicting
    def predict_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return the mean class probabilities of the trees; with ``voting="hard"`` the shares of their votes.

        A list of arrays for several outputs.
        """
        return self._probabilities_of(self._mean_shares(X))

    def _mean_shares(self, X: Any) -> np.ndarray:
        """Return mean probabilities, (rows, outputs, classes)."""
        matrix = self._encode(X)
        return self.ensemble_.answers(matrix, self._threads_for(matrix))

    def predict(self, X: Any, missing: str | None = None) -> np.ndarray:
        """Return the most probable class, the first in order between equals.

        ``missing="per_class"`` is Breiman's method for rows with missing values: a copy of the row for each
        class, filled as if it had that class; the class whose copy gets most votes for itself wins. It
        needs ``keep_leaves=True``.
        """
        if missing is not None:
            from arboretum.forest.filling import predict_per_class

            if missing != "per_class":
                raise ParameterError(f"missing must be None or 'per_class', got {missing!r}")
            return predict_per_class(self, X)
        return self._labels_of(self._mean_shares(X).argmax(axis=2))

    def predict_copies(self, X: Any) -> Copies:
        """Return the filled copies behind ``predict(X, missing="per_class")``, and their votes.

        Every row is copied once per class and filled as if it had that class. `Copies` has the votes of
        the trees on every copy, the filled rows, and the prediction: the class whose copy got most votes
        for itself. It needs ``keep_leaves=True``.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from arboretum import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> forest = RandomForestClassifier(50, keep_leaves=True, random_state=0).fit(X, y)
        >>> copies = forest.predict_copies([[5.0, np.nan, 1.4, np.nan]])
        >>> copies.prediction, copies.own_votes.argmax(axis=1)
        (array([0]), array([0]))
        """
        from arboretum.forest.filling import predict_copies

        return predict_copies(self, X)

    def predict_votes(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return how many trees vote for each class, whatever ``voting`` is."""
        return self._probabilities_of(np.rint(self._votes(self._encode(X))).astype(int))

    def _votes(self, matrix: Matrix) -> np.ndarray:
        """Return how many trees vote for each class, (rows, outputs, classes)."""
        voting = replace(self.ensemble_, reading="vote", rule="sum")
        return voting.answers(matrix, self._threads_for(matrix))
