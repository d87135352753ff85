"""The candidates of one leaf of LightGBM, read off histograms.

A histogram has a line (G, H, n) per bin: Σg, Σh and the number of rows. Its last line is that of the
missing values. A set of rows answers b, and is scored by twice what b saves:

    b_raw = -soft(G, α) / (H + λ)
    b     = b_raw                                           without smoothing, and at the root
    b     = (b_raw · n/s + b_parent) / (n/s + 1)            path_smooth = s: few rows lean on the parent
    score = -(2·soft(G, α)·b + (H + λ)·b²)                  soft(G, α)²/(H + λ) at b = b_raw
    gain  = score left + score right - score of the node    must exceed ``min_split_gain``

Without smoothing the node's own score is plain. With it the program has two: for numbers that of a
child that keeps all rows, which leans on the node once more, so that a split that parts nothing
gains nothing; for categories that of what the node answers now.

Numbers are cut between bins: ``x <= cut`` goes left, missing values to both sides in turn. Categories
are split one against the rest if there are few: fewer than ``max_cat_to_onehot``, because the
program counts the bin of missing values, too. If there are many, they are sorted by

    Σg / (Σh + cat_smooth)

because the best subset is then a beginning or an end of that order (exactly so without smoothing
and regularisation). Both are tried, up to ``max_cat_threshold`` categories. A best subset of many is easily
luck, so categories of fewer than ``cat_smooth`` rows take no part, every step takes in at least
``min_data_per_group`` rows, and λ is raised by ``cat_l2``. Categories not named, and missing
values, go right.

The program has no counters of rows in its histograms. A bin is held to have its share of the node's
rows by its Σh, rounded (`bin_rows`), the bins of one side are added up, and the other side has the
rest. Where rows differ in h this is not the true number, and ``min_child_samples`` lets pass or refuses
other splits than one would count; ``rows_by_hessian=False`` counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from arboretum.textbook.xgboost_splits import soft_threshold

__all__ = [
    "LGBMCandidate",
    "LGBMSettings",
    "best_split",
    "bin_rows",
    "leaf_output",
    "leaf_score",
    "lgbm_category_candidates",
    "number_candidates",
    "sorted_categories",
]

TIE = 1e-12  # gains closer than this share of the scores they are made of are equal


@dataclass(frozen=True)
class LGBMSettings:
    """How to grow; names and defaults are the program's."""

    num_leaves: int = 31
    max_depth: int = -1  # 0 or less: no limit
    min_child_samples: int = 20
    min_child_weight: float = 1e-3  # the least Σh of a leaf
    min_split_gain: float = 0.0
    reg_alpha: float = 0.0
    reg_lambda: float = 0.0
    path_smooth: float = 0.0
    max_bin: int = 255
    min_data_in_bin: int = 3
    max_cat_to_onehot: int = 4
    max_cat_threshold: int = 32
    cat_smooth: float = 10.0
    cat_l2: float = 10.0
    min_data_per_group: int = 100
    forget_columns: bool = False  # take the program's shortcut, see lightgbm.py
    rows_by_hessian: bool = True  # how many rows a bin has follows from its Σh, as in the program


DEFAULT = LGBMSettings()


# ---------------------------------------------------------------------- figures of a set of rows
def leaf_output(
    sums: np.ndarray,
    parent: float | None = None,
    settings: LGBMSettings = DEFAULT,
    extra_l2: float = 0.0,
) -> float:
    """Return what rows with the sums (G, H, n) answer; the root has no parent to lean on.

    >>> leaf_output(np.array([-6.0, 3.0, 3]))
    2.0
    >>> leaf_output(np.array([-6.0, 3.0, 3]), 1.0, LGBMSettings(path_smooth=3))
    1.5
    """
    G, H, n = (float(a) for a in sums)
    curvature = H + settings.reg_lambda + extra_l2
    raw = -float(soft_threshold(G, settings.reg_alpha)) / curvature if curvature > 0 else 0.0
    if parent is None or not settings.path_smooth:
        return raw + 0.0
    ratio = n / settings.path_smooth
    return (raw * ratio + parent) / (ratio + 1)


def leaf_score(
    sums: np.ndarray, output: float, settings: LGBMSettings = DEFAULT, extra_l2: float = 0.0
) -> float:
    """Return -(2·soft(G, α)·b + (H + λ)·b²), twice what the answer b saves.

    >>> leaf_score(np.array([-6.0, 3.0, 3]), 2.0), leaf_score(np.array([-6.0, 3.0, 3]), 1.5)
    (12.0, 11.25)
    """
    pull = float(soft_threshold(sums[0], settings.reg_alpha))
    curvature = float(sums[1]) + settings.reg_lambda + extra_l2
    return -(2 * pull * output + curvature * output**2) + 0.0


def bin_rows(histogram: np.ndarray, settings: LGBMSettings = DEFAULT) -> np.ndarray:
    """Return how many rows every bin is held to have: its share of the rows by its Σh, rounded.

    >>> histogram = np.array([[0.0, 0.25, 1], [0.0, 1.0, 2], [0.0, 0.0, 0]])
    >>> bin_rows(histogram).tolist(), bin_rows(histogram, LGBMSettings(rows_by_hessian=False)).tolist()
    ([1.0, 2.0, 0.0], [1.0, 2.0, 0.0])
    >>> bin_rows(np.array([[0.0, 1.0, 2], [0.0, 1.0, 8]])).tolist()
    [5.0, 5.0]
    """
    _, H, n = histogram.sum(axis=0)
    if not settings.rows_by_hessian or not H > 0:
        return histogram[:, 2]
    return np.floor(histogram[:, 1] * (n / H) + 0.5)


# ---------------------------------------------------------------------- candidates
@dataclass(frozen=True)
class LGBMCandidate:
    """A question about one column and all the figures it is judged by."""

    feature: int
    kind: str  # "number", "one category", "sorted categories"
    cut: float = np.nan  # x <= cut goes left
    categories: frozenset[float] = frozenset()  # these go left, all others right
    default: str = "right"  # where missing values go
    left_sums: tuple[float, ...] = ()  # G, H, n (`bin_rows`)
    right_sums: tuple[float, ...] = ()
    left_output: float = 0.0
    right_output: float = 0.0
    left_score: float = field(default=0.0, repr=False)
    right_score: float = field(default=0.0, repr=False)
    node_score: float = field(default=0.0, repr=False)
    gain: float = 0.0
    admissible: bool = False  # rows, Σh and gain suffice

    def left(self, x: np.ndarray) -> np.ndarray:
        """Return which values go left."""
        if self.kind == "number":
            return np.where(np.isnan(x), self.default == "left", x <= self.cut)
        return np.isin(x, sorted(self.categories))


@dataclass(frozen=True)
class _Judge:
    """Scores the splits of one node."""

    node: np.ndarray  # (G, H, n)
    output: float  # what the node answers, and its children lean on
    node_score: float
    settings: LGBMSettings

    def __call__(
        self, question: LGBMCandidate, left: np.ndarray, extra_l2: float = 0.0
    ) -> LGBMCandidate:
        s, right = self.settings, self.node - left
        outputs = [leaf_output(side, self.output, s, extra_l2) for side in (left, right)]
        scores = [leaf_score(a, b, s, extra_l2) for a, b in zip((left, right), outputs)]
        gain = sum(scores) - self.node_score
        room = TIE * (abs(self.node_score) + sum(map(abs, scores)))
        enough = self.enough(left) and self.enough(right)
        return replace(
            question,
            left_sums=tuple(left.tolist()),
            right_sums=tuple(right.tolist()),
            left_output=outputs[0],
            right_output=outputs[1],
            left_score=scores[0],
            right_score=scores[1],
            node_score=self.node_score,
            gain=gain,
            admissible=enough and gain > s.min_split_gain + room,
        )

    def enough(self, sums: np.ndarray) -> bool:
        s = self.settings
        return bool(sums[2] >= max(s.min_child_samples, 1) and sums[1] >= s.min_child_weight)


def number_candidates(
    histogram: np.ndarray,
    cuts: np.ndarray,
    feature: int = 0,
    output: float | None = None,
    settings: LGBMSettings = DEFAULT,
) -> list[LGBMCandidate]:
    """Return every cut between bins that splits the rows, from below.

    Parameters
    ----------
    histogram : array of shape (n_bins + 1, 3), the missing values last
    cuts : the upper ends of all bins but the last
    output : what the node answers; by default what a root would

    Examples
    --------
    >>> histogram = np.array([[-3.0, 1, 1], [-2, 1, 1], [5, 1, 1], [4, 1, 1]])
    >>> for c in number_candidates(histogram, np.array([1.5, 3.0]), settings=LGBMSettings(
    ...     min_child_samples=1)):
    ...     print(f"x <= {c.cut}, missing {c.default:5} {c.left_sums[0]:4} | {c.gain:6.2f}")
    x <= 1.5, missing right -3.0 |  21.33
    x <= 1.5, missing left   1.0 |   1.00
    x <= 3.0, missing right -5.0 |  49.00
    x <= 3.0, missing left  -1.0 |  21.33
    x <= inf, missing right  0.0 |  12.00
    """
    node = histogram.sum(axis=0)
    output = leaf_output(node, None, settings) if output is None else output
    itself = leaf_output(node, output, settings)
    judge = _Judge(node, output, leaf_score(node, itself, settings), settings)
    present, missing = histogram[:-1], histogram[-1]
    below, held = np.cumsum(present, axis=0), np.cumsum(bin_rows(histogram, settings)[:-1])
    table = []
    for cut, line, left, n_below in zip([*cuts.tolist(), np.inf], present, below, held.tolist()):
        if not line[2]:
            continue  # no rows in this bin: the same split as the one before
        everything = left[2] == below[-1, 2]
        if missing[2]:
            question = LGBMCandidate(feature, "number", np.inf if everything else cut)
            table.append(judge(question, np.array([*left[:2], n_below])))
        if everything:
            break
        question = LGBMCandidate(feature, "number", cut, default="left")
        G, H = (left + missing)[:2]
        n_left = node[2] - (held[-1] - n_below)  # the right side is counted, the left has the rest
        table.append(judge(question, np.array([G, H, n_left])))
    return table


def lgbm_category_candidates(
    histogram: np.ndarray,
    categories: np.ndarray,
    feature: int = 0,
    output: float | None = None,
    settings: LGBMSettings = DEFAULT,
) -> list[LGBMCandidate]:
    """Return one category against the rest if there are few, else beginnings and ends of their order.

    ``categories`` are the values of all bins. See the top of the file for the rules.

    >>> histogram = np.array([[-30.0, 20, 20], [10, 20, 20], [25, 20, 20], [-5, 20, 20], [0, 0, 0]])
    >>> rules = LGBMSettings(min_data_per_group=1, max_cat_to_onehot=2)
    >>> for c in lgbm_category_candidates(histogram, np.arange(4.0), settings=rules):
    ...     print(sorted(c.categories), round(c.gain, 2))
    [0.0] 42.86
    [0.0, 3.0] 49.0
    [2.0] 29.76
    [1.0, 2.0] 49.0
    """
    node = histogram.sum(axis=0)
    histogram = np.column_stack([histogram[:, :2], bin_rows(histogram, settings)])
    output = leaf_output(node, None, settings) if output is None else output
    itself = output if settings.path_smooth else leaf_output(node, None, settings)
    judge = _Judge(node, output, leaf_score(node, itself, settings), settings)
    if len(categories) + 1 > settings.max_cat_to_onehot:
        return [
            judge(_subset(feature, "sorted categories", categories[codes]), left, settings.cat_l2)
            for codes, left in _ends(judge, histogram)
        ]
    return [
        judge(_subset(feature, "one category", [value]), line)
        for line, value in zip(histogram[:-1], categories.tolist())
        if 0 < line[2] < judge.node[2]
    ]


def sorted_categories(histogram: np.ndarray, settings: LGBMSettings = DEFAULT) -> np.ndarray:
    """Return the codes that take part, by Σg/(Σh + cat_smooth); the missing line is not looked at.

    >>> sorted_categories(np.array([[-3.0, 20, 20], [9, 20, 20], [5, 2, 2], [-9, 20, 20], [0, 0, 0]]))
    array([3, 0, 1])
    """
    lines = histogram[:-1]
    codes = np.flatnonzero((lines[:, 2] >= settings.cat_smooth) & (lines[:, 2] > 0))
    ratio = lines[codes, 0] / (lines[codes, 1] + settings.cat_smooth)
    return codes[np.argsort(ratio, kind="stable")]


def _ends(judge: _Judge, histogram: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the beginnings and ends of the order that may stand alone: codes and their sums."""
    s, order = judge.settings, sorted_categories(histogram, judge.settings)
    longest = min(s.max_cat_threshold, (len(order) + 1) // 2)  # the longer ones are ends, too
    for codes in (order, order[::-1]):
        left, group = np.zeros(3), 0.0
        for i, code in enumerate(codes[:longest], start=1):
            left, group = left + histogram[code], group + histogram[code, 2]
            right = judge.node - left
            if not judge.enough(right) or right[2] < s.min_data_per_group:
                break
            if judge.enough(left) and group >= s.min_data_per_group:
                group = 0.0
                yield codes[:i], left


def _subset(feature: int, kind: str, values: Iterable[float]) -> LGBMCandidate:
    return LGBMCandidate(feature, kind, categories=frozenset(float(v) for v in values))


def best_split(candidates: Sequence[LGBMCandidate]) -> LGBMCandidate | None:
    """Return the admissible candidate of largest gain, the first of equals.

    >>> best_split([]) is None
    True
    """
    able = [c for c in candidates if c.admissible]
    if not able:
        return None
    best = max(able, key=lambda c: c.gain)
    room = TIE * (abs(best.left_score) + abs(best.right_score) + abs(best.node_score))
    return next(c for c in able if c.gain >= best.gain - room)
