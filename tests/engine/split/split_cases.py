"""Nodes to be searched, and impurities in plain NumPy, for the tests of kernels."""

from typing import NamedTuple

import numpy as np

from arboretum.engine.split.counts import Columns
from arboretum.engine.split.score import ENTROPY, GINI, SQUARED
from arboretum.engine.split.statistic import SearchRules
from arboretum.grow.criterion import Batch, Statistic, make_statistic
from arboretum.grow.grower import GrowTarget


def gini(y, w):
    return 1 - np.sum((np.bincount(y, w) / w.sum()) ** 2)


def entropy(y, w):
    share = np.bincount(y, w) / w.sum()
    return -np.sum(share[share > 0] * np.log2(share[share > 0]))


def variance(y, w):
    return np.average((y - np.average(y, weights=w)) ** 2, weights=w)


# name -> criterion, classes, impurity
CRITERIA = {
    "squared error": (SQUARED, 0, variance),
    "gini, two classes": (GINI, 2, gini),
    "gini": (GINI, 4, gini),
    "entropy": (ENTROPY, 3, entropy),
}


class Case(NamedTuple):
    """One node after another: ``edges`` are where their rows begin, and the end."""

    statistic: Statistic
    batch: Batch
    rows: np.ndarray
    y: np.ndarray
    w: np.ndarray
    edges: np.ndarray
    impurity: object


def make_case(kind, sizes, rng, *, weighted=False, min_leaf=1, random=False):
    """Return nodes with so many rows each; targets are random."""
    criterion, classes, impurity = CRITERIA[kind]
    n, edges = int(np.sum(sizes)), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    y = rng.integers(0, classes, n) if classes else rng.integers(0, 30, n).astype(float)
    w = rng.integers(1, 4, n).astype(float) if weighted else np.empty(0)
    target = GrowTarget(
        y[:, None].astype(np.int32 if classes else np.float64),
        np.array([classes]) if classes else None,
        w,
    )
    statistic = make_statistic(target, criterion, SearchRules(min_leaf=min_leaf))
    rows = rng.permutation(n).astype(np.uint32)
    free = np.tile([-np.inf, np.inf], (len(sizes), 1))
    statistic.row.id[:] = rows
    nodes = statistic.prepare(edges[:-1], edges[1:], free)
    keys = rng.integers(0, 2**63, len(sizes)).astype(np.uint64)
    batch = Batch(np.arange(len(sizes)), nodes, keys, np.ones(len(sizes)))
    return Case(statistic, batch, rows, y, w if len(w) else np.ones(n), edges, impurity)


def columns_of(k, slot, n_codes, *, categorical):
    """Return k nodes that are all searched on one column."""
    return Columns(
        np.full(k, slot), np.full(k, n_codes), np.full(k, categorical), np.zeros(k, np.int8)
    )


def decrease(case, rows, left):
    """Return by how much a split of rows lowers their impurity; -1 if a side is empty."""
    y, w = case.y[rows], case.w[rows]
    if left.all() or not left.any():
        return -1.0
    parts = [w[s].sum() / w.sum() * case.impurity(y[s], w[s]) for s in (left, ~left)]
    return case.impurity(y, w) - sum(parts)
