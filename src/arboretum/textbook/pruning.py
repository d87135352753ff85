"""Cost-complexity pruning: grow too large a tree, then cut its weakest links one after another.

    R(t)     risk of node t as a leaf: its impurity times its share of the total weight
    R(T_t)   risk of the branch below t: the sum of R over its leaves, |T_t| of them
    R_α(T)   tree score R(T) + α|T|: a leaf costs α, so it has to earn its keep
    g(t)     (R(t) - R(T_t)) / (|T_t| - 1): the α at which the branch stops paying for its leaves

The node with the smallest g is the weakest link. Cutting it again and again gives a path of smaller
and smaller trees; tree T_k has the best score for every α from α_k up to α_{k+1}:

    α       0 ──────── α_1 ──────── α_2 ──────── α_3 ─────── ∞
    tree       T_0          T_1          T_2         the root alone

**SSR and the factor N.** Lectures on regression trees score a tree by the sum of its squared
residuals, SSR + α·|T|, without dividing by anything. Here, as in programs, R is a mean: with N the
weight of all rows, the impurity of leaf j is SSR_j/N_j, so

    R(T) = Σ_j N_j/N · SSR_j/N_j = SSR(T)/N          SSR + α|T| = N · (R(T) + α/N · |T|)

Both scores order trees alike if the α of the lecture is divided by N: `prune` takes α/N where a
lecture says α. Gini and entropy are means, too: N·R counts impure rows, R is their share.

The choice of α in three steps, whose numbers stand in `choose_alpha`:

    step 1   all the data: the full tree (α = 0), and the path of smaller trees with their α
    step 2   K folds: trees of the other folds, pruned at every α; the α of least mean error
    step 3   the tree of step 1 that belongs to this α

Which α is right is a question for data the tree has not seen: cross-validation tries one α inside
each interval, √(α_k α_{k+1}), and the tree of all the data is pruned at the winner.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.cart import TextbookNode, grow, predict
from arboretum.textbook.impurities import CLASS_CRITERIA
from arboretum.textbook.splits import DEFAULT, Rules

__all__ = [
    "AlphaChoice",
    "AlphaFigures",
    "Link",
    "PruningStep",
    "choose_alpha",
    "links",
    "prune",
    "pruning_path",
    "risk",
    "ssr",
    "tree_score",
]


# ---------------------------------------------------------------------- the score of a tree
def tree_score(risk: float, alpha: float, n_leaves: int) -> float:
    """Return R_α(T) = R(T) + α|T|.

    >>> tree_score(543.8, 10000, 4)
    40543.8
    """
    return risk + alpha * n_leaves


def leaves(tree: TextbookNode) -> list[TextbookNode]:
    """Return the leaves, left to right.

    >>> [leaf.path for leaf in leaves(grow([[1.0], [2.0], [3.0]], [0, 1, 2]))]
    ['L', 'RL', 'RR']
    """
    return [node for node in tree if node.is_leaf]


def risk(tree: TextbookNode) -> float:
    """Return R(T), the weighted mean impurity of the leaves.

    >>> tree = grow([[1.0], [2.0], [3.0]], [0, 1, 1])
    >>> risk(tree)
    0.0
    """
    return sum(_leaf_risk(leaf, tree.weight) for leaf in leaves(tree))


def ssr(tree: TextbookNode) -> float:
    """Return N·R(T), for squared error the sum of squared residuals of the leaves.

    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [10.0, 12.0, 30.0, 38.0]
    >>> tree = grow(X, y, rules=Rules("squared_error", max_depth=1))
    >>> ssr(tree), risk(tree)  # (10 - 11)² + (12 - 11)² + (30 - 34)² + (38 - 34)², and a quarter of it
    (34.0, 8.5)

    By SSR + α·leaves the stump pays for its second leaf up to some α; `prune` agrees at α/N:

    >>> root = ssr(prune(tree, np.inf))  # of the root alone
    >>> alpha = root - ssr(tree)  # then both score the same
    >>> tree_score(ssr(tree), alpha, 2) == tree_score(root, alpha, 1)
    True
    >>> [len(leaves(prune(tree, a / tree.weight))) for a in (0.99 * alpha, 1.01 * alpha)]
    [2, 1]
    """
    return risk(tree) * tree.weight


def _leaf_risk(node: TextbookNode, total: float) -> float:
    return node.impurity * node.weight / total


# ---------------------------------------------------------------------- weakest links
@dataclass(frozen=True)
class Link:
    """What an inner node's branch costs and earns."""

    path: str  # the node, by its way from the root
    as_leaf: float  # R(t)
    as_branch: float  # R(T_t)
    n_leaves: int  # |T_t|

    @property
    def g(self) -> float:
        """(R(t) - R(T_t)) / (|T_t| - 1)."""
        return (self.as_leaf - self.as_branch) / (self.n_leaves - 1)


@dataclass(frozen=True)
class PruningStep:
    """One tree T_k of the path, and the cut that led to it."""

    alpha: float  # α_k
    n_leaves: int  # |T_k|
    risk: float  # R(T_k)
    cut: str | None  # path of the node made a leaf; None for the full tree
    leaves_removed: int
    links: tuple[Link, ...] = field(repr=False)  # of the tree before the cut: all the g(t)


def links(tree: TextbookNode) -> tuple[Link, ...]:
    """Return the figures of every inner node, parents before children, left before right.

    >>> tree = grow([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> links(tree)
    (Link(path='', as_leaf=0.5, as_branch=0.0, n_leaves=2),)
    """
    below: dict[str, tuple[float, int]] = {}  # R(T_t) and |T_t| of every node
    for node in reversed(list(tree)):  # children before parents
        parts = [below[child.path] for child in node.children]
        if node.is_leaf:
            parts = [(_leaf_risk(node, tree.weight), 1)]
        below[node.path] = sum(r for r, _ in parts), sum(n for _, n in parts)
    return tuple(
        Link(node.path, _leaf_risk(node, tree.weight), *below[node.path])
        for node in tree
        if not node.is_leaf
    )


def pruning_path(tree: TextbookNode) -> list[PruningStep]:
    """Return the path from the full tree to its root, one cut per step.

    Ties are cut one by one, the node nearest to the root first, so an α may appear twice.

    Examples
    --------
    >>> tree = grow([[1.0], [2.0], [3.0], [4.0]], [1, 1, 5, 7], rules=Rules("squared_error"))
    >>> for step in pruning_path(tree):
    ...     print(step.alpha, step.n_leaves, step.risk, repr(step.cut))
    0.0 3 0.0 None
    0.5 2 0.5 'R'
    6.25 1 6.75 ''
    """
    return _weakest_links(tree, np.inf)[1]


def prune(tree: TextbookNode, alpha: float) -> TextbookNode:
    """Return the smallest subtree with the best score R_α; the tree itself is left as it is.

    >>> tree = grow([[1.0], [2.0], [3.0], [4.0]], [1, 1, 5, 7], rules=Rules("squared_error"))
    >>> [len(leaves(prune(tree, alpha))) for alpha in (0, 0.4, 0.5, 6, 7)]
    [3, 3, 2, 2, 1]
    """
    return _weakest_links(tree, alpha)[0]


def _weakest_links(tree: TextbookNode, limit: float) -> tuple[TextbookNode, list[PruningStep]]:
    """Cut weakest links while their g is at most ``limit``."""
    tree = _copy(tree)
    alpha, n_leaves = 0.0, len(leaves(tree))
    steps = [PruningStep(alpha, n_leaves, risk(tree), None, 0, ())]
    while table := links(tree):
        weakest = min(table, key=lambda link: link.g)
        if weakest.g > limit:
            break
        alpha = max(alpha, weakest.g)  # α never falls; rounding must not say otherwise
        node = _find(tree, weakest.path)
        node.left = node.right = node.chosen = None
        node.surrogates, node.stop = [], "pruned"
        removed = weakest.n_leaves - 1
        n_leaves -= removed
        steps.append(PruningStep(alpha, n_leaves, risk(tree), weakest.path, removed, table))
    return tree, steps


def _copy(node: TextbookNode) -> TextbookNode:
    if node.left is None or node.right is None:
        return replace(node)
    return replace(node, left=_copy(node.left), right=_copy(node.right))


def _find(tree: TextbookNode, path: str) -> TextbookNode:
    return next(node for node in tree if node.path == path)


# ---------------------------------------------------------------------- which α?
@dataclass(frozen=True)
class AlphaFigures:
    """How one α did in the cross-validation."""

    start: float  # α_k, from which T_k is the best tree
    alpha: float  # √(α_k α_{k+1}), tried on the folds; ∞ for the root alone
    n_leaves: int  # |T_k|, of the tree of all the data
    fold_errors: tuple[float, ...] = field(repr=False)

    @property
    def mean_error(self) -> float:
        return float(np.mean(self.fold_errors))

    @property
    def standard_error(self) -> float:
        """Of the mean: the standard deviation of the fold errors over √K."""
        return float(np.std(self.fold_errors, ddof=1) / np.sqrt(len(self.fold_errors)))


@dataclass(frozen=True, eq=False)
class AlphaChoice:
    """The chosen α, the tree it leaves, and the table it was chosen from."""

    alpha: float
    tree: TextbookNode
    table: list[AlphaFigures]


def choose_alpha(
    X: ArrayLike,
    y: ArrayLike,
    w: ArrayLike | None = None,
    rules: Rules = DEFAULT,
    folds: int | ArrayLike = 5,
    rule: str = "min",
) -> AlphaChoice:
    """Grow a tree on all the data and prune it at the α that cross-validation prefers.

    The error is the share of wrong classes, the mean absolute error for absolute_error and the mean
    squared error for the other numbers: weighted within a fold, averaged over targets and folds.

    Parameters
    ----------
    X, y, w, rules
        As for ``grow``.
    folds : int or array of shape (n,)
        The number of folds (rows are dealt out at random, always the same way), or the fold of
        every row.
    rule : {"min", "1se"}
        The α with the smallest mean error; or the largest α whose mean error is within one standard
        error of it. Among equals the largest α, the smallest tree, wins.

    Examples
    --------
    >>> x = np.arange(20.0)
    >>> noise = np.where(np.arange(20) % 3 == 0, 1.0, -1.0)
    >>> y = 10 * (x > 9) + noise
    >>> choice = choose_alpha(x[:, None], y, rules=Rules("squared_error"), rule="1se")
    >>> len(leaves(choice.tree)), choice.tree.chosen.threshold
    (2, 9.5)
    """
    if rule not in ("min", "1se"):
        raise ValueError(f"rule must be 'min' or '1se', got {rule!r}")
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    w = np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)
    if rules.criterion in CLASS_CRITERIA and rules.n_classes is None:
        tops = y.reshape(len(y), -1).max(axis=0)  # a fold may lack the last class
        rules = replace(rules, n_classes=tuple(int(top) + 1 for top in tops))
    # step 1: the full tree, and the α of its path
    tree = grow(X, y, w, rules)
    grid = _grid(pruning_path(tree))
    alphas = [alpha for _, alpha, _ in grid]
    fold_of = _fold_of(len(y), folds)
    errors: list[list[float]] = []
    for fold in np.unique(fold_of):  # step 2: every α on every fold
        out = fold_of == fold
        errors.append([])
        pruned = grow(X[~out], y[~out], w[~out], rules)
        for alpha in alphas:  # they rise and the trees are nested, so each prunes the one before
            pruned = prune(pruned, alpha)
            errors[-1].append(_error(pruned, X[out], y[out], w[out]))
    table = [AlphaFigures(*row, tuple(column)) for row, column in zip(grid, zip(*errors))]
    alpha = _select(table, rule).alpha
    # step 3: the tree of step 1 at this α
    return AlphaChoice(alpha, prune(tree, alpha), table)


def _grid(path: list[PruningStep]) -> list[tuple[float, float, int]]:
    """Return (α_k, √(α_k α_{k+1}), |T_k|) for every distinct α_k."""
    last = {step.alpha: step for step in path}  # of equal α the last and smallest tree stays
    steps = list(last.values())
    ends = [step.alpha for step in steps[1:]]
    middles = [float(np.sqrt(step.alpha * end)) for step, end in zip(steps, ends)]
    return [(s.alpha, middle, s.n_leaves) for s, middle in zip(steps, [*middles, np.inf])]


def _select(table: list[AlphaFigures], rule: str) -> AlphaFigures:
    best = min(reversed(table), key=lambda row: row.mean_error)
    if rule == "min":
        return best
    bar = best.mean_error + best.standard_error
    return max((row for row in table if row.mean_error <= bar), key=lambda row: row.alpha)


def _error(tree: TextbookNode, X: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    guess = predict(tree, X)
    if tree.criterion in CLASS_CRITERIA:
        loss = guess != y
    elif tree.criterion == "absolute_error":
        loss = np.abs(guess - y)
    else:
        loss = (guess - y) ** 2
    return float(np.average(loss.reshape(len(y), -1).mean(axis=1), weights=w))


def _fold_of(n: int, folds: int | ArrayLike) -> np.ndarray:
    if isinstance(folds, int):
        if not 2 <= folds <= n:
            raise ValueError(f"folds must lie between 2 and the {n} rows, got {folds}")
        return np.random.default_rng(0).permutation(n) % folds
    fold_of = np.asarray(folds)
    if fold_of.shape != (n,) or len(np.unique(fold_of)) < 2:
        raise ValueError(f"folds must name the fold of each of the {n} rows, at least two of them")
    return fold_of
