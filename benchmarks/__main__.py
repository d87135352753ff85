"""The command: ``python -m benchmarks cart [gbm ...] [--quick] [--repeat 3] [--jobs 2] [--case NAME ...]``;
``real`` also takes ``--models NAME ...``. ``python -m benchmarks peers sklearn`` runs a peer's own tests.

An experiment that fails or lacks a package does not stop the others, and Ctrl-C reports what was
measured so far. The exit code is 1 if anything failed; a missed goal is a result, not a failure.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import BENCHMARKS
from benchmarks.harness import Options, Unavailable
from benchmarks.machine import facts
from benchmarks.plots import write_plots
from benchmarks.report import Report, print_report, write_json

__all__ = ["main"]

_RESULTS = Path(__file__).parent / "results"
_LEAST_WIDTH = 170  # where output is not a terminal, tables should not wrap at 80


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Compare arboretum with its peers, side by side."
    )
    parser.add_argument("benchmark", nargs="+", choices=sorted(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="small sizes, for a first look")
    parser.add_argument("--repeat", type=_positive, default=3, help="timed rounds (default 3)")
    parser.add_argument("--jobs", type=_positive, default=2, help="our threads (default 2)")
    parser.add_argument("--case", nargs="+", metavar="NAME", help="only these experiments")
    parser.add_argument(
        "--models", nargs="+", metavar="NAME", default=[], help="only these models (real only)"
    )
    parser.add_argument("--rows", type=_positive, help="rows of the table (scale only)")
    parser.add_argument(
        "--phases", action="store_true", help="where the time of our own fit goes (boosting only)"
    )
    parser.add_argument(
        "--losses",
        action="store_true",
        help="loss beside the peers' on many tables (boosting only)",
    )
    parser.add_argument(
        "--out", type=Path, default=_RESULTS, help="where JSON and pictures go (benchmarks/results)"
    )
    return parser


def _quick_cases(module: Any, cases: Mapping[str, Any]) -> dict[str, Any]:
    """Return the experiments of a quick run: all, or those the benchmark names."""
    names = getattr(module, "QUICK_CASES", cases)
    return {name: case for name, case in cases.items() if name in names}


def _usual_cases(module: Any, cases: Mapping[str, Any]) -> dict[str, Any]:
    """Return the experiments of a run that names none: without those that take hours."""
    long = getattr(module, "LONG_CASES", ())
    return {name: case for name, case in cases.items() if name not in long}


def _chosen(
    parser: argparse.ArgumentParser,
    every: Mapping[str, Any],
    names: Sequence[str] | None,
    what: str = "case",
) -> dict[str, Any]:
    """Return the experiments asked for, in their own order."""
    for name in names or ():
        if name not in every:
            close = get_close_matches(name, every, 1)
            hint = f"did you mean {close[0]}? " if close else ""
            parser.error(f"unknown {what} {name!r}: {hint}there are {', '.join(every)}")
    return {name: e for name, e in every.items() if names is None or name in names}


def run(report: Report, experiments: Mapping[str, Any], console: Console) -> Report:
    """Measure the experiments one after another into ``report``."""
    for name, experiment in experiments.items():
        with console.status(name) as status:

            def say(what: str, name: str = name, status: Any = status) -> None:
                status.update(f"{name}: {what}")

            try:
                report.results.append(experiment.measure(report.options, say))
                console.print(f"measured {name}", style="dim")
            except Unavailable as lack:
                report.skipped[name] = str(lack)
            except Exception as error:
                report.failed[name] = f"{type(error).__name__}: {error}"
                console.print(f"failed {name}: {report.failed[name]}", style="red")
            except KeyboardInterrupt:
                report.failed[name] = "stopped by Ctrl-C, and what came after it was not run"
                break
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a benchmark, print its tables, write JSON and pictures; return the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["peers"]:
        return import_module("benchmarks.peers").main(arguments[1:])
    parser = _parser()
    asked = parser.parse_args(arguments)
    console = Console()
    if not console.is_terminal:
        console = Console(width=_LEAST_WIDTH)
    reports = {"phases": "boosting_phases", "losses": "boosting_losses"}
    for report, module in reports.items():
        if not getattr(asked, report):
            continue
        if asked.benchmark != ["boosting"]:
            parser.error(
                f"--{report} is told of boosting only, not of {', '.join(asked.benchmark)}"
            )
        tell = getattr(import_module(f"benchmarks.{module}"), f"print_{report}")
        tell(console, quick=asked.quick, jobs=asked.jobs)
        return 0
    modules = {name: import_module(BENCHMARKS[name]) for name in dict.fromkeys(asked.benchmark)}
    for name, chosen_from in modules.items():
        if asked.models:
            if not hasattr(chosen_from, "MODELS"):
                parser.error(f"--models chooses among the models of real, {name} has none")
            _chosen(parser, chosen_from.MODELS, asked.models, "model")
    every = {name: module.experiments(asked.jobs) for name, module in modules.items()}
    _chosen(parser, {case: e for cases in every.values() for case, e in cases.items()}, asked.case)
    if asked.quick and asked.case is None:
        every = {name: _quick_cases(modules[name], cases) for name, cases in every.items()}
    if asked.case is None:
        every = {name: _usual_cases(modules[name], cases) for name, cases in every.items()}
    failed = [_run_one(name, cases, asked, console) for name, cases in every.items()]
    return 1 if any(failed) else 0


def _run_one(
    name: str, every: Mapping[str, Any], asked: argparse.Namespace, console: Console
) -> bool:
    """Run one benchmark; return whether anything failed."""
    chosen = {case: e for case, e in every.items() if asked.case is None or case in asked.case}
    if not chosen:
        return False
    options = Options(asked.quick, asked.repeat, asked.jobs, tuple(asked.models), asked.rows)
    report = run(Report(name, options, facts()), chosen, console)
    print_report(report, console)
    asked.out.mkdir(parents=True, exist_ok=True)
    # A quick or partial run must not overwrite the results of a whole one.
    part = asked.case is not None or bool(asked.models)
    stem = name + "-part" * part + "-quick" * asked.quick
    write_json(report, asked.out / f"{stem}.json")
    names = [f"{stem}.json", *(path.name for path in write_plots(report, asked.out, stem))]
    console.print(f"wrote {', '.join(names)}")
    return bool(report.failed) or any(table.failed for table in report.tables)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was measured is still told
    sys.exit(main())
