"""Further reading: all splits of a column at once: running sums say which are worth writing down.

``splits.candidates`` judges every question by looking at every row again, which follows its formulas and
takes hours for a node of 100,000 rows. The gains alone need one pass: rows are put together by value, what
the criterion adds up (``channels``) is summed from the left, and the right side has the rest.

    values of the node     1     2     4     7
    rows of class 0, 1    3 0   2 1   0 4   0 2
    left of each cut      3 0   5 1   5 5               gains of three cuts, without a loop

Only the requested splits, the best ones, are then judged by `splits.judge_question`, so every figure that is
shown comes from there. Medians, which absolute_error goes by, are no sums: `scan_column` refuses it.

>>> from arboretum.textbook.splits import gather, Rules
>>> sample = gather([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1], None, Rules())
>>> scan = scan_column(sample, 0)
>>> scan.n_tried, [(c.threshold, round(c.gain, 3)) for c in scan.best(2)]
(3, [(2.5, 0.5), (1.5, 0.167)])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from arboretum.textbook.impurities import CLASS_CRITERIA
from arboretum.textbook.questions import Question, cut_points, subsets
from arboretum.textbook.splits import Candidate, Sample, judge_question

__all__ = [
    "Channels",
    "ColumnScan",
    "ValueBins",
    "first_of_columns",
    "scan_column",
    "scan_sums",
]

FEW_CATEGORIES = 10  # up to this number every subset is tried if no single order contains the best
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class ColumnScan:
    """The gains of all splits of one column of a node.

    Attributes
    ----------
    feature : int
    gain : array
        Of every candidate, in the order of `splits.judge_all`.
    allowed : bool array
        No rule refuses it.
    """

    feature: int
    gain: np.ndarray
    allowed: np.ndarray
    _make: Callable[[int], Candidate] = field(repr=False)

    @property
    def n_tried(self) -> int:
        """How many candidates there are."""
        return len(self.gain)

    def candidate(self, i: int) -> Candidate:
        """Return one of the candidates, judged."""
        return self._make(i)

    def best(self, n: int = 1, *, refused: bool = False) -> list[Candidate]:
        """Return the n candidates that gain most, judged; those that a rule refuses only on request.

        Of equals the first comes first.
        """
        return [self._make(i) for i in self.leading(n, self.allowed | refused)]

    def leading(self, n: int, among: np.ndarray) -> list[int]:
        """Return the places of the n largest gains among some candidates, of equals the first."""
        some = np.flatnonzero(among)
        gain = self.gain[some]
        if len(some) > 4 * n:  # all that are as large as the n-th
            least = np.partition(gain, len(gain) - n)[len(gain) - n]
            some = some[gain >= least]
            gain = self.gain[some]
        return some[np.argsort(-gain, kind="stable")[:n]].tolist()


@dataclass(frozen=True, eq=False)
class ValueBins:
    """The values of a column in bins, in order; a bin may hold a single value.

    Attributes
    ----------
    low, high : array
        The lowest and the highest value of every bin.
    of_row : int array
        The bin of every row of the node; of missing values anything.
    """

    low: np.ndarray
    high: np.ndarray
    of_row: np.ndarray

    def held(self, known: np.ndarray | slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return low and high of the bins that some rows fill, and the place of each row among those."""
        of_row = self.of_row[known]
        if len(of_row) < len(self.low):
            filled, group = np.unique(of_row, return_inverse=True)
        else:
            some = np.bincount(of_row, minlength=len(self.low)) > 0
            filled, group = np.flatnonzero(some), (np.cumsum(some) - 1)[of_row]
        return self.low[filled], self.high[filled], group


def scan_column(
    sample: Sample,
    feature: int,
    bins: ValueBins | None = None,
    channels: Channels | None = None,
) -> ColumnScan:
    """Return the gains of all splits of one column.

    Parameters
    ----------
    sample : Sample
        The rows of the node (see `splits.gather`).
    feature : int
    bins : ValueBins, optional
        Cuts are tried between these bins only; by default between all values.
    channels : Channels, optional
        Those of the sample, if they are made already for another column.
    """
    if sample.rules.criterion == "absolute_error":
        raise ValueError(
            "absolute_error goes by medians, which are not sums: judge its cuts one by one"
        )
    x = sample.X[:, feature]
    gone = np.isnan(x)
    known: np.ndarray | slice = ~gone if gone.any() else slice(None)  # all rows, without a copy
    if bins is None:
        values, group = np.unique(x[known], return_inverse=True)
        highest = values
    else:
        values, highest, group = bins.held(known)
    channels = channels or Channels(sample)
    sums = channels.by_group(known, group, len(values))
    missing = channels.by_group(gone, np.zeros(int(gone.sum()), np.int64), 1)[0]
    if sample.rules.surrogates:  # they place the missing rows, which are left out here
        missing = np.zeros_like(missing)

    def make(question: Question, side: str | None, left: np.ndarray) -> Candidate:
        return judge_question(sample, question, side)

    return scan_sums(channels, feature, (values, highest), sums, missing, make)


def scan_sums(
    channels: Channels,
    feature: int,
    ends: tuple[np.ndarray, np.ndarray],
    sums: np.ndarray,
    missing: np.ndarray,
    make: Callable[[Question, str | None, np.ndarray], Candidate],
) -> ColumnScan:
    """Return the gains of all splits of one column from the sums of its values.

    Parameters
    ----------
    channels : Channels
    feature : int
    ends : tuple of two arrays of shape (n_values,)
        The lowest and the highest value of every bin that the node holds.
    sums : array of shape (n_values, n_channels)
    missing : array of shape (n_channels,)
        Of the rows without a value.
    make : callable
        Returns a candidate by its question, the side of missing values and the sums on its left.
    """
    sample = channels.sample
    lefts, question = _partings(sample, feature, ends, sums)
    both_ways = bool(missing[0])
    total = sums.sum(axis=0) + missing
    if both_ways:  # missing right, then left; at last all that is present against them
        lefts = np.concatenate([np.stack([lefts, lefts + missing], axis=1).reshape(-1, len(total)),
                                sums.sum(axis=0)[None]])  # fmt: skip

    def candidate(i: int) -> Candidate:
        if not both_ways:
            return make(question(i), None, lefts[i])
        if i == len(lefts) - 1:
            present = Question(feature, "threshold", np.inf)
            if sample.kinds[feature] == "categorical":
                present = Question(
                    feature, "subset", np.nan, frozenset(ends[0].astype(int).tolist())
                )
            return make(present, "right", lefts[i])
        return make(question(i // 2), "left" if i % 2 else "right", lefts[i])

    some = len(ends[0]) > 0
    gain = channels.gains(lefts, total) if some else np.empty(0)
    allowed = channels.allowed(lefts, total, sample.signs[feature]) if some else np.empty(0, bool)
    return ColumnScan(feature, gain, allowed, candidate)


def first_of_columns(column: np.ndarray, gain: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Return the place of the best candidate of every column; a refused one of columns without others.

    >>> column, gain = np.array([0, 0, 0, 2, 2]), np.array([1.0, 3, 3, 5, 4])
    >>> first_of_columns(column, gain, column < 1).tolist()
    [1, 3]
    """
    if not len(column):
        return np.empty(0, np.int64)
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    size = np.diff(starts, append=len(column))
    some = allowed | np.repeat(~np.logical_or.reduceat(allowed, starts), size)
    score = np.where(some, gain, -np.inf)
    best = np.flatnonzero(score == np.repeat(np.maximum.reduceat(score, starts), size))
    return best[np.diff(column[best], prepend=-1) > 0]


def _partings(
    sample: Sample,
    feature: int,
    ends: tuple[np.ndarray, np.ndarray],
    sums: np.ndarray,
) -> tuple[np.ndarray, Callable[[int], Question]]:
    """Return the sums left of every question, and the questions by number."""
    values, highest = ends
    if sample.kinds[feature] != "categorical":
        kind = sample.kinds[feature]

        def cut(i: int) -> Question:
            between = np.array([highest[i], values[i + 1]])
            return Question(feature, "threshold", cut_points(between, kind)[0])

        return np.cumsum(sums, axis=0)[:-1], cut
    codes = values.astype(int).tolist()
    one_order = sample.y.shape[1] == 1 and (sample.n_classes is None or sample.n_classes[0] <= 2)
    if not one_order and len(codes) <= FEW_CATEGORIES:
        parts = subsets(values)
    else:
        parts = _in_order(sample, codes, sums)
    inside = np.array([[code in part for code in codes] for part in parts], dtype=np.float64)
    everything = frozenset(codes)

    def question(i: int) -> Question:
        return Question(feature, "subset", np.nan, parts[i], everything - parts[i])

    return inside.reshape(len(parts), len(codes)) @ sums, question


def _in_order(sample: Sample, codes: list[int], sums: np.ndarray) -> list[frozenset[int]]:
    """Return the beginnings of the categories in order of every mean, by their side with the lowest code."""
    targets = sample.y.shape[1] if sample.n_classes is None else sum(sample.n_classes)
    found = set()
    for mean in (sums[:, 2 : 2 + targets] / sums[:, 1:2]).T:
        ranked = [codes[i] for i in np.argsort(mean, kind="stable")]
        for size in range(1, len(codes)):
            part = frozenset(ranked[:size])
            found.add(part if codes[0] in part else frozenset(codes) - part)
    return sorted(found, key=sorted)


class Channels:
    """What a criterion adds up: rows, weight, then one sum per class or target, then squares."""

    def __init__(self, sample: Sample) -> None:
        rules, y, w = sample.rules, sample.y, sample.w
        self.sample, self.classes = sample, rules.criterion in CLASS_CRITERIA
        if self.classes:
            assert sample.n_classes is not None
            targets = [y[:, o] == k for o, size in enumerate(sample.n_classes) for k in range(size)]
        else:
            # deviations from the mean: squares of large numbers would lose digits
            self.origin = np.zeros(y.shape[1])
            if rules.criterion != "poisson":
                self.origin = np.average(y, axis=0, weights=w)
            targets = list((y - self.origin).T)
        self.columns = [np.ones(len(w)), w, *(w * target for target in targets)]
        self.weighted = not np.all(w == 1.0)
        if not self.classes and rules.criterion != "poisson":
            self.columns += [w * target * target for target in targets]

    def by_group(self, rows: np.ndarray | slice, group: np.ndarray, n: int) -> np.ndarray:
        count = np.bincount(group, minlength=n).astype(np.float64)
        weight = [np.bincount(group, self.columns[1][rows], n) if self.weighted else count]
        sums = [np.bincount(group, c[rows], n) for c in self.columns[2:]]
        return np.column_stack([count, *weight, *sums])

    def gains(self, lefts: np.ndarray, total: np.ndarray) -> np.ndarray:
        """Return the weighted impurity decrease of every left side; of one node, or a total for each."""
        total = np.atleast_2d(total)
        rights = total - lefts
        if self.sample.rules.criterion == "friedman_mse":
            outputs = self.sample.y.shape[1]
            means = [
                side[:, 2 : 2 + outputs].mean(axis=1) / _at_least(side[:, 1])
                for side in (lefts, rights)
            ]
            share = lefts[:, 1] * rights[:, 1] / total[:, 1]
            return share * (means[0] - means[1]) ** 2 / self.sample.total
        before, after = self.mixed(total), self.mixed(lefts) + self.mixed(rights)
        return (before - after) / self.sample.total

    def mixed(self, sums: np.ndarray) -> np.ndarray:
        """Return weight times impurity, the mean over the targets."""
        weight, criterion = _at_least(sums[:, 1]), self.sample.rules.criterion
        outputs = self.sample.y.shape[1]
        if not self.classes:
            t = sums[:, 2 : 2 + outputs]
            if criterion == "poisson":  # Σ w y log y is the same on both sides together
                return -(t * np.log(_at_least(t / weight[:, None]))).mean(axis=1)
            return (sums[:, 2 + outputs :] - t * t / weight[:, None]).mean(axis=1)
        assert self.sample.n_classes is not None
        ends, parts = 2 + np.cumsum((0, *self.sample.n_classes)), []
        for lo, hi in pairwise(ends):
            p = sums[:, lo:hi] / weight[:, None]
            if criterion == "gini":
                parts.append(1 - _added(p * p))
            elif criterion == "error":
                parts.append(1 - p.max(axis=1))
            else:
                parts.append(-_added(p * np.log2(_at_least(p))))
        return sums[:, 1] * (sum(parts[1:], start=parts[0]) / len(parts))

    def allowed(self, lefts: np.ndarray, total: np.ndarray, sign: int | np.ndarray) -> np.ndarray:
        """Return which left sides no rule refuses; ``sign`` is of one column, or of that of every side."""
        rules, sides = self.sample.rules, (lefts, total - lefts)
        good = np.ones(len(lefts), bool)
        for side in sides:
            good &= side[:, 0] >= max(rules.min_samples_leaf, 1)
            good &= side[:, 1] >= rules.min_weight_leaf * (1 - 1e-12)
            if rules.criterion == "poisson":
                good &= (side[:, 2:] > 0).all(axis=1)
        if np.any(sign):
            last = 2 + (self.sample.n_classes[0] - 1 if self.sample.n_classes else 0)
            origin = 0.0 if self.classes else self.origin[0]
            a, b = (side[:, last] / _at_least(side[:, 1]) + origin for side in sides)
            low, high = self.sample.bounds
            kept = (sign * (b - a) >= 0) & (np.minimum(a, b) >= low) & (np.maximum(a, b) <= high)
            good &= kept | (np.asarray(sign) == 0)
        return good

    def refusal(self, sides: np.ndarray) -> str:
        """Return the rule that refuses a split; ``sides`` are the sums of both."""
        if sides[:, 0].min() < max(self.sample.rules.min_samples_leaf, 1):
            return "min_samples_leaf"
        if sides[:, 1].min() < self.sample.rules.min_weight_leaf * (1 - 1e-12):
            return "min_weight_leaf"
        return "monotone constraint"


def _added(table: np.ndarray) -> np.ndarray:
    """Return the sums of rows; they are short, so whole columns are added."""
    first, *others = table.T
    return sum(others, start=first)


def _at_least(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, _TINY)
