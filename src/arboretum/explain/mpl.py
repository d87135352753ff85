"""The only module that imports matplotlib, and the style of all charts."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from arboretum.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "GRID",
    "LINES",
    "QUIET",
    "TEXT",
    "axes_for",
    "frame",
    "require_pyplot",
    "tidy",
    "two_of",
]

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
    size: tuple[float, float] | None = (7.5, 4.6),
    *,
    dpi: float | None = None,
    layout: str = "constrained",
    title: str = "",
    loc: Literal["left", "center", "right"] = "center",
) -> Axes:
    """Return the given axes, or those of a new figure of ``size`` inches with this title."""
    plt = require_pyplot(caller)
    if ax is None:
        pair = None if size is None else two_of("figsize", size)
        _, ax = plt.subplots(figsize=pair, layout=layout, dpi=dpi)
        if title:
            ax.set_title(title, loc=loc)
    return ax


def two_of(name: str, given: Any) -> tuple[float, float]:
    """Return a pair of numbers that a user gives."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ParameterError(f"{name} must be a tuple of 2 elements. Got {given!r}")
    return given[0], given[1]


def frame(
    ax: Axes,
    texts: Sequence[str | None],
    xlim: tuple[float, float] | None,
    ylim: tuple[float, float] | None,
    grid: bool | None,
) -> None:
    """Write title, label of x and label of y, and set limits and grid, where they are not None."""
    for part, text in zip(("title", "xlabel", "ylabel"), texts, strict=True):
        if text is not None:
            ax.set(**{part: text})
    if xlim is not None:
        ax.set_xlim(two_of("xlim", xlim))
    if ylim is not None:
        ax.set_ylim(two_of("ylim", ylim))
    if grid is not None:
        ax.grid(grid)


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
