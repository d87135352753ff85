"""`arboretum compare`: every model that suits a data file on the same folds."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.cli.files import Data, check_output
from arboretum.cli.guard import UsageError
from arboretum.cli.models import choose_task, find_estimator
from arboretum.cli.problem import Problem
from arboretum.cli.reading import Reading, note_of, read_data
from arboretum.cli.screen import file_size, plain, plural, print_note, working
from arboretum.data.values import Raw, RawNumbers

if TYPE_CHECKING:
    from arboretum.comparison.result import Comparison

__all__ = ["Comparing", "compare"]


@dataclass(frozen=True)
class Comparing:
    """The options of the command; see its --help."""

    data: Path
    target: str
    output: Path | None = None
    save: Path | None = None
    models: tuple[str, ...] = ()
    by: str = "loss"
    folds: int | None = None
    groups: str | None = None
    time: str | None = None
    test: Path | None = None
    task: str = "auto"
    drop: tuple[str, ...] = ()
    time_limit: float | None = None
    resume: Path | None = None
    seed: int | None = None
    jobs: int | None = None
    force: bool = False
    reading: Reading = field(default_factory=Reading)


def compare(options: Comparing) -> None:
    """Run the command."""
    from arboretum.comparison.compare import compare as compare_models

    if options.time is not None and (options.folds is not None or options.groups is not None):
        raise UsageError("--time makes folds of its own: leave out --folds and --groups")
    _check_outputs(options)
    data = read_data(options.data, options.reading)
    task, _ = choose_task(data.column(options.target, "the target"), options.task, options.target)
    problem, groups = _problem(options, data, task)
    names = [find_estimator(name, task).__name__ for name in options.models]
    test = None
    if options.test is not None:
        other, _ = _problem(options, read_data(options.test, options.reading), task)
        test = (other.features.select(problem.features.names).table, other.y)
    result = compare_models(
        problem.features.table,
        problem.y,
        models=names or None,
        by=options.by,
        folds="time" if options.time else options.folds,
        groups=groups,
        test=test,
        task=task,
        target=options.target,
        time_limit=options.time_limit,
        resume=options.resume,
        n_jobs=options.jobs,
        random_state=options.seed or 0,
    )
    print("\n".join(plain(line) for line in repr(result).split("\n")))
    if options.save is not None:
        _save(
            result,
            options.save,
            {"target": options.target, "task": task, **note_of(data, options.reading)},
        )
    if options.output is not None:
        made = result.report(options.output)
        size = file_size(options.output.stat().st_size)
        print_note(f"wrote {made.path} ({size}): open it in a browser")


def _check_outputs(options: Comparing) -> None:
    inputs: dict[str, Path | None] = {
        "the data file": options.data,
        "the file of --test": options.test,
        "the file of --resume": options.resume,
    }
    if options.output is not None:
        check_output(options.output, "HTML page", inputs, force=options.force)
    if options.save is not None:
        inputs["the page"] = options.output
        check_output(options.save, "model file", inputs, force=options.force)


def _save(result: Comparison, path: Path, notes: dict[str, str]) -> None:
    """Write the winner, fitted on all rows."""
    from arboretum.io.native import save

    if result.entry(result.winner).candidate.kind == "baseline":
        print_note(f"no model has a result: nothing was written to {path}")
        return
    with working(f"fitting {result.winner} on {plural(result.question.n_rows, 'row')}"):
        model = result.best
    save(model, path, notes=notes)
    print_note(f"wrote {path} ({file_size(path.stat().st_size)}): {result.winner} on all rows")


def _problem(options: Comparing, data: Data, task: str) -> tuple[Problem, Any]:
    """Return features and target, in the order of time if there is one, and the groups of the rows."""
    drop = data.expand(options.drop)
    aside = [name for name in (options.groups,) if name is not None]
    if options.time is not None:
        order = data.column(options.time, "--time")
        data = data.take(np.argsort(_keys(order, options.time), kind="stable"))
    whole = Problem.of(data, task, options.target, None, drop)
    if not aside:
        return whole, None
    groups = whole.features.column(aside[0], "--groups")
    features = whole.features.without(aside)
    return Problem(features, whole.y, None, task), _keys(groups, aside[0], ordered=False)


def _keys(raw: Raw, name: str, *, ordered: bool = True) -> np.ndarray:
    """Return a column as numbers: of its order, or of its groups."""
    if isinstance(raw, RawNumbers):
        return raw.values
    if ordered:
        raise UsageError(
            f"--time {name} holds words, which have no order in time: --as-date {name} reads dates"
        )
    return raw.codes
