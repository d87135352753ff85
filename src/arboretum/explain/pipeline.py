"""Models that users pass: an estimator, a single tree, or a pipeline that ends with an estimator.

    Pipeline(scale, encode, forest), X  ──►  forest, encode(scale(X))

The model was fitted on the columns that the steps before it return, and explanations are about these columns.
A pipeline usually passes an array, so the columns of the model are x0, x1, …; a copy of the model gets the
names from ``get_feature_names_out``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from arboretum.base.anatomy import Anatomy, FitRecipe, LearnedTarget, TableColumns, has_anatomy
from arboretum.base.copies import with_column_names
from arboretum.errors import ParameterError
from arboretum.structure.tree import Tree

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix

__all__ = [
    "Opened", "anatomy_of", "classes_of", "names_of", "open_pipeline", "takes_pipelines"
]  # fmt: skip

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Pair = TypeVar("_Pair")


class Opened(NamedTuple):
    """The model of a pipeline and the steps before it; a plain model has none.

    Attributes
    ----------
    model : fitted estimator
    steps : Pipeline or None
        The steps that transform a table first.
    """

    model: Any
    steps: Any = None

    def table(self, X: Any) -> Any:
        """Return a table in the form that the model was fitted on."""
        return X if self.steps is None or X is None else self.steps.transform(X)

    def pair(self, given: _Pair) -> _Pair:
        """Return (X, y, …) with X transformed."""
        found: Any = given
        if self.steps is not None and found is not None:
            found = (self.table(found[0]), *found[1:])
        return found

    @property
    def note(self) -> str:
        """A sentence on the columns; empty for a plain model."""
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
        The pipeline does not end with an estimator of this library.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from arboretum import CARTRegressor
    >>> pipe = make_pipeline(StandardScaler(), CARTRegressor()).fit([[0.0], [2.0]], [0.0, 1.0])
    >>> opened = open_pipeline(pipe, "report")
    >>> type(opened.model).__name__, opened.table([[2.0]]).tolist()
    ('DecisionTreeRegressor', [[1.0]])
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
    if not has_anatomy(last):
        end = last if isinstance(last, str) else type(last).__name__
        raise ParameterError(
            f"{caller} needs a pipeline that ends with an estimator of arboretum, this one ends with {end}"
        )
    from sklearn.exceptions import NotFittedError

    try:
        anatomy_of(last, caller)
    except NotFittedError:
        raise NotFittedError(
            f"{caller} needs a fitted model: call fit on this Pipeline first"
        ) from None
    if len(model.steps) == 1:
        return Opened(last)
    return Opened(_with_names(last, model[:-1]), model[:-1])


def anatomy_of(model: Any, caller: str) -> Anatomy:
    """Return the parts of a fitted estimator, or of a `Tree` by itself; ``caller`` is named in errors.

    Raises
    ------
    NotFittedError
        The estimator is not fitted.
    ParameterError
        The model is not an estimator of this library.

    Examples
    --------
    >>> from arboretum import CARTRegressor
    >>> model = CARTRegressor().fit([[0.0], [2.0]], [0.0, 1.0])
    >>> anatomy_of(model, "report").family, anatomy_of(model.tree_, "report").family
    ('tree', 'bare')
    """
    if isinstance(model, Tree):
        return _of_tree(model)
    if isinstance(model, type) or not has_anatomy(model):
        raise ParameterError(f"{caller} needs a fitted estimator of arboretum, got {_named(model)}")
    from sklearn.exceptions import NotFittedError

    try:
        return model._anatomy()
    except NotFittedError as error:
        raise NotFittedError(
            f"{caller} needs a fitted model: call fit on this {type(model).__name__} first"
        ) from error


def _named(model: Any) -> str:
    if isinstance(model, type):
        return f"the class {model.__name__} itself"
    library = type(model).__module__.partition(".")[0]
    return type(model).__name__ + ("" if library == "builtins" else f" of {library}")


def _of_tree(tree: Tree) -> Anatomy:
    """Return the anatomy of a tree that belongs to no estimator."""

    def learn(y: Any, sample_weight: Any, n_rows: int) -> LearnedTarget:
        raise NotImplementedError  # nothing was fitted

    def numbers(X: Any) -> Matrix:
        from arboretum.data.schema import encode

        return encode(tree.schema, X)

    columns = TableColumns(tree.schema, numbers, numbers)
    recipe = FitRecipe(lambda: 1, learn)
    return Anatomy("bare", columns, recipe, [tree], n_targets=tree.n_outputs)


def classes_of(model: Any) -> np.ndarray | None:
    """Return the labels of a fitted classifier of one target, of this library or another; else None."""
    classes = getattr(model, "classes_", None)
    return classes if isinstance(classes, np.ndarray) and hasattr(model, "predict_proba") else None


def names_of(model: Any, n_columns: int) -> list[str]:
    """Return the names of the columns of a fitted estimator, of this library or another."""
    if has_anatomy(model):
        return list(model._anatomy().columns.schema.names)
    return list(getattr(model, "feature_names_in_", [f"x{f}" for f in range(n_columns)]))


def takes_pipelines(function: _Function) -> _Function:
    """Decorate a function of a model so that it takes pipelines, too; ``X`` and ``test`` are transformed."""
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
        if given.arguments.get("X") is not None:
            given.arguments["X"] = opened.table(given.arguments["X"])
        if given.arguments.get("test") is not None:
            given.arguments["test"] = opened.pair(given.arguments["test"])
        return function(*given.args, **given.kwargs)

    return wrapped  # type: ignore[return-value]


def _is(model: Any, *names: str) -> bool:
    """Return True if a model is of one of scikit-learn's classes, without importing them."""
    found = {one.__name__ for one in type(model).__mro__ if one.__module__.startswith("sklearn.")}
    return not found.isdisjoint(names)


def _joined(outer: Any, inner: Any) -> Any:
    """Return the steps before the model of a pipeline that ends with another one."""
    before = list(outer.steps[:-1]) + ([] if inner is None else list(inner.steps))
    return type(outer)(before) if before else None


# ---------------------------------------------------------------------- names
def _with_names(model: Any, steps: Any) -> Any:
    """Return a model with the names of the columns that the steps return, if it has none."""
    schema = anatomy_of(model, "").columns.schema
    if schema.named:
        return model
    try:
        given = steps.get_feature_names_out()
    except (AttributeError, ValueError):  # a step without names
        return model
    names = [] if given is None else [str(name) for name in given]  # None: only "passthrough"
    if len(names) != schema.n_features or len(set(names)) < len(names):
        return model
    return with_column_names(model, dict(zip(schema.names, names, strict=True)))
