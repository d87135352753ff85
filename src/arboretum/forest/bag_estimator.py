"""What the bagging classifier and regressor share: fitting, predictions, out-of-bag results, files.

Estimators are fitted one by one on their bags (base/members.py). Trees of this library that get all
columns are grown together from one ranked table, as in a forest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin

from arboretum.base import members
from arboretum.base import parameters as p
from arboretum.base.anatomy import Anatomy, PartModel, has_anatomy
from arboretum.base.estimator import check_same, goes_on, signature
from arboretum.base.model_of_trees import ModelOfMembers
from arboretum.base.oob_attributes import OutOfBagAttributes
from arboretum.base.parameters import Parameter
from arboretum.base.rounds import Interrupted, Interruptible, progress, run_rounds
from arboretum.base.sampling import BagRules, drawn_rows, make_bags
from arboretum.base.shap_values import Explains, Member
from arboretum.base.shared_parameters import ENSEMBLE, MEMBERS_TABLE, MOST_DRAWS, RUNNING
from arboretum.cart.cart import CARTClassifier, CARTRegressor
from arboretum.cart.extra_tree import ExtraTreeClassifier, ExtraTreeRegressor
from arboretum.data.checks import members_silent
from arboretum.data.column_warnings import Unseen, gather_unseen, warn_unseen
from arboretum.data.schema import _match
from arboretum.data.slices import as_view, take_columns, take_rows
from arboretum.data.table import read_table
from arboretum.data.target import weights
from arboretum.errors import ModelFileError, ParameterError
from arboretum.forest.growing import Plan
from arboretum.grow import settings
from arboretum.io.values import whole
from arboretum.predict.out_of_bag import OutOfBag, errors_of, out_of_bag

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix

__all__ = ["Bagging", "Learned"]

_TREES = (CARTClassifier, CARTRegressor, ExtraTreeClassifier, ExtraTreeRegressor)


@dataclass(frozen=True, eq=False)
class Learned:
    """The arguments of `fit`, checked and encoded."""

    X: Any  # as the base takes it
    matrix: Matrix  # in numbers
    codes: np.ndarray  # (rows, outputs): class codes or numbers
    y: np.ndarray  # as the base takes it
    weight: np.ndarray | None


class Bagging(OutOfBagAttributes, MetaEstimatorMixin, Interruptible, ModelOfMembers):
    """What the classifier and the regressor share."""

    _tree: ClassVar[type]
    _tree_types: ClassVar = _TREES
    _classifies: ClassVar[bool]

    _bags: BagRules

    _family: ClassVar = "bag"
    _learned: ClassVar = ("estimators_", "oob_score_", "_oob")
    _parameters: ClassVar = {
        **ENSEMBLE,
        **MEMBERS_TABLE,
        **RUNNING,
        "estimator": Parameter(
            p.none | p.an_estimator,
            "The estimator to fit, from any library that follows scikit-learn; None is a CART tree.",
        ),
        "max_samples": Parameter(
            p.integer(1, MOST_DRAWS) | p.fraction(0, 1, open_low=True) | p.none,
            "Rows for each estimator, with `bootstrap` also more than there are; a float is a share of the "
            "rows; None is all of them.",
        ),
        "max_features": Parameter(
            p.integer(1) | p.fraction(0, 1, open_low=True),
            "Columns for each estimator; a float is a share of the columns.",
        ),
        "bootstrap": Parameter(p.flag, "Draw rows with replacement."),
        "bootstrap_features": Parameter(
            p.flag, 'Draw columns with replacement. A column drawn again is named "name (2)".'
        ),
        "n_jobs": Parameter(
            p.jobs,
            "Estimators of this library are fitted on this many threads, None being all cores; others as in "
            "joblib, None being 1. The result does not depend on it.",
        ),
        "random_state": Parameter(p.seed, "Seed. Estimator t depends on (seed, t) only."),
    }
    _attributes: ClassVar = {
        "estimators_ : list of estimators": "",
        "trees_ : list of Tree": "Only if all estimators are CART trees over all columns.",
        **ModelOfMembers._attributes,
        "estimators_samples_ : list of int arrays": "The rows of each estimator, repeated for every time "
        "a row was drawn.",
        "estimators_features_ : list of int arrays": "The columns of each estimator.",
        **Interruptible._attributes_of_rounds,
        "schema_ : Schema": "Names, kinds and categories of the columns.",
        "n_features_in_, n_outputs_ : int": "",
        "feature_names_in_ : array of str": "Only if the training table had names.",
        "oob_score_ : float": "Only with `oob_score`.",
        "oob_error_curve_ : float array": "Out-of-bag error after each estimator.",
        "oob_n_trees_ : int array": "Number of estimators that have not seen each row; rows with 0 have no "
        "out-of-bag prediction.",
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = 1.0,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: Any = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str | None = None,
    ) -> None:
        p.take_arguments(locals())

    def _base(self) -> Any:
        base = self._tree() if self.estimator is None else self.estimator
        return members.with_column_kinds(self, base)

    # ------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit all estimators, each on its own bag.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Passed to the base as it is, or in parts.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,) or None
            Rows are drawn in proportion to it; without `bootstrap`, see the notes.
        **fit_params
            Passed to the base, with scikit-learn's metadata routing.

        Returns
        -------
        self
        """
        from arboretum.engine.keys import seed_from

        given = members.routed(self, "fit", fit_params)
        self._check_parameters()
        before = self.estimators_ if goes_on(self, "estimator") else []
        if len(before) == self.n_estimators and self.oob_score is False:
            return self
        earlier = signature(self)
        base = self._base()
        members.check_base(self, base, classifies=self._classifies)
        weighs = members.takes_weights(base)
        learned = self._learn(base, X, y, sample_weight)
        if not before:
            self.seed_ = seed_from(self.random_state)
        shape = (learned.matrix.n_rows, learned.matrix.n_columns)
        bags = make_bags(self, shape, learned.weight, by_weight=self.bootstrap or not weighs)
        if before:
            check_same(self, earlier)
            bags = self._bags.going_on(bags, len(before))
        self._bags = bags
        self._check_oob()
        wanted = range(len(before), int(self.n_estimators))
        new = self._fit_new(base, learned, wanted, weighs, given)
        self.estimator_ = base
        self.estimators_ = before + new
        if self.oob_score is not False:
            self._set_oob(learned)
        ended = Interrupted(len(self.estimators_), wanted.stop, "estimator")
        return self._end_fit(ended if len(new) < len(wanted) else None)

    def _learn(self, base: Any, X: Any, y: Any, sample_weight: Any) -> Learned:
        """Check the arguments of `fit` and encode them."""
        X = as_view(X)
        matrix = self._learn_table(members.readable(base, X))
        codes, labels = self._learn_labels(y, matrix.n_rows)
        self._warn_of_columns(matrix, codes)
        w = weights(sample_weight, matrix.n_rows)
        self._count_categories(matrix, w)
        return Learned(X, matrix, codes, labels, w)

    def _column_kinds(self) -> dict[str, Any]:
        return members.kinds_of_base(self._base())

    def _check_oob(self) -> None:
        if self.oob_score is not False and not self.bootstrap and self._bags.draws == self._n_open:
            raise ParameterError(
                "Out of bag estimation only available if bootstrap=True, or if max_samples leaves "
                "rows out: every estimator sees every row"
            )

    @property
    def _n_open(self) -> int:
        weight = self._bags.weight
        return self._bags.n_rows if weight is None else int(np.count_nonzero(weight))

    def _fit_new(
        self, base: Any, learned: Learned, wanted: range, weighs: bool, more: dict[str, Any]
    ) -> list[Any]:
        """Fit the estimators with these numbers; interrupted, return those before the first missing one."""
        name, bar = type(self).__name__, bool(self.verbose)
        if self._can_share(base):
            with progress(len(wanted), bar, name) as on_progress, members_silent():
                grown = self._grow(base, learned, wanted, on_progress)
            return grown
        given = (base, self._bags, self.schema_.names, learned.X, learned.y, weighs, more)
        fitted = members.run_in_order(members.fit_member, wanted, *self._jobs(), *given)
        done: list[Any] = []

        def kept() -> int:
            return wanted.start + len(done)

        with (
            members_silent(),
            run_rounds(wanted, kept, name=name, what="estimator", bar=bar) as rounds,
        ):
            for member in fitted:
                done.append(member)
                rounds.finished(kept())
        return done

    def _jobs(self) -> tuple[int | None, bool]:
        """Return how many estimators are fitted at a time, and whether on threads."""
        return (self._threads(), True) if has_anatomy(self._base()) else (self.n_jobs, False)

    # ------------------------------------------------------------------ trees grown together
    def _can_share(self, base: Any) -> bool:
        """Return True if the trees can be grown from one table: nothing in it depends on the bag."""
        return (
            type(base) in _TREES
            and self._bags.all_columns
            and base.min_weight_fraction_leaf == 0
            and getattr(base, "class_weight", None) is None
        )

    def _grow(self, base: Any, learned: Learned, wanted: range, on_progress: Any) -> list[Any]:
        from arboretum.data.checks import check_rows, check_weights
        from arboretum.forest.growing import Plan, grow_trees
        from arboretum.grow import settings

        bags = self._bags
        prototype = members.make_member(base, bags, 0, self.schema_.names)
        prototype._check_parameters()
        prototype._take_schema(self.schema_)
        weight = None if bags.by_weight else learned.weight
        target, _ = prototype._learn_target(learned.y, weight, bags.n_rows)
        check_rows(bags.n_rows)
        if weight is not None:
            check_weights(weight)
        growth = settings.growth(prototype, self.schema_, target, bags.n_rows)
        plan = Plan(
            matrix=learned.matrix, schema=self.schema_, target=target, growth=growth, bags=bags
        )
        trees = grow_trees(plan, wanted, self._threads(), on_progress)
        prototype.max_features_ = growth.max_features or self.n_features_in_
        learned_of_all = {k: v for k, v in vars(prototype).items() if k.endswith("_")}
        grown = []
        for number, tree in zip(wanted, trees, strict=False):
            member = members.make_member(base, bags, number, self.schema_.names)
            vars(member).update(learned_of_all, _kept_tree=tree)
            if hasattr(prototype, "_one_output"):
                member._one_output = prototype._one_output
            grown.append(member)
        return grown

    @property
    def _shares_columns(self) -> bool:
        return self._bags.all_columns  # columns drawn twice or in another order still get names

    # ------------------------------------------------------------------ predictions
    def _mean(self, X: Any, method: str = "predict", **params: Any) -> np.ndarray:
        """Return the mean of the estimators' predictions, (rows, outputs, values).

        ``params`` of ``method`` are routed to the estimators, if scikit-learn's metadata routing is enabled.
        """
        self._check_fitted()
        given = members.routed(self, method, params)
        if self._has_trees and not given:
            matrix = self._encode(X)
            return self.ensemble_.answers(matrix, self._threads_for(matrix))
        X, unseen = self._in_order(X), Unseen()

        def work(number: int) -> np.ndarray:
            with gather_unseen(unseen):
                return self._answer(number, X, **given)

        jobs = self._jobs()[0]
        answers = members.run_in_order(work, range(len(self.estimators_)), jobs, True)
        total = next(answers)
        for answer in answers:
            total = total + answer
        if unseen:
            warn_unseen(unseen)
        return total / len(self.estimators_)

    def _answer(self, number: int, X: Any, **given: Any) -> np.ndarray:
        """Return the predictions of one estimator for rows with all columns."""
        member = self.estimators_[number]
        X = X if self._bags.all_columns else take_columns(X, self._bags.features(number))
        return self._read_answer(member, X, **given)

    def get_metadata_routing(self) -> Any:
        """Return which metadata each method passes to the base, in scikit-learn's form."""
        from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

        base = self._base()
        proba = self._classifies and hasattr(base, "predict_proba")
        mapping = MethodMapping().add(caller="fit", callee="fit")
        mapping.add(caller="decision_function", callee="decision_function")
        for caller in ("predict", "predict_proba", "predict_log_proba"):
            mapping.add(caller=caller, callee="predict_proba" if proba else "predict")
        return MetadataRouter(owner=self).add(estimator=base, method_mapping=mapping)

    def _members(self) -> list[Member] | None:
        """Return the estimators whose mean explains the bag, if it is no sum of trees itself."""
        if self._has_trees or not all(isinstance(one, Explains) for one in self.estimators_):
            return None
        bags = self._bags
        return [
            Member(one, columns=None if bags.all_columns else bags.features(number))
            for number, one in enumerate(self.estimators_)
        ]

    def _table_for_members(self, X: Any) -> Any:
        return self._in_order(X)

    def _in_order(self, X: Any) -> Any:
        """Return a table with the columns of the fit, in their order."""
        X = as_view(X)
        order = np.array(_match(self.schema_, read_table(X), type(self).__name__))
        return X if (order == np.arange(len(order))).all() else take_columns(X, order)

    def _anatomy(self) -> Anatomy:
        found = super()._anatomy()
        together = self._has_trees and self._can_share(self.estimator_)
        steps: dict[str, Callable[..., Any]] = {
            "in_order": self._in_order,
            "answer": self._answer,
            "plan": self._plan_again,
        }
        recipe = replace(found.recipe, steps=steps, bagged_together=together)
        return replace(found, recipe=recipe)

    def _plan_again(self, matrix: Matrix, labels: np.ndarray, weight: np.ndarray | None) -> Plan:
        """Return how trees that share a table were grown."""
        one = members.make_member(self.estimator_, self._bags, 0, self.schema_.names)
        one._take_schema(self.schema_)
        weight = None if self._bags.by_weight else weight
        target, _ = one._learn_target(labels, weight, matrix.n_rows)
        how = settings.growth(one, self.schema_, target, matrix.n_rows)
        return Plan(matrix, self.schema_, target, how, self._bags)

    def _parts(self) -> tuple[PartModel, ...]:
        bags = self._bags
        return tuple(
            PartModel(f"member {number}", one, None if bags.all_columns else bags.features(number))
            for number, one in enumerate(self.estimators_)
        )

    def _target_of_fit(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Any, Any, Any]:
        codes, labels = self._learn_labels(y, n_rows)
        return codes, labels, weights(sample_weight, n_rows)

    # ------------------------------------------------------------------ out of bag
    def _set_oob(self, learned: Learned) -> None:
        unseen = np.array([self._bags.counts(t) == 0 for t in range(len(self.estimators_))])
        if self._has_trees:
            bits = np.packbits(unseen, axis=1)
            found = out_of_bag(
                self.ensemble_,
                learned.matrix,
                learned.codes,
                self._classifies,
                bits,
                self._threads(),
            )
        else:
            found = self._out_of_bag(learned, unseen)
        self._take_oob(found, learned.codes, "estimator")

    def _out_of_bag(self, learned: Learned, unseen: np.ndarray) -> OutOfBag:
        """Predict every estimator's unseen rows."""
        n = learned.matrix.n_rows
        total = np.zeros((n, self.n_outputs_, self._leaf_shape[1]))
        n_unseen, wrong = np.zeros(n, np.int64), np.zeros(n)
        curve = np.full(len(unseen), np.nan)
        for t, away in enumerate(unseen):
            rows = np.flatnonzero(away)
            if len(rows):
                total[rows] += self._answer(t, take_rows(learned.X, rows))
                n_unseen[rows] += 1
                wrong[rows] = errors_of(
                    total[rows], n_unseen[rows], learned.codes[rows], self._classifies
                )
            if n_unseen.any():
                curve[t] = wrong[n_unseen > 0].mean()
        with np.errstate(invalid="ignore"):
            mean = total / np.where(n_unseen > 0, n_unseen, np.nan)[:, None, None]
        return OutOfBag(mean, n_unseen, curve)

    # ------------------------------------------------------------------ contents
    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows of each estimator; a row drawn twice is there twice."""
        return [drawn_rows(self._bags.counts(t)) for t in range(len(self.estimators_))]

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """The columns of each estimator."""
        return [self._bags.features(t) for t in range(len(self.estimators_))]

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean over the estimators of the importances of their columns, if they have any."""
        shares = np.zeros(self.n_features_in_)
        for member, columns in zip(self.estimators_, self.estimators_features_, strict=True):
            np.add.at(shares, columns, member.feature_importances_)
        return shares / shares.sum() if shares.sum() > 0 else shares

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        state = super()._get_fitted_state()
        return {
            **state,
            "estimators": [members.member_to_state(e, self.schema_) for e in self.estimators_],
            "bags": self._bags.to_state(),
            "n_outputs": self.n_outputs_,
            "oob": self._oob_state(),
        }

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        self._bags = BagRules.from_state(state["bags"], self.schema_.n_features)
        self.seed_ = self._bags.seed
        self.estimator_ = base = self._base()
        if whole(state, "n_outputs", 1) != self.n_outputs_:
            raise ModelFileError("the model's outputs are invalid")
        if not isinstance(state["estimators"], list) or not state["estimators"]:
            raise ModelFileError("the bag has no estimators")
        self.estimators_ = []
        for number, kept in enumerate(state["estimators"]):
            unfitted = members.make_member(base, self._bags, number, self.schema_.names)
            member = members.member_from_state(unfitted, kept, self.schema_)
            if member.n_features_in_ != len(self._bags.features(number)):
                raise ModelFileError(f"estimator {number} does not fit its columns")
            if member.n_outputs_ != self.n_outputs_:
                raise ModelFileError(f"estimator {number} does not fit the model's outputs")
            self.estimators_.append(member)
        self._check_members()
        shape = self._bags.n_rows, *self._leaf_shape
        self._read_oob(state["oob"], shape, len(self.estimators_))

    def _check_members(self) -> None:
        """Raise if the estimators of a file do not fit the model's classes or outputs."""

    def __sklearn_tags__(self) -> Any:
        return members.tags_like(super().__sklearn_tags__(), [self._base()])
