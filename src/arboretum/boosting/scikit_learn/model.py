"""What both HistGradientBoosting* share: a fit with early stopping, predictions, attributes, files."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from arboretum.base.anatomy import Anatomy
from arboretum.boosting.scikit_learn.parameters import ATTRIBUTES
from arboretum.boosting.scikit_learn.recipe import make_recipe
from arboretum.boosting.scikit_learn.scoring import TRAINING, VALIDATION, RoundLines, RoundScores
from arboretum.boosting.second_order.boosted_model import BoostedModel
from arboretum.boosting.second_order.fit import FitRequest, GivenTable, held_out_table
from arboretum.boosting.second_order.recipe import LabelledTable, TrainingTable
from arboretum.data.slices import as_view, take_rows
from arboretum.engine.keys import seed_from
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.io.values import flag_of, whole
from arboretum.predict.by_shares import predict_by_shares

if TYPE_CHECKING:
    from arboretum.boosting.callbacks.watching import HeldOut
    from arboretum.boosting.second_order.recipe import Recipe

__all__ = ["HistModel"]

_MANY = 10_000  # rows; with more, early_stopping="auto" stops early


class HistModel(BoostedModel):
    """What both estimators share."""

    dialect: ClassVar[str] = "scikit-learn"
    target: ClassVar[str]  # "classes" or "numbers"
    fits_in_parts: ClassVar = False  # held-out rows are drawn from the table
    _learned: ClassVar = (*BoostedModel._learned, "train_score_", "validation_score_")
    _attributes: ClassVar = ATTRIBUTES

    do_early_stopping_: bool
    train_score_: np.ndarray
    validation_score_: np.ndarray
    _random_seed: int
    _sets_aside: bool  # rows of the table were held out
    _aside: LabelledTable  # these rows, while a fit runs

    # ------------------------------------------------------------------ fitting
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Boost.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas, polars or pyarrow table, scipy.sparse matrix, or path of a CSV or Parquet
            file. NaN, None and null are missing values.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
        X_val, y_val, sample_weight_val : as X, y and sample_weight, or None
            Rows for early stopping, in place of some of X.

        Returns
        -------
        self
        """
        self._check_parameters()
        earlier = self._warm()
        if earlier is None:
            self._random_seed = _drawn_seed(self.random_state)
        given = self._validation(X_val, y_val, sample_weight_val)
        n_rows = len(y) if hasattr(y, "__len__") else 0
        auto = isinstance(self.early_stopping, str)
        self.do_early_stopping_ = n_rows > _MANY if auto else bool(self.early_stopping)
        fraction, stops = self.validation_fraction, self.do_early_stopping_
        self._sets_aside = stops and given is None and fraction is not None
        tables = [GivenTable(X, y, name=TRAINING)] if stops else []
        if stops and (given is not None or self._sets_aside):
            tables.append(given or GivenTable(None, None, name=VALIDATION))
        scores = RoundScores(self, {TRAINING: X, VALIDATION: X_val}, earlier) if stops else None
        lines = RoundLines(self, scores) if self.verbose else None
        self._fit(
            FitRequest(
                GivenTable(X, y, sample_weight, class_weight=getattr(self, "class_weight", None)),
                partial(make_recipe, self, n_jobs=self._threads()),
                self._random_seed,
                tables,
                self._column_kinds(),
                callbacks=[one for one in (scores, lines) if one is not None],
                earlier=earlier,
            )
        )
        self.__dict__.pop("_aside", None)
        values = {} if scores is None else scores.values
        self.train_score_ = np.array(values.get(TRAINING, ()))
        self.validation_score_ = np.array(values.get(VALIDATION, ()))
        if scores is not None:
            name, sign = ("loss", -1.0) if scores.by_loss else ("score", 1.0)
            self.evals_result_ = {
                table: {name: [sign * value for value in some[1:]]}
                for table, some in values.items()
                if some
            }
        return self._end_fit(self.interrupted_)

    def _warm(self) -> HistModel | None:
        """Return the model whose rounds are kept, with `warm_start`."""
        if not (self.warm_start and hasattr(self, "ensemble_")):
            return None
        if self.max_iter < self.n_iter_:
            raise ParameterError(
                f"max_iter={self.max_iter} must be larger than or equal to n_iter_={self.n_iter_} when "
                "warm_start==True"
            )
        return copy.copy(self)

    def _validation(self, X: Any, y: Any, weight: Any) -> GivenTable | None:
        """Return the table that was given for early stopping."""
        if X is None and y is None:
            return None
        if X is None or y is None:
            given, lacks = ("X_val", "y_val") if y is None else ("y_val", "X_val")
            raise ParameterError(f"{given} is provided, but {lacks} was not provided.")
        if self.early_stopping is False:
            raise ParameterError(
                "X_val and y_val are passed to fit while at the same time early_stopping is False: set it to "
                "'auto' or True"
            )
        return GivenTable(X, y, weight, name=VALIDATION)

    def _learn(self, request: FitRequest) -> TrainingTable:
        """Encode the table; set some rows aside for early stopping, and keep those that scorers get."""
        table, given = super()._learn(request), request.training
        kept = np.arange(len(table.y))
        if not table.is_complete:
            weight = self._row_weights(given, self._labels(given.y, len(given.y)))
            kept = np.flatnonzero(np.asarray(weight))
        scores = next((one for one in request.callbacks if isinstance(one, RoundScores)), None)
        of_rows = {TRAINING: kept}
        if self._sets_aside:
            learn, aside = self._set_aside(table.y)
            of_rows = {TRAINING: kept[learn], VALIDATION: kept[aside]}
            self._aside, table = table.take(aside), table.take(learn)
        if scores is not None and not scores.by_loss:
            for name, rows in of_rows.items():
                scores.X[name] = take_rows(as_view(given.X), rows)
        return table

    def _set_aside(
        self, y: np.ndarray, weight: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows to learn from and those held out, the same as in scikit-learn."""
        from sklearn.model_selection import train_test_split

        share, codes = self.validation_fraction, y if self.target == "classes" else None
        try:
            learn, aside = train_test_split(
                np.arange(len(y)), test_size=share, stratify=codes, random_state=self._random_seed
            )
        except ValueError as error:
            raise DataError(
                f"validation_fraction={share} of the {len(y)} rows cannot be held out for early stopping: "
                f"{error}"
            ) from error
        return learn, aside

    def _held_out(
        self,
        given: GivenTable,
        request: FitRequest,
        training: TrainingTable,
        recipe: Recipe,
        base: np.ndarray,
    ) -> HeldOut:
        """Return a table that is scored."""
        is_training = given.name == TRAINING
        if is_training or given.X is None:
            table: LabelledTable = training if is_training else self._aside
        else:
            try:
                matrix = self._matrix(given.X, None)
                y = self._labels(given.y, matrix.n_rows)
                table = LabelledTable(*self._rows(given, matrix, y))
            except DataError as error:
                raise DataError(f"X_val, y_val: {error}") from error
        return held_out_table(given.name, table, recipe, base, is_training=is_training)

    # ------------------------------------------------------------------ predictions
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

    def _compute_partial_dependence_recursion(self, grid: Any, target_features: Any) -> np.ndarray:
        """Return partial dependence by the counts of the training rows, under scikit-learn's name."""
        known, columns = np.asarray(grid, np.float64), np.asarray(target_features)
        return predict_by_shares(self.ensemble_, known, columns, by_rows=True)

    # ------------------------------------------------------------------ attributes
    @property
    def n_iter_(self) -> int:
        """Number of rounds."""
        self._check_fitted()
        return self.ensemble_.n_rounds

    @property
    def n_trees_per_iteration_(self) -> int:
        """The number of classes if there are more than two, else 1."""
        self._check_fitted()
        return self.ensemble_.per_round

    @property
    def is_categorical_(self) -> np.ndarray | None:
        """Which columns are categories; None: none."""
        found = np.array([one.kind == "categorical" for one in self.schema_.columns])
        return found if found.any() else None

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the gain of all splits from each column."""
        gain = self._importance()["total_gain"]
        return gain / gain.sum() if gain.sum() > 0 else gain

    def _anatomy(self) -> Anatomy:
        found = super()._anatomy()
        held_out = self._set_aside if self._sets_aside else None
        return replace(found, recipe=replace(found.recipe, held_out=held_out))

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        return {
            **super()._get_fitted_state(),
            "scores": [self.train_score_.tolist(), self.validation_score_.tolist()],
            "stops_early": self.do_early_stopping_,
            "sets_aside": self._sets_aside,
            "random_seed": self._random_seed,
        }

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        scores = state["scores"]
        good = isinstance(scores, list) and len(scores) == 2 and all(map(_are_numbers, scores))
        if not good:
            raise ModelFileError("its scores are damaged")
        self.train_score_, self.validation_score_ = (np.array(one, np.float64) for one in scores)
        self.do_early_stopping_ = flag_of(state, "stops_early")
        self._sets_aside = flag_of(state, "sets_aside")
        self._random_seed = whole(state, "random_seed", 0)


def _are_numbers(values: Any) -> bool:
    return isinstance(values, list) and all(type(one) is float for one in values)


def _drawn_seed(random_state: Any) -> int:
    """Return the seed that scikit-learn draws from a random state."""
    if isinstance(random_state, np.random.Generator):
        return seed_from(random_state) % 2**32
    random = check_random_state(random_state)
    return int(random.randint(np.iinfo(np.uint32).max, dtype="u8"))
