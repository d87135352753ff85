"""`ProximityImputer`: missing values filled from similar rows, as in Breiman's forests.

    first guess     medians and most frequent categories, class by class
    repeat          grow a forest on the filled table
                    guess every missing value anew from the rows that share leaves with its row
    until           no category changes and no number moves more than `tol`

New rows walk down the last forest and are filled from the training rows in the same leaves. The steps
are in filling.py, the input and output tables in data/refill.py.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin

from arboretum.base import parameters as p
from arboretum.base.anatomy import Anatomy
from arboretum.base.estimator import Estimator
from arboretum.base.parameters import Parameter
from arboretum.base.shared_parameters import GROWTH, RUNNING, TABLE
from arboretum.data.checks import list_names, members_silent, warn_caller
from arboretum.data.column_warnings import UNSEEN
from arboretum.data.matrix import DenseMatrix
from arboretum.data.refill import encoded_table, missing_cells, put_back
from arboretum.data.schema import Schema
from arboretum.data.table import Table, is_sparse, read_table
from arboretum.data.target import encode_classes, numbers
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.forest.filling import (
    Donors,
    FillingRound,
    Stop,
    fill_rows,
    first_guess,
    numeric_columns,
    refill_until_stable,
)
from arboretum.forest.proximity import group_leaves
from arboretum.forest.training_rows import check_cells
from arboretum.io.values import whole
from arboretum.predict.sum import leaves_in

__all__ = ["ProximityImputer"]

_FEW = 20  # at most this many distinct whole numbers count as classes
_PASSED_ON = ("n_estimators", "max_depth", "min_samples_leaf", "max_features", "n_jobs")


class ProximityImputer(OneToOneFeatureMixin, TransformerMixin, Estimator):
    """Fill missing values from the rows a random forest finds similar (Breiman 2003).

    A number becomes the mean of the other rows' observed values, weighted by how many trees put both
    rows into the same leaf; a category the one with the largest weight. Guesses are never passed on,
    so no value is filled from its own row. Where no row with a value is near, the first guess stays.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Notes
    -----
    Without ``y`` the forest learns to tell the rows apart from rows whose columns were shuffled, as
    Breiman did for unlabelled data. `fit_transform` uses the classes of its rows in the first
    guess; `transform` does not. A column without any value cannot be filled and is an error; a row
    without any value is filled with guesses.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"weight": [125.0, 180.0, 210.0, None, 130.0, 200.0],
    ...                   "ill": ["no", "yes", "yes", "no", None, "yes"]})
    >>> imputer = ProximityImputer(n_estimators=20, random_state=0)
    >>> filled = imputer.fit_transform(X, [0, 1, 1, 0, 0, 1])
    >>> filled["ill"].tolist(), bool(125 < filled["weight"][3] < 160)
    (['no', 'yes', 'yes', 'no', 'no', 'yes'], True)
    """

    _fitted: ClassVar = "forest_"
    _learned: ClassVar = ("forest_",)
    _parameters: ClassVar = {
        **GROWTH,
        **TABLE,
        **RUNNING,
        "n_estimators": Parameter(
            p.integer(1), "Trees of the forest that is grown in every round."
        ),
        "max_iter": Parameter(p.integer(1), "Maximum number of rounds."),
        "tol": Parameter(
            p.real(0),
            "Stop when no category changes and no number moves more than this many standard deviations of "
            "its column.",
        ),
        "task": Parameter(
            p.one_of("auto", "classification", "regression"),
            'The kind of ``y``. "auto": words, and whole numbers of at most 20 different values (and on '
            "average three rows for each), are classes.",
        ),
        "initial": Parameter(
            p.one_of("median", "mean"),
            "The first guess of a number, from the rows of the same class: their median or mean. For a "
            "category it is the most frequent one.",
        ),
        "min_samples_leaf": Parameter(
            GROWTH["min_samples_leaf"].rule,
            "Rows a leaf of the forest needs. Larger leaves make more rows similar.",
        ),
        "unseen": Parameter(
            p.one_of(*UNSEEN),
            "A category that is not in the training table: `transform` keeps it in the table and treats "
            "it as missing where rows are compared, with a warning or without one, or raises an error.",
        ),
        "random_state": Parameter(
            p.seed,
            "Seed. All rounds grow their forest from the same seed: only the guesses change, not the draws.",
        ),
        "verbose": Parameter(p.integer(0) | p.flag, "Print a line per round."),
    }
    _attributes: ClassVar = {
        "report_ : list of FillingRound": "For every round its `number`, the `changed` categories, how far "
        "numbers `moved`, `fallbacks`. Empty if nothing was missing.",
        "n_iter_ : int": "Number of forests grown: one per round, or one if nothing was missing.",
        "converged_ : bool": "Whether the guesses settled before `max_iter`; else `fit` warns "
        "(ConvergenceWarning).",
        "n_missing_ : int array": "Missing values of every column of the training table.",
        "forest_ : RandomForestClassifier or RandomForestRegressor": "The last forest; new rows are "
        "compared in it.",
        "task_ : str": '"classification", "regression", or "unsupervised".',
        "schema_ : Schema": "",
        "n_features_in_ : int": "",
        "feature_names_in_ : array of str": "Only if the training table had names.",
    }

    report_: list[FillingRound]
    _family: ClassVar = "imputer"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_iter: int = 10,
        tol: float = 1e-3,
        task: str = "auto",
        initial: str = "median",
        max_depth: int | None = None,
        min_samples_leaf: int | float = 1,
        max_features: int | float | str | None = "sqrt",
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        p.take_arguments(locals())

    # ------------------------------------------------------------------ training rows
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn to fill: run the rounds on labelled training rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas, polars or pyarrow table, or path of a CSV or Parquet file. NaN, None
            and null are missing values.
        y : array-like of shape (n_samples,), optional
            Classes or numbers; none of them missing.

        Returns
        -------
        self
        """
        self._fill_training(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn to fill, and return the training rows filled, as a table of the same kind."""
        table, filled = self._fill_training(X, y)
        return self._put_back(X, table, filled)

    def _fill_training(self, X: Any, y: Any) -> tuple[Table, np.ndarray]:
        from arboretum.engine.keys import seed_from

        self._check_parameters()
        table = _read(X)
        matrix = self._learn_table(table)
        rows = np.array(matrix.rows(0, matrix.n_rows))
        self._check_columns(rows)
        y, classes = self._learn_target(y, len(rows))
        self._target = (
            None if y is None else np.array(y),
            classes,
        )  # worksheets play the rounds again
        self._seed = seed_from(self.random_state) % 2**32
        self.n_missing_ = np.isnan(rows).sum(axis=0)
        self._donors = Donors(rows, numeric_columns(self.schema_))
        try:
            with members_silent():
                filled = self._iterate(rows, y, classes)
        except BaseException:
            self.__dict__.pop("forest_", None)
            raise
        if not self.converged_:
            _warn_unsettled(self.report_[-1], float(self.tol))
        return table, filled

    def _iterate(
        self,
        rows: np.ndarray,
        y: Any,
        classes: np.ndarray | None,
        watch: Callable[[np.ndarray, np.ndarray], None] | None = None,
    ) -> np.ndarray:
        """Run the rounds; keep the last forest and the rows' leaves in it.

        ``watch`` is called with the table and the leaves of every round.
        """
        donors, n_jobs = self._donors, self._threads()
        gaps = np.flatnonzero(np.isnan(rows).any(axis=1))
        filled = first_guess(rows, donors.numeric, rows, classes, self.initial)
        if not len(gaps):
            self._grow(filled, y)
            self.report_, self.converged_ = [], True
            return filled

        def standing(guessed: np.ndarray) -> tuple[Any, ...]:
            table = filled.copy()
            table[gaps] = guessed
            leaves = self._grow(table, y)
            if watch is not None:
                watch(table, leaves)
            return leaves[gaps], group_leaves(leaves)

        stop = Stop(float(self.tol), int(self.max_iter))
        found = refill_until_stable(
            rows[gaps], donors, filled[gaps], standing, stop, n_jobs, self._print
        )
        filled[gaps], self.report_, self.converged_ = found
        return filled

    def _grow(self, filled: np.ndarray, y: Any) -> np.ndarray:
        """Grow a forest on a filled table; return the leaves of its rows."""
        from arboretum.forest.random_forest import RandomForestClassifier, RandomForestRegressor

        make = RandomForestRegressor if self.task_ == "regression" else RandomForestClassifier
        parameters = {name: getattr(self, name) for name in _PASSED_ON}
        grown_on = filled
        if self.task_ == "unsupervised":
            shuffle = np.random.default_rng(self._seed).permuted
            grown_on, y = (
                np.vstack([filled, shuffle(filled, axis=0)]),
                np.repeat([0, 1], len(filled)),
            )
        self.forest_ = make(**parameters, random_state=self._seed)
        self.forest_.fit(encoded_table(self.schema_, grown_on), y)
        self._grown_on = filled.copy()
        self._leaves = leaves_in(self.forest_.trees_, DenseMatrix(filled), self._threads())
        return self._leaves

    def _print(self, step: FillingRound) -> None:
        if self.verbose:
            print(
                f"ProximityImputer, round {step.number}: {step.changed} categories changed, numbers "
                f"moved {step.moved:.4f} standard deviations at most"
            )

    def _learn_target(self, y: Any, n_rows: int) -> tuple[Any, np.ndarray | None]:
        """Return the target for the forest, and class codes if it has classes."""
        if y is None:
            self.task_ = "unsupervised"
            return None, None
        name = type(self).__name__
        self.task_ = _choose_task(y) if self.task == "auto" else self.task
        if self.task_ == "regression":
            values, one = numbers(y, n_rows=n_rows, estimator_name=name)
            return values[:, 0] if one else values, None
        _, codes, one = encode_classes(y, n_rows=n_rows, estimator_name=name)
        if one:
            return codes[:, 0], codes[:, 0]
        return codes, np.unique(codes, axis=0, return_inverse=True)[1].ravel()

    def _check_columns(self, rows: np.ndarray) -> None:
        empty = np.flatnonzero(np.isnan(rows).all(axis=0))
        if len(empty):
            names = list_names([self.schema_.names[f] for f in empty])
            which, them = ("column", "it") if len(empty) == 1 else ("columns", "them")
            raise DataError(f"{which} {names} without any value cannot be filled: leave {them} out")

    @property
    def n_iter_(self) -> int:
        """Number of forests grown."""
        return max(1, len(self.report_))

    # ------------------------------------------------------------------ new rows
    def transform(self, X: Any) -> Any:
        """Return new rows filled from the training rows near them, as a table of the same kind.

        The forest stays as it is. A row begins with the medians and most frequent categories of all
        training rows, walks down the trees, is filled from the rows in its leaves, and so on until its
        guesses settle.
        """
        self._check_fitted()
        table = _read(X)
        matrix = self._encode(table)
        rows = np.array(matrix.rows(0, matrix.n_rows))
        gaps = np.flatnonzero(np.isnan(rows).any(axis=1))
        if len(gaps):
            stop = Stop(float(self.tol), int(self.max_iter))
            rows[gaps], _, _ = fill_rows(
                rows[gaps],
                self._donors,
                self._leaves,
                self.forest_.trees_,
                stop,
                self._threads(),
                center=self.initial,
            )
        return self._put_back(X, table, rows)

    def _put_back(self, X: Any, table: Table, rows: np.ndarray) -> Any:
        places = list(range(len(table.names)))
        if self.schema_.named and table.named:
            places = [table.names.index(name) for name in self.schema_.names]
        return put_back(X, table, self.schema_, places, missing_cells(table)[:, places], rows)

    # ------------------------------------------------------------------ explaining
    def report(self, *_: Any, **__: Any) -> Any:
        """Raise an error: an imputer fills tables and predicts nothing that a report could judge."""
        raise ParameterError(
            "ProximityImputer fills tables and predicts nothing that a report could judge. It has "
            "report_ (how far the guesses moved in every round), n_missing_ (missing values by column), "
            "transform(X) for new rows, worksheet(imputer).cell(row, column) (how a cell was filled), "
            "and forest_, the last forest; fit a model on the filled table and make its report"
        )

    def _anatomy(self) -> Anatomy:
        anatomy = super()._anatomy()
        steps: dict[str, Callable[..., Any]] = {
            "rows": lambda: self._donors.rows,
            "rounds": self._rounds_again,
        }
        history = replace(anatomy.history, n_rows=len(self._donors.rows))
        recipe = replace(anatomy.recipe, steps=steps)
        return replace(anatomy, recipe=recipe, history=history)

    def _rounds_again(self, y: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return table and leaves at the start of every round of the fit, and the filled table last."""
        twin, rows = copy.copy(self), self._donors.rows
        twin.verbose, rounds = 0, []
        if y is not None:
            target, classes = twin._learn_target(y, len(rows))
        elif self.task_ == "unsupervised":
            target = classes = None
        elif hasattr(self, "_target"):
            target, classes = self._target
        else:
            raise DataError(
                "worksheet needs the target that the imputer was fitted with, its file does not keep it: "
                "worksheet(imputer, y=y)"
            )
        with members_silent():
            filled = twin._iterate(rows, target, classes, lambda *one: rounds.append(one))
        return [*rounds, (filled, twin._leaves)]

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        self._check_fitted()
        forest = {
            "parameters": self.forest_.get_params(deep=False),
            "schema": self.forest_.schema_.to_state(),
            "state": self.forest_._get_fitted_state(),
        }
        return {
            **super()._get_fitted_state(),
            "task": self.task_,
            "seed": int(self._seed),
            "forest": forest,
            "rows": self._donors.rows,
            "grown_on": self._grown_on,
            "rounds": [list(vars(step).values()) for step in self.report_],
            "converged": self.converged_,
        }

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        from arboretum.forest.random_forest import RandomForestClassifier, RandomForestRegressor

        rows, grown_on = (_check_rows(state[name], self.schema_) for name in ("rows", "grown_on"))
        if rows.shape != grown_on.shape or np.isnan(grown_on).any():
            raise ModelFileError("the training rows and the filled rows do not fit each other")
        if np.isnan(rows).all(axis=0).any():
            raise ModelFileError("a column has no value in any training row")
        if state["task"] not in ("classification", "regression", "unsupervised"):
            raise ModelFileError(f"its task is unknown: {state['task']!r}")
        make: Any = (
            RandomForestRegressor if state["task"] == "regression" else RandomForestClassifier
        )
        inner = state["forest"]
        own = Schema.from_state(inner["schema"])
        if own.n_features != self.schema_.n_features:
            raise ModelFileError("its forest has other columns than the imputer")
        for mine, theirs in zip(self.schema_.columns, own.columns, strict=True):
            words = len(mine.categories or ()), len(theirs.categories or ())
            if mine.kind != theirs.kind or words[0] != words[1]:
                raise ModelFileError(f"its forest has other values of column {mine.name!r}")
        self.forest_ = make._from_fitted_state(inner["parameters"], own, inner["state"])
        self.task_, self._seed = state["task"], whole(state, "seed", 0)
        self.report_ = [
            FillingRound(int(n), int(c), float(m), int(f)) for n, c, m, f in state["rounds"]
        ]
        self.converged_ = bool(state["converged"])
        self.n_missing_ = np.isnan(rows).sum(axis=0)
        self._donors, self._grown_on = Donors(rows, numeric_columns(self.schema_)), grown_on
        self._leaves = leaves_in(self.forest_.trees_, DenseMatrix(grown_on), self._threads())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def _read(X: Any) -> Table:
    table = read_table(X)
    if is_sparse(table.body):
        raise DataError(
            "ProximityImputer fills dense tables, and X is a sparse matrix: pass X.toarray()"
        )
    return table


def _warn_unsettled(last: FillingRound, tol: float) -> None:
    """Warn how far the guesses still moved in the last round."""
    from sklearn.exceptions import ConvergenceWarning

    rounds = "1 round" if last.number == 1 else f"{last.number} rounds"
    changed = f"{last.changed} categories changed and " if last.changed else ""
    warn_caller(
        f"the guesses have not come to rest in {rounds}: in the last one {changed}"
        f"numbers moved up to {last.moved:.3g} standard deviations (tol={tol:g}). More trees "
        "(n_estimators, --trees at the command line), more rounds (max_iter, --max-iter at the command "
        "line) or a larger tolerance (tol, --tol at the command line) may let them settle",
        ConvergenceWarning,
    )


def _choose_task(y: Any) -> str:
    """Distinguish classes from quantities: words and few whole numbers are classes."""
    try:
        values, _ = numbers(y)
    except DataError:
        # words; or invalid values, for which the classifier raises an error
        return "classification"
    distinct = np.unique(values)
    few = len(distinct) <= 2 or len(distinct) <= min(_FEW, len(values) / 3)
    return "classification" if few and not np.any(distinct % 1) else "regression"


def _check_rows(rows: Any, schema: Schema) -> np.ndarray:
    """Return an encoded table from a file; raise if it is invalid."""
    good = isinstance(rows, np.ndarray) and rows.dtype == np.float64 and rows.ndim == 2
    if not good or not len(rows) or rows.shape[1] != schema.n_features or np.isinf(rows).any():
        raise ModelFileError("its training rows are not a table of its columns")
    check_cells(DenseMatrix(rows), schema)
    return rows
