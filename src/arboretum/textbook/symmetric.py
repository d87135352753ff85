"""Further reading: symmetric trees, one cut for all leaves of a level (also called oblivious trees).

A tree of depth d asks d questions, the same ones of every row, so a leaf is a number of d bits:

    x₂ ≤ 5?   0 ──────┬────── 1            table of 2^d answers
    x₀ ≤ 1?   0 ┬ 1       0 ┬ 1            00   01   10   11

The gain of a candidate is the sum of its gains at all leaves of the level. A cut that must suit every leaf
fits noise less than a cut for each, and the bits of many rows are computed at once, without walking.

A leaf takes the cut of its level only if the rules allow it there: enough H on both sides, monotone
constraints, and a gain of at least γ. Otherwise it adds nothing to the sum and stays whole; both values of
the bit have its answer, and the cuts of later levels are tried on it again.

Categories stand in the order of what each would predict alone, for all rows of the tree: then they are cut as
numbers are. A few are tried one against the rest.

Noise on the scores makes trees differ and keeps them from cutting where a gain is luck. Where g is noise of
variance σ² h, the gain of a cut is σ² times the square of a normal number, so its root varies by σ, estimated
as √(Σg² / Σh). Candidates are compared by √gain + σ · z with normal z; the best of a column draws z anew.

>>> X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
>>> tree = grow_symmetric(X, np.array([-5.0, -1, 1, 5]), np.ones(4), GradientRules(reg_lambda=0), 2)
>>> for level in tree.levels:
...     cut = level.chosen
...     print(f"x{cut.feature} <= {cut.cut}: {cut.gains.tolist()}, sum {cut.gain}")
x0 <= 0.5: [36.0], sum 36.0
x1 <= 0.5: [8.0, 8.0], sum 16.0
>>> tree.table().tolist()
[5.0, 1.0, -1.0, -5.0]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from arboretum.textbook.gradient_scan import (
    GradientCandidate,
    GradientNode,
    GradientRules,
    GradientScan,
    gradient_answer,
    score_sides,
)

__all__ = ["LevelCut", "LevelScan", "SymmetricTree", "grow_symmetric", "scan_symmetric"]


# ---------------------------------------------------------------------- the candidates of a level
@dataclass(frozen=True)
class LevelCut:
    """A question to all leaves of a level."""

    feature: int
    cut: float  # x <= cut goes left; NaN for sets; inf: is a value present?
    categories: frozenset[int] | None  # these go left; None: a number, which is cut
    default: str  # where missing values go
    gains: np.ndarray  # of every leaf; 0: the leaf does not take the cut
    missing_rows: float = 0.0  # of all leaves

    @property
    def gain(self) -> float:
        """The sum, leaf by leaf."""
        return float(self.gains.cumsum()[-1])

    def score(self, noise: np.ndarray | None = None) -> float:
        """Return what the best cuts of columns are compared by: the gain, or its root and the last noise."""
        return self.gain if noise is None else float(np.sqrt(self.gain) + noise[-1])

    def goes_left(self, x: np.ndarray) -> np.ndarray:
        """Return which values of its column go left."""
        missing = np.isnan(x)
        known = x <= self.cut if self.categories is None else np.isin(x, list(self.categories))
        return np.where(missing, self.default == "left", known)


@dataclass(frozen=True, eq=False)
class LevelScan:
    """The candidates of a column at all leaves of a level: missing values right, then left."""

    feature: int
    cuts: list[tuple[float, frozenset[int] | None]]  # cut or categories
    scans: list[list[GradientScan]]  # by side of missing values and leaf
    allowed: np.ndarray  # some sets of categories are too long
    missing_rows: float

    def gains(self, side: int) -> np.ndarray:
        """Return what every leaf gains by every candidate, (leaves, candidates); 0 where it is refused."""
        return np.array([np.where(scan.allowed, scan.gain, 0.0) for scan in self.scans[side]])

    def best(self, noise: np.ndarray | None = None) -> LevelCut | None:
        """Return the candidate that gains most, of equals the first.

        With noise, candidate i and side s of missing values are compared by √gain + noise[2 i + s].
        """
        found: LevelCut | None = None
        most = -np.inf
        for side in range(len(self.scans)):
            gains = self.gains(side)
            total = np.where(self.allowed, gains.sum(axis=0), 0.0)
            score = total if noise is None else np.sqrt(total) + noise[side:-1:2]
            score = np.where(total > 0.0, score, -np.inf)
            at = int(score.argmax())
            if score[at] > most:
                default, most = ("right", "left")[side], score[at]
                questions = self.cuts[at]
                found = LevelCut(self.feature, *questions, default, gains[:, at], self.missing_rows)
        return found

    def at(self, leaf: int) -> GradientScan:
        """Return the candidates as one leaf sees them."""
        scans, n = [side[leaf] for side in self.scans], len(self.cuts)

        def make(i: int) -> GradientCandidate:
            cut, categories = self.cuts[i % n]
            default = ("right", "left")[i // n]
            return replace(scans[i // n][i % n], cut=cut, categories=categories, default=default)

        gain = np.concatenate([scan.gain for scan in scans])
        allowed = np.concatenate([scan.allowed & self.allowed for scan in scans])
        return GradientScan(
            self.feature, gain, allowed, np.concatenate([s.left for s in scans]), make
        )


def scan_symmetric(
    nodes: Sequence[GradientNode],
    feature: int,
    bins: np.ndarray,
    cuts: np.ndarray,
    missing: np.ndarray,
    categories: Sequence[int] | None = None,
    sign: int = 0,
    total: np.ndarray | None = None,
) -> LevelScan:
    """Return the candidates of a column.

    Parameters
    ----------
    nodes : list of GradientNode
        The leaves of the level.
    feature : int
    bins : array of shape (leaves, n_bins, 3)
        G, H and rows of every bin at every leaf.
    cuts : array
        The upper ends of all bins but the last; not used for categories.
    missing : array of shape (leaves, 3)
        Of the rows without a value.
    categories : list of int, optional
        The category of every bin.
    sign : int
        A monotone constraint of the column.
    total : array of shape (n_bins, 3), optional
        The sums that put categories in order; those of the leaves together.

    Examples
    --------
    >>> nodes = [GradientNode(0.0, 2.0, 2), GradientNode(3.0, 2.0, 2)]
    >>> bins = np.array([[[-4.0, 1, 1], [4, 1, 1], [0, 0, 0]], [[0, 0, 0], [1, 1, 1], [2, 1, 1]]])
    >>> scan_symmetric(nodes, 0, bins, np.array([1.5, 2.5]), np.zeros((2, 3))).best().gains.tolist()
    [16.0, 0.0]
    """
    rules, n = nodes[0].rules, bins.shape[1]
    order, alone = list(range(n)), categories is not None and n <= rules.max_onehot
    allowed = np.ones(n, bool)
    if categories is not None and not alone:
        order = _by_answer(bins.sum(axis=0) if total is None else total, rules)
        longest, first = min(rules.max_cat_threshold, n) - 1, np.arange(n)
        allowed = (first < longest) | (n - first - 1 <= longest)
    left = bins[:, order] if alone else np.cumsum(bins[:, order], axis=1)
    questions: list[tuple[float, frozenset[int] | None]]
    if categories is None:
        questions = [(float(cut), None) for cut in np.append(cuts, np.inf)]
    else:
        sets = [[b] for b in order] if alone else [order[: i + 1] for i in range(n)]
        questions = [(np.nan, frozenset(categories[b] for b in some)) for some in sets]
    sides = 2 if missing.any() else 1
    scans = [
        [
            _scored(node, feature, left[k] + side * missing[k], missing[k], sign)
            for k, node in enumerate(nodes)
        ]
        for side in range(sides)
    ]
    return LevelScan(feature, questions, scans, allowed, float(missing[:, 2].sum()))


def _scored(
    node: GradientNode, feature: int, left: np.ndarray, missing: np.ndarray, sign: int
) -> GradientScan:
    itself = float(gradient_answer(node.G, node.H, node.n, node.answer, node.bounds, node.rules))
    rows, gone = node.estimated_rows(left[:, 1]), float(missing[2])
    return score_sides(node, feature, left, rows, lambda i: (np.nan, None, ""), itself, sign, gone)


def _by_answer(bins: np.ndarray, rules: GradientRules) -> list[int]:
    """Return categories in the order of what each would predict alone; 0 if its H is too small."""
    enough = (bins[:, 1] > 0) & (bins[:, 1] >= rules.min_weight)
    alone = gradient_answer(bins[:, 0], bins[:, 1], 0.0, rules=rules)
    return np.argsort(np.where(enough, alone, 0.0), kind="stable").tolist()


# ---------------------------------------------------------------------- the tree
@dataclass(frozen=True)
class SymmetricLeaf:
    """A leaf on the way down: its rows, and the bits of the levels that it took part in."""

    rows: np.ndarray
    node: GradientNode
    bits: tuple[int | None, ...] = ()  # 0: left, 1: right, None: it did not take the cut


@dataclass(frozen=True)
class SymmetricLevel:
    """A level: its leaves, the best cut of every column, and the one that was chosen."""

    leaves: list[SymmetricLeaf]
    best: dict[int, LevelCut | None]
    chosen: LevelCut


@dataclass(frozen=True)
class SymmetricTree:
    """The cuts of all levels and the leaves below them."""

    levels: list[SymmetricLevel]
    leaves: list[SymmetricLeaf]

    def table(self) -> np.ndarray:
        """Return the answers by the number that the bits make, the first level's first."""
        table = np.empty([2] * len(self.levels))
        for leaf in self.leaves:
            place = tuple(slice(None) if bit is None else bit for bit in leaf.bits)
            table[place] = np.clip(leaf.node.answer, *leaf.node.bounds)
        return table.ravel()

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the answers for rows, read from the table."""
        place = np.zeros(len(X), np.int64)
        for level in self.levels:
            cut = level.chosen
            place = 2 * place + ~cut.goes_left(X[:, cut.feature])
        return self.table()[place]


def grow_symmetric(
    X: np.ndarray,
    g: np.ndarray,
    h: np.ndarray,
    rules: GradientRules | None = None,
    max_depth: int = 6,
    categorical: Iterable[int] = (),
    monotone: Sequence[int] | None = None,
    noise: Callable[[int, int, int], np.ndarray] | None = None,
) -> SymmetricTree:
    """Grow a tree of up to ``max_depth`` levels; every value is a bin.

    Parameters
    ----------
    X : array of shape (rows, columns)
        NaN is missing; columns of categories hold their codes.
    g, h : arrays
        First and second derivatives.
    rules : GradientRules, optional
    max_depth : int
    categorical : list of int
        Columns of categories.
    monotone : list of int, optional
        1, 0 or -1 for every column.
    noise : function of level, column and number of candidates n, optional
        Returns 2 n + 1 draws of mean 0 and variance 1; they are multiplied by √(Σg² / Σh).
    """
    spread = 0.0 if noise is None else float(np.sqrt((g**2).sum() / h.sum()))
    rules = GradientRules() if rules is None else rules
    signs = [0] * X.shape[1] if monotone is None else list(monotone)
    leaves = [SymmetricLeaf(np.arange(len(X)), _node(g, h, rules))]
    levels: list[SymmetricLevel] = []
    while len(levels) < max_depth:
        nodes = [leaf.node for leaf in leaves]
        best: dict[int, LevelCut | None] = {}
        score: dict[int, float] = {}
        for f in range(X.shape[1]):
            values, bins, missing = _binned(X[:, f], g, h, [leaf.rows for leaf in leaves])
            if len(values):
                words = values.astype(int).tolist() if f in set(categorical) else None
                middles = (values[:-1] + values[1:]) / 2
                scan = scan_symmetric(nodes, f, bins, middles, missing, words, signs[f])
                drawn = None if noise is None else spread * noise(len(levels), f, len(scan.cuts))
                best[f] = cut = scan.best(drawn)
                if cut is not None:
                    score[f] = cut.score(drawn)
        if not score:
            break
        chosen = best[max(score, key=score.__getitem__)]  # of equals the first
        assert chosen is not None
        levels.append(SymmetricLevel(leaves, best, chosen))
        sign = 0 if chosen.categories is not None else signs[chosen.feature]
        takes = list(zip(leaves, chosen.gains > 0, strict=True))  # those that stay come first
        leaves = [replace(leaf, bits=(*leaf.bits, None)) for leaf, split in takes if not split]
        for leaf, split in takes:
            leaves += _below(leaf, chosen, X, g, h, sign) if split else []
    return SymmetricTree(levels, leaves)


def _node(
    g: np.ndarray, h: np.ndarray, rules: GradientRules, above: GradientNode | None = None
) -> GradientNode:
    """Return a node with the answer that follows from its sums and the node above."""
    lean, bounds = (np.nan, (-np.inf, np.inf)) if above is None else (above.answer, above.bounds)
    G, H, n = float(g.sum()), float(h.sum()), float(len(g))
    return GradientNode(
        G, H, n, float(gradient_answer(G, H, n, lean, bounds, rules)), bounds, rules
    )


def _binned(
    x: np.ndarray, g: np.ndarray, h: np.ndarray, leaves: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the values of a column, and G, H and rows of each and of missing values at every leaf."""
    values = np.unique(x[~np.isnan(x)])
    place = np.where(np.isnan(x), len(values), np.searchsorted(values, x))
    sums = np.zeros((len(leaves), len(values) + 1, 3))
    for k, rows in enumerate(leaves):
        np.add.at(sums[k], place[rows], np.column_stack([g[rows], h[rows], np.ones(len(rows))]))
    return values, sums[:, :-1], sums[:, -1]


def _below(
    leaf: SymmetricLeaf,
    cut: LevelCut,
    X: np.ndarray,
    g: np.ndarray,
    h: np.ndarray,
    sign: int,
) -> list[SymmetricLeaf]:
    """Return the two sides of a leaf that takes the cut of its level."""
    left = cut.goes_left(X[leaf.rows, cut.feature])
    sides = [leaf.rows[left], leaf.rows[~left]]
    nodes = [_node(g[rows], h[rows], leaf.node.rules, leaf.node) for rows in sides]
    if sign:
        low, high = leaf.node.bounds
        middle = (nodes[0].answer + nodes[1].answer) / 2
        bounds = [(low, min(high, middle)), (max(low, middle), high)]
        nodes = [
            replace(node, bounds=some) for node, some in zip(nodes, bounds[::sign], strict=True)
        ]
    return [
        SymmetricLeaf(rows, node, (*leaf.bits, side))
        for side, (rows, node) in enumerate(zip(sides, nodes, strict=True))
    ]
