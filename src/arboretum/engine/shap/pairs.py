"""Pairs of columns as a symmetric table: every pair is stored once, after the columns, and written twice."""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import kernel

__all__ = ["write_squares"]


@kernel
def write_squares(found, place, shared, squares):
    """Write columns and pairs, (rows, places), as tables (rows, columns, columns).

    ``place`` has the place of every pair, and on its diagonal those of the columns. The diagonal gets the
    value of a column minus its pairs, so that rows of the tables sum to the values. ``shared``, (columns), is
    scratch: tables are symmetric, so the sums of all rows are added up side by side.

    found (n_rows, n_places) float64; place (n_columns, n_columns) int32; shared (n_columns,) float64;
    squares (n_rows, n_columns, n_columns) float64, written.
    """
    n = len(place)
    for row in range(len(found)):
        source, target = found[row], squares[row]
        for i in range(n):
            shared[i] = 0.0
        for j in range(n):
            line = target[j]
            for i in range(n):
                line[i] = source[np.uint64(place[j, i])]
            for i in range(n):
                shared[i] += line[i]
        for i in range(n):
            target[i, i] += target[i, i] - shared[i]
