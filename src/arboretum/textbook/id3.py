"""ID3: split on the attribute with most information about the class, one branch per value, and repeat.

    grow_id3                        until the node is pure or no attribute is worth a split:
      H(D), H(D|A), g(D, A)           the entropy, what is left of it, the gain (impurities.py)
      candidates                      every attribute with its gain and a verdict
      {D_v}                           the rows of each value v go on, the attribute is used up

                      outlook?                       the tree of the play-tennis rows
            sunny /   overcast |   \\ rain
          humidity?         yes         wind?
      high /   \\ normal        weak /   \\ strong
        no       yes               yes       no

The algorithm as it is usually stated, for rows D, attributes A and a threshold e; comments in the
code have its numbers:

    (1)      all of D in one class: a leaf of that class
    (2.1)    A is empty: a leaf of the most frequent class
    (2.2)    else the gain g(D, a) of every a in A; let the largest be g_a
    (2.2.1)  g_a > e: split D by the values of a, and go on with each D_i and A - {a}
    (2.2.2)  g_a <= e: a leaf of the most frequent class
    (3)      done when nothing is left to split

Attributes are categories: words, or codes 0, 1, ... (words.py). A missing value counts as one more
value. Only values that occur at a node have a branch; a row with another value gets the node's own answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.impurities import InformationGain, class_weights, information_gain
from arboretum.textbook.words import NO_WORDS, Categories, Words, read_words

__all__ = [
    "TIE",
    "Cases",
    "ID3Candidate",
    "ID3Node",
    "first_largest",
    "gather_cases",
    "grow_id3",
    "id3_candidates",
    "last_largest",
    "majority",
    "predict_id3",
    "predict_proba_id3",
]

TIE = 1e-9  # figures closer than this differ by rounding only


# ---------------------------------------------------------------------- the cases
@dataclass(frozen=True, eq=False)
class Cases:
    """Rows with their classes and weights; ``n_values`` holds the number of values of each column."""

    X: np.ndarray
    y: np.ndarray
    w: np.ndarray
    n_values: tuple[int, ...]  # per column: 0 for numbers, else how many categories there are
    n_classes: int
    words: Words = NO_WORDS

    def at(self, rows: np.ndarray, w: np.ndarray) -> Cases:
        """Return some of the rows, with weights of their own."""
        return replace(self, X=self.X[rows], y=self.y[rows], w=w)

    @property
    def counts(self) -> np.ndarray:
        """The weight of every class."""
        return class_weights(self.y, self.w, self.n_classes)


def gather_cases(
    X: ArrayLike,
    y: ArrayLike,
    w: ArrayLike | None,
    n_values: ArrayLike | None,
    n_classes: int | None = None,
    names: Iterable[str] | None = None,
    categories: Categories | None = None,
) -> Cases:
    """Check the data, fill in what is left open, and leave out the rows of weight zero."""
    X, y, words = read_words(X, y, names, categories)
    codes = np.asarray(y, dtype=np.float64)
    w = np.ones(len(codes)) if w is None else np.asarray(w, dtype=np.float64)
    if not len(X) == len(codes) == len(w) or not (np.all(w >= 0) and np.any(w > 0)):
        shapes = f"X {X.shape}, y {codes.shape} and w {w.shape}"
        raise ValueError(f"{shapes} need the same number of rows, weights ≥ 0 and one weight > 0")
    if codes.ndim != 1 or not np.all((codes >= 0) & (codes == np.floor(codes))):
        raise ValueError("y needs class indices 0, 1, ...; encode the labels first")
    sizes = np.zeros(X.shape[1]) if n_values is None else np.asarray(n_values)
    if sizes.shape != (X.shape[1],) or np.any(sizes < 0):
        raise ValueError(f"n_values needs one number ≥ 0 per column of X, got {n_values!r}")
    if words.categories:
        sizes = np.maximum(sizes, [len(known) for known in words.categories])
    for column, size in enumerate(sizes):
        known = X[~np.isnan(X[:, column]), column]
        if size and not np.all((known >= 0) & (known < size) & (known == np.floor(known))):
            raise ValueError(f"column {column} needs category codes 0 to {int(size) - 1}, or NaN")
    n_met = int(codes.max()) + 1
    n_classes = n_met if n_classes is None else n_classes
    if n_met > n_classes:
        raise ValueError(f"y has class {n_met - 1}, but there are only {n_classes} classes")
    used = w > 0
    kinds = tuple(int(size) for size in sizes)
    return Cases(X[used], codes[used].astype(np.int64), w[used], kinds, n_classes, words)


def majority(counts: np.ndarray, own: int | None = None) -> int:
    """Return the heaviest class; of equals ``own`` if it is one of them, else the first.

    >>> majority(np.array([1.0, 3.0, 3.0])), majority(np.array([1.0, 3.0, 3.0]), own=2)
    (1, 2)
    """
    heaviest = np.flatnonzero(counts >= counts.max() - TIE * counts.sum())
    return int(own if own is not None and own in heaviest else heaviest[0])


def first_largest(values: ArrayLike) -> int:
    """Return the place of the largest value, the first of those that differ by rounding only.

    >>> first_largest([0.1, 0.1 + 0.2, 0.3])
    1
    """
    values = np.asarray(values, dtype=np.float64)
    return int(np.argmax(values >= values.max() - TIE))


def last_largest(values: ArrayLike) -> int:
    """Return the place of the largest value, the last of those that differ by rounding only."""
    return len(np.asarray(values)) - 1 - first_largest(np.asarray(values)[::-1])


# ---------------------------------------------------------------------- candidates
@dataclass(frozen=True)
class ID3Candidate:
    """One attribute of a node and the information of a split on it."""

    feature: int
    figures: InformationGain  # H(D), and the share and entropy of every branch
    verdict: str = ""  # "chosen", or why not
    words: Words = field(default=NO_WORDS, repr=False)

    @property
    def gain(self) -> float:
        """g(D, A) = H(D) - H(D|A)."""
        return self.figures.gain


def id3_candidates(
    cases: Cases, features: list[int], epsilon: float = 0.0
) -> tuple[list[ID3Candidate], int | None]:
    """Return the table of the unused attributes, and which of them to split on (None: none pays).

    The largest gain wins, the first column of equals, if it is more than ``epsilon``.

    >>> cases = gather_cases([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 1], None, [2, 2])
    >>> table, feature = id3_candidates(cases, [0, 1])
    >>> [(c.gain, c.verdict) for c in table], feature
    ([(1.0, 'chosen'), (0.0, 'smaller gain')], 0)
    """
    table = []
    for f in features:  # (2.2) the gain of every attribute
        figures = information_gain(cases.y, _values(cases.X, f, cases.n_values), cases.w)
        table.append(ID3Candidate(f, figures, words=cases.words))
    if not table:
        return [], None
    best = first_largest([c.gain for c in table])
    pays = table[best].gain > epsilon + TIE  # g_a > e
    most = max(c.gain for c in table) - TIE
    lost = ["smaller gain" if c.gain < most else "same gain, later column" for c in table]
    verdicts = lost if pays else ["gain not above epsilon"] * len(table)
    verdicts[best] = "chosen" if pays else verdicts[best]
    table = [replace(c, verdict=verdict) for c, verdict in zip(table, verdicts)]
    return table, table[best].feature if pays else None


def _values(X: np.ndarray, feature: int, n_values: tuple[int, ...]) -> np.ndarray:
    """Return the codes of a column; missing is one more value."""
    x = X[:, feature]
    return np.where(np.isnan(x), n_values[feature], x).astype(np.int64)


# ---------------------------------------------------------------------- growing
@dataclass(eq=False)
class ID3Node:
    """A node and how it came about."""

    path: tuple[int, ...]  # the values on the way from the root
    rows: np.ndarray = field(repr=False)  # of the cases with a weight above zero
    counts: np.ndarray  # the weight of every class
    n_values: tuple[int, ...] = field(repr=False)
    stop: str = ""  # why the node is a leaf
    candidates: list[ID3Candidate] = field(default_factory=list, repr=False)
    feature: int | None = None  # the attribute of the split
    children: dict[int, ID3Node] = field(default_factory=dict, repr=False)  # by value
    words: Words = field(default=NO_WORDS, repr=False)

    @property
    def is_leaf(self) -> bool:
        return not self.children

    @property
    def shares(self) -> np.ndarray:
        """p_k, the answer of the node as a leaf."""
        return self.counts / self.counts.sum()

    def __iter__(self) -> Iterator[ID3Node]:
        """Visit the node and all below it, parents before children, in the order of the values."""
        yield self
        for child in self.children.values():
            yield from child


def grow_id3(
    X: ArrayLike,
    y: ArrayLike,
    w: ArrayLike | None = None,
    n_values: ArrayLike | None = None,
    *,
    epsilon: float = 0.0,
    max_depth: int | None = None,
    min_samples: int = 2,
    names: Iterable[str] | None = None,
    categories: Categories | None = None,
) -> ID3Node:
    """Grow an ID3 tree and return its root.

    Parameters
    ----------
    X : rows of words, a dataframe, or an array of codes
        None and NaN are missing; codes are 0, 1, ...
    y : array of shape (n,)
        Words, or class indices 0, 1, ...
    w : array of shape (n,), optional
        Row weights; 1 each by default. A row of weight 2 is two rows.
    n_values : sequence of int, optional
        How many categories every column of codes has.
    epsilon : float
        A node is left alone unless its best gain is larger, in bits.
    max_depth : int, optional
        How many questions a path may have.
    min_samples : int
        A node of fewer rows is left alone, whatever they weigh; rows of weight 0 do not count.
    names, categories : optional
        Of the columns and their codes, see `read_words`; ``table`` prints them.

    Examples
    --------
    >>> rows = [["sunny", "weak"], ["sunny", "strong"], ["rain", "weak"], ["rain", "strong"]]
    >>> tree = grow_id3(rows, ["no", "no", "yes", "no"], names=["outlook", "wind"])
    >>> predict_id3(tree, [["rain", "weak"], ["fog", "weak"]]).tolist()
    ['yes', 'no']

    The same with codes:

    >>> tree = grow_id3([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1], n_values=[2, 2])
    >>> tree.feature, {value: child.stop or child.feature for value, child in tree.children.items()}
    (0, {0: 'pure', 1: 1})
    """
    cases = gather_cases(X, y, w, n_values, None, names, categories)
    numeric = [column for column, size in enumerate(cases.n_values) if size == 0]
    if numeric:
        raise ValueError(
            f"ID3 takes categories only, and columns {[cases.words.name(f) for f in numeric]} are"
            " numbers: cut them into bins (discretize.py), or grow C4.5 or CART; if they are codes,"
            " say how many there are (n_values)"
        )

    def leaf(rows: np.ndarray, path: tuple[int, ...]) -> ID3Node:
        counts = class_weights(cases.y[rows], cases.w[rows], cases.n_classes)
        return ID3Node(path, rows, counts, cases.n_values, words=cases.words)

    root = leaf(np.arange(len(cases.y)), ())
    waiting = [(root, list(range(cases.X.shape[1])))]
    while waiting:  # (3) until nothing is left to split
        node, features = waiting.pop()
        few = int(np.count_nonzero(cases.w[node.rows])) < min_samples
        node.stop = _reason_to_stop(node, features, max_depth, few)
        if node.stop:
            continue
        here = cases.at(node.rows, cases.w[node.rows])
        node.candidates, node.feature = id3_candidates(here, features, epsilon)
        if node.feature is None:
            node.stop = "no gain above epsilon"  # (2.2.2)
            continue
        # (2.2.1) a branch for every value
        codes = _values(here.X, node.feature, cases.n_values)
        for value in np.unique(codes).tolist():
            node.children[value] = leaf(node.rows[codes == value], (*node.path, value))
        left_to_ask = [f for f in features if f != node.feature]  # A - {a}
        waiting += [(child, left_to_ask) for child in node.children.values()]
    return root


def _reason_to_stop(
    node: ID3Node, features: list[int], max_depth: int | None, few_rows: bool
) -> str:
    weight = node.counts.sum()
    if weight - node.counts.max() <= TIE * weight:
        return "pure"  # (1)
    if not features:
        return "no attribute left"  # (2.1)
    if max_depth is not None and len(node.path) >= max_depth:
        return "max_depth"
    return "min_samples" if few_rows else ""


# ---------------------------------------------------------------------- prediction
def predict_proba_id3(tree: ID3Node, X: ArrayLike) -> np.ndarray:
    """Return the class shares of every row's last node, of shape (n, n_classes).

    A row stops early if its value did not occur; the node reached so far predicts.

    >>> tree = grow_id3([[0], [0], [1]], [0, 0, 1], n_values=[3])
    >>> predict_proba_id3(tree, [[0], [1], [2]]).round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.667, 0.333]]
    """
    X = tree.words.codes(X)
    shares = np.empty((len(X), len(tree.counts)))
    waiting = [(tree, np.arange(len(X)))]
    while waiting:
        node, rows = waiting.pop()
        shares[rows] = node.shares
        if node.feature is None:
            continue
        codes = _values(X[rows], node.feature, tree.n_values)
        waiting += [(child, rows[codes == value]) for value, child in node.children.items()]
    return shares


def predict_id3(tree: ID3Node, X: ArrayLike) -> np.ndarray:
    """Return the class of every row as ``y`` named it, ties to the smallest index.

    >>> tree = grow_id3([[0], [0], [1]], [0, 0, 1], n_values=[3])
    >>> predict_id3(tree, [[0], [1], [2]]).tolist()
    [0, 1, 0]
    """
    return tree.words.answers(predict_proba_id3(tree, X).argmax(axis=1))
