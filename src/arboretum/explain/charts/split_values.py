"""Where the trees of a model cut a column: a histogram of thresholds, as LightGBM draws it.

count
  4 |      █
  2 |  █   █   █
    +------------- threshold
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.lightgbm.booster import LGBMBooster
from arboretum.data.checks import did_you_mean
from arboretum.errors import ParameterError
from arboretum.explain.mpl import axes_for, frame, require_pyplot
from arboretum.explain.other_names import booster_of, takes_other_names
from arboretum.explain.pipeline import anatomy_of, takes_pipelines
from arboretum.structure.cuts import cut_histogram

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_split_value_histogram"]


@takes_other_names
@takes_pipelines
def plot_split_value_histogram(
    model: Any,
    feature: int | str,
    bins: int | str | None = None,
    ax: Axes | None = None,
    width_coef: float = 0.8,
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
    title: str | None = "Split value histogram for feature with @index/name@ @feature@",
    xlabel: str | None = "Feature split value",
    ylabel: str | None = "Count",
    figsize: tuple[float, float] | None = None,
    dpi: float | None = None,
    grid: bool = True,
    **bars: Any,
) -> Axes:
    """Plot how often trees cut a column at which values.

    Parameters
    ----------
    model : fitted estimator, booster, Tree or Pipeline
    feature : int or str
        The column, by index or name.
    bins : int, str or None
        Number of bars, or a rule of `numpy.histogram`; None: one for each different threshold.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    width_coef : float, default 0.8
        Width of a bar; 1 leaves no gap.
    xlim, ylim : (float, float), optional
    title, xlabel, ylabel : str or None
        Texts; None: none. "@feature@" and "@index/name@" in ``title`` are replaced.
    figsize, dpi
        Size of the new figure in inches, and its dots per inch.
    grid : bool, default True
    **bars
        Arguments of ``ax.bar``, such as ``color``.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from arboretum import RandomForestClassifier
    >>> forest = RandomForestClassifier(20, random_state=0).fit(*load_iris(return_X_y=True))
    >>> plot_split_value_histogram(forest, 3, bins=5).get_ylabel()
    'Count'
    """
    plt = require_pyplot("plot_split_value_histogram")
    counts, edges = _histogram(model, feature, bins)
    ax = axes_for("plot_split_value_histogram", ax, figsize, dpi=dpi)
    width = width_coef * (edges[1] - edges[0])
    ax.bar((edges[:-1] + edges[1:]) / 2, counts, **{"align": "center", "width": width, **bars})
    ax.yaxis.set_major_locator(plt.matplotlib.ticker.MaxNLocator(integer=True))
    room = 0.2 * (edges[-1] - edges[0])
    if title is not None:
        kind = "name" if isinstance(feature, str) else "index"
        title = title.replace("@feature@", str(feature)).replace("@index/name@", kind)
    limits = xlim or (edges[0] - room, edges[-1] + room), ylim or (0, 1.1 * counts.max())
    frame(ax, (title, xlabel, ylabel), *limits, grid)
    return ax


def _histogram(model: Any, feature: int | str, bins: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return counts and edges of the thresholds on a column."""
    anatomy, booster = anatomy_of(model, "plot_split_value_histogram"), booster_of(model)
    schema = anatomy.columns.schema
    names = list(booster.feature_name() if isinstance(booster, LGBMBooster) else schema.names)
    known = names if isinstance(feature, str) else range(len(names))
    if feature not in known:
        raise ParameterError(
            f"the model has no column {feature!r}{did_you_mean(feature, names)}: give one of "
            f"{', '.join(names[:10])}, or an index from 0 to {len(names) - 1}"
        )
    f = names.index(feature) if isinstance(feature, str) else feature
    if schema.columns[f].kind == "categorical":
        raise ParameterError(f"Cannot plot split value histogram of {feature!r}, a category")
    counts, edges = cut_histogram(anatomy.all_trees(), f, bins)
    if not counts.any():
        raise ParameterError(
            f"Cannot plot split value histogram, because feature {feature} was not used in splitting"
        )
    return counts, edges
