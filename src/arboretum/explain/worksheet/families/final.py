"""The final model of a stack: how it turns the answers of the others into its own.

It learned from answers to rows that the others had not seen, which are not kept: its nodes cannot be worked
out again, but its weights, or the tree that it is, can be shown, and its answer to a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arboretum.explain.worksheet.family import Family, class_names
from arboretum.explain.worksheet.methods import NOT_KEPT
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Sheet, SheetTable
from arboretum.structure.condition import format_category
from arboretum.structure.tree import Tree

if TYPE_CHECKING:
    from arboretum.explain.worksheet.families.combine import TogetherFamily

__all__ = ["FinalFamily"]


class FinalFamily(Family):
    """The final model of a stack."""

    kind = "final"

    def __init__(self, stack: TogetherFamily) -> None:
        super().__init__(stack.model, stack.given)
        self.stack = stack

    @property
    def final(self) -> Any:
        return self.model.final_estimator_

    @property
    def trees(self) -> list[Tree]:
        """No trees: the table they were fitted on is not kept."""
        return []

    def overview(self) -> Sheet:
        """Return the weights of the final model, or the tree that it is."""
        kind = type(self.final).__name__
        facts = {
            "kind": kind,
            "columns": len(self.stack.inputs),
            "learned from": "answers held out",
        }
        tables = [self.stack.final_table()]
        tree = getattr(self.final, "tree_", None)
        if isinstance(tree, Tree):
            tables.append(tree_table(tree, self.stack.input_names(), class_names(self.model)))
        sentence = NOT_KEPT[0].upper() + NOT_KEPT[1:]
        return Sheet(
            f"final model of {self.name}: {kind}", facts, tables=tables, notes=[f"{sentence}."]
        )

    def row(self, row: Any) -> Sheet:
        sheet = self.stack.row(row)
        sheet.title = sheet.title.replace(self.name, f"the final model of {self.name}")
        sheet.tables = [one for one in sheet.tables if one.title != "The row"]
        return sheet


def tree_table(tree: Tree, names: list[str], classes: Any) -> SheetTable:
    """Return a tree as a table: the test of every node, or its answer."""
    lines = []
    for node in range(len(tree)):
        value = tree.value[node, 0]
        k = int(value.argmax())
        answer: Any = float(value[0])
        if len(value) > 1:
            label = k if classes is None else format_category(classes[k])
            answer = f"{label} ({number(float(value[k]), 4)})"
        children = [int(tree.first_child[node]) + c for c in range(int(tree.n_children[node]))]
        test = "" if tree.is_leaf[node] else _test(tree, node, names)
        lines.append((node, test, ", ".join(map(str, children)), int(tree.count[node]), answer))
    header = ("node", "test", "children", "rows", "answer")
    return SheetTable("The tree", header, lines, shown=60)


def _test(tree: Tree, node: int, names: list[str]) -> str:
    """Return the question of a node with the stack's names of its columns."""
    feature = int(tree.feature[node])
    text = tree.condition(node, 0).pretty(max_categories=4)
    own = tree.column(feature).name
    return names[feature] + text.removeprefix(own) if text.startswith(own) else text
