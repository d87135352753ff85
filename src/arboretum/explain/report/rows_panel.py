"""Rows that the page contains in full: a few at random, and those with the largest errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.errors import ArboretumError
from arboretum.explain.dependence.model_function import table_for
from arboretum.explain.report.data_sheet import Unseen
from arboretum.explain.report.judged import Judged
from arboretum.explain.report.tree_code import rounded, whole

__all__ = ["choose_rows", "rows_panel"]

_SAMPLE = 60
_WORST = 20  # of the sample


def choose_rows(judged: Judged, wanted: int | str, seed: int) -> np.ndarray:
    """Return the rows that the page contains, in their order."""
    n = len(judged.actual)
    if wanted == "none":
        return np.empty(0, np.int64)
    rng = np.random.default_rng(seed)
    if wanted != "sample":
        return np.sort(rng.choice(n, min(int(wanted), n), replace=False))
    worst = np.argsort(-judged.losses(), kind="stable")[: min(_WORST, n // 3)]
    others = np.setdiff1d(np.arange(n), worst)
    some = rng.choice(others, min(_SAMPLE - len(worst), len(others)), replace=False)
    return np.sort(np.concatenate([worst, some]))


def rows_panel(
    model: Any,
    rows: np.ndarray,
    judged: Judged,
    chosen: np.ndarray,
    used: np.ndarray,
    unseen: Unseen,
    ids: list[str] | None = None,
) -> dict[str, Any]:
    """Return values, actual values, predictions and, where there are any, SHAP values of the chosen rows."""
    panel: dict[str, Any] = {
        "row": used[chosen].tolist(),
        "x": [whole(row) for row in rows[chosen]],
        "actual": judged.actual[chosen].tolist()
        if judged.labels is not None
        else whole(judged.actual[chosen]),
        "predicted": [whole(row) for row in judged.answers[chosen]],
        "loss": rounded(judged.losses()[chosen], 4),
        "of": len(rows),
    }
    strange = [
        {str(f): words[row] for f, words in unseen.items() if row in words}
        for row in chosen.tolist()
    ]
    if any(strange):
        panel["unseen"] = strange
    if ids is not None:
        panel["name"] = [ids[row] for row in panel["row"]]
    if len(chosen):
        try:
            explained = _explained(model, rows[chosen])
        except ArboretumError as problem:
            panel["why_no_shap"] = str(problem)
        else:
            panel.update(explained)
    return panel


def _explained(model: Any, rows: np.ndarray) -> dict[str, Any]:
    """Return SHAP values, (rows, outputs, columns), and the base to which they are added."""
    values = np.asarray(model.shap_values(table_for(model, rows)))
    values = values[:, :, None] if values.ndim == 2 else values
    base = np.atleast_1d(np.asarray(model.shap_base_value(), np.float64))
    return {"shap": [rounded(one.T, 6) for one in values], "shap_base": whole(base)}
