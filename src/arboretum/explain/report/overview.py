"""The facts of the first panel: model, rows, parameters, versions, seed and hash."""

from __future__ import annotations

import hashlib
import io
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import arboretum
from arboretum.errors import ArboretumError
from arboretum.explain.pick_tree import trees_of

__all__ = ["overview_of"]


def overview_of(model: Any, n_rows: int, n_used: int, n_columns: int) -> dict[str, Any]:
    """Return the facts of the first panel."""
    trees = trees_of(model)
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
            str(k): str(v) for k, v in getattr(model, "notes_", {}).items() if len(str(v)) < 200
        },
    }
    seconds = getattr(model, "_fit_seconds", None)
    if seconds is not None:  # a model from a file has none
        facts["fit_seconds"] = float(f"{seconds:.3g}")
    seed = getattr(model, "seed_", None)
    if seed is not None:
        facts["seed"] = str(seed)
    if trees:
        facts["trees"] = len(trees)
        facts["leaves"] = int(sum(tree.n_leaves for tree in trees))
        facts["depth"] = int(max(tree.max_depth for tree in trees))
    members = getattr(model, "named_estimators_", None)
    if members:
        facts["members"] = [[str(name), type(one).__name__] for name, one in members.items()]
    if hasattr(model, "oob_score_"):
        facts["oob_score"] = float(model.oob_score_)
        facts["oob_name"] = "accuracy" if hasattr(model, "classes_") else "R²"
        if callable(getattr(model, "oob_score", None)):
            facts["oob_name"] = ""
    rules = getattr(model, "rules_", None)
    if rules is not None:
        facts["n_rules"] = len(rules)
    if getattr(model, "interrupted_", None):
        facts["interrupted"] = " of ".join(map(str, model.interrupted_[:2]))
    return facts


def _parameters(model: Any) -> list[list[Any]]:
    """Return name, value, and whether it is the default."""
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
    found = [["arboretum", arboretum.__version__], ["Python", platform.python_version()]]
    return found + [[name, version(package)] for name, package in names.items()]


def _hash(model: Any) -> str | None:
    """Return the SHA-256 of the model file; None for a model that has parts no file can hold."""
    buffer = io.BytesIO()
    try:
        model.save(buffer)
    except (ArboretumError, TypeError, AttributeError):
        return None
    return hashlib.sha256(buffer.getvalue()).hexdigest()
