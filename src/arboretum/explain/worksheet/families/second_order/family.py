"""Worksheets of second-order boosting: XGBoost's and LightGBM's estimators, all objectives and ways to grow.

A round is played again up to its tree (replay.py); the textbook's scan says what the rows of a node offered.
"""

from __future__ import annotations

from typing import Any, ClassVar

from arboretum.explain.worksheet.families.second_order.rounds import RoundSheets

__all__ = ["SecondOrderFamily"]


class SecondOrderFamily(RoundSheets):
    """XGBoost's and LightGBM's boosters."""

    answers: ClassVar = ("node", "leaf", "row", "round")
    without: ClassVar = {
        "pruning": "trees of boosting are held back by γ, depth and leaves, not pruned along a path",
        "oob": "boosting keeps no out-of-bag answers; ask .round(m) for the rows that a round drew",
    }

    def more_facts(self) -> dict[str, Any]:
        return {
            "objective": self.objective.name,
            "rounds": self.ensemble.n_rounds,
            "start": self.ensemble.base.tolist()
            if self.ensemble.n_outputs > 1
            else float(self.ensemble.base[0]),
        }
