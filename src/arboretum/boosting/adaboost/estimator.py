"""What the two AdaBoost estimators share: learning the table, the rounds, Ctrl-C, keeping.

    w = sample weights
    every round:  learner ──weak.py──▶ answers ──rounds.py──▶ error, say, next w

A classifier and a regressor differ in how an answer is judged and in what is made of all answers.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin

from arboretum.base import parameters as p
from arboretum.base.parameters import Declared
from arboretum.base.progress import progress
from arboretum.boosting.adaboost import weak
from arboretum.boosting.adaboost.rounds import Round
from arboretum.cart.cart import CARTClassifier, CARTRegressor
from arboretum.data.checks import check_weights
from arboretum.data.schema import Schema, encode, learn_schema
from arboretum.data.slices import as_view
from arboretum.data.target import weights
from arboretum.errors import ModelFileError, ParameterError
from arboretum.forest.estimator import Forest
from arboretum.tree.joined import join_trees

if TYPE_CHECKING:
    from arboretum.tree.joined import JoinedTrees
    from arboretum.tree.tree import Tree

__all__ = ["ADA_RULES", "ADA_TEXT", "AdaBoost"]

ADA_RULES = {
    "estimator": p.none
    | p.Rule(
        "an estimator (an object, not its class)",
        lambda v: hasattr(v, "fit") and hasattr(v, "predict") and not isinstance(v, type),
    ),
    "n_estimators": p.integer(1),
    "learning_rate": p.real(0, open_low=True),
    "sampling": p.one_of("reweight", "resample"),
    "random_state": p.seed,
    "n_jobs": p.jobs,
    "verbose": p.integer(0) | p.flag,
}

ADA_TEXT = """
    Parameters
    ----------
    estimator : estimator or None, default=None
        The weak learner, from any library that follows scikit-learn; None is {base}.
        `CART` trees are grown from columns that are sorted once for all rounds.
    n_estimators : int, default=50
        The most rounds; see `stop_`.
    learning_rate : float, default=1.0
        Shrinks the say of every learner, and with it the change of the weights.{first}
    sampling : {{"reweight", "resample"}}, default="reweight"
        How a learner is told the weights: as `sample_weight`, or by as many rows drawn by weight. The
        second also serves learners that take no weights; rows it learns nothing from are drawn again, up
        to ten times.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the rows drawn, and of learners that draw themselves. Round t depends on (seed, t) alone.
    n_jobs : int or None, default=None
        Threads that search the columns for trees of this library, None being all cores; other learners
        use their own. The result does not depend on it.
    verbose : int, default=0
        Show a progress bar while fitting.

    Attributes
    ----------
    estimators_ : list of estimators
    estimator_weights_ : float array
        The say of each, as long as `estimators_`.
    estimator_errors_ : float array
        {error} of each.{attributes}
    feature_importances_ : float array
        Mean of the learners' importances, by say; only if they tell any.
    stop_ : str
        Why there are no more rounds: "n_estimators", "perfect", "no better than chance" or
        "interrupted".
    schema_ : Schema
        Names, kinds and categories of the columns.
    n_features_in_, n_outputs_ : int
    feature_names_in_ : array of str
        Only if the training table had names.
"""

_ATTEMPTS = 10  # to draw rows that a learner learns something from
_STOPS = ("n_estimators", "perfect", "no better than chance", "interrupted")
_LEARNED = ("estimators_", "_all_nodes", "estimator_weights_", "estimator_errors_", "stop_")


class AdaBoost(Declared, MetaEstimatorMixin, BaseEstimator):
    """What the classifier and the regressor share."""

    _tree: ClassVar[type]
    _depth: ClassVar[int]
    _classifies: ClassVar[bool]

    schema_: Schema
    estimators_: list[Any]

    def _base(self) -> Any:
        return self._tree(max_depth=self._depth) if self.estimator is None else self.estimator

    # ------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Boost.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Handed to the learner as it is.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
            The weights of the first round.

        Returns
        -------
        self
        """
        from arboretum.engine.random import seed_from

        self._check_parameters()
        base = self._base()
        self._check_base(base)
        X = as_view(X)
        ours = isinstance(base, CARTClassifier | CARTRegressor)
        schema, matrix = learn_schema(
            X,
            categorical_features=base.categorical_features if ours else None,
            ordinal_features=base.ordinal_features if ours else None,
        )
        for name in _LEARNED:
            self.__dict__.pop(name, None)
        self._all_nodes: dict[str, JoinedTrees | None] = {}
        self._take_schema(schema)
        codes, labels = self._learn_target(y, matrix.n_rows)
        w = weights(sample_weight, matrix.n_rows)
        if w is not None:
            check_weights(w)
        w = np.ones(matrix.n_rows) if w is None else w
        self.seed_ = seed_from(self.random_state)
        self._n_rows = matrix.n_rows
        learner: Any
        resample = self.sampling == "resample"
        if weak.is_shared_tree(base, resample):
            how = resample, self.seed_, self._threads()
            learner = weak.tree_learner(base, (matrix, schema), labels, self._read_nodes, how, w)
        else:
            learner = weak.AnyLearner(base, X, labels, self._read, resample, self.seed_)
        self.estimator_ = base
        self._boost(learner, codes, w / w.sum())
        return self

    def _check_base(self, base: Any) -> None:
        from sklearn.base import is_classifier, is_regressor
        from sklearn.utils.validation import has_fit_parameter

        name, theirs = type(self).__name__, type(base).__name__
        if (is_regressor if self._classifies else is_classifier)(base):
            wanted = "classifier" if self._classifies else "regressor"
            raise ParameterError(f"{name} needs a {wanted}, but its estimator is a {theirs}")
        if self.sampling == "reweight" and not has_fit_parameter(base, "sample_weight"):
            raise ParameterError(
                f"{theirs} doesn't support sample_weight, so {name} cannot tell it the weights of the "
                "rows: set sampling='resample', which draws rows by weight instead"
            )

    def _boost(self, learner: Any, y: np.ndarray, w: np.ndarray) -> None:
        """Go through the rounds; interrupted, keep those that are finished."""
        members: list[Any] = []
        rounds: list[Round] = []
        stop = "n_estimators"
        n = int(self.n_estimators)
        with progress(n, bool(self.verbose), type(self).__name__) as told:
            try:
                for number in range(n):
                    member, answers, judged = self._learn(learner, w, y, number)
                    if judged is None:
                        stop = "no better than chance"
                        if rounds:
                            break
                        judged = self._judge_first(w, answers, y)
                    members.append(member)
                    rounds.append(judged)
                    if told is not None:
                        told(len(rounds))
                    if judged.perfect:
                        stop = "perfect"
                    if stop != "n_estimators":
                        break
                    w = judged.weights
            except KeyboardInterrupt:
                if not rounds:
                    raise
                stop = "interrupted"
        self._say_why(stop, len(rounds))
        k = len(rounds)
        self.estimators_ = members[:k]
        self.estimator_errors_ = np.array([r.error for r in rounds])
        self.estimator_weights_ = np.array([r.say for r in rounds])
        self.stop_ = stop

    def _learn(self, learner: Any, w: np.ndarray, y: np.ndarray, number: int) -> tuple:
        """Return a learner, its answers and the verdict; rows that were drawn badly are drawn again."""
        for attempt in range(_ATTEMPTS if self.sampling == "resample" else 1):
            member, answers = learner.learn(w, number, attempt)
            judged = self._judge(w, answers, y)
            if judged is not None:
                break
        return member, answers, judged

    def _say_why(self, stop: str, done: int) -> None:
        if stop == "interrupted":
            warnings.warn(
                f"boosting was interrupted: there are the {done} rounds that were finished, of "
                f"{self.n_estimators}",
                stacklevel=4,
            )
        elif stop == "no better than chance" and (self._classifies or done == 1):
            warnings.warn(  # of regressors it is the usual end
                f"boosting ended after {done} of {self.n_estimators} rounds: the next learner is "
                f"{self._chance_text}",
                stacklevel=4,
            )

    def _take_schema(self, schema: Schema) -> None:
        self.schema_ = schema
        self.n_outputs_ = 1
        self.n_features_in_ = schema.n_features
        self.__dict__.pop("feature_names_in_", None)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)

    def _threads(self) -> int:
        from arboretum.engine.parallel import effective_jobs

        return effective_jobs(self.n_jobs)

    # ------------------------------------------------------------------ asking
    def _trees(self) -> list[Tree] | None:
        """Return the trees if all learners are trees over the columns of the table."""
        shared = (CARTClassifier, CARTRegressor)
        if all(type(e) in shared and e.schema_ is self.schema_ for e in self.estimators_):
            return [e.tree_ for e in self.estimators_]
        return None

    @property
    def _joined(self) -> JoinedTrees | None:
        """The trees, if all learners are such, as compiled code takes them at a time."""
        # a dict of fit's own making: to predict changes nothing of the estimator itself
        kept = self.__dict__.setdefault("_all_nodes", {})
        if "all" not in kept:
            trees = self._trees()
            kept["all"] = None if trees is None else join_trees(trees)
        return kept["all"]

    def __getstate__(self) -> dict[str, Any]:
        """What pickle keeps: nothing that is worked out from the learners."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_all_nodes"}

    def _answers(self, X: Any) -> Any:
        """Yield what every member answers to rows, one after the other."""
        from sklearn.utils.validation import check_is_fitted

        from arboretum.predict.walk import leaves_of, leaves_of_all

        check_is_fitted(self, "estimators_")
        trees = self._trees()
        if trees is not None:
            matrix = self._encode(X)
            nodes = self._joined
            leaves = None if nodes is None else leaves_of_all(nodes, matrix, self._threads())
            for t, tree in enumerate(trees):
                if leaves is None or nodes is None:
                    leaf = leaves_of(tree, matrix, self._threads())
                else:
                    leaf = leaves[:, t] - nodes.start[t]
                yield self._read_nodes(tree.value)[leaf]
            return
        X = weak.in_order(self.schema_, X, type(self).__name__)
        for member in self.estimators_:
            yield self._read(member, X)

    def _encode(self, X: Any) -> Any:
        unseen, name = self.estimators_[0].unseen, type(self).__name__
        return encode(self.schema_, X, unseen=unseen, estimator_name=name)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean of the learners' importances, each weighed by its say."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "estimators_")
        each = np.array([member.feature_importances_ for member in self.estimators_])
        return self.estimator_weights_ @ each / self.estimator_weights_.sum()

    def __len__(self) -> int:
        return len(self.estimators_)

    # ------------------------------------------------------------------ keeping
    def save(self, path: Any) -> None:
        """Write the model to one file, if the base is of this library; `arboretum.load` reads it."""
        Forest.save(self, path)  # type: ignore[arg-type]

    def _get_fitted_state(self) -> dict[str, Any]:
        return {
            "estimators": [
                {
                    "schema": None if e.schema_ == self.schema_ else e.schema_.to_state(),
                    "state": e._get_fitted_state(),
                }
                for e in self.estimators_
            ],
            "weights": self.estimator_weights_,
            "errors": self.estimator_errors_,
            "stop": self.stop_,
            "seed": self.seed_,
            "n_rows": self._n_rows,
        }

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        from arboretum.base.estimator import whole

        model = cls(**parameters)
        model._check_parameters()
        model._take_schema(schema)
        model.seed_ = whole(state, "seed", 0)
        model._n_rows = whole(state, "n_rows", 1)
        model.estimator_ = base = model._base()
        kept = state["estimators"]
        if not isinstance(kept, list) or not kept:
            raise ModelFileError("the model has no estimators")
        model.estimators_ = []
        for number, one in enumerate(kept):
            mine = schema if one["schema"] is None else Schema.from_state(one["schema"])
            if mine.n_features != schema.n_features:
                raise ModelFileError(f"estimator {number} does not fit the columns")
            same = weak.make_member(base, model.seed_, number).get_params(deep=False)
            model.estimators_.append(type(base)._from_fitted_state(same, mine, one["state"]))
        for name in ("weights", "errors"):
            numbers = state[name]
            good = isinstance(numbers, np.ndarray) and numbers.dtype == np.float64
            if not good or numbers.shape != (len(kept),) or not np.isfinite(numbers).all():
                raise ModelFileError(f"the {name} of the estimators make no sense")
            setattr(model, f"estimator_{name}_", numbers)
        if state["stop"] not in _STOPS:
            raise ModelFileError("it does not say why boosting ended")
        model.stop_ = state["stop"]
        return model

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        base = get_tags(self._base()).input_tags
        for name in ("sparse", "allow_nan", "string", "categorical"):
            setattr(tags.input_tags, name, getattr(base, name))
        return tags
