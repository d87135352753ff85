"""Presorted lists of samples: the same as those of a table of the sampled rows alone."""

import numpy as np
import pytest

from arboretum.engine.columns.lists import NOWHERE, filter_columns, first_missing
from arboretum.engine.columns.presort import MISSING, sort_column
from arboretum.engine.compiler.decorators import kernel
from arboretum.grow.columns import keep_rows, sort_columns


@kernel
def _first_missing(entries, out):
    out[0] = first_missing(entries, 0, len(entries))


def _table(seed: int, n: int = 120) -> np.ndarray:
    """Columns with ties and missing values, a line each."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 15, (4, n)).astype(float)
    X[0] = rng.permutation(n)
    X[1:3, rng.random(n) < 0.3] = np.nan
    X[3, :] = np.nan
    return X


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("share", [0.02, 0.5, 1.0])
def test_a_sample_of_lists_is_the_lists_of_a_sample(share, n_jobs):
    X = _table(1)
    rows = np.flatnonzero(np.random.default_rng(2).random(X.shape[1]) < share)
    sorted_ = sort_columns(lambda j: X[j], X.shape, n_jobs)
    place = np.full(X.shape[1], NOWHERE)
    place[rows] = np.arange(len(rows))
    kept = keep_rows(sorted_.lists, place, len(rows), n_jobs)
    sample = np.ascontiguousarray(X[:, rows])
    expected = sort_columns(lambda j: sample[j], sample.shape, n_jobs)
    np.testing.assert_array_equal(kept.lists, expected.lists)
    np.testing.assert_array_equal(kept.present, expected.present)
    np.testing.assert_array_equal(kept.present, (~np.isnan(sample)).sum(axis=1))


def test_rows_may_keep_their_numbers():
    values = np.array([3.0, 1.0, 3.0, 2.0, np.nan])
    lists = np.empty((1, 5), np.uint32)
    sort_column(values, lists[0])
    rows = np.array([2, 3, 4])
    place = np.full(5, NOWHERE)
    place[rows] = rows
    out, present = np.empty((1, 3), np.uint32), np.empty(1, np.int64)
    filter_columns(lists, np.array([0]), place, out, present)
    assert (out[0] & 0xFF).tolist() == [3, 2, 4]
    assert (out[0] >> 31).tolist() == [1, 1, 1]  # the first row of value 3 is not in the sample
    assert present[0] == 2


@pytest.mark.parametrize("missing", [0, 1, 4, 9])
def test_missing_entries_stand_at_the_end(missing):
    entries = np.arange(9, dtype=np.uint32)
    entries[9 - missing :] |= MISSING
    out = np.empty(1, np.int64)
    _first_missing(entries, out)
    assert out[0] == 9 - missing
