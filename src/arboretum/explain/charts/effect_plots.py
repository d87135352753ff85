"""Predictions as a column changes: `plot_partial_dependence` draws the mean, `plot_ice` every row.

Below the curve a strip of small lines shows where the rows are: a curve far from all rows is a guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.errors import ParameterError
from arboretum.explain.dependence.model_function import matrix_of
from arboretum.explain.dependence.partial_dependence import partial_dependence
from arboretum.explain.labels import check_int
from arboretum.explain.mpl import LINES, QUIET, TEXT, axes_for, tidy
from arboretum.explain.pipeline import anatomy_of, takes_pipelines
from arboretum.structure.condition import format_category

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_ice", "plot_partial_dependence"]


@takes_pipelines
def plot_partial_dependence(
    model: Any, X: Any, features: Any, *, ax: Axes | None = None, **options: Any
) -> Axes:
    """Draw the mean prediction as a column, or two together, take other values.

    Parameters
    ----------
    model, X
        A fitted estimator and the rows to take the mean over.
    features : name or index of a column, or two of them
        One column gives a line (bars for words), one for each of several classes; two give a colour map.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    **options
        Passed to `partial_dependence`.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from arboretum import RandomForestRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    >>> ax = plot_partial_dependence(forest, X, "bmi")
    >>> ax = plot_partial_dependence(forest, X, ["bmi", "s5"], grid_resolution=20)
    """
    several = isinstance(features, list | tuple | np.ndarray) and len(features) > 1
    if several and len(features) > 2:
        raise ParameterError(
            f"plot_partial_dependence draws one column or two, got {len(features)}"
        )
    found = partial_dependence(model, X, features, **options)
    ax = axes_for("plot_partial_dependence", ax, (7.2, 4.6))
    names = _names(model, features)
    if several:
        _draw_map(ax, found, names, _unit(model))
        return ax
    _draw_lines(ax, found.grid_values[0], found.average, model, names[0])
    _draw_density(ax, model, X, names[0])
    return ax


@takes_pipelines
def plot_ice(
    model: Any,
    X: Any,
    feature: Any,
    *,
    n_rows: int = 50,
    centered: bool = False,
    output: int = -1,
    ax: Axes | None = None,
    **options: Any,
) -> Axes:
    """Draw the predictions for single rows as one column takes other values, and their mean.

    Parameters
    ----------
    model, X, feature, ax
        As for `plot_partial_dependence`; one column of numbers or ranks.
    n_rows : int, default 50
        Rows of X that get a line, evenly spread.
    centered : bool, default False
        Start all lines at 0, to compare their shapes. Where lines cross, another column changes
        the effect.
    output : int, default -1
        Which of several classes.
    **options
        Passed to `partial_dependence`.

    Examples
    --------
    >>> from arboretum import XGBRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> ax = plot_ice(XGBRegressor(n_estimators=10).fit(X, y), X, "bmi", n_rows=20)
    >>> len(ax.lines) >= 21
    True
    """
    check_int(n_rows, "n_rows of plot_ice", 1)
    found = partial_dependence(model, X, feature, kind="both", **options)
    ax = axes_for("plot_ice", ax, (7.2, 4.6))
    (name,) = _names(model, feature)
    lines, mean = found.individual[output], found.average[output]
    some = np.unique(np.linspace(0, len(lines) - 1, min(n_rows, len(lines))).round().astype(int))
    x = _places(ax, found.grid_values[0])
    start = lines[:, :1] if centered else 0.0
    for line in (lines - start)[some]:
        ax.plot(x, line, color=QUIET, lw=0.7, alpha=0.35)
    ax.plot(x, mean - (mean[0] if centered else 0.0), color=LINES[0], lw=2.6, label="mean")
    ax.set_xlabel(name)
    ax.set_ylabel(_unit(model) + (", from its start" if centered else ""))
    _draw_density(ax, model, X, name)
    tidy(ax)
    return ax


# ---------------------------------------------------------------------- drawing
def _draw_lines(ax: Axes, values: np.ndarray, average: np.ndarray, model: Any, name: str) -> None:
    words = values.dtype == object
    labels = anatomy_of(model, "plot_partial_dependence").labels
    for k, line in enumerate(average):
        label = format_category(labels[k]) if labels is not None and len(average) > 1 else None
        color = LINES[k % len(LINES)]
        if words:
            width = 0.8 / len(average)
            ax.bar(
                np.arange(len(line)) + (k - (len(average) - 1) / 2) * width,
                line,
                width * 0.94,
                color=color,
                label=label,
            )
        else:
            ax.plot(values, line, color=color, lw=2.2, label=label)
    if words:
        _places(ax, values)
    ax.set_xlabel(name)
    ax.set_ylabel(_unit(model))
    if len(average) > 1:
        ax.legend(frameon=False, fontsize="small")
    tidy(ax)


def _draw_map(ax: Axes, found: Any, names: list[str], unit: str) -> None:
    a, b = found.grid_values
    table = found.average[-1].T
    picture = ax.imshow(
        table, origin="lower", aspect="auto", cmap="viridis", interpolation="nearest"
    )
    for axis, values in ((ax.xaxis, a), (ax.yaxis, b)):
        at = np.unique(np.linspace(0, len(values) - 1, min(8, len(values))).round().astype(int))
        said = [
            format_category(values[i]) if values.dtype == object else f"{values[i]:.3g}" for i in at
        ]
        axis.set_ticks(at, said)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    bar = ax.figure.colorbar(picture, ax=ax, pad=0.02)
    bar.set_label(unit)
    bar.outline.set_visible(False)


def _places(ax: Axes, values: np.ndarray) -> np.ndarray:
    """Return where values stand on the axis; words get a tick each."""
    if values.dtype != object:
        return values
    said = ["missing" if v is None else format_category(v) for v in values]
    ax.set_xticks(range(len(values)), said, rotation=40 if len(values) > 5 else 0)
    return np.arange(len(values))


def _draw_density(ax: Axes, model: Any, X: Any, name: str) -> None:
    """Draw a small line for some rows at the bottom."""
    f = model.schema_.names.index(name)
    if model.schema_.columns[f].categories is not None:
        return
    x = matrix_of(model, X).column(f)
    x = x[~np.isnan(x)]
    some = x[np.unique(np.linspace(0, len(x) - 1, min(len(x), 300)).round().astype(int))]
    low, high = ax.get_xlim()
    ax.vlines(
        some[(some >= low) & (some <= high)],
        0,
        0.02,
        transform=ax.get_xaxis_transform(),
        color=TEXT,
        lw=0.5,
        alpha=0.5,
    )
    ax.set_xlim(low, high)


def _names(model: Any, features: Any) -> list[str]:
    wanted = features if isinstance(features, list | tuple | np.ndarray) else [features]
    return [one if isinstance(one, str) else model.schema_.names[int(one)] for one in wanted]


def _unit(model: Any) -> str:
    labels = anatomy_of(model, "plot_partial_dependence").labels
    if labels is None:
        return "mean prediction"
    return (
        f"probability of {format_category(labels[1])}"
        if len(labels) == 2
        else "probability of the class"
    )
