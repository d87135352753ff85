"""The pruning curve: the error of the tree at each strength of pruning.

`prune_cv` grows a tree on every fold and cuts it at each α of the pruning path. The curve shows the
mean error of the held-out rows over α with a band of one standard error, the size of the full-data
tree along the top, and the α that was chosen: the lowest error, or the smallest tree within one
standard error of it (rule "1se").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.errors import ParameterError
from arboretum.explain.mpl import LINES, QUIET, axes_for, tidy
from arboretum.explain.pipeline import anatomy_of, takes_pipelines
from arboretum.structure.condition import format_number
from arboretum.structure.pruning_cv import PruningCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_pruning_curve"]

_LINE, _CHOSEN = LINES[:2]
_MOST_LEAF_TICKS = 12


@takes_pipelines
def plot_pruning_curve(model: Any, *, ax: Axes | None = None) -> Axes:
    """Plot cross-validated error against the strength of pruning.

    Parameters
    ----------
    model : estimator after ``prune_cv``, or its ``pruning_curve_``
        The curve holds arrays ``alpha``, ``n_leaves``, ``mean_score`` (the error) and
        ``std_error``, the index ``best`` of the chosen α and the ``rule`` that chose it.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from arboretum import CARTClassifier, plot_pruning_curve
    >>> from sklearn.datasets import load_iris
    >>> model = CARTClassifier().prune_cv(*load_iris(return_X_y=True), cv=5)
    >>> ax = plot_pruning_curve(model)
    """
    own = isinstance(model, PruningCurve)
    curve = model if own else anatomy_of(model, "plot_pruning_curve").history.pruning
    if curve is None:
        raise ParameterError(
            "plot_pruning_curve needs a model after prune_cv, and this "
            f"{type(model).__name__} has no pruning_curve_: call model.prune_cv(X, y) first"
        )
    ax = axes_for("plot_pruning_curve", ax, title="Pruning by cross-validation")
    error = np.asarray(curve.mean_score, dtype=float)
    spread = np.asarray(curve.std_error, dtype=float)
    x, zero = _log_positions(np.asarray(curve.alpha, dtype=float))
    ax.fill_between(x, error - spread, error + spread, color=_LINE, alpha=0.15, lw=0, label="±1 SE")
    ax.plot(x, error, color=_LINE, lw=1.6, marker="o", ms=3.5, label="error (mean of folds)")
    _mark_choice(ax, curve, x, error, spread)
    ax.set_xscale("log")
    ax.set_xlabel("α  (cost of a leaf)")
    ax.set_ylabel("cross-validated error")
    tidy(ax)
    ax.set_axisbelow(True)
    _set_alpha_ticks(ax, zero)
    _add_leaf_axis(ax, x, np.asarray(curve.n_leaves))
    ax.legend(frameon=False, fontsize="small")
    return ax


def _log_positions(alpha: np.ndarray) -> tuple[np.ndarray, float | None]:
    """Return the places of the alphas on a log axis, and the place of α = 0 if it is among them.

    Zero and infinity have no place on a log axis: they are drawn a step beyond their neighbours.
    """
    usable = alpha[(alpha > 0) & np.isfinite(alpha)]
    low, high = (usable.min(), usable.max()) if len(usable) else (1.0, 1.0)
    step = max((high / low) ** 0.08, 2.0)
    x = np.where(alpha > 0, alpha, low / step)
    x = np.where(np.isfinite(x), x, high * step)
    return x, (float(low / step) if np.any(alpha <= 0) else None)


def _mark_choice(
    ax: Axes, curve: Any, x: np.ndarray, error: np.ndarray, spread: np.ndarray
) -> None:
    """Mark the chosen α, and the error it was chosen by."""
    best, lowest = int(curve.best), int(np.argmin(error))
    if curve.rule == "1se":
        limit = error[lowest] + spread[lowest]
        ax.axhline(limit, color=QUIET, lw=1, ls=(0, (4, 3)), label="lowest error + 1 SE")
    if best != lowest:
        ax.plot(x[lowest], error[lowest], "o", ms=8, mfc="white", mec=_LINE, label="lowest error")
    ax.axvline(x[best], color=_CHOSEN, lw=1.2, alpha=0.7)
    leaves = int(curve.n_leaves[best])
    text = f"chosen: α = {format_number(float(curve.alpha[best]), 3)}, " + (
        f"{leaves} {'leaf' if leaves == 1 else 'leaves'}"
    )
    ax.plot(x[best], error[best], "o", ms=8, color=_CHOSEN, zorder=5, label=text)


def _set_alpha_ticks(ax: Axes, zero: float | None) -> None:
    """Write round numbers along the log axis, and 0 at the place of α = 0."""
    from matplotlib.ticker import FixedFormatter, FixedLocator

    low, high = ax.get_xlim()
    smallest = low if zero is None else zero * 1.5
    powers = np.arange(np.floor(np.log10(smallest)), np.ceil(np.log10(high)) + 1)
    steps = (1, 2, 5) if len(powers) <= 4 else (1,)
    powers = powers[:: max(1, len(powers) // 7)]
    ticks = [step * 10.0**power for power in powers for step in steps]
    ticks = [tick for tick in ticks if smallest <= tick <= high]
    texts = [format_number(tick, 3) for tick in ticks]
    if zero is not None:
        ticks, texts = [zero, *ticks], ["0", *texts]
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FixedFormatter(texts))
    ax.xaxis.set_minor_locator(FixedLocator([]))
    ax.set_xlim(low, high)


def _add_leaf_axis(ax: Axes, x: np.ndarray, n_leaves: np.ndarray) -> None:
    """Write the number of leaves along the top, as often as there is room."""
    from matplotlib.ticker import NullFormatter, NullLocator

    low, high = np.log(ax.get_xlim())
    apart = (high - low) / _MOST_LEAF_TICKS
    ticks: list[int] = []
    for i in np.argsort(x, kind="stable"):
        new = not ticks or (
            np.log(x[i] / x[ticks[-1]]) >= apart and n_leaves[i] != n_leaves[ticks[-1]]
        )
        if new:
            ticks.append(int(i))
    top = ax.secondary_xaxis("top")
    top.xaxis.set_minor_locator(NullLocator())
    top.xaxis.set_minor_formatter(NullFormatter())
    top.set_xticks([x[i] for i in ticks], labels=[str(int(n_leaves[i])) for i in ticks])
    top.set_xlabel("leaves", color=QUIET)
    top.tick_params(colors=QUIET, labelsize="small")
    top.spines["top"].set_visible(False)
