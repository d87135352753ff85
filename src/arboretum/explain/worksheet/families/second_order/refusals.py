"""Why splits of second-order boosting that would gain more than the winner were not taken, with numbers.

Every reason is named once, with the split that it cost most.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from arboretum.explain.worksheet.families.second_order.columns import columns_of, left_out
from arboretum.explain.worksheet.families.second_order.replay import AtNode, Replay
from arboretum.explain.worksheet.refusals import both_numbers, reason
from arboretum.explain.worksheet.rendering import number
from arboretum.lazy import cached_property
from arboretum.structure.condition import Condition, format_category
from arboretum.structure.tree import SUBSET
from arboretum.textbook.gradient_scan import (
    GradientCandidate,
    GradientScan,
    gradient_answer,
    gradient_score,
    scan_one,
)
from arboretum.textbook.symmetric import LevelCut

__all__ = [
    "Looked",
    "held_back_notes",
    "option",
    "refusal_notes",
    "verdict_of",
    "why_refused",
    "winner_of",
]

_LOOKED_AT = 40  # refused splits of a column whose reason is worked out
_NAMES = {
    "lightgbm": {"min_child_weight": "min_sum_hessian_in_leaf", "gamma": "min_split_gain"},
    "scikit-learn": {
        "min_child_weight": "the least Σh of a leaf",
        "min_child_samples": "min_samples_leaf",
        "monotone_constraints": "monotonic_cst",
    },
}


class Looked:
    """One node and its candidates."""

    def __init__(self, replay: Replay, t: int, node: int) -> None:
        self.replay, self.t, self.node = replay, t, node
        self.tree, self.rules, self.at = replay.trees[t], replay.rules, replay.at(t, node)

    @cached_property
    def scans(self) -> dict[int, GradientScan]:
        """The candidates of every column."""
        columns = range(self.replay.table.schema.n_features)
        return {f: self.replay.scan(self.t, f, self.at) for f in columns}

    @cached_property
    def others(self) -> dict[int, str]:
        """Why some columns were not looked at."""
        return left_out(self.replay, self.t, self.node, self.at)

    @property
    def tried(self) -> dict[int, GradientScan]:
        """The candidates of the columns that were looked at."""
        return {f: scan for f, scan in self.scans.items() if f not in self.others}

    @property
    def draws(self) -> str:
        """How its columns were drawn."""
        return columns_of(self.replay, self.t, self.node, self.at)[1]

    @cached_property
    def winner(self) -> GradientCandidate | None:
        """The split of the model; None for a leaf."""
        if self.tree.is_leaf[self.node]:
            return None
        scan = self.scans.get(int(self.tree.feature[self.node]))
        return winner_of(self.replay, self.t, self.node, self.at, scan)

    def name_of(self, c: GradientCandidate | LevelCut) -> str:
        return self.replay.table.schema.columns[c.feature].name

    def question(self, c: GradientCandidate | LevelCut) -> str:
        """Return a candidate's question in the words of the table."""
        column = self.replay.table.schema.columns[c.feature]
        words = column.categories or ()
        if c.categories is not None:
            left = tuple(words[k] for k in sorted(c.categories))
            inside = Condition(c.feature, column.name, "in", left, kind=column.kind)
            text = inside.pretty(max_categories=5)
        elif c.cut == np.inf:
            return f"{column.name} is present"
        else:
            shown: Any = format_category(words[int(c.cut)]) if words else c.cut
            kind = column.value_kind
            text = Condition(c.feature, column.name, "<=", (shown,), kind=kind).pretty()
        return text + (" or missing" if c.default == "left" and c.missing_rows else "")

    def verdict(self, c: GradientCandidate) -> str:
        return verdict_of(self.replay, c, self.winner)


def winner_of(
    replay: Replay,
    t: int,
    node: int,
    at: AtNode,
    scan: GradientScan | None = None,
    sums: np.ndarray | None = None,
    missing: float = 0.0,
) -> GradientCandidate:
    """Return the split of the model with its figures, those of its column's scan if it is there.

    ``sums`` are G, H and rows of its left side, ``missing`` the rows without a value, if they are known.
    """
    tree = replay.trees[t]
    f = int(tree.feature[node])
    if sums is None:
        g, h = replay.gradients(t)
        inside = at.rows[replay.goes_left(tree, node, t, at.rows)]
        sums = np.array([g[inside].sum(), h[inside].sum(), len(inside)], np.float64)
        missing = float(np.isnan(replay.matrix_seen.column(f)[at.rows]).sum())
    cut, categories = float(tree.threshold[node]), None
    if tree.kind[node] == SUBSET:
        words = tree.column(f).categories or ()
        among = set(tree.categories_of(int(tree.bits_start[node]), f)[0])
        categories = frozenset(c for c, word in enumerate(words) if word in among)
    default = "left" if tree.missing_child[node] == 0 else "right"
    found = None if scan is None else scan.find(sums)
    if found is not None:
        return replace(found, cut=cut, categories=categories, default=default)
    sign, extra = replay.sign(f, categories), replay.extra_l2(tree, node, t)
    return scan_one(at.node, f, sums, cut, categories, default, sign, extra, missing)


def verdict_of(replay: Replay, c: GradientCandidate, winner: GradientCandidate | None) -> str:
    """Return in a few words why a candidate was not taken."""
    if c is winner or _is_winner(c, winner):
        return "wins"
    # where a tree is grown first and cut back by γ afterwards, γ refuses nothing
    grows = replay.is_exact and c.verdict == "gains less than γ" and winner is not None
    if c.verdict != "admissible" and not grows:
        return c.verdict
    if winner is None:
        return "admissible"
    if replay.plan.rules.symmetric:
        return "not the cut of its level"
    close = 1e-9 * (abs(winner.score_left) + abs(winner.score_right) + abs(winner.score_node))
    if abs(c.gain - winner.gain) <= close:
        return "tie: the first wins"
    if c.gain > winner.gain:
        return "lost by rounding" + ("" if replay.is_exact else " to 16 bits")
    return "gains less"


def _is_winner(c: GradientCandidate, winner: GradientCandidate | None) -> bool:
    """Return True if a candidate splits the rows as the winner does."""
    if winner is None or c.feature != winner.feature or c.n_left != winner.n_left:
        return False
    close = 1e-9 * (c.score_left + c.score_right)
    return c.gain == winner.gain or abs(c.gain - winner.gain) <= close


def option(replay: Replay, name: str) -> str:
    """Return a rule by the name that the model's program has for it."""
    return _NAMES.get(replay.model.dialect, {}).get(name, name)


def refused_because(looked: Looked, c: GradientCandidate) -> str:
    """Return the rule that refuses a split, with its numbers."""
    r, replay = looked.rules, looked.replay
    match c.verdict:
        case "min_child_weight":
            limit = f"{option(replay, c.verdict)}={number(r.min_weight)}"
            return reason("cover", both_numbers(c.H_left, c.H_right), limit)
        case "min_child_samples":
            return reason(
                "rows",
                _rows_by_cover(c, r.min_rows),
                f"{option(replay, c.verdict)}={number(r.min_rows)}",
            )
        case "monotone constraint":
            way = "rise" if replay.sign(c.feature, c.categories) > 0 else "fall"
            order = f"{way} with {looked.name_of(c)} ({option(replay, 'monotone_constraints')})"
            return reason("order", both_numbers(c.answer_left, c.answer_right), order)
        case "gains less than γ":
            return f"a split must gain {option(replay, 'gamma')}={number(r.min_gain)}"
    return "that is no more than rounding"


def refusal_notes(looked: Looked) -> list[str]:
    """Return a sentence for every reason that kept a split of at least the winner's gain from winning."""
    found: dict[str, str] = {}
    winner = looked.winner
    assert winner is not None
    for c in _better(looked.scans, winner.gain):
        verdict, why = looked.verdict(c), _why(looked, c)
        if verdict.startswith("lost by rounding") and not why:
            why = "lost by the rounding of g and h, with which splits were searched"
        if verdict != "wins" and why:
            gains = f"{number(c.gain)}, {number(c.gain - winner.gain)} more than the winner"
            text = f"{looked.question(c)} would gain {gains}, but {why}."
            found.setdefault(looked.others.get(c.feature, verdict), text)
    ties = (
        f"{looked.question(c)} gains as much, {number(c.gain)}: of equal splits the first column is taken, "
        "then the first cut."
        for scan in looked.tried.values()
        for c in scan.best(3)
        if looked.verdict(c).startswith("tie")
    )
    return [*found.values(), *[*ties][:1]]


def why_refused(looked: Looked) -> str:
    """Return what refuses the best splits of a leaf without an admissible one, for every rule that does."""
    found: dict[str, str] = {}
    for c in _better(looked.scans, 0.0):
        why = _why(looked, c)
        if why:
            text = f"{looked.question(c)} would gain {number(c.gain)}, but {why}"
            found.setdefault(looked.others.get(c.feature, c.verdict), text)
    return "".join(f"; {text}" for text in found.values())


def _why(looked: Looked, c: GradientCandidate) -> str:
    """Return why a split could not be taken; empty if it could."""
    if c.feature not in looked.others:
        return "" if c.verdict == "admissible" else refused_because(looked, c)
    if c.verdict != "admissible":
        return ""
    return f"{looked.name_of(c)} {looked.others[c.feature]}"


# ---------------------------------------------------------------------- max_delta_step
def held_back_notes(looked: Looked) -> list[str]:
    """Return what max_delta_step kept the winner, or another split, from gaining."""
    most, winner = looked.rules.max_delta_step, looked.winner
    assert winner is not None
    if not most > 0:
        return []
    best, leader = -np.inf, winner
    for f, scan in looked.tried.items():
        free = _gains_without_limit(looked, f, scan.left)
        free[~scan.allowed] = -np.inf
        if len(free) and free.max() > best:
            best, leader = float(free.max()), scan[int(free.argmax())]
    rule, c = f"max_delta_step={number(most)}", leader
    sides = np.array([[c.G_left, c.H_left, c.n_left], [c.G_right, c.H_right, c.n_right]])
    free = _answer_without_limit(looked, c.feature, sides)
    answers = f"its sides would answer {both_numbers(*free.tolist())}"
    held = f"are held at {both_numbers(c.answer_left, c.answer_right)}"
    if looked.verdict(c) == "wins":
        if max(abs(c.answer_left), abs(c.answer_right)) < most:
            return [f"{rule} holds no answer back here."]
        return [f"Without {rule} the winner would gain {number(best)}: {answers}, and {held}."]
    return [
        f"Without {rule} {looked.question(c)} would win, with a gain of {number(best)}: {answers}, "
        f"{held}, and so it gains {number(c.gain)}."
    ]


def _answer_without_limit(looked: Looked, f: int, sums: np.ndarray) -> np.ndarray:
    rules, node = replace(looked.rules, max_delta_step=0.0), looked.at.node
    extra = looked.replay.column_l2(looked.t, f)
    G, H, n = sums.T
    return gradient_answer(G, H, n, node.answer, node.bounds, rules, extra)


def _gains_without_limit(looked: Looked, f: int, left: np.ndarray) -> np.ndarray:
    rules, node = replace(looked.rules, max_delta_step=0.0), looked.at.node
    extra, whole = looked.replay.column_l2(looked.t, f), np.array([[node.G, node.H, node.n]])
    scores: list[Any] = []
    for sums, more in ((left, extra), (whole - left, extra), (whole, 0.0)):
        b = _answer_without_limit(looked, f, sums)
        scores.append(gradient_score(sums[:, 0], sums[:, 1], b, rules, more))
    return scores[0] + scores[1] - scores[2]


def _better(scans: dict[int, GradientScan], floor: float) -> list[GradientCandidate]:
    """Return splits that gain more than ``floor``, refused or not, the largest first."""
    found = []
    for scan in scans.values():
        for allowed in (scan.allowed, ~scan.allowed):
            some = np.flatnonzero(allowed & (scan.gain > floor))
            order = np.argsort(-scan.gain[some], kind="stable")[:_LOOKED_AT]
            found += [scan[int(i)] for i in some[order]]
    return sorted(found, key=lambda c: -c.gain)


def _rows_by_cover(c: GradientCandidate, least: float) -> str:
    """Return the rows of both sides; LightGBM estimates them from ΣH, where that decides."""
    text = f"{both_numbers(c.n_left, c.n_right)} rows"
    if min(c.n_left, c.n_right) < least:
        return text
    rows, cover = c.n_left + c.n_right, c.H_left + c.H_right
    estimated = both_numbers(round(c.H_left / cover * rows), round(c.H_right / cover * rows))
    return f"{text}, estimated from ΣH as {estimated}"
