"""What a benchmark found: tables for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.cold_start import ColdStartResult, plain_cold_starts, print_cold_starts
from benchmarks.harness import CaseResult, Measurement, Options
from benchmarks.latency import PERCENTILES, LatencyResult
from benchmarks.real_report import plain_tables, print_tables
from benchmarks.real_results import TableResult
from benchmarks.scale import ScaleResult, scale_table
from benchmarks.scaling import CurveResult
from benchmarks.shap import ShapResult
from benchmarks.startup import StartUpResult

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["Report", "print_report", "write_json"]

Result = CaseResult | CurveResult | StartUpResult | ColdStartResult | LatencyResult | TableResult
Result |= ShapResult | ScaleResult


@dataclass(frozen=True)
class Report:
    """All results of one run, and what could not be measured."""

    benchmark: str
    options: Options
    machine: dict[str, Any]
    results: list[Result] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)  # experiment -> what it lacks
    failed: dict[str, str] = field(default_factory=dict)  # experiment -> error

    @property
    def cases(self) -> list[CaseResult]:
        return [r for r in self.results if isinstance(r, CaseResult)]

    @property
    def curves(self) -> list[CurveResult]:
        return [r for r in self.results if isinstance(r, CurveResult)]

    @property
    def start_ups(self) -> list[StartUpResult]:
        return [r for r in self.results if isinstance(r, StartUpResult)]

    @property
    def cold_starts(self) -> list[ColdStartResult]:
        return [r for r in self.results if isinstance(r, ColdStartResult)]

    @property
    def latencies(self) -> list[LatencyResult]:
        return [r for r in self.results if isinstance(r, LatencyResult)]

    @property
    def shap_values(self) -> list[ShapResult]:
        return [r for r in self.results if isinstance(r, ShapResult)]

    @property
    def scales(self) -> list[ScaleResult]:
        return [r for r in self.results if isinstance(r, ScaleResult)]

    @property
    def tables(self) -> list[TableResult]:
        return [r for r in self.results if isinstance(r, TableResult)]


# ---------------------------------------------------------------------- numbers as people read them
def duration(seconds: float) -> str:
    """Write a time with three digits and a fitting unit.

    Examples
    --------
    >>> duration(0.000123), duration(0.0456), duration(78.9)
    ('123 µs', '45.6 ms', '78.9 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{_three_digits(seconds / size)} {unit}"
    return f"{_three_digits(seconds / 1e-9)} ns"


def _three_digits(x: float) -> str:
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.0f} kB"


def _speed(case: CaseResult, contender: str) -> str:
    if contender == case.baseline:
        return "1×"
    low, high = (_three_digits(r) for r in case.spread(contender))
    return f"{_three_digits(case.ratio(contender))}× ({low}–{high})"


def _verdict(met: bool, goal: str) -> str:
    return f"[green]{goal} met[/]" if met else f"[red]{goal} missed[/]"


def _memory(m: Measurement) -> str:
    sizes = [peak.n_bytes for peak in m.peaks]
    if m.peak_bytes is None:
        return "–"
    if len(sizes) == 1:
        return _size(sizes[0])
    return f"{_size(m.peak_bytes)} ({_size(min(sizes))} – {_size(max(sizes))})"


def _memory_ratio(case: CaseResult, contender: str) -> str:
    ratio = case.memory_ratio(contender)
    return "–" if ratio is None else f"{ratio:.2f}×"


# ---------------------------------------------------------------------- tables
def _case_table(cases: Sequence[CaseResult]) -> Table:
    from rich.table import Table

    table = Table(title="Speed, held-out score and peak memory", title_justify="left")
    for heading in ("case", "contender"):
        table.add_column(heading, no_wrap=heading == "contender")
    for heading in ("time", "speed (spread)", "goal", "score", "leaves", "peak memory", "÷ peer"):
        table.add_column(heading, justify="right", no_wrap=True)
    for case in cases:
        for k, m in enumerate(case.measurements):
            first = k == 0
            goal = ""
            if first and case.goal is not None:
                goal = _verdict(case.ratio(m.contender) >= case.goal, f"≥ {case.goal:g}×")
            leaves = m.facts.get("leaves")
            table.add_row(
                f"[bold]{case.name}[/] {case.title}, {case.rows:,} rows" if first else "",
                m.contender,
                duration(m.median),
                _speed(case, m.contender),
                goal,
                f"{m.score:.4f}",
                "" if leaves is None else f"{leaves:,}",
                _memory(m),
                _memory_ratio(case, m.contender),
            )
        table.add_section()
    return table


def _curve_table(curve: CurveResult) -> Table:
    from rich.table import Table

    names = list(curve.seconds)
    exponents = "; ".join(f"{name}: time ∝ n^{curve.exponent(name):.2f}" for name in names)
    table = Table(
        title=f"[bold]{curve.name}[/] {curve.title}", caption=exponents, title_justify="left"
    )
    table.add_column(curve.axis, justify="right")
    for name in names:
        table.add_column(name, justify="right")
        table.add_column(f"time / ({curve.reference})", justify="right")
    for k, size in enumerate(curve.sizes):
        cells = [f"{size:,}"]
        for name in names:
            cells += [duration(curve.seconds[name][k]), duration(1e-9 * curve.cost(name)[k])]
        table.add_row(*cells)
    return table


def _start_up_table(result: StartUpResult) -> Table:
    from rich.table import Table

    table = Table(title=f"[bold]{result.name}[/] {result.title}", title_justify="left")
    table.add_column("script")
    table.add_column("compile cache")
    for heading in ("time", "spread", "goal"):
        table.add_column(heading, justify="right")
    for script in result.scripts:
        goal = ""
        if script.goal is not None:
            goal = _verdict(script.median <= script.goal, f"≤ {script.goal:g} s")
        table.add_row(
            script.label,
            "empty" if script.cold else "warm",
            duration(script.median),
            f"{duration(min(script.seconds))} – {duration(max(script.seconds))}",
            goal,
        )
    return table


def _latency_table(result: LatencyResult) -> Table:
    from rich.table import Table

    table = Table(title=f"[bold]{result.name}[/] {result.title}", title_justify="left")
    table.add_column("contender")
    rows = list(next(iter(result.seconds.values())))
    for n in rows:
        for percentile in PERCENTILES:
            table.add_column(f"{n} p{percentile}", justify="right")
    for label, seconds in result.seconds.items():
        table.add_row(label, *(duration(one) for n in rows for one in seconds[n]))
    return table


def _shap_table(result: ShapResult) -> Table:
    from rich.table import Table

    table = Table(title=f"[bold]{result.name}[/] {result.title}", title_justify="left")
    for name in ("contender", "rows", "clock", "ns per row and tree", "÷ ours", "goal"):
        table.add_column(name, justify="left" if name == "contender" else "right")
    ours = [line for line in result.lines if line["contender"].startswith("arboretum")]
    for line in result.lines:
        like = [one for one in ours if one["clock"] == line["clock"]]
        like = [one for one in like if one["rows"] == line["rows"]] or like or ours
        most = max(like, key=lambda one: one["rows"])
        ratio = line["nanoseconds"] / most["nanoseconds"]
        goal = (
            "" if line["goal"] is None else _verdict(ratio >= line["goal"], f"{line['goal']:.3g}")
        )
        cells = f"{line['rows']:,}", line["clock"], _three_digits(line["nanoseconds"])
        table.add_row(line["contender"], *cells, _three_digits(ratio), goal)
    for name, value in result.facts.items():
        table.add_row(name, "", "", _three_digits(value), "", "")
    return table


def print_report(report: Report, console: Console) -> None:
    """Print one table per kind of result, and what was left out and why."""
    if report.cases:
        console.print(_case_table(report.cases))
        console.print(
            "speed: baseline's median time ÷ own, spread over single rounds; "
            "memory: median over fresh processes.\n"
            "score: equally good splits are settled by column order here, by other rules in "
            "other packages, so scores of deep trees differ by luck; one run cannot rank them"
        )
    for curve in report.curves:
        console.print(_curve_table(curve))
    for start_up in report.start_ups:
        console.print(_start_up_table(start_up))
    print_cold_starts(report.cold_starts, console)
    for latency in report.latencies:
        console.print(_latency_table(latency))
    for found in report.shap_values:
        console.print(_shap_table(found))
    for scale in report.scales:
        console.print(scale_table(scale))
    if report.tables:
        print_tables(report.tables, console)
    for name, reason in report.skipped.items():
        console.print(f"[yellow]skipped {name}: {reason}[/]")
    for name, reason in report.failed.items():
        console.print(f"[red]failed {name}: {reason}[/]")


# ---------------------------------------------------------------------- JSON
def _plain_case(case: CaseResult) -> dict[str, Any]:
    plain = asdict(case)
    for m, out in zip(case.measurements, plain["measurements"]):
        out["median_seconds"] = m.median
        out["ratio"] = case.ratio(m.contender)
        out["ratio_spread"] = list(case.spread(m.contender))
        out["median_peak_bytes"] = m.peak_bytes
        out["memory_ratio"] = case.memory_ratio(m.contender)
    return plain


def _plain_curve(curve: CurveResult) -> dict[str, Any]:
    return {
        **asdict(curve),
        "nanoseconds_per_reference": {name: curve.cost(name) for name in curve.seconds},
        "exponent": {name: curve.exponent(name) for name in curve.seconds},
    }


def _plain_start_up(result: StartUpResult) -> dict[str, Any]:
    plain = asdict(result)
    for script, out in zip(result.scripts, plain["scripts"]):
        out["median_seconds"] = script.median
    return plain


def write_json(report: Report, path: Path) -> None:
    """Write everything measured, with derived figures, the options and the machine's facts."""
    plain = {
        "benchmark": report.benchmark,
        "options": asdict(report.options),
        "machine": report.machine,
        "cases": [_plain_case(case) for case in report.cases],
        "curves": [_plain_curve(curve) for curve in report.curves],
        "start_up": [_plain_start_up(result) for result in report.start_ups],
        "cold_starts": plain_cold_starts(report.cold_starts),
        "latency": [asdict(result) for result in report.latencies],
        "shap": [asdict(result) for result in report.shap_values],
        "scale": [asdict(result) for result in report.scales],
        "real": plain_tables(report.tables),
        "skipped": report.skipped,
        "failed": report.failed,
    }
    path.write_text(json.dumps(plain, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
