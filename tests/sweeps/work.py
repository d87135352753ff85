"""What the sweeps share: how long they run, a fit in a process, and what is left in a folder."""

import hashlib
import os
import subprocess
import sys
import warnings
from pathlib import Path

from sklearn.base import clone

from tests.io.model_cases import MAKERS, X, saved

ROOT = Path(__file__).parents[2]
SIZE = int(os.environ.get("SWEEP_SIZE", "1"))  # times the usual number of cases
KINDS = [name for name in MAKERS if "imputer" not in name.lower()]


def fit_bytes(name: str) -> str:
    """Return a hash of the file of a model that is fitted here and now."""
    model, y, arguments = MAKERS[name]
    model = clone(model)
    seeds = [one for one in model.get_params() if one.endswith("random_state")]
    model.set_params(**dict.fromkeys(seeds, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return hashlib.sha256(saved(model.fit(X, y, **arguments))).hexdigest()


def start(code: str, *arguments: object, **environment: str) -> subprocess.Popen:
    """Start a script that finds the package and the tests as this process does."""
    path = os.pathsep.join(one for one in (str(ROOT), *sys.path) if one)
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )


def finished(process: subprocess.Popen, seconds: float = 120) -> str:
    """Return what a script printed; it must end well and in time."""
    try:
        out, err = process.communicate(timeout=seconds)
    finally:
        process.kill()
    assert process.returncode == 0, err[-2000:]
    return out


def scratch_files(folder: Path) -> list[str]:
    """Return the unfinished files of a folder."""
    return sorted(path.name for path in folder.glob(".arboretum-*"))
