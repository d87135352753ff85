"""Boosters on Dask and Ray: the file of the local fit for any partition, number of workers, and kill."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from contextlib import contextmanager, suppress
from functools import partial

import numpy as np
import pytest
from distributed import futures_of

import arboretum
from arboretum.distributed import boosting, local
from arboretum.distributed import dask as adapter
from arboretum.distributed.dask_cluster import DaskCluster
from arboretum.distributed.ray import actors
from arboretum.errors import DataError
from tests.distributed.dummies import MortalTables, NamedTables
from tests.distributed.test_boosting import table, to_bytes


@pytest.fixture(autouse=True)
def _not_gathered(monkeypatch):
    monkeypatch.setattr(local, "FEW", 0)


@contextmanager
def on_workers(engine, number, monkeypatch):
    """Let fits use so many workers."""
    if engine == "ray":
        with actors(number, 1):
            yield
        return
    workers = DaskCluster.workers
    with monkeypatch.context() as patch:
        patch.setattr(DaskCluster, "workers", lambda self: workers(self)[:number])
        yield


def collected(engine, request, frame, partitions):
    """Return a frame as a collection."""
    if engine == "dask":
        import dask.dataframe as dd

        request.getfixturevalue("client")
        return dd.from_pandas(frame, npartitions=partitions, sort=False)
    request.getfixturevalue("ray")
    import ray

    edges = np.arange(partitions + 1) * len(frame) // partitions
    return ray.data.from_pandas([frame[a:b] for a, b in itertools.pairwise(edges)])


def boosted(X, y, weight, held, **more):
    model = arboretum.LGBMClassifier(**{"n_estimators": 4, "num_leaves": 6, **more})
    return to_bytes(model.fit(X, y, sample_weight=weight, eval_set=held))


LAYOUTS = [(1, 2), (2, 7), (3, 50), (3, 1)]
_ON_RAY = [  # its actors take seconds to start
    pytest.param("ray", *one, marks=[pytest.mark.slow] * (one != (2, 7))) for one in LAYOUTS
]


@pytest.mark.parametrize(
    ("engine", "number", "partitions"), [*(("dask", *one) for one in LAYOUTS), *_ON_RAY]
)
def test_any_partition_on_any_number_of_workers(engine, number, partitions, request, monkeypatch):
    X, y, w = table()
    expected = boosted(X, y, w, [(X, y), (X[:50], y[:50])])
    whole = collected(engine, request, X.assign(y=y, w=w), partitions)
    held = collected(engine, request, X[:50].assign(y=y[:50]), 2)
    with on_workers(engine, number, monkeypatch):
        assert boosted(whole, "y", "w", [(whole, "y"), (held, "y")]) == expected


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_workers_are_killed_while_trees_grow(engine, request, monkeypatch, tmp_path):
    X, y, w = table()
    expected = boosted(X, y, w, None)
    whole = collected(engine, request, X.assign(y=y, w=w), 7)
    for k in range(2):
        (tmp_path / f"kill {k}").touch()
    monkeypatch.setattr(boosting, "TablesOnWorker", partial(MortalTables, str(tmp_path)))
    with on_workers(engine, 2, monkeypatch):
        assert boosted(whole, "y", "w", None) == expected
    assert list(tmp_path.iterdir()) == []


def test_dask_arrays_and_two_fits_at_once(client):
    import dask.array as da

    X, y, _ = table(500)
    values, labels = X[["a", "b", "c"]].to_numpy(), (y == "yes").to_numpy().astype(float)
    expected = to_bytes(arboretum.XGBRegressor(n_estimators=5).fit(values, labels))
    given = da.from_array(values, ((200, 0, 120, 180), (2, 1))), da.from_array(labels, 70)
    found = []

    def fit():
        found.append(to_bytes(arboretum.XGBRegressor(n_estimators=5).fit(*given)))

    threads = [threading.Thread(target=fit) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(120)
    assert found == [expected, expected]


def test_partitions_in_memory_stay_on_their_workers(client, request):
    X, y, w = table()
    whole = collected("dask", request, X.assign(y=y, w=w), 7).persist()
    cluster = DaskCluster(client)
    homes = adapter.homes_of(whole[["a", "y"]], cluster)
    where = client.who_has(futures_of(whole))
    assert homes == [where[key][0] for key in sorted(where)]
    assert adapter.homes_of(whole.repartition(npartitions=3), cluster) == []
    assert adapter.homes_of(collected("dask", request, X, 2), cluster) == []
    assert boosted(whole, "y", "w", None) == boosted(X, y, w, None)


@pytest.mark.parametrize("engine", ["dask", pytest.param("ray", marks=pytest.mark.slow)])
def test_errors_name_the_partition_and_the_worker(engine, request):
    X, y, _ = table()
    X.loc[299, "a"] = np.inf
    whole = collected(engine, request, X.assign(y=y), 3)
    with actors(2, 1), pytest.raises(DataError, match=r"partition 2: .*infinite") as error:
        arboretum.XGBClassifier().fit(whole, "y")
    notes = "\n".join(error.value.__notes__)
    assert f"on {engine.capitalize()} " in notes
    assert "partitions " in notes


def test_rows_that_are_known_without_computing(client):
    import dask.array as da
    import dask.dataframe as dd

    X, _, _ = table(30)
    ddf = dd.from_pandas(X[["a", "b"]], npartitions=2)
    assert adapter.known_rows(ddf) is None
    assert adapter.known_rows(ddf.to_dask_array()) is None
    assert adapter.known_rows(da.zeros((40, 3), chunks=7)) == 40


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_any_workers_are_killed_at_any_time(engine, request, monkeypatch):
    X, y, w = table(60_000)
    expected = boosted(X, y, w, None, n_estimators=40)
    whole = collected(engine, request, X.assign(y=y, w=w), 7)
    pids: dict[int, int] = {}
    place = boosting.Workers.__init__

    def placed(self, *arguments):
        place(self, *arguments)
        pids.update(enumerate(self.call("pid")))

    monkeypatch.setattr(boosting, "TablesOnWorker", NamedTables)
    monkeypatch.setattr(boosting.Workers, "__init__", placed)
    rng = np.random.default_rng(0)
    for turn in range(6):
        pids.clear()
        ended = threading.Event()

        times = rng.uniform(0.0, 1.5, 2)

        def kill(times=times, turn=turn, ended=ended):
            for k, seconds in enumerate(times):
                while not pids and not ended.is_set():
                    time.sleep(0.01)
                if not ended.wait(seconds):
                    with suppress(ProcessLookupError):
                        os.kill(pids[(turn + k) % len(pids)], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        with on_workers(engine, 3, monkeypatch):
            found = boosted(whole, "y", "w", None, n_estimators=40)
        ended.set()
        killer.join()
        assert found == expected, turn


@pytest.mark.slow
def test_ten_thousand_partitions(client):
    import dask.array as da

    values = np.random.default_rng(0).random((30_000, 3))
    labels = values[:, 0] + values[:, 1] ** 2
    expected = arboretum.LGBMRegressor(n_estimators=3).fit(values, labels)
    found = arboretum.LGBMRegressor(n_estimators=3)
    found.fit(da.from_array(values, (3, 3)), da.from_array(labels, 30_000))
    assert to_bytes(found) == to_bytes(expected)


@pytest.mark.parametrize("name", ["LGBMRegressor", "XGBRegressor", "LGBMRanker", "XGBRanker"])
def test_names_of_the_peers(name, client, request):
    X, y, _ = table()
    y = (y == "yes").astype(int)
    ranks = {"group": [100] * 3} if name.endswith("Ranker") else {}
    expected = getattr(arboretum, name)(n_estimators=3).fit(X, y, **ranks)
    model = getattr(adapter, f"Dask{name}")(client=client, n_estimators=3)
    whole = collected("dask", request, X.assign(y=y), 4)  # partitions end inside groups
    assert to_bytes(model.fit(whole, "y", **ranks)) == to_bytes(expected)
