"""The integer grid a search adds up, and the figures of a node, against plain NumPy."""

import numpy as np
import pytest

from arboretum.engine.split import statistic as stat
from arboretum.grow.criterion import Statistic, make_statistic
from arboretum.grow.grower import GrowTarget

NONE = np.empty(0)
FREE = np.array([[-np.inf, np.inf]])


def _statistic(y, criterion, classes=None, weights=NONE, **rules) -> Statistic:
    y = np.asarray(y)
    y = y[:, None] if y.ndim == 1 else y
    if classes is not None:
        y, classes = y.astype(np.int32), np.atleast_1d(classes)
    target = GrowTarget(np.ascontiguousarray(y), classes, np.asarray(weights, dtype=float))
    return make_statistic(target, criterion, stat.SearchRules(**rules))


def _lay_out(statistic: Statistic, positions: np.ndarray, start=None, end=None):
    start = np.array([0]) if start is None else np.asarray(start)
    end = np.array([len(positions)]) if end is None else np.asarray(end)
    statistic.row.id[:] = positions
    return statistic.prepare(start, end, np.repeat(FREE, len(start), axis=0))


def _positions(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.uint32)


# ---------------------------------------------------------------------- numbers on the grid
TARGETS = {
    "normal": np.random.default_rng(0).normal(size=300),
    "large": np.random.default_rng(1).normal(size=300) * 1e100,
    "small": np.random.default_rng(2).normal(size=300) * 1e-99,
    "an offset": 1e9 + np.random.default_rng(3).normal(size=300),
    "mixed": np.random.default_rng(4).normal(size=300)
    * 10.0 ** np.random.default_rng(5).integers(-90, 90, 300),
    "constant": np.full(300, 3.7),
    "two values": np.arange(300) % 2 * 1.0,
    "whole": np.random.default_rng(6).integers(-(10**6), 10**6, 300).astype(float),
}
WEIGHTS = {
    "none": NONE,
    "whole": np.random.default_rng(7).integers(1, 50, 300).astype(float),
    "real": np.random.default_rng(8).exponential(size=300),
    "tiny": np.random.default_rng(9).exponential(size=300) * 1e-90 + 1e-95,
    "huge": np.random.default_rng(10).exponential(size=300) * 1e90,
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("target", TARGETS)
def test_numbers_fill_the_grid_and_never_overflow(target, weights):
    y, w = TARGETS[target], WEIGHTS[weights]
    statistic = _statistic(y, stat.SQUARED, weights=w)
    nodes = _lay_out(statistic, _positions(300))
    number = statistic.row.number[:, 0]
    exact = [int(v) for v in number]
    assert sum(map(abs, exact)) < 2**62  # no partial sum can overflow
    assert nodes.total[0, 0] == sum(exact)
    if weights != "none":
        on_grid = [int(v) for v in statistic.row.weight]
        assert nodes.weight[0] == sum(on_grid) < 2**62
        back = np.ldexp(np.array(on_grid, float), -nodes.weight_shift[0])
        np.testing.assert_allclose(back, w, rtol=0, atol=w.sum() * 2.0**-52)
    else:
        assert nodes.weight[0] == 300
    if target != "constant":
        scale = nodes.sum_shift[0]
        wanted = (y - nodes.centre[0, 0]) * (w if len(w) else 1.0)
        error = np.abs(np.ldexp(number.astype(float), -scale) - wanted)
        assert error.max() <= np.abs(wanted).max() * 300 * 2.0**-50
        assert max(map(abs, exact)) > 2**40  # and the grid is not wasted
    else:
        assert not number.any()


def test_sums_do_not_depend_on_the_order_of_the_rows():
    y, w = TARGETS["mixed"], WEIGHTS["real"]
    totals = set()
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(300)
        nodes = _lay_out(_statistic(y[order], stat.SQUARED, weights=w[order]), _positions(300))
        totals.add((int(nodes.total[0, 0]), int(nodes.weight[0]), int(nodes.sum_shift[0])))
    assert len(totals) == 1


def test_every_node_has_its_own_grid():
    y = np.concatenate([np.linspace(0, 1e-30, 50), np.linspace(1e30, 2e30, 50)])
    statistic = _statistic(y, stat.SQUARED)
    nodes = _lay_out(statistic, _positions(100), [0, 50], [50, 100])
    for k, part in enumerate((slice(0, 50), slice(50, 100))):
        number = statistic.row.number[part, 0].astype(float)
        back = nodes.centre[k, 0] + np.ldexp(number, -nodes.sum_shift[k])
        np.testing.assert_allclose(back, y[part], rtol=1e-13, atol=1e-30 * 1e-13)


def test_poisson_counts_from_zero():
    y = np.array([0.0, 1, 2, 3, 10])
    nodes = _lay_out(_statistic(y, stat.POISSON), _positions(5))
    assert nodes.centre[0, 0] == 0.0
    assert np.ldexp(float(nodes.total[0, 0]), -int(nodes.sum_shift[0])) == 16.0


def test_outputs_share_one_grid():
    rng = np.random.default_rng(0)
    y = np.column_stack([rng.normal(size=200), 1e6 * rng.normal(size=200)])
    statistic = _statistic(y, stat.SQUARED)
    nodes = _lay_out(statistic, _positions(200))
    back = nodes.centre[0] + np.ldexp(statistic.row.number.astype(float), -nodes.sum_shift[0])
    np.testing.assert_allclose(back, y, atol=1e6 * 2.0**-40)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_the_least_weight_is_put_on_the_grid_rounded_up(weights, share):
    w = WEIGHTS[weights]
    total = w.sum() if len(w) else 300.0
    statistic = _statistic(TARGETS["normal"], stat.SQUARED, weights=w, min_weight=share * total)
    nodes = _lay_out(statistic, _positions(300))
    least = float(nodes.min_weight[0])
    assert least >= share * total * 2.0 ** float(nodes.weight_shift[0]) * (1 - 1e-15)
    assert least == pytest.approx(share * float(nodes.weight[0]), rel=1e-12, abs=1)


# ---------------------------------------------------------------------- classes
@pytest.mark.parametrize("criterion", [stat.GINI, stat.ENTROPY])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_classes_are_counted(criterion, n_classes, weights):
    rng = np.random.default_rng(n_classes)
    y, w = rng.integers(0, n_classes, 300), WEIGHTS[weights]
    statistic = _statistic(y, criterion, classes=n_classes, weights=w)
    positions = rng.permutation(300).astype(np.uint32)
    nodes = _lay_out(statistic, positions, [0, 120], [120, 300])
    each = w if len(w) else np.ones(300)
    for k, part in enumerate((slice(0, 120), slice(120, 300))):
        rows = positions[part]
        expected = np.bincount(y[rows], weights=each[rows], minlength=n_classes)
        found = np.ldexp(nodes.total[k].astype(float), -nodes.weight_shift[k])
        if len(found) == 1:  # two classes: the weight of class 1 says it all
            expected = expected[1:]
        np.testing.assert_allclose(found, expected, rtol=1e-11)
        if weights != "real":
            np.testing.assert_array_equal(found, expected)
        weight = np.ldexp(float(nodes.weight[k]), -int(nodes.weight_shift[k]))
        assert weight == pytest.approx(each[rows].sum(), rel=1e-12)


def test_classes_of_several_outputs_have_channels_of_their_own():
    y = np.array([[0, 2], [1, 0], [0, 1], [1, 2]])
    nodes = _lay_out(_statistic(y, stat.GINI, classes=[2, 3]), _positions(4))
    assert nodes.total[0].tolist() == [2, 2, 1, 1, 2]


# ---------------------------------------------------------------------- describing a node
def _gini(share):
    return 1 - np.sum(share**2)


def _entropy(share):
    share = share[share > 0]
    return -np.sum(share * np.log2(share))


@pytest.mark.parametrize(("criterion", "impurity"), [(stat.GINI, _gini), (stat.ENTROPY, _entropy)])
@pytest.mark.parametrize("weights", ["none", "real"])
def test_class_shares_and_impurity(criterion, impurity, weights):
    rng = np.random.default_rng(1)
    y, w = np.column_stack([rng.integers(0, 3, 300), rng.integers(0, 4, 300)]), WEIGHTS[weights]
    statistic = _statistic(y, criterion, classes=[3, 4], weights=w)
    positions = rng.permutation(300).astype(np.uint32)
    start, end = np.array([0, 200, 299]), np.array([200, 299, 300])
    statistic.row.id[:] = positions
    value, weight, found = statistic.describe(start, end)
    each = w if len(w) else np.ones(300)
    for k in range(3):
        rows = positions[start[k] : end[k]]
        assert weight[k] == pytest.approx(each[rows].sum())
        expected = []
        for o, n in enumerate((3, 4)):
            share = np.bincount(y[rows, o], weights=each[rows], minlength=n) / each[rows].sum()
            np.testing.assert_allclose(value[k, o, :n], share, atol=1e-15)
            assert not value[k, o, n:].any()
            expected.append(impurity(share))
        assert found[k] == pytest.approx(np.mean(expected), abs=1e-14)


def _median(y, w):
    """The mean of the lower and the upper weighted median."""
    order = np.argsort(y)
    y, below = y[order], np.cumsum(w[order])
    half = below[-1] / 2
    low = y[np.searchsorted(below, half)]
    return (low + y[min(np.searchsorted(below, half, side="right"), len(y) - 1)]) / 2


def _expected(criterion, y, w):
    mean = np.average(y, weights=w)
    if criterion == stat.ABSOLUTE:
        middle = _median(y, w)
        return middle, np.average(np.abs(y - middle), weights=w)
    if criterion == stat.POISSON:
        logs = np.log(np.where(y > 0, y, 1.0) / mean) if mean > 0 else np.zeros_like(y)
        return mean, np.average(y * logs, weights=w)
    return mean, np.average((y - mean) ** 2, weights=w)


@pytest.mark.parametrize("criterion", [stat.SQUARED, stat.FRIEDMAN, stat.POISSON, stat.ABSOLUTE])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_mean_or_median_and_impurity(criterion, weights):
    rng = np.random.default_rng(2)
    y, w = rng.poisson(2.0, size=(300, 2)).astype(float), WEIGHTS[weights]
    statistic = _statistic(y, criterion, weights=w)
    start, end = np.array([0]), np.array([300])
    value, weight, impurity = statistic.describe(start, end)
    each = w if len(w) else np.ones(300)
    figures = [_expected(criterion, y[:, o], each) for o in range(2)]
    np.testing.assert_allclose(value[0, :, 0], [f[0] for f in figures], rtol=1e-12)
    assert impurity[0] == pytest.approx(np.mean([f[1] for f in figures]), rel=1e-10)
    assert weight[0] == pytest.approx(each.sum())


def test_a_constant_node_is_pure_to_the_last_bit():
    y = np.full(1000, 0.1)
    for criterion in (stat.SQUARED, stat.ABSOLUTE, stat.POISSON):
        value, _, impurity = _statistic(y, criterion).describe(np.array([0]), np.array([1000]))
        assert impurity[0] == 0.0
        assert value[0, 0, 0] == 0.1


def test_variance_of_an_offset_keeps_its_digits():
    y = 1e9 + np.array([0.0, 1e-3, 2e-3, 3e-3] * 25)
    _, _, impurity = _statistic(y, stat.SQUARED).describe(np.array([0]), np.array([100]))
    assert impurity[0] == pytest.approx(np.var(y - 1e9), rel=1e-6)
