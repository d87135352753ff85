"""Further reading: one LightGBM tree grown by several workers: what each of them holds, and what they send.

A split needs the histogram of every column over all rows of the leaf. Three ways to share that work:

    data parallel      a worker holds some ROWS         rows │ columns →
                       and sends its histograms,         A   │ ■ ■ ■ ■
                       which are added up                B   │ ■ ■ ■ ■

    feature parallel   a worker searches some COLUMNS,       │ A A B B
                       and sends its best split              │ ■ ■ ■ ■
                                                             │ ■ ■ ■ ■

    voting parallel    rows again; a worker names its top k columns, the 2k named most often are
                       elected, and only their histograms are sent (PV-Tree: Meng and others, 2016)

What goes over the network per node, with W workers, B bins of all columns together, n rows, a
histogram line of 24 bytes (Σg, Σh, rows) and a split of S = 64 bytes:

    data       (W - 1)·24·B                       a sum spread over the workers: each of them adds up
               + W·(W - 1)·S                      1/W of the bins, searches them, sends its best split
    feature    W·(W - 1)·S                        every worker has all rows, and so divides them itself
               (+ (W - 1)·n/8                     if it has only its own columns: one bit per row)
    voting     W·(W - 1)·4·k                      the votes
               + (W - 1)·24·B·2k/columns          the histograms of the elected columns
               + W·(W - 1)·S

Data parallel needs the histograms of the smaller child alone, its sibling's are a subtraction.
Voting elects other columns in both children, so both are sent. Data and feature parallel give the
serial tree: the sums are the same, but for the order in which they are added up (whole numbers,
as in the engine, leave no difference at all). Voting gives it nearly always: a column that is best
over all rows is seldom missing from the top k of most workers, and the more rows a worker has,
the less often: `voting_experiment` measures it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.lightgbm import LeafWiseGrowth, LGBMNode
from arboretum.textbook.lightgbm_bins import BinnedTable, bin_table
from arboretum.textbook.lightgbm_splits import (
    DEFAULT,
    LGBMCandidate,
    LGBMSettings,
    best_split,
    leaf_output,
)

__all__ = [
    "LINE_BYTES",
    "SPLIT_BYTES",
    "Message",
    "ParallelGrowth",
    "VotingExperiment",
    "bytes_per_split",
    "elect_columns",
    "grow_data_parallel",
    "grow_feature_parallel",
    "grow_voting_parallel",
    "share_out",
    "voting_experiment",
]

LINE_BYTES = 24  # a bin of a histogram: Σg, Σh and the number of rows
SPLIT_BYTES = 64  # column, cut, side of the missing, gain, and the sums of both sides
VOTE_BYTES = 4  # the number of a column


@dataclass(frozen=True)
class Message:
    """What all workers together send for one purpose at one node."""

    node: str  # its path; the root's is ""
    what: str  # "histograms", "votes" or "best splits"
    bytes: int


@dataclass(frozen=True, eq=False)
class ParallelGrowth:
    """The tree and everything that was sent to grow it."""

    tree: LGBMNode
    messages: tuple[Message, ...] = field(repr=False)

    @property
    def bytes(self) -> int:
        """All bytes sent."""
        return sum(message.bytes for message in self.messages)


def share_out(n: int, workers: int) -> list[np.ndarray]:
    """Return the numbers 0..n-1 in runs of nearly equal length, one per worker.

    >>> [part.tolist() for part in share_out(5, 2)]
    [[0, 1, 2], [3, 4]]
    """
    if not 1 <= workers <= n:
        raise ValueError(f"workers must be between 1 and {n}, got {workers}")
    return np.array_split(np.arange(n), workers)


def bytes_per_split(parallel: ParallelGrowth) -> float:
    """Return the bytes sent for every split of the tree, on average.

    >>> X = np.arange(8.0)[:, None]
    >>> grown = grow_feature_parallel(X, X[:, 0] - 3, np.ones(8), 1)
    >>> bytes_per_split(grown)  # one worker sends nothing
    0.0
    """
    splits = sum(not node.is_leaf for node in parallel.tree)
    return parallel.bytes / splits if splits else 0.0


# ---------------------------------------------------------------------- what the three have in common
@dataclass(frozen=True, eq=False)
class _Workers(LeafWiseGrowth):
    """A learner that keeps a list of what was sent."""

    parts: Sequence[np.ndarray] = ()  # the rows, or the columns, of every worker
    messages: list[Message] = field(default_factory=list)

    def send(self, node: str, what: str, size: int) -> None:
        self.messages.append(Message(node, what, size))

    def exchange(self, node: LGBMNode, size: int, what: str) -> None:
        """Every worker sends ``size`` bytes to every other one."""
        self.send(node.path, what, len(self.parts) * (len(self.parts) - 1) * size)

    def add_up(self, node: str, n_lines: int) -> None:
        """Add up lines that every worker has a part of: of each line W - 1 parts travel."""
        self.send(node, "histograms", (len(self.parts) - 1) * LINE_BYTES * n_lines)

    def result(self) -> ParallelGrowth:
        tree = self.grow(np.arange(len(self.table.X)))
        return ParallelGrowth(tree, tuple(self.messages))


class _RowWorkers(_Workers):
    """A worker holds some rows: histograms have one more axis, (workers, bins + 1, 3).

    A sibling's histograms are still the parent's less the other child's: each worker subtracts its own.
    """

    def histograms(self, rows: np.ndarray) -> list[np.ndarray]:
        own = [rows[np.isin(rows, part)] for part in self.parts]
        parts = [self.table.histograms(some, self.g, self.h) for some in own]
        return [np.stack(column) for column in zip(*parts)]

    def n_lines(self, columns: Sequence[int]) -> int:
        return sum(self.table.bins[f].n_bins + 1 for f in columns)


# ---------------------------------------------------------------------- data parallel
class _DataParallel(_RowWorkers):
    def node_candidates(self, node: LGBMNode) -> list[LGBMCandidate]:
        if node.source == "added up":  # else the parent's sums less the sibling's are at hand
            self.add_up(node.path, self.n_lines(node.columns))
        self.exchange(node, SPLIT_BYTES, "best splits")
        whole = replace(node, histograms=[parts.sum(axis=0) for parts in node.histograms])
        return super().node_candidates(whole)


def grow_data_parallel(
    X: ArrayLike,
    g: ArrayLike,
    h: ArrayLike,
    workers: int,
    settings: LGBMSettings = DEFAULT,
    categorical: Sequence[int] = (),
) -> ParallelGrowth:
    """Grow a tree whose workers hold rows and add up their histograms; it is the serial tree.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
    g, h : arrays of shape (n_rows,)
    workers : int
        How many share the rows, in runs of equal length.
    categorical : columns that hold categories

    Examples
    --------
    >>> X, g = np.arange(6.0)[:, None], np.array([-5.0, -4, -1, 1, 4, 5])
    >>> rules = LGBMSettings(num_leaves=2, min_child_samples=1, min_data_in_bin=1)
    >>> grown = grow_data_parallel(X, g, np.ones(6), 2, rules)
    >>> grown.tree.chosen.cut, grown.messages[0]  # six bins and one for missing values, 24 bytes each
    (2.5, Message(node='', what='histograms', bytes=168))
    """
    table, g, h = _prepare(X, g, h, settings, categorical)
    return _DataParallel(table, g, h, settings, share_out(len(g), workers)).result()


# ---------------------------------------------------------------------- feature parallel
class _FeatureParallel(_Workers):
    def node_candidates(self, node: LGBMNode) -> list[LGBMCandidate]:
        found = []
        for part in self.parts:  # each worker by itself, on its own columns
            own = tuple(f for f in node.columns if f in part)
            found.append(best_split(super().node_candidates(replace(node, columns=own))))
        self.exchange(node, SPLIT_BYTES, "best splits")
        return [split for split in found if split is not None]  # in the order of the columns


def grow_feature_parallel(
    X: ArrayLike,
    g: ArrayLike,
    h: ArrayLike,
    workers: int,
    settings: LGBMSettings = DEFAULT,
    categorical: Sequence[int] = (),
) -> ParallelGrowth:
    """Grow a tree whose workers search some columns each; it is the serial tree.

    Every worker has all rows, as in LightGBM, so none has to send which rows go left. The node's
    ``candidates`` are the workers' best splits.

    >>> X, g = np.array([[0.0, 1], [1, 0], [2, 1], [3, 0]]), np.array([-2.0, -2, 2, 2])
    >>> rules = LGBMSettings(num_leaves=2, min_child_samples=1, min_data_in_bin=1)
    >>> grown = grow_feature_parallel(X, g, np.ones(4), 2, rules)
    >>> grown.tree.chosen.feature, [message.bytes for message in grown.messages]
    (0, [128, 128, 128])
    """
    table, g, h = _prepare(X, g, h, settings, categorical)
    return _FeatureParallel(table, g, h, settings, share_out(table.X.shape[1], workers)).result()


# ---------------------------------------------------------------------- voting parallel
def elect_columns(votes: Sequence[Sequence[int]], seats: int) -> tuple[int, ...]:
    """Return the ``seats`` columns named most often, in order; of equals the one named higher up.

    >>> elect_columns([[3, 1], [3, 2], [1, 0]], 2)
    (1, 3)
    """
    count = Counter(column for ballot in votes for column in ballot)
    places: Counter[int] = Counter()
    for ballot in votes:
        places.update({column: place for place, column in enumerate(ballot)})
    ranked = sorted(count, key=lambda f: (-count[f], places[f] / count[f], f))
    return tuple(sorted(ranked[:seats]))


@dataclass(frozen=True, eq=False)
class _VotingParallel(_RowWorkers):
    top_k: int = 20

    def ballot(self, node: LGBMNode, worker: int) -> list[int]:
        """Return the columns whose best split of the worker's own rows gains most."""
        s, share = self.settings, len(self.parts)
        # a worker sees a share of the rows, so a leaf needs only that share of the least ones
        modest = replace(
            s,
            min_child_samples=s.min_child_samples // share,
            min_child_weight=s.min_child_weight / share,
        )
        local = replace(self, settings=modest)
        gains = {}
        for f in node.columns:
            histogram = node.histograms[f][worker]
            own = replace(node, output=leaf_output(histogram.sum(axis=0), None, modest))
            best = best_split(LeafWiseGrowth.column_candidates(local, f, histogram, own))
            if best is not None:
                gains[f] = best.gain
        return sorted(gains, key=lambda f: (-gains[f], f))[: self.top_k]

    def node_candidates(self, node: LGBMNode) -> list[LGBMCandidate]:
        ballots = [self.ballot(node, worker) for worker in range(len(self.parts))]
        self.exchange(node, VOTE_BYTES * self.top_k, "votes")
        elected = elect_columns(ballots, 2 * self.top_k)
        self.add_up(node.path, self.n_lines(elected))
        self.exchange(node, SPLIT_BYTES, "best splits")
        whole = [parts.sum(axis=0) for parts in node.histograms]
        return super().node_candidates(replace(node, histograms=whole, columns=elected))


def grow_voting_parallel(
    X: ArrayLike,
    g: ArrayLike,
    h: ArrayLike,
    workers: int,
    top_k: int = 20,
    settings: LGBMSettings = DEFAULT,
    categorical: Sequence[int] = (),
) -> ParallelGrowth:
    """Grow a tree whose workers hold rows and send the histograms of elected columns only.

    Parameters
    ----------
    top_k : int
        How many columns a worker votes for; twice as many are elected. With half of the columns or
        more all are elected, and the tree is the serial one.

    Examples
    --------
    >>> X, g = np.column_stack([np.arange(8.0)] * 4), np.arange(8.0) - 3.5
    >>> rules = LGBMSettings(num_leaves=2, min_child_samples=1, min_data_in_bin=1)
    >>> grown = grow_voting_parallel(X, g, np.ones(8), 2, 1, rules)
    >>> [(message.what, message.bytes) for message in grown.messages[:3]]
    [('votes', 8), ('histograms', 216), ('best splits', 128)]
    """
    if top_k < 1:
        raise ValueError(f"top_k must be at least 1, got {top_k}")
    table, g, h = _prepare(X, g, h, settings, categorical)
    parts = share_out(len(g), workers)
    return _VotingParallel(table, g, h, settings, parts, [], top_k).result()


# ---------------------------------------------------------------------- how often is it another tree?
@dataclass(frozen=True)
class VotingExperiment:
    """Voting beside the serial tree, on random tables."""

    n_rows: int
    n_tables: int
    same: float  # the share of tables whose tree is the serial one
    gain: float  # what its splits gain together, as a share of the serial tree's
    bytes: float  # sent, as a share of data parallel's


def voting_experiment(
    n_rows: int, n_tables: int = 20, workers: int = 4, top_k: int = 2, n_columns: int = 12
) -> VotingExperiment:
    """Grow trees of five leaves by voting and serially, on tables whose columns all have a little
    information.

    With 4 workers, 12 columns and 2 votes each, 20 tables of every size:

        rows     the serial tree in    gain      bytes
        200      25 % of tables        95.8 %    64 %
        1,000    85 %                  99.9 %    63 %
        5,000    95 %                  100 %     59 %

    So a tree that is not the serial one is hardly worse: the vote misses a column that is nearly the
    best.

    >>> found = voting_experiment(300, 2)
    >>> found.n_tables, 0 <= found.same <= 1, found.gain > 0.8
    (2, True, True)
    """
    rules = LGBMSettings(num_leaves=5, min_child_samples=5, max_bin=16)
    same, gains, sent = 0, np.zeros(2), np.zeros(2)
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, n_columns))
        signal = X @ rng.normal(size=n_columns) * (rng.random() + 0.2)
        g, h = signal + 3 * rng.normal(size=n_rows), np.ones(n_rows)
        voting = grow_voting_parallel(X, g, h, workers, top_k, rules)
        data = grow_data_parallel(X, g, h, workers, rules)
        questions = [[_split_of(node) for node in one.tree] for one in (voting, data)]
        same += questions[0] == questions[1]
        gains += [sum(gain for *_, gain in splits) for splits in questions]
        sent += [voting.bytes, data.bytes]
    return VotingExperiment(
        n_rows, n_tables, same / n_tables, float(gains[0] / gains[1]), float(sent[0] / sent[1])
    )


def _split_of(node: LGBMNode) -> tuple[str, int, float, float]:
    c = node.chosen
    return (node.path, c.feature, c.cut, c.gain) if c is not None else (node.path, -1, 0.0, 0.0)


def _prepare(
    X: ArrayLike, g: ArrayLike, h: ArrayLike, settings: LGBMSettings, categorical: Sequence[int]
) -> tuple[BinnedTable, np.ndarray, np.ndarray]:
    """Return the table in bins, and g and h; the bins are those of all rows, for every worker."""
    X, g, h = (np.asarray(a, dtype=np.float64) for a in (X, g, h))
    if X.ndim != 2 or not len(X) == len(g) == len(h):
        raise ValueError(
            f"X must be a table with a row per g and h, got {X.shape, g.shape, h.shape}"
        )
    return bin_table(X, settings.max_bin, categorical, settings.min_data_in_bin), g, h
