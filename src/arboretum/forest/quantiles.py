"""Quantiles of the target, not only its mean: the training rows behind a prediction.

In one tree the training rows of a row's leaf share a weight of 1, in proportion to how often the tree's bag
drew them times their sample weights; the forest takes the mean over its trees (Meinshausen 2006). So Σ wᵢ yᵢ
is the forest's prediction, and the same weights on sorted targets give every quantile:

    y        1.0   2.0   4.0   9.0
    weight   .25   .25   .40   .10
    so far   .25   .50   .90  1.00      q = .5 is 2.0, q = .8 is 4.0: the first that reaches q

This is the convention "lower" of `data.quantile`, found without sorting a row's weights.

The leaves of the training rows have to be kept when the forest is grown (``keep_leaves=True``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.base.parameters import real
from arboretum.engine import parallel
from arboretum.errors import ParameterError
from arboretum.predict.walk import run_blocks, walk_block

if TYPE_CHECKING:
    from arboretum.engine.predict.leaf_quantile import LeafGroups
    from arboretum.forest.estimator import Forest
    from arboretum.forest.training_rows import TrainingRows

__all__ = ["predict_quantiles", "prediction_interval"]

_SHARE = real(0, 1)
_COVERAGE = real(0, 1, open_low=True, open_high=True)


def predict_quantiles(forest: Forest, X: Any, quantiles: Any) -> np.ndarray:
    """Return quantiles of the target at every row.

    The quantile q is the smallest target at which the cumulative weight reaches q: always a target of the
    training rows, never a value between two. It cannot fall as q rises.

    Parameters
    ----------
    forest : regression forest fitted with ``keep_leaves=True``
    X : table of shape (n, n_features)
    quantiles : float or list of floats in [0, 1]

    Returns
    -------
    float64 array of shape (n, n_quantiles)
        In the order of ``quantiles``; (n,) for one number instead of a list. With several outputs
        (n, n_outputs, n_quantiles), or (n, n_outputs).

    Examples
    --------
    >>> import numpy as np
    >>> from arboretum import RandomForestRegressor
    >>> X, y = np.arange(100.0)[:, None], np.arange(100.0)
    >>> forest = RandomForestRegressor(20, min_samples_leaf=10, keep_leaves=True, random_state=0)
    >>> low, middle, high = predict_quantiles(forest.fit(X, y), [[50.0]], [0.1, 0.5, 0.9])[0]
    >>> bool(low < middle < high), bool(40 < middle < 60)
    (True, True)
    """
    matrix = forest._encode(X)
    training = _check_kept(forest)
    wanted = _check_quantiles(quantiles)
    groups = _group(forest, training)
    ranked = [_rank(y) for y in training.y.T]
    answers = np.empty((matrix.n_rows, forest.n_outputs_, len(wanted)))

    def go(lo: int, hi: int, block: np.ndarray) -> None:
        from arboretum.engine.predict.leaf_quantile import leaf_quantiles

        leaves = np.empty((hi - lo, len(forest.trees_)), np.int32)
        for t, tree in enumerate(forest.trees_):
            leaves[:, t] = walk_block(tree, block)
        places = np.empty((hi - lo, len(wanted)), np.int64)
        for output, (values, rank) in enumerate(ranked):
            shift = len(values).bit_length() // 2  # as many buckets as ranks in each
            leaf_quantiles(groups, leaves, rank, shift, wanted, places)
            answers[lo:hi, output] = values[places]

    run_blocks(go, matrix, forest._threads())
    answers = answers[:, 0] if forest._one_output else answers
    return answers[..., 0] if np.ndim(quantiles) == 0 else answers


def prediction_interval(forest: Forest, X: Any, coverage: float = 0.9) -> np.ndarray:
    """Return an interval that holds the target of a new row with this probability.

    Its ends are the quantiles (1 - coverage) / 2 and (1 + coverage) / 2, so as much is left out below
    as above. It is about the target of a row; `prediction_variance` returns how certain the forest's mean
    is.

    Parameters
    ----------
    forest : regression forest fitted with ``keep_leaves=True``
    X : table of shape (n, n_features)
    coverage : float between 0 and 1, default 0.9

    Returns
    -------
    float64 array of shape (n, 2)
        Lower and upper end; (n, n_outputs, 2) with several outputs.

    Examples
    --------
    >>> import numpy as np
    >>> from arboretum import RandomForestRegressor
    >>> X, y = np.arange(100.0)[:, None], np.arange(100.0)
    >>> forest = RandomForestRegressor(20, min_samples_leaf=10, keep_leaves=True, random_state=0)
    >>> low, high = prediction_interval(forest.fit(X, y), [[50.0]], coverage=0.8)[0]
    >>> bool(low < 50 < high)
    True
    """
    if not _COVERAGE.allows(coverage):
        raise ParameterError(f"coverage must be {_COVERAGE.phrase}, got {coverage!r}")
    return predict_quantiles(forest, X, [(1 - coverage) / 2, (1 + coverage) / 2])


# ---------------------------------------------------------------------- checking the arguments
def _check_quantiles(quantiles: Any) -> np.ndarray:
    listed = [quantiles] if np.ndim(quantiles) == 0 else list(quantiles)
    if not listed or not all(_SHARE.allows(q) for q in listed):
        raise ParameterError(
            f"quantiles must be {_SHARE.phrase} or a list of such numbers, got {quantiles!r}"
        )
    return np.array(listed, dtype=np.float64)


def _check_kept(forest: Forest) -> TrainingRows:
    name = type(forest).__name__
    if hasattr(forest, "classes_"):
        raise ParameterError(
            f"quantiles are of numbers, and {name} predicts classes: use predict_proba, or a "
            "regression forest"
        )
    if forest._training_rows is None:
        raise ParameterError(
            "quantiles need the leaves of the training rows, which this forest has not kept: fit "
            f"it with {name}(keep_leaves=True)"
        )
    return forest._training_rows


def _rank(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct targets in order, and the rank of every row's among them."""
    values, rank = np.unique(y, return_inverse=True)
    return values, rank.astype(np.int32)


def _group(forest: Forest, training: TrainingRows) -> LeafGroups:
    """Return the training rows by leaf: 12 bytes for every row in every tree's bag."""
    from arboretum.engine.predict.leaf_quantile import LeafGroups, group_by_leaf

    n, n_trees = training.leaves.shape
    first = np.cumsum([0] + [len(tree) + 1 for tree in forest.trees_])
    most = n if forest._bags.draws is None else min(n, forest._bags.draws)
    groups = LeafGroups(
        first=first[:-1],
        start=np.empty(first[-1], np.int64),
        rows=np.empty((n_trees, most), np.int32),
        share=np.empty((n_trees, most)),
    )

    def work(t: int) -> None:
        weight = forest._bags.counts(t) * training.weight
        leaf = np.ascontiguousarray(training.leaves[:, t])
        start = groups.start[first[t] : first[t + 1]]
        group_by_leaf(leaf, weight, start, groups.rows[t], groups.share[t])

    parallel.run(work, range(n_trees), forest._threads())
    return groups
