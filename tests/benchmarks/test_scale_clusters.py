"""The benchmark of clusters: its table, and how it counts messages."""

from __future__ import annotations

import numpy as np

from arboretum import LGBMClassifier
from benchmarks.scale_clusters import make_rows, messages
from tests.distributed.here import Pieces, workers


def test_messages_are_counted():
    parts = [make_rows(k, 60) for k in range(3)]
    assert parts[0].equals(make_rows(0, 60))
    assert set(np.unique(parts[1]["label"])) == {0.0, 1.0}
    with workers(2) as seen, messages() as counts:
        LGBMClassifier(n_estimators=2).fit(Pieces(parts), "label")
    assert counts.rounds == len(seen)
    assert counts.bytes > 0
    with workers(2):
        LGBMClassifier(n_estimators=1).fit(Pieces(parts), "label")
    assert counts.rounds == len(seen)
