"""The `arboretum` command: train, judge, use and look at models without writing Python.

    app.py        the commands and their options; imports nothing heavy, so that --help is quick
    guard.py      errors become one line and an exit code
    helping.py    the text of --help
    screen.py     what stands on the screen: facts, tables, notes, how far the work is
    stopwatch.py  the time of the work, compiling apart
    csv_output.py columns as CSV
    csv_copy.py   a CSV file with other cells, every other byte the same
    reading.py    data files as the options say they are written, standard input
    files.py      data, their columns and rows; places to write to
    registry.py   the models --model knows
    models.py     --model, --set name=value, and the task of a target
    problem.py    features, target and weights of a file; rows held out of them
    scores.py     how good predictions are
    summary.py    what a model is, in words
    forests.py    models of many trees: their size, and which tree --tree names
    boosters.py   metrics of every round, early stopping, learning curves
    commands/     train, evaluate, predict, show, describe, impute, warmup, demo: the commands themselves
    data/         the table of the demo

Results go to stdout; notes, warnings, errors and progress go to stderr.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    args : sequence of str, optional
        Words after the command's name; by default those the process was started with.

    Examples
    --------
    >>> main(["--version"])
    arboretum 0.1.0
    0
    """
    try:
        from arboretum.cli.app import app

        app(None if args is None else list(args), prog_name="arboretum")
    except KeyboardInterrupt:  # before the commands' own guard stands
        return 130
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
