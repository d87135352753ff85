"""The only module that imports matplotlib, and the style of all charts."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["GRID", "LINES", "QUIET", "TEXT", "axes_for", "require_pyplot", "tidy"]

LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
QUIET, TEXT, GRID = "#5b6770", "#1d2329", "#e6e9ec"


def require_pyplot(caller: str) -> ModuleType:
    """Return `matplotlib.pyplot`, or raise an ImportError with the command that installs it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{caller} draws with matplotlib, which could not be imported: "
            "pip install arboretum-trees[plot]"
        ) from error
    return plt


def axes_for(
    caller: str,
    ax: Axes | None,
    size: tuple[float, float] = (7.5, 4.6),
    *,
    layout: str = "constrained",
    title: str = "",
    loc: Literal["left", "center", "right"] = "center",
) -> Axes:
    """Return the given axes, or those of a new figure of ``size`` inches with this title."""
    plt = require_pyplot(caller)
    if ax is None:
        _, ax = plt.subplots(figsize=size, layout=layout)
        if title:
            ax.set_title(title, loc=loc)
    return ax


def tidy(
    ax: Axes, grid: Literal["x", "y", "both"] = "y", hidden: tuple[str, ...] = ("top", "right")
) -> None:
    """Hide the frame lines without numbers, and draw a faint grid behind the data."""
    for side in hidden:
        ax.spines[side].set_visible(False)
    for label in [*ax.get_yticklabels(), *ax.get_xticklabels(), ax.xaxis.label]:
        label.set_parse_math(False)  # a name may contain dollar signs
    ax.grid(axis=grid, color=GRID, lw=0.8)
    ax.set_axisbelow(True)
