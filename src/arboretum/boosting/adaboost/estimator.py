"""What the two AdaBoost estimators share: learning the table, the rounds, Ctrl-C, files.

    w = sample weights
    every round:  learner ──learners.py──▶ predictions ──formulas.py──▶ error, estimator weight, next w

A classifier and a regressor differ in how a prediction is scored and in how predictions are combined.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin

from arboretum.base import parameters as p
from arboretum.base.anatomy import Anatomy
from arboretum.base.estimator import check_same, goes_on, signature
from arboretum.base.holdout import Patience, set_aside
from arboretum.base.members import (
    check_base,
    kinds_of_base,
    member_from_state,
    member_to_state,
    readable,
    tags_like,
    with_column_kinds,
)
from arboretum.base.model_of_trees import ModelOfMembers
from arboretum.base.parameters import Parameter
from arboretum.base.rounds import Interrupted, Interruptible, run_rounds
from arboretum.base.shared_parameters import ENSEMBLE, MEMBERS_TABLE, RUNNING, STOPPING
from arboretum.boosting.adaboost import learners
from arboretum.boosting.adaboost.formulas import Verdict
from arboretum.cart.cart import CARTClassifier, CARTRegressor
from arboretum.data.checks import members_silent, warn_caller
from arboretum.data.slices import as_view
from arboretum.data.target import weights
from arboretum.errors import ModelFileError, ParameterError
from arboretum.io.values import numbers_of, whole
from arboretum.predict.walk import leaves_of

__all__ = ["AdaBoost"]

_FOLLOWED = ("train_errors_", "validation_scores_", "sample_weights_")  # figures of every round

_NO_WEIGHTS = np.empty(0)
_USUAL_EXPONENT = 100  # weights of 2^-100 to 2^100 are taken as they are
_ATTEMPTS = 10  # to draw rows from which a learner learns something
_STOPS = (
    "n_estimators", "perfect", "no better than chance", "overflow", "interrupted", "n_iter_no_change"
)  # fmt: skip


class AdaBoost(MetaEstimatorMixin, Interruptible, ModelOfMembers):
    """What the classifier and the regressor share."""

    _tree: ClassVar[type]
    _depth: ClassVar[int]
    _classifies: ClassVar[bool]
    _has_theory: bool  # the training error of every round is part of the theory

    train_errors_: np.ndarray
    validation_scores_: np.ndarray
    sample_weights_: np.ndarray

    _family: ClassVar = "adaboost"
    _tree_types: ClassVar = (CARTClassifier, CARTRegressor)
    _learned: ClassVar = (
        "estimators_", "estimator_weights_", "estimator_errors_", "stop_", *_FOLLOWED
    )  # fmt: skip
    _parameters: ClassVar = {
        **ENSEMBLE,
        **MEMBERS_TABLE,
        **RUNNING,
        **STOPPING,
        "keep_weights": Parameter(
            p.flag, "Keep the weights of the rows at the start of every round: `sample_weights_`."
        ),
        "n_estimators": Parameter(p.integer(1), "Maximum number of rounds; see `stop_`."),
        "learning_rate": Parameter(
            p.real(0, open_low=True),
            "Shrinks the weight of every learner, and with it the change of the rows' weights.",
        ),
        "sampling": Parameter(
            p.one_of("reweight", "resample"),
            "How a learner gets the weights: as `sample_weight`, or as n rows drawn by weight. "
            "The second also works with learners that take no weights, and regressors that take none get "
            "drawn rows anyway; rows that teach nothing are drawn again, up to ten times.",
        ),
        "random_state": Parameter(
            p.seed,
            "Seed of the rows drawn, and of learners that are random themselves. Round t depends on (seed, "
            "t) only.",
        ),
        "n_jobs": Parameter(
            p.jobs,
            "Threads that search the columns for trees of this library, None being all cores; other "
            "learners use their own. The result does not depend on it.",
        ),
    }
    _attributes: ClassVar = {
        "estimators_ : list of estimators": "",
        "trees_ : list of Tree": "Only if all learners are CART trees.",
        **ModelOfMembers._attributes,
        "estimator_weights_ : float array": "The weight of each, as long as `estimators_`.",
        "estimator_errors_ : float array": "Weighted error of each; for numbers the weighted mean loss.",
        "feature_importances_ : float array": "Mean of the learners' importances, by weight; only if they "
        "have any.",
        **Interruptible._attributes_of_rounds,
        "stop_ : str": 'Why there are no more rounds: "n_estimators", "perfect", "no better than chance", '
        '"overflow" (of the weights), "n_iter_no_change" or "interrupted".',
        "sample_weights_ : float array of shape (rounds, rows)": "The weights that every round began with; "
        "each adds up to 1. Only with `keep_weights`.",
        "validation_scores_ : float array": "After every round, the error of the held-out rows (for numbers "
        "their mean squared error); only with `n_iter_no_change`.",
        "schema_ : Schema": "Names, kinds and categories of the columns.",
        "n_features_in_, n_outputs_ : int": "",
        "feature_names_in_ : array of str": "Only if the training table had names.",
    }

    def _base(self) -> Any:
        base = self._tree(max_depth=self._depth) if self.estimator is None else self.estimator
        return with_column_kinds(self, base)

    # ------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Boost.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Passed to the learner as it is.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
            The weights of the first round.

        Returns
        -------
        self
        """
        from arboretum.engine.keys import seed_from

        self._check_parameters()
        before = self._rounds() if goes_on(self, "round") else []
        earlier = signature(self)
        base = self._base()
        self._check_base(base)
        resample = self._resamples(base)
        X = as_view(X)
        matrix = self._learn_table(readable(base, X), kinds_of_base(base))
        codes, labels = self._learn_labels(y, matrix.n_rows)
        self._warn_of_columns(matrix, codes)
        w = self._weights_of_rows(sample_weight, matrix.n_rows)
        self._count_categories(matrix, w)
        w = np.ones(matrix.n_rows) if w is None else w
        if before:
            check_same(self, earlier)
        else:
            self.seed_ = seed_from(self.random_state)
        self._n_rows = matrix.n_rows
        self._rows_seen = _RowsSeen(self, codes, w)
        w = self._rows_seen.w
        learner: Any
        with members_silent():
            if learners.is_shared_tree(base, resample):
                learner = learners.tree_learner(
                    base, (matrix, self.schema_), labels, self._read_nodes, w,
                    resample=resample, seed=self.seed_, threads=self._threads(),
                )  # fmt: skip
            else:
                learner = learners.AnyLearner(base, X, labels, self._read, resample, self.seed_)
            self.estimator_ = base
            rounds, w = self._replay(before, (X, matrix), codes, w / w.sum())
            interrupted = self._boost(learner, codes, rounds, w)
            self._rows_seen.store(self)
            del self._rows_seen
            return self._end_fit(interrupted)

    def _rounds(self) -> list[tuple[Any, Verdict]]:
        """Return the learners so far, each with its error and weight."""
        figures = zip(self.estimator_errors_, self.estimator_weights_, strict=True)
        return [
            (member, Verdict(float(error), float(weight), _NO_WEIGHTS))
            for member, (error, weight) in zip(self.estimators_, figures, strict=True)
        ]

    def _replay(
        self,
        before: list[tuple[Any, Verdict]],
        table: tuple[Any, ...],
        y: np.ndarray,
        w: np.ndarray,
    ) -> tuple[list[tuple[Any, Verdict]], np.ndarray]:
        """Return the rounds so far, and the weights of the rows after them."""
        X, matrix = table
        for member, one in before:
            if type(member) in (CARTClassifier, CARTRegressor):
                tree = member._kept_tree
                answers = self._read_nodes(tree.value)[leaves_of(tree, matrix, self._threads())]
            else:
                answers = self._read(member, X)
            verdict = self._weigh(w, answers, y)
            self._rows_seen.add(w, answers, one.estimator_weight)
            if verdict is not None and not verdict.overflown:
                w = verdict.weights  # the first may be no better than chance
        return before, w

    def _check_base(self, base: Any) -> None:
        check_base(self, base, classifies=self._classifies)

    def _resamples(self, base: Any) -> bool:
        """Return True if learners get rows drawn by weight; regressors that take no weights always do."""
        from sklearn.utils.validation import has_fit_parameter

        if self.sampling == "resample" or has_fit_parameter(base, "sample_weight"):
            return bool(self.sampling == "resample")
        if self._classifies:
            raise ParameterError(
                f"{type(base).__name__} doesn't support sample_weight, so {type(self).__name__} cannot give "
                "it the weights of the rows: set sampling='resample', which draws rows by weight instead"
            )
        return True

    def _boost(
        self, learner: Any, y: np.ndarray, before: list[tuple[Any, Verdict]], w: np.ndarray
    ) -> Interrupted | None:
        """Run the rounds; if interrupted, keep the finished ones."""
        members: list[Any] = [member for member, _ in before]
        rounds: list[Verdict] = [done for _, done in before]
        ended = bool(rounds) and rounds[-1].perfect  # nothing is left to learn
        stop = "perfect" if ended else "n_estimators"

        wanted = len(before) if ended else int(self.n_estimators)
        name, numbers = type(self).__name__, range(len(before), wanted)

        bar = bool(self.verbose)
        with run_rounds(numbers, lambda: len(rounds), name=name, bar=bar) as running:
            for number in numbers:
                member, answers, verdict = self._learn(learner, w, y, number)
                if verdict is None:
                    stop = "no better than chance"
                    if rounds:
                        break
                    verdict = self._weigh_first(w, answers, y)
                elif verdict.perfect:
                    stop = "perfect"
                elif verdict.overflown:
                    stop = "overflow"
                late = self._rows_seen.add(w, answers, verdict.estimator_weight)
                if late and stop == "n_estimators":
                    stop = "n_iter_no_change"
                w = verdict.weights
                members.append(member)
                rounds.append(verdict)
                running.finished(number + 1)
                if stop != "n_estimators":
                    break
        interrupted = running.interrupted
        if interrupted:
            stop = "interrupted"
        self._warn_of_end(stop, len(rounds))
        self.estimators_ = members[: len(rounds)]
        self.estimator_errors_ = np.array([r.error for r in rounds])
        self.estimator_weights_ = np.array([r.estimator_weight for r in rounds])
        self.stop_ = stop
        return interrupted

    def _learn(self, learner: Any, w: np.ndarray, y: np.ndarray, number: int) -> tuple[Any, ...]:
        """Return a learner, its predictions and the verdict; rows that teach nothing are drawn again."""
        for attempt in range(_ATTEMPTS if learner.resample else 1):
            member, answers = learner.learn(w, number, attempt)
            verdict = self._weigh(w, answers, y)
            if verdict is not None:
                break
        return member, answers, verdict

    def _warn_of_end(self, stop: str, done: int) -> None:
        # for regressors it is the usual end
        if stop == "no better than chance" and (self._classifies or done == 1):
            warn_caller(
                f"boosting ended after {done} of {self.n_estimators} rounds: the next learner is "
                f"{self._chance_text}"
            )
        if stop == "overflow":
            warn_caller(
                f"Sample weights have reached infinite values, in round {done} of {self.n_estimators}, and "
                "boosting ended: try a smaller learning_rate"
            )

    # ------------------------------------------------------------------ predictions
    def _answers(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the predictions of every member, one after the other."""
        self._check_fitted()
        if self._has_trees:
            leaves = self.ensemble_.leaves(self._encode(X), self._threads())
            for t, tree in enumerate(self.trees_):
                yield self._read_nodes(tree.value)[leaves[:, t]]
            return
        X = learners.in_order(self.schema_, X, type(self).__name__)
        for number, member in enumerate(self.estimators_):
            with members_silent() if number else nullcontext():  # the first one warns for all
                answers = self._read(member, X)
            yield answers

    def _anatomy(self) -> Anatomy:
        found, kept = super()._anatomy(), vars(self)
        figures = {
            "error": self.estimator_errors_,
            "weight": self.estimator_weights_,
            "training error": kept.get("train_errors_"),
            "held-out error": kept.get("validation_scores_"),
        }
        history = replace(
            found.history,
            n_rounds=len(self.estimators_),
            figures={name: values for name, values in figures.items() if values is not None},
        )
        steps = {"answers": self._answers, "weigh": self._weigh}
        held_out = None if self.n_iter_no_change is None else self._hold_out
        recipe = replace(found.recipe, held_out=held_out, steps=steps)
        return replace(found, history=history, recipe=recipe)

    def _weights_of_rows(self, sample_weight: Any, n_rows: int) -> np.ndarray | None:
        """Return checked weights; tiny and huge ones times a power of two: only their ratios matter."""
        w = weights(sample_weight, n_rows)
        if w is not None:
            exponent = int(np.frexp(w.max())[1])
            w = np.ldexp(w, -exponent) if abs(exponent) > _USUAL_EXPONENT else w
        return self._learn_weights(w, n_rows)

    def _target_of_fit(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Any, Any, Any]:
        codes, labels = self._learn_labels(y, n_rows)
        return codes, labels, self._weights_of_rows(sample_weight, n_rows)

    def _hold_out(self, codes: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows to learn from, and those to stop by."""
        labels = self.classes_[codes] if self._classifies else None
        share = float(self.validation_fraction)
        return set_aside(len(codes), share, self.seed_, labels, weight)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean of the learners' importances, weighted by their estimator weights."""
        self._check_fitted()
        each = np.array([member.feature_importances_ for member in self.estimators_])
        return (self.estimator_weights_[:, None] * each).sum(axis=0) / self.estimator_weights_.sum()

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        state = super()._get_fitted_state()
        return {
            **state,
            "estimators": [member_to_state(member, self.schema_) for member in self.estimators_],
            "weights": self.estimator_weights_,
            "errors": self.estimator_errors_,
            "stop": self.stop_,
            "seed": self.seed_,
            "n_rows": self._n_rows,
            "followed": {name: getattr(self, name) for name in _FOLLOWED if hasattr(self, name)},
        }

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        self.seed_ = whole(state, "seed", 0)
        self._n_rows = whole(state, "n_rows", 1)
        self.estimator_ = base = self._base()
        kept = state["estimators"]
        if not isinstance(kept, list) or not kept:
            raise ModelFileError("the model has no estimators")
        self.estimators_ = []
        for number, one in enumerate(kept):
            same = learners.make_member(base, self.seed_, number)
            member = member_from_state(same, one, self.schema_)
            if member.n_features_in_ != self.n_features_in_:
                raise ModelFileError(f"estimator {number} does not fit the columns")
            if member.n_outputs_ != 1:
                raise ModelFileError(f"estimator {number} does not answer one target")
            self.estimators_.append(member)
        self.estimator_weights_ = numbers_of(state, "weights", len(kept))
        self.estimator_errors_ = numbers_of(state, "errors", len(kept))
        if state["stop"] not in _STOPS:
            raise ModelFileError("the reason why boosting ended is missing")
        self.stop_ = state["stop"]
        followed = state.get("followed", {})  # files of earlier versions have none
        if not isinstance(followed, dict) or not followed.keys() <= set(_FOLLOWED):
            raise ModelFileError("the figures of its rounds are damaged")
        for name, values in followed.items():
            width = (self._n_rows,) if name == "sample_weights_" else ()
            good = isinstance(values, np.ndarray) and values.dtype == np.float64
            if not good or values.shape != (len(kept), *width):
                raise ModelFileError(f"{name} does not fit its rounds")
            setattr(self, name, values)

    def __sklearn_tags__(self) -> Any:
        return tags_like(super().__sklearn_tags__(), [self._base()])


class _RowsSeen:
    """Follows the rounds on the rows: training error, held-out rows, and weights, as far as requested.

    Held-out rows have weight 0: no learner learns from them, and all predict them.
    """

    def __init__(self, model: AdaBoost, y: np.ndarray, w: np.ndarray) -> None:
        self.model, self.y = model, y
        self.held: np.ndarray | None = None
        if model.n_iter_no_change is not None:
            _, self.held = model._hold_out(y, w)
            self.held_weights = w[self.held]
            w = w.copy()
            w[self.held] = 0.0
            self.patience = Patience(int(model.n_iter_no_change), float(model.tol), beats="recent")
        self.w, self.total = w, float(w.sum())
        self.alike = bool((w == 1.0).all())
        self.tally = model._tally(y) if self.held is not None or model._has_theory else None
        self.train_errors: list[float] = []
        self.scores: list[float] = []
        self.weights: list[np.ndarray] = []

    def add(self, w: np.ndarray, answers: np.ndarray, estimator_weight: float) -> bool:
        """Add a round that began with weights ``w``; return True if the held-out rows end the fit."""
        if self.model.keep_weights:
            self.weights.append(w)
        if self.tally is None:
            return False
        misses = self.tally.add(answers, estimator_weight)
        if self.model._has_theory:
            wrong = np.count_nonzero(misses) if self.alike else float((self.w * misses).sum())
            self.train_errors.append(wrong / self.total)
        if self.held is None:
            return False
        self.scores.append(float(np.average(misses[self.held], weights=self.held_weights)))
        return self.patience.has_ended(len(self.scores), self.scores[-1])

    def store(self, model: AdaBoost) -> None:
        """Store the followed figures in the model, cut to the number of its rounds."""
        n = len(model.estimators_)
        if self.train_errors:
            model.train_errors_ = np.array(self.train_errors[:n])
        if self.scores:
            model.validation_scores_ = np.array(self.scores[:n])
        if self.weights:
            model.sample_weights_ = np.array(self.weights[:n])
