"""Nodes that are searched and wait to be split, the one that gains most on top (a heap)."""

from __future__ import annotations

from arboretum.engine.compiler.decorators import subkernel

__all__ = ["push_searched", "take_best"]


@subkernel
def _before(one, other):
    """Return whether a waiting branch is taken before another: it gains more, or is older."""
    if one.gain != other.gain:
        return one.gain > other.gain
    return one.number < other.number


@subkernel
def push_searched(heap, size, branch):
    """Add a searched branch to ``size`` others.

    heap (most leaves + 2,) BRANCH, updated, or None; branch a BRANCH.
    """
    if heap is not None:
        at = size
        while at > 0 and _before(branch, heap[(at - 1) // 2]):
            heap[at] = heap[(at - 1) // 2]
            at = (at - 1) // 2
        heap[at] = branch


@subkernel
def take_best(heap, size, stack):
    """Move the best of ``size`` branches to the bottom of the stack.

    heap (most leaves + 2,) BRANCH, updated, or None; stack (n_rows + 2,) BRANCH, written.
    """
    if heap is not None:
        stack[0] = heap[0]
        at, last = 0, size - 1
        while 2 * at + 1 < last:
            child = 2 * at + 1
            if child + 1 < last and _before(heap[child + 1], heap[child]):
                child += 1
            if not _before(heap[child], heap[last]):
                break
            heap[at] = heap[child]
            at = child
        heap[at] = heap[last]
