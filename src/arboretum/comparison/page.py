"""A comparison as one page that opens from disk, in the style of a report and with its charts."""

from __future__ import annotations

import math
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.base.progress import duration
from arboretum.comparison.candidates import SMALL_TREE
from arboretum.comparison.rows import agreement, rows_of_page, weak_groups_of
from arboretum.comparison.sentences import chance, done, headline
from arboretum.explain.report.data_sheet import columns_of, duplicates_of
from arboretum.explain.report.page import SHEETS, render
from arboretum.explain.report.report import Report
from arboretum.explain.report.sheets_panel import short_sheet
from arboretum.explain.text import export_text
from arboretum.explain.worksheet.worksheet import worksheet
from arboretum.registry import __version__

if TYPE_CHECKING:
    from arboretum.comparison.learning import LearningCurve
    from arboretum.comparison.result import Comparison
    from arboretum.comparison.running import Entry

__all__ = ["make_page"]

_SCRIPT = Path(__file__).parent / "assets" / "comparison.js"
_MOST_COLUMNS = 20  # whose importance is shown
_MOST_VALUES = 5  # of a hard row
_MOST_CELLS = 200_000  # of a table whose worksheets are in the page


def make_page(
    result: Comparison, path: str | os.PathLike[str] | None, title: str | None, rows: int
) -> Report:
    """Return the page; it is written if there is a path."""
    began = time.perf_counter()
    heading = title or f"Which model for {result.question.name}?"
    page = render(heading, _payload(result, rows), {}, scripts=[SHEETS, _SCRIPT])
    made = Report(page, None, {"page": time.perf_counter() - began}, heading)
    if path is not None:
        made.save(path)
    return made


def _payload(result: Comparison, n_shown: int) -> dict[str, Any]:
    question, order = result.question, _order(result)
    schema, matrix = question.encoded
    rows = matrix.rows(0, min(matrix.n_rows, 2_000))
    return {
        "headline": headline(result),
        "chance": chance(result),
        "done": done(result),
        "facts": _facts(result),
        "by": result.measure.key,
        "measures": [one._asdict() for one in result.measures],
        "winner": result.winner,
        "simplest": result.simplest_name,
        "models": [_model(result, entry) for entry in result.ranked],
        "left": [[entry.name, entry.reason] for entry in result.entries if not entry.is_judged],
        "pairs": _matrix(result),
        "importances": _importances(result),
        "curves": [_curve(one) for one in result.learning_curves],
        "agreement": _agreement(result),
        "hard": rows_of_page(result, n_shown, order[:_MOST_VALUES]),
        "weak": weak_groups_of(result),
        **_small_tree(result, rows_shown=n_shown > 0),
        "warnings": result.warnings,
        "duplicates": [
            [schema.columns[f].name for f in group] for group in duplicates_of(schema, rows)
        ],
        "columns": [_column(one) for one in columns_of(schema, matrix, {})],
        "n_rows": question.n_rows,
    }


def _facts(result: Comparison) -> list[list[str]]:
    question = result.question
    shape = f"{question.n_rows:,} rows, {len(question.encoded[0].columns)} columns"
    classes = f" of {len(question.words)} classes" if question.is_classes else ""
    return [
        ["target", f"{question.name}: {question.task}{classes}, because {question.reason}"],
        ["data", shape],
        ["folds", result.plan.text],
        ["seed", str(result.seed)],
        ["took", duration(result.seconds)],
        ["version", f"arboretum {__version__}"],
        ["made", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")],
    ]


def _model(result: Comparison, entry: Entry) -> dict[str, Any]:
    keys = [*(one.key for one in result.measures), "fit_seconds", "predict_seconds", "size"]
    figures = {}
    for key in keys:
        found = result.estimate(entry.name, key)
        figures[key] = [_number(one) for one in (found.value, found.low, found.high)]
    return {
        "name": entry.name,
        "kind": entry.candidate.kind,
        "estimator": " ".join(repr(entry.candidate.estimator).split())[:300],
        "figures": figures,
    }


def _number(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _matrix(result: Comparison) -> list[list[list[float | None] | None]]:
    """Return, for every row and column of models, difference, ends of its interval, adjusted p-value."""
    names = [entry.name for entry in result.ranked]
    place = {name: i for i, name in enumerate(names)}
    cells: list[list[list[float | None] | None]] = [[None] * len(names) for _ in names]
    for pair in result.pairs:
        i, j, d = place[pair.first], place[pair.second], pair.difference
        cells[i][j] = [_number(one) for one in (d.value, d.low, d.high, pair.adjusted)]
        cells[j][i] = [_number(one) for one in (-d.value, -d.high, -d.low, pair.adjusted)]
    return cells


def _shares(result: Comparison) -> tuple[list[str], np.ndarray]:
    """Return models and the share of every column in their gain: means over folds."""
    n_columns = len(result.question.encoded[0].columns)
    names, shares = [], [np.zeros((0, n_columns))]
    for entry in result.ranked:
        found = [trial.importances for trial in entry.trials]
        known = [one for one in found if one is not None and len(one) == n_columns]
        if entry.candidate.kind != "baseline" and len(known) == len(found):
            names.append(entry.name)
            shares.append(np.mean(known, axis=0, keepdims=True))
    return names, np.concatenate(shares)


def _order(result: Comparison) -> list[int]:
    """Return the columns, the most important in all models first."""
    names, shares = _shares(result)
    if not names:
        return list(range(shares.shape[1]))
    return [int(f) for f in np.argsort(-shares.mean(axis=0), kind="stable")]


def _importances(result: Comparison) -> dict[str, Any] | None:
    names, shares = _shares(result)
    order = _order(result)[:_MOST_COLUMNS]
    columns = [result.question.encoded[0].columns[f].name for f in order]
    if not names:
        return None
    return {"models": names, "columns": columns, "shares": shares[:, order].round(4).tolist()}


def _curve(one: LearningCurve) -> dict[str, Any]:
    ends = [[_number(v) for v in (s.value, s.low, s.high)] for s in one.scores]
    return {"model": one.model, "rows": one.n_rows, "scores": ends, "helps": one.helps}


def _agreement(result: Comparison) -> dict[str, Any]:
    names, alike = agreement(result)
    return {"models": names, "alike": [[_number(v) for v in row] for row in alike.tolist()]}


def _small_tree(result: Comparison, *, rows_shown: bool) -> dict[str, Any]:
    """Return the tree of 8 leaves as text, and the worksheets of its splits."""
    if not any(entry.name == SMALL_TREE for entry in result.ranked):
        return {"tree": None, "sheets": []}
    model, question = result.fitted(SMALL_TREE), result.question
    found: dict[str, Any] = {"tree": str(export_text(model)), "sheets": []}
    if question.n_rows * len(question.encoded[0].columns) <= _MOST_CELLS:
        book = worksheet(model, question.X, question.y)
        splits = np.flatnonzero(model.tree_.n_children > 0).tolist()
        sheets = [book.node(0, node).to_dict() for node in splits]
        found["sheets"] = [short_sheet(one, rows_shown) for one in sheets]
    return found


def _column(one: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a column that the page shows."""
    kept = ("name", "kind", "dtype", "missing", "distinct", "range", "quantiles", "counts", "words")
    found = {key: one[key] for key in kept if key in one}
    if "words" in found:
        found["words"], found["counts"] = found["words"][:40], found["counts"][:40]
    return found
