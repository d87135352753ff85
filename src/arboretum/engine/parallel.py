"""Threads belong to Python: one small pool runs nogil kernels on blocks of work.

A kernel works on its own block and writes to its own part of the output, so results never depend on
how many threads there are. Small work runs in the calling thread (`threads_for`): handing over a block costs
about 20 µs, and waking a thread that sleeps a hundred. The calling thread always takes part, and a forked
child makes itself a new pool.
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

# what is done with a value, and about how many nanoseconds it takes
SORT = 25  # its column is sorted
CODE = 15  # its bin is found, or its row's leaf; a fractional case is looked at
TREE = 8  # it stands at the root of a tree that is grown
SCAN = 5  # it is met in one walk along its column
LEVEL = 2  # likewise, where threads must wait for each other at every level of a tree
_WORTH = 500_000  # nanoseconds of work that are worth a second thread

_MOST_THREADS = 1024  # more never help; work is cut into pieces by their number

_pool: ThreadPoolExecutor | None = None
_pool_size = 0
_lock = threading.Lock()


def _forget_pool() -> None:
    """After a fork the threads are gone and the lock may be held: start anew."""
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
    """Cores this process is bound to: cheap to ask, so that a change is noticed."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0


@functools.cache
def _cores(affinity: int) -> int:
    """Cores this process may use; joblib also looks at cgroup limits, which takes it a while."""
    import joblib

    return joblib.cpu_count()


def cores() -> int:
    """Return how many cores this process may use."""
    return _cores(_affinity())


@functools.cache
def most_threads() -> int:
    """Return how many threads a model has at most: its file may ask for any number, and more never help.

    Asked once: where the system tells the number of cores by a file, that takes longer than a hundred trees.
    """
    return max(8, 4 * (os.cpu_count() or 1))


def threads_for(n_values: int, cost: int, n_jobs: int) -> int:
    """Return how many threads share work on so many values: ``n_jobs``, or one if there is little to do.

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
    an error no thread starts another item. ``work`` may itself call `run`: nobody ever waits for a
    helper that has not begun, so a busy pool costs speed, never a deadlock.
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
    except BaseException:  # also where no memory is left to start a thread
        failed.set()
        raise
    finally:
        helping = [future for future in futures if not future.cancel()]
        wait(helping)
    for future in helping:
        future.result()


def run_with_helpers(lead: Callable, help_out: Callable, close: Callable, n_threads: int) -> None:
    """Call ``lead()`` here and ``help_out(k)`` on other threads, for k = 1 … n_threads - 1.

    After ``lead`` has returned, ``close()`` tells helpers to return, too. Nobody waits for them: one may
    begin late, find all done, and return.
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
