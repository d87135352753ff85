"""Groups of rows, by the values of one column, whose predictions are worse than those of the others.

    column      groups
    words       every category
    numbers     quarters of the rows, cut at whole values
    any         rows without a value

A group counts as weak if its mean error lies above that of all other rows by more than chance explains:
Welch's t with Bonferroni's correction for the number of groups.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats

from arboretum.structure.condition import format_category

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arboretum.data.schema import Column, Schema

__all__ = ["WeakGroup", "date_text", "groups_on_page", "weak_groups"]

_LEAST_ROWS = 20
_MOST_SHOWN = 10
_CERTAIN = 0.05


class WeakGroup(NamedTuple):
    """A group, the mean error of its rows with the ends of a 95 % interval, and that of all other rows."""

    column: str
    values: str
    n_rows: int
    error: float
    low: float
    high: float
    others: float


def weak_groups(schema: Schema, rows: np.ndarray, errors: np.ndarray) -> list[WeakGroup]:
    """Return the weak groups, the worst first.

    Parameters
    ----------
    schema : Schema
    rows : float array of shape (n, columns)
        Encoded; NaN is missing.
    errors : float array of shape (n,)
        For classes, 1 for a wrong prediction and 0 for a right one; for numbers, the absolute error.

    Examples
    --------
    >>> from arboretum.data.schema import learn_schema
    >>> schema, matrix = learn_schema([["a"]] * 40 + [["b"]] * 40)
    >>> found = weak_groups(schema, matrix.rows(0, 80), np.repeat([0.0, 1.0], 40))
    >>> [(one.column, one.values, one.n_rows, one.error) for one in found]
    [('x0', 'b', 40, 1.0)]
    """
    groups = [
        (column.name, values, member)
        for f, column in enumerate(schema.columns)
        for values, member in _groups(column, rows[:, f])
        if _LEAST_ROWS <= member.sum() <= len(errors) - _LEAST_ROWS
    ]
    found = []
    for name, values, member in groups:
        inside, outside = errors[member], errors[~member]
        if _p_value(inside, outside) * len(groups) < _CERTAIN:
            reach = 1.96 * float(inside.std(ddof=1)) / np.sqrt(len(inside))
            mean = float(inside.mean())
            found.append(
                WeakGroup(
                    name, values, len(inside), mean, max(mean - reach, 0.0), mean + reach,
                    float(outside.mean()),
                )
            )  # fmt: skip
    return sorted(found, key=lambda one: one.others - one.error)[:_MOST_SHOWN]


def _p_value(inside: np.ndarray, outside: np.ndarray) -> float:
    """Return the p-value of Welch's test that the mean of the first numbers is not larger.

    >>> _p_value(np.ones(5), np.zeros(5)), _p_value(np.zeros(5), np.zeros(5))
    (0.0, 1.0)
    """
    gap = float(inside.mean() - outside.mean())
    a, b = (float(np.var(one, ddof=1)) / len(one) for one in (inside, outside))
    if gap <= 0 or a + b == 0:
        return float(gap <= 0)
    freedom = (a + b) ** 2 / (a**2 / (len(inside) - 1) + b**2 / (len(outside) - 1))
    return float(stats.t.sf(gap / np.sqrt(a + b), freedom))


def groups_on_page(schema: Schema, rows: np.ndarray, errors: np.ndarray) -> list[dict[str, Any]]:
    """Return the weak groups as the page shows them."""
    return [
        {k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in one._asdict().items()}
        for one in weak_groups(schema, rows, errors)
    ]


def _groups(column: Column, x: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the values of a group in words, and which rows belong to it."""
    missing = np.isnan(x)
    yield "missing", missing
    if column.categories is not None:
        for code, value in enumerate(column.categories):
            yield format_category(value), x == code
        return
    if missing.all():
        return
    cuts = np.unique(np.quantile(x[~missing], [0.25, 0.5, 0.75], method="lower"))
    ends = [-np.inf, *cuts.tolist(), np.inf]
    for low, high in pairwise(ends):
        yield _range(column, low, high), (x > low) & (x <= high)


def _range(column: Column, low: float, high: float) -> str:
    """Return a range of numbers in words.

    >>> from arboretum.data.schema import Column
    >>> age = Column("age", "numeric", None, False, "float64")
    >>> _range(age, -np.inf, 30.0), _range(age, 30.0, 45.5), _range(age, 45.5, np.inf)
    ('≤ 30', '> 30 to 45.5', '> 45.5')
    """
    text = date_text if column.dtype == "datetime" else "{:,.6g}".format
    if low == -np.inf:
        return f"≤ {text(high)}"
    return f"> {text(low)}" if high == np.inf else f"> {text(low)} to {text(high)}"


def date_text(seconds: Any) -> str:
    """Return a date, and the time of day if there is one.

    >>> date_text(86400.0), date_text(90000.0)
    ('1970-01-02', '1970-01-02 01:00')
    """
    moment = np.datetime64(round(seconds), "s")
    return str(moment)[: 16 if seconds % 86400 else 10].replace("T", " ")
