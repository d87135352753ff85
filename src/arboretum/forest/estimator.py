"""What all forests share: learning, growing, out-of-bag answers, asking the trees, keeping.

A forest is a list of trees over one schema. Random forest and ExtraTrees differ in how a tree is
grown; a classifier and a regressor in what is made of the trees' answers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from arboretum import parameters as p
from arboretum.data.schema import Schema, encode, learn_schema
from arboretum.data.target import encode_classes, numbers, weights
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.forest.sampling import n_draws
from arboretum.forest.voting import OutOfBag, leaves_in, out_of_bag, sum_answers
from arboretum.parameters import Declared
from arboretum.tree import limits
from arboretum.tree.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arboretum.data.matrix import Matrix
    from arboretum.forest.growing import Plan
    from arboretum.forest.importance import Importance
    from arboretum.tree.criterion import Target

__all__ = ["FOREST_RULES", "Forest", "ForestClassifier", "ForestRegressor"]

FOREST_RULES = {
    "n_estimators": p.integer(1),
    "max_depth": p.integer(1) | p.none,
    "min_samples_split": p.integer(2) | p.fraction(0, 1, open_low=True),
    "min_samples_leaf": p.integer(1) | p.fraction(0, 1, open_low=True, open_high=True),
    "min_weight_fraction_leaf": p.real(0, 0.5),
    "max_features": p.integer(1) | p.fraction(0, 1, open_low=True) | p.one_of("sqrt", "log2", None),
    "max_leaf_nodes": p.integer(2) | p.none,
    "min_impurity_decrease": p.real(0),
    "bootstrap": p.flag,
    "oob_score": p.flag | p.Rule("a function of (y, prediction)", callable),
    "n_jobs": p.jobs,
    "random_state": p.seed,
    "verbose": p.integer(0) | p.flag,
    "warm_start": p.flag,
    "ccp_alpha": p.real(0),
    "max_samples": p.integer(1) | p.fraction(0, 1, open_low=True) | p.none,
    "unseen": p.one_of("missing", "error"),
    "keep_leaves": p.flag,
}


_LEARNED = (
    "trees_", "oob_score_", "oob_error_curve_", "oob_n_trees_", "oob_prediction_",
    "oob_decision_function_", "_train_leaves", "_train_y", "_train_weight", "_train_rows",
)  # fmt: skip


class Forest(Declared, BaseEstimator):
    """Growing and reading a list of trees over the columns of `schema_`."""

    # what trees know and forests have no parameter for
    splitter: ClassVar[str] = "best"
    surrogates: ClassVar[int] = 0
    max_bins: ClassVar[None] = None

    schema_: Schema
    trees_: list[Tree]

    # ------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas, polars or pyarrow table, scipy.sparse matrix, or path of a CSV or Parquet
            file. NaN, None and null are missing values.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,) or None
            A row counts as often as its bag drew it, times its weight.

        Returns
        -------
        self
        """
        from arboretum.engine.random import seed_from
        from arboretum.forest.growing import grow_trees

        before = self._to_go_on_with()
        matrix, target, w = self._learn(X, y, sample_weight)
        if not before:
            self.seed_ = seed_from(self.random_state)
        plan = self._plan(matrix, target, w)
        if before:
            self._check_same_shape(before, plan)
        wanted = range(len(before), int(self.n_estimators))
        with _progress(len(wanted), bool(self.verbose), type(self).__name__) as grown:
            new = grow_trees(plan, wanted, self._threads(), grown)
        if len(new) < len(wanted):
            warnings.warn(
                f"growing was interrupted: the forest has the {len(before) + len(new)} trees that "
                f"were finished, of {self.n_estimators}",
                stacklevel=2,
            )
        self.trees_ = before + new
        self.max_features_ = plan.how.max_features or self.n_features_in_
        self._n_draws = plan.draws
        self._n_rows = matrix.n_rows
        if self.keep_leaves:
            self._train_leaves = leaves_in(self.trees_, matrix, self._threads())
            self._train_y = target.y.astype(np.float64)
            self._train_weight = np.ones(matrix.n_rows) if w is None else w
            self._train_rows = matrix.take(np.arange(matrix.n_rows))  # ours: X may be changed later
        if self.oob_score is not False:
            self._set_oob(plan)
        return self

    def _to_go_on_with(self) -> list[Tree]:
        """Return the trees that stay, with `warm_start`."""
        if not (self.warm_start and hasattr(self, "trees_")):
            return []
        if self.n_estimators < len(self.trees_):
            raise ParameterError(
                f"n_estimators is {self.n_estimators}, but there are {len(self.trees_)} trees "
                "already: with warm_start=True it must not get smaller"
            )
        if self.n_estimators == len(self.trees_):
            warnings.warn(
                "warm_start=True, and n_estimators has not grown: no tree is added", stacklevel=3
            )
        return self.trees_

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> tuple[Matrix, Target, Any]:
        """Check everything `fit` was given and turn it into numbers."""
        self._check_parameters()
        self._check_sampling()
        schema, matrix = learn_schema(
            X,
            categorical_features=self.categorical_features,
            ordinal_features=self.ordinal_features,
        )
        limits.check_rows(matrix.n_rows)
        self._before = getattr(self, "schema_", None), getattr(self, "classes_", None)
        for name in _LEARNED:
            self.__dict__.pop(name, None)
        self.schema_ = schema
        self.n_features_in_ = schema.n_features
        self.__dict__.pop("feature_names_in_", None)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        target, w = self._learn_target(y, sample_weight, matrix.n_rows)
        if w is not None:
            limits.check_weights(w)
        return matrix, target, w

    def _check_sampling(self) -> None:
        if not self.bootstrap and self.max_samples is not None:
            raise ParameterError(
                "max_samples is the size of a bootstrap sample: leave it None, or set bootstrap=True"
            )
        if not self.bootstrap and self.oob_score is not False:
            raise ParameterError(
                "Out of bag estimation only available if bootstrap=True: without it every tree "
                "sees every row"
            )

    def _check_same_shape(self, before: list[Tree], plan: Plan) -> None:
        schema, classes = self._before
        same = schema == self.schema_ and _same_classes(classes, getattr(self, "classes_", None))
        same &= before[0].value.shape[1] == plan.target.outputs
        same &= (self._n_rows, self._n_draws) == (plan.matrix.n_rows, plan.draws)
        if not same:
            raise DataError(
                "with warm_start=True the table must have the rows, columns, categories and "
                "classes of the first fit, and the bags their size: set warm_start=False to begin "
                "anew"
            )

    def _plan(self, matrix: Matrix, target: Target, w: np.ndarray | None) -> Plan:
        from arboretum.forest.growing import Plan
        from arboretum.tree.criterion import make_target

        n = matrix.n_rows
        draws = None
        if self.bootstrap:
            draws = n_draws(self.max_samples, n)
            if draws > n:
                raise ParameterError(
                    f"max_samples is {draws}, but there are only {n} rows: it must be ≤ {n}"
                )
        weighed = make_target(target.y, target.classes, np.ones(n) if w is None else w)
        return Plan(
            matrix=matrix,
            schema=self.schema_,
            target=target,
            how=limits.growth(self, self.schema_, weighed, n),
            seed=self.seed_,
            draws=draws,
            balance=getattr(self, "class_weight", None) == "balanced_subsample",
            ccp_alpha=float(self.ccp_alpha),
        )

    # ------------------------------------------------------------------ out of bag
    def _set_oob(self, plan: Plan) -> None:
        matrix, target = plan.matrix, plan.target
        unseen = np.array([np.packbits(plan.counts(t) == 0) for t in range(len(self.trees_))])
        found = out_of_bag(
            self.trees_, matrix, target.y, target.classes is not None, unseen, self._threads()
        )
        never = int(np.count_nonzero(found.n_trees == 0))
        if never == matrix.n_rows:
            raise DataError(
                "no row is out of bag in any tree, so there is no out-of-bag score: grow more "
                "trees, or draw smaller samples (max_samples)"
            )
        if never:
            warnings.warn(
                f"Some inputs do not have OOB scores: {never} of {matrix.n_rows} rows are in the bag "
                "of every tree and are left out; more trees help",
                stacklevel=3,
            )
        self.oob_n_trees_, self.oob_error_curve_ = found.n_trees, found.curve
        self._keep_oob(found, target)

    def _oob_rows(self, found: OutOfBag) -> np.ndarray:
        return np.flatnonzero(found.n_trees > 0)

    # ------------------------------------------------------------------ reading
    def _encode(self, X: Any) -> Matrix:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "trees_")
        return encode(self.schema_, X, unseen=self.unseen, estimator_name=type(self).__name__)

    def _threads(self) -> int:
        from arboretum.engine.parallel import effective_jobs

        return effective_jobs(self.n_jobs)

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf each row reaches in each tree, (rows, trees)."""
        matrix = self._encode(X)
        return leaves_in(self.trees_, matrix, self._threads())

    def decision_path(self, X: Any) -> tuple:
        """Return the sparse (rows × nodes) matrix of the nodes each row passes in all trees, and where
        the nodes of each tree begin.
        """
        from scipy.sparse import hstack

        from arboretum.tree.walking import paths_of

        matrix = self._encode(X)
        paths = [paths_of(tree, matrix, self._threads()) for tree in self.trees_]
        return hstack(paths).tocsr(), np.cumsum([0] + [len(tree) for tree in self.trees_])

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean over the trees of the share of the impurity decrease each column brought (MDI).

        Columns of many values are favoured: see `permutation_importance` for a fairer measure.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "trees_")
        each = [tree.feature_importances() for tree in self.trees_ if len(tree) > 1]
        if not each:
            return np.zeros(self.n_features_in_)
        mean = np.mean(each, axis=0)
        return mean / mean.sum() if mean.sum() > 0 else mean

    def permutation_importance(self, X: Any, y: Any, sample_weight: Any = None) -> Importance:
        """Return how much worse each tree answers its unseen rows when a column is shuffled.

        ``X`` and ``y`` are the training data. The result has means and standard errors over the trees.
        """
        from arboretum.forest.importance import permutation_importance

        return permutation_importance(self, X, y, sample_weight)

    def prediction_variance(self, X: Any, method: str = "infinitesimal") -> np.ndarray | list:
        """Return the sampling variance of the predictions, by the infinitesimal jackknife (Wager,
        Hastie and Efron 2014) or the ``"jackknife"`` after bootstrap.
        """
        from arboretum.forest.variance import prediction_variance

        return prediction_variance(self, X, method)

    def proximity(
        self, X: Any = None, Y: Any = None, kind: str = "all", top_k: int | None = None
    ) -> Any:
        """Return the share of trees in which two rows end in the same leaf.

        Parameters
        ----------
        X, Y : tables, optional
            Rows against rows; without ``Y``, of ``X`` with itself; without both, of the training rows
            (``keep_leaves=True``).
        kind : {"all", "oob"}, default="all"
            Count all trees, or only those that have seen neither row (training rows only).
        top_k : int, optional
            Keep only the nearest rows of each row: a sparse matrix. Needed beyond a few thousand rows.
        """
        from arboretum.forest.proximity import proximity

        return proximity(self, X, Y, kind, top_k)

    def __len__(self) -> int:
        return len(self.trees_)

    # ------------------------------------------------------------------ keeping
    def save(self, path: str | Path | BinaryIO) -> None:
        """Write the model to one file; `arboretum.load` reads it back."""
        from arboretum.io.native import save

        save(self, path)

    def _get_fitted_state(self) -> dict[str, Any]:
        from arboretum.tree.validation import tree_to_state

        return {
            "trees": [tree_to_state(tree) for tree in self.trees_],
            "seed": self.seed_,
            "n_rows": self._n_rows,
            "n_draws": self._n_draws,
            "n_outputs": self.n_outputs_,
            "max_features": self.max_features_,
        }

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        from arboretum.tree.model import whole
        from arboretum.tree.validation import tree_from_state

        model = cls(**parameters)
        model._check_parameters()
        model.schema_ = schema
        model.n_features_in_ = schema.n_features
        if schema.named:
            model.feature_names_in_ = np.array(schema.names, dtype=object)
        if not isinstance(state["trees"], list) or not state["trees"]:
            raise ModelFileError("the forest has no trees")
        model.trees_ = [tree_from_state(tree, schema) for tree in state["trees"]]
        model.seed_ = whole(state, "seed", 0)
        model._n_rows = whole(state, "n_rows", 1)
        model._n_draws = None if state["n_draws"] is None else whole(state, "n_draws", 1)
        model.n_outputs_ = whole(state, "n_outputs", 1)
        model.max_features_ = whole(state, "max_features", 1)
        shape = model.trees_[0].value.shape[1:]
        if shape[0] != model.n_outputs_ or any(t.value.shape[1:] != shape for t in model.trees_):
            raise ModelFileError("the trees and the model disagree on the number of outputs")
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = True
        return tags


def _same_classes(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(np.array_equal, one, other))
    return np.array_equal(one, other)


@contextmanager
def _progress(n: int, shown: bool, what: str) -> Iterator[Callable[[int], None] | None]:
    """Show a bar while trees grow; yields what is told the number of finished trees."""
    if not shown or n == 0:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    with Progress(
        f"{what}: growing trees", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    ) as bar:
        task = bar.add_task("", total=n)
        yield lambda done: bar.update(task, completed=done)


class ForestClassifier(ClassifierMixin, Forest):
    """Class shares (or votes) of many trees."""

    def _learn_target(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Target, Any]:
        from arboretum.tree.criterion import make_target

        name = type(self).__name__
        classes, codes, one = encode_classes(y, n_rows=n_rows, estimator_name=name)
        self.n_outputs_ = codes.shape[1]
        self.classes_ = classes[0] if one else classes
        self.n_classes_ = len(classes[0]) if one else [len(c) for c in classes]
        w = weights(sample_weight, n_rows)
        if self.class_weight is not None and self.class_weight != "balanced_subsample":
            w = limits.with_class_weight(self.class_weight, classes, codes, w)
        return make_target(codes, np.array([len(c) for c in classes]), w), w

    def _keep_oob(self, found: OutOfBag, target: Target) -> None:
        rows = self._oob_rows(found)
        one = isinstance(self.classes_, np.ndarray)
        self.oob_decision_function_ = found.mean[:, 0] if one else np.moveaxis(found.mean, 1, 2)
        best = found.mean[rows].argmax(axis=2)
        truth = target.y[rows]
        if callable(self.oob_score):
            classes = [self.classes_] if one else self.classes_
            said = np.column_stack([c[best[:, o]] for o, c in enumerate(classes)])
            true = np.column_stack([c[truth[:, o]] for o, c in enumerate(classes)])
            self.oob_score_ = self.oob_score(
                true[:, 0] if one else true, said[:, 0] if one else said
            )
        else:
            self.oob_score_ = float((best == truth).mean())

    # ------------------------------------------------------------------ predicting
    def predict_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return the mean class shares of the trees; with ``voting="hard"`` the shares of their votes.

        A list of arrays for several outputs.
        """
        matrix = self._encode(X)
        total = sum_answers(self.trees_, matrix, self._threads(), hard=self.voting == "hard") / len(
            self.trees_
        )
        if isinstance(self.classes_, np.ndarray):
            return total[:, 0]
        return [total[:, o, : len(c)] for o, c in enumerate(self.classes_)]

    def predict_log_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return the logarithms of `predict_proba`."""
        proba = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(s) for s in proba] if isinstance(proba, list) else np.log(proba)

    def predict(self, X: Any, missing: str | None = None) -> np.ndarray:
        """Return the class of largest share, the first in order between equals.

        ``missing="per_class"`` is Breiman's way with rows that miss values: a copy of the row for each
        class, filled as if it had that class, and the class whose copy gets most votes for itself. It
        needs ``keep_leaves=True``.
        """
        if missing is not None:
            from arboretum.forest.filling import predict_per_class

            if missing != "per_class":
                raise ParameterError(f"missing must be None or 'per_class', got {missing!r}")
            return predict_per_class(self, X)
        proba = self.predict_proba(X)
        if isinstance(proba, list):
            return np.column_stack(
                [c[s.argmax(axis=1)] for c, s in zip(self.classes_, proba, strict=True)]
            )
        return self.classes_[proba.argmax(axis=1)]

    def predict_votes(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return how many trees vote for each class, whatever ``voting`` is."""
        matrix = self._encode(X)
        votes = np.rint(sum_answers(self.trees_, matrix, self._threads(), hard=True)).astype(int)
        if isinstance(self.classes_, np.ndarray):
            return votes[:, 0]
        return [votes[:, o, : len(c)] for o, c in enumerate(self.classes_)]

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        one = isinstance(self.classes_, np.ndarray)
        classes = [self.classes_] if one else list(self.classes_)
        return {**super()._get_fitted_state(), "classes": classes, "one_output": one}

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        model = super()._from_fitted_state(parameters, schema, state)
        classes, one = state["classes"], state["one_output"]
        good = isinstance(classes, list) and all(
            isinstance(c, np.ndarray) and c.ndim == 1 and len(c) for c in classes
        )
        if not good or len(classes) != model.n_outputs_ or (one is not True and one is not False):
            raise ModelFileError("the classes do not fit the model's outputs")
        if max(len(c) for c in classes) != model.trees_[0].value.shape[2]:
            raise ModelFileError("the trees and the model disagree on the number of classes")
        if one and len(classes) != 1:
            raise ModelFileError("a model of one output has several lists of classes")
        model.classes_ = classes[0] if one else classes
        model.n_classes_ = len(classes[0]) if one else [len(c) for c in classes]
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class ForestRegressor(RegressorMixin, Forest):
    """Mean of many trees."""

    def _learn_target(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Target, Any]:
        from arboretum.tree.criterion import make_target

        values, one = numbers(y, n_rows=n_rows, estimator_name=type(self).__name__)
        limits.check_scale(values)
        if self.criterion == "poisson":
            limits.check_counts(values)
        self.n_outputs_ = values.shape[1]
        self._one_output = one
        w = weights(sample_weight, n_rows)
        return make_target(values, None, w), w

    def _keep_oob(self, found: OutOfBag, target: Target) -> None:
        from sklearn.metrics import r2_score

        rows = self._oob_rows(found)
        said = found.mean[:, :, 0]
        self.oob_prediction_ = said[:, 0] if self._one_output else said
        score = self.oob_score if callable(self.oob_score) else r2_score
        truth = target.y[rows]
        one = self._one_output
        self.oob_score_ = score(truth[:, 0] if one else truth, self.oob_prediction_[rows])

    def predict(self, X: Any, quantiles: Any = None) -> np.ndarray:
        """Return the mean of the trees; with ``quantiles``, those of the leaves' training targets.

        Quantiles need ``keep_leaves=True``; a list of them gives one column each (Meinshausen 2006).
        """
        if quantiles is not None:
            from arboretum.forest.quantiles import predict_quantiles

            return predict_quantiles(self, X, quantiles)
        matrix = self._encode(X)
        mean = sum_answers(self.trees_, matrix, self._threads())[:, :, 0] / len(self.trees_)
        return mean[:, 0] if self._one_output else mean

    def prediction_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Return the range that holds the target with probability ``coverage``, by quantiles."""
        from arboretum.forest.quantiles import prediction_interval

        return prediction_interval(self, X, coverage)

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        return {**super()._get_fitted_state(), "one_output": self._one_output}

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        model = super()._from_fitted_state(parameters, schema, state)
        one = state["one_output"]
        if model.trees_[0].value.shape[2] != 1 or (one is not True and one is not False):
            raise ModelFileError("the trees are not regression trees")
        if one and model.n_outputs_ != 1:
            raise ModelFileError("a model of one output has trees of several")
        model._one_output = one
        return model
