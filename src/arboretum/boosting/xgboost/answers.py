"""What a fitted XGBoost estimator answers: predictions, XGBoost's attributes, and its part of a file."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from types import MappingProxyType, NoneType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arboretum.boosting.names.passed import PeerNames
from arboretum.boosting.second_order.boosted_model import BoostedModel, squeezed
from arboretum.boosting.second_order.fit import seed_of
from arboretum.boosting.xgboost.booster import XGBBooster
from arboretum.boosting.xgboost.config import intercepts
from arboretum.boosting.xgboost.parameters import DEFAULTS, WRAPPER_ONLY
from arboretum.boosting.xgboost.recipe import value
from arboretum.data.checks import warn_caller
from arboretum.errors import ModelFileError, ParameterError

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix

__all__ = ["XGBAnswers"]


class XGBAnswers(PeerNames, BoostedModel):
    """A fitted model with XGBoost's methods and attributes."""

    _is_forest: ClassVar[bool] = False  # n_estimators are the trees of one round
    _learned: ClassVar = (*BoostedModel._learned, "_shown_names", "_texts")
    _shown_names: list[str] | None = None  # of columns, in dumps
    _texts: Mapping[str, str] = MappingProxyType({})  # see `XGBBooster.set_attr`

    @property
    def _n_parallel(self) -> int:
        """The number of trees of a round, for every output."""
        return int(value(self, "n_estimators" if self._is_forest else "num_parallel_tree"))

    # ------------------------------------------------------------------ predictions
    def _encode(self, X: Any) -> Matrix:
        return self._matrix(X, float(self.missing))

    @property
    def _absent(self) -> float:
        return float(self.missing)

    def _range(self, iteration_range: Any) -> tuple[int, int | None]:
        """Return the rounds to use: the given ones, else all up to the best one."""
        if iteration_range is None or tuple(iteration_range) == (0, 0):
            return 0, None if iteration_range else self._best_end
        whole = [
            isinstance(v, int | np.integer) and not isinstance(v, bool) for v in iteration_range
        ]
        if len(whole) != 2 or not all(whole):
            raise ParameterError(f"iteration_range must be two ints, got {iteration_range!r}")
        start, end = (int(v) for v in iteration_range)
        n = self.ensemble_.n_rounds
        if end == 0:
            end = n
        if not 0 <= start < end <= n:
            raise ParameterError(
                f"iteration_range must lie within the {n} rounds of the model, got ({start}, {end})"
            )
        return start, end

    def _requested_margin(
        self, X: Any, base_margin: Any, iteration_range: Any, validate_features: bool = True
    ) -> np.ndarray:
        self._check_fitted()
        X = X if validate_features else self._in_order(X)
        return self._margin(X, *self._range(iteration_range), base_margin)

    def _in_order(self, X: Any) -> Any:
        """Return a table whose columns are taken in order, whatever their names."""
        from arboretum.data.table import Table, read_table

        table = read_table(X)
        schema = self.schema_
        if len(table.names) != schema.n_features:
            return X
        return Table(schema.names, schema.named, table.n_rows, table.body)

    def predict(
        self,
        X: Any,
        *,
        output_margin: bool = False,
        validate_features: bool = True,
        base_margin: Any = None,
        iteration_range: tuple[int, int] | None = None,
    ) -> np.ndarray:
        """Predict.

        Parameters
        ----------
        X : table
        output_margin : bool, default=False
            Return the sums of the trees instead of predictions.
        validate_features : bool, default=True
            Match columns by name; else take them in order.
        base_margin : array-like or None
            Margins to start from.
        iteration_range : (int, int) or None
            Use the trees of some rounds only; None: up to the best one if there was early stopping.
        """
        margin = self._requested_margin(X, base_margin, iteration_range, validate_features)
        return squeezed(margin) if output_margin else self._predicted(margin)

    def apply(self, X: Any, iteration_range: tuple[int, int] | None = None) -> np.ndarray:
        """Return the leaf each row reaches in each tree, (rows, trees)."""
        self._check_fitted()
        return self._leaves(X, *self._range(iteration_range))

    # ------------------------------------------------------------------ attributes
    def evals_result(self) -> dict[str, dict[str, list[float]]]:
        """Return the metrics of every round, by table and name."""
        self._check_fitted()
        if not self.evals_result_:
            raise ParameterError("there are no metrics: fit was given no eval_set")
        return self.evals_result_

    @property
    def best_iteration(self) -> int:
        """The round that was best, counted from 0."""
        return self._best_of("best_iteration")[0]

    @property
    def best_score(self) -> float:
        """The metric of the best round."""
        return self._best_of("best_score")[1]

    def _best_of(self, name: str) -> tuple[int, float]:
        best = getattr(self, "_best", None)
        if best is None:
            raise AttributeError(f"`{name}` is only defined when early stopping is used")
        return best

    @property
    def feature_importances_(self) -> np.ndarray:
        """The columns' shares of the importance named by `importance_type`."""
        kind, known = value(self, "importance_type"), self._importance()
        if kind not in known:
            raise ParameterError(f"importance_type must be one of {list(known)}, got {kind!r}")
        found = known[kind]
        return found / found.sum() if found.sum() > 0 else found

    def _in_effect(self) -> dict[str, Any]:
        given = super()._in_effect()
        return {name: DEFAULTS.get(name) if x is None else x for name, x in given.items()}

    def get_booster(self) -> XGBBooster:
        """Return the trees with the interface of XGBoost's Booster."""
        self._check_fitted()
        return XGBBooster(self)

    def get_num_boosting_rounds(self) -> int:
        """Return the number of requested rounds."""
        return 1 if self._is_forest else int(value(self, "n_estimators"))

    def get_xgb_params(self) -> dict[str, Any]:
        """Return the parameters that XGBoost's own `train` would get."""
        given = self.get_params(deep=False)
        found = {k: v for k, v in given.items() if k not in WRAPPER_ONLY and not callable(v)}
        if not isinstance(self.random_state, int | NoneType):
            found["random_state"] = seed_of(self.random_state)
        if self._is_forest:
            found["num_parallel_tree"] = self._n_parallel
        return found

    @property
    def intercept_(self) -> np.ndarray:
        """The prediction before the first tree, one per output; of several classes the margins."""
        self._check_fitted()
        return intercepts(self).astype(np.float32)

    @property
    def coef_(self) -> np.ndarray:
        """Missing: trees have no coefficients."""
        raise AttributeError("coef_ is not defined: trees have no coefficients")

    def save_model(self, fname: Any) -> None:
        """Write the model to a file, in arboretum's own format whatever the file is called."""
        if isinstance(fname, str | PathLike) and str(fname).endswith((".json", ".ubj")):
            warn_caller(
                f"{fname} gets arboretum's own format: load_model of arboretum reads it, XGBoost cannot"
            )
        self.save(fname)

    def load_model(self, fname: Any) -> None:
        """Replace this model by that of a file that `save_model` has written."""
        from arboretum.io.native import load

        try:
            other = load(fname)
        except ModelFileError as error:
            raise ModelFileError(f"{error} (files of XGBoost cannot be read)") from error
        if not isinstance(other, XGBAnswers) or other.target != self.target:
            raise ParameterError(
                f"the file holds a {type(other).__name__}, not a {type(self).__name__}"
            )
        self.__dict__ = other.__dict__

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        texts = {"texts": dict(self._texts)} if self._texts else {}
        return {**super()._get_fitted_state(), **texts}

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        texts = state.get("texts", {})
        if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
            raise ModelFileError("its texts are damaged")
        self._texts = texts
