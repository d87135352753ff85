"""`arboretum describe`: the contents of a model file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from arboretum.cli.files import load_model
from arboretum.cli.forests import is_forest
from arboretum.cli.reading import describe_notes
from arboretum.cli.screen import file_size, plural, print_facts, print_table
from arboretum.cli.summary import (
    changed_parameters,
    describe_size,
    importances,
    is_rules,
    print_schema,
    training_rows,
)
from arboretum.explain.pick_tree import trees_of

__all__ = ["describe"]


def describe(model_file: Path, as_json: bool) -> None:
    """Run the command; as JSON for programs, as tables for people."""
    from arboretum.io.container import read

    model = load_model(model_file)
    version = str(read(model_file)["arboretum"])
    if as_json:
        print(json.dumps(_document(model, version), indent=2, ensure_ascii=False, default=repr))
        return
    print_facts([*_facts(model, model_file, version), _what_next(model_file)])
    print()
    print_schema(model)
    if hasattr(model, "choices_"):
        head, *tried = model.choices_.rows()
        print_table("What the fit tried", head, tried)
    _print_parameters(model)


def _facts(model: Any, model_file: Path, version: str) -> list[tuple[str, str]]:
    facts = [
        ("file", f"{model_file} ({file_size(model_file.stat().st_size)})"),
        ("model", type(model).__name__),
        ("written by", f"arboretum {version}"),
        *describe_notes(model.notes_),
        ("size", describe_size(model)),
        *_best_round(model),
        ("trained on", plural(training_rows(model), "row")),
    ]
    if model.n_outputs_ > 1:
        facts.append(("outputs", str(model.n_outputs_)))
    elif hasattr(model, "classes_"):
        facts.append(("classes", ", ".join(str(label) for label in model.classes_)))
    return facts


def _best_round(model: Any) -> list[tuple[str, str]]:
    best = getattr(model, "_best", None)
    if best is None:
        return []
    return [("best round", f"{best[0] + 1}; later trees are not used")]


def _what_next(model_file: Path) -> tuple[str, str]:
    """Return the commands that show more of a model."""
    name = model_file.name
    commands = (f"explain {name} DATA --row 17", f"show {name}", f"report {name} DATA")
    return "more", "; ".join(f"arboretum {command}" for command in commands)


def _print_parameters(model: Any) -> None:
    """Print the parameters that were set as a table, and the others in a few lines."""
    changed, values = changed_parameters(model), model._in_effect()
    if changed:
        rows = [(name, repr(values[name])) for name in values if name in changed]
        print_table("Parameters that were set", ("name", "value"), rows)
    others = {name: value for name, value in values.items() if name not in changed}
    defaults = [f"{name}={value!r}" for name, value in others.items() if value is not None]
    unset = [name for name, value in others.items() if value is None]
    facts = [("defaults", ", ".join(defaults)), ("not set", ", ".join(unset))]
    print_facts([(name, text) for name, text in facts if text])


def _document(model: Any, version: str) -> dict[str, Any]:
    classes = getattr(model, "classes_", None)
    if classes is not None:
        classes = [c.tolist() for c in classes] if model.n_outputs_ > 1 else classes.tolist()
    columns = [
        {
            "name": column.name,
            "kind": column.kind,
            "type": column.dtype,
            "categories": None if column.categories is None else list(column.categories),
            "missing": column.has_missing,
        }
        for column in model.schema_.given.columns
    ]
    for column, share in zip(columns, importances(model) or ()):
        column["importance"] = share
    return {
        "model": type(model).__name__,
        "arboretum": version,
        "notes": model.notes_,
        "parameters": model.get_params(deep=False),
        "in_effect": model._in_effect(),
        "changed": sorted(changed_parameters(model)),
        "classes": classes,
        "outputs": model.n_outputs_,
        **_size(model),
        "columns": columns,
        **({"choices": model.choices_.rows()[1:]} if hasattr(model, "choices_") else {}),
    }


def _size(model: Any) -> dict[str, Any]:
    rows = training_rows(model)
    if is_rules(model):
        default = getattr(model.default_, "item", lambda: model.default_)()  # a plain Python value
        return {"rules": {"rules": len(model.rules_), "default": default, "rows": rows}}
    if is_forest(model):
        trees = trees_of(model)
        size = {
            "estimators": len(model),
            "nodes": sum(tree.node_count for tree in trees),
            "leaves": sum(tree.n_leaves for tree in trees),
            "depth": max((tree.max_depth for tree in trees), default=0),
        }
        return {"forest": {**size, "rows": rows}}
    tree = model.tree_
    size = {"nodes": tree.node_count, "leaves": tree.n_leaves, "depth": tree.max_depth}
    return {"tree": {**size, "rows": rows}}
