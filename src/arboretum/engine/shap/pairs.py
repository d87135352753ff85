"""Pairs of columns as a symmetric table: every pair stands once behind the columns, and is written twice."""

from __future__ import annotations

from arboretum.engine.jit import plain_kernel

__all__ = ["write_squares"]


@plain_kernel
def write_squares(found, place, squares):
    """Write columns and pairs, (rows, places), as tables (rows, columns, columns).

    ``place`` says where every pair stands, and on its diagonal where columns do. A column keeps what its
    pairs leave of its value, so that rows of the tables sum to the values.
    """
    n = len(place)
    for row in range(len(found)):
        source, target = found[row], squares[row]
        for i in range(n):
            shared = 0.0
            for j in range(n):
                value = source[place[i, j]]
                target[i, j] = value
                shared += value
            target[i, i] += target[i, i] - shared
