"""The `arboretum` command: train, judge, use and look at models without writing Python.

    program.py    the program, to which commands are added
    app.py        all commands; model_commands.py and view_commands.py have their options
    guard.py      errors become one line and an exit code
    helping.py    the text of --help
    screen.py     output to the screen: facts, tables, notes, progress, the time of the work
    csv_output.py columns as CSV; a copy of a CSV file in which some cells change and every other byte stays
    reading.py    data files in the format given by the options, standard input
    files.py      data files, their columns and rows; places to write to
    registry.py   the models that --model accepts
    models.py     --model, --set name=value, and the task of a target
    problem.py    features, target and weights of a file; held-out rows
    scores.py     the quality of predictions
    summary.py    a description of a model
    forests.py    models of many trees: their size, and the tree that --tree names
    boosters.py   metrics of every round, early stopping, learning curves
    commands/     the commands themselves: compare, train, evaluate, predict, show and so on
    census.py     the table of the demo; seedlings.py that of the first page of the documentation

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
        Arguments after the command's name; by default those of the process.

    Examples
    --------
    >>> main(["--version"])
    arboretum 0.1.0
    0
    """
    try:
        from arboretum.cli.app import app

        app(None if args is None else list(args), prog_name="arboretum")
    except KeyboardInterrupt:  # before the commands' own guard is active
        return 130
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
