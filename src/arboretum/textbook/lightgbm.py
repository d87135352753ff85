"""LightGBM: bins instead of values, and always the leaf that gains most.

    bin_table          values become bins, once for all trees (lightgbm_bins.py)
    grow_lgbm          until there are ``num_leaves`` leaves or none is worth it:
      build_histogram    Σg, Σh and rows per bin of the smaller child, added up
      (subtraction)      those of its sibling: the parent's less the smaller child's
      candidates         every cut of every histogram (lightgbm_splits.py)
                         split the leaf whose best candidate gains most

Depth-wise growth splits a whole level, worth it or not. Leaf-wise growth goes where the loss falls
fastest, and comes to deep, narrow trees:

        0                           0            the digits say in which order nodes were split
       / \\                         / \\
      1   2      depth-wise       ·   1          leaf-wise
     / \\ / \\                         / \\
    ·  · ·  ·                       2   ·
                                   / \\
                                  ·   ·

The program takes a shortcut: below a node where a column has no admissible split, it looks at that
column no more, though a smaller node may well have one. Here this is ``forget_columns``.

GOSS and EFB, which make rows and columns fewer, are in lightgbm_sampling.py, the rounds of boosting in
lightgbm_boosting.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.lightgbm_bins import BinnedTable, bin_table
from arboretum.textbook.lightgbm_splits import (
    DEFAULT,
    LGBMCandidate,
    LGBMSettings,
    best_split,
    leaf_output,
    lgbm_category_candidates,
    number_candidates,
)

__all__ = [
    "LGBMNode",
    "LeafWiseGrowth",
    "grow_lgbm",
    "grow_on_bins",
    "predict_lgbm",
    "tree_text_lgbm",
]


# ---------------------------------------------------------------------- growing
@dataclass(eq=False)
class LGBMNode:
    """A node and how it came about."""

    path: str  # the way from the root in L and R; the root's own is ""
    rows: np.ndarray = field(repr=False)
    sums: np.ndarray  # G, H, n
    output: float
    histograms: list[np.ndarray] = field(repr=False)
    source: str  # how the histograms were made: "added up" or "subtracted"
    columns: tuple[int, ...]  # those to look at, here and (forget_columns: if of use) below
    stop: str = ""  # why the node is a leaf
    order: int = -1  # the node was the order-th to be split
    candidates: list[LGBMCandidate] = field(default_factory=list, repr=False)
    chosen: LGBMCandidate | None = field(default=None, repr=False)
    left: LGBMNode | None = field(default=None, repr=False)
    right: LGBMNode | None = field(default=None, repr=False)

    @property
    def children(self) -> list[LGBMNode]:
        return [child for child in (self.left, self.right) if child is not None]

    @property
    def is_leaf(self) -> bool:
        return not self.children

    @property
    def depth(self) -> int:
        return len(self.path)

    def __iter__(self) -> Iterator[LGBMNode]:
        """Visit the node and all below it, parents before children, left before right."""
        yield self
        for child in self.children:
            yield from child


@dataclass(frozen=True, eq=False)
class LeafWiseGrowth:
    """The serial learner: all rows and all columns in one place (parallel.py shares them out)."""

    table: BinnedTable
    g: np.ndarray
    h: np.ndarray
    settings: LGBMSettings

    def histograms(self, rows: np.ndarray) -> list[np.ndarray]:
        return self.table.histograms(rows, self.g, self.h)

    def column_candidates(
        self, f: int, histogram: np.ndarray, node: LGBMNode
    ) -> list[LGBMCandidate]:
        """Return the candidates of one column of a node."""
        bins = self.table.bins[f]
        if bins.categories is None:
            return number_candidates(histogram, bins.cuts, f, node.output, self.settings)
        return lgbm_category_candidates(histogram, bins.categories, f, node.output, self.settings)

    def node_candidates(self, node: LGBMNode) -> list[LGBMCandidate]:
        """Return the candidates of a node in the order of its columns."""
        columns = (self.column_candidates(f, node.histograms[f], node) for f in node.columns)
        return [candidate for column in columns for candidate in column]

    def plan(self, node: LGBMNode) -> LGBMNode:
        """Find the split of a new leaf, or note why there is none."""
        if 0 < self.settings.max_depth <= node.depth:
            node.stop = "max_depth"
            return node
        node.candidates = self.node_candidates(node)
        if self.settings.forget_columns:
            node.columns = tuple(sorted({c.feature for c in node.candidates if c.admissible}))
        node.chosen = best_split(node.candidates)
        node.stop = "" if node.chosen else "no admissible split"
        return node

    def split(self, node: LGBMNode, order: int) -> list[LGBMNode]:
        """Carry out the planned split; only the smaller child's rows are added up."""
        split = node.chosen
        assert split is not None
        goes_left = split.left(self.table.X[node.rows, split.feature])
        sides = node.rows[goes_left], node.rows[~goes_left]
        small = int(len(sides[1]) < len(sides[0]))
        counted = self.histograms(sides[small])
        rest = [whole - part for whole, part in zip(node.histograms, counted)]
        made = [(rest, "subtracted"), (rest, "subtracted")]
        made[small] = (counted, "added up")
        sums, outputs = (split.left_sums, split.right_sums), (split.left_output, split.right_output)
        node.left, node.right = (
            LGBMNode(node.path + "LR"[i], rows, totals, outputs[i], *made[i], node.columns)
            for i, rows in enumerate(sides)
            for totals in [np.array([*sums[i][:2], len(rows)])]  # the rows themselves are counted
        )
        node.order = order
        return [self.plan(child) for child in node.children]

    def grow(self, rows: np.ndarray) -> LGBMNode:
        """Split the leaf that gains most until there are ``num_leaves``; return the root."""
        sums = np.array([self.g[rows].sum(), self.h[rows].sum(), len(rows)])
        output = leaf_output(sums, None, self.settings)
        histograms, columns = self.histograms(rows), tuple(range(self.table.X.shape[1]))
        root = self.plan(LGBMNode("", rows, sums, output, histograms, "added up", columns))
        leaves = [root]
        for order in range(self.settings.num_leaves - 1):
            able = [leaf for leaf in leaves if leaf.chosen]
            if not able:
                break
            best = max(able, key=_planned_gain)
            leaves.remove(best)
            leaves += self.split(best, order)
        for leaf in leaves:
            if leaf.chosen:
                leaf.chosen, leaf.stop = None, "num_leaves"
        return root


def grow_lgbm(
    X: ArrayLike,
    g: ArrayLike,
    h: ArrayLike,
    settings: LGBMSettings = DEFAULT,
    categorical: Collection[int] = (),
) -> LGBMNode:
    """Grow a tree leaf by leaf and return its root; of equally good leaves the older one is split.

    Examples
    --------
    >>> X, g = [[1.0], [2.0], [3.0], [4.0], [5.0]], [-9.0, -1.0, 1.0, 4.0, 5.0]
    >>> rules = LGBMSettings(num_leaves=3, min_child_samples=1, min_data_in_bin=1)
    >>> print(tree_text_lgbm(grow_lgbm(X, g, np.ones(5), rules)))
    0: x0 <= 1.5, missing left, gain 101.250, 5 rows
      leaf 9.000, 1 rows (no admissible split)
      1: x0 <= 3.5, missing left, gain 20.250, 4 rows
        leaf 0.000, 2 rows (num_leaves)
        leaf -4.500, 2 rows (num_leaves)
    """
    X, g, h = (np.asarray(a, dtype=np.float64) for a in (X, g, h))
    if X.ndim != 2 or not len(X) == len(g) == len(h):
        raise ValueError(
            f"X must be a table with a row per g and h, got {X.shape, g.shape, h.shape}"
        )
    table = bin_table(X, settings.max_bin, categorical, settings.min_data_in_bin)
    return grow_on_bins(table, g, h, settings)


def grow_on_bins(
    table: BinnedTable,
    g: np.ndarray,
    h: np.ndarray,
    settings: LGBMSettings = DEFAULT,
    rows: np.ndarray | None = None,
) -> LGBMNode:
    """Grow a tree on a table that is in bins already, from some of its rows (all by default).

    >>> table = bin_table([[1.0], [2.0], [9.0]], min_data_in_bin=1)
    >>> rules = LGBMSettings(min_child_samples=1)
    >>> tree = grow_on_bins(table, np.array([-1.0, 1.0, 9.0]), np.ones(3), rules, np.array([0, 1]))
    >>> [leaf.output for leaf in tree if leaf.is_leaf]
    [1.0, -1.0]
    """
    rows = np.arange(len(table.X)) if rows is None else rows
    return LeafWiseGrowth(table, g, h, settings).grow(rows)


def _planned_gain(leaf: LGBMNode) -> float:
    # twelve digits: equally good leaves are split in the order they were made
    return float(f"{leaf.chosen.gain:.12g}") if leaf.chosen else -np.inf


def predict_lgbm(tree: LGBMNode, X: ArrayLike) -> np.ndarray:
    """Return the leaf's answer to every row, before the learning rate.

    >>> rules = LGBMSettings(min_child_samples=1, min_data_in_bin=1)
    >>> tree = grow_lgbm([[1.0], [2.0], [np.nan]], [-4.0, 5.0, 5.0], np.ones(3), rules)
    >>> predict_lgbm(tree, [[0.0], [9.0], [np.nan]]).tolist()
    [4.0, -5.0, -5.0]
    """
    X = np.asarray(X, dtype=np.float64)
    answers = np.empty(len(X))
    waiting = [(tree, np.arange(len(X)))]
    while waiting:
        node, rows = waiting.pop()
        if node.left is None or node.right is None or node.chosen is None:
            answers[rows] = node.output
            continue
        goes_left = node.chosen.left(X[rows, node.chosen.feature])
        waiting += [(node.left, rows[goes_left]), (node.right, rows[~goes_left])]
    return answers


def tree_text_lgbm(tree: LGBMNode) -> str:
    """Return the tree as lines to read; splits are numbered in the order they were made.

    >>> rules = LGBMSettings(min_child_samples=1, max_cat_to_onehot=9)
    >>> tree = grow_lgbm([[7], [8], [7]], [-1.0, 3.0, -1.0], np.ones(3), rules, categorical=[0])
    >>> print(tree_text_lgbm(tree))
    0: x0 in {7}, missing right, gain 10.667, 3 rows
      leaf 1.000, 2 rows (no admissible split)
      leaf -3.000, 1 rows (no admissible split)
    """
    lines = []
    for node in tree:
        rows = f"{len(node.rows)} rows"
        if node.chosen is None:
            text = f"leaf {node.output:.3f}, {rows} ({node.stop})"
        else:
            c = node.chosen
            names = ", ".join(f"{value:.6g}" for value in sorted(c.categories))
            question = f"x{c.feature} in {{{names}}}" if names else f"x{c.feature} <= {c.cut:.6g}"
            text = f"{node.order}: {question}, missing {c.default}, gain {c.gain:.3f}, {rows}"
        lines.append("  " * node.depth + text)
    return "\n".join(lines)
