"""Options that several commands share.

The format of a data file takes five options, and two more if a model learns how to read its columns. A
command that reads files is declared with `reads_files` and takes one argument for all of them, ``reading``:

    @reads_files()                    arboretum evaluate … --sep ; --na n/a
    def evaluate(model, reading) ◄──  Reading(sep=";", na=["n/a"])
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

__all__ = [
    "AsTask", "Categorical", "DataFile", "EscapeFormulas", "Force", "Format", "Jobs", "Member", "ModelFile",
    "Output", "PruningRule", "Seed", "Task", "Truth", "Weight", "reads_files",
]  # fmt: skip


class Task(StrEnum):
    """What is predicted: a class or a number."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class PruningRule(StrEnum):
    """How cross-validation chooses the pruning strength."""

    smallest = "min"
    one_standard_error = "1se"


class Format(StrEnum):
    """How a tree is shown."""

    text = "text"
    rules = "rules"
    dot = "dot"
    png = "png"
    svg = "svg"
    pdf = "pdf"
    jpg = "jpg"


ModelFile = Annotated[Path, typer.Argument(metavar="MODEL.arb", help="A model file.")]
DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A .csv, .tsv, .txt (also .gz) or .parquet file; - reads standard input.",
    ),
]
EscapeFormulas = Annotated[
    bool,
    typer.Option(
        "--escape-formulas",
        help="Put ' before texts of a CSV file that a spreadsheet would run as formulas.",
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace an existing file of another kind; never an input."),
]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Where to write; default: stdout."),
]
Truth = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", metavar="COLUMN", help="The actual values; default: the model's target."
    ),
]
Member = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="A model of a stack, a vote or a bag, by its name or number."
    ),
]
Weight = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of row weights.")]
Categorical = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="A column whose numbers are categories; a,b names two."),
]
Seed = Annotated[
    int | None,
    typer.Option(min=0, metavar="N", help="Seed of everything drawn at random; default: 0."),
]
Jobs = Annotated[
    int | None, typer.Option(metavar="N", help="Threads; -1 and the default use all cores.")
]
AsTask = Annotated[
    Task,
    typer.Option(
        metavar="TASK",
        help="classification, regression or auto (default): words and few whole numbers are classes.",
    ),
]

# ---------------------------------------------------------------------- how data files are written
_FORM = "Format of data files"  # a heading of --help
Sep = Annotated[
    str | None,
    typer.Option(
        "--sep",
        metavar="CHAR",
        help="The character between fields; default: detected.",
        rich_help_panel=_FORM,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        metavar=".|,",
        help="The decimal sign; default: detected.",
        rich_help_panel=_FORM,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="E.g. utf-8, cp1252; default: detected.",
        rich_help_panel=_FORM,
    ),
]
Na = Annotated[
    list[str] | None,
    typer.Option(
        "--na",
        metavar="TEXT",
        help="A text that means missing, in addition to the usual ones; repeatable.",
        rich_help_panel=_FORM,
    ),
]
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header",
        help="The first line is a row, not column names.",
        rich_help_panel=_FORM,
    ),
]
AsNumber = Annotated[
    list[str] | None,
    typer.Option(
        "--as-number",
        metavar="COLUMN",
        help="Read a column such as 1.234,56, $5 or 12% as numbers; a,b names two.",
        rich_help_panel=_FORM,
    ),
]
AsDate = Annotated[
    list[str] | None,
    typer.Option(
        "--as-date",
        metavar="COLUMN[=FORM]",
        help="Read a column such as 31/12/2023 as dates; FORM: e.g. %d/%m/%Y.",
        rich_help_panel=_FORM,
    ),
]

Skip = Annotated[
    int,
    typer.Option(
        "--skip",
        min=0,
        metavar="N",
        help="Leave out the first N lines, e.g. a title above the header.",
        rich_help_panel=_FORM,
    ),
]

_READING = {
    "sep": Sep,
    "decimal": Decimal,
    "encoding": Encoding,
    "na": Na,
    "no_header": NoHeader,
    "skip": Skip,
}
_COLUMNS = {"as_number": AsNumber, "as_date": AsDate}


def reads_files(*, columns: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that replaces the argument ``reading`` of a command by the options that make it.

    Parameters
    ----------
    columns : bool
        Also add the options about columns.
    """
    kinds = _READING | (_COLUMNS if columns else {})
    return lambda command: _with_options(command, kinds)


def _with_options(command: Callable[..., None], kinds: dict[str, Any]) -> Callable[..., None]:
    hints = get_type_hints(command, include_extras=True)
    own = [
        one.replace(annotation=hints[one.name], kind=Parameter.KEYWORD_ONLY)
        for one in signature(command).parameters.values()
        if one.name != "reading"
    ]
    added = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default={"no_header": False, "skip": 0}.get(name),
            annotation=kind,
        )
        for name, kind in kinds.items()
    ]

    @wraps(command)
    def run(**given: Any) -> None:
        from arboretum.cli.reading import Reading

        form = {name: given.pop(name) for name in kinds}
        command(**given, reading=Reading.of(**form))

    del run.__wrapped__  # its parameters are not the command's
    run.__signature__ = Signature([*own, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in (*own, *added)}
    return run
