"""SHAP values as pictures: of all rows, of one column, of one row.

plot_shap_summary      a dot per row and column, coloured by the value: which columns matter, and which way
plot_shap_dependence   one column: its SHAP values against its values
plot_waterfall         one row: from the base to its score, column by column
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.errors import DataError, ParameterError
from arboretum.explain.dependence.partial_dependence import place_of
from arboretum.explain.labels import check_int
from arboretum.explain.mpl import LINES, QUIET, TEXT, axes_for, require_pyplot, tidy
from arboretum.explain.pipeline import anatomy_of, takes_pipelines
from arboretum.structure.condition import format_category, format_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_shap_dependence", "plot_shap_summary", "plot_waterfall"]

_UP, _DOWN = "#d9662b", "#2b7bba"
_MOST_DOTS = 2_000  # rows of a summary
_LONGEST = 30


@takes_pipelines
def plot_shap_summary(
    model: Any, X: Any, *, output: Any = None, top: int = 15, ax: Axes | None = None
) -> Axes:
    """Draw the SHAP value of every column for every row: one dot each, coloured by the value of the column.

    Parameters
    ----------
    model : fitted estimator with SHAP values
    X : table
        At most 2,000 rows of it are drawn, evenly spread.
    output : class label or index, optional
        Which of several classes; by default the last.
    top : int, default 15
        Columns, by mean |SHAP value|.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from arboretum import XGBClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = XGBClassifier(n_estimators=5).fit(X, y)
    >>> ax = plot_shap_summary(model, X, top=8)
    >>> len(ax.get_yticks())
    8
    """
    plt = require_pyplot("plot_shap_summary")
    check_int(top, "top of plot_shap_summary", 1)
    rows, values, what = _explained(model, X, output, "plot_shap_summary")
    some = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _MOST_DOTS)).round().astype(int))
    order = np.argsort(-np.abs(values).mean(axis=0), kind="stable")[:top]
    ax = axes_for("plot_shap_summary", ax, (7.8, 1.2 + 0.38 * len(order)))
    colours = plt.get_cmap("coolwarm").with_extremes(bad="#7d8790")
    for line, f in enumerate(order):
        x, v = values[some, f], rows[some, f]
        missing = np.isnan(v)
        # coloured as neither high nor low
        is_words = model.schema_.columns[f].kind == "categorical"
        shade = np.full(len(v), np.nan) if is_words else _ranks(v)
        places = line + _spread(x)
        ax.scatter(x[missing], places[missing], s=9, color="#c3cad0", lw=0)
        dots = ax.scatter(
            x[~missing],
            places[~missing],
            s=9,
            c=shade[~missing],
            cmap=colours,
            vmin=0,
            vmax=1,
            plotnonfinite=True,
            lw=0,
        )
    ax.axvline(0, color=QUIET, lw=0.8, zorder=0)
    ax.set_yticks(range(len(order)), [_short(model.schema_.names[f]) for f in order])
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.set_xlabel(f"SHAP value: what the column adds to {what}")
    bar = ax.figure.colorbar(dots, ax=ax, ticks=[0, 1], aspect=30, pad=0.02)
    bar.ax.set_yticklabels(["low", "high"])
    bar.set_label("value (grey: words; light grey: missing)")
    bar.outline.set_visible(False)
    _finish(ax)
    return ax


@takes_pipelines
def plot_shap_dependence(
    model: Any,
    X: Any,
    feature: Any,
    *,
    color: Any = None,
    output: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the SHAP value of one column against its value, row by row.

    Parameters
    ----------
    model, X, output, ax
        As for `plot_shap_summary`.
    feature : name or index of a column
    color : name or index of a column, optional
        The dots are coloured by its values. Dots with the same value but different heights show the influence
        of other columns.

    Examples
    --------
    >>> from arboretum import XGBRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> ax = plot_shap_dependence(XGBRegressor(n_estimators=10).fit(X, y), X, "bmi", color="s5")
    >>> ax.get_xlabel()
    'bmi'
    """
    rows, values, what = _explained(model, X, output, "plot_shap_dependence")
    f = place_of(model.schema_, feature)
    ax = axes_for("plot_shap_dependence", ax, (7.2, 4.6))
    column = model.schema_.columns[f]
    x = rows[:, f].copy()
    if column.categories is not None:
        ax.set_xticks(
            range(len(column.categories)),
            [_short(format_category(c), 14) for c in column.categories],
        )
        if len(column.categories) > 5:
            ax.tick_params(axis="x", rotation=40)
        x += _jitter(len(x))
    if color is None:
        ax.scatter(x, values[:, f], s=12, color=LINES[0], alpha=0.6, lw=0)
    else:
        k = place_of(model.schema_, color)
        dots = ax.scatter(
            x, values[:, f], s=12, c=_ranks(rows[:, k]), cmap="coolwarm", lw=0, alpha=0.8
        )
        bar = ax.figure.colorbar(dots, ax=ax, ticks=[0, 1], pad=0.02)
        bar.ax.set_yticklabels(["low", "high"])
        bar.set_label(_short(model.schema_.names[k]))
        bar.outline.set_visible(False)
    ax.axhline(0, color=QUIET, lw=0.8, zorder=0)
    ax.set_xlabel(column.name)
    ax.set_ylabel(f"SHAP value: adds to {what}")
    _finish(ax)
    return ax


@takes_pipelines
def plot_waterfall(
    model: Any, X: Any, row: int = 0, *, output: Any = None, top: int = 10, ax: Axes | None = None
) -> Axes:
    """Draw how the score of one row adds up, from the base on, largest parts first.

    Parameters
    ----------
    model, X, output, ax
        As for `plot_shap_summary`.
    row : int, default 0
        Which row of X.
    top : int, default 10
        Columns that get a bar of their own; the others share one bar.

    Examples
    --------
    >>> from arboretum import XGBClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> ax = plot_waterfall(XGBClassifier(n_estimators=5).fit(X, y), X, 3)
    """
    check_int(top, "top of plot_waterfall", 1)
    rows, values, what = _explained(model, X, output, "plot_waterfall")
    if not isinstance(row, int | np.integer) or not -len(rows) <= row < len(rows):
        raise ParameterError(
            f"row of plot_waterfall must be a row of X, 0 to {len(rows) - 1}, got {row!r}"
        )
    base = np.atleast_1d(np.asarray(model.shap_base_value(), np.float64))
    labels = anatomy_of(model, "plot_waterfall").labels
    start = float(base[_output_of(labels, len(base), output, "plot_waterfall")])
    parts = values[row]
    order = np.argsort(-np.abs(parts), kind="stable")
    order = order[parts[order] != 0]
    steps = [
        (_with_value(model.schema_.columns[f], rows[row, f]), float(parts[f])) for f in order[:top]
    ]
    rest = float(parts[order[top:]].sum())
    if len(order) > top:
        steps.append((f"{len(order) - top} other columns", rest))
    ax = axes_for("plot_waterfall", ax, (7.8, 1.4 + 0.36 * len(steps)))
    at = start
    for line, (_, size) in enumerate(steps):
        ax.barh(line, size, left=at, height=0.66, color=_UP if size >= 0 else _DOWN)
        ax.annotate(
            f"{size:+.3g}",
            (max(at, at + size), line),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            color=QUIET,
        )
        ax.plot([at + size] * 2, [line - 0.33, line + 1.33], color=QUIET, lw=0.6)
        at += size
    ax.axvline(start, color=QUIET, lw=0.8, ls=(0, (4, 3)))
    ax.set_yticks(range(len(steps)), [name for name, _ in steps])
    ax.set_ylim(len(steps) - 0.3, -0.7)
    ax.margins(x=0.12)
    ax.set_xlabel(f"{what}: base {start:.4g}, this row {at:.4g}")
    _finish(ax)
    return ax


# ---------------------------------------------------------------------- values and names
def _explained(model: Any, X: Any, output: Any, caller: str) -> tuple[np.ndarray, np.ndarray, str]:
    """Return the encoded rows, the SHAP values of one output, and a name for their sum."""
    anatomy = anatomy_of(model, caller)
    values = np.asarray(model.shap_values(X))
    matrix = anatomy.columns.numbers(X)
    if not matrix.n_rows:
        raise DataError(f"{caller} needs at least one row")
    labels = anatomy.labels
    k = _output_of(labels, values.shape[2] if values.ndim == 3 else 1, output, caller)
    what = "the sum of the trees"
    if labels is not None:
        what = f"the score for {format_category(labels[k if values.ndim == 3 else -1])}"
    values = values[:, :, k] if values.ndim == 3 else values
    return np.array(matrix.rows(0, matrix.n_rows)), values, what


def _output_of(classes: np.ndarray | None, n: int, output: Any, caller: str) -> int:
    if output is None or n == 1:
        return n - 1
    labels = [] if classes is None else classes.tolist()
    if output in labels:
        return labels.index(output)
    if isinstance(output, int | np.integer) and 0 <= output < n:
        return int(output)
    raise ParameterError(
        f"{caller}: output must be one of {labels or list(range(n))}, got {output!r}"
    )


def _ranks(v: np.ndarray) -> np.ndarray:
    """Return the rank of every value, scaled to 0..1; equal values have equal ranks."""
    shade = np.full(len(v), np.nan)
    known = ~np.isnan(v)
    _, place, counts = np.unique(v[known], return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    shade[known] = middle[place] / max(known.sum(), 1)
    return shade


def _spread(x: np.ndarray) -> np.ndarray:
    """Return offsets of dots from their line, so that they do not hide each other."""
    width = np.ptp(x) or 1.0
    bins = np.floor((x - x.min()) / width * 60).astype(int)
    order = np.argsort(bins, kind="stable")
    starts = np.searchsorted(bins[order], bins[order], side="left")
    turn = np.arange(len(x)) - starts
    crowd = int(np.bincount(bins, minlength=61).max())
    away = np.empty(len(x))
    away[order] = np.where(turn % 2, 1, -1) * ((turn + 1) // 2)
    return away * min(0.06, 0.8 / max(crowd, 1))


def _jitter(n: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-0.18, 0.18, n)


def _with_value(column: Any, value: float) -> str:
    shown = "missing" if value != value else format_number(value, 4)
    if column.categories is not None and value == value:
        shown = format_category(column.categories[int(value)])
    return f"{_short(column.name, 22)} = {_short(shown, 14)}"


def _short(name: str, most: int = _LONGEST) -> str:
    name = " ".join(str(name).split())
    return name if len(name) <= most else name[: most - 1] + "…"


def _finish(ax: Axes) -> None:
    ax.tick_params(axis="y", length=0, labelcolor=TEXT)
    tidy(ax, "x", ("top", "right", "left"))
