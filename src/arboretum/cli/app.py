"""The commands and their options.

Only names, types and help texts stand here; a command imports its own module when it runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from arboretum.cli.guard import FriendlyGroup
from arboretum.cli.helping import PlainCommand
from arboretum.cli.options import (
    AsTask,
    Categorical,
    DataFile,
    EscapeFormulas,
    Force,
    Format,
    Jobs,
    Member,
    ModelFile,
    Output,
    PruningRule,
    Seed,
    Task,
    Truth,
    Weight,
    reads_files,
)
from arboretum.cli.registry import MODELS

__all__ = ["app"]

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
            "`arboretum train data.csv -t price -o model.arb`\n\n"
            "`arboretum train data.csv -t price --model xgb --test-size 0.2 -o model.arb`\n\n"
            "`arboretum predict model.arb new.csv -o predictions.csv`\n\n"
            "`arboretum report model.arb new.csv -o model.html`",
            "Exit codes: 0 done, 1 a table, model or file cannot be used, 2 the command itself is "
            "wrong, 130 stopped with Ctrl-C.",
        ]
    ),
)


def _command(name: str) -> Any:
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


@_command("demo")
def _demo(
    directory: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="The directory of its files.")
    ] = Path("arboretum-demo"),
    force: Force = False,
) -> None:
    """Train, evaluate and draw a tree on a table that comes with the package.

    Example:

    `arboretum demo`
    """
    from arboretum.cli.commands.demo import demo

    demo(directory, force)


@_command("train")
@reads_files(columns=True)
def _train(  # one parameter per option: typer reads the signature
    data: DataFile,
    target: Annotated[
        str, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="MODEL.arb", help="The model file to write.")
    ],
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help=f"The model: {', '.join(MODELS)}.",
            autocompletion=lambda: list(MODELS),
        ),
    ] = "cart",
    task: AsTask = Task.auto,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter of the model, e.g. max_depth=4; repeatable. --set help lists them.",
        ),
    ] = None,
    prune_cv: Annotated[
        bool,
        typer.Option("--prune-cv", help="Choose the pruning strength by cross-validation."),
    ] = False,
    rule: Annotated[
        PruningRule | None,
        typer.Option(
            metavar="RULE",
            help="min: the smallest error (default); 1se: the smallest tree within one standard "
            "error of it.",
        ),
    ] = None,
    test_size: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Hold out this share of the rows, e.g. 0.2, and print scores on them.",
        ),
    ] = None,
    valid: Annotated[
        Path | None, typer.Option(metavar="DATA", help="Print scores on the rows of another file.")
    ] = None,
    weight: Weight = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column to ignore; a,b names two."),
    ] = None,
    categorical: Categorical = None,
    seed: Seed = None,
    jobs: Jobs = None,
    early_stopping: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="ROUNDS",
            help="Stop boosting when the held-out rows have not improved for this many rounds.",
        ),
    ] = None,
    curve: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the learning curve of a booster (png, svg, pdf)."),
    ] = None,
    force: Force = False,
    reading: Any = None,
) -> None:
    """Train a model on a data file.

    Examples:

    `arboretum train data.csv -t price -o model.arb`

    `arboretum train data.csv -t churn --model lgbm --drop id,name -o model.arb`

    `arboretum train data.csv -t churn --as-number income --na '?' -o model.arb`
    """
    from arboretum.cli.commands.train import Training, train

    train(
        Training(
            data=data,
            target=target,
            output=output,
            model=model,
            task=task.value,
            settings=tuple(settings or ()),
            prune_cv=prune_cv,
            rule=rule.value if rule else None,
            test_size=test_size,
            valid=valid,
            weight=weight,
            drop=tuple(drop or ()),
            categorical=tuple(categorical or ()),
            seed=seed,
            jobs=jobs,
            early_stopping=early_stopping,
            curve=curve,
            force=force,
            reading=reading,
        )
    )


@_command("evaluate")
@reads_files
def _evaluate(
    model: ModelFile,
    data: DataFile,
    target: Truth = None,
    weight: Weight = None,
    reading: Any = None,
) -> None:
    """Measure the quality of a model on a data file.

    Example:

    `arboretum evaluate model.arb test.csv`
    """
    from arboretum.cli.commands.evaluate import evaluate

    evaluate(model, data, target, weight, reading)


@_command("predict")
@reads_files
def _predict(
    model: ModelFile,
    data: DataFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="A .csv or .parquet file; default: stdout, as CSV.",
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of every class.")
    ] = False,
    identifier: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COLUMN", help="Copy this column to the output to identify rows."
        ),
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(
            "--missing",
            metavar="per-class",
            help="Forests: predict rows with gaps from a copy for each class, and add the votes.",
        ),
    ] = None,
    escape_formulas: EscapeFormulas = False,
    force: Force = False,
    reading: Any = None,
) -> None:
    """Predict a data file; the predictions are CSV or Parquet.

    Example:

    `arboretum predict model.arb new.csv --proba --id customer -o predictions.csv`
    """
    from arboretum.cli.commands.predict import predict

    predict(model, data, output, proba, identifier, reading, missing, escape_formulas, force)


@_command("impute")
@reads_files(columns=True)
def _impute(
    data: DataFile,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE.csv", help="The filled table to write.")
    ],
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="A column without gaps that helps to find similar rows.",
        ),
    ] = None,
    task: AsTask = Task.auto,
    trees: Annotated[int, typer.Option(min=1, metavar="N", help="Trees of the forest.")] = 100,
    max_iter: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum number of rounds.")
    ] = 10,
    tol: Annotated[
        float,
        typer.Option(min=0, metavar="X", help="Stop when guesses move less (standard deviations)."),
    ] = 1e-3,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="A column to copy as it is, e.g. an id; a,b names two."
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column to leave out of the output; a,b names two."),
    ] = None,
    categorical: Categorical = None,
    seed: Seed = None,
    jobs: Jobs = None,
    escape_formulas: EscapeFormulas = False,
    force: Force = False,
    reading: Any = None,
) -> None:
    """Fill the missing values of a data file from similar rows.

    Example:

    `arboretum impute data.csv -o filled.csv --keep id`
    """
    from arboretum.cli.commands.impute import Imputation, impute

    impute(
        Imputation(
            data=data,
            output=output,
            target=target,
            task=task.value,
            trees=trees,
            max_iter=max_iter,
            tol=tol,
            keep=tuple(keep or ()),
            drop=tuple(drop or ()),
            categorical=tuple(categorical or ()),
            seed=seed,
            jobs=jobs,
            reading=reading,
            escape_formulas=escape_formulas,
            force=force,
        )
    )


@_command("show")
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


@_command("report")
@reads_files
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


@_command("explain")
@reads_files
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


@_command("describe")
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


@_command("warmup")
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
