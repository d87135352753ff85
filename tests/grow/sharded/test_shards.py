"""Arrays of all rows in shards: cut and joined, whatever the spans are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arboretum.errors import WorkerError
from arboretum.grow.cluster import Died, InProcess
from arboretum.grow.sharded.shards import Shards
from tests.grow.sharded.in_shards import cut_into


@given(n=st.integers(1, 60), k=st.integers(1, 9), seed=st.integers(0, 99), data=st.data())
def test_arrays_are_cut_and_joined(n, k, seed, data):
    shards = Shards(InProcess(), cut_into(n, k, seed), None)
    assert shards.n_rows == n
    values = np.arange(n) * 10
    parts = shards.cut(values)
    assert [len(part) for part in parts] == shards.sizes
    assert shards.join(parts).tolist() == values.tolist()
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1)))), np.uint32)
    for part, (own, places) in zip(parts, shards.pick(rows.astype(np.int64)), strict=True):
        assert part[own].tolist() == (10 * rows[places]).tolist()
    found = shards.cut_rows(rows, rows.astype(np.float32))
    for part, (bits, factor) in zip(parts, found, strict=True):
        own = np.unpackbits(bits, count=len(part)).astype(bool)
        assert (part[own] == 10 * factor).all()
    assert sorted(np.concatenate([factor for _, factor in found]).tolist()) == rows.tolist()
    assert all(len(factor) == 0 for _, factor in shards.cut_rows(rows, np.empty(0, np.float32)))


class Mortal:
    """Dies whenever it is made ready."""

    def prepare(self, rules):
        raise Died


def test_a_shard_that_never_lives():
    cluster = InProcess().place(Mortal, [()], ["partitions 3, 4"])
    shards = Shards(cluster, [np.array([[0, 5000]])], cluster.renew)
    with pytest.raises(
        WorkerError, match=r"partitions 3, 4 \(5000 rows\) was lost 3 times"
    ) as error:
        shards.prepare(None)
    assert "this process: memory not known" in str(error.value)
