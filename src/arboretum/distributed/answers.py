"""Predictions for one part of a collection, in the form its library wants.

A method of one number per row becomes a series, one of several a frame: a column per class, else 0, 1, …
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from arboretum.errors import DataError

__all__ = ["answer_part", "check_row_wise", "names_of_answer", "sample_answer"]

_ROW_WISE = {"predict", "predict_proba", "predict_log_proba", "decision_function", "apply"}


class _Answer(NamedTuple):
    values: np.ndarray
    columns: list[Any] | None  # None: one number per row

    def to_frame(self, like: Any) -> Any:
        """Return the values as a series or frame with the index of the rows."""
        import pandas as pd

        values = self.values[: len(like)]
        if self.columns is None:
            return pd.Series(values, index=like.index, name="prediction")
        return pd.DataFrame(values, index=like.index, columns=self.columns)


def check_row_wise(method: Callable[..., Any], X: Any, gathered: str) -> None:
    """Raise a DataError unless a method returns one result per row."""
    if method.__name__ not in _ROW_WISE:
        raise DataError(
            f"{method.__name__} of a {type(X).__name__} needs all rows in this process: give it "
            f"{gathered}, or a sample"
        )


def answer_part(
    X: Any, model: Any, method: Callable[..., Any], rest: tuple[Any, ...], kwargs: dict[str, Any]
) -> np.ndarray:
    """Return the result of a method for some rows."""
    found = np.asarray(method(model, X, *rest, **kwargs))
    if found.ndim > 2:
        raise DataError(
            f"{method.__name__} returns {found.ndim} dimensions here, and a collection has two: give it rows"
        )
    return found


def sample_answer(
    X: Any, model: Any, method: Callable[..., Any], rest: tuple[Any, ...], kwargs: dict[str, Any]
) -> np.ndarray:
    """Return the result for made-up rows, whose categories the model has never seen."""
    twin = copy.copy(model)
    if hasattr(twin, "unseen"):
        twin.unseen = "ignore"
    return answer_part(X, twin, method, rest, kwargs)


def names_of_answer(model: Any, method: Callable[..., Any], values: np.ndarray) -> _Answer:
    """Return the values with names of their columns."""
    if values.ndim == 1:
        return _Answer(values, None)
    classes = getattr(model, "classes_", None)
    if (
        "proba" in method.__name__
        and isinstance(classes, np.ndarray)
        and len(classes) == values.shape[1]
    ):
        return _Answer(values, classes.tolist())
    return _Answer(values, list(range(values.shape[1])))
