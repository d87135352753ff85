"""The arguments of `report`, read and checked: targets, names of rows, groups, number of rows shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from arboretum.base.copies import of_one_target, with_column_names
from arboretum.boosting.metric.queries import Queries
from arboretum.data.checks import did_you_mean
from arboretum.data.table import read_table
from arboretum.data.target import numbers
from arboretum.errors import DataError, ParameterError
from arboretum.explain.pipeline import anatomy_of

__all__ = [
    "groups_of",
    "has_column",
    "lines_about",
    "one_target",
    "ranks",
    "rows_wanted",
    "take_ids",
    "target_column",
    "target_of",
    "targets_shown",
    "whole_groups",
    "with_labels",
]

_MOST_NODES = 60_000  # of trees, times targets, that one page holds
_MOST_TARGETS = 12

_Train = TypeVar("_Train")  # a training table, or None


def rows_wanted(rows: Any) -> int | str:
    """Return how many rows the page contains: "sample", "none" or a number."""
    if rows in ("sample", "none"):
        return rows
    if isinstance(rows, int | np.integer) and not isinstance(rows, bool) and rows >= 0:
        return int(rows) or "none"
    raise ParameterError(f"rows of report must be 'sample', 'none' or a whole number, got {rows!r}")


# ---------------------------------------------------------------------- targets
def targets_shown(model: Any, output: int | None) -> list[int | None]:
    """Return the targets of a page: the given one, or all if there is room, else the first.

    >>> from arboretum import CARTRegressor
    >>> targets_shown(CARTRegressor().fit([[0.0], [1.0]], [[1.0, 5.0], [2.0, 6.0]]), None)
    [0, 1]
    """
    anatomy = anatomy_of(model, "report")
    n = anatomy.n_targets
    if anatomy.family == "cuts":
        raise ParameterError(
            f"report compares predictions with actual values, and {type(model).__name__} learns from none: "
            "use worksheet, shap_values or plot_importance"
        )
    if n == 1 or output is not None:
        return [output]
    nodes = sum(len(tree) for tree in anatomy.trees)
    if n > _MOST_TARGETS or n * nodes > _MOST_NODES:
        return [0]
    return list(range(n))


def one_target(model: Any, output: int | None) -> Any:
    """Return a model that predicts one of its targets; itself if it has only one.

    Examples
    --------
    >>> from arboretum import CARTRegressor
    >>> model = CARTRegressor().fit([[0.0], [1.0]], [[1.0, 5.0], [2.0, 6.0]])
    >>> one_target(model, 1).predict([[1.0]]).tolist()
    [6.0]
    """
    n = anatomy_of(model, "report").n_targets
    if output is not None and not 0 <= output < n:
        raise ParameterError(
            f"output of report must be one of the model's targets, 0 to {n - 1}, got {output}"
        )
    if n == 1:
        return model
    try:
        return of_one_target(model, output or 0)
    except ValueError:
        raise ParameterError(
            f"this {type(model).__name__} predicts {n} targets by members, or trees for each: a report needs "
            "trees or forests of several targets, or a model of one target"
        ) from None


def target_column(y: Any, n_outputs: int, output: int | None) -> tuple[Any, str | None]:
    """Return one column of a target with several, and its name; y itself if it has one."""
    if n_outputs == 1:
        return y, None
    values = np.asarray(y)
    if values.ndim != 2 or values.shape[1] != n_outputs:
        raise DataError(
            f"y has the shape {values.shape}: the model predicts {n_outputs} targets, give a column for each"
        )
    output = output or 0
    return values[:, output], str(y.columns[output]) if hasattr(y, "columns") else None


def target_of(model: Any, y: Any, n_rows: int) -> np.ndarray:
    """Return y as an array of labels or numbers, one for every row."""
    classes = anatomy_of(model, "report").labels
    if classes is None:
        values, _ = numbers(y, n_rows=n_rows, estimator_name=type(model).__name__)
        if values.shape[1] > 1:
            raise DataError("y has several columns: a report is about one target")
        return values[:, 0]
    found = np.asarray(y)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1 or len(found) != n_rows:
        raise DataError(f"y has the shape {found.shape} for {n_rows} rows of X: one label for each")
    if found.dtype == object or classes.dtype == object:
        found = found.astype(object)
    if not np.isin(found, classes).any():
        shown = ", ".join(map(str, classes[:4].tolist()))
        raise DataError(
            f"no label of y is a class of the model, whose classes are {shown}: give labels, not codes"
        )
    return found


# ---------------------------------------------------------------------- rows
def take_ids(model: Any, X: Any, ids: Any) -> tuple[Any, list[str] | None]:
    """Return the table of the model's columns and the names of the rows (None: rows are shown by position).

    Parameters
    ----------
    model : fitted estimator
    X : table
    ids : str, array-like or None
        A column of X, which is left out of the table if the model (or pipeline) has no such column; one id
        for each row; or None: the index of a dataframe, unless it only numbers the rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from arboretum import CARTClassifier
    >>> X = pd.DataFrame({"a": [1.0, 2.0]}, index=[7, 3])
    >>> model = CARTClassifier().fit(X, [0, 1])
    >>> take_ids(model, X, None)[1], take_ids(model, X, ["x", "y"])[1]
    (['row 7', 'row 3'], ['x', 'y'])
    """
    if isinstance(ids, str):
        if not has_column(X, ids):
            raise DataError(f"ids: X has no column {ids!r}")
        names = [f"{ids} {one}" for one in np.asarray(X[ids]).tolist()]
        # names that the model or pipeline takes
        known = list(getattr(model, "feature_names_in_", ()))
        kept = [name for name in X.columns if name != ids or name in known]
        return X[kept], names
    if ids is not None:
        names = [str(one) for one in np.asarray(ids).reshape(-1).tolist()]
        if len(names) != len(X):
            raise DataError(f"ids: {len(names)} ids for {len(X)} rows of X")
        return X, names
    if not hasattr(X, "iloc") or _numbers_rows(X.index):
        return X, None
    index = X.index
    word = index.name if isinstance(index.name, str) else "row"
    return X, [f"{word} {one}" for one in index.tolist()]


def _numbers_rows(index: Any) -> bool:
    """Return True if the index of a dataframe is 0, 1, 2, …"""
    return index.dtype.kind in "iu" and np.array_equal(index.to_numpy(), np.arange(len(index)))


def has_column(X: Any, name: str) -> bool:
    """Return True if a table has a column of this name."""
    return hasattr(X, "columns") and name in list(X.columns)


# ---------------------------------------------------------------------- words for people
def with_labels(
    model: Any, X: Any, train: _Train, labels: Mapping[str, str] | None
) -> tuple[Any, Any, _Train]:
    """Return model, table and training table with the columns called by their labels.

    Examples
    --------
    >>> import pandas as pd
    >>> from arboretum import CARTRegressor
    >>> X = pd.DataFrame({"bp": [1.0, 2.0]})
    >>> model = CARTRegressor().fit(X, [0.0, 1.0])
    >>> renamed, table, _ = with_labels(model, X, None, {"bp": "blood pressure"})
    >>> renamed.schema_.names, table.names
    (('blood pressure',), ('blood pressure',))
    """
    if labels is None:
        return model, X, train
    names = anatomy_of(model, "report").columns.schema.names
    _check_labels(labels, names)

    def called(table: Any) -> Any:
        found = read_table(table)
        shown = tuple(labels.get(name, name) for name in (found.names if found.named else names))
        return replace(found, names=shown)

    shown: Any = train
    if shown is not None:
        shown = (called(shown[0]), *shown[1:])
    return with_column_names(model, labels), called(X), shown


def _check_labels(labels: Any, names: tuple[str, ...]) -> None:
    if not isinstance(labels, Mapping):
        raise ParameterError(
            f"labels of report must be a dict from columns to names, got {labels!r}"
        )
    for name in labels:
        if name not in names:
            raise DataError(
                f"labels of report: the model has no column {name!r}{did_you_mean(name, names)}"
            )
    shown = [str(labels.get(name, name)) for name in names]
    twice = sorted({name for name in shown if shown.count(name) > 1})
    if twice:
        raise DataError(
            f"labels of report: two columns would be called {twice[0]!r}; name them apart"
        )


def lines_about(about: Mapping[str, str] | None) -> list[list[str]]:
    """Return the lines of ``about`` as pairs of a heading and a text.

    >>> lines_about({"made by": "A. Person"})
    [['made by', 'A. Person']]
    """
    if about is None:
        return []
    if not isinstance(about, Mapping):
        raise ParameterError(
            f"about of report must be a dict such as {{'made by': 'A. Person'}}, got {about!r}"
        )
    return [[str(name), str(text)] for name, text in about.items()]


# ---------------------------------------------------------------------- groups
def ranks(model: Any) -> bool:
    """Return True if a model predicts the order of rows in groups."""
    return anatomy_of(model, "report").family == "second order" and model.target == "orders"


def groups_of(model: Any, group: Any, n_rows: int) -> np.ndarray | None:
    """Return the checked sizes of groups of a ranker's table, None for other models."""
    name = type(model).__name__
    if not ranks(model):
        if group is not None:
            raise DataError(
                f"report: {name} does not rank, so rows have no groups: leave out group="
            )
        return None
    if group is None:
        raise DataError(
            f"report: {name} ranks rows in groups: give group=, the number of rows of each"
        )
    return Queries(group, n_rows).sizes


def whole_groups(sizes: np.ndarray, most: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of some groups, at most ``most`` rows but at least one group, and their sizes.

    >>> rows, sizes = whole_groups(np.array([2, 3, 2]), 4, seed=0)
    >>> len(rows) == sum(sizes.tolist()) <= 4
    True
    """
    drawn = np.random.default_rng(seed).permutation(len(sizes))
    kept = max(int(np.searchsorted(np.cumsum(sizes[drawn]), most, side="right")), 1)
    chosen = np.sort(drawn[:kept])
    start = np.cumsum(sizes) - sizes
    rows = np.concatenate([np.arange(start[g], start[g] + sizes[g]) for g in chosen])
    return rows, sizes[chosen]
