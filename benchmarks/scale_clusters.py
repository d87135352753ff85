"""Boosting on Dask and Ray clusters beside the local fit, and beside LightGBM's and XGBoost's Dask modules.

    python -m benchmarks.scale_clusters                        # 2,000,000 × 28, 50 trees, five turns
    python -m benchmarks.scale_clusters --rows 500000 --turns 3 --only dask ray

All fits of a turn follow each other and are divided by the local fit of the same turn, so that other work on
the machine changes a ratio less than a time. Workers have one thread each; they, the scheduler and this
process share the machine's cores. The table is in the memory of the workers before the clock starts.
"""

from __future__ import annotations

import argparse
import io
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import arboretum
from arboretum.grow.cluster import Cluster

__all__ = ["main", "make_rows", "messages"]

_COLUMNS = 28
_PARTITIONS = 8
_LEAVES = 31


def make_rows(part: int, n: int) -> pd.DataFrame:
    """Return rows of numbers, float32, some of them missing, and their class."""
    rng = np.random.default_rng(part)
    X = rng.standard_normal((n, _COLUMNS + 1), dtype=np.float32)
    z = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3] ** 2 + 0.4 * X[:, 4:8].sum(axis=1)
    X[:, -1] = z + X[:, -1] > 0.4
    X[:, 9] = np.round(X[:, 9] * 4)
    X[rng.random(n) < 0.1, 5] = np.nan
    return pd.DataFrame(X, columns=[*(f"x{f}" for f in range(_COLUMNS)), "label"])


def _sizes(n: int) -> list[int]:
    return np.diff(np.arange(_PARTITIONS + 1) * n // _PARTITIONS).tolist()


class _Counts:
    """Calls of all shards, and the bytes of arrays in their replies."""

    def __init__(self) -> None:
        self.rounds, self.bytes = 0, 0


@contextmanager
def messages() -> Iterator[_Counts]:
    """Count the messages of all clusters."""
    counts, call = _Counts(), Cluster.call_each

    def counted(self: Cluster, name: str, arguments: Any) -> dict[int, Any]:
        found = call(self, name, arguments)
        counts.rounds += 1
        counts.bytes += sum(map(_size, (*found.values(), *arguments.values())))
        return found

    Cluster.call_each = counted  # type: ignore[method-assign]
    try:
        yield counts
    finally:
        Cluster.call_each = call  # type: ignore[method-assign]


def _size(found: Any) -> int:
    if isinstance(found, tuple | list):
        return sum(map(_size, found))
    return getattr(found, "nbytes", 0) if isinstance(found, np.ndarray) else 0


def _ours(trees: int) -> Any:
    return arboretum.LGBMClassifier(n_estimators=trees, num_leaves=_LEAVES, n_jobs=2, verbosity=-1)


def _bytes(model: Any) -> bytes:
    model.save(out := io.BytesIO())
    return out.getvalue()


# ---------------------------------------------------------------------- fits
def _local(n: int, trees: int) -> Callable[[], Any]:
    whole = pd.concat([make_rows(k, size) for k, size in enumerate(_sizes(n))], ignore_index=True)
    X, y = whole.drop(columns="label"), whole["label"]
    return lambda: _ours(trees).fit(X, y)


def _dask(client: Any, n: int, trees: int) -> dict[str, Callable[[], Any]]:
    import dask.dataframe as dd
    from dask import delayed
    from distributed import wait

    parts = [delayed(make_rows)(k, size) for k, size in enumerate(_sizes(n))]
    whole = dd.from_delayed(parts, meta=make_rows(0, 2)).persist()
    wait(whole)
    X, y = whole.drop(columns="label"), whole["label"]
    return {
        "Dask": lambda: _ours(trees).fit(X, y),
        "lightgbm.dask": partial(_lightgbm, client, X, y, trees),
        "xgboost.dask": partial(_xgboost, client, X, y, trees),
    }


def _lightgbm(client: Any, X: Any, y: Any, trees: int) -> Any:
    import lightgbm

    model = lightgbm.DaskLGBMClassifier(
        client=client, n_estimators=trees, num_leaves=_LEAVES, verbosity=-1
    )
    return model.fit(X, y)


def _xgboost(client: Any, X: Any, y: Any, trees: int) -> Any:
    from xgboost.dask import DaskXGBClassifier

    model = DaskXGBClassifier(
        n_estimators=trees, max_leaves=_LEAVES, grow_policy="lossguide", max_depth=0, max_bin=255
    )
    model.client = client
    return model.fit(X, y)


def _ray(n: int, trees: int, workers: int) -> Callable[[], Any]:
    import ray

    from arboretum.distributed.ray import actors

    table = ray.data.from_pandas([make_rows(k, size) for k, size in enumerate(_sizes(n))])

    def fit() -> Any:
        with actors(workers, 1):
            return _ours(trees).fit(table, "label")

    return fit


def _peak() -> float:
    """Return the most memory this process has had, in MB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


# ---------------------------------------------------------------------- turns
def _clocked(fit: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    found = fit()
    return time.perf_counter() - began, found


def _turn(fits: dict[str, Callable[[], Any]], seconds: dict[str, list[float]]) -> dict[str, Any]:
    models = {}
    for name, fit in fits.items():
        took, models[name] = _clocked(fit)
        seconds.setdefault(name, []).append(took)
        print(f"{name}: {took:.1f} s", flush=True)
    return models


def _report(seconds: dict[str, list[float]]) -> None:
    print("\n| fit | least seconds | ÷ the local fit, median (least to most) |\n|---|---|---|")
    for name, times in seconds.items():
        ratios = [a / b for a, b in zip(times, seconds["local, 2 threads"])]
        spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        print(f"| {name} | {min(times):.1f} | {spread} |")


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    names = ["dask", "peers", "ray"]
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    given = parser.parse_args()
    fits: dict[str, Callable[[], Any]] = {"local, 2 threads": _local(given.rows, given.trees)}
    ends: list[Callable[[], Any]] = []
    if {"dask", "peers"} & set(given.only):
        from distributed import Client, LocalCluster

        cluster = LocalCluster(
            n_workers=given.workers, threads_per_worker=1, dashboard_address=None, silence_logs=50
        )
        client = Client(cluster)
        ends += [client.close, cluster.close]
        on_dask = _dask(client, given.rows, given.trees)
        kept = ["Dask"] * ("dask" in given.only)
        kept += ["lightgbm.dask", "xgboost.dask"] * ("peers" in given.only)
        fits |= {name: on_dask[name] for name in kept}
    if "ray" in given.only:
        import ray

        ray.init(
            num_cpus=given.workers + 1, include_dashboard=False, log_to_driver=False,
            object_store_memory=10**9, logging_level="error",
        )  # fmt: skip
        ends.append(ray.shutdown)
        fits["Ray"] = _ray(given.rows, given.trees, given.workers)
    with messages() as counts:
        models = _turn(fits, {})  # kernels are compiled, and messages counted
    ours = [name for name in ("Dask", "Ray") if name in fits]
    same = [name for name in ours if _bytes(models[name]) == _bytes(models["local, 2 threads"])]
    print(f"files of the local fit: {same} of {ours}")
    if ours:
        per = given.trees * len(ours)
        print(f"{counts.rounds / per:.1f} rounds and {counts.bytes / per / 1e6:.1f} MB per tree")
    seconds: dict[str, list[float]] = {}
    for _ in range(given.turns):
        _turn(fits, seconds)
    _report(seconds)
    if {"dask", "peers"} & set(given.only):
        print(f"largest Dask worker: {max(client.run(_peak).values()):.0f} MB at its peak")
    for end in ends:
        end()


if __name__ == "__main__":
    main()
