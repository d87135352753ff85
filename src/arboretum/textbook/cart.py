"""CART as one would do it with paper and patience: write down every split, take the best, repeat.

    grow                     while a leaf is left that may be split:
      candidates               every question about every column, each with its gain and a verdict
      choose                   the admissible one with the largest gain
      surrogates               (optional) stand-ins for rows that miss the value asked for
      route                    the rows go left or right, and the two children are leaves again

A question is ``x <= threshold`` (numeric, ordinal) or ``x in left_categories`` (categorical); yes
goes left. NaN is missing: a split is tried with the missing rows on either side, and "is a value
present?" (``threshold = +inf``) is a question of its own. Nothing here is fast; all of it is kept,
so that every figure of a fitted tree can be looked up in ``node.candidates``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.impurity import (
    CLASS_CRITERIA,
    CRITERIA,
    best_value,
    impurity,
    impurity_decrease,
)

KINDS = ("numeric", "ordinal", "categorical")
MOST_CATEGORIES = 20  # an exhaustive search beyond would list more than half a million subsets
EPSILON = float(np.finfo(np.float64).eps)
TIE = 1e-12  # gains closer than this share of the node's impurity differ by rounding only
UNBOUNDED = (-np.inf, np.inf)


# ---------------------------------------------------------------------- what is asked
@dataclass(frozen=True)
class Rules:
    """How to grow: the criterion, the kinds of the columns, and what a split must respect."""

    criterion: str = "gini"  # one of impurity.CRITERIA
    n_classes: int | tuple[int, ...] | None = None  # (per output); found from y by default
    kinds: tuple[str, ...] | None = None  # of every column; all "numeric" by default
    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_split: int = 2  # rows
    min_samples_leaf: int = 1  # rows
    min_weight_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    monotonic_cst: tuple[int, ...] | None = None  # per column: +1 may only rise, -1 only fall, or 0
    exhaustive: bool = True  # categories: try every subset, or scan them sorted by mean target
    surrogates: int = 0  # how many to keep per node; 0 learns a side for missing values instead


DEFAULT = Rules()


@dataclass(frozen=True)
class Question:
    """A question about one column; a row that answers yes goes left."""

    feature: int
    kind: str  # "threshold": x <= threshold; "subset": x in left_categories
    threshold: float  # NaN for a subset; +inf asks whether a value is present
    left_categories: frozenset[int]

    def yes(self, x: np.ndarray) -> np.ndarray:
        """Return which of the column's values answer yes; a missing one never does."""
        if self.kind == "subset":
            return np.isin(x, sorted(self.left_categories))
        return x <= self.threshold

    @property
    def parts(self) -> tuple[int, str, float, frozenset[int]]:
        return self.feature, self.kind, self.threshold, self.left_categories

    @property
    def order(self) -> tuple:
        """Sorts equally good questions: column, then threshold or subset; "present?" comes last."""
        threshold = -np.inf if self.kind == "subset" else self.threshold
        return (self.feature, threshold, sorted(self.left_categories))


@dataclass(frozen=True, eq=False)
class Candidate(Question):
    """One way to split a node, with all the figures it is judged by."""

    missing_goes: str | None  # "left", "right"; None: no side was learned
    left: np.ndarray = field(repr=False)  # the node's rows that go left
    n_left: int
    n_right: int
    weight_left: float
    weight_right: float
    impurity_left: float
    impurity_right: float
    gain: float  # weighted impurity decrease, a share of the whole tree's weight
    verdict: str  # "admissible", or the rule that refuses it

    @property
    def larger(self) -> str:
        """The side with more weight, left on a tie: where a row goes that nothing else decides."""
        return "left" if self.weight_left >= self.weight_right else "right"


@dataclass(frozen=True)
class Surrogate(Question):
    """A question that imitates a split; with ``reverse`` its yes goes right."""

    reverse: bool
    n_left: int  # rows it sends each way, among those that have both values
    n_right: int
    agreeing: float  # weight sent to the same side as the split sends it
    majority: float  # weight that agrees when every row is sent to the larger side
    agreement: float  # agreeing / weight of all rows whose split value is present


@dataclass(eq=False)
class TextbookNode:
    """A node and how it came about."""

    path: str  # the way from the root in L and R; the root's own is ""
    rows: np.ndarray = field(repr=False)
    weight: float
    value: np.ndarray  # (n_outputs, n_values): class shares or numbers
    impurity: float
    bounds: tuple[float, float] = field(repr=False)  # of the value, from monotone constraints
    criterion: str = field(repr=False)
    stop: str = ""  # why the node is a leaf
    candidates: list[Candidate] = field(default_factory=list, repr=False)
    chosen: Candidate | None = field(default=None, repr=False)
    surrogates: list[Surrogate] = field(default_factory=list, repr=False)
    left: TextbookNode | None = field(default=None, repr=False)
    right: TextbookNode | None = field(default=None, repr=False)

    @property
    def children(self) -> list[TextbookNode]:
        return [child for child in (self.left, self.right) if child is not None]

    @property
    def is_leaf(self) -> bool:
        return not self.children

    @property
    def depth(self) -> int:
        return len(self.path)

    def __iter__(self) -> Iterator[TextbookNode]:
        """Visit the node and all below it, parents before children, left before right."""
        yield self
        for child in self.children:
            yield from child


# ---------------------------------------------------------------------- all the questions
def cut_points(x: np.ndarray, kind: str) -> list[float]:
    """Return the thresholds between the distinct values of a column without missing values.

    >>> cut_points(np.array([3.0, 1.0, 1.0, 4.0]), "numeric")
    [2.0, 3.5]
    >>> cut_points(np.array([3.0, 1.0, 1.0, 4.0]), "ordinal")
    [1.0, 3.0]
    """
    values = np.unique(x)
    below, above = values[:-1], values[1:]
    if kind == "ordinal":
        return below.tolist()  # every rank but the last
    middle = below / 2 + above / 2  # halves first: the sum of two large numbers overflows
    return np.where(middle >= above, below, middle).tolist()


def _cuts(feature: int, x: np.ndarray, kind: str) -> list[Question]:
    return [Question(feature, "threshold", t, frozenset()) for t in cut_points(x, kind)]


def subsets(x: np.ndarray) -> list[frozenset[int]]:
    """Return all 2^(m-1) - 1 ways to part the m categories present, by their left side.

    A part and its complement are the same split, so the left side is the one with the lowest code.

    >>> [sorted(left) for left in subsets(np.array([0.0, 1.0, 2.0]))]
    [[0], [0, 1], [0, 2]]
    """
    codes = np.unique(x).astype(int).tolist()
    if len(codes) > MOST_CATEGORIES:
        raise ValueError(f"{len(codes)} categories have too many subsets: use exhaustive=False")
    first, rest = codes[:1], codes[1:]
    parts = [first + list(more) for r in range(len(rest)) for more in combinations(rest, r)]
    return [frozenset(part) for part in sorted(parts)]


def sorted_subsets(
    x: np.ndarray, y: np.ndarray, w: np.ndarray, n_classes: tuple[int, ...] | None
) -> list[frozenset[int]]:
    """Return the subsets met by a scan over the categories sorted by mean target.

    For two classes and for squared error the best subset is among these m - 1. Otherwise it is a
    heuristic: sort by the share of each class (by each target) in turn and pool all the scans.

    >>> x, y = np.array([0.0, 1.0, 2.0]), np.array([[5.0], [9.0], [7.0]])
    >>> [sorted(left) for left in sorted_subsets(x, y, np.ones(3), None)]
    [[0], [0, 2]]
    """
    if n_classes is None:
        targets = list(y.T)
    else:
        targets = [y[:, j] == k for j, size in enumerate(n_classes) for k in range(size)]
    codes, of_row = np.unique(x.astype(int), return_inverse=True)
    weight = np.bincount(of_row, weights=w)
    found = set()
    for target in targets:
        means = np.bincount(of_row, weights=w * target) / weight
        ranked = codes[np.argsort(means, kind="stable")].tolist()
        for size in range(1, len(codes)):
            part = frozenset(ranked[:size])
            found.add(part if codes[0] in part else frozenset(ranked) - part)
    return sorted(found, key=sorted)


# ---------------------------------------------------------------------- the candidates of a node
@dataclass(frozen=True)
class _Sample:
    """The rows of a node and what its splits must respect."""

    X: np.ndarray
    y: np.ndarray  # (n, n_outputs)
    w: np.ndarray
    rules: Rules
    kinds: tuple[str, ...]
    signs: tuple[int, ...]  # monotone constraints
    n_classes: tuple[int, ...] | None  # per output; None for numbers
    total: float  # weight of the whole tree
    bounds: tuple[float, float] = UNBOUNDED

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
            return _cuts(feature, x, self.kinds[feature])
        if self.rules.exhaustive:
            parts = subsets(x)
        else:
            parts = sorted_subsets(x, self.y[known], self.w[known], self.n_classes)
        return [Question(feature, "subset", np.nan, part) for part in parts]


def _sample(X: ArrayLike, y: ArrayLike, w: ArrayLike | None, rules: Rules) -> _Sample:
    """Check the data against the rules and fill in what the rules leave open."""
    if rules.criterion not in CRITERIA:
        raise ValueError(f"criterion must be one of {CRITERIA}, got {rules.criterion!r}")
    classes = rules.criterion in CLASS_CRITERIA
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    w = np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)
    if X.ndim != 2 or not len(X) == len(y) == len(w) or not np.all(w >= 0) or not np.any(w > 0):
        shapes = f"X {X.shape}, y {y.shape} and w {w.shape}"
        raise ValueError(f"{shapes} need the same number of rows, weights ≥ 0 and one weight > 0")
    y = y.reshape(len(y), -1)
    if classes and not np.all((y >= 0) & (y == np.floor(y))):
        raise ValueError(
            f"{rules.criterion} needs class indices 0, 1, ...; encode the labels first"
        )
    y = y.astype(np.int64) if classes else y
    kinds = rules.kinds or ("numeric",) * X.shape[1]
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
    return _Sample(X, y, w, rules, kinds, signs, n_classes, float(w.sum()))


def _class_counts(y: np.ndarray, given: int | tuple[int, ...] | None) -> tuple[int, ...]:
    if given is None:
        return tuple((y.max(axis=0) + 1).tolist())
    return given if isinstance(given, tuple) else (given,) * y.shape[1]


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
        Weight of the whole tree, of which the gains are shares; the node's own by default.
    bounds : (float, float)
        Between which monotone constraints further up keep the answers.

    Examples
    --------
    >>> for c in candidates([[1.0], [2.0], [3.0]], [0, 0, 1]):
    ...     print(c.threshold, c.n_left, c.n_right, round(c.gain, 3), c.verdict)
    1.5 1 2 0.111 admissible
    2.5 2 1 0.444 admissible
    """
    sample = _sample(X, y, w, rules)
    if not np.all(sample.w > 0):
        raise ValueError("rows of weight 0 take no part in a split; leave them out")
    return _candidates(replace(sample, total=total or sample.total, bounds=bounds))


def _candidates(sample: _Sample) -> list[Candidate]:
    table = []
    for feature in range(sample.X.shape[1]):
        missing = np.isnan(sample.X[:, feature])
        sides: tuple[str | None, ...] = ("right", "left")
        used = np.ones(len(missing), dtype=bool)
        if not missing.any():
            sides = (None,)
        elif sample.rules.surrogates:  # they will place the missing rows; judge without those
            sides, used = (None,), ~missing
        before = sample.impurity(used) if used.any() else 0.0
        for question in sample.questions(feature):
            table += [_judge(sample, question, side, used, before) for side in sides]
        if len(sides) == 2 and not missing.all():
            present = Question(feature, "threshold", np.inf, frozenset())
            table.append(_judge(sample, present, "right", used, before))
    return table


def _judge(
    sample: _Sample, question: Question, side: str | None, used: np.ndarray, before: float
) -> Candidate:
    x = sample.X[:, question.feature]
    left = question.yes(x)
    if side == "left":
        left |= np.isnan(x)
    right = used & ~left
    weights = float(sample.w[left].sum()), float(sample.w[right].sum())
    after = sample.impurity(left), sample.impurity(right)
    return Candidate(
        *question.parts,
        missing_goes=side,
        left=left,
        n_left=int(left.sum()),
        n_right=int(right.sum()),
        weight_left=weights[0],
        weight_right=weights[1],
        impurity_left=after[0],
        impurity_right=after[1],
        gain=impurity_decrease(sample.total, weights, before, *after),
        verdict=_verdict(sample, question.feature, left, right),
    )


def _verdict(sample: _Sample, feature: int, left: np.ndarray, right: np.ndarray) -> str:
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


def choose(table: list[Candidate], tolerance: float = 0.0) -> Candidate | None:
    """Return the admissible candidate with the largest gain.

    Gains that differ by at most ``tolerance`` are a tie: the lowest column wins, then the lowest
    threshold or the subset that sorts first, then missing values to the right.

    >>> choose(candidates([[1.0], [2.0], [3.0]], [0, 0, 1])).threshold
    2.5
    """
    admissible = [c for c in table if c.verdict == "admissible"]
    if not admissible:
        return None
    bar = max(c.gain for c in admissible) - tolerance
    best = [c for c in admissible if c.gain >= bar]
    return min(best, key=lambda c: (*c.order, c.missing_goes == "left"))


# ---------------------------------------------------------------------- surrogates
def surrogates(
    X: np.ndarray, w: np.ndarray, split: Candidate, kinds: tuple[str, ...], keep: int = 5
) -> list[Surrogate]:
    """Return the best stand-ins for a split, one per other column, best first.

    Agreement is counted over all rows whose split value is present; a row that misses the
    surrogate's value counts as a disagreement. A surrogate must send two rows each way and agree
    more than the majority rule, which sends every row to the larger side.

    Examples
    --------
    >>> X = np.array([[1, 9], [2, 8], [3, 7], [6, 3], [7, 2], [8, 1], [9, 4.]])
    >>> split = candidates(X, [0, 0, 0, 1, 1, 1, 1])[2]
    >>> [s] = surrogates(X, np.ones(7), split, ("numeric", "numeric"))
    >>> s.feature, s.threshold, s.reverse, s.agreement
    (1, 5.5, True, 1.0)
    """
    known = ~np.isnan(X[:, split.feature])
    weight = float(w[known].sum())
    majority = max(float(w[known & split.left].sum()), float(w[known & ~split.left].sum()))
    table = []
    for feature, kind in enumerate(kinds):
        both = known & ~np.isnan(X[:, feature])
        if feature == split.feature or both.sum() < 4:
            continue
        best: Surrogate | None = None
        x, left, w_both = X[both, feature], split.left[both], w[both]
        for question in _imitations(feature, kind, x, left, w_both):
            for reverse in (False, True):
                says = question.yes(x) != reverse
                agreeing = float(w_both[says == left].sum())
                ways = int(says.sum()), int((~says).sum())
                bar = (best.agreeing if best else majority) + TIE * weight
                if min(ways) >= 2 and agreeing > bar:
                    share = agreeing / weight
                    best = Surrogate(*question.parts, reverse, *ways, agreeing, majority, share)
        if best:
            table.append(best)
    return sorted(table, key=lambda s: (-round(s.agreement, 12), s.feature))[:keep]


def _imitations(
    feature: int, kind: str, x: np.ndarray, left: np.ndarray, w: np.ndarray
) -> list[Question]:
    if kind != "categorical":
        return _cuts(feature, x, kind)
    # the best subset needs no search: each category joins the side most of its weight goes to
    codes, of_row = np.unique(x.astype(int), return_inverse=True)
    lean = np.bincount(of_row, weights=np.where(left, w, -w))
    chosen = frozenset(codes[lean >= 0].tolist())
    return [Question(feature, "subset", np.nan, chosen)]


def route(split: Candidate, stand_ins: list[Surrogate], X: np.ndarray) -> np.ndarray:
    """Return which rows go left: asked the question, else a surrogate, else sent to a default side.

    A category the node never saw is not in the left set, so it goes right.

    >>> split = choose(candidates([[1.0], [2.0], [3.0]], [0, 0, 1]))
    >>> route(split, [], np.array([[2.0], [9.0], [np.nan]])).tolist()
    [True, False, True]
    """
    x = X[:, split.feature]
    left, open_ = split.yes(x), np.isnan(x)
    for surrogate in stand_ins:
        value = X[:, surrogate.feature]
        answered = open_ & ~np.isnan(value)
        left[answered] = (surrogate.yes(value) != surrogate.reverse)[answered]
        open_ &= ~answered
    left[open_] = (split.missing_goes or split.larger) == "left"
    return left


# ---------------------------------------------------------------------- growing
def grow(
    X: ArrayLike, y: ArrayLike, w: ArrayLike | None = None, rules: Rules = DEFAULT
) -> TextbookNode:
    """Grow a tree and return its root.

    Always the leaf with the largest gain is split next. The order matters only if
    ``max_leaf_nodes`` ends the growth early (best-first growth); otherwise every order gives the
    same tree. Rows of weight zero are left out.

    Examples
    --------
    >>> tree = grow([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> tree.impurity, tree.chosen.threshold, tree.left.value.tolist(), tree.left.stop
    (0.5, 2.5, [[1.0, 0.0]], 'pure')
    """
    whole = _sample(X, y, w, rules)
    root = _leaf(whole, np.flatnonzero(whole.w > 0), "", UNBOUNDED)
    open_leaves, n_leaves = [root], 1
    while open_leaves := [node for node in open_leaves if node.chosen]:
        if n_leaves == rules.max_leaf_nodes:
            break
        node = max(open_leaves, key=_planned_gain)
        open_leaves.remove(node)
        open_leaves += _split(whole, node)
        n_leaves += 1
    for node in open_leaves:
        node.stop, node.chosen, node.surrogates = "max_leaf_nodes", None, []
    return root


def _planned_gain(node: TextbookNode) -> float:
    # twelve digits: equally good leaves are split in the order they were made
    return float(f"{node.chosen.gain:.12g}") if node.chosen else -np.inf


def _leaf(whole: _Sample, rows: np.ndarray, path: str, bounds: tuple[float, float]) -> TextbookNode:
    """Make a leaf and, unless a rule stops it, plan its split."""
    rules, value = whole.rules, whole.value(rows)
    if bounds != UNBOUNDED:
        value[0, -1] = np.clip(value[0, -1], *bounds)
        value[0, :-1] = 1 - value[0, -1]  # two classes: the other share; a number: nothing left
    weight, mixed = float(whole.w[rows].sum()), whole.impurity(rows)
    node = TextbookNode(path, rows, weight, value, mixed, bounds, rules.criterion)
    node.stop = _reason_to_stop(node, rules)
    if node.stop:
        return node
    sample = replace(whole, X=whole.X[rows], y=whole.y[rows], w=whole.w[rows], bounds=bounds)
    node.candidates = _candidates(sample)
    best = choose(node.candidates, TIE * mixed * weight / whole.total)
    if best is None:
        node.stop = "no admissible split"
    elif best.gain + EPSILON < rules.min_impurity_decrease:
        node.stop = "min_impurity_decrease"
    else:
        node.chosen = best
        if rules.surrogates:
            node.surrogates = surrogates(sample.X, sample.w, best, whole.kinds, rules.surrogates)
    return node


def _reason_to_stop(node: TextbookNode, rules: Rules) -> str:
    n = len(node.rows)
    if rules.max_depth is not None and node.depth >= rules.max_depth:
        return "max_depth"
    if n < rules.min_samples_split:
        return "min_samples_split"
    if n < 2 * rules.min_samples_leaf:
        return "min_samples_leaf"
    if node.weight < 2 * rules.min_weight_leaf:
        return "min_weight_leaf"
    return "pure" if node.impurity <= EPSILON else ""


def _split(whole: _Sample, node: TextbookNode) -> list[TextbookNode]:
    """Carry out the planned split; a gain of zero is no obstacle (see XOR)."""
    split, (low, high) = node.chosen, node.bounds
    assert split is not None
    goes_left = route(split, node.surrogates, whole.X[node.rows])
    left, right = node.rows[goes_left], node.rows[~goes_left]
    sign = whole.signs[split.feature]
    middle = (whole.number(left) + whole.number(right)) / 2 if sign else 0.0
    lower_half, upper_half = (low, middle), (middle, high)
    bounds = {0: (node.bounds,) * 2, 1: (lower_half, upper_half), -1: (upper_half, lower_half)}
    node.left = _leaf(whole, left, node.path + "L", bounds[sign][0])
    node.right = _leaf(whole, right, node.path + "R", bounds[sign][1])
    return node.children


# ---------------------------------------------------------------------- prediction
def predict_proba(tree: TextbookNode, X: ArrayLike) -> np.ndarray:
    """Return every row's leaf value: (n, n_values), or (n, n_outputs, n_values) if several.

    >>> tree = grow([[1.0], [2.0], [3.0]], [0, 1, 1], rules=Rules(max_depth=1))
    >>> predict_proba(tree, [[0.0], [9.0]]).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    X = np.asarray(X, dtype=np.float64)
    values = np.empty((len(X), *tree.value.shape))
    waiting = [(tree, np.arange(len(X)))]
    while waiting:
        node, rows = waiting.pop()
        if node.left is None or node.right is None or node.chosen is None:
            values[rows] = node.value
            continue
        goes_left = route(node.chosen, node.surrogates, X[rows])
        waiting += [(node.left, rows[goes_left]), (node.right, rows[~goes_left])]
    return values[:, 0] if values.shape[1] == 1 else values


def predict(tree: TextbookNode, X: ArrayLike) -> np.ndarray:
    """Return class indices (ties to the smallest) or numbers, one column per output if several.

    >>> tree = grow([[1.0], [2.0], [3.0]], [5.0, 7.0, 7.0], rules=Rules("squared_error"))
    >>> predict(tree, [[0.0], [9.0]]).tolist()
    [5.0, 7.0]
    """
    values = predict_proba(tree, X)
    return values.argmax(axis=-1) if tree.criterion in CLASS_CRITERIA else values[..., 0]
