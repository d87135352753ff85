"""Keyed random numbers: the same for the same key, different and even otherwise."""

import numpy as np
import pytest

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.random import child_keys, draw_features, mix, uniform


@kernel
def _draw(key, out):
    for i in range(len(out)):
        out[i] = uniform(mix(key, np.uint64(i)))


@kernel
def _bits(key, out):
    for i in range(len(out)):
        out[i] = mix(key, np.uint64(i))


def _uniforms(key: int, n: int) -> np.ndarray:
    out = np.empty(n)
    _draw(np.uint64(key), out)
    return out


def _mix(key: int, counter: int) -> int:
    """SplitMix64's finaliser in Python's own integers."""
    mask = (1 << 64) - 1
    z = (key + (counter + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


@pytest.mark.parametrize("key", [0, 1, 42, 2**63, 2**64 - 1])
def test_bits_are_those_of_the_formula(key):
    out = np.empty(100, np.uint64)
    _bits(np.uint64(key), out)
    assert out.tolist() == [_mix(key, i) for i in range(100)]


def test_the_first_bits_never_change():
    """A model fitted with a seed must be the same in every version: these numbers are a promise."""
    out = np.empty(3, np.uint64)
    _bits(np.uint64(0), out)
    assert [f"{v:016x}" for v in out] == [
        "e220a8397b1dcdaf",
        "6e789e6aa1b965f4",
        "06c45d188009454f",
    ]


def test_uniform_is_even_and_inside_the_unit_interval():
    u = _uniforms(12345, 200_000)
    assert u.min() >= 0.0
    assert u.max() < 1.0
    np.testing.assert_allclose(u.mean(), 0.5, atol=0.003)
    np.testing.assert_allclose(u.var(), 1 / 12, atol=0.001)
    counts = np.bincount((u * 100).astype(int), minlength=100)
    chi_squared = np.sum((counts - 2000) ** 2 / 2000)
    assert 50 < chi_squared < 170  # 99 degrees of freedom


def test_uniform_reaches_both_ends():
    ends = np.array([uniform(np.uint64(0)), uniform(np.uint64(2**64 - 1))])
    np.testing.assert_array_equal(ends, [0.0, 1.0 - 2.0**-53])


def test_neighbouring_counters_and_keys_are_unrelated():
    a, b = _uniforms(7, 50_000), _uniforms(8, 50_000)
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.02
    assert abs(np.corrcoef(a[:-1], a[1:])[0, 1]) < 0.02
    np.testing.assert_array_equal(a, _uniforms(7, 50_000))


def test_child_keys_depend_on_parent_and_side_only():
    parents = np.array([3, 9, 3], np.uint64)
    keys = np.empty(6, np.uint64)
    child_keys(parents, keys)
    assert keys.tolist() == [_mix(p, side) for p in (3, 9, 3) for side in (0, 1)]
    assert len(set(keys.tolist())) == 4


def test_draw_features_are_permutations_of_equal_chance():
    n_nodes, n = 24_000, 4
    order = np.empty((n_nodes, n), np.int64)
    draw_features(np.arange(n_nodes, dtype=np.uint64), order)
    np.testing.assert_array_equal(np.sort(order, axis=1), np.tile(np.arange(n), (n_nodes, 1)))
    code = order @ [64, 16, 4, 1]
    counts = np.unique(code, return_counts=True)[1]
    assert len(counts) == 24
    assert np.sum((counts - 1000) ** 2 / 1000) < 60  # 23 degrees of freedom


def test_draw_features_of_one_column():
    order = np.full((3, 1), 9)
    draw_features(np.arange(3, dtype=np.uint64), order)
    np.testing.assert_array_equal(order, 0)
