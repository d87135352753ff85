"""Bagging (Breiman 1996): the same estimator many times, each on randomly drawn rows (and columns).

    table ──bag 0──▶ estimator 0 ─┐
          ──bag 1──▶ estimator 1 ─┼──▶ mean of their probabilities, votes or numbers
          ──bag 2──▶ estimator 2 ─┘

The base may be any estimator. Trees of this library that get all columns are grown as in a forest: the
columns are ranked once for all of them.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from arboretum.base import members
from arboretum.base.anatomy import has_anatomy
from arboretum.base.oob_attributes import ClassesOutOfBag, NumbersOutOfBag
from arboretum.base.targets import Classes, Numbers
from arboretum.cart.cart import CARTClassifier, CARTRegressor
from arboretum.data.slices import take_columns
from arboretum.engine.elementwise import log
from arboretum.errors import DataError, ModelFileError
from arboretum.forest.bag_estimator import Bagging

__all__ = ["BaggingClassifier", "BaggingRegressor"]


# ---------------------------------------------------------------------- classes
def _base_decides(model: Bagging) -> bool:
    return hasattr(model.estimators_[0] if hasattr(model, "estimators_") else model._base(),
                   "decision_function")  # fmt: skip


class BaggingClassifier(ClassesOutOfBag, Classes, Bagging):
    """Many classifiers on bootstrap samples: scikit-learn's `BaggingClassifier`.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Notes
    -----
    A base that takes `sample_weight` gets all rows, weighted by how often its bag drew them; any other gets
    the drawn rows themselves. Rows are drawn in proportion to their weights; without `bootstrap`, where a
    row is drawn once, a base that takes weights gets them, and all rows are equally likely. A base of another
    library learns the numbers of the classes, 0 to K-1, as in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BaggingClassifier(KNeighborsClassifier(), max_features=2, random_state=0).fit(X, y)
    >>> model.predict(X[[0, 60, 149]])
    array([0, 1, 2])
    """

    _tree: ClassVar = CARTClassifier
    _classifies: ClassVar = True
    _attributes: ClassVar = {
        **Bagging._attributes,
        "classes_ : array": "The class labels, sorted.",
        "n_classes_ : int": "",
        "oob_decision_function_ : float array": "Mean probabilities of the estimators that have "
        "not seen a row.",
    }

    def _learn_labels(self, y: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        codes = self._learn_classes(y, n_rows)
        return codes, self._labels_for(self._base())[codes[:, 0]]

    def _labels_for(self, member: Any) -> np.ndarray:
        """Return the classes that a member is fitted to: their numbers, if it comes from another library."""
        return self.classes_ if has_anatomy(member) else np.arange(self.n_classes_)

    def _read_answer(self, member: Any, X: Any, **given: Any) -> np.ndarray:
        return members.answer_classes(member, X, self._labels_for(member), **given)

    def predict_proba(self, X: Any, **params: Any) -> np.ndarray:
        """Return mean class probabilities; for estimators without `predict_proba` the shares of votes."""
        return self._mean(X, "predict_proba", **params)[:, 0]

    def predict_log_proba(self, X: Any, **params: Any) -> np.ndarray:
        """Return the logarithms of `predict_proba`."""
        return log(self._mean(X, "predict_log_proba", **params)[:, 0])

    def predict(self, X: Any, **params: Any) -> np.ndarray:
        """Return the most probable class, the first in order between equals."""
        best = self._mean(X, **params)[:, 0].argmax(axis=1)
        return self.classes_[best]

    @available_if(_base_decides)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any, **params: Any) -> np.ndarray:
        """Return the mean of the estimators' decision functions."""
        self._check_fitted()
        given = members.routed(self, "decision_function", params)
        X = self._in_order(X)
        total: Any = 0.0
        for number, member in enumerate(self.estimators_):
            if len(member.classes_) < len(self.classes_):
                raise DataError(
                    f"the bag of estimator {number} lacks a class, so decision functions cannot be "
                    "averaged: use predict_proba"
                )
            mine = X if self._bags.all_columns else take_columns(X, self._bags.features(number))
            total = total + np.asarray(member.decision_function(mine, **given))
        return np.asarray(total / len(self.estimators_))

    def _check_members(self) -> None:
        for member in self.estimators_:
            known = getattr(member, "classes_", None)
            if not isinstance(known, np.ndarray) or not np.isin(known, self.classes_).all():
                raise ModelFileError("the estimators and the model disagree on the classes")


# ---------------------------------------------------------------------- numbers
class BaggingRegressor(NumbersOutOfBag, Numbers, Bagging):
    """Many regressors on bootstrap samples: scikit-learn's `BaggingRegressor`.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Notes
    -----
    A base that takes `sample_weight` gets all rows, weighted by how often its bag drew them; any other gets
    the drawn rows themselves. Rows are drawn in proportion to their weights; without `bootstrap`, where a
    row is drawn once, a base that takes weights gets them, and all rows are equally likely.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BaggingRegressor(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> model.oob_score_ > 0.35
    True
    """

    _tree: ClassVar = CARTRegressor
    _classifies: ClassVar = False
    _attributes: ClassVar = {
        **Bagging._attributes,
        "oob_prediction_ : float array": "Predictions of the estimators that have not seen a row.",
    }
    _several_outputs: ClassVar = True

    def _learn_labels(self, y: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        values = self._learn_numbers(y, n_rows)
        return values, self._numbers_of(values)

    def _read_answer(self, member: Any, X: Any, **given: Any) -> np.ndarray:
        return members.answer_numbers(member, X, self.n_outputs_, **given)

    def predict(self, X: Any, **params: Any) -> np.ndarray:
        """Return the mean of the estimators."""
        return self._numbers_of(self._mean(X, **params)[:, :, 0])
