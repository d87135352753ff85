"""Using a model of gradient boosting: the sum of its trees, the trees themselves, and its file.

    F(x) = start + Σ rate_m · tree_m(x)        or members instead of trees (members.py)

It is fitted in estimator.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arboretum.base.members import HasMembers, parameters_of_tree, tree_member
from arboretum.base.model_of_trees import ModelOfTrees
from arboretum.base.rounds import Interruptible
from arboretum.boosting.adaboost.learners import in_order
from arboretum.boosting.friedman.start import Constant, raw_start
from arboretum.boosting.names.scikit_learn import make_loss
from arboretum.cart.cart import DecisionTreeRegressor
from arboretum.data.checks import warn_caller
from arboretum.errors import ModelFileError, ParameterError
from arboretum.io.values import numbers_of, whole
from arboretum.predict.additive import NoAdditiveForm
from arboretum.predict.ensemble import Ensemble
from arboretum.predict.link import Link

if TYPE_CHECKING:
    from arboretum.boosting.loss.loss import Loss
    from arboretum.data.matrix import Matrix
    from arboretum.structure.tree import Tree

__all__ = ["SCORES", "SumOfTrees", "shaped"]

SCORES = ("train_score_", "oob_scores_", "oob_improvement_", "step_lengths_")


class SumOfTrees(HasMembers, Interruptible, ModelOfTrees):
    """A sum of trees over the columns of `schema_`."""

    alpha: float = 0.9
    power: float = 1.5
    loss: Any
    loss_: Loss
    estimator: Any
    trees_: list[Tree]
    train_score_: np.ndarray
    oob_scores_: np.ndarray
    oob_improvement_: np.ndarray
    step_lengths_: np.ndarray
    members_: list[list[Any]]
    init_: Any
    max_features_: int
    seed_: int
    _rates: np.ndarray  # learning rate of every round
    _n_rows: int

    _family: ClassVar = "friedman"
    _fitted: ClassVar = "trees_"
    _learned: ClassVar = (
        "trees_", "members_", "init_", "_rates", "_grown_with", "_n_rows", *SCORES
    )  # fmt: skip

    @property
    def _labels(self) -> np.ndarray | None:
        return getattr(self, "classes_", None)

    def _make_loss(self) -> Loss:
        labels = self._labels
        return make_loss(self.loss, None if labels is None else len(labels), self.alpha, self.power)

    # ------------------------------------------------------------------ the sum
    @property
    def _width(self) -> int:
        """Number of trees of a round."""
        labels = self._labels
        return 1 if labels is None or len(labels) <= 2 else len(labels)

    @property
    def n_trees_per_iteration_(self) -> int:
        """Number of trees of a round: one, or one for each of more than two classes."""
        self._check_fitted()
        return self._width

    @property
    def n_estimators_(self) -> int:
        """Number of rounds; fewer than `n_estimators` after early stopping."""
        self._check_fitted()
        return len(self._rates)

    @property
    def oob_score_(self) -> float:
        """Loss of the last round's out-of-bag rows; only with `subsample` < 1."""
        return float(self.oob_scores_[-1])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "trees_")

    def _as_one(self, trees: list[Tree], reading: str) -> Ensemble:
        base = np.zeros(self._width)
        if isinstance(self.init_, Constant):
            base[:] = self.init_.raw.reshape(-1)
        return Ensemble(trees, np.repeat(self._rates, self._width), base, link=self._link)

    @property
    def _link(self) -> Link:
        """The link from F to a prediction: a number, the probability of the second class, or of all."""
        return self.loss_.link if isinstance(self.loss, str) else Link("own")

    def _start(self, X: Any, n_rows: int) -> np.ndarray:
        """Return the start of every row's sum, (rows, scores)."""
        return raw_start(self.init_, self.loss_, X, n_rows, self._labels).T

    def _sums(self, X: Any, matrix: Matrix) -> np.ndarray:
        """Return F for every row, (rows, scores)."""
        start = self._start(X, matrix.n_rows)
        if getattr(self, "members_", []):
            *_, last = self._member_sums(X, start)
            return last
        if not getattr(self, "trees_", []):
            return start
        return self.ensemble_.answers(matrix, self._threads_for(matrix), start)

    def _member_sums(self, X: Any, start: np.ndarray) -> Iterator[np.ndarray]:
        """Yield F for every row after each round of members."""
        from arboretum.boosting.friedman.members import answers_of

        X = in_order(self.schema_, X, type(self).__name__)
        F = start
        for members, rate, length in zip(self.members_, self._rates, self.step_lengths_):
            F = F + rate * length * answers_of(members, X)
            yield F

    def _raw(self, X: Any) -> np.ndarray:
        """Return F for every row of a table, (n,) or (n, K)."""
        matrix = self._encode(X)
        return shaped(self._sums(X, matrix))

    def _served(self) -> Ensemble:
        if self.estimator is not None:
            raise ParameterError(
                f"the rounds of this model are {type(self.estimator).__name__}s, not trees of its own, so it "
                "has no predictor: call its predict"
            )
        if not isinstance(self.init_, Constant):
            raise ParameterError(
                "the sum of this model starts from the predictions of its init estimator, so it has no "
                "predictor: call its predict, or fit it without init"
            )
        return self.ensemble_

    def _summed_trees(self) -> Ensemble:
        name = type(self).__name__
        if self.estimator is not None:
            raise NoAdditiveForm(
                f"this {name} boosts {type(self.estimator).__name__}, not trees, so it has no SHAP values: "
                "explain its members_ one by one, or use scikit-learn's permutation_importance"
            )
        if not isinstance(self.init_, Constant):
            raise NoAdditiveForm(
                f"the sum of this {name} starts from the predictions of its init estimator, which are "
                "no sum of trees: explain a model that was fitted without init, or use scikit-learn's "
                "permutation_importance"
            )
        return self.ensemble_

    def _staged_raw(self, X: Any) -> Iterator[np.ndarray]:
        """Yield F for every row after each round."""
        matrix = self._encode(X)
        start = self._start(X, matrix.n_rows)
        if self.estimator is not None:
            return map(shaped, self._member_sums(X, start))
        return map(shaped, self.ensemble_.staged(matrix, self._threads(), start))

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf each row reaches in each tree, (rows, rounds); classifiers: (…, trees of a
        round).
        """
        self._check_trees("leaves")
        return super().apply(X).astype(np.int64)

    @property
    def estimators_(self) -> np.ndarray:
        """The trees as separate regressors, (rounds, trees of a round). They predict steps."""
        self._check_fitted()
        if self.estimator is not None:
            members = np.empty((len(self.members_), self._width), dtype=object)
            members[:] = self.members_
            return members
        kept = self.__dict__.setdefault("_cache", {})
        found: list[DecisionTreeRegressor] = kept.setdefault("estimators", [])
        grown = [*getattr(self, "_grown_with", []), (len(self.trees_), self._tree_parameters())]
        for end, parameters in grown:
            for tree in self.trees_[len(found) : end]:
                one = tree_member(
                    DecisionTreeRegressor, parameters, self.schema_,
                    _kept_tree=tree, n_outputs_=1, max_features_=self.max_features_,
                )  # fmt: skip
                found.append(one)
        shown = np.empty(len(found), dtype=object)
        shown[:] = found
        return shown.reshape(-1, self._width)

    def _compute_partial_dependence_recursion(self, grid: Any, target_features: Any) -> np.ndarray:
        self._check_trees("partial dependence by recursion")
        if not isinstance(self.init_, Constant):
            warn_caller(
                "Using recursion method with a non-constant init predictor will lead to incorrect partial "
                f"dependence values. Got init={self.init}."
            )
        found = super()._compute_partial_dependence_recursion(grid, target_features)
        return np.atleast_2d(found)

    def _tree_parameters(self) -> dict[str, Any]:
        """Return the parameters that trees also have."""
        return parameters_of_tree(self, DecisionTreeRegressor)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the impurity decrease from each column, summed over all trees."""
        self._check_fitted()
        self._check_trees("feature_importances_")
        total = self.ensemble_.split_sums(self.n_features_in_).gain
        return total / total.sum() if total.sum() > 0 else total

    def _check_trees(self, what: str) -> None:
        if self.estimator is not None:
            raise AttributeError(
                f"{type(self).__name__}(estimator={type(self.estimator).__name__}) has no {what}: only "
                "trees have them; see its members_"
            )

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        from arboretum.structure.state import trees_to_state

        if self.estimator is not None:
            raise ModelFileError(
                f"a model of {type(self.estimator).__name__}s cannot be saved natively: use "
                "pickle or joblib, or leave estimator None"
            )
        state = super()._get_fitted_state()
        assert isinstance(self.init_, Constant)  # others are refused with the parameters
        return {
            **state,
            "trees": trees_to_state(self.trees_),
            "rates": self._rates,
            "start": self.init_.raw.reshape(-1),
            "scores": {name: getattr(self, name) for name in SCORES if hasattr(self, name)},
            "max_features": self.max_features_,
            "n_rows": self._n_rows,
            "seed": self.seed_,
        }

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        from arboretum.structure.state import trees_from_state

        super()._read_fitted_state(state)
        self.loss_ = self._make_loss()
        self.trees_ = trees_from_state(state["trees"], self.schema_)
        if any(tree.value.shape[1:] != (1, 1) for tree in self.trees_):
            raise ModelFileError("its trees are not regression trees")
        self.max_features_ = whole(state, "max_features", 1)
        self._n_rows = whole(state, "n_rows", 1)
        self.seed_ = whole(state, "seed", 0)
        rounds, odd = divmod(len(self.trees_), self._width)
        if odd:
            raise ModelFileError("its trees do not make whole rounds")
        self._rates = numbers_of(state, "rates", rounds)
        start, scores = numbers_of(state, "start", self._width), state["scores"]
        self.init_ = Constant(start if self._width > 1 else start.reshape(()))
        if not {"train_score_"} <= scores.keys() <= set(SCORES):
            raise ModelFileError("its scores have unknown names")
        for name, values in scores.items():
            good = isinstance(values, np.ndarray) and values.dtype == np.float64
            if not good or values.shape != (rounds,):
                raise ModelFileError("its scores do not fit its rounds")
            setattr(self, name, values)


def shaped(F: np.ndarray) -> np.ndarray:
    """Return scores, (rows, scores), in the form for losses: (n,) or (n, K)."""
    return F[:, 0] if F.shape[1] == 1 else F
