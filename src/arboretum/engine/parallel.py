"""Threads are Python threads: one small pool runs nogil kernels on blocks of work.

A kernel works on its own block and writes to its own part of the output, so results never depend on
how many threads there are. Small work runs in the calling thread (`threads_for`): passing a block to another
thread costs about 20 µs, and waking a sleeping thread a hundred. The calling thread always takes part, and a
forked child creates its own pool.
"""

from __future__ import annotations

import functools
import itertools
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from numbers import Integral

from arboretum.errors import ParameterError

__all__ = ["CODE", "LEVEL", "SCAN", "SORT", "TREE"]
__all__ += ["blocks", "cores", "effective_jobs", "most_threads", "run", "run_with_helpers"]
__all__ += ["threads_for"]

# kinds of work per value, and about how many nanoseconds they take
SORT = 25  # sorting its column
CODE = 15  # finding its bin, or its row's leaf; reading a fractional case
TREE = 8  # growing a tree, per value at the root
SCAN = 5  # one pass along its column
LEVEL = 2  # the same, where threads wait for each other at every level of a tree
_WORTH = 500_000  # nanoseconds of work that are worth a second thread

_MOST_THREADS = 1024  # more never help; work is cut into pieces by their number

_pool: ThreadPoolExecutor | None = None
_pool_size = 0
_lock = threading.Lock()


def _forget_pool() -> None:
    """Start anew: after a fork the threads are gone and the lock may be held."""
    global _pool, _pool_size, _lock
    _pool, _pool_size, _lock = None, 0, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def effective_jobs(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` stands for on this machine.

    None means every core this process may use, or what an enclosing ``joblib.parallel_config`` or the
    environment variable ``OMP_NUM_THREADS`` (set by joblib in its worker processes) allows; -1 means
    every core, -2 all but one, and so on. Models do not depend on it.

    >>> effective_jobs(3)
    3
    """
    import joblib

    if n_jobs is None:
        configured = joblib.parallel.get_active_backend()[1]
        if configured is not None:
            return effective_jobs(configured)
        limit = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]  # "4,2": for two levels
        cores = _cores(_affinity())
        return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ParameterError(
            f"n_jobs must be a positive int, a negative int (-1: all cores) or None, got {n_jobs!r}"
        )
    if n_jobs > 0:
        return min(int(n_jobs), _MOST_THREADS)
    return max(1, _cores(_affinity()) + 1 + int(n_jobs))


def _affinity() -> int:
    """Return how many cores this process is bound to; cheap, so it is read every time to notice changes."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0


@functools.cache
def _cores(affinity: int) -> int:
    """Return how many cores this process may use; slow, because joblib also reads cgroup limits."""
    import joblib

    return joblib.cpu_count()


def cores() -> int:
    """Return how many cores this process may use."""
    return _cores(_affinity())


@functools.cache
def most_threads() -> int:
    """Return the most threads a model may use: its file may request any number, but more never help.

    Cached: on systems where the number of cores is read from a file, that takes longer than a hundred trees.
    """
    return max(8, 4 * (os.cpu_count() or 1))


def threads_for(n_values: int, cost: int, n_jobs: int) -> int:
    """Return how many threads share the work on ``n_values``: ``n_jobs``, or one if there is little to do.

    >>> threads_for(1_000, SORT, 8), threads_for(1_000_000, SORT, 8)
    (1, 8)
    """
    return n_jobs if n_values * cost > _WORTH else 1


def blocks(n_items: int, n_blocks: int) -> list[tuple[int, int]]:
    """Cut ``range(n_items)`` into at most ``n_blocks`` even pieces.

    >>> blocks(10, 3)
    [(0, 3), (3, 6), (6, 10)]
    """
    n_blocks = max(1, min(n_blocks, n_items))
    return [
        (n_items * k // n_blocks, n_items * (k + 1) // n_blocks) for k in range(n_blocks) if n_items
    ]


def run(work: Callable, items: Iterable, n_jobs: int) -> None:
    """Call ``work(item)`` for every item on up to ``n_jobs`` threads; the first error is raised.

    Items are taken one by one, so uneven pieces balance. The order of execution is not defined. After
    an error no thread starts another item. ``work`` may itself call `run`: no thread ever waits for
    a helper that has not begun, so a busy pool costs speed but cannot deadlock.
    """
    items = list(items)
    n_jobs = min(n_jobs, len(items))
    if n_jobs <= 1:
        for item in items:
            work(item)
        return
    counter = itertools.count()
    failed = threading.Event()

    def take_items() -> None:
        while (k := next(counter)) < len(items) and not failed.is_set():
            try:
                work(items[k])
            except BaseException:
                failed.set()
                raise

    pool = _get_pool(n_jobs - 1)
    futures: list[Future] = []
    try:
        for _ in range(n_jobs - 1):
            futures.append(pool.submit(take_items))
        take_items()
    except BaseException:  # also if a thread cannot be started for lack of memory
        failed.set()
        raise
    finally:
        helping = [future for future in futures if not future.cancel()]
        wait(helping)
    for future in helping:
        future.result()


def run_with_helpers(lead: Callable, help_out: Callable, close: Callable, n_threads: int) -> None:
    """Call ``lead()`` here and ``help_out(k)`` on other threads, for k = 1 … n_threads - 1.

    After ``lead`` has returned, ``close()`` makes the helpers return, too. They are not waited for: one may
    begin late, find everything done, and return.
    """
    if n_threads <= 1:
        lead()
        return
    pool = _get_pool(n_threads - 1)
    futures: list[Future] = []
    try:
        for k in range(1, n_threads):  # a thread may fail to start: those that did must return
            futures.append(pool.submit(help_out, k))
        lead()
    finally:
        close()
    for future in futures:
        if not future.cancel() and future.done():
            future.result()


def _get_pool(n_threads: int) -> ThreadPoolExecutor:
    global _pool, _pool_size
    with _lock:
        if _pool is None or _pool_size < n_threads:
            _pool = ThreadPoolExecutor(n_threads, thread_name_prefix="arboretum")
            _pool_size = n_threads
        return _pool
