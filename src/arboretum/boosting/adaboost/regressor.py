"""AdaBoost for numbers: AdaBoost.R2 (Drucker 1997).

A prediction is more or less wrong: its deviation, divided by the largest of all rows, is the loss of a
round, and the prediction is the median of the learners, weighted by their estimator weights (or their
mean, or sum: `combine`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.anatomy import Anatomy
from arboretum.base.parameters import Parameter
from arboretum.base.targets import Numbers
from arboretum.boosting.adaboost import formulas
from arboretum.boosting.adaboost.estimator import AdaBoost
from arboretum.boosting.adaboost.formulas import NumberTally
from arboretum.cart.cart import CARTRegressor
from arboretum.predict.ensemble import Ensemble, weighted_median

if TYPE_CHECKING:
    from arboretum.structure.tree import Tree

__all__ = ["AdaBoostRegressor"]


class AdaBoostRegressor(Numbers, AdaBoost):
    """Weak regressors, each trained on what those before it predicted badly, and their median.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Notes
    -----
    A learner with a mean loss of a half or more is discarded and ends the boosting (see `stop_`); the
    first one is kept, with a warning: alone, it is the prediction whatever its weight. scikit-learn's
    estimator always draws rows, as Drucker did: that is ``sampling="resample"``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> AdaBoostRegressor(n_estimators=20).fit(X, y).score(X, y) > 0.5
    True
    """

    _parameters: ClassVar = {
        **AdaBoost._parameters,
        "estimator": Parameter(
            p.none | p.an_estimator,
            "The weak learner, from any library that follows scikit-learn; None is "
            "`CARTRegressor(max_depth=3)`. CART trees are grown from columns that are sorted once for all "
            "rounds.",
        ),
        "loss": Parameter(
            p.one_of(*formulas.R2_LOSSES),
            "The loss of a deviation d, as a share of the largest: d, d² or 1 - e^(-d).",
        ),
        "combine": Parameter(
            p.one_of("median", "mean", "sum"),
            "How the learners' predictions are combined by their weights: the weighted median, as in "
            "Drucker's paper; the weighted mean; or the sum of weight times prediction, as in some "
            "notes, whose size grows with the number of learners and is no estimate of y.",
        ),
    }
    _tree: ClassVar = CARTRegressor
    _depth: ClassVar = 3
    _classifies: ClassVar = False
    _has_theory = False
    _chance_text: ClassVar = "on average half as wrong as on the worst row, or more"

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        combine: str = "median",
        sampling: str = "reweight",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        keep_weights: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str | None = None,
    ) -> None:
        p.take_arguments(locals())

    def _learn_labels(self, y: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        values = self._learn_numbers(y, n_rows)[:, 0]
        return values, values

    def _anatomy(self) -> Anatomy:
        found = super()._anatomy()
        steps = {**found.recipe.steps, "combine": self._combine}
        return replace(found, recipe=replace(found.recipe, steps=steps))

    def _weigh(self, w: np.ndarray, answers: np.ndarray, y: np.ndarray) -> formulas.Verdict | None:
        return formulas.weigh_by_deviations(
            w, np.abs(answers - y), self.loss, float(self.learning_rate)
        )

    def _tally(self, y: np.ndarray) -> NumberTally:
        return NumberTally(y, self._combine)

    def _combine(self, answers: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the combination of predictions of shape (rows, learners)."""
        if self.combine == "median":
            return weighted_median(answers, weights)
        total = (answers * weights).sum(axis=1)
        return total / weights.sum() if self.combine == "mean" else total

    def _weigh_first(self, w: np.ndarray, answers: np.ndarray, y: np.ndarray) -> formulas.Verdict:
        losses = formulas.r2_losses(w, np.abs(answers - y), self.loss)
        return formulas.Verdict(float((w * losses).sum()), 1.0, w)

    def _read_nodes(self, value: np.ndarray) -> np.ndarray:
        return value[:, 0, 0]

    def _read(self, member: Any, X: Any) -> np.ndarray:
        return np.asarray(member.predict(X), dtype=np.float64).reshape(-1)

    # ------------------------------------------------------------------ predicting
    def _as_one(self, trees: list[Tree], reading: str) -> Ensemble:
        return Ensemble(trees, self.estimator_weights_, np.zeros(1), rule=self.combine)

    def predict(self, X: Any) -> np.ndarray:
        """Return the learners' predictions, combined by their estimator weights: see `combine`."""
        self._check_fitted()
        if self._has_trees:
            matrix = self._encode(X)
            return self.ensemble_.answers(matrix, self._threads_for(matrix))[:, 0]
        return self._combine(np.stack(list(self._answers(X)), axis=1), self.estimator_weights_)

    def _meanings(self) -> dict[str, Callable[[np.ndarray], Any]]:
        return {"predict": lambda medians: medians[:, 0]}

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `predict` after each round."""
        answers: list[np.ndarray] = []
        for answer in self._answers(X):
            answers.append(answer)
            weights = self.estimator_weights_[: len(answers)]
            yield self._combine(np.stack(answers, axis=1), weights)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield R² after each round."""
        from sklearn.metrics import r2_score

        for answer in self.staged_predict(X):
            yield float(r2_score(y, answer, sample_weight=sample_weight))
