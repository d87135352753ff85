"""Trials in a file, so that a comparison that was killed goes on where it stopped.

    first line     the comparison: a checksum of table, target, folds and seed
    other lines    one finished trial each, as JSON

A line that was cut off in the middle is left out, and its trial is done again.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from arboretum.comparison.candidates import Contender
from arboretum.comparison.folds import FoldPlan
from arboretum.comparison.question import Question
from arboretum.comparison.running import FoldResult, Trials
from arboretum.errors import DataError
from arboretum.registry import __version__

__all__ = ["stored"]


def stored(
    trials: Trials, path: str | os.PathLike[str], question: Question, plan: FoldPlan, seed: int
) -> Trials:
    """Return trials that are read from a file if they are there, and added to it if not.

    Raises
    ------
    DataError
        The file belongs to another comparison, or is none of a comparison.
    """
    file = Path(path)
    head = {"comparison": _checksum(question, plan, seed), "version": __version__}
    known = _read(file, head) if file.exists() else _begin(file, head)

    def trial(candidate: Contender, fold: int) -> FoldResult:
        key = f"{candidate.name}, fold {fold}, {_settings(candidate)}"
        if key not in known:
            known[key] = trials(candidate, fold)
            with file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({"trial": key, **_plain(known[key])}) + "\n")
        return known[key]

    return trial


def _begin(file: Path, head: dict[str, str]) -> dict[str, FoldResult]:
    if not file.parent.is_dir():
        raise DataError(f"resume of compare: the directory {str(file.parent)!r} does not exist")
    file.write_text(json.dumps(head) + "\n", encoding="utf-8")
    return {}


def _read(file: Path, head: dict[str, str]) -> dict[str, FoldResult]:
    try:
        found = list(_lines(file))
        first = found[0] if found else {}
        same = {name: first.get(name) for name in head} == head
        known = {one["trial"]: _trial(one) for one in found[1:]}
    except (UnicodeDecodeError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"resume of compare: {str(file)!r} is not a file of a comparison: choose another name"
        ) from error
    if not same:
        raise DataError(
            f"resume of compare: {str(file)!r} belongs to another table, target, choice of folds or version: "
            "choose another name, or remove the file to begin anew"
        )
    return known


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines; the last one only if it was written in full."""
    text = file.read_text(encoding="utf-8")
    whole, _, rest = text.rpartition("\n")
    if rest:
        file.write_text(whole + "\n" * bool(whole), encoding="utf-8")
    for line in whole.split("\n") if whole else ():
        yield json.loads(line)


def _plain(trial: FoldResult) -> dict[str, Any]:
    importances = None if trial.importances is None else trial.importances.tolist()
    code = base64.b64encode(trial.predicted.tobytes()).decode("ascii")
    return {
        **trial._asdict(),
        "importances": importances,
        "predicted": [*trial.predicted.shape, code],
    }


def _trial(line: dict[str, Any]) -> FoldResult:
    rows, columns, code = line["predicted"]
    predicted = np.frombuffer(base64.b64decode(code), np.float32).reshape(rows, columns)
    importances = None if line["importances"] is None else np.array(line["importances"])
    seconds = float(line["fit_seconds"]), float(line["predict_seconds"])
    return FoldResult(line["scores"], *seconds, line["size"], importances, predicted)


def _settings(candidate: Contender) -> str:
    """Return a checksum of the estimator's parameters."""
    model = candidate.estimator
    text = model.__repr__(N_CHAR_MAX=1_000_000) if hasattr(model, "get_params") else repr(model)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _checksum(question: Question, plan: FoldPlan, seed: int) -> str:
    sums = hashlib.sha256(repr((seed, question.task)).encode())
    for one in {id(each): each for each in (question, plan.judged)}.values():
        schema, matrix = one.encoded
        sums.update(repr(schema.columns).encode())
        for f in range(matrix.n_columns):
            sums.update(np.asarray(matrix.column(f), np.float64).tobytes())
        sums.update(repr(one.y.tolist()).encode())
    for pair, parts in zip(plan.splits, plan.parts):
        for rows in (*pair, *parts):
            sums.update(np.asarray(rows, np.int64).tobytes())
    return sums.hexdigest()
