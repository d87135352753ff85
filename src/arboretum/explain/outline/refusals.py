"""Which left sides of a tree of CART's kind a rule refuses: rows, weight, order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.lazy import cached_property

if TYPE_CHECKING:
    from arboretum.explain.worksheet.grown import ShownTree
    from arboretum.textbook.column_scan import Channels

__all__ = ["Refusals"]

_LOWER = np.finfo(np.float64).tiny


class Refusals:
    """The rules of one tree; sums have the channels of its criterion last."""

    def __init__(self, grown: ShownTree, channels: Channels) -> None:
        self.grown, self.channels, self.sample = grown, channels, channels.sample

    def _enough(self, lefts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Return which left sides leave enough on both sides; channels come last."""
        rules, good = self.sample.rules, np.ones(lefts.shape[:-1], bool)
        for side in (lefts, totals - lefts):
            good &= side[..., 0] >= max(rules.min_samples_leaf, 1)
            good &= side[..., 1] >= rules.min_weight_leaf * (1 - 1e-12)
            if rules.criterion == "poisson":
                good &= side[..., 2] > 0
        return good

    def _in_order(self, sign: Any, nodes: Any, lefts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Return which left sides keep to a monotone constraint, and to those above."""
        last = 2 + (self.sample.n_classes[0] - 1 if self.sample.n_classes else 0)
        origin = 0.0 if self.channels.classes else self.channels.origin[0]
        with np.errstate(over="ignore"):  # empty sides
            a, b = (
                side[..., last] / np.maximum(side[..., 1], _LOWER) + origin
                for side in (lefts, totals - lefts)
            )
        low, high = self.bounds[nodes, 0], self.bounds[nodes, 1]
        kept = (sign * (b - a) >= 0) & (np.minimum(a, b) >= low) & (np.maximum(a, b) <= high)
        return (sign == 0) | kept

    @cached_property
    def bounds(self) -> np.ndarray:
        """Between which answers monotone constraints keep every node, (nodes, 2)."""
        return np.array([self.grown.bounds(node) for node in range(len(self.grown.tree))])

    def allowed(
        self, f: int, nodes: np.ndarray, lefts: np.ndarray, totals: np.ndarray
    ) -> np.ndarray:
        """Return which left sides of a column no rule refuses."""
        good, sign = self._enough(lefts, totals), self.sample.signs[f]
        return good & self._in_order(np.int64(sign), nodes, lefts, totals) if sign else good

    def allowed_cuts(
        self, some: np.ndarray, inner: np.ndarray, lefts: np.ndarray, totals: np.ndarray
    ) -> np.ndarray:
        """Return the same of many columns, (inner nodes, columns, values, channels)."""
        good, signs = self._enough(lefts, totals), np.asarray(self.sample.signs)[some]
        if not signs.any():
            return good
        nodes = inner[:, None, None]
        return good & self._in_order(signs[None, :, None], nodes, lefts, totals)

    def name(self, left: np.ndarray, total: np.ndarray) -> str:
        """Return the rule that refuses a left side."""
        rules, sides = self.sample.rules, (left, total - left)
        if min(side[0] for side in sides) < max(rules.min_samples_leaf, 1):
            return "min_samples_leaf"
        if min(side[1] for side in sides) < rules.min_weight_leaf * (1 - 1e-12):
            return "min_weight_leaf"
        if rules.criterion == "poisson" and min(side[2] for side in sides) <= 0:
            return "poisson needs a positive sum on both sides"
        return "monotone constraint"
