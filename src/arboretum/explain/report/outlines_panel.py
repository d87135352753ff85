"""Outlines for the page: numbers of every node of its trees, from which the page writes tables and formulas.

    trees   {shown number: {"l": {node: lines}, "s": sums of every node, "b": steps of leaves}}
    line    [column, cut or categories or null, missing side, verdict, …numbers of the family]
            grown      rows left, impurity left, impurity right, gain (, weight left, charge)
                       (, rows right, weight right: where surrogates place the missing rows)
            gradient   G left, H left, rows left, gain

Trees are taken in order until the work or the bytes of the page are spent (budget.py). The page lists what
was left out, with the command that prints it.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from arboretum.explain.outline.line import Line, TreeOutline
from arboretum.explain.outline.outline import Outliner
from arboretum.explain.pipeline import anatomy_of
from arboretum.explain.report.budget import Budget, packed_size
from arboretum.explain.report.history import RoundLog
from arboretum.explain.report.tree_code import rounded
from arboretum.explain.worksheet.families.friedman import step_formulas

__all__ = ["OutlineWriter"]

_MOST_COST = 4_200_000_000  # nanoseconds, or half of the work that is left
_LOOKED = 8  # trees from whose cost the cost of all is estimated
_MOST_NUMBERS = 227_000  # numbers in a page
_WORDS, _MOST_WORDS = (
    0.15,
    60_000,
)  # kept for whole worksheets: share of the room, and bytes at most
_COLUMNS = 4  # columns shown besides the winner's
_FEW_COLUMNS = 3  # the same, if all trees would need too many numbers
_LINE, _SUMS = 8, 3  # numbers per line, and per node
_LEAF_ROWS = 20_000_000  # rows times leaves, for Friedman's steps


class OutlineWriter:
    """Writes the outlines of one model's trees, and of its members'."""

    def __init__(self, log: RoundLog, budget: Budget) -> None:
        self.log, self.budget = log, budget
        self.trees: dict[str, Any] = {}
        self.verdicts: list[str] = []
        self.rules: list[dict[str, Any]] = []
        self._cost, self._numbers = min(_MOST_COST, budget.work / 2), _MOST_NUMBERS
        self.without = 0  # trees left without an outline they could have

    def write(self, family: Any, shown: list[tuple[int, int]]) -> None:
        """Write trees of a family, given as pairs (number in the page, number in the family)."""
        outliner = self._outliner(family, [t for _, t in shown])
        self.rules.append(_rules_of(family, outliner))
        room = self.budget.room - min(_WORDS * self.budget.room, _MOST_WORDS)
        replay = outliner.replay
        with nullcontext() if replay is None else replay.in_turn():
            for at, t in shown:
                if replay is not None:
                    self.log.look(replay, t)
                cost = outliner.cost(t)
                if cost is None:
                    return
                # the first may take longer
                most = self._cost if self.trees else self.budget.work / 2
                if cost > most or self._numbers <= 0:
                    self.without += 1
                    continue
                self._cost -= cost
                code = self._code(outliner.outline(t), outliner.is_gradient)
                steps = _steps(family, t)
                if steps is not None:
                    code["b"] = steps
                size = packed_size(code)
                if size > room:
                    self._numbers, self.without = 0, self.without + 1
                    continue
                room -= size
                self.budget.room -= size
                self.trees[str(at)] = code

    def _outliner(self, family: Any, trees: list[int]) -> Outliner:
        """Return the outliner: it tries every cut if there is time for all trees, else a grid of cuts."""
        inner = sum(len(family.trees[t]) - family.trees[t].n_leaves for t in trees)
        numbers = inner * ((1 + _COLUMNS) * _LINE + 2 * _SUMS)
        columns = _COLUMNS if numbers <= self._numbers else _FEW_COLUMNS
        exact = Outliner(family, columns)
        costs = [exact.cost(t) for t in trees[:: max(1, len(trees) // _LOOKED)]]
        known = [cost for cost in costs if cost is not None]
        if len(known) < len(costs) or np.mean(known) * len(trees) <= self._cost:
            return exact
        return Outliner(family, columns, grid=True)

    def _code(self, outline: TreeOutline, is_gradient: bool) -> dict[str, Any]:
        line = self._gradient_line if is_gradient else self._grown_line
        code: dict[str, Any] = {
            "r": len(self.rules) - 1,
            "l": {node: [line(one) for one in lines] for node, lines in outline.lines.items()},
        }
        self._numbers -= sum(len(one) for lines in code["l"].values() for one in lines)
        if outline.facts:
            sums = np.array([outline.facts[node] for node in sorted(outline.facts)])
            code["s"] = rounded(sums if sums[:, 3].any() else sums[:, :3], 7)
            self._numbers -= sums.size
        return code

    def _head(self, line: Line) -> list[Any]:
        if line.verdict not in self.verdicts:
            self.verdicts.append(line.verdict)
        cut: Any = list(line.inside) if line.inside else _number(line.cut, 9)
        return [line.feature, cut, line.missing, self.verdicts.index(line.verdict)]

    def _grown_line(self, line: Line) -> list[Any]:
        rows, weight, rows_right, weight_right, left, right, charge = line.numbers
        figures = [int(rows), *(_number(v) for v in (left, right, line.gain))]
        if self.rules[-1].get("surrogates"):
            others = int(rows_right), _number(weight_right, 7)
            figures += [_number(weight, 7), _number(charge), *others]
        elif weight != rows or charge:
            figures += [_number(weight, 7), _number(charge)] if charge else [_number(weight, 7)]
        return self._head(line) + figures

    def _gradient_line(self, line: Line) -> list[Any]:
        G, H, rows = line.numbers[:3]
        return [*self._head(line), _number(G, 6), _number(H, 6), int(rows), _number(line.gain, 6)]


def _number(value: float, digits: int = 5) -> Any:
    """Return a number with this many significant digits; null for NaN and infinity."""
    if not np.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short == int(short) else short


def _rules_of(family: Any, outliner: Outliner) -> dict[str, Any]:
    """Return the facts that the formulas of the page need besides sums."""
    if not outliner.is_gradient:
        anatomy = anatomy_of(family.model, "report")
        history, criterion = anatomy.history, anatomy.recipe.criterion
        found: dict[str, Any] = {"kind": "grown", "criterion": criterion}
        found["grid"] = outliner.grid
        found["surrogates"] = bool(outliner.has_surrogates)
        found["rates"] = rounded(np.asarray(history.figures.get("rate", ()), np.float64), 6)
        return found
    replay = family.replay
    rules, plan = replay.rules, replay.plan
    bent = rules.max_delta_step or rules.path_smooth or plan.monotone is not None
    return {
        "kind": "gradient",
        "l2": float(rules.reg_lambda),
        "l1": float(rules.reg_alpha),
        "gamma": float(rules.min_gain),
        "rate": 1.0 if replay.ensemble.averaged else float(plan.learning_rate),
        "bent": bool(bent),
        "renewed": replay.objective.renew_leaf is not None,
        "rounded": not replay.is_exact,
        "grid": outliner.grid and replay.is_exact,
    }


def _steps(family: Any, t: int) -> dict[str, Any] | None:
    """Return the step of every leaf of Friedman's boosting: the rule, the rule with numbers, the value."""
    rounds = getattr(family, "rounds", None)
    if rounds is None:
        return None
    tree = family.trees[t]
    if len(rounds.y) * sum(one.n_leaves for one in family.trees) > _LEAF_ROWS:
        return None
    found = {}
    for leaf in tree.leaves.tolist():
        first = step_formulas(rounds, t, leaf)[0]
        found[str(leaf)] = [first.rule, first.numbers, _number(float(first.value), 7)]
    return found
