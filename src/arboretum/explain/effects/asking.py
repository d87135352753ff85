"""Asking any model about rows of numbers: a table is encoded once, then values may be changed at will.

    X ── rows_of ──► rows of numbers ── changed ──► Asked ──► shares of classes, or a number

Models that are a sum of trees are asked by their `predictor`; others get a table whose words are put back.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from arboretum.data.matrix import Matrix
from arboretum.data.schema import Schema, encode
from arboretum.data.table import Table
from arboretum.data.values import RawNumbers, Words
from arboretum.errors import ParameterError

__all__ = ["Asked", "decoded", "matrix_of"]


def matrix_of(model: Any, X: Any) -> Matrix:
    """Return a table in the numbers of ``model.schema_``: places of categories, NaN for missing."""
    if not hasattr(model, "schema_") or not hasattr(model, "predict"):
        raise ParameterError(
            f"a fitted estimator of arboretum is needed, got {type(model).__name__}"
            + (": call fit first" if hasattr(model, "fit") else "")
        )
    if hasattr(model, "bins_") or not hasattr(model, "_threads") or hasattr(model, "stack_method_"):
        return encode(model.schema_, X, estimator_name=type(model).__name__)
    if getattr(model, "unseen", "missing") is None and not hasattr(model, "estimator_"):
        return encode(model.schema_, X, estimator_name=type(model).__name__)
    return model._encode(X)


def decoded(schema: Schema, rows: np.ndarray) -> Table:
    """Return rows of numbers as the table they stand for.

    >>> from arboretum.data.schema import learn_schema
    >>> schema, matrix = learn_schema([["red", 1.5], ["blue", 2.5]])
    >>> decoded(schema, matrix.rows(0, 2)).columns[0].values
    ['blue', 'red']
    """
    columns: list[Any] = []
    for f, column in enumerate(schema.columns):
        values = np.ascontiguousarray(rows[:, f])
        if column.categories is None:
            columns.append(RawNumbers(values, column.dtype))
            continue
        codes = np.where(np.isnan(values), -1, values).astype(np.int64)
        columns.append(Words(codes, list(column.categories), column.dtype, "declared"))
    return Table(schema.names, schema.named, len(rows), columns)


class Asked:
    """A fitted model as a function of rows of numbers.

    Attributes
    ----------
    labels : list or None
        The classes of a classifier.
    n_outputs : int
        Numbers per row: as many as there are classes, or one.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        classes = getattr(model, "classes_", None)
        if getattr(model, "n_outputs_", 1) > 1:
            raise ParameterError(
                f"this {type(model).__name__} answers {model.n_outputs_} targets at once: fit a model "
                "for each of them"
            )
        self.labels: list[Any] | None = (
            None if classes is None else list(np.asarray(classes).tolist())
        )
        self.method = "predict_proba" if self.labels is not None else "predict"
        self.n_outputs = 1 if self.labels is None else len(self.labels)
        self._predictor: Any = None
        if hasattr(model, "predictor"):
            try:
                self._predictor = model.predictor(self.method)
            except (ParameterError, AttributeError):
                self._predictor = None

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Return class shares, (rows, classes), or numbers, (rows, 1)."""
        if self._predictor is not None:
            return np.asarray(self._predictor(rows)).reshape(len(rows), -1)
        table = decoded(self.model.schema_, rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.method == "predict" or hasattr(self.model, "predict_proba"):
                return np.asarray(getattr(self.model, self.method)(table)).reshape(len(rows), -1)
            said = np.asarray(self.model.predict(table))  # votes that are only counted
        return (said[:, None] == np.asarray(self.model.classes_)).astype(np.float64)
