"""Tables that rounds of boosting share: how numbers are spread, and the trees of a round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arboretum.explain.worksheet.sheet import Sheet
from arboretum.structure.tree import Tree

__all__ = ["add_rounds_trees", "spread_of"]


def spread_of(values: np.ndarray) -> list[float]:
    """Return the least of some numbers, their quarters and the largest.

    >>> spread_of(np.arange(5.0))
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    return [float(np.quantile(values, q)) for q in (0, 0.25, 0.5, 0.75, 1)]


def add_rounds_trees(sheet: Sheet, trees: Sequence[Tree], numbers: Sequence[int]) -> None:
    """Write the table of the trees that a round added."""
    lines = []
    for t in numbers:
        tree = trees[t]
        split = "no split" if tree.is_leaf[0] else tree.condition(0, 0).pretty(max_categories=4)
        values, gain = tree.value[tree.leaves, 0, 0], float(tree.gain[0])
        ends = float(values.min()), float(values.max())
        lines.append((t, tree.n_leaves, tree.max_depth, split, gain, *ends))
    header = "tree | leaves | depth | first split | gain | smallest value | largest value"
    sheet.add_table("Its trees", header, lines)
