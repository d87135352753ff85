"""From a tree to boxes with positions: the part of a plot that can be computed before drawing.

All lengths are in *em*, the size of the font. The same drawing then fits any figure: only the size
of an em in points changes. y points upwards; the top of the root's box is the top of the drawing.

    +----------------+  ^
    | petal width ≤… |  | heading (bold), body, and for classes a strip of their shares
    | samples = 100  |  |
    +----------------+  v
         /      \\         one level gap, which holds the answer above each child
       yes      no

The layout is tidy for any width and any number of children: every subtree is laid out by itself and keeps
its outline: how far it reaches left and right on each of its levels. Subtrees of one parent are pushed
together until two outlines are `gap` apart on the level where they come closest, and the parent is centred
over its outer children. So no two boxes overlap, equal subtrees look equal, and a deep branch slides under
a shallow neighbour.

    packed from the left      [ A ] [b]       [ C ]       A and C reach out below,
    from the right            [ A ]       [b] [ C ]       b is a leaf between them
    the mean of both          [ A ]    [b]    [ C ]

Three or more children are packed from the left and from the right. Both keep all gaps, so
their mean does too, and small branches are centred in their space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from arboretum.explain.boxes import BoxStyle, box_text, visible_nodes
from arboretum.explain.labels import Labels

__all__ = [
    "ANSWER_LINE",
    "LINE",
    "STRIP",
    "Box",
    "Drawing",
    "draw_up",
    "fold",
    "text_ruler",
    "tidy",
]


# ---------------------------------------------------------------------- positions
Outline = list[tuple[float, float]]  # per level: left and right end, relative to the top box


def tidy(children: Sequence[Sequence[int]], width: Sequence[float], gap: float) -> np.ndarray:
    """Return the centre of every box; the leftmost edge is at 0.

    Parameters
    ----------
    children : list of lists of int
        Children of every node, left to right; a child's number is larger than its parent's.
    width : list of float
        Width of every box.
    gap : float
        Smallest distance between two boxes of one level.

    Examples
    --------
    >>> tidy([[1, 2], [], []], [10, 10, 10], gap=2)
    array([11.,  5., 17.])
    """
    offset = np.zeros(len(children))  # from the parent's centre
    outlines: list[Outline] = [[] for _ in children]
    for node in reversed(range(len(children))):
        half = width[node] / 2
        below: Outline = []
        kids = children[node]
        if kids:
            places = _pack([outlines[kid] for kid in kids], gap)
            middle = (places[0] + places[-1]) / 2
            for kid, place in zip(kids, places):
                offset[kid] = place - middle
                below = _merge(below, outlines[kid], place - middle)
                outlines[kid] = []  # no longer needed
        outlines[node] = [(-half, half), *below]
    x = offset
    for node in range(len(children)):
        for kid in children[node]:
            x[kid] += x[node]
    return x - min(left for left, _ in outlines[0])


def _pack(outlines: list[Outline], gap: float) -> list[float]:
    """Return the positions of sibling subtrees, as close together as their outlines allow."""
    left = _pack_left(outlines, gap)
    if len(outlines) <= 2:
        return left
    mirrored = [[(-b, -a) for a, b in outline] for outline in reversed(outlines)]
    right = [left[-1] - place for place in reversed(_pack_left(mirrored, gap))]
    return [(a + b) / 2 for a, b in zip(left, right)]


def _pack_left(outlines: list[Outline], gap: float) -> list[float]:
    places: list[float] = []
    done: Outline = []
    for outline in outlines:
        reach = [right + gap - left for (_, right), (left, _) in zip(done, outline)]
        places.append(max(reach, default=0.0))
        done = _merge(done, outline, places[-1])
    return places


def _merge(a: Outline, b: Outline, shift: float) -> Outline:
    """Return the outline of two neighbours: ``a`` and, to its right, ``b`` moved by ``shift``."""
    moved = [(left + shift, right + shift) for left, right in b]
    both = [(min(p[0], q[0]), max(p[1], q[1])) for p, q in zip(a, moved)]
    return both + a[len(b) :] + moved[len(a) :]


LINE = 1.3  # height of a line
ANSWER_LINE = 1.15  # height of a line of the smaller text on an edge
STRIP = 0.42  # height of the strip of class shares
_PADDING = 0.65  # inside a box
_SIBLING_GAP = 1.0
_LEVEL_GAP = 2.2  # and the answers
_LINE_WIDTH = 26  # characters; longer lines are folded
_BODY_WIDTH = 30  # wide enough for three shares of three decimals
_NARROW_WIDTH = 16  # for the leaves of a large tree
_MANY_LEAVES = 16
_ANSWER_WIDTH = 20
_SCREEN = 1.05  # on a screen, text is a little wider: letters start on whole pixels

Ruler = Callable[[str, bool], float]  # (text, bold) -> width in em


@dataclass
class Box:
    """One node of the drawing: its text, its size and the middle of its top edge."""

    node: int
    head: list[str]
    body: list[str]
    answer: list[str]  # text at the edge above
    folded: bool
    width: float
    height: float
    level: int
    empty: bool = False  # no case reached this leaf
    parent: int = -1  # index of the box above
    x: float = 0.0
    top: float = 0.0

    @property
    def bottom(self) -> float:
        return self.top - self.height

    @property
    def middle(self) -> float:
        return self.top - self.height / 2

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        return self.x + self.width / 2


@dataclass
class Drawing:
    """The boxes of a tree and the size of the whole; ``sideways`` grows from left to right."""

    boxes: list[Box]
    breadth: float  # across the levels
    level_size: list[float]  # of the highest (sideways: widest) box of each level
    level_gap: float
    answer_width: float
    sideways: bool = False

    @property
    def length(self) -> float:
        return sum(self.level_size) + self.level_gap * (len(self.level_size) - 1)

    @property
    def width(self) -> float:
        return self.length if self.sideways else self.breadth

    @property
    def height(self) -> float:
        return self.breadth if self.sideways else self.length

    def stretch(self, height: float) -> None:
        """Use more room between levels, up to three times as much, to reach ``height``."""
        gaps = 0 if self.sideways else len(self.level_size) - 1
        if gaps > 0 and height > self.height:
            self.level_gap += min((height - self.height) / gaps, 2 * self.level_gap)
        self.place_levels()

    def place_levels(self) -> None:
        """Place the boxes of one level at the same height; sideways, below each other."""
        before = np.cumsum([0.0, *(size + self.level_gap for size in self.level_size)])
        for box in self.boxes:
            if self.sideways:
                box.x = float(before[box.level]) + box.width / 2
            else:
                box.top = self.height - float(before[box.level])


def draw_up(
    labels: Labels,
    style: BoxStyle,
    max_depth: int | None,
    ruler: Ruler,
    strip: bool,
    sideways: bool = False,
) -> Drawing:
    """Return the drawing of a tree; ``strip`` leaves room for class shares in every box."""
    tree = labels.tree
    shown, hidden = visible_nodes(tree, max_depth)
    index = {node: i for i, node in enumerate(shown)}
    children: list[list[int]] = [[] for _ in shown]
    boxes = []
    narrow = int(tree.is_leaf[shown].sum()) > _MANY_LEAVES
    for i, node in enumerate(shown):
        width = _NARROW_WIDTH if narrow and tree.is_leaf[node] else _LINE_WIDTH
        box = _box(labels, style, node, hidden.get(node), width, ruler)
        box.height += STRIP if strip and not (box.folded or box.empty) else 0.0
        above = int(tree.parent[node])
        if above >= 0:
            box.parent = index[above]
            children[box.parent].append(i)
        boxes.append(box)
    answers = max(_widest(box.answer, False, ruler) for box in boxes) + 0.4
    answer_lines = max(len(box.answer) for box in boxes)
    spans = [max(b.width, _widest(b.answer, False, ruler) + 0.4) for b in boxes]
    if sideways:
        spans = [max(b.height, 2 * ANSWER_LINE * len(b.answer)) for b in boxes]
    places = [float(place) for place in tidy(children, spans, _SIBLING_GAP)]
    breadth = max(place + span / 2 for place, span in zip(places, spans))
    levels = [0.0] * (1 + max(box.level for box in boxes))
    for box, place in zip(boxes, places):
        size = box.width if sideways else box.height
        levels[box.level] = max(levels[box.level], size)
        box.x, box.top = place, breadth - place + box.height / 2
    gap = _LEVEL_GAP + (answers if sideways else ANSWER_LINE * answer_lines)
    drawing = Drawing(boxes, breadth, levels, gap, answers, sideways)
    drawing.place_levels()
    return drawing


def _box(
    labels: Labels, style: BoxStyle, node: int, hidden: int | None, width: int, ruler: Ruler
) -> Box:
    tree = labels.tree
    head, body = box_text(labels, node, style, hidden)
    head = [part for line in head for part in fold(line, width)]
    body = [part for line in body for part in fold(line, _BODY_WIDTH)]
    above = int(tree.parent[node])
    answer: list[str] = []
    if above >= 0:
        text = labels.answer(above, node - int(tree.first_child[above]), style.wording)
        answer = fold(text, _ANSWER_WIDTH)
    return Box(
        node=node,
        head=head,
        body=body,
        answer=answer,
        folded=hidden is not None,
        width=max(_widest(head, True, ruler), _widest(body, False, ruler)) + 2 * _PADDING,
        height=LINE * (len(head) + len(body)) + 2 * _PADDING,
        level=int(tree.depth[node]),
        empty=labels.is_empty(node),
    )


def _widest(lines: Sequence[str], bold: bool, ruler: Ruler) -> float:
    return max((ruler(line, bold) for line in lines), default=0.0)


# A line may break after a space, "_", "/" or a hyphen inside a word, but never between an operator and
# its number, nor within the "(3.4/0.4)" of C4.5.
_BREAKS = re.compile(r"(?<=[\s_/])(?<![<>=≤]\s)(?<!\d/)|(?<=[^\W\d]-)(?=\w|&)")


def fold(text: str, width: int, max_lines: int = 3) -> list[str]:
    """Break a long line into at most ``max_lines``; what does not fit ends in "…".

    >>> fold("mean_radius_of_the_nucleus ≤ 12.5", 20)
    ['mean_radius_of_the_', 'nucleus ≤ 12.5']
    """
    lines = [""]
    for word in _BREAKS.split(text):
        if lines[-1] and len(lines[-1]) + len(word.rstrip()) > width:
            lines.append("")
        lines[-1] += word
        while len(lines[-1].rstrip()) > width:  # a word longer than the line is cut hard
            lines[-1], rest = lines[-1][:width], lines[-1][width:]
            lines.append(rest)
    lines = [line.rstrip() for line in lines]
    if len(lines) > max_lines:
        lines = lines[:max_lines]
        lines[-1] = lines[-1][: width - 1] + "…"
    return lines


def text_ruler() -> Ruler:
    """Return a function that measures text in matplotlib's font, without drawing anything."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    paths = TextToPath()
    size = 20.0
    fonts = {bold: FontProperties(size=size, weight="bold" if bold else None) for bold in (0, 1)}
    known: dict[tuple[str, bool], float] = {}

    def width(text: str, bold: bool) -> float:
        key = (text, bold)
        if key not in known:
            exact = paths.get_text_width_height_descent(text, fonts[bold], False)[0] / size
            known[key] = _SCREEN * exact
        return known[key]

    return width
