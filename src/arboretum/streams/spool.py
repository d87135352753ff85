"""What can be read only once, written to files: one per piece, in the form of the pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arboretum.data.schema import category_from_state, category_to_state
from arboretum.data.table import Table
from arboretum.data.values import Raw, RawNumbers, Words
from arboretum.errors import DataError
from arboretum.io.container import read, write
from arboretum.streams.pieces import RowBatch, Source, select_columns
from arboretum.streams.scratch import Scratch

__all__ = ["spooled"]


def spooled(source: Source, scratch: Scratch) -> Source:
    """Write a source to files, and return these as a source."""
    files: list[tuple[Path, str]] = []
    rows = 0
    for piece in source.pieces():
        path = scratch.new_path(".piece")
        try:
            with path.open("wb") as file:
                write(file, _to_state(piece))
        except OSError as error:
            raise DataError(
                f"{source.name} cannot be written to {str(path.parent)!r} ({error.strerror}): name a folder "
                "on another disk, Stream(source, scratch=…)"
            ) from error
        files.append((path, piece.where))
        rows += piece.table.n_rows
    return _Spooled(source.name, files, rows)


class _Spooled(Source):
    def __init__(self, name: str, files: list[tuple[Path, str]], n_rows: int) -> None:
        self.name, self.n_rows, self._files = name, n_rows, files

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[RowBatch]:
        for path, where in self._files:
            piece = _from_state(read(path), where)
            yield piece._replace(table=select_columns(piece.table, columns, where))


def _to_state(piece: RowBatch) -> dict[str, Any]:
    table, body = piece.table, piece.table.body
    return {
        "names": list(table.names),
        "named": table.named,
        "n_rows": table.n_rows,
        "body": [_raw_state(raw) for raw in body] if isinstance(body, list) else np.asarray(body),
        "beside": {role: np.asarray(values) for role, values in piece.beside.items()},
    }


def _raw_state(raw: Raw) -> dict[str, Any]:
    if isinstance(raw, RawNumbers):
        return {"values": raw.values, "dtype": raw.dtype}
    words = [category_to_state(value) for value in raw.values]
    return {"codes": raw.codes, "words": words, "dtype": raw.dtype, "order": raw.order}


def _from_state(state: dict[str, Any], where: str) -> RowBatch:
    body = state["body"]
    if isinstance(body, list):
        body = [_raw_of(f, one) for f, one in enumerate(body)]
    table = Table(tuple(state["names"]), state["named"], state["n_rows"], body)
    return RowBatch(table, where, state["beside"])


def _raw_of(f: int, state: dict[str, Any]) -> Raw:
    if "values" in state:
        return RawNumbers(state["values"], state["dtype"])
    words = [category_from_state(f, one) for one in state["words"]]
    return Words(state["codes"], words, state["dtype"], state["order"])
