"""The budget of one page: bytes and nanoseconds of work, shared by all its panels.

    1,500,000 bytes ── style, scripts, panels ──► trees ──► figures of trees ──► worksheets

Work is estimated from counts (rows, leaves, columns), never timed: the same model and table give the same
page on every machine. A part that would cost too much is made smaller, and the page lists every omission.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

from arboretum.structure.tree import Tree

__all__ = ["PAGE_BYTES", "Budget", "packed_size"]

PAGE_BYTES = 1_500_000
_WORK = 24_000_000_000  # nanoseconds of one thread
_FEW_ROWS = 50  # that every part may use
_NEARLY_ALL = 0.8  # of the rows: from this share on, all of them are used
_SHAP_LEAF, _STEP = 0.4, 35  # nanoseconds: SHAP values per leaf and level; one step down a tree


def packed_size(value: Any) -> int:
    """Return about how many bytes a value takes in the page: JSON, compressed, in base64.

    >>> packed_size([0] * 1000) < packed_size(list(range(1000))) < 3000
    True
    """
    text = json.dumps(value, separators=(",", ":"))
    return -(-len(zlib.compress(text.encode(), 6)) * 4 // 3)


class Budget:
    """The bytes and the work that are left for the next panels; ``trees`` are all trees that predict.

    Attributes
    ----------
    work : float
        Nanoseconds.
    room : int
        Bytes for the trees and the worksheets.
    pages : int
        Targets that share one page.
    left_out : list of str
        A sentence for every part that was made smaller or left out.

    Examples
    --------
    >>> budget = Budget([])
    >>> budget.rows("curves", 2_000, per_row=1e9), budget.left_out
    (50, ['The curves are computed from 50 rows instead of 2,000.'])
    """

    def __init__(self, trees: list[Tree]) -> None:
        self.work: float = _WORK
        self.room, self.pages = PAGE_BYTES, 1
        self.left_out: list[str] = []
        self.shap_row = _SHAP_LEAF * sum(
            tree.n_leaves * tree.max_depth * tree.value[0].size for tree in trees
        )
        self.walk_row = _STEP * sum(tree.max_depth / 2 + 1 for tree in trees)

    def share(self, pages: int) -> None:
        """Divide the work between the targets of one page."""
        self.pages = pages
        self.work /= pages

    def rows(self, what: str, most: int, per_row: float) -> int:
        """Return how many rows a part may use: it gets at most half of the work that is left."""
        if per_row <= 0:
            return most
        n = int(max(_FEW_ROWS, self.work / 2 // per_row))
        n = n if n < _NEARLY_ALL * most else most
        self.work = max(self.work - n * per_row, 0.0)
        if n < most:
            self.left_out.append(f"The {what} are computed from {n:,} rows instead of {most:,}.")
        return n
