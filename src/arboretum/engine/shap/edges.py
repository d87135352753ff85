"""The edges of many trees, as a walk needs them: the column that each tests, and the rows that take it.

An edge leads to a node and has that node's number. For an edge that tests column f:

    above    share of the training weight that takes all edges above it that test f, too: z₀
    share    the same including the edge itself: z₁ = z₀ · (weight of the branch / weight of all branches)
    same     depth of the last of those edges; 0 if there is none

           root         depth   edge   column   above   share   same
        f0 /  \\          1      1      f0       1       0.3     0
          1    2          1      2      f0       1       0.7     0
          f1 / \\         2      3      f1       1       0.5     0
            3   4         2      4      f1       1       0.5     0
           f0 / \\        3      5      f0       0.7     0.1     1      under node 4
             5   6

Nodes are visited a branch at a time (`order`), so that a walk is one loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import kernel

__all__ = ["Edges", "Way", "describe_edges"]


class Edges(NamedTuple):
    """The edges that lead to the nodes of all trees, one tree after the other."""

    order: np.ndarray  # (n_nodes,) int32, nodes of every tree, parents first, branch by branch
    depth: np.ndarray  # (n_nodes,) int32
    column: np.ndarray  # (n_nodes,) int32, the column it tests; 0 at a root
    branch: np.ndarray  # (n_nodes,) int32, which child of its parent
    above: np.ndarray  # (n_nodes,) float64
    share: np.ndarray  # (n_nodes,) float64
    same: np.ndarray  # (n_nodes,) int32
    reach: np.ndarray  # (n_nodes,) float64, share of all training weight that reaches the node


class Way(NamedTuple):
    """Scratch arrays for describing edges, with one place more than there are nodes."""

    waiting: np.ndarray  # (n_nodes + 1,) int32, nodes still to be visited
    column: np.ndarray  # (n_nodes + 1,) int32, columns of the edges on the path, by depth
    share: np.ndarray  # (n_nodes + 1,) float64, shares of these edges
    distinct: np.ndarray  # (n_nodes + 1,) int64, number of columns down to each edge
    patterns: np.ndarray  # (n_nodes + 1,) float64, 2 to that number


@kernel
def describe_edges(paths, n_children, weight, starts, edges, trees, way):
    """Fill the edges of trees, and write sizes of the paths of every tree.

    ``paths`` are the splits of all trees (engine/predict/walk.py), ``starts`` where trees begin, and the end.
    ``trees`` are the most columns that a path splits on, the length of the longest path, and Σ over the
    leaves of 2 to the number of columns, the number of patterns that leaves distinguish. ``way`` is scratch.
    Weights below 0 count as 0; branches without any weight get equal shares.

    n_children (n_nodes,) int32; weight (n_nodes,) float64; starts (n_trees + 1,) int64; trees
    (longest, deepest, patterns) (n_trees,) int64, int64 and float64, written.
    """
    longest, deepest, patterns = trees
    waiting, column, share = way.waiting, way.column, way.share
    way.distinct[0], way.patterns[0] = 0, 1.0
    for tree in range(len(starts) - 1):
        root, at = starts[tree], starts[tree]
        waiting[0], n_waiting = root, 1
        edges.depth[root], edges.reach[root] = 0, 1.0
        edges.above[root], edges.share[root], edges.same[root] = 1.0, 1.0, 0
        most, deep = 0, 0
        while n_waiting > 0:
            n_waiting -= 1
            node = waiting[n_waiting]
            edges.order[at] = node
            at += 1
            depth = edges.depth[node]
            if depth > 0:
                column[depth], share[depth] = edges.column[node], edges.share[node]
                is_new = edges.same[node] == 0
                way.distinct[depth] = way.distinct[depth - 1] + is_new
                way.patterns[depth] = way.patterns[depth - 1] * (2.0 if is_new else 1.0)
            most, deep = max(most, way.distinct[depth]), max(deep, np.int64(depth))
            children = n_children[node]
            if children == 0:
                patterns[tree] += way.patterns[depth]
                continue
            asked, first = paths.feature[node], paths.first_child[node]
            same = depth
            while same > 0 and column[same] != asked:
                same -= 1
            above = share[same] if same > 0 else 1.0
            total = 0.0
            for c in range(children):
                total += max(weight[first + c], 0.0)
            for c in range(children - 1, -1, -1):
                child = first + c
                part = max(weight[child], 0.0) / total if total > 0.0 else 1.0 / children
                edges.depth[child], edges.branch[child] = depth + 1, c
                edges.column[child], edges.same[child] = asked, same
                edges.above[child], edges.share[child] = above, above * part
                edges.reach[child] = edges.reach[node] * part
                waiting[n_waiting] = child
                n_waiting += 1
        longest[tree], deepest[tree] = most, deep
