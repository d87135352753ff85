"""Every error becomes one line on stderr and an exit code.

    0     done
    1     a table or model cannot be used; a file cannot be read or written
    2     the command itself is wrong: an unknown option, parameter or model
    130   stopped with Ctrl-C
    141   the reader of a pipe has gone (| head); nothing is printed

``arboretum --debug …`` also shows where the error came from.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import typer

from arboretum.cli.helping import PlainGroup
from arboretum.errors import ArboretumError, ParameterError

__all__ = ["FriendlyGroup", "UsageError", "complain", "reporting"]

# recent versions of typer contain their own copy of click: this finds its UsageError in either case
_ClickUsageError: Any = typer.BadParameter.__mro__[1]

_ROW = re.compile(r"\(rows? \d")


class UsageError(ParameterError):
    """Options that contradict each other, or do not fit the model."""


class FriendlyGroup(PlainGroup):
    """A group of commands whose errors the guard reports."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Parse the arguments and run the command; a usage error is one line, not a box."""
        for stream in (sys.stdout, sys.stderr):  # a terminal that cannot show "≤" shows "?"
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
        except _ClickUsageError as error:
            if not standalone_mode:
                raise
            context = getattr(error, "ctx", None)
            name = context.command_path if context else "arboretum"
            message = error.format_message().rstrip(".\n").replace("Value error, ", "")
            if type(error).__name__ == "NoArgsIsHelpError":  # no command was given
                typer.echo(message, err=True)
            else:
                complain(f"{message[:1].lower()}{message[1:]}; see `{name} --help`")
            code = 2
        if not standalone_mode:
            return code
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with reporting(debug=bool(ctx.params.get("debug"))):
            return super().invoke(ctx)


@contextmanager
def reporting(*, debug: bool = False) -> Iterator[None]:
    """Turn errors and warnings into lines on stderr, and leave with an exit code.

    Parameters
    ----------
    debug : bool
        Print the traceback of an error too.
    """
    try:
        with _warnings_as_lines(debug):
            yield
        sys.stdout.flush()  # a broken pipe raises only here
    except BrokenPipeError:
        _discard_output()
        raise typer.Exit(141) from None
    except KeyboardInterrupt:
        complain("interrupted", label="")
        raise typer.Exit(130) from None
    except (typer.Exit, typer.Abort, _ClickUsageError):
        raise
    except Exception as error:
        if debug:
            traceback.print_exc()
        complain(describe_error(error, debug))
        raise typer.Exit(2 if isinstance(error, ParameterError) else 1) from None


def complain(message: str, label: str = "error: ") -> None:
    """Write one red line to stderr."""
    _print_colored(label + " ".join(message.split()), "red")


def _print_colored(line: str, color: str) -> None:
    """Write a line to stderr, in color unless NO_COLOR is set (no-color.org)."""
    if os.environ.get("NO_COLOR"):
        typer.echo(line, err=True)
    else:
        typer.secho(line, fg=color, err=True)


def in_command_words(text: str) -> str:
    """Return a message of the library in terms of the command line.

    >>> in_command_words("leave it out (X.drop(columns=…), --drop at the command line)")
    'leave it out (--drop)'
    """
    for python, words in _PYTHON.items():
        text = re.sub(python, words, text)
    return text


_PYTHON = {  # pattern in a message of the library -> its wording on the command line
    r"\((?:[^()]|\([^()]*\))*?(--[^()]*?) at the command line\)": r"(\1)",
    r"unseen='(\w+)' suppresses this warning": r"train with --set unseen=\1 to silence this warning",
    r"unseen='(\w+)' makes it an error": r"with --set unseen=\1 to make it an error",
    r"or treat them as missing values by unseen='(\w+)'": (
        r"or train with --set unseen=\1 to treat them as missing values"
    ),
    r" \(X\[column\]\.str\.strip\(\)\)": "",
    r"convert them to numbers and use a regressor": "train with --task regression",
    r"^(target .*): y holds\b": r"\1 holds",
    r"^y (is constant|holds)\b": r"the target \1",
    r"\bscale y down\b": "scale the target down",
    r"\(tol=(\S+)\)": r"(--tol \1)",
    r"\ban int\b": "a whole number",
    r"\ba float\b": "a number",
    r"^worksheet: ": "",
    r"worksheet needs the rows that (\w+) was trained on: it had (\d+), the table has (\d+)": (
        r"worksheets need the training file: \1 was trained on \2 rows, this file has \3"
    ),
}


def describe_error(error: Exception, debug: bool = False) -> str:
    """Return the message for an error.

    Examples
    --------
    >>> describe_error(FileNotFoundError(2, "No such file or directory", "model.arb"))
    "'model.arb': no such file or directory"
    """
    if isinstance(error, ArboretumError):
        return _with_hint(in_command_words(str(error)))
    if isinstance(error, OSError) and error.strerror:
        what = error.strerror[:1].lower() + error.strerror[1:]
        return f"{error.filename!r}: {what}" if error.filename is not None else what
    if isinstance(error, ImportError):
        return str(error)
    if isinstance(error, MemoryError):
        return "not enough memory"
    advice = "" if debug else "; `arboretum --debug …` shows where it came from, please report it"
    return f"unexpected {type(error).__name__}: {error}{advice}"


def _with_hint(text: str) -> str:
    """Return a message, explaining how rows are counted if it names some."""
    return text + (" (row 0 is the first one below the header)" if _ROW.search(text) else "")


@contextmanager
def _warnings_as_lines(debug: bool) -> Iterator[None]:
    """Show each warning meant for users once, in one line."""
    seen = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = _with_hint(in_command_words(" ".join(str(message).split())))
        if text not in seen:
            seen.add(text)
            _print_colored(f"warning: {text}", "yellow")

    with warnings.catch_warnings():
        if not debug:
            for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
                warnings.simplefilter("ignore", category)
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def _discard_output() -> None:
    """Send pending output to nowhere, so that closing stdout cannot fail again."""
    with suppress(OSError, ValueError):  # stdout may not be a real file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
