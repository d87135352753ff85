"""Columns of tables in bins: some of one table, and those of two tables side by side.

    take_columns    a  b  c  d      ->  a  c
    beside          a  c  +  t  u   ->  a  c  t  u        the same rows

Codes are copied, not computed again. So a fit whose only new columns are a few statistics of the target bins
these alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from arboretum.errors import DataError
from arboretum.grow.bins.bins import Bins, flat

__all__ = ["beside", "take_columns"]


def take_columns(bins: Bins, features: Sequence[int]) -> Bins:
    """Return some columns of a table, in the order given.

    >>> from arboretum.data.schema import learn_schema
    >>> from arboretum.grow.bins.find import BinRules, find_bins
    >>> schema, matrix = learn_schema([[1.0, 7.0], [2.0, 7.0], [4.0, 9.0]])
    >>> bins = find_bins(matrix, schema, BinRules(min_data_in_bin=1))
    >>> take_columns(bins, [1]).codes.tolist()
    [[0, 0, 1]]
    """
    some = np.asarray(features, np.int64)
    kept, storage = np.unique(bins.storage[some], return_inverse=True)
    narrow = len(bins.codes)
    bounds = flat([bins.bounds_of(f) for f in some.tolist()], np.float64)
    categories = flat([bins.categories_of(f) for f in some.tolist()], np.int32)
    return replace(
        bins,
        codes=bins.codes[kept[kept < narrow]],
        wide=bins.wide[kept[kept >= narrow] - narrow],
        storage=storage.astype(np.int32),
        offset=bins.offset[some],
        n_bins=bins.n_bins[some],
        default_bin=bins.default_bin[some],
        is_category=bins.is_category[some],
        has_missing=bins.has_missing[some],
        bounds=bounds[0],
        bounds_start=bounds[1],
        category_of=categories[0],
        category_start=categories[1],
        conflicts=bins.conflicts[kept],
        joined=bins.joined[some],
    )


def beside(first: Bins, second: Bins) -> Bins:
    """Return the columns of two tables of the same rows side by side."""
    if first.n_rows != second.n_rows:
        raise DataError(
            f"tables of {first.n_rows} and {second.n_rows} rows cannot stand side by side"
        )
    narrow, more = len(first.codes), len(second.codes)
    # columns of two bytes stand behind all others
    left = first.storage + np.where(first.storage >= narrow, more, 0)
    right = second.storage + np.where(second.storage >= more, len(first.wide), 0) + narrow
    both = (first, second)

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(one, name) for one in both])

    def starts(name: str) -> np.ndarray:
        a, b = getattr(first, name), getattr(second, name)
        return np.append(a[:-1], b + a[-1])

    conflicts = np.zeros(first.n_storage + second.n_storage, np.int64)
    conflicts[left], conflicts[right] = (
        first.conflicts[first.storage],
        second.conflicts[second.storage],
    )
    names = ("offset", "n_bins", "default_bin", "is_category", "has_missing", "joined")
    return replace(
        first,
        codes=joined("codes"),
        wide=joined("wide"),
        storage=np.append(left, right).astype(np.int32),
        bounds=joined("bounds"),
        bounds_start=starts("bounds_start"),
        category_of=joined("category_of"),
        category_start=starts("category_start"),
        conflicts=conflicts,
        **{name: joined(name) for name in names},
    )
