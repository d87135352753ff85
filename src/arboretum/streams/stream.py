"""A source of rows with the options of reading it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arboretum.errors import ParameterError

__all__ = ["Stream"]


@dataclass(frozen=True, eq=False)
class Stream:
    """A table that is read batch by batch, and the options for it.

    `fit` and `predict` take most sources as they are; wrap those that need an option.

    Parameters
    ----------
    source : path, list of paths, or object
        Files (Parquet, Arrow, CSV; a path may be a folder or hold ``*``), a pyarrow dataset, anything with
        ``__arrow_c_stream__``, a polars LazyFrame, a duckdb relation, a function that returns a new
        iterator of batches, XGBoost's DataIter, or LightGBM's Sequence.
    scratch : path or None, default=None
        The folder for memory-mapped codes, 2 bytes per value; None: that of the system for temporary files.
        What a fit writes there is removed when it ends.
    keep : bool, default=False
        Leave the codes in ``scratch``: a later fit of the same files with the same bins uses them.
    drop : list of str, default=()
        Columns that are not features.
    spool : bool, default=False
        Write a source that can be read only once to ``scratch`` first.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> from arboretum import LGBMRegressor, Stream
    >>> table = pa.table({"size": [1.0, 2.0, 3.0, 4.0], "price": [1.0, 1.0, 5.0, 5.0]})
    >>> model = LGBMRegressor(n_estimators=50, min_child_samples=1, min_data_in_bin=1)
    >>> reader = table.to_reader()  # can be read only once
    >>> model.fit(Stream(reader, spool=True), y="price").predict(table.select(["size"])).round(1)
    array([1., 1., 5., 5.])
    """

    source: Any
    scratch: str | os.PathLike[str] | None = None
    keep: bool = False
    spool: bool = False
    drop: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.scratch is not None and not os.path.isdir(self.scratch):
            raise ParameterError(
                f"scratch of Stream must be a folder that exists, got {os.fspath(self.scratch)!r}"
            )
        if self.keep and self.scratch is None:
            raise ParameterError("keep=True of Stream needs scratch, the folder to keep codes in")
