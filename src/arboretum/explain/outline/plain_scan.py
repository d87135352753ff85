"""The best split of every column at every node of a second-order tree, all nodes at once.

It knows the plain formula, G²/(H + λ) left and right less that of the node, and the plain refusals (rows, H,
γ); what bends answers is left to the textbook's scan, node by node. Which partings are tried, and in which
order, is the textbook's (gradient_scan.py), and a test holds both together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arboretum.engine.rows.leaf_sums import best_cuts
from arboretum.textbook.gradient_scan import ROUNDING, GradientRules

__all__ = ["BestCuts", "BestSets", "PlainNodes"]


@dataclass(frozen=True, eq=False)
class BestCuts:
    """The best admissible cut of columns of numbers, (nodes, columns); a gain of -inf: there is none."""

    gain: np.ndarray
    place: np.ndarray  # the last bin on the left
    missing_left: np.ndarray  # bool
    left: np.ndarray  # (nodes, columns, 3): G, H and rows


@dataclass(frozen=True, eq=False)
class BestSets:
    """The best admissible parting of a column of categories, (nodes,)."""

    gain: np.ndarray
    order: np.ndarray  # (nodes, bins)
    first: np.ndarray  # the bins order[first:last] go left
    last: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray  # (nodes, 3)


class PlainNodes:
    """The inner nodes of a tree: G, H and rows of each, and the rules they share."""

    def __init__(self, totals: np.ndarray, rules: GradientRules) -> None:
        self.G, self.H, self.n = totals.T
        self.totals, self.rules = totals, rules
        self.own = self.G**2 / (self.H + rules.reg_lambda)

    def told(self, H: np.ndarray) -> np.ndarray:
        """Return rows as LightGBM tells them from their H; the first axis are nodes."""
        per_h = np.where(self.H > 0, self.n / np.where(self.H > 0, self.H, 1.0), 0.0)
        return np.floor(H * _like(per_h, H) + 0.5)

    def gains(
        self, G: np.ndarray, H: np.ndarray, rows: np.ndarray | None, extra_l2: float = 0.0
    ) -> np.ndarray:
        """Return the gain of every left side, -inf where a rule refuses it; the first axis are nodes."""
        rules, own = self.rules, _like(self.own, G)
        l2, other = rules.reg_lambda + extra_l2, _like(self.H, H) - H
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = G * G / (H + l2) + (_like(self.G, G) - G) ** 2 / (other + l2) - own
        good = np.minimum(H, other) >= rules.min_weight
        if rows is not None:
            good &= np.minimum(rows, _like(self.n, rows) - rows) >= rules.min_rows
        good &= gain > ROUNDING * np.abs(own)
        good &= gain >= rules.min_gain if rules.reach_gain else gain > rules.min_gain
        return np.where(good, gain, -np.inf)

    # ------------------------------------------------------------------ numbers
    def cuts(self, sums: np.ndarray) -> BestCuts:
        """Return the best cuts; ``sums`` (nodes, columns, bins + 1, 3) has missing values last."""
        rules, shape = self.rules, sums.shape[:2]
        found = BestCuts(
            np.empty(shape), np.empty(shape, np.int64), np.empty(shape, bool), np.empty((*shape, 3))
        )
        asked = (
            rules.reg_lambda, rules.min_weight, rules.min_rows, rules.min_gain, rules.reach_gain,
            ROUNDING,
        )  # fmt: skip
        best_cuts(
            sums, np.ascontiguousarray(self.totals), tuple(float(one) for one in asked),
            found.gain, found.place, found.missing_left, found.left,
        )  # fmt: skip
        return found

    # ------------------------------------------------------------------ categories
    def sets(self, sums: np.ndarray) -> BestSets:
        """Return the best partings of one column; ``sums`` (nodes, bins + 1, 3) has missing values last."""
        bins, missing = sums[:, :-1], sums[:, -1]
        if bins.shape[1] <= self.rules.max_onehot:
            return self._one_by_one(bins, missing)
        return self._by_answer(bins, missing) if self.rules.xgboost else self._by_ratio(bins)

    def _one_by_one(self, bins: np.ndarray, missing: np.ndarray) -> BestSets:
        n, found = (
            bins.shape[1],
            _Best(len(bins), np.tile(np.arange(bins.shape[1]), (len(bins), 1))),
        )
        both = (missing[:, 2] > 0) & self.rules.xgboost
        for b in range(n):
            for side in (False, True):
                left = bins[:, b] + (missing if side else 0.0)
                tried = both if side else (bins[:, b, 1] > 0) | both
                gain = self.gains(left[:, 0], left[:, 1], self._rows_of(self.told(left[:, 1])))
                found.offer(np.where(tried, gain, -np.inf), b, b + 1, side, left)
        return found.done()

    def _rows_of(self, told: np.ndarray) -> np.ndarray | None:
        return told if self.rules.min_rows > 0 else None

    def _by_answer(self, bins: np.ndarray, missing: np.ndarray) -> BestSets:
        """XGBoost's: beginnings, then ends, of the categories by what they would answer."""
        rules, n = self.rules, bins.shape[1]
        G, H = bins[..., 0], bins[..., 1]
        enough = (H > 0) & (rules.min_weight <= H)
        alone = np.where(enough, -G / np.where(enough, H + rules.reg_lambda, 1.0) + 0.0, 0.0)
        order = np.argsort(alone, axis=1, kind="stable")
        ranked = np.take_along_axis(bins, order[..., None], axis=1)
        longest, found = min(rules.max_cat_threshold, n) - 1, _Best(len(bins), order)
        if longest < 1:
            return found.done()
        some = np.asarray(ranked.any(axis=2))
        rows = np.zeros((len(bins), longest)) if rules.min_rows > 0 else None
        begin = np.cumsum(ranked[:, :longest], axis=1)
        gain = np.where(some[:, :longest], self.gains(begin[..., 0], begin[..., 1], rows), -np.inf)
        found.offer_best(gain, np.zeros(longest, int), np.arange(longest) + 1, False, begin)
        ends = self.totals[:, None] - np.cumsum(ranked[:, : n - 1 - longest : -1], axis=1)
        gain = self.gains(ends[..., 0], ends[..., 1], rows)
        again = (missing[:, 2] == 0) & (longest == n - 1)  # the same partings
        gain[~some[:, : n - 1 - longest : -1] | again[:, None]] = -np.inf
        found.offer_best(gain, np.zeros(longest, int), n - 1 - np.arange(longest), True, ends)
        return found.done()

    def _by_ratio(self, bins: np.ndarray) -> BestSets:
        """LightGBM's: beginnings and ends of the order by G / (H + smooth), by groups of enough rows."""
        rules, told = self.rules, self.told(bins[..., 1])
        used = (bins[..., 1] > 0) & (told >= rules.cat_min_rows)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(used, bins[..., 0] / (bins[..., 1] + rules.cat_smooth), np.inf)
        order, many = np.argsort(ratio, axis=1, kind="stable"), used.sum(axis=1)
        longest, found = (
            np.minimum(rules.max_cat_threshold, (many + 1) // 2),
            _Best(len(bins), order),
        )
        every = np.arange(len(bins))
        for backward in (False, True):
            sums, rows, group = np.zeros((len(bins), 3)), np.zeros(len(bins)), np.zeros(len(bins))
            going = np.ones(len(bins), bool)
            for i in range(int(longest.max(initial=0))):
                going = going & (i < longest)
                at = np.where(going, many - 1 - i if backward else i, 0)
                b = order[every, at]
                sums, rows = sums + bins[every, b], rows + told[every, b]
                group, right = group + told[every, b], self.n - rows
                going = going & (right >= rules.min_rows) & (right >= rules.min_group)
                tried = going & (group >= rules.min_group) & (rows >= rules.min_rows)
                tried &= np.minimum(sums[:, 1], self.H - sums[:, 1]) >= rules.min_weight
                group = np.where(tried, 0.0, group)
                gain = self.gains(sums[:, 0], sums[:, 1], self._rows_of(rows), rules.cat_l2)
                first, last = (at, many) if backward else (0, i + 1)
                found.offer(np.where(tried, gain, -np.inf), first, last, False, sums)
        return found.done()


class _Best:
    """The best parting so far of every node; of equals the first that was offered."""

    def __init__(self, n: int, order: np.ndarray) -> None:
        self.gain, self.order = np.full(n, -np.inf), order
        self.first, self.last = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.missing_left, self.left = np.zeros(n, bool), np.zeros((n, 3))

    def offer(self, gain, first, last, missing_left: bool, left: np.ndarray) -> None:
        more = gain > self.gain
        self.gain = np.where(more, gain, self.gain)
        self.first, self.last = np.where(more, first, self.first), np.where(more, last, self.last)
        self.missing_left = np.where(more, missing_left, self.missing_left)
        self.left = np.where(more[:, None], left, self.left)

    def offer_best(self, gain, first, last, missing_left: bool, left: np.ndarray) -> None:
        """Offer the best of some, (nodes, partings)."""
        best, every = gain.argmax(axis=1), np.arange(len(gain))
        self.offer(gain[every, best], first[best], last[best], missing_left, left[every, best])

    def done(self) -> BestSets:
        return BestSets(self.gain, self.order, self.first, self.last, self.missing_left, self.left)


def _like(of_nodes: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return a number per node in the shape of others, whose first axis are nodes."""
    return of_nodes.reshape(-1, *(1,) * (other.ndim - 1))
