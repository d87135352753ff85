"""The variance of a prediction over training sets, estimated from the bootstrap.

Would the forest's prediction t̄ change if row i counted a little more? Trees that drew it more often show it.
With N_bi, how often tree b drew row i, and d_b = t_b - t̄, the deviation of tree b from the mean:

    infinitesimal jackknife      Σᵢ (1/B Σ_b (N_bi - N̄_i) d_b)²   -   m/B² Σ_b d_b²
    jackknife after bootstrap    (n-1)/n Σᵢ (mean of d_b over the trees without row i)²
                                                               -   n (1/p - 1)/B² Σ_b d_b²

The terms on the right are the noise that B trees leave in the sums on the left (Wager, Hastie and Efron
2014); m draws make a bag, and p ≈ 1/e is the probability that a row is left out of it.

Both sums are quadratic in d, Σᵢ (Σ_b a_bi d_b)² = dᵀ (A Aᵀ) d: the training rows are needed once, for a
matrix of trees × trees, and not again for every row that is predicted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.base.parameters import one_of
from arboretum.engine import parallel
from arboretum.errors import DataError, ParameterError
from arboretum.predict.leaf_values import read_leaves
from arboretum.predict.walk import run_blocks, walk_block

if TYPE_CHECKING:
    from arboretum.forest.estimator import Forest

__all__ = ["prediction_variance"]

_METHODS = one_of("infinitesimal", "jackknife")
_BLOCK_VALUES = 1 << 20  # predictions of all trees held at a time: eight megabytes


def prediction_variance(
    forest: Forest, X: Any, method: str = "infinitesimal"
) -> np.ndarray | list[np.ndarray]:
    """Return the variance of the forest's mean prediction, or of its class probabilities.

    It is the variance of the mean, due to the choice of training rows; `prediction_interval` returns how far
    a single target may lie from it. Too few trees leave noise, which is subtracted and may
    make a small variance negative; several hundred trees, best as many as there are rows, keep it
    small.

    Parameters
    ----------
    forest : fitted forest with ``bootstrap=True``
    X : table of shape (n, n_features)
    method : {"infinitesimal", "jackknife"}, default "infinitesimal"
        Infinitesimal jackknife, or jackknife after bootstrap, both corrected for bias.

    Returns
    -------
    float64 array
        As `predict` of a regression forest, (n,) or (n, n_outputs); as `predict_proba` of a
        classifier, (n, n_classes), a list of such arrays for several outputs.

    Examples
    --------
    >>> import numpy as np
    >>> from arboretum import RandomForestRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 1))
    >>> y = np.where(X[:, 0] < 0.5, 0.0, rng.normal(size=200))  # noise on the right only
    >>> forest = RandomForestRegressor(200, min_samples_leaf=5, random_state=0).fit(X, y)
    >>> calm, noisy = prediction_variance(forest, [[0.25], [0.75]])
    >>> bool(calm < noisy)
    True
    """
    if not _METHODS.allows(method):
        raise ParameterError(f"method must be {_METHODS.phrase}, got {method!r}")
    matrix = forest._encode(X)
    counts = _bags(forest)
    gram, noise = (_infinitesimal if method == "infinitesimal" else _jackknife)(counts)
    n_trees, shape = len(forest.trees_), forest._leaf_shape
    answers = [
        read_leaves(tree.value, forest._reading).reshape(-1, *shape) for tree in forest.trees_
    ]
    variance = np.empty((matrix.n_rows, *shape))
    step = max(1, _BLOCK_VALUES // (n_trees * int(np.prod(shape))))

    def go(lo: int, hi: int, block: np.ndarray) -> None:
        for begin in range(lo, hi, step):
            end = min(begin + step, hi)
            predicted = np.empty((end - begin, *shape, n_trees))
            for t, (tree, answer) in enumerate(zip(forest.trees_, answers)):
                predicted[..., t] = answer[walk_block(tree, block[begin - lo : end - lo])]
            predicted -= predicted.mean(axis=-1, keepdims=True)
            variance[begin:end] = np.sum(
                (predicted @ gram - noise * predicted) * predicted, axis=-1
            )

    run_blocks(go, matrix, forest._threads())
    return _shaped(forest, variance)


def _bags(forest: Forest) -> np.ndarray:
    """Return how often every tree drew every row, (trees, rows)."""
    n, n_trees = forest._bags.n_rows, len(forest.trees_)
    if forest._bags.draws is None:
        raise ParameterError(
            "the variance compares the predictions of trees with different bags, and this forest was grown "
            "with bootstrap=False: every tree has seen every row; fit it with bootstrap=True"
        )
    if n_trees < 2 or n < 2:
        raise DataError(
            f"the variance needs at least 2 trees and 2 training rows, and this forest has {n_trees} "
            f"and {n}: grow more (n_estimators)"
        )
    counts = np.empty((n_trees, n), np.uint16)

    def work(t: int) -> None:
        counts[t] = forest._bags.counts(t)

    parallel.run(work, range(n_trees), forest._threads())
    return counts


def _infinitesimal(counts: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the matrix of the sum, and the factor of Σ d² that is noise.

    Since Σ d = 0 it does not matter whether the counts are centred.
    """
    n_trees = len(counts)
    draws = float(counts[0].sum())
    return _gram(counts, np.ones(counts.shape[1])) / n_trees**2, draws / n_trees**2


def _jackknife(counts: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the same for the trees that lack a row; rows that no tree lacks are left out."""
    n_trees, n = counts.shape
    out = counts == 0
    lacking = out.sum(axis=0)
    covered = np.count_nonzero(lacking)
    if covered == 0:
        raise DataError(
            "every row is in the bag of every tree, so nothing can be left out: grow more trees, or "
            "draw smaller samples (max_samples)"
        )
    weight = np.where(lacking > 0, 1.0 / np.maximum(lacking, 1) ** 2, 0.0)
    p = (1 - 1 / n) ** float(counts[0].sum())
    scale = n / covered  # the rows that some tree lacks represent the others
    return scale * (n - 1) / n * _gram(out, weight), n * (1 / p - 1) / n_trees**2


def _gram(table: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return Σᵢ weightᵢ aᵢ aᵢᵀ over the columns a of a (trees, rows) table, some rows at a time."""
    n_trees, n = table.shape
    gram = np.zeros((n_trees, n_trees))
    step = max(64, _BLOCK_VALUES // n_trees)
    for lo in range(0, n, step):
        part = table[:, lo : lo + step].astype(np.float64)
        gram += (part * weight[lo : lo + step]) @ part.T
    return gram


def _shaped(forest: Forest, variance: np.ndarray) -> np.ndarray | list[np.ndarray]:
    """Return (rows, outputs, values) in the shape of `predict` or `predict_proba`."""
    classes = getattr(forest, "classes_", None)
    if classes is None:
        return variance[:, 0, 0] if forest._one_output else variance[:, :, 0]
    if isinstance(classes, np.ndarray):
        return variance[:, 0]
    return [variance[:, o, : len(c)] for o, c in enumerate(classes)]
