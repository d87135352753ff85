"""The program with all its commands.

Modules of commands hold only names, types and help texts; a command imports its own module when it runs.
"""

from typing import Annotated

import typer

from arboretum.cli import model_commands, view_commands  # noqa: F401 (they register their commands)
from arboretum.cli.program import app, command

__all__ = ["app"]


@command("warmup")
def _warmup(
    estimators: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ESTIMATOR …]", help="E.g. XGBClassifier; default: all."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Processes; -1 and the default use all cores.")
    ] = None,
) -> None:
    """Compile kernels ahead of the first fit, once per machine.

    Examples:

    `arboretum warmup`

    `arboretum warmup XGBClassifier LGBMClassifier`
    """
    from arboretum.cli.commands.warmup import warm_up

    warm_up(estimators, jobs)
