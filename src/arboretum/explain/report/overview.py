"""The facts of the first panel: model, rows, parameters, versions, seed and hash."""

from __future__ import annotations

import hashlib
import io
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from arboretum.errors import ArboretumError
from arboretum.explain.pipeline import anatomy_of
from arboretum.registry import __version__

__all__ = ["overview_of"]

_SHOWN = ("target", "task")  # notes that the page has a line for


def overview_of(model: Any, n_rows: int, n_used: int, n_columns: int) -> dict[str, Any]:
    """Return the facts of the first panel."""
    anatomy = anatomy_of(model, "report")
    facts: dict[str, Any] = {
        "model": type(model).__name__,
        "about": (type(model).__doc__ or "").strip().split("\n")[0].replace("`", ""),
        "rows": n_rows,
        "used": n_used,
        "columns": n_columns,
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "parameters": _parameters(model),
        "versions": _versions(),
        "hash": _hash(model),
        "notes": {
            k: str(v)
            for k, v in anatomy.history.notes.items()
            if len(str(v)) < 200 and k not in _SHOWN
        },
    }
    history, parts = anatomy.history, anatomy.parts
    if history.seconds is not None:  # a model read from a file has none
        facts["fit_seconds"] = float(f"{history.seconds:.3g}")
    if history.seed is not None:
        facts["seed"] = str(history.seed)
    if anatomy.trees:
        facts["trees"] = len(anatomy.trees)
        facts["leaves"] = int(sum(tree.n_leaves for tree in anatomy.trees))
        facts["depth"] = int(max(tree.max_depth for tree in anatomy.trees))
    if anatomy.family in ("stack", "vote"):
        joined = parts[:-1] if anatomy.family == "stack" else parts  # the last is the final model
        facts["members"] = [[one.name, type(one.model).__name__] for one in joined]
    if anatomy.family == "averaged":
        members = anatomy.recipe.steps["members"]()
        facts["members"] = [
            [one.kind, f"{one.ensemble.n_rounds} rounds, weight {one.weight:.3g}"]
            for one in members
        ]
        facts["choices"] = anatomy.recipe.steps["choices"]().rows()
    if history.oob_score is not None:
        facts["oob_score"] = float(history.oob_score)
        facts["oob_name"] = history.oob_measure
    if anatomy.family == "rules":
        facts["n_rules"] = len(model.rules_)
    if history.interrupted:
        facts["interrupted"] = history.interrupted
    return facts


def _parameters(model: Any) -> list[list[Any]]:
    """Return the name, the value, and True if it is the default, of every parameter."""
    given = model.get_params(deep=False)
    try:
        usual = type(model)().get_params(deep=False)
    except TypeError:
        usual = {}
    return [
        [name, _short(value), bool(name in usual and _same(usual[name], value))]
        for name, value in sorted(given.items())
    ]


def _same(a: Any, b: Any) -> bool:
    try:
        return bool(a == b) or (a != a and b != b)
    except (TypeError, ValueError):
        return a is b


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 160 else text[:157] + "…"


def _versions() -> list[list[str]]:
    names = {"NumPy": "numpy", "scikit-learn": "scikit-learn", "Numba": "numba"}
    found = [["arboretum", __version__], ["Python", platform.python_version()]]
    return found + [[name, version(package)] for name, package in names.items()]


def _hash(model: Any) -> str | None:
    """Return the SHA-256 of the model file; None for a model that cannot be saved."""
    buffer = io.BytesIO()
    try:
        model.save(buffer)
    except (ArboretumError, TypeError, AttributeError):
        return None
    return hashlib.sha256(buffer.getvalue()).hexdigest()
