"""The kernels of fractional cases against plain NumPy: searching, dividing, settling."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum.engine.cases.cases import (
    EPS,
    CaseNodes,
    Cases,
    CaseValues,
    Dealt,
    Questions,
    bits_table,
    deal,
    hand_on,
    hand_on_list,
    round_down,
    scan_thresholds,
    scan_values,
)
from arboretum.engine.cases.grouping import group_values, scan_groups
from arboretum.engine.cases.propagate import CaseRows, Settled, new_pile, settle, spread_proba
from arboretum.engine.columns.presort import MISSING, NEW, POSITION, sort_column
from arboretum.engine.kinds import GROUPS, MULTIWAY, THRESHOLD

BITS = bits_table(100)


# ---------------------------------------------------------------------- cases, and NumPy's view of them
def make(seed: int, n: int = 120, classes: int = 3, nodes: int = 3, parts: bool = True):
    """Return X (two numbers, two categories of 4 and 7 values), labels, cases and their nodes."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=n).round(1),
            rng.normal(size=n),
            rng.integers(0, 4, n),
            rng.integers(0, 7, n),
        ]
    )
    label = np.digitize(np.nansum(X[:, [0, 2]], axis=1) + rng.normal(size=n), [0.5, 2.0])
    label = np.minimum(label, classes - 1).astype(np.int32)
    X[rng.random(X.shape) < 0.15] = np.nan
    rows = [np.sort(rng.choice(n, rng.integers(1, n), replace=False)) for _ in range(nodes)]
    row = np.concatenate(rows).astype(np.uint32)
    weight = rng.uniform(0.1, 1.5, len(row)) if parts else np.ones(len(row))
    cases = Cases(row, label[row], weight)
    end = np.cumsum([len(r) for r in rows])
    start = end - [len(r) for r in rows]
    total = np.array(
        [np.bincount(cases.label[a:b], weight[a:b], classes) for a, b in zip(start, end)]
    )
    return X, label, cases, CaseNodes(start, end, total, total.sum(axis=1))


def values_of(X: np.ndarray) -> CaseValues:
    """The columns of `make` as the kernels read them."""
    n_values = np.array([4, 7])
    codes = np.where(np.isnan(X[:, 2:]), n_values, X[:, 2:]).T.astype(np.uint8)
    return CaseValues(X[:, :2].copy(), codes.copy(), n_values, np.array([0, 1, 0, 1]))


def listed(x: np.ndarray, nodes: CaseNodes) -> np.ndarray:
    """The presorted list of the positions of some cases, whose values are x."""
    out = np.empty(len(x), np.uint32)
    for a, b in zip(nodes.start, nodes.end):
        part = np.empty(b - a, np.uint32)
        sort_column(np.ascontiguousarray(x[a:b]), part)
        out[a:b] = part + np.uint32(a)  # the position is in the low bits
    return out


def entropy(weights: np.ndarray) -> float:
    """N·H in bits."""
    weights = weights[weights > 1e-12]
    return float(-np.sum(weights * np.log2(weights / weights.sum()))) if len(weights) else 0.0


def by_class(cases: Cases, some: np.ndarray, classes: int) -> np.ndarray:
    return np.bincount(cases.label[some], cases.weight[some], classes)


def test_bits_table():
    assert_allclose(bits_table(8)[[0, 1, 2, 8]], [0, 0, 2, 24])
    assert len(bits_table(1 << 30)) == (1 << 20) + 1  # no more than is worth keeping


# ---------------------------------------------------------------------- searching
def best_cut(x, cases, node, min_cases, classes):
    """Return gain, split information and the values parted; None if there is no cut."""
    known = node[~np.isnan(x[node])]
    whole, n_known = cases.weight[node].sum(), cases.weight[known].sum()
    if n_known < 2 * min_cases:
        return None
    least = max(min_cases, min(0.1 * n_known / classes, 25.0))
    values = np.unique(x[known])
    tried = []
    for low, high in pairwise(values):
        left, right = known[x[known] <= low], known[x[known] > low]
        sides = cases.weight[left].sum(), cases.weight[right].sum()
        if min(sides) < least - 1e-9:
            continue
        gain = entropy(by_class(cases, known, classes)) - sum(
            entropy(by_class(cases, side, classes)) for side in (left, right)
        )
        info = entropy(np.array([whole - n_known, *sides]))
        tried.append((gain, info / whole, low, high))
    if not tried:
        return None
    best = max(tried, key=lambda t: round(t[0], 8))
    gain = (best[0] - np.log2(len(tried))) / whole
    return (gain, *best[1:]) if gain > 1e-9 else None


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("min_cases", [0.5, 2.0, 12.0])
@pytest.mark.parametrize("seed", range(6))
def test_scan_thresholds(seed, min_cases, parts):
    X, _, cases, nodes = make(seed, parts=parts, nodes=4)
    k = len(nodes.start)
    for f in (0, 1):
        x = X[cases.row, f]
        entries = listed(x, nodes)
        gain, info, cut = np.full(k, 9.0), np.full(k, 9.0), np.full(k, 99)
        scan_thresholds(entries, cases, nodes, min_cases, BITS, gain, info, cut)
        for q in range(k):
            expected = best_cut(x, cases, np.arange(nodes.start[q], nodes.end[q]), min_cases, 3)
            if expected is None:
                assert cut[q] == -1
                continue
            below, above = (x[entries[cut[q] - i] & POSITION] for i in (1, 0))
            assert_allclose([gain[q], info[q], below, above], expected, atol=1e-9)
            assert entries[cut[q]] & NEW


def category_figures(x, cases, node, groups, min_cases, classes):
    """Return gain, split information and the number of heavy branches."""
    known = node[~np.isnan(x[node])]
    whole = cases.weight[node].sum()
    branches = [known[np.isin(x[known], list(group))] for group in groups]
    weights = [cases.weight[b].sum() for b in branches]
    after = sum(entropy(by_class(cases, b, classes)) for b in branches)
    gain = (entropy(by_class(cases, known, classes)) - after) / whole
    info = entropy(np.array([whole - cases.weight[known].sum(), *weights])) / whole
    return gain, info, sum(w >= min_cases - 1e-9 for w in weights)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("min_cases", [0.5, 3.0, 40.0])
@pytest.mark.parametrize("seed", range(3))
def test_scan_values(seed, min_cases, dtype):
    X, _, cases, nodes = make(seed, nodes=4)
    k = len(nodes.start)
    for f, size in ((2, 4), (3, 7)):
        codes = np.where(np.isnan(X[:, f]), size, X[:, f]).astype(dtype)
        gain, info, heavy = np.full(k, 9.0), np.full(k, 9.0), np.full(k, 9)
        scan_values(codes, size, cases, nodes, min_cases, BITS, gain, info, heavy)
        for q in range(k):
            node = np.arange(nodes.start[q], nodes.end[q])
            groups = [{v} for v in range(size)]
            expected = category_figures(X[cases.row, f], cases, node, groups, min_cases, 3)
            assert heavy[q] == expected[2]
            if heavy[q] >= 2:
                assert_allclose((gain[q], info[q]), expected[:2], atol=1e-9)


def merged(x, cases, node, classes) -> list[set[int]]:
    """Merge categories as Quinlan has it, the plain way."""
    groups = [{int(v)} for v in np.unique(x[node][~np.isnan(x[node])])]

    def ratio(some):
        gain, info, _ = category_figures(x, cases, node, some, 0, classes)
        return gain / info if info > EPS else -np.inf

    while len(groups) > 2:
        tries = []
        for one, two in combinations(range(len(groups)), 2):
            rest = [g for i, g in enumerate(groups) if i not in (one, two)]
            tries.append([*rest[:one], groups[one] | groups[two], *rest[one:]])
        ratios = [ratio(some) for some in tries]
        best = int(np.argmax(np.array(ratios) >= max(ratios) - 1e-9))
        if ratios[best] < ratio(groups) - 1e-9:
            break
        groups = tries[best]
    return groups


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_scan_groups(seed, parts):
    X, _, cases, nodes = make(seed, nodes=4, parts=parts)
    k, size, x = len(nodes.start), 7, X[cases.row, 3]
    codes = np.where(np.isnan(X[:, 3]), size, X[:, 3]).astype(np.uint8)
    gain, info, heavy = np.full(k, 9.0), np.full(k, 9.0), np.full(k, 9)
    scan_groups(codes, size, cases, nodes, 2.0, BITS, gain, info, heavy)
    child, groups = np.empty((k, size), np.uint32), np.empty(k, np.int64)
    group_values(codes, size, cases, nodes, BITS, child, groups)
    for q in range(k):
        node = np.arange(nodes.start[q], nodes.end[q])
        expected = merged(x, cases, node, 3)
        met = set().union(*expected) if expected else set()
        for number, group in enumerate(expected):
            assert {v for v in met if child[q, v] == number} == group
        assert groups[q] == len(expected)
        assert all(child[q, v] == len(expected) - 1 for v in range(size) if v not in met)
        figures = category_figures(x, cases, node, expected, 2.0, 3)
        assert heavy[q] == figures[2]
        if heavy[q] >= 2:
            assert_allclose((gain[q], info[q]), figures[:2], atol=1e-9)


def test_nodes_without_known_values():
    cases = Cases(np.arange(4, dtype=np.uint32), np.array([0, 1, 0, 1], np.int32), np.ones(4))
    nodes = CaseNodes(np.array([0]), np.array([4]), np.array([[2.0, 2.0]]), np.array([4.0]))
    gain, info, out = np.ones(1), np.ones(1), np.ones(1, np.int64)
    scan_thresholds(listed(np.full(4, np.nan), nodes), cases, nodes, 2.0, BITS, gain, info, out)
    assert out[0] == -1
    gone = np.full(4, 3, np.uint8)
    for scan in (scan_values, scan_groups):
        scan(gone, 3, cases, nodes, 2.0, BITS, gain, info, out)
        assert (gain[0], info[0], out[0]) == (0.0, 0.0, 0)


def test_round_down():
    X = np.array([[3.0, 1.0], [1.0, np.nan], [2.0, -0.0], [2.0, 5.0], [np.nan, 0.0]])
    order, present = np.empty((2, 5), np.uint32), np.array([4, 4])
    for f in range(2):
        sort_column(np.ascontiguousarray(X[:, f]), order[f])
    value = np.array([1.0, 1.5, 2.0, 2.5, 3.0, 99.0, 0.5, 4.9])
    slot = np.array([0] * 6 + [1] * 2)
    round_down(X, slot, order, present, value)
    assert value.tolist() == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 0.0, 1.0]
    assert not np.signbit(value).any()  # no -0.0


# ---------------------------------------------------------------------- dividing
def three_questions() -> Questions:
    """x0 <= 0.2?   which x2?   which group of x3?      children 0-1, 2-5, 6-8"""
    return Questions(
        kind=np.array([THRESHOLD, MULTIWAY, GROUPS], np.uint8),
        feature=np.array([0, 2, 3], np.int32),
        threshold=np.array([0.2, np.nan, np.nan]),
        first_child=np.array([0, 2, 6], np.int32),
        n_children=np.array([2, 4, 3], np.int32),
        missing_child=np.full(3, -1, np.int32),
        map_start=np.array([-1, -1, 2]),
        maps=np.array([9, 9, 0, 1, 2, 0, 1, 2, 0], np.uint32),
    )


def answers(asked: Questions, q: int, x: np.ndarray) -> np.ndarray:
    """The child of each value, -1 for all."""
    known = ~np.isnan(x)
    v = np.full(len(x), -1)
    if asked.kind[q] == THRESHOLD:
        v[known] = x[known] > asked.threshold[q]
    elif asked.kind[q] == MULTIWAY:
        v[known] = x[known]
    else:
        v[known] = asked.maps[asked.map_start[q] + x[known].astype(int)]
    return v


def divided(seed: int, live: np.ndarray):
    """Divide three nodes; return what is needed to check it."""
    X, _label, cases, nodes = make(seed)
    asked = three_questions()
    m = int(asked.n_children.sum())
    branch = np.empty(len(cases.row), np.int32)
    dealt = Dealt(branch, np.zeros(m), np.zeros(m, np.int64), np.zeros((m, 3)))
    deal(values_of(X), cases, nodes, asked, dealt)
    parent = np.repeat(np.arange(3), asked.n_children)
    gone = (nodes.end - nodes.start) - np.add.reduceat(dealt.rows, asked.first_child)
    size = np.where(dealt.known > 0, dealt.rows + gone[parent], 0)
    live = live & (size > 0)
    wide = np.cumsum(np.where(live, size, 0))
    start = np.where(live, wide - size, -1)
    out = Cases(*(np.full(wide[-1], 77, part.dtype) for part in cases))
    place = np.empty(len(branch), np.uint32)
    hand_on(cases, nodes, asked, dealt, start, place, out)
    return X, cases, nodes, asked, (dealt, start, size, place, out)


def naive_children(X, cases, nodes, asked):
    """For each child: {row: weight}, and the weight of its known cases."""
    children, weights = [], []
    for q in range(len(nodes.start)):
        here = np.arange(nodes.start[q], nodes.end[q])
        v = answers(asked, q, X[cases.row[here], asked.feature[q]])
        w = cases.weight[here]
        known = [w[v == u].sum() for u in range(asked.n_children[q])]
        for u in range(asked.n_children[q]):
            share = known[u] / sum(known)
            part = np.where(v == u, w, np.where((v < 0) & (share > 0), w * share, 0.0))
            children.append(dict(zip(cases.row[here][part > 0].tolist(), part[part > 0])))
        weights += known
    return children, weights


LIVE = {
    "all go on": np.ones(9, bool),
    "some stay leaves": np.array([1, 0, 0, 1, 1, 0, 1, 1, 0], bool),
}


@pytest.mark.parametrize("live", LIVE)
@pytest.mark.parametrize("seed", range(4))
def test_dividing_hands_every_case_on(seed, live):
    X, cases, nodes, asked, made = divided(seed, LIVE[live])
    dealt, start, size, _place, out = made
    children, weights = naive_children(X, cases, nodes, asked)
    assert_allclose(dealt.known, weights)
    label = dict(zip(cases.row.tolist(), cases.label.tolist()))
    written = np.zeros(len(out.row), bool)
    for child, expected in enumerate(children):
        counts = np.bincount([label[row] for row in expected], list(expected.values()), minlength=3)
        assert_allclose(dealt.total[child], counts, atol=1e-12)
        assert size[child] == len(expected)
        if start[child] < 0:
            continue
        here = slice(start[child], start[child] + size[child])
        assert dict(zip(out.row[here].tolist(), out.weight[here])) == pytest.approx(expected)
        assert [label[row] for row in out.row[here].tolist()] == out.label[here].tolist()
        written[here] = True
    assert written.all()
    for q in range(3):  # nothing is lost, nothing is made
        some = slice(asked.first_child[q], asked.first_child[q] + asked.n_children[q])
        assert_allclose(dealt.total[some].sum(axis=0), nodes.total[q])


@pytest.mark.parametrize("live", LIVE)
@pytest.mark.parametrize("seed", range(4))
def test_lists_stay_sorted_and_marked(seed, live):
    X, cases, nodes, asked, made = divided(seed, LIVE[live])
    dealt, start, size, place, out = made
    for f in (0, 1):
        before = listed(X[cases.row, f], nodes)
        after = np.full(len(out.row), 77, np.uint32)
        hand_on_list(before, nodes, asked, dealt, start, place, after)
        x = X[out.row, f]
        for child in np.flatnonzero(start >= 0):
            here = slice(start[child], start[child] + size[child])
            entries = after[here]
            position = (entries & POSITION).astype(int)
            assert sorted(position) == list(range(here.start, here.stop))
            values = x[position]
            gone = np.isnan(values)
            assert_array_equal((entries & MISSING) > 0, gone)
            assert (np.diff(gone.astype(int)) >= 0).all()  # the missing stand at the end
            assert (np.diff(values[~gone]) >= 0).all()
            shown = np.where(gone, np.inf, values)
            new = np.concatenate([[True], shown[1:] != shown[:-1]])
            assert_array_equal((entries & NEW) > 0, new)


def test_a_list_that_was_handed_on_is_searched_like_a_fresh_one():
    X, cases, nodes, asked, made = divided(5, np.ones(9, bool))
    dealt, start, size, place, out = made
    total = dealt.total
    alive = start >= 0
    below = CaseNodes(start[alive], (start + size)[alive], total[alive], total[alive].sum(axis=1))
    for f in (0, 1):
        after = np.empty(len(out.row), np.uint32)
        before = listed(X[cases.row, f], nodes)
        hand_on_list(before, nodes, asked, dealt, start, place, after)
        fresh = listed(X[out.row, f], below)
        found = []
        for entries in (after, fresh):
            k = len(below.start)
            gain, info, cut = np.empty(k), np.empty(k), np.empty(k, np.int64)
            scan_thresholds(entries, out, below, 1.0, BITS, gain, info, cut)
            found.append((gain, info, cut))
        assert (found[0][2] >= 0).any()
        assert_allclose(found[0][0], found[1][0], atol=1e-9)
        assert_allclose(found[0][1], found[1][1], atol=1e-9)
        assert_array_equal(found[0][2], found[1][2])


# ---------------------------------------------------------------------- settling
def small_tree() -> Questions:
    """0: x0 <= 0.2? -> 1: which x2? -> 3..6;  2: which group of x3? -> 7, 8, 9"""
    n = 10
    tree = Questions(
        np.zeros(n, np.uint8), np.zeros(n, np.int32), np.full(n, np.nan), np.full(n, -1, np.int32),
        np.zeros(n, np.int32), np.full(n, -1, np.int32), np.full(n, -1, np.int64),
        np.array([0, 1, 2, 0, 1, 2, 0], np.uint32),
    )  # fmt: skip
    for node, kind, feature, first, children in (
        (0, THRESHOLD, 0, 1, 2), (1, MULTIWAY, 2, 3, 4), (2, GROUPS, 3, 7, 3),
    ):  # fmt: skip
        tree.kind[node], tree.feature[node] = kind, feature
        tree.first_child[node], tree.n_children[node] = first, children
    tree.threshold[0], tree.map_start[2] = 0.2, 0
    return tree


def naive_settle(tree, X, node, cases: dict, own: np.ndarray) -> dict[int, dict]:
    """Return the cases {row: weight} of every node below, by recursion."""
    found = {node: cases}
    if tree.kind[node] == 0 or not cases:
        return found
    rows = np.array(list(cases))
    w = np.array(list(cases.values()))
    v = answers(tree, node, X[rows, tree.feature[node]])
    first, children = tree.first_child[node], tree.n_children[node]
    share = np.array([w[v == u].sum() for u in range(children)])
    share = own[first : first + children] if len(own) else share / share.sum()
    for u in range(children):
        part = np.where(v == u, w, np.where(v < 0, w * share[u], 0.0))
        below = dict(zip(rows[part > 0].tolist(), part[part > 0]))
        found |= naive_settle(tree, X, first + u, below, own)
    return found


def run_settle(tree, X, label, row, weight, own, room):
    n, pile = len(tree.kind), new_pile(tree, room)
    pile.row[: len(row)], pile.weight[: len(row)] = row, weight
    lo, hi, count = (np.full(n, -9, np.int64) for _ in range(3))
    total = np.full((n, 3), -9.0)
    settled = Settled(np.empty(room, np.uint32), np.empty(room), lo, hi, total, count)
    done = settle(tree, 0, CaseRows(values_of(X), label, own), pile, len(row), settled)
    return done, settled[:2], lo, hi, count, total


OWN = np.array([1, 0.25, 0.75, 0.5, 0.5, 0, 0, 0.2, 0.3, 0.5])


@pytest.mark.parametrize("own", [np.empty(0), OWN], ids=["shares of the cases", "own shares"])
@pytest.mark.parametrize("seed", range(4))
def test_settle(seed, own):
    X, label, cases, nodes = make(seed, nodes=1, n=200)
    tree = small_tree()
    done, out, lo, hi, count, total = run_settle(tree, X, label, cases.row, cases.weight, own, 2000)
    expected = naive_settle(tree, X, 0, dict(zip(cases.row.tolist(), cases.weight)), own)
    for node, inside in expected.items():
        counts = np.bincount(label[list(inside)], list(inside.values()), 3)
        assert_allclose(total[node], counts, atol=1e-12)
        assert count[node] == len(inside)
    assert_allclose(total[tree.kind == 0].sum(axis=0), nodes.total[0])  # no weight is lost
    for leaf in np.flatnonzero(tree.kind == 0):
        here = slice(lo[leaf], hi[leaf])
        assert dict(zip(out[0][here].tolist(), out[1][here])) == pytest.approx(expected[leaf])
    assert done == sum(len(expected[leaf]) for leaf in np.flatnonzero(tree.kind == 0))
    # the last leaf comes first, so the cases of a branch stand together
    for node, leaves in ((1, range(3, 7)), (2, range(7, 10)), (0, range(3, 10))):
        assert lo[node] == min(lo[leaf] for leaf in leaves)
        assert max(hi[leaf] for leaf in leaves) == hi[leaves[0]]


def test_settle_says_when_room_is_short():
    X, label, cases, _ = make(0, nodes=1, n=200)
    tree = small_tree()
    enough, *_ = run_settle(tree, X, label, cases.row, cases.weight, np.empty(0), 4000)
    assert enough > len(cases.row)
    for room in range(len(cases.row), enough):
        done, *_ = run_settle(tree, X, label, cases.row, cases.weight, np.empty(0), room)
        assert done == -1
    roomy = [
        run_settle(tree, X, label, cases.row, cases.weight, np.empty(0), room)[5]
        for room in (2 * enough, 4 * enough)
    ]
    assert_array_equal(*roomy)


@pytest.mark.parametrize("seed", range(3))
def test_spread_proba(seed):
    X, _, _, _ = make(seed, n=150)
    X[0] = np.nan
    tree = small_tree()
    rng = np.random.default_rng(seed)
    value = rng.dirichlet(np.ones(3), 10)
    out = np.full((len(X), 3), 9.0)
    n_codes = np.array([1 + int(np.nanmax(x)) for x in X.T])
    spread_proba(tree, n_codes, OWN, value, X, out)
    for i in range(len(X)):
        reached = naive_settle(tree, X, 0, {i: 1.0}, OWN)
        expected = sum(
            inside[i] * value[node] for node, inside in reached.items()
            if inside and tree.kind[node] == 0
        )  # fmt: skip
        assert_allclose(out[i], expected)
    assert_allclose(out.sum(axis=1), 1.0)


def test_a_missing_value_with_a_branch_of_its_own():
    """ID3 gives the missing a branch: then no case is in parts."""
    X, label, cases, _ = make(1, nodes=1)
    tree = small_tree()
    tree.missing_child[:3] = 1, 3, 0
    done, out, _, _, count, total = run_settle(
        tree, X, label, cases.row, cases.weight, np.empty(0), 1000
    )
    assert done == len(cases.row) == count[tree.kind == 0].sum()
    assert sorted(out[0][:done]) == sorted(cases.row)
    assert_allclose(total[2].sum(), cases.weight[~(X[cases.row, 0] <= 0.2)].sum())
