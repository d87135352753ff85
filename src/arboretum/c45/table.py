"""The training table as C4.5 reads it: values, classes, weights, sorted lists and category codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine.cases.cases import CaseValues
from arboretum.engine.compiler.decorators import writable
from arboretum.grow.columns import sort_columns

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema

__all__ = ["CaseTable", "case_table"]


@dataclass(frozen=True, eq=False)
class CaseTable:
    """The rows as growing reads them.

    Attributes
    ----------
    values : CaseValues
        Numbers and category codes, with the number of branches of a multiway test.
    label : (n,) int32 array
    weight : (n,) float64 array
    n_classes : int
    numeric, categorical : int64 arrays
        The columns of each kind.
    order : (numeric columns, n) uint32 array
        Presorted lists (engine/columns/presort.py), one per numeric column.
    present : int64 array
        How many values of each numeric column are not missing.
    missing_branch : int32 array
        Per column, the branch of a missing value; -1: every branch, a fraction in each.
    """

    values: CaseValues
    label: np.ndarray
    weight: np.ndarray
    n_classes: int
    numeric: np.ndarray
    categorical: np.ndarray
    order: np.ndarray
    present: np.ndarray
    missing_branch: np.ndarray

    @property
    def n_columns(self) -> int:
        return len(self.missing_branch)

    @property
    def n_values(self) -> np.ndarray:
        """Branches of a multiway test on each categorical column."""
        return self.values.n_values

    def column(self, f: int) -> np.ndarray:
        """Return a column as float64: numbers or category codes, NaN where a value is missing."""
        slot = self.values.slot[f]
        if f in self.numeric:
            return np.ascontiguousarray(self.values.numbers[:, slot])
        codes, own = self.values.codes[slot], self.missing_branch[f]
        return np.where(codes == (self.n_values[slot] if own < 0 else own), np.nan, codes)


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
    n, kinds = matrix.n_rows, [column.kind for column in schema.columns]
    numeric = np.array([f for f, kind in enumerate(kinds) if kind != "categorical"], np.int64)
    categorical = np.array([f for f, kind in enumerate(kinds) if kind == "categorical"], np.int64)
    numbers = _numbers(matrix, numeric)
    order, present = sort_columns(lambda slot: numbers[:, slot], (len(numeric), n), n_jobs)
    missing_branch = np.full(len(kinds), -1, np.int32)
    sizes = [len(schema.columns[f].categories or ()) for f in categorical]
    codes: np.ndarray = np.empty((len(categorical), n), _smallest(max(sizes, default=0) + 1))
    for j, f in enumerate(categorical):
        column = matrix.column(int(f))
        codes[j] = np.where(np.isnan(column), sizes[j], column)
        if missing_is_value and schema.columns[f].has_missing:
            missing_branch[f] = sizes[j]
            sizes[j] += 1
    slot = np.empty(len(kinds), np.int64)
    slot[numeric], slot[categorical] = np.arange(len(numeric)), np.arange(len(categorical))
    return CaseTable(
        values=CaseValues(numbers, codes, np.array(sizes, np.int64), slot),
        label=label.astype(np.int32),
        weight=np.asarray(weight, np.float64),
        n_classes=n_classes,
        numeric=numeric,
        categorical=categorical,
        order=order,
        present=present,
        missing_branch=missing_branch,
    )


def _numbers(matrix: Matrix, numeric: np.ndarray) -> np.ndarray:
    """Return the columns of numbers, row by row; the table itself if it has no others."""
    if len(numeric) == matrix.n_columns:
        return writable(matrix.rows(0, matrix.n_rows))
    numbers = np.empty((matrix.n_rows, len(numeric)))
    for slot, f in enumerate(numeric):
        numbers[:, slot] = matrix.column(int(f))
    return numbers


def _smallest(largest: int) -> type:
    return np.uint8 if largest <= 255 else np.uint16 if largest <= 65535 else np.uint32
