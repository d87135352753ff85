"""Stopping early: rows set aside, and how long to wait for them to do better."""

from __future__ import annotations

import numpy as np

from arboretum.errors import DataError

__all__ = ["Patience", "set_aside"]


def set_aside(
    n: int, share: float, seed: int, codes: np.ndarray | None, w: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to learn from and the rows to judge by, ascending.

    Classes keep their shares (``codes`` is None for numbers).

    Examples
    --------
    >>> learn, judge = set_aside(10, 0.2, 0, None, None)
    >>> len(learn), len(judge)
    (8, 2)
    """
    from sklearn.model_selection import train_test_split

    why = f"n_iter_no_change sets {share:g} of the {n} rows aside to judge by (validation_fraction)"
    try:
        learn, judge = train_test_split(
            np.arange(n), test_size=share, random_state=seed % 2**32, stratify=codes
        )
    except ValueError as error:
        raise DataError(f"{why}, and there are too few: {error}") from error
    if codes is not None and len(np.unique(codes[learn])) < len(np.unique(codes)):
        raise DataError(
            f"{why}, and the rows left to learn from miss some classes: give more rows, or set "
            "aside fewer"
        )
    if w is not None and (not w[learn].any() or not w[judge].any()):
        raise DataError(f"{why}, and all of these or all others have weight 0")
    return np.sort(learn), np.sort(judge)


class Patience:
    """Counts the rounds without progress: stop when the score beats none of the last few by `tol`.

    Examples
    --------
    >>> patience = Patience(2, 0.1)
    >>> [patience.has_ended(score) for score in (1.0, 0.8, 0.75, 0.74)]
    [False, False, False, True]
    """

    def __init__(self, rounds: int, tol: float) -> None:
        self.last = [np.inf] * rounds
        self.tol = tol
        self.n = 0

    def has_ended(self, score: float) -> bool:
        """Take the score of a round (lower is better); tell whether to stop."""
        better = any(score + self.tol < before for before in self.last)
        if better:
            self.last[self.n % len(self.last)] = score
        self.n += 1
        return not better
