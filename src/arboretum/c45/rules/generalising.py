"""From the paths of a tree to general rules: conditions that do not help are dropped.

Every path to a leaf is a rule, but a path also tests what its other branches needed. A condition goes if
the rule without it is estimated to be wrong no more often:

    outlook = sunny and humidity = high -> no        3 covered, 0 wrong      U = 37.0 %
      without outlook = sunny                        7 covered, 3 wrong      U = 62.7 %
      without humidity = high                        5 covered, 2 wrong      U = 64.8 %

U is the pessimistic error rate U_CF(e, N) that also prunes trees. Of several conditions that may go, the
one that leaves the lowest U goes (the last of equals), and the rest is looked at anew.

All conditions are tried at once: a row that fails k conditions counts in the rule if k = 0, and in the
rule without condition c if c is the one it fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from arboretum.c45.pruning import Pessimism
from arboretum.c45.rules.rule import RuleTest
from arboretum.c45.table import CaseTable
from arboretum.engine import parallel
from arboretum.engine.cases.cases import TIE
from arboretum.engine.cases.error_limit import extra_errors_of
from arboretum.structure.tree import GROUPS, MULTIWAY, Tree

__all__ = ["Candidate", "generalise", "paths", "useful_rules"]

WORST = 0.7  # a rule estimated to be wrong more often never fires, in Quinlan's program too
MOST_WORK = 10**9  # leaves times rows; of a larger tree only the heaviest leaves become rules


@dataclass(frozen=True)
class Candidate:
    """A rule that may be chosen."""

    tests: tuple[RuleTest, ...]
    answer: int
    rate: float  # U_CF(e, N)
    counts: tuple[float, ...]  # weight of every class among the rows covered


# ---------------------------------------------------------------------- paths
def paths(tree: Tree, most: int) -> list[tuple[tuple[RuleTest, ...], int]]:
    """Return the tests on the way to at most ``most`` leaves that have cases, and their classes.

    The tests of a path on one column are merged where they can be: ``x > 3`` and ``x > 5`` is
    ``x > 5``; of sets of categories, those in all of them remain. A test stands where its column and
    side were tested first.
    """
    way: list[dict[tuple[int, str], RuleTest]] = [{} for _ in range(len(tree))]
    for node in range(1, len(tree)):  # parents come before their children
        above = int(tree.parent[node])
        test = _test(tree, above, node - int(tree.first_child[above]))
        key = (test.feature, test.operator)
        path = dict(way[above])
        path[key] = _merge(path[key], test) if key in path else test
        way[node] = path
    found = []
    for leaf in _heaviest_leaves(tree, most):
        share = tree.value[leaf, 0]
        found.append((tuple(way[leaf].values()), int(np.argmax(share >= share.max() - TIE))))
    return found


def _heaviest_leaves(tree: Tree, most: int) -> list[int]:
    """Return the leaves that have cases, from left to right; if they are too many, the heaviest."""
    leaves = [node.id for node in tree if node.is_leaf and node.weight > 0]
    if len(leaves) > most:
        kept = np.sort(np.argsort(-tree.weight[leaves], kind="stable")[:most])
        leaves = [leaves[i] for i in kept]
    return leaves


def _test(tree: Tree, node: int, child: int) -> RuleTest:
    feature, kind = int(tree.feature[node]), int(tree.kind[node])
    if kind == MULTIWAY:
        return RuleTest(feature, "=", codes=(child,))
    if kind == GROUPS:
        start = int(tree.bits_start[node])
        goes = tree.bits[start : start + len(tree.column(feature).categories or ())]
        return RuleTest(feature, "in", codes=tuple(np.flatnonzero(goes == child).tolist()))
    return RuleTest(feature, ">" if child else "<=", float(tree.threshold[node]))


def _merge(before: RuleTest, after: RuleTest) -> RuleTest:
    if after.operator == "in":
        return RuleTest(
            after.feature, "in", codes=tuple(c for c in after.codes if c in before.codes)
        )
    tighter = min if after.operator == "<=" else max
    return RuleTest(after.feature, after.operator, tighter(before.bound, after.bound))


# ---------------------------------------------------------------------- generalising
def generalise(
    tests: tuple[RuleTest, ...],
    answer: int,
    columns: np.ndarray,
    table: CaseTable,
    pessimism: Pessimism,
) -> Candidate:
    """Drop the conditions that do not help.

    ``columns``: those of the table, one row each.
    """
    misses = np.empty((len(tests), len(table.label)), np.bool_)
    failed = np.zeros(len(table.label), np.min_scalar_type(len(tests)))
    for k, test in enumerate(tests):
        np.logical_not(test.holds(columns[test.feature]), out=misses[k])
        failed += misses[k]
    left = list(range(len(tests)))
    here = _figures(np.flatnonzero(failed == 0), 0, answer, table)[0]
    while left:
        near = np.flatnonzero(failed == 1)
        the_one = np.nonzero(misses[np.array(left)[:, None], near].T)[
            1
        ]  # the place in ``left`` that fails
        without = here + _figures(near, the_one, answer, table, len(left))
        rates = _rates(np.vstack([here, without]), pessimism)
        lowest = int(np.flatnonzero(rates[1:] <= rates[1:].min() + TIE)[-1])
        if rates[1 + lowest] > rates[0] + TIE:
            break
        failed -= misses[left.pop(lowest)]
        here = without[lowest]
    covered = failed == 0
    counts = np.bincount(
        table.label[covered], weights=table.weight[covered], minlength=table.n_classes
    )
    whole = counts.sum()
    rate = _rates(np.array([[whole, whole - counts[answer]]]), pessimism)[0]
    return Candidate(tuple(tests[k] for k in left), answer, float(rate), tuple(counts.tolist()))


def _figures(
    rows: np.ndarray, group: Any, answer: int, table: CaseTable, n_groups: int = 1
) -> np.ndarray:
    """Return the weight N of some rows and the weight e of other classes, for each group of them."""
    group, weight = np.broadcast_to(group, rows.shape), table.weight[rows]
    wrong = weight * (table.label[rows] != answer)
    sums = [np.bincount(group, weights=part, minlength=n_groups) for part in (weight, wrong)]
    return np.column_stack(sums)


def _rates(figures: np.ndarray, pessimism: Pessimism) -> np.ndarray:
    """Return U_CF(e, N) for rows of N and e; 1 where there is no case."""
    weight, wrong = figures[:, 0].copy(), np.maximum(figures[:, 1], 0.0)
    extra = np.empty(len(weight))
    extra_errors_of(weight, wrong, pessimism.plain(), extra)
    some = weight > TIE
    return np.where(some, (wrong + extra) / np.where(some, weight, 1.0), 1.0)


def useful_rules(
    tree: Tree, table: CaseTable, pessimism: Pessimism, counts: np.ndarray, n_jobs: int = 1
) -> list[Candidate]:
    """Return the general rules of a tree that are of use, each once, in the order of its leaves.

    A rule is of use if it has a condition left; if it is estimated to be wrong less often than
    answering its class always, 1 - (n_class + 1) / (n + 2), and less than 7 times in 10; and if no
    other class is more frequent among the rows it covers (the overall frequency decides between
    equals).

    ``counts``: the weight of every class in the table.
    """
    columns = np.stack([table.column(f) for f in range(table.n_columns)])
    ways = paths(tree, max(MOST_WORK // len(table.label), 1))
    found: list[Candidate | None] = [None] * len(ways)

    def work(i: int) -> None:
        found[i] = generalise(*ways[i], columns, table, pessimism)

    threads = parallel.threads_for(columns.size, parallel.TREE, n_jobs)
    parallel.run(work, range(len(ways)), threads)
    limits = np.minimum(1.0 - (counts + 1.0) / (counts.sum() + 2.0), WORST)
    kept: dict[tuple[frozenset[Any], int], Candidate] = {}
    for rule in found:
        assert rule is not None
        usual = int(np.argmax(rule.counts + counts / counts.sum()))
        if rule.tests and rule.rate < limits[rule.answer] - TIE and usual == rule.answer:
            kept.setdefault((frozenset(rule.tests), rule.answer), rule)
    return list(kept.values())
