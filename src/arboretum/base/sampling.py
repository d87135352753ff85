"""Which rows a tree sees: bootstrap counts that depend on (seed, tree) alone.

    tree 0   rows 3 3 1 0 4   ->   counts 1 1 0 2 1    row 2 is out of bag

Draws come from a hash of (key, number of the draw), so nothing is stored: whoever asks for the counts
of tree 17, now or after loading the model, in any thread, gets the same. `Bootstrap.counts` is the one
place that answers: growing, out-of-bag answers, quantiles, variances, importances and proximities ask it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from arboretum.engine.keys import key_of
from arboretum.engine.random import draw_rows
from arboretum.errors import ModelFileError

__all__ = ["Bootstrap", "draw_counts", "growing_key", "n_draws", "tree_key"]

_BAG, _GROW = 0xBA6, 0x6120


def tree_key(seed: int, tree: int) -> int:
    """Return the key of one tree: all its random numbers come from it."""
    return key_of(seed, tree)


def growing_key(seed: int, tree: int) -> int:
    """Return the key of the draws a tree makes while it grows."""
    return key_of(seed, tree, _GROW)


def draw_counts(key: int, n: int, size: int) -> np.ndarray:
    """Return how often each of n rows is drawn in ``size`` draws with replacement.

    >>> counts = draw_counts(tree_key(1, 0), 10, 10)
    >>> int(counts.sum()), counts.dtype
    (10, dtype('float64'))
    """
    counts = np.zeros(n)
    draw_rows(np.uint64(key_of(key, _BAG)), size, counts)
    return counts


def n_draws(max_samples: int | float | None, n: int) -> int:
    """Return how many draws a bag makes: itself, a share of the rows, or as many as there are rows."""
    if max_samples is None:
        return n
    if isinstance(max_samples, (int, np.integer)):
        return int(max_samples)
    return max(round(n * max_samples), 1)


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """The bags of a forest: which rows each tree sees, and how often.

    Attributes
    ----------
    seed : int
    n_rows : int
    draws : int or None
        Size of a bag; None: every tree sees every row.
    weighing : int array or None
        The rows whose weight is not 0; None: all of them.
    """

    seed: int
    n_rows: int
    draws: int | None
    weighing: np.ndarray | None = None

    def counts(self, tree: int) -> np.ndarray:
        """Return how often every row is in the bag of a tree; 0 is out of bag.

        A bag that holds nothing but rows of weight 0 is drawn again, from the others.

        >>> Bootstrap(1, 6, draws=6).counts(0).sum(), Bootstrap(1, 3, draws=None).counts(0)
        (np.float64(6.0), array([1., 1., 1.]))
        >>> Bootstrap(1, 100, draws=5, weighing=np.array([17])).counts(0)[17]
        np.float64(5.0)
        """
        if self.draws is None:
            return np.ones(self.n_rows)
        key = tree_key(self.seed, tree)
        counts = draw_counts(key, self.n_rows, self.draws)
        if self.weighing is not None and not counts[self.weighing].any():
            counts = np.zeros(self.n_rows)
            counts[self.weighing] = draw_counts(key, len(self.weighing), self.draws)
        return counts

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bootstrap):
            return NotImplemented
        mine, theirs = dict(vars(self)), dict(vars(other))
        return np.array_equal(mine.pop("weighing"), theirs.pop("weighing")) and mine == theirs

    __hash__ = None  # type: ignore[assignment]

    # ------------------------------------------------------------------ keeping
    def to_state(self) -> dict[str, Any]:
        """Return the bags as plain values."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: Any) -> Bootstrap:
        """Build the bags from what `to_state` returned; any nonsense is a ModelFileError."""
        from arboretum.io.checked import whole

        n_rows, weighing = whole(state, "n_rows", 1), state["weighing"]
        draws = None if state["draws"] is None else whole(state, "draws", 1)
        good = draws is None or draws <= n_rows
        if weighing is not None:
            good &= isinstance(weighing, np.ndarray) and weighing.dtype == np.int64
            good = good and weighing.ndim == 1 and 0 < len(weighing) < n_rows
            good = good and bool(np.all(np.diff(weighing) > 0))
            good = good and weighing[0] >= 0 and weighing[-1] < n_rows
        if not good:
            raise ModelFileError("the bags of its trees do not fit its training rows")
        return cls(whole(state, "seed", 0), n_rows, draws, weighing)
