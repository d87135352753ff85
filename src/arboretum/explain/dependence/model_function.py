"""Any model as a function of rows of numbers: a table is encoded once, then its values may be changed.

    X ── matrix_of ──► rows of numbers ── changed ──► ModelFunction ──► class probabilities, or a number

Models that are a sum of trees are computed by that sum. Others get a table with the categories written out;
if code of another library reads that table, it is a dataframe or an array.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from arboretum.base.anatomy import Anatomy, has_anatomy
from arboretum.data.matrix import DenseMatrix, Matrix
from arboretum.data.schema import Schema
from arboretum.data.table import Table
from arboretum.data.values import RawNumbers, Words
from arboretum.errors import ParameterError
from arboretum.explain.pipeline import anatomy_of

__all__ = ["ModelFunction", "decoded", "matrix_of", "plain_table", "table_for"]


def matrix_of(model: Any, X: Any, caller: str = "explain") -> Matrix:
    """Return a table encoded by ``model.schema_``: categories by their place, NaN for missing."""
    return anatomy_of(model, caller).columns.numbers(X)


def decoded(schema: Schema, rows: np.ndarray) -> Table:
    """Return the table that rows of numbers encode.

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


def plain_table(table: Table) -> Any:
    """Return a table in a form that any library takes: a dataframe if its columns have names, else an array.

    >>> from arboretum.data.schema import learn_schema
    >>> schema, matrix = learn_schema([["red", 1.5], ["blue", 2.5]])
    >>> plain_table(decoded(schema, matrix.rows(0, 2)))
    array([['red', 1.5],
           ['blue', 2.5]], dtype=object)
    """
    columns = []
    for raw in table.columns:
        if isinstance(raw, Words):
            words = np.array([*raw.values, None], dtype=object)  # code -1, missing, picks the last
            columns.append(words[np.asarray(raw.codes)])
        else:
            columns.append(raw.values)
    if table.named:
        try:
            import pandas as pd
        except ImportError:
            pass
        else:
            return pd.DataFrame(dict(zip(table.names, columns)))
    return np.column_stack(columns) if len(columns) else np.empty((table.n_rows, 0))


def _is_read_by_others(model: Any) -> bool:
    """Return True if code of another library reads the table when the model predicts."""
    if not has_anatomy(model):
        return True
    anatomy = model._anatomy()
    if anatomy.family == "stack" and model.passthrough:
        return True  # passthrough: the final model reads the table too
    return any(_is_read_by_others(part.model) for part in anatomy.parts if part.reads_table)


def table_for(model: Any, rows: np.ndarray) -> Any:
    """Return rows of numbers as a table that the model and all models in it can read."""
    table = decoded(anatomy_of(model, "table_for").columns.schema, rows)
    return plain_table(table) if _is_read_by_others(model) else table


class ModelFunction:
    """A fitted model as a function of rows of numbers.

    Attributes
    ----------
    model : fitted estimator
    anatomy : Anatomy
    labels : list or None
        The classes of a classifier.
    n_outputs : int
        Numbers per row: the number of classes, or one.
    """

    def __init__(self, model: Any, caller: str = "explain") -> None:
        self.model, self.anatomy = model, anatomy_of(model, caller)
        anatomy: Anatomy = self.anatomy
        if anatomy.n_targets > 1:
            raise ParameterError(
                f"this {type(model).__name__} predicts {anatomy.n_targets} targets at once: fit a model "
                "for each of them"
            )
        self.labels: list[Any] | None = None if anatomy.labels is None else anatomy.labels.tolist()
        self.n_outputs = 1 if self.labels is None else len(self.labels)
        method = "predict" if self.labels is None else "predict_proba"
        ensemble = anatomy.used
        self._sum = (ensemble, anatomy.answers[method]) if anatomy.is_sum and ensemble else None
        # visits all members, so it is computed once, when they first predict
        self._is_foreign = self._sum is None and _is_read_by_others(model)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Return class probabilities, (rows, classes), or numbers, (rows, 1)."""
        n = len(rows)
        if self._sum is not None:
            ensemble, answer = self._sum
            missing = self.anatomy.columns.missing
            known = rows if missing != missing else np.where(rows == missing, np.nan, rows)
            sums = ensemble.answers(DenseMatrix(known), self.anatomy.recipe.threads())
            return np.asarray(answer(sums)).reshape(n, -1)
        table: Any = decoded(self.anatomy.columns.schema, rows)
        table = plain_table(table) if self._is_foreign else table
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.labels is not None and hasattr(self.model, "predict_proba"):
                return np.asarray(self.model.predict_proba(table)).reshape(n, -1)
            predicted = np.asarray(self.model.predict(table))
        if self.labels is None:
            return predicted.reshape(n, -1)
        return (predicted[:, None] == self.anatomy.labels).astype(np.float64)  # votes are counted
