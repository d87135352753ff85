"""What both gradient boosting estimators share: learning, boosting, asking the trees, keeping.

A classifier and a regressor (gradient_boosting.py) differ in the target and in what is made of the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.estimator import check_same, goes_on, signature
from arboretum.base.holdout import Patience, set_aside
from arboretum.base.model_of_trees import ModelOfTrees
from arboretum.base.parameters import Parameter
from arboretum.base.progress_lines import ProgressLines
from arboretum.base.rounds import Interrupted, Interruptible, run_rounds
from arboretum.base.shared_parameters import ENSEMBLE, GROWTH, RUNNING, STOPPING, TABLE
from arboretum.boosting.adaboost.weak import in_order
from arboretum.boosting.dialect.scikit_learn import make_loss
from arboretum.boosting.gradient.start import Constant, fit_start, raw_start, take_rows
from arboretum.boosting.loss.user import is_loss
from arboretum.data.checks import check_rows
from arboretum.data.slices import as_view
from arboretum.errors import ModelFileError, ParameterError
from arboretum.grow import settings
from arboretum.io.checked import numbers_of, whole
from arboretum.predict.additive import NoAdditiveForm
from arboretum.predict.ensemble import Ensemble
from arboretum.predict.link import Link

if TYPE_CHECKING:
    from arboretum.boosting.gradient.fitting import GrownRound, ResidualBooster
    from arboretum.boosting.loss.loss import Loss
    from arboretum.data.matrix import Matrix
    from arboretum.tree.tree import Tree

__all__ = ["OWN_LOSS", "GradientBoosting"]

OWN_LOSS = p.ParameterRule("an object with gradient(y, F) and hessian(y, F)", is_loss)

Monitor = Callable[[int, Any, dict], bool]
_SCORES = ("train_score_", "oob_scores_", "oob_improvement_", "step_lengths_")


class GradientBoosting(Interruptible, ModelOfTrees):
    """Growing and reading a sum of trees over the columns of `schema_`."""

    # what trees know and boosting has no parameter for
    splitter: ClassVar[str] = "best"
    surrogates: ClassVar[int] = 0
    max_bins: ClassVar[None] = None
    alpha: float = 0.9
    power: float = 1.5

    _fitted: ClassVar = "trees_"
    _learned: ClassVar = (
        "trees_", "members_", "init_", "_rates", "_grown_with", "_n_rows", *_SCORES
    )  # fmt: skip
    _parameters: ClassVar = {
        **GROWTH,
        **TABLE,
        **ENSEMBLE,
        **STOPPING,
        **RUNNING,
        "n_estimators": Parameter(p.integer(1), "Rounds."),
        "subsample": Parameter(
            p.real(0, 1, open_low=True),
            "Share of the rows, drawn without replacement, that a round learns from (stochastic boosting).",
        ),
        "criterion": Parameter(
            p.one_of("friedman_mse", "squared_error"),
            "What a split of the residuals is measured by; with one output both choose the same splits.",
        ),
        "max_depth": Parameter(
            p.integer(1) | p.none,
            "Depth of the trees. Up to 8 they grow from columns sorted once per fit.",
        ),
        "init": Parameter(
            p.one_of("zero", None) | p.an_estimator,
            "Where the sum begins: with an estimator's answer, with 0, or with the best constant.",
        ),
        "random_state": Parameter(
            p.seed, "Seed. Round m depends on (seed, m) and on the sum before it alone."
        ),
        "verbose": Parameter(
            p.integer(0) | p.flag, "1 prints the score of some rounds, 2 of every round."
        ),
        "step": Parameter(
            p.one_of("leaf", "line_search", "gradient"),
            "A step of its own for every leaf; one length for the whole round, found by a search "
            "(`step_lengths_`); or the plain gradient step: leaves answer the mean of their residuals, and "
            "the learning rate is all that scales them.",
        ),
        "estimator": Parameter(
            p.none | p.an_estimator,
            "The weak learner, any regressor that follows scikit-learn; None grows trees. Parameters of "
            "trees are then its own. A round has one length, found by a search whatever the loss "
            '(``step="gradient"``: 1), and the model cannot be kept in a file.',
        ),
    }
    _attributes: ClassVar = {
        "trees_ : list of Tree": "Round after round; in a round of several trees, class after class. "
        "Leaves answer their steps, before the learning rate.",
        **ModelOfTrees._attributes,
        "estimators_ : array of CARTRegressor of shape (n_estimators_, n_trees_per_iteration_)": "",
        "n_estimators_, n_trees_per_iteration_ : int": "",
        "init_ : estimator or Constant": "Where the sum begins.",
        "train_score_ : float array": "Mean loss of the rows in the bag after every round.",
        "oob_improvement_, oob_scores_ : float arrays": "Only with `subsample` < 1: loss of the rows out "
        "of the bag, and how much better than the round before.",
        "oob_score_ : float": "The last of these.",
        "step_lengths_ : float array": 'η of every round; only with ``step="line_search"`` or an '
        "`estimator`.",
        "members_ : list of lists of estimators": "Of every round; only with an `estimator`.",
        **Interruptible._attributes_of_rounds,
        "schema_ : Schema": "Names, kinds and categories of the columns.",
        "n_features_in_, max_features_ : int": "",
        "feature_names_in_ : array of str": "Only if the training table had names.",
        "feature_importances_ : float array": "Share of the impurity decrease each column brought.",
    }

    train_score_: np.ndarray
    oob_scores_: np.ndarray
    oob_improvement_: np.ndarray
    step_lengths_: np.ndarray
    members_: list[list[Any]]
    init_: Any
    _rates: np.ndarray  # learning rate of every round
    _n_rows: int

    # ------------------------------------------------------------------ fitting
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, monitor: Monitor | None = None
    ) -> Self:
        """Boost.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas, polars or pyarrow table, scipy.sparse matrix, or path of a CSV or Parquet
            file. NaN, None and null are missing values.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
        monitor : callable, optional
            Called after every round with its number, the model and a dict (``F``, the sum of the training
            rows; ``sample_mask``, the rows of the round's bag); boosting ends when it returns True.

        Returns
        -------
        self
        """
        self._check_parameters()
        before = self._goes_on()
        kept = {name: vars(self)[name] for name in self._learned if before and name in vars(self)}
        matrix, target, w = self._learn(X, y, sample_weight, going_on=before)
        self.__dict__.update(kept)
        booster, held_out = self._prepare(X, matrix, target, w)
        if not before:
            self.trees_, self._rates = [], np.empty(0)
            for name in _SCORES[:3] if booster.task.n_inbag is not None else _SCORES[:1]:
                setattr(self, name, np.empty(0))
            if self.step == "line_search" or self.estimator is not None:
                self.step_lengths_ = np.empty(0)
            if self.estimator is not None:
                self.members_ = []
        self._n_rows = matrix.n_rows
        interrupted = self._boost(booster, held_out, monitor)
        self._grown_with = [
            *kept.get("_grown_with", []),
            (len(self.trees_), self._tree_parameters()),
        ]
        return self._end_fit(interrupted)

    def _goes_on(self) -> bool:
        """Tell whether rounds are added to those there are, with `warm_start`."""
        if not goes_on(self, "round"):
            return False
        if (self.subsample < 1) != hasattr(self, "oob_scores_"):
            raise ParameterError(
                "with warm_start=True, subsample must stay below 1, or stay 1: rounds out of bag "
                "are scored from the first"
            )
        return True

    @property
    def _n_done(self) -> int:
        return self.n_estimators_

    def _learn(
        self, X: Any, y: Any, sample_weight: Any, *, going_on: bool
    ) -> tuple[Matrix, np.ndarray, np.ndarray | None]:
        """Check the data `fit` was given and turn them into numbers."""
        earlier = signature(self)
        matrix = self._learn_table(X)
        check_rows(matrix.n_rows)
        target = self._learn_labels(y, matrix.n_rows)
        self._warn_of_columns(matrix, target)
        w = self._learn_weights(sample_weight, matrix.n_rows)
        self._check_labels(target, w)
        if going_on:
            check_same(self, earlier)
        return matrix, target, w

    def _learn_labels(self, y: Any, n_rows: int) -> np.ndarray:
        """Return the target as a loss takes it."""
        raise NotImplementedError

    def _check_labels(self, target: np.ndarray, w: np.ndarray | None) -> None:
        """Raise if there is nothing to learn in the rows that count."""

    @property
    def _labels(self) -> np.ndarray | None:
        return getattr(self, "classes_", None)

    def _make_loss(self) -> Loss:
        labels = self._labels
        return make_loss(self.loss, None if labels is None else len(labels), self.alpha, self.power)

    def _prepare(
        self, X: Any, matrix: Matrix, y: np.ndarray, w: np.ndarray | None
    ) -> tuple[ResidualBooster, _HeldOut | None]:
        """Return what plays the rounds, and what tells when to stop."""
        from arboretum.boosting.gradient.fitting import BoostingTask, ResidualBooster
        from arboretum.engine.keys import seed_from
        from arboretum.grow.presorted import presort

        loss = self._make_loss()
        loss.check(y, w, f"loss={self.loss!r}")
        self.loss_ = loss
        if not hasattr(self, "trees_"):
            self.seed_ = seed_from(self.random_state)
        rows, held_out = None, None
        if self.n_iter_no_change is not None:
            self._check_has_value(loss)
            codes = y if loss.classifies else None
            rows, aside = set_aside(matrix.n_rows, self.validation_fraction, self.seed_, codes, w)
        there = X if rows is None else self._rows_for_init(X, rows)
        y_in, w_in = (y, w) if rows is None else (y[rows], None if w is None else w[rows])
        table = matrix if rows is None else matrix.take(rows)
        if not hasattr(self, "init_"):
            self.init_ = fit_start(self.init, loss, there, y_in, w_in, self._labels)
        F = self._sums(there, table).T
        if rows is not None:
            here = matrix.take(aside)
            raw = self._sums(self._rows_for_init(X, aside), here)
            w_out = None if w is None else w[aside]
            held_out = _HeldOut(self, here, y[aside], w_out, raw, self._rows_for_init(X, aside))
        limits = settings.growth(self, self.schema_, _target_of(y_in, w_in), table.n_rows)
        self.max_features_ = limits.max_features or self.n_features_in_
        task = BoostingTask(
            presorted=presort(
                table,
                self.schema_,
                limits,
                self.min_weight_fraction_leaf,
                float(self.ccp_alpha),
                float(self.category_penalty),
            ),
            loss=loss,
            y=y_in,
            w=w_in,
            rows=rows,
            seed=self.seed_,
            n_inbag=max(1, int(self.subsample * table.n_rows)) if self.subsample < 1 else None,
            learning_rate=float(self.learning_rate),
            step=self.step,
        )
        if self.estimator is None:
            return ResidualBooster(task, F), held_out
        from arboretum.boosting.gradient.members import MemberBooster, check_member

        check_member(self, self.estimator, weighted=w is not None)
        return MemberBooster(task, F, self.estimator, as_view(there)), held_out

    def _check_has_value(self, loss: Loss) -> None:
        if not getattr(loss, "has_value", True):
            raise ParameterError(
                f"n_iter_no_change judges rounds by the loss itself: give {type(self.loss).__name__} "
                "a method value(y, F), or leave n_iter_no_change None"
            )

    def _rows_for_init(self, X: Any, rows: np.ndarray) -> Any:
        """Return rows of the table as estimators of others take them, if there are any."""
        constant = self.init is None or isinstance(self.init, str)
        return None if constant and self.estimator is None else take_rows(X, rows)

    def _boost(
        self, booster: ResidualBooster, held_out: _HeldOut | None, monitor: Monitor | None
    ) -> Interrupted | None:
        numbers = range(self.n_estimators_, int(self.n_estimators))
        out_of_bag = booster.task.n_inbag is not None
        lines: ProgressLines | None = None
        if self.verbose:
            lines = ProgressLines(int(self.verbose), int(self.n_estimators), out_of_bag=out_of_bag)

        def make() -> Iterator[int]:
            for number in numbers:
                played = booster.play(number)
                self._keep(played)
                better = float(self.oob_improvement_[-1]) if out_of_bag else None
                if lines is not None:
                    lines.tell(number, played.train_score, better)
                yield number + 1
                if monitor is not None:
                    state = {"F": booster.F, "sample_mask": booster.mask, "i": number}
                    if monitor(number, self, state):
                        return
                if held_out is not None and held_out.has_ended(number, played, booster.loss):
                    return

        try:
            name = type(self).__name__
            return run_rounds(make(), numbers, lambda: self.n_estimators_, name=name)
        except BaseException:  # a fit that fails leaves no half of a model
            del self.trees_
            raise

    def _keep(self, played: GrownRound) -> None:
        """Add a round to the model."""
        self.train_score_ = np.append(self.train_score_, played.train_score)
        if hasattr(self, "oob_scores_"):
            last = self.oob_scores_[-1] if len(self.oob_scores_) else played.oob_before
            self.oob_improvement_ = np.append(self.oob_improvement_, last - played.oob_score)
            self.oob_scores_ = np.append(self.oob_scores_, played.oob_score)
        self._rates = np.append(self._rates, float(self.learning_rate))
        self.trees_.extend(played.trees)
        if played.length is not None:
            self.step_lengths_ = np.append(self.step_lengths_, played.length)
        if played.members:
            self.members_.append(played.members)

    # ------------------------------------------------------------------ reading
    @property
    def _width(self) -> int:
        """Trees of a round."""
        labels = self._labels
        return 1 if labels is None or len(labels) <= 2 else len(labels)

    @property
    def n_trees_per_iteration_(self) -> int:
        """How many trees a round grows: one, or one for each of more than two classes."""
        self._check_fitted()
        return self._width

    @property
    def n_estimators_(self) -> int:
        """How many rounds there are; fewer than `n_estimators` after stopping early."""
        self._check_fitted()
        return len(self._rates)

    @property
    def oob_score_(self) -> float:
        """Loss of the rows out of the last round's bag; only with `subsample` < 1."""
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
        """How F becomes an answer: a number, the probability of the second class, or of all."""
        return self.loss_.link if isinstance(self.loss, str) else Link("own")

    def _start(self, X: Any, n_rows: int) -> np.ndarray:
        """Return where the sum of every row begins, (rows, scores)."""
        return raw_start(self.init_, self.loss_, X, n_rows, self._labels).T

    def _sums(self, X: Any, matrix: Matrix) -> np.ndarray:
        """Return F of every row, (rows, scores)."""
        start = self._start(X, matrix.n_rows)
        if getattr(self, "members_", []):
            *_, last = self._member_sums(X, start)
            return last
        if not getattr(self, "trees_", []):
            return start
        return self.ensemble_.answers(matrix, self._threads_for(matrix), start)

    def _member_sums(self, X: Any, start: np.ndarray) -> Iterator[np.ndarray]:
        """Yield F of every row after each round of members."""
        from arboretum.boosting.gradient.members import answers_of

        X = in_order(self.schema_, X, type(self).__name__)
        F = start
        for members, rate, length in zip(self.members_, self._rates, self.step_lengths_):
            F = F + rate * length * answers_of(members, X)
            yield F

    def _raw(self, X: Any) -> np.ndarray:
        """Return F of every row of a table, (n,) or (n, K)."""
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
                "the sum of this model begins with what its init estimator says of every row, so it has no "
                "predictor: call its predict, or fit it without init"
            )
        return self.ensemble_

    def _summed_trees(self) -> Ensemble:
        name = type(self).__name__
        if self.estimator is not None:
            raise NoAdditiveForm(
                f"this {name} boosts {type(self.estimator).__name__}, not trees, so it has no SHAP values: "
                "explain its members_ one by one, or ask scikit-learn's permutation_importance"
            )
        if not isinstance(self.init_, Constant):
            raise NoAdditiveForm(
                f"the sum of this {name} begins with what its init estimator says of every row, which is "
                "no sum of trees: explain a model that was fitted without init, or ask scikit-learn's "
                "permutation_importance"
            )
        return self.ensemble_

    def _staged_raw(self, X: Any) -> Iterator[np.ndarray]:
        """Yield F of every row after each round."""
        matrix = self._encode(X)
        start = self._start(X, matrix.n_rows)
        if self.estimator is not None:
            return map(shaped, self._member_sums(X, start))
        return map(shaped, self.ensemble_.staged(matrix, self._threads(), start))

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf each row reaches in each tree, (rows, rounds); classifiers: (…, trees of a
        round) besides.
        """
        self._check_trees("leaves")
        return super().apply(X).astype(np.int64)

    @property
    def estimators_(self) -> np.ndarray:
        """The trees as regressors of their own, (rounds, trees of a round). They answer steps."""
        from arboretum.cart.cart import CARTRegressor

        self._check_fitted()
        if self.estimator is not None:
            members = np.empty((len(self.members_), self._width), dtype=object)
            members[:] = self.members_
            return members
        kept = self.__dict__.setdefault("_asked", {})
        found: list[CARTRegressor] = kept.setdefault("estimators", [])
        grown = [*getattr(self, "_grown_with", []), (len(self.trees_), self._tree_parameters())]
        for end, parameters in grown:
            for tree in self.trees_[len(found) : end]:
                one = CARTRegressor(**parameters)
                one._take_schema(self.schema_)
                one.tree_, one.n_outputs_, one.max_features_ = tree, 1, self.max_features_
                found.append(one)
        shown = np.empty(len(found), dtype=object)
        shown[:] = found
        return shown.reshape(-1, self._width)

    def _tree_parameters(self) -> dict[str, Any]:
        """Return the parameters that trees have, too."""
        from arboretum.cart.cart import CARTRegressor

        names = set(CARTRegressor._get_param_names()) - {"random_state"}
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the impurity decrease each column brought, summed over all trees."""
        self._check_fitted()
        self._check_trees("feature_importances_")
        total = self.ensemble_.split_sums(self.n_features_in_).gain
        return total / total.sum() if total.sum() > 0 else total

    def _check_trees(self, what: str) -> None:
        if self.estimator is not None:
            raise AttributeError(
                f"{type(self).__name__}(estimator={type(self.estimator).__name__}) has no {what}: only "
                "trees have them; look at its members_"
            )

    def __len__(self) -> int:
        return self.n_estimators_ * self._width

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        from arboretum.tree.state import trees_to_state

        if self.estimator is not None:
            raise ModelFileError(
                f"a model of {type(self.estimator).__name__}s cannot be kept in a file of arboretum: use "
                "pickle or joblib, or leave estimator None"
            )
        state = super()._get_fitted_state()
        assert isinstance(self.init_, Constant)  # others are refused with the parameters
        return {
            **state,
            "trees": trees_to_state(self.trees_),
            "rates": self._rates,
            "start": self.init_.raw.reshape(-1),
            "scores": {name: getattr(self, name) for name in _SCORES if hasattr(self, name)},
            "max_features": self.max_features_,
            "n_rows": self._n_rows,
            "seed": self.seed_,
        }

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        from arboretum.tree.state import trees_from_state

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
        if not {"train_score_"} <= scores.keys() <= set(_SCORES):
            raise ModelFileError("its scores have unknown names")
        for name, values in scores.items():
            good = isinstance(values, np.ndarray) and values.dtype == np.float64
            if not good or values.shape != (rounds,):
                raise ModelFileError("its scores do not fit its rounds")
            setattr(self, name, values)


class _HeldOut:
    """The rows set aside: follows the rounds and tells when to stop."""

    def __init__(
        self, model: GradientBoosting, matrix: Matrix, y: np.ndarray, w: Any, F: np.ndarray, X: Any
    ) -> None:
        self.model, self.matrix, self.y, self.w, self.F, self.X = model, matrix, y, w, F, X
        self.patience = Patience(int(model.n_iter_no_change), float(model.tol), beats="recent")

    def has_ended(self, number: int, played: GrownRound, loss: Loss) -> bool:
        """Add the trees (or members) of a round, and judge by the loss it went by."""
        model, trees = self.model, played.trees
        if played.members:
            from arboretum.boosting.gradient.members import answers_of

            step = float(model._rates[-1]) * float(played.length or 0.0)
            self.F = self.F + step * answers_of(played.members, self.X)
        else:
            rates = np.repeat(model._rates[-1:], len(trees))
            together = Ensemble(trees, rates, np.zeros(len(trees)))
            self.F = together.answers(self.matrix, model._threads(), self.F)
        return self.patience.has_ended(number, loss.score(self.y, shaped(self.F), self.w))


def shaped(F: np.ndarray) -> np.ndarray:
    """Return scores, (rows, scores), as a loss takes them: (n,) or (n, K)."""
    return F[:, 0] if F.shape[1] == 1 else F


def _target_of(y: np.ndarray, w: np.ndarray | None) -> Any:
    from arboretum.grow.criterion import make_target

    return make_target(y[:, None].astype(np.float64), None, w)
