"""The tidy layout: boxes never overlap, parents stand in the middle, equal subtrees look equal."""

import numpy as np
import pytest

from arboretum.explain.drawing import tidy


def random_children(rng, n):
    """Children lists of a random tree, numbered level by level."""
    children, next_id, node = [[]], 1, 0
    while next_id < n:
        if node == len(children) - 1 or rng.random() < 0.6:
            size = min(int(rng.integers(1, 5)), n - next_id)
            children[node] = list(range(next_id, next_id + size))
            children += [[] for _ in range(size)]
            next_id += size
        node += 1
    return children


def levels_of(children):
    level = np.zeros(len(children), dtype=int)
    for node, kids in enumerate(children):
        level[kids] = level[node] + 1
    return level


@pytest.mark.parametrize("seed", range(20))
def test_boxes_keep_their_distance_and_order(seed):
    rng = np.random.default_rng(seed)
    children = random_children(rng, int(rng.integers(2, 120)))
    width = rng.uniform(1, 9, size=len(children))
    x = tidy(children, width, gap=0.5)
    level = levels_of(children)
    assert (x - width / 2).min() == pytest.approx(0)
    for depth in range(level.max() + 1):
        row = np.flatnonzero(level == depth)  # level order: left to right
        right, left = (x + width / 2)[row[:-1]], (x - width / 2)[row[1:]]
        assert (left - right >= 0.5 - 1e-9).all()
    for node, kids in enumerate(children):
        if kids:
            assert x[node] == pytest.approx((x[kids[0]] + x[kids[-1]]) / 2)


def test_a_deep_branch_slides_under_a_shallow_neighbour():
    #      0          a row of slots for all four leaves would need 4 widths
    #    1   2
    #       3 4
    #      5 6
    x = tidy([[1, 2], [], [3, 4], [5, 6], [], [], []], [1.0] * 7, gap=0.0)
    assert np.ptp(x) + 1.0 < 3.0


def test_small_children_stand_in_the_middle_of_their_room():
    wide = [[1, 2, 3], [4, 5, 6], [], [7, 8, 9], *([[]] * 6)]
    x = tidy(wide, [1.0] * 10, gap=1.0)
    assert x[2] == pytest.approx((x[1] + x[3]) / 2)


def test_a_mirrored_tree_has_a_mirrored_layout():
    x = tidy([[1, 2], [3, 4], [], [], []], [2.0] * 5, gap=1.0)
    y = tidy([[1, 2], [], [3, 4], [], []], [2.0] * 5, gap=1.0)
    assert np.ptp(x) == pytest.approx(np.ptp(y))
    assert x[0] - x.min() == pytest.approx(y.max() - y[0])
