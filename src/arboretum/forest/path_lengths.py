"""Trees whose leaves hold path lengths: how many random cuts isolate a row (Liu, Ting and Zhou 2008).

    path length of a leaf = its depth + c(n)        n: the training rows left in it
    value of a node       = mean over its rows      so the trees are regression trees of the path length

c(n) is the mean path length in a random tree of n rows: the cuts that were not made. Predictions, SHAP values
and plots need nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine.elementwise import log
from arboretum.structure.build import cut_trees
from arboretum.structure.joined import arrays_of, pieces, sizes_of, starts_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from arboretum.data.schema import Schema
    from arboretum.structure.tree import Tree

__all__ = ["average_path_length", "with_path_lengths"]

# c(n) is rounded to this fraction of a cut: sums over thousands of trees are then exact, and rows that no
# tree can cut have exactly the mean c(n).
_STEPS = 2.0**32
_AS_THEY_ARE = ("kind", "threshold", "first_child", "missing_child", "weight", "count")


def average_path_length(n: ArrayLike) -> np.ndarray:
    """Return c(n) = 2 (ln(n - 1) + γ) - 2 (n - 1) / n; 1 for two rows, 0 for fewer.

    >>> average_path_length([1, 2, 256]).round(3).tolist()
    [0.0, 1.0, 10.245]
    """
    n = np.asarray(n, dtype=np.float64)
    many = np.maximum(n, 3.0)
    c = 2.0 * (log(many - 1.0) + np.euler_gamma) - 2.0 * (many - 1.0) / many
    return np.where(n > 2, np.rint(c * _STEPS) / _STEPS, np.where(n == 2, 1.0, 0.0))


def with_path_lengths(trees: list[Tree], schema: Schema, columns: np.ndarray) -> list[Tree]:
    """Return trees with path lengths as values, over all columns of a table.

    ``columns`` are those that the trees were grown on. Impurity and gain are those of the path lengths.
    """
    parts = pieces(trees)

    def together(name: str) -> np.ndarray:
        return np.concatenate(arrays_of(parts, name))

    nodes = {name: together(name) for name in _AS_THEY_ARE}
    feature, weight, is_leaf = together("feature"), nodes["weight"], nodes["first_child"] < 0
    sizes = sizes_of(parts)
    roots = starts_of(np.array(sizes))[:-1]
    child = nodes["first_child"] + np.repeat(roots, sizes)
    depth, levels, level = np.zeros(len(feature), np.int64), [], roots
    while len(level):
        level = level[~is_leaf[level]]
        levels.append(level)
        children = np.concatenate([child[level], child[level] + 1])
        depth[children] = np.tile(depth[level] + 1, 2)
        level = children
    length = depth + average_path_length(nodes["count"])
    sums = np.where(is_leaf, weight, 0.0) * np.array([length, length * length])
    for level in reversed(levels):
        sums[:, level] = sums[:, child[level]] + sums[:, child[level] + 1]
    value = np.where(is_leaf, length, sums[0] / weight)
    impurity = np.where(is_leaf, 0.0, np.maximum(sums[1] / weight - value * value, 0.0))
    risk, gain = impurity * weight / np.repeat(weight[roots], sizes), np.zeros(len(feature))
    left = child[~is_leaf]
    gain[~is_leaf] = np.maximum(risk[~is_leaf] - risk[left] - risk[left + 1], 0.0)
    return cut_trees(
        schema,
        np.cumsum(sizes),
        **nodes,
        feature=np.where(is_leaf, -1, columns[feature]).astype(np.int32),
        value=value[:, None, None],
        impurity=impurity,
        gain=gain,
        bits_start=together("bits_start"),
        bits=together("bits"),
        bits_ends=np.cumsum(sizes_of(parts, "bits")),
    )
