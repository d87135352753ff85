"""Grouping categories: the branches of a test are sets of values, found by merging (Quinlan 1993).

It starts with a group for each category that occurs in the node. Of all pairs of groups the one is
merged that gives the best gain ratio, while more than two groups are left and the ratio does not
fall. What a pair would become is kept, so that a merger recomputes one row of pairs, not all.
"""

import numpy as np

from arboretum.engine.cases.cases import EPS, TIE, bits, count_values
from arboretum.engine.compiler.decorators import inline, kernel, subkernel

__all__ = ["group_values", "scan_groups"]


@inline
def _join(groups, one, two, table):
    """Return f(N) and Σ f(n_c) of two groups as one.

    groups (n_groups, n_classes) float64; table (n_kept,) float64.
    """
    weight, inside = 0.0, 0.0
    for c in range(groups.shape[1]):
        both = groups[one, c] + groups[two, c]
        weight += both
        inside += bits(both, table)
    return bits(weight, table), inside


@subkernel(makes_arrays=True)
def _merge(groups, n, total_weight, missing_weight, table, group_of):
    """Merge the n rows of class weights ``groups``; return (gain, info) and each row's group.

    groups (n, n_classes) float64, updated; table (n_kept,) float64; group_of (n_codes + 1,) int64,
    written.
    """
    outer, inner = (
        np.empty((n, n)),
        np.empty((n, n)),
    )  # f(N) and Σ f(n_c) of a pair; alone: diagonal
    alive, known, after, parts = np.ones(n, np.bool_), 0.0, 0.0, 0.0
    before = 0.0
    for c in range(groups.shape[1]):
        of_class = 0.0
        for g in range(n):
            of_class += groups[g, c]
        known += of_class
        before -= bits(of_class, table)
    before += bits(known, table)
    for one in range(n):
        group_of[one] = one
        weight, inside = 0.0, 0.0
        for c in range(groups.shape[1]):
            weight += groups[one, c]
            inside += bits(groups[one, c], table)
        outer[one, one], inner[one, one] = bits(weight, table), inside
        after += outer[one, one] - inside
        parts += outer[one, one]
        for two in range(one):
            outer[two, one], inner[two, one] = _join(groups, two, one, table)
    full = bits(total_weight, table) - bits(missing_weight, table)
    left = n
    while left > 2:
        gain, info = before - after, full - parts
        now = gain / info if info > EPS * total_weight else -np.inf
        best, first, second = -np.inf, -1, -1
        for one in range(n):
            if not alive[one]:
                continue
            for two in range(one + 1, n):
                if not alive[two]:
                    continue
                more = outer[one, two] - outer[one, one] - outer[two, two]
                lost = more - (inner[one, two] - inner[one, one] - inner[two, two])
                smaller = info - more
                ratio = (gain - lost) / smaller if smaller > EPS * total_weight else -np.inf
                if first < 0 or ratio > best + TIE:
                    best, first, second = ratio, one, two
        if best < now - TIE:
            break
        after += outer[first, second] - outer[first, first] - outer[second, second]
        after -= inner[first, second] - inner[first, first] - inner[second, second]
        parts += outer[first, second] - outer[first, first] - outer[second, second]
        outer[first, first], inner[first, first] = outer[first, second], inner[first, second]
        for c in range(groups.shape[1]):
            groups[first, c] += groups[second, c]
        alive[second] = False
        left -= 1
        for g in range(n):
            if group_of[g] == second:
                group_of[g] = first
            if alive[g] and g != first:
                low, high = min(g, first), max(g, first)
                outer[low, high], inner[low, high] = _join(groups, low, high, table)
    return (before - after) / total_weight, (full - parts) / total_weight


@subkernel(makes_arrays=True)
def _node_groups(codes, n_codes, cases, nodes, k, table, scratch, group_of):
    """Group the categories of one node; return (gain, info, how many, weight of the missing).

    codes (n_rows,) uint8, uint16 or uint32; table (n_kept,) float64; scratch
    (stamp, seen, counts, groups) as in `scan_groups`; group_of (n_codes + 1,) int64, written.
    """
    stamp, seen, counts, groups = scratch
    n = count_values(codes, cases, nodes.start[k], nodes.end[k], k, stamp, seen, counts)
    seen[:n].sort()
    missing_weight = 0.0
    if n and seen[n - 1] == n_codes:
        n -= 1
        for c in range(counts.shape[1]):
            missing_weight += counts[n_codes, c]
    for i in range(n):
        for c in range(counts.shape[1]):
            groups[i, c] = counts[seen[i], c]
    if n == 0:
        return 0.0, 0.0, n
    gain, info = _merge(groups[:n], n, nodes.weight[k], missing_weight, table, group_of)
    return gain, info, n


@kernel(makes_arrays=True)
def scan_groups(codes, n_codes, cases, nodes, min_cases, table, gain, info, n_large):
    """Judge, for every node, the test on groups of categories; writes what `scan_values` writes.

    codes (n_rows,) uint8, uint16 or uint32; table (n_kept,) float64; gain, info (n_nodes,) float64,
    written; n_large (n_nodes,) int64, written.
    """
    classes = nodes.total.shape[1]
    groups, group_of = np.empty((n_codes + 1, classes)), np.empty(n_codes + 1, np.int64)
    counts, stamp = np.empty((n_codes + 1, classes)), np.full(n_codes + 1, -1)
    scratch = (stamp, np.empty(n_codes + 1, np.int64), counts, groups)
    for k in range(len(nodes.start)):
        gain[k], info[k], n = _node_groups(
            codes, n_codes, cases, nodes, k, table, scratch, group_of
        )
        n_large[k] = 0
        for g in range(n):
            if group_of[g] == g:
                weight = 0.0
                for c in range(classes):
                    weight += groups[g, c]
                n_large[k] += weight >= min_cases - TIE
        if n_large[k] < 2:
            gain[k], info[k] = 0.0, 0.0


@kernel(makes_arrays=True)
def group_values(codes, n_codes, cases, nodes, table, child, n_children):
    """Write the group of every category, (nodes, categories), and how many groups there are.

    Categories that do not occur in the node join its last group.

    codes (n_rows,) uint8, uint16 or uint32; table (n_kept,) float64; child (n_nodes, n_codes) uint32,
    written; n_children (n_nodes,) int64, written.
    """
    classes = nodes.total.shape[1]
    group_of = np.empty(n_codes + 1, np.int64)
    groups, number = np.empty((n_codes + 1, classes)), np.empty(n_codes + 1, np.int64)
    counts, stamp = np.empty((n_codes + 1, classes)), np.full(n_codes + 1, -1)
    scratch = (stamp, np.empty(n_codes + 1, np.int64), counts, groups)
    for k in range(len(nodes.start)):
        _, _, n = _node_groups(codes, n_codes, cases, nodes, k, table, scratch, group_of)
        n_children[k] = 0
        for g in range(n):
            if group_of[g] == g:
                number[g] = n_children[k]
                n_children[k] += 1
        for v in range(n_codes):
            child[k, v] = n_children[k] - 1
        for i in range(n):
            child[k, scratch[1][i]] = number[group_of[i]]
