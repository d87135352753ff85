"""Rounds in one call: as many calls of one round each make the same trees and scores."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.engine.keys import key_of
from arboretum.engine.second_order.loss import GIVEN, LossKernel
from arboretum.engine.second_order.rounds import RoundTarget, Turn
from arboretum.engine.second_order.score import Features
from arboretum.grow.histogram import HistogramGrower, new_log
from tests.engine.second_order.scan_cases import RULES
from tests.grow.gradients import grow

N, WIDTH, BINS = 60, 3, 8
TURN = Turn(np.uint64(5), 0, 1, 0.3, 0.3, moves=True, may_stick=False)
ALL = np.arange(WIDTH, dtype=np.int64)[None, :]


def grower(seed=0):
    codes = np.random.default_rng(seed).integers(0, BINS, (WIDTH, N)).astype(np.uint8)
    features = Features(
        np.arange(WIDTH, dtype=np.int32), np.zeros(WIDTH, np.int32), np.full(WIDTH, BINS, np.int32),
        np.full(WIDTH, -1, np.int32), np.zeros(WIDTH, bool), np.empty(0, np.int8),
    )  # fmt: skip
    return HistogramGrower(codes, features, RULES._replace(max_depth=3)), codes


def target_of(outputs=1, seed=0, loss=None):
    """Return given derivatives; they do not move with the scores."""
    rng = np.random.default_rng(seed)
    g = rng.normal(size=(outputs, N)).astype(np.float32)
    h = rng.uniform(0.5, 1.0, (outputs, N)).astype(np.float32)
    return RoundTarget(
        loss or LossKernel(GIVEN), np.zeros(N), np.empty(0), np.zeros((N, outputs)), g, h
    )


def make(one, target, **turn):
    return one.grow_rounds(target, TURN._replace(**turn), rows=None, factor=None, columns=ALL)


@pytest.mark.parametrize("outputs", [1, 3])
def test_rounds_of_one_call_are_those_of_many(outputs):
    (one, _), (two, _) = grower(), grower()
    together, apart = target_of(outputs), target_of(outputs)
    whole = make(one, together, rounds=4)
    parts = [make(two, apart, first=m) for m in range(4)]
    assert whole.sizes == [size for part in parts for size in part.sizes]
    assert len(whole.sizes) == 4 * outputs
    nodes = np.concatenate([part.nodes.nodes for part in parts])
    for name in ("first_child", "rows", "value", "cover"):
        assert np.array_equal(whole.nodes.nodes[name], nodes[name])
    assert np.array_equal(together.score, apart.score)
    assert together.score.any()


def test_a_round_is_a_tree_of_its_key_times_the_step():
    (one, codes), target = grower(), target_of(2)
    grown = make(one, target, first=6)
    for k, tree in enumerate(grown.each()):
        alone = grow(grower()[0], target.g[k], target.h[k], key_of(5, 6, k, 0))
        assert np.array_equal(tree.value, alone.value * 0.3 + 0.0)
        leaf = np.zeros(N, np.int64)
        for _ in range(4):
            inner = tree.first_child[leaf] >= 0
            split = tree.nodes["split"][leaf]
            right = codes[np.maximum(split["feature"], 0), np.arange(N)] > split["bin"]
            leaf = np.where(inner, tree.first_child[leaf] + right, leaf)
        assert target.score[:, k] == pytest.approx(tree.value[leaf])


def test_scores_that_do_not_move_stay():
    (one, _), target = grower(), target_of()
    make(one, target, rounds=2, moves=False)
    assert not target.score.any()


def test_rounds_end_where_no_tree_is_split():
    (one, _), target = grower(), target_of()
    target.g[:] = 1.0  # nothing tells the rows apart
    target.h[:] = 1.0
    stuck = make(one, target, rounds=5, may_stick=True, step_alone=0.0)
    assert stuck.sizes == [1]
    assert not target.score.any()
    assert make(one, target, rounds=5).sizes == [1] * 5


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_derivative_that_is_no_good_ends_the_rounds(bad):
    (one, _), target = grower(), target_of(2)
    target.g[1, 7] = bad
    grown = make(one, target, rounds=3)
    assert grown.failed
    assert len(grown.sizes) == 1  # the first output's tree


def test_a_new_log_has_room_for_its_nodes():
    log = new_log(5, 2)
    assert (len(log.nodes), log.members.shape, log.start, log.most_nodes) == (5, (5, 2), 0, 5)
