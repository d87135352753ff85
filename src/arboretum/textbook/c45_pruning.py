"""Further reading: cutting a C4.5 tree back by what it would get wrong on new cases.

    collapse_c45          a branch that is right no more often than a leaf goes: no estimate needed
    prune_c45             error-based: compares pessimistic errors, e + extra_errors(N, e), of

                              the branch           a leaf           its largest child, raised
                                  A                                          B'
                                /   \\                *                     /   \\
                               B     *                                    *     *
                              / \\
                             *   *                             (tested on all cases of A)

    prune_reduced_error   compares the errors on cases that were held out of the growing

All go from the leaves to the root, return a new tree and leave the old one as it is, together with
the figures of every decision.

A leaf that gets e of N training cases wrong will do worse on new ones. C4.5 takes e as a draw from
a binomial distribution: up to which rate U of errors are e or fewer wrong still as likely
as the confidence CF? The leaf is held to N·U. For e = 0 that is (1 - U)^N = CF, U = 1 - CF^(1/N).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.c45 import C45Node, spread
from arboretum.textbook.c45_splits import EPS
from arboretum.textbook.id3 import TIE, gather_cases, last_largest, majority

__all__ = [
    "LIMITS",
    "Decision",
    "collapse_c45",
    "estimated_errors",
    "extra_errors",
    "normal_deviate",
    "prune_c45",
    "prune_reduced_error",
    "upper_limit",
]

LIMITS = ("quinlan", "weka", "binomial")
MARGIN = 0.1  # of errors: the simpler tree may be this much worse
CONFIDENCES = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
DEVIATES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)


# ---------------------------------------------------------------------- pessimistic errors
def upper_limit(n: float, e: float, confidence: float = 0.25, limit: str = "quinlan") -> float:
    """Return U_CF(e, N), the pessimistic rate of errors of a leaf with e wrong of N.

    >>> [round(upper_limit(n, 0), 3) for n in (6, 9, 1)]
    [0.206, 0.143, 0.75]
    >>> [round(upper_limit(16, 1, limit=limit), 3) for limit in LIMITS]
    [0.157, 0.155, 0.16]
    """
    return (e + extra_errors(n, e, confidence, limit)) / n


def extra_errors(n: float, e: float, confidence: float = 0.25, limit: str = "quinlan") -> float:
    """Return N·U - e, what to add to the e errors of a leaf with N cases; both may be fractions.

    Parameters
    ----------
    n, e : float
        N and e. An empty leaf has nothing to add.
    confidence : float
        CF, above 0 and up to 0.5. Less is more pessimistic, and prunes more.
    limit : {"quinlan", "weka", "binomial"}
        ``"binomial"`` is the exact (Clopper-Pearson) limit. The other two are exact for e = 0, go
        straight from there to e = 1, and from there on use the normal distribution as Wilson's
        interval does, half a case added to e. ``"quinlan"`` is the formula of release 8, its
        deviate z read from a table of nine; ``"weka"`` has the exact z, and takes all the cases of
        a leaf for wrong (instead of 0.67 of the right ones) where the half case is too much.

    Examples
    --------
    >>> round(6 * upper_limit(6, 0) + 9 * upper_limit(9, 0) + upper_limit(1, 0), 3)
    3.273
    """
    if limit not in LIMITS:
        raise ValueError(f"limit must be one of {', '.join(LIMITS)}, got {limit!r}")
    if not 0 < confidence <= 0.5:
        raise ValueError(f"confidence must be above 0 and at most 0.5, got {confidence}")
    if n <= 0:
        return 0.0
    if limit == "binomial":
        return float(n * _beta_quantile(max(e, 0.0) + 1, n - max(e, 0.0), 1 - confidence) - e)
    none_wrong = n * (1 - confidence ** (1 / n))
    if e < 1e-6:
        return float(none_wrong)
    if e < 0.9999:
        return none_wrong + e * (extra_errors(n, 1.0, confidence, limit) - none_wrong)
    if e + 0.5 >= n:
        return 0.67 * (n - e) if limit == "quinlan" else max(n - e, 0.0)
    z = normal_deviate(confidence, limit)
    half_more = e + 0.5
    root = np.sqrt(half_more * (1 - half_more / n) + z**2 / 4)
    return float(n * (half_more + z**2 / 2 + z * root) / (n + z**2) - e)


def normal_deviate(confidence: float, limit: str = "quinlan") -> float:
    """Return z with P(Z > z) = CF: between the lines of Quinlan's table, or exactly.

    >>> round(normal_deviate(0.25), 4), round(normal_deviate(0.25, "weka"), 4)
    (0.6925, 0.6745)
    """
    if limit == "quinlan":
        return float(np.interp(confidence, CONFIDENCES, DEVIATES))
    return _quantile(lambda z: -z * z / 2, 1 - confidence, -10.0, 10.0)


def _beta_quantile(a: float, b: float, share: float) -> float:
    """Return the quantile of the beta distribution: for a = e + 1, b = N - e it is the exact limit.

    The density t^(a-1) (1-t)^(b-1) dt is t^a (1-t)^b du in the log odds u = log(t / (1-t)): a bell
    around log(a/b), about √(1/a + 1/b) wide. With u = center + width · sinh(v) even its longest
    tail is short.
    """
    center, width = np.log(a / b), np.sqrt(1 / a + 1 / b)

    def log_density(v: np.ndarray) -> np.ndarray:
        u = center + width * np.sinh(v)
        return -a * np.logaddexp(0, -u) - b * np.logaddexp(0, u) + np.log(np.cosh(v))

    u = center + width * np.sinh(_quantile(log_density, share, -30.0, 30.0))
    return float(np.exp(-np.logaddexp(0, -u)))


def _quantile(
    log_density: Callable[[np.ndarray], np.ndarray], share: float, low: float, high: float
) -> float:
    """Return the point below which ``share`` of a density lies.

    Simpson's rule weighs thin slices; the slice that holds the point is sliced again.
    """
    points = np.linspace(low, high, 4001)
    logs = log_density(points)
    peak = float(logs.max())
    inside = points[logs > peak - 40]  # what lies outside weighs less than rounding does
    low, high, wanted = float(inside[0]), float(inside[-1]), np.nan
    for sweep in range(4):
        points = np.linspace(low, high, 4001)
        f = np.exp(log_density(points) - peak)
        below = np.cumsum(f[:-2:2] + 4 * f[1::2] + f[2::2]) * (high - low) / (3 * 4000)
        wanted = share * below[-1] if sweep == 0 else wanted
        i = min(int(np.searchsorted(below, wanted)), len(below) - 1)
        wanted -= below[i - 1] if i else 0.0
        low, high = float(points[2 * i]), float(points[2 * i + 2])
    return (low + high) / 2


# ---------------------------------------------------------------------- decisions
@dataclass(frozen=True)
class Decision:
    """What an inner node would cost, in errors, in each of its possible shapes, and the verdict."""

    path: tuple[int, ...]
    weight: float  # of the cases that were counted
    as_tree: float  # its branches as they are by now
    as_leaf: float
    as_raised: float  # its largest branch in its place; inf if that is no option
    verdict: str  # "keep", "leaf", "raise"


def _leaf(node: C45Node, stop: str) -> C45Node:
    return replace(node, test=None, children=[], shares=np.empty(0), stop=stop)


def collapse_c45(tree: C45Node) -> tuple[C45Node, list[Decision]]:
    """Make a leaf of every node whose branches get no fewer training cases wrong than it would.

    Examples
    --------
    A test may gain information and change no answer:

    >>> from arboretum.textbook.c45 import grow_c45
    >>> tree = grow_c45([[0]] * 4 + [[1]] * 4, [0, 0, 0, 0, 0, 0, 0, 1], n_values=[2])
    >>> [len(list(t)) for t in (tree, collapse_c45(tree)[0])]
    [3, 1]
    """
    decisions: list[Decision] = []

    def visit(node: C45Node) -> tuple[C45Node, float]:
        if node.is_leaf:
            return node, node.errors
        visited = [visit(child) for child in node.children]
        as_tree = sum(errors for _, errors in visited)
        stays = as_tree < node.errors - EPS
        decisions.append(
            Decision(
                node.path, node.weight, as_tree, node.errors, np.inf, "keep" if stays else "leaf"
            )
        )
        if not stays:
            return _leaf(node, "collapsed"), node.errors
        return replace(node, children=[child for child, _ in visited]), as_tree

    return visit(tree)[0], decisions


# ---------------------------------------------------------------------- error-based pruning
def estimated_errors(
    node: C45Node,
    rows: np.ndarray,
    w: np.ndarray,
    confidence: float = 0.25,
    limit: str = "quinlan",
) -> float:
    """Return the pessimistic errors Σ (e + extra_errors(N, e)) of a tree's leaves on some cases.

    Every leaf answers with the majority of the cases that reach it, ``rows`` of the training with
    weights ``w``.

    >>> from arboretum.textbook.c45 import grow_c45
    >>> tree = grow_c45([[1], [2], [3], [4], [5]], [0, 0, 0, 1, 1])
    >>> round(estimated_errors(tree, tree.rows, tree.w), 3)
    2.11
    """
    if node.test is None:
        n, e = _weight_and_errors(node.cases.at(rows, w).counts)
        return e + extra_errors(n, e, confidence, limit)
    _, parts = spread(node.test, node.cases.X[rows, node.test.feature], rows, w)
    return sum(
        estimated_errors(child, *part, confidence, limit)
        for child, part in zip(node.children, parts)
    )


def _weight_and_errors(counts: np.ndarray) -> tuple[float, float]:
    return float(counts.sum()), float(counts.sum() - counts.max())


def prune_c45(
    tree: C45Node,
    confidence: float = 0.25,
    subtree_raising: bool = True,
    limit: str = "quinlan",
) -> tuple[C45Node, list[Decision]]:
    """Prune by pessimistic errors; return the new tree and every decision, children first.

    A node becomes a leaf if that is at most 0.1 errors worse than its branches and than its largest
    branch (the last of equals, as release 8 has it) in its place. Else the largest branch takes its
    place if that is at most 0.1 errors worse than the branches. A branch that was raised is pruned
    once more, with all the cases it got; its nodes count these, their tables of candidates remain
    those of their growing.

    Parameters
    ----------
    tree : C45Node
        As grown, and usually collapsed. It is left as it is.
    confidence : float
        CF, see ``extra_errors``.
    subtree_raising : bool
        Whether a branch may take its parent's place.
    limit : {"quinlan", "weka", "binomial"}
        See ``extra_errors``.

    Examples
    --------
    >>> from arboretum.textbook.c45 import grow_c45
    >>> x, y = [[0]] * 6 + [[1]] * 9 + [[2]], [1] * 15 + [0]
    >>> tree = grow_c45(x, y, n_values=[3])
    >>> pruned, [decision] = prune_c45(tree)
    >>> round(decision.as_tree, 2), round(decision.as_leaf, 2), decision.verdict
    (3.27, 2.51, 'leaf')
    """
    decisions: list[Decision] = []

    def visit(
        node: C45Node, path: tuple[int, ...], rows: np.ndarray, w: np.ndarray
    ) -> tuple[C45Node, float]:
        counts = node.cases.at(rows, w).counts
        answer = majority(counts, own=node.majority)
        node = replace(node, path=path, rows=rows, w=w, counts=counts, majority=answer)
        n, e = _weight_and_errors(counts)
        as_leaf = e + extra_errors(n, e, confidence, limit)
        if node.test is None:
            return node, as_leaf
        x = node.cases.X[rows, node.test.feature]
        node.shares, parts = spread(node.test, x, rows, w)
        visited = [visit(c, (*path, v), *parts[v]) for v, c in enumerate(node.children)]
        node.children = [child for child, _ in visited]
        for child in node.children:
            child.majority = child.majority if child.weight > 0 else answer
        as_tree = sum(errors for _, errors in visited)
        as_raised, largest = np.inf, node.children[last_largest(node.shares)]
        if subtree_raising:
            as_raised = estimated_errors(largest, rows, w, confidence, limit)
        verdict = _choose(as_tree, as_leaf, as_raised)
        decisions.append(Decision(path, n, as_tree, as_leaf, as_raised, verdict))
        if verdict == "raise":
            return visit(largest, path, rows, w)
        return (node, as_tree) if verdict == "keep" else (_leaf(node, "pruned"), as_leaf)

    return visit(tree, tree.path, tree.rows, tree.w)[0], decisions


def _choose(as_tree: float, as_leaf: float, as_raised: float) -> str:
    bar = MARGIN + TIE
    if as_leaf <= as_tree + bar and as_leaf <= as_raised + bar:
        return "leaf"
    return "raise" if as_raised <= as_tree + bar else "keep"


# ---------------------------------------------------------------------- reduced-error pruning
def prune_reduced_error(
    tree: C45Node, X: ArrayLike, y: ArrayLike, w: ArrayLike | None = None
) -> tuple[C45Node, list[Decision]]:
    """Make a leaf of every node that as a leaf gets no more of the held-out cases wrong.

    The held-out cases go down as in prediction, in fractions where a value is missing; each leaf
    answers with its majority in the training. A node that none of them reaches becomes a leaf.

    Parameters
    ----------
    tree : C45Node
        As grown. It is left as it is.
    X, y, w
        The cases held out, as for ``grow_c45``.

    Examples
    --------
    >>> from arboretum.textbook.c45 import grow_c45
    >>> X = [[0, 0], [0, 1]] * 3 + [[1, 0]] * 3 + [[1, 1]] * 3
    >>> tree = grow_c45(X, [0] * 6 + [1] * 3 + [2] * 3, n_values=[2, 2])
    >>> pruned, decisions = prune_reduced_error(tree, [[0, 0], [1, 0], [1, 1]], [0, 1, 1])
    >>> len(list(tree)), len(list(pruned)), [(d.path, d.verdict) for d in decisions]
    (5, 3, [((1,), 'leaf'), ((), 'keep')])
    """
    held = gather_cases(X, y, w, tree.cases.n_values, len(tree.counts))
    decisions: list[Decision] = []

    def visit(node: C45Node, rows: np.ndarray, w: np.ndarray) -> tuple[C45Node, float]:
        n = float(w.sum())
        as_leaf = float(w[held.y[rows] != node.majority].sum())
        if node.test is None:
            return node, as_leaf
        branch = node.test.branches(held.X[rows, node.test.feature])
        visited = []
        for v, child in enumerate(node.children):
            part = np.where(branch < 0, w * node.shares[v], w)
            here = ((branch == v) | (branch < 0)) & (part > 0)
            visited.append(visit(child, rows[here], part[here]))
        as_tree = sum(errors for _, errors in visited)
        keep = as_leaf > as_tree + TIE
        decisions.append(
            Decision(node.path, n, as_tree, as_leaf, np.inf, "keep" if keep else "leaf")
        )
        if not keep:
            return _leaf(node, "pruned"), as_leaf
        return replace(node, children=[child for child, _ in visited]), as_tree

    return visit(tree, np.arange(len(held.y)), held.w)[0], decisions
