"""Grown nodes: rows walk down them by codes, and they become nodes of values."""

from __future__ import annotations

import numpy as np

from arboretum.engine.dtypes import CATEGORIES, NODE, NUMBER, record_table
from arboretum.engine.second_order.decode import DecodedNodes, decode_nodes, decode_sets, walk_codes
from arboretum.engine.second_order.nodes import Store
from arboretum.engine.second_order.score import Features

#            0: number 0 <= bin 1, missing left
#           1: leaf          2: category 1 in {0, 2}, missing right
#                           3: leaf    4: leaf
NODES = record_table(5, NODE)
NODES["first_child"] = [1, -1, 3, -1, -1]
NODES["split"]["feature"] = [0, -1, 1, -1, -1]
NODES["split"]["bin"] = [1, 0, 0, 0, 0]
NODES["split"]["kind"] = [NUMBER, 0, CATEGORIES, 0, 0]
NODES["split"]["missing_left"] = [1, 0, 0, 0, 0]
NODES["split"]["gain"] = [2.0, 9.0, 1.0, 9.0, 9.0]  # a leaf's is that of a split never made
MEMBERS = np.zeros((5, 1), np.uint32)
MEMBERS[2] = 0b101


def _store(codes: np.ndarray) -> Store:
    n = codes.shape[1]
    starts = np.array([0, 4, 8])
    return Store(
        codes, np.empty((1, n, 1), np.uint64), 2, np.empty((0, n), np.uint16),
        np.empty((0, n), np.uint64), 1, starts,
    )  # fmt: skip


def _features() -> Features:
    def numbers(*values):
        return np.array(values, np.int32)

    return Features(
        numbers(0, 1), numbers(0, 0), numbers(3, 3), numbers(-1, -1), np.array([False, True]),
        np.empty(0, np.int8),
    )  # fmt: skip


def test_rows_reach_their_leaves_by_codes():
    codes = np.uint8([[0, 1, 2, 255, 2, 2, 2], [0, 0, 0, 1, 1, 2, 255]])
    out = np.empty(7, np.int64)
    walk_codes(_store(codes), _features(), NODES, MEMBERS, np.empty(0, np.uint32), 0, 7, out)
    assert out.tolist() == [1, 1, 3, 1, 4, 3, 4]
    some = np.uint32([6, 5])
    walk_codes(_store(codes), _features(), NODES, MEMBERS, some, 0, 2, out[:2])
    assert out[:2].tolist() == [4, 3]


def test_bins_become_thresholds():
    n = len(NODES)
    out = DecodedNodes(
        np.empty(n, np.uint8), np.empty(n, np.int32), np.empty(n), np.empty(n, np.int32),
        np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n),
    )  # fmt: skip
    bounds, start = np.array([0.5, 1.5, np.inf]), np.array([0, 3, 3])
    decode_nodes(NODES, np.array([3, 3], np.int32), bounds, start, out)
    assert out.kind.tolist() == [1, 0, 2, 0, 0]
    assert out.threshold[0] == 1.5
    assert np.isnan(out.threshold[1:]).all()
    assert out.missing_child.tolist() == [0, -1, 1, -1, -1]
    assert out.gain.tolist() == [2.0, 0.0, 1.0, 0.0, 0.0]


def test_sets_of_bins_become_sets_of_categories():
    bits, category_of = np.zeros(2, np.uint32), np.array([33, 7, 2])  # of bins 0, 1, 2
    feature = np.array([0, -1, 1, -1, -1], np.int32)
    decode_sets(
        np.array([2]), np.array([0]), feature, MEMBERS, np.array([3, 3], np.int32), category_of,
        np.array([0, 0, 3]), bits,
    )  # fmt: skip
    assert bits.tolist() == [1 << 2, 1 << 1]
