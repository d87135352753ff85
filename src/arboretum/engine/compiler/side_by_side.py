"""The kernels of a first fit are compiled side by side: by it, and by processes that it starts.

A fit compiles a kernel when it meets it, one after another. But what a fit of that kind will meet was
recorded (`signatures.read_ways`). So when the first kernel is met that nobody has compiled, other processes
begin with the rest, the largest first, and what they have done is read from the user's cache:

    fit      ▇▇ bins  ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇ grow  ▇ decode  · wait ·  read scan
    helper     ─ start ─ ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇ scan   ▇▇▇▇ masks

A kernel is compiled by one of them only: `Crew` knows who has begun with what. A fit that meets a kernel that
a helper is at compiles another one meanwhile, the smallest that is left, or waits. Nothing depends on
helpers: where one ends, is slow or was never started, the fit compiles what it needs itself.

There are none where the process has one core, is itself a worker of another, cannot write the cache or
has no Python to start; one process at a time has helpers for a cache. ``ARBORETUM_COMPILE_HELPERS`` is how
many there may be; 0 turns them off.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from arboretum.engine.compiler import compiler_process, signatures
from arboretum.engine.compiler.linking import KernelCompiler
from arboretum.engine.compiler.log import compiled
from arboretum.engine.compiler.signatures import Signature
from arboretum.engine.parallel import effective_jobs

try:
    import fcntl
except (
    ImportError
):  # Windows: nobody helps, because processes could not agree on who may have helpers
    fcntl = None  # type: ignore[assignment]

__all__ = ["Crew", "compiled_by_others", "helpers_allowed"]

MOST = 2  # helpers: the largest kernel of a fit is a third of all there is to compile
PATIENCE = 60.0  # seconds to wait for a kernel that a helper is at
_LOCK = "helpers.lock"

Tasks = Mapping[Path, Signature]  # where a kernel will be kept, what it is


class Crew:
    """Helpers, and who has begun with what.

    Parameters
    ----------
    tasks : mapping of Path to Signature
        What there is to compile.
    n_helpers : int
    lock : int
        A file that is open and locked; it is closed when the last helper has ended.
    """

    def __init__(self, tasks: Tasks, n_helpers: int, lock: int) -> None:
        self._process_id, self._n_helpers, self._lock = os.getpid(), n_helpers, lock
        self._changed = threading.Condition()
        self._open = dict(tasks)
        self._begun: set[Path] = set()  # by helpers that are at them
        self.known = set(tasks)  # whatever was open
        self._processes: list[subprocess.Popen] = []
        for _ in range(n_helpers):
            threading.Thread(target=self._serve, daemon=True, name="arboretum-compile").start()

    @property
    def is_working(self) -> bool:
        """Whether there are helpers left, and this process, not one it was forked from, has them."""
        return self._n_helpers > 0 and self._process_id == os.getpid()

    def add(self, tasks: Tasks) -> None:
        """Let more be compiled."""
        with self._changed:
            self._open.update((f, task) for f, task in tasks.items() if f not in self.known)
            self.known |= tasks.keys()

    def wait_for(self, file: Path) -> None:
        """Return when no helper is at a kernel; nobody begins with it after that.

        Others are compiled meanwhile: a fit that needs this one needs those.
        """
        until = time.monotonic() + PATIENCE
        while self.is_working:
            with self._changed:
                self._open.pop(file, None)
                if file not in self._begun:
                    return
                other = self._take(min)
                if other is None and not self._rest(file, until):
                    return
            if other is not None:
                _compile(other[1])

    def _rest(self, file: Path, until: float) -> bool:
        """Wait while a helper is at a kernel and there is nothing else to do; False: in vain."""
        with compiled.waiting():
            while self.is_working and file in self._begun and not self._open:
                if time.monotonic() > until:
                    self.dismiss()
                    return False
                self._changed.wait(min(1.0, PATIENCE))
        return True

    def dismiss(self) -> None:
        """End all helpers now."""
        with self._changed:
            self._open.clear()
            for process in self._processes:
                process.kill()

    def _take(self, choose: Any) -> tuple[Path, Signature] | None:
        """Take the smallest or the largest of what nobody has begun with."""
        file = choose(self._open, key=lambda one: self._open[one].size, default=None)
        return None if file is None else (file, self._open.pop(file))

    # ------------------------------------------------------------------ a thread for each helper
    def _serve(self) -> None:
        try:
            with compiler_process.compiler(self._processes.append) as ask:
                while (task := self._begin()) is not None:
                    try:
                        reason = ask(task[1])
                    finally:
                        self._end(task[0])
                    if reason == compiler_process.ENDED:
                        break
        except OSError:  # no process could be started
            pass
        finally:
            self._leave()

    def _begin(self) -> tuple[Path, Signature] | None:
        with self._changed:
            task = self._take(max)
            self._begun |= set() if task is None else {task[0]}
            return task

    def _end(self, file: Path) -> None:
        with self._changed:
            self._begun.discard(file)
            self._changed.notify_all()

    def _leave(self) -> None:
        with self._changed:
            self._n_helpers -= 1
            if self._n_helpers == 0:
                os.close(self._lock)
            self._changed.notify_all()


def _compile(signature: Signature) -> None:
    """Compile a kernel here; if that fails, who calls it will be told."""
    try:
        signature.dispatcher().compile(signature.types())
    except Exception:
        return


# ---------------------------------------------------------------------- when a kernel is missing
_crew: Crew | None = None
_met: set[Path] = set()  # what was missing so far


def compiled_by_others(kernel: str, file: Path, cache_folder: Path) -> bool:
    """Return whether helpers have compiled a kernel that is missing; it waits if one is about to.

    Who is told False compiles it. Helpers begin with what will be missing next.

    Parameters
    ----------
    kernel : str
        Its module and name.
    file : Path
        Where it will be kept.
    cache_folder : Path
        The user's cache, of which one process at a time has helpers.
    """
    global _crew
    if not helpers_allowed():
        return False
    try:
        _met.add(file)
        crew = _crew if _crew is not None and _crew.is_working else None
        if crew is None or file not in crew.known:
            # all but the one that the fit itself begins with
            tasks = {f: one for f, one in _next_tasks(kernel, file).items() if f != file}
            if crew is not None:
                crew.add(tasks)
            elif tasks:
                crew = _crew = _start(tasks, cache_folder)
        if crew is not None:
            crew.wait_for(file)
    except Exception:  # help is a convenience
        return False
    return file.is_file()


def helpers_allowed() -> int:
    """Return how many processes this one may start to compile for it.

    None on one core, or by request; in a worker of `multiprocessing` or joblib, of which there are enough;
    where Python is not a program of its own, or its kernels cannot be compiled alone.
    """
    asked = os.environ.get(compiler_process.SWITCH, "")
    most = int(asked) if asked.isdigit() else MOST
    is_worker = type(multiprocessing.current_process()).__name__ != "_MainProcess"
    if most == 0 or is_worker or signatures.RECORD or fcntl is None or KernelCompiler is None:
        return 0
    program = Path(sys.executable or "").name.lower()
    if getattr(sys, "frozen", False) or not program.startswith(("python", "pypy")):
        return 0
    return min(most, effective_jobs(None) - 1)


def _start(tasks: Tasks, cache_folder: Path) -> Crew | None:
    """Start helpers, unless another process has some for this cache."""
    lock = os.open(cache_folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return Crew(tasks, min(helpers_allowed(), len(tasks)), lock)


# ---------------------------------------------------------------------- what will be met
def _next_tasks(kernel: str, file: Path) -> dict[Path, Signature]:
    """Return what a fit that meets this kernel will also meet and nobody has compiled.

    Of the recorded ways to use the estimators at work it is the one that has most of what this process
    has met; of equals the first, which is the plainest.
    """
    at_work = set(signatures.at_work())
    ways = [
        files
        for name, way in signatures.read_ways().items()
        if name.split()[0] in at_work and any(one.kernel == kernel for one in way)
        if file in (files := _files(name))
    ]
    best = max(ways, key=lambda files: len(_met & files.keys()), default={})
    return {path: one for path, one in best.items() if not _is_ready(one)}


@cache
def _files(way: str) -> Tasks:
    """Return where the kernels of a way of use are kept; what the sources no longer have is left out."""
    found = {}
    for one in signatures.read_ways()[way]:
        try:
            path = one.dispatcher()._cache.file(one.types(), _context())
        except Exception:
            continue
        if path is not None:
            found[path] = one
    return found


def _is_ready(one: Signature) -> bool:
    return one.dispatcher()._cache.is_ready(one.types(), _context())


def _context() -> Any:
    from numba.core.registry import cpu_target

    return cpu_target.target_context
