"""The positions of the boxes of a tree: a tidy layout for any width and any number of children.

Every subtree is laid out by itself and keeps its outline: how far it reaches left and right on each
of its levels. Subtrees of one parent are pushed together until two outlines are `gap` apart on the
level where they come closest, and the parent is centred over its outer children. So no
two boxes overlap, equal subtrees look equal, and a deep branch slides under a shallow neighbour.

    packed from the left      [ A ] [b]       [ C ]       A and C reach out below,
    from the right            [ A ]       [b] [ C ]       b is a leaf between them
    the mean of both          [ A ]    [b]    [ C ]

Three or more children are packed from the left and from the right. Both keep all gaps, so
their mean does too, and small branches are centred in their space.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["tidy"]

Outline = list[tuple[float, float]]  # per level: left and right end, relative to the top box


def tidy(children: Sequence[Sequence[int]], width: Sequence[float], gap: float) -> np.ndarray:
    """Return the centre of every box; the leftmost edge is at 0.

    Parameters
    ----------
    children : list of lists of int
        Children of every node, left to right; a child's number is larger than its parent's.
    width : list of float
        Width of every box.
    gap : float
        Smallest distance between two boxes of one level.

    Examples
    --------
    >>> tidy([[1, 2], [], []], [10, 10, 10], gap=2)
    array([11.,  5., 17.])
    """
    offset = np.zeros(len(children))  # from the parent's centre
    outlines: list[Outline] = [[] for _ in children]
    for node in reversed(range(len(children))):
        half = width[node] / 2
        below: Outline = []
        kids = children[node]
        if kids:
            places = _pack([outlines[kid] for kid in kids], gap)
            middle = (places[0] + places[-1]) / 2
            for kid, place in zip(kids, places):
                offset[kid] = place - middle
                below = _merge(below, outlines[kid], place - middle)
                outlines[kid] = []  # no longer needed
        outlines[node] = [(-half, half), *below]
    x = offset
    for node in range(len(children)):
        for kid in children[node]:
            x[kid] += x[node]
    return x - min(left for left, _ in outlines[0])


def _pack(outlines: list[Outline], gap: float) -> list[float]:
    """Return the positions of sibling subtrees, as close together as their outlines allow."""
    left = _pack_left(outlines, gap)
    if len(outlines) <= 2:
        return left
    mirrored = [[(-b, -a) for a, b in outline] for outline in reversed(outlines)]
    right = [left[-1] - place for place in reversed(_pack_left(mirrored, gap))]
    return [(a + b) / 2 for a, b in zip(left, right)]


def _pack_left(outlines: list[Outline], gap: float) -> list[float]:
    places: list[float] = []
    done: Outline = []
    for outline in outlines:
        reach = [right + gap - left for (_, right), (left, _) in zip(done, outline)]
        places.append(max(reach, default=0.0))
        done = _merge(done, outline, places[-1])
    return places


def _merge(a: Outline, b: Outline, shift: float) -> Outline:
    """Return the outline of two neighbours: ``a`` and, to its right, ``b`` moved by ``shift``."""
    moved = [(left + shift, right + shift) for left, right in b]
    both = [(min(p[0], q[0]), max(p[1], q[1])) for p, q in zip(a, moved)]
    return both + a[len(b) :] + moved[len(a) :]
