"""Two rows are near if the trees cannot tell them apart: proximities, and what can be seen in them.

    proximity_of_leaves   the share of the trees in which two rows end in the same leaf
    distance              1 - proximity
    mds_of_distances      coordinates to draw them
    class_outliers        rows far from everybody in their class
    class_prototypes      the rows in the middle of a class, and what is typical of them

            tree 1   tree 2   tree 3            row 0   row 1   row 2
    row 0   leaf 0   leaf 2   leaf 1             1      2/3      0
    row 1   leaf 0   leaf 2   leaf 0             2/3     1      1/3
    row 2   leaf 3   leaf 1   leaf 0              0     1/3      1

Missing values are guessed from the rows nearby, in filling.py. Leaves are arrays with the trees first
(``forest_leaves``), so those of any forest can be put in. All of it is Breiman's (2001, 2003).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "MDS",
    "Prototype",
    "class_outliers",
    "class_prototypes",
    "distance",
    "mds_of_distances",
    "mode",
    "proximity_counts",
    "proximity_of_leaves",
]


# ---------------------------------------------------------------------- proximities
def proximity_counts(
    leaves: ArrayLike, in_bag: ArrayLike | None = None, new: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return in how many trees two rows share a leaf, and how many trees were compared.

    Both are of shape (n, n), or (n_new, n) if new rows are compared with the training rows. See
    ``proximity`` for the parameters.

    >>> together, compared = proximity_counts([[0, 0, 3], [2, 2, 1], [1, 0, 0]])
    >>> together.tolist(), int(compared.min())
    ([[3, 2, 0], [2, 3, 1], [0, 1, 3]], 3)
    """
    leaves = np.asarray(leaves)
    others = leaves if new is None else np.asarray(new)
    away = np.ones(leaves.shape, dtype=bool) if in_bag is None else np.asarray(in_bag) == 0
    if leaves.ndim != 2 or away.shape != leaves.shape or len(others) != len(leaves):
        shapes = f"leaves {leaves.shape}, in_bag {away.shape} and new {others.shape}"
        raise ValueError(f"{shapes} need the same trees, one per row of the array")
    together = np.zeros((others.shape[1], leaves.shape[1]), dtype=np.int64)
    compared = np.zeros_like(together)
    away_too = away if new is None else np.ones(others.shape, dtype=bool)  # no tree saw a new row
    for leaf_of, mine, is_away, am_away in zip(leaves, others, away, away_too):
        both_away = am_away[:, None] & is_away[None, :]
        compared += both_away
        together += both_away & (mine[:, None] == leaf_of[None, :])
    return together, compared


def proximity_of_leaves(
    leaves: ArrayLike, in_bag: ArrayLike | None = None, new: ArrayLike | None = None
) -> np.ndarray:
    """Return the share of the trees in which two rows end in the same leaf.

    Parameters
    ----------
    leaves : array of shape (n_trees, n)
        The leaves of the training rows.
    in_bag : array of shape (n_trees, n), optional
        How often a tree drew a row. If given, two rows are compared only in trees that saw neither.
        A pair with no such tree has proximity 0; a row and itself always have 1.
    new : array of shape (n_trees, n_new), optional
        The leaves of new rows, to be compared with the training rows: a matrix (n_new, n).

    Examples
    --------
    >>> leaves = [[0, 0, 3], [2, 2, 1], [1, 0, 0]]
    >>> proximity_of_leaves(leaves).round(2).tolist()
    [[1.0, 0.67, 0.0], [0.67, 1.0, 0.33], [0.0, 0.33, 1.0]]
    >>> proximity_of_leaves(leaves, in_bag=[[0, 0, 1], [2, 0, 0], [0, 0, 1]]).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    together, compared = proximity_counts(leaves, in_bag, new)
    matrix = together / np.maximum(compared, 1)
    if new is None:
        np.fill_diagonal(matrix, 1.0)
    return matrix


def distance(proximities: ArrayLike) -> np.ndarray:
    """Return 1 - proximity.

    >>> distance([[1.0, 0.75], [0.75, 1.0]]).tolist()
    [[0.0, 0.25], [0.25, 0.0]]
    """
    return 1.0 - np.asarray(proximities, dtype=np.float64)


# ---------------------------------------------------------------------- a map
@dataclass(frozen=True, eq=False)
class MDS:
    """Coordinates that keep the distances as well as they can."""

    coordinates: np.ndarray  # (n, n_dimensions)
    eigenvalues: np.ndarray = field(repr=False)  # all n of them, the largest first

    @property
    def share(self) -> float:
        """How much of the spread the coordinates show (of the part that is Euclidean)."""
        spread = np.maximum(self.eigenvalues, 0)
        return float(spread[: self.coordinates.shape[1]].sum() / max(spread.sum(), 1e-300))


def mds_of_distances(distances: ArrayLike, n_dimensions: int = 2) -> MDS:
    """Return classical multidimensional scaling (Torgerson 1952).

    Squared distances, centred by rows and columns, are the inner products of the points looked for;
    their leading eigenvectors are the coordinates. The proximities of all trees are inner products
    themselves, so √(1 - proximity) are exact Euclidean distances: Breiman's map is
    ``mds_of_distances(np.sqrt(distance(P)))``; ``mds_of_distances(distance(P))`` is the one with
    distances 1 - P, which may bend a little.

    >>> found = mds_of_distances([[0, 3, 5], [3, 0, 4], [5, 4, 0]])
    >>> a, b, c = found.coordinates
    >>> [round(float(np.linalg.norm(p)), 9) for p in (a - b, a - c, b - c)]
    [3.0, 5.0, 4.0]
    """
    D = np.asarray(distances, dtype=np.float64)
    if D.ndim != 2 or D.shape[0] != D.shape[1] or not np.allclose(D, D.T):
        raise ValueError(f"mds needs a symmetric matrix of distances, got shape {D.shape}")
    if not 1 <= n_dimensions <= len(D):
        raise ValueError(f"n_dimensions must be 1 to {len(D)}, got {n_dimensions}")
    squares = D**2
    columns, rows = squares.mean(axis=0), squares.mean(axis=1, keepdims=True)
    products = -0.5 * (squares - columns - rows + squares.mean())
    eigenvalues, vectors = np.linalg.eigh(products)
    eigenvalues, vectors = eigenvalues[::-1], vectors[:, ::-1][:, :n_dimensions]
    # an eigenvector may point either way: let its largest entry be positive
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(n_dimensions)]
    lengths = np.sqrt(np.maximum(eigenvalues[:n_dimensions], 0))
    return MDS(vectors * np.where(largest < 0, -1, 1) * lengths, eigenvalues)


# ---------------------------------------------------------------------- the odd and the typical
def class_outliers(proximities: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return how far every row is from its own class: (scores, raw measures).

    The raw measure is n / Σ_k proximity_of_leaves(i, k)² over the rows k of the same class, i itself among
    them. Within each class the median is taken off and the median deviation divided by (the mean
    deviation if that is 0). A score above 10 is worth a look.

    >>> P = np.array([[1, 1, 1, 0.1], [1, 1, 0.5, 0.1], [1, 0.5, 1, 0.1], [0.1, 0.1, 0.1, 1]])
    >>> scores, raw = class_outliers(P, [0, 0, 0, 0])
    >>> raw.round(2).tolist(), scores.round(1).tolist()
    ([1.33, 1.77, 1.77, 3.88], [-2.0, 0.0, 0.0, 9.6])
    """
    P, y = np.asarray(proximities, dtype=np.float64), np.asarray(y)
    raw, scores = np.empty(len(y)), np.empty(len(y))
    for label in np.unique(y):
        inside = y == label
        raw[inside] = len(y) / np.sum(P[np.ix_(inside, inside)] ** 2, axis=1)
        off = raw[inside] - np.median(raw[inside])
        spread = np.median(np.abs(off)) or np.mean(np.abs(off)) or 1.0
        scores[inside] = off / spread
    return scores, raw


@dataclass(frozen=True, eq=False)
class Prototype:
    """The middle of a class."""

    label: int
    row: int  # the row with most class-mates around it
    mates: np.ndarray  # the class-mates among its k nearest rows, nearest first
    value: np.ndarray  # column by column: their median, or most frequent code
    low: np.ndarray  # and their quartiles (of codes: again the most frequent)
    high: np.ndarray


def class_prototypes(
    proximities: ArrayLike,
    X: ArrayLike,
    y: ArrayLike,
    k: int = 10,
    kinds: tuple[str, ...] | None = None,
    n_prototypes: int = 1,
) -> list[Prototype]:
    """Return what is typical of every class.

    For each class: the row of it with most class-mates among its ``k`` nearest other rows, and the
    medians of these mates (modes unless ``kinds`` is "numeric"). A further prototype of the
    class is looked for among the rows that the ones before leave over. Ties go to the larger sum of
    the mates' proximities, then to the lower row. A row without any mate is no prototype.

    >>> P = np.array([[1, 0.9, 0.8, 0], [0.9, 1, 0.2, 0], [0.8, 0.2, 1, 0.7], [0, 0, 0.7, 1]])
    >>> [found] = class_prototypes(P, [[1.0], [2.0], [4.0], [9.0]], [0, 0, 0, 0], k=2)
    >>> found.row, found.mates.tolist(), found.value.tolist()
    (0, [1, 2], [3.0])
    """
    P, X, y = np.asarray(proximities), np.asarray(X, dtype=np.float64), np.asarray(y)
    if not 1 <= k < len(y):
        raise ValueError(f"k must be 1 to {len(y) - 1} other rows, got {k}")
    found = []
    for label in np.unique(y).tolist():
        free = np.ones(len(y), dtype=bool)
        for _ in range(n_prototypes):
            best: tuple[tuple[int, float], int, np.ndarray] = (0, 0.0), -1, np.empty(0, np.int64)
            for row in np.flatnonzero(free & (y == label)).tolist():
                others = np.array([i for i in np.flatnonzero(free) if i != row], dtype=np.int64)
                nearest = others[np.argsort(-P[row, others], kind="stable")[:k]]
                mates = nearest[y[nearest] == label]
                merit = len(mates), round(float(P[row, mates].sum()), 12)
                best = max(best, (merit, row, mates), key=lambda choice: choice[0])
            _, row, mates = best
            if row < 0:
                break
            found.append(_prototype(label, row, mates, X, kinds))
            free[[row, *mates]] = False
    return found


def _prototype(
    label: int, row: int, mates: np.ndarray, X: np.ndarray, kinds: tuple[str, ...] | None
) -> Prototype:
    figures = np.full(
        (3, X.shape[1]), np.nan
    )  # low, median, high; NaN where all values are missing
    for column, kind in enumerate(kinds or ("numeric",) * X.shape[1]):
        x = X[mates, column]
        x = x[~np.isnan(x)]
        if len(x):
            quartiles = np.quantile(x, [0.25, 0.5, 0.75])
            figures[:, column] = quartiles if kind == "numeric" else mode(x)
    return Prototype(label, row, mates, figures[1], figures[0], figures[2])


def mode(x: ArrayLike) -> float:
    """Return the most frequent value, ties to the smallest.

    >>> mode([3.0, 1.0, 3.0, 1.0])
    1.0
    """
    values, counts = np.unique(np.asarray(x, dtype=np.float64), return_counts=True)
    return float(values[counts.argmax()])
