"""The learning curve of a booster: a figure after every round, of every table it was judged by.

The training figure goes on falling while that of other rows turns: there boosting should have stopped. The
best round is marked where early stopping knows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.checks import did_you_mean
from arboretum.errors import ParameterError
from arboretum.explain.mpl import require_pyplot
from arboretum.explain.pipeline import takes_pipelines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_learning_curve"]

_LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
_QUIET = "#5b6770"
_FAR_APART = 5.0  # times the smallest value: then the axis is logarithmic


@takes_pipelines
def plot_learning_curve(
    model: Any,
    *,
    metric: str | None = None,
    names: dict[str, str] | None = None,
    log: bool | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot a metric after each round, one line per table.

    Parameters
    ----------
    model : booster that was fitted with ``eval_set``
    metric : str, optional
        Which one; by default the last, by which early stopping judges.
    names : dict, optional
        What to call the tables instead of ``validation_0``, ...
    log : bool, optional
        Let the values stand on a logarithmic axis; by default if the largest is five times the smallest,
        where a plain one would hide what happens after the first rounds.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from arboretum import XGBRegressor
    >>> X, y = np.arange(40.0).reshape(-1, 1), np.arange(40.0) ** 2
    >>> model = XGBRegressor(n_estimators=5).fit(X, y, eval_set=[(X, y)], verbose=False)
    >>> plot_learning_curve(model).get_ylabel()
    'rmse'
    """
    history = getattr(model, "evals_result_", None)
    if not history:
        raise ParameterError(
            "plot_learning_curve needs a booster that was judged by tables: give eval_set to fit"
        )
    known = list(dict.fromkeys(name for figures in history.values() for name in figures))
    metric = known[-1] if metric is None else metric
    if metric not in known:
        raise ParameterError(
            f"the model was not judged by {metric!r}{did_you_mean(metric, known)}: "
            f"there is {', '.join(known)}"
        )
    plt = require_pyplot("plot_learning_curve")
    if ax is None:
        _, ax = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
        ax.set_title(f"{type(model).__name__}: {metric} by round")
    for k, (table, figures) in enumerate(history.items()):
        values = figures.get(metric)
        if values:
            rounds = np.arange(1, len(values) + 1)
            label = (names or {}).get(table, table)
            ax.plot(rounds, values, color=_LINES[k % len(_LINES)], label=label)
    best = getattr(model, "_best", None)
    if best is not None:
        ax.axvline(
            best[0] + 1, color=_QUIET, linewidth=1, linestyle=":", label=f"round {best[0] + 1}"
        )
    values = np.concatenate([figures[metric] for figures in history.values() if metric in figures])
    if _spans_much(values) if log is None else log:
        ax.set_yscale("log")
        for axis_format in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
            axis_format(plt.matplotlib.ticker.LogFormatter(minor_thresholds=(2, 0.8)))
    ax.set_xlabel("rounds")
    ax.set_ylabel(metric)
    ax.grid(alpha=0.25)
    ax.legend(frameon=False)
    return ax


def _spans_much(values: np.ndarray) -> bool:
    """Tell whether positive values differ so much that small ones would lie on the axis."""
    finite = values[np.isfinite(values)]
    return bool(len(finite) and finite.min() > 0 and finite.max() >= _FAR_APART * finite.min())
