"""Worksheets of second-order boosting: XGBoost's and LightGBM's estimators, all objectives and ways to grow.

A round is played again up to its tree (replay.py); the textbook's scan shows what the rows of a node offered.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.explain.worksheet.families.second_order.nodes import leaf_sheet, node_sheet
from arboretum.explain.worksheet.families.second_order.replay import Replay
from arboretum.explain.worksheet.families.second_order.rounds import add_rounds_of_row, round_sheet
from arboretum.explain.worksheet.family import Family, as_python, class_names, index_of
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Sheet
from arboretum.lazy import cached_property

__all__ = ["SecondOrderFamily"]


class SecondOrderFamily(Family):
    """XGBoost's and LightGBM's boosters."""

    kind = "second order"

    @cached_property
    def replay(self) -> Replay:
        return Replay(self)

    def more_facts(self) -> dict[str, Any]:
        ensemble = self.replay.ensemble
        start = ensemble.base.tolist() if ensemble.n_outputs > 1 else float(ensemble.base[0])
        objective = self.replay.objective.name
        return {"objective": objective, "rounds": ensemble.n_rounds, "start": start}

    def node_sheet(self, t: int, node: int) -> Sheet:
        return node_sheet(self.replay, t, node)

    def leaf_sheet(self, t: int, leaf: int) -> Sheet:
        return leaf_sheet(self.replay, t, leaf)

    def round(self, m: Any) -> Sheet:
        n_rounds = self.replay.ensemble.n_rounds
        return round_sheet(self.replay, index_of(m, n_rounds, ("round", "rounds"), self.name))

    # ------------------------------------------------------------------ a row
    def row(self, row: Any) -> Sheet:
        sheet, matrix, i = self.row_sheet(row)
        replay, ensemble = self.replay, self.replay.ensemble
        part = self.anatomy.used
        assert part is not None
        start = replay.start_of(i)
        final = part.answers(matrix, 1, start[None])
        answer = self.anatomy.recipe.steps["predicted"](final)[0]
        margin = final[0].tolist() if final.shape[1] > 1 else float(final[0, 0])
        sheet.facts["answer"] = as_python(answer)
        sheet.facts["margin"] = margin
        if ensemble.link.name not in ("identity", "own"):
            sheet.facts["link"] = ensemble.link.name
            sheet.facts |= self._linked(replay.objective.predict(final).ravel())
        sheet.facts |= self.truth(i)
        for k in range(ensemble.n_outputs):
            name = "margin" if ensemble.n_outputs == 1 else f"margin of {replay.output_name(k)}"
            numbers = f"{number(float(start[k]))} + {signed(float(final[0, k] - start[k]))}"
            sheet.add_formula(name, "start + Σ of what trees add", numbers, float(final[0, k]))
        leaves, values = part.leaves(matrix, 1)[0].tolist(), part.terms.values
        added = [(leaf, float(v[leaf, 0])) for v, leaf in zip(values, leaves, strict=True)]
        add_rounds_of_row(sheet, replay, part, added, i)
        self.add_way(
            sheet, matrix, int(np.argmax([abs(more) for _, more in added])), "which adds most"
        )
        sheet.notes += self._answer_notes(i)
        return sheet

    def _answer_notes(self, i: int | None) -> list[str]:
        end, notes, weight = self.anatomy.history.end, [], self.replay.whole.weight
        if end is not None:
            notes.append(f"Early stopping keeps the rounds before {end} for predictions.")
        if self.replay.ensemble.averaged:
            notes.append(
                "Trees are averaged (a boosted forest): each one's value is divided by the rounds."
            )
        if i is not None and weight is not None and len(weight) == self.n_rows and not weight[i]:
            notes.append("The row has weight 0: no tree was grown on it.")
        return notes

    def _linked(self, values: np.ndarray) -> dict[str, Any]:
        """Return what the link makes of the margins of a row, by name."""
        classes = class_names(self.model)
        if classes is None or len(values) not in (1, len(classes)):
            return {"prediction": values.tolist()}
        k = 1 if len(values) == 1 else int(values.argmax())
        return {f"probability of {classes[k]}": float(values.max())}
