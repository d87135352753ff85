"""`arboretum train`: a data file becomes a model file, with a summary."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from arboretum.cli.boosters import (
    check_evaluation,
    describe_rounds,
    draw_curve,
    fit_evaluated,
    is_evaluated,
)
from arboretum.cli.commands.train_stream import train_streamed
from arboretum.cli.files import Data, check_output, pick
from arboretum.cli.guard import UsageError
from arboretum.cli.models import check_model, choose_task, list_parameters
from arboretum.cli.problem import Problem, divide, folds, split_note
from arboretum.cli.reading import SPLIT, note_of, read_data
from arboretum.cli.scores import print_scores, score
from arboretum.cli.screen import (
    file_size,
    number,
    plural,
    print_facts,
    print_note,
    print_text,
    working,
)
from arboretum.cli.streaming import is_streamed
from arboretum.cli.summary import describe_parameters, describe_size, print_schema
from arboretum.cli.training import Training, keep_partial, make_model, save_model, with_model
from arboretum.data.checks import list_names

__all__ = ["train"]

_MANY_CLASSES = 500
_DEFAULT = ", the default: --model chooses another"


def train(options: Training) -> None:
    """Run the command."""
    if options.test_size is not None and 2 <= options.test_size < 100:
        options = replace(options, test_size=options.test_size / 100)  # per cent
    is_default = options.model is None
    options = with_model(options)
    assert options.model is not None
    _check_options(options)
    if "help" in options.settings:
        task = "regression" if options.task == "regression" else "classification"
        print(list_parameters(options.model, task))
        return
    output = _check_outputs(options)
    if is_streamed(options.data, options.model):
        train_streamed(options, output, is_default)
        return
    data = read_data(options.data, options.reading)
    options = replace(
        options, drop=data.expand(options.drop), categorical=data.expand(options.categorical)
    )
    _check_roles(options)
    task, reason = choose_task(
        data.column(options.target, "the target"), options.task, options.target
    )
    for name in options.categorical:
        data.column(name, "--categorical")
    model = make_model(options, task)
    judged = options.valid is not None or options.test_size is not None
    check_evaluation(model, options.early_stopping, options.curve, held_out=judged)
    problem = Problem.of(data, task, options.target, options.weight, options.drop)
    _note_target(options, problem)
    known = {"target": options.target, "task": task, **note_of(data, options.reading)}
    if options.test_size is not None:
        known[SPLIT] = split_note(problem, options.test_size, options.seed or 0)
    problem, held_out = _hold_out(options, model, problem)
    what = f"training {type(model).__name__} on {plural(problem.n_rows, 'row')}"
    with working(what) as watch:
        try:
            _fit(options, model, problem, held_out)
        except KeyboardInterrupt:
            keep_partial(options, model, known, output)
            raise
    pruning = _describe_pruning(model)
    save_model(options, model, {**known, **pruning}, output)
    print_schema(model)
    print_facts(
        [
            ("data", _describe_data(options, data, problem)),
            ("target", f"{options.target}: {task}, because {reason}"),
            *_describe_classes(problem),
            ("model", describe_parameters(model) + (_DEFAULT if is_default else "")),
            ("size", describe_size(model)),
            *pruning.items(),
            *describe_rounds(model).items(),
            *watch.facts(),
            ("saved", f"{output} ({file_size(output.stat().st_size)})"),
            (
                "next",
                f"arboretum report {output} {options.valid or options.data} shows it as a page",
            ),
        ]
    )
    if options.curve is not None:
        draw_curve(model, options.curve)
    if held_out is not None:
        origin = "held out" if options.valid is None else f"of {options.valid}"
        scores = score(model, held_out.features, held_out.y, held_out.weight)
        print()
        print_scores(scores, f"Scores on {plural(held_out.n_rows, 'row')} {origin}")
        if getattr(model, "_best", None) is not None:
            print_text(
                "The best round was chosen on these rows, so the scores are slightly optimistic. For "
                "unbiased ones, run `arboretum evaluate` on rows that were not used here."
            )


# --------------------------------------------------------------------------- before
def _check_options(options: Training) -> None:
    check_model(options.model or "")
    if options.rule is not None and not options.prune_cv:
        raise UsageError("--rule belongs to --prune-cv: give --prune-cv too")
    if options.test_size is not None and options.valid is not None:
        raise UsageError("--test-size and --valid both hold rows out: give one of them")
    if options.test_size is not None and not 0 < options.test_size < 1:
        raise UsageError(
            f"--test-size is a share of the rows between 0 and 1, or per cent, got {options.test_size:g}"
        )


def _check_roles(options: Training) -> None:
    roles = Counter({name: 1 for name in (options.target, options.weight) if name is not None})
    roles.update(set(options.drop))
    roles.update(set(options.categorical))
    twice = [name for name, count in roles.items() if count > 1]
    if twice or options.weight == options.target:
        raise UsageError(
            f"{list_names(twice or [options.target])}: a column has one role, --target, --weight, "
            "--drop or --categorical"
        )


def _check_outputs(options: Training) -> Path:
    inputs = {"the data file": options.data, "the file of --valid": options.valid}
    output = check_output(options.output, "model file", inputs, force=options.force)
    if options.curve is not None:
        inputs["the model file"] = output
        check_output(options.curve, "picture", inputs, force=options.force)
    return output


def _note_target(options: Training, problem: Problem) -> None:
    """Print a note if the target looks unusual, before any work is done."""
    different = len(set(problem.y.tolist()))
    if problem.task == "classification" and different > _MANY_CLASSES:
        print_note(
            f"the target {options.target!r} holds {different:,} classes: the model will be large, and --task "
            "regression is for quantities"
        )


def _hold_out(options: Training, model: Any, problem: Problem) -> tuple[Problem, Problem | None]:
    """Return the training rows and the held-out rows."""
    names = problem.features.names
    if options.valid is not None:
        data = read_data(options.valid, options.reading)
        other = Problem.of(data, problem.task, options.target, options.weight)
        features = pick(other.features, names, known=options.drop)
        return problem, Problem(features, other.y, other.weight, other.task)
    if options.test_size is None:
        return problem, None
    from arboretum.data.schema import learn_schema

    # errors must name rows of the file, not of a part of it
    learn_schema(
        problem.features.table,
        categorical_features=getattr(model, "categorical_features", None),
        ordinal_features=getattr(model, "ordinal_features", None),
    )
    return divide(problem, options.test_size, options.seed or 0)


# --------------------------------------------------------------------------- training
def _fit(options: Training, model: Any, problem: Problem, held_out: Problem | None) -> None:
    if held_out is not None and is_evaluated(model):
        X = problem.features.table
        fit_evaluated(model, X, problem.y, problem.weight, held_out)
        return
    X = problem.features.table
    if options.prune_cv:
        cv = folds(problem, options.seed or 0)
        rule = options.rule or "min"
        model.prune_cv(X, problem.y, cv=cv, rule=rule, sample_weight=problem.weight)
    else:
        model.fit(X, problem.y, sample_weight=problem.weight)


# --------------------------------------------------------------------------- after
def _describe_data(options: Training, data: Data, problem: Problem) -> str:
    text = f"{data.path}: {plural(data.n_rows, 'row')}"
    if problem.n_rows < data.n_rows:
        text += f", {problem.n_rows:,} of them for training"
    if options.weight is not None:
        text += f", weighted by {options.weight}"
    if options.drop:
        text += f", without {list_names(options.drop)}"
    return text


def _describe_classes(problem: Problem) -> list[tuple[str, str]]:
    if problem.task != "classification":
        return []
    counts = Counter(problem.y.tolist())
    shown = ", ".join(f"{label} {count:,}" for label, count in counts.most_common(8))
    if len(counts) > 8:
        shown += f", … and {len(counts) - 8} more"
    return [("classes", shown)]


def _describe_pruning(model: Any) -> dict[str, str]:
    curve = getattr(model, "pruning_curve_", None)
    if curve is None:
        return {}
    how = {"min": "smallest error", "1se": "simplest within one standard error"}[curve.rule]
    strength, error = curve.alpha[curve.best], curve.mean_score[curve.best]
    text = (
        f"from {plural(int(curve.n_leaves[0]), 'leaf', 'leaves')} at α = {number(strength)}: "
        f"{how} in cross-validation ({number(error)})"
    )
    return {"pruned": text}
