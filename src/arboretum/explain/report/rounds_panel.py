"""The rounds of a booster: a few numbers of each, and the whole worksheets of some.

    {"count": 100, "lines": [["loss after", [0.61, 0.55, …]], …], "whole": {"0": sheet, …}}

Lines are what the model keeps (losses, ε, α, …), and for second-order boosters sums that are computed while
outlines are made, because margins and gradients of a round need the predictions of the trees before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.explain.pick_tree import rounds_of, trees_of
from arboretum.explain.report.tree_code import rounded
from arboretum.explain.worksheet.families.second_order.rounds import losses

if TYPE_CHECKING:
    from arboretum.explain.worksheet.families.second_order.replay import Replay

__all__ = ["RoundLog", "rounds_panel"]

_SHEETS = 12
_WALKED = 30_000_000  # rows times trees that are predicted for whole worksheets


class RoundLog:
    """Sums of gradients and the loss of every round, collected while outlines are made."""

    def __init__(self) -> None:
        self.met: dict[int, list[float]] = {}

    def look(self, replay: Replay, t: int) -> None:
        """Collect the round of a tree of second-order boosting."""
        m = replay.place_of(t)[0]
        if m in self.met:
            return
        state = replay.state(m)
        costs = losses(replay, replay.table.y, state.before)
        loss = np.nan
        if costs is not None:
            weight = replay.table.weight
            counted = weight if weight is not None and len(weight) == len(costs) else None
            loss = float(np.average(costs, weights=counted))
        g, h = state.g.astype(np.float64), state.h.astype(np.float64)
        self.met[m] = [loss, float(g.sum()), float(np.abs(g).max()), float(h.sum())]

    def lines(self, n: int) -> list[list[Any]]:
        """Return the lines, if all n rounds were collected."""
        if sorted(self.met) != list(range(n)):
            return []
        values = np.array([self.met[m] for m in range(n)]).T
        names = ("loss before", "Σ g over all rows", "largest |g|", "Σ h over all rows")
        return [
            [name, rounded(line, 6)]
            for name, line in zip(names, values, strict=True)
            if not np.isnan(line).all()
        ]


def rounds_panel(model: Any, book: Any, log: RoundLog, write: Any) -> dict[str, Any] | None:
    """Return the numbers of all rounds and the sheets of some; None where the model has none.

    Parameters
    ----------
    model : fitted estimator
    book : Worksheet
    log : RoundLog
    write : callable
        Takes a round and returns its sheet, None where there is none.
    """
    n = _count(model)
    if not n:
        return None
    each = max(1, int(getattr(model, "_n_rows", 1)) * len(trees_of(model)))
    wanted = int(np.clip(_WALKED // each, 1, _SHEETS))
    chosen = np.unique(np.concatenate([[0], np.linspace(0, n - 1, wanted).round()]).astype(int))
    sheets = {str(m): sheet for m in chosen.tolist() if (sheet := write(m)) is not None}
    rounds = rounds_of(model)
    return {
        "count": n,
        "per_round": rounds.per_round if rounds is not None else 1,
        "lines": log.lines(n) + _kept(model, n),
        "whole": sheets,
    }


def _count(model: Any) -> int:
    """Return how many rounds a booster has; 0 for models that are none."""
    rounds = rounds_of(model)
    if rounds is not None:
        return len(trees_of(model)) // rounds.per_round
    if hasattr(model, "report_") and hasattr(model, "coefficients_"):
        return len(model.report_)
    return len(model.estimators_) if hasattr(model, "estimator_weights_") else 0


def _kept(model: Any, n: int) -> list[list[Any]]:
    """Return the numbers of every round that the model keeps."""
    bound = getattr(model, "training_error_bound", None)
    known: list[tuple[str, Any]] = [
        ("loss after", getattr(model, "train_score_", None)),
        ("learning rate", getattr(model, "_rates", None)),
        ("ε: weighted error of the learner", getattr(model, "estimator_errors_", None)),
        ("α: weight of the learner", getattr(model, "estimator_weights_", None)),
        ("training error after", getattr(model, "train_errors_", None)),
    ]
    if bound is not None and getattr(model, "algorithm", "") != "SAMME.R":
        product = np.asarray(bound(), np.float64)
        known.append(("Z of the round", product / np.append(1.0, product[:-1])))
    steps = getattr(model, "report_", None)
    if steps is not None and hasattr(steps, "delta"):
        known += [("δ: step of the coordinate", steps.delta), ("loss after", steps.loss)]
    return [
        [name, rounded(np.asarray(values, np.float64), 6)]
        for name, values in known
        if values is not None and len(values) == n
    ]
