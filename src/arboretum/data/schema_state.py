"""A schema as JSON-able values and back; nothing in a file is trusted.

A category is stored with a letter for its type, because JSON cannot distinguish a date from a string
or keep 1, 1.0 and true apart after other programs have rewritten the file:

    ["s", "Bern"]  ["b", true]  ["i", 3]  ["f", 0.5]  ["d", "2024-03-31T10:15:00"]

Files may be damaged or hostile: every type, length and duplicate is checked, and anything other than the
output of `column_to_state` raises a `ModelFileError`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NoReturn

from arboretum.errors import ModelFileError

__all__ = ["column_to_state", "schema_fields"]

KINDS = ("numeric", "ordinal", "categorical")
_FIELDS = {"name": str, "kind": str, "categories": list | None, "has_missing": bool, "dtype": str}
_LONGEST_DTYPE = 32


def column_to_state(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a column as JSON-able values."""
    result = {key: fields[key] for key in _FIELDS}
    if fields["categories"] is not None:
        result["categories"] = [_category_to_state(value) for value in fields["categories"]]
    return result


def _category_to_state(value: Any) -> list[Any]:
    for letter, kind in (("s", str), ("b", bool), ("i", int), ("f", float)):
        if isinstance(value, kind):
            return [letter, value]
    return ["d", value.isoformat()]


def schema_fields(value: Any) -> tuple[bool, list[dict[str, Any]]]:
    """Check a stored schema; return whether it is named and the fields of each column."""
    if not isinstance(value, dict) or set(value) != {"named", "columns"}:
        _refuse("it must hold 'named' and 'columns'")
    if not isinstance(value["named"], bool):
        _refuse("'named' must be true or false")
    if not isinstance(value["columns"], list) or not value["columns"]:
        _refuse("'columns' must be a list of at least one column")
    columns = [_column_fields(i, c) for i, c in enumerate(value["columns"])]
    if len({c["name"] for c in columns}) < len(columns):
        _refuse("two columns have the same name")
    return value["named"], columns


def _column_fields(index: int, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != set(_FIELDS):
        _refuse(f"column {index} must hold {', '.join(_FIELDS)}")
    for key, kind in _FIELDS.items():
        if not isinstance(value[key], kind):
            _refuse(f"{key!r} of column {index} has the wrong type")
    if value["kind"] not in KINDS:
        _refuse(f"column {index} is of unknown kind")
    if not 0 < len(value["dtype"]) <= _LONGEST_DTYPE:
        _refuse(f"'dtype' of column {index} has a wrong length")
    if (value["kind"] == "categorical") > (value["categories"] is not None):
        _refuse(f"column {index} is categorical but has no categories")
    if value["kind"] == "numeric" and value["categories"] is not None:
        _refuse(f"column {index} is numeric but has categories")
    fields = dict(value)
    if fields["categories"] is not None:
        categories = tuple(_category(index, c) for c in fields["categories"])
        if len(set(categories)) < len(categories):
            _refuse(f"column {index} has the same category twice")
        fields["categories"] = categories
    return fields


def _category(index: int, value: Any) -> Any:
    if isinstance(value, list) and len(value) == 2:
        letter, content = value
        if letter == "s" and type(content) is str:
            return content
        if letter == "b" and type(content) is bool:
            return content
        if letter == "i" and type(content) is int:
            return content
        if letter == "f" and type(content) is float and math.isfinite(content):
            return content
        if letter == "d" and type(content) is str:
            try:
                moment = datetime.fromisoformat(content)
            except ValueError:
                _refuse(f"column {index} has a category that is no date")
            if moment.tzinfo is None:
                return moment
    _refuse(f"column {index} has a category of no known type")


def _refuse(why: str) -> NoReturn:
    raise ModelFileError(
        f"the schema in this file is damaged: {why}; save the model again, or use another copy"
    )
