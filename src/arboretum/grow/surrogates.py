"""Surrogate splits: what decides when the value of a split is missing (Breiman et al. 1984, §5.3).

For every divided node each other column is tried as a stand-in: the cut that sends most of the known
weight the same way as the primary split, in either direction, with at least two rows each way. A
surrogate must beat the majority rule (sending everything to the larger side); the best few are kept,
best first. A row that misses the primary value takes the first surrogate it has a value for, and
the larger side if it has none. A column under a monotone constraint never stands in for another:
the sides of that other split need not be in its order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.engine.columns.codes import sort_nodes
from arboretum.engine.columns.presort import POSITION
from arboretum.engine.rows.partition import set_bits
from arboretum.engine.split.counts import Columns
from arboretum.engine.split.statistic import NodeRows
from arboretum.engine.split.surrogate import agree_categories, agree_list
from arboretum.grow.columns import ColumnStore
from arboretum.grow.criterion import Batch
from arboretum.structure.tree import SUBSET, THRESHOLD, Surrogates

if TYPE_CHECKING:
    from arboretum.grow.apply_split import Split

__all__ = ["SurrogateFinder", "SurrogateTable", "join"]


@dataclass(frozen=True)
class SurrogateTable:
    """Surrogates of the nodes of a batch; those of its i-th node are ``start[i]:start[i + 1]``."""

    start: np.ndarray
    kind: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    reverse: np.ndarray
    bits_start: np.ndarray  # into ``bits``; -1 for none
    agreement: np.ndarray
    bits: np.ndarray  # the batch's own category sets, then the surrogates'

    def shifted(self, words: int) -> SurrogateTable:
        """Return the table for a place where ``words`` words of bits stand before its own."""
        moved = np.where(self.bits_start >= 0, self.bits_start + words, -1)
        return replace(self, bits_start=moved)


@dataclass(frozen=True)
class _Candidates:
    """One column tried at every node of a batch."""

    feature: int
    agreement: np.ndarray  # weight that goes the same way, on the node's grid; -1 for none
    threshold: np.ndarray
    reverse: np.ndarray
    takes: np.ndarray | None  # (nodes, codes) for a category


class SurrogateFinder:
    """Finds surrogates and sends the rows that need them.

    Parameters
    ----------
    store : ColumnStore
    row : NodeRows
    values_at : callable
        (positions, features) -> values.
    ordinal, constrained : bool arrays
        Which features are ranks, and which have a monotone constraint.
    keep : int
        How many surrogates a node keeps.
    """

    def __init__(
        self,
        store: ColumnStore,
        row: NodeRows,
        values_at: Callable[[np.ndarray, np.ndarray], np.ndarray],
        ordinal: np.ndarray,
        constrained: np.ndarray,
        keep: int,
    ) -> None:
        self.store, self.row, self.values_at = store, row, values_at
        self.ordinal, self.constrained, self.keep = ordinal, constrained, keep

    def find(self, batch: Batch, split: Split, side: np.ndarray) -> SurrogateTable:
        """Find the surrogates of every node; turn every mark 2 of ``side`` into 0 or 1."""
        free = ~self.constrained
        tried = [self._try_list(batch, side, f) for f in self.store.list_features if free[f]]
        for j, f in enumerate(self.store.code_features):
            if not free[f] or not self.store.n_codes[j]:  # no value at all
                continue
            find = self._try_category if self.store.categorical[j] else self._try_codes
            tried.append(find(batch, side, j, int(f)))
        tried.sort(key=lambda c: c.feature)
        bits, entries = [split.bits], []
        n_words = len(split.bits)
        start = [0]
        for node in range(len(batch)):
            lo, hi = int(batch.nodes.start[node]), int(batch.nodes.end[node])
            left, right = self._known_weights(side, lo, hi)
            chosen = self._choose(tried, node, int(split.feature[node]), max(left, right))
            for candidate in chosen:
                words = np.zeros(0, np.uint32)
                if candidate.takes is not None:
                    words = self._bits_of(candidate, node, int(split.missing_child[node]))
                at = n_words if len(words) else -1
                entries.append((candidate, node, at, candidate.agreement[node] / (left + right)))
                bits.append(words)
                n_words += len(words)
            start.append(len(entries))
            self._send(side, (lo, hi), chosen, node, int(split.missing_child[node]))
        return _table(start, entries, np.concatenate(bits))

    # ------------------------------------------------------------------ trying a column
    def _try_list(self, batch: Batch, side: np.ndarray, feature: int) -> _Candidates:
        entries = self.store.lists[self.store.slot_of(feature)]
        agreement, below, above, reverse = self._agree(entries, batch, side)
        last, after = entries[below] & POSITION, entries[above] & POSITION
        same = np.full(len(batch), feature)
        low, high = self.values_at(last, same), self.values_at(after, same)
        return _Candidates(
            int(feature), agreement, self._between(low, high, feature), reverse, None
        )

    def _try_codes(self, batch: Batch, side: np.ndarray, j: int, feature: int) -> _Candidates:
        store, nodes, k, positions = self.store, batch.nodes, len(batch), self.row.id
        columns = Columns(
            np.full(k, j), np.full(k, store.n_codes[j]), np.zeros(k, np.bool_), np.zeros(k, np.int8)
        )
        entries = np.empty(len(positions), np.uint32)
        scratch = np.empty((2, int((nodes.end - nodes.start).max())), np.uint64)
        sort_nodes(
            store.codes, positions, nodes.start, nodes.end, columns, np.zeros((k, 0), np.int32),
            scratch, entries, np.empty(k, np.bool_),
        )  # fmt: skip
        agreement, below, above, reverse = self._agree(entries, batch, side)
        last, after = positions[entries[below] & POSITION], positions[entries[above] & POSITION]
        first, top = store.values.start[j], store.n_codes[j] - 1
        low = store.values.high[first + np.minimum(store.codes[j, last], top)]
        high = store.values.low[first + np.minimum(store.codes[j, after], top)]
        return _Candidates(feature, agreement, self._between(low, high, feature), reverse, None)

    def _try_category(self, batch: Batch, side: np.ndarray, j: int, feature: int) -> _Candidates:
        k, missing_code = len(batch), int(self.store.n_codes[j])
        agreement, takes = np.empty(k, np.int64), np.empty((k, missing_code), np.uint8)
        agree_categories(
            self.store.codes[j], missing_code, self.row.id, self.row.weight, batch.nodes.start,
            batch.nodes.end, side, agreement, takes,
        )  # fmt: skip
        return _Candidates(feature, agreement, np.full(k, np.nan), np.zeros(k, np.uint8), takes)

    def _agree(
        self, entries: np.ndarray, batch: Batch, side: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        agreement, below, above = np.empty((3, len(batch)), np.int64)
        reverse = np.empty(len(batch), np.uint8)
        agree_list(
            entries, self.row.weight, batch.nodes.start, batch.nodes.end, side, agreement, below, above,
            reverse,
        )  # fmt: skip
        return agreement, below, above, reverse

    def _between(self, low: np.ndarray, high: np.ndarray, feature: int) -> np.ndarray:
        from arboretum.grow.apply_split import midpoint

        return low if self.ordinal[feature] else midpoint(low, high)

    # ------------------------------------------------------------------ choosing and sending
    def _known_weights(self, side: np.ndarray, lo: int, hi: int) -> tuple[int, int]:
        """Weight the primary split sends left and right, on the node's grid."""
        marks = side[lo:hi]
        weight = self.row.weight
        w = np.ones(hi - lo, np.int64) if weight is None else weight[lo:hi]
        return int(w[marks == 1].sum()), int(w[marks == 0].sum())

    def _choose(
        self, tried: list[_Candidates], node: int, primary: int, majority: int
    ) -> list[_Candidates]:
        good = [c for c in tried if c.feature != primary and c.agreement[node] > majority]
        good.sort(key=lambda c: (-c.agreement[node], c.feature))
        return good[: self.keep]

    def _send(
        self,
        side: np.ndarray,
        segment: tuple[int, int],
        chosen: list[_Candidates],
        node: int,
        missing_child: int,
    ) -> None:
        """Place the node's rows that miss the primary value."""
        lo, hi = segment
        lost = lo + np.flatnonzero(side[lo:hi] == 2)
        for candidate in chosen:
            if not len(lost):
                return
            x = self.values_at(lost, np.full(len(lost), candidate.feature))
            if candidate.takes is None:
                left = (x <= candidate.threshold[node]) ^ bool(candidate.reverse[node])
                placed = ~np.isnan(x)
            else:
                takes = candidate.takes[node][np.where(np.isnan(x), 0, x).astype(np.int64)]
                placed = ~np.isnan(x)
                left = np.where(takes == 2, missing_child == 0, takes == 1)
            side[lost[placed]] = left[placed]
            lost = lost[~placed]
        side[lost] = missing_child == 0

    def _bits_of(self, candidate: _Candidates, node: int, missing_child: int) -> np.ndarray:
        assert candidate.takes is not None
        n_codes = candidate.takes.shape[1]
        words = np.zeros((n_codes + 31) // 32, np.uint32)
        set_bits(
            candidate.takes[node : node + 1], np.array([n_codes]), np.array([1 - missing_child]),
            words, np.array([0]),
        )  # fmt: skip
        return words


def _table(start: list[int], entries: list[tuple[Any, ...]], bits: np.ndarray) -> SurrogateTable:
    return SurrogateTable(
        start=np.array(start, np.int64),
        kind=np.array(
            [THRESHOLD if c.takes is None else SUBSET for c, _, _, _ in entries], np.uint8
        ),
        feature=np.array([c.feature for c, _, _, _ in entries], np.int32),
        threshold=np.array([c.threshold[node] for c, node, _, _ in entries], np.float64),
        reverse=np.array([c.reverse[node] for c, node, _, _ in entries], np.uint8),
        bits_start=np.array([at for _, _, at, _ in entries], np.int64),
        agreement=np.array([share for _, _, _, share in entries], np.float64),
        bits=bits,
    )


def join(size: int, parts: Sequence[tuple[np.ndarray, SurrogateTable]]) -> Surrogates:
    """Put the tables of all batches into one, in the order of the nodes."""
    counts = np.zeros(size, np.int64)
    for ids, table in parts:
        counts[ids] = np.diff(table.start)
    start = np.concatenate([[0], np.cumsum(counts)])
    fields = ("kind", "feature", "threshold", "reverse", "bits_start", "agreement")
    joined = {name: np.empty(start[-1], getattr(parts[0][1], name).dtype) for name in fields}
    for ids, table in parts:
        sizes = np.diff(table.start)
        place = np.repeat(start[ids], sizes) + (
            np.arange(table.start[-1]) - np.repeat(table.start[:-1], sizes)
        )
        for name in fields:
            joined[name][place] = getattr(table, name)
    return Surrogates(start=start, **joined)
