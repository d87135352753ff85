"""Tables in shards of this process, for tests: rows cut into spans, workers that die on demand."""

from __future__ import annotations

from contextlib import contextmanager
from unittest import mock

import numpy as np

from arboretum.boosting.second_order.sharded import ShardedTable
from arboretum.boosting.second_order.tables import Histograms
from arboretum.grow.bins.find import find_bins
from arboretum.grow.cluster import Died, InProcess
from arboretum.grow.sharded.shard import Shard
from arboretum.grow.sharded.shards import Shards


class Rows(Shard):
    """A shard of a table that is in memory."""

    def take(self, bins, matrix, spans, n_jobs):
        rows = np.concatenate([np.arange(0), *(np.arange(lo, hi) for lo, hi in spans)])
        self.hold(bins.of_table(matrix.take(rows), 1), spans, n_jobs)


class Counted(InProcess):
    """Counts messages; object ``i`` dies at the k-th of them for every (i, k) of ``deaths``."""

    def __init__(self, deaths=(), threads=1):
        super().__init__(threads)
        self.deaths, self.messages, self.bytes, self.died = set(deaths), {}, 0, 0

    def call_each(self, name, arguments):
        self.messages[name] = self.messages.get(name, 0) + 1
        return super().call_each(name, arguments)

    def send(self, i, handle, name, arguments):
        if handle is None or (i, sum(self.messages.values())) in self.deaths:
            self.objects[i], self.died = None, self.died + 1
            raise Died
        return super().send(i, handle, name, arguments)

    def receive(self, i, sent):
        reply = super().receive(i, sent)
        self.bytes += size_of(reply)
        return reply


def size_of(reply):
    if isinstance(reply, tuple):
        return sum(size_of(part) for part in reply)
    return getattr(reply, "nbytes", 0)


def cut_into(n, k, seed=0):
    """Return the spans of k shards, whose rows are in several pieces; some may have none."""
    rng = np.random.default_rng(seed)
    edges = np.unique(np.r_[0, rng.integers(0, n + 1, 2 * k - 1), n]) if k > 1 else np.array([0, n])
    home = rng.integers(0, k, len(edges) - 1)
    pieces = np.column_stack([edges[:-1], edges[1:]])
    return [pieces[home == i] for i in range(k)]


def shards_of(matrix, bins, k, seed=0, n_jobs=1, cluster=None):
    """Return a table in memory as shards."""
    cluster, spans = Counted() if cluster is None else cluster, cut_into(matrix.n_rows, k, seed)
    cluster.place(Rows, [()] * k)

    def code(which):
        cluster.call_each("take", {i: (bins, matrix, spans[i], n_jobs) for i in which})

    def restore(which):
        cluster.renew(which)
        code(which)

    code(range(k))
    return Shards(cluster, spans, restore)


@contextmanager
def in_shards(k, seed=0, n_jobs=1, cluster=None):
    """Let boosters grow their trees on k shards."""

    def make(rules, training, plan, hessian=None):
        weight = training.weight if rules.weighted else None
        if weight is not None and len(weight) != training.matrix.n_rows:
            weight = None
        bins = find_bins(training.matrix, training.schema, rules, weight)
        shards = shards_of(training.matrix, bins, k, seed, n_jobs, cluster)
        return ShardedTable(shards, bins, training.schema, plan)

    with mock.patch.object(Histograms, "make", make):
        yield
