"""The candidates of one node of XGBoost: every cut of every column, both ways for missing values.

A tree answers b_j in leaf j. Up to a constant, the loss it leaves is by Taylor's second order

    Σ_j [ G_j·b_j + ½·(H_j + λ)·b_j² + α·|b_j| + γ ],      G_j = Σ g_i,  H_j = Σ h_i  over leaf j

and a parabola is lowest at

    leaf value     b* = -soft(G, α) / (H + λ),             soft(G, α) = sign(G)·max(|G| - α, 0)
    similarity     soft(G, α)² / (H + λ)                   twice what b* saves
    gain           similarity left + similarity right - similarity of the node
    cover          H, at least ``min_child_weight`` on either side

The square is of the sum: gradients that disagree cancel, which is what makes a node *similar*.
Gains are on the program's scale, without the ½ of the paper's formula: γ of the program is
compared with the gain as written here, and is twice the γ of the formula on top.

Missing values have no place in the order. What is summed up from below are the present entries; the
missing get what is left of the node's totals, and are tried on both sides of every cut:

    x < cut        left  = present below             right = node - left       missing go right
                   right = present from there on     left  = node - right      missing go left

Categories are split by sets instead of cuts: see xgboost_categories.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.xgboost_categories import category_order, category_partings

__all__ = [
    "XGBCandidate",
    "XGBSettings",
    "choose_split",
    "column_candidates",
    "cut_candidates",
    "leaf_value",
    "similarity",
    "soft_threshold",
    "split_candidates",
    "split_table",
    "xgb_category_candidates",
]

TIE = 1e-12  # gains closer than this share of the similarities they are made of are equal
LEAST_GAIN = 1e-6  # the program's: a smaller gain is taken for rounding


@dataclass(frozen=True)
class XGBSettings:
    """How to grow; names and defaults are the program's."""

    max_depth: int = 6
    reg_lambda: float = 1.0
    reg_alpha: float = 0.0
    gamma: float = 0.0
    min_child_weight: float = 1.0
    max_delta_step: float = 0.0  # the largest |leaf value|; 0: any
    max_cat_to_onehot: int = 4  # fewer categories are tried one against the rest
    max_cat_threshold: int = 64  # how far the order of categories is gone along


DEFAULT = XGBSettings()


# ---------------------------------------------------------------------- figures of a set of rows
def soft_threshold(G: ArrayLike, alpha: float) -> np.ndarray:
    """Return sign(G)·max(|G| - α, 0): the pull of a set of rows, less what α holds back.

    >>> soft_threshold([-5.0, 1.0, 3.0], 2.0).tolist()
    [-3.0, 0.0, 1.0]
    """
    G = np.asarray(G, dtype=np.float64)
    if alpha == 0:
        return G
    return np.sign(G) * np.maximum(np.abs(G) - alpha, 0.0)


def leaf_value(G: ArrayLike, H: ArrayLike, settings: XGBSettings = DEFAULT) -> np.ndarray:
    """Return -soft(G, α)/(H + λ), at most ``max_delta_step`` in size if that is set.

    A set of rows whose cover is 0 or less than ``min_child_weight`` answers 0.

    >>> leaf_value([-14.0, 14.0], [3.0, 0.5]).tolist()
    [3.5, 0.0]
    """
    G, H = np.asarray(G, dtype=np.float64), np.asarray(H, dtype=np.float64)
    enough = _enough(H, settings)
    curvature = np.where(enough, H + settings.reg_lambda, 1.0)
    value = np.where(enough, -soft_threshold(G, settings.reg_alpha) / curvature, 0.0) + 0.0
    limit = settings.max_delta_step
    return np.clip(value, -limit, limit) if limit else value


def similarity(G: ArrayLike, H: ArrayLike, settings: XGBSettings = DEFAULT) -> np.ndarray:
    """Return twice what the leaf value saves: soft(G, α)²/(H + λ) unless the value is limited.

    With ``max_delta_step`` the leaf may not stand at the bottom b* of its parabola. At any b

        -2·(G·b + ½·(H + λ)·b² + α·|b|)

    which is the formula above for b = b*. (With α and a limit at once the program leaves out α here,
    so its gains are larger.)

    Examples
    --------
    λ = 1 halves the similarity of one residual, and takes a fifth of that of four:

    >>> without, one = XGBSettings(reg_lambda=0.0), XGBSettings(reg_lambda=1.0)
    >>> [float(similarity(-6.0, 1.0, s)) for s in (without, one)]
    [36.0, 18.0]
    >>> [float(similarity(-24.0, 4.0, s) / similarity(-24.0, 4.0, without)) for s in (without, one)]
    [1.0, 0.8]
    """
    G, H = np.asarray(G, dtype=np.float64), np.asarray(H, dtype=np.float64)
    if settings.max_delta_step:
        b = leaf_value(G, H, settings)
        spent = (H + settings.reg_lambda) * b**2 + 2 * settings.reg_alpha * np.abs(b)
        return -(2 * G * b + spent) + 0.0
    enough = _enough(H, settings)
    curvature = np.where(enough, H + settings.reg_lambda, 1.0)
    return np.where(enough, soft_threshold(G, settings.reg_alpha) ** 2 / curvature, 0.0)


def _enough(cover: np.ndarray, settings: XGBSettings) -> np.ndarray:
    return (cover > 0) & (cover >= settings.min_child_weight)


# ---------------------------------------------------------------------- candidates
@dataclass(frozen=True)
class XGBCandidate:
    """A question ``x < cut``, or whether x is in a set, and all the figures it is judged by."""

    feature: int
    cut: float
    default: str  # where missing values go: "left" or "right"
    G_left: float
    H_left: float  # the cover
    G_right: float
    H_right: float
    similarity_left: float
    similarity_right: float
    similarity_node: float
    gain: float
    admissible: bool  # both covers suffice and something is gained
    categories: frozenset[float] | None = None  # these go left; None: a number, which is cut

    @property
    def question(self) -> str:
        """The test of a row; yes goes left."""
        if self.categories is None:
            return f"x{self.feature} < {self.cut:.6g}"
        return f"x{self.feature} in {{{', '.join(f'{c:.6g}' for c in sorted(self.categories))}}}"

    def left(self, x: np.ndarray) -> np.ndarray:
        """Return which values go left."""
        below = x < self.cut if self.categories is None else np.isin(x, sorted(self.categories))
        return np.where(np.isnan(x), self.default == "left", below)


def column_candidates(
    x: ArrayLike,
    g: ArrayLike,
    h: ArrayLike,
    settings: XGBSettings = DEFAULT,
    feature: int = 0,
    proposed: ArrayLike | None = None,
) -> list[XGBCandidate]:
    """Return every cut of one column, in order; where values are missing, both ways for each.

    Cuts lie half way between neighbouring values, or where ``proposed`` puts them (see
    xgboost_approximate.py). Where values are missing, the last candidate parts
    them from all present ones, which go left; its cut is that of the program: the largest value,
    plus its size, plus a millionth. With nothing missing in the node, missing values would go left.

    Examples
    --------
    >>> for c in column_candidates([1.0, 2.0, np.nan, 4.0], [-3, -2, 4, 5], [1, 1, 1, 1]):
    ...     print(f"x < {c.cut:.1f}, missing {c.default:5} {c.G_left:4} | {c.G_right:4} {c.gain:7.3f}")
    x < 1.5, missing right -3.0 |  7.0  13.550
    x < 1.5, missing left   1.0 |  3.0   0.133
    x < 3.0, missing right -5.0 |  9.0  32.133
    x < 3.0, missing left  -1.0 |  5.0   9.550
    x < 8.0, missing right  0.0 |  4.0   4.800
    """
    x, g, h = (np.asarray(a, dtype=np.float64) for a in (x, g, h))
    if not x.shape == g.shape == h.shape or x.ndim != 1:
        raise ValueError(
            f"x, g and h must be equally long columns, got {x.shape, g.shape, h.shape}"
        )
    present = ~np.isnan(x)
    values, place = np.unique(x[present], return_inverse=True)
    sums = np.column_stack([np.bincount(place, a[present], len(values)) for a in (g, h)])
    node = np.array([g.sum(), h.sum()])
    return cut_candidates(values, sums, node, not present.all(), settings, feature, proposed)


def cut_candidates(
    values: np.ndarray,
    sums: np.ndarray,
    node: np.ndarray,
    missing: bool,
    settings: XGBSettings = DEFAULT,
    feature: int = 0,
    proposed: ArrayLike | None = None,
) -> list[XGBCandidate]:
    """Return the candidates of one column from its values in order and their sums (G, H).

    Parameters
    ----------
    values : array of shape (n_values,), rising
    sums : array of shape (n_values, 2)
    node : array of shape (2,), the sums of all rows, those without a value among them
    missing : whether there are such rows

    Examples
    --------
    >>> sums, node = np.array([[-3.0, 1.0], [2.0, 1.0]]), np.array([-1.0, 2.0])
    >>> [(c.cut, round(c.gain, 3)) for c in cut_candidates(np.array([1.0, 4.0]), sums, node, False)]
    [(2.5, 6.167)]
    """
    below = np.cumsum(sums, axis=0)  # (G, H) of the present entries up to and with each value
    cuts, last = _middles(values), np.arange(len(values) - 1)  # last: the value just below each cut
    if proposed is not None:
        cuts = np.asarray(proposed, dtype=np.float64)
        last = np.searchsorted(values, cuts) - 1
        inside = (last >= 0) & (last < len(values) - 1)
        cuts, last = cuts[inside], last[inside]
    table = []
    for cut, left in zip(cuts, below[last]):
        if missing:
            table.append(_judge(feature, cut, "right", left, node - left, settings))
        above = below[-1] - left
        table.append(_judge(feature, cut, "left", node - above, above, settings))
    if missing and len(values):
        beyond = values[-1] + abs(values[-1]) + 1e-6
        table.append(_judge(feature, beyond, "right", below[-1], node - below[-1], settings))
    return table


def xgb_category_candidates(
    x: ArrayLike,
    g: ArrayLike,
    h: ArrayLike,
    categories: ArrayLike,
    settings: XGBSettings = DEFAULT,
    feature: int = 0,
) -> list[XGBCandidate]:
    """Return the partings of a column of categories, in the order they are tried.

    ``categories`` are all of the column, whether or not these rows hold them.

    Examples
    --------
    The third category is not here: it joins the side nearer to no change.

    >>> rules = XGBSettings(max_cat_to_onehot=1)
    >>> x, g = [0, 0, 1, 1, 3, 3], [-8.0, -8, -1, -1, 6, 6]
    >>> best = choose_split(xgb_category_candidates(x, g, np.ones(6), range(4), rules))
    >>> sorted(best.categories), best.G_left, best.G_right
    ([3.0], 12.0, -18.0)
    """
    x, g, h = (np.asarray(a, dtype=np.float64) for a in (x, g, h))
    values = np.asarray(categories, dtype=np.float64)
    present = ~np.isnan(x)
    place = np.searchsorted(values, x[present])
    sums = np.column_stack([np.bincount(place, a[present], len(values)) for a in (g, h)])
    node = np.array([g.sum(), h.sum()])
    order = None
    if len(values) >= settings.max_cat_to_onehot:
        order = category_order(sums, lambda G, H: leaf_value(G, H, settings))
    partings = category_partings(values, sums, node, order, settings.max_cat_threshold)
    return [
        replace(_judge(feature, np.nan, default, left, node - left, settings), categories=chosen)
        for chosen, default, left in partings
    ]


def _middles(values: np.ndarray) -> np.ndarray:
    middles = values[:-1] / 2 + values[1:] / 2  # halves first: the sum may overflow
    return np.where(middles > values[:-1], middles, values[1:])  # neighbours may have none between


def _judge(
    feature: int,
    cut: float,
    default: str,
    left: np.ndarray,
    right: np.ndarray,
    settings: XGBSettings,
) -> XGBCandidate:
    G, H = np.array([left, right, left + right]).T
    scores = similarity(G, H, settings)
    gain = float(scores[0] + scores[1] - scores[2])
    return XGBCandidate(
        feature=feature,
        cut=float(cut),
        default=default,
        G_left=float(G[0]),
        H_left=float(H[0]),
        G_right=float(G[1]),
        H_right=float(H[1]),
        similarity_left=float(scores[0]),
        similarity_right=float(scores[1]),
        similarity_node=float(scores[2]),
        gain=gain,
        admissible=bool(_enough(H[:2], settings).all()) and gain > LEAST_GAIN,
    )


def split_candidates(
    X: ArrayLike,
    g: ArrayLike,
    h: ArrayLike,
    settings: XGBSettings = DEFAULT,
    categories: Mapping[int, np.ndarray] | None = None,
) -> list[XGBCandidate]:
    """Return the candidates of all columns, in the order of the columns.

    ``categories`` has the categories of every column that holds some.

    >>> [(c.feature, c.cut) for c in split_candidates([[1, 5], [2, 5], [3, 6]], [-1, 0, 1], [1] * 3)]
    [(0, 1.5), (0, 2.5), (1, 5.5)]
    """
    X = np.asarray(X, dtype=np.float64)
    sets = categories or {}
    columns = (
        xgb_category_candidates(x, g, h, sets[f], settings, f)
        if f in sets
        else column_candidates(x, g, h, settings, f)
        for f, x in enumerate(X.T)
    )
    return [candidate for column in columns for candidate in column]


def choose_split(candidates: Sequence[XGBCandidate]) -> XGBCandidate | None:
    """Return the admissible candidate of largest gain; of equals the first feature, smallest cut.

    >>> table = split_candidates([[1, 1], [2, 2], [3, 3]], [-1, 0, 1], [1] * 3, DEFAULT)
    >>> best = choose_split(table)
    >>> best.feature, best.cut, round(best.gain, 3)
    (0, 1.5, 0.833)
    """
    able = [c for c in candidates if c.admissible]
    if not able:
        return None
    best = max(able, key=lambda c: c.gain)
    room = TIE * (best.similarity_left + best.similarity_right + best.similarity_node)
    return next(c for c in able if c.gain >= best.gain - room)


def split_table(candidates: Sequence[XGBCandidate]) -> str:
    """Return the candidates as a table to read: one line each, the best one marked.

    >>> print(split_table(split_candidates([[1.0], [2.0], [3.0]], [-4, -2, 6], [1] * 3)))
    question     missing   G left  cover    sim.  G right  cover    sim.    gain
    x0 < 1.5        left   -4.000  1.000   8.000    4.000  2.000   5.333  13.333
    x0 < 2.5        left   -6.000  2.000  12.000    6.000  1.000  18.000  30.000 *
    """
    side = f"{'cover':>7} {'sim.':>7}"
    lines = [f"{'question':12} {'missing':>7} {'G left':>8}{side} {'G right':>8}{side} {'gain':>7}"]
    best = choose_split(candidates)
    for c in candidates:
        left = f"{c.G_left:8.3f}{c.H_left:7.3f} {c.similarity_left:7.3f}"
        right = f"{c.G_right:8.3f}{c.H_right:7.3f} {c.similarity_right:7.3f}"
        question = c.question
        mark = " *" if c is best else ""
        lines.append(f"{question:12} {c.default:>7} {left} {right} {c.gain:7.3f}{mark}")
    return "\n".join(lines)
