"""C4.5 (Quinlan 1993, release 8): gain ratio, fractional cases, pruning by pessimistic errors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.anatomy import Anatomy
from arboretum.base.holdout import evenly_spaced
from arboretum.base.parameters import Parameter
from arboretum.c45.estimator import C45_PARAMETERS, CaseTreeClassifier
from arboretum.errors import DataError

if TYPE_CHECKING:
    from arboretum.c45.nodes import Draft
    from arboretum.c45.table import CaseTable
    from arboretum.data.matrix import Matrix

__all__ = ["C45Classifier", "grow_collapsed"]


def grow_collapsed(model: Any, table: CaseTable) -> Draft:
    """Grow a tree by the parameters of a model, and collapse it if the model does."""
    from arboretum.c45.growing import C45Growth, grow
    from arboretum.c45.pruning import collapse
    from arboretum.c45.search import by_ratio, many_values

    growth = C45Growth(
        choose=by_ratio(
            many_values(table), model.criterion, float(model.epsilon), bool(model.gate)
        ),
        min_cases=float(model.min_cases),
        min_weight=2 * float(model.min_cases),
        subset=bool(model.subset),
        max_depth=model.max_depth,
        n_jobs=model._threads(),
    )
    draft = grow(table, growth)
    if model.collapse:
        collapse(draft)
    return draft


class C45Classifier(CaseTreeClassifier):
    """Quinlan's C4.5: multiway tests on categories, thresholds on numbers, pruned by estimated errors.

    A node takes the test of largest gain ratio among those whose gain is at least average (`gate`), if the
    ratio exceeds `epsilon`. Rows that miss
    the value of a test go down every branch, a fraction of their weight in each, in training and in
    prediction. The grown tree is collapsed and pruned.

    Most textbooks state C4.5 without all but the ratio and the threshold: that is
    ``C45Classifier(epsilon=…, gate=False, min_cases=1, pruning=None, collapse=False)``, with an `epsilon`
    above 0.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = C45Classifier().fit(X, y)
    >>> model.get_n_leaves(), model.predict(X.iloc[[0, 60, 149]])
    (5, array([0, 1, 2]))
    >>> print(model.tree_[0].pretty())
    petal width (cm) <= 0.6? 150 rows, gain 0.918296
    """

    _family: ClassVar = "c45"
    _parameters: ClassVar = {
        **CaseTreeClassifier._parameters,
        **C45_PARAMETERS,
        "pruning": Parameter(
            p.one_of("error", "reduced_error", None),
            "By pessimistic errors on the training rows; by the errors on rows held out from growing; not.",
        ),
        "subtree_raising": Parameter(
            p.flag, "Whether pruning by errors may put a node's largest branch in its place."
        ),
        "holdout": Parameter(
            p.real(0, 1, open_low=True, open_high=True),
            'Share of the rows that `pruning="reduced_error"` holds out.',
        ),
        "random_state": Parameter(
            p.seed,
            "Seed of the rows that reduced-error pruning holds out. Nothing else is random.",
        ),
    }
    _attributes: ClassVar = {
        **CaseTreeClassifier._attributes,
        "tree_ : Tree": "The fitted tree; iterate over it to read its nodes. Weights count fractional "
        "cases.",
    }

    def __init__(
        self,
        *,
        confidence: float = 0.25,
        min_cases: float = 2,
        criterion: str = "gain_ratio",
        epsilon: float = 0.0,
        gate: bool = True,
        subset: bool = False,
        max_depth: int | None = None,
        pruning: str | None = "error",
        subtree_raising: bool = True,
        collapse: bool = True,
        error_limit: str = "quinlan",
        holdout: float = 1 / 3,
        laplace: bool = False,
        class_weight: Any = None,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        p.take_arguments(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow and prune the tree.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas, polars or pyarrow table, scipy.sparse matrix, or path of a CSV or Parquet
            file. NaN, None and null are missing values.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
            Fractional cases: a row of weight 2 counts as two. Rows of weight 0 are left out.

        Returns
        -------
        self
        """
        learned = self._learn(X, y, sample_weight)
        if self.pruning == "reduced_error":
            draft = self._grow_with_holdout(*learned)
        else:
            table = self._table(*learned)
            del learned  # the table has its own copy of what it needs, and it is the smaller one
            draft = self._grow(table)
        self._kept_tree = draft.to_tree(self.schema_, laplace=bool(self.laplace))
        return self

    def _table(self, matrix: Matrix, codes: np.ndarray, w: np.ndarray) -> CaseTable:
        from arboretum.c45.table import case_table

        return case_table(matrix, self.schema_, codes, w, self.n_classes_, n_jobs=self._threads())

    def _grow(self, table: CaseTable) -> Draft:
        """Grow a tree, collapse it, and prune it by errors if `pruning` is "error"."""
        from arboretum.c45.pruning import Pessimism, prune_by_errors

        draft = grow_collapsed(self, table)
        if self.pruning == "error":
            errors = Pessimism(self.error_limit, float(self.confidence))
            prune_by_errors(draft, table, errors, raising=bool(self.subtree_raising))
        return draft

    def _grow_with_holdout(self, matrix: Matrix, codes: np.ndarray, w: np.ndarray) -> Draft:
        from arboretum.c45.pruning import prune_by_holdout

        kept, held = self._hold_out(codes)
        draft = self._grow(self._table(matrix.take(kept), codes[kept], w[kept]))
        prune_by_holdout(draft, self._table(matrix.take(held), codes[held], w[held]))
        return draft

    def _anatomy(self) -> Anatomy:
        found = super()._anatomy()
        if self.pruning != "reduced_error":
            return found
        recipe = replace(found.recipe, held_out=lambda codes, weight: self._hold_out(codes))
        return replace(found, recipe=recipe)

    def _hold_out(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows to grow on and those to prune on, the classes in proportion."""
        from arboretum.engine.keys import seed_from

        if len(codes) < 2:
            raise DataError(
                "reduced-error pruning holds rows out, but there is only one with a weight: "
                "use pruning='error'"
            )
        return evenly_spaced(codes, float(self.holdout), seed_from(self.random_state))
