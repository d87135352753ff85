"""Running a piece of Python in a fresh process, where nothing has been imported or left behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["fresh_python"]

_ERROR = re.compile(r"^[A-Za-z_][\w.]*(Error|Exception|Interrupt|Exit)\b.*", re.MULTILINE)


def fresh_python(
    arguments: Sequence[str],
    folder: Path,
    what: str,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run ``python arguments`` in a folder and return what it printed.

    Raises
    ------
    RuntimeError
        If it fails: ``what`` failed, and the last error it named (a traceback may end otherwise).

    Examples
    --------
    >>> fresh_python(["-c", "print(6 * 7)"], Path("."), "sum").strip()
    '42'
    """
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        named = [match.group(0) for match in _ERROR.finditer(done.stderr)]
        lines = named or done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise RuntimeError(f"{what} failed: {lines[-1]}")
    return done.stdout
