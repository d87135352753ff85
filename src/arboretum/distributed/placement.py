"""Which worker gets which pieces of a table: those it has already, else consecutive ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["share_out"]

_MOST = 1.5  # times an equal share: beyond it, pieces that a worker has move to others


def share_out(
    n_pieces: int, workers: Sequence[str], homes: Sequence[str | None] = ()
) -> list[tuple[int, ...]]:
    """Return the pieces of every worker, in order.

    Parameters
    ----------
    n_pieces : int
    workers : list of str
    homes : list of str or None, optional
        The worker that has each piece.

    Examples
    --------
    >>> share_out(5, ["a", "b", "c"])
    [(0, 1), (2, 3), (4,)]
    >>> share_out(5, ["a", "b", "c"], ["b", "a", "b", None, "b"])
    [(1,), (0, 2, 4), (3,)]
    """
    if not any(home in workers for home in homes):
        parts = np.array_split(np.arange(n_pieces), len(workers))
        return [tuple(part.tolist()) for part in parts]
    most = int(np.ceil(_MOST * n_pieces / len(workers)))
    shares: dict[str, list[int]] = {worker: [] for worker in workers}
    others = []
    for piece, home in enumerate(homes):
        if home in shares and len(shares[home]) < most:
            shares[home].append(piece)
        else:
            others.append(piece)
    for piece in others:
        min(shares.values(), key=len).append(piece)
    return [tuple(sorted(share)) for share in shares.values()]
