"""Forests that tell classes: shares or votes of the trees, copies per class for missing values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from arboretum.base.class_weight import with_class_weight
from arboretum.data.schema import Schema
from arboretum.data.target import encode_classes, weights
from arboretum.errors import ModelFileError, ParameterError
from arboretum.forest.estimator import Forest
from arboretum.predict.oob_attributes import ClassesOutOfBag
from arboretum.predict.voting import sum_answers

if TYPE_CHECKING:
    from arboretum.grow.criterion import Target

__all__ = ["ForestClassifier"]


class ForestClassifier(ClassesOutOfBag, ClassifierMixin, Forest):
    """Class shares (or votes) of many trees."""

    def _learn_target(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Target, Any]:
        from arboretum.grow.criterion import make_target

        name = type(self).__name__
        classes, codes, one = encode_classes(y, n_rows=n_rows, estimator_name=name)
        self.n_outputs_ = codes.shape[1]
        self.classes_ = classes[0] if one else classes
        self.n_classes_ = len(classes[0]) if one else [len(c) for c in classes]
        w = weights(sample_weight, n_rows)
        if self.class_weight is not None and self.class_weight != "balanced_subsample":
            w = with_class_weight(self.class_weight, classes, codes, w)
        return make_target(codes, np.array([len(c) for c in classes]), w), w

    # ------------------------------------------------------------------ predicting
    def predict_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return the mean class shares of the trees; with ``voting="hard"`` the shares of their votes.

        A list of arrays for several outputs.
        """
        matrix = self._encode(X)
        total = sum_answers(self.trees_, matrix, self._threads(), hard=self.voting == "hard") / len(
            self.trees_
        )
        if isinstance(self.classes_, np.ndarray):
            return total[:, 0]
        return [total[:, o, : len(c)] for o, c in enumerate(self.classes_)]

    def predict_log_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return the logarithms of `predict_proba`."""
        proba = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(s) for s in proba] if isinstance(proba, list) else np.log(proba)

    def predict(self, X: Any, missing: str | None = None) -> np.ndarray:
        """Return the class of largest share, the first in order between equals.

        ``missing="per_class"`` is Breiman's way with rows that miss values: a copy of the row for each
        class, filled as if it had that class, and the class whose copy gets most votes for itself. It
        needs ``keep_leaves=True``.
        """
        if missing is not None:
            from arboretum.forest.filling import predict_per_class

            if missing != "per_class":
                raise ParameterError(f"missing must be None or 'per_class', got {missing!r}")
            return predict_per_class(self, X)
        proba = self.predict_proba(X)
        if isinstance(proba, list):
            return np.column_stack(
                [c[s.argmax(axis=1)] for c, s in zip(self.classes_, proba, strict=True)]
            )
        return self.classes_[proba.argmax(axis=1)]

    def predict_votes(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return how many trees vote for each class, whatever ``voting`` is."""
        matrix = self._encode(X)
        votes = np.rint(sum_answers(self.trees_, matrix, self._threads(), hard=True)).astype(int)
        if isinstance(self.classes_, np.ndarray):
            return votes[:, 0]
        return [votes[:, o, : len(c)] for o, c in enumerate(self.classes_)]

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        one = isinstance(self.classes_, np.ndarray)
        classes = [self.classes_] if one else list(self.classes_)
        return {**super()._get_fitted_state(), "classes": classes, "one_output": one}

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        model = super()._from_fitted_state(parameters, schema, state)
        classes, one = state["classes"], state["one_output"]
        good = isinstance(classes, list) and all(
            isinstance(c, np.ndarray) and c.ndim == 1 and len(c) for c in classes
        )
        if not good or len(classes) != model.n_outputs_ or (one is not True and one is not False):
            raise ModelFileError("the classes do not fit the model's outputs")
        if max(len(c) for c in classes) != model.trees_[0].value.shape[2]:
            raise ModelFileError("the trees and the model disagree on the number of classes")
        if one and len(classes) != 1:
            raise ModelFileError("a model of one output has several lists of classes")
        model.classes_ = classes[0] if one else classes
        model.n_classes_ = len(classes[0]) if one else [len(c) for c in classes]
        model._take_rows(state, [len(c) for c in classes])
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
