"""The way of one row down a tree: the tests, the values of the row, and where it goes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.explain.worksheet.sheet import SheetTable
from arboretum.predict.walk import paths_of
from arboretum.structure.condition import format_category, format_value

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.structure.tree import Tree

__all__ = ["journey_table", "nodes_of", "shown_value", "waterfall_table", "way_to"]

_BAR = 16  # characters of the longest bar


def nodes_of(tree: Tree, matrix: Matrix) -> list[int]:
    """Return the nodes that the one row of a matrix passes, from the root to its leaf."""
    passed = paths_of(tree, matrix)
    return np.sort(passed.indices).tolist()  # children stand behind their parents


def shown_value(tree: Tree, feature: int, value: float) -> str:
    """Return a value of a column in the words of the table."""
    column = tree.column(feature)
    if np.isnan(value):
        return "missing"
    if column.categories is not None:
        code = int(value)
        return (
            format_category(column.categories[code]) if code < len(column.categories) else "unseen"
        )
    return format_value(value, column.value_kind)


def _by_surrogate(tree: Tree, node: int, matrix: Matrix) -> str:
    """Return the name of the column that stood in for a missing value; empty if none did."""
    kept = tree.surrogates
    if kept is None:
        return ""
    for i in range(int(kept.start[node]), int(kept.start[node + 1])):
        feature = int(kept.feature[i])
        if not np.isnan(matrix.column(feature)[0]):
            return tree.column(feature).name
    return ""


def journey_table(tree: Tree, matrix: Matrix, title: str = "The way down") -> SheetTable:
    """Return the tests that a row passes, its values there and where they lead."""
    path = nodes_of(tree, matrix)
    lines: list[tuple[Any, ...]] = []
    for here, there in itertools.pairwise(path):
        feature = int(tree.feature[here])
        value = float(matrix.column(feature)[0])
        child = there - int(tree.first_child[here])
        answer = shown_value(tree, feature, value)
        if np.isnan(value):
            stand_in = _by_surrogate(tree, here, matrix)
            answer += f", {stand_in} stands in" if stand_in else ""
        lines.append((here, answer, tree.condition(here, child).pretty(max_categories=5), there))
    return SheetTable(title, ("node", "the row's value", "so", "goes to"), lines)


def way_to(tree: Tree, node: int) -> str:
    """Return the conditions from the root down to a node."""
    return " and ".join(one.pretty() for one in tree.path_to(node)) or "all rows"


def waterfall_table(model: Any, X: Any) -> SheetTable | None:
    """Return what every column adds to the answer to one row (SHAP values), the largest first.

    None where a model has no such sum. Of several classes, those that add to the one predicted.
    """
    from arboretum.errors import DataError, ParameterError

    if not hasattr(model, "shap_values"):
        return None
    try:
        values, base = model.shap_values(X), np.ravel(model.shap_base_value())
    except (DataError, ParameterError):
        return None
    values = np.asarray(values).reshape(1, len(model.schema_.columns), -1)[0]
    total = base + values.sum(axis=0)
    k = int(total.argmax()) if values.shape[1] > 1 else 0
    classes = model._anatomy().labels
    named = classes is not None and values.shape[1] == len(classes) > 1
    whose = f" for {format_category(classes[k])}" if named else ""
    matrix = model._anatomy().columns.encode(X)
    added, longest = values[:, k], float(np.abs(values[:, k]).max()) or 1.0
    lines: list[tuple[Any, ...]] = [("(start)", "", float(base[k]), float(base[k]), "")]
    running = float(base[k])
    for f in np.argsort(-np.abs(added), kind="stable").tolist():
        column, value = model.schema_.columns[f], float(matrix.column(f)[0])
        if np.isnan(value):
            shown = "missing"
        elif column.categories is not None and value < len(column.categories):
            shown = format_category(column.categories[int(value)])
        else:
            shown = format_value(value, column.value_kind)
        running += float(added[f])
        bar = "█" * max(round(abs(float(added[f])) / longest * _BAR), 1)
        bar = ("+" if added[f] > 0 else "-") + bar if added[f] else ""
        lines.append((column.name, shown, float(added[f]), running, bar))
    return SheetTable(
        f"Start and what columns add{whose}", ("column", "value", "adds", "sum so far", ""), lines
    )
