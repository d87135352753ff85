"""A process that compiles what it is told: ``python -m arboretum.engine.compiler.compiler_process``.

It reads a signature from every line of its standard input, compiles it into the user's cache, and answers
with a line: empty if all is well, else the reason why not.

    process A   ── ["arboretum.engine.split.one_sum:search", ["float64 2C", …]] ──>   process B
                <── ""  (it is in the cache)  ──

Processes, because Numba compiles under one lock; programs of their own, because a forked or spawned one
would run the script of a person who fits a model in it. It ends with its input, and when whoever started it
is gone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from arboretum.engine.compiler.signatures import Signature

__all__ = ["SWITCH", "compiler"]

SWITCH = "ARBORETUM_COMPILE_HELPERS"  # how many processes a fit may start; 0: none
ENDED = "the process that compiles ended"
_LOOK_EVERY = 0.5  # seconds


@contextmanager
def compiler(
    on_start: Callable[[subprocess.Popen], None] = lambda process: None,
) -> Iterator[Callable[[Signature], str]]:
    """Start a process; yields what sends it a signature and returns the reason of a failure.

    ``on_start`` is told the process.
    """
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path),
        "PYTHONSAFEPATH": "1",  # it finds what is found here, and nothing else
        SWITCH: "0",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "arboretum.engine.compiler.compiler_process", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    on_start(process)

    def ask(signature: Signature) -> str:
        try:
            print(json.dumps(signature[:2]), file=process.stdin, flush=True)
            answer = process.stdout.readline()
        except (OSError, ValueError):  # a broken or a closed pipe
            return ENDED
        return answer.strip() if answer else ENDED

    try:
        yield ask
    finally:
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # what was not sent cannot be sent now
                pipe.close()
        process.wait()


def _end_with(parent: int) -> None:
    """End this process when the one that started it is gone."""
    while os.getppid() == parent:
        time.sleep(_LOOK_EVERY)
    os._exit(1)


def main() -> None:
    """Be such a process."""
    if os.name == "posix" and len(sys.argv) > 1:
        threading.Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
    for line in sys.stdin:
        kernel, arguments = json.loads(line)
        one = Signature(kernel, tuple(arguments))
        try:
            one.dispatcher().compile(one.types())
            print("", flush=True)
        except BrokenPipeError:
            return
        except Exception as error:
            print(f"{type(error).__name__}: {error}".splitlines()[0], flush=True)


if __name__ == "__main__":
    main()
