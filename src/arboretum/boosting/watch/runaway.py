"""Tell when a classifier runs away: its loss on the training rows has risen while it was boosted.

A Newton step is -G / H. Where a class is rare, or rows are learned already, H comes near zero and a step may
throw its rows so far off that later rounds do not bring them back. LightGBM's defaults bound H by
``min_child_weight=0.001`` only and let it happen; a user sees nothing but a bad model.

The loss is looked at three times, before the first round, halfway and after the last one, on some
thousand rows, from the margins that boosting keeps anyway: well below a thousandth of a fit.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from arboretum.boosting.second_order.booster import Booster

__all__ = ["TrainingLoss"]

_ROWS = 4096
_OBJECTIVES = {"binary:logistic", "binary", "multi:softprob", "multi:softmax", "multiclass"}
_RISE = 0.01  # of the loss before the first round; less is not worth a word


class TrainingLoss:
    """The log loss of a booster on some of its training rows.

    Parameters
    ----------
    booster : Booster
    """

    def __init__(self, booster: Booster) -> None:
        plan, n = booster.plan, len(booster.training.y)
        self.booster = booster
        self.is_followed = (
            booster.objective.name in _OBJECTIVES and plan.dart is None and not plan.averaged
        )
        self._rows = slice(0, None, -(-n // _ROWS))
        self._seen: list[tuple[int, float]] = []  # rounds, loss

    def look(self) -> None:
        """Note the loss after the rounds so far."""
        if self.is_followed:
            self._seen.append((self.booster.n_rounds, self._loss()))

    def _loss(self) -> float:
        table = self.booster.training
        margin, y = self.booster.margin[self._rows], table.y[self._rows].astype(np.int64)
        weight = None if table.weight is None else table.weight[self._rows]
        if margin.shape[1] == 1:
            margin = np.column_stack([np.zeros(len(margin)), margin[:, 0]])
        most = margin.max(axis=1)
        sums = np.log(np.exp(margin - most[:, np.newaxis]).sum(axis=1)) + most
        return float(np.average(sums - margin[np.arange(len(y)), y], weights=weight))

    def warn(self) -> None:
        """Say so if the loss is higher now than it was."""
        if len(self._seen) < 2:
            return
        (now, last), earlier = self._seen[-1], self._seen[:-1]
        best, lowest = min(earlier, key=lambda one: one[1])
        if not last - lowest > _RISE * self._seen[0][1]:
            return
        warnings.warn(
            f"the loss on the training rows rose from {lowest:.4g} after {best} rounds to {last:.4g} "
            f"after {now}: steps have run away, as they may where classes are rare. Lower "
            "learning_rate, or raise min_child_weight or reg_lambda.",
            stacklevel=6,
        )
