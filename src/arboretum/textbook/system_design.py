"""XGBoost's system design: columns sorted once, read by several threads, in pieces that fit the cache.

**Sorted column blocks.** Every cut of a column is tried by going through its values in order. A tree
that sorts the rows of each node anew sorts all of them once per level. A block stores each column's
present entries in order, once for all trees, in compressed columns (CSC):

    X                     values   1  2  5 │ 7  9         column 0 │ column 1, each in rising order
    ┌ 5  9 ┐              rows     2  1  0 │ 2  0         the row of every value
    │ 2  · │              starts   0        3        5    where columns begin; missing entries (·)
    └ 1  7 ┘                                              are not stored

One pass over a column then serves all nodes of a level at once: row → node → the node's own running
sums. With K trees of depth d, n rows and ‖x‖₀ entries that are present, the time falls from

    O(K·d·‖x‖₀·log n)   to   O(K·d·‖x‖₀ + ‖x‖₀·log n)

**Parallel learning.** Trees follow one another, but the columns of a level are independent: threads
take a column each. Four columns of 10 s take 40 s on one thread, 20 s on two, and 10 s only on
four (`seconds_in_parallel`). `time_sorting` measures it where Python's threads do run side by side:
NumPy sorts without holding the interpreter's lock.

**Cache-aware access.** The pass reads g and h of rows in the order of the values, which jumps about
in memory. `cache_misses` counts what a small cache would have to fetch. Fetching a batch of gradients
into a buffer ahead of the sums lets the processor overlap the misses. Blocks of fewer rows avoid
them, because their gradients fit the cache; blocks that are too small leave threads little to do
(XGBoost takes 2¹⁶ rows).

**Out of core.** Blocks of 2¹⁶ rows need two bytes per row number instead of eight, and are read from
disk while others are scanned (`block_bytes`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import log2
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.xgboost import XGBNode
from arboretum.textbook.xgboost_splits import (
    DEFAULT,
    XGBCandidate,
    XGBSettings,
    choose_split,
    cut_candidates,
)

__all__ = [
    "ColumnBlocks",
    "LevelGrowth",
    "Operations",
    "SortingTime",
    "block_bytes",
    "cache_misses",
    "column_blocks",
    "expected_operations",
    "grow_level_by_level",
    "operations_without_blocks",
    "reads_in_blocks",
    "scan_level",
    "seconds_in_parallel",
    "time_sorting",
]


# ---------------------------------------------------------------------- sorted column blocks
@dataclass(frozen=True, eq=False)
class ColumnBlocks:
    """A table by columns, each sorted by value, without its missing entries."""

    values: np.ndarray  # (‖x‖₀,) float64
    rows: np.ndarray  # (‖x‖₀,) the row of every value
    starts: np.ndarray  # (n_columns + 1,) where columns begin
    n_rows: int

    @property
    def n_columns(self) -> int:
        return len(self.starts) - 1

    def column(self, f: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of a column in rising order, and their rows."""
        inside = slice(self.starts[f], self.starts[f + 1])
        return self.values[inside], self.rows[inside]


def column_blocks(X: ArrayLike) -> ColumnBlocks:
    """Sort every column once and store it in compressed form.

    >>> blocks = column_blocks([[5.0, 9.0], [2.0, np.nan], [1.0, 7.0]])
    >>> blocks.values.tolist(), blocks.rows.tolist(), blocks.starts.tolist()
    ([1.0, 2.0, 5.0, 7.0, 9.0], [2, 1, 0, 2, 0], [0, 3, 5])
    """
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"X must be a table, got an array of shape {X.shape}")
    orders = [np.argsort(x, kind="stable")[: len(x) - np.isnan(x).sum()] for x in X.T]  # NaN last
    values = np.concatenate([x[order] for x, order in zip(X.T, orders)])
    starts = np.cumsum([0, *map(len, orders)])
    return ColumnBlocks(values, np.concatenate(orders), starts, len(X))


def scan_level(
    blocks: ColumnBlocks,
    f: int,
    g: np.ndarray,
    h: np.ndarray,
    node_of_row: np.ndarray,
    n_nodes: int,
    settings: XGBSettings = DEFAULT,
) -> list[list[XGBCandidate]]:
    """Return the candidates of one column at every node of a level, in one pass over its block.

    ``node_of_row`` has the node of every row, -1 for rows that are in a leaf already.

    >>> blocks = column_blocks([[1.0], [2.0], [3.0], [4.0]])
    >>> g, h = np.array([-4.0, 2.0, 3.0, 3.0]), np.ones(4)
    >>> per_node = scan_level(blocks, 0, g, h, np.array([0, 0, 1, 1]), 2)
    >>> [[c.cut for c in node] for node in per_node]
    [[1.5], [3.5]]
    """
    values: list[list[float]] = [[] for _ in range(n_nodes)]
    sums: list[list[list[float]]] = [[] for _ in range(n_nodes)]
    present = np.zeros(n_nodes, dtype=np.int64)
    for value, row in zip(*blocks.column(f)):
        k = node_of_row[row]
        if k < 0:
            continue
        if not values[k] or value > values[k][-1]:
            values[k].append(value)
            sums[k].append([0.0, 0.0])
        sums[k][-1][0] += g[row]
        sums[k][-1][1] += h[row]
        present[k] += 1
    inside = node_of_row >= 0
    at = node_of_row[inside]
    totals = np.column_stack([np.bincount(at, a[inside], n_nodes) for a in (g, h)])
    missing = np.bincount(at, minlength=n_nodes) > present
    return [
        cut_candidates(np.array(v), np.array(s), totals[k], bool(missing[k]), settings, f)
        if v
        else []
        for k, (v, s) in enumerate(zip(values, sums))
    ]


# ---------------------------------------------------------------------- what it costs
@dataclass(frozen=True)
class Operations:
    """Comparisons made to sort, and entries read to find splits."""

    sorting: float
    scanning: float

    @property
    def total(self) -> float:
        return self.sorting + self.scanning

    def __add__(self, other: Operations) -> Operations:
        return Operations(self.sorting + other.sorting, self.scanning + other.scanning)


def _sort_cost(n: float) -> float:
    return n * log2(n) if n > 1 else 0.0


def expected_operations(
    n_entries: float, n_rows: int, n_trees: int, depth: int, blocks: bool
) -> Operations:
    """Return the two sums above: K·d·‖x‖₀·log n beside K·d·‖x‖₀ + ‖x‖₀·log n.

    >>> expected_operations(4000, 1024, 100, 6, blocks=False)
    Operations(sorting=24000000.0, scanning=2400000)
    >>> expected_operations(4000, 1024, 100, 6, blocks=True)
    Operations(sorting=40000.0, scanning=2400000)
    """
    times_sorted = 1 if blocks else n_trees * depth
    return Operations(times_sorted * n_entries * log2(n_rows), n_trees * depth * n_entries)


def operations_without_blocks(tree: XGBNode, X: ArrayLike) -> Operations:
    """Count what a tree costs whose nodes sort their own rows, column by column.

    >>> from arboretum.textbook.xgboost import grow_xgb
    >>> X = np.arange(8.0)[:, None]
    >>> tree = grow_xgb(X, X[:, 0] - 3.5, np.ones(8), XGBSettings(max_depth=1))
    >>> operations_without_blocks(tree, X)
    Operations(sorting=24.0, scanning=8)
    """
    present = ~np.isnan(np.asarray(X, dtype=np.float64))
    counts = [present[node.rows].sum(axis=0) for node in tree if node.candidates]
    return Operations(
        sum((_sort_cost(int(n)) for node in counts for n in node), 0.0),
        int(sum(node.sum() for node in counts)),
    )


# ---------------------------------------------------------------------- growing
@dataclass(frozen=True, eq=False)
class LevelGrowth:
    """The splits of a tree by the paths of their nodes, and what finding them took."""

    splits: dict[str, XGBCandidate]
    operations: Operations
    node_of_row: np.ndarray = field(repr=False)  # the paths of the leaves that rows end in


def grow_level_by_level(
    X: ArrayLike,
    g: ArrayLike,
    h: ArrayLike,
    settings: XGBSettings = DEFAULT,
    n_threads: int = 1,
) -> LevelGrowth:
    """Grow a tree from sorted column blocks, a level at a time, columns shared out to threads.

    The splits are those of `grow_xgb` with γ = 0, for any number of threads.

    Examples
    --------
    >>> grown = grow_level_by_level([[1.0], [2.0], [3.0], [4.0]], [-4.0, -2, 3, 3], np.ones(4))
    >>> {path or "root": split.cut for path, split in grown.splits.items()}
    {'root': 2.5}
    >>> grown.operations  # sorted once; the root and its two children were scanned
    Operations(sorting=8.0, scanning=8)
    """
    X, g, h = (np.asarray(a, dtype=np.float64) for a in (X, g, h))
    blocks = column_blocks(X)
    lengths = np.diff(blocks.starts)
    spent = Operations(sum(_sort_cost(int(n)) for n in lengths), 0)
    paths, splits = [""], {}
    leaf_of_row = np.full(len(X), "", dtype=object)
    node_of_row = np.zeros(len(X), dtype=np.int64)
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in range(settings.max_depth):
            if not paths:
                break
            arguments = g, h, node_of_row, len(paths), settings
            jobs = [pool.submit(scan_level, blocks, f, *arguments) for f in range(X.shape[1])]
            columns = [job.result() for job in jobs]  # in column order, whichever is done first
            spent += Operations(0.0, int(lengths.sum()))
            below: list[str] = []
            next_node = np.full(len(X), -1)
            for k, path in enumerate(paths):
                best = choose_split([c for column in columns for c in column[k]])
                if best is None:
                    continue
                splits[path] = best
                here = np.flatnonzero(node_of_row == k)
                goes_left = best.left(X[here, best.feature])
                for side, rows in (("L", here[goes_left]), ("R", here[~goes_left])):
                    next_node[rows], leaf_of_row[rows] = len(below), path + side
                    below.append(path + side)
            paths, node_of_row = below, next_node
    return LevelGrowth(splits, spent, leaf_of_row)


# ---------------------------------------------------------------------- threads
def seconds_in_parallel(seconds: Sequence[float], n_threads: int) -> float:
    """Return when the last of ``n_threads`` is done, if the free one takes the next longest column.

    >>> [seconds_in_parallel([10, 10, 10, 10], n) for n in (1, 2, 3, 4, 8)]
    [40.0, 20.0, 20.0, 10.0, 10.0]
    """
    busy_until = np.zeros(n_threads)
    for work in sorted(seconds, reverse=True):
        busy_until[busy_until.argmin()] += work
    return float(busy_until.max())


@dataclass(frozen=True)
class SortingTime:
    """What sorting all columns of a table took."""

    n_threads: int
    seconds: float  # the best of some runs
    expected: float  # `seconds_in_parallel` of the columns one by one


def time_sorting(
    X: ArrayLike, n_threads: Sequence[int] = (1, 2), runs: int = 3
) -> list[SortingTime]:
    """Measure how long the columns of a table take to sort with several numbers of threads.

    On a machine with two free cores the measured seconds follow the formula; with other work
    on it, two threads share what is left.

    >>> times = time_sorting(np.random.default_rng(0).random((2000, 4)))
    >>> [(t.n_threads, t.seconds > 0, t.expected > 0) for t in times]
    [(1, True, True), (2, True, True)]
    """
    columns = list(np.asarray(X, dtype=np.float64).T.copy())

    def sort(x: np.ndarray) -> float:
        start = perf_counter()
        np.argsort(x, kind="stable")
        return perf_counter() - start

    alone = [min(sort(x) for _ in range(runs)) for x in columns]
    found = []
    for n in n_threads:
        best = np.inf
        with ThreadPoolExecutor(n) as pool:
            for _ in range(runs):
                start = perf_counter()
                list(pool.map(sort, columns))
                best = min(best, perf_counter() - start)
        found.append(SortingTime(n, best, seconds_in_parallel(alone, n)))
    return found


# ---------------------------------------------------------------------- caches and disks
def cache_misses(reads: Iterable[int], per_line: int = 4, n_lines: int = 64) -> int:
    """Count the lines that a cache of ``n_lines`` has to fetch, the least recently used one leaving.

    ``reads`` are row numbers in the order they are read. A line of 64 bytes holds four pairs (g, h).

    >>> cache_misses(range(16)), cache_misses([0, 15, 1, 14] * 2, n_lines=1)
    (4, 8)
    """
    lines: OrderedDict[int, None] = OrderedDict()
    misses = 0
    for row in reads:
        line = int(row) // per_line
        if line in lines:
            lines.move_to_end(line)
            continue
        misses += 1
        lines[line] = None
        if len(lines) > n_lines:
            lines.popitem(last=False)
    return misses


def reads_in_blocks(x: ArrayLike, block_rows: int) -> np.ndarray:
    """Return the rows of a column in the order they are read: block after block, each by value.

    >>> reads_in_blocks([5.0, 1.0, 4.0, 2.0], 4).tolist(), reads_in_blocks([5.0, 1.0, 4.0, 2.0], 2).tolist()
    ([1, 3, 2, 0], [1, 0, 3, 2])
    """
    x = np.asarray(x, dtype=np.float64)
    pieces = [np.arange(i, min(i + block_rows, len(x))) for i in range(0, len(x), block_rows)]
    return np.concatenate([rows[column_blocks(x[rows, None]).rows] for rows in pieces])


def block_bytes(n_entries: int, block_rows: int) -> int:
    """Return the bytes of a table in blocks: a value of eight bytes, and a row number within the block.

    >>> block_bytes(1000, 2**16), block_bytes(1000, 2**20)
    (10000, 12000)
    """
    for width in (1, 2, 4, 8):
        if block_rows <= 256**width:
            return n_entries * (8 + width)
    raise ValueError(f"a block has at most 2**64 rows, got {block_rows}")
