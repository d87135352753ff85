"""A description of a model: its parameters, its size and its columns.

Most models are trees or forests; a list of rules has rules to count, and no importances.
"""

from __future__ import annotations

from typing import Any

from arboretum.cli.forests import forest_size, importance_name, importance_text, is_forest, rows_of
from arboretum.cli.screen import plural, print_table
from arboretum.data.schema import Column

__all__ = [
    "changed_parameters",
    "describe_parameters",
    "describe_size",
    "importances",
    "is_rules",
    "print_schema",
    "training_rows",
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
        # other names of a parameter have no default; arrays do not compare to one bool
        if name in defaults and repr(value) != repr(defaults[name])
    }


def describe_parameters(model: Any) -> str:
    """Return the model with the parameters that differ from their defaults."""
    changed = (f"{name}={value!r}" for name, value in changed_parameters(model).items())
    return f"{type(model).__name__}({', '.join(changed)})"


def is_rules(model: Any) -> bool:
    """Return True if a fitted model is a list of rules instead of a tree."""
    return not hasattr(model, "tree_") and hasattr(model, "rules_")


def training_rows(model: Any) -> int:
    """Return the number of rows a model was trained on."""
    if is_forest(model):
        return rows_of(model)
    return int(model.n_samples_fit_ if is_rules(model) else model.tree_.count[0])


def describe_size(model: Any) -> str:
    """Return the size of a model's tree or forest, or the number of its rules.

    Examples
    --------
    >>> from arboretum import CARTClassifier
    >>> describe_size(CARTClassifier(max_depth=1).fit([[1], [2]], [0, 1]))
    'one tree of 2 leaves, depth 1'
    """
    if is_rules(model):
        return f"{plural(len(model.rules_), 'rule')}, else {model.default_}"
    if is_forest(model):
        return forest_size(model)
    tree = model.tree_
    return f"one tree of {plural(tree.n_leaves, 'leaf', 'leaves')}, depth {tree.max_depth}"


def importances(model: Any) -> list[float] | None:
    """Return the importance of every column; None for models without importances."""
    shares = None if is_rules(model) else getattr(model, "feature_importances_", None)
    return None if shares is None else [float(value) for value in shares]


def print_schema(model: Any) -> None:
    """Print the columns of a model, the most important first."""
    columns, shares = model.schema_.given.columns, importances(model)
    order = list(range(len(columns)))
    if shares is not None:
        order.sort(key=lambda f: -shares[f])
    title = f"{plural(len(columns), 'column')}"
    if len(columns) > _MOST_COLUMNS:
        title += f", the {_MOST_COLUMNS} {'first' if shares is None else 'most important'} ones"
    worth = [] if shares is None else [importance_name(model)]
    header = ["name", *worth, "missing", "values"]
    rows = [
        (
            columns[f].name,
            *(() if shares is None else (importance_text(model, shares[f], 3),)),
            "yes" if columns[f].has_missing else "",
            _describe_values(columns[f]),
        )
        for f in order[:_MOST_COLUMNS]
    ]
    print_table(title, header, rows, right=[1] if worth else [], cut=len(header) - 1)


def _describe_values(column: Column) -> str:
    """Return the values of a column: numbers, dates, or its categories, the first of many.

    >>> _describe_values(Column("x", "categorical", tuple("abcdefghij"), False, "str"))
    '10: a, b, c, d, e, f, …'
    >>> _describe_values(Column("x", "ordinal", ("S", "M", "L"), False, "enum"))
    'S < M < L'
    """
    categories = column.categories
    if categories is None:
        return {"datetime": "dates", "time": "times"}.get(column.dtype, "numbers")
    between = " < " if column.kind == "ordinal" else ", "
    if len(categories) <= _MOST_CATEGORIES:
        return between.join(map(str, categories))
    few = _MOST_CATEGORIES - 2  # never "and 1 more"
    return f"{len(categories):,}: {between.join(map(str, categories[:few]))}{between}…"
