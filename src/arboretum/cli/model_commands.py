"""Commands that make and use models. Only names, types and help: commands import their modules when run."""

from pathlib import Path
from typing import Annotated, Any

import typer

from arboretum.cli.options import (
    AsTask,
    Categorical,
    DataFile,
    EscapeFormulas,
    Force,
    Jobs,
    ModelFile,
    PruningRule,
    Seed,
    Task,
    Truth,
    Weight,
    reads_files,
)
from arboretum.cli.program import command
from arboretum.cli.registry import MODELS


@command("demo")
def _demo(
    directory: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="The directory of its files.")
    ] = Path("arboretum-demo"),
    force: Force = False,
) -> None:
    """Compare all models on a real table that comes with the package, and look into the winner.

    Example:

    `arboretum demo`
    """
    from arboretum.cli.commands.demo import demo

    demo(directory, force)


@command("compare")
@reads_files(columns=True)
def _compare(  # one parameter per option: typer reads the signature
    data: DataFile,
    target: Annotated[
        str, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE.html", help="Also write a page."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="MODEL.arb", help="Write the winner, trained on all rows."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A model that takes part; repeatable. Default: every model.",
            autocompletion=lambda: list(MODELS),
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="FIGURE",
            help="The figure that ranks models: loss, accuracy, auc, calibration, r2 or mae.",
        ),
    ] = "loss",
    folds: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="Folds; default: 5, above 10,000 rows 3.")
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Rows with the same value stay in one fold."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Learn from earlier rows, test on later ones."),
    ] = None,
    test: Annotated[
        Path | None, typer.Option(metavar="DATA", help="Test on the rows of another file.")
    ] = None,
    task: AsTask = Task.auto,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column to ignore; a,b names two."),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Leave out models that would take longer."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Keep finished work there, and go on from it after a kill."
        ),
    ] = None,
    seed: Seed = None,
    jobs: Jobs = None,
    force: Force = False,
    reading: Any = None,
) -> None:
    """Judge every model that suits a data file on the same folds: which one is best, and by how much.

    Examples:

    `arboretum compare data.csv -t price -o compare.html`

    `arboretum compare data.csv -t price --model cart --model xgb --time-limit 60`
    """
    from arboretum.cli.commands.compare import Comparing, compare

    compare(
        Comparing(
            data, target, output, save, tuple(model or ()), by, folds, groups, time, test, task.value,
            tuple(drop or ()), time_limit, resume, seed, jobs, force, reading,
        )
    )  # fmt: skip


@command("train")
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
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"The model: {', '.join(MODELS)}; default: boosted, or lgbm for files beyond memory.",
            autocompletion=lambda: list(MODELS),
        ),
    ] = None,
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
    from arboretum.cli.commands.train import train
    from arboretum.cli.training import Training

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


@command("evaluate")
@reads_files()
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


@command("predict")
@reads_files()
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


@command("impute")
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
