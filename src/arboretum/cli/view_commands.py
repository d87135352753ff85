"""Commands that show a model. Only names, types and help: commands import their modules when they run."""

from pathlib import Path
from typing import Annotated, Any

import typer

from arboretum.cli.options import (
    DataFile,
    Force,
    Format,
    Member,
    ModelFile,
    Output,
    Truth,
    reads_files,
)
from arboretum.cli.program import command


@command("show")
def _show(
    model: ModelFile,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="text, rules, dot, png, svg, pdf or jpg; default: by the name of the output, else text.",
        ),
    ] = None,
    output: Output = None,
    max_depth: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Leave out deeper splits; the root has depth 0."),
    ] = None,
    tree: Annotated[
        str | None,
        typer.Option(
            metavar="N|ROUND,CLASS",
            help="A tree of an ensemble, e.g. 7, or 3,1 for round 3 and class 1; default: describe the "
            "ensemble as text, show tree 0 in other formats.",
        ),
    ] = None,
    member: Member = None,
    decimals: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Decimals of thresholds and values; default: 2 in text, 3 in pictures.",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Show a tree as text, rules, Graphviz source or a picture; `explain` shows the arithmetic behind it.

    Examples:

    `arboretum show model.arb`

    `arboretum show model.arb --tree 7 -o tree.png`
    """
    from arboretum.cli.commands.show import show

    show(model, form.value if form else None, output, max_depth, tree, decimals, member, force)


@command("report")
@reads_files()
def _report(
    model: ModelFile,
    data: DataFile,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE.html", help="The page to write.")
    ] = Path("model.html"),
    target: Truth = None,
    train: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="The training file: adds its figures and the worksheets of nodes.",
        ),
    ] = None,
    rows: Annotated[
        str,
        typer.Option(metavar="sample|none|N", help="How many rows of the table the page contains."),
    ] = "sample",
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The heading of the page.")
    ] = None,
    force: Force = False,
    reading: Any = None,
) -> None:
    """Write one HTML page on a model and its predictions for a data file; it needs no network.

    Example:

    `arboretum report model.arb test.csv --train data.csv -o model.html`
    """
    from arboretum.cli.commands.report import report

    report(model, data, output, target, train, rows, title, reading, force)


@command("explain")
@reads_files()
def _explain(
    model: ModelFile,
    data: DataFile,
    row: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="A row, counted from 0: its path, the columns' contributions, its leaf.",
        ),
    ] = None,
    node: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="A node: every column's best split; 0 is the root."),
    ] = None,
    tree: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="The tree of the node or leaf; 3,1 is round 3, class 1. Default: 0.",
        ),
    ] = None,
    member: Member = None,
    number: Annotated[
        int | None, typer.Option("--round", metavar="NUMBER", help="A round of boosting, from 0.")
    ] = None,
    shap: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="Write the SHAP values of all rows there."),
    ] = None,
    target: Truth = None,
    force: Force = False,
    reading: Any = None,
) -> None:
    """Show the arithmetic behind a row, a node or a round; DATA is the training file.

    Examples:

    `arboretum explain model.arb data.csv --row 17`

    `arboretum explain model.arb data.csv --node 3 --tree 0`
    """
    from arboretum.cli.commands.explain import explain

    explain(
        model,
        data,
        target,
        row=row,
        node=node,
        tree=tree,
        member=member,
        number=number,
        shap=shap,
        reading=reading,
        force=force,
    )


@command("describe")
def _describe(
    model: ModelFile,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")] = False,
) -> None:
    """Describe a model: size, columns, parameters.

    Example:

    `arboretum describe model.arb`
    """
    from arboretum.cli.commands.describe import describe

    describe(model, as_json)
