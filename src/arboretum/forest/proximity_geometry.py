"""Pictures and figures from proximities: maps, the order of a heat map, outliers and prototypes.

    mds               coordinates for a map of the rows
    order_rows        similar rows side by side, class by class: for a heat map
    outlier_scores    rows far from all others of their class
    prototypes        the row in the middle of a class, and the values typical around it

All take the dense and the sparse form of `proximity`. They follow Breiman (2003).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.errors import DataError, ParameterError

if TYPE_CHECKING:
    from arboretum.forest.estimator import Forest

__all__ = ["MDS", "Prototype", "mds", "order_rows", "outlier_scores", "prototypes"]


# ---------------------------------------------------------------------- a map
@dataclass(frozen=True, eq=False)
class MDS:
    """Coordinates that reproduce the distances as well as possible."""

    coordinates: np.ndarray  # (n, n_dimensions)
    eigenvalues: np.ndarray  # of the dimensions shown, the largest first
    share: float  # share of the variance of all rows that these dimensions show


def mds(proximities: Any, n_dimensions: int = 2) -> MDS:
    """Return classical multidimensional scaling of the distances √(1 - proximity).

    The proximities of all trees are inner products of leaf indicators, so that these distances are
    exact ones of Euclidean space; out-of-bag proximities and those of the nearest rows are only
    approximations. A sparse matrix is never made dense: entries it does not hold count as 0.

    Examples
    --------
    >>> P = np.array([[1, 0.9, 0.1], [0.9, 1, 0.1], [0.1, 0.1, 1]])
    >>> found = mds(P)
    >>> bool(abs(found.coordinates[0, 0] - found.coordinates[2, 0]) > 0.9)
    True
    """
    P = _square(proximities)
    n = P.shape[0]
    if not 1 <= n_dimensions <= n:
        raise ParameterError(f"n_dimensions must be from 1 to {n}, got {n_dimensions!r}")
    if _is_sparse(P):
        P = P.maximum(P.T)
    mean = np.asarray(P.mean(axis=1)).ravel()
    trace = 0.5 * (P.diagonal().sum() - n * mean.mean())
    if not _is_sparse(P) and n <= 1000:
        values, vectors = np.linalg.eigh(0.5 * (P - mean - mean[:, None] + mean.mean()))
    else:
        values, vectors = _leading(P, n_dimensions)
    values, vectors = values[::-1][:n_dimensions], vectors[:, ::-1][:, :n_dimensions]
    # the sign of an eigenvector is arbitrary: make its largest entry positive
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(n_dimensions)]
    vectors = vectors * np.where(largest < 0, -1, 1)
    spread = np.maximum(values, 0)
    share = float(min(1.0, spread.sum() / trace)) if trace > 0 else 0.0
    return MDS(vectors * np.sqrt(spread), values, share)


def _leading(P: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenvalues of ½ J P J (J subtracts means) without building the matrix."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    n = P.shape[0]

    def times(v: np.ndarray) -> np.ndarray:
        centred = P @ (v - v.mean())
        return 0.5 * (centred - centred.mean())

    if k >= n:
        raise ParameterError(f"n_dimensions must be less than {n} for this many rows, got {k}")
    operator = LinearOperator((n, n), matvec=times, dtype=np.float64)
    start = np.cos(np.arange(n))  # any fixed start: the same map every time
    values, vectors = eigsh(operator, k=k, which="LA", v0=start, tol=1e-8)
    order = np.argsort(values)
    return values[order], vectors[:, order]


def order_rows(proximities: Any, y: Any = None) -> np.ndarray:
    """Return the rows class by class, within a class similar rows side by side.

    >>> P = np.array([[1, 0, 0.9, 0], [0, 1, 0, 0.8], [0.9, 0, 1, 0], [0, 0.8, 0, 1]])
    >>> order_rows(P).tolist() in ([0, 2, 1, 3], [1, 3, 0, 2])
    True
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    P = _square(proximities)
    classes = np.zeros(P.shape[0]) if y is None else _labels(y, P.shape[0])
    order = []
    for label in np.unique(classes):
        rows = np.flatnonzero(classes == label)
        if len(rows) > 2:
            near = P[rows][:, rows]
            near = near.toarray() if _is_sparse(near) else near
            far = 1.0 - np.maximum(near, near.T)
            np.fill_diagonal(far, 0.0)
            rows = rows[leaves_list(linkage(squareform(far, checks=False), "average"))]
        order.append(rows)
    return np.concatenate(order)


# ---------------------------------------------------------------------- outliers and prototypes
def outlier_scores(proximities: Any, y: Any) -> np.ndarray:
    """Return how far every row is from its own class; rows above 10 deserve a look.

    The raw measure is n / Σ proximity(i, k)² over the rows k of the same class, i itself among them.
    Within each class the median is subtracted and the result divided by the median deviation (the mean
    deviation if that is 0).

    >>> P = np.array([[1, 1, 1, 0.1], [1, 1, 0.5, 0.1], [1, 0.5, 1, 0.1], [0.1, 0.1, 0.1, 1]])
    >>> outlier_scores(P, ["a", "a", "a", "a"]).round(1).tolist()
    [-2.0, 0.0, 0.0, 9.6]
    """
    P = _square(proximities)
    classes = _labels(y, P.shape[0])
    scores = np.empty(len(classes))
    for label in np.unique(classes):
        inside = np.flatnonzero(classes == label)
        near = P[inside][:, inside]
        squares = near.multiply(near) if _is_sparse(near) else near * near
        raw = len(classes) / np.asarray(squares.sum(axis=1)).ravel()
        off = raw - np.median(raw)
        spread = np.median(np.abs(off)) or np.mean(np.abs(off)) or 1.0
        scores[inside] = off / spread
    return scores


@dataclass(frozen=True, eq=False)
class Prototype:
    """The middle of a class."""

    label: Any
    row: int  # the row with most rows of its class around it
    mates: np.ndarray = field(repr=False)  # the rows of its class among its nearest, nearest first
    typical: dict[str, Any]  # column by column: their median, or most frequent category
    low: dict[str, Any] = field(
        repr=False
    )  # and their quartiles (for categories the same as ``typical``)
    high: dict[str, Any] = field(repr=False)


def prototypes(
    forest: Forest, proximities: Any, X: Any, y: Any, k: int = 10, n_prototypes: int = 1
) -> list[Prototype]:
    """Return typical rows and values of every class.

    For each class: the row of it with most rows of the class among its ``k`` nearest other rows (its
    mates), and the medians of these mates. Further prototypes of the class are sought among the rows left
    over by the ones before. Ties go to the larger sum of the mates' proximities, then to the lower
    row. A row without any mate is no prototype.

    Parameters
    ----------
    forest : fitted forest
        Provides the kinds of the columns of X.
    proximities : array or sparse matrix of shape (n, n)
    X : table of n rows
    y : array-like of n classes
    k, n_prototypes : int
        Number of nearest rows considered; prototypes per class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from arboretum import RandomForestClassifier
    >>> from arboretum.forest.proximity import proximity
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> found = prototypes(forest, proximity(forest, X), X, y)
    >>> [p.label for p in found], bool(1.3 < found[0].typical["x2"] < 1.6)
    ([0, 1, 2], True)
    """
    P, matrix = _square(proximities), forest._encode(X)
    classes = _labels(y, P.shape[0])
    if matrix.n_rows != len(classes) or not 1 <= k < len(classes):
        raise DataError(
            f"prototypes need one row of X ({matrix.n_rows}) per row of the proximities "
            f"({len(classes)}), and more rows than k = {k}"
        )
    chosen = []
    for label in np.unique(classes).tolist():
        free = np.ones(len(classes), dtype=bool)
        for _ in range(n_prototypes):
            row, mates = _most_mates(P, classes == label, free, k)
            if row < 0:
                break
            low, typical, high = _describe(forest, matrix.take(mates))
            chosen.append(Prototype(label, row, mates, typical, low, high))
            free[[row, *mates.tolist()]] = False
    return chosen


def _most_mates(P: Any, inside: np.ndarray, free: np.ndarray, k: int) -> tuple[int, np.ndarray]:
    """Return the free row of a class with most mates among its k nearest free rows, and these mates."""
    best: tuple[tuple[int, float], int, np.ndarray] = (0, 0.0), -1, np.empty(0, np.int64)
    for row in np.flatnonzero(free & inside).tolist():
        if _is_sparse(P):
            others = P.indices[P.indptr[row] : P.indptr[row + 1]]
            near = P.data[P.indptr[row] : P.indptr[row + 1]]
        else:
            others, near = np.arange(P.shape[0]), P[row]
        there = free[others] & (others != row)
        others, near = others[there], near[there]
        nearest = np.argsort(-near, kind="stable")[:k]
        nearest = nearest[inside[others[nearest]]]
        merit = len(nearest), round(float(near[nearest].sum()), 12)
        if merit > best[0]:
            best = merit, row, others[nearest].astype(np.int64)
    return best[1], best[2]


def _describe(forest: Forest, matrix: Any) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return lower quartile, median and upper quartile of every column (modes for categories)."""
    low, middle, high = {}, {}, {}
    for f, column in enumerate(forest.schema_.columns):
        x = matrix.column(f)
        x = x[~np.isnan(x)]
        if column.kind == "numeric" or not len(x):
            figures = np.quantile(x, [0.25, 0.5, 0.75]).tolist() if len(x) else [None] * 3
        else:
            values, counts = np.unique(x, return_counts=True)
            mode = values[counts.argmax()]
            figures = [
                float(mode) if column.categories is None else column.categories[int(mode)]
            ] * 3
        low[column.name], middle[column.name], high[column.name] = figures
    return low, middle, high


# ---------------------------------------------------------------------- checking the arguments
def _is_sparse(P: Any) -> bool:
    return hasattr(P, "tocsr")


def _square(proximities: Any) -> Any:
    if _is_sparse(proximities):
        P = proximities.tocsr()
    else:
        P = np.asarray(proximities, dtype=np.float64)
    if P.ndim != 2 or P.shape[0] != P.shape[1]:
        raise DataError(
            f"this needs the proximities of rows with each other, a square matrix, got {P.shape}"
        )
    return P


def _labels(y: Any, n: int) -> np.ndarray:
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise DataError(f"y must hold one class for each of the {n} rows, got shape {labels.shape}")
    return labels
