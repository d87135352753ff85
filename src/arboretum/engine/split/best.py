"""What a search returns: the best division of each node, and how two are compared.

The better of two has the higher score, less what is charged for categories (categories.py); between equal
ones the lower feature wins, then the lower cut.
That order depends on nothing but the data, so neither threads nor the order of work can change a tree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import inline, kernel

__all__ = [
    "FROM_CODES",
    "FROM_LIST",
    "REFUSED",
    "Best",
    "ColumnBest",
    "keep_better",
    "keep_better_at",
    "merge",
    "new_column_best",
    "no_best",
    "take",
]

REFUSED = -1.0  # the score of a division that is not allowed
FROM_LIST, FROM_CODES = 1, 2


class ColumnBest(NamedTuple):
    """Per node of a batch: the best division on one column."""

    score: np.ndarray  # (n_nodes,) float64, in grid units; -1 for none
    cut: np.ndarray  # (n_nodes,) int64
    missing_left: np.ndarray  # (n_nodes,) uint8
    constant: np.ndarray  # (n_nodes,) bool: the column holds one value only
    charge: np.ndarray  # (n_nodes,) float64: what of the score is held to be chance


class Best(NamedTuple):
    """Per node of a batch: the best division over all columns searched."""

    score: np.ndarray  # (n_nodes,) float64
    cut: np.ndarray  # (n_nodes,) int64
    missing_left: np.ndarray  # (n_nodes,) uint8
    feature: np.ndarray  # (n_nodes,) int64
    source: np.ndarray  # (n_nodes,) uint8: FROM_LIST, FROM_CODES, or 0 for none
    charge: np.ndarray  # (n_nodes,) float64


def take(record: Any, where: Any) -> Any:
    """Return a record of arrays for some of its nodes; None stays None.

    >>> take(no_best(3), slice(1, 3)).feature.tolist()
    [-1, -1]
    """
    return type(record)(*(None if array is None else array[where] for array in record))


def new_column_best(k: int) -> ColumnBest:
    """Return an unfilled `ColumnBest` for k nodes."""
    return ColumnBest(
        np.empty(k),
        np.empty(k, np.int64),
        np.empty(k, np.uint8),
        np.zeros(k, np.bool_),
        np.zeros(k),
    )


def no_best(k: int) -> Best:
    """Return a `Best` for k nodes with nothing in it."""
    return Best(
        np.full(k, REFUSED), np.zeros(k, np.int64), np.zeros(k, np.uint8), np.full(k, -1, np.int64),
        np.zeros(k, np.uint8), np.zeros(k),
    )  # fmt: skip


@inline
def keep_better(best, k, feature, score, cut, missing_left):
    """Replace the best division of node k if this one, found on a presorted list, is better."""
    if score < 0.0 or score < best.score[k]:
        return
    if score > best.score[k] or feature < best.feature[k]:
        best.score[k], best.cut[k], best.missing_left[k] = score, cut, missing_left
        best.feature[k], best.source[k] = feature, FROM_LIST


@kernel
def keep_better_at(found, where, features, source, best):
    """Keep the better division at the nodes ``where`` of a batch, each searched on its own feature, charged.

    where, features (n_searched,) int64.
    """
    for i in range(len(where)):
        k = where[i]
        if found.score[i] < 0.0:
            continue
        worth, worth_so_far = found.score[i] - found.charge[i], best.score[k] - best.charge[k]
        if best.feature[k] >= 0 and (
            worth < worth_so_far or (worth == worth_so_far and features[i] > best.feature[k])
        ):
            continue
        best.score[k], best.charge[k], best.cut[k] = found.score[i], found.charge[i], found.cut[i]
        best.missing_left[k], best.feature[k] = found.missing_left[i], features[i]
        best.source[k] = source


def merge(results: list[Best]) -> Best:
    """Return the best of several searches of the same nodes."""
    best = results[0]
    # threads finish in any order; the result does not depend on it
    for other in results[1:]:
        mine, theirs = best.score - best.charge, other.score - other.charge
        better = (theirs > mine) | ((theirs == mine) & (other.feature < best.feature))
        better = (other.feature >= 0) & (better | (best.feature < 0))
        for ours, others in zip(best, other):
            ours[better] = others[better]
    return best
