"""The trees of several rounds in one compiled call, for tables so small that one thread is enough.

On a small table a tree takes some ten microseconds, less than passing the grower's many arrays from Python to
compiled code. So the trees for all outputs of a round are grown, added to the scores and written to a log in
one call, and so are the rounds that follow, as long as nothing has to be evaluated between them. They become
`Tree` objects later, many at a time (grow/decoding.py).

    scores ──► g, h of every output ──► tree, tree, … ──► scores += η · tree ──► next round
                                             └──► log: nodes of all trees, one after another

Trees grow on histograms (grow.py) or on presorted lists (exact_levels.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.random import mix
from arboretum.engine.second_order.exact_levels import ExactTable, GrowingExactTree, grow_exact
from arboretum.engine.second_order.grow import grow
from arboretum.engine.second_order.items import Parts
from arboretum.engine.second_order.loss import LossKernel, take_derivatives
from arboretum.engine.second_order.nodes import State
from arboretum.engine.second_order.pack import GivenRows, Scales, add_marked, add_value
from arboretum.engine.second_order.score import SplitRules, SplitScratch

__all__ = ["Log", "OnHistograms", "OnLists", "RoundTarget", "Turn", "grow_rounds"]


class Log(NamedTuple):
    """Grown trees, one after another."""

    nodes: np.ndarray  # (room,) NODE, or EXACT_TREE
    members: np.ndarray  # (room, n_words) uint32
    start: int  # where the next tree's nodes are written
    ends: np.ndarray  # (n_trees,) int64, where the nodes of every tree end; written
    most_nodes: int  # the most nodes that a round may have


class RoundTarget(NamedTuple):
    """The loss, labels and scores that trees are grown for."""

    loss: LossKernel
    y: np.ndarray  # (n_rows,) float64, by row
    weight: np.ndarray  # (n_rows,) float64, by row; empty: 1
    score: np.ndarray  # (n_rows, n_outputs) float64, the sum of the trees so far
    g: (
        np.ndarray
    )  # (n_outputs, n_rows) float32, written anew in every round unless the loss is GIVEN
    h: np.ndarray  # (n_outputs, n_rows) float32


class Turn(NamedTuple):
    """Which rounds are grown, and how."""

    seed: np.uint64
    first: int  # the number of the first round
    rounds: int
    step: float  # the factor of answers
    step_alone: float  # the same, for trees without a split (on histograms)
    moves: bool  # answers are added to the scores
    may_stick: bool  # a round of trees without splits is the last


class OnHistograms(NamedTuple):
    """The arguments for growing trees on histograms."""

    parts: Parts
    state: State
    scratch: SplitScratch
    team: np.ndarray  # (48,) int64, a team of one thread (engine/team.py)


class OnLists(NamedTuple):
    """The arguments for growing exact trees."""

    tree: GrowingExactTree
    table: ExactTable
    scales: Scales
    rules: SplitRules


@subkernel
def _write_down(tree, step, log, at, values):
    """Copy the nodes of a tree to the log with scaled answers, which are also written to ``values``.

    values (most nodes,) float64, written.
    """
    for k in range(tree.counters[0].nodes):
        log.nodes[at + k] = tree.nodes[k]
        for w in range(log.members.shape[1]):
            log.members[at + k, w] = tree.members[k, w]
        values[k] = tree.nodes[k].value * step + 0.0  # 0 has no sign
        log.nodes[at + k].value = values[k]


@inline
def _grow_on_histograms(trees, given, n_rows, turn, log, at, values):
    """Grow a tree, write it to the log from ``at`` on, return its size; 0: a derivative is invalid.

    values (most nodes,) float64, written.
    """
    state, tree = trees.state, trees.state.tree
    begun = State(state.store, tree, state.features, state.rules, given, state.scales)
    grow(trees.team, trees.parts, begun, trees.scratch, n_rows, 1, True)
    if tree.counters[0].failed:
        return 0
    n = tree.counters[0].nodes
    _write_down(tree, turn.step if n > 1 else turn.step_alone, log, at, values)
    return n


@inline
def _add_leaves(entries, log, at, end, score, k):
    """Add the answers of an exact tree's leaves to the scores of their rows.

    entries (n_rows,) uint64; score (n_rows, n_outputs) float64, added to.
    """
    for i in range(at, end):
        leaf = log.nodes[i]
        if leaf.first_child < 0:
            add_value(entries, leaf.start, leaf.end, leaf.value, score, np.uint64(k))


@kernel(makes_arrays=True)
def grow_rounds(derive, histogram, exact, features, given, target, turn, columns, log):
    """Grow some rounds, a tree for every output in each; return the number of trees.

    It ends early when the log is full, after a round without splits (`Turn.may_stick`), and when a derivative
    is invalid; in the last case the trees do not make whole rounds.

    Parameters
    ----------
    derive : int
        Address of the kernel that computes the derivatives (`loss.find_derive`).
    histogram : OnHistograms, or None
    exact : OnLists, or None
        One of the two is not None.
    features : (width,) int64 array
        The features of the growing tree, written.
    given : GivenRows
        The rows that take part; its g, h and key are not read.
    target : RoundTarget
    turn : Turn
    columns : (outputs or 1, width) int64 array
        The features every tree may split on; a single line is for all outputs.
    log : Log
        Where the nodes are written, with scaled answers.
    """
    made, n_outputs, at = 0, len(target.g), log.start
    n_rows = len(given.rows) if len(given.rows) else len(target.y)
    values = np.empty(log.most_nodes)
    shares = np.empty((n_outputs + 2, len(target.y)))
    for m in range(turn.first, turn.first + turn.rounds):
        if at + log.most_nodes > len(log.nodes):
            break
        take_derivatives(derive, target, shares)
        before = at
        for k in range(n_outputs):
            for j in range(columns.shape[1]):
                features[j] = columns[min(k, len(columns) - 1), j]
            key = mix(mix(mix(turn.seed, np.uint64(m)), np.uint64(k)), np.uint64(0))
            of_output = GivenRows(
                target.g[k], target.h[k], given.rows, given.factor, given.most, key
            )
            n = 0
            if histogram is not None:
                n = _grow_on_histograms(histogram, of_output, n_rows, turn, log, at, values)
            if exact is not None:
                n = grow_exact(exact, of_output, n_rows, turn.step, log, at)
            if n == 0:
                return made
            if turn.moves and histogram is not None:
                leaf_of = histogram.state.tree.leaf_of
                add_marked(leaf_of, values, given.rows, 0, n_rows, target.score, k)
            if turn.moves and exact is not None:
                _add_leaves(exact.table.rows.entries, log, at, at + n, target.score, k)
            at += n
            log.ends[made] = at
            made += 1
        if turn.may_stick and at - before == n_outputs:
            break
    return made
