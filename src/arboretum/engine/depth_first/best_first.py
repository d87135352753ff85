"""Nodes that are searched and wait to be parted, the one that gains most on top (a heap)."""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import subkernel

__all__ = ["CUT", "FEATURE", "GAIN", "LAST", "NODE", "SIDE", "put_by", "take_out"]

NODE = 2  # where a waiting branch keeps its node (grow.py)
FEATURE, SIDE, LAST = 7, 8, 9  # behind what is known of a branch: what its search found,
GAIN, CUT = 0, 1  # and in the real part


@subkernel
def _before(heap, real, a, b):
    """Tell whether entry a of the heap is taken before entry b: it gains more, or is older.

    heap (most leaves, 10) int64; real (most leaves, 2) float64.
    """
    if real[a, GAIN] != real[b, GAIN]:
        return real[a, GAIN] > real[b, GAIN]
    return heap[a, NODE] < heap[b, NODE]


@subkernel
def _swap(heap, real, a, b):
    """Let two branches swap places.

    heap (most leaves, 10) int64, updated; real (most leaves, 2) float64, updated.
    """
    for j in range(heap.shape[1]):
        heap[a, j], heap[b, j] = heap[b, j], heap[a, j]
    for j in range(real.shape[1]):
        real[a, j], real[b, j] = real[b, j], real[a, j]


@subkernel
def put_by(heap, real, size, branch, feature, side, last, gain, cut):
    """Put a searched branch (a row of the stack) by.

    heap (most leaves, 10) int64, updated, or None; real (most leaves, 2) float64, updated, or None;
    branch (7,) int64.
    """
    if heap is not None:
        at = size
        for j in range(len(branch)):
            heap[at, j] = branch[j]
        heap[at, FEATURE], heap[at, SIDE], heap[at, LAST] = feature, side, last
        real[at, GAIN], real[at, CUT] = gain, cut
        while at > 0 and _before(heap, real, at, (at - 1) // 2):
            _swap(heap, real, at, (at - 1) // 2)
            at = (at - 1) // 2


@subkernel
def take_out(heap, real, size, branch):
    """Take out the best of ``size`` branches; return (feature, side, last, gain, cut).

    heap (most leaves, 10) int64, updated, or None; real (most leaves, 2) float64, updated, or None;
    branch (7,) int64, written.
    """
    feature, side, last = np.int64(-1), np.int64(0), np.int64(0)
    gain, cut = 0.0, np.nan
    if heap is not None:
        for j in range(len(branch)):
            branch[j] = heap[0, j]
        feature, side, last = heap[0, FEATURE], heap[0, SIDE], heap[0, LAST]
        gain, cut = real[0, GAIN], real[0, CUT]
        size -= 1
        _swap(heap, real, 0, size)
        at = 0
        while 2 * at + 1 < size:
            child = 2 * at + 1
            if child + 1 < size and _before(heap, real, child + 1, child):
                child += 1
            if not _before(heap, real, child, at):
                break
            _swap(heap, real, at, child)
            at = child
    return feature, side, last, gain, cut
