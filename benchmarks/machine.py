"""Facts about the machine that help to read the numbers: no host name, no user, no path."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["facts"]

_PACKAGES = ("scikit-learn", "numpy", "scipy", "numba", "llvmlite", "pandas")


def _processor() -> str:
    """Return the processor's name where the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def facts() -> dict[str, Any]:
    """Return cores, processor, system, load and versions.

    The load average tells whether something else was running: ratios bear it, times do not.
    """
    import joblib

    import arboretum

    versions = {name: _version(name) for name in _PACKAGES}
    return {
        "cores": joblib.cpu_count(),
        "processor": _processor(),
        "architecture": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "versions": {
            "arboretum": arboretum.__version__,
            **{name: known for name, known in versions.items() if known},
        },
    }
