"""Predictions of held-out rows, side by side: who agrees with whom, and rows that no model gets right."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arboretum.explain.report.inputs import take_ids
from arboretum.explain.report.weak_groups import date_text, groups_on_page
from arboretum.structure.condition import format_category

if TYPE_CHECKING:
    from arboretum.comparison.result import Comparison
    from arboretum.comparison.running import Entry

__all__ = ["HardRows", "agreement", "hard_rows", "held_out", "rows_of_page", "weak_groups_of"]

_FAR = 3.0  # a number is wrong in all models if all are off by more than this many typical errors


class HardRows(NamedTuple):
    """Rows that no model gets right.

    Attributes
    ----------
    rows : int array
        Row numbers, the hardest first.
    badness : float array
        1 - the mean probability of the actual class, or the smallest error of any model.
    n_models, n_rows : int
        Models and rows that were looked at.
    """

    rows: np.ndarray
    badness: np.ndarray
    n_models: int
    n_rows: int


def held_out(result: Comparison, entry: Entry) -> np.ndarray:
    """Return what a model predicted for every row while it was held out: means over repeats, or NaN."""
    n = result.plan.judged.n_rows
    total = np.zeros((n, entry.trials[0].predicted.shape[1]))
    times = np.zeros((n, 1))
    for (_, test), trial in zip(result.plan.splits, entry.trials):
        total[test] += trial.predicted
        times[test] += 1
    with np.errstate(invalid="ignore"):
        return total / times


def _models(result: Comparison) -> list[Entry]:
    return [one for one in result.ranked if one.candidate.kind != "baseline"]


def agreement(result: Comparison) -> tuple[list[str], np.ndarray]:
    """Return names of models and, for every two, the share of rows predicted alike (numbers: correlation)."""
    models = _models(result)
    answers = []
    for entry in models:
        predicted = held_out(result, entry)
        seen = ~np.isnan(predicted[:, 0])
        whole = predicted[seen]
        answers.append(whole.argmax(axis=1) if result.question.is_classes else whole[:, 0])
    n = len(answers)
    alike = np.eye(n)
    for i in range(n):
        for j in range(i):
            alike[i, j] = alike[j, i] = _alike(answers[i], answers[j], result.question.is_classes)
    return [entry.name for entry in models], alike


def _alike(a: np.ndarray, b: np.ndarray, classes: bool) -> float:
    if classes:
        return float(np.mean(a == b))
    spread = float(a.std() * b.std())
    return float(np.mean((a - a.mean()) * (b - b.mean())) / spread) if spread else math.nan


def hard_rows(result: Comparison) -> HardRows:
    """Return the rows that every model gets wrong: by class, or far off."""
    judged, models = result.plan.judged, _models(result)
    if not models:
        return HardRows(np.zeros(0, np.int64), np.zeros(0), 0, judged.n_rows)
    every = np.array([held_out(result, entry) for entry in models])
    seen = np.flatnonzero(~np.isnan(every[:, :, 0]).any(axis=0))
    every = every[:, seen]
    if judged.codes is not None:
        codes = judged.codes[seen]
        wrong = (every.argmax(axis=2) != codes).all(axis=0)
        badness = 1 - every.mean(axis=0)[np.arange(len(seen)), codes]
    else:
        off = np.abs(every[:, :, 0] - judged.y[seen])
        badness = off.min(axis=0)
        wrong = (off > _FAR * np.median(off, axis=1, keepdims=True)).all(axis=0)
    order = np.flatnonzero(wrong)[np.argsort(-badness[wrong], kind="stable")]
    return HardRows(seen[order], badness[order], len(models), len(seen))


def rows_of_page(result: Comparison, most: int, columns: list[int]) -> dict[str, Any]:
    """Return the hardest rows as the page shows them: name, actual, predicted, values of some columns."""
    judged, found = result.plan.judged, hard_rows(result)
    shown = found.rows[:most]
    _, names = take_ids(None, judged.X, None)
    predicted = held_out(result, result.entry(result.winner))[shown]
    schema, matrix = judged.encoded
    lines = []
    for i, row in enumerate(shown.tolist()):
        values = matrix.rows(row, row + 1)[0]
        if judged.codes is None:
            actual, answer = f"{judged.y[row]:.6g}", f"{predicted[i, 0]:.6g}"
        else:
            actual, answer = (
                judged.words[judged.codes[row]],
                judged.words[int(predicted[i].argmax())],
            )
        lines.append(
            {
                "name": names[row] if names else f"row {row}",
                "actual": actual,
                "predicted": answer,
                "badness": float(f"{found.badness[i]:.4g}"),
                "values": [_value(schema.columns[f], values[f]) for f in columns],
            }
        )
    return {
        "n": len(found.rows),
        "n_rows": found.n_rows,
        "n_models": found.n_models,
        "columns": [schema.columns[f].name for f in columns],
        "rows": lines,
    }


def _value(column: Any, x: float) -> str:
    if math.isnan(x):
        return "missing"
    if column.categories is not None:
        return str(format_category(column.categories[int(x)]))
    return date_text(x) if column.dtype == "datetime" else f"{x:,.6g}"


def weak_groups_of(result: Comparison) -> list[dict[str, Any]]:
    """Return the groups of rows for which the winner is worse than for others."""
    judged = result.plan.judged
    predicted = held_out(result, result.entry(result.winner))
    seen = ~np.isnan(predicted[:, 0])
    if judged.codes is not None:
        errors = (predicted.argmax(axis=1) != judged.codes).astype(np.float64)
    else:
        errors = np.abs(predicted[:, 0] - judged.y)
    schema, matrix = judged.encoded
    rows = matrix.rows(0, matrix.n_rows)
    return groups_on_page(schema, rows[seen], errors[seen])
