"""The training rows that ``keep_leaves=True`` keeps, in memory and in model files.

    rows     the encoded table: dense, by columns or sparse
    y        targets, or codes of classes
    weight   sample weights
    leaves   the leaf of every row in every tree; not written: a loaded forest walks its rows again

Quantiles, proximities of training rows and filling by copies need them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.matrix import DenseMatrix, FrameMatrix, Matrix, SparseMatrix
from arboretum.errors import ModelFileError
from arboretum.predict.sum import leaves_in

if TYPE_CHECKING:
    from arboretum.data.schema import Schema
    from arboretum.forest.estimator import Forest
    from arboretum.grow.grower import GrowTarget
    from arboretum.structure.tree import Tree

__all__ = ["TrainingRows", "check_cells", "keep", "read_training_rows"]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The training rows of a forest.

    Attributes
    ----------
    rows : Matrix
    y : float64 array of shape (n, n_outputs)
    weight : float64 array of shape (n,)
    leaves : int32 array of shape (n, n_trees)
    """

    rows: Matrix
    y: np.ndarray
    weight: np.ndarray
    leaves: np.ndarray

    def to_state(self) -> dict[str, Any]:
        """Return the part for a file; the leaves can be computed again."""
        return {"rows": _matrix_state(self.rows), "y": self.y, "weight": self.weight}


def keep(trees: Sequence[Tree], matrix: Matrix, target: GrowTarget, n_jobs: int) -> TrainingRows:
    """Keep a copy of the training rows, because the caller may change them later."""
    return TrainingRows(
        rows=matrix.take(np.arange(matrix.n_rows)),
        y=target.y.astype(np.float64),
        weight=target.weights.copy() if len(target.weights) else np.ones(matrix.n_rows),
        leaves=leaves_in(trees, matrix, n_jobs),
    )


def read_training_rows(state: Any, forest: Forest, codes: list[int] | None) -> TrainingRows:
    """Build it from the result of `to_state`; raise a ModelFileError if it is invalid.

    ``forest`` has its trees and its bags; ``codes``: the number of classes of each output, None for
    numbers.
    """
    trees, n_rows = forest.trees_, forest._bags.n_rows
    rows = _read_matrix(state["rows"], forest.schema_, n_rows)
    y, weight = state["y"], state["weight"]
    for array, shape in ((y, (n_rows, trees[0].n_outputs)), (weight, (n_rows,))):
        good = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == shape
        if not good or not np.isfinite(array).all():
            raise ModelFileError("its training targets and weights do not fit its training rows")
    if np.any(weight < 0) or not weight.any():
        raise ModelFileError("its training rows have weights that no row can have")
    if codes is not None and np.any((y % 1 != 0) | (y < 0) | (y >= np.array(codes))):
        raise ModelFileError("its training rows have classes that do not exist")
    return TrainingRows(rows, y, weight, leaves_in(trees, rows, forest._threads()))


# ---------------------------------------------------------------------- tables
def _matrix_state(matrix: Matrix) -> dict[str, Any]:
    if isinstance(matrix, DenseMatrix):
        return {"dense": _portable(matrix.values)}
    if isinstance(matrix, FrameMatrix):
        return {"columns": [_portable(values) for values in matrix.columns]}
    assert isinstance(matrix, SparseMatrix)
    entries = matrix.by_row
    return {
        "data": _portable(entries.data),
        "indices": entries.indices.astype(np.int64),
        "indptr": entries.indptr.astype(np.int64),
        "fill": None if matrix.fill is None else _portable(np.asarray(matrix.fill)),
    }


def _portable(values: np.ndarray) -> np.ndarray:
    """Return numbers that a file can hold: long doubles, which are read as float64 anyway, are converted."""
    return values.astype(np.float64) if values.dtype.itemsize > 8 else values


def _read_matrix(state: Any, schema: Schema, n_rows: int) -> Matrix:
    """Build the training rows; check their size, kinds and values."""
    shape = n_rows, schema.n_features
    matrix: Matrix
    sizes: list[tuple[int, ...]]
    if set(state) == {"dense"}:
        matrix, parts, sizes = DenseMatrix(state["dense"]), [state["dense"]], [shape]
    elif set(state) == {"columns"} and isinstance(state["columns"], list):
        parts, sizes = state["columns"], [(n_rows,)] * schema.n_features
        matrix = FrameMatrix(parts)
    elif set(state) == {"data", "indices", "indptr", "fill"}:
        matrix = _read_sparse(state, shape)
        parts, sizes = [state["data"]], [np.shape(state["indices"])]
        if state["fill"] is not None:
            parts, sizes = [*parts, state["fill"]], [*sizes, shape[1:]]
    else:
        raise ModelFileError("its training rows are neither dense nor sparse")
    if [getattr(part, "shape", None) for part in parts] != sizes:
        raise ModelFileError("its training rows do not fit its columns")
    for part in parts:
        if part.dtype.kind not in "biuf" or np.isinf(part).any():
            raise ModelFileError("its training rows hold something else than numbers")
    check_cells(matrix, schema)
    return matrix


def _read_sparse(state: Any, shape: tuple[int, int]) -> SparseMatrix:
    from scipy.sparse import csr_array

    where = [state[name] for name in ("indices", "indptr")]
    if any(not isinstance(x, np.ndarray) or x.dtype != np.int64 or x.ndim != 1 for x in where):
        raise ModelFileError("its sparse training rows are damaged")
    try:
        entries = csr_array((state["data"], *where), shape=shape)
        entries.check_format(full_check=True)
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"its sparse training rows are damaged ({error})") from error
    if not entries.has_canonical_format:
        raise ModelFileError("its sparse training rows hold entries twice or out of order")
    return SparseMatrix(entries, state["fill"])


def check_cells(matrix: Matrix, schema: Schema) -> None:
    """Raise a ModelFileError if a cell holds a category that its column does not have."""
    for f, column in enumerate(schema.columns):
        if column.categories is None:
            continue
        x = matrix.column(f)
        x = x[~np.isnan(x)]
        if np.any((x % 1 != 0) | (x < 0) | (x >= len(column.categories))):
            raise ModelFileError(f"column {column.name!r} holds categories that do not exist")
