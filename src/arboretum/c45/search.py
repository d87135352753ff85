"""Searching a level of C4.5: the best test of every column in every node, and which one is chosen.

    column kind     test                        kernel
    number          x <= t                      scan_thresholds
    category        one branch per value        scan_values
    category        groups of values            scan_groups       (subset=True, more than two values)

Columns are searched side by side by threads; what they find is judged for all nodes at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.c45.table import CaseTable
from arboretum.engine import parallel
from arboretum.engine.cases.cases import (
    EPS,
    TIE,
    CaseNodes,
    Cases,
    Questions,
    round_down,
    scan_thresholds,
    scan_values,
)
from arboretum.engine.columns.presort import POSITION
from arboretum.engine.kinds import GROUPS, MULTIWAY, THRESHOLD

if TYPE_CHECKING:
    from arboretum.c45.growing import C45Growth

__all__ = ["CaseLevel", "by_gain", "by_ratio", "make_questions", "many_values", "search"]

# (gain, info, admissible), each of (columns, nodes) -> the column chosen in every node, -1 for none
Choice = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class CaseLevel:
    """Nodes of one depth with their cases."""

    ids: np.ndarray
    depth: int
    cases: Cases
    nodes: CaseNodes
    lists: np.ndarray  # (numeric columns, cases) uint32
    used: np.ndarray  # (nodes, categorical columns) bool: tested further up


@dataclass(frozen=True, eq=False)
class BestTests:
    """The best test of every column in every node."""

    gain: np.ndarray  # (columns, nodes)
    info: np.ndarray
    admissible: np.ndarray
    cut: np.ndarray  # (columns, nodes), place in the list where the right side begins


def search(
    table: CaseTable, level: CaseLevel, growth: C45Growth, bits: np.ndarray
) -> tuple[np.ndarray, BestTests]:
    """Return the column each node tests (-1: it stays a leaf), and the best test of every column."""
    shape = (table.n_columns, len(level.ids))
    best_tests = BestTests(
        np.zeros(shape), np.zeros(shape), np.zeros(shape, np.bool_), np.full(shape, -1, np.int64)
    )
    nodes, cases = level.nodes, level.cases

    def numeric(slot: int) -> None:
        f = table.numeric[slot]
        scan_thresholds(
            level.lists[slot], cases, nodes, growth.min_cases, bits,
            best_tests.gain[f], best_tests.info[f], best_tests.cut[f],
        )  # fmt: skip
        best_tests.admissible[f] = best_tests.cut[f] >= 0

    def category(slot: int) -> None:
        f, n_values = table.categorical[slot], int(table.n_values[slot])
        grouped = growth.subset and n_values > 2
        n_large = np.zeros(len(level.ids), np.int64)
        if grouped:
            from arboretum.engine.cases.grouping import scan_groups as scan
        else:
            scan = scan_values
        scan(
            table.values.codes[slot], n_values, cases, nodes, growth.min_cases, bits,
            best_tests.gain[f], best_tests.info[f], n_large,
        )  # fmt: skip
        best_tests.admissible[f] = n_large >= 2
        if not grouped:
            best_tests.admissible[f] &= ~level.used[:, slot]

    def work(job: tuple[Callable[[int], None], int]) -> None:
        job[0](job[1])

    jobs = [(category, slot) for slot in range(len(table.categorical))]
    jobs += [(numeric, slot) for slot in range(len(table.numeric))]
    size = len(cases.row) * table.n_columns
    parallel.run(work, jobs, parallel.threads_for(size, parallel.CODE, growth.n_jobs))
    return growth.choose(best_tests.gain, best_tests.info, best_tests.admissible), best_tests


def many_values(table: CaseTable) -> np.ndarray:
    """Return which columns have enough categories to gain, whatever they mean."""
    many = np.zeros(table.n_columns, np.bool_)
    many[table.categorical] = table.n_values >= 0.3 * table.weight.sum() - TIE
    return many


def by_ratio(
    many: np.ndarray, criterion: str = "gain_ratio", epsilon: float = 0.0, gate: bool = True
) -> Choice:
    """Return C4.5's choice: the largest ratio, if it is more than ``epsilon`` (0: whatever it is).

    With ``gate`` only gains of at least the average compete. ``many``: the columns with too many values
    to count in the average.
    """
    counts = np.ones_like(many) if many.all() else ~many

    def choose(gain: np.ndarray, info: np.ndarray, admissible: np.ndarray) -> np.ndarray:
        counted = admissible & counts[:, None]
        n = counted.sum(axis=0)
        average = np.where(n > 0, np.where(counted, gain, 0.0).sum(axis=0) / np.maximum(n, 1), 1e6)
        runs = admissible & (info > EPS)
        if gate:
            runs &= gain >= average - EPS - TIE
        worth = gain / np.where(runs, info, 1.0) if criterion == "gain_ratio" else gain
        if epsilon:
            runs &= worth > epsilon + TIE
        return _first_largest(worth, runs)

    return choose


def by_gain(epsilon: float) -> Choice:
    """Return ID3's choice: the largest gain, if it is more than ``epsilon``."""

    def choose(gain: np.ndarray, info: np.ndarray, admissible: np.ndarray) -> np.ndarray:
        return _first_largest(gain, admissible & (gain > epsilon + TIE))

    return choose


def _first_largest(worth: np.ndarray, runs: np.ndarray) -> np.ndarray:
    worth = np.where(runs, worth, -np.inf)
    return np.where(
        runs.any(axis=0), np.argmax(worth >= worth.max(axis=0, initial=-np.inf) - TIE, axis=0), -1
    )


def make_questions(
    table: CaseTable,
    level: CaseLevel,
    growth: C45Growth,
    bits: np.ndarray,
    places: np.ndarray,
    chosen: np.ndarray,
    best_tests: BestTests,
) -> Questions:
    """Return the questions of the nodes at ``places``; children are numbered from 0."""
    feature = chosen[places]
    k = len(places)
    slot_of = table.values.slot
    is_number = np.isin(feature, table.numeric)
    kind = np.full(k, THRESHOLD, np.uint8)
    n_children, threshold = np.full(k, 2, np.int32), np.full(k, np.nan)
    map_start, maps = np.full(k, -1, np.int64), [np.zeros(0, np.uint32)]
    numbers = np.flatnonzero(is_number)
    if len(numbers):
        threshold[numbers] = _thresholds(
            table, level, feature[numbers], slot_of, places[numbers], best_tests
        )
    words = 0
    for slot in np.unique(slot_of[feature[~is_number]]):
        here = np.flatnonzero(~is_number & (slot_of[feature] == slot))
        n_values = int(table.n_values[slot])
        if not (growth.subset and n_values > 2):
            kind[here], n_children[here] = MULTIWAY, n_values
            continue
        from arboretum.engine.cases.grouping import group_values

        some = CaseNodes(*(part[places[here]] for part in level.nodes))
        child, groups = np.empty((len(here), n_values), np.uint32), np.empty(len(here), np.int64)
        group_values(table.values.codes[slot], n_values, level.cases, some, bits, child, groups)
        kind[here], n_children[here] = GROUPS, groups
        map_start[here] = words + n_values * np.arange(len(here))
        maps.append(child.ravel())
        words += child.size
    return Questions(
        kind, feature.astype(np.int32), threshold,
        (np.cumsum(n_children) - n_children).astype(np.int32), n_children,
        table.missing_branch[feature], map_start, np.concatenate(maps),
    )  # fmt: skip


def _thresholds(
    table: CaseTable,
    level: CaseLevel,
    feature: np.ndarray,
    slot_of: np.ndarray,
    places: np.ndarray,
    best_tests: BestTests,
) -> np.ndarray:
    """Return the largest training value up to the middle of each cut."""
    slot, cut = slot_of[feature], best_tests.cut[feature, places]
    row = level.cases.row
    below = table.values.numbers[row[level.lists[slot, cut - 1] & POSITION], slot]
    above = table.values.numbers[row[level.lists[slot, cut] & POSITION], slot]
    middle = below / 2 + above / 2  # halves first: the sum may overflow
    middle = np.where(middle >= above, below, middle)  # neighbours may have none between
    round_down(table.values.numbers, slot, table.order, table.present, middle)
    return middle
