"""The stand-ins of a split: what is asked where its value is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.explain.worksheet.sheet import SheetTable
from arboretum.structure.condition import Condition, format_category
from arboretum.structure.tree import SUBSET

if TYPE_CHECKING:
    from arboretum.explain.worksheet.grown import ShownTree
    from arboretum.textbook.splits import Sample

__all__ = ["surrogate_tables"]


def surrogate_tables(grown: ShownTree, node: int, sample: Sample) -> list[SheetTable]:
    """Return the stand-ins of a split and how often they agree with it."""
    kept = grown.tree.surrogates
    if kept is None or grown.tree.is_leaf[node]:
        return []
    tree, feature = grown.tree, int(grown.tree.feature[node])
    known = ~np.isnan(sample.X[:, feature])
    left = grown.split_question(node, sample.X[:, feature]).yes(sample.X[:, feature])
    weight = float(sample.w[known].sum())
    majority = max(float(sample.w[known & left].sum()), float(sample.w[known & ~left].sum()))
    lines = []
    for i in range(int(kept.start[node]), int(kept.start[node + 1])):
        f = int(kept.feature[i])
        x, column = sample.X[:, f], tree.column(f)
        if kept.kind[i] == SUBSET:
            inside = tree.categories_of(int(kept.bits_start[i]), f)[0]
            codes = [c for c, word in enumerate(column.categories or ()) if word in inside]
            says, said = np.isin(x, codes), Condition(f, column.name, "in", tuple(inside))
        else:
            threshold = float(kept.threshold[i])
            shown: Any = threshold
            if column.categories:
                shown = format_category(column.categories[int(threshold)])
            says = x <= threshold
            said = Condition(f, column.name, "<=", (shown,), kind=column.value_kind)
        both = known & ~np.isnan(x)
        goes = says != bool(kept.reverse[i])
        agreeing = float(sample.w[both & (goes == left)].sum())
        lines.append(
            (
                said.pretty(max_categories=5),
                "right" if kept.reverse[i] else "left",
                agreeing,
                majority,
                agreeing / weight,
                int(both.sum()),
            )
        )
    return [
        SheetTable(
            "Surrogates, asked in this order where the value is missing",
            ("question", "yes goes", "agreeing weight", "majority", "agreement", "rows"),
            lines,
        )
    ]
