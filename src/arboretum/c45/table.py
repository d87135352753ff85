"""The training table as C4.5 reads it: values, classes, weights, sorted lists and category codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine.columns.store import sort_columns
from arboretum.engine.jit import writable

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema

__all__ = ["CaseTable", "case_table"]


@dataclass(frozen=True, eq=False)
class CaseTable:
    """Everything growing needs to know about the rows.

    Attributes
    ----------
    X : (n, columns) float64 array
        Numbers and category codes; NaN is missing.
    label : (n,) int32 array
    weight : (n,) float64 array
    n_classes : int
    numeric, categorical : int64 arrays
        The columns of each kind.
    order : (numeric columns, n) uint32 array
        Presorted lists (engine/columns/presort.py), one per numeric column.
    present : int64 array
        How many values of each numeric column are not missing.
    codes : (categorical columns, n) unsigned array
        Codes; ``n_values`` means missing.
    n_values : int64 array
        Branches of a multiway test on each categorical column.
    missing_branch : int32 array
        Per column, the branch of a missing value; -1: every branch, a fraction in each.
    """

    X: np.ndarray
    label: np.ndarray
    weight: np.ndarray
    n_classes: int
    numeric: np.ndarray
    categorical: np.ndarray
    order: np.ndarray
    present: np.ndarray
    codes: np.ndarray
    n_values: np.ndarray
    missing_branch: np.ndarray

    @property
    def n_columns(self) -> int:
        return self.X.shape[1]


def case_table(
    matrix: Matrix,
    schema: Schema,
    label: np.ndarray,
    weight: np.ndarray,
    n_classes: int,
    *,
    missing_is_value: bool = False,
    n_jobs: int = 1,
) -> CaseTable:
    """Sort the numeric columns and code the others.

    ``missing_is_value``: a column in which values are missing has a branch of its own for them.
    """
    X = writable(matrix.rows(0, matrix.n_rows))
    n, kinds = len(X), [column.kind for column in schema.columns]
    numeric = np.array([f for f, kind in enumerate(kinds) if kind != "categorical"], np.int64)
    categorical = np.array([f for f, kind in enumerate(kinds) if kind == "categorical"], np.int64)
    order, present = sort_columns(lambda slot: X[:, numeric[slot]], (len(numeric), n), n_jobs)
    missing_branch = np.full(len(kinds), -1, np.int32)
    sizes = [len(schema.columns[f].categories or ()) for f in categorical]
    codes: np.ndarray = np.empty((len(categorical), n), _smallest(max(sizes, default=0) + 1))
    for j, f in enumerate(categorical):
        gone = np.isnan(X[:, f])
        if missing_is_value and schema.columns[f].has_missing:
            missing_branch[f] = sizes[j]
            codes[j] = np.where(gone, sizes[j], X[:, f])
            sizes[j] += 1
        else:
            codes[j] = np.where(gone, sizes[j], X[:, f])
    return CaseTable(
        X=X,
        label=label.astype(np.int32),
        weight=weight.astype(np.float64),
        n_classes=n_classes,
        numeric=numeric,
        categorical=categorical,
        order=order,
        present=present,
        codes=codes,
        n_values=np.array(sizes, np.int64),
        missing_branch=missing_branch,
    )


def _smallest(largest: int) -> type:
    return np.uint8 if largest <= 255 else np.uint16 if largest <= 65535 else np.uint32
