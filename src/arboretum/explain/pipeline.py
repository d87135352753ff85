"""A fitted pipeline as the model at its end: tables go through the steps before, columns have their names.

    Pipeline(scale, encode, forest), X  ──►  forest, encode(scale(X))

The model was fitted on the columns that the steps before it return, and explanations are about these columns.
A pipeline mostly hands over an array, so the model knows its columns as x0, x1, …; a copy of the model has
the names of ``get_feature_names_out``.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, NamedTuple, TypeVar

from arboretum.base.members import listed
from arboretum.data.schema import Schema
from arboretum.errors import ParameterError
from arboretum.explain.pick_tree import trees_of

__all__ = ["Opened", "open_pipeline", "takes_pipelines"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Pair = TypeVar("_Pair")


class Opened(NamedTuple):
    """The model of a pipeline and the steps before it; of a plain model there are none.

    Attributes
    ----------
    model : fitted estimator
    steps : Pipeline or None
        What tables go through first.
    """

    model: Any
    steps: Any = None

    def table(self, X: Any) -> Any:
        """Return a table as the model was fitted on."""
        return X if self.steps is None or X is None else self.steps.transform(X)

    def pair(self, given: _Pair) -> _Pair:
        """Return (X, y, …) with X transformed."""
        found: Any = given
        if self.steps is not None and found is not None:
            found = (self.table(found[0]), *found[1:])
        return found

    @property
    def note(self) -> str:
        """A sentence about the columns; empty for a plain model."""
        if self.steps is None:
            return ""
        names = " → ".join(type(step).__name__ for _, step in self.steps.steps)
        return f"The columns are those after the steps of the pipeline before the model: {names}."


def open_pipeline(model: Any, caller: str) -> Opened:
    """Return the model at the end of a fitted pipeline; other models are returned as they are.

    Parameters
    ----------
    model : fitted estimator or Pipeline
    caller : str
        The function that is named in errors.

    Raises
    ------
    NotFittedError
        The pipeline is not fitted.
    ParameterError
        The pipeline ends with something that is no estimator of this library.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from arboretum import CARTRegressor
    >>> pipe = make_pipeline(StandardScaler(), CARTRegressor()).fit([[0.0], [2.0]], [0.0, 1.0])
    >>> opened = open_pipeline(pipe, "report")
    >>> type(opened.model).__name__, opened.table([[2.0]]).tolist()
    ('CARTRegressor', [[1.0]])
    """
    if _is(model, "TransformedTargetRegressor"):
        raise ParameterError(
            f"{caller} cannot explain a TransformedTargetRegressor: the model inside it predicts the "
            f"transformed target. Call {caller} on its regressor_, with the target transformed"
        )
    if not _is(model, "Pipeline"):
        return Opened(model)
    last = model.steps[-1][1]
    if _is(last, "Pipeline", "TransformedTargetRegressor"):
        inner = open_pipeline(last, caller)
        return Opened(inner.model, _joined(model, inner.steps))
    if not type(last).__module__.startswith("arboretum.") or not hasattr(last, "_check_fitted"):
        end = last if isinstance(last, str) else type(last).__name__
        raise ParameterError(
            f"{caller} needs a pipeline that ends with an estimator of arboretum, this one ends with {end}"
        )
    if not hasattr(last, "schema_"):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"{caller} needs a fitted model: call fit on this Pipeline first")
    if len(model.steps) == 1:
        return Opened(last)
    return Opened(_with_names(last, model[:-1]), model[:-1])


def takes_pipelines(function: _Function) -> _Function:
    """Let a function whose first argument is a model take a pipeline; ``X`` and ``test`` are transformed."""
    signature = inspect.signature(function)
    first = next(iter(signature.parameters))

    @wraps(function)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        try:
            given = signature.bind(*arguments, **named)
        except TypeError:
            return function(*arguments, **named)  # raises it with the name of the function
        opened = open_pipeline(given.arguments[first], function.__name__)
        given.arguments[first] = opened.model
        if "X" in given.arguments:
            given.arguments["X"] = opened.table(given.arguments["X"])
        if given.arguments.get("test") is not None:
            given.arguments["test"] = opened.pair(given.arguments["test"])
        return function(*given.args, **given.kwargs)

    return wrapped  # type: ignore[return-value]


def _is(model: Any, *names: str) -> bool:
    """Tell whether a model is one of scikit-learn's classes, without importing them."""
    found = {one.__name__ for one in type(model).__mro__ if one.__module__.startswith("sklearn.")}
    return not found.isdisjoint(names)


def _joined(outer: Any, inner: Any) -> Any:
    """Return the steps before the model of a pipeline that ends with another one."""
    before = list(outer.steps[:-1]) + ([] if inner is None else list(inner.steps))
    return type(outer)(before) if before else None


# ---------------------------------------------------------------------- names
def _with_names(model: Any, steps: Any) -> Any:
    """Return a model with the names of the columns that the steps return, where it has none."""
    if model.schema_.named:
        return model
    try:
        given = steps.get_feature_names_out()
    except (AttributeError, ValueError):  # a step that gives no names
        return model
    names = (
        [] if given is None else [str(name) for name in given]
    )  # None: nothing but "passthrough"
    if len(names) != model.schema_.n_features or len(set(names)) < len(names):
        return model
    new_names = dict(zip(model.schema_.names, names, strict=True))
    memo: dict[int, Any] = {id(old): _renamed(old, new_names) for old in _schemas(model)}
    found = copy.deepcopy(model, memo)
    if "_fit_seconds" in vars(model):  # copies have none
        found._fit_seconds = model._fit_seconds
    return found


def _schemas(model: Any) -> list[Schema]:
    """Return the schemas of a model, its trees and its members."""
    found = [one.schema for one in trees_of(model)]
    if isinstance(getattr(model, "schema_", None), Schema):
        found.append(model.schema_)
    for member in listed(getattr(model, "estimators_", ())):
        found += _schemas(member)
    return found


def _renamed(schema: Schema, names: dict[str, str]) -> Schema:
    columns = tuple(replace(one, name=names.get(one.name, one.name)) for one in schema.columns)
    return replace(schema, columns=columns)
