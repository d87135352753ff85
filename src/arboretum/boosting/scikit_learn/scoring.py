"""Early stopping of HistGradientBoosting*: scores of tables before the first round and after every one.

    round m ──► margins of the tables ──► loss, or a scorer ──► train_score_, validation_score_ ──► stop?

A scorer calls `predict` and the like of a model. It gets a copy that predicts with the rounds so far; for the
table that is scored these are the margins that boosting has anyway.
"""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import check_scoring

from arboretum.boosting.second_order.boosted_model import squeezed
from arboretum.engine import sums
from arboretum.predict.ensemble import Ensemble

if TYPE_CHECKING:
    from arboretum.boosting.callbacks.watching import HeldOut, Watch
    from arboretum.boosting.scikit_learn.model import HistModel
    from arboretum.boosting.second_order.booster import Booster

__all__ = ["TRAINING", "VALIDATION", "RoundLines", "RoundScores", "has_stalled"]

TRAINING, VALIDATION = "training", "validation"  # names of tables


def has_stalled(scores: list[float], rounds: int, tol: float) -> bool:
    """Return True if none of the last ``rounds`` scores is better than the one before them.

    >>> has_stalled([1.0, 2.0, 2.5], 2, 0.0), has_stalled([1.0, 2.0, 2.5], 2, 1.5)
    (False, True)
    """
    return len(scores) > rounds and max(scores[-rounds:]) <= scores[-rounds - 1] + tol


class RoundScores:
    """The scores of a fit.

    Parameters
    ----------
    model : HistModel
        The model that is fitted.
    X : dict
        The rows of every table, for scorers.
    earlier : HistModel or None
        The model that is continued, which may have scores already.

    Attributes
    ----------
    values : dict of lists
    """

    def __init__(self, model: HistModel, X: dict[str, Any], earlier: HistModel | None) -> None:
        self.model, self.X = model, X
        self.values: dict[str, list[float]] = {TRAINING: [], VALIDATION: []}
        if earlier is not None:
            self.values[TRAINING] += earlier.train_score_.tolist()
            self.values[VALIDATION] += earlier.validation_score_.tolist()
        self.by_loss = isinstance(model.scoring, str) and model.scoring == "loss"
        self._scorer = None if self.by_loss else check_scoring(model, model.scoring)
        self._now: Any = None

    # ------------------------------------------------------------------ between rounds
    def before_training(self, watch: Watch) -> None:
        """Score the start, unless a fit is continued."""
        if not self.values[TRAINING]:
            self._score(watch)

    def after_iteration(self, watch: Watch, m: int, history: Any) -> bool:
        """Score a round; return True to stop."""
        self._score(watch)
        followed = self.values[watch.held_out[-1].name]
        return has_stalled(followed, self.model.n_iter_no_change, self.model.tol)

    def _score(self, watch: Watch) -> None:
        for table in watch.held_out:
            margin = table.margins(watch.booster)
            score = self._of_loss if self.by_loss else self._of_scorer
            self.values[table.name].append(score(watch.booster, table, margin))

    # ------------------------------------------------------------------ one table
    def _of_loss(self, booster: Booster, table: HeldOut, margin: np.ndarray) -> float:
        loss, y = booster.objective.loss, table.truth.y  # type: ignore[attr-defined]
        labels = y.astype(np.int64) if loss.kernel == "softmax" else y
        return -sums.mean(loss.value(labels, squeezed(margin)), table.truth.weight)

    def _of_scorer(self, booster: Booster, table: HeldOut, margin: np.ndarray) -> float:
        X, truth = self.X[table.name], table.truth
        model = self._with_rounds(booster, X, margin)
        y = model.classes_[truth.y.astype(np.int64)] if hasattr(model, "classes_") else truth.y
        more = {} if truth.weight is None else {"sample_weight": truth.weight}
        assert self._scorer is not None
        return float(self._scorer(model, X, y, **more))

    def _with_rounds(self, booster: Booster, X: Any, margin: np.ndarray) -> Any:
        """Return the model with the rounds so far; ``margin`` are its margins of X."""
        if self._now is None:
            self._now = copy.copy(self.model)
            self._now._objective, self._now._best = booster.objective, None
        model, weights = self._now, np.array(booster.weights)
        model.ensemble_ = Ensemble(
            booster.trees, weights, booster.base, link=booster.objective.link
        )

        def margins(given: Any, *rounds: Any) -> np.ndarray:
            return margin if given is X else type(model)._margin(model, given, *rounds)

        model._margin = margins
        return model


class RoundLines:
    """Prints a line for every round, and one at the end.

    Parameters
    ----------
    model : HistModel
    scores : RoundScores or None
        Their last values are printed.
    """

    def __init__(self, model: HistModel, scores: RoundScores | None) -> None:
        self.model, self.scores = model, scores
        self._began = self._at = time.perf_counter()

    def after_iteration(self, watch: Watch, m: int, history: Any) -> None:
        """Print the trees and scores of a round."""
        if self.model.verbose < 2:
            return
        trees = watch.booster.trees[-watch.booster.per_round :]
        leaves, deepest = sum(t.n_leaves for t in trees), max(t.max_depth for t in trees)
        shown = f"{len(trees)} tree{'s' * (len(trees) > 1)}, {leaves} leaves, max depth = {deepest}"
        if self.scores is not None:
            sign, name = (-1, "loss") if self.scores.by_loss else (1, "score")
            for table in watch.held_out:
                shown += f", {table.name} {name}: {sign * self.scores.values[table.name][-1]:.5f}"
        now = time.perf_counter()
        print(f"[{m + 1}/{self.model.max_iter}] {shown}, in {now - self._at:0.3f}s")
        self._at = now

    def after_training(self, watch: Watch) -> None:
        """Print how many trees there are."""
        trees = watch.booster.trees
        leaves, seconds = sum(t.n_leaves for t in trees), time.perf_counter() - self._began
        print(f"Fit {len(trees)} trees in {seconds:.3f} s, ({leaves} total leaves)")
