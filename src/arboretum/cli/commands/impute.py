"""`arboretum impute`: a data file with its missing values filled.

Existing cells are copied byte for byte; only the missing ones change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from arboretum.cli.csv_output import copy_csv, write_csv
from arboretum.cli.files import TABLE, Data, check_output, column_text, target_values
from arboretum.cli.guard import UsageError, complain
from arboretum.cli.models import choose_task
from arboretum.cli.reading import Reading, read_data
from arboretum.cli.screen import (
    Stopwatch,
    file_size,
    number,
    plural,
    print_facts,
    print_note,
    print_table,
    working,
)
from arboretum.data.reading.written import date_form, looks_like, write_number
from arboretum.data.schema import Column
from arboretum.data.table import Table
from arboretum.data.values import Words
from arboretum.errors import DataError

__all__ = ["Imputation", "impute"]


@dataclass(frozen=True)
class Imputation:
    """The options of the command; see its --help."""

    data: Path
    output: Path
    target: str | None = None
    task: str = "auto"
    trees: int = 100
    max_iter: int = 10
    tol: float = 1e-3
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    seed: int | None = None
    jobs: int | None = None
    reading: Reading = field(default_factory=Reading)
    escape_formulas: bool = False
    force: bool = False


def impute(options: Imputation) -> None:
    """Run the command."""
    output = _check_options(options)
    data = read_data(options.data, options.reading)
    options = replace(
        options,
        keep=data.expand(options.keep),
        drop=data.expand(options.drop),
        categorical=data.expand(options.categorical),
    )
    _check_roles(options)
    target, task = _read_target(options, data)
    roles = (
        ("--keep", options.keep),
        ("--categorical", options.categorical),
        ("--drop", options.drop),
    )
    for role, names in roles:
        for name in names:
            data.column(name, role)
    aside = {*options.keep, *options.drop, *([] if options.target is None else [options.target])}
    features = data.without(aside)
    _check_values(features)
    _warn_of_words(features)
    if not features.names:
        raise UsageError("no column is left to fill: leave out some of --keep")
    imputer = _make_imputer(options, task)
    with working(f"filling {plural(data.n_rows, 'row')}") as watch:
        filled = imputer.fit_transform(features.table, target)
    cells = _filled_cells(data, features, filled, imputer)
    _write(output, data, cells, options)
    _report(options, imputer, features, filled, cells, task, watch)


# --------------------------------------------------------------------------- before
def _check_options(options: Imputation) -> Path:
    if not options.output.name.lower().endswith(".csv"):
        raise UsageError(f"-o {str(options.output)!r}: the filled table is CSV, name it *.csv")
    inputs = {"the data file": options.data}
    output = check_output(options.output, TABLE, inputs, force=options.force)
    if options.task != "auto" and options.target is None:
        raise UsageError("--task is about the target: give --target too")
    return output


def _check_roles(options: Imputation) -> None:
    roles = Counter({*options.keep})
    roles.update({*options.categorical})
    roles.update({*options.drop})
    roles.update([] if options.target is None else [options.target])
    twice = [name for name, count in roles.items() if count > 1]
    if twice:
        raise UsageError(
            f"{twice[0]!r}: a column has one role, --target, --keep, --drop or --categorical"
        )


def _check_values(features: Data) -> None:
    """Raise if a column has no value to fill gaps with."""
    from arboretum.data.refill import missing_cells

    empty = np.flatnonzero(missing_cells(features.table).all(axis=0))
    if len(empty):
        name = features.names[int(empty[0])]
        raise DataError(
            f"column {name!r} has no value at all, so there is nothing to fill it with: --keep "
            f"{name} copies it "
            f"as it is, --drop {name} leaves it out"
        )


def _warn_of_words(features: Data) -> None:
    """Warn of numbers and dates that would be filled with another row's spelling."""
    for name, raw in zip(features.names, features.table.columns):
        likeness = looks_like(raw.values) if isinstance(raw, Words) else None
        if likeness is not None:
            option = "--as-number" if likeness == "numbers" else "--as-date"
            complain(
                f"column {name!r} holds {likeness} written as words, e.g. {raw.values[0]!r}: gaps get the "
                f"spelling of another row; {option} {name} reads them as {likeness}",
                label="warning: ",
            )


def _read_target(options: Imputation, data: Data) -> tuple[np.ndarray | None, str]:
    if options.target is None:
        return None, "auto"
    raw = data.column(options.target, "the target")
    task, _ = choose_task(raw, options.task, options.target)
    return target_values(raw, options.target, classes=task == "classification"), task


def _make_imputer(options: Imputation, task: str) -> Any:
    from arboretum.forest.imputer import ProximityImputer

    return ProximityImputer(
        options.trees,
        max_iter=options.max_iter,
        tol=options.tol,
        task=task,
        categorical_features=list(options.categorical) or None,
        random_state=options.seed or 0,
        n_jobs=options.jobs,
    )


# --------------------------------------------------------------------------- writing
def _filled_cells(
    data: Data, features: Data, filled: Table, imputer: Any
) -> dict[str, dict[int, str]]:
    """Return the filled values, as text: column -> row -> cell."""
    from arboretum.data.refill import missing_cells

    cells = {}
    for f, (name, gaps) in enumerate(zip(features.names, missing_cells(features.table).T)):
        if gaps.any():
            written = column_text(data, name)
            guess = _guesses(data, imputer.schema_.columns[f], filled.columns[f], written, gaps)
            cells[name] = {i: guess(i) for i in np.flatnonzero(gaps).tolist()}
    return cells


def _guesses(data: Data, column: Column, raw: Any, texts: list[str], gaps: np.ndarray) -> Any:
    """Return a function that writes the value of a row in the style of its column."""
    from arboretum.data.refill import readable

    known = np.flatnonzero(~gaps).tolist()
    if isinstance(raw, Words):
        written: dict[int, str] = {}  # a category is written as in the file, e.g. TRUE
        for i in known:
            written.setdefault(int(raw.codes[i]), texts[i])
        return lambda i: written.get(int(raw.codes[i]), str(raw.values[raw.codes[i]]))
    what, _, form = data.conventions.get(column.name, "").partition(" ")
    there = list(dict.fromkeys(texts[i] for i in known))
    if column.dtype in ("datetime", "time"):
        if what == "date" and (pattern := date_form(there, form)) is not None:
            return lambda i: readable(column, round(float(raw.values[i]))).strftime(pattern)
        width = len("2024-12-31") if all(len(text) <= len("2024-12-31") for text in there) else None
        return lambda i: readable(column, round(float(raw.values[i]))).isoformat()[:width]
    decimal = form if what == "number" else "." if data.text is None else data.text.decimal
    return lambda i: write_number(float(raw.values[i]), there, decimal)


def _write(
    output: Path, data: Data, cells: Mapping[str, Mapping[int, str]], options: Imputation
) -> None:
    """Write the data file with its gaps filled; a Parquet file becomes plain CSV."""
    if data.text is not None:
        written = copy_csv(
            data.text, cells, drop=options.drop, escape_formulas=options.escape_formulas
        )
        output.write_bytes(written)
        return
    columns = {name: column_text(data, name) for name in data.without(options.drop).names}
    for name, new in cells.items():
        columns[name] = [new.get(i, cell) for i, cell in enumerate(columns[name])]
    with open(output, "w", encoding="utf-8", newline="") as file:
        write_csv(file, columns.items(), escape_formulas=options.escape_formulas)


# --------------------------------------------------------------------------- after
def _report(
    options: Imputation,
    imputer: Any,
    features: Data,
    filled: Table,
    cells: Mapping[str, Mapping[int, str]],
    task: str,
    watch: Stopwatch,
) -> None:
    n_missing = int(imputer.n_missing_.sum())
    if n_missing:
        _print_columns(imputer, filled, cells)
        _print_rounds(imputer)
    else:
        print_note(f"nothing is missing in {options.data}: the output is a copy")
    label = "none: similar rows are found without one (--target COLUMN)"
    if options.target is not None:
        label = f"{options.target}: {task}"
    facts = [
        ("data", f"{options.data}: {plural(features.n_rows, 'row')}"),
        ("target", label),
        ("filled", plural(n_missing, "cell")),
        *watch.facts(),
        ("saved", f"{options.output} ({file_size(options.output.stat().st_size)})"),
    ]
    print_facts(facts)


def _print_columns(imputer: Any, filled: Table, cells: Mapping[str, Mapping[int, str]]) -> None:
    rows = []
    for f, column in enumerate(imputer.schema_.columns):
        if column.name in cells:
            new = cells[column.name]
            share = f"{len(new) / filled.n_rows:.1%}"
            values = filled.columns[f]
            numbers = None if isinstance(values, Words) else values.values[list(new)]
            summary = _sum_up(list(new.values()), numbers)
            rows.append([column.name, column.kind, f"{len(new):,}", share, summary])
    header = ["column", "kind", "missing", "share", "filled with"]
    print_table("Columns with missing values", header, rows, right=[2, 3])


def _sum_up(guesses: list[str], values: np.ndarray | None) -> str:
    """Return what gaps were filled with: a range of numbers and dates, or the most frequent categories."""
    if values is not None:
        low, high = guesses[int(values.argmin())], guesses[int(values.argmax())]
        return low if low == high else f"{low} … {high}"
    counts = Counter(guesses).most_common(3)
    more = len(set(guesses)) - len(counts)
    text = ", ".join(f"{value} ({count:,})" for value, count in counts)
    return f"{text}, … and {more} more" if more else text


def _print_rounds(imputer: Any) -> None:
    rows = [
        [str(step.number), f"{step.changed:,}", number(step.moved), f"{step.fallbacks:,}"]
        for step in imputer.report_
    ]
    end = "the guesses settled" if imputer.converged_ else "stopped by --max-iter"
    header = ["round", "categories changed", "largest change (std. dev.)", "no row near"]
    print_table(f"Rounds: {end}", header, rows, right=range(4))
