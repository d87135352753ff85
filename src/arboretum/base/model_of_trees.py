"""A model that predicts by trees: `trees_` are the trees, `ensemble_` is their joint prediction.

`TreeModel` is the case of a single tree, whichever algorithm grew it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from arboretum.base.anatomy import Anatomy, PartModel, has_anatomy
from arboretum.base.estimator import Estimator
from arboretum.base.members import HasMembers
from arboretum.base.shap_values import Explains
from arboretum.data.schema import Schema, encode
from arboretum.errors import ModelFileError
from arboretum.predict.ensemble import Ensemble
from arboretum.predict.fitted_tree import FittedTree
from arboretum.predict.soundness import YES_NO, prove_ensemble
from arboretum.predict.walk import leaves_of, paths_of
from arboretum.structure.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from arboretum.data.matrix import Matrix
    from arboretum.predict.ensemble import Ensemble
    from arboretum.structure.tree import Tree

__all__ = ["ModelOfMembers", "ModelOfTrees", "TreeModel"]


class ModelOfTrees(Explains, Estimator):
    """Reads `trees_`, one or many, over the columns of `schema_`."""

    trees_: list[Tree]
    _cache: dict[str, Any]

    _cached: ClassVar = ("_cache",)
    _questions: ClassVar[tuple[int, ...]] = YES_NO  # kinds of nodes in its trees
    _spreads: ClassVar[bool] = False  # a row with a missing value may go down several branches
    _attributes: ClassVar = {
        "ensemble_ : Ensemble": "The trees as one: predictions of the first rounds, leaves, and the additive "
        "form (a number for every leaf)."
    }

    @property
    def ensemble_(self) -> Ensemble:
        """The trees as one: their joint predictions, by rounds, leaf by leaf."""
        trees, reading = self.trees_, self._reading
        cache = self.__dict__.setdefault("_cache", {})  # a pickled model has none
        ensemble = cache.get(reading)
        if (
            ensemble is None
            or len(ensemble.trees) != len(trees)
            or ensemble.trees[-1:] != trees[-1:]
        ):
            ensemble = cache[reading] = self._as_one(list(trees), reading)
        return ensemble

    @property
    def _reading(self) -> str:
        """How leaf values are read (predict/leaf_values.py)."""
        return "value"

    def _as_one(self, trees: list[Tree], reading: str) -> Ensemble:
        """Return trees as an ensemble: the mean of their predictions."""
        return Ensemble(
            trees, np.ones(len(trees)), np.zeros(self._leaf_shape), rule="mean", reading=reading
        )

    @property
    def _leaf_shape(self) -> tuple[int, int]:
        """Number of outputs, and of values that a leaf has for each."""
        raise NotImplementedError

    def _served(self) -> Ensemble:
        return self.ensemble_

    def _summed_trees(self) -> Ensemble:
        return self.ensemble_

    def _anatomy(self) -> Anatomy:
        found = super()._anatomy()
        return replace(found, trees=self.trees_, ensemble=self.ensemble_, is_sum=True)

    def _target_of_fit(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Any, Any, Any]:
        target, weight = self._learn_target(y, sample_weight, n_rows)
        return target, y, weight

    def _learn_target(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Any, Any]:
        """Return the target as trees take it, and the weights of the rows (base/targets.py)."""
        raise NotImplementedError

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf each row reaches in each tree, (rows, trees)."""
        matrix = self._encode(X)
        return self.ensemble_.leaves(matrix, self._threads())

    def _compute_partial_dependence_recursion(self, grid: Any, target_features: Any) -> np.ndarray:
        """Return partial dependence by the weights of the training rows, under scikit-learn's name."""
        from arboretum.predict.by_shares import predict_by_shares

        found = predict_by_shares(
            self.ensemble_, np.asarray(grid, np.float64), np.asarray(target_features)
        )
        return found[0] if len(found) == 1 else found

    def _prove_sound(self) -> None:
        super()._prove_sound()
        prove_ensemble(
            self.ensemble_, self.schema_, questions=self._questions, spreads=self._spreads
        )


class ModelOfMembers(HasMembers, ModelOfTrees):
    """A model of other models: a model of trees if all of them are trees over the columns of the table."""

    estimator_: Any
    estimators_: list[Any]

    _fitted: ClassVar = "estimators_"
    _tree_types: ClassVar[tuple[type, ...]]

    @property
    def _has_trees(self) -> bool:
        """Whether all members are trees over the columns of the table."""
        return self._trees_of_members() is not None

    def _trees_of_members(self) -> list[Tree] | None:
        members, cache = self.estimators_, self.__dict__.setdefault("_cache", {})
        if cache.get("members") is not members:
            shared = self._shares_columns and all(
                type(member) in self._tree_types and member.schema_ is self.schema_
                for member in members
            )
            cache["trees"] = [member._kept_tree for member in members] if shared else None
            cache["members"] = members
        return cache["trees"]

    @property
    def _shares_columns(self) -> bool:
        """Whether members get the columns of the table as they are."""
        return True

    @property
    def trees_(self) -> list[Tree]:  # type: ignore[override]
        """The trees, if all members are trees over the columns of the table."""
        self._check_fitted()
        trees = self._trees_of_members()
        if trees is None:
            raise AttributeError(
                f"this {type(self).__name__} has no trees: not all of its estimators are CART trees over "
                "all columns of the table; use its estimators_ one by one"
            )
        return trees

    def _encode(self, X: Any) -> Matrix:
        self._check_fitted()
        settings = getattr(
            self.estimators_[0], "unseen", None
        )  # other libraries' estimators have no such parameter
        unseen = settings or getattr(self, "unseen", None) or "missing"
        return encode(self.schema_, X, unseen=unseen, estimator_name=type(self).__name__)

    def _prove_sound(self) -> None:
        if self._has_trees:  # others have checked their own trees
            super()._prove_sound()

    def _served(self) -> Ensemble:
        return super()._served() if self._has_trees else Estimator._served(self)

    def _summed_trees(self) -> Ensemble:
        return super()._summed_trees() if self._has_trees else Explains._summed_trees(self)

    def _without_trees(self) -> Self:
        from sklearn.base import clone

        part = super()._without_trees()
        part.estimators_ = [clone(self.estimators_[0])]  # has the policy for unseen categories
        return part

    def _anatomy(self) -> Anatomy:
        found = Estimator._anatomy(self)
        trees = [vars(one)["_kept_tree"] for one in self.estimators_ if "_kept_tree" in vars(one)]
        own = has_anatomy(self.estimators_[0]) and len(trees) == len(self.estimators_)
        criterion = str(getattr(self.estimator_, "criterion", ""))
        return replace(
            found,
            trees=trees if own else [],
            ensemble=self.ensemble_ if self._has_trees else None,
            is_sum=self._has_trees,
            parts=self._parts(),
            recipe=replace(found.recipe, criterion=criterion),
        )

    def _parts(self) -> tuple[PartModel, ...]:
        """Return the members under the names that explanations have for them."""
        return tuple(PartModel(f"learner {i}", one) for i, one in enumerate(self.estimators_))

    @property
    def _n_done(self) -> int:
        return len(self.estimators_)


# ---------------------------------------------------------------------- one tree
class TreeModel(ModelOfTrees):
    """Reading and keeping a fitted `tree_` over the columns of `schema_`."""

    _kept_tree: Tree
    _fitted: ClassVar = "_kept_tree"
    _learned: ClassVar[tuple[str, ...]] = ("_kept_tree", "pruning_curve_")

    _attributes: ClassVar = {
        "tree_ : FittedTree": "The fitted tree, with scikit-learn's arrays and methods; iterate over it to "
        "read its nodes.",
        **ModelOfTrees._attributes,
        "schema_ : Schema": "Names, kinds and categories of the columns.",
        "n_features_in_, n_outputs_ : int": "",
        "feature_names_in_ : array of str": "Only if the training table had names.",
        "feature_importances_ : float array": "Share of the impurity decrease from each column. "
        "Biased towards columns with many values.",
    }

    @property
    def tree_(self) -> FittedTree:
        """The fitted tree, with scikit-learn's arrays and methods; iterate over it to read its nodes."""
        self._check_fitted()
        tree, cache = self._kept_tree, self.__dict__.setdefault("_cache", {})
        shown = cache.get("tree_")
        if shown is None or shown.own is not tree:
            each = getattr(self, "_each_classes", None)
            n_classes = [1] * self._leaf_shape[0] if each is None else [len(one) for one in each]
            shown = cache["tree_"] = FittedTree(tree, n_classes)
        return shown

    @property
    def trees_(self) -> list[Tree]:  # type: ignore[override]
        """A list of the one tree, as models of many trees have it."""
        self._check_fitted()
        return [self._kept_tree]

    def _served(self) -> Ensemble:
        # -0.0 keeps the sign of every leaf value: -0.0 + value is value, but 0.0 + -0.0 is 0.0
        return replace(self.ensemble_, base=np.full(self._leaf_shape, -0.0))

    def _anatomy(self) -> Anatomy:
        found = super()._anatomy()
        history = replace(found.history, n_rows=int(self._kept_tree.count[0]))
        return replace(found, history=history)

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf each row reaches (its node number in `tree_`)."""
        matrix = self._encode(X)
        return leaves_of(self._kept_tree, matrix, self._threads_for(matrix))

    def decision_path(self, X: Any) -> csr_matrix:
        """Return the sparse (rows × nodes) matrix of the nodes each row passes."""
        matrix = self._encode(X)
        return paths_of(self._kept_tree, matrix, self._threads())

    def get_depth(self) -> int:
        """Return the depth of the tree; a lone root has depth 0."""
        self._check_fitted()
        return self._kept_tree.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        self._check_fitted()
        return self._kept_tree.n_leaves

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the impurity decrease from each column."""
        self._check_fitted()
        return self._kept_tree.feature_importances()

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        from arboretum.structure.state import tree_to_state

        return {**super()._get_fitted_state(), "tree": tree_to_state(self._kept_tree)}

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        from arboretum.structure.state import tree_from_state

        super()._read_fitted_state(state)
        self._kept_tree = tree_from_state(state["tree"], self._tree_schema(state))
        if self._kept_tree.value.shape[1:] != self._leaf_shape:
            raise ModelFileError("the tree and the model disagree on outputs or classes")

    def _tree_schema(self, state: dict[str, Any]) -> Schema:
        """Return the columns that the tree splits on."""
        return self.schema_
