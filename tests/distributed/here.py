"""A cluster in this process as an adapter like those for Dask and Ray: collections are lists of pieces."""

from __future__ import annotations

import itertools
import sys
from contextlib import contextmanager
from unittest import mock

import numpy as np
import pandas as pd

from arboretum.base import collections
from arboretum.distributed import local
from arboretum.distributed.boosting import fit_collection
from arboretum.grow.cluster import Died, InProcess, Worker


class Pieces:
    """A collection: frames or arrays, one after another."""

    def __init__(self, pieces):
        self.pieces = list(pieces)


class Workers(InProcess):
    """Some workers; object ``i`` dies at the k-th message for every (i, k) of ``deaths``."""

    number: int = 3
    deaths: frozenset = frozenset()
    messages: list[str]

    def workers(self):
        return [Worker(f"worker {i}", 64 << 20) for i in range(self.number)]

    def call_each(self, name, arguments):
        self.messages.append(name)
        return super().call_each(name, arguments)

    def send(self, i, handle, name, arguments):
        if handle is None or (i, len(self.messages)) in self.deaths:
            self.objects[i] = None
            raise Died
        return super().send(i, handle, name, arguments)


def is_collection(given):
    return isinstance(given, Pieces)


def gather(given):
    some = [piece for piece in given.pieces if len(piece)]
    return np.concatenate(some) if isinstance(some[0], np.ndarray) else pd.concat(some)


def known_rows(given):
    return None


def pieces_of(given):
    return given.pieces


def homes_of(given, cluster):
    return []


def make_cluster(model):
    return Workers()


def fit(model, method, args, kwargs):
    return fit_collection(sys.modules[__name__], model, method, args, kwargs)


@contextmanager
def workers(number=3, deaths=(), few=0):
    """Let estimators fit `Pieces` on some workers; yields the names of all messages."""
    messages: list[str] = []
    adapters = {**collections._ADAPTERS, "tests": "tests.distributed.here"}
    with (
        mock.patch.object(collections, "_ADAPTERS", adapters),
        mock.patch.object(local, "FEW", few),
        mock.patch.object(Workers, "number", number),
        mock.patch.object(Workers, "deaths", frozenset(deaths)),
        mock.patch.object(Workers, "messages", messages, create=True),
    ):
        yield messages


def cut(table, places):
    """Return a table as pieces that end at these rows."""
    ends = [0, *sorted(places), len(table)]
    return Pieces([table[a:b] for a, b in itertools.pairwise(ends)])
