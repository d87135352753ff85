"""What ID3 and C4.5 share as classifiers: one output, class shares at the leaves, fractional rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from arboretum.base.class_weight import with_class_weight
from arboretum.base.estimator import TreeModel
from arboretum.data.checks import check_rows, check_weights
from arboretum.data.schema import Schema, learn_schema
from arboretum.data.target import encode_classes, weights
from arboretum.errors import DataError, ModelFileError
from arboretum.predict.walk import proba_of

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix

__all__ = ["CaseTreeClassifier"]


class CaseTreeClassifier(ClassifierMixin, TreeModel):
    """A classification tree of one output that may send a row down several branches."""

    # ------------------------------------------------------------------ fitting
    def _learn(self, X: Any, y: Any, sample_weight: Any) -> tuple[Matrix, np.ndarray, np.ndarray]:
        """Check what `fit` was given; return the rows with a weight, their classes and weights."""
        self._check_parameters()
        self.__dict__.pop("tree_", None)  # a fit that fails leaves no half of an old model
        self.schema_, matrix = learn_schema(
            X,
            categorical_features=self.categorical_features,
            ordinal_features=self.ordinal_features,
        )
        check_rows(matrix.n_rows)
        self._take_names()
        name = type(self).__name__
        classes, codes, _ = encode_classes(y, n_rows=matrix.n_rows, estimator_name=name)
        if len(classes) > 1:
            raise DataError(
                f"{name} has one output, but y has {len(classes)} columns: fit one model for each, "
                "or use CARTClassifier"
            )
        self.classes_ = classes[0]
        self.n_classes_ = len(self.classes_)
        w = weights(sample_weight, matrix.n_rows)
        if self.class_weight is not None:
            w = with_class_weight(self.class_weight, classes, codes, w)
        if w is None:
            return matrix, codes[:, 0], np.ones(matrix.n_rows)
        check_weights(w)
        if not w.all():
            rows = np.flatnonzero(w)
            matrix, codes, w = matrix.take(rows), codes[rows], w[rows]
        return matrix, codes[:, 0], w

    # ------------------------------------------------------------------ predicting
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class shares of the leaf each row reaches.

        A row that misses a value the tree asks for reaches several leaves; each answers in proportion
        to the fraction of the row that reaches it.
        """
        matrix = self._encode(X)
        return proba_of(self.tree_, matrix, self._threads())

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row (the first in order between equals)."""
        share = self.predict_proba(X)
        return self.classes_[share.argmax(axis=1)]

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        from arboretum.tree.state import tree_to_state

        return {"tree": tree_to_state(self.tree_), "classes": self.classes_}

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        from arboretum.tree.state import tree_from_state

        model = cls(**parameters)
        model._check_parameters()
        model.schema_ = schema
        model._take_names()
        model.tree_ = tree_from_state(state["tree"], model._tree_schema(state))
        classes = state["classes"]
        if not isinstance(classes, np.ndarray) or classes.ndim != 1:
            raise ModelFileError("the classes are not a list of labels")
        if model.tree_.value.shape[1:] != (1, len(classes)):
            raise ModelFileError("the tree and the model disagree on the number of classes")
        model.classes_, model.n_classes_ = classes, len(classes)
        return model

    def _tree_schema(self, state: dict) -> Schema:
        """Return the columns the tree asks about."""
        return self.schema_

    @property
    def n_outputs_(self) -> int:
        """Always 1."""
        return 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = False
        return tags
