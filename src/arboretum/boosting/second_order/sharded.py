"""The table for growing trees whose rows are in shards, on workers or in this process."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from arboretum.grow.decoding import grown_of, trees_of
from arboretum.grow.histogram import features_of
from arboretum.grow.sharded.batches import BatchGrower

if TYPE_CHECKING:
    from arboretum.boosting.second_order.recipe import BoostPlan
    from arboretum.data.schema import Schema
    from arboretum.grow.bins.bins import Bins
    from arboretum.grow.decoding import GrownNodes
    from arboretum.grow.sharded.shards import Shards
    from arboretum.structure.tree import Tree

__all__ = ["ShardedTable"]


class ShardedTable:
    """A table of codes in shards; takes the place of `BinnedTable`.

    Attributes
    ----------
    grower : BatchGrower
    bins : Bins
        Without rows.
    """

    def __init__(self, shards: Shards, bins: Bins, schema: Schema, plan: BoostPlan) -> None:
        n_wide = int(np.count_nonzero(bins.is_wide))
        self.bins, self.schema = (
            replace(bins, codes=bins.codes[:, :0], wide=bins.wide[:, :0]),
            schema,
        )
        self.grower = BatchGrower(
            shards, features_of(bins, plan.monotone), plan.rules, (bins.n_storage - n_wide, n_wide),
            plan.groups, plan.pool,
        )  # fmt: skip

    def answers(self, tree: Tree) -> np.ndarray | None:
        """Return the values of a tree for all rows by their codes; None if these do not decide."""
        grown = grown_of(tree, self.bins, self.schema)
        if grown is None:
            return None
        shards = self.grower.shards
        leaf = shards.join(shards.repeat(lambda: shards.call("walk", grown)))
        return tree.value[leaf, 0, 0]

    def decode(self, nodes: GrownNodes, ends: np.ndarray) -> list[Tree]:
        """Return grown trees as `BinnedTable.decode` does."""
        return trees_of(nodes, ends, self.bins, self.schema)
