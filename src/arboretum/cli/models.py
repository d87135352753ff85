"""From words to an estimator: `--model`, `--set name=value`, and the task of a target."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable
from typing import Any

from arboretum.cli.guard import UsageError
from arboretum.cli.registry import ALIASES, MODELS
from arboretum.data.reading.written import looks_like
from arboretum.data.task import TASKS, task_of
from arboretum.data.values import Raw, Words
from arboretum.errors import DataError

__all__ = ["check_model", "choose_task", "find_estimator", "list_parameters", "parse_settings"]


def find_estimator(model: str, task: str) -> Any:
    """Return the class of a model for a task.

    Examples
    --------
    >>> find_estimator("cart", "regression").__name__
    'DecisionTreeRegressor'
    """
    import arboretum

    model = check_model(model)
    name = MODELS[model][TASKS.index(task)]
    if name is None:
        able = [known for known, both in MODELS.items() if both[TASKS.index(task)] is not None]
        other = TASKS[1 - TASKS.index(task)]
        raise UsageError(
            f"the model {model!r} does not support {task}: choose --model {' or '.join(able)}, or "
            f"--task {other} if the numbers in the target "
            f"{'name classes' if task == 'regression' else 'are quantities'}"
        )
    return getattr(arboretum, name)


def check_model(model: str) -> str:
    """Return the name of a model from any of its common names.

    >>> check_model("XGBoost"), check_model("random-forest"), check_model("CARTClassifier")
    ('xgb', 'rf', 'cart')
    """
    plain = model.lower().replace("-", "").replace("_", "").replace(" ", "")
    plain = plain.removesuffix("classifier").removesuffix("regressor")
    plain = ALIASES.get(plain, plain)
    if plain in MODELS:
        return plain
    if plain == "catboost":
        raise UsageError(
            "there is no CatBoost here: --model boosted, lgbm and xgb also take columns of words"
        )
    close = difflib.get_close_matches(plain, [*MODELS, *ALIASES], n=1, cutoff=0.6)
    hint = f"did you mean {ALIASES.get(close[0], close[0])!r}? It" if close else "it"
    raise UsageError(f"--model {model!r} is unknown: {hint} is one of {', '.join(MODELS)}")


def list_parameters(model: str, task: str) -> str:
    """Return the parameters that --set takes, one per line: name, default, meaning."""
    from arboretum.base.parameters import parameter_lines

    return parameter_lines(find_estimator(model, task))


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Read ``name=value`` arguments; a value is a Python literal, or else a string.

    Examples
    --------
    >>> parse_settings(["max_depth=4", "criterion=entropy", "class_weight={'a': 2.5}"])
    {'max_depth': 4, 'criterion': 'entropy', 'class_weight': {'a': 2.5}}
    """
    parameters: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            raise UsageError(f"--set takes name=value, e.g. --set max_depth=4, got {setting!r}")
        if name in parameters:
            raise UsageError(f"--set {name}=… is given twice")
        try:
            parameters[name] = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            parameters[name] = text
    return parameters


def choose_task(target: Raw, wanted: str = "auto", name: str = "y") -> tuple[str, str]:
    """Return the task of a target column, classification or regression, and the reason.

    Examples
    --------
    >>> import numpy as np
    >>> choose_task(Words(np.array([0, 1]), ["no", "yes"], "str"))
    ('classification', 'its values are words')
    """
    if wanted != "auto":
        return wanted, f"--task {wanted}"
    if isinstance(target, Words) and (likeness := looks_like(target.values)) is not None:
        number = (
            f"use --as-number {name} to predict the number"
            if likeness == "numbers"
            else "choose another target"
        )
        raise DataError(
            f"the target {name!r} holds {likeness} written as words, e.g. {target.values[0]!r}: {number}, or "
            "--task classification to make every spelling a class"
        )
    return task_of(target)
