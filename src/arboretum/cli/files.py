"""Data files and their columns; places to write to.

    data.column("age", "target")    a raw column, or an error that suggests similar names
    data.select(names).take(rows)   part of the columns, part of the rows
    data.table                      what estimators take

Every problem with a file or a column is a DataError that names it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from arboretum.cli.guard import UsageError
from arboretum.cli.screen import print_note, stage
from arboretum.data.checks import did_you_mean, list_names
from arboretum.data.reading.dialect import CsvText
from arboretum.data.table import Table
from arboretum.data.target import encode_classes, numbers, weights
from arboretum.data.values import Raw, RawNumbers, Words, as_words
from arboretum.errors import DataError

__all__ = [
    "STDIN",
    "TABLE",
    "Data",
    "check_output",
    "column_text",
    "features_of",
    "kind_of",
    "load_model",
    "pick",
    "target_values",
    "weight_values",
]


@dataclass(frozen=True)
class Data:
    """Part of a table file.

    Attributes
    ----------
    path : str
        The file, for messages.
    table : Table
        Raw columns.
    text : CsvText or None
        A text file and its format, for the whole file only.
    conventions : dict
        Column -> how its words were read as numbers or dates, for the whole file only.
    """

    path: str
    table: Table
    text: CsvText | None = None
    conventions: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.table.names

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    def column(self, name: str, role: str) -> Raw:
        """Return a column; ``role`` names its purpose in the error message."""
        if name not in self.names:
            hint = did_you_mean(name, self.names) or f"; it has {list_names(self.names, limit=20)}"
            raise DataError(f"{self.path!r} has no column {name!r} for {role}{hint}")
        return self.table.columns[self.names.index(name)]

    def expand(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return names of columns, splitting ``a,b`` in two unless a column has that name."""
        parts = [
            name.split(",") if name.partition("=")[0] not in self.names and "," in name else [name]
            for name in names
        ]
        return tuple(part.strip() for several in parts for part in several)

    def select(self, names: Sequence[str]) -> Data:
        """Return some columns, in the given order."""
        columns = dict(zip(self.names, self.table.columns))
        body = [columns[name] for name in names]
        return Data(self.path, Table(tuple(names), self.table.named, self.n_rows, body))

    def without(self, names: Collection[str]) -> Data:
        """Return all columns but some."""
        return self.select([name for name in self.names if name not in names])

    def take(self, rows: np.ndarray) -> Data:
        """Return some rows."""
        body = [_take(raw, rows) for raw in self.table.columns]
        return Data(self.path, Table(self.names, self.table.named, len(rows), body))


def _take(raw: Raw, rows: np.ndarray) -> Raw:
    if isinstance(raw, Words):
        return Words(raw.codes[rows], raw.values, raw.dtype, raw.order)
    return RawNumbers(raw.values[rows], raw.dtype)


# --------------------------------------------------------------------------- values
def target_values(raw: Raw, name: str, *, classes: bool) -> np.ndarray:
    """Return a target column as an estimator takes it, checked, with the column's name in errors.

    Examples
    --------
    >>> target_values(Words(np.array([1, 0]), ["no", "yes"], "str"), "ill", classes=True)
    array(['yes', 'no'], dtype=object)
    """
    y = (
        raw.values
        if isinstance(raw, RawNumbers)
        else np.array([*raw.values, None], object)[raw.codes]
    )
    try:
        if isinstance(raw, RawNumbers) and raw.family != "number":
            raise DataError(f"holds a {raw.dtype} in every row, which cannot be predicted")
        if classes:
            if isinstance(raw, RawNumbers) and raw.dtype.startswith(("int", "uint")):
                y = _whole(y)
            encode_classes(y)
        else:
            numbers(y)
    except DataError as error:
        raise DataError(f"target {name!r}: {error}") from error
    return y


def _whole(y: np.ndarray) -> np.ndarray:
    """Return whole numbers as integers, which a column with gaps holds as floats."""
    return y.astype(np.int64) if y.dtype.kind == "f" and np.all(np.abs(y) < 2**53) else y


def weight_values(data: Data, name: str) -> np.ndarray:
    """Return a column of weights, checked, with its name in errors."""
    raw = data.column(name, "the weights")
    if not isinstance(raw, RawNumbers) or raw.family != "number":
        raise DataError(f"weight column {name!r} of {data.path!r} does not hold numbers")
    try:
        return np.asarray(weights(raw.values, data.n_rows))
    except DataError as error:
        raise DataError(f"weight column {name!r}: {error}") from error


def column_text(data: Data, name: str) -> list[str]:
    """Return a column as written in the file: ``007`` stays ``007``."""
    raw = data.column(name, "--id")
    if data.text is None:
        words = as_words(raw)
        return [str(v) for v in np.array([*words.values, ""], dtype=object)[words.codes]]
    position = data.text.names.index(name)
    return [fields[position] for fields in data.text.rows()]


# --------------------------------------------------------------------------- models
def load_model(path: str | Path) -> Any:
    """Load a model file."""
    from arboretum.io.native import load

    kind = kind_of(Path(path))
    if kind in ("CSV table", "Parquet file"):
        raise UsageError(
            f"{str(path)!r} is a {kind}, not a model file: the model comes first, then the data"
        )
    with stage(f"loading {path}"):
        model = load(path)
    if not hasattr(model, "predict"):
        raise DataError(
            f"{path} holds a {type(model).__name__}, which does not predict: load it in Python"
        )
    return model


def features_of(model: Any, data: Data, *, known: Collection[str] = ()) -> Data:
    """Return the columns a model was trained on; print a note about the others.

    Parameters
    ----------
    known : collection of str
        Columns with another purpose, left out without a note.
    """
    if not model.schema_.named:  # trained without names: columns go by their position
        return data.without(known)
    return pick(data, model.schema_.given.names, known=known)


def pick(data: Data, names: Sequence[str], *, known: Collection[str] = ()) -> Data:
    """Return the columns of these names; print a note about the others, unless they are known."""
    extra = [name for name in data.names if name not in names]
    absent = [name for name in names if name not in data.names]
    if absent:
        hints = [f"{name!r}{did_you_mean(name, extra)}" for name in absent[:5]]
        hidden = len(absent) - len(hints)
        raise DataError(
            f"{data.path!r} lacks {'a column' if len(absent) == 1 else 'columns'} the model was "
            f"trained on: {', '.join(hints)}" + (f", … and {hidden} more" if hidden else "")
        )
    unused = [name for name in extra if name not in known]
    if unused:
        print_note(f"{data.path}: the model does not use {list_names(unused)}")
    return data.select(names)


# --------------------------------------------------------------------------- writing
_MARKS = {  # first bytes of the kinds of files
    b"ARBORETM": "model file",
    b"PAR1": "Parquet file",
    b"\x89PNG": "picture",
    b"\xff\xd8\xff": "picture",
    b"%PDF": "picture",
}
_PLAIN = ("", ".txt", ".text", ".dat", ".dot", ".gv")  # suffixes of plain text, e.g. of programs
TABLE = ("CSV table", "text")  # kinds that a CSV file may replace
STDIN = "-"


def check_output(
    path: str | Path,
    kind: str | Collection[str],
    inputs: Mapping[str, Path | None] | None = None,
    *,
    force: bool = False,
) -> Path:
    """Raise, before any work is done, if a file cannot or must not be written; return its path.

    Parameters
    ----------
    path : str or Path
    kind : str or collection of str
        Kinds of files that may be replaced, as named by `kind_of`.
    inputs : mapping
        Role of a file in the command -> its path. These files are never replaced.
    force : bool
        Also replace files of other kinds.
    """
    path = Path(path)
    if path.is_dir():
        raise DataError(f"cannot write {str(path)!r}: it is a directory, add a file name")
    if not path.parent.is_dir():
        raise DataError(
            f"cannot write {str(path)!r}: the directory {str(path.parent)!r} does not exist"
        )
    for what, other in (inputs or {}).items():
        if other is not None and _is_same(path, Path(other)):
            raise UsageError(f"cannot write {str(path)!r}: it is {what}, choose another name")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise DataError(f"cannot write {str(path)!r}: permission denied")
    kinds, found = (kind,) if isinstance(kind, str) else tuple(kind), kind_of(path)
    if not force and found is not None and found not in kinds:
        raise UsageError(
            f"{str(path)!r} exists and is a {found}, not a {kinds[0]}: choose another name, or "
            "replace it with --force"
        )
    return path


def _is_same(path: Path, other: Path) -> bool:
    """Return True if two paths lead to one file, also by links; ``-`` is the file on standard input."""
    if str(other) == STDIN:
        with suppress(OSError, ValueError):  # standard input may not be a file
            return path.exists() and os.path.samestat(path.stat(), os.fstat(sys.stdin.fileno()))
        return False
    if path.exists() and other.exists():
        return os.path.samefile(path, other)
    return path.resolve() == other.resolve()


def kind_of(path: Path) -> str | None:
    """Return the kind of an existing file from its first bytes; None if it is empty or missing."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        start = file.read(512)
    if not start:
        return None
    for mark, kind in _MARKS.items():
        if start.startswith(mark):
            return kind
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith((b"<!doctype html", b"<html")):
        return "HTML page"
    if b"<svg" in text or b"//dtd svg" in text:
        return "picture"
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv", ".tab"):
        return "CSV table"
    if b"\0" in start:
        return "binary file"
    return "text" if suffix in _PLAIN else f"{suffix} file"
