"""Which columns a node of a second-order tree may split on: those drawn, without those its path excludes."""

from __future__ import annotations

from arboretum.engine.keys import key_of
from arboretum.explain.worksheet.draws import columns_visited
from arboretum.explain.worksheet.families.second_order.levels import levels_of, takers
from arboretum.explain.worksheet.families.second_order.replay import AtNode, Replay

__all__ = ["columns_of", "left_out"]


def columns_of(replay: Replay, t: int, node: int, at: AtNode) -> tuple[list[int], str]:
    """Return the columns that a node may split on, and a sentence on how they were drawn."""
    drawn, notes = _drawn_columns(replay, t, node, at)
    columns = [f for f in drawn if _is_free(replay, t, node, f)]
    if len(columns) < len(drawn):
        notes.append("interaction constraints leave those allowed together with the columns above")
    return columns, "; ".join(notes)


def left_out(replay: Replay, t: int, node: int, at: AtNode) -> dict[int, str]:
    """Return the columns that a node did not look at, each with the reason."""
    drawn, tree = set(_drawn_columns(replay, t, node, at)[0]), replay.trees[t]
    above = [tree.column(int(tree.feature[n])).name for n in _above(replay, t, node)]
    names = ", ".join(dict.fromkeys(reversed(above)))
    found = {}
    for f in range(replay.table.schema.n_features):
        if f not in drawn:
            found[f] = "was not drawn"
        elif not _is_free(replay, t, node, f):
            found[f] = f"is not allowed together with {names} (interaction_constraints)"
    return found


def _drawn_columns(replay: Replay, t: int, node: int, at: AtNode) -> tuple[list[int], list[str]]:
    """Return the columns that tree, depth and node drew, and how many at each step."""
    m, output, twin = replay.place_of(t)
    plan, rules, tree = replay.plan, replay.plan.rules, replay.trees[t]
    key = key_of(plan.seed, m, output, twin)
    columns = [int(f) for f in replay.recipe.draws.tree_columns(plan, key)]
    width, notes = replay.table.schema.n_features, []
    if len(columns) < width:
        notes.append(f"the tree drew {len(columns)} of {width} columns")
    depth, number = ("depth", at.depth), ("node", node)
    if rules.symmetric:  # a level draws as if it were a node
        depth = number = "level", int(levels_of(tree)[node])
    for (what, place), many, odd in (
        (depth, rules.level_columns, 0),
        (number, rules.node_columns, 1),
    ):
        if not many or many >= len(columns):
            continue
        if odd and replay.is_exact and rules.min_gain > 0:
            return columns, [
                "the columns this node drew are unknown, because pruning numbered the nodes again"
            ]
        picked = columns_visited(key_of(key, place << 1 | odd), len(columns), many, lambda f: True)
        columns = sorted(columns[k] for k in picked)
        notes.append(
            f"its {what} drew {many} of those" if notes else f"its {what} drew {many} columns"
        )
    return columns, notes


def _above(replay: Replay, t: int, node: int) -> list[int]:
    """Return the nodes above a node, the nearest first; in a symmetric tree a node of every level above."""
    if replay.plan.rules.symmetric:
        level = int(levels_of(replay.trees[t])[node])
        return [takers(replay.trees[t], above)[0] for above in range(level - 1, -1, -1)]
    found = []
    while node:
        node = int(replay.trees[t].parent[node])
        found.append(node)
    return found


def _is_free(replay: Replay, t: int, node: int, f: int) -> bool:
    """Return True if interaction constraints allow a column below the columns above a node."""
    groups = replay.plan.groups
    if groups is None:
        return True
    shared = groups[f].copy()
    for above in _above(replay, t, node):
        shared &= groups[int(replay.trees[t].feature[above])]
    return bool(shared.any())
