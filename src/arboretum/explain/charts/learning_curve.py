"""The learning curve of a booster: a metric after every round, for every table it was evaluated on.

Where the line of other rows turns while the training line keeps falling, boosting should have stopped. The
best round of early stopping is marked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.checks import did_you_mean
from arboretum.errors import ParameterError
from arboretum.explain.mpl import LINES, QUIET, axes_for, require_pyplot
from arboretum.explain.pipeline import anatomy_of, takes_pipelines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_learning_curve"]

_FAR_APART = 5.0  # largest ÷ smallest value; from here on the axis is logarithmic


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
        The metric; by default the last, which early stopping uses.
    names : dict, optional
        Names of the tables instead of ``validation_0``, ...
    log : bool, optional
        Use a logarithmic axis. By default if the largest value is five times the smallest: a linear axis
        would hide what happens after the first rounds.
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
    history = anatomy_of(model, "plot_learning_curve").history
    if not history.curves:
        raise ParameterError(
            "plot_learning_curve needs a booster that was evaluated on tables: give eval_set to fit"
        )
    known = list(dict.fromkeys(name for _, name in history.curves))
    metric = known[-1] if metric is None else metric
    if metric not in known:
        raise ParameterError(
            f"the model was not evaluated by {metric!r}{did_you_mean(metric, known)}: "
            f"there is {', '.join(known)}"
        )
    plt = require_pyplot("plot_learning_curve")
    title = f"{type(model).__name__}: {metric} by round"
    ax = axes_for("plot_learning_curve", ax, title=title)
    tables = list(dict.fromkeys(table for table, _ in history.curves))
    shown = {table: history.curves.get((table, metric)) for table in tables}
    for k, (table, values) in enumerate(shown.items()):
        if values:
            label = (names or {}).get(table, table)
            ax.plot(range(1, len(values) + 1), values, color=LINES[k % len(LINES)], label=label)
    if history.end is not None:
        ax.axvline(history.end, color=QUIET, lw=1, ls=":", label=f"round {history.end}")
    values = np.concatenate([one for one in shown.values() if one])
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
    """Return True if positive values differ so much that small ones would lie on the axis."""
    finite = values[np.isfinite(values)]
    return bool(len(finite) and finite.min() > 0 and finite.max() >= _FAR_APART * finite.min())
