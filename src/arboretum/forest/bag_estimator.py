"""What the bagging classifier and regressor share: fitting, asking, out-of-bag answers, keeping.

Estimators are fitted one by one on their bags (base/members.py), or, if they are trees of this library that
get all columns, grown together from one ranked table as a forest is.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin

from arboretum.base import members
from arboretum.base import parameters as p
from arboretum.base.bags import Bags, make_bags
from arboretum.base.parameters import Declared
from arboretum.base.progress import progress
from arboretum.cart.cart import CARTClassifier, CARTRegressor
from arboretum.cart.extra_tree import ExtraTreeClassifier, ExtraTreeRegressor
from arboretum.data.schema import Schema, _match, encode, learn_schema
from arboretum.data.slices import as_view, take_columns, take_rows
from arboretum.data.table import read_table
from arboretum.data.target import weights
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.forest.estimator import Forest
from arboretum.predict.oob_attributes import OutOfBagAttributes
from arboretum.predict.out_of_bag import OutOfBag, errors_of, out_of_bag
from arboretum.predict.voting import sum_answers

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.tree.tree import Tree

__all__ = ["Bagging", "Learned"]

_TREES = (CARTClassifier, CARTRegressor, ExtraTreeClassifier, ExtraTreeRegressor)
_ORDINARY = p.fraction(0, 1, open_low=True)
_RULES = {
    "estimator": p.none
    | p.Rule(
        "an estimator (an object, not its class)",
        lambda v: hasattr(v, "fit") and hasattr(v, "predict") and not isinstance(v, type),
    ),
    "n_estimators": p.integer(1),
    "max_samples": p.integer(1) | _ORDINARY | p.none,
    "max_features": p.integer(1) | _ORDINARY,
    "bootstrap": p.flag,
    "bootstrap_features": p.flag,
    "oob_score": p.flag | p.Rule("a function of (y, prediction)", callable),
    "warm_start": p.flag,
    "n_jobs": p.jobs,
    "random_state": p.seed,
    "verbose": p.integer(0) | p.flag,
}


@dataclass(frozen=True, eq=False)
class Learned:
    """What `fit` was given, checked and ready."""

    X: Any  # as the base takes it
    matrix: Matrix  # in numbers
    codes: np.ndarray  # (rows, outputs): class codes or numbers
    y: np.ndarray  # as the base takes it
    weight: np.ndarray | None


class Bagging(OutOfBagAttributes, Declared, MetaEstimatorMixin, BaseEstimator):
    """What the classifier and the regressor share."""

    _rules: ClassVar = _RULES
    _tree: ClassVar[type]
    _classifies: ClassVar[bool]

    schema_: Schema
    estimators_: list[Any]
    _bags: Bags

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
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _base(self) -> Any:
        return self._tree() if self.estimator is None else self.estimator

    # ------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit all estimators, each on its own bag.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Handed to the base as it is, or in parts.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,) or None
            Rows of weight 0 are never drawn.

        Returns
        -------
        self
        """
        from sklearn.utils.validation import has_fit_parameter

        from arboretum.engine.random import seed_from

        self._check_parameters()
        before = self._to_go_on_with()
        base = self._base()
        self._check_base(base)
        weighs = has_fit_parameter(base, "sample_weight")
        learned = self._learn(base, X, y, sample_weight)
        if not before:
            self.seed_ = seed_from(self.random_state)
        shape = (learned.matrix.n_rows, learned.matrix.n_columns)
        bags = make_bags(self, shape, learned.weight, by_weight=not weighs)
        if before and bags != self._bags:
            raise ParameterError(
                "with warm_start=True the number of rows, their weights, and how rows and columns are "
                "drawn must stay: set warm_start=False to begin anew"
            )
        self._bags = bags
        self._check_oob()
        wanted = range(len(before), int(self.n_estimators))
        new = self._fit_new(base, learned, wanted, weighs)
        if len(new) < len(wanted):
            warnings.warn(
                f"fitting was interrupted: there are the {len(before) + len(new)} estimators that "
                f"were finished, of {self.n_estimators}",
                stacklevel=2,
            )
        self.estimator_ = base
        self.estimators_ = before + new
        if self.oob_score is not False:
            self._set_oob(learned)
        return self

    def _check_base(self, base: Any) -> None:
        from sklearn.base import is_classifier, is_regressor

        if (is_regressor if self._classifies else is_classifier)(base):
            wanted = "classifier" if self._classifies else "regressor"
            raise ParameterError(
                f"{type(self).__name__} needs a {wanted}, but its estimator is a "
                f"{type(base).__name__}"
            )

    def _goes_on(self) -> bool:
        return bool(self.warm_start and hasattr(self, "estimators_"))

    def _to_go_on_with(self) -> list[Any]:
        """Return the estimators that stay, with `warm_start`."""
        if not self._goes_on():
            return []
        if self.n_estimators < len(self.estimators_):
            raise ParameterError(
                f"n_estimators is {self.n_estimators}, but there are {len(self.estimators_)} "
                "already: with warm_start=True it must not get smaller"
            )
        if self.n_estimators == len(self.estimators_):
            warnings.warn(
                "warm_start=True, and n_estimators has not grown: none is added", stacklevel=3
            )
        return self.estimators_

    def _learn(self, base: Any, X: Any, y: Any, sample_weight: Any) -> Learned:
        """Check everything `fit` was given."""
        X = as_view(X)
        ours = isinstance(base, _TREES)
        schema, matrix = learn_schema(
            X,
            categorical_features=base.categorical_features if ours else None,
            ordinal_features=base.ordinal_features if ours else None,
        )
        known = self._signature() if self._goes_on() else None
        for name in ("estimators_", "oob_score_", "_oob"):
            self.__dict__.pop(name, None)
        self._take_schema(schema)
        codes, labels = self._learn_target(y, matrix.n_rows)
        if known is not None and known != self._signature():
            raise DataError(
                "with warm_start=True the table must have the columns, categories and classes of "
                "the first fit: set warm_start=False to begin anew"
            )
        return Learned(X, matrix, codes, labels, weights(sample_weight, matrix.n_rows))

    def _signature(self) -> tuple:
        return self.schema_, self.n_outputs_

    def _take_schema(self, schema: Schema) -> None:
        self.schema_ = schema
        self.n_features_in_ = schema.n_features
        self.__dict__.pop("feature_names_in_", None)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)

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

    def _fit_new(self, base: Any, learned: Learned, wanted: range, weighs: bool) -> list[Any]:
        """Fit the estimators with these numbers; interrupted, those before the first missing one."""
        with progress(len(wanted), bool(self.verbose), type(self).__name__) as told:
            if self._can_share(base):
                return self._grow(base, learned, wanted, told)
            given = (base, self._bags, self.schema_.names, learned.X, learned.y, weighs)
            done: list[Any] = []
            try:
                for member in members.run_in_order(
                    members.fit_member, wanted, *self._jobs(), *given
                ):
                    done.append(member)
                    if told is not None:
                        told(len(done))
            except KeyboardInterrupt:
                if not done and wanted.start == 0:
                    raise
            return done

    def _jobs(self) -> tuple[int | None, bool]:
        """Return how many estimators are fitted at a time, and whether on threads."""
        ours = type(self._base()).__module__.startswith("arboretum.")
        return (self._threads(), True) if ours else (self.n_jobs, False)

    def _threads(self) -> int:
        from arboretum.engine.parallel import effective_jobs

        return effective_jobs(self.n_jobs)

    # ------------------------------------------------------------------ trees grown together
    def _can_share(self, base: Any) -> bool:
        """Tell whether the trees can be grown from one table; what depends on the bag cannot."""
        return (
            type(base) in _TREES
            and self._bags.all_columns
            and base.min_weight_fraction_leaf == 0
            and getattr(base, "class_weight", None) is None
        )

    def _grow(self, base: Any, learned: Learned, wanted: range, told: Any) -> list[Any]:
        from arboretum.data.checks import check_rows, check_weights
        from arboretum.forest.growing import Plan, grow_trees
        from arboretum.grow import settings

        bags = self._bags
        prototype = members.make_member(base, bags, 0, self.schema_.names)
        prototype._check_parameters()
        prototype.schema_ = self.schema_
        prototype._take_names()
        target, _ = prototype._learn_target(learned.y, learned.weight, bags.n_rows)
        check_rows(bags.n_rows)
        if learned.weight is not None:
            check_weights(learned.weight)
        how = settings.growth(prototype, self.schema_, target, bags.n_rows)
        plan = Plan(
            matrix=learned.matrix,
            schema=self.schema_,
            target=target,
            how=how,
            bags=bags,
            ccp_alpha=float(base.ccp_alpha),
        )
        trees = grow_trees(plan, wanted, self._threads(), told)
        prototype.max_features_ = how.max_features or self.n_features_in_
        learned_of_all = {k: v for k, v in vars(prototype).items() if k.endswith("_")}
        grown = []
        for number, tree in zip(wanted, trees, strict=False):
            member = members.make_member(base, bags, number, self.schema_.names)
            vars(member).update(learned_of_all, tree_=tree)
            if hasattr(prototype, "_one_output"):
                member._one_output = prototype._one_output
            grown.append(member)
        return grown

    def _trees(self) -> list[Tree] | None:
        """Return the trees if all estimators are trees over the columns of the table."""
        if not self._bags.all_columns:
            return None  # columns drawn twice or in another order have the table's names, too
        if all(type(e) in _TREES and e.schema_ is self.schema_ for e in self.estimators_):
            return [e.tree_ for e in self.estimators_]
        return None

    # ------------------------------------------------------------------ asking
    def _sum(self, X: Any) -> np.ndarray:
        """Return the sum of the estimators' answers, (rows, outputs, values)."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "estimators_")
        trees = self._trees()
        if trees is not None:
            unseen = self.estimators_[0].unseen
            name = type(self).__name__
            matrix = encode(self.schema_, X, unseen=unseen, estimator_name=name)
            return sum_answers(trees, matrix, self._threads())
        X = self._in_order(X)

        def work(number: int) -> np.ndarray:
            return self._answer(number, X)

        jobs = self._jobs()[0]
        answers = members.run_in_order(work, range(len(self.estimators_)), jobs, True)
        total = next(answers)
        for answer in answers:
            total = total + answer
        return total

    def _answer(self, number: int, X: Any) -> np.ndarray:
        """Return what one estimator says of rows, given all columns."""
        member = self.estimators_[number]
        X = X if self._bags.all_columns else take_columns(X, self._bags.features(number))
        return self._read_answer(member, X)

    def _in_order(self, X: Any) -> Any:
        """Return a table with the columns of the fit, in their order."""
        X = as_view(X)
        order = np.array(_match(self.schema_, read_table(X), type(self).__name__))
        return X if (order == np.arange(len(order))).all() else take_columns(X, order)

    # ------------------------------------------------------------------ out of bag
    def _set_oob(self, learned: Learned) -> None:
        unseen = np.array([self._bags.counts(t) == 0 for t in range(len(self.estimators_))])
        trees = self._trees()
        if trees is not None:
            bits = np.packbits(unseen, axis=1)
            found = out_of_bag(
                trees, learned.matrix, learned.codes, self._classifies, bits, self._threads()
            )
        else:
            found = self._out_of_bag(learned, unseen)
        self._take_oob(found, learned.codes, "estimator")

    def _out_of_bag(self, learned: Learned, unseen: np.ndarray) -> OutOfBag:
        """Ask every estimator about the rows it has not seen."""
        n = learned.matrix.n_rows
        total = np.zeros((n, self.n_outputs_, self._n_values))
        asked, wrong = np.zeros(n, np.int64), np.zeros(n)
        curve = np.full(len(unseen), np.nan)
        for t, away in enumerate(unseen):
            rows = np.flatnonzero(away)
            if len(rows):
                total[rows] += self._answer(t, take_rows(learned.X, rows))
                asked[rows] += 1
                wrong[rows] = errors_of(
                    total[rows], asked[rows], learned.codes[rows], self._classifies
                )
            if asked.any():
                curve[t] = wrong[asked > 0].mean()
        with np.errstate(invalid="ignore"):
            mean = total / np.where(asked > 0, asked, np.nan)[:, None, None]
        return OutOfBag(mean, asked, curve)

    # ------------------------------------------------------------------ what is in it
    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows each estimator was given; a row drawn twice is there twice."""
        rows = np.arange(self._bags.n_rows)
        return [
            np.repeat(rows, self._bags.counts(t).astype(np.int64))
            for t in range(len(self.estimators_))
        ]

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """The columns each estimator was given."""
        return [self._bags.features(t) for t in range(len(self.estimators_))]

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean over the estimators of the importances of their columns, if they tell any."""
        shares = np.zeros(self.n_features_in_)
        for member, columns in zip(self.estimators_, self.estimators_features_, strict=True):
            np.add.at(shares, columns, member.feature_importances_)
        return shares / shares.sum() if shares.sum() > 0 else shares

    def __len__(self) -> int:
        return len(self.estimators_)

    # ------------------------------------------------------------------ keeping
    def save(self, path: Any) -> None:
        """Write the model to one file, if the base is of this library; `arboretum.load` reads it."""
        Forest.save(self, path)  # type: ignore[arg-type]

    def _get_fitted_state(self) -> dict[str, Any]:
        whole_table = self.schema_
        return {
            "estimators": [
                {
                    "schema": None if e.schema_ == whole_table else e.schema_.to_state(),
                    "state": e._get_fitted_state(),
                }
                for e in self.estimators_
            ],
            "bags": self._bags.to_state(),
            "n_outputs": self.n_outputs_,
            "oob": self._oob_state(),
        }

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        from arboretum.base.estimator import whole

        model = cls(**parameters)
        model._check_parameters()
        model._take_schema(schema)
        model._bags = Bags.from_state(state["bags"], schema.n_features)
        model.seed_ = model._bags.seed
        model.n_outputs_ = whole(state, "n_outputs", 1)
        model.estimator_ = base = model._base()
        if not isinstance(state["estimators"], list) or not state["estimators"]:
            raise ModelFileError("the bag has no estimators")
        model.estimators_ = []
        for number, kept in enumerate(state["estimators"]):
            mine = schema if kept["schema"] is None else Schema.from_state(kept["schema"])
            if mine.n_features != len(model._bags.features(number)):
                raise ModelFileError(f"estimator {number} does not fit its columns")
            member = members.make_member(base, model._bags, number, schema.names)
            parameters = member.get_params(deep=False)
            fitted = type(base)._from_fitted_state(parameters, mine, kept["state"])
            if fitted.n_outputs_ != model.n_outputs_:
                raise ModelFileError(f"estimator {number} does not fit the model's outputs")
            model.estimators_.append(fitted)
        return model

    def _read_answers(self, state: dict) -> None:
        shape = self._bags.n_rows, self.n_outputs_, self._n_values
        self._read_oob(state["oob"], shape, len(self.estimators_))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        base = get_tags(self._base()).input_tags
        for name in ("sparse", "allow_nan", "string", "categorical"):
            setattr(tags.input_tags, name, getattr(base, name))
        return tags
