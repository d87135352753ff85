"""The same bytes on every x86-64 machine: the golden set again, as if the processor could do less.

NumPy, the C library and BLAS choose their functions by what the processor can do; all can be kept from using
it. Linear models of scikit-learn and standard errors of forests (docs/design.md) are BLAS's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

_ROOT = Path(__file__).parents[2]
_CPU = np._core._multiarray_umath  # type: ignore[attr-defined]
_EXTRA = [name for name in _CPU.__cpu_dispatch__ if _CPU.__cpu_features__.get(name)]
_GLIBC = "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-FMA,-FMA_Usable,-FMA4,-AVX512F,-AVX512F_Usable"
SETTINGS = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(_EXTRA),
    "GLIBC_TUNABLES": _GLIBC,
    "OPENBLAS_CORETYPE": "Nehalem",
}
BY_OTHERS = {"forest/numbers", "gradient/init", "adaboost/foreign", "bagging/foreign"}
BY_OTHERS |= {"combined/stacking, foreign"}


def _make(*arguments: str, **settings: str) -> subprocess.CompletedProcess:
    environment = {k: v for k, v in os.environ.items() if k not in SETTINGS}
    return subprocess.run(
        [sys.executable, "-m", "tests.golden.make", *arguments],
        env=environment | settings,
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.skipif(not _EXTRA, reason="this processor has nothing that NumPy could do without")
def test_a_processor_that_can_do_less_makes_the_same_bytes(tmp_path):
    kept = str(tmp_path / "bytes.txt")
    made = _make("--bytes", kept)
    assert made.returncode == 0, made.stderr
    again = _make("--bytes", kept, "--check", **SETTINGS)
    *changes, summary = again.stdout.splitlines()
    assert "cases," in summary, again.stderr
    allowed = {f"{name}: the answers changed" for name in BY_OTHERS}
    assert not set(changes) - allowed
