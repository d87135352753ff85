"""The kernels of exact growth: words, lists and their marks, scans against brute force, parting."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.engine.columns.lists import (
    NOWHERE,
    PADDING,
    Lists,
    PlacedRows,
    divide_rows,
    filter_lists,
    take_rows,
)
from arboretum.engine.columns.presort import MISSING, NEW, POSITION, sort_column
from arboretum.engine.dtypes import EXACT_COUNTERS, EXACT_CUT, EXACT_NODE, SCALES, record_table
from arboretum.engine.second_order import exact as engine
from arboretum.engine.second_order.exact_levels import GrowingExactTree, make_root, open_level
from arboretum.engine.second_order.pack import GivenRows
from arboretum.engine.second_order.score import SplitRules
from arboretum.grow.histogram import new_draw

RULES = SplitRules(
    0.0, 1.0, 0.0, 0.0, 0.0, True, 1.0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0.0, 6, 64, True, 0, 0
)  # fmt: skip
UNITS = np.array([0.5, 0.25])
SCALES_ = np.zeros(1, SCALES)
SCALES_["fine_unit"] = tuple(UNITS)
NO_GROUPS = np.empty((0, 0), np.uint64)


def _lists(X: np.ndarray) -> Lists:
    """Presorted lists of the rows of one node."""
    n, width = X.shape
    entries = np.zeros(n * width + PADDING, np.uint32)
    many = np.empty((width, 1), np.int64)
    for f in range(width):
        part = entries[f * n : (f + 1) * n]
        sort_column(np.ascontiguousarray(X[:, f]), part)
        many[f] = np.count_nonzero(part & MISSING == 0)
    return Lists(entries, np.arange(width)[:, None] * n, many)


def _root(words: np.ndarray, rules: SplitRules = RULES) -> np.ndarray:
    """The root of a tree of all rows, described."""
    draw = new_draw(np.arange(1), 1, 1, NO_GROUPS)
    tree = GrowingExactTree(
        record_table(1, EXACT_NODE), np.empty(1, np.int64), record_table(1, EXACT_COUNTERS), draw
    )
    make_root(tree, words.sum(axis=0), len(words))
    open_level(tree, tree.nodes, np.empty(0, np.int8), SCALES_, rules)
    return tree.nodes


def _scratch(n: int) -> engine.ScanScratch:
    sums, gain = np.empty((3, engine.CHUNK + 1), np.int64), np.empty(engine.CHUNK + 1, np.float32)
    return engine.ScanScratch(
        sums[0], sums[1], sums[2], gain, gain.view(np.int32), np.empty(2, np.int32),
        record_table(2, EXACT_CUT), np.empty(n + 1, np.uint32),
    )  # fmt: skip


def _candidates(width: int, has_missing: np.ndarray) -> engine.Candidates:
    everything = np.empty((0, 0), np.uint8)
    return engine.Candidates(np.arange(width), has_missing, np.empty(0, np.int8), everything)


def _search(X: np.ndarray, words: np.ndarray, rules: SplitRules = RULES) -> np.ndarray:
    n, width = X.shape
    lists, root, found = _lists(X), _root(words, rules), record_table((width, 1), EXACT_CUT)
    level = engine.Level(
        root, np.zeros(1, np.int64), lists, words, root[:0], lists, np.empty(n, np.uint32), found
    )
    candidates = _candidates(width, lists.many[:, 0] < n)
    engine.search_lists(level, candidates, SCALES_, rules, 0, width, _scratch(n))
    return found


def _placed(words: np.ndarray) -> PlacedRows:
    n = len(words)
    return PlacedRows(
        np.arange(n, dtype=np.uint64) << np.uint64(32), words.copy(), np.empty(n + 1, np.uint64),
        np.empty((n + 1, 2), np.int64), np.empty(n, np.uint32),
    )  # fmt: skip


def _brute(x: np.ndarray, words: np.ndarray) -> list[tuple[float, int, bool]]:
    """Return (gain, present entries on the left, missing left) of every cut, in the program's order."""
    G, H = words[:, 0] * UNITS[0], words[:, 1] * UNITS[1]
    gone = np.isnan(x)

    def gain(left: np.ndarray) -> float:
        a, c, d, e = G[left].sum(), H[left].sum(), G[~left].sum(), H[~left].sum()
        if min(c, e) < RULES.min_weight:
            return -np.inf
        score = a**2 / (c + 1) + d**2 / (e + 1) - G.sum() ** 2 / (H.sum() + 1)
        return float(np.float32(score))

    values = np.unique(x[~gone])
    right = [(gain(x <= v), int((x <= v).sum()), False) for v in values[: len(values) - 1]]
    left = [(gain((x <= v) | gone), int((x <= v).sum()), True) for v in values[:-1][::-1]]
    if not gone.any():
        return left
    return [*right, (gain(~gone), int((~gone).sum()), False), *left]


@pytest.mark.parametrize("seed", range(12))
def test_a_scan_finds_the_best_cut(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([3, 40, 700]))  # 700: more than one chunk
    X = rng.standard_normal((n, 4))
    X[:, 1:3] = np.round(2 * X[:, 1:3])
    X[:, 2:][rng.random((n, 2)) < 0.3] = np.nan
    words = np.column_stack([rng.integers(-9, 10, n), rng.integers(2, 9, n)])
    found = _search(X, words)
    for f in range(4):
        cuts = _brute(X[:, f], words)
        gain, cut, missing_left = max(cuts, key=lambda c: c[0])  # the first of equals
        if gain <= 0:
            assert found["gain"][f, 0] == -np.inf
            continue
        assert found["gain"][f, 0] == pytest.approx(gain, rel=1e-6)
        assert (found["cut"][f, 0], found["missing_left"][f, 0]) == (cut, missing_left)
        goes = X[:, f] <= np.sort(X[:, f])[cut - 1]
        goes |= np.isnan(X[:, f]) & missing_left
        assert [found["left_g"][f, 0], found["left_h"][f, 0]] == words[goes].sum(axis=0).tolist()


@pytest.mark.parametrize(
    ("x", "cut", "missing_left"),
    [
        ([1, 2, 3], 2, True),  # all values: the largest cut
        ([1, 2, 3, np.nan], 1, False),  # a gap: the smallest, missing right
        ([1, 2, np.nan, 3], 1, False),
    ],
)
def test_equal_gains_are_decided_as_the_program_does(x, cut, missing_left):
    g = {1: -4, 2: 0, 3: 4}
    words = np.array([[g.get(v, 0), 8] for v in x])
    found = _search(np.array(x)[:, None], words)
    assert (found["cut"][0, 0], found["missing_left"][0, 0]) == (cut, missing_left)


def test_of_equal_columns_the_first_is_chosen():
    X = np.array([[5.0, 1.0, 1.0], [5.0, 2.0, 2.0], [5.0, 3.0, 3.0]])
    words = np.array([[-4, 8], [-4, 8], [8, 8]])
    found, able = _search(X, words), np.zeros(1, np.int64)
    nodes = _root(words)
    engine.choose(found, able, nodes, 1e-6)
    assert nodes["column"].tolist() == [1]
    assert nodes["best"][0] == found[1, 0]
    assert nodes["best"]["cut"][0] == 2
    engine.choose(found, able, nodes, 1e6)
    assert nodes["column"].tolist() == [-1]  # gains too little


def test_words_are_whole_numbers_and_their_sums():
    g, h = np.float32([0.5, -0.25, 3.0, 1.0]), np.float32([1.0, 2.0, 0.0, 0.5])
    rows, factor = np.uint32([0, 1, 3]), np.float32([1.0, 2.0, 4.0])
    entries, words, sums = np.empty(3, np.uint64), np.empty((3, 2), np.int64), np.empty(2, np.int64)
    scales = record_table(1, SCALES)
    scales["fine"] = (8.0, 16.0)
    given = GivenRows(g, h, rows, factor, 4.0, np.uint64(0))
    engine.fill_words(given, scales, 0, 3, entries, words, sums)
    assert (entries >> np.uint64(32)).tolist() == [0, 1, 3]
    assert words.tolist() == [[4, 16], [-4, 64], [32, 32]]
    assert sums.tolist() == [32, 112]


def test_a_filter_keeps_order_and_marks():
    x = np.array([3.0, 1.0, 1.0, np.nan, 2.0, 3.0])
    lists = _lists(x[:, None])
    place = np.full(6, NOWHERE)
    place[[0, 2, 3, 5]] = np.arange(4)
    target, kept = np.zeros_like(lists.entries), np.empty((1, 1), np.int64)
    filter_lists(lists, place, target, 0, 1, kept)
    assert kept.tolist() == [[3]]
    assert (target[:3] & POSITION).tolist() == [1, 0, 3]  # values 1, 3, 3
    assert (target[:3] & NEW != 0).tolist() == [True, True, False]


def test_places_in_a_sparse_column_become_rows():
    order, out = np.array([2, 0, 1], np.uint32) | np.array([NEW, 0, NEW]), np.zeros(5, np.uint32)
    take_rows(order, np.array([4, 7, 9]), 1, out)
    assert (out & POSITION).tolist() == [0, 9, 4, 7, 0]
    assert (out & NEW != 0).tolist() == [False, True, False, True, False]


@pytest.mark.parametrize("seed", range(6))
def test_rows_and_lists_are_parted_stably(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 200))
    X = np.round(rng.standard_normal((n, 3)) * 3)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:2] = [[0.0] * 3, [1.0] * 3]  # something to part by
    words = np.column_stack([rng.integers(-9, 10, n), rng.integers(1, 9, n)])
    lists, nodes = _lists(X), _root(words)
    j, missing_left = int(rng.integers(3)), bool(rng.integers(2))
    cut = int(np.sum(X[:, j] <= 0))
    left = np.where(np.isnan(X[:, j]), missing_left, X[:, j] <= 0)
    middle = int(left.sum())
    nodes["column"], nodes["middle"], nodes["best"]["cut"] = j, middle, cut
    nodes["best"]["missing_left"], nodes["wanted_child"] = missing_left, 0
    placed = _placed(words)
    divide_rows(lists, nodes, 0, 1, placed, True)
    rows = (placed.entries >> np.uint64(32)).astype(int)
    assert rows.tolist() == [*np.flatnonzero(left), *np.flatnonzero(~left)]
    assert np.array_equal(placed.words, words[rows])
    assert np.array_equal(placed.place[rows], np.arange(n))

    empty = np.empty((3, 2), np.int64)
    below = Lists(np.zeros_like(lists.entries), empty, empty.copy())
    level = engine.Level(
        record_table(2, EXACT_NODE), np.empty(0, np.int64), below, placed.words, nodes, lists,
        placed.place, record_table((3, 2), EXACT_CUT),
    )  # fmt: skip
    engine.search_lists(level, _candidates(3, np.ones(3, bool)), SCALES_, RULES, 0, 3, _scratch(n))
    for f in range(3):
        for child, lo, hi in ((0, 0, middle), (1, middle, n)):
            first, many = below.first[f, child], below.many[f, child]
            part = below.entries[first : first + many]
            at = (part & POSITION).astype(int)
            x = X[rows[at], f]
            present = lo + np.flatnonzero(~np.isnan(X[rows[lo:hi], f]))
            assert sorted(at) == present.tolist()
            assert (np.diff(x) >= 0).all()
            assert (part & NEW != 0).tolist() == [True, *(np.diff(x) > 0)][: len(x)]


def test_rows_alone_are_moved_where_nothing_grows_deeper():
    X, words = np.array([[2.0], [1.0], [3.0]]), np.array([[1, 1], [2, 2], [3, 3]])
    nodes, placed = _root(words), _placed(words)
    nodes["column"], nodes["middle"], nodes["best"]["cut"] = 0, 1, 1
    divide_rows(_lists(X), nodes, 0, 1, placed, False)
    assert (placed.entries >> np.uint64(32)).tolist() == [1, 0, 2]
    assert np.array_equal(placed.words, words)


def test_nodes_are_described_by_their_sums():
    words = np.array([[-4, 8], [-4, 8]])
    nodes = _root(words)
    assert (nodes["answer"][0], nodes["score"][0]) == (pytest.approx(0.8), pytest.approx(16 / 5))
    assert _root(words, RULES._replace(min_weight=5.0))["answer"][0] == 0.0  # too little cover
    assert _root(words, RULES._replace(max_delta_step=0.5))["score"][0] == pytest.approx(2.75)


def test_columns_are_drawn_for_every_open_node():
    groups = np.array([[1], [1], [1], [2], [2], [2]], np.uint64)
    draw = new_draw(np.arange(6), 6, 3, groups)
    draw.groups[:, 0] = 3, 1, 2
    allowed, nodes = np.empty((2, 6), np.uint8), np.array([0, 1])
    engine.draw_allowed(draw, 1, nodes, 1, np.uint64(5), RULES, allowed)
    assert allowed.tolist() == [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]]  # by groups
    engine.draw_allowed(draw, 1, nodes, 1, np.uint64(5), RULES._replace(node_columns=4), allowed)
    assert (allowed.sum(axis=1) < 4).all()
    assert allowed.sum() > 0
