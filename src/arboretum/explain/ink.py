"""The ink of a tree's picture: boxes, edges and strips of class shares on axes of matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arboretum.explain.colors import CUT, class_colors, node_colors
from arboretum.explain.drawing import ANSWER_LINE, LINE, STRIP, Box, Drawing
from arboretum.explain.labels import Labels
from arboretum.explain.look import HIGHLIGHT, TreeLook
from arboretum.explain.mpl import QUIET, TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_tree"]

_FAINT_COLOR = "#c3cad0"  # a leaf without cases, and its edge
_EDGE_COLOR = "#a9b2ba"
_CENTRED: dict[str, Any] = {"ha": "center", "va": "center", "parse_math": False}


def draw_tree(
    ax: Axes,
    em: float,
    labels: Labels,
    drawing: Drawing,
    look: TreeLook,
    *,
    filled: bool,
    rounded: bool,
    shares: bool,
) -> None:
    """Draw the edges and boxes of a drawing; an em has this many points."""
    colors = node_colors(labels) if filled else None
    total = float(labels.tree.weight[0])
    for box in drawing.boxes:
        if box.parent >= 0:
            part = float(labels.tree.weight[box.node]) / total if total > 0 else 0.0
            color = look.edge(labels.tree, box.node)
            _draw_edge(ax, em, drawing, box, part, color)
    for box in drawing.boxes:
        fill = "white"
        if box.folded:
            fill = CUT
        elif colors is not None and not box.empty:
            fill = colors[box.node]
        _draw_box(ax, em, box, fill, rounded, look.box(labels.tree, box.node))
        if shares and not (box.folded or box.empty):
            _draw_shares(ax, labels, box)


def _draw_edge(
    ax: Axes, em: float, drawing: Drawing, box: Box, part: float, color: str | None
) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    above, lines = drawing.boxes[box.parent], len(box.answer)
    if drawing.sideways:  # an S-curve to where the answer begins, and a line below the answer
        start, end = (above.right, above.middle), (box.left, box.middle)
        bend = (end[0] - drawing.answer_width, end[1])
        middle = (start[0] + bend[0]) / 2
        points = [start, (middle, start[1]), (middle, bend[1]), bend, end]
        place = ((bend[0] + end[0]) / 2, end[1] + 0.15)
    else:
        # An S-curve that leaves and arrives upright, with the answer between its end and the box.
        start, end = (above.x, above.bottom), (box.x, box.top + ANSWER_LINE * lines + 0.25)
        middle = (start[1] + end[1]) / 2
        points = [start, (start[0], middle), (end[0], middle), end]
        place = (box.x, box.top + 0.1)
    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4, Path.LINETO][: len(points)]
    look: dict[str, Any] = {"edgecolor": color or (_FAINT_COLOR if box.empty else _EDGE_COLOR)}
    look |= {"ls": "--"} if box.empty else {}
    width = em / 9 * (0.8 + 4.0 * part)
    ax.add_patch(PathPatch(Path(points, codes), fill=False, linewidth=width, zorder=1, **look))
    for i, line in enumerate(reversed(box.answer)):
        x, y = place[0], place[1] + ANSWER_LINE * (i + 0.5)
        ax.text(x, y, line, fontsize=0.9 * em, color=QUIET, zorder=2, **_CENTRED)


def _draw_box(
    ax: Axes, em: float, box: Box, fill: str, rounded: bool, given: dict[str, Any]
) -> None:
    from matplotlib.patches import FancyBboxPatch

    shape = "round,pad=0,rounding_size=0.55" if rounded else "square,pad=0"
    edge = given.get("color", _FAINT_COLOR if box.empty else QUIET)
    look = {"facecolor": given.get("fillcolor", fill), "edgecolor": edge, "zorder": 3}
    look |= {"ls": "--" if box.empty else "-", "lw": (0.2 if edge == HIGHLIGHT else 0.08) * em}
    place = (box.left, box.bottom)
    ax.add_patch(FancyBboxPatch(place, box.width, box.height, boxstyle=shape, **look))
    y = box.top - 0.65 - LINE / 2
    color = given.get("fontcolor", QUIET if box.empty else TEXT)
    for lines, weight in ((box.head, "normal" if box.empty else "bold"), (box.body, "normal")):
        for line in lines:
            ax.text(
                box.x, y, line, fontsize=em, fontweight=weight, color=color, zorder=5, **_CENTRED
            )
            y -= LINE


def _draw_shares(ax: Axes, labels: Labels, box: Box) -> None:
    """Draw the strip of class shares at the foot of a box."""
    from matplotlib.patches import Rectangle

    share = labels.shares(box.node)[0]
    width = box.width - 1.3
    x = box.x - width / 2
    for color, part in zip(class_colors(len(share)), share):
        if part > 0:
            size = (width * float(part), STRIP)
            ax.add_patch(Rectangle((x, box.bottom + 0.4), *size, color=color, lw=0, zorder=4))
            x += size[0]
