"""Peak memory of one run, measured where nothing else has left its traces: in a fresh process.

    imports · make the data · warm up on a few rows │ run
    ────────────────────────────────────────────────┼──────────────
    does not count                                  │ highest resident memory minus that at the bar

Both sides of a comparison get the same float64 C-ordered array, made before the bar; whatever copy
a contender makes of it counts, as do its threads' buffers and the model. Room that is reserved but
never written to takes no memory and does not count. The few rows load libraries and compiled code
beforehand, and freed memory is handed back before the bar, so that no contender can live on
leftovers. The allocator is left as it comes, because that is how people run it: blocks it keeps
after they were freed count for whoever made it keep them. Where the bytes fall depends a little on
how threads meet, so there are several runs, and their spread is shown.

Linux keeps the high-water mark itself and lets a process reset it; elsewhere a thread looks a
thousand times a second. (``ru_maxrss`` will not do: a child starts with the mark of its parent,
which holds the data of the timed runs.)
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import BENCHMARKS
from benchmarks.process import fresh_python

__all__ = ["Peak", "peak_growth", "peak_in_fresh_process"]

_ROOT = Path(__file__).resolve().parents[1]
_WARM_ROWS = 2_000  # at most; a tenth of a smaller table
_PROC = Path("/proc/self")


@dataclass(frozen=True)
class Peak:
    """Growth of resident memory during one run, and how it was observed."""

    n_bytes: int
    how: str  # "high-water mark" or "polling"


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    if (_PROC / "status").exists():
        return _status("VmRSS")
    import psutil

    return int(psutil.Process().memory_info().rss)


def _status(key: str) -> int:
    for line in (_PROC / "status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(key)


def _reset_high_water_mark() -> bool:
    """Set the high-water mark back to the present; return whether this system can."""
    try:
        (_PROC / "clear_refs").write_text("5")
        return _status("VmHWM") - _status("VmRSS") < 1 << 20
    except (OSError, KeyError):
        return False


def _tidy() -> None:
    """Collect rubbish and give freed memory back to the system."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:  # glibc only
        trim(0)


def _polled(run: Callable[[], Any]) -> int:
    """Return the highest resident memory seen by a thread that keeps looking."""
    done, seen = threading.Event(), [resident()]

    def look() -> None:
        while not done.wait(0.001):
            seen.append(max(seen.pop(), resident()))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        outcome = run()  # kept alive to the last look
        highest = resident()
    finally:
        done.set()
        watcher.join()
    del outcome
    return max(seen[0], highest)


def peak_growth(run: Callable[[], Any], *, poll: bool = False) -> Peak:
    """Return by how much resident memory grows at most while ``run`` runs.

    Examples
    --------
    >>> peak = peak_growth(lambda: bytearray(50_000_000))
    >>> 45_000_000 < peak.n_bytes < 75_000_000
    True
    """
    _tidy()
    marked = not poll and _reset_high_water_mark()
    before = resident()
    if marked:
        outcome = run()
        highest = _status("VmHWM")
        del outcome
    else:
        highest = _polled(run)
    return Peak(max(0, highest - before), "high-water mark" if marked else "polling")


def _measure(benchmark: str, case_name: str, contender: str, rows: int, jobs: int) -> Peak:
    """Measure one contender here and now; see the picture above."""
    case = import_module(BENCHMARKS[benchmark]).experiments(jobs)[case_name]
    make = case.contenders[contender]
    split = case.data(rows)
    few = max(50, min(_WARM_ROWS, rows // 10))
    case.work(make, split.head(few)).run()
    job = case.work(make, split)
    return peak_growth(job.run)


def peak_in_fresh_process(
    benchmark: str, case_name: str, contender: str, *, rows: int, jobs: int
) -> Peak:
    """Start a process that runs one contender of one case, and return its peak memory."""
    task = json.dumps([benchmark, case_name, contender, rows, jobs])
    what = f"the memory run of {contender}"
    printed = fresh_python(["-m", "benchmarks.memory", task], _ROOT, what)
    return Peak(**json.loads(printed.splitlines()[-1]))


if __name__ == "__main__":
    print(json.dumps(asdict(_measure(*json.loads(sys.argv[1])))))
