"""The program: its help, its version, and how a function becomes a command of it."""

from collections.abc import Callable
from typing import Annotated

import typer

from arboretum.cli.guard import FriendlyGroup
from arboretum.cli.helping import PlainCommand

__all__ = ["app", "command"]

app = typer.Typer(
    cls=FriendlyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="\n\n".join(
        [
            "Tree models from the command line: data are .csv, .tsv, .txt or .parquet files, models "
            "are .arb files. Start with `arboretum demo`.",
            "Examples:\n\n"
            "`arboretum compare data.csv -t price -o compare.html`\n\n"
            "`arboretum train data.csv -t price -o model.arb`\n\n"
            "`arboretum train data.csv -t price --model xgb --test-size 0.2 -o model.arb`\n\n"
            "`arboretum predict model.arb new.csv -o predictions.csv`\n\n"
            "`arboretum report model.arb new.csv -o model.html`",
            "Exit codes: 0 done, 1 a table, model or file cannot be used, 2 the command itself is "
            "wrong, 130 stopped with Ctrl-C.",
        ]
    ),
)


def command(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that makes a function a command of this name."""
    return app.command(name, cls=PlainCommand)


def _print_version(wanted: bool) -> None:
    if wanted:
        from arboretum import __version__

        typer.echo(f"arboretum {__version__}")
        raise typer.Exit


@app.callback()
def _arboretum(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and stop.",
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show where an error came from (before the command)."),
    ] = False,
) -> None:
    # `debug` is read by the guard, `version` by its callback.
    pass
