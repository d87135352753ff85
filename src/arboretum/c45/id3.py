"""ID3 (Quinlan 1986): split on the category that reveals most about the class, one branch per value, repeat.

Numbers have to be cut into bins first (discretize.py). The tree then splits on the bins, so it has a
schema of its own:

    schema_         petal length: number         what tables to fit and predict hold
    bins_           2.45, 4.75                   the cut points
    tree_.schema    petal length: one of "up to 2.45", "2.45 to 4.75", "above 4.75"

C4.5 sends a row whose value has no branch down every branch. ID3 lets the node itself answer:

    outlook?             outlook is missing, or an unseen category:
     / | \\              the row stops here and gets the class shares of this node
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.anatomy import Anatomy
from arboretum.base.estimator import Estimator
from arboretum.base.parameters import Parameter
from arboretum.base.shared_parameters import GROWTH
from arboretum.c45.discretize import bin_labels, bin_matrix, cut_columns, mdl_cuts, quantile_cuts
from arboretum.c45.estimator import CaseTreeClassifier
from arboretum.data.checks import list_names
from arboretum.data.schema import Schema
from arboretum.errors import DataError, ModelFileError
from arboretum.grow.settings import count_of
from arboretum.predict.walk import leaves_of
from arboretum.structure.tree import LEAF, MULTIWAY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scipy.sparse import csr_matrix

    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Column
    from arboretum.predict.ensemble import Ensemble
    from arboretum.structure.tree import Tree

__all__ = ["ID3Classifier", "paths_to", "stops_of", "with_stops"]


# ---------------------------------------------------------------------- rows that stop half-way
def stops_of(tree: Tree, matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
    """Return the node at which every row of an encoded table stops, mostly a leaf.

    All questions of the tree must have one branch per value (MULTIWAY).
    """
    stops = leaves_of(tree, matrix, n_jobs)
    gone = np.zeros(matrix.n_rows, np.bool_)
    for f in np.unique(tree.feature[~tree.is_leaf & (tree.missing_child < 0)]):
        gone |= np.isnan(matrix.column(int(f)))
    rows = np.flatnonzero(gone)
    if len(rows):
        stops[rows] = _walk(tree, matrix.take(rows).rows(0, len(rows)))
    return stops


def _walk(tree: Tree, X: np.ndarray) -> np.ndarray:
    node = np.zeros(len(X), np.int64)
    moving = np.flatnonzero(~tree.is_leaf[node])
    while len(moving):
        here = node[moving]
        x = X[moving, tree.feature[here]]
        gone = np.isnan(x)
        child = np.where(gone, tree.missing_child[here], np.where(gone, 0, x).astype(np.int64))
        goes = child >= 0
        moving = moving[goes]
        node[moving] = (tree.first_child[here] + child)[goes]
        moving = moving[~tree.is_leaf[node[moving]]]
    return node


def paths_to(tree: Tree, stops: np.ndarray) -> csr_matrix:
    """Return the (rows × nodes) indicator matrix of the nodes on the way to every row's last one."""
    from scipy.sparse import csr_matrix

    depth, width = tree.depth[stops], tree.max_depth + 1
    nodes, node = np.empty((len(stops), width), np.int32), stops.copy()
    for level in reversed(range(width)):
        rows = np.flatnonzero(depth >= level)
        nodes[rows, level] = node[rows]
        node[rows] = tree.parent[node[rows]]
    indices = nodes[np.arange(width) <= depth[:, None]]
    indptr = np.concatenate([[0], np.cumsum(depth + 1)])
    ones = np.ones(len(indices), np.int64)
    return csr_matrix((ones, indices, indptr), shape=(len(stops), len(tree)))


def with_stops(tree: Tree) -> Tree:
    """Return the tree with a last branch of no weight, a leaf, wherever rows may stop above a leaf.

    All rows then reach leaves, and the same numbers.
    """
    inner = ~tree.is_leaf
    stops = inner & (tree.missing_child < 0)
    sizes = tree.n_children + stops
    n = 1 + int(sizes.sum())
    first, kept = (
        np.full(n, -1, np.int32),
        np.zeros(n, np.int64),
    )  # what every new node is of the old
    added = np.zeros(n, np.bool_)
    end = 1
    for new in range(n):  # level by level
        old = kept[new]
        if added[new] or not inner[old]:
            continue
        first[new] = end
        real = int(tree.n_children[old])
        kept[end : end + real] = tree.first_child[old] + np.arange(real)
        end += real
        if stops[old]:
            kept[end], added[end] = old, True
            end += 1
    leaf = added | ~inner[kept]
    return replace(
        tree,
        kind=np.where(leaf, LEAF, tree.kind[kept]).astype(np.uint8),
        feature=np.where(leaf, -1, tree.feature[kept]).astype(np.int32),
        threshold=np.where(leaf, np.nan, tree.threshold[kept]),
        first_child=first,
        n_children=np.where(leaf, 0, sizes[kept]).astype(np.int32),
        missing_child=np.where(
            leaf, -1, np.where(stops[kept], tree.n_children[kept], tree.missing_child[kept])
        ).astype(np.int32),
        bits_start=np.where(leaf, -1, tree.bits_start[kept]),
        value=tree.value[kept],
        impurity=tree.impurity[kept],
        gain=np.where(leaf, 0.0, tree.gain[kept]),
        weight=np.where(added, 0.0, tree.weight[kept]),
        count=np.where(added, 0, tree.count[kept]),
    )


class ID3Classifier(CaseTreeClassifier):
    """Quinlan's ID3: the category of largest information gain, one branch per value, once per path.

    A node becomes a leaf when its rows agree, when no column is left, or when none gains more than
    `epsilon`. Nothing is pruned. In a column that misses values, missing is one more value. A row whose
    value has no branch at a node gets the class shares of that node.

    Columns of words, truth values and ranks are categories; numbers and dates need `discretize`.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> X = [["sunny", "high"], ["sunny", "normal"], ["rain", "high"], ["rain", "normal"]]
    >>> model = ID3Classifier().fit(X, ["no", "yes", "yes", "yes"])
    >>> print(model.tree_[0].pretty())
    x0? 4 rows, gain 0.311278
    >>> model.predict([["sunny", "high"], ["sunny", None]])
    array(['no', 'no'], dtype='<U3')

    Numbers are cut into bins:

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = ID3Classifier(discretize="mdl").fit(X, y)
    >>> model.bins_["petal length (cm)"].round(2)
    array([2.45, 4.75])
    >>> model.predict(X.iloc[[0, 60, 149]])
    array([0, 1, 2])
    """

    bins_: dict[str | int, np.ndarray]

    _family: ClassVar = "id3"
    _parameters: ClassVar = {
        **CaseTreeClassifier._parameters,
        "epsilon": Parameter(p.real(0), "Gain, in bits, that the best column must exceed."),
        "min_samples_split": GROWTH["min_samples_split"],
        "discretize": Parameter(
            p.one_of("mdl", "quantile", None),
            "How to cut numbers into bins: where a cut gains enough to pay for the "
            "description of itself (Fayyad and Irani 1993), into bins of about equal weight, or not at "
            "all: numbers are an error.",
        ),
        "n_bins": Parameter(
            p.integer(2),
            'How many bins `discretize="quantile"` makes; fewer if values repeat.',
        ),
    }
    _attributes: ClassVar = {
        **CaseTreeClassifier._attributes,
        "tree_ : Tree": "The fitted tree; iterate over it to read its nodes. `tree_.schema` has bins for "
        "numbers.",
        "bins_ : dict": "The cut points of every column that was cut, by its name (by its index if the "
        "training table had no names). A value on a cut lies in the bin below.",
    }

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        discretize: str | None = None,
        n_bins: int = 5,
        laplace: bool = False,
        class_weight: Any = None,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        p.take_arguments(locals())

    # ------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas, polars or pyarrow table, scipy.sparse matrix, or path of a CSV or Parquet
            file. NaN, None and null are missing values.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
            A row of weight 2 counts as two. Rows of weight 0 are left out.

        Returns
        -------
        self
        """
        from arboretum.c45.growing import C45Growth, grow
        from arboretum.c45.search import by_gain
        from arboretum.c45.table import case_table

        matrix, codes, w = self._learn(X, y, sample_weight)
        cuts = self._find_cuts(matrix, codes, w)
        self.bins_ = {self._key(f): points for f, points in cuts.items()}
        questions, n_jobs = _cache(self.schema_, cuts), self._threads()
        table = case_table(
            bin_matrix(matrix, cuts), questions, codes, w, self.n_classes_,
            missing_is_value=True, n_jobs=n_jobs,
        )  # fmt: skip
        del matrix  # the table has its own copy of what it needs, and it is the smaller one
        growth = C45Growth(
            choose=by_gain(float(self.epsilon)),
            min_cases=0.0,
            min_weight=0.0,
            min_rows=count_of(self.min_samples_split, len(table.label)),
            max_depth=self.max_depth,
            n_jobs=n_jobs,
        )
        self._kept_tree = grow(table, growth).to_tree(questions, laplace=bool(self.laplace))
        return self

    def _find_cuts(self, matrix: Matrix, codes: np.ndarray, w: np.ndarray) -> dict[int, np.ndarray]:
        """Return the cut points of every column of numbers."""
        columns = [f for f, column in enumerate(self.schema_.columns) if _is_number(column)]
        if self.discretize is None:
            self._refuse_numbers(matrix, columns)
            return {}

        def find(x: np.ndarray) -> np.ndarray:
            if self.discretize == "quantile":
                return quantile_cuts(x, int(self.n_bins), w)
            return mdl_cuts(x, codes, w, self.n_classes_)

        return cut_columns(matrix, columns, find, self._threads())

    def _refuse_numbers(self, matrix: Matrix, columns: list[int]) -> None:
        """Raise if a column holds numbers; one that lacks all values is never split on."""
        numbers = [f for f in columns if not np.isnan(matrix.column(f)).all()]
        if numbers:
            names = list_names(self.schema_.names[f] for f in numbers)
            raise DataError(
                f"ID3Classifier splits on categories, but these columns hold numbers or dates: {names}; "
                "cut them into bins by discretize='mdl' or discretize='quantile', name those that "
                "stand for categories in categorical_features, or use C45Classifier or CARTClassifier"
            )

    # ------------------------------------------------------------------ predicting
    def _encode(self, X: Any) -> Matrix:
        matrix = super()._encode(X)
        return bin_matrix(matrix, self._cuts())

    def _cuts(self) -> dict[int, np.ndarray]:
        """Return `bins_` by the index of the column."""
        keys = map(self._key, range(self.schema_.n_features))
        return {f: self.bins_[key] for f, key in enumerate(keys) if key in self.bins_}

    def _key(self, f: int) -> str | int:
        return self.schema_.names[f] if self.schema_.named else f

    def apply(self, X: Any) -> np.ndarray:
        """Return the node each row stops at (its number in `tree_`).

        That is a leaf, unless a node tests a value that the row lacks and has no branch for that.
        """
        matrix = self._encode(X)
        return stops_of(self._kept_tree, matrix, self._threads())

    def _anatomy(self) -> Anatomy:
        found = super()._anatomy()
        columns = replace(found.columns, numbers=super()._encode, cuts=self._cuts())
        return replace(found, columns=columns, is_sum=False)

    def _served(self) -> Ensemble:
        return Estimator._served(self)  # rows may stop above a leaf

    def _summed_trees(self) -> Ensemble:
        kept = self.__dict__.setdefault("_cache", {})
        if "stops" not in kept:
            kept["stops"] = replace(self.ensemble_, trees=[with_stops(self._kept_tree)])
        return kept["stops"]

    def decision_path(self, X: Any) -> csr_matrix:
        """Return the sparse (rows × nodes) matrix of the nodes each row passes."""
        stops = self.apply(X)
        return paths_to(self._kept_tree, stops)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class shares of the node each row stops at (see `apply`)."""
        stops = self.apply(X)
        return self._kept_tree.value[stops, 0]

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        return {**super()._get_fitted_state(), "bins": self.bins_}

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        _check_tree(self._kept_tree)

    def _tree_schema(self, state: dict[str, Any]) -> Schema:
        """Take the cut points from a file; return the columns the tree splits on."""
        bins, columns = state["bins"], self.schema_.columns
        wanted = [f for f, c in enumerate(columns) if _is_number(c) and self.discretize is not None]
        if not isinstance(bins, dict) or set(bins) != {self._key(f) for f in wanted}:
            raise ModelFileError("its bins are not those of the columns of numbers")
        self.bins_ = {}
        for f in wanted:
            points = bins[self._key(f)]
            if not isinstance(points, np.ndarray) or points.dtype != np.float64 or points.ndim != 1:
                raise ModelFileError(f"the cut points of column {columns[f].name!r} are no numbers")
            if not (np.isfinite(points).all() and (np.diff(points) > 0).all()):
                raise ModelFileError(
                    f"the cut points of column {columns[f].name!r} are not finite and rising"
                )
            self.bins_[self._key(f)] = points
        return _cache(self.schema_, self._cuts())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks only have tables of numbers, which are an error without bins
        tags._skip_test = self.discretize is None
        return tags


def _is_number(column: Column) -> bool:
    return column.categories is None


def _cache(schema: Schema, cuts: Mapping[int, np.ndarray]) -> Schema:
    """Return the columns as the tree splits on them: all of them categories.

    Ranks are categories in their order, numbers are bins. A column of numbers without cut points missed
    every value at fit; it has no category, and no node can split on it.
    """
    columns = []
    for f, column in enumerate(schema.columns):
        if f in cuts:
            labels = bin_labels(cuts[f], column.value_kind)
            columns.append(replace(column, kind="categorical", categories=labels, dtype="str"))
        else:
            words = column.categories or ()
            columns.append(replace(column, kind="categorical", categories=words))
    return Schema(tuple(columns), schema.named)


def _check_tree(tree: Tree) -> None:
    """Raise unless every question has one branch per value, missing included if training saw any."""
    inner = np.flatnonzero(tree.kind != LEAF)
    columns = [tree.column(f) for f in tree.feature[inner]]
    missing = [len(c.categories or ()) if c.has_missing else -1 for c in columns]
    if np.any(tree.kind[inner] != MULTIWAY) or np.any(tree.missing_child[inner] != missing):
        raise ModelFileError(
            "a node of its tree does not have one branch per value, as ID3 makes them"
        )
