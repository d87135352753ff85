"""Trials on held-out rows: how many rounds every kind of booster needs, and what it weighs in the mean.

trial            held-out loss after every round          mean of a kind's trials ──► lowest: its rounds
plain, fold 0    .69 .61 .55 … .48 .48 .49                held-out margins at that round ──► weights
plain, fold 1    .69 .62 .57 … .50 .49 .49
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from arboretum.base.holdout import Patience
from arboretum.boosting.averaged.boosters import Ground
from arboretum.boosting.averaged.folds import Fold
from arboretum.boosting.loss.objective import Objective
from arboretum.boosting.metric.evaluation_set import EvaluationSet, Metric
from arboretum.lazy import cached_property
from arboretum.predict.ensemble import Ensemble

__all__ = ["Found", "Trial", "run_trial"]

_STEPS = 4  # weights of kinds are multiples of 1/4
_TO_EQUAL = 0.01  # how much lower the loss of unequal weights must be, times the squared distance


@dataclass(frozen=True, eq=False)
class Trial:
    """One kind of booster on one fold.

    Attributes
    ----------
    kind : str
    fold : Fold
    curve : float64 array of shape (rounds,)
        The held-out loss after every round.
    ensemble : Ensemble
        The trees of all rounds.
    """

    kind: str
    fold: Fold
    curve: np.ndarray
    ensemble: Ensemble

    def margins(self, rounds: int) -> np.ndarray:
        """Return the margins of the held-out rows after some rounds, (rows, n_outputs)."""
        return self.ensemble.rounds(0, rounds).answers(self.fold.matrix)


def run_trial(
    ground: Ground,
    kind: str,
    fold: Fold,
    metric: Metric,
    seed: int,
    n_jobs: int,
    is_over: Callable[[], bool],
) -> Trial:
    """Boost on the rows of a fold until the loss of the held-out rows no longer falls, or time is over."""
    settings, objective = ground.settings, ground.objective
    booster = ground.booster(kind, fold.rows, seed, n_jobs)
    patience, margins, curve = Patience(settings.patience), fold.scorer(booster.base), []
    for m in range(settings.rounds(kind)):
        booster.round()
        curve.append(_loss(objective, fold.truth, metric, margins(booster)))
        if patience.has_ended(m, curve[-1]) or booster.is_stuck or is_over():
            break
    ensemble = Ensemble(booster.trees, np.array(booster.weights), booster.base, link=objective.link)
    return Trial(kind, fold, np.array(curve), ensemble)


def _loss(objective: Objective, truth: EvaluationSet, metric: Metric, margin: np.ndarray) -> float:
    return truth.evaluate([metric], objective.predict(margin))[metric.name]


@dataclass(frozen=True, eq=False)
class Found:
    """What the trials of a fit showed.

    Attributes
    ----------
    trials : list of Trial
    objective : Objective
    metric : Metric
    """

    trials: Sequence[Trial]
    objective: Objective
    metric: Metric

    @cached_property
    def kinds(self) -> list[str]:
        """The kinds that were tried."""
        return list(dict.fromkeys(trial.kind for trial in self.trials))

    @cached_property
    def curves(self) -> dict[str, np.ndarray]:
        """The mean curve of every kind; a trial that ended sooner keeps its last loss."""
        found = {}
        for kind in self.kinds:
            each = [trial.curve for trial in self.trials if trial.kind == kind]
            length = max(map(len, each))
            padded = [np.pad(curve, (0, length - len(curve)), mode="edge") for curve in each]
            found[kind] = np.mean(padded, axis=0)
        return found

    @cached_property
    def rounds(self) -> dict[str, int]:
        """The number of rounds of every kind: where its mean curve is lowest."""
        return {kind: int(curve.argmin()) + 1 for kind, curve in self.curves.items()}

    @cached_property
    def weights(self) -> dict[str, float]:
        """What every kind weighs in the mean."""
        kinds, equal = self.kinds, 1.0 / len(self.kinds)
        if len(kinds) == 1 or not self.is_weighed:
            return dict.fromkeys(kinds, equal)
        grid = [
            g for g in itertools.product(range(_STEPS + 1), repeat=len(kinds)) if sum(g) == _STEPS
        ]

        def penalised(steps: tuple[int, ...]) -> float:
            shares = np.array(steps) / _STEPS
            gaps = shares - equal
            distance = float((gaps * gaps).sum())
            return self._loss_of(shares) * (1.0 + _TO_EQUAL * distance)

        best = min(grid, key=penalised)
        return {kind: steps / _STEPS for kind, steps in zip(kinds, best, strict=True)}

    @cached_property
    def _margins(self) -> list[tuple[EvaluationSet, list[tuple[str, np.ndarray]]]]:
        """For every fold, its labels and the margins of the kinds that were tried on it."""
        by_fold: dict[int, tuple[EvaluationSet, list[tuple[str, np.ndarray]]]] = {}
        for trial in self.trials:
            entry = by_fold.setdefault(id(trial.fold), (trial.fold.truth, []))
            entry[1].append((trial.kind, trial.margins(self.rounds[trial.kind])))
        return list(by_fold.values())

    @property
    def is_weighed(self) -> bool:
        """Whether a fold has tried all kinds; if not, all weigh the same."""
        return bool(self._complete)

    @property
    def _complete(self) -> list[tuple[EvaluationSet, list[tuple[str, np.ndarray]]]]:
        """The margins of the folds that all kinds were tried on."""
        return [entry for entry in self._margins if len(entry[1]) == len(self.kinds)]

    def _loss_of(self, shares: np.ndarray) -> float:
        share = dict(zip(self.kinds, shares.tolist(), strict=True))
        losses = [
            _loss(self.objective, truth, self.metric, sum(share[k] * m for k, m in each))
            for truth, each in self._complete
        ]
        return float(np.mean(losses))

    def held_out(self) -> tuple[np.ndarray, np.ndarray]:
        """Return labels and margins of all held-out rows, (rows,) and (rows, n_outputs)."""
        weights, y, margins = self.weights, [], []
        for truth, each in self._margins:
            total = sum(weights[kind] for kind, _ in each)
            if total > 0.0:
                y.append(truth.y)
                margins.append(sum(weights[kind] / total * margin for kind, margin in each))
        return np.concatenate(y), np.concatenate(margins)

    def loss(self) -> float:
        """Return the mean held-out loss of the weighted mean, over folds."""
        y, margins = self.held_out()
        return _loss(self.objective, EvaluationSet(y), self.metric, margins)
