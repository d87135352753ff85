"""Bagging (Breiman 1996): the same estimator many times, each on rows (and columns) drawn by chance.

    table ──bag 0──▶ estimator 0 ─┐
          ──bag 1──▶ estimator 1 ─┼──▶ mean of their class shares, of their votes or of their numbers
          ──bag 2──▶ estimator 2 ─┘

The base may be any estimator. Trees of this library that get all columns are grown as a forest is: the
columns are ranked once for all of them.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from arboretum.base import members
from arboretum.cart.cart import CARTClassifier, CARTRegressor
from arboretum.data.schema import Schema
from arboretum.data.slices import take_columns
from arboretum.data.target import encode_classes, numbers
from arboretum.errors import DataError, ModelFileError
from arboretum.forest.bag_estimator import Bagging
from arboretum.predict.oob_attributes import ClassesOutOfBag, NumbersOutOfBag

__all__ = ["BaggingClassifier", "BaggingRegressor"]

_TEXT = """
    Parameters
    ----------
    estimator : estimator or None, default=None
        What is fitted many times, from any library that follows scikit-learn; None is {base}.
    n_estimators : int, default=10
        How many of them.
    max_samples : int, float or None, default=1.0
        Rows each one gets; a float is a share of the rows; None is all of them.
    max_features : int or float, default=1.0
        Columns each one gets; a float is a share of the columns.
    bootstrap : bool, default=True
        Draw rows with replacement.
    bootstrap_features : bool, default=False
        Draw columns with replacement. A column drawn again is named "name (2)".
    oob_score : bool or callable, default=False
        Judge by answers to rows that estimators have not seen; a function of (y, prediction) replaces
        {score}.
    warm_start : bool, default=False
        Keep the estimators of the last fit and add to them; 10 and 10 more are 20.
    n_jobs : int or None, default=None
        Estimators of this library are fitted on so many threads, None being all cores; others as
        joblib does, None being 1. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed. Estimator t depends on (seed, t) alone.
    verbose : int, default=0
        Show a progress bar while fitting.

    Attributes
    ----------
    estimators_ : list of estimators
    estimators_samples_ : list of int arrays
        The rows each was given, one entry for every time a row was drawn.
    estimators_features_ : list of int arrays
        The columns each was given.
    schema_ : Schema
        Names, kinds and categories of the columns.{classes}
    n_features_in_, n_outputs_ : int
    feature_names_in_ : array of str
        Only if the training table had names.
    oob_score_ : float
        Only with `oob_score`; {oob}.
    oob_error_curve_ : float array
        Out-of-bag error after each estimator.
    oob_n_trees_ : int array
        How many estimators have not seen each row; rows with 0 have no out-of-bag answer.

    Notes
    -----
    A base that takes `sample_weight` gets all rows, weighed by how often its bag drew them times their
    own weight; any other gets the drawn rows themselves, drawn in proportion to their weights.
"""


# ---------------------------------------------------------------------- classes
def _base_decides(model: Bagging) -> bool:
    return hasattr(model.estimators_[0] if hasattr(model, "estimators_") else model._base(),
                   "decision_function")  # fmt: skip


class BaggingClassifier(ClassesOutOfBag, ClassifierMixin, Bagging):
    __doc__ = (
        """Many classifiers on bootstrap samples: scikit-learn's `BaggingClassifier`.
"""
        + _TEXT.format(
            base="`CARTClassifier()`",
            score="accuracy",
            oob="`oob_decision_function_` has the shares",
            classes="""
    classes_ : array
        The class labels, sorted.
    n_classes_ : int""",
        )
        + """
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BaggingClassifier(KNeighborsClassifier(), max_features=2, random_state=0).fit(X, y)
    >>> model.predict(X[[0, 60, 149]])
    array([0, 1, 2])
    """
    )

    _tree: ClassVar = CARTClassifier
    _classifies: ClassVar = True

    def _learn_target(self, y: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        classes, codes, _ = encode_classes(y, n_rows=n_rows, estimator_name=type(self).__name__)
        if len(classes) > 1:
            raise DataError(
                f"y has {len(classes)} columns: {type(self).__name__} predicts one class; a "
                "RandomForestClassifier takes several outputs"
            )
        self.n_outputs_ = 1
        self._take_classes(classes[0])
        return codes, classes[0][codes[:, 0]]

    def _take_classes(self, classes: np.ndarray) -> None:
        self.classes_ = classes
        self.n_classes_ = self._n_values = len(classes)

    def _signature(self) -> tuple:
        return *super()._signature(), tuple(self.classes_.tolist())

    def _read_answer(self, member: Any, X: Any) -> np.ndarray:
        return members.answer_classes(member, X, self.classes_)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return mean class shares; of estimators without `predict_proba` the shares of votes."""
        return self._sum(X)[:, 0] / len(self.estimators_)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of largest share, the first in order between equals."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    @available_if(_base_decides)
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the mean of the estimators' decision functions."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "estimators_")
        X = self._in_order(X)
        total: Any = 0.0
        for number, member in enumerate(self.estimators_):
            if len(member.classes_) < len(self.classes_):
                raise DataError(
                    f"the bag of estimator {number} lacks a class, so decision functions cannot be "
                    "averaged: use predict_proba"
                )
            mine = X if self._bags.all_columns else take_columns(X, self._bags.features(number))
            total = total + np.asarray(member.decision_function(mine))
        return np.asarray(total / len(self.estimators_))

    def _get_fitted_state(self) -> dict[str, Any]:
        return {**super()._get_fitted_state(), "classes": self.classes_}

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        model = super()._from_fitted_state(parameters, schema, state)
        classes = state["classes"]
        if not isinstance(classes, np.ndarray) or classes.ndim != 1 or not len(classes):
            raise ModelFileError("the classes are not a list of labels")
        for member in model.estimators_:
            known = getattr(member, "classes_", None)
            if not isinstance(known, np.ndarray) or not np.isin(known, classes).all():
                raise ModelFileError("the estimators and the model disagree on the classes")
        model._take_classes(classes)
        model._read_answers(state)
        return model


# ---------------------------------------------------------------------- numbers
class BaggingRegressor(NumbersOutOfBag, RegressorMixin, Bagging):
    __doc__ = (
        """Many regressors on bootstrap samples: scikit-learn's `BaggingRegressor`.
"""
        + _TEXT.format(
            base="`CARTRegressor()`",
            score="R²",
            oob="`oob_prediction_` has the answers",
            classes="",
        )
        + """
    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BaggingRegressor(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> model.oob_score_ > 0.35
    True
    """
    )

    _tree: ClassVar = CARTRegressor
    _classifies: ClassVar = False
    _n_values = 1

    def _learn_target(self, y: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        values, one = numbers(y, n_rows=n_rows, estimator_name=type(self).__name__)
        self.n_outputs_ = values.shape[1]
        self._one_output = one
        return values, values[:, 0] if one else values

    def _read_answer(self, member: Any, X: Any) -> np.ndarray:
        return members.answer_numbers(member, X, self.n_outputs_)

    def predict(self, X: Any) -> np.ndarray:
        """Return the mean of the estimators."""
        mean = self._sum(X)[:, :, 0] / len(self.estimators_)
        return mean[:, 0] if self._one_output else mean

    def _get_fitted_state(self) -> dict[str, Any]:
        return {**super()._get_fitted_state(), "one_output": self._one_output}

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        model = super()._from_fitted_state(parameters, schema, state)
        one = state["one_output"]
        if (one is not True and one is not False) or (one and model.n_outputs_ != 1):
            raise ModelFileError("the model's outputs make no sense")
        model._one_output = one
        model._read_answers(state)
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
