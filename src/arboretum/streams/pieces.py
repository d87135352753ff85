"""What a source yields: some rows as a `Table`, where they are from, and what comes with them.

Sources differ in how they are opened; all of them are a `Source`: a name, and pieces of up to some hundred
thousand rows, as often as a fit needs them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple

from arboretum.data.checks import did_you_mean
from arboretum.data.frames import frame_columns
from arboretum.data.table import Table, from_columns, read_table
from arboretum.errors import DataError

__all__ = ["MOST_ROWS", "RowBatch", "Source", "located", "select_columns", "table_of_arrow"]

MOST_ROWS = 1 << 17  # of a piece, where the source leaves it open


class RowBatch(NamedTuple):
    """Some consecutive rows.

    Attributes
    ----------
    table : Table
    where : str
        Their place in the source, for messages.
    beside : dict
        Arrays that the source yields beside the table, by the argument of fit: "y", "sample_weight", …
    """

    table: Table
    where: str
    beside: Mapping[str, Any] = {}


class Source(ABC):
    """A table that can be read piece by piece.

    Attributes
    ----------
    name : str
        For messages.
    is_once : bool
        It can be read only once.
    names : tuple of str or None
        Of its columns, if they are known without reading.
    n_rows : int or None
        If known without reading.
    has_beside : bool
        It yields labels beside its table.
    """

    name: str
    is_once: bool = False
    names: tuple[str, ...] | None = None
    n_rows: int | None = None
    has_beside: ClassVar[bool] = False

    @abstractmethod
    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[RowBatch]:
        """Yield the rows in order, none of the pieces empty; of these columns, in this order, if given."""

    def print_of_files(self) -> str | None:
        """Return what changes if the rows do; None for sources that are not files."""
        return None


def select_columns(table: Table, columns: Sequence[str] | None, where: str) -> Table:
    """Return some columns of a table, in this order."""
    if columns is None or tuple(columns) == table.names:
        return table
    lacking = [name for name in columns if name not in table.names]
    if lacking:
        raise DataError(
            f"{where} has no column {lacking[0]!r}{did_you_mean(lacking[0], table.names)}"
        )
    places = [table.names.index(name) for name in columns]
    if isinstance(table.body, list):
        body: Any = [table.body[f] for f in places]
    else:
        body = table.body[:, places]
    return Table(tuple(columns), table.named, table.n_rows, body)


def table_of_arrow(batch: Any) -> Table:
    """Return a pyarrow RecordBatch or Table as a `Table`."""
    return from_columns(*frame_columns(batch))


def table_of(batch: Any, where: str) -> Table:
    """Return a batch that a user's code made as a `Table`."""
    with located(where):
        return read_table(batch)


@contextmanager
def located(where: str) -> Iterator[None]:
    """Begin the messages of errors with the place of the rows."""
    try:
        yield
    except DataError as error:
        raise type(error)(f"{where}: {error}") from error
    except MemoryError as error:
        raise DataError(f"{where} does not fit into memory: make its batches smaller") from error
