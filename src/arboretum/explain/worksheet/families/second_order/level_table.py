"""What a level of a symmetric tree was chosen by: its cut at all nodes, and the best cut of every column."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.explain.worksheet.families.second_order.levels import levels_of, nodes_at
from arboretum.explain.worksheet.families.second_order.refusals import Looked
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Sheet
from arboretum.textbook.gradient_scan import scan_one
from arboretum.textbook.symmetric import LevelCut, scan_symmetric

__all__ = ["add_level", "why_whole"]

_SHOWN = 8  # gains that a sum is written out with


def add_level(sheet: Sheet, looked: Looked) -> None:
    """Add what the cut of a node gains at all nodes of its level, and the best cut of every column."""
    replay, t, tree = looked.replay, looked.t, looked.tree
    level = int(levels_of(tree)[looked.node])
    places = nodes_at(tree, level)
    everything = replay.nodes(t)
    nodes = [everything[place] for place in places]
    lines, gains = [], []
    for place, at in zip(places, nodes, strict=True):
        gain, verdict = _gain_at(looked, place, at)
        gains += [gain] if verdict == "takes the cut" else []
        lines.append((place, len(at.rows), at.node.G, at.node.H, gain, verdict))
    sheet.facts["level"] = level
    shown = " + ".join(map(number, gains)) if len(gains) <= _SHOWN else f"{len(gains)} gains"
    sheet.add_formula(
        "gain of the level", "Σ gains of the nodes that take its cut", shown, sum(gains)
    )
    sheet.notes.append(
        f"Level {level} has one cut for its {len(places)} nodes, the one of the largest sum of gains. A node "
        "that may not be split by it, or gains too little, adds nothing and stays whole."
    )
    header = "node | rows | G | H | gain | verdict"
    marked = [places.index(looked.node)]
    sheet.add_table(f"The cut of level {level} at its nodes", header, lines, marked, shown=20)
    _add_columns(sheet, looked, nodes, sum(gains))


def _gain_at(looked: Looked, place: int, at: Any) -> tuple[float, str]:
    """Return what the cut of a looked-at node gains at a node of the same level, and the verdict."""
    replay, t, tree = looked.replay, looked.t, looked.tree
    c = looked.winner
    assert c is not None
    g, h = replay.gradients(t)
    inside = at.rows[replay.goes_left(tree, looked.node, t, at.rows)]
    sums = np.array([g[inside].sum(), h[inside].sum(), len(inside)], np.float64)
    sign = replay.sign(c.feature, c.categories)
    one = scan_one(at.node, c.feature, sums, c.cut, c.categories, c.default, sign)
    if not tree.is_leaf[place] and levels_of(tree)[place] == levels_of(tree)[looked.node]:
        return one.gain, "takes the cut"
    return one.gain, one.verdict if one.verdict != "admissible" else "lost by rounding"


def _add_columns(sheet: Sheet, looked: Looked, nodes: list[Any], total: float) -> None:
    """Add the table of the best cut of every column for the whole level."""
    found = [_best_of_column(looked, f, nodes) for f in looked.tried]
    lines: list[tuple[Any, ...]] = []
    marked: list[int] = []
    for cut in sorted((cut for cut in found if cut is not None), key=lambda cut: -cut.gain):
        wins = looked.winner is not None and cut.feature == looked.winner.feature
        marked += [len(lines)] if wins else []
        less = "gains less" if cut.gain < total else "lost by rounding to 16 bits"
        takers = int((cut.gains > 0).sum())
        lines.append((looked.question(cut), takers, cut.gain, "wins" if wins else less))
    header = "split | nodes that take it | sum of gains | verdict"
    sheet.add_table("Best cut of every column for the level", header, lines, marked)


def _best_of_column(looked: Looked, f: int, nodes: list[Any]) -> LevelCut | None:
    """Return the cut of a column that gains most at the nodes of a level."""
    replay, t = looked.replay, looked.t
    parts = [replay.sums(t, f, at.rows) for at in nodes]
    _, cuts, categories = parts[0]
    sums = np.array([some for some, *_ in parts])
    sign = replay.sign(f, categories)
    every = [at.node for at in nodes]
    return scan_symmetric(every, f, sums[:, :-1], cuts, sums[:, -1], categories, sign).best()


def why_whole(looked: Looked) -> str:
    """Return why a leaf of a symmetric tree is one."""
    levels, most = levels_of(looked.tree), looked.replay.plan.rules.max_depth
    first, end = int(levels[looked.node]), int(levels[looked.tree.is_leaf].max())
    if first >= most:
        return f"max_depth={most} is reached"
    reasons = []
    if first < end:
        cuts = (
            f"the cut of level {first}"
            if end == first + 1
            else f"the cuts of levels {first} to {end - 1}"
        )
        reasons.append(f"{cuts} may not split it, or would gain too little")
    if end < most:
        reasons.append(f"no cut gains enough at any node of level {end}")
    return "; ".join(reasons)
