"""Tables that are streamed: reading and training beside the peers' own ways, and memory.

    python -m benchmarks scale                          streaming, map, memory: 10,000,000 × 28
    python -m benchmarks scale --rows 1000000           another size
    python -m benchmarks scale --case hundred-million   100,000,000 × 28, made first: 11.6 GB

    streaming         CPU seconds from the file to the first round; CPU per row and round after it
    map               the same rounds on memory-mapped codes and on codes in memory
    memory            a fit under a limit of anonymous memory (RLIMIT_DATA): 48 bytes a row and 0.5 GB
    hundred-million   one fit to the end, 100 trees

Every contender runs alone in its process (scale_run.py), in turns. Figures are CPU seconds, which other work
on the machine changes less than the clock's.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.harness import Options, Say, Unavailable
from benchmarks.process import fresh_python

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["LONG_CASES", "ScaleResult", "experiments", "make_file", "scale_table"]

LONG_CASES = ("hundred-million",)  # run only by name
_ROOT = Path(__file__).resolve().parents[1]
_COLUMNS, _GROUP = 28, 250_000
_QUICK, _FEW = 200_000, 5_000
_BYTES = 4 * _COLUMNS + 1  # of a row of the file
_CODES = 3 * _COLUMNS  # of a row in the scratch folder, at most

OURS, MAPPED, LIMITED = "arboretum, streamed", "arboretum, in memory", "arboretum, limited memory"
_PEERS = ("XGBoost, QuantileDMatrix", "XGBoost, ExtMemQuantileDMatrix", "LightGBM, Sequence")


def make_file(path: Path, n: int) -> None:
    """Write ``n`` rows of 28 numbers and a class, without compression."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    names = [f"x{k}" for k in range(_COLUMNS)]
    schema = pa.schema([*((name, pa.float32()) for name in names), ("y", pa.int8())])
    options = {"compression": "none", "use_dictionary": False}
    with parquet.ParquetWriter(path, schema, **options) as file:
        for start in range(0, n, _GROUP):
            m = min(_GROUP, n - start)
            X = rng.standard_normal((_COLUMNS, m), dtype=np.float32)
            score = X[0] * X[1] + np.sin(2 * X[2]) + 0.5 * X[3] ** 2 + 0.4 * X[4:8].sum(axis=0)
            y = (score + rng.standard_normal(m) > 0.4).astype(np.int8)
            file.write_table(pa.table([*X, y], schema=schema))


@dataclass(frozen=True)
class ScaleResult:
    """Figures of every contender: medians over the runs."""

    name: str
    title: str
    rows: int
    figures: dict[str, dict[str, float]]
    goals: dict[str, float] = field(
        default_factory=dict
    )  # "reading ÷ peer" and the like -> at least


@dataclass(frozen=True)
class Scale:
    """Contenders on one file."""

    name: str
    title: str
    contenders: Sequence[str]
    rows: int = 10_000_000
    rounds: int = 10
    runs: int | None = None  # None: those of the command line
    goals: Mapping[str, float] = field(default_factory=dict)

    def measure(self, options: Options, say: Say) -> ScaleResult:
        """Make the file, and run all contenders in turns."""
        rows = options.rows or (_QUICK if options.quick else self.rows)
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in self.contenders}
        with tempfile.TemporaryDirectory() as folder:
            _check_disk(folder, rows)
            path, few = Path(folder, "rows.parquet"), Path(folder, "few.parquet")
            say(f"making {rows:,} rows")
            make_file(few, _FEW)
            make_file(path, rows)
            for number in range(self.runs or (1 if options.quick else options.repeat)):
                for name in self.contenders:
                    say(f"round {number + 1}: {name}")
                    task = {"contender": name, "path": str(path), "few": str(few)}
                    task |= {"rounds": self.rounds, "jobs": options.jobs}
                    arguments = ["-m", "benchmarks.scale_run", json.dumps(task)]
                    printed = fresh_python(arguments, _ROOT, name)
                    runs[name].append(json.loads(printed.splitlines()[-1]))
        figures = {
            name: {figure: median(run[figure] for run in many) for figure in many[0]}
            for name, many in runs.items()
        }
        return ScaleResult(self.name, self.title, rows, figures, dict(self.goals))


def _check_disk(folder: str, rows: int) -> None:
    needed, free = rows * (_BYTES + _CODES), shutil.disk_usage(folder).free
    if needed > 0.9 * free:
        raise Unavailable(
            f"{needed / 1e9:.1f} GB on the disk of {folder}: {free / 1e9:.1f} are free"
        )


def experiments(jobs: int) -> dict[str, Any]:
    """Return the experiments."""
    found = [
        Scale(
            "streaming", "from the file to rounds", ("pyarrow, only reading", OURS, *_PEERS),
            goals={"reading of XGBoost, QuantileDMatrix": 8, "reading of LightGBM, Sequence": 4},
        ),
        Scale("map", "rounds on a map and in memory", (OURS, MAPPED), rounds=30),
        Scale("memory", "anonymous memory under a limit", (LIMITED,), rounds=5, runs=1),
        Scale(
            "hundred-million", "one fit to the end", (LIMITED,), rows=100_000_000, rounds=100, runs=1
        ),
    ]  # fmt: skip
    return {one.name: one for one in found}


def scale_table(result: ScaleResult) -> Table:
    """Return the figures of one experiment as a table."""
    from rich.table import Table

    title = f"[bold]{result.name}[/] {result.title}, {result.rows:,} rows"
    table = Table(title=title, title_justify="left")
    headings = ("reading", "÷ ours", "goal", "ns per row and round", "÷ ours", "anonymous B a row")
    table.add_column("contender")
    for heading in headings:
        table.add_column(heading, justify="right")
    ours = result.figures.get(OURS, {})
    for name, found in result.figures.items():
        goal = result.goals.get(f"reading of {name}")
        ratios = [
            f"{found[k] / ours[k]:.2f}" if found.get(k) and ours.get(k) else ""
            for k in ("reading", "round")
        ]
        per_row = found.get("round", 0.0) / result.rows * 1e9
        table.add_row(
            name,
            f"{found['reading']:.2f} s",
            ratios[0],
            "" if goal is None else f"≥ {goal:g}",
            f"{per_row:.1f}" if per_row else "",
            ratios[1],
            f"{found['anonymous'] / result.rows:.0f}" if "anonymous" in found else "",
        )
    return table
