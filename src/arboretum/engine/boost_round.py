"""The trees of one round in one compiled call, for tables that one thread is soon done with.

On a small table a tree takes some ten microseconds, less than it takes to hand the grower's many arrays
from Python to compiled code. So all outputs of a round are grown, added to the scores and written down
together; they are made into `Tree` objects later, many at a time (boosting/decoding.py).

    g, h of every output ──► tree, tree, … ──► scores += η · tree
                                  └──► log: nodes of all trees, one after another
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.boost_grow import add_leaves, grow
from arboretum.engine.boost_pack import Given
from arboretum.engine.boost_tree import FAILED, N_FLOATS, N_INTS, NODES, VALUE, Field
from arboretum.engine.jit import kernel

__all__ = ["Log", "grow_round", "new_log"]


class Log(NamedTuple):
    """Grown trees, one after another; see boost_tree.py for what is kept of a node."""

    ints: np.ndarray  # (nodes, N_INTS) int64
    floats: np.ndarray  # (nodes, N_FLOATS) float64
    members: np.ndarray  # (nodes, words) uint32


def new_log(n_nodes: int, n_words: int) -> Log:
    """Return room for so many nodes."""
    return Log(
        np.empty((n_nodes, N_INTS), np.int64),
        np.empty((n_nodes, N_FLOATS)),
        np.empty((n_nodes, n_words), np.uint32),
    )


@kernel
def grow_round(team, field, work, n_rows, g, h, keys, columns, steps, score, log, at, ends):
    """Grow a tree for every line of ``g`` and ``h``; return how many derivatives were good.

    Parameters
    ----------
    n_rows : int
        Rows that take part, those of ``field.given``, whose g, h and key are not looked at.
    keys : uint64 array
        Of every tree.
    columns : (trees or 1, width) int64 array
        The features every tree may ask for; one line serves all.
    steps : (2,) float64 array
        What answers are multiplied by, in a tree that was split and in one that was not.
    score : (rows, trees) float64 array
        The answers are added to it; not if it is empty.
    log, at : Log and int
        Where the nodes are written, from ``at`` on, their answers multiplied.
    ends : int64 array, output
        Where the nodes of every tree end in the log.
    """
    growth, given = field.growth, field.given
    values = np.empty(len(growth.ints))
    for k in range(len(keys)):
        if k < len(columns):
            for j in range(columns.shape[1]):
                growth.columns[j] = columns[k, j]
        own = Given(g[k], h[k], given.rows, given.factor, given.factor_of, given.most, keys[k])
        whole = Field(field.store, growth, field.features, field.rules, own, field.scales)
        grow(team, whole, work, n_rows, 1, True)
        if growth.counters[FAILED]:
            return k
        n = growth.counters[NODES]
        step = steps[0] if n > 1 else steps[1]
        for node in range(n):
            for j in range(N_INTS):
                log.ints[at + node, j] = growth.ints[node, j]
            for j in range(N_FLOATS):
                log.floats[at + node, j] = growth.floats[node, j]
            for j in range(log.members.shape[1]):
                log.members[at + node, j] = growth.members[node, j]
            values[node] = growth.floats[node, VALUE] * step + 0.0  # 0 has no sign
            log.floats[at + node, VALUE] = values[node]
        if len(score):
            add_leaves(growth, values, score, k, 0, 1)
        at += n
        ends[k] = at
    return len(keys)
