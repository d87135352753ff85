"""A round of second-order boosting: its gradients, its trees, its loss before and after."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from arboretum.explain.worksheet.families.second_order.replay import RoundState
from arboretum.explain.worksheet.families.second_order.rows import RowSheets
from arboretum.explain.worksheet.family import index_of, truth_of
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Formula, Sheet, SheetTable

__all__ = ["RoundSheets"]


class RoundSheets(RowSheets):
    """A booster that tells of its rounds."""

    # ------------------------------------------------------------------ a round
    def round(self, m: Any) -> Sheet:
        ensemble = self.ensemble
        m = index_of(m, ensemble.n_rounds, ("round", "rounds"), self.name)
        state, y, w = self.state(m), self.table.y, self.table.weight
        per = ensemble.per_round
        trees = list(range(m * per, (m + 1) * per))
        after = self._after(m, state)
        facts: dict[str, Any] = {
            "trees": per,
            "learning rate": self.plan.learning_rate,
            "rows": len(y),
            "rows the round drew": len(self.drawn_rows(trees[0])[0]),
        }
        formulas = []
        losses = [self.losses(y, margin) for margin in (state.before, after)]
        if losses[0] is not None and losses[1] is not None:
            weight = np.ones(len(y)) if w is None or len(w) != len(y) else w
            for name, values in zip(("loss before", "loss after"), losses, strict=True):
                assert values is not None
                total = float(weight @ values)
                formulas.append(
                    Formula(
                        name,
                        "Σ w L / Σ w",
                        f"{number(total)} / {number(float(weight.sum()))}",
                        total / weight.sum(),
                    )
                )
        tables = [
            self._trees_table(trees),
            self._spread_table(state),
            self._rows_table(state, after, losses),
        ]
        notes = self._row_notes(trees[0])
        if state.dropped:
            notes.insert(
                0, f"dart left out {len(state.dropped)} earlier trees: {number(state.dropped)}."
            )
        return Sheet(f"round {m} of {self.name}", facts, formulas, tables, notes)

    def _after(self, m: int, state: RoundState) -> np.ndarray:
        """Return the margins after a round."""
        ensemble, matrix = self.ensemble, self.matrix_seen
        if ensemble.averaged:
            return ensemble.rounds(0, m + 1).answers(matrix, self.threads, self.start)
        if self.plan.dart is None:
            return ensemble.rounds(m, m + 1).answers(matrix, self.threads, state.margin)
        now, dropped = self.dart_rounds[m]
        per = ensemble.per_round
        new, old = 1.0, 1.0
        if dropped:
            new, old = self.plan.dart.shares(len(dropped) // per, self.plan.learning_rate)
        weights = np.append(now, [new] * per)
        weights[dropped] *= old
        trees = ensemble.trees[: len(weights)]
        return replace(ensemble, trees=trees, weights=weights).answers(
            matrix, self.threads, self.start
        )

    def _trees_table(self, trees: list[int]) -> SheetTable:
        lines = []
        for t in trees:
            tree = self.trees[t]
            asked = "no split" if tree.is_leaf[0] else tree.condition(0, 0).pretty(max_categories=4)
            values = tree.value[tree.leaves, 0, 0]
            lines.append(
                (
                    t,
                    tree.n_leaves,
                    tree.max_depth,
                    asked,
                    float(tree.gain[0]),
                    float(values.min()),
                    float(values.max()),
                )
            )
        header = (
            "tree",
            "leaves",
            "depth",
            "first split",
            "gain",
            "smallest value",
            "largest value",
        )
        return SheetTable("Its trees", header, lines)

    def _spread_table(self, state: RoundState) -> SheetTable:
        lines: list[tuple[Any, ...]] = []
        for k in range(len(state.g)):
            name = "" if len(state.g) == 1 else self._output_name(k)
            for what, values in (("g", state.g[k]), ("h", state.h[k])):
                v = values.astype(np.float64)
                low, middle, high = (float(np.quantile(v, q)) for q in (0.25, 0.5, 0.75))
                lines.append(
                    (name, what, float(v.sum()), float(v.min()), low, middle, high, float(v.max()))
                )
        header: tuple[str, ...] = (
            "output",
            "",
            "sum",
            "least",
            "quarter",
            "median",
            "3 quarters",
            "most",
        )
        if len(state.g) == 1:
            header, lines = header[1:], [line[1:] for line in lines]
        return SheetTable("Gradients and hessians", header, lines)

    def _rows_table(
        self, state: RoundState, after: np.ndarray, losses: list[np.ndarray | None]
    ) -> SheetTable:
        """Return the rows with the largest gradients."""
        pull = np.abs(state.g).sum(axis=0)
        order = np.argsort(-pull, kind="stable")[:10]
        lines = []
        for j in order.tolist():
            k = int(np.abs(state.g[:, j]).argmax())
            i = int(self.kept[j])
            line = [
                i,
                truth_of(self.given.y, i),
                float(state.before[j, k]),
                float(state.g[k, j]),
                float(state.h[k, j]),
                float(after[j, k] - state.before[j, k]),
            ]
            if losses[0] is not None and losses[1] is not None:
                line += [float(losses[0][j]), float(losses[1][j])]
            lines.append(tuple(line))
        header = ["row", "y", "margin", "g", "h", "step"]
        if losses[0] is not None:
            header += ["loss before", "loss after"]
        return SheetTable("Rows with the largest gradients", header, lines, optional=("h",))
