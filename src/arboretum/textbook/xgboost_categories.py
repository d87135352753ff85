"""Further reading: how XGBoost splits categories, one against the rest or by their order.

Few categories (fewer than ``max_cat_to_onehot``) are tried one against the rest, with the missing values
on either side. Many are put in order of the weight each would have as a leaf,

    w = -soft(G, α) / (H + λ),       0 if H < min_child_weight

and, as with numbers, only beginnings against ends of this order are tried. Missing values go with the end
on the way from the front, with the beginning on the way from the back; ``max_cat_threshold`` bounds how
far either way goes:

    from the front     A | B C D E + missing      A B | C D E + missing      …
    from the back      missing + A B C D | E      missing + A B C | D E      …

A category that no row of the node holds, or only rows of too little cover, has w = 0. It therefore stands
between those that lower the score and those that raise it, and a row that brings it later goes to the
side nearer to no change. (The program sends the beginning to the right; here it goes left.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["category_order", "category_partings"]

Parting = tuple[frozenset[float], str, np.ndarray]
"""The categories that go left, where missing values go, and (G, H) of the left side."""


def category_order(
    sums: ArrayLike, weight: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> list[int]:
    """Return the places of categories with sums (G, H) by the weight they would have, equals in order.

    >>> from arboretum.textbook.xgboost_splits import leaf_value
    >>> category_order([[-9.0, 2.0], [0, 0], [6.0, 2.0], [-40.0, 0.5]], leaf_value)
    [2, 1, 3, 0]
    """
    G, H = np.asarray(sums, dtype=np.float64).reshape(-1, 2).T
    return np.argsort(weight(G, H), kind="stable").tolist()


def category_partings(
    categories: np.ndarray,
    sums: np.ndarray,
    node: np.ndarray,
    order: list[int] | None,
    max_cat_threshold: int = 64,
) -> Iterator[Parting]:
    """Yield the partings of a column that are tried, in the program's order.

    Parameters
    ----------
    categories : array
        All that occur in the column, whether or not the node holds them.
    sums : array of shape (len(categories), 2)
        (G, H) of each of them in the node.
    node : array (2,)
        (G, H) of the node; what the categories do not add up to is missing.
    order : list or None
        Of the categories; None: one against the rest.

    Examples
    --------
    >>> sums = np.array([[4.0, 1], [-3, 1], [1, 1]])
    >>> for left, missing, total in category_partings(np.arange(3), sums, sums.sum(0), [0, 2, 1]):
    ...     print(sorted(left), missing, total)
    [0.0] right [4. 1.]
    [0.0, 2.0] right [5. 2.]
    [0.0, 2.0] left [5. 2.]
    [0.0] left [4. 1.]
    """
    values = [float(value) for value in categories]
    missing = node - sums.sum(axis=0)
    if order is None:
        for value, own in zip(values, sums):
            yield frozenset([value]), "right", own
            yield frozenset([value]), "left", own + missing
        return
    steps = range(1, min(max_cat_threshold, len(order)))
    for n in steps:
        front = order[:n]
        yield frozenset(values[c] for c in front), "right", sums[front].sum(axis=0)
    for n in steps:
        front, back = order[:-n], order[-n:]
        yield frozenset(values[c] for c in front), "left", node - sums[back].sum(axis=0)
