"""The candidates of one node of C4.5: the best test of every attribute, its figures, a verdict.

    multiway_test       one branch per category
    threshold_test      x <= t, the cut of largest gain, charged for having been searched
    grouping_test       (optional) categories merged into groups while the ratio does not fall
    judge               gain ratio = gain / split information, among gains at least average

Notation: N the weight of a node, N_v that of branch v among the known cases, u the unknown share.

    gain                (1 - u) · (H(known) - Σ N_v/N_known · H(v))
    split information   the entropy of the branch weights, the unknown cases being one more branch

All this follows release 8 of Quinlan's program, but for one thing: any two different numbers may be
parted, where the program wants them 0.00001 apart. Comparisons leave room for rounding (``TIE``).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.discretize import boundary_table
from arboretum.textbook.id3 import TIE, Cases, first_largest
from arboretum.textbook.words import NO_WORDS, Words

__all__ = [
    "EPS",
    "C45Candidate",
    "C45Settings",
    "C45Test",
    "Cut",
    "Grouping",
    "average_gain",
    "c45_candidates",
    "gain",
    "grouping_test",
    "judge",
    "least_cases",
    "multiway_test",
    "split_information",
    "threshold_test",
]

EPS = 1e-3  # Quinlan's: how far a gain may fall short of the average; the least split information


@dataclass(frozen=True)
class C45Settings:
    """How to grow."""

    min_cases: float = 2.0  # m: two branches of a test need at least this weight
    criterion: str = "gain_ratio"  # or "gain"
    epsilon: float = 0.0  # what the best ratio (or gain) must exceed; 0: whatever it is
    gate: bool = True  # only gains of at least the average compete
    subset: bool = False  # group the values of a category instead of one branch for each
    max_depth: int | None = None


DEFAULT = C45Settings()


# ---------------------------------------------------------------------- the two figures of a test
def gain(table: ArrayLike, missing: float = 0.0) -> float:
    """Return (1 - u) · (H(known) - Σ N_v/N_known · H(v)).

    Parameters
    ----------
    table : array of shape (n_branches, n_classes)
        The class weights of the known cases in every branch.
    missing : float
        The weight of the cases whose value is missing.

    Examples
    --------
    Outlook in the play-tennis rows, then with one of the overcast days unknown:

    >>> round(gain([[3, 2], [0, 4], [2, 3]]), 3), round(gain([[3, 2], [0, 3], [2, 3]], 1), 3)
    (0.247, 0.199)
    """
    return float(_gains(np.asarray(table, dtype=np.float64), missing))


def split_information(table: ArrayLike, missing: float = 0.0) -> float:
    """Return the entropy of the branch weights; the missing cases are one more branch.

    >>> round(split_information([[3, 2], [0, 4], [2, 3]]), 3)
    1.577
    >>> round(split_information([[3, 2], [0, 3], [2, 3]], missing=1), 3)
    1.809
    """
    return float(_split_informations(np.asarray(table, dtype=np.float64), missing))


def _gains(tables: np.ndarray, missing: float) -> np.ndarray:
    """Return the gain of each of many tests, by their tables (..., n_branches, n_classes)."""
    weights = _along(tables)  # N_v
    known = _along(weights)
    after = _along(weights * _entropies(tables)) / known
    return known / (known + missing) * (_entropies(_along(np.swapaxes(tables, -1, -2))) - after)


def _split_informations(tables: np.ndarray, missing: float) -> np.ndarray:
    weights = _along(tables)
    unknown = np.full((*weights.shape[:-1], 1), missing)
    return _entropies(np.concatenate([unknown, weights], axis=-1))


def _entropies(weights: np.ndarray) -> np.ndarray:
    """Return H along the last axis, 0 for a branch without cases."""
    total = _along(weights)[..., None]
    p = weights / np.where(total > 0, total, 1.0)
    return -_along(p * np.log2(np.where(p > 0, p, 1.0)))  # 0 log 0 = 0


def _along(table: np.ndarray) -> np.ndarray:
    """Return the sums along the last axis, which is short: whole columns are added, not row by row."""
    first, *others = np.moveaxis(table, -1, 0)
    return sum(others, start=first)


# ---------------------------------------------------------------------- tests and candidates
@dataclass(frozen=True)
class C45Test:
    """A question with two or more answers; answer v leads to branch v."""

    feature: int
    threshold: float = np.nan  # x <= threshold is branch 0, else branch 1
    groups: tuple[frozenset[int], ...] = ()  # of categories, one per branch; none for a threshold
    multiway: bool = False  # every category has its own branch: not tested twice on a path

    @property
    def n_branches(self) -> int:
        return len(self.groups) or 2

    def branches(self, x: np.ndarray) -> np.ndarray:
        """Return the branch of every value, -1 for missing values and unheard-of categories."""
        if not self.groups:
            return np.where(np.isnan(x), -1, np.where(x <= self.threshold, 0, 1))
        branch = np.full(len(x), -1)
        for v, group in enumerate(self.groups):
            branch[np.isin(x, sorted(group))] = v
        return branch


@dataclass(frozen=True)
class Cut:
    """One place tried for a threshold."""

    below: float  # the neighbouring values it parts
    above: float
    weights: tuple[float, float]
    gain: float  # before the charge
    split_information: float


@dataclass(frozen=True)
class Grouping:
    """The categories in groups, at one stage of merging."""

    groups: tuple[frozenset[int], ...]
    gain: float
    split_information: float
    ratio: float  # -inf if the split information is too small to divide by


@dataclass(frozen=True)
class C45Candidate:
    """The best test of one attribute at a node, with all the figures it is judged by."""

    feature: int
    test: C45Test | None = None  # None: there is nothing to test
    weights: tuple[float, ...] = ()  # N_v, of the known cases in every branch
    missing: float = 0.0  # weight of the cases that miss the value
    gain: float = 0.0  # after the charge
    charge: float = 0.0  # log2(cuts tried) / N, for a threshold
    split_information: float = 0.0
    steps: tuple[Cut, ...] | tuple[Grouping, ...] = field(default=(), repr=False)
    admissible: bool = False
    passes_gate: bool = False  # gain at least average
    verdict: str = ""  # "chosen", or why not
    words: Words = field(default=NO_WORDS, repr=False)

    @property
    def ratio(self) -> float:
        """gain / split information, 0 where that is too small to divide by."""
        return self.gain / self.split_information if self.split_information > EPS else 0.0


def multiway_test(cases: Cases, feature: int, settings: C45Settings = DEFAULT) -> C45Candidate:
    """Return the test with one branch per category, those without cases here included.

    >>> from arboretum.textbook.id3 import gather_cases
    >>> cases = gather_cases([[0], [0], [1], [1]], [0, 0, 0, 1], None, [3])
    >>> candidate = multiway_test(cases, 0)
    >>> candidate.weights, round(candidate.gain, 3), candidate.split_information
    ((2.0, 2.0, 0.0), 0.311, 1.0)
    """
    groups = tuple(frozenset([value]) for value in range(cases.n_values[feature]))
    test = C45Test(feature, groups=groups, multiway=True)
    table, missing = _category_table(cases, feature)
    return _of_categories(test, table, missing, settings)


def _category_table(cases: Cases, feature: int) -> tuple[np.ndarray, float]:
    """Return the class weights of every category, and the weight of the missing."""
    x, table = cases.X[:, feature], np.zeros((cases.n_values[feature], cases.n_classes))
    known = ~np.isnan(x)
    np.add.at(table, (x[known].astype(np.int64), cases.y[known]), cases.w[known])
    return table, float(cases.w[~known].sum())


def _of_categories(
    test: C45Test, table: np.ndarray, missing: float, settings: C45Settings
) -> C45Candidate:
    weights = tuple(table.sum(axis=1).tolist())
    candidate = C45Candidate(test.feature, test, weights, missing)
    if table.any():
        figures = gain(table, missing), split_information(table, missing)
        candidate = replace(candidate, gain=figures[0], split_information=figures[1])
    heavy = sum(weight >= settings.min_cases - TIE for weight in weights)
    if heavy < 2:
        return replace(candidate, verdict="fewer than two branches with min_cases")
    return replace(candidate, admissible=True)


def threshold_test(
    cases: Cases,
    feature: int,
    settings: C45Settings = DEFAULT,
    training: ArrayLike | None = None,
    *,
    steps: bool = True,
) -> C45Candidate:
    """Return the test x <= t with the largest gain, charged log2(cuts tried)/N.

    Each side needs a tenth of the average class, or 25 cases if that is less, and ``min_cases``.
    The threshold is the largest value of ``training`` (the column in all training rows, by default
    the cases here) up to the middle between the values it parts. Without ``steps`` only the best cut is
    kept, which is quicker where there are thousands.

    >>> from arboretum.textbook.id3 import gather_cases
    >>> x, y = [[65], [70], [70], [72], [80], [85]], [0, 0, 0, 1, 1, 1]
    >>> candidate = threshold_test(gather_cases(x, y, None, None), 0)
    >>> [(cut.below, cut.above, round(cut.gain, 3)) for cut in candidate.steps]
    [(70.0, 72.0, 1.0), (72.0, 80.0, 0.459)]
    >>> candidate.test.threshold, round(candidate.charge, 3), round(candidate.gain, 3)
    (70.0, 0.167, 0.833)
    """
    x = cases.X[:, feature]
    values, table = boundary_table(x, cases.y, cases.w, cases.n_classes)
    known, missing = float(table.sum()), float(cases.w[np.isnan(x)].sum())
    refused = C45Candidate(feature, missing=missing)
    if known < 2 * settings.min_cases - TIE:
        return replace(refused, verdict="fewer than twice min_cases known")
    figures = _cuts(values, table, missing, least_cases(known, cases.n_classes, settings))
    n_cuts = len(figures[0])
    if not n_cuts:
        return replace(refused, verdict="no cut with enough cases on both sides")
    winner = first_largest(figures[3])
    cuts = _written(figures) if steps else _written([f[winner : winner + 1] for f in figures])
    best = cuts[winner if steps else 0]
    charge = float(np.log2(n_cuts) / (known + missing))
    everywhere = values if training is None else np.asarray(training, dtype=np.float64)
    middle = best.below / 2 + best.above / 2  # halves first: the sum may overflow
    middle = best.below if middle >= best.above else middle  # neighbours may have none between
    net = best.gain - charge
    return C45Candidate(
        feature,
        C45Test(feature, float(np.max(everywhere[everywhere <= middle])) + 0.0),  # no -0.0
        best.weights,
        missing,
        gain=net,
        charge=charge,
        split_information=best.split_information,
        steps=tuple(cuts),
        admissible=net > TIE,
        verdict="" if net > TIE else "gain does not cover the charge",
    )


def least_cases(known: float, n_classes: int, settings: C45Settings = DEFAULT) -> float:
    """Return how many cases each side of a cut must have.

    >>> least_cases(150.0, 3), least_cases(10.0, 3)
    (5.0, 2.0)
    """
    return max(settings.min_cases, min(0.1 * known / n_classes, 25.0))


def _cuts(values: np.ndarray, table: np.ndarray, missing: float, least: float) -> list[np.ndarray]:
    """Return the figures of cuts with at least ``least`` cases on both sides, from below."""
    lower, upper = np.cumsum(table, axis=0)[:-1], np.cumsum(table[::-1], axis=0)[::-1][1:]
    sides = np.stack([lower, upper], axis=1)  # (n_cuts, 2, n_classes)
    weights = _along(sides)
    tried = np.minimum(weights[:, 0], weights[:, 1]) >= least - TIE
    figures = _gains(sides[tried], missing), _split_informations(sides[tried], missing)
    return [values[:-1][tried], values[1:][tried], weights[tried], *figures]


def _written(figures: list[np.ndarray]) -> list[Cut]:
    return [
        Cut(below, above, (one, two), gain, information)
        for below, above, (one, two), gain, information in zip(*(f.tolist() for f in figures))
    ]


def grouping_test(cases: Cases, feature: int, settings: C45Settings = DEFAULT) -> C45Candidate:
    """Return the test whose branches are groups of categories, found by merging.

    It starts with a group for each category that occurs here. The merger of two groups that gives
    the best ratio is made (the first pair of equals) while more than two groups are left and the
    ratio does not fall. Categories that do not occur here join the last group.

    >>> y = [0] * 8 + [1] * 5
    >>> from arboretum.textbook.id3 import gather_cases
    >>> cases = gather_cases(np.repeat([0, 1, 2], [4, 4, 5])[:, None], y, None, [4])
    >>> candidate = grouping_test(cases, 0)
    >>> [(len(stage.groups), round(stage.ratio, 3)) for stage in candidate.steps]
    [(3, 0.61), (2, 1.0)]
    >>> [sorted(group) for group in candidate.test.groups]
    [[0, 1], [2, 3]]
    """
    table, missing = _category_table(cases, feature)
    present = np.flatnonzero(table.any(axis=1)).tolist()
    if not present:
        return C45Candidate(feature, missing=missing, verdict="no value is known")
    parts = tuple(frozenset([value]) for value in present)
    stages = [_stage(parts, table, missing)]
    while len(parts := stages[-1].groups) > 2:
        mergers = []
        for one, two in combinations(range(len(parts)), 2):
            rest = parts[one + 1 : two] + parts[two + 1 :]
            merged = (*parts[:one], parts[one] | parts[two], *rest)
            mergers.append(_stage(merged, table, missing))
        best = mergers[first_largest([stage.ratio for stage in mergers])]
        if best.ratio < stages[-1].ratio - TIE:
            break
        stages.append(best)
    groups = stages[-1].groups
    last = groups[-1] | (set(range(len(table))) - set(present))
    test = C45Test(feature, groups=(*groups[:-1], frozenset(last)))
    candidate = _of_categories(test, _grouped(groups, table), missing, settings)
    return replace(candidate, steps=tuple(stages))


def _grouped(groups: tuple[frozenset[int], ...], table: np.ndarray) -> np.ndarray:
    return np.array([table[sorted(group)].sum(axis=0) for group in groups])


def _stage(groups: tuple[frozenset[int], ...], table: np.ndarray, missing: float) -> Grouping:
    branches = _grouped(groups, table)
    worth, information = gain(branches, missing), split_information(branches, missing)
    ratio = worth / information if information > EPS else -np.inf
    return Grouping(groups, worth, information, ratio)


# ---------------------------------------------------------------------- choosing among them
def c45_candidates(
    cases: Cases,
    whole: Cases,
    settings: C45Settings = DEFAULT,
    used: frozenset[int] = frozenset(),
    *,
    steps: bool = True,
) -> tuple[list[C45Candidate], float, C45Test | None]:
    """Return the table of a node, one candidate per attribute, the average gain, and the choice.

    Parameters
    ----------
    cases, whole : Cases
        Those of the node and all of the training.
    settings : C45Settings
    used : set of int
        The attributes whose multiway test was made further up.
    steps : bool
        Whether candidates keep every cut that was tried.

    Examples
    --------
    >>> X = [[0, 5], [0, 6], [1, 5], [1, 6], [1, 8], [1, 9], [0, 8], [1, 9]]
    >>> from arboretum.textbook.id3 import gather_cases
    >>> cases = gather_cases(X, [0, 0, 0, 0, 1, 1, 1, 1], None, [2, 0])
    >>> table, average, choice = c45_candidates(cases, cases)
    >>> for c in table:
    ...     print(f"{c.gain:.3f} {c.split_information:.3f} {c.ratio:.3f} {c.verdict}")
    0.049 0.954 0.051 gain below average
    0.802 1.000 0.802 chosen
    >>> round(average, 3), choice.threshold
    (0.425, 6.0)
    """
    table = []
    for feature, size in enumerate(cases.n_values):
        if size == 0:
            training = whole.X[~np.isnan(whole.X[:, feature]), feature]
            table.append(threshold_test(cases, feature, settings, training, steps=steps))
        elif settings.subset and size > 2:
            table.append(grouping_test(cases, feature, settings))
        elif feature in used:
            table.append(C45Candidate(feature, verdict="used further up"))
        else:
            table.append(multiway_test(cases, feature, settings))
    average = average_gain(table, whole)
    table, choice = judge(table, average, settings)
    return [replace(c, words=cases.words) for c in table], average, choice


def average_gain(table: list[C45Candidate], whole: Cases) -> float:
    """Return the mean gain of the admissible candidates; 1e6, which nothing reaches, if none counts.

    A category with as many values as 0.3 of all training cases gains whatever it means, so it does
    not count, unless every attribute is like that.
    """
    many = [size > 0 and size >= 0.3 * whole.w.sum() - TIE for size in whole.n_values]
    gains = [c.gain for c in table if c.admissible and (all(many) or not many[c.feature])]
    return float(np.mean(gains)) if gains else 1e6


def judge(
    table: list[C45Candidate], average: float, settings: C45Settings = DEFAULT
) -> tuple[list[C45Candidate], C45Test | None]:
    """Return the candidates with their verdicts, and the test of the winner (None if there is none).

    The gate is Quinlan's: only gains of at least the average (less EPS) compete. Without it a test that
    has next to no information can win, because it hardly splits the cases and its split information is small.
    The largest ratio wins, or the largest gain, depending on the criterion; the first column of equals. It
    must exceed ``epsilon``; at 0 even a test without information may be chosen, as in Quinlan's program,
    for the sake of the tests below it.
    """
    judged = []
    for c in table:
        passes = c.admissible and c.gain >= average - EPS - TIE
        if c.admissible and settings.gate and not passes:
            c = replace(c, verdict="gain below average")
        elif c.admissible and c.split_information <= EPS:
            c = replace(c, verdict="split information too small")
        judged.append(replace(c, passes_gate=passes))
    running = [i for i, c in enumerate(judged) if not c.verdict]
    if not running:
        return judged, None
    # (2.2.1) the largest ratio g(D, a)/H_a(D), if it exceeds e; (2.2.2) else none
    figure = "ratio" if settings.criterion == "gain_ratio" else "gain"
    worth = [getattr(judged[i], figure) for i in running]
    winner = running[first_largest(worth)]
    pays = not settings.epsilon or max(worth) > settings.epsilon + TIE
    for i, figures in zip(running, worth):
        lost = f"smaller {figure}" if figures < max(worth) - TIE else f"same {figure}, later column"
        if not pays:
            lost = f"{figure} not above epsilon"
        judged[i] = replace(judged[i], verdict="chosen" if pays and i == winner else lost)
    if not pays:
        return judged, None
    return judged, judged[winner].test
