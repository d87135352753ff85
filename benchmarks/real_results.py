"""What was measured on real tables, and what it comes to over all of them.

A `Pair` is one model beside its peer on one table, a `TableResult` all pairs on a table, a `Summary` one
model over some tables. A ratio of speed is the peer's time over ours (above 1: ours is faster); a ratio of
losses is ours over the peer's (below 1: ours is better). Means of ratios are geometric.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.real_losses import relative_loss

__all__ = ["Contender", "Pair", "Summary", "TableResult", "geometric_mean", "summaries"]

EVEN = 0.005  # losses this near to each other are neither won nor lost
FAR = 0.05  # a loss this much above the peer's is named
LEAST_ROWS = 500  # on smaller tables single splits decide


@dataclass(frozen=True)
class Contender:
    """One side of a pair: CPU seconds of one thread, and losses on held-out rows."""

    fit: float
    predict: float  # some thousand rows
    predict_few: float  # the held-out rows of a split
    losses: tuple[float, ...]  # one per split
    prepare: float = 0.0  # to bring the training rows into its form
    prepare_rows: float = 0.0  # the same for the rows of `predict`


@dataclass(frozen=True)
class Pair:
    """One model and its peer on one table."""

    model: str
    ours: Contender
    theirs: Contender
    guessing: tuple[float, ...]  # loss of guessing, one per split
    cold: float  # seconds of our first fit: it compiles, or loads what was compiled
    threads: float | None = None  # wall time of our fit on one thread over that on several

    @property
    def fit_speed(self) -> float:
        """Fit speed with the peer's codes ready made: the stricter one."""
        return self.theirs.fit / self.ours.fit

    @property
    def fit_speed_from_frame(self) -> float:
        """Fit speed from the same frame: the peer's preparation counts."""
        return (self.theirs.prepare + self.theirs.fit) / self.ours.fit

    @property
    def predict_speed(self) -> float:
        return self.theirs.predict / self.ours.predict

    @property
    def predict_speed_from_frame(self) -> float:
        return (self.theirs.prepare_rows + self.theirs.predict) / self.ours.predict

    @property
    def predict_few_speed(self) -> float:
        return self.theirs.predict_few / self.ours.predict_few

    @property
    def loss(self) -> float:
        return relative_loss(self.ours.losses, self.theirs.losses, self.guessing)


RATIOS = ("fit_speed", "fit_speed_from_frame", "predict_speed", "predict_speed_from_frame",
          "predict_few_speed", "loss")  # fmt: skip


@dataclass(frozen=True)
class TableResult:
    """All pairs on one table."""

    name: str
    rows: int
    columns: int
    words: int
    levels: int
    task: str
    source: str
    splits: int
    pairs: tuple[Pair, ...]
    failed: dict[str, str] = field(default_factory=dict)  # model -> error


def geometric_mean(ratios: Iterable[float]) -> float:
    """Return the geometric mean.

    Examples
    --------
    >>> geometric_mean([0.5, 2.0])
    1.0
    """
    return float(np.exp(np.mean(np.log(list(ratios)))))


@dataclass(frozen=True)
class Summary:
    """One model over some tables, by name and in the order of the tables."""

    model: str
    tables: tuple[TableResult, ...]
    pairs: tuple[Pair, ...]

    def mean(self, ratio: str) -> float:
        """Return the geometric mean of one of `RATIOS`."""
        return geometric_mean(getattr(pair, ratio) for pair in self.pairs)

    def worst(self, ratio: str, n: int = 1) -> list[tuple[str, float]]:
        """Return the worst tables and their ratios: the slowest, or those of the highest loss."""
        sign = -1 if ratio == "loss" else 1
        found = [(t.name, float(getattr(p, ratio))) for t, p in zip(self.tables, self.pairs)]
        return sorted(found, key=lambda one: sign * one[1])[:n]

    @property
    def won(self) -> int:
        return sum(pair.loss < 1 - EVEN for pair in self.pairs)

    @property
    def lost(self) -> int:
        return sum(pair.loss > 1 + EVEN for pair in self.pairs)

    @property
    def far(self) -> list[tuple[str, float]]:
        """Return the tables of some size whose loss is far above the peer's, the worst first."""
        small = {table.name for table in self.tables if table.rows < LEAST_ROWS}
        every = self.worst("loss", len(self.tables))
        return [(name, loss) for name, loss in every if loss > 1 + FAR and name not in small]


def summaries(results: Sequence[TableResult], words: bool | None = None) -> list[Summary]:
    """Return a summary per model, over the tables with words, those without, or all (None)."""
    found: dict[str, list[tuple[TableResult, Pair]]] = {}
    for table in results:
        if words is None or words == (table.words > 0):
            for pair in table.pairs:
                found.setdefault(pair.model, []).append((table, pair))
    return [
        Summary(model, tuple(t for t, _ in both), tuple(p for _, p in both))
        for model, both in found.items()
    ]
