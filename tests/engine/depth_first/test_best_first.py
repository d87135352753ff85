"""Searched nodes wait in a heap: the one that gains most comes out first, the older of equals."""

import numpy as np

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.depth_first.best_first import NODE, put_by, take_out


@kernel
def _put(heap, real, size, branch, gain):
    put_by(heap, real, size, branch, np.int64(3), np.int64(1), np.int64(7), gain, 0.5)


@kernel
def _take(heap, real, size, branch):
    return take_out(heap, real, size, branch)


def test_nodes_come_out_best_first():
    rng = np.random.default_rng(0)
    heap, real = np.empty((60, 10), np.int64), np.empty((60, 2))
    branch, waiting, taken, expected = np.zeros(7, np.int64), [], [], []
    for node in range(100):
        gain = float(rng.integers(0, 8))
        branch[NODE] = node
        _put(heap, real, len(waiting), branch, gain)
        waiting.append((-gain, node))
        if node % 2:
            feature, side, last, best, cut = _take(heap, real, len(waiting), branch)
            assert (feature, side, last, cut) == (3, 1, 7, 0.5)
            expected.append(min(waiting))
            waiting.remove(min(waiting))
            taken.append((-best, int(branch[NODE])))
    assert taken == expected
