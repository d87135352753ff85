"""Kernels of a first fit are compiled by helpers, each by one process only; no fit depends on them."""

import contextlib
import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from arboretum.engine.compiler import compiler_process, log, side_by_side
from arboretum.engine.compiler.side_by_side import Crew, compiled_by_others, helpers_allowed
from arboretum.engine.compiler.signatures import Signature
from tests.engine.processes import run_script

SMALL, LARGE = Path("small"), Path("large")
TASKS = {SMALL: Signature("m:small", (), size=1), LARGE: Signature("m:large", (), size=9)}


class _Helper:
    """Stands in for a process: says what it was asked for, and answers when it may."""

    def __init__(self, answer: str = "") -> None:
        self.answer, self.asked = answer, []
        self.has_begun, self.may_end = threading.Event(), threading.Event()

    @contextlib.contextmanager
    def start(self, on_start):
        yield self.ask

    def ask(self, signature: Signature) -> str:
        self.asked.append(signature.kernel)
        self.has_begun.set()
        assert self.may_end.wait(60)
        return self.answer


@pytest.fixture
def helper(monkeypatch) -> _Helper:
    one = _Helper()
    monkeypatch.setattr(compiler_process, "compiler", one.start)
    monkeypatch.setattr(log, "compiled", log.CompileLog())
    return one


@pytest.fixture
def here(monkeypatch) -> list[str]:
    """What the process itself compiles while it waits."""
    kernels: list[str] = []
    monkeypatch.setattr(side_by_side, "_compile", lambda one: kernels.append(one.kernel))
    return kernels


def _crew(tasks=TASKS) -> Crew:
    return Crew(tasks, 1, os.open(os.devnull, os.O_RDONLY))


def _wait_until_done(crew: Crew) -> None:
    with crew._changed:
        assert crew._changed.wait_for(lambda: not crew.is_working, 60)


def test_a_helper_begins_with_the_largest_and_ends_when_nothing_is_left(helper):
    helper.may_end.set()
    crew = _crew()
    _wait_until_done(crew)
    assert helper.asked == ["m:large", "m:small"]


def test_nobody_begins_with_what_the_fit_compiles(helper, here):
    crew = _crew()
    assert helper.has_begun.wait(60)
    crew.wait_for(SMALL)
    crew.add(TASKS)  # known already
    helper.may_end.set()
    _wait_until_done(crew)
    assert (helper.asked, here) == (["m:large"], [])


def test_who_needs_what_a_helper_is_at_compiles_others_and_waits(helper, here, monkeypatch):
    crew = _crew()
    assert helper.has_begun.wait(60)
    threading.Timer(0.2, helper.may_end.set).start()
    crew.wait_for(LARGE)
    assert helper.may_end.is_set()
    assert (helper.asked, here) == (["m:large"], ["m:small"])


def test_a_helper_that_ends_is_not_waited_for(helper, here):
    helper.answer = compiler_process.ENDED
    crew = _crew()
    assert helper.has_begun.wait(60)
    helper.may_end.set()
    crew.wait_for(LARGE)
    _wait_until_done(crew)
    crew.wait_for(SMALL)
    assert helper.asked == ["m:large"]


def test_a_process_that_cannot_be_started_is_done_without(monkeypatch):
    def fail(on_start):
        raise OSError("no memory for another process")

    monkeypatch.setattr(compiler_process, "compiler", fail)
    crew = _crew()
    _wait_until_done(crew)
    crew.wait_for(LARGE)


def test_a_helper_that_is_slow_is_dismissed(helper, here, monkeypatch):
    monkeypatch.setattr(side_by_side, "PATIENCE", 0.05)
    crew = _crew()
    assert helper.has_begun.wait(60)
    crew.wait_for(LARGE)
    assert not helper.may_end.is_set()
    helper.may_end.set()
    _wait_until_done(crew)
    assert helper.asked == ["m:large"]


def test_a_forked_process_has_no_helpers(helper, monkeypatch):
    crew = _crew()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert not crew.is_working
    crew.wait_for(LARGE)
    helper.may_end.set()


# ---------------------------------------------------------------------- who may have helpers
@pytest.fixture
def _two_cores(monkeypatch):
    monkeypatch.setattr(side_by_side, "effective_jobs", lambda n_jobs: 2)
    monkeypatch.setattr(side_by_side.signatures, "RECORD", None)
    monkeypatch.delenv(compiler_process.SWITCH, raising=False)


needs_locks = pytest.mark.skipif(side_by_side.fcntl is None, reason="no locks of files")


@needs_locks
@pytest.mark.usefixtures("_two_cores")
@pytest.mark.parametrize(
    "without",
    ["helpers", "cores", "python", "executable", "main process", "parts"],
)
def test_there_are_reasons_to_have_none(monkeypatch, without):
    assert helpers_allowed() == 1
    if without == "helpers":
        monkeypatch.setenv(compiler_process.SWITCH, "0")
    elif without == "cores":
        monkeypatch.setattr(side_by_side, "effective_jobs", lambda n_jobs: 1)
    elif without == "python":
        monkeypatch.setattr(sys, "executable", "/opt/program/host")
    elif without == "executable":
        monkeypatch.setattr(sys, "executable", None)
    elif without == "parts":
        monkeypatch.setattr(side_by_side, "KernelCompiler", None)
    else:
        worker = multiprocessing.Process()
        monkeypatch.setattr(multiprocessing, "current_process", lambda: worker)
    assert helpers_allowed() == 0


@needs_locks
@pytest.mark.usefixtures("_two_cores")
def test_one_process_at_a_time_has_helpers_for_a_cache(helper, tmp_path):
    first = side_by_side._start(TASKS, tmp_path)
    assert side_by_side._start(TASKS, tmp_path) is None
    helper.may_end.set()
    _wait_until_done(first)
    second = side_by_side._start(TASKS, tmp_path)
    _wait_until_done(second)


@needs_locks
@pytest.mark.usefixtures("_two_cores")
def test_a_cache_that_cannot_be_written_has_none(monkeypatch, tmp_path):
    monkeypatch.setattr(side_by_side, "_next_tasks", lambda kernel, file: TASKS)
    monkeypatch.setattr(side_by_side, "_crew", None)
    assert not compiled_by_others("m:small", SMALL, tmp_path / "missing")


# ---------------------------------------------------------------------- in processes
FIRST_FIT = """
import time
import numpy as np
from arboretum.engine.compiler import side_by_side, signatures
from arboretum.engine.compiler.cache import compiled
from arboretum.engine.predict.walk import is_complete
from arboretum.engine.random import child_keys

side_by_side.effective_jobs = lambda n_jobs: 2
signatures.at_work = lambda: ["CARTClassifier"]
signatures.read_ways = lambda: {"CARTClassifier numbers": [
    signatures.Signature("arboretum.engine.random:child_keys", ("uint64 1C", "uint64 1C")),
    signatures.Signature("arboretum.engine.predict.walk:is_complete", ("float64 2C",)),
    signatures.Signature("arboretum.engine.random:no_such_kernel", ()),
]}
child_keys(np.array([0], np.uint64), np.empty(2, np.uint64))
crew = side_by_side._crew
while crew is not None and crew.is_working:
    time.sleep(0.05)
print(is_complete(np.zeros((2, 2))), [one.kernel for one in compiled.functions if one.is_outermost])
"""


@needs_locks
@pytest.mark.parametrize("helpers", ["1", "0"])
def test_what_a_fit_will_need_is_compiled_by_another_process(tmp_path, helpers):
    said = run_script(
        FIRST_FIT, ARBORETUM_CACHE_DIR=str(tmp_path), ARBORETUM_COMPILE_HELPERS=helpers
    )
    both = ["arboretum.engine.random:child_keys", "arboretum.engine.predict.walk:is_complete"]
    assert said.strip() == f"True {both[:1] if helpers == '1' else both}"
    assert len(list(tmp_path.rglob("*.kernel"))) == 2


@pytest.mark.skipif(os.name != "posix", reason="elsewhere it ends with its input")
def test_a_process_that_compiles_ends_with_the_one_that_started_it():
    command = [sys.executable, "-m", "arboretum.engine.compiler.compiler_process"]
    with subprocess.Popen([*command, str(os.getpid() + 1)], stdin=subprocess.PIPE) as process:
        assert process.wait(60) == 1
