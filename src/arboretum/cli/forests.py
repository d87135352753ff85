"""Models of many trees on the command line: their size, and the tree that --tree names.

arboretum show forest.arb               size and importances
arboretum show forest.arb --tree 0      the first tree, in every format of a tree
arboretum show boosted.arb --tree 3,1   the tree of round 3 for class 1
arboretum show stack.arb --member rf    a model of a stack or a vote, by its name
"""

from __future__ import annotations

import copy
from typing import Any

from arboretum.base.anatomy import has_anatomy
from arboretum.cli.guard import UsageError
from arboretum.cli.screen import plural
from arboretum.explain.pick_tree import rounds_of, trees_of

__all__ = [
    "describe_forest",
    "forest_size",
    "importance_name",
    "importance_text",
    "is_forest",
    "member_of",
    "parse_tree",
    "refuse_joined",
    "rows_of",
]

_FINAL = "final"  # name of the last model of a stack


def is_forest(model: Any) -> bool:
    """Return True if a fitted model has many trees, or many estimators."""
    many = hasattr(model, "trees_") or hasattr(model, "estimators_")
    return many and not hasattr(model, "tree_")


def parse_tree(text: str) -> int | tuple[int, int | str]:
    """Read ``--tree``: a number, or a round and a class.

    Examples
    --------
    >>> parse_tree("7"), parse_tree("-1"), parse_tree("3,1"), parse_tree("3, maple")
    (7, -1, (3, 1), (3, 'maple'))
    """
    first, comma, second = (part.strip() for part in text.partition(","))
    try:
        number = int(first)
    except ValueError:
        number = None
    if number is None or bool(comma) != bool(second):
        raise UsageError(
            f"--tree takes a number, for boosters also round,class: e.g. --tree 7 or --tree 3,1, got {text!r}"
        )
    if not comma:
        return number
    return number, int(second) if second.lstrip("-").isdecimal() else second


# ---------------------------------------------------------------------- stacks and votes
def _members(model: Any) -> dict[str, Any]:
    """Return the models that a stack or a vote joins, by name."""
    found = dict(getattr(model, "named_estimators_", {}))
    if has_anatomy(final := getattr(model, "final_estimator_", None)):
        found[_FINAL] = final  # the usual one is linear, and has no tree to show
    return {name: one for name, one in found.items() if not isinstance(one, str)}


def member_of(model: Any, name: str) -> Any:
    """Return one of the models that a stack or a vote joins."""
    members = _members(model)
    if not members:
        raise UsageError(
            f"--member selects a model of a stack or a vote, this is a {type(model).__name__}: leave it out"
        )
    if name not in members:
        raise UsageError(f"--member {name}: there is {', '.join(members)}")
    found, classes = members[name], getattr(model, "classes_", None)
    if getattr(found, "classes_", None) is not None and name != _FINAL:
        found = copy.copy(found)
        found.classes_ = classes  # members of a stack are fitted on the codes of the classes
    return found


def refuse_joined(model: Any) -> None:
    """Raise a UsageError for a model without trees of its own, with the option that shows its members'."""
    if names := list(_members(model)):
        raise UsageError(
            f"{type(model).__name__} joins other models and has no tree of its own: add --member, one of "
            f"{', '.join(names)}"
        )


def rows_of(model: Any) -> int:
    """Return the number of rows a forest was trained on."""
    return int(model._anatomy().history.n_rows)


def forest_size(model: Any) -> str:
    """Return the size of a forest, in words.

    Examples
    --------
    >>> from arboretum import RandomForestRegressor
    >>> forest = RandomForestRegressor(5, max_depth=1, random_state=0)
    >>> forest_size(forest.fit([[1], [2], [3], [4]], [0, 0, 1, 1]))
    '5 trees of 2 leaves, depth up to 1'
    """
    if hasattr(model, "final_estimator_"):
        names = ", ".join(type(member).__name__ for member in model.estimators_)
        return f"{names}, and {type(model.final_estimator_).__name__} on their predictions"
    if joined := _members(model):
        return ", ".join(type(one).__name__ for one in joined.values())
    trees = trees_of(model)
    if not trees:
        what = type(model.estimators_[0]).__name__
        return f"{plural(len(model.estimators_), 'estimator')}: {what}"
    leaves = sorted(tree.n_leaves for tree in trees)
    several = plural(leaves[-1], "leaf", "leaves")
    if leaves[0] < leaves[-1]:
        several = f"{leaves[0]:,} to {several}"
    depth = max(tree.max_depth for tree in trees)
    return f"{plural(len(trees), 'tree')} of {several}, depth up to {depth}"


def describe_forest(model: Any, shares: list[float] | None) -> str:
    """Return size and importances as text, the most important columns first."""
    lines = [f"{type(model).__name__}: {forest_size(model)}"]
    best = getattr(model, "_best", None)
    if best is not None:
        lines.append(f"best round: {best[0] + 1}; later trees are not used")
    if trees_of(model):
        lines.append(f"one tree: add --tree 0 … {len(trees_of(model)) - 1}" + _by_round(model))
    elif names := list(_members(model)):
        lines.append(f"one of them: add --member {', '.join(names)}")
    if shares is not None:
        lines += ["", f"{importance_name(model):>10}  column"]
        for f in sorted(range(len(shares)), key=lambda f: -shares[f]):
            lines.append(
                f"{importance_text(model, shares[f], 4):>10}  {model.schema_.columns[f].name}"
            )
    return "\n".join(lines) + "\n"


def importance_name(model: Any) -> str:
    """Return the heading of a model's importances.

    >>> from arboretum import LGBMClassifier, XGBClassifier
    >>> importance_name(XGBClassifier()), importance_name(LGBMClassifier(importance_type="gain"))
    ('importance', 'gain')
    """
    counted = {"split": "splits", "gain": "gain"}
    kind = getattr(model, "importance_type", None) if _is_counted(model) else None
    return counted.get(str(kind), "importance")


def _is_counted(model: Any) -> bool:
    """Return True if importances are counts or sums instead of shares, as in LightGBM."""
    return type(model).__name__.startswith("LGBM")


def importance_text(model: Any, value: float, decimals: int) -> str:
    """Return an importance as printed: counts have no decimals."""
    return f"{value:,.0f}" if _is_counted(model) else f"{value:.{decimals}f}"


def _by_round(model: Any) -> str:
    """Return how to name a tree of a booster of several classes by round and class."""
    rounds = rounds_of(model._anatomy())
    if rounds is None or rounds.n_outputs == 1:
        return ""
    last = len(trees_of(model)) // rounds.per_round - 1
    return f", or by round and class --tree 0,0 … {last},{rounds.n_outputs - 1}"
