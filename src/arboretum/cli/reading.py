"""Reading data files: by the options, by the notes of a model file on its training, from standard input.

arboretum train data.csv -t price --as-number price income --as-date when
                             │
                             └─► kept with the model ("read as"), so that `predict` reads other files
                             in the same way
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from arboretum.cli.files import STDIN, Data, kind_of
from arboretum.cli.guard import UsageError
from arboretum.cli.screen import print_note, stage
from arboretum.data.checks import list_names, list_rows
from arboretum.data.reading.csv_table import MARKS
from arboretum.data.reading.dialect import CsvDialect
from arboretum.data.reading.files import read_bytes, read_file
from arboretum.data.reading.written import DATE_ORDERS, read_dates, read_numbers
from arboretum.data.table import from_columns
from arboretum.data.values import Raw, RawNumbers, Words, from_cells
from arboretum.errors import DataError

__all__ = ["SPLIT", "Reading", "describe_notes", "note_of", "read_data", "read_like"]

_NOTE, _FORM, SPLIT = "read as", "data file", "held out"  # notes of a model file
_CALLED = {
    "sep": "separator",
    "decimal": "decimal sign",
    "encoding": "encoding",
    "na": "missing",
    "header": "header",
    "skip": "lines skipped",
}


@dataclass(frozen=True)
class Reading:
    """The options about data files; see their --help."""

    dialect: CsvDialect = field(default_factory=CsvDialect)
    as_number: tuple[str, ...] = ()
    as_date: tuple[str, ...] = ()  # COLUMN or COLUMN=FORMAT

    @classmethod
    def of(
        cls,
        sep: str | None,
        decimal: str | None,
        encoding: str | None,
        na: Iterable[str] | None,
        no_header: bool,
        skip: int = 0,
        as_number: Iterable[str] | None = None,
        as_date: Iterable[str] | None = None,
    ) -> Reading:
        """Check the options and combine them."""
        sep = {"tab": "\t", "\\t": "\t"}.get(sep or "", sep)
        if sep is not None and len(sep) != 1:
            raise UsageError(f"--sep is one character, or tab, got {sep!r}")
        if decimal not in (None, ".", ","):
            raise UsageError(f"--decimal is . or , got {decimal!r}")
        dialect = CsvDialect(sep, decimal, encoding, tuple(na or ()), not no_header, skip)
        return cls(dialect, tuple(as_number or ()), tuple(as_date or ()))


def read_data(path: str | Path, reading: Reading | None = None) -> Data:
    """Read a file, or standard input (``-``), with these options."""
    reading = reading or Reading()
    data = _read(path, reading.dialect)
    wanted = dict.fromkeys(data.expand(reading.as_number), "number")
    for text in data.expand(reading.as_date):
        name, _, form = text.partition("=")
        if name in wanted:
            raise UsageError(
                f"{name!r} cannot be both a number and a date: give one of the options"
            )
        wanted[name] = f"date {form}".strip()
    for name in wanted:
        data.column(name, "--as-number" if wanted[name] == "number" else "--as-date")
    return _convert(data, wanted, noted=True)


def read_like(model: Any, path: str | Path, reading: Reading | None = None) -> Data:
    """Read a file as the training file of a model was read."""
    data = read_data(path, _with_noted(model, reading or Reading()))
    noted = json.loads(model.notes_.get(_NOTE, "{}"))
    known = {name: how for name, how in noted.items() if name in data.names}
    return _convert(data, known, noted=False)


def note_of(data: Data, reading: Reading) -> dict[str, str]:
    """Return the notes for a model file on how its training file was read."""
    known, notes = dict(data.conventions), {}
    if known:
        notes[_NOTE] = json.dumps(known, ensure_ascii=False)
    plain = asdict(CsvDialect())
    given = {name: value for name, value in asdict(reading.dialect).items() if value != plain[name]}
    if given:
        notes[_FORM] = json.dumps(given, ensure_ascii=False)
    return notes


def _with_noted(model: Any, reading: Reading) -> Reading:
    """Return the options, completed by those of the training."""
    noted = json.loads(model.notes_.get(_FORM, "{}"))
    plain, dialect = CsvDialect(), reading.dialect
    known: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in noted.items()
        if hasattr(plain, name) and getattr(dialect, name) == getattr(plain, name)
    }
    return replace(reading, dialect=replace(dialect, **known))


def describe_notes(notes: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the notes of a model file in words."""
    found = []
    for name, text in notes.items():
        if name == _NOTE:
            text = "; ".join(f"{c}: {_in_words(how)}" for c, how in json.loads(text).items())
        elif name == _FORM:
            form = json.loads(text)
            text = "; ".join(
                f"{_CALLED[key]} {value}" if value is not False else "no header"
                for key, values in form.items()
                for value in (values if isinstance(values, list) else [values])
            )
        elif name == SPLIT:
            split = json.loads(text)
            text = f"{split['share']:.0%} of the rows (--test-size), seed {split['seed']}"
        found.append((name, text))
    return found


def _read(path: str | Path, dialect: CsvDialect) -> Data:
    if str(path) == STDIN:
        with stage("reading standard input"):
            found = read_bytes("standard input", sys.stdin.buffer.read(), dialect)
        name = "standard input"
    else:
        if kind_of(Path(path)) == "model file":
            raise UsageError(f"{str(path)!r} is a model file: give a data file here")
        with stage(f"reading {path}"):
            found = read_file(path, dialect)
        name = str(path)
    for note in found.notes:
        print_note(note)
    table = from_columns(found.names, found.columns, found.n_rows)
    return Data(name, table, found.text)


def _convert(data: Data, wanted: Mapping[str, str], *, noted: bool) -> Data:
    """Return the data with some columns of words read as numbers or dates."""
    columns, conventions = dict(zip(data.names, data.table.columns)), {}
    for name, how in wanted.items():
        raw = columns[name]
        if isinstance(raw, Words):
            columns[name], conventions[name] = _reread(raw, name, how, data.path)
            if noted:
                print_note(
                    f"{data.path}: column {name!r} is read as {_in_words(conventions[name])}"
                )
    table = replace(data.table, body=list(columns.values()))
    return replace(data, table=table, conventions=conventions)


def _reread(raw: Words, name: str, how: str, path: str) -> tuple[Raw, str]:
    what, _, form = how.partition(" ")
    marks = [i for i, value in enumerate(raw.values) if str(value).strip() in MARKS]
    if marks:  # as in columns of plain numbers
        marked = list_names(raw.values[i] for i in marks)
        print_note(f"{path}: in column {name!r} {marked} is read as missing")
        kept = [i for i in range(len(raw.values)) if i not in marks]
        place = np.full(len(raw.values) + 1, -1)
        place[kept] = np.arange(len(kept))
        raw = Words(place[raw.codes], [raw.values[i] for i in kept], raw.dtype)
    texts = [str(value) for value in raw.values]
    found: Any
    if what == "number":
        found = read_numbers(texts, form or None)
    else:
        found = read_dates(texts, form or None)
    if found is None:
        _refuse(raw, name, what, form)
    values, form = found
    cells = from_cells(values, name)
    assert isinstance(cells, RawNumbers)
    numbers = np.append(cells.values.astype(np.float64), np.nan)[raw.codes]
    return RawNumbers(numbers, cells.dtype), f"{what} {form}"


def _refuse(raw: Words, name: str, what: str, form: str) -> None:
    """Raise, naming the cells that fit no convention, or else the first ones."""
    read: Any = read_numbers if what == "number" else read_dates
    odd = [i for i, value in enumerate(raw.values) if read([str(value)], form or None) is None]
    few = odd or [0]
    rows = np.flatnonzero(np.isin(raw.codes, few))
    advice = "declare it missing with --na"
    if what == "date":
        advice += f", or give the format of the dates: --as-date {name}=%d.%m.%Y"
    elif not odd:
        advice = "the decimal signs differ: choose one with --decimal"
    raise DataError(
        f"column {name!r} cannot be read as {what}s: {list_names(raw.values[i] for i in few)} "
        f"({list_rows(rows)}); correct it, or {advice}"
    )


def _in_words(convention: str) -> str:
    what, _, form = convention.partition(" ")
    if what == "number":
        return "numbers, with a decimal " + ("point" if form == "." else "comma")
    if form in DATE_ORDERS or form == "ISO":
        return f"dates, {form}"
    return f"dates of the format {form}"
