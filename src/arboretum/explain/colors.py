"""The colour of a node: that of its class, stronger in purer nodes, or that of its predicted number.

    classification      one hue per class, mixed with white where the two largest shares are close
    regression          a scale from pale yellow (small) over green to blue (large)
    several outputs     grey-blue, stronger in purer nodes

Plain arithmetic on RGB triples, so that Graphviz source can be written without matplotlib. All
fills are light enough for black text.
"""

from __future__ import annotations

import colorsys
from collections.abc import Iterable

import numpy as np

from arboretum.explain.labels import Labels
from arboretum.structure.tree import Tree

__all__ = ["CUT", "class_colors", "mixed_colors", "node_colors", "scale_color", "value_limits"]

RGB = tuple[float, float, float]

CUT = "#ececec"  # a folded branch

# The eight hues of Okabe and Ito, distinguishable with any kind of colour vision.
_CLASS_HUES = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d55e00",
    "#cc79a7",
    "#56b4e9",
    "#d9c916",
    "#8c8c8c",
)
_SCALE = ("#fff8dc", "#8fd0bd", "#4f9bc8")
_MIXED = "#7a94b8"
_GOLDEN = 0.618034  # steps of this part of the colour circle never come close to each other


def _from_hex(text: str) -> RGB:
    red, green, blue = (int(text[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def _to_hex(color: RGB) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in color)


def _mix(a: RGB, b: RGB, part: float) -> RGB:
    red, green, blue = (x + (y - x) * part for x, y in zip(a, b))
    return red, green, blue


def _tint(hue: RGB, strength: float) -> str:
    """Return a hue mixed with white; never quite white, never too dark for black text."""
    return _to_hex(_mix((1.0, 1.0, 1.0), hue, 0.04 + 0.46 * strength))


def _hues(n_classes: int) -> list[RGB]:
    hues = [_from_hex(text) for text in _CLASS_HUES[:n_classes]]
    for extra in range(n_classes - len(hues)):
        lightness = (0.42, 0.6)[extra % 2]
        hues.append(colorsys.hls_to_rgb((0.05 + _GOLDEN * extra) % 1.0, lightness, 0.55))
    return hues


def class_colors(n_classes: int) -> list[str]:
    """Return the colour of each class: stronger than any fill, so that it can be seen on a fill."""
    return [_to_hex(_mix((1.0, 1.0, 1.0), hue, 0.9)) for hue in _hues(n_classes)]


def mixed_colors(purity: Iterable[float]) -> list[str]:
    """Return colours that show purity (0 to 1) alone, for trees with several outputs."""
    return [_tint(_from_hex(_MIXED), float(part)) for part in purity]


def scale_color(part: float) -> str:
    """Return the colour of a number, given its place between the smallest (0) and largest (1)."""
    stops = [_from_hex(text) for text in _SCALE]
    place = part * (len(stops) - 1)
    low = min(int(place), len(stops) - 2)
    return _to_hex(_mix(stops[low], stops[low + 1], place - low))


def node_colors(labels: Labels) -> list[str]:
    """Return the fill of every node."""
    tree = labels.tree
    if tree.n_outputs > 1:
        return mixed_colors(1.0 - _unit(tree.impurity, 0.0, float(tree.impurity.max())))
    if labels.classes is None:
        low, high = value_limits(tree)
        values = tree.value[:, 0, 0] if labels.kind == "answers" else _means_below(tree)
        return [scale_color(float(p)) for p in _unit(values, low, high)]
    shares = tree.value[:, 0, : len(labels.classes[0])]
    hues = _hues(shares.shape[1])
    ordered = np.sort(shares, axis=1)
    lead = ordered[:, -1] - (ordered[:, -2] if shares.shape[1] > 1 else 0.0)
    return [_tint(hues[best], float(part)) for best, part in zip(shares.argmax(axis=1), lead)]


def _means_below(tree: Tree) -> np.ndarray:
    """Return the mean of the leaves below every node: the inner nodes of a booster have no value."""
    count = np.where(tree.is_leaf, tree.count, 0).astype(np.float64)
    total = count * tree.value[:, 0, 0]
    for node in range(len(tree) - 1, 0, -1):  # children come after their parents
        above = int(tree.parent[node])
        count[above] += count[node]
        total[above] += total[node]
    return np.where(count > 0, total / np.maximum(count, 1.0), tree.value[:, 0, 0])


def value_limits(tree: Tree) -> tuple[float, float]:
    """Return the predictions at the ends of the scale.

    The leaves with the 2 % smallest and 2 % largest predictions (by weight) may lie beyond them:
    otherwise one outlier would give all other leaves the same colour.
    """
    values = tree.value[tree.leaves, 0, 0]
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(tree.weight[tree.leaves][order])
    low, high = values[order][np.searchsorted(reached, reached[-1] * np.array([0.02, 0.98]))]
    if low < high:
        return float(low), float(high)
    return float(values.min()), float(values.max())


def _unit(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return the values scaled to 0..1; 0.5 if all are equal."""
    if not high > low:
        return np.full(len(values), 0.5)
    return np.clip((values - low) / (high - low), 0.0, 1.0)
