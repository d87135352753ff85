"""Forests that tell numbers: the mean of the trees, quantiles and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from arboretum.data.checks import check_counts, check_scale
from arboretum.data.schema import Schema
from arboretum.data.target import numbers, weights
from arboretum.errors import ModelFileError
from arboretum.forest.estimator import Forest
from arboretum.predict.oob_attributes import NumbersOutOfBag
from arboretum.predict.voting import sum_answers

if TYPE_CHECKING:
    from arboretum.grow.criterion import Target

__all__ = ["ForestRegressor"]


class ForestRegressor(NumbersOutOfBag, RegressorMixin, Forest):
    """Mean of many trees."""

    def _learn_target(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Target, Any]:
        from arboretum.grow.criterion import make_target

        values, one = numbers(y, n_rows=n_rows, estimator_name=type(self).__name__)
        check_scale(values)
        if self.criterion == "poisson":
            check_counts(values)
        self.n_outputs_ = values.shape[1]
        self._one_output = one
        w = weights(sample_weight, n_rows)
        return make_target(values, None, w), w

    # ------------------------------------------------------------------ predicting
    def predict(self, X: Any, quantiles: Any = None) -> np.ndarray:
        """Return the mean of the trees; with ``quantiles``, those of the leaves' training targets.

        Quantiles need ``keep_leaves=True``; a list of them gives one column each (Meinshausen 2006).
        """
        if quantiles is not None:
            from arboretum.forest.quantiles import predict_quantiles

            return predict_quantiles(self, X, quantiles)
        matrix = self._encode(X)
        mean = sum_answers(self.trees_, matrix, self._threads())[:, :, 0] / len(self.trees_)
        return mean[:, 0] if self._one_output else mean

    def prediction_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Return the range that holds the target with probability ``coverage``, by quantiles."""
        from arboretum.forest.quantiles import prediction_interval

        return prediction_interval(self, X, coverage)

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        return {**super()._get_fitted_state(), "one_output": self._one_output}

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        model = super()._from_fitted_state(parameters, schema, state)
        one = state["one_output"]
        if model.trees_[0].value.shape[2] != 1 or (one is not True and one is not False):
            raise ModelFileError("the trees are not regression trees")
        if one and model.n_outputs_ != 1:
            raise ModelFileError("a model of one output has trees of several")
        model._one_output = one
        model._take_rows(state, None)
        return model
