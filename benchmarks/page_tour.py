"""Run the examples of README and docs, page by page: ``python -m benchmarks.page_tour``.

Used where kernels are recorded (record_kernels.py) and where those of a wheel are tried (cold_start.py).
Many examples begin with "given X and y": those are there.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["main", "run_page"]

ROOT = Path(__file__).resolve().parents[1]
_FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _given() -> dict[str, Any]:
    import arboretum

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    parts = {"": (X, y), "_train": (X[:300], y[:300])}
    parts |= dict.fromkeys(("_valid", "_test", "_new"), (X[300:], y[300:]))
    given = {f"{name}{end}": part for end, both in parts.items() for name, part in zip("Xy", both)}
    return {**{name: getattr(arboretum, name) for name in arboretum.__all__}, **given}


def run_page(page: Path) -> tuple[int, list[str]]:
    """Run the examples of a page; return how many ran, and why others did not."""
    known, ran, failed = _given(), 0, []
    for source in _FENCE.findall(page.read_text(encoding="utf-8")):
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                if source.startswith(">>>"):
                    test = doctest.DocTestParser().get_doctest(source, known, page.name, None, 0)
                    doctest.DocTestRunner().run(test, clear_globs=False)
                else:
                    exec(source, known)
            ran += 1
        except Exception as error:
            failed.append(f"{page.name}: {type(error).__name__}: {error}")
    return ran, failed


def main() -> None:
    """Run all pages."""
    os.environ["MPLBACKEND"] = "Agg"
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:  # examples write files
        os.chdir(folder)
        os.symlink(ROOT / "tests", "tests")
        for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
            ran, failed = run_page(page)
            if ran or failed:
                print(f"{page.name}: {ran} examples")
            print(*failed, sep="\n", file=sys.stderr, end="\n" if failed else "")
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
