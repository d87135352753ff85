"""Held-out rows, and how long to wait for their score to improve.

Three ways to choose them, kept apart because existing models must not change: `set_aside` keeps the
class proportions (Friedman's boosting, as scikit-learn does), `shuffled_rows` ignores them (coordinate
descent), `evenly_spaced` takes each class's rows at equal distances (C4.5).
"""

from __future__ import annotations

from collections import deque
from typing import Literal

import numpy as np

from arboretum.errors import DataError

__all__ = ["Patience", "evenly_spaced", "set_aside", "shuffled_rows"]


def set_aside(
    n: int, share: float, seed: int, labels: np.ndarray | None, w: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to learn from and the rows to measure by, ascending.

    The proportions of the classes are kept (``labels`` is None for numbers).

    Examples
    --------
    >>> learn, held = set_aside(10, 0.2, 0, None, None)
    >>> len(learn), len(held)
    (8, 2)
    """
    from sklearn.model_selection import train_test_split

    why = f"n_iter_no_change sets {share:g} of the {n} rows aside for early stopping (validation_fraction)"
    try:
        learn, held = train_test_split(
            np.arange(n), test_size=share, random_state=seed % 2**32, stratify=labels
        )
    except ValueError as error:
        raise DataError(f"{why}, and there are too few: {error}") from error
    if labels is not None and len(np.unique(labels[learn])) < len(np.unique(labels)):
        raise DataError(
            f"The training data after the early stopping split miss some classes. {why}: give more rows, or "
            "set aside fewer"
        )
    if w is not None and (not w[learn].any() or not w[held].any()):
        raise DataError(f"{why}, and all of these or all others have weight 0")
    return np.sort(learn), np.sort(held)


def shuffled_rows(n: int, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the training rows and the held-out rows (a share of all), ascending.

    >>> learn, held = shuffled_rows(10, 0.2, 0)
    >>> len(learn), len(held)
    (8, 2)
    """
    held = np.sort(np.random.default_rng(seed).permutation(n)[: round(share * n)])
    return np.setdiff1d(np.arange(n), held), held


def evenly_spaced(codes: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to grow on and those to prune on, at least one of each, with the classes in proportion.

    >>> grow, held = evenly_spaced(np.array([0, 0, 0, 1, 1, 1]), 1 / 3, 0)
    >>> len(grow), len(held)
    (4, 2)
    """
    order = np.random.default_rng(seed).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]  # class by class, shuffled within
    step = np.floor(np.arange(1, len(order) + 1) * share + 1e-9)
    held = np.diff(step, prepend=0.0) > 0  # rows are held out at equal distances
    if not held.any():
        held[-1] = True
    if held.all():
        held[0] = False
    return np.sort(order[~held]), np.sort(order[held])


class Patience:
    """Counts rounds without progress and reports when to stop.

    Parameters
    ----------
    rounds : int
        How many rounds to wait.
    least : float, default=0.0
        By how much a value must be better.
    larger_is_better : bool, default=False
    beats : "best" or "recent", default="best"
        What a value must be better than: the best so far, counting the rounds since that one
        (XGBoost, LightGBM, coordinate descent); or any of the last ``rounds`` values
        (Friedman's boosting, as scikit-learn does).

    Attributes
    ----------
    best : (int, float) or None
        The best round and its value.

    Examples
    --------
    >>> best, recent = Patience(2, 0.1), Patience(2, 0.1, beats="recent")
    >>> [best.has_ended(m, value) for m, value in enumerate((1.0, 0.8, 0.75, 0.74))]
    [False, False, False, True]
    >>> [recent.has_ended(m, value) for m, value in enumerate((1.0, 0.8, 0.85, 0.84))]
    [False, False, False, True]
    >>> best.best
    (1, 0.8)
    """

    def __init__(
        self,
        rounds: int,
        least: float = 0.0,
        *,
        larger_is_better: bool = False,
        beats: Literal["best", "recent"] = "best",
    ) -> None:
        self.rounds, self.least, self.larger_is_better = rounds, least, larger_is_better
        self.best: tuple[int, float] | None = None
        self._recent = deque([np.inf] * rounds, rounds) if beats == "recent" else None

    def has_ended(self, m: int, value: float) -> bool:
        """Take the value of round ``m``; return True to stop."""
        if self.best is None or self._is_better(value, self.best[1]):
            self.best = m, value
        if self._recent is not None:
            lags = not any(self._is_better(value, before) for before in self._recent)
            self._recent.append(value)
            return lags
        return m - self.best[0] >= self.rounds

    def _is_better(self, value: float, than: float) -> bool:
        if self.larger_is_better:
            return value > than + self.least
        return value < than - self.least
