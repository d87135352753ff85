"""Packs are made for a baseline CPU and used on the CPU at hand; a wheel brings them along."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from arboretum.engine.compiler import packs
from tests.engine.processes import run_script

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.skipif(not packs.baselines(), reason="no baseline of this architecture")
BASELINE = list(packs.baselines())[-1]  # the one that most machines have

TABLE = """
from arboretum.engine.compiler import make_packs, packs, warmup
from arboretum.engine.compiler.signatures import Signature
table = [
    Signature("arboretum.engine.random:child_keys", ("uint64 1C", "uint64 1C")),
    Signature("arboretum.engine.predict.walk:is_complete", ("float64 2C",)),
]
make_packs.read_table = warmup.read_table = lambda: table
"""
MAKE = """
import sys
sys.argv = ["pack", "--in-place", FOLDER, BASELINE]
sys.exit(make_packs.main())
"""
USE = """
import numpy as np
from pathlib import Path
from arboretum.engine.compiler.cache import compiled
from arboretum.engine.random import child_keys
from arboretum.engine.predict.walk import is_complete
keys = np.empty(2, np.uint64)
child_keys(np.array([0], np.uint64), keys)
print(f"{keys[0]:x}", is_complete(np.zeros((3, 2))), compiled.n_kernels)
"""


def _make(folder: Path) -> str:
    features = ",".join(f"+{name}" for name in packs.baselines()[BASELINE])
    where = f"FOLDER, BASELINE = {str(folder)!r}, {BASELINE!r}\n"
    return run_script(
        TABLE + where + MAKE,
        NUMBA_CPU_NAME=BASELINE,
        NUMBA_CPU_FEATURES=features,
        ARBORETUM_CACHE_DIR=str(folder / BASELINE),
    )


def test_code_for_a_baseline_runs_on_the_cpu_at_hand(tmp_path):
    told = _make(tmp_path)
    assert "2 kernels compiled" in told
    assert f"{BASELINE}.pack: 2 kernels" in told
    elsewhere = f"packs.FOLDER = __import__('pathlib').Path({str(tmp_path)!r})\n"
    empty = str(tmp_path / "cache")
    assert run_script(TABLE + elsewhere + USE, ARBORETUM_CACHE_DIR=empty).split() == [
        "e220a8397b1dcdaf", "True", "0",
    ]  # fmt: skip
    assert not list(Path(empty).rglob("*.kernel"))
    without = run_script(TABLE + elsewhere + USE, ARBORETUM_CACHE_DIR=empty, ARBORETUM_PREBUILT="0")
    assert without.split()[-1] == "2"


def test_an_unknown_baseline_is_said(tmp_path):
    command = [sys.executable, "-m", "arboretum.engine.compiler.make_packs", str(tmp_path), "z80"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 2
    assert f"unknown baseline 'z80': there are {', '.join(packs.baselines())}" in done.stderr


@pytest.mark.slow
def test_a_wheel_brings_kernels_along(tmp_path):
    """As `make wheel` does, with two kernels; asks the index for what builds wheels."""
    _make(tmp_path / "packs")
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(ROOT)]
    subprocess.run(pip, check=True)
    subprocess.run(pip, check=True, env={**os.environ, "ARBORETUM_PACKS": str(tmp_path / "packs")})
    (plain,) = tmp_path.glob("*-py3-none-any.whl")
    (wheel,) = tmp_path.glob(f"*-cp{sys.version_info[0]}{sys.version_info[1]}-*.whl")
    packs = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".pack")]
    assert packs == [f"arboretum/engine/compiler/packs/{BASELINE}.pack"]
    assert not [name for name in zipfile.ZipFile(plain).namelist() if name.endswith(".pack")]
    venv.create(tmp_path / "fresh", with_pip=True, symlinks=os.name != "nt")
    python = tmp_path / "fresh" / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", wheel], check=True)
    here = os.pathsep.join(path for path in sys.path if "site-packages" in path)
    env = {**os.environ, "PYTHONPATH": "", "ARBORETUM_CACHE_DIR": str(tmp_path / "cache")}
    add = f"import sys; sys.path += {here.split(os.pathsep)!r}\n"
    done = subprocess.run(
        [python, "-c", add + USE], env=env, capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.split()[-1] == "0"
