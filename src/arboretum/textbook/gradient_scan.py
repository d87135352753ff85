"""Further reading: the splits of second-order boosting by running sums, XGBoost's and LightGBM's.

``xgboost_splits`` and ``lightgbm_splits`` write every candidate down, each by its program's rules. Both are
the same scan with other settings. A column comes as the sums (G, H, n) of its bins, in order, and those of
its missing values:

    bins          b_0   b_1   b_2   b_3   missing
    left of a cut ├─────┼─────┼─────┤             missing right; the last cut parts them from all present ones
             m +  ├─────┼─────┤                   missing left

    b     = -soft(G, α) / (H + λ), at most ``max_delta_step`` in size
    b     = (b · n/s + b_parent) / (n/s + 1)                          path_smooth = s
    b     within the bounds that monotone constraints set
    score = -(2 · soft(G, α) · b + (H + λ) · b²)                       plainly soft(G, α)² / (H + λ)
    gain  = score left + score right - score of the node

With every value in a bin of its own this is the exact method.

>>> node = GradientNode(G=0.0, H=3.0, n=3)
>>> scan = scan_bins(node, 0, np.array([[-4.0, 1, 1], [-2, 1, 1], [6, 1, 1]]), np.array([1.5, 2.5]))
>>> best = scan.best()[0]
>>> best.cut, best.G_left, best.G_right, best.gain
(2.5, -6.0, 6.0, 30.0)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arboretum.textbook.column_scan import first_of_columns
from arboretum.textbook.xgboost_splits import soft_threshold

__all__ = [
    "GradientCandidate",
    "GradientNode",
    "GradientRules",
    "GradientScan",
    "ManyCuts",
    "gradient_answer",
    "gradient_score",
    "scan_bins",
    "scan_columns",
    "scan_one",
    "scan_sets",
    "score_sides",
]

ROUNDING = 1e-12  # a gain that is a smaller share of the node's score is none
OPEN = (-np.inf, np.inf)


@dataclass(frozen=True)
class GradientRules:
    """What splits are scored and refused by; the defaults are XGBoost's."""

    reg_lambda: float = 1.0
    reg_alpha: float = 0.0
    max_delta_step: float = 0.0
    path_smooth: float = 0.0
    min_gain: float = 0.0
    reach_gain: bool = True  # a gain of ``min_gain`` suffices
    min_weight: float = 1.0  # the least H of a side
    min_rows: float = 0.0  # the least rows of a side
    xgboost: bool = True  # how categories are ordered, and where missing values of no row go
    max_onehot: int = 3  # up to this many categories, one is tried against the rest
    max_cat_threshold: int = 64
    cat_smooth: float = 0.0
    cat_min_rows: float = 0.0
    cat_l2: float = 0.0
    min_group: float = 0.0
    # missing values are one of the categories, and rows are counted instead of estimated
    as_scikit_learn: bool = False


DEFAULT = GradientRules()


@dataclass(frozen=True)
class GradientNode:
    """The node that is split."""

    G: float
    H: float
    n: float
    answer: float = np.nan  # what its children lean on (path_smooth)
    bounds: tuple[float, float] = OPEN
    rules: GradientRules = DEFAULT

    def estimated_rows(self, H: np.ndarray) -> np.ndarray:
        """Return how many rows a bin has, as LightGBM estimates it: its share of the node's rows by its H."""
        return np.floor(np.asarray(H) * (self.n / self.H if self.H > 0 else 0.0) + 0.5)

    def rows_of(self, sums: np.ndarray) -> np.ndarray:
        """Return how many rows bins have, from G, H and rows: counted, or estimated."""
        return sums[..., 2] if self.rules.as_scikit_learn else self.estimated_rows(sums[..., 1])


def gradient_answer(
    G: np.ndarray | float,
    H: np.ndarray | float,
    n: np.ndarray | float,
    parent: float = np.nan,
    bounds: tuple[float, float] = OPEN,
    rules: GradientRules = DEFAULT,
    extra_l2: float = 0.0,
) -> np.ndarray:
    """Return what rows with the sums G and H answer.

    >>> float(gradient_answer(-14.0, 3.0, 5))
    3.5
    """
    G, H = np.asarray(G, np.float64), np.asarray(H, np.float64)
    curvature = H + rules.reg_lambda + extra_l2
    good = curvature > 0
    b = np.where(good, -soft_threshold(G, rules.reg_alpha) / np.where(good, curvature, 1.0), 0.0)
    if rules.max_delta_step > 0:
        b = np.clip(b, -rules.max_delta_step, rules.max_delta_step)
    if rules.path_smooth > 0 and not np.isnan(parent):
        ratio = np.asarray(n) / rules.path_smooth
        b = (b * ratio + parent) / (ratio + 1.0)
    return np.clip(b, *bounds) + 0.0


def gradient_score(
    G: np.ndarray | float,
    H: np.ndarray | float,
    b: np.ndarray | float,
    rules: GradientRules = DEFAULT,
    extra_l2: float = 0.0,
) -> np.ndarray:
    """Return twice what the answer b saves.

    >>> float(gradient_score(-14.0, 3.0, 3.5))
    49.0
    """
    pull = soft_threshold(G, rules.reg_alpha)
    return -(2.0 * pull * b + (np.asarray(H) + rules.reg_lambda + extra_l2) * np.square(b)) + 0.0


@dataclass(frozen=True)
class GradientCandidate:
    """A question and all the figures it is judged by."""

    feature: int
    cut: float  # x <= cut goes left; NaN for sets; inf: is a value present?
    categories: frozenset[int] | None  # these go left; None: a number, which is cut
    default: str  # where missing values go
    G_left: float
    H_left: float
    n_left: float
    G_right: float
    H_right: float
    n_right: float
    answer_left: float
    answer_right: float
    score_left: float
    score_right: float
    score_node: float
    gain: float
    verdict: str  # "admissible", or what refuses it
    missing_rows: float = 0.0


@dataclass(frozen=True, eq=False)
class GradientScan:
    """The candidates of one column, in the order they are tried."""

    feature: int
    gain: np.ndarray
    allowed: np.ndarray
    left: np.ndarray = field(repr=False)  # (candidates, 3): G, H and rows on the left
    _make: Callable[[int], GradientCandidate] = field(repr=False)

    @property
    def n_tried(self) -> int:
        return len(self.gain)

    def find(self, left: np.ndarray) -> GradientCandidate | None:
        """Return the candidate that has these sums on its left, if there is one."""
        apart = np.abs(self.left - left) <= 1e-9 * (1 + np.abs(left))
        same = np.flatnonzero(apart.all(axis=1))
        return self._make(int(same[0])) if len(same) else None

    def best(self, n: int = 1, *, refused: bool = False) -> list[GradientCandidate]:
        """Return the n candidates that gain most, of equals the first; refused ones only on request.

        Those that have all rows on one side split nothing and are not among them.
        """
        if not self.n_tried:
            return []
        rows, one = self.left[:, 2], self._make(0)
        parts = (rows > 0) & (rows < one.n_left + one.n_right)
        some = np.flatnonzero((self.allowed | refused) & parts)
        if len(some) > 4 * n:  # all that gain as much as the n-th
            gain = self.gain[some]
            some = some[gain >= np.partition(gain, len(gain) - n)[len(gain) - n]]
        order = np.argsort(-self.gain[some], kind="stable")[:n]
        return [self._make(int(i)) for i in some[order]]

    def __getitem__(self, i: int) -> GradientCandidate:
        return self._make(i)


# ---------------------------------------------------------------------- numbers
def scan_bins(
    node: GradientNode,
    feature: int,
    bins: np.ndarray,
    cuts: np.ndarray,
    missing: np.ndarray | None = None,
    sign: int = 0,
) -> GradientScan:
    """Return every cut of a column of numbers.

    Parameters
    ----------
    node : GradientNode
    feature : int
    bins : array of shape (n_bins, 3)
        G, H and rows of every bin, in order.
    cuts : array
        The upper ends of all bins but the last.
    missing : array (3,), optional
        Of the rows without a value.
    sign : int
        A monotone constraint of the column.

    Examples
    --------
    >>> node = GradientNode(4.0, 4.0, 4)
    >>> bins, missing = np.array([[-3.0, 1, 1], [-2, 1, 1], [5, 1, 1]]), np.array([4.0, 1, 1])
    >>> for c in scan_bins(node, 0, bins, np.array([1.5, 3.0]), missing).best(2):
    ...     print(f"x <= {c.cut}, missing {c.default}, gain {c.gain:.3f}")
    x <= 3.0, missing right, gain 32.133
    x <= 1.5, missing right, gain 13.550
    """
    missing = np.zeros(3) if missing is None else missing
    gaps = bool(missing[2])
    filled = bins[:, 2] > 0  # a cut after a bin without rows is the cut before it
    below, ends = np.cumsum(bins, axis=0)[filled], np.append(cuts, np.inf)[filled]
    estimated = node.rows_of(bins[filled])
    from_left = np.cumsum(estimated)
    from_right = node.n - (np.cumsum(estimated[::-1])[::-1] - estimated)
    lefts, rows, at = [below[:-1]], [from_right[:-1]], [ends[:-1]]
    if gaps:
        lefts, rows = [below, below[:-1] + missing], [from_left, from_right[:-1]]
        at = [np.append(ends[:-1], np.inf), ends[:-1]]
    left, rows_left, cut = np.concatenate(lefts), np.concatenate(rows), np.concatenate(at)
    heavier = (2 * left[:, 1] >= node.H) & (not node.rules.xgboost)
    goes_left = np.arange(len(left)) >= len(below) if gaps else heavier  # of missing values

    def question(i: int) -> tuple[float, None, str]:
        return float(cut[i]), None, "left" if goes_left[i] else "right"

    itself = float(gradient_answer(node.G, node.H, node.n, node.answer, node.bounds, node.rules))
    return score_sides(node, feature, left, rows_left, question, itself, sign, float(missing[2]))


@dataclass(frozen=True, eq=False)
class ManyCuts:
    """The cuts of many columns, one below the other: whose each is, its last bin on the left, its sides."""

    scan: GradientScan
    column: np.ndarray
    bin: np.ndarray
    missing_left: np.ndarray

    def closest(self, n: int) -> list[int]:
        """Return the best cuts of the n columns that gain most; refused ones of columns without others."""
        best = first_of_columns(self.column, self.scan.gain, self.scan.allowed).tolist()
        return sorted(best, key=lambda i: -self.scan.gain[i])[:n]


def scan_columns(
    node: GradientNode, bins: np.ndarray, missing: np.ndarray, signs: np.ndarray
) -> ManyCuts:
    """Return every cut of many columns of numbers at once, those of each in the order of `scan_bins`.

    Parameters
    ----------
    node : GradientNode
    bins : array of shape (columns, n_bins, 3)
        G, H and rows of every bin; columns of fewer bins end with empty ones.
    missing : array of shape (columns, 3)
    signs : array of int
        Monotone constraints.

    Examples
    --------
    >>> node = GradientNode(0.0, 3.0, 3)
    >>> bins = np.array([[[-4.0, 1, 1], [-2, 1, 1], [6, 1, 1]]])
    >>> found = scan_columns(node, bins, np.zeros((1, 3)), np.zeros(1, int))
    >>> found.bin.tolist(), found.scan.gain.tolist()
    ([0, 1], [13.333333333333332, 30.0])
    """
    filled, gaps = bins[..., 2] > 0, missing[:, 2] > 0
    below, estimated = np.cumsum(bins, axis=1), node.rows_of(bins)
    from_left = np.cumsum(estimated, axis=1)
    from_right = node.n - (estimated.sum(axis=1, keepdims=True) - from_left)
    last = below[..., 2] >= below[:, -1:, 2]
    sides = np.stack([filled & (~last | gaps[:, None]), filled & ~last & gaps[:, None]], axis=1)
    column, side, place = np.nonzero(sides)
    cell = column * bins.shape[1] + place
    left, rows = below.reshape(-1, 3).take(cell, axis=0), from_right.ravel().take(cell)
    if gaps.any():
        left += missing[column] * side[:, None]
        rows = np.where((side == 0) & gaps[column], from_left.ravel().take(cell), rows)
    left = np.asfortranarray(left)  # G, H and rows are read one by one

    def question(i: int) -> tuple[float, None, str]:
        return np.nan, None, "left" if side[i] else "right"

    itself = float(gradient_answer(node.G, node.H, node.n, node.answer, node.bounds, node.rules))
    scan = score_sides(node, -1, left, rows, question, itself, signs[column], 0.0)
    return ManyCuts(scan, column, place, side == 1)


# ---------------------------------------------------------------------- categories
def scan_sets(
    node: GradientNode,
    feature: int,
    bins: np.ndarray,
    categories: Sequence[int],
    missing: np.ndarray | None = None,
) -> GradientScan:
    """Return the partings of a column of categories that are tried, in their order.

    ``bins`` has the sums of every category, also of those that the node does not hold.
    """
    rules, missing = node.rules, np.zeros(3) if missing is None else missing
    codes, n = list(categories), len(bins)
    found: list[
        tuple[list[int], str, np.ndarray, float]
    ] = []  # bins left, missing, sums, estimated rows
    extra = 0.0
    if n <= rules.max_onehot:
        both = rules.xgboost and bool(missing[2])
        for b in range(n):
            if bins[b, 1] <= 0 and not both:
                continue
            for side in ("right", "left")[: 2 if both else 1]:
                left = bins[b] + missing * (side == "left")
                found.append(([b], side, left, float(node.estimated_rows(left[1]))))
    elif rules.xgboost:
        found = _by_answer(node, bins, missing)
    else:
        extra, found = rules.cat_l2, _by_ratio(node, bins, missing)
    lefts = np.array([left for _, _, left, _ in found]).reshape(-1, 3)
    estimated = np.array([rows for *_, rows in found])

    def question(i: int) -> tuple[float, frozenset[int], str]:
        return np.nan, frozenset(codes[b] for b in found[i][0]), found[i][1]

    itself = float(gradient_answer(node.G, node.H, node.n, np.nan, node.bounds, node.rules))
    if rules.path_smooth > 0 and not np.isnan(node.answer):
        itself = node.answer
    return score_sides(
        node, feature, lefts, estimated, question, itself, 0, float(missing[2]), extra
    )


def _by_answer(node: GradientNode, bins: np.ndarray, missing: np.ndarray) -> list[Any]:
    """Return XGBoost's partings: beginnings, then ends, of the categories by what they would answer."""
    rules, n = node.rules, len(bins)
    enough = (bins[:, 1] > 0) & (bins[:, 1] >= rules.min_weight)
    alone = np.where(enough, gradient_answer(bins[:, 0], bins[:, 1], 0.0, rules=rules), 0.0)
    order = np.argsort(alone, kind="stable").tolist()
    longest = min(rules.max_cat_threshold, n) - 1
    total, found = np.array([node.G, node.H, node.n]), []
    for side in ("right", "left"):
        if side == "left" and not missing[2] and longest == n - 1:
            break  # the same partings again
        sums = np.zeros(3)
        for i in range(longest):
            b = order[n - 1 - i] if side == "left" else order[i]
            if not bins[b].any():
                continue
            sums = sums + bins[b]
            last = n - 1 - i if side == "left" else i + 1
            found.append((order[:last], side, total - sums if side == "left" else sums, 0.0))
    return found


def _by_ratio(node: GradientNode, bins: np.ndarray, missing: np.ndarray) -> list[Any]:
    """Return LightGBM's partings: beginnings and ends of the order by G / (H + smooth).

    In scikit-learn missing values take part as one more category, and one category alone is no order.
    """
    rules, n = node.rules, len(bins)
    lines = np.vstack([bins, missing]) if rules.as_scikit_learn else bins
    many = node.estimated_rows(lines[:, 1]) >= rules.cat_min_rows
    some, rows_of = np.flatnonzero((lines[:, 1] > 0) & many), node.rows_of(lines)
    ratio = lines[some, 0] / (lines[some, 1] + rules.cat_smooth)
    order = some[np.argsort(ratio, kind="stable")].tolist()
    longest = min(rules.max_cat_threshold, (len(order) + 1) // 2)
    ways = [(order, longest), (order[::-1], longest - rules.as_scikit_learn)]
    if rules.as_scikit_learn and len(order) == 1:
        ways = []
    found = []
    for way, most in ways:
        sums, rows, group = np.zeros(3), 0.0, 0.0
        for i, b in enumerate(way[: max(most, 0)]):
            sums, rows, group = sums + lines[b], rows + rows_of[b], group + rows_of[b]
            right = node.n - rows
            if right < rules.min_rows or right < rules.min_group:
                break
            if group < rules.min_group or min(sums[1], node.H - sums[1]) < rules.min_weight:
                continue
            if rows < rules.min_rows:
                continue
            group = 0.0
            here = way[: i + 1]
            side = "left" if n in here else "right"
            found.append(([b for b in here if b < n], side, sums, float(rows)))
    return found


# ---------------------------------------------------------------------- figures
def score_sides(
    node: GradientNode,
    feature: int,
    left: np.ndarray,
    estimated: np.ndarray,
    question: Callable[[int], tuple[float, frozenset[int] | None, str]],
    itself: float,
    sign: int | np.ndarray,
    missing_rows: float,
    extra_l2: float = 0.0,
) -> GradientScan:
    """Score left sides (candidates, 3) against their rest."""
    rules = node.rules
    right = np.array([node.G, node.H, node.n]) - left
    lean, rows = (
        node.answer,
        (estimated, node.n - estimated) if rules.min_rows > 0 else (left[:, 2], right[:, 2]),
    )
    answers = [
        gradient_answer(s[:, 0], s[:, 1], n, lean, node.bounds, rules, extra_l2)
        for s, n in zip((left, right), rows)
    ]
    scores = [
        gradient_score(s[:, 0], s[:, 1], b, rules, extra_l2) for s, b in zip((left, right), answers)
    ]
    own = float(gradient_score(node.G, node.H, itself, rules))
    gain = scores[0] + scores[1] - own
    light = np.minimum(left[:, 1], right[:, 1]) < rules.min_weight
    few = np.minimum(*rows) < rules.min_rows
    wrong = (answers[1] - answers[0]) * sign < 0
    enough = gain >= rules.min_gain if rules.reach_gain else gain > rules.min_gain
    nothing = ~(gain > ROUNDING * abs(own))
    allowed = ~(light | few | wrong | nothing) & enough

    def make(i: int) -> GradientCandidate:
        cut, categories, side = question(i)
        verdict = "admissible"
        for name, refused in (
            ("min_child_weight", light),
            ("min_child_samples", few),
            ("monotone constraint", wrong),
            ("gains nothing", nothing),
            ("gains less than γ", ~enough),
        ):
            if refused[i]:
                verdict = name
                break
        (GL, HL, nL), (GR, HR, nR) = left[i].tolist(), right[i].tolist()
        return GradientCandidate(
            feature,
            cut,
            categories,
            side,
            GL,
            HL,
            nL,
            GR,
            HR,
            nR,
            float(answers[0][i]),
            float(answers[1][i]),
            float(scores[0][i]),
            float(scores[1][i]),
            own,
            float(gain[i]),
            verdict,
            missing_rows,
        )

    return GradientScan(feature, gain, allowed, left, make)


def scan_one(
    node: GradientNode,
    feature: int,
    left: np.ndarray,
    cut: float,
    categories: frozenset[int] | None,
    default: str,
    sign: int = 0,
    extra_l2: float = 0.0,
    missing_rows: float = 0.0,
) -> GradientCandidate:
    """Return one question with its figures: ``left`` is G, H and n of its left side.

    >>> one = scan_one(GradientNode(0.0, 3.0, 3), 0, np.array([-6.0, 2.0, 2]), 2.5, None, "right")
    >>> one.gain
    30.0
    """
    itself = float(gradient_answer(node.G, node.H, node.n, node.answer, node.bounds, node.rules))
    if categories is not None and node.rules.path_smooth > 0 and not np.isnan(node.answer):
        itself = node.answer
    estimated = np.array([left[2]])
    scan = score_sides(
        node,
        feature,
        left[None],
        estimated,
        lambda i: (cut, categories, default),
        itself,
        sign,
        missing_rows,
        extra_l2,
    )
    return scan[0]
