"""A bench with a node at hand, for kernels that are tested alone."""

import numpy as np

from arboretum.engine.depth_first import records
from arboretum.engine.depth_first.records import TreeColumns, TreeFeatures
from arboretum.engine.dtypes import as_records
from arboretum.engine.split.score import XLOGX


def features_of(columns: int, n_codes: int, kind: int, missing: int) -> TreeFeatures:
    """Return columns of one kind."""
    zeros = np.zeros(columns, np.int8)
    return TreeFeatures(
        np.full(columns, n_codes), np.full(columns, missing), zeros + np.int8(kind), zeros,
        np.zeros(columns, np.bool_),
    )  # fmt: skip


def columns_of(values: np.ndarray, *, random: bool = False) -> TreeColumns:
    """Return a table, (n_columns, n_rows), whose branches are not copied."""
    n = values.shape[1]
    bits = np.empty(3, values.dtype) if random else None
    return TreeColumns(
        values.ravel(), np.uint64(n), values.T[:0].copy(),
        np.empty(n + 8, values.dtype) if random else None,
        None if bits is None else bits.view(f"f{bits.itemsize}"), bits,
    )  # fmt: skip


def bench_for(
    features: TreeFeatures,
    target: records.RandomTreeTarget,
    rules: records.TreeRules,
    size: int,
    /,
    *,
    channels: int | None = None,
    **node: float,
) -> records.Bench:
    """Return a bench on which nothing was done yet; ``channels``: None for one sum."""
    columns, codes = len(features.kind), int(features.n_codes.max()) + 1
    keys, spare = np.empty(size, np.uint64), np.empty(size + 8, np.uint64)
    scratch = records.RandomTreeScratch(
        keys=keys,
        side_of=keys.view(np.uint8),
        spare=spare,
        spare_row=spare.view(np.uint32),
        spare_sum=spare.view(np.int64),
        buckets=np.empty(2048, np.uint32),
        left=None if channels is None else np.empty(2 * channels, np.int64),
        total=np.empty(channels or 1, np.int64),
        order=np.empty(columns, np.int64),
        constant=np.full((columns, 2), -1),
        logs=XLOGX,
    )
    counter = records.Counter(
        np.zeros(1, np.int64), np.zeros((codes, records.SUMS + (channels or 1)), np.int64),
        np.empty(codes, np.int64), np.empty(codes), np.empty((3, channels or 1)),
        np.empty(codes, np.uint8),
    )  # fmt: skip
    kernels = records.TreeKernels(*[0] * len(records.TreeKernels._fields))
    at_hand = np.zeros(1, records.NODE_AT_HAND)
    at_hand["channels"], at_hand["n"], at_hand["weight"] = channels or 1, size, size
    for name, value in node.items():
        at_hand[name] = value
    return records.Bench(rules, features, target, scratch, counter, kernels, as_records(at_hand))
