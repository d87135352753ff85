"""Raw columns as an Arrow table: the form in which estimators take columns with names.

    Numbers   numbers as they are; whole numbers with gaps, dates, times and durations get their
              Arrow type back
    Words     booleans, strings, or a dictionary where the file had one

Reading the result gives the same raw columns again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.values import Numbers, Raw, Words
from arboretum.errors import DataError

if TYPE_CHECKING:
    import pyarrow

__all__ = ["as_arrow"]


def as_arrow(names: Sequence[str], columns: Sequence[Raw]) -> pyarrow.Table:
    """Build an Arrow table.

    Examples
    --------
    >>> as_arrow(["size"], [Words(np.array([1, -1]), ["S", "L"], "str")])["size"].to_pylist()
    ['L', None]
    """
    try:
        import pyarrow as pa
    except ImportError:
        raise DataError(
            "the command line hands tables over with pyarrow: pip install arboretum[frames]"
        ) from None
    arrays = [_words(c) if isinstance(c, Words) else _numbers(c) for c in columns]
    return pa.Table.from_arrays(arrays, names=list(names))


def _numbers(raw: Numbers) -> Any:
    import pyarrow as pa

    values, kind = raw.values, raw.dtype
    ticks = {"datetime": pa.timestamp("us"), "duration": pa.duration("us"), "time": pa.time64("us")}
    if kind == "null":
        return pa.nulls(len(values))
    if kind in ticks:
        missing = np.isnan(values)
        whole = np.round(np.where(missing, 0, values) * 1e6).astype(np.int64)
        return pa.array(whole, mask=missing).cast(ticks[kind])
    if kind.startswith(("int", "uint")) and values.dtype.kind == "f":  # whole numbers with gaps
        missing = np.isnan(values)
        return pa.array(np.where(missing, 0, values).astype(kind), mask=missing)
    return pa.array(values)


def _words(raw: Words) -> Any:
    import pyarrow as pa

    indices = pa.array(raw.codes.astype(np.int32), mask=raw.codes < 0)
    words = pa.DictionaryArray.from_arrays(
        indices, pa.array(raw.values), ordered=raw.order == "ranked"
    )
    if raw.dtype in ("category", "enum"):
        return words
    return words.cast(pa.bool_() if raw.dtype == "bool" else pa.string())
