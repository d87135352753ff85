"""Start-up: how long a person waits for an import or for the first fit of all.

Every script runs in a fresh Python process; the time is that of the whole process, interpreter
included. ``ARBORETUM_CACHE_DIR`` points to a directory of our own, so the user's compile cache
plays no part:

    cold    an empty directory each time: everything is compiled
    warm    one directory for all scripts, filled by a run that is not counted
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.data import Split
from benchmarks.harness import Options, Say
from benchmarks.process import fresh_python

__all__ = ["Script", "ScriptResult", "StartUp", "StartUpResult"]


@dataclass(frozen=True)
class Script:
    """A few lines of Python to run in a fresh process.

    They run in a directory that holds ``<name>_X.npy`` and ``<name>_y.npy`` of every data set of
    the experiment, so that reading data costs next to nothing.
    """

    label: str
    code: str
    cold: bool = False
    goal: float | None = None  # seconds
    in_quick: bool = True


@dataclass(frozen=True)
class ScriptResult:
    """The times of one script."""

    label: str
    cold: bool
    goal: float | None
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.seconds)


@dataclass(frozen=True)
class StartUpResult:
    """All scripts of one experiment."""

    name: str
    title: str
    scripts: tuple[ScriptResult, ...]


@dataclass(frozen=True)
class StartUp:
    """Scripts that are run in turns, each in fresh processes."""

    name: str
    title: str
    data: Mapping[str, Callable[[], Split]]
    scripts: tuple[Script, ...]

    def measure(self, options: Options, say: Say) -> StartUpResult:
        """Run every script ``repeat`` times (once if quick)."""
        scripts = [s for s in self.scripts if s.in_quick or not options.quick]
        times: dict[str, list[float]] = {s.label: [] for s in scripts}
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for key, make in self.data.items():
                split = make()
                np.save(folder / f"{key}_X.npy", split.X)
                np.save(folder / f"{key}_y.npy", split.y)
            warm = folder / "warm"
            for script in scripts:
                if not script.cold:
                    say(f"{script.label}: filling the cache")
                    _seconds(script, folder, warm)
            for _ in range(1 if options.quick else options.repeat):
                for script in scripts:
                    say(script.label)
                    with tempfile.TemporaryDirectory(dir=folder) as empty:
                        cache = Path(empty) if script.cold else warm
                        times[script.label].append(_seconds(script, folder, cache))
        results = [ScriptResult(s.label, s.cold, s.goal, tuple(times[s.label])) for s in scripts]
        return StartUpResult(self.name, self.title, tuple(results))


def _seconds(script: Script, folder: Path, cache: Path) -> float:
    """Run a script in a fresh process and return how long the process took."""
    start = time.perf_counter()
    fresh_python(
        ["-c", script.code],
        folder,
        f"the script {script.label!r}",
        {"ARBORETUM_CACHE_DIR": str(cache)},
    )
    return time.perf_counter() - start
