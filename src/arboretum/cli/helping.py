"""The output of ``--help``, in 80 columns: usage, examples, options and their defaults.

    Usage: arboretum train DATA -t COLUMN -o MODEL.arb [options]

    Train a model on a data file.

    Examples:
      arboretum train data.csv -t price -o model.arb

    Options:
      -t, --target COLUMN  The column to predict.

A command's docstring has its description and, after a line "Examples:", one command a paragraph. An option
is shown by its metavar, never by the name of a Python type.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typer.core import TyperCommand, TyperGroup

__all__ = ["PlainCommand", "PlainGroup"]

_WIDEST = 30  # columns for an option and its value; longer ones get a line of their own


class PlainCommand(TyperCommand):
    """A command whose help is plain text."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the command."""
        params = [param for param in self.get_params(ctx) if not getattr(param, "hidden", False)]
        places = [param for param in params if param.param_type_name == "argument"]
        options = [param for param in params if param.param_type_name == "option"]
        words = [str(param.metavar) for param in places]
        words += [f"{min(p.opts, key=len)} {p.metavar}" for p in options if p.required]
        formatter.write_usage(ctx.command_path, " ".join([*words, "[options]"]))
        _write_text(formatter, self.help or "")
        _write_list(
            formatter, "Arguments", ((str(param.metavar), _meaning(param)) for param in places)
        )
        headings = dict.fromkeys(getattr(param, "rich_help_panel", None) for param in options)
        for heading in sorted(headings, key=lambda heading: heading is not None):
            body = [p for p in options if getattr(p, "rich_help_panel", None) == heading]
            rows = ((_spelling(param), _meaning(param)) for param in body)
            _write_list(formatter, heading or "Options", rows)


class PlainGroup(TyperGroup):
    """A group of commands whose help is plain text."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the program: its purpose, its commands and its own options."""
        formatter.write_usage(ctx.command_path, "COMMAND …")
        _write_text(formatter, self.help or "")
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        first = ((n, _paragraphs(c.help or "")[0]) for n, c in commands.items() if c is not None)
        _write_list(formatter, "Commands", first)
        rows = ((_spelling(param), _meaning(param)) for param in self.get_params(ctx))
        _write_list(formatter, "Options", rows)


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def _write_text(formatter: Any, text: str) -> None:
    """Write paragraphs; commands to copy are not wrapped."""
    for part in _paragraphs(text):
        if part.startswith("`arboretum") and part.endswith("`"):
            formatter.write(f"  {part.strip('`')}\n")
        else:
            formatter.write_paragraph()
            formatter.write_text(part)


def _write_list(formatter: Any, heading: str, rows: Iterable[tuple[str, str]]) -> None:
    found = list(rows)
    if found:
        with formatter.section(heading):
            formatter.write_dl(found, col_max=_WIDEST)


def _spelling(option: Any) -> str:
    """Return the spelling of an option: ``-o, --output FILE``."""
    names = ", ".join(sorted(option.opts, key=len))
    value = "" if option.is_flag else option.metavar or option.name.upper()
    return f"{names} {value}".strip()


def _meaning(param: Any) -> str:
    """Return the help of an option, with its default unless the sentence has it."""
    text = str(param.help or "")
    if param.required and param.param_type_name == "option":
        return f"{text} Required."
    default = param.default
    if default in (None, False, 0, ()) or callable(default) or "default" in text.lower():
        return text
    return f"{text} Default: {getattr(default, 'value', default)}."
