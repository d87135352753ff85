"""The trees of several rounds in one compiled call, for tables that one thread is soon done with.

On a small table a tree takes some ten microseconds, less than it takes to hand the grower's many arrays
from Python to compiled code. So all outputs of a round are grown, added to the scores and written down
together, and so are the rounds that follow, as long as nobody has to look at what was made; they are made
into `Tree` objects later, many at a time (grow/decoding.py).

    scores ──► g, h of every output ──► tree, tree, … ──► scores += η · tree ──► next round
                                             └──► log: nodes of all trees, one after another
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.random import mix
from arboretum.engine.second_order.grow import grow_alone
from arboretum.engine.second_order.loss import LossKernel, take_derivatives
from arboretum.engine.second_order.nodes import State
from arboretum.engine.second_order.pack import GivenRows, add_marked

__all__ = ["Log", "RoundTarget", "Turn", "grow_rounds"]


class Log(NamedTuple):
    """Grown trees, one after another."""

    nodes: np.ndarray  # (room,) NODE, or EXACT_TREE
    members: np.ndarray  # (room, n_words) uint32
    start: int  # where the next tree's nodes are written
    ends: np.ndarray  # (n_trees,) int64, where the nodes of every tree end; written
    most_nodes: int  # that a round may have


class RoundTarget(NamedTuple):
    """What trees are grown for."""

    loss: LossKernel
    y: np.ndarray  # (n_rows,) float64, by row
    weight: np.ndarray  # (n_rows,) float64, by row; empty: 1
    score: np.ndarray  # (n_rows, n_outputs) float64, what the trees so far add up to
    g: (
        np.ndarray
    )  # (n_outputs, n_rows) float32, written anew in every round unless the loss is GIVEN
    h: np.ndarray  # (n_outputs, n_rows) float32


class Turn(NamedTuple):
    """Which rounds are to be made, and how."""

    seed: np.uint64
    first: int  # the number of the first round
    rounds: int
    step: float  # what answers are multiplied by
    step_alone: float  # the same, of trees that were not split
    moves: bool  # answers are added to the scores
    may_stick: bool  # a round of trees that were not split is the last


@subkernel
def _write_down(tree, step, log, at, values):
    """Copy the nodes of a tree to the log, their answers multiplied; the answers are written, too.

    values (most nodes,) float64, written.
    """
    for k in range(tree.counters[0].nodes):
        log.nodes[at + k] = tree.nodes[k]
        for w in range(log.members.shape[1]):
            log.members[at + k, w] = tree.members[k, w]
        values[k] = tree.nodes[k].value * step + 0.0  # 0 has no sign
        log.nodes[at + k].value = values[k]


@kernel(makes_arrays=True)
def grow_rounds(parts, derive, state, scratch, n_rows, target, turn, columns, log):
    """Make some rounds: a tree for every output; return how many trees were made.

    It ends early where the log is full, after a round that is stuck (`Turn.may_stick`), and where a
    derivative is not good: then, the trees do not make whole rounds.

    Parameters
    ----------
    derive : int
        Address of what takes the derivatives (`loss.find_derive`).
    n_rows : int
        Rows that take part, those of ``state.given``, whose g, h and key are not looked at.
    target : Target
    turn : Turn
    columns : (outputs or 0, width) int64 array
        The features every tree may ask for; none: those of ``state.tree`` serve all.
    log : Log
        Where the nodes are written, their answers multiplied.
    """
    tree, given, made, n_outputs = state.tree, state.given, 0, len(target.g)
    values = np.empty(len(tree.nodes))
    shares, at = np.empty((n_outputs + 2, len(target.y))), log.start
    for m in range(turn.first, turn.first + turn.rounds):
        if at + log.most_nodes > len(log.nodes):
            break
        take_derivatives(derive, target, shares)
        before = at
        for k in range(n_outputs):
            for j in range(columns.shape[1] if k < len(columns) else 0):
                tree.draw.features[j] = columns[k, j]
            key = mix(mix(mix(turn.seed, np.uint64(m)), np.uint64(k)), np.uint64(0))
            of_output = GivenRows(
                target.g[k], target.h[k], given.rows, given.factor, given.most, key
            )
            begun = State(state.store, tree, state.features, state.rules, of_output, state.scales)
            grow_alone(parts, begun, scratch, n_rows)
            if tree.counters[0].failed:
                return made
            n = tree.counters[0].nodes
            _write_down(tree, turn.step if n > 1 else turn.step_alone, log, at, values)
            if turn.moves:
                add_marked(tree.leaf_of, values, given.rows, 0, n_rows, target.score, k)
            at += n
            log.ends[made] = at
            made += 1
        if turn.may_stick and at - before == n_outputs:
            break
    return made
