"""What a walk needs to know of every edge of many trees: the column it asks for, and what that column let by.

An edge leads to a node, so it is numbered like it. Of an edge that asks for column f:

    above    share of the training weight that the edges above it let by that ask for f, too: z₀
    share    the same with the edge itself: z₁ = z₀ · (weight of the branch / weight of all branches)
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
    """Of every node of all trees, one tree behind the other, the edge that leads to it."""

    order: np.ndarray  # (n_nodes,) int32, nodes of every tree, parents first, a branch at a time
    depth: np.ndarray  # (n_nodes,) int32
    column: np.ndarray  # (n_nodes,) int32, asked for; 0 at a root
    branch: np.ndarray  # (n_nodes,) int32, which child of its parent
    above: np.ndarray  # (n_nodes,) float64
    share: np.ndarray  # (n_nodes,) float64
    same: np.ndarray  # (n_nodes,) int32
    reach: np.ndarray  # (n_nodes,) float64, share of all training weight that comes here


class Way(NamedTuple):
    """What describing is worked with: places for all nodes, and one more."""

    waiting: np.ndarray  # (n_nodes + 1,) int32, nodes to come
    column: np.ndarray  # (n_nodes + 1,) int32, of the edges on the way, by depth
    share: np.ndarray  # (n_nodes + 1,) float64, theirs
    distinct: np.ndarray  # (n_nodes + 1,) int64, columns up to each
    patterns: np.ndarray  # (n_nodes + 1,) float64, 2 to that number


@kernel
def describe_edges(paths, n_children, weight, starts, edges, trees, way):
    """Fill the edges of trees, and of every tree what its paths come to.

    ``paths`` are the questions of all trees (engine/predict/walk.py), ``starts`` where trees begin, and the
    end. ``trees`` are the most columns that a path asks for, the length of the longest path, and Σ over the
    leaves of 2 to the number of columns, the patterns of a row that they know. ``way`` is scratch. Weights
    below 0 count as 0; branches without any weight share equally.

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
