"""Keys outside compiled code are those inside it."""

import numpy as np
import pytest

from arboretum.engine.keys import ALL_BITS, key_of, mix_array, seed_from, uniform_array
from arboretum.engine.rows.sample import hash_keys


@pytest.mark.parametrize("seed", [0, 1, 12345678901234567890, ALL_BITS])
def test_all_ways_to_a_key_agree(seed):
    compiled = np.empty(50, np.uint64)
    hash_keys(np.uint64(seed), compiled)
    assert compiled.tolist() == [key_of(seed, i) for i in range(50)]
    assert compiled.tolist() == mix_array(seed, np.arange(50)).tolist()


def test_a_path_is_its_steps():
    assert key_of(5) == 5
    assert key_of(-1) == ALL_BITS
    assert key_of(5, 1, 2, 3) == key_of(key_of(key_of(5, 1), 2), 3)
    assert len({key_of(5, a, b) for a in range(20) for b in range(20)}) == 400


def test_uniform_numbers_fill_the_unit_interval():
    draws = uniform_array(9, 20_000)
    assert draws.min() >= 0
    assert draws.max() < 1
    counts = np.histogram(draws, 20, (0, 1))[0]
    assert np.abs(counts - 1000).max() < 150
    assert draws[:10].tolist() == uniform_array(9, 10).tolist()


def test_seeds_follow_scikit_learns_rule():
    assert seed_from(5) == seed_from(np.int64(5)) == seed_from(np.random.RandomState(5))
    assert seed_from(5) != seed_from(6)
    assert seed_from(None) != seed_from(None)
    assert seed_from(np.random.default_rng(5)) == seed_from(np.random.default_rng(5))
    generator = np.random.RandomState(5)
    assert seed_from(generator) != seed_from(generator)
    seeds = [seed_from(i) for i in range(200)]
    assert len(set(seeds)) == 200
    assert min(seeds) >= 0
    assert max(seeds) < 2**64
