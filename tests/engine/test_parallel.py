"""The thread pool: every item once, errors raised, no deadlock when nested, alive after a fork."""

import itertools
import multiprocessing
import os
import threading
import time

import joblib
import numpy as np
import pytest

from arboretum import CARTClassifier, ParameterError
from arboretum.engine import parallel
from arboretum.engine.parallel import blocks, effective_jobs, run, run_with_helpers


def _with_deadline(action, seconds: float = 60.0) -> None:
    """Run in a thread of its own; a deadlock becomes a failed test instead of a hanging one."""
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "deadlock"


# ---------------------------------------------------------------------- run
@pytest.mark.parametrize("n_jobs", [1, 2, 3, 8, 200])
@pytest.mark.parametrize("n_items", [0, 1, 2, 7, 100])
def test_every_item_is_done_once(n_jobs, n_items):
    done = []
    run(done.append, range(n_items), n_jobs)
    assert sorted(done) == list(range(n_items))


def test_items_may_be_any_iterable():
    done = []
    run(done.append, (c for c in "abc"), 2)
    assert sorted(done) == ["a", "b", "c"]


def test_one_item_or_one_job_stays_in_the_calling_thread():
    seen = []

    def note(_):
        seen.append(threading.current_thread())

    run(note, [1], 8)
    run(note, range(5), 1)
    run(note, range(5), 0)
    assert set(seen) == {threading.current_thread()}


def test_several_threads_work_at_the_same_time():
    met = threading.Barrier(3, timeout=30)
    run(lambda _: met.wait(), range(3), 3)  # would break if fewer than three worked at once


@pytest.mark.parametrize("bad", [0, 3, 19])
@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_an_error_is_raised_and_stops_the_work(n_jobs, bad):
    done = []

    def work(i):
        if i == bad:
            raise ZeroDivisionError(f"item {i}")
        time.sleep(0.002)
        done.append(i)

    with pytest.raises(ZeroDivisionError, match=f"item {bad}"):
        run(work, range(400), n_jobs)
    n_done = len(done)
    assert n_done < 300  # the other threads did not go on to the end
    time.sleep(0.01)
    assert len(done) == n_done  # and none is still at it
    run(done.append, range(50), n_jobs)  # the pool is as good as before
    assert len(done) == n_done + 50


def test_an_error_in_a_helper_is_raised_too():
    here = threading.current_thread()

    def work(i):
        if threading.current_thread() is not here:
            raise KeyError("in a helper")
        time.sleep(0.005)

    with pytest.raises(KeyError, match="in a helper"):
        run(work, range(400), 2)


def test_keyboard_interrupt_is_not_swallowed():
    def work(i):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(work, range(10), 3)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_work_may_call_run_itself(n_jobs):
    """Inner calls find the pool busy with the outer one; nobody may wait for nobody."""
    done = []

    def inner(i):
        run(lambda j: done.append((i, j)), range(20), n_jobs)

    def outer(k):
        run(lambda i: inner((k, i)), range(5), n_jobs)

    _with_deadline(lambda: run(outer, range(6), n_jobs))
    assert sorted(done) == [((k, i), j) for k in range(6) for i in range(5) for j in range(20)]


def test_many_threads_may_use_the_pool_at_once():
    done = []

    def user(k):
        for i in range(20):
            run(lambda j, i=i: done.append((k, i, j)), range(8), 3)

    def all_users():
        threads = [threading.Thread(target=user, args=(k,)) for k in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    _with_deadline(all_users)
    assert len(set(done)) == len(done) == 6 * 20 * 8


# ---------------------------------------------------------------------- threads that cannot start
@pytest.fixture
def one_thread_starts(monkeypatch):
    """A new pool, of which the first thread starts and no other."""
    parallel._forget_pool()
    start, started = threading.Thread.start, []

    def start_once(thread):
        if thread.name.startswith("arboretum") and started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_once)
    yield
    parallel._forget_pool()


def test_helpers_return_when_a_later_one_cannot_start(one_thread_starts):
    closed, returned = threading.Event(), threading.Event()

    def help_out(_):
        closed.wait(10)
        returned.set()

    with pytest.raises(RuntimeError, match="can't start new thread"):
        run_with_helpers(lambda: None, help_out, closed.set, 4)
    assert closed.is_set()
    assert returned.wait(10)


def test_no_helper_works_on_after_another_could_not_start(one_thread_starts):
    running = []

    def work(item):
        running.append(item)
        time.sleep(0.01)
        running.remove(item)

    with pytest.raises(RuntimeError, match="can't start new thread"):
        run(work, range(1000), 4)
    assert not running


# ---------------------------------------------------------------------- blocks
@pytest.mark.parametrize(("n", "k"), [(0, 3), (1, 5), (10, 3), (7, 7), (100, 1), (5, 0), (9, -2)])
def test_blocks_cover_everything_evenly(n, k):
    parts = blocks(n, k)
    assert [i for lo, hi in parts for i in range(lo, hi)] == list(range(n))
    sizes = [hi - lo for lo, hi in parts]
    assert len(parts) <= max(1, k)
    if sizes:
        assert min(sizes) >= 1
        assert max(sizes) - min(sizes) <= 1


def test_blocks_of_more_items_than_32_bits_hold():
    parts = blocks(3 * 2**40, 7)
    assert parts[0][0] == 0
    assert parts[-1][1] == 3 * 2**40
    assert all(a[1] == b[0] for a, b in itertools.pairwise(parts))


# ---------------------------------------------------------------------- effective_jobs
CORES = joblib.cpu_count()


@pytest.mark.parametrize(
    ("n_jobs", "expected"),
    [
        (1, 1),
        (7, 7),
        (np.int64(3), 3),
        (-1, CORES),
        (-2, max(1, CORES - 1)),
        (-1000, 1),
        (10**9, 1024),
    ],
)
def test_a_number_of_jobs(n_jobs, expected):
    assert effective_jobs(n_jobs) == expected


@pytest.mark.parametrize("n_jobs", [0, 1.0, "2", True, [1]])
def test_no_number_of_jobs(n_jobs):
    with pytest.raises(ParameterError, match=r"n_jobs must be a positive int.*, got "):
        effective_jobs(n_jobs)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("1", 1),
        ("1,4", 1),
        (str(CORES + 5), CORES),
        ("0", CORES),
        ("-1", CORES),
        ("many", CORES),
        ("", CORES),
    ],
)
def test_none_obeys_omp_num_threads(monkeypatch, setting, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", setting)
    assert effective_jobs(None) == expected
    assert effective_jobs(-1) == CORES  # an explicit wish counts
    assert effective_jobs(5) == 5


def test_none_is_every_core(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert effective_jobs(None) == CORES


@pytest.mark.parametrize("backend", ["loky", "threading"])
@pytest.mark.parametrize(("n_jobs", "expected"), [(1, 1), (3, 3), (-1, CORES)])
def test_none_obeys_joblibs_configuration(backend, n_jobs, expected):
    with joblib.parallel_config(backend, n_jobs=n_jobs):
        assert effective_jobs(None) == expected
        assert effective_jobs(2) == 2


def _jobs_in_worker(_):
    from arboretum.engine.parallel import effective_jobs

    return effective_jobs(None)


def test_none_does_not_crowd_joblibs_worker_processes():
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(_jobs_in_worker)(i) for i in range(2))
    assert found == [max(1, CORES // 2)] * 2


# ---------------------------------------------------------------------- fork
def _fit_in_child(X, y, answers):
    model = CARTClassifier(n_jobs=3).fit(X, y)
    answers.put((parallel._pool is not None, model.predict(X).tolist()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_makes_itself_a_new_pool():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 12))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    expected = CARTClassifier(n_jobs=3).fit(X, y).predict(X).tolist()
    assert parallel._pool is not None  # the parent has threads, which a fork does not copy
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_fit_in_child, args=(X, y, answers))
    child.start()
    try:
        used_a_pool, predicted = answers.get(timeout=60)
    finally:
        child.join(timeout=10)
        if child.is_alive():
            child.kill()
    assert used_a_pool
    assert predicted == expected
    assert child.exitcode == 0


def test_forgetting_the_pool_leaves_a_usable_lock():
    """What a child does after a fork, even if the lock was held at that moment."""
    run(lambda _: None, range(4), 2)
    lock = parallel._lock
    with lock:
        parallel._forget_pool()
    assert parallel._pool is None
    assert parallel._lock is not lock
    done = []
    _with_deadline(lambda: run(done.append, range(10), 3))
    assert sorted(done) == list(range(10))


# ---------------------------------------------------------------------- is it worth it?
def test_little_work_stays_in_one_thread():
    assert parallel.threads_for(0, parallel.SORT, 4) == 1
    assert parallel.threads_for(10**7, parallel.LEVEL, 4) == 4
    costs = [parallel.SORT, parallel.CODE, parallel.TREE, parallel.SCAN, parallel.LEVEL]
    shared = [
        min(n for n in range(0, 10**6, 1000) if parallel.threads_for(n, c, 2) > 1) for c in costs
    ]
    assert shared == sorted(shared)  # the dearer a value, the fewer are worth a thread
