"""What all ways to train share: the options of the command, the estimator they describe, the model file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from arboretum.cli.guard import UsageError, complain
from arboretum.cli.models import find_estimator, parse_settings
from arboretum.cli.reading import Reading
from arboretum.cli.registry import MODELS
from arboretum.cli.screen import stage
from arboretum.cli.streaming import is_streamed

__all__ = ["Training", "keep_partial", "make_model", "save_model", "with_model"]


@dataclass(frozen=True)
class Training:
    """The options of the command; see its --help."""

    data: Path
    target: str
    output: Path
    model: str | None = None  # None: `with_model` sets it
    task: str = "auto"
    settings: tuple[str, ...] = ()
    prune_cv: bool = False
    rule: str | None = None
    test_size: float | None = None
    valid: Path | None = None
    weight: str | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    seed: int | None = None
    jobs: int | None = None
    early_stopping: int | None = None
    curve: Path | None = None
    force: bool = False
    reading: Reading = field(default_factory=Reading)


# options of some models -> names for --model
_OF_MODELS = {
    "--prune-cv": "cart",
    "--early-stopping": "xgb, lgbm or gbm",
    "--curve": "xgb or lgbm",
}


def with_model(options: Training) -> Training:
    """Set the model if there is no --model: boosted trees, or LGBM for files that are read batch by batch."""
    if options.model is not None:
        return options
    if is_streamed(options.data):
        return replace(options, model="lgbm")
    for option, is_given in (
        ("--prune-cv", options.prune_cv),
        ("--early-stopping", options.early_stopping is not None),
        ("--curve", options.curve is not None),
    ):
        if is_given:
            raise UsageError(
                f"{option} belongs to --model {_OF_MODELS[option]}: give it too; without --model, boosted "
                "trees find their rounds themselves"
            )
    _refuse_foreign(options)
    return replace(options, model="boosted")


def _refuse_foreign(options: Training) -> None:
    """Raise for a parameter that boosted trees do not have and other models do."""
    own = find_estimator("boosted", "classification")().get_params()
    for name in parse_settings(setting for setting in options.settings if setting != "help"):
        able = [model for model in MODELS if name not in own and _has(model, name)]
        if able:
            raise UsageError(
                f"--set {name}=… belongs to --model {' or '.join(able)}: give one of them; without --model, "
                "boosted trees are trained"
            )


def _has(model: str, name: str) -> bool:
    import arboretum

    return any(
        name in getattr(arboretum, kind)._get_param_names() for kind in MODELS[model] if kind
    )


def make_model(options: Training, task: str) -> Any:
    """Build the estimator; it raises for parameters that it does not have."""
    parameters = parse_settings(options.settings)
    assert options.model is not None
    estimator = find_estimator(options.model, task)
    known = estimator().get_params()
    if options.prune_cv and not hasattr(estimator, "prune_cv"):
        raise UsageError(
            f"{estimator.__name__} has no pruning path for cross-validation: leave --prune-cv out"
        )
    given = {
        "random_state": (options.seed, "--seed"),
        "n_jobs": (options.jobs, "--jobs"),
        "categorical_features": (list(options.categorical) or None, "--categorical"),
    }
    for name, (value, option) in given.items():
        if value is None:
            continue
        if name in parameters:
            raise UsageError(f"{option} and --set {name}=… mean the same: give one of them")
        if name in known:
            parameters[name] = value
        elif option != "--seed":  # which also draws the held-out rows
            raise UsageError(f"{estimator.__name__} has no {name}: leave {option} out")
    if "random_state" in known:
        parameters.setdefault("random_state", 0)  # the same command gives the same model
    if estimator.__name__ == "VotingClassifier":
        parameters.setdefault("voting", "soft")  # a table of predictions has probabilities
    estimator._refuse_unknown_names(parameters)  # some classes only warn
    return estimator(**parameters)


def save_model(options: Training, model: Any, notes: dict[str, str], output: Path) -> None:
    """Write the model file; facts that the model itself lacks go into its notes."""
    from arboretum.io.native import save

    if options.weight is not None:
        notes["weight"] = options.weight
    with stage(f"writing {output}"):
        save(model, output, notes=notes)


def keep_partial(options: Training, model: Any, notes: dict[str, str], output: Path) -> None:
    """After Ctrl-C, write the finished rounds to a file beside the output, which stays as it is."""
    done = getattr(model, "interrupted_", None)
    if done is None:
        return
    partial = output.with_name(output.name + ".partial")
    save_model(options, model, notes, partial)
    complain(f"{done}, are in {partial}; nothing was written to {output}", label="")
