"""CART as one would do it with paper and patience: write down every split, take the best, repeat.

    grow                     while a leaf is left that may be split:
      candidates, choose       every question with its gain; the best one (splits.py)
      T1, T2                   the rows that answer yes go left, the others right: two leaves again
    predict                  a row follows the answers to its leaf: C, the mean or the class shares

The algorithm as it is usually stated; comments in the code have its numbers:

    (1)      all rows of one class, or of one number: a leaf
    (2.1)    for every column j and every cut s: T1 = {x_j <= s}, T2 = {x_j > s}, and the impurity
             after the split, N_1/N·imp(T1) + N_2/N·imp(T2); of numbers it is about C1 and C2, the means
    (2.2.1)  the largest decrease exceeds e: split into T1 and T2, and go on with each
    (2.2.2)  else a leaf: the most frequent class, or the mean

One thing differs, as in programs: e = 0 lets a decrease of 0 pass (XOR needs it), and e is compared
with the decrease times the node's share of all rows.

Nothing here is fast; all of it is kept, so that every figure of a fitted tree can be looked up in
``node.candidates``. A first reading can end there. The rest of this file refines it: rows that miss
the value (`route`), stand-ins for a missing value (`surrogates`), answers kept within the bounds of
monotone constraints (`_bounded`, `_halves`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.impurities import CLASS_CRITERIA
from arboretum.textbook.questions import Question, cuts
from arboretum.textbook.splits import (
    DEFAULT,
    UNBOUNDED,
    Candidate,
    Rules,
    Sample,
    choose,
    gather,
    judge_all,
)
from arboretum.textbook.words import NO_WORDS, Categories, Words

__all__ = [
    "Surrogate",
    "TextbookNode",
    "grow",
    "predict",
    "predict_proba",
    "reason_to_stop",
    "route",
    "surrogates",
]

EPSILON = float(np.finfo(np.float64).eps)
TIE = 1e-12  # gains closer than this share of the node's impurity differ by rounding only


# ---------------------------------------------------------------------- growing
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
    words: Words = field(default=NO_WORDS, repr=False)

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


def grow(
    X: ArrayLike,
    y: ArrayLike,
    w: ArrayLike | None = None,
    rules: Rules = DEFAULT,
    *,
    names: Iterable[str] | None = None,
    categories: Categories | None = None,
) -> TextbookNode:
    """Grow a tree and return its root.

    Always the leaf with the largest gain is split next. The order matters only if
    ``max_leaf_nodes`` ends the growth early (best-first growth); otherwise every order gives the
    same tree. Rows of weight zero are left out.

    Parameters
    ----------
    X : rows of words and numbers, a dataframe, or an array
        None and NaN are missing. Columns of words are categories; in an array of numbers
        ``rules.kinds`` or ``categories`` marks the columns that hold codes 0, 1, ...
    y : array of shape (n,) or (n, n_outputs)
        Words, class indices or numbers.
    w : array of shape (n,), optional
        Row weights.
    rules : Rules
    names, categories : optional
        Of the columns and their codes, see `read_words`; ``table`` prints them.

    Examples
    --------
    >>> rows = [["sunny", 85], ["sunny", 80], ["rain", 70], ["rain", 68], ["rain", 85]]
    >>> tree = grow(rows, ["no", "no", "yes", "yes", "yes"], names=["outlook", "heat"])
    >>> predict(tree, [["rain", 85], ["sunny", None]]).tolist()
    ['yes', 'no']

    Numbers only:

    >>> tree = grow([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> tree.impurity, tree.chosen.threshold, tree.left.value.tolist(), tree.left.stop
    (0.5, 2.5, [[1.0, 0.0]], 'pure')
    """
    whole = gather(X, y, w, rules, names, categories)
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


def _leaf(whole: Sample, rows: np.ndarray, path: str, bounds: tuple[float, float]) -> TextbookNode:
    """Make a leaf and, unless a rule stops it, plan its split."""
    rules, value = (
        whole.rules,
        _bounded(whole.value(rows), bounds),
    )  # C1 or C2 of the parent's split
    weight, mixed = float(whole.w[rows].sum()), whole.impurity(rows)
    node = TextbookNode(
        path, rows, weight, value, mixed, bounds, rules.criterion, words=whole.words
    )
    node.stop = reason_to_stop(node, rules)
    if node.stop:
        return node
    sample = replace(whole, X=whole.X[rows], y=whole.y[rows], w=whole.w[rows], bounds=bounds)
    node.candidates = judge_all(sample)  # (2.1) every column, every cut
    best = choose(node.candidates, TIE * mixed * weight / whole.total)
    if best is None:
        node.stop = "no admissible split"
    elif best.gain + EPSILON < rules.min_impurity_decrease:
        node.stop = "min_impurity_decrease"  # (2.2.2)
    else:
        node.chosen = best  # (2.2.1)
        if rules.surrogates:
            node.surrogates = surrogates(
                sample.X, sample.w, best, whole.kinds, whole.signs, rules.surrogates
            )
    return node


def reason_to_stop(node: TextbookNode, rules: Rules) -> str:
    """Return the rule that makes a node a leaf before its splits are looked at; "" if none does."""
    n = len(node.rows)
    if rules.max_depth is not None and node.depth >= rules.max_depth:
        return "max_depth"
    if n < rules.min_samples_split:
        return "min_samples_split"
    if n < 2 * rules.min_samples_leaf:
        return "min_samples_leaf"
    if node.weight < 2 * rules.min_weight_leaf:
        return "min_weight_leaf"
    return "pure" if node.impurity <= EPSILON else ""  # (1)


def _split(whole: Sample, node: TextbookNode) -> list[TextbookNode]:
    """Carry out the planned split; a gain of zero is no obstacle (see XOR)."""
    split = node.chosen
    assert split is not None
    goes_left = route(split, node.surrogates, whole.X[node.rows])
    left, right = node.rows[goes_left], node.rows[~goes_left]  # T1, T2
    bounds = _halves(whole, node, left, right)
    node.left = _leaf(whole, left, node.path + "L", bounds[0])
    node.right = _leaf(whole, right, node.path + "R", bounds[1])
    return node.children


def _planned_gain(node: TextbookNode) -> float:
    # twelve digits: equally good leaves are split in the order they were made
    return float(f"{node.chosen.gain:.12g}") if node.chosen else -np.inf


# ---------------------------------------------------------------------- prediction
def predict_proba(tree: TextbookNode, X: ArrayLike) -> np.ndarray:
    """Return every row's leaf value: (n, n_values), or (n, n_outputs, n_values) if several.

    >>> tree = grow([[1.0], [2.0], [3.0]], [0, 1, 1], rules=Rules(max_depth=1))
    >>> predict_proba(tree, [[0.0], [9.0]]).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    X = tree.words.codes(X)
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
    """Return classes as ``y`` named them (ties to the smallest index) or numbers.

    There is one column per output if there are several.

    >>> tree = grow([[1.0], [2.0], [3.0]], [5.0, 7.0, 7.0], rules=Rules("squared_error"))
    >>> predict(tree, [[0.0], [9.0]]).tolist()
    [5.0, 7.0]
    """
    values = predict_proba(tree, X)
    if tree.criterion not in CLASS_CRITERIA:
        return values[..., 0]
    return tree.words.answers(values.argmax(axis=-1))


# ---------------------------------------------------------------------- missing values and surrogates
def route(split: Candidate, stand_ins: list[Surrogate], X: np.ndarray) -> np.ndarray:
    """Return which rows go left: asked the question, else a surrogate, else sent to a default side.

    The default is the side missing values took in training, or the heavier one if there were none.
    A category that the node has not seen goes there at once.

    >>> from arboretum.textbook.splits import candidates
    >>> split = choose(candidates([[1.0], [2.0], [3.0]], [0, 0, 1]))
    >>> route(split, [], np.array([[2.0], [9.0], [np.nan]])).tolist()
    [True, False, True]
    """
    x, default = X[:, split.feature], split.default == "left"
    left, open_ = np.where(split.no(x), False, split.yes(x) | default), np.isnan(x)
    for surrogate in stand_ins:
        value = X[:, surrogate.feature]
        yes, no = surrogate.yes(value), surrogate.no(value)
        if surrogate.reverse:
            yes, no = no, yes
        answered = open_ & ~np.isnan(value)
        left[answered] = np.where(no, False, yes | default)[answered]
        open_ &= ~answered
    return left


@dataclass(frozen=True, kw_only=True)
class Surrogate(Question):
    """A question that imitates a split; with ``reverse`` its yes goes right."""

    reverse: bool
    n_left: int  # rows it sends each way, among those that have both values
    n_right: int
    agreeing: float  # weight sent to the same side as the split sends it
    majority: float  # weight that agrees when every row is sent to the larger side
    agreement: float  # agreeing / weight of all rows whose split value is present
    words: Words = field(default=NO_WORDS, repr=False)


def surrogates(
    X: np.ndarray,
    w: np.ndarray,
    split: Candidate,
    kinds: tuple[str, ...],
    signs: tuple[int, ...] = (),
    keep: int = 5,
) -> list[Surrogate]:
    """Return the best stand-ins for a split, one per other column, best first.

    Agreement is counted over all rows whose split value is present; a row that misses the
    surrogate's value counts as a disagreement. A surrogate must send two rows each way and agree
    more than the majority rule, which sends every row to the larger side. A column under a monotone
    constraint (``signs``) never stands in: the sides of the split need not be in its order.

    Examples
    --------
    >>> from arboretum.textbook.splits import candidates
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
        if feature == split.feature or both.sum() < 4 or any(signs[feature : feature + 1]):
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
                    best = Surrogate(
                        *question.parts,
                        reverse=reverse,
                        n_left=ways[0],
                        n_right=ways[1],
                        agreeing=agreeing,
                        majority=majority,
                        agreement=share,
                        words=split.words,
                    )
        if best:
            table.append(best)
    return sorted(table, key=lambda s: (-round(s.agreement, 12), s.feature))[:keep]


def _imitations(
    feature: int, kind: str, x: np.ndarray, left: np.ndarray, w: np.ndarray
) -> list[Question]:
    if kind != "categorical":
        return cuts(feature, x, kind)
    # the best subset needs no search: each category joins the side most of its weight goes to
    codes, of_row = np.unique(x.astype(int), return_inverse=True)
    lean = np.bincount(of_row, weights=np.where(left, w, -w))
    left_side, right_side = (
        frozenset(codes[lean >= 0].tolist()),
        frozenset(codes[lean < 0].tolist()),
    )
    return [Question(feature, "subset", np.nan, left_side, right_side)]


# ---------------------------------------------------------------------- monotone constraints
def _bounded(value: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    """Return a node's answer, moved to the nearest one within the bounds."""
    if bounds != UNBOUNDED:
        value[0, -1] = np.clip(value[0, -1], *bounds)
        value[0, :-1] = 1 - value[0, -1]  # two classes: the other share; a number: nothing left
    return value


def _halves(
    whole: Sample, node: TextbookNode, left: np.ndarray, right: np.ndarray
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the bounds of the children: those of the node, divided at the middle of their answers."""
    assert node.chosen is not None
    sign, (low, high) = whole.signs[node.chosen.feature], node.bounds
    if not sign:
        return node.bounds, node.bounds
    # surrogates place rows that had no part in the verdict, so the answers may leave the bounds
    answers = [float(np.clip(whole.number(rows), low, high)) for rows in (left, right)]
    middle = sum(answers) / 2
    lower_half, upper_half = (low, middle), (middle, high)
    return (lower_half, upper_half) if sign > 0 else (upper_half, lower_half)
