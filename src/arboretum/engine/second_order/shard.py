"""A tree's rows in a shard: entries by global row numbers, many nodes partitioned and counted in one call.

    spans      | first row, row after the last, shift | …      a row's number in the whole table: row + shift
    orders     | node, its children, its split | …             in any order in which parents come first
    counted    the histograms of some children, one after another

The kernels do the items of the tasks PART and COUNT (items.py) for many nodes, from item ``start`` to item
``end``, so that threads can share them. Each thread has its own task, counters and sides.
"""

from __future__ import annotations

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.dtypes import COUNT, PART
from arboretum.engine.second_order.items import do_item
from arboretum.engine.second_order.nodes import fill_sides
from arboretum.engine.second_order.pack import add_fine, fill_entries, mark_rows

__all__ = ["accept_orders", "count_nodes", "fill_spans", "part_nodes", "sum_leaves"]


@kernel
def fill_spans(given, scales, spans, start, end, entries):
    """Write the entries ``start:end``.

    spans (n_spans, 3) int64: positions among the rows that take part, and what is added to a row's number;
    entries (n_entries,) uint64, written.
    """
    for s in range(len(spans)):
        first, last = max(spans[s, 0], start), min(spans[s, 1], end)
        if first < last:
            fill_entries(given, scales.chosen[0].small, first, last, spans[s, 2], entries)


@kernel
def accept_orders(tree, orders, members):
    """Give nodes their splits and children.

    orders (n_orders,) ORDER; members (n_orders, n_words) uint32, bins that go left.
    """
    for j in range(len(orders)):
        order, node = orders[j], tree.nodes[orders[j].node]
        node.split, node.first_child = order.split, order.left
        for w in range(members.shape[1]):
            tree.members[order.node, w] = members[j, w]
        for child in range(order.left, order.left + 2):
            tree.nodes[child].depth, tree.nodes[child].first_child = node.depth + 1, -1


@kernel
def part_nodes(parts, state, scratch, orders, start, end):
    """Partition the rows of nodes; item by item a block of one node.

    orders (n_orders,) ORDER.
    """
    tree, task, blocks = state.tree, state.tree.task[0], state.tree.ranges.shape[1]
    task.kind = PART
    for item in range(start, end):
        order, block = orders[item // blocks], item % blocks
        if block == 0 or item == start:
            task.node, tree.counters[0].nodes = order.node, order.left
            fill_sides(state.features, tree, state.store, order.node)
        do_item(parts, state, scratch, block)


@kernel
def count_nodes(parts, state, scratch, nodes, start, end):
    """Count the rows of nodes, those of the k-th in slot k; item by item a tile of one node.

    nodes (n_counted,) int64.
    """
    task, tiles = state.tree.task[0], len(state.store.words) + len(state.store.wide_words)
    task.kind, task.parent_slot, task.pieces = COUNT, -1, 1
    for item in range(start, end):
        task.slot = item // tiles
        task.node = nodes[task.slot]
        do_item(parts, state, scratch, item % tiles)


@kernel
def sum_leaves(state, leaf_of_node, start, end, sums):
    """Write the leaves of the rows of some blocks; add up their g and h at fine scales.

    leaf_of_node (n_nodes,) int32: a node divided in vain has its rows in leaves below, which count for it;
    sums (n_leaves, 2) int64, added to.
    """
    tree = state.tree
    for block in range(start, end):
        for k in range(len(leaf_of_node)):
            node, piece = tree.nodes[k], tree.ranges[k, block]
            if node.first_child < 0:
                entries = tree.lists[node.depth & 1]
                mark_rows(entries, piece.start, piece.end, leaf_of_node[k], tree.leaf_of)
        rows = tree.ranges[0, block]
        fine = state.scales.chosen[0].fine
        add_fine(state.given, fine, rows.start, rows.end, tree.leaf_of, sums)
