"""Which columns a node of a second-order tree may ask for: those drawn, and free to meet those above it."""

from __future__ import annotations

from arboretum.engine.keys import key_of
from arboretum.explain.worksheet.draws import columns_visited
from arboretum.explain.worksheet.families.second_order.replay import AtNode, Replay

__all__ = ["ColumnDraws"]


class ColumnDraws(Replay):
    """A booster that draws its columns again."""

    def columns_of(self, t: int, node: int, at: AtNode) -> tuple[list[int], str]:
        """Return the columns that a node may ask for, and a sentence on how they were drawn."""
        drawn, said = self.drawn_columns(t, node, at)
        columns = [f for f in drawn if self._may_meet(t, node, f)]
        if len(columns) < len(drawn):
            said.append("interaction constraints leave those that may meet the columns above")
        return columns, "; ".join(said)

    def drawn_columns(self, t: int, node: int, at: AtNode) -> tuple[list[int], list[str]]:
        """Return the columns that tree, depth and node drew, and how many at each step."""
        m, output, twin = self.place_of(t)
        plan, rules = self.plan, self.plan.rules
        key = key_of(plan.seed, m, output, twin)
        columns = [int(f) for f in self.recipe.draws.tree_columns(plan, key)]
        width, said = self.table.schema.n_features, []
        if len(columns) < width:
            said.append(f"the tree drew {len(columns)} of {width} columns")
        for what, many, place in (
            ("depth", rules.level_columns, at.depth << 1),
            ("node", rules.node_columns, node << 1 | 1),
        ):
            if not many or many >= len(columns):
                continue
            if what == "node" and self.is_exact and rules.min_gain > 0:
                return columns, [
                    "which columns this node drew cannot be told, because pruning numbered the nodes anew"
                ]
            picked = columns_visited(key_of(key, place), len(columns), many, lambda f: True)
            columns = sorted(columns[k] for k in picked)
            said.append(
                f"its {what} drew {many} of those" if said else f"its {what} drew {many} columns"
            )
        return columns, said

    def _may_meet(self, t: int, node: int, f: int) -> bool:
        """Tell whether interaction constraints let a column be asked below the columns above a node."""
        groups, tree = self.plan.groups, self.trees[t]
        if groups is None:
            return True
        open_ = groups[f].copy()
        while node:
            node = int(tree.parent[node])
            open_ &= groups[int(tree.feature[node])]
        return bool(open_.any())

    def left_out(self, t: int, node: int, at: AtNode) -> dict[int, str]:
        """Return the columns that a node did not look at, each with the reason."""
        drawn = set(self.drawn_columns(t, node, at)[0])
        tree, above = self.trees[t], []
        way = node
        while way:
            way = int(tree.parent[way])
            above.append(tree.column(int(tree.feature[way])).name)
        names = ", ".join(dict.fromkeys(reversed(above)))
        found = {}
        for f in range(self.table.schema.n_features):
            if f not in drawn:
                found[f] = "was not drawn"
            elif not self._may_meet(t, node, f):
                found[f] = f"may not meet {names} (interaction_constraints)"
        return found
