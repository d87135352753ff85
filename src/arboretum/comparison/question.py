"""The table, the target and the task of a comparison, checked before anything is fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.checks import list_names
from arboretum.data.reading.written import looks_like
from arboretum.data.schema import learn_schema
from arboretum.data.slices import as_view, take_rows
from arboretum.data.table import read_table
from arboretum.data.target import encode_classes, numbers, raw_target
from arboretum.data.task import TASKS, task_of
from arboretum.data.values import RawNumbers, Words
from arboretum.errors import DataError, ParameterError
from arboretum.lazy import cached_property

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema

__all__ = ["Question", "read_question"]

_LEAST_ROWS = 20


@dataclass(frozen=True, eq=False)
class Question:
    """A table and its target.

    Attributes
    ----------
    X : table
        In the form of the input: estimators of any library take it.
    y : array of shape (n_rows,)
        Labels or numbers.
    codes : int array of shape (n_rows,), or None
        Positions of the labels in ``labels``; None for numbers.
    labels : array or None
        The classes.
    task : {"classification", "regression"}
    reason : str
        Why it is this task.
    name : str
        The name of the target.
    """

    X: Any
    y: np.ndarray
    codes: np.ndarray | None
    labels: np.ndarray | None
    task: str
    reason: str
    name: str

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def is_classes(self) -> bool:
        """True if classes are predicted."""
        return self.codes is not None

    @property
    def words(self) -> list[str]:
        """The classes as text."""
        return [] if self.labels is None else [str(label) for label in self.labels.tolist()]

    @cached_property
    def encoded(self) -> tuple[Schema, Matrix]:
        """The columns and the rows as numbers."""
        return learn_schema(self.X)

    def rows(self, rows: np.ndarray) -> tuple[Any, np.ndarray]:
        """Return some rows of the table and of the target."""
        return take_rows(self.X, rows), self.y[rows]


def read_question(X: Any, y: Any, task: str | None, name: str | None) -> Question:
    """Read a table and its target; raise a DataError if no model can be judged on them.

    Examples
    --------
    >>> question = read_question([[float(i)] for i in range(20)], ["no", "yes"] * 10, None, None)
    >>> question.task, question.words, question.name
    ('classification', ['no', 'yes'], 'y')
    """
    if task is not None and task not in TASKS:
        raise ParameterError(f"task of compare must be one of {TASKS} or None, got {task!r}")
    X = as_view(X)
    n_rows = read_table(X).n_rows
    raw = raw_target(y, n_rows=n_rows, caller="compare")
    if n_rows < _LEAST_ROWS:
        raise DataError(
            f"X has {n_rows} rows: with fewer than {_LEAST_ROWS} rows every model is as good as any other "
            "within the error of measurement; collect more rows"
        )
    found, reason = task_of(raw) if task is None else (task, "task was given")
    if task is None:
        _refuse_numbers_as_words(raw)
    name = name or _name_of(y)
    if found == "classification":
        (labels,), codes, _ = encode_classes(y, n_rows=n_rows, estimator_name="compare")
        _check_classes(labels, n_rows)
        return Question(X, labels[codes[:, 0]], codes[:, 0], labels, found, reason, name)
    values, _ = numbers(y, n_rows=n_rows, estimator_name="compare")
    _check_numbers(values[:, 0], given=task is not None)
    return Question(X, values[:, 0], None, None, found, reason, name)


def _name_of(y: Any) -> str:
    """Return the name of a series or of the only column of a frame; "y" if there is none."""
    columns = getattr(y, "columns", None)
    name = columns[0] if columns is not None and len(columns) == 1 else getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"


def _refuse_numbers_as_words(raw: RawNumbers | Words) -> None:
    likeness = looks_like(raw.values) if isinstance(raw, Words) else None
    if likeness is not None:
        raise DataError(
            f"y holds {likeness} written as words, e.g. {raw.values[0]!r}: convert them first, or give "
            "task='classification' to make every spelling a class"
        )


def _check_classes(labels: np.ndarray, n_rows: int) -> None:
    if len(labels) == 1:
        raise DataError(
            f"y holds the same class in all {n_rows} rows ({labels.tolist()[0]!r}): there is nothing to "
            "compare; choose another target"
        )
    if len(labels) > n_rows / 2:
        raise DataError(
            f"y holds {len(labels):,} classes in {n_rows:,} rows, e.g. {list_names(labels[:2].tolist())}: it "
            "identifies rows, and that cannot be predicted; choose another target, or task='regression' for "
            "quantities"
        )


def _check_numbers(y: np.ndarray, *, given: bool) -> None:
    low, high = y.min(), y.max()
    if low == high:
        raise DataError(
            f"y is {low:g} in all {len(y)} rows: there is nothing to compare; choose another target"
        )
    if not given and high - low == len(y) - 1 and len(np.unique(y)) == len(y) and not (y % 1).any():
        raise DataError(
            f"y holds the numbers {low:g} to {high:g} once each: it numbers the rows, and that cannot be "
            "predicted; choose another target, or give task='regression' to predict it anyway"
        )
