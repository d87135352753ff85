"""SHAP values of rows as dots, one line of them for each column: how far it moves the score, and which way.

age      ·· ·:::::····  ·  ·          dots are coloured by the value of the column, low to high
hours        ·::::::·· ·
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.errors import ArboretumError
from arboretum.explain.dependence.model_function import table_for
from arboretum.explain.report.budget import Budget
from arboretum.explain.report.tree_code import rounded, whole

__all__ = ["beeswarm_of"]

_COLUMNS, _ROWS = 12, 240


def beeswarm_of(
    model: Any, rows: np.ndarray, budget: Budget, labels: list[str] | None, seed: int
) -> dict[str, Any] | None:
    """Return dots of the columns with the largest SHAP values; None for models that have none.

    Every column has its rows in an order of its own, so that no row of the table can be put together.
    Several classes: those of the class whose scores the columns move most.
    """
    n = budget.rows("SHAP dots", min(len(rows), _ROWS), budget.shap_row)
    some = rows[np.unique(np.linspace(0, len(rows) - 1, n).round().astype(int))]
    try:
        found = np.asarray(model.shap_values(table_for(model, some)))
    except (ArboretumError, AttributeError, NotImplementedError):
        return None
    if found.ndim > 3:
        return None
    values = found.reshape(len(some), rows.shape[1], -1)
    output = 1 if values.shape[2] == 2 else int(np.abs(values).sum(axis=(0, 1)).argmax())
    dots = values[:, :, output]
    size = np.abs(dots).mean(axis=0)
    order = [int(f) for f in np.argsort(-size, kind="stable")[:_COLUMNS] if size[f] > 0]
    if not order:
        return None
    rng, lines = np.random.default_rng(seed), []
    for f in order:
        mixed = rng.permutation(len(some))
        lines.append({"f": f, "shap": rounded(dots[mixed, f], 4), "value": whole(some[mixed, f])})
    of = labels[output] if labels is not None and values.shape[2] > 1 else None
    if labels is not None and len(labels) == 2:
        of = labels[1]
    return {"lines": lines, "rows": len(some), "of": of}
