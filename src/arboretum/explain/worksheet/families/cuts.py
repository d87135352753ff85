"""Worksheets of forests of random cuts: path lengths tree by tree, and the score they add up to.

depth of the leaf + c(rows in it) = path length ──► mean over the trees ──► -2^(-mean / c(ψ))
"""

from __future__ import annotations

from typing import Any

from arboretum.explain.worksheet.families.forest import counts_of
from arboretum.explain.worksheet.family import Family, as_python
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Sheet
from arboretum.textbook.isolation_forest import average_path_length

__all__ = ["CutsFamily"]

_C = "c(n) = 2 (ln(n - 1) + γ) - 2 (n - 1) / n"


class CutsFamily(Family):
    """Trees of random cuts, without a target."""

    kind = "cuts"
    needs_target = False

    def leaf_sheet(self, t: int, leaf: int) -> Sheet:
        tree = self.trees[t]
        depth, n = int(tree.depth[leaf]), int(tree.count[leaf])
        sheet = Sheet(f"leaf {leaf} of tree {t} in {self.name}")
        sheet.facts = {"cuts above it": depth, "rows": n, "path length": tree.value[leaf].item()}
        sheet.add_table(
            "Cuts above it", "cut", [(condition.pretty(),) for condition in tree.path_to(leaf)]
        )
        c = float(average_path_length(n))
        sheet.add_formula("c(rows)", _C if n > 2 else "1 for two rows, 0 for one", f"n = {n}", c)
        sheet.add_formula("path length", "depth + c(rows)", f"{depth} + {number(c)}", depth + c)
        sheet.notes.append(f"The tree was grown on {tree.count[0]} rows.")
        return sheet

    def row(self, row: Any) -> Sheet:
        sheet, matrix, i = self.row_sheet(row)
        ensemble, bags = self.model.ensemble_, self.anatomy.bags
        leaves = ensemble.leaves(matrix, 1)[0].tolist()
        trained = i is not None and self.is_training_table
        seen = counts_of(bags, len(leaves), i) if trained and i is not None else None
        lines, total = [], 0.0
        for t, (tree, leaf) in enumerate(zip(self.trees, leaves, strict=True)):
            depth, n, length = int(tree.depth[leaf]), int(tree.count[leaf]), tree.value[leaf].item()
            total += length
            drawn = () if seen is None else (int(seen[t]),)
            lines.append((t, leaf, *drawn, depth, n, length - depth, length, total / (t + 1)))
        names = "tree | leaf |" + ("" if seen is None else " times in bag |")
        header = f"{names} depth | rows | c(rows) | path length | mean so far"
        sheet.add_table("Tree by tree", header, lines, shown=40)
        mean, n_trees = total / len(leaves), len(leaves)
        sheet.facts = {"mean path length": mean, "trees": n_trees}
        rule = "Σ path lengths / number of trees"
        sheet.add_formula("mean path length", rule, f"{number(total)} / {n_trees}", mean)
        if "predict" in self.anatomy.answers:
            self._add_score(sheet, matrix, mean)
        self.add_way(sheet, matrix, 0)
        return sheet

    def _add_score(self, sheet: Sheet, matrix: Any, mean: float) -> None:
        """Write how the mean path length becomes a score and an answer."""
        model, answers = self.model, self.anatomy.answers
        sums = model.ensemble_.answers(matrix, 1)
        psi, expected = model.max_samples_, model.ensemble_.link.sigma
        score, decision = (
            float(answers[name](sums)[0]) for name in ("score_samples", "decision_function")
        )
        sheet.add_formula("c(ψ)", _C, f"n = {psi}, the rows of a tree", expected)
        power = f"-2^(-{number(mean)} / {number(expected)})"
        sheet.add_formula("score", "-2^(-mean path length / c(ψ))", power, score)
        shift = f"{number(score)} - ({number(model.offset_)})"
        sheet.add_formula("decision", "score - offset_", shift, decision)
        sheet.facts = {
            "answer": as_python(answers["predict"](sums)[0]),
            "score": score,
            **sheet.facts,
        }
