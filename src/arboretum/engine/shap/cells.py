"""Which values the leaves of a small tree distinguish: cells of values, and groups of leaves with few states.

The values of a column are numbered by the thresholds of the model or by its categories; the last code is for
missing values. Codes that a tree does not distinguish make a *cell*. A leaf is a bit, and the mask of a cell
has the leaves whose paths accept it; up to 64 leaves, a *part* of a tree, are processed together:

    column 3, cells     codes 0-4    5-11    12-30    missing          leaves that split on it: 0, 1, 4
    mask                1 1 . . 1    0 1 1 1 .        like the first

Some of the leaves make a group if they have few *states*. In every column, cells whose masks agree on these
leaves make one class; a state is one class for every column. So chains of thresholds, columns that a path
splits on again, missing values and sets of categories are all treated alike.

    largest branches whose states fit  ──►  each goes into the first group that has room for it
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.by_address import call_at
from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.predict.walk import Paths
from arboretum.engine.shap.edges import Edges

__all__ = [
    "LEAVES",
    "AskedTrees",
    "Branches",
    "CellPart",
    "Codes",
    "describe",
    "describe_branches",
    "describe_part",
    "group_trees",
]
__all__ += ["is_asked", "mark_classes"]

LEAVES = 64  # of a part: the bits of a word
_ONE = np.uint64(1)
_THRESHOLD, _SUBSET, _MULTIWAY = 1, 2, 3


class Codes(NamedTuple):
    """How values become codes."""

    rank: np.ndarray  # (n_nodes,) int32: codes up to this one lie at or below the node's threshold
    n_codes: (
        np.ndarray
    )  # (n_columns,) int32, number of codes, the last of which is for missing values
    by_category: np.ndarray  # (n_columns,) uint8, 1: the codes are categories


class Branches(NamedTuple):
    """The part of the tree below every node, for all trees."""

    parent: np.ndarray  # (n_nodes,) int32; a root is its own parent
    place: np.ndarray  # (n_nodes,) int32, its place in the order of the nodes (edges.py)
    size: np.ndarray  # (n_nodes,) int32, number of nodes, including itself
    leaves: np.ndarray  # (n_nodes,) int32
    before: np.ndarray  # (n_nodes,) int32, number of leaves before it in the order


class AskedTrees(NamedTuple):
    """The splits and the numbers of all trees."""

    describe: int  # address of `describe_part`
    paths: Paths
    edges: Edges
    branches: Branches
    codes: Codes
    value: np.ndarray  # (n_nodes, n_numbers) float64, the numbers that nodes add


class CellPart(NamedTuple):
    """A part of a tree, at most LEAVES leaves, and the groups that they make."""

    leaf: np.ndarray  # (LEAVES,) int32, the nodes of its leaves
    asks: np.ndarray  # (nodes,) int32, nodes that split, those above the part first
    column: np.ndarray  # (columns,) int32, the columns they split on
    slot: np.ndarray  # (columns,) int32, place of a column in ``column``; -1: not in use
    cell_at: np.ndarray  # (columns + 1,) int32, where the cells of a column begin
    first_code: np.ndarray  # (cells,) int32
    mask: np.ndarray  # (cells,) uint64
    share: (
        np.ndarray
    )  # (LEAVES, columns) float64, share of rows that its column lets through; -1: not split on
    kind: np.ndarray  # (cells,) int32, the class of every cell, for the current group
    classes: np.ndarray  # (columns,) int32, number of classes
    group: np.ndarray  # (LEAVES,) uint64, the leaves of every group
    waiting: np.ndarray  # (LEAVES + 1,) int32
    found: np.ndarray  # (2,) int64, number of leaves and of columns in use


@kernel
def describe_branches(edges, paths, n_children, starts, branches):
    """Fill the branches of all trees.

    n_children (n_nodes,) int32; starts (n_trees + 1,) int64; branches (parent, place, ...) a
    `Branches`, written.
    """
    before = np.int32(0)
    for tree in range(len(starts) - 1):
        branches.parent[starts[tree]] = starts[tree]
        for at in range(starts[tree], starts[tree + 1]):
            node = edges.order[at]
            branches.place[node], branches.size[node] = at, 1
            branches.leaves[node], branches.before[node] = n_children[node] == 0, before
            before += n_children[node] == 0
            for c in range(n_children[node]):
                branches.parent[paths.first_child[node] + c] = node
        for at in range(starts[tree + 1] - 1, starts[tree], -1):
            node = edges.order[at]
            above = branches.parent[node]
            branches.size[above] += branches.size[node]
            branches.leaves[above] += branches.leaves[node]


@subkernel
def _branch_of(paths, codes, node, code):
    """Return the branch that values of a code take at a node."""
    f = paths.feature[node]
    if code == codes.n_codes[f] - 1:
        return np.int64(paths.missing_child[node])
    kind = paths.kind[node]
    if kind == _THRESHOLD:
        return np.int64(code > codes.rank[node])
    if kind == _MULTIWAY:
        return np.int64(code)
    if kind > _MULTIWAY:
        return np.int64(paths.bits[paths.bits_start[node] + code])
    word = paths.bits[paths.bits_start[node] + (code >> 5)]
    return np.int64(1) - np.int64((word >> np.uint32(code & 31)) & np.uint32(1))


@subkernel
def _bits(low, high):
    """Return a word whose bits low to high, not included, are set."""
    n = np.uint64(high - low)
    ones = ~np.uint64(0) if n >= np.uint64(64) else (_ONE << n) - _ONE
    return ones << np.uint64(low) if low < 64 else np.uint64(0)


@subkernel
def _find_cells(paths, codes, part, n_asks, n_columns):
    """Write the first code of every cell of every column in use."""
    at = np.int32(0)
    for g in range(n_columns):
        f = part.column[g]
        part.cell_at[g] = at
        last = codes.n_codes[f] - 1
        if codes.by_category[f]:
            for code in range(last):
                part.first_code[at] = code
                at += 1
        else:
            part.first_code[at] = 0
            at += 1
            for k in range(n_asks):
                if paths.feature[part.asks[k]] != f:
                    continue
                code, place = codes.rank[part.asks[k]] + 1, at
                while part.first_code[place - 1] > code:  # sorted and without repeats
                    place -= 1
                if part.first_code[place - 1] == code or code >= last:
                    continue
                for move in range(at, place, -1):
                    part.first_code[move] = part.first_code[move - 1]
                part.first_code[place] = code
                at += 1
        part.first_code[at] = last
        at += 1
    part.cell_at[n_columns] = at


@kernel
def describe_part(paths, edges, branches, codes, root, part):
    """Describe the part of a tree below a node; `part.found` gets its numbers of leaves and columns in use.

    Three kernels need it, so it is compiled once, by itself, and called by address.

    branches (parent, place, ...) a `Branches`.
    """
    n_asks, node, n_leaves = 0, root, 0
    while edges.depth[node] > 0:
        node = branches.parent[node]
        part.asks[n_asks] = node
        n_asks += 1
    n_above, first = n_asks, branches.place[root]
    for at in range(first, first + branches.size[root]):
        node = edges.order[at]
        if paths.kind[node] == 0:
            part.leaf[n_leaves] = node
            n_leaves += 1
        else:
            part.asks[n_asks] = node
            n_asks += 1
    n_columns = 0
    for k in range(n_asks):
        f = paths.feature[part.asks[k]]
        if part.slot[f] < 0:
            part.slot[f], part.column[n_columns] = n_columns, f
            n_columns += 1
    _find_cells(paths, codes, part, n_asks, n_columns)
    for cell in range(part.cell_at[n_columns]):
        part.mask[cell] = _bits(0, n_leaves)
    below = root  # the child of the splitting node on the way up from the part
    for k in range(n_asks):
        node = part.asks[k]
        g, first_child = part.slot[paths.feature[node]], paths.first_child[node]
        for cell in range(part.cell_at[g], part.cell_at[g + 1]):
            child = first_child + _branch_of(paths, codes, node, part.first_code[cell])
            if k < n_above:
                if child != below:
                    part.mask[cell] = np.uint64(0)
                continue
            low = branches.before[node] - branches.before[root]
            out = _bits(low, low + branches.leaves[node])
            low = branches.before[child] - branches.before[root]
            part.mask[cell] &= ~out | _bits(low, low + branches.leaves[child])
        below = node
    for leaf in range(n_leaves):
        for g in range(n_columns):
            part.share[leaf, g] = -1.0
        node = part.leaf[leaf]
        while edges.depth[node] > 0:
            g = part.slot[edges.column[node]]
            if part.share[leaf, g] < 0.0:  # the lowest edge has the product of all shares
                part.share[leaf, g] = edges.share[node]
            node = branches.parent[node]
    for g in range(n_columns):
        part.slot[part.column[g]] = -1
    part.found[0], part.found[1] = n_leaves, n_columns


@subkernel
def count_states(part, n_columns, leaves, most):
    """Return how many states some leaves have; any number above ``most`` if there are more."""
    states = np.int64(1)
    for g in range(n_columns):
        low, high = part.cell_at[g], part.cell_at[g + 1]
        n = np.int64(0)
        for cell in range(low, high):
            mask, new = part.mask[cell] & leaves, 1
            for other in range(cell - 1, low - 1, -1):
                if part.mask[other] & leaves == mask:
                    new = 0
                    break
            n += new
        states *= n
        if states > most:
            break
    return states


@subkernel
def mark_classes(part, n_columns, leaves):
    """Write the class of every cell for some leaves, and the number of classes of every column."""
    for g in range(n_columns):
        low, high = part.cell_at[g], part.cell_at[g + 1]
        n = np.int32(0)
        for cell in range(low, high):
            mask, kind = part.mask[cell] & leaves, n
            for other in range(low, cell):
                if part.mask[other] & leaves == mask:
                    kind = part.kind[other]
                    break
            part.kind[cell] = kind
            n += kind == n
        part.classes[g] = n


@subkernel
def is_asked(part, n_leaves, g, leaves):
    """Return whether the path to any of the leaves splits on a column."""
    asked = False
    for leaf in range(n_leaves):
        asked |= (leaves >> np.uint64(leaf)) & _ONE > 0 and part.share[leaf, g] >= 0.0
    return asked


@subkernel
def group_part(edges, paths, branches, root, n_columns, most, part):
    """Divide the leaves into groups of at most ``most`` states, or of one leaf; return the number of groups.

    branches (parent, place, ...) a `Branches`.
    """
    n_groups, n_waiting = 0, 1
    part.waiting[0] = root
    while n_waiting > 0:
        n_waiting -= 1
        node = part.waiting[n_waiting]
        low = branches.before[node] - branches.before[root]
        leaves = _bits(low, low + branches.leaves[node])
        large = count_states(part, n_columns, leaves, most) > most
        if large and paths.kind[node] != 0:
            first, end = edges.order[branches.place[node] + 1], branches.place[node]
            end += branches.size[node]
            child = first
            while True:  # branches follow one another
                part.waiting[n_waiting] = child
                n_waiting += 1
                after = branches.place[child] + branches.size[child]
                if after >= end:
                    break
                child = edges.order[after]
            continue
        g = -1 if large else n_groups - 1
        while g >= 0:
            if count_states(part, n_columns, part.group[g] | leaves, most) <= most:
                break
            g -= 1
        if g >= 0:
            part.group[g] |= leaves
        else:
            part.group[n_groups] = leaves
            n_groups += 1
    return n_groups


@inline
def describe(questions, root, part):
    """Describe the part below a node; return its numbers of leaves and of columns in use."""
    paths, edges, branches, codes = (
        questions.paths,
        questions.edges,
        questions.branches,
        questions.codes,
    )
    call_at(questions.describe, (paths, edges, branches, codes, root, part))
    return part.found[0], part.found[1]


@subkernel
def next_part(edges, branches, at, end):
    """Return the place of the next part of a tree from ``at`` on, a branch of at most LEAVES leaves."""
    while at < end and branches.leaves[edges.order[at]] > LEAVES:
        at += 1
    return at


@kernel
def group_trees(questions, spans, most, part, groups, sizes):
    """Group the leaves of trees; write for each group the root of its part, its leaves, and its sizes.

    ``groups`` are the roots and the leaves, ``sizes`` (groups, 4) states, columns, steps and the tree;
    there is room for one group per leaf. ``questions`` is the description of all trees, ``spans`` are where
    trees begin and end. Returns the number of groups.

    spans (n_trees, 2) int64; groups (roots, members)
    (n_leaves,) int32 and uint64, written; sizes (n_leaves, 4) int64, written.
    """
    roots, members = groups
    paths, edges, branches, n_groups = questions.paths, questions.edges, questions.branches, 0
    for tree in range(len(spans)):
        end = spans[tree, 1]
        at = next_part(edges, branches, spans[tree, 0], end)
        while at < end:
            root = edges.order[at]
            n_leaves, n_columns = describe(questions, root, part)
            for g in range(group_part(edges, paths, branches, root, n_columns, most, part)):
                roots[n_groups], members[n_groups] = root, part.group[g]
                mark_classes(part, n_columns, part.group[g])
                states, columns, steps = 1, 0, 0
                for k in range(n_columns):
                    states *= part.classes[k]
                    columns += is_asked(part, n_leaves, k, part.group[g])
                    for cell in range(part.cell_at[k] + 1, part.cell_at[k + 1]):
                        steps += part.kind[cell] != part.kind[cell - 1]
                sizes[n_groups, 0], sizes[n_groups, 1] = states, columns
                sizes[n_groups, 2], sizes[n_groups, 3] = steps, tree
                n_groups += 1
            at = next_part(edges, branches, at + branches.size[root], end)
    return n_groups
