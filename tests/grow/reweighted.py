"""The trees that rounds of AdaBoost grow, by weight."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from arboretum.grow.choose import Use, choose_grower
from arboretum.grow.grower import make_target
from arboretum.grow.settings import growth


class Reweighted:
    """Trees of a CART on the same rows with other weights; ``Grower`` instead of the one chosen."""

    def __init__(self, base, matrix, schema, y, classes=None, Grower=None):
        self.y, self.classes = y.reshape(-1, 1), None if classes is None else np.array([classes])
        target, self.matrix = make_target(self.y, self.classes, np.ones(len(y))), matrix
        settings = growth(base, schema, target, matrix.n_rows)
        least = float(base.min_weight_fraction_leaf)
        self.settings = replace(settings, min_weight_leaf=0.0, min_share=least)
        if Grower is None:
            self.grower = choose_grower(matrix, schema, self.settings, target, Use.WEIGHTS)
        else:
            self.grower = Grower(matrix, schema, self.settings, again=True)

    def grow(self, weights, key=0):
        rows = None if weights.min() > 0 else np.flatnonzero(weights)
        target = make_target(self.y, self.classes, weights)
        return self.grower.grow(target, rows, key).pruned(self.settings, self.matrix)
