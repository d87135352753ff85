"""Growing by C4.5 (and ID3): level by level, with fractional cases.

A level is searched (search.py), every node that has a test is divided, and the cases of its
children make the next level. Rows that miss values multiply on the way down, so a level may be wider
than the table; it is then divided a few nodes at a time, and their branches are finished first:

    stack    [ rest of level 2 | level 3 of its first nodes | level 4 ... ]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from arboretum.c45.nodes import Draft
from arboretum.c45.search import CaseLevel, make_questions, search
from arboretum.c45.table import CaseTable
from arboretum.engine import parallel
from arboretum.engine.cases.cases import (
    TIE,
    CaseNodes,
    Cases,
    Dealt,
    Questions,
    bits_table,
    deal,
    hand_on,
    hand_on_list,
)
from arboretum.engine.kinds import MULTIWAY

__all__ = ["C45Growth", "grow"]

_MOST_CASES = 1 << 22  # cases a level may hold at once, if the table itself has fewer


@dataclass(frozen=True)
class C45Growth:
    """How to grow.

    Attributes
    ----------
    choose : callable
        Of the gains, split informations and admissibility, (columns, nodes) each, the column to test
        in every node; -1 for none.
    min_cases : float
        Weight that two branches of a test need.
    min_weight : float
        Weight a node needs to be divided.
    min_rows : int
        Rows a node needs to be divided, whatever they weigh.
    subset : bool
        Group the values of a category instead of one branch for each.
    max_depth : int or None
    n_jobs : int
    """

    choose: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    min_cases: float
    min_weight: float
    min_rows: int = 0
    subset: bool = False
    max_depth: int | None = None
    n_jobs: int = 1


@dataclass(eq=False)
class _Divided:
    """A level whose tests are chosen and whose children are still to be made."""

    level: CaseLevel
    places: np.ndarray  # of the nodes that are divided, in the level
    questions: Questions


def grow(table: CaseTable, growth: C45Growth) -> Draft:
    """Return the full tree, neither collapsed nor pruned."""
    return _Grower(table, growth).grow()


class _Grower:
    def __init__(self, table: CaseTable, growth: C45Growth) -> None:
        self.table, self.growth = table, growth
        self.bits = bits_table(int(min(table.weight.sum(), 1 << 20)) + 1)
        self.draft = Draft.empty(table.n_classes)

    def grow(self) -> Draft:
        stack: list[CaseLevel | _Divided] = []
        root = self._make_root()
        if root is not None:
            stack.append(root)
        while stack:
            task = stack.pop()
            if isinstance(task, CaseLevel):
                chosen, best_tests = search(self.table, task, self.growth, self.bits)
                places = np.flatnonzero(chosen >= 0)
                if len(places):
                    questions = make_questions(
                        self.table, task, self.growth, self.bits, places, chosen, best_tests
                    )
                    stack.append(_Divided(task, places, questions))
                continue
            children, rest = self._divide(task)
            if rest is not None:
                stack.append(rest)
            if children is not None:
                stack.append(children)
        return self.draft.finish()

    def _make_root(self) -> CaseLevel | None:
        table = self.table
        n = len(table.label)
        total = np.bincount(table.label, table.weight, table.n_classes)[None, :]
        ids = self.draft.add(total, np.array([n]))
        if not self._worth(total, np.array([n]), 0)[0]:
            return None
        return CaseLevel(
            ids=ids,
            depth=0,
            cases=Cases(np.arange(n, dtype=np.uint32), table.label, table.weight),
            nodes=CaseNodes(np.array([0]), np.array([n]), total, total.sum(axis=1)),
            lists=table.order,
            used=np.zeros((1, len(table.categorical)), np.bool_),
        )

    def _worth(self, total: np.ndarray, size: np.ndarray, depth: int) -> np.ndarray:
        """Return which nodes are worth searching."""
        weight = total.sum(axis=1)
        worth = weight - total.max(axis=1) > TIE * weight
        worth &= (weight >= self.growth.min_weight - TIE) & (size >= self.growth.min_rows)
        if self.growth.max_depth is not None and depth >= self.growth.max_depth:
            worth[:] = False
        return worth

    # ------------------------------------------------------------------ dividing
    def _divide(self, task: _Divided) -> tuple[CaseLevel | None, _Divided | None]:
        """Make the children of the first nodes of a level; return them and the rest of the level."""
        level, table = task.level, self.table
        nodes, questions = CaseNodes(*(a[task.places] for a in level.nodes)), task.questions
        n_children = int(questions.n_children.sum())
        dealt = Dealt(
            branch=np.empty(len(level.cases.row), np.int32),
            known=np.zeros(n_children),
            rows=np.zeros(n_children, np.int64),
            total=np.zeros((n_children, table.n_classes)),
        )
        deal(table.values, level.cases, nodes, questions, dealt)
        rows, total = dealt.rows, dealt.total

        parent = np.repeat(np.arange(len(task.places), dtype=np.int32), questions.n_children)
        here = (nodes.end - nodes.start) - np.add.reduceat(rows, questions.first_child)
        size = np.where(dealt.known > 0, rows + here[parent], 0)
        live = self._worth(total, size, level.depth + 1) & (size > 0)
        wide = np.cumsum(np.where(live, size, 0))
        most = max(_MOST_CASES, 2 * len(table.label))
        fits = 1 + int(
            np.searchsorted(wide[questions.first_child + questions.n_children - 1], most)
        )
        if fits < len(task.places):
            first, rest = _cut(task, fits)
            return self._divide(first)[0], rest

        ids = self.draft.add(total, size)
        self.draft.divide(level.ids[task.places], questions, int(ids[0]))
        if not live.any():
            return None, None
        start, n_cases = np.where(live, wide - size, -1), int(wide[-1])
        del wide
        more = Cases(*(np.empty(n_cases, part.dtype) for part in level.cases))
        place = np.empty(len(level.cases.row), np.uint32)
        hand_on(level.cases, nodes, questions, dealt, start, place, more)
        lists = np.empty((len(level.lists), n_cases), np.uint32)

        def work(slot: int) -> None:
            hand_on_list(level.lists[slot], nodes, questions, dealt, start, place, lists[slot])

        threads = parallel.threads_for(lists.size, parallel.CODE, self.growth.n_jobs)
        parallel.run(work, range(len(lists)), threads)
        used = level.used[task.places]
        multiway = questions.kind == MULTIWAY
        slot = np.searchsorted(table.categorical, questions.feature)
        used[multiway, slot[multiway]] = True
        return CaseLevel(
            ids=ids[live],
            depth=level.depth + 1,
            cases=more,
            nodes=CaseNodes(
                start[live], (start + size)[live], total[live], total[live].sum(axis=1)
            ),
            lists=lists,
            used=used[parent[live]],
        ), None


def _cut(task: _Divided, n: int) -> tuple[_Divided, _Divided]:
    """Split a divided level after its first n nodes."""
    parts = []
    for some in (slice(None, n), slice(n, None)):
        q = task.questions
        sizes = q.n_children[some]
        first = (np.cumsum(sizes) - sizes).astype(np.int32)
        questions = Questions(
            q.kind[some], q.feature[some], q.threshold[some], first, sizes,
            q.missing_child[some], q.map_start[some], q.maps,
        )  # fmt: skip
        parts.append(_Divided(task.level, task.places[some], questions))
    return parts[0], parts[1]
