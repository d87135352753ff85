"""What trials find: rounds by the mean curve, weights by the held-out rows."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.boosting.averaged.trials import Found, Trial
from arboretum.boosting.metric.evaluation_set import EvaluationSet
from arboretum.boosting.names.find import find_metrics, find_objective

OBJECTIVE = find_objective("regression", "lightgbm")
RMSE = find_metrics("rmse", "lightgbm")[0]


class FixedFold:
    def __init__(self, y):
        self.truth = EvaluationSet(y)


class FixedTrial(Trial):
    """A trial whose margins are given, whatever the rounds."""

    def margins(self, rounds):
        return self.ensemble


def found(curves, margins=None, y=(1.0, -1.0)):
    """Return what trials of these curves find; margins by kind."""
    fold = FixedFold(np.array(y))
    trials = []
    for kind, curve in curves:
        margin = np.zeros(2) if margins is None else np.array(margins[kind])
        trials.append(FixedTrial(kind, fold, np.array(curve), margin[:, None]))
    return Found(trials, OBJECTIVE, RMSE)


def test_rounds_are_where_the_mean_curve_is_lowest():
    both = found([("a", [3.0, 1.0, 2.0, 9.0]), ("a", [3.0, 2.0, 0.5]), ("b", [1.0])])
    assert both.curves["a"].tolist() == [3.0, 1.5, 1.25, 4.75]
    assert both.rounds == {"a": 3, "b": 1}


@pytest.mark.parametrize(
    ("right", "weights"),
    [
        ({"a": [1.0, -1.0], "b": [-9.0, 9.0]}, {"a": 1.0, "b": 0.0}),
        ({"a": [2.0, 0.0], "b": [0.0, -2.0]}, {"a": 0.5, "b": 0.5}),
        ({"a": [1.0, 3.0], "b": [1.0, 3.0]}, {"a": 0.5, "b": 0.5}),
        ({"a": [0.0, 0.0], "b": [4.0, -4.0]}, {"a": 0.75, "b": 0.25}),
    ],
)
def test_weights_minimise_the_held_out_loss(right, weights):
    assert found([("a", [1.0]), ("b", [1.0])], right).weights == weights


def test_only_folds_that_have_tried_all_kinds_set_weights():
    right = {"a": np.array([[1.0], [-1.0]]), "b": np.array([[-9.0], [9.0]])}
    first, second = FixedFold(np.array([1.0, -1.0])), FixedFold(np.array([-9.0, 9.0]))

    def weights(*tried):
        trials = [FixedTrial(kind, fold, np.ones(1), right[kind]) for kind, fold in tried]
        return Found(trials, OBJECTIVE, RMSE).weights

    assert weights(("a", first), ("b", second)) == {"a": 0.5, "b": 0.5}
    assert weights(("a", first), ("b", first), ("b", second)) == {"a": 1.0, "b": 0.0}


def test_held_out_margins_are_those_of_the_weighted_mean():
    y, margins = found([("a", [1.0]), ("b", [1.0])], {"a": [2.0, 0.0], "b": [0.0, -2.0]}).held_out()
    assert y.tolist() == [1.0, -1.0]
    assert margins.ravel().tolist() == [1.0, -1.0]
