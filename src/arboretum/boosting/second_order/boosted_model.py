"""What all second-order boosters share, whatever the names of their parameters: fitting, predictions, files.

    table ── schema, matrix ─┐                   ┌─► metrics, stopping, callbacks (callbacks/)
    labels, weights ─────────┼─► recipe ─► booster ─► rounds ─► Ensemble, kept by the model
    an earlier model ────────┘

An API (xgboost/, lightgbm/) makes a `FitRequest` from its arguments; its recipe has the whole effect of the
parameters on a fit. Classifiers, regressors and rankers differ in their labels and predictions.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Self

import numpy as np

from arboretum.base.anatomy import Anatomy
from arboretum.base.estimator import Estimator
from arboretum.base.rounds import Interruptible
from arboretum.base.shap_values import Explains
from arboretum.base.targets import Classes, Numbers, with_class_weight
from arboretum.boosting.callbacks.watching import HeldOut, History, Watch
from arboretum.boosting.second_order import fit as steps
from arboretum.boosting.second_order.booster import Booster
from arboretum.boosting.second_order.recipe import LabelledTable, Recipe, TrainingTable
from arboretum.data.checks import check_rows, list_names, list_rows
from arboretum.data.schema import encode, learn_schema
from arboretum.data.target import check_lengths, encode_classes, numbers
from arboretum.data.target import weights as checked_weights
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.grow.bins.in_parts import TableInParts, rows_to_sample
from arboretum.io.values import flag_of, numbers_of, whole
from arboretum.predict.ensemble import Ensemble
from arboretum.predict.link import both_classes, two_labels, two_shares
from arboretum.predict.soundness import prove_ensemble

if TYPE_CHECKING:
    from arboretum.boosting.loss.objective import Objective
    from arboretum.boosting.second_order.fit import FitRequest, GivenTable
    from arboretum.data.matrix import Matrix
    from arboretum.structure.tree import Tree

__all__ = ["BoostedClassifier", "BoostedModel", "BoostedRanker", "BoostedRegressor", "squeezed"]


class BoostedModel(Interruptible, Explains, Estimator):
    """A sum of trees, grown by second-order boosting."""

    dialect: ClassVar[str]
    _family: ClassVar = "second order"
    _fitted: ClassVar = "ensemble_"
    _learned: ClassVar[tuple[str, ...]] = ("ensemble_", "evals_result_", "_best")
    _free_to_change: ClassVar[frozenset[str]]  # parameters that may differ in a resumed fit
    fits_in_parts: ClassVar[bool] = True
    _by_position: ClassVar[bool] = False  # columns of new tables with other names

    n_outputs_: int = 1  # targets
    ensemble_: Ensemble
    evals_result_: History
    _objective: Objective

    # ------------------------------------------------------------------ fitting
    def _fit(self, request: FitRequest) -> Watch:
        """Learn from a table, keep the result, and return the watch with the metrics of the rounds."""
        for name in ("interrupted_", *self._learned):
            self.__dict__.pop(name, None)
        snapshot = request.snapshot
        state = None if snapshot is None else snapshot.read()
        training = self._learn(request)
        recipe = request.recipe(training, request.seed if state is None else int(state["seed"]))
        base = steps.base_margins(recipe, training)
        held_out = [
            self._held_out(given, request, training, recipe, base) for given in request.held_out
        ]
        prints = self._prints(training, held_out) if snapshot is not None else {}
        booster = Booster(recipe, training, base, steps.start_margins(recipe, training, base))
        del training  # the booster frees values that it does not need
        watch = Watch(booster, held_out, request.stopping, request.callbacks, self._so_far)
        done = 0
        if snapshot is not None and state is not None:
            done = snapshot.take_up(watch, state, prints)
        ensemble, interrupted = steps.make_rounds(watch, request, done, prints, type(self).__name__)
        if request.save_best and watch.best is not None:
            ensemble = ensemble.rounds(0, watch.best[0] + 1)
        self._take_rounds(watch, ensemble)
        self.interrupted_ = interrupted  # used by `_end_fit`, after the API has kept its own part
        return watch

    def _take_rounds(self, watch: Watch, ensemble: Ensemble) -> None:
        """Keep what the rounds have made."""
        booster = watch.booster
        self._objective, self.ensemble_ = booster.objective, ensemble
        self.evals_result_, self._best = watch.history, watch.best
        self.seed_, self._n_rows = booster.recipe.plan.seed, len(booster.training.y)

    def _so_far(self, watch: Watch) -> Self:
        """Return a model with the rounds so far, for callbacks."""
        twin = copy.copy(self)
        twin._take_rounds(watch, steps.trees_so_far(watch.booster))
        return twin

    def _earlier(self, given: Any) -> BoostedModel | None:
        """Return the fitted model to continue from."""
        if given is None:
            return None
        if isinstance(given, str | Path):
            from arboretum.io.native import load

            given = load(given)
        given = getattr(given, "model", given)  # boosters have a reference to their model
        if not isinstance(given, BoostedModel) or not hasattr(given, "ensemble_"):
            raise ParameterError(
                f"a fit can continue from a fitted {type(self).__name__}, its booster or its file, "
                f"got {given!r}"
            )
        return given

    def _learn(self, request: FitRequest) -> TrainingTable:
        """Check the training data and encode them."""
        given, earlier = request.training, request.earlier
        of_rows = given.groups is None  # else weights may be those of groups
        check_lengths(given.X, given.y, given.sample_weight if of_rows else None)
        if earlier is None and isinstance(given.X, TableInParts):
            given.X.expected = rows_to_sample(given.X.n_rows, *request.sample)
            self._take_schema(given.X.learn(request.columns))
            matrix = self._matrix(given.X, request.absent)
        elif earlier is None:
            schema, matrix = learn_schema(given.X, **request.columns)
            self._take_schema(schema)
            matrix = steps.with_missing(matrix, schema, request.absent)
        else:
            self._take_schema(earlier.schema_)
            matrix = self._matrix(given.X, request.absent)
        check_rows(matrix.n_rows)
        y = self._learn_labels(given.y, matrix.n_rows, earlier)
        self._warn_of_columns(matrix, y)
        table = TrainingTable(
            *self._rows(given, matrix, y), schema=self.schema_,
            n_classes=getattr(self, "n_classes_", None),
            earlier=None if earlier is None else earlier.ensemble_,
        )  # fmt: skip
        return steps.rows_that_count(table)

    def _rows(self, given: GivenTable, matrix: Any, y: np.ndarray) -> tuple[Any, ...]:
        """Return the parts of a `LabelledTable`: a table and the arrays of its rows."""
        groups = None if given.groups is None else np.asarray(given.groups)
        return matrix, y, self._row_weights(given, y), given.base_margin, groups

    def _row_weights(self, given: GivenTable, y: np.ndarray) -> np.ndarray | None:
        return checked_weights(given.sample_weight, len(y))

    def _held_out(
        self,
        given: GivenTable,
        request: FitRequest,
        training: TrainingTable,
        recipe: Recipe,
        base: np.ndarray,
    ) -> HeldOut:
        """Return an evaluation table; errors name it."""
        own = given.X is request.training.X and training.is_complete
        try:
            matrix = training.matrix if own else self._matrix(given.X, request.absent)
            table = LabelledTable(*self._rows(given, matrix, self._labels(given.y, matrix.n_rows)))
            own &= given.base_margin is request.training.base_margin
            return steps.held_out_table(given.name, table, recipe, base, is_training=own)
        except DataError as error:
            raise DataError(f"{given.name} of eval_set: {error}") from error

    def _prints(self, training: TrainingTable, held_out: list[HeldOut]) -> dict[str, str]:
        """Return the fingerprints of data and parameters."""
        from arboretum.boosting.second_order.snapshot import fingerprints

        free = self._free_to_change | {"n_jobs", "n_estimators", "callbacks", "verbosity"}
        named = {name: getattr(self, name) for name in self._get_param_names() if name not in free}
        return fingerprints(training, held_out, named)

    # ------------------------------------------------------------------ kinds of targets
    def _learn_labels(self, y: Any, n_rows: int, earlier: BoostedModel | None) -> np.ndarray:
        """Return the labels as numbers; classes are stored."""
        return self._labels(y, n_rows)

    def _labels(self, y: Any, n_rows: int) -> np.ndarray:
        raise NotImplementedError

    # ------------------------------------------------------------------ predictions
    def _matrix(self, X: Any, absent: float | None) -> Any:
        name = type(self).__name__
        if isinstance(X, TableInParts):
            return X.encoded(self.schema_, unseen=self.unseen, absent=absent, estimator_name=name)
        matrix = encode(
            self.schema_, X, unseen=self.unseen, estimator_name=name, by_position=self._by_position
        )
        return steps.with_missing(matrix, self.schema_, absent)

    def _encode(self, X: Any) -> Matrix:
        return self._matrix(X, None)

    def _part(self, start: int, end: int | None) -> Ensemble:
        """Return the model of some rounds."""
        whole = (start == 0) and (end is None or end >= self.ensemble_.n_rounds)
        return self.ensemble_ if whole else self.ensemble_.rounds(start, end)

    def _margin(
        self, X: Any, start: int = 0, end: int | None = None, base_margin: Any = None
    ) -> np.ndarray:
        """Return the margins, (rows, n_outputs)."""
        self._check_fitted()
        matrix, part = self._encode(X), self._part(start, end)
        base = None
        if base_margin is not None:
            base = steps.margins_of(base_margin, matrix.n_rows, part.base)
        return part.answers(matrix, self._threads_for(matrix), base)

    def _leaves(self, X: Any, start: int = 0, end: int | None = None) -> np.ndarray:
        """Return the leaf of every row in every tree, (rows, trees)."""
        self._check_fitted()
        return self._part(start, end).leaves(self._encode(X), self._threads())

    def _contributions_of(
        self, X: Any, start: int, end: int | None, *, pairs: bool = False, approximate: bool = False
    ) -> np.ndarray:
        """Return contributions, and last the base: (rows, outputs, columns + 1), squared for pairs."""
        from arboretum.predict.shap.values import along_paths

        self._check_fitted()
        part, matrix = self._part(start, end), self._encode(X)
        found = self._contributions(part)
        if approximate:
            values = along_paths(found.layout, part, matrix, self._threads())
        else:
            values = found.values(matrix, pairs=pairs, n_jobs=self._threads())
        out = np.pad(values, [(0, 0), (0, 0), *[(0, 1)] * (values.ndim - 2)])
        out.reshape(*out.shape[:2], -1)[:, :, -1] = found.base
        return out

    @property
    def objective_(self) -> Any:
        """The loss."""
        self._check_fitted()
        return self._objective

    @property
    def _best_end(self) -> int | None:
        """The end of the rounds to use: after the best one if there was early stopping; None: all."""
        return None if self._best is None else self._best[0] + 1

    def _predicted(self, margin: np.ndarray) -> np.ndarray:
        """Return the predictions for margins."""
        return self._objective.predict(margin)

    def _served(self) -> Ensemble:
        return self._part(0, self._best_end)

    def _summed_trees(self) -> Ensemble:
        return self._part(0, self._best_end)

    def _meanings(self) -> dict[str, Callable[[np.ndarray], Any]]:
        return {"predict": self._predicted, "decision_function": squeezed}

    def _anatomy(self) -> Anatomy:
        found, twin = super()._anatomy(), copy.copy(self)
        curves = {
            (table, metric): values
            for table, metrics in self.evals_result_.items()
            for metric, values in metrics.items()
        }
        history = replace(
            found.history, n_rounds=self.ensemble_.n_rounds, end=self._best_end, curves=curves
        )
        steps: dict[str, Callable[..., Any]] = {
            "labels": twin._labels,
            "rows": twin._rows,
            "predicted": self._predicted,
            "objective": lambda: self._objective,
        }
        return replace(
            found,
            trees=self.trees_,
            ensemble=self.ensemble_,
            is_sum=True,
            history=history,
            recipe=replace(found.recipe, steps=steps),
        )

    def _target_of_fit(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Any, Any, Any]:
        return self._labels(y, n_rows), y, checked_weights(sample_weight, n_rows)

    def _staged(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the margins after every round."""
        self._check_fitted()
        yield from self.ensemble_.staged(self._encode(X), self._threads())

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the predictions after every round."""
        for margin in self._staged(X):
            yield self._predicted(margin)

    @property
    def trees_(self) -> list[Tree]:
        """The trees, round by round, output by output."""
        return self.ensemble_.trees

    def __len__(self) -> int:
        return len(self.ensemble_.trees)

    def _importance(self, end: int | None = None) -> dict[str, np.ndarray]:
        """Return the number of splits on every column, and their gains and covers."""
        self._check_fitted()
        sums = self._part(0, end).split_sums(self.schema_.n_features)
        often = np.maximum(sums.count, 1.0)
        return {
            "weight": sums.count,
            "gain": sums.gain / often,
            "cover": sums.cover / often,
            "total_gain": sums.gain,
            "total_cover": sums.cover,
        }

    # ------------------------------------------------------------------ keeping
    def save(self, path: str | Path | BinaryIO) -> None:
        """Write the model to one file; `arboretum.load` reads it back.

        Functions are not stored: a loaded model that had some can predict, but not continue training.
        """
        plain = copy.copy(self)
        for name, value in self.get_params(deep=False).items():
            some = value if isinstance(value, list | tuple) else [value]
            if name == "callbacks" or any(callable(one) for one in some):
                setattr(plain, name, None)
        super(BoostedModel, plain).save(path)

    def _get_fitted_state(self) -> dict[str, Any]:
        from arboretum.structure.state import trees_to_state

        found = self.ensemble_
        return {
            **super()._get_fitted_state(),
            "trees": trees_to_state(found.trees),
            "weights": found.weights,
            "base": found.base,
            "n_parallel": found.n_parallel,
            "averaged": found.averaged,
            "objective": self._objective.to_state(),
            "evals_result": self.evals_result_,
            "best": None if self._best is None else list(self._best),
            "seed": self.seed_,
            "n_rows": self._n_rows,
        }

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        from arboretum.boosting.names.find import objective_from_state
        from arboretum.structure.joined import arrays_of, pieces
        from arboretum.structure.state import trees_from_state

        super()._read_fitted_state(state)
        self._objective = objective_from_state(state["objective"])
        self.n_outputs_ = self._objective.n_targets
        trees = trees_from_state(state["trees"], self.schema_)
        base, weights = numbers_of(state, "base"), numbers_of(state, "weights", len(trees))
        n_parallel = whole(state, "n_parallel", 1)
        if len(base) != self._objective.n_outputs:
            raise ModelFileError("its trees, weights and outputs do not fit together")
        if len(trees) % (len(base) * n_parallel):
            raise ModelFileError("its trees do not make whole rounds")
        if any(value.shape[1:] != (1, 1) for value in arrays_of(pieces(trees), "value")):
            raise ModelFileError("its trees predict more than one number")
        rule = "average" if flag_of(state, "averaged") else "sum"
        link = self._objective.link
        self.ensemble_ = Ensemble(trees, weights, base, n_parallel, rule, link=link)
        self.evals_result_ = _history(state["evals_result"])
        best = state["best"]
        self._best = None if best is None else (int(best[0]), float(best[1]))
        self.seed_, self._n_rows = whole(state, "seed", 0), whole(state, "n_rows", 1)

    def _in_effect(self) -> dict[str, Any]:
        return {**super()._in_effect(), "objective": self._objective.name}

    def _prove_sound(self) -> None:
        super()._prove_sound()
        prove_ensemble(self.ensemble_, self.schema_)


# ---------------------------------------------------------------------- kinds of targets
class BoostedClassifier(Classes, BoostedModel):
    """Classes with any labels."""

    _attributes: ClassVar = {
        "classes_ : array": "The class labels, sorted.",
        "n_classes_ : int": "",
    }
    classes_: np.ndarray
    n_classes_: int

    def _learn_labels(self, y: Any, n_rows: int, earlier: BoostedModel | None) -> np.ndarray:
        if earlier is None:
            return self._learn_classes(y, n_rows)[:, 0].astype(np.float64)
        if not isinstance(earlier, BoostedClassifier):
            raise DataError("a classifier can only continue from a classifier")
        self._take_classes(earlier.classes_)
        return self._labels(y, n_rows)

    def _labels(self, y: Any, n_rows: int) -> np.ndarray:
        each, codes, _ = encode_classes(y, n_rows=n_rows, estimator_name=type(self).__name__)
        self._refuse_several(len(each))
        labels = each[0].tolist()
        place = {label: code for code, label in enumerate(self.classes_.tolist())}
        known = np.array([place.get(label, -1) for label in labels])[codes[:, 0]]
        unknown = [label for label in labels if label not in place]
        if unknown:
            rows = np.flatnonzero(known < 0)
            raise DataError(
                f"y holds classes that the training labels do not have: {list_names(unknown)} "
                f"({list_rows(rows)})"
            )
        return known.astype(np.float64)

    def _row_weights(self, given: GivenTable, y: np.ndarray) -> np.ndarray | None:
        rows = super()._row_weights(given, y)
        if given.class_weight is None:
            return rows
        codes = y.astype(np.int64)[:, None]
        with np.errstate(divide="ignore"):  # a table may lack a class
            return with_class_weight(given.class_weight, [self.classes_], codes, rows)

    # ------------------------------------------------------------------ answers
    def _shares(self, margin: np.ndarray) -> np.ndarray:
        """Return the probability of the second of two classes, (rows,), or of all, (rows, classes)."""
        return self._objective.predict(margin)

    def _probabilities(self, margin: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes, (rows, classes)."""
        shares = self._shares(margin)
        if shares.ndim == 1:
            shares = both_classes(shares)
        return np.ones((len(shares), 1)) if self.n_classes_ == 1 else shares

    def _predicted(self, margin: np.ndarray) -> np.ndarray:
        if self.n_classes_ == 2 and margin.shape[1] == 1:  # the first of two equal ones is taken
            return self._label_of_two(self._shares(margin), 0.5)
        return self.classes_[self._probabilities(margin).argmax(axis=1)]

    def _meanings(self) -> dict[str, Callable[[np.ndarray], Any]]:
        meanings = {**BoostedModel._meanings(self), "predict_proba": self._probabilities}
        link, outputs = self._objective.link, self._objective.n_outputs
        if link.name == "logit" and outputs == 1 and self.n_classes_ == 2:
            meanings["predict"] = two_labels(self._predicted, link, self.classes_)
            meanings["predict_proba"] = two_shares(self._probabilities, link)
        return meanings

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the sums of the trees' values, (rows,) for two classes, else (rows, classes)."""
        self._check_fitted()
        return squeezed(self._margin(X, 0, self._best_end))

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the margins after every round."""
        for margin in self._staged(X):
            yield squeezed(margin)

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the probabilities of the classes after every round."""
        for margin in self._staged(X):
            yield self._probabilities(margin)

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        n, objective = self.n_classes_, self._objective
        outputs = 1 if objective.n_targets > 1 else objective.n_outputs
        if n != max(outputs, n if n < 3 else 0):
            raise ModelFileError("its classes do not fit its outputs")


class BoostedRegressor(Numbers, BoostedModel):
    """Numbers."""

    def _meanings(self) -> dict[str, Callable[[np.ndarray], Any]]:
        return BoostedModel._meanings(self)

    def _labels(self, y: Any, n_rows: int) -> np.ndarray:
        return np.ascontiguousarray(self._learn_numbers(y, n_rows)[:, 0])


class BoostedRanker(BoostedModel):
    """The order of the rows of every group."""

    _weighs_groups: ClassVar[bool] = False  # weights are those of groups, not of rows

    def _row_weights(self, given: GivenTable, y: np.ndarray) -> np.ndarray | None:
        if not self._weighs_groups or given.sample_weight is None:
            return super()._row_weights(given, y)
        return np.asarray(given.sample_weight, np.float64)  # the objective checks them

    def _labels(self, y: Any, n_rows: int) -> np.ndarray:
        values, _ = numbers(y, n_rows=n_rows, estimator_name=type(self).__name__)
        return np.ascontiguousarray(values[:, 0])


def squeezed(margin: np.ndarray) -> np.ndarray:
    """Return margins of shape (rows, outputs) as (rows,) if there is one output."""
    return margin[:, 0] if margin.shape[1] == 1 else margin


# ---------------------------------------------------------------------- reading a file
def _history(state: Any) -> History:
    good = isinstance(state, Mapping) and all(
        isinstance(metrics, Mapping)
        and all(
            isinstance(values, list) and all(isinstance(v, float | int) for v in values)
            for values in metrics.values()
        )
        for metrics in state.values()
    )
    if not good:
        raise ModelFileError("its history of metrics is damaged")
    return {table: dict(metrics) for table, metrics in state.items()}
