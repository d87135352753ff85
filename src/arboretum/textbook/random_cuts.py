"""Further reading: one random cut per column and node, LightGBM's ``extra_trees``.

Extremely randomised trees (Geurts, Ernst and Wehenkel 2006) try one random cut of every column instead of all
of them. A single tree is worse; trees differ more from each other, so their sum errs less where rows are few.
In boosting a column comes as the sums (G, H, n) of its bins, and one of the cuts between them is drawn:

    bins          b_0   b_1 ┆ b_2   b_3   missing
    left          ├─────────┤                        missing values right,
             m +  ├─────────┤                        then left

Of a column of few categories one is drawn, and tried against the rest. More are put in order, and a number is
drawn: this many of the first, then of the last, are tried. Missing values stay with the rest.

The engine draws by a hash of (tree, node, column), so that a node that is grown by another thread, or again
for a worksheet, draws the same cut. Here the number drawn is an argument.

>>> bins = np.array([[-4.0, 1, 1], [-2, 1, 1], [6, 1, 1]])
>>> scan = scan_drawn(GradientNode(0.0, 3.0, 3), 0, bins, np.array([1.5, 2.5]), 1)
>>> [(c.cut, c.gain) for c in scan.best()]
[(2.5, 30.0)]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arboretum.textbook.gradient_scan import (
    GradientNode,
    GradientScan,
    gradient_answer,
    score_sides,
)

__all__ = ["how_many_cuts", "scan_drawn", "scan_drawn_set"]


def scan_drawn(
    node: GradientNode,
    feature: int,
    bins: np.ndarray,
    cuts: np.ndarray,
    drawn: int,
    missing: np.ndarray | None = None,
    sign: int = 0,
) -> GradientScan:
    """Return the cut after bin ``drawn``, with missing values right, then left; see `scan_bins`.

    The rows of a side are estimated from its whole H, not bin by bin.
    """
    missing = np.zeros(3) if missing is None else missing
    below, gaps = bins[: drawn + 1].sum(axis=0), bool(missing[2])
    left = np.array([below, below + missing]) if gaps else below[None]
    cut = float(cuts[drawn]) if drawn < len(cuts) else np.inf
    heavier = 2 * left[0, 1] >= node.H and not node.rules.xgboost

    def question(i: int) -> tuple[float, None, str]:
        return cut, None, "left" if i or (heavier and not gaps) else "right"

    itself = float(gradient_answer(node.G, node.H, node.n, node.answer, node.bounds, node.rules))
    estimated = node.estimated_rows(left[:, 1])
    return score_sides(node, feature, left, estimated, question, itself, sign, float(missing[2]))


def scan_drawn_set(
    node: GradientNode,
    feature: int,
    bins: np.ndarray,
    categories: Sequence[int],
    drawn: int,
    missing: np.ndarray | None = None,
) -> GradientScan:
    """Return the sets that a drawn number stands for: one category, or the first and last in order.

    >>> bins = np.array([[-4.0, 1, 1], [5, 1, 1], [2, 1, 1]])
    >>> scan = scan_drawn_set(GradientNode(3.0, 3.0, 3), 0, bins, [7, 8, 9], 1)
    >>> sorted(scan.best()[0].categories), scan.best()[0].gain
    ([8], 11.583333333333334)
    """
    rules, codes = node.rules, list(categories)
    estimated, extra = node.estimated_rows(bins[:, 1]), 0.0
    if len(bins) <= rules.max_onehot:
        sets = [[drawn]]
    else:
        order, extra = ordered_categories(node, bins), rules.cat_l2
        sets = [order[: drawn + 1], order[len(order) - drawn - 1 :]] if order else []
        rows = [estimated[some].sum() for some in sets]
        least = rules.min_group
        sets = [some for some, n in zip(sets, rows) if min(n, node.n - n) >= least]
    left = np.array([bins[some].sum(axis=0) for some in sets]).reshape(-1, 3)
    counted = np.array([estimated[some].sum() for some in sets])

    def question(i: int) -> tuple[float, frozenset[int], str]:
        return np.nan, frozenset(codes[b] for b in sets[i]), "right"

    itself = float(gradient_answer(node.G, node.H, node.n, np.nan, node.bounds, node.rules))
    if rules.path_smooth > 0 and not np.isnan(node.answer):
        itself = node.answer
    gone = 0.0 if missing is None else float(missing[2])
    return score_sides(node, feature, left, counted, question, itself, 0, gone, extra)


def ordered_categories(node: GradientNode, bins: np.ndarray) -> list[int]:
    """Return the categories of enough rows, ordered by G / (H + smooth)."""
    enough = node.estimated_rows(bins[:, 1]) >= node.rules.cat_min_rows
    some = np.flatnonzero((bins[:, 1] > 0) & enough)
    ratio = bins[some, 0] / (bins[some, 1] + node.rules.cat_smooth)
    return some[np.argsort(ratio, kind="stable")].tolist()


def how_many_cuts(node: GradientNode, bins: np.ndarray, *, sets: bool) -> int:
    """Return from how many numbers one is drawn for a column; 0: there is nothing to try.

    >>> node, bins = GradientNode(3.0, 3.0, 3), np.array([[-4.0, 1, 1], [5, 1, 1], [2, 1, 1]])
    >>> how_many_cuts(node, bins, sets=False), how_many_cuts(node, bins, sets=True)
    (2, 3)
    """
    if not sets:
        return max(len(bins) - 1, 1)
    if len(bins) <= node.rules.max_onehot:
        return len(bins)
    longest = (len(ordered_categories(node, bins)) + 1) // 2
    return min(node.rules.max_cat_threshold, longest)
