"""The columns as a person would look them over: kinds, gaps, ranges, shapes, and what is suspicious."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.suspicion import warn_of_columns
from arboretum.errors import SuspiciousColumnWarning
from arboretum.explain.report.tree_code import rounded, whole
from arboretum.tree.condition import format_category

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema

__all__ = ["columns_of", "hints_of"]

_BINS = 24
_MOST_WORDS = 400  # categories of a column whose counts are kept


def columns_of(schema: Schema, matrix: Matrix) -> list[dict[str, Any]]:
    """Return for every column what the page shows of it, and the values its slider may take."""
    return [
        _column(column, np.asarray(matrix.column(f))) for f, column in enumerate(schema.columns)
    ]


def _column(column: Any, x: np.ndarray) -> dict[str, Any]:
    gone = np.isnan(x)
    present = x[~gone]
    found: dict[str, Any] = {
        "name": column.name,
        "kind": column.kind,
        "dtype": column.dtype,
        "missing": int(gone.sum()),
        "had_missing": bool(column.has_missing),
    }
    if column.categories is not None:
        found["words"] = [format_category(word) for word in column.categories]
        counts = np.bincount(present.astype(np.int64), minlength=len(column.categories))
        found["counts"] = counts[:_MOST_WORDS].tolist()
        found["distinct"] = int((counts > 0).sum())
        return found
    found["distinct"] = len(np.unique(present))
    found["whole"] = bool(len(present) and np.all(present == np.floor(present)))
    if len(present):
        found["range"] = whole(np.array([present.min(), present.max()]))
        found["quantiles"] = rounded(np.quantile(present, [0.05, 0.25, 0.5, 0.75, 0.95]), 6)
        found["mean"] = float(f"{present.mean():.6g}")
        counts, edges = np.histogram(present, bins=_bins(present))
        found["edges"], found["counts"] = rounded(edges, 7), counts.tolist()
    return found


def _bins(x: np.ndarray) -> np.ndarray:
    low, high = np.quantile(x, [0.01, 0.99])
    if not high > low:
        low, high = float(x.min()), float(x.max())
    if not high > low:
        high = low + 1
    edges = np.linspace(low, high, _BINS + 1)
    edges[0], edges[-1] = min(edges[0], x.min()), max(edges[-1], x.max())
    return edges


def hints_of(schema: Schema, matrix: Matrix, actual: np.ndarray, *, classes: bool) -> list[str]:
    """Return what a fit would have warned of, in its own words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_columns(schema, matrix, actual, classes=classes)
    return [str(one.message) for one in caught if one.category is SuspiciousColumnWarning]
