"""Learning curves: the score of a model that learns from fewer rows of every fold. Would more rows help?

rows   10 %   20 %   40 %   70 %   100 %
loss   0.52   0.45   0.41   0.39   0.38    ──► the last step is as large as its error of measurement?
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arboretum.comparison.intervals import Estimate, difference, estimate
from arboretum.comparison.running import silent
from arboretum.comparison.scores import shares_of

if TYPE_CHECKING:
    from arboretum.comparison.result import Comparison

__all__ = ["LearningCurve", "learning_curve"]

_SHARES = (0.1, 0.2, 0.4, 0.7)
_MOST_FOLDS = 3
_LEAST_ROWS = 10


class LearningCurve(NamedTuple):
    """The ranking figure of one model, by the number of training rows.

    Attributes
    ----------
    model : str
    n_rows : list of int
    scores : list of Estimate
    helps : bool or None
        True if the last rows improved the score by more than chance explains; None if it is unknown.
    """

    model: str
    n_rows: list[int]
    scores: list[Estimate]
    helps: bool | None


def learning_curve(result: Comparison, name: str) -> LearningCurve:
    """Return the learning curve of a judged model, on the first folds of the comparison."""
    plan, key = result.plan, result.measure.key
    folds = range(min(len(plan.splits), _MOST_FOLDS))
    whole = result.entry(name).trials
    n_train = int(np.mean([len(plan.splits[fold][0]) for fold in folds]))
    sizes, scores = [], []
    for share in _SHARES:
        if share * n_train < _LEAST_ROWS:
            continue
        found = [_score(result, name, fold, share) for fold in folds]
        if all(found):
            sizes.append(round(share * n_train))
            scores.append(np.array([part[key] for one in found for part in one]))
    sizes.append(n_train)
    scores.append(np.array([part[key] for fold in folds for part in whole[fold].scores]))
    helps = None
    if len(scores) > 1:
        last = difference(scores[-1], scores[-2], plan.overlap)
        better = last.value > 0 if result.measure.more else last.value < 0
        helps = better and last.p < 0.1
    return LearningCurve(name, sizes, [estimate(one, plan.overlap) for one in scores], helps)


def _score(result: Comparison, name: str, fold: int, share: float) -> list[dict[str, Any]]:
    """Return the scores of a fold after learning from a share of its rows; empty if the fit fails."""
    plan, question = result.plan, result.question
    train, test = plan.splits[fold]
    rng = np.random.default_rng([result.seed, fold])
    rows = np.sort(rng.permutation(train)[: round(share * len(train))])
    model = result.entry(name).candidate.fresh(result.n_jobs, result.seed)
    with silent():
        try:
            model.fit(*question.rows(rows))
            predicted = shares_of(model, plan.judged.rows(test)[0], question)
        except (ValueError, TypeError):  # few rows may lack a class
            return []
    return plan.score(fold, predicted)
