"""Worksheets of boosted trees without tuning: the mean of boosters that were grown on all rows.

The trees of a row add up member by member. How a node came about is not worked out again: its rows depend on
the rounds of its own member, not on those that stand before it in the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.explain.worksheet.family import Family, as_python, class_names
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Sheet

__all__ = ["AveragedFamily"]


class AveragedFamily(Family):
    """`BoostedTreesClassifier` and `BoostedTreesRegressor`."""

    kind = "averaged"

    @property
    def members(self) -> list[Any]:
        return self.anatomy.recipe.steps["members"]()

    def more_facts(self) -> dict[str, Any]:
        kinds = [member.kind for member in self.members]
        counted = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        return {"members": counted, "start": self._start.tolist()}

    @property
    def _start(self) -> np.ndarray:
        assert self.anatomy.ensemble is not None
        return self.anatomy.ensemble.base

    def row(self, row: Any) -> Sheet:
        sheet, matrix, i = self.row_sheet(row)
        self.add_prediction(sheet, self.row_table(row))
        sheet.facts |= self.truth(i)
        start, members, classes = self._start, self.members, class_names(self.model)
        sums = [member.ensemble.answers(matrix, 1)[0] - start for member in members]
        added = np.array([m.weight * total for m, total in zip(members, sums, strict=True)])
        for k in range(len(start)):
            name = "margin" if len(start) == 1 or classes is None else f"margin of {classes[k]}"
            terms = " ".join(
                f"+ {number(m.weight)} · {signed(float(total[k]))}"
                for m, total in zip(members, sums, strict=True)
            )
            value = float(start[k] + added[:, k].sum())
            sheet.add_formula(
                name, "start + Σ weight · trees of a member", f"{number(float(start[k]))} {terms}",
                value,
            )  # fmt: skip
        lines = [
            (k, m.kind, m.ensemble.n_rounds, m.weight, as_python(more))
            for k, (m, more) in enumerate(zip(members, added, strict=True))
        ]
        sheet.add_table("Members", "member | kind | rounds | weight | adds", lines)
        values = self.anatomy.ensemble.terms.values  # type: ignore[union-attr]
        leaves = self.anatomy.ensemble.leaves(matrix, 1)[0].tolist()  # type: ignore[union-attr]
        moves = [abs(float(v[leaf, 0])) for v, leaf in zip(values, leaves, strict=True)]
        self.add_way(sheet, matrix, int(np.argmax(moves)), "which adds most")
        return sheet
