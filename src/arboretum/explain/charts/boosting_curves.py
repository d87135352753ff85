"""Curves over rounds: a booster's metrics, AdaBoost's errors under their bound and its margins.

`plot_boosting_errors` draws the error after every round, of training and other rows, below Π Z_t, which the
training error cannot exceed, and below exp(-2 Σ γ²). `plot_margins` draws the share of rows with a margin
of at most θ after a few rounds, and its bounds: the curve keeps moving to the right long after the training
error is zero.

`plot_learning_curve` draws a metric after every round, for every table the booster was evaluated on. Where
the line of other rows turns while the training line keeps falling, boosting should have stopped. The best
round of early stopping is marked. `plot_metric` draws the same lines as LightGBM does.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.base.anatomy import has_anatomy
from arboretum.data.checks import did_you_mean
from arboretum.errors import ParameterError
from arboretum.explain.mpl import LINES, QUIET, TEXT, axes_for, frame, require_pyplot, tidy
from arboretum.explain.other_names import takes_other_names
from arboretum.explain.pipeline import anatomy_of, takes_pipelines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_boosting_errors", "plot_learning_curve", "plot_margins", "plot_metric"]


_LINE, _OTHER = LINES[:2]
_SHADES = ("#b9d9ec", "#7fb9dc", "#3f93c4", "#0072b2", "#00436b")


@takes_pipelines
def plot_boosting_errors(
    model: Any, X: Any, y: Any, *, test: tuple[Any, Any] | None = None, ax: Axes | None = None
) -> Axes:
    """Plot the error after each round under its bound.

    Parameters
    ----------
    model : AdaBoostClassifier
        Fitted; not with "SAMME.R", for which there is no such bound.
    X, y
        The rows it was trained on.
    test : (X, y), optional
        Other rows; no bound holds for them.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from arboretum import AdaBoostClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=20).fit(X[:400], y[:400])
    >>> ax = plot_boosting_errors(model, X[:400], y[:400], test=(X[400:], y[400:]))
    """
    figures = _figures(model, "plot_boosting_errors")
    bound = model.training_error_bound()
    ax = axes_for("plot_boosting_errors", ax)
    rounds = np.arange(1, len(bound) + 1)
    ax.fill_between(rounds, bound, 1.0, color=QUIET, alpha=0.08, lw=0)
    ax.plot(rounds, bound, color=QUIET, lw=1.2, ls=(0, (4, 3)), label="bound: Π Z")
    if _has_best_weights(model, figures):
        wider = model.theory().exponential
        ax.plot(rounds, wider, color=QUIET, lw=1.2, ls=(0, (1, 2)), label="bound: exp(-2 Σ γ²)")
    ax.plot(rounds, _errors(model, X, y), color=_LINE, lw=1.6, label="training error")
    if test is not None:
        ax.plot(rounds, _errors(model, *test), color=_OTHER, lw=1.6, label="error on other rows")
    ax.set_xlabel("rounds")
    ax.set_ylabel("error")
    ax.set_ylim(0, min(1.0, 1.05 * float(bound.max())))
    ax.set_xlim(1, max(len(bound), 2))
    _finish(ax)
    return ax


@takes_pipelines
def plot_margins(
    model: Any, X: Any, y: Any, *, rounds: Sequence[int] | None = None, ax: Axes | None = None
) -> Axes:
    """Plot the distribution of the margins after some rounds, and the bound after the last.

    Parameters
    ----------
    model : AdaBoostClassifier
    X, y
        Rows to look at; the bound holds for those it was trained on.
    rounds : list of int, optional
        Up to five numbers of rounds; by default a few, growing, and the last.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from arboretum import AdaBoostClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ax = plot_margins(AdaBoostClassifier(n_estimators=40).fit(X, y), X, y, rounds=[5, 40])
    """
    figures = _figures(model, "plot_margins")
    n = len(model.estimators_)
    chosen = _few_rounds(n) if rounds is None else sorted(set(rounds))
    if not chosen or len(chosen) > len(_SHADES) or chosen[0] < 1 or chosen[-1] > n:
        raise ParameterError(
            f"rounds of plot_margins must be one to {len(_SHADES)} numbers from 1 to {n}, got {rounds!r}"
        )
    ax = axes_for("plot_margins", ax)
    shades = _SHADES[-len(chosen) :]
    for number, margins in enumerate(model.staged_margins(X, y), start=1):
        if number in chosen:
            place = np.sort(margins)
            share = np.arange(1, len(place) + 1) / len(place)
            color = shades[chosen.index(number)]
            what = f"{number} {'round' if number == 1 else 'rounds'}"
            ax.step(
                np.append(place, 1.0), np.append(share, 1.0), where="post", color=color, label=what
            )
    theta = np.linspace(-1, 1, 201)
    bound = model.margin_bound(theta)
    seen = bound <= 1
    label = f"bound after {n}"
    ax.plot(theta[seen], bound[seen], color=QUIET, lw=1.2, ls=(0, (4, 3)), label=label)
    edge = float(model.edges_.min())
    if _has_best_weights(model, figures) and edge > 0:
        wider = model.margin_bound(theta, edge=edge)
        seen = wider <= 1
        label = f"bound if every edge were {edge:.2g}"
        ax.plot(theta[seen], wider[seen], color=QUIET, lw=1.2, ls=(0, (1, 2)), label=label)
    ax.axvline(0, color=QUIET, lw=0.8)
    ax.set_xlim(-1, 1)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("margin θ")
    ax.set_ylabel("share of rows with a margin ≤ θ")
    _finish(ax)
    return ax


def _errors(model: Any, X: Any, y: Any) -> np.ndarray:
    return 1 - np.array(list(model.staged_score(X, y)))


def _has_best_weights(model: Any, figures: Mapping[str, Any]) -> bool:
    """Return True if the learners have the weights for which the wider bounds hold."""
    return model.n_classes_ == 2 and model.learning_rate == 1 and "training error" in figures


def _few_rounds(n: int) -> list[int]:
    """Return up to five rounds, the last among them.

    >>> _few_rounds(50), _few_rounds(3)
    ([1, 5, 10, 20, 50], [1, 2, 3])
    """
    if n <= len(_SHADES):
        return list(range(1, n + 1))
    return sorted({1, max(n // 10, 2), max(n // 5, 3), max(2 * n // 5, 4), n})


def _figures(model: Any, caller: str) -> Mapping[str, Any]:
    """Return the figures that an AdaBoostClassifier keeps of its rounds; raise for other models."""
    anatomy = model._anatomy() if has_anatomy(model) else None
    if anatomy is None or anatomy.family != "adaboost" or anatomy.labels is None:
        raise ParameterError(
            f"{caller} needs a fitted AdaBoostClassifier, got a {type(model).__name__}"
        )
    return anatomy.history.figures


def _finish(ax: Axes) -> None:
    tidy(ax)
    ax.legend(frameon=False, fontsize="small", labelcolor=TEXT)


# ---------------------------------------------------------------------- learning curves
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
    metric = _chosen(metric, [name for _, name in history.curves])
    plt = require_pyplot("plot_learning_curve")
    title = f"{type(model).__name__}: {metric} by round"
    ax = axes_for("plot_learning_curve", ax, title=title)
    tables = list(dict.fromkeys(table for table, _ in history.curves))
    shown = {table: history.curves.get((table, metric)) for table in tables}
    lines = {(names or {}).get(table, table): one for table, one in shown.items() if one}
    for k, (label, values) in enumerate(lines.items()):
        ax.plot(range(1, len(values) + 1), values, color=LINES[k % len(LINES)], label=label)
    if history.end is not None:
        ax.axvline(history.end, color=QUIET, lw=1, ls=":", label=f"round {history.end}")
    values = np.concatenate(list(lines.values()))
    if _spans_much(values) if log is None else log:
        ax.set_yscale("log")
        for axis_format in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
            axis_format(plt.matplotlib.ticker.LogFormatter(minor_thresholds=(2, 0.8)))
    ax.set_xlabel("rounds")
    ax.set_ylabel(metric)
    ax.grid(alpha=0.25)
    ax.legend(frameon=False)
    return ax


def _chosen(metric: str | None, recorded: Sequence[str]) -> str:
    """Return the metric to plot, the last one if none is named."""
    known = list(dict.fromkeys(recorded))
    if metric is not None and metric not in known:
        raise ParameterError(
            f"the model was not evaluated by {metric!r}{did_you_mean(metric, known)}: "
            f"there is {', '.join(known)}"
        )
    return known[-1] if metric is None else metric


@takes_other_names
@takes_pipelines
def plot_metric(
    model: Any,
    metric: str | None = None,
    dataset_names: Sequence[str] | None = None,
    ax: Axes | None = None,
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
    title: str | None = "Metric during training",
    xlabel: str | None = "Iterations",
    ylabel: str | None = "@metric@",
    figsize: tuple[float, float] | None = None,
    dpi: float | None = None,
    grid: bool = True,
    **other_names: Any,
) -> Axes:
    """Plot a metric after each round as LightGBM does.

    Parameters
    ----------
    model : booster that was fitted with ``eval_set``, or dict
        The dict of ``record_evaluation``, ``evals_result_`` or ``evals_result()``.
    metric : str, optional
        The metric; by default the last.
    dataset_names : list of str, optional
        The tables to show; by default all.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    xlim, ylim : (float, float), optional
    title, xlabel, ylabel : str or None
        Texts; None: none. "@metric@" in ``ylabel`` is replaced.
    figsize, dpi
        Size of the new figure in inches, and its dots per inch.
    grid : bool, default True
    **other_names
        LightGBM's ``booster``.

    Returns
    -------
    Axes

    Examples
    --------
    >>> plot_metric({"valid_0": {"l2": [3.0, 2.0, 1.5]}}).get_ylabel()
    'l2'
    """
    found = model
    if not isinstance(model, Mapping):
        found = {}
        for (table, name), values in anatomy_of(model, "plot_metric").history.curves.items():
            found.setdefault(table, {})[name] = values
    if not found:
        raise ParameterError("eval results cannot be empty. Give eval_set to fit")
    tables = list(found) if dataset_names is None else list(dataset_names)
    if not tables or not set(tables) <= set(found):
        raise ParameterError(f"dataset_names must be some of {', '.join(found)}, got {tables}")
    recorded = list(found[tables[0]])
    if metric is None and len(recorded) > 1:
        warnings.warn("More than one metric available, picking one to plot.", stacklevel=2)
    metric = _chosen(metric, recorded)
    ax = axes_for("plot_metric", ax, figsize, dpi=dpi)
    lines = {table: found[table][metric] for table in tables}
    for table, values in lines.items():
        ax.plot(range(len(values)), values, label=table)
    ax.legend(loc="best")
    low, high = min(map(min, lines.values())), max(map(max, lines.values()))
    room = 0.2 * (high - low)
    texts = (title, xlabel, None if ylabel is None else ylabel.replace("@metric@", metric))
    longest = max(map(len, lines.values()))
    frame(ax, texts, xlim or (0, longest), ylim or (low - room, high + room), grid)
    return ax


def _spans_much(values: np.ndarray) -> bool:
    """Return True if positive values differ so much that small ones would lie on the axis."""
    finite = values[np.isfinite(values)]
    return bool(len(finite) and finite.min() > 0 and finite.max() >= _FAR_APART * finite.min())
