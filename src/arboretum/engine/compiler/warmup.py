"""`arboretum.warmup`: compile ahead, in several processes, what fits would compile when they need it.

What there is to compile stands in signatures.json. What is neither in the package nor in the user's cache
is shared out to processes, each of which is told a signature by a line on its standard input and answers
when it is compiled:

    signatures ──> missing ──┬──> compiler_process.py ──┐
                             └──> compiler_process.py ──┴──> the user's cache
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple

import arboretum
from arboretum.engine.compiler.compiler_process import compiler
from arboretum.engine.compiler.decorators import COMPILED
from arboretum.engine.compiler.signatures import Signature, read_table
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
        Names like ``"XGBClassifier"``; default: all.
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
    if not COMPILED:
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
    for name in estimators or ():
        if name not in arboretum.ESTIMATORS:
            known = ", ".join(arboretum.ESTIMATORS)
            raise ParameterError(f"there is no estimator {name!r} to warm up: there are {known}")
    chosen = set(estimators or ())
    return [one for one in read_table() if not chosen or one.estimators & chosen]


def missing(signatures: Sequence[Signature]) -> tuple[list[Signature], list[str]]:
    """Return what would have to be compiled, and what the sources no longer have, with the reason."""
    from numba.core.registry import cpu_target

    found, failed = [], []
    for one in signatures:
        try:
            dispatcher = one.dispatcher()
            if not dispatcher._cache.is_ready(one.types(), cpu_target.target_context):
                found.append(one)
        except Exception as error:  # the sources have another name, or a tuple another length
            failed.append(f"{one.kernel}: {error}")
    return found, failed


@contextmanager
def _bar(n: int, shown: bool) -> Iterator[Callable[[], None]]:
    """Show a bar on stderr; yields what is to be called when a kernel is done."""
    if not shown or n == 0:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    columns = ("compiling kernels", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=n)
        yield lambda: bar.advance(task)


# ---------------------------------------------------------------------- sharing it out
def _compile(
    to_do: Sequence[Signature], n_processes: int, advance: Callable[[], None]
) -> list[str]:
    """Have signatures compiled; return which failed.

    Neighbours are of one module and share what they call. So every process has a stretch of its own to
    begin with, and takes from the end of the longest when that is done.
    """
    bounds = [len(to_do) * i // n_processes for i in range(n_processes + 1)] if n_processes else [0]
    stretches = [deque(to_do[a:b]) for a, b in pairwise(bounds)]
    failed: list[str] = []

    def serve(own: deque[Signature]) -> None:
        with compiler() as ask:
            while True:
                longest = max(stretches, key=len)
                try:
                    task = own.popleft() if own else longest.pop()
                except IndexError:  # nothing is left, here or anywhere
                    return
                reason = ask(task)
                failed.extend([f"{task.kernel}: {reason}"] if reason else [])
                advance()

    threads = [threading.Thread(target=serve, args=(one,)) for one in stretches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed
