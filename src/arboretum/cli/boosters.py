"""Boosters on the command line: evaluated round by round, stopped early, drawn as a learning curve.

    arboretum train data.csv -t y --model xgb --valid other.csv --early-stopping 20 --curve curve.png

The held-out rows (``--valid``, ``--test-size``) are the table on which they are evaluated after every round.
"""

from __future__ import annotations

import inspect
import io
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from arboretum.cli.guard import UsageError
from arboretum.cli.problem import Problem
from arboretum.cli.screen import number, plural

__all__ = ["check_evaluation", "describe_rounds", "draw_curve", "fit_evaluated", "is_evaluated"]

_STOPPING = {"early_stopping_rounds", "early_stopping_round"}
_PICTURES = (".png", ".svg", ".pdf")


def is_evaluated(model: Any) -> bool:
    """Return True if a model can be evaluated on held-out rows after every round."""
    return bool(_STOPPING & set(model.get_params(deep=False)))


def check_evaluation(
    model: Any, early_stopping: int | None, curve: Path | None, *, held_out: bool
) -> None:
    """Raise if the options do not fit the model; set the number of rounds without improvement."""
    options = [
        option
        for option, value in (("--early-stopping", early_stopping), ("--curve", curve))
        if value is not None
    ]
    if not options:
        return
    if options == ["--early-stopping"] and "n_iter_no_change" in model.get_params():
        if model.get_params()["n_iter_no_change"] is not None:
            raise UsageError(
                "--early-stopping and --set n_iter_no_change=… mean the same: give one of them"
            )
        model.set_params(n_iter_no_change=early_stopping)  # it holds out rows by itself
        return
    if not is_evaluated(model):
        raise UsageError(
            f"{options[0]} needs {'--model xgb or lgbm' if curve else '--model xgb, lgbm or gbm'}: "
            f"{type(model).__name__} is not scored after every round"
        )
    if not held_out:
        raise UsageError(f"{options[0]} needs held-out rows: give --valid or --test-size")
    if curve is not None and curve.suffix.lower() not in _PICTURES:
        raise UsageError(f"--curve draws {', '.join(_PICTURES)} files, not {curve.name}")
    if early_stopping is not None:
        known = model.get_params()
        name = next(iter(_STOPPING & set(known)))
        if known[name]:
            raise UsageError(f"--early-stopping and --set {name}=… mean the same: give one of them")
        model.set_params(**{name: early_stopping})


def fit_evaluated(
    model: Any, X: Any, y: np.ndarray, weight: np.ndarray | None, held_out: Problem
) -> None:
    """Train a booster, evaluated on its training rows and on the held-out rows."""
    tables = [(X, y), (held_out.features.table, held_out.y)]
    arguments: dict[str, Any] = {"eval_set": tables}
    known = inspect.signature(model.fit).parameters
    if weight is not None:
        name = (
            "sample_weight_eval_set" if "sample_weight_eval_set" in known else "eval_sample_weight"
        )
        arguments[name] = [weight, held_out.weight]
    if "verbose" in known:
        arguments["verbose"] = False
    with redirect_stdout(io.StringIO()):  # LightGBM's fit prints what `describe_rounds` returns
        model.fit(X, y, sample_weight=weight, **arguments)


def describe_rounds(model: Any) -> dict[str, str]:
    """Return the result of early stopping."""
    best = getattr(model, "_best", None)
    if best is None:
        return {}
    history = model.evals_result_
    table = list(history)[-1]
    metric = list(history[table])[-1]
    made = plural(len(history[table][metric]), "round")
    return {
        "best round": f"{best[0] + 1} of {made}, by {metric} of the held-out rows: {number(best[1])}"
    }


def draw_curve(model: Any, path: Path) -> None:
    """Draw the learning curve into a file."""
    from arboretum.explain.charts.boosting_curves import plot_learning_curve
    from arboretum.explain.mpl import require_pyplot

    plt = require_pyplot("a learning curve")
    plt.switch_backend("Agg")  # no window, wherever this runs
    tables = list(model.evals_result_)
    names = dict(zip(tables, ("training rows", "held-out rows"), strict=False))
    figure = plot_learning_curve(model, names=names).figure
    figure.savefig(path, dpi=150)  # type: ignore[union-attr]
    plt.close(figure)
