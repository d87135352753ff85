"""`arboretum train`: a data file becomes a model file, with a summary of what was done."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from arboretum.cli.files import (
    Data,
    check_output,
    features_of,
    read_data,
    target_values,
    weight_values,
)
from arboretum.cli.guard import UsageError
from arboretum.cli.models import check_model, choose_task, find_estimator, parse_settings
from arboretum.cli.scores import print_scores, score
from arboretum.cli.screen import file_size, number, plural, print_facts, print_table, spinner
from arboretum.errors import DataError

__all__ = ["Training", "train"]

_FOLDS = 5
_MOST_COLUMNS = 25  # listed in the summary


@dataclass(frozen=True)
class Training:
    """The options of the command; see its --help."""

    data: Path
    target: str
    output: Path
    model: str = "cart"
    task: str = "auto"
    settings: tuple[str, ...] = ()
    prune_cv: bool = False
    rule: str | None = None
    test_size: float | None = None
    valid: Path | None = None
    weight: str | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    seed: int | None = None
    jobs: int | None = None


@dataclass(frozen=True)
class _Problem:
    """Rows to learn from or to judge by."""

    features: Data
    y: np.ndarray
    weight: np.ndarray | None

    def take(self, rows: np.ndarray) -> _Problem:
        weight = None if self.weight is None else self.weight[rows]
        return _Problem(self.features.take(rows), self.y[rows], weight)


def train(options: Training) -> None:
    """Run the command."""
    _check_options(options)
    output = check_output(options.output)
    data = read_data(options.data)
    raw = data.column(options.target, "the target")
    task, reason = choose_task(raw, options.task)
    model = _make_model(options, task)
    problem = _problem(options, data, task)
    problem, held_out, where = _hold_out(options, problem, model, task)
    with spinner(f"training {type(model).__name__} on {plural(problem.features.n_rows, 'row')}"):
        start = time.perf_counter()
        _fit(options, model, problem, task)
        seconds = time.perf_counter() - start
    notes = {"target": options.target, "task": task}
    if options.weight is not None:
        notes["weight"] = options.weight
    from arboretum.io.native import save

    save(model, output, notes=notes)
    _print_columns(model)
    facts = [
        ("data", _describe_data(options, data, model)),
        ("target", f"{options.target}: {task}, because {reason}"),
        *_describe_target(problem.y, task),
        *_describe_model(model),
        ("trained", f"in {seconds:.2f} s on {plural(problem.features.n_rows, 'row')}"),
        ("saved", f"{output} ({file_size(output.stat().st_size)})"),
    ]
    print_facts(facts)
    if held_out is not None:
        title = f"Scores on {plural(held_out.features.n_rows, 'row')} {where}"
        print()
        print_scores(score(model, held_out.features, held_out.y, held_out.weight), title)


# --------------------------------------------------------------------------- before
def _check_options(options: Training) -> None:
    check_model(options.model)
    if options.rule is not None and not options.prune_cv:
        raise UsageError("--rule says how --prune-cv chooses: give --prune-cv too")
    if options.test_size is not None:
        if options.valid is not None:
            raise UsageError("--test-size and --valid both hold rows out: give one of them")
        if not 0 < options.test_size < 1:
            raise UsageError(
                f"--test-size is a share of the rows between 0 and 1, got {options.test_size:g}"
            )
    for role, name in (("--target", options.target), ("--weight", options.weight)):
        if name in options.drop:
            raise UsageError(f"{name!r} is given as {role} and as --drop")
        if name in options.categorical:
            raise UsageError(f"{name!r} is given as {role} and as --categorical")
    if options.weight == options.target:
        raise UsageError(f"{options.target!r} is given as --target and as --weight")


def _make_model(options: Training, task: str) -> Any:
    """Build the estimator; parameters it does not have are its own errors."""
    parameters = parse_settings(options.settings)
    estimator = find_estimator(options.model, task)
    known = estimator().get_params()
    given = {
        "random_state": (options.seed, "--seed"),
        "n_jobs": (options.jobs, "--jobs"),
        "categorical_features": (list(options.categorical) or None, "--categorical"),
    }
    for name, (value, option) in given.items():
        if value is None:
            continue
        if name in parameters:
            raise UsageError(f"{option} and --set {name}=… are the same: give one of them")
        if name in known:
            parameters[name] = value
        elif name != "random_state":  # the seed also serves to draw held-out rows and folds
            raise UsageError(f"{estimator.__name__} does not know {option}")
    if "random_state" in known:
        parameters.setdefault("random_state", 0)  # the same command gives the same model
    if options.prune_cv and not hasattr(estimator, "prune_cv"):
        raise UsageError(f"{estimator.__name__} cannot be pruned: leave --prune-cv out")
    return estimator(**parameters)


def _problem(options: Training, data: Data, task: str) -> _Problem:
    """Tell features, target and weights apart."""
    for name in options.drop:
        data.column(name, "--drop")
    for name in options.categorical:
        data.column(name, "--categorical")
    raw = data.column(options.target, "the target")
    y = target_values(raw, options.target, classes=task == "classification")
    weight = None if options.weight is None else weight_values(data, options.weight)
    features = data.without({options.target, options.weight, *options.drop})
    if not features.names:
        raise DataError(f"{data.path!r} has no column left to learn from")
    return _Problem(features, y, weight)


def _hold_out(
    options: Training, problem: _Problem, model: Any, task: str
) -> tuple[_Problem, _Problem | None, str]:
    """Return the rows to learn from, the rows to judge by, and where the latter come from."""
    if options.valid is not None:
        data = read_data(options.valid)
        weight = None if options.weight is None else weight_values(data, options.weight)
        raw = data.column(options.target, "the target")
        y = target_values(raw, options.target, classes=task == "classification")
        known = {options.target, options.weight, *options.drop}
        names = problem.features.names
        absent = [name for name in names if name not in data.names]
        for name in absent:
            data.column(name, "the model")  # raises, and knows similar names
        others = data.without(known | set(names)).names
        del others
        return problem, _Problem(data.select(names), y, weight), f"of {options.valid}"
    if options.test_size is None:
        return problem, None, ""
    from arboretum.data.schema import learn_schema

    # errors shall name rows of the file, not of a part of it
    learn_schema(
        problem.features.frame(),
        categorical_features=model.categorical_features,
        ordinal_features=model.ordinal_features,
    )
    training, test = _draw(problem.y, options.test_size, options.seed or 0, task)
    return problem.take(training), problem.take(test), "held out of the training"
