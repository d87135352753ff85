"""`arboretum predict`: predictions for a data file, as CSV or Parquet."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import numpy as np

from arboretum.cli.csv_output import write_csv
from arboretum.cli.files import TABLE, Data, check_output, column_text, features_of, load_model
from arboretum.cli.guard import UsageError
from arboretum.cli.reading import Reading, read_like
from arboretum.cli.scores import is_classifier
from arboretum.cli.screen import plural, print_note, working
from arboretum.cli.streaming import is_streamed, note_stream, refuse_options
from arboretum.data.table import Table

__all__ = ["predict"]


def predict(
    model_file: Path,
    data_file: Path,
    output: Path | None,
    proba: bool,
    identifier: str | None,
    reading: Reading | None = None,
    missing: str | None = None,
    escape_formulas: bool = False,
    force: bool = False,
) -> None:
    """Run the command.

    Parameters
    ----------
    output : Path or None
        None writes CSV to stdout; a name that ends in .parquet writes Parquet.
    proba : bool
        Add the probability of every class.
    identifier : str or None
        A column to copy, as written in the data file.
    missing : str or None
        "per-class": copies of rows with gaps, and the votes that each gets for its class.
    Put ' before texts that a spreadsheet would run as formulas.
        Put ' before texts that a spreadsheet would take for formulas.
    """
    if output is not None:
        _check_form(output)
        inputs = {"the data file": data_file, "the model file": model_file}
        check_output(output, "Parquet file" if _is_parquet(output) else TABLE, inputs, force=force)
    model = load_model(model_file)
    if proba and not (is_classifier(model) and model.n_outputs_ == 1):
        raise UsageError("--proba is for models that predict one class: leave it out")
    if missing is not None:
        _check_copies(model, missing, proba)
    if is_streamed(data_file):
        given = {"--id": identifier is not None, "--missing": missing is not None}
        _predict_stream(model, data_file, output, proba, given, reading)
        return
    data = read_like(model, data_file, reading)
    first = [] if identifier is None else [(identifier, column_text(data, identifier))]
    target = [model.notes_["target"]] if "target" in model.notes_ else []
    features = features_of(model, data, known=[*target, *(name for name, _ in first)])
    with working(f"predicting {plural(data.n_rows, 'row')}"):
        if missing is None:
            columns = first + _predictions(model, features, proba)
        else:
            columns = first + _copies(model, features)
    _check_header([name for name, _ in columns])
    if output is not None and _is_parquet(output):
        _write_parquet(output, columns)
        print_note(f"{plural(data.n_rows, 'prediction')} in {output}")
        return
    with _open(output) as file:
        write_csv(file, columns, escape_formulas=escape_formulas)
    if output is not None:
        print_note(f"{plural(data.n_rows, 'prediction')} in {output}")


def _predictions(model: Any, features: Data, proba: bool) -> list[tuple[str, list[Any]]]:
    """Return names and values of the columns to write."""
    X = features.table
    if proba:
        share = model.predict_proba(X)
        best = model.classes_[share.argmax(axis=1)]
        names = [f"p_{label}" for label in model.classes_.tolist()]
        return [("prediction", best.tolist()), *zip(names, share.T.tolist())]
    predicted = np.asarray(model.predict(X))
    if predicted.ndim == 1:
        return [("prediction", predicted.tolist())]
    return [(f"prediction_{k}", column.tolist()) for k, column in enumerate(predicted.T)]


def _predict_stream(
    model: Any,
    data_file: Path,
    output: Path | None,
    proba: bool,
    given: dict[str, bool],
    reading: Reading | None,
) -> None:
    """Write the predictions for files that are read batch by batch."""
    from arboretum.streams.predict import write_answers

    refuse_options(data_file, given, reading)
    if output is None:
        raise UsageError(f"{data_file} is streamed, to a file: give -o predictions.csv or .parquet")
    note_stream(data_file)

    def columns(table: Table) -> dict[str, Any]:
        return dict(_predictions(model, Data(str(data_file), table), proba))

    with working(f"predicting {data_file}"):
        n_rows = write_answers(str(data_file), model, columns, output)
    print_note(f"{plural(n_rows, 'prediction')} in {output}")


def _check_copies(model: Any, missing: str, proba: bool) -> None:
    if missing != "per-class":
        raise UsageError(f"--missing may be per-class, got {missing!r}")
    if not hasattr(model, "predict_copies"):
        raise UsageError(
            f"--missing per-class needs a classification forest, not a {type(model).__name__}: leave it out"
        )
    if proba:
        raise UsageError("--missing per-class counts votes: leave --proba out")


def _copies(model: Any, features: Data) -> list[tuple[str, list[Any]]]:
    """Return the predictions, and the votes that the copy of every class got for its own class."""
    copies = model.predict_copies(features.table)
    names = [f"votes_{label}" for label in copies.classes.tolist()]
    votes = zip(names, copies.own_votes.T.tolist())
    return [("prediction", copies.prediction.tolist()), *votes]


def _is_parquet(output: Path) -> bool:
    return output.suffix.lower() in (".parquet", ".pq")


def _check_form(output: Path) -> None:
    """Raise if a file of this name cannot be written."""
    if _is_parquet(output) and find_spec("pyarrow") is None:
        raise UsageError(
            f"-o {str(output)!r}: Parquet needs pyarrow: pip install pyarrow, or use .csv"
        )
    if output.suffix.lower() in (".xlsx", ".xls", ".json", ".feather", ".gz"):
        raise UsageError(f"-o {str(output)!r}: predictions are .csv or .parquet")


def _write_parquet(output: Path, columns: list[tuple[str, list[Any]]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    table = pa.table({name: pa.array(values) for name, values in columns})
    pyarrow.parquet.write_table(table, output)


def _check_header(names: list[str]) -> None:
    if names[0] in names[1:]:
        raise UsageError(f"--id {names[0]!r} has the name of a column of predictions: rename it")


@contextmanager
def _open(output: Path | None) -> Iterator[IO[str]]:
    if output is not None:
        with open(output, "w", encoding="utf-8", newline="") as file:
            yield file
        return
    if hasattr(sys.stdout, "reconfigure"):  # CSV is UTF-8, whatever the encoding of the terminal
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    yield sys.stdout
