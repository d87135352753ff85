"""What all second-order boosters share, whatever their parameters are called: fitting, asking, keeping.

    table ── schema, matrix ─┐                   ┌─► metrics, stopping, callbacks (watch/)
    labels, weights ─────────┼─► recipe ─► booster ─► rounds ─► Ensemble, kept by the model
    an earlier model ────────┘

An API (xgboost/, lightgbm/) makes a `FitRequest` of its arguments; its recipe is all that the parameters
mean to a fit. Classifiers, regressors and rankers differ in their labels and answers.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from arboretum.base.aliases import Aliased
from arboretum.base.class_weight import with_class_weight
from arboretum.boosting.second_order import fit as steps
from arboretum.boosting.second_order.booster import Booster
from arboretum.boosting.second_order.recipe import LabelledTable, Recipe, TrainingTable
from arboretum.boosting.watch.watching import HeldOut, History, Watch
from arboretum.data.checks import check_rows, check_scale, list_names, list_rows
from arboretum.data.schema import Schema, encode, learn_schema
from arboretum.data.target import encode_classes, numbers
from arboretum.data.target import weights as checked_weights
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.predict.ensemble import Ensemble

if TYPE_CHECKING:
    from arboretum.boosting.second_order.fit import FitRequest, GivenTable
    from arboretum.data.matrix import Matrix

__all__ = ["BoostedClassifier", "BoostedModel", "BoostedRanker", "BoostedRegressor"]

_LEARNED = ("ensemble_", "evals_result_", "_best")  # what a fit begins without


class BoostedModel(Aliased, BaseEstimator):
    """A sum of trees, grown by second-order boosting."""

    dialect: ClassVar[str]
    _free_to_change: ClassVar[frozenset[str]]  # parameters that a resumed fit may have others of

    schema_: Schema
    ensemble_: Ensemble
    evals_result_: History

    # ------------------------------------------------------------------ fitting
    def _fit(self, request: FitRequest) -> Watch:
        """Learn from a table, keep what was learned, and return what was seen on the way."""
        for name in _LEARNED:
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
        watch = Watch(booster, held_out, request.stopping, request.callbacks)
        done = 0
        if snapshot is not None and state is not None:
            done = snapshot.take_up(watch, state, prints)
        ensemble = steps.make_rounds(watch, request, done, prints, type(self).__name__)
        if request.save_best and watch.best is not None:
            ensemble = ensemble.rounds(0, watch.best[0] + 1)
        self.objective_, self.ensemble_ = recipe.objective, ensemble
        self.evals_result_, self._best = watch.history, watch.best
        self.seed_, self._n_rows = recipe.plan.seed, len(training.y)
        return watch

    def _earlier(self, given: Any) -> BoostedModel | None:
        """Return the fitted model to go on from."""
        if given is None:
            return None
        if isinstance(given, str | Path):
            from arboretum.io.native import load

            given = load(given)
        given = getattr(given, "model", given)  # a booster knows its model
        if not isinstance(given, BoostedModel) or not hasattr(given, "ensemble_"):
            raise ParameterError(
                f"a fit goes on from a fitted {type(self).__name__}, its booster or the path of its file, "
                f"got {given!r}"
            )
        return given

    def _learn(self, request: FitRequest) -> TrainingTable:
        """Check the training data and turn them into numbers."""
        given, earlier = request.training, request.earlier
        if earlier is None:
            self.schema_, matrix = learn_schema(given.X, **request.columns or {})
            matrix = steps.with_missing(matrix, self.schema_, request.absent)
        else:
            self.schema_ = earlier.schema_
            matrix = self._matrix(given.X, request.absent)
        check_rows(matrix.n_rows)
        self._take_names()
        y = self._learn_labels(given.y, matrix.n_rows, earlier)
        table = TrainingTable(
            *self._rows(given, matrix, y), schema=self.schema_,
            n_classes=getattr(self, "n_classes_", None),
            earlier=None if earlier is None else earlier.ensemble_,
        )  # fmt: skip
        return steps.rows_that_count(table)

    def _rows(self, given: GivenTable, matrix: Matrix, y: np.ndarray) -> tuple:
        """Return a table and what belongs to its rows: the parts of a `LabelledTable`."""
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
        """Return a table to evaluate by; what is wrong with it is told with its name."""
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
        named = self.get_params(deep=False).items()
        return fingerprints(training, held_out, {k: v for k, v in named if k not in free})

    # ------------------------------------------------------------------ what a kind of target says
    def _learn_labels(self, y: Any, n_rows: int, earlier: BoostedModel | None) -> np.ndarray:
        """Return the labels as numbers; classes are kept."""
        return self._labels(y, n_rows)

    def _labels(self, y: Any, n_rows: int) -> np.ndarray:
        raise NotImplementedError

    # ------------------------------------------------------------------ asking
    def _take_names(self) -> None:
        self.n_features_in_ = self.schema_.n_features
        self.__dict__.pop("feature_names_in_", None)
        if self.schema_.named:
            self.feature_names_in_ = np.array(self.schema_.names, dtype=object)

    def _matrix(self, X: Any, absent: float | None) -> Matrix:
        matrix = encode(self.schema_, X, estimator_name=type(self).__name__)
        return steps.with_missing(matrix, self.schema_, absent)

    def _encode(self, X: Any) -> Matrix:
        return self._matrix(X, None)

    def _check_fitted(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "ensemble_")

    def _threads(self) -> int:
        from arboretum.engine.parallel import effective_jobs

        return effective_jobs(self.n_jobs)

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
        return part.margin(matrix, base=base, n_jobs=self._threads())

    def _leaves(self, X: Any, start: int = 0, end: int | None = None) -> np.ndarray:
        """Return the leaf of every row in every tree, (rows, trees)."""
        self._check_fitted()
        return self._part(start, end).leaves(self._encode(X), self._threads())

    def _staged(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the margins after every round."""
        self._check_fitted()
        yield from self.ensemble_.staged(self._encode(X), self._threads())

    @property
    def n_outputs_(self) -> int:
        """How many targets there are: one."""
        return 1

    @property
    def trees_(self) -> list:
        """The trees, round by round, output by output."""
        return self.ensemble_.trees

    def __len__(self) -> int:
        return len(self.ensemble_.trees)

    def _importance(self, end: int | None = None) -> dict[str, np.ndarray]:
        """Return how often every column is asked for, and the gains and covers it brings."""
        self._check_fitted()
        width = self.n_features_in_
        count, gain, cover = np.zeros(width), np.zeros(width), np.zeros(width)
        for tree in self._part(0, end).trees:
            inner = np.flatnonzero(tree.feature >= 0)
            np.add.at(count, tree.feature[inner], 1.0)
            np.add.at(gain, tree.feature[inner], tree.gain[inner])
            np.add.at(cover, tree.feature[inner], tree.weight[inner])
        often = np.maximum(count, 1.0)
        return {
            "weight": count,
            "gain": gain / often,
            "cover": cover / often,
            "total_gain": gain,
            "total_cover": cover,
        }

    # ------------------------------------------------------------------ keeping
    def save(self, path: str | Path | BinaryIO) -> None:
        """Write the model to one file; `arboretum.load` reads it back.

        Functions are not kept: a loaded model that had some can predict, but not go on training.
        """
        from arboretum.io.native import save

        plain = copy.copy(self)
        for name, value in self.get_params(deep=False).items():
            some = value if isinstance(value, list | tuple) else [value]
            if name == "callbacks" or any(callable(one) for one in some):
                setattr(plain, name, None)
        save(plain, path)

    def _get_fitted_state(self) -> dict[str, Any]:
        from arboretum.tree.state import tree_to_state

        found = self.ensemble_
        return {
            "trees": [tree_to_state(tree) for tree in found.trees],
            "weights": found.weights,
            "base": found.base,
            "n_parallel": found.n_parallel,
            "averaged": found.averaged,
            "objective": self.objective_.to_state(),
            "evals_result": self.evals_result_,
            "best": None if self._best is None else list(self._best),
            "seed": self.seed_,
            "n_rows": self._n_rows,
        }

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        from arboretum.base.estimator import whole
        from arboretum.boosting.loss.objectives import objective_from_state
        from arboretum.tree.state import tree_from_state

        model = cls(**parameters)
        model._check_parameters()
        model.schema_ = schema
        model._take_names()
        model.objective_ = objective_from_state(state["objective"])
        base, counts = _numbers(state, "base"), _numbers(state, "weights")
        trees = [tree_from_state(tree, schema) for tree in state["trees"]]
        n_parallel = whole(state, "n_parallel", 1)
        if len(base) != model.objective_.n_outputs or len(counts) != len(trees):
            raise ModelFileError("its trees, weights and outputs do not fit together")
        if not trees or len(trees) % (len(base) * n_parallel):
            raise ModelFileError("its trees do not make whole rounds")
        if any(tree.value.shape[1:] != (1, 1) for tree in trees):
            raise ModelFileError("its trees answer more than one number")
        if not isinstance(state["averaged"], bool):
            raise ModelFileError("it does not say whether its trees are averaged")
        model.ensemble_ = Ensemble(trees, counts, base, n_parallel, state["averaged"])
        model.evals_result_ = _history(state["evals_result"])
        best = state["best"]
        model._best = None if best is None else (int(best[0]), float(best[1]))
        model.seed_, model._n_rows = whole(state, "seed", 0), whole(state, "n_rows", 1)
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = False
        return tags


# ---------------------------------------------------------------------- kinds of targets
class BoostedClassifier(ClassifierMixin, BoostedModel):
    """Classes, whatever they are called; inside they are 0..K-1."""

    classes_: np.ndarray

    def _learn_labels(self, y: Any, n_rows: int, earlier: BoostedModel | None) -> np.ndarray:
        if earlier is None:
            classes, codes, _ = self._encode_labels(y, n_rows)
            self.classes_ = classes
        elif isinstance(earlier, BoostedClassifier):
            self.classes_ = earlier.classes_
            codes = self._labels(y, n_rows)
        else:
            raise DataError("a classifier goes on from a classifier")
        self.n_classes_ = len(self.classes_)
        return codes.astype(np.float64)

    def _encode_labels(self, y: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray, bool]:
        classes, codes, one = encode_classes(y, n_rows=n_rows, estimator_name=type(self).__name__)
        if len(classes) > 1:
            raise DataError(
                f"{type(self).__name__} learns one target, y has {len(classes)} columns: fit one "
                "model for each"
            )
        return classes[0], codes[:, 0], one

    def _labels(self, y: Any, n_rows: int) -> np.ndarray:
        classes, codes, _ = self._encode_labels(y, n_rows)
        place = {label: code for code, label in enumerate(self.classes_.tolist())}
        found = np.array([place.get(label, -1) for label in classes.tolist()])
        unknown = [label for label, code in zip(classes.tolist(), found) if code < 0]
        if unknown:
            rows = np.flatnonzero(found[codes] < 0)
            raise DataError(
                f"y holds classes that the training labels do not have: {list_names(unknown)} "
                f"({list_rows(rows)})"
            )
        return found[codes].astype(np.float64)

    def _row_weights(self, given: GivenTable, y: np.ndarray) -> np.ndarray | None:
        rows = super()._row_weights(given, y)
        if given.class_weight is None:
            return rows
        codes = y.astype(np.int64)[:, None]
        with np.errstate(divide="ignore"):  # a table may lack a class
            return with_class_weight(given.class_weight, [self.classes_], codes, rows)

    def _shares(self, margin: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes, (rows, classes)."""
        found = self.objective_.predict(margin)
        if found.ndim == 1:
            found = np.column_stack([1.0 - found, found])
        return np.ones((len(found), 1)) if self.n_classes_ == 1 else found

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _get_fitted_state(self) -> dict[str, Any]:
        return {**super()._get_fitted_state(), "classes": self.classes_}

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        model = super()._from_fitted_state(parameters, schema, state)
        classes = state["classes"]
        if not isinstance(classes, np.ndarray) or classes.ndim != 1 or not len(classes):
            raise ModelFileError("it has no classes")
        if len(classes) != max(model.objective_.n_outputs, len(classes) if len(classes) < 3 else 0):
            raise ModelFileError("its classes do not fit its outputs")
        model.classes_, model.n_classes_ = classes, len(classes)
        return model


class BoostedRegressor(RegressorMixin, BoostedModel):
    """Numbers."""

    def _labels(self, y: Any, n_rows: int) -> np.ndarray:
        values, _ = numbers(y, n_rows=n_rows, estimator_name=type(self).__name__)
        if values.shape[1] > 1:
            raise DataError(
                f"{type(self).__name__} learns one target, y has {values.shape[1]} columns: fit one "
                "model for each"
            )
        check_scale(values)
        return np.ascontiguousarray(values[:, 0])


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


# ---------------------------------------------------------------------- reading a file
def _numbers(state: dict, name: str) -> np.ndarray:
    found = state[name]
    if not isinstance(found, np.ndarray) or found.dtype != np.float64 or found.ndim != 1:
        raise ModelFileError(f"its {name!r} is not an array of numbers")
    if not len(found) or not np.isfinite(found).all():
        raise ModelFileError(f"its {name!r} is empty or not finite")
    return found


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
        raise ModelFileError("its history of figures is damaged")
    return {table: dict(metrics) for table, metrics in state.items()}
