"""Trees of gradients and hessians, grown as boosting grows them."""

from __future__ import annotations

import numpy as np

from arboretum.grow.grower import GrowTarget


def grow(grower, g, h, key=0, rows=None, factor=None, columns=None):
    """Return a grown tree."""
    weights = np.empty(0) if factor is None else factor
    return grower.grow(GrowTarget(g, None, weights, h, columns), rows, key).tree


def grow_and_place(grower, g, h, key=0, rows=None):
    """Return a grown tree and what it says of every row."""
    grown = grower.grow(GrowTarget(g, h=h), rows, key)
    return grown.tree, grown.tree.value[grown.leaf_of_row]


def walked(grower, tree, n):
    """Return what a tree says of the first n rows, by the way they take."""
    return tree.value[grower.leaves_of(tree, np.arange(n, dtype=np.uint32))]
