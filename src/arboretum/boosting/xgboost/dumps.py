"""Trees in XGBoost's words: text, JSON, dot, and the cells of a table.

    0:[f2<2.45] yes=1,no=2,missing=1,gain=50.1,cover=66.7
            1:leaf=0.42,cover=22.2

A node of XGBoost tests ``x < split``, one of this library ``x <= split``. The splits lie between two values
of the training table, so both divide it alike. "yes" is the first child.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from arboretum.structure.tree import SUBSET, Tree

__all__ = ["DUMPS", "cells", "names_of_map"]

Weighted = tuple[Tree, float]  # a tree, and the factor of its leaf values


def names_of_map(path: Any) -> dict[int, str]:
    """Return the names of columns in a feature map, lines of a number, a name and a type."""
    lines = (line.split() for line in Path(path).read_text(encoding="utf-8").splitlines())
    return {int(words[0]): words[1] for words in lines if words}


def _children(tree: Tree, node: int) -> tuple[int, int, int]:
    """Return the children for yes, no and missing."""
    first = int(tree.first_child[node])
    return first, first + 1, first + int(tree.missing_child[node])


def _categories(tree: Tree, node: int) -> list[Any]:
    inside, _ = tree.categories_of(int(tree.bits_start[node]), int(tree.feature[node]))
    return inside


def cells(tree: Tree, t: int, node: int, weight: float, names: list[str]) -> tuple[Any, ...]:
    """Return a node as a row of `trees_to_dataframe`, without the numbers that identify it."""
    cover = float(tree.weight[node])
    if tree.feature[node] < 0:
        answer = float(tree.value[node, 0, 0]) * weight
        return "Leaf", np.nan, None, None, None, answer, cover, None
    yes, no, missing = (f"{t}-{child}" for child in _children(tree, node))
    by_set = tree.kind[node] == SUBSET
    split = np.nan if by_set else float(tree.threshold[node])
    members = _categories(tree, node) if by_set else None
    name = names[tree.feature[node]]
    return name, split, yes, no, missing, float(tree.gain[node]), cover, members


def _question(tree: Tree, node: int, names: list[str]) -> str:
    name = names[tree.feature[node]]
    if tree.kind[node] == SUBSET:
        return f"{name}:{{{','.join(map(str, _categories(tree, node)))}}}"
    return f"{name}<{tree.threshold[node]:.9g}"


def _text(item: Weighted, names: list[str], with_stats: bool) -> str:
    tree, weight = item
    lines = []
    waiting = [0]
    while waiting:  # depth first, yes before no
        node = waiting.pop()
        depth = "\t" * int(tree.depth[node])
        if tree.feature[node] < 0:
            stats = f",cover={tree.weight[node]:.9g}" if with_stats else ""
            lines.append(f"{depth}{node}:leaf={tree.value[node, 0, 0] * weight:.9g}{stats}")
            continue
        yes, no, missing = _children(tree, node)
        stats = f",gain={tree.gain[node]:.9g},cover={tree.weight[node]:.9g}" if with_stats else ""
        question = _question(tree, node, names)
        lines.append(f"{depth}{node}:[{question}] yes={yes},no={no},missing={missing}{stats}")
        waiting += [no, yes]
    return "\n".join(lines) + "\n"


def _json(item: Weighted, names: list[str], with_stats: bool) -> str:
    tree, weight = item
    built: list[dict[str, Any]] = [{} for _ in range(len(tree))]
    for node in reversed(range(len(tree))):  # children come after their parents
        entry = built[node]
        entry["nodeid"] = node
        if tree.feature[node] < 0:
            entry["leaf"] = float(tree.value[node, 0, 0]) * weight
        else:
            yes, no, missing = _children(tree, node)
            by_set = tree.kind[node] == SUBSET
            entry["depth"] = int(tree.depth[node])
            entry["split"] = names[tree.feature[node]]
            condition = _categories(tree, node) if by_set else float(tree.threshold[node])
            entry["split_condition"] = condition
            entry["yes"], entry["no"], entry["missing"] = yes, no, missing
            entry["children"] = [built[yes], built[no]]
            if with_stats:
                entry["gain"] = float(tree.gain[node])
        if with_stats:
            entry["cover"] = float(tree.weight[node])
    return json.dumps(built[0], default=str)


def _dot(item: Weighted, names: list[str], with_stats: bool) -> str:
    tree, weight = item
    lines = ["digraph {", "    graph [ rankdir=TB ]"]
    for node in range(len(tree)):
        if tree.feature[node] < 0:
            lines.append(f'    {node} [ label="leaf={tree.value[node, 0, 0] * weight:.9g}" ]')
            continue
        stats = ""
        if with_stats:
            stats = f"\\ngain={tree.gain[node]:.9g}\\ncover={tree.weight[node]:.9g}"
        lines.append(f'    {node} [ label="{_question(tree, node, names)}{stats}" ]')
        yes, no, missing = _children(tree, node)
        for child, word, color in ((yes, "yes", "#0000FF"), (no, "no", "#FF0000")):
            both = f"{word}, missing" if child == missing else word
            lines.append(f'    {node} -> {child} [ label="{both}" color="{color}" ]')
    return "\n".join([*lines, "}"])


DUMPS: dict[str, Callable[[Weighted, list[str], bool], str]] = {
    "text": _text,
    "json": _json,
    "dot": _dot,
}
