"""Asking any model about rows of numbers: a table is encoded once, then values may be changed at will.

    X ── rows_of ──► rows of numbers ── changed ──► Asked ──► shares of classes, or a number

Models that are a sum of trees are asked by their `predictor`; others get a table whose words are put back,
and those with learners of another library in them, which know no `Table`, a dataframe or an array.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from arboretum.base.members import listed
from arboretum.data.matrix import Matrix
from arboretum.data.schema import Schema, encode
from arboretum.data.table import Table
from arboretum.data.values import RawNumbers, Words
from arboretum.errors import ParameterError

__all__ = ["Asked", "decoded", "matrix_of", "plain_table", "table_for"]


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


def plain_table(table: Table) -> Any:
    """Return a table as any library takes it: a dataframe if its columns have names, else an array.

    >>> from arboretum.data.schema import learn_schema
    >>> schema, matrix = learn_schema([["red", 1.5], ["blue", 2.5]])
    >>> plain_table(decoded(schema, matrix.rows(0, 2)))
    array([['red', 1.5],
           ['blue', 2.5]], dtype=object)
    """
    columns = []
    for raw in table.columns:
        if isinstance(raw, Words):
            words = np.array([*raw.values, None], dtype=object)  # code -1 is the last
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


def _is_foreign(model: Any) -> bool:
    """Return whether code of another library reads the table when the model predicts."""
    if getattr(model, "passthrough", False):
        return True  # scikit-learn puts the table beside the members' predictions
    if not type(model).__module__.startswith("arboretum."):
        return hasattr(model, "predict")
    parts = [getattr(model, "init_", None), getattr(model, "final_estimator_", None)]
    dictionary = getattr(getattr(model, "dictionary_", None), "members", ())
    rounds = getattr(model, "members_", ())
    for several in (*rounds, getattr(model, "estimators_", ()), dictionary):
        parts += listed(several)
    return any(_is_foreign(part) for part in parts if part is not None)


def table_for(model: Any, rows: np.ndarray) -> Any:
    """Return rows of numbers as a table that the model and all that is in it can read."""
    table = decoded(model.schema_, rows)
    return plain_table(table) if _is_foreign(model) else table


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
        # looks at every member, so it is asked once, and only where members are asked
        self._is_foreign = self._predictor is None and _is_foreign(model)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Return class shares, (rows, classes), or numbers, (rows, 1)."""
        if self._predictor is not None:
            return np.asarray(self._predictor(rows)).reshape(len(rows), -1)
        table = decoded(self.model.schema_, rows)
        table = plain_table(table) if self._is_foreign else table
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.method == "predict" or hasattr(self.model, "predict_proba"):
                return np.asarray(getattr(self.model, self.method)(table)).reshape(len(rows), -1)
            said = np.asarray(self.model.predict(table))  # votes that are only counted
        return (said[:, None] == np.asarray(self.model.classes_)).astype(np.float64)
