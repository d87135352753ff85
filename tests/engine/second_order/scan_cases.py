"""Nodes whose bins are random, and splits scored one by one in plain Python."""

from types import SimpleNamespace

import numpy as np

from arboretum.engine.dtypes import SPLIT, record_table
from arboretum.engine.second_order.score import ScannedNode, SplitRules, SplitScratch, is_plain

RULES = SplitRules(
    0.0, 1.0, 0.0, 0.0, 0.0, True, 1.0, 0.0, 0.0, 0.0, 0.0, 32, 4, 0.0, 6, 64, True, 0, 0
)  # fmt: skip
G_UNIT, H_UNIT = 0.5, 0.25


def new_scratch(n):
    gain = np.empty(n + 1)
    whole = np.zeros((6, n + 1), np.int64)
    best = record_table(1, SPLIT)
    best[:] = 0
    best["gain"], best["feature"] = -np.inf, -1
    return SplitScratch(
        whole[0], whole[1], whole[2], whole[3], np.empty(n + 1), gain, gain.view(np.int64),
        whole[4], np.empty(n + 1), whole[5], np.empty((2, n + 1)), best, np.zeros(n // 32 + 1, np.uint32),
        np.zeros(0, np.int64),
    )  # fmt: skip


def bins_of(n, rng, *, missing, empty=0.2):
    """Return Σg and Σh of n bins, the missing values behind them; some bins are empty."""
    g, h = rng.integers(-40, 41, n + 1), rng.integers(1, 60, n + 1)
    none = rng.random(n + 1) < empty
    none[n] = not missing
    g[none], h[none] = 0, 0
    return g, h


def node_of(g, h, rules, *, rows=200, lower=-np.inf, upper=np.inf, parent=0.1):
    """Return the node that has these bins, and its score."""
    total_g, total_h = int(g.sum()), int(h.sum())
    node = ScannedNode(
        total_g, total_h, G_UNIT, H_UNIT, float(rows), parent, lower, upper,
        rows / max(total_h, 1), bool(is_plain(lower, upper, rules)),
        0.0, 0.0,
    )  # fmt: skip
    itself = side_score(total_g, total_h, rows, node, rules.l2, rules)
    return node._replace(score=itself, set_score=itself), itself


def soft(G, l1):
    return np.sign(G) * max(abs(G) - l1, 0.0)


def side_answer(g, h, rows, node, l2, rules):
    G, H = g * G_UNIT, h * H_UNIT
    b = -soft(G, rules.l1) / (H + l2) if H + l2 > 0 else 0.0
    if rules.max_delta_step:
        b = np.clip(b, -rules.max_delta_step, rules.max_delta_step)
    if rules.path_smooth:
        b = (b * rows / rules.path_smooth + node.answer) / (rows / rules.path_smooth + 1)
    return float(np.clip(b, node.lower, node.upper))


def side_score(g, h, rows, node, l2, rules):
    b = side_answer(g, h, rows, node, l2, rules)
    return -(2 * soft(g * G_UNIT, rules.l1) * b + (h * H_UNIT + l2) * b * b)


def split_gain(g, h, n_left, node, itself, rules, *, l2=None, sign=0):
    """Return what a left side with these sums and rows gains; -inf if it may not be."""
    l2 = rules.l2 if l2 is None else l2
    right_g, right_h, n_right = node.g - g, node.h - h, node.rows - n_left
    if min(h, right_h) * H_UNIT < rules.min_weight or min(n_left, n_right) < rules.min_rows:
        return -np.inf
    sides = [(g, h, n_left), (right_g, right_h, n_right)]
    left, right = (side_answer(*side, node, l2, rules) for side in sides)
    if (right - left) * sign < 0:
        return -np.inf
    return sum(side_score(*side, node, l2, rules) for side in sides) - itself


def rows_in(h, node):
    """Return the rows that a bin is held to have."""
    return float(np.floor(h * node.share + 0.5))


def best_of(candidates, rules, itself):
    """Return the first of the largest gains that are worth a split, or None."""
    best = None
    for one in candidates:
        worth = one.gain > 1e-12 * abs(itself) and one.gain >= rules.min_gain
        if worth and (best is None or one.gain > best.gain + 1e-9 * abs(best.gain)):
            best = one
    return best


def candidate(gain, **what):
    return SimpleNamespace(gain=gain, **what)
