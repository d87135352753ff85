"""Members: boosters grown on all rows, for the number of rounds that trials found, and their mean.

    member 0   plain         rounds  0   1   2   3 …  ┐
    member 1   random cuts   rounds  0   1   2   3 …  ┼─► one ensemble, rounds in turn; every tree counts
    member 2   plain         rounds  0   1   2   3 …  ┘   with the weight of its member

The rounds stand in the order of the share of its member that is done: the first half of the ensemble is half
of every member, so predictions after some rounds are those of a boosted model under way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from arboretum.boosting.averaged.boosters import Ground
from arboretum.boosting.averaged.settings import Settings
from arboretum.boosting.averaged.trials import Found
from arboretum.predict.ensemble import Ensemble

__all__ = [
    "AveragedMember",
    "PlannedMember",
    "average",
    "grow_member",
    "members_of",
    "plan_members",
]


@dataclass(frozen=True)
class PlannedMember:
    """A member before it is grown."""

    kind: str
    rounds: int
    weight: float


@dataclass(frozen=True, eq=False)
class AveragedMember:
    """A grown member.

    Attributes
    ----------
    kind : str
    weight : float
        What it counts in the mean; the weights of all members sum to 1.
    ensemble : Ensemble
        Its trees.
    """

    kind: str
    weight: float
    ensemble: Ensemble

    def __repr__(self) -> str:
        rounds = self.ensemble.n_rounds
        return f"AveragedMember({self.kind!r}, rounds={rounds}, weight={self.weight:.3g})"


def plan_members(found: Found, settings: Settings, n_outputs: int) -> list[PlannedMember]:
    """Return the members of every kind, by its weight; kinds take turns."""
    weights = {kind: weight for kind, weight in found.weights.items() if weight > 0.0}
    mean = sum(weight * found.rounds[kind] for kind, weight in weights.items())
    count = settings.n_members(mean, n_outputs)
    queues = []
    for kind, weight in weights.items():
        several = max(1, round(count * weight))
        rounds = max(1, round(found.rounds[kind] * settings.stretch))
        queues.append([PlannedMember(kind, rounds, weight / several)] * several)
    longest = max(map(len, queues))
    return [queue[k] for k in range(longest) for queue in queues if k < len(queue)]


def grow_member(
    ground: Ground, plan: PlannedMember, seed: int, n_jobs: int, is_over: Callable[[], bool]
) -> Ensemble:
    """Return a booster's trees, grown on all rows; fewer rounds if time is over."""
    booster = ground.booster(plan.kind, None, seed, n_jobs)
    while booster.n_rounds < plan.rounds and not booster.is_stuck:
        booster.round(plan.rounds - booster.n_rounds)
        if is_over():
            break
    link = ground.objective.link
    return Ensemble(booster.trees, np.array(booster.weights), booster.base, link=link)


# ---------------------------------------------------------------------- the mean
def average(members: Sequence[AveragedMember]) -> tuple[Ensemble, np.ndarray]:
    """Return the mean of members as one ensemble, and the member of each of its rounds."""
    counts = [member.ensemble.n_rounds for member in members]
    owner = np.repeat(np.arange(len(members)), counts)
    number = np.concatenate([np.arange(count) for count in counts])
    done = np.concatenate([(np.arange(count) + 1) / count for count in counts])
    order = np.lexsort((owner, done))
    first = members[0].ensemble
    trees, weights = [], []
    for member, m in zip(owner[order].tolist(), number[order].tolist(), strict=True):
        one, width = members[member], first.per_round
        trees += one.ensemble.trees[m * width : (m + 1) * width]
        weights += [one.weight] * width
    whole = Ensemble(trees, np.array(weights), first.base, link=first.link)
    return whole, owner[order]


def members_of(
    ensemble: Ensemble, owner: np.ndarray, kinds: Sequence[str], weights: Sequence[float]
) -> list[AveragedMember]:
    """Return the members of a mean; the reverse of `average`."""
    each, width = [], ensemble.per_round
    for number, (kind, weight) in enumerate(zip(kinds, weights, strict=True)):
        rounds = np.flatnonzero(owner == number).tolist()
        trees = [tree for m in rounds for tree in ensemble.trees[m * width : (m + 1) * width]]
        own = Ensemble(trees, np.ones(len(trees)), ensemble.base, link=ensemble.link)
        each.append(AveragedMember(kind, weight, own))
    return each
