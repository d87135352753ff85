"""One contender of the benchmark of large tables, alone in its process.

    python -m benchmarks.scale_run '{"contender": "arboretum, streamed", "path": …, "rounds": 10, …}'

Prints a line of JSON: CPU seconds of reading (until training could begin), of every further round, and
memory. All warm up on a few rows first, so neither compiling nor imports count.
"""

from __future__ import annotations

import json
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["CONTENDERS"]

_BATCH = 250_000
_LEAVES, _BINS = 31, 255
_GIGABYTE = 1e9


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _status(key: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:"))


class _Memory:
    """The highest anonymous memory of this process, looked at twenty times a second."""

    def __enter__(self) -> _Memory:
        self.before, self.most = _status("RssAnon"), 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(0.05):
            self.most = max(self.most, _status("RssAnon"))


def _batches(path: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(_BATCH):
            columns = [column.to_numpy() for column in batch.columns]
            yield np.column_stack(columns[:-1]), columns[-1]


# ---------------------------------------------------------------------- ours
def _ours(source: Callable[[str], tuple[Any, Any]]) -> Callable[..., dict[str, float]]:
    def run(path: str, few: str, rounds: int, jobs: int) -> dict[str, float]:
        _fit_ours(*source(few), 2, jobs)
        return _fit_ours(*source(path), rounds, jobs)

    return run


def _fit_ours(X: Any, y: Any, rounds: int, jobs: int) -> dict[str, float]:
    """Fit, looking at the clock after every round."""
    from arboretum import LGBMClassifier

    model = LGBMClassifier(n_estimators=rounds, num_leaves=_LEAVES, max_bin=_BINS, n_jobs=jobs)
    begun, ends = _seconds(), []
    with _Memory() as memory:
        model.fit(X, y, callbacks=[lambda _: ends.append(_seconds())])
    each = (ends[-1] - ends[0]) / (rounds - 1)
    reading = ends[0] - begun - each
    return {"reading": reading, "round": each, "anonymous": memory.most - memory.before}


def _whole(path: str) -> tuple[np.ndarray, np.ndarray]:
    parts = list(_batches(path))
    return np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])


def _limited(path: str, few: str, rounds: int, jobs: int) -> dict[str, float]:
    """Fit with no more anonymous memory than 48 bytes a row and half a gigabyte."""
    from pyarrow import parquet

    _fit_ours(few, "y", 2, jobs)
    n = parquet.ParquetFile(path).metadata.num_rows
    limit = _status("VmData") + 48 * n + int(0.5 * _GIGABYTE)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    return _fit_ours(path, "y", rounds, jobs)


# ---------------------------------------------------------------------- peers
def _reading(path: str, few: str, rounds: int, jobs: int) -> dict[str, float]:
    from pyarrow import parquet

    begun = _seconds()
    with parquet.ParquetFile(path) as file:
        for _ in file.iter_batches(_BATCH):
            pass
    return {"reading": _seconds() - begun}


def _xgboost(kind: str) -> Callable[..., dict[str, float]]:
    def run(path: str, few: str, rounds: int, jobs: int) -> dict[str, float]:
        import xgboost

        class Batches(xgboost.DataIter):
            def __init__(self, path: str) -> None:
                self.path, self.left = path, _batches(path)
                cached = kind.startswith("ExtMem")
                super().__init__(cache_prefix=f"{path}.cache" if cached else None)

            def reset(self) -> None:
                self.left = _batches(self.path)

            def next(self, input_data: Callable[..., Any]) -> bool:
                found = next(self.left, None)
                if found is not None:
                    input_data(data=found[0], label=found[1])
                return found is not None

        def fit(path: str, n: int) -> tuple[float, float]:
            begun = _seconds()
            table = getattr(xgboost, kind)(Batches(path), max_bin=_BINS, nthread=jobs)
            made = _seconds()
            options = {"objective": "binary:logistic", "max_leaves": _LEAVES, "nthread": jobs}
            options |= {"grow_policy": "lossguide", "max_depth": 0, "max_bin": _BINS, "eta": 0.1}
            xgboost.train(options, table, n)
            return made - begun, _seconds() - made

        fit(few, 2)
        with _Memory() as memory:
            reading, training = fit(path, rounds)
        return {
            "reading": reading, "round": training / rounds, "anonymous": memory.most - memory.before,
        }  # fmt: skip

    return run


def _lightgbm(path: str, few: str, rounds: int, jobs: int) -> dict[str, float]:
    import lightgbm
    from pyarrow import parquet

    class Groups(lightgbm.Sequence):
        """Rows of a file by number; one row group is held at a time."""

        def __init__(self, path: str) -> None:
            self.file, self.batch_size, self.held = parquet.ParquetFile(path), _BATCH, (-1, None)

        def __len__(self) -> int:
            return self.file.metadata.num_rows

        def __getitem__(self, rows: Any) -> np.ndarray:
            at = rows.start if isinstance(rows, slice) else rows
            group = at // _BATCH
            if self.held[0] != group:
                columns = self.file.read_row_group(group).columns[:-1]
                self.held = group, np.column_stack([c.to_numpy() for c in columns]).astype(float)
            some = self.held[1]
            if isinstance(rows, slice):
                return some[rows.start - group * _BATCH : rows.stop - group * _BATCH]
            return some[rows - group * _BATCH]

    def fit(path: str, n: int) -> tuple[float, float]:
        y = parquet.read_table(path, columns=["y"])["y"].to_numpy()
        options = {"objective": "binary", "num_leaves": _LEAVES, "max_bin": _BINS, "verbose": -1}
        options |= {"num_threads": jobs}
        begun = _seconds()
        table = lightgbm.Dataset(Groups(path), y, params=options).construct()
        made = _seconds()
        lightgbm.train(options, table, n)
        return made - begun, _seconds() - made

    fit(few, 2)
    with _Memory() as memory:
        reading, training = fit(path, rounds)
    return {
        "reading": reading, "round": training / rounds, "anonymous": memory.most - memory.before,
    }  # fmt: skip


CONTENDERS: dict[str, Callable[..., dict[str, float]]] = {
    "pyarrow, only reading": _reading,
    "arboretum, streamed": _ours(lambda path: (path, "y")),
    "arboretum, in memory": _ours(_whole),
    "arboretum, limited memory": _limited,
    "XGBoost, QuantileDMatrix": _xgboost("QuantileDMatrix"),
    "XGBoost, ExtMemQuantileDMatrix": _xgboost("ExtMemQuantileDMatrix"),
    "LightGBM, Sequence": _lightgbm,
}


def main(task: dict[str, Any]) -> dict[str, float]:
    """Run one contender."""
    begun = time.perf_counter()
    found = CONTENDERS[task["contender"]](task["path"], task["few"], task["rounds"], task["jobs"])
    return {**found, "seconds": time.perf_counter() - begun}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
