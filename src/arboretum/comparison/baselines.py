"""What a model has to beat: an answer without columns, and a linear model."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from threadpoolctl import threadpool_limits

from arboretum.data.schema import encode, learn_schema
from arboretum.data.table import read_table

__all__ = ["ClassFrequencies", "LinearClassifier", "LinearRegressor", "MeanOfTarget"]

_MOST_CATEGORIES = 50  # of a column that get a coefficient each: the most frequent ones
_FARTHEST = 5.0  # standard deviations from the mean; values beyond count as this far


class ClassFrequencies(ClassifierMixin, BaseEstimator):
    """Predicts the most frequent class, with the frequencies of the classes as probabilities.

    >>> model = ClassFrequencies().fit([[1], [2], [3]], ["no", "yes", "yes"])
    >>> model.predict([[9]]).tolist(), model.predict_proba([[9]]).round(2).tolist()
    (['yes'], [[0.33, 0.67]])
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Count the classes."""
        self.classes_, counts = np.unique(np.asarray(y), return_counts=True)
        self.frequencies_ = counts / counts.sum()
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the frequencies for every row."""
        return np.tile(self.frequencies_, (read_table(X).n_rows, 1))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most frequent class for every row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class MeanOfTarget(RegressorMixin, BaseEstimator):
    """Predicts the mean.

    >>> MeanOfTarget().fit([[1], [2]], [3.0, 5.0]).predict([[9]]).tolist()
    [4.0]
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Compute the mean."""
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the mean for every row."""
        return np.full(read_table(X).n_rows, self.mean_)


class _Linear(BaseEstimator):
    """Numbers are standardised, gaps are the mean and a column of their own, every category is a column."""

    def _learn(self, X: Any) -> np.ndarray:
        self.schema_, matrix = learn_schema(X)
        self.scales_ = []
        for f, column in enumerate(self.schema_.columns):
            x = np.asarray(matrix.column(f), np.float64)
            present = x[~np.isnan(x)]
            if column.categories is not None:
                counts = np.bincount(present.astype(np.int64), minlength=len(column.categories))
                self.scales_.append(np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES])
            else:
                middle, spread = (present.mean(), present.std()) if len(present) else (0.0, 0.0)
                self.scales_.append(np.array([middle, spread or 1.0]))
        return self._design(X)

    def _design(self, X: Any) -> np.ndarray:
        matrix, columns = encode(self.schema_, X, unseen="ignore"), []
        for f, (column, scale) in enumerate(zip(self.schema_.columns, self.scales_)):
            x = np.asarray(matrix.column(f), np.float64)
            if column.categories is not None:
                columns += [x == code for code in scale]
                continue
            away = (x - scale[0]) / scale[1]
            columns.append(np.clip(np.nan_to_num(away, nan=0.0), -_FARTHEST, _FARTHEST))
            if column.has_missing:
                columns.append(np.isnan(x))
        return np.column_stack(columns).astype(np.float64)


class LinearClassifier(ClassifierMixin, _Linear):
    """scikit-learn's logistic regression on the columns of any table.

    >>> X = [[1.0, "a"], [2.0, "b"], [3.0, "a"], [4.0, "b"]]
    >>> LinearClassifier().fit(X, ["no", "no", "yes", "yes"]).predict([[9.0, "a"]]).tolist()
    ['yes']
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the coefficients."""
        from sklearn.linear_model import LogisticRegression

        with threadpool_limits(
            1
        ):  # threads that wait for each other take longer than small products
            self.model_ = LogisticRegression(max_iter=300).fit(self._learn(X), y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes."""
        return np.asarray(self.model_.predict_proba(self._design(X)))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class LinearRegressor(RegressorMixin, _Linear):
    """scikit-learn's ridge regression on the columns of any table.

    >>> LinearRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0]).predict([[2.0]]).tolist()
    [2.0]
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the coefficients."""
        from sklearn.linear_model import Ridge

        self.model_ = Ridge().fit(self._learn(X), y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted numbers."""
        return np.asarray(self.model_.predict(self._design(X)))
