"""XGBoost: trees grown on gradients and curvatures, cut back by γ, added up.

    boost_xgb          (1) scores F = base; then (2) every round
      derivatives       a g = ∂L/∂F and h = ∂²L/∂F² of every row (and class)
      grow_xgb          b one tree (per class) on g and h: the best split of every node, level by
                          level to ``max_depth`` (xgboost_splits.py), leaves b_j = -G_j/(H_j + λ)
      prune_xgb           from the bottom up, take back splits that gain less than γ
                        c F ← F + η · b_j
                       (3) the answer is the last F

γ does not stop the growth. A split of little gain stays if one below it pays, so pruning looks only
at nodes whose children are both leaves, and comes to their parent when it has made them one:

        gain 1                    gain 1                    γ = 4: both stay, though 1 < 4
        /    \\                    /    \\                    γ = 6: the lower one goes, then
    leaf    gain 5            leaf     leaf                        the upper one is looked at,
            /    \\                                                and goes too
         leaf    leaf

This is the program's exact method. Its histogram method refuses a split that gains less than γ up
front, and so never sees what is below.

The loss is a sum over rows of weight w, so g and h are multiplied by it:

    reg:squarederror      g = F - y                        h = 1
    binary:logistic       g = p - y,  p = 1/(1 + e^-F)     h = p(1 - p)
    multi:softprob        g = p_k - [y = k],  softmax      h = 2·p_k(1 - p_k)

The 2 is the program's. The curvatures of all classes are a matrix whose diagonal is p_k(1 - p_k); the
other entries of a row add up to as much, so twice the diagonal is no less than the whole matrix, and
the classes may take their steps at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.gbm_losses import sigmoid, softmax
from arboretum.textbook.xgboost_splits import (
    DEFAULT,
    XGBCandidate,
    XGBSettings,
    choose_split,
    leaf_value,
    similarity,
    split_candidates,
)

__all__ = [
    "OBJECTIVES",
    "TextbookXGB",
    "XGBNode",
    "XGBRound",
    "base_margin",
    "boost_xgb",
    "derivatives",
    "grow_by",
    "grow_xgb",
    "predict_margin_xgb",
    "predict_tree_xgb",
    "predict_xgb",
    "prune_xgb",
    "tree_text_xgb",
]

OBJECTIVES = ("reg:squarederror", "binary:logistic", "multi:softprob")
LEAST_CURVATURE = 1e-16  # the program's: where p is 0 or 1, there would be none


# ---------------------------------------------------------------------- one tree
@dataclass(frozen=True, eq=False)
class XGBNode:
    """A node and how it came about."""

    path: str  # the way from the root in L and R; the root's own is ""
    rows: np.ndarray = field(repr=False)
    G: float
    H: float  # the cover
    similarity: float
    value: float  # -soft(G, α)/(H + λ), before η
    stop: str = ""  # why the node is a leaf
    candidates: list[XGBCandidate] = field(default_factory=list, repr=False)
    chosen: XGBCandidate | None = field(default=None, repr=False)
    left: XGBNode | None = field(default=None, repr=False)
    right: XGBNode | None = field(default=None, repr=False)

    @property
    def children(self) -> list[XGBNode]:
        return [child for child in (self.left, self.right) if child is not None]

    @property
    def is_leaf(self) -> bool:
        return not self.children

    @property
    def depth(self) -> int:
        return len(self.path)

    def __iter__(self) -> Iterator[XGBNode]:
        """Visit the node and all below it, parents before children, left before right."""
        yield self
        for child in self.children:
            yield from child


def grow_xgb(
    X: ArrayLike,
    g: ArrayLike,
    h: ArrayLike,
    settings: XGBSettings = DEFAULT,
    categorical: Collection[int] = (),
) -> XGBNode:
    """Grow a tree on gradients and curvatures, prune it by γ, and return its root.

    The columns ``categorical`` hold categories (xgboost_categories.py).

    Examples
    --------
    >>> X, g = [[1.0], [2.0], [3.0], [4.0]], [-4.0, -2.0, 3.0, 3.0]
    >>> print(tree_text_xgb(grow_xgb(X, g, np.ones(4), XGBSettings(max_depth=2))))
    [x0 < 2.5] missing left, gain 24.000, cover 4
      leaf 2.000, cover 2 (no admissible split)
      leaf -2.000, cover 2 (no admissible split)
    """
    X, g, h = (np.asarray(a, dtype=np.float64) for a in (X, g, h))
    if X.ndim != 2 or not len(X) == len(g) == len(h):
        raise ValueError(
            f"X must be a table with a row per g and h, got {X.shape, g.shape, h.shape}"
        )
    sets = {f: np.unique(X[~np.isnan(X[:, f]), f]) for f in categorical}

    def look(path: str, rows: np.ndarray) -> list[XGBCandidate]:
        return split_candidates(X[rows], g[rows], h[rows], settings, sets)

    return grow_by(look, X, g, h, settings)


def grow_by(
    look: Callable[[str, np.ndarray], list[XGBCandidate]],
    X: np.ndarray,
    g: np.ndarray,
    h: np.ndarray,
    settings: XGBSettings = DEFAULT,
) -> XGBNode:
    """Grow and prune a tree whose nodes get their candidates from ``look(path, rows)``."""

    def below(path: str, rows: np.ndarray) -> XGBNode:
        # one branch after the other: no split depends on another branch, so the tree is that of
        # growing level by level
        G, H = float(g[rows].sum()), float(h[rows].sum())
        score, value = float(similarity(G, H, settings)), float(leaf_value(G, H, settings))
        node = XGBNode(path, rows, G, H, score, value)
        if node.depth >= settings.max_depth:
            return replace(node, stop="max_depth")
        table = look(path, rows)
        best = choose_split(table)
        if best is None:
            return replace(node, candidates=table, stop="no admissible split")
        goes_left = best.left(X[rows, best.feature])
        left, right = below(path + "L", rows[goes_left]), below(path + "R", rows[~goes_left])
        return replace(node, candidates=table, chosen=best, left=left, right=right)

    return prune_xgb(below("", np.arange(len(X))), settings.gamma)


def prune_xgb(node: XGBNode, gamma: float) -> XGBNode:
    """Return the tree without the splits of two leaves that gain less than γ, from the bottom up.

    >>> X, g = [[1.0], [2.0], [3.0], [4.0]], np.array([-4.0, 4.0, 4.0, -4.0])
    >>> full = grow_xgb(X, g, np.ones(4), XGBSettings(max_depth=2, reg_lambda=0))
    >>> [round(n.chosen.gain, 2) for n in full if n.chosen]
    [21.33, 42.67]
    >>> [sum(n.is_leaf for n in prune_xgb(full, gamma)) for gamma in (0, 40, 43)]
    [3, 3, 1]
    """
    if node.left is None or node.right is None or node.chosen is None:
        return node
    left, right = prune_xgb(node.left, gamma), prune_xgb(node.right, gamma)
    if left.is_leaf and right.is_leaf and node.chosen.gain < gamma:
        return replace(node, stop="gamma", chosen=None, left=None, right=None)
    return replace(node, left=left, right=right)


def predict_tree_xgb(tree: XGBNode, X: ArrayLike) -> np.ndarray:
    """Return the leaf value of every row, before η.

    >>> tree = grow_xgb([[1.0], [2.0], [np.nan]], [-4.0, 5.0, 6.0], np.ones(3))
    >>> predict_tree_xgb(tree, [[0.0], [9.0], [np.nan]]).round(3).tolist()
    [2.0, -3.667, -3.667]
    """
    X = np.asarray(X, dtype=np.float64)
    values = np.empty(len(X))
    waiting = [(tree, np.arange(len(X)))]
    while waiting:
        node, rows = waiting.pop()
        if node.left is None or node.right is None or node.chosen is None:
            values[rows] = node.value
            continue
        goes_left = node.chosen.left(X[rows, node.chosen.feature])
        waiting += [(node.left, rows[goes_left]), (node.right, rows[~goes_left])]
    return values


def tree_text_xgb(tree: XGBNode) -> str:
    """Return the tree as lines to read: questions with gain and cover, leaves with value and cover.

    >>> print(tree_text_xgb(grow_xgb([[1.0], [2.0]], [-3.0, 3.0], [1.0, 1.0])))
    [x0 < 1.5] missing left, gain 9.000, cover 2
      leaf 1.500, cover 1 (no admissible split)
      leaf -1.500, cover 1 (no admissible split)
    """
    lines = []
    for node in tree:
        cover = f"cover {node.H:.6g}"
        if node.chosen is None:
            text = f"leaf {node.value:.3f}, {cover} ({node.stop})"
        else:
            c = node.chosen
            text = f"[{c.question}] missing {c.default}, gain {c.gain:.3f}, {cover}"
        lines.append("  " * node.depth + text)
    return "\n".join(lines)


# ---------------------------------------------------------------------- losses
def _probability(F: np.ndarray, objective: str) -> np.ndarray:
    """Return what scores stand for: numbers, the probability of class 1, or of every class."""
    if objective == "reg:squarederror":
        return F
    if objective == "binary:logistic":
        return sigmoid(F)
    if objective == "multi:softprob":
        return softmax(F)
    raise ValueError(f"objective must be one of {', '.join(OBJECTIVES)}, got {objective!r}")


def derivatives(
    objective: str, y: ArrayLike, F: ArrayLike, w: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return g and h of every row, weighted; F has one column, or one per class for softprob.

    >>> g, h = derivatives("multi:softprob", [0], np.zeros((1, 3)))
    >>> g.round(3).tolist(), h.round(3).tolist()
    ([[-0.667, 0.333, 0.333]], [[0.444, 0.444, 0.444]])
    """
    y, F = np.asarray(y, dtype=np.float64)[:, None], np.asarray(F, dtype=np.float64)
    p = _probability(F, objective)
    if objective == "multi:softprob":
        g, h = p - (y == np.arange(F.shape[1])), 2 * p * (1 - p)
    elif objective == "binary:logistic":
        g, h = p - y, p * (1 - p)
    else:
        g, h = p - y, np.ones_like(p)
    weight = np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)
    return g * weight[:, None], np.maximum(h, LEAST_CURVATURE) * weight[:, None]


def base_margin(objective: str, y: ArrayLike, w: ArrayLike | None = None) -> np.ndarray:
    """Return the score to start from: the best constant, one per class for softprob.

    The mean; the log odds of class 1; the logarithms of the class shares, less their mean.

    >>> base_margin("reg:squarederror", [1.0, 2.0, 6.0]).tolist()
    [3.0]
    >>> base_margin("binary:logistic", [0, 0, 0, 1]).round(4).tolist()  # -ln 3
    [-1.0986]
    >>> softmax(base_margin("multi:softprob", [0, 1, 2, 2])).tolist()
    [0.25, 0.25, 0.5]
    """
    y = np.asarray(y, dtype=np.float64)
    weight = np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)
    if objective == "multi:softprob":
        shares = np.bincount(y.astype(np.int64), weight) / weight.sum()
        if not shares.all():
            raise ValueError(f"class {int(shares.argmin())} has no rows: classes are 0..K-1")
        return np.log(shares) - np.log(shares).mean()
    return _margin(objective, float(np.average(y, weights=weight)))


def _margin(objective: str, base_score: float, n_scores: int = 1) -> np.ndarray:
    """Return a base score, which is a number or a probability, as scores."""
    if objective == "binary:logistic":
        if not 0 < base_score < 1:
            raise ValueError(
                f"the base score of {objective} lies between 0 and 1, got {base_score}"
            )
        base_score = float(np.log(base_score / (1 - base_score)))
    return np.full(n_scores, base_score)


# ---------------------------------------------------------------------- boosting
@dataclass(frozen=True, eq=False)
class XGBRound:
    """One round: the derivatives at the scores before it, a tree per class, the scores after it."""

    g: np.ndarray = field(repr=False)  # (n, K), as h and scores; K = 1 but for softprob
    h: np.ndarray = field(repr=False)
    trees: tuple[XGBNode, ...]
    scores: np.ndarray = field(repr=False)


@dataclass(frozen=True, eq=False)
class TextbookXGB:
    """The sum of the base and of η times the trees of every round."""

    objective: str
    eta: float
    base: np.ndarray  # (K,)
    rounds: tuple[XGBRound, ...]


def boost_xgb(
    X: ArrayLike,
    y: ArrayLike,
    w: ArrayLike | None = None,
    objective: str = "reg:squarederror",
    n_rounds: int = 10,
    eta: float = 0.3,
    base_score: float | None = None,
    settings: XGBSettings = DEFAULT,
) -> TextbookXGB:
    """Boost: every round's trees are grown where the scores stand, and move them by η.

    Parameters
    ----------
    y : numbers, classes 0 and 1, or classes 0..K-1
    w : row weights
    base_score : float, optional
        The first answer to all rows, before the link: a number, a probability, or (softprob) the
        score of every class, which makes no difference there. Without it, ``base_margin``.

    Examples
    --------
    >>> rules = XGBSettings(max_depth=1, reg_lambda=0)
    >>> model = boost_xgb([[1.0], [2.0], [3.0]], [88, 76, 56], n_rounds=1, eta=0.1, settings=rules)
    >>> model.base.round(2).tolist(), model.rounds[0].scores[:, 0].round(1).tolist()
    ([73.33], [74.2, 74.2, 71.6])
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    base = base_margin(objective, y, w)
    if base_score is not None:
        base = _margin(objective, base_score, len(base))
    scores, rounds = np.tile(base, (len(X), 1)), []  # (1)
    for _ in range(n_rounds):  # (2)
        g, h = derivatives(objective, y, scores, w)  # (2a)
        trees = tuple(grow_xgb(X, *gh, settings) for gh in zip(g.T, h.T))  # (2b)
        moves = np.column_stack([predict_tree_xgb(tree, X) for tree in trees])
        scores = scores + eta * moves  # (2c)
        rounds.append(XGBRound(g, h, trees, scores))
    return TextbookXGB(objective, eta, base, tuple(rounds))


def predict_margin_xgb(model: TextbookXGB, X: ArrayLike) -> np.ndarray:
    """Return the scores F, one column (per class).

    >>> model = boost_xgb([[1.0], [2.0]], [3.0, 5.0], n_rounds=1, eta=1.0)
    >>> predict_margin_xgb(model, [[0.0], [9.0]]).tolist()
    [[3.5], [4.5]]
    """
    X = np.asarray(X, dtype=np.float64)
    scores = np.tile(model.base, (len(X), 1))
    for one in model.rounds:
        scores += model.eta * np.column_stack([predict_tree_xgb(tree, X) for tree in one.trees])
    return scores


def predict_xgb(model: TextbookXGB, X: ArrayLike) -> np.ndarray:
    """Return numbers, probabilities of class 1, or a row of class probabilities per row.

    >>> model = boost_xgb([[1.0], [2.0]], [0, 1], objective="binary:logistic",
    ...                   n_rounds=1, settings=XGBSettings(min_child_weight=0))
    >>> predict_xgb(model, [[0.0], [9.0]]).round(3).tolist()
    [0.47, 0.53]
    """
    p = _probability(predict_margin_xgb(model, X), model.objective)
    return p if model.objective == "multi:softprob" else p[:, 0]
