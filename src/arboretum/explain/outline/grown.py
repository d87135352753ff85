"""Outlines of trees of CART's kind: the candidates of every node, by the scan that worksheets use.

Trees of absolute_error, and of several targets, have worksheets only: their scan looks at medians, or long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arboretum.explain.outline.line import Coded, Line, TreeOutline
from arboretum.explain.outline.node_sums import NodeSums, has_sums
from arboretum.explain.worksheet.candidates import NodeCandidates
from arboretum.textbook.column_scan import ValueBins
from arboretum.textbook.splits import Candidate

if TYPE_CHECKING:
    from arboretum.explain.worksheet.grown import ShownTree
    from arboretum.structure.tree import Tree

__all__ = ["GROWN_NUMBERS", "cost_of", "grown_outline", "has_outline"]

# What the numbers of a line are.
GROWN_NUMBERS = (
    "rows left", "W left", "rows right", "W right", "imp left", "imp right", "charge",
)  # fmt: skip
# Nanoseconds: to add a row up in a column, to look at a column of a node, to write down a node.
_ROW, _COLUMN, _NODE = 20, 100_000, 900_000
# By sums of a tree: to add a row up in a column, to score a cut, to pass a sum, to write a node down.
_ADDED, _CUT, _SUM, _SUMMED = 5, 85, 10, 450_000


def has_outline(grown: ShownTree) -> bool:
    """Return True if the nodes of a tree can be scanned fast enough for a page."""
    return grown.rules.criterion != "absolute_error" and grown.y.shape[1] == 1


def cost_of(tree: Tree, like: ShownTree, width: int) -> int:
    """Return about how many nanoseconds the outline of a tree takes.

    ``like`` has its rows and rules; columns have at most ``width`` values.
    """
    rows, inner, n = len(like.weight), len(tree) - tree.n_leaves, like.matrix.n_columns
    looked_at = n if like.draw is None else min(like.draw.max_features, n)
    if has_sums(like, tree, width):
        cuts = min(inner * width, rows * tree.max_depth) * looked_at
        channels = _ADDED * rows * n + _CUT * cuts + _SUM * inner * n * width
        classes = np.max(like.rules.n_classes) if like.rules.n_classes is not None else 2
        return int(max(classes + 1, 3) / 3 * channels) + _SUMMED * inner
    return (_COLUMN * looked_at + _NODE) * inner + _ROW * rows * tree.max_depth * looked_at


def grown_outline(
    grown: ShownTree, columns: list[Coded], codes: np.ndarray, most: int
) -> TreeOutline:
    """Return the lines of all inner nodes; ``most`` columns are listed besides the winner's.

    ``codes`` are those of the columns side by side (see node_sums.py).
    """
    found, tree = TreeOutline(), grown.tree
    inner = np.flatnonzero(~tree.is_leaf).tolist()
    if inner and has_sums(grown, tree, max(one.width for one in columns)):
        sums = NodeSums(grown, columns, codes)
        for node in inner:
            found.lines[node] = [_line(*one) for one in sums.candidates(node, most)]
        return found
    for node in inner:
        rows = grown.rows_of(node)

        def bins(f: int, rows: np.ndarray = rows) -> ValueBins:
            return ValueBins(columns[f].values, columns[f].ends, columns[f].code[rows])

        looked = NodeCandidates(grown, node, grown.sample(node, rows), bins, drawn_only=True)
        assert looked.winner is not None
        found.lines[node] = [
            _line(c, looked.verdict(c)) for c in (looked.winner, *looked.closest(most))
        ]
    return found


def _line(c: Candidate, verdict: str) -> Line:
    missing = {"left": 0, "right": 1, None: -1}[c.missing_goes]
    numbers = (
        float(c.n_left), c.weight_left, float(c.n_right), c.weight_right,
        c.impurity_left, c.impurity_right, c.charge,
    )  # fmt: skip
    cut = c.threshold
    inside = tuple(sorted(c.left_categories)) if c.right_categories else ()
    if c.kind == "subset" and not inside:
        cut = np.inf  # is a value present?
    return Line(c.feature, cut, inside, missing, numbers, c.gain, verdict)
