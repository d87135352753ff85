"""Both engines against the protocol of `grow.cluster`: replies, errors, deaths, renewal."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from arboretum.distributed.dask_cluster import DaskCluster
from arboretum.distributed.ray_cluster import RayCluster
from arboretum.errors import ArboretumError, DataError
from arboretum.grow.cluster import Lost
from tests.distributed.dummies import Tallies


@pytest.fixture(params=["dask", "ray"])
def cluster(request):
    if request.param == "dask":
        found = DaskCluster(request.getfixturevalue("client"))
    else:
        request.getfixturevalue("ray")
        found = RayCluster(3, 1)
    yield found
    found.close()


def _until_renewed(cluster, lost):
    """Renew until all live again."""
    for _ in range(10):
        try:
            cluster.renew(lost)
            return cluster.call("total")
        except Lost as more:
            lost = more.which
    raise AssertionError("objects cannot be made anew")


def test_calls_errors_and_deaths(cluster):
    cluster.place(Tallies, [(1, 2), (10,), ()], ["numbers a", "number b", "none"])
    assert len({worker.name for worker in cluster.workers()}) >= 1
    assert [worker.threads for worker in cluster.workers()] == [1, 1, 1]
    assert cluster.call("total", 1) == [4, 11, 1]
    assert cluster.call("threads") == [1, 1, 1]
    array = np.arange(100_000.0)
    assert all(np.array_equal(2 * array, found) for found in cluster.call("twice", array))

    # an object's own error comes back as itself, with its object, its worker and its traceback
    with pytest.raises(DataError, match="a row is odd") as error:
        cluster.call_some([1], "fail")
    where = "\n".join(error.value.__notes__)
    assert "number b on" in where
    assert 'raise DataError("a row is odd")' in where

    # a death during a call
    with pytest.raises(Lost) as lost:
        cluster.call("die", 10)
    assert 1 in lost.value.which
    assert lost.value.replies.get(0, [1, 2]) == [1, 2]
    assert _until_renewed(cluster, lost.value.which) == [3, 10, 0]

    # a death between calls, noticed at once by the next
    (pid,) = cluster.call_some([0], "slow", 0)
    os.kill(pid, signal.SIGKILL)
    time.sleep(0.2)
    began = time.monotonic()
    with pytest.raises(Lost) as lost:
        cluster.call("total")
    assert time.monotonic() - began < 15
    assert 0 in lost.value.which
    assert _until_renewed(cluster, lost.value.which) == [3, 10, 0]

    # a worker that gives no sign of life, if there is a limit
    cluster.patience = 1.0
    with pytest.raises(Lost) as lost:
        cluster.call_each("slow", {0: (0,), 1: (3,)})
    assert 1 in lost.value.which
    cluster.close()

    # an object that cannot be made
    cluster.patience = None
    cluster.place(Tallies, [(1,), ("bad",)], ["good", "a bad one"])
    with pytest.raises(DataError, match="a bad number") as error:
        cluster.call("total")
    assert "a bad one on" in "\n".join(error.value.__notes__)


def test_two_at_once_take_turns(client):
    def other(found):
        twin = DaskCluster(client)
        found += twin.place(Tallies, [(5,), (6,)]).call("total")
        twin.close()

    cluster = DaskCluster(client)
    cluster.place(Tallies, [(1,), (2,)])
    found: list = []
    thread = threading.Thread(target=other, args=(found,))
    thread.start()
    for _ in range(20):
        assert cluster.call("total") == [1, 2]
    thread.join(60)
    assert found == [5, 6]
    cluster.close()


def test_ray_gives_all_actors_or_none(ray):
    greedy = RayCluster(1, 3)
    greedy.place(Tallies, [(1,)])
    with pytest.raises(ArboretumError, match="needs 2 actors of 1 at the same time"):
        RayCluster(2, 1, grace=0.5).place(Tallies, [(1,), (2,)])
    assert greedy.call("threads") == [3]
    greedy.close()


def test_dask_goes_through_the_scheduler_where_workers_cannot_be_reached(client, monkeypatch):
    cluster = DaskCluster(client)
    monkeypatch.setattr(cluster, "_can_connect", lambda handle: False)
    cluster.place(Tallies, [(1,), (2,)])
    assert cluster.call("total") == [1, 2]
    assert np.array_equal(cluster.call("twice", np.ones(3))[1], [2, 2, 2])
    with pytest.raises(Lost) as lost:
        cluster.call("die", 2)
    assert _until_renewed(cluster, lost.value.which) == [1, 2]
    cluster.close()


def test_lazy_arguments_become_values_and_their_errors_come_back(client):
    import dask

    cluster = DaskCluster(client)
    cluster.place(Tallies, [(dask.delayed(np.arange)(4), 1), (dask.delayed(np.arange)(0),)])
    assert cluster.call("total") == [7, 0]
    with pytest.raises(Lost) as lost:
        cluster.call("die", 6)
    assert _until_renewed(cluster, lost.value.which) == [7, 0]  # read again
    cluster.place(Tallies, [(dask.delayed(int)("x"),)])
    with pytest.raises(ValueError, match="invalid literal"):
        cluster.call("total")
    cluster.close()
