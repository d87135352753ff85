"""`arboretum explain`: the arithmetic behind a row, a node or a round, and SHAP values as a file."""

from __future__ import annotations

import csv
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from arboretum.cli.files import TABLE, check_output, features_of, load_model
from arboretum.cli.forests import parse_tree
from arboretum.cli.guard import UsageError, in_command_words
from arboretum.cli.problem import Problem, target_of, training_part
from arboretum.cli.reading import Reading, read_like
from arboretum.cli.scores import is_classifier
from arboretum.cli.screen import file_size, plural, print_note, print_sheet, working
from arboretum.data.column_warnings import Unseen, gather_unseen, warn_unseen
from arboretum.data.slices import take_rows
from arboretum.errors import DataError, ParameterError
from arboretum.explain.pick_tree import pick_tree
from arboretum.explain.worksheet.methods import NotInModel
from arboretum.predict.walk import leaves_of

__all__ = ["explain"]

# the options, by the names the worksheet uses
_OPTIONS = {
    "row": "--row NUMBER",
    "node": "--node NUMBER --tree NUMBER",
    "round": "--round NUMBER",
}


def explain(
    model_file: Path,
    data_file: Path,
    target: str | None,
    *,
    row: int | None = None,
    node: int | None = None,
    tree: str | None = None,
    member: str | None = None,
    number: int | None = None,
    shap: Path | None = None,
    reading: Reading | None = None,
    force: bool = False,
) -> None:
    """Run the command.

    Parameters
    ----------
    row : int or None
        A row of the file, counted from 0: its path, the contributions of columns, the worksheet of its leaf.
    node, tree : int and str, or None
        A node, and its tree; 0 is the root, and the first tree.
    member : str or None
        A model of a stack, a vote or a bag, to explain instead of the whole.
    number : int or None
        A round of boosting, counted from 0.
    shap : Path or None
        Where to write the SHAP values of all rows, as CSV.
    """
    if tree is not None and node is None and row is None:
        raise UsageError("--tree needs --node NUMBER or --row NUMBER")
    if node is not None and row is not None:
        raise UsageError("--node and --row cannot be combined: give one of them")
    if shap is not None:
        inputs = {"the data file": data_file, "the model file": model_file}
        check_output(shap, TABLE, inputs, force=force)
    model = load_model(model_file)
    target = target_of(model, model_file, target)
    problem = _problem(model, data_file, target, reading)
    X, part = problem.features.table, training_part(model, problem)
    book = None
    if member is not None or shap is None or (row, node, number) != (None, None, None):
        import arboretum

        # for a row, only its own unseen categories matter: `_one_row` names them
        with nullcontext() if row is None else gather_unseen({}):
            book = arboretum.worksheet(model, part.features.table, part.y, part.weight)
    if book is not None and member is not None:
        book = _member_of(book, member)
        model, X = book.model, book.table
        if member == "final" and _joined(
            model
        ):  # in a stack its columns are the predictions of the others
            _explain_final(book, row, node, number, shap)
            return
    elif node is not None:
        _refuse_joined(model, "tree")
    elif number is not None:
        _refuse_joined(model, "round")
    which = 0 if tree is None else parse_tree(tree)
    if book is not None and row is not None:
        one = _one_row(model, X, row)
        with gather_unseen({}):
            _explain_row(model, book, X, row, one, which if tree is not None else None)
    elif book is not None and node is not None:
        _print_answer(book.node, which, node)
    if book is not None and number is not None:
        _print_answer(book.round, number)
    if book is not None and row is node is number is None:
        _print_overview(model, book)
    if shap is not None:
        _write_shap(model, X, shap)


def _problem(model: Any, path: Path, target: str, reading: Reading | None) -> Problem:
    """Return features, target and weights of a file, read as the model's training file was."""
    data = read_like(model, path, reading)
    task = "classification" if is_classifier(model) else "regression"
    weight = model.notes_.get("weight")
    has_weight = weight is not None and weight in data.table.names
    problem = Problem.of(data, task, target, weight if has_weight else None)
    known = {weight} if weight is not None else set()
    return replace(problem, features=features_of(model, problem.features, known=known))


def _joined(model: Any) -> list[str]:
    """Return the names of the models that a stack or a vote joins; for other models none."""
    return [name for name, _ in model._pairs()] if hasattr(model, "_pairs") else []


def _refuse_joined(model: Any, what: str) -> None:
    """Raise a UsageError for a stack or a vote, whose trees and rounds are those of its members."""
    names = _joined(model)
    if names:
        raise UsageError(
            f"{type(model).__name__} joins other models and has no {what} of its own: add --member, one of "
            f"{', '.join(names)}"
        )


def _print_answer(compute: Any, *arguments: Any) -> None:
    """Print a sheet of a worksheet; errors about missing parts are put in words of the command line."""
    try:
        print_sheet(compute(*arguments))
    except NotInModel as error:
        raise UsageError(error.why) from None


def _print_overview(model: Any, book: Any) -> None:
    """Print the parts that can be shown, and the options that show them."""
    sheet = book.sheet()
    print_sheet(
        replace(sheet, notes=[note for note in sheet.notes if not note.startswith("Ask .")])
    )
    names = _joined(model)
    if names:
        print_note(f"--row NUMBER shows a row; --member NAME one of {', '.join(names)}")
        return
    options = [_OPTIONS[name] for name in book.answers if name in _OPTIONS]
    print_note(f"more: {', '.join(options)}")


def _member_of(book: Any, name: str) -> Any:
    """Return the worksheet of a member, by its name, or by its number in a bag."""
    try:
        return book.member(int(name) if name.lstrip("-").isdigit() else name)
    except NotInModel as error:
        raise UsageError(f"--member: {error.why}") from None
    except ParameterError as error:
        raise UsageError(f"--member: {str(error).removeprefix('worksheet: ')}") from None


def _explain_final(book: Any, row: int | None, *refused: Any) -> None:
    """Show the final model of a stack, or its prediction for a row."""
    if any(one is not None for one in refused):
        raise UsageError(
            "--member final takes --row NUMBER only: it learned from predictions of rows that the others had "
            "not seen, which are not kept"
        )
    if row is not None:
        print_sheet(book.row(row))
        return
    print_sheet(book.sheet())
    if hasattr(book.model.final_estimator_, "trees_"):
        print_note("its trees: `arboretum show MODEL --member final`")


# ---------------------------------------------------------------------- a row
def _one_row(model: Any, X: Any, row: int) -> Any:
    """Return a row of a table; warn of its unseen categories, with its number."""
    if not 0 <= row < X.n_rows:
        raise UsageError(f"there is no row {row}: the file has rows 0 to {X.n_rows - 1:,}")
    one, found = take_rows(X, np.array([row])), Unseen()
    with gather_unseen(found):
        model._encode(one)
    if found:
        at = np.array([row])
        warn_unseen({name: (values, at, known) for name, (values, _, known) in found.items()})
    return one


def _explain_row(model: Any, book: Any, X: Any, row: int, one: Any, tree: Any) -> None:
    """Show the path of a row, the contributions of columns, and the worksheet of its leaf."""
    from arboretum.explain.worksheet.journey import waterfall_table
    from arboretum.explain.worksheet.sheet import Sheet

    try:
        sheet = book.row(row if book.table is X else one)
    except DataError as error:  # not the training file
        print_note(f"row {row} is explained as a new row: {in_command_words(str(error))}")
        sheet = book.row(one)
    print_sheet(sheet)
    added = waterfall_table(model, one)
    if added is not None:
        print_sheet(Sheet(f"contributions of the columns to row {row}", tables=[added]))
    names = _joined(model)
    if names:
        print_note(f"the path through one of its models: add --member, one of {', '.join(names)}")
        return
    if sheet.parts:  # the leaf of a single tree is part of its path
        return
    try:
        which = 0 if tree is None else tree
        picked = pick_tree(model, which, "--tree").tree
        print_sheet(book.leaf(which, int(leaves_of(picked, model._encode(one))[0])))
    except (DataError, ParameterError) as error:
        print_note(f"no worksheet of its leaf: {in_command_words(str(error))}")


# ---------------------------------------------------------------------- all rows
def _write_shap(model: Any, X: Any, path: Path) -> None:
    """Write the contribution of every column to every prediction; the last column is their base."""
    _refuse_joined(model, "SHAP values")
    with working(f"explaining {plural(X.n_rows, 'row')}"):
        values, base = model.shap_values(X), np.atleast_1d(model.shap_base_value())
    names = list(model.schema_.names)
    outputs = [""]
    if values.ndim > 2:
        values = values.reshape(len(values), len(names), -1)
        classes: Any = getattr(model, "classes_", None)
        if not isinstance(classes, np.ndarray) or len(classes) != values.shape[2]:
            classes = range(values.shape[2])
        outputs = [f": {c}" for c in classes]
    header = [f"{name}{out}" for out in outputs for name in [*names, "base"]]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "prediction", *header])
        predicted = np.asarray(model.predict(X)).reshape(len(values), -1)[:, 0].tolist()
        for row, line in enumerate(values.reshape(len(values), len(names), -1)):
            cells: list[str] = [str(row), str(predicted[row])]
            for k in range(line.shape[1]):
                cells += [repr(float(v)) for v in (*line[:, k], np.ravel(base)[k])]
            writer.writerow(cells)
    print_note(
        f"SHAP values of {plural(len(values), 'row')} in {path} ({file_size(path.stat().st_size)})"
    )
