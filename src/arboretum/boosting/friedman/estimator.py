"""What both gradient boosting estimators share: their parameters, learning and boosting.

A classifier and a regressor (gradient_boosting.py) differ in the target and in the meaning of the sum.
Predictions and files are in reading.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.anatomy import Anatomy, PartModel
from arboretum.base.estimator import check_same, goes_on, signature
from arboretum.base.holdout import Patience, set_aside
from arboretum.base.model_of_trees import ModelOfTrees
from arboretum.base.parameters import Parameter
from arboretum.base.progress import ProgressLines
from arboretum.base.rounds import Interrupted, Interruptible, run_rounds
from arboretum.base.shared_parameters import ENSEMBLE, GROWTH, RUNNING, STOPPING, TABLE
from arboretum.boosting.friedman.reading import SCORES, SumOfTrees, shaped
from arboretum.boosting.friedman.start import Constant, fit_start, take_rows
from arboretum.boosting.loss.user import is_loss
from arboretum.data.checks import check_rows
from arboretum.data.slices import as_view
from arboretum.errors import ParameterError
from arboretum.grow import settings
from arboretum.predict.ensemble import Ensemble

if TYPE_CHECKING:
    from arboretum.boosting.friedman.fitting import GrownRound, ResidualBooster
    from arboretum.boosting.loss.loss import Loss
    from arboretum.data.matrix import Matrix

__all__ = ["OWN_LOSS", "GradientBoosting", "start_with"]

OWN_LOSS = p.ParameterRule("an object with gradient(y, F) and hessian(y, F)", is_loss)


def start_with(method: str) -> Parameter:
    """Return the parameter `init`; an estimator needs this method."""
    estimator = p.ParameterRule(
        f"an object implementing 'fit' and '{method}'",
        lambda v: hasattr(v, "fit") and hasattr(v, method) and not isinstance(v, type),
    )
    given = p.one_of("zero") | p.none | estimator
    return Parameter(
        p.ParameterRule(f"a str among {{'zero'}}, None or {estimator.phrase}", given.allows),
        "Start of the sum: an estimator's predictions, 0, or the best constant (None).",
    )


Monitor = Callable[[int, Any, dict[str, Any]], bool]


class GradientBoosting(SumOfTrees):
    """Growing a sum of trees over the columns of `schema_`."""

    # options of trees that boosting has no parameter for
    splitter: ClassVar[str] = "best"
    surrogates: ClassVar[int] = 0
    max_bins: ClassVar[None] = None

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
            "The score of a split of the residuals; with one output both choose the same splits.",
        ),
        "max_depth": Parameter(
            p.integer(1) | p.none,
            "Depth of the trees. Up to 8 they grow from columns sorted once per fit.",
        ),
        "init": start_with("predict"),
        "random_state": Parameter(
            p.seed, "Seed. Round m depends only on (seed, m) and the sum before it."
        ),
        "verbose": Parameter(
            p.integer(0) | p.flag, "1 prints the score of some rounds, 2 that of every round."
        ),
        "step": Parameter(
            p.one_of("leaf", "line_search", "gradient"),
            "A step of its own for every leaf; one length for the whole round, found by a search "
            "(`step_lengths_`); or the plain gradient step: leaves predict the mean of their residuals, and "
            "only the learning rate scales them.",
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
        "Leaf values are steps, before the learning rate.",
        **ModelOfTrees._attributes,
        "estimators_ : array of CARTRegressor of shape (n_estimators_, n_trees_per_iteration_)": "",
        "n_estimators_, n_trees_per_iteration_ : int": "",
        "init_ : estimator or Constant": "Start of the sum.",
        "train_score_ : float array": "Mean loss of the in-bag rows after every round.",
        "oob_improvement_, oob_scores_ : float arrays": "Only with `subsample` < 1: loss of the out-of-bag "
        "rows, and its improvement over the round before; 0 for rounds with all rows.",
        "oob_score_ : float": "The last of these.",
        "step_lengths_ : float array": 'η of every round; only with ``step="line_search"`` or an '
        "`estimator`.",
        "members_ : list of lists of estimators": "Of every round; only with an `estimator`.",
        **Interruptible._attributes_of_rounds,
        "schema_ : Schema": "Names, kinds and categories of the columns.",
        "n_features_in_, max_features_ : int": "",
        "feature_names_in_ : array of str": "Only if the training table had names.",
        "feature_importances_ : float array": "Share of the impurity decrease from each column.",
    }

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
        before = goes_on(self, "round")
        kept = {name: vars(self)[name] for name in self._learned if before and name in vars(self)}
        matrix, target, w = self._learn(X, y, sample_weight, going_on=before)
        self.__dict__.update(kept)
        booster, held_out = self._prepare(X, matrix, target, w)
        if not before:
            self.trees_, self._rates = [], np.empty(0)
            for name in SCORES[:3] if booster.task.n_inbag is not None else SCORES[:1]:
                setattr(self, name, np.empty(0))
            if self.step == "line_search" or self.estimator is not None:
                self.step_lengths_ = np.empty(0)
            if self.estimator is not None:
                self.members_ = []
        elif booster.task.n_inbag is not None and not hasattr(self, "oob_scores_"):
            self.oob_scores_ = self.oob_improvement_ = np.zeros(self._n_done)
        self._n_rows = matrix.n_rows
        interrupted = self._boost(booster, held_out, monitor)
        self._grown_with = [
            *kept.get("_grown_with", []),
            (len(self.trees_), self._tree_parameters()),
        ]
        return self._end_fit(interrupted)

    @property
    def _n_done(self) -> int:
        return self.n_estimators_

    def _learn(
        self, X: Any, y: Any, sample_weight: Any, *, going_on: bool
    ) -> tuple[Matrix, np.ndarray, np.ndarray | None]:
        """Check the arguments of `fit` and encode them."""
        earlier = signature(self)
        matrix = self._learn_table(X)
        check_rows(matrix.n_rows)
        target = self._learn_labels(y, matrix.n_rows)
        self._warn_of_columns(matrix, target)
        w = self._learn_weights(sample_weight, matrix.n_rows)
        self._count_categories(matrix, w)
        self._check_labels(target, w)
        if going_on:
            check_same(self, earlier)
        return matrix, target, w

    def _learn_labels(self, y: Any, n_rows: int) -> np.ndarray:
        """Return the target in the form for losses."""
        raise NotImplementedError

    def _check_labels(self, target: np.ndarray, w: np.ndarray | None) -> None:
        """Raise if there is nothing to learn in the rows that count."""

    def _prepare(
        self, X: Any, matrix: Matrix, y: np.ndarray, w: np.ndarray | None
    ) -> tuple[ResidualBooster, _HeldOut | None]:
        """Return the booster, and the held-out rows that may end the fit."""
        from arboretum.boosting.friedman.fitting import BoostingTask, ResidualBooster
        from arboretum.engine.keys import seed_from
        from arboretum.grow.choose import Use, choose_grower

        loss = self._make_loss()
        loss.check(y, w, f"loss={self.loss!r}")
        self.loss_ = loss
        if not hasattr(self, "trees_"):
            self.seed_ = seed_from(self.random_state)
        rows, held_out = None, None
        if self.n_iter_no_change is not None:
            self._check_has_value(loss)
            rows, aside = self._hold_out(y, w)
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
        target = _target_of(y_in, w_in)
        growth = replace(
            settings.growth(self, self.schema_, target, table.n_rows),
            min_weight_leaf=0.0,
            min_share=self.min_weight_fraction_leaf,
        )
        self.max_features_ = growth.max_features or self.n_features_in_
        task = BoostingTask(
            grower=choose_grower(table, self.schema_, growth, target, Use.RESIDUALS),
            matrix=table,
            growth=growth,
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
        from arboretum.boosting.friedman.members import MemberBooster, check_member

        check_member(self, self.estimator, weighted=w is not None)
        return MemberBooster(task, F, self.estimator, as_view(there)), held_out

    def _check_has_value(self, loss: Loss) -> None:
        if not getattr(loss, "has_value", True):
            raise ParameterError(
                f"n_iter_no_change evaluates rounds by the loss itself: give {type(self.loss).__name__} "
                "a method value(y, F), or leave n_iter_no_change None"
            )

    def _anatomy(self) -> Anatomy:
        found, kept = super()._anatomy(), vars(self)
        constant, own_trees = isinstance(self.init_, Constant), self.estimator is None
        parts = [] if constant else [PartModel("init", self.init_)]
        if not own_trees:
            parts += [PartModel("", one) for members in self.members_ for one in members]
        figures = {
            "loss": self.train_score_,
            "rate": self._rates,
            "out-of-bag loss": kept.get("oob_scores_"),
        }
        history = replace(
            found.history,
            n_rounds=self.n_estimators_,
            figures={name: values for name, values in figures.items() if values is not None},
        )
        steps: dict[str, Callable[..., Any]] = {
            "start": self._start,
            "rows": self._rows_for_init,
            "sums": self._member_sums,
            "staged": self._staged_raw,
        }
        held_out = None if self.n_iter_no_change is None else self._hold_out
        recipe = replace(found.recipe, held_out=held_out, steps=steps)
        return replace(
            found,
            ensemble=self.ensemble_ if own_trees else None,
            is_sum=constant and own_trees,
            parts=tuple(parts),
            history=history,
            recipe=recipe,
        )

    def _target_of_fit(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Any, Any, Any]:
        return self._learn_labels(y, n_rows), y, self._learn_weights(sample_weight, n_rows)

    def _hold_out(self, y: np.ndarray, w: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the training rows and the held-out rows."""
        labels = None if self._labels is None else self._labels[y]
        return set_aside(len(y), self.validation_fraction, self.seed_, labels, w)

    def _rows_for_init(self, X: Any, rows: np.ndarray) -> Any:
        """Return rows of the table in the form for other estimators, if there are any."""
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

        name = type(self).__name__
        try:
            with run_rounds(numbers, lambda: self.n_estimators_, name=name) as rounds:
                for number in numbers:
                    played = booster.play(number)
                    self._keep(played, out_of_bag)
                    better = float(self.oob_improvement_[-1]) if out_of_bag else None
                    if lines is not None:
                        lines.report(number, played.train_score, better)
                    rounds.finished(number + 1)
                    if monitor is not None:
                        state = {"F": booster.F, "sample_mask": booster.mask, "i": number}
                        if monitor(number, self, state):
                            break
                    if held_out is not None and held_out.has_ended(number, played, booster.loss):
                        break
        except BaseException:  # a fit that fails leaves no partial model
            del self.trees_
            raise
        return rounds.interrupted

    def _keep(self, played: GrownRound, out_of_bag: bool) -> None:
        """Add a round to the model."""
        self.train_score_ = np.append(self.train_score_, played.train_score)
        if hasattr(self, "oob_scores_"):
            last = self.oob_scores_[-1] if self.oob_scores_[-1:].any() else played.oob_before
            score, gain = (played.oob_score, last - played.oob_score) if out_of_bag else (0.0, 0.0)
            self.oob_improvement_ = np.append(self.oob_improvement_, gain)
            self.oob_scores_ = np.append(self.oob_scores_, score)
        self._rates = np.append(self._rates, float(self.learning_rate))
        self.trees_.extend(played.trees)
        if played.length is not None:
            self.step_lengths_ = np.append(self.step_lengths_, played.length)
        if played.members:
            self.members_.append(played.members)


class _HeldOut:
    """The held-out rows: evaluates rounds and ends the fit."""

    def __init__(
        self, model: GradientBoosting, matrix: Matrix, y: np.ndarray, w: Any, F: np.ndarray, X: Any
    ) -> None:
        self.model, self.matrix, self.y, self.w, self.F, self.X = model, matrix, y, w, F, X
        self.patience = Patience(int(model.n_iter_no_change), float(model.tol), beats="recent")

    def has_ended(self, number: int, played: GrownRound, loss: Loss) -> bool:
        """Add the trees (or members) of a round; return True if the fit should end."""
        model, trees = self.model, played.trees
        if played.members:
            from arboretum.boosting.friedman.members import answers_of

            step = float(model._rates[-1]) * float(played.length or 0.0)
            self.F = self.F + step * answers_of(played.members, self.X)
        else:
            rates = np.repeat(model._rates[-1:], len(trees))
            together = Ensemble(trees, rates, np.zeros(len(trees)))
            self.F = together.answers(self.matrix, model._threads(), self.F)
        return self.patience.has_ended(number, loss.score(self.y, shaped(self.F), self.w))


def _target_of(y: np.ndarray, w: np.ndarray | None) -> Any:
    from arboretum.grow.grower import make_target

    return make_target(y[:, None].astype(np.float64), None, w)
