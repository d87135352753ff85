"""Count how many files a fit or a report enters, and how often it turns upward.

    python -m benchmarks.files_entered [--all] [CART forest AdaBoost GBM XGB LGBM report]

A file is *entered* if a Python function of it is called by a second, warm fit on a small table. Kernels are
compiled, so engine files count by their Python side only; with NUMBA_DISABLE_JIT=1 kernels count, too. (Calls
are traced, not profiled: some ways to call a kernel tell a profiler of it and others do not.)

A fit should go down the house, from the model to the engine. A call is an *upward turn* if it leads from a
function in one file to a function in a file of a higher room: the lower one then knows, by a method or by a
function it was handed, of those above it. Rooms are ordered as in tests/test_architecture.py, and within
boosting the APIs (xgboost, lightgbm) stand above the rest. Calls through other packages, and through
engine/parallel.py and lazy.py, which run the work of their callers, count as made by the function before.
Every pair of functions counts once.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import numpy as np

import arboretum

__all__ = ["count", "fits", "report"]

ROOT = Path(arboretum.__file__).parent
_ROOMS = "engine data io structure predict grow base cart c45 forest boosting combine explain cli"
_ORDER = _ROOMS.split()
_APIS = ("boosting/xgboost", "boosting/lightgbm")
_PASSED = ("engine/parallel.py", "lazy.py")  # they run the work of their callers


def rank(file: str) -> float:
    """Return the place of a file in the order of rooms; files outside of rooms are below all of them."""
    room = file.split("/")[0]
    return (_ORDER.index(room) if room in _ORDER else -1) + 0.5 * file.startswith(_APIS)


def count(fit: Callable[[], Any]) -> tuple[set[str], set[tuple[str, str]]]:
    """Return the files that a call enters, and its upward turns as pairs of functions."""
    names: dict[str, str | None] = {}
    files: set[str] = set()
    turns: set[tuple[str, str]] = set()

    def name_of(frame: FrameType) -> str | None:
        path = frame.f_code.co_filename
        if path not in names:
            inside = ROOT in Path(path).parents
            names[path] = Path(path).relative_to(ROOT).as_posix() if inside else None
        return names[path]

    def look(frame: FrameType, event: str, _: Any) -> None:  # None: its lines are of no interest
        if event != "call" or (callee := name_of(frame)) is None:
            return
        files.add(callee)
        back = frame.f_back
        while back is not None and name_of(back) in (None, *_PASSED):
            back = back.f_back
        caller = None if back is None else name_of(back)
        if back is not None and caller is not None and rank(caller) < rank(callee):
            made = f"{caller}:{back.f_code.co_qualname}"
            turns.add((made, f"{callee}:{frame.f_code.co_qualname}"))

    fit()
    sys.settrace(look)
    try:
        fit()
    finally:
        sys.settrace(None)
    return files, turns


def fits() -> dict[str, Callable[[], Any]]:
    """Return the fits that are counted, by name."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
    models = {
        "CART": arboretum.CARTClassifier(),
        "forest": arboretum.RandomForestClassifier(n_estimators=10, n_jobs=1),
        "AdaBoost": arboretum.AdaBoostClassifier(n_estimators=10),
        "GBM": arboretum.GradientBoostingClassifier(n_estimators=10),
        "XGB": arboretum.XGBClassifier(n_estimators=10, n_jobs=1),
        "LGBM": arboretum.LGBMClassifier(n_estimators=10, n_jobs=1),
    }
    return {name: (lambda model=model: model.fit(X, y)) for name, model in models.items()}


def report() -> None:
    """Make the page of a small booster."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
    model = arboretum.XGBClassifier(n_estimators=10, n_jobs=1).fit(X, y)
    with TemporaryDirectory() as folder:
        model.report(X, y, Path(folder) / "page.html")


def main() -> None:
    """Print the counts."""
    warnings.simplefilter("ignore")
    asked = [word for word in sys.argv[1:] if not word.startswith("-")]
    for name, fit in {**fits(), "report": report}.items():
        if asked and name not in asked:
            continue
        files, turns = count(fit)
        print(f"{name:8s}{len(files):3d} files entered, {len(turns):2d} upward turns")
        if "--all" in sys.argv:
            print(*(f"    {file}" for file in sorted(files)), sep="\n")
            print(*(f"    {caller} -> {callee}" for caller, callee in sorted(turns)), sep="\n")


if __name__ == "__main__":
    main()
