"""What all second-order boosters share, whatever their parameters are called: fitting, asking, keeping.

    table ── schema, matrix ── bins ─┐
    labels, weights, base margins ───┼─► booster ◄─ rounds ─► watch (figures, stopping, callbacks)
    an earlier model, a snapshot ────┘      └──► Ensemble, kept by the model

A front door (xgboost/api.py, lightgbm/api.py) says what its parameters mean by the few methods below the line
"what a front door says"; classifiers, regressors and rankers (boosted_targets.py) differ in their labels and
answers.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from arboretum.base.parameters import Declared
from arboretum.base.progress import progress
from arboretum.boosting.metric.evaluation_set import EvaluationSet
from arboretum.boosting.second_order import snapshot as snapshots
from arboretum.boosting.second_order.booster import Plan, Training
from arboretum.boosting.second_order.fit_request import (
    Given,
    Request,
    Rows,
    margins_of,
    rows_that_count,
)
from arboretum.boosting.second_order.open_booster import OpenBooster
from arboretum.boosting.watch.runaway import TrainingLoss
from arboretum.boosting.watch.watching import HeldOut, History, Watch
from arboretum.data.checks import check_rows
from arboretum.data.schema import Schema, encode, learn_schema
from arboretum.data.target import weights as checked_weights
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.predict.ensemble import Ensemble

if TYPE_CHECKING:
    from arboretum.boosting.loss.objective import Objective
    from arboretum.data.matrix import Matrix
    from arboretum.grow.bins.find import Bins

__all__ = ["BoostedModel", "Given", "Request"]

_LEARNED = ("ensemble_", "evals_result_", "_best", "notes_")  # what a fit begins without


class BoostedModel(Declared, BaseEstimator):
    """A sum of trees, grown by second-order boosting."""

    dialect: ClassVar[str]

    schema_: Schema
    ensemble_: Ensemble
    evals_result_: History

    # ================================================================== what a front door says
    def _rounds(self) -> int:
        """How many rounds are wanted."""
        raise NotImplementedError

    def _seed(self) -> int:
        """The seed of all draws."""
        raise NotImplementedError

    def _find_objective(self, n_classes: int | None) -> Objective:
        """The loss."""
        raise NotImplementedError

    def _plan(self, objective: Objective, schema: Schema, seed: int) -> Plan:
        """How to boost."""
        raise NotImplementedError

    def _bins(
        self, matrix: Matrix, schema: Schema, weight: np.ndarray | None, seed: int
    ) -> Bins | None:
        """The training table in bins; None if the booster needs none."""
        raise NotImplementedError

    def _start(self, objective: Objective, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """The margins before the first tree, one per output."""
        return objective.start(y, weight)

    def _make_booster(
        self, plan: Plan, objective: Objective, data: Training, matrix: Matrix
    ) -> OpenBooster:
        """What grows the trees."""
        return OpenBooster(plan, objective, data, matrix)

    def _columns(self) -> dict[str, Any]:
        """Columns that are something else than their type says: arguments of `learn_schema`."""
        return {}

    def _clean(self, matrix: Matrix) -> Matrix:
        """The table with the values that stand for missing ones replaced by NaN."""
        return matrix

    def _row_weights(self, sample_weight: Any, y: np.ndarray, groups: Any) -> np.ndarray | None:
        """The weights of the rows, or of the groups."""
        return checked_weights(sample_weight, len(y))

    def _not_kept(self) -> set[str]:
        """Parameters a snapshot may be resumed with other values of."""
        return {"n_jobs", "n_estimators", "callbacks"}

    # ================================================================== what a kind of target says
    def _learn_labels(self, y: Any, n_rows: int, earlier: BoostedModel | None) -> np.ndarray:
        raise NotImplementedError

    def _labels(self, y: Any, n_rows: int) -> np.ndarray:
        raise NotImplementedError

    @property
    def _class_count(self) -> int | None:
        return None

    # ------------------------------------------------------------------ fitting
    def _fit(self, request: Request) -> Self:
        """Learn from a table."""
        self._check_parameters()
        earlier = self._earlier(request.earlier)
        for name in _LEARNED:
            self.__dict__.pop(name, None)
        rows = self._learn(request.training, earlier)
        objective = self._find_objective(self._class_count)
        objective.check(rows.y, rows.weight, rows.groups)
        seed = self._seed()
        base = self._base(objective, rows, earlier)
        held_out = [
            self._held_out(given, request, rows, objective, base) for given in request.held_out
        ]
        prints = self._prints(earlier, rows, held_out) if request.snapshot else {}
        state = request.snapshot.read(prints) if request.snapshot else None
        seed = seed if state is None else int(state["seed"])
        booster = self._open(objective, rows, base, earlier, seed)
        first = booster.n_rounds
        watch = Watch(
            booster, held_out, request.judges(objective), request.patience, request.callbacks, first,
        )  # fmt: skip
        done = 0 if state is None else snapshots.take_up(watch, state, self.schema_)
        kept = self._boost(watch, request, done, prints, seed)
        self._keep(watch, objective, base, kept)
        self.seed_, self._n_rows = seed, len(rows.y)
        return self

    def _earlier(self, given: Any) -> BoostedModel | None:
        """Return the model to go on from."""
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

    def _learn(self, given: Given, earlier: BoostedModel | None) -> Rows:
        """Check the training data and turn them into numbers."""
        if earlier is None:
            schema, matrix = learn_schema(given.X, **self._columns())
        else:
            schema = earlier.schema_
            matrix = encode(schema, given.X, estimator_name=type(self).__name__)
        check_rows(matrix.n_rows)
        self.schema_ = schema
        self._take_names()
        y = self._learn_labels(given.y, matrix.n_rows, earlier)
        return rows_that_count(self._rows(given, self._clean(matrix), y))

    def _rows(self, given: Given, matrix: Matrix, y: np.ndarray) -> Rows:
        groups = None if given.groups is None else np.asarray(given.groups)
        return Rows(
            matrix, y, self._row_weights(given.sample_weight, y, groups), given.base_margin, groups
        )

    def _held_out(
        self, given: Given, request: Request, rows: Rows, objective: Objective, base: np.ndarray
    ) -> HeldOut:
        """Return a table to judge by; what is wrong with it is told with its name."""
        is_training = given.X is request.training.X and rows.whole
        try:
            matrix = rows.matrix if is_training else self._encode(given.X)
            found = self._rows(given, matrix, self._labels(given.y, matrix.n_rows))
            objective.check(found.y, found.weight, found.groups)
            start = margins_of(found.base_margin, matrix.n_rows, base)
            truth = EvaluationSet(found.y, found.weight, found.groups)
        except DataError as error:
            raise DataError(f"{given.name} of eval_set: {error}") from error
        own = is_training and given.base_margin is request.training.base_margin
        return HeldOut(given.name, matrix, truth, start, own)

    def _base(self, objective: Objective, rows: Rows, earlier: BoostedModel | None) -> np.ndarray:
        """Return the margin before the first tree."""
        if earlier is None:
            return np.asarray(self._start(objective, rows.y, rows.weight), np.float64)
        if earlier.ensemble_.n_outputs != objective.n_outputs:
            raise ParameterError(
                f"the earlier model grows {earlier.ensemble_.n_outputs} trees a round, this one "
                f"{objective.n_outputs}: go on with its objective and classes"
            )
        return earlier.ensemble_.base

    def _open(
        self,
        objective: Objective,
        rows: Rows,
        base: np.ndarray,
        earlier: BoostedModel | None,
        seed: int,
    ) -> OpenBooster:
        """Return a booster that is ready for its first round."""
        plan = self._plan(objective, self.schema_, seed)
        start = None
        if rows.base_margin is not None:
            start = margins_of(rows.base_margin, len(rows.y), base)
        if earlier is not None:
            old = earlier.ensemble_
            if (old.n_parallel, old.averaged) != (plan.n_parallel, plan.averaged):
                raise ParameterError(
                    "the earlier model was made with another number of parallel trees or another kind of "
                    "boosting: go on with its parameters"
                )
            if not plan.averaged:
                start = old.answers(rows.matrix, plan.n_jobs, start)
        bins = self._bins(rows.matrix, self.schema_, rows.weight, seed)
        data = Training(  # an exact booster has no bins
            bins, self.schema_, rows.y, rows.weight, base, start, rows.groups,  # type: ignore[arg-type]
        )  # fmt: skip
        booster = self._make_booster(plan, objective, data, rows.matrix)
        if earlier is not None:
            booster.begin_with(earlier.ensemble_.trees, earlier.ensemble_.weights.tolist())
        return booster

    # ------------------------------------------------------------------ rounds
    def _boost(
        self, watch: Watch, request: Request, done: int, prints: dict[str, str], seed: int
    ) -> tuple[int, list[float]]:
        """Make the rounds that are wanted; return how many trees are whole, and what they count."""
        booster, wanted = watch.booster, self._rounds()
        kept = booster.n_trees, list(booster.weights)
        loss = TrainingLoss(booster)
        loss.look()
        watch.begin()
        try:
            with progress(wanted, request.bar, type(self).__name__) as told:
                while done < wanted:
                    if watch.before(watch.first + done):
                        break
                    before = booster.n_rounds
                    ahead = wanted // 2 - done if done < wanted // 2 else wanted - done
                    booster.round(ahead if watch.is_idle and request.snapshot is None else 1)
                    done += max(booster.n_rounds - before, 1)
                    kept = booster.n_trees, list(booster.weights)
                    if told is not None:
                        told(done)
                    if done == wanted // 2:
                        loss.look()
                    if watch.after(watch.first + done - 1):
                        break
                    if request.snapshot is not None and request.snapshot.due(done):
                        request.snapshot.write(watch, prints, done, seed)
        except KeyboardInterrupt:
            if not kept[0]:
                raise
            rounds = kept[0] // (booster.objective.n_outputs * booster.plan.n_parallel)
            warnings.warn(
                f"boosting was interrupted: the model has the {rounds} rounds that were finished",
                stacklevel=4,
            )
        watch.end()
        loss.look()
        loss.warn()
        return kept

    def _prints(
        self, earlier: BoostedModel | None, rows: Rows, held_out: Sequence[HeldOut]
    ) -> dict[str, str]:
        """Return the fingerprints of data and parameters."""
        plain = {k: v for k, v in self.get_params(deep=False).items() if k not in self._not_kept()}
        margin = None if rows.base_margin is None else np.asarray(rows.base_margin)
        arrays = [rows.y, rows.weight, rows.groups, margin]
        if earlier is not None:
            arrays += [tree.value for tree in earlier.ensemble_.trees]
        for table in held_out:
            arrays += [table.truth.y, table.truth.weight, table.start]
        matrices = [rows.matrix, *(table.matrix for table in held_out)]
        return {
            "data": snapshots.data_print(matrices, arrays, self.schema_),
            "parameters": snapshots.parameter_print(plain),
        }

    def _keep(
        self, watch: Watch, objective: Objective, base: np.ndarray, kept: tuple[int, list[float]]
    ) -> None:
        plan, (n_trees, counts) = watch.booster.plan, kept
        found = Ensemble(
            watch.booster.trees[:n_trees],
            np.array(counts),
            base,
            plan.n_parallel,
            "average" if plan.averaged else "sum",
            link=objective.link,
        )
        if watch.save_best and watch.best is not None:
            found = found.rounds(0, watch.best[0] + 1)
        self.objective_, self.ensemble_ = objective, found
        self.evals_result_, self._best = watch.history, watch.best

    # ------------------------------------------------------------------ asking
    def _take_names(self) -> None:
        self.n_features_in_ = self.schema_.n_features
        self.__dict__.pop("feature_names_in_", None)
        if self.schema_.named:
            self.feature_names_in_ = np.array(self.schema_.names, dtype=object)

    def _encode(self, X: Any) -> Matrix:
        return self._clean(encode(self.schema_, X, estimator_name=type(self).__name__))

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
            base = margins_of(base_margin, matrix.n_rows, part.base)
        return part.answers(matrix, self._threads(), base)

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
        found = self._part(0, end).split_sums(self.n_features_in_)
        often = np.maximum(found.count, 1.0)
        return {
            "weight": found.count,
            "gain": found.gain / often,
            "cover": found.cover / often,
            "total_gain": found.gain,
            "total_cover": found.cover,
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
        from arboretum.boosting.dialect.find import objective_from_state
        from arboretum.io.checked import whole
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
        rule, link = "average" if state["averaged"] else "sum", model.objective_.link
        model.ensemble_ = Ensemble(trees, counts, base, n_parallel, rule, link=link)
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
