"""C4.5: ID3 with numbers, missing values, and a fairer measure of what a test is worth.

    grow_c45                 until a node is pure, too light, or no test competes:
      c45_candidates           the best test of every attribute, and the best of these (c45_splits.py)
      spread                   rows that miss the value go down every branch, a fraction in each

A case is a row with a weight. One whose outlook is missing continues as three fractional cases:

                           outlook?        14 cases, 13 of them known
              sunny 5/13 /   | 3/13   \\ rain 5/13
                      5.4   3.2   5.4      the weights below: 5 + 5/13, 3 + 3/13, 5 + 5/13

The steps are those of ID3 (id3.py) with the gain ratio in place of the gain: (1) one class, (2.1) no
attribute left, (2.2) the ratio of every attribute, (2.2.1) split if the largest exceeds e, (2.2.2) else
a leaf. Comments in the code have these numbers.

Collapsing and pruning come after, in c45_pruning.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.c45_splits import (
    DEFAULT,
    C45Candidate,
    C45Settings,
    C45Test,
    c45_candidates,
)
from arboretum.textbook.id3 import TIE, Cases, gather_cases, majority
from arboretum.textbook.words import Categories

__all__ = ["C45Node", "grow_c45", "predict_c45", "predict_proba_c45", "spread"]


# ---------------------------------------------------------------------- growing
@dataclass(eq=False)
class C45Node:
    """A node and how it came about."""

    path: tuple[int, ...]  # the branches taken from the root
    cases: Cases = field(repr=False)  # all of the training
    rows: np.ndarray = field(repr=False)  # those of them that are here,
    w: np.ndarray = field(repr=False)  # each with the fraction of its weight that is here
    counts: np.ndarray  # the weight of every class
    majority: int  # of an empty leaf: its parent's
    stop: str = ""  # why the node is a leaf
    candidates: list[C45Candidate] = field(default_factory=list, repr=False)
    average_gain: float = field(default=np.nan, repr=False)  # the gate
    test: C45Test | None = None
    shares: np.ndarray = field(default_factory=lambda: np.empty(0), repr=False)  # N_v / N_known
    children: list[C45Node] = field(default_factory=list, repr=False)

    @property
    def is_leaf(self) -> bool:
        return not self.children

    @property
    def weight(self) -> float:
        return float(self.counts.sum())

    @property
    def errors(self) -> float:
        """The cases that a leaf here gets wrong, N - n_majority."""
        return self.weight - float(self.counts[self.majority])

    def __iter__(self) -> Iterator[C45Node]:
        """Visit the node and all below it, parents before children, in the order of the branches."""
        yield self
        for child in self.children:
            yield from child


def spread(
    test: C45Test, x: np.ndarray, rows: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """Return the shares N_v/N_known of the branches, and the rows and weights each receives.

    A row that misses the value goes down every branch, with its weight times the branch's share.

    >>> test = C45Test(0, threshold=2.0)
    >>> shares, parts = spread(test, np.array([1, 2, 3, np.nan]), np.arange(4), np.ones(4))
    >>> [(rows.tolist(), weights.round(2).tolist()) for rows, weights in parts]
    [([0, 1, 3], [1.0, 1.0, 0.67]), ([2, 3], [1.0, 0.33])]
    """
    branch = test.branches(x)
    missing = branch < 0
    known = np.bincount(branch[~missing], weights=w[~missing], minlength=test.n_branches)
    shares = known / known.sum()
    parts = []
    for v, share in enumerate(shares):
        here = (branch == v) | (missing & (share > 0))
        parts.append((rows[here], np.where(missing, w * share, w)[here]))
    return shares, parts


def grow_c45(
    X: ArrayLike,
    y: ArrayLike,
    w: ArrayLike | None = None,
    n_values: ArrayLike | None = None,
    settings: C45Settings = DEFAULT,
    n_classes: int | None = None,
    *,
    names: Iterable[str] | None = None,
    categories: Categories | None = None,
) -> C45Node:
    """Grow a C4.5 tree, not yet collapsed or pruned (see c45_pruning.py), and return its root.

    Parameters
    ----------
    X : rows of words and numbers, a dataframe, or an array
        None and NaN are missing; an array has numbers and category codes 0, 1, ...
    y : array of shape (n,)
        Words, or class indices 0, 1, ...
    w : array of shape (n,), optional
        Row weights; 1 each by default. A row of weight 2 is two rows.
    n_values : sequence of int, optional
        How many categories every column of codes has, 0 for numbers (the default).
    settings : C45Settings
    n_classes : int, optional
        Found from ``y`` by default.
    names, categories : optional
        Of the columns and their codes, see `read_words`; ``table`` prints them.

    Examples
    --------
    >>> rows = [["sunny", 85], ["sunny", 80], ["rain", 70], ["rain", 68], ["rain", 85]]
    >>> tree = grow_c45(rows, ["no", "no", "yes", "yes", "yes"], names=["outlook", "heat"])
    >>> predict_c45(tree, [["rain", 85], ["sunny", None], [None, 85]]).tolist()
    ['yes', 'no', 'yes']

    The same with codes:

    >>> X = [[0, 5], [0, 6], [1, 5], [1, 8], [1, 9], [0, 8]]
    >>> tree = grow_c45(X, [0, 0, 0, 1, 1, 1], n_values=[2, 0])
    >>> tree.test.feature, tree.test.threshold, [leaf.stop for leaf in tree.children]
    (1, 6.0, ['pure', 'pure'])
    """
    if settings.criterion not in ("gain_ratio", "gain"):
        raise ValueError(f"criterion must be 'gain_ratio' or 'gain', got {settings.criterion!r}")
    if not settings.min_cases > 0:
        raise ValueError(f"min_cases must be above 0, got {settings.min_cases}")
    whole = gather_cases(X, y, w, n_values, n_classes, names, categories)
    counts = whole.counts
    root = C45Node((), whole, np.arange(len(whole.y)), whole.w, counts, majority(counts))
    waiting: list[tuple[C45Node, frozenset[int]]] = [(root, frozenset())]
    while waiting:
        node, used = waiting.pop()
        node.stop = _reason_to_stop(node, settings)
        if node.stop:
            continue
        here = whole.at(node.rows, node.w)
        # (2.2) the ratio of every attribute, and the largest
        node.candidates, node.average_gain, node.test = c45_candidates(here, whole, settings, used)
        if node.test is None:
            node.stop = "no test competes"  # (2.1), (2.2.2)
            continue
        _split(node)  # (2.2.1)
        used = used | {node.test.feature} if node.test.multiway else used  # A - {a}
        waiting += [(child, used) for child in node.children]
    return root


def _reason_to_stop(node: C45Node, settings: C45Settings) -> str:
    if node.weight == 0:
        return "empty"
    if node.errors <= TIE * node.weight:
        return "pure"  # (1)
    if node.weight < 2 * settings.min_cases - TIE:
        return "fewer than twice min_cases"
    deep = settings.max_depth is not None and len(node.path) >= settings.max_depth
    return "max_depth" if deep else ""


def _split(node: C45Node) -> None:
    assert node.test is not None
    x = node.cases.X[node.rows, node.test.feature]
    node.shares, parts = spread(node.test, x, node.rows, node.w)
    for v, (rows, w) in enumerate(parts):
        counts = node.cases.at(rows, w).counts
        answer = majority(counts) if len(rows) else node.majority
        node.children.append(C45Node((*node.path, v), node.cases, rows, w, counts, answer))


# ---------------------------------------------------------------------- prediction
def predict_proba_c45(tree: C45Node, X: ArrayLike, laplace: bool = False) -> np.ndarray:
    """Return the class distribution of every row, of shape (n, n_classes).

    A row that lacks the tested value, or has an unknown category, goes down every branch
    with the branch's share; the leaves it reaches answer in these proportions. An empty leaf
    answers as its parent would. ``laplace`` adds one case to every class of a leaf.

    >>> tree = grow_c45([[1], [2], [3], [4], [5]], [0, 0, 0, 1, 1])
    >>> predict_proba_c45(tree, [[2.0], [9.0], [np.nan]]).round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.6, 0.4]]
    """
    X = tree.cases.words.codes(X)
    answer = np.zeros((len(X), len(tree.counts)))
    waiting = [(tree, tree.counts, np.arange(len(X)), np.ones(len(X)))]
    while waiting:
        node, inherited, rows, fraction = waiting.pop()
        counts = node.counts if node.weight > 0 else inherited
        if node.test is None:
            counts = counts + float(laplace)
            answer[rows] += fraction[:, None] * (counts / counts.sum())
            continue
        branch = node.test.branches(X[rows, node.test.feature])
        for v, child in enumerate(node.children):
            part = np.where(branch < 0, fraction * node.shares[v], fraction)
            here = ((branch == v) | (branch < 0)) & (part > 0)
            waiting.append((child, counts, rows[here], part[here]))
    return answer


def predict_c45(tree: C45Node, X: ArrayLike) -> np.ndarray:
    """Return the class of every row as ``y`` named it, ties to the smallest index.

    >>> tree = grow_c45([[1], [2], [3], [4], [5]], [0, 0, 0, 1, 1])
    >>> predict_c45(tree, [[2.0], [9.0], [np.nan]]).tolist()
    [0, 1, 0]
    """
    return tree.cases.words.answers(predict_proba_c45(tree, X).argmax(axis=1))
