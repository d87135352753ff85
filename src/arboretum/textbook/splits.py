"""The candidates of one node: every question about every column, what it would gain, a verdict.

The plain rule, for one node t of N_t among N rows, split into a left and a right part:

    gain     N_t/N · (imp(t) - N_L/N_t · imp(L) - N_R/N_t · imp(R))       `impurity_decrease`
    choose   the question with the largest gain                          `choose`

    questions      between any two neighbouring values; every way to divide the categories (questions.py)
    candidates     each question with its counts, impurities and gain
    choose         the best of them

That is all a first reading needs. What comes after `choose` in this file refines it:

    the node             the rows of a node with their settings, and checks of the data
    missing values       a split is tried with the missing rows on either side, and "is a value present?"
                         is a question of its own (``threshold = +inf``; all categories on the left)
    refusals             too few rows on a side, monotone constraints: the verdict is not "admissible"
    many categories      a column of more than four is charged what it gains by chance, before columns
                         compete: worth = gain - charge
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.impurities import (
    CLASS_CRITERIA,
    CRITERIA,
    best_value,
    friedman_improvement,
    impurity,
    impurity_decrease,
)
from arboretum.textbook.questions import KINDS, Question, cuts, sorted_subsets, subsets
from arboretum.textbook.words import NO_WORDS, Categories, Words, read_words

__all__ = [
    "UNBOUNDED",
    "Candidate",
    "Rules",
    "Sample",
    "candidates",
    "chance_gain",
    "charged_columns",
    "choose",
    "gather",
    "judge_all",
    "judge_question",
]

UNCHARGED = 4  # categories of a column in the training table, see ``charged_columns``
UNBOUNDED = (-np.inf, np.inf)


# ---------------------------------------------------------------------- how to grow
@dataclass(frozen=True)
class Rules:
    """How to grow: the criterion, the kinds of the columns, and what a split must respect."""

    criterion: str = "gini"  # one of impurity.CRITERIA
    n_classes: int | tuple[int, ...] | None = None  # (per output); found from y by default
    kinds: tuple[str, ...] | None = None  # of every column; "numeric", of words "categorical"
    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_split: int = 2  # rows
    min_samples_leaf: int = 1  # rows
    min_weight_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    # refinements, see the end of this file
    monotonic_cst: tuple[int, ...] | None = None  # per column: +1 may only rise, -1 only fall, or 0
    exhaustive: bool = True  # categories: try every subset, or scan them sorted by mean target
    category_penalty: float = 1.0  # what categories are charged, in shares of `chance_gain`
    charged: tuple[bool, ...] | None = None  # per column; None: those of more than four categories
    two_classes: bool | None = None  # what y stands for, where it holds residuals
    surrogates: int = 0  # how many to keep per node; 0 learns a side for missing values instead


DEFAULT = Rules()


# ---------------------------------------------------------------------- the plain rule
@dataclass(frozen=True, eq=False, kw_only=True)
class Candidate(Question):
    """One way to split a node, with all the figures it is judged by."""

    n_left: int
    n_right: int
    weight_left: float
    weight_right: float
    impurity_left: float
    impurity_right: float
    gain: float  # weighted impurity decrease, a share of the whole tree's weight
    verdict: str  # "admissible", or the rule that refuses it
    left: np.ndarray = field(repr=False)  # the node's rows that go left
    missing_goes: str | None  # "left", "right"; None: no side was learned
    charge: float  # what of the gain is held to be chance when columns compete; 0 for numbers
    words: Words = field(default=NO_WORDS, repr=False)

    @property
    def worth(self) -> float:
        """What columns compete by: the gain, but for columns of many categories."""
        return self.gain - self.charge

    @property
    def default(self) -> str:
        """Where a row goes that nothing else decides: the side learned, else the heavier one."""
        return self.missing_goes or ("left" if self.weight_left >= self.weight_right else "right")


def candidates(
    X: ArrayLike,
    y: ArrayLike,
    w: ArrayLike | None = None,
    rules: Rules = DEFAULT,
    total: float | None = None,
    bounds: tuple[float, float] = UNBOUNDED,
) -> list[Candidate]:
    """Return every split of one node, the refused ones with the rule that refuses them.

    Parameters
    ----------
    X : array of shape (n, n_columns)
        Categorical columns hold codes 0, 1, ...; NaN is missing.
    y : array of shape (n,) or (n, n_outputs)
        Class indices or numbers.
    w : array of shape (n,), optional
        Row weights > 0.
    rules : Rules
    total : float, optional
        Weight of the whole tree, the denominator of the gains; the node's own by default.
    bounds : (float, float)
        Between which monotone constraints further up keep the answers.

    Examples
    --------
    >>> for c in candidates([[1.0], [2.0], [3.0]], [0, 0, 1]):
    ...     print(c.threshold, c.n_left, c.n_right, round(c.gain, 3), c.verdict)
    1.5 1 2 0.111 admissible
    2.5 2 1 0.444 admissible
    """
    sample = gather(X, y, w, rules)
    if not np.all(sample.w > 0):
        raise ValueError("rows of weight 0 take no part in a split; leave them out")
    return judge_all(replace(sample, total=total or sample.total, bounds=bounds))


def judge_all(sample: Sample) -> list[Candidate]:
    """Return every split of a checked sample; see ``candidates``."""
    table = []
    everyone = sample.impurity(np.ones(len(sample.X), dtype=bool))
    for feature in range(sample.X.shape[1]):
        missing = np.isnan(sample.X[:, feature])
        sides: tuple[str | None, ...] = ("right", "left")
        if not missing.any() or sample.rules.surrogates:
            sides = (None,)
        used = _used(sample, missing)
        before = sample.impurity(used) if used.any() else 0.0
        charge = sample.charge(feature, everyone)
        for question in sample.questions(feature):
            table += [_judge(sample, question, side, used, before, charge) for side in sides]
        if len(sides) == 2 and not missing.all():
            table.append(_judge(sample, sample.is_present(feature), "right", used, before, charge))
    return table


def _judge(
    sample: Sample,
    question: Question,
    side: str | None,
    used: np.ndarray,
    before: float,
    charge: float,
) -> Candidate:
    x = sample.X[:, question.feature]
    left = question.yes(x)
    if side == "left":
        left |= np.isnan(x)
    right = used & ~left
    weights = float(sample.w[left].sum()), float(sample.w[right].sum())  # N_1, N_2
    after = sample.impurity(left), sample.impurity(right)  # imp(T1), imp(T2)
    gain = impurity_decrease(sample.total, weights, before, *after)
    if sample.rules.criterion == "friedman_mse":
        gain = friedman_improvement(sample.y[used], left[used], sample.w[used]) / sample.total
    return Candidate(
        *question.parts,
        n_left=int(left.sum()),
        n_right=int(right.sum()),
        weight_left=weights[0],
        weight_right=weights[1],
        impurity_left=after[0],
        impurity_right=after[1],
        gain=gain,
        verdict=_verdict(sample, question.feature, left, right),
        left=left,
        missing_goes=side,
        charge=charge,
        words=sample.words,
    )


def choose(table: list[Candidate], tolerance: float = 0.0) -> Candidate | None:
    """Return the admissible candidate with the largest gain, less what is charged for categories.

    Gains that differ by at most ``tolerance`` are a tie: the lowest column wins, then the lowest
    threshold or the subset that sorts first, then missing values to the right.

    >>> choose(candidates([[1.0], [2.0], [3.0]], [0, 0, 1])).threshold
    2.5
    """
    admissible = [c for c in table if c.verdict == "admissible"]
    if not admissible:
        return None
    bar = max(c.worth for c in admissible) - tolerance
    best = [c for c in admissible if c.worth >= bar]
    return min(best, key=lambda c: (*c.order, c.missing_goes == "left"))


def judge_question(sample: Sample, question: Question, side: str | None) -> Candidate:
    """Return one question with its figures; missing values go to ``side``, None where none are missing.

    >>> sample = gather([[1.0], [2.0], [np.nan]], [0, 1, 1], None, DEFAULT)
    >>> question = Question(0, "threshold", 1.5)
    >>> [round(judge_question(sample, question, side).gain, 3) for side in ("left", "right")]
    [0.111, 0.444]
    """
    used = _used(sample, np.isnan(sample.X[:, question.feature]))
    before, charge = sample.impurity(used), 0.0
    if sample.kinds[question.feature] == "categorical":
        everyone = before if used.all() else sample.impurity(np.ones(len(used), dtype=bool))
        charge = sample.charge(question.feature, everyone)
    return _judge(sample, question, side, used, before, charge)


# ---------------------------------------------------------------------- the node
@dataclass(frozen=True)
class Sample:
    """The rows of a node and what its splits must respect."""

    X: np.ndarray
    y: np.ndarray  # (n, n_outputs)
    w: np.ndarray
    rules: Rules
    kinds: tuple[str, ...]
    signs: tuple[int, ...]  # monotone constraints
    n_classes: tuple[int, ...] | None  # per output; None for numbers
    total: float  # weight of the whole tree
    charged: tuple[bool, ...]  # per column: its categories are charged
    bounds: tuple[float, float] = UNBOUNDED
    words: Words = NO_WORDS

    def impurity(self, rows: np.ndarray) -> float:
        return impurity(self.rules.criterion, self.y[rows], self.w[rows], self.n_classes)

    def value(self, rows: np.ndarray) -> np.ndarray:
        return best_value(self.rules.criterion, self.y[rows], self.w[rows], self.n_classes)

    def number(self, rows: np.ndarray) -> float:
        """The one number a monotone constraint speaks of: the answer, or the share of class 1."""
        return float(self.value(rows)[0, -1])

    def questions(self, feature: int) -> list[Question]:
        known = ~np.isnan(self.X[:, feature])
        x = self.X[known, feature]
        if self.kinds[feature] != "categorical":
            return cuts(feature, x, self.kinds[feature])
        if self.rules.exhaustive:
            parts = subsets(x)
        else:
            parts = sorted_subsets(x, self.y[known], self.w[known], self.n_classes)
        met = _codes(x)
        return [Question(feature, "subset", np.nan, part, met - part) for part in parts]

    def is_present(self, feature: int) -> Question:
        if self.kinds[feature] != "categorical":
            return Question(feature, "threshold", np.inf)
        x = self.X[:, feature]
        return Question(feature, "subset", np.nan, _codes(x[~np.isnan(x)]))

    def charge(self, feature: int, before: float) -> float:
        """Return what divisions of the column's categories are charged; 0 if it has few or none."""
        if not self.charged[feature]:
            return 0.0
        x = self.X[:, feature]
        n_categories = len(_codes(x[~np.isnan(x)]))
        chance = self.chance(n_categories, len(x), before)
        return chance * float(self.w.sum()) / self.total

    def chance(self, n_categories: int, n_rows: int, before: float) -> float:
        """Return the part of a decrease attributed to chance, for the categories and rows of a node."""
        penalty, two_classes = self.rules.category_penalty, self.rules.two_classes
        chance = penalty * chance_gain(n_categories, n_rows, before)
        if self.n_classes == (2,) if two_classes is None else two_classes:
            alone = loner_gain(n_categories, n_rows, before)
            chance += max(min(penalty, 1.0) - penalty * 2 / np.pi, 0.0) * alone
        return chance


def gather(
    X: ArrayLike,
    y: ArrayLike,
    w: ArrayLike | None,
    rules: Rules,
    names: Iterable[str] | None = None,
    categories: Categories | None = None,
) -> Sample:
    """Check the data against the rules and fill in what the rules leave open."""
    if rules.criterion not in CRITERIA:
        raise ValueError(f"criterion must be one of {CRITERIA}, got {rules.criterion!r}")
    classes = rules.criterion in CLASS_CRITERIA
    X, y, words = read_words(X, y, names, categories)
    y = np.asarray(y, dtype=np.float64)
    w = np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)
    if not len(X) == len(y) == len(w) or not np.all(w >= 0) or not np.any(w > 0):
        shapes = f"X {X.shape}, y {y.shape} and w {w.shape}"
        raise ValueError(f"{shapes} need the same number of rows, weights ≥ 0 and one weight > 0")
    y = y.reshape(len(y), -1)
    if classes and not np.all((y >= 0) & (y == np.floor(y))):
        raise ValueError(
            f"{rules.criterion} needs class indices 0, 1, ...; encode the labels first"
        )
    y = y.astype(np.int64) if classes else y
    kinds = rules.kinds or tuple(
        "categorical" if known else "numeric" for known in words.categories or ((),) * X.shape[1]
    )
    signs = rules.monotonic_cst or (0,) * X.shape[1]
    if not len(kinds) == len(signs) == X.shape[1] or not set(kinds) <= set(KINDS):
        raise ValueError(f"kinds (of {KINDS}) and monotonic_cst need one entry per column of X")
    n_classes = _class_counts(y, rules.n_classes) if classes else None
    if any(signs) and (y.shape[1] > 1 or (n_classes and n_classes[0] > 2)):
        raise ValueError("monotonic_cst needs one number or two classes to predict; set it to None")
    if any(sign and kind == "categorical" for sign, kind in zip(signs, kinds)):
        raise ValueError("monotonic_cst must be 0 for a categorical column, which has no order")
    if rules.criterion == "poisson" and np.any(y < 0):
        raise ValueError("poisson needs y ≥ 0; use squared_error for negative numbers")
    charged = rules.charged or charged_columns(X[w > 0], kinds)
    return Sample(X, y, w, rules, kinds, signs, n_classes, float(w.sum()), charged, words=words)


def _class_counts(y: np.ndarray, given: int | tuple[int, ...] | None) -> tuple[int, ...]:
    if given is None:
        return tuple((y.max(axis=0) + 1).tolist())
    return given if isinstance(given, tuple) else (given,) * y.shape[1]


# ---------------------------------------------------------------------- missing values
def _used(sample: Sample, missing: np.ndarray) -> np.ndarray:
    """Return the rows that splits of a column are judged by: surrogates place the missing ones later."""
    return ~missing if sample.rules.surrogates else np.ones(len(missing), dtype=bool)


# ---------------------------------------------------------------------- refusals
def _verdict(sample: Sample, feature: int, left: np.ndarray, right: np.ndarray) -> str:
    rules, y, w = sample.rules, sample.y, sample.w
    if min(left.sum(), right.sum()) < rules.min_samples_leaf:
        return "min_samples_leaf"
    if min(w[left].sum(), w[right].sum()) < rules.min_weight_leaf:
        return "min_weight_leaf"
    if rules.criterion == "poisson" and not (y[left].any(axis=0) & y[right].any(axis=0)).all():
        return "poisson needs a positive sum on both sides"
    sign = sample.signs[feature]
    if sign:
        values = sample.number(left), sample.number(right)
        low, high = sample.bounds
        if sign * (values[0] - values[1]) > 0 or min(values) < low or max(values) > high:
            return "monotone constraint"
    return "admissible"


# ---------------------------------------------------------------------- many categories
def chance_gain(n_categories: int, n_rows: int, before: float) -> float:
    """Return the impurity decrease that categories which mean nothing bring by their order.

    The mean of a category of n/m rows misses that of the node by z sqrt(impurity m/n), z a standard
    normal. Put in order and cut in the middle, each side is off by E|z| = sqrt(2/π) of that, so m
    categories bring 2/π m/n of the impurity. Two of them have no order to choose: they are not counted.

    >>> round(chance_gain(12, 100, 1.0), 4)
    0.0637
    """
    return 2 / np.pi * max(n_categories - 2, 0) / n_rows * before


def loner_gain(n_categories: int, n_rows: int, before: float) -> float:
    """Return the impurity of the rows that are alone in their category, as far as the numbers show it.

    Such a row is its own mean: of two classes it gains all of its impurity, not 2/π of it. If m is more
    than half of n, at least 2m - n categories hold a single row. Charged in full, names of rows gain nothing.

    >>> loner_gain(12, 100, 1.0), loner_gain(75, 100, 1.0), loner_gain(100, 100, 1.0)
    (0.0, 0.5, 1.0)
    """
    return max(2 * n_categories - n_rows, 0) / n_rows * before


def charged_columns(X: np.ndarray, kinds: tuple[str, ...]) -> tuple[bool, ...]:
    """Return which columns of a training table are charged: those of more than four categories.

    By their order, up to four categories gain no more by chance than the best cut of a column of numbers
    does, and numbers are not charged.

    >>> X = np.array([[0, 0, 0.5], [1, 1, 1.5], [2, 2, 2.5], [3, 3, 3.5], [4, 3, 4.5]])
    >>> charged_columns(X, ("categorical", "categorical", "numeric"))
    (True, False, False)
    """
    return tuple(
        kind == "categorical" and len(_codes(x[~np.isnan(x)])) > UNCHARGED
        for x, kind in zip(X.T, kinds)
    )


def _codes(x: np.ndarray) -> frozenset[int]:
    return frozenset(np.unique(x).astype(int).tolist())
