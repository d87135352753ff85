"""A fit of a booster: the request, the encoded tables, and the rounds.

    GivenTable ──► TrainingTable ──► recipe ──► Booster ──► rounds ──► trees
                   held-out tables ─────────────► Watch ──────┘

`BoostedModel._fit` goes through these steps; here are the functions for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.base.rounds import Interrupted, is_listened_to, run_rounds
from arboretum.boosting.callbacks.watching import HeldOut, TrainingLoss
from arboretum.boosting.metric.evaluation_set import EvaluationSet
from arboretum.boosting.second_order.recipe import LabelledTable, Recipe, TrainingTable
from arboretum.data.matrix import DenseMatrix, FrameMatrix, SparseMatrix
from arboretum.errors import DataError, ParameterError
from arboretum.grow.bins.in_parts import answers_of
from arboretum.predict.ensemble import Ensemble

if TYPE_CHECKING:
    from arboretum.boosting.callbacks.watching import StoppingRule, Watch
    from arboretum.boosting.second_order.booster import Booster
    from arboretum.boosting.second_order.snapshot import Snapshot
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema

__all__ = [
    "FitRequest",
    "GivenTable",
    "base_margins",
    "group_sizes",
    "held_out_table",
    "make_rounds",
    "margins_of",
    "requested_snapshot",
    "rows_that_count",
    "seed_of",
    "start_margins",
    "trees_so_far",
    "with_missing",
]

_REPORTS = 50  # number of progress reports to a listener


@dataclass(frozen=True)
class GivenTable:
    """A table and the arrays of its rows, as given by the user."""

    X: Any
    y: Any
    sample_weight: Any = None
    base_margin: Any = None
    groups: Any = None  # sizes
    name: str = "X"
    class_weight: Any = None  # applied when the classes are known


@dataclass(frozen=True)
class FitRequest:
    """The arguments of a fit.

    Attributes
    ----------
    training : GivenTable
    recipe : function of a TrainingTable and a seed
        Returns the `Recipe`.
    seed : int
    held_out : list of GivenTable
        Tables for the evaluation of every round.
    columns : dict
        The user's settings of the columns: arguments of `learn_schema`.
    stopping : list of StoppingRule
    save_best : bool
        Keep the trees up to the best round only.
    callbacks : list of callbacks
        See callbacks/xgboost_callbacks.py.
    earlier : fitted BoostedModel or None
        The model to continue from.
    absent : float or None
        A value that stands for missing ones; None: only NaN is missing.
    snapshot : Snapshot or None
    sample : (int, int)
        The most rows that bins are found from, and the seed that draws them.
    bar : bool
        Show a bar.
    """

    training: GivenTable
    recipe: Callable[[TrainingTable, int], Recipe]
    seed: int
    held_out: Sequence[GivenTable] = ()
    columns: dict[str, Any] = field(default_factory=dict)
    stopping: Sequence[StoppingRule] = ()
    save_best: bool = False
    callbacks: Sequence[Any] = ()
    earlier: Any = None
    absent: float | None = None
    snapshot: Snapshot | None = None
    sample: tuple[int, int] = (200_000, 0)
    bar: bool = False


def requested_snapshot(path: Any, every: Any, resume: Any) -> Snapshot | None:
    """Return the snapshot for the arguments of fit."""
    if path is None and resume is False:
        return None
    from arboretum.boosting.second_order.snapshot import Snapshot

    return Snapshot.requested(path, every, resume)


def seed_of(random_state: Any) -> int:
    """Return the seed of all draws; None is 0."""
    if random_state is None or isinstance(random_state, int | np.integer):
        return int(random_state or 0)
    from arboretum.engine.keys import seed_from

    return seed_from(random_state)


# ---------------------------------------------------------------------- tables
def rows_that_count(table: TrainingTable) -> TrainingTable:
    """Leave out the rows of weight 0, but keep groups whole."""
    w = table.weight
    if w is None or w.all() or table.groups is not None:
        return table
    return replace(table.take(np.flatnonzero(w)), is_complete=False)


def with_missing(matrix: Matrix, schema: Schema, absent: float | None) -> Matrix:
    """Replace the value that stands for missing ones by NaN, and entries a sparse table does not store.

    ``absent`` is None where only NaN is missing.
    """
    if absent is None:
        return matrix
    if isinstance(matrix, DenseMatrix) and np.isnan(absent):
        return matrix
    coded = [column.categories is not None for column in schema.columns]
    if isinstance(matrix, SparseMatrix):
        fill = np.full(matrix.n_columns, np.nan)
        if matrix.fill is not None:
            fill = np.where(coded, matrix.fill, np.nan)
        return SparseMatrix(_entries_with_nan(matrix.by_row, absent), fill)
    if np.isnan(absent):
        return matrix
    if isinstance(matrix, DenseMatrix):
        return DenseMatrix(_with_nan(matrix.values, absent))
    columns = [matrix.column(f) for f in range(matrix.n_columns)]
    return FrameMatrix(
        [x if known else _with_nan(x, absent) for x, known in zip(columns, coded, strict=True)]
    )


def _with_nan(values: np.ndarray, absent: float) -> np.ndarray:
    hit = values == absent
    return np.where(hit, np.nan, values) if hit.any() else values


def _entries_with_nan(entries: Any, absent: float) -> Any:
    hit = entries.data == absent
    if not hit.any():
        return entries
    found = entries.astype(np.float64)
    found.data = np.where(hit, np.nan, found.data)
    return found


# ---------------------------------------------------------------------- margins
def margins_of(given: Any, n_rows: int, base: np.ndarray) -> np.ndarray:
    """Return a margin per row and output: the given ones, else the same for all rows."""
    k = len(base)
    if given is None:
        return np.tile(base, (n_rows, 1))
    try:
        found = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise DataError("base margins must be numbers") from None
    if found.shape not in ((n_rows,), (n_rows, k), (n_rows * k,)) or found.size != n_rows * k:
        wanted = f"{n_rows}" if k == 1 else f"{n_rows} rows of {k}"
        raise DataError(f"base margins have shape {found.shape}: there must be {wanted}")
    if not np.isfinite(found).all():
        raise DataError("base margins must be finite numbers")
    return np.ascontiguousarray(found.reshape(n_rows, k))


def base_margins(recipe: Recipe, training: TrainingTable) -> np.ndarray:
    """Return the margins before the first tree, one per output."""
    objective, old = recipe.objective, training.earlier
    objective.check(training.y, training.weight, training.groups)
    if old is None:
        given = recipe.start
        start = objective.start(training.y, training.weight) if given is None else given
        return np.asarray(start, np.float64)
    if old.n_outputs != objective.n_outputs:
        raise ParameterError(
            f"the earlier model grows {old.n_outputs} trees a round, this one "
            f"{objective.n_outputs}: continue with its objective and classes"
        )
    if (old.n_parallel, old.averaged) != (recipe.plan.n_parallel, recipe.plan.averaged):
        raise ParameterError(
            "the earlier model was made with another number of parallel trees or another kind of "
            "boosting: continue with its parameters"
        )
    return old.base


def start_margins(recipe: Recipe, training: TrainingTable, base: np.ndarray) -> np.ndarray:
    """Return the margins before the first round: the user's, or the base, and earlier trees."""
    start, old = base, training.earlier
    if training.base_margin is not None:
        start = margins_of(training.base_margin, len(training.y), base)
    if old is None or recipe.plan.averaged:
        return start
    given = None if start is base else start
    return answers_of(old, training.matrix, recipe.plan.n_jobs, given)


def held_out_table(
    name: str, table: LabelledTable, recipe: Recipe, base: np.ndarray, *, is_training: bool
) -> HeldOut:
    """Return an evaluation table."""
    recipe.objective.check(table.y, table.weight, table.groups)
    start = margins_of(table.base_margin, table.matrix.n_rows, base)
    truth = EvaluationSet(table.y, table.weight, table.groups)
    return HeldOut(name, table.matrix, truth, start, is_training)


# ---------------------------------------------------------------------- rounds
def make_rounds(
    watch: Watch, request: FitRequest, done: int, prints: dict[str, str], name: str
) -> tuple[Ensemble, Interrupted | None]:
    """Make the requested rounds; return the trees of the finished ones."""
    booster = watch.booster
    wanted, snapshot = booster.recipe.rounds, request.snapshot
    several = watch.is_idle and snapshot is None  # rounds in one call
    kept = booster.n_trees, list(booster.weights)
    loss = TrainingLoss(booster)
    loss.look()
    watch.begin()

    numbers = range(watch.first, watch.first + wanted)
    with run_rounds(
        numbers, lambda: kept[0] // booster.per_round, name=name, bar=request.bar
    ) as rounds:
        while done < wanted and not watch.before(watch.first + done):
            before = booster.n_rounds
            ahead = wanted // 2 - done if done < wanted // 2 else wanted - done
            if is_listened_to():
                ahead = min(ahead, max(wanted // _REPORTS, 1))
            booster.round(ahead if several else 1)
            done += max(booster.n_rounds - before, 1)
            kept = booster.n_trees, list(booster.weights)
            rounds.finished(watch.first + done)
            if done == wanted // 2:
                loss.look()
            if watch.after(watch.first + done - 1):
                break
            if snapshot is not None and snapshot.due(done):
                snapshot.write(watch, prints, done)
    watch.end()
    loss.look()
    loss.warn()
    return trees_so_far(booster, *kept), rounds.interrupted


def trees_so_far(
    booster: Booster, n_trees: int | None = None, weights: list[float] | None = None
) -> Ensemble:
    """Return the first trees with some weights; None: all, as they are."""
    weight = np.array(booster.weights if weights is None else weights)
    rule, link = "average" if booster.plan.averaged else "sum", booster.objective.link
    trees = booster.trees[:n_trees]
    return Ensemble(trees, weight, booster.base, booster.plan.n_parallel, rule, link=link)


# ---------------------------------------------------------------------- groups of rows
def group_sizes(group: Any, qid: Any, name: str = "") -> np.ndarray | None:
    """Return the sizes of groups, given as such or as the group of every row.

    >>> group_sizes(None, [7, 7, 9, 9, 9]).tolist()
    [2, 3]
    """
    if group is not None and qid is not None:
        raise DataError(f"{name}group and qid mean the same: give one of them")
    if qid is None:
        return None if group is None else np.asarray(group)
    found = np.asarray(qid)
    if found.ndim != 1 or not len(found):
        raise DataError(f"{name}qid must hold the group of every row, got shape {found.shape}")
    starts = np.flatnonzero(np.append(True, found[1:] != found[:-1]))
    first = found[starts]
    if len(np.unique(first)) < len(first):
        raise DataError(f"{name}qid must keep the rows of a group together: sort the table by it")
    return np.diff(np.append(starts, len(found)))
