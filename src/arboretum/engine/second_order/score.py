"""How splits are scored: settings, formulas, and the arrays shared by the scans of features.

Sums are integers; G and H are the sums times a power of two. The answer b of a set of rows and its score,
twice the reduction of the loss by b, are:

    b     = -soft(G, α) / (H + λ)       clipped to ±max_delta_step and to the bounds of constraints
    b     = (b · n/s + b_parent) / (n/s + 1)                      path_smooth = s
    score = -(2 · soft(G, α) · b + (H + λ) · b²)                   G² / (H + λ) where nothing else is set
    gain  = score left + score right - score of the node

The number of rows on a side is estimated as LightGBM does: a bin gets a share of the node's rows in
proportion to its H, rounded; the bins of one side are added up, and the other side gets the rest. Where H
differs much between rows, the estimates are far off, and ``min_rows`` is enforced only roughly. As
scikit-learn does it, rows are counted (row_counts.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import inline, subkernel

__all__ = [
    "Features",
    "ScannedNode",
    "SplitRules",
    "SplitScratch",
    "answer",
    "is_plain",
    "is_worth",
    "keep_best",
    "part_bounds",
    "plain_gain",
    "plain_score",
    "rows_of",
    "scanned_node",
    "score",
]

_TIE = 1e-12  # gains below this share of the node's score count as zero


class Features(NamedTuple):
    """Where the bins of every feature are stored."""

    storage: np.ndarray  # (n_features,) int32, the stored column
    offset: np.ndarray  # (n_features,) int32, its first code there; 0 if not bundled
    n_bins: np.ndarray  # (n_features,) int32
    default_bin: (
        np.ndarray
    )  # (n_features,) int32, the bin a bundle leaves out (n_bins: missing); else -1
    is_category: np.ndarray  # (n_features,) bool
    monotone: np.ndarray  # (n_features,) int8, or empty


class SplitRules(NamedTuple):
    """How splits are scored and trees are grown; numbers only."""

    l1: float
    l2: float
    max_delta_step: float  # 0: no limit
    path_smooth: float
    min_gain: float
    reach_gain: bool  # a gain equal to min_gain suffices
    min_weight: float
    min_rows: float
    cat_l2: float
    cat_smooth: float
    cat_min_rows: float  # categories with fewer rows are ignored
    max_cat_threshold: int
    max_onehot: int  # with up to this many categories, one is split from the rest
    min_group: float
    max_depth: int
    max_leaves: int
    depth_first: bool  # smallest depth first instead of largest gain
    level_columns: int  # number drawn at every depth; 0: all
    node_columns: int  # number drawn from those at every node; 0: all
    as_xgboost: bool = False  # for categories, and for missing values where a node has none
    random_cuts: bool = False  # one of every column at a node, drawn, instead of all
    cut_seed: int = 6
    symmetric: bool = False  # one cut for all nodes of a level; categories as XGBoost orders them
    noise: float = 0.0  # on scores of symmetric trees; 1: as much as they vary by chance
    # missing values are one of the categories; rows are counted where ``min_rows`` decides
    as_scikit_learn: bool = False


class SplitScratch(NamedTuple):
    """Scratch arrays for a scan; one per thread."""

    g: np.ndarray  # (most bins + 1,) int64, one per bin and one for missing values
    h: np.ndarray  # (most bins + 1,) int64
    left_g: np.ndarray  # (most bins + 1,) int64, sums up to a bin
    left_h: np.ndarray  # (most bins + 1,) int64
    left_rows: np.ndarray  # (most bins + 1,) float64, rows up to a bin
    gain: np.ndarray  # (most bins + 1,) float64
    bits: (
        np.ndarray
    )  # (most bins + 1,) int64: the memory of ``gain``: positive numbers have the same order
    order: np.ndarray  # (most bins + 1,) int64
    ratio: np.ndarray  # (most bins + 1,) float64
    counts: np.ndarray  # (most bins + 1,) int64, the rows of every bin
    gains: np.ndarray  # (2, most bins) float64, added up over a level, by side of missing values
    best: np.ndarray  # (1,) SPLIT
    members: np.ndarray  # (n_words,) uint32: the bins of a category split that go left
    small: np.ndarray  # (n_small,) int64, the small tables of a tile


class ScannedNode(NamedTuple):
    """The node that is split; numbers only: they stay in registers while its features are scanned."""

    g: int
    h: int
    g_unit: float
    h_unit: float
    rows: float
    answer: float  # used for path smoothing of the children
    lower: float
    upper: float
    share: float  # rows per unit of Σh
    is_plain: bool  # scores are G² / (H + λ)
    score: float  # what a cut must beat
    set_score: float  # what a split on categories must beat


@inline
def _soft(g, l1):
    if l1 == 0.0:
        return g
    return max(g - l1, 0.0) + min(g + l1, 0.0)


@subkernel
def answer(g, h, rows, parent, lower, upper, l2, rules):
    """Return the answer of rows with these sums; ``parent`` is NaN at the root."""
    curvature = h + l2
    b = -_soft(g, rules.l1) / curvature if curvature > 0.0 else 0.0
    if rules.max_delta_step > 0.0:
        b = min(max(b, -rules.max_delta_step), rules.max_delta_step)
    if rules.path_smooth > 0.0 and parent == parent:
        ratio = rows / rules.path_smooth
        b = (b * ratio + parent) / (ratio + 1.0)
    return min(max(b, lower), upper)


@subkernel
def score(g, h, b, l2, rules):
    """Return twice the reduction of the loss by the answer b."""
    return -(2.0 * _soft(g, rules.l1) * b + (h + l2) * b * b)


@inline
def is_plain(lower, upper, rules):
    """Return whether the score of a node with such bounds is G² / (H + λ)."""
    if rules.l1 != 0.0 or rules.max_delta_step > 0.0 or rules.path_smooth > 0.0:
        return False
    return lower == -np.inf and upper == np.inf


@subkernel
def part_bounds(left, right, sign):
    """Divide the bounds of two nodes in the middle of their answers if a monotone constraint needs it."""
    middle = left.answer / 2.0 + right.answer / 2.0
    if sign > 0:
        left.upper = right.lower = middle
    elif sign < 0:
        left.lower = right.upper = middle


@inline
def plain_gain(a, c, total_g, total_h, node_score, l2, least):
    """Return the gain of a cut with G = a and H = c on its left, where scores are G² / (H + λ)."""
    d, e = total_g - a, total_h - c
    p, q = c + l2, e + l2
    gain = (a * a * q + d * d * p) / (
        p * q
    ) - node_score  # one division: they take most of the time
    return gain if (c >= least) & (e >= least) else -np.inf


@inline
def plain_score(g, h, l2):
    """Return the score of a node where it is G² / (H + λ)."""
    return g * g / (h + l2) if h + l2 > 0.0 else 0.0


@inline
def scanned_node(node, unit, rules):
    """Return a node as the search for its split needs it; ``unit`` is the value of one unit of its sums."""
    rows, lower, upper = np.float64(node.rows), node.lower, node.upper
    g, h = np.float64(node.sum_g) * unit.g, np.float64(node.sum_h) * unit.h
    plain = is_plain(lower, upper, rules)
    itself = now = plain_score(g, h, rules.l2)
    if not plain:
        b = answer(g, h, rows, node.answer, lower, upper, rules.l2, rules)
        itself = score(g, h, b, rules.l2, rules)
        now = score(g, h, node.answer, rules.l2, rules) if rules.path_smooth > 0.0 else itself
    share = rows / np.float64(node.sum_h) if node.sum_h > 0 else 0.0
    return ScannedNode(
        node.sum_g, node.sum_h, unit.g, unit.h, rows, node.answer, lower, upper, share, plain, itself,
        now,
    )  # fmt: skip


@inline
def is_worth(gain, node_score, rules):
    """Return whether a gain is more than rounding, and enough."""
    enough = (gain > rules.min_gain) | (rules.reach_gain & (gain == rules.min_gain))
    return enough & (gain > _TIE * abs(node_score))  # without a branch, for many gains at a time


@subkernel
def keep_best(gain, f, b, missing_left, kind, left_g, left_h, scratch):
    """Keep a split as the best so far."""
    best = scratch.best[0]
    best.gain, best.feature, best.bin, best.kind = gain, f, b, kind
    best.missing_left, best.left_g, best.left_h = missing_left, left_g, left_h


@inline
def rows_of(h, share):
    """Return the estimated number of rows of a bin, as LightGBM does: in proportion to its H."""
    return np.floor(np.float64(h) * share + 0.5)
