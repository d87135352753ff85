"""The loop that grows trees: take a node, search it, split its rows, push its children.

Trees of a forest are independent, so threads take trees, and one compiled call grows some of them. Each
works on its rows, kept node by node. Depth first, a node is split as soon as it is searched. Best first
(``max_leaves``), searched nodes wait in a heap and the one that gains most is split next. A large
table's branch that has become small gets a copy of its rows (branch.py).

The loop is independent of how a table is stored. It has the table's address, and those of the kernels that
search and split (`TreeKernels`), which are compiled apart: by another process meanwhile, once for all kinds
of tables or targets that they serve, and not at all where a fit does not need them.

    Python ── grow_on ── grow_trees ─┬─► search   best_cut                ─► read_codes, count_column
              table,     the loop    │            random_cut
              targets                └─► split    split_by_number | split_by_set | split_by_coins

Columns are drawn, keys handed to children and ties broken as in the level-wise search
(grow/search.py): on data without rounding ties both grow the same tree.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.by_address import call_at, where_is
from arboretum.engine.compiler.decorators import addressed, inline, kernel, subkernel
from arboretum.engine.depth_first.bag import lay_out
from arboretum.engine.depth_first.best_first import push_searched, take_best
from arboretum.engine.depth_first.bounds import bound_children, bounds_of
from arboretum.engine.depth_first.branch import go_back, number_anew
from arboretum.engine.depth_first.node import add_up, are_alike, drop_empty, put_on_grid
from arboretum.engine.depth_first.partition import move_sum, move_targets
from arboretum.engine.depth_first.records import CATEGORY, ONE_LABEL
from arboretum.engine.random import mix
from arboretum.engine.split.statistic import POISSON

__all__ = ["grow_on", "grow_trees"]

_EPSILON = np.finfo(np.float64).eps


# --------------------------------------------------------------------------- branches that wait
@inline
def _push(branch, start, end, number, key, weight, total):
    """Write a branch, of which nothing is searched, to its place on the stack; ``branch`` is a BRANCH."""
    branch.start, branch.end, branch.number, branch.key = start, end, number, key
    branch.weight, branch.total = weight, total


@inline
def _take(branch, node):
    """Make a waiting branch the node at hand."""
    node.start, node.n = np.uint64(branch.start), branch.end - branch.start
    node.number, node.depth, node.key = branch.number, branch.depth, branch.key
    node.weight, node.total = branch.weight, branch.total


@subkernel
def _begin(bench, bounds, root):
    """Forget what was found about the tree before.

    bounds (most nodes, 2) float64, written, or None.
    """
    constant = bench.scratch.constant
    for f in range(len(constant)):
        constant[f, 0], constant[f, 1] = -1, -1
    if bounds is not None:
        bounds[root, 0], bounds[root, 1] = -np.inf, np.inf


# --------------------------------------------------------------------------- one node
@inline
def _enough(node, rules):
    """Return whether a node may be split."""
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
    """Add up the targets of a node; return whether all are found equal.

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
    """Return whether all targets of the node at hand are equal.

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
def _search(columns, bench, rows, bounds, root_weight):
    """Search a node; return whether there is a cut that gains enough.

    rows (n_rows,) uint32; bounds (most nodes, 2) float64, or None.
    """
    node, rules, kernels = bench.node[0], bench.rules, bench.kernels
    if bounds is not None:
        node.lower, node.upper = bounds_of(bounds, node)
    if rules.charge > 0.0:
        call_at(kernels.impurity, (bench,))
    call_at(kernels.search, (columns, bench, rows))
    gain_unit = rules.gain_unit
    if rules.regrid:
        gain_unit = node.unit if rules.criterion == POISSON else node.unit * node.unit
    node.gain = node.score * (np.float64(node.weight) / root_weight) * gain_unit
    return node.feature >= 0 and not node.gain + _EPSILON < rules.min_decrease


@inline
def _split(columns, bench, rows, out, label, number, waiting, child, root):
    """Split the rows of a node; make ``waiting`` the branches of its children, node ``child`` and the next.

    rows (n_rows,) uint32, updated; label (n_outputs, n_rows) uint32, updated, or None; number
    (n_outputs, n_rows) int64, updated, or None; waiting (at least 2,) BRANCH, written.
    """
    node, rules, scratch = bench.node[0], bench.rules, bench.scratch
    start, n, k, begin = node.start, node.n, np.uint64(node.number), np.int64(node.start)
    if bench.features.kind[np.uint64(node.feature)] == CATEGORY:
        call_at(bench.kernels.split_sets, (columns, bench, rows))
    else:
        call_at(bench.kernels.split, (columns, bench, rows))
    left_weight = node.many
    if not rules.unit_weights:
        left_weight = move_sum(bench.target.weight, start, n, scratch.side_of, scratch.spare_sum)
    left_sum = move_targets(label, number, start, n, scratch)
    right_weight, right_sum = node.weight - left_weight, node.total - left_sum
    if rules.form == ONE_LABEL:
        left_sum = right_sum = node.channels
    out.feature[k], out.threshold[k], out.gain[k] = node.feature, node.cut, node.gain
    out.first_child[k] = child - root
    out.missing_child[k] = 1 - node.side if node.missing else np.int64(right_weight > left_weight)
    bound_children(out.bounds, bench, child, left_sum, left_weight, label)
    middle, depth = begin + node.many, node.depth + 1
    right, left = waiting[0], waiting[1]
    _push(right, middle, begin + n, child + 1, mix(node.key, np.uint64(1)), right_weight, right_sum)
    _push(left, begin, middle, child, mix(node.key, np.uint64(0)), left_weight, left_sum)
    right.depth = left.depth = depth


# --------------------------------------------------------------------------- whole trees
@addressed
def grow_trees(far, near, bench, bags, growing):
    """Grow a tree from every bag into ``growing.out``; its rows are written to ``bags.rows``.

    Parameters
    ----------
    far, near : int
        Addresses of `TreeColumns`: the table, and room for the columns of a few rows: a branch that has no
        more rows is grown on a copy of them.
    bench : Bench
    bags : Bags
    growing : Growing
    """
    rules, target, left, node = bench.rules, bench.target, bench.scratch.left, bench.node[0]
    out, stack, later, origin = growing.out, growing.stack, growing.later, growing.origin
    label, number, heap, width = target.label, target.number, growing.heap, len(bench.features.kind)
    nodes, at = np.int64(0), np.int64(0)
    for tree in range(len(growing.seeds)):
        rows = bags.rows[at:]
        m, root_weight, total = lay_out(bags.weight[tree], bags.label, bags.number, rows, target)
        root = nodes
        out.node_start[tree] = root
        _begin(bench, out.bounds, root)
        if rules.form == ONE_LABEL:
            total = np.int64(len(bench.scratch.total))
        columns, is_near = far, False
        in_heap, leaves = np.int64(0), np.int64(1)
        _push(stack[0], np.int64(0), m, root, growing.seeds[tree], root_weight, total)
        stack[0].depth = 0
        height, nodes = np.int64(1), nodes + 1
        small, aside, branch = np.int64(0), np.int64(0), np.int64(-1)
        if m > len(origin):
            small = np.int64(len(origin))
        while True:
            to_search = height > 0
            if to_search:
                height -= 1
            elif in_heap and leaves < rules.max_leaves:
                take_best(heap, in_heap, stack)
                found = stack[0]
                node.feature, node.side, node.last = found.feature, found.side, found.last
                node.gain, node.cut = found.gain, found.cut
                in_heap -= 1
                leaves += 1
            else:  # on to the next branch that waits for its copy
                if branch >= 0:
                    go_back(rows, later[branch].start, later[branch].end, width, origin)
                branch += 1
                if branch == aside:
                    break
                begin, end = later[branch].start, later[branch].end
                call_at(bench.kernels.copy, (far, near, rows, begin, end))
                number_anew(rows, begin, end, width, origin)
                stack[0] = later[branch]
                columns, is_near = near, True
                small, height = np.int64(0), np.int64(1)
                continue
            _take(stack[height], node)
            if to_search:
                if node.n <= small:
                    later[aside] = stack[height]
                    aside += 1
                    continue
                _close(out, node, np.uint64(at))
                if not _enough(node, rules):
                    continue
            equal = _add_up(bench, rows, label, number, left, growing.y, growing.row_weight)
            if to_search:
                if _is_pure(bench, equal, label, number) or not _search(
                    columns, bench, rows, out.bounds, np.float64(root_weight)
                ):
                    continue
                k, below, above = np.uint64(node.number), node.below, node.above
                out.below[k] = origin[below // width] if is_near else np.uint32(below)
                out.above[k] = origin[above // width] if is_near else np.uint32(above)
                if rules.max_leaves > 0:
                    found = stack[height]
                    found.feature, found.side, found.last = node.feature, node.side, node.last
                    found.gain, found.cut = node.gain, node.cut
                    push_searched(heap, in_heap, found)
                    in_heap += 1
                    continue
            _split(columns, bench, rows, out, label, number, stack[height:], nodes, root)
            height += 2
            nodes += 2
        at += m
    out.node_start[len(growing.seeds)] = nodes


@kernel
def grow_on(grow, far, near, bench, bags, growing):
    """Call `grow_trees`, which is at the address ``grow``, with the addresses of a table."""
    call_at(grow, (where_is(far), where_is(near), bench, bags, growing))
