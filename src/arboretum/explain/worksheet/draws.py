"""What a node drew, drawn again: random numbers are hashes of (seed, tree, node), so nothing has to be kept.

    key of a tree ──side──► key of a child ──side──► …        the way from the root, 0 left and 1 right
    key of a node ──► the order in which columns are visited
                 └──► a threshold per column, a coin per category          (random splits)

These are the rules of engine/random.py and engine/depth_first/ once more, in plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from arboretum.engine.keys import key_of
from arboretum.textbook.questions import Question

__all__ = ["columns_visited", "drawn_question", "node_key"]

_ORDER = 0xFEA7  # what the order of columns is keyed by


def node_key(root: int, sides: Iterable[int]) -> int:
    """Return the key of the node at the end of a way from the root."""
    return key_of(root, *sides)


def _uniform(key: int) -> float:
    return (key >> 11) * (1.0 / (1 << 53))


def columns_visited(
    key: int, n_columns: int, max_features: int, varies: Callable[[int], bool]
) -> list[int]:
    """Return the columns a node looks at: ``max_features``, and more until one of them is not constant.

    >>> len(columns_visited(7, 5, 2, lambda f: True)), sorted(columns_visited(7, 3, 1, lambda f: False))
    (2, [0, 1, 2])
    """
    order, shuffle = list(range(n_columns)), key_of(key, _ORDER)
    visited: list[int] = []
    varied = False
    for turn in range(n_columns):
        if turn >= max_features and varied:
            break
        other = turn + int(_uniform(key_of(shuffle, turn)) * (n_columns - turn))
        order[turn], order[other] = order[other], order[turn]
        visited.append(order[turn])
        varied |= varies(order[turn])
    return visited


def drawn_question(key: int, feature: int, x: np.ndarray, kind: str) -> Question | None:
    """Return the one question that a random split puts to a column; None if its present values are equal.

    >>> question = drawn_question(7, 0, np.array([0.0, 10.0, np.nan]), "numeric")
    >>> 0 <= question.threshold < 10
    True
    """
    mine, values = key_of(key, feature), np.unique(x[~np.isnan(x)])
    if len(values) < 2:
        return None
    if kind != "categorical":
        u, low, high = _uniform(key_of(mine, 0)), float(values[0]), float(values[-1])
        cut = low * (1.0 - u) + high * u
        cut = low if cut >= high else cut
        return Question(feature, "threshold", float(np.floor(cut)) if kind == "ordinal" else cut)
    codes = values.astype(int).tolist()
    left = {c for c in codes if key_of(mine, c // 64 + 2) >> (c % 64) & 1}
    if len(left) in (0, len(codes)):  # all coins fell alike: the lowest code goes left alone
        left = {codes[0]}
    return Question(feature, "subset", np.nan, frozenset(left), frozenset(codes) - left)
