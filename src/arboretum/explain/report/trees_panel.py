"""Titles of the trees, and the rules, of a page."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np

from arboretum.base.anatomy import Anatomy
from arboretum.explain.pick_tree import pick_tree, rounds_of
from arboretum.explain.pipeline import anatomy_of
from arboretum.explain.report.model_code import ModelCode
from arboretum.explain.report.tree_code import rounded
from arboretum.structure.condition import format_category

__all__ = ["rules_panel", "trees_panel"]


def trees_panel(model: Any, code: ModelCode) -> dict[str, Any]:
    """Return a title for every tree, and the meaning of the numbers of its nodes."""
    anatomy = anatomy_of(model, "report")
    own = anatomy.trees
    place = {id(tree): number for number, tree in enumerate(own)}
    rounds = rounds_of(anatomy)
    titles, kinds, numbers = [], [], []
    for at, (tree, member) in enumerate(code.sources):
        number = place.get(id(tree), -1)
        numbers.append(number)
        if number >= 0 and not member:
            picked = pick_tree(model, number, "report")
            titles.append(_from_one(picked.title) or "the tree")
            kinds.append(picked.kind)
            continue
        titles.append(f"{member} · tree {at + 1}" if member else f"tree {at + 1}")
        kinds.append("answers" if tree.impurity.any() or not tree.gain.any() else "gradients")
    return {
        "titles": titles,
        "kinds": kinds,
        "places": _places(code, numbers),
        "criterion": anatomy.recipe.criterion,
        "alphas": _alphas(anatomy),
        "walkable": code.steps is not None,
        "reason": code.reason,
        "per_round": rounds.per_round if rounds is not None else 1,
        "total": len(own) or len(code.sources),
        "schemas": _schemas(model, code),
    }


def _from_one(title: str) -> str:
    """Return a title whose trees and rounds are counted from 1, as the page does.

    >>> _from_one("tree 7 of 300: round 2, class maple")
    'tree 8 of 300: round 3, class maple'
    """
    head, colon, tail = title.partition(":")
    plus = partial(re.sub, r"\b(tree|round) (\d+)", lambda m: f"{m[1]} {int(m[2]) + 1}", count=1)
    return plus(head) + colon + plus(tail)


def _places(code: ModelCode, numbers: list[int]) -> list[list[Any]]:
    """Return, for every tree, its member ("" for the model itself) and its number in the member."""
    counts: dict[str, int] = {}
    found = []
    for (_, member), number in zip(code.sources, numbers, strict=True):
        found.append([member, counts.get(member, 0) if member else number])
        counts[member] = counts.get(member, 0) + 1
    return found


def _alphas(anatomy: Anatomy) -> list[list[Any]] | None:
    """Return AdaBoost's ε and α of every round."""
    if anatomy.family != "adaboost":
        return None
    figures = anatomy.history.figures
    pairs = zip(figures["error"], figures["weight"], strict=True)
    return [rounded(np.array(pair, np.float64), 7) for pair in pairs]


def _schemas(model: Any, code: ModelCode) -> list[Any]:
    """Return for every tree the columns it splits on, if they are not the model's own."""
    found: list[Any] = []
    known: list[Any] = [model.schema_]
    tables: list[Any] = []
    for tree, _ in code.sources:
        place = next((i for i, schema in enumerate(known) if schema is tree.schema), None)
        if place is None and tree.schema == model.schema_:
            place = 0
        if place is None:
            known.append(tree.schema)
            tables.append(
                [
                    [
                        c.name,
                        None
                        if c.categories is None
                        else [format_category(w) for w in c.categories],
                    ]
                    for c in tree.schema.columns
                ]
            )
            place = len(known) - 1
        found.append(place)
    return [found if any(found) else 0, tables]


def rules_panel(model: Any) -> list[dict[str, Any]] | None:
    """Return the rules of a list of rules (C4.5rules)."""
    if anatomy_of(model, "report").family != "rules":
        return None
    listed = [
        {
            "if": [condition.pretty() for condition in rule.conditions],
            "then": format_category(rule.prediction),
            "covers": rule.weight,
            "wrong": rule.errors,
            "accuracy": rule.accuracy,
        }
        for rule in model.rules_
    ]
    listed.append(
        {
            "if": [],
            "then": format_category(model.default_),
            "covers": float(model.default_counts_.sum()),
        }
    )
    return listed
