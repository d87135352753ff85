"""The loop that grows trees: take a node, search it, part its rows, put its children by.

Trees of a forest are independent, so threads take trees, and one compiled call grows some of them. Each
works on its rows, kept node by node. Depth first, a node is parted as soon as it is searched. Best first
(``max_leaves``), searched nodes wait in a heap and the one that gains most is parted next. A large
table's branch that has become small gets a copy of its rows (branch.py).

The loop does not know how a table is written. It has the table's address, and those of the kernels that
search and part (`TreeKernels`), which are compiled apart: by another process meanwhile, once for all kinds of
tables or targets that they serve, and not at all where a fit does not need them.

    Python ── grow_on ── grow_trees ─┬─► search   best_cut | part_two     ─► read_codes, count_column
              table,     the loop    │            random_cut | cut_few | cut_pair
              targets                └─► part     part_numbers | part_categories | part_coins

Columns are drawn, keys handed to children and ties broken as in the level-wise search
(grow/search.py): on data without rounding ties both grow the same tree.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.columns.lists import NOWHERE
from arboretum.engine.compiler.by_address import call_at, where_is
from arboretum.engine.compiler.decorators import addressed, inline, kernel, subkernel
from arboretum.engine.depth_first.bag import lay_out
from arboretum.engine.depth_first.best_first import NODE, put_by, take_out
from arboretum.engine.depth_first.bounds import bound_children, bounds_of
from arboretum.engine.depth_first.branch import go_back, number_anew
from arboretum.engine.depth_first.node import add_up, are_alike, drop_empty, put_on_grid
from arboretum.engine.depth_first.part import move_sum, move_targets
from arboretum.engine.depth_first.records import CATEGORY, FEW, ONE_LABEL
from arboretum.engine.random import mix
from arboretum.engine.split.statistic import POISSON

__all__ = ["grow_on", "grow_trees"]

_LISTED = 6  # a node of more than a sixth of all rows takes them out of presorted lists: less than sorting
_EPSILON = np.finfo(np.float64).eps
_START, _END, _DEPTH, _KEY, _WEIGHT, _SUM = 0, 1, 3, 4, 5, 6  # what is known of a waiting branch


# --------------------------------------------------------------------------- branches that wait
@inline
def _push(stack, at, start, end, node, depth, key, weight, total):
    """Put a branch on the stack.

    stack (n_rows + 2, 7) int64, written.
    """
    stack[at, _START], stack[at, _END] = start, end
    stack[at, NODE], stack[at, _DEPTH], stack[at, _KEY] = node, depth, np.int64(key)
    stack[at, _WEIGHT], stack[at, _SUM] = weight, total


@inline
def _take(stack, at, node):
    """Make a waiting branch the node at hand.

    stack (n_rows + 2, 7) int64.
    """
    node.start, node.n = np.uint64(stack[at, _START]), stack[at, _END] - stack[at, _START]
    node.number, node.depth = stack[at, NODE], stack[at, _DEPTH]
    node.key = np.uint64(stack[at, _KEY])
    node.weight, node.total = stack[at, _WEIGHT], stack[at, _SUM]


@subkernel
def _copy(branches, at, stack, to):
    """Copy a waiting branch.

    branches (n_rows + 2, 7) int64; stack (n_rows + 2, 7) int64, written.
    """
    for j in range(branches.shape[1]):
        stack[to, j] = branches[at, j]


@subkernel
def _write_places(place, rows, start, end):
    """Write where the rows that stand from start to end stand.

    place (n_rows,) uint32, written; rows (n_rows,) uint32.
    """
    for p in range(np.uint64(start), np.uint64(end)):
        place[np.uint64(rows[p])] = np.uint32(p)


@subkernel
def _begin(bench, bounds, rows, m, root):
    """Forget what was known of the tree before.

    bounds (most nodes, 2) float64, written, or None; rows (n_rows,) uint32.
    """
    constant, place = bench.scratch.constant, bench.scratch.place
    for f in range(len(constant)):
        constant[f, 0], constant[f, 1] = -1, -1
    if bounds is not None:
        bounds[root, 0], bounds[root, 1] = -np.inf, np.inf
    if len(place):
        for row in range(len(place)):
            place[row] = NOWHERE
        _write_places(place, rows, np.int64(0), m)


# --------------------------------------------------------------------------- one node
@inline
def _enough(node, rules):
    """Tell whether a node may be divided."""
    if node.n < rules.min_split or node.n < 2 * rules.min_leaf or node.depth >= rules.max_depth:
        return False
    return node.weight >= 2 * rules.min_weight


@inline
def _close(out, node, at):
    """Write a node down as a leaf."""
    k = np.uint64(node.number)
    out.start[k], out.end[k] = at + node.start, at + node.start + np.uint64(node.n)
    out.feature[k], out.first_child[k], out.missing_child[k] = -1, -1, -1
    out.threshold[k], out.gain[k] = np.nan, 0.0
    out.weight[k], out.total[k] = node.weight, node.total


@inline
def _add_up(bench, rows, label, number, left, y, row_weight):
    """Add up the targets of a node; return whether they are known to be equal.

    rows (n_rows,) uint32; label (n_outputs, n_rows) uint32, or None; number (n_outputs, n_rows) int64,
    or None; left (2 * n_channels,) int64, or None; y (n_rows, n_outputs) float64, or None; row_weight
    (n_rows,) float64, empty or None.
    """
    node, rules, weight, channel = (
        bench.node[0],
        bench.rules,
        bench.target.weight,
        bench.scratch.total,
    )
    unit, middle, equal = put_on_grid(
        y, row_weight, rows, node.start, node.n, rules, number, weight
    )
    if rules.regrid:
        node.unit, node.middle = unit, middle
    if rules.form == ONE_LABEL:
        node.channels = node.total
    total = channel[: node.channels]
    add_up(label, number, left, y, weight, node.start, node.n, node.total, total)
    if rules.form == ONE_LABEL:
        node.channels = drop_empty(label, node.start, node.n, total, left)
    return equal


@inline
def _is_pure(bench, equal, label, number):
    """Tell whether all targets of the node at hand are equal.

    label (n_outputs, n_rows) uint32, or None; number (n_outputs, n_rows) int64, or None.
    """
    node, rules = bench.node[0], bench.rules
    if rules.regrid:
        return equal
    if rules.form == ONE_LABEL:
        return node.channels == 1
    total, weight = bench.scratch.total[: node.channels], bench.target.weight
    return are_alike(label, number, weight, node.start, node.n, total, node.weight, rules)


@inline
def _search(columns, bench, rows, bounds, left, root_weight):
    """Search a node; return whether there is a cut that gains enough.

    rows (n_rows,) uint32; bounds (most nodes, 2) float64, or None; left (2 * n_channels,) int64, or
    None.
    """
    node, rules, parts = bench.node[0], bench.rules, bench.parts
    if bounds is not None:
        node.lower, node.upper = bounds_of(bounds, node.number, node.middle, node.unit)
    if rules.charge > 0.0:
        call_at(parts.impurity, (bench,))
    if left is not None or node.n > FEW:
        call_at(parts.many, (columns, bench, rows))
    elif node.n == 2 and rules.min_weight == 0:
        call_at(parts.pair, (columns, bench, rows))
    else:
        call_at(parts.few, (columns, bench, rows))
    gain_unit = rules.gain_unit
    if rules.regrid:
        gain_unit = node.unit if rules.criterion == POISSON else node.unit * node.unit
    node.gain = node.score * (np.float64(node.weight) / root_weight) * gain_unit
    return node.feature >= 0 and not node.gain + _EPSILON < rules.min_decrease


@inline
def _part(columns, bench, rows, out, bounds, label, number, stack, height, child, first_child):
    """Part the rows of a node, and put its children, node ``child`` and the next, on the stack.

    rows (n_rows,) uint32, updated; bounds (most nodes, 2) float64, updated, or None; label
    (n_outputs, n_rows) uint32, updated, or None; number (n_outputs, n_rows) int64, updated, or None;
    stack (n_rows + 2, 7) int64, written.
    """
    node, rules, target, scratch = bench.node[0], bench.rules, bench.target, bench.scratch
    start, n = node.start, node.n
    k, f, begin = np.uint64(node.number), np.uint64(node.feature), np.int64(start)
    if bench.features.kind[f] == CATEGORY:
        call_at(bench.parts.part_sets, (columns, bench, rows))
    else:
        call_at(bench.parts.part, (columns, bench, rows))
    many, left_weight = node.many, node.many
    if node.listed:
        _write_places(bench.scratch.place, rows, begin, begin + n)
    if not rules.unit_weights:
        left_weight = move_sum(target.weight, start, n, scratch.side_of, scratch.spare_sum)
    left_sum = move_targets(label, number, start, n, scratch)
    right_weight, right_sum = node.weight - left_weight, node.total - left_sum
    if rules.form == ONE_LABEL:
        left_sum = right_sum = node.channels
    out.feature[k], out.threshold[k], out.gain[k] = node.feature, node.cut, node.gain
    out.first_child[k] = first_child
    out.missing_child[k] = 1 - node.side if node.missing else np.int64(right_weight > left_weight)
    total = bench.scratch.total[: node.channels]
    bound_children(
        bounds, k, child, bench.features.sign[f], label, target.weight, start, many, total, left_sum,
        left_weight, node.weight, node.middle, node.unit,
    )  # fmt: skip
    parted, end, depth = begin + many, begin + n, node.depth + 1
    key = mix(node.key, np.uint64(1))
    _push(stack, height, parted, end, child + 1, depth, key, right_weight, right_sum)
    key = mix(node.key, np.uint64(0))
    _push(stack, height + 1, begin, parted, child, depth, key, left_weight, left_sum)


# --------------------------------------------------------------------------- whole trees
@addressed
def grow_trees(far, near, bench, bags, growing):
    """Grow a tree from every bag; ``growing.out`` and ``bags.rows`` say how.

    Parameters
    ----------
    far, near : int
        Addresses of `TreeColumns`: the table, and room for the columns of a few rows: a branch of so few is
        grown on a copy of them.
    bench : Bench
    bags : Bags
    growing : Growing
    """
    rules, features, target, left = bench.rules, bench.features, bench.target, bench.scratch.left
    out, stack, later, origin = growing.out, growing.stack, growing.later, growing.origin
    label, number, bounds, node = target.label, target.number, growing.out.bounds, bench.node[0]
    width, lists, place = np.int64(len(features.kind)), features.lists, bench.scratch.place
    least = np.int64(len(place) // _LISTED)  # rows of a node that takes them out of lists
    nodes, at = np.int64(0), np.int64(0)
    for tree in range(len(growing.seeds)):
        rows = bags.rows[at:]
        m, root_weight, total = lay_out(bags.weight[tree], bags.label, bags.number, rows, target)
        root = nodes
        out.node_start[tree] = root
        _begin(bench, bounds, rows, m, root)
        if rules.form == ONE_LABEL:
            total = np.int64(len(bench.scratch.total))
        columns, is_near = far, False
        height, in_heap, leaves = np.int64(0), np.int64(0), np.int64(1)
        _push(stack, height, height, m, root, height, growing.seeds[tree], root_weight, total)
        height, nodes = np.int64(1), nodes + 1
        small, aside, branch = np.int64(0), np.int64(0), np.int64(-1)
        if m > len(origin):
            small = np.int64(len(origin))
        while True:
            to_search = height > 0
            if to_search:
                height -= 1
            elif in_heap and leaves < rules.max_leaves:
                node.feature, node.side, node.last, node.gain, node.cut = take_out(
                    growing.heap, growing.heap_real, in_heap, stack[0]
                )
                in_heap -= 1
                leaves += 1
            else:  # on to the next branch that was put aside
                if branch >= 0:
                    go_back(rows, later[branch, _START], later[branch, _END], width, origin)
                branch += 1
                if branch == aside:
                    break
                begin, end = later[branch, _START], later[branch, _END]
                call_at(bench.parts.copy, (far, near, rows, begin, end))
                number_anew(rows, begin, end, width, origin)
                _copy(later, branch, stack, 0)
                columns, is_near = near, True
                small, height = np.int64(0), np.int64(1)
                continue
            _take(stack, height, node)
            if to_search:
                if node.n <= small:
                    _copy(stack, height, later, aside)
                    aside += 1
                    continue
                _close(out, node, np.uint64(at))
                if not _enough(node, rules):
                    continue
            if len(lists):
                node.listed = node.n >= least and not is_near
            equal = _add_up(bench, rows, label, number, left, growing.y, growing.row_weight)
            if to_search:
                if _is_pure(bench, equal, label, number) or not _search(
                    columns, bench, rows, bounds, left, np.float64(root_weight)
                ):
                    continue
                k, below, above = np.uint64(node.number), node.below, node.above
                out.below[k] = origin[below // width] if is_near else np.uint32(below)
                out.above[k] = origin[above // width] if is_near else np.uint32(above)
                if rules.max_leaves > 0:
                    put_by(
                        growing.heap, growing.heap_real, in_heap, stack[height], node.feature,
                        node.side, node.last, node.gain, node.cut,
                    )  # fmt: skip
                    in_heap += 1
                    continue
            _part(
                columns, bench, rows, out, bounds, label, number, stack, height, nodes, nodes - root
            )
            height += 2
            nodes += 2
        at += m
    out.node_start[len(growing.seeds)] = nodes


@kernel
def grow_on(grow, far, near, bench, bags, growing):
    """Call `grow_trees`, which is at the address ``grow``, with the addresses of a table."""
    call_at(grow, (where_is(far), where_is(near), bench, bags, growing))
