"""`arboretum predict`: predictions for a data file, as CSV."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from arboretum.cli.files import Data, check_output, column_text, features_of, load_model, read_data
from arboretum.cli.guard import UsageError
from arboretum.cli.scores import is_classifier
from arboretum.cli.screen import plural, spinner, tell

__all__ = ["predict"]


def predict(
    model_file: Path, data_file: Path, output: Path | None, proba: bool, identifier: str | None
) -> None:
    """Run the command.

    Parameters
    ----------
    output : Path or None
        None writes to stdout.
    proba : bool
        Add the probability of every class.
    identifier : str or None
        A column to copy, as it is written in the data file.
    """
    if output is not None:
        check_output(output)
        if output.exists() and data_file.exists() and os.path.samefile(output, data_file):
            raise UsageError(f"-o {str(output)!r} is the data file itself: choose another name")
    model = load_model(model_file)
    if proba and not (is_classifier(model) and model.n_outputs_ == 1):
        raise UsageError("--proba is for models that predict one class: leave it out")
    data = read_data(data_file)
    first = [] if identifier is None else [(identifier, column_text(data, identifier))]
    features = features_of(model, data, known=[name for name, _ in first])
    with spinner(f"predicting {plural(data.n_rows, 'row')}"):
        columns = first + _predictions(model, features, proba)
    _check_header([name for name, _ in columns])
    with _open(output) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(name for name, _ in columns)
        writer.writerows(zip(*(values for _, values in columns)))
    if output is not None:
        tell(f"{plural(data.n_rows, 'prediction')} in {output}")


def _predictions(model: Any, features: Data, proba: bool) -> list[tuple[str, list]]:
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


def _check_header(names: list[str]) -> None:
    if names[0] in names[1:]:
        raise UsageError(f"--id {names[0]!r} has the name of a column of predictions: rename it")


@contextmanager
def _open(output: Path | None) -> Iterator[IO[str]]:
    if output is not None:
        with open(output, "w", encoding="utf-8", newline="") as file:
            yield file
        return
    if hasattr(sys.stdout, "reconfigure"):  # CSV is UTF-8 whatever the terminal speaks
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    yield sys.stdout
