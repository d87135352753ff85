"""What a user may change in the picture of a tree: colours of edges, looks of boxes, the path of a row.

Looks of boxes are Graphviz's attributes, such as ``{"fillcolor": "#78bceb"}``, also where matplotlib draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from arboretum.base.anatomy import Anatomy
from arboretum.errors import ParameterError
from arboretum.structure.tree import Tree

__all__ = ["HIGHLIGHT", "TreeLook", "path_of"]

HIGHLIGHT = "blue"


@dataclass(frozen=True)
class TreeLook:
    """Colours of the edges for yes and no, attributes of splits and leaves, and nodes that stand out."""

    yes: str | None = None
    no: str | None = None
    split: Mapping[str, Any] = field(default_factory=dict)
    leaf: Mapping[str, Any] = field(default_factory=dict)
    path: frozenset[int] = frozenset()

    def edge(self, tree: Tree, node: int) -> str | None:
        """Return the colour of the edge above a node; None: as usual."""
        if node in self.path:
            return HIGHLIGHT
        return self.yes if node == tree.first_child[tree.parent[node]] else self.no

    def box(self, tree: Tree, node: int) -> dict[str, Any]:
        """Return the attributes of the box of a node."""
        found = dict(self.leaf if tree.is_leaf[node] else self.split)
        return found | ({"color": HIGHLIGHT} if node in self.path else {})


def path_of(anatomy: Anatomy, tree: Tree, example_case: Any) -> frozenset[int]:
    """Return the nodes of a tree that one row passes; none without a row."""
    from arboretum.predict.walk import paths_of

    if example_case is None:
        return frozenset()
    if len(getattr(example_case, "shape", ())) != 2 or example_case.shape[0] != 1:
        raise ParameterError("example_case must have a single row. Give a table of one row")
    return frozenset(paths_of(tree, anatomy.columns.encode(example_case)).indices.tolist())
