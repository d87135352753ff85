"""Forests for regression: the mean of the trees, quantiles and intervals."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.oob_attributes import NumbersOutOfBag
from arboretum.base.parameters import Parameter
from arboretum.base.targets import Numbers
from arboretum.forest.estimator import Forest

__all__ = ["ForestRegressor"]


class ForestRegressor(NumbersOutOfBag, Numbers, Forest):
    """The mean of many trees."""

    _parameters: ClassVar = {
        **Forest._parameters,
        "criterion": Parameter(
            p.one_of("squared_error", "absolute_error", "friedman_mse", "poisson"),
            "Impurity that splits reduce.",
        ),
        "keep_leaves": Parameter(
            p.flag,
            "Keep the training rows and the leaf each reached, for `predict(X, quantiles=...)` and "
            "`proximity`. A model file then contains the rows too.",
        ),
    }
    _attributes: ClassVar = {
        **Forest._attributes,
        "oob_prediction_ : float array": "Predictions of the trees that have not seen a row.",
    }

    # ------------------------------------------------------------------ predicting
    def predict(self, X: Any, quantiles: Any = None) -> np.ndarray:
        """Return the mean of the trees; with ``quantiles``, quantiles of the leaves' training targets.

        Quantiles need ``keep_leaves=True``; a list of them gives one column each (Meinshausen 2006).
        """
        if quantiles is not None:
            from arboretum.forest.quantiles import predict_quantiles

            return predict_quantiles(self, X, quantiles)
        matrix = self._encode(X)
        return self._numbers_of(self.ensemble_.answers(matrix, self._threads_for(matrix))[:, :, 0])

    def prediction_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Return the range that holds the target with probability ``coverage``, by quantiles."""
        from arboretum.forest.quantiles import prediction_interval

        return prediction_interval(self, X, coverage)
