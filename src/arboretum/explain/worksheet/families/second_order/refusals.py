"""Why splits of second-order boosting that would gain more than the winner were not taken, with numbers.

Every reason is told once, by the split that it cost most.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from arboretum.explain.worksheet.families.second_order.columns import ColumnDraws
from arboretum.explain.worksheet.families.second_order.replay import AtNode
from arboretum.explain.worksheet.refusals import both_numbers
from arboretum.explain.worksheet.rendering import number
from arboretum.structure.condition import Condition, format_category
from arboretum.textbook.gradient_scan import (
    GradientCandidate,
    GradientScan,
    gradient_answer,
    gradient_score,
)

__all__ = ["BoosterRefusals", "Looked"]

_LOOKED_AT = 40  # refused splits of a column whose reason is worked out
_LIGHTGBM = {"min_child_weight": "min_sum_hessian_in_leaf", "gamma": "min_split_gain"}


@dataclass(frozen=True, eq=False)
class Looked:
    """The candidates of all columns of a node; ``others`` says why some columns were not looked at."""

    scans: dict[int, GradientScan]
    others: dict[int, str]

    @property
    def tried(self) -> dict[int, GradientScan]:
        """Of the columns that were looked at."""
        return {f: scan for f, scan in self.scans.items() if f not in self.others}


class BoosterRefusals(ColumnDraws):
    """A booster that tells why splits were not taken."""

    def look(self, t: int, node: int, at: AtNode) -> Looked:
        """Return the candidates of a node."""
        columns = range(self.table.schema.n_features)
        return Looked({f: self.scan(t, f, at) for f in columns}, self.left_out(t, node, at))

    def option(self, name: str) -> str:
        """Return a rule by the name that the model's program has for it."""
        return _LIGHTGBM.get(name, name) if self.model.dialect == "lightgbm" else name

    def question(self, c: GradientCandidate) -> str:
        """Return a candidate's question in the words of the table."""
        column = self.table.schema.columns[c.feature]
        words = column.categories or ()
        if c.categories is not None:
            left = tuple(words[k] for k in sorted(c.categories))
            text = Condition(c.feature, column.name, "in", left, kind=column.kind).pretty(
                max_categories=5
            )
        elif c.cut == np.inf:
            return f"{column.name} is present"
        else:
            shown: Any = format_category(words[int(c.cut)]) if words else c.cut
            text = Condition(
                c.feature, column.name, "<=", (shown,), kind=column.value_kind
            ).pretty()
        return text + (" or missing" if c.default == "left" and c.missing_rows else "")

    def is_winner(self, c: GradientCandidate, winner: GradientCandidate | None) -> bool:
        """Tell whether a candidate parts the rows as the winner does."""
        if winner is None or c.feature != winner.feature or c.n_left != winner.n_left:
            return False
        return c.gain == winner.gain or abs(c.gain - winner.gain) <= 1e-9 * (
            c.score_left + c.score_right
        )

    def verdict_of(self, c: GradientCandidate, winner: GradientCandidate | None) -> str:
        """Return in a few words why a candidate was not taken."""
        if c is winner or self.is_winner(c, winner):
            return "wins"
        if c.verdict != "admissible" and not (winner and self._grows_before_pruning(c)):
            return c.verdict
        if winner is None:
            return "admissible"
        close = 1e-9 * (abs(winner.score_left) + abs(winner.score_right) + abs(winner.score_node))
        if abs(c.gain - winner.gain) <= close:
            return "tie: the first wins"
        if c.gain > winner.gain:
            return "lost by rounding to 16 bits" if not self.is_exact else "lost by rounding"
        return "gains less"

    def _grows_before_pruning(self, c: GradientCandidate) -> bool:
        """Whether γ alone refuses a split where a tree is grown first, and cut back by γ afterwards."""
        return self.is_exact and c.verdict == "gains less than γ"

    def refused_because(self, c: GradientCandidate) -> str:
        """Return the rule that refuses a split, with the numbers it goes by."""
        r, name = self.rules, self.table.schema.columns[c.feature].name
        if c.verdict == "min_child_weight":
            covers, rule = both_numbers(c.H_left, c.H_right), self.option(c.verdict)
            return f"its sides have ΣH = {covers}, {rule}={number(r.min_weight)}"
        if c.verdict == "min_child_samples":
            return f"its sides have {_rows_told(c, r.min_rows)}, min_child_samples={number(r.min_rows)}"
        if c.verdict == "monotone constraint":
            sign = int(self.plan.monotone[c.feature])
            answers = both_numbers(c.answer_left, c.answer_right)
            way = f"{'rise' if sign > 0 else 'fall'} with {name} (monotone_constraints)"
            return f"its sides would answer {answers}, which may only {way}"
        if c.verdict == "gains less than γ":
            return f"a split must gain {self.option('gamma')}={number(r.min_gain)}"
        return "that is no more than rounding"

    def refusal_notes(self, looked: Looked, winner: GradientCandidate) -> list[str]:
        """Return a sentence for every reason that kept a split of at least the winner's gain from winning."""
        found: dict[str, str] = {}
        for c in _better(looked.scans, winner.gain):
            verdict, why = self.verdict_of(c, winner), self._why(looked, c)
            if verdict.startswith("lost by rounding") and not why:
                why = "lost by the rounding of g and h, with which splits were searched"
            if verdict != "wins" and why:
                gains = f"{number(c.gain)}, {number(c.gain - winner.gain)} more than the winner"
                text = f"{self.question(c)} would gain {gains}, but {why}."
                found.setdefault(looked.others.get(c.feature, verdict), text)
        return [*found.values(), *self._ties(looked, winner)]

    def why_refused(self, looked: Looked) -> str:
        """Return of a leaf where no split is admissible what refuses the best, for every rule that does."""
        found: dict[str, str] = {}
        for c in _better(looked.scans, 0.0):
            why = self._why(looked, c)
            if why:
                text = f"{self.question(c)} would gain {number(c.gain)}, but {why}"
                found.setdefault(looked.others.get(c.feature, c.verdict), text)
        return "".join(f"; {text}" for text in found.values())

    def _why(self, looked: Looked, c: GradientCandidate) -> str:
        """Return why a split could not be taken; empty if it could."""
        if c.feature not in looked.others:
            return "" if c.verdict == "admissible" else self.refused_because(c)
        if c.verdict != "admissible":
            return ""
        return f"{self.table.schema.columns[c.feature].name} {looked.others[c.feature]}"

    def _ties(self, looked: Looked, winner: GradientCandidate) -> list[str]:
        for scan in looked.tried.values():
            for c in scan.best(3):
                if self.verdict_of(c, winner).startswith("tie"):
                    return [
                        f"{self.question(c)} gains as much, {number(c.gain)}: of equals the first column is "
                        "taken, then the first cut."
                    ]
        return []

    # ------------------------------------------------------------------ max_delta_step
    def held_back_notes(
        self, t: int, at: AtNode, looked: Looked, winner: GradientCandidate
    ) -> list[str]:
        """Return what max_delta_step kept the winner, or another split, from gaining."""
        most = self.rules.max_delta_step
        if not most > 0:
            return []
        best, leader = -np.inf, winner
        for f, scan in looked.tried.items():
            free = self._gains_without_limit(t, f, at, scan.left)
            free[~scan.allowed] = -np.inf
            if len(free) and free.max() > best:
                best, leader = float(free.max()), scan[int(free.argmax())]
        rule = f"max_delta_step={number(most)}"
        c = leader
        sides = np.array([[c.G_left, c.H_left, c.n_left], [c.G_right, c.H_right, c.n_right]])
        free = self._answer_without_limit(t, c.feature, at, sides)
        answers = f"its sides would answer {both_numbers(*free.tolist())}"
        held = f"are held at {both_numbers(leader.answer_left, leader.answer_right)}"
        if self.verdict_of(leader, winner) == "wins":
            if max(abs(leader.answer_left), abs(leader.answer_right)) < most:
                return [f"{rule} holds no answer back here."]
            return [f"Without {rule} the winner would gain {number(best)}: {answers}, and {held}."]
        return [
            f"Without {rule} {self.question(leader)} would win, with a gain of {number(best)}: {answers}, "
            f"{held}, and so it gains {number(leader.gain)}."
        ]

    def _answer_without_limit(self, t: int, f: int, at: AtNode, sums: np.ndarray) -> np.ndarray:
        rules, extra = replace(self.rules, max_delta_step=0.0), self.column_l2(t, f)
        G, H, n = sums.T
        return gradient_answer(G, H, n, at.node.answer, at.node.bounds, rules, extra)

    def _gains_without_limit(self, t: int, f: int, at: AtNode, left: np.ndarray) -> np.ndarray:
        rules, extra = replace(self.rules, max_delta_step=0.0), self.column_l2(t, f)
        whole = np.array([[at.node.G, at.node.H, at.node.n]])
        scores: list[Any] = []
        for sums, more in ((left, extra), (whole - left, extra), (whole, 0.0)):
            b = self._answer_without_limit(t, f, at, sums)
            scores.append(gradient_score(sums[:, 0], sums[:, 1], b, rules, more))
        return scores[0] + scores[1] - scores[2]


def _better(scans: dict[int, GradientScan], floor: float) -> list[GradientCandidate]:
    """Return splits that gain more than that, refused or not, the largest first."""
    found = []
    for scan in scans.values():
        for allowed in (scan.allowed, ~scan.allowed):
            some = np.flatnonzero(allowed & (scan.gain > floor))
            order = np.argsort(-scan.gain[some], kind="stable")[:_LOOKED_AT]
            found += [scan[int(i)] for i in some[order]]
    return sorted(found, key=lambda c: -c.gain)


def _rows_told(c: GradientCandidate, least: float) -> str:
    """Return the rows of both sides; LightGBM tells them by their share of ΣH, where that decides."""
    text = f"{both_numbers(c.n_left, c.n_right)} rows"
    if min(c.n_left, c.n_right) < least:
        return text
    rows, cover = c.n_left + c.n_right, c.H_left + c.H_right
    told = both_numbers(round(c.H_left / cover * rows), round(c.H_right / cover * rows))
    return f"{text}, told by ΣH about {told}"
