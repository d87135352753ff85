"""Tables of SHAP values: for every state of a group of leaves, what they contribute to every column.

A leaf of value v whose path splits on d columns distinguishes 2^d patterns of a row: the columns whose splits
it passes. With

    P_q(s) = w_q Π over j of ( z_j + t_q (o_j - z_j) )            o_j: bit j of the pattern s

column i gets v Σ_q of P_q with the factor of i replaced by o_i - z_i. That needs no separate product, because
each factor has only two values, z(1-t) and z + t(1-z):

    bit i is not set      - P(s) / (1-t)
    bit i is set          ( P(s) - P(s without i) / (1-t) ) / t

so sums of P over the nodes, divided by powers of t and of 1-t, are all that is needed; for pairs, the same is
done twice. With a background, P is the mean over its rows b, and z_j is the bit of b. That is a sum over the
patterns that b may have, which is computed column by column, and the two lines above still hold.

A state of the group determines the pattern of each of its leaves; the table of the group adds them up.

    table of a group      column 3:  S numbers, one for every state
                          column 8:  S numbers
                          pair 3,8:  S numbers
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.shap.cells import describe, is_asked, mark_classes

__all__ = ["Groups", "Leaf", "Tables", "fill_tables", "lay_steps"]

_ONE = np.uint64(1)


class Groups(NamedTuple):
    """The groups of all trees that have tables."""

    root: np.ndarray  # (n_groups,) int32, root of the part that a group belongs to
    leaves: np.ndarray  # (n_groups,) uint64, its leaves, as bits
    output: np.ndarray  # (n_groups,) int64, the output of the first number of its tree


class Tables(NamedTuple):
    """The tables of all groups, one after the other."""

    step_at: (
        np.ndarray
    )  # (n_groups + 1,) int64, where the steps of a group begin, each a multiple of four
    step_column: np.ndarray  # (n_steps,) int32, the column whose code is compared
    step_code: np.ndarray  # (n_steps,) uint16, the code that it must exceed
    step_by: np.ndarray  # (n_steps,) uint16, the number then added to the state
    column_at: np.ndarray  # (n_groups + 1,) int64, where the columns of a group's table begin
    place: np.ndarray  # (n_table_columns,) int32, the place that a column of a table is added to
    table_at: np.ndarray  # (n_groups + 1,) int64, where the table of a group begins
    states: np.ndarray  # (n_groups,) int64
    state_at: np.ndarray  # (n_groups + 1,) int64, where the states of a group begin
    table: np.ndarray  # (n_numbers,) float64


class Leaf(NamedTuple):
    """Scratch arrays for the table of a leaf."""

    at: np.ndarray  # (columns,) int64, places of its columns among those of the group
    share: np.ndarray  # (columns,) float64
    pattern: np.ndarray  # (states,) int32, its pattern in every state of the group
    counts: np.ndarray  # (patterns,) float64, share of the background's rows
    product: np.ndarray  # (patterns,) float64
    sums: np.ndarray  # (8, patterns) float64, Σ_q P over powers of t and 1-t
    got: np.ndarray  # (patterns,) float64, the contribution to a column


@kernel
def lay_steps(questions, groups, span, per_output, pair_of, part, tables):
    """Write the steps of some groups, and the places that the columns of their tables are added to.

    ``questions`` describes all trees (cells.py), ``per_output`` is the number of columns and pairs per
    output, ``pair_of`` the place of every pair, or None.

    span (first, end) of groups; pair_of (n_columns, n_columns) int32, or None.
    """
    width = questions.value.shape[1]
    described, n_leaves, n_columns = np.int32(-1), np.int64(0), np.int64(0)
    for group in range(span[0], span[1]):
        leaves, output, root = groups.leaves[group], groups.output[group], groups.root[group]
        if root != described:  # groups of one part are neighbours
            n_leaves, n_columns = describe(questions, root, part)
            described = root
        mark_classes(part, n_columns, leaves)
        step, at, factor = tables.step_at[group], tables.column_at[group], np.int64(1)
        n_asked = 0
        for g in range(n_columns):
            for cell in range(part.cell_at[g] + 1, part.cell_at[g + 1]):
                rise = np.int64(part.kind[cell]) - np.int64(part.kind[cell - 1])
                if rise != 0:
                    tables.step_column[step] = part.column[g]
                    tables.step_code[step] = part.first_code[cell] - 1
                    tables.step_by[step] = np.uint16((rise * factor) & 65535)
                    step += 1
            factor *= part.classes[g]
            if is_asked(part, n_leaves, g, leaves):
                part.asks[n_asked] = part.column[g]  # its nodes are no longer needed
                n_asked += 1
        for more in range(
            step, tables.step_at[group + 1]
        ):  # padding to a multiple of four; nothing is added
            tables.step_column[more] = part.column[0]
            tables.step_code[more], tables.step_by[more] = 0, 0
        for i in range(n_asked):
            for k in range(width):
                tables.place[at] = (output + k) * per_output + part.asks[i]
                at += 1
        if pair_of is not None:
            for i in range(n_asked):
                for j in range(i):
                    pair = pair_of[part.asks[i], part.asks[j]]
                    for k in range(width):
                        tables.place[at] = (output + k) * per_output + pair
                        at += 1


@subkernel
def _sum_products(d, share, nodes, weights, counts, product, sums, pairs):
    """Write Σ_q P, divided by t and by 1-t, for every pattern; for pairs also by their products.

    share (d,) float64; nodes, weights (K,) float64; counts (2**d,) float64, or None; product (2**d,)
    float64, scratch; sums (8 or 2, 2**d) float64, written.
    """
    size = 1 << d
    for a in range(len(sums)):
        for s in range(size):
            sums[a, s] = 0.0
    for q in range(len(nodes)):
        t, w = nodes[q], weights[q]
        if counts is not None:
            for s in range(size):
                product[s] = w * counts[s]
            first = 0
            if d > 1:  # two columns at once; the loop below takes the others one by one
                first = 2
                for s in range(0, size, 4):
                    a, b, c, e = product[s], product[s + 1], product[s + 2], product[s + 3]
                    b, a = t * a + b, (1.0 - t) * b
                    e, c = t * c + e, (1.0 - t) * e
                    product[s], product[s + 2] = (1.0 - t) * c, t * a + c
                    product[s + 1], product[s + 3] = (1.0 - t) * e, t * b + e
            for i in range(first, d):
                bit = 1 << i
                for low in range(0, size, 2 * bit):  # patterns whose bit is not set, side by side
                    for s in range(low, low + bit):
                        fails, passes = product[s], product[s + bit]
                        product[s] = (1.0 - t) * passes
                        product[s + bit] = t * fails + passes
        else:
            product[0] = w
            for i in range(d):
                z = share[i]
                bit, no, yes = 1 << i, z * (1.0 - t), z + t * (1.0 - z)
                for s in range(bit):
                    product[s + bit] = product[s] * yes
                    product[s] *= no
        x, y = 1.0 / t, 1.0 / (1.0 - t)
        for s in range(size):
            sums[0, s] += product[s] * x
            sums[1, s] += product[s] * y
        if pairs is not None:
            for s in range(size):
                p = product[s]
                sums[2, s] += p * y * y
                sums[3, s] += p * x * y
                sums[4, s] += p * x * y * y
                sums[5, s] += p * x * x
                sums[6, s] += p * x * x * y
                sums[7, s] += p * x * x * y * y


@subkernel
def _gets(d, i, sums, got):
    """Write the contribution to column i in every pattern; 1/(t(1-t)) is 1/t + 1/(1-t).

    sums (8 or 2, 2**d) float64; got (2**d,) float64, written.
    """
    bit = 1 << i
    for s in range(1 << d):
        without = s ^ bit
        if s & bit:
            got[s] = sums[0, s] - sums[0, without] - sums[1, without]
        else:
            got[s] = -sums[1, s]


@subkernel
def _get_together(d, i, j, sums, got):
    """Write half of the joint contribution to columns i and j in every pattern.

    sums (8, 2**d) float64; got (2**d,) float64, written.
    """
    one, two = 1 << i, 1 << j
    for s in range(1 << d):
        if s & one and s & two:
            both = sums[6, s ^ one] + sums[6, s ^ two]
            got[s] = 0.5 * (sums[5, s] - both + sums[7, s ^ one ^ two])
        elif s & one or s & two:
            set_one = one if s & one else two
            got[s] = 0.5 * (sums[4, s ^ set_one] - sums[3, s])
        else:
            got[s] = 0.5 * sums[2, s]


@subkernel
def _scatter(got, pattern, states, value, width, node, table, at):
    """Add the contribution of a leaf to a column of the table, for each of its numbers.

    got (2**d,) float64; pattern (n_states,) int32; value (n_nodes, n_numbers) float64; table
    (n_table_numbers,) float64, added to.
    """
    for k in range(width):
        said, begin = value[node, k], at + k * states
        for s in range(states):
            table[begin + s] += said * got[pattern[s]]


@subkernel
def _read_leaf(part, n_columns, n_leaves, leaves, number, states, leaf):
    """Write a leaf's columns, shares and patterns by state; return how many columns it and its group have."""
    d, at, done = 0, 0, np.int64(1)
    bit_of_leaf = np.uint64(number)
    leaf.pattern[0] = 0
    for g in range(n_columns):
        asks = part.share[number, g] >= 0.0
        classes = np.int64(part.classes[g])
        for kind in range(classes - 1, -1, -1):
            bit = 0
            if asks:
                cell = part.cell_at[g]
                while part.kind[cell] != kind:
                    cell += 1
                if (part.mask[cell] >> bit_of_leaf) & _ONE:
                    bit = 1 << d
            for s in range(done):
                leaf.pattern[kind * done + s] = leaf.pattern[s] | bit
        done *= classes
        if asks:
            leaf.at[d], leaf.share[d] = at, part.share[number, g]
            d += 1
        if is_asked(part, n_leaves, g, leaves):
            at += 1
    return d, at


@kernel
def fill_tables(questions, groups, span, rules, pairs, counts, part, leaf, tables):
    """Fill the tables of some groups.

    ``questions`` describes all trees (cells.py), ``rules`` are Gauss-Legendre nodes and weights for every
    number of nodes. ``counts`` is the share of a background's rows in every state, one group after the other;
    None: path-dependent values. ``pairs`` is None if pairs are not requested.

    span (first, end) of groups; rules (nodes, weights) (most K + 1, most K) float64 each; counts
    (n_states_of_all,) float64, or None.
    """
    value, width = questions.value, questions.value.shape[1]
    described, n_leaves, n_columns = np.int32(-1), np.int64(0), np.int64(0)
    for group in range(span[0], span[1]):
        leaves, states, root = groups.leaves[group], tables.states[group], groups.root[group]
        if root != described:
            n_leaves, n_columns = describe(questions, root, part)
            described = root
        mark_classes(part, n_columns, leaves)
        begin = tables.table_at[group]
        for k in range(begin, tables.table_at[group + 1]):
            tables.table[k] = 0.0
        for number in range(n_leaves):
            if (leaves >> np.uint64(number)) & _ONE == 0:
                continue
            node = part.leaf[number]
            d, n_asked = _read_leaf(part, n_columns, n_leaves, leaves, number, states, leaf)
            K = (d + 1) // 2
            nodes, weights = rules[0][K, :K], rules[1][K, :K]
            if counts is not None:
                for s in range(1 << d):
                    leaf.counts[s] = 0.0
                for s in range(states):
                    leaf.counts[leaf.pattern[s]] += counts[tables.state_at[group] + s]
                _sum_products(
                    d, leaf.share, nodes, weights, leaf.counts, leaf.product, leaf.sums, pairs
                )
            else:
                _sum_products(d, leaf.share, nodes, weights, None, leaf.product, leaf.sums, pairs)
            for i in range(d):
                _gets(d, i, leaf.sums, leaf.got)
                at = begin + leaf.at[i] * width * states
                _scatter(leaf.got, leaf.pattern, states, value, width, node, tables.table, at)
            if pairs is not None:
                for i in range(d):
                    for j in range(i):
                        _get_together(d, i, j, leaf.sums, leaf.got)
                        pair = leaf.at[i] * (leaf.at[i] - 1) // 2 + leaf.at[j]
                        at = begin + (n_asked + pair) * width * states
                        _scatter(
                            leaf.got, leaf.pattern, states, value, width, node, tables.table, at
                        )
