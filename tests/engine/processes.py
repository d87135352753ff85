"""Pythons of their own, for tests of what is read when Numba is imported."""

import os
import subprocess
import sys
from pathlib import Path

from arboretum.engine.compiler import decorators

SOURCE = str(Path(decorators.__file__).parents[3])


def run_script(script: str, **environment: str) -> str:
    """Run a script in a new Python; return what it prints."""
    inherited = {name: v for name, v in os.environ.items() if not name.startswith("NUMBA_")}
    env = {**inherited, "PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1", **environment}
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", script],
        env=env,
        capture_output=True,
        text=True,
        timeout=1800,  # only ends what hangs: kernels compile slowly on a busy machine
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
