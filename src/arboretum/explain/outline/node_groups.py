"""The values that nodes hold of a column of many values, node by node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["NodeGroups", "sorted_nodes"]


def sorted_nodes(node: np.ndarray) -> np.ndarray:
    """Return the places of nodes in their order, of equals the first; short numbers are sorted fastest."""
    few = not len(node) or node.max() < 2**15
    return np.argsort(node.astype(np.int16) if few else node, kind="stable")


@dataclass(frozen=True, eq=False)
class NodeGroups:
    """The values that nodes hold, node by node: place among the column's values, sums of all up to it."""

    node: np.ndarray
    place: np.ndarray
    below: np.ndarray  # (groups, channels)

    @property
    def following(self) -> np.ndarray:
        """The place of the next value in the same node; -1: there is none."""
        if not len(self.node):
            return self.place
        last = np.append(self.node[1:] != self.node[:-1], True)
        return np.where(last, -1, np.append(self.place[1:], -1))

    def among(self, nodes: np.ndarray) -> NodeGroups:
        """Return the groups of some nodes (bool)."""
        some = nodes[self.node]
        return (
            self if some.all() else NodeGroups(self.node[some], self.place[some], self.below[some])
        )

    def of(self, node: int) -> tuple[int, int]:
        """Return where the groups of a node begin and end."""
        low, high = np.searchsorted(self.node, [node, node + 1])
        return int(low), int(high)
