"""What splits are scored by: settings, formulas, and what the scans of features share.

Sums are whole numbers; G and H are the sums times a power of two. A set of rows answers b and is scored by
twice what b saves:

    b     = -soft(G, α) / (H + λ)       clipped to ±max_delta_step and to the bounds of constraints
    b     = (b · n/s + b_parent) / (n/s + 1)                      path_smooth = s
    score = -(2 · soft(G, α) · b + (H + λ) · b²)                   G² / (H + λ) where nothing else is set
    gain  = score left + score right - score of the node

How many rows a side has is told as LightGBM tells it: a bin has its share of the node's rows by its H,
rounded; the bins of one side are added up, and the other side has the rest. Where rows differ much in H,
this is far from the truth, and so are the splits that ``min_rows`` lets pass.
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
    "score",
]

_TIE = 1e-12  # gains closer to nothing than this share of the scores they are made of are nothing


class Features(NamedTuple):
    """Where the bins of every feature stand."""

    storage: np.ndarray  # (n_features,) int32, the stored column
    offset: np.ndarray  # (n_features,) int32, its first code there; 0 for a column of its own
    n_bins: np.ndarray  # (n_features,) int32
    default_bin: (
        np.ndarray
    )  # (n_features,) int32, of a bundled column: what is not stored, n_bins: missing; else -1
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
    cat_min_rows: float  # categories of fewer rows take no part
    max_cat_threshold: int
    max_onehot: int  # so many categories are parted one against the rest
    min_group: float
    max_depth: int
    max_leaves: int
    depth_first: bool  # smallest depth first instead of largest gain
    level_columns: int  # drawn at every depth; 0: all
    node_columns: int  # drawn at every node of those; 0: all
    as_xgboost: bool = False  # categories, and where missing values go if a node has none


class SplitScratch(NamedTuple):
    """What a scan writes on; one per thread."""

    g: np.ndarray  # (most bins + 1,) int64, a number per bin and one for the missing
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
    answer: float  # what the children lean on
    lower: float
    upper: float
    share: float  # rows that one unit of Σh stands for
    is_plain: bool  # scores are G² / (H + λ)
    score: float  # what a cut must beat
    set_score: float  # what a division of categories must beat


@inline
def _soft(g, l1):
    if l1 == 0.0:
        return g
    return max(g - l1, 0.0) + min(g + l1, 0.0)


@subkernel
def answer(g, h, rows, parent, lower, upper, l2, rules):
    """Return what rows with such sums answer; ``parent`` is NaN at the root."""
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
    """Return twice what the answer b saves."""
    return -(2.0 * _soft(g, rules.l1) * b + (h + l2) * b * b)


@inline
def is_plain(lower, upper, rules):
    """Return whether the score of a node with such bounds is G² / (H + λ)."""
    if rules.l1 != 0.0 or rules.max_delta_step > 0.0 or rules.path_smooth > 0.0:
        return False
    return lower == -np.inf and upper == np.inf


@subkernel
def part_bounds(left, right, sign):
    """Part the bounds of two nodes in the middle of their answers where a monotone constraint asks."""
    middle = left.answer / 2.0 + right.answer / 2.0
    if sign > 0:
        left.upper = right.lower = middle
    elif sign < 0:
        left.lower = right.upper = middle


@inline
def plain_gain(a, c, total_g, total_h, node_score, l2, least):
    """Return what a cut gains that has G = a and H = c on its left, where scores are G² / (H + λ)."""
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
def is_worth(gain, node_score, rules):
    """Return whether a gain is more than rounding, and enough."""
    if not gain > _TIE * abs(node_score):
        return False
    return gain > rules.min_gain or (rules.reach_gain and gain == rules.min_gain)


@subkernel
def keep_best(gain, f, b, missing_left, kind, left_g, left_h, scratch):
    """Write down the best split so far."""
    best = scratch.best[0]
    best.gain, best.feature, best.bin, best.kind = gain, f, b, kind
    best.missing_left, best.left_g, best.left_h = missing_left, left_g, left_h


@inline
def rows_of(h, share):
    """Return how many rows a bin has, as LightGBM tells it: its share of the node's rows by its H."""
    return np.floor(np.float64(h) * share + 0.5)
