"""A metric: a name and a number computed from actual values and the *transformed* predictions of an
objective.

That prediction is a probability for logistic loss, (n, K) of them for softmax, the mean for Poisson, gamma
and Tweedie, a score for ranking. Names are looked up in `boosting.names`. To evaluate many
rounds, or many metrics, keep an `EvaluationSet`: it computes shared values once.

Values that differ from the peers' on purpose: if all weights are 0 a mean is NaN (XGBoost: a perfect 0). A
group without a relevant row counts in a weighted NDCG with its weight; both peers give it weight 1, which
shifts the mean by a constant. XGBoost's ranking AUC counts pairs of equal labels by their position in the
data and leaves out groups of two; here a pair counts if its labels differ, and a group if it has one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from arboretum.boosting.metric.evaluation_set import EvaluationSet, Predicted

__all__ = ["Metric"]

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
