"""A tree as a few short lists: some to compute predictions, some to draw.

Lists that belong to inner nodes or to leaves only have one entry for each of them, in the order of the nodes:

    k   "1020000"        kinds, one digit per node (0 leaf, 1 threshold, 2 subset, 3 multiway, 4 groups)
    f   [2, 0]           column of every inner node
    t   [2.45, null]     threshold of every inner node; null is +inf: is a value present?
    c   [1, 3]           first child of every inner node
    m   [1, 0]           child of a missing value; -1: down all branches, or (ID3) the row stops at the node
    b   [2, 3]           number of children; left out where all have two
    s   [null, [5]]      category sets as words of 32 bits, category maps; left out where there are none
    v   [...]            value of every leaf (or of every node, if rows may stop at inner nodes)
    a   surrogates       by inner node: [kind, column, threshold, reverse, set], best first
    q   shares           by node, where a missing value goes down all branches

Numbers used in predictions are written in full (Python's shortest form, which JavaScript reads back to the
same bits). Numbers that are only shown are rounded, and left out if the page has no room for them.

    n   rows of every node          i   impurity          g   gain of every inner node
    w   weight of every node, if it is not the number of rows
    d   value of every node, rounded, for its colour and its box
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.structure.tree import GROUPS, MULTIWAY, SUBSET, Tree

__all__ = ["code_of_tree", "figures_of_tree", "rounded", "whole"]

_DIGITS = 5


def code_of_tree(tree: Tree, added: np.ndarray, *, stops: bool = False) -> dict[str, Any]:
    """Return the lists from which the page computes the predictions of a tree.

    Parameters
    ----------
    tree : Tree
    added : float64 array of shape (nodes, k)
        The amount every node adds to the model's score.
    stops : bool
        A row may stop at an inner node, whose value is then the prediction.

    Examples
    --------
    >>> from arboretum import CARTRegressor
    >>> tree = CARTRegressor().fit([[0.0], [1.0]], [0.0, 2.0]).trees_[0]
    >>> code = code_of_tree(tree, tree.value[:, 0])
    >>> code["k"], code["f"], code["t"], code["v"]
    ('100', [0], [0.5], [0, 2])
    """
    inner = np.flatnonzero(~tree.is_leaf)
    answers = added if stops else added[tree.leaves]
    code: dict[str, Any] = {
        "k": "".join(map(str, tree.kind.tolist())),
        "f": tree.feature[inner].tolist(),
        "t": whole(tree.threshold[inner]),
        "c": tree.first_child[inner].tolist(),
        "m": tree.missing_child[inner].tolist(),
        "v": whole(answers.ravel()),
    }
    if np.any(tree.n_children[inner] != 2):
        code["b"] = tree.n_children[inner].tolist()
    if np.any(tree.bits_start[inner] >= 0):
        code["s"] = [
            _bits(tree, int(tree.kind[i]), int(tree.bits_start[i]), i) for i in inner.tolist()
        ]
    if stops:
        code["stops"] = 1
    elif tree.spreads:
        code["q"] = whole(tree.share)
    if tree.surrogates is not None:
        code["a"] = [_surrogates(tree, int(node)) for node in inner]
    return code


def figures_of_tree(tree: Tree) -> dict[str, Any]:
    """Return the lists that the page shows of a tree, rounded.

    >>> from arboretum import CARTRegressor
    >>> figures_of_tree(CARTRegressor().fit([[0.0], [1.0]], [0.0, 2.0]).trees_[0])["n"]
    [2, 1, 1]
    """
    figures: dict[str, Any] = {
        "n": rounded(tree.count, 9),
        "i": rounded(tree.impurity),
        "g": rounded(tree.gain[~tree.is_leaf]),
        "d": rounded(tree.value.reshape(len(tree), -1)),
    }
    if np.any(tree.weight != tree.count):
        figures["w"] = rounded(tree.weight, 7)
    return figures


def _bits(tree: Tree, kind: int, start: int, node: int) -> list[int] | None:
    """Return the set or map of a node."""
    if start < 0 or kind not in (SUBSET, GROUPS):
        return None
    return _words(tree, kind, start, int(tree.feature[node]))


def _words(tree: Tree, kind: int, start: int, feature: int) -> list[int]:
    size = len(tree.column(feature).categories or ())
    return tree.bits[start : start + (size if kind >= MULTIWAY else -(-size // 32))].tolist()


def _surrogates(tree: Tree, node: int) -> list[list[Any]]:
    assert tree.surrogates is not None
    s = tree.surrogates
    found = []
    for at in range(int(s.start[node]), int(s.start[node + 1])):
        kind, feature = int(s.kind[at]), int(s.feature[at])
        words = _words(tree, kind, int(s.bits_start[at]), feature) if kind == SUBSET else None
        found.append([kind, feature, *whole(s.threshold[at : at + 1]), int(s.reverse[at]), words])
    return found


def whole(values: np.ndarray) -> list[Any]:
    """Return numbers as they are: whole ones without ".0", NaN and infinity as null."""
    return [_shortest(v) for v in values.tolist()]


def _shortest(value: float) -> Any:
    if value != value or value in (np.inf, -np.inf):
        return None
    return int(value) if value == int(value) and abs(value) < 2**53 else value


def rounded(values: np.ndarray, digits: int = _DIGITS) -> list[Any]:
    """Return numbers with ``digits`` significant digits, as nested lists; NaN and infinity as null."""
    if values.ndim > 1:
        return [rounded(row, digits) for row in values]
    return whole(np.array([float(f"{v:.{digits}g}") for v in values.tolist()]))
