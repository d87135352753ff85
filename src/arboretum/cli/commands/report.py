"""`arboretum report`: a model and a data file as one page that opens from disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from arboretum.cli.files import check_output, features_of, load_model
from arboretum.cli.guard import UsageError
from arboretum.cli.problem import Problem, target_of, training_part
from arboretum.cli.reading import Reading, read_like
from arboretum.cli.scores import is_classifier
from arboretum.cli.screen import file_size, plural, print_note, working
from arboretum.cli.summary import training_rows

__all__ = ["report"]


def report(
    model_file: Path,
    data_file: Path,
    output: Path,
    target: str | None,
    train: Path | None = None,
    rows: str = "sample",
    title: str | None = None,
    reading: Reading | None = None,
    force: bool = False,
) -> None:
    """Run the command.

    Parameters
    ----------
    target : str or None
        The column of actual values; None: the column the model was trained to predict.
    train : Path or None
        The training file: the page adds its figures and the worksheets of nodes.
    rows : str
        "sample", "none" or a number.
    """
    from arboretum.explain.report.report import report as make_report

    inputs = {
        "the data file": data_file,
        "the model file": model_file,
        "the file of --train": train,
    }
    check_output(output, "HTML page", inputs, force=force)
    wanted: str | int = int(rows) if rows.isdigit() else rows
    if wanted not in ("sample", "none") and not isinstance(wanted, int):
        raise UsageError(f"--rows must be sample, none or a number, got {rows!r}")
    model = load_model(model_file)
    target = target_of(model, model_file, target)
    X, y = _table(model, data_file, target, reading)
    trained = None if train is None else _training_table(model, train, target, reading)
    with working(f"making a page of {plural(X.n_rows, 'row')}"):
        made = make_report(
            model, X, y, output, train=trained, rows=wanted, title=title, target=target,
            progress_bar=False,
        )  # fmt: skip
    assert made.path is not None
    print_note(f"wrote {made.path} ({file_size(made.path.stat().st_size)}): open it in a browser")


def _table(model: Any, path: Path, target: str, reading: Reading | None) -> tuple[Any, Any]:
    """Return features and target of a file, read as the model's training file was."""
    problem = _problem(model, path, target, reading)
    return problem.features.table, problem.y


def _training_table(
    model: Any, path: Path, target: str, reading: Reading | None
) -> tuple[Any, Any] | None:
    """Return the training rows of a file; None if the file does not have them."""
    problem = training_part(model, _problem(model, path, target, reading))
    if problem.n_rows != training_rows(model):
        print_note(
            f"{path} has {plural(problem.n_rows, 'row')}, the model was trained on "
            f"{training_rows(model):,}: the page has no worksheets and no figures of training rows"
        )
        return None
    return problem.features.table, problem.y


def _problem(model: Any, path: Path, target: str, reading: Reading | None) -> Problem:
    data = read_like(model, path, reading)
    task = "classification" if is_classifier(model) else "regression"
    problem = Problem.of(data, task, target, None)
    known = {model.notes_["weight"]} if "weight" in model.notes_ else set()
    return replace(problem, features=features_of(model, problem.features, known=known))
