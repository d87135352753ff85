"""The stand-ins of a split: the tests used where its value is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.explain.worksheet.sheet import Sheet
from arboretum.structure.condition import Condition, format_category
from arboretum.structure.tree import SUBSET

if TYPE_CHECKING:
    from arboretum.explain.worksheet.grown import ShownTree
    from arboretum.textbook.splits import Sample

__all__ = ["add_surrogates"]


def add_surrogates(sheet: Sheet, grown: ShownTree, node: int, sample: Sample) -> None:
    """Write the stand-ins of a split and how often they agree with it."""
    kept, tree = grown.tree.surrogates, grown.tree
    if kept is None or tree.is_leaf[node]:
        return
    feature = int(tree.feature[node])
    known = ~np.isnan(sample.X[:, feature])
    left = grown.split_question(node, sample.X[:, feature]).yes(sample.X[:, feature])
    weight = float(sample.w[known].sum())
    majority = max(float(sample.w[known & left].sum()), float(sample.w[known & ~left].sum()))
    lines: list[tuple[Any, ...]] = []
    for i in range(int(kept.start[node]), int(kept.start[node + 1])):
        f = int(kept.feature[i])
        x, column = sample.X[:, f], tree.column(f)
        if kept.kind[i] == SUBSET:
            inside = tree.categories_of(int(kept.bits_start[i]), f)[0]
            codes = [c for c, word in enumerate(column.categories or ()) if word in inside]
            yes, test = np.isin(x, codes), Condition(f, column.name, "in", tuple(inside))
        else:
            threshold = float(kept.threshold[i])
            shown: Any = threshold
            if column.categories:
                shown = format_category(column.categories[int(threshold)])
            yes = x <= threshold
            test = Condition(f, column.name, "<=", (shown,), kind=column.value_kind)
        both, reverse = known & ~np.isnan(x), bool(kept.reverse[i])
        agreeing = float(sample.w[both & ((yes != reverse) == left)].sum())
        side = "right" if reverse else "left"
        words = test.pretty(max_categories=5)
        lines.append((words, side, agreeing, majority, agreeing / weight, int(both.sum())))
    title = "Surrogates, used in this order where the value is missing"
    header = "question | yes goes | agreeing weight | majority | agreement | rows"
    if lines:
        sheet.add_table(title, header, lines)
