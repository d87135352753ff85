"""`arboretum.warmup`: compile in advance, in several processes, what fits would compile when they need it.

What there is to compile is listed in signatures.json. What is neither in a pack nor in the user's cache is
compiled by processes of their own, because Numba compiles under one lock:

    signatures ──> missing ──┬──> python -m arboretum.engine.compiler.warmup ──┐
                             └──> python -m arboretum.engine.compiler.warmup ──┴──> the user's cache
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import NamedTuple

import arboretum
from arboretum.engine.compiler.private import LINKED
from arboretum.engine.compiler.signatures import DEMO, Signature, read_table
from arboretum.engine.parallel import effective_jobs
from arboretum.errors import ParameterError

__all__ = ["Warmup", "missing", "wanted", "warmup"]


class Warmup(NamedTuple):
    """What `warmup` did.

    Attributes
    ----------
    compiled : int
        Kernels that were compiled now.
    ready : int
        Kernels that came with the package or were compiled before.
    failed : tuple of str
        Kernels that could not be compiled, and why: the table does not fit the sources.
    seconds : float
    """

    compiled: int
    ready: int
    failed: tuple[str, ...]
    seconds: float

    def __str__(self) -> str:
        kernels = "kernel" if self.compiled == 1 else "kernels"
        text = f"{self.compiled} {kernels} compiled in {self.seconds:.0f} s"
        text = text if self.compiled else "nothing to compile"
        text += f", {self.ready} were ready"
        return text + f", {len(self.failed)} failed" * bool(self.failed)


def warmup(
    estimators: str | Sequence[str] | None = None,
    *,
    n_jobs: int | None = None,
    verbose: bool = True,
) -> Warmup:
    """Compile the kernels of estimators' usual ways of use now, so that no fit has to wait for it.

    They are kept in the user's cache (``ARBORETUM_CACHE_DIR`` moves it): once per machine is enough. What
    came with the package, in a wheel, is not compiled again.

    Parameters
    ----------
    estimators : str or sequence of str, optional
        Names like ``"XGBClassifier"``, or ``"demo"`` for what ``arboretum demo`` needs; default: all.
    n_jobs : int, optional
        Processes; -1 and the default use all cores. Each takes some 300 MB.
    verbose : bool, default=True
        Show a bar.

    Returns
    -------
    Warmup
        How many kernels were compiled, how many were ready.

    Examples
    --------
    >>> import arboretum
    >>> done = arboretum.warmup("CARTClassifier", n_jobs=1, verbose=False)  # doctest: +SKIP
    >>> print(done)  # doctest: +SKIP
    24 kernels compiled in 21 s, 0 were ready
    """
    start = time.perf_counter()
    signatures = wanted([estimators] if isinstance(estimators, str) else estimators)
    if not LINKED:  # nothing is kept
        return Warmup(0, len(signatures), (), 0.0)
    to_do, failed = missing(signatures)
    ready = len(signatures) - len(to_do) - len(failed)
    with _bar(len(to_do), verbose) as advance:
        failed += _compile(to_do, min(effective_jobs(n_jobs), len(to_do)), advance)
    seconds = time.perf_counter() - start
    return Warmup(len(signatures) - ready - len(failed), ready, tuple(failed), seconds)


# ---------------------------------------------------------------------- what there is to do
def wanted(estimators: Sequence[str] | None = None) -> list[Signature]:
    """Return the signatures of the table that these estimators need."""
    known = *arboretum.ESTIMATORS, DEMO
    for name in estimators or ():
        if name not in known:
            names = ", ".join(known)
            raise ParameterError(f"there is no estimator {name!r} to warm up: there are {names}")
    chosen = set(estimators or ())
    return [one for one in read_table() if not chosen or one.users & chosen]


def missing(signatures: Sequence[Signature]) -> tuple[list[Signature], list[str]]:
    """Return what would have to be compiled, and what the sources no longer have, with the reason."""
    found, failed = [], []
    for one in signatures:
        try:
            dispatcher = one.dispatcher()
            if not dispatcher._cache.is_ready(one.types()):
                found.append(one)
        except Exception as error:  # the sources have another name, or a tuple another length
            failed.append(f"{one.kernel}: {error}")
    return found, failed


@contextmanager
def _bar(n: int, shown: bool) -> Iterator[Callable[[], None]]:
    """Show a bar on stderr; yields a function to call when a kernel is done."""
    if not shown or n == 0:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    columns = ("compiling kernels", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=n)
        yield lambda: bar.advance(task)


# ---------------------------------------------------------------------- in several processes
def _compile(
    to_do: Sequence[Signature], n_processes: int, advance: Callable[[], None]
) -> list[str]:
    """Compile signatures; return which failed.

    Kernels of one module share what they call, so a process takes a module at a time, those with the
    most kernels first.
    """
    by_module = (list(group) for _, group in groupby(to_do, lambda one: one.kernel.split(":")[0]))
    modules = deque(sorted(by_module, key=len, reverse=True))
    failed: list[str] = []

    def serve() -> None:
        with _compiler() as compile_one:
            while True:
                try:
                    module = modules.popleft()
                except IndexError:  # another process took the last
                    return
                for one in module:
                    reason = compile_one(one)
                    failed.extend([f"{one.kernel}: {reason}"] if reason else [])
                    advance()

    threads = [threading.Thread(target=serve) for _ in range(n_processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed


@contextmanager
def _compiler() -> Iterator[Callable[[Signature], str]]:
    """Start a process that compiles; yields a function that returns why a signature failed, or "".

    A program of its own, because a forked or spawned one would run the user's script again.
    """
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path),
        "PYTHONSAFEPATH": "1",  # it imports what this process would import, and nothing else
    }
    with subprocess.Popen(
        [sys.executable, "-m", "arboretum.engine.compiler.warmup"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    ) as process:

        def compile_one(signature: Signature) -> str:
            try:
                print(json.dumps(signature[:2]), file=process.stdin, flush=True)
                answer = process.stdout.readline()
            except OSError:  # a broken pipe
                answer = ""
            return answer.strip() if answer else "the process that compiles ended"

        yield compile_one
        with suppress(OSError):  # what a process that ended did not read
            process.stdin.close()


def main() -> None:
    """Compile the signature of every line of standard input; answer with a line: empty, or what failed."""
    for line in sys.stdin:
        kernel, arguments = json.loads(line)
        try:
            Signature(kernel, tuple(arguments)).compile()
            print("", flush=True)
        except BrokenPipeError:
            return
        except Exception as error:
            print(f"{type(error).__name__}: {error}".splitlines()[0], flush=True)


if __name__ == "__main__":
    main()
