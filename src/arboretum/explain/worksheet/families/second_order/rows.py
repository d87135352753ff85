"""A row on its way through the rounds: what every tree adds, g, h, loss before and after."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.explain.worksheet.families.second_order.leaves import LeafSheets
from arboretum.explain.worksheet.family import class_names
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Formula, Sheet, SheetTable

__all__ = ["RowSheets"]


class RowSheets(LeafSheets):
    """A booster that tells of rows."""

    # ------------------------------------------------------------------ losses
    def losses(self, y: np.ndarray, margin: np.ndarray) -> np.ndarray | None:
        """Return the loss of every row at its margins; None where the objective has none by row."""
        losses = getattr(self.objective, "losses", ())
        if not losses:
            return None
        if len(losses) == 1 and margin.shape[1] > 1 and losses[0].kernel == "softmax":
            return losses[0].value(y.astype(np.int64), margin)
        each = []
        for k in range(margin.shape[1]):
            loss = losses[k if len(losses) > 1 else 0]
            try:
                each.append(
                    loss.value(self.objective._labels(y, k), np.ascontiguousarray(margin[:, k]))
                )
            except NotImplementedError:
                return None
        return np.sum(each, axis=0)

    # ------------------------------------------------------------------ a row
    def row(self, row: Any) -> Sheet:
        matrix, title, i = self.encoded(row)
        ensemble, model = self.ensemble, self.model
        part = model._part(0, model._best_end)
        start = self._start_of(i)
        final = part.answers(matrix, 1, start[None])
        facts: dict[str, Any] = {
            "answer": self._answer(final),
            "margin": final[0].tolist() if final.shape[1] > 1 else float(final[0, 0]),
        }
        if ensemble.link.name not in ("identity", "own"):
            facts["link"] = ensemble.link.name
            facts |= self._linked(self.objective.predict(final).ravel())
        facts |= self.truth(i)
        formulas = []
        for k in range(ensemble.n_outputs):
            name = "margin" if ensemble.n_outputs == 1 else f"margin of {self._output_name(k)}"
            numbers = f"{number(float(start[k]))} + {signed(float(final[0, k] - start[k]))}"
            formulas.append(
                Formula(name, "start + Σ of what trees add", numbers, float(final[0, k]))
            )
        leaves, values = part.leaves(matrix, 1)[0], part.terms.values
        added = [float(v[leaf, 0]) for v, leaf in zip(values, leaves, strict=True)]
        heaviest = int(np.argmax(np.abs(added)))
        title_of_way = f"The way down tree {heaviest}, which adds most"
        tables = [
            self.values_table(matrix),
            self._rounds_table(part, leaves, added, start, i),
            self.journey(part.trees[heaviest], matrix, title_of_way),
        ]
        return Sheet(f"{title} in {self.name}", facts, formulas, tables, self._answer_notes(i))

    def _start_of(self, i: int | None) -> np.ndarray:
        """Return the margins a row begins with: those that were given to the fit, or the base."""
        if i is None or self.given.base_margin is None or i not in self.kept:
            return self.ensemble.base
        return self.start[int(np.searchsorted(self.kept, i))]

    def _answer_notes(self, i: int | None) -> list[str]:
        end, notes = self.model._best_end, []
        if end is not None:
            notes.append(f"Early stopping keeps the rounds before {end} for predictions.")
        if self.ensemble.averaged:
            notes.append(
                "Trees are averaged (a boosted forest): what one adds is divided by the rounds."
            )
        if i is not None and self.whole.weight is not None and not self._weight_of(i):
            notes.append("The row has weight 0: no tree was grown on it.")
        return notes

    def _weight_of(self, i: int) -> float:
        weight = self.whole.weight
        return 1.0 if weight is None or len(weight) != self.n_rows else float(weight[i])

    def _rounds_table(
        self, part: Any, leaves: np.ndarray, added: list[float], start: np.ndarray, i: int | None
    ) -> SheetTable:
        """Return what every tree adds to a row, and for training rows what drove it there."""
        margin, per = start.copy(), part.per_round
        label = None if i is None else self.whole.y[[i]]
        costs = label is not None and self.losses(label, margin[None]) is not None
        derived = i is not None and self.model.target != "orders" and self.plan.dart is None
        before, g, h = margin.copy(), np.empty(0), np.empty(0)
        lines = []
        for t, (leaf, more) in enumerate(zip(leaves.tolist(), added, strict=True)):
            m, output, _ = self.place_of(t)
            if t % per == 0:
                before = margin.copy()
                if derived:
                    assert i is not None
                    g, h = self._of_row(i, start if part.averaged else before, m)
            margin[output] += more
            line: list[Any] = [m, t, leaf, more, float(margin[output])]
            line += [float(g[output, 0]), float(h[output, 0])] if derived else []
            if costs:
                assert label is not None
                ends = (t + 1) % per == 0
                line += [self._loss_of(label, x) if ends else None for x in (before, margin)]
            lines.append(tuple(line))
        header = ["round", "tree", "leaf", "adds", "margin"]
        header += ["g", "h"] if derived else []
        header += ["loss before", "loss after"] if costs else []
        return SheetTable("Round by round", header, lines, shown=30, optional=("h", "g", "round"))

    def _loss_of(self, label: np.ndarray, margin: np.ndarray) -> float | None:
        values = self.losses(label, margin[None])
        return None if values is None else float(values[0])

    def _output_name(self, k: int) -> str:
        classes = class_names(self.model)
        return (
            str(classes[k])
            if classes is not None and len(classes) == self.ensemble.n_outputs
            else f"output {k}"
        )

    def _of_row(self, i: int, margin: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of one training row at its margins, weight multiplied in."""
        table = self.whole
        shape = (self.ensemble.n_outputs, 1)
        g, h = np.empty(shape, np.float32), np.empty(shape, np.float32)
        weight = None if table.weight is None else table.weight[[i]]
        self.objective.derivatives(
            table.y[[i]], np.ascontiguousarray(margin[None]), weight, g, h, 1, iteration=m
        )
        return g, h

    def _linked(self, values: np.ndarray) -> dict[str, Any]:
        """Return what the link makes of the margins of a row, by name."""
        classes = class_names(self.model)
        if classes is None or len(values) not in (1, len(classes)):
            return {"prediction": values.tolist()}
        k = 1 if len(values) == 1 else int(values.argmax())
        return {f"probability of {classes[k]}": float(values.max())}

    def _answer(self, margin: np.ndarray) -> Any:
        said = self.model._predicted(margin)[0]
        return said.tolist() if hasattr(said, "tolist") else said
