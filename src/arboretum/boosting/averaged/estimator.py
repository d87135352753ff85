"""What both estimators share: parameters, a fit, members, files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.anatomy import Anatomy
from arboretum.base.parameters import Parameter
from arboretum.base.rounds import Interruptible
from arboretum.base.shared_parameters import GROWTH, RUNNING, TABLE
from arboretum.boosting.averaged.boosters import Ground, bin_table
from arboretum.boosting.averaged.choices import Choice, Choices
from arboretum.boosting.averaged.conformal import kept_errors
from arboretum.boosting.averaged.dates import choose_form, dates_taken_apart
from arboretum.boosting.averaged.fit_time import FitTime
from arboretum.boosting.averaged.fitting import Fitted, Work, find_and_grow
from arboretum.boosting.averaged.folds import (
    Fold,
    folds_by_group,
    folds_by_time,
    given_fold,
    random_folds,
    rows_folds,
)
from arboretum.boosting.averaged.members import AveragedMember, PlannedMember, average, members_of
from arboretum.boosting.averaged.settings import QUALITIES, Settings, settings_for
from arboretum.boosting.names.find import find_metrics, find_objective
from arboretum.boosting.second_order.boosted_model import BoostedModel
from arboretum.boosting.second_order.constraints import monotone_signs
from arboretum.boosting.second_order.fit import FitRequest, GivenTable, seed_of
from arboretum.boosting.second_order.recipe import LabelledTable, TrainingTable
from arboretum.data.checks import list_rows
from arboretum.data.schema import Schema
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.io.values import numbers_of

__all__ = ["BoostedTrees"]

_FEWEST = 2  # rows, one to learn from and one held out

PARAMETERS = {
    "quality": Parameter(
        p.one_of(*QUALITIES),
        "How much work a fit is worth: one hold-out and one member; several kinds and members; or more "
        "trials, smaller steps and eight members.",
    ),
    "time_limit": Parameter(
        p.real(0, open_low=True) | p.none,
        "Seconds that a fit may take, compiling aside: trials end sooner, members that would not end in "
        "time are left out, and one member uses up the time if trials could not find its rounds. What "
        "fits into the time depends on the machine, and so does the model.",
    ),
    "folds": Parameter(
        p.one_of("random", "time"),
        'How rows are held out: drawn at random, or, with "time", those that follow the rows learned '
        "from; the table is then in order of time.",
    ),
    "monotonic_cst": GROWTH["monotonic_cst"],
    **TABLE,
    **RUNNING,
}
ATTRIBUTES = {
    "members_ : list of AveragedMember": "The boosters whose mean the model is: kind, weight and trees.",
    "choices_ : Choices": "What was tried, what was chosen, and why; prints as a table.",
    "ensemble_ : Ensemble": "The trees of all members as one sum.",
    "evals_result_ : dict": "The mean held-out loss after every round, by kind of booster.",
    "schema_ : Schema": "Names, kinds and categories of the columns.",
    "n_features_in_ : int": "",
    "feature_names_in_ : array of str": "Only if the training table had names.",
    "feature_importances_ : float array": "Share of the gain of all splits from each column.",
    **Interruptible._attributes_of_rounds,
}


class BoostedTrees(BoostedModel):
    """The mean of boosters whose rounds were found on held-out rows."""

    dialect: ClassVar[str] = "lightgbm"  # of the names of objectives and metrics
    _family: ClassVar = "averaged"
    fits_in_parts: ClassVar = False  # trials read their held-out rows again and again
    _learned: ClassVar = (*BoostedModel._learned, "choices_")
    _parameters: ClassVar = PARAMETERS
    _attributes: ClassVar = ATTRIBUTES

    choices_: Choices
    _member_of_round: np.ndarray  # the member of every round
    _member_kinds: list[str]  # of members
    _member_weights: list[float]  # what members weigh
    _held_out_errors: np.ndarray  # of held-out rows, in order

    # ------------------------------------------------------------------ fitting
    def _learn_and_grow(
        self, X: Any, y: Any, sample_weight: Any, eval_set: Any, groups: Any
    ) -> Self:
        """Fit; the arguments are those of `fit`."""
        self._check_parameters()
        class_weight = getattr(self, "class_weight", None)
        time = FitTime(self.time_limit)
        given = GivenTable(X, y, sample_weight, class_weight=class_weight)
        for name in ("interrupted_", *self._learned):
            self.__dict__.pop(name, None)
        seed = seed_of(self.random_state)
        request = FitRequest(given, _no_recipe, seed, columns=self._column_kinds())
        training = self._learn(request)
        work = partial(self._work, held_out=(sample_weight, eval_set, groups), seed=seed, time=time)
        chosen, dates = self._with_form_of_dates(training, work)
        fitted = find_and_grow(chosen)
        self._objective, self.seed_ = chosen.ground.objective, seed
        self._n_rows = len(training.y)
        self._keep(fitted, chosen.ground.settings, dates)
        return self._end_fit(fitted.interrupted)

    def _with_form_of_dates(
        self, training: TrainingTable, work: Callable[[TrainingTable], Work]
    ) -> tuple[Work, list[Choice]]:
        """Return the parts of the fit, dates in the form that held-out rows choose, and what was tried."""
        apart = dates_taken_apart(training, self._monotone(training.schema))
        if apart is None:
            return work(training), []
        self._take_schema(apart.schema)  # ``eval_set`` gets parts, too
        with_parts = work(apart)
        left_out, lines = choose_form(with_parts)
        if left_out is None:
            self._take_schema(training.schema)
            return work(training), lines
        return replace(with_parts, ground=replace(with_parts.ground, left_out=left_out)), lines

    def _work(
        self, training: TrainingTable, held_out: tuple[Any, Any, Any], seed: int, time: FitTime
    ) -> Work:
        """Return the parts of a fit."""
        objective_name, metric_name = self._loss_names()
        objective = find_objective(
            objective_name, "lightgbm", n_classes=getattr(self, "n_classes_", None)
        )
        objective.check(training.y, training.weight)
        settings = self._settings(len(training.y), objective.n_outputs, training.schema.n_features)
        monotone, n_jobs = self._monotone(training.schema), self._threads()
        folds = self._folds(training, settings, seed, *held_out)
        table = bin_table(training, settings, seed, n_jobs, monotone)
        ground = Ground(training, objective, settings, table, monotone)
        metric = find_metrics(metric_name, "lightgbm")[0]
        return Work(
            ground, folds, metric, seed, n_jobs, time, type(self).__name__, bool(self.verbose)
        )

    def _monotone(self, schema: Schema) -> np.ndarray | None:
        """Return -1, 0 or 1 for every column; None: no constraints."""
        signs = monotone_signs(self.monotonic_cst, schema.given, "monotonic_cst")
        return signs if signs is None else np.pad(signs, (0, len(schema.parts)))

    def _settings(self, n_rows: int, n_outputs: int, n_features: int) -> Settings:
        """Return the settings for a table of this size."""
        return settings_for(n_rows, n_outputs, self.quality, n_features)

    def _loss_names(self) -> tuple[str, str]:
        """Return the names of the objective and of the metric."""
        raise NotImplementedError

    def _folds(
        self,
        training: TrainingTable,
        settings: Settings,
        seed: int,
        sample_weight: Any,
        eval_set: Any,
        groups: Any,
    ) -> list[Fold]:
        """Return the folds of the trials."""
        n = len(training.y)
        if sum(one is not None for one in (eval_set, groups)) + (self.folds == "time") > 1:
            raise ParameterError(
                "eval_set, groups and folds='time' each set the held-out rows: give one of them"
            )
        if eval_set is not None:
            return [given_fold(self._evaluation_table(eval_set))]
        if n < _FEWEST:
            raise DataError(
                f"{type(self).__name__} needs at least {_FEWEST} rows of weight > 0, got {n} sample: one "
                "is held out while the others are learned from"
            )
        n_folds = min(settings.n_folds, n)
        used = min(settings.used_folds, n_folds)
        if self.folds == "time":
            return folds_by_time(training, n_folds, used)
        if groups is not None:
            by_group = folds_by_group(_group_of_rows(groups, sample_weight, n), n_folds, seed)
            return rows_folds(training, by_group, min(used, int(by_group.max()) + 1))
        by_class = training.n_classes is not None
        return rows_folds(
            training, random_folds(training.y, n_folds, seed, by_class=by_class), used
        )

    def _evaluation_table(self, eval_set: Any) -> LabelledTable:
        pairs = list(eval_set) if isinstance(eval_set, list) else [eval_set]
        if len(pairs) != 1 or not isinstance(pairs[0], list | tuple) or len(pairs[0]) != 2:
            raise ParameterError("eval_set must be a pair of tables (X, y), or a list of one pair")
        X, y = pairs[0]
        weight = getattr(self, "class_weight", None)
        try:
            matrix = self._matrix(X, None)
            given = GivenTable(X, y, class_weight=weight)
            return LabelledTable(*self._rows(given, matrix, self._labels(y, matrix.n_rows)))
        except DataError as error:
            raise DataError(f"eval_set: {error}") from error

    def _keep(self, fitted: Fitted, settings: Settings, dates: list[Choice]) -> None:
        """Keep what a fit found."""
        found, members = fitted.found, fitted.members
        self.ensemble_, self._member_of_round = average(members)
        self._member_kinds = [member.kind for member in members]
        self._member_weights = [member.weight for member in members]
        name = found.metric.name
        self.evals_result_ = {kind: {name: curve.tolist()} for kind, curve in found.curves.items()}
        self._best = None
        self._held_out_errors = kept_errors(self._errors_of(*found.held_out()))
        self.choices_ = _choices(fitted, settings, self._n_rows, dates)

    def _errors_of(self, y: np.ndarray, margin: np.ndarray) -> np.ndarray:
        """Return the errors of held-out rows, for intervals and sets."""
        raise NotImplementedError

    # ------------------------------------------------------------------ looking at it
    @property
    def members_(self) -> list[AveragedMember]:
        """The boosters whose mean the model is."""
        self._check_fitted()
        return members_of(
            self.ensemble_, self._member_of_round, self._member_kinds, self._member_weights
        )

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the gain of all splits from each column; what parts of a date gain counts for the date."""
        schema, every = self.schema_, self._importance()["total_gain"]
        gain = every[: schema.given.n_features]
        for (source, _), part in zip(schema.parts, every[len(gain) :], strict=True):
            gain[source] += part
        total = gain.sum()
        return gain / total if total > 0 else gain

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf each row reaches in each tree, (rows, trees)."""
        return self._leaves(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return the predictions.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._predicted(self._margin(X))

    def _anatomy(self) -> Anatomy:
        found = super()._anatomy()
        own = {"members": lambda: self.members_, "choices": lambda: self.choices_}
        steps = {**found.recipe.steps, **own}
        return replace(found, recipe=replace(found.recipe, steps=steps))

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        return {
            **super()._get_fitted_state(),
            "owner": self._member_of_round.astype(np.float64),
            "kinds": self._member_kinds,
            "shares": np.array(self._member_weights),
            "errors": self._held_out_errors,
            "choices": self.choices_.to_state(),
        }

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        owner, kinds = numbers_of(state, "owner", self.ensemble_.n_rounds), state["kinds"]
        if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
            raise ModelFileError("its kinds of members are damaged")
        if len(owner) and not (owner.min() >= 0 and owner.max() < len(kinds)):
            raise ModelFileError("its rounds and members do not fit together")
        self._member_of_round, self._member_kinds = owner.astype(np.int64), kinds
        self._member_weights = numbers_of(state, "shares", len(kinds)).tolist()
        self._held_out_errors = numbers_of(state, "errors")
        self.choices_ = Choices.from_state(state["choices"])


def _no_recipe(*_: Any) -> Any:
    raise NotImplementedError  # boosters of trials and members have their own


def _group_of_rows(groups: Any, sample_weight: Any, n_rows: int) -> np.ndarray:
    """Return the group of every row that counts."""
    found = np.asarray(groups)
    if sample_weight is not None and found.shape == np.shape(sample_weight):
        found = found[np.asarray(sample_weight, np.float64) != 0]
    if found.shape != (n_rows,):
        raise DataError(
            f"groups must hold the group of every row, {n_rows} in all, got shape {np.shape(groups)}"
        )
    missing = np.flatnonzero(found != found)
    if len(missing):
        raise DataError(f"groups must not be missing ({list_rows(missing)})")
    return found


def _choices(fitted: Fitted, settings: Settings, n_rows: int, dates: list[Choice]) -> Choices:
    """Return what a fit tried and chose."""
    found, planned = fitted.found, fitted.planned
    size = f"rate {settings.learning_rate:g}, {settings.num_leaves} leaves, penalty {settings.l2:g}"
    lines = [Choice("settings", size, None, "yes", f"for {n_rows:,} rows"), *dates]
    if fitted.words:
        option = f"{', '.join(fitted.words)} as target statistics"
        lines.append(Choice("words", option, None, "yes", "many levels; in symmetric trees"))
    alone = len(found.kinds) == 1
    for kind in found.kinds:
        weight, rounds = found.weights[kind], found.rounds[kind]
        loss = float(found.curves[kind][rounds - 1])
        why = "lowest loss of the mean" if weight else "the mean is better without it"
        if alone:
            why = "the only kind"
        elif not found.is_weighed:
            why = "few rows: kinds weigh the same"
        chosen = f"weight {weight:.2g}" if weight else ""
        lines.append(Choice("kind", f"{kind}, {rounds} rounds", loss, chosen, why))
    if not alone:
        option = "of the kinds" if found.is_weighed else "of the folds, one kind each"
        why = f"the loss is {found.metric.name}"
        lines.append(Choice("mean", option, float(found.loss()), "yes", why))
    for kind in found.kinds:
        wanted = [one for one in planned if one.kind == kind]
        if wanted:
            grown = [member.ensemble.n_rounds for member in fitted.members if member.kind == kind]
            lines.append(_members_line(wanted, grown, fitted.interrupted is not None))
    return Choices(lines)


def _members_line(wanted: list[PlannedMember], grown: list[int], interrupted: bool) -> Choice:
    """Return what became of the members of a kind; ``grown`` are the rounds of those there are."""
    most = wanted[0].rounds
    rounds = f"{most} rounds"
    if min(grown, default=most) < most:
        rounds = f"{min(grown)} of {rounds}"
    why = "all rows are learned from"
    if len(grown) < len(wanted):
        why = "Ctrl-C" if interrupted else "time was over"
    chosen = f"{len(grown)} grown" if grown else ""
    return Choice("members", f"{len(wanted)} {wanted[0].kind}, {rounds}", None, chosen, why)
