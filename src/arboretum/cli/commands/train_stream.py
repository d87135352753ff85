"""`arboretum train` of files that are read batch by batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from arboretum.cli.boosters import check_evaluation, describe_rounds, draw_curve, fit_evaluated
from arboretum.cli.files import pick, target_values
from arboretum.cli.guard import UsageError
from arboretum.cli.models import choose_task
from arboretum.cli.problem import Problem
from arboretum.cli.reading import read_data
from arboretum.cli.scores import print_scores, score
from arboretum.cli.screen import file_size, plural, print_facts, print_note, working
from arboretum.cli.streaming import note_stream, refuse_options
from arboretum.cli.summary import describe_parameters, describe_size, print_schema
from arboretum.cli.training import Training, keep_partial, make_model, save_model
from arboretum.data.values import from_array
from arboretum.streams.roles import Roles, read_roles
from arboretum.streams.scratch import Scratch
from arboretum.streams.sources import open_source
from arboretum.streams.stream import Stream

__all__ = ["train_streamed"]


def train_streamed(options: Training, output: Path, is_default: bool) -> None:
    """Train a booster on files, and write the model file."""
    _refuse(options)
    note_stream(options.data)
    if is_default:
        print_note("--model is lgbm: boosted trees, the default, need the table in memory")
    with Scratch() as scratch:
        wanted = {"y": options.target}
        if options.weight is not None:
            wanted["weight"] = options.weight
        with working(f"reading {options.data}"):
            roles = read_roles(open_source(str(options.data)), wanted, scratch)
        _train(options, output, roles)


def _refuse(options: Training) -> None:
    given = {
        "--test-size (give --valid instead)": options.test_size is not None,
        "--prune-cv": options.prune_cv,
    }
    refuse_options(options.data, given, options.reading)


def _train(options: Training, output: Path, roles: Roles) -> None:
    raw = from_array(roles.arrays["y"], options.target)
    task, reason = choose_task(raw, options.task, options.target)
    y = target_values(raw, options.target, classes=task == "classification")
    model = make_model(options, task)
    judged = options.valid is not None
    check_evaluation(model, options.early_stopping, options.curve, held_out=judged)
    aside = [
        options.target,
        *([options.weight] if options.weight else []),
        *_dropped(options, roles),
    ]
    source = Stream(str(options.data), drop=aside)
    held_out = _held_out(options, task, [name for name in roles.names if name not in aside])
    known = {"target": options.target, "task": task}
    with working(f"training {type(model).__name__} on {plural(roles.n_rows, 'row')}") as watch:
        try:
            _fit(model, source, y, roles.arrays.get("weight"), held_out)
        except KeyboardInterrupt:
            keep_partial(options, model, known, output)
            raise
    save_model(options, model, known, output)
    print_schema(model)
    print_facts(
        [
            ("data", f"{options.data}: {plural(roles.n_rows, 'row')}, read batch by batch"),
            ("target", f"{options.target}: {task}, because {reason}"),
            ("model", describe_parameters(model)),
            ("size", describe_size(model)),
            *describe_rounds(model).items(),
            *watch.facts(),
            ("saved", f"{output} ({file_size(output.stat().st_size)})"),
        ]
    )
    if options.curve is not None:
        draw_curve(model, options.curve)
    if held_out is not None:
        print()
        scores = score(model, held_out.features, held_out.y, held_out.weight)
        print_scores(scores, f"Scores on {plural(held_out.n_rows, 'row')} of {options.valid}")


def _dropped(options: Training, roles: Roles) -> list[str]:
    """Return the columns of --drop; ``a,b`` are two, unless a column has that name."""
    found: list[str] = []
    for name in options.drop:
        found += [name] if name in roles.names else [part.strip() for part in name.split(",")]
    for name in found:
        if name not in roles.names:
            raise UsageError(f"{options.data} has no column {name!r} for --drop")
    return found


def _held_out(options: Training, task: str, names: list[str]) -> Problem | None:
    if options.valid is None:
        return None
    data = read_data(options.valid, options.reading)
    other = Problem.of(data, task, options.target, options.weight)
    features = pick(other.features, names, known=options.drop)
    return Problem(features, other.y, other.weight, task)


def _fit(
    model: Any, source: Stream, y: np.ndarray, weight: np.ndarray | None, held_out: Problem | None
) -> None:
    if held_out is None:
        model.fit(source, y, sample_weight=weight)
    else:
        fit_evaluated(model, source, y, weight, held_out)
