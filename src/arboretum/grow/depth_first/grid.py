"""Weights and targets as whole numbers, and the rules that go with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine.compiler.decorators import writable
from arboretum.engine.depth_first import records
from arboretum.engine.fixed_point import WEIGHT_BITS, bits_of_each, shift_for, weights_to_grid
from arboretum.engine.split import statistic as stat
from arboretum.engine.split.categories import EXHAUSTIVE
from arboretum.engine.split.score import CHANCE

if TYPE_CHECKING:
    from arboretum.grow.depth_first.table import TreeTable
    from arboretum.grow.grower import GrowTarget
    from arboretum.grow.settings import Growth

__all__ = ["TreeGrid", "share_a_grid", "to_grid"]

# of many classes a single tree tries every subset of up to EXHAUSTIVE categories and orders more of them
# in this many rounds; a tree of a forest does less
_ROUNDS, _FEW_SUBSETS, _FEW_ROUNDS = 50, 5, 4
_NUMBER_BITS = 30  # of a sum of weights that multiply numbers on a grid
_NO_LIMIT = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class TreeGrid:
    """The targets of some trees as whole numbers, and the rules that go with them."""

    bags: records.Bags
    rules: records.TreeRules
    channels: int
    centre: float


def share_a_grid(target: GrowTarget, settings: Growth, weights: np.ndarray) -> bool:
    """Return whether trees of these weights can be grown by the same rules."""
    plain = target.outputs == 1 and settings.monotone is None and settings.criterion != stat.POISSON
    if not plain or np.any(weights != np.floor(weights)):
        return False
    return target.classes is not None or len({int(w).bit_length() for w in weights.sum(1)}) == 1


def to_grid(
    table: TreeTable, target: GrowTarget, settings: Growth, weights: np.ndarray, alone: bool
) -> TreeGrid:
    """Put weights and targets on their grid."""
    y, outputs = target.y, target.outputs
    classes, bounded = target.classes, settings.monotone is not None
    numbers = classes is None
    regrid = numbers and (alone or bounded or outputs > 1 or settings.criterion == stat.POISSON)
    whole, step = _weights_on_grid(weights, _NUMBER_BITS if numbers and not regrid else WEIGHT_BITS)
    two_classes = classes is not None and outputs == 1 and classes[0] == 2
    two_classes = bool(two_classes and settings.criterion == stat.GINI)
    label, number, centre, unit, channels = None, None, 0.0, 1.0, outputs
    if numbers and not regrid:  # else every node has its own
        used = y[:, 0] if not len(target.weights) else y[target.weights > 0, 0]
        centre, bits = _number_grid(used, int(whole.sum(1).max()))
        number = np.rint(np.ldexp(y[:, 0] - centre, bits)).astype(np.int64)
        unit = float(np.ldexp(1.0, -2 * bits))
    elif two_classes:
        number, unit = y[:, 0].astype(np.int64), 2.0  # Gini is twice the variance of 0 and 1
    elif classes is not None:
        offsets = np.cumsum(classes) - classes
        label = np.ascontiguousarray((y + offsets).T, np.uint32)
        channels = int(classes.sum())
    criterion = settings.criterion
    if criterion == stat.FRIEDMAN and outputs == 1:
        criterion = stat.SQUARED  # they rank alike
    if bounded or outputs > 1 or criterion == stat.POISSON:
        form = records.CHANNELS
    else:
        form = records.ONE_SUM if label is None else records.ONE_LABEL
    charged = table.has_categories and not settings.random_splits
    rules = records.TreeRules(  # plain numbers: what the kernels at `TreeKernels` read has one type
        form=form,
        criterion=int(criterion),
        outputs=outputs,
        two_classes=two_classes,
        max_features=_or_no_limit(settings.max_features),
        max_depth=_or_no_limit(settings.max_depth),
        max_leaves=int(settings.max_leaf_nodes or 0),
        min_split=int(settings.min_samples_split),
        min_leaf=int(settings.min_samples_leaf),
        min_weight=int(np.ceil(settings.min_weight_leaf / step)),
        unit_weights=bool(whole.max() == 1),
        whole_weights=bool(step == 1.0),
        weight_step=float(step),
        min_decrease=float(settings.min_impurity_decrease),
        gain_unit=unit,
        bounded=bounded,
        regrid=bool(regrid),
        exhaustive=EXHAUSTIVE if alone else _FEW_SUBSETS,
        rounds=_ROUNDS if alone else _FEW_ROUNDS,
        charge=float(settings.category_penalty * CHANCE) if charged else 0.0,
        loner=float(settings.loner_excess),
    )
    rows = np.empty(np.count_nonzero(whole), np.uint32)
    bags = records.Bags(writable(whole), label, number, rows)
    return TreeGrid(bags, rules, channels, centre)


def _or_no_limit(limit: int | None) -> int:
    return _NO_LIMIT if limit is None else int(limit)


def _weights_on_grid(weights: np.ndarray, bits: int) -> tuple[np.ndarray, float]:
    """Return the weights as whole numbers, those above 0 at least 1, and what one step weighs."""
    whole, step, as_they_were = weights_to_grid(weights, bits)
    return whole if as_they_were else np.maximum(whole, weights > 0), step


def _number_grid(y: np.ndarray, weight: int) -> tuple[float, int]:
    """Return the middle and the binary digits of a grid so fine that no sum of the rows overflows.

    The grid decides between splits; what nodes answer is summed in float64.
    """
    centre = float(y.min()) / 2 + float(y.max()) / 2
    return centre, shift_for(float(y.max()) - centre, bits_of_each(weight))
