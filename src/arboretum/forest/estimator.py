"""What all forests share: learning, growing, predicting, saving.

A forest is a list of trees over one schema. Random forest and ExtraTrees differ in how a tree is grown;
classifiers and regressors in how the trees' predictions are combined: probabilities or votes, and copies
per class for missing values; means, quantiles and intervals. Further results of a forest have a file each,
and a method here that calls it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.anatomy import Anatomy
from arboretum.base.estimator import check_same, goes_on, signature
from arboretum.base.members import parameters_of_tree, tree_member
from arboretum.base.model_of_trees import ModelOfTrees
from arboretum.base.oob_attributes import ClassesOutOfBag, NumbersOutOfBag, OutOfBagAttributes
from arboretum.base.parameters import Parameter
from arboretum.base.rounds import Interrupted, Interruptible, progress
from arboretum.base.sampling import Bootstrap, drawn_rows, growing_key, n_draws
from arboretum.base.shared_parameters import ENSEMBLE, GROWTH, RUNNING, TABLE
from arboretum.base.targets import Classes, Numbers
from arboretum.data.checks import check_rows
from arboretum.errors import ParameterError
from arboretum.forest.training_rows import TrainingRows, keep, read_training_rows
from arboretum.forest.trees_on_bags import TreesOnBags
from arboretum.grow import settings
from arboretum.io.values import whole
from arboretum.predict.out_of_bag import out_of_bag

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.forest.filling import Copies
    from arboretum.forest.growing import Plan
    from arboretum.forest.importance import Importance
    from arboretum.grow.grower import GrowTarget

__all__ = ["Forest", "ForestClassifier", "ForestRegressor"]


class Forest(OutOfBagAttributes, TreesOnBags):
    """Growing and reading a list of trees over the columns of `schema_`."""

    _tree: ClassVar[type]  # the estimator of a single tree

    # options of trees that forests have no parameter for
    splitter: ClassVar[str] = "best"
    surrogates: ClassVar[int] = 0
    max_bins: ClassVar[None] = None
    category_penalty: float = 1.0  # where subsets are searched, not drawn

    _bags: Bootstrap
    _training_rows: TrainingRows | None = None

    _family: ClassVar = "forest"
    _learned: ClassVar = ("trees_", "oob_score_", "_oob", "_training_rows")
    _several_outputs: ClassVar = True
    _parameters: ClassVar = {
        **GROWTH,
        **TABLE,
        **ENSEMBLE,
        **RUNNING,
        "n_estimators": Parameter(p.integer(1), "Number of trees."),
        "bootstrap": Parameter(
            p.flag,
            "Grow each tree on a bootstrap sample (rows drawn with replacement) instead of on all rows.",
        ),
        "random_state": Parameter(p.seed, "Seed. Tree t depends on (seed, t) only."),
        "keep_leaves": Parameter(
            p.flag,
            "Keep the training rows and the leaf each reached, for `proximity`. A model file then contains "
            "the rows too.",
        ),
    }
    _attributes: ClassVar = {
        "trees_ : list of Tree": "",
        "estimators_ : list of estimators": "The trees as estimators, made on first use; a classifier's "
        "trees predict class numbers, 0.0, 1.0, …",
        "estimators_samples_ : list of int arrays": "The rows of every tree, with repetitions.",
        "estimator, estimator_ : estimator": "The kind of tree, not fitted.",
        **ModelOfTrees._attributes,
        **Interruptible._attributes_of_rounds,
        "schema_ : Schema": "Names, kinds and categories of the columns.",
        "n_features_in_, n_outputs_ : int": "",
        "feature_names_in_ : array of str": "Only if the training table had names.",
        "feature_importances_ : float array": "Mean share of the impurity decrease from each column "
        "(MDI). Biased towards columns with many values: `permutation_importance` is fairer.",
        "oob_score_ : float": "Only with `oob_score`.",
        "oob_error_curve_ : float array": "Out-of-bag error after each tree.",
        "oob_n_trees_ : int array": "Number of trees that have not seen each row; rows with 0 have no "
        "out-of-bag prediction.",
    }

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
        from arboretum.engine.keys import seed_from
        from arboretum.forest.growing import grow_trees

        self._check_parameters()
        self._check_sampling()
        before = self.trees_ if goes_on(self, "tree") else []
        if len(before) == self.n_estimators and self.oob_score is False and not self.keep_leaves:
            return self
        earlier = signature(self)
        matrix, target, w = self._learn(X, y, sample_weight)
        if not before:
            self.seed_ = seed_from(self.random_state)
        bags = self._bootstrap(matrix.n_rows, w)
        if before:
            check_same(self, earlier)
            bags = self._bags.going_on(bags, len(before))
        self._bags = bags
        plan = self._plan(matrix, target, w, bags)
        wanted = range(len(before), int(self.n_estimators))
        with progress(len(wanted), bool(self.verbose), type(self).__name__) as on_progress:
            new = grow_trees(plan, wanted, self._threads(), on_progress)
        self.trees_ = before + new
        self.max_features_ = plan.growth.max_features or self.n_features_in_
        if self.keep_leaves:
            self._training_rows = keep(self.trees_, matrix, target, self._threads())
        if self.oob_score is not False:
            self._set_oob(plan)
        ended = Interrupted(len(self.trees_), wanted.stop, "tree")
        return self._end_fit(ended if len(new) < len(wanted) else None)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> tuple[Matrix, GrowTarget, Any]:
        """Check the arguments of `fit` and encode them."""
        matrix = self._learn_table(X)
        check_rows(matrix.n_rows)
        target, w = self._learn_target(y, sample_weight, matrix.n_rows)
        self._count_categories(matrix, w)
        self._warn_of_columns(matrix, target.y)
        return matrix, target, w

    def _check_sampling(self) -> None:
        if not self.bootstrap and self.max_samples is not None:
            raise ParameterError(
                "`max_sample` cannot be set if `bootstrap=False`. Either switch to `bootstrap=True` or set "
                "`max_sample=None`."
            )
        if not self.bootstrap and self.oob_score is not False:
            raise ParameterError(
                "Out of bag estimation only available if bootstrap=True: without it every tree "
                "sees every row"
            )

    def _bootstrap(self, n: int, w: np.ndarray | None) -> Bootstrap:
        draws = n_draws(self.max_samples, n) if self.bootstrap else None
        weighing = None if w is None or w.all() else np.flatnonzero(w)
        return Bootstrap(self.seed_, n, draws, weighing)

    def _plan(
        self, matrix: Matrix, target: GrowTarget, w: np.ndarray | None, bags: Bootstrap
    ) -> Plan:
        from arboretum.forest.growing import Plan
        from arboretum.grow.grower import make_target

        n = matrix.n_rows
        weighed = make_target(target.y, target.classes, np.ones(n) if w is None else w)
        return Plan(
            matrix=matrix,
            schema=self.schema_,
            target=target,
            growth=settings.growth(self, self.schema_, weighed, n),
            bags=bags,
            balance=getattr(self, "class_weight", None) == "balanced_subsample",
        )

    def _anatomy(self) -> Anatomy:
        found = super()._anatomy()

        def plan(matrix: Matrix, target: GrowTarget, weight: np.ndarray | None) -> Plan:
            return self._plan(matrix, target, weight, self._bags)

        return replace(found, recipe=replace(found.recipe, steps={"plan": plan}))

    # ------------------------------------------------------------------ out of bag
    def _set_oob(self, plan: Plan) -> None:
        target, numbers = plan.target, range(len(self.trees_))
        unseen = np.array([np.packbits(self._bags.counts(t) == 0) for t in numbers])
        classes = target.classes is not None
        found = out_of_bag(self.ensemble_, plan.matrix, target.y, classes, unseen, self._threads())
        self._take_oob(found, target.y, "tree")

    # ------------------------------------------------------------------ reading
    def permutation_importance(self, X: Any, y: Any, sample_weight: Any = None) -> Importance:
        """Return how much worse each tree predicts its unseen rows when a column is shuffled.

        ``X`` and ``y`` are the training data. The result has means and standard errors over the trees.
        """
        from arboretum.forest.importance import permutation_importance

        return permutation_importance(self, X, y, sample_weight)

    def prediction_variance(
        self, X: Any, method: str = "infinitesimal"
    ) -> np.ndarray | list[np.ndarray]:
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

    # ------------------------------------------------------------------ members
    @property
    def estimator(self) -> Any:
        """The kind of tree, not fitted."""
        return self._tree()

    @property
    def estimator_(self) -> Any:
        """The kind of tree, not fitted."""
        return self._tree()

    @property
    def estimators_(self) -> list[Any]:
        """The trees as estimators that share the arrays of the forest."""
        self._check_fitted()
        cache = self.__dict__.setdefault("_cache", {})
        if "estimators" not in cache:
            parameters, learned = parameters_of_tree(self, self._tree), self._learned_by_trees()
            cache["estimators"] = [
                tree_member(
                    self._tree,
                    parameters,
                    self.schema_,
                    _kept_tree=tree,
                    random_state=growing_key(self.seed_, number),
                    **learned,
                )
                for number, tree in enumerate(self.trees_)
            ]
        return cache["estimators"]

    def _learned_by_trees(self) -> dict[str, Any]:
        """Return the attributes that every tree has learned of the target."""
        return {"n_outputs_": self.n_outputs_, "max_features_": self.max_features_}

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows of every tree, int32; a row drawn twice is there twice."""
        self._check_fitted()
        return [drawn_rows(self._bags.counts(t)) for t in range(len(self))]

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        return {
            **super()._get_fitted_state(),
            "max_features": self.max_features_,
            "kept": None if self._training_rows is None else self._training_rows.to_state(),
            "oob": self._oob_state(),
        }

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        self._bags = Bootstrap.from_state(state["bags"])
        self.seed_ = self._bags.seed
        self.max_features_ = whole(state, "max_features", 1)
        if state["kept"] is not None:
            classes = getattr(self, "_each_classes", None)
            codes = None if classes is None else [len(labels) for labels in classes]
            self._training_rows = read_training_rows(state["kept"], self, codes)
        shape = self._bags.n_rows, *self._leaf_shape
        self._read_oob(state["oob"], shape, len(self.trees_))


# ---------------------------------------------------------------------- classes
class ForestClassifier(ClassesOutOfBag, Classes, Forest):
    """Class probabilities (or votes) of many trees."""

    _leaves_hold_probabilities: ClassVar = True
    _parameters: ClassVar = {
        **Forest._parameters,
        "criterion": Parameter(
            p.one_of("gini", "entropy", "log_loss"),
            'Impurity that splits reduce; "log_loss" is the same as "entropy".',
        ),
        "class_weight": Parameter(
            p.text_or("a dict, a list of dicts", dict, list)
            | p.one_of("balanced", "balanced_subsample", None),
            'Weight of each class; "balanced" is n / (K · count of the class), "balanced_subsample" the '
            "same in every tree's own bag.",
        ),
        "voting": Parameter(
            p.one_of("soft", "hard"),
            "Average the class probabilities of the trees, or count their votes.",
        ),
    }
    _attributes: ClassVar = {
        **Forest._attributes,
        **Classes._attributes,
        "oob_decision_function_ : float array": "Class probabilities or votes of the trees that have not "
        "seen a row.",
    }

    def _learned_by_trees(self) -> dict[str, Any]:
        each = [np.arange(len(labels), dtype=np.float64) for labels in self._each_classes]
        one = isinstance(self.classes_, np.ndarray)
        return {
            **super()._learned_by_trees(),
            "classes_": each[0] if one else each,
            "n_classes_": self.n_classes_,
        }

    @property
    def _reading(self) -> str:
        return "vote" if self.voting == "hard" else "value"

    # ------------------------------------------------------------------ predicting
    def predict_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return the mean class probabilities of the trees; with ``voting="hard"`` the shares of their votes.

        A list of arrays for several outputs.
        """
        return self._probabilities_of(self._mean_shares(X))

    def _mean_shares(self, X: Any) -> np.ndarray:
        """Return mean probabilities, (rows, outputs, classes)."""
        matrix = self._encode(X)
        return self.ensemble_.answers(matrix, self._threads_for(matrix))

    def predict(self, X: Any, missing: str | None = None) -> np.ndarray:
        """Return the most probable class, the first in order between equals.

        ``missing="per_class"`` is Breiman's method for rows with missing values: a copy of the row for each
        class, filled as if it had that class; the class whose copy gets most votes for itself wins. It
        needs ``keep_leaves=True``.
        """
        if missing is not None:
            from arboretum.forest.filling import predict_per_class

            if missing != "per_class":
                raise ParameterError(f"missing must be None or 'per_class', got {missing!r}")
            return predict_per_class(self, X)
        return self._labels_of(self._mean_shares(X).argmax(axis=2))

    def predict_copies(self, X: Any) -> Copies:
        """Return the filled copies behind ``predict(X, missing="per_class")``, and their votes.

        Every row is copied once per class and filled as if it had that class. `Copies` has the votes of
        the trees on every copy, the filled rows, and the prediction: the class whose copy got most votes
        for itself. It needs ``keep_leaves=True``.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from arboretum import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> forest = RandomForestClassifier(50, keep_leaves=True, random_state=0).fit(X, y)
        >>> copies = forest.predict_copies([[5.0, np.nan, 1.4, np.nan]])
        >>> copies.prediction, copies.own_votes.argmax(axis=1)
        (array([0]), array([0]))
        """
        from arboretum.forest.filling import predict_copies

        return predict_copies(self, X)

    def predict_votes(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return how many trees vote for each class, whatever ``voting`` is."""
        return self._probabilities_of(np.rint(self._votes(self._encode(X))).astype(int))

    def _votes(self, matrix: Matrix) -> np.ndarray:
        """Return how many trees vote for each class, (rows, outputs, classes)."""
        voting = replace(self.ensemble_, reading="vote", rule="sum")
        return voting.answers(matrix, self._threads_for(matrix))


# ---------------------------------------------------------------------- numbers
class ForestRegressor(NumbersOutOfBag, Numbers, Forest):
    """The mean of many trees."""

    _parameters: ClassVar = {
        **Forest._parameters,
        "criterion": Parameter(
            p.one_of("squared_error", "absolute_error", "friedman_mse", "poisson"),
            "Impurity that splits reduce.",
        ),
        "keep_leaves": Parameter(
            p.flag,
            "Keep the training rows and the leaf each reached, for `predict(X, quantiles=...)` and "
            "`proximity`. A model file then contains the rows too.",
        ),
    }
    _attributes: ClassVar = {
        **Forest._attributes,
        "oob_prediction_ : float array": "Predictions of the trees that have not seen a row.",
    }

    def _learned_by_trees(self) -> dict[str, Any]:
        return {**super()._learned_by_trees(), "_one_output": self._one_output}

    # ------------------------------------------------------------------ predicting
    def predict(self, X: Any, quantiles: Any = None) -> np.ndarray:
        """Return the mean of the trees; with ``quantiles``, quantiles of the leaves' training targets.

        Quantiles need ``keep_leaves=True``; a list of them gives one column each (Meinshausen 2006).
        """
        if quantiles is not None:
            from arboretum.forest.quantiles import predict_quantiles

            return predict_quantiles(self, X, quantiles)
        matrix = self._encode(X)
        return self._numbers_of(self.ensemble_.answers(matrix, self._threads_for(matrix))[:, :, 0])

    def prediction_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Return the range that holds the target with probability ``coverage``, by quantiles."""
        from arboretum.forest.quantiles import prediction_interval

        return prediction_interval(self, X, coverage)
