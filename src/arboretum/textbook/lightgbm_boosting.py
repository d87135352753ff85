"""LightGBM whole: bins once, bundles once, and every round fewer rows and the best leaf first.

    bin_table             values become bins                                   (lightgbm_bins.py)
    bundle_table          columns that are hardly ever used together share one (EFB, lightgbm_sampling.py)
    (1) start             F = F_0
    (2) every round
     a  derivatives         g and h of every row (and class) where the scores stand
     b  goss                after the first 1/η rounds: rows of large |g·h|, and some of the others
     c  grow_on_bins        leaf by leaf, the best first                       (lightgbm.py)
     d                      F ← F + η · leaf output, for all rows

    regression     g = F - y                      h = 1                       F_0 = mean
    binary         g = p - y, p = 1/(1 + e^-F)    h = p(1 - p)                F_0 = log odds
    multiclass     g = p_k - [y = k], softmax     h = K/(K-1)·p_k(1 - p_k)    F_0 = log class shares

The factor of h differs from XGBoost's 2 for more than two classes.

A row that two columns of a bundle use keeps the value of the one that joined first. For the other it is as
if its value were the usual one: in the histograms, and when the rows of a node are split. `BundledTable.X`
is the table as the bundles remember it; new rows are answered by what they really hold.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.gbm_losses import sigmoid, softmax
from arboretum.textbook.lightgbm import LGBMNode, grow_on_bins, predict_lgbm
from arboretum.textbook.lightgbm_bins import BinnedTable, bin_table, build_histogram
from arboretum.textbook.lightgbm_sampling import (
    Bundle,
    GossSample,
    bundle_codes,
    bundle_features,
    goss,
    goss_starts,
    unbundle_histogram,
)
from arboretum.textbook.lightgbm_splits import LGBMSettings

__all__ = [
    "BundledTable",
    "LGBMRound",
    "LGBMRules",
    "TextbookLGBM",
    "boost_lgbm",
    "bundle_table",
    "lgbm_derivatives",
    "lgbm_start",
    "predict_margin_lgbm",
    "predict_model_lgbm",
]

LGBM_OBJECTIVES = ("regression", "binary", "multiclass")
SPARSE = 0.5  # a column that uses more of the rows than this stays alone
Sampler = Callable[[np.ndarray, np.ndarray, int], GossSample]


# ---------------------------------------------------------------------- bundles
@dataclass(frozen=True, eq=False)
class BundledTable(BinnedTable):
    """A table in bins of which some columns share one column of codes."""

    usual: np.ndarray  # the bin of every column that most rows are in: code 0 of a bundle
    columns: tuple[int, ...]  # those that may be bundled; a bundle numbers them from 0
    bundles: tuple[Bundle, ...]
    shared: tuple[np.ndarray, ...] = field(repr=False)  # the codes of every bundle

    def histograms(self, rows: np.ndarray, g: np.ndarray, h: np.ndarray) -> list[np.ndarray]:
        """Return the histogram of every column, those of bundles taken apart again."""
        found: dict[int, np.ndarray] = {}
        for bundle, codes in zip(self.bundles, self.shared):
            whole = build_histogram(codes[rows], g[rows], h[rows], bundle.n_bins)[:-1]
            for j, histogram in unbundle_histogram(bundle, whole).items():
                f = self.columns[j]
                in_order = np.insert(histogram[1:], self.usual[f], histogram[0], axis=0)
                found[f] = np.vstack([in_order, np.zeros(3)])  # and none are missing
        for f, bins in enumerate(self.bins):
            if f not in found:
                found[f] = build_histogram(self.codes[rows, f], g[rows], h[rows], bins.n_bins)
        return [found[f] for f in range(len(self.bins))]


def bundle_table(table: BinnedTable, max_conflict_rate: float = 0.0) -> BundledTable:
    """Bundle the columns that use at most half of the rows and miss no values.

    Parameters
    ----------
    table : BinnedTable
    max_conflict_rate : float
        The share of the rows that may lose a value, in each bundle.

    Examples
    --------
    The columns of "which colour": a row has one.

    >>> colours = [[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]]
    >>> table = bundle_table(bin_table(colours, min_data_in_bin=1))
    >>> table.bundles[0].features, table.shared[0].tolist()
    ((0, 1, 2), [1, 2, 3, 2])
    """
    counts = [np.bincount(c, minlength=b.n_bins) for c, b in zip(table.codes.T, table.bins)]
    usual = np.array([count.argmax() for count in counts])
    used = (table.codes != usual).mean(axis=0)
    whole = ~np.isnan(table.X).any(axis=0)
    columns = tuple(np.flatnonzero((used <= SPARSE) & whole).tolist())
    # the usual bin becomes code 0, those below it move up by one
    codes, chosen = table.codes[:, columns], usual[list(columns)]
    moved = np.where(codes == chosen, 0, codes + (codes < chosen))
    sizes = [table.bins[f].n_bins for f in columns]
    budget = int(max_conflict_rate * len(table.X))
    bundles = tuple(bundle_features(moved, sizes, budget)) if columns else ()
    X = table.X.copy()
    for bundle in bundles:
        taken = np.zeros(len(X), dtype=bool)
        for j in bundle.features:
            f, rows = columns[j], moved[:, j] != 0
            if (lost := taken & rows).any():
                X[lost, f] = table.X[table.codes[:, f] == usual[f], f][0]
            taken |= rows
    kept = np.column_stack([b.codes(x) for b, x in zip(table.bins, X.T)])
    shared = tuple(bundle_codes(bundle, moved) for bundle in bundles)
    return BundledTable(X, table.bins, kept, usual, columns, bundles, shared)


# ---------------------------------------------------------------------- losses
def lgbm_derivatives(objective: str, y: np.ndarray, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return g and h of every row; F has one column, or one per class.

    >>> g, h = lgbm_derivatives("multiclass", np.array([0]), np.zeros((1, 3)))
    >>> g.round(3).tolist(), h.round(3).tolist()
    ([[-0.667, 0.333, 0.333]], [[0.333, 0.333, 0.333]])
    """
    if objective == "multiclass":
        K, p = F.shape[1], softmax(F)
        return p - (y[:, None] == np.arange(K)), K / (K - 1) * p * (1 - p)
    if objective == "binary":
        p = sigmoid(F)
        return p - y[:, None], p * (1 - p)
    return F - y[:, None], np.ones_like(F)


def lgbm_start(objective: str, y: np.ndarray) -> np.ndarray:
    """Return the scores to start from, one per class for multiclass.

    >>> lgbm_start("binary", np.array([0, 0, 0, 1])).round(4).tolist()
    [-1.0986]
    """
    if objective == "multiclass":
        return np.log(np.bincount(y.astype(np.int64)) / len(y))
    mean = float(y.mean())
    return np.array([np.log(mean / (1 - mean)) if objective == "binary" else mean])


# ---------------------------------------------------------------------- boosting
@dataclass(frozen=True)
class LGBMRules:
    """How to boost."""

    objective: str = "regression"  # one of LGBM_OBJECTIVES
    n_rounds: int = 100
    learning_rate: float = 0.1
    goss: tuple[float, float] | None = None  # the shares a kept and b drawn; None: all rows
    bundle: bool = True
    max_conflict_rate: float = 0.0
    random_state: int = 0


DEFAULT = LGBMRules()


@dataclass(frozen=True, eq=False)
class LGBMRound:
    """One round: the derivatives before it, its rows and trees, the scores after it."""

    g: np.ndarray = field(repr=False)
    h: np.ndarray = field(repr=False)
    sample: GossSample | None  # None: all rows
    trees: tuple[LGBMNode, ...]
    scores: np.ndarray = field(repr=False)


@dataclass(frozen=True, eq=False)
class TextbookLGBM:
    """The start and η times the trees of every round."""

    rules: LGBMRules
    start: np.ndarray
    table: BinnedTable = field(repr=False)
    rounds: tuple[LGBMRound, ...] = field(repr=False)


def boost_lgbm(
    X: ArrayLike,
    y: ArrayLike,
    rules: LGBMRules = DEFAULT,
    settings: LGBMSettings | None = None,
    categorical: Collection[int] = (),
    sampler: Sampler | None = None,
) -> TextbookLGBM:
    """Boost by LightGBM's rules and return all rounds.

    Parameters
    ----------
    X : array of shape (n, n_columns)
    y : numbers, classes 0 and 1, or classes 0..K-1
    rules : LGBMRules
    settings : LGBMSettings, optional
        How trees grow.
    categorical : columns that hold categories
    sampler : function of (g, h, round from 0), optional
        Draws the rows instead of ``goss``, to follow the draws of another program.

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [1.0, 1.0, 5.0, 5.0]
    >>> grow = LGBMSettings(min_child_samples=1, min_data_in_bin=1)
    >>> model = boost_lgbm(X, y, LGBMRules(n_rounds=2, learning_rate=0.5), grow)
    >>> predict_model_lgbm(model, [[0.0], [9.0]]).tolist()
    [1.5, 4.5]
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if rules.objective not in LGBM_OBJECTIVES:
        raise ValueError(
            f"objective must be one of {', '.join(LGBM_OBJECTIVES)}, got {rules.objective!r}"
        )
    settings = settings or LGBMSettings()
    table = bin_table(X, settings.max_bin, categorical, settings.min_data_in_bin)
    if rules.bundle:
        table = bundle_table(table, rules.max_conflict_rate)
    start = lgbm_start(rules.objective, y)  # (1)
    scores, rounds = np.tile(start, (len(X), 1)), []
    for m in range(rules.n_rounds):  # (2)
        g, h = lgbm_derivatives(rules.objective, y, scores)  # (2a)
        sample = _sample(rules, sampler, g, h, m)  # (2b)
        rows, factor = None, np.ones(len(X))
        if sample is not None:
            rows, factor[sample.rows] = sample.rows, sample.factor
        trees = tuple(  # (2c)
            grow_on_bins(table, gk * factor, hk * factor, settings, rows)
            for gk, hk in zip(g.T, h.T)
        )
        moves = [predict_lgbm(tree, table.X) for tree in trees]
        scores = scores + rules.learning_rate * np.column_stack(moves)  # (2d)
        rounds.append(LGBMRound(g, h, sample, trees, scores))
    return TextbookLGBM(rules, start, table, tuple(rounds))


def _sample(
    rules: LGBMRules, sampler: Sampler | None, g: np.ndarray, h: np.ndarray, m: int
) -> GossSample | None:
    if rules.goss is None or m < goss_starts(rules.learning_rate):
        return None
    if sampler is not None:
        return sampler(g, h, m)
    return goss(g, h, *rules.goss, random_state=rules.random_state + m)


def predict_margin_lgbm(model: TextbookLGBM, X: ArrayLike) -> np.ndarray:
    """Return the scores F, one column (per class)."""
    X = np.asarray(X, dtype=np.float64)
    scores = np.tile(model.start, (len(X), 1))
    for one in model.rounds:
        moves = [predict_lgbm(tree, X) for tree in one.trees]
        scores = scores + model.rules.learning_rate * np.column_stack(moves)
    return scores


def predict_model_lgbm(model: TextbookLGBM, X: ArrayLike) -> np.ndarray:
    """Return numbers, probabilities of class 1, or a row of class probabilities per row."""
    F = predict_margin_lgbm(model, X)
    if model.rules.objective == "multiclass":
        return softmax(F)
    return sigmoid(F[:, 0]) if model.rules.objective == "binary" else F[:, 0]
