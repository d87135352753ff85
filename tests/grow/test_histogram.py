"""Trees of second order on codes: engine against the textbook, and the same bits on any threads."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.engine.second_order import histogram
from arboretum.engine.second_order.score import Features, SplitRules
from arboretum.grow.grower import GrowTarget
from arboretum.grow.histogram import HistogramGrower
from arboretum.textbook.lightgbm import LGBMSettings, grow_lgbm
from tests.grow.gradients import grow, grow_and_place, walked

NO_LIMIT = 1 << 30


def rules(**changes) -> SplitRules:
    settings = {
        "l1": 0.0,
        "l2": 0.0,
        "max_delta_step": 0.0,
        "path_smooth": 0.0,
        "min_gain": 0.0,
        "reach_gain": False,
        "min_weight": 1e-3,
        "min_rows": 1.0,
        "cat_l2": 10.0,
        "cat_smooth": 10.0,
        "cat_min_rows": 10.0,
        "max_cat_threshold": 32,
        "max_onehot": 3,
        "min_group": 100.0,
        "max_depth": NO_LIMIT,
        "max_leaves": 31,
        "depth_first": False,
        "level_columns": 0,
        "node_columns": 0,
    }
    return SplitRules(**(settings | changes))


def table(rng, n, f, values, missing=0.0, dtype=np.uint8):
    """Return small whole numbers, some missing, and their codes."""
    X = rng.integers(0, values, (n, f)).astype(float)
    X[rng.random((n, f)) < missing] = np.nan
    codes = np.where(np.isnan(X), np.iinfo(dtype).max, np.nan_to_num(X)).astype(dtype)
    return X, np.ascontiguousarray(codes.T)


def features(f, values, categories=(), monotone=()):
    return Features(
        storage=np.arange(f, dtype=np.int32),
        offset=np.zeros(f, np.int32),
        n_bins=np.full(f, values, np.int32),
        default_bin=np.full(f, -1, np.int32),
        is_category=np.isin(np.arange(f), categories),
        monotone=np.array(monotone, np.int8),
    )


def make_grower(codes, features, how, n_jobs=1, *, wide=False):
    """Return a grower on codes of one byte, or of two; 255 is missing in the codes given."""
    if not wide:
        return HistogramGrower(codes, features, how, n_jobs)
    gone = np.where(codes == 255, features.n_bins[:, None], codes).astype(np.uint16)
    return HistogramGrower(codes[:0], features, how, n_jobs, wide=gone)


def gradients(rng, n):
    """Return derivatives that the small whole numbers of histograms hold exactly."""
    return (rng.integers(-64, 65, n) / 16).astype(np.float32), np.ones(n, np.float32)


def shape_of(grown, node=0):
    """Return a tree as nested tuples (feature, bin or members, missing side, count, children)."""
    child = grown.first_child[node]
    if child < 0:
        return (int(grown.count[node]), round(float(grown.value[node]), 9))
    if grown.by_set[node]:
        bits = "".join(f"{w:032b}"[::-1] for w in grown.members[node])
        asked = tuple(b for b, bit in enumerate(bits) if bit == "1")
        side = False
    else:
        asked, side = int(grown.bin[node]), bool(grown.missing_left[node])
    return (
        int(grown.feature[node]), asked, side, shape_of(grown, child), shape_of(grown, child + 1)
    )  # fmt: skip


def textbook_shape(node, X, rows):
    if node.is_leaf:
        return (len(rows), round(float(node.output), 9))
    split = node.chosen
    x = X[rows, split.feature]
    left = split.left(x)
    if split.kind == "number":
        present = np.unique(x[~np.isnan(x)])
        below = present[present <= split.cut]
        asked, side = int(below[-1]) if len(below) else -1, split.default == "left"
        if not np.isnan(x).any():
            side = 2 * left.sum() >= len(rows)
    else:
        asked, side = tuple(int(c) for c in sorted(split.categories)), False
    return (
        split.feature, asked, side,
        textbook_shape(node.left, X, rows[left]), textbook_shape(node.right, X, rows[~left]),
    )  # fmt: skip


CASES = {
    "plain": {},
    "l2": {"reg_lambda": 1.0},
    "l1": {"reg_alpha": 2.0, "reg_lambda": 0.5},
    "rows": {"min_child_samples": 20},
    "gain": {"min_split_gain": 3.0},
    "smooth": {"path_smooth": 5.0},
    "depth": {"max_depth": 3},
    "leaves": {"num_leaves": 4},
}


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("case", CASES)
def test_trees_are_those_of_the_textbook(case, missing):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, codes = table(rng, 300, 4, 9, missing)
        g, h = gradients(rng, 300)
        changes = {"min_child_samples": 1, "num_leaves": 12} | CASES[case]
        book = grow_lgbm(X, g, h, LGBMSettings(**changes))
        depth = changes.get("max_depth", -1)
        how = rules(
            l1=changes.get("reg_alpha", 0.0),
            l2=changes.get("reg_lambda", 0.0),
            min_rows=float(changes["min_child_samples"]),
            min_gain=changes.get("min_split_gain", 0.0),
            path_smooth=changes.get("path_smooth", 0.0),
            max_depth=depth if depth > 0 else NO_LIMIT,
            max_leaves=changes["num_leaves"],
        )
        grown = grow(HistogramGrower(codes, features(4, 9), how), g, h, key=seed)
        assert shape_of(grown) == textbook_shape(book, X, np.arange(300)), seed


@pytest.mark.parametrize("few", [True, False])
def test_categories_are_those_of_the_textbook(few):
    values = 3 if few else 14
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, codes = table(rng, 900, 3, values, 0.1)
        g, h = gradients(rng, 900)
        settings = LGBMSettings(
            min_child_samples=5, num_leaves=6, min_data_per_group=20, cat_smooth=5.0
        )
        book = grow_lgbm(X, g, h, settings, categorical=(0, 2))
        how = rules(min_rows=5.0, max_leaves=6, min_group=20.0, cat_smooth=5.0, cat_min_rows=5.0)
        grown = grow(HistogramGrower(codes, features(3, values, (0, 2)), how), g, h, key=seed)
        assert shape_of(grown) == textbook_shape(book, X, np.arange(900)), seed


@pytest.mark.parametrize("wide", [False, True])
def test_threads_and_widths_make_the_same_tree(wide):
    rng = np.random.default_rng(0)
    n = 90_000  # more than one thread's share
    codes = rng.integers(0, 40, (11, n)).astype(np.uint8)
    g = rng.normal(size=n).astype(np.float32)
    h = rng.random(n).astype(np.float32)
    how = rules(max_leaves=20, min_rows=20.0, node_columns=6)
    grown = [
        grow(make_grower(codes, features(11, 40), how, jobs, wide=wide), g, h, key=7)
        for jobs in (1, 2, 3)
    ]
    for other in grown[1:]:
        for name in ("first_child", "feature", "bin", "gain", "value", "cover", "count"):
            assert np.array_equal(getattr(other, name), getattr(grown[0], name)), name


@pytest.mark.parametrize("n", [2_000, 70_000])  # sums packed and apart
def test_the_width_of_codes_changes_nothing(n):
    rng = np.random.default_rng(1)
    _, narrow = table(rng, n, 9, 40, 0.1)
    g, h = gradients(rng, n)
    how, kinds = rules(max_leaves=15), features(9, 40, (2, 7))
    one = grow(HistogramGrower(narrow, kinds, how), g, h, key=1)
    two = make_grower(narrow, kinds, how, wide=True)
    grown, placed = grow_and_place(two, g, h, key=1)
    assert shape_of(one) == shape_of(grown)
    assert np.array_equal(placed, walked(two, grown, n))


def test_wide_columns_stand_behind_the_others():
    rng = np.random.default_rng(3)
    _, codes = table(rng, 3_000, 8, 40, 0.1)
    g, h = gradients(rng, 3_000)
    how, kinds = rules(max_leaves=15), features(8, 40, (1, 4))
    one = grow(HistogramGrower(codes, kinds, how), g, h, key=1)
    wide = np.array([1, 4, 5])
    narrow = np.setdiff1d(np.arange(8), wide)
    kinds.storage[np.append(narrow, wide)] = np.arange(8)
    gone = np.where(codes[wide] == 255, 40, codes[wide]).astype(np.uint16)
    two = HistogramGrower(np.ascontiguousarray(codes[narrow]), kinds, how, wide=gone)
    assert two.store.starts.tolist() == list(range(0, 9 * 41, 41))
    assert shape_of(grow(two, g, h, key=1)) == shape_of(one)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("min_rows", [0.0, 1.0, 12.0])
def test_packed_sums_give_the_trees_of_sums_apart(missing, min_rows, monkeypatch):
    rng = np.random.default_rng(7)
    n = 2_000
    _, codes = table(rng, n, 5, 200, missing)
    g, h = gradients(rng, n)
    h *= (rng.integers(1, 17, n) / 16).astype(np.float32)  # rows differ in what they stand for
    how = rules(max_leaves=63, min_rows=min_rows)
    packed = grow(HistogramGrower(codes, features(5, 200), how), g, h, key=0)
    monkeypatch.setattr(histogram, "FULL", 0)  # no table is small enough
    apart = grow(HistogramGrower(codes, features(5, 200), how), g, h, key=0)
    assert len(packed) > 60
    assert shape_of(packed) == shape_of(apart)


def test_depth_first_fills_levels_before_it_goes_down():
    rng = np.random.default_rng(2)
    _, codes = table(rng, 500, 4, 30)
    g, h = gradients(rng, 500)
    how = rules(max_leaves=8, depth_first=True)
    grown = grow(HistogramGrower(codes, features(4, 30), how), g, h, key=0)
    depth = np.zeros(len(grown.first_child), int)
    for node, child in enumerate(grown.first_child):
        if child >= 0:
            depth[child : child + 2] = depth[node] + 1
    leaves = depth[grown.first_child < 0]
    assert leaves.max() - leaves.min() <= 1


def test_monotone_answers_follow_the_sign():
    rng = np.random.default_rng(3)
    X, codes = table(rng, 2_000, 3, 20)
    g = (-(X[:, 0] + rng.normal(size=2_000) * 8)).astype(np.float32)
    h = np.ones(2_000, np.float32)
    how = rules(max_leaves=16)
    grown = grow(HistogramGrower(codes, features(3, 20, monotone=(1, 0, 0)), how), g, h, key=0)
    scores = np.zeros(20)
    for c in range(20):
        codes_here = np.array([[c], [7], [7]], np.uint8)
        other = HistogramGrower(codes_here, features(3, 20, monotone=(1, 0, 0)), how)
        scores[c] = walked(other, grown, 1)[0]
    assert (np.diff(scores) >= 0).all()
    assert np.ptp(scores) > 0


def test_groups_keep_features_apart():
    rng = np.random.default_rng(4)
    _, codes = table(rng, 3_000, 4, 16)
    g, h = gradients(rng, 3_000)
    groups = np.array([[1], [1], [2], [2]], np.uint64)
    how = rules(max_leaves=24)
    grown = grow(HistogramGrower(codes, features(4, 16), how, groups=groups), g, h, key=0)

    def paths(node, seen):
        child = grown.first_child[node]
        if child < 0:
            assert seen <= {0, 1} or seen <= {2, 3}, seen
            return
        for side in range(2):
            paths(child + side, seen | {int(grown.feature[node])})

    paths(0, set())


def test_rows_left_out_reach_the_leaf_of_their_codes():
    rng = np.random.default_rng(5)
    _, codes = table(rng, 1_000, 3, 25, 0.1)
    g, h = gradients(rng, 1_000)
    grower = HistogramGrower(codes, features(3, 25), rules(max_leaves=10))
    grown, placed = grow_and_place(grower, g, h)
    assert np.array_equal(placed, walked(grower, grown, 1_000))
    some = np.arange(0, 1_000, 3, dtype=np.uint32)  # others find their leaves by their codes
    grown, placed = grow_and_place(grower, g, h, rows=some)
    assert np.array_equal(placed, walked(grower, grown, 1_000))


def test_bundled_columns_are_asked_as_if_they_stood_alone():
    rng = np.random.default_rng(6)
    n = 2_000
    which, level = rng.integers(0, 4, n), rng.integers(1, 6, n)
    X = np.zeros((n, 3), int)
    for f in range(3):
        X[which == f, f] = level[which == f]
    g, h = gradients(rng, n)
    how = rules(max_leaves=12)
    alone = grow(
        HistogramGrower(np.ascontiguousarray(X.T).astype(np.uint8), features(3, 6), how),
        g,
        h,
        key=0,
    )
    bundle = np.where(which < 3, 1 + 5 * which + level - 1, 0).astype(np.uint8)[None]
    together = Features(
        storage=np.zeros(3, np.int32),
        offset=np.array([1, 6, 11], np.int32),
        n_bins=np.full(3, 6, np.int32),
        default_bin=np.zeros(3, np.int32),
        is_category=np.zeros(3, bool),
        monotone=np.empty(0, np.int8),
    )
    grower = HistogramGrower(bundle, together, how)
    grown, placed = grow_and_place(grower, g, h)
    assert shape_of(grown) == shape_of(alone)
    assert np.array_equal(placed, walked(grower, grown, n))


FIGURES = ("first_child", "feature", "bin", "gain", "value", "cover", "count")


def same(one, other):
    for name in FIGURES:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.array_equal(one.members[one.by_set], other.members[other.by_set])


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("columns", [1, 3, 9, 20, 35])
def test_any_number_of_threads_on_any_number_of_columns(columns, wide, monkeypatch):
    """More threads than cores: tiles, blocks and merged pieces of all shapes."""
    from arboretum.engine import team

    rng = np.random.default_rng(columns)
    n = 70_000
    codes = rng.integers(0, 30, (columns, n)).astype(np.uint8)
    g, h = rng.normal(size=n).astype(np.float32), rng.random(n).astype(np.float32)
    how = rules(max_leaves=9, min_rows=20.0)
    one = grow(HistogramGrower(codes, features(columns, 30, (0,)), how), g, h, key=3)
    monkeypatch.setattr(team, "crew", lambda n_jobs: n_jobs)
    for jobs in (2, 3, 5):
        kinds = features(columns, 30, (0,))
        same(one, grow(make_grower(codes, kinds, how, jobs, wide=wide), g, h, key=3))


def test_leaves_without_room_for_histograms_are_counted_again():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 50, (6, 3_000)).astype(np.uint8)
    g, h = gradients(rng, 3_000)
    how = rules(max_leaves=200, min_rows=2.0)
    with_room = grow(HistogramGrower(codes, features(6, 50), how), g, h, key=0)
    grower = HistogramGrower(codes, features(6, 50), how, pool=1)
    same(with_room, grow(grower, g, h, key=0))
    assert len(grower._tree.hists) == 8


def test_every_row_has_its_leaf():
    rng = np.random.default_rng(5)
    n = 40_000
    codes = rng.integers(0, 50, (4, n)).astype(np.uint8)
    g, h = gradients(rng, n)
    grower = HistogramGrower(codes, features(4, 50), rules(max_leaves=25), 2)
    grown = grower.grow(GrowTarget(g, h=h), None, 0)
    leaves = np.flatnonzero(grown.tree.first_child < 0)
    many = np.bincount(grown.leaf_of_row, minlength=len(grown.tree))
    assert many[leaves].tolist() == grown.tree.count[leaves].tolist()
    assert many.sum() == n == many[leaves].sum()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_derivatives_that_are_no_numbers_are_refused(bad):
    from arboretum.errors import DataError

    rng = np.random.default_rng(6)
    codes = rng.integers(0, 50, (2, 100)).astype(np.uint8)
    g, h = gradients(rng, 100)
    grower = HistogramGrower(codes, features(2, 50), rules())
    for which in (0, 1):
        given = [g.copy(), h.copy()]
        given[which][17] = bad
        with pytest.raises(DataError, match="must be finite"):
            grow(grower, *given, key=0)
    h[3] = -1.0
    with pytest.raises(DataError, match="not negative"):
        grow(grower, g, h, key=0)
    h[3] = -0.0
    assert len(grow(grower, g, h, key=0)) > 1


@pytest.mark.parametrize("columns", [5, 9, 11, 19, 33])
def test_places_that_no_column_fills_count_for_nothing(columns):
    rng = np.random.default_rng(columns)
    X, codes = table(rng, 400, columns, 7, 0.1)
    g, h = gradients(rng, 400)
    book = grow_lgbm(X, g, h, LGBMSettings(min_child_samples=5, num_leaves=10))
    grower = HistogramGrower(codes, features(columns, 7), rules(min_rows=5.0, max_leaves=10))
    for _ in range(2):
        grown = grow(grower, g, h, key=0)
        assert shape_of(grown) == textbook_shape(book, X, np.arange(400))
