"""Boosters by what they predict: classes, numbers, orders. Labels become numbers, margins become answers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from arboretum.boosting.second_order.boosted_model import BoostedModel
from arboretum.data.checks import check_scale, list_names, list_rows
from arboretum.data.schema import Schema
from arboretum.data.target import encode_classes, numbers
from arboretum.errors import DataError, ModelFileError

__all__ = ["BoostedClassifier", "BoostedRanker", "BoostedRegressor", "group_sizes"]


class BoostedClassifier(ClassifierMixin, BoostedModel):
    """Classes, whatever they are called; inside they are 0..K-1."""

    classes_: np.ndarray

    def _learn_labels(self, y: Any, n_rows: int, earlier: BoostedModel | None) -> np.ndarray:
        if earlier is None:
            classes, codes, _ = self._encode_labels(y, n_rows)
            self.classes_ = classes
        elif isinstance(earlier, BoostedClassifier):
            self.classes_ = earlier.classes_
            codes = self._labels(y, n_rows)
        else:
            raise DataError("a classifier goes on from a classifier")
        self.n_classes_ = len(self.classes_)
        return codes.astype(np.float64)

    def _encode_labels(self, y: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray, bool]:
        classes, codes, one = encode_classes(y, n_rows=n_rows, estimator_name=type(self).__name__)
        if len(classes) > 1:
            raise DataError(
                f"{type(self).__name__} learns one target, y has {len(classes)} columns: fit one "
                "model for each"
            )
        return classes[0], codes[:, 0], one

    def _labels(self, y: Any, n_rows: int) -> np.ndarray:
        classes, codes, _ = self._encode_labels(y, n_rows)
        place = {label: code for code, label in enumerate(self.classes_.tolist())}
        found = np.array([place.get(label, -1) for label in classes.tolist()])
        unknown = [label for label, code in zip(classes.tolist(), found) if code < 0]
        if unknown:
            rows = np.flatnonzero(found[codes] < 0)
            raise DataError(
                f"y holds classes that the training labels do not have: {list_names(unknown)} "
                f"({list_rows(rows)})"
            )
        return found[codes].astype(np.float64)

    @property
    def _class_count(self) -> int | None:
        return self.n_classes_

    def _shares(self, margin: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes, (rows, classes)."""
        found = self.objective_.predict(margin)
        if found.ndim == 1:
            found = np.column_stack([1.0 - found, found])
        return np.ones((len(found), 1)) if self.n_classes_ == 1 else found

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _get_fitted_state(self) -> dict[str, Any]:
        return {**super()._get_fitted_state(), "classes": self.classes_}

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        model = super()._from_fitted_state(parameters, schema, state)
        classes = state["classes"]
        if not isinstance(classes, np.ndarray) or classes.ndim != 1 or not len(classes):
            raise ModelFileError("it has no classes")
        if len(classes) != max(model.objective_.n_outputs, len(classes) if len(classes) < 3 else 0):
            raise ModelFileError("its classes do not fit its outputs")
        model.classes_, model.n_classes_ = classes, len(classes)
        return model


class BoostedRegressor(RegressorMixin, BoostedModel):
    """Numbers."""

    def _learn_labels(self, y: Any, n_rows: int, earlier: BoostedModel | None) -> np.ndarray:
        return self._labels(y, n_rows)

    def _labels(self, y: Any, n_rows: int) -> np.ndarray:
        values, _ = numbers(y, n_rows=n_rows, estimator_name=type(self).__name__)
        if values.shape[1] > 1:
            raise DataError(
                f"{type(self).__name__} learns one target, y has {values.shape[1]} columns: fit one "
                "model for each"
            )
        check_scale(values)
        return np.ascontiguousarray(values[:, 0])


class BoostedRanker(BoostedModel):
    """The order of the rows of every group."""

    def _learn_labels(self, y: Any, n_rows: int, earlier: BoostedModel | None) -> np.ndarray:
        return self._labels(y, n_rows)

    def _labels(self, y: Any, n_rows: int) -> np.ndarray:
        values, _ = numbers(y, n_rows=n_rows, estimator_name=type(self).__name__)
        return np.ascontiguousarray(values[:, 0])


def group_sizes(group: Any, qid: Any, name: str = "") -> np.ndarray | None:
    """Return the sizes of groups, given as such or as the group of every row.

    >>> group_sizes(None, [7, 7, 9, 9, 9]).tolist()
    [2, 3]
    """
    if group is not None and qid is not None:
        raise DataError(f"{name}group and qid say the same: give one of them")
    if qid is None:
        return None if group is None else np.asarray(group)
    found = np.asarray(qid)
    if found.ndim != 1 or not len(found):
        raise DataError(f"{name}qid must hold the group of every row, got shape {found.shape}")
    starts = np.flatnonzero(np.append(True, found[1:] != found[:-1]))
    first = found[starts]
    if len(np.unique(first)) < len(first):
        raise DataError(f"{name}qid must keep the rows of a group together: sort the table by it")
    return np.diff(np.append(starts, len(found)))
