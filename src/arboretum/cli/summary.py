"""What a model is, in words: its parameters, its size and its columns."""

from __future__ import annotations

from typing import Any

from arboretum.cli.screen import plural, print_table

__all__ = [
    "changed_parameters",
    "describe_parameters",
    "describe_size",
    "importances",
    "print_schema",
]

_MOST_COLUMNS = 30
_MOST_CATEGORIES = 8


def changed_parameters(model: Any) -> dict[str, Any]:
    """Return the parameters that differ from their defaults.

    Examples
    --------
    >>> from arboretum import CARTClassifier
    >>> changed_parameters(CARTClassifier(max_depth=4, unseen="missing"))
    {'max_depth': 4}
    """
    defaults = type(model)().get_params(deep=False)
    return {
        name: value
        for name, value in model.get_params(deep=False).items()
        if repr(value) != repr(defaults[name])  # arrays do not compare as one truth value
    }


def describe_parameters(model: Any) -> str:
    """Return the model with the parameters that differ from their defaults."""
    changed = (f"{name}={value!r}" for name, value in changed_parameters(model).items())
    return f"{type(model).__name__}({', '.join(changed)})"


def describe_size(model: Any) -> str:
    """Return how large a model's tree is.

    Examples
    --------
    >>> from arboretum import CARTClassifier
    >>> describe_size(CARTClassifier(max_depth=1).fit([[1], [2]], [0, 1]))
    'one tree of 2 leaves, depth 1'
    """
    tree = model.tree_
    return f"one tree of {plural(tree.n_leaves, 'leaf', 'leaves')}, depth {tree.max_depth}"


def importances(model: Any) -> list[float]:
    """Return the importance of every column, as shares."""
    return [float(value) for value in model.feature_importances_]


def print_schema(model: Any) -> None:
    """Print the columns a model knows, the most important first in a table too long to show."""
    columns, shares = model.schema_.columns, importances(model)
    order = list(range(len(columns)))
    title = f"{plural(len(columns), 'column')}"
    if len(columns) > _MOST_COLUMNS:
        order = sorted(order, key=lambda f: -shares[f])[:_MOST_COLUMNS]
        title += f", the {_MOST_COLUMNS} most important ones"
    rows = [
        (
            columns[f].name,
            columns[f].kind,
            columns[f].dtype,
            _describe_categories(columns[f].categories),
            "yes" if columns[f].has_missing else "",
            f"{shares[f]:.3f}",
        )
        for f in order
    ]
    header = ("name", "kind", "type", "categories", "missing", "importance")
    print_table(title, header, rows, right=[5])


def _describe_categories(categories: tuple | None) -> str:
    if categories is None:
        return ""
    if len(categories) <= _MOST_CATEGORIES:
        return ", ".join(map(str, categories))
    few = _MOST_CATEGORIES - 2  # never "and 1 more"
    return ", ".join(map(str, categories[:few])) + f", … and {len(categories) - few} more"
