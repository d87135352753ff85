"""Actual values and a round's predictions side by side, from which every metric is computed.

Values that stay the same from round to round (the best possible order, log y!) are computed once per
`EvaluationSet`, values that metrics share in a round (the order of the rows) once per `Predicted`. Means
over rows and lists depend neither on their order nor on threads (engine/sums.py), so early stopping stops
at the same round wherever the rows are.

A metric is a name and a number computed from actual values and the *transformed* predictions of an objective.
That prediction is a probability for logistic loss, (n, K) of them for softmax, the mean for Poisson, gamma
and Tweedie, a score for ranking. Names are looked up in `boosting.names`. To evaluate many
rounds, or many metrics, keep an `EvaluationSet`: it computes shared values once.

Values that differ from the peers' on purpose: if all weights are 0 a mean is NaN (XGBoost: a perfect 0). A
group without a relevant row counts in a weighted NDCG with its weight; both peers give it weight 1, which
shifts the mean by a constant. XGBoost's ranking AUC counts pairs of equal labels by their position in the
data and leaves out groups of two; here a pair counts if its labels differ, and a group if it has one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arboretum.boosting.metric.queries import Queries
from arboretum.engine import sums
from arboretum.errors import DataError
from arboretum.lazy import cached_property

__all__ = ["EvaluationSet", "Metric", "Predicted"]


class EvaluationSet:
    """The actual values that predictions are compared with, round after round.

    Parameters
    ----------
    y, weight, groups
        As for `Metric.evaluate`. Columns of y, several targets, count like rows.

    Examples
    --------
    >>> from arboretum.boosting.names.find import find_metrics
    >>> held_out = EvaluationSet([0, 1, 1])
    >>> held_out.evaluate(find_metrics(["error", "auc"], "xgboost"), [0.2, 0.4, 0.9])
    {'error': 0.3333333333333333, 'auc': 1.0}
    """

    def __init__(self, y: Any, weight: Any = None, groups: Any = None) -> None:
        self.table = np.asarray(y, np.float64)
        self.y = self.table.ravel()
        if self.table.ndim not in (1, 2) or len(self.y) == 0:
            raise DataError(f"y must have at least one row, got shape {self.table.shape}")
        n_rows = len(self.y)
        self.grouped = groups is not None
        self.queries = Queries(groups if self.grouped else [n_rows], n_rows)
        self.weight: np.ndarray | None = None  # of rows
        self.group_weight: np.ndarray | None = None
        if weight is not None:
            self._take_weight(np.asarray(weight, np.float64))
        self.row_weight = self.weight if self.table.ndim == 1 else weight
        self._constants: dict[Hashable, Any] = {}

    def _take_weight(self, weight: np.ndarray) -> None:
        """Spread weights of groups over their rows, or take the mean of the rows' for a group."""
        if self.table.ndim > 1 and weight.shape == self.table.shape[:1]:
            weight = np.repeat(weight, self.table.shape[1])
        if weight.shape == self.y.shape:
            self.weight = weight
            self.group_weight = self.queries.sum(weight) / self.queries.sizes
        elif self.grouped and weight.shape == self.queries.sizes.shape:
            self.weight, self.group_weight = np.repeat(weight, self.queries.sizes), weight
        else:
            per_group = f", or {len(self.queries)}, one per group" if self.grouped else ""
            raise DataError(
                f"weight has shape {weight.shape}: it must hold {len(self.y)} numbers, one per row"
                + per_group
            )

    def once(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return a value that depends only on the actual values, computed at the first call."""
        if key not in self._constants:
            self._constants[key] = compute()
        return self._constants[key]

    def evaluate(self, metrics: Iterable[Metric], prediction: Any) -> dict[str, float]:
        """Return the value of every metric, by name."""
        found = np.asarray(prediction, np.float64)
        given = Predicted(self, found if self.table.ndim == 1 else found.ravel())
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return {metric.name: float(metric.measure(given)) for metric in metrics}


class Predicted:
    """One round's predictions beside the actual values."""

    def __init__(self, truth: EvaluationSet, prediction: np.ndarray) -> None:
        if prediction.shape[:1] != truth.y.shape:
            raise DataError(
                f"{len(truth.y)} rows need one prediction each, got shape {prediction.shape}"
            )
        self.truth, self.y, self.prediction = truth, truth.y, prediction

    @property
    def vector(self) -> np.ndarray:
        """The predictions, one number per row."""
        if self.prediction.ndim != 1:
            raise DataError(
                f"this metric needs one number per row, got shape {self.prediction.shape}: "
                "several classes have metrics of their own, such as mlogloss or multi_logloss"
            )
        return self.prediction

    @property
    def matrix(self) -> np.ndarray:
        """The predictions, one column per class."""
        if self.prediction.ndim != 2:
            raise DataError(
                f"this metric needs one column per class, got shape {self.prediction.shape}"
            )
        return self.prediction

    @property
    def codes(self) -> np.ndarray:
        """The classes as whole numbers, none beyond the columns of the predictions."""
        codes = self.truth.once("codes", lambda: self.y.astype(np.intp))
        low, high = self.truth.once("range", lambda: (codes.min(), codes.max()))
        if low < 0 or high >= self.matrix.shape[1]:
            raise DataError(f"classes must be 0..{self.matrix.shape[1] - 1}, got {low}..{high}")
        return codes

    @property
    def positive(self) -> np.ndarray:
        """1 for a label above 0, else 0."""
        return self.truth.once("positive", lambda: (self.y > 0).astype(np.float64))

    @cached_property
    def order(self) -> np.ndarray:
        """The rows of every group by falling prediction."""
        return self.truth.queries.order(self.vector)

    def mean(self, values: np.ndarray) -> float:
        """Return the weighted mean of a value per row."""
        return sums.mean(values, self.truth.weight)

    def group_mean(self, values: np.ndarray) -> float:
        """Return the weighted mean of a value per group."""
        return sums.mean(values, self.truth.group_weight)


# ---------------------------------------------------------------------- a metric
Measure = Callable[[Predicted], float]


@dataclass(frozen=True)
class Metric:
    """A named measure of predictions; `boosting.names.find.find_metrics` returns some.

    Attributes
    ----------
    name : str
        As printed: ``"ndcg@5"``, ``"error@0.7"``.
    larger_is_better : bool
    measure : function
        From a `Predicted` to the metric's value.

    Examples
    --------
    >>> from arboretum.boosting.names.find import find_metrics
    >>> find_metrics("rmse", "xgboost")[0].evaluate([1.0, 2.0], [1.0, 4.0], weight=[1.0, 3.0])
    1.7320508075688772
    """

    name: str
    larger_is_better: bool
    measure: Measure = field(repr=False)

    def evaluate(self, y: Any, prediction: Any, weight: Any = None, groups: Any = None) -> float:
        """Return the value for one set of predictions.

        Parameters
        ----------
        y : array of shape (n,)
            The actual values; codes 0..K-1 for classes.
        prediction : array of shape (n,), or (n, K) for K classes or quantiles
        weight : array of shape (n,), or one weight per group, optional
        groups : array of group sizes, optional
            For ranking; without it all rows are one list.
        """
        return EvaluationSet(y, weight, groups).evaluate([self], prediction)[self.name]
