"""Cold starts: the first fit of every estimator from an empty cache, from a wheel, and warm.

    python -m benchmarks startup                       all estimators; `make wheel` first
    python -m benchmarks startup --case XGBClassifier tour

Every fit runs in a fresh process (first_fit.py), of 500 rows of 10 columns and ten trees:

    source    these sources, an empty compile cache
    wheel     a fresh environment into which the wheel in dist/ is installed, an empty compile cache
    warm      these sources, a cache that a run before it has filled
    peer      scikit-learn's own class of that kind, if it has one

Figures are CPU seconds of the process, which other work on the machine changes less than the clock's.
``tour`` runs the examples of README and docs and ``real --quick`` in the wheel's environment and counts
what was compiled: nothing.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import site
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import arboretum
from benchmarks.harness import Options, Say, Unavailable

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "ColdStart",
    "ColdStartResult",
    "Tour",
    "experiments",
    "plain_cold_starts",
    "print_cold_starts",
]

ROOT = Path(__file__).resolve().parents[1]
QUICK_CASES = ("CARTClassifier", "RandomForestClassifier", "XGBClassifier")
_PEERS = {
    "CART": "DecisionTree",
    "ExtraTree": "ExtraTree",
    "RandomForest": "RandomForest",
    "ExtraTrees": "ExtraTrees",
    "Bagging": "Bagging",
    "GradientBoosting": "GradientBoosting",
    "AdaBoost": "AdaBoost",
    "XGB": "HistGradientBoosting",
    "LGBM": "HistGradientBoosting",
}
_MOST = 2.0  # times the warm first fit, with a wheel
_ABOVE = 0.5  # seconds above scikit-learn's import and fit, warm


@dataclass(frozen=True)
class ColdStartResult:
    """Seconds of first fits by how they started, and how many kernels each compiled."""

    name: str
    fit: dict[str, float]
    total: dict[str, float]
    compiled: dict[str, int]


@dataclass(frozen=True)
class ColdStart:
    """The first fit of one estimator."""

    name: str

    def measure(self, options: Options, say: Say) -> ColdStartResult:
        """Start in turns, every way ``repeat`` times; from source once, because that takes long."""
        runs: dict[str, list[dict[str, Any]]] = {"source": [], "wheel": [], "warm": [], "peer": []}
        python = _wheel_python()
        with tempfile.TemporaryDirectory() as folder:
            warm = Path(folder, "warm")
            say("from source")
            runs["source"].append(_first_fit(sys.executable, [self.name], warm))
            for number in range(1 if options.quick else options.repeat):
                say(f"round {number + 1}")
                if python is not None:
                    empty = Path(folder, f"empty {number}")
                    runs["wheel"].append(_first_fit(python, [self.name], empty))
                runs["warm"].append(_first_fit(sys.executable, [self.name], warm))
                if _peer(self.name):
                    peer = ["scikit-learn", _peer(self.name)]
                    runs["peer"].append(_first_fit(sys.executable, peer, warm))
        measured = {way: many for way, many in runs.items() if many}
        return ColdStartResult(
            self.name,
            {way: median(run["fit"] for run in many) for way, many in measured.items()},
            {way: median(run["total"] for run in many) for way, many in measured.items()},
            {way: max(run["compiled"] for run in many) for way, many in measured.items()},
        )


@dataclass(frozen=True)
class Tour:
    """What README, docs and the benchmark of real tables compile in the wheel's environment."""

    name: str = "tour"

    def measure(self, options: Options, say: Say) -> ColdStartResult:
        """Run them from an empty cache and count."""
        python = _wheel_python()
        if python is None:
            raise Unavailable("there is no wheel with kernels in dist/: make wheel")
        compiled = {}
        for way, arguments in {
            "README and docs": ["-m", "benchmarks.page_tour"],
            "demo": ["-m", "arboretum", "demo", "-o", tempfile.mkdtemp()],
            "real --quick": ["-m", "benchmarks", "real", "--quick", "--out", tempfile.mkdtemp()],
        }.items():
            say(way)
            compiled[way] = _count_compiled(python, arguments)
        return ColdStartResult(self.name, {}, {}, compiled)


def experiments(jobs: int) -> dict[str, Any]:
    """Return a start of every estimator, and the tour."""
    return {**{name: ColdStart(name) for name in arboretum.ESTIMATORS}, "tour": Tour()}


# ---------------------------------------------------------------------- processes
def _first_fit(python: str, arguments: Sequence[str], cache: Path) -> dict[str, Any]:
    return json.loads(_run(python, [str(ROOT / "benchmarks" / "first_fit.py"), *arguments], cache))


def _count_compiled(python: str, arguments: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "record")
        record.touch()
        _run(python, arguments, Path(folder, "cache"), ARBORETUM_RECORD_KERNELS=str(record))
        return sum(json.loads(line)["compiled"] for line in record.read_text().splitlines())


def _run(python: str, arguments: Sequence[str], cache: Path, **more: str) -> str:
    """Run a Python with a cache of its own; from the wheel's it must not see these sources."""
    # threads of OpenMP that wait for work would count as work
    env = {**os.environ, "ARBORETUM_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1", **more}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # else Python compiles its own modules every time
    env["PYTHONPATH"] = str(ROOT / "src") if python == sys.executable else ""
    done = subprocess.run(
        [python, *arguments], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: {(done.stderr.splitlines() or ['?'])[-1]}")
    return done.stdout


@functools.cache
def _wheel_python() -> str | None:
    """Return the Python of a fresh environment with the newest wheel in it; None without such a wheel.

    What the package needs is taken from the environment at hand: an index of packages is not asked.
    """
    wheels = sorted((ROOT / "dist").glob("*-cp*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        return None
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    venv.create(folder, with_pip=True, symlinks=os.name != "nt")
    python = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    install = ["-m", "pip", "install", "-q", "--no-deps", "--no-index", str(wheels[-1])]
    subprocess.run([python, *install], check=True)
    find = "import site; print(site.getsitepackages()[0])"
    packages = subprocess.run([python, "-c", find], check=True, capture_output=True, text=True)
    here = "\n".join(site.getsitepackages())
    Path(packages.stdout.strip(), "others.pth").write_text(here, encoding="utf-8")
    return python


def _peer(name: str) -> str:
    for kind in ("Classifier", "Regressor"):
        if name.endswith(kind):
            family = _PEERS.get(name.removesuffix(kind))
            return f"{family}{kind}" if family else ""
    return ""


# ---------------------------------------------------------------------- a table for people
def print_cold_starts(results: Sequence[ColdStartResult], console: Console) -> None:
    """Print a line per estimator."""
    from rich.table import Table

    table = Table(title="First fits of fresh processes: CPU seconds (kernels compiled)")
    table.add_column("estimator")
    for heading in (
        "source",
        "wheel",
        "warm",
        "wheel ÷ warm",
        "import + fit, warm",
        "scikit-learn's",
    ):
        table.add_column(heading, justify="right")
    for one in results:
        if one.fit:
            table.add_row(one.name, *_cells(one))
    if table.rows:
        console.print(table)
        console.print(
            f"goals: wheel ÷ warm ≤ {_MOST:g}; import + fit ≤ scikit-learn's + {_ABOVE:g} s"
        )
    for one in results:
        for way, count in one.compiled.items() if not one.fit else ():
            console.print(f"from the wheel, {way}: {count} kernels compiled")


def _cells(one: ColdStartResult) -> list[str]:
    def seconds(way: str) -> str:
        return f"{one.fit[way]:.2f} ({one.compiled[way]})" if way in one.fit else "–"

    ratio, peer = "–", "–"
    if "wheel" in one.fit:
        ratio = _coloured(one.fit["wheel"] / one.fit["warm"], _MOST, "×")
    if "peer" in one.total:
        above = one.total["warm"] - one.total["peer"]
        peer = f"{one.total['peer']:.2f}, {_coloured(above, _ABOVE, ' s')} above"
    return [*map(seconds, ("source", "wheel", "warm")), ratio, f"{one.total['warm']:.2f}", peer]


def _coloured(value: float, most: float, unit: str) -> str:
    return f"[{'green' if value <= most else 'red'}]{value:.2f}{unit}[/]"


def plain_cold_starts(results: Sequence[ColdStartResult]) -> list[dict[str, Any]]:
    """Return the results as JSON knows them."""
    return [asdict(one) for one in results]
