"""Searched nodes wait in a heap: the one that gains most comes out first, the older of equals."""

import numpy as np

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.depth_first.best_first import push_searched, take_best
from arboretum.engine.depth_first.records import BRANCH
from arboretum.engine.dtypes import record_table


@kernel
def _push(heap, size, stack):
    push_searched(heap, size, stack[1])


@kernel
def _take(heap, size, stack):
    take_best(heap, size, stack)


def test_nodes_come_out_best_first():
    rng = np.random.default_rng(0)
    heap, stack = record_table(60, BRANCH), record_table(2, BRANCH)
    waiting, taken, expected = [], [], []
    for node in range(100):
        gain = float(rng.integers(0, 8))
        stack["number"][1], stack["gain"][1], stack["last"][1] = node, gain, 3 * node
        _push(heap, len(waiting), stack)
        waiting.append((-gain, node))
        if node % 2:
            _take(heap, len(waiting), stack)
            assert stack["last"][0] == 3 * stack["number"][0]
            expected.append(min(waiting))
            waiting.remove(min(waiting))
            taken.append((-stack["gain"][0], int(stack["number"][0])))
    assert taken == expected
