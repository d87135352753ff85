"""A bench with a node at hand, for kernels that are tested alone."""

import numpy as np

from arboretum.engine.depth_first import records
from arboretum.engine.dtypes import as_records
from arboretum.engine.split.score import XLOGX


def bench_for(
    features: records.TreeFeatures,
    target: records.RandomTreeTarget,
    rules: records.TreeRules,
    n: int,
) -> records.Bench:
    """Return a bench of one sum, on which nothing was done yet."""
    columns, codes = len(features.kind), int(features.n_codes.max()) + 1
    keys, spare = np.empty(n, np.uint64), np.empty(n, np.uint64)
    scratch = records.RandomTreeScratch(
        keys=keys,
        side_of=keys.view(np.uint8),
        spare=spare,
        spare_row=spare.view(np.uint32),
        spare_sum=spare.view(np.int64),
        buckets=np.empty(2048, np.uint32),
        left=None,
        total=np.empty(1, np.int64),
        order=np.empty(columns, np.int64),
        place=np.empty(0, np.uint32),
        constant=np.full((columns, 2), -1),
        logs=XLOGX,
    )
    counter = records.Counter(
        np.zeros(1, np.int64), np.zeros((codes, records.SUMS + 1), np.int64), np.empty(codes, np.int64),
        np.empty(codes), np.empty((3, 1)), np.empty(codes, np.uint8),
    )  # fmt: skip
    parts = records.TreeKernels(*[0] * len(records.TreeKernels._fields))
    node = as_records(np.zeros(1, records.NODE_AT_HAND))
    return records.Bench(rules, features, target, scratch, counter, parts, node)
