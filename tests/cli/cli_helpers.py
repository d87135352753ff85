"""Run commands inside this process and read what they print."""

import csv
import io
import re

from typer.testing import CliRunner

from arboretum.cli.app import app


def run(*words: object):
    """Run ``arboretum words...``; the result has exit_code, stdout and stderr.

    Without ``--model``, ``train`` grows a single tree, which is fast.
    """
    return run_as_typed(*words, *_single_tree(words))


def _single_tree(words: tuple[object, ...]) -> tuple[str, ...]:
    return ("--model", "cart") if words[:1] == ("train",) and "--model" not in words else ()


def run_as_typed(*words: object):
    """Run ``arboretum words...`` with nothing added."""
    environment = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}
    words = [str(word) for word in words]
    return CliRunner().invoke(app, words, env=environment, prog_name="arboretum")


def ok(*words: object) -> str:
    """Run a command that must succeed; return what it prints to stdout."""
    result = run(*words)
    assert result.exit_code == 0, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.stdout


def fails(*words: object) -> tuple[int, str]:
    """Run a command that must fail with one line on stderr; return its exit code and that line."""
    result = run(*words)
    assert result.exit_code != 0, result.output
    lines = [line for line in result.stderr.splitlines() if not line.startswith("note: ")]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("error: "), result.stderr
    assert "Traceback" not in result.output
    return result.exit_code, lines[0]


def fact(text: str, name: str) -> str:
    """Return what stands beside a name in a list of facts."""
    found = re.search(rf"^{re.escape(name)} +(.+(?:\n {{5,}}\S.*)*)", text, re.MULTILINE)
    assert found, f"no {name!r} in:\n{text}"
    return " ".join(found[1].split())


def cells(text: str, name: str) -> list[str]:
    """Return the cells of the row of a table that begins with a name."""
    found = re.search(rf"^  {re.escape(name)}(  .*)?$", text, re.MULTILINE)
    assert found, f"no row {name!r} in:\n{text}"
    return re.split(r" {2,}", (found[1] or "").strip())


def rows_of(text: str) -> list[dict[str, str]]:
    """Read CSV."""
    return list(csv.DictReader(io.StringIO(text)))
